/* The state of a session: its lines, and what they do to the program. */
#include "repl.h"

#include <string.h>

typedef struct Listener { /* hears what the lines print, and shows what is new */
  const Repl *r;
  size_t n, known;
  int n_warnings, known_warnings;
} Listener;

static void hear(void *self, const char *text) {
  Listener *l = self;
  size_t n = strlen(text), skip = l->known > l->n ? l->known - l->n : 0;
  if (skip < n) put_clean(stdout, text + skip, n - skip);
  l->n += n;
}

static void hear_warning(void *self, const char *file, int line, int column, const char *message,
                         const char *code) {
  Listener *l = self;
  if (l->n_warnings++ >= l->known_warnings) warn_about(NULL, file, line, column, message, code);
}

/* The accepted lines, `line`, and a last one that does nothing: a script of one function alone
 * would be called. A statement that ends too early gets none, which would be taken for its rest. */
char *script_of(const Repl *r, const char *line) {
  char *text = NULL;
  size_t n = 0;
  FILE *f = begin_text(&text, &n);
  for (int i = 0; i < r->n; i++) fputs(r->lines[i], f);
  fprintf(f, "%s%s", line ? line : "", line && is_unfinished(line) ? "" : "None\n");
  return end_text(f, &text);
}

tirc_status run_lines(const Repl *r, const char *line, size_t *n_printed, int *n_warnings,
                      tirc_steps **steps, tirc_error **error) {
  const Loading *from = &r->o->run.make.from;
  char *text = script_of(r, line);
  Listener l = {.r = r, .known = *n_printed, .known_warnings = *n_warnings};
  tirc_schedule_options options = {.target = from->target,
                                   .max_steps = from->script_steps,
                                   .strict = from->strict,
                                   .self = &l,
                                   .print = hear,
                                   .warn = hear_warning};
  tirc_status status =
      tirc_module_steps_text(r->program, text ? text : "None\n", text ? strlen(text) : 5,
                             "<session>", &options, steps, error);
  *n_printed = l.n;
  *n_warnings = l.n_warnings;
  return status;
}

/* --- accepting a line ------------------------------------------------------------------------- */

static const tirc_view *end_of(const tirc_steps *s) {
  const tirc_view *last = s ? tirc_steps_last(s) : NULL;
  return last ? last : s ? tirc_steps_first(s) : NULL;
}
const tirc_view *program_now(const Repl *r) { return end_of(r->steps); }
const tirc_module *module_now(const Repl *r) { return tirc_steps_module(r->steps, program_now(r)); }

static void show_change(const Repl *r, const tirc_steps *now) {
  const char *before = program_now(r)->text, *after = end_of(now)->text;
  for (int i = tirc_steps_count(r->steps); i < tirc_steps_count(now); i++) {
    const char *sentence = tirc_steps_at(now, i)->sentence;
    put_clean(stdout, sentence, strlen(sentence));
    putchar('\n');
  }
  if (!r->editor || strcmp(before, after) == 0) return;
  const Diff d = diff_texts(memory, before, after);
  print_diff(&d, stdout);
}

/* Python shows the value of an expression. A line is one if it can be printed; one that changed the
 * program is told of by its sentence. */
static void show_value(const Repl *r, const char *line) {
  size_t n_printed = r->n_printed;
  int n_warnings = INT32_MAX; /* all of them were shown */
  tirc_steps *steps = NULL;
  char *text = NULL;
  size_t n = 0;
  FILE *f = begin_text(&text, &n);
  fprintf(f, "for _ in [(\n%s)]:\n    if _ is not None: print(repr(_))\n", line);
  (void)end_text(f, &text);
  (void)run_lines(r, text, &n_printed, &n_warnings, &steps, NULL);
  tirc_steps_free(steps);
}

static void keep_line(Repl *r, const char *line) {
  r->lines = more_room(r->lines, r->n, sizeof *r->lines);
  r->lines[r->n] = tirc_strdup(memory, line);
  r->n_lines = r->n + 1; /* none that could be made again */
}

static void go_to(Repl *r, tirc_steps *steps, size_t n_printed, int n_warnings) {
  tirc_steps_free(r->steps);
  r->steps = steps;
  r->n_printed = n_printed;
  r->n_warnings = n_warnings;
  r->proposals = NULL;
}

int accept_line(Repl *r, const char *line) {
  tirc_error *e = NULL;
  tirc_steps *steps = NULL;
  size_t n_printed = r->n_printed;
  int n_warnings = r->n_warnings;
  if (run_lines(r, line, &n_printed, &n_warnings, &steps, &e)) return report(e);
  const tirc_error *end = tirc_steps_error(steps);
  if (end) {
    int status = (int)tirc_error_status(end);
    fflush(stdout);
    show_error(end);
    tirc_steps_free(steps);
    return status;
  }
  keep_line(r, line);
  show_change(r, steps);
  bool silent = strcmp(end_of(steps)->text, program_now(r)->text) == 0 && n_printed == r->n_printed;
  if (silent) show_value(r, line);
  r->n++;
  go_to(r, steps, n_printed, n_warnings);
  return DONE;
}

int move_back(Repl *r, int n) {
  tirc_error *e = NULL;
  tirc_steps *steps = NULL;
  size_t n_printed = (size_t)-1; /* all of it was shown */
  int n_warnings = INT32_MAX, from = r->n;
  r->n -= n;
  if (run_lines(r, NULL, &n_printed, &n_warnings, &steps, &e)) {
    r->n = from;
    return report(e);
  }
  go_to(r, steps, n_printed, n_warnings);
  return DONE;
}

void free_session(Repl *r) {
  tirc_steps_free(r->steps);
  tirc_module_free(r->program);
}
