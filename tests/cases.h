/* A case: a program, a schedule, and what must come out. See cases/README.md for the format. */
#ifndef TIRC_TESTS_CASES_H
#define TIRC_TESTS_CASES_H

#include "passes/schedule/schedule.h"

#include <stdbool.h>

typedef struct Case {
  const char *name;             /* file or id */
  const char *verdict;          /* legal, warning, ScheduleError, argument-error, other-error */
  bool strict;                  /* warnings are errors; so they are where one is expected */
  int fails_at_call;            /* non-empty line of the schedule, from 1; 0: not said */
  const char *code;             /* of the diagnostic, or NULL */
  const char *message;          /* a text that the diagnostic's message contains, or NULL */
  const char *condition, *hint; /* the same of these */
  bool reference_fault;
  const char *program, *schedule;
  const char *result; /* NULL: not said */
  /* Only in cases that explain an error: why it is one, the program that the refused call would
   * have made or why there is none, and a legal schedule (of another program, unless NULL). */
  const char *why, *forbidden, *nothing_to_run, *fixed_program, *fixed;
} Case;

/* A file whole, to be freed; NULL: it cannot be read. */
char *case_read(const char *path);
/* Reads a .case text into memory of c; false with *why when the file is no case. */
bool case_parse(Tirc *c, const char *name, const char *text, Case *out, const char **why);
/* What the calls of the cases so far have shown, and what the programs of the last ones compute:
 * many are about the same one. */
enum { MAX_PRIMITIVES = 96, MOST_COMPUTED = 16 };
typedef struct Seen {
  struct Computed *computed[MOST_COMPUTED];           /* or NULL */
  int next;                                           /* of these, to be replaced */
  bool raised[SERR_COUNT];                            /* ScheduleErrors */
  int legal[MAX_PRIMITIVES], refused[MAX_PRIMITIVES]; /* calls, by row of primitives.def */
} Seen;

/* NULL when all is as the case says; otherwise what differs first, malloc'ed. Adds to *seen
 * unless it is NULL. */
char *case_check(const Case *test, Seen *seen);
void case_forget(Seen *seen); /* frees it */

#endif
