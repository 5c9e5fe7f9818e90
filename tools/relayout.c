/* Arrays of parameters that a schedule gave another layout: the program as it was takes them in the
 * layout of before, so that is what is compared. */
#include "tool.h"

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

/* The shape of parameter p before, if the program says it; otherwise it is the array's. */
static const int64_t *shape_before(const tirc_param *p, const tirc_array *now, int64_t *shape) {
  for (int d = 0; d < p->ndim; d++)
    shape[d] = p->shape[d] >= 0 ? p->shape[d] : tirc_array_shape(now)[d];
  return shape;
}

int copy_back(const Options *o, const tirc_module *plain, const tirc_module *scheduled, int n,
              const tirc_argument *from, tirc_argument *to) {
  int n_before, status = DONE;
  const tirc_param *before;
  tirc_error *e = NULL;
  if (!copy_arguments(o, n, from, to)) return BAD;
  if (tirc_module_params(plain, NULL, &n_before, &before, &e)) return report(o, e);
  for (int i = 0; i < n && i < n_before && status == DONE; i++) {
    int64_t shape[32] = {0};
    if (!from[i].array || !is_relaid(scheduled, i)) continue;
    tirc_array_free(to[i].array);
    to[i].array = NULL;
    if (tirc_array_new(before[i].dtype, before[i].ndim,
                       shape_before(&before[i], from[i].array, shape), &to[i].array, &e))
      return report(o, e);
    status = relayout_array(o, scheduled, i, true, from[i].array, to[i].array);
  }
  return status;
}
