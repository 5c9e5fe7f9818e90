/* What the makers of random calls share: the program's blocks, as texts that a script can use. */
#ifndef TIRC_TESTS_FUZZ_CALLS_H
#define TIRC_TESTS_FUZZ_CALLS_H

#include "fuzz.h"

enum { MAX_BLOCKS = 64, MAX_NOTES = 16 };

typedef struct BlockText {
  const char *name;
  int n_loops, n_iters, n_dims; /* n_dims: of the first buffer that it writes */
  bool reduces, guards;         /* has a reduction iterator; pads with a condition */
  bool updates;                 /* reads the buffer that it writes */
  bool names;                   /* it has a let */
  bool shares;                  /* its outermost loop is that of a later block, too */
  Stmt stmt, outer, inner;      /* the block; its outermost and its innermost loop, or NULL */
} BlockText;
typedef struct Blocks {
  int n, n_notes;
  bool symbolic;
  BlockText at[MAX_BLOCKS];
  const char *notes[MAX_NOTES]; /* blocks and loops that are annotated with "note" */
  const BlockText *loop_of;     /* where the next loop argument most likely comes from, or NULL */
  const BlockText *picked;      /* the last block argument, or NULL */
} Blocks;

const BlockText *fuzz_block(Rng *r, const Blocks *b);
const char *fuzz_block_text(Tirc *c, const BlockText *b);
const char *fuzz_loop_text(Tirc *c, const BlockText *b, int i);
/* The text of an argument; NULL when none is known for this parameter. */
const char *fuzz_argument(Tirc *c, Rng *r, Blocks *b, const char *primitive, const Param *p);
/* A call of tensorize behind the functions that it needs and their registration. */
const char *fuzz_tensorize(Tirc *c, Rng *r, Blocks *b);

#endif
