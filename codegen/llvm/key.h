/* Keys of the cache. NULL: it cannot be said what this code is made by, and nothing is kept. */
#ifndef TIRC_CODEGEN_KEY_H
#define TIRC_CODEGEN_KEY_H

#include "ir/tree/ir.h"

/* tirc and LLVM, as they are on this disk, and this machine. */
const char *tirc_key_of_machine(Tirc *c);
/* What that gave, and these functions, and the processor that their code is for. */
const char *tirc_key_of_code(Tirc *c, const char *machine, const Module *lowered, const char *cpu);

#endif
