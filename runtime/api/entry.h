/* The one function of a model in C, which calls the others. */
#ifndef TIRC_RUNTIME_API_ENTRY_H
#define TIRC_RUNTIME_API_ENTRY_H

#include "api.h"

/* For a module whose graph calls prim_funcs only, lowered too: what stands behind its C source, or
 * its header.
 *
 *   enum { NAME_workspace = 2048 };
 *   int NAME(const float *x, const float *w, float *y, void *workspace);
 *
 * Parameters of main, results, and a workspace of so many bytes, aligned to 64, which nobody else
 * uses while it runs; the status is that of the first function that fails. Throws "unsupported" for
 * extents that are no numbers, calls of other programs, and constants of more than 4 MB. */
const char *tirc_entry_c(Tirc *c, const Module *m, const Module *lowered, const char *name,
                         bool is_header);

#endif
