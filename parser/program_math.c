/* T.* functions that compute: the intrinsics of ir/tree/ops.def by a rule per operand type, nodes
 * spelt out (T.Add), constants, casts and vectors. */
#include "ir/tree/op_rule.h"
#include "reader.h"

#include <stdlib.h>

#include <math.h>

static Expr operand(Reader *r, const Call *call, const Syn *s, OpRule rule) {
  PyValue v = tirc_read_value(r, s);
  Expr e =
      rule == RULE_FLOAT ? tirc_py_to_expr_like(r, s, v, DT_FLOAT32) : tirc_py_to_expr(r, s, v);
  static const char *const wants[] = {"a float",    "a number", "a number",
                                      "an integer", "a number", "a condition"};
  if (!tirc_fits_rule(rule, e->dtype))
    READ_FAIL(r, s, CODE_TYPE, rule == RULE_FLOAT ? "cast it: T.Cast(\"float32\", x)" : NULL,
              "%s takes %s, not %s", call->name, wants[rule], tirc_py_describe(r, v));
  return e;
}

static PyValue read_intrinsic(Reader *r, const Call *call) {
  Op op = (Op)call->function->detail;
  OpRule rule = tirc_op_rule(op);
  int n = tirc_ops[op].arity;
  Expr a[3] = {NULL};
  if (n == 2) {
    tirc_read_both(r, call->args[0], call->args[1], &a[0], &a[1]);
    tirc_match_types(r, call->node, &a[0], &a[1]);
    if (rule == RULE_FLOAT && a[0]->op == OP_INT && a[1]->op == OP_INT)
      for (int i = 0; i < 2; i++) a[i] = tirc_cast(r->c, DT_FLOAT32, a[i]);
    if (!tirc_fits_rule(rule, a[0]->dtype))
      READ_FAIL(r, call->node, CODE_TYPE, NULL, "%s takes %s, not %s", call->name,
                rule == RULE_INT ? "integers" : "floats", tirc_dtype_name(r->c, a[0]->dtype));
  } else {
    for (int i = 0; i < n; i++) a[i] = operand(r, call, call->args[i], rule);
    if (n == 3) {
      tirc_match_types(r, call->node, &a[0], &a[1]);
      tirc_match_types(r, call->node, &a[0], &a[2]);
      tirc_match_types(r, call->node, &a[0], &a[1]);
    }
  }
  return tirc_py_expr(tirc_intrinsic(r->c, op, n, a));
}

/* --- operands of different types -------------------------------------------------------------- */

/* Vectors and scalars go together. */
static void spread(Reader *r, const Call *call, int n, Expr *a) {
  int lanes = 1;
  for (int i = 0; i < n; i++)
    if (a[i]->dtype.lanes > lanes) lanes = a[i]->dtype.lanes;
  for (int i = 0; i < n; i++) {
    if (a[i]->dtype.lanes == lanes) continue;
    if (a[i]->dtype.lanes != 1)
      READ_FAIL(r, call->node, CODE_TYPE, NULL, "vectors of %d and %d elements cannot be combined",
                lanes, a[i]->dtype.lanes);
    a[i] = tirc_broadcast(r->c, a[i], lanes);
  }
}

static Expr int32_operand(Reader *r, const Call *call, const Syn *s) {
  PyValue v = tirc_read_value(r, s);
  Expr e = tirc_py_to_expr_like(r, s, v, DT_INT32);
  if (!tirc_dtype_equal(tirc_dtype_lanes(e->dtype, 1), DT_INT32))
    READ_FAIL(r, s, CODE_TYPE, "cast it: T.Cast(\"int32\", x)", "%s takes int32, not %s",
              call->name, tirc_py_describe(r, v));
  return e;
}

/* A hint for passes that is none here. */
static PyValue read_itself(Reader *r, const Call *call) {
  return tirc_py_expr(tirc_read_condition(r, call->args[0]));
}

static PyValue read_ldexp(Reader *r, const Call *call) {
  Expr a[2] = {operand(r, call, call->args[0], RULE_FLOAT),
               operand(r, call, call->args[1], RULE_INT)};
  a[1] = tirc_cast(r->c, tirc_dtype_lanes(DT_INT32, a[1]->dtype.lanes), a[1]);
  spread(r, call, 2, a);
  return tirc_py_expr(tirc_expr(r->c, OP_LDEXP, a[0]->dtype, 2, a));
}

/* q_multiply_shift and q_multiply_shift_per_axis: int32, and then conditions. */
static PyValue read_q_multiply(Reader *r, const Call *call) {
  enum { MOST = 7, INTEGERS = 5 };
  Op op = (Op)call->function->detail;
  int n = tirc_ops[op].arity;
  Expr a[MOST];
  for (int i = 0; i < n; i++)
    a[i] = i < INTEGERS ? int32_operand(r, call, call->args[i])
                        : tirc_read_condition(r, call->args[i]);
  spread(r, call, n, a);
  return tirc_py_expr(tirc_expr(r->c, op, a[0]->dtype, n, a));
}

/* --- operators as functions ------------------------------------------------------------------- */

static void expect_integers(Reader *r, const Call *call, Expr a) {
  if (tirc_dtype_is_float(a->dtype))
    READ_FAIL(r, call->node, CODE_TYPE, NULL, "%s takes integers, not %s", call->name,
              tirc_dtype_name(r->c, a->dtype));
}

/* T.max(a, b), T.floordiv(a, b): as operators, folded. */
static PyValue read_operator(Reader *r, const Call *call) {
  Op op = (Op)call->function->detail;
  Expr a, b;
  tirc_read_both(r, call->args[0], call->args[1], &a, &b);
  tirc_match_types(r, call->node, &a, &b);
  bool divides = op >= OP_TRUNCDIV && op <= OP_FLOORMOD;
  if (divides || op == OP_DIV) {
    if (divides) expect_integers(r, call, a);
    if (tirc_is_int(b, 0)) READ_FAIL(r, call->node, CODE_TYPE, NULL, "division by zero");
  }
  return tirc_py_expr(tirc_binary(r->c, op, a, b));
}

/* T.Add(a, b): the node itself, nothing folded. */
static PyValue read_node(Reader *r, const Call *call) {
  Op op = (Op)call->function->detail;
  Expr a[2];
  tirc_read_both(r, call->args[0], call->args[1], &a[0], &a[1]);
  tirc_match_types(r, call->node, &a[0], &a[1]);
  bool logical = op == OP_AND || op == OP_OR, compares = op >= OP_EQ && op <= OP_GE;
  if (logical && a[0]->dtype.code != TYPE_BOOL)
    READ_FAIL(r, call->node, CODE_TYPE, NULL, "%s takes conditions", call->name);
  if (op == OP_DIV && !tirc_dtype_is_float(a[0]->dtype))
    op = OP_TRUNCDIV;
  else if (op >= OP_TRUNCDIV && op <= OP_FLOORMOD)
    expect_integers(r, call, a[0]);
  DType t = compares ? tirc_dtype_lanes(DT_BOOL, a[0]->dtype.lanes) : a[0]->dtype;
  return tirc_py_expr(tirc_expr(r->c, op, t, 2, a));
}

static PyValue read_not(Reader *r, const Call *call) {
  Expr e = tirc_read_condition(r, call->args[0]);
  return tirc_py_expr(tirc_expr(r->c, OP_NOT, e->dtype, 1, &e));
}

static PyValue read_any_all(Reader *r, const Call *call) {
  if (call->n_rest > SYNTAX_MAX_DEPTH)
    READ_FAIL(r, call->node, CODE_SYNTAX, NULL, "%s has too many arguments", call->name);
  Expr all = tirc_read_condition(r, call->args[0]);
  for (int i = 0; i < call->n_rest; i++)
    all = tirc_binary(r->c, (Op)call->function->detail, all, tirc_read_condition(r, call->rest[i]));
  return tirc_py_expr(all);
}

static PyValue read_ceildiv(Reader *r, const Call *call) {
  Expr a, b;
  tirc_read_both(r, call->args[0], call->args[1], &a, &b);
  tirc_match_types(r, call->node, &a, &b);
  expect_integers(r, call, a);
  if (tirc_is_int(b, 0)) READ_FAIL(r, call->node, CODE_TYPE, NULL, "division by zero");
  Expr sum = tirc_sub(r->c, tirc_add(r->c, a, b), tirc_int(r->c, b->dtype, 1));
  return tirc_py_expr(tirc_floordiv(r->c, sum, b));
}

/* T.if_then_else and T.Select. */
static PyValue read_choice(Reader *r, const Call *call) {
  Op op = (Op)call->function->detail;
  PyValue known = tirc_read_value(r, call->args[0]);
  Expr a[3];
  a[0] =
      known.kind == PY_BOOL ? tirc_bool(r->c, known.u.b) : tirc_py_to_expr(r, call->args[0], known);
  if (a[0]->dtype.code != TYPE_BOOL)
    READ_FAIL(r, call->args[0], CODE_TYPE, "compare it: x != 0",
              "the condition of %s must be of type bool, not %s", call->name,
              tirc_py_describe(r, known));
  tirc_read_both(r, call->args[1], call->args[2], &a[1], &a[2]);
  if (!tirc_dtype_equal(a[1]->dtype, a[2]->dtype)) tirc_match_types(r, call->node, &a[1], &a[2]);
  int64_t truth;
  if (op == OP_IF_THEN_ELSE && tirc_const_int(a[0], &truth))
    return tirc_py_expr(truth ? a[1] : a[2]);
  return tirc_py_expr(tirc_expr(r->c, op, a[1]->dtype, 3, a));
}

/* --- constants and casts ---------------------------------------------------------------------- */

/* T.float32("inf") */
static Expr spelt_number(Reader *r, const Syn *s, DType t, const char *text) {
  static const struct {
    const char *text;
    double value;
  } words[] = {{"inf", HUGE_VAL}, {"+inf", HUGE_VAL}, {"-inf", -HUGE_VAL}, {"nan", NAN}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(text, words[i].text) == 0 && tirc_dtype_is_float(t))
      return tirc_float(r->c, t, words[i].value);
  READ_FAIL(r, s, CODE_TYPE, "\"inf\", \"-inf\" and \"nan\" are numbers of the float types",
            "'%s' is not a number of type %s", text, tirc_dtype_name(r->c, t));
}

static Expr typed_number(Reader *r, const Syn *s, DType t, PyValue v) {
  DType scalar = tirc_dtype_lanes(t, 1);
  if (scalar.code == TYPE_BOOL) return tirc_bool(r->c, tirc_py_truth(v));
  if (tirc_dtype_is_float(scalar))
    return tirc_float(r->c, scalar,
                      v.kind == PY_FLOAT ? v.u.f : (double)(v.kind == PY_BOOL ? v.u.b : v.u.i));
  if (v.kind == PY_FLOAT && (!(fabs(v.u.f) < 0x1p64) || v.u.f != nearbyint(v.u.f)))
    READ_FAIL(r, s, CODE_TYPE, NULL, "%g is not a number of type %s", v.u.f,
              tirc_dtype_name(r->c, t));
  const PyInt i = v.kind == PY_FLOAT ? (PyInt)v.u.f : v.kind == PY_BOOL ? v.u.b : v.u.i;
  if (!tirc_dtype_is_int(scalar))
    READ_FAIL(r, s, CODE_TYPE, NULL, "there are no constants of type %s", tirc_dtype_name(r->c, t));
  const bool is_uint64 = tirc_dtype_equal(scalar, DT_UINT64);
  if (i < tirc_dtype_min(scalar) || i > (is_uint64 ? UINT64_MAX : (PyInt)tirc_dtype_max(scalar)))
    READ_FAIL(r, s, CODE_TYPE, NULL, "%s does not fit into %s", tirc_py_digits(r, i),
              tirc_dtype_name(r->c, t));
  return is_uint64 ? tirc_uint64(r->c, (uint64_t)i) : tirc_int(r->c, scalar, (int64_t)i);
}

/* n = T.int32() */
static PyValue new_variable(Reader *r, const Call *call, DType t) {
  const char *name = tirc_target_name(r, 0, 1);
  if (name) tirc_refuse_define(r, call->node, name, "a symbolic extent");
  PyValue v = tirc_py_expr(tirc_var(r->c, name ? name : "v", t));
  v.fresh = true;
  return v;
}

/* T.int32(), T.int32(4), T.int32(x) */
static PyValue read_typed(Reader *r, const Call *call) {
  DType t;
  tirc_dtype_parse(call->function->name, &t);
  const Syn *s = call->args[0];
  if (!s || t.code == TYPE_HANDLE) {
    return new_variable(r, call, t);
  }
  PyValue v = tirc_read_value(r, s);
  Expr e = v.kind == PY_STR       ? spelt_number(r, s, t, v.u.s)
           : tirc_py_is_number(v) ? typed_number(r, s, t, v)
                                  : tirc_py_to_expr(r, s, v);
  return tirc_py_expr(
      tirc_cast(r->c, tirc_dtype_lanes(t, t.lanes > 1 ? t.lanes : e->dtype.lanes), e));
}

static PyValue read_var(Reader *r, const Call *call) {
  return new_variable(r, call, tirc_read_dtype(r, call->args[0]));
}

static PyValue read_named_var(Reader *r, const Call *call) {
  DType t = call->args[1] ? tirc_read_dtype(r, call->args[1]) : DT_INT32;
  PyValue v = tirc_py_expr(tirc_var(r->c, tirc_read_string(r, call->args[0], "a name"), t));
  v.fresh = true;
  return v;
}

static PyValue cast_to(Reader *r, const Call *call, const Syn *type, const Syn *value) {
  DType t = tirc_read_dtype(r, type);
  Expr e = tirc_read_number(r, value, "what is cast");
  if (t.code == TYPE_HANDLE || t.code == TYPE_VOID)
    READ_FAIL(r, type, CODE_TYPE, "T.reinterpret", "a number cannot be cast to %s",
              tirc_dtype_name(r->c, t));
  if (t.lanes == 1) t = tirc_dtype_lanes(t, e->dtype.lanes);
  if (t.lanes != e->dtype.lanes)
    READ_FAIL(r, call->node, CODE_TYPE, NULL, "a vector of %d elements cannot become one of %d",
              e->dtype.lanes, t.lanes);
  bool node = call->function->detail;
  if (!node || tirc_dtype_equal(t, e->dtype)) return tirc_py_expr(tirc_cast(r->c, t, e));
  return tirc_py_expr(tirc_expr(r->c, OP_CAST, t, 1, &e));
}

static PyValue read_cast_node(Reader *r, const Call *call) {
  return cast_to(r, call, call->args[0], call->args[1]);
}
static PyValue read_cast(Reader *r, const Call *call) {
  return cast_to(r, call, call->args[1], call->args[0]);
}

static PyValue read_reinterpret(Reader *r, const Call *call) {
  DType t = tirc_read_dtype(r, call->args[0]);
  Expr e = tirc_read_expr(r, call->args[1]);
  if (tirc_dtype_bytes(t) * t.lanes != tirc_dtype_bytes(e->dtype) * e->dtype.lanes)
    READ_FAIL(r, call->node, CODE_TYPE, "T.Cast converts the value", "%s and %s differ in size",
              tirc_dtype_name(r->c, t), tirc_dtype_name(r->c, e->dtype));
  if (tirc_dtype_equal(e->dtype, t)) return tirc_py_expr(e);
  return tirc_py_expr(tirc_expr(r->c, OP_REINTERPRET, t, 1, &e));
}

/* T.min_value, T.max_value, T.infinity: detail -1, 1, 2. */
static PyValue read_limit(Reader *r, const Call *call) {
  DType t = tirc_read_dtype(r, call->args[0]);
  Expr limit = tirc_limit(r->c, t, call->function->detail);
  if (!limit)
    READ_FAIL(r, call->node, CODE_TYPE, NULL, "%s has no value of type %s", call->name,
              tirc_dtype_name(r->c, t));
  return tirc_py_expr(limit);
}

static PyValue constant_of(Reader *r, const Syn *value, const Syn *dtype) {
  const PyValue v = tirc_read_value(r, value);
  if (!dtype) return tirc_py_expr(tirc_py_to_expr(r, value, v));
  const DType t = tirc_read_dtype(r, dtype);
  return tirc_py_expr(tirc_cast(r->c, t, tirc_py_to_expr_like(r, value, v, t)));
}

/* T.const(2, "uint32") */
static PyValue read_const(Reader *r, const Call *call) {
  return constant_of(r, call->args[0], call->args[1]);
}

/* T.IntImm("uint32", 2) */
static PyValue read_imm(Reader *r, const Call *call) {
  return constant_of(r, call->args[1], call->args[0]);
}

/* --- vectors ---------------------------------------------------------------------------------- */

static PyValue read_ramp(Reader *r, const Call *call) {
  Expr base, stride;
  tirc_read_both(r, call->args[0], call->args[1], &base, &stride);
  tirc_match_types(r, call->node, &base, &stride);
  int lanes = (int)tirc_read_const_int(r, call->args[2], "the number of lanes", 1, UINT16_MAX);
  if (base->dtype.lanes != 1)
    READ_FAIL(r, call->node, CODE_TYPE, NULL, "T.Ramp does not accept vectors");
  return tirc_py_expr(tirc_ramp(r->c, base, stride, lanes));
}

static PyValue read_broadcast(Reader *r, const Call *call) {
  Expr value = tirc_read_number(r, call->args[0], "what is broadcast");
  int lanes = (int)tirc_read_const_int(r, call->args[1], "the number of lanes", 1, UINT16_MAX);
  if (value->dtype.lanes != 1)
    READ_FAIL(r, call->node, CODE_TYPE, NULL, "T.Broadcast does not accept a vector");
  return tirc_py_expr(tirc_broadcast(r->c, value, lanes));
}

/* T.get_active_lane_mask("uint1x4", base, limit): the lanes of base, base + 1, ... below the limit.
 */
static PyValue read_lane_mask(Reader *r, const Call *call) {
  const char *type = tirc_read_string(r, call->args[0], "a type of vectors of bools");
  const char *x = strchr(type, 'x');
  const int lanes = x ? atoi(x + 1) : 0;
  if (lanes < 1 || lanes > UINT16_MAX || strncmp(type, "uint1x", 6) != 0)
    READ_FAIL(r, call->args[0], CODE_TYPE, "use for example \"uint1x4\" for four bools",
              "'%s' is not a type of vectors of bools", type);
  Expr base = tirc_read_int(r, call->args[1], "where the lanes begin");
  Expr limit = tirc_read_int(r, call->args[2], "the limit");
  tirc_match_types(r, call->node, &base, &limit);
  const Expr at = tirc_ramp(r->c, base, tirc_int(r->c, base->dtype, 1), lanes);
  return tirc_py_expr(tirc_lt(r->c, at, tirc_broadcast(r->c, limit, lanes)));
}

/* T.meta_var(x): a name of the text for x, and none of the program. */
static PyValue read_meta_var(Reader *r, const Call *call) {
  PyValue v = tirc_read_value(r, call->args[0]);
  v.fresh = v.kind == PY_EXPR;
  return v;
}

/* T.Let(body, where={var: value}) */
static PyValue read_let(Reader *r, const Call *call) {
  const Syn *where = call->args[1];
  if (where->kind != SYN_DICT || where->kids.n < 2)
    READ_FAIL(r, where, CODE_TYPE, "write T.Let(body, where={x: value})",
              "expected {variable: value}");
  int n = where->kids.n / 2;
  Expr *vars = tirc_new_array(r->c, Expr, n), *values = tirc_new_array(r->c, Expr, n);
  tirc_names_open(r);
  for (int i = 0; i < n; i++) {
    const Syn *key = where->kids.at[2 * i];
    if (key->kind != SYN_NAME) READ_FAIL(r, key, CODE_TYPE, NULL, "T.Let can bind only names");
    values[i] = tirc_read_number(r, where->kids.at[2 * i + 1], "what T.Let binds");
    vars[i] = tirc_var(r->c, key->s, values[i]->dtype);
    tirc_names_bind(r, key, key->s, tirc_py_expr(vars[i]), false);
  }
  Expr body = tirc_read_expr(r, call->args[0]);
  tirc_names_close(r);
  for (int i = n; i-- > 0;)
    body = tirc_expr(r->c, OP_LET, body->dtype, 3, (Expr[]){vars[i], values[i], body});
  return tirc_py_expr(body);
}

#define INTRINSIC_1(id, text)                                                                      \
  { text, "x dtype?", IN_VALUE, read_intrinsic, OP_##id }
#define INTRINSIC_2(id, text)                                                                      \
  { text, "x y dtype?", IN_VALUE, read_intrinsic, OP_##id }
#define INTRINSIC_3(id, text)                                                                      \
  { text, "x y z", IN_VALUE, read_intrinsic, OP_##id }
#define OPERATOR(id, text)                                                                         \
  { text, "a b", IN_VALUE, read_operator, OP_##id }
#define NODE(id, text)                                                                             \
  { text, "a b", IN_VALUE, read_node, OP_##id }
#define TYPED(text)                                                                                \
  { text, "expr? is_size_var?", IN_VALUE, read_typed, 0 }

const Function tirc_value_functions[] = {
    INTRINSIC_1(EXP, "exp"),
    INTRINSIC_1(EXP2, "exp2"),
    INTRINSIC_1(EXP10, "exp10"),
    INTRINSIC_1(LOG, "log"),
    INTRINSIC_1(LOG2, "log2"),
    INTRINSIC_1(LOG10, "log10"),
    INTRINSIC_1(LOG1P, "log1p"),
    INTRINSIC_1(SQRT, "sqrt"),
    INTRINSIC_1(RSQRT, "rsqrt"),
    INTRINSIC_1(SIN, "sin"),
    INTRINSIC_1(COS, "cos"),
    INTRINSIC_1(TAN, "tan"),
    INTRINSIC_1(ASIN, "asin"),
    INTRINSIC_1(ACOS, "acos"),
    INTRINSIC_1(ATAN, "atan"),
    INTRINSIC_1(SINH, "sinh"),
    INTRINSIC_1(COSH, "cosh"),
    INTRINSIC_1(TANH, "tanh"),
    INTRINSIC_1(SIGMOID, "sigmoid"),
    INTRINSIC_1(ERF, "erf"),
    INTRINSIC_1(FLOOR, "floor"),
    INTRINSIC_1(CEIL, "ceil"),
    INTRINSIC_1(TRUNC, "trunc"),
    INTRINSIC_1(ROUND, "round"),
    INTRINSIC_1(NEARBYINT, "nearbyint"),
    INTRINSIC_1(ABS, "abs"),
    INTRINSIC_1(ABS, "fabs"),
    INTRINSIC_1(ISNAN, "isnan"),
    INTRINSIC_1(ISINF, "isinf"),
    INTRINSIC_1(ISFINITE, "isfinite"),
    INTRINSIC_1(ASINH, "asinh"),
    INTRINSIC_1(ACOSH, "acosh"),
    INTRINSIC_1(ATANH, "atanh"),
    INTRINSIC_1(POPCOUNT, "popcount"),
    INTRINSIC_1(CLZ, "clz"),
    INTRINSIC_1(BITWISE_NOT, "bitwise_not"),
    INTRINSIC_1(LIKELY, "likely"),
    {"ignore_loop_partition", "condition", IN_VALUE, read_itself, 0},
    INTRINSIC_2(ATAN2, "atan2"),
    INTRINSIC_2(POW, "pow"),
    INTRINSIC_2(POW, "power"),
    INTRINSIC_2(FMOD, "fmod"),
    INTRINSIC_2(COPYSIGN, "copysign"),
    INTRINSIC_2(BITWISE_AND, "bitwise_and"),
    INTRINSIC_2(BITWISE_OR, "bitwise_or"),
    INTRINSIC_2(BITWISE_XOR, "bitwise_xor"),
    INTRINSIC_2(SHIFT_LEFT, "shift_left"),
    INTRINSIC_2(SHIFT_RIGHT, "shift_right"),
    INTRINSIC_2(HYPOT, "hypot"),
    INTRINSIC_2(NEXTAFTER, "nextafter"),
    INTRINSIC_3(FMA, "fma"),
    {"ldexp", "x1 x2 dtype?", IN_VALUE, read_ldexp, 0},
    {"q_multiply_shift", "x y q s dtype?", IN_VALUE, read_q_multiply, OP_Q_MULTIPLY_SHIFT},
    {"q_multiply_shift_per_axis", "x y ls rs q is_lshift_required is_rshift_required dtype?",
     IN_VALUE, read_q_multiply, OP_Q_MULTIPLY_SHIFT_PER_AXIS},

    OPERATOR(MIN, "min"),
    OPERATOR(MAX, "max"),
    OPERATOR(FLOORDIV, "floordiv"),
    OPERATOR(FLOORMOD, "floormod"),
    OPERATOR(FLOORDIV, "indexdiv"),
    OPERATOR(FLOORMOD, "indexmod"),
    OPERATOR(TRUNCDIV, "truncdiv"),
    OPERATOR(TRUNCMOD, "truncmod"),
    OPERATOR(DIV, "div"),
    NODE(ADD, "Add"),
    NODE(SUB, "Sub"),
    NODE(MUL, "Mul"),
    NODE(DIV, "Div"),
    NODE(TRUNCMOD, "Mod"),
    NODE(FLOORDIV, "FloorDiv"),
    NODE(FLOORMOD, "FloorMod"),
    NODE(MIN, "Min"),
    NODE(MAX, "Max"),
    NODE(EQ, "EQ"),
    NODE(NE, "NE"),
    NODE(LT, "LT"),
    NODE(LE, "LE"),
    NODE(GT, "GT"),
    NODE(GE, "GE"),
    NODE(AND, "And"),
    NODE(OR, "Or"),
    {"Not", "a", IN_VALUE, read_not, 0},
    {"any", "first *", IN_VALUE, read_any_all, OP_OR},
    {"all", "first *", IN_VALUE, read_any_all, OP_AND},
    {"ceildiv", "a b", IN_VALUE, read_ceildiv, 0},
    {"if_then_else", "cond true_value false_value dtype?", IN_VALUE, read_choice, OP_IF_THEN_ELSE},
    {"Select", "condition true_value false_value", IN_VALUE, read_choice, OP_SELECT},

    TYPED("bool"),
    TYPED("int8"),
    TYPED("int16"),
    TYPED("int32"),
    TYPED("int64"),
    TYPED("uint8"),
    TYPED("uint16"),
    TYPED("uint32"),
    TYPED("uint64"),
    TYPED("float16"),
    TYPED("bfloat16"),
    TYPED("float32"),
    TYPED("float64"),
#define VECTORS(type)                                                                              \
  TYPED(type "x2"), TYPED(type "x4"), TYPED(type "x8"), TYPED(type "x16"), TYPED(type "x32"),      \
      TYPED(type "x64")
    VECTORS("int8"),
    VECTORS("int16"),
    VECTORS("int32"),
    VECTORS("int64"),
    VECTORS("uint8"),
    VECTORS("uint16"),
    VECTORS("uint32"),
    VECTORS("uint64"),
    VECTORS("float16"),
    VECTORS("bfloat16"),
    VECTORS("float32"),
    VECTORS("float64"),
    {"handle", "dtype? storage_scope? is_size_var?", IN_VALUE, read_typed, 0},
    {"var", "dtype name?", IN_VALUE, read_var, 0},
    {"Var", "name dtype?", IN_VALUE, read_named_var, 0},
    {"SizeVar", "name dtype?", IN_VALUE, read_named_var, 0},
    {"Cast", "dtype value", IN_VALUE, read_cast_node, 1},
    {"cast", "value dtype", IN_VALUE, read_cast, 0},
    {"reinterpret", "dtype value", IN_VALUE, read_reinterpret, 0},
    {"const", "value dtype?", IN_VALUE, read_const, 0},
    {"IntImm", "dtype value", IN_VALUE, read_imm, 0},
    {"FloatImm", "dtype value", IN_VALUE, read_imm, 0},
    {"min_value", "dtype", IN_VALUE, read_limit, -1},
    {"max_value", "dtype", IN_VALUE, read_limit, 1},
    {"infinity", "dtype", IN_VALUE, read_limit, 2},
    {"Ramp", "base stride lanes", IN_VALUE, read_ramp, 0},
    {"Broadcast", "value lanes", IN_VALUE, read_broadcast, 0},
    {"ramp", "base stride lanes", IN_VALUE, read_ramp, 0},
    {"broadcast", "value lanes", IN_VALUE, read_broadcast, 0},
    {"get_active_lane_mask", "dtype base limit", IN_VALUE, read_lane_mask, 0},
    {"meta_var", "value", IN_VALUE, read_meta_var, 0},
    {"Let", "body where", IN_VALUE, read_let, 0},

    {NULL, NULL, 0, NULL, 0},
};
