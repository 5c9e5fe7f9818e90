/* Symbols of a function. */
#ifndef TIRC_IR_SYMBOLS_H
#define TIRC_IR_SYMBOLS_H

#include "ir.h"

/* The variables that stand in the shapes, strides and offsets of f's parameter buffers without
 * being scalar parameters themselves (`n = T.int32()` in a program), in order of first appearance.
 */
int tirc_symbolic_params(Tirc *c, const Func *f, Expr **out);
/* These, and behind them the scalar parameters that are integers: all that extents are made of. */
int tirc_extent_params(Tirc *c, const Func *f, Expr **out);

#endif
