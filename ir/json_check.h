/* JSON that would not be read as it stands is none: RFC 8259's grammar, and beyond it what a reader
 * changes without a word. */
#ifndef TIRC_IR_JSON_CHECK_H
#define TIRC_IR_JSON_CHECK_H

#include "context.h"

enum { JSON_MOST_LEVELS = 31 }; /* of lists and objects in each other */

typedef struct JsonFault {
  const char *what; /* a clause such as "the key \"a\" stands twice"; NULL: none */
  size_t at;        /* the byte where it is */
  bool changed;     /* it is JSON, and a reader would change it */
} JsonFault;

/* The end of the JSON value that begins at text[at], white space before it skipped. A fault, beside
 * what is no JSON: an integer that does not fit into 64 bits, a number that is too large or too
 * small for a double, a NUL or half a surrogate pair in a string, a key that an object has twice,
 * bytes that are no UTF-8. */
size_t tirc_json_check(Tirc *c, const char *text, size_t n, size_t at, JsonFault *fault);
/* The same of a text that is one value and nothing else. */
JsonFault tirc_json_check_text(Tirc *c, const char *text, size_t n);

#endif
