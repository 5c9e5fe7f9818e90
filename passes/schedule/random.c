/* See random.h. */
#include "random.h"

#include <math.h>

enum { MULTIPLIER = 48271, MODULUS = 2147483647 };

Random tirc_random(int64_t seed) {
  int64_t state = seed % MODULUS;
  return (Random){state == 0 ? 1 : state < 0 ? state + MODULUS : state};
}

static int64_t draw(Random *r) { return r->state = r->state * MULTIPLIER % MODULUS; }

int64_t tirc_random_fork(Random *r) {
  return draw(r) * 32767 % 1999999973; /* other parameters, so that the two sequences differ */
}

int tirc_random_int(Random *r, int min, int end) {
  int64_t range = (int64_t)end - min, drawn;
  if (range <= 1) return min;
  /* Equal buckets; numbers behind the last one are drawn again. */
  const int64_t scale = (MODULUS - 1) / range;
  do drawn = draw(r);
  while (drawn >= range * scale);
  return min + (int)(drawn / scale);
}

/* In [0, 1) with 53 bits: two numbers as digits to the base MODULUS. */
static double draw_unit(Random *r) {
  double low = (double)draw(r), high = (double)draw(r);
  const double base = MODULUS, unit = (low + high * base) / (base * base);
  return unit >= 1 ? nextafter(1, 0) : unit;
}

int tirc_random_weighted(Tirc *c, Random *r, int n, const double *weights) {
  if (n < 2) return 0;
  double *until = tirc_new_array(c, double, n), sum = 0, total = 0;
  for (int i = 0; i < n; i++) sum += weights[i];
  for (int i = 0; i < n; i++) until[i] = total += weights[i] / sum;
  until[n - 1] = 1;
  double at = draw_unit(r);
  int i = 0;
  while (i < n - 1 && until[i] < at) i++;
  return i;
}

static void sort(int n, int *at) {
  for (int i = 1; i < n; i++)
    for (int j = i; j > 0 && at[j - 1] > at[j]; j--) {
      int lower = at[j];
      at[j] = at[j - 1];
      at[j - 1] = lower;
    }
}

/* k different numbers of 0 .. n-1, in increasing order. */
static void choose(Tirc *c, Random *r, int n, int k, int *out) {
  if (k == 2) { /* two draws without a table */
    out[0] = tirc_random_int(r, 0, n);
    out[1] = tirc_random_int(r, 0, n - 1);
    out[1] += out[1] >= out[0];
  } else {
    int *order = tirc_new_array(c, int, n);
    for (int i = 0; i < n; i++) order[i] = i;
    for (int i = 0; i < k; i++) {
      int j = tirc_random_int(r, i, n);
      out[i] = order[j];
      order[j] = order[i];
    }
  }
  sort(k, out);
}

static int64_t power(int64_t base, int exponent) {
  int64_t result = 1;
  while (exponent-- > 0) result *= base;
  return result;
}

/* Spreads prime^count over the factors: the gaps between n - 1 bars among count + n - 1 places. */
static void spread(Tirc *c, Random *r, int prime, int count, int n, int64_t *factors) {
  if (n == 2) {
    int first = tirc_random_int(r, 0, count + 1);
    factors[0] *= power(prime, first);
    factors[1] *= power(prime, count - first);
    return;
  }
  if (count == 1) {
    factors[tirc_random_int(r, 0, n)] *= prime;
    return;
  }
  int *bars = tirc_new_array(c, int, n), last = -1;
  choose(c, r, count + n - 1, n - 1, bars);
  bars[n - 1] = count + n - 1;
  for (int i = 0; i < n; i++) {
    factors[i] *= power(prime, bars[i] - last - 1);
    last = bars[i];
  }
}

void tirc_random_tile(Tirc *c, Random *r, int extent, int n, int64_t *factors) {
  enum { LARGE = 65536 }; /* a larger prime is drawn as one, whatever n is */
  for (int i = 0; i < n; i++) factors[i] = 1;
  if (n == 1) factors[0] = extent;
  if (n == 1 || extent == 1) return;
  for (int64_t prime = 2; extent > 1; prime++) {
    if (prime * prime > extent) prime = extent;
    int count = 0;
    for (; extent % prime == 0; extent /= (int)prime) count++;
    if (count && prime >= LARGE)
      factors[tirc_random_int(r, 0, n)] *= prime;
    else if (count)
      spread(c, r, (int)prime, count, n, factors);
  }
}
