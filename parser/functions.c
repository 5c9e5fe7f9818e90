/* Which T.* functions there are: the reader's tables, in the order and the words of functions.def.
 */
#include "functions.h"

#include "reader.h"

typedef struct Line { /* a topic, or a row below it */
  const char *topic;
  FunctionWords row;
} Line;

static const Line lines[] = {
#define TOPIC(title) {title, {0}},
#define FUNCTION(names, types, help) {NULL, {NULL, names, types, help}},
#include "functions.def"
#undef TOPIC
#undef FUNCTION
};
enum { N_LINES = sizeof lines / sizeof *lines };

/* How well a word of a row's names means a name: by name before by its beginning. */
typedef enum Match { NOT, BY_BEGINNING, BY_NAME } Match;

static Match match_word(const char *word, size_t n, const char *name) {
  if (word[n - 1] == '*') return strncmp(word, name, n - 1) == 0 ? BY_BEGINNING : NOT;
  if (word[n - 1] != 'N') return strncmp(word, name, n) == 0 && !name[n] ? BY_NAME : NOT;
  if (strncmp(word, name, n - 1) != 0) return NOT;
  const char *digits = name + n - 1;
  size_t n_digits = strspn(digits, "0123456789");
  return n_digits && !digits[n_digits] ? BY_NAME : NOT;
}

static Match match_row(const char *names, const char *name) {
  Match best = NOT;
  for (const char *s = names; *(s += strspn(s, " "));) {
    size_t n = strcspn(s, " ");
    Match m = match_word(s, n, name);
    if (m > best) best = m;
    s += n;
  }
  return best;
}

bool tirc_function_row(int i, FunctionWords *out) {
  const char *topic = NULL;
  for (int l = 0; i >= 0 && l < N_LINES; l++) {
    if (lines[l].topic) {
      topic = lines[l].topic;
    } else if (i-- == 0) {
      *out = lines[l].row;
      out->topic = topic;
      return true;
    }
  }
  return false;
}

int tirc_row_of_function(const char *name) {
  int best = -1;
  Match by = NOT;
  for (int l = 0, i = 0; l < N_LINES; l++) {
    if (lines[l].topic) continue;
    Match m = match_row(lines[l].row.names, name);
    if (m > by) {
      by = m;
      best = i;
    }
    i++;
  }
  return best;
}

bool tirc_function_of_row(int i, int k, const char **name, const char **arguments) {
  const Function *f;
  FunctionWords row;
  if (!tirc_function_row(i, &row)) return false;
  for (int at = 0; (f = tirc_reader_function(at)); at++)
    if (match_row(row.names, f->name) && tirc_row_of_function(f->name) == i && k-- == 0) {
      *name = f->name;
      *arguments = f->signature;
      return true;
    }
  return false;
}
