/* What each thread, each block and each launch has of its own, and what it may use of it. */
#ifndef TIRC_LOWER_SCOPES_H
#define TIRC_LOWER_SCOPES_H

#include "internal.h"
#include "passes/meaning/touches.h"

/* Throws "lower" unless each iteration of a loop of the host, which launches kernels, stores to the
 * buffer itself what it reads there. `at` is around the loop. */
void tirc_lower_check_launches(Tirc *c, const Func *f, Place *at, const For *loop, Buffer b);
/* What is around the parts of a statement of the host: a loop, or what a variable stands for. */
Place *tirc_lower_host_place(Tirc *c, Place *at, Stmt s);
/* Throws "lower" unless the iterations of loops that were several and are one now, over these axes,
 * store to elements of their own, or the same. `at` is around the kernel. */
void tirc_lower_check_joined(Tirc *c, const Func *f, Place *at, Stmt kernel, Buffer b, int n,
                             const Expr *axes);

#endif
