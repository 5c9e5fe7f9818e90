#include "statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t APART = UINT64_C(1) << 32; /* the numbers of other draws */

/* --- order ------------------------------------------------------------------------------------ */

static int compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void sort(double *v, int n) { qsort(v, (size_t)n, sizeof *v, compare_doubles); }

static double sort_for_median(double *v, int n) {
  sort(v, n);
  return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* On the heap; NULL: there are none, or memory is out. */
static double *sorted(int n, const double *values) {
  double *v = n > 0 ? malloc((size_t)n * sizeof *v) : NULL;
  if (v) memcpy(v, values, (size_t)n * sizeof *v), sort(v, n);
  return v;
}

double tirc_median(int n, const double *times) {
  double *v = sorted(n, times);
  const double median = v ? (v[(n - 1) / 2] + v[n / 2]) / 2 : n > 0 ? *times : (double)INFINITY;
  free(v);
  return median;
}

double tirc_fastest(int n, const double *times) {
  double least = (double)INFINITY;
  for (int i = 0; i < n; i++) least = fmin(least, times[i]);
  return least;
}

void tirc_quartiles(int n, const double *values, double *low, double *high) {
  double *v = sorted(n, values);
  *low = v ? v[n / 4] : 0;
  *high = v ? v[n - 1 - n / 4] : 0;
  free(v);
}

/* The place of x[i] in the order of x. */
static double place_of(const double *x, int n, int i) {
  double below = 0, equal = 0;
  for (int k = 0; k < n; k++) below += x[k] < x[i], equal += x[k] == x[i];
  return below + (equal + 1) / 2;
}

double tirc_rank_correlation(int n, const double *x, const double *y, int fewest) {
  double xy = 0, xx = 0, yy = 0, mean = (n + 1) / 2.0;
  for (int i = 0; i < n; i++) {
    const double a = place_of(x, n, i) - mean, b = place_of(y, n, i) - mean;
    xy += a * b, xx += a * a, yy += b * b;
  }
  return n < fewest ? (double)NAN : xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}

/* --- the bootstrap ---------------------------------------------------------------------------- */

static uint32_t next_random(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(*state >> 33);
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
static double resample(int n, const double *turns, uint64_t number) {
  uint64_t state = mix(number);
  double drawn[MOST_TURNS];
  if (n > MOST_TURNS) n = MOST_TURNS;
  for (int i = 0; i < n; i++) drawn[i] = turns[next_random(&state) % (uint32_t)n];
  return sort_for_median(drawn, n);
}

static tirc_ratio interval(double value, double *draws, int n_turns) {
  if (n_turns < ENOUGH_TURNS) return (tirc_ratio){value, 0, (double)INFINITY};
  sort(draws, RESAMPLES);
  return (tirc_ratio){value, draws[(int)(0.025 * RESAMPLES)], draws[(int)(0.975 * RESAMPLES)]};
}

bool tirc_is_interval(double low, double high) { return low > 0 && isfinite(high); }

static int lesser(int a, int b) { return a < b ? a : b; }

/* --- figures ---------------------------------------------------------------------------------- */

void tirc_sum_up(tirc_figures *f) {
  const int n = f->n_samples;
  double medians[RESAMPLES], *v = f->n_turns ? sorted(n, f->samples) : NULL;
  if (!v) return;
  f->median = tirc_median(lesser(f->n_turns, MOST_TURNS), f->turns);
  for (int r = 0; r < RESAMPLES; r++) medians[r] = resample(f->n_turns, f->turns, (uint64_t)r + 1);
  const tirc_ratio median = interval(f->median, medians, f->n_turns);
  f->low = median.low, f->high = median.high;
  f->fastest = v[0];
  f->spread = (v[n * 3 / 4] - v[n / 4]) / f->median;
  free(v);
}

bool tirc_take_figures(tirc_figures *f, int n_samples, const double *samples, int n_turns,
                       const int *turn_samples) {
  f->samples = calloc((size_t)n_samples + 1, sizeof *f->samples);
  f->turns = calloc((size_t)n_turns + 1, sizeof *f->turns);
  f->turn_samples = calloc((size_t)n_turns + 1, sizeof *f->turn_samples);
  if (!f->samples || !f->turns || !f->turn_samples) return false;
  if (n_samples) memcpy(f->samples, samples, (size_t)n_samples * sizeof *samples);
  f->n_samples = n_samples;
  for (int i = 0, at = 0; i < n_turns; at += turn_samples[i++]) {
    if (turn_samples[i] <= 0 || turn_samples[i] > n_samples - at) break;
    f->turn_samples[f->n_turns] = turn_samples[i];
    f->turns[f->n_turns++] = tirc_median(turn_samples[i], f->samples + at);
  }
  tirc_sum_up(f);
  return true;
}

void tirc_figures_clear(tirc_figures *f) {
  free(f->samples);
  free(f->turns);
  free(f->turn_samples);
  free(f->code);
  free(f->message);
  *f = (tirc_figures){0};
}

/* --- comparing -------------------------------------------------------------------------------- */

static bool has_figure(const tirc_figures *f) { return f && f->median > 0 && f->n_turns > 0; }

tirc_ratio tirc_ratio_of_turns(int n, const double *of, int n_base, const double *base) {
  double ratios[RESAMPLES];
  if (n <= 0 || n_base <= 0) return (tirc_ratio){0};
  for (int r = 0; r < RESAMPLES; r++)
    ratios[r] = resample(n_base, base, (uint64_t)r + 1) / resample(n, of, (uint64_t)r + 1);
  return interval(tirc_median(n_base, base) / tirc_median(n, of), ratios, lesser(n, n_base));
}

tirc_ratio tirc_times_as_fast(const tirc_figures *of, const tirc_figures *base) {
  if (!has_figure(of) || !has_figure(base)) return (tirc_ratio){0};
  return tirc_ratio_of_turns(of->n_turns, of->turns, base->n_turns, base->turns);
}

int tirc_side_of_one(const tirc_ratio *r) {
  if (!(r->value > 0)) return 0;
  return r->low > 1 ? 1 : r->high < 1 ? -1 : 0;
}

bool tirc_surely_faster(const tirc_figures *of, const tirc_figures *base) {
  const tirc_ratio r = tirc_times_as_fast(of, base);
  return tirc_side_of_one(&r) > 0;
}

bool tirc_mean_add(RatioMean *m, const tirc_figures *of, const tirc_figures *base, bool together) {
  if (!has_figure(of) || (base && !has_figure(base))) return false;
  for (int r = 0; r < RESAMPLES; r++) {
    const uint64_t number = (uint64_t)m->n * RESAMPLES + (uint64_t)r + 1;
    const double own = resample(of->n_turns, of->turns, number);
    m->draws[r] +=
        base ? log(resample(base->n_turns, base->turns, together ? number : number + APART) / own)
             : log(own);
  }
  m->sum += base ? log(base->median / of->median) : log(of->median);
  const int turns = base ? lesser(of->n_turns, base->n_turns) : of->n_turns;
  m->fewest_turns = m->n ? lesser(m->fewest_turns, turns) : turns;
  m->n++;
  return true;
}

tirc_ratio tirc_mean_end(const RatioMean *m, double power, double unit) {
  double draws[RESAMPLES];
  if (!m->n) return (tirc_ratio){0};
  for (int r = 0; r < RESAMPLES; r++) draws[r] = unit * exp(power * m->draws[r] / m->n);
  return interval(unit * exp(power * m->sum / m->n), draws, m->fewest_turns);
}
