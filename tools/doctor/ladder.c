/* `tirc doctor --self-test`: a ladder from the smallest thing that must work to the largest. Each
 * rung runs what the ones below it have shown to work, and is compared with the interpreter. */
#define _GNU_SOURCE
#include "doctor.h"
#include "tools/bench/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char vector_add[] =
#include "vector_add.inc"
    ;
static const char vector_add_schedule[] =
#include "vector_add_schedule.inc"
    ;
static const char product[] =
#include "small_matmul.inc"
    ;
static const char legal[] =
#include "decompose_last.inc"
    ;
static const char illegal[] =
#include "decompose_early.inc"
    ;

/* One rung at work: what it holds is freed in one place. */
typedef struct Rung {
  Doctor *d;
  tirc_module *program, *scheduled;
  int n;
  tirc_argument *args;
  tirc_kernel *kernel;
  tirc_executor *executor;
  tirc_launch *launch;
  tirc_error *error;
  char said[400];
} Rung;

static void release(Rung *r) {
  tirc_launch_free(r->launch);
  tirc_kernel_free(r->kernel);
  tirc_executor_free(r->executor);
  if (r->args) free_arguments(r->n, r->args);
  tirc_module_free(r->scheduled);
  tirc_module_free(r->program);
  tirc_error_free(r->error);
}

static bool parse(Rung *r, const char *text, int n, const tirc_define *defines) {
  return text &&
         !tirc_module_parse(text, strlen(text), "self-test", n, defines, &r->program, &r->error);
}

/* By a script; NULL: by the rules. */
static tirc_status schedule(Rung *r, const char *script) {
  const tirc_schedule_options options = {.target = r->d->o->target};
  if (script)
    return tirc_module_schedule_text(r->program, script, strlen(script), "self-test", &options,
                                     &r->scheduled, &r->error);
  return tirc_module_auto(r->program, NULL, &options, &r->scheduled, &r->error);
}

static bool run(Rung *r, const tirc_module *m) {
  tirc_launch_free(r->launch);
  tirc_kernel_free(r->kernel);
  r->launch = NULL;
  r->kernel = NULL;
  if (!r->executor && tirc_executor_new(r->d->o->threads, &r->executor, &r->error)) return false;
  return !tirc_kernel_new(m, NULL, r->d->o->target, &r->kernel, &r->error) &&
         !tirc_launch_new(r->kernel, r->executor, r->n, r->args, &r->launch, &r->error) &&
         !tirc_launch_run(r->launch);
}

/* The best of some runs of what was launched last. */
static double best_time(Rung *r) {
  enum { REPEAT = 5 };
  double seconds[REPEAT], best = (double)INFINITY;
  if (tirc_launch_time(r->launch, 1, REPEAT, 0.02, seconds, &r->error)) return (double)NAN;
  for (int i = 0; i < REPEAT; i++) best = fmin(best, seconds[i]);
  return best;
}

/* What is scheduled against the interpreter. */
static bool runs_right(Rung *r) {
  tirc_check c = {.ok = true};
  tirc_reference *reference = NULL;
  if (random_arguments(r->program, &r->n, &r->args, &r->error)) return false;
  bool right = !tirc_reference_new(r->program, NULL, r->n, r->args, NULL, &reference, &r->error) &&
               run(r, r->scheduled) &&
               !tirc_reference_check(reference, r->n, r->args, &c, &r->error);
  if (right && !c.ok) {
    snprintf(r->said, sizeof r->said, "\"%s\" element %lld is %.9g and should be %.9g",
             c.param ? c.param : "?", (long long)c.at, c.got, c.expected);
    right = false;
  }
  tirc_reference_free(reference);
  return right;
}

/* --- the rungs -------------------------------------------------------------------------------- */

static bool add_vectors(Rung *r) {
  const tirc_define size = {"N", "65536"};
  if (!parse(r, vector_add, 1, &size) || schedule(r, vector_add_schedule) || !runs_right(r))
    return false;
  snprintf(r->said, sizeof r->said, "65536 elements in %.3g ms, as the interpreter computes them",
           1e3 * best_time(r));
  return true;
}

static bool keep_semantics(Rung *r) {
  if (!parse(r, product, 0, NULL)) return false;
  const tirc_status refused = schedule(r, illegal);
  const char *code = r->error ? tirc_error_get(r->error, TIRC_ERROR_CODE) : NULL;
  if (refused != TIRC_NO || !code) {
    snprintf(r->said, sizeof r->said, "a schedule that is not legal was accepted");
    return false;
  }
  char *why = copied(code);
  tirc_error_free(r->error);
  r->error = NULL;
  if (schedule(r, legal) || !runs_right(r)) return false;
  snprintf(r->said, sizeof r->said,
           "decompose_reduction is refused too early (%s), and computes the same when last", why);
  return true;
}

static bool tune_in(Rung *r, const char *database) {
  enum { TRIALS = 6 };
  const tirc_schedule_options options = {.target = r->d->o->target};
  const tirc_tune_task task = {.module = r->program, .name = "self-test"};
  const tirc_tune_options tune = {.target = r->d->o->target,
                                  .threads = r->d->o->threads,
                                  .trials = TRIALS,
                                  .seconds = 20,
                                  .database = database};
  tirc_tune_result *results = NULL;
  if (tirc_tune(1, &task, &tune, &results, &r->error)) return false;
  const bool works = results[0].module && !results[0].wrong;
  snprintf(r->said, sizeof r->said,
           "best of %lld trials %.3g ms, --auto %.3g ms; it is kept and found",
           (long long)results[0].trials, 1e3 * results[0].seconds, 1e3 * results[0].automatic);
  if (!works)
    snprintf(r->said, sizeof r->said, "of %lld trials none works", (long long)results[0].trials);
  tirc_tune_results_free(1, results);
  return works && !tirc_module_tuned(r->program, database, r->d->o->threads, NULL, &options,
                                     &r->scheduled, &r->error);
}

static bool tune_little(Rung *r) {
  const char *tmp = getenv("TMPDIR");
  const char *const files[] = {"", "-wal", "-shm"};
  char *folder = tirc_format(memory, "%s/tirc-doctor-XXXXXX", tmp && *tmp ? tmp : "/tmp");
  if (!mkdtemp(folder)) {
    snprintf(r->said, sizeof r->said, "no folder can be made for temporary files");
    return false;
  }
  char *database = tirc_format(memory, "%s/tirc.db", folder);
  const bool tuned = parse(r, product, 0, NULL) && tune_in(r, database);
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    unlink(tirc_format(memory, "%s%s", database, files[i]));
  rmdir(folder);
  return tuned;
}

static int count_words(const char *text, const char *word) {
  int n = 0;
  for (const char *p = text; (p = strstr(p, word)) != NULL; p++) n++;
  return n;
}

/* The time of the program beside that of its schedule, and the code that was made of it. */
static bool perform(Rung *r) {
  const tirc_define sizes[] = {{"M", "64"}, {"N", "768"}, {"K", "768"}};
  char *ir = NULL;
  size_t n = 0;
  if (!parse(r, known_program("matmul.tir"), 3, sizes) || schedule(r, NULL) || !runs_right(r))
    return false;
  const double fast = best_time(r);
  if (!run(r, r->program)) return false;
  const double slow = best_time(r);
  if (tirc_module_emit(r->scheduled, TIRC_EMIT_LLVM, r->d->o->target, NULL, &ir, &n, &r->error))
    return false;
  snprintf(r->said, sizeof r->said,
           "%.3g ms as it stands, %.3g ms by --auto: %.0f times as fast; %d lines of LLVM IR, "
           "vectors in %d places",
           1e3 * slow, 1e3 * fast, slow / fast, count_words(ir, "\n"),
           count_words(ir, " x float>"));
  if (r->d->o->asked.output) r->d->status = write_output(r->d->o->asked.output, ir, n);
  tirc_string_free(ir);
  return true;
}

static bool multiply_large(Rung *r) {
  enum { SIZE = 1024 };
  const tirc_define sizes[] = {{"M", "1024"}, {"N", "1024"}, {"K", "1024"}};
  if (!parse(r, known_program("matmul.tir"), 3, sizes) || schedule(r, NULL) || !runs_right(r))
    return false;
  const double rate = 2.0 * SIZE * SIZE * SIZE / best_time(r);
  const double peak = tirc_machine_peak(tirc_executor_threads(r->executor));
  snprintf(r->said, sizeof r->said, "1024 x 1024 x 1024 on %d threads: %.1f GFLOP/s",
           tirc_executor_threads(r->executor), 1e-9 * rate);
  const size_t n = strlen(r->said);
  if (peak > 0)
    snprintf(r->said + n, sizeof r->said - n, ", %.0f %% of the peak of %.1f", 100 * rate / peak,
             1e-9 * peak);
  return true;
}

static const struct {
  const char *name;
  bool (*climb)(Rung *r);
} rungs[] = {{"1 vector add", add_vectors},
             {"2 semantics", keep_semantics},
             {"3 small tuning", tune_little},
             {"4 performance and IR", perform},
             {"5 large product", multiply_large}};
enum { N_RUNGS = sizeof rungs / sizeof *rungs };

/* What is above a rung that broke would break, too. */
void climb_ladder(Doctor *d) {
  for (int i = 0; i < N_RUNGS; i++) {
    Rung r = {.d = d};
    const bool held = rungs[i].climb(&r);
    if (!held && r.error && !*r.said)
      snprintf(r.said, sizeof r.said, "%s", tirc_error_get(r.error, TIRC_ERROR_MESSAGE));
    note(d, "self-test", rungs[i].name, "%s", *r.said ? r.said : "it failed");
    release(&r);
    if (held) continue;
    advise(d, BROKEN, "tirc check and tirc run --check on an example of examples/ say more");
    return;
  }
}
