/* `tirc db list`, `show` and `best`. */
#define _GNU_SOURCE
#include "db.h"
#include "tools/kit/json.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum { SHORT = 10 }; /* digits of an id that people see; as many as are unique would do */

static void add_time(Table *t, double when) {
  char text[40] = "-";
  const time_t seconds = (time_t)when;
  struct tm parts;
  if (!isnan(when) && localtime_r(&seconds, &parts))
    strftime(text, sizeof text, "%Y-%m-%d %H:%M", &parts);
  add_cell(t, "%s", text);
}

/* Milliseconds: four places for people, nine digits for programs. */
static void add_ms(Table *t, bool whole, double seconds) {
  if (isnan(seconds))
    add_cell(t, "-");
  else
    add_cell(t, whole ? "%.9g" : "%.4f", 1e3 * seconds);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void put_parsed(Json *j, const char *key, const char *text) {
  add_json(j, key, text ? json_tokener_parse(text) : NULL);
}

static Json *task_as_json(const tirc_db_task *t, bool whole) {
  Json *j = json_object_new_object();
  add_text(j, "task", t->id);
  add_text(j, "name", t->name);
  add_text(j, "hash", t->hash);
  add_text(j, "target", t->target);
  add_int(j, "threads", t->threads);
  add_text(j, "machine", t->machine->profile);
  add_int(j, "queued", t->n_queued);
  add_int(j, "running", t->n_running);
  add_int(j, "done", t->n_done);
  add_int(j, "failed", t->n_failed);
  add_number(j, "best_seconds", t->best);
  add_number(j, "created", t->created);
  add_number(j, "latest", t->latest);
  if (!whole) return j;
  put_parsed(j, "machine_description", t->machine->description);
  add_text(j, "program", t->program);
  return j;
}

static Json *trial_as_json(const tirc_db_trial *t) {
  static const char *const states[] = {"done", "queued", "running"};
  Json *j = json_object_new_object();
  add_text(j, "trial", t->id);
  add_text(j, "state", states[t->state]);
  add_text(j, "code", t->code);
  add_text(j, "message", t->message);
  add_number(j, "seconds", t->seconds);
  add_json(j, "samples", json_numbers(t->n_samples, t->samples));
  add_number(j, "predicted", t->predicted);
  add_conditions(j, &t->conditions);
  add_text(j, "source", t->source);
  add_int(j, "attempts", t->attempts);
  add_text(j, "worker", t->worker);
  add_number(j, "created", t->created);
  add_number(j, "finished", t->finished);
  put_parsed(j, "more", t->more);
  put_parsed(j, "trace", t->trace);
  return j;
}

/* --- list ------------------------------------------------------------------------------------- */

static void add_head(Table *t, int n, const char *const *names) {
  t->columns = n;
  for (int i = 0; i < n; i++) add_cell(t, "%s", names[i]);
}

static void put_task_table(const DbOptions *o, const Tasks *tasks) {
  static const char *const head[] = {"task",   "program", "target",  "threads", "machine",
                                     "trials", "failed",  "waiting", "best ms", "latest"};
  Table t = {.style = o->asked.csv ? CSV : ALIGNED,
             .right = 1 << 3 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 8};
  add_head(&t, 10, head);
  for (int i = 0; i < tasks->n; i++) {
    const tirc_db_task *k = &tasks->at[i];
    add_cell(&t, "%.*s", o->asked.csv ? 32 : SHORT, k->id);
    if (k->name)
      add_cell(&t, "%s", k->name);
    else
      add_cell(&t, "%.*s", o->asked.csv ? 32 : SHORT, k->hash);
    add_cell(&t, "%s", k->target);
    add_cell(&t, "%d", k->threads);
    add_cell(&t, "%s", k->machine->profile);
    add_cell(&t, "%lld", (long long)k->n_done);
    add_cell(&t, "%lld", (long long)k->n_failed);
    add_cell(&t, "%lld", (long long)(k->n_queued + k->n_running));
    add_ms(&t, o->asked.csv, k->best);
    add_time(&t, k->latest);
  }
  put_table(stdout, &t);
}

int db_list(const DbOptions *o, tirc_db *db) {
  Tasks tasks = {0};
  int status = read_tasks(o, db, 1, &tasks);
  if (status == DONE && o->asked.as_json) {
    Json *j = json_object_new_object(), *list = json_object_new_array();
    add_text(j, "database", tirc_db_name(db));
    for (int i = 0; i < tasks.n; i++)
      json_object_array_add(list, task_as_json(&tasks.at[i], false));
    add_json(j, "tasks", list);
    status = write_json(NULL, j, true);
  } else if (status == DONE && (tasks.n || o->asked.csv)) {
    put_task_table(o, &tasks);
  } else if (status == DONE) {
    printf("%s: no tasks%s\n", tirc_db_name(db), o->asked.args.n > 1 ? " of that program" : "");
  }
  return status;
}

/* --- show ------------------------------------------------------------------------------------- */

typedef struct Trials {
  Table table;
  bool whole;
} Trials;

static bool add_trial(void *self, const tirc_db_trial *t) {
  Trials *trials = self;
  Table *table = &trials->table;
  add_cell(table, "%.*s", trials->whole ? 32 : SHORT, t->id);
  add_ms(table, trials->whole, t->seconds);
  add_cell(table, "%d", t->n_samples);
  double worst = NAN, least = NAN;
  for (int i = 0; i < t->n_samples; i++) {
    worst = fmax(worst, t->samples[i]);
    least = fmin(least, t->samples[i]);
  }
  add_ms(table, trials->whole, least);
  add_ms(table, trials->whole, worst);
  add_time(table, t->finished);
  const char *state = t->state == TIRC_DB_DONE     ? "ran"
                      : t->state == TIRC_DB_QUEUED ? "waiting"
                                                   : "running";
  add_cell(table, "%s", t->code ? t->code : state);
  return true;
}

static bool add_trial_json(void *self, const tirc_db_trial *t) {
  json_object_array_add(self, trial_as_json(t));
  return true;
}

/* One task is an object, several are the list "tasks" of one. */
static int show_tasks_json(const DbOptions *o, tirc_db *db, const Tasks *tasks) {
  Json *all = json_object_new_array();
  tirc_error *e = NULL;
  for (int i = 0; i < tasks->n && !e; i++) {
    Json *j = task_as_json(&tasks->at[i], true), *list = json_object_new_array();
    add_json(j, "trials", list);
    json_object_array_add(all, j);
    (void)tirc_db_trials(db, tasks->at[i].id, o->limit, add_trial_json, list, &e);
  }
  if (e) {
    json_object_put(all);
    return report(e);
  }
  Json *out =
      tasks->n == 1 ? json_object_get(json_object_array_get_idx(all, 0)) : json_object_new_object();
  if (tasks->n > 1) add_json(out, "tasks", json_object_get(all));
  json_object_put(all);
  return write_json(NULL, out, true);
}

/* What people wrote steers no terminal. */
static void put_words(const char *first, const char *then) {
  put_name(stdout, first);
  fputs(then, stdout);
}

static int show_task(const DbOptions *o, tirc_db *db, const tirc_db_task *k) {
  static const char *const head[] = {"trial",  "median ms", "samples", "min ms",
                                     "max ms", "finished",  "outcome"};
  enum { A_SCREEN = 20 };
  const TableStyle style = o->asked.csv ? CSV : ALIGNED;
  Trials t = {{.style = style, .right = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4}, o->asked.csv};
  tirc_error *e = NULL;
  add_head(&t.table, 7, head);
  if (!o->asked.csv) {
    printf("task %s\n", k->id);
    put_words(k->name ? k->name : "no name", ", program ");
    put_words(k->hash, "\nfor ");
    put_name(stdout, k->target);
    printf(", %d thread%s, machine ", k->threads, plural(k->threads));
    put_words(k->machine->profile, "\n");
    printf("%lld trials, %lld of them failed, %lld waiting or running\n\n", (long long)k->n_done,
           (long long)k->n_failed, (long long)(k->n_queued + k->n_running));
  }
  const int64_t limit = o->limit ? o->limit : o->asked.csv ? 0 : A_SCREEN;
  const tirc_status status = tirc_db_trials(db, k->id, limit, add_trial, &t, &e);
  const int shown = t.table.n / t.table.columns - 1;
  put_table(stdout, &t.table);
  if (status != TIRC_OK) return report(e);
  const long long left = (long long)(k->n_done + k->n_queued + k->n_running) - shown;
  if (left > 0 && !o->asked.csv) printf("and %lld more (--limit N)\n", left);
  return DONE;
}

/* --- the calls that a trial amounts to -------------------------------------------------------- */

static int task_of_trial(tirc_db *db, const char *id, Tasks *out) {
  DbOptions only = {.asked.args = {2, (const char *[]){"show", id}}};
  const int status = read_tasks(&only, db, 1, out);
  return status != DONE || out->n ? status : complain(NULL, "the database has no task %s", id);
}

/* *program (or NULL) is the unscheduled one. */
static int script_of(const tirc_db_task *k, const tirc_db_trial *t, tirc_module **program,
                     char **script) {
  tirc_module *m = NULL, *made = NULL;
  tirc_error *e = NULL;
  int status = DONE;
  if (tirc_module_parse(k->program, strlen(k->program), "program", 0, NULL, &m, &e) ||
      tirc_module_replay_text(m, t->trace, strlen(t->trace), "trial", 0, NULL, &made, &e) ||
      tirc_module_trace(made, TIRC_TRACE_SCRIPT, script, &e))
    status = report(e);
  tirc_module_free(made);
  if (program && status == DONE)
    *program = m;
  else
    tirc_module_free(m);
  return status;
}

static void put_line(const char *name, const char *text) {
  if (text) {
    printf("%-12s", name);
    put_name(stdout, text);
    putchar('\n');
  }
}

static void put_trial(const tirc_db_task *k, const tirc_db_trial *t) {
  const tirc_db_conditions *c = &t->conditions;
  put_line("trial", t->id);
  put_line("task", t->task);
  put_line("program", k->name ? k->name : k->hash);
  char *on = tirc_format(memory, "%s, %d thread%s, machine %s", k->target, k->threads,
                         plural(k->threads), k->machine->profile);
  put_line("for", on);
  put_line("outcome", t->code ? t->code : t->state == TIRC_DB_DONE ? "ran" : "not done yet");
  put_line("message", t->message);
  if (!isnan(t->seconds)) printf("%-12s%.4f ms\n", "median", 1e3 * t->seconds);
  for (int i = 0; i < t->n_samples; i++)
    printf("%s%.4f%s",
           i % 10 ? " "
           : i    ? "            "
                  : "samples     ",
           1e3 * t->samples[i], i % 10 == 9 || i + 1 == t->n_samples ? "\n" : "");
  if (c->clock_low > 0) printf("%-12s%.2f to %.2f GHz\n", "clock", c->clock_low, c->clock_high);
  if (tirc_is_busy(c->load)) printf("%-12sother processes used %.2f cores\n", "disturbed", c->load);
  put_line("huge pages", c->pages);
  put_line("command", c->command);
  put_line("source", t->source);
}

static int show_trial(const DbOptions *o, tirc_db *db, tirc_db_trial *t) {
  Tasks tasks = {0};
  char *script = NULL;
  if (o->asked.as_json) return write_json(NULL, trial_as_json(t), true);
  int status = task_of_trial(db, t->task, &tasks);
  if (status == DONE) {
    put_trial(&tasks.at[0], t);
    if (t->code && strcmp(t->code, TIRC_HOPELESS) != 0)
      put_line("trace", t->trace);
    else if ((status = script_of(&tasks.at[0], t, NULL, &script)) == DONE)
      putchar('\n'), put_clean(stdout, script, strlen(script)), putchar('\n');
  }
  tirc_string_free(script);
  return status;
}

/* Where a name has tasks of other sizes, targets or threads, they are what was meant. */
static const char *hint_for(const DbOptions *o, tirc_db *db, char *out, size_t size,
                            const char *otherwise) {
  const DbOptions any = {0};
  Tasks all = {0};
  const char *word = o->asked.args.at[1], *hint = otherwise;
  const size_t n = strlen(word);
  if (read_tasks(&any, db, 0, &all) != DONE) return hint;
  for (int i = 0; i < all.n && hint == otherwise; i++) {
    const tirc_db_task *t = &all.at[i];
    if (!t->name || strncmp(t->name, word, n) != 0 || (t->name[n] && t->name[n] != '/')) continue;
    snprintf(out, size, "there is %s, for %s and %d thread%s; tirc db list shows all tasks",
             t->name, t->target, t->threads, plural(t->threads));
    hint = out;
  }
  return hint;
}

int db_show(const DbOptions *o, tirc_db *db) {
  const List *args = &o->asked.args;
  Tasks tasks = {0};
  tirc_db_trial *trial = NULL;
  tirc_error *e = NULL;
  char hint[256];
  if (args->n < 2)
    return complain("tirc db list shows the tasks", "usage: tirc db show TASK|TRIAL");
  int status = read_tasks(o, db, 1, &tasks);
  if (status == DONE && tasks.n && o->asked.as_json) status = show_tasks_json(o, db, &tasks);
  for (int i = 0; i < tasks.n && status == DONE && !o->asked.as_json; i++) {
    if (i > 0 && !o->asked.csv) putchar('\n');
    status = show_task(o, db, &tasks.at[i]);
  }
  if (status == DONE && !tasks.n) {
    const tirc_status found = tirc_db_find_trial(db, args->at[1], &trial, &e);
    if (found == TIRC_OK)
      status = show_trial(o, db, trial);
    else if (found == TIRC_BAD)
      status = report(e), e = NULL;
    else
      status = complain(hint_for(o, db, hint, sizeof hint,
                                 "tirc db list shows the tasks, tirc db show TASK its trials"),
                        "no task, program or trial is called '%s'", args->at[1]);
  }
  tirc_error_free(e);
  tirc_db_trial_free(trial);
  return status;
}

/* --- best ------------------------------------------------------------------------------------- */

static tirc_db_trial *best_of(tirc_db *db, const tirc_db_task *k, tirc_error **e) {
  tirc_module *m = NULL;
  tirc_db_trial *t = NULL;
  if (tirc_module_parse(k->program, strlen(k->program), "program", 0, NULL, &m, e) == TIRC_OK)
    tirc_db_best(db, m, k->target, k->threads, k->machine->profile, &t, e);
  tirc_module_free(m);
  return t;
}

/* A line of a comment stays one, whatever a profile is called. */
static char *in_a_line(const char *text) { return shown_name(text ? text : "unknown"); }

static int put_best(const DbOptions *o, tirc_db *db, const tirc_db_task *k) {
  tirc_error *e = NULL;
  tirc_module *m = NULL;
  char *script = NULL, *text = NULL;
  tirc_db_trial *t = best_of(db, k, &e);
  if (!t) return report(e);
  char *machine = in_a_line(k->machine->profile), *target = in_a_line(k->target);
  int status = script_of(k, t, &m, &script);
  if (status == DONE && o->asked.as_json)
    text = tirc_format(memory, "%s\n", json_string(tuning_record(0, k, m, t), false));
  else if (status == DONE)
    text = tirc_format(memory, "# %.4f ms on %d thread%s, machine %s, target %s: trial %s\n%s\n",
                       1e3 * t->seconds, k->threads, plural(k->threads), machine, target, t->id,
                       script);
  if (status == DONE) status = write_output(NULL, text, strlen(text));
  tirc_string_free(script);
  tirc_module_free(m);
  tirc_db_trial_free(t);
  return status;
}

int db_best(const DbOptions *o, tirc_db *db) {
  const List *args = &o->asked.args;
  Tasks tasks = {0};
  char hint[256];
  if (args->n < 2) return complain("tirc db list shows the tasks", "usage: tirc db best TASK|PROG");
  int status = read_tasks(o, db, 1, &tasks), best = -1;
  for (int i = 0; i < tasks.n; i++)
    if (!isnan(tasks.at[i].best) && (best < 0 || tasks.at[i].best < tasks.at[best].best)) best = i;
  if (status == DONE && best < 0) {
    complain(tasks.n ? "tirc db show tells what went wrong"
                     : hint_for(o, db, hint, sizeof hint, "tirc db list shows the tasks"),
             tasks.n ? "no trial of '%s' ran" : "nothing is known of '%s'", args->at[1]);
    status = NO;
  }
  if (status == DONE) status = put_best(o, db, &tasks.at[best]);
  return status;
}
