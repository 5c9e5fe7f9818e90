/* Names as people write them. */
#include "ir/ascii.h"
#include "kit.h"

#include <string.h>

bool same_name(const char *a, const char *b) {
  for (; *a; a++, b++)
    if (tirc_lower(*a) != tirc_lower(*b) && !(strchr("-_ ", *a) && *b && strchr("-_ ", *b)))
      return false;
  return !*b;
}
