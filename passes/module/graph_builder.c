#include "graph_builder.h"

#include "operator_call.h"
#include "operators_internal.h"

enum {
  SMALL = 16,           /* elements: such constants stand in the graph's text */
  FOLDED_SMALL = 1024,  /* the same of what no file has: it has no name of its own */
  MOST_FOLDED = 1 << 16 /* elements: larger results are computed when the program is prepared */
};

static GraphMaker *maker(GraphBuilder *b) { return (GraphMaker *)b; }

/* --- names --------------------------------------------------------------------------------------
 */

static bool is_word(char ch) {
  return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
         ch == '_';
}

const char *tirc_graph_name(GraphMaker *m, const char *wanted) {
  Tirc *c = m->p->c;
  const bool starts_well = is_word(*wanted) && !(*wanted >= '0' && *wanted <= '9');
  char *name = tirc_format(c, "%s%s", starts_well ? "" : "v_", wanted);
  for (char *at = name; *at; at++)
    if (!is_word(*at)) *at = '_';
  const char *free_name = name;
  for (int i = 1; tirc_strmap_get(&m->names, free_name); i++)
    free_name = tirc_format(c, "%s_%d", name, i);
  *tirc_strmap_at(c, &m->names, free_name) = m;
  return free_name;
}

/* --- values -------------------------------------------------------------------------------------
 */

static Value value_of(GraphMaker *m, const char *name, Node node, uintptr_t sources) {
  GraphValue *v = tirc_new(m->p->c, GraphValue);
  *v = (GraphValue){.name = name, .info = node->info, .node = node};
  tirc_map_set(m->p->c, &m->sources, v, (void *)sources);
  return tirc_script_object("RelaxExpr", v);
}

uintptr_t tirc_graph_sources(const GraphMaker *m, const GraphValue *v) {
  return (uintptr_t)tirc_map_get(&m->sources, v);
}

static Node parameter(GraphMaker *m, const char *name, Info info, const void *data) {
  const Node var = tirc_node_var(m->p->c, tirc_graph_name(m, name), info, m->loc);
  vec_push(m->p->c, m->params, var);
  vec_push(m->p->c, m->data, data);
  return var;
}

Value tirc_graph_input(GraphMaker *m, const char *name, Info info, int number) {
  const uintptr_t bit = number < (int)sizeof(uintptr_t) * 8 ? (uintptr_t)1 << number : 0;
  return value_of(m, name, parameter(m, name, info, NULL), bit);
}

Node tirc_graph_operand(GraphMaker *m, const GraphValue *v) {
  GraphValue *own = (GraphValue *)(uintptr_t)v;
  if (v->node) return v->node;
  const int64_t count = tirc_info_count(v->info);
  if (count <= (v->name ? SMALL : FOLDED_SMALL))
    own->node = tirc_node_const(m->p->c, v->info, v->data, m->loc);
  else
    own->node = parameter(m, v->name ? v->name : m->hint, v->info, v->data);
  return own->node;
}

/* --- operands of a call -------------------------------------------------------------------------
 */

typedef struct Operands {
  GraphMaker *m;
  Script *sc;
  bool all_constant; /* of the tensors */
  uintptr_t sources;
  int64_t n_elements;
} Operands;

static bool is_list(Value v) { return v.kind == VAL_LIST || v.kind == VAL_TUPLE; }

static void look(Operands *o, Value v) {
  const GraphValue *g = tirc_graph_value(v);
  for (int i = 0; is_list(v) && i < v.u.list->n; i++) look(o, v.u.list->at[i]);
  if (!g) return;
  o->all_constant &= g->data != NULL;
  o->sources |= tirc_graph_sources(o->m, g);
  if (g->data) o->n_elements += tirc_info_count(g->info);
}

static bool has_tensor(Value v) {
  if (tirc_graph_value(v)) return true;
  for (int i = 0; is_list(v) && i < v.u.list->n; i++)
    if (has_tensor(v.u.list->at[i])) return true;
  return false;
}

static Expr literal(Operands *o, Value v) {
  Tirc *c = o->m->p->c;
  switch (v.kind) {
  case VAL_NONE: return tirc_expr(c, OP_NONE, DT_HANDLE, 0, NULL);
  case VAL_BOOL: return tirc_int(c, DT_BOOL, v.u.b);
  case VAL_INT: return tirc_int(c, DT_INT64, v.u.i);
  case VAL_FLOAT: return tirc_float(c, DT_FLOAT64, v.u.f);
  case VAL_STR: return tirc_string(c, v.u.s);
  case VAL_EXPR: return v.u.expr;
  default: break;
  }
  if (!is_list(v))
    tirc_script_error(o->sc, "TypeError", NULL, "%s is no argument of an operator",
                      tirc_script_a_type(o->sc, v));
  Expr *items = tirc_new_array(c, Expr, v.u.list->n);
  for (int i = 0; i < v.u.list->n; i++) items[i] = literal(o, v.u.list->at[i]);
  return tirc_expr(c, OP_TUPLE, DT_HANDLE, v.u.list->n, items);
}

/* (n, 4): extents that are no numbers make it a shape. */
static bool is_shape(Expr e) {
  bool symbolic = false;
  if (e->op != OP_TUPLE) return false;
  for (int i = 0; i < e->n; i++) {
    if (!tirc_dtype_is_int(e->args[i]->dtype)) return false;
    symbolic |= e->args[i]->op != OP_INT;
  }
  return symbolic;
}

static Node shape_node(Operands *o, Expr tuple) {
  Tirc *c = o->m->p->c;
  Expr *items = tirc_new_array(c, Expr, tuple->n);
  for (int i = 0; i < tuple->n; i++) items[i] = tirc_cast(c, DT_INT64, tuple->args[i]);
  struct StructInfo info = {.kind = INFO_SHAPE, .ndim = tuple->n, .shape = items};
  return tirc_graph_node(c,
                         &(struct Node){.kind = NODE_SHAPE,
                                        .info = tirc_info_copy(c, &info),
                                        .value = tirc_expr(c, OP_TUPLE, DT_HANDLE, tuple->n, items),
                                        .loc = o->m->loc});
}

/* of_constants: the call is to be folded, so nothing becomes a parameter for it. */
static Node operand(Operands *o, Value v, bool of_constants) {
  Tirc *c = o->m->p->c;
  const GraphValue *g = tirc_graph_value(v);
  if (g && of_constants) return tirc_node_const(c, g->info, g->data, o->m->loc);
  if (g) return tirc_graph_operand(o->m, g);
  if (is_list(v) && has_tensor(v)) {
    Node *items = tirc_new_array(c, Node, v.u.list->n);
    for (int i = 0; i < v.u.list->n; i++) items[i] = operand(o, v.u.list->at[i], of_constants);
    return tirc_node_tuple(c, v.u.list->n, items);
  }
  const Expr e = literal(o, v);
  if (is_shape(e)) return shape_node(o, e);
  return tirc_graph_node(c, &(struct Node){.kind = NODE_VALUE, .value = e, .loc = o->m->loc});
}

static Node call_node(Operands *o, const char *name, const Args *a, bool of_constants) {
  Tirc *c = o->m->p->c;
  const int n = a->n + a->n_keywords;
  Node *args = tirc_new_array(c, Node, n);
  const char **keys = tirc_new_array(c, const char *, n);
  for (int i = 0; i < a->n; i++) args[i] = operand(o, a->at[i], of_constants);
  for (int i = 0; i < a->n_keywords; i++) {
    args[a->n + i] = operand(o, a->keywords[i], of_constants);
    keys[a->n + i] = a->names[i];
  }
  return tirc_graph_node(c, &(struct Node){.kind = NODE_CALL,
                                           .n = n,
                                           .name = name,
                                           .args = args,
                                           .keys = a->n_keywords ? keys : NULL,
                                           .loc = o->m->loc});
}

/* --- constants ----------------------------------------------------------------------------------
 */

/* A call of constants whose results are not large is a constant. */
static bool fold(Operands *o, const char *name, const Args *a, Value *out) {
  GraphMaker *m = o->m;
  Tirc *c = m->p->c;
  if (!o->all_constant || o->n_elements > MOST_FOLDED) return false;
  const Node call = call_node(o, name, a, true);
  const OperatorProgram *p = tirc_operator_call(m->p, m->graph, call);
  const int n_in = tirc_operator_tensors(call, NULL), n = n_in + p->n_results;
  Node *in = tirc_new_array(c, Node, n_in);
  PassArray *arrays = tirc_new_array(c, PassArray, n);
  Value *results = tirc_new_array(c, Value, p->n_results);
  tirc_operator_tensors(call, in);
  if (p->n_vars) return false;
  for (int i = 0; i < n_in; i++)
    if (!tirc_pass_array(c, in[i]->info, in[i]->data, &arrays[i])) return false;
  for (int i = 0; i < p->n_results; i++) {
    const TensorType *t = &p->results[i];
    const Info info = tirc_info_tensor(c, t->dtype, t->ndim, t->shape);
    if (tirc_info_count(info) > MOST_FOLDED || !tirc_pass_array(c, info, NULL, &arrays[n_in + i]))
      return false;
    results[i] = tirc_graph_constant(o->sc, NULL, info, arrays[n_in + i].data);
  }
  if (!tirc_pass_evaluate(m->p, p->func, n, arrays)) return false;
  *out = p->is_tuple ? tirc_value_list(c, VAL_TUPLE, p->n_results, results) : results[0];
  return true;
}

/* --- calls --------------------------------------------------------------------------------------
 */

static Node bind(GraphMaker *m, Node value) {
  const Node var = tirc_node_var(m->p->c, tirc_graph_name(m, m->hint), value->info, m->loc);
  vec_push(m->p->c, m->bindings, ((Binding){var, value, m->loc}));
  return var;
}

static Value call(GraphBuilder *b, const char *name, const Args *a) {
  GraphMaker *m = maker(b);
  Tirc *c = m->p->c;
  Operands o = {.m = m, .sc = m->sc, .all_constant = true};
  Value out;
  for (int i = 0; i < a->n; i++) look(&o, a->at[i]);
  for (int i = 0; i < a->n_keywords; i++) look(&o, a->keywords[i]);
  if (fold(&o, name, a, &out)) return out;
  struct Node value = *call_node(&o, name, a, false);
  value.info = tirc_operator_result(m->p, m->graph, &value);
  const Node var = bind(m, tirc_graph_node(c, &value));
  if (value.info->kind != INFO_TUPLE) return value_of(m, var->name, var, o.sources);
  out = tirc_value_list(c, VAL_TUPLE, 0, NULL);
  for (int i = 0; i < value.info->n; i++) {
    const Node item = bind(m, tirc_graph_node(c, &(struct Node){.kind = NODE_ITEM,
                                                                .n = 1,
                                                                .args = &var,
                                                                .index = i,
                                                                .info = value.info->fields[i],
                                                                .loc = m->loc}));
    tirc_value_append(c, out, value_of(m, item->name, item, o.sources));
  }
  return out;
}

static bool knows(GraphBuilder *b, const char *name, bool *is_operator) {
  Operators *ops = maker(b)->p->ops;
  const size_t n = strlen(name);
  bool begins = false;
  for (int i = 0; i < tirc_n_operators(ops); i++) {
    const char *each = tirc_operator_name(ops, i);
    if (strncmp(each, name, n) != 0) continue;
    if (!each[n]) return *is_operator = true;
    begins |= each[n] == '.';
  }
  *is_operator = false;
  return begins;
}

void tirc_graph_maker_open(GraphMaker *m) {
  m->builder.knows = knows;
  m->builder.call = call;
  if (!m->p->ops) m->p->ops = tirc_operators_open(m->p->c, m->p->options.operators, NULL);
}
