/* The report: first what carries over of what was published, then all tables, figures and medians,
 * at last what it was measured on and how to do it again. It is made of what the database has. */
#define _GNU_SOURCE
#include "study.h"

#include "report.h"

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <string.h>

static bool several_threads(const Study *s) { return s->grounds[0].b.n_threads > 1; }

/* --- claims ----------------------------------------------------------------------------------- */

static void put_ratio(Doc *d, const Claim *c) {
  const tirc_ratio *r = &c->measured;
  char interval[INTERVAL_TEXT];
  if (r->value > 0)
    doc_cell(d, "%.3g %s%s", r->value, interval_text(interval, 0, 3, r->low, r->high),
             c->is_doubtful ? " *" : "");
  else
    doc_cell(d, "-");
}

/* ">2" or "<1", and its figure. */
static bool is_open(const Foretold *p) { return isinf(p->high) || p->low <= 0; }
static double bound_of(const Foretold *p) {
  return isinf(p->high) ? nextafter(p->low, 0) : nextafter(p->high, INFINITY);
}

static void put_foretold(Doc *d, const Foretold *p) {
  if (!p)
    doc_cell(d, " ");
  else if (is_open(p))
    doc_cell(d, "%s than %g", isinf(p->high) ? "more" : "less", bound_of(p));
  else if (p->high > p->low)
    doc_cell(d, "%g to %g", p->low, p->high);
  else
    doc_cell(d, "%g", p->low);
}

static double size_of(double ratio) { return ratio < 1 ? 1 / ratio : ratio; }

/* Beside the published figure, by interval. */
static const char *compare_sizes(const Claim *c) {
  const tirc_ratio *r = &c->measured;
  const Foretold *p = c->published.figure;
  if (c->published.verdict != CARRIES_OVER || (p->low <= 1 && p->high >= 1)) return "";
  if (is_open(p) && bound_of(p) == 1) return "";
  if (r->high >= p->low && r->low <= p->high) return "as much";
  return !is_open(p) && size_of(r->value) > size_of(p->low) ? "more" : "less";
}

static void put_judged(Doc *d, const Claim *c, bool expected) {
  static const char *const classes[] = {"", "good", "bad", "open"};
  const Judged *j = expected ? &c->expected : &c->published;
  const char *size = j->figure && !expected ? compare_sizes(c) : "";
  char *text =
      tirc_format(memory, "%s%s%s", verdict_name(j->verdict, expected), *size ? ", " : "", size);
  if (j->verdict == UNDECIDED) text = tirc_format(memory, "undecided: %s", j->why);
  put_foretold(d, j->figure);
  if (j->verdict == NOT_SAID)
    doc_cell(d, " ");
  else
    doc_mark(d, classes[j->verdict], text);
}

/* "mean of qkv's 8" says that a figure is no measurement. */
static void put_where(const Study *s, Doc *d, const Claim *c) {
  char counts[64] = "";
  if (c->n < c->n_all)
    snprintf(counts, sizeof counts, c->n_busy ? " (%d of %d, %d busy)" : " (%d of %d)", c->n,
             c->n_all, c->n_busy);
  if (c->setting || c->n_all <= 1)
    doc_cell(d, "%s%s%s%s", c->kernel ? c->kernel : "all",
             c->setting && *c->setting->at.setting ? " " : "",
             c->setting ? c->setting->at.setting : "", counts);
  else
    doc_cell(d, "geometric mean of %s%d settings%s%s%s", c->kernel ? "" : "all ", c->n_all,
             c->kernel ? " of " : "", c->kernel ? c->kernel : "", counts);
  if (s->n_grounds > 1) doc_cell(d, "%s", c->ground->b.how.target);
  if (several_threads(s)) doc_cell(d, "%d", c->threads);
}

static void put_claim(void *self, const Claim *c) {
  Page *p = self;
  doc_cell(&p->d, "%s", c->contender);
  put_where(p->s, &p->d, c);
  put_ratio(&p->d, c);
  for (int expected = 0; expected < 2; expected++)
    if ((expected ? &c->of->expected : &c->of->published)->n) put_judged(&p->d, c, expected);
}

static void put_table(Page *p, const Comparison *t) {
  char heads[160];
  const Study *s = p->s;
  char against[256] = "";
  for (int i = 0; i < t->against.n && strlen(against) < sizeof against - 64; i++)
    snprintf(against + strlen(against), sizeof against - strlen(against), "%s%.60s", i ? ", " : "",
             t->against.at[i]);
  doc_heading(&p->d, 3, t->title);
  doc_text(&p->d, "%s %s%s, with 95 %% intervals:",
           t->is_time ? "Time, as a multiple of that of" : "How many times as fast as",
           t->against.n > 1 ? "the fastest of " : "", against);
  snprintf(heads, sizeof heads, "contender|over%s%s|measured, 95 %%%s%s",
           s->n_grounds > 1 ? "|target" : "", several_threads(s) ? "|threads" : "",
           t->published.n ? "|published|verdict" : "", t->expected.n ? "|expected|verdict" : "");
  const int before = 2 + (s->n_grounds > 1) + several_threads(s);
  const bool both = t->published.n && t->expected.n;
  doc_table(&p->d, heads, (both ? 0xbu : 3u) << before);
  visit_claims(s, t, put_claim, p);
  doc_end_table(&p->d);
  if (t->note) doc_text(&p->d, "%s", t->note);
}

static void count_verdict(Verdicts *v, Verdict verdict) {
  v->carries += verdict == CARRIES_OVER;
  v->differs += verdict == DIFFERS;
  v->undecided += verdict == UNDECIDED;
}

static void put_claim_of(Page *p, const Claim *c, bool expected) {
  const Judged *j = expected ? &c->expected : &c->published;
  if (!j->figure) return;
  count_verdict(expected ? &p->expected : &p->published, j->verdict);
  doc_cell(&p->d, "%s", c->of->title);
  doc_cell(&p->d, "%s", c->contender);
  put_where(p->s, &p->d, c);
  put_ratio(&p->d, c);
  put_judged(&p->d, c, expected);
}

static void put_published_claim(void *self, const Claim *c) { put_claim_of(self, c, false); }
static void put_expected_claim(void *self, const Claim *c) { put_claim_of(self, c, true); }

/* Of all comparisons, what somebody foretold. */
static void put_claims_of(Page *p, bool expected) {
  const Study *s = p->s;
  char heads[160];
  snprintf(heads, sizeof heads, "question|contender|over%s%s|measured, 95 %%|%s|verdict",
           s->n_grounds > 1 ? "|target" : "", several_threads(s) ? "|threads" : "",
           expected ? "expected" : "published");
  doc_table(&p->d, heads, 3u << (3 + (s->n_grounds > 1) + several_threads(s)));
  for (int i = 0; i < s->comparisons.n; i++)
    visit_claims(s, &s->comparisons.at[i], expected ? put_expected_claim : put_published_claim, p);
  doc_end_table(&p->d);
}

static void put_failures(Page *p) {
  static const char *const classes[] = {"", "good", "bad", "open"};
  const Study *s = p->s;
  bool any = false;
  for (int i = 0; i < s->plans.n; i++) {
    const Plan *plan = &s->plans.at[i];
    const char *message;
    if (!plan->expect_error) continue;
    if (!any) {
      doc_heading(&p->d, 3, "What must not be possible");
      doc_table(&p->d, "contender|must fail with|verdict|message", 0);
    }
    any = true;
    const Verdict v = judge_failure(s, i, &message);
    doc_cell(&p->d, "%s", plan->what.name);
    doc_cell(&p->d, "`%s`", plan->expect_error);
    doc_mark(&p->d, classes[v], verdict_name(v, false));
    doc_cell(&p->d, "%s", message);
    count_verdict(&p->published, v);
  }
  if (any) doc_end_table(&p->d);
}

/* The first error of the contender that nobody foretold. */
static const Held *find_error(const Study *s, int plan, const Case **where) {
  for (int i = 0; i < s->n_grounds && !s->plans.at[plan].expect_error; i++)
    for (int j = 0; j < s->grounds[i].b.n_cases; j++) {
      const Held *h = held(s, &s->grounds[i], *where = &s->grounds[i].b.cases[j], plan);
      if (h && h->r.code) return h;
    }
  return NULL;
}

static void put_errors(Page *p) {
  const Study *s = p->s;
  bool any = false;
  for (int i = 0; i < s->plans.n; i++) {
    const Case *where;
    const Held *h = find_error(s, i, &where);
    if (!h) continue;
    if (!any) {
      doc_heading(&p->d, 3, "What failed");
      doc_table(&p->d, "contender|first at|error|message", 0);
    }
    any = true;
    doc_cell(&p->d, "%s", h->name);
    doc_cell(&p->d, "%s %s", where->at.kernel, where->at.setting);
    doc_cell(&p->d, "`%s`", h->r.code);
    doc_cell(&p->d, "%s", h->r.message ? h->r.message : "its results are not the program's");
  }
  if (any) doc_end_table(&p->d);
}

/* A sum that lacks a part is not compared. */
static void put_total(Page *p, const Estimate *e, const Ground *g, int threads, const char *name) {
  const Study *s = p->s;
  const Total of = sum_of_calls(s, g, threads, find_plan(s, name));
  const Total base = e->against ? sum_of_calls(s, g, threads, find_plan(s, e->against)) : of;
  const bool whole = of.n == of.n_all && base.n == base.n_all;
  doc_cell(&p->d, "%s", name);
  if (s->n_grounds > 1) doc_cell(&p->d, "%s", g->b.target.name);
  doc_cell(&p->d, "%d", threads);
  if (of.n == of.n_all)
    doc_cell(&p->d, "%.4g%s", 1e3 * of.seconds, of.busy ? " *" : "");
  else
    doc_cell(&p->d, "%d of %d settings are measured", of.n, of.n_all);
  if (!e->against) return;
  if (whole && of.seconds > 0)
    doc_cell(&p->d, "%.3g%s", base.seconds / of.seconds, of.busy || base.busy ? " *" : "");
  else
    doc_cell(&p->d, "-");
}

static void put_estimate(Page *p, const Estimate *e) {
  const Study *s = p->s;
  char *heads =
      tirc_format(memory, "contender%s|threads|ms%s%.100s", s->n_grounds > 1 ? "|target" : "",
                  e->against ? "|times as fast as " : "", e->against ? e->against : "");
  doc_heading(&p->d, 3, e->title);
  doc_text(&p->d, "The sum over all settings of the number of calls times the median. The time "
                  "between the calls of a model is not included.");
  doc_table(&p->d, heads, 7u << (1 + (s->n_grounds > 1)));
  for (int i = 0; i < s->n_grounds; i++)
    for (int t = 0; t < s->grounds[i].b.n_threads; t++)
      for (int n = 0; n < e->of.n; n++)
        put_total(p, e, &s->grounds[i], s->grounds[i].b.threads[t].threads, e->of.at[n]);
  doc_end_table(&p->d);
  if (e->note) doc_text(&p->d, "%s", e->note);
}

static int count_foretold(const Study *s, bool expected) {
  int n = 0;
  for (int i = 0; i < s->comparisons.n; i++)
    n += (expected ? &s->comparisons.at[i].expected : &s->comparisons.at[i].published)->n;
  return n;
}

static void put_expectations(Page *p) {
  if (!count_foretold(p->s, true)) return;
  doc_heading(&p->d, 2, "What was expected");
  doc_text(&p->d,
           "An expectation holds where the whole 95 %% interval is within the expected range, "
           "does not hold where the interval is outside of it, and is undecided otherwise. A "
           "figure alone stands for the range within 5 %% of it.");
  put_claims_of(p, true);
  doc_text(&p->d, "Expectations: %d hold, %d do not hold, %d undecided.", p->expected.carries,
           p->expected.differs, p->expected.undecided);
}

static void put_findings(Page *p) {
  doc_heading(&p->d, 2, "What carries over");
  if (count_foretold(p->s, false)) {
    doc_text(&p->d,
             "A published ratio carries over where the whole 95 %% interval of what is measured "
             "here is on its side of 1. If the ratio is around 1, the interval must be within the "
             "published range. The verdict also says whether the effect is as large, larger "
             "(more) or smaller (less). A published ratio differs where the interval reaches to 1 "
             "or beyond, and does not reach what was published. Settings that were measured while "
             "the machine was busy do not count. * marks a row that has no other settings.");
    put_claims_of(p, false);
  }
  put_failures(p);
  put_errors(p);
  doc_text(&p->d, "Published figures and errors: %d carry over, %d differ, %d undecided.",
           p->published.carries, p->published.differs, p->published.undecided);
  put_expectations(p);
}

/* --- settings --------------------------------------------------------------------------------- */

void short_setting(const Bench *b, const Case *k, char *out, size_t size) {
  *out = 0;
  for (int d = 0; d < k->at.n_defines; d++) {
    bool varies = false;
    for (const Case *other = b->cases; other < b->cases + b->n_cases; other++)
      varies = varies || (strcmp(other->at.kernel, k->at.kernel) == 0 && d < other->at.n_defines &&
                          strcmp(other->at.defines[d].value, k->at.defines[d].value) != 0);
    if (varies)
      snprintf(out + strlen(out), size - strlen(out), "%s%s=%s", *out ? " " : "",
               k->at.defines[d].name, k->at.defines[d].value);
  }
}

static bool is_in_block(const Case *k, const Case *first) {
  return k->at.threads == first->at.threads && strcmp(k->at.kernel, first->at.kernel) == 0;
}

static bool is_first_of_block(const Bench *b, const Case *k) {
  const Case *other = b->cases;
  while (!is_in_block(other, k)) other++;
  return other == k;
}

/* --- figures ---------------------------------------------------------------------------------- */

static int count_settings(const Ground *g, const char *kernel, int threads) {
  int n = 0;
  for (int i = 0; i < g->b.n_cases; i++)
    n += g->b.cases[i].at.threads == threads &&
         (!kernel || strcmp(kernel, g->b.cases[i].at.kernel) == 0);
  return n;
}

/* Each panel is a file: figure-2-qkv-2.svg. */
static void put_panel(Page *p, const Ground *g, int number, const char *kernel, int threads) {
  const Figure *f = &p->s->figures.at[number];
  char *name = tirc_format(memory, "figure-%d-%.60s-%.40s-%d", number + 1, kernel ? kernel : "all",
                           g->b.target.name, threads);
  for (char *c = name; *c; c++)
    if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", *c)) *c = '_';
  const bool targets = p->s->n_grounds > 1;
  const int n = count_settings(g, kernel, threads);
  const bool means = strcmp(f->kind, "bars") == 0 && n > 1;
  char *of = means ? tirc_format(memory, ": geometric means of %d settings", n) : "";
  char *against =
      f->against
          ? tirc_format(memory, "; %s %.100s",
                        f->is_time ? "time against that of" : "speed against that of", f->against)
          : "";
  char *title = tirc_format(memory, "%.100s: %.60s%s%d thread%s%s%.40s%s%s", f->title,
                            kernel ? kernel : "", kernel ? ", " : "", threads, plural(threads),
                            targets ? ", " : "", targets ? g->b.target.name : "", of, against);
  if (draw_figure(p->s, g, f, kernel, threads, name))
    doc_figure(&p->d, p->s->report, name, title);
  else
    doc_text(&p->d, "Left out, as there is nothing to draw: %s.", title);
}

static void put_figure(Page *p, const Ground *g, int number) {
  const char *kind = p->s->figures.at[number].kind;
  const bool of_all = strcmp(kind, "heat") == 0 || strcmp(kind, "roofline") == 0;
  for (int t = 0; t < g->b.n_threads; t++) {
    const int threads = g->b.threads[t].threads;
    if (of_all) put_panel(p, g, number, NULL, threads);
    for (int i = 0; i < g->b.n_cases && !of_all; i++)
      if (g->b.cases[i].at.threads == threads && is_first_of_block(&g->b, &g->b.cases[i]))
        put_panel(p, g, number, g->b.cases[i].at.kernel, threads);
  }
}

static void put_figures(Page *p) {
  if (!p->s->figures.n) return;
  doc_heading(&p->d, 2, "Figures");
  if (!has_gnuplot()) {
    doc_text(&p->d,
             "Left out: they need gnuplot; on Debian: `apt-get install gnuplot-nox`, then the "
             "same command again.");
    return;
  }
  for (int i = 0; i < p->s->figures.n; i++)
    for (int g = 0; g < p->s->n_grounds; g++) put_figure(p, &p->s->grounds[g], i);
}

/* --- all medians ------------------------------------------------------------------------------ */

static void put_median(Page *p, const Ground *g, const Case *k, int plan) {
  const Held *h = held(p->s, g, k, plan);
  const char *busy = h && h->busy ? " *" : "";
  if (p->s->plans.at[plan].missing)
    doc_cell(&p->d, "left out");
  else if (!h)
    doc_cell(&p->d, "-");
  else if (h->f.median > 0)
    doc_cell(&p->d, "%.4g / %.4g / %.0f %%%s", h->f.median * 1e3, h->f.fastest * 1e3,
             100 * h->f.spread, busy);
  else
    doc_cell(&p->d, "%s", h->r.code ? h->r.code : "-");
}

static void put_block(Page *p, const Ground *g, const Case *first) {
  const Bench *b = &g->b;
  char *heads = NULL;
  size_t size = 0;
  unsigned right = 0;
  int n = 1;
  FILE *f = begin_text(&heads, &size);
  fputs("ms", f);
  for (const Case *k = first; k < b->cases + b->n_cases; k++) {
    char setting[128];
    if (!is_in_block(k, first)) continue;
    short_setting(b, k, setting, sizeof setting);
    fprintf(f, "|%s", *setting ? setting : "median");
    right |= n < 32 ? 1u << n : 0;
    n++;
  }
  (void)end_text(f, &heads);
  doc_heading(&p->d, 3,
              tirc_format(memory, "%s, %d thread%s%s%s", first->at.kernel, first->at.threads,
                          plural(first->at.threads), p->s->n_grounds > 1 ? ", " : "",
                          p->s->n_grounds > 1 ? g->b.how.target : ""));
  doc_table(&p->d, heads, right);
  for (int plan = 0; plan < p->s->plans.n; plan++) {
    doc_cell(&p->d, "%s", p->s->plans.at[plan].what.name);
    for (const Case *k = first; k < b->cases + b->n_cases; k++)
      if (is_in_block(k, first)) put_median(p, g, k, plan);
  }
  doc_end_table(&p->d);
}

static void put_medians(Page *p) {
  doc_fold(&p->d, "All figures");
  doc_text(&p->d,
           "Milliseconds a call: median / fastest call / spread from quartile to quartile; with * "
           "while the machine was busy. What failed shows its error.");
  for (int i = 0; i < p->s->n_grounds; i++) {
    const Ground *g = &p->s->grounds[i];
    for (const Case *k = g->b.cases; k < g->b.cases + g->b.n_cases; k++)
      if (is_first_of_block(&g->b, k)) put_block(p, g, k);
  }
  doc_unfold(&p->d);
}

/* --- where and how ---------------------------------------------------------------------------- */

static void put_json(Doc *d, const char *text) {
  struct json_object *j = text ? json_tokener_parse(text) : NULL;
  if (!j) return;
  json_object_object_foreach(j, key, value) {
    doc_cell(d, "%s", key);
    doc_cell(d, "%s", json_object_get_string(value));
  }
  json_object_put(j);
}

typedef struct Circumstances {
  int n, n_busy;
  double load, clock_low, clock_high;
  const char *first, *last, *environment;
  bool mixed; /* versions */
} Circumstances;

static void look_at_result(Circumstances *c, const Held *h) {
  const tirc_db_conditions *now = &h->r.conditions;
  c->n++;
  c->n_busy += h->busy;
  if (now->load > c->load) c->load = now->load;
  if (now->clock_low > 0 && (!(c->clock_low > 0) || now->clock_low < c->clock_low))
    c->clock_low = now->clock_low;
  if (now->clock_high > c->clock_high) c->clock_high = now->clock_high;
  if (!c->first || strcmp(h->when, c->first) < 0) c->first = h->when;
  if (!c->last || strcmp(h->when, c->last) > 0) c->last = h->when;
  if (c->environment && now->environment && strcmp(c->environment, now->environment) != 0)
    c->mixed = true;
  if (now->environment) c->environment = now->environment;
}

static Circumstances circumstances(const Study *s) {
  Circumstances c = {0};
  for (int i = 0; i < s->n_grounds; i++)
    for (int j = 0; j < s->grounds[i].b.n_cases * s->plans.n; j++)
      if (s->grounds[i].held[j]) look_at_result(&c, s->grounds[i].held[j]);
  return c;
}

static void put_environment(Page *p) {
  const Ground *g = &p->s->grounds[0];
  const Circumstances c = circumstances(p->s);
  doc_heading(&p->d, 2, "Environment");
  doc_table(&p->d, "what|value", 0);
  doc_cell(&p->d, "machine profile");
  doc_cell(&p->d, "%s", g->b.store.profile);
  put_json(&p->d, g->b.store.machine);
  put_json(&p->d, g->environment);
  doc_cell(&p->d, "huge pages");
  doc_cell(&p->d, "%s", g->b.profile.huge_pages);
  for (int i = 0; i < p->s->n_grounds; i++) {
    doc_cell(&p->d, "target");
    doc_cell(&p->d, "%s", p->s->grounds[i].b.target.name);
  }
  if (c.n) {
    doc_cell(&p->d, "measured");
    doc_cell(&p->d, "%s to %s UTC%s", c.first, c.last, c.mixed ? ", by several versions" : "");
    doc_cell(&p->d, "clock");
    doc_cell(&p->d, "%.2f to %.2f GHz", c.clock_low, c.clock_high);
    doc_cell(&p->d, "other processes");
    doc_cell(&p->d, "used up to %.2f cores; %d of %d results were taken while the machine was busy",
             c.load, c.n_busy, c.n);
  }
  doc_end_table(&p->d);
}

static void put_contenders(Page *p) {
  doc_fold(&p->d, "Contenders");
  doc_table(&p->d, "contender|schedule|hash", 0);
  for (int i = 0; i < p->s->plans.n; i++) {
    const Plan *plan = &p->s->plans.at[i];
    const Contender *w = &plan->what;
    if (plan->ceiling) continue;
    doc_cell(&p->d, "%s", w->name);
    if (plan->missing)
      doc_cell(&p->d, "left out; on Debian: `%s`", plan->missing);
    else if (plan->of)
      doc_cell(&p->d, "`%s` with %s", plan->of, plan->value);
    else
      doc_cell(&p->d, "%s%s%s", w->rival ? "" : "`", w->rival ? "a library" : w->script,
               w->rival ? "" : "`");
    doc_cell(&p->d, "%.8s", plan->hash ? plan->hash : " ");
  }
  doc_end_table(&p->d);
  doc_unfold(&p->d);
}

/* The text of one schedule, once, and in which settings it was run; later ones are marked as done.
 */
static void put_text_of(Page *p, const Ground *g, int plan, int first, bool *done) {
  const Held *of = g->held[first * p->s->plans.n + plan];
  char *where = NULL;
  bool everywhere = true;
  for (int i = 0; i < g->b.n_cases; i++) {
    const Held *h = g->held[i * p->s->plans.n + plan];
    const Setting *at = &g->b.cases[i].at;
    const bool same = h && h->r.schedule && strcmp(h->r.schedule, of->r.schedule) == 0;
    everywhere = everywhere && same;
    if (!same) continue;
    done[i] = true;
    where = tirc_format(memory, "%s%s%s%s%s on %d thread%s", where ? where : "", where ? "; " : "",
                        at->kernel, *at->setting ? " " : "", at->setting, at->threads,
                        plural(at->threads));
  }
  const char *target = p->s->n_grounds > 1 ? g->b.target.name : "";
  doc_text(&p->d, "`%s`, %s%s%s:", of->name, *target ? target : "", *target ? ", " : "",
           everywhere ? "in all settings" : where);
  doc_code(&p->d, of->r.schedule);
}

/* What ran: of rules and searches a text for each setting, unless they are the same. */
static void put_schedules(Page *p) {
  const Study *s = p->s;
  doc_fold(&p->d, "Schedules");
  for (int plan = 0; plan < s->plans.n; plan++)
    for (int i = 0; i < s->n_grounds && !s->plans.at[plan].ceiling; i++) {
      const Ground *g = &s->grounds[i];
      bool *done = tirc_alloc_array(memory, (size_t)g->b.n_cases + 1, sizeof *done);
      for (int k = 0; k < g->b.n_cases; k++) {
        const Held *h = g->held[k * s->plans.n + plan];
        if (h && h->r.schedule && !done[k]) put_text_of(p, g, plan, k, done);
      }
    }
  doc_unfold(&p->d);
}

static void put_commands(Page *p) {
  doc_heading(&p->d, 2, "Again");
  doc_text(&p->d, "Measures what the database lacks, and writes the report; with `--again` all is "
                  "measured again:");
  doc_code(&p->d, p->s->grounds[0].b.store.command ? p->s->grounds[0].b.store.command : "");
}

static void put_untuned(Page *p) {
  int n = 0;
  for (int i = 0; i < p->s->plans.n; i++)
    for (int g = 0; g < p->s->n_grounds && p->s->plans.at[i].what.tuned; g++)
      for (int j = 0; j < p->s->grounds[g].b.n_cases; j++)
        n += !p->s->grounds[g].texts[j * p->s->plans.n + i];
  if (n)
    doc_text(
        &p->d,
        "In %d setting%s nothing was tuned, so `tuned` is left out there: `tirc tune` with the "
        "same database looks for schedules.",
        n, plural(n));
}

static void put_bare(Page *p) {
  int n = 0;
  for (int g = 0; g < p->s->n_grounds; g++)
    for (int i = 0; i < p->s->grounds[g].b.n_cases * p->s->plans.n; i++)
      n += p->s->grounds[g].bare[i];
  if (n)
    doc_text(
        &p->d,
        "In %d setting%s the rules leave a function of the program, or a block of it, as it was "
        "written or slow (`no-rule`): `tirc apply PROG --auto --explain-auto` says why.",
        n, plural(n));
}

int write_report(const Study *s) {
  Page p = {.s = s};
  if (!doc_open(&p.d, s->report, s->title))
    return complain("--write FOLDER writes it elsewhere", "cannot write the report to '%s': %s",
                    s->report, strerror(errno));
  doc_text(&p.d, "%d of %d settings of `%s` are measured%s.", s->n_done, s->n_units, s->path,
           s->o->quick ? ", of the quick form of the study" : "");
  put_untuned(&p);
  put_bare(&p);
  put_findings(&p);
  put_figures(&p);
  doc_heading(&p.d, 2, "Tables");
  for (int i = 0; i < s->comparisons.n; i++) put_table(&p, &s->comparisons.at[i]);
  for (int i = 0; i < s->estimates.n; i++) put_estimate(&p, &s->estimates.at[i]);
  put_tiles(&p);
  put_medians(&p);
  put_contenders(&p);
  put_environment(&p);
  put_commands(&p);
  put_schedules(&p);
  if (!doc_close(&p.d))
    return complain(NULL, "cannot write the report to '%s': %s", s->report, strerror(errno));
  if (write_report_data(s) != DONE) return BAD;
  if (count_foretold(s, true))
    printf("Expectations: %d hold, %d do not hold, %d undecided\n", p.expected.carries,
           p.expected.differs, p.expected.undecided);
  printf("Published figures and errors: %d carry over, %d differ, %d undecided: %s/report.html\n",
         p.published.carries, p.published.differs, p.published.undecided, s->report);
  return DONE;
}
