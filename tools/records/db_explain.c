/* `tirc db explain`: what the best schedules do, how often, and what goes with speed. */
#define _GNU_SOURCE
#include "db.h"
#include "fact_words.h"
#include "tools/kit/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 18 }; /* columns for names before a list of values */

typedef struct Row { /* the best trial of a task */
  const tirc_db_task *task;
  char id[40];
  double seconds;
  Facts facts;
} Row;

/* All trials in which something that is counted had one value: their times over the best of their
 * tasks. */
typedef struct Share {
  int of; /* a number for each name, in the order in which they came */
  char name[48], value[64];
  int n_best, n;     /* best trials, all trials */
  double logarithms; /* of the times, summed up */
} Share;

typedef struct Explained {
  const DbOptions *o;
  int n, n_trials, n_shares;
  Row *rows;
  Share *shares;
  const tirc_db_task *task; /* the one that is being read */
  double best;
  int n_unreadable; /* trials whose trace means nothing here */
} Explained;

/* --- counting --------------------------------------------------------------------------------- */

static Share *share_of(Explained *x, const char *name, const char *value) {
  int of = -1, most = -1;
  for (int i = 0; i < x->n_shares; i++) {
    Share *s = &x->shares[i];
    if (s->of > most) most = s->of;
    if (strcmp(s->name, name) != 0) continue;
    if (strcmp(s->value, value) == 0) return s;
    of = s->of;
  }
  Share *s = one_more(x->shares, x->n_shares);
  *s = (Share){.of = of < 0 ? most + 1 : of};
  snprintf(s->name, sizeof s->name, "%s", name);
  snprintf(s->value, sizeof s->value, "%s", value);
  return s;
}

static void count_value(Explained *x, const char *name, const char *value, double ratio,
                        bool best) {
  Share *s = share_of(x, name, value);
  s->n++;
  s->n_best += best;
  s->logarithms += log(ratio);
}

static void count_number(Explained *x, const char *what, const Axis *a, int64_t v, double ratio,
                         bool best) {
  char name[80], value[32];
  snprintf(name, sizeof name, "%s %s", what, a->name);
  snprintf(value, sizeof value, "%lld", (long long)v);
  count_value(x, name, value, ratio, best);
}

/* Each column that is one value, and for each axis its tile and its innermost split. */
static void count_facts(Explained *x, const Facts *f, double ratio, bool best) {
  for (int i = 0; i < f->n_axes; i++) {
    const Axis *a = &f->axes[i];
    count_number(x, "tile of", a, a->tile, ratio, best);
    count_number(x, "innermost", a, a->levels[a->n - 1].extent, ratio, best);
  }
  for (int k = 1; k < N_FACT_WORDS && fact_words[k].compact; k++) {
    char value[400];
    fact_words[k].put(f, value, sizeof value);
    value[63] = 0;
    count_value(x, fact_words[k].name, value, ratio, best);
  }
}

/* --- reading ---------------------------------------------------------------------------------- */

static void keep_row(Explained *x, const tirc_db_trial *t, const Facts *f) {
  Row *r = one_more(x->rows, x->n);
  *r = (Row){.task = x->task, .seconds = t->seconds, .facts = *f};
  snprintf(r->id, sizeof r->id, "%s", t->id);
}

static bool read_trial(void *self, const tirc_db_trial *t) {
  Explained *x = self;
  Facts f;
  if (isnan(t->seconds) || t->code) return true;
  const bool best = isnan(x->best);
  if (read_facts(x->task->program, t->trace, &f, NULL) != TIRC_OK) {
    x->n_unreadable++;
    free_facts(&f);
    return true;
  }
  if (best) x->best = t->seconds;
  x->n_trials++;
  count_facts(x, &f, t->seconds / x->best, best);
  if (best)
    keep_row(x, t, &f);
  else
    free_facts(&f);
  return true;
}

static int read_rows(Explained *x, tirc_db *db, const Tasks *tasks) {
  enum { SOME = 64 };
  const int64_t limit = x->o->limit ? x->o->limit : SOME;
  for (int i = 0; i < tasks->n; i++) {
    tirc_error *e = NULL;
    x->task = &tasks->at[i];
    x->best = (double)NAN;
    if (tirc_db_trials(db, x->task->id, limit, read_trial, x, &e)) return report(e);
  }
  return DONE;
}

static int compare_shares(const void *a, const void *b) {
  const Share *x = a, *y = b;
  if (x->of != y->of) return x->of - y->of;
  if (x->n_best != y->n_best) return y->n_best - x->n_best;
  return strcmp(x->value, y->value);
}

static const char *name_of_task(const tirc_db_task *t) { return t->name ? t->name : t->hash; }

/* --- views ------------------------------------------------------------------------------------ */

static void start_table(Table *t, int n_knobs, const int *which) {
  t->columns = 2 + n_knobs;
  t->right = 1u << 1;
  add_cell(t, "program");
  add_cell(t, "best ms");
  for (int i = 0; i < n_knobs; i++) add_cell(t, "%s", fact_words[which[i]].name);
}

static void put_columns(const Explained *x, int n_knobs, const int *which) {
  Table t = {.style = x->o->asked.csv ? CSV : ALIGNED};
  start_table(&t, n_knobs, which);
  for (int r = 0; r < x->n; r++) {
    add_cell(&t, "%s", name_of_task(x->rows[r].task));
    add_cell(&t, "%.4f", 1e3 * x->rows[r].seconds);
    for (int i = 0; i < n_knobs; i++) {
      char value[400];
      fact_words[which[i]].put(&x->rows[r].facts, value, sizeof value);
      add_cell(&t, "%s", value);
    }
  }
  put_table(stdout, &t);
}

static void put_compact(const Explained *x) {
  int which[N_FACT_WORDS], n = 0;
  for (int k = 0; k < N_FACT_WORDS; k++)
    if (fact_words[k].compact) which[n++] = k;
  put_columns(x, n, which);
}

static int width_of_column(const Explained *x, int knob) {
  size_t width = strlen(fact_words[knob].name);
  for (int r = 0; r < x->n; r++) {
    char value[400];
    fact_words[knob].put(&x->rows[r].facts, value, sizeof value);
    if (strlen(value) > width) width = strlen(value);
  }
  return (int)width + 2;
}

/* All columns, in pages that fit the width; as CSV in one. */
static void put_wide(const Explained *x) {
  size_t name = strlen("program");
  for (int r = 0; r < x->n; r++)
    if (strlen(name_of_task(x->rows[r].task)) > name) name = strlen(name_of_task(x->rows[r].task));
  const int first = (int)name + 2 + 10, most = text_width(stdout);
  for (int k = 0; k < N_FACT_WORDS;) {
    int which[N_FACT_WORDS], n = 0, width = first;
    if (k && !x->o->asked.csv) putchar('\n');
    do {
      width += width_of_column(x, k);
      which[n++] = k++;
    } while (k < N_FACT_WORDS && (x->o->asked.csv || width + width_of_column(x, k) <= most));
    put_columns(x, n, which);
  }
}

static bool changes_program(const tirc_step *s) { return !s->error && s->before != s->after; }

static void put_long(const Explained *x) {
  Table t = {.style = x->o->asked.csv ? CSV : ALIGNED, .columns = 5, .right = 1u << 1 | 1u << 2};
  const char *const heads[] = {"program", "best ms", "step", "transformation", "call"};
  for (int i = 0; i < t.columns; i++) add_cell(&t, "%s", heads[i]);
  for (int r = 0; r < x->n; r++)
    for (int i = 0, n = 0; i < tirc_steps_count(x->rows[r].facts.steps); i++) {
      const tirc_step *s = tirc_steps_at(x->rows[r].facts.steps, i);
      if (!changes_program(s)) continue;
      add_cell(&t, "%s", name_of_task(x->rows[r].task));
      add_cell(&t, "%.4f", 1e3 * x->rows[r].seconds);
      add_cell(&t, "%d", ++n);
      add_cell(&t, "%s", s->primitive);
      add_cell(&t, "%s", s->call);
    }
  put_table(stdout, &t);
}

/* --- frequencies, and what goes with speed ---------------------------------------------------- */

static int shares_until(const Share *s, int from, int n) {
  int to = from;
  while (to < n && s[to].of == s[from].of) to++;
  return to;
}

static void put_names_row(const char *name, const char *line) {
  char *head = shown_name(name), *text = shown_name(line);
  if (head && text) put_row(stdout, NAMES, head, text);
}

/* vector: 16 in 12, 32 in 5 */
static void put_frequencies(const Explained *x) {
  printf("\nhow often, in the best schedules of %d programs:\n", x->n);
  for (int i = 0, end; i < x->n_shares; i = end) {
    char *line = NULL;
    size_t n = 0;
    FILE *f = begin_text(&line, &n);
    end = shares_until(x->shares, i, x->n_shares);
    for (int k = i; k < end && x->shares[k].n_best; k++)
      fprintf(f, "%s%s in %d", k > i ? ", " : "", x->shares[k].value, x->shares[k].n_best);
    put_names_row(x->shares[i].name, end_text(f, &line));
  }
}

/* Values that are rare tell nothing. */
enum { ENOUGH = 5 };

static double mean_time(const Share *s) { return exp(s->logarithms / s->n); }

static int by_time(const void *a, const void *b) {
  const Share *x = a, *y = b;
  return (mean_time(x) > mean_time(y)) - (mean_time(x) < mean_time(y));
}

typedef struct Spread { /* one thing that is counted: its values that are not rare, by time */
  int n;
  const Share *at;
} Spread;

static double width_of(const Spread *s) {
  return s->n ? mean_time(&s->at[s->n - 1]) / mean_time(&s->at[0]) : 0;
}

static int by_width(const void *a, const void *b) {
  const double x = width_of(a), y = width_of(b);
  return (x < y) - (x > y);
}

/* The best values and the worst one. */
static void put_spread(const Spread *s) {
  enum { SHOWN = 4 };
  char line[300];
  size_t n = 0;
  for (int i = 0; i < s->n && n < sizeof line; i++)
    if (i < SHOWN || i + 1 == s->n)
      n += (size_t)snprintf(line + n, sizeof line - n, "%s%s (%.2f)",
                            i == 0                          ? ""
                            : i > SHOWN && s->n > SHOWN + 1 ? " ... "
                                                            : ", ",
                            s->at[i].value, mean_time(&s->at[i]));
  put_names_row(s->at[0].name, line);
}

static void put_speeds(const Explained *x) {
  Share *common = tirc_alloc_array(memory, (size_t)x->n_shares + 1, sizeof *common);
  Spread *spreads = tirc_alloc_array(memory, (size_t)x->n_shares + 1, sizeof *spreads);
  int n = 0, n_spreads = 0;
  for (int i = 0; common && i < x->n_shares; i++)
    if (x->shares[i].n >= ENOUGH) common[n++] = x->shares[i];
  for (int i = 0, end; common && spreads && i < n; i = end) {
    end = shares_until(common, i, n);
    qsort(&common[i], (size_t)(end - i), sizeof *common, by_time);
    if (end - i > 1) spreads[n_spreads++] = (Spread){end - i, &common[i]};
  }
  if (spreads) qsort(spreads, (size_t)n_spreads, sizeof *spreads, by_width);
  if (n_spreads)
    printf("\nwhat goes with speed, in %d trials (mean time over the best of the same program, of "
           "values in %d trials or more; no proof of a cause):\n",
           x->n_trials, ENOUGH);
  for (int i = 0; i < n_spreads; i++) put_spread(&spreads[i]);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void add_word(Json *j, const char *key, const char *text) {
  add_text(j, key, *text ? text : NULL);
}

static Json *json_axes(const Facts *f) {
  Json *axes = json_object_new_array();
  for (int i = 0; i < f->n_axes; i++) {
    const Axis *a = &f->axes[i];
    Json *j = json_object_new_object(), *levels = json_object_new_array();
    add_word(j, "name", a->name);
    add_int(j, "extent", a->extent);
    add_bool(j, "reduction", a->reduction);
    for (int k = 0; k < a->n; k++)
      json_object_array_add(levels, json_object_new_int64(a->levels[k].extent));
    add_json(j, "levels", levels);
    add_int(j, "tile", a->tile);
    json_object_array_add(axes, j);
  }
  return axes;
}

static Json *json_calls(const Facts *f) {
  Json *calls = json_object_new_array();
  for (int i = 0; i < tirc_steps_count(f->steps); i++) {
    const tirc_step *s = tirc_steps_at(f->steps, i);
    if (!changes_program(s)) continue;
    Json *j = json_object_new_object();
    add_word(j, "transformation", s->primitive);
    add_word(j, "call", s->call);
    json_object_array_add(calls, j);
  }
  return calls;
}

static Json *json_row(const Row *r) {
  Json *j = json_object_new_object();
  const Facts *f = &r->facts;
  add_word(j, "program", name_of_task(r->task));
  add_word(j, "task", r->task->id);
  add_word(j, "trial", r->id);
  add_word(j, "target", r->task->target);
  add_int(j, "threads", r->task->threads);
  add_word(j, "machine", r->task->machine->profile);
  add_number(j, "seconds", r->seconds);
  add_json(j, "axes", json_axes(f));
  add_word(j, "order", f->order);
  add_int(j, "vector_width", f->vector_width);
  add_int(j, "unroll_factor", f->unroll);
  add_int(j, "parallel_extent", f->parallel);
  add_word(j, "cache_write", f->cache_writes);
  add_word(j, "cache_read", f->cache_reads);
  add_word(j, "computed_at", f->computed_at);
  add_word(j, "decomposed_at", f->decomposed_at);
  add_json(j, "transformations", json_calls(f));
  return j;
}

static int put_json(const Explained *x) {
  Json *all = json_object_new_object(), *best = json_object_new_array();
  Json *values = json_object_new_array();
  for (int i = 0; i < x->n; i++) json_object_array_add(best, json_row(&x->rows[i]));
  for (int i = 0; i < x->n_shares; i++) {
    const Share *s = &x->shares[i];
    Json *j = json_object_new_object();
    add_word(j, "of", s->name);
    add_word(j, "value", s->value);
    add_int(j, "best_schedules", s->n_best);
    add_int(j, "trials", s->n);
    add_number(j, "mean_time_over_best", mean_time(s));
    json_object_array_add(values, j);
  }
  add_json(all, "best", best);
  add_json(all, "values", values);
  add_int(all, "trials", x->n_trials);
  return write_json(NULL, all, false);
}

/* --- the command ------------------------------------------------------------------------------ */

static const struct {
  const char *name;
  void (*put)(const Explained *x);
} views[] = {{"compact", put_compact}, {"long", put_long}, {"wide", put_wide}};
enum { N_VIEWS = sizeof views / sizeof *views };

static int find_view(const DbOptions *o) {
  for (int i = 0; i < N_VIEWS; i++)
    if (!o->view || strcmp(o->view, views[i].name) == 0) return i;
  complain("write --view=compact, long or wide", "there is no view '%s'", o->view);
  return -1;
}

static int put_explained(Explained *x, int view) {
  if (!x->n)
    return complain("tirc tune makes some, tirc db import reads others'; tirc db list shows "
                    "what there is",
                    "the database has no trial that ran%s",
                    x->o->asked.args.n > 1 ? " of that" : "");
  qsort(x->shares, (size_t)x->n_shares, sizeof *x->shares, compare_shares);
  if (x->o->asked.as_json) return put_json(x);
  views[view].put(x);
  if (x->o->asked.csv) return DONE;
  if (x->n_unreadable)
    printf("\n%d trials cannot be replayed, and are left out\n", x->n_unreadable);
  put_frequencies(x);
  put_speeds(x);
  return DONE;
}

int db_explain(const DbOptions *o, tirc_db *db) {
  Explained x = {.o = o};
  Tasks tasks = {0};
  const int view = find_view(o);
  if (view < 0) return BAD;
  int status = read_tasks(o, db, 1, &tasks);
  if (status == DONE) status = read_rows(&x, db, &tasks);
  if (status == DONE) status = put_explained(&x, view);
  for (int i = 0; i < x.n; i++) free_facts(&x.rows[i].facts);
  return status;
}
