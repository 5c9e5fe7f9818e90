/* Do two iterations of a loop use one element, so that they cannot run at the same time? */
#ifndef TIRC_SCHEDULE_CONFLICT_H
#define TIRC_SCHEDULE_CONFLICT_H

#include "schedule.h"

/* Raises iterations-depend when one iteration reads what another one stores, or would where a
 * loaded condition holds, or both store different values to what is used after the loop. `thread`:
 * the thread axis of a GPU that the loop is to be, where other memories than the global one have
 * rules of their own; or NULL. */
void tirc_require_independent(Sched *s, SRef *loop, const char *thread);
/* Raises it only where there is an example of two iterations that meet. */
void tirc_refuse_dependence(Sched *s, SRef *loop, const char *thread);

/* The same for the loops around n blocks that run in parallel, after these came there. */
void tirc_require_independent_around(Sched *s, int n, SRef *const *blocks);
/* The part of it that looks only (apart.c): whether the iterations certainly do not meet in this
 * buffer, which the n child blocks of the loop use. `shared`: also other blocks use it. */
bool tirc_iterations_apart(Sched *s, SRef *loop, int n, SRef **blocks, Buffer b, bool shared);

bool tirc_runs_at_once(const For *f); /* parallel, vectorized or bound to a thread */
/* Tells of each such loop of a program, more than an iteration long, that parallel, vectorize or
 * bind would refuse for its iterations (for_kind.c), which certainly meet. */
void tirc_racing_loops(Sched *s, void (*tell)(void *self, Warning w), void *self);

#endif
