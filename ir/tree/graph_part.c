/* A part of a graph as a function of its own:
 *
 *   t = R.exp(x)                 @R.function(private=True)
 *   u = R.add(t, w)       ->     def part(x, w): ...
 *
 * Extents that no parameter's shape tells come as one more, an R.Shape of them. */
#include "graph.h"

#include "annotations.h"

typedef struct Part {
  Tirc *c;
  PtrMap inside; /* variables that it binds, or has as parameters */
  PtrMap to;     /* variable of the graph around it -> the parameter */
  VEC(Node) params, args;
} Part;

static Node take_parameter(NodeMutator *m, Node n) {
  Part *k = m->self;
  if (n->kind != NODE_VAR || tirc_map_has(&k->inside, n)) return n;
  const Node known = tirc_map_get(&k->to, n);
  if (known) return known;
  const Node param = tirc_node_var(k->c, n->name, n->info, n->loc);
  tirc_map_set(k->c, &k->to, n, param);
  tirc_map_set(k->c, &k->inside, param, param);
  vec_push(k->c, k->params, param);
  vec_push(k->c, k->args, n);
  return param;
}

/* Symbols that are mentioned and that no tensor among the parameters has as an extent by itself. */
static Symbols untold(Part *k, Attrs attrs, int n, const Binding *bindings, Node result) {
  PtrMap seen = {0};
  Symbols mentioned = {0}, rest = {0};
  for (int i = 0; i < k->params.n; i++) {
    const Info info = k->params.at[i]->info;
    for (int d = 0; info && info->kind == INFO_TENSOR && info->shape && d < info->ndim; d++)
      if (info->shape[d]->op == OP_VAR) tirc_map_set(k->c, &seen, info->shape[d], info);
  }
  for (int i = 0; i < k->params.n; i++) tirc_node_symbols(k->c, k->params.at[i], &seen, &mentioned);
  for (int i = 0; i < n; i++) {
    tirc_node_symbols(k->c, bindings[i].value, &seen, &mentioned);
    tirc_node_symbols(k->c, bindings[i].var, &seen, &mentioned);
  }
  tirc_node_symbols(k->c, result, &seen, &mentioned);
  for (int i = 0; i < attrs.n; i++) {
    const struct Node value = {.kind = NODE_VALUE, .value = attrs.at[i].value};
    tirc_node_symbols(k->c, &value, &seen, &mentioned);
  }
  for (int i = 0; i < mentioned.n; i++) vec_push(k->c, rest, mentioned.at[i]);
  return rest;
}

static void take_extents(Part *k, Symbols symbols, Loc loc) {
  if (!symbols.n) return;
  const struct StructInfo shape = {.kind = INFO_SHAPE, .ndim = symbols.n, .shape = symbols.at};
  const Info info = tirc_info_copy(k->c, &shape);
  const struct Node extents = {.kind = NODE_SHAPE,
                               .info = info,
                               .value = tirc_expr(k->c, OP_TUPLE, DT_HANDLE, symbols.n, symbols.at),
                               .loc = loc};
  vec_push(k->c, k->params, tirc_node_var(k->c, "extents", info, loc));
  vec_push(k->c, k->args, tirc_graph_node(k->c, &extents));
}

const Graph *tirc_graph_part(Tirc *c, const char *name, Attrs attrs, int n, const Binding *bindings,
                             Node result, Node *call) {
  Part k = {.c = c};
  NodeMutator m = {.c = c, .node = take_parameter, .self = &k};
  Binding *own = tirc_copy(c, bindings, n);
  for (int i = 0; i < n; i++) {
    own[i].value = tirc_mutate_node(&m, bindings[i].value);
    tirc_map_set(c, &k.inside, own[i].var, own[i].var);
  }
  Graph *g = tirc_new(c, Graph);
  GraphBlock *block = tirc_new(c, GraphBlock);
  *block = (GraphBlock){.n = n, .at = own};
  *g = (Graph){.name = name, .n_blocks = n > 0, .blocks = block, .loc = result->loc};
  g->result = tirc_mutate_node(&m, result);
  g->info = g->result->info;
  take_extents(&k, untold(&k, attrs, n, own, g->result), result->loc);
  g->n_params = k.params.n;
  g->params = k.params.at;
  g->attrs = tirc_attrs_set(c, attrs, "tirc.private", tirc_bool(c, true));
  *call = tirc_graph_node(c, &(struct Node){.kind = NODE_CALL_GRAPH,
                                            .name = name,
                                            .n = k.args.n,
                                            .args = k.args.at,
                                            .info = g->info,
                                            .loc = result->loc});
  return g;
}
