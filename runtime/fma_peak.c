/* The ceiling for float32 kernels: FMAs in registers, no memory. Independent accumulators, as many
 * as leave room for two operands (12 of 16 registers, 24 of 32), keep two FMA units of latency 4 or
 * 5 busy. */
#include "timer.h"

#include <stdbool.h>

#if defined(__x86_64__)
#include <immintrin.h>

/* Variables rather than an array, so that they are in registers at any optimisation level. */
#define TWELVE(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define TWELVE_MORE(X) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23)
#define USE(j) __asm__ volatile("" : : "v"(a##j));

#define START(j) __m256 a##j = _mm256_set1_ps((float)j);
#define STEP(j) a##j = _mm256_fmadd_ps(a##j, x, y);
__attribute__((target("avx2,fma"))) static void spin_256(int64_t steps) {
  __m256 x = _mm256_set1_ps(0.999f), y = _mm256_set1_ps(1e-3f);
  TWELVE(START)
  for (int64_t i = 0; i < steps; i++) {
    TWELVE(STEP)
  }
  TWELVE(USE)
}
#undef START
#undef STEP

#define START(j) __m512 a##j = _mm512_set1_ps((float)j);
#define STEP(j) a##j = _mm512_fmadd_ps(a##j, x, y);
__attribute__((target("avx512f"))) static void spin_512(int64_t steps) {
  __m512 x = _mm512_set1_ps(0.999f), y = _mm512_set1_ps(1e-3f);
  TWELVE(START)
  TWELVE_MORE(START)
  for (int64_t i = 0; i < steps; i++) {
    TWELVE(STEP)
    TWELVE_MORE(STEP)
  }
  TWELVE(USE)
  TWELVE_MORE(USE)
}

enum { STEP_256 = 2 * 8 * 12, STEP_512 = 2 * 16 * 24 }; /* operations of a step */

typedef struct Spin {
  void (*spin)(int64_t steps);
  int64_t steps, pieces;
} Spin;

static void run_piece(int64_t i, void *closure) {
  const Spin *s = closure;
  int64_t rest = s->steps % s->pieces;
  s->spin(s->steps / s->pieces + (i < rest));
}

/* Pieces for the threads as in a good kernel: four each, so that one that loses its core for a
 * while leaves its share to the others, but none so small that its launch costs more than it. */
static int64_t count_pieces(int threads, double operations) {
  static const double LEAST = 1e5;
  double most = operations / LEAST;
  int64_t pieces = threads > 1 ? 4 * (int64_t)threads : 1;
  return most < 1 ? 1 : most < (double)pieces ? (int64_t)most : pieces;
}

int tirc_fma_run(const tirc_runtime *r, int threads, int bits, double operations) {
  static const double MOST = 1e18;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 0;
  bool wide = bits >= 512 && __builtin_cpu_supports("avx512f");
  int64_t step = wide ? STEP_512 : STEP_256;
  int64_t n = (int64_t)(operations < MOST ? operations : MOST);
  Spin s = {wide ? spin_512 : spin_256, (n + step - 1) / step, count_pieces(threads, operations)};
  if (n > 0) r->parallel_for(r->self, s.pieces, run_piece, &s, s.pieces);
  return wide ? 512 : 256;
}
#else
int tirc_fma_run(const tirc_runtime *r, int threads, int bits, double operations) {
  (void)r, (void)threads, (void)bits, (void)operations;
  return 0;
}
#endif
