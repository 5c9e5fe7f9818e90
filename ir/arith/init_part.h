/* Where T.init runs under a predicate.
 *
 *   for i, k0, k1 in T.grid(m, 4, 16):
 *       with T.block("B"):
 *           vi = T.axis.spatial(n, i)
 *           vk = T.axis.reduce(50, k0 * 16 + k1)
 *           T.where(i < n and k0 * 16 + k1 < 50)    the init: i < n;  the rest: k0 * 16 + k1 < 50
 *
 * It runs where all reduction iterators have their first value, each other iterator is in its
 * domain, and those conjuncts of the predicate hold that use no variable which reduction iterators
 * alone are bound to. The rest says which steps there are: it is asked after the init, and decides
 * about the body. So a sum of which the first step is left out starts nevertheless, and so does one
 * of no step at all. */
#ifndef TIRC_IR_INIT_PART_H
#define TIRC_IR_INIT_PART_H

#include "arith.h"

/* The conjuncts under which the init runs, or the rest. Of a block without an init all of them are
 * the rest. */
Expr tirc_init_part(Tirc *c, const Block *b, Expr predicate, bool rest);

/* What is known of the instances that run the init. */
typedef struct InitPart {
  Expr kept, rest; /* the two parts of the predicate */
  Expr inside;     /* what is not known of iterators to be in their domains there, */
  Expr some;       /* and of the reduction to have steps at all: of none there is no first one */
  bool always;     /* the rest holds in all of them */
  bool at_start;   /* in all of them the loops that reduction iterators are bound to are at their
                    * start, and no other instances are */
} InitPart;

/* By sight. The analyzer knows the loops around the block; those that are given, of the block's
 * scope, run. It gets to know what holds in those instances. */
InitPart tirc_find_init_part(Analyzer *a, Tirc *c, const Block *b, int n, const Expr *vars,
                             const Range *doms);
/* All that is asked there beside `kept`. */
Expr tirc_init_guard(Tirc *c, const InitPart *p);

/* Whether a condition holds in all instances that run the init where `kept` does, by sight. */
bool tirc_sees_with_init(Analyzer *a, Tirc *c, const Block *b, int n, const Expr *vars,
                         const Range *doms, Expr kept, Expr condition);

#endif
