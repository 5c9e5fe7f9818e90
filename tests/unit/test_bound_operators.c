/* Every operator of the table, on values that are known and on values that rounding leaves open:
 * what a kernel makes of it passes a check, and the check could decide it. An operator that is new
 * comes in with its row. */
#include "runtime/tirc.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { N = 64, OPERANDS = 7 };

typedef struct Row {
  const char *id, *name, *kind;
  int arity;
} Row;
static const Row rows[] = {
#define OP(id, name, arity, kind, precedence, c_form) {#id, name, #kind, arity},
#include "ir/tree/ops.def"
#undef OP
};

/* What an operand is. */
typedef struct Form {
  const char *what, *operand[2];
} Form;
static const Form forms[] = {
    {"known", {"A[vi]", "B[vi]"}},
    {"open", {"(A[vi] * B[vi] + A[vi])", "(B[vi] * A[vi] + B[vi])"}},
};
/* So that each function is met where it is defined, and on both sides of 0. */
static const struct { double low, high; } ranges[] = {{1.25, 2.5}, {0.0625, 0.4375}, {-2, 2}};

/* Which operands are floats; the others are small integers, and of a choice the first is a bool. */
typedef enum Types { FLOATS, FLOAT_AND_INT, INTS, CHOICE, TYPES } Types;

static void operand(FILE *f, const Row *r, const Form *form, Types types, int i) {
  const char *x = form->operand[i > 0];
  if (i > 1 && strncmp(r->id, "Q_", 2) == 0)
    fputs(i > 4 ? "T.bool(True)" : "1", f);
  else if (types == CHOICE && i == 0)
    fprintf(f, "%s > T.float32(0.25)", x);
  else if (types == FLOATS || types == CHOICE || (types == FLOAT_AND_INT && i == 0))
    fputs(x, f);
  else
    fprintf(f, "(T.Cast(\"int32\", T.fabs(%s) * T.float32(%s)) + 1)", x, i ? "2" : "1000");
}

static tirc_module *program(const Row *r, const Form *form, Types types) {
  char text[2000];
  tirc_module *m = NULL;
  FILE *f = fmemopen(text, sizeof text, "w");
  fprintf(
      f,
      "@T.prim_func\ndef main(A: T.Buffer((%d,), \"float32\"), B: T.Buffer((%d,), \"float32\"), "
      "C: T.Buffer((%d,), \"float32\")):\n    for i in range(%d):\n        with T.block(\"C\"):\n"
      "            vi = T.axis.spatial(%d, i)\n            C[vi] = T.Cast(\"float32\", ",
      N, N, N, N, N);
  if (strcmp(r->kind, "BINARY") == 0) {
    operand(f, r, form, types, 0);
    fprintf(f, " %s ", r->name);
    operand(f, r, form, types, 1);
  } else {
    fprintf(f, "T.%s(", r->name);
    for (int i = 0; i < r->arity; i++) {
      if (i) fputs(", ", f);
      operand(f, r, form, types, i);
    }
  }
  fputs(strcmp(r->kind, "BINARY") == 0 ? ")\n" : "))\n", f);
  assert_int_equal(fclose(f), 0);
  return tirc_module_parse(text, strlen(text), r->name, 0, NULL, &m, NULL) ? NULL : m;
}

static bool passes(const tirc_module *m, const tirc_kernel *k, const Row *r, const Form *form,
                   Types types, int range) {
  const int64_t shape[1] = {N};
  tirc_argument args[3] = {{0}};
  tirc_executor *x = NULL;
  tirc_reference *reference = NULL;
  tirc_error *e = NULL;
  tirc_check c;
  for (int i = 0; i < 3; i++) {
    assert_int_equal(tirc_array_new("float32", 1, shape, &args[i].array, NULL), TIRC_OK);
    assert_int_equal(tirc_array_fill_range(args[i].array, (uint64_t)i, ranges[range].low,
                                           ranges[range].high, NULL),
                     TIRC_OK);
  }
  if (tirc_reference_new(m, NULL, 3, args, NULL, &reference, &e) || tirc_executor_new(1, &x, &e) ||
      tirc_kernel_run(k, x, 3, args, &e) || tirc_reference_check(reference, 3, args, &c, &e))
    fail_msg("%s: %s", r->name, tirc_error_message(e));
  int64_t nans = 0; /* where it is not defined, a neighbour may be, or none is */
  for (int i = 0; i < N; i++) {
    double v, least, greatest;
    tirc_reference_element(reference, 2, i, &v, &least, &greatest);
    nans += isnan(v);
  }
  const bool ok = !c.wrong && c.undecided <= nans;
  if (!ok)
    print_error("%s of %s operands (types %d, range %d): error %g, %g allowed, %d undecided\n",
                r->name, form->what, (int)types, range, c.error, c.allowed, (int)c.undecided);
  tirc_reference_free(reference);
  tirc_executor_free(x);
  for (int i = 0; i < 3; i++) tirc_array_free(args[i].array);
  return ok;
}

static void all_operators(void **state) {
  int wrong = 0;
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const Row *r = &rows[i];
    int met = 0;
    if (r->arity < 1 || strcmp(r->kind, "OTHER") == 0 || strcmp(r->kind, "LEAF") == 0) continue;
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
      for (Types t = FLOATS; t < TYPES; t++) {
        tirc_module *m = t == CHOICE && met ? NULL : program(r, &forms[f], t);
        if (!m) continue;
        tirc_kernel *k = NULL;
        assert_int_equal(tirc_kernel_new(m, NULL, NULL, &k, NULL), TIRC_OK);
        met++;
        for (int range = 0; range < (int)(sizeof ranges / sizeof *ranges); range++)
          wrong += !passes(m, k, r, &forms[f], t, range);
        tirc_kernel_free(k);
        tirc_module_free(m);
      }
    }
    if (!met) fail_msg("%s takes no operands that are tried here", r->name);
  }
  assert_int_equal(wrong, 0);
}

/* What a fused multiply-add, or none, decides: both results are right. 40961^2 + 63.5 is half way
 * between two floats that are 128 apart, and 2^128 - 2^104 is the largest float. */
static void either(void **state) {
  (void)state;
  static const struct {
    const char *expression;
    double a, b, results[2];
  } cases[] = {
      {"T.isinf(A[0] * A[0] - B[0])", 0x1p64, 0x1p104, {0, 1}},
      {"T.isinf(B[0] - A[0] * A[0])", 0x1p64, 0x1p104, {0, 1}},
      {"T.isfinite(A[0] * A[0] - B[0])", 0x1p64, 0x1p104, {0, 1}},
      {"T.isfinite(B[0] - A[0] * A[0])", 0x1p64, 0x1p104, {0, 1}},
      {"T.Cast(\"uint32\", A[0] * A[0] + B[0]) + T.uint32(2617163712)",
       40961,
       63.5,
       {4294967232, 64}},
      {"T.Cast(\"uint32\", A[0] * A[0] + B[0]) - T.uint32(1677803584)",
       40961,
       63.5,
       {4294967232, 64}},
      {"T.q_multiply_shift(T.Cast(\"int32\", A[0] * A[0] + B[0]), 1, 1, 0)",
       40961,
       63.5,
       {838901760, 838901824}},
      {"T.q_multiply_shift_per_axis(T.Cast(\"int32\", A[0] * A[0] + B[0]), 1, 0, 1, 0, "
       "T.bool(False), T.bool(True))",
       40961,
       63.5,
       {838901760, 838901824}},
      {"T.nextafter(A[0] * A[0] + B[0], T.float32(2e9))", 40961, 63.5, {1677803648, 1677803776}},
      {"T.ldexp(A[0] * A[0] + B[0], 1)", 40961, 63.5, {3355607040, 3355607296}},
  };
  const int64_t shape[1] = {1};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[600];
    tirc_module *m = NULL;
    tirc_reference *r = NULL;
    tirc_argument args[3] = {{0}};
    snprintf(text, sizeof text,
             "@T.prim_func\ndef main(A: T.Buffer((1,), \"float32\"), B: T.Buffer((1,), "
             "\"float32\"), C: T.Buffer((1,), \"float64\")):\n    C[0] = T.Cast(\"float64\", %s)\n",
             cases[i].expression);
    assert_int_equal(tirc_module_parse(text, strlen(text), "either", 0, NULL, &m, NULL), TIRC_OK);
    for (int k = 0; k < 3; k++)
      assert_int_equal(
          tirc_array_new(k < 2 ? "float32" : "float64", 1, shape, &args[k].array, NULL), TIRC_OK);
    tirc_array_set(args[0].array, 0, cases[i].a);
    tirc_array_set(args[1].array, 0, cases[i].b);
    assert_int_equal(tirc_reference_new(m, NULL, 3, args, NULL, &r, NULL), TIRC_OK);
    for (int k = 0; k < 2; k++) {
      tirc_check c;
      tirc_array_set(args[2].array, 0, cases[i].results[k]);
      assert_int_equal(tirc_reference_check(r, 3, args, &c, NULL), TIRC_OK);
      if (c.wrong || c.ok == c.too_undecided)
        fail_msg("%s: %g is right, too", cases[i].expression, cases[i].results[k]);
    }
    tirc_reference_free(r);
    tirc_module_free(m);
    for (int k = 0; k < 3; k++) tirc_array_free(args[k].array);
  }
}

/* Of a parameter of eight bytes of type `a`, and a result: what the check says of other contents.
 */
static tirc_check check_one(const char *a, const char *expression, uint64_t before, uint64_t after,
                            float result) {
  char text[400];
  const int n = strcmp(a, "float32") == 0 ? 2 : 1;
  const int64_t shape[1] = {n}, one[1] = {1};
  tirc_module *m = NULL;
  tirc_reference *r = NULL;
  tirc_argument args[2] = {{0}};
  tirc_check c;
  snprintf(text, sizeof text,
           "@T.prim_func\ndef main(A: T.Buffer((%d,), \"%s\"), C: T.Buffer((1,), \"float32\")):\n"
           "    C[0] = %s\n",
           n, a, expression);
  assert_int_equal(tirc_module_parse(text, strlen(text), "one", 0, NULL, &m, NULL), TIRC_OK);
  assert_int_equal(tirc_array_new(a, 1, shape, &args[0].array, NULL), TIRC_OK);
  assert_int_equal(tirc_array_new("float32", 1, one, &args[1].array, NULL), TIRC_OK);
  memcpy(tirc_array_data(args[0].array), &before, 8);
  assert_int_equal(tirc_reference_new(m, NULL, 2, args, NULL, &r, NULL), TIRC_OK);
  memcpy(tirc_array_data(args[0].array), &after, 8);
  memcpy(tirc_array_data(args[1].array), &result, sizeof result);
  assert_int_equal(tirc_reference_check(r, 2, args, &c, NULL), TIRC_OK);
  tirc_reference_free(r);
  tirc_module_free(m);
  for (int k = 0; k < 2; k++) tirc_array_free(args[k].array);
  return c;
}

/* That an element cannot be checked excuses neither NaN, where what is allowed has no end, nor
 * another element; and doubles do not tell large integers apart. */
static void wrong(void **state) {
  (void)state;
  /* 2^128 - 2^104 or infinity by a fused multiply-add: one stays 1 or is -infinity */
  static const char or_infinity[] =
      "T.float32(1)\n"
      "    if T.isinf(A[0] * A[0] - T.float32(2.028240960365167e+31)):\n"
      "        C[0] = T.float32(\"-inf\")";
  const uint64_t a = UINT64_C(0x5F8000005F800000); /* 2^64, twice */
  tirc_check c = check_one("float32", or_infinity, a, a, (float)NAN);
  assert_true(c.too_undecided && c.wrong && !c.ok);
  c = check_one("float32", or_infinity, a, a, -INFINITY);
  assert_true(c.too_undecided && !c.wrong && !c.ok);
  const uint64_t large = (UINT64_C(1) << 60) + 1;
  c = check_one("uint64", "T.float32(1)", large, large, 1);
  assert_true(c.ok && !c.wrong);
  c = check_one("uint64", "T.float32(1)", large, large + 1, 1);
  assert_true(!c.ok && c.wrong);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(all_operators), cmocka_unit_test(either),
                                     cmocka_unit_test(wrong)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
