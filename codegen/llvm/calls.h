/* LLVM's C interface, as calls through a table. The library is loaded when it is first needed:
 * linked in, it would make each start of the command six times as long, of which most emit no code.
 * The table is made from the calls in this folder. */
#ifndef TIRC_CODEGEN_LLVM_CALLS_H
#define TIRC_CODEGEN_LLVM_CALLS_H

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Disassembler.h>
#include <llvm-c/DisassemblerTypes.h>
#include <llvm-c/Error.h>
#include <llvm-c/ExecutionEngine.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Object.h>
#include <llvm-c/Orc.h>
#include <llvm-c/OrcEE.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "ir/tree/ir.h"
#include "llvm_calls.inc"

/* Filled once, as the dynamic linker would fill its own; constant from then on. */
extern LlvmCalls tirc_llvm_calls;
/* Before the first call of anything in it. Throws "codegen" when the library is not there. */
void tirc_llvm_load(Tirc *c);

#endif
