/* read_at and write_at: in each iteration of a loop, one block copies all that the iteration reads
 * of a buffer into a cache first, or all that it writes from a cache afterwards.
 *
 *   for i:                               for i:
 *       for j: C[i, j] = A[i, j]   ->        block A_local: for ax: A_local[i, ax] = A[i, ax]
 *                                            for j: C[i, j] = A_local[i, j]
 *
 * The block of the copy is bound to the loops that its box depends on, and annotated with
 * "auto_copy", by which a backend knows it. The cache has the shape of the buffer.
 *
 * The scope must be a stage pipeline. The loop must access the buffer (access-not-below), and not
 * write what a later iteration item reads through the cache (copy-order). The box must be a
 * rectangle known to lie inside of the buffer (copy-box), and for write_at everything in it must be
 * written, since all of it goes to the buffer (copy-partial); what reads the cache must find there
 * what it used to read (read-before-write). */
#include "copies.h"
#include "passes/schedule/state/state.h"

#include "ir/tree/annotations.h"
#include "ir/tree/print.h"

typedef struct AutoCopy {
  Sched *s;
  SRef *loop, *scope;
  bool is_read;
  Buffer source, cache;
  int n_items;
  const Stmt *items; /* of the loop's body */
  SRefs blocks;      /* that access the buffer as the copy does, directly below the loop */
  SRefs readers;     /* those of them or others that read it */
  int first_read, last_read, first_write, last_write; /* items; -1: none */
  int position;                                       /* the copy stands before this item */
  int from, to;                                       /* these items turn to the cache */
  Range *box;                                         /* in terms of the loops around */
} AutoCopy;

/* --- who uses the buffer below the loop ----------------------------------------------------- */

typedef struct Accesses {
  AutoCopy *copy;
  bool reads, writes;
} Accesses;

/* The box is found from what blocks declare. Those that loop_partition leaves declare nothing, and
 * no block declares what its predicate and bindings load. */
static void require_declared(AutoCopy *k, SRef *block, bool reads, bool writes) {
  const Block *b = tirc_block_of(block);
  if ((!reads || tirc_declared_read(b, k->source)) &&
      (!writes || tirc_declared_write(b, k->source)))
    return;
  tirc_sched_error(k->s, block->stmt, SERR_COPY_BOX, NULL,
                   "declare it in T.reads and T.writes of the block",
                   "Block %s does not declare what blocks inside of it access of %s, so it is not "
                   "known what to copy below loop %s.",
                   b->name, k->source->name, tirc_name_of(k->loop));
}

static bool see_access(Visitor *v, Stmt s) {
  Accesses *a = v->self;
  if (s->kind != STMT_BLOCK) return true;
  AutoCopy *k = a->copy;
  const Block *b = &s->u.block;
  SRef *sref = tirc_sref_find(k->s, s);
  bool reads =
      tirc_touches(sref, k->source, false) && (k->is_read || !tirc_only_adds(b, k->source));
  bool writes = tirc_touches(sref, k->source, true);
  require_declared(k, sref, reads, writes);
  a->reads = a->reads || reads;
  a->writes = a->writes || writes;
  if (k->is_read ? reads : writes) vec_push(k->s->c, k->blocks, sref);
  if (reads) vec_push(k->s->c, k->readers, sref);
  return false;
}

static void find_accesses(AutoCopy *k) {
  k->first_read = k->last_read = k->first_write = k->last_write = -1;
  for (int i = 0; i < k->n_items; i++) {
    Accesses a = {.copy = k};
    tirc_visit_stmts(k->items[i], see_access, &a);
    if (a.reads) k->last_read = i, k->first_read = k->first_read < 0 ? i : k->first_read;
    if (a.writes) k->last_write = i, k->first_write = k->first_write < 0 ? i : k->first_write;
  }
}

/* After the last write and before the first read of a read cache; after the last write of a write
 * cache. */
static void find_position(AutoCopy *k) {
  Sched *s = k->s;
  if (!k->blocks.n)
    tirc_refuse(s, k->loop->stmt, SERR_ACCESS_NOT_BELOW, "No block below loop %s %s %s.",
                tirc_name_of(k->loop), k->is_read ? "reads" : "writes", k->source->name);
  bool ordered = k->is_read ? k->last_write < k->first_read : k->last_read <= k->last_write;
  if (!ordered)
    tirc_refuse(s, k->loop->stmt, SERR_COPY_ORDER, "Below loop %s, %s is %s.",
                tirc_name_of(k->loop), k->source->name,
                k->is_read ? "written after, or together with, its first read"
                           : "read after its last write");
  k->position = k->is_read ? k->first_read : k->last_write + 1;
  k->from = k->is_read ? k->position : 0;
  k->to = k->is_read ? k->n_items : k->position;
}

/* --- the box -------------------------------------------------------------------------------- */

static void add_region(AutoCopy *k, Analyzer *a, const SRef *block, const Region *r, IntSet *hull,
                       bool first) {
  Tirc *c = k->s->c;
  const LoopDomain domain = tirc_loop_domain(k->s, block->parent, k->loop, k->cache->storage);
  const PtrMap sets = tirc_domain_sets(c, domain);
  Region in_loops = tirc_unbound_region(c, block->stmt, *r);
  for (int d = 0; d < k->source->ndim; d++) {
    IntSet one = tirc_box_of_range(a, in_loops.dims[d], &sets);
    hull[d] = first ? one : tirc_set_union(a, hull[d], one);
  }
}

#define bad_box(k, dim, ...)                                                                       \
  tirc_refuse(                                                                                     \
      (k)->s, (k)->loop->stmt, SERR_COPY_BOX,                                                      \
      "What loop %s accesses of %s in one iteration cannot be copied: %s in dimension %d.",        \
      tirc_name_of((k)->loop), (k)->source->name, tirc_format((k)->s->c, __VA_ARGS__), dim)

static void require_inside(AutoCopy *k, int dim) {
  Tirc *c = k->s->c;
  Analyzer *a = tirc_analyzer_around(k->s, k->loop);
  Range r = k->box[dim];
  if (!tirc_range_surely_in(a, r, tirc_whole_dim(c, k->source, dim)))
    bad_box(k, dim, "it may reach beyond the buffer (from %s, %s elements)",
            tirc_print_expr(c, r.min), tirc_print_expr(c, r.extent));
}

static void find_box(AutoCopy *k) {
  Tirc *c = k->s->c;
  Analyzer *a = tirc_analyzer(c);
  IntSet *hull = tirc_new_array(c, IntSet, k->source->ndim + 1);
  for (int i = 0; i < k->blocks.n; i++) {
    const Regions all = tirc_declared(tirc_block_of(k->blocks.at[i]), !k->is_read);
    for (int r = 0; r < all.n; r++)
      if (all.at[r].buffer == k->source)
        add_region(k, a, k->blocks.at[i], &all.at[r], hull,
                   i == 0 && &all.at[r] == tirc_region_of(all.n, all.at, k->source));
  }
  k->box = tirc_new_array(c, Range, k->source->ndim + 1);
  for (int d = 0; d < k->source->ndim; d++) {
    if (!hull[d].min || !hull[d].max) bad_box(k, d, "its bounds are not known");
    k->box[d] = tirc_range_of_set(a, hull[d], (Range){0});
    require_inside(k, d);
  }
}

/* --- what a write cache must hold ----------------------------------------------------------- */

static bool writes_box(AutoCopy *k, SRef *block, const char **missing) {
  const Region box = {k->source, k->box};
  return tirc_nest_writes_box(k->s, block, k->loop, tirc_bool(k->s->c, true), &box, missing);
}

static void require_box_written(AutoCopy *k) {
  const char *missing = NULL;
  for (int i = 0; i < k->blocks.n; i++)
    if (writes_box(k, k->blocks.at[i], &missing)) return;
  tirc_sched_error(
      k->s, k->blocks.at[0]->stmt, SERR_COPY_PARTIAL, tirc_missing_text(k->s->c, missing), NULL,
      "No block is known to write all of the box of %s that would be copied in each iteration of "
      "loop %s, so the copy would overwrite elements with values that were not computed.",
      k->source->name, tirc_name_of(k->loop));
}

/* Threads that share the cache copy what all of them hold of it, and would overwrite what another
 * block of theirs writes to the buffer. */
static void require_alone_among_threads(AutoCopy *k) {
  SRef *threads = NULL;
  const SRefs writers = tirc_writers_of(k->scope, k->source);
  for (SRef *r = k->loop->parent; r; r = r->parent)
    if (tirc_is_loop(r) && tirc_shared_under(k->cache->storage, tirc_loop_of(r)->axis)) threads = r;
  for (int i = 0; threads && i < writers.n; i++) {
    if (!tirc_is_ancestor(threads, writers.at[i]) || tirc_is_ancestor(k->loop, writers.at[i]))
      continue;
    tirc_sched_error(k->s, writers.at[i]->stmt, SERR_COPY_PARTIAL, NULL,
                     "take a scope of memory that each thread has for itself, such as \"local\"",
                     "The threads of loop %s share the cache of %s, and each of them would "
                     "overwrite what block %s writes in the others.",
                     tirc_name_of(threads), k->source->name, tirc_name_of(writers.at[i]));
  }
}

/* A block that writes the buffer outside of the loop, between two steps of a sum; NULL: none. */
static const Block *writes_between_steps(AutoCopy *k, SRef *sum) {
  SRef *steps = NULL;
  const Block *b = tirc_block_of(sum);
  const SRefs writers = tirc_writers_of(k->scope, k->source);
  for (SRef *r = k->loop->parent; r != k->scope; r = r->parent)
    if (b->init && tirc_moves(b, tirc_loop_of(r)->var, ITER_REDUCE)) steps = r;
  for (int i = 0; steps && i < writers.n; i++)
    if (tirc_is_ancestor(steps, writers.at[i]) && !tirc_is_ancestor(k->loop, writers.at[i]))
      return tirc_block_of(writers.at[i]);
  return NULL;
}

static const char *why_sum_is_lost(AutoCopy *k, SRef *block) {
  Tirc *c = k->s->c;
  if (!tirc_sums_start_in_scope(k->s, block))
    return tirc_format(c, "adds to sums in %s that its init does not start in its scope",
                       k->source->name);
  if (tirc_reads_other_output(k->s, block) ||
      (tirc_block_of(block)->init && tirc_reads_own_output(k->s, block, k->source)))
    return tirc_format(c, "reads elements of %s that are not the sum's own", k->source->name);
  const Block *other = writes_between_steps(k, block);
  return other ? tirc_format(c, "adds to sums in %s that block %s changes between their steps",
                             k->source->name, other->name)
               : NULL;
}

/* A sum that its init does not start anew below the scope adds to what the cache does not hold, and
 * so does one that another block changes on the way; one that reads other sums may read what is not
 * there yet. */
static void require_sums_started(AutoCopy *k) {
  for (int i = 0; i < k->blocks.n; i++) {
    const char *why = why_sum_is_lost(k, k->blocks.at[i]);
    if (!why) continue;
    tirc_refuse(k->s, k->blocks.at[i]->stmt, SERR_READS_OWN_OUTPUT,
                "Block %s %s, but the cache would not contain them.", tirc_name_of(k->blocks.at[i]),
                why);
  }
}

typedef enum Written { WRITTEN_NOT, WRITTEN_PARTLY, WRITTEN_ALL } Written;

/* What of its share the writer has surely written when the reader, which comes after it, runs. */
static Written written_for(AutoCopy *k, SRef *writer, SRef *reader) {
  const Block *b = tirc_block_of(writer);
  const Region *written = tirc_declared_write(b, k->source);
  if (!written || !tirc_writes_box(k->s, writer, written)) return WRITTEN_NOT;
  if (writes_box(k, writer, NULL)) return WRITTEN_ALL;
  return tirc_runs_whenever(k->s, writer, reader) ? WRITTEN_PARTLY : WRITTEN_NOT;
}

/* Region cover takes all writers together, so that each must do its share, or one everything. */
static bool follows_writers(AutoCopy *k, SRef *reader) {
  const SRefs writers = tirc_writers_of(k->scope, k->source);
  bool any = false, all = true;
  for (int i = 0; i < writers.n; i++) {
    if (!tirc_reads_from(writers.at[i], reader) || !tirc_is_ancestor(k->loop, writers.at[i]))
      continue;
    const Written written = written_for(k, writers.at[i], reader);
    if (written == WRITTEN_ALL) return true;
    all &= written == WRITTEN_PARTLY;
    any = true;
  }
  return any && all;
}

/* A reader that turns to the write cache finds there only what was written below the loop. */
static void require_readers_served(AutoCopy *k) {
  const SRefs writers = tirc_writers_of(k->scope, k->source);
  const SRef *outside = NULL;
  for (int i = 0; i < writers.n; i++)
    if (!tirc_is_ancestor(k->loop, writers.at[i])) outside = writers.at[i];
  for (int i = 0; i < k->readers.n; i++) {
    SRef *r = k->readers.at[i];
    if (!outside && tirc_finds_written(k->s, r, k->source) && follows_writers(k, r)) continue;
    tirc_sched_error(
        k->s, r->stmt, SERR_READ_BEFORE_WRITE, NULL,
        "use a loop around all blocks that write the buffer, and give a reduction an init",
        "Block %s reads %s, but the cache would not contain what it reads: %s.", tirc_name_of(r),
        k->source->name,
        outside ? tirc_format(k->s->c, "block %s outside of the loop also writes it",
                              tirc_name_of(outside))
                : "nothing below the loop has written it by then");
  }
}

/* --- the rewriting -------------------------------------------------------------------------- */

static bool see_view(Visitor *v, Stmt s) {
  AutoCopy *k = v->self;
  if (s->kind != STMT_BLOCK) return true;
  for (int i = 0; i < s->u.block.n_matches; i++)
    if (s->u.block.matches[i].source.buffer == k->source)
      tirc_refuse(k->s, NULL, SERR_CACHE_ALIAS, "%s cannot be cached: %s is a view of it.",
                  k->source->name, s->u.block.matches[i].buffer->name);
  return true;
}

static bool see_pointer(Visitor *v, Expr e) {
  AutoCopy *k = v->self;
  if (e == k->source->data)
    tirc_refuse(k->s, NULL, SERR_CACHE_ALIAS, "%s cannot be cached: a block uses its data pointer.",
                k->source->name);
  return true;
}

static void require_no_alias(AutoCopy *k) {
  Visitor v = {.expr = see_pointer, .stmt = see_view, .self = k};
  for (int i = k->from; i < k->to; i++) tirc_visit_stmt(&v, k->items[i]);
}

static bool see_load(Visitor *v, Expr e) {
  AutoCopy *k = v->self;
  if (e->op == OP_LOAD && e->u.buffer == k->source)
    tirc_sched_error(
        k->s, NULL, SERR_COPY_BOX, NULL, "copy it at an outer loop",
        "The extent of a loop, a let, or a domain, binding or predicate of a block below loop %s "
        "reads %s, which no region says: it may read more than would be copied.",
        tirc_name_of(k->loop), k->source->name);
  return true;
}

static bool hides_reads(const SRef *r, Buffer b) {
  const int n = r->n_accesses[0] - tirc_block_of(r)->n_reads;
  return tirc_region_of(n, r->accesses[0] + tirc_block_of(r)->n_reads, b);
}

/* What a block reads is in its regions; not so what decides where and whether it runs, nor always
 * what decides that of blocks inside of it. */
static bool see_bounds(Visitor *v, Stmt s) {
  const AutoCopy *k = v->self;
  tirc_visit_head(&(Visitor){.expr = see_load, .self = v->self}, s);
  const SRef *r = s->kind == STMT_BLOCK ? tirc_sref_find(k->s, s) : NULL;
  return !r || (r->scope->n_blocks && hides_reads(r, k->source));
}

static bool is_computed_below(Sched *s, SRef *loop, Buffer b) {
  const SRefs blocks = tirc_child_blocks(s, loop);
  for (int i = 0; i < blocks.n; i++)
    if (tirc_touches(blocks.at[i], b, true)) return true;
  return false;
}

static bool is_computed(const void *copy, Expr e) {
  const AutoCopy *k = copy;
  return e->op == OP_LOAD && is_computed_below(k->s, k->loop, e->u.buffer);
}

/* The copy computes its box whether or not the reader, behind a condition, does. */
static void require_known(AutoCopy *k, Analyzer *a, Expr bound) {
  const Expr failing = tirc_failing_part(k->s, k->loop, a, bound, tirc_body_of(k->loop->stmt));
  const char *why = NULL;
  const Expr computed = tirc_find_expr(bound, is_computed, k);
  if (computed)
    why = tirc_format(k->s->c, "reads %s, which is computed below loop %s itself",
                      computed->u.buffer->name, tirc_name_of(k->loop));
  if (failing) why = tirc_format(k->s->c, "may %s", tirc_how_it_fails(k->s->c, failing));
  if (why)
    tirc_refuse(k->s, NULL, SERR_COPY_BOX, "The copied box of %s starts at %s, which %s.",
                k->source->name, tirc_print_expr(k->s->c, bound), why);
}

static void require_known_box(AutoCopy *k) {
  Analyzer *a = tirc_analyzer_around(k->s, k->loop);
  for (int i = 0; i < k->source->ndim; i++) {
    require_known(k, a, k->box[i].min);
    require_known(k, a, k->box[i].extent);
  }
}

static void require_all_declared(AutoCopy *k) {
  for (int i = k->from; i < k->to; i++) tirc_visit_stmts(k->items[i], see_bounds, k);
}

typedef struct CopyIters {
  Mutator m;
  AutoCopy *copy;
  VEC(IterVar) iters;
  VEC(Expr) values;
  PtrMap vars;
} CopyIters;

/* Loops around, of outer scopes too, become iterators of the copy, in the order in which the box
 * names them. */
static Expr bind_loop(Mutator *m, Expr e) {
  CopyIters *ci = m->self;
  if (e->op != OP_VAR) return tirc_mutate_expr_children(m, e);
  Expr known = tirc_map_get(&ci->vars, e);
  if (known) return known;
  for (const SRef *r = ci->copy->loop; r; r = r->parent) {
    if (!tirc_is_loop(r) || tirc_loop_of(r)->var != e) continue;
    const For *loop = tirc_loop_of(r);
    const DType own = e->dtype; /* as T.axis.spatial makes them: */
    const DType t = own.bits < 32 ? DT_INT32 : own.code == TYPE_INT ? own : DT_INT64;
    Expr var = tirc_var(m->c, tirc_format(m->c, "v%d", ci->iters.n), t);
    const Range values =
        tirc_range(tirc_cast(m->c, t, loop->min), tirc_cast(m->c, t, loop->extent));
    vec_push(m->c, ci->iters, ((IterVar){var, values, ITER_SPATIAL}));
    vec_push(m->c, ci->values, e);
    const Expr as_loop = tirc_cast(m->c, e->dtype, var);
    tirc_map_set(m->c, &ci->vars, e, as_loop);
    return as_loop;
  }
  return e;
}

static Stmt make_copy(AutoCopy *k) {
  Tirc *c = k->s->c;
  int n = k->source->ndim;
  Buffer from = k->is_read ? k->source : k->cache, to = k->is_read ? k->cache : k->source;
  CopyIters ci = {.m = {.c = c, .expr = bind_loop, .self = &ci}, .copy = k};
  Range *dims = tirc_new_array(c, Range, n + 1);
  for (int i = 0; i < n; i++) {
    dims[i].min = tirc_mutate_expr(&ci.m, k->box[i].min);
    dims[i].extent = tirc_mutate_expr(&ci.m, k->box[i].extent);
  }
  Expr *loops = tirc_new_array(c, Expr, n + 1), *at = tirc_new_array(c, Expr, n + 1);
  for (int i = 0; i < n; i++) {
    loops[i] = tirc_var(c, tirc_format(c, "ax%d", i), dims[i].extent->dtype);
    at[i] = tirc_add(c, dims[i].min, loops[i]);
  }
  Stmt body = tirc_store(c, to, n, at, tirc_load(c, from, n, at));
  for (int i = n; i-- > 0;) body = tirc_for_serial(c, loops[i], dims[i].extent, body);
  Region read = {from, dims}, write = {to, dims};
  return tirc_block(c, &(Block){.name = k->cache->name,
                                .n_iters = ci.iters.n,
                                .iters = ci.iters.at,
                                .iter_values = ci.values.at,
                                .predicate = tirc_bool(c, true),
                                .n_reads = 1,
                                .reads = &read,
                                .n_writes = 1,
                                .writes = &write,
                                .annotations = tirc_attrs_set(
                                    c, (Attrs){0}, tirc_key(KEY_AUTO_COPY), tirc_int32(c, 1)),
                                .body = body});
}

static Stmt with_copy(AutoCopy *k, Stmt copy) {
  Tirc *c = k->s->c;
  PtrMap buffers = {0};
  tirc_map_set(c, &buffers, k->source, k->cache);
  Stmt *items = tirc_new_array(c, Stmt, k->n_items + 1);
  int n = 0;
  for (int i = 0; i <= k->n_items; i++) {
    if (i == k->position) items[n++] = copy;
    if (i == k->n_items) break;
    items[n++] =
        i >= k->from && i < k->to ? tirc_substitute_buffers(c, k->items[i], &buffers) : k->items[i];
  }
  Stmt loop = tirc_with_body(c, k->loop->stmt, tirc_seq(c, n, items));
  Stmt scope = tirc_replace_node(k->s, k->scope->stmt, k->loop, loop);
  return tirc_with_allocs(c, scope, tirc_body_of(scope), 1, &k->cache);
}

static void copy_at(Sched *s, const Value *args, Value *result, bool is_read) {
  AutoCopy k = {.s = s, .loop = tirc_sref_of_value(s, args[0]), .is_read = is_read};
  SRef *block = tirc_sref_of_value(s, args[1]);
  const char *storage_scope = args[3].u.s;
  k.source = tirc_nth_buffer(s, block, args[2], !is_read);
  tirc_require_storage_scope(s, storage_scope);
  const struct BufferNode dense = tirc_dense(tirc_buffer_with_scope(s->c, k.source, storage_scope));
  k.cache = tirc_buffer_copy(s->c, &dense);
  k.scope = tirc_require_scope_root(s, k.loop, true);
  tirc_require_no_loose_use(s, k.scope, block);
  k.n_items = tirc_body_items(s->c, tirc_loop_of(k.loop)->body, &k.items);
  find_accesses(&k);
  find_position(&k);
  require_no_alias(&k);
  require_all_declared(&k);
  find_box(&k);
  require_known_box(&k);
  if (!is_read) require_sums_started(&k);
  if (!is_read) require_box_written(&k);
  if (!is_read) require_alone_among_threads(&k);
  if (!is_read) require_readers_served(&k);
  Stmt copy = make_copy(&k);
  tirc_sched_replace(s, k.scope, with_copy(&k, copy));
  tirc_require_independent_around(s, 1, (SRef *[]){tirc_sref_of_block(s, copy->u.block.id)});
  *result = tirc_value_block(copy->u.block.id);
}

void tirc_prim_read_at(Sched *s, const Value *args, Value *result) {
  copy_at(s, args, result, true);
}

void tirc_prim_write_at(Sched *s, const Value *args, Value *result) {
  copy_at(s, args, result, false);
}
