/* UTF-8: where characters begin and end, and how many there are. */
#ifndef TIRC_IR_UTF8_H
#define TIRC_IR_UTF8_H

#include "context.h"

/* Bytes of the character at s, of which `left` (at least 1) may be read; 0 when it is none:
 * overlong, a surrogate, cut off. */
static inline size_t tirc_utf8_length(const void *text, size_t left) {
  const unsigned char *s = text;
  if (s[0] < 0x80) return 1;
  size_t n = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
  if (s[0] < 0xC2 || s[0] > 0xF4 || n > left) return 0;
  for (size_t i = 1; i < n; i++)
    if ((s[i] & 0xC0) != 0x80) return 0;
  bool overlong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
  bool surrogate = s[0] == 0xED && s[1] >= 0xA0;
  bool too_large = s[0] == 0xF4 && s[1] >= 0x90;
  return overlong || surrogate || too_large ? 0 : n;
}

/* Whether the byte is none of the first ones of a character. */
static inline bool tirc_utf8_continues(char ch) { return ((unsigned char)ch & 0xC0) == 0x80; }

/* Characters in n bytes. */
static inline size_t tirc_utf8_columns(const char *s, size_t n) {
  size_t columns = 0;
  for (size_t i = 0; i < n; i++) columns += !tirc_utf8_continues(s[i]);
  return columns;
}

/* The first byte of s that is no UTF-8, or NULL. */
static inline const char *tirc_utf8_wrong(const char *s) {
  for (size_t left = strlen(s), n; left; s += n, left -= n)
    if (!(n = tirc_utf8_length(s, left))) return s;
  return NULL;
}

/* A copy of s at `to`, which has 3 * strlen(s) + 1 bytes: with the replacement character for each
 * byte that is no UTF-8. */
static inline char *tirc_utf8_repair(char *to, const char *s) {
  char *at = to;
  for (size_t left = strlen(s), n; left; s += n, left -= n) {
    n = tirc_utf8_length(s, left);
    memcpy(at, n ? s : "\xEF\xBF\xBD", n ? n : 3);
    at += n ? n : 3;
    n += !n;
  }
  *at = 0;
  return to;
}

#endif
