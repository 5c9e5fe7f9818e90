/* The names that a script assigns to. */
#include "ir/ascii.h"
#include "next.h"

#include <string.h>

/* The "=" of an assignment in a line, or its end. */
static const char *find_assignment(const char *s) {
  int depth = 0;
  for (; *s && *s != '\n' && *s != '#' && *s != '"' && *s != '\''; s++) {
    depth += strchr("([{", *s) ? 1 : strchr(")]}", *s) ? -1 : 0;
    if (*s == '=' && depth == 0) return s[1] == '=' ? s + strlen(s) : s;
    if (strchr("<>!", *s) && s[1] == '=') s++;
  }
  return s + strlen(s);
}

/* Where the names end that a line (from `start`) assigns to. */
static const char *end_of_targets(const char *start) {
  start += strspn(start, " \t");
  const char *end = strncmp(start, "for ", 4) == 0   ? strstr(start, " in ")
                    : strncmp(start, "def ", 4) == 0 ? strchr(start, '(')
                                                     : find_assignment(start);
  return end && *end ? end : start;
}

static bool is_plain(const char *word, size_t n) {
  return !tirc_is_digit(*word) && !(n == 3 && !strncmp(word, "for", n)) &&
         !(n == 3 && !strncmp(word, "def", n)) && !(n == 3 && !strncmp(word, "sch", n));
}

char *next_variable(const char *text, size_t *at) {
  while (text[*at]) {
    const char *start = text + *at, *end = end_of_targets(start);
    while (start < end && !tirc_is_word(*start)) start++;
    size_t n = 0;
    while (start + n < end && tirc_is_word(start[n])) n++;
    if (n) {
      bool first = start == text || start[-1] != '.';
      *at = (size_t)(start + n - text);
      if (first && is_plain(start, n)) return tirc_strndup(memory, start, n);
    } else {
      *at += strcspn(text + *at, "\n");
      *at += text[*at] != 0;
    }
  }
  return NULL;
}
