#include "bound.h"

#include "ir/tree/int_op.h"

#include <math.h>

/* Units of double that the reference itself rounds by. */
static const double OWN = 0x1p-53;

double tirc_round_float(DType t, double v) {
  if (t.code == TYPE_BFLOAT) return tirc_bfloat_to_double(tirc_double_to_bfloat(v));
  if (t.bits == 16) return tirc_half_to_double(tirc_double_to_half(v));
  return t.bits == 32 ? (double)(float)v : v;
}

/* What has more bits than a double is rounded to odd: rounding that again, to fewer, loses nothing.
 */
double tirc_round_int(DType t, DType from, int64_t x) {
  enum { MORE = 11 };
  const bool is_signed = !tirc_dtype_is_uint64(from);
  const uint64_t bits = (uint64_t)x, rest = bits & ((1u << MORE) - 1);
  const bool fits = is_signed ? x <= INT64_C(1) << 53 && x >= -(INT64_C(1) << 53) : bits >> 53 == 0;
  if (t.bits == 32) return (double)(is_signed ? (float)x : (float)bits);
  const uint64_t odd = t.bits == 64 || fits || !rest ? bits : (bits - rest) | 1u << MORE;
  return tirc_round_float(t, is_signed ? (double)(int64_t)odd : (double)odd);
}

double tirc_unit_roundoff(DType t) {
  if (t.code == TYPE_BFLOAT) return 0x1p-8;
  return t.bits == 16 ? 0x1p-11 : t.bits == 32 ? 0x1p-24 : 0x1p-53;
}

void tirc_bound_open(Reach *b, DType t, Cell v) {
  *b = (Reach){.v = v, .open = true};
  if (tirc_dtype_is_float(t)) {
    b->lo.f = -(double)INFINITY, b->hi.f = (double)INFINITY;
    b->mag = (double)INFINITY, b->n = 1;
  } else {
    b->lo.i = tirc_dtype_min(t), b->hi.i = tirc_dtype_max(t);
  }
}

void tirc_bound_hull(Reach *b, const Reach *other, DType t) {
  const bool hung = b->hung || other->hung;
  if (!tirc_dtype_is_float(t)) {
    if (b->open || other->open || (t.code == TYPE_UINT && t.bits == 64 && b->v.i != other->v.i))
      tirc_bound_open(b, t, b->v);
    if (other->lo.i < b->lo.i) b->lo.i = other->lo.i;
    if (other->hi.i > b->hi.i) b->hi.i = other->hi.i;
  } else {
    Reach second = *other;
    tirc_bound_choose(b, t);
    tirc_bound_choose(&second, t);
    if (b->open || second.open || isnan(b->v.f) != isnan(second.v.f)) {
      tirc_bound_open(b, t, b->v);
    } else if (!isnan(b->v.f)) {
      b->lo.f = fmin(b->lo.f, second.lo.f);
      b->hi.f = fmax(b->hi.f, second.hi.f);
      b->mag = fmax(fabs(b->lo.f), fabs(b->hi.f));
    }
  }
  b->hung = hung;
}

/* --- intervals -------------------------------------------------------------------------------- */

/* One value between lo and hi; v is brought between them. */
static void set(Reach *out, double v, double lo, double hi) {
  *out = (Reach){.v.f = v < lo ? lo : v > hi ? hi : v, .lo.f = lo, .hi.f = hi, .n = 1};
  out->mag = fmax(fabs(lo), fabs(hi));
}

static void set_open(Reach *out, DType t, double v) { tirc_bound_open(out, t, (Cell){.f = v}); }

static double half_width(const Reach *b) { return fmax(b->hi.f - b->v.f, b->v.f - b->lo.f); }

void tirc_bound_close(Reach *b, DType t) {
  if (b->open || isnan(b->v.f)) {
    b->n = 1;
    return;
  }
  if (b->n == 1 && b->lo.f == b->hi.f) {
    b->v.f = b->lo.f = b->hi.f = tirc_round_float(t, b->lo.f);
    return;
  }
  double lo = b->lo.f, hi = b->hi.f;
  if (b->n > 2) {
    const double x = (b->n - 1) * (tirc_unit_roundoff(t) + OWN);
    const double w = b->mag * (x <= 1 ? x * (1 + x) : expm1(x));
    if (!(b->mag + w < tirc_largest_float(t))) { /* in some order it overflows */
      set_open(b, t, b->v.f);
      return;
    }
    lo -= w, hi += w;
  }
  const bool hung = b->hung;
  set(b, b->v.f, tirc_round_float(t, lo), tirc_round_float(t, hi));
  b->hung = hung;
}

void tirc_bound_choose(Reach *b, DType t) {
  if (b->n != 1 || b->lo.f == b->hi.f) tirc_bound_close(b, t);
}

/* --- operations ------------------------------------------------------------------------------- */

/* x + y, rounded once to t. The sum in double is off by `rest`, which decides at a tie of t. */
static double add_rounded(double x, double y, DType t) {
  const double s = x + y;
  if (t.code == TYPE_FLOAT && t.bits == 64) return s;
  const double back = s - x, rest = (x - (s - back)) + (y - back);
  if (rest != 0 && isfinite(s)) return tirc_round_float(t, nextafter(s, rest * (double)INFINITY));
  return tirc_round_float(t, s);
}

void tirc_bound_add(Reach *out, const Reach *a, const Reach *b, bool subtract, DType t) {
  Reach y = *b;
  if (subtract) {
    y.v.f = -b->v.f, y.lo.f = -b->hi.f, y.hi.f = -b->lo.f;
    b = &y;
  }
  const double v = a->v.f + b->v.f, n = a->n + b->n, mag = a->mag + b->mag;
  if (a->open || b->open) {
    set_open(out, t, v);
  } else if (!isfinite(v)) {
    const bool known[2] = {!isfinite(a->lo.f) && tirc_bound_is_point(a, true),
                           !isfinite(b->lo.f) && tirc_bound_is_point(b, true)};
    if (isnan(v) ? isnan(a->v.f) || isnan(b->v.f) || (known[0] && known[1]) : known[0] || known[1])
      tirc_bound_float(out, v);
    else
      set_open(out, t, v);
  } else {
    if (n <= 2) { /* v stays what the terms come to, since more may be added */
      *out = (Reach){.v.f = v,
                     .lo.f = add_rounded(a->lo.f, b->lo.f, t),
                     .hi.f = add_rounded(a->hi.f, b->hi.f, t)};
    } else {
      const double e = half_width(a) + half_width(b);
      *out = (Reach){.v.f = v, .lo.f = v - e, .hi.f = v + e};
    }
    out->n = n;
    out->mag = mag;
    if (isnan(out->lo.f) || isnan(out->hi.f)) set_open(out, t, v);
  }
}

/* The least and the greatest of what an operation makes of the corners. */
typedef struct Ends {
  double lo, hi;
  bool none; /* one corner is no number */
} Ends;
static void take(Ends *e, double x) {
  if (isnan(x)) e->none = true;
  if (x < e->lo) e->lo = x;
  if (x > e->hi) e->hi = x;
}
static const Ends nothing = {(double)INFINITY, -(double)INFINITY, false};

/* The product before and after it is rounded. */
static void take_product(Ends *e, double x, double y, DType t) {
  const double p = x * y;
  take(e, p);
  take(e, tirc_round_float(t, p));
  if (t.bits != 64 || !isfinite(p)) return;
  const double rest = fma(x, y, -p);
  if (rest != 0) take(e, nextafter(p, rest * (double)INFINITY));
}

/* v is all that is known of the result: an operand is open, or no number. */
static bool has_no_ends(Reach *out, const Reach *a, const Reach *b, double v, DType t) {
  if (a->open || b->open) {
    set_open(out, t, v);
    return true;
  }
  if (!isnan(a->v.f) && !isnan(b->v.f)) return false;
  tirc_bound_float(out, v);
  return true;
}

static void set_ends(Reach *out, const Ends *e, bool points, double v, DType t) {
  if (isnan(v) && points)
    tirc_bound_float(out, v);
  else if (e->none || isnan(v))
    set_open(out, t, v);
  else
    set(out, v, e->lo, e->hi);
}

/* x by 1 or -1 is x or its negation, whatever x will be: a product that is not rounded yet may
 * still be added so, -(a b) + c by one fused operation. */
static bool by_unit(Reach *out, const Reach *x, const Reach *unit) {
  if (x->n != 1 || unit->n != 1 || !tirc_bound_is_point(unit, true)) return false;
  if (fabs(unit->v.f) != 1 || unit->lo.f != unit->v.f) return false;
  *out = *x;
  if (unit->v.f > 0) return true;
  out->v.f = -x->v.f, out->lo.f = -x->hi.f, out->hi.f = -x->lo.f;
  return true;
}

void tirc_bound_mul(Reach *out, const Reach *a, const Reach *b, bool in_any_order, DType t) {
  Reach x = *a, y = *b;
  if (!in_any_order && (by_unit(out, a, b) || by_unit(out, b, a))) return;
  tirc_bound_close(&x, t);
  tirc_bound_close(&y, t);
  const double v = x.v.f * y.v.f;
  const bool points = tirc_bound_is_point(&x, true) && tirc_bound_is_point(&y, true);
  if (has_no_ends(out, &x, &y, v, t)) return;
  Ends e = nothing;
  take_product(&e, x.lo.f, y.lo.f, t);
  if (!points) {
    take_product(&e, x.lo.f, y.hi.f, t);
    take_product(&e, x.hi.f, y.lo.f, t);
    take_product(&e, x.hi.f, y.hi.f, t);
  }
  if (in_any_order) { /* each factor brings a rounding, wherever it comes */
    const double w = (2 * tirc_unit_roundoff(t) + OWN) * fmax(fabs(e.lo), fabs(e.hi)) + 0x1p-149;
    if (isfinite(w)) e.lo -= w, e.hi += w;
  }
  set_ends(out, &e, points, v, t);
}

/* Whether y may be 0 where the quotient then has no end: x may be 0, too, or the 0 have either
 * sign.
 */
static bool may_divide_by_zero(const Reach *x, const Reach *y) {
  if (y->lo.f > 0 || y->hi.f < 0) return false;
  const bool is_apart = x->lo.f > 0 || x->hi.f < 0;
  const bool has_sign = (y->lo.f == 0 && !signbit(y->lo.f)) || (y->hi.f == 0 && signbit(y->hi.f));
  return !is_apart || !has_sign;
}

void tirc_bound_div(Reach *out, const Reach *a, const Reach *b, DType t) {
  Reach x = *a, y = *b;
  if (by_unit(out, a, b)) return;
  tirc_bound_close(&x, t);
  tirc_bound_close(&y, t);
  const double v = x.v.f / y.v.f;
  const bool points = tirc_bound_is_point(&x, true) && tirc_bound_is_point(&y, true);
  if (has_no_ends(out, &x, &y, v, t)) return;
  Ends e = nothing;
  e.none = !points && may_divide_by_zero(&x, &y);
  take(&e, tirc_round_float(t, x.lo.f / y.lo.f));
  take(&e, tirc_round_float(t, x.lo.f / y.hi.f));
  take(&e, tirc_round_float(t, x.hi.f / y.lo.f));
  take(&e, tirc_round_float(t, x.hi.f / y.hi.f));
  set_ends(out, &e, points, v, t);
}
