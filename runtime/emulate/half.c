/* Where the processor has instructions for it, they do it; elsewhere steps that a compiler makes
 * vectors of. Infinity, NaN and what rounds to them are left to ir/dtype.h's functions, for all of
 * the values if there is one. */
#include "half.h"

#include "ir/dtype.h"

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
static void halves_to_values(const uint16_t *restrict from, int n, Cell *restrict to) {
  int32_t bits[SOME_HALVES];
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
static void values_to_halves(const Cell *restrict from, int n, uint16_t *restrict to) {
  float value[SOME_HALVES];
  int32_t half[SOME_HALVES];
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

void tirc_emu_round_to_half(Cell *at, int n) {
  if (are_small(at, n))
    for (int k = 0; k < n; k++) at[k].f = round_to_half(at[k].f);
  else
    for (int k = 0; k < n; k++) at[k].f = tirc_half_to_double(tirc_double_to_half(at[k].f));
}

static void round_floats(Cell *at, int n) {
  float value[SOME_HALVES];
  for (int first = 0; first < n; first += SOME_HALVES, at += SOME_HALVES) {
    const int some = n - first < SOME_HALVES ? n - first : SOME_HALVES;
    for (int k = 0; k < some; k++) value[k] = (float)at[k].f;
    for (int k = 0; k < some; k++) value[k] = round_float_to_half(value[k]);
    for (int k = 0; k < some; k++) at[k].f = (double)value[k];
  }
}

/* --- with instructions ------------------------------------------------------------------------ */

#if defined(__x86_64__)
#include <immintrin.h>

/* What has AVX2 has F16C, too. */
#define VECTORS __attribute__((target("avx2,f16c")))
static bool has_vectors(void) { return __builtin_cpu_supports("avx2"); }

VECTORS static int halves_to_values_4(const uint16_t *from, int n, Cell *to) {
  int k = 0;
  for (; k + 4 <= n; k += 4) {
    const __m128i bits = _mm_loadl_epi64((const __m128i *)(const void *)(from + k));
    _mm256_storeu_pd(&to[k].f, _mm256_cvtps_pd(_mm_cvtph_ps(bits)));
  }
  return k;
}
VECTORS static int values_to_halves_4(const Cell *from, int n, uint16_t *to) {
  int k = 0;
  for (; k + 4 <= n; k += 4) {
    const __m128 x = _mm256_cvtpd_ps(_mm256_loadu_pd(&from[k].f));
    _mm_storel_epi64((__m128i *)(void *)(to + k), _mm_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
  }
  return k;
}
VECTORS static int round_floats_4(Cell *at, int n) {
  int k = 0;
  for (; k + 4 <= n; k += 4) {
    const __m128 x = _mm256_cvtpd_ps(_mm256_loadu_pd(&at[k].f));
    const __m128i half = _mm_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT);
    _mm256_storeu_pd(&at[k].f, _mm256_cvtps_pd(_mm_cvtph_ps(half)));
  }
  return k;
}
#else
static bool has_vectors(void) { return false; }
static int halves_to_values_4(const uint16_t *f, int n, Cell *t) { return (void)f, (void)t, n - n; }
static int values_to_halves_4(const Cell *f, int n, uint16_t *t) { return (void)f, (void)t, n - n; }
static int round_floats_4(Cell *at, int n) { return (void)at, n - n; }
#endif

/* --- all of them ------------------------------------------------------------------------------ */

void tirc_emu_halves_to_values(const uint16_t *from, int n, Cell *to) {
  uint16_t special = 0;
  for (int k = 0; k < n; k++)
    special |= (uint16_t)((uint16_t)((from[k] & 0x7fff) + 0x0400) & 0x8000);
  if (special) {
    for (int k = 0; k < n; k++) to[k].f = tirc_half_to_double(from[k]);
    return;
  }
  const int done = has_vectors() ? halves_to_values_4(from, n, to) : 0;
  halves_to_values(from + done, n - done, to + done);
}

void tirc_emu_values_to_halves(const Cell *from, int n, uint16_t *to) {
  if (!are_small(from, n)) {
    for (int k = 0; k < n; k++) to[k] = tirc_double_to_half(from[k].f);
    return;
  }
  const int done = has_vectors() ? values_to_halves_4(from, n, to) : 0;
  values_to_halves(from + done, n - done, to + done);
}

void tirc_emu_round_floats_to_half(Cell *at, int n) {
  if (!are_small(at, n)) {
    tirc_emu_round_to_half(at, n);
    return;
  }
  const int done = has_vectors() ? round_floats_4(at, n) : 0;
  round_floats(at + done, n - done);
}
