/* Random numbers of a schedule: a multiplicative congruential generator (multiplier 48271, modulus
 * 2^31 - 1) and, on top of it, uniform integers, weighted choices and factorizations. TVM draws
 * with the same generator through the C++ library's distributions, whose algorithms (libstdc++)
 * these are: the same seed gives the same decisions. */
#ifndef TIRC_SCHEDULE_RANDOM_H
#define TIRC_SCHEDULE_RANDOM_H

#include "ir/context.h"

typedef struct Random {
  int64_t state; /* 1 to 2^31 - 2 */
} Random;

Random tirc_random(int64_t seed);    /* any seed */
int64_t tirc_random_fork(Random *r); /* a seed for another one */
/* From min up to and without end; nothing is drawn when that is one number. */
int tirc_random_int(Random *r, int min, int end);
/* An index of weights, with the probability of its share in their sum. */
int tirc_random_weighted(Tirc *c, Random *r, int n, const double *weights);
/* n factors whose product is extent >= 1, uniform over the places of each prime's powers. */
void tirc_random_tile(Tirc *c, Random *r, int extent, int n, int64_t *factors);

#endif
