/* Calls of LLVM intrinsics: T.call_llvm_pure_intrin("float32x8", "llvm.fma.v8f32", a, b, c). */
#ifndef TIRC_IR_INTRINSIC_H
#define TIRC_IR_INTRINSIC_H

#include "ir.h"

typedef enum IntrinsicId {
#define INTRINSIC(id, name, shape, arity, c_form) INTRINSIC_##id,
#include "intrinsics.def"
#undef INTRINSIC
  INTRINSIC_COUNT
} IntrinsicId;
typedef enum IntrinsicShape {
  SHAPE_EACH,
  SHAPE_FSUM,
  SHAPE_ISUM,
  SHAPE_MADD_UB,
  SHAPE_MADD_WD,
  SHAPE_DOT
} IntrinsicShape;

/* A row of dots.def. */
typedef enum DotSums { DOT_WRAPS, DOT_ODD_EVEN, DOT_TO_ODD } DotSums;
typedef struct Dot {
  const char *name;
  int lanes, terms;
  DType a, b; /* of one element */
  DotSums sums;
  const char *feature, *other; /* other: NULL, there is none */
} Dot;

typedef struct IntrinsicCall {
  IntrinsicId id;
  const char *name;   /* without a type */
  const char *c_form; /* or NULL */
  IntrinsicShape shape;
  int n;
  const Expr *args;
  const Dot *dot; /* NULL: another shape */
} IntrinsicCall;
bool tirc_is_llvm_call(Expr e);
/* Checks name, number and types of operands; throws "intrinsic" at `loc`. */
IntrinsicCall tirc_llvm_call(Tirc *c, Expr e, Loc loc);
/* NULL: none of dots.def. */
const Dot *tirc_find_dot_named(IntrinsicId id);
/* The elements of operand 1 or 2 of a call of SHAPE_DOT, dot->lanes * dot->terms of them: of its
 * own type, with bits of uint16 in place of bfloat16. */
Expr tirc_dot_elements(Tirc *c, const IntrinsicCall *k, int operand);
/* A sum of the lanes of integers, written out; NULL: e is none, or its lanes cannot be told apart.
 */
Expr tirc_llvm_sum_of_lanes(Tirc *c, Expr e, Loc loc);

#endif
