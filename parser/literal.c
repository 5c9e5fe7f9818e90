/* Literals: what the digits of a number and the characters of a string stand for. The expressions
 * inside of an f-string are parsed as texts of their own that know where in the file they stand. */
#include "ir/number.h"
#include "ir/utf8.h"
#include "tree.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* --- numbers ---------------------------------------------------------------------------------- */

static int base_of(const char *digits) {
  static const char letters[] = "xXbBoO";
  static const int bases[] = {16, 16, 2, 2, 8, 8};
  const char *at = digits[0] == '0' && digits[1] ? strchr(letters, digits[1]) : NULL;
  return at ? bases[at - letters] : 10;
}

static Syn *integer(Parser *p, Place at, const char *digits) {
  Syn *s = tirc_syn_node(p, SYN_INT, at);
  int base = base_of(digits);
  const char *from = base == 10 ? digits : digits + 2;
  if (base == 10 && digits[0] == '0' && digits[strspn(digits, "0")])
    tirc_syn_fail(p, at.first_line, at.first_column, "octal numbers are written 0o17",
                  "a decimal number does not begin with 0");
  errno = 0;
  unsigned long long v = strtoull(from, NULL, base);
  if (errno)
    tirc_syn_fail(p, at.first_line, at.first_column, NULL, "the integer does not fit into 64 bits");
  if (v > INT64_MAX) s->op = "unsigned";
  s->i = (int64_t)v;
  return s;
}

Syn *tirc_syn_number(Parser *p, Place at, const char *text, size_t n) {
  char *digits = tirc_alloc(p->c, n + 1);
  size_t k = 0;
  for (size_t i = 0; i < n; i++)
    if (text[i] != '_') digits[k++] = text[i];
  bool is_float = base_of(digits) == 10 && strpbrk(digits, ".eE");
  if (!is_float) return integer(p, at, digits);
  Syn *s = tirc_syn_node(p, SYN_FLOAT, at);
  s->f = tirc_parse_double(digits, NULL);
  return s;
}

/* --- strings ---------------------------------------------------------------------------------- */

typedef struct StringToken {
  const char *at; /* between the quotes */
  size_t n;
  bool raw, format, bytes, triple;
  Place place;
  const char *known; /* a character whose place is known: `at`, or one further on */
  int line, column;
} StringToken;

static _Noreturn void bad_string(Parser *p, const StringToken *t, const char *why) {
  tirc_syn_fail(p, t->place.first_line, t->place.first_column, NULL, "%s", why);
}

static StringToken open_string(Parser *p, Place at, const char *text, size_t n) {
  StringToken t = {.place = at, .line = at.first_line};
  size_t i = 0;
  for (; text[i] != '\'' && text[i] != '"'; i++) {
    char ch = text[i];
    bool *flag = ch == 'r' || ch == 'R' ? &t.raw : ch == 'f' || ch == 'F' ? &t.format : &t.bytes;
    if (*flag || ((ch == 'u' || ch == 'U') && text[1] != '\'' && text[1] != '"'))
      bad_string(p, &t, "a string cannot have this prefix");
    if (ch != 'u' && ch != 'U') *flag = true;
  }
  if (t.format && t.bytes) bad_string(p, &t, "a string cannot have this prefix");
  t.triple = n - i >= 6 && text[i + 1] == text[i] && text[i + 2] == text[i];
  size_t quotes = t.triple ? 3 : 1;
  t.at = text + i + quotes;
  t.n = n - i - 2 * quotes;
  t.known = t.at;
  t.column = at.first_column + (int)(i + quotes);
  return t;
}

static void add_code_point(Text *out, unsigned v) {
  char s[4];
  size_t n = v < 0x80 ? 1 : v < 0x800 ? 2 : v < 0x10000 ? 3 : 4;
  static const unsigned lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
  for (size_t i = n; i-- > 1; v >>= 6) s[i] = (char)(0x80 | (v & 0x3F));
  s[0] = (char)(lead[n] | v);
  tirc_text_addn(out, s, n);
}

static bool hex(const char *s, const char *end, int digits, unsigned *out) {
  *out = 0;
  for (int i = 0; i < digits; i++) {
    static const char all[] = "0123456789abcdef0123456789ABCDEF";
    const char *at = s + i < end && s[i] ? strchr(all, s[i]) : NULL;
    if (!at) return false;
    *out = *out * 16 + (unsigned)((at - all) % 16);
  }
  return true;
}

/* One escape sequence; s stands behind the backslash. Returns where it ends. */
static const char *escape(Parser *p, const StringToken *t, Text *out, const char *s,
                          const char *end) {
  static const char letters[] = "\\'\"abfnrtv", values[] = "\\'\"\a\b\f\n\r\t\v";
  const char *simple = *s ? strchr(letters, *s) : NULL;
  unsigned v;
  if (*s == '\n') return s + 1;
  if (simple) {
    tirc_text_addn(out, &values[simple - letters], 1);
    return s + 1;
  }
  if (*s >= '0' && *s <= '7') {
    for (v = 0; s < end && *s >= '0' && *s <= '7' && v < 0x20; s++)
      v = v * 8 + (unsigned)(*s - '0');
    if (v == 0) bad_string(p, t, "a string cannot contain a NUL character");
    add_code_point(out, v);
    return s;
  }
  int digits = *s == 'x' ? 2 : *s == 'u' ? 4 : *s == 'U' ? 8 : 0;
  if (digits) {
    if (!hex(s + 1, end, digits, &v) || v > 0x10FFFF || (v >= 0xD800 && v < 0xE000))
      bad_string(p, t, "a malformed escape sequence in this string");
    if (v == 0) bad_string(p, t, "a string cannot contain a NUL character");
    add_code_point(out, v);
    return s + 1 + digits;
  }
  tirc_text_add(out, "\\"); /* as Python: an unknown escape stands for itself */
  return s;
}

static void add_piece(Parser *p, const StringToken *t, Text *out, const char **s, const char *end) {
  if (**s == '\\' && !t->raw && *s + 1 < end) {
    *s = escape(p, t, out, *s + 1, end);
  } else {
    const char *from = *s;
    do (*s)++;
    while (*s < end && !strchr("\\{}", **s));
    tirc_text_addn(out, from, (size_t)(*s - from));
  }
}

/* --- f-strings -------------------------------------------------------------------------------- */

/* Places are asked for from left to right, so each begins where the last one ended. */
static void place_of(StringToken *t, const char *at, int *line, int *column) {
  for (; t->known < at; t->known++) {
    if (*t->known == '\n')
      t->line++, t->column = 1;
    else if (!tirc_utf8_continues(*t->known))
      t->column++;
  }
  *line = t->line;
  *column = t->column;
}

/* Where the expression that begins at s ends: at '!', ':', '}' or '=' outside of all brackets. */
static const char *expression_end(const char *s, const char *end) {
  int depth = 0;
  char quote = 0;
  for (; s < end; s++) {
    if (quote) {
      if (*s == quote) quote = 0;
      continue;
    }
    if (*s == '\'' || *s == '"')
      quote = *s;
    else if (strchr("([{", *s))
      depth++;
    else if (depth && strchr(")]}", *s))
      depth--;
    else if (!depth && (*s == '}' || *s == ':'))
      return s;
    else if (!depth && *s == '!' && s + 1 < end && s[1] != '=')
      return s;
  }
  return end;
}

/* One replacement field; s stands behind its '{'. Returns where it ends. */
static const char *field(Parser *p, StringToken *t, SynVec *parts, const char *s, const char *end) {
  int line, column;
  const char *stop = expression_end(s, end);
  place_of(t, s, &line, &column);
  const char *last = stop;
  while (last > s && strchr(" \t\n", last[-1])) last--;
  bool shows_itself = last > s + 1 && last[-1] == '=' && !strchr("=!<>", last[-2]);
  if (shows_itself) {
    Syn *text = tirc_syn_node(p, SYN_STRING, t->place);
    text->s = tirc_strndup(p->c, s, (size_t)(stop - s));
    tirc_syn_push(p, parts, text);
    last--;
  }
  if (last == s) tirc_syn_fail(p, line, column, NULL, "an f-string's '{}' needs an expression");
  Syn *f = tirc_syn_node(p, SYN_FORMAT, t->place);
  f->a = tirc_syn_parse_expression(p, s, (size_t)(last - s), line, column);
  f->depth = f->a->depth + 1;
  s = stop;
  if (s < end && *s == '!') {
    if (s + 1 >= end || !strchr("rsa", s[1]))
      tirc_syn_fail(p, line, column, NULL, "after '!' comes r, s or a");
    f->i = s[1];
    s += 2;
  } else if (shows_itself && s < end && *s == '}') {
    f->i = 'r';
  }
  if (s < end && *s == ':') {
    const char *spec = ++s;
    while (s < end && *s != '}' && *s != '{') s++;
    if (s < end && *s == '{')
      tirc_syn_fail(p, line, column, NULL, "a format specification cannot contain '{'");
    f->s = tirc_strndup(p->c, spec, (size_t)(s - spec));
  }
  if (s >= end || *s != '}')
    tirc_syn_fail(p, line, column, "write '{{' for a brace", "this field's '{' is never closed");
  tirc_syn_push(p, parts, f);
  return s + 1;
}

static void push_text(Parser *p, const StringToken *t, SynVec *parts, Text *text) {
  if (!text->n) return;
  Syn *s = tirc_syn_node(p, SYN_STRING, t->place);
  s->s = text->at;
  tirc_syn_push(p, parts, s);
  *text = (Text){.c = p->c};
}

static Syn *format_string(Parser *p, StringToken *t) {
  SynVec *parts = tirc_syn_vec(p, NULL);
  Text text = {.c = p->c};
  const char *s = t->at, *end = s + t->n;
  while (s < end) {
    bool brace = *s == '{' || *s == '}';
    if (brace && s + 1 < end && s[1] == *s) {
      tirc_text_addn(&text, s, 1);
      s += 2;
    } else if (*s == '{') {
      push_text(p, t, parts, &text);
      s = field(p, t, parts, s + 1, end);
    } else if (*s == '}') {
      int line, column;
      place_of(t, s, &line, &column);
      tirc_syn_fail(p, line, column, "write '}}' for a brace", "a single '}' in an f-string");
    } else {
      add_piece(p, t, &text, &s, end);
    }
  }
  push_text(p, t, parts, &text);
  return tirc_syn_list(p, SYN_FSTRING, t->place, parts);
}

Syn *tirc_syn_string(Parser *p, Place at, const char *text, size_t n) {
  StringToken t = open_string(p, at, text, n);
  if (t.format) return format_string(p, &t);
  Text out = {.c = p->c};
  tirc_text_add(&out, "");
  const char *s = t.at, *end = s + t.n;
  while (s < end) add_piece(p, &t, &out, &s, end);
  Syn *node = tirc_syn_node(p, SYN_STRING, at);
  node->s = out.at;
  return node;
}
