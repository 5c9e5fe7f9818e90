/* What decides whether a block runs. */
#ifndef TIRC_SCHEDULE_MEANING_CONDITIONS_H
#define TIRC_SCHEDULE_MEANING_CONDITIONS_H

#include "passes/schedule/schedule.h"

/* Whether an `if`, a `while`, or a loop that repeats the block and may be empty, stands between it
 * and `high`, a loop or block around it. */
bool tirc_is_guarded(Sched *s, SRef *block, const SRef *high);

/* What must hold for the block to run: its predicate and the conditions around it up to `high`, in
 * terms of loops, not of what is let from them (conditions.c). NULL: a `while` is there, too. */
Expr tirc_condition_of(Sched *s, SRef *block, const SRef *high);

/* Whether the writer has run where the reader, which comes after it, does. Which part of its own
 * loops its predicate chooses is a matter of the region that it writes. */
bool tirc_runs_whenever(Sched *s, SRef *writer, SRef *reader);

/* The predicate `and` those conjuncts of a condition that do not follow from what the analyzer
 * knows. */
Expr tirc_and_unproved(Tirc *c, Analyzer *a, Expr predicate, Expr cond);

/* The conjuncts of a condition that use some of the variables, or those that use none. */
Expr tirc_conjuncts(Tirc *c, Expr cond, const PtrMap *vars, bool with);

/* A sum over an extent of 0 leaves what its buffers held: its init does not run either. The same
 * with another loop of no iterations, or a predicate that never holds, where the domains say that
 * there is something to write. */
bool tirc_sums_nothing(Sched *s, SRef *block);

#endif
