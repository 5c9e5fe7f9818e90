/* Models: graphs, their operators and weights, files of other formats. */
#ifndef TIRC_TIRC_MODEL_H
#define TIRC_TIRC_MODEL_H

#include "code.h"
#include "run.h"

TIRC_C_BEGIN

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

/* A module with a graph (@R.function) becomes a program: operators become loops, loops get
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
/* The module with this one of its graphs as main, which a program is made of. TIRC_BAD with the
 * code "name" where there is none of this name. */
TIRC_API tirc_status tirc_module_with_main(const tirc_module *m, const char *graph,
                                           tirc_module **out, tirc_error **error);
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
/* Of result number `result` only the run knows how many rows mean something: as many as the result
 * whose number this is says, an integer without dimensions, the first along *axis (tirc_array_rows
 * takes them). -1: all of it means something, and *axis stays as it is. */
TIRC_API int tirc_program_count(const tirc_program *p, int result, int *axis);
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

/* The products in a function (a sum of products of two arrays) that a run calls, with the extents
 * that it really has: out[batch, m, n] = sum over k of a[batch, m, k] * b[batch, k, n]. A
 * convolution is one whose left matrix is never made. */
typedef struct tirc_product {
  const char *block;
  int64_t batch, m, n, k;
  const char *a, *b, *out; /* types of elements */
  const char *layout;      /* "NN"; T where a matrix lies the other way round */
  bool is_convolution;
} tirc_product;
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
  int64_t made_in; /* what children that made the code had in memory at most; 0: there was none */
} tirc_program_size;
TIRC_API tirc_status tirc_program_measure(const tirc_program *p, int n, const tirc_argument *args,
                                          tirc_program_size *out, tirc_error **error);

/* Arrays in a .safetensors file, which is mapped: an array is a view of the file, as long as it is
 * open, and is not to be written. */
TIRC_API tirc_status tirc_weights_open(const char *path, tirc_weights **out, tirc_error **error);
TIRC_API void tirc_weights_close(tirc_weights *w);
/* TIRC_BAD with the code "name" and a near name where there is none of this name. */
TIRC_API tirc_status tirc_weights_array(const tirc_weights *w, const char *name, tirc_array **out,
                                        tirc_error **error);
/* All of them as a .safetensors file. */
TIRC_API tirc_status tirc_weights_save(const tirc_weights *w, const char *path, tirc_error **error);

/* What the main graph of m makes of its weights alone is made now: *module takes that as weights,
 * and *weights has them, with those of w that it still takes; to be closed. Both are NULL where it
 * makes nothing of them. `threads` as for an executor. */
TIRC_API tirc_status tirc_module_make_weights(const tirc_module *m, const tirc_weights *w,
                                              int threads, tirc_module **module,
                                              tirc_weights **weights, tirc_error **error);

/* A file of ONNX becomes a module with a graph, as a text in Relax gives one: what its operators
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

TIRC_C_END
#endif
