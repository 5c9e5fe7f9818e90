/* What questions of meaning cost that sight did not answer, for the benchmarks of schedules. */
#ifndef TIRC_TESTS_SLOW_PATH_H
#define TIRC_TESTS_SLOW_PATH_H

#include "passes/schedule/schedule.h"

typedef struct SlowPath {
  int n, room, over_budget;
  double *seconds; /* of the processor, a question */
} SlowPath;

double slow_path_now(void); /* seconds that this process has taken of the processor */
/* Those that a schedule has asked. */
void slow_path_add(SlowPath *p, const Sched *s);
/* Sorts numbers, the least first. */
void slow_path_sort(double *numbers, int n);
/* Prints a line and frees what p holds. */
void slow_path_report(SlowPath *p);

#endif
