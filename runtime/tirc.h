/* libtirc: a small TensorIR compiler. Read a program or build one, schedule it by a script or call
 * by call, print it, lower it, compile it, run it, time it.
 *
 *     tirc_error *error = NULL;
 *     tirc_module *m, *fast;
 *     if (tirc_module_read("matmul.tir", 0, NULL, &m, &error) ||
 *         tirc_module_schedule(m, "tiled.sch", NULL, &fast, &error))
 *       puts(tirc_error_message(error));
 *
 * examples/embed/jit.c does all of the above in one short program. Compile with
 *
 *     cc $(pkg-config --cflags tirc) jit.c $(pkg-config --libs tirc)
 *
 * The parts of this header, in the order of their use: errors; modules (programs), read from text;
 * a builder, for programs made in code; schedules by script and by trace, and step by step;
 * schedules call by call, with values that go in and out; lowering and code; arrays and DLPack
 * tensors; running; measuring; searching; the tables of primitives, errors and passes.
 *
 * Conventions. A function that can fail returns a tirc_status and takes a `tirc_error **`: on
 * failure the error is put there (free it with tirc_error_free; NULL if you do not want it) and no
 * other result is touched. What a function gives out through a pointer belongs to the caller; each
 * type has its ..._free, which accepts NULL. Strings given out as `char *` are freed by
 * tirc_string_free; `const char *` belong to the object that they were asked of. What is passed in
 * is copied where it is kept, unless a function says otherwise. NULL where nothing says that it may
 * be, and a negative count, give TIRC_BAD with the code "argument"; from functions without a status
 * they give NULL, 0, false or NaN, and do nothing.
 *
 * Threads. Modules and kernels are immutable and may be used by several threads at once; arrays,
 * builders, executors, launches and calls by one at a time, and so is a schedule together with its
 * copies (in Python, which locks them, any may share them). The library has no global state. It
 * reads and writes numbers and letters in one way, whatever the locale is.
 *
 * Stack. 64 KB of the calling thread's are enough for any call. Where it has less than 4 MB left,
 * what recurses is done on a thread of its own, which has ended when the call returns and which
 * your callbacks then are called from. Code that tirc_module_emit gives needs up to 1 MB for the
 * buffers of a function and of a parallel loop in it; a launch sees to it by itself.
 *
 * Versions. TIRC_ABI is the number in the library's soname and in the version of its symbols. It
 * grows when a program compiled against an older header would no longer work; functions, enum
 * values and error codes that are merely new do not change it. Structs that you fill in
 * (tirc_schedule_options, tirc_argument, tirc_value, ...) are to be zeroed first.
 */
#ifndef TIRC_H
#define TIRC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tirc_dlpack.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TIRC_ABI 1

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
typedef struct tirc_schedule tirc_schedule;
typedef struct tirc_builder tirc_builder;

TIRC_API const char *tirc_version(void); /* of the release: "0.1.0" */
TIRC_API int tirc_abi(void);             /* TIRC_ABI of the library that is loaded */
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
/* The same program, whose texts are in the given dialect from here on: its own, those of modules
 * that schedules and passes make of it, and in errors and traces. "tir": that of TVM 0.20, which
 * every module has at first, in whichever its text was; "tirx": that of TVM's releases since 0.24.
 */
TIRC_API tirc_status tirc_module_in_dialect(const tirc_module *m, const char *dialect,
                                            tirc_module **out, tirc_error **error);
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

/* --- a builder: programs made in code ----------------------------------------------------------
 */

/* Every word of the language is a function here: tirc_build_func, _for, _block, _if ... begin what
 * the matching tirc_build_end ends, statements go into the innermost of these, and terms
 * (variables, buffers, expressions) are handles that live as long as the builder.
 *
 *     tirc_build_func(b, "main");
 *     tirc_term n = tirc_build_int(b, NULL, 128);
 *     tirc_term A = tirc_build_buffer(b, "A", "float32", 1, &n, NULL);
 *     tirc_term B = tirc_build_buffer(b, "B", "float32", 1, &n, NULL);
 *     tirc_term i = tirc_build_for(b, "serial", "i", NULL, n, NULL, NULL);
 *     tirc_build_block(b, "B");
 *     tirc_term vi = tirc_build_axis(b, "spatial", "vi", NULL, n, i);
 *     tirc_build_store(b, B, 1, &vi, tirc_build_op(b, "*", tirc_build_load(b, A, 1, &vi),
 *                                                  tirc_build_float(b, "float32", 2)));
 *     tirc_build_end(b), tirc_build_end(b), tirc_build_end(b);
 *     status = tirc_builder_module(b, &m, &error);
 *
 * No call has to be checked alone: after the first mistake all others do nothing and give NULL, and
 * tirc_builder_module says what it was (code "build", or what a program's text would get, with the
 * line). A name that is taken gets a number: i, i_1. What a program may leave out may be left out.
 */
typedef const struct tirc_term_node *tirc_term;

TIRC_API tirc_status tirc_builder_new(tirc_builder **out, tirc_error **error);
TIRC_API void tirc_builder_free(tirc_builder *b);
/* The functions ended so far as a module. */
TIRC_API tirc_status tirc_builder_module(tirc_builder *b, tirc_module **out, tirc_error **error);

TIRC_API void tirc_build_func(tirc_builder *b, const char *name);
TIRC_API void tirc_build_end(tirc_builder *b); /* of the innermost that is open */

/* Parameters and buffers. A symbol is an extent that the arrays of a call determine; a buffer is a
 * parameter, an alloc_buffer lives in the function or in the block that it stands in. options may
 * be NULL, and so may each of its fields. */
typedef struct tirc_buffer_options {
  const tirc_term *strides; /* one a dimension */
  tirc_term elem_offset;
  const char *scope;
  int align, offset_factor; /* 0: as usual */
} tirc_buffer_options;
TIRC_API tirc_term tirc_build_param(tirc_builder *b, const char *name, const char *dtype);
TIRC_API tirc_term tirc_build_symbol(tirc_builder *b, const char *name, const char *dtype);
TIRC_API tirc_term tirc_build_buffer(tirc_builder *b, const char *name, const char *dtype, int ndim,
                                     const tirc_term *shape, const tirc_buffer_options *options);
TIRC_API tirc_term tirc_build_alloc_buffer(tirc_builder *b, const char *name, const char *dtype,
                                           int ndim, const tirc_term *shape,
                                           const tirc_buffer_options *options);

/* Loops. kind: "serial", "parallel", "vectorized", "unroll", "thread_binding" (with thread:
 * "threadIdx.x" ..., otherwise NULL). From start (NULL: 0) to stop. annotations: a dict as
 * tirc_build_text makes it, or NULL. A grid is ended once. */
TIRC_API tirc_term tirc_build_for(tirc_builder *b, const char *kind, const char *name,
                                  tirc_term start, tirc_term stop, const char *thread,
                                  tirc_term annotations);
TIRC_API void tirc_build_grid(tirc_builder *b, int n, const char *const *names,
                              const tirc_term *extents, tirc_term *vars);

/* Blocks. An iterator runs over [begin, end), begin NULL: from 0, and is bound to value; kind:
 * "spatial", "reduce", "opaque", "scan". Reads and writes that are not given are inferred. */
TIRC_API void tirc_build_block(tirc_builder *b, const char *name);
TIRC_API tirc_term tirc_build_axis(tirc_builder *b, const char *kind, const char *name,
                                   tirc_term begin, tirc_term end, tirc_term value);
TIRC_API void tirc_build_where(tirc_builder *b, tirc_term condition);
TIRC_API void tirc_build_reads(tirc_builder *b, int n, const tirc_term *regions);
TIRC_API void tirc_build_writes(tirc_builder *b, int n, const tirc_term *regions);
TIRC_API void tirc_build_block_attr(tirc_builder *b, const char *key, tirc_term value);
TIRC_API void tirc_build_func_attr(tirc_builder *b, const char *key, tirc_term value);
TIRC_API void tirc_build_init(tirc_builder *b);

/* Statements. An else stands in the place of the if's end, and is itself ended. */
TIRC_API void tirc_build_store(tirc_builder *b, tirc_term buffer, int n, const tirc_term *indices,
                               tirc_term value);
TIRC_API void tirc_build_if(tirc_builder *b, tirc_term condition);
TIRC_API void tirc_build_else(tirc_builder *b);
TIRC_API void tirc_build_while(tirc_builder *b, tirc_term condition);
TIRC_API tirc_term tirc_build_let(tirc_builder *b, const char *name, const char *dtype,
                                  tirc_term value);
TIRC_API void tirc_build_assert(tirc_builder *b, tirc_term condition, const char *message);
TIRC_API void tirc_build_evaluate(tirc_builder *b, tirc_term e);

/* Expressions. dtype of an int may be NULL: then it takes the other operand's. op: + - * / // % <<
 * >> & | ^ < <= > >= == != and or. A call is one of the language's intrinsics without its "T.":
 * "exp", "max", "if_then_else". A region has a lower and an upper bound a dimension. Text is any
 * expression of the language, with the names that the terms' variables got. */
TIRC_API tirc_term tirc_build_int(tirc_builder *b, const char *dtype, int64_t value);
TIRC_API tirc_term tirc_build_uint(tirc_builder *b, const char *dtype, uint64_t value);
TIRC_API tirc_term tirc_build_float(tirc_builder *b, const char *dtype, double value);
TIRC_API tirc_term tirc_build_string(tirc_builder *b, const char *text);
TIRC_API tirc_term tirc_build_op(tirc_builder *b, const char *op, tirc_term x, tirc_term y);
TIRC_API tirc_term tirc_build_load(tirc_builder *b, tirc_term buffer, int n,
                                   const tirc_term *indices);
TIRC_API tirc_term tirc_build_region(tirc_builder *b, tirc_term buffer, int n,
                                     const tirc_term *bounds);
TIRC_API tirc_term tirc_build_call(tirc_builder *b, const char *name, int n, const tirc_term *args);
TIRC_API tirc_term tirc_build_cast(tirc_builder *b, const char *dtype, tirc_term x);
TIRC_API tirc_term tirc_build_text(tirc_builder *b, const char *expression);

/* --- operators: programs made by scripts -------------------------------------------------------
 */

/* What graphs call R.add, R.nn.softmax ... is a function of a script, which a table names. folder:
 * a user's own, whose table.sch is looked at first; or NULL. */
typedef struct tirc_operators tirc_operators;
typedef struct tirc_operator_info {
  const char *name;      /* "nn.softmax" */
  const char *signature; /* "nn.softmax(x: Tensor, axis: int = -1)" */
  const char *summary;   /* one line, or "" */
  const char *path;      /* of the script */
  const char *text;      /* of the script, when it is built in; otherwise NULL */
} tirc_operator_info;
TIRC_API tirc_status tirc_operators_read(const char *folder, tirc_operators **out,
                                         tirc_error **error);
TIRC_API void tirc_operators_free(tirc_operators *o);
TIRC_API int tirc_operators_count(const tirc_operators *o);
TIRC_API const char *tirc_operators_name(const tirc_operators *o, int i); /* NULL behind the last */
TIRC_API tirc_status tirc_operators_find(tirc_operators *o, const char *name,
                                         const tirc_operator_info **out, tirc_error **error);
/* The program that an operator is for operands of given types: tensors come in the operator's
 * order, "x=4x5:float32" or, with a symbolic extent, "x=n,784:float32", several of one operand
 * joined by a +; attributes by their names, "axis=-1". The function's parameters are the tensors,
 * then the results, then scalars that no extent tells. */
TIRC_API tirc_status tirc_operator_module(const char *folder, const char *name, int n,
                                          const char *const *words, tirc_module **out,
                                          tirc_error **error);

/* --- schedules ---------------------------------------------------------------------------------
 */

typedef struct tirc_schedule_options {
  const char *target; /* what the script sees as sch.target; NULL: "haswell" */
  int64_t max_steps;  /* 0: 10 million */
  bool strict;        /* warnings are errors: what is warned of fails, and changes nothing */
  bool verify;        /* check the schedule's own state after each primitive; slow */
  void *self;         /* handed to the functions below, each of which may be NULL */
  void (*print)(void *self, const char *text); /* what the script prints */
  /* After each primitive: the call as text, where it stands, and NULL or why it failed. */
  void (*trace)(void *self, const char *call, const char *file, int line, const char *failure);
  /* What is legal and hardly meant, and its code: "spatial-dependence", "race",
   * "out-of-bounds", "no-reduction", "local-in-memory", "call-a-lane", "serial-lanes", "lost-mark",
   * "host-computes", "no-pipeline", "equal-candidates", "no-rule", or "warning" for what has none
   * of its own. file may be NULL: then there is no place. */
  void (*warn)(void *self, const char *file, int line, int column, const char *message,
               const char *code);
} tirc_schedule_options;

/* Runs a schedule script (a file; "-" is standard input) on a module; the scheduled one is a new
 * module. options may be NULL. TIRC_NO: a ScheduleError. What the script registered (tensor
 * intrinsics) is known to schedules and traces of the new module, too. */
TIRC_API tirc_status tirc_module_schedule(const tirc_module *m, const char *path,
                                          const tirc_schedule_options *options, tirc_module **out,
                                          tirc_error **error);
TIRC_API tirc_status tirc_module_schedule_text(const tirc_module *m, const char *text,
                                               size_t length, const char *name,
                                               const tirc_schedule_options *options,
                                               tirc_module **out, tirc_error **error);

/* Schedules each function of a module by rules, which are scripts; the scheduled one is a new
 * module, and its trace the calls that were made. auto_options may be NULL, and so may each of its
 * fields. A function that no rule takes stays as it is, and options->warn is told ("no-rule").
 * TIRC_BAD: a library of rules is wrong, or a rule takes too many steps. */
typedef struct tirc_auto_options {
  const char *rules; /* a library, a file, to be tried before the one of the target */
  void *self;
  /* After each rule that was tried on a function: whether it took it, and why, or NULL. rule NULL:
   * none did. */
  void (*tried)(void *self, const char *func, const char *rule, bool took, const char *reason);
} tirc_auto_options;
TIRC_API tirc_status tirc_module_auto(const tirc_module *m, const tirc_auto_options *auto_options,
                                      const tirc_schedule_options *options, tirc_module **out,
                                      tirc_error **error);
/* Library number i of those that are built in: its name ("cpu") and its text, a script. False
 * behind the last. */
TIRC_API bool tirc_rules_table(int i, const char **name, const char **text);

/* Warns (or, with options->strict, fails: TIRC_NO) of a block's annotation schedule_rule that names
 * no function of a library; a search passes over it. rules: as below. */
TIRC_API tirc_status tirc_module_check_rules(const tirc_module *m, const char *rules,
                                             const tirc_schedule_options *options,
                                             tirc_error **error);
/* The schedules that a search tries: as scripts with sampling calls, one for each way to
 * schedule a function. rules: a library whose rules come before the built-in ones, or NULL. */
TIRC_API tirc_status tirc_module_space(const tirc_module *m, const char *rules,
                                       const tirc_schedule_options *options, char **text,
                                       tirc_error **error);

/* Tells options->warn what is legal in a program and hardly meant: a block that declares an
 * iterator spatial whose instances depend on each other; a loop that is parallel, vectorized or
 * bound to a thread whose iterations do. TIRC_NO: there is such a thing, and
 * options->strict. Schedules tell the same when they start. */
TIRC_API tirc_status tirc_module_check(const tirc_module *m, const tirc_schedule_options *options,
                                       tirc_error **error);

/* The same of the code that a module becomes for options->target: a buffer of scope local that is
 * not in registers, and why. */
TIRC_API tirc_status tirc_module_check_code(const tirc_module *m,
                                            const tirc_schedule_options *options,
                                            tirc_error **error);

/* Does again what a trace says: a file with a bare [instructions, decisions], or with tuning
 * records of TVM, [workload, [[instructions, decisions], seconds, target, arguments]] one a line.
 * record counts from 1; 0 takes the one with the least mean time. TIRC_NO: a ScheduleError. */
TIRC_API tirc_status tirc_module_replay(const tirc_module *m, const char *path, int64_t record,
                                        const tirc_schedule_options *options, tirc_module **out,
                                        tirc_error **error);
/* The same from memory; `name` stands for the file in messages. */
TIRC_API tirc_status tirc_module_replay_text(const tirc_module *m, const char *text, size_t length,
                                             const char *name, int64_t record,
                                             const tirc_schedule_options *options,
                                             tirc_module **out, tirc_error **error);
/* The trace of the schedule that made this module: what tirc_module_replay does to the module that
 * it was made from. Empty for a module that no schedule made. */
typedef enum tirc_trace_format {
  TIRC_TRACE_JSON,  /* [instructions, decisions], as TVM stores it */
  TIRC_TRACE_SCRIPT /* def apply_trace(sch): ..., as TVM prints it; comments tell rules' reasons */
} tirc_trace_format;
TIRC_API tirc_status tirc_module_trace(const tirc_module *m, tirc_trace_format format, char **text,
                                       tirc_error **error);

/* The parameters of a scheduled module may have another layout than before: transform_layout
 * changes what callers pass. This makes a module of one function (from, to) that copies an array of
 * parameter number `param` from the layout that it had before the schedule to the one that it has
 * now, or with `back` from now to before; where the new layout has padding, `to` stays as it is.
 * Behind the two arrays it takes the scalars and symbols, by name, that stand in their shapes but
 * are no extent themselves.
 * *out is NULL when the layout is the same. To be asked of a module that is not lowered yet. */
TIRC_API tirc_status tirc_module_relayout(const tirc_module *m, const char *func, int param,
                                          bool back, tirc_module **out, tirc_error **error);

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

/* What is legal and hardly meant. */
typedef struct tirc_warning {
  const char *code, *message; /* as options->warn gets them */
} tirc_warning;

/* One call of a primitive. */
typedef struct tirc_step {
  const char *primitive, *call; /* "split", "sch.split(j, factors=[None, 32])" */
  const char *sentence;         /* what it did */
  const char *file;
  int line, column;
  const tirc_view *before, *after; /* the very same when the program did not change */
  const tirc_error *error;         /* NULL: it succeeded */
  int n_warnings;
  const tirc_warning *warnings;
  const char *rule, *reason; /* of tirc_module_steps_auto: whose call it is, and why; or NULL */
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
/* The steps of what tirc_module_auto makes: its script is that of plain calls. */
TIRC_API tirc_status tirc_module_steps_auto(const tirc_module *m,
                                            const tirc_auto_options *auto_options,
                                            const tirc_schedule_options *options, tirc_steps **out,
                                            tirc_error **error);
TIRC_API void tirc_steps_free(tirc_steps *s);
TIRC_API int tirc_steps_count(const tirc_steps *s);
TIRC_API const tirc_step *tirc_steps_at(const tirc_steps *s,
                                        int i);                  /* from 0; NULL behind the end */
TIRC_API const char *tirc_steps_script(const tirc_steps *s);     /* the script's text */
TIRC_API const tirc_view *tirc_steps_first(const tirc_steps *s); /* before the first call */
/* What the script made; NULL when it failed. */
TIRC_API const tirc_view *tirc_steps_last(const tirc_steps *s);
TIRC_API const tirc_error *tirc_steps_error(const tirc_steps *s); /* NULL: it ran to its end */
/* The program that a view shows, which belongs to the steps; NULL for a view of others. */
TIRC_API const tirc_module *tirc_steps_module(const tirc_steps *s, const tirc_view *view);

/* --- values ------------------------------------------------------------------------------------
 */

/* What a schedule takes and gives: Python's plain values, and handles. Values are made by the
 * functions below or filled in by hand:
 *
 *     tirc_value factors[] = {tirc_none(), tirc_integer(32)};
 *     tirc_value args[] = {loop, tirc_list_of(2, factors)};
 *
 * What a value points to (text, items) is read during the call only. A value that a schedule gives
 * out lives as long as the schedule; copying the struct copies the handle. Handles are valid in the
 * schedule they come from and in its copies, and a dead one (a loop that was split, say) is
 * refused with the code "stale-handle". Numbers that were sampled are integers that remember where
 * they come from: passed on as they are, they stand in the trace as random variables. */
typedef enum tirc_kind {
  TIRC_KIND_NONE,
  TIRC_KIND_BOOL,
  TIRC_KIND_INT,
  TIRC_KIND_FLOAT,
  TIRC_KIND_STR,
  TIRC_KIND_LIST,
  TIRC_KIND_TUPLE,
  TIRC_KIND_DICT,     /* n items: key, value, key, value ... */
  TIRC_KIND_BLOCK,    /* handle of a block */
  TIRC_KIND_LOOP,     /* handle of a loop */
  TIRC_KIND_EXPR,     /* an integer or other expression: a symbolic extent, an index */
  TIRC_KIND_BUFFER,   /* a buffer */
  TIRC_KIND_OBJECT,   /* another thing with attributes: "For", "Block", "IterVar", "Trace", ... */
  TIRC_KIND_FUNCTION, /* in only: a function of yours, for index maps and the like */
  TIRC_KIND_SCRIPT    /* in only: text that is evaluated as an expression of the schedule script */
} tirc_kind;

typedef struct tirc_value tirc_value;

/* A function of yours that a primitive calls, with expressions as arguments; e.g. an index map. It
 * gives a value or a list or tuple of values; to compute with expressions it uses
 * tirc_schedule_operator on the schedule it gets. A status other than TIRC_OK makes the primitive
 * fail with the code "callback". n_params: how many arguments it takes, -1 for any number. */
typedef struct tirc_function {
  tirc_status (*call)(void *self, tirc_schedule *s, int n, const tirc_value *args,
                      tirc_value *result);
  void *self;
  int n_params;
  const char *name; /* for messages; may be NULL */
} tirc_function;

struct tirc_value {
  tirc_kind kind;
  uint32_t number;   /* of the random variable; 0 for values of your own */
  const void *owner; /* the schedule that it belongs to; NULL for values of your own */
  union {
    bool b;
    int64_t i;
    double f;
    const char *s;                 /* STR, SCRIPT */
    const tirc_value *items;       /* LIST, TUPLE, DICT: n of them */
    const tirc_function *function; /* FUNCTION; must stay until the call is over */
    const void *handle;            /* BLOCK, LOOP, EXPR, BUFFER, OBJECT: the same thing, the same
                                    * pointer, within one schedule */
  } u;
  int64_t n;
  const char *type; /* values given out: the type's name in Python, "BlockRV", "IterVar", ... */
};

static inline tirc_value tirc_none(void) {
  tirc_value v = {TIRC_KIND_NONE, 0, NULL, {0}, 0, NULL};
  return v;
}
static inline tirc_value tirc_boolean(bool b) {
  tirc_value v = tirc_none();
  v.kind = TIRC_KIND_BOOL;
  v.u.b = b;
  return v;
}
static inline tirc_value tirc_integer(int64_t i) {
  tirc_value v = tirc_none();
  v.kind = TIRC_KIND_INT;
  v.u.i = i;
  return v;
}
static inline tirc_value tirc_number(double f) {
  tirc_value v = tirc_none();
  v.kind = TIRC_KIND_FLOAT;
  v.u.f = f;
  return v;
}
static inline tirc_value tirc_text(const char *s) {
  tirc_value v = tirc_none();
  v.kind = TIRC_KIND_STR;
  v.u.s = s;
  return v;
}
static inline tirc_value tirc_list_of(int64_t n, const tirc_value *items) {
  tirc_value v = tirc_none();
  v.kind = TIRC_KIND_LIST;
  v.n = n;
  v.u.items = items;
  return v;
}
/* "lambda i, j: (j, i)", "M // 2", "[None, 32]": any expression of a schedule script, with the
 * names that the schedule's scope holds. */
static inline tirc_value tirc_script(const char *expression) {
  tirc_value v = tirc_text(expression);
  v.kind = TIRC_KIND_SCRIPT;
  return v;
}
static inline tirc_value tirc_callback(const tirc_function *f) {
  tirc_value v = tirc_none();
  v.kind = TIRC_KIND_FUNCTION;
  v.u.function = f;
  return v;
}

/* --- schedules, call by call -------------------------------------------------------------------
 */

/* A schedule that you drive yourself; the module stays as it is.
 *
 *     tirc_value block, loops, name = tirc_text("C");
 *     tirc_schedule_call(s, "get_block", 1, &name, 0, NULL, NULL, &block, &error);
 *     tirc_schedule_call(s, "get_loops", 1, &block, 0, NULL, NULL, &loops, &error);
 *     tirc_schedule_call(s, "parallel", 1, &loops.u.items[0], 0, NULL, NULL, NULL, &error);
 *
 * options may be NULL; of it, `strict` holds for scripts only. */
TIRC_API tirc_status tirc_schedule_new(const tirc_module *m, const tirc_schedule_options *options,
                                       tirc_schedule **out, tirc_error **error);
/* One that can go its own way from here. Handles are good in both. */
TIRC_API tirc_status tirc_schedule_copy(tirc_schedule *s, tirc_schedule **out, tirc_error **error);
TIRC_API void tirc_schedule_free(tirc_schedule *s);

/* Where in your source the calls that follow stand, for errors and traces; file NULL: nowhere. */
TIRC_API void tirc_schedule_place(tirc_schedule *s, const char *file, int line, int column);

/* Calls a primitive (tirc_primitive_table lists them) or another method of the schedule (get,
 * get_sref, show, seed, fork_seed, work_on, remove_rv) by name, with arguments by position and by
 * keyword as in Python; defaults are filled in. A block may be given by its handle or its name.
 * result may be NULL. TIRC_NO: a ScheduleError; TIRC_BAD: wrong arguments (code "argument"), a dead
 * handle. A call that fails changes nothing. */
TIRC_API tirc_status tirc_schedule_call(tirc_schedule *s, const char *name, int n,
                                        const tirc_value *args, int n_keywords,
                                        const char *const *keywords, const tirc_value *values,
                                        tirc_value *result, tirc_error **error);
/* The same for a method of any value that the schedule gave: "simplified" of a trace, ...; the
 * method
 * "__call__" is the value itself, called. */
TIRC_API tirc_status tirc_schedule_method(tirc_schedule *s, const tirc_value *self,
                                          const char *name, int n, const tirc_value *args,
                                          int n_keywords, const char *const *keywords,
                                          const tirc_value *values, tirc_value *result,
                                          tirc_error **error);

/* An attribute, by the name that a script would use; of the schedule itself when `of` is NULL.
 *
 *   schedule      mod, trace, func_working_on
 *   loop          name, loop_var, min, extent, kind, thread_binding, annotations, body
 *   block         name, iter_vars, iter_values, predicate, reads, writes, alloc_buffers,
 *                 annotations, init, body
 *   iterator      name, var, dom (with min and extent), kind, iter_type
 *   region        buffer, region (a list of ranges with min and extent)
 *   buffer        name, shape, dtype, strides, scope (a method)
 *   expression    dtype, a, b, args, name, value, indices, buffer: those that it has
 *   trace         insts, decisions; instruction: kind, inputs, attrs, outputs
 *
 * An unknown one is an error whose hint lists those that there are. */
TIRC_API tirc_status tirc_schedule_attribute(tirc_schedule *s, const tirc_value *of,
                                             const char *name, tirc_value *out, tirc_error **error);
/* a op b, with Python's meaning: + - * / // % ** << >> & | ^ on numbers and expressions, < <= > >=
 * == != as well; [] is a[b]. Gives an expression where an operand is one. */
TIRC_API tirc_status tirc_schedule_operator(tirc_schedule *s, const char *op, const tirc_value *a,
                                            const tirc_value *b, tirc_value *out,
                                            tirc_error **error);
/* As Python's str(): blocks, loops and programs print as the language. */
TIRC_API tirc_status tirc_schedule_text(tirc_schedule *s, const tirc_value *v, char **text,
                                        tirc_error **error);

/* Script text in the schedule's own scope, where `sch`, the module's constants and the names that
 * earlier texts and tirc_schedule_set left stand. `name` stands for the file in messages. */
TIRC_API tirc_status tirc_schedule_run(tirc_schedule *s, const char *text, size_t length,
                                       const char *name, tirc_error **error);
TIRC_API tirc_status tirc_schedule_set(tirc_schedule *s, const char *name, const tirc_value *v,
                                       tirc_error **error);

/* The program as it stands now, as a module with its trace. */
TIRC_API tirc_status tirc_schedule_module(tirc_schedule *s, tirc_module **out, tirc_error **error);

/* The loops and blocks of a function in the order of its text, a parent before its children. */
typedef struct tirc_tree_node {
  int parent;       /* number in the array; -1: a function's root block */
  int depth;        /* 0: a root block */
  bool is_block;    /* otherwise a loop */
  const char *name; /* of the block, or of the loop's variable */
  const char *kind; /* "serial", "parallel", "vectorized", "unroll", "thread_binding"; "block" */
  int64_t extent;   /* of a loop: -1 where symbolic; of a block: its instances, -1 likewise */
  const char *extent_text; /* as an expression; NULL for blocks */
  tirc_value handle;
} tirc_tree_node;
/* func NULL: the function that is worked on. The nodes live as long as the schedule. */
TIRC_API tirc_status tirc_schedule_tree(tirc_schedule *s, const char *func, int *n,
                                        const tirc_tree_node **nodes, tirc_error **error);

/* --- lowering and code -------------------------------------------------------------------------
 */

/* Through all passes. `after` (or NULL) sees the program as text after each pass. */
TIRC_API tirc_status tirc_module_lower(const tirc_module *m,
                                       void (*after)(void *self, const char *pass,
                                                     const char *text),
                                       void *self, tirc_module **out, tirc_error **error);
/* The same for a target: a processor's name, NULL or "native", or a GPU's: then the module has, for
 * each function with loops bound to threads, a host function of its name and its kernels behind it.
 */
TIRC_API tirc_status tirc_module_lower_for(const tirc_module *m, const char *target,
                                           void (*after)(void *self, const char *pass,
                                                         const char *text),
                                           void *self, tirc_module **out, tirc_error **error);

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
  TIRC_EMIT_PTX          /* machine code of NVIDIA's GPUs, as text */
} tirc_emit_kind;
/* Of a model, before it is made: the error that its object code, C source or header would end in
 * because an input has an extent that is no number. */
TIRC_API tirc_status tirc_module_check_sizes(const tirc_module *m, tirc_error **error);
/* Tells options->warn, as tirc_module_check_code does, of the kernels that a module becomes for the
 * GPU options->target (NULL: the least one that takes the kind): what a host function computes
 * itself, which is in no kernel; a loop that is to overlap its iterations and stays as it is; of
 * TIRC_EMIT_PTX, a buffer of scope local that is not in registers. kind: TIRC_EMIT_OPENCL or one
 * behind it. */
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

/* --- arrays and tensors ------------------------------------------------------------------------
 */

/* Kernels take DLPack tensors: any DLTensor, from whatever library, without a copy; see
 * tirc_argument below for what fits. tirc_array is what the library offers to those who have no
 * arrays of their own.
 *
 * Compact row-major arrays, zeroed; large ones lie on huge pages where the system has them. */
TIRC_API tirc_status tirc_array_new(const char *dtype, int ndim, const int64_t *shape,
                                    tirc_array **out, tirc_error **error);
TIRC_API tirc_status tirc_array_read_npy(const char *path, tirc_array **out, tirc_error **error);
/* A file that holds one tensor of ONNX (input_0.pb). */
TIRC_API tirc_status tirc_array_read_onnx(const char *path, tirc_array **out, tirc_error **error);
TIRC_API tirc_status tirc_array_write_npy(const tirc_array *a, const char *path,
                                          tirc_error **error);
/* .npz archives, as numpy.savez writes them: arrays by name. Name number i, NULL behind the last.
 */
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
TIRC_API int64_t tirc_array_bytes(const tirc_array *a); /* of its elements */
TIRC_API void *tirc_array_data(tirc_array *a);
/* The array as a tensor, which reads and writes the array's memory and is good as long as it. */
TIRC_API void tirc_array_tensor(tirc_array *a, DLTensor *out);
/* An array over the memory of a tensor of the CPU, compact and row-major, without a copy. On
 * success the array owns the tensor and calls its deleter in tirc_array_free. */
TIRC_API tirc_status tirc_array_from_dlpack(DLManagedTensor *tensor, tirc_array **out,
                                            tirc_error **error);
/* The other way: the tensor owns the array, and its deleter frees it. */
TIRC_API tirc_status tirc_array_to_dlpack(tirc_array *a, DLManagedTensor **out, tirc_error **error);
/* Floats in [-1, 1), small integers; of an array that tirc_module_array made, for a parameter that
 * is known to be an index (the attribute "index_ranges"), indices that the table has. The same for
 * the same seed on every machine. */
TIRC_API void tirc_array_fill_random(tirc_array *a, uint64_t seed);
/* Anything from low to high, both included. TIRC_BAD with the code "argument": they are no range,
 * the array's type does not reach so far, or no integer is between them. */
TIRC_API tirc_status tirc_array_fill_range(tirc_array *a, uint64_t seed, double low, double high,
                                           tirc_error **error);
/* NaN for floats, the least value for integers: what is not overwritten shows. */
TIRC_API void tirc_array_fill_poison(tirc_array *a);
TIRC_API double tirc_array_get(const tirc_array *a, int64_t i); /* element i in row-major order */
TIRC_API void tirc_array_set(tirc_array *a, int64_t i, double value);

/* --- running -----------------------------------------------------------------------------------
 */

/* One argument a parameter.
 *
 * A tensor must be the CPU's (or pinned host memory), or, for a kernel of a device of CUDA, on that
 * device, at a multiple of 32 bytes, where it is taken as it lies; and have the dtype, the rank and
 * the shape that the function declares; symbolic extents take their values from it, and must agree
 * between all arguments. Its strides must be those that the buffer declares: symbolic ones take the
 * tensor's, and a buffer without strides is compact and row-major (extents of 1 may have any
 * stride). Its first element, data + byte_offset, must be aligned to an element, or to `align` if
 * the program asks for more than the usual 64. A tensor that the function writes may not overlap
 * with another argument, unless the function has the attribute tir.noalias = False. What does not
 * fit gives TIRC_BAD with the code "argument" and a message that names the parameter, what it is,
 * and what it should be. The tensor's struct is read during the call that takes the arguments;
 * its memory must stay until the kernel has run. */
typedef struct tirc_argument {
  tirc_array *array;      /* for arrays, or */
  int64_t i;              /* for integer scalars (the bits of a uint64), or */
  double f;               /* for float scalars */
  const DLTensor *tensor; /* for arrays: written in place, like array */
} tirc_argument;

/* A variable that stands in the shapes of a function's arrays and is no parameter. */
typedef struct tirc_symbol {
  const char *name;
  int64_t value; /* if it is known */
  bool is_known;
} tirc_symbol;
/* A function's symbols, none of them known; they live as long as the module. TIRC_BAD: the module
 * has no such function. */
TIRC_API tirc_status tirc_module_symbols(const tirc_module *m, const char *func, int *n,
                                         const tirc_symbol **symbols, tirc_error **error);
/* The shape that array parameter number `param` (-1: none is asked for) must have: it gets `ndim`
 * extents. What is known are the scalars among args, the arrays that are there already (any of
 * them may be missing), and the symbols that are; symbols that follow from arrays become known, and
 * names that the function does not have are passed over. TIRC_BAD with the code "argument": n is
 * not the number of its parameters, `param` is no array, an argument does not fit, or an extent
 * does not follow from what is known. */
TIRC_API tirc_status tirc_module_shape(const tirc_module *m, const char *func, int n,
                                       const tirc_argument *args, int n_symbols,
                                       tirc_symbol *symbols, int param, int64_t *shape,
                                       tirc_error **error);

/* An array for that parameter, of the shape that tirc_module_shape finds; where its buffer has
 * strides or an offset that leave gaps, flat and as long as they reach. `from` NULL: zeroed. An
 * array of the parameter's shape: its elements, where the parameter has them, and zeros between
 * them. Any other array: a copy. */
TIRC_API tirc_status tirc_module_array(const tirc_module *m, const char *func, int n,
                                       const tirc_argument *args, int n_symbols,
                                       tirc_symbol *symbols, int param, const tirc_array *from,
                                       tirc_array **out, tirc_error **error);

/* tirc_module_cost of a call: with the symbolic extents that these arguments give. TIRC_BAD with
 * the code "argument" if they do not fit the function. */
TIRC_API tirc_status tirc_module_call_cost(const tirc_module *m, const char *func, int n,
                                           const tirc_argument *args, tirc_cost *out,
                                           tirc_error **error);
/* The same of integers: operations on what is loaded, those of indices left out, and the bits of
 * the narrowest (0 where there are none). */
TIRC_API tirc_status tirc_module_call_integers(const tirc_module *m, const char *func, int n,
                                               const tirc_argument *args, double *operations,
                                               int *bits, tirc_error **error);

/* The reference interpreter: slow, sequential, every access checked. max_steps 0: no limit. */
TIRC_API tirc_status tirc_module_interpret(const tirc_module *m, const char *func, int n,
                                           const tirc_argument *args, int64_t max_steps,
                                           tirc_error **error);
/* The same, but what is float32 in the program is computed in double, intermediate buffers
 * included, and rounded when the function is done: what a float32 kernel should come close to. */
TIRC_API tirc_status tirc_module_interpret_in_double(const tirc_module *m, const char *func, int n,
                                                     const tirc_argument *args, int64_t max_steps,
                                                     tirc_error **error);
/* The same again, where a result differs: what the order of a reduction's steps decides, a schedule
 * may decide otherwise.
 *
 *   chosen  n arguments, or NULL: of equal candidates, an argmax takes the one whose index stands
 *           in its array there, if that is one of them
 *   nan     what max and min of floats make of a NaN: what is written, always NaN, or the other
 *           operand
 *
 * *any is false when there is nothing of the sort in the function; then nothing runs. For modules
 * that are not lowered. */
typedef enum tirc_nan { TIRC_NAN_AS_WRITTEN, TIRC_NAN_STAYS, TIRC_NAN_GOES } tirc_nan;
TIRC_API tirc_status tirc_module_interpret_freely(const tirc_module *m, const char *func, int n,
                                                  const tirc_argument *args,
                                                  const tirc_argument *chosen, tirc_nan nan,
                                                  int64_t max_steps, bool *any, tirc_error **error);

/* Either of them, for as long as go_on says: it is asked many times a second, and when it says
 * false the run ends with TIRC_BAD and the code "interrupted". go_on may be NULL. */
TIRC_API tirc_status tirc_module_interpret_while(const tirc_module *m, const char *func, int n,
                                                 const tirc_argument *args, int64_t max_steps,
                                                 bool in_double, bool (*go_on)(void *self),
                                                 void *self, tirc_error **error);

/* --- a GPU without a GPU -------------------------------------------------------------------------
 *
 * The function of a module that was lowered for a GPU, with the kernels that it launches: blocks in
 * an order that is drawn, the threads of a block as the model of a GPU has them. TIRC_BAD with the
 * code "race": two threads touch an element, one writes, and no barrier is between them; "barrier"
 * or "shuffle": threads that should reach it together do not; "uninitialised", "out-of-bounds" and
 * what else the interpreter finds: each with the statements, the threads and the element. */
typedef struct tirc_emulate_options {
  int64_t max_steps;         /* 0: no limit */
  int64_t blocks;            /* run only so many blocks of each launch; 0: all */
  uint64_t seed;             /* of what is drawn */
  bool (*go_on)(void *self); /* asked many times a second, or NULL */
  void *self;
  /* One an argument, or NULL: a byte an element, which is set to 1 where a kernel writes it. NULL
   * for arguments that are no arrays. */
  uint8_t *const *written;
} tirc_emulate_options;
typedef struct tirc_emulate_report { /* over all launches */
  int64_t launches, blocks, blocks_run, barriers;
} tirc_emulate_report;
/* options and report may be NULL. */
TIRC_API tirc_status tirc_module_emulate(const tirc_module *m, const char *func, int n,
                                         const tirc_argument *args,
                                         const tirc_emulate_options *options,
                                         tirc_emulate_report *report, tirc_error **error);
/* Whether the module has kernels of a GPU. */
TIRC_API bool tirc_module_has_kernels(const tirc_module *m);

/* --- what a function should compute -------------------------------------------------------------
 *
 * The reference interpreter, in double, with every value carrying how far a run in the program's
 * own types may be from it: sums in any order, a product rounded before it is added or not, the
 * mathematical functions a few units in the last place off. A rounding, a cast or a comparison that
 * this leaves open admits the results on both sides. An element is undecided when the address or
 * the branch that it comes from is, or where nothing bounds it (the quotient by what may be 0); it
 * is hardly compared, and counted.
 *
 * The module must stay as long as the reference. args are copied: written arrays hold what the
 * function starts with. options may be NULL; go_on is asked many times a second, and when it says
 * false the run ends with TIRC_BAD and the code "interrupted". */
typedef struct tirc_reference tirc_reference;
typedef struct tirc_reference_options {
  int64_t max_steps; /* 0: no limit */
  bool (*go_on)(void *self);
  void *self;
} tirc_reference_options;
TIRC_API tirc_status tirc_reference_new(const tirc_module *m, const char *func, int n,
                                        const tirc_argument *args,
                                        const tirc_reference_options *options, tirc_reference **out,
                                        tirc_error **error);
TIRC_API void tirc_reference_free(tirc_reference *r); /* NULL is fine */

/* How far arrays are from a reference. The element is that which comes nearest to what is allowed,
 * or is furthest beyond it. */
typedef struct tirc_check {
  bool ok;
  bool wrong;        /* some element is not what it may be, however many others are undecided */
  const char *param; /* whose element it is; as long as the reference. NULL: nothing is written */
  int64_t at;        /* in memory, counted in elements */
  double got, expected;
  double error, allowed; /* |got - expected|, and what it may be */
  /* Elements of written arrays, and of those the undecided ones. More than 1 % of an array: it
   * cannot be checked, and ok is false. */
  int64_t elements, undecided;
  bool too_undecided;
  /* Elements that differ by the order in which a NaN comes to max or min, which is free */
  int64_t nan_order;
} tirc_check;
/* got: the arguments after a run from the same start. What a function leaves alone must be as it
 * was; what lies between the elements of an array with strides is not looked at. Of an argmax's
 * equal candidates each is right. TIRC_BAD with the code "argument": n or an array is another. */
TIRC_API tirc_status tirc_reference_check(const tirc_reference *r, int n, const tirc_argument *got,
                                          tirc_check *out, tirc_error **error);
/* Element `at` of argument `param`: what it should be, and the least and the greatest that is
 * right (anything between elements with strides); NaN for arguments that are no such element. */
TIRC_API void tirc_reference_element(const tirc_reference *r, int param, int64_t at,
                                     double *expected, double *least, double *greatest);

/* Sees what a run does, in order; each function may be NULL. Arrays (parameters and buffers that
 * the program allocates) are numbered from 0 in the order of their first use. */
typedef struct tirc_observer {
  void *self;
  void (*array)(void *self, int array, const char *name, const char *dtype, int bytes,
                const char *scope, int ndim, const int64_t *shape);
  /* An instance of a block starts: the names of the loops around it and what they stand at. */
  void (*block)(void *self, const char *name, int n, const char *const *loops,
                const int64_t *values);
  /* element: from 0, in the array's memory. False ends the run. */
  bool (*access)(void *self, int array, int64_t element, bool is_write);
} tirc_observer;
/* Interprets a function whose buffers have been brought to their place and size, as for code: a
 * tile's cache is as large as the tile. Loops run in order, whatever their kind. TIRC_OK also when
 * the observer ended the run; then *whole is false. */
TIRC_API tirc_status tirc_module_observe(const tirc_module *m, const char *func, int n,
                                         const tirc_argument *args, int64_t max_steps,
                                         const tirc_observer *observer, bool *whole,
                                         tirc_error **error);

/* Threads and workspace for kernels: up to 4096. threads 0: as many as the environment's
 * TIRC_NUM_THREADS says, which then must be such a number; one a core where it is not set. */
TIRC_API tirc_status tirc_executor_new(int threads, tirc_executor **out, tirc_error **error);
TIRC_API void tirc_executor_free(tirc_executor *x);
TIRC_API int tirc_executor_threads(const tirc_executor *x);

/* A function compiled into this process. target as for tirc_module_emit. */
TIRC_API tirc_status tirc_kernel_new(const tirc_module *m, const char *func, const char *target,
                                     tirc_kernel **out, tirc_error **error);
/* The same for a device: "cpu" (or NULL), "opencl", or "opencl:1" for the second device that OpenCL
 * has, "cuda" likewise. A launch brings its arrays there and back for each run; tirc_launch_time
 * times the kernels alone. Codes: "device" there is none, "memory" it has too little, "limit" a
 * kernel wants more threads or shared memory than it has. */
TIRC_API tirc_status tirc_kernel_new_on(const tirc_module *m, const char *func, const char *device,
                                        const char *target, tirc_kernel **out, tirc_error **error);
/* The devices beside the processor, OpenCL's and CUDA's, each in the order of their numbers. hear's
 * strings live as long as the call. TIRC_BAD with the code "device": there is none, and the hint
 * says what to install. */
typedef struct tirc_device_info {
  const char *device; /* "opencl:0" */
  const char *name, *platform, *version;
  int64_t memory;  /* bytes, */
  int64_t shared;  /* and what a block of threads shares */
  int64_t threads; /* of a block */
  int cores;
} tirc_device_info;
TIRC_API tirc_status tirc_devices(void (*hear)(void *self, const tirc_device_info *info),
                                  void *self, tirc_error **error);
/* Those of one kind, "opencl" or "cuda"; NULL: of all. */
TIRC_API tirc_status tirc_devices_of(const char *kind,
                                     void (*hear)(void *self, const tirc_device_info *info),
                                     void *self, tirc_error **error);
TIRC_API void tirc_kernel_free(tirc_kernel *k);
/* Checks the arguments and runs. */
TIRC_API tirc_status tirc_kernel_run(const tirc_kernel *k, tirc_executor *x, int n,
                                     const tirc_argument *args, tirc_error **error);
/* Of a module that tirc_module_split_packing made of one function: packs what that one, the last,
 * takes packed. packed[i], of n that are zero, gets a new array for each argument i that is; the
 * caller frees it, also when an error comes back. */
TIRC_API tirc_status tirc_module_pack(const tirc_module *m, const char *target, tirc_executor *x,
                                      int n, const tirc_argument *args, tirc_argument *packed,
                                      tirc_error **error);
/* The same in two steps, for a call that is made many times: the arguments are checked once. The
 * arrays, the kernel and the executor must stay. */
TIRC_API tirc_status tirc_launch_new(const tirc_kernel *k, tirc_executor *x, int n,
                                     const tirc_argument *args, tirc_launch **out,
                                     tirc_error **error);
TIRC_API int tirc_launch_run(tirc_launch *launch); /* 0, or 1 when memory for workspace is out */
/* Between runs the arrays stay on the device (nothing changes for the processor), as a measurement
 * wants it; until it is told that they do not, the caller's arrays are not up to date. 0, or what
 * tirc_launch_run gives for a device that fails. */
TIRC_API int tirc_launch_stay(tirc_launch *launch, bool stays);
/* From now on a run on a device tells of each kernel before it begins, and waits for its end before
 * the next one: so it is known which one does not end. starts NULL: no more. */
TIRC_API void tirc_launch_tell(tirc_launch *launch, void (*starts)(void *self, const char *kernel),
                               void *self);
/* What the kernels of its last run took by the clock of their device, in seconds, without what
 * begins them; -1: none ran yet, or it has no clock, as the processor has none of its own. */
TIRC_API double tirc_launch_seconds(const tirc_launch *launch);
TIRC_API void tirc_launch_free(tirc_launch *launch);
/* Measures: after one run to warm up, seconds[0] to seconds[repeat - 1] become the mean time of a
 * run in seconds, each over `number` runs in a row, or over as many more as fill min_seconds. By
 * tirc_launch_seconds where that is known. */
TIRC_API tirc_status tirc_launch_time(tirc_launch *launch, int number, int repeat,
                                      double min_seconds, double *seconds, tirc_error **error);

/* The ceiling for float32 kernels, to be timed beside them: so many operations (rounded up to some
 * hundred), two an FMA and lane, in registers and nothing else, in pieces on the executor's
 * threads. vector_bits: of the kernels' target; 512 where the processor has them, otherwise 256.
 * Returns those used; 0, and nothing was done, when it has no AVX2 and FMA, or when `operations` is
 * no finite number. */
TIRC_API int tirc_executor_fma(tirc_executor *x, int vector_bits, double operations);
/* The same for kernels of integers of so many bits (8, 16, 32 or 64): additions, and for 32 bits
 * products of 16 bits, added in pairs and to a sum, four operations for a lane. 512 needs
 * AVX-512BW, 256 AVX2. */
TIRC_API int tirc_executor_integers(tirc_executor *x, int vector_bits, int bits, double operations);
/* The ceiling for kernels that memory binds, in the same way: reads `read` bytes at `from` and
 * writes ones (float32) to `written` bytes at `to`, a little of the one and a little of the other
 * in turns. Both go in lines of 64 bytes: from and to are aligned to 64, and hold as many bytes
 * rounded up. past_caches: by stores that keep nothing in a cache and loads from four places at a
 * time, which is faster where no cache could. 0, and nothing was done, also for NULL or negative
 * sizes. */
TIRC_API int tirc_executor_move(tirc_executor *x, int vector_bits, const void *from, int64_t read,
                                void *to, int64_t written, bool past_caches);

/* Seconds of a clock that never goes back; the best float32 rate of AVX2 and FMA in some tenth of a
 * second, in operations a second (0 where there is none); the processor's name. */
TIRC_API double tirc_seconds(void);
TIRC_API double tirc_machine_peak(int threads);
TIRC_API void tirc_machine_name(char *out, size_t size);
/* What results of this machine are kept under: its processor and how many cores,
 * "amd-epyc-7543-processor-2-cores". */
TIRC_API void tirc_machine_profile(char *out, size_t size);

/* --- measuring ---------------------------------------------------------------------------------
 *
 * Contenders take turns, some calls each, so that what disturbs the machine disturbs all of them. A
 * turn gives one time, the median of its calls; a contender's figure is the median of its turns,
 * with a 95 % interval that is bootstrapped over turns, since the calls of one are not independent.
 * While something disturbs the machine all of it is done again, and the calmest attempt counts.
 *
 *     tirc_contender c[] = {tirc_launch_contender("tiled", launch), {"mine", &data, NULL,
 * my_call}}; tirc_measurement *m; if (tirc_measure(2, c, NULL, &m, &error) == TIRC_OK &&
 * tirc_surely_faster( tirc_measurement_figures(m, 0), tirc_measurement_figures(m, 1))) puts("tiled
 * wins");
 *
 * What else the process runs meanwhile disturbs it, too. */
typedef struct tirc_contender {
  const char *name;
  void *self;                  /* handed to the functions, */
  int (*prepare)(void *self);  /* before anything is timed, or NULL; other than 0: it is left out */
  int (*call)(void *self);     /* what is timed; other than 0: it is measured no further */
  void (*release)(void *self); /* at the end, or NULL: also after a prepare that said no */
  /* What it should compute, or NULL: then it is called once before anything is timed, from the
   * start that its arguments had when measuring began, and compared. */
  const tirc_reference *reference;
  int n;
  const tirc_argument *args;
  /* Of a call that has a clock of its own, as a device's has: what the last one took, or -1; NULL,
   * and where it is -1: the time that calls take here counts. */
  double (*seconds)(void *self);
} tirc_contender;
TIRC_API tirc_contender tirc_launch_contender(const char *name, tirc_launch *launch);

/* What was measured of one contender. */
typedef struct tirc_figures {
  int n_samples, n_turns;
  double *samples;   /* seconds of a call, in the order of time; short ones: of a mean call */
  double *turns;     /* the median of each turn's samples, */
  int *turn_samples; /* and how many it has */
  /* Seconds of a call, and the interval; 0: there are none. Of fewer than 5 turns the bootstrap
   * knows too little: then the interval is from 0 to INFINITY. */
  double median, low, high;
  double fastest; /* of the samples */
  double spread;  /* from their lower to their upper quartile, as a part of the median */
  double calls;   /* how many were timed */
  /* NULL when it was measured; otherwise "left-out", "failed", "wrong-result" or "unchecked", and
   * what happened */
  char *code, *message;
} tirc_figures;

/* The machine meanwhile. */
typedef struct tirc_conditions {
  int attempts;                 /* how often all was measured */
  double load;                  /* cores that other processes used: see tirc_is_busy */
  double clock_low, clock_high; /* hertz, from quartile to quartile; 0: unknown */
  double disturbance; /* of load, clock and the widest interval; above 1 times are doubtful */
} tirc_conditions;

/* Whether times are disturbed when others use so many cores: from a tenth on. */
TIRC_API bool tirc_is_busy(double load);

typedef struct tirc_measure_options {
  double seconds; /* of timed calls for each; 0: 0.3 */
  int turns;      /* of each, at least; 0: 9, or fewer of what takes long */
  int attempts;   /* at most; 0: 3 */
  int cores;      /* keeps all threads of the process on the first so many; 0: where they are */
  void *self;     /* handed to the functions, each of which may be NULL */
  void (*told)(void *self, int contender, int attempt); /* its turn begins */
  bool (*go_on)(void *self);                            /* false ends it with what there is */
} tirc_measure_options;

typedef struct tirc_measurement tirc_measurement;
/* options may be NULL. TIRC_BAD: the arguments are wrong, or memory is out; a contender that fails
 * says so in its figures. */
TIRC_API tirc_status tirc_measure(int n, const tirc_contender *contenders,
                                  const tirc_measure_options *options, tirc_measurement **out,
                                  tirc_error **error);
TIRC_API void tirc_measurement_free(tirc_measurement *m);
/* Of contender i; NULL behind the last. They live as long as the measurement. */
TIRC_API const tirc_figures *tirc_measurement_figures(const tirc_measurement *m, int i);
TIRC_API const tirc_conditions *tirc_measurement_conditions(const tirc_measurement *m);

typedef struct tirc_ratio {
  /* With 95 % confidence; from 0 to INFINITY where either has fewer than 5 turns; value 0: unknown
   */
  double value, low, high;
} tirc_ratio;
/* How many times as fast `of` is as `base`. Those of one measurement are compared turn by turn, so
 * that a ratio is known better than its parts. */
TIRC_API tirc_ratio tirc_times_as_fast(const tirc_figures *of, const tirc_figures *base);
/* Whether the whole interval is above 1. */
TIRC_API bool tirc_surely_faster(const tirc_figures *of, const tirc_figures *base);

/* --- searching for the best schedule ------------------------------------------------------------
 */

/* A program to be tuned: tirc_module_space says what is tried. */
typedef struct tirc_tune_task {
  const tirc_module *module;
  const char *name; /* for what is told, or NULL */
  double weight;    /* how much its time counts; 0: 1 */
  int n_symbols;    /* values for its symbolic extents and scalars, to measure with */
  const tirc_symbol *symbols;
} tirc_tune_task;

/* The code of a trial that works, and was called only a few times because the fastest of its calls
 * was far slower than the best: its samples are a bound, and no time. */
#define TIRC_HOPELESS "hopeless"

/* One candidate that was measured. */
typedef struct tirc_tune_event {
  int task;
  int64_t trial, trials; /* of the task, from 1; of all tasks together so far */
  const char *way;       /* the rule of the space that made it */
  const char *trace;     /* as JSON, with its decisions */
  /* The median; INFINITY: it failed, for the reason `code`, or it is "hopeless": several calls were
   * each far slower than the best, and how slow it usually is was not measured. */
  double seconds;
  const char *code, *message;
  double best, automatic; /* of the task so far, and of --auto's schedule; INFINITY: none yet */
  double elapsed;         /* seconds since the start */
  bool is_best;
  double load; /* cores that other processes used meanwhile */
} tirc_tune_event;

typedef struct tirc_tune_failure {
  const char *code; /* a ScheduleError's, "declined" by a rule, "timeout", "crash", "memory", ... */
  const char *message; /* of the first one */
  int64_t n;
} tirc_tune_failure;

typedef struct tirc_tune_result {
  tirc_module *module; /* the best schedule, plain calls its trace; NULL: no candidate works */
  double seconds, automatic; /* measured in turns at the end; INFINITY: not */
  const char *way;
  int64_t trials, failed, made; /* measured, of them those that failed, and candidates looked at */
  int n_failures;
  const tirc_tune_failure *failures;
  double rank_correlation; /* of what was expected with what was measured; NAN: of too few */
  bool wrong;              /* some candidate computed something else: a defect of ours */
} tirc_tune_result;

/* What the random arrays of a parameter are drawn from. */
typedef struct tirc_input_range {
  const char *param;
  double low, high;
} tirc_input_range;

typedef struct tirc_tune_options {
  const char *target; /* NULL: "haswell" */
  const char *rules;  /* a library whose rules come before the built-in ones, or NULL */
  int threads;        /* 0: as for tirc_executor_new */
  int64_t trials;     /* for each task on the average; 0: 64 */
  double seconds;     /* the search ends after so many, 0: no limit */
  int64_t seed;       /* the same one draws the same, but what is measured differs */
  int64_t max_steps;  /* of a rule library; 0: as schedules */
  /* Where all trials are kept, a path or postgresql://..., "" the default: what is there of a task
   * counts, and the search goes on from it. Any number of processes search together in one. NULL:
   * nowhere. */
  const char *database;
  /* What says which candidates are measured: "model" (NULL: this), "estimate", or "random", which
   * draws each anew and learns nothing. */
  const char *ranking;
  /* How often what kind of decision is changed to make a candidate of another: "tile=1,category=1,
   * parallel=0.5,location=0.5,way=0.1" (NULL: this), some of them or all. */
  const char *mutations;
  double lease; /* seconds after which a process that says nothing is taken for lost; 0: 60 */
  void *self;   /* handed to the functions, each of which may be NULL */
  void (*told)(void *self, const tirc_tune_event *event);
  /* The database is waited for; it is there again; other processes have what is left to do. */
  void (*warn)(void *self, const char *message);
  bool (*go_on)(void *self); /* false ends the search with what it has */
  void (*waits)(void *self); /* other processes have what is left to do; called now and then */
  /* What candidates run on, as for tirc_kernel_new_on; NULL: the processor. A device needs rules
   * that bind loops to blocks and threads; target is then the GPU's, and the database keeps the
   * trials under it, or under "opencl". */
  const char *device;
} tirc_tune_options;

/* Searches for the best schedules of n programs: candidates are compiled and timed, each in a
 * process of its own, and every new best is compared with what the program itself computes. results
 * gets n; free them with tirc_tune_results_free. TIRC_NO: the database was lost on the way; results
 * holds what there was until then, and *error says why. TIRC_BAD: a library of rules is wrong, a
 * program has an extent without a value, or does not run, or there is no such database. */
TIRC_API tirc_status tirc_tune(int n, const tirc_tune_task *tasks, const tirc_tune_options *options,
                               tirc_tune_result **results, tirc_error **error);
/* The same, with inputs that a program can do something with; a task without such a parameter
 * passes a range over. */
TIRC_API tirc_status tirc_tune_in_ranges(int n, const tirc_tune_task *tasks,
                                         const tirc_tune_options *options, int n_ranges,
                                         const tirc_input_range *ranges, tirc_tune_result **results,
                                         tirc_error **error);
TIRC_API void tirc_tune_results_free(int n, tirc_tune_result *results);
/* Cores that other processes used while the candidates of task i were measured, or while the best
 * ones were compared at the end, whichever is more: above a tenth, times are disturbed. */
TIRC_API double tirc_tune_load(const tirc_tune_result *results, int i);
/* The best schedule that a database (NULL: the default) has for this very program (its structural
 * hash), the target and so many threads (0: as for tirc_executor_new), of this machine or else of
 * any; its trace is plain calls. A record that cannot be applied is passed over for the fastest of
 * the same task that can. Where there is none, it is what tirc_module_auto makes, and options->warn
 * is told ("not-tuned"), or, with options->strict, that is an error and TIRC_NO.
 * auto_options->tried hears which record was taken. TIRC_BAD: the database cannot be read. */
TIRC_API tirc_status tirc_module_tuned(const tirc_module *m, const char *database, int threads,
                                       const tirc_auto_options *auto_options,
                                       const tirc_schedule_options *options, tirc_module **out,
                                       tirc_error **error);

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
/* The language of programs: what is said of several T.* functions at once, in the order to read it
 * in, under topics. types: of the arguments and of what a call gives, as text. */
typedef struct tirc_function_info {
  const char *topic, *types, *help;
} tirc_function_info;
TIRC_API bool tirc_function_table(int i, tirc_function_info *out);
/* Function k of row i: its name after "T.", and the names of its arguments with spaces between
 * them,
 * `?` behind those that can be left out, `*` for any number. */
TIRC_API bool tirc_function_name(int i, int k, const char **name, const char **arguments);
/* The keys of annotations that something reads: of which statements ("loop", "block, attr"), what
 * values they have, and what they do. */
typedef struct tirc_annotation_info {
  const char *key, *where, *value, *help;
} tirc_annotation_info;
TIRC_API bool tirc_annotation_table(int i, tirc_annotation_info *out);
/* What scripts have beside the primitives: functions (owner NULL), methods and attributes of types,
 * members of modules (`math`, `tir`), exceptions. */
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
/* The GPUs that kernels can be made for, and what a block of threads may have there: threads,
 * threads of a warp (1: unknown), bytes of shared memory in the scopes shared and shared.dyn,
 * 32-bit registers (0: unknown). */
typedef struct tirc_gpu_info {
  const char *name, *kind; /* "sm_80", "cuda" or "opencl" */
  int threads, warp;
  int64_t shared, shared_dyn, registers;
} tirc_gpu_info;
TIRC_API bool tirc_gpu_table(int i, tirc_gpu_info *out);
/* A known card, "nvidia/nvidia-t4", and the name of its row. */
TIRC_API bool tirc_gpu_card_table(int i, const char **card, const char **name);
/* By a row's or a card's name. Of a name that looks like a GPU's but is none it is an error with
 * the nearest name; of any other, *found is false. */
TIRC_API tirc_status tirc_gpu_find_target(const char *name, bool *found, tirc_gpu_info *out,
                                          tirc_error **error);

/* --- models ------------------------------------------------------------------------------------
 *
 * A module with a graph (@R.function) becomes a program: operators become loops, loops get
 * schedules, tensors get places in one workspace, and what is left is a list of calls. It is
 * immutable, and any number of threads may run it at once, each with arrays and an executor of its
 * own.
 *
 *     tirc_program *p;
 *     tirc_program_new(m, NULL, &p, &error);
 *     tirc_module_params(tirc_program_signature(p), NULL, &n, &params, &error);
 *     tirc_program_run(p, x, n, args, &error);      // main's parameters, then its results
 */
TIRC_API bool tirc_module_has_graph(const tirc_module *m);
/* The name of parameter number i of the main graph; NULL: it has none such. */
TIRC_API const char *tirc_module_input(const tirc_module *m, int i);

/* Tells of each operator and function that the module's graphs call, in the order of the first
 * call, and how often they do. */
TIRC_API tirc_status tirc_module_operators(const tirc_module *m,
                                           void (*tell)(void *self, const char *name, int calls),
                                           void *self, tirc_error **error);

typedef struct tirc_program tirc_program;
typedef struct tirc_program_options {
  const char *target;    /* NULL: "haswell" */
  const char *operators; /* a folder of operators that come before the library's, or NULL */
  int n_skip;
  const char *const *skip; /* passes that do not run */
  /* Shared objects with what R.call_dps_packed("NAME", ...) calls:
   *   int NAME(int n, const DLTensor *tensors)      the arguments, then the results, compact
   * which gives 0, or says that it failed. */
  int n_libraries;
  const char *const *libraries;
  int n_passes;
  const char *const *passes;      /* "PHASE:FILE": scripts with a function transform_module */
  bool plain;                     /* loops stay as the operators make them */
  const char *script;             /* a schedule for all functions, instead of the rules; or NULL */
  const tirc_auto_options *rules; /* for the rules, or NULL */
  const tirc_schedule_options *schedule; /* for either, or NULL */
  bool poison; /* workspace and results hold NaN and large numbers before each run */
  /* A child process makes the code, and LLVM's memory goes with it. For a process of one thread;
   * where there can be no child, and by itself, this process does it. */
  bool by_child;
  void *self;
  /* Sees the module after each pass, and after each phase: then pass is NULL. */
  void (*after)(void *self, int phase, const char *name, const char *pass, const char *text);
  /* In place of the rules, or NULL: schedules one function, which m has alone and by the name main,
   * as tirc_module_tuned does. *out is the program's from then on. */
  tirc_status (*schedule_alone)(void *self, const tirc_module *m, tirc_module **out,
                                tirc_error **error);
  /* What is done about indices that only the run knows, of operators such as R.take: "check", one
   * that the table has not ends the call with the code "assert"; "clip", it is the nearest one;
   * NULL: check, or clip where the target is a GPU, whose kernels have nobody to tell; "trust", it
   * is taken as it is, and memory that is not the model's may be read and written. */
  const char *indices;
} tirc_program_options;
TIRC_API tirc_status tirc_program_new(const tirc_module *m, const tirc_program_options *options,
                                      tirc_program **out, tirc_error **error);
TIRC_API void tirc_program_free(tirc_program *p);
/* The module after the phases up to this one, a name or a number; NULL: only with what is known of
 * each value, which is compared with what the text says. */
TIRC_API tirc_status tirc_module_phases(const tirc_module *m, const char *last,
                                        const tirc_program_options *options, tirc_module **out,
                                        tirc_error **error);
/* Pass number i of all phases: its phase's number and name, and what both do. */
typedef struct tirc_phase_info {
  int phase;
  const char *phase_name, *phase_help;
  const char *name, *help;
} tirc_phase_info;
TIRC_API bool tirc_phase_table(int i, tirc_phase_info *out);

/* A module whose main has the program's parameters and results, and does nothing: for
 * tirc_module_params, tirc_module_symbols, tirc_module_array. The first tirc_program_inputs of them
 * are inputs, those behind up to tirc_program_params weights, then come the results. */
TIRC_API const tirc_module *tirc_program_signature(const tirc_program *p);
TIRC_API int tirc_program_inputs(const tirc_program *p);
TIRC_API int tirc_program_params(const tirc_program *p);
/* Its functions, scheduled, and as they were before. */
TIRC_API const tirc_module *tirc_program_module(const tirc_program *p);
TIRC_API const tirc_module *tirc_program_unscheduled(const tirc_program *p);

/* args: parameters and results, which are written; their shapes tell the symbolic extents. What
 * depends on weights alone is computed at the first run with these arrays, whose elements must not
 * change from then on. */
TIRC_API tirc_status tirc_program_run(const tirc_program *p, tirc_executor *x, int n,
                                      const tirc_argument *args, tirc_error **error);

/* A run that tells of each call, in order. */
typedef struct tirc_program_call {
  int number, of;
  const char *func; /* its name in tirc_program_module; NULL: a copy */
  double seconds;   /* one run, or the least of `repeat` */
  int n;            /* its arguments, as they were after it */
  const tirc_argument *args;
  int n_written; /* the last of the arrays among them */
} tirc_program_call;
/* tell says whether to go on. before (or NULL) is called ahead of each call, with seconds 0. */
typedef struct tirc_program_watch {
  void *self;
  int repeat; /* at least 1; calls may be repeated, because none reads what it writes */
  bool (*before)(void *self, const tirc_program_call *call);
  bool (*tell)(void *self, const tirc_program_call *call);
} tirc_program_watch;
TIRC_API tirc_status tirc_program_run_watched(const tirc_program *p, tirc_executor *x, int n,
                                              const tirc_argument *args,
                                              const tirc_program_watch *watch, tirc_error **error);

/* The products in a function (a sum of products of two arrays), with the extents that these
 * arguments give it: out[batch, m, n] = sum over k of a[batch, m, k] * b[batch, k, n]. A
 * convolution is one whose left matrix is never made. To be asked of a module before it is
 * scheduled: schedules cut loops. */
typedef struct tirc_product {
  const char *block;
  int64_t batch, m, n, k;
  const char *a, *b, *out; /* types of elements */
  const char *layout;      /* "NN"; T where a matrix lies the other way round */
  bool is_convolution;
} tirc_product;
TIRC_API tirc_status tirc_module_products(const tirc_module *m, const char *func, int n,
                                          const tirc_argument *args,
                                          void (*tell)(void *self, const tirc_product *product),
                                          void *self, tirc_error **error);
/* The same for a call of a run, with the extents that it really has. */
TIRC_API tirc_status tirc_program_products(const tirc_program *p, const tirc_program_call *call,
                                           void (*tell)(void *self, const tirc_product *product),
                                           void *self, tirc_error **error);

/* What a program needs for arrays of these shapes (args as for a run). */
typedef struct tirc_program_size {
  int calls, prepared; /* of them, those that run once */
  int functions;
  int64_t inputs, weights, results; /* bytes */
  int64_t packed;                   /* made once, of weights and constants */
  int64_t workspace;                /* one block that all other tensors share, */
  int64_t unshared;                 /* and what they would need without sharing */
  int64_t made_in; /* what a child that made the code had in memory at most; 0: there was none */
} tirc_program_size;
TIRC_API tirc_status tirc_program_measure(const tirc_program *p, int n, const tirc_argument *args,
                                          tirc_program_size *out, tirc_error **error);

/* Arrays in a .safetensors file, which is mapped: an array is a view of the file, as long as it is
 * open, and is not to be written. */
TIRC_API tirc_status tirc_weights_open(const char *path, tirc_weights **out, tirc_error **error);
TIRC_API void tirc_weights_close(tirc_weights *w);
TIRC_API const char *tirc_weights_name(const tirc_weights *w, int i); /* NULL behind the last */
/* TIRC_BAD with the code "name" and a near name where there is none of this name. */
TIRC_API tirc_status tirc_weights_array(const tirc_weights *w, const char *name, tirc_array **out,
                                        tirc_error **error);
/* All of them as a .safetensors file. */
TIRC_API tirc_status tirc_weights_save(const tirc_weights *w, const char *path, tirc_error **error);

/* --- models of other formats --------------------------------------------------------------------
 *
 * A file of ONNX becomes a module with a graph, as a text in Relax gives one: what its operators
 * mean is said by scripts (passes/module/operators/onnx), shapes that the file computes are
 * computed, and its weights become parameters behind the inputs. tirc_module_read takes such a file
 * by its name, FILE.onnx. Errors name the node; codes are "file", "onnx", and those of operators.
 */

/* An input that is a constant of the model: what decides a shape, an axis or a size has to be. */
typedef struct tirc_bound {
  const char *name;        /* as the file has it */
  const tirc_array *value; /* or NULL: */
  const char *text;        /* "1" or "2,3", numbers of the input's type */
} tirc_bound;
typedef struct tirc_import_options {
  const char *operators;      /* a folder of operators that come first, or NULL */
  int n_defines;              /* extents that the file has names for, */
  const tirc_define *defines; /* as numbers */
  int n_bound;
  const tirc_bound *bound;
  /* Arrays for the first inputs, in the file's order: they tell extents that have names, and those
   * that the model cannot be made without are bound. */
  int n_given;
  const tirc_array *const *given;
} tirc_import_options;
/* options may be NULL. */
TIRC_API tirc_status tirc_module_import(const char *path, const tirc_import_options *options,
                                        tirc_module **out, tirc_error **error);
/* The name of the file's input number i, NULL behind the last; *param (or NULL): its number among
 * main's parameters, -1: it was bound. Of a module that was not imported there are none. */
TIRC_API const char *tirc_import_input(const tirc_module *m, int i, int *param);
/* The weights of an imported module, by the names of main's parameters; to be closed. They are
 * views of what the module holds. *out is NULL where a module has none. */
TIRC_API tirc_status tirc_module_weights(const tirc_module *m, tirc_weights **out,
                                         tirc_error **error);

#ifdef __cplusplus
}
#endif
#endif
