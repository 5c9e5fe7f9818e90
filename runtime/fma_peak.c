/* The ceiling for float32 kernels, measured: twelve independent accumulators keep two FMA units of
 * latency 4 or 5 busy, and no memory is touched. */
#include "pool.h"
#include "timer.h"

#include <stddef.h>

#if defined(__x86_64__)
#include <immintrin.h>

enum { ACCUMULATORS = 12, LANES = 8, ROUNDS = 4000, REPEATS = 12 };

typedef struct Result {
  _Alignas(64) float sum;
} Result;

/* Twelve variables rather than an array, so that they are in registers at any optimisation level.
 */
#define EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define START(j) __m256 a##j = _mm256_set1_ps((float)j);
#define STEP(j) a##j = _mm256_fmadd_ps(a##j, x, y);
#define SUM(j) sum = _mm256_add_ps(sum, a##j);

__attribute__((target("avx2,fma"))) static void spin(int64_t i, void *closure) {
  Result *results = closure;
  __m256 x = _mm256_set1_ps(0.999f), y = _mm256_set1_ps(1e-3f), sum = _mm256_setzero_ps();
  EACH(START)
  for (int r = 0; r < ROUNDS; r++) {
    EACH(STEP)
  }
  EACH(SUM)
  results[i].sum = _mm256_cvtss_f32(sum);
}

double tirc_fma_peak(int threads) {
  enum { MOST = 256 };
  static const double flops = (double)(2 * LANES * ACCUMULATORS * ROUNDS);
  Result results[16 * MOST];
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 0;
  if (threads > MOST) threads = MOST;
  Pool *pool = tirc_pool_new(threads);
  if (!pool) return 0;
  /* The scheduler may leave a new worker beside the caller on one core for some 100 ms. */
  double best = 0, end = tirc_now() + (threads > 1 ? 0.3 : 0.1);
  for (int n = 0; n < REPEATS || tirc_now() < end; n++) {
    double start = tirc_now();
    tirc_pool_run(pool, 16 * threads, spin, (void *)results, threads);
    double rate = 16 * threads * flops / (tirc_now() - start);
    if (rate > best) best = rate;
  }
  tirc_pool_free(pool);
  return best;
}
#else
double tirc_fma_peak(int threads) {
  (void)threads;
  return 0;
}
#endif
