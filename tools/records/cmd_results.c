/* `tirc results`: what bench and studies stored, chosen and listed. */
#define _GNU_SOURCE
#include "ir/number.h"
#include "results.h"

#include "tools/kit/json.h"
#include "tools/results/database.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- reading ---------------------------------------------------------------------------------- */

static double deviation_of(const tirc_db_result *r) {
  double mean = 0, sum = 0;
  for (int i = 0; i < r->n_samples; i++) mean += r->samples[i] / r->n_samples;
  for (int i = 0; i < r->n_samples; i++) sum += (r->samples[i] - mean) * (r->samples[i] - mean);
  return r->n_samples > 1 ? sqrt(sum / (r->n_samples - 1)) : (double)NAN;
}

/* The names are those of the columns in schema.sql. */
static Json *describe(const tirc_db_result *r, const Stored *s, Json *setting, Json *more) {
  Json *j = json_object_new_object();
  add_text(j, "kernel", s->at.kernel);
  add_json(j, "setting", json_object_get(setting));
  add_text(j, "contender", s->held->name);
  add_int(j, "threads", r->threads);
  add_text(j, "target", r->target);
  add_text(j, "machine", r->machine->profile);
  add_text(j, "code", r->code);
  add_text(j, "message", r->message);
  add_known(j, "median_s", s->held->f.median);
  add_known(j, "low_s", s->held->f.low);
  add_known(j, "high_s", s->held->f.high);
  add_known(j, "min_s", s->held->f.fastest);
  add_known(j, "deviation_s", deviation_of(r));
  add_known(j, "gflops", gflops(&s->at.work, s->held->ceiling, s->held->f.median));
  add_known(j, "gbytes_per_s", gbytes(&s->at.work, s->held->ceiling, s->held->f.median));
  add_bool(j, "busy", s->held->busy);
  add_json(j, "samples", json_numbers(r->n_samples, r->samples));
  add_text(j, "measured", s->held->when);
  add_text(j, "session", r->session);
  add_text(j, "schedule_hash", r->schedule_hash);
  add_text(j, "program_hash", r->hash);
  add_conditions(j, &r->conditions);
  add_json(j, "more", json_object_get(more));
  return j;
}

static void take_setting(Setting *k, const tirc_db_result *r, Json *setting, Json *more) {
  const char *kernel = text_in(setting, "kernel"), *text = text_in(more, "setting");
  k->kernel = tirc_strdup(memory, kernel ? kernel : r->name ? r->name : r->hash);
  k->setting = tirc_strdup(memory, text ? text : "");
  k->threads = r->threads;
  k->defines =
      tirc_alloc_array(memory, (size_t)json_object_object_length(setting) + 1, sizeof *k->defines);
  json_object_object_foreach(setting, key, value) {
    if (strcmp(key, "kernel") == 0) continue;
    const char *of_size = value ? json_object_get_string(value) : "";
    k->defines[k->n_defines++] =
        (tirc_define){tirc_strdup(memory, key), tirc_strdup(memory, of_size)};
  }
}

static void free_stored(Stored *s) {
  free_held(s->held);
  json_object_put(s->all);
}

bool is_same_setting(const Stored *a, const Stored *b) {
  const tirc_db_result *x = &a->held->r, *y = &b->held->r;
  return strcmp(x->hash, y->hash) == 0 && strcmp(a->at.kernel, b->at.kernel) == 0 &&
         strcmp(a->at.setting, b->at.setting) == 0 && a->at.threads == b->at.threads &&
         strcmp(x->target, y->target) == 0 && strcmp(x->machine->profile, y->machine->profile) == 0;
}

static bool has_same_schedule(const Stored *a, const Stored *b) {
  const char *x = a->held->r.schedule_hash, *y = b->held->r.schedule_hash;
  return strcmp(x ? x : "", y ? y : "") == 0;
}

/* Results come in the order of their time: the last one counts unless it was disturbed and the
 * one before, of the same text, was not. Takes s. */
static void keep(Results *all, Stored s) {
  for (int i = 0; i < all->n; i++) {
    Stored *old = &all->at[i];
    if (!is_same_setting(old, &s) || strcmp(old->held->name, s.held->name) != 0) continue;
    all->n_older++;
    if (s.held->busy > old->held->busy && has_same_schedule(old, &s)) {
      s.held->older = old->held->older;
      old->held->older = s.held;
      s.held = NULL;
      free_stored(&s);
    } else {
      if (has_same_schedule(old, &s)) {
        s.held->older = old->held;
        old->held = NULL;
      }
      free_stored(old);
      *old = s;
    }
    return;
  }
  *one_more(all->at, all->n) = s;
}

static bool is_wanted(const ResultsOptions *o, const char *kernel) {
  for (int i = 0; i < o->kernel.n; i++)
    if (strcmp(o->kernel.at[i], kernel) == 0) return true;
  return !o->kernel.n;
}

static bool read_one(void *self, const tirc_db_result *r) {
  Results *all = self;
  Json *more = r->more ? json_tokener_parse(r->more) : NULL;
  Json *setting = r->setting ? json_tokener_parse(r->setting) : NULL;
  Stored s = {0};
  bool ok = json_object_is_type(setting, json_type_object);
  if (ok) take_setting(&s.at, r, setting, more);
  const char *name = tirc_format(
      memory, "%s%s", r->contender,
      number_in(more, "packed_ahead") && !strstr(r->contender, "packed ahead") ? " (packed ahead)"
                                                                               : "");
  s.held = hold_result(&s.at.work, name, ceiling_named(name), r, more);
  ok = ok && s.held && is_wanted(all->o, s.at.kernel);
  if (ok) s.all = describe(r, &s, setting, more);
  json_object_put(more);
  json_object_put(setting);
  if (ok)
    keep(all, s);
  else
    free_stored(&s);
  return true;
}

/* --- choosing and ordering -------------------------------------------------------------------- */

const char *dimension(const Stored *s, const char *name, char *buffer, size_t size) {
  if (strcmp(name, "contender") == 0 || strcmp(name, "variant") == 0) return s->held->name;
  if (strcmp(name, "kernel") == 0) return s->at.kernel;
  if (strcmp(name, "target") == 0) return s->held->r.target;
  if (strcmp(name, "machine") == 0) return s->held->r.machine->profile;
  if (strcmp(name, "threads") == 0) {
    snprintf(buffer, size, "%d", s->at.threads);
    return buffer;
  }
  for (int i = 0; i < s->at.n_defines; i++)
    if (strcmp(s->at.defines[i].name, name) == 0) return s->at.defines[i].value;
  return NULL;
}

int compare_values(const char *a, const char *b) {
  char *end_a, *end_b;
  const double x = tirc_parse_double(a, &end_a), y = tirc_parse_double(b, &end_b);
  if (end_a > a && !*end_a && end_b > b && !*end_b) return (x > y) - (x < y);
  return strcmp(a, b);
}

/* Kernels by name, their sizes by value, and so on; contenders in the order of their results. */
static int compare_stored(const void *a, const void *b) {
  const Stored *x = a, *y = b;
  const tirc_db_result *of = &x->held->r, *than = &y->held->r;
  int c = strcmp(x->at.kernel, y->at.kernel);
  for (int i = 0; !c && i < x->at.n_defines && i < y->at.n_defines; i++)
    c = compare_values(x->at.defines[i].value, y->at.defines[i].value);
  if (!c) c = x->at.threads - y->at.threads;
  if (!c) c = strcmp(of->target, than->target);
  if (!c) c = strcmp(of->machine->profile, than->machine->profile);
  if (!c) c = (of->created > than->created) - (of->created < than->created);
  return c;
}

/* --- the list --------------------------------------------------------------------------------- */

static void add_figure(Table *t, double v, int digits) {
  if (isfinite(v) && v != 0)
    add_cell(t, "%.*f", digits, v);
  else
    add_cell(t, "-");
}

/* As many digits as short ones need. */
static void add_ms(Table *t, double seconds, const char *mark) {
  const double ms = 1e3 * seconds;
  if (!isfinite(ms) || ms == 0)
    add_cell(t, t->style == CSV ? "" : "-");
  else
    add_cell(t, t->style == CSV ? "%.6g%s" : ms < 0.1 ? "%.4g%s" : "%.4f%s", ms, mark);
}

TableStyle style_of(const ResultsOptions *o) {
  return o->asked.csv ? CSV : o->md ? MARKDOWN : o->latex ? LATEX : ALIGNED;
}

/* Whether all say the same of it, so that a note may. */
static bool is_common(const Results *r, const char *name) {
  char first[32], other[32];
  const char *one = dimension(&r->at[0], name, first, sizeof first);
  for (int i = 1; i < r->n; i++)
    if (strcmp(one, dimension(&r->at[i], name, other, sizeof other)) != 0) return false;
  return true;
}

/* Milliseconds, or of short ones microseconds: what a second is multiplied with. */
static double choose_unit(const Results *r, const char **name) {
  double most = 0;
  for (int i = 0; i < r->n; i++) most = fmax(most, r->at[i].held->f.median);
  *name = most >= 1e-3 ? "ms" : "us";
  return most >= 1e-3 ? 1e3 : 1e6;
}

/* A column of a paper has room for what differs, and as many digits as the intervals allow. */
static void put_list_for_papers(const Results *r) {
  static const char *const names[] = {"kernel", "threads", "target", "machine"};
  enum { N = sizeof names / sizeof *names };
  const char *note = note_of(r), *unit_name;
  const double unit = choose_unit(r, &unit_name);
  char buffer[32], rounded[INTERVAL_TEXT], *under = NULL;
  bool common[N];
  Table t = {.style = LATEX, .columns = 4};
  for (int k = 0; k < N; k++) {
    common[k] = is_common(r, names[k]);
    t.columns += !common[k];
    if (common[k])
      under = tirc_format(memory, "%s%s %s; ", under ? under : "", names[k],
                          dimension(&r->at[0], names[k], buffer, sizeof buffer));
  }
  t.right = 3u << (t.columns - 2);
  t.note = tirc_format(memory, "%s± the larger half of the 95 %% interval%s%s", under ? under : "",
                       note ? ". " : "", note ? note : "");
  for (int k = 0; k < N; k++)
    if (!common[k]) add_cell(&t, "%s", names[k]);
  add_cell(&t, "setting");
  add_cell(&t, "contender");
  add_cell(&t, "%s", unit_name);
  add_cell(&t, "GFLOP/s");
  for (int i = 0; i < r->n; i++) {
    const Stored *s = &r->at[i];
    const tirc_figures *f = &s->held->f;
    const double rate = gflops(&s->at.work, s->held->ceiling, f->median);
    for (int k = 0; k < N; k++)
      if (!common[k]) add_cell(&t, "%s", dimension(s, names[k], buffer, sizeof buffer));
    add_cell(&t, "%s", s->at.setting);
    add_cell(&t, "%s", s->held->name);
    if (s->held->r.code)
      add_cell(&t, "%s", s->held->r.code);
    else
      add_cell(&t, "%s%s", rounded_text(rounded, unit * f->median, unit * f->low, unit * f->high),
               s->held->busy ? "*" : "");
    if (rate > 0 && isfinite(rate))
      add_cell(&t, "%s",
               rounded_text(rounded, rate, rate * f->median / f->high, rate * f->median / f->low));
    else
      add_cell(&t, "-");
  }
  put_table(stdout, &t);
}

static void put_list(const Results *r) {
  static const char *const heads[] = {
      "kernel", "setting",      "threads", "target",  "contender", "median ms", "low ms", "high ms",
      "min ms", "deviation ms", "GFLOP/s", "samples", "measured",  "machine",   "busy",   "code"};
  enum { ALL = sizeof heads / sizeof *heads, FOR_PEOPLE = ALL - 2 };
  const bool csv = r->o->asked.csv;
  Table t = {.style = style_of(r->o),
             .columns = csv ? ALL : FOR_PEOPLE,
             .right = 1 << 2 | 0xfe0,
             .note = note_of(r)};
  for (int i = 0; i < t.columns; i++) add_cell(&t, "%s", heads[i]);
  for (int i = 0; i < r->n; i++) {
    const Stored *s = &r->at[i];
    const tirc_figures *f = &s->held->f;
    const char *code = s->held->r.code;
    add_cell(&t, "%s", s->at.kernel);
    add_cell(&t, "%s", s->at.setting);
    add_cell(&t, "%d", s->at.threads);
    add_cell(&t, "%s", s->held->r.target);
    add_cell(&t, "%s", s->held->name);
    if (code) {
      add_cell(&t, "%s", csv ? "" : code);
      for (int j = 6; j < 11; j++) add_cell(&t, "%s", csv ? "" : "-");
    } else {
      add_ms(&t, f->median, !csv && s->held->busy ? "*" : "");
      add_ms(&t, f->low, "");
      add_ms(&t, f->high, "");
      add_ms(&t, f->fastest, "");
      add_ms(&t, number_in(s->all, "deviation_s"), "");
      add_figure(&t, gflops(&s->at.work, s->held->ceiling, f->median), 2);
    }
    Json *samples = NULL;
    json_object_object_get_ex(s->all, "samples", &samples);
    add_cell(&t, "%d", samples ? (int)json_object_array_length(samples) : 0);
    add_cell(&t, "%s", s->held->when);
    add_cell(&t, "%s", s->held->r.machine->profile);
    if (!csv) continue;
    add_cell(&t, "%d", s->held->busy);
    add_cell(&t, "%s", code ? code : "");
  }
  put_table(stdout, &t);
}

static int put_json(const Results *r, const char *database) {
  Json *j = json_object_new_object(), *list = json_object_new_array();
  add_text(j, "database", database);
  for (int i = 0; i < r->n; i++) json_object_array_add(list, json_object_get(r->at[i].all));
  add_json(j, "results", list);
  return write_json(NULL, j, true);
}

const char *note_of(const Results *r) {
  for (int i = 0; i < r->n; i++)
    if (r->at[i].held->busy && !r->at[i].held->r.code)
      return "* measured while other processes or a falling clock disturbed the machine";
  return NULL;
}

/* What the stars mean, and what is not shown. */
static void put_notes(const Results *r) {
  const char *note = note_of(r);
  if (style_of(r->o) != ALIGNED) return;
  if (note) puts(note);
  if (r->n_older)
    printf("%d older or more disturbed result%s of the same are not shown\n", r->n_older,
           plural(r->n_older));
}

/* --- the command ------------------------------------------------------------------------------ */

static int check_options(const ResultsOptions *o) {
  if (o->asked.as_json + o->asked.csv + o->md + o->latex > 1)
    return complain(NULL, "--json, --csv, --md or --latex, one of them");
  if (o->against && !o->pivot && !o->plot)
    return complain("add --pivot variant,M", "--against needs --pivot or --plot");
  return DONE;
}

static int put_answer(const Results *r, const char *database) {
  if (r->o->pivot) {
    const int status = put_pivot(r);
    if (status != DONE || r->o->asked.as_json) return status;
  } else if (r->o->asked.as_json) {
    return put_json(r, database);
  } else if (r->o->latex) {
    put_list_for_papers(r);
  } else {
    put_list(r);
  }
  put_notes(r);
  return DONE;
}

static int put_results(const Results *r, const char *database) {
  const ResultsOptions *o = r->o;
  if (!r->n)
    return complain(
        o->kernel.n || o->asked.only.machine || o->asked.only.target || o->asked.only.threads
            ? "`tirc results` without --kernel, --machine, --target and --for-threads lists "
              "what there is"
            : "`tirc bench PROG SCHED --store` and `tirc study` store results",
        "no results in %s", database);
  if (o->plot) return draw_results(r);
  NewFile to = begin_output(o->asked.output);
  return end_output(o->asked.output, &to, to.f ? put_answer(r, database) : BAD);
}

int cmd_results(ResultsOptions *o) {
  Results r = {.o = o};
  tirc_db *db = NULL;
  tirc_error *e = NULL;
  int status = check_options(o);
  if (status == DONE) status = open_database(o->asked.database, TIRC_DB_READ, &db);
  if (status != DONE) return status;
  if (tirc_db_results(db, &o->asked.only, NULL, read_one, &r, &e)) status = report(e);
  if (r.n) qsort(r.at, (size_t)r.n, sizeof *r.at, compare_stored);
  if (status == DONE) status = put_results(&r, tirc_db_name(db));
  for (int i = 0; i < r.n; i++) free_stored(&r.at[i]);
  tirc_db_close(db);
  return status;
}
