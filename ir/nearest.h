/* Which of some names was meant. */
#ifndef TIRC_IR_NEAREST_H
#define TIRC_IR_NEAREST_H

#include "context.h"

enum { TIRC_LONGEST_NAME = 40 }; /* that is compared */

/* Letters to insert, delete or replace; both at most TIRC_LONGEST_NAME long. */
int tirc_name_distance(const char *a, const char *b);
/* "did you mean 'x'?", or NULL when nothing is near. */
const char *tirc_nearest(Tirc *c, const char *name, int n, const char *const *candidates);

#endif
