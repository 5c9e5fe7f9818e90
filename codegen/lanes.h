/* Arithmetic on vectors of floats, for functions that are written out: what they are written in
 * (vector_math.c, vector_pow.c, vector_wave.c), and what a code generator has to have for it.
 * Values that a Lanes makes and takes have its number of lanes, which may be 1, and its bits, but
 * where it says so. Nothing is fused or reassociated but what mul_add says. */
#ifndef TIRC_CODEGEN_LANES_H
#define TIRC_CODEGEN_LANES_H

#include "ir/tree/ir.h"
#include "polynomials.h"

typedef struct LaneValue *Lane; /* floats, whole numbers or tests: a generator's own */

/* What a generator has to have. x, y, z are the operands. */
typedef enum LaneOp {
  /* of floats */
  LANE_ADD,
  LANE_SUB,
  LANE_MUL,
  LANE_DIV,
  LANE_MUL_ADD,      /* x y + z, rounded once or twice, as the processor has it */
  LANE_MAGNITUDE,    /* |x| */
  LANE_WITH_SIGN_OF, /* |x| with the sign of y */
  /* comparisons of floats, all but the last false of NaN */
  LANE_LESS,
  LANE_MORE,
  LANE_EQUAL,
  LANE_AT_LEAST,
  LANE_NOT_LESS,
  /* of tests */
  LANE_BOTH,
  LANE_EITHER,
  LANE_NOT,
  LANE_CHOOSE, /* x ? y : z; the test may be of floats of other bits */
  /* of whole numbers, which wrap around; shifts are by constants */
  LANE_PLUS,
  LANE_MINUS,
  LANE_AND,
  LANE_OR,
  LANE_XOR,
  LANE_SHIFT_LEFT,
  LANE_SHIFT_RIGHT, /* keeps the sign */
  LANE_SAME,        /* a test */
  /* conversions, to the bits of the Lanes */
  LANE_BITS_OF,
  LANE_OF_BITS,
  LANE_TO_FLOAT, /* of a signed whole number */
  LANE_TO_WHOLE, /* of a float in its range */
  LANE_WIDEN,    /* of a float of 32 bits */
  LANE_NARROW,   /* of one of 64 */
  LANE_OP_COUNT
} LaneOp;

typedef struct Lanes Lanes;
typedef struct LaneMaker {
  Lane (*real)(const Lanes *v, double x);
  Lane (*whole)(const Lanes *v, int64_t x);
  Lane (*apply)(const Lanes *v, LaneOp op, int n, const Lane *args);
  /* `near`, but where `is_far` holds in any lane, which it hardly ever does, the function of large
   * numbers: libm's, or by tirc_lanes_wave_of. */
  Lane (*unless_far)(const Lanes *v, Op op, Lane x, Lane near, Lane is_far);
} LaneMaker;

struct Lanes {
  const LaneMaker *maker;
  void *self;
  int n, bits; /* 32 or 64 */
};

/* Whether the function of float vectors of 32 bits is written out, and the function. */
bool tirc_has_vector_math(Op op);
Lane tirc_vector_math(const Lanes *v, Op op, const Lane *args);

/* --- what functions are written in ----------------------------------------------------------- */

static inline Lanes with_bits(const Lanes *v, int bits) {
  return (Lanes){v->maker, v->self, v->n, bits};
}
static inline Lane real(const Lanes *v, double x) { return v->maker->real(v, x); }
static inline Lane whole(const Lanes *v, int64_t x) { return v->maker->whole(v, x); }

static inline Lane one_of(const Lanes *v, LaneOp op, Lane x) {
  return v->maker->apply(v, op, 1, (const Lane[]){x});
}
static inline Lane two_of(const Lanes *v, LaneOp op, Lane x, Lane y) {
  return v->maker->apply(v, op, 2, (const Lane[]){x, y});
}
static inline Lane three_of(const Lanes *v, LaneOp op, Lane x, Lane y, Lane z) {
  return v->maker->apply(v, op, 3, (const Lane[]){x, y, z});
}

static inline Lane add(const Lanes *v, Lane x, Lane y) { return two_of(v, LANE_ADD, x, y); }
static inline Lane sub(const Lanes *v, Lane x, Lane y) { return two_of(v, LANE_SUB, x, y); }
static inline Lane mul(const Lanes *v, Lane x, Lane y) { return two_of(v, LANE_MUL, x, y); }
static inline Lane quotient(const Lanes *v, Lane x, Lane y) { return two_of(v, LANE_DIV, x, y); }
static inline Lane mul_add(const Lanes *v, Lane x, Lane y, Lane z) {
  return three_of(v, LANE_MUL_ADD, x, y, z);
}
static inline Lane magnitude(const Lanes *v, Lane x) { return one_of(v, LANE_MAGNITUDE, x); }

static inline Lane less(const Lanes *v, Lane x, double than) {
  return two_of(v, LANE_LESS, x, real(v, than));
}
static inline Lane more(const Lanes *v, Lane x, double than) {
  return two_of(v, LANE_MORE, x, real(v, than));
}
static inline Lane equal(const Lanes *v, Lane x, double to) {
  return two_of(v, LANE_EQUAL, x, real(v, to));
}
static inline Lane both(const Lanes *v, Lane x, Lane y) { return two_of(v, LANE_BOTH, x, y); }
static inline Lane either(const Lanes *v, Lane x, Lane y) { return two_of(v, LANE_EITHER, x, y); }
static inline Lane not_of(const Lanes *v, Lane x) { return one_of(v, LANE_NOT, x); }
static inline Lane choose(const Lanes *v, Lane c, Lane x, Lane y) {
  return three_of(v, LANE_CHOOSE, c, x, y);
}
/* NaN stays what it is. */
static inline Lane at_most(const Lanes *v, Lane x, double limit) {
  return choose(v, more(v, x, limit), real(v, limit), x);
}
static inline Lane at_least(const Lanes *v, Lane x, double limit) {
  return choose(v, less(v, x, limit), real(v, limit), x);
}

static inline Lane plus(const Lanes *v, Lane x, Lane y) { return two_of(v, LANE_PLUS, x, y); }
static inline Lane minus(const Lanes *v, Lane x, Lane y) { return two_of(v, LANE_MINUS, x, y); }
static inline Lane bits_and(const Lanes *v, Lane x, int64_t y) {
  return two_of(v, LANE_AND, x, whole(v, y));
}
static inline Lane shift_left(const Lanes *v, Lane x, int by) {
  return two_of(v, LANE_SHIFT_LEFT, x, whole(v, by));
}
static inline Lane shift_right(const Lanes *v, Lane x, int by) {
  return two_of(v, LANE_SHIFT_RIGHT, x, whole(v, by));
}
static inline Lane bits_of(const Lanes *v, Lane x) { return one_of(v, LANE_BITS_OF, x); }
static inline Lane of_bits(const Lanes *v, Lane i) { return one_of(v, LANE_OF_BITS, i); }

static inline Lane polynomial(const Lanes *v, Lane x, PolynomialId id) {
  const Polynomial *p = &tirc_polynomials[id];
  Lane r = real(v, p->c[p->n - 1]);
  for (int i = p->n - 2; i >= 0; i--) r = mul_add(v, r, x, real(v, p->c[i]));
  return r;
}
#define POLYNOMIAL(v, x, id) polynomial(v, x, POLYNOMIAL_##id)

/* The same by pairs, (c0 + c1 x) + x^2 ((c2 + c3 x) + ...), where x^2 is at hand: as many
 * operations, of which half have to wait for each other. */
static inline Lane polynomial_by_pairs(const Lanes *v, Lane x, Lane square, PolynomialId id) {
  const Polynomial *p = &tirc_polynomials[id];
  Lane r = NULL;
  for (int i = (p->n - 1) / 2 * 2; i >= 0; i -= 2) {
    Lane pair = real(v, p->c[i]);
    if (i + 1 < p->n) pair = mul_add(v, x, real(v, p->c[i + 1]), pair);
    r = r ? mul_add(v, r, square, pair) : pair;
  }
  return r;
}
#define POLYNOMIAL_BY_PAIRS(v, x, square, id) polynomial_by_pairs(v, x, square, POLYNOMIAL_##id)

/* x rounded to an integer n, of at most 22 or 51 bits: adding 1.5 2^23 (2^52) leaves it in the low
 * bits of the sum. `sum` may be the rounded sum x + rounder already, or that of a product. */
typedef struct Rounded {
  Lane n, sum;
} Rounded;

static inline Lane rounder(const Lanes *v) { return real(v, v->bits == 32 ? 0x1.8p23 : 0x1.8p52); }
static inline Rounded rounded(const Lanes *v, Lane sum) {
  return (Rounded){sub(v, sum, rounder(v)), sum};
}
static inline Lane as_whole(const Lanes *v, Rounded r) {
  const int64_t bits = v->bits == 32 ? INT64_C(0x4b400000) : INT64_C(0x4338000000000000);
  return minus(v, bits_of(v, r.sum), whole(v, bits)); /* those of the rounder */
}

/* 2^k for an exponent k of a normal number */
static inline Lane power_of_two(const Lanes *v, Lane k) {
  const int bias = v->bits == 32 ? 127 : 1023, fraction = v->bits == 32 ? 23 : 52;
  return of_bits(v, shift_left(v, plus(v, k, whole(v, bias)), fraction));
}

/* x > 0 and finite is m 2^k, m from sqrt(1/2) to sqrt(2), k a whole float; of others they are some
 * numbers. `v` has 32 bits. */
typedef struct Parts {
  Lane m, k;
} Parts;
Parts tirc_lanes_parts(const Lanes *v, Lane x); /* vector_math.c */

/* Sine and cosine (vector_wave.c), x^y (vector_pow.c). */
Lane tirc_lanes_wave(const Lanes *v, Op op, Lane x);
/* The same of x with |x| = q pi/2 + r. */
Lane tirc_lanes_wave_of(const Lanes *v, Op op, Lane x, Lane r, Lane q);
Lane tirc_lanes_pow(const Lanes *v, Lane x, Lane y);

#endif
