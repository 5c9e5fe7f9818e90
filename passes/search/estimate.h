/* What can be said of a program's speed before it runs: a guess in cycles, and the numbers that a
 * model learns from. */
#ifndef TIRC_SEARCH_ESTIMATE_H
#define TIRC_SEARCH_ESTIMATE_H

#include "ir/cpu.h"
#include "ir/tree/ir.h"

/* A rough guess; tirc_module_estimate says how good it is. */
double tirc_estimate_cycles(Tirc *c, const Func *f, const Cpu *target, int threads);

/* Of each store: iterations by the kind of their loops, how its accesses move in the innermost
 * loop, the bytes that its inner loops touch, operations, lanes, results in registers, lines from
 * each level of the caches. A program is described by its heaviest stores, and by all of them
 * together.
 */
enum { FEATURES_VERSION = 3 }; /* numbers of another version mean other things */
enum { STORES = 5, STORE_FEATURES = 28, PROGRAM_FEATURES = 1 + STORE_FEATURES * (1 + STORES) };
typedef struct StoreFeatures {
  double cycles, at[STORE_FEATURES];
} StoreFeatures;
void tirc_program_features(Tirc *c, const Module *m, const Cpu *target, int threads, float *out);

#endif
