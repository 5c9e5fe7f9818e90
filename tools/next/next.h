/* What may be done next to a schedule: calls that are legal, the best first, and why others are
 * not.
 */
#ifndef TIRC_TOOLS_NEXT_H
#define TIRC_TOOLS_NEXT_H

#include "tools/kit/kit.h"

enum { MOST_PROPOSALS = 400, PROPOSAL_TEXT = 480 };

typedef struct NextQuestion {
  const tirc_module *program, *now; /* before the script, and after it */
  const char *text;                 /* the program's, to be read with other constants; or NULL */
  const char *script, *script_name;
  const char *target, *focus; /* focus: only what concerns this block or loop; "" for all */
  int64_t max_steps;
  int threads;
  bool refused;              /* those that are refused are wanted, too */
  bool (*go_on)(void *self); /* asked before each call that is tried, or NULL */
  void *self;
} NextQuestion;

typedef struct Proposal {
  char text[PROPOSAL_TEXT];
  double cycles; /* an estimate */
  int number;    /* in the order of trying */
} Proposal;
/* wrong: an element that the call would make wrong, in a sentence, where that was found out */
typedef struct Refusal {
  const char *text, *code, *message, *condition, *hint, *wrong; /* the last three may be NULL */
} Refusal;
typedef struct Proposals {
  int n, shown, n_refused;
  double now; /* the estimate of the program as it is */
  Refusal *refused;
  Proposal at[MOST_PROPOSALS];
} Proposals;

/* propose.c: into *out, which is zeroed; DONE; BAD, or NO where there is no such focus, with why in
 * *error. */
int find_next(const NextQuestion *ask, Proposals *out, tirc_error **error);

/* wrong.c: what the refused calls would make wrong, on a small instance of the program. */
void find_wrong(const NextQuestion *ask, Proposals *p);

/* session.c: the schedule that a script makes of a program, and the variables that hold its loops
 * and blocks */
enum { MOST_NAMES = 256 };
typedef struct Name {
  char *name;
  tirc_value value;
} Name;
typedef struct Session {
  tirc_schedule *s;
  int n_names;
  Name names[MOST_NAMES];
} Session;
tirc_status begin_session(const NextQuestion *ask, const tirc_schedule_options *options,
                          Session *out, tirc_error **error);
/* The schedule as it is now, to be freed, with the names that calls use; NULL without memory. */
tirc_schedule *copy_of(const Session *q);
/* A name's value. */
bool value_of(tirc_schedule *s, const char *name, tirc_value *out);

/* variables.c: the names that a script assigns to, one after the other; *at starts as 0. NULL
 * behind the last. */
char *next_variable(const char *script, size_t *at);

#endif
