/* InlineFunctions: a graph that another one calls becomes part of it, its symbols those of the
 * caller; what is to be one prim_func (the attribute Primitive) stays. */
#include "conditions.h"
#include "fusion.h"
#include "passes.h"

#include "ir/tree/visit.h"

typedef struct Inline {
  Passes *p;
  const Module *m;
  Attrs attrs; /* of the graph that is made: its conditions, and those of what became part of it */
} Inline;

typedef struct Copy {
  GraphRewriter *to;
  PtrMap vars;    /* the callee's variable -> what stands for it */
  PtrMap symbols; /* its symbol -> the caller's extent */
} Copy;

static Node copy_node(NodeMutator *m, Node n) {
  Copy *k = m->self;
  if (n->kind == NODE_VAR) {
    const Node to = tirc_map_get(&k->vars, n);
    return to ? to : n;
  }
  if (!n->value) return n;
  struct Node to = *n;
  to.value = tirc_substitute(m->c, n->value, &k->symbols);
  return to.value == n->value ? n : tirc_graph_node(m->c, &to);
}

static Info copy_info(NodeMutator *m, Info i) {
  return tirc_substitute_info(m->c, i, &((Copy *)m->self)->symbols);
}

/* Where it is known already, the branch is what is called. */
static Node taken(Node n) {
  const Node cond = n->args[0];
  if (cond->kind != NODE_CONST) return n;
  return n->args[*(const char *)cond->data ? 1 : 2];
}

static Node inline_call(GraphRewriter *r, const Binding *b, Node value, Node *alias) {
  (void)b;
  Inline *in = r->self;
  if (value->kind == NODE_IF) value = taken(value);
  const Graph *g = value->kind == NODE_CALL_GRAPH ? tirc_module_graph(in->m, value->name) : NULL;
  if (!g || tirc_is_primitive(g)) return value;
  Copy k = {.to = r};
  Match match = {.c = r->c};
  const int n = g->n_params;
  const int wrong = tirc_match_params(&match, n, tirc_node_infos(r->c, n, g->params),
                                      tirc_node_infos(r->c, n, value->args));
  if (wrong >= 0)
    tirc_fail(r->c, value->loc, CODE_SHAPE, NULL, "the call of %s: argument %d: %s", g->name,
              wrong + 1, match.why);
  for (int i = 0; i < n; i++) tirc_map_set(r->c, &k.vars, g->params[i], value->args[i]);
  if (value->info && g->info) (void)tirc_match_info(&match, g->info, value->info);
  for (int i = 0; i < g->n_blocks; i++)
    for (int j = 0; j < g->blocks[i].n; j++) {
      tirc_match_fresh(&match, g->blocks[i].at[j].var->info);
      tirc_match_fresh(&match, g->blocks[i].at[j].value->info);
    }
  k.symbols = match.symbols;
  in->attrs = tirc_take_conditions(r->c, in->attrs, g, &match.symbols);
  NodeMutator m = {.c = r->c, .node = copy_node, .info = copy_info, .self = &k};
  for (int i = 0; i < g->n_blocks; i++)
    for (int j = 0; j < g->blocks[i].n; j++) {
      const Binding *inner = &g->blocks[i].at[j];
      Node inside = tirc_mutate_node(&m, inner->value), other = NULL;
      inside = inline_call(r, inner, inside, &other);
      const Node var = inside ? tirc_emit_binding(r, inner->var->name, inside, inner->loc) : other;
      tirc_map_set(r->c, &k.vars, inner->var, var);
    }
  const Node result = tirc_mutate_node(&m, g->result);
  *alias = result;
  return result->kind == NODE_VAR ? NULL : result;
}

const Module *tirc_pass_inline(Passes *p, const Module *m) {
  m = tirc_infer(p, m);
  for (int i = 0; i < m->n_graphs; i++) {
    Inline in = {p, m, m->graphs[i]->attrs};
    GraphRewriter r = {.c = p->c, .value = inline_call, .self = &in};
    Graph *g = tirc_copy(p->c, tirc_rewrite_graph(&r, m->graphs[i]), 1);
    g->attrs = in.attrs;
    m = tirc_module_with_graph(p->c, m, i, g);
  }
  return m;
}
