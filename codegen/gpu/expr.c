/* Expressions. One function an operator, in the order of ir/tree/ops.def; a row missing here does
 * not compile. What is said in codegen/c/expr.c of arithmetic that wraps around holds here, too. */
#include "gen.h"

typedef CText (*Emit)(Gen *g, Expr e, const char *lane);

CText tirc_gpu_scalar(Gen *g, Expr e) {
  return tirc_gpu_expr(g, e, e->dtype.lanes > 1 ? "0" : NULL);
}

const char *tirc_gpu_index(Gen *g, Expr e) {
  bool outer = g->index;
  g->index = true;
  CText t = tirc_gpu_scalar(g, e);
  g->index = outer;
  return t.s;
}

_Noreturn void tirc_gpu_unsupported(Gen *g, Expr e) {
  const char *name = e->op == OP_CALL ? e->u.s : tirc_ops[e->op].name;
  tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL, "T.%s of %s has no translation to %s", name,
            tirc_dtype_name(g->c, e->dtype), g->l->name);
}

static bool is_vector(Expr e, const char *lane) { return e->dtype.lanes > 1 && !lane; }

/* --- leaves ---------------------------------------------------------------------------------- */

static CText emit_VAR(Gen *g, Expr e, const char *lane) {
  const Name *name = tirc_map_get(&g->vars, e);
  if (!name)
    tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL, "the variable %s is used where it has no value",
              e->u.s);
  if (name->is_array) return tirc_gpu_text(g, BINDS_ALL, "%s[%s]", name->s, lane ? lane : "0");
  return (CText){name->s, BINDS_ALL};
}

static CText emit_INT(Gen *g, Expr e, const char *lane) {
  (void)lane;
  return tirc_gpu_literal(g, tirc_dtype_lanes(e->dtype, 1), e->u.i);
}

static CText emit_LARGE_UINT(Gen *g, Expr e, const char *lane) { return emit_INT(g, e, lane); }

static CText emit_FLOAT(Gen *g, Expr e, const char *lane) {
  (void)lane;
  return tirc_gpu_float(g, tirc_dtype_lanes(e->dtype, 1), e->u.f);
}

/* --- binary operators ------------------------------------------------------------------------ */

static DType unsigned_of(DType t) {
  if (t.code == TYPE_INT) t.code = TYPE_UINT;
  return t;
}

static CText cast_to(Gen *g, DType t, CText v) {
  return tirc_c_cast_to(g->c, tirc_gpu_value_type(g, t), v);
}

static CText binary(Gen *g, Op op, CText a, CText b) { return tirc_c_binary(g->c, op, a, b); }

static bool is_wrapping(const Gen *g, Expr e) {
  bool arithmetic = e->op == OP_ADD || e->op == OP_SUB || e->op == OP_MUL;
  return arithmetic && e->dtype.code == TYPE_INT && e->dtype.bits >= 32 && !g->index &&
         !tirc_c_is_plain(e);
}

/* A value of a signed type as one of the unsigned type, sums and products carried through. */
static CText wrapped(Gen *g, Expr e, const char *lane) {
  const DType u = unsigned_of(tirc_dtype_lanes(e->dtype, 1));
  if (e->op == OP_INT) return tirc_gpu_literal(g, u, e->u.i);
  if (is_wrapping(g, e))
    return binary(g, (Op)e->op, wrapped(g, e->args[0], lane), wrapped(g, e->args[1], lane));
  return cast_to(g, u, tirc_gpu_expr(g, e, lane));
}

CText tirc_gpu_all_lanes(Gen *g, Expr e) {
  Expr s = tirc_gpu_spread(e);
  if (!s) return tirc_gpu_expr(g, e, NULL);
  return g->l->splat(g, tirc_gpu_value_type(g, e->dtype), tirc_gpu_scalar(g, s));
}

static bool is_vector_arith(Expr e) {
  return e->dtype.lanes > 1 && tirc_dtype_is_int(e->dtype) &&
         (e->op == OP_ADD || e->op == OP_SUB || e->op == OP_MUL || e->op == OP_BITWISE_AND ||
          e->op == OP_BITWISE_OR || e->op == OP_BITWISE_XOR);
}

/* An operation on vectors; integers as the unsigned type, in which they may wrap around, carried
 * through. Beside a vector the language itself spreads a scalar of the type. */
static CText vector_arith(Gen *g, Expr e) {
  const bool spread = tirc_gpu_spread(e->args[0]) != NULL;
  const DType u = unsigned_of(e->dtype);
  CText at[2];
  for (int i = 0; i < 2; i++) {
    Expr x = e->args[i], s = i == 0 || !spread ? tirc_gpu_spread(x) : NULL;
    if (is_vector_arith(x))
      at[i] = vector_arith(g, x);
    else if (s && s->op == OP_INT)
      at[i] = tirc_gpu_literal(g, tirc_dtype_lanes(u, 1), s->u.i);
    else
      at[i] = s ? tirc_gpu_scalar(g, s) : tirc_gpu_all_lanes(g, x);
    if (is_vector_arith(x) || !tirc_dtype_is_int(x->dtype) ||
        (s && s->op == OP_INT && u.bits == 32))
      continue;
    if (s)
      at[i] = cast_to(g, tirc_dtype_lanes(u, 1), at[i]);
    else if (x->dtype.code == TYPE_INT)
      at[i] = g->l->bits_as(g, at[i], x->dtype, tirc_gpu_value_type(g, u));
  }
  return binary(g, (Op)e->op, at[0], at[1]);
}

static CText emit_arith(Gen *g, Expr e, const char *lane) {
  if (is_vector(e, lane)) {
    CText v = vector_arith(g, e);
    if (e->dtype.code != TYPE_INT) return v;
    return g->l->bits_as(g, v, unsigned_of(e->dtype), tirc_gpu_value_type(g, e->dtype));
  }
  const DType t = tirc_c_operand_type(g->c, g->loc, e);
  const bool is_float = tirc_dtype_is_float(t), is_bits = tirc_c_binds((Op)e->op) == BINDS_BITS;
  if (t.code == TYPE_HANDLE || (is_float ? is_bits : e->op == OP_DIV)) tirc_gpu_unsupported(g, e);
  if (is_wrapping(g, e)) return cast_to(g, t, wrapped(g, e, lane));
  CText a = tirc_gpu_expr(g, e->args[0], lane), b = tirc_gpu_expr(g, e->args[1], lane);
  if (t.code == TYPE_BOOL) { /* of bools, + is or (ir/tree/int_op.h) */
    const Op op = e->op == OP_MUL || e->op == OP_BITWISE_AND  ? OP_BITWISE_AND
                  : e->op == OP_ADD || e->op == OP_BITWISE_OR ? OP_BITWISE_OR
                                                              : OP_BITWISE_XOR;
    return binary(g, op, a, b);
  }
  if (t.bits < 32 && t.code == TYPE_UINT && e->op == OP_MUL) a = cast_to(g, DT(TYPE_UINT, 32), a);
  CText r = binary(g, (Op)e->op, a, b);
  if (tirc_gpu_is_small(t)) return tirc_gpu_round(g, r, t);
  return t.bits < 32 ? cast_to(g, t, r) : r;
}

static CText emit_compare(Gen *g, Expr e, const char *lane) {
  (void)tirc_c_operand_type(g->c, g->loc, e);
  return binary(g, (Op)e->op, tirc_gpu_expr(g, e->args[0], lane),
                tirc_gpu_expr(g, e->args[1], lane));
}

static CText helper2(Gen *g, HelperId id, DType t, CText a, CText b) {
  return tirc_gpu_text(g, BINDS_ALL, "%s(%s, %s)", tirc_gpu_helper(g, id, t), a.s, b.s);
}

static CText emit_minmax(Gen *g, Expr e, const char *lane) {
  const HelperId id = e->op == OP_MIN ? HELPER_MIN : HELPER_MAX;
  DType t = tirc_c_operand_type(g->c, g->loc, e);
  if (tirc_gpu_is_small(t)) t = DT_FLOAT32;
  if (is_vector(e, lane))
    return helper2(g, id, tirc_dtype_lanes(t, e->dtype.lanes), tirc_gpu_all_lanes(g, e->args[0]),
                   tirc_gpu_all_lanes(g, e->args[1]));
  return helper2(g, id, t, tirc_gpu_expr(g, e->args[0], lane), tirc_gpu_expr(g, e->args[1], lane));
}

/* --- integer division ------------------------------------------------------------------------ */

static int64_t constant_divisor(Expr e) {
  int64_t v = 0;
  Expr d = e->args[1];
  if (d->op == OP_BROADCAST) d = d->args[0];
  return tirc_const_int(d, &v) ? v : 0;
}

static CText emit_truncdiv(Gen *g, Expr e, const char *lane) {
  const DType t = tirc_c_operand_type(g->c, g->loc, e);
  const int64_t k = constant_divisor(e);
  if (!tirc_dtype_is_int(t)) tirc_gpu_unsupported(g, e);
  CText a = tirc_gpu_expr(g, e->args[0], lane), b = tirc_gpu_expr(g, e->args[1], lane);
  if (k != 0 && k != -1) {
    CText r = binary(g, (Op)e->op, a, b);
    return t.bits < 32 ? cast_to(g, t, r) : r;
  }
  const bool is_div = e->op == OP_TRUNCDIV;
  const HelperId id = t.code == TYPE_INT ? is_div ? HELPER_TRUNCDIV : HELPER_TRUNCMOD
                      : is_div           ? HELPER_UDIV
                                         : HELPER_UMOD;
  return helper2(g, id, t, a, b);
}

static CText float_floordiv(Gen *g, Expr e, DType t, const char *lane) {
  CText a = tirc_gpu_expr(g, e->args[0], lane), b = tirc_gpu_expr(g, e->args[1], lane);
  const DType f = tirc_gpu_is_small(t) ? DT_FLOAT32 : t;
  CText r = e->op == OP_FLOORMOD
                ? helper2(g, HELPER_FLOAT_MOD, f, a, b)
                : tirc_gpu_text(g, BINDS_ALL, "floor%s(%s)", f.bits == 32 ? g->l->float_suffix : "",
                                binary(g, OP_DIV, a, b).s);
  return tirc_gpu_is_small(t) ? tirc_gpu_round(g, r, t) : r;
}

static CText emit_floordiv(Gen *g, Expr e, const char *lane) {
  const DType t = tirc_c_operand_type(g->c, g->loc, e);
  if (tirc_dtype_is_float(t)) return float_floordiv(g, e, t, lane);
  const bool is_div = e->op == OP_FLOORDIV;
  const int64_t k = constant_divisor(e);
  CText a = tirc_gpu_expr(g, e->args[0], lane), b = tirc_gpu_expr(g, e->args[1], lane), r;
  if (t.code != TYPE_INT) {
    if (k == 0) return helper2(g, is_div ? HELPER_UDIV : HELPER_UMOD, t, a, b);
    r = binary(g, is_div ? OP_TRUNCDIV : OP_TRUNCMOD, a, b);
  } else if (k > 0 && (k & (k - 1)) == 0) {
    const int64_t by = is_div ? __builtin_ctzll((uint64_t)k) : k - 1;
    r = binary(g, is_div ? OP_SHIFT_RIGHT : OP_BITWISE_AND, a,
               tirc_gpu_literal(g, is_div ? DT_INT32 : t, by));
  } else {
    return helper2(g, is_div ? HELPER_FLOORDIV : HELPER_FLOORMOD, t, a, b);
  }
  return t.bits < 32 ? cast_to(g, t, r) : r;
}

/* --- logic and choice ------------------------------------------------------------------------ */

CText tirc_gpu_operand_as(Gen *g, Expr x, DType t, const char *lane) {
  return tirc_gpu_cast(g, tirc_gpu_expr(g, x, lane), x->dtype, t);
}

static CText as_bool(Gen *g, Expr e, const char *lane) {
  return tirc_gpu_operand_as(g, e, DT_BOOL, lane);
}

static CText emit_logic(Gen *g, Expr e, const char *lane) {
  return binary(g, (Op)e->op, as_bool(g, e->args[0], lane), as_bool(g, e->args[1], lane));
}

/* As loosely as an equality, as `x == 0` would: of `!x == y` compilers warn. */
static CText emit_NOT(Gen *g, Expr e, const char *lane) {
  return tirc_gpu_text(g, BINDS_EQUAL, "!%s",
                       tirc_c_operand(g->c, as_bool(g, e->args[0], lane), BINDS_ALL));
}

static CText emit_BITWISE_NOT(Gen *g, Expr e, const char *lane) {
  if (e->dtype.code == TYPE_BOOL) return emit_NOT(g, e, lane);
  CText v = tirc_gpu_expr(g, e->args[0], lane);
  CText r = tirc_gpu_text(g, BINDS_CAST, "~%s", tirc_c_operand(g->c, v, BINDS_CAST));
  return e->dtype.bits < 32 ? cast_to(g, tirc_dtype_lanes(e->dtype, 1), r) : r;
}

/* One side only is computed, which is right for both kinds of choice. */
static CText emit_choice(Gen *g, Expr e, const char *lane) {
  CText c = as_bool(g, e->args[0], lane);
  CText x = tirc_gpu_operand_as(g, e->args[1], e->dtype, lane);
  CText y = tirc_gpu_operand_as(g, e->args[2], e->dtype, lane);
  return tirc_gpu_text(g, BINDS_CHOICE, "%s ? %s : %s",
                       tirc_c_operand(g->c, c, c.binds == BINDS_BITS ? BINDS_CAST : BINDS_OR),
                       tirc_c_operand(g->c, x, BINDS_OR), tirc_c_operand(g->c, y, BINDS_CHOICE));
}

/* Its value stands where it is used: values have no effects. */
static CText emit_LET(Gen *g, Expr e, const char *lane) {
  return tirc_gpu_expr(g, tirc_substitute1(g->c, e->args[2], e->args[0], e->args[1]), lane);
}

/* --- shifts, casts, vectors ------------------------------------------------------------------ */

static CText emit_shift(Gen *g, Expr e, const char *lane) {
  const DType t = tirc_c_operand_type(g->c, g->loc, e);
  if (!tirc_dtype_is_int(t)) tirc_gpu_unsupported(g, e);
  const bool outer = g->index;
  g->index = outer && t.bits < 64; /* a literal there is an int, which has no bit 32 */
  CText a = tirc_gpu_expr(g, e->args[0], lane), by;
  g->index = outer;
  int64_t k;
  if (tirc_const_int(e->args[1], &k))
    by = tirc_gpu_literal(g, DT_INT32, k & (t.bits - 1));
  else
    by = tirc_gpu_text(g, BINDS_BITS, "%s & %d",
                       tirc_c_operand(g->c, tirc_gpu_expr(g, e->args[1], lane), BINDS_CAST),
                       t.bits - 1);
  if (e->op == OP_SHIFT_RIGHT) {
    CText r = binary(g, OP_SHIFT_RIGHT, a, by);
    return t.bits < 32 ? cast_to(g, t, r) : r;
  }
  const DType u = t.bits < 32 ? DT(TYPE_UINT, 32) : unsigned_of(t);
  return cast_to(g, t, binary(g, OP_SHIFT_LEFT, cast_to(g, u, a), by));
}

static CText emit_CAST(Gen *g, Expr e, const char *lane) {
  if (!is_vector(e, lane)) return tirc_gpu_operand_as(g, e->args[0], e->dtype, lane);
  return g->l->convert(g, tirc_gpu_all_lanes(g, e->args[0]), tirc_gpu_value_type(g, e->dtype));
}

/* The bits of a value as one of another type. */
static CText emit_REINTERPRET(Gen *g, Expr e, const char *lane) {
  const DType from = e->args[0]->dtype, to = tirc_dtype_lanes(e->dtype, 1);
  if (from.lanes != e->dtype.lanes || from.bits != to.bits || tirc_gpu_is_small(from) ||
      tirc_gpu_is_small(to) || from.code == TYPE_HANDLE || to.code == TYPE_HANDLE)
    tirc_gpu_unsupported(g, e);
  CText v = tirc_gpu_expr(g, e->args[0], lane);
  if (tirc_dtype_equal(tirc_dtype_lanes(from, 1), to)) return v;
  return g->l->bits_as(g, v, from, tirc_gpu_value_type(g, to));
}

static CText emit_LIKELY(Gen *g, Expr e, const char *lane) {
  return tirc_gpu_expr(g, e->args[0], lane);
}

static CText emit_RAMP(Gen *g, Expr e, const char *lane) {
  if (is_vector(e, lane)) tirc_gpu_unsupported(g, e);
  const DType t = tirc_dtype_lanes(e->dtype, 1);
  CText base = tirc_gpu_operand_as(g, e->args[0], t, lane), at = {lane, BINDS_ALL};
  CText stride = tirc_gpu_operand_as(g, e->args[1], t, lane);
  if (strcmp(lane, "0") == 0) return base;
  CText step = tirc_is_int(e->args[1], 1) ? at : binary(g, OP_MUL, stride, at);
  return tirc_is_int(e->args[0], 0) ? step : binary(g, OP_ADD, base, step);
}

static CText emit_BROADCAST(Gen *g, Expr e, const char *lane) {
  if (e->args[0]->dtype.lanes > 1) tirc_gpu_unsupported(g, e);
  return is_vector(e, lane) ? tirc_gpu_all_lanes(g, e) : tirc_gpu_scalar(g, e->args[0]);
}

static CText emit_none(Gen *g, Expr e, const char *lane) {
  (void)lane;
  tirc_gpu_unsupported(g, e);
}

/* --- the table ------------------------------------------------------------------------------- */

#include "codegen/families.h"
#define emit_math tirc_gpu_math
#define emit_SELECT emit_choice
#define emit_IF_THEN_ELSE emit_choice
#define emit_LOAD tirc_gpu_load
#define emit_CALL tirc_gpu_call

static const Emit emitters[OP_COUNT] = {
#define OP(id, name, arity, class, precedence, c_form) [OP_##id] = emit_##id,
#include "ir/tree/ops.def"
#undef OP
};

CText tirc_gpu_expr(Gen *g, Expr e, const char *lane) {
  CText dot;
  return tirc_gpu_dot(g, e, &dot) ? dot : emitters[e->op](g, e, lane);
}
