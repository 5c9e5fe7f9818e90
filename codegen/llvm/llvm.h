/* Machine code through LLVM-C. Takes lowered modules only (passes/lower). */
#ifndef TIRC_CODEGEN_LLVM_H
#define TIRC_CODEGEN_LLVM_H

#include "codegen/model_entry.h"
#include "ir/cpu.h"
#include "ir/tree/ir.h"
#include "runtime/kernel/runtime_abi.h"

typedef enum EmitKind { EMIT_LLVM, EMIT_ASM, EMIT_OBJ } EmitKind;

struct Gpu;

/* Each prim_func becomes three symbols, all of which return a status:
 *
 *   int NAME(params..., symbols...)
 *     buffers as plain pointers, scalars by value, a bool as its byte; what C source defines, too.
 *     If the program around it has a function `const tirc_runtime *tirc_default_runtime(void)`, its
 *     result is the rt of the call (a weak symbol), otherwise that is NULL
 *   int NAME__rt(params..., symbols..., const tirc_runtime *rt)
 *   int NAME__packed(void **args, const tirc_runtime *rt)
 *     args[i] points to the data of buffer i, or to the value of scalar i
 *
 * symbols are the symbolic extents that no scalar parameter gives, in the order of
 * tirc_symbolic_params; they are further args of NAME__packed. rt (runtime/kernel/runtime_abi.h)
 * may be NULL: then parallel loops run in the caller and workspace comes from aligned_alloc.
 *
 * Status: 0 done, 1 workspace could not be had, from 2 on the code of an assertion that failed
 * (codegen/failures.h): numbered through the module in files, where NAME has
 * const char *NAME_error_text(int code) beside it, and through the function in this process. */
typedef struct Code {
  const char *bytes;
  size_t n;
} Code;
/* The library, for dlsym: the file that $TIRC_LLVM names, or the one of the system; NULL without.
 */
void *tirc_llvm_library(void);
/* Why LLVM's library is not there, in the words of the dynamic linker; NULL when it is. */
const char *tirc_llvm_missing(Tirc *c);
/* The processor of a name of ir/cpus.def, or this machine for "native". Throws "target". */
const Cpu *tirc_llvm_cpu(Tirc *c, const char *name);
/* Lets a child process find out what "native" is, so that this one need not load LLVM for it. */
void tirc_llvm_host_by_child(Tirc *c);
/* Throws "target" for one whose code this machine cannot run. */
void tirc_llvm_require_here(Tirc *c, const char *name);
/* cpu: "haswell" (AVX2 + FMA) unless the user says otherwise; "native" is the host. Throws
 * "codegen" or "target". The result lives in c. */
Code tirc_llvm_emit(Tirc *c, const Module *lowered, const char *cpu, EmitKind kind);
/* Names of the allocations that functions still have in their frames once they are optimised. LLVM
 * puts a number, or the name of a part, behind the name of a buffer. */
typedef VEC(const char *) NameList;
/* With the function of a model (or NULL) behind them. in_frame: what frames hold is added to it; or
 * NULL. */
Code tirc_llvm_emit_model(Tirc *c, const Module *lowered, const ModelEntry *entry, const char *cpu,
                          EmitKind kind, NameList *in_frame);
/* What the frames would hold; nothing is emitted. */
NameList tirc_llvm_in_frame(Tirc *c, const Module *lowered, const char *cpu);

/* PTX of the kernels of a module that was lowered for an NVIDIA GPU; symbols: what function i is
 * called there, NULL for what is no kernel. A kernel's parameters are its arrays, as addresses
 * aligned to 16 bytes, and scalars; memory of scope shared.dyn is one array, in which each buffer
 * begins at a multiple of 16. Throws "codegen" or "target". */
Code tirc_llvm_ptx(Tirc *c, const Module *lowered, const struct Gpu *gpu,
                   const char *const *symbols);
/* What the frames of the same kernels hold. */
NameList tirc_llvm_kernels_in_frame(Tirc *c, const Module *lowered, const struct Gpu *gpu,
                                    const char *const *symbols);

/* The function of the program, "tan", when the code for this vector calls libm for each lane of it;
 * NULL otherwise. sin and cos of floats, which do so for large arguments alone, are not among them.
 */
const char *tirc_llvm_lane_call(Expr e);

/* Assembly with its loops; see asm_code.h. Throws as tirc_llvm_emit does. */
const struct AsmCode *tirc_llvm_annotate(Tirc *c, const Module *lowered, const char *cpu);

/* The module compiled into this process. Not in the arena: free it. Thread-safe to call from
 * several threads afterwards. */
typedef struct Jit Jit;
typedef int (*PackedFunc)(void **args, const tirc_runtime *rt);
Jit *tirc_jit_new(Tirc *c, const Module *lowered, const char *cpu);
/* One without functions, and more functions for one. */
Jit *tirc_jit_open(Tirc *c);
void tirc_jit_add(Tirc *c, Jit *j, const Module *lowered, const char *cpu);
/* The same of an object file that was made of these functions, of which only the names are read. */
void tirc_jit_add_object(Tirc *c, Jit *j, const Module *lowered, const char *object, size_t n);
/* The same by a child process, so many functions at a time: LLVM's memory goes with it, and this
 * process does not load it. NULL: there is no child, or not the memory for one. peak as
 * tirc_in_child says it. */
Jit *tirc_jit_by_child(Tirc *c, const Module *lowered, const char *cpu, int together,
                       int64_t *peak);
PackedFunc tirc_jit_find(Jit *j, const char *func); /* NULL when there is none */
void tirc_jit_free(Jit *j);

#endif
