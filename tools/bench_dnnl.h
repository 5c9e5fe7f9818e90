/* Operators as oneDNN's primitives. */
#ifndef TIRC_TOOLS_BENCH_DNNL_H
#define TIRC_TOOLS_BENCH_DNNL_H

#include "bench_rivals.h"

/* bench_onednn.c */
void *dnnl_library(void);
void dnnl_threads(int n);
bool dnnl_open_with_isa(const Bench *b, char *kernels, size_t size, const char **why);

/* bench_dnnl.c: NULL, with why, where it has none. Ahead: weights are laid out here; otherwise, as
 * all other arrays that it wants in another layout, in each run. */
typedef struct Dnnl Dnnl;
Dnnl *dnnl_make(const Operator *op, bool ahead, const char **why);
void dnnl_run(const Dnnl *v);
void dnnl_release(Dnnl *v);
const char *dnnl_implementation(const Dnnl *v);

#endif
