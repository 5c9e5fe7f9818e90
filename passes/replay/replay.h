/* The room of records applied again: a trace done on a schedule (apply.c), and made into calls that
 * decide nothing any more (plain.c). */
#ifndef TIRC_REPLAY_H
#define TIRC_REPLAY_H

#include "passes/record/trace.h"
#include "passes/schedule/schedule.h"

/* Does all of it on another (or the same) schedule. Throws what an instruction raises, with the
 * instruction's number in the message. asked: NULL, the decisions are those of the trace. loc:
 * where the trace stands. */
typedef struct DecisionProvider { /* asked before each instruction, with its decision or None */
  Value (*decide)(void *self, const Instruction *inst, Value inputs, Value attrs, Value decision);
  void *self;
} DecisionProvider;
void tirc_trace_apply(Sched *s, const Trace *t, bool remove_postproc, const DecisionProvider *asked,
                      Loc loc, const char *what);

/* Does a trace of a function on a block that is a copy of what the function does (specialize),
 * whose blocks have names with something put in. Throws where it does not fit. */
void tirc_trace_apply_in(Sched *s, const Trace *t, Value part, const char *what);

/* What a trace does with its decisions, as calls that decide nothing any more. s: a schedule of the
 * program, which it is applied to. */
Trace *tirc_trace_plain(Sched *s, const Trace *t);

#endif
