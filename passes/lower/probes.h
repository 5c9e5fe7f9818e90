/* Probes: how long parts of a function take, by the clock of what runs it. */
#ifndef TIRC_LOWER_PROBES_H
#define TIRC_LOWER_PROBES_H

#include "ir/tree/ir.h"

/* The key of the attributes that ask for a probe, and that stand around what probes count. */
#define TIRC_PROBE_KEY "probe"

/* A loop or a block of a function as it is scheduled; part 0 is the function itself. */
typedef struct Part {
  Stmt stmt; /* NULL: the function */
  int parent, depth;
} Part;
typedef struct Parts {
  int n;
  Part *at; /* a parent before its children, these in the order of the text */
} Parts;
Parts tirc_parts(Tirc *c, const Func *f);

/* What the counters hold beside those of the parts: of probes with nothing in them, and of a loop
 * of EMPTY_PROBES such ones. */
enum { PROBE_EMPTY, PROBE_EMPTIES, PROBES_BESIDE, EMPTY_PROBES = 64 };
static inline int tirc_probe_counters(int parts) { return 2 * (parts + PROBES_BESIDE); }

/* The function with probes around some of its parts: probed[i] says whether part i has one. Its
 * last parameter is an array of tirc_probe_counters() int64: behind each other for each part, and
 * then for what stands beside them, how long it took and how often it ran, to which a call adds. */
const Func *tirc_func_with_probes(Tirc *c, const Func *f, const Parts *parts, const bool *probed);

#endif
