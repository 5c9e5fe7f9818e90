/* Does a new order of loops run an instance of a block before one whose result it uses? */
#ifndef TIRC_SCHEDULE_ORDER_H
#define TIRC_SCHEDULE_ORDER_H

#include "schedule.h"

/* chain: directly nested loops, outermost first; order: the same loops as they are to be nested.
 * Raises order-matters when two accesses to one element, one of them a write, would change places.
 */
void tirc_require_order_kept(Sched *s, int n, SRef *const *chain, SRef *const *order);

#endif
