/* float16 many at a time: what ir/dtype.h's functions give, in steps that a compiler makes vectors
 * of. Infinity, NaN and what rounds to them are left to those functions, for all of the values if
 * there is one. */
#ifndef TIRC_RUNTIME_EMULATE_HALF_H
#define TIRC_RUNTIME_EMULATE_HALF_H

#include "ir/dtype.h"
#include "runtime/interp/code.h"

enum { SOME_HALVES = 64 };
#define MOST_HALF 65520.0       /* what is less does not become infinity */
#define LEAST_NORMAL 0x38800000 /* 2^-14, as the bits of a float */

static inline int32_t bits_of_float(float x) {
  int32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
static inline float float_of_bits(int32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* without a branch */
static inline int32_t choose(bool which, int32_t a, int32_t b) { return b ^ ((a ^ b) & -which); }

/* at most SOME_HALVES of them */
static inline void halves_to_values(const uint16_t *restrict from, int n, Cell *restrict to) {
  int32_t bits[SOME_HALVES];
  uint16_t special = 0;
  for (int k = 0; k < n; k++)
    special |= (uint16_t)((uint16_t)((from[k] & 0x7fff) + 0x0400) & 0x8000);
  if (special) {
    for (int k = 0; k < n; k++) to[k].f = tirc_half_to_double(from[k]);
    return;
  }
  for (int k = 0; k < n; k++) bits[k] = from[k];
  for (int k = 0; k < n; k++) {
    const float magnitude = float_of_bits((bits[k] & 0x7fff) << 13) * 0x1p112f;
    to[k].f = (double)float_of_bits(bits_of_float(magnitude) | (bits[k] >> 15) * INT32_MIN);
  }
}

/* less than MOST_HALF, by their bits */
static inline bool are_small(const Cell *at, int n) {
  uint64_t beyond = 0, last;
  const double most = MOST_HALF;
  memcpy(&last, &most, sizeof last);
  for (int k = 0; k < n; k++) beyond |= last - 1 - ((uint64_t)at[k].i & INT64_MAX);
  return !(beyond >> 63);
}

/* Of values that float16 has; at most SOME_HALVES of them. */
static inline void values_to_halves(const Cell *restrict from, int n, uint16_t *restrict to) {
  float value[SOME_HALVES];
  int32_t half[SOME_HALVES];
  if (!are_small(from, n)) {
    for (int k = 0; k < n; k++) to[k] = tirc_double_to_half(from[k].f);
    return;
  }
  for (int k = 0; k < n; k++) value[k] = (float)from[k].f;
  for (int k = 0; k < n; k++) {
    const int32_t bits = bits_of_float(value[k]), magnitude = bits & INT32_MAX;
    const int32_t normal = (magnitude >> 13) - (112 << 10);
    const int32_t small = (int32_t)(float_of_bits(magnitude) * 0x1p24f);
    half[k] = (bits >> 16 & 0x8000) | choose(magnitude < LEAST_NORMAL, small, normal);
  }
  for (int k = 0; k < n; k++) to[k] = (uint16_t)half[k];
}

/* To the nearest value of float16, ties to even, of what is less than MOST_HALF. */
static inline float round_float_to_half(float x) {
  const int32_t bits = bits_of_float(x), magnitude = bits & INT32_MAX;
  const int32_t normal = (magnitude + 0xfff + (magnitude >> 13 & 1)) & ~0x1fff;
  const int32_t small = bits_of_float((float_of_bits(magnitude) + 0.5f) - 0.5f);
  return float_of_bits((bits & INT32_MIN) | choose(magnitude < LEAST_NORMAL, small, normal));
}
static inline double round_to_half(double x) {
  const double large = 0x1.8p28, magnitude = __builtin_fabs(x);
  const double small = __builtin_copysign((magnitude + large) - large, x);
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits += ((UINT64_C(1) << 41) - 1) + (bits >> 42 & 1);
  bits &= ~((UINT64_C(1) << 42) - 1);
  double normal;
  memcpy(&normal, &bits, sizeof normal);
  return magnitude < 0x1p-14 ? small : normal;
}

static inline void round_all_to_half(Cell *at, int n) {
  if (are_small(at, n))
    for (int k = 0; k < n; k++) at[k].f = round_to_half(at[k].f);
  else
    for (int k = 0; k < n; k++) at[k].f = tirc_half_to_double(tirc_double_to_half(at[k].f));
}

/* Of sums and products of two values of float16, and of values of float32: with two more than twice
 * the bits, float32 in between changes nothing (Figueroa, When is double rounding innocuous?). */
static inline void round_floats_to_half(Cell *at, int n) {
  float value[SOME_HALVES];
  if (!are_small(at, n)) {
    round_all_to_half(at, n);
    return;
  }
  for (int first = 0; first < n; first += SOME_HALVES, at += SOME_HALVES) {
    const int some = n - first < SOME_HALVES ? n - first : SOME_HALVES;
    for (int k = 0; k < some; k++) value[k] = (float)at[k].f;
    for (int k = 0; k < some; k++) value[k] = round_float_to_half(value[k]);
    for (int k = 0; k < some; k++) at[k].f = (double)value[k];
  }
}

#endif
