/* A batch of candidates of one program: what is expected of them, what waits in the database or is
 * proposed, measured, told. */
#include "parts.h"
#include "runtime/api/api.h"
#include "runtime/kernel/timer.h"

#include "passes/search/estimate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The end of a search, which compares the best, is within its time, of which it gets half at most.
 */
bool tirc_tuning_goes_on(const Tuning *t) {
  const tirc_tune_options *o = t->options;
  if (t->lost) return false;
  if (o->seconds > 0 &&
      tirc_now() - t->start > o->seconds - fmin(tirc_tuning_finals(t), o->seconds / 2))
    return false;
  return !o->go_on || o->go_on(o->self);
}

/* --- what is expected ------------------------------------------------------------------------- */

static const Cpu *cpu_of(const Task *t) { return tirc_space_target(tirc_search_space(t->search)); }

static double guess(const Task *t, const SearchPoint *p) {
  double cycles = 0;
  for (int f = 0; f < p->mod->n_funcs; f++)
    cycles += tirc_estimate_cycles(p->c, p->mod->funcs[f], cpu_of(t), t->threads);
  return log2(1 + cycles);
}

static const float *features_of(const Task *t, SearchPoint *p) {
  if (!p->data) {
    p->data = tirc_new_array(p->c, float, PROGRAM_FEATURES);
    tirc_program_features(p->c, p->mod, cpu_of(t), t->threads, p->data);
  }
  return p->data;
}

/* By a model as soon as there is one, before that by the estimate. */
void tirc_tuning_rank(void *self, int n, SearchPoint **points) {
  const Task *t = self;
  const char *by = t->options->ranking;
  const Lessons *lessons = by && !strcmp(by, "estimate") ? NULL : t->tuning->lessons;
  float *rows = calloc((size_t)n * PROGRAM_FEATURES + 1, sizeof *rows);
  float *expected = calloc((size_t)n + 1, sizeof *expected);
  for (int i = 0; i < n && rows; i++)
    memcpy(rows + (size_t)i * PROGRAM_FEATURES, features_of(t, points[i]),
           PROGRAM_FEATURES * sizeof *rows);
  const bool predicted =
      lessons && rows && expected && tirc_lessons_predict(lessons, n, rows, expected);
  for (int i = 0; i < n; i++) points[i]->rank = predicted ? expected[i] : guess(t, points[i]);
  free(rows);
  free(expected);
}

double tirc_tuning_best(const Task *t) { return t->n_best ? t->best[0].seconds : (double)INFINITY; }

/* --- a batch ---------------------------------------------------------------------------------- */

typedef struct Taken {
  SearchPoint *point;
  tirc_db_trial *trial;
  int place; /* among those that were just proposed, which are measured in that order */
} Taken;

typedef struct Batch {
  Tuning *tuning;
  Task *task;
  bool expects; /* ranks say what is expected */
  int n;
  Taken at[BATCH];
} Batch;

bool tirc_tuning_stored(Tuning *t, tirc_status status, tirc_error **e) {
  if (status != TIRC_BAD) return true;
  if (!t->lost)
    t->error = *e;
  else
    tirc_error_free(*e);
  *e = NULL;
  t->lost = true;
  return false;
}

/* Among the fastest: takes the point over. */
static bool keep(Task *t, Finalist f) {
  int i = t->n_best;
  if (i == FINALISTS && f.seconds >= t->best[i - 1].seconds) return false;
  if (i == FINALISTS) {
    i--;
    if (t->best[i].point != t->automatic.point) tirc_search_release(t->best[i].point);
  } else {
    t->n_best++;
  }
  for (; i > 0 && t->best[i - 1].seconds > f.seconds; i--) t->best[i] = t->best[i - 1];
  t->best[i] = f;
  return true;
}

static void tell(const Batch *b, const char *way, const char *trace, const Measured *m,
                 bool is_best) {
  const Task *t = b->task;
  const tirc_tune_options *o = b->tuning->options;
  if (!o->told) return;
  o->told(o->self, &(tirc_tune_event){.task = t->number,
                                      .trial = t->trials,
                                      .trials = b->tuning->trials,
                                      .way = way,
                                      .trace = trace,
                                      .seconds = m->seconds,
                                      .code = *m->code ? m->code : NULL,
                                      .message = *m->code ? m->message : NULL,
                                      .best = tirc_tuning_best(t),
                                      .automatic = t->automatic.seconds,
                                      .elapsed = tirc_now() - b->tuning->start,
                                      .is_best = is_best,
                                      .load = m->load});
}

/* Takes a point that was measured over. */
static void take(Task *t, SearchPoint *p, const char *trial, double seconds) {
  const Finalist f = {p, tirc_strdup(p->c, trial), seconds};
  /* the first point of the first way that takes the program is --auto's */
  if (!t->automatic.point && !strcmp(p->way, "automatic")) t->automatic = f;
  if (seconds < tirc_tuning_best(t))
    t->gained += isfinite(tirc_tuning_best(t)) ? 1 - seconds / tirc_tuning_best(t) : 0;
  if (!keep(t, f) && p != t->automatic.point) tirc_search_release(p);
}

/* A trial that somebody else did, or this process in an earlier life. */
void tirc_tuning_hear_of(void *self, const tirc_db_trial *trial, const Extra *e) {
  Task *t = self;
  SearchFailure why;
  t->trials++;
  t->tuning->trials++;
  if (e) tirc_search_pass_over(t->search, e->hash);
  if (trial->code && strcmp(trial->code, TIRC_HOPELESS) != 0) t->failed++;
  if (trial->code || !isfinite(trial->seconds)) return;
  if (e && e->has_features)
    tirc_lessons_add(t->tuning->lessons, t->number, e->features, trial->seconds);
  const bool automatic = e && !strcmp(e->way, "automatic") && !t->automatic.point;
  if (!automatic && !tirc_search_would_keep(t->search, trial->seconds)) return;
  SearchPoint *p = tirc_search_remake(t->search, trial->trace, &why);
  if (!p) return; /* a trace of another version, perhaps */
  if (e) p->way = tirc_strdup(p->c, e->way);
  tirc_search_pass_over(t->search, p->hash);
  tirc_search_tell(t->search, p, trial->seconds, NULL, NULL);
  if (!e || !e->has_features)
    tirc_lessons_add(t->tuning->lessons, t->number, features_of(t, p), trial->seconds);
  take(t, p, trial->id, trial->seconds);
}

bool tirc_tuning_hear_news(Tuning *tuning, Task *t) {
  tirc_error *e = NULL;
  return tirc_tuning_stored(
      tuning, tirc_store_news(&tuning->store, &t->study, tirc_tuning_hear_of, t, &e), &e);
}

static void hear(void *self, int i, const Measured *m) {
  Batch *b = self;
  Tuning *tuning = b->tuning;
  Task *t = b->task;
  SearchPoint *p = b->at[i].point;
  const tirc_db_trial *trial = b->at[i].trial;
  tirc_error *e = NULL;
  bool ours = false;
  if (!strcmp(m->code, "interrupted")) return;
  const bool ran = !*m->code, failed = !ran && !tirc_is_hopeless(m);
  const bool is_best = ran && m->seconds < tirc_tuning_best(t);
  const float *features = ran ? features_of(t, p) : NULL;
  const tirc_status status = tirc_store_finish(&tuning->store, &t->study, trial, p, features, m,
                                               tuning->options->seed, &ours, &e);
  if (tirc_tuning_stored(tuning, status, &e) && !ours)
    return; /* another one took it over, and is heard of */
  b->at[i].point = NULL;
  t->trials++;
  tuning->trials++;
  t->failed += failed;
  t->wrong |= !strcmp(m->code, "wrong-result");
  t->loads += m->load;
  t->loaded++;
  tirc_search_tell(t->search, p, m->seconds, failed ? m->code : NULL, m->message);
  if (ran && b->expects && isfinite(p->rank)) {
    vec_push(t->c, t->expected, p->rank);
    vec_push(t->c, t->measured, m->seconds);
  }
  if (ran) tirc_lessons_add(tuning->lessons, t->number, features, m->seconds);
  Tirc *c = tirc_context_retain(p->c); /* the way's name is in it */
  const char *way = p->way;
  if (ran)
    take(t, p, trial->id, m->seconds);
  else
    tirc_search_release(p);
  tell(b, way, trial->trace, m, is_best);
  tirc_context_release(c);
}

static bool still_wanted(void *self) { return tirc_tuning_goes_on(((const Batch *)self)->tuning); }

static void renew(void *self) {
  Tuning *t = ((const Batch *)self)->tuning;
  tirc_error *e = NULL;
  if (!t->lost) (void)tirc_tuning_stored(t, tirc_store_renew(&t->store, &e), &e);
}

/* The point of a trial that was taken: one of those that were just proposed, or made anew. */
static Taken candidate_of(const Batch *b, tirc_db_trial *trial, int n, SearchPoint **proposed,
                          SearchFailure *why) {
  Extra e;
  Taken k = {.trial = trial, .place = 0};
  const bool ours = tirc_extra_read(trial->more, &e);
  while (k.place < n && !(ours && proposed[k.place] && proposed[k.place]->hash == e.hash))
    k.place++;
  if (k.place < n) {
    k.point = proposed[k.place];
    proposed[k.place] = NULL;
    return k;
  }
  k.point = tirc_search_remake(b->task->search, trial->trace, why);
  if (!k.point) return k;
  if (ours) k.point->way = tirc_strdup(k.point->c, e.way);
  tirc_search_pass_over(b->task->search, ours ? e.hash : k.point->hash);
  k.point->rank = isfinite(trial->predicted) ? -trial->predicted : (double)INFINITY;
  return k;
}

/* What cannot even be made is done with that. */
static void give_up(Batch *b, const tirc_db_trial *trial, const SearchFailure *why) {
  Tuning *tuning = b->tuning;
  const SearchPoint none = {.way = ""};
  Measured m = {.seconds = (double)INFINITY};
  tirc_error *e = NULL;
  bool ours;
  snprintf(m.code, sizeof m.code, "%s", why->code);
  snprintf(m.message, sizeof m.message, "%s", why->message);
  (void)tirc_tuning_stored(tuning,
                           tirc_store_finish(&tuning->store, &b->task->study, trial, &none, NULL,
                                             &m, tuning->options->seed, &ours, &e),
                           &e);
  b->task->trials++;
  tuning->trials++;
  b->task->failed++;
}

static int by_place(const void *a, const void *b) {
  return ((const Taken *)a)->place - ((const Taken *)b)->place;
}

static void take_trials(Batch *b, int most, int n, SearchPoint **proposed) {
  Tuning *tuning = b->tuning;
  for (int i = 0; i < most; i++) {
    tirc_db_trial *trial = NULL;
    tirc_error *e = NULL;
    SearchFailure why;
    const tirc_status status = tirc_store_take(&tuning->store, &b->task->study, &trial, &e);
    if (!tirc_tuning_stored(tuning, status, &e) || !trial) break;
    const Taken k = candidate_of(b, trial, n, proposed, &why);
    if (k.point) {
      b->at[b->n++] = k;
      continue;
    }
    give_up(b, trial, &why);
    tirc_db_trial_free(trial);
  }
  qsort(b->at, (size_t)b->n, sizeof *b->at, by_place);
}

/* What waits already is taken before anything new is proposed. */
static void fill_batch(Batch *b, int most, int64_t budget) {
  Tuning *tuning = b->tuning;
  Task *t = b->task;
  SearchPoint *proposed[BATCH];
  tirc_error *e = NULL;
  const int64_t known = t->trials + t->study.queued + t->study.running;
  const int64_t room = budget - known, wanted = most - t->study.queued;
  int n = (int)(room < wanted ? room : wanted);
  if (t->exhausted || n < 0) n = 0;
  if (n) {
    n = tirc_search_propose(t->search, n, proposed);
    t->exhausted |= n == 0;
    (void)tirc_tuning_stored(
        tuning, tirc_store_propose(&tuning->store, &t->study, budget, n, proposed, &e), &e);
  }
  if (!tuning->lost) take_trials(b, most, n, proposed);
  for (int i = 0; i < n; i++) tirc_search_release(proposed[i]);
}

/* Whether ranks are those that are asked for, and not what stands in for them at first. */
static bool expects(const Tuning *t) {
  const char *by = t->options->ranking;
  if (by && !strcmp(by, "random")) return false;
  return (by && !strcmp(by, "estimate")) || tirc_lessons_can_tell(t->lessons);
}

/* *n: how many were measured. */
tirc_status tirc_tuning_batch(Tuning *tuning, Task *t, int most, int64_t budget, int *n,
                              tirc_error **error) {
  Batch b = {.tuning = tuning, .task = t};
  const Module *modules[BATCH];
  Measured measured[BATCH];
  const BedListener listener = {&b, hear, still_wanted, renew};
  const double start = tirc_now();
  t->gained /= 2;
  tirc_lessons_train(tuning->lessons);
  b.expects = expects(tuning);
  tirc_bed_start(t->bed);
  fill_batch(&b, most, budget);
  *n = b.n;
  for (int i = 0; i < b.n; i++) modules[i] = b.at[i].point->mod;
  tirc_status status =
      b.n ? tirc_bed_measure(t->bed, b.n, modules, tirc_tuning_best(t), measured, &listener, error)
          : TIRC_OK;
  tuning->measuring += tirc_now() - start;
  tuning->candidates += b.n;
  for (int i = 0; i < b.n; i++) {
    tirc_search_release(b.at[i].point);
    tirc_db_trial_free(b.at[i].trial);
  }
  return status;
}
