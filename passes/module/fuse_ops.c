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
 * go into injective ones. Then the other operands of what follows a product, which are made
 * elementwise, go there: integers that become floats beside a sum.
 *
 * What is made of weights alone, once, and takes less room than they do stays apart from a call
 * that takes some of its elements in each run: rows of a table in few bits. */
#include "fusion.h"
#include "passes.h"
#include "pipeline.h"

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
  MadeOfWeights made;
  Outlining out;
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
/* What follows a product elementwise takes its other operands in, too. */
static bool goes_behind_product(int pattern, bool is_sink) {
  return pattern <= PATTERN_BROADCAST || (is_sink && pattern == PATTERN_OUT_FUSABLE);
}

/* A table that is made once and read in part by each run. */
static bool stays_apart(const Fusion *f, int from, int to) {
  return tirc_map_has(&f->made.smaller, f->at[from].binding->var) &&
         !tirc_map_has(&f->made.all, f->at[to].binding->var) &&
         pattern_of_edge(f, from, to) >= PATTERN_INJECTIVE;
}

static bool check_ways(const Fusion *f, int i, int sink, Allowed allowed, bool *seen);

static bool check_consumers(const Fusion *f, int i, int sink, Allowed allowed, bool *seen) {
  for (int k = 0; k < f->at[i].consumers.n; k++) {
    const int to = f->at[i].consumers.at[k];
    if (stays_apart(f, i, to) || !check_ways(f, to, sink, allowed, seen)) return false;
  }
  return true;
}

/* Whether all on the ways from i to `sink` is allowed. */
static bool check_ways(const Fusion *f, int i, int sink, Allowed allowed, bool *seen) {
  if (seen[i]) return true;
  seen[i] = true;
  if (!allowed(f->at[group_of(f, i)].pattern, i == sink)) return false;
  return i == sink || check_consumers(f, i, sink, allowed, seen);
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
  if (!check_consumers(f, i, sink, allowed, seen)) return;
  join_ways(f, i, sink, tirc_new_array(f->c, bool, f->n));
}

static void fuse_round(Fusion *f, int round) {
  for (int i = 0; i < f->n; i++) {
    const Vertex *v = &f->at[i];
    const int pattern = f->at[group_of(f, i)].pattern;
    if (v->dominator < 0) continue;
    if (pattern == PATTERN_OUT_FUSABLE && round == 0 && v->along == PATTERN_ELEMENTWISE)
      try_fuse(f, i, follows_product);
    else if (pattern <= PATTERN_BROADCAST && round == 2 && v->along == PATTERN_ELEMENTWISE)
      try_fuse(f, i, goes_behind_product);
    else if (pattern <= PATTERN_BROADCAST && v->along <= PATTERN_REDUCTION)
      try_fuse(f, i, takes_elementwise);
    else if (pattern == PATTERN_INJECTIVE && round == 1)
      try_fuse(f, i, takes_injective);
  }
}

/* --- a graph a group -------------------------------------------------------------------------- */

/* The call in place of the group's last member; NULL: it stays as it is. */
static Node outline(Fusion *f, GraphRewriter *r, int sink) {
  const Binding **members = tirc_new_array(f->c, const Binding *, sink + 1);
  int n = 0;
  for (int i = 0; i <= sink; i++)
    if (group_of(f, i) == group_of(f, sink)) members[n++] = f->at[i].binding;
  return n < 2 ? NULL : tirc_call_apart(&f->out, r, n, members, &(Outlined){0});
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
  Fusion f = {.p = p,
              .c = p->c,
              .m = m,
              .block = &graph->blocks[b],
              .n = graph->blocks[b].n,
              .made = tirc_made_of_weights(p->c, graph),
              .out = {p->c, m}};
  f.at = tirc_new_array(p->c, Vertex, f.n);
  find_flow(&f, graph);
  find_dominators(&f);
  for (int round = 0; round < 3; round++) fuse_round(&f, round);
  GraphRewriter r = {.c = p->c, .value = replace_sink, .self = &f};
  const Graph *to = tirc_rewrite_graph(&r, graph);
  return f.out.made.n ? tirc_with_graphs_apart(&f.out, m, g, to) : m;
}

const Module *tirc_pass_fuse_ops(Passes *p, const Module *m) {
  const int n = m->n_graphs;
  for (int g = 0; g < n; g++) {
    const bool is_one = tirc_is_primitive(m->graphs[g]);
    for (int b = 0; !is_one && b < m->graphs[g]->n_blocks; b++) m = fuse_block(p, m, g, b);
  }
  return tirc_pass_dead_code(p, m);
}
