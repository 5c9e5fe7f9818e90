/* sin and cos of float vectors. |x| = n pi/2 + r with r in about [-pi/4, pi/4] is found in double
 * precision: pi/2 is split so that n, of 17 bits at most, times the first part is exact, and what
 * is left out is below 2^-70. From 2^17 on, where n has more bits, libm is called for the lanes of
 * a vector that holds such a number, or infinity, or NaN. Largest errors found: 2 units. */
#include "lanes.h"

enum { ROUNDINGS = 1 << 17 }; /* below it |x| has an n that is exact */

static Lane rest_of(const Lanes *v, Lane a, Lane n) {
  const Lanes wide = with_bits(v, 64);
  Lane x = one_of(&wide, LANE_WIDEN, a), k = one_of(&wide, LANE_WIDEN, n);
  Lane r = mul_add(&wide, k, real(&wide, -0x1.921fb544p+0), x);
  r = mul_add(&wide, k, real(&wide, -0x1.0b4611a626331p-34), r);
  return one_of(v, LANE_NARROW, r);
}

/* sin(r) = r + r z S(z) for even q and cos(r) = 1 + z (-1/2 + z C(z)) for odd q, z = r^2; q is the
 * quadrant, and the cosine of x is the sine of the next one. */
Lane tirc_lanes_wave_of(const Lanes *v, Op op, Lane x, Lane r, Lane q) {
  Lane z = mul(v, r, r);
  if (op == OP_COS) q = plus(v, q, whole(v, 1));
  Lane sine = mul_add(v, mul(v, r, z), POLYNOMIAL(v, z, SIN), r);
  Lane cosine = mul_add(v, z, POLYNOMIAL(v, z, COS), real(v, 1.0));
  Lane odd = bits_and(v, q, 1);
  Lane is_sine = two_of(v, LANE_SAME, odd, whole(v, 0));
  Lane sign = shift_left(v, bits_and(v, q, 2), 30);
  if (op == OP_SIN) sign = two_of(v, LANE_XOR, sign, bits_and(v, bits_of(v, x), INT32_MIN));
  Lane bits = bits_of(v, choose(v, is_sine, sine, cosine));
  return of_bits(v, two_of(v, LANE_XOR, bits, sign));
}

static Lane near_wave(const Lanes *v, Op op, Lane x) {
  Lane a = magnitude(v, x);
  Rounded n = rounded(v, mul_add(v, a, real(v, 0.6366197723675814), rounder(v)));
  return tirc_lanes_wave_of(v, op, x, rest_of(v, a, n.n), as_whole(v, n));
}

Lane tirc_lanes_wave(const Lanes *v, Op op, Lane x) {
  Lane near = near_wave(v, op, x);
  Lane is_far = two_of(v, LANE_NOT_LESS, magnitude(v, x), real(v, ROUNDINGS));
  return v->maker->unless_far(v, op, x, near, is_far);
}
