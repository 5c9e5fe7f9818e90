/* `tirc learn`: from the best schedules of a database, boosted trees that map the extents of a
 * nest's loops to what its schedule should do: widths of vectors, unrolling, tiles, whether there
 * is a cache, whether the sum is begun apart. How good they are is told by leaving whole shapes
 * out. */
#define _GNU_SOURCE
#include "learn.h"

#include "tools/bench/bench.h"
#include "tools/kit/json.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* --- reading ---------------------------------------------------------------------------------- */

typedef struct Reading {
  Lore *lore;
  const tirc_db_task *task;
  int64_t left; /* trials of the task that are still wanted */
  int n_unreadable;
} Reading;

static bool read_trial(void *self, const tirc_db_trial *t) {
  Reading *r = self;
  Facts f;
  if (isnan(t->seconds) || t->code) return true;
  if (read_facts(r->task->program, t->trace, &f, NULL) != TIRC_OK || f.n_axes == 0)
    r->n_unreadable++;
  else {
    lore_add(r->lore, r->task->machine->profile, t->seconds, &f);
    r->left--;
  }
  free_facts(&f);
  return r->left > 0;
}

/* Of each task the fastest trials, as far as they can be replayed. */
static int read_database(const LearnOptions *o, Lore *lore) {
  enum { MOST = 1 << 20 };
  tirc_db *db = NULL;
  Tasks tasks = {0};
  Reading r = {.lore = lore};
  const DbOptions all = {.asked.only = o->asked.only};
  int status = open_database(o->asked.database, TIRC_DB_READ, &db);
  if (status == DONE) status = read_tasks(&all, db, 0, &tasks);
  for (int i = 0; i < tasks.n && status == DONE; i++) {
    tirc_error *e = NULL;
    r.task = &tasks.at[i];
    r.left = o->limit ? o->limit : 1;
    if (tirc_db_trials(db, r.task->id, MOST, read_trial, &r, &e)) status = report(e);
  }
  tirc_db_close(db);
  if (status == DONE && r.n_unreadable)
    fprintf(stderr, "tirc: %d trials cannot be replayed, and are left out\n", r.n_unreadable);
  if (status == DONE && lore->n == 0)
    return complain("tirc tune makes some, tirc db import reads others'; tirc db list shows what "
                    "there is",
                    "there is nothing to learn from: the database has no trial that ran%s",
                    o->asked.only.machine || o->asked.only.threads ? " of that" : "");
  return status;
}

/* --- what is to be predicted ------------------------------------------------------------------ */

/* The program that a suite of sizes is of, unless the command line names one. */
static const char usual_program[] = "matmul.tir";

static void name_programs(Bench *b) {
  for (int i = 0; i < b->n_cases && !b->of_programs && !b->o->make.from.args.n; i++) {
    b->cases[i].text = known_program(usual_program);
    b->cases[i].file = tirc_strdup(memory, usual_program);
  }
}

static int read_shapes(Bench *b, Query *queries) {
  int status = DONE;
  for (int i = 0; i < b->n_cases && status == DONE; i++) {
    Facts f = {0};
    tirc_error *e = NULL;
    status = load_case(b, &b->cases[i]);
    if (status == DONE && read_axes(b->cases[i].program, &f, &e)) status = report(e);
    if (status == DONE) queries[i] = query_of(&f);
    free_facts(&f);
  }
  return status;
}

/* --- JSON ------------------------------------------------------------------------------------- */

static Json *json_rounded(double v) {
  char *text = tirc_format(memory, "%.4f", v);
  return isfinite(v) ? json_object_new_double_s(v, text) : NULL;
}

static Json *json_extents(const Query *q) {
  Json *list = json_object_new_array();
  for (int i = 0; q->kinds[i]; i++)
    json_object_array_add(list, json_object_new_int64(q->extents[i]));
  return list;
}

static Json *json_value(const Knob *k, double v) {
  if (isnan(v)) return NULL;
  return k->yes_no ? json_object_new_boolean(v > 0) : json_object_new_int64((int64_t)v);
}

/* {"vector_width": 32, ..., "tile": [64, 64, 8], "levels": [[64, 8], ...]}: lists by axis. */
static Json *json_knobs(const Group *g, const Query *q) {
  Json *all = json_object_new_object(), *levels = json_object_new_array();
  Json *tile = json_object_new_array();
  for (int i = 0; i < g->n_axes; i++) json_object_array_add(levels, json_object_new_array());
  for (int i = 0; i < g->n_knobs; i++) {
    const Knob *k = &g->knobs[i];
    Json *v = json_value(k, predict(g, k, q));
    if (k->axis < 0)
      add_json(all, k->name, v);
    else
      json_object_array_add(k->level ? json_object_array_get_idx(levels, (size_t)k->axis) : tile,
                            v);
  }
  add_json(all, "tile", tile);
  add_json(all, "levels", levels);
  return all;
}

static Json *json_scores(const Group *g) {
  Json *all = json_object_new_array();
  for (int i = 0; i < g->n_knobs; i++) {
    const Knob *k = &g->knobs[i];
    Json *j = json_object_new_object();
    add_text(j, "knob", k->name);
    add_bool(j, "constant", is_constant(k));
    add_int(j, "rows", k->score.n);
    if (k->yes_no) {
      add_json(j, "accuracy", json_rounded(accuracy(&k->score.trees, k->score.n)));
      add_json(j, "accuracy_of_constant", json_rounded(accuracy(&k->score.constant, k->score.n)));
    } else {
      const Errors *of[] = {&k->score.trees, &k->score.constant};
      static const char *const names[][2] = {
          {"mean_absolute_error", "mean_relative_error"},
          {"mean_absolute_error_of_constant", "mean_relative_error_of_constant"}};
      for (int n = 0; n < 2; n++) {
        add_json(j, names[n][0], json_rounded(of[n]->absolute / k->score.n));
        add_json(j, names[n][1], json_rounded(of[n]->relative / k->score.n));
      }
    }
    json_object_array_add(all, j);
  }
  return all;
}

/* b: the cases of --predict; NULL: the shapes that it was learnt from. */
static Json *json_predictions(const Group *g, const Bench *b, const Query *queries) {
  Json *all = json_object_new_array();
  const int n = b ? b->n_cases : g->n;
  for (int i = 0; i < n; i++) {
    const Query *q = b ? &queries[i] : &g->at[i].query;
    if (strcmp(q->kinds, g->kinds) != 0 || (!b && i && g->at[i].shape == g->at[i - 1].shape))
      continue;
    Json *j = json_object_new_object();
    if (b) {
      Json *sizes = json_object_new_object();
      add_setting(sizes, &b->cases[i]);
      add_text(j, "kernel", b->cases[i].at.kernel);
      add_json(j, "sizes", sizes);
    }
    add_json(j, "extents", json_extents(q));
    add_bool(j, "learnt_from", has_shape(g, q));
    add_json(j, "knobs", json_knobs(g, q));
    json_object_array_add(all, j);
  }
  return all;
}

static Json *json_group(const Group *g, const Bench *b, const Query *queries) {
  Json *j = json_object_new_object(), *axes = json_object_new_array();
  for (int i = 0; i < g->n_axes; i++) {
    Json *axis = json_object_new_object();
    add_text(axis, "name", g->axes[i]);
    add_bool(axis, "reduction", g->kinds[i] == 'R');
    json_object_array_add(axes, axis);
  }
  add_json(j, "axes", axes);
  add_int(j, "shapes", g->n_shapes);
  add_int(j, "schedules", g->n);
  add_json(j, "cross_validation", json_scores(g));
  add_json(j, "predictions", json_predictions(g, b, queries));
  return j;
}

/* {"machines": {PROFILE: [group, ...]}} */
static Json *json_lore(const Lore *lore, const Bench *b, const Query *queries) {
  Json *all = json_object_new_object(), *machines = json_object_new_object();
  for (int i = 0; i < lore->n_groups; i++) {
    const Group *g = &lore->groups[i];
    Json *list = NULL;
    if (!json_object_object_get_ex(machines, g->at[0].machine, &list)) {
      list = json_object_new_array();
      add_json(machines, g->at[0].machine, list);
    }
    json_object_array_add(list, json_group(g, b, queries));
  }
  add_json(all, "machines", machines);
  return all;
}

/* --- tables ----------------------------------------------------------------------------------- */

static void add_score(Table *t, const Knob *k, const Errors *e) {
  const int n = k->score.n;
  if (n == 0 || is_constant(k))
    add_cell(t, "-");
  else if (k->yes_no)
    add_cell(t, "right in %d of %d", n - e->wrong, n);
  else
    add_cell(t, "off by %.1f, %.0f %%", e->absolute / n, 100 * e->relative / n);
}

static void add_values(Table *t, const Knob *k) {
  const double low = k->values[0], high = k->values[k->n_values - 1];
  if (k->yes_no)
    add_cell(t, is_constant(k) ? low > 0 ? "always" : "never" : "by shape");
  else if (is_constant(k))
    add_cell(t, "always %g", low);
  else
    add_cell(t, "%g to %g", low, high);
}

static void put_group(FILE *to, const Group *g) {
  Table t = {.columns = 4};
  put_name(to, g->at[0].machine);
  fputs(": nests of", to);
  for (int i = 0; i < g->n_axes; i++) {
    fputc(' ', to);
    put_name(to, g->axes[i]);
    if (g->kinds[i] == 'R') fputs(" (sum)", to);
  }
  fprintf(to, ", %d schedule%s of %d shape%s\n", g->n, plural(g->n), g->n_shapes,
          plural(g->n_shapes));
  static const char *const heads[] = {"knob", "values", "shapes left out: the trees",
                                      "the most usual value"};
  for (int i = 0; i < t.columns; i++) add_cell(&t, "%s", heads[i]);
  for (int i = 0; i < g->n_knobs; i++) {
    const Knob *k = &g->knobs[i];
    add_cell(&t, "%s", k->name);
    add_values(&t, k);
    add_score(&t, k, &k->score.trees);
    add_score(&t, k, &k->score.constant);
  }
  put_table(to, &t);
}

static void warn_of_few(const Group *g) {
  enum { FEW = 4 };
  if (g->n_shapes < FEW)
    fprintf(stderr,
            "tirc: %s: %s: what is predicted for others is hardly more than a copy; tune more "
            "sizes\n",
            g->at[0].machine,
            g->n_shapes == 1   ? "there is one shape"
            : g->n_shapes == 2 ? "there are two shapes"
                               : "there are three shapes");
}

/* Every shape of the suite has a group, or is named. */
static int check_predictable(const char *suite, const Lore *lore, const Bench *b,
                             const Query *queries) {
  int n = 0;
  for (int i = 0; i < b->n_cases; i++) {
    bool found = false;
    for (int g = 0; g < lore->n_groups; g++)
      found |= strcmp(lore->groups[g].kinds, queries[i].kinds) == 0;
    n += found;
    if (!found)
      fprintf(stderr, "tirc: %s %s: nothing of such a nest was tuned\n", b->cases[i].at.kernel,
              b->cases[i].at.setting);
  }
  if (n) return DONE;
  return complain("tune some of its sizes first: tirc tune --suite",
                  "nothing of '%s' can be predicted", suite);
}

/* --- the command ------------------------------------------------------------------------------ */

static int put_lore(const LearnOptions *o, const Lore *lore, const Bench *b, const Query *queries) {
  FILE *to = o->asked.output && strcmp(o->asked.output, "-") == 0 ? stderr : stdout;
  for (int i = 0; i < lore->n_groups; i++) {
    if (i) fputc('\n', to);
    put_group(to, &lore->groups[i]);
    warn_of_few(&lore->groups[i]);
  }
  if (!o->asked.output) return DONE;
  return write_json(o->asked.output, json_lore(lore, b, queries), true);
}

static int learn(const LearnOptions *o, Lore *lore, Bench *b) {
  Query *queries = tirc_alloc_array(memory, (size_t)b->n_cases + 1, sizeof *queries);
  int status = read_shapes(b, queries);
  if (status == DONE && !lore_learn(lore))
    status = complain(NULL, "XGBoost's library fails, or memory is out");
  if (status == DONE && o->predict) status = check_predictable(o->predict, lore, b, queries);
  if (status == DONE) status = put_lore(o, lore, o->predict ? b : NULL, queries);
  return status;
}

int cmd_learn(LearnOptions *o) {
  const List *args = &o->asked.args;
  Lore lore = {0};
  const Running run = {.make.from.args = o->asked.args};
  Bench b = {.o = &run, .out = stdout};
  if (!has_trees())
    return complain("on Debian: apt-get install libxgboost0",
                    "tirc learn needs XGBoost's library, which is not installed");
  if (args->n && !o->predict)
    return complain("add --predict SUITE", "'%s' is the program of a suite to be predicted",
                    args->at[0]);
  int status = o->predict ? read_suite(&b, o->predict, &run.make.from.define) : DONE;
  if (status == DONE && b.of_programs && args->n)
    status = complain("leave it out", "the suite '%s' names its programs, and so does '%s'",
                      o->predict, args->at[0]);
  if (status == DONE) name_programs(&b);
  if (status == DONE) status = read_database(o, &lore);
  if (status == DONE) status = learn(o, &lore, &b);
  free_cases(&b);
  lore_free(&lore);
  return status;
}
