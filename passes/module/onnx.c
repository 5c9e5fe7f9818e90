/* The module of an ONNX file: its inputs, its nodes (onnx_nodes.c), its results. */
#include "onnx_import.h"

#include "ir/tree/annotations.h"
#include "ir/utf8.h"

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
  if (!v->is_tensor) FAIL(k, NULL, "the input '%s' is not a tensor", v->name);
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

const OnnxBound *tirc_import_bound(const Importing *k, const char *name) {
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
    const OnnxBound *b = tirc_import_bound(k, v->name);
    k->places[i] = -1;
    if (b && (!b->if_needed || k->is_bound[i])) {
      check_bound(k, v, b->value);
      tirc_import_put(k, v->name, tirc_import_tensor(k, b->value, v->name));
    } else {
      k->places[i] = k->maker.params.n;
      const Info info = input_info(k, v);
      const Node var = tirc_graph_input(&k->maker, spelling(k, v->name), info, i);
      tirc_import_put(k, v->name, tirc_script_of_relax(var));
      note_name(k, var->name, v->name);
    }
  }
  for (int i = 0; i < k->model->n_weights; i++)
    tirc_import_put(k, k->model->weights[i].name,
                    tirc_import_tensor(k, &k->model->weights[i], k->model->weights[i].name));
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
        (rows && rows->of[d] && n > v->dims[d].value))
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

typedef VEC(Node) Results;

static int place_of(Node n, int n_nodes, const Node *nodes) {
  int i = 0;
  while (i < n_nodes && nodes[i] != n) i++;
  return i;
}

/* Behind the file's outputs: of those whose rows only the run counts, how many there are; of
 * outputs with one count the first gives it its name. */
static void add_count(Importing *k, Results *r, int output, int axis, Node count) {
  GraphMaker *m = &k->maker;
  const int at = place_of(count, r->n, r->at);
  m->graph->attrs = tirc_with_result_count(k->c, m->graph->attrs, output, at, axis);
  if (at < r->n) return;
  const char *name = tirc_format(k->c, "%s_count", k->model->outputs[output].name);
  if (count->kind == NODE_VAR) rename_node(count, tirc_graph_name(m, name));
  vec_push(k->c, *r, count);
}

static void add_counts(Importing *k, Results *r) {
  for (int i = 0; i < k->model->n_outputs; i++) {
    const Counted *own = tirc_graph_counted(&k->maker, r->at[i]);
    for (int axis = 0; own && axis < own->ndim; axis++)
      if (own->of[axis]) add_count(k, r, i, axis, own->of[axis]);
  }
}

static const Module *close_module(Importing *k, int n_inputs) {
  Tirc *c = k->c;
  GraphMaker *m = &k->maker;
  Results results = {0};
  VEC(Node) alive = {0};
  if (!k->model->n_outputs) FAIL(k, NULL, "the model has no outputs");
  for (int i = 0; i < k->model->n_outputs; i++) {
    vec_push(c, results, output_of(k, &k->model->outputs[i]));
    name_output(k, results.at, i);
  }
  add_counts(k, &results);
  const int n = results.n;
  Node *outputs = results.at;
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
  tirc_import_nodes(k, k->model, 0);
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
        tirc_depends_on_input(k->needed, i) ? tirc_import_bound(k, k->model->inputs[i].name) : NULL;
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
  m->writer.not_known = tirc_import_not_known;
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
