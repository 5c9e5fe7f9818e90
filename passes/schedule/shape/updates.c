/* Updates whose order does not matter: each buffer is updated by one operation, no value loads a
 * buffer that is updated, and integers wrap. (Of floats the order of a sum matters; `unordered`
 * says that any will do.) */
#include "ir/scopes.h"
#include "ir/tree/atomic.h"
#include "ir/tree/print.h"
#include "shape.h"

_Noreturn static void refuse(const Updates *u, const char *why) {
  tirc_sched_error(u->s, u->block->stmt, SERR_NOT_ATOMIC, why, NULL, "the updates of block %s %s",
                   tirc_name_of(u->block), u->cannot);
}

static Callee callee_of(Op op) { return tirc_atomic_of(op == OP_SUB ? OP_ADD : op); }

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

Update tirc_update_of(const Updates *u, Stmt store) {
  Tirc *c = u->s->c;
  const Expr self = tirc_load(c, store->u.store.buffer, store->u.store.n, store->u.store.indices);
  const Expr value = store->u.store.value;
  return (Update){callee_of((Op)value->op), self, incoming(c, value, self)};
}

static void look_at(Updates *u, Stmt s) {
  Tirc *c = u->s->c;
  const Buffer b = s->u.store.buffer;
  const Update of = tirc_update_of(u, s);
  if (!of.value)
    refuse(u, tirc_format(c,
                          "%s is not a sum, difference, minimum, maximum, and or or of the element "
                          "and something else",
                          tirc_print_expr(c, s->u.store.value)));
  const char *why = tirc_atomic_refused(c, of.callee, b->dtype, u->unordered);
  if (why) refuse(u, tirc_format(c, "T.%s of %s: %s", tirc_callees[of.callee], b->name, why));
  if (tirc_owner(b->storage) == OWNER_THREAD)
    refuse(u,
           tirc_format(c, "%s has scope %s, so each thread has its own copy", b->name, b->scope));
  const intptr_t before = (intptr_t)tirc_map_get(&u->updated, b->data);
  if (before && before != (intptr_t)of.callee + 1)
    refuse(u, tirc_format(c, "%s is updated by two operations, whose order matters", b->name));
  tirc_map_set(c, &u->updated, b->data, (void *)((intptr_t)of.callee + 1));
  u->last = s;
}

static bool find_update(Visitor *v, Stmt s) {
  Updates *u = v->self;
  if (s->kind == STMT_STORE) look_at(u, s);
  if (s->kind == STMT_BLOCK || s->kind == STMT_EVAL || s->kind == STMT_WHILE)
    refuse(u, s->kind == STMT_BLOCK  ? "a block is inside of it"
              : s->kind == STMT_EVAL ? "it calls something"
                                     : "it has a while loop");
  return true;
}

/* Nothing but the elements that are updated is loaded of these buffers: conditions and indices do
 * not. */
static bool see_load(Visitor *v, Expr e) {
  const Updates *u = v->self;
  if (e->op == OP_LOAD && tirc_map_has(&u->updated, e->u.buffer->data))
    refuse(u, tirc_format(u->s->c, "it also reads %s, which it updates, so the order matters",
                          e->u.buffer->name));
  return true;
}
static bool see_values(Visitor *v, Stmt s) {
  if (s->kind != STMT_STORE) return true;
  const Update of = tirc_update_of(v->self, s);
  for (int i = 0; i < of.self->n; i++) tirc_visit_expr(v, of.self->args[i]);
  tirc_visit_expr(v, of.value);
  return false;
}

void tirc_require_updates(Updates *u) {
  const Block *b = tirc_block_of(u->block);
  if (b->init)
    tirc_sched_error(u->s, u->block->stmt, SERR_NOT_ATOMIC,
                     "its init runs before the first update of each element",
                     "call decompose_reduction first", "the updates of block %s %s",
                     tirc_name_of(u->block), u->cannot);
  if (b->n_matches) refuse(u, "it has views");
  tirc_visit_stmts(b->body, find_update, u);
  if (!u->updated.n) refuse(u, "it stores nothing");
  Visitor v = {.expr = see_load, .stmt = see_values, .self = u};
  tirc_visit_stmt(&v, b->body);
  tirc_visit_expr(&v, b->predicate);
  for (int i = 0; i < b->n_iters; i++) tirc_visit_expr(&v, b->iter_values[i]);
}
