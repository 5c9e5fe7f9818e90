/* `tirc lesson`: shows a lesson, writes its files, checks an exercise. A checker is a script in the
 * language of schedules that looks at the scheduled program and collects what is missing; how much
 * faster it must be stands in the checker's comments. */
#include "ir/number.h"
#include "teach.h"

#include <stdlib.h>
#include <string.h>

typedef struct Lesson {
  const char *name; /* "01-blocks-and-iterators" */
  const char *page, *program, *schedule, *exercise, *check;
} Lesson;

static const Lesson lessons[] = {
#include "lessons.inc"
};
enum { N_LESSONS = sizeof lessons / sizeof *lessons };

static const char prelude[] =
#include "lesson_check.inc"
    ;

static void list_lessons(void) {
  puts("Lessons on schedules, one after the other:\n");
  for (int i = 0; i < N_LESSONS; i++) {
    const char *title = lessons[i].page + strspn(lessons[i].page, "# ");
    printf("  %2d  %.*s\n", i + 1, (int)strcspn(title, "\n"), title);
  }
  puts("\n`tirc lesson 1` shows the first, `tirc lesson 1 --write FOLDER` writes its files, and\n"
       "`tirc lesson 1 FOLDER/exercise.sch` says what is missing in yours.");
}

/* --- files ------------------------------------------------------------------------------------ */

static int write_files(const LessonOptions *o, const Lesson *lesson) {
  const struct {
    const char *name, *text;
  } files[] = {{"README.md", lesson->page},
               {"program.tir", lesson->program},
               {"schedule.sch", lesson->schedule},
               {"exercise.sch", lesson->exercise}};
  int status = make_folder(o->write);
  for (size_t i = 0; i < sizeof files / sizeof *files && status == DONE; i++)
    status = write_into_folder(o->write, files[i].name, files[i].text);
  return status;
}

/* --- speed ------------------------------------------------------------------------------------ */

typedef struct Runner {
  tirc_kernel *kernel;
  tirc_launch *launch;
} Runner;

static void free_runner(Runner *r) {
  tirc_launch_free(r->launch);
  tirc_kernel_free(r->kernel);
}

static tirc_status make_runner(const tirc_module *m, tirc_executor *x, int n,
                               const tirc_argument *args, Runner *r, tirc_error **e) {
  tirc_status status = tirc_kernel_new(m, NULL, NULL, &r->kernel, e);
  if (status == TIRC_OK) status = tirc_launch_new(r->kernel, x, n, args, &r->launch, e);
  return status;
}

/* How many times faster `a` is than `b`. */
static int measure_ratio(const LessonOptions *o, const tirc_module *a, const tirc_module *b, int n,
                         const tirc_argument *args, double *ratio) {
  static const tirc_measure_options brief = {.seconds = 0.14, .turns = 7, .attempts = 1};
  tirc_executor *x = NULL;
  tirc_error *e = NULL;
  tirc_measurement *m = NULL;
  Runner r[2] = {{0}};
  bool failed = tirc_executor_new(o->threads, &x, &e) || make_runner(a, x, n, args, &r[0], &e) ||
                make_runner(b, x, n, args, &r[1], &e);
  const tirc_contender c[2] = {tirc_launch_contender("a", r[0].launch),
                               tirc_launch_contender("b", r[1].launch)};
  failed = failed || tirc_measure(2, c, &brief, &m, &e);
  *ratio = tirc_times_as_fast(tirc_measurement_figures(m, 0), tirc_measurement_figures(m, 1)).value;
  tirc_measurement_free(m);
  for (int i = 0; i < 2; i++) free_runner(&r[i]);
  tirc_executor_free(x);
  return failed ? report(e) : DONE;
}

/* --- checking --------------------------------------------------------------------------------- */

typedef struct Attempt {
  const LessonOptions *o;
  const Lesson *lesson;
  tirc_module *program, *reference, *scheduled; /* reference: by the lesson's schedule, or NULL */
  int n;
  const tirc_param *params;
  tirc_argument *args;
  tirc_reference *expected;
} Attempt;

static void say(bool ok, const char *what) {
  bool colour = speech.colour_out;
  printf("%s%-8s%s ", colour ? (ok ? GREEN : YELLOW) : "", ok ? "ok" : "not yet",
         colour ? RESET : "");
  if (is_wrapped(stdout))
    put_wrapped(stdout, 9, 9, what);
  else
    puts(what);
}

static int parse_text(const char *text, tirc_module **out) {
  tirc_error *e = NULL;
  return tirc_module_parse(text, strlen(text), "program.tir", 0, NULL, out, &e) ? report(e) : DONE;
}

/* One line for each thing that is missing. */
static int check_structure(const Attempt *a) {
  static const char last[] = "\nassert len(missing) == 0, \"\\n\".join(missing)\n";
  size_t size = sizeof prelude + strlen(a->lesson->check) + sizeof last;
  char *script = tirc_alloc(memory, size);
  int length = snprintf(script, size, "%s%s%s", prelude, a->lesson->check, last);
  tirc_module *same = NULL;
  tirc_error *e = NULL;
  tirc_status status =
      tirc_module_schedule_text(a->scheduled, script, (size_t)length, "check.sch", NULL, &same, &e);
  tirc_module_free(same);
  if (status == TIRC_OK) {
    say(true, "the schedule is what the exercise asks for");
    return DONE;
  }
  const char *text = tirc_error_message(e);
  for (const char *end; *text; text = *end ? end + 1 : end) {
    end = text + strcspn(text, "\n");
    char *line = tirc_format(memory, "%.*s", (int)(end - text), text);
    say(false, line);
  }
  tirc_error_free(e);
  return NO;
}

static bool begins(const Lesson *lesson, const char *word) {
  return strncmp(lesson->check, word, strlen(word)) == 0;
}

static int run_compiled(Attempt *a) {
  tirc_error *e = NULL;
  Runner r = {0};
  tirc_executor *x = NULL;
  int status = DONE;
  if (tirc_executor_new(a->o->threads, &x, &e) ||
      make_runner(a->scheduled, x, a->n, a->args, &r, &e))
    status = report(e);
  else
    (void)tirc_launch_run(r.launch);
  free_runner(&r);
  tirc_executor_free(x);
  return status;
}

/* "# emulated": it is for a GPU, as the emulator has it. */
static int run_emulated(Attempt *a) {
  tirc_module *lowered = NULL;
  tirc_error *e = NULL;
  int status = DONE;
  if (tirc_module_lower_for(a->scheduled, "sm_80", NULL, NULL, &lowered, &e) ||
      tirc_module_emulate(lowered, NULL, a->n, a->args, NULL, NULL, &e))
    status = report(e);
  tirc_module_free(lowered);
  return status;
}

/* "# interpreted" of a lesson's checker: this machine need not have the instructions. */
static int run_scheduled(Attempt *a) {
  tirc_error *e = NULL;
  if (begins(a->lesson, "# emulated\n")) return run_emulated(a);
  if (!begins(a->lesson, "# interpreted\n")) return run_compiled(a);
  return tirc_module_interpret(a->scheduled, NULL, a->n, a->args, 0, &e) ? report(e) : DONE;
}

static int check_results(Attempt *a) {
  tirc_error *e = NULL;
  int status = DONE;
  if (tirc_module_params(a->program, NULL, &a->n, &a->params, &e)) return report(e);
  a->args = tirc_alloc_array(memory, (size_t)a->n + 1, sizeof *a->args);
  for (int i = 0; i < a->n; i++) {
    const tirc_param *p = &a->params[i];
    if (tirc_array_new(p->dtype, p->ndim, p->shape, &a->args[i].array, &e)) return report(e);
    tirc_array_fill_random(a->args[i].array, (uint64_t)i);
  }
  status = make_reference(a->program, NULL, a->n, a->args, 0, &a->expected);
  if (status == DONE) status = run_scheduled(a);
  if (status != DONE) return status;
  tirc_check c = {.ok = false};
  status = compare_results(a->expected, a->n, a->args, &c);
  if (status != DONE) return status;
  say(c.ok, "it is legal and computes the same");
  return c.ok ? DONE : NO;
}

/* "# speed-up: 3" is asked against the program, "# beat: schedule.sch 1.5" against the lesson's
 * schedule. 0: nothing is asked. */
static double wanted_ratio(const Lesson *lesson, bool *against_schedule) {
  const char *speed = strstr(lesson->check, "# speed-up: ");
  const char *beat = strstr(lesson->check, "# beat: schedule.sch ");
  *against_schedule = beat != NULL;
  if (beat) return tirc_parse_double(beat + strlen("# beat: schedule.sch "), NULL);
  return speed ? tirc_parse_double(speed + strlen("# speed-up: "), NULL) : 0;
}

static int check_speed(Attempt *a) {
  bool against_schedule;
  double wanted = wanted_ratio(a->lesson, &against_schedule), ratio;
  const char *text = a->lesson->schedule;
  tirc_error *e = NULL;
  if (wanted <= 0 || a->o->no_timing) return DONE;
  if (against_schedule && tirc_module_schedule_text(a->program, text, strlen(text), "schedule.sch",
                                                    NULL, &a->reference, &e))
    return report(e);
  int status = measure_ratio(a->o, a->scheduled, against_schedule ? a->reference : a->program, a->n,
                             a->args, &ratio);
  if (status != DONE) return status;
  char *line =
      tirc_format(memory, "%.2f times as fast as %s; asked are %g", ratio,
                  against_schedule ? "the lesson's schedule" : "the program as it is", wanted);
  say(ratio >= wanted, line);
  return ratio >= wanted ? DONE : NO;
}

/* "# rules" of a lesson's checker: its exercise is a library of rules. */
static tirc_status schedule_exercise(const Lesson *lesson, const tirc_module *program,
                                     const char *path, tirc_module **out, tirc_error **e) {
  const tirc_auto_options rules = {.rules = path};
  if (begins(lesson, "# rules\n")) return tirc_module_auto(program, &rules, NULL, out, e);
  return tirc_module_schedule(program, path, NULL, out, e);
}

static int check_exercise(const LessonOptions *o, const Lesson *lesson, const char *path) {
  Attempt a = {.o = o, .lesson = lesson};
  tirc_error *e = NULL;
  int status = parse_text(lesson->program, &a.program);
  if (status == DONE && schedule_exercise(lesson, a.program, path, &a.scheduled, &e))
    status = report(e);
  if (status == DONE) status = check_structure(&a);
  bool right = status == DONE;
  const bool runs =
      right || !begins(lesson, "# emulated\n"); /* what is half on tensor cores does not */
  if (a.scheduled && runs && status != BAD) status = check_results(&a);
  if (right && status == DONE) status = check_speed(&a);
  if (right && status == DONE) say(true, "done");
  free_arguments(a.n, a.args);
  tirc_reference_free(a.expected);
  tirc_module_free(a.program);
  tirc_module_free(a.reference);
  tirc_module_free(a.scheduled);
  return right || status == BAD ? status : NO;
}

int cmd_lesson(LessonOptions *o) {
  if (o->args.n == 0) {
    list_lessons();
    return DONE;
  }
  char *end;
  long n = strtol(o->args.at[0], &end, 10);
  if (!*o->args.at[0] || *end || n < 1 || n > N_LESSONS)
    return complain("`tirc lesson` lists them", "there is no lesson '%s'", o->args.at[0]);
  const Lesson *lesson = &lessons[n - 1];
  if (o->args.n > 1) return check_exercise(o, lesson, o->args.at[1]);
  if (o->write) return write_files(o, lesson);
  put_text(stdout, 0, speech.colour_out, lesson->page);
  return DONE;
}
