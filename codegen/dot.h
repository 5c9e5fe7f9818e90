/* Four products of bytes that are added to a number, which some GPUs have one instruction for:
 *
 *   C[i] + T.call_llvm_pure_intrin("int32", "llvm.vector.reduce.add",
 *                                  T.Cast("int32x4", A[k:k + 4]) * T.Cast("int32x4", B[k:k + 4]))
 *
 * Each product is exact, and sums wrap, in whatever order. */
#ifndef TIRC_CODEGEN_DOT_H
#define TIRC_CODEGEN_DOT_H

#include "ir/tree/ir.h"

typedef struct DotOfBytes {
  Expr a, b;       /* four bytes each, signed or not */
  Expr sum;        /* what they are added to; NULL: nothing */
  const char *ptx; /* "dp4a.s32.u32" */
} DotOfBytes;

/* Whether e is one, and the target of the function has the instruction. */
bool tirc_find_dot(Tirc *c, const Func *f, Expr e, Loc loc, DotOfBytes *out);

#endif
