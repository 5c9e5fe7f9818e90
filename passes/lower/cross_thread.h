/* Reductions that several threads do together. */
#ifndef TIRC_LOWER_CROSS_THREAD_H
#define TIRC_LOWER_CROSS_THREAD_H

#include "internal.h"

enum { MAX_COMPONENTS = 4 };

/* What a block reduces with: for each of n components, new = value(old, incoming). One component is
 * combined by an operation; several, each by one of its own or all picked by one comparison. */
typedef struct Reducer {
  int n;
  Buffer buffers[MAX_COMPONENTS];
  const Expr *indices[MAX_COMPONENTS];
  Expr old[MAX_COMPONENTS];      /* the load of what is there */
  Expr incoming[MAX_COMPONENTS]; /* what is added to it */
  Expr value[MAX_COMPONENTS];    /* of both */
  Expr init[MAX_COMPONENTS];     /* or NULL */
  Expr identity[MAX_COMPONENTS]; /* NULL: the operation gives x for x and x, so that any value that
                                    is in the result may be there twice */
} Reducer;

/* Reads the reducer off a block. NULL where it is one; otherwise says what it is not. */
const char *tirc_lower_reducer(Tirc *c, const Block *b, Reducer *out);
/* Component i of what x and y make together. */
Expr tirc_lower_combine(Tirc *c, const Reducer *r, int i, const Expr *x, const Expr *y);

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
