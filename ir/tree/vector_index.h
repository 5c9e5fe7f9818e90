/* Index arithmetic where an operand may be a vector: a ramp stays one. */
#ifndef TIRC_IR_VECTOR_INDEX_H
#define TIRC_IR_VECTOR_INDEX_H

#include "ir.h"

Expr tirc_index_add(Tirc *c, Expr x, Expr y);
Expr tirc_index_scale(Tirc *c, Expr x, Expr factor); /* factor is a scalar */
Expr tirc_index_cast(Tirc *c, DType t, Expr x);      /* t is a scalar type */

#endif
