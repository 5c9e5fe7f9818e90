/* Sums of splits, for the canonical simplifier; see sum.c. */
#ifndef TIRC_IR_ARITH_SUM_H
#define TIRC_IR_ARITH_SUM_H

#include "internal.h"

#define SPLIT_INF INT64_MAX
/* ((index % upper) / lower) * scale, rounding down or towards zero. lower divides upper; upper is
 * SPLIT_INF when there is no remainder to take. */
typedef struct Split {
  Expr index;
  int64_t lower, upper, scale;
  bool down;
} Split;
/* Splits of the same index stand together, by descending lower factor. */
typedef struct Sum {
  int n;
  Split *at;
  int64_t base;
} Sum;

/* Whether s may be read as a split of that rounding mode. */
bool tirc_split_mode_fits(const Split *s, bool down);
Expr tirc_split_expr(Tirc *c, DType t, const Split *s, int64_t by); /* by: 1 or -1 */
Expr tirc_sum_expr(Tirc *c, DType t, const Sum *sum);
Sum tirc_sum_copy(Tirc *c, const Sum *sum);
/* These change *sum and are false when a coefficient left the type (the sum is then spoilt). */
bool tirc_sum_add_const(DType t, Sum *sum, int64_t v);
bool tirc_sum_add_split(Tirc *c, DType t, Sum *sum, Split s, int64_t by);
bool tirc_sum_add(Tirc *c, DType t, Sum *sum, const Sum *other, int64_t by);
bool tirc_sum_scale(DType t, Sum *sum, int64_t by);
void tirc_sum_divide(Sum *sum, int64_t by); /* all coefficients are multiples of by */
void tirc_sum_separate(Tirc *c, const Sum *sum, int64_t by, Sum *divisible, Sum *rest);

#endif
