/* Measuring what a session has made. */
#include "repl.h"

#include "tools/bench/bench.h"

int bench_scripts(const Repl *r, int n, const char *const *names, char *const *scripts,
                  double *best) {
  char threads[32];
  Manner how = {.seconds = r->o->seconds};
  Contender *planned = tirc_alloc_array(memory, (size_t)n + 1, sizeof *planned);
  snprintf(threads, sizeof threads, "%d", r->o->run.make.threads);
  if (r->o->run.make.threads > 0) how.threads = threads;
  for (int i = 0; i < n; i++)
    planned[i] = (Contender){.name = names[i], .script = names[i], .text = scripts[i]};
  return bench_contenders(&r->o->run, &how, n, planned, best);
}
