/* Sets of elements that are all one set, shifted: what an element of the array touches at a stamp
 * when the loops that share it always run whole. Which elements two of them share hangs on the
 * difference of their shifts alone, and is found out once for each difference. */
#ifndef TIRC_SPATIAL_SHIFTED_H
#define TIRC_SPATIAL_SHIFTED_H

#include "ir/context.h"

typedef struct Shared { /* bits of the members that are in the other one, too */
  int64_t shift;
  uint64_t *bits; /* NULL: the place is free */
} Shared;

typedef struct Shifted {
  Tirc *c;
  int n, words;
  int64_t *members; /* ascending, each once */
  Shared *known;
  int n_known, room;
} Shifted;

void tirc_shifted_make(Tirc *c, Shifted *s, int n, const int64_t *members);
/* Which members of the one that is `shift` ahead of the other are in that; NULL: none. */
const uint64_t *tirc_shifted_shared(Shifted *s, int64_t shift);

#endif
