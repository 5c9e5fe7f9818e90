/* What the figures of this machine depend on. */
#include "doctor.h"
#include "ir/processors.h"
#include "tools/bench/bench.h"

#include "runtime/measure/load.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void examine_processor(Doctor *d, const Profile *p) {
  tirc_target_info native = {0};
  char profile[160];
  tirc_machine_profile(profile, sizeof profile);
  note(d, "machine", "processor", "%s", p->cpu);
  note(d, "machine", "profile", "%s", profile);
  if (tirc_target_find("native", &native, NULL) != TIRC_OK || native.vector_bits == 0) {
    note(d, "machine", "features", "unknown");
    advise(d, AMISS, "tirc knows x86-64 with AVX2 best; see tirc build --target=help");
    return;
  }
  note(d, "machine", "features", "%s: vectors of %d bits, %d registers, --target=%s", native.isa,
       native.vector_bits, native.vector_registers, native.name);
  if (native.vector_bits < 256)
    advise(d, AMISS,
           "without AVX2 and FMA, code for the default target (haswell) does not run: "
           "use --target=native");
  note(d, "machine", "clock", "%.2f to %.2f GHz", p->clock_low * 1e-9, p->clock_high * 1e-9);
  if (p->clock_low < 0.8 * p->clock_high)
    advise(d, AMISS,
           "it varies while one measures: plug the machine in, let it cool, set the "
           "performance governor");
}

static void put_size(char *to, size_t n, int64_t bytes) {
  if (bytes == 0)
    snprintf(to, n, "unknown");
  else if (bytes >= 1 << 20)
    snprintf(to, n, "%lld MB", (long long)(bytes >> 20));
  else
    snprintf(to, n, "%lld KB", (long long)(bytes >> 10));
}

static void examine_caches(Doctor *d, const Profile *p) {
  char l1[32], l2[32], l3[32];
  put_size(l1, sizeof l1, p->l1);
  put_size(l2, sizeof l2, p->l2);
  put_size(l3, sizeof l3, p->l3);
  note(d, "machine", "caches", "L1 %s, L2 %s, L3 %s", l1, l2, l3);
  if (!p->l1 || !p->l2)
    advise(d, AMISS,
           "the system does not say how large they are; tiles are chosen as for a common "
           "processor");
}

/* Of a whole machine, how many cores a container's share amounts to; 0: all. */
static double cores_of_quota(void) {
  FILE *f = fopen("/sys/fs/cgroup/cpu.max", "r");
  double quota = 0, period = 0;
  const bool limited = f && fscanf(f, "%lf %lf", &quota, &period) == 2 && period > 0;
  if (f) fclose(f);
  return limited ? quota / period : 0;
}

static void examine_cores(Doctor *d, const Profile *p) {
  const double quota = cores_of_quota();
  const int usable = tirc_processors();
  note(d, "machine", "cores", "%d", p->cores);
  if (quota > 0 && quota < usable) {
    note(d, "machine", "share of cores", "%.3g, by the container's quota (cpu.max)", quota);
    advise(d, AMISS, "give as many --threads as that, or threads are stopped in the middle");
  } else if (usable < p->cores) {
    note(d, "machine", "usable cores", "%d, by the process's affinity", usable);
    advise(d, AMISS, "give as many --threads as that, or several share a core");
  }
}

static void examine_governor(Doctor *d, const Profile *p) {
  if (!*p->governor) {
    note(d, "machine", "governor", "unknown, as usual in a virtual machine");
    return;
  }
  note(d, "machine", "governor", "%s", p->governor);
  if (strcmp(p->governor, "performance") != 0)
    advise(d, AMISS, "as root: cpupower frequency-set -g performance");
}

static void examine_pages(Doctor *d, const Profile *p) {
  note(d, "machine", "huge pages", "%s", *p->huge_pages ? p->huge_pages : "unknown");
  if (strcmp(p->huge_pages, "never") == 0)
    advise(d, AMISS, "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
}

static void examine_memory(Doctor *d) {
  FILE *f = fopen("/proc/meminfo", "r");
  char line[128];
  long long total = 0, available = 0;
  while (f && fgets(line, sizeof line, f)) {
    sscanf(line, "MemTotal: %lld", &total);
    sscanf(line, "MemAvailable: %lld", &available);
  }
  if (f) fclose(f);
  if (!total) return;
  note(d, "machine", "memory", "%.1f GB, of which %.1f GB are free", (double)total / (1 << 20),
       (double)available / (1 << 20));
  if (available < 1 << 20) advise(d, AMISS, "end other programs: what swaps cannot be timed");
}

/* Over a moment in which this process sleeps. */
static void examine_load(Doctor *d) {
  enum { MOMENT = 400000 };
  const double busy = 0.1; /* as bench calls a setting disturbed */
  double loads[1] = {0};
  const Load before = tirc_load_start();
  usleep(MOMENT);
  const double others = tirc_load_since(&before, 0);
  const int n = getloadavg(loads, 1);
  note(d, "machine", "load", "others use %.2f cores now; average of the last minute %.2f", others,
       n == 1 ? loads[0] : 0);
  if (others > busy)
    advise(d, AMISS,
           "end what else runs before you measure (top shows it); bench and tune measure "
           "again what was disturbed");
}

static void examine_counters(Doctor *d) {
  Counters c;
  char missing[300];
  const char *advice = NULL;
  tirc_counters_open(&c);
  tirc_counters_describe(&c, missing, sizeof missing, &advice);
  tirc_counters_close(&c);
  note(d, "machine", "counters", "%s", *missing ? missing : "all of bench --counters");
  if (advice) advise(d, AMISS, advice);
}

void examine_machine(Doctor *d) {
  Profile p;
  profile_machine(&p);
  examine_processor(d, &p);
  examine_caches(d, &p);
  examine_cores(d, &p);
  examine_governor(d, &p);
  examine_pages(d, &p);
  examine_memory(d);
  examine_load(d);
  examine_counters(d);
}
