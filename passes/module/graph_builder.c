#include "graph_builder.h"

#include "conditions.h"
#include "graph_branch.h"
#include "graph_loop.h"
#include "ir/ascii.h"
#include "ir/tree/annotations.h"
#include "operator_call.h"
#include "operators_internal.h"
#include "symbolic.h"

enum {
  SMALL = 16,            /* elements: such constants stand in the graph's text */
  FOLDED_SMALL = 1024,   /* the same of what no file has: it has no name of its own */
  MOST_FOLDED = 1 << 16, /* elements: larger results are computed when the program is prepared */
  MOST_SYMBOLIC = 256    /* elements that are known but for extents */
};

/* --- names ------------------------------------------------------------------------------------ */

const char *tirc_graph_spelling(Tirc *c, const char *wanted) {
  const bool starts_well = tirc_is_word(*wanted) && !tirc_is_digit(*wanted);
  char *name = tirc_format(c, "%s%s", starts_well ? "" : "v_", wanted);
  for (char *at = name; *at; at++)
    if (!tirc_is_word(*at)) *at = '_';
  return name;
}

const char *tirc_graph_name(GraphMaker *m, const char *wanted) {
  Tirc *c = m->p->c;
  const char *name = tirc_graph_spelling(c, wanted);
  const char *free_name = name;
  intptr_t next = (intptr_t)tirc_strmap_get(&m->names, name);
  for (; tirc_strmap_get(&m->names, free_name); next++)
    free_name = tirc_format(c, "%s_%lld", name, (long long)next);
  if (free_name != name) *tirc_strmap_at(c, &m->names, name) = (void *)next;
  *tirc_strmap_at(c, &m->names, free_name) = (void *)1;
  return free_name;
}

/* --- values ----------------------------------------------------------------------------------- */

uintptr_t tirc_graph_sources(const GraphMaker *m, Node n) {
  return (uintptr_t)tirc_map_get(&m->sources, n);
}

uintptr_t tirc_graph_sources_below(const GraphMaker *m, Node n) {
  uintptr_t all = tirc_graph_sources(m, n);
  for (int i = 0; i < n->n; i++) all |= tirc_graph_sources_below(m, n->args[i]);
  return all;
}

static Node parameter(GraphMaker *m, const char *name, Info info, const void *data) {
  const Node var = tirc_node_var(m->p->c, tirc_graph_name(m, name), info, m->loc);
  vec_push(m->p->c, m->params, var);
  vec_push(m->p->c, m->data, data);
  return var;
}

static uintptr_t source(int number) {
  const int last = (int)sizeof(uintptr_t) * 8 - 1;
  return (uintptr_t)1 << (number < last ? number : last);
}

bool tirc_depends_on_input(uintptr_t sources, int number) { return sources & source(number); }

Node tirc_graph_input(GraphMaker *m, const char *name, Info info, int number) {
  const Node var = parameter(m, name, info, NULL);
  tirc_map_set(m->p->c, &m->sources, var, (void *)source(number));
  return var;
}

Node tirc_graph_constant(const GraphMaker *m, const char *name, Info info, const void *data) {
  const struct Node n = {
      .kind = NODE_CONST, .name = name, .info = info, .data = data, .loc = m->loc};
  return tirc_graph_node(m->p->c, &n);
}

static Node bind_to(GraphMaker *m, Node value, uintptr_t sources) {
  Tirc *c = m->p->c;
  const Node var = tirc_node_var(c, tirc_graph_name(m, m->hint), value->info, m->loc);
  vec_push(c, m->bindings, ((Binding){var, value, m->loc}));
  tirc_map_set(c, &m->sources, var, (void *)sources);
  tirc_map_set(c, &m->values, var, (void *)(uintptr_t)value);
  return var;
}

Node tirc_graph_bind(GraphMaker *m, const struct Node *value, uintptr_t sources) {
  return bind_to(m, tirc_graph_node(m->p->c, value), sources);
}

static Node literal(GraphMaker *m, Expr e) {
  return tirc_graph_node(m->p->c, &(struct Node){.kind = NODE_VALUE, .value = e, .loc = m->loc});
}

/* What is known but for extents, where the run needs it: by the operator that the language of
 * graphs has for a shape as a tensor. */
static Node place_symbolic(GraphMaker *m, Node n) {
  Tirc *c = m->p->c;
  const int count = n->value->n;
  Expr *items = tirc_new_array(c, Expr, count);
  for (int i = 0; i < count; i++) items[i] = tirc_cast(c, DT_INT64, n->value->args[i]);
  const struct StructInfo shape = {.kind = INFO_SHAPE, .ndim = count, .shape = items};
  const struct Node extents = {.kind = NODE_SHAPE,
                               .info = tirc_info_copy(c, &shape),
                               .value = tirc_expr(c, OP_TUPLE, DT_HANDLE, count, items),
                               .loc = m->loc};
  Node *args = tirc_new_array(c, Node, 3);
  const char **keys = tirc_new_array(c, const char *, 3);
  args[0] = tirc_graph_node(c, &extents);
  args[1] = literal(m, tirc_string(c, tirc_dtype_name(c, n->info->dtype)));
  args[2] = literal(m, tirc_expr(c, OP_TUPLE, DT_HANDLE, n->info->ndim, n->info->shape));
  keys[1] = "dtype";
  keys[2] = "extents";
  return tirc_graph_bind(m,
                         &(struct Node){.kind = NODE_CALL,
                                        .n = 3,
                                        .name = "shape_to_tensor",
                                        .args = args,
                                        .keys = keys,
                                        .info = n->info,
                                        .loc = m->loc},
                         0);
}

static bool same_tensor(Info a, Info b) {
  bool same = a->ndim == b->ndim && tirc_dtype_equal(a->dtype, b->dtype);
  int64_t x, y;
  for (int i = 0; same && i < a->ndim; i++)
    same = tirc_const_int(a->shape[i], &x) && tirc_const_int(b->shape[i], &y) && x == y;
  return same;
}

/* What was computed of constants twice, such as a weight that two nodes transpose, is one weight;
 * those of the file have names by which users give others. */
static Node computed_before(const GraphMaker *m, Node n) {
  for (int i = 0; !n->name && i < m->params.n; i++) {
    const Node is = m->data.at[i] ? tirc_map_get(&m->values, m->params.at[i]) : NULL;
    if (is && !is->name && same_tensor(is->info, n->info) &&
        !memcmp(is->data, n->data, (size_t)tirc_info_bytes(n->info)))
      return m->params.at[i];
  }
  return NULL;
}

/* What stands for a constant in the graph. */
static Node place_constant(GraphMaker *m, Node n) {
  Tirc *c = m->p->c;
  Node known = tirc_map_get(&m->places, n);
  if (known && tirc_map_has(&m->closed, known)) known = NULL;
  if (!known && !n->data) {
    known = place_symbolic(m, n);
    tirc_map_set(c, &m->places, n, known);
  }
  if (known) return known;
  const bool small = tirc_info_count(n->info) <= (n->name ? SMALL : FOLDED_SMALL);
  const Node before = small ? NULL : computed_before(m, n);
  const Node to = before  ? before
                  : small ? tirc_node_const(c, n->info, n->data, m->loc)
                          : parameter(m, n->name ? n->name : m->hint, n->info, n->data);
  tirc_map_set(c, &m->places, n, to);
  tirc_map_set(c, &m->values, to, n);
  return to;
}

Node tirc_graph_operand(GraphMaker *m, Node n) {
  if (n->kind == NODE_CONST) return place_constant(m, n);
  if (n->kind != NODE_TUPLE) return n;
  Node *fields = tirc_new_array(m->p->c, Node, n->n);
  for (int i = 0; i < n->n; i++) fields[i] = tirc_graph_operand(m, n->args[i]);
  return tirc_node_tuple(m->p->c, n->n, fields);
}

/* --- constants -------------------------------------------------------------------------------- */

typedef struct Operands {
  const GraphMaker *m;
  bool all_constant; /* of the tensors */
  bool all_known;    /* of them, but for extents */
  uintptr_t sources;
  int64_t n_elements, bytes;
} Operands;

static void look(Operands *o, Node n) {
  if (n->kind == NODE_VAR) o->all_constant = o->all_known = false;
  if (n->kind == NODE_CONST && !n->data) o->all_constant = false;
  if (n->kind == NODE_CONST) o->n_elements += tirc_info_count(n->info);
  if (n->kind == NODE_CONST) o->bytes += tirc_info_bytes(n->info);
  o->sources |= tirc_graph_sources(o->m, n);
  for (int i = 0; i < n->n; i++) look(o, n->args[i]);
}

/* Numbers that decide no shape, and take more memory than what they are made of (integers that
 * stand for floats, or bytes less a zero point): passes are to see what they are made of. */
static bool spreads(Info result, const Operands *o) {
  const bool is_shape = !tirc_dtype_is_float(result->dtype) && tirc_dtype_bytes(result->dtype) > 2;
  return !is_shape && tirc_info_count(result) > SMALL && tirc_info_bytes(result) > o->bytes;
}

/* A call of constants whose results are not large is a constant, or a tuple of them. */
static Node fold(GraphMaker *m, const Operands *o, Node call) {
  Tirc *c = m->p->c;
  if (!o->all_constant || o->n_elements > MOST_FOLDED) return NULL;
  const OperatorProgram *p = tirc_operator_call(m->p, m->graph, call);
  const int n_in = tirc_operator_tensors(call, NULL), n = n_in + p->n_results;
  Node *in = tirc_new_array(c, Node, n_in);
  PassArray *arrays = tirc_new_array(c, PassArray, n);
  Node *results = tirc_new_array(c, Node, p->n_results);
  tirc_operator_tensors(call, in);
  if (p->n_vars) return NULL;
  for (int i = 0; i < n_in; i++)
    if (!tirc_pass_array(c, in[i]->info, in[i]->data, &arrays[i])) return NULL;
  for (int i = 0; i < p->n_results; i++) {
    const TensorType *t = &p->results[i];
    const Info info = tirc_info_tensor(c, t->dtype, t->ndim, t->shape);
    if (tirc_info_count(info) > MOST_FOLDED || spreads(info, o) ||
        !tirc_pass_array(c, info, NULL, &arrays[n_in + i]))
      return NULL;
    results[i] = tirc_graph_constant(m, NULL, info, arrays[n_in + i].data);
  }
  if (!tirc_pass_evaluate(m->p, p->func, n, arrays)) return NULL;
  return p->is_tuple ? tirc_node_tuple(c, p->n_results, results) : results[0];
}

/* --- what is known but for extents ------------------------------------------------------------ */

/* A constant where no extent is left in it. */
static Node symbolic_value(GraphMaker *m, const TensorType *t, const Expr *elements) {
  Tirc *c = m->p->c;
  const Info info = tirc_info_tensor(c, t->dtype, t->ndim, t->shape);
  const int64_t n = tirc_info_count(info);
  const size_t each = (size_t)tirc_dtype_bytes(info->dtype);
  char *data = tirc_alloc(c, (size_t)n * each + 1);
  for (int64_t i = 0, number; i < n; i++) {
    if (!tirc_const_int(elements[i], &number))
      return tirc_script_symbolic(c, info, elements, m->loc);
    memcpy(data + (size_t)i * each, &number, each);
  }
  return tirc_graph_constant(m, NULL, info, data);
}

/* The call's program runs on expressions. */
static Node fold_symbolic(GraphMaker *m, Script *sc, const Operands *o, Node call) {
  Tirc *c = m->p->c;
  if (!o->all_known || o->all_constant || o->n_elements > MOST_SYMBOLIC) return NULL;
  const OperatorProgram *p = tirc_operator_call(m->p, m->graph, call);
  const int n_in = tirc_operator_tensors(call, NULL);
  Node *in = tirc_new_array(c, Node, n_in);
  const Expr **arrays = tirc_new_array(c, const Expr *, p->func->n_params);
  Node *results = tirc_new_array(c, Node, p->n_results);
  tirc_operator_tensors(call, in);
  for (int i = 0; i < n_in; i++)
    if (!(arrays[i] = tirc_script_integers(sc, in[i]))) return NULL;
  for (int i = 0; i < p->n_results; i++)
    if (tirc_dtype_is_float(p->results[i].dtype)) return NULL;
  if (!tirc_run_symbolic(c, p->func, arrays)) return NULL;
  for (int i = 0; i < p->n_results; i++)
    results[i] = symbolic_value(m, &p->results[i], arrays[n_in + i]);
  return p->is_tuple ? tirc_node_tuple(c, p->n_results, results) : results[0];
}

/* --- what scripts do -------------------------------------------------------------------------- */

void tirc_graph_require(GraphMaker *m, int n, const Need *needs) {
  m->graph->attrs = tirc_add_conditions(m->p->c, m->graph->attrs, n, needs, m->loc, m->whose);
}

void tirc_graph_take_needs(GraphMaker *m, Script *sc) {
  const int n = sc->needs ? sc->needs->list.n : 0;
  for (int i = 0; i < n; i++) {
    Need *need = &sc->needs->list.at[i];
    need->message = tirc_script_placed(m->p->c, need->message, need->loc);
  }
  if (n) tirc_graph_require(m, n, sc->needs->list.at);
  if (n) sc->needs->list.n = 0;
}

/* What the operator asks of extents is asked of those of the graph, behind what the script asked.
 */
static void require_of(GraphMaker *m, Script *sc, Node call) {
  const OperatorProgram *p = tirc_operator_call(m->p, m->graph, call);
  tirc_graph_take_needs(m, sc);
  tirc_graph_require(m, p->n_needs, p->needs);
}

/* --- rows that only the run counts ------------------------------------------------------------ */

const Counted *tirc_graph_counted(const GraphMaker *m, Node n) {
  const Counted *own = tirc_map_get(&m->counted, n);
  return own && own->of ? own : NULL;
}

/* False: its rows along the axis have another count. */
static bool set_count(Tirc *c, Counted *rows, int ndim, int axis, Node count) {
  if (!rows->of) *rows = (Counted){ndim, tirc_new_array(c, Node, ndim)};
  if (rows->of[axis] && rows->of[axis] != count) return false;
  rows->of[axis] = count;
  return true;
}

static Node counted(void *self, Script *sc, Node n, Node count, int axis) {
  GraphMaker *m = self;
  Tirc *c = m->p->c;
  const Info info = n->info;
  const Counted *own = tirc_graph_counted(m, n);
  Counted *all = tirc_new(c, Counted);
  if (!count) return bind_to(m, tirc_graph_operand(m, n), tirc_graph_sources_below(m, n));
  if (n->kind != NODE_VAR || info->kind != INFO_TENSOR || axis < 0 || axis >= info->ndim)
    tirc_script_error(sc, "ValueError", NULL, "what is counted is a call's result, by one axis");
  if (own) *all = (Counted){own->ndim, tirc_copy(c, own->of, own->ndim)};
  if (!set_count(c, all, info->ndim, axis, tirc_graph_operand(m, count)))
    tirc_script_error(sc, "ValueError", NULL, "its rows along axis %d are counted already", axis);
  tirc_map_set(c, &m->counted, n, all);
  return n;
}

static Node count_of(void *self, Node n, int axis) {
  GraphMaker *m = self;
  const Counted *own = tirc_graph_counted(m, n);
  m->count_asked = true;
  return own && axis < own->ndim ? own->of[axis] : NULL;
}

/* Those of a call's results that have the rows of an operand along an axis have their count. False:
 * a result mixes them, or has another count there. */
static bool count_rows(GraphMaker *m, const OperatorProgram *p, int n_operands, int operand,
                       int axis, Node count, Counted *results) {
  Tirc *c = m->p->c;
  int *axes = tirc_new_array(c, int, p->n_results);
  if (!tirc_keeps_rows(c, p->func, operand, axis, n_operands, axes)) return false;
  for (int i = 0; i < p->n_results; i++)
    if (axes[i] >= 0 &&
        !set_count(c, &results[i], p->func->buffers[n_operands + i]->ndim, axes[i], count))
      return false;
  return true;
}

/* The results of a call of rows that only the run counts; NULL: none of its operands has such rows.
 * A value whose rows would be mixed has to be known. */
static const Counted *count_results(GraphMaker *m, Script *sc, Node call) {
  Tirc *c = m->p->c;
  const int n = tirc_operator_tensors(call, NULL);
  Node *in = tirc_new_array(c, Node, n);
  const OperatorProgram *p = NULL;
  Counted *results = NULL;
  tirc_operator_tensors(call, in);
  for (int i = 0; i < n; i++) {
    const Counted *own = tirc_graph_counted(m, in[i]);
    if (own && !p) {
      p = tirc_operator_call(m->p, m->graph, call);
      results = tirc_new_array(c, Counted, p->n_results);
    }
    for (int axis = 0; own && axis < own->ndim; axis++)
      if (own->of[axis] && !count_rows(m, p, n, i, axis, own->of[axis], results))
        m->writer.not_known(m, sc, in[i]);
  }
  return results;
}

/* Field i of a tuple has the count that is its own. */
static void count_field(GraphMaker *m, Node item, Node var) {
  const Counted *all = item->kind == NODE_ITEM ? tirc_map_get(&m->counted, item->args[0]) : NULL;
  if (all) tirc_map_set(m->p->c, &m->counted, var, tirc_copy(m->p->c, &all[item->index], 1));
}

static Node bind(void *self, Script *sc, Node n) {
  GraphMaker *m = self;
  Tirc *c = m->p->c;
  const bool is_call = n->kind == NODE_CALL;
  Operands o = {.m = m, .all_constant = is_call, .all_known = is_call};
  struct Node value = *n;
  value.loc = m->loc;
  if (n->kind == NODE_CALL && !tirc_operator(m->p->ops, n->name))
    tirc_script_error(sc, "AttributeError", tirc_operator_hint(m->p->ops, n->name),
                      "there is no operator R.%s", n->name);
  for (int i = 0; i < n->n; i++) look(&o, n->args[i]);
  Node folded = fold(m, &o, &value);
  if (!folded && is_call) folded = fold_symbolic(m, sc, &o, &value);
  if (folded && is_call) require_of(m, sc, &value);
  if (folded) return folded;
  Node *args = tirc_new_array(c, Node, n->n);
  for (int i = 0; i < n->n; i++) args[i] = tirc_graph_operand(m, n->args[i]);
  value.args = args;
  if (is_call) {
    value.info = tirc_operator_result(m->p, m->graph, &value);
    require_of(m, sc, &value);
  }
  const Counted *rows = is_call ? count_results(m, sc, &value) : NULL;
  const Node var = tirc_graph_bind(m, &value, o.sources);
  if (rows) tirc_map_set(c, &m->counted, var, (void *)(uintptr_t)rows);
  count_field(m, &value, var);
  return var;
}

static Node value_of(void *self, Node n) {
  const GraphMaker *m = self;
  return tirc_map_get(&m->values, n);
}

static Value attributes(void *self, Script *sc, Node call) {
  const GraphMaker *m = self;
  (void)sc;
  return tirc_operator_attributes(m->p, call);
}

static bool is_weight(void *self, Node n) { return tirc_graph_sources(self, n) == 0; }

/* --- loops ------------------------------------------------------------------------------------ */

static Value item_of(GraphMaker *m, Node tuple, int i, uintptr_t sources) {
  const struct Node field = {.kind = NODE_ITEM,
                             .index = i,
                             .n = 1,
                             .args = &tuple,
                             .info = tuple->info->fields[i],
                             .loc = m->loc};
  return tirc_script_of_relax(tirc_graph_bind(m, &field, sources));
}

static Node inner_var(GraphMaker *m, const char *name, Info info, uintptr_t sources) {
  const Node var = tirc_node_var(m->p->c, tirc_graph_name(m, name), info, m->loc);
  tirc_map_set(m->p->c, &m->sources, var, (void *)sources);
  return var;
}

/* Tensors of a list that a turn gives; NULL: it is none. */
static const Node *tensors_of(GraphMaker *m, Value list, int *n) {
  if (list.kind != VAL_LIST) return NULL;
  Node *nodes = tirc_new_array(m->p->c, Node, list.u.list->n);
  *n = list.u.list->n;
  for (int i = 0; i < *n; i++) {
    const Node value = tirc_script_relax(list.u.list->at[i]);
    if (!value || value->kind == NODE_TUPLE || value->info->kind != INFO_TENSOR ||
        tirc_graph_counted(m, value))
      return NULL;
    nodes[i] = tirc_graph_operand(m, value);
  }
  return nodes;
}

/* Runs f once, for the part; false: what it gives is not what a loop can repeat. */
static bool write_turn(GraphMaker *m, Script *sc, const GraphLoop *l, LoopPart *p) {
  Tirc *c = m->p->c;
  Value *states = tirc_new_array(c, Value, l->n), args[2];
  for (int i = 0; i < l->n; i++) states[i] = tirc_script_of_relax(p->states[i]);
  args[0] = tirc_script_of_relax(p->turn);
  args[1] = tirc_value_list(c, VAL_LIST, l->n, states);
  const Value given = tirc_script_call(sc, l->f, &(Args){.n = 2, .at = args});
  if (given.kind != VAL_LIST || given.u.list->n != 3) return false;
  const Node on = tirc_script_relax(given.u.list->at[0]);
  int n = 0;
  p->next = tensors_of(m, given.u.list->at[1], &n);
  p->gathered = tensors_of(m, given.u.list->at[2], &p->n_gathered);
  if (!p->next || n != l->n || !p->gathered || (p->n_gathered && !l->most)) return false;
  if (on) p->goes_on = tirc_graph_operand(m, on);
  for (int i = 0; i < n; i++)
    if (!tirc_graph_gives_the_same(c, p->first[i], p->next[i])) return false;
  return true;
}

static Value loop(void *self, Script *sc, const GraphLoop *l) {
  GraphMaker *m = self;
  Tirc *c = m->p->c;
  const char *hint = m->hint;
  Node *first = tirc_new_array(c, Node, l->n), *states = tirc_new_array(c, Node, l->n);
  Node what = l->trips ? l->trips : l->cond;
  uintptr_t from = (l->trips ? tirc_graph_sources_below(m, l->trips) : 0) |
                   (l->cond ? tirc_graph_sources_below(m, l->cond) : 0);
  for (int i = 0; i < l->n; i++) {
    first[i] = tirc_graph_operand(m, l->states[i]);
    from |= tirc_graph_sources_below(m, first[i]);
    states[i] = inner_var(m, tirc_format(c, "%s_state", hint), first[i]->info, from);
  }
  const Info number = tirc_info_tensor(c, DT_INT64, 0, tirc_new_array(c, Expr, 1));
  LoopPart part = {.turn = inner_var(m, tirc_format(c, "%s_turn", hint), number, from),
                   .trips = l->trips ? tirc_graph_operand(m, l->trips) : NULL,
                   .cond = l->cond ? tirc_graph_operand(m, l->cond) : NULL,
                   .most = l->most,
                   .n_states = l->n,
                   .first = first,
                   .states = states};
  const int before = m->bindings.n, branches = m->branches.n;
  bool ok = write_turn(m, sc, l, &part);
  for (int i = 0; i < l->n; i++) ok &= !tirc_graph_counted(m, first[i]);
  part.n_bindings = m->bindings.n - before;
  part.bindings = tirc_copy(c, m->bindings.at + before, part.n_bindings);
  m->bindings.n = before;
  for (int i = 0; i < part.n_bindings; i++)
    tirc_map_set(c, &m->closed, part.bindings[i].var, m->graph);
  m->hint = hint;
  const Node call = ok ? tirc_graph_loop(m, &part) : NULL;
  m->branches.n = branches; /* those of a turn are part of the function */
  if (!call) m->writer.not_known(m, sc, what ? what : part.goes_on ? part.goes_on : part.turn);
  m->hint = tirc_format(c, "%s_all", hint);
  const Node all = tirc_graph_bind(m, call, from);
  m->hint = hint;
  Value list = tirc_value_list(c, VAL_LIST, 0, NULL);
  for (int i = 0; i < all->info->n; i++) tirc_value_append(c, list, item_of(m, all, i, from));
  return list;
}

/* Words of the printed text, which no value may have for a name. */
static void reserve_words(GraphMaker *m) {
  static const char *const words[] = {
      "I",     "R",      "T",   "False", "None",   "True",     "and",   "as",   "assert",
      "break", "class",  "def", "del",   "elif",   "else",     "for",   "from", "global",
      "if",    "import", "in",  "is",    "lambda", "continue", "not",   "or",   "pass",
      "raise", "return", "try", "while", "with",   "yield",    "except"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    *tirc_strmap_at(m->p->c, &m->names, words[i]) = (void *)1;
}

void tirc_graph_maker_open(GraphMaker *m) {
  reserve_words(m);
  m->writer = (GraphWriter){
      m,       bind,     value_of, attributes, is_weight, m->writer.not_known, tirc_graph_branch,
      counted, count_of, loop};
  tirc_open_operators(m->p);
}
