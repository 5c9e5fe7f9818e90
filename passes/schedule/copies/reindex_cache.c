/* reindex_cache_read and reindex_cache_write: a cache in another storage scope, with a layout that
 * an index map of the block's iterators gives.
 *
 *   reindex_cache_read(B, 0, "shared", lambda vi, vj: (vj, vi))
 *
 *   for i, j:                              for i, j:
 *       with T.block("B"):                     with T.block("A_shared"):
 *           B[vi, vj] = A[vi, vj]    ->            A_shared[vj, vi] = A[vi, vj]
 *                                          for i, j:
 *                                              with T.block("B"):
 *                                                  B[vi, vj] = A_shared[vj, vi]
 *
 * The copy has those loops of the block that its indices need, and stands where cache_read or
 * cache_write would put it. Needs: a stage pipeline; one element that the block accesses of the
 * buffer in each instance; a map that uses the same iterators as the buffer's indices, and that
 * gives two elements never the same place. */
#include "copies.h"
#include "ir/tree/print.h"
#include "passes/schedule/layout/layout.h"

typedef struct ReindexCache {
  Reindex r;
  CacheStage stage; /* for its place */
  IndexMap map;
  bool *appears; /* which iterators of the block are in the indices */
} ReindexCache;

/* --- checks ----------------------------------------------------------------------------------- */

static void require_single_point(Reindex *r) {
  const Regions all = tirc_declared(tirc_block_of(r->block), r->is_write);
  const Region *region = tirc_region_of(all.n, all.at, r->source);
  for (int i = 0; i < r->source->ndim; i++)
    if (!tirc_is_int(region->dims[i].extent, 1))
      tirc_refuse(r->s, r->block->stmt, SERR_NOT_SINGLE_POINT,
                  "Block %s accesses the region %s, which is more than one element.",
                  tirc_name_of(r->block), tirc_print_region(r->c, *region));
  Expr *min = tirc_new_array(r->c, Expr, r->source->ndim + 1);
  for (int i = 0; i < r->source->ndim; i++) {
    min[i] = region->dims[i].min;
    if (tirc_prove_equal(tirc_analyzer(r->c), min[i], r->old[i])) continue;
    tirc_refuse(r->s, r->block->stmt, SERR_REINDEX_ACCESS,
                "Block %s declares the region %s, but accesses another element.",
                tirc_name_of(r->block), tirc_print_region(r->c, *region));
  }
  r->old = min;
}

static void require_same_iters(ReindexCache *x) {
  Reindex *r = &x->r;
  const Block *b = tirc_block_of(r->block);
  x->appears = tirc_new_array(r->c, bool, b->n_iters + 1);
  for (int i = 0; i < b->n_iters; i++) {
    Expr var = b->iters[i].var;
    bool in_old = tirc_any_uses(r->source->ndim, r->old, var);
    x->appears[i] = tirc_any_uses(x->map.n_outputs, r->indices, var);
    if (x->appears[i] == in_old) continue;
    tirc_refuse(r->s, r->block->stmt, SERR_REINDEX_ITERS,
                "Iterator %s of block %s is in the indices of %s, but not in those of %s.",
                var->u.s, b->name, in_old ? r->source->name : "the cache",
                in_old ? "the cache" : r->source->name);
  }
}

/* Every index of the source is an index of the cache as well. */
static bool keeps_old_indices(const ReindexCache *x) {
  const Reindex *r = &x->r;
  for (int i = 0; i < r->source->ndim; i++) {
    int k = 0;
    while (k < x->map.n_outputs && !tirc_expr_same(r->indices[k], r->old[i])) k++;
    if (k == x->map.n_outputs) return false;
  }
  return true;
}

/* Instances that share an element of the cache must share one of the source. */
static void require_separate_places(ReindexCache *x, const Expr *new_shape) {
  Reindex *r = &x->r;
  const Block *b = tirc_block_of(r->block);
  Expr *shape = tirc_new_array(r->c, Expr, b->n_iters + 1);
  for (int i = 0; i < b->n_iters; i++) {
    Range dom = b->iters[i].dom;
    shape[i] = x->appears[i] ? dom.extent : tirc_int(r->c, dom.extent->dtype, 1);
    if (!x->appears[i] || tirc_is_int(dom.min, 0)) continue;
    tirc_refuse(r->s, r->block->stmt, SERR_INDEX_MAP_RANGE,
                "The domain of iterator %s of block %s does not start at 0.", b->iters[i].var->u.s,
                b->name);
  }
  if (keeps_old_indices(x)) return;
  InverseMap inverse;
  const char *why = tirc_invert_map(r->s, r->block, &x->map, shape, false, &inverse);
  if (!why || tirc_try_injective(r->c, &x->map, shape, new_shape) == 1) return;
  tirc_sched_error(r->s, NULL, SERR_INDEX_MAP_NOT_INJECTIVE, why, NULL,
                   "%s may put different elements of %s into one place of the cache.",
                   tirc_index_map_text(r->c, &x->map), r->source->name);
}

static void require_one_way(Reindex *r) {
  if (!tirc_goes_both_ways(r)) return;
  tirc_sched_error(
      r->s, r->block->stmt, SERR_READS_OWN_OUTPUT, NULL,
      tirc_hint_of_update(r->s, r->scope, r->source),
      "Block %s both reads and writes %s, but a cache in one direction would lose one of the two.",
      tirc_name_of(r->block), r->source->name);
}

/* Indices that are loaded must be known where the copy is made, which can be before any block. */
static void require_known_indices(Reindex *r) {
  Buffer index;
  SRef *writer = tirc_index_writer(r, &index);
  if (!writer) return;
  tirc_refuse(
      r->s, writer->stmt, SERR_REINDEX_NEST,
      "Block %s computes %s, which is an index of %s, but the copy may be made before that.",
      tirc_name_of(writer), index->name, r->source->name);
}

/* --- the copy --------------------------------------------------------------------------------- */

static void apply_map(ReindexCache *x, Value function, const char *storage_scope) {
  Reindex *r = &x->r;
  Tirc *c = r->c;
  const Block *b = tirc_block_of(r->block);
  int n = b->n_iters;
  DType *types = tirc_new_array(c, DType, n + 1);
  Expr *vars = tirc_new_array(c, Expr, n + 1), *shape = tirc_new_array(c, Expr, n + 1);
  for (int i = 0; i < n; i++) {
    vars[i] = b->iters[i].var;
    types[i] = vars[i]->dtype;
    shape[i] = b->iters[i].dom.extent;
  }
  x->map = tirc_index_map(r->s, function, n, types);
  tirc_require_inputs(r->s, &x->map, n, tirc_format(c, "block %s", b->name));
  Analyzer *a = tirc_analyzer(c);
  r->indices = tirc_map_indices(c, a, &x->map, vars);
  const Expr *new_shape = tirc_map_shape(r->s, a, &x->map, shape);
  require_same_iters(x);
  require_separate_places(x, new_shape);
  tirc_reindexed_buffer(r, tirc_buffer_with_scope(c, r->source, storage_scope), x->map.n_outputs,
                        new_shape);
}

/* The loops of the copy: those between its place and the block that the indices need, with
 * variables of their own. */
typedef struct CopyLoops {
  int n;
  For *at;
  PtrMap fresh; /* from the block's loop variables */
} CopyLoops;

static CopyLoops loops_of_copy(ReindexCache *x, Expr predicate) {
  Reindex *r = &x->r;
  Tirc *c = r->c;
  const Block *b = tirc_block_of(r->block);
  const SRefs loops = tirc_loops_above(r->s, r->block);
  int first = 0;
  for (int i = 0; i < loops.n; i++)
    if (loops.at[i] == r->where) first = i + 1;
  CopyLoops out = {.at = tirc_new_array(c, For, loops.n + 1)};
  PtrMap left = {0};
  for (int i = first; i < loops.n; i++) {
    For loop = *tirc_loop_of(loops.at[i]);
    bool needed = tirc_is_int(loop.extent, 0);
    for (int k = 0; k < b->n_iters; k++)
      needed = needed || (x->appears[k] && tirc_uses_var(b->iter_values[k], loop.var));
    if (!needed) tirc_map_set(c, &left, loop.var, loops.at[i]);
    if (tirc_range_uses_any(tirc_loop_range(&loop), &left) ||
        (!needed && tirc_uses_var(predicate, loop.var)))
      tirc_refuse(
          r->s, loops.at[i]->stmt, SERR_REINDEX_COVER,
          "The elements of %s that block %s accesses depend on a loop that the indices do not use.",
          r->source->name, b->name);
    if (!needed) continue;
    Expr var = tirc_var(c, loop.var->u.s, loop.var->dtype);
    out.at[out.n++] = (For){.var = var,
                            .min = tirc_substitute(c, loop.min, &out.fresh),
                            .extent = tirc_substitute(c, loop.extent, &out.fresh)};
    tirc_map_set(c, &out.fresh, loop.var, var);
  }
  return out;
}

static void make_stage(ReindexCache *x, const char *storage_scope) {
  Reindex *r = &x->r;
  Tirc *c = r->c;
  const Block *b = tirc_block_of(r->block);
  const bool starts =
      r->is_write || (b->init && tirc_find_expr_in(b->init, tirc_is_load_of, r->source));
  const Expr runs = starts ? tirc_touching_condition(r->s, r->block) : b->predicate;
  CopyLoops loops = loops_of_copy(x, runs);
  IterVar *iters = tirc_new_array(c, IterVar, b->n_iters + 1);
  Expr *values = tirc_new_array(c, Expr, b->n_iters + 1);
  int n = 0;
  PtrMap fresh = {0};
  for (int i = 0; i < b->n_iters; i++) {
    Expr var = b->iters[i].var;
    if (!x->appears[i]) continue;
    iters[n] = (IterVar){tirc_var(c, var->u.s, var->dtype), b->iters[i].dom, ITER_SPATIAL};
    values[n] = tirc_substitute(c, b->iter_values[i], &loops.fresh);
    tirc_map_set(c, &fresh, var, iters[n].var);
    n++;
  }
  const char *name = tirc_format(c, "%s_%s", r->source->name, storage_scope);
  Stmt block = tirc_copy_block(r, name, n, iters, values, &fresh);
  /* Instances that the block skips are skipped by the copy. */
  r->stage = tirc_add_predicate(c, block, tirc_substitute(c, runs, &loops.fresh));
  for (int i = loops.n; i-- > 0;) {
    loops.at[i].body = r->stage;
    r->stage = tirc_for(c, &loops.at[i]);
  }
}

/* --- the primitives --------------------------------------------------------------------------- */

static void place(ReindexCache *x) {
  Reindex *r = &x->r;
  CacheStage *stage = &x->stage;
  *stage = (CacheStage){.source = r->source, .scope = r->scope, .is_write = r->is_write};
  if (!r->is_write) vec_push(r->c, stage->consumers, r->block);
  stage->writer = tirc_only_writer(r->s, stage);
  if (stage->writer) {
    tirc_place_copy(r->s, stage);
    tirc_require_readers_after_writer(r->s, stage);
  } else {
    stage->where = r->scope;
  }
  r->where = stage->where;
  r->index = stage->index;
}

static Value reindex_cache(Sched *s, const Value *args, bool is_write) {
  ReindexCache x = {.r = {.s = s, .c = s->c, .is_write = is_write}};
  Reindex *r = &x.r;
  const char *storage_scope = args[2].u.s;
  tirc_require_storage_scope(s, storage_scope);
  r->block = tirc_sref_of_value(s, args[0]);
  r->source = tirc_nth_buffer(s, r->block, args[1], is_write);
  r->scope = tirc_require_scope_root(s, r->block, true);
  require_one_way(r);
  place(&x);
  tirc_find_access(r);
  require_known_indices(r);
  require_single_point(r);
  tirc_require_inside(r, true);
  tirc_require_own_domains(r);
  apply_map(&x, args[3], storage_scope);
  make_stage(&x, storage_scope);
  return tirc_install_reindex(r);
}

void tirc_prim_reindex_cache_read(Sched *s, const Value *args, Value *result) {
  *result = reindex_cache(s, args, false);
}

void tirc_prim_reindex_cache_write(Sched *s, const Value *args, Value *result) {
  *result = reindex_cache(s, args, true);
}
