#ifndef TIRC_LOWER_PACKING_H
#define TIRC_LOWER_PACKING_H

#include "ir/tree/ir.h"

/* Takes the copies that a schedule marked as packing of constant operands out of their functions: a
 * function NAME_pack_PARAMETER for each, before the function, which takes the packed array instead.
 * Throws "lower" when a marked block is no such copy. The module itself when there is none. */
const Module *tirc_split_packing(Tirc *c, const Module *m);

/* Whether a nest holds a block so marked. */
bool tirc_packs(Stmt nest);

#endif
