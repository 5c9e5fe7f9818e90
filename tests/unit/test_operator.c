/* Operators as the graph calls them: parameters, results and variables of the programs that they
 * make. */
#include "ir/tree/print.h"
#include "ir/tree/symbols.h"
#include "ir/tree/verify.h"
#include "passes/module/operators.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static Tirc *c;

static Operators *open_operators(void) {
  c = tirc_context_new();
  return tirc_operators_open(c, NULL, NULL);
}

static Value tensor(Operators *ops, const char *name, DType t, int n, const Expr *shape) {
  return tirc_operator_tensor(ops, name, (TensorType){.dtype = t, .ndim = n, .shape = shape});
}

static void verify(const Func *f) {
  const Module m = {.c = c, .name = "Module", .n_funcs = 1, .funcs = &f};
  tirc_verify(c, &m);
}

/* The result's extents are in the caller's variables, the function's in variables of its own. */
static void test_variables(void **state) {
  (void)state;
  Operators *ops = open_operators();
  Expr n = tirc_var(c, "n", DT_INT64);
  const Expr shape[] = {n, tirc_int(c, DT_INT64, 8)};
  const Value x = tensor(ops, "x", DT_FLOAT32, 2, shape);
  const Value args[] = {x, x};
  const OperatorProgram p =
      tirc_operator_program(ops, &(OperatorCall){.name = "add", .n_args = 2, .args = args});
  verify(p.func);
  assert_string_equal(p.func->name, "add");
  assert_int_equal(p.func->n_params, 3); /* the same tensor twice is two parameters */
  assert_int_equal(p.n_vars, 0);
  assert_int_equal(p.n_results, 1);
  assert_false(p.is_tuple);
  assert_true(p.results[0].shape[0] == n);
  Expr *symbols;
  assert_int_equal(tirc_symbolic_params(c, p.func, &symbols), 1);
  assert_true(symbols[0] != n);
  assert_string_equal(symbols[0]->u.s, "n");
  tirc_context_release(c);
}

/* A variable that no extent of a tensor tells is a parameter. */
static void test_scalars(void **state) {
  (void)state;
  Operators *ops = open_operators();
  Expr n = tirc_var(c, "n", DT_INT64), k = tirc_var(c, "k", DT_INT64);
  const Expr shape[] = {n, tirc_int(c, DT_INT64, 8)};
  const char *keywords[] = {"axes", "begin", "end"};
  const Value zero = tirc_value_int(0), begin = tirc_value_expr(k), end = tirc_value_expr(n);
  const Value values[] = {tirc_value_list(c, VAL_LIST, 1, &zero),
                          tirc_value_list(c, VAL_LIST, 1, &begin),
                          tirc_value_list(c, VAL_LIST, 1, &end)};
  const Value x = tensor(ops, "x", DT_FLOAT32, 2, shape);
  const OperatorProgram p = tirc_operator_program(ops, &(OperatorCall){.name = "strided_slice",
                                                                       .func_name = "slice",
                                                                       .n_args = 1,
                                                                       .args = &x,
                                                                       .n_keywords = 3,
                                                                       .keywords = keywords,
                                                                       .values = values});
  verify(p.func);
  assert_string_equal(p.func->name, "slice");
  assert_int_equal(p.n_vars, 1);
  assert_true(p.vars[0] == k);
  assert_int_equal(p.func->n_params, 3); /* x, the result, k */
  assert_null(p.func->buffers[2]);
  assert_true(p.func->params[2] != k);
  tirc_context_release(c);
}

/* A tuple of results; one that is an operand is a copy, so that each result is computed. */
static void test_results(void **state) {
  (void)state;
  Operators *ops = open_operators();
  const Expr shape[] = {tirc_int32(c, 2), tirc_int32(c, 3)}, row[] = {tirc_int32(c, 3)};
  Value args[5];
  for (int i = 0; i < 5; i++)
    args[i] = tensor(ops, tirc_format(c, "x%d", i), DT_FLOAT32, i ? 1 : 2, i ? row : shape);
  const OperatorProgram p = tirc_operator_program(
      ops, &(OperatorCall){.name = "nn.batch_norm", .n_args = 5, .args = args});
  verify(p.func);
  assert_true(p.is_tuple);
  assert_int_equal(p.n_results, 3);
  assert_int_equal(p.func->n_params, 8);
  for (int i = 0; i < 8; i++) /* extents are int32, as the arguments' are */
    assert_int_equal(p.func->buffers[i]->shape[0]->dtype.bits, 32);
  tirc_context_release(c);
}

/* Numbers that come in a type are numbers. */
static void test_typed_numbers(void **state) {
  (void)state;
  Operators *ops = open_operators();
  const Expr shape[] = {tirc_int(c, DT_INT64, 2), tirc_int(c, DT_INT64, 3)};
  const Value args[] = {tensor(ops, "x", DT_FLOAT32, 2, shape),
                        tirc_value_expr(tirc_int(c, DT_INT64, -1))};
  const OperatorProgram p =
      tirc_operator_program(ops, &(OperatorCall){.name = "sum", .n_args = 2, .args = args});
  verify(p.func);
  assert_int_equal(p.results[0].ndim, 1);
  const Value two[] = {args[0], tirc_value_expr(tirc_float(c, DT_FLOAT32, 2.5))};
  verify(tirc_operator_program(ops, &(OperatorCall){.name = "multiply", .n_args = 2, .args = two})
             .func);
  tirc_context_release(c);
}

typedef struct Refused {
  const char *name;
  int n_args;
  const char *parts[3]; /* of the message and the hint */
} Refused;

static void test_refused(void **state) {
  (void)state;
  static const Refused rows[] = {
      {"ad", 2, {"there is no operator R.ad", "did you mean 'add'?", "--operators DIR"}},
      {"add", 1, {"R.add(Tensor((2, 3), \"float32\"))", "needs the argument 'b'"}},
      {"add", 3, {"R.add(", "takes 2 arguments, but gets 3"}},
      {"matmul",
       2,
       {"R.matmul(Tensor((2, 3), \"float32\"), Tensor((2, 3), \"float32\"))", "3 columns"}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    Operators *ops = open_operators();
    const Expr shape[] = {tirc_int(c, DT_INT64, 2), tirc_int(c, DT_INT64, 3)};
    Value args[3];
    for (int k = 0; k < 3; k++) args[k] = tensor(ops, "x", DT_FLOAT32, 2, shape);
    Trap trap;
    if (TIRC_TRY(c, trap)) {
      tirc_operator_program(
          ops, &(OperatorCall){.name = rows[i].name, .n_args = rows[i].n_args, .args = args});
      TIRC_END(c, trap);
      fail_msg("%s is accepted", rows[i].name);
    }
    const char *said = tirc_format(c, "%s\n%s", c->diag.message, c->diag.hint ? c->diag.hint : "");
    for (int k = 0; k < 3 && rows[i].parts[k]; k++)
      if (!strstr(said, rows[i].parts[k])) fail_msg("%s\n--- has no %s", said, rows[i].parts[k]);
    tirc_context_release(c);
  }
}

/* What every row of the table names is there, and says in a line what it is. */
static void test_table(void **state) {
  (void)state;
  Operators *ops = open_operators();
  assert_true(tirc_n_operators(ops) > 100);
  for (int i = 0; i < tirc_n_operators(ops); i++) {
    const Operator *op = tirc_operator(ops, tirc_operator_name(ops, i));
    assert_non_null(op);
    if (!*op->summary) fail_msg("%s does not say what it is", op->name);
  }
  tirc_context_release(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_variables), cmocka_unit_test(test_scalars),
      cmocka_unit_test(test_results),   cmocka_unit_test(test_typed_numbers),
      cmocka_unit_test(test_refused),   cmocka_unit_test(test_table),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
