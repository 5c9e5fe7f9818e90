/* Memory that functions would ask the system for while they run, as parameters: who calls them has
 * a place for it.
 *
 *   def f(a, b):                          def f(a, b, t):
 *     for i in T.parallel(4):               for i in T.parallel(4):
 *       t = alloc(100000)            ->       ... t[i * 100000 + k] ...
 *       ... t[k] ...
 */
#ifndef TIRC_CODEGEN_HOIST_H
#define TIRC_CODEGEN_HOIST_H

#include "ir/tree/ir.h"

typedef struct Hoisted { /* of a function: its last n parameters */
  int n;
  const int64_t *bytes; /* of each, to be aligned to 64 */
} Hoisted;

/* For a lowered module. Functions with keeps[i] stay as they are (NULL: none does); so does memory
 * whose size is no number, and what many steps in parallel would need much of. most_on_stack: the
 * bytes that one array may have on the stack, beside what tirc_fits_stack asks. out: one a
 * function. */
const Module *tirc_hoist_memory(Tirc *c, const Module *m, const bool *keeps, int64_t most_on_stack,
                                Hoisted *out);
/* The same functions for one thread: their parallel loops are serial ones. */
const Module *tirc_for_one_thread(Tirc *c, const Module *m);

#endif
