/* Inside of the vectorizer. */
#ifndef TIRC_LOWER_VECTORIZE_H
#define TIRC_LOWER_VECTORIZE_H

#include "internal.h"

/* Some consecutive values of a vectorized loop's variable. */
typedef struct Lanes {
  Tirc *c;
  Analyzer *a;
  Expr var;
  Expr value; /* of var in these lanes: a ramp, or a scalar for one lane */
  int lanes;
  bool failed; /* something has no vector form */
} Lanes;

/* e for all lanes: a scalar when it is the same in each. Sets l->failed where that is impossible.
 */
Expr tirc_vector_expr(Lanes *l, Expr e);

#endif
