/* What reindex and reindex_cache_read / reindex_cache_write share: a copy of what one block
 * accesses of a buffer, in an order of the block's choosing. */
#ifndef TIRC_SCHEDULE_REINDEX_H
#define TIRC_SCHEDULE_REINDEX_H

#include "cache.h"

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

/* Finds `old` and `conditional`. Raises not-leaf-block, reindex-access, loop-variable-escapes. */
void tirc_find_access(Reindex *r);
/* The stage must not touch elements outside of the source that the block is careful not to touch.
 * `all_instances`: every point of the iterators' domains is an instance of the block. Raises
 * reindex-coverage. */
void tirc_require_inside(Reindex *r, bool all_instances);
/* Raises loop-variable-escapes where a domain depends on a loop: the copy stands outside of it. */
void tirc_require_own_domains(const Reindex *r);
/* A buffer on which the place of the access, `old`, depends, and that a block or one in it writes;
 * or NULL. */
Buffer tirc_index_written_by(const Reindex *r, const SRef *block);
/* The first block of the scope that writes such a buffer, and the buffer; NULL if there is none. */
SRef *tirc_index_writer(Reindex *r, Buffer *written);
/* source[old] and copy[indices] with the block's iterators replaced, copied the right way. */
Stmt tirc_copy_block(Reindex *r, const char *name, int n_iters, const IterVar *iters,
                     const Expr *values, const PtrMap *replaced);
/* Puts the stage in and lets the block use the copy. Gives the stage's block. */
Value tirc_install_reindex(Reindex *r);

#endif
