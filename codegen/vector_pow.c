/* x^y of float vectors: 2^(y log2 |x|) in double precision, rounded once, so that results that
 * overflow or are subnormal are right as well; then what C says of zeros, infinities, NaN and
 * negative x. Largest error found: 1 unit. */
#include "lanes.h"

#include <math.h>

/* log2 |x| = k + s P(s^2) with s = (m - 1) / (m + 1); -infinity of 0. In doubles. */
static Lane wide_log2(const Lanes *v, const Lanes *wide, Lane a) {
  const Parts p = tirc_lanes_parts(v, a);
  Lane m = one_of(wide, LANE_WIDEN, p.m), one = real(wide, 1.0);
  Lane s = quotient(wide, sub(wide, m, one), add(wide, m, one));
  Lane k = one_of(wide, LANE_WIDEN, p.k);
  Lane r = mul_add(wide, s, POLYNOMIAL(wide, mul(wide, s, s), WIDE_LOG2), k);
  r = choose(wide, less(v, a, INFINITY), r, one_of(wide, LANE_WIDEN, a));
  return choose(wide, equal(v, a, 0), real(wide, -INFINITY), r);
}

/* 2^x, rounded to float. Beyond 200 either way it is infinity or 0. */
static Lane narrow_exp2(const Lanes *v, const Lanes *wide, Lane x) {
  x = at_least(wide, at_most(wide, x, 200.0), -200.0);
  const Rounded n = rounded(wide, add(wide, x, rounder(wide)));
  Lane p = POLYNOMIAL(wide, sub(wide, x, n.n), WIDE_EXP2);
  Lane r = mul(wide, p, power_of_two(wide, as_whole(wide, n)));
  return one_of(v, LANE_NARROW, r);
}

/* Of w >= 0: from 2^23 on each float is a whole number, below it adding 2^23 rounds to one. */
static Lane is_whole(const Lanes *v, Lane w) {
  Lane shift = real(v, 0x1p23);
  Lane near = sub(v, add(v, w, shift), shift);
  return either(v, two_of(v, LANE_EQUAL, near, w), two_of(v, LANE_AT_LEAST, w, shift));
}

Lane tirc_lanes_pow(const Lanes *v, Lane x, Lane y) {
  const Lanes wide = with_bits(v, 64);
  Lane a = magnitude(v, x), w = magnitude(v, y), one = real(v, 1.0);
  Lane power = one_of(&wide, LANE_WIDEN, y);
  Lane r = narrow_exp2(v, &wide, mul(&wide, power, wide_log2(v, &wide, a)));
  /* The sign of x, where y is odd; a negative number that is no whole power of one is none. */
  Lane whole_y = is_whole(v, w);
  Lane even = is_whole(v, mul(v, w, real(v, 0.5)));
  Lane odd = both(v, whole_y, not_of(v, even));
  Lane sign = bits_and(v, bits_of(v, x), INT32_MIN);
  sign = choose(v, odd, sign, whole(v, 0));
  r = of_bits(v, two_of(v, LANE_OR, bits_of(v, r), sign));
  Lane negative = both(v, less(v, x, 0), more(v, x, -INFINITY));
  Lane none = both(v, negative, not_of(v, whole_y));
  r = choose(v, none, real(v, NAN), r);
  /* x^0 and 1^y are 1 even of NaN, and so is -1 to an infinite power. */
  Lane is_one = either(v, equal(v, y, 0), equal(v, x, 1));
  Lane unit = both(v, equal(v, a, 1), equal(v, w, INFINITY));
  return choose(v, either(v, is_one, unit), one, r);
}
