/* Comparing two expressions, and what conditions and ranges say about them.
 *
 * First the difference is simplified and its constant bounds and residue are looked at. When that
 * leaves doubt, known inequalities between the same two expressions (up to constant offsets) may
 * settle it: this is how i < n follows from i in [0, n) with a symbolic n. Chains of them are
 * followed where that is asked for. */
#include "internal.h"

/* e as base + offset. */
static Expr split_offset(Expr e, int64_t *offset) {
  *offset = 0;
  if ((e->op == OP_ADD || e->op == OP_SUB) && e->args[1]->op == OP_INT &&
      e->args[1]->u.i != INT64_MIN) {
    *offset = e->op == OP_ADD ? e->args[1]->u.i : -e->args[1]->u.i;
    return e->args[0];
  }
  return e;
}

/* --- learning --------------------------------------------------------------------------------- */

static KnownDiff known_diff(Expr x, Expr y, int64_t lo, int64_t hi, bool differ, bool *ok) {
  int64_t p, q, shift;
  KnownDiff d = {split_offset(x, &p), split_offset(y, &q), lo, hi, differ};
  /* x + p - (y + q) in [lo, hi] */
  *ok = !__builtin_sub_overflow(q, p, &shift);
  if (*ok && lo != TIRC_NEG_INF) *ok = !__builtin_add_overflow(lo, shift, &d.lo);
  if (*ok && hi != TIRC_POS_INF) *ok = !__builtin_add_overflow(hi, shift, &d.hi);
  if (differ && shift != 0) *ok = false;
  return d;
}

void tirc_learn_range(Analyzer *a, Expr var, Range r) {
  if (!tirc_is_index(var->dtype) || r.min->dtype.bits != var->dtype.bits) return;
  Tirc *c = a->c;
  bool ok;
  KnownDiff d = known_diff(var, tirc_simplify(a, r.min), 0, TIRC_POS_INF, false, &ok);
  if (ok && d.y->op != OP_INT) vec_push(c, a->range_diffs, d);
  d = known_diff(var, tirc_simplify(a, tirc_add(c, r.min, r.extent)), TIRC_NEG_INF, -1, false, &ok);
  if (ok && d.y->op != OP_INT) vec_push(c, a->range_diffs, d);
}

static void learn_diff(Analyzer *a, Expr e) {
  if (!tirc_compares(e->op) || !tirc_is_index(e->args[0]->dtype)) return;
  int64_t lo = TIRC_NEG_INF, hi = TIRC_POS_INF;
  switch (e->op) {
  case OP_EQ: lo = hi = 0; break;
  case OP_LT: hi = -1; break;
  case OP_LE: hi = 0; break;
  case OP_GT: lo = 1; break;
  case OP_GE: lo = 0; break;
  default: break;
  }
  bool ok;
  KnownDiff d = known_diff(e->args[0], e->args[1], lo, hi, e->op == OP_NE, &ok);
  /* of constants learn_bound knows more, but for what they are not */
  if (ok && d.x->op != OP_INT && (d.differ || d.y->op != OP_INT)) vec_push(a->c, a->diffs, d);
}

static void learn_bound(Analyzer *a, Expr e) {
  if (!tirc_compares(e->op) || e->op == OP_NE) return;
  Expr x = e->args[0], y = e->args[1];
  Op op = e->op;
  if (x->op == OP_INT) {
    static const Op mirrored[] = {OP_EQ, OP_NE, OP_GT, OP_GE, OP_LT, OP_LE};
    Expr swap = x;
    x = y;
    y = swap;
    op = mirrored[op - OP_EQ];
  }
  if (y->op != OP_INT || x->op == OP_INT || !tirc_is_index(x->dtype)) return;
  int64_t v = y->u.i;
  if ((op == OP_LT && v == INT64_MIN) || (op == OP_GT && v == INT64_MAX)) return;
  KnownBound k = {x, {TIRC_NEG_INF, TIRC_POS_INF}};
  if (op == OP_EQ || op == OP_GE) k.bound.min = v;
  if (op == OP_EQ || op == OP_LE) k.bound.max = v;
  if (op == OP_GT) k.bound.min = v + 1;
  if (op == OP_LT) k.bound.max = v - 1;
  vec_push(a->c, a->bounds, k);
}

/* x % c == d for a variable x and 0 <= d < c. */
static void learn_residue(Analyzer *a, Expr e) {
  if (e->op != OP_EQ || e->args[0]->op != OP_FLOORMOD) return;
  Expr x = e->args[0]->args[0], by = e->args[0]->args[1], rest = e->args[1];
  if (x->op != OP_VAR || by->op != OP_INT || rest->op != OP_INT || by->u.i <= 0) return;
  if (rest->u.i < 0 || rest->u.i >= by->u.i) return;
  KnownModular k = {x, {by->u.i, rest->u.i}};
  vec_push(a->c, a->modulars, k);
}

/* The parts of a condition that all hold when it holds. */
static void conjuncts(Tirc *c, Expr e, ExprVec *out) {
  if (e->op == OP_LIKELY) e = e->args[0];
  if (e->op == OP_AND) {
    conjuncts(c, e->args[0], out);
    conjuncts(c, e->args[1], out);
  } else if (e->op == OP_NOT && e->args[0]->op == OP_OR) {
    conjuncts(c, tirc_not(c, e->args[0]->args[0]), out);
    conjuncts(c, tirc_not(c, e->args[0]->args[1]), out);
  } else {
    vec_push(c, *out, e);
  }
}

static bool is_pure(Expr e) {
  if (e->op == OP_CALL || e->op == OP_LOAD) return false;
  for (int i = 0; i < e->n; i++)
    if (!is_pure(e->args[i])) return false;
  return true;
}

void tirc_learn_condition(Analyzer *a, Expr cond) {
  ExprVec given = {0}, simplified = {0};
  conjuncts(a->c, tirc_rewrite(a, cond), &simplified);
  conjuncts(a->c, cond, &given);
  for (int i = 0; i < given.n; i++) {
    learn_bound(a, given.at[i]);
    learn_residue(a, given.at[i]);
    if (is_pure(given.at[i])) learn_diff(a, given.at[i]);
  }
  for (int i = 0; i < simplified.n; i++)
    if (simplified.at[i]->op != OP_INT && is_pure(simplified.at[i]))
      vec_push(a->c, a->literals, simplified.at[i]);
}

/* --- comparing -------------------------------------------------------------------------------- */

int tirc_compare_const(Simplifier *s, Expr x, int64_t v) {
  Expr d = tirc_simplifier_visit(s, x);
  if (d->op == OP_INT) return d->u.i == v ? CMP_EQ : d->u.i > v ? CMP_GT : CMP_LT;
  Bound b = tirc_const_bound(s->a, d);
  bool below = b.max != TIRC_POS_INF, above = b.min != TIRC_NEG_INF;
  if (below && above && b.min == v && b.max == v) return CMP_EQ;
  if (above && b.min > v) return CMP_GT;
  if (below && b.max < v) return CMP_LT;
  if (above && b.min >= v) return CMP_GE;
  if (below && b.max <= v) return CMP_LE;
  if (v == 0 && tirc_modular(s->a, d).base != 0) return CMP_NE;
  return CMP_UNKNOWN;
}

/* What lo <= x - y <= hi (or x - y != 0) says about x - y compared with -shift. */
static int diff_outcome(const KnownDiff *d, int64_t shift, bool swapped) {
  int64_t at;
  if (__builtin_sub_overflow(0, shift, &at)) return CMP_UNKNOWN;
  if (swapped) at = shift;
  int result = CMP_UNKNOWN;
  if (d->differ && shift == 0) result &= CMP_NE;
  if (d->lo != TIRC_NEG_INF) result &= d->lo > at ? CMP_GT : d->lo == at ? CMP_GE : CMP_UNKNOWN;
  if (d->hi != TIRC_POS_INF) result &= d->hi < at ? CMP_LT : d->hi == at ? CMP_LE : CMP_UNKNOWN;
  if (swapped)
    result = (result & CMP_EQ) | (result & CMP_LT ? CMP_GT : 0) | (result & CMP_GT ? CMP_LT : 0);
  return result;
}

static int compare_known(const KnownDiff *known, int n, Expr x, Expr y) {
  int64_t p, q, shift;
  Expr bx = split_offset(x, &p), by = split_offset(y, &q);
  if (__builtin_sub_overflow(p, q, &shift) || shift == INT64_MIN) return CMP_UNKNOWN;
  int result = CMP_UNKNOWN;
  for (int i = 0; i < n; i++) {
    if (tirc_same_product(known[i].x, bx) && tirc_same_product(known[i].y, by))
      result &= diff_outcome(&known[i], shift, false);
    else if (tirc_same_product(known[i].x, by) && tirc_same_product(known[i].y, bx))
      result &= diff_outcome(&known[i], shift, true);
  }
  return result;
}

/* --- chains of differences -------------------------------------------------------------------- */

enum { MOST_REACHED = 32 };

typedef VEC(KnownDiff) KnownDiffs;

static bool is_named(const KnownDiffs *in, Expr var) {
  for (int i = 0; i < in->n; i++)
    if (tirc_uses_var(in->at[i].x, var) || tirc_uses_var(in->at[i].y, var)) return true;
  return false;
}

/* The ranges of variables that what is compared or known names, or such a range. A range says
 * something of other variables only where its own is: behind a loop of n steps n may be 0. */
static KnownDiffs ranges_here(Analyzer *a, Expr x, Expr y) {
  KnownDiffs named = {0}, ranges = {0};
  vec_push(a->c, named, ((KnownDiff){.x = x, .y = y}));
  for (int i = 0; i < a->diffs.n; i++) vec_push(a->c, named, a->diffs.at[i]);
  for (int before = -1; before < ranges.n;) {
    before = ranges.n;
    ranges.n = 0;
    for (int i = 0; i < a->range_diffs.n; i++)
      if (is_named(&named, a->range_diffs.at[i].x)) vec_push(a->c, ranges, a->range_diffs.at[i]);
    for (int i = 0; i < ranges.n; i++) vec_push(a->c, named, ranges.at[i]);
  }
  return ranges;
}

/* What chains of known differences lead to from one expression: from - at[i] <= most[i], or where
 * `down`, at[i] - from <= most[i]. */
typedef struct Reached {
  bool down;
  int n;
  Expr at[MOST_REACHED];
  int64_t most[MOST_REACHED];
} Reached;

static bool reach(Reached *r, Expr e, int64_t most) {
  for (int i = 0; i < r->n; i++) {
    if (!tirc_same_product(r->at[i], e)) continue;
    if (r->most[i] <= most) return false;
    r->most[i] = most;
    return true;
  }
  if (r->n == MOST_REACHED) return false;
  r->at[r->n] = e;
  r->most[r->n++] = most;
  return true;
}

/* x - y <= hi, from x or from y. */
static bool follow_end(Reached *r, Expr x, Expr y, int64_t hi) {
  const Expr from = r->down ? y : x, to = r->down ? x : y;
  bool more = false;
  for (int i = 0; i < r->n; i++) {
    int64_t most;
    if (tirc_same_product(r->at[i], from) && !__builtin_add_overflow(r->most[i], hi, &most))
      more |= reach(r, to, most);
  }
  return more;
}

static bool follow(Reached *r, int n, const KnownDiff *known) {
  bool more = false;
  for (int i = 0; i < n; i++) {
    const KnownDiff *d = &known[i];
    if (d->hi != TIRC_POS_INF) more |= follow_end(r, d->x, d->y, d->hi);
    if (d->lo != TIRC_NEG_INF) more |= follow_end(r, d->y, d->x, -d->lo);
  }
  return more;
}

static int64_t plus(int64_t a, int64_t b) {
  int64_t sum;
  const bool open = a == TIRC_POS_INF || b == TIRC_POS_INF || __builtin_add_overflow(a, b, &sum);
  return open ? TIRC_POS_INF : sum;
}

/* What constant number i of those reached, at `end`, leaves of a difference. */
static int64_t most_to(Analyzer *a, const Reached *r, int i, Expr end) {
  const Bound b = tirc_const_bound(a, r->at[i]);
  if (end->op != OP_INT) return tirc_same_product(r->at[i], end) ? r->most[i] : TIRC_POS_INF;
  if (r->down)
    return b.min == TIRC_NEG_INF ? TIRC_POS_INF : plus(r->most[i], plus(end->u.i, -b.min));
  return end->u.i == INT64_MIN ? TIRC_POS_INF : plus(r->most[i], plus(b.max, -end->u.i));
}

/* The least number that x - y is known not to exceed; one of them may be a constant. Where what is
 * known contradicts itself, the rounds end it. */
static int64_t most_between(Analyzer *a, Expr x, Expr y) {
  const bool down = x->op == OP_INT;
  Reached r = {.down = down, .n = 1, .at = {down ? y : x}};
  const KnownDiffs ranges = ranges_here(a, x, y);
  int64_t least = TIRC_POS_INF; /* never INT64_MIN: it has a negative */
  for (int round = 0; round < MOST_REACHED; round++) {
    const bool more = follow(&r, a->diffs.n, a->diffs.at);
    if (!follow(&r, ranges.n, ranges.at) && !more) break;
  }
  for (int i = 0; i < r.n; i++) {
    const int64_t most = most_to(a, &r, i, down ? x : y);
    if (most < least && most != INT64_MIN) least = most;
  }
  return least;
}

static bool is_same_by_chain(Analyzer *a, Expr x, Expr y) {
  return tirc_same_product(x, y) || (most_between(a, x, y) == 0 && most_between(a, y, x) == 0);
}

/* What chains say: i < k where i < j and j < k. */
static int compare_by_chain(Analyzer *a, Expr x, Expr y) {
  int64_t p, q, shift;
  Expr bx = split_offset(x, &p), by = split_offset(y, &q);
  if (__builtin_sub_overflow(p, q, &shift) || shift == INT64_MIN) return CMP_UNKNOWN;
  if (bx->op == OP_INT && by->op == OP_INT) return CMP_UNKNOWN;
  const int64_t most = most_between(a, bx, by), least = most_between(a, by, bx);
  const KnownDiff d = {bx, by, least == TIRC_POS_INF ? TIRC_NEG_INF : -least, most, false};
  int result = diff_outcome(&d, shift, false);
  for (int i = 0; shift == 0 && i < a->diffs.n; i++) {
    const KnownDiff *k = &a->diffs.at[i];
    if (!k->differ) continue;
    if ((is_same_by_chain(a, k->x, bx) && is_same_by_chain(a, k->y, by)) ||
        (is_same_by_chain(a, k->x, by) && is_same_by_chain(a, k->y, bx)))
      result &= CMP_NE;
  }
  return result;
}

/* e // d + offset compared with y, of a divisor that is no number: as e with d * (y - offset). A
 * divisor of 0 does not count, for nothing is divided by it. */
static int compare_quotient(Simplifier *s, Expr x, Expr y) {
  Tirc *c = s->a->c;
  int64_t offset;
  const Expr q = split_offset(x, &offset);
  if (q->op != OP_FLOORDIV || q->args[1]->op == OP_INT || !tirc_is_index(q->dtype))
    return CMP_UNKNOWN;
  const Expr d = q->args[1];
  if (tirc_const_bound(s->a, d).min < 0) return CMP_UNKNOWN;
  const Expr of_y = tirc_sub(c, y, tirc_lit(c, y->dtype, offset));
  const int known = tirc_compare(s, q->args[0], tirc_mul(c, d, of_y));
  return known == CMP_LT || known == CMP_GE ? known : CMP_UNKNOWN;
}

int tirc_compare(Simplifier *s, Expr x, Expr y) {
  Analyzer *a = s->a;
  int result = tirc_compare_const(s, tirc_sub(a->c, x, y), 0);
  if (result == CMP_EQ || result == CMP_LT || result == CMP_GT) return result;
  int known = compare_known(a->range_diffs.at, a->range_diffs.n, x, y) &
              compare_known(a->diffs.at, a->diffs.n, x, y);
  if (a->chains) known &= compare_by_chain(a, x, y);
  known &= compare_quotient(s, x, y);
  /* Contradictory knowledge: the code is dead, and nothing is concluded. */
  return result & known ? result & known : result;
}
