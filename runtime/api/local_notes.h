/* Which buffers of scope local are no registers in the code, and why: a warning each. */
#ifndef TIRC_RUNTIME_LOCAL_NOTES_H
#define TIRC_RUNTIME_LOCAL_NOTES_H

#include "codegen/llvm/llvm.h"
#include "ir/cpu.h"
#include "passes/schedule/schedule.h"

void tirc_local_notes(Tirc *c, const Module *lowered, const char *cpu,
                      void (*tell)(void *self, Warning w), void *self);

#endif
