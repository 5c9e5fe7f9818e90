/* Index arithmetic on numbers: for checks that run a nest instead of reasoning about it. */
#include "index_eval.h"

#include "ir/tree/int_op.h"

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
  int64_t a, b = 0;
  if (e->op == OP_SELECT || e->op == OP_IF_THEN_ELSE)
    return tirc_eval_index(v, e->args[0], &a) && tirc_eval_index(v, e->args[a ? 1 : 2], out);
  if (e->n < 1 || e->n > 2 || !tirc_dtype_is_whole(e->dtype) ||
      !tirc_dtype_is_whole(e->args[0]->dtype))
    return false;
  if (e->op == OP_AND || e->op == OP_OR) return join(v, e, out);
  if (!tirc_eval_index(v, e->args[0], &a)) return false;
  if (e->op == OP_CAST) return *out = tirc_wrap_int(e->dtype, a), true;
  if (e->n == 2 && !tirc_eval_index(v, e->args[1], &b)) return false;
  return tirc_int_has_value(tirc_int_op((Op)e->op, e->args[0]->dtype, a, b, out));
}

/* (What int64 does not hold of uint64 is no index.) */
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
