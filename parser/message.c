/* Syntax errors in words: what was found, what would have fitted, and what to do. */
#include "ir/utf8.h"
#include "tree.h"

static bool expects(int n, const char *const *expected, const char *token) {
  for (int i = 0; i < n; i++)
    if (strcmp(expected[i], token) == 0) return true;
  return false;
}

/* The token as it is written. */
static const char *found(Parser *p, Place at, const char *token) {
  static const char *const unwritten[][2] = {{"end of line", "the end of the line"},
                                             {"indent", "an indented line"},
                                             {"dedent", "the end of the indented block"},
                                             {"end of file", "the end of the file"}};
  for (size_t i = 0; i < sizeof unwritten / sizeof *unwritten; i++)
    if (strcmp(token, unwritten[i][0]) == 0) return unwritten[i][1];
  size_t n = at.last_offset - at.first_offset;
  const char *text = p->text + at.first_offset;
  const char *eol = memchr(text, '\n', n);
  if (eol) n = (size_t)(eol - text);
  if (n > 40) {
    for (n = 40; n && tirc_utf8_continues(text[n]);) n--;
    return tirc_format(p->c, "'%.*s...'", (int)n, text);
  }
  return tirc_format(p->c, "'%.*s'", (int)n, text);
}

static const char *quoted(Parser *p, const char *token) {
  static const char *const classes[] = {"end of line", "name",   "number",
                                        "string",      "indent", "augmented assignment"};
  for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
    if (strcmp(token, classes[i]) == 0) return token;
  return token[0] == '\'' ? token : tirc_format(p->c, "'%s'", token);
}

/* A few alternatives are a help, many are noise. */
static const char *list_expected(Parser *p, int n, const char *const *expected) {
  enum { FEW = 3 };
  Text t = {.c = p->c};
  if (n == 0 || n > FEW) return "";
  for (int i = 0; i < n; i++) {
    const char *between = i == 0 ? "" : i + 1 < n ? ", " : " or ";
    tirc_text_addf(&t, "%s%s", between, quoted(p, expected[i]));
  }
  return tirc_format(p->c, "; expected %s", t.at);
}

/* Where a comma fits, what can follow one stands: f(a b), and for i j in. */
static bool lacks_comma(const Parser *p, const char *token, int n, const char *const *expected) {
  static const char *const first[] = {"name", "number", "string", "not", "lambda", "None",
                                      "True", "False",  "'('",    "'['", "'{'",    "'~'"};
  bool starts = false;
  for (size_t i = 0; i < sizeof first / sizeof *first; i++) starts |= !strcmp(token, first[i]);
  bool in_for = p->line_keyword && strcmp(p->line_keyword, "for") == 0;
  return starts && (p->brackets.n || in_for) && expects(n, expected, "','");
}

static bool has_keyword(const Parser *p) { return p->line_keyword && *p->line_keyword; }

static const char *hint_for(Parser *p, Place at, const char *token, int n,
                            const char *const *expected) {
  const char *comma = lacks_comma(p, token, n, expected)
                          ? tirc_format(p->c, "a comma is missing before %s", found(p, at, token))
                          : NULL;
  if (p->brackets.n && at.first_line > p->brackets.at[p->brackets.n - 1].line) {
    Bracket b = p->brackets.at[p->brackets.n - 1];
    return tirc_format(p->c, "the '%c' opened at line %d, column %d is still open here%s%s", b.open,
                       b.line, b.column, comma ? ", or " : "", comma ? comma : "");
  }
  if (comma) return comma;
  const char *start = p->text + at.first_offset;
  while (start > p->text && start[-1] != '\n') start--;
  start += strspn(start, " ");
  const char *end = p->text + at.first_offset;
  while (end > start && end[-1] == ' ') end--;
  if (strcmp(token, "end of line") == 0 && end > start && end[-1] == ':' && !has_keyword(p))
    return strncmp(start, "T.", 2) == 0 && strncmp(start, "T.grid", 6) != 0
               ? tirc_format(p->c, "write 'with' before it: 'with %.*s'", (int)(end - start), start)
               : "a line that ends with ':' begins with a word such as with, for or if";
  if (strncmp(start, "print ", 6) == 0) return "print is a function: print(...)";
  if (strcmp(token, "'='") == 0 && (expects(n, expected, "':'") || p->line_keyword))
    return "a comparison is written '=='";
  if (strcmp(token, "else") == 0 || strcmp(token, "elif") == 0 || strcmp(token, "except") == 0)
    return "it must be indented as the statement that it belongs to";
  return NULL;
}

void tirc_syn_unexpected(Parser *p, Place at, const char *token, int n,
                         const char *const *expected) {
  const char *what = found(p, at, token);
  const char *keyword = p->line_keyword && *p->line_keyword ? p->line_keyword : NULL;
  const char *hint = hint_for(p, at, token, n, expected);
  int line = at.first_line, column = at.first_column;
  if (expects(n, expected, "indent"))
    tirc_syn_fail(p, line, column, "indent the statements that belong to it",
                  "expected an indented block, found %s", what);
  if (strcmp(token, "indent") == 0)
    tirc_syn_fail(p, line, at.last_column, "only the line after a ':' may be indented further",
                  "unexpected indentation");
  bool opens =
      keyword && strstr(" if elif else for while with def class try except finally ", keyword);
  if (opens && !p->brackets.n && (expects(n, expected, "':'") || n == 0) &&
      (strcmp(token, "end of line") == 0 || expects(n, expected, "':'")))
    tirc_syn_fail(p, line, column, hint, "expected ':' after '%s ...', found %s", keyword, what);
  if (strncmp(what, "the ", 4) == 0) what += 4;
  tirc_syn_fail(p, line, column, hint, "unexpected %s%s", what, list_expected(p, n, expected));
}
