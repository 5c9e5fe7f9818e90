#define _GNU_SOURCE /* asprintf */
#include "new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_standard(const char *path) { return !path || !strcmp(path, "-"); }

/* --- parts ------------------------------------------------------------------------------------ */

/* Those that a signal, or the end of memory, is to remove. */
enum { MOST_PARTS = 16 };
static char *volatile parts[MOST_PARTS];
static volatile pid_t owner; /* a child that a signal ends leaves them */

void drop_parts(void) {
  for (int i = MOST_PARTS; i-- > 0 && owner == getpid();) { /* what is in a folder came after it */
    const char *part = parts[i];
    if (part) remove(part);
  }
}

void end_by_signal(int number) {
  drop_parts();
  signal(number, SIG_DFL);
  raise(number);
}

/* What ends the process unasked; whoever ignores it or does something else with it goes on so. */
static void catch_signals(void) {
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  owner = getpid();
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    struct sigaction now;
    if (sigaction(numbers[i], NULL, &now) || now.sa_handler != SIG_DFL) continue;
    sigaction(numbers[i], &(struct sigaction){.sa_handler = end_by_signal}, NULL);
  }
}

static char *begin_part(char *part) {
  int i = 0;
  while (i < MOST_PARTS && parts[i]) i++;
  if (i < MOST_PARTS) parts[i] = part;
  catch_signals();
  return part;
}

/* The name has the process in it, so that two that write the same do not meet. */
char *part_of(const char *path) {
  char *part = NULL;
  const char *before = *path == '/' ? "" : "./";
  return asprintf(&part, "%s%s.%ld.part", before, path, (long)getpid()) < 0 ? NULL
                                                                            : begin_part(part);
}

char *passing(const char *path) {
  char *part = strdup(path);
  return part ? begin_part(part) : NULL;
}

void drop_part(char *part) {
  const int error = errno;
  if (!part) return;
  remove(part);
  for (int i = 0; i < MOST_PARTS; i++)
    if (parts[i] == part) parts[i] = NULL;
  free(part);
  errno = error;
}

/* --- files ------------------------------------------------------------------------------------ */

/* A file that is replaced keeps its mode. */
static FILE *open_part(const char *part, const struct stat *old) {
  unlink(part); /* of a process that had the same number */
  const int fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");
  if (fd >= 0 && old) (void)fchmod(fd, old->st_mode & 07777);
  if (fd >= 0 && !f) close(fd);
  return f;
}

/* Where a path leads to. Sets *old, *there: whether it is there. */
static char *resolved(const char *path, struct stat *old, bool *there) {
  char *real = realpath(path, NULL);
  *there = real && stat(real, old) == 0;
  return real ? real : strdup(path);
}

NewFile begin_file(const char *path) {
  NewFile n = {0};
  struct stat old;
  bool there;
  if (is_standard(path)) {
    n.f = stdout;
    return n;
  }
  n.path = resolved(path, &old, &there);
  if (!n.path || (there && access(n.path, W_OK) != 0)) return n;
  if (there && !S_ISREG(old.st_mode)) {
    n.f = fopen(n.path, "wb");
    return n;
  }
  n.part = part_of(n.path);
  n.f = n.part ? open_part(n.part, there ? &old : NULL) : NULL;
  if (n.f || !there) return n;
  drop_part(n.part);
  n.part = NULL;
  n.f = fopen(n.path, "wb");
  return n;
}

bool can_begin_file(const char *path) {
  struct stat old;
  bool there;
  if (is_standard(path)) return true;
  char *real = resolved(path, &old, &there);
  bool ok = real && there && access(real, W_OK) == 0 && !S_ISDIR(old.st_mode);
  if (real && there && S_ISDIR(old.st_mode)) errno = EISDIR;
  if (real && !there) {
    NewFile n = begin_file(path);
    ok = n.f != NULL;
    drop_file(&n);
  }
  const int error = errno;
  free(real);
  errno = error;
  return ok;
}

static const char *redirected; /* where begin_output has standard output go; or NULL */

const char *output_name(const char *path) {
  if (!is_standard(path)) return path;
  return redirected ? redirected : "standard output";
}

static void forget(NewFile *n) {
  const int error = errno;
  if (n->out) {
    redirected = NULL;
    dup2(n->out, STDOUT_FILENO);
    close(n->out);
  }
  drop_part(n->part);
  free(n->path);
  *n = (NewFile){0};
  errno = error;
}

static bool copy_over(const char *part, const char *path) {
  char bytes[1 << 16];
  FILE *from = fopen(part, "rb"), *to = from ? fopen(path, "wb") : NULL;
  bool ok = to;
  for (size_t n; ok && (n = fread(bytes, 1, sizeof bytes, from)) > 0;)
    ok = fwrite(bytes, 1, n, to) == n;
  if (from) fclose(from);
  return to && fclose(to) == 0 && ok;
}

/* A file that another one is mounted on may be written, and not replaced. */
bool put_part(const char *part, const char *path) {
  return rename(part, path) == 0 || copy_over(part, path);
}

static bool finish(FILE *f) {
  const bool failed = ferror(f) != 0;
  const int error = errno;
  if ((f == stdout ? fflush(f) : fclose(f)) != 0) return false;
  errno = error;
  return !failed;
}

bool end_file(NewFile *n) {
  bool ok = n->f && (!n->out || (fflush(stdout) == 0 && !ferror(stdout)));
  if (n->f) ok = finish(n->f) && ok;
  if (ok && n->part) ok = put_part(n->part, n->path);
  forget(n);
  return ok;
}

void drop_file(NewFile *n) {
  const int error = errno;
  if (n->out) fflush(stdout);
  if (n->f && n->f != stdout) fclose(n->f);
  errno = error;
  forget(n);
}

NewFile begin_output(const char *path) {
  NewFile n = begin_file(path);
  if (!n.f || n.f == stdout) return n;
  fflush(stdout);
  redirected = path;
  n.out = dup(STDOUT_FILENO);
  if (n.out < 0 || dup2(fileno(n.f), STDOUT_FILENO) < 0) {
    const int error = errno;
    n.out = n.out < 0 ? 0 : n.out;
    drop_file(&n);
    errno = error;
  }
  return n;
}
