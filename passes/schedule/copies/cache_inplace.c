/* cache_inplace(block, i, scope): a block that changes a buffer in place does so in a cache.
 *
 *   for i:                                     for i:
 *       block: A[i] = f(A[i])           ->         for ax0: A_local[v0] = A[v0]
 *                                                  block: A_local[i] = f(A_local[i])
 *                                                  for ax0: A[v0] = A_local[v0]
 *
 * The copies stand right before and after the block in its innermost loop, and move the regions
 * that the block declares to read and to write. The buffer must be one of its reads and of its
 * writes (not-read-write); it may read no more of it than it declares (reads-own-output), as the
 * blocks of a sum do that reads other sums; what it reads must be covered by its producers
 * (region-not-covered); and all that is copied back must have been written, or copied in before
 * (copy-partial). */
#include "copies.h"

typedef struct Inplace {
  Sched *s;
  SRef *block, *scope, *where;
  Buffer source;
  const Region *read, *write;
  Stmt item; /* of where's body, with the block in it */
  int index; /* of that item */
} Inplace;

static const Region *only_region(Inplace *p, int n, const Region *at) {
  const Region *found = NULL;
  for (int i = 0; i < n; i++) {
    if (at[i].buffer != p->source) continue;
    if (found)
      tirc_refuse(p->s, p->block->stmt, SERR_DUPLICATE_REGION,
                  "Block %s declares more than one region of %s.", tirc_name_of(p->block),
                  p->source->name);
    found = &at[i];
  }
  return found;
}

static void find_regions(Inplace *p) {
  const Block *b = tirc_block_of(p->block);
  p->read = only_region(p, b->n_reads, b->reads);
  p->write = only_region(p, b->n_writes, b->writes);
  if (p->read && p->write) return;
  tirc_refuse(p->s, p->block->stmt, SERR_NOT_READ_WRITE, "Block %s %s %s, but does not %s it.",
              b->name, p->read ? "reads" : "writes", p->source->name, p->read ? "write" : "read");
}

static bool reads_all(Inplace *p) {
  const Region all = tirc_whole_buffer(p->s->c, p->source);
  return tirc_region_surely_in(tirc_analyzer(p->s->c), &all, p->read);
}

/* What sums read of their own output, they do not declare. */
static void require_declared_reads(Inplace *p) {
  Access access = tirc_block_access(p->s->c, p->block->stmt);
  const bool hides = !reads_all(p) && tirc_reads_other_output(p->s, p->block);
  for (int i = 0; i < access.reads.n; i++) {
    const Region *r = &access.reads.at[i];
    if (r->buffer != p->source ||
        (!hides && tirc_region_surely_in(tirc_analyzer(p->s->c), r, p->read)))
      continue;
    tirc_sched_error(
        p->s, p->block->stmt, SERR_READS_OWN_OUTPUT, NULL,
        "declare everything that the block reads from the buffer in T.reads",
        "Block %s reads more of %s than it declares, and the copy would omit that part.",
        tirc_name_of(p->block), p->source->name);
  }
}

static void require_defined_copy(Inplace *p) {
  if (tirc_region_surely_in(tirc_analyzer(p->s->c), p->write, p->read) ||
      (tirc_writes_box(p->s, p->block, p->write) &&
       !tirc_is_guarded(p->s, p->block, p->block->parent)))
    return;
  tirc_sched_error(
      p->s, p->block->stmt, SERR_COPY_PARTIAL, NULL,
      "let the declared reads of the buffer include its declared writes",
      "Block %s declares to write parts of %s that it does not read, and is not known to write all "
      "of them, so the copy back could move elements that were not computed.",
      tirc_name_of(p->block), p->source->name);
}

/* The item of the innermost loop's body, or of the scope's. */
static void find_place(Inplace *p) {
  p->where = p->block->parent;
  p->index = tirc_item_with(p->s, p->where, p->block, &p->item);
}

/* In the other branch of an if, as an example: the copies stand around that, too. */
static void require_item_alone(Inplace *p) {
  const unsigned uses = tirc_uses_of(p->item, p->source, p->block->stmt, NULL);
  if (!(uses & (USE_LOAD | USE_STORE | USE_VIEW | USE_OTHER | USE_OTHER_VIEW))) return;
  tirc_sched_mark(p->s, p->item);
  tirc_refuse(
      p->s, p->block->stmt, SERR_CACHE_ALIAS,
      "%s cannot be cached: the statement that contains block %s uses it outside of the block.",
      p->source->name, tirc_name_of(p->block));
}

static void require_no_alias(Inplace *p) {
  const unsigned uses = tirc_uses_of(p->block->stmt, p->source, NULL, NULL);
  const bool odd = p->source->strides || p->source->elem_offset;
  if (!(uses & USE_OTHER) && !(odd && (uses & USE_POINTER))) return;
  tirc_refuse(p->s, p->block->stmt, SERR_CACHE_ALIAS,
              "%s cannot be cached: block %s accesses its memory in another way.", p->source->name,
              tirc_name_of(p->block));
}

/* The copies run where the predicate lets the block run. */
static void require_known_start(Inplace *p, const CacheStage *stage) {
  Tirc *c = p->s->c;
  Block runs = *tirc_block_of(p->block);
  Analyzer *a = tirc_analyzer_around(p->s, p->block->parent);
  tirc_enter_constraint(a, tirc_touching_condition(p->s, p->block));
  runs.predicate = tirc_bool(c, true);
  for (int i = 0; i < p->source->ndim; i++)
    tirc_require_known_bound(p->s, stage, a, stage->region[i].min, tirc_block(c, &runs));
}

/* The copy of a region, in terms of the loops around. Where the block does not run, nothing is
 * copied either. */
static CacheStage make_stage(Inplace *p, const Region *declared, const char *storage_scope,
                             bool is_write) {
  Tirc *c = p->s->c;
  CacheStage stage = {.source = p->source,
                      .scope = p->scope,
                      .where = p->where,
                      .region = tirc_unbound_region(c, p->block->stmt, *declared).dims,
                      .full = true,
                      .is_write = is_write};
  require_known_start(p, &stage);
  tirc_make_copy(p->s, &stage, storage_scope);
  stage.copy = tirc_add_predicate(c, stage.copy, tirc_touching_condition(p->s, p->block));
  return stage;
}

static Stmt with_copies(Inplace *p, const CacheStage *in, const CacheStage *out) {
  Tirc *c = p->s->c;
  PtrMap to_cache = {0}, one_cache = {0};
  tirc_map_set(c, &to_cache, p->source, in->cache);
  tirc_map_set(c, &one_cache, out->cache, in->cache);
  Stmt block = tirc_substitute_buffers(c, p->block->stmt, &to_cache);
  Stmt body = tirc_body_of(p->where->stmt);
  body = tirc_insert_item(c, body, p->index + 1, tirc_substitute_buffers(c, out->copy, &one_cache));
  body = tirc_insert_item(c, body, p->index, in->copy);
  Stmt where = tirc_replace_node(p->s, tirc_with_body(c, p->where->stmt, body), p->block, block);
  Stmt scope =
      p->where == p->scope ? where : tirc_replace_node(p->s, p->scope->stmt, p->where, where);
  return tirc_with_allocs(c, scope, tirc_body_of(scope), 1, &in->cache);
}

void tirc_prim_cache_inplace(Sched *s, const Value *args, Value *result) {
  Inplace p = {.s = s, .block = tirc_sref_of_value(s, args[0])};
  const char *storage_scope = args[2].u.s;
  tirc_require_storage_scope(s, storage_scope);
  p.source = tirc_nth_buffer(s, p.block, args[1], false);
  p.scope = tirc_require_scope_root(s, p.block, false);
  tirc_require_no_loose_use(s, p.scope, p.block);
  tirc_require_covered_readers(s, &(CacheStage){.source = p.source, .scope = p.scope});
  find_regions(&p);
  require_declared_reads(&p);
  require_defined_copy(&p);
  require_no_alias(&p);
  find_place(&p);
  require_item_alone(&p);
  CacheStage in = make_stage(&p, p.read, storage_scope, false);
  CacheStage out = make_stage(&p, p.write, storage_scope, true);
  tirc_sched_replace(s, p.scope, with_copies(&p, &in, &out));
  tirc_require_independent_around(s, 1, (SRef *[]){tirc_sref_of_block(s, in.copy_id)});
  Value copies[] = {tirc_value_block(in.copy_id), tirc_value_block(out.copy_id)};
  *result = tirc_value_list(s->c, VAL_LIST, 2, copies);
}
