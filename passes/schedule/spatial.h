/* Blocks whose spatial iterators carry a dependence. */
#ifndef TIRC_SCHEDULE_SPATIAL_H
#define TIRC_SCHEDULE_SPATIAL_H

#include "schedule.h"

/* Tells of each block that declares an iterator spatial though its instances certainly depend on
 * each other. Such a block is legal; primitives that rely on the declaration refuse it. */
void tirc_spatial_dependences(Sched *s, void (*tell)(void *self, Warning w), void *self);
/* All that is warned of in a program: these, and loops that race (conflict.h). In a schedule of its
 * own: what is asked there leaves warnings behind. */
void tirc_program_warnings(Sched *s, void (*tell)(void *self, Warning w), void *self);
/* Whether the instances of a block depend on each other in this way, or cannot be proved not to. */
bool tirc_instances_depend(Sched *s, SRef *block);
/* An index that takes another value for each value of the iterator: vi, vi + 1, 2 * vi. */
bool tirc_is_own_place(Expr index, Expr var);

#endif
