/* Deep and long texts on threads with small stacks: what a call answers does not depend on the
 * stack that is there, and nothing leaves it. */
#define _GNU_SOURCE /* mincore */
#include "ir/stack.h"
#include "runtime/tirc.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

/* --- texts ------------------------------------------------------------------------------------ */

static void repeat(FILE *f, const char *s, int n) {
  while (n-- > 0) fputs(s, f);
}
static void head(FILE *f) {
  fputs("@T.prim_func\n"
        "def main(A: T.Buffer((16,), \"float32\"), C: T.Buffer((16,), \"float32\")):\n",
        f);
}
/* One element from an expression that opens and closes n times. */
static void nested(FILE *f, int n, const char *before, const char *open, const char *inner,
                   const char *close) {
  head(f);
  fputs("    for i in range(16):\n        with T.block(\"C\"):\n            vi = "
        "T.axis.spatial(16, i)\n",
        f);
  fprintf(f, "            C[vi] = %s", before);
  repeat(f, open, n);
  fputs(inner, f);
  repeat(f, close, n);
  fputs("\n", f);
}
static void products(FILE *f, int n) { nested(f, n, "", "(A[vi] * ", "A[vi]", ")"); }
static void divisions(FILE *f, int n) { nested(f, n, "", "(A[vi] / ", "A[vi]", ")"); }
static void parentheses(FILE *f, int n) { nested(f, n, "", "(", "A[vi]", ")"); }
static void minus(FILE *f, int n) { nested(f, n, "", "-", "A[vi]", ""); }
static void chain(FILE *f, int n) { nested(f, n, "A[vi]", "", "", " + A[vi]"); }
static void powers(FILE *f, int n) { nested(f, n, "A[vi]", "", "", " ** A[vi]"); }
static void calls(FILE *f, int n) { nested(f, n, "", "T.exp(", "A[vi]", ")"); }
static void choices(FILE *f, int n) {
  nested(f, n, "", "T.if_then_else(A[vi] > T.float32(1), A[vi], ", "A[vi]", ")");
}
static void indices(FILE *f, int n) {
  nested(f, 0, "A[", "", "", "");
  fseek(f, -1, SEEK_CUR); /* its end of the line */
  repeat(f, "(vi + ", n);
  fputs("vi", f);
  repeat(f, ")", n);
  fputs(" % 16", f);
  fputs("]\n", f);
}
static void conditions(FILE *f, int n) {
  nested(f, n, "T.Select(vi < 1", " or vi < 2", ", A[vi], A[vi])", "");
}
static void loops(FILE *f, int n) {
  head(f);
  for (int i = 0; i < n; i++) {
    repeat(f, " ", i + 1);
    fprintf(f, "for i%d in range(1):\n", i);
  }
  repeat(f, " ", n + 1);
  fputs("C[0] = A[0] + C[1]\n", f);
}
static void ifs(FILE *f, int n) {
  head(f);
  for (int i = 0; i < n; i++) {
    repeat(f, " ", i + 1);
    fprintf(f, "if A[%d] > T.float32(0):\n", i % 16);
  }
  repeat(f, " ", n + 1);
  fputs("C[0] = A[0] + C[1]\n", f);
}
static void elifs(FILE *f, int n) {
  head(f);
  for (int i = 0; i < n; i++)
    fprintf(f, "    %sif A[%d] > T.float32(%d):\n        C[0] = A[1]\n", i ? "el" : "", i % 16, i);
}
static void lets(FILE *f, int n) {
  head(f);
  for (int i = 0; i < n; i++)
    if (i)
      fprintf(f, "    x%d: T.float32 = x%d + A[1]\n", i, i - 1);
    else
      fputs("    x0: T.float32 = A[0]\n", f);
  fprintf(f, "    C[0] = x%d\n", n - 1);
}
static void blocks(FILE *f, int n) {
  head(f);
  for (int i = 0; i < n; i++) {
    repeat(f, " ", i + 1);
    fprintf(f, "with T.block(\"b%d\"):\n", i);
  }
  repeat(f, " ", n + 1);
  fputs("C[0] = A[0]\n", f);
}
static void statements(FILE *f, int n) {
  head(f);
  for (int i = 0; i < n; i++) fprintf(f, "    C[%d] = A[%d]\n", i % 16, (i + 1) % 16);
}

static void recursion(FILE *f, int n) {
  fprintf(f, "def f(n):\n    return 0 if n == 0 else f(n - 1) + 1\nprint(f(%d))\n", n);
}
static void lists(FILE *f, int n) {
  fputs("x = ", f);
  repeat(f, "[", n);
  repeat(f, "]", n);
  fputs("\nprint(x, x == x)\n", f);
}
static void made_lists(FILE *f, int n) {
  fprintf(f, "x = []\nfor i in range(%d):\n    x = [x]\nprint(x)\ny = x == x\nz = str(x)\n", n);
}
static void kept_lists(FILE *f, int n) {
  fprintf(f,
          "x = [1]\nfor i in range(%d):\n    x = [x]\nsch.annotate(sch.get_block('C'), 'k', x)\n",
          n);
}
static void compared_lists(FILE *f, int n) {
  fprintf(f,
          "x = []\ny = []\nfor i in range(%d):\n    x = [x]\n    y = [y]\nprint(x == y, x < y)\n",
          n);
}
static void lambdas(FILE *f, int n) {
  fputs("f = ", f);
  repeat(f, "(lambda: ", n);
  fputs("1", f);
  repeat(f, ")()", n);
  fputs("\n", f);
}
static void comprehensions(FILE *f, int n) {
  fputs("x = ", f);
  repeat(f, "[", n);
  fputs("1", f);
  repeat(f, " for i in range(1)]", n);
  fputs("\n", f);
}
static void sums(FILE *f, int n) {
  fputs("x = 1", f);
  repeat(f, " + 1", n);
  fputs("\n", f);
}
static void map_of_sums(FILE *f, int n) {
  fputs("sch.transform_layout('C', ('write', 0), lambda i: (i", f);
  repeat(f, " + 1 - 1", n);
  fputs("))\n", f);
}
static void made_exprs(FILE *f, int n) {
  fprintf(f,
          "i = sch.get(sch.get_loops('C')[0]).loop_var\nx = i\nfor k in range(%d):\n    x = x * i\n"
          "print(x)\n",
          n);
}
static void tries(FILE *f, int n) {
  for (int i = 0; i < n; i++) {
    repeat(f, " ", i);
    fputs("if True:\n", f);
  }
  repeat(f, " ", n);
  fputs("pass\n", f);
}
static void json_lists(FILE *f, int n) {
  repeat(f, "[", n);
  repeat(f, "]", n);
}
static void json_objects(FILE *f, int n) {
  repeat(f, "{\"a\": ", n);
  fputs("1", f);
  repeat(f, "}", n);
}

/* --- calls ------------------------------------------------------------------------------------ */

typedef struct Job {
  void (*write)(FILE *f, int n);
  int n;
  void (*use)(const char *text, size_t n, FILE *answers);
  char *answers;
} Job;

static void answer(FILE *f, const char *what, tirc_status status, tirc_error *e) {
  fprintf(f, "%s: %d", what, status);
  if (status) fprintf(f, " %s", tirc_error_message(e));
  fputc('\n', f);
  tirc_error_free(e);
}
#define ANSWER(what, call)                                                                         \
  do {                                                                                             \
    tirc_error *e = NULL;                                                                          \
    tirc_status status_ = (call);                                                                  \
    answer(f, what, status_, e);                                                                   \
  } while (0)

static void ignore(void *self, const char *text) { (void)self, (void)text; }

static void use_program(const char *text, size_t n, FILE *f) {
  tirc_module *m = NULL, *fast = NULL, *low = NULL;
  tirc_kernel *k = NULL;
  tirc_reference *r = NULL;
  tirc_array *a = NULL, *c = NULL;
  char *out = NULL;
  size_t size;
  bool whole;
  const int64_t shape[] = {16};
  ANSWER("parse", tirc_module_parse(text, n, "p", 0, NULL, &m, &e));
  if (!m) return;
  ANSWER("print", tirc_module_print(m, &out, &e));
  fprintf(f, "%zu\n", out ? strlen(out) : 0);
  tirc_string_free(out), out = NULL;
  ANSWER("compare", tirc_module_compare(m, m, &out, &e));
  tirc_string_free(out), out = NULL;
  ANSWER("hash", tirc_module_hash(m, &out, &e));
  tirc_string_free(out), out = NULL;
  ANSWER("check", tirc_module_check(m, NULL, &e));
  ANSWER("lower", tirc_module_lower_for(m, NULL, NULL, NULL, &low, &e));
  ANSWER("array", tirc_array_new("float32", 1, shape, &a, &e));
  ANSWER("array", tirc_array_new("float32", 1, shape, &c, &e));
  const tirc_argument args[] = {{.array = a}, {.array = c}};
  ANSWER("interpret", tirc_module_interpret(m, "main", 2, args, 0, &e));
  ANSWER("observe", tirc_module_observe(m, "main", 2, args, 0, &(tirc_observer){0}, &whole, &e));
  ANSWER("reference", tirc_reference_new(m, "main", 2, args, NULL, &r, &e));
  tirc_reference_free(r);
  ANSWER("auto", tirc_module_auto(m, NULL, NULL, &fast, &e));
  ANSWER("C", tirc_module_emit(m, TIRC_EMIT_C, NULL, "k", &out, &size, &e));
  tirc_string_free(out), out = NULL;
  ANSWER("kernel", tirc_kernel_new(m, "main", NULL, &k, &e));
  if (k) ANSWER("run", tirc_kernel_run(k, NULL, 2, args, &e));
  tirc_kernel_free(k);
  tirc_array_free(a);
  tirc_array_free(c);
  tirc_module_free(low);
  tirc_module_free(fast);
  tirc_module_free(m);
}

static tirc_module *a_program(void) {
  static const char text[] =
      "@T.prim_func\ndef main(A: T.Buffer((16,), \"float32\"), C: T.Buffer((16,), \"float32\")):\n"
      "    for i in range(16):\n        with T.block(\"C\"):\n            vi = T.axis.spatial(16, "
      "i)\n"
      "            C[vi] = A[vi] * A[vi]\n";
  tirc_module *m = NULL;
  (void)tirc_module_parse(text, strlen(text), "p", 0, NULL, &m, NULL);
  return m;
}

static void use_script(const char *text, size_t n, FILE *f) {
  tirc_module *m = a_program(), *fast = NULL;
  char *out = NULL;
  const tirc_schedule_options options = {.print = ignore};
  ANSWER("script", tirc_module_schedule_text(m, text, n, "s", &options, &fast, &e));
  if (fast) ANSWER("print", tirc_module_print(fast, &out, &e));
  tirc_string_free(out), out = NULL;
  if (fast) ANSWER("trace", tirc_module_trace(fast, TIRC_TRACE_JSON, &out, &e));
  tirc_string_free(out);
  tirc_module_free(fast);
  tirc_module_free(m);
}

static void use_trace(const char *text, size_t n, FILE *f) {
  tirc_module *m = a_program(), *fast = NULL;
  ANSWER("replay", tirc_module_replay_text(m, text, n, "t", 0, NULL, &fast, &e));
  tirc_module_free(fast);
  tirc_module_free(m);
}

static void *run(void *self) {
  Job *job = self;
  size_t n = 0, size = 0;
  char *text = NULL;
  FILE *f = open_memstream(&text, &n);
  job->write(f, job->n);
  fclose(f);
  f = open_memstream(&job->answers, &size);
  job->use(text, n, f);
  fclose(f);
  free(text);
  return NULL;
}

static char *answers_on(Job job, size_t stack) {
  pthread_attr_t attr;
  pthread_t thread;
  assert_int_equal(pthread_attr_init(&attr), 0);
  assert_int_equal(pthread_attr_setstacksize(&attr, stack), 0);
  assert_int_equal(pthread_create(&thread, &attr, run, &job), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  pthread_attr_destroy(&attr);
  return job.answers;
}

/* The same where there is stack in plenty; *used: how much of it was touched. */
static char *answers_measured(Job job, size_t *used) {
  enum { PLENTY = 64 << 20 };
  pthread_attr_t attr;
  pthread_t thread;
  char *at =
      mmap(NULL, PLENTY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t untouched = 0;
  unsigned char there = 0;
  assert_true(at != MAP_FAILED);
  assert_int_equal(pthread_attr_init(&attr), 0);
  assert_int_equal(pthread_attr_setstack(&attr, at, PLENTY), 0);
  assert_int_equal(pthread_create(&thread, &attr, run, &job), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  pthread_attr_destroy(&attr);
  while (untouched < PLENTY && mincore(at + untouched, page, &there) == 0 && !(there & 1))
    untouched += page;
  *used = PLENTY - untouched;
  munmap(at, PLENTY);
  return job.answers;
}

/* A sanitizer's frames are larger than what is said of ours. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const size_t smallest = 256 << 10;
#else
static const size_t smallest = 64 << 10;
#endif

static void test_no_stack_is_too_small(void **state) {
  (void)state;
  static const Job jobs[] = {
      {products, 100, use_program, NULL},
      {products, 190, use_program, NULL},
      {products, 350, use_program, NULL},
      {products, 100000, use_program, NULL},
      {divisions, 350, use_program, NULL},
      {parentheses, 390, use_program, NULL},
      {parentheses, 100000, use_program, NULL},
      {minus, 350, use_program, NULL},
      {minus, 100000, use_program, NULL},
      {chain, 350, use_program, NULL},
      {chain, 5000, use_program, NULL},
      {powers, 350, use_program, NULL},
      {calls, 350, use_program, NULL},
      {choices, 180, use_program, NULL},
      {indices, 170, use_program, NULL},
      {conditions, 350, use_program, NULL},
      {conditions, 5000, use_program, NULL},
      {loops, 99, use_program, NULL},
      {loops, 350, use_program, NULL},
      {ifs, 200, use_program, NULL},
      {ifs, 5000, use_program, NULL},
      {elifs, 200, use_program, NULL},
      {elifs, 5000, use_program, NULL},
      {lets, 380, use_program, NULL},
      {lets, 5000, use_program, NULL},
      {blocks, 200, use_program, NULL},
      {statements, 300, use_program, NULL},
      {recursion, 90, use_script, NULL},
      {recursion, 1000000, use_script, NULL},
      {lists, 390, use_script, NULL},
      {lists, 100000, use_script, NULL},
      {made_lists, 100000, use_script, NULL},
      {compared_lists, 100000, use_script, NULL},
      {kept_lists, 20, use_script, NULL},
      {kept_lists, 100000, use_script, NULL},
      {lambdas, 120, use_script, NULL},
      {comprehensions, 120, use_script, NULL},
      {sums, 390, use_script, NULL},
      {sums, 100000, use_script, NULL},
      {map_of_sums, 180, use_script, NULL},
      {made_exprs, 385, use_script, NULL},
      {made_exprs, 100000, use_script, NULL},
      {tries, 99, use_script, NULL},
      {tries, 5000, use_script, NULL},
      {json_lists, 25, use_trace, NULL},
      {json_lists, 1000000, use_trace, NULL},
      {json_objects, 1000000, use_trace, NULL},
  };
  for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
    size_t used = 0;
    char *large = answers_measured(jobs[i], &used);
    if (getenv("SHOW")) printf("%zu: %d uses %zu KB\n%s", i, jobs[i].n, used >> 10, large);
    assert_true(used > 0 && used < STACK_ENOUGH);
    char *small = answers_on(jobs[i], smallest);
    assert_string_equal(small, large);
    free(small);
    free(large);
  }
}

/* --- the measure ------------------------------------------------------------------------------ */

static void ask(void *self) { *(size_t *)self = tirc_stack_left(); }

static void *ask_on_thread(void *self) {
  size_t *left = self;
  left[0] = tirc_stack_left();
  (void)tirc_on_stack(left[0] / 2, ask, &left[1]);    /* here */
  (void)tirc_on_stack(left[0] + 4096, ask, &left[2]); /* there */
  return NULL;
}

static void test_what_is_left_is_known(void **state) {
  (void)state;
  const size_t here = tirc_stack_left();
  assert_true(here > 64 << 10 && here <= 64 << 20);
  for (size_t size = 128 << 10; size <= 8 << 20; size *= 8) {
    size_t left[3] = {0};
    pthread_attr_t attr;
    pthread_t thread;
    assert_int_equal(pthread_attr_init(&attr), 0);
    assert_int_equal(pthread_attr_setstacksize(&attr, size), 0);
    assert_int_equal(pthread_create(&thread, &attr, ask_on_thread, left), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attr);
    assert_true(left[0] <= 4 * size && left[0] > size / 2); /* stacks are used again */
    assert_true(left[1] <= left[0]);
    assert_true(left[2] > STACK_OWN / 2 && left[2] <= STACK_OWN + (64 << 10));
  }
}

/* A kernel with buffers on its stack, in a thread that has no room for them. */
static void *run_kernel(void *self) {
  static const char text[] =
      "@T.prim_func\ndef main(A: T.Buffer((16384,), \"float32\"), C: T.Buffer((16384,), "
      "\"float32\")):\n"
      "    B0 = T.alloc_buffer((15000,), \"float32\", scope=\"local\")\n"
      "    B1 = T.alloc_buffer((15000,), \"float32\", scope=\"local\")\n"
      "    B2 = T.alloc_buffer((15000,), \"float32\", scope=\"local\")\n"
      "    for i in range(15000):\n        with T.block(\"b0\"):\n            vi = "
      "T.axis.spatial(15000, i)\n            B0[vi] = A[vi] + T.float32(1)\n"
      "    for i in range(15000):\n        with T.block(\"b1\"):\n            vi = "
      "T.axis.spatial(15000, i)\n            B1[vi] = B0[14999 - vi] + T.float32(1)\n"
      "    for i in range(15000):\n        with T.block(\"b2\"):\n            vi = "
      "T.axis.spatial(15000, i)\n            B2[vi] = B1[14999 - vi] + B0[vi]\n"
      "    for i in range(15000):\n        with T.block(\"c\"):\n            vi = "
      "T.axis.spatial(15000, i)\n            C[vi] = B2[14999 - vi] + B1[vi]\n";
  tirc_module *m = NULL;
  tirc_kernel *k = NULL;
  tirc_array *a = NULL, *c = NULL;
  tirc_launch *l = NULL;
  const int64_t shape[] = {16384};
  double seconds[2];
  bool *ok = self;
  if (tirc_module_parse(text, strlen(text), "p", 0, NULL, &m, NULL) ||
      tirc_array_new("float32", 1, shape, &a, NULL) ||
      tirc_array_new("float32", 1, shape, &c, NULL))
    return NULL;
  const tirc_argument args[] = {{.array = a}, {.array = c}};
  *ok = tirc_kernel_new(m, "main", NULL, &k, NULL) == TIRC_OK &&
        tirc_kernel_run(k, NULL, 2, args, NULL) == TIRC_OK &&
        tirc_launch_new(k, NULL, 2, args, &l, NULL) == TIRC_OK && tirc_launch_run(l) == 0 &&
        tirc_launch_time(l, 1, 2, 0, seconds, NULL) == TIRC_OK && tirc_array_get(c, 7) == 5;
  tirc_launch_free(l);
  tirc_kernel_free(k);
  tirc_array_free(a);
  tirc_array_free(c);
  tirc_module_free(m);
  return NULL;
}

static void test_kernels_have_room(void **state) {
  (void)state;
  bool ok = false;
  pthread_attr_t attr;
  pthread_t thread;
  assert_int_equal(pthread_attr_init(&attr), 0);
  assert_int_equal(pthread_attr_setstacksize(&attr, smallest), 0);
  assert_int_equal(pthread_create(&thread, &attr, run_kernel, &ok), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  pthread_attr_destroy(&attr);
  assert_true(ok);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_is_left_is_known),
      cmocka_unit_test(test_kernels_have_room),
      cmocka_unit_test(test_no_stack_is_too_small),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
