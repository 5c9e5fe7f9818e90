/* What every code generator asks of an access and of an allocation. */
#ifndef TIRC_CODEGEN_ACCESS_H
#define TIRC_CODEGEN_ACCESS_H

#include "ir/tree/ir.h"

/* The index in elements from the buffer's data; flat buffers have just one. */
Expr tirc_linear_index(Tirc *c, Buffer b, int n, Expr const *indices);
/* A ramp of stride 1. */
bool tirc_is_contiguous(Expr index);
/* The largest power of two, at most `most`, that divides an index whatever its variables are. */
int tirc_index_divisor(Tirc *c, Expr index, int most);
/* The size of a buffer in bytes when it is a constant; -1 otherwise. */
int64_t tirc_constant_bytes(Buffer b);
/* In a kernel: whether what is allocated is a block's memory, and not a thread's; and its size.
 * They throw "codegen" where a kernel has no place for it, or its size is no constant. */
bool tirc_is_block_memory(Tirc *c, Loc loc, Stmt alloc);
int64_t tirc_kernel_bytes(Tirc *c, Loc loc, Buffer b);
/* Whether a buffer of that size goes into a frame that holds `used` bytes already. */
bool tirc_fits_stack(int64_t bytes, int64_t used);

#endif
