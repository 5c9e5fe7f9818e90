/* Scanner, grammar and program reader: what is accepted and how it reads, what is refused and
 * where. The tables are the tests; a case is one line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ir/tree/print.h"
#include "ir/tree/verify.h"
#include "parser/program.h"
#include "parser/syntax.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static int new_context(void **state) {
  *state = tirc_context_new();
  return *state == NULL;
}

static int free_context(void **state) {
  tirc_context_release(*state);
  return 0;
}

static Source source_of(const char *text) { return (Source){"f", text, strlen(text)}; }

/* The module, or NULL and the reason in c->diag. */
static const Module *try_parse(Tirc *c, Source source, int n, const Define *defines) {
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    const Module *m = tirc_parse_module(c, &source, n, defines);
    tirc_verify(c, m);
    TIRC_END(c, trap);
    return m;
  }
  c->trap = trap.outer;
  return NULL;
}

static const Module *parse(Tirc *c, const char *text) {
  const Module *m = try_parse(c, source_of(text), 0, NULL);
  if (!m) fail_msg("%d:%d: %s\n%s", c->diag.loc.line, c->diag.loc.column, c->diag.message, text);
  return m;
}

/* --- expressions ------------------------------------------------------------------------------ */

/* `B[0] = text` (float32) or `I[0] = text` (int32), as it prints. */
static const struct {
  const char *text, *printed;
} float_cases[] = {
    {"1", "T.float32(1.0)"},
    {"-1.5", "T.float32(-1.5)"},
    {"1_000.5e-3", "T.float32(1.0004999999999999)"},
    {"T.float32(\"inf\")", "T.float32(\"inf\")"},
    {"T.float32(\"-inf\")", "T.float32(\"-inf\")"},
    {"T.float32(\"nan\")", "T.float32(\"nan\")"},
    {"T.min_value(\"float32\")", "T.float32(-340282346638528859811704183484516925440.0)"},
    {"T.infinity(\"float32\")", "T.float32(\"inf\")"},
    {"A[1] + 2", "A[1] + T.float32(2.0)"},
    {"2 * A[1]", "T.float32(2.0) * A[1]"},
    {"A[1] - (A[2] - A[3])", "A[1] - (A[2] - A[3])"},
    {"A[1] / 3", "A[1] / T.float32(3.0)"},
    {"-A[1]", "A[1] * T.float32(-1.0)"},
    {"+A[1]", "A[1]"},
    {"A[1] ** 2", "T.pow(A[1], T.float32(2.0))"},
    {"T.max(A[1], 0)", "T.max(A[1], T.float32(0.0))"},
    {"T.exp(A[1])", "T.exp(A[1])"},
    {"T.abs(A[1])", "T.fabs(A[1])"},
    {"T.fma(A[1], 2.0, A[2])", "T.fma(A[1], T.float32(2.0), A[2])"},
    {"T.power(A[1], A[2])", "T.pow(A[1], A[2])"},
    {"T.if_then_else(n < 3, A[1], 0)", "T.if_then_else(n < 3, A[1], T.float32(0.0))"},
    {"T.if_then_else(True, A[1], 0)", "A[1]"},
    {"T.Select(n < 3, A[1], 0.5)", "T.Select(n < 3, A[1], T.float32(0.5))"},
    {"T.Let(x * x, where={x: A[1]})", "T.Let(x * x, where={x: A[1]})"},
    {"T.Cast(\"float32\", n)", "T.Cast(\"float32\", n)"},
    {"T.cast(n, \"float32\")", "T.Cast(\"float32\", n)"},
    {"n.astype(\"float32\")", "T.Cast(\"float32\", n)"},
    {"T.float32(n)", "T.Cast(\"float32\", n)"},
    {"n", "T.Cast(\"float32\", n)"},
    {"H[0]", "T.Cast(\"float32\", H[0])"},
    {"T.call_extern(\"float32\", \"sinf\", A[1])", "T.call_extern(\"float32\", \"sinf\", A[1])"},
    {"T.call_extern(\"sinf\", A[1], dtype=\"float32\")",
     "T.call_extern(\"float32\", \"sinf\", A[1])"},
    {"T.hypot(A[1], A[2], dtype=\"float32\")", "T.hypot(A[1], A[2])"},
    {"T.reinterpret(\"float32\", n)", "T.reinterpret(\"float32\", n)"},
    {"T.reinterpret(n, dtype=\"float32\")", "T.reinterpret(\"float32\", n)"},
    {"T.reinterpret(\"float32\", A[1])", "A[1]"},
    {"T.exp(A[1], dtype=\"float32\")", "T.exp(A[1])"},
    {"A[n] if M > 3 else A[0]", "A[n]"},
    {"min(M, 3)", "T.float32(3.0)"},
    {"A.vload([2])", "A[2]"},
};
static const struct {
  const char *text, *printed;
} int_cases[] = {
    {"0x1F", "31"},
    {"0b1_01", "5"},
    {"0o17", "15"},
    {"-7 // 2", "-4"},
    {"-7 % 3", "2"},
    {"2 ** 10", "1024"},
    {"1 << 4 | 1", "17"},
    {"M // 2 + K", "96"},
    {"n // 2 % 3", "n // 2 % 3"},
    {"n + 0", "n"},
    {"n * 1", "n"},
    {"T.Mul(0, 64) + n", "T.Mul(0, 64) + n"},
    {"T.truncdiv(n, 2)", "T.Div(n, 2)"},
    {"n / 2", "T.Div(n, 2)"},
    {"T.floordiv(n, 2)", "n // 2"},
    {"T.indexmod(n, 2)", "n % 2"},
    {"T.ceildiv(n, 4)", "(n + 4 - 1) // 4"},
    {"n & 3", "T.bitwise_and(n, 3)"},
    {"n << 2", "T.shift_left(n, 2)"},
    {"~n", "T.bitwise_not(n)"},
    {"T.min(n, M)", "T.min(n, 64)"},
    {"T.max_value(\"int8\").astype(\"int32\")", "127"},
    {"T.Cast(\"int32\", n < 3)", "T.Cast(\"int32\", n < 3)"},
    {"T.Cast(\"int32\", 0 < n < 3)", "T.Cast(\"int32\", 0 < n and n < 3)"},
    {"T.Cast(\"int32\", not (n < 3 or n == 7))", "T.Cast(\"int32\", not (n < 3 or n == 7))"},
    {"T.Cast(\"int32\", T.all(n < 3, n > 1, n != 2))",
     "T.Cast(\"int32\", n < 3 and n > 1 and n != 2)"},
    {"T.Cast(\"int32\", T.Cast(\"int64\", n) + 1)",
     "T.Cast(\"int32\", T.Cast(\"int64\", n) + T.int64(1))"},
    {"T.q_multiply_shift(n, 2, 31, 0, dtype=\"int32\")", "T.q_multiply_shift(n, 2, 31, 0)"},
    {"T.call_extern(\"int32\", \"f\", T.tvm_access_ptr(T.type_annotation(dtype=\"float32\"), "
     "A.data, 0, "
     "64, 1, dtype=\"handle\"), T.call_extern(\"g\", dtype=\"\"))",
     "T.call_extern(\"int32\", \"f\", T.tvm_access_ptr(T.type_annotation(\"float32\"), A.data, 0, "
     "64, 1), "
     "T.call_extern(\"\", \"g\"))"},
    {"T.float32(-3)", "-3"},
    {"0.0", "0"},
    {"A.shape[0]", "64"},
    {"len(A.shape)", "1"},
};

static const char *stored_value(Tirc *c, const char *buffer, const char *text) {
  const Module *m = parse(
      c,
      tirc_format(c,
                  "M = 64\nK = M if M < 2 else 64\n@T.prim_func\n"
                  "def main(A: T.Buffer((M,)), B: T.Buffer((64,)), I: T.Buffer((64,), \"int32\"), "
                  "H: T.Buffer((4,), \"float16\"), n: T.int32):\n    %s[0] = %s\n",
                  buffer, text));
  assert_int_equal(m->funcs[0]->body->kind, STMT_STORE);
  const char *printed = tirc_print_func(c, m->funcs[0], DIALECT_TIR);
  const char *value =
      strstr(strrchr(strstr(printed, "\n    "), '\n') ? printed : printed, "[0] = ");
  assert_non_null(value);
  return tirc_strndup(c, value + 6, strcspn(value + 6, "\n"));
}

static void expressions_read_as_they_print(void **state) {
  Tirc *c = *state;
  for (size_t i = 0; i < COUNT(float_cases); i++)
    assert_string_equal(stored_value(c, "B", float_cases[i].text), float_cases[i].printed);
  for (size_t i = 0; i < COUNT(int_cases); i++)
    assert_string_equal(stored_value(c, "I", int_cases[i].text), int_cases[i].printed);
}

/* --- programs --------------------------------------------------------------------------------- */

#define HEAD "# from tvm.script import tir as T\n\n@T.prim_func\n"
#define MAIN "def main(A: T.Buffer((64,), \"float32\"), B: T.Buffer((64,), \"float32\")):\n"

/* What people write, and how it prints. */
static const struct {
  const char *text, *printed;
} programs[] = {
    {/* regions inferred, implicit root */
     "from tvm.script import tir as T\n@T.prim_func\n"
     "def main(A: T.Buffer[(64,), \"float32\"], B: T.Buffer((64,))) -> None:\n"
     "  for i in T.serial(0, 64):\n    with T.sblock('B'):\n      vi = T.axis.S(64, i)\n"
     "      B[vi] = A[vi] + 1.0\n",
     HEAD MAIN
     "    # with T.block(\"root\"):\n    for i in range(64):\n        with T.block(\"B\"):\n"
     "            vi = T.axis.spatial(64, i)\n            T.reads(A[vi])\n"
     "            T.writes(B[vi])\n            B[vi] = A[vi] + T.float32(1.0)\n"},
    {/* another alias, CRLF, tabs, no end of line */
     "import tvm.script.tir as TT\r\n@TT.prim_func\r\ndef main(A: TT.Buffer((64,)), B: "
     "TT.Buffer((64,))):"
     "\r\n\tB[0] = \\\r\n\t\tA[0]",
     HEAD MAIN "    B[0] = A[0]\n"},
    {/* scalars behind buffers, symbolic extents, int64 */
     "@T.prim_func\ndef main(a: T.handle, n: T.int64):\n    m = T.int32()\n"
     "    A = T.match_buffer(a, (n, m), \"int8\", strides=(m, 1), align=128)\n"
     "    for i in range(n):\n        A[i, 0] = 3\n",
     "# from tvm.script import tir as T\n\n@T.prim_func\ndef main(a: T.handle, n: T.int64):\n"
     "    m = T.int32()\n    A = T.match_buffer(a, (n, m), \"int8\", strides=(m, 1), align=128)\n"
     "    for i in range(n):\n        A[i, 0] = T.int8(3)\n"},
    {/* statements that scope over the rest */
     "@T.prim_func\n" MAIN
     "    x = A[0] * 2.0\n    y: T.int32 = 3\n    assert x > 0.0, \"positive\"\n"
     "    C = T.allocate([64], \"float32\", \"global\")\n    D = T.Buffer((64,), data=C)\n    D[y] "
     "= x\n",
     HEAD MAIN "    x: T.float32 = A[0] * T.float32(2.0)\n    y: T.int32 = 3\n"
               "    assert x > T.float32(0.0), \"positive\"\n    C = T.decl_buffer((64,))\n"
               "    D = T.decl_buffer((64,), data=C.data)\n    D[y] = x\n"},
    {/* the same with `with` */
     "@T.prim_func\n" MAIN
     "    with T.LetStmt(A[0]) as v, T.attr(A.data, \"key\", 1):\n        B[0] = v\n    B[1] = 2\n",
     HEAD MAIN "    with T.LetStmt(A[0]) as v:\n        with T.attr(A.data, \"key\", 1):\n"
               "            B[0] = v\n    B[1] = T.float32(2.0)\n"},
    {/* vectors */
     "@T.prim_func\n" MAIN
     "    B[0:4] = A[4:8] * 2.0\n    B[0:8:2] = A[T.Ramp(0, 1, 4)]\n    B.vstore([8], A.vload([0], "
     "\"float32x4\"))\n",
     HEAD MAIN "    B[0:4] = A[4:8] * T.Broadcast(T.float32(2.0), 4)\n    B[0:8:2] = A[0:4]\n"
               "    B[8:12] = A[0:4]\n"},
    {/* other names of vectors; an intrinsic by the number that its name has */
     "@T.prim_func\n" MAIN
     "    B[T.ramp(0, 1, 4)] = A[0:4] * T.broadcast(T.float32(2), 4)\n    B[4:8] = "
     "T.call_llvm_pure_intrin(\"float32x4\", T.llvm_lookup_intrinsic_id(\"llvm.sqrt\"), "
     "T.uint32(1), "
     "A[4:8])\n",
     HEAD MAIN "    B[0:4] = A[0:4] * T.Broadcast(T.float32(2.0), 4)\n    B[4:8] = "
               "T.call_llvm_pure_intrin(\"float32x4\", \"llvm.sqrt\", T.uint32(1), A[4:8])\n"},
    {/* threads */
     "@T.prim_func\n" MAIN
     "    tx = T.env_thread(\"threadIdx.x\")\n    T.launch_thread(tx, 64)\n    B[tx] = A[tx]\n",
     HEAD MAIN
     "    for tx in T.thread_binding(64, thread=\"threadIdx.x\"):\n        B[tx] = A[tx]\n"},
    {/* what follows the extent may be the thread */
     "@T.prim_func\n" MAIN "    for tx in T.thread_binding(64, \"threadIdx.x\"):\n"
     "        for i in range(4, annotations={\"u\": 1}):\n            B[tx] = A[tx]\n",
     HEAD MAIN "    for tx in T.thread_binding(64, thread=\"threadIdx.x\"):\n"
               "        for i in T.serial(4, annotations={\"u\": 1}):\n"
               "            B[tx] = A[tx]\n"},
    {/* an explicit root keeps what it says, and only that */
     "@T.prim_func\n" MAIN
     "    with T.block(\"root\"):\n        T.block_attr({\"k\": [1, \"s\", {\"t\": True}]})\n"
     "        for i in T.parallel(64, annotations={\"u\": 1}):\n            with T.block(\"B\"):\n"
     "                vi = T.axis.remap(\"S\", [i])\n                T.where(i < 60)\n"
     "                T.reads([A[0:64]])\n                T.writes([B[vi]])\n                B[vi] "
     "= A[vi]\n",
     HEAD MAIN "    with T.block(\"root\"):\n        T.reads()\n        T.writes()\n"
               "        T.block_attr({\"k\": [1, \"s\", {\"t\": T.bool(True)}]})\n"
               "        for i in T.parallel(64, annotations={\"u\": 1}):\n"
               "            with T.block(\"B\"):\n                vi = T.axis.spatial(64, i)\n"
               "                T.where(i < 60)\n                T.reads(A[0:64])\n"
               "                T.writes(B[vi])\n                B[vi] = A[vi]\n"},
    {/* conditions known while reading are decided then */
     "N = 3\n@T.prim_func\n" MAIN "    if N > 2:\n        B[0] = 1\n    else:\n        B[0] = 2\n",
     HEAD MAIN "    B[0] = T.float32(1.0)\n"},
    {/* classes */
     "@I.ir_module\nclass Mod:\n    I.module_attrs({\"a\": 1})\n    @T.prim_func\n    def f():\n"
     "        T.evaluate(0)\n    @T.prim_func\n    def g():\n        pass\n",
     "# from tvm.script import ir as I\n# from tvm.script import tir as T\n\n@I.ir_module\nclass "
     "Mod:\n"
     "    I.module_attrs({\"a\": 1})\n    @T.prim_func\n    def f():\n        T.evaluate(0)\n\n"
     "    @T.prim_func\n    def g():\n        T.evaluate(0)\n"},
    {/* sub-regions of buffers */
     "@T.prim_func\n" MAIN "    with T.block(\"b\"):\n        T.reads()\n        T.writes(B[0:4])\n"
     "        S = T.match_buffer(B[0:4], (4,), offset_factor=4)\n        S[0] = 1\n",
     HEAD MAIN
     "    with T.block(\"b\"):\n        T.reads()\n        T.writes(B[0:4])\n"
     "        S_elem_offset = T.int32()\n"
     "        S = T.match_buffer(B[0:4], (4,), elem_offset=S_elem_offset, offset_factor=4)\n"
     "        S[0] = T.float32(1.0)\n"},
};

static void programs_read_as_they_print(void **state) {
  Tirc *c = *state;
  for (size_t i = 0; i < COUNT(programs); i++) {
    const char *printed = tirc_print_module(c, parse(c, programs[i].text), NULL);
    assert_string_equal(printed, programs[i].printed);
    assert_string_equal(tirc_print_module(c, parse(c, printed), NULL), printed);
  }
}

static void private_functions_say_so(void **state) {
  const Module *m = parse(*state, "@T.prim_func(private=True)\ndef f():\n    pass\n");
  assert_true(tirc_is_true(tirc_attrs_get(m->funcs[0]->attrs, "tirc.private")));
  m = parse(*state, "@T.prim_func(private=False)\ndef f():\n    pass\n");
  assert_null(tirc_attrs_get(m->funcs[0]->attrs, "tirc.private"));
}

static void constants_are_overridden(void **state) {
  Tirc *c = *state;
  Source s = source_of(
      "M, N = 4, 8\nK = M * N\nNAME = \"x\"\n@T.prim_func\ndef f(A: T.Buffer((K, EXTRA))):\n"
      "    A[0, 0] = 1\n");
  const Define defines[] = {{"N", "2"}, {"EXTRA", "3 + 4"}, {"N", "16"}};
  const Module *m = try_parse(c, s, 3, defines);
  assert_non_null(m);
  Buffer a = m->funcs[0]->buffers[0];
  assert_true(tirc_is_int(a->shape[0], 64) && tirc_is_int(a->shape[1], 7));
  static const char *const names[] = {"M", "N", "K", "NAME", "EXTRA"};
  assert_int_equal(m->n_constants, 5);
  for (int i = 0; i < 5; i++) assert_string_equal(m->constants[i].name, names[i]);
  assert_null(try_parse(c, s, 1, &(Define){"N", "foo"}));
  assert_string_equal(tirc_codes[c->diag.code].text, "name");
}

/* --- errors ----------------------------------------------------------------------------------- */

typedef struct Bad {
  const char *text;
  int line, column;
  const char *code, *message; /* a part of it */
} Bad;

static const Bad syntax_errors[] = {
    {"for i in x\n  y\n", 1, 11, "syntax", "expected ':' after 'for ...'"},
    {"with T.block(\"a\")\n  x\n", 1, 18, "syntax", "expected ':' after 'with ...'"},
    {"if x = 3:\n  y\n", 1, 6, "syntax", "expected ':' after 'if ...', found '='"},
    {"if a:\nb\n", 2, 1, "syntax", "expected an indented block, found 'b'"},
    {"a\n  b\n", 2, 3, "syntax", "unexpected indentation"},
    {"if a:\n    b\n  c\n", 3, 3, "syntax", "fits no block"},
    {"if a:\n\tb\n        c\n", 3, 9, "syntax", "tabs and spaces"},
    {"x = (1,\n     [2}\n", 2, 8, "syntax",
     "'}' does not close the '[' opened at line 2, column 6"},
    {"x = f(1,\n  2\n", 1, 6, "syntax", "'(' is never closed"},
    {"x = 1)\n", 1, 6, "syntax", "')' closes nothing"},
    {"x = 1 +\n", 1, 8, "syntax", "unexpected end of the line"},
    {"x = 'abc\n", 1, 5, "syntax", "never closed"},
    {"x = '''abc\n\n", 1, 5, "syntax", "never closed"},
    {"x = 0777\n", 1, 5, "syntax", "does not begin with 0"},
    {"x = 1a\n", 1, 5, "syntax", "'1a' is not a number"},
    {"x = 18446744073709551616\n", 1, 5, "syntax", "64 bits"},
    {"x = 1 - 18446744073709551616\n", 1, 9, "syntax", "64 bits"},
    {"x = $\n", 1, 5, "syntax", "unexpected character '$'"},
    {"\xC3\xA9 = 3\n", 1, 1, "syntax", "unexpected character '\xC3\xA9'"},
    {"s = '\xC3\xA9' $\n", 1, 9, "syntax", "unexpected character"},
    {"# \xC3\n", 1, 3, "syntax", "not UTF-8"},
    {"x = '\xED\xA0\x80'\n", 1, 6, "syntax", "not UTF-8"},
    {"yield x\n", 1, 1, "syntax", "'yield' is not part of the language"},
    {"async def f(): pass\n", 1, 1, "syntax", "'async' is not part"},
    {"x = a \\ b\n", 1, 7, "syntax", "line continuation"},
    {"if (y := 3): pass\n", 1, 7, "syntax", "':='"},
    {"f(a=1, 2)\n", 1, 8, "syntax", "positional argument follows"},
    {"f(a=1, a=2)\n", 1, 8, "syntax", "given twice"},
    {"f(1=2)\n", 1, 3, "syntax", "keyword argument"},
    {"def f(a, a): pass\n", 1, 10, "syntax", "declared twice"},
    {"f() = 3\n", 1, 1, "syntax", "cannot assign to a call"},
    {"a == b = 3\n", 1, 1, "syntax", "cannot assign to a comparison"},
    {"x = f\"{a b}\"\n", 1, 10, "syntax", "unexpected 'b'"},
    {"x = f\"ab{}\"\n", 1, 10, "syntax", "needs an expression"},
    {"x = f\"{a\"\n", 1, 8, "syntax", "never closed"},
    {"x = f\"}\"\n", 1, 7, "syntax", "single '}'"},
    {"else: 3\n", 1, 1, "syntax", "unexpected 'else'"},
};

static void check_bad(Tirc *c, const Bad *bad, const char *before, int lines) {
  const char *text = tirc_format(c, "%s%s", before, bad->text);
  if (try_parse(c, source_of(text), 0, NULL)) fail_msg("accepted:\n%s", text);
  const Diag *d = &c->diag;
  if (d->loc.line != bad->line + lines || d->loc.column != bad->column ||
      strcmp(tirc_codes[d->code].text, bad->code) != 0 || !strstr(d->message, bad->message))
    fail_msg("%d:%d: %s: %s\n%s", d->loc.line, d->loc.column, tirc_codes[d->code].text, d->message,
             text);
  assert_int_equal(d->status, TIRC_STATUS_BAD);
}

static void syntax_errors_have_places(void **state) {
  for (size_t i = 0; i < COUNT(syntax_errors); i++) check_bad(*state, &syntax_errors[i], "", 0);
}

/* Each after `@T.prim_func\ndef f(A: T.Buffer((8, 8)), I: T.Buffer((8,), "int32"), n: T.int32):\n`.
 */
static const Bad body_errors[] = {
    {"  A[0] = 1.0\n", 1, 3, "shape", "has 2 dimensions, but here it has 1 index"},
    {"  A[0, 0, 0] = 1.0\n", 1, 3, "shape", "3 indices"},
    {"  A[0, 1.5] = 1.0\n", 1, 8, "type", "index 1 of A must be an integer"},
    {"  A[0, A[0, 0]] = 1.0\n", 1, 8, "type",
     "must be an integer, not an expression of type float32"},
    {"  A[0, True] = 1.0\n", 1, 8, "type", "must be an integer"},
    {"  A[0, 0] = AA[0, 0]\n", 1, 13, "name", "'AA' is not defined"},
    {"  A[0, 0] = T.exq(1.0)\n", 1, 13, "name", "no function T.exq"},
    {"  A[0, 0] = T.exp(n)\n", 1, 19, "type", "T.exp takes a float"},
    {"  T.evaluate(T.llvm_lookup_intrinsic_id(3))\n", 1, 41, "type",
     "expected the name of an intrinsic"},
    {"  A[0, 0] = A\n", 1, 13, "type", "the buffer A cannot be stored"},
    {"  A[0, 0] = \"s\"\n", 1, 13, "type", "a string cannot be stored"},
    {"  I[0] = A[0, 0]\n", 1, 10, "type", "cannot be stored into I"},
    {"  I[0] = 0.5\n", 1, 10, "type", "cannot be stored into I"},
    {"  I[0] = T.float32(2147483648)\n", 1, 10, "type", "cannot be stored into I"},
    {"  I[0] = A[0, 0] // 2\n", 1, 10, "type", "'//' takes integers"},
    {"  I[0] = n // 0\n", 1, 10, "type", "division by zero"},
    {"  I[0] = 1 // 0\n", 1, 10, "type", "division by zero"},
    {"  I[0] = A + 1\n", 1, 10, "type", "'+' takes numbers, not the buffer A"},
    {"  I[0] = T.int8(300)\n", 1, 17, "type", "300 does not fit into int8"},
    {"  I[0] = T.uint64(2**64)\n", 1, 19, "type", "18446744073709551616 does not fit into uint64"},
    {"  I[0] = T.uint64(-1)\n", 1, 19, "type", "-1 does not fit into uint64"},
    {"  I[0] = T.int64(2**63)\n", 1, 18, "type", "9223372036854775808 does not fit into int64"},
    {"  I[0] = T.Cast(\"int33\", n)\n", 1, 17, "type", "'int33' is not a data type"},
    {"  I[0] = T.max(n)\n", 1, 10, "argument", "T.max needs the argument 'b'"},
    {"  I[0] = T.max(n, n, n)\n", 1, 22, "argument", "takes at most 2"},
    {"  I[0] = T.max(n, bb=n)\n", 1, 19, "argument", "no parameter 'bb'"},
    {"  I[0] = np.exp(n)\n", 1, 10, "name", "'np' is not defined"},
    {"  x = n\n  x = n\n", 2, 3, "name", "'x' is already defined"},
    {"  n += 1\n", 1, 3, "unsupported", "needs an element of a buffer"},
    {"  return\n", 1, 3, "unsupported", "a return without a value"},
    {"  return n\n  T.evaluate(n)\n", 2, 3, "syntax", "has returned before"},
    {"  for i in range(n):\n    return n\n", 1, 3, "unsupported", "returns at its end"},
    {"  if n > 0:\n    return n\n", 1, 3, "type", "returns a value, but not here"},
    {"  return A[0, 0:4]\n", 1, 10, "type", "one number, and not a region of A"},
    {"  return T.Broadcast(n, 4)\n", 1, 10, "type", "of type int32x4"},
    {"  return A\n", 1, 10, "type", "one number, and not the buffer A"},
    {"  return A.data\n", 1, 10, "type", "one number, and not an expression of type handle"},
    {"  return \"abc\"\n", 1, 10, "type", "one number, and not a string"},
    {"  if n > 3:\n    return 1\n  return T.int64(n)\n", 3, 10, "type", "of type int32 before"},
    {"  if n > 3:\n    return n\n  return 2.5\n", 3, 10, "type", "of type int32 before"},
    {"  T.ret(n, dtype=\"int64\")\n", 1, 3, "argument", "T.ret takes one value"},
    {"  return T.ret(n, n)\n", 1, 10, "argument", "T.ret takes one value"},
    {"  I[0] = T.ret(n)\n", 1, 10, "syntax", "T.ret gives no value"},
    {"  for i in range(n):\n    T.call_intrin(\"int32\", \"tir.ret\", n)\n", 1, 3, "unsupported",
     "returns at its end"},
    {"  if n > 0:\n    return n\n  B = T.alloc_buffer((4,))\n  return n\n", 3, 7, "syntax",
     "and not behind a return"},
    {"  if n > 0:\n    def g():\n      return 3\n  return n\n", 2, 5, "unsupported",
     "a function in a function"},
    {"  for i in n: pass\n", 1, 12, "syntax", "cannot run over this"},
    {"  for i, j in T.grid(3): pass\n", 1, 7, "type", "2 names for 1 loop"},
    {"  for i, i in T.grid(3, 4): pass\n", 1, 10, "name", "'i' is already defined"},
    {"  for i in range(0, 9, 2): pass\n", 1, 24, "unsupported", "step is always 1"},
    {"  for i in range(1.5): pass\n", 1, 18, "type", "must be an integer"},
    {"  for i in T.thread_binding(4): pass\n", 1, 12, "argument", "a thread axis"},
    {"  for i in T.reads(A): pass\n", 1, 12, "syntax", "cannot be used here"},
    {"  T.grid(3)\n", 1, 3, "syntax", "cannot be used here"},
    {"  T.reads(A)\n", 1, 3, "syntax", "must stand directly in a block"},
    {"  x = T.axis.spatial(8, 0)\n", 1, 7, "syntax", "must stand directly in a block"},
    {"  with T.block(\"b\"):\n    v = T.axis.spatial(8, n)\n    v = T.axis.spatial(8, n)\n", 3, 5,
     "name", "'v' is already defined"},
    {"  with T.block(\"b\"):\n    T.where(n < 3)\n    T.where(n < 4)\n", 3, 5, "name",
     "T.where is used twice"},
    {"  with T.block(\"b\"):\n    T.reads()\n    T.reads()\n", 3, 5, "name",
     "T.reads is used twice"},
    {"  for i in range(8):\n    with T.block(\"b\"):\n      v, w = T.axis.remap(\"SR\", [i])\n", 3,
     14, "type", "2 kinds for 1 loop"},
    {"  for i in range(8):\n    with T.block(\"b\"):\n      v, w = T.axis.remap(\"S\", [i])\n", 3,
     7, "type", "there are 2 names for 1 values"},
    {"  for i in range(8):\n    with T.block(\"b\"):\n      v = T.axis.remap(\"X\", [i])\n", 3, 24,
     "type", "the kind of iterator 'X'"},
    {"  with T.block(\"b\"):\n    v = T.axis.remap(\"S\", [n])\n", 2, 28, "type",
     "variables of the loops"},
    {"  with T.block(\"b\"):\n    with T.init():\n      pass\n    with T.init():\n      pass\n", 4,
     5, "name", "T.init is used twice"},
    {"  with T.block([8], \"b\"):\n    pass\n", 1, 16, "type", "takes only the name of the block"},
    {"  with T.bloc(\"b\"):\n    pass\n", 1, 8, "name", "no function T.bloc"},
    {"  X = T.alloc_buffer((4, -1))\n", 1, 7, "shape", "dimension 1 of buffer X is negative"},
    {"  with T.block(\"b\"):\n    v = T.axis.spatial((4, 2), n)\n", 2, 24, "shape",
     "an iterator's domain has -2 values"},
    {"  X = T.alloc_buffer((1 << 40, 1 << 40))\n", 1, 7, "shape", "64 bits"},
    {"  X = T.alloc_buffer((4, 2.0))\n", 1, 26, "type", "must be an integer"},
    {"  X = T.alloc_buffer((4,), strides=(1, 2))\n", 1, 36, "shape", "1 dimensions but 2 strides"},
    {"  for i in range(3):\n    X = T.alloc_buffer((4,))\n", 2, 9, "syntax", "top level"},
    {"  X = T.match_buffer(n, (4,))\n", 1, 22, "type", "n is a scalar"},
    {"  X = T.Buffer((4,))\n", 1, 7, "syntax", "without data="},
    {"  x: T.int32 = A[0, 0]\n", 1, 16, "type", "x has type int32"},
    {"  with T.block(\"b\"):\n    T.evaluate(T.tvm_access_ptr(T.type_annotation(\"float32\"), "
     "A.data, 0, 1, 3))\n"
     "  A[0, 0] = 1\n",
     1, 3, "region", "cannot be inferred"},
    {"  if A[0, 0]:\n    pass\n", 1, 6, "type", "must be of type bool"},
    {"  T.realize()\n", 1, 3, "unsupported", "not supported"},
    {"  X = T.alloc_buffer((T.Let(x, where={x: n}),))\n", 1, 23, "type", "T.Let"},
    {"  ...\n", 1, 3, "unsupported", "not part of the language"},
    {"  T.int32()\n", 1, 3, "syntax", "does nothing"},
    /* well-formedness */
    {"  m = T.int32()\n  I[0] = m\n", 2, 3, "ill-formed",
     "variable m is used where it is not defined"},
    {"  for i in range(8):\n    with T.block(\"b\"):\n      v = T.axis.spatial(8, i)\n      I[v] = "
     "i\n",
     4, 7, "ill-formed", "uses the loop variable i"},
    {"  for i in range(8):\n    with T.block(\"b\"):\n      v = T.axis.spatial(8, i)\n      "
     "T.where(v < 3)\n"
     "      T.reads()\n      T.writes(I[v])\n      I[v] = 0\n",
     2, 5, "ill-formed", "variable v is used"},
};

static void body_errors_have_places(void **state) {
  static const char before[] =
      "@T.prim_func\ndef f(A: T.Buffer((8, 8)), I: T.Buffer((8,), \"int32\"), n: T.int32):\n";
  for (size_t i = 0; i < COUNT(body_errors); i++) check_bad(*state, &body_errors[i], before, 2);
}

static const Bad file_errors[] = {
    {"", 1, 1, "syntax", "no function"},
    {"def f(): pass\n", 1, 1, "syntax", "has no @T.prim_func"},
    {"@T.prim_func\ndef f(a): pass\n", 2, 7, "type", "parameter 'a' has no type"},
    {"@T.prim_func\ndef f(a: T.int33): pass\n", 2, 10, "type", "'int33' is not a data type"},
    {"@T.prim_func\ndef f(a: T.Buffer((n,))): pass\n", 2, 20, "name", "'n' is not defined"},
    {"@T.prim_func\ndef f(): pass\n@T.prim_func\ndef f(): pass\n", 4, 1, "name", "defined twice"},
    {"@T.prim_func\ndef f(n: T.int64) -> T.int32: return n\n", 2, 38, "type", "may not fit"},
    {"@T.prim_func\ndef f(n: T.uint32) -> T.int32: return n\n", 2, 39, "type", "may not fit"},
    {"@T.prim_func\ndef f() -> T.int8: return 1000\n", 2, 27, "type", "fit"},
    {"@T.prim_func\ndef f(n: T.int32) -> T.handle: return n\n", 2, 22, "type", "one number"},
    {"@T.prim_func\ndef f(n: T.int32) -> int: return n\n", 2, 22, "type", "one number"},
    {"@T.prim_func\ndef f(n: T.int32) -> T.int32: pass\n", 2, 1, "type", "but not here"},
    {"class M:\n  pass\n", 1, 1, "syntax", "has no @I.ir_module"},
    {"import numpy as np\nx = np.zeros(3)\n", 2, 5, "unsupported", "numpy.zeros is not part"},
    {"x = 18446744073709551615 + 2\n", 1, 5, "type", "64 bits"},
    {"x = -9223372036854775807 - 2\n", 1, 1, "type", "64 bits"},
    {"x = [q for q in y]\n", 1, 5, "unsupported", "not part of the language of programs"},
    {"sch.split(i)\n", 1, 1, "unsupported", "not allowed at the top"},
};

static void file_errors_have_places(void **state) {
  for (size_t i = 0; i < COUNT(file_errors); i++) check_bad(*state, &file_errors[i], "", 0);
}

static void misspelt_names_get_a_hint(void **state) {
  Tirc *c = *state;
  assert_null(try_parse(
      c, source_of("@T.prim_func\ndef f(Input: T.Buffer((8,))):\n  Input[0] = Imput[1]\n"), 0,
      NULL));
  assert_string_equal(c->diag.hint, "did you mean 'Input'?");
  assert_null(
      try_parse(c, source_of("@T.prim_func\ndef f(A: T.Buffer((8,))):\n  A[0] = T.sigmoyd(A[1])\n"),
                0, NULL));
  assert_string_equal(c->diag.hint, "did you mean 'T.sigmoid'?");
}

static void excerpts_point_at_the_column(void **state) {
  Tirc *c = *state;
  Source s = source_of("a\r\n\t\xC3\xA9x = y +\r\nlast");
  assert_string_equal(tirc_source_excerpt(c, &s, 2, 5),
                      "    2 | \t\xC3\xA9x = y +\n      | \t   ^");
  assert_string_equal(tirc_source_excerpt(c, &s, 3, 5), "    3 | last\n      |     ^");
  assert_null(tirc_source_excerpt(c, &s, 4, 1));
  assert_null(tirc_source_excerpt(c, &s, 0, 1));
}

/* --- the syntax tree -------------------------------------------------------------------------- */

static Syn *expression(Tirc *c, const char *text) {
  Source s = source_of(text);
  SynList list = tirc_parse_syntax(c, &s);
  assert_int_equal(list.n, 1);
  assert_int_equal(list.at[0]->kind, SYN_EXPR_STMT);
  return list.at[0]->a;
}

static void trees_have_the_documented_shape(void **state) {
  Tirc *c = *state;
  Syn *s = expression(c, "x < y < z");
  assert_true(s->kind == SYN_BOOL && s->i == 1 && strcmp(s->op, "and") == 0);
  assert_true(s->a->kind == SYN_COMPARE && s->b->kind == SYN_COMPARE && s->b->i == 1);
  assert_ptr_equal(s->a->b, s->b->a);
  assert_int_equal(expression(c, "(x < y) < z")->kind, SYN_COMPARE);
  assert_string_equal(expression(c, "a not in b")->op, "not in");
  assert_string_equal(expression(c, "-x ** -y")->op, "-");
  assert_int_equal(expression(c, "-9223372036854775808")->i, INT64_MIN);
  assert_string_equal(expression(c, "'a\\n\\x41' \"\\u00e9\" r'\\n'")->s, "a\nA\xC3\xA9\\n");
  assert_string_equal(expression(c, "'''a\n\"b'''")->s, "a\n\"b");
  s = expression(c, "f'a{{{x!r:>3}' 'b'");
  assert_true(s->kind == SYN_FSTRING && s->kids.n == 3);
  assert_string_equal(s->kids.at[0]->s, "a{");
  assert_true(s->kids.at[1]->kind == SYN_FORMAT && s->kids.at[1]->i == 'r');
  assert_string_equal(s->kids.at[1]->s, ">3");
  assert_int_equal(s->kids.at[1]->a->loc.column, 7);
  s = expression(c, "A[1, ::2, ()]");
  assert_true(s->kids.n == 3 && s->kids.at[1]->kind == SYN_SLICE && !s->kids.at[1]->a);
  assert_int_equal(expression(c, "A[1,]")->i, 1);
  s = expression(c, "f(*a, k=1, **d)");
  assert_true(s->kids.at[0]->kind == SYN_STAR && s->kids.at[1]->kind == SYN_KEYWORD &&
              s->kids.at[2]->kind == SYN_DOUBLESTAR);
  s = expression(c, "sum(i for i in x if i if j)");
  assert_true(s->kids.at[0]->kind == SYN_LISTCOMP && s->kids.at[0]->i == 1);
  assert_int_equal(s->kids.at[0]->kids.at[0]->kids.n, 2);
  s = expression(c, "lambda i, j=2, *k: (i // 16, j)");
  assert_true(s->kind == SYN_LAMBDA && s->kids.n == 3 && s->kids.at[2]->i == 1 &&
              s->a->kind == SYN_TUPLE);
}

/* --- hostile input ---------------------------------------------------------------------------- */

static char *repeat(Tirc *c, const char *head, const char *piece, int n, const char *tail) {
  Text t = {.c = c};
  tirc_text_add(&t, head);
  for (int i = 0; i < n; i++) tirc_text_add(&t, piece);
  tirc_text_add(&t, tail);
  return t.at;
}

static double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static void deep_nesting_is_an_error(void **state) {
  static const char *const pieces[][3] = {{"x = ", "(", ""},
                                          {"x = ", "[", ""},
                                          {"x = ", "-", "1"},
                                          {"x = ", "not ", "1"},
                                          {"x = 1", "+1", ""},
                                          {"x = a", ".b", ""},
                                          {"x = a", "(1)", ""},
                                          {"x = ", "2**", "1"},
                                          {"x = ", "lambda:", "1"},
                                          {"x = ", "1 if 1 else ", "1"},
                                          {"if a:\n b\n", "elif c:\n d\n", ""},
                                          {"x = a", "<b", ""},
                                          {"x = a", " and b", ""},
                                          {"x = ", "f'{", "x"}};
  Tirc *c = *state;
  for (size_t i = 0; i < COUNT(pieces); i++) {
    double start = seconds();
    const char *text = repeat(c, pieces[i][0], pieces[i][1], 100000, pieces[i][2]);
    assert_null(try_parse(c, source_of(text), 0, NULL));
    assert_string_equal(tirc_codes[c->diag.code].text, "syntax");
    assert_true(c->diag.loc.line > 0);
    assert_true(seconds() - start < 5);
  }
  /* nested comparisons share operands: reading them must not double at each level */
  const char *chains = repeat(c, "x = ", "1 < (", 100, repeat(c, "2", ") < 3", 100, "\n"));
  double start = seconds();
  try_parse(c, source_of(chains), 0, NULL);
  assert_true(seconds() - start < 2);
  const char *lets =
      repeat(c, "@T.prim_func\ndef f(A: T.Buffer((8,))):\n", "  T.attr(0, \"k\", 1)\n", 5000, "");
  assert_null(try_parse(c, source_of(lets), 0, NULL));
  assert_non_null(strstr(c->diag.message, "nests more than"));
}

static void long_lines_are_quick(void **state) {
  static const char *const pieces[][3] = {{"x = '", "a", "'\n"}, {"x = '", "a", ""},
                                          {"# ", "a", ""},       {"x = ", "a", ""},
                                          {"x = ", "1", ""},     {"x = ", "1+", "1"}};
  for (size_t i = 0; i < COUNT(pieces); i++) {
    Tirc *c = tirc_context_new();
    const char *text = repeat(c, pieces[i][0], pieces[i][1], 10000000, pieces[i][2]);
    double start = seconds();
    assert_null(try_parse(c, source_of(text), 0, NULL));
    assert_true(seconds() - start < 10);
    tirc_context_release(c);
  }
  (void)state;
}

static void binary_junk_is_an_error(void **state) {
  Tirc *c = *state;
  uint32_t random = 1;
  char junk[300];
  for (int round = 0; round < 2000; round++) {
    for (size_t i = 0; i < sizeof junk; i++) {
      random = random * 1664525u + 1013904223u;
      junk[i] = (char)(random >> 24);
    }
    assert_null(try_parse(c, (Source){"junk", junk, sizeof junk}, 0, NULL));
    assert_true(c->diag.loc.line > 0 && c->diag.message[0]);
  }
  assert_null(try_parse(c, (Source){"nul", "x = \0 3", 7}, 0, NULL));
  assert_int_equal(c->diag.loc.column, 5);
}

/* Whatever is cut off a program, the answer is a module or an error with a place. */
static void truncated_programs_are_errors_or_modules(void **state) {
  for (size_t i = 0; i < COUNT(programs); i++) {
    size_t n = strlen(programs[i].printed);
    int refused = 0;
    for (size_t cut = 0; cut < n; cut++) {
      Tirc *c = tirc_context_new();
      if (!try_parse(c, (Source){"cut", programs[i].printed, cut}, 0, NULL)) {
        assert_true(c->diag.loc.line > 0);
        refused++;
      }
      tirc_context_release(c);
    }
    assert_true(refused > 0);
  }
  (void)state;
}

static void long_programs_are_quick(void **state) {
  Tirc *c = *state;
  const char *text = repeat(c, "@T.prim_func\n" MAIN,
                            "    for i, j in T.grid(8, 8):\n        with T.block(\"b\"):\n"
                            "            vi = T.axis.spatial(64, i * 8 + j)\n            B[vi] = "
                            "A[vi] * 2.0 + T.exp(A[vi])\n\n",
                            2000, "");
  Source s = source_of(text);
  double start = seconds();
  const Module *m = tirc_parse_module(c, &s, 0, NULL);
  double spent = seconds() - start;
  assert_int_equal(m->funcs[0]->body->u.block.body->u.seq.n, 2000);
#if defined(__SANITIZE_ADDRESS__)
  assert_true(spent < 5);
#else
  assert_true(spent < 0.5);
#endif
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, new_context, free_context)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(expressions_read_as_they_print), TEST(programs_read_as_they_print),
      TEST(private_functions_say_so),       TEST(constants_are_overridden),
      TEST(syntax_errors_have_places),      TEST(body_errors_have_places),
      TEST(file_errors_have_places),        TEST(misspelt_names_get_a_hint),
      TEST(excerpts_point_at_the_column),   TEST(trees_have_the_documented_shape),
      TEST(deep_nesting_is_an_error),       TEST(long_lines_are_quick),
      TEST(binary_junk_is_an_error),        TEST(truncated_programs_are_errors_or_modules),
      TEST(long_programs_are_quick),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
