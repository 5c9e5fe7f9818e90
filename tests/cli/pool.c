/* A program with threads of its own, on which an object's parallel loops run: the results are those
 * of one thread, and each of the threads has run a part. */
#include "pool_kernel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, N = 256 };

/* One loop at a time; the threads meet at its beginning and at its end. */
typedef struct Pool {
  pthread_barrier_t begin, end;
  int64_t n;
  void (*body)(int64_t i, void *closure);
  void *closure;
  atomic_int loops, parts[THREADS], blocks, made;
  int is_over;
} Pool;
typedef struct Worker {
  Pool *pool;
  int number;
} Worker;

static void run_part(Pool *p, int t) {
  for (int64_t i = p->n * t / THREADS; i < p->n * (t + 1) / THREADS; i++) {
    p->body(i, p->closure);
    p->parts[t]++;
  }
}

static void *work(void *arg) {
  Worker *w = arg;
  for (;;) {
    pthread_barrier_wait(&w->pool->begin);
    if (w->pool->is_over) return NULL;
    run_part(w->pool, w->number);
    pthread_barrier_wait(&w->pool->end);
  }
}

static void parallel_for(void *self, int64_t n, void (*body)(int64_t i, void *closure),
                         void *closure, int64_t chunks) {
  Pool *p = self;
  (void)chunks;
  p->n = n, p->body = body, p->closure = closure;
  p->loops++;
  pthread_barrier_wait(&p->begin);
  run_part(p, 0);
  pthread_barrier_wait(&p->end);
}

static void *own_alloc(void *self, size_t bytes) {
  ((Pool *)self)->blocks++;
  ((Pool *)self)->made++;
  return aligned_alloc(64, (bytes + 63) / 64 * 64);
}
static void own_free(void *self, void *p, size_t bytes) {
  (void)bytes;
  ((Pool *)self)->blocks--;
  free(p);
}

static float a[N * N], b[N * N], alone[N * N], shared[N * N];

int main(void) {
  static Pool pool;
  pthread_t threads[THREADS];
  Worker workers[THREADS];
  for (int i = 0; i < N * N; i++) a[i] = (float)(i % 7), b[i] = (float)(i % 5);
  pthread_barrier_init(&pool.begin, NULL, THREADS);
  pthread_barrier_init(&pool.end, NULL, THREADS);
  for (int t = 1; t < THREADS; t++) {
    workers[t] = (Worker){&pool, t};
    if (pthread_create(&threads[t], NULL, work, &workers[t])) return 3;
  }
  const tirc_runtime loops_only = {.self = &pool, .parallel_for = parallel_for},
                     all = {&pool, parallel_for, own_alloc, own_free};
  if (pool_kernel(a, b, alone)) return 4;
  const tirc_runtime *const runtimes[] = {NULL, &(tirc_runtime){0}, &loops_only, &all};
  for (int k = 0; k < 4; k++) {
    memset(shared, 0, sizeof shared);
    if (pool_kernel__rt(a, b, shared, runtimes[k])) return 5;
    printf("%s, %d loops, parts of", memcmp(alone, shared, sizeof alone) ? "differs" : "same",
           pool.loops);
    for (int t = 0; t < THREADS; t++) printf(" %d", pool.parts[t]);
    printf(", %d blocks made, %d left\n", pool.made, pool.blocks);
  }
  pool.is_over = 1;
  pthread_barrier_wait(&pool.begin);
  for (int t = 1; t < THREADS; t++) pthread_join(threads[t], NULL);
  return 0;
}
