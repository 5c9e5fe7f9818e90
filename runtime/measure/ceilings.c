/* The ceilings of a kernel, each in the processor's vectors and with nothing else beside it:
 * float32 FMAs or operations on integers in registers, and bytes read and written (the roofline:
 * Williams, Waterman and Patterson, 2009). */
#include "runtime/api/api.h"
#include "runtime/kernel/timer.h"

#include <math.h>

#include <stdbool.h>

/* Pieces for the threads as in a good kernel: four each, so that one that loses its core for a
 * while leaves its share to the others, but none so small that its launch costs more than it. */
static int64_t count_pieces(int threads, double work, double least) {
  double most = work / least;
  int64_t pieces = threads > 1 ? 4 * (int64_t)threads : 1;
  return most < 1 ? 1 : most < (double)pieces ? (int64_t)most : pieces;
}

#if defined(__x86_64__)
#include <immintrin.h>

/* 512 or 256; 0: none. */
static int usable_bits(int bits) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 0;
  return bits >= 512 && __builtin_cpu_supports("avx512f") ? 512 : 256;
}

/* --- arithmetic ------------------------------------------------------------------------------- */

/* Independent accumulators, as many as leave room for two operands (12 of 16 registers, 24 of 32),
 * keep two FMA units of latency 4 or 5 busy. Variables rather than an array, so that they are in
 * registers at any optimisation level. */
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

#undef START
#undef STEP

/* The same of integers: sums of `bits` bits, or of products of 16 bits in pairs. Compilers know
 * what a sum of equal terms comes to, but not what x is. */
#define START(j) __m256i a##j = x;
#define STEP(j) a##j = STEP_OF(a##j);
#define SPIN_256(name)                                                                             \
  __attribute__((target("avx2"))) static void name(int64_t steps) {                                \
    __m256i x = _mm256_set1_epi16(3);                                                              \
    TWELVE(START)                                                                                  \
    for (int64_t i = 0; i < steps; i++) {                                                          \
      __asm__("" : "+x"(x));                                                                       \
      TWELVE(STEP)                                                                                 \
    }                                                                                              \
    TWELVE(USE)                                                                                    \
  }
#define STEP_OF(a) _mm256_add_epi8(a, x)
SPIN_256(add_8_in_256)
#undef STEP_OF
#define STEP_OF(a) _mm256_add_epi16(a, x)
SPIN_256(add_16_in_256)
#undef STEP_OF
#define STEP_OF(a) _mm256_add_epi32(a, _mm256_madd_epi16(a, x))
SPIN_256(add_pairs_in_256)
#undef STEP_OF
#define STEP_OF(a) _mm256_add_epi64(a, x)
SPIN_256(add_64_in_256)
#undef STEP_OF
#undef START

#define START(j) __m512i a##j = x;
#define SPIN_512(name)                                                                             \
  __attribute__((target("avx512bw"))) static void name(int64_t steps) {                            \
    __m512i x = _mm512_set1_epi16(3);                                                              \
    TWELVE(START)                                                                                  \
    TWELVE_MORE(START)                                                                             \
    for (int64_t i = 0; i < steps; i++) {                                                          \
      __asm__("" : "+v"(x));                                                                       \
      TWELVE(STEP)                                                                                 \
      TWELVE_MORE(STEP)                                                                            \
    }                                                                                              \
    TWELVE(USE)                                                                                    \
    TWELVE_MORE(USE)                                                                               \
  }
#define STEP_OF(a) _mm512_add_epi8(a, x)
SPIN_512(add_8_in_512)
#undef STEP_OF
#define STEP_OF(a) _mm512_add_epi16(a, x)
SPIN_512(add_16_in_512)
#undef STEP_OF
#define STEP_OF(a) _mm512_add_epi32(a, _mm512_madd_epi16(a, x))
SPIN_512(add_pairs_in_512)
#undef STEP_OF
#define STEP_OF(a) _mm512_add_epi64(a, x)
SPIN_512(add_64_in_512)
#undef STEP_OF
#undef START
#undef STEP

enum { STEP_256 = 2 * 8 * 12, STEP_512 = 2 * 16 * 24 }; /* operations of a step */

typedef struct Spin {
  void (*spin)(int64_t steps);
  int64_t steps, pieces;
} Spin;

static void run_spin(int64_t i, void *closure) {
  const Spin *s = closure;
  int64_t rest = s->steps % s->pieces;
  s->spin(s->steps / s->pieces + (i < rest));
}

static void run_steps(const tirc_runtime *r, int threads, double operations, int64_t step,
                      void (*spin)(int64_t steps)) {
  static const double MOST = 1e18, LEAST = 1e5;
  const int64_t n = (int64_t)(operations < MOST ? operations : MOST);
  Spin s = {spin, (n + step - 1) / step, count_pieces(threads, operations, LEAST)};
  if (n > 0 && s.pieces == 1)
    run_spin(0, &s);
  else if (n > 0)
    r->parallel_for(r->self, s.pieces, run_spin, &s, s.pieces);
}

/* Does so many float32 operations, two an FMA and lane, rounded up to some hundred, with FMAs in
 * registers and nothing else; in pieces, on the `threads` threads of r. bits: of the vectors; 512
 * where the processor has AVX-512F, otherwise 256. Returns those used; 0, and nothing was done,
 * when it has no AVX2 and FMA. */
static int run_fma(const tirc_runtime *r, int threads, int bits, double operations) {
  bits = usable_bits(bits);
  if (!bits) return 0;
  run_steps(r, threads, operations, bits == 512 ? STEP_512 : STEP_256,
            bits == 512 ? spin_512 : spin_256);
  return bits;
}

/* Likewise integers of `width` bits. */
static int run_integers(const tirc_runtime *r, int threads, int bits, int width,
                        double operations) {
  static const struct {
    int width, of_lane;
    void (*spin_256)(int64_t steps), (*spin_512)(int64_t steps);
  } rows[] = {{8, 1, add_8_in_256, add_8_in_512},
              {16, 1, add_16_in_256, add_16_in_512},
              {32, 4, add_pairs_in_256, add_pairs_in_512},
              {64, 1, add_64_in_256, add_64_in_512}};
  if (!__builtin_cpu_supports("avx2")) return 0;
  bits = bits >= 512 && __builtin_cpu_supports("avx512bw") ? 512 : 256;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].width == width) {
      run_steps(r, threads, operations, rows[i].of_lane * (bits / width) * (bits == 512 ? 24 : 12),
                bits == 512 ? rows[i].spin_512 : rows[i].spin_256);
      return bits;
    }
  return 0;
}

/* --- memory ----------------------------------------------------------------------------------- */

/* Lines of 64 bytes. */
typedef struct Lines {
  const char *from;
  char *to;
  int64_t read, written;
} Lines;

#define INLINE(cpu) __attribute__((target(cpu), always_inline)) static inline
INLINE("avx2") void read_256(const char *p) {
  __m256 low = _mm256_load_ps((const float *)(const void *)p);
  __m256 high = _mm256_load_ps((const float *)(const void *)(p + 32));
  __asm__ volatile("" : : "x"(low), "x"(high));
}
INLINE("avx2") void keep_256(char *p) {
  _mm256_store_ps((float *)(void *)p, _mm256_set1_ps(1));
  _mm256_store_ps((float *)(void *)(p + 32), _mm256_set1_ps(1));
}
INLINE("avx2") void send_256(char *p) {
  _mm256_stream_ps((float *)(void *)p, _mm256_set1_ps(1));
  _mm256_stream_ps((float *)(void *)(p + 32), _mm256_set1_ps(1));
}
INLINE("avx512f") void read_512(const char *p) {
  __m512 line = _mm512_load_ps(p);
  __asm__ volatile("" : : "v"(line));
}
INLINE("avx512f") void keep_512(char *p) { _mm512_store_ps(p, _mm512_set1_ps(1)); }
INLINE("avx512f") void send_512(char *p) {
  _mm512_stream_ps((float *)(void *)p, _mm512_set1_ps(1));
}

/* Some lines of the one, then as many of the other as are due: near enough for the processor to
 * have both under way at once. Past the caches reads go on at four places, which are fetched ahead
 * at a time: line i of four parts of `apart` lines each, and what those leave over. */
enum { LINE = 64, TURN = 32 };
#define SWEEP(name, cpu, places, use_read, use_write)                                              \
  __attribute__((target(cpu))) static void name(const Lines *l) {                                  \
    int64_t most = l->read > l->written ? l->read : l->written, turns = (most + TURN - 1) / TURN;  \
    double reads = (double)l->read / (double)turns, writes = (double)l->written / (double)turns;   \
    const int64_t apart = l->read / places * LINE, left = l->read % places;                        \
    const char *p = l->from;                                                                       \
    char *q = l->to;                                                                               \
    for (int64_t i = 1; i <= turns; i++) {                                                         \
      bool last = i == turns;                                                                      \
      const char *p_end = l->from + (last ? apart : (int64_t)((double)i * reads) / places * LINE); \
      const char *q_end = l->to + LINE * (last ? l->written : (int64_t)((double)i * writes));      \
      AT_PLACES_##places(p, p_end, use_read);                                                      \
      FOUR_AT_A_TIME(q, q_end, use_write)                                                          \
    }                                                                                              \
    for (p = l->from + places * apart; p < l->from + (places * apart + left * LINE); p += LINE)    \
      use_read(p);                                                                                 \
  }
#define FOUR_AT_A_TIME(at, end, use)                                                               \
  for (; end - at >= 4 * LINE; at += 4 * LINE)                                                     \
    use(at), use(at + LINE), use(at + 2 * LINE), use(at + 3 * LINE);                               \
  for (; at < end; at += LINE) use(at);
#define AT_PLACES_1(at, end, use) FOUR_AT_A_TIME(at, end, use)
#define AT_PLACES_4(at, end, use)                                                                  \
  for (; at < end; at += LINE) use(at), use(at + apart), use(at + 2 * apart), use(at + 3 * apart);
SWEEP(sweep_keep_256, "avx2", 1, read_256, keep_256)
SWEEP(sweep_send_256, "avx2", 4, read_256, send_256)
SWEEP(sweep_keep_512, "avx512f", 1, read_512, keep_512)
SWEEP(sweep_send_512, "avx512f", 4, read_512, send_512)

typedef struct Move {
  void (*sweep)(const Lines *);
  Lines all;
  int64_t pieces;
  bool past_caches;
} Move;

static void sweep(const Move *m, const Lines *part) {
  if (part->read + part->written == 0) return;
  m->sweep(part);
  if (m->past_caches) _mm_sfence(); /* such stores are in no order with others */
}

static void run_move(int64_t i, void *closure) {
  const Move *m = closure;
  int64_t r = m->all.read * i / m->pieces, r_end = m->all.read * (i + 1) / m->pieces;
  int64_t w = m->all.written * i / m->pieces, w_end = m->all.written * (i + 1) / m->pieces;
  Lines part = {m->all.from + r * LINE, m->all.to + w * LINE, r_end - r, w_end - w};
  sweep(m, &part);
}

/* Likewise: reads `read` bytes at `from` and writes ones (float32) to `written` bytes at `to`, a
 * little of the one and a little of the other in turns; whole lines of 64 bytes, so both are
 * rounded up, and from and to are aligned to 64. past_caches: by stores that do not keep the lines
 * in a cache, and by loads from four places at a time. */
static int run_moves(const tirc_runtime *r, int threads, int bits, const void *from, int64_t read,
                     void *to, int64_t written, bool past_caches) {
  static const double LEAST = 32768;
  bits = usable_bits(bits);
  if (!bits) return 0;
  Move m = {.all = {from, to, (read + LINE - 1) / LINE, (written + LINE - 1) / LINE},
            .pieces = count_pieces(threads, (double)read + (double)written, LEAST),
            .past_caches = past_caches};
  if (bits == 512)
    m.sweep = past_caches ? sweep_send_512 : sweep_keep_512;
  else
    m.sweep = past_caches ? sweep_send_256 : sweep_keep_256;
  if (m.pieces == 1)
    sweep(&m, &m.all); /* in nearest caches, divisions would count */
  else
    r->parallel_for(r->self, m.pieces, run_move, &m, m.pieces);
  return bits;
}
#else
static int run_fma(const tirc_runtime *r, int threads, int bits, double operations) {
  (void)r, (void)threads, (void)bits, (void)operations;
  return 0;
}
static int run_integers(const tirc_runtime *r, int threads, int bits, int width,
                        double operations) {
  (void)r, (void)threads, (void)bits, (void)width, (void)operations;
  return 0;
}
static int run_moves(const tirc_runtime *r, int threads, int bits, const void *from, int64_t read,
                     void *to, int64_t written, bool past_caches) {
  (void)r, (void)threads, (void)bits, (void)from, (void)read, (void)to, (void)written;
  (void)past_caches;
  return 0;
}
#endif

/* --- of an executor --------------------------------------------------------------------------- */

int tirc_executor_fma(tirc_executor *x, int vector_bits, double operations) {
  return !x || !isfinite(operations)
             ? 0
             : run_fma(tirc_api_runtime(x), tirc_executor_threads(x), vector_bits, operations);
}

int tirc_executor_integers(tirc_executor *x, int vector_bits, int bits, double operations) {
  return !x || !isfinite(operations) ? 0
                                     : run_integers(tirc_api_runtime(x), tirc_executor_threads(x),
                                                    vector_bits, bits, operations);
}

int tirc_executor_move(tirc_executor *x, int vector_bits, const void *from, int64_t read, void *to,
                       int64_t written, bool past_caches) {
  if (!x || read < 0 || written < 0 || (read && !from) || (written && !to)) return 0;
  return run_moves(tirc_api_runtime(x), tirc_executor_threads(x), vector_bits, from, read, to,
                   written, past_caches);
}

double tirc_machine_peak(int threads) {
  tirc_executor *x;
  double operations = 1e7 * threads, best = 0, end = tirc_now() + 0.1;
  if (threads < 1 || tirc_executor_new(threads, &x, NULL)) return 0;
  while (tirc_now() < end) {
    double start = tirc_now();
    if (!tirc_executor_fma(x, 256, operations)) break;
    best = fmax(best, operations / (tirc_now() - start));
  }
  tirc_executor_free(x);
  return best;
}
