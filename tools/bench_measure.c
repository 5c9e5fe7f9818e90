/* The clock. Contenders take turns, one batch of calls a round, so that a disturbance of the
 * machine meets all of them. A turn begins when every other thread of the process sleeps: workers
 * spin for a while after their last call (OpenBLAS's for some 30 ms) and would take a core from the
 * next contender. Then come calls that are not counted, because another one has filled the caches.
 */
#include "bench.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const double FIRST_WARM_UP = 0.02, WARM_UP = 0.004, BATCH = 0.02, SHORTEST = 20e-6;
static const double LONGEST_SPIN = 0.5; /* seconds; what spins on is measured with all others */
enum { ENOUGH = 20, MOST = 100000, POLL_US = 200 };

/* --- other threads ----------------------------------------------------------------------------
 */

/* The state letter follows the name, which is in parentheses and may contain some. */
static bool is_running(const char *task) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", task);
  FILE *f = fopen(path, "r");
  if (!f) return false;
  text[fread(text, 1, sizeof text - 1, f)] = 0;
  fclose(f);
  const char *name_end = strrchr(text, ')');
  return name_end && name_end[1] == ' ' && name_end[2] == 'R';
}

static bool others_run(void) {
  char self[24];
  bool running = false;
  DIR *tasks = opendir("/proc/self/task");
  if (!tasks) return false;
  snprintf(self, sizeof self, "%ld", syscall(SYS_gettid));
  for (struct dirent *d; !running && (d = readdir(tasks)) != NULL;)
    running = d->d_name[0] != '.' && strcmp(d->d_name, self) != 0 && is_running(d->d_name);
  closedir(tasks);
  return running;
}

static void await_idle_threads(void) {
  double end = tirc_seconds() + LONGEST_SPIN;
  while (others_run() && tirc_seconds() < end) usleep(POLL_US);
}

/* --- turns -------------------------------------------------------------------------------------
 */

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

/* Calls that are not counted, for some time; the seconds that the last one took. */
static double warm_up(const Case *k, const Contender *c, double seconds) {
  double end = tirc_seconds() + seconds, last;
  do last = call(k, c, 1);
  while (tirc_seconds() < end);
  return last;
}

static void take_turn(const Case *k, Contender *c) {
  await_idle_threads();
  double last = warm_up(k, c, c->n_times ? WARM_UP : FIRST_WARM_UP), left = BATCH;
  int times = last < SHORTEST ? (int)(SHORTEST / (last + 1e-9)) + 1 : 1;
  do {
    double t = call(k, c, times);
    keep_time(c, t);
    c->spent += t * times;
    left -= t * times;
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
  for (bool more = true; more;) {
    more = false;
    for (int i = 0; i < k->n_contenders; i++) {
      Contender *c = &k->contenders[i];
      if (enough(b, c)) continue;
      if (b->o->progress) fprintf(stderr, "\r\033[Kmeasuring %s %s", k->setting, c->name);
      take_turn(k, c);
      if (!enough(b, c)) more = true;
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
