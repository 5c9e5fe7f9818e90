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
  bool masks;  /* loads may leave lanes out */
  Expr on;     /* the condition that lanes are left out by, or NULL */
  bool failed; /* something has no vector form */
} Lanes;

/* A let's variable for all lanes, which its body then sees. */
const LaneLet *tirc_vector_bind(Tirc *c, Expr var, int lanes, const LaneLet *outer);
/* Whether e differs from lane to lane. */
bool tirc_vector_depends(Expr e, Expr var, const LaneLet *lets);

/* A condition that is one for all lanes, though it names the variable: a tail that begins at a
 * multiple of the lanes. NULL: it is not, or that is not known. */
Expr tirc_same_in_lanes(Lanes *l, Expr cond);

/* e for all lanes: a scalar when it is the same in each. Sets l->failed where that is impossible.
 */
Expr tirc_vector_expr(Lanes *l, Expr e);

/* vectorize_mask.c */
/* Whether memory of such elements has loads and stores that leave lanes out. */
bool tirc_has_masks(DType t);
/* e where `on` holds: each of its loads for which `reads` says so (NULL: all) is
 * T.if_then_else(on, load, 0). The value in other lanes is any. */
typedef bool WhetherLoad(const void *self, Expr load);
Expr tirc_guard_loads(Tirc *c, Expr e, Expr on, WhetherLoad *reads, const void *self);
/* The lanes of a condition, and a load in those lanes alone: T.if_then_else(cond, load, other) with
 * a vector of conditions. Sets l->failed where there is none. */
Expr tirc_vector_mask(Lanes *l, Expr cond);
Expr tirc_masked_load(Lanes *l, Expr cond, Expr load, Expr other);

#endif
