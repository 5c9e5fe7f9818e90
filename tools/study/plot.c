/* A study's figures: what the database has, as charts. */
#define _GNU_SOURCE
#include "study.h"

#include <string.h>

static bool is_shown(const Study *s, const Figure *f, int plan) {
  const Plan *p = &s->plans.at[plan];
  if (p->ceiling) return true;
  if (p->expect_error || p->missing) return false;
  if (f->against && strcmp(f->against, p->what.name) == 0) return true;
  for (int i = 0; i < f->of.n; i++)
    if (strcmp(f->of.at[i], p->what.name) == 0) return true;
  return !f->of.n;
}

static bool draw(const Study *s, const Chart *c, const Figure *f, const char *kernel, int threads,
                 const char *name) {
  static const char *const endings[] = {"svg", "png", "pdf"};
  bool ok = true;
  for (int i = 0; i < 3 && ok; i++) {
    char *path = tirc_format(memory, "%s/%s.%s", s->report, name, endings[i]);
    ok = plot_panel(c, f->kind, kernel, threads, path);
  }
  return ok;
}

/* Those without a figure have none here, too. */
static void fill(const Study *s, const Ground *g, const Figure *f, Chart *c) {
  for (int j = 0; j < c->n_settings; j++) {
    const Case *k = &g->b.cases[j];
    int n = 0;
    c->settings[j] = k->at;
    for (int p = 0; p < s->plans.n; p++) {
      if (!is_shown(s, f, p)) continue;
      c->series[n] = (Series){s->plans.at[p].what.name, s->plans.at[p].ceiling};
      c->held[j * c->n_series + n++] = held(s, g, k, p);
    }
  }
}

bool draw_figure(const Study *s, const Ground *g, const Figure *f, const char *kernel, int threads,
                 const char *name) {
  Chart c;
  int n = 0;
  for (int p = 0; p < s->plans.n; p++) n += is_shown(s, f, p);
  new_chart(&c, g->b.n_cases, n);
  fill(s, g, f, &c);
  c.is_time = f->is_time;
  for (int i = 0; i < n && f->against; i++)
    if (strcmp(c.series[i].name, f->against) == 0) c.base = i;
  if (f->against && (c.base < 0 || !is_drawn(&c, kernel, threads, c.base))) return false;
  return draw(s, &c, f, kernel, threads, name);
}
