/* Programs by the public header: one that was made once runs on batches of several sizes, by
 * several callers at once, with the same bits; weights that come from elsewhere are prepared again.
 * Arguments are arrays, or tensors of somebody else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "runtime/tirc.h"

/* w + w depends on weights alone. */
static const char text[] =
    "@R.function\n"
    "def main(x: R.Tensor((\"n\", 64), \"float32\"), w: R.Tensor((64, 32), \"float32\"), "
    "b: R.Tensor((32,), \"float32\")):\n"
    "    R.func_attr({\"num_input\": 1})\n"
    "    with R.dataflow():\n"
    "        h = R.nn.relu(R.add(R.matmul(x, R.add(w, w)), b))\n"
    "        s = R.nn.softmax(h, axis=-1)\n"
    "        gv = R.add(h, s)\n"
    "        R.output(gv, h)\n"
    "    return (gv, h)\n";

enum { IN = 64, OUT = 32, PARAMS = 3, ARGS = 5, MOST = 8 };

static void require(tirc_status status, tirc_error *e) {
  if (status) fail_msg("%s", tirc_error_message(e));
}

/* With a bound on the batch, a frame's workspace is as large as any other's. */
static const char bounded[] =
    "@R.function\n"
    "def main(x: R.Tensor((\"n\", 64), \"float32\"), w: R.Tensor((64, 32), \"float32\"), "
    "b: R.Tensor((32,), \"float32\")):\n"
    "    R.func_attr({\"num_input\": 1, \"tir_var_upper_bound\": {\"n\": 40}})\n"
    "    with R.dataflow():\n"
    "        h = R.nn.relu(R.add(R.matmul(x, R.add(w, w)), b))\n"
    "        s = R.nn.softmax(h, axis=-1)\n"
    "        gv = R.add(h, s)\n"
    "        R.output(gv, h)\n"
    "    return (gv, h)\n";

static tirc_program *make_of(const char *source, bool poison) {
  tirc_error *e = NULL;
  tirc_module *m;
  tirc_program *p;
  const tirc_program_options options = {.poison = poison};
  require(tirc_module_parse(source, strlen(source), "model", 0, NULL, &m, &e), e);
  assert_true(tirc_module_has_graph(m));
  require(tirc_program_new(m, &options, &p, &e), e);
  tirc_module_free(m); /* the program keeps what it needs */
  return p;
}

static tirc_program *make(bool poison) { return make_of(text, poison); }

static tirc_array *array(int ndim, int64_t a, int64_t b, uint64_t seed) {
  tirc_error *e = NULL;
  tirc_array *made;
  require(tirc_array_new("float32", ndim, (const int64_t[]){a, b}, &made, &e), e);
  if (seed) tirc_array_fill_random(made, seed);
  return made;
}

static void arguments(int64_t n, uint64_t seed, tirc_argument out[ARGS]) {
  memset(out, 0, ARGS * sizeof *out);
  out[0].array = array(2, n, IN, seed);
  out[1].array = array(2, IN, OUT, 100);
  out[2].array = array(1, OUT, 0, 101);
  for (int i = PARAMS; i < ARGS; i++) out[i].array = array(2, n, OUT, 0);
}

static void release(tirc_argument args[ARGS]) {
  for (int i = 0; i < ARGS; i++) tirc_array_free(args[i].array);
}

/* What it should be, in double. */
static double expected(const tirc_argument args[ARGS], int64_t row, int64_t column) {
  double sum = tirc_array_get(args[2].array, column);
  for (int64_t k = 0; k < IN; k++)
    sum += tirc_array_get(args[0].array, row * IN + k) * 2 *
           tirc_array_get(args[1].array, k * OUT + column);
  return sum > 0 ? sum : 0;
}

static void check(const tirc_argument args[ARGS], int64_t n) {
  for (int64_t i = 0; i < n * OUT; i++) {
    const double got = tirc_array_get(args[4].array, i), want = expected(args, i / OUT, i % OUT);
    if (!(got - want < 1e-3 && want - got < 1e-3)) fail_msg("%g instead of %g", got, want);
  }
}

static void test_sizes(void **state) {
  (void)state;
  static const int64_t sizes[] = {1, 3, 8, 0, 3, 64, 1};
  tirc_program *p = make(true);
  tirc_error *e = NULL;
  int n_params;
  const tirc_param *params;
  require(tirc_module_params(tirc_program_signature(p), NULL, &n_params, &params, &e), e);
  assert_int_equal(n_params, ARGS);
  assert_int_equal(tirc_program_inputs(p), 1);
  assert_int_equal(tirc_program_params(p), PARAMS);
  assert_string_equal(params[0].name, "x");
  assert_true(params[3].is_written && !params[0].is_written);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    tirc_argument args[ARGS];
    arguments(sizes[i], 7 + i, args);
    require(tirc_program_run(p, NULL, ARGS, args, &e), e);
    check(args, sizes[i]);
    release(args);
  }
  tirc_program_free(p);
}

/* More sizes than there are idle frames: the oldest one becomes that of the next size, and takes
 * the workspace that another one left. */
static void test_many_sizes(void **state) {
  (void)state;
  const char *const texts[] = {text, bounded};
  for (int k = 0; k < 2; k++) {
    tirc_program *p = make_of(texts[k], true);
    tirc_error *e = NULL;
    tirc_argument args[ARGS];
    for (int i = 0; i < 60; i++) {
      const int64_t n = i < 30 ? 1 + i : 1 + (60 - i) * 7 % 40;
      arguments(n, 7 + (uint64_t)i, args);
      require(tirc_program_run(p, NULL, ARGS, args, &e), e);
      check(args, n);
      release(args);
    }
    arguments(41, 7, args);
    assert_int_equal(tirc_program_run(p, NULL, ARGS, args, &e), k ? TIRC_BAD : TIRC_OK);
    if (k) assert_non_null(strstr(tirc_error_message(e), "at most 40"));
    if (k) tirc_error_free(e);
    release(args);
    arguments(40, 7, args);
    require(tirc_program_run(p, NULL, ARGS, args, &e), e);
    check(args, 40);
    release(args);
    tirc_program_free(p);
  }
}

static void test_tensors(void **state) {
  (void)state;
  tirc_program *p = make(false);
  tirc_error *e = NULL;
  tirc_argument args[ARGS], given[ARGS] = {{0}};
  DLTensor tensors[ARGS];
  arguments(4, 1, args);
  for (int i = 0; i < ARGS; i++) {
    tirc_array_tensor(args[i].array, &tensors[i]);
    given[i].tensor = &tensors[i];
  }
  for (int i = 0; i < 3; i++) require(tirc_program_run(p, NULL, ARGS, given, &e), e);
  check(args, 4);
  int64_t strides[] = {1, 4};
  tensors[0].strides = strides;
  assert_int_equal(tirc_program_run(p, NULL, ARGS, given, &e), TIRC_BAD);
  assert_non_null(
      strstr(tirc_error_message(e), "argument \"x\" of main: an array must be compact"));
  tirc_error_free(e);
  release(args);
  tirc_program_free(p);
}

static void test_other_weights(void **state) {
  (void)state;
  tirc_program *p = make(false);
  tirc_error *e = NULL;
  tirc_argument args[ARGS];
  tirc_program_size size;
  arguments(4, 1, args);
  require(tirc_program_measure(p, ARGS, args, &size, &e), e);
  /* The sum of weights, and the same laid out for the product. */
  assert_true(size.prepared == 2 && size.packed == 2 * IN * OUT * 4);
  assert_true(size.workspace <= size.unshared);
  for (int i = 0; i < 3; i++) {
    require(tirc_program_run(p, NULL, ARGS, args, &e), e);
    check(args, 4);
    tirc_array *old = args[1].array; /* kept until the other one lies elsewhere */
    args[1].array = array(2, IN, OUT, 50 + (uint64_t)i);
    tirc_array_free(old);
  }
  release(args);
  tirc_program_free(p);
}

static void test_refused(void **state) {
  (void)state;
  tirc_program *p = make(false);
  tirc_error *e = NULL;
  tirc_argument args[ARGS];
  arguments(4, 1, args);
  assert_int_equal(tirc_program_run(p, NULL, ARGS - 1, args, &e), TIRC_BAD);
  tirc_error_free(e);
  tirc_array *fine = args[3].array;
  args[3].array = array(2, 5, OUT, 0); /* of another batch */
  assert_int_equal(tirc_program_run(p, NULL, ARGS, args, &e), TIRC_BAD);
  assert_non_null(strstr(tirc_error_message(e), "gv"));
  tirc_error_free(e);
  tirc_array_free(args[3].array);
  args[3].array = NULL;
  assert_int_equal(tirc_program_run(p, NULL, ARGS, args, &e), TIRC_BAD);
  tirc_error_free(e);
  args[3].array = args[4].array; /* two results in one place */
  assert_int_equal(tirc_program_run(p, NULL, ARGS, args, &e), TIRC_BAD);
  assert_non_null(strstr(tirc_error_message(e), "overlaps"));
  tirc_error_free(e);
  args[3].array = fine;
  require(tirc_program_run(p, NULL, ARGS, args, &e), e);
  check(args, 4);
  release(args);
  tirc_program_free(p);
}

/* --- several callers -------------------------------------------------------------------------- */

typedef struct Caller {
  const tirc_program *program;
  int64_t n;
  uint64_t seed;
  tirc_argument args[ARGS];
  float first[MOST * OUT];
  int differences, failures;
} Caller;

static void *call_often(void *self) {
  Caller *k = self;
  enum { TIMES = 200 };
  for (int i = 0; i < TIMES; i++) {
    k->failures += tirc_program_run(k->program, NULL, ARGS, k->args, NULL) != TIRC_OK;
    k->differences += memcmp(k->first, tirc_array_data(k->args[3].array),
                             (size_t)k->n * OUT * sizeof *k->first) != 0;
  }
  return NULL;
}

static void test_callers(void **state) {
  (void)state;
  enum { CALLERS = 4 };
  static Caller callers[CALLERS];
  pthread_t threads[CALLERS];
  tirc_program *p = make(true);
  tirc_error *e = NULL;
  for (int i = 0; i < CALLERS; i++) {
    Caller *k = &callers[i];
    *k = (Caller){.program = p, .n = i % 2 ? 3 : MOST, .seed = 20 + (uint64_t)i};
    arguments(k->n, k->seed, k->args);
    require(tirc_program_run(p, NULL, ARGS, k->args, &e), e);
    check(k->args, k->n);
    memcpy(k->first, tirc_array_data(k->args[3].array), (size_t)k->n * OUT * sizeof *k->first);
  }
  for (int i = 0; i < CALLERS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, call_often, &callers[i]), 0);
  for (int i = 0; i < CALLERS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < CALLERS; i++) {
    assert_int_equal(callers[i].failures, 0);
    assert_int_equal(callers[i].differences, 0);
    release(callers[i].args);
  }
  tirc_program_free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sizes),   cmocka_unit_test(test_many_sizes),
      cmocka_unit_test(test_tensors), cmocka_unit_test(test_other_weights),
      cmocka_unit_test(test_refused), cmocka_unit_test(test_callers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
