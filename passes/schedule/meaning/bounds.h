/* Is an access outside of its buffer?
 *
 *   for i in range(9):                      at i = 8
 *     B[i] = A[i]                           index 8 of A, whose extent is 8
 *
 * Of a program as it is written; what is told of, is proved: some instance reaches the access,
 * under all conditions around it, and its index is outside then. With symbolic sizes: for all of
 * them for which the access is reached at all, so that a buffer which callers make large enough is
 * none. */
#ifndef TIRC_SCHEDULE_MEANING_BOUNDS_H
#define TIRC_SCHEDULE_MEANING_BOUNDS_H

#include "relation.h"

/* Tells of each statement once a buffer. */
void tirc_accesses_outside(Sched *s, void (*tell)(void *self, Warning w), void *self);

#endif
