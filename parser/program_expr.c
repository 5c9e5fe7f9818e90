/* Expressions: a table of node kinds, each with the function that gives its value. Operators on
 * numbers of the text are computed here; all others build IR. */
#include "reader.h"

Expr tirc_read_expr(Reader *r, const Syn *s) {
  return tirc_py_to_expr(r, s, tirc_read_value(r, s));
}

/* --- types ------------------------------------------------------------------------------------ */

static bool is_number(DType t) {
  return tirc_dtype_is_int(t) || tirc_dtype_is_float(t) || t.code == TYPE_BOOL;
}

static void expect_number(Reader *r, const Syn *at, Expr e, const char *what) {
  if (!is_number(e->dtype))
    READ_FAIL(r, at, CODE_TYPE,
              e->dtype.code == TYPE_HANDLE && e->op == OP_VAR
                  ? "index a buffer to get at its elements"
                  : NULL,
              "%s must be a number, not %s", what,
              e->op == OP_STRING ? "a string" : tirc_dtype_name(r->c, e->dtype));
}

Expr tirc_read_number(Reader *r, const Syn *s, const char *what) {
  Expr e = tirc_read_expr(r, s);
  expect_number(r, s, e, what);
  return e;
}

Expr tirc_read_int(Reader *r, const Syn *s, const char *what) {
  PyValue v = tirc_read_value(r, s);
  Expr e = tirc_py_to_expr(r, s, v);
  if (v.kind == PY_BOOL || !tirc_dtype_is_int(e->dtype))
    READ_FAIL(r, s, CODE_TYPE,
              tirc_dtype_is_float(e->dtype) ? "use // instead of /, or T.Cast" : NULL,
              "%s must be an integer, not %s", what, tirc_py_describe(r, v));
  return e;
}

static Expr as_condition(Reader *r, const Syn *s, Expr e) {
  expect_number(r, s, e, "a condition");
  if (e->dtype.code == TYPE_BOOL) return e;
  if (tirc_dtype_is_float(e->dtype))
    READ_FAIL(r, s, CODE_TYPE, "compare it: x != 0", "a condition must be of type bool, not %s",
              tirc_dtype_name(r->c, e->dtype));
  return tirc_cast(r->c, tirc_dtype_lanes(DT_BOOL, e->dtype.lanes), e);
}

Expr tirc_read_condition(Reader *r, const Syn *s) {
  return as_condition(r, s, tirc_read_expr(r, s));
}

int64_t tirc_read_const_int(Reader *r, const Syn *s, const char *what, int64_t min, int64_t max) {
  PyValue v = tirc_read_value(r, s);
  int64_t known = 0;
  bool constant = v.kind == PY_INT || (v.kind == PY_EXPR && tirc_const_int(v.u.e, &known));
  if (!constant)
    READ_FAIL(r, s, CODE_TYPE, NULL, "%s must be a constant integer, not %s", what,
              tirc_py_describe(r, v));
  const PyInt i = v.kind == PY_INT ? v.u.i : known;
  if (i < min || i > max)
    READ_FAIL(r, s, CODE_TYPE, NULL, "%s must be from %lld to %lld, not %s", what, (long long)min,
              (long long)max, tirc_py_digits(r, i));
  return (int64_t)i;
}

const char *tirc_read_string(Reader *r, const Syn *s, const char *what) {
  PyValue v = tirc_read_value(r, s);
  if (v.kind == PY_EXPR && v.u.e->op == OP_STRING) return v.u.e->u.s;
  if (v.kind != PY_STR)
    READ_FAIL(r, s, CODE_TYPE, NULL, "%s must be a string, not %s", what, tirc_py_describe(r, v));
  return v.u.s;
}

DType tirc_read_dtype(Reader *r, const Syn *s) {
  static const char hint[] = "types are bool, int8 to int64, uint8 to uint64, float16, bfloat16, "
                             "float32, float64 and handle";
  const char *path = tirc_names_path(r, s), *name;
  DType t;
  if (path && strncmp(path, "T.", 2) == 0)
    name = path + 2;
  else
    name = tirc_read_string(r, s, "a data type");
  if (!tirc_dtype_parse(name, &t)) {
    const char *meant = path ? tirc_function_suggest(r, name, false) : NULL;
    READ_FAIL(r, s, CODE_TYPE, meant ? meant : hint, "'%s' is not a data type", name);
  }
  return t;
}

enum { MAX_ATTRS = 1000 };

Attrs tirc_read_attrs(Reader *r, const Syn *s) {
  PyValue v = tirc_read_value(r, s);
  if (v.kind == PY_NONE) return (Attrs){0};
  if (v.kind != PY_DICT)
    READ_FAIL(r, s, CODE_TYPE, "write {\"key\": value}", "expected a dictionary, not %s",
              tirc_py_describe(r, v));
  Attrs a = {0};
  if (v.u.list.n > 2 * MAX_ATTRS)
    READ_FAIL(r, s, CODE_UNSUPPORTED, NULL, "more than %d attributes", MAX_ATTRS);
  for (int i = 0; i + 1 < v.u.list.n; i += 2) {
    PyValue key = v.u.list.at[i];
    if (key.kind != PY_STR)
      READ_FAIL(r, s, CODE_TYPE, NULL, "the keys of attributes must be strings");
    a = tirc_attrs_set(r->c, a, key.u.s, tirc_py_to_attr(r, s, v.u.list.at[i + 1]));
  }
  return a;
}

/* --- two operands ----------------------------------------------------------------------------- */

void tirc_match_types(Reader *r, const Syn *at, Expr *a, Expr *b) {
  int x = (*a)->dtype.lanes, y = (*b)->dtype.lanes;
  expect_number(r, at, *a, "an operand");
  expect_number(r, at, *b, "an operand");
  if (x != y && x != 1 && y != 1)
    READ_FAIL(r, at, CODE_TYPE, NULL, "vectors of %d and %d elements cannot be combined", x, y);
  if (tirc_dtype_equal((*a)->dtype, (*b)->dtype)) return;
  /* The sum of two variables says which type both get. */
  Expr u = tirc_var(r->c, "", (*a)->dtype), v = tirc_var(r->c, "", (*b)->dtype);
  bool a_constant = (*a)->op == OP_INT, b_constant = (*b)->op == OP_INT;
  DType t = tirc_binary(r->c, OP_ADD, a_constant ? *a : u, b_constant ? *b : v)->dtype;
  *a = tirc_cast(r->c, t, *a);
  *b = tirc_cast(r->c, t, *b);
}

/* Numbers of the text take the type of the other side. */
static void to_exprs(Reader *r, const Syn *x, const Syn *y, PyValue p, PyValue q, Expr *a,
                     Expr *b) {
  if (tirc_py_is_number(p) && q.kind == PY_EXPR) {
    *b = q.u.e;
    *a = tirc_py_to_expr_like(r, x, p, (*b)->dtype);
  } else {
    *a = tirc_py_to_expr(r, x, p);
    *b = tirc_py_to_expr_like(r, y, q, (*a)->dtype);
  }
}

void tirc_read_both(Reader *r, const Syn *x, const Syn *y, Expr *a, Expr *b) {
  PyValue p = tirc_read_value(r, x);
  PyValue q = tirc_read_value(r, y);
  to_exprs(r, x, y, p, q, a, b);
}

static const struct {
  const char *text;
  Op op;
} operators[] = {
    {"+", OP_ADD},        {"-", OP_SUB},         {"*", OP_MUL},         {"/", OP_DIV},
    {"//", OP_FLOORDIV},  {"%", OP_FLOORMOD},    {"<", OP_LT},          {"<=", OP_LE},
    {">", OP_GT},         {">=", OP_GE},         {"==", OP_EQ},         {"!=", OP_NE},
    {"and", OP_AND},      {"or", OP_OR},         {"**", OP_POW},        {"&", OP_BITWISE_AND},
    {"|", OP_BITWISE_OR}, {"^", OP_BITWISE_XOR}, {"<<", OP_SHIFT_LEFT}, {">>", OP_SHIFT_RIGHT}};

static Op find_operator(Reader *r, const Syn *at, const char *text) {
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
    if (strcmp(operators[i].text, text) == 0) return operators[i].op;
  READ_FAIL(r, at, CODE_UNSUPPORTED, NULL, "'%s' is not part of the language of programs", text);
}

Expr tirc_reader_binary(Reader *r, const Syn *at, const char *text, Expr a, Expr b) {
  Op op = find_operator(r, at, text);
  expect_number(r, at, a, tirc_format(r->c, "the left side of '%s'", text));
  expect_number(r, at, b, tirc_format(r->c, "the right side of '%s'", text));
  bool bitwise = op >= OP_BITWISE_AND && op <= OP_SHIFT_RIGHT;
  tirc_match_types(r, at, &a, &b);
  bool floats = tirc_dtype_is_float(a->dtype);
  bool logical = op == OP_AND || op == OP_OR;
  if (floats && (bitwise || logical || op == OP_FLOORDIV || op == OP_FLOORMOD))
    READ_FAIL(r, at, CODE_TYPE,
              op == OP_FLOORDIV   ? "T.floor(x / y)"
              : op == OP_FLOORMOD ? "T.fmod(x, y)"
                                  : NULL,
              "'%s' takes integers, not %s", text, tirc_dtype_name(r->c, a->dtype));
  if (op == OP_POW && !floats)
    READ_FAIL(r, at, CODE_TYPE, "cast the operands to a float type", "'**' takes floats, not %s",
              tirc_dtype_name(r->c, a->dtype));
  if ((op == OP_FLOORDIV || op == OP_FLOORMOD || op == OP_DIV) && !floats && tirc_is_int(b, 0))
    READ_FAIL(r, at, CODE_TYPE, NULL, "division by zero");
  if (bitwise || op == OP_POW) return tirc_expr(r->c, op, a->dtype, 2, (Expr[]){a, b});
  return tirc_binary(r->c, op, a, b);
}

static PyValue read_binary(Reader *r, const Syn *s) {
  PyValue p = tirc_read_value(r, s->a), q = tirc_read_value(r, s->b);
  if (tirc_py_is_number(p) && tirc_py_is_number(q)) return tirc_py_binary(r, s, s->op, p, q);
  if (p.kind == PY_STR && q.kind == PY_STR && strcmp(s->op, "+") == 0)
    return (PyValue){.kind = PY_STR, .u.s = tirc_format(r->c, "%s%s", p.u.s, q.u.s)};
  Expr a, b;
  if (p.kind == PY_BUFFER || q.kind == PY_BUFFER)
    READ_FAIL(r, p.kind == PY_BUFFER ? s->a : s->b, CODE_TYPE, "index it: B[i, j]",
              "'%s' takes numbers, not %s", s->op,
              tirc_py_describe(r, p.kind == PY_BUFFER ? p : q));
  to_exprs(r, s->a, s->b, p, q, &a, &b);
  return tirc_py_expr(tirc_reader_binary(r, s, s->op, a, b));
}

/* In x < y < z the comparisons share y, which is read once: the right one finds the value that the
 * left one has just had. */
static PyValue read_compare(Reader *r, const Syn *s) {
  bool shared = s->i == 1 && r->last_operand == s->a;
  PyValue p = shared ? r->last_value : tirc_read_value(r, s->a), q = tirc_read_value(r, s->b);
  r->last_operand = s->b;
  r->last_value = q;
  bool constants =
      p.kind != PY_EXPR && p.kind != PY_REGION && q.kind != PY_EXPR && q.kind != PY_REGION;
  if (constants) return tirc_py_compare(r, s, s->op, p, q);
  Expr a, b;
  to_exprs(r, s->a, s->b, p, q, &a, &b);
  return tirc_py_expr(tirc_reader_binary(r, s, s->op, a, b));
}

/* and / or; a chain of comparisons is one too. Between numbers of the text they choose, as in
 * Python. */
static PyValue read_bool(Reader *r, const Syn *s) {
  PyValue p = tirc_read_value(r, s->a);
  bool is_and = strcmp(s->op, "and") == 0;
  if (p.kind != PY_EXPR && p.kind != PY_REGION) {
    if (tirc_py_truth(p) != is_and) return p;
    return tirc_read_value(r, s->b);
  }
  Expr a = as_condition(r, s->a, tirc_py_to_expr(r, s->a, p));
  Expr b = tirc_read_condition(r, s->b);
  return tirc_py_expr(tirc_reader_binary(r, s, s->op, a, b));
}

static PyValue read_unary(Reader *r, const Syn *s) {
  PyValue v = tirc_read_value(r, s->a);
  if (tirc_py_is_number(v)) return tirc_py_unary(r, s, v);
  Tirc *c = r->c;
  Expr e = tirc_py_to_expr(r, s->a, v);
  expect_number(r, s->a, e, tirc_format(c, "the operand of '%s'", s->op));
  if (strcmp(s->op, "not") == 0) return tirc_py_expr(tirc_not(c, as_condition(r, s->a, e)));
  if (strcmp(s->op, "+") == 0) return tirc_py_expr(e);
  if (strcmp(s->op, "-") == 0) {
    Expr minus = tirc_py_to_expr_like(r, s, tirc_py_int(-1), e->dtype);
    return tirc_py_expr(tirc_binary(c, OP_MUL, e, minus));
  }
  if (tirc_dtype_is_float(e->dtype))
    READ_FAIL(r, s, CODE_TYPE, NULL, "'~' takes an integer, not %s", tirc_dtype_name(c, e->dtype));
  return tirc_py_expr(tirc_expr(c, OP_BITWISE_NOT, e->dtype, 1, &e));
}

/* a if c else b: chosen now when c is known now, as Python would. */
static PyValue read_conditional(Reader *r, const Syn *s) {
  PyValue cond = tirc_read_value(r, s->b);
  if (cond.kind != PY_EXPR) return tirc_read_value(r, tirc_py_truth(cond) ? s->a : s->c);
  READ_FAIL(r, s, CODE_TYPE, "write T.if_then_else(condition, a, b)",
            "'a if c else b' needs a condition that is a constant");
}

/* --- the others ------------------------------------------------------------------------------- */

static PyValue read_name(Reader *r, const Syn *s) {
  const PyValue *v = tirc_names_find(r, s->s);
  if (!v) READ_FAIL(r, s, CODE_NAME, tirc_names_suggest(r, s->s), "'%s' is not defined", s->s);
  return *v;
}

static PyValue read_list(Reader *r, const Syn *s) {
  PyValue v = {.kind = s->kind == SYN_DICT ? PY_DICT : PY_TUPLE};
  v.u.list.n = s->kids.n;
  v.u.list.at = tirc_new_array(r->c, PyValue, s->kids.n);
  for (int i = 0; i < s->kids.n; i++) v.u.list.at[i] = tirc_read_value(r, s->kids.at[i]);
  return v;
}

static PyValue read_constant(Reader *r, const Syn *s) {
  (void)r;
  switch (s->kind) {
  case SYN_INT: return tirc_py_int(tirc_syn_is_large(s) ? (PyInt)(uint64_t)s->i : s->i);
  case SYN_FLOAT: return (PyValue){.kind = PY_FLOAT, .u.f = s->f};
  case SYN_STRING: return (PyValue){.kind = PY_STR, .u.s = s->s};
  case SYN_TRUE:
  case SYN_FALSE: return tirc_py_bool(s->kind == SYN_TRUE);
  default: return PY_VALUE_NONE;
  }
}

static PyValue read_attribute(Reader *r, const Syn *s) {
  const char *path = tirc_names_path(r, s);
  if (path) return (PyValue){.kind = PY_NAMESPACE, .u.s = path};
  PyValue v = tirc_read_value(r, s->a);
  if (v.kind == PY_BUFFER) return tirc_buffer_attribute(r, s, v.u.buffer);
  if (v.kind == PY_EXPR && strcmp(s->s, "dtype") == 0)
    return (PyValue){.kind = PY_STR, .u.s = tirc_dtype_name(r->c, v.u.e->dtype)};
  READ_FAIL(r, s, CODE_NAME, NULL, "%s has no attribute '%s'", tirc_py_describe(r, v), s->s);
}

static PyValue read_method(Reader *r, const Syn *s) {
  const Syn *callee = s->a;
  PyValue self = tirc_read_value(r, callee->a);
  if (self.kind == PY_BUFFER) return tirc_buffer_method(r, s, self.u.buffer, callee->s);
  if (strcmp(callee->s, "astype") == 0) {
    Call call;
    tirc_bind_call(r, s, "astype", "dtype", &call);
    Expr e = tirc_py_to_expr(r, callee->a, self);
    expect_number(r, callee->a, e, "what is cast");
    DType t = tirc_read_dtype(r, call.args[0]);
    return tirc_py_expr(tirc_cast(r->c, tirc_dtype_lanes(t, e->dtype.lanes), e));
  }
  READ_FAIL(r, callee, CODE_NAME, NULL, "%s has no method '%s'", tirc_py_describe(r, self),
            callee->s);
}

/* Python's own functions, as far as they make sense on extents and shapes. */
static PyValue read_builtin(Reader *r, const Syn *s) {
  const char *name = s->a->s;
  bool is_min = strcmp(name, "min") == 0;
  if ((is_min || strcmp(name, "max") == 0) && s->kids.n == 2) {
    PyValue a = tirc_read_value(r, s->kids.at[0]), b = tirc_read_value(r, s->kids.at[1]);
    if (tirc_py_is_number(a) && tirc_py_is_number(b))
      return tirc_py_truth(tirc_py_compare(r, s, is_min ? "<=" : ">=", a, b)) ? a : b;
    Expr x, y;
    to_exprs(r, s->kids.at[0], s->kids.at[1], a, b, &x, &y);
    tirc_match_types(r, s, &x, &y);
    return tirc_py_expr(tirc_binary(r->c, is_min ? OP_MIN : OP_MAX, x, y));
  }
  if (strcmp(name, "len") == 0 && s->kids.n == 1) {
    PyValue v = tirc_read_value(r, s->kids.at[0]);
    if (v.kind == PY_TUPLE) return tirc_py_int(v.u.list.n);
  }
  if (strcmp(name, "float") == 0 && s->kids.n == 1) {
    PyValue v = tirc_read_value(r, s->kids.at[0]);
    const char *text = v.kind == PY_STR ? v.u.s : "";
    bool negative = *text == '-';
    if (strcmp(text + negative, "inf") == 0)
      return (PyValue){.kind = PY_FLOAT, .u.f = negative ? -__builtin_inf() : __builtin_inf()};
    if (strcmp(text, "nan") == 0) return (PyValue){.kind = PY_FLOAT, .u.f = __builtin_nan("")};
  }
  if (strcmp(name, "range") == 0)
    READ_FAIL(r, s, CODE_SYNTAX, NULL, "range(...) can be used only in the head of a for loop");
  READ_FAIL(r, s->a, CODE_NAME, tirc_names_suggest(r, name),
            "'%s' is not a function of this language", name);
}

static PyValue read_call(Reader *r, const Syn *s) {
  if (tirc_names_path(r, s->a)) return tirc_read_call(r, s, IN_VALUE);
  if (s->a->kind == SYN_ATTRIBUTE) return read_method(r, s);
  if (s->a->kind == SYN_NAME && !tirc_names_find(r, s->a->s)) return read_builtin(r, s);
  READ_FAIL(r, s, CODE_TYPE, NULL, "%s cannot be called",
            tirc_py_describe(r, tirc_read_value(r, s->a)));
}

static PyValue (*const readers[])(Reader *r, const Syn *s) = {
    [SYN_NAME] = read_name,
    [SYN_INT] = read_constant,
    [SYN_FLOAT] = read_constant,
    [SYN_STRING] = read_constant,
    [SYN_TRUE] = read_constant,
    [SYN_FALSE] = read_constant,
    [SYN_NONE] = read_constant,
    [SYN_TUPLE] = read_list,
    [SYN_LIST] = read_list,
    [SYN_DICT] = read_list,
    [SYN_ATTRIBUTE] = read_attribute,
    [SYN_CALL] = read_call,
    [SYN_SUBSCRIPT] = tirc_read_subscript,
    [SYN_BINARY] = read_binary,
    [SYN_UNARY] = read_unary,
    [SYN_COMPARE] = read_compare,
    [SYN_BOOL] = read_bool,
    [SYN_CONDITIONAL] = read_conditional,
};

/* The name that an expression such as x.shape[0] begins with; NULL: it begins otherwise. */
static const char *first_name(const Syn *s) {
  while (s->kind == SYN_ATTRIBUTE || s->kind == SYN_SUBSCRIPT || s->kind == SYN_CALL) s = s->a;
  return s->kind == SYN_NAME ? s->s : NULL;
}

static bool is_around(Reader *r, const Syn *s) {
  const char *name = r->around ? first_name(s) : NULL;
  return name && !tirc_names_find(r, name) && r->around->knows(r->around->self, name);
}

static PyValue of_constant(Reader *r, Expr e) {
  switch (e->op) {
  case OP_NONE: return PY_VALUE_NONE;
  case OP_INT: return e->dtype.code == TYPE_BOOL ? tirc_py_bool(e->u.i) : tirc_py_int(e->u.i);
  case OP_LARGE_UINT: return tirc_py_int((uint64_t)e->u.i);
  case OP_FLOAT: return (PyValue){.kind = PY_FLOAT, .u.f = e->u.f};
  case OP_STRING: return (PyValue){.kind = PY_STR, .u.s = e->u.s};
  case OP_TUPLE: break;
  default: return tirc_py_expr(e);
  }
  PyValue v = {.kind = PY_TUPLE};
  v.u.list.n = e->n;
  v.u.list.at = tirc_new_array(r->c, PyValue, e->n);
  for (int i = 0; i < e->n; i++) v.u.list.at[i] = of_constant(r, e->args[i]);
  return v;
}

static bool names_own(Reader *r, const Syn *s) {
  if (!s) return false;
  bool own = s->kind == SYN_NAME && tirc_names_find(r, s->s);
  for (int i = 0; !own && i < s->kids.n; i++) own = names_own(r, s->kids.at[i]);
  return own || names_own(r, s->a) || names_own(r, s->b) || names_own(r, s->c);
}

/* A function of the text around, of what the program has: its own names among the arguments. */
static bool read_call_around(Reader *r, const Syn *s, PyValue *out) {
  bool any = false;
  if (s->kind != SYN_CALL || s->a->kind != SYN_NAME) return false;
  Expr *given = tirc_new_array(r->c, Expr, s->kids.n);
  for (int i = 0; i < s->kids.n; i++) {
    const Syn *arg = s->kids.at[i];
    if (!names_own(r, arg)) continue;
    given[i] = tirc_py_to_expr(r, arg, tirc_read_value(r, arg));
    any = true;
  }
  if (any) *out = of_constant(r, r->around->call(r->around->self, s, given));
  return any;
}

PyValue tirc_read_value(Reader *r, const Syn *s) {
  PyValue called;
  if (is_around(r, s) && read_call_around(r, s, &called)) return called;
  if (is_around(r, s)) return of_constant(r, r->around->value(r->around->self, s));
  size_t kind = (size_t)s->kind;
  if (kind >= sizeof readers / sizeof *readers || !readers[kind])
    READ_FAIL(r, s, CODE_UNSUPPORTED, NULL,
              "this kind of expression is not part of the language of programs");
  return readers[kind](r, s);
}
