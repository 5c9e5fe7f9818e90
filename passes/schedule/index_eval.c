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
  give(v, var, (EvalValue){value, false, EVAL_NUMBER});
}

void tirc_eval_let_stand(IndexEval *v, Expr var) { give(v, var, (EvalValue){.kind = EVAL_STANDS}); }

void tirc_eval_forget(IndexEval *v, Expr var) { give(v, var, (EvalValue){.kind = EVAL_UNKNOWN}); }

bool tirc_eval_bind(IndexEval *v, Expr var, Expr value) {
  EvalValue given = {.kind = EVAL_NUMBER};
  v->sees_size = v->sees_other = false;
  const bool known = tirc_eval_index(v, value, &given.value);
  given.size = v->sees_size && !v->sees_other;
  if (known)
    give(v, var, given);
  else
    tirc_eval_forget(v, var);
  return known;
}

static bool see_var(IndexEval *v, Expr var, int64_t *out) {
  const int slot = (int)(intptr_t)tirc_map_get(&v->slots, var);
  EvalValue held = slot ? v->values.at[slot - 1] : (EvalValue){.kind = EVAL_STANDS};
  if (held.kind == EVAL_UNKNOWN || (held.kind == EVAL_STANDS && !v->sizes)) return false;
  if (held.kind == EVAL_STANDS)
    held = (EvalValue){.value = tirc_size(v->sizes, var, v->trial), .size = true};
  v->sees_size |= held.size;
  v->sees_other |= !held.size;
  *out = held.value;
  return true;
}

/* One operand may decide. */
static bool join(IndexEval *v, Expr e, int64_t *out) {
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

static bool compute(IndexEval *v, Expr e, int64_t *out);

static bool ask(IndexEval *v, Expr e, int64_t *out) {
  bool holds;
  v->asks = v->sees_size = v->sees_other = false;
  const bool known = compute(v, e, out);
  v->asks = true;
  if (!known || !v->sees_size || v->sees_other) return known;
  const bool decided = tirc_size_decides(v->sizes, e, &holds);
  if (decided) *out = holds;
  return decided;
}

static bool compute(IndexEval *v, Expr e, int64_t *out) {
  if (e->op == OP_INT) return tirc_const_int(e, out);
  if (e->op == OP_VAR) return see_var(v, e, out);
  int64_t a, b;
  if (e->op == OP_LOAD) return *out = 0, v->zero_loads;
  if (e->op == OP_SELECT || e->op == OP_IF_THEN_ELSE)
    return tirc_eval_index(v, e->args[0], &a) && tirc_eval_index(v, e->args[a ? 1 : 2], out);
  if (e->n < 1 || e->n > 2 || e->dtype.lanes != 1) return false;
  if (e->op == OP_AND || e->op == OP_OR) return join(v, e, out);
  if (v->asks && e->op >= OP_EQ && e->op <= OP_GE) return ask(v, e, out);
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

bool tirc_eval_index(IndexEval *v, Expr e, int64_t *out) {
  return compute(v, e, out) && (!tirc_dtype_is_int(e->dtype) || (*out >= tirc_dtype_min(e->dtype) &&
                                                                 *out <= tirc_dtype_max(e->dtype)));
}

bool tirc_eval_condition(IndexEval *v, Expr e, bool *holds) {
  int64_t value = 0;
  v->asks = true;
  const bool known = tirc_eval_index(v, e, &value);
  v->asks = false;
  *holds = value;
  return known;
}
