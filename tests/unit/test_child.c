/* Processes that do what they are asked, crash, hang or eat all memory: the parent goes on. Those
 * that make code for it, and what they raise. */
#include "ir/child.h"
#include "runtime/measure/child.h"
#include "runtime/tirc.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <math.h>

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
  Shared *s = tirc_shared_memory(sizeof *s);
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
  tirc_shared_free(s, sizeof *s);
}

static void what_goes_wrong_is_told(void **state) {
  static const struct {
    Deed deed;
    const char *code, *message;
  } rows[] = {{HANG, "timeout", "the check takes longer than "},
              {SPIN, "timeout", "the check takes longer than "},
              {CRASH, "crash", "the check was stopped by signal 9 (Killed)"},
              {LEAVE, "crash", "the check ends with status 3"}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    Shared *s = tirc_shared_memory(sizeof *s);
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
    tirc_shared_free(s, sizeof *s);
  }
}

#if !defined __SANITIZE_ADDRESS__
static void memory_has_a_limit(void **state) {
  Shared *s = tirc_shared_memory(sizeof *s);
  ChildFailure why;
  (void)state;
  Child k = start(s);
  s->deed = EAT;
  s->had_memory = true;
  tirc_child_ask(&k);
  assert_true(tirc_child_await(&k, 60, "eating", NULL, NULL, &why));
  assert_false(s->had_memory);
  tirc_child_end(&k);
  tirc_shared_free(s, sizeof *s);
}
#endif

/* --- work that is done once ------------------------------------------------------------------- */

static void leave_a_number(Tirc *c, void *self) {
  (void)c;
  *(int *)self += 42;
}
static void raise_hint(Tirc *c, void *self) {
  (void)self;
  tirc_fail(c, (Loc){"f.tir", 3, 5}, CODE_SHAPE, "another one", "extent %d", 7);
}
static void end_itself(Tirc *c, void *self) {
  (void)c, (void)self;
  raise(SIGKILL);
}

/* What it raises goes to this process; NULL: nothing. */
static const Diag *raised(Tirc *c, void (*body)(Tirc *c, void *self), void *self, int64_t *peak) {
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    assert_true(tirc_in_child(c, body, self, peak));
    TIRC_END(c, trap);
    return NULL;
  }
  return &c->diag;
}

static void work_for_once(void **state) {
  (void)state;
  Tirc *c = tirc_context_new();
  int *shared = tirc_shared_memory(sizeof *shared);
  int64_t peak = 0;
  assert_null(raised(c, leave_a_number, shared, &peak));
  assert_int_equal(*shared, 42);
  assert_true(peak > 0);
  const Diag *d = raised(c, raise_hint, NULL, NULL);
  assert_int_equal(d->code, CODE_SHAPE);
  assert_string_equal(d->message, "extent 7");
  assert_string_equal(d->hint, "another one");
  assert_string_equal(d->loc.file, "f.tir");
  assert_int_equal(d->loc.line * 10 + d->loc.column, 35);
  assert_int_equal(raised(c, end_itself, NULL, NULL)->code, CODE_CHILD);
  signal(SIGCHLD, SIG_IGN); /* nobody hears how it ended */
  assert_null(raised(c, leave_a_number, shared, NULL));
  assert_int_equal(raised(c, raise_hint, NULL, NULL)->code, CODE_SHAPE);
  assert_int_equal(raised(c, end_itself, NULL, NULL)->code, CODE_CHILD);
  signal(SIGCHLD, SIG_DFL);
  tirc_shared_free(shared, sizeof *shared);
  tirc_context_release(c);
}

static void wait_for_ever(Tirc *c, void *self) {
  (void)c;
  *(volatile pid_t *)self = getpid();
  for (;;) pause();
}

static void it_goes_with_its_parent(void **state) {
  (void)state;
  volatile pid_t *child = tirc_shared_memory(sizeof *child);
  int status = 0;
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t parent = fork();
  if (parent == 0) {
    (void)tirc_in_child(tirc_context_new(), wait_for_ever, (void *)(uintptr_t)child, NULL);
    _exit(0);
  }
  while (!*child) usleep(1000);
  kill(parent, SIGKILL);
  assert_int_equal(waitpid(parent, &status, 0), parent);
  pid_t ended = 0;
  for (int i = 0; i < 1000 && !ended; i++, usleep(10000)) ended = waitpid(*child, &status, WNOHANG);
  if (!ended) kill(*child, SIGKILL);
  assert_int_equal(ended, *child);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  tirc_shared_free((void *)(uintptr_t)child, sizeof *child);
}

static bool has_mapped(const char *library) {
  char line[1024];
  bool found = false;
  FILE *f = fopen("/proc/self/maps", "r");
  while (f && fgets(line, sizeof line, f)) found |= strstr(line, library) != NULL;
  if (f) fclose(f);
  return found;
}

/* Code that it made runs here, where LLVM was never loaded. */
static void code_for_this_process(void **state) {
  (void)state;
  static const char text[] =
      "@R.function\ndef main(x: R.Tensor((3, 5), 'float32')):\n"
      "    with R.dataflow():\n        y = R.permute_dims(R.tanh(x), [1, 0])\n"
      "        R.output(y)\n    return y\n";
  tirc_module *m = NULL;
  tirc_program *p = NULL;
  tirc_argument args[2] = {{0}};
  tirc_program_size size;
  assert_int_equal(tirc_module_parse(text, sizeof text - 1, "f", 0, NULL, &m, NULL), TIRC_OK);
  const tirc_program_options options = {.by_child = true, .target = "native"};
  assert_int_equal(tirc_program_new(m, &options, &p, NULL), TIRC_OK);
  assert_int_equal(tirc_array_new("float32", 2, (int64_t[]){3, 5}, &args[0].array, NULL), TIRC_OK);
  assert_int_equal(tirc_array_new("float32", 2, (int64_t[]){5, 3}, &args[1].array, NULL), TIRC_OK);
  for (int i = 0; i < 15; i++) ((float *)tirc_array_data(args[0].array))[i] = (float)i / 8;
  assert_int_equal(tirc_program_run(p, NULL, 2, args, NULL), TIRC_OK);
  for (int i = 0; i < 15; i++) {
    const double y = tirc_array_get(args[1].array, i % 5 * 3 + i / 5);
    assert_true(fabs(y - tanh(i / 8.0)) < 1e-6);
  }
  assert_int_equal(tirc_program_measure(p, 2, args, &size, NULL), TIRC_OK);
  assert_true(size.made_in > 0);
  assert_false(has_mapped("libLLVM"));
  tirc_array_free(args[0].array);
  tirc_array_free(args[1].array);
  tirc_program_free(p);
  tirc_module_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(it_works_when_asked),
    cmocka_unit_test(work_for_once),
    cmocka_unit_test(it_goes_with_its_parent),
    cmocka_unit_test(code_for_this_process),
    cmocka_unit_test(what_goes_wrong_is_told),
#if !defined __SANITIZE_ADDRESS__
    cmocka_unit_test(memory_has_a_limit)
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
