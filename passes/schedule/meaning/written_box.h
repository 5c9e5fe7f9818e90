/* What is seen at once of the questions of meaning/cover.h: by iterator maps, by intervals, or as
 * it is written. False: look closer. */
#ifndef TIRC_SCHEDULE_SIGHT_WRITTEN_BOX_H
#define TIRC_SCHEDULE_SIGHT_WRITTEN_BOX_H

#include "passes/schedule/schedule.h"

/* Whether a statement is a store to the one element of the box. */
bool tirc_sees_written(Stmt s, const Region *box);
/* Whether the regions that the block declares to write, in the loops below `within` and where the
 * condition holds, are all of the box. That it writes what it declares is not looked at. */
bool tirc_sees_nest_written(Sched *s, SRef *block, SRef *within, Expr condition, const Region *box);
/* Whether the bindings of the block make an iterator map that reaches all of the domains, in
 * iterations that the predicate lets run. */
bool tirc_sees_domain_reached(Sched *s, SRef *block);
/* Whether the predicate follows from the domains, part by part. */
bool tirc_sees_domain_implies_predicate(Sched *s, SRef *block);

/* An iterator whose binding stands on something outside of the scope, so that a run of the scope
 * does not pass through all of its domain; NULL: none does. */
Expr tirc_outer_iter(Sched *s, SRef *block);

#endif
