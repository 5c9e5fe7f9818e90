/* Expressions. One function an operator, in the order of ir/tree/ops.def; a row missing here does
 * not compile.
 *
 * Signed arithmetic on data wraps around, so it is done on the unsigned type; index arithmetic and
 * arithmetic on loop variables does not overflow, and is written plainly. C computes narrow numbers
 * as ints, so that each result is made narrow again. Of bools, + is or (ir/int_op.h). */
#include "gen.h"

#include <stdarg.h>

typedef CText (*Emit)(CGen *g, Expr e, const Window *w);

static const Window no_window = {0, 1, "0"};

CText tirc_cg_text(CGen *g, Binds binds, const char *format, ...) {
  va_list args;
  va_start(args, format);
  CText t = {tirc_vformat(g->c, format, args), binds};
  va_end(args);
  return t;
}

const char *tirc_cg_operand(CGen *g, CText t, Binds least) {
  return tirc_c_operand(g->c, t, least);
}

CText tirc_cg_scalar(CGen *g, Expr e) { return tirc_cg_expr(g, e, &no_window); }

const char *tirc_cg_index(CGen *g, Expr e) {
  bool outer = g->index;
  g->index = true;
  CText t = tirc_cg_scalar(g, e);
  g->index = outer;
  return t.s;
}

_Noreturn void tirc_cg_unsupported(CGen *g, Expr e) {
  const char *name = e->op == OP_CALL ? e->u.s : tirc_ops[e->op].name;
  tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL, "T.%s of %s has no translation to C", name,
            tirc_dtype_name(g->c, e->dtype));
}

static bool is_vector(Expr e, const Window *w) { return e->dtype.lanes > 1 && !w->lane; }

const char *tirc_cg_lane_number(CGen *g, const Window *w) {
  if (strcmp(w->lane, "0") == 0) return tirc_format(g->c, "%d", w->start);
  return w->start ? tirc_format(g->c, "(%d + %s)", w->start, w->lane) : w->lane;
}

/* --- leaves --------------------------------------------------------------------------------- */

static CText emit_VAR(CGen *g, Expr e, const Window *w) {
  Name *name = tirc_map_get(&g->vars, e);
  if (!name)
    tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL, "the variable %s is used where it has no value",
              e->u.s);
  name->used = name->read = true;
  if (name->is_array)
    return tirc_cg_text(g, BINDS_ALL, "%s[%s]", name->s, tirc_cg_lane_number(g, w));
  return tirc_cg_text(g, BINDS_ALL, "%s", name->s);
}

static CText emit_INT(CGen *g, Expr e, const Window *w) {
  (void)w;
  return tirc_cg_number(g, e->dtype, e->u.i);
}

static CText emit_LARGE_UINT(CGen *g, Expr e, const Window *w) { return emit_INT(g, e, w); }

static CText emit_FLOAT(CGen *g, Expr e, const Window *w) {
  (void)w;
  return tirc_cg_float(g, tirc_dtype_lanes(e->dtype, 1), e->u.f);
}

/* --- binary operators ----------------------------------------------------------------------- */

CText tirc_cg_binary(CGen *g, Op op, CText a, CText b) { return tirc_c_binary(g->c, op, a, b); }

CText tirc_cg_cast_to(CGen *g, const char *type, CText v) { return tirc_c_cast_to(g->c, type, v); }

static DType unsigned_of(DType t) {
  if (t.code == TYPE_INT) t.code = TYPE_UINT;
  return t;
}

static bool is_wrapping(CGen *g, Expr e) {
  bool arithmetic = e->op == OP_ADD || e->op == OP_SUB || e->op == OP_MUL;
  return arithmetic && e->dtype.code == TYPE_INT && e->dtype.bits >= 32 && !g->index &&
         !tirc_c_is_plain(e);
}

/* A value of a signed type as one of the unsigned type, sums and products carried through. */
static CText wrapped(CGen *g, Expr e, const Window *w) {
  DType u = unsigned_of(tirc_dtype_lanes(e->dtype, 1));
  if (e->op == OP_INT) return tirc_cg_number(g, u, e->u.i);
  if (is_wrapping(g, e))
    return tirc_cg_binary(g, (Op)e->op, wrapped(g, e->args[0], w), wrapped(g, e->args[1], w));
  return tirc_cg_cast_to(g, tirc_c_type(u), tirc_cg_expr(g, e, w));
}

/* The scalar in every lane, when it is one: C spreads it itself beside a vector. */
static Expr spread(Expr e) {
  if (e->op == OP_BROADCAST) return e->args[0];
  return e->op == OP_FLOAT || e->dtype.lanes == 1 ? e : NULL;
}

static CText splat(CGen *g, Expr scalar, DType t, const Window *w) {
  const char *type = tirc_cg_vector(g, t, w->n);
  double f = scalar->op == OP_FLOAT ? scalar->u.f : 1;
  bool is_zero = tirc_is_int(scalar, 0) || (f == 0 && !__builtin_signbit(f));
  if (is_zero) return tirc_cg_text(g, BINDS_ALL, "(%s){0}", type);
  return tirc_cg_text(g, BINDS_ALL, "VSPLAT(%s, %s)", type, tirc_cg_scalar(g, scalar).s);
}

CText tirc_cg_vector_value(CGen *g, Expr e, DType t, const Window *w) {
  Expr s = spread(e);
  return s ? splat(g, s, t, w) : tirc_cg_expr(g, e, w);
}

static CText vector_operand(CGen *g, Expr e, DType t, bool may_spread, const Window *w) {
  Expr s = may_spread ? spread(e) : NULL;
  CText v = s ? tirc_cg_scalar(g, s) : tirc_cg_vector_value(g, e, t, w);
  if (t.code != TYPE_INT) return v;
  DType u = unsigned_of(t);
  return tirc_cg_cast_to(g, s ? tirc_c_type(u) : tirc_cg_vector(g, u, w->n), v);
}

static CText vector_arith(CGen *g, Expr e, const Window *w) {
  DType t = tirc_c_operand_type(g->c, g->loc, e);
  bool a_spread = spread(e->args[0]) != NULL;
  CText a = vector_operand(g, e->args[0], t, true, w);
  CText b = vector_operand(g, e->args[1], t, !a_spread, w);
  CText r = tirc_cg_binary(g, (Op)e->op, a, b);
  return t.code == TYPE_INT ? tirc_cg_cast_to(g, tirc_cg_vector(g, t, w->n), r) : r;
}

static CText bool_arith(CGen *g, Expr e, const Window *w) {
  Op op = e->op == OP_MUL || e->op == OP_BITWISE_AND  ? OP_BITWISE_AND
          : e->op == OP_ADD || e->op == OP_BITWISE_OR ? OP_BITWISE_OR
                                                      : OP_BITWISE_XOR;
  return tirc_cg_binary(g, op, tirc_cg_expr(g, e->args[0], w), tirc_cg_expr(g, e->args[1], w));
}

static CText emit_arith(CGen *g, Expr e, const Window *w) {
  if (is_vector(e, w)) return vector_arith(g, e, w);
  DType t = tirc_c_operand_type(g->c, g->loc, e);
  bool is_float = tirc_dtype_is_float(t), is_bits = tirc_c_binds((Op)e->op) == BINDS_BITS;
  if (t.code == TYPE_HANDLE || (is_float ? is_bits : e->op == OP_DIV)) tirc_cg_unsupported(g, e);
  if (t.code == TYPE_BOOL) return bool_arith(g, e, w);
  if (is_wrapping(g, e)) return tirc_cg_cast_to(g, tirc_c_type(t), wrapped(g, e, w));
  CText a = tirc_cg_expr(g, e->args[0], w), b = tirc_cg_expr(g, e->args[1], w);
  if (tirc_cg_is_small(t))
    return tirc_cg_narrow(
        g, tirc_cg_binary(g, (Op)e->op, tirc_cg_widen(g, a, t), tirc_cg_widen(g, b, t)), t);
  if (t.bits < 32 && t.code == TYPE_UINT && e->op == OP_MUL) a = tirc_cg_cast_to(g, "uint32_t", a);
  CText r = tirc_cg_binary(g, (Op)e->op, a, b);
  return t.bits < 32 ? tirc_cg_cast_to(g, tirc_c_type(t), r) : r;
}

static CText emit_compare(CGen *g, Expr e, const Window *w) {
  DType t = tirc_c_operand_type(g->c, g->loc, e);
  bool holds;
  if (!is_vector(e, w) && tirc_cg_is_decided((Op)e->op, e->args[0], e->args[1], &holds))
    return tirc_cg_number(g, DT_BOOL, holds);
  CText a = tirc_cg_expr(g, e->args[0], w), b = tirc_cg_expr(g, e->args[1], w);
  if (tirc_cg_is_small(t)) {
    a = tirc_cg_widen(g, a, t);
    b = tirc_cg_widen(g, b, t);
  }
  return tirc_cg_binary(g, (Op)e->op, a, b);
}

static CText helper2(CGen *g, HelperId id, DType t, CText a, CText b) {
  return tirc_cg_text(g, BINDS_ALL, "%s(%s, %s)", tirc_cg_helper(g, id, t), a.s, b.s);
}

static CText emit_minmax(CGen *g, Expr e, const Window *w) {
  HelperId id = e->op == OP_MIN ? HELPER_MIN : HELPER_MAX;
  DType t = tirc_c_operand_type(g->c, g->loc, e);
  CText a = tirc_cg_expr(g, e->args[0], w), b = tirc_cg_expr(g, e->args[1], w);
  if (!tirc_cg_is_small(t)) return helper2(g, id, t, a, b);
  a = tirc_cg_widen(g, a, t);
  b = tirc_cg_widen(g, b, t);
  return tirc_cg_narrow(g, helper2(g, id, DT_FLOAT32, a, b), t);
}

/* --- integer division ----------------------------------------------------------------------- */

static int64_t constant_divisor(Expr e) {
  int64_t v = 0;
  Expr d = e->args[1];
  if (d->op == OP_BROADCAST) d = d->args[0];
  return tirc_const_int(d, &v) ? v : 0;
}

static CText emit_truncdiv(CGen *g, Expr e, const Window *w) {
  DType t = tirc_c_operand_type(g->c, g->loc, e);
  if (!tirc_dtype_is_int(t)) tirc_cg_unsupported(g, e);
  CText a = tirc_cg_expr(g, e->args[0], w), b = tirc_cg_expr(g, e->args[1], w);
  int64_t k = constant_divisor(e);
  if (k != 0 && k != -1) {
    CText r = tirc_cg_binary(g, (Op)e->op, a, b);
    return t.bits < 32 ? tirc_cg_cast_to(g, tirc_c_type(t), r) : r;
  }
  bool is_div = e->op == OP_TRUNCDIV;
  HelperId id = t.code == TYPE_INT ? is_div ? HELPER_TRUNCDIV : HELPER_TRUNCMOD
                : is_div           ? HELPER_UDIV
                                   : HELPER_UMOD;
  return helper2(g, id, t, a, b);
}

static CText float_floordiv(CGen *g, Expr e, DType t, const Window *w) {
  CText a = tirc_cg_expr(g, e->args[0], w), b = tirc_cg_expr(g, e->args[1], w);
  bool is_small = tirc_cg_is_small(t);
  if (is_small) {
    a = tirc_cg_widen(g, a, t);
    b = tirc_cg_widen(g, b, t);
  }
  DType f = is_small ? DT_FLOAT32 : t;
  g->uses_math = true;
  CText r = e->op == OP_FLOORMOD
                ? helper2(g, HELPER_FLOAT_MOD, f, a, b)
                : tirc_cg_text(g, BINDS_ALL, "floor%s(%s)", f.bits == 32 ? "f" : "",
                               tirc_cg_binary(g, OP_DIV, a, b).s);
  return is_small ? tirc_cg_narrow(g, r, t) : r;
}

static CText emit_floordiv(CGen *g, Expr e, const Window *w) {
  DType t = tirc_c_operand_type(g->c, g->loc, e);
  if (tirc_dtype_is_float(t)) return float_floordiv(g, e, t, w);
  bool is_div = e->op == OP_FLOORDIV;
  int64_t k = constant_divisor(e);
  CText a = tirc_cg_expr(g, e->args[0], w), b = tirc_cg_expr(g, e->args[1], w);
  CText r;
  if (t.code != TYPE_INT) {
    if (k == 0) return helper2(g, is_div ? HELPER_UDIV : HELPER_UMOD, t, a, b);
    r = tirc_cg_binary(g, is_div ? OP_TRUNCDIV : OP_TRUNCMOD, a, b);
  } else if (k > 0 && (k & (k - 1)) == 0) {
    int64_t by = is_div ? __builtin_ctzll((uint64_t)k) : k - 1;
    r = tirc_cg_binary(g, is_div ? OP_SHIFT_RIGHT : OP_BITWISE_AND, a,
                       tirc_cg_number(g, is_div ? DT_INT32 : t, by));
  } else {
    return helper2(g, is_div ? HELPER_FLOORDIV : HELPER_FLOORMOD, t, a, b);
  }
  return t.bits < 32 ? tirc_cg_cast_to(g, tirc_c_type(t), r) : r;
}

/* --- logic and choice ----------------------------------------------------------------------- */

static CText side(CGen *g, Expr x, DType t, const Window *w) {
  bool holds;
  if (t.code == TYPE_BOOL && tirc_dtype_is_int(x->dtype) &&
      tirc_cg_is_decided(OP_NE, x, NULL, &holds))
    return tirc_cg_number(g, DT_BOOL, holds);
  return tirc_cg_cast(g, tirc_cg_expr(g, x, w), x->dtype, t);
}

static CText as_bool(CGen *g, Expr e, const Window *w) { return side(g, e, DT_BOOL, w); }

static CText emit_logic(CGen *g, Expr e, const Window *w) {
  return tirc_cg_binary(g, (Op)e->op, as_bool(g, e->args[0], w), as_bool(g, e->args[1], w));
}

/* As loosely as an equality, as `x == 0` would: of `!x == y` compilers warn. */
static CText emit_NOT(CGen *g, Expr e, const Window *w) {
  return tirc_cg_text(g, BINDS_EQUAL, "!%s",
                      tirc_cg_operand(g, as_bool(g, e->args[0], w), BINDS_ALL));
}

static CText emit_BITWISE_NOT(CGen *g, Expr e, const Window *w) {
  if (e->dtype.code == TYPE_BOOL) return emit_NOT(g, e, w);
  CText v = tirc_cg_expr(g, e->args[0], w);
  CText r = tirc_cg_text(g, BINDS_CAST, "~%s", tirc_cg_operand(g, v, BINDS_CAST));
  return e->dtype.bits < 32 ? tirc_cg_cast_to(g, tirc_c_type(e->dtype), r) : r;
}

/* C computes one side only, which is right for both kinds of choice. */
static CText emit_choice(CGen *g, Expr e, const Window *w) {
  CText c = as_bool(g, e->args[0], w);
  CText x = side(g, e->args[1], e->dtype, w), y = side(g, e->args[2], e->dtype, w);
  if (e->dtype.code == TYPE_VOID) {
    x = tirc_cg_cast_to(g, "void", x);
    y = tirc_cg_cast_to(g, "void", y);
  }
  return tirc_cg_text(g, BINDS_CHOICE, "%s ? %s : %s",
                      tirc_cg_operand(g, c, c.binds == BINDS_BITS ? BINDS_CAST : BINDS_OR),
                      tirc_cg_operand(g, x, BINDS_OR), tirc_cg_operand(g, y, BINDS_CHOICE));
}

static CText emit_LET(CGen *g, Expr e, const Window *w) {
  Expr var = e->args[0];
  if (var->dtype.lanes > 1 && w->n == 0) tirc_cg_unsupported(g, e);
  CText value = side(g, e->args[1], var->dtype, w);
  int mark = tirc_cg_open_scope(g);
  Name *name = tirc_cg_declare(g, var, var->u.s);
  const char *type = tirc_cg_value_type(var->dtype);
  CText body = tirc_cg_expr(g, e->args[2], w);
  tirc_cg_close_scope(g, mark);
  tirc_map_remove(&g->vars, var);
  if (!name->used) return body;
  return tirc_cg_text(g, BINDS_ALL, "({ %s %s = %s; %s; })", type, name->s, value.s, body.s);
}

/* --- shifts, casts, vectors ----------------------------------------------------------------- */

static CText emit_shift(CGen *g, Expr e, const Window *w) {
  DType t = tirc_c_operand_type(g->c, g->loc, e);
  if (!tirc_dtype_is_int(t)) tirc_cg_unsupported(g, e);
  const bool outer = g->index;
  g->index = outer && t.bits < 64; /* a literal there is an int, which has no bit 32 */
  CText a = tirc_cg_expr(g, e->args[0], w), by;
  g->index = outer;
  int64_t k;
  if (tirc_const_int(e->args[1], &k))
    by = tirc_cg_number(g, DT_INT32, k & (t.bits - 1));
  else
    by = tirc_cg_text(g, BINDS_BITS, "%s & %d",
                      tirc_cg_operand(g, tirc_cg_expr(g, e->args[1], w), BINDS_CAST), t.bits - 1);
  if (e->op == OP_SHIFT_RIGHT) {
    CText r = tirc_cg_binary(g, OP_SHIFT_RIGHT, a, by);
    return t.bits < 32 ? tirc_cg_cast_to(g, tirc_c_type(t), r) : r;
  }
  const char *u = tirc_c_type(unsigned_of(tirc_dtype_lanes(t, 1)));
  if (t.bits < 32) u = "uint32_t";
  return tirc_cg_cast_to(g, tirc_c_type(t),
                         tirc_cg_binary(g, OP_SHIFT_LEFT, tirc_cg_cast_to(g, u, a), by));
}

static CText emit_CAST(CGen *g, Expr e, const Window *w) {
  return side(g, e->args[0], e->dtype, w);
}

/* A lane of the result is a part of one of the operand's lanes, or made of several of them. */
static CText reinterpret_lanes(CGen *g, Expr e, const Window *w) {
  DType from = e->args[0]->dtype, to = e->dtype;
  if (!tirc_dtype_is_int(from) || !tirc_dtype_is_int(to)) tirc_cg_unsupported(g, e);
  const char *lane = to.lanes > 1 ? tirc_cg_lane_number(g, w) : "0";
  const char *u = tirc_c_type(unsigned_of(tirc_dtype_lanes(to, 1)));
  if (to.lanes > from.lanes) {
    int parts = to.lanes / from.lanes;
    Window at = {0, 0, tirc_format(g->c, "(%s / %d)", lane, parts)};
    CText v = tirc_cg_cast_to(g, tirc_c_type(unsigned_of(tirc_dtype_lanes(from, 1))),
                              tirc_cg_expr(g, e->args[0], &at));
    return tirc_cg_text(g, BINDS_CAST, "(%s)(%s >> %d * (%s %% %d))",
                        tirc_c_type(tirc_dtype_lanes(to, 1)), v.s, to.bits, lane, parts);
  }
  Text all = {.c = g->c};
  int parts = from.lanes / to.lanes;
  for (int i = 0; i < parts; i++) {
    Window at = {0, 0, tirc_format(g->c, "(%d * %s + %d)", parts, lane, i)};
    CText v = tirc_cg_cast_to(g, tirc_c_type(unsigned_of(tirc_dtype_lanes(from, 1))),
                              tirc_cg_expr(g, e->args[0], &at));
    tirc_text_addf(&all, "%s(%s)((%s)%s << %d)", i ? " | " : "", u, u, v.s, i * from.bits);
  }
  return tirc_cg_text(g, BINDS_CAST, "(%s)(%s)", tirc_c_type(tirc_dtype_lanes(to, 1)), all.at);
}

/* The bits of a value as one of another type. */
static CText emit_REINTERPRET(CGen *g, Expr e, const Window *w) {
  DType from = e->args[0]->dtype, to = e->dtype;
  if (from.bits * from.lanes != to.bits * to.lanes)
    tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL, "a %s is reinterpreted as a %s of another size",
              tirc_dtype_name(g->c, from), tirc_dtype_name(g->c, to));
  if (from.lanes != to.lanes) return reinterpret_lanes(g, e, w);
  CText v = tirc_cg_expr(g, e->args[0], w);
  bool both_ints = tirc_dtype_is_int(from) && tirc_dtype_is_int(to);
  if (both_ints || from.code == TYPE_HANDLE || to.code == TYPE_HANDLE)
    return tirc_cg_cast(g, v, from, to);
  const char *a = tirc_c_type(from), *b = tirc_c_type(to);
  if (strcmp(a, b) == 0) return v;
  return tirc_cg_text(g, BINDS_ALL, "((union { %s from; %s to; }){%s}).to", a, b, v.s);
}

static CText emit_LIKELY(CGen *g, Expr e, const Window *w) {
  return tirc_cg_expr(g, e->args[0], w);
}

static CText emit_RAMP(CGen *g, Expr e, const Window *w) {
  if (is_vector(e, w)) tirc_cg_unsupported(g, e);
  DType t = tirc_dtype_lanes(e->dtype, 1);
  CText base = side(g, e->args[0], t, w), stride = side(g, e->args[1], t, w);
  CText lane = {tirc_cg_lane_number(g, w), BINDS_ALL};
  CText step = tirc_is_int(e->args[1], 1) ? lane : tirc_cg_binary(g, OP_MUL, stride, lane);
  return tirc_cg_cast_to(g, tirc_c_type(t), tirc_cg_binary(g, OP_ADD, base, step));
}

static CText emit_BROADCAST(CGen *g, Expr e, const Window *w) {
  if (e->args[0]->dtype.lanes > 1) tirc_cg_unsupported(g, e);
  if (is_vector(e, w)) return splat(g, e->args[0], tirc_dtype_lanes(e->dtype, 1), w);
  return tirc_cg_scalar(g, e->args[0]);
}

static CText emit_none(CGen *g, Expr e, const Window *w) {
  (void)w;
  tirc_cg_unsupported(g, e);
}

/* --- the table ------------------------------------------------------------------------------ */

#include "codegen/families.h"
#define emit_math tirc_cg_math
#define emit_SELECT emit_choice
#define emit_IF_THEN_ELSE emit_choice
#define emit_LOAD tirc_cg_load
#define emit_CALL tirc_cg_call

static const Emit emitters[OP_COUNT] = {
#define OP(id, name, arity, class, precedence, c_form) [OP_##id] = emit_##id,
#include "ir/tree/ops.def"
#undef OP
};

CText tirc_cg_expr(CGen *g, Expr e, const Window *w) { return emitters[e->op](g, e, w); }
