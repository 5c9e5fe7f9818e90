/* A graph that a script makes, call by call: what R.NAME(...) of passes/script/relax.h does where
 * an ONNX file is read. Constants of files and scripts are nodes that are no part of the graph
 * until a call needs them; what is computed of constants alone is computed at once. */
#ifndef TIRC_MODULE_GRAPH_BUILDER_H
#define TIRC_MODULE_GRAPH_BUILDER_H

#include "counted.h"
#include "operators.h"
#include "passes.h"

#include "passes/script/relax.h"

typedef struct GraphMaker {
  GraphWriter writer; /* what scripts see: sc->writer. not_known is the caller's */
  Passes *p;
  Graph *graph;     /* of which calls are a part: what is known of them hangs on it */
  const char *hint; /* the name of what is made now */
  Loc loc;
  const char *whose;      /* whose conditions are added: "node 'y' (Pad)", or NULL */
  VEC(Node) params;       /* inputs, then weights in the order in which they are used */
  VEC(const void *) data; /* of each: what a weight holds; NULL: an input */
  VEC(Binding) bindings;
  PtrMap values;  /* variable -> what it is bound to; of a weight: the constant */
  PtrMap places;  /* constant -> what stands for it in the graph */
  PtrMap sources; /* variable -> the inputs that it depends on, bit i: number i, the last bit: that
                     and those behind */
  PtrMap closed;  /* variables of branches: nothing behind these may use them */
  PtrMap counted; /* variable -> Counted *, one for each of its fields */
  bool count_asked; /* a script looked at a count */
  VEC(const Graph *) branches;
  int taken;  /* 1, 2: of the next If that branch is written, as part of the graph; 0: both are */
  Node apart; /* the condition of an If whose branches give different things, where it failed */
  VEC(const Func *) funcs; /* loops */
  StrMap names; /* that are taken -> the number behind it to try next where it is wanted again */
} GraphMaker;

void tirc_graph_maker_open(GraphMaker *m);
/* What the script asked of extents so far is asked of those of the graph. */
void tirc_graph_take_needs(GraphMaker *m, Script *sc);
/* What is wanted as a name of the language: letters, digits and underscores, no digit first. */
const char *tirc_graph_spelling(Tirc *c, const char *wanted);
/* A name that no other parameter or binding has: letters, digits and underscores. */
const char *tirc_graph_name(GraphMaker *m, const char *wanted);
/* A parameter of the graph, number `number` of its inputs. */
Node tirc_graph_input(GraphMaker *m, const char *name, Info info, int number);
/* A constant whose bytes stay where they are; name NULL: no file has it. */
Node tirc_graph_constant(const GraphMaker *m, const char *name, Info info, const void *data);
/* What stands for a value in the graph: a variable, or a small constant in place. A large constant
 * becomes a parameter, a weight. */
Node tirc_graph_operand(GraphMaker *m, Node n);
/* A new binding of what is inferred already. */
Node tirc_graph_bind(GraphMaker *m, const struct Node *value, uintptr_t sources);
/* What has to hold of extents when the graph runs. */
void tirc_graph_require(GraphMaker *m, int n, const Need *needs);
/* How many rows of a value mean something; NULL: all. */
const Counted *tirc_graph_counted(const GraphMaker *m, Node n);
/* The inputs that a value depends on, or all that is below it. */
uintptr_t tirc_graph_sources(const GraphMaker *m, Node n);
uintptr_t tirc_graph_sources_below(const GraphMaker *m, Node n);
bool tirc_depends_on_input(uintptr_t sources, int number);

#endif
