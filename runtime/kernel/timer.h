/* Time and the machine's limits, for measurements. */
#ifndef TIRC_RUNTIME_TIMER_H
#define TIRC_RUNTIME_TIMER_H

#include "runtime_abi.h"

#include <stdbool.h>

double tirc_now(void); /* seconds of a clock that never goes back */
/* What T.clock() reads in compiled code. */
int64_t tirc_ticks(void);
/* Bytes of memory that the machine has: what is larger is refused, not tried. */
int64_t tirc_machine_memory(void);
/* "Intel(R) Xeon(R) ..." from the system; `out` holds `size` bytes. */
void tirc_cpu_name(char *out, int size);

#endif
