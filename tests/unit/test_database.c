/* The database: what was put comes back, a schedule is measured once, work goes to one worker at a
 * time, and files that are none of ours are refused. With an argument, on that database (a URL),
 * which must be empty. */
#include "runtime/database/database.h"

#include "runtime/database/driver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[200];
static const char *given; /* a database that is not a file */

static const char *in_folder(const char *name) {
  static char path[300];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static int make_folder(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "%s/tirc-db-XXXXXX",
           getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
  (void)state;
  char command[300];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command);
}

#define OK(...)                                                                                    \
  do {                                                                                             \
    tirc_error *error = NULL;                                                                      \
    if ((__VA_ARGS__) != TIRC_OK)                                                                  \
      fail_msg("%s: %s", #__VA_ARGS__, error ? tirc_error_message(error) : "?");                   \
  } while (0)

/* Refused, with these words. */
#define SAYS(status, words, ...)                                                                   \
  do {                                                                                             \
    tirc_error *error = NULL;                                                                      \
    assert_int_equal(status, __VA_ARGS__);                                                         \
    assert_non_null(error);                                                                        \
    assert_string_equal(tirc_error_get(error, TIRC_ERROR_CODE), "database");                       \
    if (!strstr(tirc_error_message(error), words))                                                 \
      fail_msg("%s: %s", #__VA_ARGS__, tirc_error_message(error));                                 \
    tirc_error_free(error);                                                                        \
  } while (0)

static tirc_db *open_db(const char *name) {
  tirc_db *db = NULL;
  OK(tirc_db_open(given ? given : in_folder(name), TIRC_DB_WRITE, &db, &error));
  return db;
}

static tirc_module *program(const char *x, int extent) {
  char text[500];
  tirc_module *m = NULL;
  snprintf(text, sizeof text,
           "@T.prim_func\n"
           "def main(A: T.Buffer((%d,), \"float32\"), B: T.Buffer((%d,), \"float32\")):\n"
           "    for %s in range(%d):\n"
           "        with T.block(\"B\"):\n"
           "            v = T.axis.spatial(%d, %s)\n"
           "            B[v] = A[v] * T.float32(2)\n",
           extent, extent, x, extent, extent, x);
  OK(tirc_module_parse(text, strlen(text), "test", 0, NULL, &m, &error));
  return m;
}

static const tirc_db_described machine = {"test-machine", "{\"cores\": 2}"};

static char *put_task(tirc_db *db, const tirc_module *m, int threads) {
  char *id = NULL;
  OK(tirc_db_put_task(db,
                      &(tirc_db_task){.module = m,
                                      .name = "double",
                                      .target = "haswell",
                                      .threads = threads,
                                      .machine = &machine},
                      &id, &error));
  return id;
}

static void test_hash(void **state) {
  (void)state;
  /* Databases hold these numbers, so they stay as they are. */
  tirc_module *m = program("i", 32), *same = program("j", 32), *other = program("i", 33);
  char *a, *b, *c;
  OK(tirc_module_hash(m, &a, &error));
  OK(tirc_module_hash(same, &b, &error));
  OK(tirc_module_hash(other, &c, &error));
  assert_string_equal(a, b);
  assert_string_not_equal(a, c);
  assert_string_equal(a, "ccc727bd8c195d680d4aee8915e02823");
  assert_string_equal(DB_ID("a", NULL, "a text of some length").text,
                      "62bec048e0881e552129546d50135eb5");
  tirc_string_free(a);
  tirc_string_free(b);
  tirc_string_free(c);
  tirc_module_free(m);
  tirc_module_free(same);
  tirc_module_free(other);
}

static void test_trials(void **state) {
  (void)state;
  tirc_db *db = open_db("trials.db");
  tirc_module *m = program("i", 64), *same = program("j", 64), *other = program("i", 65);
  char *task = put_task(db, m, 2), *again = put_task(db, same, 2), *one = put_task(db, m, 1);
  assert_string_equal(task, again);
  assert_string_not_equal(task, one);
  char *environment;
  OK(tirc_db_put_environment(db, "{\"tirc\": \"0.1.0\"}", &environment, &error));
  const double samples[] = {0.3, 0.1, 0.2000000001};
  tirc_db_trial t = {.task = task,
                     .trace = "[[], [ [1, \"a b\"] ]]",
                     .n_samples = 3,
                     .samples = samples,
                     .predicted = NAN,
                     .conditions = {.clock_low = 2.9,
                                    .clock_high = 3.1,
                                    .load = 0.5,
                                    .pages = "madvise",
                                    .environment = environment,
                                    .command = "tirc tune it's",
                                    .seed = -7},
                     .source = "test",
                     .more = "{}"};
  bool stored = false;
  OK(tirc_db_put_trial(db, &t, &stored, &error));
  assert_true(stored);
  t.trace = "[[],[[1,\"a b\"]]]"; /* the same, written otherwise */
  OK(tirc_db_put_trial(db, &t, &stored, &error));
  assert_false(stored);
  t.trace = "[[],[[1,\"a  b\"]]]";
  t.n_samples = 0;
  t.code = "timeout";
  t.message = "took longer than 10 s";
  OK(tirc_db_put_trial(db, &t, &stored, &error));
  assert_true(stored);

  tirc_db_trial *best;
  OK(tirc_db_best(db, same, "haswell", 2, NULL, &best, &error));
  assert_string_equal(best->trace, "[[],[[1,\"a b\"]]]");
  assert_true(best->seconds == samples[2] && best->n_samples == 3);
  for (int i = 0; i < 3; i++) assert_true(best->samples[i] == samples[i]);
  assert_true(best->state == TIRC_DB_DONE && !best->code && isnan(best->predicted));
  assert_true(best->conditions.clock_low == 2.9 && best->conditions.load == 0.5);
  assert_string_equal(best->conditions.command, "tirc tune it's");
  assert_string_equal(best->conditions.environment, environment);
  assert_true(best->conditions.seed == -7 && best->finished > 1e9 && best->created > 1e9);
  tirc_db_trial_free(best);
  OK(tirc_db_best(db, m, "haswell", 2, "test-machine", &best, &error));
  tirc_db_trial_free(best);
  SAYS(TIRC_NO, "no trial", tirc_db_best(db, m, "haswell", 2, "another", &best, &error));
  SAYS(TIRC_NO, "no trial", tirc_db_best(db, m, "haswell", 1, NULL, &best, &error));
  SAYS(TIRC_NO, "no trial", tirc_db_best(db, m, "skylake", 2, NULL, &best, &error));
  SAYS(TIRC_NO, "no trial", tirc_db_best(db, other, "haswell", 2, NULL, &best, &error));
  tirc_string_free(environment);
  tirc_string_free(one);
  tirc_string_free(again);
  tirc_string_free(task);
  tirc_module_free(m);
  tirc_module_free(same);
  tirc_module_free(other);
  tirc_db_close(db);
}

typedef struct Census {
  int tasks, trials;
  int64_t queued, running, done, failed;
  double fastest;
} Census;

static bool see_trial(void *self, const tirc_db_trial *t) {
  Census *c = self;
  if (c->trials++ == 0) c->fastest = t->seconds;
  return true;
}

static bool see_task(void *self, const tirc_db_task *t) {
  Census *c = self;
  c->tasks++;
  c->queued += t->n_queued;
  c->running += t->n_running;
  c->done += t->n_done;
  c->failed += t->n_failed;
  assert_string_equal(t->machine->profile, "test-machine");
  assert_non_null(strstr(t->program, "prim_func"));
  return true;
}

static Census census(tirc_db *db, const char *task) {
  Census c = {.fastest = NAN};
  OK(tirc_db_tasks(db, &(tirc_db_filter){.task = task}, see_task, &c, &error));
  OK(tirc_db_trials(db, task, 0, see_trial, &c, &error));
  return c;
}

typedef struct Told {
  int n;
  char ids[4][40];
} Told;
static bool is_known(void *self, const char *id) {
  const Told *t = self;
  for (int i = 0; i < t->n; i++)
    if (strcmp(t->ids[i], id) == 0) return true;
  return false;
}
static void be_told(void *self, const tirc_db_trial *trial) {
  Told *t = self;
  snprintf(t->ids[t->n++], sizeof t->ids[0], "%s", trial->id);
}

static bool see_first(void *self, const tirc_db_trial *t) {
  snprintf(self, 40, "%s", t->id);
  return false;
}

static bool see_best(void *self, const tirc_db_task *t) {
  *(double *)self = t->best;
  return true;
}

/* What won when the fastest were measured again is the best, however fast another was once. */
static void test_winner(void **state) {
  (void)state;
  tirc_db *db = open_db("winner.db"), *other = NULL;
  tirc_module *m = program("i", 66);
  char *task = put_task(db, m, 2), first[40] = "";
  const double fast = 1, slow = 2;
  tirc_db_trial t = {.task = task, .trace = "[[],[1]]", .n_samples = 1, .samples = &fast};
  OK(tirc_db_put_trial(db, &t, NULL, &error));
  t.trace = "[[],[2]]";
  t.samples = &slow;
  OK(tirc_db_put_trial(db, &t, NULL, &error));
  tirc_db_trial *best;
  OK(tirc_db_best(db, m, "haswell", 2, NULL, &best, &error));
  assert_string_equal(best->trace, "[[],[1]]");
  tirc_db_trial_free(best);

  Told told = {0};
  OK(tirc_db_news(db, task, is_known, be_told, &told, &error));
  assert_int_equal(told.n, 2);
  OK(tirc_db_set_winner(db, told.ids[1], &error));
  OK(tirc_db_open(in_folder("winner-merged.db"), TIRC_DB_WRITE, &other, &error));
  OK(tirc_db_merge(other, db, NULL, &error));
  for (int i = 0; i < 2; i++) {
    tirc_db *each = i ? other : db;
    OK(tirc_db_best(each, m, "haswell", 2, NULL, &best, &error));
    assert_string_equal(best->trace, "[[],[2]]");
    tirc_db_trial_free(best);
    OK(tirc_db_trials(each, task, 0, see_first, first, &error));
    assert_string_equal(first, told.ids[1]);
    double seconds = 0;
    OK(tirc_db_tasks(each, NULL, see_best, &seconds, &error));
    assert_true(seconds == slow);
    OK(tirc_db_prune(each, NULL, 1, NULL, &error));
    OK(tirc_db_best(each, m, "haswell", 2, NULL, &best, &error));
    assert_string_equal(best->trace, "[[],[2]]");
    tirc_db_trial_free(best);
  }
  /* it keeps out none that is faster when a search has no such end; one that fails has no time */
  OK(tirc_db_drop_winner(other, task, 3, &error));
  OK(tirc_db_best(other, m, "haswell", 2, NULL, &best, &error));
  assert_string_equal(best->trace, "[[],[2]]");
  tirc_db_trial_free(best);
  t.trace = "[[],[3]]";
  t.samples = &fast;
  OK(tirc_db_put_trial(other, &t, NULL, &error));
  OK(tirc_db_drop_winner(other, task, fast, &error));
  OK(tirc_db_best(other, m, "haswell", 2, NULL, &best, &error));
  assert_string_equal(best->trace, "[[],[3]]");
  OK(tirc_db_refute(other, best->id, "crash", "it ends by signal 11", &error));
  tirc_db_trial_free(best);
  OK(tirc_db_best(other, m, "haswell", 2, NULL, &best, &error));
  assert_string_equal(best->trace, "[[],[2]]");
  tirc_db_trial_free(best);
  tirc_string_free(task);
  tirc_module_free(m);
  tirc_db_close(other);
  tirc_db_close(db);
}

static void test_work(void **state) {
  (void)state;
  tirc_db *db = open_db("work.db"), *second = open_db("work.db");
  tirc_module *m = program("i", 96);
  char *task = put_task(db, m, 2);
  enum { N = 6 };
  tirc_db_trial proposed[N] = {0};
  char traces[N][40];
  for (int i = 0; i < N; i++) {
    snprintf(traces[i], sizeof traces[i], "[[],[[%d,1]]]", i / 2 * 2); /* each twice */
    proposed[i] = (tirc_db_trial){.trace = traces[i], .predicted = i};
  }
  int64_t accepted = 0;
  OK(tirc_db_propose(db, task, 2, N, proposed, &accepted, &error));
  assert_int_equal(accepted, 2);
  OK(tirc_db_propose(second, task, 100, N, proposed, &accepted, &error));
  assert_int_equal(accepted, 1);

  /* The most promising first, each to one worker. */
  tirc_db_trial *a = NULL, *b = NULL, *c = NULL, *d = NULL;
  OK(tirc_db_take(db, task, "a", 60, &a, &error));
  OK(tirc_db_take(second, NULL, "b", 0, &b, &error));
  assert_string_equal(a->trace, traces[4]);
  assert_string_equal(b->trace, traces[2]);
  assert_int_equal(a->attempts, 1);
  OK(tirc_db_take(second, task, "b", 60, &c, &error));
  /* The second one of b has come to the end of its lease, and the third one has not. */
  OK(tirc_db_take(second, task, "c", 60, &d, &error));
  const bool over = strcmp(d->id, b->id) == 0;
  assert_true(over && d->attempts == 2);
  tirc_db_trial *none = NULL;
  SAYS(TIRC_NO, "no trial is waiting", tirc_db_take(db, task, "d", 60, &none, &error));

  bool stored;
  const double sample = 0.5;
  tirc_db_trial done = {.id = b->id, .worker = "b", .n_samples = 1, .samples = &sample};
  OK(tirc_db_finish(db, &done, &stored, &error));
  assert_false(stored); /* it is c's now */
  done.worker = "c";
  OK(tirc_db_finish(db, &done, &stored, &error));
  assert_true(stored);
  OK(tirc_db_finish(db, &done, &stored, &error)); /* said again, as after a lost answer */
  assert_true(stored);

  Told told = {0}; /* each is news once */
  int64_t queued, running;
  OK(tirc_db_news(db, task, is_known, be_told, &told, &error));
  OK(tirc_db_news(db, task, is_known, be_told, &told, &error));
  assert_true(told.n == 1 && strcmp(told.ids[0], b->id) == 0);
  OK(tirc_db_unfinished(second, task, &queued, &running, &error));
  assert_true(queued == 0 && running == 2);

  OK(tirc_db_add_samples(db, b->id, 2, (double[]){0.125, 0.25}, &error));
  OK(tirc_db_add_samples(second, a->id, 1, &sample, &error)); /* which is not done */
  tirc_db_trial *more = NULL;
  OK(tirc_db_find_trial(db, b->id, &more, &error));
  assert_true(more->n_samples == 3 && more->samples[2] == 0.25 && more->seconds == 0.25);
  tirc_db_trial_free(more);
  OK(tirc_db_finish(db, &done, &stored, &error));

  Census n = census(db, task);
  assert_true(n.tasks == 1 && n.trials == 3 && n.running == 2 && n.done == 1 && n.fastest == 0.5);
  OK(tirc_db_release(db, "a", &error));
  n = census(db, task);
  assert_true(n.queued == 1 && n.running == 1);
  int64_t held = 0;
  OK(tirc_db_renew(db, "b", -1, &held, &error));
  assert_int_equal(held, 1);
  tirc_db_trial_free(a);
  tirc_db_trial_free(b);
  tirc_db_trial_free(c);
  tirc_db_trial_free(d);

  /* What takes its worker with it three times is done. */
  for (int i = 0; i < 5; i++) {
    tirc_db_trial *x = NULL;
    tirc_error *error = NULL;
    if (tirc_db_take(db, task, "victim", -1, &x, &error) == TIRC_OK) tirc_db_trial_free(x);
    tirc_error_free(error);
  }
  SAYS(TIRC_NO, "no trial is waiting", tirc_db_take(db, task, "d", 60, &none, &error));
  n = census(db, task);
  assert_true(n.done == 3 && n.failed == 2 && n.running == 0);
  tirc_string_free(task);
  tirc_module_free(m);
  tirc_db_close(second);
  tirc_db_close(db);
}

static void test_models(void **state) {
  (void)state;
  tirc_db *db = open_db("models.db");
  const char data[] = "a\0b\377'\\";
  tirc_db_model m = {.kind = "cost", .target = "haswell", .trained_on = 64, .data = data, .n = 6};
  tirc_db_model *read;
  SAYS(TIRC_NO, "no model", tirc_db_get_model(db, "cost", "haswell", &read, &error));
  OK(tirc_db_put_model(db, &m, &error));
  m.trained_on = 128;
  m.description = "{\"rank\": 0.9}";
  OK(tirc_db_put_model(db, &m, &error));
  OK(tirc_db_get_model(db, "cost", "haswell", &read, &error));
  assert_true(read->trained_on == 128 && read->n == 6 && !memcmp(read->data, data, 6));
  assert_string_equal(read->description, "{\"rank\": 0.9}");
  tirc_db_model_free(read);
  tirc_db_close(db);
}

static void test_transactions(void **state) {
  (void)state;
  tirc_db *db = open_db("transactions.db");
  tirc_module *m = program("i", 128);
  char *task = put_task(db, m, 2);
  const double sample = 1;
  tirc_db_trial t = {.task = task, .trace = "[[],[]]", .n_samples = 1, .samples = &sample};
  OK(tirc_db_begin(db, &error));
  SAYS(TIRC_BAD, "a transaction is open", tirc_db_begin(db, &error));
  OK(tirc_db_put_trial(db, &t, NULL, &error));
  tirc_db_rollback(db);
  SAYS(TIRC_BAD, "no transaction", tirc_db_commit(db, &error));
  assert_int_equal(census(db, task).trials, 0);
  OK(tirc_db_begin(db, &error));
  OK(tirc_db_put_trial(db, &t, NULL, &error));
  OK(tirc_db_commit(db, &error));
  assert_int_equal(census(db, task).trials, 1);
  t.task = "no task";
  t.trace = NULL;
  SAYS(TIRC_BAD, "a trace", tirc_db_put_trial(db, &t, NULL, &error));
  tirc_string_free(task);
  tirc_module_free(m);
  tirc_db_close(db);
}

typedef struct Results {
  int n;
  double seconds;
  char hash[40], contender[40];
} Results;

static bool see_result(void *self, const tirc_db_result *r) {
  Results *seen = self;
  seen->n++;
  seen->seconds = r->seconds;
  snprintf(seen->hash, sizeof seen->hash, "%s", r->schedule_hash ? r->schedule_hash : "none");
  snprintf(seen->contender, sizeof seen->contender, "%s", r->contender);
  assert_string_equal(r->machine->profile, "test-machine");
  assert_string_equal(r->session, "now");
  assert_true(r->disturbed && r->conditions.load == 0 && r->conditions.clock_low == 3);
  return true;
}

static void test_results(void **state) {
  (void)state;
  tirc_db *db = open_db("results.db"), *other = NULL;
  tirc_module *m = program("i", 256);
  const double samples[] = {0.5, 0.25};
  tirc_db_result r = {.session = "now",
                      .module = m,
                      .name = "double",
                      .setting = "{\"N\": 256}",
                      .contender = "mine",
                      .schedule = "sch.vectorize(i)\n",
                      .target = "haswell",
                      .threads = 2,
                      .machine = &machine,
                      .n_samples = 2,
                      .samples = samples,
                      .disturbed = true,
                      .conditions = {.clock_low = 3, .clock_high = 3},
                      .created = 1e9};
  OK(tirc_db_put_result(db, &r, &error));
  OK(tirc_db_put_result(db, &r, &error)); /* the very same is there once */
  r.contender = "openblas";
  r.schedule = NULL;
  r.created = 2e9;
  OK(tirc_db_put_result(db, &r, &error));
  Results seen = {0};
  OK(tirc_db_results(db, NULL, NULL, see_result, &seen, &error));
  assert_true(seen.n == 2 && seen.seconds == 0.375);
  assert_string_equal(seen.contender, "openblas");
  assert_string_equal(seen.hash, "none");
  seen.n = 0;
  OK(tirc_db_results(db, &(tirc_db_filter){.workload = "double", .threads = 2}, "mine", see_result,
                     &seen, &error));
  assert_int_equal(seen.n, 1);
  char *hash;
  OK(tirc_db_text_hash("sch.vectorize(i)\n", &hash, &error));
  assert_string_equal(seen.hash, hash);
  tirc_string_free(hash);
  seen.n = 0;
  OK(tirc_db_results(db, &(tirc_db_filter){.threads = 1}, NULL, see_result, &seen, &error));
  assert_int_equal(seen.n, 0);
  r.setting = NULL;
  SAYS(TIRC_BAD, "a setting", tirc_db_put_result(db, &r, &error));

  /* Into another database, twice; a trial that is done here ends one that waits there. */
  char *task = put_task(db, m, 2);
  const double sample = 1;
  tirc_db_trial t = {.task = task, .trace = "[[],[]]", .n_samples = 1, .samples = &sample};
  OK(tirc_db_put_trial(db, &t, NULL, &error));
  OK(tirc_db_open(in_folder("merged.db"), TIRC_DB_WRITE, &other, &error));
  tirc_string_free(put_task(other, m, 2));
  OK(tirc_db_propose(other, task, 9, 1, &t, NULL, &error));
  tirc_db_counts added;
  OK(tirc_db_merge(other, db, &added, &error));
  assert_true(added.trials >= 1 && added.results == 2);
  Census n = census(other, task);
  assert_true(n.done == 1 && n.queued == 0);
  OK(tirc_db_merge(other, db, &added, &error));
  assert_true(added.workloads + added.tasks + added.trials + added.models + added.results == 0);
  int64_t removed = 0;
  OK(tirc_db_prune(other, &(tirc_db_filter){.task = task}, 0, &removed, &error));
  assert_int_equal(removed, 1);
  tirc_string_free(task);
  tirc_module_free(m);
  tirc_db_close(other);
  tirc_db_close(db);
}

static void write_file(const char *path, const char *text) {
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
}

static void run_sql(const char *path, const char *sql) {
  sqlite3 *raw;
  assert_int_equal(sqlite3_open(path, &raw), SQLITE_OK);
  assert_int_equal(sqlite3_exec(raw, sql, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(raw);
}

static void test_other_files(void **state) {
  (void)state;
  tirc_db *db = NULL;
  if (given) skip();
  SAYS(TIRC_NO, "there is no database",
       tirc_db_open(in_folder("none.db"), TIRC_DB_READ, &db, &error));
  SAYS(TIRC_BAD, "No such file", tirc_db_open(in_folder("none/x.db"), TIRC_DB_WRITE, &db, &error));
  SAYS(TIRC_BAD, "is a folder", tirc_db_open(folder, TIRC_DB_WRITE, &db, &error));
  const char *path = in_folder("text.db");
  write_file(path, "This is a text and no database at all, whatever it is called. And it is long "
                   "enough to have a header's length.\n");
  SAYS(TIRC_BAD, "is not a database", tirc_db_open(path, TIRC_DB_WRITE, &db, &error));
  path = in_folder("foreign.db");
  run_sql(path, "CREATE TABLE workload (id TEXT)");
  SAYS(TIRC_BAD, "another program's", tirc_db_open(path, TIRC_DB_WRITE, &db, &error));
  path = in_folder("newer.db");
  tirc_db_close(open_db("newer.db"));
  run_sql(path, "PRAGMA user_version = 99");
  SAYS(TIRC_BAD, "newer tirc", tirc_db_open(path, TIRC_DB_READ, &db, &error));
  path = in_folder("empty.db");
  write_file(path, "");
  SAYS(TIRC_NO, "is empty", tirc_db_open(path, TIRC_DB_READ, &db, &error));
  OK(tirc_db_open(path, TIRC_DB_WRITE, &db, &error)); /* mktemp makes such files */
  tirc_db_close(db);
  OK(tirc_db_open(path, TIRC_DB_READ, &db, &error));
  tirc_db_close(db);
  path = in_folder("damaged.db");
  tirc_db_close(open_db("damaged.db"));
  FILE *f = fopen(path, "r+");
  fseek(f, 100, SEEK_SET); /* the first page's tree, behind the header */
  for (int i = 0; i < 1000; i++) fputc(0xee, f);
  fclose(f);
  SAYS(TIRC_BAD, "damaged", tirc_db_open(path, TIRC_DB_WRITE, &db, &error));
}

static void test_default_path(void **state) {
  (void)state;
  tirc_db *db = NULL;
  char expected[300];
  if (given) skip();
  unsetenv("TIRC_DATABASE");
  setenv("XDG_DATA_HOME", in_folder("data/home"), 1);
  SAYS(TIRC_NO, "there is no database", tirc_db_open(NULL, TIRC_DB_READ, &db, &error));
  OK(tirc_db_open(NULL, TIRC_DB_WRITE, &db, &error));
  snprintf(expected, sizeof expected, "%s/data/home/tirc/tirc.db", folder);
  assert_string_equal(tirc_db_name(db), expected);
  tirc_db_close(db);
  setenv("TIRC_DATABASE", in_folder("set.db"), 1);
  OK(tirc_db_open(NULL, TIRC_DB_WRITE, &db, &error));
  assert_string_equal(tirc_db_name(db), in_folder("set.db"));
  tirc_db_close(db);
}

int main(int argc, char **argv) {
  given = argc > 1 ? argv[1] : NULL;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_hash),         cmocka_unit_test(test_trials),
      cmocka_unit_test(test_winner),       cmocka_unit_test(test_work),
      cmocka_unit_test(test_models),       cmocka_unit_test(test_transactions),
      cmocka_unit_test(test_results),      cmocka_unit_test(test_other_files),
      cmocka_unit_test(test_default_path),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
