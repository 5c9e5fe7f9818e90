/* Who reads what is not yet what it will be? */
#ifndef TIRC_SCHEDULE_OVERWRITTEN_H
#define TIRC_SCHEDULE_OVERWRITTEN_H

#include "schedule.h"

/* Whether the block, or one from which it gets values, stores to one element again and again, with
 * the block, or one to which it gives values, reading it in between: if the block went out of the
 * loops of both, below `to`, the reader would see the last only. */
bool tirc_is_read_between(Sched *s, SRef *block, const SRef *to, SRef **producer, SRef **reader);

#endif
