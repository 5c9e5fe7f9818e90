/* A part of a graph that runs as often as only the run knows: its calls become one prim_func, which
 * repeats them, and the graph calls that.
 *
 *   while turn < trips and go:                 @T.prim_func
 *       p = R.matmul(state, w)                 def loop(trips, go, state, w, result, turns):
 *       state = R.tanh(p)                 ->       result = state
 *       go = R.less(R.sum(state), c)               while turns < trips and go: ... blocks ... */
#ifndef TIRC_MODULE_GRAPH_LOOP_H
#define TIRC_MODULE_GRAPH_LOOP_H

#include "graph_builder.h"

typedef struct LoopPart {
  Node turn;        /* a variable that stands for its number, an int64 */
  Node trips, cond; /* an int64, a bool: NULL where nothing ends it so */
  Expr most;        /* turns; NULL: as many as trips say, and nothing is gathered */
  int n_states, n_gathered;
  const Node *first, *states, *next; /* each state ahead, in a turn (a variable), and behind it */
  const Node *gathered;              /* what each turn gives */
  Node goes_on;                      /* NULL: always */
  int n_bindings;
  const Binding *bindings; /* of a turn */
} LoopPart;

/* The call of the function: the last states, what all turns gave one behind the other, and how many
 * turns there were, as a tuple. NULL: a turn has what cannot be part of one. */
Node tirc_graph_loop(GraphMaker *m, const LoopPart *part);

#endif
