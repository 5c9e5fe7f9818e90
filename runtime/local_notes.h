/* Which buffers of scope local are no registers in the code, and why: a line each. */
#ifndef TIRC_RUNTIME_LOCAL_NOTES_H
#define TIRC_RUNTIME_LOCAL_NOTES_H

#include "../codegen/llvm/llvm.h"
#include "../ir/cpu.h"

const char *tirc_local_notes(Tirc *c, const Module *lowered, const char *cpu);

#endif
