/* What kernels ask of a GPU's memory, counted while the emulator runs them: a model, which knows
 * warps, sectors and banks, and neither caches nor time.
 *
 *   global   a warp's access asks for so many sectors of 32 bytes; ideal: as few as its distinct
 *            bytes fill
 *   shared   it takes so many turns, in each of which every bank of 4 bytes gives one word
 *   branch   a warp whose threads part runs both ways
 *
 * Neighbouring lanes of a vector are one access. What is the same in the next iteration is loaded
 * once. */
#ifndef TIRC_RUNTIME_COSTS_H
#define TIRC_RUNTIME_COSTS_H

#include "ir/gpu.h"
#include "ir/tree/ir.h"

typedef struct AccessCosts {
  const Func *kernel;
  const void *node; /* the load or the statement */
  Stmt stmt;
  int line; /* of what it comes from; 0: none */
  Buffer buffer;
  bool shared, stores;
  int64_t warps, asked, ideal; /* sectors of global memory, turns of shared memory */
  int lanes;
  int64_t *places; /* of the lanes so far, thread by thread */
} AccessCosts;

typedef struct BranchCosts {
  const Func *kernel;
  Stmt stmt;
  int line;
  int64_t warps, parted;
} BranchCosts;

typedef struct KernelCosts {
  const Func *kernel;
  int64_t launches, blocks, blocks_run, threads, shared;
  int64_t asked, needed; /* bytes of global memory: in all sectors, and each element once */
  int own, registers;    /* of a thread: words of its arrays; with all else, estimated */
} KernelCosts;

typedef struct Costs {
  Tirc *c; /* where the rows live */
  VEC(AccessCosts) accesses;
  VEC(BranchCosts) branches;
  VEC(KernelCosts) kernels;
} Costs;

/* How many blocks of a kernel a multiprocessor runs side by side. */
typedef struct Occupancy {
  int blocks, warps, most_warps; /* most_warps 0: nothing is known of the target */
  const char *bound;             /* "registers", "shared memory", "threads", "blocks" */
} Occupancy;
Occupancy tirc_occupancy(const Gpu *gpu, int64_t threads, int64_t shared, int registers);
/* Estimated from the arrays, names and loops of a kernel: *own of them are words of its arrays. */
int tirc_estimate_registers(Tirc *c, const Func *kernel, int *own);

#endif
