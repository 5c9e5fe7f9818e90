/* CanonicalizeBindings: names of the same value become one, and fields of tuples that are written
 * out are those values. */
#include "passes.h"

typedef struct Canonical {
  const Graph *g;
  PtrMap tuples; /* variable -> the NODE_TUPLE that it is bound to */
} Canonical;

static Node canonical(GraphRewriter *r, const Binding *b, Node value, Node *alias) {
  Canonical *k = r->self;
  const Node of = value->kind == NODE_ITEM ? value->args[0] : NULL;
  const Node tuple = of && of->kind == NODE_TUPLE ? of : of ? tirc_map_get(&k->tuples, of) : NULL;
  if (value->kind == NODE_VAR || tuple) {
    const Node is = tuple ? tuple->args[value->index] : value;
    if (is->kind == NODE_CONST && tirc_is_output(k->g, b->var)) return is; /* it keeps its name */
    *alias = is;
    return NULL;
  }
  if (value->kind == NODE_TUPLE) tirc_map_set(r->c, &k->tuples, b->var, value);
  return value;
}

const Module *tirc_pass_canonicalize(Passes *p, const Module *m) {
  for (int i = 0; i < m->n_graphs; i++) {
    Canonical k = {.g = m->graphs[i]};
    GraphRewriter r = {.c = p->c, .value = canonical, .self = &k};
    m = tirc_module_with_graph(p->c, m, i, tirc_rewrite_graph(&r, m->graphs[i]));
  }
  return m;
}
