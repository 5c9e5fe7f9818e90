#define _GNU_SOURCE
#include "number.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nothing is made: the C libraries give the same constant each time. */
static locale_t c_locale(void) { return newlocale(LC_ALL_MASK, "C", (locale_t)0); }

double tirc_parse_double(const char *text, char **end) {
  const locale_t c = c_locale();
  const double value = strtod_l(text, end, c);
  freelocale(c);
  return value;
}

int tirc_vsnprintf(char *out, size_t size, const char *format, va_list args) {
  const locale_t c = c_locale(), before = uselocale(c); /* of this thread */
  const int n = vsnprintf(out, size, format, args);
  uselocale(before);
  freelocale(c);
  return n;
}

int tirc_snprintf(char *out, size_t size, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const int n = tirc_vsnprintf(out, size, format, args);
  va_end(args);
  return n;
}

const char *tirc_error_text(int error) {
  const locale_t c = c_locale();
  const char *text = strerror_l(error, c);
  freelocale(c);
  return text;
}
