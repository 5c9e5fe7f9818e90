/* Time and the machine's limits, for measurements. */
#ifndef TIRC_RUNTIME_TIMER_H
#define TIRC_RUNTIME_TIMER_H

#include "runtime_abi.h"

#include <stdbool.h>

double tirc_now(void); /* seconds of a clock that never goes back */
/* Does so many float32 operations, two an FMA and lane, rounded up to some hundred, with FMAs in
 * registers and nothing else; in pieces, on the `threads` threads of r. bits: of the vectors; 512
 * where the processor has AVX-512F, otherwise 256. Returns those used; 0, and nothing was done,
 * when it has no AVX2 and FMA. */
int tirc_fma_run(const tirc_runtime *r, int threads, int bits, double operations);
/* Likewise: reads `read` bytes at `from` and writes ones (float32) to `written` bytes at `to`, a
 * little of the one and a little of the other in turns; whole lines of 64 bytes, so both are
 * rounded up, and from and to are aligned to 64. past_caches: by stores that do not keep the lines
 * in a cache. */
int tirc_move_run(const tirc_runtime *r, int threads, int bits, const void *from, int64_t read,
                  void *to, int64_t written, bool past_caches);
/* Bytes of memory that the machine has: what is larger is refused, not tried. */
int64_t tirc_machine_memory(void);
/* "Intel(R) Xeon(R) ..." from the system; `out` holds `size` bytes. */
void tirc_cpu_name(char *out, int size);

#endif
