/* The search as a whole: batches of candidates of several programs, proposed by passes/search,
 * handed out by the database to all who search for the same, measured by measure.c. */
#include "ir/gpu.h"
#include "ir/number.h"
#include "ir/processors.h"
#include "ir/stack.h"
#include "parts.h"
#include "runtime/api/api.h"
#include "runtime/kernel/timer.h"

#include "codegen/llvm/llvm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TRIALS = 64 };

/* --- which program ---------------------------------------------------------------------------- */

/* Its part of the time of the whole; INFINITY where no candidate works yet. */
static double time_of(const Task *t) {
  return (t->given->weight > 0 ? t->given->weight : 1) * tirc_tuning_best(t);
}

/* How much of it the ceiling of floats in registers leaves to be gained; what memory or integers
 * bind has no such ceiling. Never nothing: the peak is measured, too. */
static double distance(const Task *t) {
  const double peak = t->tuning->peak;
  return peak > 0 ? fmax(0.05, 1 - t->operations / peak / tirc_tuning_best(t)) : 1;
}

/* What a batch is expected to gain of the whole: the task's part of it that may be gained, times
 * what the last ones gained or, without that, less and less. */
static double promise(const Task *t) {
  const double hope = 0.1 / (1 + (double)t->trials / (double)BATCH);
  return time_of(t) * distance(t) * fmax(t->gained, hope);
}

static double time_of_all(const Tuning *t) {
  double all = 0;
  for (int i = 0; i < t->n; i++)
    if (!t->tasks[i].is_left && isfinite(time_of(&t->tasks[i]))) all += time_of(&t->tasks[i]);
  return all;
}

/* Whether it takes a quarter of an equal part of the time: only such a task has a part of the
 * trials that is its own. */
static bool counts(const Tuning *t, const Task *x, double all) {
  return x->trials == 0 || 4 * t->n * time_of(x) >= all;
}

/* Each has a trial first, which tells its time. Then none that counts has less than a quarter of
 * its share. NULL: nothing new can be made. */
static Task *next_task(Tuning *t) {
  Task *best = NULL, *starved = NULL;
  const double all = time_of_all(t);
  for (int i = 0; i < t->n; i++) {
    Task *x = &t->tasks[i];
    if (x->exhausted || x->is_left) continue;
    const bool starves = x->trials == 0 || (4 * x->trials * t->n < t->trials && counts(t, x, all));
    if (starves && (!starved || x->trials < starved->trials)) starved = x;
    if (!best || !isfinite(tirc_tuning_best(x)) || promise(x) > promise(best)) best = x;
  }
  return starved ? starved : best;
}

/* Programs share the trials, but one that counts and came to a search late is not left with none: a
 * quarter of its share is its own, whatever others have had. */
static int64_t own_share(const Tuning *t) {
  const int64_t each = t->options->trials > 0 ? t->options->trials : TRIALS;
  return (each + 3) / 4;
}

static Task *starved_task(Tuning *t) {
  Task *starved = NULL;
  int64_t fewest = own_share(t);
  const double all = time_of_all(t);
  for (int i = 0; i < t->n; i++) {
    Task *x = &t->tasks[i];
    const int64_t made = x->trials + x->study.queued + x->study.running;
    if (!x->exhausted && !x->is_left && made < fewest && counts(t, x, all))
      starved = x, fewest = made;
  }
  return starved;
}

/* --- from start to end ------------------------------------------------------------------------ */

static tirc_status start_bed(Task *t, tirc_error **error) {
  BedOptions bed = tirc_bed_defaults;
  bed.target = t->options->device ? t->options->target : tirc_cpu_or_default(t->options->target);
  bed.device = t->options->device;
  bed.threads = t->threads;
  bed.builders = tirc_processors();
  bed.n_symbols = t->given->n_symbols;
  bed.symbols = t->given->symbols;
  bed.n_ranges = t->tuning->n_ranges;
  bed.ranges = t->tuning->ranges;
  return tirc_bed_new(t->given->module, &bed, &t->bed, error);
}

const char *tirc_tuning_target(const tirc_tune_options *o) {
  if (o->target || !o->device) return tirc_cpu_or_default(o->target);
  return tirc_gpu_default_target(strncmp(o->device, "cuda", 4) == 0 ? GPU_CUDA : GPU_OPENCL);
}

/* What runs here; of a device that is what builds its candidates. */
static const char *cpu_of(const tirc_tune_options *o) {
  return o->device ? "native" : tirc_tuning_target(o);
}

static const Gpu *gpu_of(const tirc_tune_options *o) {
  return o->device ? tirc_gpu_find(tirc_tuning_target(o)) : NULL;
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
      tirc_fail(c, (Loc){0}, CODE_ARGUMENT,
                "kinds are tile, category, parallel, location and way: tile=1,way=0.2",
                "'%s' is not a kind of decision with a weight", text);
    weights[kind] = weight;
    text = *end ? end + 1 : end;
  }
}

static void read_ranking(Tirc *c, const char *name, SearchOptions *s) {
  if (!name || !strcmp(name, "model") || !strcmp(name, "estimate")) return;
  if (strcmp(name, "random") != 0)
    tirc_fail(c, (Loc){0}, CODE_ARGUMENT, "it is model, estimate or random",
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
                           .target = tirc_llvm_cpu(c, cpu_of(o)),
                           .gpu = gpu_of(o),
                           .intrins = t->given->module->intrins,
                           .limits = {.steps = o->max_steps}};
  s.seed = o->seed;
  s.rank = tirc_tuning_rank;
  s.self = t;
  read_ranking(c, o->ranking, &s);
  if (o->mutations) read_mutations(c, o->mutations, s.weights);
  tirc_context_depend(c, t->given->module->c);
  t->search = tirc_search_new(c, t->given->module->m, &s);
}

static void find_target(Tirc *c, void *self) {
  const tirc_tune_options *o = self;
  if (o->device && !gpu_of(o)) tirc_gpu_unknown(c, tirc_tuning_target(o));
  tirc_llvm_require_here(c, cpu_of(o));
}

/* Before anything is stored: what cannot run here cannot be measured. */
static tirc_status check_target(const tirc_tune_options *o, tirc_error **error) {
  tirc_tune_options copy = *o;
  Sources none = {0};
  return tirc_api_scratch(find_target, &copy, &none, error);
}

static tirc_status recall_trials(Tuning *tuning, Task *t, tirc_error **error) {
  tirc_status status = tirc_store_join(&tuning->store, t->given, tirc_tuning_target(t->options),
                                       t->threads, &t->study, error);
  if (status == TIRC_OK)
    status = tirc_store_news(&tuning->store, &t->study, tirc_tuning_hear_of, t, error);
  t->gained = 0;
  return status;
}

static tirc_status start_task(Tuning *tuning, Task *t, const tirc_tune_task *given,
                              tirc_error **error) {
  tirc_cost cost = {0};
  t->given = given;
  t->operations =
      tirc_module_cost(given->module, NULL, &cost, NULL) == TIRC_OK ? cost.float_ops : 0;
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

/* --- the loop --------------------------------------------------------------------------------- */

/* Trials that are neither done nor given to anybody, or not yet made: whether the search goes on
 * without those that others have. */
typedef struct Outlook {
  int64_t made, waiting; /* of any state; queued or with a worker */
} Outlook;

static Outlook look(Tuning *t) {
  Outlook o = {0, 0};
  for (int i = 0; i < t->n && tirc_tuning_hear_news(t, &t->tasks[i]); i++) {
    const Study *s = &t->tasks[i].study;
    if (t->tasks[i].is_left) continue;
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
    if (!t->tasks[i].is_left && s->queued + s->running > 0 && (!b || s->queued > b->queued))
      best = &t->tasks[i];
  }
  return best;
}

/* One of several programs that does not run with random arrays is left as it is, and the search
 * goes on. False: it ends, with the error. */
static bool leave_out(Tuning *t, Task *task, tirc_error **error) {
  bool others = false;
  for (int i = 0; i < t->n; i++) others |= &t->tasks[i] != task && !t->tasks[i].is_left;
  if (!others || !error || !*error || !tirc_bed_refuses(task->bed)) return false;
  const char *name = task->given->name ? task->given->name : "a program",
             *why = tirc_error_get(*error, TIRC_ERROR_MESSAGE);
  char message[512];
  snprintf(message, sizeof message, "%s is not tuned: %s", name, why ? why : "");
  if (t->options->warn) t->options->warn(t->options->self, message);
  tirc_error_free(*error);
  *error = NULL;
  return task->is_left = true;
}

static tirc_status search(Tuning *t, tirc_error **error) {
  const int64_t each = t->options->trials > 0 ? t->options->trials : TRIALS, budget = each * t->n;
  const int most = each < BATCH ? (int)each : BATCH;
  tirc_status status = TIRC_OK;
  while (status == TIRC_OK && tirc_tuning_goes_on(t)) {
    const Outlook o = look(t);
    Task *next = o.made < budget ? next_task(t) : starved_task(t);
    if (!next && !o.waiting) break;
    if (!next) next = waiting_task(t);
    if (t->lost || !next) break;
    const int64_t others = o.made - next->trials - next->study.queued - next->study.running;
    int n = 0;
    const int64_t room = budget - others;
    /* of several the first trial tells the time alone */
    const int first = t->n > 1 && next->trials == 0 ? 1 : most;
    status =
        tirc_tuning_batch(t, next, first, room > own_share(t) ? room : own_share(t), &n, error);
    if (status == TIRC_BAD && leave_out(t, next, error)) {
      status = TIRC_OK;
      continue;
    }
    if (n) t->idle = 0;
    if (status == TIRC_OK && n == 0 && o.waiting && tirc_tuning_goes_on(t)) tirc_tuning_wait(t);
  }
  for (int i = 0; i < t->n && status == TIRC_OK; i++)
    status = tirc_tuning_finish(t, &t->tasks[i], error);
  tirc_tuning_tell_load(t);
  return status;
}

/* Operations on floats a second, the most of some that take milliseconds; 0: unknown. */
static double peak_of(const tirc_tune_options *o, tirc_executor *x) {
  enum { TIMES = 5, VECTOR_BITS = 512 };
  const double operations = 1e7 * tirc_executor_threads(x);
  double best = 0;
  for (int i = 0; i < TIMES && !o->device; i++) {
    const double start = tirc_now();
    if (!tirc_executor_fma(x, VECTOR_BITS, operations)) return 0;
    best = fmax(best, operations / (tirc_now() - start));
  }
  return best;
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
  if (n > 1) t.peak = peak_of(t.options, executor);
  tirc_executor_free(executor); /* no threads of ours run meanwhile */
  t.tasks = calloc((size_t)n + 1, sizeof *t.tasks);
  t.results = tirc_tune_results_new(n);
  status = t.tasks && t.results ? tirc_store_open(&t.store, t.options->database, t.options->lease,
                                                  t.options->target, error)
                                : tirc_api_no_memory(error);
  if (status == TIRC_OK) {
    tirc_db_on_waiting(t.store.db, -1, t.options->warn, t.options->self);
    t.lessons = tirc_lessons_new(t.store.db, tirc_tuning_target(t.options));
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
