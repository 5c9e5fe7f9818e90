/* Searching: the door to passes/search. */
#include "runtime/api/api.h"
#include "ir/gpu.h"
#include "ir/number.h"
#include "ir/stack.h"

#include "by_sizes.h"
#include "codegen/llvm/llvm.h"
#include "passes/replay/replay.h"
#include "passes/search/space.h"
#include "runtime/kernel/pool.h"
#include "store.h"

#include <math.h>
#include <stdio.h>

typedef struct SpaceText {
  const tirc_module *m;
  const char *rules;
  tirc_schedule_options options;
  Sources sources;
  char *text;
} SpaceText;

static void space_text(Tirc *c, void *self) {
  SpaceText *t = self;
  const char *target = tirc_cpu_or_default(t->options.target);
  if (t->rules) t->sources.at[t->sources.n++] = tirc_read_source(c, t->rules);
  const Gpu *gpu = tirc_gpu_find(target);
  const SpaceOptions options = {.path = t->rules,
                                .target =
                                    tirc_llvm_cpu(c, tirc_cpu_or_default(gpu ? NULL : target)),
                                .gpu = gpu,
                                .intrins = t->m->intrins,
                                .limits = {.steps = t->options.max_steps}};
  const char *text = tirc_space_text(tirc_space_new(c, t->m->m, &options), c);
  t->text = tirc_api_copy(c, text, strlen(text));
}

tirc_status tirc_module_space(const tirc_module *m, const char *rules,
                              const tirc_schedule_options *options, char **text,
                              tirc_error **error) {
  NEED(m, text);
  SpaceText t = {.m = m, .rules = rules, .sources = m->sources};
  if (options) t.options = *options;
  if (t.sources.n > 1) t.sources.n = 1;
  tirc_status status = tirc_api_scratch(space_text, &t, &t.sources, error);
  if (status == TIRC_OK) *text = t.text;
  return status;
}

static void check_rules(Tirc *c, void *self) {
  SpaceText *t = self;
  Sched *s = tirc_sched_new(c, t->m->m);
  if (t->rules) t->sources.at[t->sources.n++] = tirc_read_source(c, t->rules);
  tirc_api_tell_warnings(s, &t->options);
  s->gpu = t->options.target ? tirc_gpu_find(t->options.target) : NULL;
  if (!s->gpu) s->target = tirc_llvm_cpu(c, tirc_cpu_or_default(t->options.target));
  tirc_space_check(
      s, t->m->m,
      &(SpaceOptions){.path = t->rules, .gpu = s->gpu, .limits = {.steps = t->options.max_steps}});
}

tirc_status tirc_module_check_rules(const tirc_module *m, const char *rules,
                                    const tirc_schedule_options *options, tirc_error **error) {
  NEED(m);
  SpaceText t = {.m = m, .rules = rules, .sources = m->sources};
  if (options) t.options = *options;
  if (t.sources.n > 1) t.sources.n = 1;
  return tirc_api_scratch(check_rules, &t, &t.sources, error);
}

/* --- the best schedule that is known ---------------------------------------------------------- */

typedef struct Tuned {
  const tirc_module *from;
  const char *trace;
  tirc_schedule_options options;
  Sources sources;
  tirc_module *result;
} Tuned;

static void replay_plain(Tirc *c, void *self) {
  Tuned *t = self;
  t->sources = t->from->sources;
  if (t->sources.n > 1) t->sources.n = 1;
  const Trace *trace = tirc_trace_of_value(c, tirc_value_of_json(c, t->trace), (Loc){0},
                                           "the record of the database");
  Sched *s = tirc_api_schedule(c, t->from, &t->options);
  tirc_script_serve(s);
  trace = tirc_trace_plain(s, trace);
  t->result = tirc_api_module(c, s->mod, &t->sources);
  t->result->trace = trace;
  t->result->intrins = s->intrins;
}

tirc_status tirc_replay_record(const tirc_module *m, const char *trace,
                               const tirc_schedule_options *options, tirc_module **out,
                               tirc_error **error) {
  Tuned t = {.from = m, .trace = trace};
  Tirc *c = tirc_context_new();
  if (!c) return tirc_api_no_memory(error);
  if (options) t.options = *options;
  t.options.print = NULL;
  tirc_status status = tirc_api_guard(c, replay_plain, &t, &t.sources, error);
  if (status == TIRC_OK)
    *out = t.result;
  else
    tirc_context_release(c);
  return status;
}

typedef struct Record { /* one that fits */
  const tirc_module *m;
  const tirc_schedule_options *options;
  const tirc_auto_options *how;
  const char *best; /* the trial that was tried first */
  tirc_module **out;
  bool opened, found, fits;
} Record;

static void tell_record(const Record *r, const tirc_db_trial *trial) {
  char reason[160];
  if (!r->how || !r->how->tried) return;
  tirc_snprintf(reason, sizeof reason, "trial %.10s, which took %.4g ms", trial->id,
                trial->seconds * 1e3);
  r->how->tried(r->how->self, tirc_module_function(r->m, 0), "the database", true, reason);
}

static tirc_status take_record(Record *r, const tirc_db_trial *trial, tirc_error **error) {
  const tirc_status status = tirc_replay_record(r->m, trial->trace, r->options, r->out, error);
  r->fits = status == TIRC_OK;
  if (r->fits) tell_record(r, trial);
  return status;
}

static bool take_next(void *self, const tirc_db_trial *trial) {
  Record *r = self;
  if (!trial->code && isfinite(trial->seconds) && strcmp(trial->id, r->best) != 0)
    (void)take_record(r, trial, NULL);
  return !r->fits;
}

tirc_status tirc_best_record(tirc_db *db, const tirc_module *m, const char *target, int threads,
                             tirc_db_trial **best, tirc_error **error) {
  char profile[160];
  tirc_machine_profile(profile, sizeof profile);
  const tirc_status status = tirc_db_best(db, m, target, threads, profile, best, error);
  if (status != TIRC_NO) return status;
  tirc_error_free(*error);
  *error = NULL;
  return tirc_db_best(db, m, target, threads, NULL, best, error);
}

/* This machine's, else any machine's; where that one cannot be applied, as one of another version
 * perhaps, the fastest of its task that can. TIRC_NO: there is none; the error says why. */
static tirc_status find_record(Record *r, const char *database, const char *target, int threads,
                               tirc_error **error) {
  enum { OTHERS = 32 };
  tirc_db *db = NULL;
  tirc_db_trial *best = NULL;
  tirc_error *later = NULL;
  tirc_status status = tirc_db_open(database, TIRC_DB_READ, &db, error);
  r->opened = status == TIRC_OK;
  if (status == TIRC_OK) status = tirc_best_record(db, r->m, target, threads, &best, error);
  r->found = status == TIRC_OK;
  if (status == TIRC_OK && take_record(r, best, error) != TIRC_OK) {
    tirc_schedule_options quiet = r->options ? *r->options : (tirc_schedule_options){0};
    quiet.warn = NULL; /* of those that are passed over nobody wants to hear */
    r->options = &quiet;
    r->best = best->id;
    status = tirc_db_trials(db, best->task, OTHERS, take_next, r, &later);
    if (status == TIRC_OK && !r->fits) status = TIRC_NO;
    if (status == TIRC_BAD || r->fits) {
      tirc_error_free(*error);
      *error = later;
    }
  }
  tirc_db_trial_free(best);
  tirc_db_close(db);
  return status;
}

/* Warns, or, where warnings are errors, fails. */
tirc_status tirc_not_tuned(const tirc_schedule_options *o, const char *message,
                           tirc_error **error) {
  if (o && o->warn && !o->strict) o->warn(o->self, NULL, 0, 0, message, "not-tuned");
  if (!o || !o->strict) return TIRC_OK;
  if (error)
    *error = tirc_api_error(&(Diag){.status = TIRC_STATUS_NO,
                                    .code = CODE_NOT_TUNED,
                                    .message = message,
                                    .hint = "leave out --strict to accept it"},
                            NULL);
  return TIRC_NO;
}

static tirc_status tuned(const tirc_module *m, const char *database, int threads,
                         const tirc_auto_options *auto_options,
                         const tirc_schedule_options *options, tirc_module **out,
                         tirc_error **error) {
  const char *target = tirc_cpu_or_default(options ? options->target : NULL);
  const char *const where = database && *database ? database : NULL;
  Record record = {.m = m, .options = options, .how = auto_options, .out = out};
  tirc_error *e = NULL;
  char message[640];
  if (threads == 0) threads = tirc_default_threads();
  const char *plural = threads == 1 ? "" : "s";
  tirc_status status = find_record(&record, where, target, threads, &e);
  if (status != TIRC_NO) {
    if (error)
      *error = e;
    else
      tirc_error_free(e);
    return status;
  }
  if (record.found)
    snprintf(message, sizeof message,
             "no record for %d thread%s fits any more, the rules schedule it: %.300s", threads,
             plural, tirc_error_message(e));
  else if (where && !record.opened)
    snprintf(message, sizeof message, "%.400s: the rules schedule it; tirc tune looks for one",
             tirc_error_message(e));
  else
    snprintf(message, sizeof message,
             "the database has no schedule of this program for %d thread%s and %s: the rules "
             "schedule it; tirc tune looks for one",
             threads, plural, target);
  tirc_error_free(e);
  status = tirc_not_tuned(options, message, error);
  return status == TIRC_OK ? tirc_module_auto(m, auto_options, options, out, error) : status;
}

typedef struct AskedTuned {
  const tirc_module *m;
  const char *database;
  int threads;
  const tirc_auto_options *how;
  const tirc_schedule_options *options;
  tirc_module **out;
  tirc_error **error;
  tirc_status status;
} AskedTuned;

static void make_tuned(void *self) {
  AskedTuned *t = self;
  const bool by_sizes = tirc_tuned_by_sizes(t->m, t->database, t->threads, t->how, t->options,
                                            t->out, &t->status, t->error);
  if (!by_sizes)
    t->status = tuned(t->m, t->database, t->threads, t->how, t->options, t->out, t->error);
}

tirc_status tirc_module_tuned(const tirc_module *m, const char *database, int threads,
                              const tirc_auto_options *auto_options,
                              const tirc_schedule_options *options, tirc_module **out,
                              tirc_error **error) {
  NEED(m, COUNT(threads), out);
  AskedTuned t = {m, database, threads, auto_options, options, out, error, TIRC_BAD};
  return tirc_on_stack(STACK_ENOUGH, make_tuned, &t) ? t.status : tirc_api_no_memory(error);
}
