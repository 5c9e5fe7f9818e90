/* `--device emulate`: a module that was lowered for a GPU, run by the interpreter as a GPU would.
 */
#include "emulate.h"

typedef struct Patience {
  double since;
  bool told;
} Patience;

static bool go_on(void *self) {
  static const double long_time = 30; /* seconds */
  Patience *p = self;
  if (!p->told && tirc_seconds() - p->since > long_time) {
    p->told = true;
    fprintf(stderr,
            "note: the emulator has run for %g s; --max-steps N ends a kernel that does not, "
            "--blocks N runs N blocks of each launch\n",
            long_time);
  }
  return !was_interrupted();
}

/* What is no kernel yet becomes some: for --target, else for a GPU that only the emulator is. */
static int emulate_kernels(const RunOptions *o, const tirc_module *m, int n,
                           const tirc_argument *args, const tirc_emulate_options *options,
                           tirc_emulate_report *done) {
  tirc_module *lowered = NULL;
  tirc_costs *costs = NULL;
  tirc_error *e = NULL;
  int status = DONE;
  if (!tirc_module_has_kernels(m) &&
      tirc_module_lower_for(m, o->run.make.from.target, NULL, NULL, &lowered, &e))
    status = report(e);
  if (status == DONE && !o->report &&
      tirc_module_emulate(lowered ? lowered : m, NULL, n, args, options, done, &e))
    status = report(e);
  if (status == DONE && o->report &&
      tirc_module_emulate_costs(lowered ? lowered : m, NULL, n, args, options, done, &costs, &e))
    status = report(e);
  if (costs) show_costs(costs, o->as_json);
  tirc_costs_free(costs);
  tirc_module_free(lowered);
  return status;
}

int emulate(const RunOptions *o, const tirc_module *m, int n, const tirc_argument *args,
            Emulated *out) {
  tirc_emulate_report done = {0};
  *out =
      (Emulated){.n = n, .written = tirc_alloc_array(memory, (size_t)n + 1, sizeof *out->written)};
  for (int i = 0; i < n; i++)
    if (args[i].array)
      out->written[i] = tirc_alloc_array(memory, (size_t)tirc_array_count(args[i].array) + 1, 1);
  Patience patience = {tirc_seconds(), false};
  const tirc_emulate_options options = {o->run.max_steps, o->blocks,   (uint64_t)o->run.seed, go_on,
                                        &patience,        out->written};
  const int status = emulate_kernels(o, m, n, args, &options, &done);
  if (status != DONE) return status;
  out->partial = done.blocks_run < done.blocks;
  if (o->profile && o->as_json) return DONE;
  printf("emulated: %lld of %lld block%s in %lld launch%s, %lld barrier%s; no race\n",
         (long long)done.blocks_run, (long long)done.blocks, plural(done.blocks),
         (long long)done.launches, done.launches == 1 ? "" : "es", (long long)done.barriers,
         plural(done.barriers));
  if (out->partial) printf("note: the results are partial: only what these blocks write\n");
  return DONE;
}

void leave_unwritten(const Emulated *d, const tirc_reference *r, int n, tirc_argument *got) {
  for (int i = 0; d->partial && i < n && i < d->n; i++)
    for (int64_t at = 0; got[i].array && at < tirc_array_count(got[i].array); at++) {
      double expected, least, most;
      if (d->written[i][at]) continue;
      tirc_reference_element(r, i, at, &expected, &least, &most);
      tirc_array_set(got[i].array, at, expected);
    }
}
