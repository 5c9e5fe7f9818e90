/* Programs of operators on expressions: elements of B, made of n, m and 3. */
#include "compare.h"
#include "passes/module/symbolic.h"

static const struct {
  const char *statement, *element; /* NULL: it cannot be worked out */
} rows[] = {
    {"B[0] = A[0] * A[1]", "n * m"},
    {"B[0] = A[0] - A[2]", "n - T.int64(3)"},
    {"B[0] = A[2] - A[0]", "T.int64(3) - n"},
    {"B[0] = T.floordiv(A[0], A[2])", "n // T.int64(3)"},
    {"B[0] = T.floormod(A[1], A[0])", "m % n"},
    {"B[0] = T.floordiv(A[0] * A[2], A[2])", "n"},
    {"B[0] = T.min(A[0], A[1])", "T.min(n, m)"},
    {"B[0] = T.max(A[0], 0)", "n"},
    {"B[0] = T.Select(A[2] < 4, A[0], A[9])", "n"},
    {"B[0] = T.if_then_else(A[2] > 4, A[9], A[1])", "m"},
    {"B[0] = T.if_then_else(A[0] > 4, A[0], A[1])", NULL},
    {"B[0] = A[A[2] - 2]", "m"},
    {"B[0] = A[A[0]]", NULL},
    {"B[0] = A[9]", NULL},
    {"B[0] = T.Cast(\"int64\", A[2] == 3)", "T.int64(1)"},
    {"B[0] = 1\n    for i in range(3):\n        B[0] = B[0] * A[i]", "n * m * T.int64(3)"},
    {"for i in range(3):\n        B[0] = A[2 - i]", "n"},
};

static void check_row(Tirc *c, const void *arg) {
  const size_t i = *(const size_t *)arg;
  const char *program = tirc_format(c,
                                    "@T.prim_func\ndef main(A: T.Buffer((3,), \"int64\"), "
                                    "B: T.Buffer((1,), \"int64\")):\n    %s\n",
                                    rows[i].statement);
  const Expr given[] = {tirc_var(c, "n", DT_INT64), tirc_var(c, "m", DT_INT64),
                        tirc_int(c, DT_INT64, 3)};
  const Expr *arrays[] = {given, NULL};
  const bool is = tirc_run_symbolic(c, parse(c, program)->funcs[0], arrays);
  if (is != (rows[i].element != NULL)) fail_msg("%s: %d", rows[i].statement, is);
  if (is && strcmp(tirc_print_expr(c, arrays[1][0]), rows[i].element) != 0)
    fail_msg("%s: %s instead of %s", rows[i].statement, tirc_print_expr(c, arrays[1][0]),
             rows[i].element);
}

static void expressions_are_what_the_rows_say(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    in_context(rows[i].statement, check_row, &i);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(expressions_are_what_the_rows_say),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
