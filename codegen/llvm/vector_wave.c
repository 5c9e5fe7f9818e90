/* sin and cos of float vectors. |x| = n pi/2 + r with r in about [-pi/4, pi/4] is found in double
 * precision: pi/2 is split so that n, of 17 bits at most, times the first part is exact, and what
 * is left out is below 2^-70. From 2^17 on, where n has more bits, libm is called for the lanes of
 * a vector that holds such a number, or infinity, or NaN. Largest errors found: 2 units. */
#include "lanes.h"

enum { ROUNDINGS = 1 << 17 }; /* below it |x| has an n that is exact */

static LLVMValueRef rest_of(const Lanes *v, LLVMValueRef a, LLVMValueRef n) {
  const Lanes wide = lanes_of(v->g, 64, v->n);
  LLVMValueRef x = LLVMBuildFPExt(v->b, a, wide.f, ""), k = LLVMBuildFPExt(v->b, n, wide.f, "");
  LLVMValueRef r = mul_add(&wide, k, real(&wide, -0x1.921fb544p+0), x);
  r = mul_add(&wide, k, real(&wide, -0x1.0b4611a626331p-34), r);
  return LLVMBuildFPTrunc(v->b, r, v->f, "");
}

/* sin(r) = r + r z S(z) for even q and cos(r) = 1 + z (-1/2 + z C(z)) for odd q, z = r^2; q is the
 * quadrant, and the cosine of x is the sine of the next one. */
static LLVMValueRef near_wave(const Lanes *v, Op op, LLVMValueRef x) {
  static const double s[] = {-0.1666666716337204, 0.008333329111337662, -0.00019839151354972273,
                             2.7166145173396217e-06};
  static const double c[] = {-0.5, 0.04166664183139801, -0.001388718606904149,
                             2.4418231987508808e-05};
  LLVMValueRef a = magnitude(v, x);
  Rounded n = rounded(v, mul_add(v, a, real(v, 0.6366197723675814), rounder(v)));
  LLVMValueRef r = rest_of(v, a, n.n), z = mul(v, r, r), q = as_whole(v, n);
  if (op == OP_COS) q = LLVMBuildAdd(v->b, q, whole(v, 1), "");
  LLVMValueRef sine = mul_add(v, mul(v, r, z), POLYNOMIAL(v, z, s), r);
  LLVMValueRef cosine = mul_add(v, z, POLYNOMIAL(v, z, c), real(v, 1.0));
  LLVMValueRef odd = LLVMBuildAnd(v->b, q, whole(v, 1), "");
  LLVMValueRef is_sine = LLVMBuildICmp(v->b, LLVMIntEQ, odd, whole(v, 0), "");
  LLVMValueRef sign = LLVMBuildShl(v->b, LLVMBuildAnd(v->b, q, whole(v, 2), ""), whole(v, 30), "");
  if (op == OP_SIN)
    sign = LLVMBuildXor(v->b, sign, LLVMBuildAnd(v->b, bits_of(v, x), whole(v, INT32_MIN), ""), "");
  LLVMValueRef bits = bits_of(v, choose(v, is_sine, sine, cosine));
  return of_bits(v, LLVMBuildXor(v->b, bits, sign, ""));
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

LLVMValueRef tirc_lanes_wave(const Lanes *v, Op op, LLVMValueRef x) {
  Gen *g = v->g;
  LLVMValueRef near = near_wave(v, op, x), far;
  LLVMValueRef out = LLVMBuildFCmp(v->b, LLVMRealUGE, magnitude(v, x), real(v, ROUNDINGS), "");
  LLVMValueRef any = tirc_gen_intrinsic(g, "llvm.vector.reduce.or", LLVMTypeOf(out), 1, &out);
  LLVMBasicBlockRef calls = tirc_gen_block(g, "far"), done = tirc_gen_block(g, "near");
  LLVMBasicBlockRef here = LLVMGetInsertBlock(v->b);
  set_unlikely(g, LLVMBuildCondBr(v->b, any, calls, done));
  LLVMPositionBuilderAtEnd(v->b, calls);
  far = tirc_gen_libm(g, tirc_ops[op].c_form, tirc_dtype_lanes(DT_FLOAT32, v->n), 1, &x);
  LLVMBuildBr(v->b, done);
  calls = LLVMGetInsertBlock(v->b);
  LLVMPositionBuilderAtEnd(v->b, done);
  LLVMValueRef phi = LLVMBuildPhi(v->b, v->f, "");
  LLVMAddIncoming(phi, (LLVMValueRef[]){near, far}, (LLVMBasicBlockRef[]){here, calls}, 2);
  return phi;
}
