/* Measuring what a session has made: its lines as the scripts of `tirc bench`. */
#include "repl.h"

#include <errno.h>
#include <json-c/json.h>
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

/* The least times that a bench has left in a file. */
static void read_times(const char *path, int n, const char *const *names, double *seconds) {
  json_object *j = json_object_from_file(path), *rows = NULL, *v = NULL;
  size_t n_rows =
      j && json_object_object_get_ex(j, "results", &rows) ? json_object_array_length(rows) : 0;
  for (size_t k = 0; k < n_rows; k++) {
    json_object *row = json_object_array_get_idx(rows, k);
    const char *name =
        json_object_object_get_ex(row, "contender", &v) ? json_object_get_string(v) : "";
    for (int i = 0; i < n; i++)
      if (strcmp(names[i], name) == 0 && json_object_object_get_ex(row, "min_s", &v))
        seconds[i] = json_object_get_double(v);
  }
  json_object_put(j);
}

int bench_scripts(const Repl *r, int n, const char *const *names, char *const *scripts,
                  double *seconds) {
  Options o = *r->o;
  char folder[PATH_SIZE / 2], results[PATH_SIZE] = "", threads[32];
  const char *base = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/tirc-XXXXXX", base && *base ? base : "/tmp");
  snprintf(threads, sizeof threads, "%lld", (long long)o.threads);
  o.thread_list = o.threads > 0 ? threads : NULL;
  if (seconds) o.json = results;
  o.args = (List){0, calloc((size_t)n + 1, sizeof *o.args.at)};
  if (!o.args.at) return complain(r->o, NULL, "out of memory");
  int status = BAD;
  if (!mkdtemp(folder)) {
    complain(r->o, NULL, "cannot make a folder '%s': %s", folder, strerror(errno));
  } else {
    snprintf(results, sizeof results, "%s/results.json", folder);
    if (write_scripts(r, folder, n, names, scripts, &o.args)) status = cmd_bench(&o);
  }
  if (seconds) read_times(results, n, names, seconds);
  if (seconds) unlink(results);
  for (int i = 1; i < o.args.n; i++) {
    unlink(o.args.at[i]);
    free((char *)(uintptr_t)o.args.at[i]);
  }
  rmdir(folder);
  free(o.args.at);
  return status;
}
