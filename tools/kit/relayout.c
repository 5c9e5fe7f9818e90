/* Arrays of parameters that a schedule gave another layout: the program as it was takes them in the
 * layout of before, so that is what is compared. */
#include "kit.h"

#include <string.h>

bool is_relaid(const tirc_module *scheduled, int i) {
  tirc_module *copy = NULL;
  bool relaid = !tirc_module_relayout(scheduled, NULL, i, false, &copy, NULL) && copy;
  tirc_module_free(copy);
  return relaid;
}

int relayout_array(const tirc_module *scheduled, int i, bool back, tirc_array *from, tirc_array *to,
                   int n_sizes, const tirc_symbol *sizes) {
  int n = 0;
  tirc_module *copy = NULL;
  tirc_error *e = NULL;
  const tirc_param *params;
  if (tirc_module_relayout(scheduled, NULL, i, back, &copy, &e) ||
      tirc_module_params(copy, NULL, &n, &params, &e)) {
    tirc_module_free(copy);
    return report(e);
  }
  tirc_argument *args = tirc_alloc_array(memory, (size_t)n, sizeof *args);
  int status = DONE;
  for (int k = 0; k < n; k++) {
    args[k].array = k == 0 ? from : k == 1 ? to : NULL;
    for (int j = 0; j < n_sizes; j++)
      if (!strcmp(params[k].name, sizes[j].name)) args[k].i = sizes[j].value;
  }
  if (tirc_module_interpret(copy, NULL, n, args, 0, &e)) status = report(e);
  tirc_module_free(copy);
  return status;
}

/* The symbols of the shapes, which the arrays of now tell the scheduled program, and behind them
 * the n scalars; *n_sizes and *out. */
static int find_sizes(const tirc_module *scheduled, int n, const tirc_argument *now, int *n_sizes,
                      tirc_symbol **out) {
  int n_symbols = 0;
  tirc_error *e = NULL;
  const tirc_param *params;
  const tirc_symbol *found;
  if (tirc_module_symbols(scheduled, NULL, &n_symbols, &found, &e) ||
      tirc_module_params(scheduled, NULL, &n, &params, &e))
    return report(e);
  tirc_symbol *sizes = tirc_alloc_array(memory, (size_t)(n_symbols + n) + 1, sizeof *sizes);
  for (int k = 0; k < n_symbols; k++) sizes[k] = found[k];
  *n_sizes = n_symbols;
  *out = sizes;
  if (tirc_module_shape(scheduled, NULL, n, now, n_symbols, sizes, -1, NULL, &e)) return report(e);
  for (int k = 0; k < n; k++)
    if (!params[k].is_array)
      sizes[(*n_sizes)++] = (tirc_symbol){params[k].name, now[k].i, true, params[k].in_file};
  return DONE;
}

/* A new array for parameter i of the program before: the names of what its shape needs are the same
 * there. */
static int new_array_before(const tirc_module *plain, int n, const tirc_argument *now, int n_sizes,
                            tirc_symbol *sizes, int i, const tirc_param *p, tirc_array **out) {
  tirc_error *e = NULL;
  int64_t shape[32] = {0};
  tirc_argument *scalars = tirc_alloc_array(memory, (size_t)n + 1, sizeof *scalars);
  for (int k = 0; k < n; k++) scalars[k].i = now[k].i;
  return tirc_module_shape(plain, NULL, n, scalars, n_sizes, sizes, i, shape, &e) ||
                 tirc_array_new(p->dtype, p->ndim, shape, out, &e)
             ? report(e)
             : DONE;
}

int copy_back(const tirc_module *plain, const tirc_module *scheduled, int n,
              const tirc_argument *from, tirc_argument *to) {
  int n_before, n_sizes = 0;
  const tirc_param *before;
  tirc_symbol *sizes = NULL;
  tirc_error *e = NULL;
  if (!copy_arguments(n, from, to)) return BAD;
  if (tirc_module_params(plain, NULL, &n_before, &before, &e)) return report(e);
  int status = find_sizes(scheduled, n, from, &n_sizes, &sizes);
  for (int i = 0; i < n && i < n_before && status == DONE; i++) {
    if (!from[i].array || !is_relaid(scheduled, i)) continue;
    tirc_array_free(to[i].array);
    to[i].array = NULL;
    status = new_array_before(plain, n, from, n_sizes, sizes, i, &before[i], &to[i].array);
    if (status == DONE)
      status = relayout_array(scheduled, i, true, from[i].array, to[i].array, n_sizes, sizes);
  }
  return status;
}
