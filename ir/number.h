/* The one door between numbers and text: what a host program's locale says is no business of the
 * library. A German one writes 1.5 as "1,5", and reads "1.5" as 1. */
#ifndef TIRC_IR_NUMBER_H
#define TIRC_IR_NUMBER_H

#include <stdarg.h>
#include <stddef.h>

/* As strtod, vsnprintf, snprintf and strerror of the C locale. */
double tirc_parse_double(const char *text, char **end);
int tirc_vsnprintf(char *out, size_t size, const char *format, va_list args);
int tirc_snprintf(char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* What an errno means, in English. */
const char *tirc_error_text(int error);

#endif
