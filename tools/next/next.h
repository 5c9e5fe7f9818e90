/* What may be done next to a schedule: calls that are legal, the best first, and why others are
 * not.
 */
#ifndef TIRC_TOOLS_NEXT_H
#define TIRC_TOOLS_NEXT_H

#include "tools/kit/kit.h"

enum { MOST_PROPOSALS = 400, PROPOSAL_TEXT = 480 };

typedef struct NextQuestion {
  const tirc_module *program, *now; /* before the script, and after it */
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
typedef struct Refusal {
  const char *text, *code, *message, *condition, *hint; /* the last two may be NULL */
} Refusal;
typedef struct Proposals {
  int n, shown, n_refused;
  double now; /* the estimate of the program as it is */
  Refusal *refused;
  Proposal at[MOST_PROPOSALS];
} Proposals;

/* propose.c: into *out, which is zeroed; DONE, or the status of what was reported. */
int find_next(const NextQuestion *ask, Proposals *out);

/* variables.c: the names that a script assigns to, one after the other; *at starts as 0. NULL
 * behind the last. */
char *next_variable(const char *script, size_t *at);

#endif
