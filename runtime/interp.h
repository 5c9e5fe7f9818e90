/* The reference interpreter: runs any function, scheduled or not, lowered or not, sequentially,
 * every access bounds-checked, integers with overflow checks in their dtype, floats rounded to
 * their dtype after every operation. It is what all other parts are checked against, so it is
 * simple first. */
#ifndef TIRC_RUNTIME_INTERP_H
#define TIRC_RUNTIME_INTERP_H

#include "../ir/ir.h"
#include "tensor.h"

typedef struct Argument { /* one a parameter */
  Tensor *tensor;         /* for buffers; written in place */
  int64_t i;              /* for integer scalars */
  double f;               /* for float scalars */
} Argument;

/* Throws "out-of-bounds", "shape", "division", "overflow", "steps" with the place, the loop values
 * and the buffer. max_steps 0: no limit. Uninitialised memory of allocated buffers is poisoned:
 * reading it where it was never written throws "uninitialised". A block whose predicate is false is
 * skipped; init runs when all reduction iterators are at their minimum. */
void tirc_interpret(Tirc *c, const Func *f, int n_args, const Argument *args, int64_t max_steps);

/* The variables that stand in the shapes, strides and offsets of f's parameter buffers without
 * being scalar parameters themselves (`n = T.int32()` in a program), in order of first appearance.
 */
int tirc_symbolic_params(Tirc *c, const Func *f, Expr **out);
/* Checks dtype, rank and shape of the tensors against f's parameters and solves for the symbolic
 * extents: values[i] belongs to tirc_symbolic_params' i-th. Throws "argument" naming the parameter.
 */
void tirc_bind_arguments(Tirc *c, const Func *f, int n_args, const Argument *args, int64_t *values);

#endif
