/* What `tirc run` does; `tirc repl` runs a module likewise. */
#ifndef TIRC_TOOLS_RUN_H
#define TIRC_TOOLS_RUN_H

#include "tools/kit/kit.h"

/* Runs m with the options' arrays, and sums up the results; --check compares with what
 * the interpreter makes of `plain`. */
int run_module(const Options *o, const tirc_module *plain, const tirc_module *m);
/* products.c, --log-matmuls: a run of a model that writes a line for each product. */
int log_products(const Options *o, const tirc_program *p, tirc_executor *x, int n,
                 const tirc_argument *args);

#endif
