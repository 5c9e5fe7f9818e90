/* Random numbers that are the same everywhere. */
#ifndef TIRC_TESTS_RNG_H
#define TIRC_TESTS_RNG_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Rng {
  uint64_t state;
} Rng;
static inline uint64_t rng_next(Rng *r) { /* splitmix64 */
  uint64_t z = (r->state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static inline int rng_below(Rng *r, int n) { return (int)(rng_next(r) % (uint64_t)n); }
static inline bool rng_chance(Rng *r, int percent) { return rng_below(r, 100) < percent; }

#endif
