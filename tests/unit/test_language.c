/* The reference of the language covers its tables, and each of its examples is what it is said to
 * be. */
#include "ir/tree/intrinsic.h"
#include "parser/functions.h"
#include "parser/reader.h"
#include "runtime/tirc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

static void every_function_has_a_row(void **state) {
  (void)state;
  const Function *f;
  for (int i = 0; (f = tirc_reader_function(i)); i++)
    if (tirc_row_of_function(f->name) < 0) fail_msg("functions.def says nothing of T.%s", f->name);
}

/* Nothing is listed twice, and nothing is that does not exist. */
static void every_name_is_a_function(void **state) {
  (void)state;
  FunctionWords row;
  const char *name, *arguments;
  int listed = 0, all = 0;
  for (int i = 0; tirc_function_row(i, &row); i++) {
    int n = 0, of_this = 0;
    for (const char *s = row.names; *(s += strspn(s, " ")); s += strcspn(s, " ")) n++;
    while (tirc_function_of_row(i, of_this, &name, &arguments)) of_this++;
    if (of_this < n)
      fail_msg("'%s' of functions.def: %d of %d are functions", row.names, of_this, n);
    if (!*row.types && !*row.help) fail_msg("'%s' of functions.def says nothing", row.names);
    listed += of_this;
  }
  while (tirc_reader_function(all)) all++;
  assert_int_equal(listed, all);
}

static void intrinsics_are_named(void **state) {
  (void)state;
  static const struct {
    const char *name;
    IntrinsicShape shape;
  } rows[] = {
#define INTRINSIC(id, name, shape, arity, c_form) {name, SHAPE_##shape},
#include "ir/tree/intrinsics.def"
#undef INTRINSIC
  };
  static const char *const libraries[] = {"tensor_intrin/x86", "tensor_intrin/arm_cpu"};
  FunctionWords row;
  assert_true(tirc_function_row(tirc_row_of_function("call_llvm_intrin"), &row));
  for (size_t i = 0; i < 2; i++)
    if (!strstr(row.help, libraries[i])) fail_msg("it does not lead to %s", libraries[i]);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (rows[i].shape == SHAPE_DOT) continue; /* one by one below */
    if (!strstr(row.help, rows[i].name))
      fail_msg("the row of T.call_llvm_intrin lacks %s", rows[i].name);
  }
}

static const char *library_text(const char *library) {
  const char *name, *text;
  for (int i = 0; tirc_rules_table(i, &name, &text); i++)
    if (!strcmp(name, library)) return text;
  fail_msg("there is no library %s", library);
  return NULL;
}

/* The libraries that it leads to have each dot product of the table. */
static void dot_products_are_named(void **state) {
  (void)state;
  static const char *const names[] = {
#define DOT(id, name, ...) name,
#include "ir/tree/dots.def"
#undef DOT
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *library =
        strstr(names[i], "aarch64") ? "tensor_intrin/arm_cpu" : "tensor_intrin/x86";
    const char *text = library_text(library);
    const char *word = strstr(names[i], ".neon.") ? strstr(names[i], ".neon.") + 1 : names[i];
    char part[64];
    if (word == names[i]) { /* "vpdpbusd." of "llvm.x86.avx512.vpdpbusd.512" */
      const char *end = strrchr(word, '.');
      for (word = end - 1; word[-1] != '.';) word--;
      snprintf(part, sizeof part, "%.*s", (int)(end + 1 - word), word);
    } else {
      snprintf(part, sizeof part, "%s", word + strlen("neon."));
    }
    if (!strstr(text, part)) fail_msg("%s lacks %s", library, names[i]);
  }
}

/* Every row of a table stands before its end, and a key of its own. */
static void tables_are_whole(void **state) {
  (void)state;
  tirc_annotation_info key, other;
  tirc_script_info word;
  int n = 0, of_kind[4] = {0};
  for (; tirc_annotation_table(n, &key); n++)
    for (int k = 0; k < n && tirc_annotation_table(k, &other); k++)
      if (!strcmp(key.key, other.key)) fail_msg("the key %s stands twice", key.key);
  assert_true(n > 10);
  for (n = 0; tirc_script_table(n, &word); n++) of_kind[word.kind]++;
  for (int i = 0; i < 4; i++) assert_true(of_kind[i] > 10);
  assert_false(tirc_script_table(-1, &word) || tirc_annotation_table(-1, &key));
}

/* --- examples --------------------------------------------------------------------------------- */

typedef struct Example {
  const char *form, *text;
  bool script, right;
} Example;
static const Example examples[] = {
#define SECTION(title, text)
#define PROGRAM(form, help, example) {form, example, false, true},
#define REFUSED(form, help, example) {form, example, false, false},
#define SCRIPT(form, help, example) {form, example, true, true},
#define NO_SCRIPT(form, help, example) {form, example, true, false},
#include "tools/teach/language.def"
};

static const char product[] = "@T.prim_func\n"
                              "def main(A: T.Buffer((16, 16), \"float32\"), B: T.Buffer((16, 16), "
                              "\"float32\"), C: T.Buffer((16, 16), \"float32\")):\n"
                              "    for i, j, k in T.grid(16, 16, 16):\n"
                              "        with T.block(\"C\"):\n"
                              "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
                              "            with T.init():\n"
                              "                C[vi, vj] = T.float32(0)\n"
                              "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n";

/* The body of a function, or a file as it stands. */
static void put_program(char *out, size_t size, const char *text) {
  if (strstr(text, "@T.prim_func")) {
    snprintf(out, size, "%s", text);
    return;
  }
  size_t n = (size_t)snprintf(
      out, size,
      "@T.prim_func\n"
      "def main(A: T.Buffer((16, 16), \"float32\"), B: T.Buffer((16, 16), \"float32\"), "
      "D: T.Buffer((16, 16), \"int32\"), n: T.int32):\n");
  while (*text) {
    size_t line = strcspn(text, "\n");
    n += (size_t)snprintf(out + n, size - n, "    %.*s\n", (int)line, text);
    text += line + (text[line] == '\n');
  }
}

static void say_nothing(void *self, const char *text) { (void)self, (void)text; }

static tirc_status read_program(const char *text, tirc_error **e) {
  tirc_module *m = NULL;
  tirc_status status = tirc_module_parse(text, strlen(text), "example", 0, NULL, &m, e);
  tirc_module_free(m);
  return status;
}

static tirc_status run_script(const char *text, tirc_error **e) {
  tirc_schedule_options options = {.print = say_nothing};
  tirc_module *before = NULL, *after = NULL;
  assert_int_equal(tirc_module_parse(product, strlen(product), "product", 0, NULL, &before, e),
                   TIRC_OK);
  tirc_status status =
      tirc_module_schedule_text(before, text, strlen(text), "example", &options, &after, e);
  tirc_module_free(after);
  tirc_module_free(before);
  return status;
}

static void examples_are_what_they_say(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
    const Example *x = &examples[i];
    char text[4096];
    tirc_error *e = NULL;
    if (!*x->text) fail_msg("'%s' has no example", x->form);
    put_program(text, sizeof text, x->text);
    tirc_status status = x->script ? run_script(x->text, &e) : read_program(text, &e);
    if (x->right && status) fail_msg("the example of '%s': %s", x->form, tirc_error_message(e));
    if (!x->right && status != TIRC_BAD) fail_msg("the example of '%s' is taken", x->form);
    tirc_error_free(e);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_function_has_a_row), cmocka_unit_test(every_name_is_a_function),
      cmocka_unit_test(intrinsics_are_named),     cmocka_unit_test(dot_products_are_named),
      cmocka_unit_test(tables_are_whole),         cmocka_unit_test(examples_are_what_they_say)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
