/* Processes that do what they are asked, crash, hang or eat all memory: the parent goes on. */
#include "runtime/measure/child.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

typedef enum Deed { COUNT, HANG, SPIN, CRASH, LEAVE, EAT } Deed;
typedef struct Shared {
  Deed deed;
  int begun, done;
  bool had_memory;
} Shared;

static void begin(void *self) { ((Shared *)self)->begun++; }

static void work(void *self) {
  Shared *s = self;
  volatile int more = 1;
  switch (s->deed) {
  case COUNT: s->done++; return;
  case HANG: pause(); return;
  case SPIN:
    while (more) continue;
    return;
  case CRASH: raise(SIGKILL); return;
  case LEAVE: _exit(3);
  case EAT: s->had_memory = malloc((size_t)1 << 32) != NULL; return;
  }
}

static int heard;
static void waits(void *self) {
  (void)self;
  heard++;
}

static Child start(Shared *s) {
  Child k;
  ChildFailure why;
  const ChildWork w = {begin, work, s, (int64_t)64 << 20};
  assert_true(tirc_child_start(&k, &w));
  assert_true(tirc_child_await(&k, 60, "beginning", NULL, NULL, &why));
  assert_int_equal(s->begun, 1);
  return k;
}

static void it_works_when_asked(void **state) {
  Shared *s = tirc_share(sizeof *s);
  ChildFailure why;
  (void)state;
  Child k = start(s);
  for (int i = 1; i < 4; i++) {
    tirc_child_ask(&k);
    assert_true(tirc_child_await(&k, 60, "counting", NULL, NULL, &why));
    assert_int_equal(s->done, i);
  }
  tirc_child_end(&k);
  assert_int_equal(k.pid, 0);
  assert_false(tirc_child_await(&k, 60, "counting", NULL, NULL, &why));
  tirc_unshare(s, sizeof *s);
}

static void what_goes_wrong_is_told(void **state) {
  static const struct {
    Deed deed;
    const char *code, *message;
  } rows[] = {{HANG, "timeout", "the check takes more than "},
              {SPIN, "timeout", "the check takes more than "},
              {CRASH, "crash", "the check ends by signal 9 (Killed)"},
              {LEAVE, "crash", "the check ends with status 3"}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    Shared *s = tirc_share(sizeof *s);
    ChildFailure why;
    Child k = start(s);
    s->deed = rows[i].deed;
    heard = 0;
    tirc_child_ask(&k);
    assert_false(tirc_child_await(&k, 0.6, "the check", waits, NULL, &why));
    assert_string_equal(why.code, rows[i].code);
    /* how long: more where others had its core */
    assert_int_equal(strncmp(why.message, rows[i].message, strlen(rows[i].message)), 0);
    assert_int_equal(k.pid, 0);
    if (rows[i].deed == HANG) assert_true(heard >= 1);
    tirc_unshare(s, sizeof *s);
  }
}

#if !defined __SANITIZE_ADDRESS__
static void memory_has_a_limit(void **state) {
  Shared *s = tirc_share(sizeof *s);
  ChildFailure why;
  (void)state;
  Child k = start(s);
  s->deed = EAT;
  s->had_memory = true;
  tirc_child_ask(&k);
  assert_true(tirc_child_await(&k, 60, "eating", NULL, NULL, &why));
  assert_false(s->had_memory);
  tirc_child_end(&k);
  tirc_unshare(s, sizeof *s);
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(it_works_when_asked),
    cmocka_unit_test(what_goes_wrong_is_told),
#if !defined __SANITIZE_ADDRESS__
    cmocka_unit_test(memory_has_a_limit)
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
