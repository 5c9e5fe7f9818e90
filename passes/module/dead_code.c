/* DeadCodeElimination: bindings that nobody uses go, main's weights that nobody uses then, and
 * functions that nobody calls. What a program of another one can call stays: main, and what is not
 * private where there is no main. */
#include "passes.h"

#include "ir/tree/annotations.h"

typedef struct Uses {
  Tirc *c;
  PtrMap vars;
} Uses;

static void use(Uses *u, Node n) {
  if (n->kind == NODE_VAR) tirc_map_set(u->c, &u->vars, n, n);
  for (int i = 0; i < n->n; i++) use(u, n->args[i]);
}

/* The parameters but number `dead`; NULL where extents would not be told any more. */
static Node *without(Tirc *c, int n, const Node *params, int dead) {
  Node *rest = tirc_new_array(c, Node, n);
  PtrMap seen = {0};
  Symbols symbols = {0};
  for (int i = 0; i < n; i++)
    if (i != dead) {
      rest[i - (i > dead)] = params[i];
      tirc_info_symbols(c, params[i]->info, &seen, &symbols);
    }
  const int told = symbols.n;
  tirc_info_symbols(c, params[dead]->info, &seen, &symbols);
  return symbols.n == told && !tirc_untold_symbol(c, n - 1, rest, 0, NULL, false) ? rest : NULL;
}

/* Inputs stay: callers give them. */
static void drop_weights(Uses *u, Graph *g) {
  const Expr inputs = tirc_attrs_get(g->attrs, tirc_key(KEY_NUM_INPUT));
  int64_t n_inputs;
  if (!inputs || !tirc_const_int(inputs, &n_inputs)) return;
  for (int i = g->n_params - 1; i >= n_inputs; i--) {
    const Node *rest =
        tirc_map_has(&u->vars, g->params[i]) ? NULL : without(u->c, g->n_params, g->params, i);
    if (!rest) continue;
    g->params = rest;
    g->n_params--;
  }
}

static const Graph *without_dead_bindings(Tirc *c, const Graph *g, bool is_main) {
  Uses u = {.c = c};
  Graph *to = tirc_copy(c, g, 1);
  GraphBlock *blocks = tirc_copy(c, g->blocks, g->n_blocks);
  use(&u, g->result);
  for (int b = g->n_blocks - 1; b >= 0; b--) {
    Binding *at = tirc_new_array(c, Binding, blocks[b].n);
    int n = blocks[b].n;
    for (int i = blocks[b].n - 1; i >= 0; i--) {
      const Binding *binding = &g->blocks[b].at[i];
      /* A cast is a check as well. */
      if (!tirc_map_has(&u.vars, binding->var) && binding->value->kind != NODE_MATCH_CAST) continue;
      use(&u, binding->value);
      at[--n] = *binding;
    }
    Node *outputs = tirc_new_array(c, Node, blocks[b].n_outputs);
    int kept = 0;
    for (int i = 0; i < blocks[b].n_outputs; i++)
      if (tirc_map_has(&u.vars, blocks[b].outputs[i])) outputs[kept++] = blocks[b].outputs[i];
    blocks[b].at = at + n;
    blocks[b].n -= n;
    blocks[b].outputs = outputs;
    blocks[b].n_outputs = kept;
  }
  to->n_blocks = 0;
  for (int b = 0; b < g->n_blocks; b++)
    if (blocks[b].n) blocks[to->n_blocks++] = blocks[b];
  to->blocks = blocks;
  if (is_main) drop_weights(&u, to);
  return to;
}

/* --- functions -------------------------------------------------------------------------------- */

typedef struct Reached {
  Tirc *c;
  const Module *m;
  StrMap names;
} Reached;

static void reach(Reached *r, const char *name);

static void reach_node(Reached *r, Node n) {
  if (n->kind == NODE_CALL_TIR || n->kind == NODE_CALL_GRAPH) reach(r, n->name);
  for (int i = 0; i < n->n; i++) reach_node(r, n->args[i]);
}

static void reach(Reached *r, const char *name) {
  void **at = tirc_strmap_at(r->c, &r->names, name);
  const Graph *g = tirc_module_graph(r->m, name);
  if (*at) return;
  *at = r;
  for (int b = 0; g && b < g->n_blocks; b++)
    for (int i = 0; i < g->blocks[b].n; i++) reach_node(r, g->blocks[b].at[i].value);
}

const Module *tirc_pass_dead_functions(Passes *p, const Module *m) {
  Reached r = {.c = p->c, .m = m};
  const Graph *main = tirc_module_main_graph(m);
  if (!main) return m;
  reach(&r, main->name);
  Module *to = tirc_copy(p->c, m, 1);
  const Func **funcs = tirc_new_array(p->c, const Func *, m->n_funcs);
  const Graph **graphs = tirc_new_array(p->c, const Graph *, m->n_graphs);
  to->n_funcs = to->n_graphs = 0;
  for (int i = 0; i < m->n_funcs; i++)
    if (tirc_strmap_get(&r.names, m->funcs[i]->name)) funcs[to->n_funcs++] = m->funcs[i];
  for (int i = 0; i < m->n_graphs; i++)
    if (tirc_strmap_get(&r.names, m->graphs[i]->name)) graphs[to->n_graphs++] = m->graphs[i];
  to->c = p->c;
  to->funcs = funcs;
  to->graphs = graphs;
  return to;
}

const Module *tirc_pass_dead_code(Passes *p, const Module *m) {
  const Graph *main = tirc_module_main_graph(m);
  for (int i = 0; i < m->n_graphs; i++) {
    const Graph *g = m->graphs[i];
    m = tirc_module_with_graph(p->c, m, i, without_dead_bindings(p->c, g, g == main));
  }
  return tirc_pass_dead_functions(p, m);
}
