/* Lowering and code. */
#ifndef TIRC_TIRC_CODE_H
#define TIRC_TIRC_CODE_H

#include "schedule.h"

TIRC_C_BEGIN

/* Through all passes, for a target: a processor's name, NULL or "native", or a GPU's: then the
 * module has, for each function with loops bound to threads, a host function of its name and its
 * kernels behind it. `after` (or NULL) sees the program as text after each pass. */
TIRC_API tirc_status tirc_module_lower_for(const tirc_module *m, const char *target,
                                           void (*after)(void *self, const char *pass,
                                                         const char *text),
                                           void *self, tirc_module **out, tirc_error **error);

/* The named lowering passes alone, in this order, each on every function: names are those of
 * tirc_pass_table and tirc_pass_alone_table, with + and an option of tirc_pass_option_table behind
 * them, or several. What the passes leave stays as it is: blocks, loops,
 * buffers of several dimensions; the module is a program like another one, which
 * tirc_module_lower_for can lower. target: as there; NULL leaves each function to its attribute
 * "target", where it has one. TIRC_INPUT, with the nearest name, where there is no such pass;
 * passes may be NULL when n is 0. */
TIRC_API tirc_status tirc_module_lower_only(const tirc_module *m, const char *target, int n,
                                            const char *const *passes, tirc_module **out,
                                            tirc_error **error);

/* For a module that is not lowered yet: each copy that a schedule marked as packing of a constant
 * operand becomes a function NAME_pack_PARAMETER(PARAMETER, PACKED), and stands before NAME, which
 * takes the packed array for that parameter. tirc_module_emit does the same by itself. */
TIRC_API tirc_status tirc_module_split_packing(const tirc_module *m, tirc_module **out,
                                               tirc_error **error);

typedef enum tirc_emit_kind {
  TIRC_EMIT_LLVM, /* LLVM IR */
  TIRC_EMIT_ASM,  /* assembly */
  TIRC_EMIT_OBJECT,
  TIRC_EMIT_HEADER, /* a C header that declares what the others define */
  TIRC_EMIT_C,      /* C source, with names and blocks from the program */
  /* Assembly in which each loop is headed by its name, extent, block and mix of instructions; and
   * the same figures as JSON. For a module that is not lowered yet. */
  TIRC_EMIT_ANNOTATED,
  TIRC_EMIT_ANNOTATIONS,
  /* The kernels of a program whose loops are bound to blocks and threads: OpenCL C, and CUDA C. */
  TIRC_EMIT_OPENCL,
  TIRC_EMIT_CUDA,
  TIRC_EMIT_CUDA_HEADER, /* the same with constants of the launches and inline launchers */
  TIRC_EMIT_PTX,         /* machine code of NVIDIA's GPUs, as text */
  TIRC_EMIT_PORTABLE_C,  /* C source without extensions of compilers: vectors are loops */
  /* The same without malloc, threads and large arrays on the stack: what a function needs beyond 1
   * KB an array is a parameter, or, of a model, a part of the workspace. And its header. */
  TIRC_EMIT_NO_ALLOC_C,
  TIRC_EMIT_NO_ALLOC_HEADER,
  /* C source, and portable C source, that has NAME__rt, too, as the header declares it: parallel
   * loops on the caller's threads, and its memory. Of programs; a model is refused. */
  TIRC_EMIT_C_WITH_RUNTIME,
  TIRC_EMIT_PORTABLE_C_WITH_RUNTIME
} tirc_emit_kind;
/* Of a model, before it is made: the error that its object code, C source or header would end in
 * because a weight has an extent that is no number. Extents of inputs may be open: they lead the
 * parameters of the model's function, and NAME_workspace_size tells its workspace. */
TIRC_API tirc_status tirc_module_check_sizes(const tirc_module *m, tirc_error **error);
/* Tells options->warn, as tirc_module_check_code does, of the kernels that a module becomes for the
 * GPU options->target (NULL: the least one that takes the kind): what a host function computes
 * itself, which is in no kernel; a loop that is to overlap its iterations and stays as it is; of
 * TIRC_EMIT_PTX, a buffer of scope local that is not in registers. kind: TIRC_EMIT_OPENCL to
 * TIRC_EMIT_PTX. */
TIRC_API tirc_status tirc_module_check_kernels(const tirc_module *m, tirc_emit_kind kind,
                                               const tirc_schedule_options *options,
                                               tirc_error **error);

/* Code for a module (lowered first, if it is not yet). target: an LLVM CPU name, "native", or NULL
 * for "haswell". main_name: what a function called main is called in the code, since a C program
 * has a main of its own; NULL leaves it to tirc_module_emitted_names. *bytes is freed by
 * tirc_string_free. */
TIRC_API tirc_status tirc_module_emit(const tirc_module *m, tirc_emit_kind kind, const char *target,
                                      const char *main_name, char **bytes, size_t *n,
                                      tirc_error **error);

/* A model's code: one function, beside those of the module that it calls (tirc_module_phases made
 * them), and where its weights are. The header says how each is called. */
typedef enum tirc_weights_place {
  TIRC_WEIGHTS_PARAMS, /* each a parameter of the function */
  /* One block whose address is a parameter: tirc_module_emit_weights writes it to a file, which the
   * caller maps. In it lies what the function reads, laid out as the schedules ask for. */
  TIRC_WEIGHTS_BESIDE,
  /* The same block within the code. C source has it as text, up to 4 MB with the model's constants;
   * an object takes it from another one, by the hidden symbol NAME_weights (section .rodata,
   * aligned to 64 bytes). */
  TIRC_WEIGHTS_INSIDE
} tirc_weights_place;
typedef struct tirc_weights tirc_weights;
typedef struct tirc_emit_options {
  const char *target, *main_name; /* as for tirc_module_emit */
  tirc_weights_place place;
  const tirc_weights *weights; /* by the names of main's parameters; for C that has them inside */
} tirc_emit_options;
/* options may be NULL; for modules without a graph place decides nothing. */
TIRC_API tirc_status tirc_module_emit_model(const tirc_module *m, tirc_emit_kind kind,
                                            const tirc_emit_options *options, char **bytes,
                                            size_t *n, tirc_error **error);
/* The same for machine code and LLVM's text, and what tirc_module_check_code would say of it in the
 * same run of LLVM, which takes half the time of both calls. checked: as for that function; TIRC_NO
 * if it is strict and there is something. Code of other kinds is not checked. */
TIRC_API tirc_status tirc_module_emit_checked(const tirc_module *m, tirc_emit_kind kind,
                                              const tirc_emit_options *options,
                                              const tirc_schedule_options *checked, char **bytes,
                                              size_t *n, tirc_error **error);
/* Writes the block of options->weights for the code that the same options give, and how many bytes
 * it has, where bytes is not NULL. What is made of weights is computed on this machine. */
TIRC_API tirc_status tirc_module_emit_weights(const tirc_module *m,
                                              const tirc_emit_options *options, const char *path,
                                              int64_t *bytes, tirc_error **error);

/* Tells what the functions are called in such code of all kinds, the same in all: by their own
 * names, or, where C reserves that name or a library that programs are linked with has it (class,
 * exp, free, main), by another one. main_name as for tirc_module_emit; func is the name in the
 * program. Functions that the code has besides, which pack operands, come too;
 * the one function of a model is main. */
TIRC_API tirc_status tirc_module_emitted_names(const tirc_module *m, const char *main_name,
                                               void (*tell)(void *self, const char *func,
                                                            const char *symbol),
                                               void *self, tirc_error **error);

/* What is compiled for this process, by tirc_kernel_new, tirc_program_new and measurements, is kept
 * on disk, and so is not compiled again by this process or another one. The environment says where:
 * $TIRC_CACHE, a folder, or "off"; else tirc in $XDG_CACHE_HOME, else ~/.cache/tirc. $TIRC_CACHE_MB
 * bounds it (512): what was used least recently goes. Code does not depend on what is there; where
 * nothing can be kept, each process compiles. A program turns it off by setenv("TIRC_CACHE", "off",
 * 1) before it has threads. */
typedef struct tirc_code_cache {
  char folder[4096];             /* "": it is off */
  int64_t entries, bytes, limit; /* limit: of bytes */
  char problem[256];             /* "": none; else why nothing can be kept, or what is amiss */
} tirc_code_cache;
/* counts: entries and bytes, too, for which it looks at each of them. */
TIRC_API tirc_status tirc_code_cache_look(bool counts, tirc_code_cache *out, tirc_error **error);
/* Removes all that is kept. */
TIRC_API tirc_status tirc_code_cache_clear(tirc_error **error);

TIRC_C_END
#endif
