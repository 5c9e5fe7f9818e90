/* What operation a reduction is of. */
#ifndef TIRC_SCHEDULE_MEANING_REDUCER_H
#define TIRC_SCHEDULE_MEANING_REDUCER_H

#include "passes/schedule/schedule.h"

/* Commutative reducers: what a reduction block's init and update say about the operation by which
 * it accumulates. */

/* A reduction over n buffers at once (n > 1: argmax, two sums), all accessed at `indices`.
 * The new value of buffer i is combiners[i] with the loads self[i] as the accumulated values and
 * rhs[i] as the ones that come in. */
typedef struct Reducer {
  int n;
  const Buffer *buffers;
  int n_indices;
  const Expr *indices;
  const Expr *identities; /* what init stores */
  const Expr *combiners;  /* over self[] and rhs[] as they stand in the block */
  const Expr *self, *rhs;
} Reducer;

/* Raises reducer-form or no-matched-reducer. */
Reducer tirc_reducer_of(Sched *s, SRef *block);
/* How a block picks one of several candidates by an order that leaves some of them equal, as an
 * argmax does: of two whose compared values are the same, the one that comes first is kept, or the
 * one that comes last. */
typedef struct Picking {
  Reducer reducer;
  Expr order;           /* over self[] and rhs[]: the accumulated one is kept */
  Expr turned;          /* the same with the two changed round */
  const bool *compared; /* one a buffer: whether the order looks at it */
} Picking;
bool tirc_picks_equals(Sched *s, SRef *block, Picking *out);
/* Warns that the running call may change which of equal candidates the block picks, if it picks so.
 */
void tirc_warn_of_equals(Sched *s, SRef *block);
/* Combiner i with other operands. */
Expr tirc_reducer_apply(Tirc *c, const Reducer *r, int i, const Expr *self, const Expr *rhs);

#endif
