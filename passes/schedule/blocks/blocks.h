/* The room of primitives that make blocks from blocks, or from statements: blockize, tensorize,
 * rfactor, decompose_reduction and its reverse, decompose_padding, pad_einsum; make_blocks,
 * inline_let.
 *
 * Decided here: how the bindings of a block divide into those of an outer and of an inner one
 * (blockize.c), what operation a reduction is of (reducer.c), whether a tile computes what an
 * intrinsic describes (tensorize_match.c), and which domains may grow (pad_einsum_check.c). Where
 * an init may stand is asked of meaning/. */
#ifndef TIRC_SCHEDULE_BLOCKS_H
#define TIRC_SCHEDULE_BLOCKS_H

#include "passes/schedule/shape/shape.h"

/* decompose.c: throws empty-loop when the loop, of a reduction whose init is to stand apart, has no
 * iterations, so that the block never ran. */
void tirc_require_iterations(Sched *s, SRef *block, SRef *loop);

/* Throws order-matters when the init, which is to stand before the loop, stores elsewhere. */
void tirc_require_own_init(Sched *s, SRef *block, SRef *loop);

/* Throws repeated-reduction when copies of the loops up to this one would run the init again for
 * one element, as fused loops do, and it reads what it stores. */
void tirc_require_init_once(Sched *s, SRef *block, SRef *loop);

/* Throws init-uses-view. */
void tirc_require_no_views(Sched *s, SRef *block);
/* Which of the loops above the block it is. */
int tirc_require_loop_above(Sched *s, SRef *block, SRef *loop, SRefs *loops);

/* The name of the buffer that the first store in it is to; NULL: there is none. */
const char *tirc_stored_name(Stmt s);
/* That name, with a number where a block of the function has it, or one that was just made. */
const char *tirc_free_block_name(Sched *s, int func, const char *base, StrMap *made);

/* --- dividing a block ------------------------------------------------------------------------- */

/* What blockize and tensorize share: the bindings of a block, divided into those of an outer and of
 * an inner block. */

typedef struct Blockize {
  Sched *s;
  Tirc *c;
  Analyzer *a; /* knows the new inner iterators */
  SRef *block;
  bool preserve_unit_iters;
  SRefs loops;   /* that become inner ones, innermost first */
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
/* Whether a region uses one of the variables. */
bool tirc_blockize_escapes(const PtrMap *variables, int n, const Region *regions);
/* The outer block's init (blockize_init.c), after all that refuses it; *inner, which had it, loses
 * it, and reads what it adds to where that is of others. */
Stmt tirc_blockize_init(Blockize *b, SRef *loop, const Block *outer, Block *inner);
/* The one block under the loop, when the loop leads to nothing else; raises not-single-child. */
SRef *tirc_blockize_only_child(Sched *s, SRef *loop);
/* The block that is to stand in the place of the loop. */
Stmt tirc_blockized(Sched *s, SRef *loop, bool preserve_unit_iters);

/* --- larger domains --------------------------------------------------------------------------- */

/* What pad_einsum.c decides and pad_einsum_check.c judges: which iterators of a block get a larger
 * domain, and which buffers are padded for that. */

/* One iterator of the block. */
typedef struct PaddedIter {
  Expr extent;      /* the padded one; NULL when the iterator stays as it is */
  const SRef *loop; /* the loop that grows with it; NULL when its binding is no loop variable */
} PaddedIter;

typedef struct PaddedBuffer {
  const Region *region; /* what the block declares of the old buffer */
  bool is_read;
  Buffer padded;
  const Expr *shape; /* the old one's, in the numbers that iterators have where it has symbols */
} PaddedBuffer;

typedef struct EinsumPadding {
  Sched *s;
  SRef *block, *scope;
  Stmt nest;                 /* the statement of the scope's body that holds the block */
  PaddedIter *iters;         /* one for each iterator of the block */
  VEC(PaddedBuffer) buffers; /* reads first */
} EinsumPadding;

/* Raises when the padded nest would compute something else, or touch what is not there. */
void tirc_require_sound_padding(const EinsumPadding *p);

#endif
