/* Where the page of tools/playground is: built in the tree that this command was built in, or
 * installed beside it. */
#include "kit.h"

#include <string.h>
#include <unistd.h>

static const char *const places[] = {"../../playground/index.html",
                                     "../share/tirc/playground.html"};

static char *find_playground(void) {
  enum { MOST = 4096 };
  char self[MOST];
  const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  if (n <= 0) return NULL;
  self[n] = 0;
  char *slash = strrchr(self, '/');
  if (!slash) return NULL;
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    char *path = tirc_format(memory, "%.*s/%s", (int)(slash - self), self, places[i]);
    if (access(path, R_OK) == 0) return path;
  }
  return NULL;
}

int read_playground(const char *given, char **page) {
  const char *path = given ? given : find_playground();
  size_t n;
  *page = NULL;
  return !path || strcmp(path, "none") == 0 ? DONE : read_text(path, page, &n);
}
