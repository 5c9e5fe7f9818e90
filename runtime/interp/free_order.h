/* What a function may compute when its reductions take their steps in another order. A schedule is
 * free to choose that order where the steps commute, and two kinds of them commute but for
 *
 *   equal candidates   an argmax keeps the first that it meets, or the last
 *   NaN                max(x, NaN) and max(NaN, x) are not the same
 *
 * A result is right if it is what the function computes in some order. */
#ifndef TIRC_RUNTIME_FREE_ORDER_H
#define TIRC_RUNTIME_FREE_ORDER_H

#include "ir/tree/ir.h"

typedef enum NanOrder {
  NAN_AS_WRITTEN,
  NAN_STAYS, /* every max and min of floats with a NaN is NaN */
  NAN_GOES   /* ... is the other operand */
} NanOrder;

typedef struct FreeOrder {
  const Func *func; /* NULL: it has nothing of what was asked for */
  /* Parameters whose arrays func takes once more, behind all others: of equal candidates it takes
   * the one that those hold, if it is among them. */
  int n_chosen;
  const int *chosen;
} FreeOrder;
/* Of a function that is not lowered. `choose`: with such parameters. */
FreeOrder tirc_free_order(Tirc *c, const Func *f, bool choose, NanOrder nan);

#endif
