/* A schedule that packs constant operands ahead of the calls (see passes/lower/packing.c) is timed
 * twice: as a whole, packing inside the call, and without, its packing functions run once before
 * the clock does. */
#include "bench.h"

tirc_argument *contender_arguments(const Case *k, const Contender *c) {
  tirc_argument *args = tirc_alloc_array(memory, (size_t)k->n_params + 1, sizeof *args);
  for (int i = 0; args && i < k->n_params; i++)
    args[i] = c->packed && c->packed[i].array ? c->packed[i] : k->args[i];
  return args;
}

static bool prepare(const Bench *b, const Case *k, Contender *c, const tirc_module *m,
                    tirc_error **e) {
  int kernel = tirc_module_functions(m) - 1; /* behind those that pack for it */
  c->packed = tirc_alloc_array(memory, (size_t)k->n_params + 1, sizeof *c->packed);
  bool done = c->packed &&
              !tirc_module_pack(m, b->how.target, k->executor, k->n_params, k->args, c->packed, e);
  tirc_argument *args = done ? contender_arguments(k, c) : NULL;
  done = args &&
         !tirc_kernel_new(m, tirc_module_function(m, kernel), b->how.target, &c->kernel, e) &&
         !tirc_launch_new(c->kernel, k->executor, k->n_params, args, &c->launch, e);
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
    tell(b, "%s: skipped, %s\n", c->name, e ? tirc_error_message(e) : "it cannot be packed ahead");
  tirc_error_free(e);
  tirc_module_free(m);
}

void release_ahead(const Case *k, Contender *c) {
  tirc_module_free(c->relaid);
  c->relaid = NULL;
  for (int i = 0; c->packed && i < k->n_params; i++) tirc_array_free(c->packed[i].array);
  c->packed = NULL;
}
