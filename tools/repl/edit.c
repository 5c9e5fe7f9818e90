/* The line editor (libedit): prompts, Tab, Ctrl-C, and a history that each line is added to in the
 * file as soon as it is entered, so that nothing is lost however the session ends. */
#include "repl.h"
#include "tools/bench/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <histedit.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HISTORY_LINES = 5000, MOST_WORDS = 512, SCREEN = 80 };

struct Editor {
  Repl *r;
  EditLine *el;
  History *history;
  char *file; /* of the history; NULL: none is kept */
  const char *prompt;
  bool dropped;
  bool ahead; /* something was typed before the terminal was ready for this line */
};

/* --- keys ------------------------------------------------------------------------------------- */

/* While a line is edited, Ctrl-C and Ctrl-Z are keys. While it runs, the first Ctrl-C is noted and
 * a second one ends the process. */
static Editor *editor_of(EditLine *el) {
  void *e = NULL;
  el_get(el, EL_CLIENTDATA, &e);
  return e;
}

static unsigned char drop_line(EditLine *el, int key) {
  (void)key;
  editor_of(el)->dropped = true;
  fputs("^C\n", stdout);
  return CC_NEWLINE;
}

/* A Ctrl-D that came before the terminal was ready is no key but the terminal's mark for an end of
 * input; when the terminal becomes ready, the mark turns into a NUL. Ctrl-Space is a NUL as well.
 */
static unsigned char end_ahead(EditLine *el, int key) {
  const LineInfo *line = el_line(el);
  (void)key;
  return editor_of(el)->ahead && line->lastchar == line->buffer ? CC_EOF : CC_NORM;
}

static unsigned char suspend(EditLine *el, int key) {
  (void)el, (void)key;
  raise(SIGTSTP);
  return CC_REDISPLAY;
}

/* --- Tab -------------------------------------------------------------------------------------- */

typedef struct Words {
  int n;
  char *at[MOST_WORDS];
} Words;

static void take_word(void *self, const char *word) {
  Words *w = self;
  for (int i = 0; i < w->n; i++)
    if (strcmp(w->at[i], word) == 0) return;
  if (w->n < MOST_WORDS) w->at[w->n++] = tirc_strdup(memory, word);
}

static size_t common_prefix(const Words *w) {
  size_t n = strlen(w->at[0]);
  for (int i = 1; i < w->n; i++)
    for (size_t k = 0; k < n; k++)
      if (w->at[i][k] != w->at[0][k]) n = k;
  return n;
}

static void list_words(const Words *w) {
  int column = 0;
  for (int i = 0; i < w->n; i++) {
    int width = (int)strlen(w->at[i]) + 2;
    if (column + width > SCREEN) column = 0;
    printf("%s%s", column ? "  " : "\n", w->at[i]);
    column += width;
  }
  putchar('\n');
}

static unsigned char complete(EditLine *el, int key) {
  Editor *e = editor_of(el);
  const LineInfo *line = el_line(el);
  size_t n = (size_t)(line->cursor - line->buffer);
  char *text = tirc_strndup(memory, line->buffer, n);
  Words words = {0};
  (void)key;
  bool first = strcmp(e->prompt, "tirc> ") == 0;
  if (strspn(text, " \t") == n && (n || !first)) /* nothing but indentation: Tab indents */
    return el_insertstr(el, "    ") == 0 ? CC_REFRESH : CC_ERROR;
  size_t typed = complete_line(e->r, text, n, take_word, &words);
  size_t common = words.n ? common_prefix(&words) : 0;
  unsigned char result = CC_ERROR;
  if (common > typed) {
    words.at[0][common] = 0;
    result = el_insertstr(el, words.at[0] + typed) == 0 ? CC_REFRESH : CC_ERROR;
  } else if (words.n > 1) {
    list_words(&words);
    result = CC_REDISPLAY;
  }
  return result;
}

/* --- the history ------------------------------------------------------------------------------ */

/* Every folder of a path. */
static bool make_folders(char *path) {
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    bool ok = mkdir(path, 0700) == 0 || errno == EEXIST;
    *slash = '/';
    if (!ok) return false;
  }
  return true;
}

static char *history_path(void) {
  const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
  bool given = state && *state == '/', at_home = home && *home == '/';
  if (!given && !at_home) return NULL;
  return tirc_format(memory, "%s%s/tirc/history", given ? state : home,
                     given ? "" : "/.local/state");
}

static bool is_empty_file(const char *path) {
  struct stat s;
  return stat(path, &s) != 0 || s.st_size == 0;
}

/* A file that cannot be read as a history is left alone. */
static void open_history(Editor *e) {
  HistEvent event;
  e->file = history_path();
  history(e->history, &event, H_SETSIZE, HISTORY_LINES);
  history(e->history, &event, H_SETUNIQUE, 1);
  el_set(e->el, EL_HIST, history, e->history);
  if (!e->file) return;
  bool bad = !make_folders(e->file) ||
             (!is_empty_file(e->file) && history(e->history, &event, H_LOAD, e->file) < 0);
  if (!bad) return;
  fprintf(stderr, "tirc: no history is kept: '%s' cannot be used\n", e->file);
  e->file = NULL;
}

/* The file's own encoding, by hand: H_NSAVE_FP writes one line more than it is asked for. */
static void remember_line(Editor *e, const char *line) {
  HistEvent event;
  if (history(e->history, &event, H_ENTER, line) < 0 || !e->file) return;
  bool heading = is_empty_file(e->file);
  int fd = open(e->file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  FILE *f = fd < 0 ? NULL : fdopen(fd, "a");
  if (!f) return;
  if (heading) fputs("_HiStOrY_V2_\n", f);
  for (const unsigned char *s = (const unsigned char *)line; *s; s++)
    fprintf(f, *s > 0x20 && *s < 0x7F && *s != '\\' ? "%c" : "\\%03o", *s);
  fputc('\n', f);
  fclose(f);
}

/* --- lines ------------------------------------------------------------------------------------ */

static char *prompt_of(EditLine *el) { return (char *)(uintptr_t)editor_of(el)->prompt; }

Editor *open_editor(Repl *r) {
  Editor *e = tirc_alloc(memory, sizeof *e);
  setlocale(LC_CTYPE, "");
  e->el = el_init("tirc", stdin, stdout, stderr);
  if (e->el) e->history = history_init();
  if (!e->history) {
    close_editor(e);
    complain("lines may come from a pipe", "the terminal cannot be used");
    return NULL;
  }
  e->r = r;
  el_set(e->el, EL_CLIENTDATA, e);
  el_set(e->el, EL_PROMPT, prompt_of);
  el_set(e->el, EL_EDITOR, "emacs");
  el_set(e->el, EL_SIGNAL, 1);
  el_set(e->el, EL_SETTY, "-d", "-isig", NULL);
  /* Wide: el_set would keep copies that el_end does not free. */
  el_wset(e->el, EL_ADDFN, L"tirc-complete", L"complete a word", complete);
  el_wset(e->el, EL_ADDFN, L"tirc-drop", L"drop the line", drop_line);
  el_wset(e->el, EL_ADDFN, L"tirc-suspend", L"stop until fg", suspend);
  el_wset(e->el, EL_ADDFN, L"tirc-end-ahead", L"an end of input typed ahead", end_ahead);
  el_set(e->el, EL_BIND, "^@", "tirc-end-ahead", NULL);
  el_set(e->el, EL_BIND, "^Z", "tirc-suspend", NULL);
  el_set(e->el, EL_BIND, "^I", "tirc-complete", NULL);
  el_set(e->el, EL_BIND, "^C", "tirc-drop", NULL);
  el_set(e->el, EL_BIND, "^R", "em-inc-search-prev", NULL);
  open_history(e);
  el_source(e->el, NULL);
  catch_interrupts();
  return e;
}

void close_editor(Editor *e) {
  if (!e) return;
  if (e->history) history_end(e->history);
  if (e->el) el_end(e->el);
}

char *edit_line(Editor *e, const char *prompt, bool *dropped) {
  int n = 0, waiting = 0;
  e->prompt = prompt;
  e->dropped = false;
  fflush(stdout);
  el_set(e->el, EL_PREP_TERM, 1); /* before the prompt: what follows it is read as keys */
  e->ahead = ioctl(STDIN_FILENO, FIONREAD, &waiting) == 0 && waiting > 0;
  const char *line = el_gets(e->el, &n);
  catch_interrupts();
  *dropped = e->dropped;
  if (e->dropped || !line || n <= 0) return NULL;
  const size_t length = strlen(line);
  char *copy = tirc_format(memory, "%s%s", line, length && line[length - 1] != '\n' ? "\n" : "");
  if (copy[strspn(copy, " \t\n")]) remember_line(e, copy);
  return copy;
}
