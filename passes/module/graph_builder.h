/* A graph that a script makes, call by call: what R.NAME(...) of passes/script/graph_value.h does.
 */
#ifndef TIRC_MODULE_GRAPH_BUILDER_H
#define TIRC_MODULE_GRAPH_BUILDER_H

#include "passes.h"

#include "passes/script/graph_value.h"

typedef struct GraphMaker {
  GraphBuilder builder; /* what scripts see: the first member */
  Passes *p;
  Script *sc;       /* that makes it */
  Graph *graph;     /* of which calls are a part: what is known of them hangs on it */
  const char *hint; /* the name of what is made now */
  Loc loc;
  VEC(Node) params;       /* inputs, then weights in the order in which they are used */
  VEC(const void *) data; /* of each: what a weight holds; NULL: an input */
  VEC(Binding) bindings;
  PtrMap sources; /* GraphValue -> the inputs that it depends on, bit i: number i, as an intptr_t */
  StrMap names;
} GraphMaker;

void tirc_graph_maker_open(GraphMaker *m);
/* A name that no other parameter or binding has: letters, digits and underscores. */
const char *tirc_graph_name(GraphMaker *m, const char *wanted);
/* A parameter of the graph, number `number` of its inputs. */
Value tirc_graph_input(GraphMaker *m, const char *name, Info info, int number);
/* What stands for a value in the graph: a variable, or a small constant in place. A large constant
 * becomes a parameter, a weight. */
Node tirc_graph_operand(GraphMaker *m, const GraphValue *v);
/* The inputs that a value depends on. */
uintptr_t tirc_graph_sources(const GraphMaker *m, const GraphValue *v);

#endif
