/* Functions of float vectors that are written out (codegen/lanes.h), in LLVM's vectors. */
#include "codegen/lanes.h"
#include "gen.h"

#include <math.h>

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

/* --- on a GPU, whose threads have no vectors, and which has no libm --------------------------- */

typedef struct Rest {
  LLVMValueRef r, q; /* |x| - q pi/2, and q */
} Rest;

/* Of a large |x|, by those bits of 2/pi that matter of it (Payne and Hanek): there are zeros before
 * and more bits behind them. What infinity has is no number. */
static Rest far_rest(const Lanes *v, LLVMValueRef x) {
  static const uint32_t two_over_pi[8] = {0,          0x28be60db, 0x9391054a, 0x7f09d5f4,
                                          0x7d4d3770, 0x36d8a566, 0x4f10e410, 0x7f9458ea};
  Gen *g = v->self;
  LLVMBuilderRef b = g->b;
  LLVMTypeRef i32 = tirc_gen_int_type(g, 32, 1), i64 = tirc_gen_int_type(g, 64, 1);
  LLVMTypeRef f32 = tirc_gen_float_type(g, 32, 1), f64 = tirc_gen_float_type(g, 64, 1);
#define K32(x) tirc_gen_int(g, i32, x)
#define K64(x) tirc_gen_int(g, i64, x)
  LLVMValueRef bits = LLVMBuildBitCast(b, x, i32, ""), words[4], at[3];
  bits = LLVMBuildAnd(b, bits, K32(INT32_MAX), "");
  LLVMValueRef m = LLVMBuildOr(b, LLVMBuildShl(b, bits, K32(8), ""), K32(INT32_MIN), "");
  LLVMValueRef e = LLVMBuildSub(b, LLVMBuildLShr(b, bits, K32(23), ""), K32(126), "");
  LLVMValueRef first = LLVMBuildLShr(b, e, K32(5), ""), by = LLVMBuildAnd(b, e, K32(31), "");
  for (int i = 0; i < 4; i++) {
    words[i] = K32(two_over_pi[4 + i]);
    for (int j = 0; j < 4; j++) {
      LLVMValueRef here = LLVMBuildICmp(b, LLVMIntEQ, first, K32(j), "");
      words[i] = LLVMBuildSelect(b, here, K32(two_over_pi[j + i]), words[i], "");
    }
  }
  for (int i = 0; i < 3; i++)
    at[i] =
        tirc_gen_intrinsic(g, "llvm.fshl", i32, 3, (LLVMValueRef[]){words[i], words[i + 1], by});
  LLVMValueRef wide = LLVMBuildZExt(b, m, i64, "");
  LLVMValueRef low = LLVMBuildMul(b, wide, LLVMBuildZExt(b, at[2], i64, ""), "");
  LLVMValueRef p = LLVMBuildMul(b, wide, LLVMBuildZExt(b, at[1], i64, ""), "");
  LLVMValueRef high = LLVMBuildZExt(b, LLVMBuildMul(b, m, at[0], ""), i64, "");
  p = LLVMBuildAdd(b, p, LLVMBuildLShr(b, low, K64(32), ""), "");
  p = LLVMBuildAdd(b, p, LLVMBuildShl(b, high, K64(32), ""), "");
  LLVMValueRef half = LLVMBuildAnd(b, LLVMBuildLShr(b, p, K64(61), ""), K64(1), "");
  LLVMValueRef q = LLVMBuildAdd(b, LLVMBuildLShr(b, p, K64(62), ""), half, "");
  LLVMValueRef r = LLVMBuildSIToFP(b, LLVMBuildShl(b, p, K64(2), ""), f64, "");
  r = LLVMBuildFMul(b, r, LLVMConstReal(f64, 0x1.921fb54442d18p-64), "");
  LLVMValueRef special = LLVMBuildICmp(b, LLVMIntUGE, bits, K32(0x7f800000), "");
  r = LLVMBuildSelect(b, special, LLVMConstReal(f32, NAN), LLVMBuildFPTrunc(b, r, f32, ""), "");
#undef K32
#undef K64
  return (Rest){r, LLVMBuildTrunc(b, q, i32, "")};
}

static Lane unless_far_away(const Lanes *v, Op op, Lane x, Lane near, Lane is_far) {
  Gen *g = v->self;
  LLVMBasicBlockRef far = tirc_gen_block(g, "far"), done = tirc_gen_block(g, "near");
  LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
  set_unlikely(g, LLVMBuildCondBr(g->b, to_llvm(is_far), far, done));
  LLVMPositionBuilderAtEnd(g->b, far);
  const Rest rest = far_rest(v, to_llvm(x));
  Lane wave = tirc_lanes_wave_of(v, op, x, of_llvm(rest.r), of_llvm(rest.q));
  LLVMBuildBr(g->b, done);
  LLVMPositionBuilderAtEnd(g->b, done);
  LLVMValueRef phi = LLVMBuildPhi(g->b, LLVMTypeOf(to_llvm(x)), "");
  LLVMAddIncoming(phi, (LLVMValueRef[]){to_llvm(near), to_llvm(wave)},
                  (LLVMBasicBlockRef[]){here, far}, 2);
  return of_llvm(phi);
}

/* --- doors ------------------------------------------------------------------------------------ */

bool tirc_gen_has_vector_math(Op op, DType t) {
  return t.bits == 32 && t.lanes > 1 && tirc_has_vector_math(op);
}

static LLVMValueRef each_lane(Gen *g, Op op, DType t, const LLVMValueRef *args) {
  static const LaneMaker maker = {make_real, make_whole, apply, unless_far_away};
  const Lanes v = {&maker, g, 1, 32};
  LLVMValueRef r = LLVMGetPoison(tirc_gen_type(g, t));
  const int n = op == OP_POW ? 2 : 1;
  for (int i = 0; i < t.lanes; i++) {
    LLVMValueRef at = tirc_gen_int(g, tirc_gen_int_type(g, 32, 1), i);
    Lane x[2] = {NULL, NULL};
    for (int k = 0; k < n; k++)
      x[k] = of_llvm(t.lanes == 1 ? args[k] : LLVMBuildExtractElement(g->b, args[k], at, ""));
    LLVMValueRef one = to_llvm(tirc_vector_math(&v, op, x));
    if (t.lanes == 1) return one;
    r = LLVMBuildInsertElement(g->b, r, one, at, "");
  }
  return r;
}

LLVMValueRef tirc_gen_vector_math(Gen *g, Op op, DType t, const LLVMValueRef *args) {
  static const LaneMaker maker = {make_real, make_whole, apply, unless_far};
  if (g->target->is_gpu && t.bits == 32 && tirc_has_vector_math(op))
    return each_lane(g, op, t, args);
  if (!tirc_gen_has_vector_math(op, t)) return NULL;
  const Lanes v = {&maker, g, t.lanes, 32};
  const Lane x[2] = {of_llvm(args[0]), op == OP_POW ? of_llvm(args[1]) : NULL};
  return to_llvm(tirc_vector_math(&v, op, x));
}
