/* Each node becomes what a script says that its operator is. */
#include "onnx.h"

#include "graph_branch.h"
#include "graph_builder.h"
#include "operators_internal.h"

#include "ir/nearest.h"
#include "ir/tree/annotations.h"
#include "ir/utf8.h"

#include <stddef.h>

#define SHELF "onnx"

/* A name of a graph within a node, and what it was outside: NULL, nothing. */
typedef struct Hidden {
  const char *name;
  Value *value;
} Hidden;

/* A function of the file at work: the node that calls it, and where that stands. */
typedef struct Called {
  const OnnxNode *node;
  const OnnxFunction *function;
  const struct Called *outer; /* NULL: in the file's graph */
} Called;

typedef struct Importing {
  Tirc *c;
  const OnnxModel *model;
  const OnnxImport *options;
  GraphMaker maker;
  Operators *conversions;
  const OnnxNode *node; /* that is converted */
  StrMap values;        /* name -> Value * */
  VEC(Hidden) hidden;   /* while graphs within nodes are converted, the innermost last */
  PtrMap few_bits;      /* value -> the OnnxTensor of 4 bits that it is */
  PtrMap inner_weights; /* of graphs within nodes: OnnxTensor -> Value * */
  StrMap symbols;       /* names of extents -> variables */
  Attrs names;          /* "file_names" of inputs and extents */
  Needs needs;          /* what conversions ask of extents */
  int depth;            /* of graphs within nodes, and of functions */
  int within;           /* of graphs within nodes: a script is at work that runs them */
  const Called *called; /* or NULL */
  int64_t opset;        /* of the nodes that are converted now */
  int n_converted;
  int n_apart;      /* of Ifs within whose branches what follows them is converted now */
  uintptr_t needed; /* inputs that have to be constants */
  bool *is_bound;
  int *places;
} Importing;

#define FAIL(k, hint, ...)                                                                         \
  tirc_fail((k)->c, (Loc){(k)->model->path, 0, 0}, CODE_ONNX, hint, __VA_ARGS__)

/* --- values by name --------------------------------------------------------------------------- */

static Value value_named(Importing *k, const char *name) {
  const Value *v = tirc_strmap_get(&k->values, name);
  if (!v) FAIL(k, NULL, "nothing gives the value '%s'", name);
  return *v;
}

static void put_value(Importing *k, const char *name, Value v) {
  Value *own = tirc_new(k->c, Value);
  *own = v;
  void **at = tirc_strmap_at(k->c, &k->values, name);
  if (k->depth) vec_push(k->c, k->hidden, ((Hidden){name, *at}));
  *at = own;
}

/* The names of a graph within a node end with it: what they stood for, they stand for again. */
static void leave_names(Importing *k, int from) {
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

static Value tensor_value(Importing *k, const OnnxTensor *t, const char *name) {
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

/* --- inputs ----------------------------------------------------------------------------------- */

/* A name of the file that is one here, too, is kept, and is nobody else's. */
static bool is_taken(const OnnxModel *m, const char *name) {
  for (int i = 0; i < m->n_outputs; i++)
    if (!strcmp(m->outputs[i].name, name)) return true;
  for (int i = 0; i < m->n_inputs; i++) {
    const OnnxValue *v = &m->inputs[i];
    if (!strcmp(v->name, name)) return true;
    for (int d = 0; d < v->ndim; d++)
      if (v->dims[d].value < 0 && !strcmp(v->dims[d].name, name)) return true;
  }
  return false;
}

/* What to call what the file calls so. */
static const char *spelling(Importing *k, const char *in_file) {
  const char *name = tirc_graph_spelling(k->c, in_file);
  while (strcmp(name, in_file) != 0 && is_taken(k->model, name))
    name = tirc_format(k->c, "%s_", name);
  return name;
}

/* Whether an extent is meant by what the user calls it: its name in the file, or in the program. */
static bool is_called(Tirc *c, const OnnxModel *m, const char *name, const char *given) {
  return !strcmp(name, given) ||
         (!is_taken(m, given) && !strcmp(tirc_graph_spelling(c, name), given));
}

static void note_name(Importing *k, const char *name, const char *in_file) {
  if (strcmp(name, in_file) != 0 && !tirc_utf8_wrong(in_file))
    k->names = tirc_with_name_in_file(k->c, k->names, name, in_file);
}

/* A number that the user gave for an extent of this name, or else a variable. */
static Expr extent_of(Importing *k, const OnnxValue *v, int d) {
  const OnnxDim *dim = &v->dims[d];
  const OnnxImport *o = k->options;
  if (dim->value >= 0) return tirc_int(k->c, DT_INT64, dim->value);
  const char *name = *dim->name ? dim->name : tirc_format(k->c, "%s_d%d", v->name, d);
  for (int i = 0; i < o->n_dims; i++)
    if (is_called(k->c, k->model, name, o->dims[i])) return tirc_int(k->c, DT_INT64, o->extents[i]);
  void **at = tirc_strmap_at(k->c, &k->symbols, name);
  if (!*at) {
    const char *own = tirc_graph_name(&k->maker, spelling(k, name));
    *at = (void *)(uintptr_t)tirc_var(k->c, own, DT_INT64);
    tirc_script_extents(k->conversions->sc, *at);
    note_name(k, own, name);
  }
  return *at;
}

static Info input_info(Importing *k, const OnnxValue *v) {
  if (!v->is_tensor) FAIL(k, NULL, "the input '%s' is no tensor", v->name);
  if (v->dtype.code == TYPE_VOID)
    FAIL(k, "types are bool, int8 to uint64, float16, bfloat16, float32 and float64",
         "the input '%s' has a type of elements that is not read", v->name);
  if (!v->has_shape)
    FAIL(k, "--bind NAME=VALUE makes it a constant", "the input '%s' says nothing of its shape",
         v->name);
  Expr *shape = tirc_new_array(k->c, Expr, v->ndim);
  for (int d = 0; d < v->ndim; d++) shape[d] = extent_of(k, v, d);
  return tirc_info_tensor(k->c, v->dtype, v->ndim, shape);
}

static const OnnxBound *bound_of(const Importing *k, const char *name) {
  for (int i = 0; i < k->options->n_bound; i++)
    if (!strcmp(k->options->bound[i].name, name)) return &k->options->bound[i];
  return NULL;
}

static void check_bound(Importing *k, const OnnxValue *v, const OnnxTensor *t) {
  if (v->dtype.code != TYPE_VOID && !tirc_dtype_equal(v->dtype, t->dtype))
    FAIL(k, NULL, "the input '%s' is %s, and %s is given for it", v->name,
         tirc_dtype_name(k->c, v->dtype), tirc_dtype_name(k->c, t->dtype));
  if (v->has_shape && v->ndim != t->ndim)
    FAIL(k, NULL, "the input '%s' has %d dimensions, and %d are given", v->name, v->ndim, t->ndim);
  for (int d = 0; v->has_shape && d < v->ndim; d++)
    if (v->dims[d].value >= 0 && v->dims[d].value != t->dims[d])
      FAIL(k, NULL, "dimension %d of the input '%s' is %lld, and %lld is given", d, v->name,
           (long long)v->dims[d].value, (long long)t->dims[d]);
}

static void take_inputs(Importing *k) {
  for (int i = 0; i < k->model->n_inputs; i++) {
    const OnnxValue *v = &k->model->inputs[i];
    const OnnxBound *b = bound_of(k, v->name);
    k->places[i] = -1;
    if (b && (!b->if_needed || k->is_bound[i])) {
      check_bound(k, v, b->value);
      put_value(k, v->name, tensor_value(k, b->value, v->name));
    } else {
      k->places[i] = k->maker.params.n;
      const Info info = input_info(k, v);
      const Node var = tirc_graph_input(&k->maker, spelling(k, v->name), info, i);
      put_value(k, v->name, tirc_script_of_relax(var));
      note_name(k, var->name, v->name);
    }
  }
  for (int i = 0; i < k->model->n_weights; i++)
    put_value(k, k->model->weights[i].name,
              tensor_value(k, &k->model->weights[i], k->model->weights[i].name));
}

/* --- nodes ------------------------------------------------------------------------------------ */

/* What a script asks of a value that only the run knows: the inputs behind it are to be constants.
 */
static void not_known(void *self, Script *sc, Node v) {
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
  if (a->kind == ONNX_TENSOR) return tensor_value(k, a->tensor, a->tensor->name);
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
      not_known(&k->maker, k->conversions->sc, counted);
    put_value(k, n->outputs[i], each);
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
                   "%sa folder adds some, --operators DIR: in DIR/" SHELF "/table.sch a dict " SHELF
                   " = {\"%s\": \"FILE.FUNCTION\"}",
                   near ? tirc_format(k->c, "%s ", near) : "", name),
       "node '%s': the operator %s is not known", n->name, name);
}

static void convert_named(Importing *k, const OnnxNode *n);
static void convert_nodes(Importing *k, const OnnxModel *g, int from);

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
    inputs[i] = i < most && *n->inputs[i] ? value_named(k, n->inputs[i]) : VALUE_NONE;
  k->called = &called;
  k->opset = body->opset;
  k->depth++;
  for (int i = 0; i < body->n_inputs; i++) put_value(k, body->inputs[i].name, inputs[i]);
  convert_nodes(k, body, 0);
  for (int i = 0; i < body->n_outputs; i++) outputs[i] = value_named(k, body->outputs[i].name);
  k->depth--;
  leave_names(k, outside);
  k->called = called.outer;
  k->opset = opset;
  for (int i = 0; i < n->n_outputs; i++) {
    if (!*n->outputs[i]) continue;
    if (outputs[i].kind == VAL_NONE)
      FAIL(k, NULL, "node '%s': its output '%s' is an input of the function %s that is left out",
           n->name, n->outputs[i], f->name);
    put_value(k, n->outputs[i], outputs[i]);
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
    call.args[i] = *n->inputs[i] ? value_named(k, n->inputs[i]) : VALUE_NONE;
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
static void convert_named(Importing *k, const OnnxNode *n) {
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

/* --- what follows an If, with each of its branches --------------------------------------------- */

/* The nodes of a graph from an If on, of which one branch is taken. */
typedef struct Rest {
  GraphBody body; /* the first member */
  Importing *k;
  const OnnxModel *graph;
  int at, taken; /* 1, 2 */
} Rest;

static void run_rest(const GraphBody *self, Script *sc, const Value *inputs, Value *outputs) {
  const Rest *r = (const Rest *)(const void *)self;
  Importing *k = r->k;
  const int outside = k->hidden.n;
  (void)sc, (void)inputs;
  k->depth++;
  k->maker.taken = r->taken;
  convert_named(k, &r->graph->nodes[r->at]);
  convert_nodes(k, r->graph, r->at + 1);
  k->depth--;
  for (int i = 0; i < self->n_outputs; i++) outputs[i] = value_named(k, r->graph->outputs[i].name);
  leave_names(k, outside);
}

static bool may_be_bound(const Importing *k) {
  bool any = false;
  for (int i = 0; i < k->model->n_inputs; i++) {
    const OnnxBound *b =
        tirc_depends_on_input(k->needed, i) ? bound_of(k, k->model->inputs[i].name) : NULL;
    any |= b && b->if_needed && !k->is_bound[i];
  }
  return any;
}

/* What an import was in the middle of, where it may go on after an error. */
typedef struct Kept {
  GraphMark mark;
  int hidden, depth, within, n_apart;
  const OnnxNode *node;
  const Called *called;
  int64_t opset;
} Kept;

static Kept keep(Importing *k) {
  return (Kept){tirc_graph_mark(&k->maker, k->conversions->sc),
                k->hidden.n,
                k->depth,
                k->within,
                k->n_apart,
                k->node,
                k->called,
                k->opset};
}

/* What was converted since then is gone. Throws on where there is nothing that helps. */
static void go_back(Importing *k, const Kept *kept) {
  if (!tirc_script_catchable(&k->c->diag) || may_be_bound(k)) tirc_throw(k->c);
  leave_names(k, kept->hidden);
  k->depth = kept->depth;
  k->within = kept->within;
  k->n_apart = kept->n_apart;
  k->node = kept->node;
  k->called = kept->called;
  k->opset = kept->opset;
  tirc_graph_return_to(&k->maker, k->conversions->sc, &kept->mark);
}

/* NULL: it cannot be; the reason is the context's, if there is one. */
static Node try_rest(Importing *k, const Rest *r) {
  GraphMaker *m = &k->maker;
  const Kept kept = keep(k);
  const char *name = tirc_format(k->c, "%s_%s", m->hint, r->taken == 1 ? "then" : "else");
  Trap trap;
  k->c->diag.message = NULL;
  if (TIRC_TRY(k->c, trap)) {
    const Node call = tirc_graph_write_branch(m, k->conversions->sc, &r->body, name);
    TIRC_END(k->c, trap);
    if (call) return call;
  }
  go_back(k, &kept);
  return NULL;
}

/* One branch alone can be gone on with: the condition on extents has to be for it. */
static bool take_one(Importing *k, Node cond, const Rest *r, const char *reason, Value *outputs) {
  Tirc *c = k->c;
  Script *sc = k->conversions->sc;
  const OnnxNode *n = &r->graph->nodes[r->at];
  const Expr holds = tirc_graph_condition(sc, cond);
  if (!holds || !reason) return false;
  const char *around = k->maker.whose;
  const Expr truth = tirc_cast(c, DT_BOOL, holds);
  const Need need = {r->taken == 1 ? truth : tirc_not(c, truth),
                     tirc_format(c, "the other branch does not go with what follows: %s", reason),
                     {0}};
  k->maker.whose = tirc_format(c, "node '%s' (%s)", n->name, n->op);
  tirc_graph_require(&k->maker, 1, &need);
  k->maker.whose = around;
  run_rest(&r->body, sc, NULL, outputs);
  return true;
}

/* An If whose branches give different things: what follows in the graph is part of each of them.
 * False: that cannot be; *why is what is wrong with the first branch, if both have something. */
static bool convert_apart(Importing *k, const OnnxModel *g, int at, Diag *why) {
  enum { MOST_APART = 10 };
  GraphMaker *m = &k->maker;
  const Node cond = m->apart;
  const Kept kept = keep(k);
  Value *outputs = tirc_new_array(k->c, Value, g->n_outputs);
  Node calls[2];
  Diag wrong[2] = {{0}};
  Rest rests[2];
  m->apart = NULL;
  if (k->n_apart == MOST_APART) return false;
  k->n_apart++;
  m->hint = g->outputs[0].name;
  for (int i = 0; i < 2; i++) {
    rests[i] = (Rest){{0, g->n_outputs, run_rest}, k, g, at, i + 1};
    calls[i] = try_rest(k, &rests[i]);
    if (!calls[i]) wrong[i] = k->c->diag;
  }
  if (wrong[0].message && wrong[1].message) *why = wrong[0];
  const int one = calls[0] ? 0 : 1;
  bool ok = calls[0] && calls[1] && tirc_graph_if(m, cond, calls, g->n_outputs, outputs);
  if (!calls[0] != !calls[1]) {
    go_back(k, &kept);
    ok = take_one(k, cond, &rests[one], wrong[1 - one].message, outputs);
  }
  k->n_apart = kept.n_apart;
  for (int i = 0; ok && i < g->n_outputs; i++) put_value(k, g->outputs[i].name, outputs[i]);
  return ok;
}

/* False: the rest of the nodes is converted, too. */
static bool convert_next(Importing *k, const OnnxModel *g, int at) {
  const Kept kept = keep(k);
  Trap trap;
  k->maker.apart = NULL;
  if (TIRC_TRY(k->c, trap)) {
    convert_named(k, &g->nodes[at]);
    TIRC_END(k->c, trap);
    return true;
  }
  if (!k->maker.apart || !g->n_outputs) tirc_throw(k->c);
  Diag why = k->c->diag;
  go_back(k, &kept);
  if (convert_apart(k, g, at, &why)) return false;
  k->c->diag = why;
  tirc_throw(k->c);
}

static void convert_nodes(Importing *k, const OnnxModel *g, int from) {
  for (int i = from; i < g->n_nodes && convert_next(k, g, i); i++) continue;
}

/* The same each time that the graph runs. */
static Value inner_weight(Importing *k, const OnnxTensor *t) {
  Value *known = tirc_map_get(&k->inner_weights, t);
  if (!known) {
    known = tirc_new(k->c, Value);
    *known = tensor_value(k, t, t->name);
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
  for (int i = 0; i < g->n_inputs; i++) put_value(k, g->inputs[i].name, inputs[i]);
  for (int i = 0; i < g->n_weights; i++)
    put_value(k, g->weights[i].name, inner_weight(k, &g->weights[i]));
  convert_nodes(k, g, 0);
  k->depth--;
  k->within--;
  k->node = around;
  k->maker.hint = hint;
  sc->loc = loc;
  for (int i = 0; i < g->n_outputs; i++) outputs[i] = value_named(k, g->outputs[i].name);
  leave_names(k, outside);
}

/* --- the module ------------------------------------------------------------------------------- */

static const char *giver_of(const Importing *k, const char *value) {
  for (int i = 0; i < k->model->n_nodes; i++)
    for (int o = 0; o < k->model->nodes[i].n_outputs; o++)
      if (!strcmp(k->model->nodes[i].outputs[o], value)) return k->model->nodes[i].name;
  return NULL;
}

/* What the file says of an output's shape is what its nodes give, where both are numbers; of rows
 * that only the run counts there may be more. */
static void check_shape(Importing *k, const OnnxValue *v, Info is, const Counted *rows) {
  const char *node = giver_of(k, v->name);
  const char *by = node ? tirc_format(k->c, "node '%s' gives", node) : "there are";
  if (!v->has_shape || is->kind != INFO_TENSOR || is->ndim < 0) return;
  if (v->ndim != is->ndim)
    FAIL(k, NULL, "the output '%s' is said to have %d dimensions, and %s %d", v->name, v->ndim, by,
         is->ndim);
  for (int d = 0; is->shape && d < v->ndim; d++) {
    int64_t n;
    if (v->dims[d].value < 0 || !tirc_const_int(is->shape[d], &n) || n == v->dims[d].value ||
        (rows && rows->axis == d && n > v->dims[d].value))
      continue;
    FAIL(k, NULL, "dimension %d of the output '%s' is said to be %lld, and %s %lld", d, v->name,
         (long long)v->dims[d].value, by, (long long)n);
  }
}

static Node output_of(Importing *k, const OnnxValue *v) {
  const Value *value = tirc_strmap_get(&k->values, v->name);
  if (!value) FAIL(k, NULL, "nothing gives the output '%s'", v->name);
  const Node n = tirc_script_relax(*value);
  if (!n) FAIL(k, NULL, "the output '%s' is a sequence, and has to be a tensor", v->name);
  if (v->dtype.code != TYPE_VOID && !tirc_dtype_equal(v->dtype, n->info->dtype))
    FAIL(k, NULL, "the output '%s' is said to be %s, and its nodes give %s", v->name,
         tirc_dtype_name(k->c, v->dtype), tirc_dtype_name(k->c, n->info->dtype));
  check_shape(k, v, n->info, tirc_graph_counted(&k->maker, n));
  k->maker.hint = v->name;
  return tirc_graph_operand(&k->maker, n);
}

static void rename_node(Node n, const char *name) { ((struct Node *)(uintptr_t)n)->name = name; }

/* What the file calls an output is its name, whatever its operator was made of: what had that name
 * takes the other one. An input, or what another output is, too, keeps its name. */
static void name_output(Importing *k, Node *outputs, int i) {
  const GraphMaker *m = &k->maker;
  const char *wanted = tirc_graph_spelling(k->c, k->model->outputs[i].name);
  Node named = NULL;
  bool bound = false;
  for (int o = 0; o < i; o++)
    if (outputs[o] == outputs[i]) return;
  for (int b = 0; b < m->bindings.n; b++) {
    const Node var = m->bindings.at[b].var;
    bound |= var == outputs[i];
    if (!strcmp(var->name, wanted)) named = var;
  }
  for (int p = 0; p < m->params.n; p++)
    if (!strcmp(m->params.at[p]->name, wanted)) return;
  for (int o = 0; named && o < i; o++)
    if (outputs[o] == named) return; /* two outputs are spelled alike */
  if (!bound || named == outputs[i]) return;
  if (named) rename_node(named, outputs[i]->name);
  rename_node(outputs[i], wanted);
}

/* Results are called what the file calls them, which what they are made of may not be. */
static void note_results(Importing *k, Graph *g, const Node *outputs) {
  const int n = k->model->n_outputs;
  const char **names = tirc_new_array(k->c, const char *, n);
  bool same = true;
  for (int i = 0; i < n; i++) {
    const char *in_file = k->model->outputs[i].name;
    names[i] = tirc_utf8_wrong(in_file) ? tirc_graph_spelling(k->c, in_file) : in_file;
    same &= outputs[i]->kind == NODE_VAR && !strcmp(outputs[i]->name, names[i]);
    for (int p = 0; p < k->maker.params.n; p++) same &= outputs[i] != k->maker.params.at[p];
  }
  if (!same) g->attrs = tirc_with_results_in_file(k->c, g->attrs, n, names);
}

static int place_of(Node n, int n_nodes, const Node *nodes) {
  int i = 0;
  while (i < n_nodes && nodes[i] != n) i++;
  return i;
}

/* Behind the file's outputs: of those whose rows only the run counts, how many there are; of
 * outputs with one count the first gives it its name. */
static int add_counts(Importing *k, Node *outputs) {
  GraphMaker *m = &k->maker;
  int n = k->model->n_outputs;
  for (int i = 0; i < k->model->n_outputs; i++) {
    const Counted *own = tirc_graph_counted(m, outputs[i]);
    if (!own) continue;
    const int at = place_of(own->count, n, outputs);
    m->graph->attrs = tirc_with_result_count(k->c, m->graph->attrs, i, at, own->axis);
    if (at < n) continue;
    const char *name = tirc_format(k->c, "%s_count", k->model->outputs[i].name);
    if (own->count->kind == NODE_VAR) rename_node(own->count, tirc_graph_name(m, name));
    outputs[n++] = own->count;
  }
  return n;
}

static const Module *close_module(Importing *k, int n_inputs) {
  Tirc *c = k->c;
  GraphMaker *m = &k->maker;
  int n = k->model->n_outputs;
  Node *outputs = tirc_new_array(c, Node, 2 * n);
  VEC(Node) alive = {0};
  if (!n) FAIL(k, NULL, "the model has no outputs");
  for (int i = 0; i < n; i++) {
    outputs[i] = output_of(k, &k->model->outputs[i]);
    name_output(k, outputs, i);
  }
  n = add_counts(k, outputs);
  for (int i = 0; i < n; i++) {
    bool bound = false;
    for (int b = 0; b < m->bindings.n; b++) bound |= m->bindings.at[b].var == outputs[i];
    for (int a = 0; a < alive.n; a++) bound &= alive.at[a] != outputs[i];
    if (bound) vec_push(c, alive, outputs[i]);
  }
  GraphBlock *block = tirc_new(c, GraphBlock);
  *block = (GraphBlock){!m->branches.n, m->bindings.n, m->bindings.at, alive.n, alive.at};
  if (m->branches.n) block->n_outputs = 0; /* a dataflow block has no branches */
  Graph *g = m->graph;
  g->n_params = m->params.n;
  g->params = m->params.at;
  g->n_blocks = m->bindings.n ? 1 : 0;
  g->blocks = block;
  g->result = n == 1 ? outputs[0] : tirc_node_tuple(c, n, outputs);
  for (int i = 0; i < k->names.n; i++)
    g->attrs = tirc_attrs_set(c, g->attrs, k->names.at[i].key, k->names.at[i].value);
  g->attrs = tirc_attrs_set(c, g->attrs, tirc_key(KEY_NUM_INPUT), tirc_int(c, DT_INT64, n_inputs));
  note_results(k, g, outputs);
  const Graph **graphs = tirc_new_array(c, const Graph *, 1 + m->branches.n);
  *graphs = g;
  for (int i = 0; i < m->branches.n; i++) graphs[1 + i] = m->branches.at[i];
  Module *module = tirc_new(c, Module);
  *module = (Module){.c = c,
                     .name = "Module",
                     .file = k->model->path,
                     .is_class = true,
                     .n_funcs = m->funcs.n,
                     .funcs = m->funcs.at,
                     .n_graphs = 1 + m->branches.n,
                     .graphs = graphs};
  return module;
}

static const OnnxModule *import_all(Importing *k) {
  GraphMaker *m = &k->maker;
  OnnxModule *out = tirc_new(k->c, OnnxModule);
  take_inputs(k);
  const int n_inputs = m->params.n;
  convert_nodes(k, k->model, 0);
  *out = (OnnxModule){.model = k->model, .inputs = k->places};
  out->m = tirc_pass_dead_code(m->p, close_module(k, n_inputs));
  out->n_weights = m->params.n - n_inputs;
  OnnxWeight *weights = tirc_new_array(k->c, OnnxWeight, out->n_weights);
  for (int i = 0; i < out->n_weights; i++)
    weights[i] = (OnnxWeight){m->params.at[n_inputs + i]->name, m->params.at[n_inputs + i]->info,
                              m->data.at[n_inputs + i]};
  out->weights = weights;
  return out;
}

/* Inputs that may be bound are, once something asks for what they hold. */
static bool bind_needed(Importing *k) {
  bool more = false;
  for (int i = 0; i < k->model->n_inputs; i++) {
    const OnnxBound *b =
        tirc_depends_on_input(k->needed, i) ? bound_of(k, k->model->inputs[i].name) : NULL;
    more |= b && b->if_needed && !k->is_bound[i];
    if (b) k->is_bound[i] = true;
  }
  return more;
}

static const OnnxModule *try_import(Tirc *c, const OnnxModel *model, const OnnxImport *o,
                                    bool *is_bound, bool *again) {
  Importing *k = tirc_new(c, Importing);
  *k = (Importing){
      .c = c, .model = model, .options = o, .is_bound = is_bound, .opset = model->opset};
  PipelineOptions *pipeline = tirc_new(c, PipelineOptions);
  *pipeline = (PipelineOptions){.operators = o->operators, .evaluate = o->evaluate};
  GraphMaker *m = &k->maker;
  m->p = tirc_passes_open(c, pipeline);
  m->loc = (Loc){model->path, 0, 0};
  m->graph = tirc_new(c, Graph);
  *m->graph = (Graph){.name = "main", .loc = m->loc};
  m->writer.not_known = not_known;
  tirc_graph_maker_open(m);
  k->conversions = tirc_conversions_open(c, o->operators, SHELF);
  k->conversions->sc->writer = &m->writer;
  k->conversions->sc->needs = &k->needs;
  k->places = tirc_new_array(c, int, model->n_inputs);
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    const OnnxModule *out = import_all(k);
    TIRC_END(c, trap);
    return out;
  }
  *again = bind_needed(k);
  if (!*again) tirc_throw(c);
  return NULL;
}

/* A name for a number that no extent has is a slip of the pen. */
static void check_extents(Tirc *c, const OnnxModel *model, const OnnxImport *options) {
  for (int i = 0; i < options->n_dims; i++) {
    Text names = {.c = c};
    bool there = false;
    for (int k = 0; k < model->n_inputs; k++)
      for (int d = 0; d < model->inputs[k].ndim; d++) {
        const OnnxDim *dim = &model->inputs[k].dims[d];
        const char *name =
            *dim->name ? dim->name : tirc_format(c, "%s_d%d", model->inputs[k].name, d);
        if (dim->value >= 0) continue;
        there |= is_called(c, model, name, options->dims[i]);
        tirc_text_addf(&names, "%s%s", names.n ? ", " : "it has ", tirc_graph_spelling(c, name));
      }
    if (!there)
      tirc_fail(c, (Loc){model->path, 0, 0}, CODE_NAME, names.n ? names.at : "all are numbers",
                "the model has no extent '%s'", options->dims[i]);
  }
}

const OnnxModule *tirc_onnx_import(Tirc *c, const OnnxModel *model, const OnnxImport *options) {
  bool *is_bound = tirc_new_array(c, bool, model->n_inputs), again;
  const OnnxModule *out;
  check_extents(c, model, options);
  for (int i = 0; i < options->n_bound; i++) {
    bool there = false;
    for (int k = 0; k < model->n_inputs; k++)
      there |= !strcmp(model->inputs[k].name, options->bound[i].name);
    if (!there)
      tirc_fail(c, (Loc){model->path, 0, 0}, CODE_NAME, "`tirc import` lists the inputs",
                "the model has no input '%s'", options->bound[i].name);
  }
  do out = try_import(c, model, options, is_bound, &again);
  while (!out);
  return out;
}
