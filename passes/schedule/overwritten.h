/* Who reads what is not yet what it will be? */
#ifndef TIRC_SCHEDULE_OVERWRITTEN_H
#define TIRC_SCHEDULE_OVERWRITTEN_H

#include "schedule.h"

/* Whether the block goes on with the elements that it stored to in another iteration of the loop,
 * or stores to them again what need not be the same. */
bool tirc_goes_on_in(Sched *s, SRef *block, const SRef *loop);
/* Whether the block, or one from which it gets values, stores to one element again and again, with
 * the block, or one to which it gives values, reading it in between: if the block went out of the
 * loops of both, below `to`, the reader would see the last only. */
bool tirc_is_read_between(Sched *s, SRef *block, const SRef *to, SRef **producer, SRef **reader);
/* A producer of the block, or one from which such a one gets values, that stores to one element
 * again and again in the loop, or one around it, if the block, with its new nest under the loop,
 * would read it in between. NULL: there is none. */
SRef *tirc_unfinished_producer(Sched *s, SRef *block, SRef *loop, Stmt nest);
/* Whether the block reads each state of what is overwritten in a loop around it, and `instead`, in
 * whose instances it is to be computed, runs again for each and keeps the last. */
bool tirc_reads_fewer_states(Sched *s, SRef *block, SRef *instead);

#endif
