/* The options of the commands that make, run and tune programs. */
#ifndef TIRC_TOOLS_COMMAND_H
#define TIRC_TOOLS_COMMAND_H

#include "tools/kit/kit.h"

typedef struct ImportOptions {
  Loading from;
  const char *weights;
} ImportOptions;

typedef struct ShapesOptions {
  Loading from;
  const char *uses;
  bool show_uses, as_json;
} ShapesOptions;

typedef struct CalibrateOptions {
  Loading from;
  const char *questions;
  double seconds;
  bool again;
} CalibrateOptions;

typedef struct ApplyOptions {
  Making make;
  const char *save_trace;
  bool as_script;
} ApplyOptions;

typedef struct BuildOptions {
  Making make;
  const char *emit, *figures, *weights_out, *header, *depfile, *soname;
  bool annotate, weights_inside, portable, no_alloc, runtime;
} BuildOptions;

typedef struct RunOptions {
  Running run;
  bool check, interpret, report, as_json;
  int64_t blocks;
  const char *log_matmuls, *array, *profile;
} RunOptions;

typedef struct TuneOptions {
  Running run;
  int64_t trials;
  double seconds, lease;
  const char *suite, *ranking, *mutations, *array;
  bool show_space, show_tasks;
} TuneOptions;

typedef struct CostOptions {
  Making make;
  List array;
  const char *block, *dataflow, *bits, *plot;
  int64_t limit;
  bool as_json, allow_cycles, formulas, fill, lines, csv;
} CostOptions;

/* model_shapes.c: `tirc shapes MODEL`, of one that is named so. DONE or BAD */
bool is_named_model(const char *path);
int shapes_of_model(const ShapesOptions *o);

/* What `tirc run` does; `tirc repl` runs a module likewise: m with the options' arrays, and sums up
 * the results; --check compares with what the interpreter makes of `plain`. */
int run_module(const RunOptions *o, const tirc_module *plain, const tirc_module *m);
/* products.c, --log-matmuls: a run of a model that writes a line for each product. */
int log_products(const char *path, const tirc_program *p, tirc_executor *x, int n,
                 const tirc_argument *args);

/* quantized.c, --quantize: how far the results of a run (args, of n) and its products are from
 * those with floats, and bytes and time beside theirs. */
int report_quantized(const RunOptions *o, const tirc_module *model, const tirc_program *p, int n,
                     const tirc_argument *args, double seconds);

/* tune_array.c, --array SPEC: mappings onto an array of processing elements by what they cost; */
int tune_array(const TuneOptions *o);
/* and a program in the order of such an array, which says what it counted. */
int run_on_array(const RunOptions *o, const tirc_module *m, int n, const tirc_argument *args);

#endif
