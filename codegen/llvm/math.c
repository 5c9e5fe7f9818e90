/* Mathematical functions. What a processor has is an LLVM intrinsic (vectors stay vectors);
 * some functions of float vectors are written out (lanes.c); the rest is a call to libm, one
 * a lane. float16 and bfloat16 compute in float. */
#include "codegen/fast_math.h"
#include "codegen/libm.h"
#include "gen.h"

/* Those that LLVM has; the rest is called by the name that C gives it (ir/tree/ops.def). */
static const char *const intrinsics[OP_COUNT] = {
    [OP_SQRT] = "llvm.sqrt",   [OP_FLOOR] = "llvm.floor",       [OP_CEIL] = "llvm.ceil",
    [OP_TRUNC] = "llvm.trunc", [OP_ROUND] = "llvm.round",       [OP_NEARBYINT] = "llvm.nearbyint",
    [OP_ABS] = "llvm.fabs",    [OP_COPYSIGN] = "llvm.copysign", [OP_FMA] = "llvm.fma",
};

LLVMValueRef tirc_gen_intrinsic(Gen *g, const char *name, LLVMTypeRef t, int n,
                                LLVMValueRef *args) {
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef fn = LLVMGetIntrinsicDeclaration(g->module, id, &t, 1);
  return LLVMBuildCall2(g->b, LLVMGlobalGetValueType(fn), fn, args, (unsigned)n, "");
}

/* Declares NAME(t, ...) -> t, a function of its arguments alone. */
static LLVMValueRef libm_function(Gen *g, const char *name, LLVMTypeRef t, int n) {
  LLVMValueRef fn = LLVMGetNamedFunction(g->module, name);
  if (fn) return fn;
  LLVMTypeRef params[3] = {t, t, t};
  fn = LLVMAddFunction(g->module, name, LLVMFunctionType(t, params, (unsigned)n, false));
  static const char *const facts[] = {"nounwind", "willreturn", "nofree", "nosync", "mustprogress"};
  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
    tirc_gen_attribute(g, fn, ON_FUNCTION, facts[i]);
  unsigned memory = LLVMGetEnumAttributeKindForName("memory", 6);
  LLVMAddAttributeAtIndex(fn, ON_FUNCTION,
                          LLVMCreateEnumAttribute(g->context, memory, 0)); /* memory(none) */
  return fn;
}

LLVMValueRef tirc_gen_libm(Gen *g, const char *name, DType t, int n, const LLVMValueRef *args) {
  if (g->target->is_gpu)
    tirc_fail(g->c, g->loc, CODE_CODEGEN,
              t.bits == 64 ? "compute it in float32" : "tirc build --emit=cuda uses nvcc's",
              "%s of %s is not available for GPUs", name,
              tirc_dtype_name(g->c, tirc_dtype_lanes(t, 1)));
  LLVMTypeRef scalar = tirc_gen_float_type(g, t.bits, 1);
  LLVMValueRef fn =
      libm_function(g, t.bits == 32 ? tirc_format(g->c, "%sf", name) : name, scalar, n);
  LLVMTypeRef type = LLVMGlobalGetValueType(fn);
  LLVMValueRef scalars[3];
  if (t.lanes == 1) {
    for (int i = 0; i < n; i++) scalars[i] = args[i];
    return LLVMBuildCall2(g->b, type, fn, scalars, (unsigned)n, "");
  }
  LLVMValueRef result = LLVMGetPoison(tirc_gen_type(g, t));
  for (int lane = 0; lane < t.lanes; lane++) {
    LLVMValueRef at = tirc_gen_int(g, tirc_gen_int_type(g, 32, 1), lane);
    for (int i = 0; i < n; i++) scalars[i] = LLVMBuildExtractElement(g->b, args[i], at, "");
    LLVMValueRef r = LLVMBuildCall2(g->b, type, fn, scalars, (unsigned)n, "");
    result = LLVMBuildInsertElement(g->b, result, r, at, "");
  }
  return result;
}

static LLVMValueRef int_math(Gen *g, Expr e, LLVMValueRef a) {
  LLVMTypeRef t = LLVMTypeOf(a);
  LLVMTypeRef i1 = tirc_gen_int_type(g, 1, 1);
  LLVMValueRef args[2] = {a, LLVMConstInt(i1, 0, false)};
  switch (e->op) {
  case OP_ABS: return e->dtype.code == TYPE_INT ? tirc_gen_intrinsic(g, "llvm.abs", t, 2, args) : a;
  case OP_POPCOUNT:
    a = tirc_gen_intrinsic(g, "llvm.ctpop", t, 1, args);
    return tirc_gen_cast(g, a, e->args[0]->dtype, e->dtype);
  case OP_CLZ:
    a = tirc_gen_intrinsic(g, "llvm.ctlz", t, 2, args);
    return tirc_gen_cast(g, a, e->args[0]->dtype, e->dtype);
  default: return a; /* rounding leaves an integer alone */
  }
}

static LLVMValueRef float_test(Gen *g, Expr e, LLVMValueRef a) {
  LLVMTypeRef t = LLVMTypeOf(a);
  if (e->op == OP_ISNAN) return LLVMBuildFCmp(g->b, LLVMRealUNO, a, a, "");
  LLVMRealPredicate to_infinity = e->op == OP_ISINF ? LLVMRealOEQ : LLVMRealOLT;
  LLVMValueRef inf =
      LLVMConstReal(tirc_gen_float_type(g, e->args[0]->dtype.bits == 64 ? 64 : 32, 1), 1.0 / 0.0);
  a = tirc_gen_intrinsic(g, "llvm.fabs", t, 1, &a);
  return LLVMBuildFCmp(g->b, to_infinity, a, tirc_gen_splat(g, inf, e->dtype.lanes), "");
}

static LLVMValueRef scaled(Gen *g, LLVMValueRef v, double by) {
  return by == 1 ? v : LLVMBuildFMul(g->b, v, LLVMConstReal(LLVMTypeOf(v), by), "");
}

/* One instruction of a GPU, lane by lane. */
static LLVMValueRef fast_math(Gen *g, const FastMath *fast, DType t, LLVMValueRef x) {
  static const char places[] = "=f,f";
  LLVMTypeRef one = tirc_gen_float_type(g, 32, 1);
  LLVMTypeRef type = LLVMFunctionType(one, &one, 1, false);
  const char *line = tirc_format(g->c, "%s $0, $1;", fast->code);
  LLVMValueRef code = LLVMGetInlineAsm(type, line, strlen(line), places, sizeof places - 1, false,
                                       false, LLVMInlineAsmDialectATT, false);
  LLVMValueRef all = LLVMGetPoison(tirc_gen_type(g, t));
  for (int i = 0; i < t.lanes; i++) {
    LLVMValueRef at = tirc_gen_int(g, tirc_gen_int_type(g, 32, 1), i);
    LLVMValueRef v = t.lanes == 1 ? x : LLVMBuildExtractElement(g->b, x, at, "");
    v = scaled(g, v, fast->before);
    v = scaled(g, LLVMBuildCall2(g->b, type, code, &v, 1, ""), fast->after);
    if (t.lanes == 1) return v;
    all = LLVMBuildInsertElement(g->b, all, v, at, "");
  }
  return all;
}

static LLVMValueRef float_math(Gen *g, Op op, DType t, int n, LLVMValueRef *args) {
  const FastMath *fast =
      g->target->is_gpu ? tirc_fast_math(g->func, op, tirc_dtype_lanes(t, 1)) : NULL;
  if (fast) return fast_math(g, fast, t, args[0]);
  LLVMTypeRef type = tirc_gen_type(g, t);
  LLVMValueRef one = LLVMConstReal(tirc_gen_float_type(g, t.bits, 1), 1.0);
  one = tirc_gen_splat(g, one, t.lanes);
  if (op == OP_RSQRT)
    return LLVMBuildFDiv(g->b, one, tirc_gen_intrinsic(g, "llvm.sqrt", type, 1, args), "");
  LLVMValueRef written_out = tirc_gen_vector_math(g, op, t, args);
  if (written_out) return written_out;
  if (op == OP_SIGMOID) {
    LLVMValueRef minus = LLVMBuildFNeg(g->b, args[0], "");
    LLVMValueRef e = float_math(g, OP_EXP, t, 1, &minus);
    return LLVMBuildFDiv(g->b, one, LLVMBuildFAdd(g->b, one, e, ""), "");
  }
  if (intrinsics[op]) return tirc_gen_intrinsic(g, intrinsics[op], type, n, args);
  if (tirc_ops[op].c_form) return tirc_gen_libm(g, tirc_ops[op].c_form, t, n, args);
  tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL, "T.%s is not defined on %s", tirc_ops[op].name,
            tirc_dtype_name(g->c, t));
}

LLVMValueRef tirc_gen_math(Gen *g, Expr e) {
  DType t = e->args[0]->dtype;
  LLVMValueRef args[3];
  bool is_small = tirc_gen_is_small_float(t);
  for (int i = 0; i < e->n; i++) {
    args[i] = tirc_gen_cast(g, tirc_gen_expr(g, e->args[i]), e->args[i]->dtype, t);
    if (is_small) args[i] = tirc_gen_widen(g, args[i], t);
  }
  if (!tirc_dtype_is_float(t)) return int_math(g, e, args[0]);
  if (e->dtype.code == TYPE_BOOL) return float_test(g, e, args[0]);
  if (!is_small) return float_math(g, (Op)e->op, t, e->n, args);
  LLVMValueRef r = float_math(g, (Op)e->op, tirc_dtype_lanes(DT_FLOAT32, t.lanes), e->n, args);
  return tirc_gen_narrow(g, r, t);
}

const char *tirc_llvm_lane_call(Expr e) {
  const bool is_call = e->op == OP_CALL;
  int first = 0;
  LibmFunc f;
  if (e->dtype.lanes <= 1 || !tirc_dtype_is_float(e->dtype)) return NULL;
  if (is_call && !tirc_is_extern(e)) return NULL;
  const char *name = is_call ? tirc_extern_name(e, &first) : tirc_ops[e->op].c_form;
  const bool is_gnu = e->op == OP_EXP10; /* not one that programs may name, as not all have it */
  if (!name || intrinsics[e->op]) return NULL;
  if (!is_gnu && !tirc_libm_find(name, e->n - first, &f)) return NULL;
  DType t = tirc_dtype_lanes(DT_FLOAT32, e->dtype.lanes); /* small floats are computed in it */
  if (e->dtype.bits == 64) t = e->dtype;
  return tirc_gen_has_vector_math((Op)e->op, t) ? NULL : is_call ? name : tirc_ops[e->op].name;
}

/* T.call_extern(dtype, "name", ...) and T.call_pure_extern: "expf" is on float, "exp" on double. */
LLVMValueRef tirc_gen_extern(Gen *g, Expr e) {
  int first;
  const char *name = tirc_extern_name(e, &first);
  int arity = e->n - first;
  LibmFunc f;
  if (tirc_libm_find(name, arity, &f)) {
    DType t = tirc_dtype_lanes(f.on_float ? DT_FLOAT32 : DT_FLOAT64, e->dtype.lanes);
    LLVMValueRef args[3];
    for (int k = 0; k < arity; k++) {
      Expr arg = e->args[first + k];
      args[k] = tirc_gen_cast(g, tirc_gen_expr(g, arg), arg->dtype, t);
    }
    for (int op = 0; g->target->is_gpu && op < OP_COUNT; op++)
      if (tirc_ops[op].c_form && strcmp(tirc_ops[op].c_form, f.name) == 0)
        return tirc_gen_cast(g, float_math(g, (Op)op, t, arity, args), t, e->dtype);
    return tirc_gen_cast(g, tirc_gen_libm(g, f.name, t, arity, args), t, e->dtype);
  }
  tirc_fail(g->c, g->loc, CODE_CODEGEN, "programs may call functions of libm, such as expf or pow",
            "programs may not call the function \"%s\" of %d argument%s", name, arity,
            arity == 1 ? "" : "s");
}
