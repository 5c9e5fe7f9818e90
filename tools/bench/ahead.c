/* A schedule that packs constant operands ahead of the calls (see passes/lower/packing.c) is timed
 * twice: as a whole, packing inside the call, and without, its packing functions run once before
 * the clock does. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

static int find_param(const Case *k, const char *name) {
  for (int i = 0; i < k->n_params; i++)
    if (strcmp(k->params[i].name, name) == 0) return i;
  return -1;
}

/* Runs a packing function, FROM to TO, and lets the contender's argument for FROM be TO. */
static bool pack(const Bench *b, const Case *k, Contender *c, const tirc_module *m,
                 const char *function, tirc_error **e) {
  int n;
  const tirc_param *params;
  tirc_array *to;
  tirc_kernel *kernel = NULL;
  if (tirc_module_params(m, function, &n, &params, e)) return false;
  int i = n == 2 ? find_param(k, params[0].name) : -1;
  if (i < 0 || c->packed[i].array) return false;
  if (tirc_array_new(params[1].dtype, params[1].ndim, params[1].shape, &to, e)) return false;
  c->packed[i].array = to;
  tirc_argument args[2] = {k->args[i], {.array = to}};
  bool done = !tirc_kernel_new(m, function, b->how.target, &kernel, e) &&
              !tirc_kernel_run(kernel, k->executor, 2, args, e);
  tirc_kernel_free(kernel);
  return done;
}

tirc_argument *contender_arguments(const Case *k, const Contender *c) {
  tirc_argument *args = calloc((size_t)k->n_params + 1, sizeof *args);
  for (int i = 0; args && i < k->n_params; i++)
    args[i] = c->packed && c->packed[i].array ? c->packed[i] : k->args[i];
  return args;
}

static bool prepare(const Bench *b, const Case *k, Contender *c, const tirc_module *m,
                    tirc_error **e) {
  int kernel = tirc_module_functions(m) - 1; /* behind those that pack for it */
  c->packed = calloc((size_t)k->n_params + 1, sizeof *c->packed);
  bool done = c->packed;
  for (int i = 0; i < kernel && done; i++) done = pack(b, k, c, m, tirc_module_function(m, i), e);
  tirc_argument *args = done ? contender_arguments(k, c) : NULL;
  done = args &&
         !tirc_kernel_new(m, tirc_module_function(m, kernel), b->how.target, &c->kernel, e) &&
         !tirc_launch_new(c->kernel, k->executor, k->n_params, args, &c->launch, e);
  free(args);
  return done;
}

void prepare_ahead(const Bench *b, const Case *k, Contender *c, const tirc_module *scheduled) {
  tirc_module *m = NULL;
  tirc_error *e = NULL;
  c->skipped = true;
  if (tirc_module_functions(scheduled) != 1) return; /* which of them is packed for? */
  bool split = !tirc_module_split_packing(scheduled, &m, &e);
  if (split && tirc_module_functions(m) > 1) c->skipped = !prepare(b, k, c, m, &e);
  if (!split || (c->skipped && tirc_module_functions(m) > 1))
    fprintf(b->out, "%s: skipped, %s\n", c->name,
            e ? tirc_error_message(e) : "it cannot be packed ahead");
  tirc_error_free(e);
  tirc_module_free(m);
}

void release_ahead(const Case *k, Contender *c) {
  tirc_module_free(c->relaid);
  c->relaid = NULL;
  for (int i = 0; c->packed && i < k->n_params; i++) tirc_array_free(c->packed[i].array);
  free(c->packed);
  c->packed = NULL;
}
