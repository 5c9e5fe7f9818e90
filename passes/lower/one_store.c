/* Threads that would store the same number to one element: a fetch that is bound to threadIdx.x
 * alone, in a block that has threadIdx.y, too. One of them does it:
 *
 *   S[tx] = A[tx]        ->        if ty == 0:
 *                                    S[tx] = A[tx]
 *
 * They do where nothing that stands around the store, and nothing in it, depends on the axis. What
 * a thread has of its own may depend on all of them. */
#include "touch.h"

typedef struct Axis {
  Tirc *c;
  PtrMap moved; /* the variable of the axis, and those that stand for something with it */
} Axis;

static bool depends(const void *axis, Expr e) {
  const Axis *a = axis;
  if (e->op == OP_LOAD) return !tirc_threads_share(e->u.buffer);
  return e->op == OP_CALL || (e->op == OP_VAR && tirc_map_has(&a->moved, e));
}

static bool moves(const Axis *a, Expr e) { return e && tirc_find_expr(e, depends, a); }

/* Whether all threads along the axis reach the place alike. */
static bool is_reached_alike(Axis *a, const Place *p) {
  if (!p) return true;
  if (!is_reached_alike(a, p->up)) return false;
  const bool differs = moves(a, p->a) || moves(a, p->b);
  if (p->kind == PLACE_BIND && differs) tirc_map_set(a->c, &a->moved, p->var, p->var);
  return p->kind == PLACE_BIND || (p->kind != PLACE_REPEAT && !differs);
}

Expr tirc_one_thread_stores(Tirc *c, const Threads *threads, const Place *at, Stmt store) {
  Expr one = NULL;
  for (int i = 0; i < threads->n; i++) {
    const For *loop = threads->at[i];
    Axis a = {.c = c};
    if (tirc_is_int(loop->extent, 1)) continue;
    tirc_map_set(c, &a.moved, loop->var, loop->var);
    bool alike = is_reached_alike(&a, at) && !moves(&a, store->u.store.value);
    for (int d = 0; d < store->u.store.n; d++) alike &= !moves(&a, store->u.store.indices[d]);
    if (!alike) continue;
    Expr first = tirc_eq(c, loop->var, tirc_int(c, loop->var->dtype, 0));
    one = one ? tirc_and(c, one, first) : first;
  }
  return one;
}

/* --- other numbers ---------------------------------------------------------------------------- */

/* What a number is made of, down to index arithmetic: two threads for which all of it is the same
 * have the same number. False: that is not known. */
static bool find_leaves(Tirc *c, Expr e, Exprs *out) {
  if (tirc_is_constant(e)) return true;
  if (e->op == OP_CALL || e->op == OP_LET || e->dtype.lanes != 1) return false;
  if (tirc_dtype_is_int(e->dtype) && !tirc_reads_memory(e)) {
    vec_push(c, *out, e);
    return true;
  }
  if (e->op == OP_VAR || (e->op == OP_LOAD && !tirc_threads_share(e->u.buffer))) return false;
  for (int i = 0; i < e->n; i++)
    if (!find_leaves(c, e->args[i], out)) return false;
  return true;
}

bool tirc_threads_store_others(Question *q, Tirc *c, const Touch *t, const Place *top) {
  Exprs all = {0};
  for (int d = 0; d < t->n; d++) vec_push(c, all, t->indices[d]);
  if (!find_leaves(c, t->stmt->u.store.value, &all)) return false;
  Touch whole = *t;
  whole.n = all.n;
  whole.indices = all.at;
  return tirc_surely_meet(q, t, &whole, top);
}
