/* Expressions. One function an operator, in the order of ir/tree/ops.def; a row missing here does
 * not compile. A language's family may have its own instead.
 *
 * Signed arithmetic on data wraps around, so it is done on the unsigned type; index arithmetic and
 * arithmetic on loop variables does not overflow, and is written plainly. Narrow numbers are
 * computed as ints, so that each result is made narrow again. Of bools, + is or (ir/tree/int_op.h).
 */
#include "gen.h"

const Window tirc_src_all = {0, 0, NULL}, tirc_src_first = {0, 1, "0"};

CText tirc_src_scalar(Gen *g, Expr e) { return tirc_src_expr(g, e, &tirc_src_first); }

CText tirc_src_index(Gen *g, Expr e, const Window *w) {
  const bool outer = g->index;
  g->index = true;
  CText t = tirc_src_expr(g, e, w);
  g->index = outer;
  return t;
}

_Noreturn void tirc_src_unsupported(Gen *g, Expr e) {
  tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL, "T.%s of %s has no translation to %s", tirc_called(e),
            tirc_dtype_name(g->c, e->dtype), g->l->name);
}

static bool is_vector(Expr e, const Window *w) { return e->dtype.lanes > 1 && !w->lane; }

const char *tirc_src_lane(Gen *g, const Window *w) {
  if (!w->lane || strcmp(w->lane, "0") == 0) return tirc_format(g->c, "%d", w->start);
  return w->start ? tirc_format(g->c, "(%d + %s)", w->start, w->lane) : w->lane;
}

/* --- leaves ---------------------------------------------------------------------------------- */

static CText emit_VAR(Gen *g, Expr e, const Window *w) {
  Name *name = tirc_map_get(&g->vars, e);
  if (!name)
    tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL, "the variable %s is used where it is not defined",
              e->u.s);
  name->used = name->read = true;
  if (name->is_array) return tirc_src_text(g, BINDS_ALL, "%s[%s]", name->s, tirc_src_lane(g, w));
  return (CText){name->s, BINDS_ALL};
}

static CText emit_INT(Gen *g, Expr e, const Window *w) {
  (void)w;
  return tirc_src_number(g, tirc_dtype_lanes(e->dtype, 1), e->u.i);
}

static CText emit_LARGE_UINT(Gen *g, Expr e, const Window *w) { return emit_INT(g, e, w); }

static CText emit_FLOAT(Gen *g, Expr e, const Window *w) {
  (void)w;
  return tirc_src_float(g, tirc_dtype_lanes(e->dtype, 1), e->u.f);
}

/* --- binary operators ------------------------------------------------------------------------ */

DType tirc_src_unsigned(DType t) {
  if (t.code == TYPE_INT) t.code = TYPE_UINT;
  return t;
}

CText tirc_src_cast_to(Gen *g, DType t, CText v) {
  return tirc_c_cast_to(g->c, tirc_src_value_type(g, t), v);
}

CText tirc_src_binary(Gen *g, Op op, CText a, CText b) { return tirc_c_binary(g->c, op, a, b); }

static bool is_wrapping(const Gen *g, Expr e) {
  bool arithmetic = e->op == OP_ADD || e->op == OP_SUB || e->op == OP_MUL;
  return arithmetic && e->dtype.code == TYPE_INT && e->dtype.bits >= 32 && !g->index &&
         !tirc_c_is_plain(e);
}

/* A value of a signed type as one of the unsigned type, sums and products carried through. */
static CText wrapped(Gen *g, Expr e, const Window *w) {
  const DType u = tirc_src_unsigned(tirc_dtype_lanes(e->dtype, 1));
  if (e->op == OP_INT) return tirc_src_number(g, u, e->u.i);
  if (is_wrapping(g, e))
    return tirc_src_binary(g, (Op)e->op, wrapped(g, e->args[0], w), wrapped(g, e->args[1], w));
  return tirc_src_cast_to(g, u, tirc_src_expr(g, e, w));
}

Expr tirc_src_spread(Expr e) {
  if (e->op == OP_BROADCAST) return e->args[0];
  return e->op == OP_FLOAT || e->dtype.lanes == 1 ? e : NULL;
}

/* Both operands; small floats as floats. */
typedef struct Two {
  CText a, b;
} Two;
static Two operands(Gen *g, Expr e, DType t, const Window *w) {
  CText a = tirc_src_expr(g, e->args[0], w), b = tirc_src_expr(g, e->args[1], w);
  a = tirc_src_widen(g, a, t);
  return (Two){a, tirc_src_widen(g, b, t)};
}

static CText made_narrow(Gen *g, CText v, DType t) {
  return t.bits < 32 ? tirc_src_cast_to(g, t, v) : v;
}

static CText emit_arith(Gen *g, Expr e, const Window *w) {
  if (is_vector(e, w)) return g->l->family->vector_arith(g, e, w);
  const DType t = tirc_c_operand_type(g->c, g->loc, e);
  const bool is_float = tirc_dtype_is_float(t), is_bits = tirc_c_binds((Op)e->op) == BINDS_BITS;
  if (t.code == TYPE_HANDLE || (is_float ? is_bits : e->op == OP_DIV)) tirc_src_unsupported(g, e);
  if (is_wrapping(g, e)) return tirc_src_cast_to(g, t, wrapped(g, e, w));
  Two x = operands(g, e, t, w);
  if (t.code == TYPE_BOOL) {
    const Op op = e->op == OP_MUL || e->op == OP_BITWISE_AND  ? OP_BITWISE_AND
                  : e->op == OP_ADD || e->op == OP_BITWISE_OR ? OP_BITWISE_OR
                                                              : OP_BITWISE_XOR;
    return tirc_src_binary(g, op, x.a, x.b);
  }
  if (t.bits < 32 && t.code == TYPE_UINT && e->op == OP_MUL)
    x.a = tirc_src_cast_to(g, DT(TYPE_UINT, 32), x.a);
  CText r = tirc_src_binary(g, (Op)e->op, x.a, x.b);
  return tirc_src_is_small(t) ? tirc_src_narrow(g, r, t) : made_narrow(g, r, t);
}

static CText emit_compare(Gen *g, Expr e, const Window *w) {
  const DType t = tirc_c_operand_type(g->c, g->loc, e);
  bool holds;
  if (!is_vector(e, w) && g->l->family->is_decided &&
      g->l->family->is_decided((Op)e->op, e->args[0], e->args[1], &holds))
    return tirc_src_number(g, DT_BOOL, holds);
  const Two x = operands(g, e, t, w);
  return tirc_src_binary(g, (Op)e->op, x.a, x.b);
}

static CText helper2(Gen *g, HelperId id, DType t, Two x) {
  return tirc_src_text(g, BINDS_ALL, "%s(%s, %s)", tirc_src_helper(g, id, t), x.a.s, x.b.s);
}

static CText emit_minmax(Gen *g, Expr e, const Window *w) {
  const HelperId id = e->op == OP_MIN ? HELPER_MIN : HELPER_MAX;
  const DType t = tirc_c_operand_type(g->c, g->loc, e);
  const bool is_small = tirc_src_is_small(t);
  if (is_vector(e, w)) {
    Emit *all = g->l->family->all_lanes;
    return helper2(g, id, tirc_dtype_lanes(t, e->dtype.lanes),
                   (Two){all(g, e->args[0], w), all(g, e->args[1], w)});
  }
  CText r = helper2(g, id, is_small ? DT_FLOAT32 : t, operands(g, e, t, w));
  return is_small && g->l->family->small_bits ? tirc_src_narrow(g, r, t) : r;
}

/* --- integer division ------------------------------------------------------------------------ */

static int64_t constant_divisor(Expr e) {
  int64_t v = 0;
  Expr d = e->args[1];
  if (d->op == OP_BROADCAST) d = d->args[0];
  return tirc_const_int(d, &v) ? v : 0;
}

static CText emit_truncdiv(Gen *g, Expr e, const Window *w) {
  const DType t = tirc_c_operand_type(g->c, g->loc, e);
  const int64_t k = constant_divisor(e);
  if (!tirc_dtype_is_int(t)) tirc_src_unsupported(g, e);
  const Two x = operands(g, e, t, w);
  if (k != 0 && k != -1) return made_narrow(g, tirc_src_binary(g, (Op)e->op, x.a, x.b), t);
  const bool is_div = e->op == OP_TRUNCDIV;
  const HelperId id = t.code == TYPE_INT ? is_div ? HELPER_TRUNCDIV : HELPER_TRUNCMOD
                      : is_div           ? HELPER_UDIV
                                         : HELPER_UMOD;
  return helper2(g, id, t, x);
}

static CText float_floordiv(Gen *g, Expr e, DType t, const Window *w) {
  const bool is_small = tirc_src_is_small(t);
  const DType f = is_small ? DT_FLOAT32 : t;
  const Two x = operands(g, e, t, w);
  g->uses_math = true;
  CText r = e->op == OP_FLOORMOD
                ? helper2(g, HELPER_FLOAT_MOD, f, x)
                : tirc_src_text(g, BINDS_ALL, "floor%s(%s)", f.bits == 32 ? g->l->float_suffix : "",
                                tirc_src_binary(g, OP_DIV, x.a, x.b).s);
  return is_small ? tirc_src_narrow(g, r, t) : r;
}

static CText emit_floordiv(Gen *g, Expr e, const Window *w) {
  const DType t = tirc_c_operand_type(g->c, g->loc, e);
  if (tirc_dtype_is_float(t)) return float_floordiv(g, e, t, w);
  const bool is_div = e->op == OP_FLOORDIV;
  const int64_t k = constant_divisor(e);
  const Two x = operands(g, e, t, w);
  CText r;
  if (t.code != TYPE_INT) {
    if (k == 0) return helper2(g, is_div ? HELPER_UDIV : HELPER_UMOD, t, x);
    r = tirc_src_binary(g, is_div ? OP_TRUNCDIV : OP_TRUNCMOD, x.a, x.b);
  } else if (k > 0 && (k & (k - 1)) == 0) {
    const int64_t by = is_div ? __builtin_ctzll((uint64_t)k) : k - 1;
    r = tirc_src_binary(g, is_div ? OP_SHIFT_RIGHT : OP_BITWISE_AND, x.a,
                        tirc_src_number(g, is_div ? DT_INT32 : t, by));
  } else {
    return helper2(g, is_div ? HELPER_FLOORDIV : HELPER_FLOORMOD, t, x);
  }
  return made_narrow(g, r, t);
}

/* --- logic and choice ------------------------------------------------------------------------ */

CText tirc_src_operand_as(Gen *g, Expr x, DType t, const Window *w) {
  bool holds;
  if (t.code == TYPE_BOOL && tirc_dtype_is_int(x->dtype) && g->l->family->is_decided &&
      g->l->family->is_decided(OP_NE, x, NULL, &holds))
    return tirc_src_number(g, DT_BOOL, holds);
  return tirc_src_cast(g, tirc_src_expr(g, x, w), x->dtype, t);
}

static CText as_bool(Gen *g, Expr e, const Window *w) {
  return tirc_src_operand_as(g, e, DT_BOOL, w);
}

static CText emit_logic(Gen *g, Expr e, const Window *w) {
  return tirc_src_binary(g, (Op)e->op, as_bool(g, e->args[0], w), as_bool(g, e->args[1], w));
}

/* As loosely as an equality, as `x == 0` would: of `!x == y` compilers warn. */
static CText emit_NOT(Gen *g, Expr e, const Window *w) {
  return tirc_src_text(g, BINDS_EQUAL, "!%s",
                       tirc_c_operand(g->c, as_bool(g, e->args[0], w), BINDS_ALL));
}

static CText emit_BITWISE_NOT(Gen *g, Expr e, const Window *w) {
  if (e->dtype.code == TYPE_BOOL) return emit_NOT(g, e, w);
  CText v = tirc_src_expr(g, e->args[0], w);
  return made_narrow(g, tirc_src_text(g, BINDS_CAST, "~%s", tirc_c_operand(g->c, v, BINDS_CAST)),
                     tirc_dtype_lanes(e->dtype, 1));
}

/* One side only is computed, which is right for both kinds of choice. */
static CText emit_choice(Gen *g, Expr e, const Window *w) {
  CText c = as_bool(g, e->args[0], w);
  CText x = tirc_src_operand_as(g, e->args[1], e->dtype, w);
  CText y = tirc_src_operand_as(g, e->args[2], e->dtype, w);
  if (e->dtype.code == TYPE_VOID) {
    x = tirc_c_cast_to(g->c, "void", x);
    y = tirc_c_cast_to(g->c, "void", y);
  }
  return tirc_src_text(g, BINDS_CHOICE, "%s ? %s : %s",
                       tirc_c_operand(g->c, c, c.binds == BINDS_BITS ? BINDS_CAST : BINDS_OR),
                       tirc_c_operand(g->c, x, BINDS_OR), tirc_c_operand(g->c, y, BINDS_CHOICE));
}

/* --- shifts, casts, vectors ------------------------------------------------------------------ */

static CText emit_shift(Gen *g, Expr e, const Window *w) {
  const DType t = tirc_c_operand_type(g->c, g->loc, e);
  if (!tirc_dtype_is_int(t)) tirc_src_unsupported(g, e);
  const bool outer = g->index;
  g->index = outer && t.bits < 64; /* a literal there is an int, which has no bit 32 */
  CText a = tirc_src_expr(g, e->args[0], w), by;
  g->index = outer;
  int64_t k;
  if (tirc_const_int(e->args[1], &k))
    by = tirc_src_number(g, DT_INT32, k & (t.bits - 1));
  else
    by = tirc_src_text(g, BINDS_BITS, "%s & %d",
                       tirc_c_operand(g->c, tirc_src_expr(g, e->args[1], w), BINDS_CAST),
                       t.bits - 1);
  if (e->op == OP_SHIFT_RIGHT) return made_narrow(g, tirc_src_binary(g, OP_SHIFT_RIGHT, a, by), t);
  const DType u = t.bits < 32 ? DT(TYPE_UINT, 32) : tirc_src_unsigned(t);
  return tirc_src_cast_to(g, t, tirc_src_binary(g, OP_SHIFT_LEFT, tirc_src_cast_to(g, u, a), by));
}

static CText emit_CAST(Gen *g, Expr e, const Window *w) {
  if (!is_vector(e, w)) return tirc_src_operand_as(g, e->args[0], e->dtype, w);
  return g->l->convert(g, g->l->family->all_lanes(g, e->args[0], w),
                       tirc_src_value_type(g, e->dtype));
}

static CText emit_LIKELY(Gen *g, Expr e, const Window *w) {
  return tirc_src_expr(g, e->args[0], w);
}

static CText emit_BROADCAST(Gen *g, Expr e, const Window *w) {
  if (e->args[0]->dtype.lanes > 1) tirc_src_unsupported(g, e);
  return is_vector(e, w) ? g->l->family->all_lanes(g, e, w) : tirc_src_scalar(g, e->args[0]);
}

static CText emit_none(Gen *g, Expr e, const Window *w) {
  (void)w;
  tirc_src_unsupported(g, e);
}

/* --- the table ------------------------------------------------------------------------------- */

#include "codegen/families.h"
#define emit_math tirc_src_math
#define emit_SELECT emit_choice
#define emit_IF_THEN_ELSE emit_choice
/* Each family has its own. */
#define emit_LET NULL
#define emit_RAMP NULL
#define emit_REINTERPRET NULL
#define emit_LOAD NULL
#define emit_CALL NULL

CText tirc_src_expr(Gen *g, Expr e, const Window *w) {
  static Emit *const emitters[OP_COUNT] = {
#define OP(id, name, arity, class, precedence, c_form) [OP_##id] = emit_##id,
#include "ir/tree/ops.def"
#undef OP
  };
  const Family *f = g->l->family;
  CText whole;
  if (f->expr && f->expr(g, e, &whole)) return whole;
  return (f->exprs[e->op] ? f->exprs[e->op] : emitters[e->op])(g, e, w);
}
