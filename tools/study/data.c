/* The report as data, FOLDER/report.json: each row of each table with its interval, and what was
 * foretold of it; for notebooks, and for pages that are made of several studies. */
#define _GNU_SOURCE
#include "study.h"

#include <math.h>
#include <string.h>

static Json *names_as_json(const Names *n) { return json_texts(n->n, n->at); }

/* Of a bound the end that it does not have is null. */
static void add_judged(Json *row, const Judged *j, bool expected) {
  if (!j->figure) return;
  Json *said = json_object_new_object();
  add_known(said, "low", j->figure->low);
  add_number(said, "high", j->figure->high);
  add_text(said, "verdict", verdict_name(j->verdict, expected));
  add_some(said, "why", j->verdict == UNDECIDED ? j->why : NULL);
  add_json(row, expected ? "expected" : "published", said);
}

static void add_row(void *self, const Claim *c) {
  Json *row = json_object_new_object();
  add_text(row, "contender", c->contender);
  add_text(row, "kernel", c->kernel);
  add_text(row, "setting", c->setting ? c->setting->at.setting : NULL);
  add_int(row, "threads", c->threads);
  add_text(row, "target", c->ground->b.target.name);
  add_known(row, "ratio", c->measured.value);
  if (c->measured.value > 0) add_pair(row, "interval", c->measured.low, c->measured.high);
  add_int(row, "settings", c->is_doubtful ? c->n_busy : c->n);
  add_int(row, "settings_busy", c->n_busy);
  add_int(row, "settings_in_all", c->n_all);
  add_bool(row, "busy", c->is_doubtful);
  add_judged(row, &c->published, false);
  add_judged(row, &c->expected, true);
  json_object_array_add(self, row);
}

static Json *table_as_json(const Study *s, const Comparison *t) {
  static const char *const groups[] = {"all", "kernel", "setting", "threads"};
  Json *j = json_object_new_object(), *rows = json_object_new_array();
  add_text(j, "title", t->title);
  add_text(j, "ratio", t->is_time ? "time" : "speed");
  add_json(j, "against", names_as_json(&t->against));
  add_text(j, "by", groups[t->by]);
  add_some(j, "note", t->note);
  visit_claims(s, t, add_row, rows);
  add_json(j, "rows", rows);
  return j;
}

static void add_total(const Study *s, const Ground *g, int threads, const char *name, Json *rows) {
  const Total t = sum_of_calls(s, g, threads, find_plan(s, name));
  Json *row = json_object_new_object();
  add_text(row, "contender", name);
  add_int(row, "threads", threads);
  add_text(row, "target", g->b.target.name);
  add_known(row, "seconds", t.n == t.n_all ? t.seconds : 0);
  add_int(row, "settings", t.n);
  add_int(row, "settings_in_all", t.n_all);
  add_bool(row, "busy", t.busy);
  json_object_array_add(rows, row);
}

static Json *estimate_as_json(const Study *s, const Estimate *e) {
  Json *j = json_object_new_object(), *rows = json_object_new_array();
  add_text(j, "title", e->title);
  add_text(j, "against", e->against);
  for (int i = 0; i < s->n_grounds; i++)
    for (int t = 0; t < s->grounds[i].b.n_threads; t++)
      for (int n = 0; n < e->of.n; n++)
        add_total(s, &s->grounds[i], s->grounds[i].b.threads[t].threads, e->of.at[n], rows);
  add_json(j, "rows", rows);
  return j;
}

static Json *failures_as_json(const Study *s) {
  Json *list = json_object_new_array();
  for (int i = 0; i < s->plans.n; i++) {
    const Plan *p = &s->plans.at[i];
    const char *message;
    if (!p->expect_error) continue;
    Json *j = json_object_new_object();
    add_text(j, "contender", p->what.name);
    add_text(j, "code", p->expect_error);
    add_text(j, "verdict", verdict_name(judge_failure(s, i, &message), false));
    add_text(j, "message", message);
    json_object_array_add(list, j);
  }
  return list;
}

static Json *missing_as_json(const Study *s) {
  Json *list = json_object_new_array();
  for (int i = 0; i < s->plans.n; i++) {
    const Plan *p = &s->plans.at[i];
    if (!p->missing) continue;
    Json *j = json_object_new_object();
    add_text(j, "contender", p->what.name);
    add_text(j, "install", p->missing);
    json_object_array_add(list, j);
  }
  return list;
}

static void count_results(const Study *s, Json *j) {
  int n = 0, busy = 0;
  for (int i = 0; i < s->n_grounds; i++)
    for (int k = 0; k < s->grounds[i].b.n_cases * s->plans.n; k++) {
      const Held *h = s->grounds[i].held[k];
      n += h != NULL;
      busy += h && h->busy;
    }
  add_int(j, "results", n);
  add_int(j, "results_busy", busy);
}

int write_report_data(const Study *s) {
  const Ground *g = &s->grounds[0];
  Json *j = json_object_new_object(), *tables = json_object_new_array();
  add_text(j, "title", s->title);
  add_text(j, "study", s->path);
  add_bool(j, "quick", s->o->quick);
  add_text(j, "command", g->b.store.command);
  add_int(j, "settings", s->n_units);
  add_int(j, "settings_measured", s->n_done);
  count_results(s, j);
  add_text(j, "machine", g->b.store.profile);
  if (g->environment) add_json(j, "environment", json_tokener_parse(g->environment));
  add_json(j, "missing", missing_as_json(s));
  add_json(j, "failures", failures_as_json(s));
  for (int i = 0; i < s->comparisons.n; i++)
    json_object_array_add(tables, table_as_json(s, &s->comparisons.at[i]));
  add_json(j, "tables", tables);
  Json *estimates = json_object_new_array();
  for (int i = 0; i < s->estimates.n; i++)
    json_object_array_add(estimates, estimate_as_json(s, &s->estimates.at[i]));
  add_json(j, "estimates", estimates);
  return write_json(tirc_format(memory, "%s/report.json", s->report), j, true);
}
