/* Reductions that several threads do together. */
#ifndef TIRC_LOWER_CROSS_THREAD_H
#define TIRC_LOWER_CROSS_THREAD_H

#include "internal.h"
#include "passes/meaning/sums.h"

enum { MAX_COMPONENTS = 4 };

/* Threads that reduce together: so many groups of `size` neighbours along some axes; the place of a
 * thread in its group and its group's number. */
typedef struct Group {
  int64_t size, groups;
  Expr place, number;
  bool lanes; /* neighbours in a warp: groups lie in a row, and their size is a power of two */
} Group;

/* Statements after which, for every component, thread 0 of each group (all of them, if `all`) has
 * in result what the values of the group's threads make together; they use the buffers in
 * `allocs`. Shuffles where a warp has the whole group; shared memory otherwise. */
typedef VEC(Buffer) Buffers;
typedef VEC(Stmt) Stmts;
void tirc_lower_all_reduce(Tirc *c, const Reducer *r, const Gpu *gpu, const Group *g,
                           const Expr *values, bool all, Buffers *allocs, Stmts *out, Expr *result);

#endif
