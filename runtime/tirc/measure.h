/* Measuring contenders against each other. */
#ifndef TIRC_TIRC_MEASURE_H
#define TIRC_TIRC_MEASURE_H

#include "check.h"

TIRC_C_BEGIN

/* Contenders take turns, some calls each, so that what disturbs the machine disturbs all of them. A
 * turn gives one time, the median of its calls; a contender's figure is the median of its turns,
 * with a 95 % interval that is bootstrapped over turns, since the calls of one are not independent.
 * While something disturbs the machine all of it is done again, and the calmest attempt counts.
 *
 *     tirc_contender c[] = {tirc_launch_contender("tiled", launch),
 *                           {"mine", &data, NULL, my_call}};
 *     tirc_measurement *m;
 *     if (tirc_measure(2, c, NULL, &m, &error) == TIRC_OK &&
 *         tirc_surely_faster(tirc_measurement_figures(m, 0), tirc_measurement_figures(m, 1)))
 *       puts("tiled wins");
 *
 * What else the process runs meanwhile disturbs it, too. */
typedef struct tirc_contender {
  const char *name;
  void *self;                  /* handed to the functions, */
  int (*prepare)(void *self);  /* before anything is timed, or NULL; other than 0: it is left out */
  int (*call)(void *self);     /* what is timed; other than 0: it is measured no further */
  void (*release)(void *self); /* at the end, or NULL: also after a prepare that said no */
  /* What it should compute, or NULL: then it is called once before anything is timed, from the
   * start that its arguments had when measuring began, and compared. */
  const tirc_reference *reference;
  int n;
  const tirc_argument *args;
  /* Of a call that has a clock of its own, as a device's has: what the last one took, or -1; NULL,
   * and where it is -1: the time that calls take here counts. */
  double (*seconds)(void *self);
} tirc_contender;
TIRC_API tirc_contender tirc_launch_contender(const char *name, tirc_launch *launch);

/* What was measured of one contender. */
typedef struct tirc_figures {
  int n_samples, n_turns;
  double *samples;   /* seconds of a call, in the order of time; short ones: of a mean call */
  double *turns;     /* the median of each turn's samples, */
  int *turn_samples; /* and how many it has */
  /* Seconds of a call, and the interval; 0: there are none. Of fewer than 5 turns the bootstrap
   * knows too little: then the interval is from 0 to INFINITY. */
  double median, low, high;
  double fastest; /* of the samples */
  double spread;  /* from their lower to their upper quartile, as a part of the median */
  double calls;   /* how many were timed */
  /* NULL when it was measured; otherwise "left-out", "failed", "wrong-result" or "unchecked", and
   * what happened */
  char *code, *message;
} tirc_figures;

/* The machine meanwhile. */
typedef struct tirc_conditions {
  int attempts;                 /* how often all was measured */
  double load;                  /* cores that other processes used: see tirc_is_busy */
  double clock_low, clock_high; /* hertz, from quartile to quartile; 0: unknown */
  double disturbance; /* of load, clock and the widest interval; above 1 times are doubtful */
} tirc_conditions;

/* Whether times are disturbed when others use so many cores: from a tenth on. */
TIRC_API bool tirc_is_busy(double load);

typedef struct tirc_measure_options {
  double seconds; /* of timed calls for each; 0: 0.3 */
  int turns;      /* of each, at least; 0: 9, or fewer of what takes long */
  int attempts;   /* at most; 0: 3 */
  int cores;      /* keeps all threads of the process on the first so many; 0: where they are */
  void *self;     /* handed to the functions, each of which may be NULL */
  void (*told)(void *self, int contender, int attempt); /* its turn begins */
  bool (*go_on)(void *self);                            /* false ends it with what there is */
} tirc_measure_options;

typedef struct tirc_measurement tirc_measurement;
/* options may be NULL. TIRC_BAD: the arguments are wrong, or memory is out; a contender that fails
 * says so in its figures. */
TIRC_API tirc_status tirc_measure(int n, const tirc_contender *contenders,
                                  const tirc_measure_options *options, tirc_measurement **out,
                                  tirc_error **error);
TIRC_API void tirc_measurement_free(tirc_measurement *m);
/* Of contender i; NULL behind the last. They live as long as the measurement. */
TIRC_API const tirc_figures *tirc_measurement_figures(const tirc_measurement *m, int i);
TIRC_API const tirc_conditions *tirc_measurement_conditions(const tirc_measurement *m);

typedef struct tirc_ratio {
  /* With 95 % confidence; from 0 to INFINITY where either has fewer than 5 turns; value 0: unknown
   */
  double value, low, high;
} tirc_ratio;
/* How many times as fast `of` is as `base`. Those of one measurement are compared turn by turn, so
 * that a ratio is known better than its parts. */
TIRC_API tirc_ratio tirc_times_as_fast(const tirc_figures *of, const tirc_figures *base);
/* Whether the whole interval is above 1. */
TIRC_API bool tirc_surely_faster(const tirc_figures *of, const tirc_figures *base);

TIRC_C_END
#endif
