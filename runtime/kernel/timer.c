#include "timer.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

double tirc_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int64_t tirc_ticks(void) {
#if defined __x86_64__
  return (int64_t)__builtin_ia32_rdtsc();
#elif defined __aarch64__
  int64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return (int64_t)(tirc_now() * 1e9);
#endif
}

void tirc_cpu_name(char *out, int size) {
  char line[256];
  snprintf(out, (size_t)size, "unknown");
  FILE *f = fopen("/proc/cpuinfo", "r");
  if (!f) return;
  while (fgets(line, sizeof line, f)) {
    char *value = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
    if (!value) continue;
    value[strcspn(value, "\n")] = 0;
    snprintf(out, (size_t)size, "%s", value + 1 + (value[1] == ' '));
    break;
  }
  fclose(f);
}

int64_t tirc_machine_memory(void) {
  long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? (int64_t)pages * size : INT64_C(1) << 36;
}
