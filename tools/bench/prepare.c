/* Before the clock runs: the program, what its arrays should become, and each contender
 * scheduled, compiled and checked. A contender that fails is said to and skipped. */
#include "rivals.h"
#include "tools/kit/input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Elements of the results that are NaN. */
static int64_t count_nan(const Case *k, const tirc_reference *r) {
  int64_t n = 0;
  for (int i = 0; i < k->n_params; i++)
    for (int64_t j = 0; k->params[i].is_written && j < tirc_array_count(k->args[i].array); j++) {
      double least; /* NaN only where nothing else is right: in no gap */
      tirc_reference_element(r, i, j, NULL, &least, NULL);
      n += isnan(least) != 0;
    }
  return n;
}

/* A NaN may be what the program makes of its inputs; then it is there whatever the results held
 * before, and one that came from them is not. */
static int make_expected(Case *k) {
  poison_results(k, k->args);
  int status = make_reference(k->program, NULL, k->n_params, k->args, 0, &k->reference);
  const int64_t nans = status == DONE ? count_nan(k, k->reference) : 0;
  if (!nans) return status;
  tirc_reference *zeros = NULL;
  for (int i = 0; i < k->n_params; i++)
    for (int64_t j = 0; k->params[i].is_written && j < tirc_array_count(k->args[i].array); j++)
      tirc_array_set(k->args[i].array, j, 0);
  status = make_reference(k->program, NULL, k->n_params, k->args, 0, &zeros);
  if (status == DONE && count_nan(k, zeros) != nans)
    status = complain("let it write its outputs without reading them first",
                      "%s reads what it should compute, so it cannot be checked", k->at.kernel);
  tirc_reference_free(zeros);
  return status;
}

int call_contender(void *contender) {
  const Contender *c = contender;
  if (c->ceiling)
    c->ceiling->run(c->of);
  else if (c->rival)
    c->rival->run(c->prepared);
  else if (c->compiled)
    call_compiled(c->compiled);
  else
    return tirc_launch_run(c->launch);
  return 0;
}

double contender_seconds(void *contender) {
  const Contender *c = contender;
  return c->launch ? tirc_launch_seconds(c->launch) : -1;
}

/* What the contender computed, in the layout of the program. */
static bool compare_contender(const Case *k, const Contender *c, tirc_check *r) {
  if (!c->relaid) return compare_results(k->reference, k->n_params, k->args, r) == DONE;
  tirc_argument *now = contender_arguments(k, c);
  tirc_argument *got = tirc_alloc_array(memory, (size_t)k->n_params + 1, sizeof *got);
  const bool done = now && got && copy_back(k->program, c->relaid, k->n_params, now, got) == DONE &&
                    compare_results(k->reference, k->n_params, got, r) == DONE;
  free_arguments(k->n_params, got);
  return done;
}

static void check_contender(Bench *b, const Case *k, Contender *c) {
  tirc_check r = {.wrong = true};
  poison_results(k, k->args);
  if (c->relaid) poison_results(k, c->packed);
  (void)call_contender(c);
  if (c->rival && c->rival->finish) c->rival->finish(c->prepared);
  if (compare_contender(k, c, &r) && r.ok) return;
  c->skipped = b->wrong = true;
  if (!r.wrong) {
    tell(b,
         "%s %s: %s cannot be checked, skipped: %lld of %lld elements hang on an address or a "
         "branch that rounding decides, or have no bounds\n",
         k->at.kernel, k->at.setting, c->name, (long long)r.undecided, (long long)r.elements);
    c->f.code = strdup("unchecked");
    return;
  }
  tell(b, "%s %s: WRONG RESULT of %s, skipped: \"%s\" element %lld is %.9g, should be %.9g\n",
       k->at.kernel, k->at.setting, c->name, r.param ? r.param : "?", (long long)r.at, r.got,
       r.expected);
  c->f.code = strdup("wrong-result");
}

/* A script that cannot be read is a mistake of the command line, not a contender that fails. */
static bool is_unreadable(const tirc_error *e) {
  const char *code = tirc_error_get(e, TIRC_ERROR_CODE);
  return strcmp(code, "file") == 0 || strcmp(code, "syntax") == 0;
}

static void skip(const Bench *b, Contender *c, tirc_error *e) {
  c->f.code = strdup(tirc_error_get(e, TIRC_ERROR_CODE));
  c->f.message = strdup(tirc_error_message(e));
  const bool schedule = tirc_error_status(e) == TIRC_NO;
  const char *file = tirc_error_get(e, TIRC_ERROR_FILE);
  tell(b, "%s: skipped, %s [%s]", c->name, schedule ? "ScheduleError" : "error",
       tirc_error_get(e, TIRC_ERROR_CODE));
  if (file) tell(b, " %s:%d", file, tirc_error_line(e));
  tell(b, ": %s\n", tirc_error_message(e));
  tirc_error_free(e);
  c->skipped = true;
}

/* A schedule that gives parameters another layout gets its arrays in that one, and may keep m. */
static bool relay_arguments(const Bench *b, const Case *k, Contender *c, tirc_module **m,
                            tirc_error **e) {
  int n;
  const tirc_param *params;
  if (tirc_module_params(*m, NULL, &n, &params, e)) return false;
  for (int i = 0; i < n && i < k->n_params; i++) {
    if (!is_relaid(*m, i)) continue;
    if (!c->packed)
      c->packed = tirc_alloc_array(memory, (size_t)k->n_params + 1, sizeof *c->packed);
    if (!c->packed || !new_array_after(k, *m, i, &c->packed[i].array, e) ||
        relayout_array(*m, i, false, k->args[i].array, c->packed[i].array, k->n_symbols,
                       k->symbols) != DONE)
      return false;
    tell(b, "%s: takes \"%s\" in another layout; bringing it there is not measured\n", c->name,
         params[i].name);
  }
  if (c->packed) c->relaid = *m, *m = NULL;
  return true;
}

/* A device may fail when it runs. */
static void try_on_device(const Bench *b, Contender *c, tirc_error **e) {
  watch_launch(b->o, c->launch, true);
  (void)tirc_launch_time(c->launch, 1, 0, 0, NULL, e);
  watch_launch(b->o, c->launch, false);
}

static void compile_schedule(const Bench *b, const Case *k, Contender *c, const tirc_module *m,
                             tirc_error **e) {
  const char *why = NULL;
  tirc_argument *args = contender_arguments(k, c);
  if (c->compiler)
    c->compiled = compile_contender(b, k, m, c->compiler, args, &why, e);
  else if (!tirc_kernel_new_on(m, NULL, b->how.device, b->how.target, &c->kernel, e) &&
           !tirc_launch_new(c->kernel, k->executor, k->n_params, args, &c->launch, e) &&
           b->how.device)
    try_on_device(b, c, e);
  if (*e || !why) return;
  tell(b, "%s: skipped: %s\n", c->name, why);
  c->skipped = true;
}

typedef struct Listener {
  const Bench *b;
  const Contender *c;
  const char *program; /* its file */
  bool repeats;        /* the same was said for another number of threads */
} Listener;

static void print_warning(void *self, const char *file, int line, int column, const char *message,
                          const char *code) {
  const Listener *l = self;
  (void)file, (void)line, (void)column;
  tell(l->b, "%s: %s [%s]\n", l->c->name, message, code);
}

/* Of a schedule, for the first number of threads; what is said of the program was said when it was
 * loaded. */
static void print_schedule_warning(void *self, const char *file, int line, int column,
                                   const char *message, const char *code) {
  const Listener *l = self;
  if (l->repeats || (file && strcmp(file, l->program) == 0)) return;
  if (file)
    tell(l->b, "%s: %s:%d: %s [%s]\n", l->c->name, file, line, message, code);
  else
    print_warning(self, file, line, column, message, code);
}

static tirc_emit_kind code_for(const char *device) {
  return strncmp(device, "cuda", 4) == 0 ? TIRC_EMIT_PTX : TIRC_EMIT_OPENCL;
}

/* What a script's author is told of the code. */
static void check_contender_code(const Bench *b, Contender *c, const tirc_module *m,
                                 tirc_error **e) {
  Listener l = {.b = b, .c = c};
  const tirc_schedule_options s = {
      .target = b->how.target, .strict = b->o->make.from.strict, .self = &l, .warn = print_warning};
  if (c->without) return;
  if (b->how.device)
    (void)tirc_module_check_kernels(m, code_for(b->how.device), &s, e);
  else
    (void)tirc_module_check_code(m, &s, e);
}

/* --explain-auto speaks once, not for each number of threads. */
static tirc_status schedule_automatically(const Bench *b, const Case *k,
                                          const tirc_schedule_options *s, tirc_module **out,
                                          tirc_error **e) {
  tirc_auto_options a = auto_options(&b->o->make);
  if (k->at.threads != b->threads[0].threads) a.tried = NULL;
  /* a database keeps the calls, too */
  return (b->store.db ? tirc_module_auto : tirc_module_auto_kept)(k->program, &a, s, out, e);
}

/* Where there is no record it is what --auto makes, which is said. */
static tirc_status schedule_tuned(const Bench *b, const Case *k, const Contender *c,
                                  tirc_module **out, tirc_error **e) {
  Listener l = {.b = b, .c = c};
  const tirc_schedule_options s = {.target = b->how.target,
                                   .max_steps = b->o->make.from.script_steps,
                                   .strict = b->o->make.from.strict,
                                   .self = &l,
                                   .warn = print_warning};
  return tirc_module_tuned(k->program, b->how.database, k->at.threads, NULL, &s, out, e);
}

/* The program without a schedule. */
static void prepare_plain(const Bench *b, const Case *k, Contender *c) {
  tirc_error *e = NULL;
  compile_schedule(b, k, c, k->program, &e);
  if (e) skip(b, c, e);
}

/* What the database knows the contender by: its script as it was written, or, where rules or a
 * search made the schedule, the calls that it amounts to. */
static void keep_schedule(Contender *c, const tirc_module *scheduled) {
  char *text = NULL;
  if (c->text && !c->by_trace)
    text = tirc_strdup(memory, c->text);
  else if (!c->automatic && !c->tuned && !c->by_trace)
    text = read_small_file(c->script);
  else if (scheduled && tirc_module_trace(scheduled, TIRC_TRACE_SCRIPT, &text, NULL))
    text = NULL;
  c->schedule = text;
}

static int prepare_schedule(const Bench *b, Case *k, Contender *c) {
  tirc_module *m = NULL;
  tirc_error *e = NULL;
  int status = DONE;
  Listener l = {b, c, k->file ? k->file : b->o->make.from.args.at[0],
                k->at.threads != b->threads[0].threads};
  tirc_schedule_options s = {.target = b->how.target,
                             .max_steps = b->o->make.from.script_steps,
                             .strict = b->o->make.from.strict,
                             .self = &l,
                             .warn = print_schedule_warning};
  tirc_status scheduled =
      c->tuned       ? schedule_tuned(b, k, c, &m, &e)
      : c->automatic ? schedule_automatically(b, k, &s, &m, &e)
      : c->text
          ? tirc_module_schedule_text(k->program, c->text, strlen(c->text), c->script, &s, &m, &e)
          : tirc_module_schedule(k->program, c->script, &s, &m, &e);
  if (b->store.db) keep_schedule(c, scheduled ? NULL : m);
  tirc_module *made = m;
  c->skipped = scheduled || !relay_arguments(b, k, c, &made, &e);
  if (!c->skipped) compile_schedule(b, k, c, m, &e);
  if (!c->skipped && !e) check_contender_code(b, c, m, &e);
  if (e) {
    if (c->without) {
      keep_failure(c, e);
      tirc_error_free(e);
      c->skipped = true;
    } else if (is_unreadable(e))
      status = report(e);
    else
      skip(b, c, e);
  } else if (c->packed_ahead && !c->skipped && !c->relaid)
    prepare_ahead(b, k, c->packed_ahead, m);
  if (b->how.blocks && !c->skipped && !c->compiler)
    c->scheduled = made;
  else
    tirc_module_free(made);
  return status;
}

static int prepare_contender(Bench *b, Case *k, Contender *c) {
  int status = DONE;
  const char *why = NULL;
  if (c->ceiling) return prepare_ceiling(k, c);
  if (c->ahead)
    c->skipped = !c->launch;
  else if (c->plain)
    prepare_plain(b, k, c);
  else if (!c->rival)
    status = prepare_schedule(b, k, c);
  else if (!(c->prepared = prepare_rival(b, k, c->rival, &why))) {
    tell(b, "%s%s%s: %s is left out: %s\n", k->at.kernel, *k->at.setting ? " " : "", k->at.setting,
         c->name, why ? why : "out of memory");
    c->skipped = true;
    c->f.code = strdup("left-out");
    c->f.message = strdup(why ? why : "out of memory");
  }
  if (status == DONE && !c->skipped) check_contender(b, k, c);
  (void)tirc_launch_stay(c->launch, true);
  if (c->rival && c->rival->note && !c->skipped)
    c->note = tirc_strdup(memory, c->rival->note(c->prepared));
  return status;
}

/* The last script again, packed ahead. */
static void add_ahead(Case *k) {
  Contender *of = &k->contenders[k->n_contenders - 1];
  of->packed_ahead = &k->contenders[k->n_contenders++];
  *of->packed_ahead = (Contender){.name = tirc_format(memory, "%s (packed ahead)", of->name),
                                  .script = of->script,
                                  .ahead = of};
}

static void add_contenders(const Bench *b, Case *k) {
  k->contenders =
      tirc_alloc_array(memory, 2 * (size_t)b->n_planned + N_CEILINGS + 1, sizeof *k->contenders);
  for (int i = 0; i < b->n_planned; i++) {
    k->contenders[k->n_contenders++] = b->planned[i];
    if (b->how.ahead && b->planned[i].script && !b->planned[i].compiler) add_ahead(k);
  }
  add_ceilings(b, k);
}

int prepare_case(Bench *b, Case *k) {
  int status = load_case(b, k);
  if (status == DONE && (k == b->cases || k->file)) status = check_program(&b->o->make, k->program);
  if (status != DONE) return status;
  add_contenders(b, k);
  status = make_arrays(b, k);
  if (status != DONE) return status;
  status = count_cost(k);
  if (status == DONE) status = make_expected(k);
  for (int i = 0; i < k->n_contenders && status == DONE && !was_interrupted(); i++) {
    if (speech.progress)
      fprintf(stderr, "\r\033[K[%d/%d] %s %s: preparing %s", (int)(k - b->cases) + 1, b->n_cases,
              k->at.kernel, k->at.setting, k->contenders[i].name);
    status = prepare_contender(b, k, &k->contenders[i]);
  }
  if (speech.progress) fprintf(stderr, "\r\033[K");
  return status;
}

void release_case(Case *k) {
  for (int i = 0; i < k->n_contenders; i++) {
    Contender *c = &k->contenders[i];
    if (c->prepared) c->rival->free(c->prepared);
    tirc_launch_free(c->launch);
    tirc_kernel_free(c->kernel);
    release_ahead(k, c);
    tirc_module_free(c->scheduled);
    c->scheduled = NULL;
    c->compiled = NULL;
    c->prepared = NULL;
    c->launch = NULL;
    c->kernel = NULL;
  }
  release_arrays(k);
  if (!k->unstored) release_samples(k);
}

void release_arrays(Case *k) {
  release_ceilings(k);
  free_arguments(k->n_params, k->args);
  tirc_reference_free(k->reference);
  k->args = NULL;
  k->reference = NULL;
  k->params = NULL;
  k->symbols = NULL;
}

void release_samples(Case *k) {
  for (int i = 0; i < k->n_contenders; i++) {
    Contender *c = &k->contenders[i];
    free(c->f.samples);
    c->f.samples = NULL;
    c->schedule = NULL;
  }
  tirc_module_free(k->program);
  k->program = NULL;
}
