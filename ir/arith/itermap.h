/* The state of iterator map detection, shared by arith_itermap*.c. */
#ifndef TIRC_IR_ARITH_ITERMAP_H
#define TIRC_IR_ARITH_ITERMAP_H

#include "internal.h"

/* What a subexpression is while it is rewritten: free of iterators, or a sum of splits. */
typedef struct IterValue {
  Expr e; /* NULL when it uses iterators */
  IterSum sum;
} IterValue;

/* A sum of splits of input iterators (flattened) is one mark: its structured form, plus an offset
 * that keeps the mark's values >= 0. */
typedef struct FusedIter {
  IterSum flattened, structured;
  const IterMark *mark;
  Expr offset;
  Expr full_extent; /* before any constraint */
} FusedIter;

/* How a mark is padded so that the divisors that occur divide it. */
typedef struct IterPadding {
  const IterMark *mark, *padded;
  Expr factor, left;
} IterPadding;

typedef struct MarkVar {
  Expr var;
  IterValue value;
} MarkVar;

typedef struct IterRewriter {
  Analyzer *a;
  Tirc *c;
  IterLevel level;
  const char *why; /* the first thing that could not be represented */
  VEC(MarkVar) vars;
  VEC(const IterMark *) inputs;
  VEC(FusedIter) fused;
  VEC(int) constrained; /* positions in fused, shorter ones first */
  VEC(IterPadding) paddings;
  bool update_padding, requires_padding;
  Expr padding_predicate;
} IterRewriter;

/* The sum as one split of a fused mark, plus a base; false when it is none. */
bool tirc_iter_fuse(IterRewriter *r, IterSum sum, bool early, IterSum *out);
bool tirc_iter_split_equal(const IterSplit *x, const IterSplit *y, bool with_scale);
/* (s + base) op by, for // and %; false (with a reason) when it is no split. */
bool tirc_iter_divide(IterRewriter *r, Op op, IterSplit s, Expr base, Expr by, IterValue *out);
bool tirc_iter_divisible(Analyzer *a, Expr x, Expr by);
void tirc_iter_fail(IterRewriter *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool tirc_iter_check(IterRewriter *r, int n, const IterSum *sums);
IterSplit tirc_iter_split_of(Tirc *c, const IterMark *mark, Expr scale);
IterSum tirc_iter_one(Tirc *c, IterSplit s, Expr base);

#endif
