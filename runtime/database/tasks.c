/* Programs, machines, environments, tasks. */
#include "trials.h"

#include "runtime/api/api.h"

#include <stdlib.h>

tirc_status tirc_db_put_environment(tirc_db *db, const char *description, char **id,
                                    tirc_error **error) {
  NEED(db, description, id);
  const DbId made = DB_ID("environment", description);
  const tirc_status status =
      tirc_db_run(db,
                  "INSERT INTO environment (id, description, created) VALUES ($1, $2, $3)"
                  " ON CONFLICT DO NOTHING",
                  DB_PARAMS(db_text(made.text), db_text(description), db_real(tirc_db_clock())),
                  NULL, NULL, error);
  if (status == TIRC_OK) *id = tirc_db_keep(made.text);
  return status;
}

tirc_status tirc_db_put_machine(tirc_db *db, const tirc_db_described *m, DbId *id,
                                tirc_error **error) {
  const char *profile = m && m->profile ? m->profile : "unknown";
  const char *description = m && m->description ? m->description : "{}";
  *id = DB_ID("machine", profile, description);
  return tirc_db_run(db,
                     "INSERT INTO machine (id, profile, description, created)"
                     " VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
                     DB_PARAMS(db_text(id->text), db_text(profile), db_text(description),
                               db_real(tirc_db_clock())),
                     NULL, NULL, error);
}

static bool is_equal(const tirc_module *m, const char *text) {
  tirc_module *other = NULL;
  char *difference = NULL;
  bool equal =
      tirc_module_parse(text, strlen(text), "workload", 0, NULL, &other, NULL) == TIRC_OK &&
      tirc_module_compare(m, other, &difference, NULL) == TIRC_OK && !difference;
  tirc_string_free(difference);
  tirc_module_free(other);
  return equal;
}

tirc_status tirc_db_same_workloads(tirc_db *db, const tirc_module *m, DbRows *ids,
                                   tirc_error **error) {
  char *hash = NULL;
  DbRows rows = {0};
  tirc_status status = tirc_module_hash(m, &hash, error);
  if (status == TIRC_OK)
    status = tirc_db_run(db, "SELECT id, program FROM workload WHERE hash = $1 ORDER BY created",
                         DB_PARAMS(db_text(hash)), &rows, NULL, error);
  for (int i = 0; i < rows.n && status == TIRC_OK; i++) {
    if (!is_equal(m, db_cell_text(&rows, i, 1))) continue;
    ids->columns = 1;
    if (tirc_db_rows_add(ids, db_text(db_cell_text(&rows, i, 0))))
      ids->n++;
    else
      status = tirc_api_no_memory(error);
  }
  tirc_db_rows_free(&rows);
  tirc_string_free(hash);
  return status;
}

static tirc_status insert_workload(tirc_db *db, const tirc_module *m, const char *name, DbId *id,
                                   tirc_error **error) {
  char *text = NULL, *hash = NULL;
  tirc_status status = tirc_module_print(m, &text, error);
  if (status == TIRC_OK) status = tirc_module_hash(m, &hash, error);
  if (status == TIRC_OK) {
    *id = DB_ID("workload", text);
    status = tirc_db_run(db,
                         "INSERT INTO workload (id, hash, name, program, created)"
                         " VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
                         DB_PARAMS(db_text(id->text), db_text(hash), db_text(name), db_text(text),
                                   db_real(tirc_db_clock())),
                         NULL, NULL, error);
  }
  tirc_string_free(text);
  tirc_string_free(hash);
  return status;
}

tirc_status tirc_db_put_workload(tirc_db *db, const tirc_module *m, const char *name, DbId *id,
                                 tirc_error **error) {
  DbRows same = {0};
  tirc_status status = tirc_db_same_workloads(db, m, &same, error);
  if (status == TIRC_OK && same.n)
    snprintf(id->text, sizeof id->text, "%s", same.cells[0].s);
  else if (status == TIRC_OK)
    status = insert_workload(db, m, name, id, error);
  tirc_db_rows_free(&same);
  return status;
}

typedef struct PutTask {
  const tirc_db_task *task;
  const tirc_module *module;
  DbId id;
} PutTask;

static tirc_status put_task(tirc_db *db, void *self, tirc_error **error) {
  PutTask *p = self;
  DbId workload, machine;
  char threads[16];
  snprintf(threads, sizeof threads, "%d", p->task->threads);
  tirc_status status = tirc_db_put_workload(db, p->module, p->task->name, &workload, error);
  if (status == TIRC_OK) status = tirc_db_put_machine(db, p->task->machine, &machine, error);
  if (status != TIRC_OK) return status;
  p->id = DB_ID("task", workload.text, p->task->target, threads, machine.text);
  return tirc_db_run(db,
                     "INSERT INTO task (id, workload, target, threads, machine, created)"
                     " VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
                     DB_PARAMS(db_text(p->id.text), db_text(workload.text),
                               db_text(p->task->target), db_int(p->task->threads),
                               db_text(machine.text), db_real(tirc_db_clock())),
                     NULL, NULL, error);
}

tirc_status tirc_db_put_task(tirc_db *db, const tirc_db_task *task, char **id, tirc_error **error) {
  NEED(db, task, id);
  if (!task->target || (!task->module && !task->program))
    return tirc_db_error(error, TIRC_BAD, NULL,
                         "tirc_db_put_task: a task has a program and a target");
  tirc_module *parsed = NULL;
  tirc_status status = TIRC_OK;
  if (!task->module)
    status = tirc_module_parse(task->program, strlen(task->program), "workload", 0, NULL, &parsed,
                               error);
  PutTask p = {.task = task, .module = task->module ? task->module : parsed};
  if (status == TIRC_OK) status = tirc_db_transact(db, put_task, &p, error);
  if (status == TIRC_OK) *id = tirc_db_keep(p.id.text);
  tirc_module_free(parsed);
  return status;
}

/* --- the list --------------------------------------------------------------------------------- */

static tirc_db_task task_of(const DbRows *rows, int i, tirc_db_described *machine) {
  *machine = (tirc_db_described){db_cell_text(rows, i, 7), db_cell_text(rows, i, 8)};
  return (tirc_db_task){.id = db_cell_text(rows, i, 0),
                        .workload = db_cell_text(rows, i, 1),
                        .target = db_cell_text(rows, i, 2),
                        .threads = (int)db_cell_int(rows, i, 3),
                        .hash = db_cell_text(rows, i, 4),
                        .name = db_cell_text(rows, i, 5),
                        .program = db_cell_text(rows, i, 6),
                        .machine = machine,
                        .created = db_cell_real(rows, i, 9),
                        .n_queued = db_cell_int(rows, i, 10),
                        .n_running = db_cell_int(rows, i, 11),
                        .n_done = db_cell_int(rows, i, 12),
                        .n_failed = db_cell_int(rows, i, 13),
                        .best = db_cell_real(rows, i, 14),
                        .latest = db_cell_real(rows, i, 15)};
}

/* The columns are those of task_of. */
static const char list_tasks[] =
    "SELECT t.id, w.id, t.target, t.threads, w.hash, w.name, w.program, m.profile, m.description,"
    " t.created,"
    " (SELECT count(*) FROM trial r WHERE r.task = t.id AND r.state = 'queued'),"
    " (SELECT count(*) FROM trial r WHERE r.task = t.id AND r.state = 'running'),"
    " (SELECT count(*) FROM trial r WHERE r.task = t.id AND r.state = 'done'),"
    " (SELECT count(*) FROM trial r WHERE r.task = t.id AND r.code <> '" TIRC_HOPELESS "'),"
    " COALESCE((SELECT r.seconds FROM trial r WHERE r.id = t.winner),"
    " (SELECT min(r.seconds) FROM trial r WHERE r.task = t.id)),"
    " (SELECT max(r.finished) FROM trial r WHERE r.task = t.id)"
    " FROM task t JOIN workload w ON w.id = t.workload JOIN machine m ON m.id = t.machine"
    " WHERE substr(t.id, 1, length($1)) = $1"
    " AND (substr(w.id, 1, length($2)) = $2 OR substr(w.hash, 1, length($2)) = $2 OR w.name = $2)"
    " AND ($3 = '' OR t.target = $3) AND ($4 = '' OR m.profile = $4)"
    " AND ($5 = 0 OR t.threads = $5) ORDER BY t.created, t.id";

tirc_status tirc_db_tasks(tirc_db *db, const tirc_db_filter *filter,
                          bool (*visit)(void *self, const tirc_db_task *t), void *self,
                          tirc_error **error) {
  NEED(db, visit);
  const tirc_db_filter all = {0}, *f = filter ? filter : &all;
  DbRows rows = {0};
  const tirc_status status = tirc_db_run(
      db, list_tasks,
      DB_PARAMS(db_text(f->task ? f->task : ""), db_text(f->workload ? f->workload : ""),
                db_text(f->target ? f->target : ""), db_text(f->machine ? f->machine : ""),
                db_int(f->threads)),
      &rows, NULL, error);
  for (int i = 0; i < rows.n; i++) {
    tirc_db_described machine;
    const tirc_db_task t = task_of(&rows, i, &machine);
    if (!visit(self, &t)) break;
  }
  tirc_db_rows_free(&rows);
  return status;
}
