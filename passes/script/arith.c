/* The operators of two operands: on integers with checked overflow, on floats, on sequences, and on
 * symbolic expressions, where they build IR. One row an operator. */
#include "interp.h"
#include "ir/tree/op_rule.h"
#include "require.h"

#include <math.h>

static _Noreturn void overflow(Script *sc, const char *op, int64_t a, int64_t b) {
  tirc_script_error(sc, "OverflowError", "integers have 64 bits", "%lld %s %lld is too large",
                    (long long)a, op, (long long)b);
}

static void check_divisor(Script *sc, bool zero) {
  if (zero) tirc_script_error(sc, "ZeroDivisionError", NULL, "division by zero");
}

/* --- integers --------------------------------------------------------------------------------- */

#define CHECKED(name, builtin, op)                                                                 \
  static Value name(Script *sc, int64_t a, int64_t b) {                                            \
    int64_t r;                                                                                     \
    if (builtin(a, b, &r)) overflow(sc, op, a, b);                                                 \
    return tirc_value_int(r);                                                                      \
  }
CHECKED(int_add, __builtin_add_overflow, "+")
CHECKED(int_sub, __builtin_sub_overflow, "-")
CHECKED(int_mul, __builtin_mul_overflow, "*")
#undef CHECKED

static Value int_div(Script *sc, int64_t a, int64_t b) {
  check_divisor(sc, b == 0);
  return tirc_value_float((double)a / (double)b);
}

static Value int_floordiv(Script *sc, int64_t a, int64_t b) {
  check_divisor(sc, b == 0);
  if (a == INT64_MIN && b == -1) overflow(sc, "//", a, b);
  return tirc_value_int(a / b - (a % b != 0 && (a < 0) != (b < 0)));
}

static Value int_mod(Script *sc, int64_t a, int64_t b) {
  check_divisor(sc, b == 0);
  if (b == -1) return tirc_value_int(0);
  int64_t r = a % b;
  return tirc_value_int(r && (r < 0) != (b < 0) ? r + b : r);
}

static Value int_pow(Script *sc, int64_t a, int64_t b) {
  if (b < 0) {
    check_divisor(sc, a == 0);
    return tirc_value_float(pow((double)a, (double)b));
  }
  int64_t result = 1;
  for (int64_t base = a, n = b; n; n >>= 1) {
    if (n & 1 && __builtin_mul_overflow(result, base, &result)) overflow(sc, "**", a, b);
    if (n > 1 && __builtin_mul_overflow(base, base, &base)) overflow(sc, "**", a, b);
  }
  return tirc_value_int(result);
}

static void check_shift(Script *sc, int64_t by) {
  if (by < 0)
    tirc_script_error(sc, "ValueError", NULL, "a shift by %lld is not possible", (long long)by);
}

static Value int_shl(Script *sc, int64_t a, int64_t b) {
  check_shift(sc, b);
  int64_t r;
  if (a == 0) return tirc_value_int(0);
  if (b > 62 || __builtin_mul_overflow(a, INT64_C(1) << b, &r)) overflow(sc, "<<", a, b);
  return tirc_value_int(r);
}

static Value int_shr(Script *sc, int64_t a, int64_t b) {
  check_shift(sc, b);
  return tirc_value_int(a >> (b > 63 ? 63 : b));
}

static Value int_and(Script *sc, int64_t a, int64_t b) { return (void)sc, tirc_value_int(a & b); }
static Value int_or(Script *sc, int64_t a, int64_t b) { return (void)sc, tirc_value_int(a | b); }
static Value int_xor(Script *sc, int64_t a, int64_t b) { return (void)sc, tirc_value_int(a ^ b); }

/* --- floats ----------------------------------------------------------------------------------- */

static double float_add(double a, double b) { return a + b; }
static double float_sub(double a, double b) { return a - b; }
static double float_mul(double a, double b) { return a * b; }
static double float_div(double a, double b) { return a / b; }
static double float_floordiv(double a, double b) { return floor(a / b); }
static double float_mod(double a, double b) {
  double r = fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static const struct BinaryRow {
  const char *op;
  Value (*ints)(Script *, int64_t, int64_t);
  double (*floats)(double, double); /* NULL: not for floats */
  bool divides;
  Op ir;
} rows[] = {
    {"+", int_add, float_add, false, OP_ADD},
    {"-", int_sub, float_sub, false, OP_SUB},
    {"*", int_mul, float_mul, false, OP_MUL},
    {"/", int_div, float_div, true, OP_DIV},
    {"//", int_floordiv, float_floordiv, true, OP_FLOORDIV},
    {"%", int_mod, float_mod, true, OP_FLOORMOD},
    {"**", int_pow, pow, false, OP_POW},
    {"<<", int_shl, NULL, false, OP_SHIFT_LEFT},
    {">>", int_shr, NULL, false, OP_SHIFT_RIGHT},
    {"&", int_and, NULL, false, OP_BITWISE_AND},
    {"|", int_or, NULL, false, OP_BITWISE_OR},
    {"^", int_xor, NULL, false, OP_BITWISE_XOR},
};

/* --- expressions ------------------------------------------------------------------------------ */

Value tirc_script_of_expr(Expr e) {
  if (e->op == OP_INT && e->dtype.code == TYPE_BOOL) return tirc_value_bool(e->u.i != 0);
  if (e->op == OP_INT) return tirc_value_int(e->u.i);
  if (e->op == OP_FLOAT) return tirc_value_float(e->u.f);
  if (e->op == OP_STRING) return tirc_value_str(e->u.s);
  if (e->op == OP_NONE) return VALUE_NONE;
  return tirc_value_expr(e);
}

Expr tirc_script_expr(Script *sc, Value v) {
  Tirc *c = sc->c;
  switch (v.kind) {
  case VAL_EXPR: return v.u.expr;
  case VAL_BOOL: return tirc_bool(c, v.u.b);
  case VAL_INT: return tirc_int(c, v.u.i == (int32_t)v.u.i ? DT_INT32 : DT_INT64, v.u.i);
  case VAL_FLOAT: return tirc_float(c, DT_FLOAT32, v.u.f);
  default:
    tirc_script_error(sc, "TypeError",
                      v.kind == VAL_LOOP ? "sch.get(loop).loop_var is its variable" : NULL,
                      "%s is not an expression", tirc_script_a_type(sc, v));
  }
}

static Expr like(Script *sc, Value v, Value other) {
  const bool follows = v.kind == VAL_FLOAT && other.kind == VAL_EXPR;
  if (follows && tirc_dtype_is_float(other.u.expr->dtype))
    return tirc_float(sc->c, tirc_dtype_lanes(other.u.expr->dtype, 1), v.u.f);
  return tirc_script_expr(sc, v);
}

void tirc_script_pair(Script *sc, Value a, Value b, Expr *x, Expr *y) {
  *x = like(sc, a, b);
  *y = like(sc, b, a);
}

/* Of integers, and of floats for **: nodes that nothing folds. */
static Value plain_node(Script *sc, const struct BinaryRow *row, Expr x, Expr y) {
  const DType t = tirc_common_type(x, y);
  if (!tirc_fits_rule(tirc_op_rule(row->ir), t))
    tirc_script_error(sc, "TypeError", NULL, "'%s' does not work on %s", row->op,
                      tirc_dtype_name(sc->c, t));
  Expr args[] = {tirc_cast(sc->c, t, x), tirc_cast(sc->c, t, y)};
  return tirc_value_expr(tirc_intrinsic(sc->c, row->ir, 2, args));
}

static Value binary_expr(Script *sc, const struct BinaryRow *row, Value a, Value b) {
  Expr x, y;
  tirc_script_pair(sc, a, b, &x, &y);
  if (tirc_ops[row->ir].class == OPCLASS_CALL) return plain_node(sc, row, x, y);
  if (row->ir == OP_DIV && tirc_dtype_is_int(x->dtype) && tirc_dtype_is_int(y->dtype))
    tirc_script_error(sc, "TypeError", "write // for the floor of the quotient",
                      "'/' of integer expressions is ambiguous");
  if (row->divides && tirc_is_int(y, 0)) check_divisor(sc, true);
  return tirc_value_expr(tirc_script_simple_extent(sc, tirc_binary(sc->c, row->ir, x, y)));
}

/* --- sequences -------------------------------------------------------------------------------- */

static bool is_sequence(Value v) {
  return v.kind == VAL_STR || v.kind == VAL_LIST || v.kind == VAL_TUPLE;
}

static Value concatenate(Script *sc, Value a, Value b) {
  if (a.kind == VAL_STR) {
    tirc_script_tick(sc, (int64_t)(strlen(a.u.s) + strlen(b.u.s)) / 64);
    return tirc_value_str(tirc_format(sc->c, "%s%s", a.u.s, b.u.s));
  }
  tirc_script_tick(sc, a.u.list->n + b.u.list->n);
  Value out = tirc_value_list(sc->c, a.kind, a.u.list->n, a.u.list->at);
  for (int i = 0; i < b.u.list->n; i++) tirc_value_append(sc->c, out, b.u.list->at[i]);
  return out;
}

static Value repeat(Script *sc, Value v, int64_t times) {
  size_t length = v.kind == VAL_STR ? strlen(v.u.s) : (size_t)v.u.list->n;
  size_t unit = v.kind == VAL_STR ? 1 : sizeof(Value), bytes;
  if (times < 0) times = 0;
  if (__builtin_mul_overflow(length, (size_t)times, &bytes) ||
      __builtin_mul_overflow(bytes, unit, &bytes) || bytes > INT32_MAX)
    tirc_script_limit(sc, NULL, "a repeated sequence is too long");
  tirc_script_tick(sc, (int64_t)(bytes / 32));
  Text text = {.c = sc->c};
  Value out = v.kind == VAL_STR ? VALUE_NONE : tirc_value_list(sc->c, v.kind, 0, NULL);
  if (v.kind == VAL_STR) tirc_text_add(&text, "");
  for (int64_t i = 0; i < times && length; i++)
    if (v.kind == VAL_STR)
      tirc_text_addn(&text, v.u.s, length);
    else
      for (size_t k = 0; k < length; k++) tirc_value_append(sc->c, out, v.u.list->at[k]);
  return v.kind == VAL_STR ? tirc_value_str(text.at) : out;
}

static _Noreturn void no_operation(Script *sc, const char *op, Value a, Value b) {
  bool text = (a.kind == VAL_STR || b.kind == VAL_STR) && *op == '+';
  bool percent = a.kind == VAL_STR && *op == '%';
  bool handle = a.kind == VAL_LOOP || b.kind == VAL_LOOP;
  tirc_script_error(sc, "TypeError",
                    text      ? "str(x) makes a string, and so does f\"{x}\""
                    : percent ? "write an f-string, f\"{x:>8.2f}\", or \"{}\".format(x)"
                    : handle  ? "sch.get(loop).extent is the loop's extent"
                              : NULL,
                    "'%s' does not work between %s and %s", op, tirc_script_a_type(sc, a),
                    tirc_script_a_type(sc, b));
}

static Value binary_sequence(Script *sc, const char *op, Value a, Value b) {
  int64_t times;
  if (*op == '+' && a.kind == b.kind && is_sequence(a)) return concatenate(sc, a, b);
  if (!strcmp(op, "*") && is_sequence(a) && tirc_script_int(b, &times)) return repeat(sc, a, times);
  if (!strcmp(op, "*") && is_sequence(b) && tirc_script_int(a, &times)) return repeat(sc, b, times);
  no_operation(sc, op, a, b);
}

Value tirc_script_binary(Script *sc, const char *op, Value a, Value b) {
  const struct BinaryRow *row = NULL;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (*rows[i].op == *op && !strcmp(rows[i].op, op)) row = &rows[i];
  if (!row || is_sequence(a) || is_sequence(b)) return binary_sequence(sc, op, a, b);
  if (a.kind == VAL_EXPR || b.kind == VAL_EXPR) return binary_expr(sc, row, a, b);
  int64_t i, k;
  double x, y;
  if (a.kind == VAL_BOOL && b.kind == VAL_BOOL && strchr("&|^", *op))
    return tirc_value_bool(row->ints(sc, a.u.b, b.u.b).u.i != 0);
  if (tirc_script_int(a, &i) && tirc_script_int(b, &k)) return row->ints(sc, i, k);
  if (!row->floats || !tirc_script_number(a, &x) || !tirc_script_number(b, &y))
    no_operation(sc, op, a, b);
  if (row->divides) check_divisor(sc, y == 0);
  if (!strcmp(op, "**") && x == 0) check_divisor(sc, y < 0);
  return tirc_value_float(row->floats(x, y));
}
