/* libtirc: a small TensorIR compiler. Read a program, schedule it with a script, print it, lower
 * it, compile it, run it.
 *
 *     tirc_error *error = NULL;
 *     tirc_module *m, *fast;
 *     if (tirc_module_read("matmul.tir", 0, NULL, &m, &error) ||
 *         tirc_module_schedule(m, "tiled.sch", NULL, &fast, &error))
 *       puts(tirc_error_message(error));
 *
 * Conventions. A function that can fail returns a tirc_status and takes a `tirc_error **`: on
 * failure the error is put there (free it with tirc_error_free; NULL if you do not want it) and no
 * other result is touched. What a function gives out through a pointer belongs to the caller; each
 * type has its ..._free, which accepts NULL. Strings given out as `char *` are freed by
 * tirc_string_free; `const char *` belong to the object that they were asked of.
 *
 * Threads. Modules and kernels are immutable and may be used by several threads at once; arrays,
 * executors and calls by one at a time. The library has no global state.
 */
#ifndef TIRC_H
#define TIRC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TIRC_API __attribute__((visibility("default")))

typedef enum tirc_status {
  TIRC_OK = 0,
  TIRC_NO = 1, /* well formed, but the answer is no: a ScheduleError, a failed check */
  TIRC_BAD = 2 /* bad input: syntax, types, arguments, files */
} tirc_status;

typedef struct tirc_error tirc_error;
typedef struct tirc_module tirc_module;
typedef struct tirc_array tirc_array;
typedef struct tirc_npz tirc_npz;
typedef struct tirc_executor tirc_executor;
typedef struct tirc_kernel tirc_kernel;
typedef struct tirc_launch tirc_launch;

TIRC_API const char *tirc_version(void);
TIRC_API void tirc_string_free(char *s);

/* --- errors ------------------------------------------------------------------------------------
 */

/* Any of these but the message and the code may be NULL: what the error does not have. */
typedef enum tirc_error_field {
  TIRC_ERROR_CODE, /* stable: "syntax", "not-single-writer", ...; see tirc_error_table */
  TIRC_ERROR_MESSAGE,
  TIRC_ERROR_HINT,      /* what to do instead */
  TIRC_ERROR_FILE,      /* where, with tirc_error_line and tirc_error_column */
  TIRC_ERROR_EXCERPT,   /* the source line with a caret below */
  TIRC_ERROR_PRIMITIVE, /* ScheduleErrors: the primitive, */
  TIRC_ERROR_CALL,      /* the call with its arguments, */
  TIRC_ERROR_CONDITION, /* which condition of which definition does not hold, */
  TIRC_ERROR_IR         /* and the program with the offending places underlined */
} tirc_error_field;

TIRC_API tirc_status tirc_error_status(const tirc_error *e);
TIRC_API const char *tirc_error_get(const tirc_error *e, tirc_error_field field);
TIRC_API int tirc_error_line(const tirc_error *e); /* from 1; 0 when there is no place */
TIRC_API int tirc_error_column(const tirc_error *e);
TIRC_API void tirc_error_free(tirc_error *e);
static inline const char *tirc_error_message(const tirc_error *e) {
  return tirc_error_get(e, TIRC_ERROR_MESSAGE);
}

/* --- modules: programs -------------------------------------------------------------------------
 */

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
/* Structural equality: *difference is NULL when equal, otherwise the first difference in words. */
TIRC_API tirc_status tirc_module_compare(const tirc_module *a, const tirc_module *b,
                                         char **difference, tirc_error **error);

/* What a function takes. */
typedef struct tirc_param {
  const char *name;
  const char *dtype; /* "float32", ... */
  bool is_array;     /* otherwise a scalar */
  bool is_written;   /* some statement stores to it */
  int ndim;
  const int64_t *shape;      /* extents, -1 where symbolic, */
  const char *const *symbol; /* and there the name, if the extent is a plain variable */
} tirc_param;

/* `func` names a function; NULL means "main", or the only one. */
TIRC_API int tirc_module_functions(const tirc_module *m);
TIRC_API const char *tirc_module_function(const tirc_module *m, int i);
TIRC_API tirc_status tirc_module_params(const tirc_module *m, const char *func, int *n,
                                        const tirc_param **params, tirc_error **error);

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

/* --- schedules ---------------------------------------------------------------------------------
 */

typedef struct tirc_schedule_options {
  const char *target; /* what the script sees as sch.target; NULL: "haswell" */
  int64_t max_steps;  /* 0: 10 million */
  bool strict;        /* warnings are errors */
  bool verify;        /* check the schedule's own state after each primitive; slow */
  void *self;         /* handed to the functions below, each of which may be NULL */
  void (*print)(void *self, const char *text); /* what the script prints */
  /* After each primitive: the call as text, where it stands, and NULL or why it failed. */
  void (*trace)(void *self, const char *call, const char *file, int line, const char *failure);
  void (*warn)(void *self, const char *file, int line, int column, const char *message);
} tirc_schedule_options;

/* Runs a schedule script (a file; "-" is standard input) on a module; the scheduled one is a new
 * module. options may be NULL. TIRC_NO: a ScheduleError. */
TIRC_API tirc_status tirc_module_schedule(const tirc_module *m, const char *path,
                                          const tirc_schedule_options *options, tirc_module **out,
                                          tirc_error **error);
TIRC_API tirc_status tirc_module_schedule_text(const tirc_module *m, const char *text,
                                               size_t length, const char *name,
                                               const tirc_schedule_options *options,
                                               tirc_module **out, tirc_error **error);

/* Does again what a trace says: a file with a bare [instructions, decisions], or with tuning
 * records of TVM, [workload, [[instructions, decisions], seconds, target, arguments]] one a line.
 * record counts from 1; 0 takes the one with the least mean time. TIRC_NO: a ScheduleError. */
TIRC_API tirc_status tirc_module_replay(const tirc_module *m, const char *path, int64_t record,
                                        const tirc_schedule_options *options, tirc_module **out,
                                        tirc_error **error);
/* The trace of the schedule that made this module: what tirc_module_replay does to the module that
 * it was made from. Empty for a module that no schedule made. */
typedef enum tirc_trace_format {
  TIRC_TRACE_JSON,  /* [instructions, decisions], as TVM stores it */
  TIRC_TRACE_SCRIPT /* def apply_trace(sch): ..., as TVM prints it */
} tirc_trace_format;
TIRC_API tirc_status tirc_module_trace(const tirc_module *m, tirc_trace_format format, char **text,
                                       tirc_error **error);

/* --- schedules, step by step -------------------------------------------------------------------
 */

/* A buffer that a block accesses, or that a block or function brings. */
typedef struct tirc_access {
  const char *buffer;
  const char *detail; /* the region: "A[vi, vk]"; of what is brought, "float32[16, 8]" */
  const char *scope;  /* "global", ... of what is brought; otherwise NULL */
} tirc_access;

/* A function, loop or block of a program, in the order of its text. */
typedef enum tirc_node_kind { TIRC_FUNCTION, TIRC_LOOP, TIRC_BLOCK } tirc_node_kind;
typedef struct tirc_node {
  tirc_node_kind kind;
  int depth; /* 0: a function */
  int line;  /* in the text, from 1 */
  const char *name;
  const char *annotations; /* as text, or NULL */
  /* loops: "serial", "parallel", "vectorized", "unroll" or "thread_binding"; the extent as printed
   * ("128", "n"); the thread axis, or NULL */
  const char *loop_kind, *extent, *thread;
  /* blocks: the kinds of the iterators ("SSR"), the condition under which it runs, or NULL */
  const char *iters, *predicate;
  bool has_init;
  int n_reads, n_writes, n_allocs; /* functions: the arrays they take are their allocs */
  const tirc_access *reads, *writes, *allocs;
} tirc_node;

/* A program as text, and its loops and blocks. */
typedef struct tirc_view {
  const char *text;
  int n;
  const tirc_node *nodes;
} tirc_view;

/* One call of a primitive. */
typedef struct tirc_step {
  const char *primitive, *call; /* "split", "sch.split(j, factors=[None, 32])" */
  const char *sentence;         /* what it did */
  const char *file;
  int line, column;
  const tirc_view *before, *after; /* the very same when the program did not change */
  const tirc_error *error;         /* NULL: it succeeded */
} tirc_step;

typedef struct tirc_steps tirc_steps;
/* Runs a schedule script (a file; "-" is standard input) and keeps what each call did. A script
 * that fails gives its steps, too, and tirc_steps_error says how it ended. */
TIRC_API tirc_status tirc_module_steps(const tirc_module *m, const char *path,
                                       const tirc_schedule_options *options, tirc_steps **out,
                                       tirc_error **error);
TIRC_API tirc_status tirc_module_steps_text(const tirc_module *m, const char *text, size_t length,
                                            const char *name, const tirc_schedule_options *options,
                                            tirc_steps **out, tirc_error **error);
TIRC_API void tirc_steps_free(tirc_steps *s);
TIRC_API int tirc_steps_count(const tirc_steps *s);
TIRC_API const tirc_step *tirc_steps_at(const tirc_steps *s, int i); /* from 0; NULL behind the end */
TIRC_API const char *tirc_steps_script(const tirc_steps *s);         /* the script's text */
TIRC_API const tirc_view *tirc_steps_first(const tirc_steps *s);     /* before the first call */
TIRC_API const tirc_error *tirc_steps_error(const tirc_steps *s);    /* NULL: it ran to its end */
/* The program that a view shows, which belongs to the steps; NULL for a view of others. */
TIRC_API const tirc_module *tirc_steps_module(const tirc_steps *s, const tirc_view *view);

/* --- lowering and code -------------------------------------------------------------------------
 */

/* Through all passes. `after` (or NULL) sees the program as text after each pass. */
TIRC_API tirc_status tirc_module_lower(const tirc_module *m,
                                       void (*after)(void *self, const char *pass,
                                                     const char *text),
                                       void *self, tirc_module **out, tirc_error **error);

typedef enum tirc_emit_kind {
  TIRC_EMIT_LLVM, /* LLVM IR */
  TIRC_EMIT_ASM,  /* assembly */
  TIRC_EMIT_OBJECT,
  TIRC_EMIT_HEADER, /* a C header that declares what the object file defines */
  /* Assembly in which each loop is headed by its name, extent, block and mix of instructions; and
   * the same figures as JSON. For a module that is not lowered yet. */
  TIRC_EMIT_ANNOTATED,
  TIRC_EMIT_ANNOTATIONS
} tirc_emit_kind;
/* Code for a module (lowered first, if it is not yet). target: an LLVM CPU name, "native", or NULL
 * for "haswell". main_name: what a function called main is called in the code, since a C program
 * has a main of its own; NULL leaves it. *bytes is freed by tirc_string_free. */
TIRC_API tirc_status tirc_module_emit(const tirc_module *m, tirc_emit_kind kind, const char *target,
                                      const char *main_name, char **bytes, size_t *n,
                                      tirc_error **error);

/* --- arrays ------------------------------------------------------------------------------------
 */

/* Compact row-major arrays, zeroed; large ones lie on huge pages where the system has them. */
TIRC_API tirc_status tirc_array_new(const char *dtype, int ndim, const int64_t *shape,
                                    tirc_array **out, tirc_error **error);
TIRC_API tirc_status tirc_array_read_npy(const char *path, tirc_array **out, tirc_error **error);
TIRC_API tirc_status tirc_array_write_npy(const tirc_array *a, const char *path,
                                          tirc_error **error);
/* .npz archives, as numpy.savez writes them: arrays by name. Name number i, NULL behind the last. */
TIRC_API tirc_status tirc_npz_open(const char *path, tirc_npz **out, tirc_error **error);
TIRC_API const char *tirc_npz_name(const tirc_npz *z, int i);
TIRC_API tirc_status tirc_npz_read(const tirc_npz *z, const char *name, tirc_array **out,
                                   tirc_error **error);
TIRC_API void tirc_npz_close(tirc_npz *z); /* NULL is fine */
/* Replaces the file, or leaves it as it is when writing fails. */
TIRC_API tirc_status tirc_npz_write(const char *path, int n, const char *const *names,
                                    const tirc_array *const *arrays, tirc_error **error);
TIRC_API tirc_status tirc_array_copy(const tirc_array *a, tirc_array **out, tirc_error **error);
TIRC_API void tirc_array_free(tirc_array *a);
TIRC_API const char *tirc_array_dtype(const tirc_array *a);
TIRC_API int tirc_array_ndim(const tirc_array *a);
TIRC_API const int64_t *tirc_array_shape(const tirc_array *a);
TIRC_API int64_t tirc_array_count(const tirc_array *a);
TIRC_API void *tirc_array_data(tirc_array *a);
/* Floats in [-1, 1), small integers; the same for the same seed on every machine. */
TIRC_API void tirc_array_fill_random(tirc_array *a, uint64_t seed);
/* NaN for floats, the least value for integers: what is not overwritten shows. */
TIRC_API void tirc_array_fill_poison(tirc_array *a);
TIRC_API double tirc_array_get(const tirc_array *a, int64_t i); /* element i in row-major order */
TIRC_API void tirc_array_set(tirc_array *a, int64_t i, double value);

/* --- running -----------------------------------------------------------------------------------
 */

/* One argument a parameter. */
typedef struct tirc_argument {
  tirc_array *array; /* for arrays; written in place */
  int64_t i;         /* for integer scalars */
  double f;          /* for float scalars */
} tirc_argument;

/* The reference interpreter: slow, sequential, every access checked. max_steps 0: no limit. */
TIRC_API tirc_status tirc_module_interpret(const tirc_module *m, const char *func, int n,
                                           const tirc_argument *args, int64_t max_steps,
                                           tirc_error **error);

/* Threads and workspace for kernels. threads 0: TIRC_NUM_THREADS, else one a core. */
TIRC_API tirc_status tirc_executor_new(int threads, tirc_executor **out, tirc_error **error);
TIRC_API void tirc_executor_free(tirc_executor *x);
TIRC_API int tirc_executor_threads(const tirc_executor *x);

/* A function compiled into this process. target as for tirc_module_emit. */
TIRC_API tirc_status tirc_kernel_new(const tirc_module *m, const char *func, const char *target,
                                     tirc_kernel **out, tirc_error **error);
TIRC_API void tirc_kernel_free(tirc_kernel *k);
/* Checks the arguments and runs. */
TIRC_API tirc_status tirc_kernel_run(const tirc_kernel *k, tirc_executor *x, int n,
                                     const tirc_argument *args, tirc_error **error);
/* The same in two steps, for a call that is made many times: the arguments are checked once. The
 * arrays, the kernel and the executor must stay. */
TIRC_API tirc_status tirc_launch_new(const tirc_kernel *k, tirc_executor *x, int n,
                                     const tirc_argument *args, tirc_launch **out,
                                     tirc_error **error);
TIRC_API int tirc_launch_run(tirc_launch *launch); /* 0, or 1 when memory for workspace is out */
TIRC_API void tirc_launch_free(tirc_launch *launch);

/* Seconds of a clock that never goes back; the measured float32 ceiling of AVX2 and FMA in
 * operations a second (0 where there is none); the processor's name. */
TIRC_API double tirc_seconds(void);
TIRC_API double tirc_machine_peak(int threads);
TIRC_API void tirc_machine_name(char *out, size_t size);

/* --- tables ------------------------------------------------------------------------------------
 */

/* Number i of a table; false behind its end. */
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
/* Its parameter number k: name and default as Python text (NULL: required). */
TIRC_API bool tirc_primitive_param(int i, int k, const char **name, const char **default_text);
/* What help says of primitive i. Lists end with NULL or -1. */
typedef struct tirc_primitive_doc {
  const char *const *params;    /* what each parameter means */
  const char *returns;          /* NULL: nothing */
  const char *program, *script; /* an example */
  const char *const *needs;     /* preconditions */
  const int *errors;            /* numbers in the error table */
} tirc_primitive_doc;
TIRC_API bool tirc_primitive_documentation(int i, tirc_primitive_doc *out);
/* Whether primitive i can raise error k, by what the documentation says. */
TIRC_API bool tirc_primitive_raises(int i, int k);
/* The terms that errors use, in plain words; errors: those that a term explains. */
typedef struct tirc_definition_info {
  const char *name, *text;
  const int *errors;
} tirc_definition_info;
TIRC_API bool tirc_definition_table(int i, tirc_definition_info *out);
TIRC_API bool tirc_pass_table(int i, const char **name, const char **help);
/* The processors that code can be made for. Caches are those of one core, in bytes; 0: none, or
 * unknown. */
typedef struct tirc_target_info {
  const char *name, *arch, *isa; /* "haswell", "x86_64", "AVX2+FMA" */
  int vector_bits, vector_registers;
  int64_t l1, l2, l3;
} tirc_target_info;
TIRC_API bool tirc_target_table(int i, tirc_target_info *out);
/* One of them by its name, or this machine for "native". */
TIRC_API tirc_status tirc_target_find(const char *name, tirc_target_info *out, tirc_error **error);

#ifdef __cplusplus
}
#endif
#endif
