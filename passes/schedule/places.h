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
/* Whether these are all that there are. */
bool tirc_are_all_places(const SRef *around);
/* Gives loops and iterators of blocks, from `around` outwards, their values at one of them. A nest
 * of up to 256 iterations is looked at in all of them. Of a longer one the innermost loop stands at
 * up to 16 places from its start to its end, those around it at up to 4, in all combinations up to
 * 64 places, and those further out anywhere: a predicate may keep the nest from doing anything at
 * most of them, or the dependence be there at one of them only. What is not known is forgotten;
 * where it is enough that it stands still, it is taken for a size. */
PlaceState tirc_go_to_place(IndexEval *env, SRef *around, int place, bool still);

#endif
