/* Names as people write them. */
#include "tool.h"

#include <ctype.h>
#include <string.h>

bool same_name(const char *a, const char *b) {
  for (; *a; a++, b++)
    if (tolower((unsigned char)*a) != tolower((unsigned char)*b) &&
        !(strchr("-_ ", *a) && *b && strchr("-_ ", *b)))
      return false;
  return !*b;
}
