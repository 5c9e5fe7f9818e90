/* What may stand where the cursor is: commands, primitives, keyword arguments, blocks, loops and
 * the names that the session has assigned. */
#include "ir/ascii.h"
#include "repl.h"

#include <string.h>

typedef struct Taker {
  const Repl *r;
  const char *prefix; /* of length n */
  size_t n;
  void (*take)(void *self, const char *word);
  void *self;
} Taker;

static void offer(const Taker *t, const char *word) {
  if (strncmp(word, t->prefix, t->n) == 0) t->take(t->self, word);
}

static void offer_with(const Taker *t, const char *word, const char *end) {
  char text[256];
  if (snprintf(text, sizeof text, "%s%s", word, end) < (int)sizeof text) offer(t, text);
}

static void offer_variables(const Taker *t) {
  for (int line = 0; line < t->r->n; line++) {
    size_t at = 0;
    for (char *name; (name = next_variable(t->r->lines[line], &at)) != NULL;) offer(t, name);
  }
}

static void offer_nodes(const Taker *t, tirc_node_kind kind) {
  const tirc_view *v = program_now(t->r);
  for (int i = 0; i < v->n; i++)
    if (v->nodes[i].kind == kind) offer(t, v->nodes[i].name);
}

/* --- the language ----------------------------------------------------------------------------- */

static void offer_primitives(const Taker *t, const char *end) {
  tirc_primitive_info p;
  for (int i = 0; tirc_primitive_table(i, &p); i++) offer_with(t, p.name, end);
}

static void offer_schedule(const Taker *t) {
  static const char *const others[] = {"copy(", "get(", "mod", "seed(", "show(", "target", "trace"};
  offer_primitives(t, "(");
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) offer(t, others[i]);
}

static void offer_names(const Taker *t) {
  static const char *const words[] = {
      "and",     "assert",     "break",  "continue", "def",   "elif",
      "else",    "enumerate(", "except", "False",    "for",   "if",
      "import",  "in",         "is",     "lambda",   "len(",  "list(",
      "max(",    "min(",       "None",   "not",      "or",    "pass",
      "print(",  "raise",      "range(", "return",   "sch.",  "ScheduleError",
      "sorted(", "sum(",       "True",   "try",      "while", "zip("};
  offer_variables(t);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) offer(t, words[i]);
}

/* The primitive whose arguments the cursor stands in, or -1. */
static int open_call(const char *text, size_t n) {
  tirc_primitive_info p;
  int depth = 0;
  for (; n > 0; n--) {
    depth += strchr(")]}", text[n - 1]) ? 1 : strchr("([{", text[n - 1]) ? -1 : 0;
    if (depth < 0 && text[n - 1] == '(') break;
    depth = depth < 0 ? 0 : depth; /* in a list of the call */
  }
  if (n == 0) return -1;
  size_t end = n - 1, start = end;
  while (start > 0 && tirc_is_word(text[start - 1])) start--;
  for (int i = 0; end > start && tirc_primitive_table(i, &p); i++)
    if (strlen(p.name) == end - start && !strncmp(p.name, text + start, end - start)) return i;
  return -1;
}

static void offer_keywords(const Taker *t, int primitive) {
  tirc_primitive_info p;
  const char *name, *value;
  for (int k = 0; tirc_primitive_table(primitive, &p) && k < p.n_params; k++)
    if (k != p.star && tirc_primitive_param(primitive, k, &name, &value)) offer_with(t, name, "=");
}

/* --- commands --------------------------------------------------------------------------------- */

static void offer_commands(const Taker *t) {
  for (int i = 0; i < n_repl_commands; i++) offer(t, repl_commands[i].name);
}

static void offer_topics(const Taker *t) {
  tirc_error_info e;
  tirc_definition_info d;
  offer_commands(t);
  offer_primitives(t, "");
  for (int i = 0; tirc_error_table(i, &e); i++) offer(t, e.code);
  for (int i = 0; tirc_definition_table(i, &d); i++) offer(t, d.name);
}

static const ReplCommand *command_of(const char *text, size_t n) {
  for (int i = 0; i < n_repl_commands; i++) {
    size_t m = strlen(repl_commands[i].name);
    if (n > m && strncmp(text, repl_commands[i].name, m) == 0 && text[m] == ' ')
      return &repl_commands[i];
  }
  return NULL;
}

/* False when the argument is of the script language. */
static bool offer_argument(const Taker *t, const ReplCommand *c) {
  if (!c->argument || strstr(c->argument, "CALL")) return false;
  if (strstr(c->argument, "NAME")) offer_topics(t);
  if (strstr(c->argument, "BLOCK")) offer_nodes(t, TIRC_BLOCK);
  if (strstr(c->argument, "LOOP")) offer_nodes(t, TIRC_LOOP), offer_variables(t);
  return true;
}

static bool in_string(const char *text, size_t n) {
  char quote = 0;
  for (size_t i = 0; i < n; i++)
    if (quote ? text[i] == quote : text[i] == '"' || text[i] == '\'') quote = quote ? 0 : text[i];
  return quote;
}

size_t complete_line(const Repl *r, const char *text, size_t n,
                     void (*take)(void *self, const char *word), void *self) {
  size_t start = n, indent = strspn(text, " \t");
  const ReplCommand *c = command_of(text, n);
  bool topic = c && c->argument && strstr(c->argument, "NAME"); /* codes have hyphens */
  while (start > 0 && (tirc_is_word(text[start - 1]) || (topic && text[start - 1] == '-'))) start--;
  Taker t = {r, text + start, n - start, take, self};
  int primitive;
  if (in_string(text, start))
    offer_nodes(&t, TIRC_BLOCK);
  else if (start > 0 && text[start - 1] == '.') {
    if (start >= 4 && strncmp(text + start - 4, "sch", 3) == 0) offer_schedule(&t);
  } else if (start == indent)
    offer_commands(&t), offer_names(&t);
  else if (c && offer_argument(&t, c))
    return t.n;
  else {
    if ((primitive = open_call(text, start)) >= 0) offer_keywords(&t, primitive);
    offer_names(&t);
  }
  return t.n;
}
