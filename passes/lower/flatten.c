/* Buffers become one-dimensional. An allocated buffer is replaced by a flat one; for a parameter
 * (its shape is part of the interface) a flat view of the same data is declared around the body if
 * it is loaded, stored or handed out.
 * Indices are computed in 64 bits unless the whole buffer is known to be small enough for 32, and
 * no index has 64. */
#include "internal.h"

#include "ir/tree/find.h"

#include "ir/tree/vector_index.h"

typedef struct Flat {
  Analyzer *a;    /* knows the loops around */
  PtrMap buffers; /* from a buffer to its flat form */
  PtrMap wide;    /* buffers whose indices need 64 bits */
  bool separate;  /* what axis_separators keep apart stays several dimensions */
} Flat;

/* The number of elements from the data pointer to the end of the buffer; *fits: below 2^31. */
static Expr flat_extent(Tirc *c, Buffer b, bool *fits) {
  Expr size = tirc_int(c, DT_INT64, 1);
  if (b->strides) {
    for (int i = 0; i < b->ndim; i++) {
      Expr last = tirc_sub(c, tirc_cast(c, DT_INT64, b->shape[i]), tirc_int(c, DT_INT64, 1));
      size = tirc_add(c, size, tirc_mul(c, last, tirc_cast(c, DT_INT64, b->strides[i])));
    }
  } else {
    for (int i = 0; i < b->ndim; i++) size = tirc_mul(c, size, tirc_cast(c, DT_INT64, b->shape[i]));
  }
  if (b->elem_offset) size = tirc_add(c, size, tirc_cast(c, DT_INT64, b->elem_offset));
  size = tirc_simplify0(c, size);
  int64_t n;
  bool is_const = tirc_const_int(size, &n);
  *fits = is_const && n <= INT32_MAX;
  return *fits ? tirc_int32(c, n) : size;
}

static Buffer flat_of(Tirc *c, Flat *f, Buffer b) {
  Buffer known = tirc_map_get(&f->buffers, b);
  if (known) return known;
  bool fits;
  Expr extent = flat_extent(c, b, &fits);
  struct BufferNode to = *b;
  to.ndim = 1;
  to.shape = &extent;
  to.strides = NULL;
  to.elem_offset = NULL;
  to.n_axis_separators = 0;
  Buffer result = tirc_buffer_copy(c, &to);
  tirc_map_set(c, &f->buffers, b, result);
  if (!fits) tirc_map_set(c, &f->wide, b, b);
  return result;
}

/* Loops of 64 bits stay so: narrowed one by one, their indices would be no sums that vectorizing
 * makes ramps of. */
static bool is_wide(const Flat *f, Buffer b, int n, const Expr *indices) {
  bool wide = tirc_map_has(&f->wide, b);
  for (int i = 0; i < n; i++)
    wide |= indices[i]->op != OP_INT && indices[i]->dtype.code == TYPE_INT &&
            indices[i]->dtype.bits == 64;
  return wide;
}

static Expr unwidened(Expr e) {
  while (e->op == OP_CAST && tirc_dtype_is_int(e->args[0]->dtype) && e->dtype.lanes == 1 &&
         e->args[0]->dtype.code == e->dtype.code && e->args[0]->dtype.bits <= e->dtype.bits)
    e = e->args[0];
  return e;
}

static bool is_same(Tirc *c, Expr a, Expr b) {
  a = unwidened(a);
  b = unwidened(b);
  return tirc_dtype_equal(a->dtype, b->dtype) && tirc_prove_equal(tirc_analyzer(c), a, b);
}

/* Whether x is from 0 to end, or, of an end below 0, from there to 0, exclusive of the end. */
static bool is_below(Tirc *c, Analyzer *a, Expr x, Expr end) {
  if (x->op == OP_FLOORMOD && is_same(c, x->args[1], end)) return true;
  const Expr from = tirc_binary(c, OP_LE, tirc_int(c, x->dtype, 0), x);
  return tirc_prove_symbolic(a, tirc_and(c, from, tirc_lt(c, x, end)));
}

/* x without a cast that narrows a quotient of a number below extent * n by n: the type of the
 * extent has a place for it. */
static Expr unnarrowed(Tirc *c, Analyzer *a, Expr x, Expr extent) {
  if (x->op != OP_CAST || !tirc_dtype_equal(x->dtype, extent->dtype)) return x;
  const Expr quotient = x->args[0];
  if (quotient->op != OP_FLOORDIV || quotient->dtype.code != TYPE_INT) return x;
  const Expr end = tirc_mul(c, tirc_cast(c, quotient->dtype, extent), quotient->args[1]);
  return is_below(c, a, quotient->args[0], tirc_simplify0(c, end)) ? quotient : x;
}

static bool has_factor(Tirc *c, Expr product, Expr n) {
  product = unwidened(product);
  if (product->op == OP_MUL)
    return has_factor(c, product->args[0], n) || has_factor(c, product->args[1], n);
  return is_same(c, product, n);
}

/* x of the digits x // n and x % n, which are one number: loops that were fused leave them, and a
 * length n that is known at run time alone; x // n is below extent. Of one that is a digit itself,
 * x % (m * n), the last digit is x % n, too. NULL: they are none. */
static Expr joined(Tirc *c, Analyzer *a, Expr high, Expr low, Expr n, Expr extent) {
  high = unnarrowed(c, a, unwidened(tirc_simplify0(c, high)), extent);
  low = unwidened(tirc_simplify0(c, low));
  if (unwidened(n)->op == OP_INT || low->op != OP_FLOORMOD || !is_same(c, low->args[1], n))
    return NULL;
  Expr x = low->args[0];
  if (is_same(c, high, tirc_floordiv(c, x, low->args[1]))) return x;
  if (high->op != OP_FLOORDIV) return NULL;
  Expr y = high->args[0];
  return y->op == OP_FLOORMOD && is_same(c, high->args[1], n) && is_same(c, y->args[0], x) &&
                 has_factor(c, y->args[1], n)
             ? y
             : NULL;
}

/* Indices and shape of a buffer without strides, with digits of one number in one dimension. Gives
 * how many there are, the first ones at the end of `out` and `scale`. */
static int join_digits(Tirc *c, Analyzer *a, Buffer b, DType t, const Expr *indices, Expr *out,
                       Expr *scale) {
  int first = b->ndim;
  Expr shape = NULL; /* as of `first`, in the type of indices */
  for (int i = b->ndim - 1; i >= 0; i--) {
    Expr x = first < b->ndim ? joined(c, a, indices[i], out[first], shape, b->shape[i]) : NULL;
    if (x) {
      out[first] = x;
      shape = tirc_mul(c, tirc_cast(c, shape->dtype, b->shape[i]), shape);
      scale[first] = tirc_mul(c, tirc_cast(c, t, b->shape[i]), scale[first]);
      continue;
    }
    out[--first] = indices[i];
    shape = b->shape[i];
    scale[first] = tirc_cast(c, t, shape);
  }
  return b->ndim - first;
}

static Expr flat_index(Tirc *c, Flat *f, Buffer b, int n, const Expr *indices) {
  const DType t = is_wide(f, b, n, indices) ? DT_INT64 : DT_INT32;
  Expr *joint = tirc_new_array(c, Expr, n + 1), *scale = tirc_new_array(c, Expr, n + 1);
  Expr sum = NULL;
  if (!b->strides) {
    const int all = n;
    n = join_digits(c, f->a, b, t, indices, joint, scale);
    indices = joint + all - n;
    scale += all - n;
  }
  for (int i = 0; i < n; i++) {
    Expr index = tirc_index_cast(c, t, indices[i]);
    if (b->strides)
      index = tirc_index_scale(c, index, tirc_cast(c, t, b->strides[i]));
    else if (sum)
      sum = tirc_index_scale(c, sum, scale[i]);
    sum = sum ? tirc_index_add(c, sum, index) : index;
  }
  if (!sum) sum = tirc_int(c, t, 0);
  if (b->elem_offset) sum = tirc_index_add(c, sum, tirc_cast(c, t, b->elem_offset));
  return sum;
}

/* Number of the first dimension behind group k of those that axis_separators keep apart. */
static int group_end(Buffer b, int k) {
  return k < b->n_axis_separators ? b->axis_separators[k] : b->ndim;
}

static bool is_grouped(const Flat *f, Buffer b) {
  return f->separate && b->n_axis_separators > 0 && !b->strides && !b->elem_offset;
}

/* A buffer with a dimension for each group. */
static Buffer grouped_of(Tirc *c, Flat *f, Buffer b) {
  Buffer known = tirc_map_get(&f->buffers, b);
  if (known) return known;
  const int n = b->n_axis_separators + 1;
  Expr *shape = tirc_new_array(c, Expr, n);
  int *separators = tirc_new_array(c, int, n);
  for (int k = 0, d = 0; k < n; k++) {
    shape[k] = tirc_int32(c, 1);
    for (; d < group_end(b, k); d++) shape[k] = tirc_mul(c, shape[k], b->shape[d]);
    separators[k] = k + 1;
  }
  struct BufferNode to = *b;
  to.ndim = n;
  to.shape = shape;
  to.axis_separators = separators;
  to.n_axis_separators = n - 1;
  Buffer result = tirc_buffer_copy(c, &to);
  tirc_map_set(c, &f->buffers, b, result);
  return result;
}

static Expr *grouped_indices(Tirc *c, Buffer b, const Expr *indices) {
  Expr *out = tirc_new_array(c, Expr, b->n_axis_separators + 1);
  for (int k = 0, d = 0; k <= b->n_axis_separators; k++) {
    out[k] = tirc_int32(c, 0);
    for (int first = d; d < group_end(b, k); d++)
      out[k] = d == first ? indices[d]
                          : tirc_index_add(c, tirc_index_scale(c, out[k], b->shape[d]), indices[d]);
  }
  return out;
}

static bool is_flat(Buffer b) {
  return b->ndim == 1 && !b->strides && (!b->elem_offset || tirc_is_int(b->elem_offset, 0));
}

static Expr flatten_expr(Mutator *m, Expr e) {
  e = tirc_mutate_expr_children(m, e);
  if (e->op != OP_LOAD || is_flat(e->u.buffer)) return e;
  if (is_grouped(m->self, e->u.buffer)) {
    Buffer to = grouped_of(m->c, m->self, e->u.buffer);
    return tirc_load(m->c, to, to->ndim, grouped_indices(m->c, e->u.buffer, e->args));
  }
  Buffer b = flat_of(m->c, m->self, e->u.buffer);
  Expr index = flat_index(m->c, m->self, e->u.buffer, e->n, e->args);
  return tirc_load(m->c, b, 1, &index);
}

/* The region of the flat buffer from the first element of another one's to its last. */
static Region flat_region(Tirc *c, Flat *f, Region r) {
  const int n = r.buffer->ndim;
  if (is_flat(r.buffer)) return r;
  Expr *first = tirc_new_array(c, Expr, n + 1), *last = tirc_new_array(c, Expr, n + 1);
  for (int d = 0; d < n; d++) {
    const Expr one = tirc_int(c, r.dims[d].extent->dtype, 1);
    first[d] = r.dims[d].min;
    last[d] = tirc_add(c, first[d], tirc_sub(c, r.dims[d].extent, one));
  }
  const bool grouped = is_grouped(f, r.buffer);
  Buffer to = grouped ? grouped_of(c, f, r.buffer) : flat_of(c, f, r.buffer);
  Range *dims = tirc_new_array(c, Range, to->ndim);
  const Expr *low = grouped ? grouped_indices(c, r.buffer, first) : NULL;
  const Expr *high = grouped ? grouped_indices(c, r.buffer, last) : NULL;
  for (int k = 0; k < to->ndim; k++) {
    const Expr from = grouped ? low[k] : flat_index(c, f, r.buffer, n, first);
    const Expr end = grouped ? high[k] : flat_index(c, f, r.buffer, n, last);
    const Expr size = tirc_add(c, tirc_sub(c, end, from), tirc_int(c, from->dtype, 1));
    dims[k] = tirc_range(from, tirc_simplify0(c, size));
  }
  return (Region){to, dims};
}

static const Region *flat_regions(Tirc *c, Flat *f, int n, const Region *at) {
  Region *out = tirc_new_array(c, Region, n + 1);
  for (int i = 0; i < n; i++) out[i] = flat_region(c, f, at[i]);
  return out;
}

static Stmt flatten_block(Mutator *m, Stmt s) {
  Block b = s->u.block;
  Buffer *allocs = tirc_new_array(m->c, Buffer, b.n_allocs + 1);
  for (int i = 0; i < b.n_allocs; i++)
    allocs[i] = is_grouped(m->self, b.allocs[i]) ? grouped_of(m->c, m->self, b.allocs[i])
                : is_flat(b.allocs[i])           ? b.allocs[i]
                                                 : flat_of(m->c, m->self, b.allocs[i]);
  b.allocs = allocs;
  b.reads = flat_regions(m->c, m->self, b.n_reads, b.reads);
  b.writes = flat_regions(m->c, m->self, b.n_writes, b.writes);
  b.body = tirc_mutate_stmt(m, b.body);
  return tirc_with_loc(m->c, tirc_block(m->c, &b), s->loc);
}

static Stmt flatten_if(Mutator *m, Stmt s) {
  const Flat *flat = m->self;
  const Stmt otherwise = s->u.branch.else_case;
  const Expr cond = tirc_mutate_expr(m, s->u.branch.cond);
  const Expr lasting = tirc_lasting_part(m->c, s->u.branch.cond, s->u.branch.then_case);
  const int mark = tirc_enter_constraint(flat->a, lasting);
  const Stmt then = tirc_mutate_stmt(m, s->u.branch.then_case);
  tirc_leave_constraint(flat->a, mark);
  return tirc_with_loc(
      m->c, tirc_if(m->c, cond, then, otherwise ? tirc_mutate_stmt(m, otherwise) : NULL), s->loc);
}

static Stmt flatten_stmt(Mutator *m, Stmt s) {
  const Flat *flat = m->self;
  if (s->kind == STMT_BLOCK) return flatten_block(m, s);
  if (s->kind == STMT_IF) return flatten_if(m, s);
  if (s->kind == STMT_FOR)
    tirc_bind_range(flat->a, s->u.loop.var, tirc_range(s->u.loop.min, s->u.loop.extent));
  s = tirc_mutate_stmt_children(m, s);
  const bool makes = s->kind == STMT_ALLOC || s->kind == STMT_DECL;
  if (s->kind == STMT_STORE && is_grouped(m->self, s->u.store.buffer)) {
    Buffer to = grouped_of(m->c, m->self, s->u.store.buffer);
    const Expr *at = grouped_indices(m->c, s->u.store.buffer, s->u.store.indices);
    return tirc_store(m->c, to, to->ndim, at, s->u.store.value);
  }
  if (makes && is_grouped(m->self, s->u.alloc.buffer))
    return tirc_alloc_stmt(m->c, s->kind, grouped_of(m->c, m->self, s->u.alloc.buffer),
                           s->u.alloc.annotations, s->u.alloc.body);
  if (s->kind == STMT_STORE && !is_flat(s->u.store.buffer)) {
    Buffer b = flat_of(m->c, m->self, s->u.store.buffer);
    Expr index = flat_index(m->c, m->self, s->u.store.buffer, s->u.store.n, s->u.store.indices);
    return tirc_store(m->c, b, 1, &index, s->u.store.value);
  }
  if ((s->kind == STMT_ALLOC || s->kind == STMT_DECL) && !is_flat(s->u.alloc.buffer))
    return tirc_alloc_stmt(m->c, s->kind, flat_of(m->c, m->self, s->u.alloc.buffer),
                           s->u.alloc.annotations, s->u.alloc.body);
  return s;
}

static Stmt flatten(Tirc *c, const Func *f, bool separate) {
  Flat flat = {.a = tirc_analyzer(c), .separate = separate};
  Mutator m = {.c = c, .expr = flatten_expr, .stmt = flatten_stmt, .self = &flat};
  Stmt body = tirc_mutate_stmt(&m, f->body);
  for (int i = f->n_params - 1; i >= 0; i--) {
    Buffer b = f->buffers[i], view = b ? tirc_map_get(&flat.buffers, b) : NULL;
    if (b && !view && !is_flat(b) && tirc_uses_of(f->body, b, NULL, NULL) & USE_POINTER)
      view = flat_of(c, &flat, b);
    if (view) body = tirc_alloc_stmt(c, STMT_DECL, view, (Attrs){0}, body);
  }
  return body;
}

Stmt tirc_lower_flatten(Tirc *c, const Func *f) {
  tirc_lower_need(c, f, tirc_is_block_stmt, "FlattenBuffer", "block", "LowerOpaqueBlock");
  return flatten(c, f, false);
}

/* By itself: code for machines whose memory has dimensions of its own is made of it, too. */
static bool is_no_scope(const void *unused, Stmt s) {
  return (void)unused, s->kind == STMT_BLOCK && (s->u.block.n_iters || s->u.block.n_matches);
}

Stmt tirc_lower_flatten_alone(Tirc *c, const Func *f) {
  tirc_lower_need(c, f, is_no_scope, "FlattenBuffer", "block", "LowerOpaqueBlock");
  return flatten(c, f, true);
}
