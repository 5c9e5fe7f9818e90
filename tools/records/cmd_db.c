/* `tirc db`: what the database holds, and what is done with it as a whole. */
#define _GNU_SOURCE
#include "db.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

/* --- tasks ------------------------------------------------------------------------------------ */

static bool keep_task(void *self, const tirc_db_task *t) {
  Tasks *all = self;
  tirc_db_described *machine = tirc_alloc(memory, sizeof *machine);
  *machine = (tirc_db_described){copied(t->machine->profile), copied(t->machine->description)};
  tirc_db_task *to = one_more(all->at, all->n);
  *to = *t;
  to->machine = machine;
  to->id = copied(t->id);
  to->workload = copied(t->workload);
  to->hash = copied(t->hash);
  to->name = copied(t->name);
  to->program = copied(t->program);
  to->target = copied(t->target);
  return true;
}

static bool is_file(const char *path) {
  struct stat there;
  return strcmp(path, "-") == 0 || (stat(path, &there) == 0 && !S_ISDIR(there.st_mode));
}

static int tasks_of(tirc_db *db, const tirc_db_filter *f, Tasks *out) {
  tirc_error *e = NULL;
  return tirc_db_tasks(db, f, keep_task, out, &e) ? report(e) : DONE;
}

static int tasks_of_program(const DbOptions *o, tirc_db *db, tirc_db_filter f, Tasks *out) {
  tirc_module *m = NULL;
  char *hash = NULL;
  tirc_error *e = NULL;
  int status = load_program(&o->from, f.workload, &m);
  if (status == DONE && tirc_module_hash(m, &hash, &e)) status = report(e);
  f.workload = hash;
  if (status == DONE) status = tasks_of(db, &f, out);
  tirc_string_free(hash);
  tirc_module_free(m);
  return status;
}

/* What the database knows comes first: a file may happen to be called like a program. */
int read_tasks(const DbOptions *o, tirc_db *db, int i, Tasks *out) {
  const List *args = &o->asked.args;
  tirc_db_filter f = o->asked.only;
  f.workload = i < args->n ? args->at[i] : NULL;
  tirc_db_filter of_task = f;
  of_task.task = f.workload;
  of_task.workload = NULL;
  int status = tasks_of(db, &f, out);
  if (status == DONE && !out->n && f.workload) status = tasks_of(db, &of_task, out);
  if (status == DONE && !out->n && f.workload && is_file(f.workload))
    status = tasks_of_program(o, db, f, out);
  return status;
}

/* --- whole databases -------------------------------------------------------------------------- */

static int merge(const DbOptions *o, tirc_db *db) {
  const List *args = &o->asked.args;
  if (args->n < 2) return complain(NULL, "usage: tirc db merge DB...");
  for (int i = 1; i < args->n; i++) {
    tirc_db *from = NULL;
    tirc_db_counts n;
    tirc_error *e = NULL;
    int status = open_database(args->at[i], TIRC_DB_READ, &from);
    if (status == DONE && tirc_db_merge(db, from, &n, &e)) status = report(e);
    if (status == DONE)
      printf("%s: %lld programs, %lld tasks, %lld trials, %lld models and %lld results are new\n",
             tirc_db_name(from), (long long)n.workloads, (long long)n.tasks, (long long)n.trials,
             (long long)n.models, (long long)n.results);
    tirc_db_close(from);
    if (status != DONE) return status;
  }
  return DONE;
}

static int prune(const DbOptions *o, tirc_db *db) {
  const List *args = &o->asked.args;
  if (!o->keep)
    return complain("--keep 10 leaves the ten fastest trials of each task",
                    "tirc db prune needs --keep N");
  enum { FEWEST_DIGITS = 8 };
  Tasks tasks = {0};
  int64_t all = 0;
  int status = read_tasks(o, db, 1, &tasks);
  const char *word = args->n > 1 ? args->at[1] : NULL;
  for (int i = 0; word && i < tasks.n && status == DONE; i++) {
    const bool named = tasks.at[i].name && strcmp(tasks.at[i].name, word) == 0;
    if (!named && !is_file(word) && strlen(word) < FEWEST_DIGITS)
      status = complain("tirc db list has the names; of an id or a hash, eight digits or more",
                        "'%s' is not a program's name, and too short for a hash", word);
  }
  for (int i = 0; i < tasks.n && status == DONE; i++) {
    tirc_error *e = NULL;
    int64_t n = 0;
    if (tirc_db_prune(db, &(tirc_db_filter){.task = tasks.at[i].id}, o->keep, &n, &e))
      status = report(e);
    all += n;
  }
  if (status == DONE)
    printf("%lld trial%s of %d task%s removed\n", (long long)all, plural(all), tasks.n,
           plural(tasks.n));
  return status;
}

/* --- the command ------------------------------------------------------------------------------ */

typedef struct Verb {
  const char *name;
  tirc_db_mode mode;
  int most_args; /* behind it; -1: any number */
  int (*run)(const DbOptions *o, tirc_db *db);
} Verb;

static const Verb verbs[] = {
    {"list", TIRC_DB_READ, 1, db_list},       {"show", TIRC_DB_READ, 1, db_show},
    {"best", TIRC_DB_READ, 1, db_best},       {"export", TIRC_DB_READ, 2, db_export},
    {"import", TIRC_DB_WRITE, -1, db_import}, {"merge", TIRC_DB_WRITE, -1, merge},
    {"prune", TIRC_DB_WRITE, 1, prune},       {"explain", TIRC_DB_READ, 1, db_explain},
};
enum { N_VERBS = sizeof verbs / sizeof *verbs };

static const Verb *find_verb(const char *name) {
  Nearest best = {.wanted = name, .n_wanted = strlen(name)};
  for (int i = 0; i < N_VERBS; i++) {
    if (strcmp(verbs[i].name, name) == 0) return &verbs[i];
    tirc_offer_name(&best, verbs[i].name, strlen(verbs[i].name));
  }
  complain(tirc_suggest_name(&best, "", "see tirc db --help-all"), "tirc db has no '%s'", name);
  return NULL;
}

int cmd_db(DbOptions *o) {
  const List *args = &o->asked.args;
  const Verb *v = find_verb(args->at[0]);
  tirc_db *db = NULL;
  if (!v) return BAD;
  if (v->most_args >= 0 && args->n - 1 > v->most_args)
    return complain("see tirc db --help-all", "tirc db %s takes at most %d argument%s", v->name,
                    v->most_args, plural(v->most_args));
  if (o->asked.csv && o->asked.as_json) return complain(NULL, "--csv or --json, not both");
  int status = open_database(o->asked.database, v->mode, &db);
  NewFile to = {0};
  if (status == DONE) {
    to = begin_output(o->asked.output);
    status = to.f ? v->run(o, db) : BAD;
    status = end_output(o->asked.output, &to, status);
  }
  tirc_db_close(db);
  return status;
}
