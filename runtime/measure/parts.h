/* What is known of the parts of a function before they are timed. */
#ifndef TIRC_RUNTIME_PARTS_H
#define TIRC_RUNTIME_PARTS_H

#include "passes/lower/probes.h"
#include "runtime/api/api.h"

/* Fills in what is counted of each part (tirc_profile_part), in c; f: with numbers for its symbols,
 * as far as they are known. */
tirc_profile_part *tirc_count_parts(Tirc *c, const Func *f, const Parts *parts);
/* Which parts may have a probe: none within an innermost loop, where vectorized and unrolled loops,
 * and those over threads of a GPU, are no loops. in_kernels: only what threads of a GPU run. One
 * bool a part. */
bool *tirc_parts_to_probe(Tirc *c, const Parts *parts, bool in_kernels);

#endif
