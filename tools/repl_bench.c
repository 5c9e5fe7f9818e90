/* Measuring what a session has made: its lines as the scripts of `tirc bench`. */
#include "repl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 512 };

/* PROG and then the scripts as files in a folder; what was written is in args, on the heap. */
static bool write_scripts(const Repl *r, const char *folder, int n, const char *const *names,
                          char *const *scripts, List *args) {
  args->at[args->n++] = r->o->args.at[0];
  for (int i = 0; i < n; i++) {
    char *path = malloc(PATH_SIZE);
    if (!path) return false;
    snprintf(path, PATH_SIZE, "%s/%s.sch", folder, names[i]);
    args->at[args->n++] = path;
    if (write_output(r->o, path, scripts[i], strlen(scripts[i])) != DONE) return false;
  }
  return true;
}

int bench_scripts(const Repl *r, int n, const char *const *names, char *const *scripts) {
  Options o = *r->o;
  char folder[PATH_SIZE / 2], threads[32];
  const char *base = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/tirc-XXXXXX", base && *base ? base : "/tmp");
  snprintf(threads, sizeof threads, "%lld", (long long)o.threads);
  o.thread_list = o.threads > 0 ? threads : NULL;
  o.args = (List){0, calloc((size_t)n + 1, sizeof *o.args.at)};
  if (!o.args.at) return complain(r->o, NULL, "out of memory");
  int status = BAD;
  if (!mkdtemp(folder))
    complain(r->o, NULL, "cannot make a folder '%s': %s", folder, strerror(errno));
  else if (write_scripts(r, folder, n, names, scripts, &o.args))
    status = cmd_bench(&o);
  for (int i = 1; i < o.args.n; i++) {
    unlink(o.args.at[i]);
    free((char *)(uintptr_t)o.args.at[i]);
  }
  rmdir(folder);
  free(o.args.at);
  return status;
}
