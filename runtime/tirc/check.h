/* What a function should compute, and what a run does. */
#ifndef TIRC_TIRC_CHECK_H
#define TIRC_TIRC_CHECK_H

#include "run.h"

TIRC_C_BEGIN

/* The reference interpreter, in double, with every value carrying how far a run in the program's
 * own types may be from it: sums in any order, a product rounded before it is added or not, the
 * mathematical functions a few units in the last place off. A rounding, a cast or a comparison that
 * this leaves open admits the results on both sides. An element is undecided when the address or
 * the branch that it comes from is, or where nothing bounds it (the quotient by what may be 0); it
 * is hardly compared, and counted.
 *
 * The module must stay as long as the reference. args are copied: written arrays hold what the
 * function starts with. options may be NULL; go_on is asked many times a second, and when it says
 * false the run ends with TIRC_BAD and the code "interrupted". */
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

/* How far arrays are from a reference. The element is that which comes nearest to what is allowed,
 * or is furthest beyond it. */
typedef struct tirc_check {
  bool ok;
  bool wrong;        /* some element is not what it may be, however many others are undecided */
  const char *param; /* whose element it is; as long as the reference. NULL: nothing is written */
  int64_t at;        /* in memory, counted in elements */
  double got, expected;
  double error, allowed; /* |got - expected|, and what it may be */
  /* Elements of written arrays, and of those the undecided ones. More than 1 % of an array: it
   * cannot be checked, and ok is false. */
  int64_t elements, undecided;
  bool too_undecided;
  /* Elements that differ by the order in which a NaN comes to max or min, which is free */
  int64_t nan_order;
} tirc_check;
/* got: the arguments after a run from the same start. What a function leaves alone must be as it
 * was; what lies between the elements of an array with strides is not looked at. Of an argmax's
 * equal candidates each is right. TIRC_BAD with the code "argument": n or an array is another. */
TIRC_API tirc_status tirc_reference_check(const tirc_reference *r, int n, const tirc_argument *got,
                                          tirc_check *out, tirc_error **error);
/* Element `at` of argument `param`: what it should be, and the least and the greatest that is
 * right (anything between elements with strides); NaN for arguments that are no such element. */
TIRC_API void tirc_reference_element(const tirc_reference *r, int param, int64_t at,
                                     double *expected, double *least, double *greatest);

/* Sees what a run does, in order; each function may be NULL. Arrays (parameters and buffers that
 * the program allocates) are numbered from 0 in the order of their first use. */
typedef struct tirc_observer {
  void *self;
  void (*array)(void *self, int array, const char *name, const char *dtype, int bytes,
                const char *scope, int ndim, const int64_t *shape);
  /* An instance of a block starts: the names of the loops around it and what they stand at. */
  void (*block)(void *self, const char *name, int n, const char *const *loops,
                const int64_t *values);
  /* element: from 0, in the array's memory. False ends the run. */
  bool (*access)(void *self, int array, int64_t element, bool is_write);
} tirc_observer;
/* Interprets a function whose buffers have been brought to their place and size, as for code: a
 * tile's cache is as large as the tile. Loops run in order, whatever their kind. TIRC_OK also when
 * the observer ended the run; then *whole is false. */
TIRC_API tirc_status tirc_module_observe(const tirc_module *m, const char *func, int n,
                                         const tirc_argument *args, int64_t max_steps,
                                         const tirc_observer *observer, bool *whole,
                                         tirc_error **error);

TIRC_C_END
#endif
