/* From calls to figures: how often a candidate is called, what of it counts, and when it is
 * hopeless.
 *
 * Nothing is concluded from one call, which another process may have held up: a candidate is
 * hopeless when the fastest of several calls is far slower than the best. What is known of it then
 * is a bound, and no time. */
#ifndef TIRC_RUNTIME_SAMPLING_H
#define TIRC_RUNTIME_SAMPLING_H

#include <stdbool.h>

enum {
  MOST_SAMPLES = 32,
  FEWEST_SAMPLES = 3, /* of a time, and calls after the first one of what is hopeless */
};

typedef struct Sampling {
  double seconds;  /* of timed calls; up to three times as many where they differ */
  double hopeless; /* times as slow as the best: slower ones are timed no further */
  double best;     /* seconds, INFINITY: none yet */
  /* Seconds of each of so many calls in a row; INFINITY: it cannot be called. And a clock. */
  double (*call)(void *self, int times);
  double (*now)(void *self);
  void *self;
} Sampling;

typedef struct Samples {
  int n;
  double at[MOST_SAMPLES];
  bool is_bound; /* it was hopeless: at least as slow as the fastest of them */
} Samples;

/* *out is filled as they are taken, so that what interrupts it finds those that there are. False:
 * it cannot be called. */
bool tirc_take_samples(const Sampling *s, Samples *out);

#endif
