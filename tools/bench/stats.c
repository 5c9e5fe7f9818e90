/* The statistics. A turn gives one figure, the median of its calls; a contender's figure is the
 * median of its turns. Confidence intervals are bootstrapped over turns: the calls of one turn are
 * not independent. Contenders of a case are resampled together, because what disturbs a round
 * disturbs all of them, so that a ratio is known better than its parts. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TURNS = 4096 };

static const uint64_t APART = UINT64_C(1) << 32; /* the numbers of other draws */

/* The same figures give the same intervals. */
static uint32_t next_random(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(*state >> 33);
}

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median_of(double *v, int n) {
  qsort(v, (size_t)n, sizeof *v, compare_doubles);
  return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* Numbers that follow each other have draws that have nothing to do with each other (Steele et al.,
 * SplitMix, 2014). */
static uint64_t mix(uint64_t z) {
  z += UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

/* The median of the turns drawn from `number`: contenders with as many turns draw the same ones. */
static double resample(const Contender *c, uint64_t number) {
  uint64_t state = mix(number);
  double drawn[MOST_TURNS];
  int n = c->n_turns < MOST_TURNS ? c->n_turns : MOST_TURNS;
  for (int i = 0; i < n; i++) drawn[i] = c->turns[next_random(&state) % (uint32_t)n];
  return median_of(drawn, n);
}

Ratio interval(double value, double *v, int n) {
  qsort(v, (size_t)n, sizeof *v, compare_doubles);
  return (Ratio){value, v[(int)(0.025 * n)], v[(int)(0.975 * n)]};
}

double median_of_copy(const double *v, int n) {
  double *copy = malloc((size_t)n * sizeof *copy);
  if (!copy) return v[0];
  memcpy(copy, v, (size_t)n * sizeof *copy);
  const double median = median_of(copy, n);
  free(copy);
  return median;
}

/* What is of all calls, whatever turn they belong to. */
static void sum_up_calls(Contender *c) {
  const int n = c->n_times;
  double *sorted = malloc((size_t)n * sizeof *sorted);
  if (!sorted) return;
  memcpy(sorted, c->times, (size_t)n * sizeof *sorted);
  qsort(sorted, (size_t)n, sizeof *sorted, compare_doubles);
  c->min = sorted[0];
  c->spread = (sorted[n * 3 / 4] - sorted[n / 4]) / c->median;
  free(sorted);
}

void summarise(const Case *k, Contender *c) {
  if (c->skipped || !c->n_turns) return;
  double turns[MOST_TURNS], medians[RESAMPLES];
  int n = c->n_turns < MOST_TURNS ? c->n_turns : MOST_TURNS;
  memcpy(turns, c->turns, (size_t)n * sizeof *turns);
  c->median = median_of(turns, n);
  for (int r = 0; r < RESAMPLES; r++) medians[r] = resample(c, (uint64_t)r + 1);
  Ratio median = interval(c->median, medians, RESAMPLES);
  c->low = median.low, c->high = median.high;
  sum_up_calls(c);
  c->gflops = c->ceiling == &bandwidth_ceiling ? 0 : k->cost.float_ops / c->median * 1e-9;
  c->gbytes = c->ceiling == &fma_ceiling
                  ? 0
                  : (double)(k->bytes_read + k->bytes_written) / c->median * 1e-9;
}

Ratio ratio_to(const Contender *of, const Contender *base) {
  double ratios[RESAMPLES];
  if (!of || !base || !(of->median > 0) || !(base->median > 0)) return (Ratio){0};
  for (int r = 0; r < RESAMPLES; r++)
    ratios[r] = resample(base, (uint64_t)r + 1) / resample(of, (uint64_t)r + 1);
  return interval(base->median / of->median, ratios, RESAMPLES);
}

bool is_chosen(const Bench *b, const Case *k, const char *kernel, int threads) {
  return k < b->cases + b->n_measured && (!kernel || strcmp(kernel, k->kernel) == 0) &&
         (!threads || threads == k->threads);
}

bool was_measured(const Bench *b, const char *kernel, int threads, int i) {
  for (int j = 0; j < b->n_measured; j++)
    if (is_chosen(b, &b->cases[j], kernel, threads) && b->cases[j].contenders[i].median > 0)
      return true;
  return false;
}

/* A geometric mean in the making. */
typedef struct Mean {
  double sum, sums[RESAMPLES];
  int n;
  const Case *lowest;
  double lowest_ratio;
} Mean;

/* of and base draw the same turns, unless `apart` says that they had none in common. */
static void add_ratio(Mean *m, const Case *k, const Contender *of, const Contender *base,
                      uint64_t apart) {
  if (!base || !(of->median > 0) || !(base->median > 0)) return;
  double ratio = base->median / of->median;
  if (!m->n || ratio < m->lowest_ratio) m->lowest = k, m->lowest_ratio = ratio;
  for (int r = 0; r < RESAMPLES; r++) {
    uint64_t seed = (uint64_t)m->n * RESAMPLES + (uint64_t)r + 1;
    m->sums[r] += log(resample(base, seed + apart) / resample(of, seed));
  }
  m->sum += log(ratio);
  m->n++;
}

double draw_log_ratio(const Contender *of, const Contender *base, uint64_t number, bool together) {
  return log(resample(base, together ? number : number + APART) / resample(of, number));
}

double draw_log_seconds(const Contender *c, uint64_t number) { return log(resample(c, number)); }

static Ratio end_mean(Mean *m, const Case **lowest, double *lowest_ratio) {
  *lowest = m->lowest;
  *lowest_ratio = m->lowest_ratio;
  if (!m->n) return (Ratio){0};
  for (int r = 0; r < RESAMPLES; r++) m->sums[r] = exp(m->sums[r] / m->n);
  return interval(exp(m->sum / m->n), m->sums, RESAMPLES);
}

Ratio mean_ratio(const Bench *b, const char *kernel, int threads, int i, int base,
                 const Case **lowest, double *lowest_ratio) {
  Mean m = {0};
  for (int j = 0; j < b->n_measured; j++) {
    const Case *k = &b->cases[j];
    if (is_chosen(b, k, kernel, threads))
      add_ratio(&m, k, &k->contenders[i],
                base == BINDING ? binding_ceiling(k) : &k->contenders[base], 0);
  }
  return end_mean(&m, lowest, lowest_ratio);
}

int fewest_threads(const Bench *b) {
  int fewest = b->threads[0].threads;
  for (int t = 1; t < b->n_threads; t++)
    if (b->threads[t].threads < fewest) fewest = b->threads[t].threads;
  return fewest;
}

/* The same setting on other threads; NULL while it was not measured. */
static const Case *same_on(const Bench *b, const Case *k, int threads) {
  int settings = b->n_cases / b->n_threads, setting = (int)(k - b->cases) % settings;
  for (int j = setting; j < b->n_measured; j += settings)
    if (b->cases[j].threads == threads) return &b->cases[j];
  return NULL;
}

Ratio mean_scaling(const Bench *b, const char *kernel, int threads, int i, const Case **lowest,
                   double *lowest_ratio) {
  Mean m = {0};
  for (int j = 0; j < b->n_measured; j++) {
    const Case *k = &b->cases[j];
    const Case *from = is_chosen(b, k, kernel, threads) ? same_on(b, k, fewest_threads(b)) : NULL;
    if (from) add_ratio(&m, k, &k->contenders[i], &from->contenders[i], APART);
  }
  return end_mean(&m, lowest, lowest_ratio);
}

double mean_best_share(const Bench *b, const char *kernel, int threads, int i) {
  double sum = 0;
  int n = 0;
  for (int j = 0; j < b->n_measured; j++) {
    const Case *k = &b->cases[j];
    double share = best_seconds(b, k) / k->contenders[i].median;
    if (!is_chosen(b, k, kernel, threads) || !(k->contenders[i].median > 0) || !(share > 0))
      continue;
    sum += log(share);
    n++;
  }
  return n ? exp(sum / n) : 0;
}

int list_kernels(const Bench *b, const char **out, int most) {
  int n = 0;
  for (int j = 0; j < b->n_measured && n < most; j++) {
    int i = 0;
    while (i < n && strcmp(out[i], b->cases[j].kernel) != 0) i++;
    if (i == n) out[n++] = b->cases[j].kernel;
  }
  return n;
}
