/* A condition on a sum of loops says less of each loop than of the sum:
 *
 *   for f0, f1 in T.grid(2, 64):
 *     T.where(f0 * 64 + f1 < 81)
 *     P[(f0 * 64 + f1) // 9, (f0 * 64 + f1) % 9]     rows 0 to 8, and not to 14
 *
 * So the sum is a variable of its own where it stands in an index, between the ends that its
 * conditions leave it. Numbers that wrap around are compared as they are; of others a sum is also
 * one that differs from the condition's by something else, or that it is taken from. */
#include "bounded_sums.h"

#include "ir/tree/int_op.h"

/* --- where a sum stands ---------------------------------------------------------------------- */

typedef struct Seek {
  const BoundedSums *sums;
  const BoundedSum *except; /* the one that is looked for nowhere, or NULL */
  Expr sum;                 /* which is tried */
} Seek;

static bool is_shared(const void *self, Expr e) {
  const Seek *k = self;
  return e->op == OP_VAR && tirc_map_has(&k->sums->dom, e) && tirc_uses_var(k->sum, e);
}

/* e op sum, if none of the loops in the sum is left in it. */
static Expr rest(Seek *k, Op op, Expr e, Expr sum) {
  k->sum = sum;
  Expr left = tirc_simplify(k->sums->a, tirc_binary(k->sums->c, op, e, sum));
  return tirc_find_expr(left, is_shared, k) ? NULL : left;
}

static Expr in_its_place(Seek *k, Expr e, const BoundedSum *of) {
  Tirc *c = k->sums->c;
  if (of == k->except || !of->var || !tirc_dtype_equal(e->dtype, of->sum->dtype)) return NULL;
  if (tirc_expr_same(e, of->sum)) return of->var;
  if (tirc_dtype_wraps(e->dtype)) return NULL;
  Expr more = rest(k, OP_SUB, e, of->sum);
  if (more) return tirc_add(c, of->var, more);
  more = rest(k, OP_ADD, e, of->sum);
  return more ? tirc_sub(c, more, of->var) : NULL;
}

static Expr seek(Mutator *m, Expr e) {
  Seek *k = m->self;
  if (e->op == OP_INT || e->op == OP_VAR || !tirc_uses_any(e, &k->sums->dom))
    return tirc_mutate_expr_children(m, e);
  for (int i = 0; i < k->sums->at.n; i++) {
    Expr with = in_its_place(k, e, &k->sums->at.at[i]);
    if (with) return with;
  }
  return tirc_mutate_expr_children(m, e);
}

static Expr with_sums(BoundedSums *sums, const BoundedSum *except, Expr e) {
  Seek k = {.sums = sums, .except = except};
  return tirc_mutate_expr(&(Mutator){.c = sums->c, .expr = seek, .self = &k}, e);
}

Expr tirc_with_bounded_sums(BoundedSums *sums, Expr e) {
  return with_sums(sums, NULL, tirc_simplify(sums->a, e));
}

/* --- what is said of them -------------------------------------------------------------------- */

/* sum <= limit, or sum >= limit. */
static void add_bound(BoundedSums *s, Expr sum, Expr limit, bool above) {
  const IntSet ends = tirc_eval_set(s->a, limit, &s->dom);
  const IntSet set = above ? (IntSet){NULL, ends.max} : (IntSet){ends.min, NULL};
  for (int i = 0; i < s->at.n; i++) {
    BoundedSum *of = &s->at.at[i];
    if (!tirc_dtype_equal(of->sum->dtype, sum->dtype) || !tirc_expr_same(of->sum, sum)) continue;
    of->set = tirc_set_intersect(s->a, of->set, set);
    return;
  }
  vec_push(s->c, s->at, ((BoundedSum){.sum = sum, .set = set}));
}

/* low + (strict ? 1 : 0) <= high. Where the condition holds, that end is one of its type. */
static void add_order(BoundedSums *s, Expr low, Expr high, bool strict) {
  Tirc *c = s->c;
  Expr one = tirc_int(c, low->dtype, strict);
  const bool l_varies = tirc_uses_any(low, &s->dom), h_varies = tirc_uses_any(high, &s->dom);
  if (l_varies && h_varies && !tirc_dtype_wraps(low->dtype)) {
    Expr less = tirc_simplify(s->a, tirc_sub(c, low, high));
    add_bound(s, less, tirc_int(c, less->dtype, strict ? -1 : 0), true);
    return;
  }
  if (l_varies) add_bound(s, low, tirc_sub(c, high, one), true);
  if (h_varies) add_bound(s, high, tirc_add(c, low, one), false);
}

static void add_condition(BoundedSums *s, Expr cond) {
  if (!tirc_compares(cond->op) || cond->op == OP_NE) return;
  Expr x = tirc_simplify(s->a, cond->args[0]), y = tirc_simplify(s->a, cond->args[1]);
  const DType t = x->dtype;
  if (!tirc_dtype_is_int(t) || t.lanes != 1 || tirc_loads_or_calls(cond)) return;
  if (!tirc_uses_any(x, &s->dom) && !tirc_uses_any(y, &s->dom)) return;
  const bool greater = cond->op == OP_GT || cond->op == OP_GE;
  const bool strict = cond->op == OP_LT || cond->op == OP_GT;
  add_order(s, greater ? y : x, greater ? x : y, strict);
  if (cond->op == OP_EQ) add_order(s, y, x, false);
}

static void add_conditions(BoundedSums *s, const Place *at) {
  for (; at; at = at->up) {
    if (at->kind != PLACE_WHEN || at->negated) continue;
    Exprs conds = {0};
    tirc_lower_conjuncts(s->c, at->a, &conds);
    for (int i = 0; i < conds.n; i++) {
      add_condition(s, conds.at[i]);
      /* (f0 * 4 + f1) * 8 + f2 < 40 of 8 steps f2 is f0 * 4 + f1 < 5, as an index may say, too. */
      add_condition(s, tirc_simplify(s->a, conds.at[i]));
    }
  }
}

/* How each sum varies, with what is said of the others in it. */
static void bound_sums(BoundedSums *s) {
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < s->at.n; i++) {
      BoundedSum *of = &s->at.at[i];
      IntSet *set = tirc_new(s->c, IntSet);
      *set = tirc_set_intersect(s->a, tirc_eval_set(s->a, with_sums(s, of, of->sum), &s->dom),
                                of->set);
      of->set = *set;
      if (!of->var) of->var = tirc_var(s->c, "sum", of->sum->dtype);
      tirc_map_set(s->c, &s->dom, of->var, set);
    }
  }
}

BoundedSums *tirc_bounded_sums(Accesses *w, const Place *at) {
  if (!at || tirc_map_has(&w->sums, at)) return at ? tirc_map_get(&w->sums, at) : NULL;
  BoundedSums *s = tirc_new(w->c, BoundedSums);
  *s = (BoundedSums){.c = w->c, .a = w->a, .dom = tirc_map_copy(w->c, tirc_dom_of(w, at))};
  add_conditions(s, at);
  if (s->at.n)
    bound_sums(s);
  else
    s = NULL;
  tirc_map_set(w->c, &w->sums, at, s);
  return s;
}
