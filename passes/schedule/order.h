/* Does a new order of loops run an instance of a block before one whose result it uses? */
#ifndef TIRC_SCHEDULE_ORDER_H
#define TIRC_SCHEDULE_ORDER_H

#include "schedule.h"

/* chain: directly nested loops, outermost first; order: the same loops as they are to be nested.
 * Raises order-matters when two accesses to one element, one of them a write, would change places.
 */
void tirc_require_order_kept(Sched *s, int n, SRef *const *chain, SRef *const *order);
/* The part of it that is about one block's init: it must stay the first that runs of each element.
 */
void tirc_require_init_first(Sched *s, int n, SRef *const *chain, SRef *const *order, SRef *block);
/* Whether the first instance of each element is the one that runs the block's init, in a nest (n
 * loops below the scope, outermost first) of which each iteration is another instance, if
 * `condition` holds there. False also for those that are too long to be run. */
bool tirc_init_comes_first(Sched *s, SRef *scope, int n, const For *const *loops,
                           const Block *block, Expr condition);
/* False when two instances of the block that update the same element give another result in the
 * other order. */
bool tirc_update_commutes(Tirc *c, const Block *b);

#endif
