/* A study's figures: what the database has, put into a bench as if it had been measured in one run,
 * for the plotter of `tirc bench`. */
#define _GNU_SOURCE
#include "study.h"

#include <stdlib.h>
#include <string.h>

static bool is_shown(const Study *s, const Figure *f, int plan) {
  const Plan *p = &s->plans.at[plan];
  if (p->ceiling) return true;
  if (p->expect_error || p->missing) return false;
  for (int i = 0; i < f->of.n; i++)
    if (strcmp(f->of.at[i], p->what.name) == 0) return true;
  return !f->of.n;
}

/* The same contenders in each case; those without a figure have none here, too. */
static bool fill_case(const Study *s, const Ground *g, const Figure *f, const Case *from,
                      Case *to) {
  *to = *from;
  to->n_contenders = 0;
  to->contenders = calloc((size_t)s->plans.n, sizeof *to->contenders);
  for (int p = 0; to->contenders && p < s->plans.n; p++) {
    const Held *h = held(s, g, from, p);
    if (!is_shown(s, f, p)) continue;
    Contender *c = &to->contenders[to->n_contenders++];
    if (h) *c = h->c;
    c->name = (char *)(uintptr_t)s->plans.at[p].what.name;
    c->ceiling = s->plans.at[p].ceiling;
  }
  return to->contenders != NULL;
}

static bool draw(const Study *s, const Bench *b, const Figure *f, const char *kernel, int threads,
                 const char *name) {
  static const char *const endings[] = {"svg", "png"};
  bool ok = true;
  for (int i = 0; i < 2 && ok; i++) {
    char *path = NULL;
    ok = asprintf(&path, "%s/%s.%s", s->report, name, endings[i]) >= 0 &&
         plot_panel(b, f->kind, kernel, threads, path);
    free(path);
  }
  return ok;
}

bool draw_figure(const Study *s, const Ground *g, const Figure *f, const char *kernel, int threads,
                 const char *name) {
  Bench b = g->b;
  bool ok = true;
  b.n_measured = b.n_cases;
  b.cases = calloc((size_t)b.n_cases, sizeof *b.cases);
  for (int i = 0; b.cases && i < b.n_cases; i++)
    ok = fill_case(s, g, f, &g->b.cases[i], &b.cases[i]) && ok;
  ok = ok && b.cases && draw(s, &b, f, kernel, threads, name);
  for (int i = 0; b.cases && i < b.n_cases; i++) free(b.cases[i].contenders);
  free(b.cases);
  return ok;
}
