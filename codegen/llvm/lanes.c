/* Functions of float vectors that are written out (codegen/lanes.h), in LLVM's vectors. */
#include "codegen/lanes.h"
#include "gen.h"

static Lane of_llvm(LLVMValueRef x) { return (Lane)(void *)x; }
static LLVMValueRef to_llvm(Lane x) { return (LLVMValueRef)(void *)x; }

static Lane make_real(const Lanes *v, double x) {
  Gen *g = v->self;
  return of_llvm(tirc_gen_splat(g, LLVMConstReal(tirc_gen_float_type(g, v->bits, 1), x), v->n));
}

static Lane make_whole(const Lanes *v, int64_t x) {
  Gen *g = v->self;
  return of_llvm(tirc_gen_int(g, tirc_gen_int_type(g, v->bits, v->n), x));
}

static LLVMValueRef build(const Lanes *v, LaneOp op, int n, LLVMValueRef *x) {
  Gen *g = v->self;
  LLVMBuilderRef b = g->b;
  LLVMTypeRef f = tirc_gen_float_type(g, v->bits, v->n), i = tirc_gen_int_type(g, v->bits, v->n);
  switch (op) {
  case LANE_ADD: return LLVMBuildFAdd(b, x[0], x[1], "");
  case LANE_SUB: return LLVMBuildFSub(b, x[0], x[1], "");
  case LANE_MUL: return LLVMBuildFMul(b, x[0], x[1], "");
  case LANE_DIV: return LLVMBuildFDiv(b, x[0], x[1], "");
  case LANE_MUL_ADD: return tirc_gen_intrinsic(g, "llvm.fmuladd", f, n, x);
  case LANE_MAGNITUDE: return tirc_gen_intrinsic(g, "llvm.fabs", f, n, x);
  case LANE_WITH_SIGN_OF: return tirc_gen_intrinsic(g, "llvm.copysign", f, n, x);
  case LANE_SQRT: return tirc_gen_intrinsic(g, "llvm.sqrt", f, n, x);
  case LANE_LESS: return LLVMBuildFCmp(b, LLVMRealOLT, x[0], x[1], "");
  case LANE_MORE: return LLVMBuildFCmp(b, LLVMRealOGT, x[0], x[1], "");
  case LANE_EQUAL: return LLVMBuildFCmp(b, LLVMRealOEQ, x[0], x[1], "");
  case LANE_AT_LEAST: return LLVMBuildFCmp(b, LLVMRealOGE, x[0], x[1], "");
  case LANE_NOT_LESS: return LLVMBuildFCmp(b, LLVMRealUGE, x[0], x[1], "");
  case LANE_BOTH:
  case LANE_AND: return LLVMBuildAnd(b, x[0], x[1], "");
  case LANE_EITHER:
  case LANE_OR: return LLVMBuildOr(b, x[0], x[1], "");
  case LANE_NOT: return LLVMBuildNot(b, x[0], "");
  case LANE_CHOOSE: return LLVMBuildSelect(b, x[0], x[1], x[2], "");
  case LANE_PLUS: return LLVMBuildAdd(b, x[0], x[1], "");
  case LANE_MINUS: return LLVMBuildSub(b, x[0], x[1], "");
  case LANE_XOR: return LLVMBuildXor(b, x[0], x[1], "");
  case LANE_SHIFT_LEFT: return LLVMBuildShl(b, x[0], x[1], "");
  case LANE_SHIFT_RIGHT: return LLVMBuildAShr(b, x[0], x[1], "");
  case LANE_SAME: return LLVMBuildICmp(b, LLVMIntEQ, x[0], x[1], "");
  case LANE_BITS_OF: return LLVMBuildBitCast(b, x[0], i, "");
  case LANE_OF_BITS: return LLVMBuildBitCast(b, x[0], f, "");
  case LANE_TO_FLOAT: return LLVMBuildSIToFP(b, x[0], f, "");
  case LANE_TO_WHOLE: return LLVMBuildFPToSI(b, x[0], i, "");
  case LANE_WIDEN: return LLVMBuildFPExt(b, x[0], f, "");
  default: return LLVMBuildFPTrunc(b, x[0], f, "");
  }
}

static Lane apply(const Lanes *v, LaneOp op, int n, const Lane *args) {
  LLVMValueRef x[3];
  for (int k = 0; k < n; k++) x[k] = to_llvm(args[k]);
  return of_llvm(build(v, op, n, x));
}

/* The branch is taken hardly ever. */
static void set_unlikely(Gen *g, LLVMValueRef branch) {
  static const char kind[] = "prof", name[] = "branch_weights";
  LLVMTypeRef i32 = tirc_gen_int_type(g, 32, 1);
  LLVMMetadataRef row[3] = {
      LLVMMDStringInContext2(g->context, name, sizeof name - 1),
      LLVMValueAsMetadata(LLVMConstInt(i32, 1, false)),
      LLVMValueAsMetadata(LLVMConstInt(i32, 1 << 20, false)),
  };
  LLVMMetadataRef node = LLVMMDNodeInContext2(g->context, row, 3);
  LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(g->context, kind, sizeof kind - 1),
                  LLVMMetadataAsValue(g->context, node));
}

static Lane unless_far(const Lanes *v, Op op, Lane x, Lane near, Lane is_far) {
  Gen *g = v->self;
  LLVMValueRef arg = to_llvm(x), out = to_llvm(is_far);
  LLVMValueRef any = tirc_gen_intrinsic(g, "llvm.vector.reduce.or", LLVMTypeOf(out), 1, &out);
  LLVMBasicBlockRef calls = tirc_gen_block(g, "far"), done = tirc_gen_block(g, "near");
  LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
  set_unlikely(g, LLVMBuildCondBr(g->b, any, calls, done));
  LLVMPositionBuilderAtEnd(g->b, calls);
  LLVMValueRef far =
      tirc_gen_libm(g, tirc_ops[op].c_form, tirc_dtype_lanes(DT_FLOAT32, v->n), 1, &arg);
  LLVMBuildBr(g->b, done);
  calls = LLVMGetInsertBlock(g->b);
  LLVMPositionBuilderAtEnd(g->b, done);
  LLVMValueRef phi = LLVMBuildPhi(g->b, LLVMTypeOf(arg), "");
  LLVMAddIncoming(phi, (LLVMValueRef[]){to_llvm(near), far}, (LLVMBasicBlockRef[]){here, calls}, 2);
  return of_llvm(phi);
}

static bool find_constant(const Lanes *v, Lane x, double *number) {
  LLVMBool inexact;
  for (int k = 0; k < v->n; k++) {
    LLVMValueRef all = to_llvm(x);
    LLVMValueRef lane = LLVMIsConstant(all) ? LLVMGetAggregateElement(all, (unsigned)k) : NULL;
    if (!lane || !LLVMIsAConstantFP(lane)) return false;
    const double d = LLVMConstRealGetDouble(lane, &inexact);
    if (k > 0 && d != *number) return false;
    *number = d;
  }
  return true;
}

bool tirc_gen_has_vector_math(Op op, DType t) {
  return t.bits == 32 && t.lanes > 1 && tirc_has_vector_math(op);
}

LLVMValueRef tirc_gen_vector_math(Gen *g, Op op, DType t, const LLVMValueRef *args) {
  static const LaneMaker maker = {make_real, make_whole, apply, unless_far, find_constant};
  if (!tirc_gen_has_vector_math(op, t)) return NULL;
  const Lanes v = {&maker, g, t.lanes, 32};
  const Lane x[2] = {of_llvm(args[0]), op == OP_POW ? of_llvm(args[1]) : NULL};
  return to_llvm(tirc_vector_math(&v, op, x));
}
