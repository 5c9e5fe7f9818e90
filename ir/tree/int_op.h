/* What an operation on integers and bools gives: the one place that says so. The folder, the
 * interpreter, the checks that run a nest and what derives extents from arrays all ask here, and
 * machine code and C compute the same.
 *
 *   signed, 32 and 64 bits     must not leave their type (INT_OVERFLOWS; a shift to the left wraps)
 *   narrower, or unsigned      wrap around
 *   bool                       + is or, - is exclusive or, * is and, ~ is not
 *
 * A value is an int64_t; of uint64 its bits. Division by zero and a shift by a negative number or
 * by the width of the type have no value. */
#ifndef TIRC_IR_INT_OP_H
#define TIRC_IR_INT_OP_H

#include "ir.h"

typedef enum IntResult {
  INT_FITS,
  INT_WRAPS,     /* around: the type is one in which that is meant */
  INT_OVERFLOWS, /* signed, 32 or 64 bits: no value in indices; *out is the low bits */
  INT_DIVIDES_BY_ZERO,
  INT_SHIFTS_TOO_FAR,
  INT_IS_NO_OPERATION /* on integers */
} IntResult;
/* *out is the value. */
static inline bool tirc_int_has_value(IntResult r) { return r == INT_FITS || r == INT_WRAPS; }

/* Whether sums and products in this type wrap around: unsigned, or fewer than 32 bits. */
static inline bool tirc_dtype_wraps(DType t) {
  return t.code == TYPE_UINT || (t.code == TYPE_INT && t.bits < 32);
}
/* One of those that this file is about. */
static inline bool tirc_dtype_is_whole(DType t) {
  return t.lanes == 1 && (tirc_dtype_is_int(t) || t.code == TYPE_BOOL);
}
static inline bool tirc_dtype_is_uint64(DType t) { return t.code == TYPE_UINT && t.bits == 64; }

/* The number of the type that has the same low bits; of a bool, whether v is not 0. That is what a
 * conversion between integers and bools does. */
static inline int64_t tirc_wrap_int(DType t, int64_t v) {
  if (t.code == TYPE_BOOL) return v != 0;
  const int unused = 64 - t.bits;
  const uint64_t high = (uint64_t)v << unused;
  return t.code == TYPE_UINT ? (int64_t)(high >> unused) : (int64_t)high >> unused;
}

/* Of x op y as int64 has it, `lost` where that is not the number: what the type has. */
static inline IntResult tirc_int_held(DType t, int64_t v, bool lost, int64_t *out) {
  *out = tirc_wrap_int(t, v);
  if (*out == v && !lost) return INT_FITS;
  return tirc_dtype_wraps(t) ? INT_WRAPS : INT_OVERFLOWS;
}
#define TIRC_INT_SUM(name, builtin, of_bools)                                                      \
  static inline IntResult name(DType t, int64_t x, int64_t y, int64_t *out) {                      \
    int64_t v = 0;                                                                                 \
    uint64_t u = 0;                                                                                \
    if (t.code == TYPE_BOOL) return *out = (of_bools), INT_FITS;                                   \
    const bool lost =                                                                              \
        tirc_dtype_is_uint64(t) ? builtin((uint64_t)x, (uint64_t)y, &u) : builtin(x, y, &v);       \
    return tirc_int_held(t, tirc_dtype_is_uint64(t) ? (int64_t)u : v, lost, out);                  \
  }
TIRC_INT_SUM(tirc_int_add, __builtin_add_overflow, x | y)
TIRC_INT_SUM(tirc_int_sub, __builtin_sub_overflow, x ^ y)
TIRC_INT_SUM(tirc_int_mul, __builtin_mul_overflow, x &y)
#undef TIRC_INT_SUM

/* Quotient or remainder, as the operator rounds. */
static inline IntResult tirc_int_divide(Op op, DType t, int64_t x, int64_t y, int64_t *out) {
  const bool quotient = op == OP_FLOORDIV || op == OP_TRUNCDIV;
  const bool down = op == OP_FLOORDIV || op == OP_FLOORMOD;
  if (y == 0) return INT_DIVIDES_BY_ZERO;
  if (tirc_dtype_is_uint64(t)) {
    const uint64_t a = (uint64_t)x, b = (uint64_t)y;
    return *out = (int64_t)(quotient ? a / b : a % b), INT_FITS;
  }
  if (y == -1) { /* the least number of a type has no opposite in it */
    const IntResult r = tirc_int_sub(t, 0, x, out);
    if (quotient) return r;
    return *out = 0, r == INT_OVERFLOWS ? r : INT_FITS;
  }
  const int64_t rest = x % y;
  const bool below = down && rest != 0 && (rest < 0) != (y < 0);
  return *out = quotient ? x / y - below : below ? rest + y : rest, INT_FITS;
}

/* x and y of type t, which is an integer or a bool. y counts where the operator has two operands.
 * Comparisons give 0 or 1. */
IntResult tirc_int_op(Op op, DType t, int64_t x, int64_t y, int64_t *out);

#endif
