/* Modules, which are programs: read, printed, compared; what they take. */
#ifndef TIRC_TIRC_MODULE_H
#define TIRC_TIRC_MODULE_H

#include "base.h"

TIRC_C_BEGIN

typedef struct tirc_module tirc_module;

/* Overrides a constant at the top of a program (`-D M=128`). value is a literal. */
typedef struct tirc_define {
  const char *name, *value;
} tirc_define;

/* Parses and verifies a program; path "-" is standard input. */
TIRC_API tirc_status tirc_module_read(const char *path, int n_defines, const tirc_define *defines,
                                      tirc_module **out, tirc_error **error);
/* The same from memory; `name` stands for the file in messages. */
TIRC_API tirc_status tirc_module_parse(const char *text, size_t length, const char *name,
                                       int n_defines, const tirc_define *defines, tirc_module **out,
                                       tirc_error **error);
TIRC_API void tirc_module_free(tirc_module *m);

/* The program as canonical text, which parses to the same program again. */
TIRC_API tirc_status tirc_module_print(const tirc_module *m, char **text, tirc_error **error);
/* The same program, whose texts are in the given dialect from here on: its own, those of modules
 * that schedules and passes make of it, and in errors and traces. "tir": that of TVM 0.20, which
 * every module has at first, in whichever its text was; "tirx": that of TVM's releases since 0.24.
 */
TIRC_API tirc_status tirc_module_in_dialect(const tirc_module *m, const char *dialect,
                                            tirc_module **out, tirc_error **error);
/* The same program, whose functions note which ranges of a size are to get schedules of their own
 * when rules schedule them, as "NAME=1,4,64-512": numbers and ranges in ascending order, apart from
 * each other, of an extent that only a call tells. Refused where no function has it. */
TIRC_API tirc_status tirc_module_with_sizes(const tirc_module *m, const char *sizes,
                                            tirc_module **out, tirc_error **error);
/* A size of a program, such as n: one number where least equals most, or a range. */
typedef struct tirc_size_range {
  const char *name;
  int64_t least, most;
} tirc_size_range;
/* What tirc_module_with_sizes noted, size by size, in ascending order; n: how many, 0: nothing. The
 * names are the module's; free the list with tirc_sizes_free. */
TIRC_API tirc_status tirc_module_sizes(const tirc_module *m, int *n, tirc_size_range **out,
                                       tirc_error **error);
TIRC_API void tirc_sizes_free(tirc_size_range *sizes);
/* The program as it is tuned for some of its sizes, at most one range of each: an extent that is
 * one number is that number, and of a range rules have the middle in mind (T.func_attr(
 * {"usual_sizes": {"n": 288}})), while the program takes every size. Ranges that were noted are
 * gone. Refused where no function has a size of that name. */
TIRC_API tirc_status tirc_module_for_sizes(const tirc_module *m, int n,
                                           const tirc_size_range *sizes, tirc_module **out,
                                           tirc_error **error);
/* A method of schedules, given by its name in either dialect, as this one calls it: get_sblock for
 * get_block. NULL: there is no such dialect. */
TIRC_API const char *tirc_method_name(const char *dialect, const char *method);
/* Structural equality: *difference is NULL when equal, otherwise the first difference in words. */
TIRC_API tirc_status tirc_module_compare(const tirc_module *a, const tirc_module *b,
                                         char **difference, tirc_error **error);

/* A structural hash, 32 hexadecimal digits: equal programs have equal ones, in every run and on
 * every machine. Others have others but by accident. */
TIRC_API tirc_status tirc_module_hash(const tirc_module *m, char **hash, tirc_error **error);

/* A module of one function of m (`func` as below), called `name`. What it was called stays its
 * "global_symbol". */
TIRC_API tirc_status tirc_module_alone(const tirc_module *m, const char *func, const char *name,
                                       tirc_module **out, tirc_error **error);

/* What a function takes. */
typedef struct tirc_param {
  const char *name;
  const char *dtype; /* "float32", ... */
  bool is_array;     /* otherwise a scalar */
  bool is_written;   /* some statement stores to it */
  int ndim;
  const int64_t *shape;      /* extents, -1 where symbolic, */
  const char *const *symbol; /* and there the name, if the extent is a plain variable */
  /* What the file that a model was read from calls it, input.1 for input_1: the name, where there
   * is no other. */
  const char *in_file;
} tirc_param;

/* `func` names a function, by its name or else its "global_symbol"; NULL means "main", or the only
 * one. */
TIRC_API int tirc_module_functions(const tirc_module *m);
TIRC_API const char *tirc_module_function(const tirc_module *m, int i);
TIRC_API tirc_status tirc_module_params(const tirc_module *m, const char *func, int *n,
                                        const tirc_param **params, tirc_error **error);

/* Constant number i at the top of a program, which a tirc_define overrides: its value if it is an
 * integer, otherwise *is_int is false. The function is false behind the last. */
TIRC_API bool tirc_module_constant(const tirc_module *m, int i, const char **name, int64_t *value,
                                   bool *is_int);

/* How much a function computes, from its block structure; for programs without symbolic extents. */
typedef struct tirc_cost {
  double float_ops; /* additions, multiplications, ... on floats; a multiply-add is two */
  double reduction; /* the longest chain of reduction iterations into one element, at least 1 */
  bool is_exact;    /* false when extents or branches depend on what is not known before the run */
  /* float32 C[M, N] = A[M, K] * B[K, N]: the extents (0 when it is something else) and which
   * parameters are A, B and C. */
  int64_t m, n, k;
  int a, b, c;
} tirc_cost;
TIRC_API tirc_status tirc_module_cost(const tirc_module *m, const char *func, tirc_cost *out,
                                      tirc_error **error);
/* A rough guess at the cycles that a function takes on so many threads: good for an order between
 * schedules of one program, and for nothing else. Over all calls that `tirc repl` proposes for a
 * product of 128x768x768, a softmax, a stencil of two stages and a convolution, on 2 threads of a
 * Zen 3: of two calls whose measured times differ by a fifth, the guess has 98, 92, 91 and 86 % in
 * the right order; the rank correlation, in which the many calls that change little count as much,
 * is 0.69, 0.57, 0.65 and 0.42. (`next --all --measure` in a session gives both.) */
TIRC_API tirc_status tirc_module_estimate(const tirc_module *m, const char *func, int threads,
                                          double *cycles, tirc_error **error);

TIRC_C_END
#endif
