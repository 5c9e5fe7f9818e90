/* Inside of the vectorizer. */
#ifndef TIRC_LOWER_VECTORIZE_H
#define TIRC_LOWER_VECTORIZE_H

#include "internal.h"

/* What lets bind for each lane, innermost first: a variable, and the vector of its lanes. */
typedef struct LaneLet {
  Expr var, vector;
  const struct LaneLet *outer;
} LaneLet;

/* Some consecutive values of a vectorized loop's variable. */
typedef struct Lanes {
  Tirc *c;
  Analyzer *a;
  Expr var;
  Expr value; /* of var in these lanes: a ramp, or a scalar for one lane */
  int lanes;
  const LaneLet *lets;
  bool failed; /* something has no vector form */
} Lanes;

/* A let's variable for all lanes, which its body then sees. */
const LaneLet *tirc_vector_bind(Tirc *c, Expr var, int lanes, const LaneLet *outer);
/* Whether e differs from lane to lane. */
bool tirc_vector_depends(Expr e, Expr var, const LaneLet *lets);

/* e for all lanes: a scalar when it is the same in each. Sets l->failed where that is impossible.
 */
Expr tirc_vector_expr(Lanes *l, Expr e);

#endif
