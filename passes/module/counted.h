/* Tensors of which only the run knows how many rows there are: they have as many as there can be,
 * and a count beside them. Rows behind it mean nothing, so that nothing may mix rows: what is
 * computed of such a tensor is one where each row is made of the same row of it alone. The axes
 * of a tensor have counts of their own, and an element means something where all of its indices do.
 *
 *   found (8, 3), of which count rows are      y[j, i] = f(found[i, 2], b[j])      y: along axis 1
 *                                              y[i, j] = g(found[i], found[j])     y: along both
 */
#ifndef TIRC_MODULE_COUNTED_H
#define TIRC_MODULE_COUNTED_H

#include "ir/tree/graph.h"

typedef struct Counted {
  int ndim;
  Node *of; /* of each axis: an int64 without dimensions that counts its rows; NULL: all count */
} Counted;

/* axes: of the results of f, whose parameters are n_operands and then the results, the axis along
 * which row i is made of rows i along this axis of the operand alone, as many as there are of
 * these, or -1 where there are no such rows in it. False: it cannot be seen. */
bool tirc_keeps_rows(Tirc *c, const Func *f, int operand, int axis, int n_operands, int *axes);

#endif
