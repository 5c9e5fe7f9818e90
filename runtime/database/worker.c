#include "worker.h"

#include "ir/number.h"
#include "runtime/kernel/timer.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef enum Field { HOST, PROCESS, TIME, START, NAMESPACE, BOOT, N_FIELDS } Field;

/* The name in pieces, which are in `copy`; false: it is none of these names. */
static bool read_name(const char *name, char *copy, size_t size, char **fields) {
  if (!name || strlen(name) >= size) return false;
  strcpy(copy, name);
  for (int i = N_FIELDS - 1; i > 0; i--) {
    char *colon = strrchr(copy, ':');
    if (!colon) return false;
    *colon = 0;
    fields[i] = colon + 1;
  }
  fields[HOST] = copy;
  return true;
}

/* A process's state letter, and when it began; false: unknown. */
static bool read_stat(long pid, char *state, char *start, size_t size) {
  char path[40], text[1024], begun[32];
  snprintf(path, sizeof path, "/proc/%ld/stat", pid);
  FILE *f = fopen(path, "r");
  if (!f) return false;
  text[fread(text, 1, sizeof text - 1, f)] = 0;
  fclose(f);
  const char *rest = strrchr(text, ')'); /* behind the name, which may hold anything */
  if (!rest || sscanf(rest + 1,
                      " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s"
                      " %31[0-9]",
                      state, begun) != 2)
    return false;
  snprintf(start, size, "%s", begun);
  return true;
}

/* What makes this machine's numbers of processes mean something. */
static void read_place(char *space, char *boot, size_t size) {
  char link[64] = "";
  const ssize_t n = readlink("/proc/self/ns/pid", link, sizeof link - 1);
  snprintf(space, size, "?");
  if (n > 0) {
    link[n] = 0;
    const char *digits = strpbrk(link, "0123456789");
    if (digits) snprintf(space, size, "%.*s", (int)strspn(digits, "0123456789"), digits);
  }
  snprintf(boot, size, "?");
  FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
  if (!f) return;
  if (!fgets(boot, (int)size, f)) *boot = 0;
  fclose(f);
  boot[strspn(boot, "0123456789abcdef-")] = 0;
  if (!*boot) snprintf(boot, size, "?");
}

static void read_host(char *out, size_t size) {
  if (gethostname(out, size - 1)) *out = 0;
  out[size - 1] = 0;
}

void tirc_worker_name(char *out, size_t size) {
  char host[65] = "", space[64], boot[64], start[32] = "?", state;
  read_host(host, sizeof host);
  read_place(space, boot, sizeof boot);
  (void)read_stat((long)getpid(), &state, start, sizeof start);
  tirc_snprintf(out, size, "%s:%ld:%.6f:%s:%s:%s", host, (long)getpid(), tirc_now(), start, space,
                boot);
}

bool tirc_worker_is_gone(const char *name) {
  char copy[WORKER_NAME], host[65] = "", space[64], boot[64], start[32], state, *fields[N_FIELDS];
  char *end = NULL;
  if (!read_name(name, copy, sizeof copy, fields)) return false;
  read_host(host, sizeof host);
  read_place(space, boot, sizeof boot);
  if (*space == '?' || *boot == '?' || strcmp(fields[HOST], host) != 0 ||
      strcmp(fields[NAMESPACE], space) != 0 || strcmp(fields[BOOT], boot) != 0)
    return false;
  errno = 0;
  const long pid = strtol(fields[PROCESS], &end, 10);
  if (errno || *end || end == fields[PROCESS] || pid <= 0 || (long)(pid_t)pid != pid) return false;
  if (kill((pid_t)pid, 0) && errno == ESRCH) return true;
  if (!read_stat(pid, &state, start, sizeof start)) return false;
  /* ended, and not yet waited for; or another one that was given the number */
  return state == 'Z' || state == 'X' ||
         (fields[START][0] != '?' && strcmp(fields[START], start) != 0);
}

void tirc_worker_text(const char *name, char *out, size_t size) {
  char copy[WORKER_NAME];
  snprintf(copy, sizeof copy, "%s", name ? name : "");
  char *pid = strchr(copy, ':');
  if (pid) *pid++ = 0;
  if (pid) pid[strcspn(pid, ":")] = 0;
  if (pid && *pid)
    snprintf(out, size, "process %.20s on %.64s", pid, copy);
  else
    snprintf(out, size, "%.100s", copy);
}
