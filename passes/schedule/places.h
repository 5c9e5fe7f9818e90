/* Where the loops around a nest stand while checks run it on index arithmetic. */
#ifndef TIRC_SCHEDULE_PLACES_H
#define TIRC_SCHEDULE_PLACES_H

#include "index_eval.h"
#include "schedule.h"

typedef enum PlaceState {
  PLACE_RUNS,
  PLACE_UNKNOWN, /* whether it does is decided when the program runs */
  PLACE_EMPTY    /* nothing runs there */
} PlaceState;

/* How many places are worth a look for what is inside of `around` (NULL: of nothing). */
int tirc_n_places(const SRef *around);
/* Gives loops and iterators of blocks, from `around` outwards, their values at one of them: each
 * loop stands at its start, in its middle or at its end, and the two innermost in all combinations,
 * since a predicate may keep the nest from doing anything at the others. What is not known is
 * forgotten; where it is enough that it stands still, it is env->otherwise. */
PlaceState tirc_go_to_place(IndexEval *env, const SRef *around, int place, bool still);

#endif
