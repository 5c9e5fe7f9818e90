/* Integer arithmetic, all operators on all types at the ends of their ranges: the evaluator and the
 * folder against an oracle; bounds, residues, interval sets and simplification of random
 * expressions over narrow and unsigned variables, at their values. TIRC_TEST_COUNT and
 * TIRC_TEST_SEED change how many expressions are drawn and which. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "int_oracle.h"
#include "ir/arith/arith.h"
#include "ir/tree/int_op.h"
#include "ir/tree/print.h"

static int as_test(const char *name, int fallback) {
  const char *s = getenv(name);
  return s && *s ? atoi(s) : fallback;
}

static const Op operators[] = {
    OP_ADD,         OP_SUB,         OP_MUL,        OP_FLOORDIV,    OP_FLOORMOD,
    OP_TRUNCDIV,    OP_TRUNCMOD,    OP_MIN,        OP_MAX,         OP_EQ,
    OP_NE,          OP_LT,          OP_LE,         OP_GT,          OP_GE,
    OP_AND,         OP_OR,          OP_NOT,        OP_BITWISE_AND, OP_BITWISE_OR,
    OP_BITWISE_XOR, OP_BITWISE_NOT, OP_SHIFT_LEFT, OP_SHIFT_RIGHT, OP_ABS};
enum { N_OPERATORS = sizeof operators / sizeof *operators };

static const char *name_of(DType t) {
  static const char *const names[N_TYPES] = {"bool",  "int8",   "int16",  "int32", "int64",
                                             "uint8", "uint16", "uint32", "uint64"};
  int i = 0;
  while (!tirc_dtype_equal(types[i], t)) i++;
  return names[i];
}

/* Of bools the ends of their ranges count, and logic is about them alone. */
static bool is_offered(Op op, DType t) {
  if (op == OP_AND || op == OP_OR || op == OP_NOT) return t.code == TYPE_BOOL;
  return true;
}

static int for_each_case(void (*look)(Tirc *c, Op op, DType t, int64_t x, int64_t y)) {
  int n = 0;
  for (int o = 0; o < N_OPERATORS; o++)
    for (int k = 0; k < N_TYPES; k++) {
      int64_t edges[MAX_EDGES];
      const int n_edges = edges_of(types[k], edges);
      Tirc *c = tirc_context_new();
      for (int i = 0; i < n_edges && is_offered(operators[o], types[k]); i++)
        for (int j = 0; j < n_edges; j++, n++) look(c, operators[o], types[k], edges[i], edges[j]);
      tirc_context_release(c);
    }
  return n;
}

static void look_at_op(Tirc *c, Op op, DType t, int64_t x, int64_t y) {
  int64_t expected, got;
  (void)c;
  const bool defined = oracle(op, t, x, y, &expected);
  const bool has_value = tirc_int_has_value(tirc_int_op(op, t, x, y, &got));
  if (defined != has_value || (defined && expected != got))
    fail_msg("%s of %s: %lld, %lld: %s%lld, it is %s%lld", tirc_ops[op].name, name_of(t),
             (long long)x, (long long)y, defined ? "" : "none, not ", (long long)expected,
             has_value ? "" : "none, not ", (long long)got);
}

static void test_operators(void **state) {
  (void)state;
  assert_true(for_each_case(look_at_op) > 50000);
}

static void test_casts(void **state) {
  (void)state;
  for (int i = 0; i < N_TYPES; i++)
    for (int k = 0; k < N_TYPES; k++) {
      int64_t edges[MAX_EDGES];
      const int n = edges_of(types[i], edges);
      for (int e = 0; e < n; e++)
        assert_int_equal(tirc_wrap_int(types[k], edges[e]),
                         oracle_cast(types[i], types[k], edges[e]));
    }
}

/* What is folded is right, and a constant; what is not leaves its type, shifts or has no value. */
static int n_folded;
static void look_at_fold(Tirc *c, Op op, DType t, int64_t x, int64_t y) {
  if (op > OP_OR) return;
  const Expr a = tirc_int_of_bits(c, t, x), b = tirc_int_of_bits(c, t, y);
  const Expr e = tirc_binary(c, op, a, b);
  int64_t expected;
  const World w = {.c = c};
  int64_t got;
  if (!oracle(op, t, x, y, &expected)) return;
  n_folded += e->op == OP_INT || e->op == OP_LARGE_UINT;
  if (!value_of(&w, e, &got) || got != expected)
    fail_msg("%s of %s: %lld, %lld: %lld, folded %s", tirc_ops[op].name, name_of(t), (long long)x,
             (long long)y, (long long)expected, tirc_print_expr(c, e));
}

static void test_fold(void **state) {
  (void)state;
  n_folded = 0;
  const int n = for_each_case(look_at_fold);
  assert_true(n_folded > n / 3);
}

/* --- reasoning -------------------------------------------------------------------------------- */

enum { N_POINTS = 120 };

typedef struct Known {
  Analyzer *a;
  int64_t min[N_VARS], extent[N_VARS]; /* extent 0: nothing is known */
} Known;

/* Variables of narrow and unsigned types, some of the others; most within a range. */
static void draw_world(World *w, Known *k) {
  k->a = tirc_analyzer(w->c);
  for (int i = 0; i < N_VARS; i++) {
    const DType t = types[below(&w->r, N_TYPES)];
    w->vars[i] = tirc_var(w->c, tirc_format(w->c, "v%d", i), t);
    k->extent[i] = 0;
    if (t.code == TYPE_BOOL || !below(&w->r, 4)) continue;
    k->min[i] = below(&w->r, 2) ? 0 : random_edge(w, t);
    const Wide room = greatest(t) - number(t, k->min[i]);
    const int64_t want = 1 + below(&w->r, below(&w->r, 2) ? 20 : 300);
    k->extent[i] = (int64_t)(room < want ? room : want);
    if (k->extent[i] > (int64_t)(greatest(t) < INT64_MAX ? greatest(t) : INT64_MAX))
      k->extent[i] = (int64_t)greatest(t);
    if (k->extent[i] > 0)
      tirc_bind_range(
          k->a, w->vars[i],
          tirc_range(tirc_int_of_bits(w->c, t, k->min[i]), tirc_int(w->c, t, k->extent[i])));
  }
}

static void draw_point(World *w, const Known *k) {
  for (int i = 0; i < N_VARS; i++) {
    const int64_t n = k->extent[i];
    w->values[i] = n <= 0            ? random_edge(w, w->vars[i]->dtype)
                   : below(&w->r, 2) ? k->min[i] + below(&w->r, (int)n)
                                     : k->min[i] + (below(&w->r, 2) ? n - 1 : 0);
  }
}

static const char *text_of_point(const World *w) {
  Text t = {.c = w->c};
  for (int i = 0; i < N_VARS; i++)
    tirc_text_addf(&t, "%s: %s = %lld; ", w->vars[i]->u.s, name_of(w->vars[i]->dtype),
                   (long long)w->values[i]);
  return t.at;
}

static void check_bound(const World *w, const char *what, Expr e, Bound b, int64_t v) {
  const Wide x = number(e->dtype, v);
  if ((b.min != TIRC_NEG_INF && x < b.min) || (b.max != TIRC_POS_INF && x > b.max))
    fail_msg("%s of %s is [%lld, %lld], but at %s it is %lld", what, tirc_print_expr(w->c, e),
             (long long)b.min, (long long)b.max, text_of_point(w), (long long)v);
}

/* Whether a part of it is more than the oracle counts. */
static bool is_beyond(const World *w, Expr e) {
  Wide v;
  if (wide_value(w, e, true, &v) && v == too_large) return true;
  for (int i = 0; i < e->n; i++)
    if (is_beyond(w, e->args[i])) return true;
  return false;
}

/* The set over all variables with a range; others stand still. */
static void check_set(World *w, const Known *k, Expr e, IntSet set, int64_t v) {
  Wide at;
  const Expr ends[] = {set.min, set.max};
  (void)k;
  for (int i = 0; i < 2; i++) {
    if (!ends[i] || is_beyond(w, ends[i]) || !wide_value(w, ends[i], true, &at)) continue;
    const Wide x = number(e->dtype, v);
    if (i == 0 ? x < at : x > at)
      fail_msg("%s is %s %s, but at %s it is %lld", tirc_print_expr(w->c, e),
               i ? "at most" : "at least", tirc_print_expr(w->c, ends[i]), text_of_point(w),
               (long long)v);
  }
}

static IntSet set_of(World *w, const Known *k, Expr e) {
  PtrMap dom = {0};
  for (int i = 0; i < N_VARS; i++) {
    const DType t = w->vars[i]->dtype;
    if (k->extent[i] <= 0) continue;
    IntSet *own = tirc_new(w->c, IntSet);
    *own = (IntSet){tirc_int_of_bits(w->c, t, k->min[i]),
                    tirc_int_of_bits(w->c, t, k->min[i] + k->extent[i] - 1)};
    tirc_map_set(w->c, &dom, w->vars[i], own);
  }
  return tirc_eval_set(k->a, e, &dom);
}

static void check_simplified(const World *w, Expr e, Expr simple, int64_t v) {
  Wide wide = 0;
  const bool defined = wide_value(w, simple, true, &wide);
  const int64_t got = bits_of(wide);
  if (defined && tirc_dtype_equal(e->dtype, simple->dtype) && is_beyond(w, simple)) return;
  if (!defined || wide != number(e->dtype, v))
    fail_msg("%s became %s, but at %s it is %lld, not %lld%s", tirc_print_expr(w->c, e),
             tirc_print_expr(w->c, simple), text_of_point(w), (long long)v, (long long)got,
             defined ? "" : " (none)");
}

static int check_expr(World *w) {
  Known k;
  draw_world(w, &k);
  const DType t = types[below(&w->r, N_TYPES)];
  const Expr e = random_expr(w, t, 1 + below(&w->r, 3));
  const Bound b = tirc_const_bound(k.a, e);
  const Modular m = tirc_modular(k.a, e);
  const Expr simple = tirc_simplify(k.a, e);
  const bool is_int = tirc_dtype_is_int(t);
  const IntSet set = is_int ? set_of(w, &k, e) : (IntSet){0};
  int points = 0;
  for (int i = 0; i < N_POINTS; i++) {
    int64_t v;
    draw_point(w, &k);
    if (!value_of(w, e, &v)) continue;
    points++;
    check_bound(w, "the bound", e, b, v);
    const Wide rest = number(t, v) - m.base;
    if (m.coeff == 0 ? rest != 0 : rest % m.coeff != 0)
      fail_msg("%s is %lld modulo %lld, but at %s it is %lld", tirc_print_expr(w->c, e),
               (long long)m.base, (long long)m.coeff, text_of_point(w), (long long)v);
    check_simplified(w, e, simple, v);
    if (is_int) check_set(w, &k, e, set, v);
  }
  return points;
}

static void test_reasoning(void **state) {
  (void)state;
  const int count = as_test("TIRC_TEST_COUNT", 20000);
  int64_t points = 0;
  World w = {.r = {(uint64_t)as_test("TIRC_TEST_SEED", 1)}};
  for (int i = 0; i < count; i++) {
    w.c = tirc_context_new();
    points += check_expr(&w);
    tirc_context_release(w.c);
  }
  assert_true(points > (int64_t)count * N_POINTS / 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_operators),
      cmocka_unit_test(test_casts),
      cmocka_unit_test(test_fold),
      cmocka_unit_test(test_reasoning),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
