/* Bounds of sums in which a minimum or a maximum stands: those of the sum with each of its operands
 * in its place, where what it has in common with the rest goes.
 *
 *   min(16 * b + 15, 999) - 16 * b     with the first operand 15, with the second 999 - 16 * b
 *
 * is 15 at most, as it is no more than either; a maximum is one of both. */
#include "internal.h"
#include "ir/tree/int_op.h"

enum { MAX_ARMS = 64 }; /* of one question: a sum of ten minima has a thousand */

/* Where the first minimum or maximum is in the linear part of e: with the place's operand i. */
static Expr with_arm(Tirc *c, Expr e, int i, bool *falls, Op *op) {
  if (e->op == OP_MIN || e->op == OP_MAX) {
    *op = (Op)e->op;
    return e->args[i];
  }
  const bool scales = (e->op == OP_MUL || e->op == OP_FLOORDIV) && e->args[1]->op == OP_INT;
  if (e->op != OP_ADD && e->op != OP_SUB && !scales) return NULL;
  if (e->op == OP_FLOORDIV && e->args[1]->u.i <= 0) return NULL;
  for (int k = 0; k < (scales ? 1 : 2); k++) {
    bool below = false;
    Expr arm = with_arm(c, e->args[k], i, &below, op);
    if (!arm) continue;
    const bool turns = (e->op == OP_SUB && k == 1) || (e->op == OP_MUL && e->args[1]->u.i < 0);
    *falls = below != turns;
    return k ? tirc_binary(c, (Op)e->op, e->args[0], arm)
             : tirc_binary(c, (Op)e->op, arm, e->args[1]);
  }
  return NULL;
}

static int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }
static int64_t most(int64_t x, int64_t y) { return x > y ? x : y; }

static Bound by_arms(Analyzer *a, Expr e, int *left) {
  e = tirc_simplify(a, e);
  const Bound b = tirc_const_bound(a, e);
  bool falls = false;
  Op op;
  Expr first = tirc_dtype_wraps(e->dtype) ? NULL : with_arm(a->c, e, 0, &falls, &op);
  if (!first || *left <= 1) return b;
  *left -= 1;
  const Bound x = by_arms(a, first, left), y = by_arms(a, with_arm(a->c, e, 1, &falls, &op), left);
  /* A minimum that is added is at most either operand, and at least the least of both. */
  const bool is_least = (op == OP_MIN) != falls;
  const Bound both = {is_least ? least(x.min, y.min) : most(x.min, y.min),
                      is_least ? least(x.max, y.max) : most(x.max, y.max)};
  return (Bound){most(b.min, both.min), least(b.max, both.max)};
}

Bound tirc_bound_by_arms(Analyzer *a, Expr e) {
  int left = MAX_ARMS;
  return by_arms(a, e, &left);
}

static void add_arms(Analyzer *a, Expr e, int room, Exprs *out) {
  bool falls;
  Op op;
  e = tirc_simplify(a, e);
  Expr first = tirc_dtype_wraps(e->dtype) ? NULL : with_arm(a->c, e, 0, &falls, &op);
  for (int i = 0; i < out->n; i++)
    if (out->n >= room || tirc_expr_same(out->at[i], e)) return;
  if (!first) {
    vec_push(a->c, *out, e);
    return;
  }
  add_arms(a, first, room, out);
  add_arms(a, with_arm(a->c, e, 1, &falls, &op), room, out);
}

void tirc_add_arms(Analyzer *a, Expr e, Exprs *out) { add_arms(a, e, out->n + MAX_ARMS, out); }
