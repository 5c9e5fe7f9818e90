/* float16 many at a time: what ir/dtype.h's functions give, without a branch for all but the last
 * exponent (infinity and NaN), which is left to those. */
#ifndef TIRC_RUNTIME_EMULATE_HALF_H
#define TIRC_RUNTIME_EMULATE_HALF_H

#include "ir/dtype.h"

static inline bool half_is_special(uint16_t h) { return (h & 0x7c00) == 0x7c00; }

static inline double half_value(uint16_t h) {
  const uint32_t magnitude = (uint32_t)(h & 0x7fff) << 13, sign = (uint32_t)(h & 0x8000) << 16;
  float f;
  memcpy(&f, &magnitude, sizeof f);
  f *= 0x1p112f;
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  bits |= sign;
  memcpy(&f, &bits, sizeof f);
  return half_is_special(h) ? tirc_half_to_double(h) : (double)f;
}

/* Of a value that float16 has. */
static inline uint16_t half_bits(double x) {
  const float f = (float)x;
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  const uint32_t magnitude = bits & 0x7fffffff, sign = bits >> 16 & 0x8000;
  if (magnitude >= 0x47800000) return tirc_double_to_half(x);
  if (magnitude >= 0x38800000) return (uint16_t)(sign | ((magnitude >> 13) - (112 << 10)));
  return (uint16_t)(sign | (uint32_t)(__builtin_fabsf(f) * 0x1p24f));
}

/* To the nearest value of float16, ties to even. */
static inline double round_to_half(double x) {
  const double large = 0x1.8p28, magnitude = __builtin_fabs(x);
  if (!(magnitude < 65520)) return tirc_half_to_double(tirc_double_to_half(x));
  if (magnitude < 0x1p-14) return __builtin_copysign((magnitude + large) - large, x);
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits += ((UINT64_C(1) << 41) - 1) + (bits >> 42 & 1);
  bits &= ~((UINT64_C(1) << 42) - 1);
  memcpy(&x, &bits, sizeof x);
  return x;
}

#endif
