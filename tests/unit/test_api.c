/* The public header, used as a stranger would: nothing else of the library is included. */
#include "runtime/tirc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char program[] =
    "M = 8\n"
    "@T.prim_func\n"
    "def main(A: T.Buffer((M, 16), 'float32'), B: T.Buffer((16, 32), 'float32'), "
    "C: T.Buffer((M, 32), 'float32')):\n"
    "    for i, j, k in T.grid(M, 32, 16):\n"
    "        with T.block('C'):\n"
    "            vi, vj, vk = T.axis.remap('SSR', [i, j, k])\n"
    "            with T.init():\n"
    "                C[vi, vj] = T.float32(0)\n"
    "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n";
static const char script[] = "i, j, k = sch.get_loops('C')\n"
                             "sch.reorder(i, k, j)\n"
                             "sch.parallel(i)\n"
                             "sch.vectorize(j)\n";

static tirc_module *parse(const char *text) {
  tirc_module *m = NULL;
  tirc_error *e = NULL;
  if (tirc_module_parse(text, strlen(text), "text", 0, NULL, &m, &e))
    fail_msg("%s", tirc_error_message(e));
  return m;
}

static tirc_module *schedule(const tirc_module *m, const char *text) {
  tirc_module *r = NULL;
  tirc_error *e = NULL;
  if (tirc_module_schedule_text(m, text, strlen(text), "script", NULL, &r, &e))
    fail_msg("%s", tirc_error_message(e));
  return r;
}

static void make_arguments(const tirc_module *m, tirc_argument *args) {
  const tirc_param *p;
  int n;
  assert_int_equal(tirc_module_params(m, NULL, &n, &p, NULL), TIRC_OK);
  assert_int_equal(n, 3);
  for (int i = 0; i < n; i++) {
    assert_int_equal(tirc_array_new(p[i].dtype, p[i].ndim, p[i].shape, &args[i].array, NULL),
                     TIRC_OK);
    tirc_array_fill_random(args[i].array, (uint64_t)i);
    assert_int_equal(p[i].is_written, i == 2);
  }
}

/* transform_layout of B and C: arrays go there by relayout, and what is computed comes back. */
static void layouts_of_parameters(void **state) {
  (void)state;
  tirc_module *m = parse(program), *there, *back, *none = m;
  tirc_module *fast = schedule(
      m, "sch.transform_layout('C', ('write', 0), lambda i, j: (j // 5, i, j % 5), pad_value=0.0)\n"
         "sch.transform_layout('C', 'B', lambda k, j: (j, k))\n");
  tirc_argument args[3] = {0}, now[3] = {0};
  const tirc_param *p;
  int n;
  make_arguments(m, args);
  assert_int_equal(tirc_module_relayout(fast, NULL, 0, false, &none, NULL), TIRC_OK);
  assert_null(none);
  assert_int_equal(tirc_module_params(fast, NULL, &n, &p, NULL), TIRC_OK);
  now[0] = args[0];
  for (int i = 1; i < 3; i++) {
    assert_int_equal(tirc_array_new(p[i].dtype, p[i].ndim, p[i].shape, &now[i].array, NULL), 0);
    assert_int_equal(tirc_module_relayout(fast, "main", i, false, &there, NULL), TIRC_OK);
    tirc_argument pair[2] = {args[i], now[i]};
    assert_int_equal(tirc_module_interpret(there, NULL, 2, pair, 0, NULL), TIRC_OK);
    tirc_module_free(there);
  }
  assert_int_equal(tirc_module_interpret(fast, NULL, 3, now, 0, NULL), TIRC_OK);
  assert_int_equal(tirc_module_interpret(m, NULL, 3, args, 0, NULL), TIRC_OK);
  tirc_array *c = NULL;
  assert_int_equal(tirc_array_copy(args[2].array, &c, NULL), TIRC_OK);
  tirc_array_fill_random(c, 9);
  assert_int_equal(tirc_module_relayout(fast, NULL, 2, true, &back, NULL), TIRC_OK);
  tirc_argument pair[2] = {now[2], {.array = c}};
  assert_int_equal(tirc_module_interpret(back, NULL, 2, pair, 0, NULL), TIRC_OK);
  for (int64_t i = 0; i < tirc_array_count(c); i++)
    assert_float_equal(tirc_array_get(c, i), tirc_array_get(args[2].array, i), 1e-5);
  tirc_module *lowered = NULL;
  assert_int_equal(tirc_module_lower_for(fast, NULL, NULL, NULL, &lowered, NULL), TIRC_OK);
  assert_int_equal(tirc_module_relayout(lowered, NULL, 2, true, &none, NULL), TIRC_BAD);
  assert_int_equal(tirc_module_relayout(fast, NULL, 3, true, &none, NULL), TIRC_BAD);
  tirc_array_free(c);
  for (int i = 0; i < 3; i++) tirc_array_free(args[i].array);
  for (int i = 1; i < 3; i++) tirc_array_free(now[i].array);
  tirc_module_free(lowered);
  tirc_module_free(back);
  tirc_module_free(fast);
  tirc_module_free(m);
}

static const char intrinsic[] =
    "@T.prim_func\n"
    "def row(A: T.Buffer((16,), 'float32'), B: T.Buffer((16,), 'float32')):\n"
    "    for i in range(16):\n"
    "        with T.block('B'):\n"
    "            vi = T.axis.spatial(16, i)\n"
    "            B[vi] = A[vi]\n"
    "@T.prim_func\n"
    "def copy(a: T.handle, b: T.handle):\n"
    "    A = T.match_buffer(a, (4,), offset_factor=1)\n"
    "    B = T.match_buffer(b, (4,), offset_factor=1)\n"
    "    with T.block('root'):\n"
    "        T.reads(A[0:4])\n"
    "        T.writes(B[0:4])\n"
    "        for i in range(4):\n"
    "            with T.block('B'):\n"
    "                vi = T.axis.spatial(4, i)\n"
    "                B[vi] = A[vi]\n";

/* One function of several, and a trace that tensorizes, done again to what knows its intrinsic. */
/* A layout may have more dimensions than a run with bounds can follow: it says so. */
static void more_dimensions_than_bounds_follow(void **state) {
  (void)state;
  static const char text[] =
      "@T.prim_func\ndef main(A: T.Buffer((4,), \"float32\"), C: T.Buffer((4,), \"float32\")):\n"
      "    B = T.alloc_buffer((4,), \"float32\")\n"
      "    for i in range(4):\n        with T.block(\"B\"):\n            vi = T.axis.spatial(4, "
      "i)\n"
      "            B[vi] = A[vi]\n"
      "    for i in range(4):\n        with T.block(\"C\"):\n            vi = T.axis.spatial(4, "
      "i)\n"
      "            C[vi] = B[vi]\n";
  tirc_module *m = parse(text);
  for (int zeros = 31; zeros < 200; zeros += 32) {
    char layout[1000] = "sch.transform_layout('B', ('write', 0), lambda i: (i";
    for (int i = 0; i < zeros; i++) strcat(layout, ", 0");
    strcat(layout, "))\n");
    tirc_module *fast = schedule(m, layout);
    const int64_t shape[] = {4};
    tirc_argument args[2] = {{0}};
    tirc_reference *r = NULL;
    tirc_error *e = NULL;
    for (int i = 0; i < 2; i++)
      assert_int_equal(tirc_array_new("float32", 1, shape, &args[i].array, NULL), TIRC_OK);
    const tirc_status status = tirc_reference_new(fast, NULL, 2, args, NULL, &r, &e);
    assert_int_equal(status, zeros < 32 ? TIRC_OK : TIRC_BAD);
    if (status) assert_string_equal(tirc_error_get(e, TIRC_ERROR_CODE), "unsupported");
    tirc_error_free(e);
    tirc_reference_free(r);
    for (int i = 0; i < 2; i++) tirc_array_free(args[i].array);
    tirc_module_free(fast);
  }
  tirc_module_free(m);
}

/* Whatever array is given for a parameter is copied as it is where it does not fit. */
static void arrays_of_another_type(void **state) {
  (void)state;
  static const char text[] =
      "@T.prim_func\ndef main(A: T.Buffer((4,), \"float32\"), C: T.Buffer((4,), \"float32\")):\n"
      "    for i in range(4):\n        C[i] = A[i]\n";
  static const char *const types[] = {"float32", "float64", "int32", "int8"};
  const int64_t shape[] = {4};
  const tirc_argument none[2] = {{0}};
  tirc_module *m;
  assert_int_equal(tirc_module_parse(text, strlen(text), "p", 0, NULL, &m, NULL), TIRC_OK);
  for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
    tirc_array *from, *a;
    assert_int_equal(tirc_array_new(types[k], 1, shape, &from, NULL), TIRC_OK);
    for (int i = 0; i < 4; i++) tirc_array_set(from, i, i + 1);
    assert_int_equal(tirc_module_array(m, NULL, 2, none, 0, NULL, 0, from, &a, NULL), TIRC_OK);
    DLTensor is, was;
    tirc_array_tensor(a, &is);
    tirc_array_tensor(from, &was);
    assert_int_equal(is.dtype.code, was.dtype.code);
    assert_int_equal(is.dtype.bits, was.dtype.bits);
    for (int i = 0; i < 4; i++) assert_true(tirc_array_get(a, i) == i + 1);
    tirc_array_free(a);
    tirc_array_free(from);
  }
  tirc_module_free(m);
}

static void functions_alone_and_intrinsics(void **state) {
  (void)state;
  tirc_module *all = parse(intrinsic), *one = NULL, *replayed = NULL, *none = NULL;
  static const char reg[] = "tvm.tir.TensorIntrin.register('copy', copy, copy)\n";
  tirc_module *known = schedule(all, reg);
  tirc_module *tensorized =
      schedule(known, "sch.work_on('row')\n"
                      "sch.tensorize(sch.split(sch.get_loops('B')[0], [None, 4])[1], 'copy')\n");
  assert_int_equal(tirc_module_functions(known), 1);
  char *json = NULL, path[] = "/tmp/tirc-test-XXXXXX";
  assert_int_equal(tirc_module_trace(tensorized, TIRC_TRACE_JSON, &json, NULL), TIRC_OK);
  const int fd = mkstemp(path);
  assert_int_equal(write(fd, json, strlen(json)), strlen(json));
  close(fd);
  tirc_string_free(json);
  assert_int_equal(tirc_module_replay(all, path, 0, NULL, &none, NULL), TIRC_BAD);
  assert_int_equal(tirc_module_replay(known, path, 0, NULL, &replayed, NULL), TIRC_OK);
  unlink(path);
  char *difference = NULL;
  assert_int_equal(tirc_module_compare(tensorized, replayed, &difference, NULL), TIRC_OK);
  assert_null(difference);
  assert_int_equal(tirc_module_alone(all, "row", "main", &one, NULL), TIRC_OK);
  tirc_module_free(all);
  assert_string_equal(tirc_module_function(one, 0), "main");
  assert_int_equal(tirc_module_functions(one), 1);
  const tirc_param *p;
  int n;
  assert_int_equal(tirc_module_params(one, "row", &n, &p, NULL), TIRC_OK);
  assert_int_equal(tirc_module_params(one, "copy", &n, &p, NULL), TIRC_BAD);
  assert_int_equal(tirc_module_alone(one, "copy", "main", &none, NULL), TIRC_BAD);
  tirc_module *made[] = {one, known, tensorized, replayed};
  for (int i = 0; i < 4; i++) tirc_module_free(made[i]);
}

/* Of equal candidates each is right, and no other one; of a NaN that comes to max, the NaN and the
 * other operand. */
static void equal_candidates_and_nan(void **state) {
  (void)state;
  tirc_module *m = parse("@T.prim_func\n"
                         "def main(A: T.Buffer((8,), 'float32'), V: T.Buffer((1,), 'float32'), "
                         "I: T.Buffer((1,), 'int32'), B: T.Buffer((1,), 'float32')):\n"
                         "    for k in range(8):\n"
                         "        with T.block('R'):\n"
                         "            vk = T.axis.reduce(8, k)\n"
                         "            with T.init():\n"
                         "                V[0] = T.min_value('float32')\n"
                         "                I[0] = -1\n"
                         "            v: T.float32 = T.Select(V[0] >= A[vk], V[0], A[vk])\n"
                         "            i: T.int32 = T.Select(V[0] >= A[vk], I[0], vk)\n"
                         "            V[0] = v\n"
                         "            I[0] = i\n"
                         "    for k in range(8):\n"
                         "        with T.block('B'):\n"
                         "            vk = T.axis.reduce(8, k)\n"
                         "            with T.init():\n"
                         "                B[0] = T.min_value('float32')\n"
                         "            B[0] = T.max(B[0], A[vk])\n");
  tirc_argument args[4] = {{0}};
  const tirc_param *p;
  int n;
  tirc_reference *r;
  tirc_check check;
  assert_int_equal(tirc_module_params(m, NULL, &n, &p, NULL), TIRC_OK);
  for (int i = 0; i < 4; i++)
    assert_int_equal(tirc_array_new(p[i].dtype, 1, p[i].shape, &args[i].array, NULL), TIRC_OK);
  for (int k = 0; k < 8; k++) tirc_array_set(args[0].array, k, k == 2 || k == 5 ? 7 : k % 4);
  assert_int_equal(tirc_reference_new(m, NULL, 4, args, NULL, &r, NULL), TIRC_OK);
  assert_int_equal(tirc_module_interpret(m, NULL, 4, args, 0, NULL), TIRC_OK);
  static const int asked[] = {5, 2, 3, -1, 99};
  for (int i = 0; i < 5; i++) {
    tirc_array_set(args[2].array, 0, asked[i]);
    assert_int_equal(tirc_reference_check(r, 4, args, &check, NULL), TIRC_OK);
    assert_int_equal(check.ok, i < 2);
    assert_true(check.ok || (!strcmp(check.param, "I") && check.expected == 2));
  }
  tirc_reference_free(r);
  tirc_array_set(args[0].array, 6, (double)NAN);
  assert_int_equal(tirc_reference_new(m, NULL, 4, args, NULL, &r, NULL), TIRC_OK);
  assert_int_equal(tirc_module_interpret(m, NULL, 4, args, 0, NULL), TIRC_OK);
  static const double greatest[] = {(double)NAN, 7};
  for (int i = 0; i < 2; i++) {
    tirc_array_set(args[3].array, 0, greatest[i]);
    assert_int_equal(tirc_reference_check(r, 4, args, &check, NULL), TIRC_OK);
    assert_true(check.ok && check.nan_order == 1);
  }
  tirc_reference_free(r);
  for (int i = 0; i < 4; i++) tirc_array_free(args[i].array);
  tirc_module_free(m);
}

static void scheduled_kernel_agrees(void **state) {
  (void)state;
  tirc_module *m = parse(program), *fast = schedule(m, script), *lowered = NULL;
  tirc_module_free(m); /* what was made of it does not need it */
  tirc_kernel *k = NULL;
  tirc_executor *x = NULL;
  tirc_argument args[3] = {{0}}, expected[3] = {{0}};
  make_arguments(fast, args);
  make_arguments(fast, expected);
  assert_int_equal(tirc_module_lower_for(fast, NULL, NULL, NULL, &lowered, NULL), TIRC_OK);
  assert_int_equal(tirc_module_interpret(lowered, NULL, 3, expected, 0, NULL), TIRC_OK);
  assert_int_equal(tirc_executor_new(2, &x, NULL), TIRC_OK);
  assert_int_equal(tirc_kernel_new(fast, NULL, NULL, &k, NULL), TIRC_OK);
  assert_int_equal(tirc_kernel_run(k, x, 3, args, NULL), TIRC_OK);
  for (int64_t i = 0; i < tirc_array_count(args[2].array); i++) {
    double d = tirc_array_get(args[2].array, i) - tirc_array_get(expected[2].array, i);
    assert_true(d < 1e-4 && d > -1e-4);
  }
  tirc_error *e = NULL;
  assert_int_equal(tirc_kernel_run(k, x, 2, args, &e), TIRC_BAD);
  assert_string_equal(tirc_error_get(e, TIRC_ERROR_CODE), "argument");
  tirc_error_free(e);
  for (int i = 0; i < 3; i++) {
    tirc_array_free(args[i].array);
    tirc_array_free(expected[i].array);
  }
  tirc_kernel_free(k);
  tirc_executor_free(x);
  tirc_module_free(lowered);
  tirc_module_free(fast);
}

static void fma_ceiling_runs(void **state) {
  (void)state;
  int most = 0;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    most = __builtin_cpu_supports("avx512f") ? 512 : 256;
#endif
  static const double operations[] = {-1, 0, 1, 191, 193, 1e5, 3e5, 1e7};
  static const int threads[] = {1, 2, 3};
  for (size_t t = 0; t < 3; t++) {
    tirc_executor *x = NULL;
    assert_int_equal(tirc_executor_new(threads[t], &x, NULL), TIRC_OK);
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
      assert_int_equal(tirc_executor_fma(x, 128, operations[i]), most ? 256 : 0);
      assert_int_equal(tirc_executor_fma(x, 256, operations[i]), most ? 256 : 0);
      assert_int_equal(tirc_executor_fma(x, 512, operations[i]), most);
    }
    tirc_executor_free(x);
  }
  assert_true(most ? tirc_machine_peak(2) > 0 : tirc_machine_peak(2) == 0);
  assert_true(tirc_machine_peak(0) == 0);
}

static void integer_ceiling_runs(void **state) {
  (void)state;
  int most = 0;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) most = __builtin_cpu_supports("avx512bw") ? 512 : 256;
#endif
  static const double operations[] = {-1, 0, 1, 1e5, 1e7};
  tirc_executor *x = NULL;
  assert_int_equal(tirc_executor_new(2, &x, NULL), TIRC_OK);
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
    for (int bits = 8; bits <= 64; bits *= 2) {
      assert_int_equal(tirc_executor_integers(x, 256, bits, operations[i]), most ? 256 : 0);
      assert_int_equal(tirc_executor_integers(x, 512, bits, operations[i]), most);
    }
  assert_int_equal(tirc_executor_integers(x, 256, 24, 1), 0);
  tirc_executor_free(x);
}

/* All lines are written, and none beside them; on any number of threads, by either kind of store.
 */
static void bandwidth_ceiling_writes_what_it_says(void **state) {
  (void)state;
  enum { LINES = 4099, FLOATS = 16 * LINES };
  static const int64_t sizes[][2] = {
      {0, 0}, {64, 0}, {0, 64}, {1, 1}, {640, 64 * 4097}, {64 * 4097, 640}, {64 * 4097, 64 * 4097}};
  const int64_t floats = FLOATS;
  tirc_array *from = NULL, *to = NULL;
  assert_int_equal(tirc_array_new("float32", 1, &floats, &from, NULL), TIRC_OK);
  assert_int_equal(tirc_array_new("float32", 1, &floats, &to, NULL), TIRC_OK);
  for (int variant = 0; variant < 12; variant++) {
    tirc_executor *x = NULL;
    assert_int_equal(tirc_executor_new(1 + variant % 3, &x, NULL), TIRC_OK);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      tirc_array_fill_poison(to);
      int bits = tirc_executor_move(x, variant % 2 ? 512 : 256, tirc_array_data(from), sizes[i][0],
                                    tirc_array_data(to), sizes[i][1], variant >= 6);
      assert_int_equal(bits, tirc_executor_fma(x, variant % 2 ? 512 : 256, 0));
      assert_int_equal(tirc_executor_move(x, 256, NULL, 1, NULL, 0, false), 0);
      assert_int_equal(tirc_executor_move(x, 256, NULL, 0, NULL, 1, false), 0);
      assert_int_equal(
          tirc_executor_move(x, 256, tirc_array_data(from), -1, tirc_array_data(to), -1, false), 0);
      int64_t end = bits ? (sizes[i][1] + 63) / 64 * 16 : 0, k = 0;
      while (k < FLOATS && (tirc_array_get(to, k) == 1) == (k < end)) k++;
      assert_int_equal(k, FLOATS);
    }
    tirc_executor_free(x);
  }
  tirc_array_free(from);
  tirc_array_free(to);
}

static void errors_carry_their_place(void **state) {
  (void)state;
  tirc_module *m = parse(program), *none = NULL;
  tirc_error *e = NULL;
  const char *bad = "i, j, k = sch.get_loops('C')\nsch.parallel(k)\n";
  assert_int_equal(tirc_module_schedule_text(m, bad, strlen(bad), "bad", NULL, &none, &e), TIRC_NO);
  assert_null(none);
  assert_int_equal(tirc_error_status(e), TIRC_NO);
  assert_int_equal(tirc_error_line(e), 2);
  assert_string_equal(tirc_error_get(e, TIRC_ERROR_FILE), "bad");
  assert_string_equal(tirc_error_get(e, TIRC_ERROR_PRIMITIVE), "parallel");
  assert_non_null(strstr(tirc_error_get(e, TIRC_ERROR_EXCERPT), "sch.parallel(k)"));
  assert_non_null(tirc_error_get(e, TIRC_ERROR_HINT));
  tirc_error_free(e);
  assert_int_equal(tirc_module_parse("x = (", 5, "text", 0, NULL, &none, &e), TIRC_BAD);
  assert_string_equal(tirc_error_get(e, TIRC_ERROR_CODE), "syntax");
  tirc_error_free(e);
  assert_int_equal(tirc_module_parse("x = (", 5, "text", 0, NULL, &none, NULL), TIRC_BAD);
  tirc_module_free(m);
}

/* Of a call, with the extents that its arguments give. */
static void costs_of_calls(void **state) {
  (void)state;
  tirc_module *m = parse("@T.prim_func\n"
                         "def main(a: T.handle, C: T.Buffer((2,), \"float32\")):\n"
                         "    n = T.int32()\n"
                         "    A = T.match_buffer(a, (2, n))\n"
                         "    for i, k in T.grid(2, (n + 1) // 2):\n"
                         "        with T.block(\"C\"):\n"
                         "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
                         "            with T.init():\n"
                         "                C[vi] = T.float32(0)\n"
                         "            C[vi] = C[vi] + A[vi, vk]\n");
  tirc_argument args[2] = {0};
  tirc_cost cost;
  tirc_error *e = NULL;
  const int64_t of_a[] = {2, 10}, of_c[] = {2};
  assert_int_equal(tirc_array_new("float32", 2, of_a, &args[0].array, NULL), TIRC_OK);
  assert_int_equal(tirc_array_new("float32", 1, of_c, &args[1].array, NULL), TIRC_OK);
  assert_int_equal(tirc_module_cost(m, NULL, &cost, NULL), TIRC_OK);
  assert_true(!cost.is_exact && cost.reduction == 1);
  assert_int_equal(tirc_module_call_cost(m, NULL, 2, args, &cost, NULL), TIRC_OK);
  assert_true(cost.is_exact && cost.reduction == 5 && cost.float_ops == 10);
  assert_int_equal(tirc_module_call_cost(m, NULL, 1, args, &cost, &e), TIRC_BAD);
  assert_string_equal(tirc_error_get(e, TIRC_ERROR_CODE), "argument");
  tirc_error_free(e);
  tirc_array_free(args[0].array);
  tirc_array_free(args[1].array);
  tirc_module_free(m);
}

/* Those on what is loaded, and none of an index. */
static void operations_on_integers(void **state) {
  (void)state;
  tirc_module *m = parse("@T.prim_func\n"
                         "def main(A: T.Buffer((3, 5), \"int8\"), C: T.Buffer((3,), \"int32\")):\n"
                         "    for i, k in T.grid(3, 4):\n"
                         "        with T.block(\"C\"):\n"
                         "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
                         "            with T.init():\n"
                         "                C[vi] = vi * 3 + 1\n"
                         "            C[vi] = C[vi] + T.cast(A[vi, vk + 1], \"int32\") * 7\n");
  tirc_argument args[2] = {0};
  double operations = -1;
  int bits = -1;
  const int64_t of_a[] = {3, 5}, of_c[] = {3};
  assert_int_equal(tirc_array_new("int8", 2, of_a, &args[0].array, NULL), TIRC_OK);
  assert_int_equal(tirc_array_new("int32", 1, of_c, &args[1].array, NULL), TIRC_OK);
  assert_int_equal(tirc_module_call_integers(m, NULL, 2, args, &operations, &bits, NULL), TIRC_OK);
  assert_true(operations == 2.0 * 3 * 4 && bits == 32);
  tirc_array_free(args[0].array);
  tirc_array_free(args[1].array);
  tirc_module_free(m);
}

static void prints_compares_and_costs(void **state) {
  (void)state;
  tirc_module *m = parse(program), *fast = schedule(m, script);
  char *text = NULL, *difference = NULL;
  assert_int_equal(tirc_module_print(m, &text, NULL), TIRC_OK);
  tirc_module *again = parse(text);
  assert_int_equal(tirc_module_compare(m, again, &difference, NULL), TIRC_OK);
  assert_null(difference);
  assert_int_equal(tirc_module_compare(m, fast, &difference, NULL), TIRC_OK);
  assert_non_null(difference);
  tirc_string_free(difference);
  tirc_string_free(text);
  tirc_cost cost;
  assert_int_equal(tirc_module_cost(m, NULL, &cost, NULL), TIRC_OK);
  assert_true(cost.float_ops == 2.0 * 8 * 32 * 16 && cost.reduction == 16 && cost.is_exact);
  assert_true(cost.m == 8 && cost.n == 32 && cost.k == 16 && cost.a == 0 && cost.b == 1 &&
              cost.c == 2);
  tirc_module_free(again);
  tirc_module_free(fast);
  tirc_module_free(m);
}

/* Two threads compile at once, from one shared module. */
static void *compile(void *module) {
  for (int i = 0; i < 3; i++) {
    tirc_module *fast = NULL;
    tirc_kernel *k = NULL;
    if (tirc_module_schedule_text(module, script, strlen(script), "script", NULL, &fast, NULL) ||
        tirc_kernel_new(fast, NULL, NULL, &k, NULL))
      return NULL;
    tirc_kernel_free(k);
    tirc_module_free(fast);
  }
  return module;
}
static void two_threads_compile(void **state) {
  (void)state;
  tirc_module *m = parse(program);
  pthread_t other;
  void *result = NULL;
  assert_int_equal(pthread_create(&other, NULL, compile, m), 0);
  assert_ptr_equal(compile(m), m);
  pthread_join(other, &result);
  assert_ptr_equal(result, m);
  tirc_module_free(m);
}

typedef struct Heard {
  int n;
  char code[64], message[256];
} Heard;
static void hear(void *self, const char *file, int line, int column, const char *message,
                 const char *code) {
  Heard *h = self;
  (void)file, (void)line, (void)column;
  h->n++;
  snprintf(h->code, sizeof h->code, "%s", code);
  snprintf(h->message, sizeof h->message, "%s", message);
}

/* Vectorizes loop j; true when that is fine. */
static bool vectorize(tirc_schedule *s, tirc_error **e) {
  static const char text[] = "sch.vectorize(sch.get_loops('C')[1])";
  return tirc_schedule_run(s, text, strlen(text), "text", e) == TIRC_OK;
}

/* Call by call: each warning is told once, with its code; a strict schedule refuses the call. */
static void warnings_and_strict_schedules(void **state) {
  (void)state;
  tirc_module *m = parse(program), *odd = parse("@T.prim_func\n"
                                                "def main(A: T.Buffer((9,), 'float32')):\n"
                                                "    for i in range(8):\n"
                                                "        with T.block('A'):\n"
                                                "            vi = T.axis.spatial(8, i)\n"
                                                "            A[vi + 1] = A[vi]\n");
  Heard h = {0};
  tirc_schedule_options options = {.self = &h, .warn = hear};
  tirc_schedule *s = NULL, *copy = NULL;
  tirc_error *e = NULL;
  assert_int_equal(tirc_schedule_new(odd, &options, &s, NULL), TIRC_OK);
  tirc_schedule_free(s);
  assert_int_equal(h.n, 1);
  assert_string_equal(h.code, "spatial-dependence");
  assert_null(strstr(h.message, "spatial-dependence"));
  assert_int_equal(tirc_schedule_new(m, &options, &s, NULL), TIRC_OK);
  assert_true(vectorize(s, NULL));
  assert_int_equal(h.n, 1);
  assert_true(vectorize(s, NULL));
  assert_int_equal(h.n, 2);
  assert_string_equal(h.code, "warning");
  assert_int_equal(tirc_schedule_copy(s, &copy, NULL), TIRC_OK);
  assert_true(vectorize(copy, NULL));
  assert_int_equal(h.n, 3);
  tirc_schedule_free(copy);
  tirc_schedule_free(s);
  options.strict = true;
  s = NULL;
  assert_int_equal(tirc_schedule_new(odd, &options, &s, &e), TIRC_NO);
  assert_null(s);
  assert_string_equal(tirc_error_get(e, TIRC_ERROR_CODE), "spatial-dependence");
  assert_int_equal(tirc_error_line(e), 4);
  tirc_error_free(e);
  assert_int_equal(tirc_schedule_new(m, &options, &s, NULL), TIRC_OK);
  assert_true(vectorize(s, NULL));
  assert_false(vectorize(s, &e));
  assert_string_equal(tirc_error_get(e, TIRC_ERROR_CODE), "warning");
  assert_string_equal(tirc_error_get(e, TIRC_ERROR_PRIMITIVE), "vectorize");
  tirc_error_free(e);
  assert_int_equal(h.n, 3);
  tirc_schedule_free(s);
  tirc_module_free(odd);
  tirc_module_free(m);
}

/* What is computed when a refused call is made all the same: 1 is in A[0], and 2 to 9 behind it. */
static double computed(const tirc_module *m, int64_t at) {
  tirc_argument a = {0};
  const int64_t shape = 9;
  assert_int_equal(tirc_array_new("float32", 1, &shape, &a.array, NULL), TIRC_OK);
  for (int64_t i = 0; i < shape; i++) tirc_array_set(a.array, i, (double)(i + 1));
  assert_int_equal(tirc_module_interpret(m, NULL, 1, &a, 0, NULL), TIRC_OK);
  const double value = tirc_array_get(a.array, at);
  tirc_array_free(a.array);
  return value;
}

static void unchecked_calls(void **state) {
  (void)state;
  static const char call[] = "sch.parallel(sch.get_loops(\"A\")[0])";
  tirc_module *m = parse("@T.prim_func\n"
                         "def main(A: T.Buffer((9,), \"float32\")):\n"
                         "    for i in range(8):\n"
                         "        with T.block(\"A\"):\n"
                         "            vi = T.axis.spatial(8, i)\n"
                         "            A[vi + 1] = A[vi]\n");
  tirc_schedule *s = NULL, *copy = NULL;
  tirc_module *forbidden = NULL, *now = NULL;
  assert_int_equal(tirc_schedule_new(m, NULL, &s, NULL), TIRC_OK);
  assert_int_equal(tirc_schedule_run(s, call, strlen(call), "f", NULL), TIRC_NO);
  assert_int_equal(tirc_schedule_copy(s, &copy, NULL), TIRC_OK);
  assert_int_equal(tirc_schedule_run_unchecked(copy, call, strlen(call), "f", NULL), TIRC_OK);
  assert_int_equal(tirc_schedule_module(copy, &forbidden, NULL), TIRC_OK);
  assert_int_equal(tirc_schedule_module(s, &now, NULL), TIRC_OK);
  assert_true(computed(now, 8) == 1);
  assert_true(computed(forbidden, 8) == 8);
  assert_int_equal(tirc_schedule_run(copy, call, strlen(call), "f", NULL), TIRC_NO);
  tirc_module_free(now);
  tirc_module_free(forbidden);
  tirc_schedule_free(copy);
  tirc_schedule_free(s);
  tirc_module_free(m);
}

static void defines_and_tables(void **state) {
  (void)state;
  tirc_module *m = NULL;
  const tirc_define d = {"M", "3"};
  const tirc_param *p;
  int n;
  assert_int_equal(tirc_module_parse(program, strlen(program), "text", 1, &d, &m, NULL), TIRC_OK);
  assert_int_equal(tirc_module_params(m, "main", &n, &p, NULL), TIRC_OK);
  assert_int_equal(p[0].shape[0], 3);
  assert_int_equal(tirc_module_params(m, "other", &n, &p, NULL), TIRC_BAD);
  tirc_module_free(m);
  tirc_primitive_info info;
  tirc_error_info error;
  const char *name, *value;
  assert_true(tirc_primitive_table(0, &info));
  assert_string_equal(info.name, "get_block");
  assert_true(tirc_primitive_param(0, 1, &name, &value));
  assert_string_equal(value, "None");
  assert_false(tirc_primitive_param(0, 2, &name, &value));
  assert_false(tirc_primitive_table(-1, &info));
  assert_true(tirc_error_table(0, &error));
  assert_true(tirc_pass_table(0, &name, &value));
  assert_false(tirc_pass_table(1000, &name, &value));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scheduled_kernel_agrees),
      cmocka_unit_test(errors_carry_their_place),
      cmocka_unit_test(fma_ceiling_runs),
      cmocka_unit_test(integer_ceiling_runs),
      cmocka_unit_test(bandwidth_ceiling_writes_what_it_says),
      cmocka_unit_test(prints_compares_and_costs),
      cmocka_unit_test(costs_of_calls),
      cmocka_unit_test(operations_on_integers),
      cmocka_unit_test(two_threads_compile),
      cmocka_unit_test(unchecked_calls),
      cmocka_unit_test(defines_and_tables),
      cmocka_unit_test(layouts_of_parameters),
      cmocka_unit_test(more_dimensions_than_bounds_follow),
      cmocka_unit_test(arrays_of_another_type),
      cmocka_unit_test(functions_alone_and_intrinsics),
      cmocka_unit_test(equal_candidates_and_nan),
      cmocka_unit_test(warnings_and_strict_schedules),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
