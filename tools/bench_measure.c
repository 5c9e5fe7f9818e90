/* The clock. Contenders take turns in short slots until each has enough: so a disturbance of the
 * machine meets all of them, and each slot's first call, on caches that another one has filled, is
 * not counted. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double WARM_UP = 0.02, SLOT = 0.025, SHORTEST = 20e-6;
enum { ENOUGH = 20, MOST = 100000, LIBRARY_SPINS_US = 30000 };

static double call(const Case *k, const Contender *c, int times) {
  double start = tirc_seconds();
  for (int i = 0; i < times; i++) call_contender(k, c);
  return (tirc_seconds() - start) / times;
}

static bool enough(const Bench *b, const Contender *c) {
  double wanted = b->o->seconds > 0 ? b->o->seconds : 0.5;
  return c->skipped || c->n_times >= MOST || c->spent >= 4 * wanted ||
         (c->spent >= wanted && c->n_times >= ENOUGH);
}

static void keep_time(Contender *c, double seconds) {
  if (c->n_times == c->cap_times) {
    int cap = c->cap_times ? 2 * c->cap_times : 64;
    double *grown = realloc(c->times, (size_t)cap * sizeof *grown);
    if (!grown) return;
    c->times = grown;
    c->cap_times = cap;
  }
  c->times[c->n_times++] = seconds;
}

static void run_slot(const Case *k, Contender *c) {
  double first = call(k, c, 1), left = SLOT;
  int batch = first < SHORTEST ? (int)(SHORTEST / (first + 1e-9)) + 1 : 1;
  do {
    double t = call(k, c, batch);
    keep_time(c, t);
    c->spent += t * batch;
    left -= t * batch;
  } while (left > 0 && c->n_times < MOST);
}

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void summarise(const Bench *b, const Case *k, Contender *c) {
  if (c->skipped || !c->n_times) return;
  qsort(c->times, (size_t)c->n_times, sizeof *c->times, compare_doubles);
  c->min = c->times[0];
  c->median = c->times[c->n_times / 2];
  c->spread = (c->times[c->n_times * 3 / 4] - c->times[c->n_times / 4]) / c->median;
  c->gflops = k->cost.float_ops / c->median * 1e-9;
  c->percent = b->peak > 0 ? 100 * c->gflops * 1e9 / b->peak : 0;
}

void measure_case(const Bench *b, Case *k) {
  for (int i = 0; i < k->n_contenders; i++) {
    Contender *c = &k->contenders[i];
    for (double warm = 0; !c->skipped && warm < WARM_UP;) warm += call(k, c, 1);
  }
  for (bool more = true; more;) {
    more = false;
    for (int i = 0; i < k->n_contenders; i++) {
      Contender *c = &k->contenders[i];
      if (enough(b, c)) continue;
      if (b->o->progress) fprintf(stderr, "\r\033[Kmeasuring %s %s", k->setting, c->name);
      run_slot(k, c);
      if (!enough(b, c)) more = true;
      /* The library's threads keep spinning for a while after a call. */
      if (c->library && b->threads > 1) usleep(LIBRARY_SPINS_US);
    }
  }
  if (b->o->progress) fprintf(stderr, "\r\033[K");
  for (int i = 0; i < k->n_contenders; i++) summarise(b, k, &k->contenders[i]);
}

double ratio_to(const Contender *of, const Contender *base) {
  return of && base && of->median > 0 && base->median > 0 ? base->median / of->median : 0;
}

const Contender *find_library(const Case *k) {
  for (int i = 0; i < k->n_contenders; i++)
    if (k->contenders[i].library && k->contenders[i].median > 0) return &k->contenders[i];
  return NULL;
}
const Contender *find_first(const Case *k) {
  for (int i = 0; i < k->n_contenders; i++)
    if (k->contenders[i].median > 0) return &k->contenders[i];
  return NULL;
}

double geometric_mean(const Bench *b, int i, Mean what) {
  double sum = 0;
  int n = 0;
  for (int j = 0; j < b->n_cases; j++) {
    const Case *k = &b->cases[j];
    const Contender *c = &k->contenders[i];
    double v = what == MEAN_PERCENT
                   ? c->percent
                   : ratio_to(c, what == MEAN_VS_LIBRARY ? find_library(k) : &k->contenders[0]);
    if (v <= 0) continue;
    sum += log(v);
    n++;
  }
  return n ? exp(sum / n) : 0;
}
