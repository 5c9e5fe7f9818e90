/* Puts loops of one nest into another order.
 *
 *   for i:                                   for k:
 *     for j:          reorder(k, i)            for j:
 *       for k:              ->                   for i:
 *         block B                                  block B
 *
 * Loops of the nest that are not given keep their places. Preconditions: the loops are one chain
 * within a scope, with nothing beside them from the outermost to the innermost given one; no loop's
 * bounds use a loop that would come to stand inside of it; the blocks below have no opaque
 * iterators, and affine bindings; and no instance of a block comes to run before one
 * whose result it uses (meaning/order.c). TVM takes the last for granted of every spatial
 * iterator and accepts programs that shift a buffer in place; here that is an error. */
#include "passes/schedule/shape/shape.h"

typedef struct Reorder {
  Sched *s;
  SRefs given; /* in the order that is asked for */
  int n;
  SRef **chain; /* from the outermost to the innermost given loop */
} Reorder;

static void read_loops(Reorder *r, Value list) {
  Sched *s = r->s;
  for (int i = 0; i < list.u.list->n; i++) {
    SRef *loop = tirc_sref_of_value(s, list.u.list->at[i]);
    if (tirc_is_among(loop, r->given))
      tirc_refuse(s, loop->stmt, SERR_LOOP_REPEATED, "loop %s is given twice", tirc_name_of(loop));
    vec_push(s->c, r->given, loop);
  }
}

static _Noreturn void not_a_chain(Reorder *r, const SRef *a, const SRef *b, const char *why) {
  tirc_sched_mark(r->s, a->stmt);
  tirc_refuse(r->s, b->stmt, SERR_LOOPS_NOT_A_CHAIN, "loops %s and %s are not in one chain: %s",
              tirc_name_of(a), tirc_name_of(b), why);
}

/* Given loops above this one in its scope, itself included; *top is the outermost of them. */
static int given_above(const Reorder *r, SRef *loop, SRef **top) {
  int n = 0;
  for (SRef *p = loop; p && tirc_is_loop(p); p = p->parent) {
    if (!tirc_is_among(p, r->given)) continue;
    n++;
    *top = p;
  }
  return n;
}

static void find_chain(Reorder *r) {
  SRef *bottom = r->given.at[0], *top = NULL;
  for (int i = 0; i < r->given.n; i++)
    if (tirc_is_ancestor(bottom, r->given.at[i])) bottom = r->given.at[i];
  if (given_above(r, bottom, &top) != r->given.n) {
    for (int i = 0; i < r->given.n; i++) {
      SRef *other = r->given.at[i];
      if (tirc_is_ancestor(other, bottom) && tirc_scope_root(other) == tirc_scope_root(bottom))
        continue;
      bool same_scope = tirc_scope_root(other) == tirc_scope_root(bottom);
      not_a_chain(r, bottom, other,
                  same_scope ? "neither is inside of the other"
                             : "they are in different block scopes");
    }
  }
  for (SRef *p = bottom;; p = p->parent) {
    r->n++;
    if (p == top) break;
  }
  r->chain = tirc_new_array(r->s->c, SRef *, r->n);
  SRef *p = bottom;
  for (int i = r->n - 1; i >= 0; i--, p = p->parent) r->chain[i] = p;
  for (int i = 0; i + 1 < r->n; i++)
    if (tirc_loop_of(r->chain[i])->body != r->chain[i + 1]->stmt)
      not_a_chain(r, r->chain[i], r->chain[i + 1],
                  tirc_format(r->s->c, "the body of loop %s has other statements beside loop %s",
                              tirc_name_of(r->chain[i]), tirc_name_of(r->chain[i + 1])));
}

static void require_reorderable_blocks(Reorder *r) {
  Sched *s = r->s;
  const SRefs blocks = tirc_child_blocks(s, r->chain[r->n - 1]);
  for (int i = 0; i < blocks.n; i++) {
    const Block *b = tirc_block_of(blocks.at[i]);
    for (int k = 0; k < b->n_iters; k++) {
      if (b->iters[k].kind == ITER_OPAQUE)
        tirc_refuse(s, blocks.at[i]->stmt, SERR_ITER_KIND,
                    "iterator %s of block %s is opaque: it is neither spatial nor for a reduction "
                    "or a scan",
                    b->iters[k].var->u.s, b->name);
      tirc_require_affine_binding(s, blocks.at[i], r->chain[0]->parent);
    }
  }
}

/* The chain in its new order: each place of a given loop gets the next given one. */
static SRef **new_order(const Reorder *r) {
  SRef **order = tirc_new_array(r->s->c, SRef *, r->n);
  int next = 0;
  for (int i = 0; i < r->n; i++)
    order[i] = tirc_is_among(r->chain[i], r->given) ? r->given.at[next++] : r->chain[i];
  return order;
}

static void require_bounds_outside(Reorder *r, SRef *const *order) {
  Sched *s = r->s;
  for (int i = 0; i < r->n; i++)
    for (int k = i; k < r->n; k++) {
      const For *f = tirc_loop_of(order[i]);
      Expr inner = tirc_loop_of(order[k])->var;
      if (!tirc_range_uses(tirc_loop_range(f), inner)) continue;
      tirc_refuse(s, order[i]->stmt, SERR_DEPENDENT_LOOP,
                  "the bounds of loop %s use loop %s, which would be inside of it", f->var->u.s,
                  inner->u.s);
    }
}

void tirc_prim_reorder(Sched *s, const Value *args, Value *result) {
  (void)result;
  Reorder r = {.s = s};
  read_loops(&r, args[0]);
  if (r.given.n <= 1) return;
  find_chain(&r);
  require_reorderable_blocks(&r);
  SRef **order = new_order(&r);
  require_bounds_outside(&r, order);
  tirc_require_order_kept(s, r.n, r.chain, order);
  Stmt nest = tirc_loop_of(r.chain[r.n - 1])->body;
  for (int i = r.n - 1; i >= 0; i--) nest = tirc_with_body(s->c, order[i]->stmt, nest);
  tirc_sched_replace(s, r.chain[0], nest);
}
