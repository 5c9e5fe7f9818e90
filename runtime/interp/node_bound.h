/* What the files of bounds of nodes share. */
#ifndef TIRC_INTERP_NODE_BOUND_H
#define TIRC_INTERP_NODE_BOUND_H

#include "code.h"

/* A node's own operation on operands that are put into its shadow. */
struct Shadow {
  Node node, operand[3];
  Cell given[3];
};

static inline DType program_type(const Node *n) { return tirc_dtype_lanes(n->expr->dtype, 1); }
static inline bool is_float(const Node *n) { return tirc_dtype_is_float(n->dtype); }

/* An operand as one value of its type. */
static inline void get_closed(Run *run, const Node *n, Reach *b) {
  get_bound(run, n, b);
  if (is_float(n)) tirc_bound_close(b, program_type(n));
}

static inline Cell apply(Run *run, const Node *n, Cell a, Cell b, Cell c) {
  struct Shadow *s = n->shadow;
  s->given[0] = a, s->given[1] = b, s->given[2] = c;
  return get_cell(run, &s->node);
}

typedef void (*BoundOf)(Run *, const Node *, Reach *);

/* node_bound_int.c: of integers (and bools), and of casts from and to them. */
BoundOf tirc_bound_of_int(Op op);
BoundOf tirc_bound_of_cast(const Node *n);

#endif
