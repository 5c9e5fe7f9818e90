/* Which functions the code calls once for each lane of a vector: a warning for each function and
 * buffer that it is stored to. */
#ifndef TIRC_RUNTIME_CALL_NOTES_H
#define TIRC_RUNTIME_CALL_NOTES_H

#include "codegen/llvm/llvm.h"
#include "passes/schedule/schedule.h"

void tirc_call_notes(Tirc *c, const Module *lowered, void (*tell)(void *self, Warning w),
                     void *self);

#endif
