/* Figures from times, by what is known of the bootstrap; and contenders that misbehave. */
#define _GNU_SOURCE
#include "runtime/measure/statistics.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TURNS = 9 };

static tirc_figures figures_of(int n, const double *turns) {
  tirc_figures f = {0};
  int ones[64];
  for (int i = 0; i < n; i++) ones[i] = 1;
  assert_true(tirc_take_figures(&f, n, turns, n, ones));
  return f;
}

static double ways(int n, int k) { return k ? ways(n - 1, k - 1) * n / k : 1; }

/* The median of n draws from n sorted values is at most value k (from 1) when more than half of the
 * draws are among the first k. */
static double chance_up_to(int n, int k) {
  const double p = (double)k / n;
  double sum = 0;
  for (int i = (n + 1) / 2; i <= n; i++) sum += ways(n, i) * pow(p, i) * pow(1 - p, n - i);
  return sum;
}

static int quantile(int n, double part) {
  int k = 1;
  while (k < n && chance_up_to(n, k) < part) k++;
  return k;
}

static void test_intervals(void **state) {
  (void)state;
  for (int n = 5; n <= 31; n += 2) {
    double turns[31];
    for (int i = 0; i < n; i++) turns[(i * 7 + 3) % n] = i + 1;
    if (n % 7 == 0) continue; /* the order above is none then */
    tirc_figures f = figures_of(n, turns);
    assert_true(f.median == (n + 1) / 2);
    assert_true(fabs(f.low - quantile(n, 0.025)) <= 1);
    assert_true(fabs(f.high - quantile(n, 0.975)) <= 1);
    assert_true(f.fastest == 1 && f.low < f.median && f.median < f.high);
    tirc_figures_clear(&f);
  }
}

/* What disturbs a round disturbs both: their ratio is known exactly, though neither time is. */
static void test_pairs(void **state) {
  (void)state;
  const double slow[TURNS] = {10, 30, 12, 90, 10, 14, 40, 11, 10};
  double fast[TURNS], faster_once[TURNS];
  for (int i = 0; i < TURNS; i++) fast[i] = slow[i] / 2;
  for (int i = 0; i < TURNS; i++) faster_once[i] = i == 4 ? slow[i] / 2 : slow[i];
  tirc_figures a = figures_of(TURNS, fast), b = figures_of(TURNS, slow),
               c = figures_of(TURNS, faster_once);
  const tirc_ratio r = tirc_times_as_fast(&a, &b);
  assert_true(r.value == 2 && r.low == 2 && r.high == 2);
  assert_true(b.high / b.low > 2);
  assert_true(tirc_surely_faster(&a, &b));
  assert_false(tirc_surely_faster(&b, &a));
  assert_false(tirc_surely_faster(&b, &b));
  assert_false(tirc_surely_faster(&c, &b));
  RatioMean m = {0}, apart = {0}, times = {0};
  assert_true(tirc_mean_add(&m, &a, &b, true) && tirc_mean_add(&m, &b, &a, true));
  assert_true(tirc_mean_add(&apart, &a, &b, false));
  const tirc_ratio one = tirc_mean_end(&m, 1, 1), two = tirc_mean_end(&apart, -1, 1);
  assert_true(fabs(one.value - 1) < 1e-12);
  assert_true(fabs(two.value - 0.5) < 1e-12 && two.low < 0.5 && two.high > 0.5);
  assert_true(tirc_mean_add(&times, &b, NULL, false));
  assert_true(fabs(tirc_mean_end(&times, 1, 1e3).value - 12e3) < 1e-6);
  tirc_figures_clear(&a);
  tirc_figures_clear(&b);
  tirc_figures_clear(&c);
}

static void test_nothing(void **state) {
  (void)state;
  tirc_figures none = {0};
  RatioMean m = {0};
  const int beyond[] = {2, 5};
  const double samples[] = {1, 2, 3};
  assert_true(tirc_times_as_fast(&none, &none).value == 0);
  assert_false(tirc_mean_add(&m, &none, NULL, true));
  assert_true(tirc_mean_end(&m, 1, 1).value == 0);
  assert_true(isinf(tirc_median(0, NULL)));
  assert_true(tirc_take_figures(&none, 3, samples, 2, beyond)); /* a turn that is not there */
  assert_int_equal(none.n_turns, 1);
  assert_true(none.median == 1.5);
  tirc_figures_clear(&none);
}

/* One turn, or four, have no interval that would say anything: nothing is sure of them, alone or in
 * a mean of many settings. */
static void test_few_turns(void **state) {
  (void)state;
  const double slow[] = {10, 11, 12, 10, 11}, fast[] = {1, 1, 1, 1, 1};
  for (int n = 1; n <= 5; n++) {
    tirc_figures a = figures_of(n, fast), b = figures_of(n, slow), base = figures_of(5, slow);
    RatioMean m = {0};
    const tirc_ratio r = tirc_times_as_fast(&a, &b);
    assert_true(r.value >= 10);
    assert_true(n == 5 ? r.low >= 10 && isfinite(r.high) : r.low == 0 && isinf(r.high));
    assert_true(n == 5 ? a.low == 1 && a.high == 1 : a.low == 0 && isinf(a.high));
    assert_true(tirc_surely_faster(&a, &b) == (n == 5));
    assert_true(tirc_surely_faster(&a, &base) == (n == 5));
    assert_true(tirc_mean_add(&m, &b, &base, true) && tirc_mean_add(&m, &a, &base, true) &&
                tirc_mean_add(&m, &base, &base, true));
    const tirc_ratio mean = tirc_mean_end(&m, 1, 1);
    assert_true(tirc_is_interval(mean.low, mean.high) == (n == 5));
    tirc_figures_clear(&a);
    tirc_figures_clear(&b);
    tirc_figures_clear(&base);
  }
}

static void test_ranks(void **state) {
  (void)state;
  const double up[] = {1, 2, 5, 7, 9}, down[] = {9, 7, 5, 2, 1}, level[] = {3, 3, 3, 3, 3},
               tied[] = {1, 1, 5, 9, 9};
  assert_true(fabs(tirc_rank_correlation(5, up, up, 3) - 1) < 1e-12);
  assert_true(fabs(tirc_rank_correlation(5, up, down, 3) + 1) < 1e-12);
  assert_true(tirc_rank_correlation(5, up, level, 3) == 0);
  assert_true(isnan(tirc_rank_correlation(5, up, up, 6)));
  /* places 1.5, 1.5, 3, 4.5, 4.5 beside 1 to 5: 9 / sqrt(10 * 9) */
  assert_true(fabs(tirc_rank_correlation(5, up, tied, 3) - sqrt(0.9)) < 1e-12);
}

/* --- contenders ------------------------------------------------------------------------------- */

typedef struct Worker {
  int calls, fails_at, prepared, released;
  bool refuses;
} Worker;

static int prepare(void *self) {
  Worker *w = self;
  w->prepared++;
  return w->refuses;
}
static int work(void *self) {
  Worker *w = self;
  volatile double x = 1;
  for (int i = 0; i < 2000; i++) x = x * 1.0000001;
  return ++w->calls == w->fails_at;
}
static void release(void *self) { ((Worker *)self)->released++; }

static bool go_on(void *self) { return --*(int *)self > 0; }

/* A thread of the process's own, which somebody keeps on one core. */
static void *wait_on(void *end) {
  pthread_mutex_lock(end);
  pthread_mutex_unlock(end);
  return NULL;
}

/* Measuring on some cores keeps all threads there, and lets each go back to its own ones. */
static void test_cores(void **state) {
  (void)state;
  cpu_set_t all, last, own, now;
  pthread_mutex_t end = PTHREAD_MUTEX_INITIALIZER;
  pthread_t other;
  int core = CPU_SETSIZE - 1;
  assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
  while (!CPU_ISSET((size_t)core, &all)) core--;
  CPU_ZERO(&last);
  CPU_SET((size_t)core, &last);
  pthread_mutex_lock(&end);
  assert_int_equal(pthread_create(&other, NULL, wait_on, &end), 0);
  assert_int_equal(pthread_setaffinity_np(other, sizeof last, &last), 0);
  Worker w = {0};
  const tirc_contender c = {.name = "w", .self = &w, .call = work};
  const tirc_measure_options o = {.seconds = 1e-3, .turns = 1, .attempts = 1, .cores = 1};
  tirc_measurement *m;
  assert_int_equal(tirc_measure(1, &c, &o, &m, NULL), TIRC_OK);
  tirc_measurement_free(m);
  assert_int_equal(pthread_getaffinity_np(other, sizeof own, &own), 0);
  assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
  pthread_mutex_unlock(&end);
  pthread_join(other, NULL);
  assert_true(CPU_EQUAL(&own, &last));
  assert_true(CPU_EQUAL(&now, &all));
}

static void test_contenders(void **state) {
  (void)state;
  Worker w[3] = {{0}, {.fails_at = 20}, {.refuses = true}};
  tirc_contender c[3];
  tirc_measurement *m;
  const tirc_measure_options brief = {.seconds = 1e-3, .turns = 3, .attempts = 1};
  for (int i = 0; i < 3; i++)
    c[i] = (tirc_contender){
        .name = "w", .self = &w[i], .prepare = prepare, .call = work, .release = release};
  assert_int_equal(tirc_measure(3, c, &brief, &m, NULL), TIRC_OK);
  const tirc_figures *f[3];
  for (int i = 0; i < 3; i++) f[i] = tirc_measurement_figures(m, i);
  assert_null(tirc_measurement_figures(m, 3));
  assert_true(f[0]->median > 0 && !f[0]->code && f[0]->n_turns >= 3 && w[0].calls > f[0]->calls);
  assert_string_equal(f[1]->code, "failed");
  assert_int_equal(w[1].calls, 20);
  assert_string_equal(f[2]->code, "left-out");
  assert_int_equal(w[2].calls, 0);
  for (int i = 0; i < 3; i++) assert_true(w[i].prepared == 1 && w[i].released == 1);
  int sum = 0;
  for (int i = 0; i < f[0]->n_turns; i++) sum += f[0]->turn_samples[i];
  assert_int_equal(sum, f[0]->n_samples);
  assert_int_equal(tirc_measurement_conditions(m)->attempts, 1);
  tirc_measurement_free(m);
}

static double three_milliseconds(void *self) { return (void)self, 3e-3; }
static double unknown(void *self) { return (void)self, -1; }

/* A device's clock counts, and this one where it does not know. */
static void test_own_clock(void **state) {
  (void)state;
  Worker w = {0};
  tirc_contender c[2] = {{.name = "a", .self = &w, .call = work, .seconds = three_milliseconds},
                         {.name = "b", .self = &w, .call = work, .seconds = unknown}};
  const tirc_measure_options o = {.seconds = 1e-3, .turns = 1, .attempts = 1};
  tirc_measurement *m;
  assert_int_equal(tirc_measure(2, c, &o, &m, NULL), TIRC_OK);
  assert_true(fabs(tirc_measurement_figures(m, 0)->median - 3e-3) < 1e-9);
  assert_true(tirc_measurement_figures(m, 1)->median < 1e-3);
  tirc_measurement_free(m);
}

static void test_end(void **state) {
  (void)state;
  Worker w = {0};
  int left = 1;
  const tirc_contender c = {.name = "w", .self = &w, .call = work};
  const tirc_measure_options o = {.seconds = 1e9, .self = &left, .go_on = go_on};
  tirc_measurement *m;
  assert_int_equal(tirc_measure(1, &c, &o, &m, NULL), TIRC_OK);
  assert_true(tirc_measurement_figures(m, 0)->median == 0);
  tirc_measurement_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_intervals),  cmocka_unit_test(test_pairs),
      cmocka_unit_test(test_nothing),    cmocka_unit_test(test_ranks),
      cmocka_unit_test(test_few_turns),  cmocka_unit_test(test_cores),
      cmocka_unit_test(test_contenders), cmocka_unit_test(test_own_clock),
      cmocka_unit_test(test_end)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
