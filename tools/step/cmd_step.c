/* `tirc step`: what each call of a schedule does. */
#include "ir/ascii.h"
#include "step.h"
#include "tools/kit/json.h"

#include <stdlib.h>
#include <string.h>

/* --- which steps ------------------------------------------------------------------------------ */

static bool is_number(const char *word) { return tirc_is_digit(*word); }

/* Whether step i (from 0) is what a word of --from, --to or --only means: a number or a primitive.
 */
static bool matches(const tirc_steps *s, int i, const char *word, size_t n) {
  const char *primitive = tirc_steps_at(s, i)->primitive;
  if (is_number(word)) return strtol(word, NULL, 10) == i + 1;
  return strlen(primitive) == n && strncmp(primitive, word, n) == 0;
}

static int not_found(const tirc_steps *s, const char *option, const char *word, size_t n) {
  return complain("a step's number or a primitive's name; `tirc step PROG SCHED` shows them all",
                  "--%s: no step '%.*s' among the %d of this schedule", option, (int)n, word,
                  tirc_steps_count(s));
}

/* The first (or last) step that matches, from 0; -1 when none does. */
static int find_step(const tirc_steps *s, const char *word, bool last) {
  int found = -1;
  for (int i = 0; i < tirc_steps_count(s) && (found < 0 || last); i++)
    if (matches(s, i, word, strlen(word))) found = i;
  return found;
}

/* "3,split,7" */
static int choose_only(const tirc_steps *s, const char *words, bool *only) {
  for (const char *w = words; *w;) {
    size_t n = strcspn(w, ",");
    bool any = false;
    for (int i = 0; i < tirc_steps_count(s); i++) {
      if (!matches(s, i, w, n)) continue;
      only[i] = any = true;
    }
    if (!any) return not_found(s, "only", w, n);
    w += n + (w[n] == ',');
  }
  return DONE;
}

static int choose(const StepOptions *o, const tirc_steps *s, StepChoice *choice) {
  int n = choice->n = tirc_steps_count(s);
  int from = o->from ? find_step(s, o->from, false) : 0;
  int to = o->to ? find_step(s, o->to, true) : n - 1;
  choice->shown = tirc_alloc_array(memory, (size_t)n + 1, sizeof *choice->shown);
  if (from < 0) return not_found(s, "from", o->from, strlen(o->from));
  if (to < 0 && o->to) return not_found(s, "to", o->to, strlen(o->to));
  int status = DONE;
  for (int i = 0; i < o->only.n && status == DONE; i++)
    status = choose_only(s, o->only.at[i], choice->shown);
  for (int i = 0; i < n; i++)
    choice->shown[i] = (choice->shown[i] || !o->only.n) && i >= from && i <= to;
  return status;
}

/* --- output ----------------------------------------------------------------------------------- */

/* How the script ended, unless the last of the shown steps said so. */
static int report_end(const tirc_steps *s, const StepChoice *choice) {
  const tirc_error *end = tirc_steps_error(s);
  if (!end) return DONE;
  const tirc_step *last = tirc_steps_at(s, choice->n - 1);
  bool shown = last && last->error && choice->shown[choice->n - 1] &&
               strcmp(tirc_error_message(last->error), tirc_error_message(end)) == 0;
  if (!shown) show_error(end);
  return (int)tirc_error_status(end);
}

typedef struct Listener {
  const char *program;
  json_object **warnings; /* those of the program; steps keep theirs */
} Listener;

static void hear_warning(void *self, const char *file, int line, int column, const char *message,
                         const char *code) {
  Listener *l = self;
  warn_about(NULL, file, line, column, message, code);
  if (file && strcmp(file, l->program) == 0) add_warning(l->warnings, code, message);
}

/* The steps of the script that the record amounts to. */
static tirc_status steps_of_tuned(const Making *o, const tirc_module *m,
                                  const tirc_schedule_options *options, tirc_steps **out,
                                  tirc_error **e) {
  tirc_module *tuned = NULL;
  char *script = NULL;
  const tirc_auto_options a = auto_options(o);
  tirc_status status = tirc_module_tuned(m, o->database, o->threads, &a, options, &tuned, e);
  if (status == TIRC_OK) status = tirc_module_trace(tuned, TIRC_TRACE_SCRIPT, &script, e);
  if (status == TIRC_OK)
    status = tirc_module_steps_text(m, script, strlen(script), "<tuned>", options, out, e);
  tirc_string_free(script);
  tirc_module_free(tuned);
  return status;
}

static int load_steps(const StepOptions *o, ProgramText *program, tirc_module **m, tirc_steps **out,
                      json_object **warnings) {
  const List *args = &o->make.from.args;
  const Loading *from = &o->make.from;
  tirc_error *e = NULL;
  const char *path = args->at[0];
  program->name = strcmp(path, "-") == 0 ? "<stdin>" : path;
  int status = check_auto(&o->make);
  if (status != DONE) return status;
  if (is_automatic(&o->make) == (args->n > 1))
    return complain("`-` stands for standard input",
                    is_automatic(&o->make) ? "a schedule is a script or --auto, not both"
                                           : "usage: tirc step PROG SCHED, or PROG --auto");
  if (args->n > 1 && strcmp(args->at[0], "-") == 0 && strcmp(args->at[1], "-") == 0)
    return complain(NULL, "only one of the program and the schedule can be standard input");
  status = read_text(path, &program->text, &program->n);
  if (status == DONE)
    status = load_program_text(&o->make.from, program->name, program->text, program->n, m);
  if (status != DONE) return status;
  Listener listener = {program->name, warnings};
  tirc_schedule_options options = {
      .target = from->target,
      .max_steps = from->script_steps,
      .strict = from->strict,
      .self = &listener,
      .print = print_aside,
      .warn = hear_warning,
  };
  const tirc_auto_options a = auto_options(&o->make);
  const tirc_status made = o->make.tuned ? steps_of_tuned(&o->make, *m, &options, out, &e)
                           : o->make.automatic
                               ? tirc_module_steps_auto(*m, &a, &options, out, &e)
                               : tirc_module_steps(*m, args->at[1], &options, out, &e);
  return made ? report(e) : DONE;
}

static int check_profile(const StepOptions *o) {
  if (o->report && !o->html)
    return complain("add --html FILE; `tirc run --device emulate --report` prints it as a table",
                    "--report is drawn in a page");
  if (!o->profile) return DONE;
  if (strcmp(o->profile, "blocks") != 0)
    return complain("--profile=blocks", "--profile knows blocks, not '%s'", o->profile);
  return o->html ? DONE
                 : complain("add --html FILE; `tirc run --profile=blocks` prints it as a table",
                            "--profile is drawn in a page");
}

int cmd_step(StepOptions *o) {
  tirc_module *m = NULL;
  tirc_steps *s = NULL;
  StepChoice choice = {0};
  ProgramText program = {0};
  int status = load_steps(o, &program, &m, &s, &choice.warnings);
  if (status == DONE) status = check_instance(o, m);
  if (status == DONE) status = check_profile(o);
  if (status == DONE) status = choose(o, s, &choice);
  if (status == DONE)
    status = o->html      ? write_page(o, &program, m, s, &choice)
             : o->as_json ? write_json(o->make.from.output, steps_as_json(s, &choice), false)
                          : print_steps(s, &choice);
  if (status == DONE) status = report_end(s, &choice);
  json_object_put(choice.warnings);
  tirc_steps_free(s);
  tirc_module_free(m);
  return status;
}
