/* Index arithmetic on numbers: for checks that run a nest instead of reasoning about it. */
#include "index_eval.h"

static void give(IndexEval *v, Expr var, EvalValue given) {
  int slot = (int)(intptr_t)tirc_map_get(&v->slots, var);
  if (!slot) {
    vec_push(v->c, v->values, given);
    slot = v->values.n;
    tirc_map_set(v->c, &v->slots, var, (void *)(intptr_t)slot);
  }
  v->values.at[slot - 1] = given;
}

void tirc_eval_give(IndexEval *v, Expr var, int64_t value) {
  give(v, var, (EvalValue){value, true});
}

bool tirc_eval_bind(IndexEval *v, Expr var, Expr value) {
  EvalValue given = {0};
  given.known = tirc_eval_index(v, value, &given.value);
  give(v, var, given);
  return given.known;
}

static bool see_var(const IndexEval *v, Expr var, int64_t *out) {
  const int slot = (int)(intptr_t)tirc_map_get(&v->slots, var);
  if (!slot || !v->values.at[slot - 1].known) return false;
  *out = v->values.at[slot - 1].value;
  return true;
}

/* One operand may decide. */
static bool join(const IndexEval *v, Expr e, int64_t *out) {
  const bool decisive = e->op == OP_OR;
  bool known = true;
  for (int i = 0; i < 2; i++) {
    int64_t value;
    const bool own = tirc_eval_index(v, e->args[i], &value);
    if (own && !value != decisive) return *out = decisive, true;
    known &= own;
  }
  return *out = !decisive, known;
}

static bool compute(const IndexEval *v, Expr e, int64_t *out) {
  if (e->op == OP_INT) return tirc_const_int(e, out);
  if (e->op == OP_VAR) return see_var(v, e, out);
  int64_t a, b;
  if (e->op == OP_SELECT || e->op == OP_IF_THEN_ELSE)
    return tirc_eval_index(v, e->args[0], &a) && tirc_eval_index(v, e->args[a ? 1 : 2], out);
  if (e->n < 1 || e->n > 2 || e->dtype.lanes != 1) return false;
  if (e->op == OP_AND || e->op == OP_OR) return join(v, e, out);
  if (!tirc_eval_index(v, e->args[0], &a)) return false;
  if (e->op == OP_CAST || e->op == OP_LIKELY) return *out = a, true;
  if (e->op == OP_NOT) return *out = !a, true;
  if (e->n != 2 || !tirc_eval_index(v, e->args[1], &b)) return false;
  switch (e->op) {
  case OP_ADD: return !__builtin_add_overflow(a, b, out);
  case OP_SUB: return !__builtin_sub_overflow(a, b, out);
  case OP_MUL: return !__builtin_mul_overflow(a, b, out);
  case OP_FLOORDIV: return b > 0 && (*out = a / b - (a % b < 0), true);
  case OP_FLOORMOD: return b > 0 && (*out = a % b + (a % b < 0 ? b : 0), true);
  case OP_TRUNCDIV: return b > 0 && (*out = a / b, true);
  case OP_TRUNCMOD: return b > 0 && (*out = a % b, true);
  case OP_MIN: return *out = a < b ? a : b, true;
  case OP_MAX: return *out = a > b ? a : b, true;
  case OP_EQ: return *out = a == b, true;
  case OP_NE: return *out = a != b, true;
  case OP_LT: return *out = a < b, true;
  case OP_LE: return *out = a <= b, true;
  case OP_GT: return *out = a > b, true;
  case OP_GE: return *out = a >= b, true;
  case OP_BITWISE_AND: return *out = a & b, true;
  case OP_BITWISE_OR: return *out = a | b, true;
  case OP_BITWISE_XOR: return *out = a ^ b, true;
  case OP_SHIFT_LEFT: return 0 <= b && b < 32 && !__builtin_mul_overflow(a, (int64_t)1 << b, out);
  case OP_SHIFT_RIGHT: return 0 <= a && 0 <= b && b < 32 && (*out = a >> b, true);
  default: return false;
  }
}

bool tirc_eval_index(const IndexEval *v, Expr e, int64_t *out) {
  return compute(v, e, out) && (!tirc_dtype_is_int(e->dtype) || (*out >= tirc_dtype_min(e->dtype) &&
                                                                 *out <= tirc_dtype_max(e->dtype)));
}

bool tirc_eval_condition(const IndexEval *v, Expr e, bool *holds) {
  int64_t value = 0;
  const bool known = tirc_eval_index(v, e, &value);
  *holds = value;
  return known;
}
