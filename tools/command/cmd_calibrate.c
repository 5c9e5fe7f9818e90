/* `tirc calibrate`: what rules take as measured, measured on this machine. The questions are a
 * script, passes/rules/calibrate.sch; the answers are a table as those of passes/rules/targets. It
 * is written after each answer, so that what is interrupted goes on where it was. */
#include "command.h"
#include "ir/user_file.h"
#include "tools/bench/bench.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BUILT_IN "calibrate"       /* the questions, among the libraries of rules */
static const double ENOUGH = 1.01; /* times as fast as what is there, to take its place */
static const double USUAL_SECONDS = 0.1;
static const char no_program[] = "@T.prim_func\ndef f():\n    T.evaluate(0)\n";

/* A value of a number, on all programs of its question. */
typedef struct Answer {
  char *value;            /* as a script writes it */
  double log, low, error; /* of how many times as fast as the present one it is: sums */
  bool differs, lost;     /* some program is scheduled otherwise by it; or cannot be measured */
} Answer;

typedef struct Calibrating {
  const CalibrateOptions *o;
  tirc_calibration at;
  const char *questions; /* their file, as messages name it */
  char *folder;          /* with the table that is tried, and rules beside it */
  char *numbers;         /* the table so far, from its import on */
  tirc_schedule *s;      /* whose are */
  tirc_value list;
  int n_changed, n_asked;
} Calibrating;

/* --- questions -------------------------------------------------------------------------------- */

enum { NUMBER, PRESENT, VALUES, THREADS, PROGRAMS, N_PARTS };

static const tirc_value *part(const Calibrating *k, int64_t i, int p) {
  return &k->list.u.items[i].u.items[p];
}

static bool is_list(const tirc_value *v, int64_t n) {
  return (v->kind == TIRC_KIND_LIST || v->kind == TIRC_KIND_TUPLE) && (n < 0 || v->n == n);
}

static bool is_program(const tirc_value *v) {
  if (!is_list(v, 2) || v->u.items[0].kind != TIRC_KIND_STR) return false;
  const tirc_value *sizes = &v->u.items[1];
  if (sizes->kind != TIRC_KIND_DICT) return false;
  for (int64_t i = 0; i + 1 < sizes->n; i += 2)
    if (sizes->u.items[i].kind != TIRC_KIND_STR || sizes->u.items[i + 1].kind != TIRC_KIND_INT)
      return false;
  return true;
}

static bool is_question(const tirc_value *v) {
  if (!is_list(v, N_PARTS) || v->u.items[NUMBER].kind != TIRC_KIND_STR ||
      !is_list(&v->u.items[VALUES], -1) || v->u.items[THREADS].kind != TIRC_KIND_INT ||
      v->u.items[THREADS].u.i < 1 || v->u.items[THREADS].u.i > MOST_THREADS ||
      !is_list(&v->u.items[PROGRAMS], -1) || v->u.items[PROGRAMS].n == 0)
    return false;
  for (int64_t i = 0; i < v->u.items[PROGRAMS].n; i++)
    if (!is_program(&v->u.items[PROGRAMS].u.items[i])) return false;
  return true;
}

/* As a script writes it; NULL: it is no number, truth or None. */
static char *value_text(const tirc_value *v) {
  switch (v->kind) {
  case TIRC_KIND_NONE: return copied("None");
  case TIRC_KIND_BOOL: return copied(v->u.b ? "True" : "False");
  case TIRC_KIND_INT: return tirc_format(memory, "%lld", (long long)v->u.i);
  case TIRC_KIND_FLOAT: return tirc_format(memory, "%.17g", v->u.f);
  default: return NULL;
  }
}

static int check_questions(const Calibrating *k) {
  for (int64_t i = 0; i < k->list.n; i++) {
    bool fine = is_question(&k->list.u.items[i]) && value_text(part(k, i, PRESENT));
    for (int64_t v = 0; fine && v < part(k, i, VALUES)->n; v++)
      fine = value_text(&part(k, i, VALUES)->u.items[v]) != NULL;
    if (!fine)
      return complain(
          "such as [\"TASKS\", TASKS, [4, 8, 16], 2, [[\"matmul.tir\", {\"M\": 64}]]]; `tirc "
          "rules " BUILT_IN "` prints those that are built in",
          "%s: question %lld is not [number, present value, values, threads, programs]",
          k->questions, (long long)i + 1);
  }
  return k->list.n ? DONE : complain(NULL, "%s: there are no questions", k->questions);
}

static const char *built_in(const char *wanted) {
  const char *name, *text;
  for (int i = 0; tirc_rules_table(i, &name, &text); i++)
    if (strcmp(name, wanted) == 0) return text;
  return NULL;
}

/* The script runs on an empty program, for this machine. */
static int read_questions(Calibrating *k) {
  const tirc_schedule_options options = {.target = "native", .print = print_aside};
  const tirc_value found = tirc_script("list(questions)"), none = tirc_list_of(0, NULL);
  char *text = NULL;
  size_t n = 0;
  tirc_module *m = NULL;
  tirc_error *e = NULL;
  k->questions = k->o->questions ? k->o->questions : "<rules>/" BUILT_IN ".sch";
  const int status = k->o->questions ? read_text(k->o->questions, &text, &n) : DONE;
  if (status != DONE) return status;
  if (!text) text = copied(built_in(BUILT_IN));
  const bool asked = !tirc_module_parse(no_program, strlen(no_program), "", 0, NULL, &m, &e) &&
                     !tirc_schedule_new(m, &options, &k->s, &e) &&
                     !tirc_schedule_run(k->s, text, strlen(text), k->questions, &e) &&
                     !tirc_schedule_operator(k->s, "+", &found, &none, &k->list, &e);
  tirc_module_free(m);
  return asked ? check_questions(k) : report(e);
}

/* --- files ------------------------------------------------------------------------------------ */

static int cannot_write(const char *path) {
  return complain("$TIRC_CALIBRATION names another file", "cannot write '%s': %s", path,
                  strerror(errno));
}

static int write_text(const char *path, const char *text) {
  NewFile n = begin_file(path);
  if (n.f) fputs(text, n.f);
  return n.f && end_file(&n) ? DONE : cannot_write(path);
}

static int write_answers(const Calibrating *k, bool whole) {
  char date[64];
  const time_t now = time(NULL);
  struct tm t;
  strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", gmtime_r(&now, &t));
  return write_text(k->at.file, tirc_format(memory, "%s# %s, by tirc %s\n%s%s", k->at.head, date,
                                            tirc_version(), k->numbers, whole ? "# whole\n" : ""));
}

/* A table to be tried, where rules look for one. */
static int write_table(const Calibrating *k, const char *name, const char *value) {
  return write_text(tirc_format(memory, "%s/target.sch", k->folder),
                    value ? tirc_format(memory, "%s%s = %s\n", k->numbers, name, value)
                          : k->numbers);
}

static int begin_folder(Calibrating *k) {
  const char *tmp = getenv("TMPDIR");
  k->folder = tirc_format(memory, "%s/tirc-calibrate-XXXXXX", tmp && *tmp ? tmp : "/tmp");
  if (!mkdtemp(k->folder)) return cannot_write(k->folder);
  return write_text(tirc_format(memory, "%s/rules.sch", k->folder), "rules = []\n");
}

static void remove_folder(const Calibrating *k) {
  if (!k->folder) return;
  unlink(tirc_format(memory, "%s/target.sch", k->folder));
  unlink(tirc_format(memory, "%s/rules.sch", k->folder));
  rmdir(k->folder);
}

/* --- one program ------------------------------------------------------------------------------ */

/* What is measured: a schedule of the program for each value that makes another one. */
typedef struct Tried {
  char *text; /* the scheduled program */
  int same;   /* the first value that makes the same */
  tirc_kernel *kernel;
  tirc_launch *launch;
} Tried;

typedef struct Trying {
  Calibrating *k;
  const char *name;
  tirc_module *m;
  int n_args;
  tirc_argument *args;
  tirc_executor *executor;
  int n;
  Tried *at;
  tirc_contender *contenders;
  int n_contenders;
} Trying;

static int load(const Calibrating *k, const tirc_value *program, tirc_module **out) {
  const char *file = program->u.items[0].u.s, *text = known_program(file);
  const tirc_value *sizes = &program->u.items[1];
  const char *slash = k->o->questions ? strrchr(k->o->questions, '/') : NULL;
  tirc_define *defines = tirc_alloc_array(memory, (size_t)sizes->n + 1, sizeof *defines);
  int n = 0;
  for (int64_t i = 0; i + 1 < sizes->n; i += 2)
    defines[n++] = (tirc_define){sizes->u.items[i].u.s, value_text(&sizes->u.items[i + 1])};
  if (!text && slash)
    file = tirc_format(memory, "%.*s/%s", (int)(slash - k->o->questions), k->o->questions, file);
  return load_named(&k->o->from, file, text, n, defines, out);
}

/* The program by the rules, with the number's value. */
static int schedule(const Trying *t, const char *value, tirc_module **out) {
  const char *rules = tirc_format(memory, "%s/rules.sch", t->k->folder);
  const tirc_auto_options automatic = {.rules = rules};
  const tirc_schedule_options options = {.target = "native"};
  tirc_error *e = NULL;
  if (write_table(t->k, t->name, value) != DONE) return BAD;
  return tirc_module_auto(t->m, &automatic, &options, out, &e) ? report(e) : DONE;
}

static int try_value(Trying *t, int i, const char *value) {
  Tried *v = &t->at[i];
  tirc_module *scheduled = NULL;
  tirc_error *e = NULL;
  char *text = NULL;
  int status = schedule(t, value, &scheduled);
  if (status == DONE && tirc_module_print(scheduled, &text, &e)) status = report(e);
  v->text = text ? copied(text) : "";
  tirc_string_free(text);
  for (v->same = 0; v->same < i && strcmp(t->at[v->same].text, v->text) != 0;) v->same++;
  if (status == DONE && v->same == i) {
    if (tirc_kernel_new(scheduled, NULL, "native", &v->kernel, &e) ||
        tirc_launch_new(v->kernel, t->executor, t->n_args, t->args, &v->launch, &e))
      status = report(e);
    else
      t->contenders[t->n_contenders++] = tirc_launch_contender(value, v->launch);
  }
  tirc_module_free(scheduled);
  return status;
}

/* The figures of the schedule that a value makes. */
static const tirc_figures *figures_of(const Trying *t, const tirc_measurement *m, int i) {
  int number = 0;
  for (int v = 0; v < t->at[i].same; v++) number += t->at[v].same == v;
  return tirc_measurement_figures(m, number);
}

static void add_ratios(const Trying *t, const tirc_measurement *m, Answer *answers) {
  for (int i = 1; i < t->n; i++) {
    Answer *a = &answers[i];
    if (t->at[i].same == 0) continue;
    const tirc_ratio r = tirc_times_as_fast(figures_of(t, m, i), figures_of(t, m, 0));
    a->differs = true;
    a->lost |= !(r.low > 0 && r.value > 0);
    if (a->lost) continue;
    a->log += log(r.value);
    a->error += log(r.value / r.low) * log(r.value / r.low);
  }
}

static int measure(Trying *t, Answer *answers) {
  const tirc_measure_options options = {.seconds =
                                            t->k->o->seconds > 0 ? t->k->o->seconds : USUAL_SECONDS,
                                        .turns = 11,
                                        .attempts = 2,
                                        .go_on = may_go_on};
  tirc_measurement *m = NULL;
  tirc_error *e = NULL;
  if (t->n_contenders < 2) return DONE; /* it is all the same */
  if (tirc_measure(t->n_contenders, t->contenders, &options, &m, &e)) return report(e);
  add_ratios(t, m, answers);
  tirc_measurement_free(m);
  return DONE;
}

static int try_program(Calibrating *k, const char *name, const tirc_value *program, int threads,
                       int n, Answer *answers) {
  Trying t = {.k = k, .name = name, .n = n};
  tirc_error *e = NULL;
  t.at = tirc_alloc_array(memory, (size_t)n, sizeof *t.at);
  t.contenders = tirc_alloc_array(memory, (size_t)n, sizeof *t.contenders);
  int status = load(k, program, &t.m);
  if (status == DONE && (tirc_executor_new(threads, &t.executor, &e) ||
                         random_arguments(t.m, &t.n_args, &t.args, &e)))
    status = report(e);
  for (int i = 0; i < n && status == DONE; i++) status = try_value(&t, i, answers[i].value);
  if (status == DONE) status = measure(&t, answers);
  for (int i = 0; i < n; i++) {
    tirc_launch_free(t.at[i].launch);
    tirc_kernel_free(t.at[i].kernel);
  }
  if (t.args) free_arguments(t.n_args, t.args);
  tirc_executor_free(t.executor);
  tirc_module_free(t.m);
  return status;
}

/* --- one number ------------------------------------------------------------------------------- */

/* Of the mean over n programs: the interval's lower end, and the value itself. */
static double ratio_of(const Answer *a, double n) { return exp(a->log / n); }
static double low_of(const Answer *a, double n) { return exp((a->log - sqrt(a->error)) / n); }

/* Number of the value that takes the place of the present one, number 0; 0: none. */
static int best_of(const Answer *answers, int n, double programs) {
  int best = 0;
  for (int i = 1; i < n; i++) {
    const Answer *a = &answers[i];
    if (!a->differs || a->lost || low_of(a, programs) <= 1 || ratio_of(a, programs) < ENOUGH)
      continue;
    if (!best || a->log > answers[best].log) best = i;
  }
  return best;
}

static char *words_of(const Answer *answers, int n, double programs) {
  char *text = NULL;
  size_t size = 0;
  FILE *f = begin_text(&text, &size);
  for (int i = 1; i < n; i++) {
    const Answer *a = &answers[i];
    fprintf(f, "%s%s ", i > 1 ? ", " : "", a->value);
    if (!a->differs)
      fputs("makes the same", f);
    else if (a->lost)
      fputs("was not measured", f);
    else
      fprintf(f, "is %.3f times as fast, at least %.3f", ratio_of(a, programs),
              low_of(a, programs));
  }
  return end_text(f, &text);
}

/* Notes it in the table, and tells. */
static int settle(Calibrating *k, const char *name, const Answer *answers, int n, double programs) {
  const int best = best_of(answers, n, programs);
  const char *words = words_of(answers, n, programs);
  k->numbers = tirc_format(memory, "%s# %s: %s; %s\n", k->numbers, name, answers[0].value, words);
  if (best) k->numbers = tirc_format(memory, "%s%s = %s\n", k->numbers, name, answers[best].value);
  k->n_changed += best > 0;
  k->n_asked++;
  printf("%-22s%-12s %s%s%s\n", name, answers[best].value, best ? "instead of " : "stays",
         best ? answers[0].value : "", n > 1 ? tirc_format(memory, ": %s", words) : "");
  fflush(stdout);
  return write_answers(k, false);
}

static bool is_answered(const Calibrating *k, const char *name) {
  return strstr(k->numbers, tirc_format(memory, "\n# %s: ", name)) != NULL;
}

static int ask(Calibrating *k, int64_t q) {
  const char *name = part(k, q, NUMBER)->u.s;
  const tirc_value *values = part(k, q, VALUES), *programs = part(k, q, PROGRAMS);
  const int threads = (int)part(k, q, THREADS)->u.i;
  Answer *answers = tirc_alloc_array(memory, (size_t)values->n + 1, sizeof *answers);
  int n = 1, status = DONE;
  answers[0].value = value_text(part(k, q, PRESENT));
  for (int64_t i = 0; i < values->n; i++) {
    char *value = value_text(&values->u.items[i]);
    if (strcmp(value, answers[0].value) != 0) answers[n++].value = value;
  }
  if (threads > sysconf(_SC_NPROCESSORS_ONLN)) n = 1; /* there is nothing to measure */
  for (int64_t i = 0; i < programs->n && n > 1 && status == DONE && !was_interrupted(); i++) {
    if (speech.progress)
      fprintf(stderr, "\r\033[K%d of %d: %s, program %d of %d", (int)q + 1, (int)k->list.n, name,
              (int)i + 1, (int)programs->n);
    status = try_program(k, name, &programs->u.items[i], threads, n, answers);
  }
  if (speech.progress) fputs("\r\033[K", stderr);
  return status == DONE && !was_interrupted() ? settle(k, name, answers, n, (double)programs->n)
                                              : status;
}

/* --- all of them ------------------------------------------------------------------------------ */

/* What an earlier run of this machine has answered, or nothing. */
static int take_up(Calibrating *k) {
  char *text = NULL;
  size_t n = 0;
  k->numbers = tirc_format(memory, "from %s import *\n\n",
                           tirc_format(memory, "targets.%s", strrchr(k->at.table, '/') + 1));
  if (!k->at.begun || k->o->again || read_text(k->at.file, &text, &n) != DONE) return DONE;
  const char *from = strstr(text, "\nfrom targets.");
  if (from) k->numbers = copied(from + 1);
  int answered = 0;
  for (int64_t i = 0; i < k->list.n; i++) answered += is_answered(k, part(k, i, NUMBER)->u.s);
  printf("%d of %d numbers were measured before: --again measures them once more\n", answered,
         (int)k->list.n);
  return DONE;
}

static int calibrate(Calibrating *k) {
  const double started = tirc_seconds();
  int status = read_questions(k);
  if (status == DONE) status = take_up(k);
  if (status == DONE) status = begin_folder(k);
  if (status == DONE) tirc_make_folders(k->at.file);
  catch_interrupts();
  for (int64_t i = 0; i < k->list.n && status == DONE && !was_interrupted(); i++)
    if (!is_answered(k, part(k, i, NUMBER)->u.s)) status = ask(k, i);
  if (status != DONE) return status;
  if (was_interrupted()) {
    fprintf(stderr, "interrupted: `tirc calibrate` goes on from here\n");
    return NO;
  }
  status = write_answers(k, true);
  if (status == DONE)
    printf("%d number%s in %.0f s, %d of them changed: %s\n", k->n_asked, plural(k->n_asked),
           tirc_seconds() - started, k->n_changed, k->at.file);
  return status;
}

int cmd_calibrate(CalibrateOptions *o) {
  Calibrating k = {.o = o};
  tirc_error *e = NULL;
  if (tirc_calibration_look(&k.at, &e)) return report(e);
  if (!*k.at.file)
    return complain("set TIRC_CALIBRATION to a file, or HOME to a folder",
                    "there is no place for what is measured: it is off");
  setenv("TIRC_CALIBRATION", "off", 1); /* what is asked is the built-in table's */
  const int status = calibrate(&k);
  remove_folder(&k);
  tirc_schedule_free(k.s);
  return status;
}
