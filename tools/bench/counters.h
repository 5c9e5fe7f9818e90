/* What the processor counts: cycles, instructions, misses. The system may not let us. */
#ifndef TIRC_TOOLS_BENCH_COUNTERS_H
#define TIRC_TOOLS_BENCH_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum CounterKind {
  COUNT_CYCLES,
  COUNT_INSTRUCTIONS,
  COUNT_L1_MISSES,
  COUNT_CACHE_MISSES,
  COUNT_TLB_MISSES,
  COUNT_PAGE_FAULTS,
  N_COUNTERS
} CounterKind;

typedef struct CounterRow {
  const char *name, *key; /* for tables and for JSON */
} CounterRow;
extern const CounterRow counter_rows[N_COUNTERS];

typedef struct Counters {
  bool open;
  int fds[N_COUNTERS];    /* -1: it cannot be counted, */
  int errors[N_COUNTERS]; /* for this reason (errno) */
} Counters;

/* Of this thread and of those that are started from here on, in user mode. False: there is none. */
bool open_counters(Counters *c);
void close_counters(Counters *c);
/* What has been counted so far; NaN for what cannot be. Where there are more counters than the
 * processor has, each is an estimate from the time in which it ran. */
void read_counters(const Counters *c, double out[N_COUNTERS]);
/* Which are missing and why, in a sentence; "" when all are there. `advice` (or NULL): what to do.
 */
void describe_counters(const Counters *c, char *out, size_t size, const char **advice);

#endif
