/* An operator at work: its function is called with tensors of the given types, and what it gives
 * becomes a function of the program language. */
#include "operators_internal.h"

#include "ir/tree/graph.h"
#include "ir/tree/print.h"

typedef struct Making { /* within the script's limits */
  Operators *ops;
  const OperatorCall *call;
  const Operator *op;
  VEC(const Tensor *) tensors; /* the arguments', then the results */
  Value *args, *values;        /* the call's, with tensors of their own */
  Needs needs;
  OperatorProgram out;
} Making;

Value tirc_operator_tensor(Operators *ops, const char *name, TensorType type) {
  const Value v = tirc_te_placeholder(ops->sc, name, type.dtype, type.ndim, type.shape);
  if (type.range) tirc_te_know(v, *type.range, type.is_attained);
  return v;
}

/* --- the arguments ---------------------------------------------------------------------------- */

static bool has_tensor(const Making *m, const char *name) {
  bool has = false;
  for (int i = 0; i < m->tensors.n; i++) has |= strcmp(m->tensors.at[i]->buffer->name, name) == 0;
  return has;
}

/* Each place has a tensor of its own, with a name of its own, by which rules know it: add(x, x) is
 * a function of two. Whole numbers are plain ones, whatever type they came in. */
static Value own_tensors(Making *m, Value v) {
  Script *sc = m->ops->sc;
  const Tensor *t = tirc_te_tensor(v);
  if (t) {
    Buffer b = t->buffer;
    const char *name = b->name;
    for (int i = 1; has_tensor(m, name); i++) name = tirc_format(sc->c, "%s_%d", b->name, i);
    const Value own = tirc_te_placeholder(sc, name, b->dtype, b->ndim, b->shape);
    if (t->has_range) tirc_te_know(own, t->range, t->is_attained);
    vec_push(sc->c, m->tensors, tirc_te_tensor(own));
    return own;
  }
  if (v.kind == VAL_EXPR && v.u.expr->op == OP_INT) return tirc_script_of_expr(v.u.expr);
  if (v.kind != VAL_LIST && v.kind != VAL_TUPLE) return v;
  Value list = tirc_value_list(sc->c, v.kind, 0, NULL);
  for (int i = 0; i < v.u.list->n; i++)
    tirc_value_append(sc->c, list, own_tensors(m, v.u.list->at[i]));
  return list;
}

static bool is_wide(Value v) {
  const Tensor *t = tirc_te_tensor(v);
  if (v.kind == VAL_EXPR) return v.u.expr->dtype.bits == 64 && tirc_dtype_is_int(v.u.expr->dtype);
  for (int i = 0; t && i < t->buffer->ndim; i++)
    if (t->buffer->shape[i]->dtype.bits == 64) return true;
  for (int i = 0; (v.kind == VAL_LIST || v.kind == VAL_TUPLE) && i < v.u.list->n; i++)
    if (is_wide(v.u.list->at[i])) return true;
  return false;
}

static void take_arguments(Making *m) {
  const OperatorCall *call = m->call;
  Script *sc = m->ops->sc;
  bool wide = false;
  for (int i = 0; i < call->n_args; i++) wide |= is_wide(call->args[i]);
  for (int i = 0; i < call->n_keywords; i++) wide |= is_wide(call->values[i]);
  sc->te = (TensorScope){.wide = wide, .indices = m->ops->indices};
  for (int i = 0; i < call->n_args; i++) m->args[i] = own_tensors(m, call->args[i]);
  for (int i = 0; i < call->n_keywords; i++) m->values[i] = own_tensors(m, call->values[i]);
  for (int i = 0; i < m->tensors.n; i++)
    for (int d = 0; d < m->tensors.at[i]->buffer->ndim; d++)
      tirc_script_extents(sc, m->tensors.at[i]->buffer->shape[d]);
  sc->te.wide |= !m->tensors.n; /* nothing says of which type extents are: a graph's are int64 */
}

/* What the text of the function says about its operands is checked before it runs. */
static void check_arguments(Making *m) {
  Script *sc = m->ops->sc;
  for (int i = 0; i < m->op->n_params && i < m->call->n_args; i++) {
    const OperatorParam *p = &m->op->params[i];
    if (p->rest) return;
    if (!p->type || strcmp(p->type, "Tensor") != 0 || tirc_te_tensor(m->args[i])) continue;
    tirc_script_error(sc, "TypeError", NULL, "the operand %s is a tensor, not %s", p->name,
                      tirc_script_a_type(sc, m->args[i]));
  }
}

/* --- the results ------------------------------------------------------------------------------ */

static bool is_among(const Making *m, const Tensor *t) {
  for (int i = 0; i < m->tensors.n; i++)
    if (m->tensors.at[i] == t) return true;
  return false;
}

static void take_result(Making *m, Value v) {
  Script *sc = m->ops->sc;
  const Tensor *t = tirc_te_tensor(v);
  if (!t)
    tirc_script_error(sc, "TypeError", "return te.compute(...), or a list of tensors",
                      "an operator gives tensors, and %s gives %s", m->op->function,
                      tirc_script_a_type(sc, v));
  if (!t->stage || is_among(m, t)) t = tirc_te_copy(sc, t);
  vec_push(sc->c, m->tensors, t);
}

static void take_results(Making *m, Value v) {
  const int n_args = m->tensors.n;
  m->out.is_tuple = v.kind == VAL_LIST || v.kind == VAL_TUPLE;
  if (!m->out.is_tuple) take_result(m, v);
  for (int i = 0; m->out.is_tuple && i < v.u.list->n; i++) take_result(m, v.u.list->at[i]);
  const int n = m->tensors.n - n_args;
  TensorType *results = tirc_new_array(m->ops->c, TensorType, n);
  for (int i = 0; i < n; i++) {
    Buffer b = m->tensors.at[n_args + i]->buffer;
    Bound range;
    const bool known = tirc_te_range(m->ops->sc, m->tensors.at[n_args + i], &range);
    results[i] = (TensorType){b->dtype, b->ndim, b->shape, NULL, false};
    if (known) results[i].range = tirc_copy(m->ops->c, &range, 1);
  }
  m->out.n_results = n;
  m->out.results = results;
}

static const char *call_text(Making *m);

/* The conditions that the operator stated, each with the words of the error that it would be. */
static void take_needs(Making *m) {
  Tirc *c = m->ops->c;
  for (int i = 0; i < m->needs.list.n; i++) {
    Need *need = &m->needs.list.at[i];
    need->message = tirc_format(c, "%s: %s", tirc_script_plain_words(c, call_text(m)),
                                tirc_script_placed(c, need->message, need->loc));
  }
}

/* --- what runs ahead -------------------------------------------------------------------------- */

/* Of an extent that is a formula of symbols the attribute says nothing. */
static const Func *with_range(Tirc *c, const Func *f, int param, const Ahead *a) {
  int64_t first;
  const Expr end = tirc_range_end(c, a->end);
  if (!end || !tirc_const_int(tirc_simplify0(c, a->first), &first)) return f;
  Func *to = tirc_copy(c, f, 1);
  to->attrs = tirc_with_index_range(c, f->attrs, param, first, end);
  return to;
}

static int operand_number(const Making *m, const Tensor *t, int n_args) {
  for (int i = 0; i < n_args; i++)
    if (m->tensors.at[i] == t) return i;
  tirc_script_error(m->ops->sc, "ValueError", "give it an operand",
                    "te.ahead: %s is not an operand of %s", t->buffer->name, m->op->function);
}

static void make_ahead(Making *m, int n_args) {
  Script *sc = m->ops->sc;
  const int n = sc->te.ahead.n;
  AheadProgram *all = tirc_new_array(m->ops->c, AheadProgram, n);
  for (int i = 0; i < n; i++) {
    const Ahead *a = &sc->te.ahead.at[i];
    const char *name = tirc_format(sc->c, "%s_%s", m->out.func->name, a->by->buffer->name);
    all[i] = (AheadProgram){
        .operand = operand_number(m, a->of, n_args), .first = a->first, .end = a->end};
    m->out.func = with_range(sc->c, m->out.func, all[i].operand, a);
    if (a->of == a->by) continue;
    Unknowns vars;
    const Func *f = tirc_te_func(sc, name, 2, (const Tensor *[]){a->of, a->by}, &vars);
    all[i].func = with_range(sc->c, f, 0, a);
    all[i].n_vars = vars.n;
    all[i].vars = vars.at;
  }
  m->out.n_ahead = n;
  m->out.ahead = all;
}

static void make(Script *sc, void *self) {
  Making *m = self;
  const OperatorCall *call = m->call;
  Unknowns vars;
  sc->needs = &m->needs;
  take_arguments(m);
  check_arguments(m);
  take_results(m, tirc_script_call(sc, m->op->callee,
                                   &(Args){.n = call->n_args,
                                           .at = m->args,
                                           .n_keywords = call->n_keywords,
                                           .names = call->keywords,
                                           .keywords = m->values}));
  take_needs(m);
  m->out.n_needs = call->asserts ? 0 : m->needs.list.n;
  m->out.needs = m->needs.list.at;
  m->out.func = tirc_te_asserting_func(
      sc, call->func_name ? call->func_name : m->op->function, m->tensors.n, m->tensors.at,
      call->asserts ? m->needs.list.n : 0, m->needs.list.at, &vars);
  m->out.n_vars = vars.n;
  m->out.vars = vars.at;
  make_ahead(m, m->tensors.n - m->out.n_results);
}

/* --- errors ----------------------------------------------------------------------------------- */

/* R.add(Tensor((4, 5), "float32"), Tensor((3,), "float32")) */
static const char *call_text(Making *m) {
  Script *sc = m->ops->sc;
  Text t = {.c = sc->c};
  tirc_text_addf(&t, "R.%s(", m->call->name);
  for (int i = 0; i < m->call->n_args; i++)
    tirc_text_addf(&t, "%s%s", i ? ", " : "", tirc_script_repr(sc, m->call->args[i]));
  for (int i = 0; i < m->call->n_keywords; i++)
    tirc_text_addf(&t, "%s%s=%s", i || m->call->n_args ? ", " : "", m->call->keywords[i],
                   tirc_script_repr(sc, m->call->values[i]));
  tirc_text_add(&t, ")");
  return t.at;
}

OperatorProgram tirc_operator_program(Operators *ops, const OperatorCall *call) {
  Tirc *c = ops->c;
  Making m = {.ops = ops, .call = call};
  m.args = tirc_new_array(c, Value, call->n_args);
  m.values = tirc_new_array(c, Value, call->n_keywords);
  if (!(m.op = tirc_operator(ops, call->name)))
    tirc_fail(c, (Loc){0}, CODE_OPERATOR, tirc_operator_hint(ops, call->name),
              "there is no operator R.%s", call->name);
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    const Loc at = tirc_script_function_loc(m.op->callee.u.object);
    tirc_script_within_limits(ops->sc, at, make, &m);
    TIRC_END(c, trap);
    ops->sc->needs = NULL;
    return m.out;
  }
  ops->sc->needs = NULL;
  const Diag diag = c->diag;
  c->diag = diag;
  c->diag.message = tirc_format(c, "%s: %s", call_text(&m), diag.message);
  tirc_throw(c);
}
