/* Interval arithmetic over expressions. An end of an interval is an expression in the variables
 * that stay fixed; a NULL end is infinite. Operators relax: the result holds every value that the
 * operands' intervals allow. */
#include "internal.h"
#include "ir/tree/int_op.h"

typedef struct Evaluator {
  Analyzer *a;
  const PtrMap *dom;
  int depth, max_depth; /* of intervals whose ends vary themselves */
} Evaluator;

static const IntSet everything = {NULL, NULL};

static IntSet point(Expr e) { return (IntSet){e, e}; }
static bool is_point(IntSet s) { return s.min && s.min == s.max; }

IntSet tirc_set_of_range(Tirc *c, Range r) {
  if (tirc_is_int(r.extent, 1)) return point(r.min);
  Expr one = tirc_lit(c, r.min->dtype, 1);
  return (IntSet){r.min, tirc_sub(c, tirc_add(c, r.extent, r.min), one)};
}

static Expr least(Tirc *c, Expr x, Expr y) { return x && y ? tirc_min(c, x, y) : NULL; }
static Expr greatest(Tirc *c, Expr x, Expr y) { return x && y ? tirc_max(c, x, y) : NULL; }

static IntSet hull(Tirc *c, IntSet x, IntSet y) {
  return (IntSet){least(c, x.min, y.min), greatest(c, x.max, y.max)};
}

static IntSet common(Tirc *c, IntSet x, IntSet y) {
  IntSet s;
  s.min = x.min && y.min ? tirc_max(c, x.min, y.min) : x.min ? x.min : y.min;
  s.max = x.max && y.max ? tirc_min(c, x.max, y.max) : x.max ? x.max : y.max;
  return s;
}

static IntSet simplified(Analyzer *a, IntSet s) {
  if (is_point(s)) return point(tirc_simplify(a, s.min));
  return (IntSet){s.min ? tirc_simplify(a, s.min) : NULL, s.max ? tirc_simplify(a, s.max) : NULL};
}

IntSet tirc_set_union(Analyzer *a, IntSet x, IntSet y) { return simplified(a, hull(a->c, x, y)); }

IntSet tirc_set_intersect(Analyzer *a, IntSet x, IntSet y) {
  return simplified(a, common(a->c, x, y));
}

/* An end in a type that can count what lies between two of them: 0 to 255 are 256 numbers. NULL:
 * there is none. */
static Expr countable(Analyzer *a, Expr e) {
  if (!tirc_dtype_wraps(e->dtype)) return e;
  const Bound b = tirc_const_bound(a, e);
  if (tirc_bound_fits(DT_INT32, b)) return tirc_cast(a->c, DT_INT32, e);
  return tirc_bound_fits(DT_INT64, b) ? tirc_cast(a->c, DT_INT64, e) : NULL;
}

IntSet tirc_countable_set(Analyzer *a, IntSet s) {
  return (IntSet){s.min ? countable(a, s.min) : NULL, s.max ? countable(a, s.max) : NULL};
}

Range tirc_range_of_set(Analyzer *a, IntSet s, Range fallback) {
  if (is_point(s)) return (Range){tirc_simplify(a, s.min), tirc_lit(a->c, s.min->dtype, 1)};
  s = tirc_countable_set(a, s);
  if (!s.min || !s.max) return fallback;
  Tirc *c = a->c;
  Expr end = tirc_add(c, s.max, tirc_lit(c, s.max->dtype, 1));
  Expr min = tirc_simplify(a, s.min), extent = tirc_simplify(a, tirc_sub(c, end, s.min));
  /* Both ends may be of another type; a range has one. */
  return (Range){tirc_cast(c, extent->dtype, min), extent};
}

/* --- operators -------------------------------------------------------------------------------- */

/* x op k for an operation that is monotonic in x, rising when k >= 0. */
static IntSet by_sign(Analyzer *a, Op op, IntSet x, Expr k) {
  Tirc *c = a->c;
  Expr low = x.min ? tirc_binary(c, op, x.min, k) : NULL;
  Expr high = x.max ? tirc_binary(c, op, x.max, k) : NULL;
  if (tirc_can_prove_ge(a, k, 0)) return (IntSet){low, high};
  Expr zero = tirc_lit(c, k->dtype, 0);
  if (tirc_can_prove_ge(a, tirc_sub(c, zero, k), 1)) return (IntSet){high, low};
  if (!low || !high) return everything;
  Expr sign = tirc_binary(c, OP_GE, k, zero);
  Expr rising[3] = {sign, low, high}, falling[3] = {sign, high, low};
  return (IntSet){tirc_expr(c, OP_SELECT, k->dtype, 3, rising),
                  tirc_expr(c, OP_SELECT, k->dtype, 3, falling)};
}

static IntSet product(Analyzer *a, IntSet x, IntSet y) {
  if (is_point(x)) {
    IntSet swap = x;
    x = y;
    y = swap;
  }
  if (!is_point(y)) return everything;
  if (tirc_is_int(y.min, 0)) return y;
  return tirc_is_int(y.min, 1) ? x : by_sign(a, OP_MUL, x, y.min);
}

static IntSet quotient(Analyzer *a, Op op, IntSet x, IntSet y) {
  if (!is_point(y) || tirc_is_int(y.min, 0)) return everything;
  return tirc_is_int(y.min, 1) ? x : by_sign(a, op, x, y.min);
}

static IntSet remainder_set(Analyzer *a, Op op, IntSet x, IntSet y) {
  Tirc *c = a->c;
  if (!is_point(y) || tirc_is_int(y.min, 0)) return everything;
  Expr k = y.min, zero = tirc_lit(c, k->dtype, 0), one = tirc_lit(c, k->dtype, 1);
  if (!tirc_can_prove_ge(a, k, 0)) {
    if (op != OP_FLOORMOD || k->op != OP_INT) return everything;
    return (IntSet){tirc_add(c, k, one), zero};
  }
  Expr last = tirc_sub(c, k, one);
  if (op == OP_TRUNCMOD) {
    bool positive = k->dtype.code == TYPE_UINT || (x.min && tirc_can_prove_ge(a, x.min, 0));
    return (IntSet){positive ? zero : tirc_sub(c, zero, last), last};
  }
  if (k->op == OP_INT && x.min && x.max) {
    /* no wrap within the interval */
    if (tirc_prove_equal(a, tirc_floordiv(c, x.max, k), tirc_floordiv(c, x.min, k))) {
      Expr start = tirc_floormod(c, x.min, k);
      return (IntSet){start, tirc_add(c, start, tirc_sub(c, x.max, x.min))};
    }
  }
  return (IntSet){zero, last};
}

static IntSet combine(Analyzer *a, Expr e, IntSet x, IntSet y) {
  Tirc *c = a->c;
  Op op = e->op;
  if (is_point(x) && is_point(y)) return point(tirc_binary(c, op, x.min, y.min));
  switch (op) {
  case OP_ADD:
    return (IntSet){x.min && y.min ? tirc_add(c, x.min, y.min) : NULL,
                    x.max && y.max ? tirc_add(c, x.max, y.max) : NULL};
  case OP_SUB:
    return (IntSet){x.min && y.max ? tirc_sub(c, x.min, y.max) : NULL,
                    x.max && y.min ? tirc_sub(c, x.max, y.min) : NULL};
  case OP_MUL: return product(a, x, y);
  case OP_TRUNCDIV:
  case OP_FLOORDIV: return quotient(a, op, x, y);
  case OP_TRUNCMOD:
  case OP_FLOORMOD: return remainder_set(a, op, x, y);
  case OP_MIN:
    return (IntSet){least(c, x.min, y.min), x.max && y.max ? tirc_min(c, x.max, y.max)
                                            : x.max        ? x.max
                                                           : y.max};
  case OP_MAX:
    return (IntSet){x.min && y.min ? tirc_max(c, x.min, y.min)
                    : x.min        ? x.min
                                   : y.min,
                    greatest(c, x.max, y.max)};
  default: return (IntSet){tirc_bool(c, false), tirc_bool(c, true)};
  }
}

/* --- evaluation ------------------------------------------------------------------------------- */

static IntSet eval(Evaluator *v, Expr e);

static IntSet eval_variable(Evaluator *v, Expr var) {
  const IntSet *s = tirc_map_get(v->dom, var);
  if (!s) return point(var);
  if (s->min == var && s->max == var) return *s;
  if (v->depth >= v->max_depth) return *s;
  /* The ends of a domain may vary themselves. */
  v->depth++;
  IntSet out = {s->min ? eval(v, s->min).min : NULL, s->max ? eval(v, s->max).max : NULL};
  v->depth--;
  return out;
}

/* The numbers that the set may have. */
static Bound hull_of(Analyzer *a, IntSet s, DType t) {
  Bound b = {TIRC_NEG_INF, TIRC_POS_INF};
  if (s.min) b.min = tirc_const_bound(a, s.min).min;
  if (s.max) b.max = tirc_const_bound(a, s.max).max;
  if (t.code == TYPE_UINT && b.min < 0) b.min = 0;
  if (t.bits < 64 && b.min < tirc_dtype_min(t)) b.min = tirc_dtype_min(t);
  if (t.bits < 64 && b.max > tirc_dtype_max(t)) b.max = tirc_dtype_max(t);
  return b;
}

/* Whether the numbers of one type are numbers of the other. */
static bool converts(Analyzer *a, IntSet s, DType from, DType to) {
  const bool holds =
      to.code == from.code ? to.bits >= from.bits : to.code == TYPE_INT && to.bits > from.bits;
  return holds || tirc_bound_fits(to, hull_of(a, s, from));
}

/* All numbers of the type, as far as they are constants. */
static IntSet all_of(Tirc *c, DType t) {
  if (t.bits >= 64) return everything;
  return (IntSet){tirc_lit(c, t, tirc_dtype_min(t)), tirc_lit(c, t, tirc_dtype_max(t))};
}

/* Whether e, of operands in these sets, is the number that its operator gives: ends of sums are the
 * sums of ends only while nothing wraps around. */
static bool stays(Evaluator *v, Expr e, IntSet x, IntSet y) {
  const DType t = e->args[0]->dtype;
  const bool leaves = e->op == OP_ADD || e->op == OP_SUB || e->op == OP_MUL ||
                      ((e->op == OP_FLOORDIV || e->op == OP_TRUNCDIV) && t.code == TYPE_INT);
  if (!leaves || !tirc_dtype_wraps(t) || (is_point(x) && is_point(y))) return true;
  return tirc_bound_fits(
      t, tirc_bound_of_operation(v->a, e, hull_of(v->a, x, t), hull_of(v->a, y, t)));
}

/* Of operations on bits, as far as constants bound them. */
static IntSet bits(Evaluator *v, Expr e) {
  const DType t = e->dtype;
  if (!tirc_uses_any(e, v->dom)) return point(e);
  const Bound x = hull_of(v->a, eval(v, e->args[0]), t), y = hull_of(v->a, eval(v, e->args[1]), t);
  const Bound b = tirc_bound_of_operation(v->a, e, x, y);
  return tirc_bound_fits(t, b) && b.min >= 0
             ? (IntSet){tirc_lit(v->a->c, t, b.min), tirc_lit(v->a->c, t, b.max)}
             : everything;
}

static IntSet eval(Evaluator *v, Expr e) {
  if (e->op == OP_INT) return point(e);
  if (e->op == OP_VAR) return eval_variable(v, e);
  if (e->op >= OP_ADD && e->op <= OP_OR && e->op != OP_DIV &&
      tirc_dtype_is_int(e->args[0]->dtype)) {
    IntSet x = eval(v, e->args[0]), y = eval(v, e->args[1]);
    if (is_point(x) && is_point(y) && x.min == e->args[0] && y.min == e->args[1]) return point(e);
    return stays(v, e, x, y) ? combine(v->a, e, x, y) : all_of(v->a->c, e->dtype);
  }
  if (e->op == OP_SELECT) {
    IntSet x = eval(v, e->args[2]), y = eval(v, e->args[1]);
    return hull(v->a->c, x, y);
  }
  if (e->op == OP_CAST && tirc_dtype_is_int(e->dtype) && tirc_dtype_is_int(e->args[0]->dtype)) {
    IntSet x = eval(v, e->args[0]);
    if (is_point(x)) return point(x.min == e->args[0] ? e : tirc_cast(v->a->c, e->dtype, x.min));
    if (!converts(v->a, x, e->args[0]->dtype, e->dtype)) return everything;
    return (IntSet){x.min ? tirc_cast(v->a->c, e->dtype, x.min) : NULL,
                    x.max ? tirc_cast(v->a->c, e->dtype, x.max) : NULL};
  }
  if (e->op >= OP_BITWISE_AND && e->op <= OP_BITWISE_XOR && tirc_dtype_is_int(e->dtype))
    return bits(v, e);
  if (e->dtype.code == TYPE_BOOL && tirc_uses_any(e, v->dom))
    return (IntSet){tirc_bool(v->a->c, false), tirc_bool(v->a->c, true)};
  return tirc_uses_any(e, v->dom) ? everything : point(e);
}

IntSet tirc_eval_set(Analyzer *a, Expr e, const PtrMap *dom) {
  static const PtrMap none = {0};
  Evaluator v = {a, dom ? dom : &none, 0, dom ? (int)dom->n : 0};
  return eval(&v, e);
}

/* --- conditions ------------------------------------------------------------------------------- */

/* e == *coeff * var + *rest with a constant coefficient != 0. */
static bool linear_in(Analyzer *a, Expr e, Expr var, int64_t *coeff, Expr *rest) {
  Tirc *c = a->c;
  if (e->op == OP_VAR) {
    *coeff = e == var;
    *rest = e == var ? tirc_lit(c, e->dtype, 0) : e;
    return true;
  }
  if (!tirc_uses_var(e, var)) {
    *coeff = 0;
    *rest = e;
    return true;
  }
  int64_t k[2];
  Expr r[2];
  if (e->op != OP_ADD && e->op != OP_SUB && e->op != OP_MUL) return false;
  for (int i = 0; i < 2; i++)
    if (!linear_in(a, e->args[i], var, &k[i], &r[i])) return false;
  if (e->op == OP_MUL) {
    int64_t by;
    int at = e->args[1]->op == OP_INT ? 0 : 1;
    if (!tirc_const_int(e->args[1 - at], &by)) return false;
    *rest = tirc_mul(c, r[at], e->args[1 - at]);
    return !__builtin_mul_overflow(k[at], by, coeff);
  }
  *rest = tirc_binary(c, e->op, r[0], r[1]);
  return e->op == OP_ADD ? !__builtin_add_overflow(k[0], k[1], coeff)
                         : !__builtin_sub_overflow(k[0], k[1], coeff);
}

/* coeff * var + rest <= 0 bounds var from one side, rest being as small as it gets. */
static void narrow(Analyzer *a, Expr var, int64_t coeff, Expr rest, const PtrMap *before,
                   PtrMap *dom) {
  Tirc *c = a->c;
  const IntSet *old = tirc_map_get(before, var);
  IntSet r = tirc_eval_set(a, rest, before); /* rest does not use var */
  if (!r.min || coeff == 0 || coeff == INT64_MIN) return;
  DType t = var->dtype;
  int64_t size = coeff < 0 ? -coeff : coeff;
  if (size > tirc_dtype_max(t)) return;
  Expr k = tirc_lit(c, t, size);
  IntSet bound = everything;
  if (coeff > 0) {
    bound.max = tirc_floordiv(c, tirc_sub(c, tirc_lit(c, t, 0), r.min), k);
  } else {
    Expr up = tirc_add(c, r.min, tirc_lit(c, t, size - 1));
    bound.min = tirc_floordiv(c, up, k);
  }
  IntSet *set = tirc_new(c, IntSet);
  *set = tirc_set_intersect(a, *old, bound);
  tirc_map_set(c, dom, var, set);
}

static void narrow_less(Analyzer *a, Expr x, Expr y, bool strict, PtrMap *dom) {
  Tirc *c = a->c;
  Expr diff = tirc_sub(c, x, y);
  if (strict) diff = tirc_add(c, diff, tirc_lit(c, diff->dtype, 1));
  diff = tirc_simplify(a, diff);
  /* All variables are narrowed from the same state: the order of a map means nothing. */
  PtrMap before = {0};
  for (size_t i = 0; i < dom->cap; i++)
    if (dom->keys[i] && tirc_map_has(dom, dom->keys[i]))
      tirc_map_set(a->c, &before, dom->keys[i], dom->values[i]);
  for (size_t i = 0; i < before.cap; i++) {
    Expr var = before.keys[i];
    if (!var || !tirc_map_has(&before, var) || !tirc_is_index(var->dtype)) continue;
    int64_t coeff;
    Expr rest;
    if (tirc_dtype_equal(var->dtype, diff->dtype) && tirc_uses_var(diff, var) &&
        linear_in(a, diff, var, &coeff, &rest))
      narrow(a, var, coeff, rest, &before, dom);
  }
}

void tirc_narrow_by_condition(Analyzer *a, Expr cond, PtrMap *dom) {
  if (cond->op == OP_LIKELY) cond = cond->args[0];
  if (cond->op == OP_AND) {
    tirc_narrow_by_condition(a, cond->args[0], dom);
    tirc_narrow_by_condition(a, cond->args[1], dom);
    return;
  }
  if (!tirc_compares(cond->op) || cond->op == OP_NE) return;
  Expr x = cond->args[0], y = cond->args[1];
  if (!tirc_is_index(x->dtype)) return;
  bool greater = cond->op == OP_GT || cond->op == OP_GE;
  bool strict = cond->op == OP_LT || cond->op == OP_GT;
  narrow_less(a, greater ? y : x, greater ? x : y, strict, dom);
  if (cond->op == OP_EQ) narrow_less(a, y, x, false, dom);
}
