/* exp, exp2, exp10, log, log2, log10, log1p, tanh, sigmoid and erf of float vectors, written out
 * once for all code generators, because libm would be called once a lane; vector_wave.c and
 * vector_pow.c have sin, cos and pow. The largest errors found (test_vector_math looks at all of
 * the float range): exp 1, the others 2 units in the last place, subnormal arguments and results
 * included; infinities, zeros and NaN are as in libm.
 *
 * Polynomials are minimax fits (minimax.py). Where a processor has no fused multiply-add, mul_add
 * is a product and a sum, and the bounds hold as well: what has to be exact is exact without it. */
#include "lanes.h"

#include <math.h>

/* ln 2 is split: the first part has so few bits that its product with an exponent is exact. */
#define LN2_HIGH 0.693359375
#define LN2_LOW (-2.12194440054690583e-4)
#define LOG10_2_HIGH 0.301025390625 /* of log10(2), likewise */
#define LOG10_2_LOW 4.605038981195214e-06

/* e^x = 2^k e^r with r = x - k ln 2, k the integer next to x / ln 2. */
typedef struct Power {
  Lane k, p; /* e^r */
} Power;

static Power power_of_e(const Lanes *v, Lane x) {
  const Rounded k = rounded(v, mul_add(v, x, real(v, 1.4426950408889634), rounder(v)));
  Lane r = mul_add(v, k.n, real(v, -LN2_HIGH), x);
  r = mul_add(v, k.n, real(v, -LN2_LOW), r);
  Lane p = mul_add(v, POLYNOMIAL(v, r, EXP), mul(v, r, r), r);
  return (Power){as_whole(v, k), add(v, p, real(v, 1.0))};
}

/* Of a number that is not far from 0, or NaN: 2^k is one that there is. */
static Lane near_exp_of(const Lanes *v, Lane x) {
  const Power e = power_of_e(v, x);
  return mul(v, e.p, power_of_two(v, e.k));
}

/* 2^k p in two halves, since k may be beyond the exponents there are; only the second one rounds,
 * to a subnormal or to infinity. */
static Lane scaled(const Lanes *v, Power e) {
  Lane half = shift_right(v, e.k, 1);
  Lane rest = minus(v, e.k, half);
  return mul(v, mul(v, e.p, power_of_two(v, half)), power_of_two(v, rest));
}

static Lane exp_of(const Lanes *v, Lane x) {
  return scaled(v, power_of_e(v, at_least(v, at_most(v, x, 89.0), -104.0)));
}

/* 2^x = 2^k 2^r, and 2^r = 1 + r P(r) for |r| <= 1/2. */
static Lane exp2_of(const Lanes *v, Lane x) {
  x = at_least(v, at_most(v, x, 129.0), -151.0);
  const Rounded k = rounded(v, add(v, x, rounder(v)));
  Lane r = sub(v, x, k.n);
  return scaled(v, (Power){as_whole(v, k), mul_add(v, r, POLYNOMIAL(v, r, EXP2), real(v, 1.0))});
}

/* 10^x = 2^k 10^r with r = x - k log10(2), and 10^r = 1 + r P(r). */
static Lane exp10_of(const Lanes *v, Lane x) {
  x = at_least(v, at_most(v, x, 39.0), -46.0);
  const Rounded k = rounded(v, mul_add(v, x, real(v, 3.321928094887362), rounder(v)));
  Lane r = mul_add(v, k.n, real(v, -LOG10_2_HIGH), x);
  r = mul_add(v, k.n, real(v, -LOG10_2_LOW), r);
  return scaled(v, (Power){as_whole(v, k), mul_add(v, r, POLYNOMIAL(v, r, EXP10), real(v, 1.0))});
}

/* --- logarithms ----------------------------------------------------------------------------- */

/* Bits of x less those of sqrt(1/2) have k where the exponent is. Subnormal numbers have none and
 * are scaled first. */
Parts tirc_lanes_parts(const Lanes *v, Lane x) {
  Lane tiny = less(v, x, 0x1p-126), zero = whole(v, 0);
  Lane bits = bits_of(v, choose(v, tiny, mul(v, x, real(v, 0x1p23)), x));
  Lane above = minus(v, bits, whole(v, 0x3f3504f3));
  Lane k = shift_right(v, above, 23);
  Lane m = minus(v, bits, shift_left(v, k, 23));
  k = minus(v, k, choose(v, tiny, whole(v, 23), zero));
  return (Parts){of_bits(v, m), one_of(v, LANE_TO_FLOAT, k)};
}

/* Infinity and NaN are their own logarithms, that of 0 is -infinity, and negative x have none. */
static Lane with_edges(const Lanes *v, Lane x, Lane log) {
  Lane edge = choose(v, equal(v, x, 0), real(v, -INFINITY), real(v, NAN));
  log = choose(v, less(v, x, INFINITY), log, x);
  return choose(v, more(v, x, 0), log, edge);
}

/* k ln 2 + log(1 + u), which is u + u^2 P(u) */
static Lane natural_log(const Lanes *v, Lane k, Lane u) {
  Lane r = mul_add(v, mul(v, u, u), POLYNOMIAL(v, u, LOG), u);
  return mul_add(v, k, real(v, LN2_HIGH), mul_add(v, k, real(v, LN2_LOW), r));
}

/* Of u = m - 1, which is exact. */
static Lane log_of(const Lanes *v, Lane x) {
  const Parts p = tirc_lanes_parts(v, x);
  return with_edges(v, x, natural_log(v, p.k, sub(v, p.m, real(v, 1.0))));
}

/* 1 + x = m 2^k: u = m - 1 is made of x itself, x 2^-k + (2^-k - 1), so that no bit of it is lost.
 * From 2^24 on 1 + x is x, or beside it. */
static Lane log1p_of(const Lanes *v, Lane x) {
  Lane one = real(v, 1.0), sum = add(v, x, one);
  const Parts p = tirc_lanes_parts(v, sum);
  Lane large = more(v, x, 0x1p24);
  Lane k = choose(v, large, real(v, 0.0), p.k);
  Lane scale = power_of_two(v, one_of(v, LANE_TO_WHOLE, sub(v, real(v, 0.0), k)));
  Lane near = mul_add(v, x, scale, sub(v, scale, one));
  Lane u = choose(v, large, sub(v, p.m, one), near);
  Lane r = with_edges(v, sum, natural_log(v, p.k, u));
  return choose(v, equal(v, x, 0), x, r); /* -0 */
}

/* k + u + u P(u) */
static Lane log2_of(const Lanes *v, Lane x) {
  const Parts p = tirc_lanes_parts(v, x);
  Lane u = sub(v, p.m, real(v, 1.0));
  return with_edges(v, x, add(v, p.k, mul_add(v, u, POLYNOMIAL(v, u, LOG2), u)));
}

/* k log10(2) + u / 2 + u P(u) */
static Lane log10_of(const Lanes *v, Lane x) {
  const Parts p = tirc_lanes_parts(v, x);
  Lane u = sub(v, p.m, real(v, 1.0)), half = mul(v, u, real(v, 0.5));
  Lane r = mul_add(v, u, POLYNOMIAL(v, u, LOG10), half);
  r = mul_add(v, p.k, real(v, LOG10_2_LOW), r);
  return with_edges(v, x, mul_add(v, p.k, real(v, LOG10_2_HIGH), r));
}

/* --- others --------------------------------------------------------------------------------- */

/* Of a = |x|, with the sign of x: n / (2 - n) of n = 1 - e^-2a, of which nothing cancels near 0.
 * What both are rounded by, which is known exactly, is given back to the quotient, most of it: by
 * how much goes from 1/2 to 2. From 10 on that is 1. e^-2a = 2^k e^-2r with r = a + k ln(2) / 2. */
static Lane tanh_of(const Lanes *v, Lane x) {
  Lane a = at_most(v, magnitude(v, x), 10.0), one = real(v, 1.0), two = real(v, 2.0);
  const Rounded k = rounded(v, mul_add(v, a, real(v, -2.8853900817779268), rounder(v)));
  Lane r = mul_add(v, k.n, real(v, 0.34657359027997264), a);
  Lane square = mul(v, r, r);
  Lane p = mul_add(v, POLYNOMIAL_BY_PAIRS(v, r, square, TANH), square, add(v, r, r));
  Lane power = power_of_two(v, as_whole(v, k));
  Lane rest = sub(v, one, power), n = mul_add(v, p, power, rest), below = sub(v, two, n);
  Lane n_lost = mul_add(v, p, power, sub(v, rest, n));
  Lane below_lost = sub(v, n, sub(v, two, below));
  Lane q = quotient(v, n, below);
  q = mul_add(v, mul_add(v, q, below_lost, n_lost), real(v, 0.625), q);
  return two_of(v, LANE_WITH_SIGN_OF, q, x);
}

/* 1 / (1 + e^-x), where e^-x need be nothing that is lost beside 1. It is infinity from 2^127.5 on,
 * so that the whole is 0 where it had no exponent any more. */
static Lane sigmoid_of(const Lanes *v, Lane x) {
  Lane one = real(v, 1.0), minus_x = sub(v, real(v, 0.0), x);
  const Power e = power_of_e(v, at_least(v, at_most(v, minus_x, 88.8), -87.0));
  return quotient(v, one, mul_add(v, e.p, power_of_two(v, e.k), one));
}

/* Of a = |x|, with the sign of x. Near 0: a + a P(a^2). Elsewhere 1 - e^-Q(a); from 4 on that is 1.
 */
static Lane erf_of(const Lanes *v, Lane x) {
  Lane a = magnitude(v, x), square = mul(v, a, a), one = real(v, 1.0);
  Lane near = mul_add(v, a, POLYNOMIAL(v, square, ERF_NEAR), a);
  Lane power = near_exp_of(v, POLYNOMIAL(v, at_most(v, a, 4.0), ERF_FAR));
  Lane far = sub(v, one, power);
  Lane is_near = less(v, a, 0.92);
  return two_of(v, LANE_WITH_SIGN_OF, choose(v, is_near, near, far), x);
}

static Lane sin_of(const Lanes *v, Lane x) { return tirc_lanes_wave(v, OP_SIN, x); }
static Lane cos_of(const Lanes *v, Lane x) { return tirc_lanes_wave(v, OP_COS, x); }

typedef Lane (*Unary)(const Lanes *v, Lane x);
static const Unary unary[OP_COUNT] = {
    [OP_EXP] = exp_of,     [OP_EXP2] = exp2_of,   [OP_LOG] = log_of,     [OP_LOG2] = log2_of,
    [OP_TANH] = tanh_of,   [OP_ERF] = erf_of,     [OP_SIN] = sin_of,     [OP_COS] = cos_of,
    [OP_EXP10] = exp10_of, [OP_LOG10] = log10_of, [OP_LOG1P] = log1p_of, [OP_SIGMOID] = sigmoid_of,
};

bool tirc_has_vector_math(Op op) { return unary[op] || op == OP_POW; }

Lane tirc_vector_math(const Lanes *v, Op op, const Lane *args) {
  return op == OP_POW ? tirc_lanes_pow(v, args[0], args[1]) : unary[op](v, args[0]);
}
