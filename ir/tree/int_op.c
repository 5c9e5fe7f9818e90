#include "int_op.h"

static bool is_less(DType t, int64_t x, int64_t y) {
  return tirc_dtype_is_uint64(t) ? (uint64_t)x < (uint64_t)y : x < y;
}

static IntResult shifted(Op op, DType t, int64_t x, int64_t by, int64_t *out) {
  if (by < 0 || by >= t.bits) return INT_SHIFTS_TOO_FAR;
  if (op == OP_SHIFT_RIGHT) {
    *out = t.code == TYPE_INT ? x >> by : (int64_t)((uint64_t)x >> by);
    return INT_FITS;
  }
  *out = tirc_wrap_int(t, (int64_t)((uint64_t)x << by));
  const int64_t back = tirc_dtype_is_uint64(t) ? (int64_t)((uint64_t)*out >> by) : *out >> by;
  return back == x ? INT_FITS : INT_WRAPS;
}

static IntResult opposite(DType t, int64_t x, int64_t *out) {
  if (t.code != TYPE_INT || x >= 0) return *out = x, INT_FITS;
  return tirc_int_sub(t, 0, x, out);
}

IntResult tirc_int_op(Op op, DType t, int64_t x, int64_t y, int64_t *out) {
  switch (op) {
  case OP_ADD: return tirc_int_add(t, x, y, out);
  case OP_SUB: return tirc_int_sub(t, x, y, out);
  case OP_MUL: return tirc_int_mul(t, x, y, out);
  case OP_TRUNCDIV:
  case OP_TRUNCMOD:
  case OP_FLOORDIV:
  case OP_FLOORMOD: return tirc_int_divide(op, t, x, y, out);
  case OP_MIN: *out = is_less(t, y, x) ? y : x; return INT_FITS;
  case OP_MAX: *out = is_less(t, x, y) ? y : x; return INT_FITS;
  case OP_EQ: *out = x == y; return INT_FITS;
  case OP_NE: *out = x != y; return INT_FITS;
  case OP_LT: *out = is_less(t, x, y); return INT_FITS;
  case OP_LE: *out = !is_less(t, y, x); return INT_FITS;
  case OP_GT: *out = is_less(t, y, x); return INT_FITS;
  case OP_GE: *out = !is_less(t, x, y); return INT_FITS;
  case OP_AND: *out = x && y; return INT_FITS;
  case OP_OR: *out = x || y; return INT_FITS;
  case OP_NOT: *out = !x; return INT_FITS;
  case OP_LIKELY: *out = x; return INT_FITS;
  case OP_BITWISE_AND: *out = x & y; return INT_FITS;
  case OP_BITWISE_OR: *out = x | y; return INT_FITS;
  case OP_BITWISE_XOR: *out = x ^ y; return INT_FITS;
  case OP_BITWISE_NOT: *out = t.code == TYPE_BOOL ? !x : tirc_wrap_int(t, ~x); return INT_FITS;
  case OP_SHIFT_LEFT:
  case OP_SHIFT_RIGHT: return shifted(op, t, x, y, out);
  case OP_ABS: return opposite(t, x, out);
  default: return INT_IS_NO_OPERATION;
  }
}
