/* Modules with graphs, as the commands take them. */
#ifndef TIRC_TOOLS_MODEL_H
#define TIRC_TOOLS_MODEL_H

#include "tool.h"

/* The program of a module with a graph, as the options say; DONE, or the exit status after the
 * error was reported. */
int make_program(const Options *o, const tirc_module *m, tirc_program **out);
/* The module after the phases up to this one (NULL: with what is known of each value),
 * --print-after and --dump-dir on the way. */
int run_phases(const Options *o, const tirc_module *m, const char *last, tirc_module **out);
/* --weights: gives the parameters behind the inputs their arrays, which are views of *file. */
int read_weights(const Options *o, const tirc_program *p, tirc_weights **file, tirc_argument *args);
/* --log-matmuls: a run that writes a line for each product. */
int log_products(const Options *o, const tirc_program *p, tirc_executor *x, int n,
                 const tirc_argument *args);
/* --report: what goes in and out, operators by count, bytes. */
int report_model(const Options *o, const tirc_module *m, const tirc_program *p, int n,
                 const tirc_argument *args);
/* bench_model.c: `tirc bench` of a model */
int bench_model(const Options *o, const tirc_module *m);
/* Runs the program, and each function once more by the interpreter, unscheduled, on what it got.
 * The first that differs is named: NO. */
int check_program_calls(const Options *o, const tirc_program *p, tirc_executor *x, int n,
                        const tirc_argument *args);

#endif
