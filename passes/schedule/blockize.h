/* What blockize and tensorize share: the bindings of a block, divided into those of an outer and of
 * an inner block. */
#ifndef TIRC_SCHEDULE_BLOCKIZE_H
#define TIRC_SCHEDULE_BLOCKIZE_H

#include "internal.h"

typedef struct Blockize {
  Sched *s;
  Tirc *c;
  Analyzer *a; /* knows the new inner iterators */
  SRef *block;
  bool preserve_unit_iters;
  int n_loops; /* that become inner ones, innermost first */
  SRef **loops;
  PtrMap starts; /* from the variable of a loop, inner or outer, to where it starts */
  /* What became of the iterators. outer: one for each old one; inner: those of extent above 1. */
  int n_outer, n_inner;
  IterVar *outer, *inner;
  Expr *outer_values, *inner_values;
  Expr outer_predicate, inner_predicate;
  Stmt inner_block; /* the old block with the new iterators in it, otherwise as it was */
} Blockize;

/* Divides the block's iterators between the loops from the block up to `top` (inclusive; the
 * block itself: none) and those above. With outer != NULL the outer iterators are the ones of
 * `outer`: they must be equal. Raises not-divisible. */
void tirc_blockize_divide(Blockize *b, SRef *top, const Blockize *outer);
/* The regions with the inner iterators relaxed. */
const Region *tirc_blockize_relax(Blockize *b, int n, const Region *regions);
/* The block with the inner iterators and bindings in the inner loops. */
Stmt tirc_blockize_inner(Blockize *b, const Block *block);
/* Nothing of a new outer block may use a loop that is inside of it: raises loop-variable-escapes.
 */
void tirc_blockize_require_closed(Blockize *b, const Block *outer);
/* The one block under the loop, when the loop leads to nothing else; raises not-single-child. */
SRef *tirc_blockize_only_child(Sched *s, SRef *loop);
/* The block that is to stand in the place of the loop. */
Stmt tirc_blockized(Sched *s, SRef *loop, bool preserve_unit_iters);

#endif
