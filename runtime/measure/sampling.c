#include "sampling.h"

#include "statistics.h"

#include <math.h>

static const double WARM_UP = 0.004, SHORTEST = 200e-6; /* seconds of a sample */
static const double BRIEF = 50e-6;  /* seconds that the clock does not weigh on */
static const double RESTLESS = 1.1; /* median over the fastest */
static const double LONGER = 3;     /* times as long, for those that are restless */

static bool is_restless(const Samples *o) {
  return tirc_median(o->n, o->at) > RESTLESS * tirc_fastest(o->n, o->at);
}

/* Calls in a row that take so long together. */
static int calls_in(double seconds, double of_one) {
  return of_one < seconds ? (int)(seconds / (of_one + 1e-9)) + 1 : 1;
}

/* Several calls, until one of them is fast enough. The first one of all meets cold caches and new
 * pages, and is none of them. */
static bool try_hopeless(const Sampling *s, Samples *out) {
  const double limit = s->hopeless * s->best;
  double t = s->call(s->self, 1);
  while (t > limit && isfinite(t) && out->n < FEWEST_SAMPLES) {
    t = s->call(s->self, calls_in(BRIEF, t));
    out->at[out->n++] = t;
  }
  out->is_bound = isfinite(t) && t > limit;
  if (!out->is_bound) out->n = 0;
  return isfinite(t);
}

/* The seconds of the shortest call, before any is counted. */
static double warm_up(const Sampling *s) {
  const double end = s->now(s->self) + WARM_UP;
  double least = s->call(s->self, 1);
  while (s->now(s->self) < end) least = fmin(least, s->call(s->self, 1));
  return least;
}

bool tirc_take_samples(const Sampling *s, Samples *out) {
  *out = (Samples){0};
  if (!try_hopeless(s, out)) return false;
  if (out->is_bound) return true;
  const double least = warm_up(s);
  const int times = calls_in(SHORTEST, least);
  double spent = 0;
  while (out->n < MOST_SAMPLES && (out->n < FEWEST_SAMPLES || spent < s->seconds ||
                                   (spent < LONGER * s->seconds && is_restless(out)))) {
    const double t = s->call(s->self, times);
    if (!isfinite(t)) return false;
    out->at[out->n++] = t;
    spent += t * times;
  }
  return true;
}
