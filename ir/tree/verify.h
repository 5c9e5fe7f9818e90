/* Well-formedness of a module: types, ranks, definitions before uses, one definition a variable,
 * iterators bound, regions of the right rank, loops with unique variables. */
#ifndef TIRC_IR_VERIFY_H
#define TIRC_IR_VERIFY_H

#include "ir.h"

/* Throws with the location of the offending statement (code "ill-formed"). */
void tirc_verify(Tirc *c, const Module *m);

#endif
