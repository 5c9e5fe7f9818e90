/* How far an array is from what it should be, in units that fit all dtypes. */
#ifndef TIRC_RUNTIME_COMPARE_H
#define TIRC_RUNTIME_COMPARE_H

#include "runtime/tirc.h"

/* One unit in the last place of 1; 0 for integers, which are exact. */
double tirc_dtype_epsilon(const char *dtype);
/* What a reduction of that length may differ by, relative to the expected value. */
double tirc_allowed_error(const char *dtype, double reduction);

/* The element that differs most: relative to the expected value, or to the array's root mean square
 * where that is larger, since sums cancel. NaN and infinity agree with themselves only. */
typedef struct ArrayDifference {
  double worst, got, expected;
  int64_t at;
  int64_t excused; /* elements beyond the tolerance that `excuse` let pass */
} ArrayDifference;
ArrayDifference tirc_array_difference(const tirc_array *got, const tirc_array *expected,
                                      double tolerance, bool (*excuse)(void *self, int64_t at),
                                      void *self);

#endif
