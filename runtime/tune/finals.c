/* How a search of a program ends: the fastest schedules and --auto's are measured again, in turns,
 * and the winner is made a plain script. */
#include "parts.h"
#include "runtime/api/api.h"
#include "runtime/kernel/timer.h"
#include "runtime/measure/statistics.h"

#include "passes/replay/replay.h"
#include "passes/script/script.h"

#include <math.h>
#include <stdlib.h>

enum { ROUNDS = 5, MOST_ROUNDS = 15 /* while others use the machine */ };
static const double LATE = 2; /* seconds after the time of a search: finals are what it is for */

typedef struct Finals {
  Tuning *tuning;
  Task *task;
  int n;
  Finalist *at[FINALISTS + 1];
  VEC(double) samples[FINALISTS + 1];
  bool failed[FINALISTS + 1];
} Finals;

static void hear_turn(void *self, int i, const Measured *m) {
  Finals *f = self;
  for (int k = 0; k < m->n_samples; k++) vec_push(f->task->c, f->samples[i], m->samples[k]);
}

/* --- their time ------------------------------------------------------------------------------- */

/* Of --auto's schedule and the best. */
static int count_finalists(const Task *t) {
  int n = t->n_best + (t->automatic.point != NULL);
  for (int i = 0; i < t->n_best; i++) n -= t->best[i].point == t->automatic.point;
  return n;
}

/* Each is made again, and its turns take about what a trial takes. */
double tirc_tuning_finals(const Tuning *t) {
  double n = 0;
  for (int i = 0; i < t->n; i++) n += count_finalists(&t->tasks[i]);
  const double took = t->candidates ? n * t->measuring / (double)t->candidates : 0;
  return fmax(0, took - LATE);
}

/* A program's finals have their share of what is left, by their number. */
static void share_time(Tuning *tuning, const Task *t) {
  const tirc_tune_options *o = tuning->options;
  const double now = tirc_now(), left = tuning->start + o->seconds + LATE - now;
  int all = 0;
  for (int i = t->number; i < tuning->n; i++) all += count_finalists(&tuning->tasks[i]);
  tuning->share_ends =
      o->seconds > 0 ? now + left * count_finalists(t) / fmax(all, 1) : (double)INFINITY;
}

static bool may_compare(const Tuning *t) {
  return !t->lost && tirc_now() < t->share_ends &&
         (!t->options->go_on || t->options->go_on(t->options->self));
}

/* --- turns ------------------------------------------------------------------------------------ */

static bool finals_go_on(void *self) { return may_compare(((const Finals *)self)->tuning); }

/* What was the fastest once was lucky, too: its record gets what it took in turns with others. */
static void keep_samples(Finals *f) {
  Tuning *t = f->tuning;
  for (int i = 0; i < f->n && !t->lost; i++) {
    tirc_error *e = NULL;
    if (f->failed[i] || !f->samples[i].n) continue;
    (void)tirc_tuning_stored(
        t, tirc_db_add_samples(t->store.db, f->at[i]->trial, f->samples[i].n, f->samples[i].at, &e),
        &e);
  }
}

/* One that has not been checked before, or that fails now: it is none that works. */
static void refute(Finals *f, int i, const Measured *m) {
  Tuning *t = f->tuning;
  tirc_error *e = NULL;
  f->failed[i] = true;
  f->task->wrong |= !strcmp(m->code, "wrong-result");
  f->task->failed++;
  if (!t->lost)
    (void)tirc_tuning_stored(
        t, tirc_db_refute(t->store.db, f->at[i]->trial, m->code, m->message, &e), &e);
}

/* Without turns: the fastest, as far as that is known. */
static void settle(Tuning *tuning, const Task *t, const Finalist *fastest) {
  tirc_error *e = NULL;
  if (!tuning->lost)
    (void)tirc_tuning_stored(
        tuning, tirc_db_drop_winner(tuning->store.db, t->study.id, fastest->seconds, &e), &e);
}

/* The fastest in its trial is not the winner: users have seen it as the best so far. */
static void tell_loss(const Finals *f, const Finalist *winner, double trial, double finals) {
  const Finalist *first = f->at[0];
  if (!winner || winner->point == first->point) return;
  const tirc_tune_loss loss = {.way = first->point->way,
                               .trial = trial,
                               .finals = finals,
                               .to_automatic = winner->point == f->task->automatic.point};
  tirc_tuning_tell_loss(f->tuning, f->task, &loss);
}

/* The fastest ones and --auto's again, in turns; that one stays where no other is certainly faster.
 * *winner: one of the best, or --auto's; NULL: none of them works. */
static tirc_status compare_finalists(Tuning *tuning, Task *t, const Finalist **winner,
                                     tirc_error **error) {
  const Module *modules[FINALISTS + 1];
  Measured m[FINALISTS + 1];
  Finals f = {.tuning = tuning, .task = t};
  const BedListener listener = {&f, hear_turn, finals_go_on, NULL};
  int fastest = -1, automatic = -1, base = -1;
  for (int i = 0; i < t->n_best; i++) f.at[f.n++] = &t->best[i];
  for (int i = 0; i < f.n && t->automatic.point; i++)
    if (f.at[i]->point == t->automatic.point) base = i;
  if (t->automatic.point && base < 0) f.at[base = f.n++] = &t->automatic;
  for (int i = 0; i < f.n; i++) modules[i] = f.at[i]->point->mod;
  *winner = f.at[0];
  const double trial = f.at[0]->seconds;
  if (!may_compare(tuning)) {
    settle(tuning, t, f.at[0]);
    return TIRC_OK;
  }
  tirc_status status =
      tirc_bed_compare(t->bed, f.n, modules, base, ROUNDS, MOST_ROUNDS, m, &listener, error);
  if (status != TIRC_OK) return status;
  t->load = m[0].load;
  *winner = NULL;
  for (int i = 0; i < f.n; i++) {
    if (!m[i].n_samples) f.samples[i].n = 0; /* of a round that was cut, in which others had none */
    const bool failed = *m[i].code && strcmp(m[i].code, "interrupted") != 0;
    if (failed) refute(&f, i, &m[i]);
    if (*m[i].code || !isfinite(m[i].seconds)) continue; /* it had no turn */
    f.at[i]->seconds = m[i].seconds;
    if (i == base) t->automatic.seconds = f.at[i]->seconds, automatic = i;
    if (fastest < 0 || m[i].seconds < m[fastest].seconds) fastest = i;
  }
  if (automatic >= 0 && !tirc_measured_faster(&m[fastest], &m[automatic])) fastest = automatic;
  if (fastest >= 0) *winner = f.at[fastest];
  if (fastest >= 0) tell_loss(&f, *winner, trial, *m[0].code ? (double)INFINITY : m[0].seconds);
  keep_samples(&f);
  tirc_error *e = NULL;
  if (fastest < 0) /* no round was whole */
    for (int i = f.n - 1; i >= 0; i--)
      if (!f.failed[i]) *winner = f.at[i];
  if (fastest < 0 && *winner) {
    settle(tuning, t, *winner);
  } else if (!tuning->lost && *winner) {
    (void)tirc_tuning_stored(tuning, tirc_db_set_winner(tuning->store.db, (*winner)->trial, &e),
                             &e);
  }
  return TIRC_OK;
}

/* --- what a search gives ---------------------------------------------------------------------- */

typedef struct Finish {
  const Task *task;
  const SearchPoint *point;
  tirc_module *result;
} Finish;

/* As it is read from the database: index maps of a text take the type of the indices, where those
 * that were called keep the one that they were called with. */
static const Trace *as_record(Tirc *c, const Trace *t) {
  const char *json = tirc_value_to_json(c, tirc_trace_as_value(c, t, false, DIALECT_TIR));
  return tirc_trace_of_value(c, tirc_value_of_json(c, json), (Loc){0}, "the trace");
}

static void make_plain(Tirc *c, void *self) {
  Finish *f = self;
  Sources sources = f->task->given->module->sources;
  if (sources.n > 1) sources.n = 1;
  const tirc_tune_options *o = f->task->options;
  tirc_schedule_options options = {.target = tirc_tuning_target(o)};
  Sched *s = tirc_api_schedule(c, f->task->given->module, &options);
  tirc_context_depend(c, f->point->c);
  s->warn = NULL;
  tirc_script_serve(s);
  const Trace *plain = tirc_trace_plain(s, as_record(c, f->point->trace));
  f->result = tirc_api_module(c, s->mod, &sources);
  f->result->trace = plain;
  f->result->intrins = s->intrins;
}

tirc_status tirc_tuning_finish(Tuning *tuning, Task *t, tirc_error **error) {
  tirc_tune_result *r = &tuning->results[t->number];
  const SearchFailure *failures;
  const Finalist *winner = NULL;
  share_time(tuning, t);
  tirc_status status = t->n_best ? compare_finalists(tuning, t, &winner, error) : TIRC_OK;
  const int n = tirc_search_failures(t->search, &failures);
  tirc_tune_failure *kept = calloc((size_t)n + 1, sizeof *kept);
  *r = (tirc_tune_result){.seconds = winner ? winner->seconds : (double)INFINITY,
                          .automatic = t->automatic.seconds,
                          .trials = t->trials,
                          .failed = t->failed,
                          .made = tirc_search_made(t->search),
                          .failures = kept,
                          .wrong = t->wrong};
  r->rank_correlation = tirc_rank_correlation(t->measured.n, t->expected.at, t->measured.at, 8);
  for (int i = 0; kept && i < n; i++)
    kept[r->n_failures++] =
        (tirc_tune_failure){strdup(failures[i].code), strdup(failures[i].message), failures[i].n};
  if (status != TIRC_OK || !winner) return status;
  r->way = strdup(winner->point->way);
  Tirc *c = tirc_context_new();
  Finish f = {.task = t, .point = winner->point};
  if (!c) return tirc_api_no_memory(error);
  Sources sources = t->given->module->sources;
  status = tirc_api_guard(c, make_plain, &f, &sources, error);
  if (status == TIRC_OK)
    r->module = f.result;
  else
    tirc_context_release(c);
  return status;
}
