/* Assembly with its loops: which instructions belong to which loop of the machine code, which loop
 * of the program that was, and what kinds of instructions it is made of. */
#ifndef TIRC_CODEGEN_LLVM_ASM_CODE_H
#define TIRC_CODEGEN_LLVM_ASM_CODE_H

#include "ir/cpu.h"
#include "ir/tree/ir.h"

/* A loop of the lowered program, as the code generator met it; number 0 is "none". */
typedef struct LoopMark {
  const char *name, *extent, *kind;
  int parent;
  VEC(const char *) stores; /* names of the buffers that it writes, not in a loop further in */
} LoopMark;
typedef struct LoopMarks {
  VEC(LoopMark) list;
} LoopMarks;

typedef enum AsmKind {
#define ASM_KIND(id, name) ASM_##id,
#include "asm_kinds.def"
#undef ASM_KIND
  ASM_KIND_COUNT
} AsmKind;
extern const char *const tirc_asm_kind_names[ASM_KIND_COUNT];

/* One instruction; text without its comment. A vector operation that takes an operand from memory
 * counts as a load besides. */
typedef struct AsmInstruction {
  AsmKind kind;
  bool loads;
  int vector_bits; /* of the widest register that it names; 0: none */
} AsmInstruction;
AsmInstruction tirc_asm_classify(CpuArch arch, const char *text, const char *comment);

/* A loop of the machine code; or (depth 0) what of a function is in no loop. */
typedef struct AsmLoop {
  const char *func, *label; /* label: of its first instruction; NULL at depth 0 */
  int depth, mark;          /* mark: in LoopMarks, 0 when no loop of the program is behind it */
  bool innermost;
  int instructions, bytes, vector_bits; /* bytes -1: unknown */
  int counts[ASM_KIND_COUNT];
} AsmLoop;

typedef struct AsmLine {
  const char *text;
  int loop; /* that it belongs to, or -1 */
  bool is_instruction;
} AsmLine;

typedef struct AsmCode {
  const Cpu *cpu;
  const char *comment; /* "#", "//" or ";" */
  LoopMarks marks;
  VEC(AsmLoop) loops; /* in the order in which they appear */
  VEC(AsmLine) lines;
} AsmCode;

/* From the assembly with LLVM's comments on loops and the object file of the same code. */
void tirc_asm_read(Tirc *c, AsmCode *code, const char *text, size_t n);
void tirc_asm_sizes(AsmCode *code, const char *triple, const char *cpu, const char *features,
                    const void *object); /* an LLVMMemoryBufferRef */

#endif
