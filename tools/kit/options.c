/* One parser for the options of all subcommands, driven by options.def. */
#include "ir/ascii.h"
#include "ir/number.h"
#include "kit.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* OPTIONAL: a string that may be left out, which makes it ""; WORD: one that stands behind =, if at
 * all; COUNT, SPAN: an INT and a REAL above
 * 0, which is what the field is where the option is not given. */
typedef enum Kind {
  FLAG,
  STRING,
  OPTIONAL,
  WORD,
  TARGET,
  THREADS,
  INT,
  COUNT,
  REAL,
  SPAN,
  LIST
} Kind;
typedef struct Option {
  OptionRow row;
  Kind kind;
  size_t spoken; /* of a row COMMON: the field of Speech, behind its first */
} Option;

static const Option options[] = {
#define ROW(usual, name, letter, kind, field, argument, commands, help)                            \
  {{name, letter, (kind) == LIST, (kind) == OPTIONAL || (kind) == WORD, usual, argument, commands, \
    help},                                                                                         \
   kind,                                                                                           \
   field},
#define OPTION(name, letter, kind, type, field, ...) ROW(true, name, letter, kind, 0, __VA_ARGS__)
#define MORE(name, letter, kind, type, field, ...) ROW(false, name, letter, kind, 0, __VA_ARGS__)
#define COMMON(name, letter, kind, field, ...)                                                     \
  ROW(false, name, letter, kind, offsetof(Speech, field), __VA_ARGS__)
#include "options.def"
#undef COMMON
#undef MORE
#undef OPTION
#undef ROW
};
enum { N_OPTIONS = sizeof options / sizeof *options };

const OptionRow *option_row(int i) {
  return i < N_OPTIONS && options[i].row.help ? &options[i].row : NULL;
}

const Command commands[] = {
#define COMMAND(name, type, group, synopsis, summary, details, min, max, e1, d1, e2, d2)           \
  {#name, group, synopsis, summary, details, {{e1, d1}, {e2, d2}}, min, max},
#include "commands.def"
#undef COMMAND
};
const int n_commands = sizeof commands / sizeof *commands;

const Command *find_command(const char *name) {
  for (int i = 0; i < n_commands; i++)
    if (strcmp(commands[i].name, name) == 0) return &commands[i];
  return NULL;
}

void offer_command_names(Nearest *best) {
  for (int i = 0; i < n_commands; i++)
    tirc_offer_name(best, commands[i].name, strlen(commands[i].name));
}

bool takes_option(const Command *c, const OptionRow *o) {
  size_t n = strlen(c->name);
  if (!o->commands) return true;
  for (const char *p = o->commands; (p = strstr(p, c->name)) != NULL; p += n)
    if ((p == o->commands || p[-1] == ' ') && (p[n] == ' ' || p[n] == 0)) return true;
  return false;
}

void add_to_list(List *l, const char *s) { *one_more(l->at, l->n) = s; }

static const Option *find_option(const Command *c, const char *name, size_t n, char letter) {
  for (int i = 0; i < N_OPTIONS; i++) {
    const OptionRow *o = &options[i].row;
    bool same =
        letter ? o->letter == letter : strlen(o->name) == n && strncmp(o->name, name, n) == 0;
    if (same && takes_option(c, o)) return &options[i];
  }
  return NULL;
}

typedef struct Parsing {
  const Command *c;
  const size_t *places;
  char *o; /* the struct of the command's options */
  int argc;
  char **argv;
} Parsing;

static bool needs_value(const Command *c, const Option *option) {
  complain(NULL, "tirc %s: --%s needs a value: %s", c->name, option->row.name,
           option->row.argument);
  return false;
}

static void *place_of(const Parsing *p, const Option *option) {
  return option->spoken ? (char *)&speech + option->spoken : p->o + p->places[option - options];
}

static bool set_number(const Command *c, const Option *option, const char *value, void *field) {
  static const char *const kinds[] = {[THREADS] = "a number",
                                      [INT] = "a number",
                                      [COUNT] = "a number from 1",
                                      [REAL] = "a number",
                                      [SPAN] = "a number above 0"};
  const bool is_real = option->kind == REAL || option->kind == SPAN;
  const bool may_be_0 = option->kind != COUNT && option->kind != SPAN;
  char *end = NULL;
  errno = 0;
  const int64_t whole = is_real ? 0 : strtoll(value, &end, 10);
  const double number = is_real ? tirc_parse_double(value, &end) : (double)whole;
  if (!*value || *end || errno || *value == '-' || tirc_is_space(*value) || !isfinite(number) ||
      (!may_be_0 && number <= 0)) {
    complain(NULL, "tirc %s: --%s takes %s, not '%s'", c->name, option->row.name,
             kinds[option->kind], value);
    return false;
  }
  if (option->kind == THREADS && whole > MOST_THREADS) {
    complain(NULL, "tirc %s: --%s is at most %d, not %lld", c->name, option->row.name, MOST_THREADS,
             (long long)whole);
    return false;
  }
  if (option->kind == THREADS)
    *(int *)field = (int)whole;
  else if (is_real)
    *(double *)field = number;
  else
    *(int64_t *)field = whole;
  return true;
}

static bool set_option(const Parsing *p, const Option *option, const char *value) {
  void *field = place_of(p, option);
  switch (option->kind) {
  case FLAG: *(bool *)field = true; return true;
  case LIST: add_to_list(field, value); return true;
  case TARGET: speech.targets |= strcmp(value, "help") == 0; /* fall through */
  case STRING:
    if (!*value) return needs_value(p->c, option); /* fall through */
  case WORD:
  case OPTIONAL: *(const char **)field = value; break;
  default: return set_number(p->c, option, value, field);
  }
  return option->kind != TARGET || speech.targets || check_target(value);
}

/* `name` is what stands after the dashes. */
static bool no_such_option(const Command *c, const char *word, const char *name, size_t n) {
  Nearest best = {.wanted = name, .n_wanted = n};
  const OptionRow *o;
  for (int i = 0; (o = option_row(i)) != NULL; i++)
    if (takes_option(c, o)) tirc_offer_name(&best, o->name, strlen(o->name));
  complain(tirc_suggest_name(&best, "--", "see `tirc help` and the command's --help-all"),
           "tirc %s has no option '%s'", c->name, word);
  return false;
}

/* The option argv[*i], with its value, which may be the next word. */
static bool parse_option(const Parsing *p, int *i) {
  const Command *c = p->c;
  const char *word = p->argv[*i];
  bool is_long = word[1] == '-';
  const char *name = word + (is_long ? 2 : 1);
  size_t n = strcspn(name, "=");
  const Option *option = find_option(c, name, n, is_long ? 0 : *name);
  if (!option) return no_such_option(c, word, name, n);
  const char *value = is_long ? (name[n] ? name + n + 1 : NULL) : (name[1] ? name + 1 : NULL);
  if (option->kind == FLAG && value) {
    complain(NULL, "tirc %s: --%s takes no value", c->name, option->row.name);
    return false;
  }
  const char *next = *i + 1 < p->argc ? p->argv[*i + 1] : NULL;
  if (option->kind == OPTIONAL && !value && (!next || *next == '-')) value = "";
  if (option->kind == WORD && !value) value = "";
  if (option->kind != FLAG && !value) {
    if (!next) return needs_value(c, option);
    value = p->argv[++*i];
  }
  return set_option(p, option, value);
}

static bool check_counts(const Command *c, const List *args) {
  if (args->n >= c->min_args && (c->max_args < 0 || args->n <= c->max_args)) return true;
  char *hint = tirc_format(memory, "tirc %s --help tells more", c->name);
  complain(hint, "usage: tirc %s %s", c->name, c->synopsis);
  return false;
}

/* What a command has of that name; NULL: it takes no such option. */
static const void *given(const Parsing *p, const char *name) {
  const Option *option = find_option(p->c, name, strlen(name), 0);
  return option ? place_of(p, option) : NULL;
}

static bool check_names(const Parsing *p, const List *args) {
  const List *define = given(p, "define");
  const char *const *ablate = given(p, "ablate"); /* names a script, too */
  if (require_once("-D", define) || require_once("--in", given(p, "in")) ||
      require_once("--out", given(p, "out")))
    return false;
  return !define || (ablate && *ablate) || require_defines_used(args, define) == DONE;
}

bool wants_json(int argc, char **argv) {
  bool json = false;
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
    const char *value = strcmp(argv[i], "--error-format") == 0 ? argv[i + 1] : NULL;
    if (strncmp(argv[i], "--error-format=", 15) == 0) value = argv[i] + 15;
    if (value) json = strcmp(value, "json") == 0;
  }
  return json;
}

/* Of the option, or else of the environment. */
static bool check_dialect(const Command *c) {
  const char *given = speech.dialect, *usual = getenv("TIRC_DIALECT");
  if (!given && usual && *usual) speech.dialect = usual;
  if (!speech.dialect || !strcmp(speech.dialect, "tir") || !strcmp(speech.dialect, "tirx"))
    return true;
  complain(NULL, "tirc %s: %s is tir or tirx, not '%s'", c->name,
           given ? "--dialect" : "$TIRC_DIALECT", speech.dialect);
  return false;
}

/* Children that measure heed it, too. */
static void ready_calibration(void) {
  if (speech.no_calibration) setenv("TIRC_CALIBRATION", "off", 1);
}

static void ready_perf_map(void) {
  if (speech.perf_map) setenv("TIRC_PERF_MAP", "1", 1);
}

/* A folder that someone has named and that keeps nothing is worth a word; the usual one is not. */
static void ready_cache(const Command *c) {
  const char *set = getenv("TIRC_CACHE");
  tirc_code_cache cache;
  if (speech.no_code_cache) setenv("TIRC_CACHE", "off", 1); /* children that measure heed it, too */
  if (speech.no_code_cache || !set || !*set || !find_option(c, "no-code-cache", 13, 0) ||
      tirc_code_cache_look(false, &cache, NULL) != TIRC_OK || !*cache.problem)
    return;
  warn_about(NULL, NULL, 0, 0,
             tirc_format(memory, "the code cache '%.200s': %s", set, cache.problem), "file");
}

bool parse_options(const Command *c, const size_t *places, int argc, char **argv, void *o) {
  const Parsing p = {c, places, o, argc, argv};
  List *args = o;
  bool only_args = false;
  const char *no_colour = getenv("NO_COLOR");
  speech.colour = isatty(2) && !(no_colour && *no_colour);
  speech.colour_out = isatty(1) && !(no_colour && *no_colour);
  speech.progress = isatty(2);
  for (int i = 0; i < argc; i++) {
    if (!only_args && strcmp(argv[i], "--") == 0)
      only_args = true;
    else if (only_args || argv[i][0] != '-' || !argv[i][1]) {
      add_to_list(args, argv[i]);
    } else if (!parse_option(&p, &i))
      return false;
  }
  if (!check_dialect(c)) return false;
  const char *format = speech.error_format;
  if (format && !speech.json && strcmp(format, "text") != 0) {
    complain(NULL, "tirc %s: --error-format is text or json, not '%s'", c->name, format);
    return false;
  }
  if (speech.help || speech.help_all || speech.targets) return true;
  if (!check_counts(c, args) || !check_names(&p, args)) return false;
  ready_calibration();
  ready_perf_map();
  ready_cache(c);
  return true;
}

enum { COLUMN = 29 }; /* of what is said of an option */

static void print_examples(const char *const examples[2][2], FILE *to) {
  for (int i = 0; i < 2; i++) {
    fprintf(to, "  %s\n      ", examples[i][0]);
    put_wrapped(to, 6, 6, examples[i][1]);
  }
}

/* How much of a help stands in one line: up to a semicolon, else as far as it goes. */
static int shortened(const char *help, int width) {
  static const char *const marks[] = {"; ", ": ", " (", ", "};
  int n = 0;
  if ((int)strlen(help) <= width) return (int)strlen(help);
  for (int i = 0; i < 4 && (i != 1 || !n); i++) {
    const char *at = strstr(help, marks[i]);
    if (at && at - help + 4 <= width && at - help > n) n = (int)(at - help);
  }
  return n ? n : (int)strlen(help);
}

static void print_option(const OptionRow *o, bool whole, FILE *to) {
  const char *letter = o->letter ? tirc_format(memory, "-%c, ", o->letter) : "";
  char *left = tirc_format(memory, "%s--%s%s%s%s", letter, o->name,
                           o->optional   ? "[="
                           : o->argument ? "="
                                         : "",
                           o->argument ? o->argument : "", o->optional ? "]" : "");
  const int n = whole ? (int)strlen(o->help) : shortened(o->help, text_width(to) - COLUMN);
  put_row(to, COLUMN, left, tirc_format(memory, "%.*s%s", n, o->help, o->help[n] ? " ..." : ""));
}

void print_command_help(const Command *c, bool all, FILE *to) {
  const char *end = strchr(c->summary, '?') ? "" : ".", *rest = strstr(c->details, "\n\n");
  const OptionRow *o;
  const int n = rest && !all ? (int)(rest - c->details) : -1;
  int left_out = 0, shown = 0;
  fprintf(to, "usage: tirc %s [OPTION]... %s\n\n", c->name, c->synopsis);
  put_text(to, 0, false,
           tirc_format(memory, "%c%s%s", tirc_upper(c->summary[0]), c->summary + 1, end));
  put_text(to, 0, false, tirc_format(memory, "%.*s", n, c->details));
  for (int i = 0; (o = option_row(i)) != NULL; i++) {
    if (!takes_option(c, o)) continue;
    if (!all && !o->usual) {
      left_out++;
      continue;
    }
    if (shown++ == 0) fprintf(to, "\nOptions:\n");
    print_option(o, all, to);
  }
  fprintf(to, "\nExamples:\n");
  print_examples((const char *const(*)[2])c->examples, to);
  if (!all)
    fprintf(to, "\n`tirc %s --help-all` shows %d more options%s.\n", c->name, left_out,
            rest ? ", and tells more" : "");
}

void print_usage(FILE *to) {
  static const char *const examples[2][2] = {
      {"tirc apply matmul.tir rule_based.sch", "run a schedule, print the program"},
      {"tirc bench matmul.tir baseline.sch rule_based.sch --vs openblas",
       "measure two schedules and a library"}};
  fprintf(to, "usage: tirc COMMAND [OPTION]... [ARGUMENT]...\n\n");
  put_text(to, 0, false,
           "A small TensorIR compiler: it checks, schedules, lowers, compiles, runs and measures\n"
           "loop-nest programs written in TVMScript.\n");
  for (int i = 0; i < n_commands; i++) {
    if (!i || strcmp(commands[i].group, commands[i - 1].group) != 0)
      fprintf(to, "\n%s:\n", commands[i].group);
    put_row(to, 31, tirc_format(memory, "%s %s", commands[i].name, commands[i].synopsis),
            commands[i].summary);
  }
  put_text(to, 0, false,
           "\n`tirc COMMAND --help` shows a command's options and examples.\n"
           "Exit status: 0 done; 1 the answer is no (a ScheduleError, a failed check, not equal);\n"
           "2 bad usage, syntax or file.\n\n");
  fputs("Examples:\n", to);
  print_examples(examples, to);
}
