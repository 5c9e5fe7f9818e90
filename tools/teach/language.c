/* The reference of the language, for a terminal, as Markdown, as a manual page: one text, made from
 * the tables of the reader and of the interpreter, and one way to write it for each. */
#define _GNU_SOURCE
#include "teach.h"

#include "ir/ascii.h"
#include "ir/dialect.h"

#include <string.h>

/* --- ways to write it ------------------------------------------------------------------------- */

typedef struct Sheet {
  void (*section)(const char *title, const char *text);
  void (*begin_rows)(void);
  void (*row)(const char *form, const char *types, const char *help); /* types: or NULL */
} Sheet;

static void text_section(const char *title, const char *text) {
  printf("\n%s\n", title);
  if (*text) {
    fputs("  ", stdout);
    put_wrapped(stdout, 2, 2, text);
  }
}
static void text_begin(void) {}
static void text_row(const char *form, const char *types, const char *help) {
  enum { FORM = 2, REST = 6 };
  const char *const parts[] = {form, types, help};
  for (int i = 0; i < 3; i++) {
    const int column = i ? REST : FORM;
    if (!parts[i] || !*parts[i]) continue;
    printf("%*s", column, "");
    put_wrapped(stdout, column, REST, parts[i]);
  }
}

static void markdown_section(const char *title, const char *text) {
  printf("\n## %s\n\n", title);
  if (*text) printf("%s\n\n", text);
}
static void markdown_begin(void) { puts("| | | |\n|---|---|---|"); }
/* Bars would end a cell, and __name__ would be bold, but for code between backquotes. */
static void cell(const char *text, bool code) {
  fputs(code && *text ? " `" : " ", stdout);
  for (bool quoted = code; *text; text++) {
    if (*text == '`') quoted = !quoted;
    if (*text == '|' || (*text == '_' && !quoted)) putchar('\\');
    putchar(*text);
  }
  fputs(code ? "` |" : " |", stdout);
}
static void markdown_row(const char *form, const char *types, const char *help) {
  putchar('|');
  cell(form, true);
  cell(types ? types : "", types && *types);
  cell(help, false);
  putchar('\n');
}

static void roff_section(const char *title, const char *text) {
  printf(".SH \"");
  for (const char *s = title; *s; s++) putchar(tirc_upper(*s));
  puts("\"");
  if (*text) roff_line(text);
}
static void roff_row(const char *form, const char *types, const char *help) {
  printf(".TP\n\\fB");
  roff_text(form);
  puts("\\fR");
  if (types && *types) roff_line(types);
  if (types && *types && *help) puts(".br");
  if (*help) roff_line(help);
}

static const Sheet sheets[] = {
    [LANGUAGE_TEXT] = {text_section, text_begin, text_row},
    [LANGUAGE_MARKDOWN] = {markdown_section, markdown_begin, markdown_row},
    [LANGUAGE_MANUAL] = {roff_section, text_begin, roff_row},
};

/* --- functions of programs -------------------------------------------------------------------- */

/* "x, dtype=, ..." of "x dtype? *" */
static void put_arguments(FILE *to, const char *arguments) {
  for (const char *s = arguments; *(s += strspn(s, " "));) {
    size_t n = strcspn(s, " ");
    if (s != arguments) fputs(", ", to);
    if (*s == '*')
      fputs("...", to);
    else if (s[n - 1] == '?')
      fprintf(to, "%.*s=", (int)n - 1, s);
    else
      fprintf(to, "%.*s", (int)n, s);
    s += n;
  }
}

/* "float32x4" is one of float32xN. */
static size_t before_lanes(const char *name) {
  const char *digits = name + strlen(name);
  while (digits > name && tirc_is_digit(digits[-1])) digits--;
  return *digits && digits > name + 1 && digits[-1] == 'x' ? (size_t)(digits - name) : 0;
}

static bool is_same_vector(const char *name, const char *before) {
  size_t n = before_lanes(name);
  return before && n && n == before_lanes(before) && strncmp(name, before, n) == 0;
}

/* "T.sin, T.cos(x, dtype=)": functions of row i, those with the same arguments together */
static char *forms(int i) {
  char *text = NULL;
  size_t size = 0;
  FILE *f = begin_text(&text, &size);
  const char *name, *arguments, *before = NULL, *open = NULL;
  for (int k = 0; tirc_function_name(i, k, &name, &arguments); k++) {
    if (is_same_vector(name, before)) continue;
    if (open && strcmp(open, arguments) != 0) {
      fputc('(', f);
      put_arguments(f, open);
      fputc(')', f);
    }
    size_t n = before_lanes(name);
    fprintf(f, "%sT.%.*s%s", before ? ", " : "", (int)(n ? n : strlen(name)), name, n ? "N" : "");
    before = name;
    open = arguments;
  }
  if (open) {
    fputc('(', f);
    put_arguments(f, open);
    fputc(')', f);
  }
  return end_text(f, &text);
}

static void put_functions(const Sheet *s) {
  tirc_function_info row;
  const char *topic = NULL;
  for (int i = 0; tirc_function_table(i, &row); i++) {
    if (!topic || strcmp(topic, row.topic) != 0) {
      s->section(row.topic, "");
      s->begin_rows();
    }
    topic = row.topic;
    char *form = forms(i);
    if (form) s->row(form, row.types, row.help);
  }
}

static void put_annotations(const Sheet *s) {
  tirc_annotation_info row;
  s->section("Annotations and attributes",
             "These are the keys for loops (T.serial(n, annotations={...}), sch.annotate), blocks "
             "(T.block_attr), functions (T.func_attr) and T.attr. tirc keeps, prints and compares "
             "other keys, but they have no effect.");
  s->begin_rows();
  for (int i = 0; tirc_annotation_table(i, &row); i++) {
    s->row(row.key, tirc_format(memory, "%s: %s", row.where, row.value), row.help);
  }
}

/* --- dialects --------------------------------------------------------------------------------- */

static const struct {
  WordPlace place;
  const char *words[N_DIALECTS];
} dialect_words[] = {
#define WORD(place, old, new, whose) {WORD_##place, {old, new}},
#include "ir/dialect.def"
#undef WORD
};

/* What stands around a word of its place. */
static const char *const around[][2] = {[WORD_FUNCTION] = {"T.", ""},
                                        [WORD_METHOD] = {"sch.", ""},
                                        [WORD_INSTRUCTION] = {"", ", in JSON traces"},
                                        [WORD_MODULE] = {"tvm.", ""},
                                        [WORD_KEYWORD] = {"R.call_tir(", "=...)"},
                                        [WORD_PREFIX] = {"", "..., in keys of attributes"}};

static void put_dialects(const Sheet *s) {
  s->section(
      "Two dialects",
      "The first column has the names of TVM 0.20, the second the names of releases since 0.24. A "
      "function uses one of the two dialects; --dialect tirx prints the second.");
  s->begin_rows();
  for (size_t i = 0; i < sizeof dialect_words / sizeof *dialect_words; i++) {
    char both[N_DIALECTS][80];
    const char *const *put = around[dialect_words[i].place];
    for (int d = 0; d < N_DIALECTS; d++)
      snprintf(both[d], sizeof both[d], "%s%s%s", put[0], dialect_words[i].words[d], put[1]);
    s->row(both[0], both[1], "");
  }
}

/* --- scripts ---------------------------------------------------------------------------------- */

/* Whether row i stands for a name that an earlier row of the same owner has: of a type and of its
 * instances. */
static bool is_again(int i, const tirc_script_info *of) {
  tirc_script_info row;
  for (int k = 0; k < i && tirc_script_table(k, &row); k++)
    if (row.kind == of->kind && row.owner && of->owner && !strcmp(row.owner, of->owner) &&
        !strcmp(row.name, of->name))
      return true;
  return false;
}

/* The names of one owner, in the order of the table, with commas; NULL: there are
 * none. */
static char *names_of(tirc_script_kind kind, const char *owner) {
  char *text = NULL;
  size_t size = 0;
  int n = 0;
  FILE *f = begin_text(&text, &size);
  tirc_script_info row;
  for (int i = 0; tirc_script_table(i, &row); i++)
    if (row.kind == kind && (owner ? row.owner && !strcmp(owner, row.owner) : !row.owner) &&
        !is_again(i, &row))
      fprintf(f, "%s%s%s", n++ ? ", " : "", row.name, kind == TIRC_SCRIPT_METHOD ? "()" : "");
  (void)end_text(f, &text);
  return n ? text : NULL;
}

static bool is_first_of_owner(int i, const tirc_script_info *wanted) {
  tirc_script_info row;
  for (int k = 0; k < i && tirc_script_table(k, &row); k++)
    if (row.owner && wanted->owner && !strcmp(row.owner, wanted->owner)) return false;
  return wanted->owner != NULL;
}

static void put_owners(const Sheet *s) {
  tirc_script_info row;
  for (int i = 0; tirc_script_table(i, &row); i++) {
    if (!is_first_of_owner(i, &row)) continue;
    char *methods = names_of(TIRC_SCRIPT_METHOD, row.owner);
    char *attributes = names_of(TIRC_SCRIPT_ATTRIBUTE, row.owner);
    s->row(row.owner, NULL,
           tirc_format(memory, "%s%s%s", methods ? methods : "", methods && attributes ? ", " : "",
                       attributes ? attributes : ""));
  }
}

static void put_script_names(const Sheet *s) {
  char *functions = names_of(TIRC_SCRIPT_FUNCTION, NULL);
  char *exceptions = names_of(TIRC_SCRIPT_EXCEPTION, NULL);
  s->section(
      "What scripts have",
      "These work as in Python or in TVM. Some exist only in tirc. attempt(f, sch) undoes what f "
      "did if f raises. because(text) states why a rule did what it did. read_json(file) reads a "
      "JSON file. Operators ask about extents with require(condition, message), known(condition), "
      "simplify(extent) and limits(extent); the last three also accept a list of conditions that "
      "hold.");
  s->begin_rows();
  if (functions) s->row("functions", NULL, functions);
  if (exceptions) s->row("exceptions", NULL, exceptions);
  put_owners(s);
}

/* --- the whole -------------------------------------------------------------------------------- */

typedef enum RowKind { A_SECTION, OF_PROGRAMS, OF_SCRIPTS } RowKind;
static const struct {
  RowKind kind;
  const char *form, *help;
} rows[] = {
#define SECTION(title, text) {A_SECTION, title, text},
#define PROGRAM(form, help, example) {OF_PROGRAMS, form, help},
#define REFUSED(form, help, example) {OF_PROGRAMS, form, help},
#define SCRIPT(form, help, example) {OF_SCRIPTS, form, help},
#define NO_SCRIPT(form, help, example) {OF_SCRIPTS, form, help},
#include "language.def"
#undef SECTION
#undef PROGRAM
#undef REFUSED
#undef SCRIPT
#undef NO_SCRIPT
};
enum { N_ROWS = sizeof rows / sizeof *rows };

/* Sections of programs come before the functions, those of scripts behind them. */
static void put_statements(const Sheet *s, RowKind kind) {
  for (int i = 0; i < N_ROWS; i++) {
    if (rows[i].kind == A_SECTION) {
      if (i + 1 < N_ROWS && rows[i + 1].kind == kind) {
        s->section(rows[i].form, rows[i].help);
        s->begin_rows();
      }
    } else if (rows[i].kind == kind)
      s->row(rows[i].form, NULL, rows[i].help);
  }
}

void print_language(LanguageSheet how) {
  const Sheet *s = &sheets[how];
  if (how == LANGUAGE_TEXT)
    puts("The language of programs and of schedule scripts: both are subsets of Python.");
  put_statements(s, OF_PROGRAMS);
  put_functions(s);
  put_annotations(s);
  put_dialects(s);
  put_statements(s, OF_SCRIPTS);
  put_script_names(s);
}

/* --- one word of it --------------------------------------------------------------------------- */

static bool explain_function(const char *wanted) {
  tirc_function_info row;
  const char *name, *arguments, *text = strncmp(wanted, "T.", 2) == 0 ? wanted + 2 : wanted;
  for (int i = 0; tirc_function_table(i, &row); i++)
    for (int k = 0; tirc_function_name(i, k, &name, &arguments); k++) {
      if (strcmp(name, text) != 0) continue;
      printf("T.%s(", name);
      put_arguments(stdout, arguments);
      printf(")\n    %s: ", row.topic);
      print_wrapped(4, row.types);
      if (*row.help) {
        fputs("    ", stdout);
        print_wrapped(4, row.help);
      }
      return true;
    }
  return false;
}

static bool explain_annotation(const char *wanted) {
  tirc_annotation_info row;
  for (int i = 0; tirc_annotation_table(i, &row); i++) {
    if (strcmp(row.key, wanted) != 0) continue;
    printf("\"%s\": %s (%s)\n    ", row.key, row.value, row.where);
    print_wrapped(4, row.help);
    return true;
  }
  return false;
}

bool explain_language(const char *wanted) {
  if (strcmp(wanted, "language") != 0)
    return explain_function(wanted) || explain_annotation(wanted);
  print_language(LANGUAGE_TEXT);
  return true;
}

void each_language_name(void (*use)(void *self, const char *name), void *self) {
  tirc_function_info row;
  tirc_annotation_info key;
  const char *name, *arguments;
  use(self, "language");
  for (int i = 0; tirc_function_table(i, &row); i++)
    for (int k = 0; tirc_function_name(i, k, &name, &arguments); k++) use(self, name);
  for (int i = 0; tirc_annotation_table(i, &key); i++) use(self, key.key);
}
