/* `tirc tune`: searches for the best schedules of one or several programs. */
#include "tools/kit/model.h"
#include "tools/records/fact_words.h"
#include "tune_emulate.h"
#include "tune_model.h"
#include "tune_show.h"
#include "tune_sizes.h"

#include "ir/cpu.h"

#include <math.h>
#include <string.h>

typedef struct Tune {
  TuneOptions *o;
  Bench cases; /* the settings, as bench reads them */
  tirc_tune_task *tasks;
  TuneTable table;  /* a row a task */
  ModelTasks model; /* the functions of a model, or none */
  SizedCases sized; /* the programs that are tuned for several sizes */
  double start;     /* of the time that --seconds gives */
} Tune;

/* Whose ceilings are measured. */
static const char *cpu_of(const TuneOptions *o) {
  return o->run.device == DEVICE_CPU ? o->run.make.from.target : "native";
}

/* A block may name a rule that nobody has. */
static int check_rules(const TuneOptions *o, const tirc_module *m) {
  const Loading *from = &o->run.make.from;
  const tirc_schedule_options s = {.target = from->target,
                                   .max_steps = from->script_steps,
                                   .strict = from->strict,
                                   .warn = warn_about};
  tirc_error *e = NULL;
  return tirc_module_check_rules(m, o->run.make.rules, &s, &e) ? report(e) : DONE;
}

/* name: of the program, where there are several. */
static int show_space(const TuneOptions *o, const tirc_module *m, const char *name) {
  const tirc_schedule_options s = {.target = o->run.make.from.target,
                                   .max_steps = o->run.make.from.script_steps};
  tirc_error *e = NULL;
  char *text = NULL;
  if (tirc_module_space(m, o->run.make.rules, &s, &text, &e)) return report(e);
  if (name) printf("# program %s\n\n", name);
  fputs(text, stdout);
  tirc_string_free(text);
  return DONE;
}

/* --- what the user sees ----------------------------------------------------------------------- */

static void print_wrong(const Tune *t, const tirc_tune_event *e) {
  put_name(stderr, t->tasks[e->task].name);
  fputs(": a schedule computes something else, which is a defect of tirc: ", stderr);
  put_name(stderr, e->message);
  fputs("\nits trace (tirc apply PROG --trace-json FILE): ", stderr);
  put_name(stderr, e->trace);
  fputc('\n', stderr);
}

static void told(void *self, const tirc_tune_event *e) {
  Tune *t = self;
  show_trial(&t->table, e);
  if (!e->code || strcmp(e->code, "wrong-result") != 0) return;
  clear_table(&t->table);
  print_wrong(t, e);
}

static void warn(void *self, const char *message) {
  Tune *t = self;
  clear_table(&t->table);
  fputs("warning: ", stderr);
  put_name(stderr, message);
  fputc('\n', stderr);
}

static void print_failures(FILE *out, const tirc_tune_result *r) {
  for (int i = 0; i < r->n_failures; i++) {
    const tirc_tune_failure *f = &r->failures[i];
    enum { MOST = 200 };
    fprintf(out, "  failed: %lld x ", (long long)f->n);
    put_name(out, f->code);
    fputs(", as: ", out);
    put_name(out, tirc_format(memory, "%.*s", MOST, f->message));
    fputc('\n', out);
  }
}

/* What there is when no candidate works. */
static void print_nothing(FILE *out, const tirc_tune_result *r) {
  if (!r->trials)
    fprintf(out, ": nothing was measured yet\n");
  else
    fprintf(out, ": none of %lld measured candidate%s works (%lld considered)\n",
            (long long)r->trials, plural(r->trials), (long long)r->made);
}

/* The best so far that users have seen may not be the result. */
static void print_loss(FILE *out, const tirc_tune_result *results, int i) {
  tirc_tune_loss loss;
  char trial[32], finals[32];
  if (!tirc_tune_lost(results, i, &loss)) return;
  fprintf(out, "  the fastest trial, %s by ", time_text(loss.trial, trial, sizeof trial));
  put_name(out, *loss.way ? loss.way : "no rule");
  if (isfinite(loss.finals))
    fprintf(out, ", lost the final: it took %s in turns with the others",
            time_text(loss.finals, finals, sizeof finals));
  else
    fprintf(out, ", failed in the final");
  fprintf(out, "%s\n",
          loss.to_automatic
              ? "; no candidate is certainly faster than --auto, whose schedule is kept"
              : "");
}

/* load: cores that others used meanwhile. */
static void print_result(FILE *out, const TuneRow *task, const tirc_tune_result *r, double load) {
  char best[32], automatic[32], gain[16], share[80] = "";
  if (task->ceiling > 0)
    snprintf(share, sizeof share, ", %.0f %% of the %s", 100 * task->ceiling / r->seconds,
             task->binds);
  put_name(out, task->name);
  if (!r->module) {
    print_nothing(out, r);
    print_failures(out, r);
    return;
  }
  fprintf(out, ": best %s by ", time_text(r->seconds, best, sizeof best));
  put_name(out, *r->way ? r->way : "no rule");
  fprintf(out, "%s, --auto %s, x %s; %lld trial%s", share,
          time_text(r->automatic, automatic, sizeof automatic),
          gain_text(r->automatic, r->seconds, gain, sizeof gain), (long long)r->trials,
          plural(r->trials));
  if (task->trials)
    fprintf(out, ", %lld candidate%s considered", (long long)r->made, plural(r->made));
  else
    fprintf(out, ", all of them known before; a larger --trials continues the search");
  if (!isnan(r->rank_correlation))
    fprintf(out, ", rank correlation of predicted and measured times %.2f", r->rank_correlation);
  fprintf(out, "\n");
  if (tirc_is_busy(load)) fprintf(out, "  disturbed: other processes used %.2f cores\n", load);
  print_failures(out, r);
}

/* The facts of a schedule of the program; false: they cannot be read. */
static bool facts_of(const tirc_module *program, const tirc_module *scheduled, Facts *out) {
  char *text = NULL, *trace = NULL;
  const bool ok = tirc_module_print(program, &text, NULL) == TIRC_OK &&
                  tirc_module_trace(scheduled, TIRC_TRACE_JSON, &trace, NULL) == TIRC_OK &&
                  read_facts(text, trace, out, NULL) == TIRC_OK;
  tirc_string_free(text);
  tirc_string_free(trace);
  return ok;
}

static void print_changes(FILE *out, const Facts *before, const Facts *after) {
  static const char *const heads[] = {"", "--auto", "best"};
  Table t = {.columns = 3};
  for (int i = 0; i < t.columns; i++) add_cell(&t, "%s", heads[i]);
  const int n = add_fact_changes(&t, before, after);
  fputs(n ? "  what it does differently from --auto:\n"
          : "  it differs from --auto, but in no row of `tirc db explain`\n",
        out);
  if (n) put_table(out, &t);
}

/* As rows of `tirc db explain`. */
static void print_difference(const TuneOptions *o, FILE *out, const tirc_tune_task *task,
                             const tirc_tune_result *r) {
  const tirc_schedule_options s = {.target = o->run.make.from.target,
                                   .max_steps = o->run.make.from.script_steps};
  const tirc_auto_options rules = {.rules = NULL};
  tirc_module *automatic = NULL;
  Facts before = {0}, after = {0};
  char *difference = NULL;
  if (tirc_module_auto(task->module, &rules, &s, &automatic, NULL)) return;
  if (tirc_module_compare(automatic, r->module, &difference, NULL) == TIRC_OK && !difference)
    fprintf(out, "  the best schedule is the schedule of --auto\n");
  else if (facts_of(task->module, automatic, &before) && facts_of(task->module, r->module, &after))
    print_changes(out, &before, &after);
  free_facts(&before);
  free_facts(&after);
  tirc_string_free(difference);
  tirc_module_free(automatic);
}

/* --- programs --------------------------------------------------------------------------------- */

/* The values that a case has for what is no constant of its program. */
static int read_sizes(const Case *k, tirc_tune_task *task) {
  tirc_symbol *symbols = tirc_alloc_array(memory, (size_t)k->at.n_defines + 1, sizeof *symbols);
  int status = DONE, n = 0;
  for (int i = 0; i < k->at.n_defines && status == DONE; i++) {
    if (!is_size(k->program, k->at.defines[i].name)) continue;
    symbols[n].name = k->at.defines[i].name;
    status = read_extent(k->at.defines[i].value, &symbols[n++]);
  }
  task->symbols = symbols;
  task->n_symbols = n;
  return status;
}

/* A model's functions take the place of its case. */
static int make_model_cases(Tune *t) {
  Bench *b = &t->cases;
  release_case(b->cases);
  free_cases(b);
  b->cases = tirc_alloc_array(memory, (size_t)t->model.n + 1, sizeof *b->cases);
  for (; b->n_cases < t->model.n; b->n_cases++) {
    Case *k = &b->cases[b->n_cases];
    ModelTask *task = &t->model.at[b->n_cases];
    k->at.kernel = tirc_strdup(memory, task->name);
    k->at.setting = tirc_strdup(memory, "");
    k->program = task->module;
    task->module = NULL; /* the case has it now */
  }
  return DONE;
}

/* A program that is a model: one alone, and of one setting at a time. */
static int find_model(Tune *t) {
  const TuneOptions *o = t->o;
  int status = make_cases(&t->cases, o->suite);
  if (status != DONE || o->suite || o->run.make.from.args.n != 1 || !t->cases.n_cases)
    return status;
  Case *k = t->cases.cases;
  status = is_onnx(o->run.make.from.args.at[0])
               ? load_program(&o->run.make.from, o->run.make.from.args.at[0], &k->program)
               : load_case(&t->cases, k);
  if (status != DONE || !tirc_module_has_graph(k->program)) return status;
  if (t->cases.n_cases > 1)
    status = complain("tune it once for each: the database keeps what was found",
                      "'%s' is a model, which is tuned for one size at a time, not for %d",
                      o->run.make.from.args.at[0], t->cases.n_cases);
  else
    status = find_model_tasks(&o->run.make, k->program, &t->model);
  return status;
}

/* The programs of the cases, loaded. */
static int load_cases(Tune *t) {
  Bench *b = &t->cases;
  int status = DONE;
  if (t->model.n) return make_model_cases(t);
  for (int i = 0; i < b->n_cases && status == DONE; i++)
    if (!b->cases[i].program) status = load_case(b, &b->cases[i]);
  return status;
}

static int make_tasks(Tune *t) {
  Bench *b = &t->cases;
  int status = load_cases(t);
  if (status == DONE && !t->model.n) status = cases_by_sizes(b, &t->sized);
  if (status != DONE) return status;
  t->tasks = tirc_alloc_array(memory, (size_t)b->n_cases + 1, sizeof *t->tasks);
  const bool is_script = t->o->run.make.from.output && strcmp(t->o->run.make.from.output, "-") == 0;
  t->table = (TuneTable){.o = t->o, .out = is_script ? stderr : stdout, .n = b->n_cases};
  t->table.rows = tirc_alloc_array(memory, (size_t)b->n_cases + 1, sizeof *t->table.rows);
  for (int i = 0; i < b->n_cases && status == DONE; i++) {
    t->tasks[i] = (tirc_tune_task){.module = b->cases[i].program,
                                   .name = name_of_case(&b->cases[i]),
                                   .weight = t->model.n ? t->model.at[i].calls : 1};
    t->table.rows[i] = (TuneRow){
        .name = t->tasks[i].name, .best = (double)INFINITY, .automatic = (double)INFINITY};
    status = read_sizes(&b->cases[i], &t->tasks[i]);
  }
  return status;
}

static void release(Tune *t) {
  for (int i = 0; i < t->cases.n_cases; i++) release_case(&t->cases.cases[i]);
  free_cases(&t->cases);
  free_sized_cases(&t->sized);
  free_model_tasks(&t->model);
}

/* --- the command ------------------------------------------------------------------------------ */

static int write_script(const TuneOptions *o, const tirc_tune_result *r) {
  tirc_error *e = NULL;
  char *text;
  if (tirc_module_trace(r->module, TIRC_TRACE_SCRIPT, &text, &e)) return report(e);
  int status = write_output(o->run.make.from.output, text, strlen(text));
  tirc_string_free(text);
  return status;
}

/* A search that ends by itself before its trials are used up has found nothing new in any space. */
static void print_exhausted(const Tune *t, const tirc_tune_result *results) {
  enum { USUAL = 64 };
  const TuneOptions *o = t->o;
  const int64_t each = o->trials > 0 ? o->trials : USUAL;
  int64_t trials = 0;
  const bool in_time = o->seconds <= 0 || tirc_seconds() - t->start < o->seconds;
  for (int i = 0; i < t->cases.n_cases; i++) trials += results[i].trials;
  if (trials && trials < each * t->cases.n_cases && in_time && !was_interrupted())
    fprintf(t->table.out,
            "The space is exhausted: nothing new is found in it after %lld candidate%s\n",
            (long long)trials, plural((int)trials));
}

/* lost: why the search ended before its time, or NULL. */
static int finish(const Tune *t, const tirc_tune_result *results, tirc_error *lost) {
  const TuneOptions *o = t->o;
  FILE *out = t->table.out;
  int status = DONE;
  bool works = true, any = false, failed = false;
  for (int i = 0; i < t->cases.n_cases; i++) {
    print_result(out, &t->table.rows[i], &results[i], tirc_tune_load(results, i));
    print_loss(out, results, i);
    if (t->cases.n_cases == 1 && results[i].module)
      print_difference(o, out, &t->tasks[i], &results[i]);
    works &= results[i].module != NULL || !results[i].trials;
    any |= results[i].trials > 0;
    failed |= results[i].n_failures > 0;
    if (results[i].wrong) status = NO;
  }
  if (was_interrupted()) fprintf(out, "Interrupted\n");
  if (!lost) print_exhausted(t, results);
  if (!any && !was_interrupted() && !lost)
    return complain(failed ? "the reasons are listed above, by their codes"
                           : "give it more --seconds, or --trials",
                    "nothing was measured");
  if (!works && !was_interrupted() && !lost)
    return complain("the reasons are listed above, by their codes",
                    "no candidate works for some program");
  if (o->run.make.from.output && t->cases.n_cases == 1 && results[0].module) {
    const int written = write_script(o, &results[0]);
    if (written != DONE) status = written;
  }
  return lost ? report(lost) : status;
}

/* Before the search, while nothing else runs; its threads then end. Of a model's many functions the
 * first ones have one: most of the time is the search's. */
static int measure_ceilings(Tune *t) {
  Bench *b = &t->cases;
  struct Threads one = {.threads = t->o->run.make.threads};
  tirc_error *e = NULL;
  const char *target = cpu_of(t->o);
  if (tirc_target_find(tirc_cpu_or_default(target), &b->target, &e) ||
      tirc_executor_new(one.threads, &one.executor, &e))
    return report(e);
  struct Threads *before = b->threads;
  b->threads = &one;
  int status = DONE;
  t->start = tirc_seconds();
  for (int i = 0; i < b->n_cases && status == DONE; i++) {
    if (t->o->seconds > 0 && tirc_seconds() - t->start > t->o->seconds / 10) break;
    b->cases[i].executor = one.executor;
    status = measure_ceiling(b, &b->cases[i], &t->table.rows[i]);
  }
  b->threads = before;
  tirc_executor_free(one.executor);
  return status;
}

/* A range is of each program that has the array; one at least must. */
static int check_ranges(const Tune *t) {
  tirc_param *all = NULL;
  int n = 0, status = DONE;
  for (int i = 0; i < t->cases.n_cases && status == DONE; i++) {
    const tirc_param *params;
    tirc_error *e = NULL;
    int more = 0;
    if (tirc_module_params(t->cases.cases[i].program, NULL, &more, &params, &e)) {
      status = report(e);
      break;
    }
    for (int k = 0; k < more; k++) {
      *one_more(all, n) = params[k];
    }
  }
  for (int i = 0; i < t->model.n_inputs; i++) {
    *one_more(all, n) = (tirc_param){.name = t->model.inputs[i], .is_array = true};
  }
  if (status == DONE) status = check_range_names(&t->o->run, n, all, t->cases.n_cases);
  return status;
}

/* What --test-data says, and behind it what --range does: the last one counts. */
static tirc_input_range *all_ranges(const Tune *t, const tirc_input_range *said, int *n) {
  const size_t known = (size_t)t->model.n_ranges, more = (size_t)t->o->run.range.n;
  tirc_input_range *all = tirc_alloc_array(memory, known + more + 1, sizeof *all);
  if (known) memcpy(all, t->model.ranges, known * sizeof *all);
  if (more) memcpy(all + known, said, more * sizeof *all);
  *n = (int)(known + more);
  return all;
}

static int tune(Tune *t) {
  const TuneOptions *o = t->o;
  tirc_input_range *ranges = NULL, *all = NULL;
  int n_ranges = 0, status = read_ranges(&o->run, &ranges);
  if (status == DONE) status = check_ranges(t);
  if (status != DONE) return status;
  all = all_ranges(t, ranges, &n_ranges);
  const double left = o->seconds > 0 ? fmax(1e-3, o->seconds - (tirc_seconds() - t->start)) : 0;
  const tirc_tune_options options = {.target = o->run.make.from.target,
                                     .rules = o->run.make.rules,
                                     .threads = o->run.make.threads,
                                     .trials = o->trials,
                                     .seconds = left,
                                     .seed = o->run.seed,
                                     .max_steps = o->run.make.from.script_steps,
                                     .database = o->run.make.database ? o->run.make.database : "",
                                     .ranking = o->ranking,
                                     .mutations = o->mutations,
                                     .lease = o->lease,
                                     .self = t,
                                     .told = told,
                                     .warn = warn,
                                     .go_on = may_go_on,
                                     .device =
                                         o->run.device == DEVICE_CPU ? NULL : o->run.device_name};
  tirc_tune_result *results = NULL;
  tirc_error *e = NULL;
  catch_interrupts();
  const tirc_status tuned =
      tirc_tune_in_ranges(t->cases.n_cases, t->tasks, &options, n_ranges, all, &results, &e);
  clear_table(&t->table);
  if (tuned == TIRC_BAD) return report(e);
  status = finish(t, results, e);
  if (status == DONE) status = keep_sizes(&t->sized, o->run.make.database, o->run.make.from.target);
  tirc_tune_results_free(t->cases.n_cases, results);
  return status;
}

int cmd_tune(TuneOptions *o) {
  const List *args = &o->run.make.from.args;
  static struct Threads one = {.threads = 1};
  Tune t = {.o = o,
            .cases = {.o = &o->run, .out = stdout, .n_threads = 1, .threads = &one, .tunes = true}};
  if (!o->suite && args->n == 0)
    return complain("name a program", "usage: tirc tune PROG..., or tirc tune --suite operators");
  if (o->array) return tune_array(o);
  if (!find_device(&o->run)) return BAD;
  const bool by_model = o->run.device == DEVICE_EMULATE;
  if (by_model && (o->suite || args->n > 1))
    return complain("tirc tune PROG --device emulate",
                    "the emulator ranks schedules of one program");
  if (o->suite && args->n > 1)
    return complain("tirc tune PROG --suite SUITE", "a suite has the sizes of one program");
  int status = o->show_space ? DONE : check_output(o->run.make.from.output);
  if (status == DONE) status = find_model(&t);
  if (status == DONE && o->show_tasks) {
    if (t.model.n)
      show_model_tasks(&t.model);
    else
      status = complain("--show-space prints what would be tried",
                        "--show-tasks is about a model, and '%s' is none",
                        args->n ? args->at[0] : o->suite);
    release(&t);
    return status;
  }
  if (status == DONE) status = make_tasks(&t);
  if (status == DONE && o->run.make.from.output && t.cases.n_cases > 1)
    status =
        complain("`tirc db best NAME -o FILE` writes each",
                 "-o takes the best schedule of one program, and here are %d", t.cases.n_cases);
  for (int i = 0; i < t.cases.n_cases && status == DONE; i++)
    status = check_rules(o, t.tasks[i].module);
  if (status == DONE && o->show_space)
    for (int i = 0; i < t.cases.n_cases && status == DONE; i++)
      status = show_space(o, t.tasks[i].module, t.cases.n_cases > 1 ? t.tasks[i].name : NULL);
  else if (status == DONE && by_model)
    status = t.cases.n_cases == 1 && !t.model.n
                 ? rank_by_emulator(o, t.tasks[0].module)
                 : complain("tirc tune PROG --device emulate",
                            "the emulator ranks schedules of one program");
  else if (status == DONE)
    status = measure_ceilings(&t);
  if (status == DONE && !o->show_space && !by_model) status = tune(&t);
  release(&t);
  return status;
}
