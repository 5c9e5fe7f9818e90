/* Which of some names was meant. */
#ifndef TIRC_IR_NEAREST_H
#define TIRC_IR_NEAREST_H

#include "context.h"

enum { TIRC_LONGEST_NAME = 40 }; /* that is compared */

/* Letters to insert, delete, replace, or to swap with the next one, between n and m letters; more
 * than TIRC_LONGEST_NAME where one of the names is longer than that. */
int tirc_name_distance(const char *a, size_t n, const char *b, size_t m);

/* Name after name is offered; of those that are as near the first one stays. One that differs in
 * the case of letters alone is the nearest. */
typedef struct Nearest {
  const char *wanted;
  size_t n_wanted;
  const char *name; /* the nearest of those offered so far, or NULL */
  size_t n;
  int distance;
  char hint[256];
} Nearest;
void tirc_offer_name(Nearest *best, const char *name, size_t n);
/* "did you mean 'x'?" when it is near (two letters, of a short name one), with `dashes` before the
 * name; else `otherwise`. */
const char *tirc_suggest_name(Nearest *best, const char *dashes, const char *otherwise);
/* The same of a list; NULL when nothing is near. */
const char *tirc_nearest(Tirc *c, const char *name, int n, const char *const *candidates);

#endif
