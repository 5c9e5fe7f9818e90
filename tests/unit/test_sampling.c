/* How candidates are timed, by a clock that is made up: calls that something else holds up decide
 * nothing. */
#include "runtime/measure/sampling.h"
#include "runtime/measure/statistics.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* A candidate that takes `seconds`, a machine that holds up every `every`-th call, `factor` times,
 * and a clock that takes some time itself. */
typedef struct Machine {
  double clock, seconds, factor, reading;
  int every, first, calls; /* first: which one */
} Machine;

static double call(void *self, int times) {
  Machine *m = self;
  double sum = m->reading;
  for (int i = 0; i < times; i++)
    sum += m->seconds * (m->every && m->calls++ % m->every == m->first ? m->factor : 1);
  m->clock += sum;
  return sum / times;
}

static double now(void *self) { return ((Machine *)self)->clock; }

static Samples take(Machine *m, double best) {
  Samples out;
  const Sampling s = {
      .seconds = 0.02, .hopeless = 4, .best = best, .call = call, .now = now, .self = m};
  assert_true(tirc_take_samples(&s, &out));
  return out;
}

static const double lengths[] = {1e-6, 1e-4, 1e-2, 1};
enum { N_LENGTHS = sizeof lengths / sizeof *lengths };

/* The fastest candidate, of which every third call is held up, wherever that begins. */
static void a_spike_drops_nothing(void **state) {
  (void)state;
  for (int l = 0; l < N_LENGTHS; l++)
    for (int every = 3; every < 6; every++)
      for (int first = 0; first < every; first++) {
        Machine m = {.seconds = lengths[l], .factor = 50, .every = every, .first = first};
        const Samples s = take(&m, 1.05 * lengths[l]);
        assert_false(s.is_bound);
        assert_true(s.n >= FEWEST_SAMPLES);
        m = (Machine){.seconds = lengths[l], .factor = 3, .every = every, .first = first};
        const Samples t = take(&m, 1.05 * lengths[l]);
        assert_false(t.is_bound);
        assert_true(tirc_fastest(t.n, t.at) < 2 * lengths[l]);
      }
}

/* What is really slow is told from few calls, and as a bound. */
static void what_is_slow_is_a_bound(void **state) {
  (void)state;
  for (int l = 0; l < N_LENGTHS; l++)
    for (int held = 0; held < 2; held++) {
      Machine m = {.seconds = 10 * lengths[l], .factor = 3, .every = held ? 2 : 0};
      const Samples s = take(&m, lengths[l]);
      assert_true(s.is_bound);
      assert_true(s.n >= FEWEST_SAMPLES);
      if (lengths[l] > 1e-4) assert_true(m.calls <= 4);
      const double least = tirc_fastest(s.n, s.at) / m.seconds;
      assert_true(least > 1 - 1e-9 && least < (held && l == 0 ? 3 : 1 + 1e-9));
    }
}

/* What is shorter than it takes to read the clock is no slower for that. */
static void the_clock_weighs_nothing(void **state) {
  (void)state;
  Machine m = {.seconds = 40e-9, .reading = 300e-9};
  const Samples s = take(&m, 40e-9);
  assert_false(s.is_bound);
  assert_true(tirc_median(s.n, s.at) < 41e-9);
}

/* Without a best nothing is hopeless; what cannot be called says so. */
static void without_a_best(void **state) {
  (void)state;
  Machine m = {.seconds = 5};
  const Samples s = take(&m, (double)INFINITY);
  assert_false(s.is_bound);
  assert_int_equal(s.n, FEWEST_SAMPLES);
  m.seconds = (double)INFINITY;
  Samples out;
  const Sampling none = {
      .seconds = 0.02, .hopeless = 4, .best = 1, .call = call, .now = now, .self = &m};
  assert_false(tirc_take_samples(&none, &out));
}

/* Times that differ are taken for longer, and a median is not moved by some that were held up. */
static void the_restless_are_timed_longer(void **state) {
  (void)state;
  Machine calm = {.seconds = 1e-3}, busy = {.seconds = 1e-3, .factor = 3, .every = 3};
  const Samples a = take(&calm, 1e-3), b = take(&busy, 1e-3);
  assert_true(fabs(tirc_median(a.n, a.at) - 1e-3) < 1e-12);
  assert_true(fabs(tirc_median(b.n, b.at) - 1e-3) < 1e-12);
  Machine wild = {.seconds = 1e-3, .factor = 2, .every = 2};
  const Samples c = take(&wild, 1e-3);
  assert_true(c.n > a.n);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_spike_drops_nothing),         cmocka_unit_test(what_is_slow_is_a_bound),
      cmocka_unit_test(the_clock_weighs_nothing),      cmocka_unit_test(without_a_best),
      cmocka_unit_test(the_restless_are_timed_longer),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
