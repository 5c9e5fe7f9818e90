/* A part of a graph as a graph of its own, with the attribute Primitive:
 *
 *   lv = R.call_tir(cls.matmul, (x, w))          @R.function(private=True)  # Primitive
 *   lv1 = R.call_tir(cls.add, (lv, b))     ->    def fused_matmul_add(x, w, b): ...
 *                                                lv1 = cls.fused_matmul_add(x, w, b) */
#include "fusion.h"

typedef struct Outline {
  Tirc *c;
  const Outlined *how;
  VEC(Binding) bindings;
  VEC(Node) params, args;
  PtrMap inside; /* variable of the graph around it -> of this one */
  Text name;
} Outline;

static Node inner_argument(Outline *o, Node n);

static Node inner_tuple(Outline *o, Node n) {
  Node *fields = tirc_copy(o->c, n->args, n->n);
  for (int i = 0; i < n->n; i++) fields[i] = inner_argument(o, fields[i]);
  return tirc_node_tuple(o->c, n->n, fields);
}

static Node inner_argument(Outline *o, Node n) {
  if (n->kind == NODE_VALUE || n->kind == NODE_SHAPE) return n;
  if (n->kind == NODE_CONST && o->how->binds_constants) return n;
  if (n->kind == NODE_TUPLE) return inner_tuple(o, n);
  const Node known = tirc_map_get(&o->inside, n);
  if (known) return known;
  const char *name = n->kind == NODE_VAR ? n->name : "const";
  const Node param = tirc_node_var(o->c, name, n->info, n->loc);
  tirc_map_set(o->c, &o->inside, n, param);
  vec_push(o->c, o->params, param);
  vec_push(o->c, o->args, n);
  return param;
}

static void add_member(Outline *o, const Binding *b) {
  Tirc *c = o->c;
  struct Node call = *b->value;
  Node *args = tirc_copy(c, call.args, call.n);
  for (int i = 0; i < call.n; i++) args[i] = inner_argument(o, args[i]);
  call.args = args;
  const Node var = tirc_node_var(c, b->var->name, call.info, call.loc);
  vec_push(c, o->bindings, ((Binding){var, tirc_graph_node(c, &call), b->loc}));
  tirc_map_set(c, &o->inside, b->var, var);
  if (!call.name) return;
  tirc_text_add(&o->name, "_");
  for (const char *at = call.name; *at; at++)
    tirc_text_addf(&o->name, "%c", *at == '.' ? '_' : *at);
}

static bool is_taken(const Outlining *all, const char *name) {
  for (int i = 0; i < all->made.n; i++)
    if (strcmp(all->made.at[i]->name, name) == 0) return true;
  return false;
}

static const Graph *graph_of(Outline *o, Outlining *all) {
  Tirc *c = o->c;
  Graph *g = tirc_new(c, Graph);
  GraphBlock *block = tirc_new(c, GraphBlock);
  const Node last = o->bindings.at[o->bindings.n - 1].var;
  *block = (GraphBlock){.is_dataflow = true,
                        .n = o->bindings.n,
                        .at = o->bindings.at,
                        .n_outputs = 1,
                        .outputs = tirc_copy(c, &last, 1)};
  const char *base = tirc_format(c, "fused%s", o->name.at), *name = tirc_free_name(c, all->m, base);
  for (int i = 1; is_taken(all, name); i++)
    name = tirc_free_name(c, all->m, tirc_format(c, "%s%d", base, i));
  *g = (Graph){.name = name,
               .n_params = o->params.n,
               .params = o->params.at,
               .n_blocks = 1,
               .blocks = block,
               .result = last,
               .info = last->info,
               .loc = last->loc};
  if (o->how->composite)
    g->attrs =
        tirc_attrs_set(c, g->attrs, tirc_key(KEY_COMPOSITE), tirc_string(c, o->how->composite));
  g->attrs = tirc_attrs_set(c, g->attrs, tirc_key(KEY_PRIMITIVE), tirc_bool(c, true));
  g->attrs = tirc_attrs_set(c, g->attrs, "tirc.private", tirc_bool(c, true));
  vec_push(c, all->made, g);
  return g;
}

/* Extents that no parameter's shape has by itself come as one more, an R.Shape of them. */
static void take_extents(Outline *o, Loc loc) {
  Tirc *c = o->c;
  const int n = o->params.n;
  Symbols symbols = {0};
  Expr untold;
  while ((untold = tirc_untold_symbol(c, o->params.n, o->params.at, o->bindings.n, o->bindings.at,
                                      true))) {
    vec_push(c, symbols, untold);
    const Expr *shape = tirc_copy(c, symbols.at, symbols.n);
    const struct StructInfo extents = {.kind = INFO_SHAPE, .ndim = symbols.n, .shape = shape};
    const Info info = tirc_info_copy(c, &extents);
    const struct Node value = {.kind = NODE_SHAPE,
                               .info = info,
                               .value = tirc_expr(c, OP_TUPLE, DT_HANDLE, symbols.n, shape),
                               .loc = loc};
    o->params.n = o->args.n = n;
    vec_push(c, o->params, tirc_node_var(c, "extents", info, loc));
    vec_push(c, o->args, tirc_graph_node(c, &value));
  }
}

Node tirc_call_apart(Outlining *all, GraphRewriter *r, int n, const Binding *const *members,
                     const Outlined *how) {
  Outline o = {.c = all->c, .how = how, .name = {.c = all->c}};
  const Loc loc = members[n - 1]->loc;
  for (int i = 0; i < n; i++) add_member(&o, members[i]);
  take_extents(&o, loc);
  const Graph *g = graph_of(&o, all);
  struct Node call = {.kind = NODE_CALL_GRAPH,
                      .name = g->name,
                      .n = o.args.n,
                      .args = o.args.at,
                      .info = g->info,
                      .loc = loc};
  return tirc_renamed(r, tirc_graph_node(all->c, &call));
}

const Module *tirc_with_graphs_apart(const Outlining *all, const Module *m, int g,
                                     const Graph *to) {
  Module *with = tirc_copy(all->c, tirc_module_with_graph(all->c, m, g, to), 1);
  const int n = m->n_graphs;
  const Graph **graphs = tirc_new_array(all->c, const Graph *, n + all->made.n);
  for (int i = 0; i < n + all->made.n; i++)
    graphs[i] = i < n ? with->graphs[i] : all->made.at[i - n];
  with->n_graphs = n + all->made.n;
  with->graphs = graphs;
  return with;
}
