#include "relax.h"

#include "te.h"

#define NODE "RelaxExpr"
#define OPERATOR "RelaxOp" /* R, R.nn, R.nn.relu: u.object is the name, "" of R itself */
#define MATCHINGS "Matchings"
#define BODY "GraphBody"

Value tirc_script_of_relax(Node n) { return tirc_script_object(NODE, n); }
Node tirc_script_relax(Value v) { return tirc_script_is(v, NODE) ? v.u.object : NULL; }
Value tirc_script_of_matchings(const Matchings *m) { return tirc_script_object(MATCHINGS, m); }
Value tirc_script_relax_root(void) { return tirc_script_object(OPERATOR, ""); }

static const GraphWriter *writer(Script *sc) {
  if (!sc->writer || !sc->writer->bind)
    tirc_script_error(sc, "TypeError", NULL, "R can be used only where a graph is made");
  return sc->writer;
}

/* --- arguments -------------------------------------------------------------------------------- */

static bool has_node(Script *sc, Value v) {
  bool has = tirc_script_relax(v) != NULL;
  if (v.kind != VAL_LIST && v.kind != VAL_TUPLE) return has;
  tirc_script_deeper(sc);
  for (int i = 0; i < v.u.list->n; i++) has |= has_node(sc, v.u.list->at[i]);
  tirc_script_leave(sc);
  return has;
}

/* (n, 4): extents that are no numbers make it a shape. */
static bool is_extents(Expr e) {
  bool all = e->op == OP_TUPLE;
  for (int i = 0; all && i < e->n; i++) all = tirc_dtype_is_int(e->args[i]->dtype);
  return all;
}

static Node shape_node(Script *sc, Expr tuple) {
  Expr *items = tirc_new_array(sc->c, Expr, tuple->n);
  for (int i = 0; i < tuple->n; i++) items[i] = tirc_cast(sc->c, DT_INT64, tuple->args[i]);
  const struct StructInfo info = {.kind = INFO_SHAPE, .ndim = tuple->n, .shape = items};
  const struct Node shape = {.kind = NODE_SHAPE,
                             .info = tirc_info_copy(sc->c, &info),
                             .value = tirc_expr(sc->c, OP_TUPLE, DT_HANDLE, tuple->n, items),
                             .loc = sc->loc};
  return tirc_graph_node(sc->c, &shape);
}

/* Of a call, or an attribute: a tensor, a tuple of tensors, a literal, a shape. */
static Node operand(Script *sc, Value v) {
  const Node known = tirc_script_relax(v);
  if (known) return known;
  if (!has_node(sc, v)) {
    bool symbolic = false;
    const Expr e = tirc_script_literal(sc, v, &symbolic);
    if (symbolic && is_extents(e)) return shape_node(sc, e);
    return tirc_graph_node(sc->c, &(struct Node){.kind = NODE_VALUE, .value = e, .loc = sc->loc});
  }
  const int n = v.u.list->n;
  Node *fields = tirc_new_array(sc->c, Node, n);
  for (int i = 0; i < n; i++) fields[i] = operand(sc, v.u.list->at[i]);
  return tirc_node_tuple(sc->c, n, fields);
}

Value tirc_script_relax_call(Script *sc, const char *name, const Args *a) {
  const int n = a->n + a->n_keywords;
  Node *args = tirc_new_array(sc->c, Node, n);
  const char **keys = tirc_new_array(sc->c, const char *, n);
  for (int i = 0; i < n; i++) {
    args[i] = operand(sc, i < a->n ? a->at[i] : a->keywords[i - a->n]);
    if (i >= a->n) keys[i] = a->names[i - a->n];
  }
  const struct Node call = {.kind = NODE_CALL,
                            .name = name,
                            .n = n,
                            .args = args,
                            .keys = a->n_keywords ? keys : NULL,
                            .loc = sc->loc};
  const GraphWriter *w = writer(sc);
  return tirc_script_of_relax(w->bind(w->self, sc, tirc_graph_node(sc->c, &call)));
}

/* R.counted(x, n, axis=0) */
static Value run_counted(Script *sc, Value self, const Args *a) {
  const GraphWriter *w = writer(sc);
  const Value *x = tirc_script_argument(a, 0, "x"), *rows = tirc_script_argument(a, 1, "n");
  const Value *axis = tirc_script_argument(a, 2, "axis");
  const Node n = x ? tirc_script_relax(*x) : NULL, count = rows ? tirc_script_relax(*rows) : NULL;
  const bool all = rows && rows->kind == VAL_NONE;
  int64_t at = 0;
  (void)self;
  if (!w->counted || !n || (!count && !all) || (axis && !tirc_script_int(*axis, &at)))
    tirc_script_error(
        sc, "TypeError", "R.counted(x, n, axis=0)",
        "x and n must be values of a graph that is being read, and axis must be an int");
  return tirc_script_of_relax(w->counted(w->self, sc, n, count, (int)at));
}

static const NativeRow counted_row = {"R", "counted", run_counted, 2, 3, "x n axis"};

static Node node_or_none(Script *sc, const Value *v) {
  if (!v || v->kind == VAL_NONE) return NULL;
  const Node n = tirc_script_relax(*v);
  if (!n)
    tirc_script_error(sc, "TypeError", NULL, "trips and cond must be values of a graph, or None");
  return n;
}

/* R.loop(f, states, trips=None, cond=None, most=None) */
static Value run_loop(Script *sc, Value self, const Args *a) {
  const GraphWriter *w = writer(sc);
  const Value *f = tirc_script_argument(a, 0, "f"), *states = tirc_script_argument(a, 1, "states");
  const Value *most = tirc_script_argument(a, 4, "most");
  (void)self;
  if (!w->loop || !f || !states || states->kind != VAL_LIST)
    tirc_script_error(sc, "TypeError", "R.loop(f, [x, y], trips=n)",
                      "a loop needs a function and a list of states, while a file is being read");
  GraphLoop what = {.f = *f,
                    .trips = node_or_none(sc, tirc_script_argument(a, 2, "trips")),
                    .cond = node_or_none(sc, tirc_script_argument(a, 3, "cond")),
                    .n = states->u.list->n};
  Node *nodes = tirc_new_array(sc->c, Node, what.n);
  for (int i = 0; i < what.n; i++) nodes[i] = node_or_none(sc, &states->u.list->at[i]);
  what.states = nodes;
  if (most && most->kind == VAL_INT) what.most = tirc_int(sc->c, DT_INT64, most->u.i);
  if (most && most->kind == VAL_EXPR) what.most = tirc_cast(sc->c, DT_INT64, most->u.expr);
  return w->loop(w->self, sc, &what);
}

static const NativeRow loop_row = {"R", "loop", run_loop, 2, 5, "f states trips cond most"};

/* R.result("error", x) */
static Value run_result(Script *sc, Value self, const Args *a) {
  const GraphWriter *w = writer(sc);
  const Node n = tirc_script_relax(a->at[1]);
  (void)self;
  if (!w->result || a->at[0].kind != VAL_STR || !n)
    tirc_script_error(sc, "TypeError", "R.result(\"error\", x)",
                      "a result of a rewrite needs a name and a value of the graph");
  w->result(w->self, sc, a->at[0].u.s, n);
  return VALUE_NONE;
}

static const NativeRow result_row = {"R", "result", run_result, 2, 2, NULL};

/* R.const, R.nn, R.nn.relu */
Value tirc_script_relax_member(Script *sc, const char *of, const char *name) {
  if (!*of && !strcmp(name, "loop")) return tirc_script_native(&loop_row);
  if (!*of && !strcmp(name, "result")) return tirc_script_native(&result_row);
  if (!*of && !strcmp(name, "counted")) return tirc_script_native(&counted_row);
  if (!*of && !strcmp(name, "const")) return tirc_script_relax_const();
  return tirc_script_object(OPERATOR,
                            *of ? tirc_format(sc->c, "%s.%s", of, name) : tirc_strdup(sc->c, name));
}

/* --- fields and matches ----------------------------------------------------------------------- */

static Value field(Script *sc, Node n, int i) {
  if (n->kind == NODE_TUPLE) return tirc_script_of_relax(n->args[i]);
  const struct Node item = {
      .kind = NODE_ITEM, .index = i, .n = 1, .args = &n, .info = n->info->fields[i]};
  const GraphWriter *w = writer(sc);
  return tirc_script_of_relax(w->bind(w->self, sc, tirc_graph_node(sc->c, &item)));
}

bool tirc_script_relax_item(Script *sc, Value v, Value index, Value *out) {
  const Node n = tirc_script_relax(v);
  int64_t i;
  if (tirc_script_is(v, MATCHINGS)) {
    const Matchings *m = v.u.object;
    for (int k = 0; k < m->n; k++)
      if (index.kind == VAL_TUPLE && index.u.list == m->at[k].pattern)
        return *out = tirc_script_of_relax(m->at[k].node), true;
    tirc_script_error(sc, "KeyError",
                      "keep the parts of a pattern in variables, and use these as keys",
                      "no part of the pattern that matched is this one");
  }
  if (!n) return false;
  const int fields = n->info && n->info->kind == INFO_TUPLE ? n->info->n : 0;
  if (!tirc_script_int(index, &i) || i < -fields || i >= fields)
    tirc_script_error(sc, "IndexError", NULL, "there is no field %s in %s",
                      tirc_script_repr(sc, index), tirc_info_words(sc->c, n->info));
  *out = field(sc, n, (int)(i < 0 ? i + fields : i));
  return true;
}

bool tirc_script_relax_fields(Script *sc, Value v, Value *out) {
  const Node n = tirc_script_relax(v);
  if (!n || !n->info || n->info->kind != INFO_TUPLE) return false;
  *out = tirc_value_list(sc->c, VAL_TUPLE, 0, NULL);
  for (int i = 0; i < n->info->n; i++) tirc_value_append(sc->c, *out, field(sc, n, i));
  return true;
}

/* --- attributes ------------------------------------------------------------------------------- */

static Info tensor_info(Script *sc, Value v) {
  const Node n = tirc_script_relax(v);
  if (!n->info || n->info->kind != INFO_TENSOR || !n->info->shape)
    tirc_script_error(sc, "ValueError", NULL, "it is not a tensor of a known shape: %s",
                      tirc_info_words(sc->c, n->info));
  return n->info;
}

static Value get_shape(Script *sc, Value v) {
  const Info info = tensor_info(sc, v);
  Value list = tirc_value_list(sc->c, VAL_TUPLE, 0, NULL);
  for (int i = 0; i < info->ndim; i++)
    tirc_value_append(sc->c, list, tirc_script_of_expr(info->shape[i]));
  return list;
}
static Value get_ndim(Script *sc, Value v) { return tirc_value_int(tensor_info(sc, v)->ndim); }
static Value get_dtype(Script *sc, Value v) {
  return tirc_value_str(tirc_dtype_name(sc->c, tensor_info(sc, v)->dtype));
}

/* What it is bound to, or itself. */
static Node bound(Script *sc, Node n) {
  if (n->kind != NODE_VAR) return n;
  const GraphWriter *w = writer(sc);
  return w->value_of(w->self, n);
}

static Node constant_of(Script *sc, Value v) {
  const Node n = bound(sc, tirc_script_relax(v));
  return n && n->kind == NODE_CONST ? n : NULL;
}

static Value get_name(Script *sc, Value v) {
  const char *name = tirc_script_relax(v)->name;
  return (void)sc, tirc_value_str(name ? name : "");
}
static Value get_is_const(Script *sc, Value v) {
  const Node n = constant_of(sc, v);
  return tirc_value_bool(n && n->data);
}
static Value run_tolist(Script *sc, Value v, const Args *a) {
  const Node n = constant_of(sc, v);
  const GraphWriter *w = writer(sc);
  (void)a;
  if (n) return tirc_script_relax_elements(sc, n);
  if (w->not_known) w->not_known(w->self, sc, tirc_script_relax(v));
  tirc_script_error(sc, "ValueError", "x.is_const says whether the elements are known",
                    "it is not a constant, so its elements are not known");
}

static Value get_is_weight(Script *sc, Value v) {
  const GraphWriter *w = writer(sc);
  return tirc_value_bool(w->is_weight(w->self, tirc_script_relax(v)));
}

static Value get_is_input(Script *sc, Value v) {
  const GraphWriter *w = writer(sc);
  const Node n = tirc_script_relax(v);
  return tirc_value_bool(n->kind == NODE_VAR && !w->value_of(w->self, n) &&
                         !w->is_weight(w->self, n));
}

static Value get_counts(Script *sc, Value v) {
  const GraphWriter *w = writer(sc);
  const Node n = tirc_script_relax(v);
  const int ndim = n->info && n->info->kind == INFO_TENSOR ? n->info->ndim : 0;
  Value list = tirc_value_list(sc->c, VAL_LIST, 0, NULL);
  for (int axis = 0; axis < ndim; axis++) {
    const Node count = w->count_of ? w->count_of(w->self, n, axis) : NULL;
    tirc_value_append(sc->c, list, count ? tirc_script_of_relax(count) : VALUE_NONE);
  }
  return list;
}

/* The call that it is bound to. */
static Node call_of(Script *sc, Value v) {
  const Node n = bound(sc, tirc_script_relax(v));
  if (!n || n->kind != NODE_CALL)
    tirc_script_error(sc, "TypeError", NULL, "it is not a call of an operator");
  return n;
}

static bool is_literal(Node n) { return n->kind == NODE_VALUE || n->kind == NODE_SHAPE; }

/* None: it is no call of an operator. */
static Value get_op(Script *sc, Value v) {
  const Node n = bound(sc, tirc_script_relax(v));
  return n && n->kind == NODE_CALL ? tirc_value_str(n->name) : VALUE_NONE;
}
static Value get_args(Script *sc, Value v) {
  const Node call = call_of(sc, v);
  Value list = tirc_value_list(sc->c, VAL_LIST, 0, NULL);
  for (int i = 0; i < call->n; i++)
    if (!is_literal(call->args[i]))
      tirc_value_append(sc->c, list, tirc_script_of_relax(call->args[i]));
  return list;
}
static Value get_attrs(Script *sc, Value v) {
  const GraphWriter *w = writer(sc);
  return w->attributes(w->self, sc, call_of(sc, v));
}

/* with_args(x, w) */
static Value run_with_args(Script *sc, Value self, const Args *a) {
  struct Node call = *call_of(sc, self);
  Node *args = tirc_copy(sc->c, call.args, call.n);
  int given = 0;
  for (int i = 0; i < call.n; i++)
    if (!is_literal(args[i]) && given++ < a->n) args[i] = operand(sc, a->at[given - 1]);
  if (given != a->n)
    tirc_script_error(sc, "TypeError", NULL, "R.%s needs %d tensors here, not %d", call.name, given,
                      a->n);
  call.args = args;
  call.info = NULL;
  const GraphWriter *w = writer(sc);
  return tirc_script_of_relax(w->bind(w->self, sc, tirc_graph_node(sc->c, &call)));
}

/* --- graphs of nodes -------------------------------------------------------------------------- */

Value tirc_script_of_body(const GraphBody *b) { return tirc_script_object(BODY, b); }

static const GraphBody *body_of(Value self) { return self.u.object; }

static Value get_n_inputs(Script *sc, Value self) {
  return (void)sc, tirc_value_int(body_of(self)->n_inputs);
}
static Value get_n_outputs(Script *sc, Value self) {
  return (void)sc, tirc_value_int(body_of(self)->n_outputs);
}

static Value run_body(Script *sc, Value self, const Args *a) {
  const GraphBody *b = body_of(self);
  const Value inputs = a->at[0];
  const bool listed = inputs.kind == VAL_LIST || inputs.kind == VAL_TUPLE;
  if (!listed || inputs.u.list->n != b->n_inputs)
    tirc_script_error(sc, "ValueError", NULL, "a graph with %d inputs is called with %d",
                      b->n_inputs, listed ? inputs.u.list->n : 1);
  Value *outputs = tirc_new_array(sc->c, Value, b->n_outputs);
  tirc_script_tick(sc, 1);
  b->run(b, sc, inputs.u.list->at, outputs);
  return tirc_value_list(sc->c, VAL_LIST, b->n_outputs, outputs);
}

static Value run_if(Script *sc, Value self, const Args *a) {
  const GraphWriter *w = writer(sc);
  const Node cond = tirc_script_relax(a->at[0]);
  if (!w->branch || !cond || !tirc_script_is(a->at[1], BODY))
    tirc_script_error(sc, "TypeError", "body.run_if(cond, other)",
                      "the condition must be a tensor and the other argument a graph, while a file "
                      "is being read");
  const GraphBody *bodies[] = {body_of(self), body_of(a->at[1])};
  if (bodies[0]->n_outputs != bodies[1]->n_outputs || bodies[0]->n_inputs || bodies[1]->n_inputs)
    tirc_script_error(sc, "ValueError", NULL,
                      "the two branches must have no inputs and the same number of outputs");
  Value *outputs = tirc_new_array(sc->c, Value, bodies[0]->n_outputs);
  tirc_script_tick(sc, 1);
  w->branch(w->self, sc, cond, bodies, outputs);
  return tirc_value_list(sc->c, VAL_LIST, bodies[0]->n_outputs, outputs);
}

/* --- tables ----------------------------------------------------------------------------------- */

const NativeRow tirc_script_relax_methods[] = {
    {BODY, "run", run_body, 1, 1, "inputs"},
    {BODY, "run_if", run_if, 2, 2, "cond other"},
    {NODE, "with_args", run_with_args, 0, -1, NULL},
    {NODE, "tolist", run_tolist, 0, 0, NULL},
    {0},
};
const AttributeRow tirc_script_relax_attributes[] = {
    {NODE, "name", get_name},           {NODE, "shape", get_shape},
    {NODE, "ndim", get_ndim},           {NODE, "dtype", get_dtype},
    {NODE, "is_const", get_is_const},   {NODE, "op", get_op},
    {NODE, "args", get_args},           {NODE, "attrs", get_attrs},
    {NODE, "counts", get_counts},       {NODE, "is_weight", get_is_weight},
    {NODE, "is_input", get_is_input},   {BODY, "n_inputs", get_n_inputs},
    {BODY, "n_outputs", get_n_outputs}, {0},
};
