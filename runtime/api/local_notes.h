/* Which buffers of scope local are no registers in the code, and why: a warning each, and one
 * when nothing can say it, without LLVM. */
#ifndef TIRC_RUNTIME_LOCAL_NOTES_H
#define TIRC_RUNTIME_LOCAL_NOTES_H

#include "codegen/llvm/llvm.h"
#include "ir/cpu.h"
#include "ir/gpu.h"
#include "passes/schedule/schedule.h"

void tirc_local_notes(Tirc *c, const Module *lowered, const char *cpu,
                      void (*tell)(void *self, Warning w), void *self);
/* The same, of code that was emitted: in_frame as tirc_llvm_emit_model lists it. */
void tirc_local_notes_of(Tirc *c, const Module *lowered, const char *cpu, const NameList *in_frame,
                         void (*tell)(void *self, Warning w), void *self);
/* The same of PTX (symbols: as of tirc_llvm_ptx). How many registers it takes is the affair of what
 * assembles it. */
void tirc_local_notes_of_kernels(Tirc *c, const Module *lowered, const Gpu *gpu,
                                 const char *const *symbols, void (*tell)(void *self, Warning w),
                                 void *self);

#endif
