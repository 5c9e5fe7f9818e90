/* An implementation of a tensor intrinsic is written once, with indices of 32 bits. For a program
 * that counts in 64 bits its loops, iterators, shapes, offsets and indices become as wide; numbers
 * that are no indices stay, but next to a wider one.
 *
 *   for i in range(8):                       for i in range(T.int64(8)):
 *     C[i] = C[i] + A[i, 0]           ->       C[i] = C[i] + A[i, T.int64(0)]
 *   T.mma(C.elem_offset // 256)              T.mma(C.elem_offset // T.int64(256)) */
#include "ir/tree/visit.h"
#include "tensor_intrin.h"

typedef struct Widening {
  Mutator m;
  Tirc *c;
  DType index;
  PtrMap vars, buffers; /* to what takes their place */
} Widening;

static Expr wide(Widening *w, Expr e);

/* Of a vector each lane. */
static Expr as(Widening *w, DType t, Expr e) {
  const DType to = tirc_dtype_lanes(t, e->dtype.lanes);
  if (!tirc_dtype_is_int(e->dtype) || tirc_dtype_equal(to, e->dtype)) return e;
  if (e->op == OP_RAMP)
    return tirc_ramp(w->c, as(w, t, e->args[0]), as(w, t, e->args[1]), to.lanes);
  if (e->op == OP_BROADCAST) return tirc_broadcast(w->c, as(w, t, e->args[0]), to.lanes);
  return tirc_cast(w->c, to, e);
}

static Expr as_index(Widening *w, Expr e) { return as(w, w->index, wide(w, e)); }

static const Expr *all_as_index(Widening *w, int n, const Expr *from) {
  Expr *to = from ? tirc_new_array(w->c, Expr, n + 1) : NULL;
  for (int i = 0; from && i < n; i++) to[i] = as_index(w, from[i]);
  return to;
}

static bool is_index_var(Expr e) { return tirc_dtype_equal(e->dtype, DT_INT32); }

static Expr wide_var(Widening *w, Expr var) {
  if (!is_index_var(var)) return var;
  Expr to = tirc_map_get(&w->vars, var);
  if (to) return to;
  to = tirc_var(w->c, var->u.s, w->index);
  tirc_map_set(w->c, &w->vars, var, to);
  return to;
}

static Buffer wide_buffer(Widening *w, Buffer b) {
  Buffer known = tirc_map_get(&w->buffers, b);
  return known ? known : b;
}

/* Of two operands the narrower one becomes as wide as the other. */
static void match(Widening *w, Expr *a, Expr *b) {
  if (!tirc_dtype_is_int((*a)->dtype) || !tirc_dtype_is_int((*b)->dtype)) return;
  if ((*a)->dtype.bits < (*b)->dtype.bits)
    *a = as(w, (*b)->dtype, *a);
  else if ((*b)->dtype.bits < (*a)->dtype.bits)
    *b = as(w, (*a)->dtype, *b);
}

static Expr wide_operands(Widening *w, Expr e) {
  Tirc *c = w->c;
  Expr *args = tirc_new_array(c, Expr, e->n + 1);
  bool changed = false;
  for (int i = 0; i < e->n; i++) {
    args[i] = wide(w, e->args[i]);
    changed |= args[i] != e->args[i];
  }
  if (!changed) return e;
  if (e->op == OP_CALL) return tirc_call(c, e->dtype, e->u.callee, e->n, args);
  if (e->op == OP_CAST) return tirc_cast(c, e->dtype, args[0]);
  const int first = e->op == OP_SELECT || e->op == OP_IF_THEN_ELSE;
  const bool follows = tirc_dtype_equal(e->dtype, e->args[first]->dtype);
  if (e->n == first + 2) match(w, &args[first], &args[first + 1]);
  if (e->op == OP_RAMP) return tirc_ramp(c, args[0], args[1], e->dtype.lanes);
  if (e->op == OP_BROADCAST) return tirc_broadcast(c, args[0], e->dtype.lanes);
  const DType t = follows ? args[first]->dtype : e->dtype;
  Expr folded = NULL;
  if (e->op >= OP_ADD && e->op <= OP_OR && t.lanes == 1)
    folded = tirc_fold(c, (Op)e->op, t, e->n, args);
  return folded ? folded : tirc_expr(c, (Op)e->op, t, e->n, args);
}

static Expr wide(Widening *w, Expr e) {
  if (e->op == OP_VAR) {
    Expr to = tirc_map_get(&w->vars, e);
    return to ? to : e;
  }
  if (e->op == OP_LOAD)
    return tirc_load(w->c, wide_buffer(w, e->u.buffer), e->n, all_as_index(w, e->n, e->args));
  if (e->op == OP_LET) /* of the type that it is read as */
    return tirc_expr(w->c, OP_LET, e->dtype, 3,
                     (Expr[]){e->args[0], as(w, e->args[1]->dtype, wide(w, e->args[1])),
                              as(w, e->dtype, wide(w, e->args[2]))});
  return e->n ? wide_operands(w, e) : e;
}

/* --- statements ------------------------------------------------------------------------------ */

static void widen_buffer(Widening *w, Buffer b, bool is_view) {
  struct BufferNode to = *b;
  if (is_view) { /* these are variables that it defines */
    for (int i = 0; b->strides && i < b->ndim; i++)
      if (b->strides[i]->op == OP_VAR) wide_var(w, b->strides[i]);
    if (b->elem_offset && b->elem_offset->op == OP_VAR) wide_var(w, b->elem_offset);
  }
  to.shape = all_as_index(w, b->ndim, b->shape);
  to.strides = all_as_index(w, b->ndim, b->strides);
  if (b->elem_offset) to.elem_offset = as_index(w, b->elem_offset);
  to.data = wide(w, b->data);
  tirc_map_set(w->c, &w->buffers, b, tirc_buffer_copy(w->c, &to));
}

static const Region *wide_regions(Widening *w, int n, const Region *from) {
  Region *to = tirc_new_array(w->c, Region, n + 1);
  for (int i = 0; i < n; i++) {
    Range *dims = tirc_new_array(w->c, Range, from[i].buffer->ndim + 1);
    for (int d = 0; d < from[i].buffer->ndim; d++)
      dims[d] = tirc_range(as_index(w, from[i].dims[d].min), as_index(w, from[i].dims[d].extent));
    to[i] = (Region){wide_buffer(w, from[i].buffer), dims};
  }
  return to;
}

static void wide_iters(Widening *w, Block *b) {
  IterVar *iters = tirc_new_array(w->c, IterVar, b->n_iters + 1);
  b->iter_values = all_as_index(w, b->n_iters, b->iter_values);
  for (int i = 0; i < b->n_iters; i++) {
    const Range dom = b->iters[i].dom;
    iters[i] = b->iters[i];
    iters[i].dom = tirc_range(as_index(w, dom.min), as_index(w, dom.extent));
    iters[i].var = wide_var(w, iters[i].var);
  }
  b->iters = iters;
}

static Stmt wide_block(Widening *w, Stmt s) {
  Block b = s->u.block;
  b.predicate = wide(w, b.predicate);
  wide_iters(w, &b);
  Buffer *allocs = tirc_new_array(w->c, Buffer, b.n_allocs + 1);
  MatchBuffer *matches = tirc_new_array(w->c, MatchBuffer, b.n_matches + 1);
  for (int i = 0; i < b.n_allocs; i++) {
    widen_buffer(w, b.allocs[i], false);
    allocs[i] = wide_buffer(w, b.allocs[i]);
  }
  for (int i = 0; i < b.n_matches; i++) {
    matches[i].source = *wide_regions(w, 1, &b.matches[i].source);
    widen_buffer(w, b.matches[i].buffer, true);
    matches[i].buffer = wide_buffer(w, b.matches[i].buffer);
  }
  b.allocs = allocs;
  b.matches = matches;
  b.reads = wide_regions(w, b.n_reads, b.reads);
  b.writes = wide_regions(w, b.n_writes, b.writes);
  if (b.init) b.init = tirc_mutate_stmt(&w->m, b.init);
  b.body = tirc_mutate_stmt(&w->m, b.body);
  return tirc_with_loc(w->c, tirc_block(w->c, &b), s->loc);
}

static Stmt wide_stmt(Mutator *m, Stmt s) {
  Widening *w = m->self;
  switch (s->kind) {
  case STMT_FOR: {
    For loop = s->u.loop;
    loop.min = as_index(w, loop.min);
    loop.extent = as_index(w, loop.extent);
    loop.var = wide_var(w, loop.var);
    loop.body = tirc_mutate_stmt(m, loop.body);
    return tirc_with_loc(w->c, tirc_for(w->c, &loop), s->loc);
  }
  case STMT_BLOCK: return wide_block(w, s);
  case STMT_STORE: {
    const Expr value = s->u.store.value;
    return tirc_with_loc(w->c,
                         tirc_store(w->c, wide_buffer(w, s->u.store.buffer), s->u.store.n,
                                    all_as_index(w, s->u.store.n, s->u.store.indices),
                                    as(w, value->dtype, wide(w, value))),
                         s->loc);
  }
  case STMT_ALLOC:
  case STMT_DECL:
    widen_buffer(w, s->u.alloc.buffer, false);
    return tirc_alloc_stmt(w->c, s->kind, wide_buffer(w, s->u.alloc.buffer), s->u.alloc.annotations,
                           tirc_mutate_stmt(m, s->u.alloc.body));
  default: return tirc_mutate_stmt_children(m, s);
  }
}

static Expr wide_expr(Mutator *m, Expr e) { return wide(m->self, e); }

Stmt tirc_widen_indices(Tirc *c, Stmt s, DType index, const PtrMap *vars, const PtrMap *buffers) {
  Widening w = {.c = c, .index = index, .vars = *vars, .buffers = *buffers};
  w.m = (Mutator){.c = c, .expr = wide_expr, .stmt = wide_stmt, .self = &w};
  return tirc_mutate_stmt(&w.m, s);
}
