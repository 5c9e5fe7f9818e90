/* The inside of the reader of graphs (relax_*.c): what its files share. Their text is the subset of
 * Relax that ir/tree/graph.h draws; everything that is no tensor in it is read as in a prim_func.
 */
#ifndef TIRC_PARSER_RELAX_H
#define TIRC_PARSER_RELAX_H

#include "ir/tree/graph.h"
#include "reader.h"

/* One graph while it is read. Calls inside of calls get bindings of their own. */
typedef struct GraphFrame {
  Reader *r;
  const char *name;
  VEC(Node) params;
  VEC(GraphBlock) blocks;
  VEC(Binding) bindings; /* of the block that is open */
  VEC(Node) outputs;
  bool in_dataflow, has_output, in_signature;
  int n_fresh;  /* names of calls inside of calls: lv, lv1, ... */
  StrMap taken; /* names that the text binds */
  Node result;
  Info info;
  Attrs attrs;
  bool has_attrs;
} GraphFrame;

/* What `cls` and the class's own name mean in a graph. */
#define GRAPH_MODULE "%module"

/* relax_info.c: R.Tensor(...) and its like. In the signature a name in quotes, or one that nothing
 * has, is a symbolic extent. */
Info tirc_relax_info(GraphFrame *g, const Syn *s);
/* A number, a string, None, or a tuple of them, as an attribute: integers are int64, floats are
 * float64. */
Expr tirc_relax_literal(GraphFrame *g, const Syn *s);
Attrs tirc_relax_attrs(GraphFrame *g, const Syn *s);
/* relax_bounds.c: the attributes, those that bound extents checked and without what has a number.
 */
Attrs tirc_relax_bounds(GraphFrame *g, const Syn *at, Attrs attrs);
/* A list of extents. *n of them on the arena. */
const Expr *tirc_relax_extents(GraphFrame *g, const Syn *s, int *n);

/* relax_node.c: the value of an expression; an argument is a variable, a constant or a tuple. */
Node tirc_relax_value(GraphFrame *g, const Syn *s);
Node tirc_relax_argument(GraphFrame *g, const Syn *s);
/* "R.match_cast" for a call of it, NULL for what is no call of a name of a module. */
const char *tirc_relax_called(GraphFrame *g, const Syn *s);
/* A binding of the block that is open, its variable named so. */
Node tirc_relax_bind(GraphFrame *g, const Syn *at, const char *name, Info info, Node value);

/* relax_const.c */
Node tirc_relax_const(GraphFrame *g, const Syn *call);

/* relax_func.c */
bool tirc_is_graph(Reader *r, const Syn *def);
const Graph *tirc_read_graph(Reader *r, const Syn *def);

#endif
