/* What bench and studies measured. */
#include "ir/number.h"
#include "trials.h"

#include "runtime/api/api.h"

#include <stdlib.h>

tirc_status tirc_db_text_hash(const char *text, char **hash, tirc_error **error) {
  NEED(text, hash);
  *hash = tirc_db_keep(DB_ID("schedule", text).text);
  return *hash ? TIRC_OK : tirc_api_no_memory(error);
}

typedef struct Put {
  const tirc_db_result *r;
  char *samples;
  double seconds, created;
} Put;

static tirc_status put(tirc_db *db, void *self, tirc_error **error) {
  const Put *p = self;
  const tirc_db_result *r = p->r;
  const tirc_db_conditions *c = &r->conditions;
  DbId workload, machine;
  char threads[16], created[32];
  snprintf(threads, sizeof threads, "%d", r->threads);
  tirc_snprintf(created, sizeof created, "%.6f", p->created);
  tirc_status status = tirc_db_put_workload(db, r->module, r->name, &workload, error);
  if (status == TIRC_OK) status = tirc_db_put_machine(db, r->machine, &machine, error);
  if (status != TIRC_OK) return status;
  const DbId schedule = DB_ID("schedule", r->schedule);
  const DbId id = DB_ID("result", r->session, workload.text, r->setting, r->contender,
                        r->schedule ? schedule.text : NULL, r->target, threads, machine.text,
                        p->samples, created);
  return tirc_db_run(
      db,
      "INSERT INTO result (id, session, workload, setting, contender, schedule_hash, schedule,"
      " target, threads, machine, environment, code, message, seconds, samples, clock_low,"
      " clock_high, load, pages, disturbed, command, seed, more, created) VALUES ($1, $2, $3, $4,"
      " $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23,"
      " $24) ON CONFLICT DO NOTHING",
      DB_PARAMS(db_text(id.text), db_text(r->session), db_text(workload.text), db_text(r->setting),
                db_text(r->contender), db_text(r->schedule ? schedule.text : NULL),
                db_text(r->schedule), db_text(r->target), db_int(r->threads), db_text(machine.text),
                db_text(c->environment), db_text(r->code), db_text(r->message), db_real(p->seconds),
                db_text(p->samples), tirc_db_known(c->clock_low), tirc_db_known(c->clock_high),
                tirc_db_load(c), db_text(c->pages), db_int(r->disturbed), db_text(c->command),
                db_int(c->seed), db_text(r->more), db_real(p->created)),
      NULL, NULL, error);
}

tirc_status tirc_db_put_result(tirc_db *db, const tirc_db_result *r, tirc_error **error) {
  NEED(db, r, LIST(r->n_samples, r->samples));
  if (!r->session || !r->module || !r->setting || !r->contender || !r->target)
    return tirc_db_error(error, TIRC_BAD, NULL,
                         "tirc_db_put_result: a result has a session, a program, a setting, a "
                         "contender and a target");
  Put p = {.r = r, .seconds = r->seconds};
  if (!(r->seconds > 0)) p.seconds = tirc_db_median(r->n_samples, r->samples);
  p.created = r->created > 0 ? r->created : tirc_db_clock();
  p.samples = tirc_db_samples_text(r->n_samples, r->samples);
  tirc_status status = TIRC_BAD;
  if (p.samples || !r->n_samples)
    status = tirc_db_transact(db, put, &p, error);
  else
    tirc_api_no_memory(error);
  free(p.samples);
  return status;
}

/* r.samples is on the heap. */
static tirc_db_result result_of(const DbRows *rows, int i, tirc_db_described *machine) {
  *machine = (tirc_db_described){db_cell_text(rows, i, 10), db_cell_text(rows, i, 11)};
  tirc_db_result r = {.id = db_cell_text(rows, i, 0),
                      .session = db_cell_text(rows, i, 1),
                      .workload = db_cell_text(rows, i, 2),
                      .setting = db_cell_text(rows, i, 3),
                      .contender = db_cell_text(rows, i, 4),
                      .schedule_hash = db_cell_text(rows, i, 5),
                      .schedule = db_cell_text(rows, i, 6),
                      .target = db_cell_text(rows, i, 7),
                      .threads = (int)db_cell_int(rows, i, 8),
                      .code = db_cell_text(rows, i, 12),
                      .message = db_cell_text(rows, i, 13),
                      .seconds = db_cell_real(rows, i, 14),
                      .conditions = {.clock_low = db_cell_real(rows, i, 16),
                                     .clock_high = db_cell_real(rows, i, 17),
                                     .load = db_cell_real(rows, i, 18),
                                     .pages = db_cell_text(rows, i, 19),
                                     .environment = db_cell_text(rows, i, 9),
                                     .command = db_cell_text(rows, i, 21),
                                     .seed = db_cell_int(rows, i, 22)},
                      .disturbed = db_cell_int(rows, i, 20) != 0,
                      .more = db_cell_text(rows, i, 23),
                      .created = db_cell_real(rows, i, 24),
                      .hash = db_cell_text(rows, i, 25),
                      .name = db_cell_text(rows, i, 26),
                      .program = db_cell_text(rows, i, 27),
                      .machine = machine};
  r.samples = tirc_db_samples(db_cell_text(rows, i, 15), &r.n_samples);
  return r;
}

tirc_status tirc_db_results(tirc_db *db, const tirc_db_filter *filter, const char *contender,
                            bool (*visit)(void *self, const tirc_db_result *r), void *self,
                            tirc_error **error) {
  NEED(db, visit);
  const tirc_db_filter all = {0}, *f = filter ? filter : &all;
  DbRows rows = {0};
  const tirc_status status = tirc_db_run(
      db,
      "SELECT r.id, r.session, r.workload, r.setting, r.contender, r.schedule_hash, r.schedule,"
      " r.target, r.threads, r.environment, m.profile, m.description, r.code, r.message, r.seconds,"
      " r.samples, r.clock_low, r.clock_high, r.load, r.pages, r.disturbed, r.command, r.seed,"
      " r.more, r.created, w.hash, w.name, w.program FROM result r"
      " JOIN workload w ON w.id = r.workload JOIN machine m ON m.id = r.machine"
      " WHERE (substr(w.id, 1, length($1)) = $1 OR substr(w.hash, 1, length($1)) = $1"
      " OR w.name = $1) AND ($2 = '' OR r.target = $2) AND ($3 = '' OR m.profile = $3)"
      " AND ($4 = 0 OR r.threads = $4) AND ($5 = '' OR r.contender = $5) ORDER BY r.created, r.id",
      DB_PARAMS(db_text(f->workload ? f->workload : ""), db_text(f->target ? f->target : ""),
                db_text(f->machine ? f->machine : ""), db_int(f->threads),
                db_text(contender ? contender : "")),
      &rows, NULL, error);
  for (int i = 0; i < rows.n; i++) {
    tirc_db_described machine;
    const tirc_db_result r = result_of(&rows, i, &machine);
    const bool more = visit(self, &r);
    free((double *)r.samples);
    if (!more) break;
  }
  tirc_db_rows_free(&rows);
  return status;
}
