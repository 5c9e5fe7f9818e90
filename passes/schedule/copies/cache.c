/* cache_read and cache_write: a copy of a buffer in another storage scope.
 *
 * cache_read(block, i, scope): the readers of the block's i-th read buffer read a copy of it.
 *
 *   for ...: C[..] = A[..]      ->    for ax0, ax1: A_shared[v0, v1] = A[v0, v1]
 *                                     for ...: C[..] = A_shared[..]
 *
 * cache_write(block, i, scope): the block writes to a cache, and a copy brings it to the buffer.
 *
 *   for ...: C[..] = A[..]      ->    for ...: C_local[..] = A[..]
 *                                     for ax0, ax1: C[v0, v1] = C_local[v0, v1]
 *
 * A reduction block moves with its init: the partial sums stay in the cache. That is also why the
 * block must be the buffer's only writer: an init that decompose_reduction has made a block of its
 * own would go on writing the buffer while the update adds to the cache.
 *
 * What is copied is what the writer writes below the place of the copy, or for a buffer that the
 * scope only reads, what the scope declares to read of it (all of it if a block inside reads more).
 * A buffer is as good as an input, too, where all named consumers have read it before its writer.
 * A copy at the scope's own level makes the cache just that large; a copy inside of loops leaves it
 * the shape of the buffer. */
#include "copies.h"
#include "passes/schedule/state/state.h"

SRef *tirc_only_writer(Sched *s, const CacheStage *stage) {
  const SRefs writers = tirc_writers_of(stage->scope, stage->source);
  if (writers.n <= 1) return writers.n ? writers.at[0] : NULL;
  bool has_init = false;
  for (int i = 0; i < writers.n; i++) {
    tirc_sched_mark(s, writers.at[i]->stmt);
    const char *name = tirc_name_of(writers.at[i]);
    size_t length = strlen(name);
    has_init = has_init || (length > 5 && strcmp(name + length - 5, "_init") == 0);
  }
  const char *update = tirc_hint_of_update(s, stage->scope, stage->source);
  tirc_sched_error(
      s, NULL, SERR_NOT_SINGLE_WRITER,
      tirc_format(s->c, "blocks %s and %s both write %s", tirc_name_of(writers.at[0]),
                  tirc_name_of(writers.at[1]), stage->source->name),
      has_init ? NULL
      : update ? update
               : "cache a buffer that one block writes, or join its writers",
      "The buffer %s is expected to be written by single block, but got %d blocks who write it.",
      stage->source->name, writers.n);
}

/* --- checks -------------------------------------------------------------------------------- */

void tirc_require_covered_readers(Sched *s, const CacheStage *stage) {
  const SRefs readers = tirc_readers_of(stage->scope, stage->source);
  for (int i = 0; i < readers.n; i++) {
    if (stage->is_write && !tirc_is_named(stage, readers.at[i])) continue;
    if (stage->is_write) tirc_require_not_in_shapes(s, readers.at[i], stage->source);
    if (tirc_finds_written(s, readers.at[i], stage->source) &&
        (!stage->is_write || tirc_runs_whenever(s, stage->writer, readers.at[i])))
      continue;
    tirc_refuse(s, readers.at[i]->stmt, SERR_CACHE_REGION_COVER,
                "Block %s reads parts of %s that its producers in the scope do not write.",
                tirc_name_of(readers.at[i]), stage->source->name);
  }
}

/* Whether a `while` stands around both, below the node that is the parent of both. */
static bool stand_in_while(Sched *s, SRef *a, SRef *b) {
  const Steps of_a = tirc_steps_between(s->c, a), of_b = tirc_steps_between(s->c, b);
  for (int i = 0; i < of_a.n; i++)
    for (int k = 0; k < of_b.n; k++)
      if (of_a.at[i].stmt->kind == STMT_WHILE && of_a.at[i].stmt == of_b.at[k].stmt) return true;
  return false;
}

static SRef *child_towards(const SRef *high, SRef *low) {
  while (low->parent != high) low = low->parent;
  return low;
}

/* The block may read what the writer, which stands behind it, stored in an iteration before: the
 * loop or block around the writer in which a copy is made often enough; the scope if there is no
 * such iteration. */
static SRef *mixing_place(Sched *s, const CacheStage *stage, SRef *reader) {
  const SRefs both = {(SRef *[]){reader, stage->writer}, 2, 2};
  SRef *r = tirc_common_ancestor(2, both.at), *writer = child_towards(r, stage->writer);
  if (stand_in_while(s, child_towards(r, reader), writer)) return writer;
  while (
      r != stage->scope && !stand_in_while(s, r, r) &&
      (tirc_is_int(tirc_loop_of(r)->extent, 1) || tirc_iterations_apart(s, r, both, stage->source)))
    r = r->parent;
  return r;
}

/* A block that reads the buffer before the writer sees what the buffer held before, or what an
 * earlier iteration of a common loop wrote. The first is undefined for a buffer that the scope
 * allocates; otherwise neither survives when the block turns to the cache, nor the second when the
 * copy back waits for the end of that loop. */
void tirc_require_readers_after_writer(Sched *s, const CacheStage *stage) {
  const SRefs readers = stage->writer ? tirc_readers_of(stage->scope, stage->source) : (SRefs){0};
  for (int i = 0; i < readers.n; i++) {
    SRef *r = readers.at[i];
    if (r == stage->writer || tirc_reads_from(stage->writer, r)) continue;
    SRef *mixing = mixing_place(s, stage, r);
    const bool to_cache = tirc_turns_to_cache(stage, r);
    if (to_cache ? mixing == stage->scope && tirc_is_own_buffer(stage)
                 : !stage->is_write || tirc_is_ancestor(mixing, stage->where))
      continue;
    tirc_sched_mark(s, r->stmt);
    tirc_refuse(s, stage->writer->stmt, SERR_READ_BEFORE_WRITE,
                "Block %s reads %s before block %s writes it, so it would see the copy too %s.",
                tirc_name_of(r), stage->source->name, tirc_name_of(stage->writer),
                to_cache ? "early" : "late");
  }
}

/* Whether all that turn to the cache read what the buffer held when the scope began: the writer
 * changes nothing for them, and the copy can be the first thing that the scope does. */
static bool is_read_before(Sched *s, const CacheStage *stage) {
  const SRefs readers = tirc_readers_of(stage->scope, stage->source);
  bool any = false;
  for (int i = 0; i < readers.n; i++) {
    if (!tirc_is_named(stage, readers.at[i])) continue;
    any = true;
    if (readers.at[i]->order >= stage->writer->order ||
        mixing_place(s, stage, readers.at[i]) != stage->scope)
      return false;
  }
  return any && !tirc_is_own_buffer(stage);
}

/* --- the primitives ------------------------------------------------------------------------ */

/* The named consumers; a block that holds others is one with all of them. */
static void take_consumers(Sched *s, CacheStage *stage, Value blocks) {
  for (int i = 0; blocks.kind != VAL_NONE && i < blocks.u.list->n; i++) {
    SRef *consumer = tirc_sref_of_value(s, blocks.u.list->at[i]);
    if (tirc_scope_root(consumer) != stage->scope)
      tirc_refuse(
          s, consumer->stmt, SERR_CACHE_CONSUMER,
          "Block %s of consumer_blocks is not a block of the scope %s, in which %s is cached.",
          tirc_name_of(consumer), tirc_name_of(stage->scope), stage->source->name);
    vec_push(s->c, stage->consumers, consumer);
  }
}

/* A cache of the box alone is indexed from where the box starts, which blocks of the scope must be
 * able to say: by iterators of the scope's block, not by loops outside of it. */
static void require_own_start(Sched *s, const CacheStage *stage) {
  const Region box = {stage->source, stage->region};
  for (SRef *r = stage->scope->parent; r && !stage->full; r = r->parent)
    if (tirc_is_loop(r) && tirc_region_uses(&box, tirc_loop_of(r)->var))
      tirc_refuse(s, r->stmt, SERR_LOOP_VAR_ESCAPES,
                  "The box of %s that would be cached in block %s depends on loop %s.",
                  stage->source->name, tirc_name_of(stage->scope), tirc_name_of(r));
}

static Value finish(Sched *s, CacheStage *stage, const char *storage_scope) {
  if (stage->writer) tirc_require_no_loose_use(s, stage->scope, stage->writer);
  stage->full = tirc_is_loop(stage->where);
  require_own_start(s, stage);
  if (stage->is_write) tirc_require_readers_in_box(s, stage);
  tirc_require_readers_with_cache(s, stage);
  if (stage->is_write) tirc_require_no_own_reads(s, stage);
  tirc_require_readers_after_writer(s, stage);
  tirc_make_copy(s, stage, storage_scope);
  Stmt writer = stage->writer ? stage->writer->stmt : NULL;
  tirc_sched_replace(s, stage->scope, tirc_install_copy(s, stage));
  if (writer && !tirc_has_region_cover(s, tirc_sref_of_block(s, stage->copy_id)))
    tirc_refuse(s, writer, SERR_CACHE_REGION_COVER,
                "Block %s does not write all of the box of %s that would be copied, so the copy "
                "would move elements that nobody wrote.",
                writer->u.block.name, stage->source->name);
  const uint32_t users[] = {stage->copy_id, writer ? writer->u.block.id : 0};
  for (int i = 0; i < (writer ? 2 : 1); i++)
    tirc_require_independent_around(s, 1, (SRef *[]){tirc_sref_of_block(s, users[i])});
  return tirc_value_block(stage->copy_id);
}

static Value cache(Sched *s, const Value *args, bool is_write) {
  SRef *block = tirc_sref_of_value(s, args[0]);
  const char *storage_scope = args[2].u.s;
  tirc_require_storage_scope(s, storage_scope);
  CacheStage stage = {.source = tirc_nth_buffer(s, block, args[1], is_write), .is_write = is_write};
  stage.scope = tirc_require_scope_root(s, block, false);
  tirc_require_no_loose_use(s, stage.scope, block);
  if (!is_write) tirc_require_covered_readers(s, &stage);
  take_consumers(s, &stage, args[3]);
  stage.writer = tirc_only_writer(s, &stage);
  if (is_write) tirc_require_covered_readers(s, &stage);
  if (!is_write && stage.writer && is_read_before(s, &stage)) stage.writer = NULL;
  if (stage.writer) {
    tirc_place_copy(s, &stage);
    tirc_box_of_writer(s, &stage);
  } else {
    stage.where = stage.scope;
    stage.index = 0;
    tirc_box_of_input(s, &stage);
  }
  return finish(s, &stage, storage_scope);
}

void tirc_prim_cache_read(Sched *s, const Value *args, Value *result) {
  *result = cache(s, args, false);
}

void tirc_prim_cache_write(Sched *s, const Value *args, Value *result) {
  *result = cache(s, args, true);
}
