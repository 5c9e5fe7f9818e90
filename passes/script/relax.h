/* Values of graphs in scripts: what R.NAME(...) gives, and what a pattern matched.
 *
 *   R.add(x, R.const(1, x.dtype))      a binding of the graph that is being written
 *   x.shape, x.dtype, x.ndim           what is known of it
 *   x.op, x.args, x.attrs              of a call: "nn.conv2d", its tensors, all attributes by name
 *   x.is_weight                        it depends on weights and constants alone
 *   x.with_args(a, b)                  the same call of other tensors
 *   x[0]                               a field of a tuple
 *
 * Who runs the script says how bindings are made; where no graph is being written there is no R. */
#ifndef TIRC_SCRIPT_RELAX_H
#define TIRC_SCRIPT_RELAX_H

#include "interp.h"
#include "ir/tree/graph.h"

typedef struct GraphWriter {
  void *self;
  Node (*bind)(void *self, Script *sc, Node value);       /* a variable of this value, inferred */
  Node (*value_of)(void *self, Node n);                   /* what a variable is bound to, or NULL */
  Value (*attributes)(void *self, Script *sc, Node call); /* a dict */
  bool (*is_weight)(void *self, Node n);
} GraphWriter;

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

#endif
