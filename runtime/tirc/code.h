/* Lowering and code. */
#ifndef TIRC_TIRC_CODE_H
#define TIRC_TIRC_CODE_H

#include "schedule.h"

TIRC_C_BEGIN

/* Runs all passes, for a target: a processor's name, NULL or "native", or a GPU's name. For a GPU,
 * each function with loops bound to threads becomes a host function of its name, with its kernels
 * after it. `after` (or NULL) receives the program as text after each pass. */
TIRC_API tirc_status tirc_module_lower_for(const tirc_module *m, const char *target,
                                           void (*after)(void *self, const char *pass,
                                                         const char *text),
                                           void *self, tirc_module **out, tirc_error **error);

/* The same program; code that is made of it says of each instruction which line of which file it is
 * for: machine code has lines as debug information, C source has #line. What tirc_kernel_new makes
 * of it is told to a debugger that runs the process, and is not kept on disk. The code does the
 * same, and runs as fast. */
TIRC_API tirc_status tirc_module_with_lines(const tirc_module *m, tirc_module **out,
                                            tirc_error **error);

/* The same program with the attribute "fast_math" on each function: its kernels in CUDA C and PTX
 * compute exp, exp2, log, log2, rsqrt and tanh of float32 with the hardware's instructions, whose
 * errors the page on GPUs states. Nothing else changes. */
TIRC_API tirc_status tirc_module_with_fast_math(const tirc_module *m, tirc_module **out,
                                                tirc_error **error);

/* Runs only the named lowering passes, in this order, each on every function. Names are those of
 * tirc_pass_table and tirc_pass_alone_table, followed by any number of + and an option of
 * tirc_pass_option_table. Whatever the passes leave stays as it is: blocks, loops, buffers of
 * several dimensions. The result is an ordinary program, which tirc_module_lower_for can lower.
 * target: as there; NULL uses each function's attribute "target", if it has one. If there is no
 * such pass, the status is TIRC_BAD, and the message gives the nearest name. passes may be NULL
 * when n is 0. */
TIRC_API tirc_status tirc_module_lower_only(const tirc_module *m, const char *target, int n,
                                            const char *const *passes, tirc_module **out,
                                            tirc_error **error);

/* For a module that is not lowered yet: each copy that a schedule marked as packing of a constant
 * operand becomes a function NAME_pack_PARAMETER(PARAMETER, PACKED). It stands before NAME, which
 * takes the packed array for that parameter. tirc_module_emit does this by itself. */
TIRC_API tirc_status tirc_module_split_packing(const tirc_module *m, tirc_module **out,
                                               tirc_error **error);

typedef enum tirc_emit_kind {
  TIRC_EMIT_LLVM, /* LLVM IR */
  TIRC_EMIT_ASM,  /* assembly */
  TIRC_EMIT_OBJECT,
  TIRC_EMIT_HEADER, /* a C header that declares what the others define */
  TIRC_EMIT_C,      /* C source, with names and blocks from the program */
  /* Assembly in which each loop has a heading with its name, extent, block and mix of instructions;
   * and the same figures as JSON. For a module that is not lowered yet. */
  TIRC_EMIT_ANNOTATED,
  TIRC_EMIT_ANNOTATIONS,
  /* The kernels of a program whose loops are bound to blocks and threads, as OpenCL C and as CUDA
   * C. */
  TIRC_EMIT_OPENCL,
  TIRC_EMIT_CUDA,
  TIRC_EMIT_CUDA_HEADER, /* the same, with constants and inline functions for the launches */
  TIRC_EMIT_PTX,         /* the assembly language of NVIDIA's GPUs */
  TIRC_EMIT_PORTABLE_C,  /* C source without compiler extensions: vectors are loops */
  /* The same without malloc, threads and large arrays on the stack: each array of more than 1 KB
   * that a function needs is a parameter, or, for a model, a part of the workspace. And its header.
   */
  TIRC_EMIT_NO_ALLOC_C,
  TIRC_EMIT_NO_ALLOC_HEADER,
  /* C source, and portable C source, that also has NAME__rt, as the header declares it: parallel
   * loops run on the caller's threads, and memory comes from the caller. For programs; a model is
   * refused. */
  TIRC_EMIT_C_WITH_RUNTIME,
  TIRC_EMIT_PORTABLE_C_WITH_RUNTIME
} tirc_emit_kind;
/* For a model, before it is made: the error that its object code, C source or header would cause
 * because a weight has an extent that is not a number. Extents of inputs may be open: they come
 * first among the parameters of the model's function, and NAME_workspace_size returns the size of
 * its workspace. */
TIRC_API tirc_status tirc_module_check_sizes(const tirc_module *m, tirc_error **error);
/* Reports to options->warn, like tirc_module_check_code, about the kernels that a module becomes
 * for the GPU options->target (NULL: the least one that takes the kind): what a host function
 * computes itself, outside all kernels; a loop that should overlap its iterations but stays as it
 * is; and, for TIRC_EMIT_PTX, a buffer of scope local that is not in registers. kind:
 * TIRC_EMIT_OPENCL to TIRC_EMIT_PTX. */
TIRC_API tirc_status tirc_module_check_kernels(const tirc_module *m, tirc_emit_kind kind,
                                               const tirc_schedule_options *options,
                                               tirc_error **error);

/* Code for a module, which is lowered first if necessary. target: an LLVM CPU name, "native", or
 * NULL for "haswell". main_name: the name in the code for a function called main, since a C program
 * has its own main; NULL leaves it to tirc_module_emitted_names. Free *bytes with tirc_string_free.
 */
TIRC_API tirc_status tirc_module_emit(const tirc_module *m, tirc_emit_kind kind, const char *target,
                                      const char *main_name, char **bytes, size_t *n,
                                      tirc_error **error);

/* A model's code: one function, the functions of the module that it calls (tirc_module_phases makes
 * them), and the place of its weights. The header says how to call each function. */
typedef enum tirc_weights_place {
  TIRC_WEIGHTS_PARAMS, /* each a parameter of the function */
  /* One block, whose address is a parameter. tirc_module_emit_weights writes it to a file, which
   * the caller maps. It contains what the function reads, laid out as the schedules require. */
  TIRC_WEIGHTS_BESIDE,
  /* The same block inside the code. C source contains it as text, up to 4 MB together with the
   * model's constants. An object takes it from another object, by the hidden symbol NAME_weights
   * (section .rodata, aligned to 64 bytes). */
  TIRC_WEIGHTS_INSIDE
} tirc_weights_place;
typedef struct tirc_weights tirc_weights;
typedef struct tirc_emit_options {
  const char *target, *main_name; /* as for tirc_module_emit */
  tirc_weights_place place;
  const tirc_weights *weights; /* by the names of main's parameters; for C that has them inside */
} tirc_emit_options;
/* options may be NULL. For modules without a graph, the place of the weights has no effect. */
TIRC_API tirc_status tirc_module_emit_model(const tirc_module *m, tirc_emit_kind kind,
                                            const tirc_emit_options *options, char **bytes,
                                            size_t *n, tirc_error **error);
/* The same for machine code and LLVM's text, together with the warnings of tirc_module_check_code,
 * in one run of LLVM. This takes half the time of both calls. checked: as for that function;
 * TIRC_NO if it is strict and there is a warning. Code of other kinds is not checked. */
TIRC_API tirc_status tirc_module_emit_checked(const tirc_module *m, tirc_emit_kind kind,
                                              const tirc_emit_options *options,
                                              const tirc_schedule_options *checked, char **bytes,
                                              size_t *n, tirc_error **error);
/* Writes the block of options->weights for the code that the same options give, and stores its size
 * if bytes is not NULL. Whatever is derived from weights is computed on this machine. */
TIRC_API tirc_status tirc_module_emit_weights(const tirc_module *m,
                                              const tirc_emit_options *options, const char *path,
                                              int64_t *bytes, tirc_error **error);

/* Tells the names of the functions in emitted code, which are the same in all kinds of code. A
 * function keeps its name, unless C reserves that name or a library that programs are linked with
 * has it (class, exp, free, main). main_name: as for tirc_module_emit; func is the name in the
 * program. Additional functions, which pack operands, are told too. The single function of a model
 * is main. */
TIRC_API tirc_status tirc_module_emitted_names(const tirc_module *m, const char *main_name,
                                               void (*tell)(void *self, const char *func,
                                                            const char *symbol),
                                               void *self, tirc_error **error);

/* Code that tirc_kernel_new, tirc_program_new and measurements compile for this process is kept on
 * disk, so that neither this process nor another one compiles it again. The environment gives the
 * place: $TIRC_CACHE, a folder, or "off"; or else tirc in $XDG_CACHE_HOME, or else ~/.cache/tirc.
 * $TIRC_CACHE_MB limits its size (512): the least recently used entries are removed. The generated
 * code does not depend on the cache. If nothing can be kept, each process compiles. A program turns
 * the cache off with setenv("TIRC_CACHE", "off", 1) before it starts threads. */
typedef struct tirc_code_cache {
  char folder[4096];             /* "": it is off */
  int64_t entries, bytes, limit; /* limit: on bytes */
  char problem[256];             /* "": none; else why nothing can be kept, or what is wrong */
} tirc_code_cache;
/* counts: also fill in entries and bytes, which requires a look at each entry. */
TIRC_API tirc_status tirc_code_cache_look(bool counts, tirc_code_cache *out, tirc_error **error);
/* Removes all entries. */
TIRC_API tirc_status tirc_code_cache_clear(tirc_error **error);

TIRC_C_END
#endif
