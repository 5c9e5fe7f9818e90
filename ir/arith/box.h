/* Boxes of elements: does one surely hold another? False: it may not. */
#ifndef TIRC_IR_ARITH_BOX_H
#define TIRC_IR_ARITH_BOX_H

#include "arith.h"

/* [0, extent); all of a dimension; and all of a buffer, in the arena. */
static inline Range tirc_from_zero(Tirc *c, Expr extent) {
  return tirc_range(tirc_int(c, extent->dtype, 0), extent);
}
static inline Range tirc_whole_dim(Tirc *c, Buffer b, int d) {
  return tirc_from_zero(c, b->shape[d]);
}
Region tirc_whole_buffer(Tirc *c, Buffer b);
/* The one element at these indices, one a dimension. */
Region tirc_point(Tirc *c, Buffer b, const Expr *indices);

bool tirc_surely_indexes(Analyzer *a, Expr index, Expr extent); /* 0 <= index < extent */
bool tirc_surely_some(Analyzer *a, Expr extent);                /* extent >= 1 */
bool tirc_range_surely_in(Analyzer *a, Range inner, Range outer);
bool tirc_set_surely_in(Analyzer *a, IntSet inner, Range outer);
/* False, too, where they are of different buffers. */
bool tirc_region_surely_in(Analyzer *a, const Region *inner, const Region *outer);

/* All that a range covers while variables vary as in `dom` (tirc_eval_set). */
IntSet tirc_box_of_range(Analyzer *a, Range r, const PtrMap *dom);

/* Whether a variable, or one of these, stands in a bound of a range, or of a region. */
bool tirc_range_uses(Range r, Expr var);
bool tirc_range_uses_any(Range r, const PtrMap *vars);
bool tirc_region_uses(const Region *r, Expr var);
bool tirc_region_uses_any(const Region *r, const PtrMap *vars);

#endif
