/* The copy itself and the rewriting around it.
 *
 * Blocks that use the cache access it as they accessed the buffer; when the cache holds no more
 * than the copied box, its indices are counted from the corner of the box:
 *
 *   B[vi, vj + 3]   ->   B_shared[vi - lo0, vj + 3 - lo1]
 */
#include "copies.h"
#include "ir/tree/print.h"

/* --- the copy --------------------------------------------------------------------------------- */

/* A cache is dense, whatever the layout of its source. */
static Buffer make_cache(Tirc *c, const CacheStage *stage, const char *storage_scope) {
  struct BufferNode to = tirc_dense(tirc_buffer_with_scope(c, stage->source, storage_scope));
  Expr *shape = tirc_new_array(c, Expr, to.ndim);
  for (int i = 0; i < to.ndim; i++) shape[i] = stage->full ? to.shape[i] : stage->region[i].extent;
  to.shape = shape;
  return tirc_buffer_copy(c, &to);
}

static bool never_negative(Tirc *c, Analyzer *a, Expr e) {
  return tirc_prove_symbolic(a,
                             tirc_binary(c, OP_GE, tirc_simplify(a, e), tirc_int(c, e->dtype, 0)));
}

/* The part of a dimension that the copy's loop may reach outside of the buffer is predicated. The
 * one element of an input at which its readers surely look is where it was. */
static Expr stay_inside(Tirc *c, Analyzer *a, const CacheStage *stage, Expr predicate, int d,
                        Expr index) {
  const Range r = stage->region[d];
  const Expr dim = stage->source->shape[d];
  if (!stage->writer && tirc_is_int(r.extent, 1) && tirc_reads_memory(r.min) &&
      tirc_surely_loads_at(c, a, tirc_body_of(stage->where->stmt), stage->source, d, r.min))
    return predicate;
  if (!never_negative(c, a, r.min))
    predicate = tirc_and(c, predicate, tirc_binary(c, OP_LE, tirc_int(c, index->dtype, 0), index));
  if (!never_negative(c, a, tirc_sub(c, dim, tirc_add(c, r.min, r.extent))))
    predicate = tirc_and(c, predicate, tirc_lt(c, index, dim));
  return predicate;
}

/* The conditions that do not follow from the copy's own predicate and loops. */
static Expr run_with_writer(Sched *s, const CacheStage *stage, Expr predicate, Analyzer *a,
                            const Expr *loops) {
  Tirc *c = s->c;
  if (!stage->condition) return predicate;
  for (int i = 0; i < stage->source->ndim; i++)
    tirc_bind_range(a, loops[i], tirc_from_zero(c, stage->region[i].extent));
  tirc_enter_constraint(a, predicate);
  return tirc_and_unproved(c, a, predicate, stage->condition);
}

void tirc_require_known_bound(Sched *s, const CacheStage *stage, Analyzer *a, Expr bound,
                              Stmt run) {
  const Expr failing = tirc_failing_part(s, stage->where, a, bound, run);
  if (!failing) return;
  tirc_refuse(s, NULL, SERR_CACHE_REGION_COVER,
              "The box of %s that would be copied is bounded by %s, which may %s.",
              stage->source->name, tirc_print_expr(s->c, bound), tirc_how_it_fails(s->c, failing));
}

void tirc_make_copy(Sched *s, CacheStage *stage, const char *storage_scope) {
  Tirc *c = s->c;
  Buffer source = stage->source, cache = make_cache(c, stage, storage_scope);
  int n = source->ndim;
  IterVar *iters = tirc_new_array(c, IterVar, n);
  Expr *values = tirc_new_array(c, Expr, n), *loops = tirc_new_array(c, Expr, n);
  Expr *inside = tirc_new_array(c, Expr, n), *outside = tirc_new_array(c, Expr, n);
  Expr predicate = tirc_bool(c, true);
  Analyzer *a = tirc_analyzer_around(s, stage->where);
  for (int i = 0; i < n; i++) {
    Range r = stage->region[i];
    DType t = r.extent->dtype;
    tirc_require_known_bound(s, stage, a, r.extent, tirc_body_of(stage->where->stmt));
    Expr var = tirc_var(c, tirc_format(c, "v%d", i), t);
    loops[i] = tirc_var(c, tirc_format(c, "ax%d", i), t);
    Expr dim = stage->full ? source->shape[i] : r.extent;
    iters[i] = (IterVar){var, tirc_from_zero(c, dim), ITER_SPATIAL};
    Expr index = tirc_add(c, r.min, loops[i]);
    values[i] = stage->full ? index : loops[i];
    predicate = stay_inside(c, a, stage, predicate, i, index);
    inside[i] = var;
    outside[i] = stage->full ? var : tirc_add(c, r.min, var);
  }
  predicate = run_with_writer(s, stage, predicate, a, loops);
  const Expr *load_at = stage->is_write ? inside : outside;
  const Expr *store_at = stage->is_write ? outside : inside;
  const Region from = tirc_point(c, stage->is_write ? cache : source, load_at);
  const Region to = tirc_point(c, stage->is_write ? source : cache, store_at);
  Stmt nest = tirc_store(c, to.buffer, n, store_at, tirc_load(c, from.buffer, n, load_at));
  nest = tirc_storing_block(c, tirc_format(c, "%s_%s", source->name, storage_scope), n, iters,
                            values, predicate, from, to, nest);
  stage->copy_id = nest->u.block.id;
  for (int i = n; i-- > 0;) nest = tirc_for_serial(c, loops[i], stage->region[i].extent, nest);
  stage->cache = cache;
  stage->copy = nest;
}

/* --- rewriting -------------------------------------------------------------------------------- */

typedef struct Rewrite {
  Mutator m;
  Sched *s;
  const CacheStage *stage;
  Analyzer *a;
  bool active; /* inside of a block that uses the cache */
} Rewrite;

static _Noreturn void aliased(Rewrite *w, const char *what) {
  tirc_refuse(w->s, NULL, SERR_CACHE_ALIAS, "%s cannot be cached: %s.", w->stage->source->name,
              what);
}

static Expr from_corner(Rewrite *w, Expr index, int dim) {
  const Expr corner = w->stage->region[dim].min;
  if (w->stage->full) return index;
  if (!tirc_is_int(corner, 0)) index = tirc_sub(w->m.c, index, corner); /* else it keeps its type */
  return tirc_simplify(w->a, index);
}

static const Expr *move_indices(Rewrite *w, int n, const Expr *indices) {
  Expr *out = tirc_new_array(w->m.c, Expr, n);
  for (int i = 0; i < n; i++) out[i] = from_corner(w, tirc_mutate_expr(&w->m, indices[i]), i);
  return out;
}

static Expr rewrite_expr(Mutator *m, Expr e) {
  Rewrite *w = m->self;
  if (w->active && e->op == OP_LOAD && e->u.buffer == w->stage->source)
    return tirc_load(m->c, w->stage->cache, e->n, move_indices(w, e->n, e->args));
  if (w->active && e == w->stage->source->data) {
    const Buffer source = w->stage->source;
    if (!tirc_same_exprs(source->ndim, source->shape, w->stage->cache->shape) || source->strides)
      aliased(w, "a block uses its data pointer, and the cache has another layout");
    return w->stage->cache->data;
  }
  return tirc_mutate_expr_children(m, e);
}

static bool is_constants_of(const void *buffer, Stmt s) {
  return s->kind == STMT_ALLOC && tirc_attrs_get(s->u.alloc.annotations, ALLOC_DATA) &&
         s->u.alloc.buffer->data == ((Buffer)buffer)->data;
}

/* Nothing stores to constants, so that no other view changes what a copy of them holds. */
static bool has_constants(const Rewrite *w) {
  return tirc_find_stmt(w->stage->scope->stmt, is_constants_of, w->stage->source, NULL);
}

static Buffer rewrite_buffer(Mutator *m, Buffer b) {
  Rewrite *w = m->self;
  if (!w->active) return b;
  if (b == w->stage->source) return w->stage->cache;
  if (b->data == w->stage->source->data && !has_constants(w))
    aliased(w, tirc_format(m->c, "%s is another view of its memory", b->name));
  return b;
}

static const Region *move_regions(Rewrite *w, int n, const Region *from) {
  Region *out = tirc_new_array(w->m.c, Region, n);
  for (int i = 0; i < n; i++) {
    out[i] = from[i];
    if (from[i].buffer != w->stage->cache) continue;
    Range *dims = tirc_new_array(w->m.c, Range, from[i].buffer->ndim);
    for (int k = 0; k < from[i].buffer->ndim; k++)
      dims[k] = tirc_range(from_corner(w, from[i].dims[k].min, k), from[i].dims[k].extent);
    out[i].dims = dims;
  }
  return out;
}

/* The box holds what blocks declare to use; a view may show more of the buffer. */
static void require_view_inside(Rewrite *w, const Block *b, const MatchBuffer *m) {
  const Region box = {w->stage->cache, w->stage->region};
  bool inside = m->source.buffer != box.buffer || tirc_region_surely_in(w->a, &m->source, &box);
  for (int i = 0; i < b->n_reads; i++)
    inside = inside || tirc_region_surely_in(w->a, &m->source, &b->reads[i]);
  for (int i = 0; i < b->n_writes; i++)
    inside = inside || tirc_region_surely_in(w->a, &m->source, &b->writes[i]);
  if (!inside)
    aliased(w, tirc_format(w->m.c, "the view %s of block %s shows more of it than is cached",
                           m->buffer->name, b->name));
}

/* The children are rewritten; the block's own regions name the cache, but count from the buffer's
 * origin still. */
static Stmt move_block(Rewrite *w, Stmt s) {
  Block b = s->u.block;
  for (int i = 0; i < b.n_matches; i++) require_view_inside(w, &b, &b.matches[i]);
  b.reads = move_regions(w, b.n_reads, b.reads);
  b.writes = move_regions(w, b.n_writes, b.writes);
  MatchBuffer *matches = tirc_new_array(w->m.c, MatchBuffer, b.n_matches);
  for (int i = 0; i < b.n_matches; i++)
    matches[i] = (MatchBuffer){b.matches[i].buffer, *move_regions(w, 1, &b.matches[i].source)};
  b.matches = matches;
  return tirc_with_loc(w->m.c, tirc_block(w->m.c, &b), s->loc);
}

/* Whether the block, with everything in it, uses the cache from now on. */
static bool uses_cache(const Rewrite *w, const Block *b) {
  const CacheStage *stage = w->stage;
  for (int i = 0; i < stage->consumers.n; i++)
    if (tirc_block_of(stage->consumers.at[i])->id == b->id) return true;
  return stage->is_write ? b->id == tirc_block_of(stage->writer)->id : stage->consumers.n == 0;
}

static Stmt rewrite_block(Rewrite *w, Stmt s) {
  const Block *b = &s->u.block;
  if (!w->stage->is_write && tirc_declared_write(b, w->stage->source)) return s;
  bool before = w->active;
  w->active = before || uses_cache(w, b);
  Stmt to = tirc_mutate_stmt_children(&w->m, s);
  if (w->active && to != s && !w->stage->full) to = move_block(w, to);
  w->active = before;
  return to;
}

static Stmt insert_copy(const Rewrite *w, Stmt body) {
  return tirc_insert_below_decls(w->m.c, body, w->stage->index, w->stage->copy);
}

static Stmt rewrite_stmt(Mutator *m, Stmt s) {
  Rewrite *w = m->self;
  if (s->kind == STMT_BLOCK) return rewrite_block(w, s);
  if (s->kind == STMT_STORE && w->active && s->u.store.buffer == w->stage->source) {
    const Expr *indices = move_indices(w, s->u.store.n, s->u.store.indices);
    Expr value = tirc_mutate_expr(m, s->u.store.value);
    Stmt to = tirc_store(m->c, w->stage->cache, s->u.store.n, indices, value);
    return tirc_with_loc(m->c, to, s->loc);
  }
  if (s->kind == STMT_DECL && s->u.alloc.buffer == w->stage->source)
    return tirc_alloc_stmt(m->c, STMT_DECL, s->u.alloc.buffer, s->u.alloc.annotations,
                           tirc_mutate_stmt(m, s->u.alloc.body));
  Stmt to = tirc_mutate_stmt_children(m, s);
  if (s == w->stage->where->stmt) to = tirc_with_body(m->c, to, insert_copy(w, tirc_body_of(to)));
  return to;
}

/* The buffer's users, and the loop that gets the copy. */
static const Paths *paths_of(Sched *s, const CacheStage *stage) {
  Paths *paths = tirc_paths_to_users(s, stage->scope, stage->source);
  if (paths && !tirc_path_of(paths, stage->where->stmt)) tirc_add_path(s, paths, stage->where);
  return paths;
}

Stmt tirc_install_copy(Sched *s, const CacheStage *stage) {
  Rewrite w = {.s = s, .stage = stage, .a = tirc_analyzer(s->c)};
  const Paths *only = paths_of(s, stage);
  w.m = (Mutator){s->c, rewrite_expr, rewrite_stmt, rewrite_buffer, &w, only};
  w.active = !stage->is_write && stage->consumers.n == 0;
  Stmt body = tirc_mutate_stmt(&w.m, tirc_block_of(stage->scope)->body);
  if (stage->where == stage->scope) body = insert_copy(&w, body);
  return tirc_with_allocs(s->c, stage->scope->stmt, body, 1, &stage->cache);
}
