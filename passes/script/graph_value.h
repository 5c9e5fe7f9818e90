/* Values of graphs in scripts: what R.add(x, w) gives to a script that makes a graph.
 *
 *   x.shape, x.ndim, x.dtype      what is known of it
 *   x.tolist()                    the elements of a constant, as numbers in lists
 *   R.const([1, 4], "int64")      a constant
 *   R.nn.relu(x)                  a call of an operator
 *
 * Who makes graphs (passes/module) says what a call becomes; here it is only how scripts see it. */
#ifndef TIRC_SCRIPT_GRAPH_VALUE_H
#define TIRC_SCRIPT_GRAPH_VALUE_H

#include "interp.h"

#include "ir/tree/graph.h"

typedef struct GraphValue { /* u.object of a "RelaxExpr" */
  const char *name;         /* NULL: a constant that no file has */
  Info info;                /* a tensor whose shape and type are known */
  const void *data;         /* a constant's elements, row by row; NULL: it is none */
  Node node; /* what stands for it in the graph; NULL: a constant that nothing uses yet */
} GraphValue;

struct GraphBuilder { /* of a script that makes graphs: sc->graph */
  /* Whether there is an operator of this name, or any that begins with it and a dot. */
  bool (*knows)(GraphBuilder *b, const char *name, bool *is_operator);
  /* A GraphValue, or a tuple of them. */
  Value (*call)(GraphBuilder *b, const char *name, const Args *a);
  /* tolist() of what is no constant: throws, and says who wanted to know. */
  void (*not_known)(GraphBuilder *b, const GraphValue *v);
};

const GraphValue *tirc_graph_value(Value v); /* NULL: it is none */
Value tirc_graph_constant(Script *sc, const char *name, Info info, const void *data);

#endif
