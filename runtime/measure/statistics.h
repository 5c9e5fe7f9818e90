/* From times to figures. A turn gives one time, the median of its calls; a contender's figure is
 * the median of its turns. Intervals are bootstrapped over turns: the calls of one turn are not
 * independent. Contenders that took turns are resampled together, because what disturbs a round
 * disturbs all of them, so that a ratio is known better than its parts. The same times give the
 * same intervals. Times are in seconds. */
#ifndef TIRC_RUNTIME_STATISTICS_H
#define TIRC_RUNTIME_STATISTICS_H

#include "runtime/tirc.h"

double tirc_median(int n, const double *times);  /* INFINITY: of none */
double tirc_fastest(int n, const double *times); /* likewise */
/* From the upper to the lower quartile. */
void tirc_quartiles(int n, const double *values, double *low, double *high); /* 0: of none */

enum {
  MOST_TURNS = 4000, /* of a contender */
  ENOUGH_TURNS = 5   /* of fewer an interval is from 0 to INFINITY: nothing is sure */
};
/* Whether it is an interval. */
bool tirc_is_interval(double low, double high);

/* Everything that follows from samples and turns; nothing where there are none. */
void tirc_sum_up(tirc_figures *f);
/* How many samples each turn has says the rest: *f gets them and is summed up. False: memory is
 * out.
 */
bool tirc_take_figures(tirc_figures *f, int n_samples, const double *samples, int n_turns,
                       const int *turn_samples);
void tirc_figures_clear(tirc_figures *f); /* frees what it holds */

/* Spearman's, where equals share their place: 1, the same order; 0, none in common; -1, the
 * reverse. NAN: of less than `fewest`. */
double tirc_rank_correlation(int n, const double *x, const double *y, int fewest);

/* The one test, which decides everywhere whether one is faster: 1 where the whole interval is above
 * 1, -1 where it is below, 0 where it is neither or unknown. */
int tirc_side_of_one(const tirc_ratio *r);
/* How many times as fast one is as the other, from their turns alone. */
tirc_ratio tirc_ratio_of_turns(int n, const double *of, int n_base, const double *base);

/* A geometric mean in the making: of times (base NULL) or of ratios, over any number of settings.
 * Zeroed, it is empty. */
enum { RESAMPLES = 600 };
typedef struct RatioMean {
  double sum, draws[RESAMPLES];
  int n, fewest_turns; /* of any contender in it */
} RatioMean;
/* together: both took turns in one measurement. What was not measured is passed over: false. */
bool tirc_mean_add(RatioMean *m, const tirc_figures *of, const tirc_figures *base, bool together);
/* power -1: the inverse, of times rather than of speeds. unit: what is multiplied with; of
 * nothing: 0. */
tirc_ratio tirc_mean_end(const RatioMean *m, double power, double unit);

#endif
