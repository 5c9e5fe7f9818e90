/* The intrinsics on floats. Each is computed in double and rounded once to the dtype, which for
 * float32 and narrower is the correctly rounded result or next to it. */
#define _GNU_SOURCE
#include "code.h"

#include "ir/tree/int_op.h"
#include "ir/tree/print.h"

#include <math.h>

/* UNARY(op, value of x), BINARY(op, value of x and y) */
#define FUNCTIONS(UNARY, BINARY)                                                                   \
  UNARY(EXP, exp(x))                                                                               \
  UNARY(EXP2, exp2(x))                                                                             \
  UNARY(EXP10, pow(10, x))                                                                         \
  UNARY(LOG, log(x))                                                                               \
  UNARY(LOG2, log2(x))                                                                             \
  UNARY(LOG10, log10(x))                                                                           \
  UNARY(LOG1P, log1p(x))                                                                           \
  UNARY(SQRT, sqrt(x))                                                                             \
  UNARY(RSQRT, 1 / sqrt(x))                                                                        \
  UNARY(SIN, sin(x))                                                                               \
  UNARY(COS, cos(x))                                                                               \
  UNARY(TAN, tan(x))                                                                               \
  UNARY(ASIN, asin(x))                                                                             \
  UNARY(ACOS, acos(x))                                                                             \
  UNARY(ATAN, atan(x))                                                                             \
  UNARY(SINH, sinh(x))                                                                             \
  UNARY(COSH, cosh(x))                                                                             \
  UNARY(TANH, tanh(x))                                                                             \
  UNARY(SIGMOID, 1 / (1 + exp(-x)))                                                                \
  UNARY(ERF, erf(x))                                                                               \
  UNARY(FLOOR, floor(x))                                                                           \
  UNARY(CEIL, ceil(x))                                                                             \
  UNARY(TRUNC, trunc(x))                                                                           \
  UNARY(ROUND, round(x))                                                                           \
  UNARY(NEARBYINT, nearbyint(x))                                                                   \
  UNARY(ABS, fabs(x))                                                                              \
  UNARY(ASINH, asinh(x))                                                                           \
  UNARY(ACOSH, acosh(x))                                                                           \
  UNARY(ATANH, atanh(x))                                                                           \
  BINARY(HYPOT, hypot(x, y))                                                                       \
  BINARY(ATAN2, atan2(x, y))                                                                       \
  BINARY(POW, pow(x, y))                                                                           \
  BINARY(FMOD, fmod(x, y))                                                                         \
  BINARY(COPYSIGN, copysign(x, y))

#define DEFINE_UNARY(NAME, value)                                                                  \
  static double eval_##NAME(Run *run, const Node *n) {                                             \
    double x = get_f(run, n->a);                                                                   \
    return tirc_round_float(n->dtype, value);                                                      \
  }
#define DEFINE_BINARY(NAME, value)                                                                 \
  static double eval_##NAME(Run *run, const Node *n) {                                             \
    double x = get_f(run, n->a), y = get_f(run, n->b);                                             \
    return tirc_round_float(n->dtype, value);                                                      \
  }
FUNCTIONS(DEFINE_UNARY, DEFINE_BINARY)

/* A double product and sum would be rounded twice for float32. */
static double eval_FMA(Run *run, const Node *n) {
  double x = get_f(run, n->a), y = get_f(run, n->b), z = get_f(run, n->c);
  if (n->dtype.bits == 32) return (double)fmaf((float)x, (float)y, (float)z);
  return tirc_round_float(n->dtype, fma(x, y, z));
}
static int64_t eval_ISNAN(Run *run, const Node *n) { return isnan(get_f(run, n->a)) != 0; }
static int64_t eval_ISINF(Run *run, const Node *n) { return isinf(get_f(run, n->a)) != 0; }
static int64_t eval_ISFINITE(Run *run, const Node *n) { return isfinite(get_f(run, n->a)) != 0; }
static double eval_LDEXP(Run *run, const Node *n) {
  double x = get_f(run, n->a);
  return tirc_round_float(n->dtype, ldexp(x, (int)get_i(run, n->b)));
}
/* The next value of a 16-bit type, by its bits. */
static double next_half(DType t, double x, double y) {
  bool is_bfloat = t.code == TYPE_BFLOAT;
  if (isnan(x) || isnan(y) || x == y) return x == y ? y : x + y;
  uint16_t bits = x == 0      ? y < 0 ? 0x8000 : 0
                  : is_bfloat ? tirc_double_to_bfloat(x)
                              : tirc_double_to_half(x);
  bits = (uint16_t)(x == 0 || (x < y) == (x > 0) ? bits + 1 : bits - 1);
  return is_bfloat ? tirc_bfloat_to_double(bits) : tirc_half_to_double(bits);
}
static double eval_NEXTAFTER(Run *run, const Node *n) {
  const DType t = n->expr->dtype; /* also where the run is in double: the next one is another */
  double x = get_f(run, n->a), y = get_f(run, n->b);
  if (t.bits == 16) return next_half(t, x, y);
  return t.bits == 32 ? (double)nextafterf((float)x, (float)y) : nextafter(x, y);
}
static int64_t eval_abs_int(Run *run, const Node *n) {
  int64_t r;
  if (tirc_int_op(OP_ABS, n->dtype, get_i(run, n->a), 0, &r) == INT_OVERFLOWS)
    tirc_run_fail(run, CODE_OVERFLOW, "use a wider integer type", "%s overflows",
                  tirc_run_text(run, n->expr));
  return r;
}

static double (*const functions[OP_COUNT])(Run *, const Node *) = {
#define ROW(NAME, value) [OP_##NAME] = eval_##NAME,
    FUNCTIONS(ROW, ROW)[OP_FMA] = eval_FMA,
    [OP_LDEXP] = eval_LDEXP,
    [OP_NEXTAFTER] = eval_NEXTAFTER,
};
static int64_t (*const tests[OP_COUNT])(Run *, const Node *) = {
    [OP_ISNAN] = eval_ISNAN,
    [OP_ISINF] = eval_ISINF,
    [OP_ISFINITE] = eval_ISFINITE,
};

/* --- fixed point ------------------------------------------------------------------------------ */

/* x y / 2^by, rounded half up. */
static int64_t fixed_product(DType t, int64_t x, int64_t y, int64_t by) {
  __int128 product = (__int128)x * y;
  if (by > 64) return 0;
  if (by > 0) return tirc_wrap_int(t, (int64_t)((product + ((__int128)1 << (by - 1))) >> by));
  return by > -32 ? tirc_wrap_int(t, (int64_t)(product * ((int64_t)1 << -by))) : 0;
}
static int64_t eval_q(Run *run, const Node *n) {
  enum { X, Y, Q, S };
  const Node *const *args = n->u.args;
  const int64_t x = get_i(run, args[X]), y = get_i(run, args[Y]);
  return fixed_product(n->dtype, x, y, get_i(run, args[Q]) - get_i(run, args[S]));
}
static int64_t eval_q_per_axis(Run *run, const Node *n) {
  enum { X, Y, LEFT, RIGHT, Q, SHIFTS_LEFT };
  const Node *const *args = n->u.args;
  const int64_t x = get_i(run, args[X]), y = get_i(run, args[Y]);
  const int64_t left = get_i(run, args[SHIFTS_LEFT]) ? get_i(run, args[LEFT]) : 0;
  return fixed_product(n->dtype, x, y, get_i(run, args[Q]) + get_i(run, args[RIGHT]) - left);
}
void tirc_compile_q(Compiler *k, Node *n) {
  n->u.args = tirc_compile_exprs(k, n->expr->n, n->expr->args);
  n->eval.i = n->expr->op == OP_Q_MULTIPLY_SHIFT ? eval_q : eval_q_per_axis;
}

bool tirc_compile_math(Compiler *k, Node *n) {
  (void)k;
  Op op = n->expr->op;
  if (op == OP_ABS && tirc_dtype_is_int(n->dtype)) {
    n->eval.i = eval_abs_int;
    return true;
  }
  for (int i = 0; i < (op == OP_LDEXP ? 1 : n->expr->n); i++)
    if (!tirc_dtype_is_float(n->expr->args[i]->dtype)) return false;
  if (tests[op]) {
    n->eval.i = tests[op];
    return true;
  }
  n->eval.f = functions[op];
  return n->eval.f && tirc_dtype_is_float(n->dtype);
}

/* --- T.call_extern ---------------------------------------------------------------------------- */

/* Functions of libm, by their double names; a call of the float32 form has an "f" behind it. */
static const struct {
  const char *name;
  double (*f1)(double);
  double (*f2)(double, double);
  FunctionRow row;
} libm[] = {
    {"acos", acos, NULL, {CURVE_FALLING, 4}},
    {"acosh", acosh, NULL, {CURVE_RISING, 4}},
    {"asin", asin, NULL, {CURVE_RISING, 4}},
    {"asinh", asinh, NULL, {CURVE_RISING, 4}},
    {"atan", atan, NULL, {CURVE_RISING, 4}},
    {"atanh", atanh, NULL, {CURVE_RISING, 4}},
    {"cbrt", cbrt, NULL, {CURVE_RISING, 4}},
    {"ceil", ceil, NULL, {CURVE_RISING, 0}},
    {"cos", cos, NULL, {CURVE_WAVE, 4}},
    {"cosh", cosh, NULL, {CURVE_EVEN, 4}},
    {"erf", erf, NULL, {CURVE_RISING, 4}},
    {"erfc", erfc, NULL, {CURVE_FALLING, 8}},
    {"exp", exp, NULL, {CURVE_RISING, 4}},
    {"exp2", exp2, NULL, {CURVE_RISING, 4}},
    {"expm1", expm1, NULL, {CURVE_RISING, 4}},
    {"fabs", fabs, NULL, {CURVE_EVEN, 0}},
    {"floor", floor, NULL, {CURVE_RISING, 0}},
    {"lgamma", lgamma, NULL, {CURVE_NONE, 16}},
    {"log", log, NULL, {CURVE_RISING, 4}},
    {"log10", log10, NULL, {CURVE_RISING, 4}},
    {"log1p", log1p, NULL, {CURVE_RISING, 4}},
    {"log2", log2, NULL, {CURVE_RISING, 4}},
    {"rint", rint, NULL, {CURVE_RISING, 0}},
    {"round", round, NULL, {CURVE_RISING, 0}},
    {"nearbyint", nearbyint, NULL, {CURVE_RISING, 0}},
    {"sin", sin, NULL, {CURVE_WAVE, 4}},
    {"sinh", sinh, NULL, {CURVE_RISING, 4}},
    {"sqrt", sqrt, NULL, {CURVE_RISING, 0}},
    {"tan", tan, NULL, {CURVE_TANGENT, 4}},
    {"tanh", tanh, NULL, {CURVE_RISING, 4}},
    {"tgamma", tgamma, NULL, {CURVE_NONE, 16}},
    {"trunc", trunc, NULL, {CURVE_RISING, 0}},
    {"atan2", NULL, atan2, {CURVE_ANGLE, 4}},
    {"copysign", NULL, copysign, {CURVE_SIGN, 0}},
    {"fdim", NULL, fdim, {CURVE_CORNERS, 1}},
    {"fmax", NULL, fmax, {CURVE_CORNERS, 0}},
    {"fmin", NULL, fmin, {CURVE_CORNERS, 0}},
    {"fmod", NULL, fmod, {CURVE_REST, 0}},
    {"hypot", NULL, hypot, {CURVE_CORNERS, 4}},
    {"pow", NULL, pow, {CURVE_POWER, 4}},
    {"remainder", NULL, remainder, {CURVE_REST, 0}},
};

static double eval_extern1(Run *run, const Node *n) {
  return tirc_round_float(n->dtype, n->u.math.f1(get_f(run, n->a)));
}
static double eval_extern2(Run *run, const Node *n) {
  double x = get_f(run, n->a);
  return tirc_round_float(n->dtype, n->u.math.f2(x, get_f(run, n->b)));
}

static bool find_libm(const char *name, DType t, Node *n) {
  size_t length = strlen(name);
  for (size_t i = 0; i < sizeof libm / sizeof *libm; i++) {
    size_t base = strlen(libm[i].name);
    bool same = strncmp(name, libm[i].name, base) == 0 &&
                (length == base || (length == base + 1 && name[base] == 'f' && t.bits == 32));
    if (!same) continue;
    n->u.math.f1 = libm[i].f1;
    n->u.math.f2 = libm[i].f2;
    n->function = libm[i].row;
    return true;
  }
  return false;
}

void tirc_compile_extern(Compiler *k, Node *n) {
  Expr e = n->expr;
  if (tirc_compile_intrinsic(k, n)) return;
  if (tirc_calls(e, CALL_OPAQUE_ZERO) && tirc_dtype_is_int(n->dtype)) {
    n->u.constant.i = 0;
    n->cell = &n->u.constant;
    return;
  }
  if (tirc_calls(e, CALL_CLOCK)) { /* a program means the same at any time */
    n->u.constant.i = 0;
    n->cell = &n->u.constant;
    return;
  }
  if (tirc_calls(e, CALL_AMX_PERMITTED)) { /* loops need no permission */
    n->u.constant.i = 1;
    n->cell = &n->u.constant;
    return;
  }
  if (!tirc_is_extern(e))
    tirc_fail(k->t, k->loc, CODE_UNSUPPORTED, "lower or replace the call first",
              "the reference interpreter does not know the intrinsic T.%s", tirc_called(e));
  /* T.call_extern(dtype, name, operands...): the dtype may stand in the arguments, too. */
  const int first = e->n > 1 && e->args[0]->op == OP_STRING && e->args[1]->op == OP_STRING ? 2 : 1;
  const char *name = e->n >= first ? e->args[first - 1]->u.s : "";
  bool floats = tirc_dtype_is_float(n->dtype);
  for (int i = first; i < e->n; i++) floats = floats && tirc_dtype_is_float(e->args[i]->dtype);
  bool known = floats && find_libm(name, e->dtype, n) && e->n - first == (n->u.math.f2 ? 2 : 1);
  if (!known)
    tirc_fail(k->t, k->loc, CODE_UNSUPPORTED, "only libm's functions of floats can be called",
              "the reference interpreter cannot call the external function \"%s\"", name);
  n->a = tirc_compile_expr(k, e->args[first]);
  if (n->u.math.f2) n->b = tirc_compile_expr(k, e->args[first + 1]);
  n->eval.f = n->u.math.f2 ? eval_extern2 : eval_extern1;
}
