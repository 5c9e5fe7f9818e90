/* Which boxes of which buffers a statement touches, and which ones a block declares. */
#ifndef TIRC_IR_ACCESS_H
#define TIRC_IR_ACCESS_H

#include "ir/tree/ir.h"

typedef struct Regions {
  int n;
  const Region *at;
} Regions;
typedef struct Access {
  Regions reads, writes;
  Regions opaque; /* whole buffers whose data pointer or address is taken */
} Access;
/* TVM's GetBlockAccessRegion for a block: everything its body (and init) reads and writes, in order
 * of first access, one region a buffer (the hull), relaxed over the loops inside the block. Buffers
 * the block allocates itself are left out; what their extents load comes last. As in TVM, an access
 * that a reduction's update makes to the element that it writes is no read when the block has an
 * init. A nested block counts by its declared regions. */
Access tirc_block_access(Tirc *c, Stmt block);
/* The first of the regions that is of the buffer, or NULL. */
const Region *tirc_region_of(int n, const Region *at, Buffer buffer);
/* What the block itself declares of the buffer, or NULL. */
const Region *tirc_declared_read(const Block *b, Buffer buffer);
const Region *tirc_declared_write(const Block *b, Buffer buffer);
/* Reads and writes filled in from tirc_block_access where the text gave none. */
Stmt tirc_infer_regions(Tirc *c, Stmt block, bool reads_given, bool writes_given);
/* TVM's GetBlockReadWriteRegion: opaque regions are part of both. */
void tirc_block_reads_writes(Tirc *c, Stmt block, Regions *reads, Regions *writes);
/* The block with these. */
Stmt tirc_with_own_regions(Tirc *c, Stmt block);

#endif
