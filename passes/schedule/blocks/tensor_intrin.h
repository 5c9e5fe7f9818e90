/* Tensor intrinsics: what a tile of a program computes, and what is to run in its place.
 *
 *   description                             implementation
 *   def dot_desc(A, B, C):                  def dot_impl(A, B, C):
 *     with T.block("root"):                   with T.block("root"):
 *       T.reads(C[0], A[0:8], B[0:8])           T.reads(C[0], A[0:8], B[0:8])
 *       T.writes(C[0])                          T.writes(C[0])
 *       for k in range(8): ...                  C[0] = C[0] + T.vectorsum(...)
 *
 * Both are functions of the same buffers, each one block; their reads and writes say which box of
 * each buffer is meant. That they compute the same is the author's word. */
#ifndef TIRC_SCHEDULE_BLOCKS_TENSOR_INTRIN_H
#define TIRC_SCHEDULE_BLOCKS_TENSOR_INTRIN_H

#include "passes/schedule/schedule.h"

typedef struct TensorIntrin TensorIntrin;
struct TensorIntrin {
  const char *name;
  const Func *desc, *impl;
  const TensorIntrin *next;
};

/* Makes the intrinsic known to the schedule. Functions of the schedule's module that serve as one
 * leave the module: it keeps what is to be compiled. Throws "tensor-intrin" when the two are no
 * intrinsic, or when the name is taken and `override` is not set. */
void tirc_register_intrin(Sched *s, const char *name, const Func *desc, const Func *impl,
                          bool override, Loc loc);
const TensorIntrin *tirc_find_intrin(const Sched *s, const char *name); /* NULL: not there */
/* The same, with those that come with the binary: they are registered when they are first named. */
const TensorIntrin *tirc_known_intrin(Sched *s, const char *name);

/* How a tile of the program matches a description. */
typedef struct TileBuffer {
  Buffer desc, tile;
  const Expr *base; /* tile->ndim: where the described box begins */
} TileBuffer;
typedef struct TileMatch {
  int n;
  const TileBuffer *buffers;
} TileMatch;
/* `tile`: the block whose body is to be replaced. NULL when it matches; otherwise the first
 * difference in words. */
const char *tirc_match_tile(Sched *s, Stmt tile, const Func *desc, TileMatch *out);

/* A copy of the statement with loops, iterators, shapes and indices of type `index` in place of
 * int32. `vars` and `buffers`: what takes the place of some of them already. */
Stmt tirc_widen_indices(Tirc *c, Stmt s, DType index, const PtrMap *vars, const PtrMap *buffers);

#endif
