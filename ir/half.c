/* float16 and bfloat16 as numbers. Both are small IEEE formats, so one pair of functions serves
 * them: a format is the number of its mantissa bits and its exponent bits. Narrowing rounds a
 * double once, to nearest, ties to even. */
#include "dtype.h"

#include <math.h>

typedef struct Format {
  int mantissa, exponent;
} Format;
static const Format half_format = {10, 5}, bfloat_format = {7, 8};

static double widen(uint16_t h, Format f) {
  int bias = (1 << (f.exponent - 1)) - 1, top = (1 << f.exponent) - 1;
  int e = (h >> f.mantissa) & top, m = h & ((1 << f.mantissa) - 1);
  double v = e == top ? (m ? NAN : INFINITY)
             : e == 0 ? ldexp(m, 1 - bias - f.mantissa)
                      : ldexp(m + (1 << f.mantissa), e - bias - f.mantissa);
  return h & 0x8000 ? -v : v;
}

/* x >> shift, rounded to nearest, ties to even. */
static uint64_t shift_round(uint64_t x, int shift) {
  if (shift > 63) return 0;
  uint64_t q = x >> shift, rest = x & ((UINT64_C(1) << shift) - 1);
  uint64_t tie = UINT64_C(1) << (shift - 1);
  return q + (rest > tie || (rest == tie && (q & 1)) ? 1 : 0);
}

static uint16_t narrow(double v, Format f) {
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  int bias = (1 << (f.exponent - 1)) - 1, top = (1 << f.exponent) - 1;
  int e = (int)(bits >> 52 & 0x7ff) - 1023;
  uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
  unsigned sign = (unsigned)(bits >> 63) << 15, infinity = (unsigned)top << f.mantissa;
  if (e == 1024 && fraction) return (uint16_t)(sign | infinity | 1u << (f.mantissa - 1));
  if (e > bias) return (uint16_t)(sign | infinity);
  if (e == -1023) return (uint16_t)sign; /* zero, and doubles far below the least subnormal */
  uint64_t m = fraction | UINT64_C(1) << 52;
  int shift = 52 - f.mantissa, least = 1 - bias;
  if (e < least) return (uint16_t)(sign | shift_round(m, shift + least - e));
  /* A carry out of the mantissa moves into the exponent, up to infinity, by itself. */
  uint64_t r = shift_round(m, shift) + ((uint64_t)(e + bias - 1) << f.mantissa);
  return (uint16_t)(sign | r);
}

double tirc_half_to_double(uint16_t h) { return widen(h, half_format); }
uint16_t tirc_double_to_half(double v) { return narrow(v, half_format); }
double tirc_bfloat_to_double(uint16_t h) { return widen(h, bfloat_format); }
uint16_t tirc_double_to_bfloat(double v) { return narrow(v, bfloat_format); }

uint16_t tirc_double_to_16_bits(DType t, double v) {
  return t.code == TYPE_BFLOAT ? tirc_double_to_bfloat(v) : tirc_double_to_half(v);
}
