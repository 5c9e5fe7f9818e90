#include "json_check.h"

#include "ascii.h"
#include "number.h"
#include "utf8.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

typedef struct Scan {
  Tirc *c;
  const char *text;
  size_t n, at;
  int level;
  JsonFault fault;
} Scan;

/* What a reader would change. */
static bool refuse(Scan *s, size_t at, const char *what) {
  if (!s->fault.what) s->fault = (JsonFault){what, at, true};
  return false;
}
static bool fail_at(Scan *s, size_t at, const char *what) {
  if (!s->fault.what) s->fault = (JsonFault){what, at, false};
  return false;
}
static bool fail(Scan *s, const char *what) {
  return fail_at(s, s->at, s->at < s->n ? what : "the text ends too early");
}

static char peek(const Scan *s) { return s->at < s->n ? s->text[s->at] : 0; }
static bool take(Scan *s, char ch) { return s->at < s->n && peek(s) == ch && ++s->at; }

static void skip_space(Scan *s) {
  while (s->at < s->n && strchr(" \t\r\n", s->text[s->at]) && s->text[s->at]) s->at++;
}

/* --- strings ---------------------------------------------------------------------------------- */

/* Four hexadecimal digits. */
static bool take_unit(Scan *s, unsigned *unit) {
  *unit = 0;
  for (int i = 0; i < 4; i++) {
    const char *digits = "0123456789abcdef", ch = tirc_lower(peek(s));
    const char *digit = ch ? strchr(digits, ch) : NULL;
    if (!digit) return fail(s, "\\u takes four hexadecimal digits");
    *unit = *unit * 16 + (unsigned)(digit - digits);
    s->at++;
  }
  return true;
}

static void add_utf8(Text *out, unsigned code) {
  const char tail = (char)(0x80 | (code & 0x3F)), middle = (char)(0x80 | (code >> 6 & 0x3F)),
             upper = (char)(0x80 | (code >> 12 & 0x3F));
  if (code < 0x80)
    tirc_text_addn(out, (char[]){(char)code}, 1);
  else if (code < 0x800)
    tirc_text_addn(out, (char[]){(char)(0xC0 | code >> 6), tail}, 2);
  else if (code < 0x10000)
    tirc_text_addn(out, (char[]){(char)(0xE0 | code >> 12), middle, tail}, 3);
  else
    tirc_text_addn(out, (char[]){(char)(0xF0 | code >> 18), upper, middle, tail}, 4);
}

/* Behind \u */
static bool take_code(Scan *s, size_t start, Text *out) {
  unsigned code, low = 0;
  if (!take_unit(s, &code)) return false;
  if (code == 0) return refuse(s, start, "a text cannot hold \\u0000");
  const bool first = code >= 0xD800 && code < 0xDC00;
  if (first && !(take(s, '\\') && take(s, 'u') && take_unit(s, &low))) low = 0;
  if (s->fault.what) return false;
  if ((code >= 0xDC00 && code < 0xE000) || (first && (low < 0xDC00 || low >= 0xE000)))
    return refuse(s, start, "half of a surrogate pair is not a character");
  if (out) add_utf8(out, first ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00) : code);
  return true;
}

static bool take_escape(Scan *s, Text *out) {
  static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
  const size_t start = s->at++;
  if (take(s, 'u')) return take_code(s, start, out);
  const char *letter = peek(s) ? strchr(letters, peek(s)) : NULL;
  if (!letter) return fail(s, "there is no such escape in a JSON string");
  if (out) tirc_text_addn(out, &meanings[letter - letters], 1);
  s->at++;
  return true;
}

/* out: where its characters go, or NULL. */
static bool take_string(Scan *s, Text *out) {
  s->at++;
  while (s->at < s->n && peek(s) != '"') {
    const size_t k = tirc_utf8_length(s->text + s->at, s->n - s->at);
    if (k == 0) return fail(s, "these bytes are not UTF-8 text");
    if ((unsigned char)peek(s) < 0x20)
      return fail(s, "a control character in a string is written as an escape");
    if (peek(s) == '\\') {
      if (!take_escape(s, out)) return false;
      continue;
    }
    if (out) tirc_text_addn(out, s->text + s->at, k);
    s->at += k;
  }
  return take(s, '"') || fail(s, "");
}

/* --- numbers ---------------------------------------------------------------------------------- */

static bool take_digits(Scan *s) {
  const size_t start = s->at;
  while (tirc_is_digit(peek(s))) s->at++;
  return s->at > start || fail(s, "a digit is missing in the number");
}

static bool fits_an_integer(const char *number) {
  errno = 0;
  if (*number == '-')
    (void)strtoll(number, NULL, 10);
  else
    (void)strtoull(number, NULL, 10);
  return errno == 0;
}

static bool is_kept_by_a_double(const char *number) {
  const double value = tirc_parse_double(number, NULL);
  const bool is_zero = strspn(number, "-0.") == strcspn(number, "eE");
  return isfinite(value) && (value != 0 || is_zero);
}

static bool take_number(Scan *s) {
  const size_t start = s->at;
  bool real = false;
  (void)take(s, '-');
  if (!take(s, '0') && !take_digits(s)) return false;
  if (take(s, '.') && !(real = take_digits(s))) return false;
  if (take(s, 'e') || take(s, 'E')) {
    (void)(take(s, '+') || take(s, '-'));
    if (!(real = take_digits(s))) return false;
  }
  if (tirc_is_word(peek(s)) || peek(s) == '.') return fail(s, "this is not a number");
  const char *number = tirc_strndup(s->c, s->text + start, s->at - start);
  if (!real && !fits_an_integer(number))
    return refuse(s, start,
                  tirc_format(s->c, "the integer %.40s does not fit into 64 bits", number));
  if (real && !is_kept_by_a_double(number))
    return refuse(
        s, start,
        tirc_format(s->c, "the number %.40s is too large or too small for a float", number));
  return true;
}

/* --- values ----------------------------------------------------------------------------------- */

static bool take_value(Scan *s);

static bool take_member(Scan *s, StrMap *keys) {
  Text key = {.c = s->c};
  const size_t start = s->at;
  if (peek(s) != '"') return fail(s, "a key in double quotes is missing");
  tirc_text_add(&key, "");
  if (!take_string(s, &key)) return false;
  void **slot = tirc_strmap_at(s->c, keys, key.at);
  if (*slot) return refuse(s, start, tirc_format(s->c, "the key \"%.60s\" stands twice", key.at));
  *slot = s;
  skip_space(s);
  if (!take(s, ':')) return fail(s, "a ':' is missing");
  return take_value(s);
}

/* A list, or an object, whose keys are told apart. */
static bool take_items(Scan *s, char end) {
  StrMap keys = {0};
  s->at++;
  skip_space(s);
  if (take(s, end)) return true;
  for (;;) {
    skip_space(s);
    if (!(end == ']' ? take_value(s) : take_member(s, &keys))) return false;
    skip_space(s);
    if (take(s, end)) return true;
    if (!take(s, ','))
      return fail(s, end == ']' ? "',' or ']' is missing" : "',' or '}' is missing");
  }
}

static bool take_word(Scan *s) {
  static const char *const words[] = {"true", "false", "null"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    const size_t k = strlen(words[i]);
    if (s->n - s->at < k || memcmp(s->text + s->at, words[i], k)) continue;
    s->at += k;
    return !tirc_is_word(peek(s)) || fail(s, "this is not a word of JSON");
  }
  return fail(s, "a value is missing: an object, a list, a string in double quotes, a number, "
                 "true, false or null");
}

static bool take_value(Scan *s) {
  skip_space(s);
  const char ch = peek(s);
  if (ch == '"') return take_string(s, NULL);
  if (ch == '-' || tirc_is_digit(ch)) return take_number(s);
  if (ch != '[' && ch != '{') return take_word(s);
  if (s->level == JSON_MOST_LEVELS) return fail(s, "nesting too deep");
  s->level++;
  const bool ok = take_items(s, ch == '[' ? ']' : '}');
  s->level--;
  return ok;
}

size_t tirc_json_check(Tirc *c, const char *text, size_t n, size_t at, JsonFault *fault) {
  const ArenaMark mark = tirc_mark(c);
  Scan s = {.c = c, .text = text, .n = n, .at = at};
  if (take_value(&s)) tirc_rewind(c, mark);
  *fault = s.fault;
  return s.at;
}

JsonFault tirc_json_check_text(Tirc *c, const char *text, size_t n) {
  JsonFault fault;
  size_t end = tirc_json_check(c, text, n, 0, &fault);
  while (end < n && text[end] && strchr(" \t\r\n", text[end])) end++;
  if (!fault.what && end < n) fault = (JsonFault){"something stands behind the value", end, false};
  return fault;
}
