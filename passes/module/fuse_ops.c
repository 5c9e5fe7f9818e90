/* FuseOps: calls that belong together become graphs of their own, with the attribute Primitive.
 *
 *   lv = R.call_tir(cls.matmul, (x, w))          @R.function(private=True)  # Primitive
 *   lv1 = R.call_tir(cls.add, (lv, b))     ->    def fused_matmul_add(x, w, b): ...
 *   gv = R.call_tir(cls.relu, (lv1,))            gv = cls.fused_matmul_add_relu(x, w, b)
 *
 * A call and what its result flows to are fused when all ways lead through calls that allow it to
 * one that they all meet in, the immediate post-dominator; which calls allow it is a question of
 * their patterns (pattern.c), in three rounds as the field has them: products take what follows
 * them elementwise; elementwise calls go into what consumes them, a reduction too; injective calls
 * go into injective ones. */
#include "fusion.h"
#include "passes.h"

typedef struct Vertex {
  const Binding *binding;
  int pattern;
  bool outside;  /* its value is used behind the block, or by what is no call */
  int dominator; /* the vertex that all ways of its value lead through, or -1 */
  int along;     /* the largest pattern on these ways, the dominator's too */
  int depth;     /* in the tree of dominators */
  int group;     /* the vertex that stands for its group */
  VEC(int) consumers;
} Vertex;

typedef struct Fusion {
  Passes *p;
  Tirc *c;
  const Module *m;
  const GraphBlock *block;
  int n;
  Vertex *at;
  PtrMap numbers; /* variable -> its vertex, plus one */
  VEC(const Graph *) made;
} Fusion;

/* --- the flow of values ----------------------------------------------------------------------- */

static int pattern_of(const Fusion *f, Node n) {
  const Func *func = n->kind == NODE_CALL_TIR ? tirc_module_func(f->m, n->name) : NULL;
  const Expr e = func ? tirc_attrs_get(func->attrs, OP_PATTERN) : NULL;
  int64_t pattern;
  if (!e || n->info->kind == INFO_TUPLE || !tirc_const_int(e, &pattern)) return PATTERN_OPAQUE;
  return (int)pattern;
}

static void use(Fusion *f, Node n, int consumer, bool outside) {
  const int i = (int)(intptr_t)tirc_map_get(&f->numbers, n) - 1;
  if (n->kind == NODE_VAR && i >= 0) {
    if (outside) f->at[i].outside = true;
    if (!outside) vec_push(f->c, f->at[i].consumers, consumer);
  }
  for (int k = 0; k < n->n; k++) use(f, n->args[k], consumer, outside);
}

static void find_flow(Fusion *f, const Graph *g) {
  for (int i = 0; i < f->n; i++) {
    Vertex *v = &f->at[i];
    *v = (Vertex){.binding = &f->block->at[i], .dominator = -1, .group = i};
    v->pattern = pattern_of(f, v->binding->value);
    use(f, v->binding->value, i, v->binding->value->kind != NODE_CALL_TIR);
    tirc_map_set(f->c, &f->numbers, v->binding->var, (void *)(intptr_t)(i + 1));
  }
  for (int b = 0; b < g->n_blocks; b++)
    for (int i = 0; &g->blocks[b] != f->block && i < g->blocks[b].n; i++)
      use(f, g->blocks[b].at[i].value, -1, true);
  use(f, g->result, -1, true);
}

/* A consumer that adds something of another shape reads this operand elementwise all the same. */
static int pattern_of_edge(const Fusion *f, int from, int to) {
  const Info a = f->at[from].binding->var->info, b = f->at[to].binding->var->info;
  Match same = {.c = f->c};
  const int pattern = f->at[to].pattern;
  if (pattern != PATTERN_BROADCAST || a->kind != INFO_TENSOR || b->kind != INFO_TENSOR ||
      a->ndim != b->ndim)
    return pattern;
  for (int i = 0; i < a->ndim; i++)
    if (!tirc_prove_equal(tirc_analyzer(same.c), a->shape[i], b->shape[i])) return pattern;
  return PATTERN_ELEMENTWISE;
}

static int larger(int a, int b) { return a > b ? a : b; }

/* The nearest vertex that all ways from a and from b lead through; -1: there is none. */
static int meet(const Fusion *f, int a, int b, int *along) {
  while (a != b && a >= 0 && b >= 0) {
    int *deeper = f->at[a].depth > f->at[b].depth ? &a : &b;
    *along = larger(*along, f->at[*deeper].along);
    *deeper = f->at[*deeper].dominator;
  }
  return a == b ? a : -1;
}

static void find_dominators(Fusion *f) {
  for (int i = f->n - 1; i >= 0; i--) {
    Vertex *v = &f->at[i];
    int to = -1;
    v->along = PATTERN_ELEMENTWISE;
    for (int k = 0; k < v->consumers.n; k++) {
      const int consumer = v->consumers.at[k];
      v->along = larger(v->along, pattern_of_edge(f, i, consumer));
      to = k ? meet(f, to, consumer, &v->along) : consumer;
      if (to < 0) break;
    }
    if (v->outside) to = -1;
    v->dominator = to;
    v->depth = to < 0 ? 1 : f->at[to].depth + 1;
  }
}

/* --- groups ----------------------------------------------------------------------------------- */

static int group_of(const Fusion *f, int i) {
  while (f->at[i].group != i) i = f->at[i].group;
  return i;
}

/* What may stand between a call and where it is fused to, and there. */
typedef bool (*Allowed)(int pattern, bool is_sink);

static bool follows_product(int pattern, bool is_sink) {
  (void)is_sink;
  return pattern <= PATTERN_BROADCAST;
}
static bool takes_elementwise(int pattern, bool is_sink) {
  return pattern <= PATTERN_INJECTIVE || (is_sink && pattern == PATTERN_REDUCTION);
}
static bool takes_injective(int pattern, bool is_sink) {
  (void)is_sink;
  return pattern <= PATTERN_INJECTIVE;
}

/* Whether all on the ways from i to `sink` is allowed. */
static bool check_ways(const Fusion *f, int i, int sink, Allowed allowed, bool *seen) {
  if (seen[i]) return true;
  seen[i] = true;
  if (!allowed(f->at[group_of(f, i)].pattern, i == sink)) return false;
  for (int k = 0; i != sink && k < f->at[i].consumers.n; k++)
    if (!check_ways(f, f->at[i].consumers.at[k], sink, allowed, seen)) return false;
  return true;
}

static void join(Fusion *f, int i, int sink) {
  const int a = group_of(f, i), b = group_of(f, sink);
  if (a == b) return;
  f->at[b].pattern = larger(f->at[a].pattern, f->at[b].pattern);
  f->at[a].group = b;
}

static void join_ways(Fusion *f, int i, int sink, bool *seen) {
  if (seen[i]) return;
  seen[i] = true;
  join(f, i, sink);
  for (int k = 0; i != sink && k < f->at[i].consumers.n; k++)
    join_ways(f, f->at[i].consumers.at[k], sink, seen);
}

static void try_fuse(Fusion *f, int i, Allowed allowed) {
  const int sink = f->at[i].dominator;
  bool *seen = tirc_new_array(f->c, bool, f->n);
  seen[i] = true;
  for (int k = 0; k < f->at[i].consumers.n; k++)
    if (!check_ways(f, f->at[i].consumers.at[k], sink, allowed, seen)) return;
  join_ways(f, i, sink, tirc_new_array(f->c, bool, f->n));
}

static void fuse_round(Fusion *f, int round) {
  for (int i = 0; i < f->n; i++) {
    const Vertex *v = &f->at[i];
    const int pattern = f->at[group_of(f, i)].pattern;
    if (v->dominator < 0) continue;
    if (pattern == PATTERN_OUT_FUSABLE && round == 0 && v->along == PATTERN_ELEMENTWISE)
      try_fuse(f, i, follows_product);
    else if (pattern <= PATTERN_BROADCAST && v->along <= PATTERN_REDUCTION)
      try_fuse(f, i, takes_elementwise);
    else if (pattern == PATTERN_INJECTIVE && round == 1)
      try_fuse(f, i, takes_injective);
  }
}

/* --- a graph a group -------------------------------------------------------------------------- */

typedef struct Outline {
  Fusion *f;
  GraphRewriter *r; /* of the graph around it */
  VEC(Binding) bindings;
  VEC(Node) params, args;
  PtrMap inside; /* variable of the graph around it -> of this one */
  Text name;
} Outline;

static Node inner_argument(Outline *o, Node n) {
  if (n->kind == NODE_VALUE || n->kind == NODE_SHAPE) return n;
  const Node known = tirc_map_get(&o->inside, n);
  if (known) return known;
  const char *name = n->kind == NODE_VAR ? n->name : "const";
  const Node param = tirc_node_var(o->f->c, name, n->info, n->loc);
  tirc_map_set(o->f->c, &o->inside, n, param);
  vec_push(o->f->c, o->params, param);
  vec_push(o->f->c, o->args, n);
  return param;
}

static void add_member(Outline *o, const Vertex *v) {
  Tirc *c = o->f->c;
  struct Node call = *v->binding->value;
  Node *args = tirc_copy(c, call.args, call.n);
  for (int i = 0; i < call.n; i++) args[i] = inner_argument(o, args[i]);
  call.args = args;
  const Node var = tirc_node_var(c, v->binding->var->name, call.info, call.loc);
  vec_push(c, o->bindings, ((Binding){var, tirc_graph_node(c, &call), v->binding->loc}));
  tirc_map_set(c, &o->inside, v->binding->var, var);
  tirc_text_addf(&o->name, "_%s", call.name);
}

static const Graph *graph_of(Outline *o) {
  Tirc *c = o->f->c;
  Graph *g = tirc_new(c, Graph);
  GraphBlock *block = tirc_new(c, GraphBlock);
  const Node last = o->bindings.at[o->bindings.n - 1].var;
  *block = (GraphBlock){.is_dataflow = true,
                        .n = o->bindings.n,
                        .at = o->bindings.at,
                        .n_outputs = 1,
                        .outputs = tirc_copy(c, &last, 1)};
  const char *base = tirc_format(c, "fused%s", o->name.at),
             *name = tirc_free_name(c, o->f->m, base);
  for (int i = 1, k = 0; k < o->f->made.n; k++)
    if (strcmp(o->f->made.at[k]->name, name) == 0) {
      name = tirc_free_name(c, o->f->m, tirc_format(c, "%s%d", base, i++));
      k = -1;
    }
  *g = (Graph){.name = name,
               .n_params = o->params.n,
               .params = o->params.at,
               .n_blocks = 1,
               .blocks = block,
               .result = last,
               .info = last->info,
               .loc = last->loc};
  g->attrs = tirc_attrs_set(c, g->attrs, tirc_key(KEY_PRIMITIVE), tirc_bool(c, true));
  g->attrs = tirc_attrs_set(c, g->attrs, "tirc.private", tirc_bool(c, true));
  vec_push(c, o->f->made, g);
  return g;
}

/* Extents that no parameter's shape has by itself come as one more, an R.Shape of them. */
static void take_extents(Outline *o, Loc loc) {
  Tirc *c = o->f->c;
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

/* The call in place of the group's last member; NULL: it stays as it is. */
static Node outline(Fusion *f, GraphRewriter *r, int sink) {
  Outline o = {.f = f, .r = r, .name = {.c = f->c}};
  for (int i = 0; i <= sink; i++)
    if (group_of(f, i) == group_of(f, sink)) add_member(&o, &f->at[i]);
  if (o.bindings.n < 2) return NULL;
  take_extents(&o, f->at[sink].binding->loc);
  const Graph *g = graph_of(&o);
  struct Node call = {.kind = NODE_CALL_GRAPH,
                      .name = g->name,
                      .n = o.args.n,
                      .args = o.args.at,
                      .info = g->info,
                      .loc = f->at[sink].binding->loc};
  return tirc_renamed(r, tirc_graph_node(f->c, &call));
}

static Node replace_sink(GraphRewriter *r, const Binding *b, Node value, Node *alias) {
  (void)alias;
  Fusion *f = r->self;
  const int i = (int)(intptr_t)tirc_map_get(&f->numbers, b->var) - 1;
  if (i < 0) return value;
  for (int k = i + 1; k < f->n; k++)
    if (group_of(f, k) == group_of(f, i)) return value; /* not the last: dead from now on */
  const Node call = outline(f, r, i);
  return call ? call : value;
}

static const Module *fuse_block(Passes *p, const Module *m, int g, int b) {
  const Graph *graph = m->graphs[g];
  Fusion f = {.p = p, .c = p->c, .m = m, .block = &graph->blocks[b], .n = graph->blocks[b].n};
  f.at = tirc_new_array(p->c, Vertex, f.n);
  find_flow(&f, graph);
  find_dominators(&f);
  for (int round = 0; round < 3; round++) fuse_round(&f, round);
  GraphRewriter r = {.c = p->c, .value = replace_sink, .self = &f};
  const Graph *to = tirc_rewrite_graph(&r, graph);
  if (!f.made.n) return m;
  m = tirc_module_with_graph(p->c, m, g, to);
  Module *with = tirc_copy(p->c, m, 1);
  const Graph **graphs = tirc_new_array(p->c, const Graph *, m->n_graphs + f.made.n);
  for (int i = 0; i < m->n_graphs + f.made.n; i++)
    graphs[i] = i < m->n_graphs ? m->graphs[i] : f.made.at[i - m->n_graphs];
  with->n_graphs = m->n_graphs + f.made.n;
  with->graphs = graphs;
  return with;
}

const Module *tirc_pass_fuse_ops(Passes *p, const Module *m) {
  const int n = m->n_graphs;
  for (int g = 0; g < n; g++) {
    const bool is_one = tirc_is_primitive(m->graphs[g]);
    for (int b = 0; !is_one && b < m->graphs[g]->n_blocks; b++) m = fuse_block(p, m, g, b);
  }
  return tirc_pass_dead_code(p, m);
}
