/* What reverse_compute_inline and fuse_reduction_epilogue share: a consumer that goes into the
 * block which produces what it reads, and the question which of its instances belongs to which of
 * the producer's. The functions give NULL when all is well, otherwise why not, in words. */
#ifndef TIRC_SCHEDULE_MOVES_FOLD_H
#define TIRC_SCHEDULE_MOVES_FOLD_H

#include "moves.h"

typedef struct Fold {
  Sched *s;
  Tirc *c;
  SRef *consumer, *producer, *scope;
  Buffer buffer;
  Stmt consumer_store, producer_store;
  Expr guard;               /* the condition around producer_store, or NULL */
  int n;                    /* dimensions of buffer */
  const Expr *load_indices; /* the consumer's */
  PtrMap instance;          /* consumer iterator -> its value, in the producer's iterators */
  bool each_once;           /* the consumer's instances read all elements, each of them once */
} Fold;

/* The one buffer that the block reads and its scope writes; raises not-single-buffer. */
Buffer tirc_single_read(Sched *s, SRef *block, SRef *scope);
/* The indices of the consumer's loads of the buffer, all the same: f->load_indices. */
const char *tirc_fold_load(Fold *f);
/* From the indices of f->producer_store to the instance that reads the element: f->instance. */
const char *tirc_fold_instance(Fold *f);
/* Whether the producer is known to leave out instances of the consumer. */
const char *tirc_fold_is_short(Fold *f);
/* That the consumer's iterators are in their domains. */
Expr tirc_fold_domain(Fold *f);
/* Whether a loop that the producer does not share may keep the consumer from running. */
bool tirc_fold_may_not_run(const Fold *f);

/* fuse_epilogue.c: whether the block only copies what the reduction before it makes, into another
 * layout; and that copy folded into it. */
bool tirc_is_copy_of_reduction(Sched *s, SRef *block, SRef *producer, SRef *scope);
void tirc_copy_into_reduction(const Fold *copy);

#endif
