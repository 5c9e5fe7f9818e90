/* Where lanes of a vectorized loop do not go together: functions that the code calls once for each
 * lane of a vector, a warning for each function and buffer that it is stored to; and statements
 * that run lane by lane, a warning for each buffer that they store to. */
#ifndef TIRC_RUNTIME_CALL_NOTES_H
#define TIRC_RUNTIME_CALL_NOTES_H

#include "codegen/llvm/llvm.h"
#include "passes/schedule/schedule.h"

void tirc_call_notes(Tirc *c, const Module *lowered, void (*tell)(void *self, Warning w),
                     void *self);
/* Of a module as it is before VectorizeLoop. */
void tirc_serial_notes(Tirc *c, const Module *m, void (*tell)(void *self, Warning w), void *self);

#endif
