/* Measuring what a session has made. */
#include "repl.h"

#include "tools/bench/bench.h"

#include <stdlib.h>

int bench_scripts(const Repl *r, int n, const char *const *names, char *const *scripts,
                  double *best) {
  char threads[32];
  Manner how = manner_of(r->o);
  Planned *planned = calloc((size_t)n + 1, sizeof *planned);
  const Planned **at = calloc((size_t)n + 1, sizeof *at);
  int status = BAD;
  snprintf(threads, sizeof threads, "%lld", (long long)r->o->threads);
  if (r->o->threads > 0) how.threads = threads;
  for (int i = 0; planned && at && i < n; i++) {
    planned[i] = (Planned){.name = names[i], .script = names[i], .text = scripts[i]};
    at[i] = &planned[i];
  }
  if (planned && at)
    status = bench_contenders(r->o, &how, n, at, best);
  else
    complain(NULL, "out of memory");
  free(planned);
  free(at);
  return status;
}
