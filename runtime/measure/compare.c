#include "compare.h"

#include <float.h>
#include <math.h>
#include <string.h>

double tirc_dtype_epsilon(const char *dtype) {
  static const struct {
    const char *dtype;
    double epsilon;
  } rows[] = {
      {"float64", 0x1p-52}, {"float32", 0x1p-23}, {"float16", 0x1p-10}, {"bfloat16", 0x1p-7}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(rows[i].dtype, dtype) == 0) return rows[i].epsilon;
  return 0; /* integers are exact */
}

/* The root mean square of the finite elements; 1 when all are 0. */
static double scale_of(const tirc_array *a) {
  double sum = 0;
  for (int64_t i = 0; i < tirc_array_count(a); i++) {
    double v = tirc_array_get(a, i);
    if (isfinite(v)) sum += v * v;
  }
  return sum > 0 ? sqrt(sum / (double)tirc_array_count(a)) : 1;
}

/* Relative to the expected value, or to the array's scale where that is larger: sums cancel. NaN
 * and infinity agree with themselves only. */
static double error_of(double got, double expected, double scale) {
  if (got == expected || (isnan(got) && isnan(expected))) return 0;
  if (!isfinite(got) || !isfinite(expected)) return (double)INFINITY;
  return fabs(got - expected) / fmax(scale, fabs(expected));
}

/* A double does not tell all numbers of 64 bits apart. */
static bool are_same_integers(const tirc_array *a, const tirc_array *b, int64_t at) {
  const char *type = tirc_array_dtype(a);
  if (strcmp(type, "int64") != 0 && strcmp(type, "uint64") != 0) return true;
  const int64_t *x = tirc_array_data((tirc_array *)(uintptr_t)a);
  const int64_t *y = tirc_array_data((tirc_array *)(uintptr_t)b);
  return x[at] == y[at];
}

double tirc_allowed_error(const char *dtype, double reduction) {
  return 4 * tirc_dtype_epsilon(dtype) * fmax(4, reduction);
}

ArrayDifference tirc_array_difference(const tirc_array *got, const tirc_array *expected,
                                      double tolerance, bool (*excuse)(void *self, int64_t at),
                                      void *self) {
  ArrayDifference d = {0};
  const double scale = scale_of(expected);
  for (int64_t j = 0; j < tirc_array_count(got); j++) {
    double x = tirc_array_get(got, j), y = tirc_array_get(expected, j);
    double error = error_of(x, y, scale);
    if (error == 0 && !are_same_integers(got, expected, j)) error = DBL_EPSILON;
    if (error > tolerance && excuse && excuse(self, j)) {
      d.excused++;
      error = 0;
    }
    if (j > 0 && !(error > d.worst)) continue;
    d.worst = error, d.at = j, d.got = x, d.expected = y;
  }
  return d;
}
