/* What a function should compute, and what a run does. */
#ifndef TIRC_TIRC_CHECK_H
#define TIRC_TIRC_CHECK_H

#include "run.h"

TIRC_C_BEGIN

/* The reference interpreter computes in double. With every value it tracks how far a run in the
 * program's own types may differ from it: sums in any order, a product rounded before it is added
 * or not, mathematical functions off by a few units in the last place. If this leaves a rounding, a
 * cast or a comparison open, the results on both sides are accepted. An element is undecided if the
 * address or the branch that it comes from is undecided, or if nothing bounds it (a quotient whose
 * divisor may be 0). An undecided element is hardly compared, but counted.
 *
 * The module must outlive the reference. args are copied; written arrays hold what the function
 * starts with. options may be NULL. go_on is called many times a second; if it returns false, the
 * run ends with TIRC_BAD and the code "interrupted". */
typedef struct tirc_reference tirc_reference;
typedef struct tirc_reference_options {
  int64_t max_steps; /* 0: no limit */
  bool (*go_on)(void *self);
  void *self;
} tirc_reference_options;
TIRC_API tirc_status tirc_reference_new(const tirc_module *m, const char *func, int n,
                                        const tirc_argument *args,
                                        const tirc_reference_options *options, tirc_reference **out,
                                        tirc_error **error);
TIRC_API void tirc_reference_free(tirc_reference *r); /* NULL is fine */

/* How far arrays differ from a reference. The element given here is the one that comes nearest to
 * the allowed limit, or exceeds it most. */
typedef struct tirc_check {
  bool ok;
  bool wrong;        /* some element is wrong, however many others are undecided */
  const char *param; /* of the element; lives as long as the reference. NULL: nothing is written */
  int64_t at;        /* in memory, counted in elements */
  double got, expected;
  double error, allowed; /* |got - expected|, and its limit */
  /* The number of elements of written arrays, and how many of them are undecided. If more than 1 %
   * of an array is undecided, it cannot be checked, and ok is false. */
  int64_t elements, undecided;
  bool too_undecided;
  /* Elements that differ because of the order in which a NaN comes to max or min, which is free. */
  int64_t nan_order;
} tirc_check;
/* got: the arguments after a run from the same start. What a function does not write must be
 * unchanged; what lies between the elements of an array with strides is ignored. Any of the equal
 * candidates of an argmax is right. TIRC_BAD with the code "argument": n or an array differs from
 * those of the reference. */
TIRC_API tirc_status tirc_reference_check(const tirc_reference *r, int n, const tirc_argument *got,
                                          tirc_check *out, tirc_error **error);
/* For element `at` of argument `param`: the expected value, and the least and the greatest correct
 * value (anything is correct between elements with strides). NaN if there is no such element. */
TIRC_API void tirc_reference_element(const tirc_reference *r, int param, int64_t at,
                                     double *expected, double *least, double *greatest);

/* Observes what a run does, in order; each function may be NULL. Arrays (parameters and buffers
 * that the program allocates) are numbered from 0 in the order of their first use. */
typedef struct tirc_observer {
  void *self;
  void (*array)(void *self, int array, const char *name, const char *dtype, int bytes,
                const char *scope, int ndim, const int64_t *shape);
  /* An instance of a block starts: the names of the loops around it and their current values. */
  void (*block)(void *self, const char *name, int n, const char *const *loops,
                const int64_t *values);
  /* element: from 0, in the array's memory. False ends the run. */
  bool (*access)(void *self, int array, int64_t element, bool is_write);
} tirc_observer;
/* Interprets a function in which buffers have been placed and sized as for code: the cache of a
 * tile is as large as the tile. Loops run in order, whatever their kind. Returns TIRC_OK also if
 * the observer ended the run; *whole is then false. */
TIRC_API tirc_status tirc_module_observe(const tirc_module *m, const char *func, int n,
                                         const tirc_argument *args, int64_t max_steps,
                                         const tirc_observer *observer, bool *whole,
                                         tirc_error **error);

TIRC_C_END
#endif
