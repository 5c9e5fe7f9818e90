/* What a program should compute, and how far from it a result may be. */
#include "runtime/compare.h"
#include "tool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool go_on(void *self) {
  (void)self;
  return !was_interrupted();
}

int run_interpreter(const Options *o, const tirc_module *m, int n, tirc_argument *args) {
  tirc_error *e = NULL;
  tirc_cost cost = {0};
  /* Some 20 million operations a second, unless they are sums of products: say so before a wait
   * that one would notice. */
  bool slow = !tirc_module_call_cost(m, NULL, n, args, &cost, NULL) && cost.float_ops > 1e8;
  bool tell = slow && isatty(STDERR_FILENO);
  if (tell) fprintf(stderr, "interpreting %.3g float operations for the check ...", cost.float_ops);
  tirc_status status =
      tirc_module_interpret_while(m, NULL, n, args, o->max_steps, true, go_on, NULL, &e);
  if (tell) fputs("\r\033[K", stderr);
  if (status && was_interrupted()) {
    tirc_error_free(e);
    return NO;
  }
  return status ? report(o, e) : DONE;
}

/* What a NaN makes of an array where max and min give NaN, and where they give the other operand:
 * elements that are NaN there and none here depend on the order in which it comes. */
typedef struct NanRuns {
  const tirc_argument *stays, *goes; /* NULL: there is none */
} NanRuns;

static bool is_by_order(const NanRuns *runs, int param, int64_t at) {
  return runs->stays && isnan(tirc_array_get(runs->stays[param].array, at)) &&
         !isnan(tirc_array_get(runs->goes[param].array, at));
}

typedef struct Excuse {
  const NanRuns *runs;
  int param;
} Excuse;
static bool excuse(void *self, int64_t at) {
  const Excuse *e = self;
  return is_by_order(e->runs, e->param, at);
}

/* Where and how far the arrays of a parameter differ most. */
static Check compare_arrays(const tirc_array *got, const tirc_array *expected, double tolerance,
                            int param, const NanRuns *runs) {
  Excuse e = {runs, param};
  const ArrayDifference d = tirc_array_difference(got, expected, tolerance, excuse, &e);
  return (Check){.tolerance = tolerance,
                 .worst = d.worst,
                 .at = d.at,
                 .got = d.got,
                 .expected = d.expected,
                 .nan_order = d.excused,
                 .ok = d.worst <= tolerance};
}

static Check compare_all(const tirc_module *m, int n, const tirc_argument *got,
                         const tirc_argument *expected, const NanRuns *runs) {
  const tirc_param *params;
  tirc_cost cost = {.reduction = 1};
  int n_params = 0;
  Check worst = {.ok = true};
  double worst_ratio = -1;
  int64_t nan_order = 0;
  if (tirc_module_params(m, NULL, &n_params, &params, NULL) || n_params != n ||
      tirc_module_call_cost(m, NULL, n, expected, &cost, NULL))
    return (Check){.ok = false};
  for (int i = 0; i < n; i++) {
    if (!got[i].array) continue;
    Check c = compare_arrays(got[i].array, expected[i].array,
                             tirc_allowed_error(params[i].dtype, cost.reduction), i, runs);
    c.param = params[i].name;
    nan_order += c.nan_order;
    double ratio = c.ok ? c.worst / (c.tolerance + 1e-300) : (double)INFINITY;
    if (params[i].is_written ? ratio >= worst_ratio : !c.ok) worst = c, worst_ratio = ratio;
  }
  worst.nan_order = nan_order;
  return worst;
}

/* What the program makes of the same inputs in another order. The outputs hold what it made before:
 * one that is read before it is written is another input now, and its result only differs more.
 * NULL: the order decides nothing, or memory is out. */
static tirc_argument *run_freely(const tirc_module *m, int n, const tirc_argument *from,
                                 const tirc_argument *chosen, tirc_nan nan) {
  tirc_argument *args = calloc((size_t)n + 1, sizeof *args);
  bool any = false, ok = args != NULL;
  for (int i = 0; i < n && ok; i++) {
    args[i] = from[i];
    args[i].array = NULL;
  }
  for (int i = 0; i < n && ok; i++)
    ok = !from[i].array || !tirc_array_copy(from[i].array, &args[i].array, NULL);
  if (ok && !tirc_module_interpret_freely(m, NULL, n, args, chosen, nan, 0, &any, NULL) && any)
    return args;
  free_arguments(n, args);
  return NULL;
}

static bool has_nan_input(int n, const tirc_argument *args) {
  for (int i = 0; i < n; i++)
    for (int64_t j = 0; args[i].array && j < tirc_array_count(args[i].array); j++)
      if (isnan(tirc_array_get(args[i].array, j))) return true;
  return false;
}

static Check compare_in_any_order(const tirc_module *m, int n, const tirc_argument *got,
                                  const tirc_argument *expected) {
  tirc_argument *stays = NULL, *goes = NULL;
  if (has_nan_input(n, expected)) {
    stays = run_freely(m, n, expected, NULL, TIRC_NAN_STAYS);
    goes = run_freely(m, n, expected, NULL, TIRC_NAN_GOES);
  }
  tirc_argument *chosen = run_freely(m, n, expected, got, TIRC_NAN_AS_WRITTEN);
  const NanRuns runs = {goes ? stays : NULL, goes};
  Check c = compare_all(m, n, got, chosen ? chosen : expected, &runs);
  free_arguments(n, chosen);
  free_arguments(n, stays);
  free_arguments(n, goes);
  return c;
}

Check compare_results(const tirc_module *m, int n, const tirc_argument *got,
                      const tirc_argument *expected) {
  const Check c = compare_all(m, n, got, expected, &(NanRuns){0});
  return c.ok ? c : compare_in_any_order(m, n, got, expected);
}

bool copy_arguments(const Options *o, int n, const tirc_argument *from, tirc_argument *to) {
  tirc_error *e = NULL;
  for (int i = 0; i < n; i++) {
    to[i] = from[i];
    to[i].array = NULL;
  }
  for (int i = 0; i < n; i++)
    if (from[i].array && tirc_array_copy(from[i].array, &to[i].array, &e)) {
      report(o, e);
      return false;
    }
  return true;
}

void free_arguments(int n, tirc_argument *args) {
  for (int i = 0; args && i < n; i++) tirc_array_free(args[i].array);
  free(args);
}
