/* worker DATABASE TASK-EXTENT BUDGET LEASE MILLISECONDS NAME
 *
 * What a tuning process does with the database, and nothing else: it proposes trials until the task
 * has BUDGET of them, takes one after the other and finishes it after some milliseconds. Each id is
 * printed when finish has said that it is stored: from then on it must not be lost. */
#include "runtime/database/database.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void stop(const char *what, tirc_error *error) {
  fprintf(stderr, "%s: %s\n", what, error ? tirc_error_message(error) : "?");
  exit(2);
}

static void pause_for(double milliseconds) {
  const struct timespec t = {(time_t)(milliseconds / 1e3), (long)(fmod(milliseconds, 1e3) * 1e6)};
  nanosleep(&t, NULL);
}

static tirc_module *program(const char *extent) {
  char text[400];
  tirc_module *m = NULL;
  tirc_error *error = NULL;
  snprintf(text, sizeof text,
           "N = %s\n"
           "@T.prim_func\n"
           "def main(A: T.Buffer((N,), \"float32\")):\n"
           "    for i in range(N):\n"
           "        with T.block(\"A\"):\n"
           "            v = T.axis.spatial(N, i)\n"
           "            A[v] = T.float32(0)\n",
           extent);
  if (tirc_module_parse(text, strlen(text), "worker", 0, NULL, &m, &error)) stop("program", error);
  return m;
}

/* Traces that many workers propose alike. */
static void propose(tirc_db *db, const char *task, long budget) {
  enum { BATCH = 16 };
  static long next;
  char traces[BATCH][64];
  tirc_db_trial trials[BATCH] = {0};
  tirc_error *error = NULL;
  for (int i = 0; i < BATCH; i++) {
    snprintf(traces[i], sizeof traces[i], "[[],[[0,%ld]]]", next++ % budget);
    trials[i] = (tirc_db_trial){.trace = traces[i], .predicted = NAN};
  }
  if (tirc_db_propose(db, task, budget, BATCH, trials, NULL, &error)) stop("propose", error);
}

static bool count(void *self, const tirc_db_task *t) {
  *(tirc_db_task *)self = *t;
  return false;
}

static bool all_done(tirc_db *db, const char *task, long budget) {
  tirc_db_task now = {0};
  tirc_error *error = NULL;
  if (tirc_db_tasks(db, &(tirc_db_filter){.task = task}, count, &now, &error)) stop("tasks", error);
  return now.n_done >= budget;
}

int main(int argc, char **argv) {
  if (argc != 7) {
    fprintf(stderr, "usage: worker DATABASE EXTENT BUDGET LEASE MILLISECONDS NAME\n");
    return 2;
  }
  const long budget = strtol(argv[3], NULL, 10);
  const double lease = strtod(argv[4], NULL), work = strtod(argv[5], NULL);
  tirc_db *db = NULL;
  tirc_error *error = NULL;
  char *task = NULL;
  tirc_module *m = program(argv[2]);
  if (tirc_db_open(argv[1], TIRC_DB_WRITE, &db, &error)) stop("open", error);
  if (tirc_db_put_task(db, &(tirc_db_task){.module = m, .target = "haswell", .threads = 1}, &task,
                       &error))
    stop("task", error);
  while (!all_done(db, task, budget)) {
    tirc_db_trial *t = NULL;
    bool stored = false;
    const tirc_status status = tirc_db_take(db, task, argv[6], lease, &t, &error);
    if (status == TIRC_BAD) stop("take", error);
    if (status == TIRC_NO) {
      tirc_error_free(error);
      error = NULL;
      propose(db, task, budget);
      pause_for(work);
      continue;
    }
    pause_for(work);
    const double samples[] = {1e-3, 1e-3 * t->attempts};
    const tirc_db_trial done = {.id = t->id, .worker = argv[6], .n_samples = 2, .samples = samples};
    if (tirc_db_finish(db, &done, &stored, &error)) stop("finish", error);
    if (stored) {
      printf("%s\n", t->id);
      fflush(stdout);
    }
    tirc_db_trial_free(t);
  }
  tirc_string_free(task);
  tirc_module_free(m);
  tirc_db_close(db);
  return 0;
}
