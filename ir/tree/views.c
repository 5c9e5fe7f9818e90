/* Views: an access to a buffer that a block matches to a region of another one becomes an access to
 * that other one, and the variables in the view's shape, strides and offset get their values.
 *
 *   X = T.match_buffer(A[i, j:j + 16], (16,), ...)
 *   X[k] = 0                                         ->   A[i, j + k] = 0
 */
#include "views.h"

#include "vector_index.h"
#include "visit.h"

typedef struct Views {
  PtrMap sources; /* from a view to the Region it stands for */
  PtrMap vars;    /* from a variable of a view to its value */
} Views;

static const Expr *convert_indices(Tirc *c, const Region *source, int n, const Expr *indices) {
  int ndim = source->buffer->ndim, skip = ndim - n;
  Expr *to = tirc_new_array(c, Expr, ndim);
  for (int i = 0; i < ndim; i++)
    to[i] =
        i < skip ? source->dims[i].min : tirc_index_add(c, source->dims[i].min, indices[i - skip]);
  return to;
}

static Expr lower_expr(Mutator *m, Expr e) {
  Views *v = m->self;
  if (e->op == OP_VAR) {
    Expr value = tirc_map_get(&v->vars, e);
    return value ? value : e;
  }
  e = tirc_mutate_expr_children(m, e);
  if (e->op != OP_LOAD) return e;
  const Region *source = tirc_map_get(&v->sources, e->u.buffer);
  if (!source) return e;
  return tirc_load(m->c, source->buffer, source->buffer->ndim,
                   convert_indices(m->c, source, e->n, e->args));
}

static Expr stride_of(Tirc *c, Buffer b, int dim) {
  if (b->strides) return b->strides[dim];
  Expr stride = tirc_int32(c, 1);
  for (int i = b->ndim - 1; i > dim; i--) stride = tirc_mul(c, b->shape[i], stride);
  return stride;
}

static void bind(Tirc *c, Views *v, Expr pattern, Expr value) {
  if (pattern && pattern->op == OP_VAR && !tirc_map_has(&v->vars, pattern))
    tirc_map_set(c, &v->vars, pattern, tirc_cast(c, pattern->dtype, value));
}

static void add_view(Mutator *m, Stmt block, const MatchBuffer *match) {
  Tirc *c = m->c;
  Views *v = m->self;
  Region *source = tirc_new(c, Region);
  *source = tirc_mutate_region(m, match->source);
  const Region *outer = tirc_map_get(&v->sources, source->buffer);
  if (outer) { /* a view of a view */
    int ndim = outer->buffer->ndim, skip = ndim - source->buffer->ndim;
    Range *dims = tirc_new_array(c, Range, ndim);
    for (int i = 0; i < ndim; i++) {
      dims[i] = outer->dims[i];
      if (i < skip) continue;
      dims[i].min = tirc_add(c, dims[i].min, source->dims[i - skip].min);
      dims[i].extent = source->dims[i - skip].extent;
    }
    *source = (Region){outer->buffer, dims};
  }
  Buffer view = match->buffer, b = source->buffer;
  int skip = b->ndim - view->ndim;
  if (skip < 0)
    tirc_fail(c, tirc_place_of(block), CODE_LOWER, NULL, "the view %s has more dimensions than %s",
              view->name, b->name);
  Expr offset = b->elem_offset ? b->elem_offset : tirc_int32(c, 0);
  for (int i = 0; i < b->ndim; i++)
    offset = tirc_add(c, offset, tirc_mul(c, source->dims[i].min, stride_of(c, b, i)));
  bind(c, v, view->data, b->data);
  bind(c, v, view->elem_offset, offset);
  for (int i = 0; i < view->ndim; i++) {
    bind(c, v, view->shape[i], source->dims[i + skip].extent);
    if (view->strides) bind(c, v, view->strides[i], stride_of(c, b, i + skip));
  }
  tirc_map_set(c, &v->sources, view, source);
}

static const Region *convert_regions(Mutator *m, int n, const Region *from) {
  Tirc *c = m->c;
  Views *v = m->self;
  Region *to = tirc_new_array(c, Region, n);
  for (int i = 0; i < n; i++) {
    to[i] = from[i];
    const Region *source = tirc_map_get(&v->sources, from[i].buffer);
    if (!source) continue;
    int ndim = source->buffer->ndim, skip = ndim - from[i].buffer->ndim;
    Range *dims = tirc_new_array(c, Range, ndim);
    for (int d = 0; d < ndim; d++) {
      dims[d] = source->dims[d];
      if (d < skip) continue;
      dims[d] = from[i].dims[d - skip];
      dims[d].min = tirc_add(c, source->dims[d].min, dims[d].min);
    }
    to[i] = (Region){source->buffer, dims};
  }
  return to;
}

static Stmt lower_block(Mutator *m, Stmt s) {
  Block b = s->u.block;
  for (int i = 0; i < b.n_matches; i++) add_view(m, s, &b.matches[i]);
  b.n_matches = 0;
  b = tirc_mutate_stmt_children(m, tirc_block(m->c, &b))->u.block;
  b.reads = convert_regions(m, b.n_reads, b.reads);
  b.writes = convert_regions(m, b.n_writes, b.writes);
  return tirc_block(m->c, &b);
}

static Stmt lower_stmt(Mutator *m, Stmt s) {
  Views *v = m->self;
  if (s->kind == STMT_BLOCK) return lower_block(m, s);
  s = tirc_mutate_stmt_children(m, s);
  if (s->kind != STMT_STORE) return s;
  const Region *source = tirc_map_get(&v->sources, s->u.store.buffer);
  if (!source) return s;
  return tirc_store(m->c, source->buffer, source->buffer->ndim,
                    convert_indices(m->c, source, s->u.store.n, s->u.store.indices),
                    s->u.store.value);
}

Stmt tirc_without_views(Tirc *c, Stmt s) {
  Views v = {0};
  Mutator m = {.c = c, .expr = lower_expr, .stmt = lower_stmt, .self = &v};
  return tirc_mutate_stmt(&m, s);
}
