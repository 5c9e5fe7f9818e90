/* Threads that would store the same number to one element: a fetch that is bound to threadIdx.x
 * alone, in a block that has threadIdx.y, too. One of them does it:
 *
 *   S[tx] = A[tx]        ->        if ty == 0:
 *                                    S[tx] = A[tx]
 *
 * They do where nothing that stands around the store, and nothing in it, depends on the axis. What
 * a thread has of its own depends on it where a store to it does. */
#include "touch.h"

typedef struct Axis {
  Tirc *c;
  PtrMap moved; /* the variable of the axis, those that stand for something with it, and data */
} Axis;

static bool depends(const void *axis, Expr e) {
  const Axis *a = axis;
  if (e->op == OP_LOAD) return tirc_map_has(&a->moved, e->u.buffer->data);
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

static bool is_own(void *unused, Buffer b) {
  return (void)unused, tirc_owner(b->storage) == OWNER_THREAD;
}

/* Whether what a thread stores to its own memory depends on the axis. */
static bool differs(Axis *a, const Touch *t) {
  if (t->address || t->stmt->kind != STMT_STORE || !is_reached_alike(a, t->at)) return true;
  bool moved = moves(a, t->stmt->u.store.value);
  for (int d = 0; d < t->n; d++) moved |= moves(a, t->indices[d]);
  return moved;
}

static void find_moved(Tirc *c, const For *axis, const Touches *stores, PtrMap *out) {
  Axis a = {.c = c};
  tirc_map_set(c, &a.moved, axis->var, axis);
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < stores->n; i++) {
      const Touch *t = &stores->at[i];
      if (!t->write || tirc_map_has(&a.moved, t->buffer->data) || !differs(&a, t)) continue;
      tirc_map_set(c, &a.moved, t->buffer->data, t);
      tirc_map_set(c, out, t->buffer->data, t);
      changed = true;
    }
  }
}

void tirc_find_moved(Tirc *c, Threads *threads, Stmt body) {
  Extract x = {.c = c, .wants = is_own, .lowered = true};
  tirc_extract(&x, NULL, body, NULL, body, body);
  for (int i = 0; i < threads->n; i++)
    find_moved(c, threads->at[i], &x.touches, &threads->moved[i]);
}

static void add_all(Tirc *c, PtrMap *to, const PtrMap *from) {
  for (size_t i = 0; i < from->cap; i++)
    if (from->keys[i]) tirc_map_set(c, to, from->keys[i], from->values[i]);
}

/* Along the loop over threads: what moves with it. False: it has one thread. */
static bool find_axis(Tirc *c, const Threads *threads, int i, Axis *a) {
  const For *loop = threads->at[i];
  *a = (Axis){.c = c};
  if (tirc_is_int(loop->extent, 1)) return false;
  tirc_map_set(c, &a->moved, loop->var, loop->var);
  add_all(c, &a->moved, &threads->moved[i]);
  return true;
}

Expr tirc_one_thread_stores(Tirc *c, const Threads *threads, const Place *at, Stmt store) {
  Expr one = NULL;
  for (int i = 0; i < threads->n; i++) {
    const For *loop = threads->at[i];
    Axis a;
    if (!find_axis(c, threads, i, &a)) continue;
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
  if (e->op == OP_VAR || (e->op == OP_LOAD && tirc_owner(e->u.buffer->storage) == OWNER_THREAD))
    return false;
  for (int i = 0; i < e->n; i++)
    if (!find_leaves(c, e->args[i], out)) return false;
  return true;
}

/* Whether a condition may hold for one thread and not for another. */
static bool chooses_threads(Tirc *c, const Threads *threads, const Place *when) {
  for (const Place *p = when->up; p; p = p->up)
    if (p->kind == PLACE_BIND && tirc_uses_var(when->a, p->var)) return true;
  for (int i = 0; i < threads->n; i++) {
    Axis a;
    if (find_axis(c, threads, i, &a) && moves(&a, when->a)) return true;
  }
  return false;
}

/* The place without conditions on what memory holds, which hold for all threads or for none. *top:
 * the place in it that was *top. *chosen is set where one may hold for some threads alone. */
static Place *without_loads(Tirc *c, const Threads *threads, Place *p, const Place **top,
                            bool *chosen) {
  if (!p) return NULL;
  Place *up = without_loads(c, threads, p->up, top, chosen);
  const bool is_top = p == *top;
  if (p->kind != PLACE_WHEN || !tirc_reads_memory(p->a))
    up = tirc_place_further(c, up, *p);
  else
    *chosen |= chooses_threads(c, threads, p);
  if (is_top) *top = up;
  return up;
}

bool tirc_threads_store_others(Question *q, Tirc *c, const Threads *threads, const Touch *t,
                               const Place *top) {
  Exprs all = {0};
  bool chosen = false;
  for (int d = 0; d < t->n; d++) vec_push(c, all, t->indices[d]);
  if (!find_leaves(c, t->stmt->u.store.value, &all)) return false;
  Touch loose = *t;
  loose.at = without_loads(c, threads, t->at, &top, &chosen);
  Touch whole = loose;
  whole.n = all.n;
  whole.indices = all.at;
  return !chosen && tirc_surely_meet(q, &loose, &whole, top);
}
