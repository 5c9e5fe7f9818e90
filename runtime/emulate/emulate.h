/* The emulator of a GPU: runs a module whose host function launches kernels, block by block, and
 * finds what a GPU would not say. It knows the program and the model below, and nothing of how
 * barriers get into a program: it is what that is checked against.
 *
 *   global memory   seen by all blocks; between two blocks of a launch there is no order
 *   shared memory   one a block, unwritten at its start
 *   local memory    one a thread, unwritten at its start
 *   T.tvm_storage_sync("shared")   a barrier: all threads of the block reach it, and what they did
 *                                  to shared and global memory before it is before what comes after
 *   T.tvm_storage_sync("warp")     the same of the threads of a warp
 *   T.tvm_warp_shuffle..., T.tvm_warp_activemask   of the threads of a warp that reach it together
 *
 * How a thread stops at a barrier inside of a loop: it does not. A statement runs for many threads
 * at once, expression by expression over arrays of values, a value a thread; those that an if or a
 * loop leaves out are not in the list that the statement runs for. What holds a barrier runs for
 * all threads in step, so where threads disagree about it, the barrier sees an incomplete list,
 * which is the error. What lies between barriers runs for one group of threads to its end, then for
 * the next: which thread is in which group and which group comes first is drawn anew. Coroutines
 * would cost a switch a barrier and an interpreted tree a thread; this walks the tree once for a
 * hundred threads.
 *
 * Threads that have a value in common, such as the loads of a row that all of its threads multiply
 * with, have it evaluated once (peers.c); a value is kept as long as nothing that it hangs on has
 * changed (evaluate in code.h).
 *
 * Races are found in any order: each element of memory remembers who wrote it last and two that
 * have read it since, with the number of barriers that had been passed (race.c). */
#ifndef TIRC_RUNTIME_EMULATE_H
#define TIRC_RUNTIME_EMULATE_H

#include "runtime/interp/interp.h"

typedef struct EmulateOptions {
  int64_t max_steps; /* loop iterations, each for all threads of a group; 0: no limit */
  int64_t blocks;    /* run only so many of each launch whose results nothing else uses, drawn at
                        random; 0: all */
  uint64_t seed;     /* of the order of blocks, groups and threads */
  bool (*go_on)(void *self);
  void *self;
  /* One a parameter of the host, or NULL: elements of buffers that a kernel writes are set to 1. */
  uint8_t *const *written;
  struct Costs *costs; /* costs.h: rows are added; NULL: nothing is counted */
} EmulateOptions;

typedef struct EmulateReport { /* counted over all launches */
  int64_t launches, blocks, blocks_run, barriers;
} EmulateReport;

/* Throws what tirc_interpret throws, and, with both statements, both threads and the element:
 * - race: two threads, one element, no barrier between, one writes
 * - barrier: not all threads of the block reach it; shuffle: not all that its mask names, or one
 *   that it reads from
 * - shared-memory: more of it than the kernel's target has
 * - launch: a call that fits no kernel */
void tirc_emulate(Tirc *c, const Module *m, const Func *host, int n_args, const Argument *args,
                  const EmulateOptions *o, EmulateReport *report);

#endif
