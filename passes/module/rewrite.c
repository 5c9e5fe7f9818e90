/* Graphs written anew, binding by binding; modules with other functions. */
#include "module.h"

static Node rename_node(NodeMutator *m, Node n) {
  GraphRewriter *r = m->self;
  if (n->kind != NODE_VAR) return n;
  const Node to = tirc_map_get(&r->to, n);
  return to ? to : n;
}

Node tirc_renamed(GraphRewriter *r, Node n) {
  NodeMutator m = {.c = r->c, .node = rename_node, .self = r};
  return tirc_mutate_node(&m, n);
}

Node tirc_emit_binding(GraphRewriter *r, const char *name, Node value, Loc loc) {
  const Node var = tirc_node_var(r->c, name, value->info, loc);
  vec_push(r->c, r->bindings, ((Binding){var, value, loc}));
  return var;
}

/* What the rewriter makes of one binding. */
static void rewrite_binding(GraphRewriter *r, const Binding *b) {
  Node alias = NULL;
  const Node value = r->value(r, b, tirc_renamed(r, b->value), &alias);
  if (!value) {
    tirc_map_set(r->c, &r->to, b->var, alias);
    return;
  }
  Node var = b->var;
  if (value->info && value->info != var->info) {
    var = tirc_node_var(r->c, var->name, value->info, var->loc);
    tirc_map_set(r->c, &r->to, b->var, var);
  }
  vec_push(r->c, r->bindings, ((Binding){var, value, b->loc}));
}

bool tirc_is_output(const Graph *g, Node var) {
  for (int b = 0; b < g->n_blocks; b++)
    for (int i = 0; i < g->blocks[b].n_outputs; i++)
      if (g->blocks[b].outputs[i] == var) return true;
  return g->result == var;
}

/* A variable that the block gave away may stand for one of another block, or of none. */
static bool is_bound_in(const Binding *at, int n, Node var) {
  for (int i = 0; i < n; i++)
    if (at[i].var == var) return true;
  return false;
}

static GraphBlock rewrite_block(GraphRewriter *r, const GraphBlock *b) {
  GraphBlock to = {.is_dataflow = b->is_dataflow};
  r->bindings.n = 0;
  for (int i = 0; i < b->n; i++) rewrite_binding(r, &b->at[i]);
  Node *outputs = tirc_new_array(r->c, Node, b->n_outputs);
  for (int i = 0; i < b->n_outputs; i++) {
    const Node out = tirc_renamed(r, b->outputs[i]);
    bool again = !is_bound_in(r->bindings.at, r->bindings.n, out);
    for (int k = 0; k < to.n_outputs; k++) again |= outputs[k] == out;
    if (!again) outputs[to.n_outputs++] = out;
  }
  to.outputs = outputs;
  to.n = r->bindings.n;
  to.at = tirc_copy(r->c, r->bindings.at, r->bindings.n);
  return to;
}

const Graph *tirc_rewrite_graph(GraphRewriter *r, const Graph *g) {
  Graph *to = tirc_copy(r->c, g, 1);
  GraphBlock *blocks = tirc_new_array(r->c, GraphBlock, g->n_blocks);
  to->n_blocks = 0;
  for (int i = 0; i < g->n_blocks; i++) {
    const GraphBlock b = rewrite_block(r, &g->blocks[i]);
    if (b.n) blocks[to->n_blocks++] = b;
  }
  to->blocks = blocks;
  to->result = tirc_renamed(r, g->result);
  return to;
}

const Module *tirc_module_with_graph(Tirc *c, const Module *m, int i, const Graph *g) {
  if (m->graphs[i] == g) return m;
  Module *to = tirc_copy(c, m, 1);
  const Graph **graphs = (const Graph **)(uintptr_t)tirc_copy(c, m->graphs, m->n_graphs);
  graphs[i] = g;
  to->c = c;
  to->graphs = graphs;
  return to;
}

const Module *tirc_module_with_funcs(Tirc *c, const Module *m, int n, const Func *const *funcs) {
  Module *to = tirc_copy(c, m, 1);
  to->c = c;
  to->n_funcs = n;
  to->funcs = (const Func *const *)(uintptr_t)tirc_copy(c, funcs, n);
  return to;
}

const char *tirc_free_name(Tirc *c, const Module *m, const char *name) {
  const char *text = name;
  for (int i = 1; tirc_module_func(m, text) || tirc_module_graph(m, text); i++)
    text = tirc_format(c, "%s%d", name, i);
  return text;
}
