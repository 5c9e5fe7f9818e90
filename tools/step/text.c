/* `tirc step` on a terminal: each call with the sentence, the changed lines and the two trees. */
#include "step.h"

#include "ir/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { CONTEXT = 2, INDENT = 4, WIDTH = 150, LEAST_WIDTH = 60 };

static const char *ink(FILE *to, const char *colour) {
  return to == stdout ? (speech.colour_out ? colour : "") : paint(colour);
}

/* Bytes of a text are not its columns. */
static int columns(const char *s, size_t n) { return (int)tirc_utf8_columns(s, n); }

/* --- the difference --------------------------------------------------------------------------- */

static bool is_change(const DiffLine *l) { return l->op == '-' || l->op == '+'; }

static bool near_change(const Diff *d, int i) {
  for (int k = i - CONTEXT; k <= i + CONTEXT; k++)
    if (k >= 0 && k < d->n && is_change(&d->at[k])) return true;
  return false;
}

void print_diff(const Diff *d, FILE *to) {
  for (int i = 0, last = -1; i < d->n; i++) {
    const DiffLine *l = &d->at[i];
    if (!near_change(d, i)) continue;
    if (i > last + 1) fprintf(to, "%*s%s...%s\n", INDENT, "", ink(to, DIM), ink(to, RESET));
    last = i;
    const char *colour = l->op == '-' ? RED : l->op == '+' ? GREEN : DIM;
    fprintf(to, "%*s%s%c ", INDENT, "", ink(to, colour), is_change(l) ? l->op : ' ');
    put_clean(to, l->text, l->n);
    fprintf(to, "%s\n", ink(to, RESET));
  }
}

/* --- trees ------------------------------------------------------------------------------------ */

static int widest(const char *text) {
  int most = 0;
  for (const char *s = text; *s;) {
    size_t n = strcspn(s, "\n");
    int width = columns(s, n);
    most = width > most ? width : most;
    s += n + (s[n] == '\n');
  }
  return most;
}

/* The next line of a text, which then starts behind it; an empty one at its end. */
static const char *take_line(const char **text, size_t *n) {
  const char *line = *text;
  *n = strcspn(line, "\n");
  *text += *n + (line[*n] == '\n');
  return line;
}

static bool stands_in(const char *text, const char *line, size_t n) {
  while (*text) {
    size_t m;
    const char *other = take_line(&text, &m);
    if (m == n && memcmp(other, line, n) == 0) return true;
  }
  return false;
}

/* One line of a tree, coloured when the other tree does not have it. */
static void put_line(FILE *to, const char *line, size_t n, const char *other, const char *colour) {
  bool own = n && !stands_in(other, line, n);
  fputs(own ? ink(to, colour) : "", to);
  put_clean(to, line, n);
  fputs(own ? ink(to, RESET) : "", to);
}

static void put_tree(FILE *to, const char *title, const char *text, const char *other,
                     const char *colour) {
  fprintf(to, "%*s%s%s%s\n", INDENT, "", ink(to, BOLD), title, ink(to, RESET));
  while (*text) {
    size_t n;
    const char *line = take_line(&text, &n);
    fprintf(to, "%*s", INDENT, "");
    put_line(to, line, n, other, colour);
    fputc('\n', to);
  }
}

/* Two trees beside each other where the width (in characters) allows, otherwise one below the
 * other. */
static void print_trees(const char *before, const char *after, int width, FILE *to) {
  int left = widest(before), gap = 3;
  if (INDENT + left + gap + widest(after) > width) {
    put_tree(to, "loop tree before", before, after, RED);
    put_tree(to, "loop tree after", after, before, GREEN);
    return;
  }
  const char *bold = ink(to, BOLD), *plain = ink(to, RESET);
  if (left < 16) left = 16; /* the heading */
  fprintf(to, "%*s%s%-*s%*s%s%s\n", INDENT, "", bold, left, "loop tree before", gap, "",
          "loop tree after", plain);
  for (const char *a = before, *b = after; *a || *b;) {
    size_t n, m;
    const char *x = take_line(&a, &n), *y = take_line(&b, &m);
    fprintf(to, "%*s", INDENT, "");
    put_line(to, x, n, after, RED);
    if (m) fprintf(to, "%*s", left - columns(x, n) + gap, "");
    put_line(to, y, m, before, GREEN);
    fputc('\n', to);
  }
}

static int terminal_width(void) {
  struct winsize w;
  const char *given = getenv("COLUMNS");
  int width = given ? atoi(given) : 0;
  if (width <= 0 && isatty(1) && ioctl(1, TIOCGWINSZ, &w) == 0) width = w.ws_col;
  return width <= 0 ? WIDTH : width < LEAST_WIDTH ? LEAST_WIDTH : width;
}

/* --- steps ------------------------------------------------------------------------------------ */

/* Line number `line` of a text, without its indentation. */
static const char *line_at(const char *text, int line, size_t *n) {
  for (; line > 1 && *text; line--) text += strcspn(text, "\n") + (text[strcspn(text, "\n")] != 0);
  text += strspn(text, " \t");
  *n = strcspn(text, "\n");
  return text;
}

static void print_part(const char *title, const char *text) {
  if (!text) return;
  printf("%*s%s%s:%s ", INDENT, "", ink(stdout, BOLD), title, ink(stdout, RESET));
  put_clean(stdout, text, strlen(text));
  putchar('\n');
}

static void print_heading(const tirc_steps *s, int i) {
  const tirc_step *step = tirc_steps_at(s, i);
  size_t n;
  const char *line = line_at(tirc_steps_script(s), step->line, &n);
  const char *colour = step->error ? RED : BOLD;
  printf("%s%3d%s %s%s:%d:%s ", ink(stdout, colour), i + 1, ink(stdout, RESET), ink(stdout, DIM),
         step->file, step->line, ink(stdout, RESET));
  fputs(ink(stdout, colour), stdout);
  put_clean(stdout, line, n);
  printf("%s\n%*s", ink(stdout, RESET), INDENT, "");
  put_clean(stdout, step->sentence, strlen(step->sentence));
  putchar('\n');
  print_part("rule", step->rule);
  print_part("because", step->reason);
  for (int k = 0; k < step->n_warnings; k++) {
    const tirc_warning *w = &step->warnings[k];
    printf("%*s%swarning:%s ", INDENT, "", ink(stdout, YELLOW), ink(stdout, RESET));
    put_clean(stdout, w->message, strlen(w->message));
    if (strcmp(w->code, "warning") != 0)
      printf(" %s[%s]%s", ink(stdout, DIM), w->code, ink(stdout, RESET));
    putchar('\n');
  }
}

int print_refusal(const tirc_step *step) {
  const tirc_error *e = step->error;
  char *tree = tree_text(step->before);
  const char *colour = ink(stdout, RED), *plain = ink(stdout, RESET);
  printf("%*s%s%s:%s ", INDENT, "", colour,
         tirc_error_status(e) == TIRC_NO ? "ScheduleError" : "error", plain);
  put_clean(stdout, tirc_error_message(e), strlen(tirc_error_message(e)));
  printf(" %s[%s]%s\n", ink(stdout, DIM), tirc_error_get(e, TIRC_ERROR_CODE), plain);
  print_part("call", tirc_error_get(e, TIRC_ERROR_CALL));
  print_part("condition", tirc_error_get(e, TIRC_ERROR_CONDITION));
  print_part("hint", tirc_error_get(e, TIRC_ERROR_HINT));
  const char *ir = tirc_error_get(e, TIRC_ERROR_IR);
  for (ir = ir ? ir : step->before->text; *ir;) {
    size_t n;
    const char *line = take_line(&ir, &n);
    printf("%*s", INDENT + 2, "");
    put_clean(stdout, line, n);
    putchar('\n');
  }
  put_tree(stdout, "loop tree, unchanged", tree, tree, DIM);
  return DONE;
}

static void print_change(const tirc_step *step) {
  const Diff d = diff_texts(memory, step->before->text, step->after->text);
  char *before = tree_text(step->before), *after = tree_text(step->after);
  print_diff(&d, stdout);
  if (strcmp(before, after) == 0)
    put_tree(stdout, "loop tree, unchanged", before, after, DIM);
  else
    print_trees(before, after, terminal_width(), stdout);
}

int print_steps(const tirc_steps *s, const StepChoice *choice) {
  for (int i = 0; i < choice->n; i++) {
    if (!choice->shown[i]) continue;
    const tirc_step *step = tirc_steps_at(s, i);
    print_heading(s, i);
    if (step->error)
      (void)print_refusal(step);
    else if (step->after != step->before)
      print_change(step);
    putchar('\n');
  }
  return DONE;
}
