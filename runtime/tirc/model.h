/* Models: graphs, their operators and weights, files of other formats. */
#ifndef TIRC_TIRC_MODEL_H
#define TIRC_TIRC_MODEL_H

#include "code.h"
#include "run.h"

TIRC_C_BEGIN

/* What graphs call R.add, R.nn.softmax ... are functions in scripts, which a table names. folder: a
 * folder of your own, whose table.sch is searched first; or NULL. */
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
TIRC_API const char *tirc_operators_name(const tirc_operators *o,
                                         int i); /* NULL after the last one */
TIRC_API tirc_status tirc_operators_find(tirc_operators *o, const char *name,
                                         const tirc_operator_info **out, tirc_error **error);
/* The program of an operator for operands of given types. Tensors come in the operator's order:
 * "x=4x5:float32" or, with a symbolic extent, "x=n,784:float32"; several tensors of one operand are
 * joined by a +. Attributes are named: "axis=-1". The function's parameters are the tensors, then
 * the results, then scalars that do not follow from any extent. */
TIRC_API tirc_status tirc_operator_module(const char *folder, const char *name, int n,
                                          const char *const *words, tirc_module **out,
                                          tirc_error **error);

/* A module with a graph (@R.function) becomes a program: operators become loops, loops are
 * scheduled, tensors get places in one workspace, and a list of calls remains. A program is
 * immutable. Any number of threads may run it at once, each with its own arrays and executor.
 *
 *     tirc_program *p;
 *     tirc_program_new(m, NULL, &p, &error);
 *     tirc_module_params(tirc_program_signature(p), NULL, &n, &params, &error);
 *     tirc_program_run(p, x, n, args, &error);      // main's parameters, then its results */
TIRC_API bool tirc_module_has_graph(const tirc_module *m);
/* The module with the graph of this name as main, from which a program is made. TIRC_BAD with the
 * code "name" if there is no graph of this name. */
TIRC_API tirc_status tirc_module_with_main(const tirc_module *m, const char *graph,
                                           tirc_module **out, tirc_error **error);
/* The name of parameter number i of the main graph; NULL if there is none. */
TIRC_API const char *tirc_module_input(const tirc_module *m, int i);

/* Tells each operator and function that the module's graphs call, in the order of the first call,
 * and how often they are called. */
TIRC_API tirc_status tirc_module_operators(const tirc_module *m,
                                           void (*tell)(void *self, const char *name, int calls),
                                           void *self, tirc_error **error);
/* Tells each function of the module that a run of the main graph calls, in the order of the first
 * call, and how often; both branches of an `if` count. The graph has come through the phase
 * "cleanup". What depends on weights alone runs once, ahead of all runs, and what only reads the
 * elements of another tensor, as a reshape does, does not run at all: neither is told. */
TIRC_API tirc_status tirc_module_run_calls(const tirc_module *m,
                                           void (*tell)(void *self, const char *name, int calls),
                                           void *self, tirc_error **error);

typedef struct tirc_program tirc_program;
typedef struct tirc_program_options {
  const char *target;    /* NULL: "haswell" */
  const char *operators; /* a folder of operators that come before the library's, or NULL */
  int n_skip;
  const char *const *skip; /* passes that do not run */
  /* Shared objects with the functions that R.call_dps_packed("NAME", ...) calls:
   *
   *   int NAME(int n, const DLTensor *tensors)      the arguments, then the results, compact
   *
   * The function returns 0, or another number if it failed. */
  int n_libraries;
  const char *const *libraries;
  int n_passes;
  const char *const *passes;      /* "PHASE:FILE": scripts with a function transform_module */
  bool plain;                     /* leaves loops as the operators make them */
  const char *script;             /* a schedule for all functions, instead of the rules; or NULL */
  const tirc_auto_options *rules; /* for the rules, or NULL */
  const tirc_schedule_options *schedule; /* for either, or NULL */
  bool poison; /* workspace and results hold NaN and large numbers before each run */
  /* A child process generates the code, so LLVM's memory is released when it ends. For a process
   * with one thread. If there can be no child process, this process does it without a message. */
  bool by_child;
  void *self;
  /* Receives the module after each pass, and after each phase (then pass is NULL). */
  void (*after)(void *self, int phase, const char *name, const char *pass, const char *text);
  /* Used in place of the rules, or NULL: schedules one function, which is alone in m and called
   * main, as tirc_module_tuned does. *out then belongs to the program. */
  tirc_status (*schedule_alone)(void *self, const tirc_module *m, tirc_module **out,
                                tirc_error **error);
  /* What happens with indices that are known only at run time, in operators such as R.take.
   * "check": an index outside the table ends the call with the code "assert". "clip": the nearest
   * valid index is used. NULL: check, or clip if the target is a GPU, whose kernels cannot report
   * errors. "trust": indices are used as they are, and memory that does not belong to the model may
   * be read and written. */
  const char *indices;
} tirc_program_options;
TIRC_API tirc_status tirc_program_new(const tirc_module *m, const tirc_program_options *options,
                                      tirc_program **out, tirc_error **error);
/* A function of the caller's for R.call_dps_packed("NAME", ...): called as that of a library is, by
 * the thread that runs the program. The pointer must be valid as long as the program is. */
typedef struct tirc_packed_function {
  const char *name;
  int (*call)(int n, const DLTensor *tensors);
} tirc_packed_function;
/* tirc_program_new with n such functions, which come before those of the libraries. */
TIRC_API tirc_status tirc_program_new_with(const tirc_module *m,
                                           const tirc_program_options *options, int n,
                                           const tirc_packed_function *functions,
                                           tirc_program **out, tirc_error **error);
TIRC_API void tirc_program_free(tirc_program *p);
/* The module after the phases up to this one, given by name or number. NULL: no phase, only with
 * the facts known about each value, which are compared with those in the text. */
TIRC_API tirc_status tirc_module_phases(const tirc_module *m, const char *last,
                                        const tirc_program_options *options, tirc_module **out,
                                        tirc_error **error);
/* The module with float64 in place of all floats of fewer bits: what it computes but for rounding.
 * Graphs must call functions only, as after the phase "loops"; the pass FoldConstant, which
 * computes in the types of the file, is best skipped before. The result's parameters are float64,
 * too. TIRC_BAD with the code "unsupported" where a function reads bits as floats, or calls code of
 * another library. */
TIRC_API tirc_status tirc_module_in_float64(const tirc_module *m, tirc_module **out,
                                            tirc_error **error);
/* Pass number i of all phases: the number and name of its phase, and what both do. */
typedef struct tirc_phase_info {
  int phase;
  const char *phase_name, *phase_help;
  const char *name, *help;
} tirc_phase_info;
TIRC_API bool tirc_phase_table(int i, tirc_phase_info *out);

/* A module whose main has the program's parameters and results and does nothing, for
 * tirc_module_params, tirc_module_symbols, tirc_module_array. The first tirc_program_inputs
 * parameters are inputs, those up to tirc_program_params are weights, and then come the results. */
TIRC_API const tirc_module *tirc_program_signature(const tirc_program *p);
TIRC_API int tirc_program_inputs(const tirc_program *p);
TIRC_API int tirc_program_params(const tirc_program *p);
/* If only the run knows how many rows of result number `result` count, this is the number of the
 * result that holds the count, an integer without dimensions. The first rows along *axis count
 * (tirc_array_rows takes them). -1: all rows count, and *axis is unchanged. */
TIRC_API int tirc_program_count(const tirc_program *p, int result, int *axis);
/* The same for a result whose rows are counted along several axes: number i of its counts, from 0
 * on, which tirc_program_count gives. -1: it has no more. */
TIRC_API int tirc_program_count_at(const tirc_program *p, int result, int i, int *axis);
/* Its functions, with their schedules, and without. */
TIRC_API const tirc_module *tirc_program_module(const tirc_program *p);
TIRC_API const tirc_module *tirc_program_unscheduled(const tirc_program *p);

/* args: parameters and results, which are written, as arrays or as compact tensors in memory that
 * this process reads; their shapes give the symbolic extents. What depends only on weights is
 * computed in the first run with these arrays, and their elements must not change after that. */
TIRC_API tirc_status tirc_program_run(const tirc_program *p, tirc_executor *x, int n,
                                      const tirc_argument *args, tirc_error **error);

/* A run that reports each call, in order. */
typedef struct tirc_program_call {
  int number, of;
  const char *func; /* its name in tirc_program_module; NULL: a copy */
  double seconds;   /* of one run, or the least of `repeat` runs */
  int n;            /* its arguments, as they are after it */
  const tirc_argument *args;
  int n_written; /* the last of the arrays among them */
} tirc_program_call;
/* tell returns whether to continue. before (or NULL) is called before each call, with seconds 0. */
typedef struct tirc_program_watch {
  void *self;
  int repeat; /* at least 1; calls may be repeated, because none reads what it writes */
  bool (*before)(void *self, const tirc_program_call *call);
  bool (*tell)(void *self, const tirc_program_call *call);
} tirc_program_watch;
TIRC_API tirc_status tirc_program_run_watched(const tirc_program *p, tirc_executor *x, int n,
                                              const tirc_argument *args,
                                              const tirc_program_watch *watch, tirc_error **error);

/* The products (sums of products of two arrays) in a function that a run calls, with the actual
 * extents: out[batch, m, n] = sum over k of a[batch, m, k] * b[batch, k, n]. A convolution is a
 * product whose left matrix is never made. */
typedef struct tirc_product {
  const char *block;
  int64_t batch, m, n, k;
  const char *a, *b, *out; /* types of elements */
  const char *layout;      /* "NN"; T for a transposed matrix */
  bool is_convolution;
} tirc_product;
TIRC_API tirc_status tirc_program_products(const tirc_program *p, const tirc_program_call *call,
                                           void (*tell)(void *self, const tirc_product *product),
                                           void *self, tirc_error **error);

/* What a program needs for arrays of these shapes (args as for a run). */
typedef struct tirc_program_size {
  int calls, prepared; /* prepared: those that run only once */
  int functions;
  int64_t inputs, weights, results; /* bytes */
  int64_t packed;                   /* computed once, from weights and constants */
  int64_t workspace;                /* one block that all other tensors share, */
  int64_t unshared;                 /* and what they would need without sharing */
  int64_t made_in;                  /* peak memory of child processes that made code; 0: none */
} tirc_program_size;
TIRC_API tirc_status tirc_program_measure(const tirc_program *p, int n, const tirc_argument *args,
                                          tirc_program_size *out, tirc_error **error);

/* Arrays in a .safetensors file, which is mapped. An array is a view of the file, valid while the
 * file is open. Do not write to it. */
TIRC_API tirc_status tirc_weights_open(const char *path, tirc_weights **out, tirc_error **error);
TIRC_API void tirc_weights_close(tirc_weights *w);
/* TIRC_BAD with the code "name" and a similar name, if there is none of this name. */
TIRC_API tirc_status tirc_weights_array(const tirc_weights *w, const char *name, tirc_array **out,
                                        tirc_error **error);
/* Writes all of them to a .safetensors file. */
TIRC_API tirc_status tirc_weights_save(const tirc_weights *w, const char *path, tirc_error **error);

/* Computes now what the main graph of m computes from its weights alone. *module takes the results
 * as weights. *weights contains them, and those of w that are still needed; close it. Both are NULL
 * if the graph computes nothing from weights alone. `threads` as for an executor. */
TIRC_API tirc_status tirc_module_make_weights(const tirc_module *m, const tirc_weights *w,
                                              int threads, tirc_module **module,
                                              tirc_weights **weights, tirc_error **error);

/* Turns an ONNX file into a module with a graph, like a text in Relax. Scripts define its operators
 * (passes/module/operators/onnx), shapes that the file computes are computed, and its weights
 * become parameters after the inputs. tirc_module_read accepts such a file by its name, FILE.onnx.
 * Errors name the node; codes are "file", "onnx", and those of operators. */

/* An input that is a constant of the model. Whatever determines a shape, an axis or a size must be
 * one. */
typedef struct tirc_bound {
  const char *name;        /* as the file has it */
  const tirc_array *value; /* or NULL: */
  const char *text;        /* "1" or "2,3", numbers of the input's type */
} tirc_bound;
typedef struct tirc_import_options {
  const char *operators;      /* a folder of operators that come first, or NULL */
  int n_defines;              /* extents with names in the file, */
  const tirc_define *defines; /* as numbers */
  int n_bound;
  const tirc_bound *bound;
  /* Arrays for the first inputs, in the file's order. They give the values of extents with names.
   * Those inputs without which the model cannot be made are bound to them. */
  int n_given;
  const tirc_array *const *given;
} tirc_import_options;
/* options may be NULL. */
TIRC_API tirc_status tirc_module_import(const char *path, const tirc_import_options *options,
                                        tirc_module **out, tirc_error **error);
/* The name of the file's input number i, NULL after the last one. *param (or NULL): its number
 * among main's parameters; -1: it was bound. A module that was not imported has none. */
TIRC_API const char *tirc_import_input(const tirc_module *m, int i, int *param);
/* The files that an imported module was read from: number 0 is the model's own file, then come the
 * files of its external data. NULL after the last one, and for a module that was not imported. */
TIRC_API const char *tirc_import_file(const tirc_module *m, int i);
/* The weights of an imported module, by the names of main's parameters; close them. They are views
 * of what the module holds. *out is NULL if the module has none. */
TIRC_API tirc_status tirc_module_weights(const tirc_module *m, tirc_weights **out,
                                         tirc_error **error);

TIRC_C_END
#endif
