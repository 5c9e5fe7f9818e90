/* Trials: stored as they are, or queued, taken and finished. */
#include "trials.h"
#include "ir/number.h"

#include "runtime/api/api.h"

#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>

/* --- from rows -------------------------------------------------------------------------------- */

#define COLUMNS                                                                                    \
  "id, task, trace, state, attempts, worker, predicted, code, message, seconds, samples,"          \
  " clock_low, clock_high, load, pages, environment, command, seed, source, more, created,"        \
  " finished"

static const char *const state_names[] = {
    [TIRC_DB_DONE] = "done", [TIRC_DB_QUEUED] = "queued", [TIRC_DB_RUNNING] = "running"};

static tirc_db_state state_of(const char *name) {
  for (int i = 0; i < 3; i++)
    if (name && strcmp(name, state_names[i]) == 0) return (tirc_db_state)i;
  return TIRC_DB_DONE;
}

/* A trial with the rows that its strings are in. */
typedef struct Kept {
  tirc_db_trial t;
  DbRows rows;
} Kept;

double *tirc_db_samples(const char *text, int *n) {
  *n = 0;
  struct json_object *list = text ? json_tokener_parse(text) : NULL;
  const size_t length =
      json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
  double *samples = length ? calloc(length, sizeof *samples) : NULL;
  for (size_t i = 0; samples && i < length; i++)
    samples[(*n)++] = json_object_get_double(json_object_array_get_idx(list, i));
  json_object_put(list);
  return samples;
}

/* t->samples is on the heap. */
static tirc_db_trial trial_of(const DbRows *rows, int i) {
  tirc_db_trial t = {.id = db_cell_text(rows, i, 0),
                     .task = db_cell_text(rows, i, 1),
                     .trace = db_cell_text(rows, i, 2),
                     .state = state_of(db_cell_text(rows, i, 3)),
                     .attempts = (int)db_cell_int(rows, i, 4),
                     .worker = db_cell_text(rows, i, 5),
                     .predicted = db_cell_real(rows, i, 6),
                     .code = db_cell_text(rows, i, 7),
                     .message = db_cell_text(rows, i, 8),
                     .seconds = db_cell_real(rows, i, 9),
                     .conditions = {.clock_low = db_cell_real(rows, i, 11),
                                    .clock_high = db_cell_real(rows, i, 12),
                                    .load = db_cell_real(rows, i, 13),
                                    .pages = db_cell_text(rows, i, 14),
                                    .environment = db_cell_text(rows, i, 15),
                                    .command = db_cell_text(rows, i, 16),
                                    .seed = db_cell_int(rows, i, 17)},
                     .source = db_cell_text(rows, i, 18),
                     .more = db_cell_text(rows, i, 19),
                     .created = db_cell_real(rows, i, 20),
                     .finished = db_cell_real(rows, i, 21)};
  t.samples = tirc_db_samples(db_cell_text(rows, i, 10), &t.n_samples);
  /* of version 1, which is only read: see DB_MARK_HOPELESS */
  if (t.n_samples == 1 && !t.code && t.source && strcmp(t.source, "tune") == 0) {
    t.code = TIRC_HOPELESS;
    t.message = "one call was far slower than the best";
    t.seconds = (double)NAN;
  }
  return t;
}

/* The first row as an object of its own, which takes the rows over. */
static tirc_status keep_first(DbRows *rows, tirc_db_trial **out, tirc_error **error) {
  Kept *k = calloc(1, sizeof *k);
  if (!k) {
    tirc_db_rows_free(rows);
    return tirc_api_no_memory(error);
  }
  *k = (Kept){.t = trial_of(rows, 0), .rows = *rows};
  *out = &k->t;
  return TIRC_OK;
}

void tirc_db_trial_free(tirc_db_trial *t) {
  if (!t) return;
  Kept *k = (Kept *)t;
  free((double *)t->samples);
  tirc_db_rows_free(&k->rows);
  free(k);
}

/* --- into rows -------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

DbValue tirc_db_known(double r) { return r == 0 ? (DbValue){0} : db_real(r); }

/* No load is something to know, where something is known. */
DbValue tirc_db_load(const tirc_db_conditions *c) {
  return c->clock_low > 0 || c->load_is_known ? db_real(c->load) : tirc_db_known(c->load);
}

double tirc_db_median(int n, const double *samples) {
  double *sorted = n > 0 ? malloc((size_t)n * sizeof *sorted) : NULL;
  if (!sorted) return NAN;
  memcpy(sorted, samples, (size_t)n * sizeof *sorted);
  qsort(sorted, (size_t)n, sizeof *sorted, by_size);
  const double median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
  free(sorted);
  return median;
}

char *tirc_db_samples_text(int n, const double *samples) {
  char *out = NULL;
  size_t size;
  if (n == 0) return NULL;
  FILE *f = open_memstream(&out, &size);
  for (int i = 0; f && i < n; i++) {
    char text[32];
    for (int digits = 9; digits <= 17; digits++) { /* as few as give the number back */
      tirc_snprintf(text, sizeof text, "%.*g", digits, samples[i]);
      if (tirc_parse_double(text, NULL) == samples[i]) break;
    }
    fprintf(f, "%s%s", i ? ", " : "[", text);
  }
  if (f) fputc(']', f);
  if (f) fclose(f);
  return out;
}

/* The trace without the white space between its tokens: one text, however it was written. */
static char *compact(const char *trace) {
  char *out = strdup(trace), *to = out;
  bool quoted = false;
  for (const char *p = trace; out && *p; p++) {
    if (!quoted && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')) continue;
    if (*p == '"') quoted = !quoted;
    *to++ = *p;
    if (quoted && *p == '\\' && p[1]) *to++ = *++p;
  }
  if (out) *to = 0;
  return out;
}

/* A trial with what is reckoned of it, on the heap. */
typedef struct Prepared {
  const tirc_db_trial *t;
  char *trace, *samples;
  DbId id;
  double seconds;
} Prepared;

static bool prepare(const tirc_db_trial *t, Prepared *p) {
  *p = (Prepared){.t = t,
                  .seconds = t->code ? (double)NAN : tirc_db_median(t->n_samples, t->samples)};
  p->samples = tirc_db_samples_text(t->n_samples, t->samples);
  p->trace = t->trace ? compact(t->trace) : NULL;
  if (p->trace) p->id = DB_ID("trial", t->task, p->trace);
  return (p->trace || !t->trace) && (p->samples || !t->n_samples);
}

static void unprepare(Prepared *p) {
  free(p->trace);
  free(p->samples);
}

static tirc_status insert(tirc_db *db, const Prepared *p, tirc_db_state state, const char *conflict,
                          int64_t *changed, tirc_error **error) {
  const tirc_db_trial *t = p->t;
  const tirc_db_conditions *c = &t->conditions;
  const double now = tirc_db_clock(), created = t->created > 0 ? t->created : now;
  const double finished = state != TIRC_DB_DONE ? (double)NAN : t->finished > 0 ? t->finished : now;
  char sql[1600];
  snprintf(sql, sizeof sql,
           "INSERT INTO trial (" COLUMNS ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11,"
           " $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22) ON CONFLICT (id) DO %s",
           conflict);
  return tirc_db_run(db, sql,
                     DB_PARAMS(db_text(p->id.text), db_text(t->task), db_text(p->trace),
                               db_text(state_names[state]), db_int(t->attempts), db_text(t->worker),
                               db_real(t->predicted), db_text(t->code), db_text(t->message),
                               db_real(p->seconds), db_text(p->samples),
                               tirc_db_known(c->clock_low), tirc_db_known(c->clock_high),
                               tirc_db_load(c), db_text(c->pages), db_text(c->environment),
                               db_text(c->command), db_int(c->seed), db_text(t->source),
                               db_text(t->more), db_real(created), db_real(finished)),
                     NULL, changed, error);
}

#define TAKE(column) #column " = excluded." #column
#define REPLACE_UNFINISHED                                                                                                                                                                                    \
  "UPDATE SET " TAKE(state) ", " TAKE(attempts) ", " TAKE(worker) ", lease = NULL, " TAKE(predicted) ", " TAKE(code) ", " TAKE(message) ", " TAKE(seconds) ", " TAKE(samples) ", " TAKE(clock_low) ", " TAKE( \
      clock_high) ", " TAKE(load) ", " TAKE(pages) ", " TAKE(environment) ", " TAKE(command) ","                                                                                                              \
                                                                                             " " TAKE(seed) ", " TAKE(source) ", " TAKE(                                                                      \
                                                                                                 more) ", " TAKE(created) ", " TAKE(finished) " WHERE trial.state <> 'done' AND excluded.state = 'done'"

tirc_status tirc_db_put_trial(tirc_db *db, const tirc_db_trial *t, bool *stored,
                              tirc_error **error) {
  NEED(db, t, LIST(t->n_samples, t->samples));
  if (!t->task || !t->trace)
    return tirc_db_error(error, TIRC_BAD, NULL,
                         "tirc_db_put_trial: a trial has a task and a trace");
  Prepared p;
  int64_t changed = 0;
  tirc_status status = prepare(t, &p)
                           ? insert(db, &p, t->state, REPLACE_UNFINISHED, &changed, error)
                           : tirc_api_no_memory(error);
  if (status == TIRC_OK && stored) *stored = changed > 0;
  unprepare(&p);
  return status;
}

/* --- work ------------------------------------------------------------------------------------- */

typedef struct Proposal {
  const char *task;
  int64_t budget, accepted;
  int n;
  const tirc_db_trial *trials;
} Proposal;

static tirc_status propose(tirc_db *db, void *self, tirc_error **error) {
  Proposal *p = self;
  DbRows rows = {0};
  /* Others who propose wait here, so that together they keep to the budget. */
  tirc_status status = tirc_db_run(db, "SELECT id FROM task WHERE id = $1 $lock_row",
                                   DB_PARAMS(db_text(p->task)), &rows, NULL, error);
  tirc_db_rows_free(&rows);
  if (status == TIRC_OK)
    status = tirc_db_run(db, "SELECT count(*) FROM trial WHERE task = $1",
                         DB_PARAMS(db_text(p->task)), &rows, NULL, error);
  int64_t room = status == TIRC_OK ? p->budget - db_cell_int(&rows, 0, 0) : 0;
  tirc_db_rows_free(&rows);
  p->accepted = 0;
  for (int i = 0; i < p->n && room > 0 && status == TIRC_OK; i++) {
    tirc_db_trial t = p->trials[i];
    Prepared made;
    int64_t changed = 0;
    t.task = p->task;
    if (!t.trace)
      return tirc_db_error(error, TIRC_BAD, NULL, "tirc_db_propose: a trial has a trace");
    status = prepare(&t, &made) ? insert(db, &made, TIRC_DB_QUEUED, "NOTHING", &changed, error)
                                : tirc_api_no_memory(error);
    unprepare(&made);
    p->accepted += changed;
    room -= changed;
  }
  return status;
}

tirc_status tirc_db_propose(tirc_db *db, const char *task, int64_t budget, int n,
                            const tirc_db_trial *trials, int64_t *accepted, tirc_error **error) {
  NEED(db, task, LIST(n, trials));
  Proposal p = {.task = task, .budget = budget, .n = n, .trials = trials};
  const tirc_status status = tirc_db_transact(db, propose, &p, error);
  if (status == TIRC_OK && accepted) *accepted = p.accepted;
  return status;
}

#define MOST_ATTEMPTS "3"

static tirc_status bury(tirc_db *db, tirc_error **error) {
  return tirc_db_run(db,
                     "UPDATE trial SET state = 'done', code = 'worker-lost', lease = NULL,"
                     " message = 'every worker that took this trial was lost', finished = $now"
                     " WHERE state <> 'done' AND state = 'running' AND lease <= $now"
                     " AND attempts >= " MOST_ATTEMPTS,
                     0, NULL, NULL, NULL, error);
}

typedef struct Take {
  const char *task, *worker;
  double lease;
  DbRows rows;
} Take;

static tirc_status take(tirc_db *db, void *self, tirc_error **error) {
  Take *t = self;
  tirc_db_rows_free(&t->rows);
  return tirc_db_run(
      db,
      "UPDATE trial SET state = 'running', worker = $1, lease = $now + $2, attempts = attempts + 1"
      " WHERE id = (SELECT id FROM trial WHERE state <> 'done' AND ($3 = '' OR task = $3) AND "
      "(state = 'queued'"
      " OR (state = 'running' AND lease <= $now AND attempts < " MOST_ATTEMPTS "))"
      " ORDER BY CASE WHEN state = 'queued' THEN 0 ELSE 1 END, coalesce(predicted, 0) DESC, "
      "created, id LIMIT 1 $skip_locked) RETURNING " COLUMNS,
      DB_PARAMS(db_text(t->worker), db_real(t->lease), db_text(t->task ? t->task : "")), &t->rows,
      NULL, error);
}

tirc_status tirc_db_take(tirc_db *db, const char *task, const char *worker, double lease,
                         tirc_db_trial **out, tirc_error **error) {
  NEED(db, worker, out);
  Take t = {.task = task, .worker = worker, .lease = lease};
  tirc_status status = bury(db, error);
  if (status == TIRC_OK) status = take(db, &t, error);
  if (status == TIRC_OK && t.rows.n) return keep_first(&t.rows, out, error);
  tirc_db_rows_free(&t.rows);
  if (status != TIRC_OK) return status;
  return tirc_db_error(error, TIRC_NO, NULL, "no trial is waiting");
}

tirc_status tirc_db_renew(tirc_db *db, const char *worker, double lease, int64_t *held,
                          tirc_error **error) {
  NEED(db, worker);
  return tirc_db_run(db,
                     "UPDATE trial SET lease = $now + $1 WHERE state <> 'done' AND worker = $2"
                     " AND state = 'running'",
                     DB_PARAMS(db_real(lease), db_text(worker)), NULL, held, error);
}

tirc_status tirc_db_release(tirc_db *db, const char *worker, tirc_error **error) {
  NEED(db, worker);
  return tirc_db_run(db,
                     "UPDATE trial SET state = 'queued', lease = NULL, attempts = attempts - 1"
                     " WHERE state <> 'done' AND worker = $1 AND state = 'running'",
                     DB_PARAMS(db_text(worker)), NULL, NULL, error);
}

typedef struct Finish {
  const Prepared *p;
  bool stored;
} Finish;

/* Done by this worker already is stored as well: the answer to the first try may have been lost. */
static tirc_status finish(tirc_db *db, void *self, tirc_error **error) {
  Finish *f = self;
  const tirc_db_trial *t = f->p->t;
  const tirc_db_conditions *c = &t->conditions;
  int64_t changed = 0;
  tirc_status status = tirc_db_run(
      db,
      "UPDATE trial SET state = 'done', lease = NULL, code = $1, message = $2, seconds = $3,"
      " samples = $4, clock_low = $5, clock_high = $6, load = $7, pages = $8, environment = $9,"
      " command = $10, seed = $11, more = $12, finished = $now"
      " WHERE id = $13 AND worker = $14 AND state IN ('running', 'done')",
      DB_PARAMS(db_text(t->code), db_text(t->message), db_real(f->p->seconds),
                db_text(f->p->samples), tirc_db_known(c->clock_low), tirc_db_known(c->clock_high),
                tirc_db_load(c), db_text(c->pages), db_text(c->environment), db_text(c->command),
                db_int(c->seed), db_text(t->more), db_text(t->id), db_text(t->worker)),
      NULL, &changed, error);
  f->stored = changed > 0;
  return status;
}

tirc_status tirc_db_finish(tirc_db *db, const tirc_db_trial *t, bool *stored, tirc_error **error) {
  NEED(db, t, LIST(t->n_samples, t->samples));
  if (!t->id || !t->worker)
    return tirc_db_error(error, TIRC_BAD, NULL,
                         "tirc_db_finish: the trial is one that a worker has taken");
  Prepared p;
  Finish f = {.p = &p};
  tirc_status status = prepare(t, &p) ? finish(db, &f, error) : tirc_api_no_memory(error);
  if (status == TIRC_OK && stored) *stored = f.stored;
  unprepare(&p);
  return status;
}

typedef struct More {
  const char *trial;
  int n;
  const double *samples;
} More;

static tirc_status add_samples(tirc_db *db, void *self, tirc_error **error) {
  const More *m = self;
  DbRows rows = {0};
  tirc_status status = tirc_db_run(
      db, "SELECT samples FROM trial WHERE id = $1 AND state = 'done' AND code IS NULL $lock_row",
      DB_PARAMS(db_text(m->trial)), &rows, NULL, error);
  if (status == TIRC_OK && rows.n) {
    int old = 0;
    double *all = tirc_db_samples(db_cell_text(&rows, 0, 0), &old);
    double *grown = realloc(all, ((size_t)old + (size_t)m->n + 1) * sizeof *grown);
    if (grown) {
      all = grown;
      memcpy(all + old, m->samples, (size_t)m->n * sizeof *grown);
    }
    char *text = grown ? tirc_db_samples_text(old + m->n, all) : NULL;
    status = text ? tirc_db_run(db, "UPDATE trial SET samples = $1, seconds = $2 WHERE id = $3",
                                DB_PARAMS(db_text(text), db_real(tirc_db_median(old + m->n, all)),
                                          db_text(m->trial)),
                                NULL, NULL, error)
                  : tirc_api_no_memory(error);
    free(text);
    free(all);
  }
  tirc_db_rows_free(&rows);
  return status;
}

tirc_status tirc_db_add_samples(tirc_db *db, const char *trial, int n, const double *samples,
                                tirc_error **error) {
  NEED(db, trial, LIST(n, samples));
  More m = {trial, n, samples};
  return n ? tirc_db_transact(db, add_samples, &m, error) : TIRC_OK;
}

tirc_status tirc_db_set_winner(tirc_db *db, const char *trial, tirc_error **error) {
  NEED(db, trial);
  return tirc_db_run(
      db, "UPDATE task SET winner = $1 WHERE id = (SELECT task FROM trial WHERE id = $1)",
      DB_PARAMS(db_text(trial)), NULL, NULL, error);
}

tirc_status tirc_db_drop_winner(tirc_db *db, const char *task, double seconds, tirc_error **error) {
  NEED(db, task);
  return tirc_db_run(db,
                     "UPDATE task SET winner = NULL WHERE id = $1"
                     " AND (SELECT r.seconds FROM trial r WHERE r.id = task.winner) > $2",
                     DB_PARAMS(db_text(task), db_real(seconds)), NULL, NULL, error);
}

tirc_status tirc_db_refute(tirc_db *db, const char *trial, const char *code, const char *message,
                           tirc_error **error) {
  NEED(db, trial, code);
  return tirc_db_run(db,
                     "UPDATE trial SET code = $1, message = $2, seconds = NULL WHERE id = $3"
                     " AND state = 'done'",
                     DB_PARAMS(db_text(code), db_text(message), db_text(trial)), NULL, NULL, error);
}

/* --- questions -------------------------------------------------------------------------------- */

#define OF_TASKS                                                                                   \
  " FROM task t JOIN machine m ON m.id = t.machine WHERE t.workload = $1 AND t.target = $2"        \
  " AND t.threads = $3 AND ($4 = '' OR m.profile = $4)"

tirc_status tirc_db_best(tirc_db *db, const tirc_module *m, const char *target, int threads,
                         const char *machine, tirc_db_trial **out, tirc_error **error) {
  NEED(db, m, target, out);
  DbRows same = {0}, best = {0};
  tirc_status status = tirc_db_same_workloads(db, m, &same, error);
  for (int i = 0; i < same.n && status == TIRC_OK; i++) {
    DbRows rows = {0};
    status = tirc_db_run(
        db,
        "SELECT " COLUMNS " FROM trial WHERE id = COALESCE("
        "(SELECT r.id FROM trial r WHERE r.seconds IS NOT NULL AND r.id IN (SELECT "
        "t.winner" OF_TASKS ") ORDER BY r.seconds, r.id LIMIT 1),"
        " (SELECT r.id FROM trial r WHERE r.seconds IS NOT NULL AND r.task IN (SELECT t.id" OF_TASKS
        ") ORDER BY r.seconds, r.id LIMIT 1))",
        DB_PARAMS(same.cells[i], db_text(target), db_int(threads), db_text(machine ? machine : "")),
        &rows, NULL, error);
    if (rows.n && (!best.n || db_cell_real(&rows, 0, 9) < db_cell_real(&best, 0, 9))) {
      tirc_db_rows_free(&best);
      best = rows;
    } else {
      tirc_db_rows_free(&rows);
    }
  }
  tirc_db_rows_free(&same);
  if (status == TIRC_OK && best.n) return keep_first(&best, out, error);
  tirc_db_rows_free(&best);
  if (status != TIRC_OK) return status;
  return tirc_db_error(error, TIRC_NO, NULL,
                       "%s has no trial of this program for %s on %d thread%s", tirc_db_name(db),
                       target, threads, threads == 1 ? "" : "s");
}

tirc_status tirc_db_find_trial(tirc_db *db, const char *id, tirc_db_trial **out,
                               tirc_error **error) {
  NEED(db, id, out);
  DbRows rows = {0};
  const tirc_status status =
      tirc_db_run(db, "SELECT " COLUMNS " FROM trial WHERE substr(id, 1, length($1)) = $1 LIMIT 2",
                  DB_PARAMS(db_text(id)), &rows, NULL, error);
  if (status == TIRC_OK && rows.n == 1) return keep_first(&rows, out, error);
  const int n = rows.n;
  tirc_db_rows_free(&rows);
  if (status != TIRC_OK) return status;
  return tirc_db_error(error, TIRC_NO, NULL, "%s trial's id begins with %s",
                       n ? "more than one" : "no", id);
}

tirc_status tirc_db_trials(tirc_db *db, const char *task, int64_t limit,
                           bool (*visit)(void *self, const tirc_db_trial *t), void *self,
                           tirc_error **error) {
  NEED(db, task, visit);
  DbRows rows = {0};
  const tirc_status status = tirc_db_run(
      db,
      "SELECT " COLUMNS " FROM trial WHERE task = $1 ORDER BY"
      " CASE WHEN id = (SELECT winner FROM task WHERE task.id = $1) THEN 0 ELSE 1 END,"
      " CASE WHEN state = 'done' THEN 0 ELSE 1 END,"
      " CASE WHEN seconds IS NULL THEN 1 ELSE 0 END, seconds, created, id LIMIT $2",
      DB_PARAMS(db_text(task), db_int(limit > 0 ? limit : INT64_MAX)), &rows, NULL, error);
  for (int i = 0; i < rows.n; i++) {
    const tirc_db_trial t = trial_of(&rows, i);
    const bool more = visit(self, &t);
    free((double *)t.samples);
    if (!more) break;
  }
  tirc_db_rows_free(&rows);
  return status;
}

tirc_status tirc_db_unfinished(tirc_db *db, const char *task, int64_t *queued, int64_t *running,
                               tirc_error **error) {
  NEED(db, task, queued, running);
  DbRows rows = {0};
  const tirc_status status = tirc_db_run(
      db, "SELECT state, count(*) FROM trial WHERE task = $1 AND state <> 'done' GROUP BY state",
      DB_PARAMS(db_text(task)), &rows, NULL, error);
  *queued = *running = 0;
  for (int i = 0; i < rows.n; i++)
    *(state_of(db_cell_text(&rows, i, 0)) == TIRC_DB_QUEUED ? queued : running) =
        db_cell_int(&rows, i, 1);
  tirc_db_rows_free(&rows);
  return status;
}

/* The ids come from an index; each text is read once. */
tirc_status tirc_db_news(tirc_db *db, const char *task, bool (*knows)(void *self, const char *id),
                         void (*visit)(void *self, const tirc_db_trial *t), void *self,
                         tirc_error **error) {
  NEED(db, task, knows, visit);
  DbRows ids = {0};
  tirc_status status =
      tirc_db_run(db,
                  "SELECT id FROM trial WHERE task = $1 AND state = 'done'"
                  " ORDER BY CASE WHEN seconds IS NULL THEN 1 ELSE 0 END, seconds, id",
                  DB_PARAMS(db_text(task)), &ids, NULL, error);
  for (int i = 0; i < ids.n && status == TIRC_OK; i++) {
    DbRows rows = {0};
    if (knows(self, db_cell_text(&ids, i, 0))) continue;
    status = tirc_db_run(db, "SELECT " COLUMNS " FROM trial WHERE id = $1", DB_PARAMS(ids.cells[i]),
                         &rows, NULL, error);
    if (status == TIRC_OK && rows.n) {
      const tirc_db_trial t = trial_of(&rows, 0);
      visit(self, &t);
      free((double *)t.samples);
    }
    tirc_db_rows_free(&rows);
  }
  tirc_db_rows_free(&ids);
  return status;
}
