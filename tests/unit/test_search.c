/* Searching without measuring: proposals for a time that a formula gives. */
#include "codegen/llvm/llvm.h"
#include "ir/tree/verify.h"
#include "parser/program.h"
#include "passes/replay/replay.h"
#include "passes/search/model.h"
#include "passes/search/search.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static const char matmul[] = "@T.prim_func\n"
                             "def main(A: T.Buffer((64, 96), \"float32\"), B: T.Buffer((96, 48), "
                             "\"float32\"), C: T.Buffer((64, 48), "
                             "\"float32\")):\n"
                             "    for i, j, k in T.grid(64, 48, 96):\n"
                             "        with T.block(\"C\"):\n"
                             "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
                             "            with T.init():\n"
                             "                C[vi, vj] = T.float32(0)\n"
                             "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n";

static const Module *program(Tirc *c, const char *text) {
  const Source source = {"test.tir", text, strlen(text)};
  const Module *m = tirc_parse_module(c, &source, 0, NULL);
  tirc_verify(c, m);
  return m;
}

/* "Seconds" that depend on the program alone. */
static double formula(const SearchPoint *p) { return 1 + (double)(p->hash % 1000003) / 1000003; }

static void rank(void *self, int n, SearchPoint **points) {
  (void)self;
  for (int i = 0; i < n; i++) points[i]->rank = formula(points[i]);
}

enum { ROUNDS = 4, BATCH = 4 };

/* A hash of all that a search proposes; how many points that are, and their sum. */
typedef struct Path {
  uint64_t hash;
  int n;
  double sum;
} Path;

static Path search(int64_t seed, bool ranked) {
  Tirc *c = tirc_context_new();
  SearchOptions o = tirc_search_defaults;
  Path path = {0};
  o.space.target = tirc_llvm_cpu(c, CPU_DEFAULT);
  o.seed = seed;
  o.rank = ranked ? rank : NULL;
  Search *s = tirc_search_new(c, program(c, matmul), &o);
  for (int r = 0; r < ROUNDS; r++) {
    SearchPoint *points[BATCH];
    const int n = tirc_search_propose(s, BATCH, points);
    for (int i = 0; i < n; i++) {
      const double seconds = formula(points[i]);
      path.hash = path.hash * 31 + points[i]->hash;
      path.n++;
      path.sum += seconds;
      tirc_search_tell(s, points[i], seconds, NULL, NULL);
      tirc_search_release(points[i]);
    }
  }
  tirc_context_release(c);
  return path;
}

static void is_the_same_for_a_seed(void **state) {
  (void)state;
  const Path a = search(1, true), b = search(1, true), other = search(2, true);
  assert_int_equal(a.n, ROUNDS * BATCH);
  assert_true(a.hash == b.hash && a.n == b.n);
  assert_true(a.hash != other.hash);
}

/* Ranks that tell the truth lead to better points than none. */
static void goes_where_ranks_say(void **state) {
  (void)state;
  assert_true(search(3, true).sum < search(3, false).sum);
}

/* The decisions of a point make it again, and with sampling taken out of its trace it is the same
 * program; no point comes twice. */
static void decisions_make_the_point(void **state) {
  Tirc *c = tirc_context_new();
  SearchOptions o = tirc_search_defaults;
  const Module *m = program(c, matmul);
  SearchPoint *points[32];
  (void)state;
  o.space.target = tirc_llvm_cpu(c, CPU_DEFAULT);
  o.seed = 7;
  Search *s = tirc_search_new(c, m, &o);
  int n = tirc_search_propose(s, 8, points);
  n += tirc_search_propose(s, 16, points + n);
  assert_true(n > 16);
  for (int i = 0; i < n; i++) {
    const Sched *again =
        tirc_space_draw(tirc_search_space(s), c, &(Draw){points[i]->decisions, false, 99 + i});
    assert_true(tirc_search_hash(c, again->mod) == points[i]->hash);
    Sched *plain = tirc_sched_new(c, m);
    plain->target = o.space.target;
    const Trace *t = tirc_trace_plain(plain, points[i]->trace);
    assert_true(tirc_search_hash(c, plain->mod) == points[i]->hash);
    for (int k = 0; k < t->n; k++) assert_null(tirc_instruction_decision(t->at[k]));
    Sched *twice = tirc_sched_new(c, m);
    tirc_trace_apply(twice, t, false, NULL, (Loc){0}, "the plain trace");
    assert_true(tirc_search_hash(c, twice->mod) == points[i]->hash);
    for (int k = 0; k < i; k++) assert_true(points[k]->hash != points[i]->hash);
  }
  for (int i = 0; i < n; i++) tirc_search_release(points[i]);
  tirc_context_release(c);
}

/* The first proposal is what --auto makes, and what fails is counted by its code. */
static void begins_with_the_rules(void **state) {
  Tirc *c = tirc_context_new();
  SearchOptions o = tirc_search_defaults;
  SearchPoint *points[4];
  const SearchFailure *failures;
  (void)state;
  o.space.target = tirc_llvm_cpu(c, CPU_DEFAULT);
  o.seed = 1;
  Search *s = tirc_search_new(c, program(c, matmul), &o);
  const int n = tirc_search_propose(s, 4, points);
  assert_true(n > 1);
  assert_string_equal(points[0]->way, "automatic");
  tirc_search_tell(s, points[0], (double)INFINITY, "timeout", "too long");
  assert_true(tirc_search_failures(s, &failures) >= 1);
  int timeouts = 0;
  for (int i = 0; i < tirc_search_failures(s, &failures); i++)
    if (!strcmp(failures[i].code, "timeout")) timeouts += failures[i].n;
  assert_int_equal(timeouts, 1);
  for (int i = 0; i < n; i++) tirc_search_release(points[i]);
  tirc_context_release(c);
}

/* What takes longer is put behind; a model that was stored predicts the same. */
static void model_learns_an_order(void **state) {
  enum { N = 64, WIDTH = 3 };
  float rows[N * WIDTH], labels[N], first[N], second[N];
  const void *bytes;
  size_t n;
  Model *m = tirc_model_new(MODEL_COST), *copy = tirc_model_new(MODEL_COST);
  int right = 0, all = 0;
  (void)state;
  if (!m || !copy) skip(); /* the library is not installed */
  for (int i = 0; i < N; i++) {
    rows[i * WIDTH] = (float)(i % 8);
    rows[i * WIDTH + 1] = (float)(i * 37 % 64);
    rows[i * WIDTH + 2] = 1;
    labels[i] = 3 * rows[i * WIDTH] + rows[i * WIDTH + 1] / 8;
  }
  assert_false(tirc_model_is_trained(m));
  assert_false(tirc_model_predict(m, N, WIDTH, rows, first));
  assert_true(tirc_model_train(m, N / 2, WIDTH, rows, labels));
  assert_true(tirc_model_predict(m, N, WIDTH, rows, first));
  for (int i = N / 2; i < N; i++) /* those that it has not seen */
    for (int k = i + 1; k < N; k++) {
      if (fabsf(labels[i] - labels[k]) < 2) continue;
      right += (labels[i] < labels[k]) == (first[i] < first[k]);
      all++;
    }
  assert_true(right * 10 > all * 8);
  assert_true(tirc_model_save(m, &bytes, &n));
  assert_true(tirc_model_load(copy, bytes, n));
  assert_true(tirc_model_predict(copy, N, WIDTH, rows, second));
  assert_memory_equal(first, second, sizeof first);
  tirc_model_free(m);
  tirc_model_free(copy);
}

/* Two rows are enough, and a class comes as a probability. */
static void a_model_learns_from_few(void **state) {
  const float rows[] = {16, 768, 64, 768, 128, 768}, classes[] = {1, 1, 0}, numbers[] = {3, 5, 5};
  float out[3];
  Model *class = tirc_model_new(MODEL_CLASS), *number = tirc_model_new(MODEL_NUMBER);
  (void)state;
  if (!class || !number) skip(); /* the library is not installed */
  assert_true(tirc_model_train(class, 3, 2, rows, classes));
  assert_true(tirc_model_predict(class, 3, 2, rows, out));
  for (int i = 0; i < 3; i++) {
    assert_true(out[i] > 0 && out[i] < 1);
    assert_int_equal(out[i] > 0.5F, classes[i] > 0.5F);
  }
  assert_true(tirc_model_train(number, 2, 2, rows, numbers));
  assert_true(tirc_model_predict(number, 3, 2, rows, out));
  for (int i = 0; i < 3; i++) assert_true(fabsf(out[i] - numbers[i]) < 0.1F);
  tirc_model_free(class);
  tirc_model_free(number);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(is_the_same_for_a_seed),   cmocka_unit_test(goes_where_ranks_say),
      cmocka_unit_test(decisions_make_the_point), cmocka_unit_test(begins_with_the_rules),
      cmocka_unit_test(model_learns_an_order),    cmocka_unit_test(a_model_learns_from_few),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
