/* The search as a whole: batches of candidates of several programs, proposed by passes/search,
 * measured by measure.c. */
#include "api.h"
#include "measure.h"
#include "timer.h"
#include "tune_store.h"

#include "../codegen/llvm/llvm.h"
#include "../passes/schedule/trace/trace.h"
#include "../passes/search/estimate.h"
#include "../passes/search/model.h"
#include "../passes/search/search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BATCH = 8, FINALISTS = 4, ROUNDS = 7, TRIALS = 64 };
enum {
  FEWEST_LESSONS = 12,
  MANY_LESSONS = 24
};                               /* for a model; for one that knows better than an
                                    earlier search's */
static const double SLOWEST = 5; /* what is 2^5 times as slow as the best is just slow */

typedef struct Tuning Tuning;

typedef struct Task {
  int number;
  const tirc_tune_task *given;
  const tirc_tune_options *options;
  Tirc *c; /* of the search */
  Search *search;
  Bed *bed;
  int threads;
  char *id;                                 /* in the database */
  SearchPoint *automatic, *best[FINALISTS]; /* kept for the end, the fastest first */
  double automatic_seconds, best_seconds[FINALISTS];
  int n_best;
  int64_t trials, failed;
  double gained; /* by the last batches, as a part of the best */
  bool wrong, exhausted;
  VEC(double) expected, measured; /* a model's ranks before, and seconds */
  Tuning *tuning;
} Task;

/* What was measured, for the model. */
typedef struct Lesson {
  const Task *task;
  double seconds;
  float features[PROGRAM_FEATURES];
} Lesson;

struct Tuning {
  Tirc *c;
  int n;
  Task *tasks;
  const tirc_tune_options *options;
  double start;
  int64_t trials;
  Store store;
  Model *model; /* of this search; or NULL: there is no library for it */
  Model *prior; /* of an earlier one, or NULL */
  int n_lessons, cap_lessons;
  Lesson **lessons;
  tirc_tune_result *results;
};

/* --- models that are kept ----------------------------------------------------------------------
 */

static void recall_model(Tuning *t) {
  tirc_db_model *kept = NULL;
  const char *target = t->options->target ? t->options->target : CPU_DEFAULT;
  t->model = tirc_model_new();
  if (!t->model || !t->store.db) return;
  if (tirc_db_get_model(t->store.db, "cost", target, &kept, NULL) != TIRC_OK) return;
  char features[32];
  snprintf(features, sizeof features, "\"features\": %d,", PROGRAM_FEATURES);
  if (kept->description && strstr(kept->description, features)) {
    t->prior = tirc_model_new();
    if (t->prior) (void)tirc_model_load(t->prior, kept->data, kept->n);
  }
  tirc_db_model_free(kept);
}

/* One that has seen less than the one that is there does not take its place. */
static void keep_model(Tuning *t) {
  char description[96];
  tirc_db_model *old = NULL;
  const char *target = t->options->target ? t->options->target : CPU_DEFAULT;
  tirc_db_model m = {
      .kind = "cost", .target = target, .description = description, .trained_on = t->n_lessons};
  if (!t->store.db || !tirc_model_is_trained(t->model)) return;
  snprintf(description, sizeof description, "{\"features\": %d, \"tasks\": %d}", PROGRAM_FEATURES,
           t->n);
  const bool more = tirc_db_get_model(t->store.db, "cost", target, &old, NULL) != TIRC_OK ||
                    old->trained_on <= t->n_lessons;
  tirc_db_model_free(old);
  if (more && tirc_model_save(t->model, &m.data, &m.n))
    (void)tirc_db_put_model(t->store.db, &m, NULL);
}

static bool goes_on(const Tuning *t) {
  const tirc_tune_options *o = t->options;
  if (o->seconds > 0 && tirc_now() - t->start > o->seconds) return false;
  return !o->go_on || o->go_on(o->self);
}

/* --- what is expected --------------------------------------------------------------------------
 */

static double guess(const Task *t, const SearchPoint *p) {
  double cycles = 0;
  for (int f = 0; f < p->mod->n_funcs; f++)
    cycles += tirc_estimate_cycles(p->c, p->mod->funcs[f], t->threads);
  return log2(1 + cycles);
}

static const float *features_of(const Task *t, SearchPoint *p) {
  if (!p->data) {
    p->data = tirc_new_array(p->c, float, PROGRAM_FEATURES);
    tirc_program_features(p->c, p->mod, t->threads, p->data);
  }
  return p->data;
}

/* The model to ask, or NULL. */
static const Model *oracle(const Tuning *t) {
  const bool knows = tirc_model_is_trained(t->model);
  if (knows && (t->n_lessons >= MANY_LESSONS || !tirc_model_is_trained(t->prior))) return t->model;
  return tirc_model_is_trained(t->prior) ? t->prior : NULL;
}

/* By the model as soon as there is one, before that by the estimate. */
static void rank(void *self, int n, SearchPoint **points) {
  const Task *t = self;
  const Model *model = oracle(t->tuning);
  float *rows = calloc((size_t)n * PROGRAM_FEATURES + 1, sizeof *rows);
  float *expected = calloc((size_t)n + 1, sizeof *expected);
  for (int i = 0; i < n && rows; i++)
    memcpy(rows + (size_t)i * PROGRAM_FEATURES, features_of(t, points[i]),
           PROGRAM_FEATURES * sizeof *rows);
  const bool predicted =
      model && rows && expected && tirc_model_predict(model, n, PROGRAM_FEATURES, rows, expected);
  for (int i = 0; i < n; i++) points[i]->rank = predicted ? expected[i] : guess(t, points[i]);
  free(rows);
  free(expected);
}

static void learn_of(Task *t, SearchPoint *p, double seconds) {
  Tuning *all = t->tuning;
  if (!all->model) return;
  if (all->n_lessons == all->cap_lessons) {
    const int cap = 2 * all->cap_lessons + 64;
    Lesson **grown = realloc(all->lessons, (size_t)cap * sizeof *grown);
    if (!grown) return;
    all->lessons = grown;
    all->cap_lessons = cap;
  }
  Lesson *l = calloc(1, sizeof *l);
  if (!l) return;
  *l = (Lesson){.task = t, .seconds = seconds};
  memcpy(l->features, features_of(t, p), sizeof l->features);
  all->lessons[all->n_lessons++] = l;
}

static double best_of(const Task *t) { return t->n_best ? t->best_seconds[0] : (double)INFINITY; }

/* Labels tell how many times as slow as the best of its program each is. */
static void train(Tuning *t) {
  const size_t n = (size_t)t->n_lessons;
  if (!t->model || n < FEWEST_LESSONS) return;
  float *rows = calloc(n * PROGRAM_FEATURES, sizeof *rows), *labels = calloc(n, sizeof *labels);
  for (size_t i = 0; i < n && rows && labels; i++) {
    const Lesson *l = t->lessons[i];
    memcpy(rows + i * PROGRAM_FEATURES, l->features, sizeof l->features);
    labels[i] = (float)fmin(SLOWEST, log2(l->seconds / best_of(l->task)));
  }
  if (rows && labels)
    (void)tirc_model_train(t->model, t->n_lessons, PROGRAM_FEATURES, rows, labels);
  free(rows);
  free(labels);
}

/* Spearman's, ties by order. */
static double rank_correlation(Tirc *c, int n, const double *x, const double *y) {
  enum { FEWEST = 8 };
  double *rx = tirc_new_array(c, double, n + 1), *ry = tirc_new_array(c, double, n + 1), sum = 0;
  if (n < FEWEST) return (double)NAN;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) {
      rx[i] += x[k] < x[i] || (x[k] == x[i] && k < i);
      ry[i] += y[k] < y[i] || (y[k] == y[i] && k < i);
    }
  for (int i = 0; i < n; i++) sum += (rx[i] - ry[i]) * (rx[i] - ry[i]);
  return 1 - 6 * sum / ((double)n * ((double)n * n - 1));
}

/* --- a batch -----------------------------------------------------------------------------------
 */

typedef struct Batch {
  Tuning *tuning;
  Task *task;
  bool modelled; /* ranks are a model's */
  int n;
  SearchPoint *points[BATCH];
  Measured measured[BATCH];
} Batch;

/* Among the fastest: takes the point over. */
static bool keep(Task *t, SearchPoint *p, double seconds) {
  int i = t->n_best;
  if (i == FINALISTS && seconds >= t->best_seconds[i - 1]) return false;
  if (i == FINALISTS) {
    i--;
    if (t->best[i] != t->automatic) tirc_search_release(t->best[i]);
  } else {
    t->n_best++;
  }
  for (; i > 0 && t->best_seconds[i - 1] > seconds; i--) {
    t->best[i] = t->best[i - 1];
    t->best_seconds[i] = t->best_seconds[i - 1];
  }
  t->best[i] = p;
  t->best_seconds[i] = seconds;
  return true;
}

static void tell(const Batch *b, const SearchPoint *p, const char *trace, const Measured *m,
                 bool is_best) {
  const Task *t = b->task;
  const tirc_tune_options *o = b->tuning->options;
  if (!o->told) return;
  o->told(o->self, &(tirc_tune_event){.task = t->number,
                                      .trial = t->trials,
                                      .trials = b->tuning->trials,
                                      .way = p->way,
                                      .trace = trace,
                                      .seconds = m->seconds,
                                      .code = *m->code ? m->code : NULL,
                                      .message = *m->code ? m->message : NULL,
                                      .best = best_of(t),
                                      .automatic = t->automatic_seconds,
                                      .elapsed = tirc_now() - b->tuning->start,
                                      .is_best = is_best});
}

/* Takes a point that was measured over. */
static bool take(Task *t, SearchPoint *p, double seconds) {
  const bool is_best = seconds < best_of(t);
  /* the first point of the first way that takes the program is --auto's */
  if (!t->automatic && !strcmp(p->way, "automatic")) {
    t->automatic = p;
    t->automatic_seconds = seconds;
  }
  if (is_best) t->gained += isfinite(best_of(t)) ? 1 - seconds / best_of(t) : 0;
  if (!keep(t, p, seconds) && p != t->automatic) tirc_search_release(p);
  return is_best;
}

static void recall(void *self, SearchPoint *p, double seconds) {
  learn_of(self, p, seconds);
  take(self, p, seconds);
}

/* Without its database a search goes on, and keeps nothing. */
static void keep_trial(Tuning *tuning, const Task *t, const char *trace, const SearchPoint *p,
                       const Measured *m) {
  const tirc_tune_options *o = tuning->options;
  tirc_error *e = NULL;
  if (tirc_store_trial(&tuning->store, t->id, trace, p, m, o->seed, &e) == TIRC_OK) return;
  if (o->warn) o->warn(o->self, tirc_error_message(e));
  tirc_error_free(e);
  tirc_store_close(&tuning->store);
}

static void hear(void *self, int i, const Measured *m) {
  Batch *b = self;
  Tuning *tuning = b->tuning;
  Task *t = b->task;
  SearchPoint *p = b->points[i];
  if (!strcmp(m->code, "interrupted")) return;
  const bool failed = *m->code != 0, is_best = !failed && m->seconds < best_of(t);
  const char *trace = tirc_value_to_json(p->c, tirc_trace_as_value(p->c, p->trace, false));
  b->points[i] = NULL;
  t->trials++;
  tuning->trials++;
  t->failed += failed;
  t->wrong |= !strcmp(m->code, "wrong-result");
  tirc_search_tell(t->search, p, m->seconds, failed ? m->code : NULL, m->message);
  keep_trial(tuning, t, trace, p, m);
  if (!failed && b->modelled) {
    vec_push(t->c, t->expected, p->rank);
    vec_push(t->c, t->measured, m->seconds);
  }
  if (!failed) learn_of(t, p, m->seconds);
  Tirc *c = tirc_context_retain(p->c); /* the trace is in it */
  if (failed)
    tirc_search_release(p);
  else
    take(t, p, m->seconds);
  tell(b, p, trace, m, is_best);
  tirc_context_release(c);
}

static bool still_wanted(void *self) { return goes_on(((const Batch *)self)->tuning); }

static tirc_status run_batch(Tuning *tuning, Task *t, int n, tirc_error **error) {
  Batch b = {.tuning = tuning, .task = t};
  const Module *modules[BATCH];
  const BedListener listener = {&b, hear, still_wanted};
  t->gained /= 2;
  train(tuning);
  b.modelled = oracle(tuning) != NULL;
  b.n = tirc_search_propose(t->search, n, b.points);
  if (b.n == 0) t->exhausted = true;
  for (int i = 0; i < b.n; i++) modules[i] = b.points[i]->mod;
  tirc_status status =
      b.n ? tirc_bed_measure(t->bed, b.n, modules, best_of(t), b.measured, &listener, error)
          : TIRC_OK;
  for (int i = 0; i < b.n; i++) tirc_search_release(b.points[i]);
  return status;
}

/* --- which program -----------------------------------------------------------------------------
 */

/* What a batch is expected to gain of the whole: the task's part of it, times what the last ones
 * gained or, without that, less and less. */
static double promise(const Task *t) {
  const double weight = t->given->weight > 0 ? t->given->weight : 1;
  const double hope = 0.1 / (1 + (double)t->trials / (double)BATCH);
  return weight * best_of(t) * fmax(t->gained, hope);
}

/* None has less than a quarter of its share. */
static Task *next_task(Tuning *t) {
  Task *best = NULL, *starved = NULL;
  for (int i = 0; i < t->n; i++) {
    Task *x = &t->tasks[i];
    if (x->exhausted) continue;
    const bool starves = x->trials == 0 || 4 * x->trials * t->n < t->trials;
    if (starves && (!starved || x->trials < starved->trials)) starved = x;
    if (!best || !isfinite(best_of(x)) || promise(x) > promise(best)) best = x;
  }
  return starved ? starved : best;
}

/* --- from start to end -------------------------------------------------------------------------
 */

static int count_cores(void) {
  const long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 ? (int)n : 1;
}

static tirc_status start_bed(Task *t, tirc_error **error) {
  BedOptions bed = tirc_bed_defaults;
  bed.target = t->options->target ? t->options->target : CPU_DEFAULT;
  bed.threads = t->threads;
  bed.builders = count_cores();
  bed.n_symbols = t->given->n_symbols;
  bed.symbols = t->given->symbols;
  return tirc_bed_new(t->given->module, &bed, &t->bed, error);
}

static const char *target_of(const tirc_tune_options *o) {
  return o->target ? o->target : CPU_DEFAULT;
}

static void start_search(Tirc *c, void *self) {
  Task *t = self;
  const tirc_tune_options *o = t->options;
  SearchOptions s = tirc_search_defaults;
  s.space = (SpaceOptions){.path = o->rules,
                           .target = tirc_llvm_cpu(c, target_of(o)),
                           .intrins = t->given->module->intrins,
                           .limits = {.steps = o->max_steps}};
  s.seed = o->seed;
  s.rank = rank;
  s.self = t;
  tirc_context_depend(c, t->given->module->c);
  t->search = tirc_search_new(c, t->given->module->m, &s);
}

static tirc_status recall_trials(Tuning *tuning, Task *t, tirc_error **error) {
  const StoreListener listener = {t, recall};
  tirc_status status =
      tirc_store_task(&tuning->store, t->given, target_of(t->options), t->threads, &t->id, error);
  if (status == TIRC_OK)
    status = tirc_store_recall(&tuning->store, t->id, t->search, &listener, &t->trials, &t->failed,
                               error);
  tuning->trials += t->trials;
  t->gained = 0;
  return status;
}

static tirc_status start_task(Tuning *tuning, Task *t, const tirc_tune_task *given,
                              tirc_error **error) {
  t->given = given;
  t->automatic_seconds = (double)INFINITY;
  t->c = tirc_context_new();
  if (!t->c) return tirc_api_no_memory(error);
  Sources sources = given->module->sources;
  tirc_status status = tirc_api_guard(t->c, start_search, t, &sources, error);
  if (status == TIRC_OK) status = start_bed(t, error);
  return status == TIRC_OK ? recall_trials(tuning, t, error) : status;
}

static void release_task(Task *t) {
  bool automatic_kept = false;
  for (int i = 0; i < t->n_best; i++) {
    automatic_kept |= t->best[i] == t->automatic;
    tirc_search_release(t->best[i]);
  }
  if (!automatic_kept) tirc_search_release(t->automatic);
  tirc_bed_free(t->bed);
  tirc_string_free(t->id);
  if (t->c) tirc_context_release(t->c);
}

/* The fastest ones and --auto's again, in turns: what was the fastest once was lucky, too. */
static tirc_status compare_finalists(const Tuning *tuning, Task *t, int *winner,
                                     tirc_error **error) {
  const Module *modules[FINALISTS + 1];
  Measured m[FINALISTS + 1];
  int n = t->n_best, automatic = -1;
  for (int i = 0; i < n; i++) {
    modules[i] = t->best[i]->mod;
    if (t->best[i] == t->automatic) automatic = i;
  }
  if (automatic < 0 && t->automatic) modules[automatic = n++] = t->automatic->mod;
  *winner = 0;
  if (!goes_on(tuning)) return TIRC_OK;
  tirc_status status = tirc_bed_compare(t->bed, n, modules, ROUNDS, m, NULL, error);
  if (status != TIRC_OK) return status;
  for (int i = 0; i < t->n_best; i++) {
    if (isfinite(m[i].seconds)) t->best_seconds[i] = m[i].seconds;
    if (t->best_seconds[i] < t->best_seconds[*winner]) *winner = i;
  }
  if (automatic >= 0 && isfinite(m[automatic].seconds)) t->automatic_seconds = m[automatic].seconds;
  if (automatic >= t->n_best && t->automatic_seconds < t->best_seconds[*winner]) {
    *winner = t->n_best - 1; /* the others were lucky: --auto's takes the last one's place */
    tirc_search_release(t->best[*winner]);
    t->best[*winner] = t->automatic;
    t->best_seconds[*winner] = t->automatic_seconds;
  }
  return TIRC_OK;
}

typedef struct Finish {
  const Task *task;
  const SearchPoint *point;
  tirc_module *result;
} Finish;

static void make_plain(Tirc *c, void *self) {
  Finish *f = self;
  Sources sources = f->task->given->module->sources;
  if (sources.n > 1) sources.n = 1;
  tirc_schedule_options options = {.target = f->task->options->target};
  Sched *s = tirc_api_schedule(c, f->task->given->module, &options);
  tirc_context_depend(c, f->point->c);
  s->warn = NULL;
  const Trace *plain = tirc_trace_plain(s, f->point->trace);
  f->result = tirc_api_module(c, s->mod, &sources);
  f->result->trace = plain;
  f->result->intrins = s->intrins;
}

static tirc_status finish_task(Tuning *tuning, Task *t, tirc_error **error) {
  tirc_tune_result *r = &tuning->results[t->number];
  const SearchFailure *failures;
  int winner = 0;
  tirc_status status = t->n_best ? compare_finalists(tuning, t, &winner, error) : TIRC_OK;
  const int n = tirc_search_failures(t->search, &failures);
  tirc_tune_failure *kept = calloc((size_t)n + 1, sizeof *kept);
  *r = (tirc_tune_result){.seconds = t->n_best ? t->best_seconds[winner] : (double)INFINITY,
                          .automatic = t->automatic_seconds,
                          .trials = t->trials,
                          .failed = t->failed,
                          .made = tirc_search_made(t->search),
                          .failures = kept,
                          .wrong = t->wrong};
  r->rank_correlation = rank_correlation(t->c, t->measured.n, t->expected.at, t->measured.at);
  for (int i = 0; kept && i < n; i++)
    kept[r->n_failures++] =
        (tirc_tune_failure){strdup(failures[i].code), strdup(failures[i].message), failures[i].n};
  if (status != TIRC_OK || !t->n_best) return status;
  r->way = strdup(t->best[winner]->way);
  Tirc *c = tirc_context_new();
  Finish f = {.task = t, .point = t->best[winner]};
  if (!c) return tirc_api_no_memory(error);
  Sources sources = t->given->module->sources;
  status = tirc_api_guard(c, make_plain, &f, &sources, error);
  if (status == TIRC_OK)
    r->module = f.result;
  else
    tirc_context_release(c);
  return status;
}

static tirc_status search(Tuning *t, tirc_error **error) {
  const int64_t each = t->options->trials > 0 ? t->options->trials : TRIALS, budget = each * t->n;
  const int64_t most = each < BATCH ? each : BATCH;
  tirc_status status = TIRC_OK;
  while (status == TIRC_OK && t->trials < budget && goes_on(t)) {
    Task *next = next_task(t);
    if (!next) break;
    const int64_t left = budget - t->trials;
    status = run_batch(t, next, (int)(left < most ? left : most), error);
  }
  for (int i = 0; i < t->n && status == TIRC_OK; i++) status = finish_task(t, &t->tasks[i], error);
  return status;
}

void tirc_tune_results_free(int n, tirc_tune_result *results) {
  for (int i = 0; results && i < n; i++) {
    tirc_module_free(results[i].module);
    for (int k = 0; k < results[i].n_failures; k++) {
      free((char *)(uintptr_t)results[i].failures[k].code);
      free((char *)(uintptr_t)results[i].failures[k].message);
    }
    free((tirc_tune_failure *)(uintptr_t)results[i].failures);
    free((char *)(uintptr_t)results[i].way);
  }
  free(results);
}

tirc_status tirc_tune(int n, const tirc_tune_task *tasks, const tirc_tune_options *options,
                      tirc_tune_result **results, tirc_error **error) {
  NEED(LIST(n, tasks), results);
  static const tirc_tune_options none = {0};
  Tuning t = {.n = n, .options = options ? options : &none, .start = tirc_now()};
  tirc_executor *executor = NULL;
  tirc_status status = tirc_executor_new(t.options->threads, &executor, error);
  if (status != TIRC_OK) return status;
  const int threads = tirc_executor_threads(executor);
  tirc_executor_free(executor); /* it only tells how many; no threads of ours run meanwhile */
  t.tasks = calloc((size_t)n + 1, sizeof *t.tasks);
  t.results = calloc((size_t)n + 1, sizeof *t.results);
  status = t.tasks && t.results ? tirc_store_open(&t.store, t.options->database, error)
                                : tirc_api_no_memory(error);
  if (status == TIRC_OK) recall_model(&t);
  for (int i = 0; i < n && status == TIRC_OK; i++) {
    t.tasks[i] = (Task){.tuning = &t, .number = i, .options = t.options, .threads = threads};
    status = start_task(&t, &t.tasks[i], &tasks[i], error);
  }
  if (status == TIRC_OK) status = search(&t, error);
  if (status == TIRC_OK) keep_model(&t);
  for (int i = 0; t.tasks && i < n; i++) release_task(&t.tasks[i]);
  free(t.tasks);
  for (int i = 0; i < t.n_lessons; i++) free(t.lessons[i]);
  free(t.lessons);
  tirc_model_free(t.model);
  tirc_model_free(t.prior);
  tirc_store_close(&t.store);
  if (status == TIRC_OK)
    *results = t.results;
  else
    tirc_tune_results_free(n, t.results);
  return status;
}
