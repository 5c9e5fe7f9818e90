/* What of a model's code only the run knows: numbers that its extents tell. One function computes
 * them all, and asks what has to hold of the extents; the entry calls it first (model_entry.h).
 *
 *   sizes(n, s, out: int64[k])        asserts 1 <= n <= 64, n * s % 8 == 0, ...
 *                                     out[0]: bytes of the workspace
 *                                     out[1], ...: where tensors lie in it, arguments of calls
 */
#ifndef TIRC_RUNTIME_API_ENTRY_SIZES_H
#define TIRC_RUNTIME_API_ENTRY_SIZES_H

#include "codegen/model_entry.h"
#include "ir/arith/arith.h"
#include "passes/module/plan.h"

typedef struct SizeCheck {
  Expr cond;
  const char *message;
  Loc loc;
} SizeCheck;

typedef struct EntrySizes {
  Tirc *c;
  const Plan *plan;
  Analyzer *known; /* bounds of the extents */
  int n_extents;
  EntryExtent *extents; /* without their names in C, in any order */
  Buffer out;
  VEC(Expr) values;
  StrMap numbers; /* of values, by their text */
  VEC(SizeCheck) checks;
  StrMap checked;
} EntrySizes;

/* n_extents 0: everything is a number. */
void tirc_sizes_open(EntrySizes *s, Tirc *c, const Plan *plan);
/* The number of a value in the table; what is no expression of the extents alone throws. */
int tirc_sizes_value(EntrySizes *s, Expr e);
/* Has to hold when the model runs. */
void tirc_sizes_check(EntrySizes *s, Expr cond, const char *message, Loc loc);
/* Bytes of a tensor, a multiple of 64. `always`: not only where a branch is taken: then each of its
 * extents is checked not to be negative. */
Expr tirc_sizes_bytes(EntrySizes *s, Buffer b, bool always);

/* Memory that calls number first to last use, and where it lies: no two at once in one place. */
typedef struct SizedUse {
  Expr bytes;
  int first, last;
  EntryValue at;
} SizedUse;
/* Uses that are never alive together share a slot, which is as large as the largest of them is for
 * the extents of a run. The workspace is all slots. */
void tirc_sizes_place(EntrySizes *s, int n, SizedUse *uses);

/* The function, lowered. */
const Func *tirc_sizes_func(EntrySizes *s, const char *name);

#endif
