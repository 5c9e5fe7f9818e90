/* The tables of errors, primitives, passes, processors and GPUs. */
#ifndef TIRC_TIRC_TABLES_H
#define TIRC_TIRC_TABLES_H

#include "base.h"

TIRC_C_BEGIN

/* Row i of a table; false after the last one. */
typedef struct tirc_error_info {
  const char *code, *title, *hint;
  tirc_status status; /* TIRC_NO: a ScheduleError; TIRC_BAD: a mistake in the call itself */
} tirc_error_info;
TIRC_API bool tirc_error_table(int i, tirc_error_info *out);
typedef struct tirc_primitive_info {
  const char *name, *help;
  int n_params;
  int star;         /* the parameter that takes any number of arguments, or -1 */
  int keyword_only; /* parameters from this number on are given by name; -1: none */
} tirc_primitive_info;
TIRC_API bool tirc_primitive_table(int i, tirc_primitive_info *out);
/* Its parameter number k: name and default value as Python text (NULL: required). */
TIRC_API bool tirc_primitive_param(int i, int k, const char **name, const char **default_text);
/* The help for primitive i. Lists end with NULL or -1. */
typedef struct tirc_primitive_doc {
  const char *const *params;    /* what each parameter means */
  const char *returns;          /* NULL: nothing */
  const char *program, *script; /* an example */
  const char *const *needs;     /* preconditions */
  const int *errors;            /* numbers in the error table */
} tirc_primitive_doc;
TIRC_API bool tirc_primitive_documentation(int i, tirc_primitive_doc *out);
/* Whether primitive i can raise error k, according to its documentation. */
TIRC_API bool tirc_primitive_raises(int i, int k);
/* The terms that error messages use, in plain words. errors: those that a term explains. */
typedef struct tirc_definition_info {
  const char *name, *text;
  const int *errors;
} tirc_definition_info;
TIRC_API bool tirc_definition_table(int i, tirc_definition_info *out);
TIRC_API bool tirc_pass_table(int i, const char **name, const char **help);
/* The additional passes that tirc_module_lower_only accepts. help: NULL for another name of the
 * pass `of`. */
TIRC_API bool tirc_pass_alone_table(int i, const char **name, const char **help, const char **of);
/* What tirc_module_lower_only does in addition when a pass is given as NAME+OPTION. */
TIRC_API bool tirc_pass_option_table(int i, const char **pass, const char **name,
                                     const char **help);
/* The language of programs: the facts about several T.* functions at once, ordered for reading,
 * under topics. types: of the arguments and of the result of a call, as text. */
typedef struct tirc_function_info {
  const char *topic, *types, *help;
} tirc_function_info;
TIRC_API bool tirc_function_table(int i, tirc_function_info *out);
/* Function k of row i: its name after "T.", and the names of its arguments, separated by spaces,
 * with `?` after those that can be left out, and `*` for any number. */
TIRC_API bool tirc_function_name(int i, int k, const char **name, const char **arguments);
/* The keys of annotations that something reads: on which statements they stand ("loop", "block,
 * attr"), what values they have, and what they do. */
typedef struct tirc_annotation_info {
  const char *key, *where, *value, *help;
} tirc_annotation_info;
TIRC_API bool tirc_annotation_table(int i, tirc_annotation_info *out);
/* What scripts offer besides the primitives: functions (owner NULL), methods and attributes of
 * types, members of modules (`math`, `tir`), exceptions. */
typedef enum tirc_script_kind {
  TIRC_SCRIPT_FUNCTION,
  TIRC_SCRIPT_METHOD,
  TIRC_SCRIPT_ATTRIBUTE,
  TIRC_SCRIPT_EXCEPTION
} tirc_script_kind;
typedef struct tirc_script_info {
  tirc_script_kind kind;
  const char *owner, *name;
} tirc_script_info;
TIRC_API bool tirc_script_table(int i, tirc_script_info *out);
/* The processors for which code can be generated. Caches are those of one core, in bytes; 0: none,
 * or unknown. */
typedef struct tirc_target_info {
  const char *name, *arch, *isa; /* "haswell", "x86_64", "AVX2+FMA" */
  int vector_bits, vector_registers;
  int64_t l1, l2, l3;
} tirc_target_info;
TIRC_API bool tirc_target_table(int i, tirc_target_info *out);
/* One of them by its name, or this machine for "native". */
TIRC_API tirc_status tirc_target_find(const char *name, tirc_target_info *out, tirc_error **error);
/* The GPUs for which kernels can be generated, and the limits of a block of threads: threads,
 * threads of a warp (1: unknown), bytes of shared memory in the scopes shared and shared.dyn,
 * 32-bit registers (0: unknown). */
typedef struct tirc_gpu_info {
  const char *name, *kind; /* "sm_80", "cuda", "opencl" or "webgpu" */
  int threads, warp;
  int64_t shared, shared_dyn, registers;
} tirc_gpu_info;
TIRC_API bool tirc_gpu_table(int i, tirc_gpu_info *out);
/* A known card, "nvidia/nvidia-t4", and the name of its row. */
TIRC_API bool tirc_gpu_card_table(int i, const char **card, const char **name);
/* Finds a GPU by the name of a row or a card. If a name looks like a GPU's but is none, this is an
 * error with the nearest name; for any other name, *found is false. */
TIRC_API tirc_status tirc_gpu_find_target(const char *name, bool *found, tirc_gpu_info *out,
                                          tirc_error **error);

TIRC_C_END
#endif
