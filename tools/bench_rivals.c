/* What --vs names. */
#include "bench_rivals.h"

#include <string.h>

static const Rival rivals[] = {
#define RIVAL(name, install, prefix)                                                               \
  {name, install, prefix##_open, prefix##_prepare, prefix##_run, prefix##_free},
    RIVALS(RIVAL)
#undef RIVAL
};
enum { N_RIVALS = sizeof rivals / sizeof *rivals };

const Rival *find_rival(const char *name, size_t length) {
  for (int i = 0; i < N_RIVALS; i++)
    if (strlen(rivals[i].name) == length && strncmp(rivals[i].name, name, length) == 0)
      return &rivals[i];
  return NULL;
}
