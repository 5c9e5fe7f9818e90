#include "slow_path.h"

#include "ir/arith/set.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

double slow_path_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void slow_path_add(SlowPath *p, const Sched *s) {
  const SetsCost *costs;
  const int n = tirc_sets_costs(s->sets, &costs);
  for (int i = 0; i < n; i++) {
    if (p->n == p->room) {
      p->room = p->room ? 2 * p->room : 256;
      p->seconds = realloc(p->seconds, (size_t)p->room * sizeof *p->seconds);
      if (!p->seconds) abort();
    }
    p->seconds[p->n++] = costs[i].seconds;
    p->over_budget += costs[i].over_budget;
  }
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void slow_path_sort(double *numbers, int n) {
  if (n) qsort(numbers, (size_t)n, sizeof *numbers, compare);
}

void slow_path_report(SlowPath *p) {
  printf("questions that sight does not answer: %d", p->n);
  slow_path_sort(p->seconds, p->n);
  if (p->n)
    printf("; p50 %.3f ms, p99 %.3f ms, most %.3f ms; %d over budget", p->seconds[p->n / 2] * 1e3,
           p->seconds[p->n * 99 / 100] * 1e3, p->seconds[p->n - 1] * 1e3, p->over_budget);
  printf("\n");
  free(p->seconds);
  *p = (SlowPath){0};
}
