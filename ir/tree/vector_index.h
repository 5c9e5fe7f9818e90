/* Index arithmetic where an operand may be a vector: a ramp stays one. */
#ifndef TIRC_IR_VECTOR_INDEX_H
#define TIRC_IR_VECTOR_INDEX_H

#include "ir.h"

Expr tirc_index_add(Tirc *c, Expr x, Expr y);
Expr tirc_index_scale(Tirc *c, Expr x, Expr factor); /* factor is a scalar */
Expr tirc_index_cast(Tirc *c, DType t, Expr x);      /* t is a scalar type */

/* A lane of a vector, as a scalar; NULL where an operation on the way is not done lane by lane. */
Expr tirc_one_lane(Tirc *c, Expr e, int lane);

/* Lanes whose elements lie in `n` rows of `each` elements, one beside the other: row r begins at
 * base + start[r], lane i is element lane[i], counted through all rows. Rows are few: each has four
 * elements or more, n is a power of two. Two rows are those of which elements take turns. */
typedef struct LaneRows {
  Expr base;
  int n, each;
  const int64_t *start;
  const int *lane;
} LaneRows;
bool tirc_lane_rows(Tirc *c, Expr index, LaneRows *out);

#endif
