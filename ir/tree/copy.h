/* Deep copies, from one context into another. */
#ifndef TIRC_IR_COPY_H
#define TIRC_IR_COPY_H

#include "ir.h"

/* The same function, with everything that it consists of in context `to`, but for n variables that
 * are there already. Blocks keep their ids, and `to` gives none of these to others. `scratch` holds
 * what is needed meanwhile. */
const Func *tirc_func_copy(Tirc *to, Tirc *scratch, const Func *f, int n, const Expr *vars);

/* Replaces n modules (each or NULL) by the same in context `to`; what they share they share then,
 * too. The elements of constants that `kept` (or NULL) has stay where they are. */
void tirc_modules_copy(Tirc *to, Tirc *scratch, const Module *kept, int n, const Module **modules);

/* A module that comes from another context without a copy: c gives its blocks' ids to no others. */
void tirc_reserve_block_ids(Tirc *c, const Module *m);

#endif
