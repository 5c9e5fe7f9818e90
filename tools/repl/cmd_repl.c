/* `tirc repl`: the loop that reads statements, and the commands of a session. */
#include "ir/ascii.h"
#include "repl.h"
#include "tools/command/command.h"
#include "tools/teach/teach.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define COMMAND(name, argument, help) static int repl_##name(Repl *r, const char *text);
#include "commands.def"
#undef COMMAND
const ReplCommand repl_commands[] = {
#define COMMAND(name, argument, help) {#name, argument, help, repl_##name},
#include "commands.def"
#undef COMMAND
};
const int n_repl_commands = sizeof repl_commands / sizeof *repl_commands;

static void put(const char *text) { put_clean(stdout, text, strlen(text)); }

/* --- lines ------------------------------------------------------------------------------------ */

/* A count of lines: 1 when none is given, -1 when it is no number. */
static int count_of(const char *text) {
  char *end = NULL;
  long n = *text ? strtol(text, &end, 10) : 1;
  return n < 1 || n > INT32_MAX || (end && *end) ? -1 : (int)n;
}

static int move(Repl *r, const char *text, int there, int sign, const char *what) {
  int n = count_of(text);
  if (n < 0) return complain(NULL, "'%s' is not a number of lines", text);
  if (n > there)
    return complain(NULL, "there %s %d line%s to %s, not %d", there == 1 ? "is" : "are", there,
                    plural(there), what, n);
  int from = sign > 0 ? r->n - n : r->n;
  int status = move_back(r, sign * n);
  for (int i = 0; i < n && status == DONE; i++) {
    printf("%s: ", what);
    put(r->lines[from + i]);
  }
  return status;
}

static int repl_undo(Repl *r, const char *text) { return move(r, text, r->n, 1, "undo"); }
static int repl_redo(Repl *r, const char *text) {
  return move(r, text, r->n_lines - r->n, -1, "redo");
}

static int repl_save(Repl *r, const char *text) {
  size_t n = strcspn(text, " ");
  bool replace = strcmp(text + n + strspn(text + n, " "), "--replace") == 0;
  if (!*text || (text[n] && !replace)) return complain(NULL, "usage: save FILE [--replace]");
  char *path = tirc_strndup(memory, text, n);
  FILE *f = path ? fopen(path, replace ? "w" : "wx") : NULL;
  bool is_function = false, ok = f;
  for (int i = 0; ok && i < r->n; i++) {
    is_function |= strncmp(r->lines[i], "def ", 4) == 0;
    ok = fputs(r->lines[i], f) >= 0;
  }
  /* A script of one function alone would be called. */
  if (ok && is_function) ok = fputs("None\n", f) >= 0;
  int error = errno;
  if (f && fclose(f) != 0) ok = false, error = errno;
  if (ok)
    printf("%d line%s in %s\n", r->n, plural(r->n), path);
  else
    complain(error == EEXIST ? "save FILE --replace" : NULL, "cannot write '%s': %s",
             path ? path : text, strerror(error));
  return ok ? DONE : BAD;
}

/* --- the program ------------------------------------------------------------------------------ */

static int repl_show(Repl *r, const char *text) {
  (void)text;
  put(program_now(r)->text);
  return DONE;
}

static int repl_tree(Repl *r, const char *text) {
  char *tree = tree_text(program_now(r));
  (void)text;
  put(tree);
  return DONE;
}

static int repl_diff(Repl *r, const char *text) {
  const Diff d = diff_texts(memory, tirc_steps_first(r->steps)->text, program_now(r)->text);
  (void)text;
  print_diff(&d, stdout);
  if (!d.changed) puts("nothing has changed");
  return DONE;
}

static int repl_blocks(Repl *r, const char *text) {
  const tirc_view *v = program_now(r);
  (void)text;
  for (int i = 0; i < v->n; i++) {
    if (v->nodes[i].kind != TIRC_BLOCK) continue;
    tree_line(&v->nodes[i], stdout);
    putchar('\n');
  }
  return DONE;
}

/* The node that node i stands in, or -1. */
static int parent_of(const tirc_view *v, int i) {
  int depth = v->nodes[i].depth;
  while (i >= 0 && v->nodes[i].depth >= depth) i--;
  return i;
}

static int find_block(const tirc_view *v, const char *name) {
  for (int i = 0; i < v->n; i++)
    if (v->nodes[i].kind == TIRC_BLOCK && strcmp(v->nodes[i].name, name) == 0) return i;
  return -1;
}

static int repl_loops(Repl *r, const char *text) {
  const tirc_view *v = program_now(r);
  if (*text && find_block(v, text) < 0)
    return complain("`blocks` lists them", "there is no block '%s'", text);
  for (int i = 0; i < v->n; i++) {
    if (v->nodes[i].kind != TIRC_BLOCK || (*text && strcmp(v->nodes[i].name, text) != 0)) continue;
    int path[64], n = 0;
    for (int k = parent_of(v, i); k >= 0 && n < 64 && v->nodes[k].kind == TIRC_LOOP;)
      path[n++] = k, k = parent_of(v, k);
    for (int k = 0; k < n; k++) {
      printf("sch.get_loops(\"%s\")[%d]  ", v->nodes[i].name, k);
      tree_line(&v->nodes[path[n - 1 - k]], stdout);
      putchar('\n');
    }
  }
  return DONE;
}

/* --- running ---------------------------------------------------------------------------------- */

static int repl_run(Repl *r, const char *text) {
  const RunOptions o = {.run = r->o->run, .check = strcmp(text, "--check") == 0};
  if (*text && !o.check) return complain(NULL, "usage: run [--check]");
  return run_module(&o, r->program, module_now(r));
}

static int repl_bench(Repl *r, const char *text) {
  static const char *const names[] = {"program", "session"};
  char *scripts[] = {tirc_strdup(memory, ""), script_of(r, NULL)};
  (void)text;
  return bench_scripts(r, 2, names, scripts, NULL);
}

/* --- questions -------------------------------------------------------------------------------- */

static bool is_primitive(const char *text) {
  tirc_primitive_info p;
  size_t n = strcspn(text, "(");
  for (int i = 0; text[n] && tirc_primitive_table(i, &p); i++)
    if (strlen(p.name) == n && strncmp(p.name, text, n) == 0) return true;
  return false;
}

static int answer(const Repl *r, const tirc_steps *steps) {
  const tirc_error *end = tirc_steps_error(steps);
  const tirc_step *last = tirc_steps_at(steps, tirc_steps_count(steps) - 1);
  if (end && last && last->error) {
    int status = print_refusal(last);
    if (tirc_error_status(end) == TIRC_NO) explain_terms(tirc_error_get(end, TIRC_ERROR_CODE));
    return status;
  }
  if (end) {
    show_error(end);
    return (int)tirc_error_status(end);
  }
  puts("legal");
  for (int i = tirc_steps_count(r->steps); i < tirc_steps_count(steps); i++) {
    put(tirc_steps_at(steps, i)->sentence);
    putchar('\n');
  }
  return DONE;
}

static int repl_why(Repl *r, const char *text) {
  tirc_steps *steps = NULL;
  tirc_error *e = NULL;
  char *line = NULL;
  size_t n_printed = (size_t)-1;
  int n_warnings = INT32_MAX;
  if (!*text) return complain("why sch.vectorize(k)", "usage: why CALL");
  line = tirc_format(memory, "%s%s\n", is_primitive(text) ? "sch." : "", text);
  int status =
      run_lines(r, line, &n_printed, &n_warnings, &steps, &e) ? report(e) : answer(r, steps);
  tirc_steps_free(steps);
  return status;
}

static int repl_next(Repl *r, const char *text) {
  return count_of(text) > 0 && *text ? pick_proposal(r, count_of(text)) : propose(r, text);
}

static int repl_help(Repl *r, const char *text) {
  (void)r;
  int status = DONE;
  bool found = false;
  for (int i = 0; i < n_repl_commands; i++) {
    const ReplCommand *c = &repl_commands[i];
    if (*text && strcmp(text, c->name) != 0) continue;
    char *left = tirc_format(memory, "%s%s%s", c->name, c->argument ? " " : "",
                             c->argument ? c->argument : "");
    put_row(stdout, 35, left, c->help);
    found = true;
  }
  if (!*text)
    put_text(
        stdout, 0, false,
        "All other lines are those of a schedule script: `sch` is the schedule. `help split` shows "
        "a primitive,\n`help reduction-block` a term, `help not-single-writer` an error.");
  if (found || explain_name(text, &status)) return DONE;
  return complain("`help` lists the commands, `tirc explain` all else",
                  "there is no command, primitive, error code or term '%s'", text);
}

static int repl_quit(Repl *r, const char *text) {
  (void)text;
  r->over = true;
  return DONE;
}

/* --- the loop --------------------------------------------------------------------------------- */

/* `undo 2`, but not `undo = 2`, `undo(2)` or `undo.x`: names are free. */
static const ReplCommand *find_repl_command(const char *text) {
  size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz");
  const char *rest = text + n + strspn(text + n, " ");
  bool assigned = *rest == '=' || *rest == ',' || (*rest && rest[1] == '=');
  if (assigned || (text[n] && text[n] != ' ')) return NULL;
  for (int i = 0; i < n_repl_commands; i++) {
    const ReplCommand *c = &repl_commands[i];
    if (strlen(c->name) != n || strncmp(c->name, text, n) != 0) continue;
    bool operand = !c->argument && *rest && !tirc_is_letter_or_digit(*rest);
    return operand ? NULL : c;
  }
  return NULL;
}

/* A statement without the spaces and the newline at its end. */
static void trim(char *text) {
  size_t n = strlen(text);
  while (n && tirc_is_space(text[n - 1])) text[--n] = 0;
}

static int obey(Repl *r, const char *statement) {
  char *text = tirc_strdup(memory, statement);
  trim(text);
  size_t n = strcspn(text, " ");
  const ReplCommand *c = find_repl_command(text);
  const char *argument = text + n + strspn(text + n, " ");
  int number = tirc_is_digit(*text) ? count_of(text) : -1, status;
  if (c && !c->argument && *argument)
    status = complain(NULL, "'%s' takes no argument", c->name);
  else if (c)
    status = c->run(r, argument);
  else if (number > 0)
    status = pick_proposal(r, number);
  else
    status = !*text || *text == '#' ? DONE : accept_line(r, statement);
  return status;
}

static int converse(Repl *r) {
  int worst = DONE;
  char *statement;
  while (!r->over && (statement = read_statement(r)) != NULL) {
    int status = obey(r, statement);
    worst = status > worst ? status : worst;
    fflush(stdout);
  }
  if (r->too_long) worst = complain(NULL, "the input is not a script: a statement has no end");
  if (r->editor && !r->over) putchar('\n'); /* Ctrl-D leaves the cursor behind the prompt */
  return r->editor ? DONE : worst;
}

int cmd_repl(ReplOptions *o) {
  const List *args = &o->run.make.from.args;
  Repl r = {.o = o};
  if (strcmp(args->at[0], "-") == 0)
    return complain(NULL, "the program cannot be standard input, which the lines come from");
  o->run.make.needs_trace = true;
  int status = load_scheduled(&o->run.make, NULL, &r.program);
  if (status == DONE) status = move_back(&r, 0);
  bool terminal = isatty(0) && isatty(1);
  if (status == DONE && terminal && !(r.editor = open_editor(&r))) status = BAD;
  if (status == DONE && terminal)
    printf("%s: `sch` is the schedule; `help` lists commands, Tab completes\n", args->at[0]);
  if (status == DONE) status = converse(&r);
  close_editor(r.editor);
  free_session(&r);
  return status;
}
