/* Recording: used by tirc_sched_call. */
#ifndef TIRC_CALL_RECORDING_H
#define TIRC_CALL_RECORDING_H

#include "passes/record/trace.h"
#include "passes/schedule/schedule.h"

/* A block that was given by its name comes from a get_block of its own. */
Value tirc_trace_get_block(Sched *s, Value name, Value block);
/* Arguments as they are to be recorded; before the primitive runs, since names of buffers mean
 * regions of blocks as they are now. */
const Value *tirc_trace_arguments(Sched *s, const Primitive *p, const Value *bound);
/* Appends the instruction and numbers its results. */
void tirc_trace_record(Sched *s, const Primitive *p, const Value *args, Value *result);

#endif
