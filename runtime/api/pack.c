/* Operands that are packed once, ahead of the calls of a kernel: the functions that do it are
 * compiled and run. */
#include "api.h"
#include "entry.h"

static int operand_of(const Func *f, Buffer packed) {
  for (int i = 0; i < f->n_params; i++)
    if (f->buffers[i] == packed) return i;
  return -1;
}

static tirc_status pack(const tirc_module *m, const char *name, const char *target,
                        tirc_executor *x, const tirc_argument *from, tirc_argument *to,
                        tirc_error **error) {
  int n;
  const tirc_param *params;
  tirc_kernel *kernel = NULL;
  tirc_status status = tirc_module_params(m, name, &n, &params, error);
  if (status == TIRC_OK)
    status = tirc_array_new(params[1].dtype, params[1].ndim, params[1].shape, &to->array, error);
  if (status == TIRC_OK) status = tirc_kernel_new(m, name, target, &kernel, error);
  const tirc_argument args[2] = {*from, *to};
  if (status == TIRC_OK) status = tirc_kernel_run(kernel, x, 2, args, error);
  tirc_kernel_free(kernel);
  return status;
}

tirc_status tirc_module_pack(const tirc_module *m, const char *target, tirc_executor *x, int n,
                             const tirc_argument *args, tirc_argument *packed, tirc_error **error) {
  NEED(m, x, LIST(n, args), LIST(n, packed));
  const Module *of = m->m;
  tirc_status status = TIRC_OK;
  for (int f = 0; f < of->n_funcs - 1 && status == TIRC_OK; f++) {
    const Func *each = of->funcs[f];
    const int i =
        each->n_params == 2 ? operand_of(of->funcs[of->n_funcs - 1], each->buffers[1]) : -1;
    if (i >= 0 && i < n) status = pack(m, each->name, target, x, &args[i], &packed[i], error);
  }
  return status;
}
