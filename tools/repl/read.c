/* Statements from lines: one that is not finished goes on in the next line. Brackets, strings of
 * three quotes and a last backslash say so; what a colon opens goes on until an empty line on a
 * terminal, and until a line that is not indented from a pipe, as in a file. */
#include "ir/ascii.h"
#include "repl.h"
#include "tools/kit/input.h"

#include <errno.h>
#include <string.h>

typedef struct Scan { /* what is open at the end of a text */
  int brackets;
  char quote; /* of a string in three quotes, or 0 */
  bool joined;
  char last; /* what is no space or comment */
} Scan;

static bool three(const char *s) { return s[1] == s[0] && s[2] == s[0]; }

/* Behind the string that starts at s; *open is set when it goes on in another line. */
static const char *skip_string(const char *s, char quote, bool long_one, char *open) {
  for (; *s; s++) {
    if (*s == '\\' && s[1])
      s++;
    else if (*s == quote && (!long_one || three(s)))
      return s + (long_one ? 3 : 1);
    else if (*s == '\n' && !long_one)
      return s;
  }
  *open = long_one ? quote : 0;
  return s;
}

static Scan scan(const char *s) {
  Scan r = {0};
  while (*s) {
    r.joined = false;
    if (*s != '#' && !tirc_is_space(*s)) r.last = *s;
    if (*s == '#') {
      s += strcspn(s, "\n");
    } else if (*s == '"' || *s == '\'') {
      bool long_one = three(s);
      s = skip_string(s + (long_one ? 3 : 1), *s, long_one, &r.quote);
    } else {
      r.brackets += strchr("([{", *s) ? 1 : strchr(")]}", *s) ? -1 : 0;
      r.joined = *s == '\\' && s[1] == '\n';
      s += r.joined ? 2 : 1;
    }
  }
  return r;
}

static bool is_open(const char *text) {
  Scan s = scan(text);
  return s.brackets > 0 || s.quote || s.joined;
}

bool is_unfinished(const char *text) {
  size_t last = strlen(text);
  while (last && tirc_is_space(text[last - 1])) last--;
  while (last && text[last - 1] != '\n') last--;
  return is_open(text) || scan(text).last == ':' || text[last] == '@';
}

static bool is_blank(const char *line) { return line[strspn(line, " \t\r\n")] == 0; }

static bool starts_with_one_of(const char *line, const char *const *words) {
  for (; *words; words++) {
    size_t n = strlen(*words);
    if (strncmp(line, *words, n) == 0 && !tirc_is_word(line[n])) return true;
  }
  return false;
}

static bool opens_block(const char *line) {
  static const char *const words[] = {"if", "for", "while", "def", "try", "with", "class", NULL};
  return *line == '@' || starts_with_one_of(line, words);
}

/* Whether a line that is not indented belongs to the statement before it. */
static bool continues(const char *line) {
  static const char *const words[] = {"elif", "else", "except", "finally", NULL};
  return *line == ' ' || *line == '\t' || *line == '#' || is_blank(line) ||
         starts_with_one_of(line, words);
}

static char *read_line(Repl *r, const char *prompt, bool *dropped) {
  *dropped = false;
  if (r->pending) {
    char *line = r->pending;
    r->pending = NULL;
    return line;
  }
  if (r->editor) return edit_line(r->editor, prompt, dropped);
  enum { MOST_LINE = 1 << 20 };
  char *line = read_bounded_line(stdin, MOST_LINE);
  if (!line && errno == EFBIG) r->too_long = true;
  const size_t n = line ? strlen(line) : 0; /* a last line may have no end */
  return line && (!n || line[n - 1] != '\n') ? tirc_format(memory, "%s\n", line) : line;
}

char *read_statement(Repl *r) {
  enum { MOST_STATEMENT = 1 << 22 };
  bool dropped;
  size_t n = 0;
  char *line = read_line(r, "tirc> ", &dropped), *text = NULL;
  if (!line) return dropped ? tirc_strdup(memory, "") : NULL;
  const bool block = opens_block(line);
  bool decorated = *line == '@', inside;
  FILE *f = begin_text(&text, &n);
  fputs(line, f);
  for (fflush(f); (inside = is_open(text)) || block; fflush(f)) {
    line = read_line(r, "... ", &dropped);
    if (!line || (!inside && r->editor && is_blank(line))) break;
    if (!inside && !decorated && !continues(line)) {
      r->pending = line;
      break;
    }
    decorated = !inside && (*line == '@' || (decorated && is_blank(line)));
    fputs(line, f);
    r->too_long = n > MOST_STATEMENT;
    if (r->too_long) break;
  }
  end_text(f, &text);
  if (r->too_long) return NULL;
  return !line && dropped ? tirc_strdup(memory, "") : text;
}
