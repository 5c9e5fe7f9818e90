/* x^y of float vectors: 2^(y log2 |x|) in double precision, rounded once, so that results that
 * overflow or are subnormal are right as well; then what C says of zeros, infinities, NaN and
 * negative x. Largest error found: 1 unit. */
#include "lanes.h"

#include <math.h>

/* log2 |x| = k + s P(s^2) with s = (m - 1) / (m + 1); -infinity of 0. In doubles. */
static LLVMValueRef wide_log2(const Lanes *v, const Lanes *wide, LLVMValueRef a) {
  static const double c[] = {2.8853900817900864, 0.9617966733415587, 0.5770835849975293,
                             0.41167271763169316, 0.3407301247999729};
  const Parts p = tirc_lanes_parts(v, a);
  LLVMValueRef m = LLVMBuildFPExt(v->b, p.m, wide->f, ""), one = real(wide, 1.0);
  LLVMValueRef s = LLVMBuildFDiv(v->b, sub(wide, m, one), add(wide, m, one), "");
  LLVMValueRef k = LLVMBuildFPExt(v->b, p.k, wide->f, "");
  LLVMValueRef r = mul_add(wide, s, POLYNOMIAL(wide, mul(wide, s, s), c), k);
  r = choose(wide, less(v, a, INFINITY), r, LLVMBuildFPExt(v->b, a, wide->f, ""));
  return choose(wide, equal(v, a, 0), real(wide, -INFINITY), r);
}

/* 2^x, rounded to float. Beyond 200 either way it is infinity or 0. */
static LLVMValueRef narrow_exp2(const Lanes *v, const Lanes *wide, LLVMValueRef x) {
  static const double c[] = {0.9999999999616214,     0.6931471807287087,    0.24022651198752468,
                             0.055504103528701415,   0.00961802717306244,   0.001333392282088976,
                             0.00015469317233742872, 1.5201909456020445e-05};
  x = at_least(wide, at_most(wide, x, 200.0), -200.0);
  const Rounded n = rounded(wide, add(wide, x, rounder(wide)));
  LLVMValueRef p = POLYNOMIAL(wide, sub(wide, x, n.n), c);
  LLVMValueRef r = mul(wide, p, power_of_two(wide, as_whole(wide, n)));
  return LLVMBuildFPTrunc(v->b, r, v->f, "");
}

/* Of w >= 0: from 2^23 on each float is a whole number, below it adding 2^23 rounds to one. */
static LLVMValueRef is_whole(const Lanes *v, LLVMValueRef w) {
  LLVMValueRef shift = real(v, 0x1p23);
  LLVMValueRef near = sub(v, add(v, w, shift), shift);
  LLVMValueRef same = LLVMBuildFCmp(v->b, LLVMRealOEQ, near, w, "");
  return LLVMBuildOr(v->b, same, LLVMBuildFCmp(v->b, LLVMRealOGE, w, shift, ""), "");
}

/* The exponent, where it is one constant in all lanes. */
static bool find_constant(LLVMValueRef y, double *value) {
  LLVMBool inexact;
  for (unsigned i = 0; i < LLVMGetVectorSize(LLVMTypeOf(y)); i++) {
    LLVMValueRef lane = LLVMIsConstant(y) ? LLVMGetAggregateElement(y, i) : NULL;
    if (!lane || !LLVMIsAConstantFP(lane)) return false;
    const double d = LLVMConstRealGetDouble(lane, &inexact);
    if (i > 0 && d != *value) return false;
    *value = d;
  }
  return true;
}

/* Products, quotients and roots that are as good, or NULL. */
static LLVMValueRef by_products(const Lanes *v, LLVMValueRef x, LLVMValueRef y) {
  double c = 0;
  if (!find_constant(y, &c)) return NULL;
  if (c == 1) return x;
  if (c == 2) return mul(v, x, x);
  if (c == 3) return mul(v, mul(v, x, x), x);
  if (c == -1) return LLVMBuildFDiv(v->b, real(v, 1.0), x, "");
  if (c != 0.5) return NULL;
  LLVMValueRef without_sign = add(v, x, real(v, 0.0)); /* -0 has none then */
  LLVMValueRef root = tirc_gen_intrinsic(v->g, "llvm.sqrt", v->f, 1, &without_sign);
  return choose(v, equal(v, x, -INFINITY), real(v, INFINITY), root);
}

LLVMValueRef tirc_lanes_pow(const Lanes *v, LLVMValueRef x, LLVMValueRef y) {
  LLVMBuilderRef b = v->b;
  LLVMValueRef r = by_products(v, x, y);
  if (r) return r;
  const Lanes wide = lanes_of(v->g, 64, v->n);
  LLVMValueRef a = magnitude(v, x), w = magnitude(v, y), one = real(v, 1.0);
  LLVMValueRef power = LLVMBuildFPExt(b, y, wide.f, "");
  r = narrow_exp2(v, &wide, mul(&wide, power, wide_log2(v, &wide, a)));
  /* The sign of x, where y is odd; a negative number that is no whole power of one is none. */
  LLVMValueRef whole_y = is_whole(v, w);
  LLVMValueRef even = is_whole(v, mul(v, w, real(v, 0.5)));
  LLVMValueRef odd = LLVMBuildAnd(b, whole_y, LLVMBuildNot(b, even, ""), "");
  LLVMValueRef sign = LLVMBuildAnd(b, bits_of(v, x), whole(v, INT32_MIN), "");
  sign = choose(v, odd, sign, whole(v, 0));
  r = of_bits(v, LLVMBuildOr(b, bits_of(v, r), sign, ""));
  LLVMValueRef negative = LLVMBuildAnd(b, less(v, x, 0), more(v, x, -INFINITY), "");
  LLVMValueRef none = LLVMBuildAnd(b, negative, LLVMBuildNot(b, whole_y, ""), "");
  r = choose(v, none, real(v, NAN), r);
  /* x^0 and 1^y are 1 even of NaN, and so is -1 to an infinite power. */
  LLVMValueRef is_one = LLVMBuildOr(b, equal(v, y, 0), equal(v, x, 1), "");
  LLVMValueRef unit = LLVMBuildAnd(b, equal(v, a, 1), equal(v, w, INFINITY), "");
  return choose(v, LLVMBuildOr(b, is_one, unit, ""), one, r);
}
