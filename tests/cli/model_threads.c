/* A model's function on several threads at once, each with a workspace of its own: all give the
 * bits that one gives alone, and nobody allocates. The model's header is included as "rows.h":
 *
 *   int rows(const float *x, float *gv, void *workspace) */
#include "rows.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, RUNS = 3, ELEMENTS = 4 * 20000 };

/* --- the counter: what stands here comes before the C library's own --------------------------- */

extern void *__libc_malloc(size_t n), *__libc_calloc(size_t n, size_t size),
    *__libc_memalign(size_t a, size_t n);
extern void *__libc_realloc(void *p, size_t n);
static atomic_int counting, counted;

static void count(void) { counted += counting; }
void *malloc(size_t n) {
  count();
  return __libc_malloc(n);
}
void *calloc(size_t n, size_t size) {
  count();
  return __libc_calloc(n, size);
}
void *realloc(void *p, size_t n) {
  count();
  return __libc_realloc(p, n);
}
void *memalign(size_t a, size_t n) {
  count();
  return __libc_memalign(a, n);
}
void *aligned_alloc(size_t a, size_t n) {
  count();
  return __libc_memalign(a, n);
}
int posix_memalign(void **out, size_t a, size_t n) {
  count();
  return (*out = __libc_memalign(a, n)) ? 0 : 12;
}

/* --- the runs --------------------------------------------------------------------------------- */

typedef struct Caller {
  float *y;
  void *workspace;
  int failed;
} Caller;
static float x[ELEMENTS], alone[ELEMENTS];
static pthread_barrier_t begin, end;

static void *call(void *self) {
  Caller *c = self;
  pthread_barrier_wait(&begin);
  for (int i = 0; i < RUNS && !c->failed; i++) {
    memset(c->y, 255, sizeof x);
    c->failed = rows(x, c->y, c->workspace) || memcmp(c->y, alone, sizeof x) != 0;
  }
  pthread_barrier_wait(&end);
  return NULL;
}

int main(void) {
  Caller callers[THREADS];
  pthread_t threads[THREADS];
  int failed = 0;
  void *volatile probe;
  for (int i = 0; i < ELEMENTS; i++) x[i] = (float)(i * 7919 % 1000) / 500 - 1;
  for (int i = 0; i < THREADS; i++) {
    void *workspace = aligned_alloc(64, rows_workspace);
    memset(workspace, 255, rows_workspace);
    callers[i] = (Caller){malloc(sizeof x), workspace, 0};
  }
  if (rows(x, alone, callers[0].workspace)) return 1;
  counting = 1;
  probe = malloc(1);
  free(probe);
  probe = aligned_alloc(64, 64);
  free(probe);
  counting = 0;
  if (counted != 2) {
    printf("the counter does not count: %d\n", counted);
    return 1;
  }
  counted = 0;
  pthread_barrier_init(&begin, NULL, THREADS + 1);
  pthread_barrier_init(&end, NULL, THREADS + 1);
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, call, &callers[i]);
  counting = 1;
  pthread_barrier_wait(&begin);
  pthread_barrier_wait(&end);
  counting = 0;
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    failed |= callers[i].failed;
  }
  if (failed) printf("several callers at once do not give the bits that one gives\n");
  if (counted) printf("%d allocations while the model ran\n", counted);
  return failed || counted;
}
