#include "graph_branch.h"

#include "ir/tree/annotations.h"
#include "passes/script/require.h"

/* --- taking back ------------------------------------------------------------------------------ */

GraphMark tirc_graph_mark(GraphMaker *m, Script *sc) {
  tirc_graph_take_needs(m, sc);
  return (GraphMark){.n_bindings = m->bindings.n,
                     .n_branches = m->branches.n,
                     .n_funcs = m->funcs.n,
                     .calls = sc->calls,
                     .nesting = sc->nesting,
                     .attrs = m->graph->attrs,
                     .handling = sc->handling,
                     .hint = m->hint,
                     .whose = m->whose,
                     .loc = sc->loc};
}

void tirc_graph_return_to(GraphMaker *m, Script *sc, const GraphMark *mark) {
  for (int i = mark->n_bindings; i < m->bindings.n; i++)
    tirc_map_set(m->p->c, &m->closed, m->bindings.at[i].var, m->graph);
  m->bindings.n = mark->n_bindings;
  m->branches.n = mark->n_branches;
  m->funcs.n = mark->n_funcs;
  m->graph->attrs = mark->attrs;
  m->hint = mark->hint;
  m->whose = mark->whose;
  m->taken = 0;
  if (sc->needs) sc->needs->list.n = 0;
  sc->calls = mark->calls;
  sc->nesting = mark->nesting;
  sc->handling = mark->handling;
  sc->loc = mark->loc;
}

/* --- branches --------------------------------------------------------------------------------- */

/* From here on conditions are a branch's, and go nowhere else: gives those of the graph around it.
 */
static Attrs open_conditions(GraphMaker *m, Script *sc) {
  tirc_graph_take_needs(m, sc);
  const Attrs around = m->graph->attrs;
  m->graph->attrs = tirc_attrs_remove(m->p->c, around, tirc_key(KEY_REQUIRES));
  return around;
}

/* Gives the branch's. */
static Attrs close_conditions(GraphMaker *m, Script *sc, Attrs around) {
  Tirc *c = m->p->c;
  const char *key = tirc_key(KEY_REQUIRES);
  tirc_graph_take_needs(m, sc);
  const Expr inside = tirc_attrs_get(m->graph->attrs, key), before = tirc_attrs_get(around, key);
  m->graph->attrs = before ? tirc_attrs_set(c, m->graph->attrs, key, before)
                           : tirc_attrs_remove(c, m->graph->attrs, key);
  return inside ? tirc_attrs_set(c, (Attrs){0}, key, inside) : (Attrs){0};
}

Node tirc_graph_write_branch(GraphMaker *m, Script *sc, const GraphBody *body, const char *name) {
  Tirc *c = m->p->c;
  const int n = body->n_outputs, before = m->bindings.n;
  const Attrs around = open_conditions(m, sc);
  Value *outputs = tirc_new_array(c, Value, n);
  Node *values = tirc_new_array(c, Node, n), call;
  body->run(body, sc, NULL, outputs);
  for (int i = 0; i < n; i++) {
    const Node value = tirc_script_relax(outputs[i]);
    if (!value || value->kind == NODE_TUPLE || tirc_graph_counted(m, value))
      return NULL; /* the If is refused */
    values[i] = tirc_graph_operand(m, value);
  }
  const Node result = n == 1 ? values[0] : tirc_node_tuple(c, n, values);
  const int made = m->bindings.n - before;
  m->bindings.n = before;
  const Attrs own = close_conditions(m, sc, around);
  if (!made && !own.n) return result;
  for (int i = 0; i < made; i++)
    tirc_map_set(c, &m->closed, m->bindings.at[before + i].var, m->graph);
  vec_push(c, m->branches,
           tirc_graph_part(c, tirc_graph_name(m, name), own, made, m->bindings.at + before, result,
                           &call));
  return call;
}

bool tirc_graph_gives_the_same(Tirc *c, Node a, Node b) {
  Match match = {.c = c}, back = match;
  return a && b && tirc_meet_info(&match, a->info, b->info) &&
         tirc_meet_info(&back, b->info, a->info);
}

bool tirc_graph_if(GraphMaker *m, Node cond, const Node *calls, int n, Value *outputs) {
  Tirc *c = m->p->c;
  const char *hint = m->hint;
  const Node args[] = {tirc_graph_operand(m, cond), calls[0], calls[1]};
  if (!tirc_graph_gives_the_same(c, args[1], args[2])) return false;
  uintptr_t sources = 0;
  for (int i = 0; i < 3; i++) sources |= tirc_graph_sources_below(m, args[i]);
  m->hint = n > 1 ? tirc_format(c, "%s_all", hint) : hint;
  const struct Node whole = {
      .kind = NODE_IF, .n = 3, .args = tirc_copy(c, args, 3), .info = args[1]->info, .loc = m->loc};
  const Node value = tirc_graph_bind(m, &whole, sources);
  m->hint = hint;
  for (int i = 0; i < n; i++) {
    struct Node field = {.kind = NODE_ITEM, .index = i, .n = 1, .args = &value, .loc = m->loc};
    if (n > 1) field.info = value->info->fields[i];
    outputs[i] = tirc_script_of_relax(n > 1 ? tirc_graph_bind(m, &field, sources) : value);
  }
  return true;
}

void tirc_graph_branch(void *maker, Script *sc, Node cond, const GraphBody *const *bodies,
                       Value *outputs) {
  GraphMaker *m = maker;
  Tirc *c = m->p->c;
  const int taken = m->taken;
  Node calls[2];
  m->taken = 0;
  if (taken) {
    bodies[taken - 1]->run(bodies[taken - 1], sc, NULL, outputs);
    return;
  }
  calls[0] = tirc_graph_write_branch(m, sc, bodies[0], tirc_format(c, "%s_then", m->hint));
  calls[1] = tirc_graph_write_branch(m, sc, bodies[1], tirc_format(c, "%s_else", m->hint));
  if (tirc_graph_if(m, cond, calls, bodies[0]->n_outputs, outputs)) return;
  m->apart = cond;
  m->writer.not_known(m, sc, cond);
}

Expr tirc_graph_condition(Script *sc, Node cond) {
  const Expr *elements = cond->kind == NODE_CONST ? tirc_script_integers(sc, cond) : NULL;
  return elements ? elements[0] : NULL;
}
