/* Counters of the processor, by perf_event_open: one file a counter, which every thread inherits
 * that is started later, and whose value is the sum over them. */
#define _GNU_SOURCE
#include "counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define READ_MISSES(cache)                                                                         \
  ((cache) | PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16)

const CounterRow tirc_counter_rows[N_COUNTERS] = {
    [COUNT_CYCLES] = {"cycles", "cycles"},
    [COUNT_INSTRUCTIONS] = {"instructions", "instructions"},
    [COUNT_L1_MISSES] = {"L1 misses", "l1_misses"},
    [COUNT_CACHE_MISSES] = {"cache misses", "cache_misses"},
    [COUNT_TLB_MISSES] = {"TLB misses", "tlb_misses"},
    [COUNT_PAGE_FAULTS] = {"page faults", "page_faults"},
};

static const struct {
  uint32_t type;
  uint64_t config;
} events[N_COUNTERS] = {
    [COUNT_CYCLES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    [COUNT_INSTRUCTIONS] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    [COUNT_L1_MISSES] = {PERF_TYPE_HW_CACHE, READ_MISSES(PERF_COUNT_HW_CACHE_L1D)},
    [COUNT_CACHE_MISSES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    [COUNT_TLB_MISSES] = {PERF_TYPE_HW_CACHE, READ_MISSES(PERF_COUNT_HW_CACHE_DTLB)},
    [COUNT_PAGE_FAULTS] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
};

static int open_event(CounterKind k) {
  struct perf_event_attr a = {.type = events[k].type,
                              .size = sizeof a,
                              .config = events[k].config,
                              .inherit = 1,
                              .exclude_kernel = 1, /* what needs no rights */
                              .exclude_hv = 1,
                              .read_format =
                                  PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING};
  return (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

bool tirc_counters_open(Counters *c) {
  c->open = true;
  bool any = false;
  for (int i = 0; i < N_COUNTERS; i++) {
    c->fds[i] = open_event((CounterKind)i);
    c->errors[i] = c->fds[i] < 0 ? errno : 0;
    any |= c->fds[i] >= 0;
  }
  return any;
}

void tirc_counters_close(Counters *c) {
  for (int i = 0; c->open && i < N_COUNTERS; i++)
    if (c->fds[i] >= 0) close(c->fds[i]);
  *c = (Counters){0};
}

void tirc_counters_read(const Counters *c, double out[N_COUNTERS]) {
  for (int i = 0; i < N_COUNTERS; i++) {
    uint64_t v[3]; /* the value, and the times in which it was asked for and counted */
    out[i] = (double)NAN;
    if (!c->open || c->fds[i] < 0 || read(c->fds[i], v, sizeof v) != (ssize_t)sizeof v) continue;
    if (v[2]) out[i] = (double)v[0] * ((double)v[1] / (double)v[2]);
    if (!v[1]) out[i] = 0;
  }
}

static int paranoia(void) {
  int level = -2;
  FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "r");
  if (f && fscanf(f, "%d", &level) != 1) level = -2;
  if (f) fclose(f);
  return level;
}

static const char *reason(int error, char *out, size_t size, const char **advice) {
  *advice = NULL;
  if (error == EACCES || error == EPERM) {
    const int level = paranoia();
    *advice =
        level > 2
            ? "as root, sysctl kernel.perf_event_paranoid=2 lets users count their own processes"
            : "a container may forbid perf_event_open: allow it, or measure outside";
    snprintf(out, size, "the system does not allow it (kernel.perf_event_paranoid is %d)", level);
  } else if (error == ENOSYS) {
    snprintf(out, size, "the kernel has no perf_event_open");
  } else if (error == ENOENT || error == EOPNOTSUPP || error == ENODEV || error == EINVAL) {
    *advice = "measure on the machine itself, or let the virtual machine have the processor's "
              "counters";
    snprintf(out, size, "the system has no such counter; many virtual machines have none");
  } else {
    snprintf(out, size, "perf_event_open fails with error %d", error);
  }
  return out;
}

void tirc_counters_describe(const Counters *c, char *out, size_t size, const char **advice) {
  char why[160];
  const char *unused;
  size_t n = 0;
  int error = 0;
  if (!advice) advice = &unused;
  *advice = NULL;
  *out = 0;
  for (int i = 0; i < N_COUNTERS; i++) {
    if (c->fds[i] >= 0) continue;
    if (n < size)
      n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : "", tirc_counter_rows[i].name);
    if (!error) error = c->errors[i];
  }
  if (error && n < size)
    snprintf(out + n, size - n, " cannot be counted: %s", reason(error, why, sizeof why, advice));
}
