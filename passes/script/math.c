/* T.exp, T.erf ...: the intrinsics of ops.def on expressions, and conditions of several. A plain
 * number counts as a float32. */
#include "interp.h"
#include "ir/tree/op_rule.h"

/* An operand for the rule; a number takes the type `like`. */
static Expr operand(Script *sc, Op op, Value v, const Expr *like) {
  const OpRule rule = tirc_op_rule(op);
  int64_t i;
  double f;
  Expr e = like && tirc_script_number(v, &f) && tirc_dtype_is_float((*like)->dtype)
               ? tirc_float(sc->c, (*like)->dtype, f)
           : rule == RULE_FLOAT && tirc_script_int(v, &i) ? tirc_float(sc->c, DT_FLOAT32, (double)i)
                                                          : tirc_script_expr(sc, v);
  static const char *const wants[] = {"a float",    "a number", "a number",
                                      "an integer", "a number", "a condition"};
  if (!tirc_fits_rule(rule, e->dtype))
    tirc_script_error(
        sc, "TypeError", rule == RULE_FLOAT ? "cast it: T.Cast(\"float32\", x)" : NULL,
        "T.%s takes %s, not %s", tirc_ops[op].name, wants[rule], tirc_dtype_name(sc->c, e->dtype));
  return e;
}

/* self: the operator's number */
static Value run_intrinsic(Script *sc, Value self, const Args *a) {
  enum { MOST = 3 };
  const Op op = (Op)self.u.i;
  const int n = tirc_ops[op].arity;
  Expr args[MOST];
  if (a->n != n)
    tirc_script_error(sc, "TypeError", NULL, "T.%s takes %d operand%s, but %d %s given",
                      tirc_ops[op].name, n, n == 1 ? "" : "s", a->n, a->n == 1 ? "is" : "are");
  int like = 0;
  while (like < n - 1 && a->at[like].kind != VAL_EXPR) like++;
  Expr first = operand(sc, op, a->at[like], NULL);
  for (int i = 0; i < n; i++) args[i] = i == like ? first : operand(sc, op, a->at[i], &first);
  for (int i = 1; i < n; i++) {
    const DType t = tirc_common_type(args[0], args[i]);
    for (int k = 0; k <= i; k++) args[k] = tirc_cast(sc->c, t, args[k]);
  }
  return tirc_value_expr(tirc_intrinsic(sc->c, op, n, args));
}

static const NativeRow intrinsic_row = {"tir", "intrinsic", run_intrinsic, 0, -1, NULL};

bool tirc_script_math_member(Script *sc, const char *name, Value *out) {
  static const struct {
    const char *name;
    Op op;
  } others[] = {{"abs", OP_ABS}, {"power", OP_POW}};
  Op op = OP_COUNT;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (!strcmp(others[i].name, name)) op = others[i].op;
  for (int i = 0; op == OP_COUNT && i < OP_COUNT; i++) {
    const OpInfo *info = &tirc_ops[i];
    if (info->class == OPCLASS_CALL && info->arity >= 1 && info->arity <= 3 &&
        !strcmp(info->name, name) && i != OP_LDEXP)
      op = (Op)i;
  }
  if (op == OP_COUNT) return false;
  return *out = tirc_script_method(sc, &intrinsic_row, tirc_value_int(op)), true;
}

/* --- conditions ------------------------------------------------------------------------------- */

static Value join(Script *sc, Op op, const Args *a) {
  Expr e = tirc_bool(sc->c, op == OP_AND);
  for (int i = 0; i < a->n; i++) {
    Expr next = tirc_script_expr(sc, a->at[i]);
    if (next->dtype.code != TYPE_BOOL)
      tirc_script_error(sc, "TypeError", "compare it: x != 0", "a condition must be a bool, not %s",
                        tirc_dtype_name(sc->c, next->dtype));
    e = tirc_binary(sc->c, op, e, next);
  }
  return tirc_script_of_expr(e);
}
static Value run_all(Script *sc, Value self, const Args *a) {
  return (void)self, join(sc, OP_AND, a);
}
static Value run_any(Script *sc, Value self, const Args *a) {
  return (void)self, join(sc, OP_OR, a);
}
static Value run_not(Script *sc, Value self, const Args *a) {
  const Value v = join(sc, OP_AND, a);
  return (void)self, tirc_script_of_expr(tirc_not(sc->c, tirc_script_expr(sc, v)));
}

const NativeRow tirc_script_math_rows[] = {
    {"tir", "all", run_all, 0, -1, NULL}, {"te", "all", run_all, 0, -1, NULL},
    {"tir", "any", run_any, 0, -1, NULL}, {"te", "any", run_any, 0, -1, NULL},
    {"tir", "And", run_all, 2, 2, NULL},  {"tir", "Or", run_any, 2, 2, NULL},
    {"tir", "Not", run_not, 1, 1, NULL},  {0},
};
