/* Graphs as text: what is read prints again, and reads again as the same; what is refused, and
 * where. The tables are the tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "ir/arith/equal.h"
#include "ir/arith/hash.h"
#include "ir/tree/copy.h"
#include "ir/tree/graph.h"
#include "ir/tree/print.h"
#include "ir/tree/verify.h"
#include "parser/program.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static int new_context(void **state) {
  *state = tirc_context_new();
  return *state == NULL;
}

static int free_context(void **state) {
  tirc_context_release(*state);
  return 0;
}

/* The module, or NULL and the reason in c->diag. */
static const Module *try_parse(Tirc *c, const char *text) {
  Trap trap;
  const Source source = {"f", text, strlen(text)};
  if (TIRC_TRY(c, trap)) {
    const Module *m = tirc_parse_module(c, &source, 0, NULL);
    tirc_verify(c, m);
    TIRC_END(c, trap);
    return m;
  }
  c->trap = trap.outer;
  return NULL;
}

static const Module *parse(Tirc *c, const char *text) {
  const Module *m = try_parse(c, text);
  if (!m) fail_msg("%d:%d: %s\n%s", c->diag.loc.line, c->diag.loc.column, c->diag.message, text);
  return m;
}

/* --- bindings --------------------------------------------------------------------------------- */

#define HEAD                                                                                       \
  "@I.ir_module\nclass Module:\n"                                                                  \
  "    @T.prim_func(private=True)\n"                                                               \
  "    def copy(A: T.Buffer((4,), \"float32\"), B: T.Buffer((4,), \"float32\")):\n"                \
  "        for i in range(4):\n            with T.block(\"B\"):\n"                                 \
  "                vi = T.axis.spatial(4, i)\n                B[vi] = A[vi]\n\n"                   \
  "    @R.function\n"
#define GRAPH                                                                                      \
  HEAD "    def main(x: R.Tensor((\"n\", 4), dtype=\"float32\"), p: R.Tensor((4,), "               \
       "\"float32\")):\n"                                                                          \
       "        n = T.int64()\n        cls = Module\n"                                             \
       "        with R.dataflow():\n            "
#define TAIL "\n            R.output(y)\n        return y\n"
#define OTHER                                                                                      \
  "\n    @R.function(private=True)\n    def g(a: R.Tensor, b: R.Tensor):\n        return a\n"

/* A binding of y (with x: n x 4, p: 4), as it prints. */
static const struct {
  const char *text, *printed;
} bindings[] = {
    {"y = R.nn.relu(x)", "y = R.nn.relu(x)"},
    {"y: R.Tensor((n, 4), \"float32\") = R.add(x, x)",
     "y: R.Tensor((n, 4), dtype=\"float32\") = R.add(x, x)"},
    {"y = R.add(R.nn.relu(x), p)", "lv = R.nn.relu(x)\n            y = R.add(lv, p)"},
    {"y = R.call_tir(cls.copy, (p,), out_sinfo=R.Tensor((4,), \"float32\"))",
     "y = R.call_tir(cls.copy, (p,), out_sinfo=R.Tensor((4,), dtype=\"float32\"))"},
    {"y = R.call_tir(cls.copy, p, R.Tensor((4,), \"float32\"))",
     "y = R.call_tir(cls.copy, (p,), out_sinfo=R.Tensor((4,), dtype=\"float32\"))"},
    {"y = R.call_tir(copy, (p,), out_ty=R.Tensor((4,), \"float32\"))",
     "y = R.call_tir(cls.copy, (p,), out_sinfo=R.Tensor((4,), dtype=\"float32\"))"},
    {"n, m = T.int64(), T.int64()\n            y = R.match_cast(x, R.Tensor((m, 4), \"float32\"))",
     "y = R.match_cast(x, R.Tensor((m, 4), dtype=\"float32\"))"},
    {"y = R.f(x, R.prim_value(T.float16(2)))", "y = R.f(x, T.float16(2.0))"},
    {"y = R.call_tir(Module.copy, [p], out_sinfo=[R.Tensor((4,), \"float32\")])",
     "y = R.call_tir(cls.copy, (p,), out_sinfo=[R.Tensor((4,), dtype=\"float32\")])"},
    {"y = R.call_dps_packed(\"gemm\", (x, p), out_sinfo=R.Tensor((n * 2, 4), \"float32\"))",
     "y = R.call_dps_packed(\"gemm\", (x, p), out_sinfo=R.Tensor((n * 2, 4), dtype=\"float32\"))"},
    {"y = R.call_dps_packed(\"f\", (), out_sinfo=R.Tensor((), \"int8\"), tir_vars=R.shape([n]))",
     NULL},
    {"t = (x, p)\n            y = t[1]",
     "t: R.Tuple(R.Tensor((n, 4), dtype=\"float32\"), R.Tensor((4,), dtype=\"float32\")) = (x, p)\n"
     "            y: R.Tensor((4,), dtype=\"float32\") = t[1]"},
    {"y = R.concat((x, x), axis=-1)", "y = R.concat((x, x), axis=-1)"},
    {"y = R.reshape(x, R.shape([4, n]))", "y = R.reshape(x, R.shape([4, n]))"},
    {"y = R.reshape(x, (2, n * 2))", "y = R.reshape(x, [2, n * 2])"},
    {"y = R.f(x, a=1, b=-1.5, c=\"s\", d=None, e=True, f=[1, 2.0], g=1e-5)",
     "y = R.f(x, a=1, b=-1.5, c=\"s\", d=None, e=True, f=[1, 2.0], g=1e-05)"},
    {"y = R.f(mask=x, axis=[])", "y = R.f(mask=x, axis=[])"},
    {"y = R.add(x, R.const(2))", "y = R.add(x, R.const(2, \"int32\"))"},
    {"y = R.add(x, R.const([[0.1, -2], [3, 1e30]], \"float32\"))",
     "y = R.add(x, R.const([[0.1, -2.0], [3.0, 1e+30]], \"float32\"))"},
    {"y = R.add(x, R.const([255, 0], \"uint8\"))", "y = R.add(x, R.const([255, 0], \"uint8\"))"},
    {"y = R.add(x, R.const([-128, 127], \"int8\"))",
     "y = R.add(x, R.const([-128, 127], \"int8\"))"},
    {"y = R.add(x, R.const([0.1, 65504], \"float16\"))",
     "y = R.add(x, R.const([0.0999755859375, 65504.0], \"float16\"))"},
    {"y = R.add(x, R.const([True, False], \"bool\"))",
     "y = R.add(x, R.const([True, False], \"bool\"))"},
    {"y = R.add(x, R.const([float(\"inf\"), float(\"nan\")], \"float64\"))",
     "y = R.add(x, R.const([float(\"inf\"), float(\"nan\")], \"float64\"))"},
    {"y = R.add(x, R.const([], \"float32\"))", "y = R.add(x, R.const([], \"float32\"))"},
    {"y = R.add(x, R.const(18446744073709551615, \"uint64\"))",
     "y = R.add(x, R.const(18446744073709551615, \"uint64\"))"},
    {"y = R.match_cast(x, R.Tensor((4, 4), \"float32\"))",
     "y = R.match_cast(x, R.Tensor((4, 4), dtype=\"float32\"))"},
    {"y = x", "y: R.Tensor((n, 4), dtype=\"float32\") = x"},
    {"c = R.f(x)\n            if c:\n                y = cls.g(x, p)\n            else:\n"
     "                y = x",
     "c = R.f(x)\n            if c:\n                y = cls.g(x, p)\n            else:\n"
     "                y = x"},
    {"if R.f(x):\n                y = p\n            else:\n                y = (x, p)",
     "lv = R.f(x)\n            if lv:\n                y = p\n            else:\n"
     "                y = (x, p)"},
    {"if R.const(True):\n                y: R.Tensor((4,), \"float32\") = p\n            else:\n"
     "                y = R.const(2)",
     "if R.const(True, \"bool\"):\n                y: R.Tensor((4,), dtype=\"float32\") = p\n"
     "            else:\n                y: R.Tensor((4,), dtype=\"float32\") = "
     "R.const(2, \"int32\")"},
    {"y: R.Tuple(R.Tensor, R.Tensor(ndim=2), R.Tensor(\"int8\"), R.Object, R.Shape(ndim=1), "
     "R.Shape([n]), R.Prim(\"int64\"), R.Prim(value=n)) = R.f(x)",
     "y: R.Tuple(R.Tensor(), R.Tensor(ndim=2), R.Tensor(dtype=\"int8\"), R.Object, "
     "R.Shape(ndim=1), R.Shape([n]), R.Prim(\"int64\"), R.Prim(value=n)) = R.f(x)"},
};

static void test_bindings(void **state) {
  Tirc *c = *state;
  for (size_t i = 0; i < COUNT(bindings); i++) {
    const char *text = tirc_format(c, GRAPH "%s" TAIL OTHER, bindings[i].text);
    if (!bindings[i].printed) {
      assert_null(try_parse(c, text));
      continue;
    }
    const Module *m = parse(c, text);
    const char *printed = tirc_print_module(c, m, NULL);
    if (!strstr(printed, tirc_format(c, "            %s\n", bindings[i].printed)))
      fail_msg("%s prints as\n%s", bindings[i].text, printed);
    const Module *again = parse(c, printed);
    assert_string_equal(printed, tirc_print_module(c, again, NULL));
    const char *difference = tirc_module_difference(c, m, again);
    if (difference) fail_msg("%s\n%s", difference, printed);
    assert_memory_equal(tirc_hash_module(c, m).word, tirc_hash_module(c, again).word, 16);
  }
}

/* --- equality --------------------------------------------------------------------------------- */

static void test_equality(void **state) {
  Tirc *c = *state;
  const char *a = GRAPH "z = R.nn.relu(x)\n            y = R.add(z, p)" TAIL;
  static const struct {
    const char *text, *difference; /* NULL: equal */
  } cases[] = {
      {GRAPH "q = R.nn.relu(x)\n            y = R.add(q, p)" TAIL, NULL},
      {GRAPH "z = R.nn.relu(x)\n            y = R.add(x, p)" TAIL, "binding of y"},
      {GRAPH "z = R.nn.gelu(x)\n            y = R.add(z, p)" TAIL, "nn.relu against nn.gelu"},
      {GRAPH "z = R.nn.relu(x, a=1)\n            y = R.add(z, p)" TAIL,
       "binding of z: 1 against 2"},
      {GRAPH "y = R.add(x, p)" TAIL, "number of bindings"},
  };
  const Module *m = parse(c, a);
  for (size_t i = 0; i < COUNT(cases); i++) {
    const Module *other = parse(c, cases[i].text);
    const char *why = tirc_module_difference(c, m, other);
    const ModuleHash x = tirc_hash_module(c, m), y = tirc_hash_module(c, other);
    assert_int_equal(memcmp(&x, &y, sizeof x) == 0, cases[i].difference == NULL);
    if (!cases[i].difference && why) fail_msg("%s\n%s", why, cases[i].text);
    if (cases[i].difference && (!why || !strstr(why, cases[i].difference)))
      fail_msg("%s instead of %s", why ? why : "equal", cases[i].difference);
  }
}

/* --- refused ---------------------------------------------------------------------------------- */

static const struct {
  const char *text, *message;
  int line; /* of the error */
} refused[] = {
    {GRAPH "y = R.add(x, q)" TAIL, "'q' is not defined", 15},
    {GRAPH "y = x[0]" TAIL, "x is not a tuple", 15},
    {GRAPH "y = (x, p)[2]" TAIL, "the tuple has 2 fields", 15},
    {GRAPH "y = R.call_tir(cls.nope, (p,), R.Tensor((4,), \"float32\"))" TAIL,
     "the module has no function 'nope'", 15},
    {GRAPH "y = R.call_tir(cls.main, (p,), R.Tensor((4,), \"float32\"))" TAIL, "which is a graph",
     15},
    {GRAPH "y = R.call_tir(cls.copy, (p, p), R.Tensor((4,), \"float32\"))" TAIL,
     "2 arguments, 1 results", 15},
    {GRAPH "y = R.call_tir(\"copy\", (p,), R.Tensor((4,), \"float32\"))" TAIL,
     "needs a function of the module", 15},
    {GRAPH "y = R.call_tir(cls.copy, (p,), R.Tensor(ndim=1))" TAIL, "needs a shape", 15},
    {GRAPH "y = cls.copy(p)" TAIL, "which R.call_tir calls", 15},
    {GRAPH "y = cls.main(x, p)" TAIL, "leads back to main", 15},
    {GRAPH "y = cls.main(x)" TAIL, "main has 2 parameters, not 1", 15},
    {GRAPH "y = R.const([[1], [2, 3]])" TAIL, "have different lengths", 15},
    {GRAPH "y = R.const(300, \"int8\")" TAIL, "300 does not fit into int8", 15},
    {GRAPH "y = R.const(0.5, \"int8\")" TAIL, "0.5 is not a value of type int8", 15},
    {GRAPH "y = R.const(\"a\")" TAIL, "not a number", 15},
    {GRAPH "y = R.f(a=1, x)" TAIL, "follows a keyword argument", 15},
    {GRAPH "y = R.f(x, a=1, a=2)" TAIL, "'a' is given twice", 15},
    {GRAPH "y = x and p" TAIL, "tensor of the graph", 15},
    {GRAPH "a, y = x" TAIL, "one name", 15},
    {GRAPH "y: R.Tensor((-1,)) = R.f(x)" TAIL, "an extent cannot be -1", 15},
    {GRAPH "y: R.Tensor((2,), ndim=1.5) = R.f(x)" TAIL, "ndim must be", 15},
    {GRAPH "y: R.Tensor((2,), \"handle\") = R.f(x)" TAIL, "elements of type handle", 15},
    {GRAPH "y: T.Buffer((2,), \"int8\") = R.f(x)" TAIL, "expected R.Tensor", 15},
    {GRAPH "if x:\n                y = x" TAIL, "of a graph needs an `else`", 15},
    {GRAPH "if x:\n                y = x\n            else:\n                z = x" TAIL,
     "one branch binds 'y', but the other one binds 'z'", 18},
    {GRAPH "if x:\n                y = R.exp(x)\n            else:\n                y = x" TAIL,
     "a branch of a graph must call a function", 16},
    {GRAPH "if x:\n                y = cls.g(R.exp(x), p)\n            else:\n"
           "                y = x" TAIL OTHER,
     "a branch of a graph must call a function", 16},
    {GRAPH "if x:\n                z = x\n                y = z\n            else:\n"
           "                y = x" TAIL,
     "must be one line", 15},
    {GRAPH "if x:\n                y = x\n            elif p:\n                y = p\n"
           "            else:\n                y = x" TAIL,
     "must be one line", 17},
    {GRAPH "if x:\n                y = cls.g(x, p)\n            else:\n"
           "                y = cls.nope(x)" TAIL OTHER,
     "no function 'nope'", 18},
    {GRAPH "if x:\n                y = cls.main(x, p)\n            else:\n"
           "                y = x" TAIL,
     "leads back to main", 16},
    {GRAPH "with R.dataflow():\n                y = x" TAIL, "cannot be nested", 15},
    {GRAPH "y = R.f(x)\n            return y" TAIL, "cannot contain return", 16},
    {GRAPH "y = R.f(x)\n        return y\n", "has no R.output", 14},
    {GRAPH "z = R.f(x)\n            y = R.f(x)\n            R.output(y)\n        return z\n",
     "'z' is not defined", 18},
    {GRAPH "y = R.f(x)\n            R.output(x)\n        return y\n", "that its block binds", 16},
    {GRAPH "y = R.f(x)" TAIL "        y = x\n", "follow `return`", 18},
    {HEAD "    def main(x: R.Tensor((4,))):\n        R.func_attr({\"num_input\": 2})\n"
          "        return x\n",
     "num_input", 11},
    {HEAD "    def main(x, y):\n        return x\n", "parameter 'x' has no type", 11},
    {HEAD "    def main(x: R.Tensor((4,))):\n        pass\n", "returns nothing", 11},
    {HEAD "    def copy(x: R.Tensor((4,))):\n        return x\n", "defined twice", 11},
    {HEAD "    def main(x: R.Tensor((4,)), x: R.Tensor((4,))):\n        return x\n",
     "declared twice", 11},
};

static void test_refused(void **state) {
  Tirc *c = *state;
  for (size_t i = 0; i < COUNT(refused); i++) {
    if (try_parse(c, refused[i].text)) fail_msg("accepted:\n%s", refused[i].text);
    if (!strstr(c->diag.message, refused[i].message) || c->diag.loc.line != refused[i].line)
      fail_msg("%d: %s, instead of %d: %s\n%s", c->diag.loc.line, c->diag.message, refused[i].line,
               refused[i].message, refused[i].text);
  }
}

/* --- whole modules ---------------------------------------------------------------------------- */

/* The layout is the reference printer's. */
static void test_layout(void **state) {
  Tirc *c = *state;
  static const char text[] =
      "# from tvm.script import ir as I\n"
      "# from tvm.script import tir as T\n"
      "# from tvm.script import relax as R\n"
      "\n"
      "@I.ir_module\n"
      "class Module:\n"
      "    @R.function(private=True)\n"
      "    def fused(x: R.Tensor((\"n\", 4), dtype=\"float32\")) -> R.Tensor((\"n\", 4), "
      "dtype=\"float32\"):\n"
      "        n = T.int64()\n"
      "        R.func_attr({\"Primitive\": True})\n"
      "        with R.dataflow():\n"
      "            gv: R.Tensor((n, 4), dtype=\"float32\") = R.nn.relu(x)\n"
      "            R.output(gv)\n"
      "        return gv\n"
      "\n"
      "    @R.function\n"
      "    def main(x: R.Tensor((\"n\", 4), dtype=\"float32\"), k: R.Shape([\"m\"]), "
      "w: R.Tensor((\"n + m\",), dtype=\"float32\")) -> R.Tuple(R.Tensor((\"n\", 4), "
      "dtype=\"float32\"), R.Tensor((4,), dtype=\"float32\")):\n"
      "        n = T.int64()\n"
      "        m = T.int64()\n"
      "        R.func_attr({\"num_input\": 2})\n"
      "        cls = Module\n"
      "        a: R.Tensor((n, 4), dtype=\"float32\") = cls.fused(x)\n"
      "        with R.dataflow():\n"
      "            gv: R.Tensor((n, 4), dtype=\"float32\") = R.nn.relu(a)\n"
      "            gv1 = R.const([1.0, 2.0, 3.0, 4.0], \"float32\")\n"
      "            R.output(gv, gv1)\n"
      "        return (gv, gv1)\n";
  const Module *m = parse(c, text);
  const char *printed = tirc_print_module(c, m, NULL);
  assert_int_equal(m->n_graphs, 2);
  assert_string_equal(tirc_print_module(c, parse(c, printed), NULL), printed);
  /* a constant says what it is as well */
  const char *said = strstr(printed, "gv1: R.Tensor((4,), dtype=\"float32\") = R.const(");
  assert_non_null(said);
  const size_t until = (size_t)(said - printed) + 3;
  assert_memory_equal(printed, text, until);
}

/* --- copies ----------------------------------------------------------------------------------- */

static const void *data_of(const Module *m) {
  const GraphBlock *b = &m->graphs[0]->blocks[0];
  for (int i = 0; i < b->n; i++)
    if (b->at[i].value->kind == NODE_CONST) return b->at[i].value->data;
  return NULL;
}

/* They outlive what they were made of, but for the elements that are to stay. */
static void test_copies(void **state) {
  Tirc *c = *state, *from = tirc_context_new(), *to = tirc_context_new();
  assert_true(from && to);
  const Module *m =
      parse(from, GRAPH
            "k = R.const([1.0, 2.0], \"float32\")\n"
            "            y = R.call_tir(cls.copy, (p,), out_sinfo=R.Tensor((4,), \"float32\"))\n"
            "            R.output(k, y)\n        return (k, y)\n");
  const Module *both[] = {m, m}, *staying[] = {m, NULL};
  const char *text = tirc_print_module(c, m, NULL);
  tirc_modules_copy(to, c, m, 2, staying);
  assert_ptr_equal(data_of(staying[0]), data_of(m));
  assert_null(staying[1]);
  tirc_modules_copy(to, c, NULL, 2, both);
  assert_ptr_not_equal(data_of(both[0]), data_of(m));
  assert_ptr_equal(both[0]->funcs[0], both[1]->funcs[0]); /* what they share */
  const ModuleHash h = tirc_hash_module(c, m);
  tirc_context_release(from);
  tirc_verify(c, both[0]);
  assert_string_equal(tirc_print_module(c, both[0], NULL), text);
  const ModuleHash is = tirc_hash_module(c, both[0]);
  assert_memory_equal(&is, &h, sizeof h);
  tirc_context_release(to);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_copies, new_context, free_context),
      cmocka_unit_test_setup_teardown(test_bindings, new_context, free_context),
      cmocka_unit_test_setup_teardown(test_equality, new_context, free_context),
      cmocka_unit_test_setup_teardown(test_refused, new_context, free_context),
      cmocka_unit_test_setup_teardown(test_layout, new_context, free_context),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
