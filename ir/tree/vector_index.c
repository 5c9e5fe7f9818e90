/* Index arithmetic where an operand may be a vector. */
#include "vector_index.h"

static Expr widened(Tirc *c, Expr x, int lanes) {
  return x->dtype.lanes == lanes ? x : tirc_broadcast(c, x, lanes);
}

Expr tirc_index_cast(Tirc *c, DType t, Expr x) {
  if (x->op == OP_RAMP)
    return tirc_ramp(c, tirc_cast(c, t, x->args[0]), tirc_cast(c, t, x->args[1]), x->dtype.lanes);
  return tirc_cast(c, tirc_dtype_lanes(t, x->dtype.lanes), x);
}

Expr tirc_index_add(Tirc *c, Expr x, Expr y) {
  int lanes = x->dtype.lanes > 1 ? x->dtype.lanes : y->dtype.lanes;
  if (lanes == 1) return tirc_add(c, x, y);
  if (x->dtype.lanes > 1 && y->dtype.lanes == 1) return tirc_index_add(c, y, x);
  DType t = tirc_dtype_lanes(y->dtype, 1);
  if (x->dtype.lanes == 1 && y->op == OP_RAMP)
    return tirc_ramp(c, tirc_add(c, tirc_cast(c, t, x), y->args[0]), y->args[1], lanes);
  Expr both[2] = {widened(c, tirc_index_cast(c, t, x), lanes), y};
  return tirc_expr(c, OP_ADD, y->dtype, 2, both);
}

Expr tirc_index_scale(Tirc *c, Expr x, Expr factor) {
  if (x->dtype.lanes == 1) return tirc_mul(c, x, factor);
  if (x->op == OP_RAMP)
    return tirc_ramp(c, tirc_mul(c, x->args[0], factor), tirc_mul(c, x->args[1], factor),
                     x->dtype.lanes);
  Expr k = tirc_cast(c, tirc_dtype_lanes(x->dtype, 1), factor);
  return tirc_expr(c, OP_MUL, x->dtype, 2, (Expr[]){x, tirc_broadcast(c, k, x->dtype.lanes)});
}
