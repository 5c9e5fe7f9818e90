/* What a block does to its own output: where its sums start by hand, whether its updates commute.
 */
#ifndef TIRC_SCHEDULE_MEANING_UPDATES_H
#define TIRC_SCHEDULE_MEANING_UPDATES_H

#include "passes/schedule/schedule.h"

/* Whether what a block with an init reads of the buffer is only the element that the init stores.
 */
bool tirc_only_adds(const Block *b, Buffer buffer);

/* Whether the body starts with an init of the buffer that was written by hand. */
bool tirc_starts_with_init(const Block *b, Buffer buffer);

/* How many statements at the start of the body do nothing but that, for any buffer. */
int tirc_inits_by_hand(const Block *b);

/* False when two instances of the block that update the same element give another result in the
 * other order. */
bool tirc_update_commutes(Tirc *c, const Block *b);

/* Whether a reduction iterator stands in an index of what the block stores to. */
/* output_index.c: NULL, or what stands there in words. */
const char *tirc_why_indexed_by_reduction(Sched *s, const Block *b);
bool tirc_is_indexed_by_reduction(Sched *s, const Block *b);

#endif
