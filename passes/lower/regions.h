/* The boxes that a statement reads or writes of one buffer. */
#ifndef TIRC_LOWER_REGIONS_H
#define TIRC_LOWER_REGIONS_H

#include "internal.h"

typedef struct Reach {
  VEC(IntSet *) boxes; /* one set a dimension each */
  bool is_opaque;      /* accessed in ways that are not followed */
} Reach;
/* One for each of n buffers, which are no views of each other. Variables bound inside of s are
 * relaxed, and so are those of `outer` (from a variable to its IntSet); the analyzer knows those
 * outside, and learns the loops. */
const Reach *tirc_lower_reach(Tirc *c, Analyzer *a, Stmt s, int n, const Buffer *buffers,
                              const PtrMap *outer);

#endif
