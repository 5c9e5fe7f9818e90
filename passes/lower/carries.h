/* Whether values of a buffer go from one iteration of a loop to another. */
#ifndef TIRC_LOWER_CARRIES_H
#define TIRC_LOWER_CARRIES_H

#include "ir/arith/arith.h"

/* False also for parallel loops and those over threads, whose iterations know nothing of each
 * other. The analyzer knows the variables outside, and learns the loops inside. */
bool tirc_lower_carries_values(Tirc *c, Analyzer *a, const For *loop, Buffer b);

#endif
