/* C source. Takes lowered modules only (passes/lower), and adds what machine code has no place for:
 * the program's own names, and comments that say which block a loop nest comes from. */
#ifndef TIRC_CODEGEN_C_H
#define TIRC_CODEGEN_C_H

#include "codegen/model_entry.h"

typedef struct CSource {
  const Module *lowered;
  const Module *scheduled; /* what it was lowered from, for the comments; or NULL */
  int vector_bytes;        /* of the registers that the code is for: 16, 32 or 64; 0: the code is
                            * C11 (and C17) without extensions, and has loops over lanes */
  const char *flag;        /* of compilers, for the processor (tirc_cpu_c_flag); or NULL */
  bool has_runtime; /* also int NAME__rt(..., const tirc_runtime *), which NAME calls with none:
                     * loops on the caller's threads */
  bool is_no_alloc; /* memory that the function does not have is an error */
  bool packed;      /* also int NAME__packed(void **args), as machine code has it */
  /* The function of a model follows, which says what codes mean (tirc_c_entry): which functions it
   * calls, the others are left out. NULL: none follows. */
  const bool *called;
} CSource;

/* C11 with GNU vector extensions; loops over threads carry OpenMP pragmas. Each prim_func becomes
 *
 *   int NAME(params..., symbols...)
 *
 * under its symbol (codegen/symbols.h), as in codegen/llvm/llvm.h, with the same status. Where it
 * has assertions, const char *NAME_error_text(int code) says what each code means
 * (codegen/failures.h). Throws "codegen". */
const char *tirc_c_source(Tirc *c, const CSource *what);
/* The type of a scalar in memory and as a parameter. */
const char *tirc_c_type(DType t);
/* `before`, their source or their header, with the function of a model that calls them
 * and its NAME_error_text, which knows the codes of all of them. Throws
 * "unsupported" for constants of more than 4 MB. */
const char *tirc_c_entry(Tirc *c, const char *before, const ModelEntry *e, const Module *lowered,
                         bool is_header, bool source_alone);
/* The declarations of the same functions, with what a caller has to know; source_alone: without
 * what machine code has besides; flag: as in CSource. */
const char *tirc_c_header(Tirc *c, const Module *lowered, bool of_model, bool source_alone,
                          const char *flag);

#endif
