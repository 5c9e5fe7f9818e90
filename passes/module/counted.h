/* Tensors of which only the run knows how many rows there are: they have as many as there can be,
 * and a count beside them. Rows behind it mean nothing, so that nothing may mix rows: what is
 * computed of such a tensor is one where each row is made of the same row of it alone.
 *
 *   found (8, 3), of which count rows are      y[j, i] = f(found[i, 2], b[j])      y: along axis 1
 */
#ifndef TIRC_MODULE_COUNTED_H
#define TIRC_MODULE_COUNTED_H

#include "ir/tree/graph.h"

typedef struct Counted {
  Node count; /* an int64 without dimensions */
  int axis;   /* along which the rows stand */
} Counted;

/* Of the results of f, which has n_params parameters, those of operands first: the axis along which
 * row i is made of rows i alone, as many as there are of these, or -1 where there are no such rows
 * in it. axes: of all parameters, those of the operands given. False: it cannot be seen. */
bool tirc_keeps_rows(Tirc *c, const Func *f, int n_operands, int *axes);

#endif
