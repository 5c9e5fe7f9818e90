/* Classes of characters, ASCII's whatever the locale is: in a Turkish one the lower case of I is no
 * i, and in some a byte above 127 is a letter. */
#ifndef TIRC_IR_ASCII_H
#define TIRC_IR_ASCII_H

#include <stdbool.h>

static inline bool tirc_is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool tirc_is_lower(char c) { return c >= 'a' && c <= 'z'; }
static inline bool tirc_is_upper(char c) { return c >= 'A' && c <= 'Z'; }
static inline bool tirc_is_word(char c) {
  return tirc_is_digit(c) || tirc_is_lower(c) || tirc_is_upper(c) || c == '_';
}
static inline bool tirc_is_letter_or_digit(char c) { return tirc_is_word(c) && c != '_'; }
static inline bool tirc_is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static inline char tirc_lower(char c) { return tirc_is_upper(c) ? (char)(c - 'A' + 'a') : c; }
static inline char tirc_upper(char c) { return tirc_is_lower(c) ? (char)(c - 'a' + 'A') : c; }

#endif
