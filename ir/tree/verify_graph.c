/* Well-formedness of graphs, beyond what any reader of text sees: passes make them, too. Shapes are
 * the business of inference (passes/module). */
#include "annotations.h"
#include "graph.h"
#include "print.h"

typedef struct GraphCheck {
  Tirc *c;
  const Module *m;
  const Graph *g;
  PtrMap defined; /* variable -> the block that binds it, plus one; 0 blocks: a parameter */
  Loc loc;
} GraphCheck;

#define FAIL(v, hint, ...) tirc_fail((v)->c, (v)->loc, CODE_ILL_FORMED, hint, __VA_ARGS__)

static bool is_output(const GraphBlock *b, Node var) {
  for (int i = 0; i < b->n_outputs; i++)
    if (b->outputs[i] == var) return true;
  return false;
}

static void check_use(GraphCheck *v, Node var, int block) {
  const int from = (int)(intptr_t)tirc_map_get(&v->defined, var);
  if (!from) FAIL(v, NULL, "%s: '%s' is used where nothing binds it", v->g->name, var->name);
  const GraphBlock *b = from > 1 ? &v->g->blocks[from - 2] : NULL;
  if (b && b->is_dataflow && from - 2 != block && !is_output(b, var))
    FAIL(v, "name it in R.output", "%s: '%s' is used outside of its dataflow block", v->g->name,
         var->name);
}

/* The prim_func's parameters: the arguments, the results, the tir_vars. */
static void check_call_tir(GraphCheck *v, Node n) {
  const Func *f = tirc_module_func(v->m, n->name);
  const Info *results;
  if (!f && tirc_module_graph(v->m, n->name))
    FAIL(v, "call a graph as cls.f(x)", "%s: R.call_tir of '%s', which is a graph", v->g->name,
         n->name);
  if (!f) FAIL(v, NULL, "%s: the module has no function '%s'", v->g->name, n->name);
  const int n_results = tirc_info_results(&n->info, &results);
  const int n_vars = n->value ? n->value->n : 0;
  if (n->n + n_results + n_vars != f->n_params)
    FAIL(
        v, "the arguments come first, then the results, then tir_vars",
        "%s: %s has %d parameters, and R.call_tir gives it %d arguments, %d results and %d scalars",
        v->g->name, n->name, f->n_params, n->n, n_results, n_vars);
}

static void check_call_graph(GraphCheck *v, Node n) {
  const Graph *g = tirc_module_graph(v->m, n->name);
  if (!g && tirc_module_func(v->m, n->name))
    FAIL(v, "write R.call_tir(cls.f, (x,), out_sinfo=...)",
         "%s: '%s' is a prim_func, which R.call_tir calls", v->g->name, n->name);
  if (!g) FAIL(v, NULL, "%s: the module has no function '%s'", v->g->name, n->name);
  if (g->n_params != n->n)
    FAIL(v, NULL, "%s: %s has %d parameters, not %d", v->g->name, n->name, g->n_params, n->n);
}

/* What a branch computes stands in a function, or it would be computed either way. */
static void check_branch(GraphCheck *v, Node n) {
  const bool is_there = n->kind == NODE_VAR || n->kind == NODE_CONST || n->kind == NODE_TUPLE;
  if (n->kind != NODE_CALL_GRAPH && !is_there)
    FAIL(v, "put it into a function of the module: y = cls.f(x)",
         "%s: a branch of `if` calls a function, or is a value that is there: %s", v->g->name,
         tirc_print_node(v->c, n));
}

static void check_node(GraphCheck *v, Node n, int block) {
  if (n->loc.line) v->loc = n->loc;
  if (n->kind == NODE_VAR) check_use(v, n, block);
  if (n->kind == NODE_CALL_TIR) check_call_tir(v, n);
  if (n->kind == NODE_CALL_GRAPH) check_call_graph(v, n);
  for (int i = 1; n->kind == NODE_IF && i < 3; i++) check_branch(v, n->args[i]);
  for (int i = 0; i < n->n; i++) check_node(v, n->args[i], block);
}

static void define(GraphCheck *v, Node var, int block) {
  if (var->kind != NODE_VAR || tirc_map_has(&v->defined, var))
    FAIL(v, NULL, "%s: '%s' is bound twice", v->g->name, var->name ? var->name : "?");
  tirc_map_set(v->c, &v->defined, var, (void *)(intptr_t)(block + 2));
}

static void check_graph(Tirc *c, const Module *m, const Graph *g) {
  GraphCheck v = {.c = c, .m = m, .g = g, .loc = g->loc};
  Expr weights = tirc_attrs_get(g->attrs, tirc_key(KEY_NUM_INPUT));
  int64_t n;
  if (weights && (!tirc_const_int(weights, &n) || n < 0 || n > g->n_params))
    FAIL(&v, "it is how many of the parameters are inputs; the others are weights",
         "%s: num_input does not go with %d parameters", g->name, g->n_params);
  for (int i = 0; i < g->n_params; i++) define(&v, g->params[i], -1);
  for (int b = 0; b < g->n_blocks; b++)
    for (int i = 0; i < g->blocks[b].n; i++) {
      const Binding *binding = &g->blocks[b].at[i];
      v.loc = binding->loc;
      check_node(&v, binding->value, b);
      define(&v, binding->var, b);
    }
  v.loc = g->loc;
  check_node(&v, g->result, g->n_blocks);
}

/* --- calls in a circle ------------------------------------------------------------------------ */

enum { VISITING = 1, VISITED = 2 };

typedef struct CallWalk {
  Tirc *c;
  const Module *m;
  PtrMap state;
} CallWalk;

static void walk_calls(CallWalk *w, const Graph *g);

static void walk_node(CallWalk *w, const Graph *g, Node n) {
  const Graph *callee = n->kind == NODE_CALL_GRAPH ? tirc_module_graph(w->m, n->name) : NULL;
  if (callee && (intptr_t)tirc_map_get(&w->state, callee) == VISITING)
    tirc_fail(w->c, n->loc, CODE_ILL_FORMED, "a graph ends, so it cannot call itself",
              "%s calls %s, and that leads back to %s", g->name, callee->name, g->name);
  if (callee) walk_calls(w, callee);
  for (int i = 0; i < n->n; i++) walk_node(w, g, n->args[i]);
}

static void walk_calls(CallWalk *w, const Graph *g) {
  if (tirc_map_has(&w->state, g)) return;
  tirc_map_set(w->c, &w->state, g, (void *)(intptr_t)VISITING);
  for (int b = 0; b < g->n_blocks; b++)
    for (int i = 0; i < g->blocks[b].n; i++) walk_node(w, g, g->blocks[b].at[i].value);
  tirc_map_set(w->c, &w->state, g, (void *)(intptr_t)VISITED);
}

void tirc_verify_graphs(Tirc *c, const Module *m) {
  CallWalk w = {.c = c, .m = m};
  for (int i = 0; i < m->n_graphs; i++) {
    bool twice = tirc_module_func(m, m->graphs[i]->name) != NULL;
    for (int k = 0; k < i; k++) twice |= strcmp(m->graphs[k]->name, m->graphs[i]->name) == 0;
    if (twice)
      tirc_fail(c, m->graphs[i]->loc, CODE_ILL_FORMED, NULL, "two functions are called '%s'",
                m->graphs[i]->name);
    check_graph(c, m, m->graphs[i]);
  }
  for (int i = 0; i < m->n_graphs; i++) walk_calls(&w, m->graphs[i]);
}
