#include "op_rule.h"

static const struct {
  Op op;
  OpRule rule;
} rules[] = {{OP_FLOOR, RULE_ROUND},     {OP_CEIL, RULE_ROUND},      {OP_TRUNC, RULE_ROUND},
             {OP_ROUND, RULE_ROUND},     {OP_NEARBYINT, RULE_ROUND}, {OP_ABS, RULE_ANY},
             {OP_BITWISE_AND, RULE_INT}, {OP_BITWISE_OR, RULE_INT},  {OP_BITWISE_XOR, RULE_INT},
             {OP_BITWISE_NOT, RULE_INT}, {OP_SHIFT_LEFT, RULE_INT},  {OP_SHIFT_RIGHT, RULE_INT},
             {OP_POPCOUNT, RULE_INT},    {OP_CLZ, RULE_INT},         {OP_ISNAN, RULE_TEST},
             {OP_ISINF, RULE_TEST},      {OP_ISFINITE, RULE_TEST},   {OP_LIKELY, RULE_BOOL}};

OpRule tirc_op_rule(Op op) {
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    if (rules[i].op == op) return rules[i].rule;
  return RULE_FLOAT;
}

bool tirc_fits_rule(OpRule rule, DType t) {
  switch (rule) {
  case RULE_FLOAT: return tirc_dtype_is_float(t);
  case RULE_INT: return tirc_dtype_is_int(t) || t.code == TYPE_BOOL;
  case RULE_BOOL: return t.code == TYPE_BOOL;
  default: return tirc_dtype_is_int(t) || tirc_dtype_is_float(t);
  }
}

Expr tirc_intrinsic(Tirc *c, Op op, int n, const Expr *args) {
  const OpRule rule = tirc_op_rule(op);
  const bool integer = !tirc_dtype_is_float(args[0]->dtype);
  if (rule == RULE_ROUND && integer) return args[0];
  if (rule == RULE_TEST && integer) return tirc_bool(c, op == OP_ISFINITE);
  DType t = rule == RULE_TEST ? tirc_dtype_lanes(DT_BOOL, args[0]->dtype.lanes) : args[0]->dtype;
  if (op == OP_CLZ) t = tirc_dtype_lanes(DT_INT32, t.lanes);
  return tirc_expr(c, op, t, n, args);
}
