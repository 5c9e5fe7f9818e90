/* `tirc explain`: the library's tables of errors, primitives, terms and passes, for reading. */
#include "teach.h"

#include <string.h>

static bool names(const int *errors, int error) {
  for (; *errors >= 0; errors++)
    if (*errors == error) return true;
  return false;
}

/* Who raises an error. */
static void print_raisers(int error) {
  tirc_primitive_info p;
  const int limit = text_width(stdout) < 86 ? text_width(stdout) - 2 : 84;
  int column = 0, n = 0, raisers = 0;
  for (; tirc_primitive_table(n, &p); n++) raisers += tirc_primitive_raises(n, error);
  if (raisers == n) {
    puts("\nRaised by any primitive.");
    return;
  }
  for (int i = 0; tirc_primitive_table(i, &p); i++) {
    if (!tirc_primitive_raises(i, error)) continue;
    int width = (int)strlen(p.name) + 2;
    if (!column) printf("\nRaised by ");
    if (column + width > limit)
      column = printf(",\n    ") - 2;
    else if (column)
      column += printf(", ");
    column += printf("%s", p.name);
  }
  if (column) puts(".");
}

/* The definitions that an error is about. */
static void print_terms(int error) {
  tirc_definition_info d;
  for (int k = 0; tirc_definition_table(k, &d); k++) {
    if (!names(d.errors, error)) continue;
    printf("\n%s:\n", d.name);
    put_text(stdout, 4, false, d.text);
  }
}

void explain_terms(const char *code) {
  tirc_error_info e;
  for (int i = 0; tirc_error_table(i, &e); i++)
    if (strcmp(e.code, code) == 0) print_terms(i);
}

/* False when there is no error of the code. */
static bool explain_error(const char *wanted, int *status) {
  tirc_error_info e;
  for (int i = 0; tirc_error_table(i, &e); i++) {
    if (!same_name(e.code, wanted)) continue;
    printf("%s (%s)\n    ", e.code,
           e.status == TIRC_NO ? "a ScheduleError" : "a mistake in the call itself");
    print_wrapped(4, e.title);
    printf("    What to do: ");
    put_wrapped(stdout, 16, 4, e.hint);
    print_terms(i);
    print_raisers(i);
    *status = explain_case(e.code);
    return true;
  }
  return false;
}

static const struct {
  const char *word, *term;
} synonyms[] = {
#define SYNONYM(word, term) {word, term},
#include "synonyms.def"
#undef SYNONYM
};
enum { N_SYNONYMS = sizeof synonyms / sizeof *synonyms };

bool synonym(int i, const char **word, const char **term) {
  if (i >= N_SYNONYMS) return false;
  *word = synonyms[i].word;
  *term = synonyms[i].term;
  return true;
}

static bool explain_definition(const char *wanted) {
  tirc_definition_info d;
  tirc_error_info e;
  for (int i = 0; i < N_SYNONYMS; i++)
    if (same_name(synonyms[i].word, wanted)) wanted = synonyms[i].term;
  for (int i = 0; tirc_definition_table(i, &d); i++) {
    if (!same_name(d.name, wanted)) continue;
    printf("%s\n", d.name);
    put_text(stdout, 4, false, d.text);
    for (int k = 0; d.errors[k] >= 0 && tirc_error_table(d.errors[k], &e); k++) {
      if (!k) puts("\nErrors that are about it:");
      print_row(e.code, e.title);
    }
    return true;
  }
  return false;
}

static const struct {
  const char *code, *meaning;
} other_codes[] = {
#define ERROR(id, code, title, hint)
#define ARGUMENT_ERROR(id, code, title, hint)
#define CODE(id, code, meaning) {code, meaning},
#include "ir/codes.def"
#undef CODE
#undef ARGUMENT_ERROR
#undef ERROR
};
enum { N_OTHER_CODES = sizeof other_codes / sizeof *other_codes };

const char *code_meaning(const char *code) {
  for (int i = 0; i < N_OTHER_CODES; i++)
    if (strcmp(other_codes[i].code, code) == 0) return other_codes[i].meaning;
  return NULL;
}

static bool explain_other(const char *wanted, int *status) {
  for (int i = 0; i < N_OTHER_CODES; i++) {
    const char *code = other_codes[i].code;
    if (!same_name(code, wanted)) continue;
    printf("%s\n    ", code);
    print_wrapped(4, other_codes[i].meaning);
    *status = explain_case(code);
    return true;
  }
  return false;
}

static bool explain_pass(const char *wanted);
/* One that only `tirc lower --only` runs, or another name of one. */
static bool explain_pass_alone(const char *wanted) {
  const char *name, *help, *of;
  for (int i = 0; tirc_pass_alone_table(i, &name, &help, &of); i++) {
    if (!same_name(name, wanted)) continue;
    if (!help) return explain_pass(of);
    printf("%s (a pass of `tirc lower --only` alone)\n    ", name);
    print_wrapped(4, help);
    return true;
  }
  return false;
}

static bool explain_pass(const char *wanted) {
  const char *name, *help;
  for (int i = 0; tirc_pass_table(i, &name, &help); i++) {
    const char *dot = strrchr(name, '.');
    if (!same_name(name, wanted) && !(dot && same_name(dot + 1, wanted))) continue;
    printf("%s (lowering pass number %d)\n    ", name, i + 1);
    print_wrapped(4, help);
    return true;
  }
  return explain_pass_alone(wanted);
}

/* The phases of models, each with its passes. */
static void list_phases(void) {
  tirc_phase_info row;
  int last = -1;
  for (int i = 0; tirc_phase_table(i, &row); i++) {
    if (row.phase != last) {
      printf("%sPhase %d, %s: ", i ? "\n" : "", row.phase, row.phase_name);
      print_wrapped(2, row.phase_help);
    }
    last = row.phase;
    print_row(row.name, row.help);
  }
}

static bool explain_phase(const char *wanted) {
  tirc_phase_info row;
  bool found = false;
  if (same_name("passes", wanted)) {
    list_phases();
    return true;
  }
  for (int i = 0; tirc_phase_table(i, &row); i++) {
    if (same_name(row.phase_name, wanted) && !found)
      printf("%s (phase %d of models)\n    %s\n", row.phase_name, row.phase, row.phase_help);
    if (same_name(row.phase_name, wanted)) print_row(row.name, row.help);
    found |= same_name(row.phase_name, wanted);
  }
  for (int i = 0; !found && tirc_phase_table(i, &row); i++) {
    if (!same_name(row.name, wanted)) continue;
    printf("%s (a pass of phase %d, %s)\n    ", row.name, row.phase, row.phase_name);
    print_wrapped(4, row.help);
    return true;
  }
  return found;
}

static void list_passes_alone(void) {
  const char *name, *help, *of;
  puts("\nPasses that only `tirc lower --only` runs:");
  for (int i = 0; tirc_pass_alone_table(i, &name, &help, &of); i++)
    print_row(name, help ? help : tirc_format(memory, "is %s.", of));
}

static void list_all(void) {
  tirc_primitive_info p;
  tirc_error_info e;
  tirc_definition_info d;
  const char *name, *help;
  puts("Schedule primitives:");
  for (int i = 0; tirc_primitive_table(i, &p); i++) print_row(p.name, p.help);
  puts("\nScheduleErrors:");
  for (int i = 0; tirc_error_table(i, &e); i++)
    if (e.status == TIRC_NO) print_row(e.code, e.title);
  puts("\nMistakes in the call itself:");
  for (int i = 0; tirc_error_table(i, &e); i++)
    if (e.status == TIRC_BAD) print_row(e.code, e.title);
  puts("\nOther diagnostics:");
  for (int i = 0; i < N_OTHER_CODES; i++) print_row(other_codes[i].code, other_codes[i].meaning);
  puts("\nTerms:");
  char *terms = NULL;
  size_t size = 0;
  FILE *f = begin_text(&terms, &size);
  for (int i = 0; tirc_definition_table(i, &d); i++) fprintf(f, "%s%s", i ? ", " : "", d.name);
  (void)end_text(f, &terms);
  printf("  ");
  print_wrapped(2, terms ? terms : "");
  puts("\nLowering passes, in order:");
  for (int i = 0; tirc_pass_table(i, &name, &help); i++) print_row(name, help);
  list_passes_alone();
  puts("\nPhases of models: `tirc explain passes`.");
  puts("\nThe language of programs and scripts: `tirc explain language`; `tirc explain T.exp` a "
       "function of it.");
  puts("\n`tirc explain NAME` says more of each.");
}

static void list_codes(void) {
  tirc_error_info e;
  for (int i = 0; tirc_error_table(i, &e); i++) puts(e.code);
}

/* A term's plural is the term, too. */
static bool explain_plural(const char *name) {
  size_t n = strlen(name);
  char *singular = n > 2 && name[n - 1] == 's' ? tirc_strndup(memory, name, n - 1) : NULL;
  return singular && explain_definition(singular);
}

bool explain_name(const char *name, int *status) {
  return explain_primitive(name) || explain_error(name, status) || explain_definition(name) ||
         explain_pass(name) || explain_phase(name) || explain_other(name, status) ||
         explain_language(name) || explain_plural(name);
}

/* --- words that are no names ------------------------------------------------------------------ */

/* Name number i of all that can be explained; NULL behind the last. */
static const char *explained_name(int i) {
  tirc_primitive_info p;
  tirc_error_info e;
  tirc_definition_info d;
  const char *name, *help;
  int n = 0;
  for (; tirc_primitive_table(n, &p); n++)
    if (n == i) return p.name;
  i -= n;
  for (n = 0; tirc_error_table(n, &e); n++)
    if (n == i) return e.code;
  i -= n;
  if (i < N_OTHER_CODES) return other_codes[i].code;
  i -= N_OTHER_CODES;
  for (n = 0; tirc_definition_table(n, &d); n++)
    if (n == i) return d.name;
  i -= n;
  if (i < N_SYNONYMS) return synonyms[i].word;
  i -= N_SYNONYMS;
  return tirc_pass_table(i, &name, &help) ? name : NULL;
}

enum { SIMILAR = 4 };

typedef struct Similar { /* names that a word is a part of */
  const char *word;
  int n;
  char hint[256];
} Similar;

static void offer_similar(Similar *s, const char *dashes, const char *name) {
  if (strlen(s->word) < 3 || s->n == SIMILAR || !strstr(name, s->word)) return;
  char *quoted = tirc_format(memory, "'%s%s'", dashes, name);
  if (strstr(s->hint, quoted)) return;
  size_t used = strlen(s->hint);
  snprintf(s->hint + used, sizeof s->hint - used, "%s%s", s->n++ ? ", " : "did you mean ", quoted);
}

static void offer_similar_name(void *s, const char *name) { offer_similar(s, "", name); }

/* "did you mean 'a', 'b' or 'c'?", or NULL */
static const char *names_with(Similar *s) {
  const char *name;
  for (int i = 0; (name = explained_name(i)); i++) offer_similar(s, "", name);
  each_language_name(offer_similar_name, s);
  const OptionRow *o;
  const int n_names = s->n;
  for (int i = 0; (o = option_row(i)); i++) offer_similar(s, "--", o->name);
  if (!s->n) return NULL;
  char *comma = s->n > 1 ? strrchr(s->hint, ',') : NULL;
  if (comma)
    snprintf(comma, sizeof s->hint - (size_t)(comma - s->hint), " or %s", copied(comma + 2));
  size_t used = strlen(s->hint);
  snprintf(s->hint + used, sizeof s->hint - used, "?%s",
           s->n > n_names ? " `tirc COMMAND --help-all` explains options" : "");
  return s->hint;
}

static void offer_name(void *best, const char *name) { tirc_offer_name(best, name, strlen(name)); }

int explain_or_command(const char *what) {
  const char *name;
  int status = DONE;
  const Command *c = find_command(what);
  if (explain_name(what, &status)) {
    if (c) printf("\n%s is a command, too: `tirc %s --help`.\n", c->name, c->name);
    return status;
  }
  if (c) {
    print_command_help(c, false, stdout);
    return DONE;
  }
  const bool is_function = strncmp(what, "T.", 2) == 0;
  const char *word = is_function ? what + 2 : what;
  Nearest best = {.wanted = what, .n_wanted = strlen(what)};
  Nearest of_language = {.wanted = word, .n_wanted = strlen(word)};
  Similar similar = {.word = what};
  offer_command_names(&best);
  for (int i = 0; (name = explained_name(i)); i++) offer_name(&best, name);
  each_language_name(offer_name, &of_language);
  const char *hint = tirc_suggest_name(&best, "", NULL);
  if (!hint) hint = names_with(&similar);
  if (!hint) hint = tirc_suggest_name(&of_language, is_function ? "T." : "", NULL);
  return complain(hint ? hint : "`tirc explain` lists all",
                  "there is no command, error code, primitive, term, function or pass '%s'", what);
}

int cmd_explain(ExplainOptions *o) {
  if (o->codes) {
    list_codes();
    return DONE;
  }
  if (o->args.n == 0) {
    list_all();
    return DONE;
  }
  if (o->markdown) {
    if (!same_name(o->args.at[0], "language"))
      return complain("`tirc explain language --markdown`",
                      "only the language is written as Markdown");
    print_language(LANGUAGE_MARKDOWN);
    return DONE;
  }
  return explain_or_command(o->args.at[0]);
}
