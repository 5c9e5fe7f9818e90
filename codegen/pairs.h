/* Two stores that stand next to each other and that some processors have one instruction for: each
 * lane of a sum in 32 bits gets two products of integers of 16 bits or fewer. An unrolled loop over
 * the steps of a sum leaves them, where neighbouring steps lie beside each other in memory.
 *
 *   C[v] = C[v] + Cast("int32", A[i]) * Cast("int32x8", B[j:j + 16:2])
 *   C[v] = C[v] + Cast("int32", A[i + 1]) * Cast("int32x8", B[j + 1:j + 17:2])
 *
 * Both products are exact, and sums wrap: it is the same number in either order. */
#ifndef TIRC_CODEGEN_PAIRS_H
#define TIRC_CODEGEN_PAIRS_H

#include "ir/tree/ir.h"

typedef struct PairOperand {
  Buffer buffer;
  Expr index;   /* of the first element of the first lane's pair */
  bool is_same; /* all lanes have this pair; otherwise their pairs follow each other */
} PairOperand;

typedef struct PairOfProducts {
  Buffer sum;
  Expr at; /* a ramp of stride 1 */
  int lanes;
  PairOperand factors[2];
} PairOfProducts;

/* apart: different data variables of the function never alias. */
bool tirc_find_pair(Tirc *c, Stmt first, Stmt second, bool apart, PairOfProducts *out);

#endif
