/* Bounds of sums in which a minimum or a maximum stands: those of the sum with each of its operands
 * in its place, where what it has in common with the rest goes.
 *
 *   min(16 * b + 15, 999) - 16 * b     with the first operand 15, with the second 999 - 16 * b
 *
 * is 15 at most, as it is no more than either; a maximum is one of both, and so is either where it
 * stands in several places, and is the same in all of them. */
#include "internal.h"
#include "ir/tree/int_op.h"

enum { MAX_ARMS = 128 }; /* of one question: a sum of ten minima has a thousand */

/* The first minimum or maximum in the linear part of e; falls: e does where it rises. */
static Expr find_ends(Expr e, bool *falls) {
  *falls = false;
  if (e->op == OP_MIN || e->op == OP_MAX) return e;
  const bool scales = (e->op == OP_MUL || e->op == OP_FLOORDIV) && e->args[1]->op == OP_INT;
  if (e->op != OP_ADD && e->op != OP_SUB && !scales) return NULL;
  if (e->op == OP_FLOORDIV && e->args[1]->u.i <= 0) return NULL;
  for (int k = 0; k < (scales ? 1 : 2); k++) {
    Expr found = find_ends(e->args[k], falls);
    const bool turns = (e->op == OP_SUB && k == 1) || (e->op == OP_MUL && e->args[1]->u.i < 0);
    *falls = *falls != turns;
    if (found) return found;
  }
  return NULL;
}

typedef struct Exchange {
  Expr from, to;
  int n; /* how often it stands there */
} Exchange;

static Expr exchange(Mutator *m, Expr e) {
  Exchange *x = m->self;
  if (e->op != x->from->op || !tirc_expr_same(e, x->from)) return tirc_mutate_expr_children(m, e);
  x->n++;
  return x->to;
}

/* With its operand i in each of its places. */
static Expr with_arm(Tirc *c, Expr e, Expr ends, int i, int *n) {
  Exchange x = {ends, ends->args[i], 0};
  Expr to = tirc_mutate_expr(&(Mutator){.c = c, .expr = exchange, .self = &x}, e);
  *n = x.n;
  return to;
}

static int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }
static int64_t most(int64_t x, int64_t y) { return x > y ? x : y; }

static Bound by_arms(Analyzer *a, Expr e, int *left) {
  e = tirc_simplify(a, e);
  const Bound b = tirc_const_bound(a, e);
  bool falls;
  int n;
  Expr ends = tirc_dtype_wraps(e->dtype) ? NULL : find_ends(e, &falls);
  if (!ends || *left <= 1) return b;
  *left -= 1;
  const Bound x = by_arms(a, with_arm(a->c, e, ends, 0, &n), left);
  const Bound y = by_arms(a, with_arm(a->c, e, ends, 1, &n), left);
  /* A minimum that is added is at most either operand, and at least the least of both. */
  const bool is_least = (ends->op == OP_MIN) != falls, once = n == 1;
  const Bound both = {is_least || !once ? least(x.min, y.min) : most(x.min, y.min),
                      is_least && once ? least(x.max, y.max) : most(x.max, y.max)};
  return (Bound){most(b.min, both.min), least(b.max, both.max)};
}

Bound tirc_bound_by_arms(Analyzer *a, Expr e) {
  int left = MAX_ARMS;
  return by_arms(a, e, &left);
}

static void add_arms(Analyzer *a, Expr e, int room, Exprs *out) {
  bool falls;
  int n;
  e = tirc_simplify(a, e);
  Expr ends = tirc_dtype_wraps(e->dtype) ? NULL : find_ends(e, &falls);
  for (int i = 0; i < out->n; i++)
    if (out->n >= room || tirc_expr_same(out->at[i], e)) return;
  if (!ends) {
    vec_push(a->c, *out, e);
    return;
  }
  for (int i = 0; i < 2; i++) add_arms(a, with_arm(a->c, e, ends, i, &n), room, out);
}

void tirc_add_arms(Analyzer *a, Expr e, Exprs *out) { add_arms(a, e, out->n + MAX_ARMS, out); }
