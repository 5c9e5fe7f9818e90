/* What the processor counts: cycles, instructions, misses. The system may not let us. */
#ifndef TIRC_RUNTIME_COUNTERS_H
#define TIRC_RUNTIME_COUNTERS_H

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
extern const CounterRow tirc_counter_rows[N_COUNTERS];

typedef struct Counters {
  bool open;
  int fds[N_COUNTERS];    /* -1: it cannot be counted, */
  int errors[N_COUNTERS]; /* for this reason (errno) */
} Counters;

/* Of this thread and of those that are started from here on, in user mode. False: there is none. */
bool tirc_counters_open(Counters *c);
void tirc_counters_close(Counters *c);
/* What has been counted so far; NaN for what cannot be. Where there are more counters than the
 * processor has, each is an estimate from the time in which it ran. */
void tirc_counters_read(const Counters *c, double out[N_COUNTERS]);
/* Which are missing and why, in a sentence; "" when all are there. `advice` (or NULL): what to do.
 */
void tirc_counters_describe(const Counters *c, char *out, size_t size, const char **advice);

#endif
