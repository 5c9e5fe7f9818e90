/* The canonical simplifier: index arithmetic as sums of splits (sum.c). A walk keeps sums as
 * such while it goes up through + - * // %, and turns them into ordinary expressions at every other
 * node. */
#include "sum.h"

typedef enum CanonKind { CANON_EXPR, CANON_SPLIT, CANON_SUM } CanonKind;
typedef struct Canon {
  CanonKind kind;
  DType type;
  Expr e;
  Split split;
  Sum sum;
} Canon;

static Canon mutate(Simplifier *s, Expr e);

static Canon plain(Expr e) { return (Canon){.kind = CANON_EXPR, .type = e->dtype, .e = e}; }
static Canon of_split(DType t, Split s) {
  return (Canon){.kind = CANON_SPLIT, .type = t, .split = s};
}
static Canon of_sum(DType t, Sum s) { return (Canon){.kind = CANON_SUM, .type = t, .sum = s}; }

static Expr normalize(Tirc *c, const Canon *v) {
  switch (v->kind) {
  case CANON_SPLIT: return tirc_split_expr(c, v->type, &v->split, 1);
  case CANON_SUM: return tirc_sum_expr(c, v->type, &v->sum);
  default: return v->e;
  }
}

static Split atom(Expr e) {
  return (Split){.index = e, .lower = 1, .upper = SPLIT_INF, .scale = 1};
}

static Split to_split(Tirc *c, const Canon *v) {
  if (v->kind == CANON_SPLIT) return v->split;
  if (v->kind == CANON_SUM && v->sum.base == 0 && v->sum.n == 1) return v->sum.at[0];
  return atom(normalize(c, v));
}

static Sum to_sum(Tirc *c, const Canon *v) {
  if (v->kind == CANON_SUM) return tirc_sum_copy(c, &v->sum);
  Sum sum = {0};
  if (v->kind == CANON_EXPR && v->e->op == OP_INT) {
    sum.base = v->e->u.i;
    return sum;
  }
  sum.n = 1;
  sum.at = tirc_new(c, Split);
  sum.at[0] = to_split(c, v);
  return sum;
}

static bool const_value(const Canon *v, int64_t *out) {
  return v->kind == CANON_EXPR && tirc_const_int(v->e, out);
}

/* The node over plain operands; the given one when the operands are its own. */
static Canon plain_node(Tirc *c, Expr e, const Canon *a, const Canon *b) {
  Expr args[2] = {normalize(c, a), normalize(c, b)};
  if (args[0] == e->args[0] && args[1] == e->args[1]) return plain(e);
  return plain(tirc_binary(c, e->op, args[0], args[1]));
}

/* Constants folded and neutral elements dropped, where the operands are no sums. */
static bool folded(Tirc *c, Expr e, const Canon *a, const Canon *b, Canon *out) {
  int64_t v;
  bool ca = const_value(a, &v), cb = const_value(b, &v);
  if (!ca && !cb) return false;
  if (ca && cb) {
    Expr args[2] = {a->e, b->e}, r = tirc_fold(c, e->op, e->dtype, 2, args);
    if (r)
      *out = plain(r);
    else
      *out = plain_node(c, e, a, b);
    return true;
  }
  const Canon *other = ca ? b : a;
  v = ca ? a->e->u.i : b->e->u.i;
  if (v == 0 && (e->op == OP_ADD || (e->op == OP_SUB && cb))) return *out = *other, true;
  if (v == 1 && (e->op == OP_MUL || (cb && (e->op == OP_FLOORDIV || e->op == OP_TRUNCDIV))))
    return *out = *other, true;
  bool zero = (v == 0 && e->op == OP_MUL) ||
              (v == 1 && cb && (e->op == OP_FLOORMOD || e->op == OP_TRUNCMOD));
  if (zero) *out = plain(tirc_lit(c, e->dtype, 0));
  return zero;
}

/* --- sums and products ------------------------------------------------------------------------ */

static Canon add_or_sub(Simplifier *s, Expr e) {
  Tirc *c = s->a->c;
  Canon a = mutate(s, e->args[0]), b = mutate(s, e->args[1]), out;
  if (folded(c, e, &a, &b, &out)) return out;
  int64_t sign = e->op == OP_ADD ? 1 : -1;
  Sum sum = to_sum(c, &a);
  Sum other = to_sum(c, &b);
  if (!tirc_sum_add(c, e->dtype, &sum, &other, sign)) return plain_node(c, e, &a, &b);
  return of_sum(e->dtype, sum);
}

static Canon multiply(Simplifier *s, Expr e) {
  Tirc *c = s->a->c;
  Canon a = mutate(s, e->args[0]), b = mutate(s, e->args[1]), out;
  if (folded(c, e, &a, &b, &out)) return out;
  int64_t by;
  if (const_value(&a, &by)) {
    Canon swap = a;
    a = b;
    b = swap;
  }
  if (!const_value(&b, &by)) {
    Expr r = tirc_mul_normalize(c, normalize(c, &a), normalize(c, &b));
    return plain(tirc_expr_same(r, e) ? e : r);
  }
  Sum sum = to_sum(c, &a);
  if (!tirc_sum_scale(e->dtype, &sum, by)) {
    Expr args[2] = {normalize(c, &a), b.e};
    return plain(tirc_binary(c, OP_MUL, args[0], args[1]));
  }
  return a.kind == CANON_SUM ? of_sum(e->dtype, sum) : of_split(e->dtype, sum.at[0]);
}

/* --- division by a constant ------------------------------------------------------------------- */

static Split with_mode(Tirc *c, DType t, Split s, bool down) {
  if (!tirc_split_mode_fits(&s, down)) s = atom(tirc_split_expr(c, t, &s, 1));
  s.down = down;
  return s;
}

/* s / by as a split. */
static Split divide_split(Simplifier *sim, DType t, Split s, int64_t by, bool down) {
  Tirc *c = sim->a->c;
  s = with_mode(c, t, s, down);
  if (s.scale % by == 0) {
    s.scale /= by;
    return s;
  }
  int64_t lower;
  bool scaled = s.scale > 0 && by % s.scale == 0 &&
                !__builtin_mul_overflow(s.lower, by / s.scale, &lower) &&
                lower <= tirc_dtype_max(t);
  if (scaled) {
    if (s.upper != SPLIT_INF && s.upper <= lower) return atom(tirc_lit(c, t, 0));
    if (s.upper != SPLIT_INF && s.upper % lower != 0) {
      s.index = tirc_binary(c, down ? OP_FLOORMOD : OP_TRUNCMOD, s.index, tirc_lit(c, t, s.upper));
      s.upper = SPLIT_INF;
    }
    s.scale = 1;
    s.lower = lower;
    return s;
  }
  s = atom(tirc_split_expr(c, t, &s, 1));
  s.lower = by;
  s.down = down;
  return s;
}

/* s % by as a split. (index % u) / lower * scale % by, with by = k * scale, is the remainder of the
 * index by lower * k, divided by lower, times scale. */
static Split remainder_split(Simplifier *sim, DType t, Split s, int64_t by, bool down) {
  Tirc *c = sim->a->c;
  s = with_mode(c, t, s, down);
  if (s.scale % by == 0) {
    s.scale = 0;
    return s;
  }
  int64_t upper;
  bool scaled = s.scale > 0 && by % s.scale == 0 &&
                !__builtin_mul_overflow(s.lower, by / s.scale, &upper) &&
                upper <= tirc_dtype_max(t);
  if (scaled && s.upper == SPLIT_INF) {
    s.upper = upper;
    return s;
  }
  if (scaled && s.upper % upper == 0) {
    if (upper == s.upper) return s;
    Expr again = tirc_binary(c, down ? OP_FLOORMOD : OP_TRUNCMOD, s.index, tirc_lit(c, t, upper));
    Canon v = plain(tirc_simplifier_visit(sim, again));
    Split r = to_split(c, &v);
    if (s.lower != 1) r = divide_split(sim, t, r, s.lower, down);
    int64_t scale;
    if (!__builtin_mul_overflow(r.scale, s.scale, &scale) && scale <= tirc_dtype_max(t)) {
      r.scale = scale;
      return r;
    }
  } else if (scaled && upper % s.upper == 0) {
    return s;
  }
  s = atom(tirc_split_expr(c, t, &s, 1));
  s.down = down;
  s.upper = by;
  return s;
}

static bool within(Simplifier *s, Expr e, int64_t by) {
  Bound b = tirc_const_bound(s->a, e);
  return b.min >= 0 && b.max < by;
}

/* 0 <= e < by, by comparing. */
static bool below(Simplifier *s, Expr e, int64_t by, bool known_nonnegative) {
  return tirc_compare_const(s, e, by) == CMP_LT &&
         (known_nonnegative || tirc_can_prove_ge(s->a, e, 0));
}

static bool both_nonnegative(Simplifier *s, DType t, const Sum *x, const Sum *y) {
  Tirc *c = s->a->c;
  return tirc_can_prove_ge(s->a, tirc_sum_expr(c, t, x), 0) &&
         tirc_can_prove_ge(s->a, tirc_sum_expr(c, t, y), 0);
}

/* (x*by + rest) / by == x + rest / by; rounding to zero, only when both parts are >= 0. */
static Canon divide_sum(Simplifier *s, const Canon *a, int64_t by, bool down) {
  Tirc *c = s->a->c;
  DType t = a->type;
  Sum divisible, rest;
  tirc_sum_separate(c, &a->sum, by, &divisible, &rest);
  const bool exact = rest.n == 0 && rest.base == 0;
  const bool whole = divisible.n == 0 && divisible.base == 0;
  if (!exact && !down && !both_nonnegative(s, t, &divisible, &rest))
    return of_split(t, divide_split(s, t, to_split(c, a), by, down));
  Expr residue = exact ? NULL : tirc_sum_expr(c, t, &rest);
  int64_t v = 0;
  bool ok = true, is_below = false;
  const bool is_const = residue && tirc_const_int(residue, &v);
  if (!exact && !is_const) is_below = below(s, residue, by, !down);
  /* What remains as it was is not asked whether it has a number. */
  if (residue && (is_below || !whole) && tirc_may_leave_type(s->a, residue))
    return of_split(t, divide_split(s, t, to_split(c, a), by, down));
  tirc_sum_divide(&divisible, by);
  if (exact) return of_sum(t, divisible);
  if (is_const) {
    ok = tirc_sum_add_const(t, &divisible, down ? tirc_floordiv64(v, by) : v / by);
  } else if (!is_below) {
    Canon r = plain(residue);
    if (rest.n == 1 && rest.base == 0) r = of_split(t, rest.at[0]);
    r = plain(normalize(c, &r));
    ok = tirc_sum_add_split(c, t, &divisible, divide_split(s, t, to_split(c, &r), by, down), 1);
  }
  return ok ? of_sum(t, divisible) : of_split(t, divide_split(s, t, to_split(c, a), by, down));
}

static Canon remainder_sum(Simplifier *s, const Canon *a, int64_t by, bool down) {
  Tirc *c = s->a->c;
  DType t = a->type;
  Sum divisible, rest, sum = a->sum;
  tirc_sum_separate(c, &sum, by, &divisible, &rest);
  if (!down && rest.n == 0 && rest.base == 0) return plain(tirc_lit(c, t, 0));
  const bool whole = divisible.n == 0 && divisible.base == 0;
  Expr residue = tirc_sum_expr(c, t, &rest);
  if (down || both_nonnegative(s, t, &divisible, &rest)) {
    int64_t v;
    if (tirc_const_int(residue, &v))
      return plain(tirc_lit(c, t, down ? tirc_floormod64(v, by) : v % by));
    const bool is_below = below(s, residue, by, !down);
    if ((is_below || !whole) && !tirc_may_leave_type(s->a, residue)) {
      if (is_below) return plain(residue);
      sum = rest;
    }
  }
  /* (x - 5) % 3 => (x + 1) % 3; rounding to zero, only while the dividend stays >= 0 */
  sum = tirc_sum_copy(c, &sum);
  if (down) {
    const int64_t base = sum.base;
    sum.base = tirc_floormod64(base, by);
    if (sum.base != base && tirc_may_leave_type(s->a, tirc_sum_expr(c, t, &sum))) sum.base = base;
  } else {
    Bound b = tirc_const_bound(s->a, tirc_sum_expr(c, t, &sum));
    int64_t base = sum.base % by, shifted;
    bool stays = b.min >= 0 && !__builtin_sub_overflow(b.min, sum.base, &shifted) &&
                 !__builtin_add_overflow(shifted, base, &shifted) && shifted >= 0;
    if (stays) sum.base = base;
  }
  Canon dividend = of_sum(t, sum);
  return of_split(t, remainder_split(s, t, to_split(c, &dividend), by, down));
}

/* Common factors of a symbolic divisor and the dividend cancel. *scale gets what was cancelled. */
static bool cancel_factors(Tirc *c, Expr *a, Expr *b, Expr *scale) {
  DType t = (*b)->dtype;
  if ((*b)->op == OP_INT) return false;
  ExprVec left = {0}, right = {0};
  tirc_unpack(c, OP_MUL, *a, &left);
  tirc_unpack(c, OP_MUL, *b, &right);
  int64_t ca = 1, cb = 1;
  Expr rest = tirc_lit(c, t, 1), common = tirc_lit(c, t, 1);
  int cancelled = 0;
  for (int i = 0; i < left.n; i++)
    if (left.at[i]->op == OP_INT) {
      if (__builtin_mul_overflow(ca, left.at[i]->u.i, &ca)) return false;
      left.at[i] = NULL;
    }
  for (int i = 0; i < right.n; i++) {
    Expr f = right.at[i];
    if (f->op == OP_INT) {
      if (__builtin_mul_overflow(cb, f->u.i, &cb)) return false;
      continue;
    }
    int j = 0;
    while (j < left.n && !(left.at[j] && tirc_same_product(left.at[j], f))) j++;
    if (j == left.n) {
      rest = tirc_mul(c, rest, f);
    } else {
      left.at[j] = NULL;
      cancelled++;
      common = tirc_mul(c, common, f);
    }
  }
  int64_t g = tirc_gcd(ca, cb);
  if (g == 0 || (cancelled == 0 && g == 1)) return false;
  Expr top = tirc_lit(c, t, 1);
  for (int i = 0; i < left.n; i++)
    if (left.at[i]) top = tirc_mul(c, top, left.at[i]);
  if (ca / g > tirc_dtype_max(t) || ca / g < tirc_dtype_min(t)) return false;
  if (cb / g > tirc_dtype_max(t) || cb / g < tirc_dtype_min(t) || g > tirc_dtype_max(t))
    return false;
  *a = tirc_mul(c, top, tirc_lit(c, t, ca / g));
  *b = tirc_mul(c, rest, tirc_lit(c, t, cb / g));
  *scale = tirc_mul(c, common, tirc_lit(c, t, g));
  return true;
}

static Canon divide(Simplifier *s, Expr e) {
  Tirc *c = s->a->c;
  bool down = e->op == OP_FLOORDIV || e->op == OP_FLOORMOD;
  bool quotient = e->op == OP_FLOORDIV || e->op == OP_TRUNCDIV;
  Canon a = mutate(s, e->args[0]), b = mutate(s, e->args[1]), out;
  if (folded(c, e, &a, &b, &out)) return out;
  int64_t by;
  if (const_value(&b, &by) && by > 0 && by != SPLIT_INF) {
    if (a.kind == CANON_SUM)
      return quotient ? divide_sum(s, &a, by, down) : remainder_sum(s, &a, by, down);
    if (within(s, normalize(c, &a), by)) return quotient ? plain(tirc_lit(c, e->dtype, 0)) : a;
    Split split = to_split(c, &a);
    return of_split(e->dtype, quotient ? divide_split(s, e->dtype, split, by, down)
                                       : remainder_split(s, e->dtype, split, by, down));
  }
  Expr x = normalize(c, &a), y = normalize(c, &b), scale;
  if (cancel_factors(c, &x, &y, &scale)) {
    Expr r = tirc_binary(c, e->op, x, y);
    return plain(quotient ? r : tirc_mul(c, r, scale));
  }
  if (x == e->args[0] && y == e->args[1]) return plain(e);
  return plain(tirc_binary(c, e->op, x, y));
}

/* --- casts ------------------------------------------------------------------------------------ */

static bool fits_type(Simplifier *s, DType t, Expr e) {
  Bound b = tirc_const_bound(s->a, e);
  return e->dtype.bits <= t.bits || (b.min >= tirc_dtype_min(t) && b.max <= tirc_dtype_max(t));
}

/* A split by itself, as an expression of its own type. */
static Expr split_alone(Simplifier *s, DType from, const Split *split, int64_t scale) {
  Split alone = *split;
  alone.scale = scale;
  return tirc_split_expr(s->a->c, from, &alone, 1);
}

static bool index_casts(Simplifier *s, DType to, const Split *split) {
  return fits_type(s, to, split->index) && split->lower <= tirc_dtype_max(to) &&
         (split->upper == SPLIT_INF || split->upper <= tirc_dtype_max(to));
}

static bool split_casts(Simplifier *s, DType from, DType to, const Split *split) {
  if (split->scale == 0) return true;
  return fits_type(s, to, split_alone(s, from, split, split->scale)) &&
         (index_casts(s, to, split) || fits_type(s, to, split_alone(s, from, split, 1)));
}

/* Of an index that the narrower type does not hold it holds a digit, as a term of its own. */
static Split cast_split(Simplifier *s, DType from, DType to, const Split *split) {
  Split out = *split;
  if (split->scale == 0 || to.bits >= from.bits || index_casts(s, to, split)) {
    out.index = tirc_recast(s->a, to, split->index);
    return out;
  }
  out = atom(tirc_recast(s->a, to, split_alone(s, from, split, 1)));
  out.scale = split->scale;
  return out;
}

/* Whether a cast of the sum may be moved to its terms: widening always may; narrowing when no
 * partial sum leaves the type. */
static bool sum_casts(Simplifier *s, DType from, DType to, const Sum *sum) {
  if (to.bits >= from.bits) return true;
  Bound total = {sum->base, sum->base};
  if (sum->base < tirc_dtype_min(to) || sum->base > tirc_dtype_max(to)) return false;
  for (int i = 0; i < sum->n; i++) {
    if (!split_casts(s, from, to, &sum->at[i])) return false;
    Bound b = tirc_const_bound(s->a, tirc_split_expr(s->a->c, from, &sum->at[i], 1));
    /* the hull over every order of summation */
    total.min += b.min < 0 ? b.min : 0;
    total.max += b.max > 0 ? b.max : 0;
    if (total.min < tirc_dtype_min(to) || total.max > tirc_dtype_max(to)) return false;
  }
  return true;
}

static Canon cast(Simplifier *s, Expr e) {
  Tirc *c = s->a->c;
  Expr arg = e->args[0];
  if (!tirc_is_index(arg->dtype)) return plain(tirc_rewrite_node(s, e));
  Canon v = mutate(s, arg);
  if (v.kind == CANON_EXPR) return plain(tirc_recast(s->a, e->dtype, v.e));
  Sum sum = to_sum(c, &v);
  if (!sum_casts(s, arg->dtype, e->dtype, &sum))
    return plain(tirc_recast(s->a, e->dtype, normalize(c, &v)));
  for (int i = 0; i < sum.n; i++) sum.at[i] = cast_split(s, arg->dtype, e->dtype, &sum.at[i]);
  return of_sum(e->dtype, sum);
}

/* --- comparison ------------------------------------------------------------------------------- */

/* a < b, as a sum < 0 whose coefficients have a common divisor d apart from one small or remainder
 * term: x*d + y < c*d with -d < y < d is x < c. */
static Expr less(Simplifier *s, Expr e) {
  Tirc *c = s->a->c;
  DType t = e->args[0]->dtype;
  Canon diff = mutate(s, tirc_sub(c, e->args[0], e->args[1]));
  if (diff.kind != CANON_SUM) return tirc_rewrite_node(s, e);
  int64_t d = diff.sum.base;
  bool scaled = false;
  for (int i = 0; i < diff.sum.n; i++) {
    int64_t k = diff.sum.at[i].scale;
    if (k >= -1 && k <= 1) continue;
    scaled = true;
    d = tirc_gcd(d, k);
  }
  if (d < 0) d = -d;
  if (!scaled || d <= 1) return tirc_rewrite_node(s, e);
  Sum divisible, extra;
  tirc_sum_separate(c, &diff.sum, d, &divisible, &extra);
  Expr rest = tirc_sum_expr(c, t, &extra), zero = tirc_lit(c, t, 0);
  Split *one = extra.n == 1 && extra.base == 0 ? &extra.at[0] : NULL;
  int64_t lower;
  if (tirc_prove(s->a, tirc_lt(c, rest, tirc_lit(c, t, d))) &&
      tirc_prove(s->a, tirc_lt(c, tirc_lit(c, t, -d), rest))) {
    /* a negative y borrows from x: with x == c, x*d + y < c*d holds and x < c does not */
    if (!tirc_can_prove_ge(s->a, rest, 0)) return tirc_rewrite_node(s, e);
    tirc_sum_divide(&divisible, d);
    return tirc_rewrite_node(s, tirc_lt(c, tirc_sum_expr(c, t, &divisible), zero));
  }
  if (one && one->down && one->scale == 1 && one->upper != SPLIT_INF &&
      !__builtin_mul_overflow(d, one->lower, &lower) && one->upper % lower == 0) {
    tirc_sum_divide(&divisible, d);
    Expr high = tirc_floormod(c, tirc_floordiv(c, one->index, tirc_lit(c, t, lower)),
                              tirc_lit(c, t, one->upper / lower));
    return tirc_rewrite_node(s,
                             tirc_lt(c, tirc_add(c, tirc_sum_expr(c, t, &divisible), high), zero));
  }
  return tirc_rewrite_node(s, e);
}

/* --- the walk --------------------------------------------------------------------------------- */

static Canon mutate(Simplifier *s, Expr e) {
  bool index = tirc_is_index(e->dtype);
  switch (index ? (Op)e->op : OP_CALL) {
  case OP_ADD:
  case OP_SUB: return add_or_sub(s, e);
  case OP_MUL: return multiply(s, e);
  case OP_TRUNCDIV:
  case OP_TRUNCMOD:
  case OP_FLOORDIV:
  case OP_FLOORMOD: return divide(s, e);
  case OP_CAST: return cast(s, e);
  default: break;
  }
  if (e->op == OP_LT && tirc_is_index(e->args[0]->dtype)) return plain(less(s, e));
  return plain(tirc_rewrite_node(s, e));
}

Expr tirc_canonical_visit(Simplifier *s, Expr e) {
  Canon v = mutate(s, e);
  return normalize(s->a->c, &v);
}
