/* The room of primitives that put a copy of a buffer into a program: caches, reindexed copies,
 * staged copies at a loop, and smaller memory for what lives shortly.
 *
 * Decided here: where the copy stands (cache_place.c), which box of the buffer it moves so that no
 * element is copied that nobody wrote and none is missing that is read (cache_box.c), and how the
 * other blocks come to use it (cache_stage.c). Whether a nest writes all of a box is asked of
 * meaning/cover.c. */
#ifndef TIRC_SCHEDULE_COPIES_H
#define TIRC_SCHEDULE_COPIES_H

#include "passes/schedule/shape/shape.h"

/* --- caches ----------------------------------------------------------------------------------- */

/* What the primitives that put a copy of a buffer into a program share: where the copy stands,
 * which box of the buffer it moves, and how the other blocks come to use the cache. */

/* One cache: `source` is the program's buffer, `cache` its copy in another storage scope.
 *
 *   for ax0, ax1 in T.grid(...):                the extents of `region`
 *       with T.block("<source>_<scope>"):
 *           cache[v0, v1] = source[v0, v1]      reads; the other way round for writes
 */
typedef struct CacheStage {
  Buffer source, cache;
  SRef *scope;     /* the block in which source is cached and the cache is allocated */
  SRef *writer;    /* the only block of the scope that writes source, or NULL */
  bool is_write;   /* cache_write: the writer moves to the cache, the copy goes back */
  SRefs consumers; /* the blocks that were named; n = 0: all of them */

  SRef *where;         /* the loop or scope block below which the copy is inserted ... */
  int index;           /* ... before this item of its body */
  const Range *region; /* source->ndim: what is copied */
  Expr condition;      /* NULL: always */
  bool full;        /* cache has source's shape; otherwise region's, and its indices start at 0 */
  Stmt copy;        /* the nest of the copy */
  uint32_t copy_id; /* its block */
} CacheStage;

static inline bool tirc_is_named(const CacheStage *stage, const SRef *block) {
  return tirc_is_among(block, stage->consumers);
}
static inline bool tirc_turns_to_cache(const CacheStage *stage, const SRef *reader) {
  return tirc_is_named(stage, reader) || (!stage->is_write && !stage->consumers.n);
}

/* TVM's CacheLocDetector: right after the writer and before the first of its consumers, as deep as
 * both allow; at the end of the scope when nothing consumes. Sets where and index. */
void tirc_place_copy(Sched *s, CacheStage *stage);
/* Makes `cache` (named <source>_<scope>), `copy` and `copy_id` from the rest. */
void tirc_make_copy(Sched *s, CacheStage *stage, const char *storage_scope);
/* The scope block with cache and copy in it, the blocks concerned using the cache. */
Stmt tirc_install_copy(Sched *s, const CacheStage *stage);

/* The only block that writes the buffer in the scope; NULL when none does. Raises
 * not-single-writer. */
SRef *tirc_only_writer(Sched *s, const CacheStage *stage);
/* No block that reads the buffer before the writer may come to see the copy too early or too late.
 * Raises read-before-write. */
void tirc_require_readers_after_writer(Sched *s, const CacheStage *stage);
/* The readers of the buffer in the scope must find all that they read written by then. A write
 * cache concerns those only that turn to it. Raises region-not-covered. */
void tirc_require_covered_readers(Sched *s, const CacheStage *stage);
/* Whether the scope allocates the buffer itself. */
static inline bool tirc_is_own_buffer(const CacheStage *stage) {
  return tirc_allocator_of(stage->scope, stage->source) == stage->scope;
}

/* Both set `region`, the second one of a buffer that nothing in the scope writes, and the first one
 * `condition`. Raise region-not-covered where what is copied may not have been written, or where a
 * reader may look outside of it, and duplicate-region. */
/* The box (sets, one a dimension) of a buffer that the block uses while the loops between it and
 * `high` run: what it declares, written in loop variables, but for what the predicates of blocks
 * inside of it leave out (cache_nested.c). */
const IntSet *tirc_used_box(Sched *s, Analyzer *a, SRef *block, Region declared, bool write,
                            SRef *high);
/* Whether all that the block reads of it, or writes, stands in blocks with predicates. */
bool tirc_uses_less(Sched *s, SRef *block, Buffer buffer, bool write);
void tirc_box_of_writer(Sched *s, CacheStage *stage);
void tirc_box_of_input(Sched *s, CacheStage *stage);
/* The copy computes its bounds whether or not the block, behind a condition, does so. Raises
 * region-not-covered where that may fail; `run` runs whenever the copy does. */
void tirc_require_known_bound(Sched *s, const CacheStage *stage, Analyzer *a, Expr bound, Stmt run);
/* A reader that turns to a cache of the box alone must not look outside of it, as one may that runs
 * where a predicate about a loop around both leaves the writer out. Raises region-not-covered. */
void tirc_require_readers_in_box(Sched *s, const CacheStage *stage);
/* Nor must it run where a condition keeps the cache from being filled: its buffer held something
 * else there. A symbolic extent is taken to be at least 1. Raises region-not-covered. */
void tirc_require_readers_with_cache(Sched *s, const CacheStage *stage);
/* A block that moves to the cache finds nothing there but what it wrote itself. Raises
 * reads-own-output. */
void tirc_require_no_own_reads(Sched *s, const CacheStage *stage);

/* --- reindexed copies ------------------------------------------------------------------------- */

/* What reindex and reindex_cache_read / reindex_cache_write share: a copy of what one block
 * accesses of a buffer, in an order of the block's choosing. */

/* The block uses copy[indices] where it used source[old]; a stage of its own moves
 *
 *   copy[..] = source[..]      before the block reads, or
 *   source[..] = copy[..]      after it wrote
 */
typedef struct Reindex {
  Sched *s;
  Tirc *c;
  SRef *block, *scope;
  Buffer source, copy;
  bool is_write;
  const Expr *old;     /* source->ndim indices in terms of the block's iterators */
  const Expr *indices; /* copy->ndim */
  bool conditional;    /* no store (of a write) or load is sure to happen in each instance */
  SRef *where;         /* the stage is inserted into the body of this loop or block ... */
  int index;           /* ... before this item */
  Stmt stage;
} Reindex;

/* Whether the block both reads and writes the source. */
static inline bool tirc_goes_both_ways(const Reindex *r) {
  return r->is_write ? tirc_reads_own_output(r->s, r->block, r->source)
                     : tirc_declared_write(tirc_block_of(r->block), r->source) != NULL;
}
/* Finds `old` and `conditional`. Raises not-leaf-block, reindex-access, loop-variable-escapes. */
void tirc_find_access(Reindex *r);
/* The stage must not touch elements outside of the source that the block is careful not to touch.
 * `all_instances`: every point of the iterators' domains is an instance of the block. Raises
 * reindex-coverage. */
void tirc_require_inside(Reindex *r, bool all_instances);
/* Raises loop-variable-escapes where a domain depends on a loop: the copy stands outside of it. */
void tirc_require_own_domains(const Reindex *r);
/* The first block of the scope that writes a buffer on which the place of the access, `old`,
 * depends, and the buffer; NULL if there is none. */
SRef *tirc_index_writer(Reindex *r, Buffer *written);
/* `copy`: like b, a buffer of its own, dense and of another shape. */
void tirc_reindexed_buffer(Reindex *r, Buffer b, int ndim, const Expr *shape);
/* source[old] and copy[indices] with the block's iterators replaced, copied the right way. */
Stmt tirc_copy_block(Reindex *r, const char *name, int n_iters, const IterVar *iters,
                     const Expr *values, const PtrMap *replaced);
/* Puts the stage in and lets the block use the copy. Gives the stage's block. */
Value tirc_install_reindex(Reindex *r);

#endif
