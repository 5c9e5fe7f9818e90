/* Values of graphs in scripts: what R.NAME(...) gives, what a pattern matched, what an ONNX node
 * gets.
 *
 *   R.add(x, R.const(1, x.dtype))      a binding of the graph that is being written
 *   R.const([[1, 4]], "int64")         a constant, of a number or of lists of them
 *   x.name, x.shape, x.dtype, x.ndim   what is known of it
 *   x.is_const, x.tolist()             a constant, and its elements as numbers in lists; of what
 *                                      is known but for extents that have names, expressions, too
 *   x.op, x.args, x.attrs              of a call: "nn.conv2d", its tensors, all attributes by name
 *   x.is_weight                        it depends on weights and constants alone
 *   x.is_input                         it is a parameter, and none of these
 *   R.loop(f, [x, y], trips, cond, most)   turns while there are less than trips and most, and what
 *                                      f(turn, [x, y]) says first holds: [x, y, gathered, turns]
 *   x.with_args(a, b)                  the same call of other tensors
 *   R.counted(x, n, axis=0)            x, of which only n rows along the axis mean something, n an
 *                                      int64 that the run computes; n None: x as a value all of
 *                                      whose rows mean something
 *   x.counts                           of each axis the n of its rows, None where all count
 *   R.result("NAME", x)                main gives x, too, behind the results that it has
 *   x[0], list(x), a, b = x            fields of a tuple
 *
 * A value is a node: a variable, a constant that may not be part of the graph yet, or a tuple of
 * them. Who runs the script says how bindings are made (passes/module); where no graph is being
 * written there is no R. */
#ifndef TIRC_SCRIPT_RELAX_H
#define TIRC_SCRIPT_RELAX_H

#include "interp.h"
#include "ir/tree/graph.h"

typedef struct GraphBody GraphBody;

/* What is repeated, f(turn, states), gives [whether it goes on, or None; the next states; what is
 * gathered of each turn]. */
typedef struct GraphLoop {
  Value f;
  Node trips, cond; /* an int64 and a bool without dimensions, or NULL */
  Expr most;        /* turns, or NULL */
  int n;
  const Node *states;
} GraphLoop;

typedef struct GraphWriter {
  void *self;
  /* What stands for a call or a field of a tuple, inferred: a variable, or what is known of it. */
  Node (*bind)(void *self, Script *sc, Node value);
  Node (*value_of)(void *self, Node n);                   /* what a variable is bound to, or NULL */
  Value (*attributes)(void *self, Script *sc, Node call); /* a dict */
  bool (*is_weight)(void *self, Node n);
  /* Throws: the elements of what is no constant are asked for. NULL: there is nothing to add. */
  void (*not_known)(void *self, Script *sc, Node n);
  /* What the first body gives where cond, a bool, holds, and otherwise the second one, of which
   * only the one that is taken runs: n_outputs values. NULL: no branches can be written. */
  void (*branch)(void *self, Script *sc, Node cond, const GraphBody *const *bodies, Value *outputs);
  /* n, of which only so many rows along the axis mean something when the graph runs; count NULL:
   * what stands for it with all of them. NULL: no such values can be written. */
  Node (*counted)(void *self, Script *sc, Node n, Node count, int axis);
  Node (*count_of)(void *self, Node n, int axis); /* NULL: all do */
  /* A list of the last states, of all that was gathered, and of how many turns there were. NULL: no
   * loops can be written. */
  Value (*loop)(void *self, Script *sc, const GraphLoop *what);
  /* n becomes one more result of the graph, with this name. NULL: it has those that it has. */
  void (*result)(void *self, Script *sc, const char *name, Node n);
} GraphWriter;

/* A graph that a node of a file holds: body.run([x, y]) makes its nodes for these inputs, and gives
 * a list of its outputs; body.n_inputs, body.n_outputs. body.run_if(cond, other) is what body gives
 * where cond holds when the graph runs, and otherwise what the other one does. */
struct GraphBody { /* u.object of a "GraphBody" */
  int n_inputs, n_outputs;
  void (*run)(const GraphBody *self, Script *sc, const Value *inputs, Value *outputs);
};
Value tirc_script_of_body(const GraphBody *b);

Value tirc_script_of_relax(Node n);
Node tirc_script_relax(Value v); /* NULL: it is none */

/* What parts of a pattern matched: matchings[pattern], found by the pattern's identity. */
typedef struct Matching {
  const ValueList *pattern;
  Node node;
} Matching;
typedef struct Matchings {
  int n;
  const Matching *at;
} Matchings;
Value tirc_script_of_matchings(const Matchings *m);

/* relax_const.c: R.const(value, dtype=None), and back */
Value tirc_script_relax_const(void); /* the function */
Value tirc_script_relax_elements(Script *sc, Node constant);
/* Integers or bools that are known but for extents that have names: a constant without bytes, whose
 * value is a tuple of int64 and bool expressions, row by row. */
Node tirc_script_symbolic(Tirc *c, Info info, const Expr *elements, Loc loc);
/* The elements of such a one, or of any constant of integers or bools; NULL: it is neither. */
const Expr *tirc_script_integers(Script *sc, Node n);

#endif
