/* What symbols, as in T.match_buffer(a, (n, m)), are taken for while checks run a nest: they get
 * their values when the program runs, so the nest is run with several. */
#ifndef TIRC_SCHEDULE_SIZES_H
#define TIRC_SCHEDULE_SIZES_H

#include "schedule.h"

enum { SIZES_MAX_SAME = 12 };

typedef struct Sizes {
  int n_trials; /* 1: there are no symbols */
  int n_symbols, n_same, n_own;
  int64_t base;
  int64_t same[SIZES_MAX_SAME]; /* of all symbols, in the first trials */
  PtrMap numbers;               /* symbol -> 1 + its number */
  PtrMap decided; /* conditions on symbols alone of which is known whether they hold */
} Sizes;

/* Those for what is around and in a loop or block. They live as long as what is allocated now.
 * `assumed`: a condition that holds, as far as it is about symbols alone; or NULL. */
const Sizes *tirc_sizes_of(Sched *s, const SRef *in, Expr assumed);
extern const Sizes tirc_one_size; /* for all variables, in one trial */
/* Of a variable that has no value, in trial number 0, 1, ... */
int64_t tirc_size(const Sizes *sizes, Expr var, int trial);
/* Whether a condition on symbols alone holds for all sizes, or for none. False: for some. */
bool tirc_size_decides(const Sizes *sizes, Expr condition, bool *holds);

#endif
