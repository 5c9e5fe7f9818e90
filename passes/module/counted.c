#include "counted.h"

#include "ir/arith/arith.h"
#include "ir/tree/visit.h"

typedef struct Rows {
  Tirc *c;
  Expr extent; /* how many rows there can be: the same in all of them */
  PtrMap axes; /* buffer -> the axis of its rows, plus one */
  const Block *block;
  Expr row; /* the iterator that numbers the rows in the block; NULL: none yet */
  bool ok;
} Rows;

static int axis_of(const Rows *r, Buffer b) { return (int)(intptr_t)tirc_map_get(&r->axes, b) - 1; }

/* A result with other rows than can be has another count, too: what is joined behind, or cut off.
 */
static bool has_all_rows(const Rows *r, Buffer b, int axis) {
  const Expr e = tirc_cast(r->c, DT_INT64, b->shape[axis]);
  return tirc_is_int(tirc_simplify0(r->c, tirc_eq(r->c, e, r->extent)), 1);
}

static bool is_spatial(const Block *b, Expr e) {
  for (int i = 0; i < b->n_iters; i++)
    if (b->iters[i].var == e) return b->iters[i].kind == ITER_SPATIAL;
  return false;
}

/* All loads of rows name them by the same iterator. */
static bool see_load(Visitor *v, Expr e) {
  Rows *r = v->self;
  const int axis = e->op == OP_LOAD ? axis_of(r, e->u.buffer) : -1;
  if (axis < 0) return true;
  const Expr row = e->args[axis];
  r->ok &= r->block && is_spatial(r->block, row) && (!r->row || r->row == row);
  r->row = row;
  return true;
}

typedef struct Uses {
  Expr var;
  bool found;
} Uses;

static bool see_var(Visitor *v, Expr e) {
  Uses *u = v->self;
  u->found |= e == u->var;
  return true;
}

/* The place of the row's number among the indices, which has it once; -1: there is none such. */
static int place_of_row(const Rows *r, Stmt store) {
  int place = -1;
  for (int d = 0; d < store->u.store.n; d++) {
    Uses uses = {.var = r->row};
    Visitor v = {.expr = see_var, .self = &uses};
    tirc_visit_expr(&v, store->u.store.indices[d]);
    if (!uses.found) continue;
    if (place >= 0 || store->u.store.indices[d] != r->row) return -1;
    place = d;
  }
  return place;
}

/* A block that stores one element: in the row that it loads of. */
static void see_block(Rows *r, const Block *b, Stmt whole) {
  const Stmt store = b->body;
  Visitor v = {.expr = see_load, .self = r};
  r->block = b;
  r->row = NULL;
  tirc_visit_stmt(&v, whole);
  if (!r->row || !r->ok) return;
  const int at = store->kind == STMT_STORE ? place_of_row(r, store) : -1;
  const int known = at < 0 ? -1 : axis_of(r, store->u.store.buffer);
  r->ok = at >= 0 && (known < 0 ? has_all_rows(r, store->u.store.buffer, at) : known == at);
  if (r->ok && known < 0) {
    tirc_map_set(r->c, &r->axes, store->u.store.buffer, (void *)(intptr_t)(at + 1));
    tirc_visit_stmt(&v, whole); /* what it adds to itself */
  }
}

static bool see_stmt(Visitor *v, Stmt s) {
  Rows *r = v->self;
  if (s->kind == STMT_FOR || s->kind == STMT_SEQ) return r->ok;
  if (s->kind == STMT_BLOCK && s->u.block.n_iters)
    see_block(r, &s->u.block, s);
  else {
    r->block = NULL; /* no rows in what is no such block */
    Visitor loads = {.expr = see_load, .self = r};
    tirc_visit_stmt(&loads, s);
  }
  return false;
}

bool tirc_keeps_rows(Tirc *c, const Func *f, int operand, int axis, int n_operands, int *axes) {
  const Buffer rows = f->buffers[operand];
  Rows r = {.c = c, .extent = tirc_cast(c, DT_INT64, rows->shape[axis]), .ok = true};
  tirc_map_set(c, &r.axes, rows, (void *)(intptr_t)(axis + 1));
  const bool root = f->body->kind == STMT_BLOCK && !f->body->u.block.n_iters;
  tirc_visit_stmts(root ? f->body->u.block.body : f->body, see_stmt, &r);
  for (int i = n_operands; i < f->n_params; i++)
    axes[i - n_operands] = f->buffers[i] ? axis_of(&r, f->buffers[i]) : -1;
  return r.ok;
}
