/* Lanes of a vectorized loop that a condition leaves out. They read and write nothing, since there
 * may be no memory where they would:
 *
 *   for v in T.vectorized(8):      mask = T.Ramp(0, 1, 8) < T.Broadcast(n - b, 8)
 *     if b + v < n:                if mask:
 *       A[b + v] = B[b + v] + x      A[b:b + 8] = T.if_then_else(mask, B[b:b + 8], 0) + x
 *
 * An if of a vector has one store for its body and stores the lanes in which it holds. */
#include "vectorize.h"

bool tirc_has_masks(DType t) {
  const bool is_number = tirc_dtype_is_float(t) || tirc_dtype_is_int(t);
  return is_number && t.code != TYPE_BOOL && (t.bits == 32 || t.bits == 64);
}

typedef struct Guard {
  Expr on;
  WhetherLoad *reads;
  const void *self;
} Guard;

static Expr guarded(Mutator *m, Expr e) {
  const Guard *g = m->self;
  Tirc *c = m->c;
  const bool is_choice = e->op == OP_IF_THEN_ELSE && e->args[1]->op == OP_LOAD &&
                         !tirc_loads_or_calls(e->args[0]) && !tirc_loads_or_calls(e->args[2]);
  const Expr load = is_choice ? e->args[1] : e;
  if (load->op != OP_LOAD) return tirc_mutate_expr_children(m, e);
  const Expr inner = tirc_mutate_expr_children(m, load);
  const bool reads = !g->reads || g->reads(g->self, load);
  if (!reads && !is_choice) return inner;
  Expr on = is_choice ? e->args[0] : g->on;
  if (reads && is_choice) on = tirc_and(c, g->on, on);
  const Expr other = is_choice ? e->args[2] : tirc_cast(c, load->dtype, tirc_int32(c, 0));
  return tirc_expr(c, OP_IF_THEN_ELSE, e->dtype, 3, (Expr[]){on, inner, other});
}

Expr tirc_guard_loads(Tirc *c, Expr e, Expr on, WhetherLoad *reads, const void *self) {
  Guard g = {on, reads, self};
  Mutator m = {.c = c, .expr = guarded, .self = &g};
  return tirc_mutate_expr(&m, e);
}

/* The first lanes of all: how many they are is a number of 32 bits, where what is compared has 64.
 */
static Expr prefix(Lanes *l, Expr cond) {
  Tirc *c = l->c;
  int64_t k;
  Expr rest;
  if (cond->n != 2 || cond->args[0]->dtype.bits <= 32) return NULL;
  if (l->value->op != OP_RAMP || !tirc_is_int(l->value->args[1], 1)) return NULL;
  if (!tirc_lower_order(l->a, c, cond, l->var, &k, &rest) || k != -1) return NULL;
  const Expr first = tirc_cast(c, DT_INT64, l->value->args[0]);
  Expr n = tirc_add(c, tirc_sub(c, rest, first), tirc_int(c, DT_INT64, 1));
  n = tirc_min(c, tirc_simplify(l->a, n), tirc_int(c, DT_INT64, l->lanes));
  n = tirc_cast(c, DT_INT32, tirc_max(c, n, tirc_int(c, DT_INT64, 0)));
  const Expr lane = tirc_ramp(c, tirc_int32(c, 0), tirc_int32(c, 1), l->lanes);
  return tirc_lt(c, lane, tirc_broadcast(c, n, l->lanes));
}

Expr tirc_vector_mask(Lanes *l, Expr cond) {
  Tirc *c = l->c;
  if (cond->op == OP_LIKELY) return tirc_vector_mask(l, cond->args[0]);
  if (cond->op == OP_AND && !tirc_loads_or_calls(cond)) {
    const Expr a = tirc_vector_mask(l, cond->args[0]);
    const Expr b = l->failed ? NULL : tirc_vector_mask(l, cond->args[1]);
    return l->failed ? NULL : tirc_expr(c, OP_AND, a->dtype, 2, (Expr[]){a, b});
  }
  const bool bound = tirc_vector_depends(cond, l->var, l->lets) && !tirc_uses_var(cond, l->var);
  const Expr first = bound || tirc_loads_or_calls(cond) ? NULL : prefix(l, cond);
  if (first) return first;
  const Expr mask = tirc_vector_expr(l, cond);
  if (l->failed) return NULL;
  return mask->dtype.lanes > 1 ? mask : tirc_broadcast(c, mask, l->lanes);
}

/* Where an index itself reads, the lanes that are left out would read for it. */
static bool has_plain_indices(Expr load) {
  for (int i = 0; i < load->n; i++)
    if (tirc_loads_or_calls(load->args[i])) return false;
  return true;
}

static bool is_contiguous(Expr load) {
  const Expr index = load->n == 1 ? load->args[0] : NULL;
  return index && index->op == OP_RAMP && tirc_is_int(index->args[1], 1);
}

Expr tirc_masked_load(Lanes *l, Expr cond, Expr load, Expr other) {
  Tirc *c = l->c;
  const bool may_mask = tirc_has_masks(load->dtype) && has_plain_indices(load);
  const Expr mask = may_mask ? tirc_vector_mask(l, cond) : NULL;
  const Expr lanes = mask && !l->failed ? tirc_vector_expr(l, load) : NULL;
  Expr rest = lanes && !l->failed && is_contiguous(lanes) ? tirc_vector_expr(l, other) : NULL;
  if (!rest || l->failed) {
    l->failed = true;
    return NULL;
  }
  if (rest->dtype.lanes == 1) rest = tirc_broadcast(c, rest, l->lanes);
  return tirc_expr(c, OP_IF_THEN_ELSE, lanes->dtype, 3, (Expr[]){mask, lanes, rest});
}
