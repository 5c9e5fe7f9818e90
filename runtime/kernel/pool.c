/* The pool has one job at a time. `state` counts up by one when a job opens (odd) and again when it
 * closes (even). A worker that sees an open job counts itself in (`inside`), looks again whether
 * the job is still open, and only then reads it; the caller closes the job when no chunk is left
 * and waits until nobody is inside. So the caller may write the next job without a race, and never
 * waits for a worker that has not come in. Each thread has a part of the range of its own, the same
 * one in every loop, so that what one loop of a model left in a core's cache the next one finds
 * there. It claims pieces of it, the first ones large, the last ones small, so that little is left
 * to wait for when it loses its core for a while; who has done his own part helps the others in
 * the same way (affinity scheduling: Markatos and LeBlanc, 1994).
 *
 * Where more threads are asked for than there are cores, as many as there are cores do all the
 * work: others would only be waited for. Into how many pieces a loop goes is as it was asked for.
 *
 * A job while another one runs, be it from inside a body or from another thread, runs in its
 * caller: the `busy` flag says so. */
#include "pool.h"

#include "pages.h"
#include "system.h"

#include <limits.h>
#include <stdlib.h>

enum { SPINS = 4000 }; /* about 100 us of pauses: longer than the gap between loops of one kernel */
enum { LEAST_ACTIVE = 2 };

/* A thread's part of the range: the iterations from `next` to `end` are not claimed yet. */
typedef struct {
  _Alignas(64) _Atomic int64_t next;
  int64_t end;
} Part;

typedef struct {
  Pool *pool;
  int thread;
  Thread id;
} Worker;

struct Pool {
  int threads, started, spins;
  int active; /* threads that work at once, the caller included: no more than there are cores */
  Worker *workers; /* the caller is thread 0 and has none */
  /* the job */
  int n_parts;
  Part *parts;
  int64_t smallest; /* piece */
  void (*body)(int64_t, void *);
  void *closure;
  int caller_cpu; /* where the job was launched */
  _Alignas(64) _Atomic uint32_t state;
  _Atomic uint32_t sleepers;
  _Atomic bool stop, busy;
  _Alignas(64) _Atomic uint32_t inside;
  _Atomic bool caller_sleeps;
  Berth berth;
};

static void pause_cpu(void) {
#if defined __GNUC__ && (defined __x86_64__ || defined __i386__)
  __builtin_ia32_pause();
#else
  atomic_signal_fence(memory_order_seq_cst);
#endif
}

/* Half of what is left of a part; neither that nor the rest is less than the smallest piece. */
static bool claim(const Pool *p, Part *part, int64_t *at, int64_t *end) {
  *at = atomic_load_explicit(&part->next, memory_order_relaxed);
  while (*at < part->end) {
    int64_t left = part->end - *at, size = left / 2;
    if (size < p->smallest) size = p->smallest;
    *end = *at + (left - size < p->smallest ? left : size);
    if (atomic_compare_exchange_weak_explicit(&part->next, at, *end, memory_order_relaxed,
                                              memory_order_relaxed))
      return true;
  }
  return false;
}

static void work(Pool *p, int thread) {
  for (int k = 0; k < p->n_parts; k++) {
    Part *part = &p->parts[(thread + k) % p->n_parts];
    for (int64_t at, end; claim(p, part, &at, &end);)
      for (; at < end; at++) p->body(at, p->closure);
  }
}

/* Waits for an open job other than `seen`, or for the end. */
static uint32_t await_job(Pool *p, uint32_t seen) {
  for (int spin = 0;;) {
    uint32_t s = atomic_load(&p->state);
    if (atomic_load(&p->stop) || (s != seen && (s & 1))) return s;
    if (spin < p->spins) {
      spin++;
      pause_cpu();
      continue;
    }
    atomic_fetch_add(&p->sleepers, 1);
    if (!atomic_load(&p->stop)) tirc_sleep_while(&p->berth, &p->state, s);
    atomic_fetch_sub(&p->sleepers, 1);
  }
}

static void leave(Pool *p) {
  if (atomic_fetch_sub(&p->inside, 1) == 1 && atomic_load(&p->caller_sleeps))
    tirc_wake(&p->berth, &p->inside, 1);
}

/* Linux may wake a worker on the caller's core and leave the two there for 100 ms beside an idle
 * core. */
static void worker(void *argument) {
  const Worker *w = argument;
  Pool *p = w->pool;
  for (uint32_t seen = 0;;) {
    seen = await_job(p, seen);
    if (atomic_load(&p->stop)) return;
    atomic_fetch_add(&p->inside, 1);
    if (atomic_load(&p->state) == seen) {
      if (p->spins && tirc_this_core() == p->caller_cpu) tirc_leave_core(p->caller_cpu);
      work(p, w->thread);
    }
    leave(p);
  }
}

int tirc_threads_of_environment(void) {
  const char *s = getenv("TIRC_NUM_THREADS");
  if (!s || !*s) return 0;
  char *end = NULL;
  long n = strtol(s, &end, 10);
  return !*end && n >= 1 && n <= POOL_MOST_THREADS ? (int)n : -1;
}

int tirc_default_threads(void) {
  int n = tirc_threads_of_environment();
  return n > 0 ? n : tirc_cores();
}

/* A body's buffers on its stack are up to 512 KB, however small this process likes its stacks. */
static bool start_worker(Pool *p) {
  enum { STACK = 2 << 20 };
  Worker *w = &p->workers[p->started];
  *w = (Worker){.pool = p, .thread = p->started + 1};
  const bool ok = tirc_thread_start(&w->id, STACK, worker, w);
  p->started += ok;
  return ok;
}

Pool *tirc_pool_new(int threads) {
  if (threads < 1 || threads > POOL_MOST_THREADS) return NULL;
  Pool *p = tirc_pages_new(tirc_pages_size(sizeof(Pool)));
  if (!p) return NULL;
  const int cores = tirc_cores(), active = cores < LEAST_ACTIVE ? LEAST_ACTIVE : cores;
  *p = (Pool){.threads = threads,
              .active = threads < active ? threads : active,
              .spins = cores < LEAST_ACTIVE ? 0 : SPINS};
  p->workers = calloc((size_t)threads, sizeof *p->workers);
  p->parts = tirc_pages_new(tirc_pages_size((size_t)threads * sizeof *p->parts));
  if (!tirc_berth_init(&p->berth)) {
    free(p->workers);
    tirc_pages_free(p->parts);
    tirc_pages_free(p);
    return NULL;
  }
  while (p->workers && p->parts && p->started < p->active - 1 && start_worker(p)) continue;
  if (p->workers && p->parts && p->started == p->active - 1) return p;
  tirc_pool_free(p);
  return NULL;
}

void tirc_pool_free(Pool *p) {
  if (!p) return;
  atomic_store(&p->stop, true);
  atomic_fetch_add(&p->state, 2);
  tirc_wake(&p->berth, &p->state, INT_MAX);
  for (int i = 0; i < p->started; i++) tirc_thread_join(&p->workers[i].id);
  tirc_berth_free(&p->berth);
  free(p->workers);
  tirc_pages_free(p->parts);
  tirc_pages_free(p);
}

int tirc_pool_threads(const Pool *p) { return p->threads; }

/* Until every worker that came in has left. */
static void await_workers(Pool *p) {
  for (int spin = 0; spin < p->spins; spin++) {
    if (atomic_load(&p->inside) == 0) return;
    pause_cpu();
  }
  atomic_store(&p->caller_sleeps, true);
  for (uint32_t n; (n = atomic_load(&p->inside)) != 0;) tirc_sleep_while(&p->berth, &p->inside, n);
  atomic_store(&p->caller_sleeps, false);
}

void tirc_pool_run(Pool *p, int64_t n, void (*body)(int64_t i, void *closure), void *closure,
                   int64_t chunks) {
  if (chunks <= 0) chunks = p->threads;
  if (chunks > n) chunks = n;
  if (p->threads == 1 || chunks <= 1 || atomic_exchange(&p->busy, true)) {
    for (int64_t i = 0; i < n; i++) body(i, closure);
    return;
  }
  p->n_parts = chunks < p->active ? (int)chunks : p->active;
  for (int t = 0; t < p->n_parts; t++) {
    /* n * t / n_parts, which might be past 64 bits */
    const int64_t each = n / p->n_parts, rest = n % p->n_parts;
    atomic_store_explicit(&p->parts[t].next, each * t + rest * t / p->n_parts,
                          memory_order_relaxed);
    p->parts[t].end = each * (t + 1) + rest * (t + 1) / p->n_parts;
  }
  p->smallest = (n - 1) / chunks + 1;
  p->body = body;
  p->closure = closure;
  p->caller_cpu = tirc_this_core();
  atomic_fetch_add(&p->state, 1);
  if (atomic_load(&p->sleepers)) tirc_wake(&p->berth, &p->state, p->n_parts - 1);
  work(p, 0);
  atomic_fetch_add(&p->state, 1);
  await_workers(p);
  atomic_store(&p->busy, false);
}
