/* Sums of products of bfloat16 as processors round them. A product of two is exact as a double; a
 * sum of two doubles that rounds to odd loses nothing that rounding it again, to a float, would
 * miss. */
#include "dot_sums.h"
#include "dtype.h"

#include <math.h>
#include <string.h>

static const double least = 0x1p-126;

static double flushed(double x, double limit) { return fabs(x) < limit ? copysign(0, x) : x; }

static double element(uint16_t bits) { return flushed(tirc_bfloat_to_double(bits), least); }

/* x + y, rounded to odd. */
static double odd_sum(double x, double y) {
  const double sum = x + y, part = sum - x, rest = (x - (sum - part)) + (y - part);
  uint64_t bits;
  memcpy(&bits, &sum, sizeof bits);
  if (!isfinite(sum) || rest == 0 || (bits & 1)) return sum;
  return nextafter(sum, rest > 0 ? INFINITY : -INFINITY);
}

/* Tiny is what would be below the least normal number once it is rounded to 24 bits. */
static float to_nearest(double x) { return (float)flushed(x, least - 0x1p-151); }

/* Towards zero, and the last bit set where that was no float; infinity from 2^128 on. */
static float to_odd(double x) {
  x = flushed(x, least);
  float near = (float)x;
  uint32_t bits;
  if (fabs(x) >= 0x1p128 || (double)near == x || isnan(x)) return near;
  memcpy(&bits, &near, sizeof bits);
  if (fabs((double)near) > fabs(x)) bits--;
  bits |= 1;
  memcpy(&near, &bits, sizeof bits);
  return near;
}

float tirc_dot_odd_even(float sum, const uint16_t a[2], const uint16_t b[2]) {
  for (int i = 1; i >= 0; i--)
    sum = to_nearest(odd_sum(element(a[i]) * element(b[i]), flushed((double)sum, least)));
  return sum;
}

float tirc_dot_to_odd(float sum, const uint16_t a[2], const uint16_t b[2]) {
  const float even = to_odd(element(a[0]) * element(b[0])),
              odd = to_odd(element(a[1]) * element(b[1])),
              both = to_odd(odd_sum((double)even, (double)odd));
  return to_odd(odd_sum(flushed((double)sum, least), (double)both));
}
