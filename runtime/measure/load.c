#include "load.h"

#include "ir/ascii.h"

#include "runtime/tirc.h"

#include "runtime/kernel/timer.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

bool tirc_is_busy(double load) { return load > BUSY_CORES; }

/* Seconds of all cores in which something ran. */
static double busy_seconds(void) {
  long long t[8] = {0};
  char line[256] = "";
  FILE *f = fopen("/proc/stat", "r");
  if (!f) return 0;
  if (!fgets(line, sizeof line, f)) *line = 0;
  fclose(f);
  if (sscanf(line, "cpu %lld %lld %lld %lld %lld %lld %lld %lld", &t[0], &t[1], &t[2], &t[3], &t[4],
             &t[5], &t[6], &t[7]) != 8)
    return 0;
  return (double)(t[0] + t[1] + t[2] + t[5] + t[6] + t[7]) / (double)sysconf(_SC_CLK_TCK);
}

static double seconds_of(int who) {
  struct rusage r;
  if (getrusage(who, &r)) return 0;
  return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
         1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

double tirc_own_seconds(void) { return seconds_of(RUSAGE_SELF); }
double tirc_children_seconds(void) { return seconds_of(RUSAGE_CHILDREN); }

Load tirc_load_start(void) { return (Load){tirc_now(), busy_seconds(), tirc_own_seconds()}; }

double tirc_load_since(const Load *l, double ours) {
  const double wall = tirc_now() - l->wall;
  const double others = busy_seconds() - l->busy - (tirc_own_seconds() - l->own) - ours;
  const double tick = 1 / (double)sysconf(_SC_CLK_TCK); /* what the system counts in */
  return wall > 0 && others > 2 * tick ? others / wall : 0;
}

/* "AMD EPYC 7543 Processor", 2 of them: amd-epyc-7543-processor-2-cores. */
void tirc_machine_profile(char *out, size_t size) {
  char name[256] = "";
  size_t n = 0;
  if (!out || !size) return;
  tirc_machine_name(name, sizeof name);
  for (const char *p = name; *p && n + 16 < size; p++) {
    if (tirc_is_letter_or_digit(*p))
      out[n++] = tirc_lower(*p);
    else if (n && out[n - 1] != '-')
      out[n++] = '-';
  }
  const char *dash = n && out[n - 1] != '-' ? "-" : "";
  snprintf(out + n, size - n, "%s%ld-cores", dash, sysconf(_SC_NPROCESSORS_ONLN));
}
