/* Modules, which are programs: read, print and compare them; their parameters. */
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
/* The same from memory; messages use `name` as the file name. */
TIRC_API tirc_status tirc_module_parse(const char *text, size_t length, const char *name,
                                       int n_defines, const tirc_define *defines, tirc_module **out,
                                       tirc_error **error);
TIRC_API void tirc_module_free(tirc_module *m);

/* The program as canonical text, which parses to the same program again. */
TIRC_API tirc_status tirc_module_print(const tirc_module *m, char **text, tirc_error **error);
/* The same program, whose texts use the given dialect from now on: its own text, those of modules
 * that schedules and passes make from it, and those in errors and traces. "tir" is the dialect of
 * TVM 0.20, which every module has at first, whatever the dialect of its text; "tirx" is that of
 * TVM's releases since 0.24. */
TIRC_API tirc_status tirc_module_in_dialect(const tirc_module *m, const char *dialect,
                                            tirc_module **out, tirc_error **error);
/* The same program, whose functions note which ranges of a size get schedules of their own when
 * rules schedule them, as "NAME=1,4,64-512": numbers and ranges in ascending order, without
 * overlap, for an extent that is known only when the function is called. Refused if no function has
 * this extent. */
TIRC_API tirc_status tirc_module_with_sizes(const tirc_module *m, const char *sizes,
                                            tirc_module **out, tirc_error **error);
/* A size of a program, such as n: one number if least equals most, otherwise a range. */
typedef struct tirc_size_range {
  const char *name;
  int64_t least, most;
} tirc_size_range;
/* What tirc_module_with_sizes noted, size by size, in ascending order; n: how many, possibly 0. The
 * names belong to the module; free the list with tirc_sizes_free. */
TIRC_API tirc_status tirc_module_sizes(const tirc_module *m, int *n, tirc_size_range **out,
                                       tirc_error **error);
TIRC_API void tirc_sizes_free(tirc_size_range *sizes);
/* The program as it is tuned for some of its sizes, with at most one range for each. An extent
 * given as one number becomes that number. For a range, rules assume its middle (T.func_attr(
 * {"usual_sizes": {"n": 288}})), but the program takes every size. The noted ranges are removed.
 * Refused if no function has a size of that name. */
TIRC_API tirc_status tirc_module_for_sizes(const tirc_module *m, int n,
                                           const tirc_size_range *sizes, tirc_module **out,
                                           tirc_error **error);
/* The name of a schedule's method in this dialect, given its name in either one: get_sblock for
 * get_block. NULL: there is no such dialect. */
TIRC_API const char *tirc_method_name(const char *dialect, const char *method);
/* Structural equality: *difference is NULL when equal, otherwise the first difference in words. */
TIRC_API tirc_status tirc_module_compare(const tirc_module *a, const tirc_module *b,
                                         char **difference, tirc_error **error);

/* A structural hash of 32 hexadecimal digits. Equal programs have equal hashes, in every run and on
 * every machine. Different programs have different hashes, except by accident. */
TIRC_API tirc_status tirc_module_hash(const tirc_module *m, char **hash, tirc_error **error);

/* A module with only one function of m (`func` as below), renamed to `name`. Its previous name
 * stays its "global_symbol". */
TIRC_API tirc_status tirc_module_alone(const tirc_module *m, const char *func, const char *name,
                                       tirc_module **out, tirc_error **error);

/* A parameter of a function. */
typedef struct tirc_param {
  const char *name;
  const char *dtype; /* "float32", ... */
  bool is_array;     /* otherwise a scalar */
  bool is_written;   /* some statement stores to it */
  int ndim;
  const int64_t *shape;      /* extents, -1 where symbolic, */
  const char *const *symbol; /* and there the name, if the extent is a plain variable */
  /* The name in the file that a model was read from, such as input.1 for input_1; equal to name if
   * there is no other. */
  const char *in_file;
} tirc_param;

/* `func` names a function, by its name or else its "global_symbol"; NULL means "main", or the only
 * one. */
TIRC_API int tirc_module_functions(const tirc_module *m);
TIRC_API const char *tirc_module_function(const tirc_module *m, int i);
TIRC_API tirc_status tirc_module_params(const tirc_module *m, const char *func, int *n,
                                        const tirc_param **params, tirc_error **error);

/* Constant number i at the top of a program, which a tirc_define overrides. Its value if it is an
 * integer; otherwise *is_int is false. Returns false after the last one. */
TIRC_API bool tirc_module_constant(const tirc_module *m, int i, const char **name, int64_t *value,
                                   bool *is_int);

/* How much a function computes, according to its block structure; for programs without symbolic
 * extents. */
typedef struct tirc_cost {
  double float_ops; /* additions, multiplications, ... on floats; a multiply-add is two */
  double reduction; /* the longest chain of reduction iterations into one element, at least 1 */
  bool is_exact;    /* false if extents or branches are known only at run time */
  /* For float32 C[M, N] = A[M, K] * B[K, N]: the extents (0 for anything else), and which
   * parameters are A, B and C. */
  int64_t m, n, k;
  int a, b, c;
} tirc_cost;
TIRC_API tirc_status tirc_module_cost(const tirc_module *m, const char *func, tirc_cost *out,
                                      tirc_error **error);
/* A rough estimate of the cycles that a function takes on so many threads. It is good for ranking
 * schedules of one program, and for nothing else. It was compared with measurements of up to forty
 * of the calls that `tirc repl` proposes, for twenty of the operators' programs, as they are and
 * after the first calls of --auto, on one thread of a busy Zen 3 (tests/next/agreement.py). Of two
 * calls whose measured times differ by a fifth, it has 79 % in the right order. The rank
 * correlation is 0.49 in the mean, from 0.1 to 0.8: the many calls that change nothing count as
 * much, and their measured order is noise. (`next --all --measure` in a session gives both.) */
TIRC_API tirc_status tirc_module_estimate(const tirc_module *m, const char *func, int threads,
                                          double *cycles, tirc_error **error);

TIRC_C_END
#endif
