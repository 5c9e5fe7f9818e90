/* Measuring contenders against each other. */
#ifndef TIRC_TIRC_MEASURE_H
#define TIRC_TIRC_MEASURE_H

#include "check.h"

TIRC_C_BEGIN

/* Contenders take turns of several calls each, so that a disturbance of the machine affects all of
 * them. A turn gives one time, the median of its calls. A contender's figure is the median of its
 * turns, with a 95 % interval that is bootstrapped over turns, since the calls of one turn are not
 * independent. If something disturbs the machine, everything is measured again, and the calmest
 * attempt counts.
 *
 *     tirc_contender c[] = {tirc_launch_contender("tiled", launch),
 *                           {"mine", &data, NULL, my_call}};
 *     tirc_measurement *m;
 *     if (tirc_measure(2, c, NULL, &m, &error) == TIRC_OK &&
 *         tirc_surely_faster(tirc_measurement_figures(m, 0), tirc_measurement_figures(m, 1)))
 *       puts("tiled wins");
 *
 * Other work of your process at the same time also disturbs the measurement. */
typedef struct tirc_contender {
  const char *name;
  void *self;                  /* handed to the functions, */
  int (*prepare)(void *self);  /* before anything is timed, or NULL; not 0: leave it out */
  int (*call)(void *self);     /* what is timed; not 0: stop measuring it */
  void (*release)(void *self); /* at the end, or NULL; also after a prepare that failed */
  /* What it should compute, or NULL. If given, the contender is called once before anything is
   * timed, with its arguments as they were when measuring began, and the result is compared. */
  const tirc_reference *reference;
  int n;
  const tirc_argument *args;
  /* For a call with its own clock, such as a device's: the duration of the last call, or -1. If
   * this is NULL or returns -1, the time that the call takes here counts. */
  double (*seconds)(void *self);
} tirc_contender;
TIRC_API tirc_contender tirc_launch_contender(const char *name, tirc_launch *launch);

/* The measurements of one contender. */
typedef struct tirc_figures {
  int n_samples, n_turns;
  double *samples;   /* seconds of a call, in order of time; of short calls, the mean */
  double *turns;     /* the median of each turn's samples, */
  int *turn_samples; /* and how many it has */
  /* Seconds of a call, and its interval; 0: not available. With fewer than 5 turns the bootstrap
   * knows too little: the interval is then from 0 to INFINITY. */
  double median, low, high;
  double fastest; /* of the samples */
  double spread;  /* between their quartiles, divided by the median */
  double calls;   /* how many were timed */
  /* code is NULL if it was measured; otherwise "left-out", "failed", "wrong-result" or "unchecked",
   * and the message says what happened. */
  char *code, *message;
} tirc_figures;

/* The state of the machine during the measurement. */
typedef struct tirc_conditions {
  int attempts;                 /* how often everything was measured */
  double load;                  /* cores that other processes used: see tirc_is_busy */
  double clock_low, clock_high; /* hertz, from quartile to quartile; 0: unknown */
  double disturbance; /* by load, clock and the widest interval; above 1, times are doubtful */
} tirc_conditions;

/* Whether times are disturbed when other processes use this many cores: true from a tenth on. */
TIRC_API bool tirc_is_busy(double load);

typedef struct tirc_measure_options {
  double seconds; /* of timed calls for each contender; 0: 0.3 */
  int turns;      /* for each, at least; 0: 9, or fewer for slow calls */
  int attempts;   /* at most; 0: 3 */
  int cores;      /* keeps all threads on the first so many cores; 0: where they are */
  void *self;     /* handed to the functions, each of which may be NULL */
  void (*told)(void *self, int contender, int attempt); /* its turn begins */
  bool (*go_on)(void *self);                            /* false ends it with the results so far */
} tirc_measure_options;

typedef struct tirc_measurement tirc_measurement;
/* options may be NULL. TIRC_BAD: the arguments are wrong, or there is no memory. If a contender
 * fails, its figures say so. */
TIRC_API tirc_status tirc_measure(int n, const tirc_contender *contenders,
                                  const tirc_measure_options *options, tirc_measurement **out,
                                  tirc_error **error);
TIRC_API void tirc_measurement_free(tirc_measurement *m);
/* The figures of contender i; NULL after the last one. They live as long as the measurement. */
TIRC_API const tirc_figures *tirc_measurement_figures(const tirc_measurement *m, int i);
TIRC_API const tirc_conditions *tirc_measurement_conditions(const tirc_measurement *m);

typedef struct tirc_ratio {
  /* With 95 % confidence. From 0 to INFINITY if either has fewer than 5 turns; value 0: unknown. */
  double value, low, high;
} tirc_ratio;
/* How many times as fast `of` is as `base`. If both belong to one measurement, they are compared
 * turn by turn, so the ratio is known more precisely than its parts. */
TIRC_API tirc_ratio tirc_times_as_fast(const tirc_figures *of, const tirc_figures *base);
/* Whether the whole interval is above 1. */
TIRC_API bool tirc_surely_faster(const tirc_figures *of, const tirc_figures *base);

TIRC_C_END
#endif
