/* /tmp/perf-PID.map: a line for each function, its address and size in hexadecimal digits and its
 * name. perf reads it when it reports, after the process has ended, so it stays. */
#include "perf_map.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A line is written at once: several threads and processes may add to files at a time. */
static void write_line(void *self, const char *name, const void *at, size_t size) {
  char line[512];
  const int n =
      snprintf(line, sizeof line, "%llx %zx %s\n", (unsigned long long)(uintptr_t)at, size, name);
  if (n > 0 && n < (int)sizeof line && write(*(int *)self, line, (size_t)n) < 0)
    return; /* a profile without names is one, too */
}

void tirc_perf_map_add(const Image *image, const char *object, size_t n) {
  const char *wish = getenv("TIRC_PERF_MAP");
  char path[64];
  if (!wish || !*wish || (wish[0] == '0' && !wish[1])) return;
  snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
  int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
  struct stat is;
  if (file < 0) return;
  if (fstat(file, &is) || !S_ISREG(is.st_mode) || is.st_uid != geteuid()) {
    close(file); /* somebody else's */
    return;
  }
  tirc_image_functions(image, object, n, write_line, &file);
  close(file);
}
