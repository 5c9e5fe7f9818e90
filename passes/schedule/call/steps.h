/* What a script did to a schedule, call by call. A recorder that is attached to a schedule (and is
 * passed on to its copies) keeps each outermost primitive call: where the script made it, what it
 * did in one sentence, the program before and after, and why it failed if it did. Programs are
 * immutable, so a record costs a few pointers. Commands that show, undo or explain calls read it.
 */
#ifndef TIRC_SCHEDULE_CORE_STEPS_H
#define TIRC_SCHEDULE_CORE_STEPS_H

#include "passes/schedule/schedule.h"

typedef struct SchedStep {
  const Primitive *p;
  Loc loc;                      /* of the call in the script */
  const char *call;             /* with the names that loops and blocks had before it */
  const char *sentence;         /* "Splits loop j (768) into j_0 (24) and j_1 (32) ..." */
  const Module *before, *after; /* the very same when the program did not change */
  const Diag *error;            /* NULL: it succeeded; otherwise nothing changed */
  int n_warnings;
  const Warning *warnings; /* what is hardly meant in a call that succeeded */
} SchedStep;

typedef struct SchedSteps {
  Tirc *c;
  VEC(SchedStep) list;
} SchedSteps;

/* From now on, the calls of s are added to `steps`, which must live as long; NULL ends it. */
void tirc_sched_record(Sched *s, SchedSteps *steps);

/* For tirc_sched_call: a step whose outcome is not known yet. `bound` are the converted arguments
 * (or NULL when they do not even fit); they are put into words before the call makes them stale. */
typedef struct StepDraft {
  const Module *before;
  const char *call;
  const char **words; /* one a parameter */
} StepDraft;
StepDraft tirc_step_begin(Sched *s, const Primitive *p, const char *call);
void tirc_step_describe(Sched *s, const Primitive *p, const Value *bound, StepDraft *draft);
/* result NULL: it failed, for the reason in s->c->diag. */
void tirc_step_end(Sched *s, const Primitive *p, Loc loc, const StepDraft *draft,
                   const Value *result);

#endif
