#define _GNU_SOURCE
#include "turns.h"

#include "load.h"
#include "runtime/kernel/timer.h"
#include "statistics.h"

#include <dirent.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const double FIRST_WARM_UP = 0.02, WARM_UP = 0.004, BATCH = 0.02, SHORTEST = 20e-6,
                    LONG = 0.1;
static const double SECONDS = 0.3;
static const double LONGEST_SPIN = 0.5; /* seconds; what spins on is measured with all others */
enum { USUAL_TURNS = 9, POLL_US = 200, ATTEMPTS = 3 };

/* --- other threads ---------------------------------------------------------------------------- */

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
  const double end = tirc_now() + LONGEST_SPIN;
  while (others_run() && tirc_now() < end) usleep(POLL_US);
}

/* The cores of each thread before all were kept on some. */
typedef struct Thread {
  pid_t id;
  cpu_set_t cores;
} Thread;
typedef struct Pinned {
  Thread *at;
  int n;
  cpu_set_t own; /* of the thread that measures, and of those that began meanwhile */
} Pinned;

static void for_each_thread(Pinned *p, void (*visit)(Pinned *p, pid_t id, void *self), void *self) {
  DIR *tasks = opendir("/proc/self/task");
  if (!tasks) return;
  for (struct dirent *d; (d = readdir(tasks)) != NULL;)
    if (d->d_name[0] != '.') visit(p, atoi(d->d_name), self);
  closedir(tasks);
}

static void pin_thread(Pinned *p, pid_t id, void *cores) {
  Thread t = {.id = id};
  Thread *grown = realloc(p->at, (size_t)(p->n + 1) * sizeof *grown);
  if (grown) p->at = grown;
  if (!grown || sched_getaffinity(id, sizeof t.cores, &t.cores)) return;
  p->at[p->n++] = t;
  (void)sched_setaffinity(id, sizeof(cpu_set_t), cores);
}

/* Every thread of the process, those of libraries, too, on the first n cores that this one has. */
static Pinned keep_on_cores(int n) {
  Pinned p = {0};
  cpu_set_t first;
  CPU_ZERO(&first);
  if (n <= 0 || sched_getaffinity(0, sizeof p.own, &p.own)) return p;
  for (size_t i = 0; i < CPU_SETSIZE && n > 0; i++)
    if (CPU_ISSET(i, &p.own)) CPU_SET(i, &first), n--;
  for_each_thread(&p, pin_thread, &first);
  return p;
}

static void unpin_thread(Pinned *p, pid_t id, void *self) {
  const cpu_set_t *was = &p->own;
  (void)self;
  for (int i = 0; i < p->n; i++)
    if (p->at[i].id == id) was = &p->at[i].cores;
  (void)sched_setaffinity(id, sizeof *was, was);
}

static void release_cores(Pinned *p) {
  if (p->n) for_each_thread(p, unpin_thread, NULL);
  free(p->at);
}

/* --- the clock of the core -------------------------------------------------------------------- */

/* Seconds that this thread ran: when another process takes its core, this clock stands still. */
static double thread_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Additions that wait for each other take one cycle each. What is added is in a register, because
 * some processors add constants before the execution units, several a cycle. */
double tirc_measure_clock(int steps) {
  unsigned long x = 0, y = 1;
  __asm__ volatile("" : "+r"(y));
  const double start = thread_seconds();
  for (int i = 0; i < steps; i++) {
#define STEP                                                                                       \
  x += y;                                                                                          \
  __asm__ volatile("" : "+r"(x));
    STEP STEP STEP STEP STEP STEP STEP STEP
#undef STEP
  }
  return 8 * (double)steps / (thread_seconds() - start);
}

/* --- turns ------------------------------------------------------------------------------------ */

typedef struct Turns {
  const TurnPlan *plan;
  tirc_figures *const *figures;
  double *spent; /* seconds in timed calls, of each */
  int *room;     /* for samples, of each */
  int attempt;
} Turns;

static double wanted_seconds(const TurnPlan *p) {
  return p->options.seconds > 0 ? p->options.seconds : SECONDS;
}
static int wanted_turns(const TurnPlan *p) {
  return p->options.turns ? p->options.turns : USUAL_TURNS;
}

static bool goes_on(const TurnPlan *p) {
  return !p->options.go_on || p->options.go_on(p->options.self);
}

/* Seconds of each of so many calls; NAN: one of them has failed. */
static double call(const tirc_contender *c, int times) {
  const double start = tirc_now();
  double own = c->seconds ? 0 : -1;
  for (int i = 0; i < times; i++) {
    if (c->call(c->self)) return (double)NAN;
    const double took = own < 0 ? -1 : c->seconds(c->self);
    own = took < 0 ? -1 : own + took;
  }
  return (own > 0 ? own : tirc_now() - start) / times;
}

/* What takes long gets fewer turns, unless their number was asked for: an interval from 9 is wide,
 * but there. */
static bool enough(const Turns *t, int i) {
  const TurnPlan *p = t->plan;
  const tirc_figures *f = t->figures[i];
  const double wanted = wanted_seconds(p);
  return !p->at[i].call || f->code || f->n_turns >= MOST_TURNS ||
         (t->spent[i] >= 4 * wanted && !p->options.turns) ||
         (t->spent[i] >= wanted && f->n_turns >= wanted_turns(p));
}

static void push_sample(Turns *t, int i, double seconds) {
  tirc_figures *f = t->figures[i];
  if (f->n_samples == t->room[i]) {
    const int room = 2 * t->room[i] + 64;
    double *grown = realloc(f->samples, (size_t)room * sizeof *grown);
    if (!grown) return;
    f->samples = grown;
    t->room[i] = room;
  }
  f->samples[f->n_samples++] = seconds;
}

/* The samples from `first` on were one turn. */
static void end_turn(tirc_figures *f, int first) {
  const int n = f->n_samples - first;
  if (!f->turns) f->turns = calloc(MOST_TURNS, sizeof *f->turns);
  if (!f->turn_samples) f->turn_samples = calloc(MOST_TURNS, sizeof *f->turn_samples);
  if (!f->turns || !f->turn_samples || n <= 0) return;
  f->turn_samples[f->n_turns] = n;
  f->turns[f->n_turns++] = tirc_median(n, f->samples + first);
}

/* What is timed for a moment alone is not called for longer than that before. */
static double warming(const TurnPlan *p, const tirc_figures *f) {
  return fmin(f->n_turns ? WARM_UP : FIRST_WARM_UP, wanted_seconds(p));
}

/* Calls that are not counted, for some time; the seconds that the shortest one took: any of them
 * may have been held up. */
static double warm_up(const tirc_contender *c, double seconds) {
  const double end = tirc_now() + seconds;
  double least = call(c, 1);
  while (isfinite(least) && tirc_now() < end) {
    const double again = call(c, 1);
    least = isfinite(again) ? fmin(least, again) : again;
  }
  return least;
}

static void give_up(tirc_figures *f) {
  f->code = strdup("failed");
  f->message = strdup("its call reported a failure");
}

static void take_turn(Turns *t, int i) {
  const TurnPlan *p = t->plan;
  const tirc_contender *c = &p->at[i];
  tirc_figures *f = t->figures[i];
  const double batch = wanted_seconds(p) / wanted_turns(p);
  double before[N_COUNTERS], after[N_COUNTERS];
  await_idle_threads();
  /* The caches that others have filled cost a long call nothing that would show. */
  const bool is_long = f->n_turns && f->turns[f->n_turns - 1] > LONG;
  const double least = is_long ? LONG : warm_up(c, warming(p, f));
  const int times = least < SHORTEST ? (int)(SHORTEST / (least + 1e-9)) + 1 : 1;
  const int first = f->n_samples;
  double left = batch < BATCH ? batch : BATCH, seconds = least;
  if (p->counters) tirc_counters_read(p->counters, before);
  while (left > 0 && isfinite(seconds)) {
    seconds = call(c, times);
    if (!isfinite(seconds)) break;
    push_sample(t, i, seconds);
    t->spent[i] += seconds * times;
    f->calls += times;
    left -= seconds * times;
  }
  if (p->counters) tirc_counters_read(p->counters, after);
  for (int k = 0; p->counters && k < N_COUNTERS; k++) p->counted[i][k] += after[k] - before[k];
  end_turn(f, first);
  if (!isfinite(seconds)) give_up(f);
}

/* --- an attempt ------------------------------------------------------------------------------- */

const char *const tirc_disturbance_names[N_DISTURBANCES] = {
    [BY_LOAD] = "load", [BY_CLOCK] = "clock", [BY_UNCERTAINTY] = "uncertainty"};
static const double limits[N_DISTURBANCES] = {/* quiet machines stay below half of these */
                                              [BY_LOAD] = BUSY_CORES,
                                              [BY_CLOCK] = 0.1,
                                              [BY_UNCERTAINTY] = 0.2};

double tirc_uncertainty(const tirc_figures *f) {
  if (!(f->median > 0)) return 0;
  return tirc_is_interval(f->low, f->high) ? (f->high - f->low) / (2 * f->median) : (double)NAN;
}

double tirc_clock_drop(const tirc_conditions *c) {
  return c->clock_high > 0 ? 1 - c->clock_low / c->clock_high : 0;
}

double tirc_disturbance_by(Disturbance d, const tirc_conditions *c, int n,
                           const tirc_figures *const *figures) {
  if (d != BY_UNCERTAINTY) return d == BY_LOAD ? c->load : tirc_clock_drop(c);
  double widest = 0;
  for (int i = 0; i < n; i++) widest = fmax(widest, tirc_uncertainty(figures[i])); /* not NaN */
  return widest;
}

bool tirc_is_disturbed_by(Disturbance d, double strength) { return strength > limits[d]; }

static double disturbance(const tirc_conditions *c, int n, const tirc_figures *const *figures) {
  double most = 0;
  for (Disturbance d = 0; d < N_DISTURBANCES; d++)
    most = fmax(most, tirc_disturbance_by(d, c, n, figures) / limits[d]);
  return most;
}

static void measure_once(Turns *t, tirc_conditions *out) {
  enum { MOST_CLOCKS = 1000, STEPS = 50000 };
  const TurnPlan *p = t->plan;
  double clocks[MOST_CLOCKS];
  int n = 0;
  const Load load = tirc_load_start();
  memset(t->spent, 0, (size_t)p->n * sizeof *t->spent);
  memset(t->room, 0, (size_t)p->n * sizeof *t->room);
  for (bool more = true; more && goes_on(p);) {
    more = false;
    for (int i = 0; i < p->n && goes_on(p); i++) {
      if (enough(t, i)) continue;
      if (p->options.told) p->options.told(p->options.self, i, t->attempt);
      take_turn(t, i);
      if (!enough(t, i)) more = true;
    }
    if (n < MOST_CLOCKS) clocks[n++] = tirc_measure_clock(STEPS);
  }
  out->load = tirc_load_since(&load, 0);
  /* Single samples of a clock may be wrong. */
  tirc_quartiles(n, clocks, &out->clock_low, &out->clock_high);
  for (int i = 0; i < p->n; i++) tirc_sum_up(t->figures[i]);
  out->disturbance = disturbance(out, p->n, (const tirc_figures *const *)t->figures);
}

/* What has a code keeps it; a call that failed may do better. */
static tirc_figures begin_again(const tirc_figures *f) {
  tirc_figures out = {0};
  if (!f->n_turns && f->code) {
    out.code = strdup(f->code);
    out.message = f->message ? strdup(f->message) : NULL;
  }
  return out;
}

/* The calmer one of this attempt and the last one stays. */
static bool measure_again(Turns *t, tirc_conditions *out) {
  const TurnPlan *p = t->plan;
  const size_t n = (size_t)p->n;
  tirc_figures *old = calloc(n, sizeof *old);
  double(*counted)[N_COUNTERS] = p->counters ? calloc(n, sizeof *counted) : NULL;
  tirc_conditions now = *out;
  if (!old || (p->counters && !counted)) return free(old), free(counted), false;
  for (size_t i = 0; i < n; i++) {
    old[i] = *t->figures[i];
    *t->figures[i] = begin_again(&old[i]);
  }
  if (counted) memcpy(counted, p->counted, n * sizeof *counted);
  if (counted) memset(p->counted, 0, n * sizeof *counted);
  measure_once(t, &now);
  const bool calmer = goes_on(p) && now.disturbance < out->disturbance;
  if (calmer) *out = now;
  if (!calmer && counted) memcpy(p->counted, counted, n * sizeof *counted);
  for (size_t i = 0; i < n; i++) {
    tirc_figures *dropped = calmer ? &old[i] : t->figures[i];
    tirc_figures_clear(dropped);
    if (!calmer) *t->figures[i] = old[i];
  }
  free(old);
  free(counted);
  return true;
}

void tirc_take_turns(const TurnPlan *p, tirc_figures *const *figures, tirc_conditions *out) {
  Pinned pinned = keep_on_cores(p->options.cores);
  const int most = p->options.attempts > 0 ? p->options.attempts : ATTEMPTS;
  Turns t = {.plan = p, .figures = figures, .attempt = 1};
  *out = (tirc_conditions){.attempts = 1};
  t.spent = calloc((size_t)p->n + 1, sizeof *t.spent);
  t.room = calloc((size_t)p->n + 1, sizeof *t.room);
  if (t.spent && t.room) {
    measure_once(&t, out);
    while (t.attempt < most && goes_on(p) && out->disturbance > 1) {
      t.attempt++;
      if (!measure_again(&t, out)) break;
    }
    out->attempts = t.attempt;
  }
  release_cores(&pinned);
  free(t.spent);
  free(t.room);
}
