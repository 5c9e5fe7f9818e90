/* Time and the machine's limits, for measurements. */
#ifndef TIRC_RUNTIME_TIMER_H
#define TIRC_RUNTIME_TIMER_H

#include <stdint.h>

double tirc_now(void); /* seconds of a clock that never goes back */
/* The number of float32 operations a second that `threads` threads reach with nothing but AVX2
 * FMAs, two an FMA and lane; the best of several short runs. 0 when the processor has no AVX2 and
 * FMA. */
double tirc_fma_peak(int threads);
/* Bytes of memory that the machine has: what is larger is refused, not tried. */
int64_t tirc_machine_memory(void);
/* "Intel(R) Xeon(R) ..." from the system; `out` holds `size` bytes. */
void tirc_cpu_name(char *out, int size);

#endif
