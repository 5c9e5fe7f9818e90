/* The clock. Contenders take turns, one batch of calls a round, so that a disturbance of the
 * machine meets all of them. A turn begins when every other thread of the process sleeps: workers
 * spin for a while after their last call (OpenBLAS's for some 30 ms) and would take a core from the
 * next contender. Then come calls that are not counted, because another one has filled the caches.
 * A case that something disturbed is measured again; bench_noise.c says what that is. */
#define _GNU_SOURCE
#include "bench.h"

#include "runtime/measure/load.h"

#include <dirent.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const double FIRST_WARM_UP = 0.02, WARM_UP = 0.004, BATCH = 0.02, SHORTEST = 20e-6,
                    LONG = 0.1;
static const double SECONDS = 0.3;
static const double LONGEST_SPIN = 0.5; /* seconds; what spins on is measured with all others */
enum { USUAL_TURNS = 9, MOST_TURNS = 4000, POLL_US = 200, ATTEMPTS = 3 };

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

/* Every thread of the process, those of libraries, too, on the first n cores of the set. */
static void keep_on_cores(const cpu_set_t *cores, int n) {
  cpu_set_t first;
  CPU_ZERO(&first);
  for (size_t i = 0; i < CPU_SETSIZE && n > 0; i++)
    if (CPU_ISSET(i, cores)) CPU_SET(i, &first), n--;
  DIR *tasks = opendir("/proc/self/task");
  if (!tasks) return;
  for (struct dirent *d; (d = readdir(tasks)) != NULL;)
    if (d->d_name[0] != '.') (void)sched_setaffinity(atoi(d->d_name), sizeof first, &first);
  closedir(tasks);
}

/* --- turns -------------------------------------------------------------------------------------
 */

static double call(const Contender *c, int times) {
  double start = tirc_seconds();
  for (int i = 0; i < times; i++) call_contender(c);
  return (tirc_seconds() - start) / times;
}

static double wanted_seconds(const Bench *b) { return b->o->seconds > 0 ? b->o->seconds : SECONDS; }

static int wanted_turns(const Bench *b) { return b->turns ? b->turns : USUAL_TURNS; }

/* What takes long gets fewer turns, unless their number was asked for: an interval from 9 is wide,
 * but there. */
static bool enough(const Bench *b, const Contender *c) {
  double wanted = wanted_seconds(b);
  return c->skipped || c->n_turns >= MOST_TURNS || (c->spent >= 4 * wanted && !b->turns) ||
         (c->spent >= wanted && c->n_turns >= wanted_turns(b));
}

static void push(double **list, int n, int *cap, double v) {
  if (n == *cap) {
    double *grown = realloc(*list, (size_t)(2 * n + 64) * sizeof *grown);
    if (!grown) return;
    *list = grown;
    *cap = 2 * n + 64;
  }
  (*list)[n] = v;
}

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The calls from `first` on were one turn. */
static void end_turn(Contender *c, int first) {
  const int n = c->n_times - first;
  if (!c->turns) c->turns = calloc(MOST_TURNS, sizeof *c->turns);
  if (!c->turn_calls) c->turn_calls = calloc(MOST_TURNS, sizeof *c->turn_calls);
  if (!c->turns || !c->turn_calls || n <= 0) return;
  c->turn_calls[c->n_turns] = n;
  c->turns[c->n_turns++] = median_of_copy(c->times + first, n);
}

/* Calls that are not counted, for some time; the seconds that the shortest one took: any of them
 * may have been held up. */
static double warm_up(const Contender *c, double seconds) {
  double end = tirc_seconds() + seconds, least = call(c, 1);
  while (tirc_seconds() < end) least = fmin(least, call(c, 1));
  return least;
}

static void take_turn(const Bench *b, Contender *c) {
  double batch = wanted_seconds(b) / wanted_turns(b);
  await_idle_threads();
  /* The caches that others have filled cost a long call nothing that would show. */
  const bool is_long = c->n_turns && c->turns[c->n_turns - 1] > LONG;
  double least = is_long ? LONG : warm_up(c, c->n_turns ? WARM_UP : FIRST_WARM_UP);
  double left = batch < BATCH ? batch : BATCH;
  int times = least < SHORTEST ? (int)(SHORTEST / (least + 1e-9)) + 1 : 1, first = c->n_times;
  double before[N_COUNTERS], after[N_COUNTERS];
  if (b->counters.open) read_counters(&b->counters, before);
  do {
    double t = call(c, times);
    push(&c->times, c->n_times, &c->cap_times, t);
    if (c->n_times < c->cap_times) c->n_times++;
    c->spent += t * times;
    c->n_calls += times;
    left -= t * times;
  } while (left > 0);
  if (b->counters.open) read_counters(&b->counters, after);
  for (int i = 0; b->counters.open && i < N_COUNTERS; i++) c->counted[i] += after[i] - before[i];
  end_turn(c, first);
}

/* --- a case ------------------------------------------------------------------------------------
 */

static volatile sig_atomic_t interrupted;
static void interrupt(int signal_number) {
  static const char words[] = "\nending; Ctrl-C again ends at once\n";
  (void)signal_number;
  interrupted = 1;
  if (write(STDERR_FILENO, words, sizeof words - 1) < 0) return;
}
/* The first one ends the check or the measuring, and what there is gets printed; compiled code runs
 * to its end, which the second one does not wait for. */
void catch_interrupts(void) {
  interrupted = 0;
  struct sigaction a = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND};
  sigaction(SIGINT, &a, NULL);
  sigaction(SIGTERM, &a, NULL); /* how batch systems end a job */
  sigaction(SIGHUP, &a, NULL);
}
bool was_interrupted(void) { return interrupted; }

static int64_t most_attempts(const Bench *b) {
  return b->o->attempts > 0 ? b->o->attempts : ATTEMPTS;
}

/* "[3/24] qkv M=64 goto, attempt 2 of 3, 12 s left" */
static void show_progress(const Bench *b, const Case *k, const Contender *c) {
  int done = (int)(k - b->cases);
  if (!b->o->progress) return;
  fprintf(stderr, "\r\033[K[%d/%d] %s %s %s", done + 1, b->n_cases, k->kernel, k->setting, c->name);
  if (k->attempts > 1)
    fprintf(stderr, ", attempt %d of %lld", k->attempts, (long long)most_attempts(b));
  if (done > b->n_passed)
    fprintf(stderr, ", %.0f s left",
            (tirc_seconds() - b->started) / (done - b->n_passed) * (b->n_cases - done));
}

/* How far the clock fell: from the upper to the lower quartile of its samples, of which single ones
 * may be wrong. */
static void sum_up_clocks(Case *k, double *clocks, int n) {
  qsort(clocks, (size_t)n, sizeof *clocks, compare_doubles);
  k->clock_low = n ? clocks[n / 4] : 0;
  k->clock_high = n ? clocks[n - 1 - n / 4] : 0;
  k->clock_drop = n ? 1 - k->clock_low / k->clock_high : 0;
}

static void measure_once(const Bench *b, Case *k) {
  enum { MOST_CLOCKS = 1000, STEPS = 50000 };
  double clocks[MOST_CLOCKS];
  int n = 0;
  Load load = tirc_load_start();
  for (bool more = true; more && !interrupted;) {
    more = false;
    for (int i = 0; i < k->n_contenders && !interrupted; i++) {
      Contender *c = &k->contenders[i];
      if (enough(b, c)) continue;
      show_progress(b, k, c);
      take_turn(b, c);
      if (!enough(b, c)) more = true;
    }
    if (n < MOST_CLOCKS) clocks[n++] = measure_clock(STEPS);
  }
  k->others = tirc_load_since(&load, 0);
  sum_up_clocks(k, clocks, n);
  for (int i = 0; i < k->n_contenders; i++) summarise(k, &k->contenders[i]);
}

static void forget_figures(Contender *c) {
  c->times = c->turns = NULL;
  c->turn_calls = NULL;
  c->n_times = c->cap_times = c->n_turns = 0;
  c->spent = c->median = c->n_calls = 0;
  memset(c->counted, 0, sizeof c->counted);
}

/* The calmer one of this attempt and the last one stays. */
static void measure_again(const Bench *b, Case *k) {
  const size_t size = (size_t)k->n_contenders * sizeof *k->contenders;
  const double was = disturbance(k);
  const Case before = *k;
  Contender *other = malloc(size), *now = malloc(size);
  if (other && now) {
    memcpy(other, k->contenders, size);
    for (int i = 0; i < k->n_contenders; i++) forget_figures(&k->contenders[i]);
    measure_once(b, k);
    if (interrupted || disturbance(k) >= was) {
      memcpy(now, k->contenders, size);
      memcpy(k->contenders, other, size);
      memcpy(other, now, size);
      k->others = before.others, k->clock_drop = before.clock_drop;
      k->clock_low = before.clock_low, k->clock_high = before.clock_high;
    }
    for (int i = 0; i < k->n_contenders; i++)
      free(other[i].times), free(other[i].turns), free(other[i].turn_calls);
  }
  free(other);
  free(now);
}

/* Ctrl-C ends it. */
static void rest(double seconds) {
  const double end = tirc_seconds() + seconds;
  while (!interrupted && tirc_seconds() < end) usleep(10000);
}

void measure_case(const Bench *b, Case *k) {
  cpu_set_t cores;
  const bool pinned = b->o->pin && sched_getaffinity(0, sizeof cores, &cores) == 0;
  if (k != b->cases) rest(b->o->cool_down);
  if (pinned) keep_on_cores(&cores, k->threads);
  k->attempts = 1;
  measure_once(b, k);
  while (k->attempts < most_attempts(b) && !interrupted && disturbance(k) > 1) {
    k->attempts++;
    measure_again(b, k);
  }
  if (pinned) keep_on_cores(&cores, CPU_SETSIZE);
  if (b->o->progress) fprintf(stderr, "\r\033[K");
}
