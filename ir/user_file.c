#include "user_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char *tirc_user_file(char out[USER_FILE], const char *name) {
  const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
  int n = 0;
  if (data && *data == '/')
    n = snprintf(out, USER_FILE, "%s/tirc/%s", data, name);
  else if (home && *home)
    n = snprintf(out, USER_FILE, "%s/.local/share/tirc/%s", home, name);
  if (n <= 0 || n >= USER_FILE) *out = 0;
  return out;
}

void tirc_make_folders(const char *path) {
  char *copy = strdup(path);
  for (char *at = copy ? strchr(copy + 1, '/') : NULL; at; at = strchr(at + 1, '/')) {
    *at = 0;
    mkdir(copy, 0700);
    *at = '/';
  }
  free(copy);
}
