/* The thread pool: every index once, nested and concurrent launches, many short launches. */
#include "runtime/kernel/pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 1000 };
static void count(int64_t i, void *closure) { ((_Atomic int *)closure)[i]++; }

static void each_index_once(void **state) {
  (void)state;
  const int threads[] = {1, 2, 3, 8};
  const int64_t chunks[] = {0, 1, 2, 7, N, 5 * N};
  for (int t = 0; t < 4; t++) {
    Pool *p = tirc_pool_new(threads[t]);
    assert_non_null(p);
    assert_int_equal(tirc_pool_threads(p), threads[t]);
    for (int k = 0; k < 6; k++) {
      _Atomic int seen[N] = {0};
      tirc_pool_run(p, N, count, (void *)seen, chunks[k]);
      for (int i = 0; i < N; i++) assert_int_equal(seen[i], 1);
    }
    tirc_pool_run(p, 0, count, NULL, 0);
    tirc_pool_free(p);
  }
}

/* Where each thread begins: nobody goes on before all of them have. */
typedef struct Begin {
  pthread_t caller;
  int64_t at[2];
  _Atomic int begun;
  _Atomic int done[2];
} Begin;
static void begin(int64_t i, void *closure) {
  Begin *b = closure;
  const int me = !pthread_equal(pthread_self(), b->caller);
  if (b->done[me]++ > 0) return;
  b->at[me] = i;
  b->begun++;
  while (b->begun < 2) sched_yield();
}
static void each_thread_has_its_part(void **state) {
  (void)state;
  Pool *p = tirc_pool_new(2);
  for (int64_t n = 2; n < 400; n++) {
    Begin b = {.caller = pthread_self()};
    tirc_pool_run(p, n, begin, &b, n);
    assert_int_equal(b.at[0], 0);
    assert_int_equal(b.at[1], n / 2);
    assert_int_equal(b.done[0] + b.done[1], n);
  }
  tirc_pool_free(p);
}

static void many_short_launches(void **state) {
  (void)state;
  Pool *p = tirc_pool_new(2);
  _Atomic int seen[2] = {0};
  for (int i = 0; i < 20000; i++) tirc_pool_run(p, 2, count, (void *)seen, 0);
  assert_int_equal(seen[0], 20000);
  assert_int_equal(seen[1], 20000);
  usleep(5000); /* the worker sleeps now */
  tirc_pool_run(p, 2, count, (void *)seen, 0);
  assert_int_equal(seen[0] + seen[1], 40002);
  tirc_pool_free(p);
}

typedef struct Nest {
  Pool *p;
  _Atomic int seen[16];
} Nest;
static void outer(int64_t i, void *closure) {
  Nest *n = closure;
  (void)i;
  tirc_pool_run(n->p, 16, count, (void *)n->seen, 0);
}
static void nested_launch(void **state) {
  (void)state;
  Nest n = {.p = tirc_pool_new(2)};
  tirc_pool_run(n.p, 8, outer, &n, 8);
  for (int i = 0; i < 16; i++) assert_int_equal(n.seen[i], 8);
  tirc_pool_free(n.p);
}

static void *launch(void *closure) {
  Nest *n = closure;
  for (int i = 0; i < 500; i++) tirc_pool_run(n->p, 16, count, (void *)n->seen, 0);
  return NULL;
}
static void two_callers(void **state) {
  (void)state;
  Nest n = {.p = tirc_pool_new(2)};
  pthread_t other;
  assert_int_equal(pthread_create(&other, NULL, launch, &n), 0);
  launch(&n);
  pthread_join(other, NULL);
  for (int i = 0; i < 16; i++) assert_int_equal(n.seen[i], 1000);
  tirc_pool_free(n.p);
}

static void bad_counts(void **state) {
  (void)state;
  assert_null(tirc_pool_new(0));
  assert_null(tirc_pool_new(-1));
  setenv("TIRC_NUM_THREADS", "3", 1);
  assert_int_equal(tirc_default_threads(), 3);
  setenv("TIRC_NUM_THREADS", "none", 1);
  assert_true(tirc_default_threads() >= 1);
  unsetenv("TIRC_NUM_THREADS");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_index_once),     cmocka_unit_test(each_thread_has_its_part),
      cmocka_unit_test(many_short_launches), cmocka_unit_test(nested_launch),
      cmocka_unit_test(two_callers),         cmocka_unit_test(bad_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
