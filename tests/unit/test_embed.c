/* Programs built, scheduled and run from C with the caller's own memory, through the public header
 * alone. */
#include "runtime/tirc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#define OK(call)                                                                                   \
  do {                                                                                             \
    tirc_error *e_ = NULL;                                                                         \
    tirc_error **error = &e_;                                                                      \
    if ((call) != TIRC_OK) fail_msg("%s: %s", #call, e_ ? tirc_error_message(e_) : "no error");    \
  } while (0)
/* The call fails with this status and code, and the message holds the text. */
#define FAILS(status, code, text, call)                                                            \
  do {                                                                                             \
    tirc_error *e_ = NULL;                                                                         \
    tirc_error **error = &e_;                                                                      \
    assert_int_equal((call), status);                                                              \
    assert_non_null(e_);                                                                           \
    assert_string_equal(tirc_error_get(e_, TIRC_ERROR_CODE), code);                                \
    if (!strstr(tirc_error_message(e_), text))                                                     \
      fail_msg("\"%s\" is not in \"%s\"", text, tirc_error_message(e_));                           \
    tirc_error_free(e_);                                                                           \
  } while (0)

static tirc_module *parse(const char *text) {
  tirc_module *m = NULL;
  OK(tirc_module_parse(text, strlen(text), "text", 0, NULL, &m, error));
  return m;
}

static void assert_equal_modules(const tirc_module *a, const tirc_module *b) {
  char *difference = NULL;
  OK(tirc_module_compare(a, b, &difference, error));
  if (difference) fail_msg("%s", difference);
}

/* --- the builder ------------------------------------------------------------------------------ */

static const char matmul_text[] =
    "@T.prim_func\n"
    "def main(A: T.Buffer((8, 16), 'float32'), B: T.Buffer((16, 32), 'float32'), "
    "C: T.Buffer((8, 32), 'float32')):\n"
    "    for i, j, k in T.grid(8, 32, 16):\n"
    "        with T.block('C'):\n"
    "            vi, vj, vk = T.axis.remap('SSR', [i, j, k])\n"
    "            with T.init():\n"
    "                C[vi, vj] = T.float32(0)\n"
    "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n";

static tirc_module *build_matmul(void) {
  tirc_builder *b = NULL;
  tirc_module *m = NULL;
  OK(tirc_builder_new(&b, error));
  tirc_build_func(b, "main");
  tirc_term e[] = {tirc_build_int(b, NULL, 8), tirc_build_int(b, NULL, 32),
                   tirc_build_int(b, NULL, 16)};
  tirc_term of_a[] = {e[0], e[2]}, of_b[] = {e[2], e[1]}, v[3], at[3];
  tirc_term A = tirc_build_buffer(b, "A", "float32", 2, of_a, NULL);
  tirc_term B = tirc_build_buffer(b, "B", "float32", 2, of_b, NULL);
  tirc_term C = tirc_build_buffer(b, "C", "float32", 2, e, NULL);
  tirc_build_grid(b, 3, (const char *[]){"i", "j", "k"}, e, v);
  tirc_build_block(b, "C");
  at[0] = tirc_build_axis(b, "spatial", "vi", NULL, e[0], v[0]);
  at[1] = tirc_build_axis(b, "spatial", "vj", NULL, e[1], v[1]);
  at[2] = tirc_build_axis(b, "reduce", "vk", NULL, e[2], v[2]);
  tirc_build_init(b);
  tirc_build_store(b, C, 2, at, tirc_build_float(b, "float32", 0));
  tirc_build_end(b);
  tirc_term a_at[] = {at[0], at[2]}, b_at[] = {at[2], at[1]};
  tirc_term product =
      tirc_build_op(b, "*", tirc_build_load(b, A, 2, a_at), tirc_build_load(b, B, 2, b_at));
  tirc_build_store(b, C, 2, at, tirc_build_op(b, "+", tirc_build_load(b, C, 2, at), product));
  for (int i = 0; i < 3; i++) tirc_build_end(b);
  OK(tirc_builder_module(b, &m, error));
  tirc_builder_free(b);
  return m;
}

static void built_program_is_the_written_one(void **state) {
  (void)state;
  tirc_module *built = build_matmul(), *written = parse(matmul_text);
  assert_equal_modules(built, written);
  tirc_module_free(built);
  tirc_module_free(written);
}

/* Every word that the matmul does without. */
static void builder_knows_the_language(void **state) {
  (void)state;
  static const char written[] =
      "@T.prim_func\n"
      "def f(var_A: T.handle, s: T.int32, var_B: T.handle):\n"
      "    T.func_attr({'tir.noalias': True})\n"
      "    n = T.int32()\n"
      "    A = T.match_buffer(var_A, (n,), 'float32', strides=(2,), align=128)\n"
      "    B = T.match_buffer(var_B, (n,), 'float32')\n"
      "    D = T.alloc_buffer((n,), 'float32', scope='local')\n"
      "    for i in T.parallel(0, n, annotations={'a': 1}):\n"
      "        with T.block('D'):\n"
      "            vi = T.axis.spatial((0, n), i)\n"
      "            T.where(i < s)\n"
      "            T.reads(A[vi:vi + 1])\n"
      "            T.writes(D[vi:vi + 1])\n"
      "            T.block_attr({'x': 'y'})\n"
      "            if vi % 2 == 0:\n"
      "                D[vi] = T.exp(A[vi])\n"
      "            else:\n"
      "                x: T.float32 = T.Cast('float32', vi) + T.float32(-1.5)\n"
      "                D[vi] = T.max(x, A[vi])\n"
      "    for i in range(n):\n"
      "        with T.block('B'):\n"
      "            vi = T.axis.spatial(n, i)\n"
      "            B[vi] = D[vi] * T.float32(2)\n"
      "@T.prim_func\n"
      "def g(a: T.int32):\n"
      "    assert a > 0, 'positive'\n"
      "    while a < 0:\n"
      "        T.evaluate(0)\n";
  tirc_builder *b = NULL;
  tirc_module *m = NULL, *w = parse(written);
  OK(tirc_builder_new(&b, error));
  tirc_build_func(b, "f");
  tirc_build_func_attr(b, "tir.noalias", tirc_build_text(b, "True"));
  tirc_term zero = tirc_build_int(b, NULL, 0), two = tirc_build_int(b, NULL, 2);
  tirc_term n = tirc_build_symbol(b, "n", "int32");
  tirc_buffer_options strided = {.strides = &two, .align = 128}, local = {.scope = "local"};
  tirc_term A = tirc_build_buffer(b, "A", "float32", 1, &n, &strided);
  tirc_term s = tirc_build_param(b, "s", "int32");
  tirc_term B = tirc_build_buffer(b, "B", "float32", 1, &n, NULL);
  tirc_term D = tirc_build_alloc_buffer(b, "D", "float32", 1, &n, &local);
  tirc_term i = tirc_build_for(b, "parallel", "i", zero, n, NULL, tirc_build_text(b, "{'a': 1}"));
  tirc_build_block(b, "D");
  tirc_term vi = tirc_build_axis(b, "spatial", "vi", zero, n, i);
  tirc_build_where(b, tirc_build_op(b, "<", i, s));
  tirc_term bounds[] = {vi, tirc_build_op(b, "+", vi, tirc_build_int(b, NULL, 1))};
  tirc_term reads = tirc_build_region(b, A, 1, bounds), writes = tirc_build_region(b, D, 1, bounds);
  tirc_build_reads(b, 1, &reads);
  tirc_build_writes(b, 1, &writes);
  tirc_build_block_attr(b, "x", tirc_build_string(b, "y"));
  tirc_build_if(b, tirc_build_op(b, "==", tirc_build_op(b, "%", vi, two), zero));
  tirc_term a = tirc_build_load(b, A, 1, &vi);
  tirc_build_store(b, D, 1, &vi, tirc_build_call(b, "exp", 1, &a));
  tirc_build_else(b);
  tirc_term x = tirc_build_let(b, "x", "float32",
                               tirc_build_op(b, "+", tirc_build_cast(b, "float32", vi),
                                             tirc_build_float(b, "float32", -1.5)));
  tirc_build_store(b, D, 1, &vi, tirc_build_call(b, "max", 2, (tirc_term[]){x, a}));
  for (int k = 0; k < 3; k++) tirc_build_end(b);
  i = tirc_build_for(b, "serial", "i", NULL, n, NULL, NULL); /* becomes i_1 */
  tirc_build_block(b, "B");
  vi = tirc_build_axis(b, "spatial", "vi", NULL, n, i);
  tirc_build_store(
      b, B, 1, &vi,
      tirc_build_op(b, "*", tirc_build_load(b, D, 1, &vi), tirc_build_float(b, "float32", 2)));
  for (int k = 0; k < 3; k++) tirc_build_end(b);
  tirc_build_func(b, "g");
  tirc_term p = tirc_build_param(b, "a", "int32");
  tirc_build_assert(b, tirc_build_op(b, ">", p, zero), "positive");
  tirc_build_while(b, tirc_build_op(b, "<", p, zero));
  tirc_build_evaluate(b, zero);
  tirc_build_end(b);
  tirc_build_end(b);
  OK(tirc_builder_module(b, &m, error));
  assert_equal_modules(m, w);
  tirc_builder_free(b);
  tirc_module_free(m);
  tirc_module_free(w);
}

/* What is nested too deeply, or too large, is refused where it is, and costs no more than that. */
static void builder_refuses_what_is_too_deep(void **state) {
  (void)state;
  for (int kind = 0; kind < 3; kind++) {
    tirc_builder *b = NULL;
    tirc_module *m = NULL;
    tirc_error *e = NULL;
    OK(tirc_builder_new(&b, error));
    tirc_build_func(b, "main");
    tirc_term n = tirc_build_int(b, NULL, 8), zero = tirc_build_int(b, NULL, 0);
    tirc_term A = tirc_build_buffer(b, "A", "float32", 1, &n, NULL);
    tirc_term one = tirc_build_float(b, "float32", 1), x = tirc_build_load(b, A, 1, &zero);
    for (int i = 0; i < 20000; i++)
      if (kind == 0)
        x = tirc_build_op(b, "+", x, one);
      else if (kind == 1) /* doubles the text each time */
        x = tirc_build_op(b, "+", x, x);
      else
        tirc_build_for(b, "serial", "i", NULL, n, NULL, NULL);
    tirc_build_store(b, A, 1, &zero, x);
    assert_int_equal(tirc_builder_module(b, &m, &e), TIRC_BAD);
    const char *wanted = kind == 1 ? "more than 1048576 bytes" : "nested too deeply";
    if (!strstr(tirc_error_message(e), wanted)) fail_msg("%s", tirc_error_message(e));
    tirc_error_free(e);
    tirc_builder_free(b);
  }
}

/* One after the other, of one wish for a name, and each from the one before: nothing is deep. */
static void builder_makes_long_programs(void **state) {
  (void)state;
  enum { N = 20000 };
  tirc_builder *b = NULL;
  tirc_module *m = NULL;
  char *text = NULL;
  OK(tirc_builder_new(&b, error));
  tirc_build_func(b, "main");
  tirc_term n = tirc_build_int(b, NULL, 8);
  tirc_term A = tirc_build_buffer(b, "A", "float32", 1, &n, NULL);
  tirc_term one = tirc_build_float(b, "float32", 1);
  for (int i = 0; i < N; i++) {
    tirc_term at = tirc_build_for(b, "serial", "i", NULL, n, NULL, NULL);
    tirc_build_store(b, A, 1, &at, tirc_build_op(b, "+", tirc_build_load(b, A, 1, &at), one));
    tirc_build_end(b);
  }
  tirc_build_end(b);
  OK(tirc_builder_module(b, &m, error));
  OK(tirc_module_print(m, &text, error));
  assert_non_null(strstr(text, "for i_19999 in range(8):"));
  tirc_string_free(text);
  tirc_module_free(m);
  tirc_builder_free(b);
}

static void builder_makes_all_of_uint64(void **state) {
  (void)state;
  tirc_builder *b = NULL;
  tirc_module *m = NULL;
  char *text = NULL;
  OK(tirc_builder_new(&b, error));
  tirc_build_func(b, "main");
  tirc_term n = tirc_build_int(b, NULL, 8), zero = tirc_build_int(b, NULL, 0);
  tirc_term A = tirc_build_buffer(b, "A", "uint64", 1, &n, NULL);
  tirc_build_store(b, A, 1, &zero, tirc_build_uint(b, "uint64", UINT64_MAX));
  tirc_term one = tirc_build_int(b, NULL, 1);
  tirc_build_store(
      b, A, 1, &one,
      tirc_build_op(b, "-", tirc_build_uint(b, NULL, UINT64_MAX), tirc_build_load(b, A, 1, &zero)));
  tirc_build_end(b);
  OK(tirc_builder_module(b, &m, error));
  OK(tirc_module_print(m, &text, error));
  assert_non_null(strstr(text, "A[0] = T.uint64(18446744073709551615)\n"));
  assert_non_null(strstr(text, "A[1] = T.uint64(18446744073709551615) - A[0]\n"));
  tirc_string_free(text);
  tirc_module_free(m);
  tirc_builder_free(b);
}

static void builder_keeps_the_first_mistake(void **state) {
  (void)state;
  tirc_builder *b = NULL;
  tirc_module *m = NULL;
  OK(tirc_builder_new(&b, error));
  tirc_build_func(b, "main");
  assert_null(tirc_build_param(b, "for", "int32"));
  assert_null(tirc_build_param(b, "x", "no type"));
  tirc_build_end(b);
  FAILS(TIRC_BAD, "build", "\"for\" cannot be a name", tirc_builder_module(b, &m, error));
  FAILS(TIRC_BAD, "build", "failed before", tirc_builder_module(b, &m, error));
  tirc_builder_free(b);
  OK(tirc_builder_new(&b, error));
  tirc_build_func(b, "main");
  tirc_term x = tirc_build_param(b, "x", "int32");
  tirc_build_end(b);
  tirc_build_func(b, "other");
  tirc_build_evaluate(b, x);
  FAILS(TIRC_BAD, "build", "another function", tirc_builder_module(b, &m, error));
  tirc_builder_free(b);
  OK(tirc_builder_new(&b, error));
  tirc_build_func(b, "main");
  tirc_term n = tirc_build_int(b, NULL, 4);
  tirc_term A = tirc_build_buffer(b, "A", "float32", 1, &n, NULL);
  tirc_term i = tirc_build_for(b, "serial", "i", NULL, n, NULL, NULL);
  tirc_build_end(b);
  tirc_build_store(b, A, 1, &i, tirc_build_float(b, NULL, 0)); /* i is over */
  FAILS(TIRC_BAD, "build", "not ended", tirc_builder_module(b, &m, error));
  tirc_builder_free(b);
  OK(tirc_builder_new(&b, error));
  tirc_build_func(b, "main");
  n = tirc_build_int(b, NULL, 4);
  A = tirc_build_buffer(b, "A", "float32", 1, &n, NULL);
  i = tirc_build_for(b, "serial", "i", NULL, n, NULL, NULL);
  tirc_build_end(b);
  tirc_build_store(b, A, 1, &i, tirc_build_float(b, NULL, 0));
  tirc_build_end(b);
  FAILS(TIRC_BAD, "name", "i", tirc_builder_module(b, &m, error));
  assert_null(m);
  tirc_builder_free(b);
}

/* --- schedules call by call ------------------------------------------------------------------- */

static tirc_value call(tirc_schedule *s, const char *name, int n, const tirc_value *args) {
  tirc_value r = tirc_none();
  OK(tirc_schedule_call(s, name, n, args, 0, NULL, NULL, &r, error));
  return r;
}

static tirc_schedule *schedule_of(const tirc_module *m) {
  tirc_schedule *s = NULL;
  OK(tirc_schedule_new(m, NULL, &s, error));
  return s;
}

static void calls_do_what_a_script_does(void **state) {
  (void)state;
  static const char script[] =
      "c = sch.get_block('C')\n"
      "i, j, k = sch.get_loops(c)\n"
      "jo, ji = sch.split(j, factors=[None, 8], preserve_unit_iters=False)\n"
      "sch.reorder(jo, i, k, ji)\n"
      "sch.transform_layout(c, ('write', 0), lambda a, b: (b // 8, a, b % 8))\n"
      "sch.vectorize(ji)\n";
  tirc_module *m = parse(matmul_text), *by_script = NULL, *by_calls = NULL;
  tirc_schedule *s = schedule_of(m);
  OK(tirc_module_schedule_text(m, script, strlen(script), "script", NULL, &by_script, error));
  tirc_value c = tirc_text("C"), block = call(s, "get_block", 1, &c);
  assert_int_equal(block.kind, TIRC_KIND_BLOCK);
  tirc_value loops = call(s, "get_loops", 1, &block);
  assert_int_equal(loops.kind, TIRC_KIND_LIST);
  assert_int_equal(loops.n, 3);
  const tirc_value *l = loops.u.items;
  tirc_value factors[] = {tirc_none(), tirc_integer(8)}, unit = tirc_boolean(false), parts;
  tirc_value given = tirc_list_of(2, factors);
  const char *keywords[] = {"factors", "preserve_unit_iters"};
  tirc_value values[] = {given, unit};
  OK(tirc_schedule_call(s, "split", 1, &l[1], 2, keywords, values, &parts, error));
  tirc_value order[] = {parts.u.items[0], l[0], l[2], parts.u.items[1]};
  call(s, "reorder", 4, order);
  tirc_value layout[] = {block, tirc_script("('write', 0)"),
                         tirc_script("lambda a, b: (b // 8, a, b % 8)")};
  call(s, "transform_layout", 3, layout);
  call(s, "vectorize", 1, &parts.u.items[1]);
  OK(tirc_schedule_module(s, &by_calls, error));
  assert_equal_modules(by_script, by_calls);
  char *a = NULL, *b = NULL;
  OK(tirc_module_trace(by_script, TIRC_TRACE_JSON, &a, error));
  OK(tirc_module_trace(by_calls, TIRC_TRACE_JSON, &b, error));
  assert_string_equal(a, b);
  tirc_string_free(a);
  tirc_string_free(b);
  tirc_schedule_free(s);
  tirc_module_free(m);
  tirc_module_free(by_script);
  tirc_module_free(by_calls); /* which outlived its schedule */
}

static tirc_status swap(void *self, tirc_schedule *s, int n, const tirc_value *args,
                        tirc_value *result) {
  tirc_value *out = self, two = tirc_integer(2);
  if (n != 2 || tirc_schedule_operator(s, "//", &args[1], &two, &out[0], NULL)) return TIRC_BAD;
  if (tirc_schedule_operator(s, "%", &args[1], &two, &out[1], NULL)) return TIRC_BAD;
  out[2] = args[0];
  *result = tirc_list_of(3, out);
  return TIRC_OK;
}

static tirc_status failing(void *self, tirc_schedule *s, int n, const tirc_value *args,
                           tirc_value *result) {
  (void)self, (void)s, (void)n, (void)args, (void)result;
  return TIRC_BAD;
}

static void functions_of_the_caller_are_index_maps(void **state) {
  (void)state;
  tirc_module *m = parse(matmul_text), *mapped = NULL, *expected = NULL;
  tirc_schedule *s = schedule_of(m);
  tirc_value out[3], args[3] = {tirc_text("C"), tirc_text("A")};
  tirc_function f = {.call = failing, .n_params = 2, .name = "broken"};
  args[2] = tirc_callback(&f);
  FAILS(TIRC_BAD, "callback", "broken",
        tirc_schedule_call(s, "transform_layout", 3, args, 0, NULL, NULL, NULL, error));
  f = (tirc_function){.call = swap, .self = out, .n_params = 2};
  call(s, "transform_layout", 3, args);
  OK(tirc_schedule_module(s, &mapped, error));
  static const char script[] = "sch.transform_layout('C', 'A', lambda i, j: (j // 2, j % 2, i))\n";
  OK(tirc_module_schedule_text(m, script, strlen(script), "script", NULL, &expected, error));
  assert_equal_modules(mapped, expected);
  tirc_module_free(mapped);
  tirc_module_free(expected);
  tirc_module_free(m);
  tirc_schedule_free(s);
}

static void mistakes_change_nothing(void **state) {
  (void)state;
  tirc_module *m = parse(matmul_text), *after = NULL;
  tirc_schedule *s = schedule_of(m), *other = schedule_of(m);
  tirc_value c = tirc_text("C"), loops = call(s, "get_loops", 1, &c);
  const tirc_value *l = loops.u.items;
  tirc_schedule_place(s, "host.c", 7, 3);
  tirc_error *e = NULL;
  assert_int_equal(tirc_schedule_call(s, "parallel", 1, &l[2], 0, NULL, NULL, NULL, &e), TIRC_NO);
  assert_string_equal(tirc_error_get(e, TIRC_ERROR_FILE), "host.c");
  assert_int_equal(tirc_error_line(e), 7);
  assert_string_equal(tirc_error_get(e, TIRC_ERROR_CALL), "sch.parallel(k)");
  assert_non_null(tirc_error_get(e, TIRC_ERROR_IR));
  tirc_error_free(e);
  FAILS(TIRC_BAD, "argument", "another schedule",
        tirc_schedule_call(other, "parallel", 1, &l[0], 0, NULL, NULL, NULL, error));
  FAILS(TIRC_BAD, "argument", "must be a loop",
        tirc_schedule_call(s, "parallel", 1, &c, 0, NULL, NULL, NULL, error));
  FAILS(TIRC_BAD, "attribute", "no primitive",
        tirc_schedule_call(s, "paralel", 1, &l[0], 0, NULL, NULL, NULL, error));
  FAILS(TIRC_BAD, "argument", "name is missing",
        tirc_schedule_call(s, NULL, 1, &l[0], 0, NULL, NULL, NULL, error));
  FAILS(TIRC_BAD, "argument", "keyword",
        tirc_schedule_call(s, "split", 1, &l[0], 1, NULL, l, NULL, error));
  tirc_value bad = {.kind = (tirc_kind)99};
  FAILS(TIRC_BAD, "argument", "not a value",
        tirc_schedule_call(s, "parallel", 1, &bad, 0, NULL, NULL, NULL, error));
  OK(tirc_schedule_module(s, &after, error));
  assert_equal_modules(m, after);
  tirc_module_free(after);
  tirc_value two[] = {tirc_none(), tirc_integer(4)}, args[] = {l[0], tirc_list_of(2, two)};
  call(s, "split", 2, args);
  FAILS(TIRC_BAD, "stale-handle", "no longer",
        tirc_schedule_call(s, "parallel", 1, &l[0], 0, NULL, NULL, NULL, error));
  tirc_schedule_free(s);
  tirc_schedule_free(other);
  tirc_module_free(m);
}

static void inspecting_text_and_copies(void **state) {
  (void)state;
  tirc_module *m = parse(matmul_text);
  tirc_schedule *s = schedule_of(m), *copy = NULL;
  const tirc_tree_node *nodes = NULL;
  int n = 0;
  OK(tirc_schedule_tree(s, NULL, &n, &nodes, error));
  assert_int_equal(n, 5);
  assert_string_equal(nodes[0].name, "root");
  assert_int_equal(nodes[0].parent, -1);
  assert_int_equal(nodes[3].extent, 16);
  assert_string_equal(nodes[3].kind, "serial");
  assert_true(nodes[4].is_block && nodes[4].depth == 4 && nodes[4].parent == 3);
  assert_int_equal(nodes[4].extent, 8 * 32 * 16);
  tirc_value iters, kind, dom, extent, name;
  OK(tirc_schedule_attribute(s, &nodes[4].handle, "iter_vars", &iters, error));
  assert_int_equal(iters.n, 3);
  OK(tirc_schedule_attribute(s, &iters.u.items[2], "kind", &kind, error));
  OK(tirc_schedule_attribute(s, &iters.u.items[2], "dom", &dom, error));
  OK(tirc_schedule_attribute(s, &dom, "extent", &extent, error));
  assert_int_equal(extent.u.i, 16);
  FAILS(TIRC_BAD, "attribute", "no attribute",
        tirc_schedule_attribute(s, &dom, "nonsense", &extent, error));
  static const char text[] =
      "name = 'C'\nloops = sch.get_loops(name)\nassert len(loops) == count\n";
  tirc_value three = tirc_integer(3), loop = tirc_script("loops[1]");
  OK(tirc_schedule_set(s, "count", &three, error));
  OK(tirc_schedule_run(s, text, strlen(text), "text", error));
  OK(tirc_schedule_attribute(s, &loop, "name", &name, error));
  assert_string_equal(name.u.s, "j");
  OK(tirc_schedule_copy(s, &copy, error));
  call(copy, "vectorize", 1, &nodes[2].handle);
  OK(tirc_schedule_tree(s, NULL, &n, &nodes, error));
  assert_string_equal(nodes[2].kind, "serial");
  OK(tirc_schedule_tree(copy, NULL, &n, &nodes, error));
  assert_string_equal(nodes[2].kind, "vectorized");
  char *printed = NULL;
  OK(tirc_schedule_text(copy, &nodes[2].handle, &printed, error));
  assert_non_null(strstr(printed, "T.vectorized(32)"));
  tirc_string_free(printed);
  tirc_schedule_free(s);
  tirc_schedule_free(copy);
  tirc_module_free(m);
}

static void sampled_numbers_stand_in_the_trace(void **state) {
  (void)state;
  tirc_module *m = parse(matmul_text), *after = NULL;
  tirc_schedule *s = schedule_of(m);
  tirc_value seed = tirc_integer(7), c = tirc_text("C"), loops = call(s, "get_loops", 1, &c);
  call(s, "seed", 1, &seed);
  tirc_value sample[] = {loops.u.items[1], tirc_integer(2)};
  tirc_value tile = call(s, "sample_perfect_tile", 2, sample);
  assert_int_equal(tile.n, 2);
  assert_int_equal(tile.u.items[0].u.i * tile.u.items[1].u.i, 32);
  tirc_value split[] = {loops.u.items[1], tile};
  call(s, "split", 2, split);
  OK(tirc_schedule_module(s, &after, error));
  char *text = NULL;
  OK(tirc_module_trace(after, TIRC_TRACE_SCRIPT, &text, error));
  assert_non_null(strstr(text, "v4, v5 = sch.sample_perfect_tile"));
  assert_non_null(strstr(text, "factors=[v4, v5]"));
  tirc_string_free(text);
  tirc_module_free(after);
  tirc_module_free(m);
  tirc_schedule_free(s);
}

/* --- DLPack ----------------------------------------------------------------------------------- */

static const char scale_text[] = "@T.prim_func\n"
                                 "def main(a: T.handle, b: T.handle):\n"
                                 "    m, n, s = T.int64(), T.int64(), T.int64()\n"
                                 "    A = T.match_buffer(a, (m, n), 'float32', strides=(s, 1))\n"
                                 "    B = T.match_buffer(b, (m, n), 'float32')\n"
                                 "    for i, j in T.grid(m, n):\n"
                                 "        with T.block('B'):\n"
                                 "            vi, vj = T.axis.remap('SS', [i, j])\n"
                                 "            B[vi, vj] = A[vi, vj] * T.float32(2)\n";

typedef struct Tensors {
  tirc_kernel *k;
  tirc_executor *x;
  float a[8 * 10], b[8 * 6];
  int64_t shape[2][2], strides[2];
  DLTensor t[2];
  tirc_argument args[2];
} Tensors;

static void make_tensors(Tensors *p) {
  memset(p, 0, sizeof *p);
  tirc_module *m = parse(scale_text);
  OK(tirc_kernel_new(m, NULL, NULL, &p->k, error));
  OK(tirc_executor_new(1, &p->x, error));
  tirc_module_free(m);
  for (int i = 0; i < 80; i++) p->a[i] = (float)i;
  p->strides[0] = 10, p->strides[1] = 1;
  for (int i = 0; i < 2; i++) {
    p->shape[i][0] = 8, p->shape[i][1] = 6;
    p->t[i] = (DLTensor){.data = i ? p->b : p->a, .device = {kDLCPU, 0}, .ndim = 2};
    p->t[i].dtype = (DLDataType){kDLFloat, 32, 1};
    p->t[i].shape = p->shape[i];
    p->args[i].tensor = &p->t[i];
  }
  p->t[0].strides = p->strides;
}

static void foreign_tensors_are_used_in_place(void **state) {
  (void)state;
  Tensors p;
  make_tensors(&p);
  p.t[0].byte_offset = 8; /* columns 2 to 7 of rows of 10 */
  OK(tirc_kernel_run(p.k, p.x, 2, p.args, error));
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 6; j++) assert_true(p.b[6 * i + j] == 2 * (float)(10 * i + j + 2));
  tirc_launch *launch = NULL;
  double seconds[3] = {-1, -1, -1};
  OK(tirc_launch_new(p.k, p.x, 2, p.args, &launch, error));
  OK(tirc_launch_time(launch, 2, 3, 1e-4, seconds, error));
  for (int i = 0; i < 3; i++) assert_true(seconds[i] > 0 && seconds[i] < 1);
  tirc_launch_free(launch);
  tirc_kernel_free(p.k);
  tirc_executor_free(p.x);
}

static void what_does_not_fit_is_named(void **state) {
  (void)state;
  Tensors p;
  static const DLDataType half = {kDLFloat, 16, 1}, complex = {kDLComplex, 64, 1};
  make_tensors(&p);
#define REFUSED(text, ...)                                                                         \
  do {                                                                                             \
    const Tensors before = p;                                                                      \
    __VA_ARGS__;                                                                                   \
    FAILS(TIRC_BAD, "argument", text, tirc_kernel_run(p.k, p.x, 2, p.args, error));                \
    p = before;                                                                                    \
    p.t[0].shape = p.shape[0], p.t[1].shape = p.shape[1], p.t[0].strides = p.strides;              \
  } while (0)
  REFUSED("argument \"A\" of main: the array has dtype float16", p.t[0].dtype = half);
  REFUSED("argument \"A\" of main: no kernel takes elements of dtype complex64",
          p.t[0].dtype = complex);
  REFUSED("argument \"B\" of main: no kernel takes elements of dtype float32x4",
          p.t[1].dtype.lanes = 4);
  REFUSED("argument \"B\" of main: the array has 1 dimensions", p.t[1].ndim = 1);
  REFUSED("argument \"B\" of main: extent 0 is 7", p.shape[1][0] = 7);
  REFUSED("argument \"B\" of main: extent 1 is negative", p.shape[1][1] = -1);
  REFUSED("argument \"A\" of main: stride 1 is 2", p.strides[1] = 2);
  REFUSED("argument \"A\" of main: stride 0 is negative", p.strides[0] = -10);
  REFUSED("argument \"B\" of main: stride 0 is 10", p.t[1].strides = p.strides);
  REFUSED("argument \"A\" of main: data + byte_offset (2) is not aligned", p.t[0].byte_offset = 2);
  REFUSED("argument \"A\" of main: the tensor is on the device cuda:1",
          p.t[0].device = (DLDevice){kDLCUDA, 1});
  REFUSED("argument \"B\" of main: the tensor has no data", p.t[1].data = NULL);
  REFUSED("argument \"B\" of main is written and overlaps argument \"A\"", p.t[1].data = p.a + 3);
  REFUSED("argument \"B\" of main: an array is missing", p.args[1].tensor = NULL);
  tirc_kernel_free(p.k);
  tirc_executor_free(p.x);
}

static int deleted;
static void count_deletion(DLManagedTensor *self) { deleted += self->manager_ctx == &deleted; }

static void arrays_go_both_ways(void **state) {
  (void)state;
  int64_t shape[] = {2, 3}, column[] = {1, 2};
  int16_t data[6] = {1, 2, 3, 4, 5, 6};
  DLManagedTensor m = {.dl_tensor = {.data = data, .device = {kDLCPU, 0}, .ndim = 2},
                       .manager_ctx = &deleted,
                       .deleter = count_deletion};
  m.dl_tensor.dtype = (DLDataType){kDLInt, 16, 1};
  m.dl_tensor.shape = shape;
  tirc_array *a = NULL;
  m.dl_tensor.strides = column;
  FAILS(TIRC_BAD, "argument", "not", tirc_array_from_dlpack(&m, &a, error));
  m.dl_tensor.strides = NULL;
  OK(tirc_array_from_dlpack(&m, &a, error));
  assert_string_equal(tirc_array_dtype(a), "int16");
  assert_ptr_equal(tirc_array_data(a), data);
  assert_true(tirc_array_get(a, 4) == 5);
  assert_int_equal(deleted, 0);
  DLManagedTensor *out = NULL;
  OK(tirc_array_to_dlpack(a, &out, error));
  assert_ptr_equal(out->dl_tensor.data, data);
  assert_int_equal(out->dl_tensor.dtype.bits, 16);
  out->deleter(out);
  assert_int_equal(deleted, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(built_program_is_the_written_one),
      cmocka_unit_test(builder_knows_the_language),
      cmocka_unit_test(builder_refuses_what_is_too_deep),
      cmocka_unit_test(builder_makes_long_programs),
      cmocka_unit_test(builder_makes_all_of_uint64),
      cmocka_unit_test(builder_keeps_the_first_mistake),
      cmocka_unit_test(calls_do_what_a_script_does),
      cmocka_unit_test(functions_of_the_caller_are_index_maps),
      cmocka_unit_test(mistakes_change_nothing),
      cmocka_unit_test(inspecting_text_and_copies),
      cmocka_unit_test(sampled_numbers_stand_in_the_trace),
      cmocka_unit_test(foreign_tensors_are_used_in_place),
      cmocka_unit_test(what_does_not_fit_is_named),
      cmocka_unit_test(arrays_go_both_ways),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
