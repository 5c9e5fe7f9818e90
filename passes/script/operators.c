/* Truth, equality, order and the operators of one operand. Numbers of different types compare by
 * value; symbolic expressions compare when their constants do, and otherwise give an expression. */
#include "interp.h"
#include "ir/arith/equal.h"

bool tirc_script_number(Value v, double *out) {
  switch (v.kind) {
  case VAL_BOOL: *out = v.u.b; return true;
  case VAL_INT: *out = (double)v.u.i; return true;
  case VAL_FLOAT: *out = v.u.f; return true;
  default: return false;
  }
}

bool tirc_script_int(Value v, int64_t *out) {
  if (v.kind == VAL_EXPR) return tirc_const_int(v.u.expr, out);
  if (v.kind != VAL_INT && v.kind != VAL_BOOL) return false;
  *out = v.kind == VAL_INT ? v.u.i : v.u.b;
  return true;
}

bool tirc_script_truth(Script *sc, Value v) {
  double number;
  int64_t i;
  if (tirc_script_int(v, &i)) return i != 0;
  if (tirc_script_number(v, &number)) return number != 0;
  switch (v.kind) {
  case VAL_NONE: return false;
  case VAL_STR: return *v.u.s != 0;
  case VAL_LIST:
  case VAL_TUPLE:
  case VAL_DICT: return v.u.list->n > 0;
  case VAL_EXPR: break;
  case VAL_OBJECT: return !tirc_script_is(v, "range") || tirc_script_length(sc, v) > 0;
  default: return true;
  }
  Expr e = v.u.expr;
  if (e->op == OP_EQ || e->op == OP_NE)
    return tirc_expr_equal(sc->c, e->args[0], e->args[1]) == (e->op == OP_EQ);
  tirc_script_error(sc, "TypeError", "its value is known only when the program runs",
                    "%s is neither true nor false", tirc_script_repr(sc, v));
}

/* --- equality and order ----------------------------------------------------------------------- */

static bool equal_lists(Script *sc, const ValueList *a, const ValueList *b) {
  if (a->n != b->n) return false;
  for (int i = 0; i < a->n; i++)
    if (!tirc_script_equal(sc, a->at[i], b->at[i])) return false;
  return true;
}

static bool equal_dicts(Script *sc, Value a, Value b) {
  if (a.u.list->n != b.u.list->n) return false;
  for (int i = 0; i < a.u.list->n; i += 2) {
    int at = tirc_script_dict_find(sc, b, a.u.list->at[i]);
    if (at < 0 || !tirc_script_equal(sc, a.u.list->at[i + 1], b.u.list->at[at])) return false;
  }
  return true;
}

static bool equal_numbers(Value a, Value b, bool *out) {
  int64_t i, k;
  double x, y;
  if (tirc_script_int(a, &i) && tirc_script_int(b, &k)) return *out = i == k, true;
  if (tirc_script_number(a, &x) && tirc_script_number(b, &y)) return *out = x == y, true;
  return false;
}

static bool equal_objects(Value a, Value b) {
  if (strcmp(a.type, b.type)) return false;
  if (tirc_script_is(a, "range")) return !memcmp(a.u.object, b.u.object, sizeof(RangeObject));
  if (tirc_script_is(a, "type")) return !strcmp(a.u.object, b.u.object);
  if (tirc_script_is(a, "StmtSRef")) return tirc_script_equal_srefs(a, b);
  return a.u.object == b.u.object;
}

bool tirc_script_equal(Script *sc, Value a, Value b) {
  bool result;
  if (equal_numbers(a, b, &result)) return result;
  if (a.kind != b.kind) return false;
  tirc_script_deeper(sc);
  switch (a.kind) {
  case VAL_NONE: result = true; break;
  case VAL_STR: result = !strcmp(a.u.s, b.u.s); break;
  case VAL_LIST:
  case VAL_TUPLE: result = equal_lists(sc, a.u.list, b.u.list); break;
  case VAL_DICT: result = equal_dicts(sc, a, b); break;
  case VAL_EXPR: result = tirc_expr_equal(sc->c, a.u.expr, b.u.expr); break;
  case VAL_LOOP: result = a.u.expr == b.u.expr; break;
  case VAL_BLOCK: result = a.u.block_id == b.u.block_id; break;
  case VAL_BUFFER: result = a.u.buffer == b.u.buffer; break;
  case VAL_FUNCTION: result = a.u.object == b.u.object; break;
  case VAL_OBJECT: result = equal_objects(a, b); break;
  default: result = false;
  }
  tirc_script_leave(sc);
  return result;
}

static _Noreturn void no_order(Script *sc, const char *op, Value a, Value b) {
  tirc_script_error(sc, "TypeError", NULL, "'%s' does not work between %s and %s", op,
                    tirc_script_a_type(sc, a), tirc_script_a_type(sc, b));
}

/* -1, 0, 1; 2 when a number is no number. */
static int order(Script *sc, const char *op, Value a, Value b) {
  int64_t i, k;
  double x, y;
  if (tirc_script_int(a, &i) && tirc_script_int(b, &k)) return (i > k) - (i < k);
  if (tirc_script_number(a, &x) && tirc_script_number(b, &y))
    return x != x || y != y ? 2 : (x > y) - (x < y);
  if (a.kind != b.kind) no_order(sc, op, a, b);
  if (a.kind == VAL_STR) {
    int cmp = strcmp(a.u.s, b.u.s);
    return (cmp > 0) - (cmp < 0);
  }
  if (a.kind != VAL_LIST && a.kind != VAL_TUPLE) no_order(sc, op, a, b);
  tirc_script_deeper(sc);
  const ValueList *p = a.u.list, *q = b.u.list;
  int result = (p->n > q->n) - (p->n < q->n);
  for (int at = 0; at < p->n && at < q->n; at++)
    if (!tirc_script_equal(sc, p->at[at], q->at[at])) {
      result = order(sc, op, p->at[at], q->at[at]);
      break;
    }
  tirc_script_leave(sc);
  return result;
}

bool tirc_script_less(Script *sc, Value a, Value b) { return order(sc, "<", a, b) == -1; }

static bool identical(Value a, Value b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
  case VAL_NONE: return true;
  case VAL_BOOL: return a.u.b == b.u.b;
  case VAL_INT: return a.u.i == b.u.i;
  case VAL_FLOAT: return memcmp(&a.u.f, &b.u.f, sizeof a.u.f) == 0;
  case VAL_STR: return !strcmp(a.u.s, b.u.s);
  case VAL_BLOCK: return a.u.block_id == b.u.block_id;
  case VAL_LIST:
  case VAL_TUPLE:
  case VAL_DICT: return a.u.list == b.u.list;
  case VAL_EXPR:
  case VAL_LOOP: return a.u.expr == b.u.expr;
  case VAL_BUFFER: return a.u.buffer == b.u.buffer;
  case VAL_FUNCTION: return a.u.object == b.u.object;
  case VAL_OBJECT: return equal_objects(a, b);
  }
  return false;
}

static bool op_is(Script *sc, Value a, Value b) { return (void)sc, identical(a, b); }
static bool op_in(Script *sc, Value a, Value b) { return tirc_script_contains(sc, b, a); }

/* Comparisons: `when` has the bit 1 << (order + 1) for each order that makes it true. */
static const struct CompareRow {
  const char *op;
  Op ir;
  unsigned when;
  bool (*test)(Script *, Value, Value); /* instead of an order */
  bool negate;
} compare_rows[] = {
    {"<", OP_LT, 1, NULL, false},
    {"<=", OP_LE, 3, NULL, false},
    {">", OP_GT, 4, NULL, false},
    {">=", OP_GE, 6, NULL, false},
    {"==", OP_EQ, 0, tirc_script_equal, false},
    {"!=", OP_NE, 0, tirc_script_equal, true},
    {"is", OP_COUNT, 0, op_is, false},
    {"is not", OP_COUNT, 0, op_is, true},
    {"in", OP_COUNT, 0, op_in, false},
    {"not in", OP_COUNT, 0, op_in, true},
};

static bool symbolic(Value v) {
  int64_t i;
  return v.kind == VAL_EXPR && !tirc_script_int(v, &i);
}

Value tirc_script_compare(Script *sc, const char *op, Value a, Value b) {
  const struct CompareRow *row = compare_rows;
  while (*row->op != *op || strcmp(row->op, op)) row++;
  double number;
  bool with_number = (symbolic(a) && (b.kind == VAL_EXPR || tirc_script_number(b, &number))) ||
                     (symbolic(b) && (a.kind == VAL_EXPR || tirc_script_number(a, &number)));
  if (with_number && row->ir != OP_COUNT) {
    Expr x, y;
    tirc_script_pair(sc, a, b, &x, &y);
    return tirc_script_of_expr(tirc_binary(sc->c, row->ir, x, y));
  }
  if (row->test) return tirc_value_bool(row->test(sc, a, b) != row->negate);
  return tirc_value_bool(row->when >> (order(sc, op, a, b) + 1) & 1);
}

/* --- one operand ------------------------------------------------------------------------------ */

Value tirc_script_unary(Script *sc, const char *op, Value a) {
  int64_t i, negated;
  if (!strcmp(op, "not")) {
    if (symbolic(a) && a.u.expr->dtype.code == TYPE_BOOL)
      return tirc_value_expr(tirc_not(sc->c, a.u.expr));
    return tirc_value_bool(!tirc_script_truth(sc, a));
  }
  if (a.kind == VAL_EXPR && *op == '-') return tirc_script_binary(sc, "-", tirc_value_int(0), a);
  if (a.kind == VAL_EXPR && *op == '+') return a;
  if (a.kind == VAL_FLOAT && *op != '~') return tirc_value_float(*op == '-' ? -a.u.f : a.u.f);
  if (!tirc_script_int(a, &i))
    tirc_script_error(sc, "TypeError", NULL, "'%s' does not work on %s", op,
                      tirc_script_a_type(sc, a));
  if (*op == '~') return tirc_value_int(~i);
  if (*op == '+') return tirc_value_int(i);
  if (__builtin_sub_overflow((int64_t)0, i, &negated))
    tirc_script_error(sc, "OverflowError", "integers have 64 bits", "-(%lld) is too large",
                      (long long)i);
  return tirc_value_int(negated);
}
