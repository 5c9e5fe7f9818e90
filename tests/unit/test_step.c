/* What `tirc step` is made of: recorded steps through the public header, sentences, differences. */
#include "runtime/tirc.h"
#include "tools/step/diff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tirc_module *parse(const char *text) {
  tirc_module *m = NULL;
  tirc_error *e = NULL;
  if (tirc_module_parse(text, strlen(text), "program", 0, NULL, &m, &e))
    fail_msg("%s", tirc_error_message(e));
  return m;
}

static tirc_steps *steps_of(const tirc_module *m, const char *script) {
  tirc_steps *s = NULL;
  tirc_error *e = NULL;
  if (tirc_module_steps_text(m, script, strlen(script), "script", NULL, &s, &e))
    fail_msg("%s", tirc_error_message(e));
  return s;
}

static char *print(const tirc_module *m) {
  char *text = NULL;
  assert_int_equal(tirc_module_print(m, &text, NULL), TIRC_OK);
  return text;
}

/* --- sentences -------------------------------------------------------------------------------- */

static void check_sentence(const tirc_step *step) {
  const char *s = step->sentence;
  assert_non_null(s);
  if (strchr(s, '?') || strchr(s, '{') || strstr(s, "<block") || s[strlen(s) - 1] != '.')
    fail_msg("%s says: %s", step->primitive, s);
}

/* The example of every primitive, step by step: each is there, says what it did, and the last
 * program is the one that the schedule gives. */
static void every_primitive_says_what_it_did(void **state) {
  (void)state;
  tirc_primitive_info p;
  for (int i = 0; tirc_primitive_table(i, &p); i++) {
    tirc_primitive_doc d;
    assert_true(tirc_primitive_documentation(i, &d));
    tirc_module *m = parse(d.program), *after = NULL;
    tirc_steps *s = steps_of(m, d.script);
    assert_null(tirc_steps_error(s));
    int n = tirc_steps_count(s), own = 0;
    assert_true(n > 0);
    for (int k = 0; k < n; k++) {
      check_sentence(tirc_steps_at(s, k));
      own += strcmp(tirc_steps_at(s, k)->primitive, p.name) == 0;
    }
    if (!own) fail_msg("the example of %s has no step of it", p.name);
    assert_int_equal(
        tirc_module_schedule_text(m, d.script, strlen(d.script), "script", NULL, &after, NULL),
        TIRC_OK);
    char *text = print(after);
    assert_string_equal(text, tirc_steps_at(s, n - 1)->after->text);
    tirc_string_free(text);
    tirc_module_free(after);
    tirc_steps_free(s);
    tirc_module_free(m);
  }
}

static const char program[] =
    "@T.prim_func\n"
    "def main(A: T.Buffer((8, 16), 'float32'), B: T.Buffer((8, 16), 'float32')):\n"
    "    for i, j in T.grid(8, 16):\n"
    "        with T.block('B'):\n"
    "            vi, vj = T.axis.remap('SS', [i, j])\n"
    "            B[vi, vj] = A[vi, vj] + T.float32(1)\n";

static void views_show_the_program(void **state) {
  (void)state;
  tirc_module *m = parse(program);
  tirc_steps *s = steps_of(m, "i, j = sch.get_loops('B')\njo, ji = sch.split(j, [None, 5])\n"
                              "sch.vectorize(ji)\n");
  tirc_module_free(m); /* the steps do not need it */
  assert_int_equal(tirc_steps_count(s), 3);
  assert_ptr_equal(tirc_steps_at(s, 0)->before, tirc_steps_first(s));
  assert_ptr_equal(tirc_steps_at(s, 0)->before, tirc_steps_at(s, 0)->after);
  assert_string_equal(tirc_steps_at(s, 1)->sentence,
                      "Splits loop j (16) into j_0 (4) and j_1 (5), outermost first.");
  const tirc_view *v = tirc_steps_at(s, 2)->after;
  static const char *const names[] = {"main", "root", "i", "j_0", "j_1", "B"};
  static const int depths[] = {0, 1, 2, 3, 4, 5}, lines[] = {4, 5, 6, 6, 7, 8};
  assert_int_equal(v->n, 6);
  for (int i = 0; i < v->n; i++) {
    assert_string_equal(v->nodes[i].name, names[i]);
    assert_int_equal(v->nodes[i].depth, depths[i]);
    assert_int_equal(v->nodes[i].line, lines[i]);
  }
  assert_string_equal(v->nodes[4].loop_kind, "vectorized");
  assert_string_equal(v->nodes[4].extent, "5");
  assert_string_equal(v->nodes[5].iters, "SS");
  assert_string_equal(v->nodes[5].predicate, "j_0 * 5 + j_1 < 16");
  assert_string_equal(v->nodes[5].reads[0].detail, "A[vi, vj]");
  char *text = print(tirc_steps_module(s, v));
  assert_string_equal(text, v->text);
  tirc_string_free(text);
  assert_null(tirc_steps_at(s, 3));
  tirc_steps_free(s);
}

static void a_failing_script_keeps_its_steps(void **state) {
  (void)state;
  tirc_module *m = parse(program);
  tirc_steps *s = steps_of(m, "i, j = sch.get_loops('B')\nsch.parallel(i)\nsch.fuse(j, i)\n");
  assert_int_equal(tirc_steps_count(s), 3);
  const tirc_step *last = tirc_steps_at(s, 2);
  assert_non_null(last->error);
  assert_ptr_equal(last->before, last->after);
  assert_string_equal(tirc_error_message(last->error), tirc_error_message(tirc_steps_error(s)));
  assert_int_equal(tirc_error_line(last->error), 3);
  tirc_steps_free(s);
  tirc_steps *none = NULL;
  tirc_error *e = NULL;
  assert_int_equal(tirc_module_steps_text(m, "sch.(", 5, "script", NULL, &none, &e), TIRC_BAD);
  assert_null(none);
  tirc_error_free(e);
  tirc_module_free(m);
}

/* --- observed runs ---------------------------------------------------------------------------- */

typedef struct Seen {
  char text[2000];
  int left; /* accesses to let through */
} Seen;

static void add_text(Seen *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_text(Seen *s, const char *format, ...) {
  size_t n = strlen(s->text);
  va_list args;
  va_start(args, format);
  vsnprintf(s->text + n, sizeof s->text - n, format, args);
  va_end(args);
}
static void see_array(void *self, int array, const char *name, const char *dtype, int bytes,
                      const char *scope, int ndim, const int64_t *shape) {
  add_text(self, "%d=%s %s %d %s", array, name, dtype, bytes, scope);
  for (int d = 0; d < ndim; d++) add_text(self, " %d", (int)shape[d]);
  add_text(self, "\n");
}
static void see_block(void *self, const char *name, int n, const char *const *loops,
                      const int64_t *values) {
  add_text(self, "%s", name);
  for (int i = 0; i < n; i++) add_text(self, " %s=%d", loops[i], (int)values[i]);
  add_text(self, "\n");
}
static bool see_access(void *self, int array, int64_t element, bool is_write) {
  Seen *s = self;
  if (s->left-- == 0) return false;
  add_text(s, "%s %d[%d]\n", is_write ? "write" : "read", array, (int)element);
  return true;
}

/* A tile's cache is as large as the tile; a block whose predicate is false is not seen. */
static void a_run_is_observed_in_order(void **state) {
  (void)state;
  static const char small[] = "@T.prim_func\n"
                              "def main(A: T.Buffer((3,), 'int8'), B: T.Buffer((3,), 'int8')):\n"
                              "    for i in range(3):\n"
                              "        with T.block('B'):\n"
                              "            vi = T.axis.spatial(3, i)\n"
                              "            B[vi] = A[2 - vi]\n";
  tirc_module *m = parse(small);
  tirc_steps *s = steps_of(m, "i, = sch.get_loops('B')\no, i = sch.split(i, [None, 2])\n"
                              "c = sch.cache_write('B', 0, 'local')\n"
                              "sch.reverse_compute_at(c, o)\n");
  assert_null(tirc_steps_error(s));
  const tirc_module *last = tirc_steps_module(s, tirc_steps_at(s, 3)->after);
  tirc_argument args[2] = {{0}};
  for (int i = 0; i < 2; i++)
    assert_int_equal(tirc_array_new("int8", 1, (const int64_t[]){3}, &args[i].array, NULL),
                     TIRC_OK);
  Seen seen = {.left = 100};
  tirc_observer o = {&seen, see_array, see_block, see_access};
  bool whole = false;
  assert_int_equal(tirc_module_observe(last, NULL, 2, args, 0, &o, &whole, NULL), TIRC_OK);
  assert_true(whole);
  assert_string_equal(
      seen.text,
      "root\n"
      "B i_0=0 i_1=0\n0=A int8 1 global 3\nread 0[2]\n1=B_local int8 1 local 2\nwrite 1[0]\n"
      "B i_0=0 i_1=1\nread 0[1]\nwrite 1[1]\n"
      "B_local i_0=0 ax0=0\nread 1[0]\n2=B int8 1 global 3\nwrite 2[0]\n"
      "B_local i_0=0 ax0=1\nread 1[1]\nwrite 2[1]\n"
      "B i_0=1 i_1=0\nread 0[0]\nwrite 1[0]\n"
      "B_local i_0=1 ax0=0\nread 1[0]\nwrite 2[2]\n");
  seen = (Seen){.left = 2};
  assert_int_equal(tirc_module_observe(last, NULL, 2, args, 0, &o, &whole, NULL), TIRC_OK);
  assert_false(whole);
  for (int i = 0; i < 2; i++) tirc_array_free(args[i].array);
  tirc_steps_free(s);
  tirc_module_free(m);
}

/* --- differences ------------------------------------------------------------------------------ */

static char *random_text(int lines, int letters) {
  char *text = calloc((size_t)lines * 8 + 1, 1), *at = text;
  for (int i = 0; i < lines; i++) {
    for (int indent = rand() % 3; indent > 0; indent--) *at++ = ' ';
    *at++ = (char)('a' + rand() % letters);
    *at++ = '\n';
  }
  return text;
}

static int edits(const Diff *d) { return d->changed; }

/* The least number of lines to take out and put in, by the textbook's table. */
static int least_edits(const char *a, const char *b) {
  enum { MOST = 64 };
  char x[MOST] = {0}, y[MOST] = {0};
  int n = 0, m = 0, table[MOST + 1][MOST + 1];
  for (; *a; a++)
    if (*a >= 'a') x[n++] = *a;
  for (; *b; b++)
    if (*b >= 'a') y[m++] = *b;
  for (int i = 0; i <= n; i++)
    for (int j = 0; j <= m; j++) {
      if (!i || !j) {
        table[i][j] = i + j;
        continue;
      }
      int drop = table[i - 1][j] + 1, add = table[i][j - 1] + 1;
      table[i][j] = drop < add ? drop : add;
      if (x[i - 1] == y[j - 1] && table[i - 1][j - 1] < table[i][j])
        table[i][j] = table[i - 1][j - 1];
    }
  return table[n][m];
}

/* Reading the lines of one side gives that side back, and no shorter way exists. */
static void check_diff(const char *before, const char *after) {
  Tirc *c = tirc_context_new();
  const Diff d = diff_texts(c, before, after);
  int a = 0, b = 0;
  const char *at = after;
  for (int i = 0; i < d.n; i++) {
    const DiffLine *l = &d.at[i];
    if (l->op != '+') assert_int_equal(l->before, ++a);
    if (l->op == '-') continue;
    assert_int_equal(l->after, ++b);
    assert_ptr_equal(l->text, at);
    at += l->n + (at[l->n] == '\n');
  }
  assert_int_equal(*at, 0);
  assert_int_equal(edits(&d), least_edits(before, after));
  tirc_context_release(c);
}

static void differences_are_right_and_least(void **state) {
  (void)state;
  srand(7);
  check_diff("", "");
  check_diff("", "a\nb\n");
  check_diff("a\n", "");
  check_diff("a\nb", "a\nb\nc");
  for (int i = 0; i < 3000; i++) {
    char *a = random_text(rand() % 30, 1 + rand() % 6), *b = random_text(rand() % 30, 4);
    check_diff(a, b);
    free(a);
    free(b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_primitive_says_what_it_did),
      cmocka_unit_test(views_show_the_program),
      cmocka_unit_test(a_failing_script_keeps_its_steps),
      cmocka_unit_test(a_run_is_observed_in_order),
      cmocka_unit_test(differences_are_right_and_least),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
