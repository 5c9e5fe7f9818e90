/* `tirc calibrate`: what rules take as measured, measured on this machine. The questions are a
 * script, passes/rules/calibrate.sch; the answers are a table as those of passes/rules/targets. It
 * is written after each answer, so that what is interrupted goes on where it was; until it is whole
 * it has a name of its own, and the table of before stays in use. */
#include "command.h"
#include "ir/processors.h"
#include "ir/user_file.h"
#include "runtime/measure/statistics.h"
#include "tools/bench/bench.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BUILT_IN "calibrate"       /* the questions, among the libraries of rules */
static const double ENOUGH = 1.01; /* times as fast as what is there, to take its place */
static const double USUAL_SECONDS = 0.1;
static const char no_program[] = "@T.prim_func\ndef f():\n    T.evaluate(0)\n";

/* A value of a number, on all programs of its question. */
typedef struct Answer {
  char *value;        /* as a script writes it */
  RatioMean speed;    /* how many times as fast as the present one it is */
  bool differs, lost; /* some program is scheduled otherwise by it; or cannot be measured */
  bool disturbed;     /* something else ran meanwhile */
} Answer;

enum { PASSING = 4 }; /* folders and files that go when we do */
typedef struct Calibrating {
  const CalibrateOptions *o;
  tirc_calibration at;
  const char *questions; /* their file, as messages name it */
  char *folder;          /* with a folder with the table that is tried, and rules beside it */
  char *passing[PASSING];
  char *numbers;    /* the table so far, from its import on */
  tirc_schedule *s; /* has the list */
  tirc_value list;  /* of questions */
  int n_changed, n_asked;
} Calibrating;

/* --- questions -------------------------------------------------------------------------------- */

enum { NUMBER, PRESENT, VALUES, THREADS, PROGRAMS, N_PARTS };

static const tirc_value *part(const Calibrating *k, int64_t i, int p) {
  return &k->list.u.items[i].u.items[p];
}

static const char *table_name(const Calibrating *k) { return strrchr(k->at.table, '/') + 1; }

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

/* As a script writes it, with the point that makes it a float; NULL: a script cannot write it. */
static char *float_text(double f) {
  char *text = isfinite(f) ? tirc_format(memory, "%.17g", f) : NULL;
  return !text || strpbrk(text, ".e") ? text : tirc_format(memory, "%s.0", text);
}

/* As a script writes it; NULL: it is no finite number, truth or None. */
static char *value_text(const tirc_value *v) {
  switch (v->kind) {
  case TIRC_KIND_NONE: return copied("None");
  case TIRC_KIND_BOOL: return copied(v->u.b ? "True" : "False");
  case TIRC_KIND_INT: return tirc_format(memory, "%lld", (long long)v->u.i);
  case TIRC_KIND_FLOAT: return float_text(v->u.f);
  default: return NULL;
  }
}

static bool is_identifier(const char *s) {
  if (!isalpha((unsigned char)*s) && *s != '_') return false;
  while (isalnum((unsigned char)*s) || *s == '_') s++;
  return !*s;
}

/* Whether the built-in table has that number. */
static bool is_known(const Calibrating *k, const char *name) {
  const char *text = tirc_format(memory, "from targets.%s import %s\n", table_name(k), name);
  return is_identifier(name) &&
         tirc_schedule_run(k->s, text, strlen(text), "<" BUILT_IN ">", NULL) == TIRC_OK;
}

static int check_number(const Calibrating *k, int64_t q) {
  const char *name = part(k, q, NUMBER)->u.s;
  const char *all = tirc_format(memory, "`tirc rules %s` has them", k->at.table);
  if (!is_known(k, name))
    return complain(all, "%s: question %lld: there is no number '%s' in %s", k->questions,
                    (long long)q + 1, name, k->at.table);
  for (int64_t i = 0; i < q; i++)
    if (strcmp(part(k, i, NUMBER)->u.s, name) == 0)
      return complain("give all its values in one question",
                      "%s: question %lld: '%s' is the number of question %lld, too", k->questions,
                      (long long)q + 1, name, (long long)i + 1);
  return DONE;
}

static int check_questions(const Calibrating *k) {
  if (!is_list(&k->list, -1))
    return complain("questions = [[\"TASKS\", TASKS, [4, 8], 2, [[\"matmul.tir\", {}]]]]",
                    "%s: questions is not a list", k->questions);
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
    if (check_number(k, i) != DONE) return BAD;
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
  const tirc_value found = tirc_script("[questions]"), first = tirc_integer(0);
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
                     !tirc_schedule_run(k->s, text, strlen(text), k->questions, &e);
  tirc_module_free(m);
  if (!asked) return report(e);
  if (tirc_schedule_operator(k->s, "[]", &found, &first, &k->list, NULL) != TIRC_OK)
    return complain("questions = [...]", "%s: it has no questions", k->questions);
  return check_questions(k);
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

/* Where the answers are until there are all. */
static char *begun_file(const Calibrating *k) {
  return tirc_format(memory, "%s.begun", k->at.file);
}

/* What is there is replaced, if it is a table of this command. */
static int check_file(const Calibrating *k) {
  static const char head[] = "# tirc calibration of";
  struct stat info;
  char *text = NULL;
  size_t n = 0;
  if (stat(k->at.file, &info) == 0) {
    if (S_ISREG(info.st_mode) && read_text(k->at.file, &text, &n) != DONE) return BAD;
    if (!text || strncmp(text, head, sizeof head - 1) != 0)
      return complain("$TIRC_CALIBRATION names another file",
                      "'%s' is not a calibration: it is not replaced", k->at.file);
  }
  return check_output(k->at.file);
}

static int write_answers(const Calibrating *k, bool whole) {
  char date[64];
  const time_t now = time(NULL);
  struct tm t;
  strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", gmtime_r(&now, &t));
  const int status = write_text(whole ? k->at.file : begun_file(k),
                                tirc_format(memory, "%s# %s, by tirc %s\n%s%s", k->at.head, date,
                                            tirc_version(), k->numbers, whole ? "# whole\n" : ""));
  if (whole && status == DONE) unlink(begun_file(k));
  return status;
}

static char *rules_file(const Calibrating *k) {
  return tirc_format(memory, "%s/table/rules.sch", k->folder);
}

static char *table_file(const Calibrating *k) {
  return tirc_format(memory, "%s/table/target.sch", k->folder);
}

/* A table to be tried, where rules look for one. */
static int write_table(const Calibrating *k, const char *name, const char *value) {
  return write_text(table_file(k), value
                                       ? tirc_format(memory, "%s%s = %s\n", k->numbers, name, value)
                                       : k->numbers);
}

/* Scripts import from the folder above theirs, too: that one is ours as well. */
static int begin_folder(Calibrating *k) {
  const char *tmp = getenv("TMPDIR");
  k->folder = tirc_format(memory, "%s/tirc-calibrate-XXXXXX", tmp && *tmp ? tmp : "/tmp");
  const char *table = mkdtemp(k->folder) ? tirc_format(memory, "%s/table", k->folder) : NULL;
  if (!table || mkdir(table, 0700))
    return complain("set TMPDIR", "cannot make '%s': %s", k->folder, strerror(errno));
  const char *made[PASSING] = {k->folder, table, rules_file(k), table_file(k)};
  for (int i = 0; i < PASSING; i++) k->passing[i] = passing(made[i]);
  return write_text(rules_file(k), "rules = []\n");
}

static void remove_folder(const Calibrating *k) {
  for (int i = PASSING; i-- > 0;) drop_part(k->passing[i]);
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
  const tirc_auto_options automatic = {.rules = rules_file(t->k)};
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
  answers[0].disturbed |= tirc_measurement_conditions(m)->disturbance > 1;
  for (int i = 1; i < t->n; i++) {
    Answer *a = &answers[i];
    if (t->at[i].same == 0) continue;
    a->differs = true;
    a->lost |= !tirc_mean_add(&a->speed, figures_of(t, m, i), figures_of(t, m, 0), true);
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

/* In the geometric mean over the programs. One that is scheduled as before is as fast as before. */
static tirc_ratio speed_of(const Answer *a, double programs) {
  return tirc_mean_end(&a->speed, a->speed.n / programs, 1);
}

static bool is_better(const Answer *a, double programs) {
  const tirc_ratio r = speed_of(a, programs);
  return a->differs && !a->lost && r.low > 1 && r.value >= ENOUGH;
}

/* Number of the value that may take the place of the present one, number 0; 0: none. */
static int best_of(const Answer *answers, int n, double programs) {
  int best = 0;
  for (int i = 1; i < n; i++)
    if (is_better(&answers[i], programs) &&
        (!best || speed_of(&answers[i], programs).value > speed_of(&answers[best], programs).value))
      best = i;
  return best;
}

static void put_answer(FILE *f, const Answer *a, double programs) {
  const tirc_ratio r = speed_of(a, programs);
  if (!a->differs)
    fputs("makes the same", f);
  else if (a->lost)
    fputs("was not measured", f);
  else
    fprintf(f, "is %.3f times as fast, at least %.3f", r.value, r.low);
}

/* again: what the best one was when it was measured once more; or NULL. */
static char *words_of(const Answer *answers, int n, const Answer *again, double programs) {
  char *text = NULL;
  size_t size = 0;
  FILE *f = begin_text(&text, &size);
  for (int i = 1; i < n; i++) {
    fprintf(f, "%s%s ", i > 1 ? ", " : "", answers[i].value);
    put_answer(f, &answers[i], programs);
  }
  if (again) {
    fprintf(f, "; again: %s ", again->value);
    put_answer(f, again, programs);
  }
  if (answers[0].disturbed) fputs(" (disturbed)", f);
  return end_text(f, &text);
}

/* Notes it in the table, and tells. value: what is taken. */
static int settle(Calibrating *k, const char *name, const char *present, const char *value,
                  const char *words) {
  const bool changes = value != present;
  k->numbers =
      tirc_format(memory, "%s# %s: %s%s%s\n", k->numbers, name, present, *words ? "; " : "", words);
  if (changes) k->numbers = tirc_format(memory, "%s%s = %s\n", k->numbers, name, value);
  k->n_changed += changes;
  k->n_asked++;
  printf("%-22s%-12s %s%s%s%s\n", name, value, changes ? "instead of " : "stays",
         changes ? present : "", *words ? ": " : "", words);
  fflush(stdout);
  return write_answers(k, false);
}

static bool is_answered(const Calibrating *k, const char *name) {
  return strstr(k->numbers, tirc_format(memory, "\n# %s: ", name)) != NULL;
}

/* The values against the present one, answers[0], on each program. */
static int try_values(Calibrating *k, int64_t q, int n, Answer *answers) {
  const char *name = part(k, q, NUMBER)->u.s;
  const tirc_value *programs = part(k, q, PROGRAMS);
  int status = DONE;
  for (int64_t i = 0; i < programs->n && n > 1 && status == DONE && !was_interrupted(); i++) {
    if (speech.progress)
      fprintf(stderr, "\r\033[K%d of %d: %s, program %d of %d", (int)q + 1, (int)k->list.n, name,
              (int)i + 1, (int)programs->n);
    status = try_program(k, name, &programs->u.items[i], (int)part(k, q, THREADS)->u.i, n, answers);
  }
  if (speech.progress) fputs("\r\033[K", stderr);
  return status;
}

/* The best of several looks better than it is: it is measured once more, alone with the present
 * one, and has to win again. */
static int ask(Calibrating *k, int64_t q) {
  const char *name = part(k, q, NUMBER)->u.s;
  const tirc_value *values = part(k, q, VALUES);
  const double programs = (double)part(k, q, PROGRAMS)->n;
  Answer *answers = tirc_alloc_array(memory, (size_t)values->n + 1, sizeof *answers);
  Answer *again = tirc_alloc_array(memory, 2, sizeof *again);
  int n = 1;
  again[0].value = answers[0].value = value_text(part(k, q, PRESENT));
  for (int64_t i = 0; i < values->n; i++) {
    char *value = value_text(&values->u.items[i]);
    if (strcmp(value, answers[0].value) != 0) answers[n++].value = value;
  }
  if (part(k, q, THREADS)->u.i > tirc_processors()) n = 1; /* there is nothing to measure */
  int status = try_values(k, q, n, answers);
  const int best = status == DONE && !was_interrupted() ? best_of(answers, n, programs) : 0;
  again[1].value = answers[best].value;
  if (best) status = try_values(k, q, 2, again);
  if (status != DONE || was_interrupted()) return status;
  answers[0].disturbed |= again[0].disturbed;
  const bool wins = best && is_better(&again[1], programs);
  return settle(k, name, answers[0].value, answers[wins ? best : 0].value,
                words_of(answers, n, best ? &again[1] : NULL, programs));
}

/* --- all of them ------------------------------------------------------------------------------ */

/* What an earlier run of this machine has answered, or nothing. */
static int take_up(Calibrating *k) {
  char *text = NULL;
  size_t n = 0;
  k->numbers =
      tirc_format(memory, "from %s import *\n\n", tirc_format(memory, "targets.%s", table_name(k)));
  if (!k->at.begun || k->o->again || read_text(begun_file(k), &text, &n) != DONE) return DONE;
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
  if (status == DONE) tirc_make_folders(k->at.file);
  if (status == DONE) status = check_file(k);
  if (status == DONE) status = take_up(k);
  if (status == DONE) status = begin_folder(k);
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
