/* Values that know how far a run in their own type may be from them.
 *
 * A float of a program is computed in double, and what compiled code makes of it is off by its
 * roundings. Those are known where the order of the operations is: the ends of the interval below
 * are rounded as the operation itself is. They are not known of two things that a schedule or a
 * compiler is free to choose:
 *
 *   a product that is added    is rounded before, or not (a fused multiply-add): both are inside
 *   a sum of several terms     comes in any order: it stays open, with its terms' magnitudes and
 *                              their number n, and whatever uses it as a value takes it for
 *                              v +- (what the terms may be off + (n - 1) u magnitudes),
 *                              u being the type's unit roundoff
 *
 * Integers (and bools) are exact until they come from a float: a rounding, a cast or a comparison
 * whose interval holds a step has all results on both of its sides. */
#ifndef TIRC_RUNTIME_BOUND_H
#define TIRC_RUNTIME_BOUND_H

#include "ir/dtype.h"

typedef union Cell {
  int64_t i; /* uint64 as its bit pattern */
  double f;
} Cell;

typedef struct Reach {
  Cell v;
  Cell lo, hi; /* with up to two terms all that it may be; with more what the terms make of it */
  double mag;  /* floats: the terms' magnitudes, added up; */
  double n;    /* and their number; 0 for integers */
  bool open;   /* it may be anything */
  bool hung;   /* which value it is hung on an address or a branch that is not decided */
} Reach;

static inline void tirc_bound_float(Reach *b, double v) {
  *b = (Reach){.v.f = v, .lo.f = v, .hi.f = v, .mag = v < 0 ? -v : v, .n = 1};
}
static inline void tirc_bound_int(Reach *b, int64_t v) {
  *b = (Reach){.v.i = v, .lo.i = v, .hi.i = v};
}
/* Anything that the type has. */
void tirc_bound_open(Reach *b, DType t, Cell v);
/* One value, which also a NaN is. */
static inline bool tirc_bound_is_point(const Reach *b, bool is_float) {
  if (b->open) return false;
  return is_float ? b->lo.f == b->hi.f || b->v.f != b->v.f : b->lo.i == b->hi.i;
}
/* All that is in the one or the other; v stays the first one's. */
void tirc_bound_hull(Reach *b, const Reach *other, DType t);

/* What is known of a function of floats: where the ends of its values are. */
typedef enum Curve {
  CURVE_NONE,   /* of points only */
  CURVE_RISING, /* in all that it is defined for */
  CURVE_FALLING,
  CURVE_EVEN,    /* rising with the magnitude */
  CURVE_WAVE,    /* of slope at most 1, between -1 and 1 */
  CURVE_TANGENT, /* rising between its poles */
  CURVE_CORNERS, /* of two operands: the ends are among the corners */
  CURVE_POWER,
  CURVE_ANGLE, /* atan2 */
  CURVE_REST,  /* fmod and remainder */
  CURVE_SIGN   /* copysign */
} Curve;
typedef struct FunctionRow {
  Curve curve;
  int units;
} FunctionRow;

/* t: the type in the program. Operands may be open sums. */
void tirc_bound_close(Reach *b, DType t); /* of n terms one value of the type, rounded */
/* One value that is chosen, and not computed with: a product that is not rounded yet stays so,
 * since a compiler that sees the choice, max(a b, a b), may add it by one fused operation. */
void tirc_bound_choose(Reach *b, DType t);
void tirc_bound_add(Reach *out, const Reach *a, const Reach *b, bool subtract, DType t);
/* in_any_order: one of many factors, whose order is free. */
void tirc_bound_mul(Reach *out, const Reach *a, const Reach *b, bool in_any_order, DType t);
void tirc_bound_div(Reach *out, const Reach *a, const Reach *b, DType t);
/* A function of one operand or, with b, of two; `call` computes it in double. What compiled code
 * makes of it is within so many units in the last place, 0 where it is rounded correctly. */
void tirc_bound_function(Reach *out, const Reach *a, const Reach *b, const FunctionRow *row,
                         double (*call)(void *self, double x, double y), void *self, DType t);

/* The unit roundoff: half of the distance from 1 to the next value. */
double tirc_unit_roundoff(DType t);
double tirc_round_float(DType t, double v);            /* to the nearest value of t */
double tirc_round_int(DType t, DType from, int64_t x); /* likewise, in one step */

#endif
