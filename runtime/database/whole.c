/* What is done with databases as a whole: one is merged into another, one is cut down. */
#include "trials.h"

#include "runtime/api/api.h"

/* A table as it is copied. Ids say what a row is about, so what is there already is the same; only
 * where it may be less, `conflict` says what the newcomer changes. */
typedef struct Table {
  const char *name, *columns, *conflict;
  size_t counted; /* 1 + where in tirc_db_counts; 0: nowhere */
} Table;

#define COUNTED(member) (offsetof(tirc_db_counts, member) + 1)

/* Parents stand before what refers to them. */
static const Table tables[] = {
    {"workload", "id, hash, name, program, created", "DO NOTHING", COUNTED(workloads)},
    {"machine", "id, profile, description, created", "DO NOTHING", 0},
    {"environment", "id, description, created", "DO NOTHING", 0},
    {"task", "id, workload, target, threads, machine, winner, created",
     "(id) DO UPDATE SET winner = excluded.winner"
     " WHERE task.winner IS NULL AND excluded.winner IS NOT NULL",
     COUNTED(tasks)},
    {"trial",
     "id, task, trace, state, attempts, worker, predicted, code, message, seconds, samples,"
     " clock_low, clock_high, load, pages, environment, command, seed, source, more, created,"
     " finished",
     "(id) DO UPDATE SET state = excluded.state, attempts = excluded.attempts,"
     " worker = excluded.worker, lease = NULL, code = excluded.code, message = excluded.message,"
     " seconds = excluded.seconds, samples = excluded.samples, clock_low = excluded.clock_low,"
     " clock_high = excluded.clock_high, load = excluded.load, pages = excluded.pages,"
     " environment = excluded.environment, command = excluded.command, seed = excluded.seed,"
     " source = excluded.source, more = excluded.more, finished = excluded.finished"
     " WHERE trial.state <> 'done' AND excluded.state = 'done'",
     COUNTED(trials)},
    {"model", "id, kind, target, description, trained_on, data, created",
     "(id) DO UPDATE SET description = excluded.description, trained_on = excluded.trained_on,"
     " data = excluded.data, created = excluded.created"
     " WHERE excluded.trained_on > model.trained_on",
     COUNTED(models)},
    {"result",
     "id, session, workload, setting, contender, schedule_hash, schedule, target, threads, machine,"
     " environment, code, message, seconds, samples, clock_low, clock_high, load, pages, disturbed,"
     " command, seed, more, created",
     "DO NOTHING", COUNTED(results)},
};

enum { PIECE = 256 }; /* rows that go over at once */

typedef struct Piece {
  const Table *table;
  const DbRows *rows;
  int64_t added;
} Piece;

static tirc_status store_piece(tirc_db *db, void *self, tirc_error **error) {
  Piece *p = self;
  char sql[2400], places[256] = "";
  size_t n = 0;
  for (int i = 0; i < p->rows->columns; i++)
    n += (size_t)snprintf(places + n, sizeof places - n, "%s$%d", i ? ", " : "", i + 1);
  const char *conflict = p->table->conflict;
  snprintf(sql, sizeof sql, "INSERT INTO %s (%s) VALUES (%s) ON CONFLICT %s", p->table->name,
           p->table->columns, places, conflict);
  p->added = 0;
  for (int i = 0; i < p->rows->n; i++) {
    int64_t changed = 0;
    const tirc_status status = tirc_db_run(
        db, sql, p->rows->columns, &p->rows->cells[i * p->rows->columns], NULL, &changed, error);
    if (status != TIRC_OK) return status;
    p->added += changed;
  }
  return TIRC_OK;
}

/* Which are in the order of their ids. */
static tirc_status store_trials(tirc_db *db, void *self, tirc_error **error) {
  const Piece *p = self;
  const tirc_status status = store_piece(db, self, error);
  if (status != TIRC_OK || !p->rows->n) return status;
  const char *first = db_cell_text(p->rows, 0, 0), *last = db_cell_text(p->rows, p->rows->n - 1, 0);
  return tirc_db_run(db, DB_MARK_HOPELESS " AND id >= $1 AND id <= $2",
                     DB_PARAMS(db_text(first), db_text(last)), NULL, NULL, error);
}

/* What a worker of the other database has taken is free here. */
static void free_work(DbRows *rows) {
  enum { STATE = 3 };
  for (int i = 0; i < rows->n; i++) {
    DbValue *state = &rows->cells[i * rows->columns + STATE];
    if (state->s && strcmp(state->s, "running") == 0) memcpy((char *)state->s, "queued", 7);
  }
}

static tirc_status merge_table(tirc_db *db, tirc_db *from, const Table *t, int64_t *added,
                               tirc_error **error) {
  DbId last = {""};
  char sql[700];
  snprintf(sql, sizeof sql, "SELECT %s FROM %s WHERE id > $1 ORDER BY id LIMIT %d", t->columns,
           t->name, PIECE);
  for (;;) {
    DbRows rows = {0};
    tirc_status status = tirc_db_run(from, sql, DB_PARAMS(db_text(last.text)), &rows, NULL, error);
    const bool are_trials = strcmp(t->name, "trial") == 0;
    if (status == TIRC_OK && are_trials) free_work(&rows);
    Piece p = {.table = t, .rows = &rows};
    if (status == TIRC_OK)
      status = tirc_db_transact(db, are_trials ? store_trials : store_piece, &p, error);
    *added += p.added;
    const bool more = status == TIRC_OK && rows.n == PIECE;
    if (more) snprintf(last.text, sizeof last.text, "%s", db_cell_text(&rows, rows.n - 1, 0));
    tirc_db_rows_free(&rows);
    if (!more) return status;
  }
}

typedef struct Merge {
  tirc_db *into;
  tirc_db_counts counts;
} Merge;

static tirc_status merge_tables(tirc_db *from, void *self, tirc_error **error) {
  Merge *m = self;
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    int64_t n = 0;
    const tirc_status status = merge_table(m->into, from, &tables[i], &n, error);
    if (tables[i].counted) *(int64_t *)(void *)((char *)&m->counts + tables[i].counted - 1) += n;
    if (status != TIRC_OK) return status;
  }
  return TIRC_OK;
}

/* What others add to the source while it is read stays out: it may refer to rows that were passed.
 */
tirc_status tirc_db_merge(tirc_db *db, tirc_db *from, tirc_db_counts *added, tirc_error **error) {
  NEED(db, from);
  Merge m = {.into = db};
  const tirc_status status = tirc_db_read_at_once(from, merge_tables, &m, error);
  if (added) *added = m.counts;
  return status;
}

/* --- cutting down ----------------------------------------------------------------------------- */

typedef struct Prune {
  tirc_db *db;
  int64_t keep;
  DbRows tasks;
  bool out_of_memory;
} Prune;

static bool note_task(void *self, const tirc_db_task *t) {
  Prune *p = self;
  p->tasks.columns = 1;
  if (tirc_db_rows_add(&p->tasks, db_text(t->id)))
    p->tasks.n++;
  else
    p->out_of_memory = true;
  return !p->out_of_memory;
}

static tirc_status prune_task(tirc_db *db, const char *task, int64_t keep, int64_t *removed,
                              tirc_error **error) {
  return tirc_db_run(db,
                     "DELETE FROM trial WHERE task = $1 AND state = 'done' AND id NOT IN"
                     " (SELECT id FROM trial WHERE task = $1 AND seconds IS NOT NULL"
                     " ORDER BY CASE WHEN id = (SELECT winner FROM task WHERE task.id = $1)"
                     " THEN 0 ELSE 1 END, seconds, id LIMIT $2)",
                     DB_PARAMS(db_text(task), db_int(keep)), NULL, removed, error);
}

tirc_status tirc_db_prune(tirc_db *db, const tirc_db_filter *filter, int64_t keep, int64_t *removed,
                          tirc_error **error) {
  NEED(db, COUNT(keep));
  Prune p = {.db = db, .keep = keep};
  int64_t all = 0;
  tirc_status status = tirc_db_tasks(db, filter, note_task, &p, error);
  if (p.out_of_memory) status = tirc_api_no_memory(error);
  for (int i = 0; i < p.tasks.n && status == TIRC_OK; i++) {
    int64_t n = 0;
    status = prune_task(db, db_cell_text(&p.tasks, i, 0), keep, &n, error);
    all += n;
  }
  tirc_db_rows_free(&p.tasks);
  if (removed) *removed = all;
  return status;
}
