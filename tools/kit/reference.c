/* What a program should compute, for the commands: with a word before a long wait. */
#include "kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int make_reference(const tirc_module *m, const char *func, int n, const tirc_argument *args,
                   int64_t max_steps, tirc_reference **out) {
  tirc_error *e = NULL;
  tirc_cost cost = {0};
  const tirc_reference_options options = {.max_steps = max_steps, .go_on = may_go_on};
  /* Some 10 million operations a second, unless they are sums of products: say so before a wait
   * that one would notice. */
  bool slow = !tirc_module_call_cost(m, func, n, args, &cost, NULL) && cost.float_ops > 5e7;
  bool tell = slow && isatty(STDERR_FILENO);
  if (tell) fprintf(stderr, "interpreting %.3g float operations for the check ...", cost.float_ops);
  tirc_status status = tirc_reference_new(m, func, n, args, &options, out, &e);
  if (tell) fputs("\r\033[K", stderr);
  if (status && was_interrupted()) {
    tirc_error_free(e);
    return NO;
  }
  return status ? report(e) : DONE;
}

int compare_results(const tirc_reference *r, int n, const tirc_argument *got, tirc_check *out) {
  tirc_error *e = NULL;
  return tirc_reference_check(r, n, got, out, &e) ? report(e) : DONE;
}

bool copy_arguments(int n, const tirc_argument *from, tirc_argument *to) {
  tirc_error *e = NULL;
  for (int i = 0; i < n; i++) {
    to[i] = from[i];
    to[i].array = NULL;
  }
  for (int i = 0; i < n; i++)
    if (from[i].array && tirc_array_copy(from[i].array, &to[i].array, &e)) {
      report(e);
      return false;
    }
  return true;
}

void free_arguments(int n, tirc_argument *args) {
  for (int i = 0; args && i < n; i++) tirc_array_free(args[i].array);
}

int64_t instance_value(const List *given, const char *name, int64_t otherwise) {
  size_t n = strlen(name);
  for (int i = 0; i < given->n; i++)
    if (strncmp(given->at[i], name, n) == 0 && given->at[i][n] == '=')
      return strtoll(given->at[i] + n + 1, NULL, 10);
  return otherwise;
}

bool small_arguments(const tirc_module *m, const List *given, int *n, tirc_argument **out,
                     tirc_error **e) {
  enum { SYMBOL = 12, SCALAR = 2, MOST_DIMS = 32 };
  const tirc_param *params;
  if (tirc_module_params(m, NULL, n, &params, e)) return false;
  tirc_argument *args = *out = tirc_alloc_array(memory, (size_t)*n + 1, sizeof *args);
  for (int i = 0; args && i < *n; i++) {
    int64_t shape[MOST_DIMS] = {0};
    args[i].i = instance_value(given, params[i].name, SCALAR);
    for (int k = 0; k < *n; k++) /* a scalar that is an extent */
      for (int d = 0; params[k].is_array && d < params[k].ndim; d++)
        if (params[k].symbol[d] && strcmp(params[k].symbol[d], params[i].name) == 0)
          args[i].i = instance_value(given, params[i].name, SYMBOL);
    args[i].f = (double)args[i].i;
    if (!params[i].is_array) continue;
    for (int d = 0; d < params[i].ndim && d < MOST_DIMS; d++)
      shape[d] = params[i].shape[d] >= 0 ? params[i].shape[d]
                 : params[i].symbol[d]   ? instance_value(given, params[i].symbol[d], SYMBOL)
                                         : SYMBOL;
    if (tirc_array_new(params[i].dtype, params[i].ndim, shape, &args[i].array, e)) return false;
    tirc_array_fill_random(args[i].array, (uint64_t)i);
  }
  return args != NULL;
}
