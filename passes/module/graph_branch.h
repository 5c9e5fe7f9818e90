/* An If that only the run decides: each branch is a function of its own, and the run calls one.
 *
 *   y = if cond: y_then(x) else: y_else(x)
 *
 * Both have to give tensors of the same shapes. Where they do not (a squeeze that an exporter
 * writes as an If), GraphMaker.apart is the condition, and who reads the graph may write what
 * follows with each branch: what is left of the graph is a branch then. */
#ifndef TIRC_MODULE_GRAPH_BRANCH_H
#define TIRC_MODULE_GRAPH_BRANCH_H

#include "graph_builder.h"

/* Where a graph stood before something was written that may be taken back. */
typedef struct GraphMark {
  int n_bindings, n_branches, n_funcs, calls, nesting;
  Attrs attrs;
  const Exception *handling;
  const char *hint, *whose;
  Loc loc;
} GraphMark;

GraphMark tirc_graph_mark(GraphMaker *m, Script *sc);
void tirc_graph_return_to(GraphMaker *m, Script *sc, const GraphMark *mark);

/* GraphWriter.branch */
void tirc_graph_branch(void *maker, Script *sc, Node cond, const GraphBody *const *bodies,
                       Value *outputs);
/* The bindings that a body makes, and what it gives, as a call of a function that has them; NULL:
 * it gives something else than tensors all of whose rows mean something. */
Node tirc_graph_write_branch(GraphMaker *m, Script *sc, const GraphBody *body, const char *name);
/* What one of two such calls gives, n values; false: they give different things. */
bool tirc_graph_if(GraphMaker *m, Node cond, const Node *calls, int n, Value *outputs);
bool tirc_graph_gives_the_same(Tirc *c, Node a, Node b);
/* What a condition is in extents that the run tells; NULL: it depends on more than these. */
Expr tirc_graph_condition(Script *sc, Node cond);

#endif
