/* Time by block and by loop inside one compiled function. */
#ifndef TIRC_TIRC_PROFILE_H
#define TIRC_TIRC_PROFILE_H

#include "run.h"

TIRC_C_BEGIN

/* The function is compiled twice, as it is and with probes, which read the processor's clock before
 * and behind a loop or a block; both take turns. Parts are the loops and blocks of the scheduled
 * program, and part 0 is the function. A part has a probe unless that would disturb what it
 * measures: nothing within an innermost loop has one, nor what runs so often that probes would take
 * too much of the time. What has none counts in the nearest part around it that has one. */
typedef struct tirc_profile tirc_profile;
typedef struct tirc_profile_options {
  const char *target; /* as for tirc_kernel_new */
  double seconds;     /* of timed calls; 0: 0.3 */
  double most_probes; /* what probes may take of the time without them; 0: a twentieth */
} tirc_profile_options;

typedef struct tirc_profile_part {
  int parent, depth; /* parent: the number of a part; -1: it is the function */
  bool is_block;
  const char *name; /* of the function, the block, the loop's variable */
  const char *kind; /* "function", "block", or of a loop "serial", "parallel", "vectorized" ... */
  int64_t extent;   /* of a loop; -1: only the run tells */
  bool is_timed;    /* it has a probe; the three figures below are 0 where not */
  double times;     /* how often it runs in a call */
  double seconds;   /* in a call, without what probes take; see threads */
  double own;       /* of them, what is in no timed part within it */
  int threads;      /* inside of a parallel loop: how many share it. seconds are the mean of them */
  double float_ops; /* in a call, as tirc_module_call_cost counts them, */
  double integer_ops; /* as tirc_module_call_integers does, */
  int integer_bits;
  /* and bytes of distinct elements of the function's arrays, and of memory of its own that outlives
   * an iteration of the loops around. */
  int64_t bytes_read, bytes_written;
} tirc_profile_part;

typedef struct tirc_profile_summary {
  double seconds; /* of a call without probes: the mean of the faster half */
  double probed;  /* of one with probes, likewise; parts have the mean of the same calls */
  double probes;  /* what probes took of that, as a part of 1; it is not in the parts' seconds */
  double probe;   /* seconds of one probe */
  int calls;      /* with probes */
  int threads;    /* of the executor */
  int left_out;   /* parts without a probe because they run too often */
} tirc_profile_summary;

/* Measures func (NULL: "main" or the only one) of a module that is not lowered. options may be
 * NULL. The arguments are those of tirc_kernel_run; arrays that the function writes have been
 * written many times afterwards. TIRC_BAD: as of tirc_kernel_new and tirc_kernel_run; "lower": the
 * module is lowered already. */
TIRC_API tirc_status tirc_profile_new(const tirc_module *m, const char *func,
                                      const tirc_profile_options *options, tirc_executor *x, int n,
                                      const tirc_argument *args, tirc_profile **out,
                                      tirc_error **error);
/* The same on a device, of what the threads of kernels run: "emulate", the emulator, or a device of
 * tirc_kernel_new_on that has a clock ("cuda"); NULL and "cpu": as above. There `seconds` and `own`
 * of a part are no seconds: of a device, cycles of the first thread of each block of threads, all
 * blocks together, the probes' among them; of the emulator, what warps do, an operation, a
 * statement, a sector of global memory and a turn of shared memory each counted once. Part 0 has
 * the sum, and the summary calls and threads alone. TIRC_BAD with the code "codegen": the device's
 * language has no clock. */
TIRC_API tirc_status tirc_profile_new_on(const tirc_module *m, const char *func, const char *device,
                                         const tirc_profile_options *options, tirc_executor *x,
                                         int n, const tirc_argument *args, tirc_profile **out,
                                         tirc_error **error);
TIRC_API void tirc_profile_free(tirc_profile *p);
/* Part i, a parent before its children, in the order of the program's text; false behind the last.
 * Strings live as long as the profile. */
TIRC_API bool tirc_profile_get(const tirc_profile *p, int i, tirc_profile_part *out);
TIRC_API bool tirc_profile_summarize(const tirc_profile *p, tirc_profile_summary *out);
/* The function as it is measured, with probes; it takes one array of int64 more, of so many
 * elements: ticks and times, a pair for each part, and behind them what probes themselves take. A
 * call adds to them. */
TIRC_API const tirc_module *tirc_profile_module(const tirc_profile *p, int64_t *counters);

TIRC_C_END
#endif
