/* What a figure depends on beside the program: the machine, its clock, its pages, and who else used
 * it meanwhile. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first line of a file, or "". */
static void read_line_of(const char *path, char *out, size_t size) {
  FILE *f = fopen(path, "r");
  *out = 0;
  if (!f) return;
  if (!fgets(out, (int)size, f)) *out = 0;
  out[strcspn(out, "\n")] = 0;
  fclose(f);
}

/* The word in brackets of "always [madvise] never". */
static void read_chosen(const char *path, char *out, size_t size) {
  char line[128];
  read_line_of(path, line, sizeof line);
  char *open = strchr(line, '['), *close = open ? strchr(open, ']') : NULL;
  snprintf(out, size, "%.*s", close ? (int)(close - open - 1) : 0, close ? open + 1 : "");
}

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void profile_machine(Profile *p) {
  enum { SAMPLES = 40, STEPS = 400000 };
  tirc_target_info native;
  *p = (Profile){.cores = (int)sysconf(_SC_NPROCESSORS_ONLN)};
  tirc_machine_name(p->cpu, sizeof p->cpu);
  if (tirc_target_find("native", &native, NULL) == TIRC_OK)
    p->l1 = native.l1, p->l2 = native.l2, p->l3 = native.l3;
  read_line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", p->governor,
               sizeof p->governor);
  read_chosen("/sys/kernel/mm/transparent_hugepage/enabled", p->huge_pages, sizeof p->huge_pages);
  double clocks[SAMPLES];
  for (int i = 0; i < SAMPLES; i++) clocks[i] = tirc_measure_clock(STEPS);
  p->clock_first = clocks[0];
  qsort(clocks, SAMPLES, sizeof *clocks, compare_doubles);
  p->clock_low = clocks[SAMPLES / 10];
  p->clock_high = clocks[SAMPLES - 1];
}

void print_profile(const Bench *b) {
  const Profile *p = &b->profile;
  fprintf(b->out, "%s, %d core%s, caches %lld KB, %lld KB, %lld MB, clock %.2f to %.2f GHz, ",
          p->cpu, p->cores, plural(p->cores), (long long)(p->l1 >> 10), (long long)(p->l2 >> 10),
          (long long)(p->l3 >> 20), p->clock_low * 1e-9, p->clock_high * 1e-9);
  fprintf(b->out, "governor %s, huge pages %s, target %s\n", *p->governor ? p->governor : "unknown",
          *p->huge_pages ? p->huge_pages : "unknown", b->target.name);
}

/* --- load and pages --------------------------------------------------------------------------- */

int64_t process_memory(const char *file, const char *what) {
  char line[256], path[64];
  const size_t n = strlen(what);
  int64_t bytes = 0;
  snprintf(path, sizeof path, "/proc/self/%s", file);
  FILE *f = fopen(path, "r");
  while (f && !bytes && fgets(line, sizeof line, f))
    if (strncmp(line, what, n) == 0 && line[n] == ':')
      bytes = 1024 * strtoll(line + n + 1, NULL, 10);
  if (f) fclose(f);
  return bytes;
}

int64_t huge_pages_in_use(void) { return process_memory("smaps_rollup", "AnonHugePages"); }
