/* Nodes of an ONNX file: each becomes what a script says that its operator is; a function of the
 * file becomes its nodes; graphs within nodes are run by scripts. */
#include "onnx_import.h"

#include "ir/nearest.h"

#include <stddef.h>

/* --- values by name --------------------------------------------------------------------------- */

Value tirc_import_value(Importing *k, const char *name) {
  const Value *v = tirc_strmap_get(&k->values, name);
  if (!v) FAIL(k, NULL, "nothing gives the value '%s'", name);
  return *v;
}

void tirc_import_put(Importing *k, const char *name, Value v) {
  Value *own = tirc_new(k->c, Value);
  *own = v;
  void **at = tirc_strmap_at(k->c, &k->values, name);
  if (k->depth) vec_push(k->c, k->hidden, ((Hidden){name, *at}));
  *at = own;
}

/* The names of a graph within a node end with it: what they stood for, they stand for again. */
void tirc_import_leave_names(Importing *k, int from) {
  while (k->hidden.n > from) {
    const Hidden *last = &k->hidden.at[--k->hidden.n];
    *tirc_strmap_at(k->c, &k->values, last->name) = last->value;
  }
}

static Info tensor_info(Tirc *c, const OnnxTensor *t) {
  Expr *shape = tirc_new_array(c, Expr, t->ndim);
  for (int d = 0; d < t->ndim; d++) shape[d] = tirc_int(c, DT_INT64, t->dims[d]);
  return tirc_info_tensor(c, t->dtype, t->ndim, shape);
}

Value tirc_import_tensor(Importing *k, const OnnxTensor *t, const char *name) {
  const Node n = tirc_graph_constant(&k->maker, name, tensor_info(k->c, t), t->data);
  if (t->bits) tirc_map_set(k->c, &k->few_bits, n, (void *)(uintptr_t)t);
  return tirc_script_of_relax(n);
}

/* How many bits the numbers of a value had in the file, where these are fewer than here; 0. */
static int bits_in_file(const Importing *k, Value v) {
  const Node n = tirc_script_relax(v);
  const OnnxTensor *t = n ? tirc_map_get(&k->few_bits, n) : NULL;
  return t ? t->bits : 0;
}

/* --- nodes ------------------------------------------------------------------------------------ */

/* What a script asks of a value that only the run knows: the inputs behind it are to be constants.
 */
void tirc_import_not_known(void *self, Script *sc, Node v) {
  Importing *k = (Importing *)(void *)((char *)self - offsetof(Importing, maker));
  const uintptr_t from = tirc_graph_sources(&k->maker, v);
  Text names = {.c = k->c};
  tirc_text_add(&names, "");
  for (int i = 0; i < k->model->n_inputs; i++)
    if (tirc_depends_on_input(from, i))
      tirc_text_addf(&names, "%s'%s'", names.n ? ", " : "", k->model->inputs[i].name);
  k->needed |= from;
  if (!from)
    tirc_script_error(sc, "ValueError", "-D NAME=VALUE makes an extent a number",
                      "the elements of '%s' decide a shape, an axis or a size, and depend on "
                      "extents that have no number",
                      v->name ? v->name : k->maker.hint);
  tirc_script_error(sc, "ValueError",
                    "--bind NAME=VALUE, --bind NAME=FILE.npy or --test-data FOLDER binds an input",
                    "the elements of '%s' decide a shape, an axis or a size, and depend on the "
                    "input %s, which is not bound",
                    v->name, names.at);
}

/* A graph among the attributes of a node, which scripts run. */
typedef struct Inner {
  GraphBody body; /* what scripts see: the first member */
  Importing *k;
  const OnnxModel *graph;
} Inner;

static void run_inner(const GraphBody *self, Script *sc, const Value *inputs, Value *outputs);

static Value inner_value(Importing *k, const OnnxModel *g) {
  Inner *in = tirc_new(k->c, Inner);
  *in = (Inner){{g->n_inputs, g->n_outputs, run_inner}, k, g};
  return tirc_script_of_body(&in->body);
}

static Value attr_value(Importing *k, const OnnxAttr *a) {
  const bool one = a->kind == ONNX_INT || a->kind == ONNX_FLOAT || a->kind == ONNX_STRING;
  if (a->kind == ONNX_TENSOR) return tirc_import_tensor(k, a->tensor, a->tensor->name);
  if (a->kind == ONNX_GRAPH) return inner_value(k, a->graph);
  if (a->kind == ONNX_OTHER)
    FAIL(k, NULL, "node '%s' (%s): the attribute '%s' is of a kind that is not read", k->node->name,
         k->node->op, a->name);
  Value list = tirc_value_list(k->c, VAL_LIST, 0, NULL);
  for (int i = 0; i < a->n; i++) {
    const Value v = a->kind == ONNX_INT || a->kind == ONNX_INTS ? tirc_value_int(a->ints[i])
                    : a->kind == ONNX_FLOAT || a->kind == ONNX_FLOATS
                        ? tirc_value_float((double)a->floats[i])
                        : tirc_value_str(a->strings[i]);
    if (one) return v;
    tirc_value_append(k->c, list, v);
  }
  return list;
}

typedef struct Call {
  Importing *k;
  const Operator *op;
  int n, n_keywords;
  Value *args, *values;
  const char **names;
} Call;

static const OperatorParam *param_named(const Operator *op, const char *name) {
  for (int i = 0; i < op->n_params; i++)
    if (!strcmp(op->params[i].name, name)) return &op->params[i];
  return NULL;
}

static void add_keyword(Call *call, const char *name, Value v) {
  call->names[call->n_keywords] = name;
  call->values[call->n_keywords++] = v;
}

static const OnnxAttr *attr_named(int n, const OnnxAttr *attrs, const char *name) {
  for (int i = 0; i < n; i++)
    if (!strcmp(attrs[i].name, name)) return &attrs[i];
  return NULL;
}

/* What an attribute of a node in a function is in the end; NULL: it is left out. */
static const OnnxAttr *meant(const Called *at, const OnnxAttr *a) {
  if (!a || a->kind != ONNX_REFERENCE) return a;
  if (!at) return NULL;
  const OnnxFunction *f = at->function;
  const OnnxAttr *given = meant(at->outer, attr_named(at->node->n_attrs, at->node->attrs, a->of));
  return given ? given : attr_named(f->n_defaults, f->defaults, a->of);
}

static void add_attr(Call *call, const OnnxAttr *a) {
  Importing *k = call->k;
  const OnnxAttr *const value = meant(k->called, a);
  if (!value && !k->called)
    FAIL(k, NULL, "node '%s' (%s): the attribute '%s' is that of a function, and it is in none",
         k->node->name, k->node->op, a->name);
  if (!value) return;
  Text names = {.c = k->c};
  tirc_text_add(&names, "it takes");
  if (param_named(call->op, a->name)) {
    add_keyword(call, a->name, attr_value(k, value));
    return;
  }
  for (int i = 0; i < call->op->n_params; i++)
    tirc_text_addf(&names, "%s%s", i ? ", " : " ", call->op->params[i].name);
  FAIL(k, names.at, "node '%s' (%s) has the attribute '%s', which %s does not know", k->node->name,
       k->node->op, a->name, call->op->path);
}

/* An input of the node whose rows only the run counts, unless the script asked for the count. Its
 * results have to be such values again: others would have rows that mean nothing. */
static Node counted_input(const Importing *k, const OnnxNode *n) {
  for (int i = 0; i < n->n_inputs && !k->maker.count_asked; i++) {
    const Value *in = *n->inputs[i] ? tirc_strmap_get(&k->values, n->inputs[i]) : NULL;
    const Node x = in ? tirc_script_relax(*in) : NULL;
    if (x && tirc_graph_counted(&k->maker, x)) return x;
  }
  return NULL;
}

static void take_results(Importing *k, Value v) {
  const OnnxNode *n = k->node;
  if (tirc_script_relax(v) && tirc_script_relax(v)->info->kind == INFO_TUPLE)
    v = tirc_script_collect(k->conversions->sc, v, VAL_TUPLE);
  const bool several = v.kind == VAL_LIST || v.kind == VAL_TUPLE;
  const int given = several ? v.u.list->n : 1;
  const Node counted = counted_input(k, n);
  for (int i = 0; i < n->n_outputs; i++) {
    const Value each = !several ? v : i < given ? v.u.list->at[i] : VALUE_NONE;
    if (!*n->outputs[i]) continue;
    if (i >= given || (!tirc_script_relax(each) && each.kind != VAL_LIST))
      FAIL(k, NULL, "node '%s' (%s): its output '%s' is not made", n->name, n->op, n->outputs[i]);
    if (counted &&
        !(tirc_script_relax(each) && tirc_graph_counted(&k->maker, tirc_script_relax(each))))
      tirc_import_not_known(&k->maker, k->conversions->sc, counted);
    tirc_import_put(k, n->outputs[i], each);
  }
}

static void run_call(Script *sc, void *self) {
  Call *call = self;
  take_results(call->k, tirc_script_call(sc, call->op->callee,
                                         &(Args){.n = call->n,
                                                 .at = call->args,
                                                 .n_keywords = call->n_keywords,
                                                 .names = call->names,
                                                 .keywords = call->values}));
}

static const Operator *conversion_of(Importing *k, const OnnxNode *n) {
  const char *name = *n->domain ? tirc_format(k->c, "%s.%s", n->domain, n->op) : n->op;
  const Operator *op = tirc_operator(k->conversions, name);
  if (op) return op;
  const int n_known = tirc_n_operators(k->conversions);
  const char **all = tirc_new_array(k->c, const char *, n_known);
  for (int i = 0; i < n_known; i++) all[i] = tirc_operator_name(k->conversions, i);
  const char *near = tirc_nearest(k->c, name, n_known, all);
  FAIL(k,
       tirc_format(k->c,
                   "%s--operators DIR adds operators: write " SHELF
                   " = {\"%s\": \"FILE.FUNCTION\"} in DIR/" SHELF "/table.sch",
                   near ? tirc_format(k->c, "%s ", near) : "", name),
       "node '%s': the operator %s is not known", n->name, name);
}

static const OnnxFunction *function_of(const Importing *k, const OnnxNode *n) {
  for (int i = 0; i < k->model->n_functions; i++) {
    const OnnxFunction *f = &k->model->functions[i];
    if (!strcmp(f->name, n->op) && !strcmp(f->domain, n->domain)) return f;
  }
  return NULL;
}

/* Its nodes take the place of the node that calls it; its names end with it. */
static void convert_function(Importing *k, const OnnxNode *n, const OnnxFunction *f) {
  enum { MOST_FUNCTIONS = 64 };
  const OnnxModel *body = f->body;
  const Called called = {n, f, k->called};
  const int outside = k->hidden.n, most = n->n_inputs;
  const int64_t opset = k->opset;
  Value *inputs = tirc_new_array(k->c, Value, body->n_inputs),
        *outputs = tirc_new_array(k->c, Value, body->n_outputs);
  if (k->depth >= MOST_FUNCTIONS)
    FAIL(k, NULL, "the functions of the file call each other more than %d deep", MOST_FUNCTIONS);
  if (most > body->n_inputs || n->n_outputs > body->n_outputs)
    FAIL(k, NULL, "node '%s': the function %s of the file has %d inputs and %d outputs", n->name,
         f->name, body->n_inputs, body->n_outputs);
  for (int i = 0; i < body->n_inputs; i++)
    inputs[i] = i < most && *n->inputs[i] ? tirc_import_value(k, n->inputs[i]) : VALUE_NONE;
  k->called = &called;
  k->opset = body->opset;
  k->depth++;
  for (int i = 0; i < body->n_inputs; i++) tirc_import_put(k, body->inputs[i].name, inputs[i]);
  tirc_import_nodes(k, body, 0);
  for (int i = 0; i < body->n_outputs; i++)
    outputs[i] = tirc_import_value(k, body->outputs[i].name);
  k->depth--;
  tirc_import_leave_names(k, outside);
  k->called = called.outer;
  k->opset = opset;
  for (int i = 0; i < n->n_outputs; i++) {
    if (!*n->outputs[i]) continue;
    if (outputs[i].kind == VAL_NONE)
      FAIL(k, NULL, "node '%s': its output '%s' is an input of the function %s that is left out",
           n->name, n->outputs[i], f->name);
    tirc_import_put(k, n->outputs[i], outputs[i]);
  }
}

/* A script may do as much as the node's attributes are large: trees stand in such lists. */
static int64_t steps_for(const OnnxNode *n) {
  enum { AN_ELEMENT = 20 };
  int64_t elements = 0;
  for (int i = 0; i < n->n_attrs; i++) elements += n->attrs[i].n;
  return elements * AN_ELEMENT;
}

static void run_within_limits(Importing *k, Call *call) {
  Script *sc = k->conversions->sc;
  const int64_t usual = sc->max_steps;
  sc->max_steps += steps_for(k->node);
  tirc_script_within_limits(sc, (Loc){k->model->path, 0, 0}, run_call, call);
  sc->max_steps = usual;
}

static void convert(Importing *k, const OnnxNode *n) {
  const OnnxFunction *f = function_of(k, n);
  if (f) {
    convert_function(k, n, f);
    return;
  }
  Call call = {.k = k, .op = conversion_of(k, n), .n = n->n_inputs};
  k->node = n;
  k->maker.count_asked = false;
  k->maker.hint = n->n_outputs && *n->outputs[0] ? n->outputs[0] : n->name;
  call.args = tirc_new_array(k->c, Value, n->n_inputs);
  call.values = tirc_new_array(k->c, Value, n->n_attrs + 3);
  call.names = tirc_new_array(k->c, const char *, n->n_attrs + 3);
  for (int i = 0; i < n->n_inputs; i++)
    call.args[i] = *n->inputs[i] ? tirc_import_value(k, n->inputs[i]) : VALUE_NONE;
  for (int i = 0; i < n->n_attrs; i++) add_attr(&call, &n->attrs[i]);
  if (param_named(call.op, "opset") && !attr_named(n->n_attrs, n->attrs, "opset"))
    add_keyword(&call, "opset", tirc_value_int(k->opset));
  if (param_named(call.op, "x_bits") && call.n)
    add_keyword(&call, "x_bits", tirc_value_int(bits_in_file(k, call.args[0])));
  if (param_named(call.op, "n_outputs"))
    add_keyword(&call, "n_outputs", tirc_value_int(n->n_outputs));
  if (k->within) /* within those of the node around */
    run_call(k->conversions->sc, &call);
  else
    run_within_limits(k, &call);
}

/* With the node's name, and the script's place among the words. */
void tirc_import_node(Importing *k, const OnnxNode *n) {
  enum { MOST_NODES = 200000 };
  const char *around = k->maker.whose;
  if (++k->n_converted > MOST_NODES)
    FAIL(k, NULL, "with functions and turns of loops written out there are more than %d nodes",
         MOST_NODES);
  Trap trap;
  if (TIRC_TRY(k->c, trap)) {
    k->maker.whose = tirc_format(k->c, "node '%s' (%s)", n->name, n->op);
    convert(k, n);
    tirc_graph_take_needs(&k->maker, k->conversions->sc);
    k->maker.whose = around;
    TIRC_END(k->c, trap);
    return;
  }
  const Diag d = k->c->diag;
  if (d.code == CODE_ONNX) tirc_throw(k->c);
  const char *words = d.loc.line > 0 ? tirc_script_placed(k->c, d.message, d.loc) : d.message;
  k->c->diag.message = tirc_format(k->c, "node '%s' (%s): %s", n->name, n->op, words);
  k->c->diag.loc = (Loc){k->model->path, 0, 0};
  tirc_throw(k->c);
}

void tirc_import_nodes(Importing *k, const OnnxModel *g, int from) {
  for (int i = from; i < g->n_nodes && tirc_import_next(k, g, i); i++) continue;
}

/* The same each time that the graph runs. */
static Value inner_weight(Importing *k, const OnnxTensor *t) {
  Value *known = tirc_map_get(&k->inner_weights, t);
  if (!known) {
    known = tirc_new(k->c, Value);
    *known = tirc_import_tensor(k, t, t->name);
    tirc_map_set(k->c, &k->inner_weights, t, known);
  }
  return *known;
}

static void run_inner(const GraphBody *self, Script *sc, const Value *inputs, Value *outputs) {
  const Inner *in = (const Inner *)self;
  Importing *k = in->k;
  const OnnxModel *g = in->graph;
  const OnnxNode *around = k->node;
  const char *hint = k->maker.hint;
  const Loc loc = sc->loc;
  const int outside = k->hidden.n;
  k->depth++;
  k->within++;
  for (int i = 0; i < g->n_inputs; i++) tirc_import_put(k, g->inputs[i].name, inputs[i]);
  for (int i = 0; i < g->n_weights; i++)
    tirc_import_put(k, g->weights[i].name, inner_weight(k, &g->weights[i]));
  tirc_import_nodes(k, g, 0);
  k->depth--;
  k->within--;
  k->node = around;
  k->maker.hint = hint;
  sc->loc = loc;
  for (int i = 0; i < g->n_outputs; i++) outputs[i] = tirc_import_value(k, g->outputs[i].name);
  tirc_import_leave_names(k, outside);
}
