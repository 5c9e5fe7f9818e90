/* What the measurements say. A row of a table is a geometric mean of ratios over settings, with its
 * interval; settings that were measured while the machine was busy are left out, and where fewer
 * than half of all remain nothing is said. Contenders that took turns in one run are paired.
 *
 * A published figure, or range, is beyond 1, below 1, or around it. It carries over when the whole
 * interval is on its side of 1 (around 1: within the published range). It differs when the interval
 * reaches to 1 or beyond and not to the published range: there is no such effect here. An interval
 * that reaches to both is undecided. Whether the size of an effect that carries over is the same,
 * too, is another question: does the interval meet the published range?
 *
 * What is expected is a hypothesis about this machine, and judged more strictly: it holds when the
 * whole interval is within the expected range, does not hold when the interval is outside of it,
 * and is undecided otherwise. */
#include "study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The fastest of those that it is compared with. */
static const Held *fastest(const Study *s, const Ground *g, const Case *k, const Names *names) {
  const Held *best = NULL;
  for (int i = 0; i < names->n; i++) {
    const Held *head = held(s, g, k, find_plan(s, names->at[i])), *h = head, *none = NULL;
    bool together;
    pair_up(&h, &none, &together);
    if (h && (!best || h->f.median < best->f.median)) best = names->n == 1 ? head : h;
  }
  return best;
}

/* --- a row ------------------------------------------------------------------------------------ */

typedef struct Sum {
  RatioMean mean;
  int n_busy, n_all;
  bool of_busy; /* of the busy settings alone, which is shown where there are no others */
} Sum;

static void add_setting_to(Sum *sum, const Study *s, const Ground *g, const Case *k, int plan,
                           const Comparison *t) {
  const Held *of = held(s, g, k, plan), *base = fastest(s, g, k, &t->against);
  bool together;
  pair_up(&of, &base, &together);
  sum->n_all++;
  if (!of || !base) return;
  const bool busy = of->busy || base->busy;
  sum->n_busy += busy;
  if (busy != sum->of_busy) return;
  tirc_mean_add(&sum->mean, &of->f, &base->f, together);
}

const char each_setting[] = "each";

static bool has_size(const Setting *s, const char *word, size_t n) {
  for (int i = 0; i < s->n_defines; i++) {
    const tirc_define *d = &s->defines[i];
    const size_t name = strlen(d->name), value = strlen(d->value);
    if (n == name + 1 + value && strncmp(word, d->name, name) == 0 && word[name] == '=' &&
        strncmp(word + name + 1, d->value, value) == 0)
      return true;
  }
  return false;
}

/* "M=16" and "M=16 K=768" are of each setting that has these sizes. */
static bool names_setting(const char *key, const Setting *s) {
  if (strcmp(key, each_setting) == 0) return true;
  for (const char *p = key; *p;) {
    const size_t n = strcspn(p, " ");
    if (n && !has_size(s, p, n)) return false;
    p += n + strspn(p + n, " ");
  }
  return true;
}

/* How many keys the figure has, if it is one for the row: a row of a kernel takes none of all
 * kernels, nor a setting one of its kernel. -1: it is for others. */
static int closeness(const Foretold *p, const Claim *c) {
  bool of_kernel = false, of_setting = false;
  int n = 0;
  for (; n < MOST_KEYS && p->keys[n]; n++) {
    const char *key = p->keys[n];
    const bool is_kernel = c->kernel && strcmp(key, c->kernel) == 0;
    const bool is_setting = c->setting && names_setting(key, &c->setting->at);
    const bool is_threads = *key && !key[strspn(key, "0123456789")] && atoi(key) == c->threads;
    if (!is_kernel && !is_setting && !is_threads && strcmp(key, c->contender) != 0) return -1;
    of_kernel = of_kernel || is_kernel;
    of_setting = of_setting || is_setting;
  }
  if (of_setting != (c->setting != NULL)) return -1;
  return c->setting || of_kernel == (c->kernel != NULL) ? n : -1;
}

/* The one that says most of the row; of several the last. */
static const Foretold *find_figure(const ForetoldList *all, const Claim *c) {
  const Foretold *found = NULL;
  int most = 0;
  for (int i = 0; i < all->n; i++) {
    const int n = closeness(&all->at[i], c);
    if (n < most) continue;
    most = n;
    found = &all->at[i];
  }
  return found;
}

static Verdict judge_published(const tirc_ratio *r, const Foretold *p) {
  const int side = tirc_side_of_one(r);
  const bool carries = p->low > 1    ? side > 0
                       : p->high < 1 ? side < 0
                                     : r->low >= p->low && r->high <= p->high;
  if (carries) return CARRIES_OVER;
  return r->high < p->low || r->low > p->high ? DIFFERS : UNDECIDED;
}

/* A figure alone stands for those that are near to it. */
static Verdict judge_expected(const tirc_ratio *r, const Foretold *p) {
  static const double near = 0.05;
  const bool alone = p->low == p->high;
  const double low = alone ? p->low * (1 - near) : p->low,
               high = alone ? p->high * (1 + near) : p->high;
  if (r->low >= low && r->high <= high) return CARRIES_OVER;
  return r->high < low || r->low > high ? DIFFERS : UNDECIDED;
}

/* Why nothing can be said of a row; NULL: something can. */
static const char *find_lack(const Claim *c) {
  if (!c->n && !c->n_busy) return "not measured";
  if (2 * c->n < c->n_all) return 2 * c->n_busy >= c->n_all ? "busy machine" : "few settings";
  return tirc_is_interval(c->measured.low, c->measured.high) ? NULL : "few turns";
}

static Judged judge(const Claim *c, const ForetoldList *all,
                    Verdict (*by)(const tirc_ratio *, const Foretold *)) {
  Judged j = {.figure = find_figure(all, c)};
  if (!j.figure) return j;
  j.why = find_lack(c);
  j.verdict = j.why ? UNDECIDED : by(&c->measured, j.figure);
  if (j.verdict == UNDECIDED && !j.why) j.why = "wide interval";
  return j;
}

static void judge_claim(Claim *c) {
  c->published = judge(c, &c->of->published, judge_published);
  c->expected = judge(c, &c->of->expected, judge_expected);
}

typedef struct Rows {
  const Study *s;
  const Comparison *t;
  void (*visit)(void *self, const Claim *c);
  void *self;
} Rows;

static void sum_up(Claim *c, const Rows *rows, bool of_busy) {
  Sum sum = {.of_busy = of_busy};
  const int plan = find_plan(rows->s, c->contender);
  for (int i = 0; i < c->ground->b.n_cases; i++) {
    const Case *k = &c->ground->b.cases[i];
    if (k->at.threads == c->threads && (!c->kernel || strcmp(c->kernel, k->at.kernel) == 0) &&
        (!c->setting || c->setting == k))
      add_setting_to(&sum, rows->s, c->ground, k, plan, rows->t);
  }
  c->measured = tirc_mean_end(&sum.mean, rows->t->is_time ? -1 : 1, 1);
  c->is_doubtful = of_busy;
  c->n = of_busy ? 0 : sum.mean.n;
  c->n_busy = sum.n_busy;
  c->n_all = sum.n_all;
}

static void visit_row(const Rows *rows, const Ground *g, int threads, const char *contender,
                      const char *kernel, const Case *setting) {
  Claim c = {.of = rows->t,
             .contender = contender,
             .kernel = kernel,
             .setting = setting,
             .ground = g,
             .threads = threads};
  sum_up(&c, rows, false);
  judge_claim(&c);
  if (!c.n && c.n_busy) sum_up(&c, rows, true);
  rows->visit(rows->self, &c);
}

static bool is_first_of_kernel(const Bench *b, const Case *k) {
  for (const Case *other = b->cases; other < k; other++)
    if (strcmp(other->at.kernel, k->at.kernel) == 0) return false;
  return true;
}

static void visit_contender(const Rows *rows, const Ground *g, int threads, const char *name) {
  const Bench *b = &g->b;
  /* a row for each number of threads is there whatever rows are by */
  for (int i = 0; i < b->n_cases && (rows->t->by == BY_KERNEL || rows->t->by == BY_SETTING); i++) {
    const Case *k = &b->cases[i];
    if (rows->t->by == BY_SETTING && k->at.threads == threads)
      visit_row(rows, g, threads, name, k->at.kernel, k);
    if (rows->t->by == BY_KERNEL && is_first_of_kernel(b, k))
      visit_row(rows, g, threads, name, k->at.kernel, NULL);
  }
  visit_row(rows, g, threads, name, NULL, NULL);
}

void visit_claims(const Study *s, const Comparison *t, void (*visit)(void *self, const Claim *c),
                  void *self) {
  const Rows rows = {s, t, visit, self};
  for (int i = 0; i < s->n_grounds; i++)
    for (int j = 0; j < s->grounds[i].b.n_threads; j++)
      for (int n = 0; n < t->of.n; n++)
        visit_contender(&rows, &s->grounds[i], s->grounds[i].b.threads[j].threads, t->of.at[n]);
}

const char *verdict_name(Verdict v, bool expected) {
  static const char *const names[][2] = {[NOT_SAID] = {"", ""},
                                         [CARRIES_OVER] = {"carries over", "holds"},
                                         [DIFFERS] = {"differs", "does not hold"},
                                         [UNDECIDED] = {"undecided", "undecided"}};
  return names[v][expected];
}

/* --- sums -------------------------------------------------------------------------------------- */

Total sum_of_calls(const Study *s, const Ground *g, int threads, int plan) {
  Total t = {0};
  for (int i = 0; i < g->b.n_cases; i++) {
    const Case *k = &g->b.cases[i];
    const Held *h = k->at.threads == threads ? held(s, g, k, plan) : NULL, *none = NULL;
    bool together;
    if (k->at.threads != threads) continue;
    t.n_all++;
    pair_up(&h, &none, &together);
    if (!h) continue;
    t.n++;
    t.seconds += k->at.calls * h->f.median;
    t.busy |= h->busy;
  }
  return t;
}

/* --- errors that are expected ----------------------------------------------------------------- */

Verdict judge_failure(const Study *s, int plan, const char **message) {
  const Plan *p = &s->plans.at[plan];
  int n = 0;
  *message = "not tried yet";
  for (int i = 0; i < s->n_grounds; i++)
    for (int j = 0; j < s->grounds[i].b.n_cases; j++) {
      const Held *h = held(s, &s->grounds[i], &s->grounds[i].b.cases[j], plan);
      if (!h) continue;
      if (!h->r.code || strcmp(h->r.code, p->expect_error) != 0) {
        *message = h->r.code ? h->r.message : "it is legal";
        return DIFFERS;
      }
      *message = h->r.message;
      n++;
    }
  return n ? CARRIES_OVER : UNDECIDED;
}
