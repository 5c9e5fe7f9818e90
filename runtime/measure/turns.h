/* The clock. Contenders take turns, one batch of calls a round, so that a disturbance of the
 * machine meets all of them. A turn begins when every other thread of the process sleeps: workers
 * spin for a while after their last call (OpenBLAS's for some 30 ms) and would take a core from the
 * next contender. Then come calls that are not counted, because another one has filled the caches.
 * What something disturbed is measured again; the calmest attempt counts. */
#ifndef TIRC_RUNTIME_TURNS_H
#define TIRC_RUNTIME_TURNS_H

#include "counters.h"

#include "runtime/tirc.h"

typedef struct TurnPlan {
  int n;
  const tirc_contender *at; /* `call` and `self` are looked at; call NULL: it takes no turns */
  tirc_measure_options options;
  const Counters *counters;      /* or NULL */
  double (*counted)[N_COUNTERS]; /* of each in all its timed calls, unless that is NULL */
} TurnPlan;

/* figures[i] of contender i are empty, or have the code of one that takes no turns. */
void tirc_take_turns(const TurnPlan *p, tirc_figures *const *figures, tirc_conditions *out);

/* --- what disturbs ---------------------------------------------------------------------------- */

typedef enum Disturbance { BY_LOAD, BY_CLOCK, BY_UNCERTAINTY, N_DISTURBANCES } Disturbance;
extern const char *const tirc_disturbance_names[N_DISTURBANCES];
/* Half the interval, as a part of the median; or 0. */
double tirc_uncertainty(const tirc_figures *f);
double tirc_clock_drop(const tirc_conditions *c); /* from `high` to `low`, as a part of it */
/* How strong it is (cores, a part of the clock, the widest of n uncertainties), and whether that
 * is more than a quiet machine has. */
double tirc_disturbance_by(Disturbance d, const tirc_conditions *c, int n,
                           const tirc_figures *const *figures);
bool tirc_is_disturbed_by(Disturbance d, double strength);

/* Cycles a second of the core that this runs on, from so many steps of 8 cycles. */
double tirc_measure_clock(int steps);

#endif
