/* What `tirc build --emit=asm --annotate` prints. */
#ifndef TIRC_RUNTIME_ASM_REPORT_H
#define TIRC_RUNTIME_ASM_REPORT_H

#include "codegen/llvm/asm_code.h"

/* `scheduled`: the program before it was lowered. */
const char *tirc_asm_report(Tirc *c, const Module *scheduled, const AsmCode *code, bool json);

#endif
