/* Does a new order of loops run an instance of a block before one whose result it uses? */
#ifndef TIRC_SCHEDULE_ORDER_H
#define TIRC_SCHEDULE_ORDER_H

#include "schedule.h"

/* chain: directly nested loops, outermost first; order: the same loops as they are to be nested.
 * Raises order-matters when two accesses to one element, one of them a write, would change places.
 */
void tirc_require_order_kept(Sched *s, int n, SRef *const *chain, SRef *const *order);
/* The part of it that is about a block's init, by sight: it stays the first that runs of each sum,
 * if those have elements of their own. */
bool tirc_init_stays_first(Sched *s, int n, SRef *const *chain, SRef *const *order, SRef *block);
/* False when two instances of the block that update the same element give another result in the
 * other order. */
bool tirc_update_commutes(Tirc *c, const Block *b);

#endif
