/* A buffer may hold wider elements than what is copied into it, so that the conversion is made
 * once:
 *
 *   P[i] = Cast("float32", A[i])
 *   C[i] += Cast("float32", Cast("float16", P[j]))    ->    C[i] += P[j]
 *
 * What was widened without loss comes back as it was, so it need not be made narrow to be read as
 * something wider: of buffers of the function's own to which nothing else is stored, and whose
 * address nobody takes. */
#include "internal.h"

typedef struct Widened {
  Tirc *c;
  PtrMap allocated; /* data variables */
  PtrMap narrow;    /* from data variables to the first cast that is stored */
  PtrMap other; /* data variables to which something else is stored, or whose address is taken */
} Widened;

/* Whether each value of `from` is one of `to`. */
static bool keeps_values(DType from, DType to) {
  if (from.lanes != 1 || to.lanes != 1 || from.bits >= to.bits) return false;
  if (tirc_dtype_is_float(from)) return tirc_dtype_is_float(to) && to.bits >= 32;
  if (!tirc_dtype_is_int(from) || !tirc_dtype_is_int(to)) return false;
  return from.code == to.code || to.code == TYPE_INT;
}

static void note_store(Widened *w, Buffer b, Expr value) {
  const Expr first = tirc_map_get(&w->narrow, b->data);
  const bool widens = value->op == OP_CAST && keeps_values(value->args[0]->dtype, value->dtype) &&
                      tirc_dtype_equal(value->dtype, b->dtype);
  if (!widens || (first && (!tirc_dtype_equal(first->args[0]->dtype, value->args[0]->dtype) ||
                            !tirc_dtype_equal(first->dtype, value->dtype))))
    tirc_map_set(w->c, &w->other, b->data, w);
  else if (!first)
    tirc_map_set(w->c, &w->narrow, b->data, value);
}

static bool note_stmt(Visitor *v, Stmt s) {
  Widened *w = v->self;
  if (s->kind == STMT_ALLOC) tirc_map_set(w->c, &w->allocated, s->u.alloc.buffer->data, w);
  if (s->kind == STMT_STORE) note_store(w, s->u.store.buffer, s->u.store.value);
  return true;
}

static bool note_expr(Visitor *v, Expr e) {
  Widened *w = v->self;
  if (e->op == OP_VAR && tirc_map_has(&w->allocated, e)) tirc_map_set(w->c, &w->other, e, w);
  if (e->op == OP_CALL)
    for (int i = 0; i < e->n; i++)
      if (e->args[i]->op == OP_LOAD) tirc_map_set(w->c, &w->other, e->args[i]->u.buffer->data, w);
  return true;
}

static bool is_widened(const Widened *w, Expr narrowed) {
  const Expr load = narrowed->args[0];
  if (load->op != OP_LOAD) return false;
  const void *data = load->u.buffer->data;
  const Expr stored = tirc_map_get(&w->narrow, data);
  return stored && tirc_map_has(&w->allocated, data) && !tirc_map_has(&w->other, data) &&
         tirc_dtype_equal(stored->args[0]->dtype, narrowed->dtype) &&
         tirc_dtype_equal(stored->dtype, load->dtype);
}

static Expr drop_narrowing(Mutator *m, Expr e) {
  e = tirc_mutate_expr_children(m, e);
  const bool twice = e->op == OP_CAST && e->args[0]->op == OP_CAST;
  if (!twice || !is_widened(m->self, e->args[0])) return e;
  return tirc_cast(m->c, e->dtype, e->args[0]->args[0]);
}

Stmt tirc_lower_widened(Tirc *c, const Func *f) {
  Widened w = {.c = c};
  Visitor v = {.expr = note_expr, .stmt = note_stmt, .self = &w};
  tirc_visit_stmt(&v, f->body);
  Mutator m = {.c = c, .expr = drop_narrowing, .self = &w};
  return tirc_mutate_stmt(&m, f->body);
}
