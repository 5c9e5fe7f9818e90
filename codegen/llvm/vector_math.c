/* exp, tanh and erf of float vectors, written out, because libm would be called once a lane. The
 * largest errors found (test_vector_math looks at all of the float range): exp 1, tanh 2 and erf
 * 2 units in the last place, subnormal results included; infinities, zeros and NaN are as in libm.
 *
 * Polynomials are minimax fits. Where a processor has no fused multiply-add, llvm.fmuladd is a
 * product and a sum, and the bounds hold as well: what has to be exact is exact without it. */
#include "gen.h"

typedef struct Lanes {
  Gen *g;
  LLVMBuilderRef b;
  int n;
  LLVMTypeRef f32, i32;
} Lanes;

static LLVMValueRef real(const Lanes *v, double x) {
  return tirc_gen_splat(v->g, LLVMConstReal(tirc_gen_float_type(v->g, 32, 1), x), v->n);
}
static LLVMValueRef whole(const Lanes *v, int64_t x) { return tirc_gen_int(v->g, v->i32, x); }
static LLVMValueRef mul(const Lanes *v, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildFMul(v->b, a, b, "");
}
/* a b + c */
static LLVMValueRef mul_add(const Lanes *v, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  LLVMValueRef args[3] = {a, b, c};
  return tirc_gen_intrinsic(v->g, "llvm.fmuladd", v->f32, 3, args);
}
static LLVMValueRef magnitude(const Lanes *v, LLVMValueRef x) {
  return tirc_gen_intrinsic(v->g, "llvm.fabs", v->f32, 1, &x);
}
static LLVMValueRef with_sign_of(const Lanes *v, LLVMValueRef x, LLVMValueRef sign) {
  LLVMValueRef args[2] = {x, sign};
  return tirc_gen_intrinsic(v->g, "llvm.copysign", v->f32, 2, args);
}
/* NaN stays what it is. */
static LLVMValueRef at_most(const Lanes *v, LLVMValueRef x, double limit) {
  LLVMValueRef over = LLVMBuildFCmp(v->b, LLVMRealOGT, x, real(v, limit), "");
  return LLVMBuildSelect(v->b, over, real(v, limit), x, "");
}
static LLVMValueRef at_least(const Lanes *v, LLVMValueRef x, double limit) {
  LLVMValueRef under = LLVMBuildFCmp(v->b, LLVMRealOLT, x, real(v, limit), "");
  return LLVMBuildSelect(v->b, under, real(v, limit), x, "");
}
/* c[0] + c[1] x + ... */
static LLVMValueRef polynomial(const Lanes *v, LLVMValueRef x, int n, const double *c) {
  LLVMValueRef r = real(v, c[n - 1]);
  for (int i = n - 2; i >= 0; i--) r = mul_add(v, r, x, real(v, c[i]));
  return r;
}

/* 2^k for -126 <= k <= 127 */
static LLVMValueRef power_of_two(const Lanes *v, LLVMValueRef k) {
  LLVMValueRef bits =
      LLVMBuildShl(v->b, LLVMBuildAdd(v->b, k, whole(v, 127), ""), whole(v, 23), "");
  return LLVMBuildBitCast(v->b, bits, v->f32, "");
}

/* e^x = 2^k e^r with r = x - k ln 2. Adding 1.5 2^23 rounds x / ln 2 to the integer k and leaves it
 * in the low bits. ln 2 is split: the first part has so few bits that its product with k is exact.
 */
typedef struct Power {
  LLVMValueRef k, p; /* e^r */
} Power;

static Power power_of_e(const Lanes *v, LLVMValueRef x) {
  static const double q[] = {0.4999999403953552, 0.16666515171527863, 0.04166845604777336,
                             0.008369418792426586, 0.0013813147088512778};
  LLVMValueRef shift = real(v, 12582912.0);
  LLVMValueRef t = mul_add(v, x, real(v, 1.4426950408889634), shift);
  LLVMValueRef n = LLVMBuildFSub(v->b, t, shift, "");
  LLVMValueRef r = mul_add(v, n, real(v, -0.693359375), x);
  r = mul_add(v, n, real(v, 2.12194440054690583e-4), r);
  LLVMValueRef p = mul_add(v, polynomial(v, r, 5, q), mul(v, r, r), r);
  LLVMValueRef k = LLVMBuildSub(v->b, LLVMBuildBitCast(v->b, t, v->i32, ""),
                                LLVMBuildBitCast(v->b, shift, v->i32, ""), "");
  return (Power){k, LLVMBuildFAdd(v->b, p, real(v, 1.0), "")};
}

/* Of a number that is not far from 0, or NaN: 2^k is one that there is. */
static LLVMValueRef near_exp_of(const Lanes *v, LLVMValueRef x) {
  const Power e = power_of_e(v, x);
  return mul(v, e.p, power_of_two(v, e.k));
}

/* 2^k is applied in two halves, since k may be beyond the exponents there are; only the second one
 * rounds, to a subnormal or to infinity. */
static LLVMValueRef exp_of(const Lanes *v, LLVMValueRef x) {
  const Power e = power_of_e(v, at_least(v, at_most(v, x, 89.0), -104.0));
  LLVMValueRef half = LLVMBuildAShr(v->b, e.k, whole(v, 1), "");
  LLVMValueRef rest = LLVMBuildSub(v->b, e.k, half, "");
  return mul(v, mul(v, e.p, power_of_two(v, half)), power_of_two(v, rest));
}

/* Of a = |x|, with the sign of x. Near 0: a + a^3 P(a^2). Elsewhere 1 - 2 / (e^2a + 1); from
 * 10 on that is 1. */
static LLVMValueRef tanh_of(const Lanes *v, LLVMValueRef x) {
  static const double c[] = {-0.33333268761634827, 0.133310928940773, -0.053709667176008224,
                             0.020538855344057083, -0.005591053050011396};
  LLVMValueRef a = magnitude(v, x), square = mul(v, a, a), one = real(v, 1.0);
  LLVMValueRef near = mul_add(v, mul(v, a, square), polynomial(v, square, 5, c), a);
  LLVMValueRef most = at_most(v, a, 10.0);
  LLVMValueRef power = near_exp_of(v, LLVMBuildFAdd(v->b, most, most, ""));
  LLVMValueRef part = LLVMBuildFDiv(v->b, real(v, 2.0), LLVMBuildFAdd(v->b, power, one, ""), "");
  LLVMValueRef far = LLVMBuildFSub(v->b, one, part, "");
  LLVMValueRef is_near = LLVMBuildFCmp(v->b, LLVMRealOLT, a, real(v, 0.625), "");
  return with_sign_of(v, LLVMBuildSelect(v->b, is_near, near, far, ""), x);
}

/* Of a = |x|, with the sign of x. Near 0: a + a P(a^2). Elsewhere 1 - e^-Q(a); from 4 on that is 1.
 */
static LLVMValueRef erf_of(const Lanes *v, LLVMValueRef x) {
  static const double c[] = {0.12837916612625122,   -0.37612631916999817, 0.11283687502145767,
                             -0.026858940720558167, 0.005199906881898642, -0.0008130014757625759,
                             8.316784078488126e-05};
  static const double d[] = {-0.00019569179859808104, -1.1276755332946777, -0.6371824145317078,
                             -0.10393146425485611,    0.0222268495708704,  -0.003043198259547353,
                             0.00019593513570725918};
  LLVMValueRef a = magnitude(v, x), square = mul(v, a, a), one = real(v, 1.0);
  LLVMValueRef near = mul_add(v, a, polynomial(v, square, 7, c), a);
  LLVMValueRef power = near_exp_of(v, polynomial(v, at_most(v, a, 4.0), 7, d));
  LLVMValueRef far = LLVMBuildFSub(v->b, one, power, "");
  LLVMValueRef is_near = LLVMBuildFCmp(v->b, LLVMRealOLT, a, real(v, 0.92), "");
  return with_sign_of(v, LLVMBuildSelect(v->b, is_near, near, far, ""), x);
}

LLVMValueRef tirc_gen_vector_math(Gen *g, Op op, DType t, LLVMValueRef x) {
  if (t.bits != 32 || t.lanes == 1) return NULL;
  const Lanes v = {g, g->b, t.lanes, tirc_gen_float_type(g, 32, t.lanes),
                   tirc_gen_int_type(g, 32, t.lanes)};
  switch (op) {
  case OP_EXP: return exp_of(&v, x);
  case OP_TANH: return tanh_of(&v, x);
  case OP_ERF: return erf_of(&v, x);
  default: return NULL;
  }
}
