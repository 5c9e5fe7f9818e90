/* Extents of symbols that leave their type, on entry. */
#ifndef TIRC_LOWER_EXTENTS_H
#define TIRC_LOWER_EXTENTS_H

#include "ir/tree/ir.h"

/* The function's body below assertions that its extents fit their types, and that what it assumes
 * of its sizes has a value. */
Stmt tirc_lower_extents(Tirc *c, const Func *f);
/* Of the extents alone, for whoever runs what it assumes. */
Stmt tirc_extents_alone(Tirc *c, const Func *f);
/* The message of the first assertion above all else in the body that does not hold for these values
 * of symbols (from Expr to Expr), with the values; NULL: there is none. *loc: its place, where it
 * has one. */
const char *tirc_failed_extent(Tirc *c, Stmt body, const PtrMap *values, Loc *loc);

#endif
