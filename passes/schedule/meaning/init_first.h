/* Does the first instance of a sum that runs have the init?
 *
 *   for f in range(32):                      vi = f // 8, vk = f % 8: for each vi, vk = 0 comes
 *     with T.block("C"):                     first, with the init; but not under f < 30 and in
 *       vi = T.axis.spatial(4, f // 8)       an order of parts of f in which another vk does
 *       vk = T.axis.reduce(8, f % 8)
 */
#ifndef TIRC_SCHEDULE_MEANING_INIT_FIRST_H
#define TIRC_SCHEDULE_MEANING_INIT_FIRST_H

#include "relation.h"

/* Of each sum that a block computes in a nest of loops, outermost first, where `condition` holds;
 * the nest stands, or is to stand, where `in` does. False also where it cannot be proved. */
bool tirc_init_comes_first(Sched *s, SRef *in, int n, const For *const *loops, const Block *block,
                           Expr condition);

#endif
