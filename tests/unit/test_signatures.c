/* The primitives have the signatures that are written down in tests/signatures.txt, and the calls
 * there do the same by position, by keyword, and with the defaults left out. */
#include "ir/tree/print.h"
#include "parser/program.h"
#include "passes/record/trace.h"
#include "passes/script/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static const char *path;

typedef struct Row {
  const char *signature;
  const char *before; /* lines of a script */
  VEC(const char *) arguments;
} Row;

typedef struct Table {
  Tirc *c;
  Text program, prelude;
  VEC(Row) rows;
} Table;

static bool is_head(const char *line) { return *line && *line != ' '; }

static Table read_table(Tirc *c) {
  Table t = {.c = c, .program.c = c, .prelude.c = c};
  Source file = tirc_read_source(c, path);
  Text *block = NULL;
  Text before = {.c = c};
  bool calls = false;
  for (const char *s = file.text; *s;) {
    size_t n = strcspn(s, "\n");
    const char *line = tirc_strndup(c, s, n), *inside = line + (n > 4 ? 4 : n);
    s += n + (s[n] == '\n');
    if (!strcmp(line, "methods")) break;
    if (*line == '#') continue;
    if (is_head(line) && !calls) {
      block = !strcmp(line, "program") ? &t.program : &t.prelude;
      calls = !strcmp(line, "primitives");
    } else if (is_head(line)) {
      vec_push(c, t.rows, ((Row){.signature = line, .before = ""}));
      before = (Text){.c = c};
    } else if (calls && *inside == '>') {
      tirc_text_addf(&before, "%s\n", inside + 2);
      t.rows.at[t.rows.n - 1].before = before.at;
    } else if (calls && *inside) {
      vec_push(c, t.rows.at[t.rows.n - 1].arguments, inside);
    } else if (block) {
      tirc_text_addf(block, "%s\n", inside);
    }
  }
  return t;
}

static const Primitive *primitive_of(const Table *t, const Row *row) {
  const char *name = tirc_strndup(t->c, row->signature, strcspn(row->signature, "("));
  const Primitive *p = tirc_find_primitive(name);
  if (!p) fail_msg("there is no primitive %s", name);
  return p;
}

/* How a call is written. */
typedef enum Style { BY_POSITION, BY_KEYWORD, DEFAULTS_LEFT_OUT } Style;

static const char *call_text(const Table *t, const Row *row, Style style) {
  const Primitive *p = primitive_of(t, row);
  Text text = {.c = t->c};
  tirc_text_addf(&text, "sch.%s(", p->name);
  bool keyword = style == BY_KEYWORD;
  for (int i = 0, given = 0; i < p->n_params; i++) {
    const Param *param = &p->params[i];
    const char *value = param->default_text;
    if (!value) {
      if (given == row->arguments.n) fail_msg("%s lacks an argument", row->signature);
      value = row->arguments.at[given++];
    } else if (style == DEFAULTS_LEFT_OUT) {
      continue;
    }
    bool star = param->kind == PARAM_LOOPS;
    bool named = !star && (keyword || param->keyword_only);
    tirc_text_addf(&text, "%s%s%s%s", i ? ", " : "", named ? param->name : "", named ? "=" : "",
                   value);
    keyword |= star; /* what comes after *loops can only be named */
  }
  tirc_text_add(&text, ")");
  return text.at;
}

/* The program and the trace that a call leaves. */
static const char *outcome(const Table *t, const Row *row, Style style) {
  Tirc *c = t->c;
  Source program = {path, t->program.at, strlen(t->program.at)};
  const char *call = call_text(t, row, style);
  const char *text = tirc_format(c, "%s%s%s\n", t->prelude.at, row->before, call);
  Source script = {row->signature, text, strlen(text)};
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    Sched *s = tirc_sched_new(c, tirc_parse_module(c, &program, 0, NULL));
    tirc_run_script(s, &script, NULL, NULL, NULL, NULL);
    TIRC_END(c, trap);
    return tirc_format(c, "%s%s", tirc_print_module(c, s->mod, NULL),
                       tirc_trace_python(c, s->trace, false, DIALECT_TIR));
  }
  fail_msg("%s: %s", call, c->diag.message);
  return NULL;
}

static void signatures_are_those_written_down(void **state) {
  (void)state;
  Tirc *c = tirc_context_new();
  Table t = read_table(c);
  for (int i = 0; i < tirc_n_primitives; i++) {
    const char *name = tirc_primitives[i].name;
    bool found = false;
    for (int k = 0; k < t.rows.n; k++) found |= primitive_of(&t, &t.rows.at[k])->name == name;
    if (!found) fail_msg("%s has no row in tests/signatures.txt", name);
  }
  assert_int_equal(t.rows.n, tirc_n_primitives);
  for (int i = 0; i < t.rows.n; i++) {
    const Row *row = &t.rows.at[i];
    assert_string_equal(tirc_primitive_signature(c, primitive_of(&t, row)), row->signature);
    for (int k = 0; k < i; k++)
      if (!strcmp(t.rows.at[k].signature, row->signature)) fail_msg("%s twice", row->signature);
  }
  tirc_context_release(c);
}

static void calls_do_the_same_in_each_style(void **state) {
  (void)state;
  Tirc *c = tirc_context_new();
  Table t = read_table(c);
  for (int i = 0; i < t.rows.n; i++) {
    const Row *row = &t.rows.at[i];
    const char *one = outcome(&t, row, BY_POSITION);
    assert_string_equal(one, outcome(&t, row, BY_KEYWORD));
    assert_string_equal(one, outcome(&t, row, DEFAULTS_LEFT_OUT));
  }
  tirc_context_release(c);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(signatures_are_those_written_down),
      cmocka_unit_test(calls_do_the_same_in_each_style),
  };
  if (argc != 2) return fprintf(stderr, "usage: test_signatures FILE\n"), 2;
  path = argv[1];
  return cmocka_run_group_tests(tests, NULL, NULL);
}
