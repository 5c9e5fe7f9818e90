/* Arrays of parameters that a schedule gave another layout: the program as it was takes them in the
 * layout of before, so that is what is compared. */
#include "tool.h"

#include <stdlib.h>

bool is_relaid(const tirc_module *scheduled, int i) {
  tirc_module *copy = NULL;
  bool relaid = !tirc_module_relayout(scheduled, NULL, i, false, &copy, NULL) && copy;
  tirc_module_free(copy);
  return relaid;
}

int relayout_array(const Options *o, const tirc_module *scheduled, int i, bool back,
                   tirc_array *from, tirc_array *to) {
  tirc_module *copy = NULL;
  tirc_error *e = NULL;
  tirc_argument args[2] = {{.array = from}, {.array = to}};
  bool failed = tirc_module_relayout(scheduled, NULL, i, back, &copy, &e) ||
                tirc_module_interpret(copy, NULL, 2, args, 0, &e);
  tirc_module_free(copy);
  return failed ? report(o, e) : DONE;
}

/* A new array for parameter i of the program before. What its shape needs is what the arrays of now
 * tell the scheduled program: the names are the same. */
static int new_array_before(const Options *o, const tirc_module *plain,
                            const tirc_module *scheduled, int n, const tirc_argument *now, int i,
                            const tirc_param *p, tirc_array **out) {
  tirc_error *e = NULL;
  int n_symbols = 0;
  int64_t shape[32] = {0};
  const tirc_symbol *found;
  if (tirc_module_symbols(scheduled, NULL, &n_symbols, &found, &e)) return report(o, e);
  tirc_symbol *symbols = calloc((size_t)n_symbols + 1, sizeof *symbols);
  tirc_argument *scalars = calloc((size_t)n + 1, sizeof *scalars);
  int status = symbols && scalars ? DONE : complain(o, NULL, "out of memory");
  for (int k = 0; k < n && status == DONE; k++) scalars[k].i = now[k].i;
  for (int k = 0; k < n_symbols && status == DONE; k++) symbols[k] = found[k];
  if (status == DONE &&
      (tirc_module_shape(scheduled, NULL, n, now, n_symbols, symbols, -1, NULL, &e) ||
       tirc_module_shape(plain, NULL, n, scalars, n_symbols, symbols, i, shape, &e) ||
       tirc_array_new(p->dtype, p->ndim, shape, out, &e)))
    status = report(o, e);
  free(symbols);
  free(scalars);
  return status;
}

int copy_back(const Options *o, const tirc_module *plain, const tirc_module *scheduled, int n,
              const tirc_argument *from, tirc_argument *to) {
  int n_before, status = DONE;
  const tirc_param *before;
  tirc_error *e = NULL;
  if (!copy_arguments(o, n, from, to)) return BAD;
  if (tirc_module_params(plain, NULL, &n_before, &before, &e)) return report(o, e);
  for (int i = 0; i < n && i < n_before && status == DONE; i++) {
    if (!from[i].array || !is_relaid(scheduled, i)) continue;
    tirc_array_free(to[i].array);
    to[i].array = NULL;
    status = new_array_before(o, plain, scheduled, n, from, i, &before[i], &to[i].array);
    if (status == DONE) status = relayout_array(o, scheduled, i, true, from[i].array, to[i].array);
  }
  return status;
}
