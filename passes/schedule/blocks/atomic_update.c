/* atomic_update(block): what a block adds to elements, or takes the extreme of, becomes atomic
 * updates, which threads may make side by side.
 *
 *   for i in range(n):                             for i in range(n):
 *     with T.block("H"):                             with T.block("H"):
 *       vi = T.axis.reduce(n, i)             ->        vi = T.axis.spatial(n, i)
 *       H[A[vi]] = H[A[vi]] + 1                        T.atomic_add(T.address_of(H[A[vi]]), 1)
 *
 * Any order leaves the same: each buffer is updated by one operation, no value loads a buffer that
 * is updated, and integers wrap. So all iterators become spatial, and loops around the block may be
 * bound or run in parallel. (Of floats the order matters; `unordered` says that any will do.) */
#include "blocks.h"
#include "ir/scopes.h"
#include "ir/tree/atomic.h"
#include "ir/tree/print.h"

typedef struct Updates {
  Sched *s;
  SRef *block;
  bool unordered;
  PtrMap updated; /* from data to the callee, plus one */
} Updates;

_Noreturn static void refuse(const Updates *u, const char *why) {
  tirc_sched_error(u->s, u->block->stmt, SERR_NOT_ATOMIC, why, NULL,
                   "the updates of block %s cannot be made atomic", tirc_name_of(u->block));
}

static Callee callee_of(Op op) {
  switch (op) {
  case OP_ADD:
  case OP_SUB: return CALL_ATOMIC_ADD;
  case OP_MIN: return CALL_ATOMIC_MIN;
  case OP_MAX: return CALL_ATOMIC_MAX;
  case OP_BITWISE_AND: return CALL_ATOMIC_AND;
  case OP_BITWISE_OR: return CALL_ATOMIC_OR;
  default: return CALL_COUNT;
  }
}

/* What comes in, of C[vi] op x, x op C[vi] or C[vi] - x; NULL: it is another value. */
static Expr incoming(Tirc *c, Expr value, Expr self) {
  if (value->n != 2 || callee_of((Op)value->op) == CALL_COUNT) return NULL;
  const bool first = tirc_expr_same(value->args[0], self);
  if (!first && (value->op == OP_SUB || !tirc_expr_same(value->args[1], self))) return NULL;
  const Expr x = value->args[first ? 1 : 0];
  if (value->op != OP_SUB) return x;
  return tirc_dtype_is_float(x->dtype) ? tirc_mul(c, x, tirc_float(c, x->dtype, -1))
                                       : tirc_sub(c, tirc_int(c, x->dtype, 0), x);
}

static Stmt update_of(Updates *u, Stmt s) {
  Tirc *c = u->s->c;
  const Buffer b = s->u.store.buffer;
  const Expr value = s->u.store.value;
  const Expr self = tirc_load(c, b, s->u.store.n, s->u.store.indices);
  const Expr x = incoming(c, value, self);
  if (!x)
    refuse(u, tirc_format(c,
                          "%s is not a sum, difference, minimum, maximum, and or or of the element "
                          "and something else",
                          tirc_print_expr(c, value)));
  const Callee callee = callee_of((Op)value->op);
  const char *why = tirc_atomic_refused(c, callee, b->dtype, u->unordered);
  if (why) refuse(u, tirc_format(c, "T.%s of %s: %s", tirc_callees[callee], b->name, why));
  if (tirc_owner(b->storage) == OWNER_THREAD)
    refuse(u,
           tirc_format(c, "%s has scope %s, so each thread has its own copy", b->name, b->scope));
  const intptr_t before = (intptr_t)tirc_map_get(&u->updated, b->data);
  if (before && before != (intptr_t)callee + 1)
    refuse(u, tirc_format(c, "%s is updated by two operations, whose order matters", b->name));
  tirc_map_set(c, &u->updated, b->data, (void *)((intptr_t)callee + 1));
  const bool is_float = tirc_dtype_is_float(b->dtype);
  return tirc_with_loc(
      c, tirc_eval(c, tirc_atomic_update(c, callee, self, NULL, x, u->unordered && is_float)),
      s->loc);
}

static Stmt rewrite(Mutator *m, Stmt s) {
  Updates *u = m->self;
  if (s->kind == STMT_STORE) return update_of(u, s);
  if (s->kind == STMT_BLOCK || s->kind == STMT_EVAL || s->kind == STMT_WHILE)
    refuse(u, s->kind == STMT_BLOCK  ? "a block is inside of it"
              : s->kind == STMT_EVAL ? "it calls something"
                                     : "it has a while loop");
  return tirc_mutate_stmt_children(m, s);
}

static bool loads_updated(const void *self, Expr e) {
  const Updates *u = self;
  return e->op == OP_LOAD && tirc_map_has(&u->updated, e->u.buffer->data);
}

/* Nothing but the elements that are updated is loaded of these buffers: conditions and indices do
 * not. */
static bool see_values(Visitor *v, Expr e) {
  const Updates *u = v->self;
  Atomic a;
  if (tirc_atomic(e, &a)) {
    for (int i = 0; i < a.place->n; i++) tirc_visit_expr(v, a.place->args[i]);
    tirc_visit_expr(v, a.value);
    return false;
  }
  if (loads_updated(u, e))
    refuse(u, tirc_format(u->s->c, "it also reads %s, which it updates, so the order matters",
                          e->u.buffer->name));
  return true;
}

void tirc_prim_atomic_update(Sched *s, const Value *args, Value *result) {
  (void)result;
  Tirc *c = s->c;
  Updates u = {.s = s, .block = tirc_sref_of_value(s, args[0]), .unordered = args[1].u.b};
  Block b = *tirc_block_of(u.block);
  if (b.init)
    tirc_sched_error(s, u.block->stmt, SERR_NOT_ATOMIC,
                     "its init runs before the first update of each element",
                     "call decompose_reduction first",
                     "the updates of block %s cannot be made atomic", tirc_name_of(u.block));
  if (b.n_matches) refuse(&u, "it has views");
  b.body = tirc_mutate_stmt(&(Mutator){.c = c, .expr = tirc_keep_expr, .stmt = rewrite, .self = &u},
                            b.body);
  if (!u.updated.n) refuse(&u, "it stores nothing");
  Visitor v = {.expr = see_values, .self = &u};
  tirc_visit_stmt(&v, b.body);
  tirc_visit_expr(&v, b.predicate);
  IterVar *iters = tirc_copy(c, b.iters, b.n_iters);
  for (int i = 0; i < b.n_iters; i++) iters[i].kind = ITER_SPATIAL;
  b.iters = iters;
  tirc_sched_replace(s, u.block, tirc_with_loc(c, tirc_block(c, &b), u.block->stmt->loc));
}
