/* Constant folding, and the operators as Python spells them: types of the two operands are unified,
 * constants folded, neutral elements dropped. Nothing here ever wraps: an operation whose result
 * does not fit its type stays as it is. */
#include <math.h>
#include <stdlib.h>

#include "int_op.h"
#include "op_rule.h"

static bool fits(DType t, int64_t v) { return v >= tirc_dtype_min(t) && v <= tirc_dtype_max(t); }

static double round_to(DType t, double v) {
  return t.code == TYPE_FLOAT && t.bits == 32 ? (double)(float)v : v;
}

/* A constant of an integer type or a bool. */
static bool is_whole(Expr e, int64_t *v) {
  *v = e->u.i;
  return e->op == OP_INT || e->op == OP_LARGE_UINT;
}

static bool fold_float(Op op, double a, double b, double *value, int64_t *truth) {
  *truth = -1;
  switch (op) {
  case OP_ADD: *value = a + b; return true;
  case OP_SUB: *value = a - b; return true;
  case OP_MUL: *value = a * b; return true;
  case OP_DIV:
    if (b == 0) return false;
    *value = a / b;
    return true;
  case OP_MIN: *value = a < b ? a : b; return !isnan(a) && !isnan(b);
  case OP_MAX: *value = a > b ? a : b; return !isnan(a) && !isnan(b);
  case OP_EQ: *truth = a == b; return true;
  case OP_NE: *truth = a != b; return true;
  case OP_LT: *truth = a < b; return true;
  case OP_LE: *truth = a <= b; return true;
  case OP_GT: *truth = a > b; return true;
  case OP_GE: *truth = a >= b; return true;
  default: return false;
  }
}

Expr tirc_fold(Tirc *c, Op op, DType t, int n, const Expr *args) {
  if (t.lanes != 1) return NULL;
  if (op == OP_NOT && args[0]->op == OP_INT) return tirc_bool(c, !args[0]->u.i);
  if ((op == OP_SELECT || op == OP_IF_THEN_ELSE) && args[0]->op == OP_INT)
    return args[0]->u.i ? args[1] : args[2];
  if (op == OP_CAST) {
    Expr e = tirc_cast(c, t, args[0]);
    return e->op == OP_CAST ? NULL : e;
  }
  if (n != 2) return NULL;
  Expr a = args[0], b = args[1];
  int64_t x, y, whole;
  if (is_whole(a, &x) && is_whole(b, &y)) {
    const bool alike = tirc_dtype_equal(a->dtype, b->dtype), shifts = op >= OP_SHIFT_LEFT;
    const DType of = alike ? a->dtype : DT_INT64;
    if (shifts || tirc_int_op(op, of, x, y, &whole) != INT_FITS) return NULL;
    return alike || fits(t, whole) ? tirc_int_of_bits(c, t, whole) : NULL;
  }
  if (a->op == OP_FLOAT && b->op == OP_FLOAT) {
    double v = 0;
    int64_t truth;
    /* 16-bit floats are left alone: their rounding is the run time's business. */
    if (a->dtype.bits == 16 || !fold_float(op, a->u.f, b->u.f, &v, &truth)) return NULL;
    return truth >= 0 ? tirc_bool(c, truth != 0) : tirc_float(c, t, round_to(t, v));
  }
  return NULL;
}

/* A LARGE_UINT in a type of one lane that holds it; NULL: none of the others does. */
static Expr cast_large(Tirc *c, DType t, uint64_t from) {
  const double v = round_to(t, (double)from);
  if (t.code == TYPE_BOOL) return tirc_bool(c, true);
  const bool exact = tirc_dtype_is_float(t) && t.bits != 16 && v < 0x1p64 && (uint64_t)v == from;
  return exact ? tirc_float(c, t, v) : NULL;
}

Expr tirc_cast(Tirc *c, DType t, Expr e) {
  if (tirc_dtype_equal(t, e->dtype)) return e;
  if (t.lanes != e->dtype.lanes) {
    if (e->dtype.lanes == 1)
      return tirc_broadcast(c, tirc_cast(c, tirc_dtype_lanes(t, 1), e), t.lanes);
    return tirc_expr(c, OP_CAST, t, 1, &e);
  }
  if (t.lanes == 1 && e->op == OP_INT) {
    if (tirc_dtype_is_float(t)) {
      double v = round_to(t, (double)e->u.i);
      if (t.bits != 16 && (int64_t)v == e->u.i) return tirc_float(c, t, v);
      if (t.bits == 16 && llabs(e->u.i) <= 256) return tirc_float(c, t, v);
    } else if (t.code == TYPE_BOOL) {
      return tirc_bool(c, e->u.i != 0);
    } else if (tirc_dtype_is_int(t) && fits(t, e->u.i)) {
      return tirc_int(c, t, e->u.i);
    }
  }
  if (t.lanes == 1 && e->op == OP_LARGE_UINT) {
    Expr same = cast_large(c, t, (uint64_t)e->u.i);
    if (same) return same;
  }
  if (t.lanes == 1 && e->op == OP_FLOAT && tirc_dtype_is_float(t) && t.bits >= e->dtype.bits &&
      e->dtype.bits != 16)
    return tirc_float(c, t, e->u.f);
  return tirc_expr(c, OP_CAST, t, 1, &e);
}

/* --- operators -------------------------------------------------------------------------------- */

/* A plain integer constant takes the integer type of the other operand when it fits there. */
static bool follows(Expr constant, DType other) {
  return constant->op == OP_INT && tirc_dtype_equal(constant->dtype, DT_INT32) &&
         tirc_dtype_is_int(other) && fits(other, constant->u.i);
}

DType tirc_common_type(Expr a, Expr b) {
  DType x = a->dtype, y = b->dtype;
  if (tirc_dtype_equal(x, y)) return x;
  int lanes = x.lanes > y.lanes ? x.lanes : y.lanes;
  DType best;
  if (follows(a, y))
    best = y;
  else if (follows(b, x))
    best = x;
  else if (tirc_dtype_is_float(x) != tirc_dtype_is_float(y))
    best = tirc_dtype_is_float(x) ? x : y;
  else if (x.code == TYPE_BOOL && y.code != TYPE_BOOL)
    best = y;
  else if (y.code == TYPE_BOOL && x.code != TYPE_BOOL)
    best = x;
  else if (x.bits != y.bits)
    best = x.bits > y.bits ? x : y;
  else if (x.code != y.code && x.code == TYPE_UINT)
    best = tirc_is_constant(b) ? x : y;
  else if (x.code != y.code && y.code == TYPE_UINT)
    best = tirc_is_constant(a) ? y : x;
  else
    best = x;
  return tirc_dtype_lanes(best, lanes);
}

static bool is_number(Expr e, int v) {
  return tirc_is_int(e, v) || (e->op == OP_FLOAT && e->u.f == v && !(v == 0 && signbit(e->u.f)));
}

/* x op neutral, and what absorbs, where all of x is a number (0 // n, n not 0); NULL when nothing
 * applies. Floats lose nothing: x*0 stays. */
static Expr drop_neutral(Tirc *c, Op op, Expr a, Expr b, DType t) {
  bool integer = !tirc_dtype_is_float(t);
  switch (op) {
  case OP_ADD: return is_number(b, 0) && integer ? a : is_number(a, 0) && integer ? b : NULL;
  case OP_SUB: return is_number(b, 0) ? a : NULL;
  case OP_MUL:
    if (is_number(b, 1)) return a;
    if (is_number(a, 1)) return b;
    return integer && is_number(b, 0) ? b : integer && is_number(a, 0) ? a : NULL;
  case OP_DIV: return is_number(b, 1) ? a : NULL;
  case OP_TRUNCDIV:
  case OP_FLOORDIV:
    if (is_number(b, 1)) return a;
    return is_number(a, 0) && !is_number(b, 0) ? a : NULL;
  case OP_TRUNCMOD:
  case OP_FLOORMOD:
    if (is_number(b, 1)) return tirc_int(c, t, 0);
    return is_number(a, 0) && !is_number(b, 0) ? a : NULL;
  case OP_MIN:
  case OP_MAX: return a == b ? a : NULL;
  case OP_AND:
    if (tirc_is_true(a)) return b;
    if (tirc_is_true(b)) return a;
    return tirc_is_int(a, 0) ? a : tirc_is_int(b, 0) ? b : NULL;
  case OP_OR:
    if (tirc_is_int(a, 0)) return b;
    if (tirc_is_int(b, 0)) return a;
    return tirc_is_true(a) ? a : tirc_is_true(b) ? b : NULL;
  default: return NULL;
  }
}

Expr tirc_binary(Tirc *c, Op op, Expr a, Expr b) {
  DType t = tirc_dtype_equal(a->dtype, b->dtype) ? a->dtype : tirc_common_type(a, b);
  bool compares = tirc_compares(op), logical = op == OP_AND || op == OP_OR;
  if (logical) t = tirc_dtype_lanes(DT_BOOL, t.lanes);
  a = tirc_cast(c, t, a);
  b = tirc_cast(c, t, b);
  if (op == OP_DIV && !tirc_dtype_is_float(t)) op = OP_TRUNCDIV;
  DType result = compares ? tirc_dtype_lanes(DT_BOOL, t.lanes) : t;
  Expr args[2] = {a, b};
  Expr folded = tirc_fold(c, op, result, 2, args);
  if (!folded && t.lanes == 1) folded = drop_neutral(c, op, a, b, t);
  return folded ? folded : tirc_expr(c, op, result, 2, args);
}

Expr tirc_not(Tirc *c, Expr e) {
  DType t = tirc_dtype_lanes(DT_BOOL, e->dtype.lanes);
  Expr folded = tirc_fold(c, OP_NOT, t, 1, &e);
  return folded ? folded : tirc_expr(c, OP_NOT, t, 1, &e);
}
