/* Mathematical functions. What a processor has is an LLVM intrinsic (vectors stay vectors);
 * exp, tanh and erf of float vectors are written out (vector_math.c); the rest is a call to libm,
 * one a lane. float16 and bfloat16 compute in float.
 *
 * Programs may come from strangers, so T.call_extern reaches the functions of the tables below and
 * nothing else of the process. */
#include "gen.h"

typedef struct MathFunc {
  const char *intrinsic; /* of LLVM; or NULL */
  const char *libm;      /* the function on double; the one on float has an f behind it */
} MathFunc;

static const MathFunc functions[OP_COUNT] = {
    [OP_EXP] = {NULL, "exp"},
    [OP_EXP2] = {NULL, "exp2"},
    [OP_EXP10] = {NULL, "exp10"},
    [OP_LOG] = {NULL, "log"},
    [OP_LOG2] = {NULL, "log2"},
    [OP_LOG10] = {NULL, "log10"},
    [OP_LOG1P] = {NULL, "log1p"},
    [OP_SQRT] = {"llvm.sqrt", NULL},
    [OP_SIN] = {NULL, "sin"},
    [OP_COS] = {NULL, "cos"},
    [OP_TAN] = {NULL, "tan"},
    [OP_ASIN] = {NULL, "asin"},
    [OP_ACOS] = {NULL, "acos"},
    [OP_ATAN] = {NULL, "atan"},
    [OP_ATAN2] = {NULL, "atan2"},
    [OP_SINH] = {NULL, "sinh"},
    [OP_COSH] = {NULL, "cosh"},
    [OP_TANH] = {NULL, "tanh"},
    [OP_ERF] = {NULL, "erf"},
    [OP_POW] = {NULL, "pow"},
    [OP_FMOD] = {NULL, "fmod"},
    [OP_FLOOR] = {"llvm.floor", NULL},
    [OP_CEIL] = {"llvm.ceil", NULL},
    [OP_TRUNC] = {"llvm.trunc", NULL},
    [OP_ROUND] = {"llvm.round", NULL},
    [OP_NEARBYINT] = {"llvm.nearbyint", NULL},
    [OP_ABS] = {"llvm.fabs", NULL},
    [OP_FMA] = {"llvm.fma", NULL},
    [OP_COPYSIGN] = {"llvm.copysign", NULL},
};

/* libm functions a program may name itself, by their number of arguments. */
typedef struct Extern {
  const char *name;
  int arity;
} Extern;
static const Extern externs[] = {
    {"acos", 1},      {"acosh", 1},  {"asin", 1},      {"asinh", 1},    {"atan", 1},   {"atan2", 2},
    {"atanh", 1},     {"cbrt", 1},   {"ceil", 1},      {"copysign", 2}, {"cos", 1},    {"cosh", 1},
    {"erf", 1},       {"erfc", 1},   {"exp", 1},       {"exp2", 1},     {"expm1", 1},  {"fabs", 1},
    {"fdim", 2},      {"floor", 1},  {"fma", 3},       {"fmax", 2},     {"fmin", 2},   {"fmod", 2},
    {"hypot", 2},     {"lgamma", 1}, {"log", 1},       {"log10", 1},    {"log1p", 1},  {"log2", 1},
    {"nearbyint", 1}, {"pow", 2},    {"remainder", 2}, {"rint", 1},     {"round", 1},  {"sin", 1},
    {"sinh", 1},      {"sqrt", 1},   {"tan", 1},       {"tanh", 1},     {"tgamma", 1}, {"trunc", 1},
};

bool tirc_gen_is_library_name(const char *name) {
  static const char *const others[] = {"aligned_alloc", "free",  "malloc", "memcpy", "memmove",
                                       "memset",        "exp10", "sincos", "ldexp",  "bcmp"};
  for (size_t i = 0; i < sizeof externs / sizeof *externs + sizeof others / sizeof *others; i++) {
    size_t n = sizeof externs / sizeof *externs;
    const char *taken = i < n ? externs[i].name : others[i - n];
    size_t length = strlen(taken);
    if (strncmp(name, taken, length) != 0) continue;
    if (name[length] == 0 || strcmp(name + length, "f") == 0) return true;
  }
  return false;
}

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

/* The libm function of float (an f behind its name) or double on each lane. */
static LLVMValueRef call_libm(Gen *g, const char *name, DType t, int n, LLVMValueRef *args) {
  LLVMTypeRef scalar = tirc_gen_float_type(g, t.bits, 1);
  LLVMValueRef fn =
      libm_function(g, t.bits == 32 ? tirc_format(g->c, "%sf", name) : name, scalar, n);
  LLVMTypeRef type = LLVMGlobalGetValueType(fn);
  if (t.lanes == 1) return LLVMBuildCall2(g->b, type, fn, args, (unsigned)n, "");
  LLVMValueRef result = LLVMGetPoison(tirc_gen_type(g, t));
  for (int lane = 0; lane < t.lanes; lane++) {
    LLVMValueRef at = tirc_gen_int(g, tirc_gen_int_type(g, 32, 1), lane), scalars[3];
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
  LLVMValueRef inf =
      LLVMConstReal(tirc_gen_float_type(g, e->args[0]->dtype.bits == 64 ? 64 : 32, 1), 1.0 / 0.0);
  a = tirc_gen_intrinsic(g, "llvm.fabs", t, 1, &a);
  return LLVMBuildFCmp(g->b, LLVMRealOEQ, a, tirc_gen_splat(g, inf, e->dtype.lanes), "");
}

static LLVMValueRef float_math(Gen *g, Op op, DType t, int n, LLVMValueRef *args) {
  LLVMTypeRef type = tirc_gen_type(g, t);
  LLVMValueRef one = LLVMConstReal(tirc_gen_float_type(g, t.bits, 1), 1.0);
  one = tirc_gen_splat(g, one, t.lanes);
  if (op == OP_RSQRT)
    return LLVMBuildFDiv(g->b, one, tirc_gen_intrinsic(g, "llvm.sqrt", type, 1, args), "");
  LLVMValueRef written_out = tirc_gen_vector_math(g, op, t, args[0]);
  if (written_out) return written_out;
  const MathFunc *f = &functions[op];
  if (f->intrinsic) return tirc_gen_intrinsic(g, f->intrinsic, type, n, args);
  if (f->libm) return call_libm(g, f->libm, t, n, args);
  tirc_fail(g->c, g->loc, "codegen", NULL, "T.%s is not defined on %s", tirc_ops[op].name,
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
  if (e->op == OP_ISNAN || e->op == OP_ISINF) return float_test(g, e, args[0]);
  if (!is_small) return float_math(g, (Op)e->op, t, e->n, args);
  LLVMValueRef r = float_math(g, (Op)e->op, tirc_dtype_lanes(DT_FLOAT32, t.lanes), e->n, args);
  return tirc_gen_narrow(g, r, t);
}

/* Calls NAME (or NAMEf, on float) with e's arguments from number `first` on. */
static LLVMValueRef call_table(Gen *g, Expr e, const char *name, int first, bool by_type) {
  int arity = e->n - first;
  for (size_t i = 0; i < sizeof externs / sizeof *externs; i++) {
    size_t length = strlen(externs[i].name);
    if (strncmp(name, externs[i].name, length) != 0 || arity != externs[i].arity) continue;
    bool on_float = by_type ? e->dtype.bits < 64 : strcmp(name + length, "f") == 0;
    if (name[length] != 0 && (by_type || !on_float)) continue;
    DType t = tirc_dtype_lanes(on_float ? DT_FLOAT32 : DT_FLOAT64, e->dtype.lanes);
    LLVMValueRef args[3];
    for (int k = 0; k < arity; k++) {
      Expr arg = e->args[first + k];
      args[k] = tirc_gen_cast(g, tirc_gen_expr(g, arg), arg->dtype, t);
    }
    return tirc_gen_cast(g, call_libm(g, externs[i].name, t, arity, args), t, e->dtype);
  }
  tirc_fail(g->c, g->loc, "codegen", "functions of libm can be called, like expf or pow",
            "the function \"%s\" of %d argument%s is not one that programs may call", name, arity,
            arity == 1 ? "" : "s");
}

/* T.call_extern(dtype, "name", ...) and T.call_pure_extern: "expf" is on float, "exp" on double. */
LLVMValueRef tirc_gen_extern(Gen *g, Expr e) {
  DType t;
  bool has_type = e->n > 1 && e->args[0]->op == OP_STRING && e->args[1]->op == OP_STRING &&
                  tirc_dtype_parse(e->args[0]->u.s, &t);
  int at = has_type ? 1 : 0;
  const char *name = e->n > at && e->args[at]->op == OP_STRING ? e->args[at]->u.s : "";
  return call_table(g, e, name, at + 1, false);
}

/* T.asinh(x) and the like, on the type of the argument. */
LLVMValueRef tirc_gen_library(Gen *g, Expr e) { return call_table(g, e, e->u.s, 0, true); }
