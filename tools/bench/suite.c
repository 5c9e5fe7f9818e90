/* --suite: a file, or one that is part of the command, of lines
 *
 *     qkv   M=16,32 K=768 N=768                        sizes of the program of the command line
 *     stem  conv2d.tir CI=3 CO=64 H=224 W=224          or a program, with its sizes
 *     stem  x12 conv2d.tir CI=3                        and how often a model calls it
 *
 * of one of the two kinds. A program is looked for from the suite's folder, and what its line says
 * of it is checked before anything is measured. */
#include "settings.h"
#include "tools/kit/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Suite {
  const char *name, *help, *text;
} Suite;
static const Suite suites[] = {
#define SUITE(name, help, text) {name, help, text},
#define PROGRAM(suite, name, text)
#include "suites.def"

#include "operator_suite.inc"
#undef SUITE
#undef PROGRAM
};
enum { N_SUITES = sizeof suites / sizeof *suites };

/* Their programs. */
static const struct {
  const char *suite, *name, *text;
} programs[] = {
#define SUITE(name, help, text)
#define PROGRAM(suite, name, text) {suite, name, text},
#include "operator_suite.inc"
#undef SUITE
#undef PROGRAM
    {
        "",
        "matmul.tir",
#include "matmul_program.inc"
    },
};
enum { N_PROGRAMS = sizeof programs / sizeof *programs };

/* What is being read. */
typedef struct Reading {
  Bench *b;
  const char *file;  /* the suite, as messages name it */
  const char *suite; /* its name if it is part of the command, or NULL */
  const List *define;
  bool *used; /* each -D option: some program has the name */
  int n_lines;
} Reading;

static const char line_hint[] =
    "a line is: NAME [PROGRAM.tir] CONSTANT=VALUE,VALUE... CONSTANT=VALUE...";

/* --- the program of a line -------------------------------------------------------------------- */

static const char *text_of_program(const Reading *r, const char *word) {
  for (int i = 0; r->suite && i < N_PROGRAMS; i++)
    if (strcmp(programs[i].suite, r->suite) == 0 && strcmp(programs[i].name, word) == 0)
      return programs[i].text;
  return NULL;
}

const char *known_program(const char *name) {
  for (int i = 0; i < N_PROGRAMS; i++)
    if (strcmp(programs[i].name, name) == 0) return programs[i].text;
  return NULL;
}

/* From the suite's folder. */
static char *path_of_program(const Reading *r, const char *word) {
  const char *slash = strrchr(r->file, '/');
  const size_t n = slash && *word != '/' ? (size_t)(slash - r->file) + 1 : 0;
  char *path = tirc_alloc(memory, n + strlen(word) + 1);
  if (path) memcpy(path, r->file, n), strcpy(path + n, word);
  return path;
}

static int find_program(const Reading *r, Line *l, const char *word) {
  l->text = text_of_program(r, word);
  l->file = l->text ? tirc_strdup(memory, word) : path_of_program(r, word);
  if (l->text || access(l->file, R_OK) == 0) return DONE;
  const char *dot = strrchr(word, '.');
  if (!dot && !strchr(word, '/')) /* more likely a value without its name */
    return complain("write M=16,32",
                    "%s:%d: '%s' is not NAME=VALUE,VALUE,..., and there is no such program",
                    r->file, l->number, word);
  return complain("programs are looked for from the suite's folder",
                  "%s:%d: there is no program '%s': %s", r->file, l->number, l->file,
                  strerror(errno));
}

/* --- its names -------------------------------------------------------------------------------- */

static bool has_constant(const tirc_module *m, const char *wanted) {
  const char *name;
  int64_t value;
  bool is_int;
  for (int i = 0; tirc_module_constant(m, i, &name, &value, &is_int); i++)
    if (strcmp(name, wanted) == 0) return true;
  return false;
}

static void offer_names(const tirc_module *m, Nearest *best) {
  const char *name;
  int64_t value;
  bool is_int;
  int n;
  const tirc_symbol *symbols;
  for (int i = 0; tirc_module_constant(m, i, &name, &value, &is_int); i++)
    tirc_offer_name(best, name, strlen(name));
  if (!tirc_module_symbols(m, NULL, &n, &symbols, NULL))
    for (int i = 0; i < n; i++) tirc_offer_name(best, symbols[i].name, strlen(symbols[i].name));
}

static bool has_axis(const Line *l, const char *name) {
  for (int i = 0; i < l->n; i++)
    if (strcmp(l->axes[i].name, name) == 0) return true;
  return false;
}

static int check_names(const Reading *r, const Line *l, const tirc_module *m) {
  for (int i = 0; i < l->n; i++) {
    const char *name = l->axes[i].name;
    Nearest best = {.wanted = name, .n_wanted = strlen(name)};
    if (has_constant(m, name) || is_size(m, name)) continue;
    offer_names(m, &best);
    return complain(tirc_suggest_name(&best, "", "its constants stand at its top: M = 128"),
                    "%s:%d: nothing in %s is called '%s'", r->file, l->number, l->file, name);
  }
  return DONE;
}

static int lacks(const Reading *r, const Line *l, const char *what, const char *name) {
  char *hint = tirc_format(memory, "add it to the line, or give it for all: -D %.80s=16", name);
  return complain(hint, "%s:%d: %s \"%s\" of %s has no value", r->file, l->number, what, name,
                  l->file);
}

static int check_values(const Reading *r, const Line *l, const tirc_module *m) {
  int n;
  const tirc_symbol *symbols;
  const tirc_param *params;
  tirc_error *e = NULL;
  if (tirc_module_symbols(m, NULL, &n, &symbols, &e)) return report(e);
  for (int i = 0; i < n; i++)
    if (!has_axis(l, symbols[i].name)) return lacks(r, l, "the extent", symbols[i].name);
  if (tirc_module_params(m, NULL, &n, &params, &e)) return report(e);
  for (int i = 0; i < n; i++)
    if (!params[i].is_array && !has_axis(l, params[i].name))
      return lacks(r, l, "the scalar parameter", params[i].name);
  return DONE;
}

/* --- lines ------------------------------------------------------------------------------------ */

/* The -D options: of a program's line those of which it has the name. */
static int read_defines(Reading *r, Line *l, const tirc_module *m) {
  const List *d = r->define;
  for (int i = 0; i < d->n; i++) {
    char *name = tirc_strndup(memory, d->at[i], strcspn(d->at[i], "="));
    bool has = !m || (name && (has_constant(m, name) || is_size(m, name)));
    r->used[i] = r->used[i] || has;
    if (has && !add_axis(l, d->at[i]))
      return complain("write -D M=16,32", "-D takes NAME=VALUE,VALUE,..., not '%s'", d->at[i]);
  }
  return DONE;
}

static int check_program_line(Reading *r, Line *l) {
  tirc_module *m = NULL;
  for (int i = 0; i < r->b->n_cases; i++)
    if (strcmp(r->b->cases[i].at.kernel, l->kernel) == 0)
      return complain("a name stands for one program at its sizes",
                      "%s:%d: '%s' stands in line %d, too", r->file, l->number, l->kernel,
                      r->b->cases[i].line);
  int status = load_named(&r->b->o->make.from, l->file, l->text, 0, NULL, &m);
  if (status == DONE) status = check_names(r, l, m);
  if (status == DONE) status = read_defines(r, l, m);
  if (status == DONE) status = check_values(r, l, m);
  tirc_module_free(m);
  return status;
}

static int end_line(Reading *r, Line *l) {
  const bool has_program = l->file != NULL;
  if (r->n_lines++ && has_program != r->b->of_programs)
    return complain("all lines name a program, or none does",
                    "%s:%d: '%s' names %s program, as the lines before do%s", r->file, l->number,
                    l->kernel, has_program ? "a" : "no", has_program ? " not" : "");
  r->b->of_programs = has_program;
  int status = has_program ? check_program_line(r, l) : read_defines(r, l, NULL);
  return status == DONE ? add_line(r->b, l) : status;
}

/* "x12": how often a run of what the suite is of calls it. */
static bool is_calls(const char *word) {
  const size_t n = strspn(word + (*word == 'x'), "0123456789");
  return *word == 'x' && n > 0 && n < 7 && !word[1 + n] && atoi(word + 1) > 0;
}

/* A blank line or a comment has no cases. */
static int read_line(Reading *r, int number, char *text) {
  char *rest = NULL, *word;
  int status = DONE;
  Line l = {.number = number};
  text[strcspn(text, "#")] = 0;
  word = strtok_r(text, " \t\r", &rest);
  if (!word) return DONE;
  l.kernel = tirc_strdup(memory, word);
  if (strchr(word, '='))
    status = complain(line_hint, "%s:%d: '%s' stands where the kernel's name should", r->file,
                      number, word);
  while (status == DONE && (word = strtok_r(NULL, " \t\r", &rest)) != NULL) {
    if (is_calls(word) && l.n == 0)
      l.calls = atoi(word + 1);
    else if (!strchr(word, '=') && !l.file && l.n == 0)
      status = find_program(r, &l, word);
    else if (!add_axis(&l, word))
      status = complain("write M=16,32", "%s:%d: '%s' is not NAME=VALUE,VALUE,...", r->file, number,
                        word);
  }
  if (status == DONE) status = end_line(r, &l);
  return status;
}

/* A -D that no program takes is a slip of the pen. */
static int check_used(const Reading *r) {
  const List *d = r->define;
  for (int i = 0; i < d->n && r->b->of_programs; i++)
    if (!r->used[i])
      return complain("constants stand at the top of a program: M = 128",
                      "-D %.*s: no program of %s has the name", (int)strcspn(d->at[i], "="),
                      d->at[i], r->file);
  return DONE;
}

static int read_suite_text(Reading *r, char *text) {
  int status = DONE, number = 0;
  for (char *line = text, *end; line && status == DONE; line = end) {
    end = strchr(line, '\n');
    if (end) *end++ = 0;
    status = read_line(r, ++number, line);
  }
  if (status == DONE && r->b->n_cases == 0)
    status = complain(NULL, "%s: the suite is empty", r->file);
  return status == DONE ? check_used(r) : status;
}

/* --- suites ----------------------------------------------------------------------------------- */

bool is_known_suite(const char *name) {
  for (int i = 0; i < N_SUITES; i++)
    if (strcmp(suites[i].name, name) == 0) return true;
  return false;
}

static int no_suite(const char *name, const char *why) {
  char hint[768] = "a file with lines like `qkv M=16,32 K=768 N=768`, or one of: ";
  for (int i = 0; i < N_SUITES; i++)
    snprintf(hint + strlen(hint), sizeof hint - strlen(hint), "%s%s (%s)", i ? ", " : "",
             suites[i].name, suites[i].help);
  return complain(hint, "there is no suite '%s'%s%s", name, why ? ": " : "", why ? why : "");
}

int read_suite(Bench *b, const char *name, const List *define) {
  Reading r = {.b = b, .file = name, .define = define};
  char *text = NULL;
  for (int i = 0; i < N_SUITES; i++)
    if (strcmp(suites[i].name, name) == 0)
      r.suite = name, text = tirc_strdup(memory, suites[i].text);
  if (!text) text = read_small_file(name);
  if (!text) return no_suite(name, read_fault(errno));
  r.used = tirc_alloc_array(memory, (size_t)define->n + 1, sizeof *r.used);
  return read_suite_text(&r, text);
}

int read_programs(Bench *b) {
  const List *args = &b->o->make.from.args, *define = &b->o->make.from.define;
  Reading r = {.b = b, .file = "the command line", .define = define};
  r.used = tirc_alloc_array(memory, (size_t)define->n + 1, sizeof *r.used);
  int status = DONE;
  for (int i = 0; i < args->n && status == DONE; i++) {
    Line l = {.number = i + 1,
              .kernel = shown_stem(args->at[i]),
              .file = tirc_strdup(memory, args->at[i])};
    status = end_line(&r, &l);
  }
  if (status == DONE) status = check_used(&r);
  return status;
}

int write_suite(const char *suite, const char *folder) {
  int status = suite ? NO
                     : complain("tirc bench --suite operators --write FOLDER",
                                "--write needs the name of a suite");
  for (int i = 0; i < N_SUITES && status == NO; i++) {
    if (strcmp(suites[i].name, suite) != 0) continue;
    status = make_folder(folder);
    if (status == DONE)
      status = write_into_folder(folder, tirc_format(memory, "%s.suite", suite), suites[i].text);
  }
  if (status == NO) return no_suite(suite, NULL);
  for (int i = 0; i < N_PROGRAMS && status == DONE; i++)
    if (strcmp(programs[i].suite, suite) == 0)
      status = write_into_folder(folder, programs[i].name, programs[i].text);
  return status;
}
