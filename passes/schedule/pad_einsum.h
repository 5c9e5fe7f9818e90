/* What pad_einsum.c decides and pad_einsum_check.c judges: which iterators of a block get a larger
 * domain, and which buffers are padded for that. */
#ifndef TIRC_SCHEDULE_PAD_EINSUM_H
#define TIRC_SCHEDULE_PAD_EINSUM_H

#include "../../ir/visit.h"
#include "internal.h"

/* One iterator of the block. */
typedef struct PaddedIter {
  Expr extent;      /* the padded one; NULL when the iterator stays as it is */
  const SRef *loop; /* the loop that grows with it; NULL when its binding is no loop variable */
} PaddedIter;

typedef struct PaddedBuffer {
  const Region *region; /* what the block declares of the old buffer */
  bool is_read;
  Buffer padded;
} PaddedBuffer;

typedef struct EinsumPadding {
  Sched *s;
  SRef *block, *scope;
  Stmt nest;                 /* the statement of the scope's body that holds the block */
  PaddedIter *iters;         /* one for each iterator of the block */
  VEC(PaddedBuffer) buffers; /* reads first */
} EinsumPadding;

/* Number of the block's iterator that this index is, or -1. */
int tirc_einsum_iter(const Block *b, Expr index);
/* Raises when the padded nest would compute something else, or touch what is not there. */
void tirc_require_sound_padding(const EinsumPadding *p);

#endif
