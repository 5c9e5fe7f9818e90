/* The memory plan: tensors that are alive at once lie apart, memory is shared where it can be, and
 * the checker finds what was planted. What a program keeps of its making. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/tree/print.h"
#include "passes/module/plan.h"
#include "runtime/api/program.h"
#include "tests/rng.h"

static void check(Tirc *c, int n, MemoryUse *uses, int64_t least, int64_t most) {
  int a, b;
  const int64_t total = tirc_plan_memory(c, n, uses);
  assert_false(tirc_memory_conflict(n, uses, total, &a, &b));
  assert_true(total >= least && total <= most);
}

static void test_sharing(void **state) {
  (void)state;
  Tirc *c = tirc_context_new();
  /* a chain: two at a time */
  MemoryUse chain[] = {{100, 0, 1, 0}, {100, 1, 2, 0}, {100, 2, 3, 0}, {100, 3, 4, 0}};
  check(c, 4, chain, 256, 256);
  /* all at once, and one that is empty */
  MemoryUse all[] = {{64, 0, 9, 0}, {1, 0, 9, 0}, {0, 0, 9, 0}, {65, 0, 9, 0}};
  check(c, 4, all, 256, 256);
  /* small ones lie in the gap that a large one leaves */
  MemoryUse gap[] = {{6400, 0, 1, 0}, {64, 2, 3, 0}, {64, 2, 3, 0}, {6400, 4, 5, 0}};
  check(c, 4, gap, 6400, 6400);
  check(c, 0, NULL, 0, 0);
  MemoryUse large[] = {{INT64_MAX - 1, 0, 1, 0}};
  assert_int_equal(tirc_plan_memory(c, 1, large), -1);
  MemoryUse two[] = {{INT64_MAX / 2, 0, 1, 0}, {INT64_MAX / 2, 0, 1, 0}, {640, 1, 1, 0}};
  assert_int_equal(tirc_plan_memory(c, 3, two), -1);
  tirc_context_release(c);
}

/* The most that is alive at one call is a bound from below, the sum one from above. */
static void test_random(void **state) {
  (void)state;
  enum { MOST = 40, CALLS = 30 };
  Rng seed = {7};
  for (int round = 0; round < 500; round++) {
    Tirc *c = tirc_context_new();
    MemoryUse uses[MOST];
    int64_t alive[CALLS] = {0}, sum = 0, least = 0;
    const int n = (int)(rng_next(&seed) % MOST);
    for (int i = 0; i < n; i++) {
      const int first = (int)(rng_next(&seed) % CALLS);
      const int last = first + (int)(rng_next(&seed) % (uint64_t)(CALLS - first));
      const int64_t bytes = (int64_t)(rng_next(&seed) % 10) * 64;
      uses[i] = (MemoryUse){bytes, first, last, -1};
      sum += bytes;
      for (int k = first; k <= last; k++) alive[k] += bytes;
    }
    for (int k = 0; k < CALLS; k++) least = alive[k] > least ? alive[k] : least;
    check(c, n, uses, least, sum);
    tirc_context_release(c);
  }
}

static void test_checker(void **state) {
  (void)state;
  int a, b;
  const MemoryUse fine[] = {{64, 0, 1, 0}, {64, 1, 2, 64}, {64, 2, 3, 0}};
  assert_false(tirc_memory_conflict(3, fine, 128, &a, &b));
  const MemoryUse same[] = {{64, 0, 1, 0}, {64, 1, 2, 0}};
  assert_true(tirc_memory_conflict(2, same, 128, &a, &b));
  assert_int_equal(a, 1);
  assert_int_equal(b, 0);
  const MemoryUse overlap[] = {{65, 0, 1, 0}, {64, 1, 2, 64}};
  assert_true(tirc_memory_conflict(2, overlap, 128, &a, &b));
  const MemoryUse outside[] = {{64, 0, 1, 128}};
  assert_true(tirc_memory_conflict(1, outside, 128, &a, &b));
  const MemoryUse crooked[] = {{64, 0, 1, 8}};
  assert_true(tirc_memory_conflict(1, crooked, 128, &a, &b));
}

/* What phases leave behind goes: the module of a hundred operators is small beside it. */
static void test_phases_go(void **state) {
  (void)state;
  Text text = {.c = tirc_context_new()};
  tirc_module *m = NULL, *to = NULL;
  tirc_text_add(&text, "@R.function\ndef main(x0: R.Tensor((8, 8), 'float32')):\n"
                       "    with R.dataflow():\n");
  for (int i = 0; i < 100; i++)
    tirc_text_addf(&text, "        x%d = R.permute_dims(x%d, [1, 0])\n", i + 1, i);
  tirc_text_add(&text, "        R.output(x100)\n    return x100\n");
  assert_int_equal(tirc_module_parse(text.at, text.n, "f", 0, NULL, &m, NULL), TIRC_OK);
  const tirc_program_options plain = {.plain = true};
  assert_int_equal(tirc_module_phases(m, "program", &plain, &to, NULL), TIRC_OK);
  assert_int_equal(to->m->n_graphs, 1);
  assert_true(to->c->bytes < 400 << 10);
  tirc_module_free(to);
  tirc_module_free(m);
  tirc_context_release(text.c);
}

/* What the passes leave of small graphs of x (n x 4) and c, a bool. */
static const struct {
  const char *body, *has, *has_not;
} left[] = {
    {"y = R.exp(x)\n    z = R.nn.relu(y)", "R.call_tir(cls.fused_exp_relu, (x,)", "cls.exp"},
    {"y = R.exp(x)\n    z = R.multiply(y, y)", "R.call_tir(cls.fused_exp_multiply, (x,)",
     "cls.exp"},
    {"y = R.add(R.const([1, 2]), R.const([3, 4]))\n    z = R.add(y, y)", "[8, 12]", "R.call_tir"},
    {"y = R.add(R.const([1, 2]), R.const([3, 4]))\n    z = R.flip(y, axis=0)", "[6, 4]",
     "R.call_tir"},
    {"y = R.split(R.const([1, 2, 3]), 3, axis=0)\n    z = R.add(y[0], y[2])",
     "(R.const([1], \"int32\"), R.const([3], \"int32\"))", "cls.split"},
    {"y = R.exp(x)\n    z = R.nn.relu(x)", "(cls.relu, (x,)", "cls.exp"},
    {"w = R.exp(x)\n    y = R.less(R.const(1), R.const(2))\n    if y:\n        z = x\n    else:\n  "
     "      z = w",
     NULL, "    if "},
    {"y = R.exp(x)\n    if c:\n        z = y\n    else:\n        z = x", "    if c:", NULL},
};

static void test_what_is_left(void **state) {
  (void)state;
  const tirc_program_options plain = {.plain = true};
  for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
    Text text = {.c = tirc_context_new()};
    tirc_module *m = NULL, *to = NULL;
    tirc_text_addf(&text,
                   "@R.function\ndef main(x: R.Tensor((\"n\", 4), \"float32\"), c: R.Tensor((), "
                   "\"bool\")):\n    n = T.int64()\n    %s\n    return z\n",
                   left[i].body);
    assert_int_equal(tirc_module_parse(text.at, text.n, "f", 0, NULL, &m, NULL), TIRC_OK);
    assert_int_equal(tirc_module_phases(m, "cleanup", &plain, &to, NULL), TIRC_OK);
    const char *made = tirc_print_module(text.c, to->m, NULL);
    if (left[i].has && !strstr(made, left[i].has)) fail_msg("%s is not in\n%s", left[i].has, made);
    if (left[i].has_not && strstr(made, left[i].has_not))
      fail_msg("%s is in\n%s", left[i].has_not, made);
    tirc_module_free(to);
    tirc_module_free(m);
    tirc_context_release(text.c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sharing),      cmocka_unit_test(test_random),
      cmocka_unit_test(test_checker),      cmocka_unit_test(test_phases_go),
      cmocka_unit_test(test_what_is_left),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
