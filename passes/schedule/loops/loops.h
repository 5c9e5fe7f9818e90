/* The room of primitives that change loops: how they are nested, divided, joined, dealt out and
 * run.
 *
 * split, fuse, partition and unit loops keep the order in which instances run; what is decided
 * is whether iterations that are added run nothing (added_iterations.c) and whether the loops are
 * nested so that they can be one. reorder, merge and fission change the order: meaning/ says
 * whether two accesses to one element would change places. parallel, vectorize, unroll and bind
 * ask whether the iterations may run at the same time. */
#ifndef TIRC_SCHEDULE_LOOPS_H
#define TIRC_SCHEDULE_LOOPS_H

#include "passes/schedule/shape/shape.h"

/* Raises repeated-reduction where a predicate would let the init of a block run elsewhere, once the
 * nest stands in the place of the loop (init_sides.c): the map gives the old loop variables in
 * terms of the new ones, and `added` the conjunct that is new, or NULL. */
void tirc_require_init_sides(Sched *s, SRef *loop, Stmt nest, const PtrMap *map, Expr added);

/* Raise loop-has-annotation for one that has that, or a thread binding; loop-start. */
void tirc_require_bare_loop(Sched *s, SRef *loop);
void tirc_require_zero_start(Sched *s, SRef *loop);

/* Tells of each such loop of a program, more than an iteration long, that parallel, vectorize or
 * bind would refuse for its iterations (for_kind.c), which certainly meet. */
void tirc_racing_loops(Telling *t);

#endif
