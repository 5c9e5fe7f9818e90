/* The table of scopes.def. */
#include "ir/scopes.h"

#include <string.h>

Storage tirc_storage_of(const char *scope) {
  enum { START, WHOLE };
#define SCOPE(text, match, id)                                                                     \
  if (!strncmp(scope, text, sizeof text - 1 + match)) return STORAGE_##id;
#include "ir/scopes.def"
#undef SCOPE
  return STORAGE_UNKNOWN;
}
