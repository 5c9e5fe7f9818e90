/* What stands between a loop or block of the tree and the next one inside of it. */
#ifndef TIRC_SCHEDULE_CORE_NESTING_H
#define TIRC_SCHEDULE_CORE_NESTING_H

#include "passes/schedule/schedule.h"

typedef struct Step {
  Stmt stmt;    /* a loop, a block, or what is between them: a condition, a let, ... */
  bool negated; /* the other branch of a condition */
} Step;
typedef VEC(Step) Steps;

/* Adds what is around `inner` in its parent's body, outermost first: conditions, lets, and so on,
 * but no sequences. Mostly nothing. */
void tirc_steps_between(Tirc *c, SRef *inner, Steps *out);

#endif
