/* The parts of `tirc repl`. A session is a program and the lines that were accepted so far; after
 * each new line all of them run again on the program, by the recorder that `tirc step` has. So undo
 * is to leave the last line out, a line that fails leaves nothing behind, and the lines are the
 * schedule script that `save` writes. */
#ifndef TIRC_TOOLS_REPL_H
#define TIRC_TOOLS_REPL_H

#include "tools/next/next.h"
#include "tools/step/step.h"

typedef struct ReplOptions {
  Running run;
  double seconds;
} ReplOptions;

typedef struct Editor Editor;

typedef struct Repl {
  ReplOptions *o;
  tirc_module *program;
  int n, n_lines;    /* accepted lines, and with those that redo brings back */
  char **lines;      /* statements; each ends with a newline */
  tirc_steps *steps; /* of the accepted lines */
  size_t n_printed;  /* what the accepted lines print, in bytes: shown already */
  int n_warnings;
  Proposals *proposals; /* of the last `next`, good until the program changes; or NULL */
  Editor *editor;       /* NULL: lines come from a pipe */
  char *pending;        /* a line that was read too far, or NULL */
  bool too_long;        /* the input has a line, or a statement, without an end */
  bool over;
} Repl;

typedef struct ReplCommand {
  const char *name, *argument, *help;
  int (*run)(Repl *r, const char *argument); /* DONE, or the status of what was reported */
} ReplCommand;
extern const ReplCommand repl_commands[];
extern const int n_repl_commands;

/* session.c */
/* Runs the accepted lines and `line` (or NULL). What they print is shown from n_printed on.
 * TIRC_OK: *steps is what they did, to be freed; then tirc_steps_error says whether they ran to the
 * end. */
tirc_status run_lines(const Repl *r, const char *line, size_t *n_printed, int *n_warnings,
                      tirc_steps **steps, tirc_error **error);
/* The accepted lines and `line` as a script. */
char *script_of(const Repl *r, const char *line);
int accept_line(Repl *r, const char *line); /* or report why not, and change nothing */
int move_back(Repl *r, int n);              /* n lines; negative: forward */
const tirc_view *program_now(const Repl *r);
const tirc_module *module_now(const Repl *r);
void free_session(Repl *r);

/* read.c: the next statement, on the heap; "" for a line that was dropped, NULL at the end */
char *read_statement(Repl *r);
/* More lines were to come: it ends in an open bracket or string, or in what opens a block. */
bool is_unfinished(const char *text);

/* edit.c */
Editor *open_editor(Repl *r); /* NULL, with the error reported, when there is none */
void close_editor(Editor *e);
/* A line with its newline, on the heap; NULL at the end of input. *dropped: Ctrl-C was pressed. */
char *edit_line(Editor *e, const char *prompt, bool *dropped);

/* complete.c: calls take(self, word) with each word that may stand where text, n bytes up to
 * the cursor, ends; gives the length of what is there of it already. */
size_t complete_line(const Repl *r, const char *text, size_t n,
                     void (*take)(void *self, const char *word), void *self);

/* next.c: `next` */
int propose(Repl *r, const char *argument);
int pick_proposal(Repl *r, int number);

/* bench.c: measures n scripts under these names; best (or NULL) gets the seconds of each one's
 * fastest call, 0 where there is none */
int bench_scripts(const Repl *r, int n, const char *const *names, char *const *scripts,
                  double *best);

#endif
