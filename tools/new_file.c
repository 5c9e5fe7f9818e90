#define _GNU_SOURCE /* asprintf */
#include "new_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A relative path begins with a dot, since gnuplot would run what begins with a bar. */
char *part_of(const char *path) {
  char *part = NULL;
  return asprintf(&part, "%s%s.part", *path == '/' ? "" : "./", path) < 0 ? NULL : part;
}

static bool is_replaced(const char *path) {
  struct stat s;
  return lstat(path, &s) != 0 || S_ISREG(s.st_mode);
}

NewFile begin_file(const char *path) {
  NewFile n = {0};
  if (!path || !strcmp(path, "-")) {
    n.f = stdout;
    return n;
  }
  if (!is_replaced(path)) {
    n.f = fopen(path, "wb");
    return n;
  }
  n.path = strdup(path);
  n.part = part_of(path);
  /* a file that may not be written may not be replaced either */
  if (n.path && n.part && (access(path, F_OK) != 0 || access(path, W_OK) == 0))
    n.f = fopen(n.part, "wb");
  return n;
}

static void forget(NewFile *n) {
  const int error = errno;
  free(n->part);
  free(n->path);
  *n = (NewFile){0};
  errno = error;
}

/* A file that is replaced keeps its mode. */
static bool put_in_place(const NewFile *n) {
  struct stat s;
  if (stat(n->path, &s) == 0) (void)chmod(n->part, s.st_mode & 07777);
  return rename(n->part, n->path) == 0;
}

bool end_file(NewFile *n) {
  bool ok = n->f && !ferror(n->f);
  int error = errno;
  if (n->f && (n->f == stdout ? fflush(n->f) : fclose(n->f)) != 0) {
    error = errno;
    ok = false;
  }
  if (ok && n->part && !put_in_place(n)) {
    error = errno;
    ok = false;
  }
  if (!ok && n->f && n->part) unlink(n->part);
  errno = error;
  forget(n);
  return ok;
}

void drop_file(NewFile *n) {
  if (n->f && n->f != stdout) fclose(n->f);
  if (n->f && n->part) unlink(n->part);
  forget(n);
}
