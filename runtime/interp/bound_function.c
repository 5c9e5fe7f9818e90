/* Functions of values that know how far they may be off: the ends of what they may be from the
 * function's shape, and beyond them what compiled code may be off by itself. */
#include "bound.h"

#include <float.h>
#include <math.h>

typedef struct Call {
  const FunctionRow *row;
  double (*call)(void *self, double x, double y);
  void *self;
  DType t;
  double lo, hi;
  bool none; /* an end is no number */
} Call;

/* Results near 0 may be subnormal, and then flushed. */
static double least_normal(DType t) {
  if (t.code == TYPE_BFLOAT || t.bits == 32) return (double)FLT_MIN;
  return t.bits == 16 ? 0x1p-24 : DBL_MIN;
}

static void take(Call *c, double x) {
  if (isnan(x)) {
    c->none = true;
    return;
  }
  double w = 0;
  if (c->row->units && isfinite(x))
    w = 2 * c->row->units * tirc_unit_roundoff(c->t) * fabs(x) + least_normal(c->t);
  /* A result that is flushed is 0, and none has the other sign: exp stays what a log is taken of.
   */
  const double lo = signbit(x) ? x - w : fmax(0, x - w), hi = signbit(x) ? fmin(0, x + w) : x + w;
  c->lo = fmin(c->lo, tirc_round_float(c->t, lo));
  c->hi = fmax(c->hi, tirc_round_float(c->t, hi));
}
static void take_at(Call *c, double x, double y) { take(c, c->call(c->self, x, y)); }

static bool holds_zero(const Reach *b) { return b->lo.f <= 0 && b->hi.f >= 0; }

/* And where an operand changes its sign: the least of hypot is there. */
static void take_corners(Call *c, const Reach *a, const Reach *b) {
  take_at(c, a->lo.f, b->lo.f);
  take_at(c, a->lo.f, b->hi.f);
  take_at(c, a->hi.f, b->lo.f);
  take_at(c, a->hi.f, b->hi.f);
  if (holds_zero(a)) take_at(c, 0, b->lo.f), take_at(c, 0, b->hi.f);
  if (holds_zero(b)) take_at(c, a->lo.f, 0), take_at(c, a->hi.f, 0);
  if (holds_zero(a) && holds_zero(b) && c->row->curve == CURVE_CORNERS) take_at(c, 0, 0);
}

/* --- of two operands -------------------------------------------------------------------------- */

static void take_power(Call *c, const Reach *x, const Reach *y) {
  const bool whole = y->lo.f == y->hi.f && floor(y->lo.f) == y->lo.f && fabs(y->lo.f) < 0x1p53;
  if (x->lo.f > 0 || (x->lo.f >= 0 && y->lo.f > 0)) {
    take_corners(c, x, y);
  } else if (whole && (y->lo.f > 0 || !holds_zero(x))) {
    take_corners(c, x, y);
    if (holds_zero(x)) take(c, 0);
  } else {
    c->none = true;
  }
}

/* Over a box that the cut along the negative half of the x axis does not meet. */
static void take_angle(Call *c, const Reach *y, const Reach *x) {
  if (x->lo.f <= 0 && holds_zero(y)) {
    take(c, -M_PI);
    take(c, M_PI);
  } else {
    take_corners(c, y, x);
  }
}

/* x - trunc(x / y) y, or to the nearest multiple: less than y. */
static void take_rest(Call *c, const Reach *x, const Reach *y) {
  const double most = fmax(fabs(y->lo.f), fabs(y->hi.f));
  const bool same = y->lo.f == y->hi.f && trunc(x->lo.f / y->lo.f) == trunc(x->hi.f / y->lo.f);
  const double first = c->call(c->self, x->lo.f, y->lo.f),
               last = c->call(c->self, x->hi.f, y->lo.f);
  take(c, first);
  take(c, last);
  if (same && fabs((last - first) - (x->hi.f - x->lo.f)) <= 0x1p-50 * most) return;
  take(c, most);
  take(c, -most);
}

static void take_sign(Call *c, const Reach *x, const Reach *y) {
  const double least = holds_zero(x) ? 0 : fmin(fabs(x->lo.f), fabs(x->hi.f));
  const double most = fmax(fabs(x->lo.f), fabs(x->hi.f));
  take_at(c, least, y->lo.f);
  take_at(c, most, y->lo.f);
  take_at(c, least, y->hi.f);
  take_at(c, most, y->hi.f);
}

/* --- of one ----------------------------------------------------------------------------------- */

static void take_wave(Call *c, const Reach *x) {
  const double v = c->call(c->self, x->v.f, 0), e = fmax(x->hi.f - x->v.f, x->v.f - x->lo.f);
  take(c, fmax(-1, v - e));
  take(c, fmin(1, v + e));
}

static void take_tangent(Call *c, const Reach *x) {
  c->none = floor(x->lo.f / M_PI + 0.5) != floor(x->hi.f / M_PI + 0.5);
  take_at(c, x->lo.f, 0);
  take_at(c, x->hi.f, 0);
}

static void take_ends(Call *c, const Reach *a, const Reach *b) {
  switch (c->row->curve) {
  case CURVE_NONE: c->none = true; break;
  case CURVE_EVEN:
    if (holds_zero(a)) take_at(c, 0, 0);
    /* fall through */
  case CURVE_RISING:
  case CURVE_FALLING:
    take_at(c, a->lo.f, 0);
    take_at(c, a->hi.f, 0);
    break;
  case CURVE_WAVE: take_wave(c, a); break;
  case CURVE_TANGENT: take_tangent(c, a); break;
  case CURVE_CORNERS: take_corners(c, a, b); break;
  case CURVE_POWER: take_power(c, a, b); break;
  case CURVE_ANGLE: take_angle(c, a, b); break;
  case CURVE_REST: take_rest(c, a, b); break;
  case CURVE_SIGN: take_sign(c, a, b); break;
  }
}

void tirc_bound_function(Reach *out, const Reach *a, const Reach *b, const FunctionRow *row,
                         double (*call)(void *self, double x, double y), void *self, DType t) {
  Reach x = *a, y = {0};
  tirc_bound_close(&x, t);
  if (b) y = *b, tirc_bound_close(&y, t);
  const double v = call(self, x.v.f, y.v.f);
  const bool points =
      tirc_bound_is_point(&x, true) && (!b || tirc_bound_is_point(&y, true) || isnan(x.v.f));
  Call c = {row, call, self, t, (double)INFINITY, -(double)INFINITY, false};
  if (isnan(v) && (points || isnan(x.v.f) || isnan(y.v.f))) {
    tirc_bound_float(out, v);
    return;
  }
  if (points)
    take(&c, v);
  else if (!x.open && !y.open && !isnan(x.v.f) && !isnan(y.v.f))
    take_ends(&c, &x, &y);
  else
    c.none = true;
  if (c.none) {
    tirc_bound_open(out, t, (Cell){.f = v});
    return;
  }
  *out = (Reach){.v.f = fmin(fmax(v, c.lo), c.hi), .lo.f = c.lo, .hi.f = c.hi, .n = 1};
  out->mag = fmax(fabs(c.lo), fabs(c.hi));
}
