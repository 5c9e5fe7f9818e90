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

#endif
