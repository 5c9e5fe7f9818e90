/* Models: bytes that are known by their kind and target. */
#include "driver.h"

#include "runtime/api/api.h"

#include <stdlib.h>

tirc_status tirc_db_put_model(tirc_db *db, const tirc_db_model *m, tirc_error **error) {
  NEED(db, m, LIST(m->n, m->data));
  if (!m->kind || !m->target)
    return tirc_db_error(error, TIRC_BAD, NULL,
                         "tirc_db_put_model: a model has a kind and a target");
  const DbId id = DB_ID("model", m->kind, m->target);
  return tirc_db_run(db,
                     "INSERT INTO model (id, kind, target, description, trained_on, data, created)"
                     " VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO UPDATE SET"
                     " description = excluded.description, trained_on = excluded.trained_on,"
                     " data = excluded.data, created = excluded.created",
                     DB_PARAMS(db_text(id.text), db_text(m->kind), db_text(m->target),
                               db_text(m->description ? m->description : "{}"),
                               db_int(m->trained_on), db_bytes(m->data, m->n),
                               db_real(tirc_db_clock())),
                     NULL, NULL, error);
}

typedef struct Kept {
  tirc_db_model m;
  DbRows rows;
} Kept;

tirc_status tirc_db_get_model(tirc_db *db, const char *kind, const char *target,
                              tirc_db_model **out, tirc_error **error) {
  NEED(db, kind, target, out);
  DbRows rows = {0};
  tirc_status status =
      tirc_db_run(db,
                  "SELECT kind, target, description, trained_on, data, created FROM model"
                  " WHERE kind = $1 AND target = $2",
                  DB_PARAMS(db_text(kind), db_text(target)), &rows, NULL, error);
  Kept *k = status == TIRC_OK && rows.n ? calloc(1, sizeof *k) : NULL;
  if (!k) {
    if (status == TIRC_OK && rows.n)
      status = tirc_api_no_memory(error);
    else if (status == TIRC_OK)
      status = tirc_db_error(error, TIRC_NO, NULL, "%s has no model %s for %s", tirc_db_name(db),
                             kind, target);
    tirc_db_rows_free(&rows);
    return status;
  }
  k->m = (tirc_db_model){.kind = db_cell_text(&rows, 0, 0),
                         .target = db_cell_text(&rows, 0, 1),
                         .description = db_cell_text(&rows, 0, 2),
                         .trained_on = db_cell_int(&rows, 0, 3),
                         .data = rows.cells[4].s,
                         .n = rows.cells[4].n,
                         .created = db_cell_real(&rows, 0, 5)};
  k->rows = rows;
  *out = &k->m;
  return TIRC_OK;
}

void tirc_db_model_free(tirc_db_model *m) {
  if (!m) return;
  tirc_db_rows_free(&((Kept *)m)->rows);
  free(m);
}
