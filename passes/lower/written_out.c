/* Intrinsics that no processor and no library has for all types, in operators that code generators
 * have, on scalars and vectors alike: so they are vectorised, and the same everywhere. */
#include "internal.h"

/* One intrinsic being written out. */
typedef struct Writing {
  Tirc *c;
  int lanes;
} Writing;

static DType lanes_of(const Writing *w, DType t) { return tirc_dtype_lanes(t, w->lanes); }
static Expr number(const Writing *w, DType t, int64_t v) {
  return tirc_int(w->c, lanes_of(w, t), v);
}
static Expr cast(const Writing *w, DType t, Expr x) { return tirc_cast(w->c, lanes_of(w, t), x); }
static Expr apply(const Writing *w, Op op, Expr a, Expr b) {
  bool tests = op >= OP_EQ && op <= OP_OR;
  return tirc_expr(w->c, op, tests ? lanes_of(w, DT_BOOL) : a->dtype, 2, (Expr[]){a, b});
}
static Expr choose(const Writing *w, Expr cond, Expr yes, Expr no) {
  return tirc_expr(w->c, OP_SELECT, yes->dtype, 3, (Expr[]){cond, yes, no});
}
static Expr bits_as(const Writing *w, DType t, Expr x) {
  return tirc_expr(w->c, OP_REINTERPRET, lanes_of(w, t), 1, &x);
}
static Expr clamp(const Writing *w, Expr x, int64_t min, int64_t max) {
  DType t = tirc_dtype_lanes(x->dtype, 1);
  return tirc_binary(w->c, OP_MIN, tirc_binary(w->c, OP_MAX, x, number(w, t, min)),
                     number(w, t, max));
}
static Expr spread(const Writing *w, Expr x) {
  return x->dtype.lanes < w->lanes ? tirc_broadcast(w->c, x, w->lanes) : x;
}
static Expr let(const Writing *w, Expr var, Expr value, Expr body) {
  return tirc_expr(w->c, OP_LET, body->dtype, 3, (Expr[]){var, value, body});
}

/* --- fixed point ------------------------------------------------------------------------------ */

/* x y / 2^by, rounded half up; `by` has the lanes of of_by. The product has 63 bits; that of two
 * int32 cannot overflow. Half up is to keep one bit more and to round that away: ((p >> (by - 1)) +
 * 1) >> 1. */
static Expr fixed_product(const Writing *w, const Writing *of_by, Expr x, Expr y, Expr by) {
  enum { WIDEST = 63 };
  const Expr value = apply(w, OP_MUL, cast(w, DT_INT64, x), cast(w, DT_INT64, y));
  const Expr shifts_right = tirc_binary(w->c, OP_GT, by, number(of_by, DT_INT64, 0));
  int64_t v;
  const bool is_known = tirc_const_int(shifts_right, &v);
  const Expr p = is_known ? value : tirc_var(w->c, "product", value->dtype); /* it stands twice */
  Expr zero = number(of_by, DT_INT64, 0), one = number(w, DT_INT64, 1);
  Expr less = tirc_binary(w->c, OP_SUB, by, number(of_by, DT_INT64, 1));
  Expr right = spread(w, clamp(of_by, less, 0, WIDEST));
  Expr left = spread(w, clamp(of_by, tirc_binary(w->c, OP_SUB, zero, by), 0, WIDEST));
  Expr rounded = apply(w, OP_ADD, apply(w, OP_SHIFT_RIGHT, p, right), one);
  rounded = apply(w, OP_SHIFT_RIGHT, rounded, one);
  Expr larger = apply(w, OP_SHIFT_LEFT, p, left);
  if (is_known) return cast(w, DT_INT32, v ? rounded : larger);
  const Expr r = choose(w, spread(w, shifts_right), rounded, larger);
  return let(w, p, value, cast(w, DT_INT32, r));
}

/* Operands that are the same in all lanes are scalars, so that constants among them fold. */
static Writing uniform(const Writing *w, int n, const Expr *a, Expr *scalars) {
  bool all = true;
  for (int i = 0; i < n; i++) all = all && (w->lanes == 1 || a[i]->op == OP_BROADCAST);
  for (int i = 0; i < n; i++) scalars[i] = all && w->lanes > 1 ? a[i]->args[0] : a[i];
  return (Writing){w->c, all ? 1 : w->lanes};
}

static Expr write_q(const Writing *w, const Expr *a) {
  enum { X, Y, Q, S, N };
  Expr k[N];
  const Writing s = uniform(w, N - Q, a + Q, k + Q);
  Expr by = tirc_binary(w->c, OP_SUB, cast(&s, DT_INT64, k[Q]), cast(&s, DT_INT64, k[S]));
  return fixed_product(w, &s, a[X], a[Y], by);
}

static Expr write_q_per_axis(const Writing *w, const Expr *a) {
  enum { X, Y, LEFT, RIGHT, Q, SHIFTS_LEFT, N };
  Expr k[N];
  const Writing s = uniform(w, N - LEFT, a + LEFT, k + LEFT);
  Expr by = tirc_binary(w->c, OP_ADD, cast(&s, DT_INT64, k[Q]), cast(&s, DT_INT64, k[RIGHT]));
  Expr left = cast(&s, DT_INT64, k[LEFT]), none = number(&s, DT_INT64, 0);
  int64_t v;
  left = !tirc_const_int(k[SHIFTS_LEFT], &v) ? choose(&s, k[SHIFTS_LEFT], left, none)
         : v                                 ? left
                                             : none;
  return fixed_product(w, &s, a[X], a[Y], tirc_binary(w->c, OP_SUB, by, left));
}

/* --- floats ----------------------------------------------------------------------------------- */

/* 2^n for -1022 <= n <= 1023, by its bits. */
static Expr power_of_two(const Writing *w, Expr n) {
  enum { BIAS = 1023, MANTISSA = 52 };
  Expr exponent = apply(w, OP_ADD, cast(w, DT_INT64, n), number(w, DT_INT64, BIAS));
  return bits_as(w, DT_FLOAT64, apply(w, OP_SHIFT_LEFT, exponent, number(w, DT_INT64, MANTISSA)));
}

/* The part of n that goes into a first factor. Down: 53 less than there is, so that a product that
 * is subnormal already has no bit left in the result, which is then rounded once. */
static Expr first_part(const Writing *w, Expr n) {
  enum { UP = 1023, LEAST = -1022, DOWN = LEAST + 53 };
  Expr down = choose(w, apply(w, OP_LT, n, number(w, DT_INT32, LEAST)), number(w, DT_INT32, DOWN),
                     number(w, DT_INT32, 0));
  return choose(w, apply(w, OP_GT, n, number(w, DT_INT32, UP)), number(w, DT_INT32, UP), down);
}

/* x 2^n. Floats of at most 32 bits have room in double: the product there is exact wherever the
 * result is not 0 or infinite, and is rounded once. */
static Expr write_ldexp(const Writing *w, const Expr *a) {
  enum { LEAST = -1022, LARGEST = 1023, ENOUGH = 2200 };
  Expr x = a[0], n = a[1];
  DType t = tirc_dtype_lanes(x->dtype, 1);
  if (t.bits < 64) {
    Expr scaled =
        apply(w, OP_MUL, cast(w, DT_FLOAT64, x), power_of_two(w, clamp(w, n, LEAST, LARGEST)));
    return cast(w, t, scaled);
  }
  Expr all = tirc_var(w->c, "n", lanes_of(w, DT_INT32)), rest = tirc_var(w->c, "rest", all->dtype);
  Expr part = first_part(w, rest), last = apply(w, OP_SUB, rest, part);
  Expr scaled = apply(w, OP_MUL, x, power_of_two(w, first_part(w, all)));
  scaled = apply(w, OP_MUL, scaled, power_of_two(w, part));
  scaled = apply(w, OP_MUL, scaled, power_of_two(w, clamp(w, last, LEAST, LARGEST)));
  scaled = let(w, rest, apply(w, OP_SUB, all, first_part(w, all)), scaled);
  return let(w, all, clamp(w, n, -ENOUGH, ENOUGH), scaled);
}

/* The bits of a positive float, as an integer, count the floats up to it. */
static Expr write_nextafter(const Writing *w, const Expr *a) {
  DType t = tirc_dtype_lanes(a[0]->dtype, 1), integer = {TYPE_INT, t.bits, 1};
  Expr x = tirc_var(w->c, "x", a[0]->dtype), y = tirc_var(w->c, "y", a[1]->dtype);
  Expr zero = tirc_float(w->c, t, 0), one = number(w, integer, 1);
  if (w->lanes > 1) zero = tirc_broadcast(w->c, zero, w->lanes);
  Expr grows = apply(w, OP_EQ, apply(w, OP_LT, x, y), apply(w, OP_GT, x, zero));
  Expr step = choose(w, grows, one, number(w, integer, -1));
  Expr next = apply(w, OP_ADD, bits_as(w, integer, x), step);
  Expr sign = apply(w, OP_BITWISE_AND, bits_as(w, integer, y),
                    number(w, integer, t.bits == 64 ? INT64_MIN : -((int64_t)1 << (t.bits - 1))));
  next = choose(w, apply(w, OP_EQ, x, zero), apply(w, OP_BITWISE_OR, sign, one), next);
  Expr r = choose(w, apply(w, OP_EQ, x, y), y, bits_as(w, t, next));
  Expr nan = apply(w, OP_OR, apply(w, OP_NE, x, x), apply(w, OP_NE, y, y));
  r = choose(w, nan, apply(w, OP_ADD, x, y), r);
  return let(w, x, a[0], let(w, y, a[1], r));
}

Expr tirc_written_out(Tirc *c, Expr e) {
  static Expr (*const writers[OP_COUNT])(const Writing *, const Expr *) = {
      [OP_Q_MULTIPLY_SHIFT] = write_q,
      [OP_Q_MULTIPLY_SHIFT_PER_AXIS] = write_q_per_axis,
      [OP_LDEXP] = write_ldexp,
      [OP_NEXTAFTER] = write_nextafter,
  };
  Writing w = {c, e->dtype.lanes};
  return writers[e->op] ? writers[e->op](&w, e->args) : e;
}
