/* The search as a whole: batches of candidates of several programs, proposed by passes/search,
 * handed out by the database to all who search for the same, measured by measure.c. */
#include "ir/number.h"
#include "ir/stack.h"
#include "parts.h"
#include "runtime/api/api.h"
#include "runtime/kernel/timer.h"

#include "codegen/llvm/llvm.h"
#include "passes/search/estimate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BATCH = 8, TRIALS = 64 };

static bool goes_on(const Tuning *t) {
  const tirc_tune_options *o = t->options;
  if (t->lost) return false;
  if (o->seconds > 0 && tirc_now() - t->start > o->seconds) return false;
  return !o->go_on || o->go_on(o->self);
}

/* --- what is expected --------------------------------------------------------------------------
 */

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
static void rank(void *self, int n, SearchPoint **points) {
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

static double best_of(const Task *t) { return t->n_best ? t->best[0].seconds : (double)INFINITY; }

/* --- a batch -----------------------------------------------------------------------------------
 */

typedef struct Candidate {
  SearchPoint *point;
  tirc_db_trial *trial;
  int place; /* among those that were just proposed, which are measured in that order */
} Candidate;

typedef struct Batch {
  Tuning *tuning;
  Task *task;
  bool expects; /* ranks say what is expected */
  int n;
  Candidate at[BATCH];
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
                                      .best = best_of(t),
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
  if (seconds < best_of(t)) t->gained += isfinite(best_of(t)) ? 1 - seconds / best_of(t) : 0;
  if (!keep(t, f) && p != t->automatic.point) tirc_search_release(p);
}

/* A trial that somebody else did, or this process in an earlier life. */
static void hear_of(void *self, const tirc_db_trial *trial, const Extra *e) {
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

static bool hear_news(Tuning *tuning, Task *t) {
  tirc_error *e = NULL;
  return tirc_tuning_stored(tuning, tirc_store_news(&tuning->store, &t->study, hear_of, t, &e), &e);
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
  const bool is_best = ran && m->seconds < best_of(t);
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

static bool still_wanted(void *self) { return goes_on(((const Batch *)self)->tuning); }

static void renew(void *self) {
  Tuning *t = ((const Batch *)self)->tuning;
  tirc_error *e = NULL;
  if (!t->lost) (void)tirc_tuning_stored(t, tirc_store_renew(&t->store, &e), &e);
}

/* The point of a trial that was taken: one of those that were just proposed, or made anew. */
static Candidate candidate_of(const Batch *b, tirc_db_trial *trial, int n, SearchPoint **proposed,
                              SearchFailure *why) {
  Extra e;
  Candidate k = {.trial = trial, .place = 0};
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
  return ((const Candidate *)a)->place - ((const Candidate *)b)->place;
}

static void take_trials(Batch *b, int most, int n, SearchPoint **proposed) {
  Tuning *tuning = b->tuning;
  for (int i = 0; i < most; i++) {
    tirc_db_trial *trial = NULL;
    tirc_error *e = NULL;
    SearchFailure why;
    const tirc_status status = tirc_store_take(&tuning->store, &b->task->study, &trial, &e);
    if (!tirc_tuning_stored(tuning, status, &e) || !trial) break;
    const Candidate k = candidate_of(b, trial, n, proposed, &why);
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
static tirc_status run_batch(Tuning *tuning, Task *t, int most, int64_t budget, int *n,
                             tirc_error **error) {
  Batch b = {.tuning = tuning, .task = t};
  const Module *modules[BATCH];
  Measured measured[BATCH];
  const BedListener listener = {&b, hear, still_wanted, renew};
  t->gained /= 2;
  tirc_lessons_train(tuning->lessons);
  b.expects = expects(tuning);
  tirc_bed_start(t->bed);
  fill_batch(&b, most, budget);
  *n = b.n;
  for (int i = 0; i < b.n; i++) modules[i] = b.at[i].point->mod;
  tirc_status status =
      b.n ? tirc_bed_measure(t->bed, b.n, modules, best_of(t), measured, &listener, error)
          : TIRC_OK;
  for (int i = 0; i < b.n; i++) {
    tirc_search_release(b.at[i].point);
    tirc_db_trial_free(b.at[i].trial);
  }
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

/* None has less than a quarter of its share. NULL: nothing new can be made. */
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

/* Programs share the trials, but one that came to a search late is not left with none: a quarter of
 * its share is its own, whatever others have had. */
static int64_t own_share(const Tuning *t) {
  const int64_t each = t->options->trials > 0 ? t->options->trials : TRIALS;
  return (each + 3) / 4;
}

static Task *starved_task(Tuning *t) {
  Task *starved = NULL;
  int64_t fewest = own_share(t);
  for (int i = 0; i < t->n; i++) {
    Task *x = &t->tasks[i];
    const int64_t made = x->trials + x->study.queued + x->study.running;
    if (!x->exhausted && made < fewest) starved = x, fewest = made;
  }
  return starved;
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
  bed.n_ranges = t->tuning->n_ranges;
  bed.ranges = t->tuning->ranges;
  return tirc_bed_new(t->given->module, &bed, &t->bed, error);
}

static const char *target_of(const tirc_tune_options *o) {
  return o->target ? o->target : CPU_DEFAULT;
}

/* "tile=1,way=0.2" */
static void read_mutations(Tirc *c, const char *text, double *weights) {
  static const char *const names[] = {[CHOICE_TILE] = "tile",
                                      [CHOICE_CATEGORY] = "category",
                                      [CHOICE_PARALLEL] = "parallel",
                                      [CHOICE_LOCATION] = "location",
                                      [CHOICE_WAY] = "way"};
  while (*text) {
    const size_t n = strcspn(text, "=");
    int kind = 0;
    char *end = NULL;
    while (kind < N_CHOICE_KINDS && (strlen(names[kind]) != n || strncmp(names[kind], text, n)))
      kind++;
    const double weight = text[n] ? tirc_parse_double(text + n + 1, &end) : -1;
    if (kind == N_CHOICE_KINDS || !end || end == text + n + 1 || (*end && *end != ',') ||
        !(weight >= 0 && isfinite(weight)))
      tirc_fail(c, (Loc){0}, "argument",
                "kinds are tile, category, parallel, location and way: tile=1,way=0.2",
                "'%s' is no kind of decision with a weight", text);
    weights[kind] = weight;
    text = *end ? end + 1 : end;
  }
}

static void read_ranking(Tirc *c, const char *name, SearchOptions *s) {
  if (!name || !strcmp(name, "model") || !strcmp(name, "estimate")) return;
  if (strcmp(name, "random") != 0)
    tirc_fail(c, (Loc){0}, "argument", "it is model, estimate or random",
              "there is no ranking by '%s'", name);
  s->rank = NULL;
  s->pool = 1;
  s->fresh = 1;
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
  read_ranking(c, o->ranking, &s);
  if (o->mutations) read_mutations(c, o->mutations, s.weights);
  tirc_context_depend(c, t->given->module->c);
  t->search = tirc_search_new(c, t->given->module->m, &s);
}

static void find_target(Tirc *c, void *self) { tirc_llvm_require_here(c, target_of(self)); }

/* Before anything is stored: what cannot run here cannot be measured. */
static tirc_status check_target(const tirc_tune_options *o, tirc_error **error) {
  tirc_tune_options copy = *o;
  Sources none = {0};
  return tirc_api_scratch(find_target, &copy, &none, error);
}

static tirc_status recall_trials(Tuning *tuning, Task *t, tirc_error **error) {
  tirc_status status = tirc_store_join(&tuning->store, t->given, target_of(t->options), t->threads,
                                       &t->study, error);
  if (status == TIRC_OK) status = tirc_store_news(&tuning->store, &t->study, hear_of, t, error);
  t->gained = 0;
  return status;
}

static tirc_status start_task(Tuning *tuning, Task *t, const tirc_tune_task *given,
                              tirc_error **error) {
  t->given = given;
  t->automatic.seconds = (double)INFINITY;
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
    automatic_kept |= t->best[i].point == t->automatic.point;
    tirc_search_release(t->best[i].point);
  }
  if (!automatic_kept) tirc_search_release(t->automatic.point);
  tirc_bed_free(t->bed);
  tirc_study_free(&t->study);
  if (t->c) tirc_context_release(t->c);
}

/* --- the loop ----------------------------------------------------------------------------------
 */

/* Trials that are neither done nor given to anybody, or not yet made: whether the search goes on
 * without those that others have. */
typedef struct Outlook {
  int64_t made, waiting; /* of any state; queued or with a worker */
} Outlook;

static Outlook look(Tuning *t) {
  Outlook o = {0, 0};
  for (int i = 0; i < t->n && hear_news(t, &t->tasks[i]); i++) {
    const Study *s = &t->tasks[i].study;
    o.waiting += s->queued + s->running;
    o.made += t->tasks[i].trials + s->queued + s->running;
  }
  return o;
}

/* Something of a program that waits, or that a lost worker had. */
static Task *waiting_task(Tuning *t) {
  Task *best = NULL;
  for (int i = 0; i < t->n; i++) {
    const Study *s = &t->tasks[i].study, *b = best ? &best->study : NULL;
    if (s->queued + s->running > 0 && (!b || s->queued > b->queued)) best = &t->tasks[i];
  }
  return best;
}

static tirc_status search(Tuning *t, tirc_error **error) {
  const int64_t each = t->options->trials > 0 ? t->options->trials : TRIALS, budget = each * t->n;
  const int most = each < BATCH ? (int)each : BATCH;
  tirc_status status = TIRC_OK;
  while (status == TIRC_OK && goes_on(t)) {
    const Outlook o = look(t);
    Task *next = o.made < budget ? next_task(t) : starved_task(t);
    if (!next && !o.waiting) break;
    if (!next) next = waiting_task(t);
    if (t->lost || !next) break;
    const int64_t others = o.made - next->trials - next->study.queued - next->study.running;
    int n = 0;
    const int64_t room = budget - others;
    status = run_batch(t, next, most, room > own_share(t) ? room : own_share(t), &n, error);
    if (n) t->idle = 0;
    if (status == TIRC_OK && n == 0 && o.waiting && goes_on(t)) tirc_tuning_wait(t);
  }
  for (int i = 0; i < t->n && status == TIRC_OK; i++)
    status = tirc_tuning_finish(t, &t->tasks[i], error);
  tirc_tuning_tell_load(t);
  return status;
}

static tirc_status tune(int n, const tirc_tune_task *tasks, const tirc_tune_options *options,
                        int n_ranges, const tirc_input_range *ranges, tirc_tune_result **results,
                        tirc_error **error) {
  static const tirc_tune_options none = {0};
  Tuning t = {.n = n,
              .options = options ? options : &none,
              .n_ranges = n_ranges,
              .ranges = ranges,
              .start = tirc_now()};
  tirc_executor *executor = NULL;
  tirc_status status = check_target(t.options, error);
  if (status == TIRC_OK) status = tirc_executor_new(t.options->threads, &executor, error);
  if (status != TIRC_OK) return status;
  const int threads = tirc_executor_threads(executor);
  tirc_executor_free(executor); /* it only tells how many; no threads of ours run meanwhile */
  t.tasks = calloc((size_t)n + 1, sizeof *t.tasks);
  t.results = tirc_tune_results_new(n);
  status = t.tasks && t.results
               ? tirc_store_open(&t.store, t.options->database, t.options->lease, error)
               : tirc_api_no_memory(error);
  if (status == TIRC_OK) {
    tirc_db_on_waiting(t.store.db, -1, t.options->warn, t.options->self);
    t.lessons = tirc_lessons_new(t.store.db, target_of(t.options));
    if (!t.lessons) status = tirc_api_no_memory(error);
  }
  for (int i = 0; i < n && status == TIRC_OK; i++) {
    t.tasks[i] = (Task){.tuning = &t, .number = i, .options = t.options, .threads = threads};
    status = start_task(&t, &t.tasks[i], &tasks[i], error);
  }
  if (status == TIRC_OK) status = search(&t, error);
  if (status == TIRC_OK && !t.lost && t.options->database) tirc_lessons_keep(t.lessons);
  for (int i = 0; t.tasks && i < n; i++) release_task(&t.tasks[i]);
  free(t.tasks);
  tirc_lessons_free(t.lessons);
  tirc_store_close(&t.store);
  if (status == TIRC_NO) status = TIRC_BAD; /* what a library of rules raises: no search begins */
  if (status != TIRC_OK)
    tirc_tune_results_free(n, t.results);
  else
    *results = t.results;
  if (status == TIRC_OK && t.lost) {
    if (error) *error = t.error;
    status = TIRC_NO;
  }
  if (t.lost && (status != TIRC_NO || !error)) tirc_error_free(t.error);
  return status;
}

typedef struct Asked {
  int n;
  const tirc_tune_task *tasks;
  const tirc_tune_options *options;
  int n_ranges;
  const tirc_input_range *ranges;
  tirc_tune_result **results;
  tirc_error **error;
  tirc_status status;
} Asked;

static void answer(void *self) {
  Asked *a = self;
  a->status = tune(a->n, a->tasks, a->options, a->n_ranges, a->ranges, a->results, a->error);
}

tirc_status tirc_tune_in_ranges(int n, const tirc_tune_task *tasks,
                                const tirc_tune_options *options, int n_ranges,
                                const tirc_input_range *ranges, tirc_tune_result **results,
                                tirc_error **error) {
  NEED(LIST(n, tasks), LIST(n_ranges, ranges), results);
  Asked a = {n, tasks, options, n_ranges, ranges, results, error, TIRC_BAD};
  return tirc_on_stack(STACK_ENOUGH, answer, &a) ? a.status : tirc_api_no_memory(error);
}

tirc_status tirc_tune(int n, const tirc_tune_task *tasks, const tirc_tune_options *options,
                      tirc_tune_result **results, tirc_error **error) {
  NEED(LIST(n, tasks), results);
  return tirc_tune_in_ranges(n, tasks, options, 0, NULL, results, error);
}
