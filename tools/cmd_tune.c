/* `tirc tune`: searches for the best schedules of one or several programs. */
#include "diff.h"
#include "tune_show.h"

#include "ir/cpu.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Tune {
  Options *o;
  Bench cases; /* the settings, as bench reads them */
  tirc_tune_task *tasks;
  TuneTable table; /* a row a task */
} Tune;

/* name: of the program, where there are several. */
static int show_space(const Options *o, const tirc_module *m, const char *name) {
  const tirc_schedule_options s = {.target = o->target, .max_steps = o->script_steps};
  tirc_error *e = NULL;
  char *text = NULL;
  if (tirc_module_space(m, o->rules, &s, &text, &e)) return report(o, e);
  if (name) printf("# program %s\n\n", name);
  fputs(text, stdout);
  tirc_string_free(text);
  return DONE;
}

/* --- what the user sees ------------------------------------------------------------------------
 */

static void print_wrong(const Tune *t, const tirc_tune_event *e) {
  fprintf(stderr,
          "%s: a schedule computes something else, which is a defect of tirc: %s\n"
          "its trace (tirc apply PROG --trace-json FILE): %s\n",
          t->tasks[e->task].name, e->message, e->trace);
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
  fprintf(stderr, "warning: %s\n", message);
}

static bool go_on(void *self) {
  (void)self;
  return !was_interrupted();
}

static void print_failures(FILE *out, const tirc_tune_result *r) {
  for (int i = 0; i < r->n_failures; i++)
    fprintf(out, "  failed: %lld x %s, as: %.200s\n", (long long)r->failures[i].n,
            r->failures[i].code, r->failures[i].message);
}

static void print_result(FILE *out, const TuneRow *task, const tirc_tune_result *r) {
  char best[32], automatic[32], gain[16], share[80] = "";
  if (task->ceiling > 0)
    snprintf(share, sizeof share, ", %.0f %% of the %s", 100 * task->ceiling / r->seconds,
             task->binds);
  if (!r->module && !r->trials) {
    fprintf(out, "%s: nothing was measured yet\n", task->name);
    print_failures(out, r);
    return;
  }
  if (!r->module) {
    fprintf(out,
            "%s: no candidate works, of %lld that were measured and %lld that were looked at\n",
            task->name, (long long)r->trials, (long long)r->made);
    print_failures(out, r);
    return;
  }
  fprintf(out, "%s: best %s by %s%s, --auto %s, x %s; %lld trials", task->name,
          time_text(r->seconds, best, sizeof best), *r->way ? r->way : "no rule", share,
          time_text(r->automatic, automatic, sizeof automatic),
          gain_text(r->automatic, r->seconds, gain, sizeof gain), (long long)r->trials);
  if (task->trials)
    fprintf(out, ", %lld candidates looked at now", (long long)r->made);
  else
    fprintf(out, ", all of them known before: more --trials look for more");
  if (!isnan(r->rank_correlation))
    fprintf(out, ", rank correlation of what was expected %.2f", r->rank_correlation);
  fprintf(out, "\n");
  print_failures(out, r);
}

/* A script of calls, without the numbers of its names: l12 and l14 are l. In place. */
static void drop_numbers(char *text) {
  char *to = text;
  for (const char *p = text; *p;) {
    const bool begins = p == text || (!isalnum((unsigned char)p[-1]) && p[-1] != '_');
    const bool name = begins && strchr("blv", *p) && isdigit((unsigned char)p[1]);
    *to++ = *p++;
    while (name && isdigit((unsigned char)*p)) p++;
  }
  *to = 0;
}

static char *numberless_script(const tirc_module *m) {
  char *text = NULL;
  if (tirc_module_trace(m, TIRC_TRACE_SCRIPT, &text, NULL)) return NULL;
  drop_numbers(text);
  return text;
}

static bool is_comment(const DiffLine *l) {
  size_t i = 0;
  while (i < l->n && l->text[i] == ' ') i++;
  return i < l->n && l->text[i] == '#';
}

static void print_diff(FILE *out, const char *before, const char *after) {
  Diff d;
  if (!diff_texts(before, after, &d)) return;
  bool any = false;
  for (int i = 0; i < d.n; i++) any |= strchr("+-", d.at[i].op) && !is_comment(&d.at[i]);
  fprintf(out,
          any ? "  what it does otherwise than --auto:\n" : "  it is the schedule of --auto\n");
  for (int i = 0; i < d.n; i++)
    if (strchr("+-", d.at[i].op) && !is_comment(&d.at[i]))
      fprintf(out, "  %c %.*s\n", d.at[i].op, (int)d.at[i].n, d.at[i].text);
  free_diff(&d);
}

static void print_difference(const Options *o, FILE *out, const tirc_tune_task *task,
                             const tirc_tune_result *r) {
  const tirc_schedule_options s = {.target = o->target, .max_steps = o->script_steps};
  const tirc_auto_options rules = {.rules = NULL};
  tirc_module *automatic = NULL;
  if (tirc_module_auto(task->module, &rules, &s, &automatic, NULL)) return;
  char *before = numberless_script(automatic), *after = numberless_script(r->module);
  if (before && after) print_diff(out, before, after);
  tirc_string_free(before);
  tirc_string_free(after);
  tirc_module_free(automatic);
}

/* --- programs ----------------------------------------------------------------------------------
 */

/* The values that a case has for what is no constant of its program. */
static int read_sizes(const Options *o, const Case *k, tirc_tune_task *task) {
  tirc_symbol *symbols = calloc((size_t)k->n_defines + 1, sizeof *symbols);
  int status = DONE, n = 0;
  if (!symbols) return complain(o, NULL, "out of memory");
  for (int i = 0; i < k->n_defines && status == DONE; i++) {
    if (!is_size(k->program, k->defines[i].name)) continue;
    symbols[n].name = k->defines[i].name;
    status = read_extent(o, k->defines[i].value, &symbols[n++]);
  }
  task->symbols = symbols;
  task->n_symbols = n;
  return status;
}

static int make_tasks(Tune *t) {
  Bench *b = &t->cases;
  int status = make_cases(b);
  if (status != DONE) return status;
  t->tasks = calloc((size_t)b->n_cases + 1, sizeof *t->tasks);
  const bool is_script = t->o->output && strcmp(t->o->output, "-") == 0;
  t->table = (TuneTable){.o = t->o, .out = is_script ? stderr : stdout, .n = b->n_cases};
  t->table.rows = calloc((size_t)b->n_cases + 1, sizeof *t->table.rows);
  if (!t->tasks || !t->table.rows) return complain(t->o, NULL, "out of memory");
  for (int i = 0; i < b->n_cases && status == DONE; i++) {
    status = load_case(b, &b->cases[i]);
    if (status != DONE) return status;
    t->tasks[i] =
        (tirc_tune_task){.module = b->cases[i].program, .name = name_of_case(&b->cases[i])};
    t->table.rows[i] = (TuneRow){
        .name = t->tasks[i].name, .best = (double)INFINITY, .automatic = (double)INFINITY};
    status = read_sizes(t->o, &b->cases[i], &t->tasks[i]);
  }
  return status;
}

static void release(Tune *t) {
  for (int i = 0; i < t->cases.n_cases; i++) {
    if (t->tasks) {
      free((char *)(uintptr_t)t->tasks[i].name);
      free((tirc_symbol *)(uintptr_t)t->tasks[i].symbols);
    }
    release_case(&t->cases.cases[i]);
  }
  free_cases(&t->cases);
  free(t->tasks);
  free(t->table.rows);
}

/* --- the command -------------------------------------------------------------------------------
 */

static int write_script(const Options *o, const tirc_tune_result *r) {
  tirc_error *e = NULL;
  char *text;
  if (tirc_module_trace(r->module, TIRC_TRACE_SCRIPT, &text, &e)) return report(o, e);
  int status = write_output(o, o->output, text, strlen(text));
  tirc_string_free(text);
  return status;
}

/* lost: why the search ended before its time, or NULL. */
static int finish(const Tune *t, const tirc_tune_result *results, tirc_error *lost) {
  const Options *o = t->o;
  FILE *out = t->table.out;
  int status = DONE;
  bool works = true, any = false, failed = false;
  for (int i = 0; i < t->cases.n_cases; i++) {
    print_result(out, &t->table.rows[i], &results[i]);
    if (t->cases.n_cases == 1 && results[i].module)
      print_difference(o, out, &t->tasks[i], &results[i]);
    works &= results[i].module != NULL || !results[i].trials;
    any |= results[i].trials > 0;
    failed |= results[i].n_failures > 0;
    if (results[i].wrong) status = NO;
  }
  if (was_interrupted()) fprintf(out, "Interrupted\n");
  if (!any && !was_interrupted() && !lost)
    return complain(o,
                    failed ? "the reasons are listed above, by their codes"
                           : "give it more --seconds, or --trials",
                    "nothing was measured");
  if (!works && !was_interrupted() && !lost)
    return complain(o, "the reasons are listed above, by their codes",
                    "no candidate works for some program");
  if (o->output && t->cases.n_cases == 1 && results[0].module) {
    const int written = write_script(o, &results[0]);
    if (written != DONE) status = written;
  }
  return lost ? report(o, lost) : status;
}

/* Before the search, while nothing else runs; its threads then end. */
static int measure_ceilings(Tune *t) {
  Bench *b = &t->cases;
  struct Threads one = {.threads = (int)t->o->threads};
  tirc_error *e = NULL;
  if (tirc_target_find(t->o->target ? t->o->target : CPU_DEFAULT, &b->target, &e) ||
      tirc_executor_new(one.threads, &one.executor, &e))
    return report(t->o, e);
  struct Threads *before = b->threads;
  b->threads = &one;
  int status = DONE;
  for (int i = 0; i < b->n_cases && status == DONE; i++) {
    b->cases[i].executor = one.executor;
    status = measure_ceiling(b, &b->cases[i], &t->table.rows[i]);
  }
  b->threads = before;
  tirc_executor_free(one.executor);
  return status;
}

static int tune(Tune *t) {
  const Options *o = t->o;
  tirc_input_range *ranges = NULL;
  int n = 0, status = read_ranges(o, &ranges);
  const tirc_param *params = NULL;
  if (status == DONE && t->cases.n_cases == 1 &&
      !tirc_module_params(t->cases.cases[0].program, NULL, &n, &params, NULL))
    status = check_range_names(o, n, params);
  if (status != DONE) {
    free_ranges(o, ranges);
    return status;
  }
  const tirc_tune_options options = {.target = o->target,
                                     .rules = o->rules,
                                     .threads = (int)o->threads,
                                     .trials = o->trials,
                                     .seconds = o->seconds,
                                     .seed = o->seed,
                                     .max_steps = o->script_steps,
                                     .database = o->database ? o->database : "",
                                     .ranking = o->ranking,
                                     .mutations = o->mutations,
                                     .lease = o->lease,
                                     .self = t,
                                     .told = told,
                                     .warn = warn,
                                     .go_on = go_on,
                                     .n_ranges = o->range.n,
                                     .ranges = ranges};
  tirc_tune_result *results = NULL;
  tirc_error *e = NULL;
  catch_interrupts();
  const tirc_status tuned = tirc_tune(t->cases.n_cases, t->tasks, &options, &results, &e);
  clear_table(&t->table);
  free_ranges(o, ranges);
  if (tuned == TIRC_BAD) return report(o, e);
  status = finish(t, results, e);
  tirc_tune_results_free(t->cases.n_cases, results);
  return status;
}

int cmd_tune(Options *o) {
  static struct Threads one = {.threads = 1};
  Tune t = {.o = o,
            .cases = {.o = o, .out = stdout, .n_threads = 1, .threads = &one, .tunes = true}};
  if (!o->suite && o->args.n == 0)
    return complain(o, "name a program",
                    "usage: tirc tune PROG..., or tirc tune --suite operators");
  if (o->suite && o->args.n > 1)
    return complain(o, "tirc tune PROG --suite SUITE", "a suite has the sizes of one program");
  int status = o->show_space ? DONE : check_output(o, o->output);
  if (status == DONE) status = make_tasks(&t);
  if (status == DONE && o->output && t.cases.n_cases > 1)
    status =
        complain(o, "`tirc db best NAME -o FILE` writes each",
                 "-o takes the best schedule of one program, and here are %d", t.cases.n_cases);
  if (status == DONE && o->show_space)
    for (int i = 0; i < t.cases.n_cases && status == DONE; i++)
      status = show_space(o, t.tasks[i].module, t.cases.n_cases > 1 ? t.tasks[i].name : NULL);
  else if (status == DONE)
    status = measure_ceilings(&t);
  if (status == DONE && !o->show_space) status = tune(&t);
  release(&t);
  return status;
}
