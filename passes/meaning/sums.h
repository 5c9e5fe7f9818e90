/* What a block says of the sum that it is: how it starts and which updates commute. Of the block
 * alone, wherever it stands. */
#ifndef TIRC_MEANING_SUMS_H
#define TIRC_MEANING_SUMS_H

#include "ir/tree/ir.h"

/* --- the init (init.c) ------------------------------------------------------------------------ */

/* Whether what a block with an init reads of the buffer is only the element that the init stores.
 */
bool tirc_only_adds(const Block *b, Buffer buffer);

/* Whether the body starts with an init of the buffer that was written by hand. */
bool tirc_starts_with_init(const Block *b, Buffer buffer);

/* How many statements at the start of the body do nothing but that, for any buffer. */
int tirc_inits_by_hand(const Block *b);

/* Whether the init reads what the block stores to: then it starts nothing anew. */
bool tirc_init_reads_output(const Block *b);

/* Whether a reduction iterator stands in an index of what the block stores to: NULL, or what stands
 * there in words. */
const char *tirc_why_indexed_by_reduction(Tirc *c, const Block *b);

/* --- the update (commutes.c) ------------------------------------------------------------------ */

/* False when two instances of the block that update the same element give another result in the
 * other order. */
bool tirc_update_commutes(Tirc *c, const Block *b);

/* --- the operation (reducer.c) ---------------------------------------------------------------- */

/* A reduction over n buffers at once (n > 1: argmax, two sums). The new value of buffer i is
 * combiners[i] with the loads self[i] as the accumulated values and rhs[i] as the ones that come
 * in. */
typedef struct Reducer {
  int n;
  const Buffer *buffers;
  Expr *inits;     /* what the init stores; NULL: there is none */
  Expr *combiners; /* over self[] and rhs[] as they stand in the block */
  Expr *self, *rhs;
} Reducer;

/* By a commutative operation that is known, from its neutral element, all at the same indices.
 * NULL, or what the block is not; *unmatched: the component that is accumulated in another way, -1:
 * the block has no such form. */
const char *tirc_reducer_of_block(Tirc *c, const Block *b, Reducer *r, int *unmatched);
/* The same of two partial results: from any start, or none, by any operation that makes one of two
 * of them. */
const char *tirc_partial_reducer(Tirc *c, const Block *b, Reducer *r);
/* Combiner i with other operands. */
Expr tirc_reducer_apply(Tirc *c, const Reducer *r, int i, const Expr *self, const Expr *rhs);
/* How a block picks one of several candidates by an order that leaves some of them equal, as an
 * argmax does: of two whose compared values are the same, the one that comes first is kept, or the
 * one that comes last. */
typedef struct Picking {
  Reducer reducer;
  Expr order;           /* over self[] and rhs[]: the accumulated one is kept */
  Expr turned;          /* the same with the two changed round */
  const bool *compared; /* one a buffer: whether the order looks at it */
} Picking;
bool tirc_picks_equals(Tirc *c, const Block *b, Picking *out);

#endif
