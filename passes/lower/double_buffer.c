/* What a loop writes and reads anew in each step is there twice, where an attribute asks for it, so
 * that a step may write while the one before still reads:
 *
 *   for i in range(16):                            S = T.decl_buffer((64,))
 *     S = T.decl_buffer((32,))                     for i in range(16):
 *     T.attr(S.data, "double_buffer_scope", 1)  ->   for j in range(32): S[i % 2 * 32 + j] = A[i, j]
 *     for j in range(32): S[j] = A[i, j]             B[i] = S[i % 2 * 32] + S[i % 2 * 32 + 1]
 *     B[i] = S[0] + S[1]
 */
#include "internal.h"

typedef struct Doubling {
  Tirc *c;
  Buffer from;  /* that the loop makes, and its memory under any name, */
  Expr half;    /* how many elements it has, and */
  Expr step;    /* which half is a step's */
  PtrMap views; /* of its buffers to those of twice the size */
} Doubling;

static bool asks(const void *data, Stmt s) {
  return s->kind == STMT_ATTR && strcmp(s->u.attr.key, "double_buffer_scope") == 0 &&
         s->u.attr.node == data;
}

static Buffer doubled(Doubling *d, Buffer b) {
  Buffer known = tirc_map_get(&d->views, b);
  if (known) return known;
  struct BufferNode to = *b;
  Expr extent = tirc_mul(d->c, b->shape[0], tirc_int(d->c, b->shape[0]->dtype, 2));
  to.shape = &extent;
  known = tirc_buffer_copy(d->c, &to);
  tirc_map_set(d->c, &d->views, b, known);
  return known;
}

static Expr place(Doubling *d, Expr index) {
  const DType t = tirc_dtype_lanes(index->dtype, 1);
  Expr first = tirc_mul(d->c, tirc_cast(d->c, t, d->step), tirc_cast(d->c, t, d->half));
  if (index->dtype.lanes > 1) first = tirc_broadcast(d->c, first, index->dtype.lanes);
  return tirc_add(d->c, first, index);
}

static Expr double_expr(Mutator *m, Expr e) {
  Doubling *d = m->self;
  e = tirc_mutate_expr_children(m, e);
  if (e->op != OP_LOAD || e->u.buffer->data != d->from->data) return e;
  Expr at = place(d, e->args[0]);
  return tirc_load(m->c, doubled(d, e->u.buffer), 1, &at);
}

static Stmt double_stmt(Mutator *m, Stmt s) {
  Doubling *d = m->self;
  s = tirc_mutate_stmt_children(m, s);
  if (s->kind == STMT_STORE && s->u.store.buffer->data == d->from->data) {
    Expr at = place(d, s->u.store.indices[0]);
    return tirc_store(m->c, doubled(d, s->u.store.buffer), 1, &at, s->u.store.value);
  }
  const bool is_own =
      (s->kind == STMT_ALLOC || s->kind == STMT_DECL) && s->u.alloc.buffer->data == d->from->data;
  if (is_own && s->kind == STMT_ALLOC) return s->u.alloc.body;
  if (is_own)
    return tirc_alloc_stmt(m->c, s->kind, doubled(d, s->u.alloc.buffer), s->u.alloc.annotations,
                           s->u.alloc.body);
  return asks(d->from->data, s) ? s->u.attr.body : s;
}

/* Whether something has a part of the memory, sees it as something else, or has its pointer. A
 * block's regions and what it matches would have to move along: such a loop stays. */
typedef struct Besides {
  Buffer b;
  bool found;
} Besides;

static bool see_pointer(Visitor *v, Expr e) {
  Besides *k = v->self;
  k->found |= e == k->b->data;
  return !k->found;
}

static bool has_regions(const Block *b, Expr data) {
  for (int i = 0; i < b->n_reads; i++)
    if (b->reads[i].buffer->data == data) return true;
  for (int i = 0; i < b->n_writes; i++)
    if (b->writes[i].buffer->data == data) return true;
  for (int i = 0; i < b->n_matches; i++)
    if (b->matches[i].source.buffer->data == data) return true;
  return false;
}

static bool see_view(Visitor *v, Stmt s) {
  Besides *k = v->self;
  if (s->kind == STMT_BLOCK && has_regions(&s->u.block, k->b->data)) k->found = true;
  const Buffer view = s->kind == STMT_DECL ? s->u.alloc.buffer : NULL;
  if (asks(k->b->data, s)) {
    tirc_visit_stmt(v, s->u.attr.body);
    return false;
  }
  if (!view || view->data != k->b->data) return !k->found;
  const bool is_all = view->ndim == 1 && !view->strides && !view->elem_offset &&
                      tirc_dtype_equal(view->dtype, k->b->dtype) &&
                      tirc_expr_same(view->shape[0], k->b->shape[0]);
  k->found |= !is_all;
  if (is_all) tirc_visit_stmt(v, s->u.alloc.body);
  return false;
}

static bool is_used_besides(Stmt s, Buffer b) {
  Besides k = {b, false};
  tirc_visit_stmt(&(Visitor){.stmt = see_view, .expr = see_pointer, .self = &k}, s);
  return k.found;
}

/* A buffer of one dimension that the loop's body makes first and wants twice; NULL: none. */
static Stmt wanted(Stmt body) {
  for (; body->kind == STMT_ALLOC || body->kind == STMT_DECL; body = body->u.alloc.body) {
    Buffer b = body->u.alloc.buffer;
    const bool plain = b->ndim == 1 && !b->strides && !b->elem_offset && b->shape[0]->op == OP_INT;
    if (body->kind == STMT_ALLOC && plain && tirc_find_stmt(body, asks, b->data, NULL) &&
        !is_used_besides(body->u.alloc.body, b))
      return body;
  }
  return NULL;
}

static Stmt visit(Mutator *m, Stmt s) {
  s = tirc_mutate_stmt_children(m, s);
  if (s->kind != STMT_FOR || s->u.loop.kind != LOOP_SERIAL) return s;
  for (Stmt alloc; (alloc = wanted(s->u.loop.body));) {
    const For *loop = &s->u.loop;
    Doubling d = {
        .c = m->c, .from = alloc->u.alloc.buffer, .half = alloc->u.alloc.buffer->shape[0]};
    Expr turn = tirc_sub(m->c, loop->var, tirc_cast(m->c, loop->var->dtype, loop->min));
    d.step = tirc_floormod(m->c, turn, tirc_int(m->c, loop->var->dtype, 2));
    Mutator inner = {.c = m->c, .expr = double_expr, .stmt = double_stmt, .self = &d};
    For to = *loop;
    to.body = tirc_mutate_stmt(&inner, loop->body);
    Stmt made = tirc_for(m->c, &to);
    return tirc_alloc_stmt(m->c, STMT_ALLOC, doubled(&d, d.from), alloc->u.alloc.annotations,
                           visit(m, made));
  }
  return s;
}

Stmt tirc_lower_double_buffer(Tirc *c, const Func *f) {
  return tirc_mutate_stmt(&(Mutator){.c = c, .expr = tirc_keep_expr, .stmt = visit}, f->body);
}
