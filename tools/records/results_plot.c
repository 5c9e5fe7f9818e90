/* `tirc results --plot=KIND:FILE`: what the database has, put into a bench as if it had been
 * measured in one run, for the plotter of `tirc bench`. */
#define _GNU_SOURCE
#include "results.h"

#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {"line", "heat", "bars", "roofline"};

/* What all that is drawn has in common; BAD after saying that there are several. */
static int require_one(const Results *r, const char *name, const char *option) {
  char first[32], other[32];
  const char *one = dimension(&r->at[0], name, first, sizeof first);
  for (int i = 1; i < r->n; i++) {
    const char *next = dimension(&r->at[i], name, other, sizeof other);
    if (strcmp(one, next) == 0) continue;
    char hint[400];
    snprintf(hint, sizeof hint, "%s=%s, or %s=%s", option, one, option, next);
    return complain(r->o, hint, "--plot draws one %s at a time", name);
  }
  return DONE;
}

/* The contenders, each once, ceilings last. */
static int list_contenders(const Results *r, const Stored **out) {
  int n = 0;
  for (int ceilings = 0; ceilings < 2; ceilings++)
    for (int i = 0; i < r->n; i++) {
      const Stored *s = &r->at[i];
      int j = 0;
      while (j < n && strcmp(out[j]->contender, s->contender) != 0) j++;
      if (j == n && !s->held->c.ceiling == !ceilings) out[n++] = s;
    }
  return n;
}

static bool is_of_case(const Stored *s, const Case *k) {
  return strcmp(s->k.kernel, k->kernel) == 0 && strcmp(s->k.setting, k->setting) == 0;
}

static Case *case_of(Bench *b, const Stored *s, const Stored *const *contenders, int n) {
  for (int j = 0; j < b->n_cases; j++)
    if (is_of_case(s, &b->cases[j])) return &b->cases[j];
  Case *k = &b->cases[b->n_cases];
  *k = s->k;
  k->contenders = calloc((size_t)n, sizeof *k->contenders);
  if (!k->contenders) return NULL;
  k->n_contenders = n;
  for (int i = 0; i < n; i++)
    k->contenders[i] =
        (Contender){.name = contenders[i]->contender, .ceiling = contenders[i]->held->c.ceiling};
  b->n_cases++;
  return k;
}

static bool fill(const Results *r, Bench *b, const Stored **contenders) {
  const int n = list_contenders(r, contenders);
  for (int i = 0; i < r->n; i++) {
    const Stored *s = &r->at[i];
    Case *k = case_of(b, s, contenders, n);
    if (!k) return false;
    for (int c = 0; c < n; c++)
      if (strcmp(contenders[c]->contender, s->contender) == 0) {
        k->contenders[c] = s->held->c;
        k->contenders[c].name = s->contender;
      }
    if (s->k.cost.float_ops > 0) k->cost = s->k.cost;
  }
  b->n_measured = b->n_cases;
  return true;
}

/* FILE.svg, or of several kernels FILE-KERNEL.svg. */
static char *path_for(const char *file, const char *kernel) {
  const char *dot = strrchr(file, '.');
  char *path = NULL;
  if (!kernel) return strdup(file);
  if (asprintf(&path, "%.*s-%s%s", (int)(dot - file), file, kernel, dot) < 0) return NULL;
  for (char *p = path + (dot - file) + 1; *p; p++)
    if (*p == '/' || *p == ' ' || (unsigned char)*p < ' ' || *p == 0x7f) *p = '-';
  return path;
}

static int draw(const Results *r, const Bench *b, const char *kind, const char *kernel,
                const char *file, bool several) {
  char *path = path_for(file, several ? kernel : NULL);
  const int threads = r->at[0].k.threads;
  int status = DONE;
  if (!path || !plot_panel(b, kind, kernel, threads, path))
    status = complain(r->o, "names with quotes and backslashes are not drawn",
                      "gnuplot could not write '%s'", path ? path : file);
  else
    put_name(stdout, path), putchar('\n');
  free(path);
  return status;
}

static int draw_all(const Results *r, const Bench *b, const char *kind, const char *file) {
  enum { MOST_KERNELS = 64 };
  const char *kernels[MOST_KERNELS];
  const int n = list_kernels(b, kernels, MOST_KERNELS);
  int status = DONE;
  if (strcmp(kind, "line") != 0) return draw(r, b, kind, NULL, file, false);
  for (int i = 0; i < n && status == DONE; i++) status = draw(r, b, kind, kernels[i], file, n > 1);
  return status;
}

static const char *read_kind(const Options *o, const char **file) {
  const char *colon = strchr(o->plot, ':');
  *file = colon ? colon + 1 : NULL;
  for (size_t i = 0; colon && i < sizeof kinds / sizeof *kinds; i++)
    if (strlen(kinds[i]) == (size_t)(colon - o->plot) &&
        strncmp(kinds[i], o->plot, (size_t)(colon - o->plot)) == 0)
      return kinds[i];
  return NULL;
}

static int draw_bench(const Results *r, const char *kind, const char *file) {
  Bench b = {.o = r->o, .n_threads = 1};
  struct Threads threads = {.threads = r->at[0].k.threads};
  const Stored **contenders = calloc((size_t)r->n + 1, sizeof *contenders);
  tirc_error *e = NULL;
  int status = DONE;
  b.cases = calloc((size_t)r->n + 1, sizeof *b.cases);
  b.threads = &threads;
  if (tirc_target_find(r->at[0].target, &b.target, &e) ||
      tirc_executor_new(1, &threads.executor, &e)) /* knows whether there are ceilings */
    status = report(r->o, e);
  else if (!b.cases || !contenders || !fill(r, &b, contenders))
    status = complain(r->o, NULL, "out of memory");
  else
    status = draw_all(r, &b, kind, file);
  for (int i = 0; b.cases && i < b.n_cases; i++) free(b.cases[i].contenders);
  free(b.cases);
  free(contenders);
  tirc_executor_free(threads.executor);
  return status;
}

int draw_results(const Results *r) {
  const char *file, *kind = read_kind(r->o, &file);
  if (!kind)
    return complain(r->o, "--plot=line:FILE.svg, heat:, bars: or roofline:",
                    "--plot takes a kind and a file, not '%s'", r->o->plot);
  Options of_file = *r->o;
  of_file.plot = file;
  int status = check_plot(&of_file);
  if (status == DONE) status = require_one(r, "machine", "--machine");
  if (status == DONE) status = require_one(r, "target", "--target");
  if (status == DONE) status = require_one(r, "threads", "--threads");
  return status == DONE ? draw_bench(r, kind, file) : status;
}
