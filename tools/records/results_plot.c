/* `tirc results --plot=KIND:FILE`: what the database has, as a chart. */
#define _GNU_SOURCE
#include "results.h"

#include <string.h>

static const char *const kinds[] = {"line", "heat", "bars", "roofline"};

/* What all that is drawn has in common; BAD after saying that there are several. */
static int require_one(const Results *r, const char *name, const char *option) {
  char first[32], other[32];
  const char *one = dimension(&r->at[0], name, first, sizeof first);
  for (int i = 1; i < r->n; i++) {
    const char *next = dimension(&r->at[i], name, other, sizeof other);
    if (strcmp(one, next) == 0) continue;
    char *hint = tirc_format(memory, "%s=%s, or %s=%s", option, one, option, next);
    return complain(hint, "--plot draws one %s at a time", name);
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
      while (j < n && strcmp(out[j]->held->name, s->held->name) != 0) j++;
      if (j == n && !s->held->ceiling == !ceilings) out[n++] = s;
    }
  return n;
}

static bool is_at(const Stored *s, const Setting *at) {
  return strcmp(s->at.kernel, at->kernel) == 0 && strcmp(s->at.setting, at->setting) == 0;
}

static int place_of(Chart *c, const Stored *s) {
  for (int j = 0; j < c->n_settings; j++)
    if (is_at(s, &c->settings[j])) return j;
  c->settings[c->n_settings] = s->at;
  return c->n_settings++;
}

static void fill(const Results *r, Chart *c, const Stored *const *contenders) {
  c->n_settings = 0; /* there is room for as many as results */
  for (int i = 0; i < c->n_series; i++)
    c->series[i] = (Series){contenders[i]->held->name, contenders[i]->held->ceiling};
  for (int i = 0; i < r->n; i++) {
    const Stored *s = &r->at[i];
    const int at = place_of(c, s);
    for (int k = 0; k < c->n_series; k++)
      if (strcmp(c->series[k].name, s->held->name) == 0) c->held[at * c->n_series + k] = s->held;
    if (s->at.work.float_ops > 0) c->settings[at].work.float_ops = s->at.work.float_ops;
  }
}

/* FILE.svg, or of several kernels FILE-KERNEL.svg. */
static char *path_for(const char *file, const char *kernel) {
  const char *dot = strrchr(file, '.');
  if (!kernel) return tirc_strdup(memory, file);
  char *path = tirc_format(memory, "%.*s-%s%s", (int)(dot - file), file, kernel, dot);
  for (char *p = path + (dot - file) + 1; *p; p++)
    if (*p == '/' || *p == ' ' || (unsigned char)*p < ' ' || *p == 0x7f) *p = '-';
  return path;
}

static int draw(const Results *r, const Chart *c, const char *kind, const char *kernel,
                const char *file, bool several) {
  char *path = path_for(file, several ? kernel : NULL);
  int status = DONE;
  if (!plot_panel(c, kind, kernel, r->at[0].at.threads, path))
    status = complain("names with quotes and backslashes are not drawn",
                      "gnuplot could not write '%s'", path);
  else
    put_name(stdout, path), putchar('\n');
  return status;
}

static bool is_first_of_kernel(const Chart *c, int setting) {
  int j = 0;
  while (strcmp(c->settings[j].kernel, c->settings[setting].kernel) != 0) j++;
  return j == setting;
}

static int draw_all(const Results *r, const Chart *c, const char *kind, const char *file) {
  int n = 0, status = DONE;
  if (strcmp(kind, "line") != 0) return draw(r, c, kind, NULL, file, false);
  for (int j = 0; j < c->n_settings; j++) n += is_first_of_kernel(c, j);
  for (int j = 0; j < c->n_settings && status == DONE; j++)
    if (is_first_of_kernel(c, j)) status = draw(r, c, kind, c->settings[j].kernel, file, n > 1);
  return status;
}

static const char *read_kind(const ResultsOptions *o, const char **file) {
  const char *colon = strchr(o->plot, ':');
  *file = colon ? colon + 1 : o->plot;
  if (!colon) return kinds[0];
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strlen(kinds[i]) == (size_t)(colon - o->plot) &&
        strncmp(kinds[i], o->plot, (size_t)(colon - o->plot)) == 0)
      return kinds[i];
  return NULL;
}

static int draw_chart(const Results *r, const char *kind, const char *file) {
  const Stored **contenders = tirc_alloc_array(memory, (size_t)r->n + 1, sizeof *contenders);
  Chart c = {0};
  new_chart(&c, r->n, list_contenders(r, contenders));
  fill(r, &c, contenders);
  const int status = choose_base(&c, r->o->against);
  return status == DONE ? draw_all(r, &c, kind, file) : status;
}

int draw_results(const Results *r) {
  const char *file, *kind = read_kind(r->o, &file);
  if (!kind)
    return complain("--plot=line:FILE.svg, heat:, bars: or roofline:",
                    "--plot takes a kind and a file, not '%s'", r->o->plot);
  if (r->o->against && strcmp(kind, "roofline") == 0)
    return complain("--plot=line:, heat: or bars:", "a roofline has no --against");
  int status = check_plot(file);
  if (status == DONE) status = require_one(r, "machine", "--machine");
  if (status == DONE) status = require_one(r, "target", "--target");
  if (status == DONE) status = require_one(r, "threads", "--for-threads");
  return status == DONE ? draw_chart(r, kind, file) : status;
}
