/* An allocated buffer shrinks to the box that its block reaches, and its indices are counted from
 * the box's corner:
 *
 *   C_local = T.alloc_buffer((128, 128))         C_local = T.alloc_buffer((64, 64))
 *   ... C_local[io * 64 + ii, jo * 64 + ji]  ->  ... C_local[ii, ji]
 *
 * Extents that depend on loops outside are replaced by a constant bound of theirs; a dimension
 * without one stays as it was. A block's annotation buffer_dim_align asks for strides with a
 * residue. */
#include "ir/arith/box.h"
#include "regions.h"

/* Of a symbolic extent, bounds beyond this come from the type of a variable and say nothing: those
 * of n // 64 do, and no tile is as long. */
enum { MAX_TILE = 1 << 16 };

typedef struct Compact {
  Buffer buffer; /* the new one */
  Expr *corner;  /* what is subtracted from each index; NULL for 0 */
} Compact;

typedef struct State {
  Analyzer *a;
  VEC(For) threads; /* loops around over threads, virtual ones too */
  PtrMap compacted; /* from an allocated buffer to its Compact */
  PtrMap aligned;   /* from a buffer to its Align list */
} State;

typedef struct Align {
  int64_t axis, factor, offset;
  struct Align *next;
} Align;

/* --- storage_align -------------------------------------------------------------------------- */

/* The annotation is a list of (index of the written buffer, axis, factor, offset). */
static void read_alignment(Tirc *c, State *s, const Block *b) {
  Expr list = tirc_attrs_get(b->annotations, tirc_key(KEY_BUFFER_DIM_ALIGN));
  for (int i = 0; list && i < list->n; i++) {
    Expr item = list->args[i];
    int64_t v[4];
    bool ok = item->n == 4;
    for (int k = 0; ok && k < 4; k++) ok = tirc_const_int(item->args[k], &v[k]);
    if (!ok || v[0] < 0 || v[0] >= b->n_writes || v[2] <= 0) continue;
    Buffer buffer = b->writes[v[0]].buffer;
    Align *a = tirc_new(c, Align);
    *a = (Align){v[1], v[2], v[3], tirc_map_get(&s->aligned, buffer)};
    tirc_map_set(c, &s->aligned, buffer, a);
  }
}

static bool find_alignment(Visitor *v, Stmt s) {
  if (s->kind == STMT_BLOCK)
    read_alignment(((Mutator *)v->self)->c, ((Mutator *)v->self)->self, &s->u.block);
  return true;
}

static const Expr *aligned_strides(Tirc *c, const Align *aligns, int ndim, const Expr *shape) {
  Expr *strides = tirc_new_array(c, Expr, ndim);
  Expr stride = tirc_int(c, shape[0]->dtype, 1);
  for (int d = ndim - 1; d >= 0; d--) {
    for (const Align *a = aligns; a; a = a->next) {
      if (a->axis != d && a->axis + ndim != d) continue;
      Expr factor = tirc_int(c, stride->dtype, a->factor);
      Expr over = tirc_floormod(c, stride, factor);
      Expr want = tirc_add(c, factor, tirc_int(c, stride->dtype, a->offset));
      Expr more = tirc_floormod(c, tirc_sub(c, want, over), factor);
      stride = tirc_add(c, stride, more);
      break;
    }
    strides[d] = stride;
    stride = tirc_mul(c, stride, shape[d]);
  }
  return strides;
}

/* --- the box -------------------------------------------------------------------------------- */

/* One dimension of all boxes, in a type that holds the differences of its ends. */
typedef struct Dim {
  Tirc *c;
  Analyzer *a;
  Exprs lows, highs;
} Dim;

static void add_end(Dim *dim, Exprs *to, Expr e) {
  for (int i = 0; i < to->n; i++)
    if (tirc_expr_same(to->at[i], e)) return;
  vec_push(dim->c, *to, e);
}

/* What is accessed is in the buffer: an end that is further away is at that of the buffer. False:
 * no type counts so far. */
static bool add_set(Dim *dim, IntSet set, Expr whole) {
  Tirc *c = dim->c;
  const IntSet all = tirc_set_of_range(c, tirc_from_zero(c, whole));
  set = tirc_countable_set(dim->a, set);
  const IntSet within = tirc_set_intersect(dim->a, set, tirc_countable_set(dim->a, all));
  if (!within.min || !within.max) return false;
  add_end(dim, &dim->lows, within.min);
  add_end(dim, &dim->highs, within.max);
  return true;
}

static bool is_wide(const Exprs *ends) {
  for (int i = 0; i < ends->n; i++)
    if (ends->at[i]->dtype.bits > 32) return true;
  return false;
}

static void in_type(Dim *dim, Exprs *ends, DType t) {
  for (int i = 0; i < ends->n; i++)
    ends->at[i] = tirc_simplify(dim->a, tirc_cast(dim->c, t, ends->at[i]));
}

static bool find_ends(Dim *dim, Reach r, int d, Expr whole) {
  for (int i = 0; i < r.boxes.n; i++)
    if (!add_set(dim, r.boxes.at[i][d], whole)) return false;
  const DType t = is_wide(&dim->lows) || is_wide(&dim->highs) ? DT_INT64 : DT_INT32;
  in_type(dim, &dim->lows, t);
  in_type(dim, &dim->highs, t);
  return true;
}

/* How many elements there are at most from the corner on, or exactly; -1: some are before it. */
static int64_t extent_from(const Dim *dim, Expr corner, bool *exact) {
  int64_t n = 0;
  for (int i = 0; i < dim->lows.n; i++)
    if (tirc_bound_by_arms(dim->a, tirc_sub(dim->c, dim->lows.at[i], corner)).min < 0) return -1;
  for (int i = 0; i < dim->highs.n; i++) {
    const Bound b = tirc_bound_by_arms(dim->a, tirc_sub(dim->c, dim->highs.at[i], corner));
    if (b.max == TIRC_POS_INF) return -1;
    if (b.max < n) continue;
    n = b.max + 1;
    *exact = b.min == b.max;
  }
  return n;
}

/* The corner from which the fewest elements are enough: where some box begins, or would if no
 * condition moved its beginning. The least of all beginnings may have no constant size: a box that
 * begins at max(8 * y - 1, 0), and one at 8 * y - 1, begin at the latter. */
static int64_t best_corner(const Dim *dim, Expr *corner, bool *exact) {
  int64_t best = -1;
  bool is_exact = false;
  Exprs tried = {0};
  Expr least = dim->lows.at[0];
  for (int i = 1; i < dim->lows.n; i++) least = tirc_min(dim->c, least, dim->lows.at[i]);
  for (int i = 0; i < dim->lows.n; i++) tirc_add_arms(dim->a, dim->lows.at[i], &tried);
  vec_push(dim->c, tried, tirc_simplify(dim->a, least));
  for (int i = 0; i < tried.n; i++) {
    const int64_t n = extent_from(dim, tried.at[i], &is_exact);
    if (n < 0 || (best >= 0 && n >= best)) continue;
    best = n;
    *exact = is_exact;
    *corner = tried.at[i];
  }
  return best;
}

/* Extent and corner of one dimension; the whole dimension where the boxes have no useful bound. */
static bool shrink(State *s, Tirc *c, Reach r, int d, Expr whole, Expr *corner, Expr *extent) {
  Dim dim = {.c = c, .a = s->a};
  Expr from = NULL;
  bool exact = false;
  int64_t full;
  if (!find_ends(&dim, r, d, whole)) return false;
  const int64_t n = best_corner(&dim, &from, &exact);
  const bool constant = tirc_const_int(whole, &full);
  if (n <= 0 || n >= tirc_const_bound(s->a, whole).max) return false;
  if (!constant && !exact && n > MAX_TILE) return false;
  *corner = tirc_is_int(from, 0) ? NULL : from;
  *extent = tirc_int(c, whole->dtype, n);
  return true;
}

static void compact(State *s, Tirc *c, Buffer b, Reach r) {
  const Align *aligns = tirc_map_get(&s->aligned, b);
  Compact *to = tirc_new(c, Compact);
  to->corner = tirc_new_array(c, Expr, b->ndim);
  Expr *shape = tirc_new_array(c, Expr, b->ndim);
  bool changed = false;
  for (int i = 0; i < b->ndim; i++) {
    shape[i] = b->shape[i];
    if (r.is_opaque || b->strides || !r.boxes.n) continue;
    changed |= shrink(s, c, r, i, b->shape[i], &to->corner[i], &shape[i]);
  }
  if (!changed && !aligns) return;
  struct BufferNode node = *b;
  node.shape = shape;
  if (aligns && b->ndim) node.strides = aligned_strides(c, aligns, b->ndim, shape);
  to->buffer = tirc_buffer_copy(c, &node);
  tirc_map_set(c, &s->compacted, b, to);
}

/* --- the rewrite ---------------------------------------------------------------------------- */

static Buffer new_buffer(Mutator *m, Buffer b) {
  const Compact *to = tirc_map_get(&((State *)m->self)->compacted, b);
  return to ? to->buffer : b;
}

/* A type that wraps around holds an index, but not what is left of it. */
static Expr in_type_of(Tirc *c, Expr index, Expr from) {
  const bool holds = tirc_dtype_bytes(from->dtype) >= tirc_dtype_bytes(index->dtype);
  return holds ? tirc_cast(c, from->dtype, index) : index;
}

static const Expr *shift(Mutator *m, const Compact *to, int n, const Expr *indices) {
  State *s = m->self;
  Expr *shifted = tirc_new_array(m->c, Expr, n);
  for (int i = 0; i < n; i++) {
    shifted[i] = indices[i];
    Expr from = to->corner[i];
    if (from)
      shifted[i] = tirc_simplify(s->a, tirc_sub(m->c, in_type_of(m->c, indices[i], from), from));
  }
  return shifted;
}

static Expr rewrite_expr(Mutator *m, Expr e) {
  if (e->op != OP_LOAD) return tirc_mutate_expr_children(m, e);
  const Compact *to = tirc_map_get(&((State *)m->self)->compacted, e->u.buffer);
  e = tirc_mutate_expr_children(m, e);
  return to ? tirc_load(m->c, to->buffer, e->n, shift(m, to, e->n, e->args)) : e;
}

/* What says where it lies may be in a buffer that shrinks, too. */
static Region shift_region(Mutator *m, Region r) {
  const Compact *to = tirc_map_get(&((State *)m->self)->compacted, r.buffer);
  Range *dims = tirc_new_array(m->c, Range, r.buffer->ndim);
  for (int i = 0; i < r.buffer->ndim; i++) {
    dims[i].min = tirc_mutate_expr(m, r.dims[i].min);
    dims[i].extent = tirc_mutate_expr(m, r.dims[i].extent);
    if (to) dims[i].min = *shift(m, &(Compact){to->buffer, &to->corner[i]}, 1, &dims[i].min);
  }
  return (Region){to ? to->buffer : r.buffer, dims};
}

static const Region *shift_regions(Mutator *m, int n, const Region *from) {
  Region *to = tirc_new_array(m->c, Region, n);
  for (int i = 0; i < n; i++) to[i] = shift_region(m, from[i]);
  return to;
}

/* --- threads -------------------------------------------------------------------------------- */

/* Whether threads along this axis see one buffer of the scope, which then has what all of them
 * reach: those of a block shared memory, those of a warp what a warp holds. */
static bool see_one(Storage scope, const For *loop) {
  if (tirc_owner(scope) == OWNER_BLOCK)
    return loop->axis == AXIS_VIRTUAL || tirc_is_thread_axis(loop->axis);
  return scope == STORAGE_WARP && loop->axis == AXIS_THREAD_X;
}

static PtrMap threads_of(Tirc *c, const State *s, Storage scope) {
  PtrMap dom = {0};
  for (int i = 0; i < s->threads.n; i++) {
    const For *loop = &s->threads.at[i];
    if (!see_one(scope, loop)) continue;
    IntSet *set = tirc_new(c, IntSet);
    *set = tirc_set_of_range(c, tirc_range(loop->min, loop->extent));
    tirc_map_set(c, &dom, loop->var, set);
  }
  return dom;
}

static void compact_all(State *s, Tirc *c, const Block *b) {
  for (int from = 0, to = 0; from < b->n_allocs; from = to) {
    const Storage scope = b->allocs[from]->storage;
    while (to < b->n_allocs && b->allocs[to]->storage == scope) to++;
    const PtrMap threads = threads_of(c, s, scope);
    const Reach *reach = tirc_lower_reach(c, s->a, b->body, to - from, b->allocs + from, &threads);
    for (int i = from; i < to; i++) compact(s, c, b->allocs[i], reach[i - from]);
  }
}

static Stmt rewrite_block(Mutator *m, Stmt stmt) {
  State *s = m->self;
  Tirc *c = m->c;
  Block b = stmt->u.block;
  compact_all(s, c, &b);
  Buffer *allocs = tirc_new_array(c, Buffer, b.n_allocs);
  for (int i = 0; i < b.n_allocs; i++) allocs[i] = new_buffer(m, b.allocs[i]);
  MatchBuffer *matches = tirc_new_array(c, MatchBuffer, b.n_matches);
  for (int i = 0; i < b.n_matches; i++)
    matches[i] = (MatchBuffer){b.matches[i].buffer, shift_region(m, b.matches[i].source)};
  b.allocs = allocs;
  b.matches = matches;
  b.reads = shift_regions(m, b.n_reads, b.reads);
  b.writes = shift_regions(m, b.n_writes, b.writes);
  b.annotations = tirc_attrs_remove(c, b.annotations, tirc_key(KEY_BUFFER_DIM_ALIGN));
  b.predicate = tirc_mutate_expr(m, b.predicate);
  b.body = tirc_mutate_stmt(m, b.body);
  return tirc_block(c, &b);
}

static Stmt rewrite_stmt(Mutator *m, Stmt s) {
  State *state = m->self;
  if (s->kind == STMT_BLOCK) return rewrite_block(m, s);
  if (s->kind == STMT_FOR)
    tirc_bind_range(state->a, s->u.loop.var, tirc_range(s->u.loop.min, s->u.loop.extent));
  if (s->kind == STMT_FOR && s->u.loop.kind == LOOP_THREAD_BINDING) {
    vec_push(m->c, state->threads, s->u.loop);
    s = tirc_mutate_stmt_children(m, s);
    state->threads.n--;
    return s;
  }
  if (s->kind != STMT_STORE) return tirc_mutate_stmt_children(m, s);
  const Compact *to = tirc_map_get(&state->compacted, s->u.store.buffer);
  s = tirc_mutate_stmt_children(m, s);
  if (!to) return s;
  return tirc_store(m->c, to->buffer, s->u.store.n, shift(m, to, s->u.store.n, s->u.store.indices),
                    s->u.store.value);
}

Stmt tirc_lower_compact_buffers(Tirc *c, const Func *f) {
  State s = {.a = tirc_analyzer(c)};
  Mutator m = {.c = c, .expr = rewrite_expr, .stmt = rewrite_stmt, .self = &s};
  Visitor v = {.stmt = find_alignment, .self = &m};
  tirc_visit_stmt(&v, f->body);
  return tirc_mutate_stmt(&m, f->body);
}
