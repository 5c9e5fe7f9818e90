/* Which thread of a warp has which element in mma.sync, and which rows it names in ldmatrix.
 * Source: NVIDIA's PTX ISA, "Matrix Fragments for mma.m16n8k16", "ldmatrix". A result of 16 x 16 is
 * two instructions', 16 x 8 each: eight registers a thread. */
#ifndef TIRC_LOWER_MMA_H
#define TIRC_LOWER_MMA_H

#include "ir/tree/ir.h"

/* The element, row * 16 + column, that is the i-th of the lane's. */
Expr tirc_mma_element(Tirc *c, Expr lane, Expr i);
/* Of an element of a buffer of results, whose rows have `width` elements: the lane that has it, and
 * which of all its registers it is, tile after tile. */
Expr tirc_mma_owner(Tirc *c, Expr element, int64_t width);
Expr tirc_mma_register(Tirc *c, Expr element, int64_t width);
/* Where the row begins that the lane names: of four squares of 8 rows of 16 bytes, `chunk`
 * elements. is_b: of the right operand; trans: its rows are steps of the sum (of the left one: they
 * are not). */
Expr tirc_ldmatrix_row(Tirc *c, Expr lane, Expr stride, bool is_b, bool trans, int chunk);

#endif
