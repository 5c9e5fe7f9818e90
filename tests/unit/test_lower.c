/* Every lowering pass keeps the meaning of a program: after each one the program still runs in the
 * interpreter to the same result, and still prints and parses. */
#include "compare.h"
#include "ir/tree/copy.h"
#include "passes/lower/lower.h"
#include "programs.h"

typedef struct Check {
  Tirc *c;
  const Program *program;
  Run input, expected;
} Check;

static void check_pass(void *self, const char *pass, const Module *m) {
  Check *k = self;
  const char *what = tirc_format(k->c, "%s after %s", k->program->name, pass);
  Run r = copy_run(k->c, &k->input);
  tirc_interpret(k->c, m->funcs[0], r.n, r.args, 0);
  /* Only the functions that are written out at the end may round differently. */
  double tolerance = strcmp(pass, "LowerIntrin") == 0 ? k->program->tolerance : 0;
  assert_same_run(what, &k->expected, &r, tolerance);
  free_run(&r);
  const char *text = tirc_print_module(k->c, m, NULL);
  Source source = {"printed", text, strlen(text)};
  const char *again = tirc_print_module(k->c, tirc_parse_module(k->c, &source, 0, NULL), NULL);
  if (strcmp(text, again) != 0)
    fail_msg("%s: printed and parsed, it is printed as\n%s\ninstead of\n%s", what, again, text);
}

static void check_program(Tirc *c, const void *arg) {
  const Program *p = arg;
  const Module *m = parse(c, p->text);
  Check k = {c, p, new_run(c, m->funcs[0], p->symbol), {0}};
  k.expected = copy_run(c, &k.input);
  tirc_interpret(c, m->funcs[0], k.expected.n, k.expected.args, 0);
  const Module *lowered = tirc_lower(c, m, check_pass, &k);
  assert_null(strstr(tirc_print_module(c, lowered, NULL), "T.block("));
  free_run(&k.input);
  free_run(&k.expected);
}

static void each_pass_keeps_the_meaning(void **state) {
  (void)state;
  for (int i = 0; i < N_PROGRAMS; i++) in_context(programs[i].name, check_program, &programs[i]);
}

/* --- copies ----------------------------------------------------------------------------------- */

static const char *text_of(Tirc *c, const Module *m, const Func *f) {
  Module one = *m;
  one.n_funcs = 1;
  one.funcs = &f;
  return tirc_print_module(c, &one, NULL);
}

/* Of a function before and after it is lowered; what it was copied from is gone, and its memory
 * overwritten. */
static void check_copy(Tirc *c, const void *arg) {
  const Program *p = arg;
  Tirc *from = tirc_context_new();
  const ArenaMark mark = tirc_mark(from);
  const Module *m = parse(from, p->text), *lowered = tirc_lower(from, m, NULL, NULL);
  const Func *before = tirc_func_copy(c, from, m->funcs[0], 0, NULL),
             *after = tirc_func_copy(c, from, lowered->funcs[0], 0, NULL);
  const char *text = tirc_strdup(c, text_of(from, m, m->funcs[0])),
             *lower = tirc_strdup(c, text_of(from, lowered, lowered->funcs[0]));
  const Module of_it = {.c = c, .name = "Module", .n_funcs = 1, .dialect = m->dialect};
  const size_t bytes = from->bytes;
  tirc_rewind(from, mark);
  for (size_t n = 0; n < bytes; n += 1000) memset(tirc_alloc(from, 1000), 0xa5, 1000);
  tirc_context_release(from);
  if (strcmp(text, text_of(c, &of_it, before)) != 0 ||
      strcmp(lower, text_of(c, &of_it, after)) != 0)
    fail_msg("%s: copied, it is\n%s\n%s", p->name, text_of(c, &of_it, before),
             text_of(c, &of_it, after));
  assert_true(c->next_block_id > 1 || !strstr(text, "T.block("));
}

static void a_copy_outlives_what_it_was_copied_from(void **state) {
  (void)state;
  for (int i = 0; i < N_PROGRAMS; i++) in_context(programs[i].name, check_copy, &programs[i]);
}

/* --- what the passes must achieve ----------------------------------------------------------- */

typedef struct Expectation {
  const char *program; /* its name */
  const char *must[4]; /* stand in the lowered text */
  const char *must_not[4];
} Expectation;

static const Expectation expectations[] = {
    {"cache in a tile", {"X = T.decl_buffer((128,))"}, {"(1024,))\n"}},
    {"a symbolic number of tiles", {"// T.int64(8) * T.int64(4),))\n"}, {"1073741824"}},
    {"workspace of each thread", {"decl_buffer((60,))"}, {NULL}},
    {"values carried from one iteration to the next stay outside of the loop",
     {"\n    X = T.decl_buffer((1,))\n"},
     {NULL}},
    {"cache that the first pass over it fills", {"X = T.decl_buffer((16,))"}, {"if "}},
    {"both halves of a cache", {"C = T.decl_buffer((8,))"}, {NULL}},
    {"a tile of each thread, with a tail",
     {"            C = T.decl_buffer((16,))\n            for j in range(16):\n"},
     {NULL}},
    {"a value stored where it stands", {"B[i] = A[i]"}, {"A[i] = A[i]"}},
    {"tests that repeat the one before them",
     {"            A[8] = A[i]\n        if T.float32(0.0) < A[8]:\n            B[i] = A[i]\n",
      "            B[i + 8] = A[i]\n            B[i + 16] = A[i]\n"},
     {NULL}},
    {"matmul", {"range(1, 17)"}, {"if "}},
    {"sums of parts of a reduction", {"T.grid(5, 8)", "if ko == 0:", "range(1, 40)"}, {"if ki"}},
    {"storage_align", {"(571,)"}, {NULL}},
    {"tail of a reduction", {"range(3)"}, {"< 50"}},
    {"rows of a triangle in vectors",
     {"for k in range((i - 7) // 8 + 1)",
      "T.Select(T.Ramp(k * 8, 1, 8) <= T.Broadcast(i, 8), s[0:8]"},
     {"for v in range(8):\n                    if"}},
    {"lanes left out of several statements",
     {"if T.Ramp(0, 1, 8) < T.Broadcast(", "= x * x", "T.if_then_else(T.Ramp(0, 1, 8) < "},
     {"v in range"}},
    {"what is read beside a border, in vectors",
     {"T.if_then_else(T.Broadcast(1, 8) <= T.Ramp("},
     {"v in range"}},
    {"a choice that computes both sides, and a guard in one of them", {"T.if_then_else("}, {NULL}},
    {"a size that is a number in a branch, where rows are one after the other",
     {"B_1[f * T.int64(8):"},
     {"mod"}},
    {"from a diagonal on, backwards and in steps", {"range(40 - i"}, {NULL}},
    {"floor division of a vector index", {"T.Broadcast"}, {"//"}},
    {"matmul, vectorized inside of the reduction", {"T.Broadcast(A_1["}, {"T.vectorized"}},
    {"vectors over loops of 64 bits", {"T.Broadcast(T.float32(2.0), 16)"}, {"T.Cast"}},
    {"explicit and hinted unrolling", {"T.unroll(8)"}, {NULL}},
    {"prefetch of what the loop reads",
     {"T.prefetch(T.address_of(A[i * 16 + 32]), 0, 3, 1)",
      "T.prefetch(T.address_of(B[i * 16]), 1, 3, 1)"},
     {"A[i * 16 + 48]", "B[i * 16 + 15]", "software_prefetch"}},
    {"prefetch of the next panel, shared out",
     {"range(5)", "T.prefetch(T.address_of(A_1["},
     {"B_1[i * 250 + 8", "software_prefetch"}},
    {"prefetch of the panel after the one in use",
     {"T.prefetch(T.address_of(A_1[j * 320 + i * 80 + k * 16 + 320]), 0, 3, 1)"},
     {"if ", "software_prefetch"}},
    {"prefetch over the end of a peeled iteration",
     {"A_1[i * 8 + 800]", "A_1[T.truncmod(j + 1, 3) * 800 + i * 8]"},
     {"partition_"}},
    {"a load that a mask cuts",
     {"= A_1[i * 13:i * 13 + 8]",
      "T.if_then_else(T.Ramp(0, 1, 8) < T.Broadcast(5, 8), A_1[i * 13 + 8:"},
     {"T.Broadcast(8, 8)"}},
    {"vectors written out, with a tail", {"B_1[i * 21 + 16:i * 21 + 16 + 4]"}, {"if "}},
    {"border of a padding", {"range(3)", "B[i * 8:i * 8 + 8] = A[i * 8:i * 8 + 8]"}, {"if "}},
    {"tile under a loop of one step", {"X = T.decl_buffer((8,))"}, {"(64,))\n    "}},
};

static const Program *find_program(const char *name) {
  for (int i = 0; i < N_PROGRAMS; i++)
    if (strcmp(programs[i].name, name) == 0) return &programs[i];
  fail_msg("no program %s", name);
  return NULL;
}

static void check_expectation(Tirc *c, const void *arg) {
  const Expectation *e = arg;
  const Module *m = tirc_lower(c, parse(c, find_program(e->program)->text), NULL, NULL);
  const char *text = tirc_print_module(c, m, NULL);
  for (int i = 0; i < 4; i++) {
    if (e->must[i] && !strstr(text, e->must[i]))
      fail_msg("%s: no \"%s\" in\n%s", e->program, e->must[i], text);
    if (e->must_not[i] && strstr(text, e->must_not[i]))
      fail_msg("%s: \"%s\" in\n%s", e->program, e->must_not[i], text);
  }
}

static void passes_achieve_what_they_are_for(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof expectations / sizeof *expectations; i++)
    in_context(expectations[i].program, check_expectation, &expectations[i]);
}

/* --- what cannot be lowered ----------------------------------------------------------------- */

static const char *const impossible[] = {
    FUNC(B1(A, 16), "    for i in T.thread_binding(16, thread=\"threadIdx.x\"):\n        A[i] = "
                    "T.float32(1)\n"),
    FUNC("a: T.handle", "    n = T.int32()\n    A = T.match_buffer(a, (n,))\n"
                        "    for i in T.vectorized(n):\n        A[i] = T.float32(1)\n"),
    FUNC("a: T.handle", "    n = T.int32()\n    A = T.match_buffer(a, (n,))\n"
                        "    for i in T.unroll(n):\n        A[i] = T.float32(1)\n"),
    FUNC(B1(A, 16), "    for i in T.serial(16, annotations={\"software_prefetch\": {\"B\": 1}}):\n"
                    "        A[i] = T.float32(1)\n"),
};

/* Annotations that are wrong are so on each kind of loop, whatever becomes of it. */
static const char *const loops[] = {"serial(16", "parallel(16", "vectorized(16", "unroll(16",
                                    "serial(1"};
static const char *const wrong[] = {"\"software_prefetch\": 1",
                                    "\"software_prefetch\": {\"A\": -1}",
                                    "\"software_prefetch\": {\"A\": [1]}",
                                    "\"software_prefetch\": {\"A\": [1, -1]}",
                                    "\"software_prefetch\": {\"A\": 1.5}",
                                    "\"parallel_chunks\": 0",
                                    "\"parallel_chunks\": \"8\"",
                                    "\"parallel_chunks\": [8]",
                                    "\"parallel_from\": 0",
                                    "\"parallel_from\": 1.5"};

static void lower_text(Tirc *c, const void *text) { tirc_lower(c, parse(c, text), NULL, NULL); }

static void what_cannot_be_lowered_is_an_error(void **state) {
  (void)state;
  char code[40];
  for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++) {
    error_code(lower_text, impossible[i], code, sizeof code);
    assert_string_equal(code, "lower");
  }
}

static void lower_annotated(Tirc *c, const void *loop) {
  const char *text = FUNC(B1(A, 16), "    for i in T.%s}):\n        A[i] = T.float32(1)\n");
  tirc_lower(c, parse(c, tirc_format(c, text, (const char *)loop)), NULL, NULL);
}

static void wrong_annotations_are_errors_on_each_loop(void **state) {
  (void)state;
  char code[40], loop[100];
  for (size_t i = 0; i < sizeof loops / sizeof *loops; i++)
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
      snprintf(loop, sizeof loop, "%s, annotations={%s", loops[i], wrong[k]);
      error_code(lower_annotated, loop, code, sizeof code);
      assert_string_equal(code, "lower");
    }
}

static void virtual_threads_are_serial(void **state) {
  (void)state;
  static const Program p = {"vthread",
                            FUNC(B1(A, 16),
                                 "    for i in T.thread_binding(16, thread=\"vthread.x\"):\n"
                                 "        A[i] = T.float32(1)\n"),
                            0, 0};
  in_context(p.name, check_program, &p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_pass_keeps_the_meaning),
      cmocka_unit_test(passes_achieve_what_they_are_for),
      cmocka_unit_test(a_copy_outlives_what_it_was_copied_from),
      cmocka_unit_test(what_cannot_be_lowered_is_an_error),
      cmocka_unit_test(wrong_annotations_are_errors_on_each_loop),
      cmocka_unit_test(virtual_threads_are_serial),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
