/* Expressions that C has in a way of its own: on GNU's vectors, and where a value is a bit pattern
 * (codegen/text/expr.c has the others). */
#include "gen.h"

/* --- vectors -------------------------------------------------------------------------------- */

/* A scalar that C spreads. A choice between two narrow numbers is an int there, which is none that
 * their vectors take. */
static CText spread_scalar(Gen *g, Expr scalar) {
  const CText v = tirc_src_scalar(g, scalar);
  Expr e = scalar;
  while (e->op == OP_LET || e->op == OP_LIKELY) e = e->args[e->op == OP_LET ? 2 : 0];
  const bool is_choice = e->op == OP_SELECT || e->op == OP_IF_THEN_ELSE;
  if (!is_choice || !tirc_dtype_is_int(e->dtype) || e->dtype.bits >= 32) return v;
  return tirc_c_cast_to(g->c, tirc_c_type(e->dtype), v);
}

static CText splat(Gen *g, Expr scalar, DType t, const Window *w) {
  const char *type = tirc_cg_vector(g, t, w->n);
  double f = scalar->op == OP_FLOAT ? scalar->u.f : 1;
  bool is_zero = tirc_is_int(scalar, 0) || (f == 0 && !__builtin_signbit(f));
  if (is_zero) return tirc_src_text(g, BINDS_ALL, "(%s){0}", type);
  return tirc_src_text(g, BINDS_ALL, "VSPLAT(%s, %s)", type, spread_scalar(g, scalar).s);
}

CText tirc_cg_vector_value(Gen *g, Expr e, DType t, const Window *w) {
  Expr s = tirc_src_spread(e);
  return s ? splat(g, s, t, w) : tirc_src_expr(g, e, w);
}

static CText vector_operand(Gen *g, Expr e, DType t, bool may_spread, const Window *w) {
  Expr s = may_spread ? tirc_src_spread(e) : NULL;
  CText v = s ? spread_scalar(g, s) : tirc_cg_vector_value(g, e, t, w);
  if (t.code != TYPE_INT) return v;
  DType u = tirc_src_unsigned(t);
  return tirc_c_cast_to(g->c, s ? tirc_c_type(u) : tirc_cg_vector(g, u, w->n), v);
}

CText tirc_cg_vector_arith(Gen *g, Expr e, const Window *w) {
  DType t = tirc_c_operand_type(g->c, g->loc, e);
  bool a_spread = tirc_src_spread(e->args[0]) != NULL;
  CText a = vector_operand(g, e->args[0], t, true, w);
  CText b = vector_operand(g, e->args[1], t, !a_spread, w);
  CText r = tirc_src_binary(g, (Op)e->op, a, b);
  return t.code == TYPE_INT ? tirc_c_cast_to(g->c, tirc_cg_vector(g, t, w->n), r) : r;
}

CText tirc_cg_all_lanes(Gen *g, Expr e, const Window *w) {
  return tirc_cg_vector_value(g, e, tirc_dtype_lanes(e->dtype, 1), w);
}

CText tirc_cg_ramp(Gen *g, Expr e, const Window *w) {
  if (!w->lane) tirc_src_unsupported(g, e);
  DType t = tirc_dtype_lanes(e->dtype, 1);
  CText base = tirc_src_operand_as(g, e->args[0], t, w),
        stride = tirc_src_operand_as(g, e->args[1], t, w);
  CText lane = {tirc_src_lane(g, w), BINDS_ALL};
  CText step = tirc_is_int(e->args[1], 1) ? lane : tirc_src_binary(g, OP_MUL, stride, lane);
  return tirc_c_cast_to(g->c, tirc_c_type(t), tirc_src_binary(g, OP_ADD, base, step));
}

/* --- scalars -------------------------------------------------------------------------------- */

/* Without GNU's expressions of statements the variable is declared in front of the statement, where
 * it needs a name of its own. */
static const char *let_name(Gen *g, Expr var) {
  if (!tirc_cg_is_portable(g)) return var->u.s;
  return tirc_format(g->c, "%s_let%d", var->u.s, g->file->n_lets++);
}

CText tirc_cg_let(Gen *g, Expr e, const Window *w) {
  Expr var = e->args[0];
  if (var->dtype.lanes > 1 && w->n == 0) tirc_src_unsupported(g, e);
  CText value = tirc_src_operand_as(g, e->args[1], var->dtype, w);
  const int mark = g->taken.n;
  Name *name = tirc_src_declare(g, var, let_name(g, var));
  const char *type = tirc_src_value_type(g, tirc_dtype_lanes(var->dtype, 1));
  CText body = tirc_src_expr(g, e->args[2], w);
  g->taken.n = mark;
  tirc_map_remove(&g->vars, var);
  if (!name->used) return body;
  if (tirc_cg_is_portable(g)) {
    tirc_text_addf(&g->ahead, "%s %s;\n", type, name->s);
    return tirc_src_text(g, BINDS_ALL, "(%s = %s, %s)", name->s, value.s, body.s);
  }
  return tirc_src_text(g, BINDS_ALL, "({ %s %s = %s; %s; })", type, name->s, value.s, body.s);
}

/* A lane of the result is a part of one of the operand's lanes, or made of several of them. */
static CText reinterpret_lanes(Gen *g, Expr e, const Window *w) {
  DType from = e->args[0]->dtype, to = e->dtype;
  if (!tirc_dtype_is_int(from) || !tirc_dtype_is_int(to)) tirc_src_unsupported(g, e);
  const char *lane = to.lanes > 1 ? tirc_src_lane(g, w) : "0";
  const char *u = tirc_c_type(tirc_src_unsigned(tirc_dtype_lanes(to, 1)));
  if (to.lanes > from.lanes) {
    int parts = to.lanes / from.lanes;
    Window at = {0, 0, tirc_format(g->c, "(%s / %d)", lane, parts)};
    CText v = tirc_c_cast_to(g->c, tirc_c_type(tirc_src_unsigned(tirc_dtype_lanes(from, 1))),
                             tirc_src_expr(g, e->args[0], &at));
    return tirc_src_text(g, BINDS_CAST, "(%s)(%s >> %d * (%s %% %d))",
                         tirc_c_type(tirc_dtype_lanes(to, 1)), v.s, to.bits, lane, parts);
  }
  Text all = {.c = g->c};
  int parts = from.lanes / to.lanes;
  for (int i = 0; i < parts; i++) {
    Window at = {0, 0, tirc_format(g->c, "(%d * %s + %d)", parts, lane, i)};
    CText v = tirc_c_cast_to(g->c, tirc_c_type(tirc_src_unsigned(tirc_dtype_lanes(from, 1))),
                             tirc_src_expr(g, e->args[0], &at));
    tirc_text_addf(&all, "%s(%s)((%s)%s << %d)", i ? " | " : "", u, u, v.s, i * from.bits);
  }
  return tirc_src_text(g, BINDS_CAST, "(%s)(%s)", tirc_c_type(tirc_dtype_lanes(to, 1)), all.at);
}

/* The bits of a value as one of another type. */
CText tirc_cg_reinterpret(Gen *g, Expr e, const Window *w) {
  DType from = e->args[0]->dtype, to = e->dtype;
  if (from.bits * from.lanes != to.bits * to.lanes)
    tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL,
              "a %s is reinterpreted as a %s, which has another size", tirc_dtype_name(g->c, from),
              tirc_dtype_name(g->c, to));
  if (from.lanes != to.lanes) return reinterpret_lanes(g, e, w);
  CText v = tirc_src_expr(g, e->args[0], w);
  bool both_ints = tirc_dtype_is_int(from) && tirc_dtype_is_int(to);
  if (both_ints || from.code == TYPE_HANDLE || to.code == TYPE_HANDLE)
    return tirc_src_cast(g, v, from, to);
  const char *a = tirc_c_type(from), *b = tirc_c_type(to);
  if (strcmp(a, b) == 0) return v;
  return tirc_src_text(g, BINDS_ALL, "((union { %s from; %s to; }){%s}).to", a, b, v.s);
}
