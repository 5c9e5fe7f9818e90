/* Values of the text itself: numbers and strings that Python would compute before TensorIR sees
 * them, and how they turn into IR constants. */
#include "reader.h"

#include <math.h>

bool tirc_py_is_number(PyValue v) {
  return v.kind == PY_BOOL || v.kind == PY_INT || v.kind == PY_FLOAT;
}

const char *tirc_py_digits(Reader *r, PyInt i) {
  enum { MOST = 40 };
  char at[MOST + 1] = {0}, *s = at + MOST;
  for (PyInt rest = i; rest || s == at + MOST; rest /= 10)
    *--s = (char)('0' + (rest < 0 ? -(int)(rest % 10) : (int)(rest % 10)));
  if (i < 0) *--s = '-';
  return tirc_strdup(r->c, s);
}

const char *tirc_py_describe(Reader *r, PyValue v) {
  switch (v.kind) {
  case PY_NONE: return "None";
  case PY_BOOL: return v.u.b ? "True" : "False";
  case PY_INT: return tirc_format(r->c, "the integer %s", tirc_py_digits(r, v.u.i));
  case PY_FLOAT: return tirc_format(r->c, "the float %g", v.u.f);
  case PY_STR: return "a string";
  case PY_TUPLE: return "a tuple";
  case PY_DICT: return "a dictionary";
  case PY_EXPR:
    return tirc_format(r->c, "an expression of type %s", tirc_dtype_name(r->c, v.u.e->dtype));
  case PY_BUFFER: return tirc_format(r->c, "the buffer %s", v.u.buffer->name);
  case PY_REGION: return tirc_format(r->c, "a region of %s", v.u.region.buffer->name);
  case PY_SCOPE: return "a statement";
  case PY_NODE: return "a tensor of the graph";
  case PY_NAMESPACE: return tirc_format(r->c, "the name %s", v.u.s);
  }
  return "this";
}

/* --- Python's arithmetic ---------------------------------------------------------------------- */

static PyInt as_int(PyValue v) { return v.kind == PY_BOOL ? v.u.b : v.u.i; }
static double as_float(PyValue v) { return v.kind == PY_FLOAT ? v.u.f : (double)as_int(v); }

static bool power(PyInt base, PyInt exponent, PyInt *out) {
  *out = 1;
  if (exponent > 64 && (base < -1 || base > 1)) return false;
  for (PyInt i = exponent > 64 ? 64 + exponent % 2 : exponent; i > 0; i--)
    if (__builtin_mul_overflow(*out, base, out)) return false;
  return true;
}

static PyInt floor_divide(PyInt a, PyInt b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/* False: no such operator on integers, or the result is far too large. */
static bool int_binary(const char *op, PyInt a, PyInt b, PyInt *out) {
  bool divides = strcmp(op, "//") == 0 || strcmp(op, "%") == 0;
  if (strcmp(op, "+") == 0) return !__builtin_add_overflow(a, b, out);
  if (strcmp(op, "-") == 0) return !__builtin_sub_overflow(a, b, out);
  if (strcmp(op, "*") == 0) return !__builtin_mul_overflow(a, b, out);
  if (divides && b == 0) return false;
  if (divides)
    *out = *op == '/' ? floor_divide(a, b) : a - floor_divide(a, b) * b;
  else if (strcmp(op, "**") == 0)
    return power(a, b, out);
  else if (strcmp(op, "&") == 0)
    *out = a & b;
  else if (strcmp(op, "|") == 0)
    *out = a | b;
  else if (strcmp(op, "^") == 0)
    *out = a ^ b;
  else if (strcmp(op, ">>") == 0 && b >= 0)
    *out = a >> (b > 64 ? 64 : (int)b);
  else if (strcmp(op, "<<") == 0 && b >= 0 && b <= 64)
    return !__builtin_mul_overflow(a, (PyInt)1 << (int)b, out);
  else
    return false;
  return true;
}

static bool float_binary(const char *op, double a, double b, double *out) {
  if (strcmp(op, "+") == 0)
    *out = a + b;
  else if (strcmp(op, "-") == 0)
    *out = a - b;
  else if (strcmp(op, "*") == 0)
    *out = a * b;
  else if (strcmp(op, "/") == 0)
    *out = a / b;
  else if (strcmp(op, "//") == 0)
    *out = floor(a / b);
  else if (strcmp(op, "%") == 0)
    *out = a - floor(a / b) * b;
  else if (strcmp(op, "**") == 0)
    *out = pow(a, b);
  else
    return false;
  return true;
}

PyValue tirc_py_binary(Reader *r, const Syn *at, const char *op, PyValue a, PyValue b) {
  bool division = strchr("/%", *op) != NULL;
  bool as_floats = a.kind == PY_FLOAT || b.kind == PY_FLOAT || strcmp(op, "/") == 0 ||
                   (strcmp(op, "**") == 0 && as_int(b) < 0);
  if (division && as_float(b) == 0) READ_FAIL(r, at, CODE_TYPE, NULL, "division by zero");
  PyInt i;
  double f;
  if (!as_floats && int_binary(op, as_int(a), as_int(b), &i) && i >= -PY_INT_MAX && i <= PY_INT_MAX)
    return tirc_py_int(i);
  if (as_floats && float_binary(op, as_float(a), as_float(b), &f))
    return (PyValue){.kind = PY_FLOAT, .u.f = f};
  if (as_floats) READ_FAIL(r, at, CODE_TYPE, NULL, "'%s' takes integers, not floats", op);
  READ_FAIL(r, at, CODE_TYPE, NULL, "the result of '%s' does not fit into 64 bits", op);
}

PyValue tirc_py_unary(Reader *r, const Syn *at, PyValue a) {
  if (strcmp(at->op, "not") == 0) return tirc_py_bool(!tirc_py_truth(a));
  if (strcmp(at->op, "-") == 0) {
    if (a.kind == PY_FLOAT) return (PyValue){.kind = PY_FLOAT, .u.f = -a.u.f};
    return tirc_py_binary(r, at, "-", tirc_py_int(0), a);
  }
  if (strcmp(at->op, "~") == 0 && a.kind != PY_FLOAT) return tirc_py_int(~as_int(a));
  if (strcmp(at->op, "+") == 0) return a.kind == PY_BOOL ? tirc_py_int(a.u.b) : a;
  READ_FAIL(r, at, CODE_TYPE, NULL, "'%s' takes an integer", at->op);
}

PyValue tirc_py_compare(Reader *r, const Syn *at, const char *op, PyValue a, PyValue b) {
  int order;
  if (a.kind == PY_STR && b.kind == PY_STR)
    order = strcmp(a.u.s, b.u.s);
  else if (!tirc_py_is_number(a) || !tirc_py_is_number(b))
    READ_FAIL(r, at, CODE_TYPE, NULL, "cannot compare %s with %s", tirc_py_describe(r, a),
              tirc_py_describe(r, b));
  else if (a.kind == PY_FLOAT || b.kind == PY_FLOAT)
    order = (as_float(a) > as_float(b)) - (as_float(a) < as_float(b));
  else
    order = (as_int(a) > as_int(b)) - (as_int(a) < as_int(b));
  static const struct {
    const char *op;
    int less, equal, greater;
  } table[] = {{"<", 1, 0, 0},  {"<=", 1, 1, 0}, {">", 0, 0, 1},  {">=", 0, 1, 1},
               {"==", 0, 1, 0}, {"!=", 1, 0, 1}, {"is", 0, 1, 0}, {"is not", 1, 0, 1}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (strcmp(op, table[i].op) == 0)
      return tirc_py_bool(order < 0   ? table[i].less
                          : order > 0 ? table[i].greater
                                      : table[i].equal);
  READ_FAIL(r, at, CODE_UNSUPPORTED, NULL, "'%s' is not part of the language of programs", op);
}

bool tirc_py_truth(PyValue v) {
  switch (v.kind) {
  case PY_NONE: return false;
  case PY_BOOL: return v.u.b;
  case PY_INT: return v.u.i != 0;
  case PY_FLOAT: return v.u.f != 0;
  case PY_STR: return *v.u.s;
  case PY_TUPLE:
  case PY_DICT: return v.u.list.n > 0;
  default: return true;
  }
}

/* --- as IR ------------------------------------------------------------------------------------ */

/* Of the first of int32, int64 and uint64 that holds it. */
static Expr int_constant(Reader *r, const Syn *at, PyInt v) {
  if (v < INT64_MIN || v > UINT64_MAX)
    READ_FAIL(r, at, CODE_TYPE, NULL, "%s does not fit into 64 bits", tirc_py_digits(r, v));
  if (v > INT64_MAX) return tirc_uint64(r->c, (uint64_t)v);
  return tirc_int(r->c, v >= INT32_MIN && v <= INT32_MAX ? DT_INT32 : DT_INT64, (int64_t)v);
}

/* B[a:b] in an expression: a vector. */
static Expr region_load(Reader *r, const Syn *at, Region region) {
  Expr indices[READER_MAX_DIMS];
  for (int i = 0; i < region.buffer->ndim; i++) {
    Range d = region.dims[i];
    int64_t lanes;
    if (!tirc_const_int(d.extent, &lanes) || lanes < 1 || lanes > UINT16_MAX)
      READ_FAIL(r, at, CODE_TYPE, "a vector has a constant length from 1 to 65535",
                "the slice of %s is not a vector", region.buffer->name);
    indices[i] =
        lanes == 1 ? d.min : tirc_ramp(r->c, d.min, tirc_int(r->c, d.min->dtype, 1), (int)lanes);
  }
  return tirc_load(r->c, region.buffer, region.buffer->ndim, indices);
}

Expr tirc_py_to_expr(Reader *r, const Syn *at, PyValue v) {
  switch (v.kind) {
  case PY_BOOL: return tirc_bool(r->c, v.u.b);
  case PY_INT: return int_constant(r, at, v.u.i);
  case PY_FLOAT: return tirc_float(r->c, DT_FLOAT32, v.u.f);
  case PY_STR: return tirc_string(r->c, v.u.s);
  case PY_EXPR: return v.u.e;
  case PY_BUFFER: return v.u.buffer->data;
  case PY_REGION: return region_load(r, at, v.u.region);
  default:
    READ_FAIL(r, at, CODE_TYPE, NULL, "expected an expression, not %s", tirc_py_describe(r, v));
  }
}

Expr tirc_py_to_expr_like(Reader *r, const Syn *at, PyValue v, DType t) {
  if (!tirc_py_is_number(v)) return tirc_py_to_expr(r, at, v);
  t = tirc_dtype_lanes(t, 1);
  if (v.kind == PY_FLOAT) return tirc_float(r->c, tirc_dtype_is_float(t) ? t : DT_FLOAT32, v.u.f);
  Expr e = tirc_py_to_expr(r, at, v);
  bool number = tirc_dtype_is_int(t) || tirc_dtype_is_float(t);
  if (v.kind == PY_BOOL || !number) return e;
  Expr same = tirc_cast(r->c, t, e);
  return same->op == OP_CAST ? e : same;
}

Expr tirc_py_to_attr(Reader *r, const Syn *at, PyValue v) {
  if (v.kind == PY_NONE) return tirc_expr(r->c, OP_NONE, DT_HANDLE, 0, NULL);
  if (v.kind != PY_TUPLE && v.kind != PY_DICT) return tirc_py_to_expr(r, at, v);
  Expr *items = tirc_new_array(r->c, Expr, v.u.list.n);
  for (int i = 0; i < v.u.list.n; i++) items[i] = tirc_py_to_attr(r, at, v.u.list.at[i]);
  return tirc_expr(r->c, v.kind == PY_DICT ? OP_DICT : OP_TUPLE, DT_HANDLE, v.u.list.n, items);
}
