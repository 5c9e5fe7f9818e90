/* float16 many at a time: what ir/dtype.h's functions give, without a branch, so that a compiler
 * makes vectors of it. Infinity, NaN and what rounds to them are left to those functions, for all
 * of the values if there is one. */
#ifndef TIRC_RUNTIME_EMULATE_HALF_H
#define TIRC_RUNTIME_EMULATE_HALF_H

#include "ir/dtype.h"

/* Of a finite one. */
static inline double half_value(uint16_t h) {
  const uint32_t magnitude = (uint32_t)(h & 0x7fff) << 13, sign = (uint32_t)(h & 0x8000) << 16;
  float f;
  memcpy(&f, &magnitude, sizeof f);
  f *= 0x1p112f;
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  bits |= sign;
  memcpy(&f, &bits, sizeof f);
  return (double)f;
}

/* Of a finite value that float16 has. */
static inline uint16_t half_bits(double x) {
  const float f = (float)x;
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  const uint32_t magnitude = bits & 0x7fffffff, sign = bits >> 16 & 0x8000;
  const uint32_t normal = (magnitude >> 13) - (112 << 10);
  const uint32_t small = (uint32_t)(int32_t)(__builtin_fabsf(f) * 0x1p24f);
  return (uint16_t)(sign | (magnitude >= 0x38800000 ? normal : small));
}

/* To the nearest value of float16, ties to even, of less than MOST_HALF. */
#define MOST_HALF 65520.0
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

#endif
