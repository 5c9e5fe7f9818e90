/* What a program should compute, for the commands: with a word before a long wait. */
#include "kit.h"

#include <stdio.h>
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
