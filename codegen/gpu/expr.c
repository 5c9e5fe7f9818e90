/* Expressions that kernels have in a way of their own: on vectors, and of bits
 * (codegen/text/expr.c has the others). */
#include "gen.h"

/* --- vectors --------------------------------------------------------------------------------- */

CText tirc_gpu_all_lanes(Gen *g, Expr e, const Window *w) {
  (void)w;
  Expr s = tirc_src_spread(e);
  if (!s) return tirc_src_expr(g, e, &tirc_src_all);
  return g->l->splat(g, tirc_src_value_type(g, e->dtype), tirc_src_scalar(g, s));
}

static bool is_vector_arith(Expr e) {
  return e->dtype.lanes > 1 && tirc_dtype_is_int(e->dtype) &&
         (e->op == OP_ADD || e->op == OP_SUB || e->op == OP_MUL || e->op == OP_BITWISE_AND ||
          e->op == OP_BITWISE_OR || e->op == OP_BITWISE_XOR);
}

/* An operation on vectors; integers as the unsigned type, in which they may wrap around, carried
 * through. Beside a vector the language itself spreads a scalar of the type. */
static CText vector_arith(Gen *g, Expr e) {
  const bool spread = tirc_src_spread(e->args[0]) != NULL;
  const DType u = tirc_src_unsigned(e->dtype);
  CText at[2];
  for (int i = 0; i < 2; i++) {
    Expr x = e->args[i], s = i == 0 || !spread ? tirc_src_spread(x) : NULL;
    if (is_vector_arith(x))
      at[i] = vector_arith(g, x);
    else if (s && s->op == OP_INT)
      at[i] = tirc_src_number(g, tirc_dtype_lanes(u, 1), s->u.i);
    else
      at[i] = s ? tirc_src_scalar(g, s) : tirc_gpu_all_lanes(g, x, &tirc_src_all);
    if (is_vector_arith(x) || !tirc_dtype_is_int(x->dtype) ||
        (s && s->op == OP_INT && u.bits == 32))
      continue;
    if (s)
      at[i] = tirc_src_cast_to(g, tirc_dtype_lanes(u, 1), at[i]);
    else if (x->dtype.code == TYPE_INT)
      at[i] = g->l->bits_as(g, at[i], x->dtype, tirc_src_value_type(g, u));
  }
  return tirc_src_binary(g, (Op)e->op, at[0], at[1]);
}

CText tirc_gpu_vector_arith(Gen *g, Expr e, const Window *w) {
  (void)w;
  CText v = vector_arith(g, e);
  if (e->dtype.code != TYPE_INT) return v;
  return g->l->bits_as(g, v, tirc_src_unsigned(e->dtype), tirc_src_value_type(g, e->dtype));
}

CText tirc_gpu_ramp(Gen *g, Expr e, const Window *w) {
  if (!w->lane) tirc_src_unsupported(g, e);
  const DType t = tirc_dtype_lanes(e->dtype, 1);
  CText base = tirc_src_operand_as(g, e->args[0], t, w), at = {w->lane, BINDS_ALL};
  CText stride = tirc_src_operand_as(g, e->args[1], t, w);
  if (strcmp(w->lane, "0") == 0) return base;
  CText step = tirc_is_int(e->args[1], 1) ? at : tirc_src_binary(g, OP_MUL, stride, at);
  return tirc_is_int(e->args[0], 0) ? step : tirc_src_binary(g, OP_ADD, base, step);
}

/* --- scalars --------------------------------------------------------------------------------- */

/* Its value stands where it is used: values have no effects. */
CText tirc_gpu_let(Gen *g, Expr e, const Window *w) {
  return tirc_src_expr(g, tirc_substitute1(g->c, e->args[2], e->args[0], e->args[1]), w);
}

/* The bits of a value as one of another type. */
CText tirc_gpu_reinterpret(Gen *g, Expr e, const Window *w) {
  const DType from = e->args[0]->dtype, to = tirc_dtype_lanes(e->dtype, 1);
  if (from.lanes != e->dtype.lanes || from.bits != to.bits || tirc_src_is_small(from) ||
      tirc_src_is_small(to) || from.code == TYPE_HANDLE || to.code == TYPE_HANDLE)
    tirc_src_unsupported(g, e);
  CText v = tirc_src_expr(g, e->args[0], w);
  if (tirc_dtype_equal(tirc_dtype_lanes(from, 1), to)) return v;
  return g->l->bits_as(g, v, from, tirc_src_value_type(g, to));
}
