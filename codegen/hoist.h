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

/* For a lowered module. Functions with keeps[i] stay as they are; so does memory whose size is no
 * number, and what many steps in parallel would need much of. out: one a function. */
const Module *tirc_hoist_memory(Tirc *c, const Module *m, const bool *keeps, Hoisted *out);

#endif
