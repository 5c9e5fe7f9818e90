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

/* OPTIONAL: a string that may be left out, which makes it ""; COUNT, SPAN: an INT and a REAL above
 * 0, which is what the field is where the option is not given. */
typedef enum Kind { FLAG, STRING, OPTIONAL, INT, COUNT, REAL, SPAN, LIST } Kind;
typedef struct Option {
  OptionRow row;
  Kind kind;
  size_t offset;
} Option;

static const Option options[] = {
#define ROW(usual, name, letter, kind, field, argument, commands, help)                            \
  {{name, letter, (kind) == LIST, (kind) == OPTIONAL, usual, argument, commands, help},            \
   kind,                                                                                           \
   offsetof(Options, field)},
#define OPTION(...) ROW(true, __VA_ARGS__)
#define MORE(...) ROW(false, __VA_ARGS__)
#include "options.def"
#undef MORE
#undef OPTION
#undef ROW
};
enum { N_OPTIONS = sizeof options / sizeof *options };

const OptionRow *option_row(int i) {
  return i < N_OPTIONS && options[i].row.help ? &options[i].row : NULL;
}

const Command commands[] = {
#define COMMAND(name, group, synopsis, summary, details, min, max, e1, d1, e2, d2)                 \
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
  for (const char *p = o->commands; (p = strstr(p, c->name)) != NULL; p += n)
    if ((p == o->commands || p[-1] == ' ') && (p[n] == ' ' || p[n] == 0)) return true;
  return false;
}

void add_to_list(List *l, const char *s) {
  one_more(l->at, l->n);
  l->at[l->n++] = s;
}

static const Option *find_option(const Command *c, const char *name, size_t n, char letter) {
  for (int i = 0; i < N_OPTIONS; i++) {
    const OptionRow *o = &options[i].row;
    bool same =
        letter ? o->letter == letter : strlen(o->name) == n && strncmp(o->name, name, n) == 0;
    if (same && takes_option(c, o)) return &options[i];
  }
  return NULL;
}

static bool needs_value(const Command *c, const Option *option) {
  complain(NULL, "tirc %s: --%s needs a value: %s", c->name, option->row.name,
           option->row.argument);
  return false;
}

static bool set_option(const Command *c, const Option *option, const char *value, Options *o) {
  char *field = (char *)o + option->offset, *end = NULL;
  if (option->kind == STRING && !*value) return needs_value(c, option);
  errno = 0;
  switch (option->kind) {
  case FLAG: *(bool *)field = true; return true;
  case STRING:
  case OPTIONAL: *(const char **)(void *)field = value; return true;
  case LIST: add_to_list((List *)(void *)field, value); return true;
  case INT:
  case COUNT: *(int64_t *)(void *)field = strtoll(value, &end, 10); break;
  case REAL:
  case SPAN: *(double *)(void *)field = tirc_parse_double(value, &end); break;
  }
  static const char *const kinds[] = {[INT] = "a number",
                                      [COUNT] = "a number from 1",
                                      [REAL] = "a number",
                                      [SPAN] = "a number above 0"};
  const bool is_real = option->kind == REAL || option->kind == SPAN;
  const double number = is_real ? *(double *)(void *)field : (double)*(int64_t *)(void *)field;
  const bool may_be_0 = option->kind == INT || option->kind == REAL;
  if (*value && !*end && !errno && *value != '-' && !tirc_is_space(*value) && isfinite(number) &&
      (may_be_0 || number > 0))
    return true;
  complain(NULL, "tirc %s: --%s takes %s, not '%s'", c->name, option->row.name, kinds[option->kind],
           value);
  return false;
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
static bool parse_option(const Command *c, int argc, char **argv, int *i, Options *o) {
  const char *word = argv[*i];
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
  const char *next = *i + 1 < argc ? argv[*i + 1] : NULL;
  if (option->kind == OPTIONAL && !value && (!next || *next == '-')) value = "";
  if (option->kind != FLAG && !value) {
    if (*i + 1 == argc) return needs_value(c, option);
    value = argv[++*i];
  }
  return set_option(c, option, value, o);
}

static bool check_counts(const Command *c, const Options *o) {
  if (o->args.n >= c->min_args && (c->max_args < 0 || o->args.n <= c->max_args)) return true;
  char hint[80];
  snprintf(hint, sizeof hint, "tirc %s --help tells more", c->name);
  complain(hint, "usage: tirc %s %s", c->name, c->synopsis);
  return false;
}

/* A count that a machine may be asked for. */
static bool check_ranges(const Command *c, const Options *o) {
  if (o->threads <= MOST_THREADS) return true;
  complain(NULL, "tirc %s: --threads is at most %d, not %lld", c->name, MOST_THREADS,
           (long long)o->threads);
  return false;
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
static bool check_dialect(const Command *c, Options *o) {
  const char *given = o->dialect, *usual = getenv("TIRC_DIALECT");
  if (!given && usual && *usual) o->dialect = usual;
  if (!o->dialect || !strcmp(o->dialect, "tir") || !strcmp(o->dialect, "tirx")) return true;
  complain(NULL, "tirc %s: %s is tir or tirx, not '%s'", c->name,
           given ? "--dialect" : "$TIRC_DIALECT", o->dialect);
  return false;
}

bool parse_options(const Command *c, int argc, char **argv, Options *o) {
  bool only_args = false;
  const char *no_colour = getenv("NO_COLOR");
  speech.colour = isatty(2) && !(no_colour && *no_colour);
  speech.colour_out = isatty(1) && !(no_colour && *no_colour);
  speech.progress = isatty(2);
  for (int i = 0; i < argc; i++) {
    if (!only_args && strcmp(argv[i], "--") == 0)
      only_args = true;
    else if (only_args || argv[i][0] != '-' || !argv[i][1]) {
      add_to_list(&o->args, argv[i]);
    } else if (!parse_option(c, argc, argv, &i, o))
      return false;
  }
  if (o->tuned && strcmp(c->name, "bench") != 0) o->automatic = true;
  if (!check_dialect(c, o)) return false;
  const char *format = o->error_format;
  speech.json = format && strcmp(format, "json") == 0;
  speech.full = o->full;
  if (format && !speech.json && strcmp(format, "text") != 0) {
    complain(NULL, "tirc %s: --error-format is text or json, not '%s'", c->name, format);
    return false;
  }
  if (o->help || o->help_all || wants_targets(o)) return true;
  return check_counts(c, o) && check_ranges(c, o) && check_target(o) && check_device(o);
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
  char left[64], letter[8] = "";
  if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
  snprintf(left, sizeof left, "%s--%s%s%s%s", letter, o->name,
           o->optional   ? "[="
           : o->argument ? "="
                         : "",
           o->argument ? o->argument : "", o->optional ? "]" : "");
  char help[512];
  const int n = whole ? (int)strlen(o->help) : shortened(o->help, text_width(to) - COLUMN);
  snprintf(help, sizeof help, "%.*s%s", n, o->help, o->help[n] ? " ..." : "");
  put_row(to, COLUMN, left, help);
}

void print_command_help(const Command *c, bool all, FILE *to) {
  const char *end = strchr(c->summary, '?') ? "" : ".", *rest = strstr(c->details, "\n\n");
  const OptionRow *o;
  char title[256], first[512];
  int left_out = 0, shown = 0;
  snprintf(title, sizeof title, "%c%s%s", tirc_upper(c->summary[0]), c->summary + 1, end);
  snprintf(first, sizeof first, "%.*s", rest ? (int)(rest - c->details) : -1, c->details);
  fprintf(to, "usage: tirc %s [OPTION]... %s\n\n", c->name, c->synopsis);
  put_text(to, 0, false, title);
  put_text(to, 0, false, all ? c->details : first);
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
    char left[64];
    if (!i || strcmp(commands[i].group, commands[i - 1].group) != 0)
      fprintf(to, "\n%s:\n", commands[i].group);
    snprintf(left, sizeof left, "%s %s", commands[i].name, commands[i].synopsis);
    put_row(to, 31, left, commands[i].summary);
  }
  put_text(to, 0, false,
           "\n`tirc COMMAND --help` shows a command's options and examples.\n"
           "Exit status: 0 done; 1 the answer is no (a ScheduleError, a failed check, not equal);\n"
           "2 bad usage, syntax or file.\n\n");
  fputs("Examples:\n", to);
  print_examples(examples, to);
}
