/* Who has what: workers whose leases run, and those that are known to be gone. */
#include "trials.h"

#include "runtime/api/api.h"

tirc_status tirc_db_workers(tirc_db *db, const char *task,
                            void (*visit)(void *self, const tirc_db_worker *w), void *self,
                            tirc_error **error) {
  NEED(db, task, visit);
  DbRows rows = {0};
  const tirc_status status =
      tirc_db_run(db,
                  "SELECT worker, count(*), max(lease) - $now FROM trial WHERE state <> 'done'"
                  " AND task = $1 AND state = 'running' AND lease > $now GROUP BY worker"
                  " ORDER BY worker",
                  DB_PARAMS(db_text(task)), &rows, NULL, error);
  for (int i = 0; i < rows.n; i++)
    visit(self, &(tirc_db_worker){.name = db_cell_text(&rows, i, 0),
                                  .n_trials = db_cell_int(&rows, i, 1),
                                  .left = db_cell_real(&rows, i, 2)});
  tirc_db_rows_free(&rows);
  return status;
}

tirc_status tirc_db_expire(tirc_db *db, const char *worker, tirc_error **error) {
  NEED(db, worker);
  return tirc_db_run(db,
                     "UPDATE trial SET lease = $now WHERE state <> 'done' AND worker = $1"
                     " AND state = 'running'",
                     DB_PARAMS(db_text(worker)), NULL, NULL, error);
}
