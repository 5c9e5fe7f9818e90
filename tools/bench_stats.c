/* The statistics. A turn gives one figure, the median of its calls; a contender's figure is the
 * median of its turns. Confidence intervals are bootstrapped over turns: the calls of one turn are
 * not independent. Contenders of a case are resampled together, because what disturbs a round
 * disturbs all of them, so that a ratio is known better than its parts. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RESAMPLES = 600, MOST_TURNS = 4096 };

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

/* The median of the turns drawn from `state`: contenders with as many turns draw the same ones. */
static double resample(const Contender *c, uint64_t state) {
  double drawn[MOST_TURNS];
  int n = c->n_turns < MOST_TURNS ? c->n_turns : MOST_TURNS;
  for (int i = 0; i < n; i++) drawn[i] = c->turns[next_random(&state) % (uint32_t)n];
  return median_of(drawn, n);
}

static Ratio interval(double value, double *v, int n) {
  qsort(v, (size_t)n, sizeof *v, compare_doubles);
  return (Ratio){value, v[(int)(0.025 * n)], v[(int)(0.975 * n)]};
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
  qsort(c->times, (size_t)c->n_times, sizeof *c->times, compare_doubles);
  c->min = c->times[0];
  c->spread = (c->times[c->n_times * 3 / 4] - c->times[c->n_times / 4]) / c->median;
  c->gflops = k->cost.float_ops / c->median * 1e-9;
  c->percent = k->peak > 0 ? 100 * c->gflops * 1e9 / k->peak : 0;
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

Ratio mean_ratio(const Bench *b, const char *kernel, int threads, int i, int base,
                 const Case **lowest, double *lowest_ratio) {
  double sum = 0, sums[RESAMPLES] = {0};
  int n = 0;
  *lowest = NULL;
  *lowest_ratio = 0;
  for (int j = 0; j < b->n_measured; j++) {
    const Case *k = &b->cases[j];
    const Contender *c = &k->contenders[i], *to = &k->contenders[base];
    if (!is_chosen(b, k, kernel, threads) || !(c->median > 0) || !(to->median > 0)) continue;
    double ratio = to->median / c->median;
    if (!*lowest || ratio < *lowest_ratio) *lowest = k, *lowest_ratio = ratio;
    sum += log(ratio);
    for (int r = 0; r < RESAMPLES; r++) {
      uint64_t seed = (uint64_t)j * RESAMPLES + (uint64_t)r + 1;
      sums[r] += log(resample(to, seed) / resample(c, seed));
    }
    n++;
  }
  if (!n) return (Ratio){0};
  for (int r = 0; r < RESAMPLES; r++) sums[r] = exp(sums[r] / n);
  return interval(exp(sum / n), sums, RESAMPLES);
}

double mean_percent(const Bench *b, const char *kernel, int threads, int i) {
  double sum = 0;
  int n = 0;
  for (int j = 0; j < b->n_measured; j++) {
    const Contender *c = &b->cases[j].contenders[i];
    if (!is_chosen(b, &b->cases[j], kernel, threads) || !(c->percent > 0)) continue;
    sum += log(c->percent);
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
