/* What the conditions around an access say of sums of loops. */
#ifndef TIRC_LOWER_BOUNDED_SUMS_H
#define TIRC_LOWER_BOUNDED_SUMS_H

#include "accesses.h"

/* A sum, the variable that stands for it, and how it varies. */
typedef struct BoundedSum {
  Expr sum, var;
  IntSet set;
} BoundedSum;

typedef struct BoundedSums {
  Tirc *c;
  Analyzer *a;
  PtrMap dom; /* how the variables of the place vary, and those of the sums */
  VEC(BoundedSum) at;
} BoundedSums;

/* Of a place; NULL: nothing is said there of any. */
BoundedSums *tirc_bounded_sums(Accesses *w, const Place *at);
/* The same number as e, with the variables of sums where they stand in it. */
Expr tirc_with_bounded_sums(BoundedSums *sums, Expr e);

#endif
