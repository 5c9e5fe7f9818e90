/* Functions of mathematics as the hardware of a GPU has them, which are quicker and not as exact.
 */
#ifndef TIRC_CODEGEN_FAST_MATH_H
#define TIRC_CODEGEN_FAST_MATH_H

#include "ir/tree/ir.h"

typedef struct FastMath {
  Op op;
  const char *name, *code;
  double before, after;
  int least;
} FastMath;

/* For an operation on numbers of this type; NULL: the kernel does not ask for it (KEY_FAST_MATH),
 * or there is none. */
const FastMath *tirc_fast_math(const Func *kernel, Op op, DType t);

#endif
