/* Modules with graphs, as the commands take them. */
#ifndef TIRC_TOOLS_MODEL_H
#define TIRC_TOOLS_MODEL_H

#include "kit.h"

/* The program of a module with a graph, as the options say, where with `poison` shows what is not
 * written; DONE, or the exit status after the
 * error was reported. */
int make_program(const Making *o, bool poison, const tirc_module *m, tirc_program **out);
/* The module after the phases up to this one (NULL: with what is known of each value),
 * --print-after and --dump-dir on the way. */
int run_phases(const Making *o, const tirc_module *m, const char *last, tirc_module **out);
/* --quantize as a pass, PHASE:FILE(ARGUMENTS); measure: one that leaves products as they are, and
 * adds results error_WEIGHT. */
const char *quantize_pass(const Loading *o, bool measure);
/* The same for --activations. */
const char *activations_pass(bool measure);
/* DONE, or BAD after saying what is wrong with --quantize or --activations, or what goes with one
 * alone. */
int check_quantize(const Loading *o);
/* What --quantize or --activations make of a model that nothing else is done to; *out is NULL where
 * neither is asked for. */
int rewrite_weights(const Loading *o, const tirc_module *m, tirc_module **out);
/* --weights, or what the model m came with: gives the parameters behind the inputs their arrays,
 * which are views of *file. */
int read_weights(const Making *o, const tirc_module *m, const tirc_program *p, tirc_weights **file,
                 tirc_argument *args);

/* onnx_file.c */
bool is_onnx(const char *path);
/* Whether the VALUE of --bind NAME=VALUE names a file, .npy or .pb; and its array, to be freed. */
bool is_bound_to_file(const char *value);
int read_bound_file(const char *value, tirc_array **out);
int import_onnx(const Loading *o, const char *path, int n, const tirc_define *defines,
                tirc_module **out);
typedef struct TestArrays {
  int n;
  tirc_array **at;
} TestArrays;
/* The arrays of --test-data: FOLDER/KIND_0.pb and so on; none where there is no such option. */
int read_test_arrays(const Loading *o, const char *kind, TestArrays *out);
void free_test_arrays(TestArrays *a);
/* An array of uint16 becomes, where bfloat16 is wanted, what its bits are. */
int take_bits(const char *dtype, tirc_array **a);
/* The n results of a run beside the folder's outputs: DONE or NO, and what is the matter with each.
 */
int compare_test_data(const Loading *o, int n, const tirc_param *params, const tirc_argument *args);
/* The n results of a run: `shown` has them all, and for those of which only some rows mean
 * something these rows, in arrays that `cut` (zeros before) has, to be freed. */
int rows_that_count(const tirc_program *p, int n, const tirc_argument *results, tirc_argument *cut,
                    tirc_argument *shown);

/* Of the calls that a line has counted, how many run once; nothing, if none do. */
void put_prepared(FILE *to, int calls);
/* --report: what goes in and out, operators by count, bytes. */
int report_model(const tirc_module *m, const tirc_program *p, int n, const tirc_argument *args);
/* Runs the program, and each function once more by the interpreter, unscheduled, on what it got.
 * The first that differs is named: NO. */
int check_program_calls(int64_t max_steps, const tirc_program *p, tirc_executor *x, int n,
                        const tirc_argument *args);

#endif
