/* Is all that is to be written, written? Does a block run for all of its iterators' domains?
 *
 *   for i in range(601):                    stores to C[0:601] without C[300]
 *     if i != 300: C[i] = A[i]
 *
 * By sight (written_box.h), exactly for all sizes, or by running through all of a nest with
 * constant bounds. False: no, or it cannot be proved. *missing (NULL: of no interest) says which
 * element or instance there is not, "C[300]", or is NULL where none is certain.
 *
 * A call that gets an address is taken to store to all that its block declares to write. */
#ifndef TIRC_SCHEDULE_MEANING_COVER_H
#define TIRC_SCHEDULE_MEANING_COVER_H

#include "relation.h"

/* Whether each instance of the block stores to all of the box, which is in terms of its iterators.
 */
bool tirc_writes_box(Sched *s, SRef *block, const Region *box);
/* Whether the block, with the loops around it below `within`, a loop or block of its scope, stores
 * to all of the box whenever that runs and the condition holds. The box is in terms of what is
 * around those loops. */
bool tirc_nest_writes_box(Sched *s, SRef *block, SRef *within, Expr condition, const Region *box,
                          const char **missing);
/* Whether the block runs in its scope for all values of the iterators that are `of` interest (NULL:
 * of all). */
bool tirc_reaches_domain(Sched *s, SRef *block, const PtrMap *of, const char **missing);
/* Whether a block's predicate says no more than that its iterators are in their domains. */
bool tirc_domain_implies_predicate(Sched *s, SRef *block);
/* The condition of an error, from what is missing. */
const char *tirc_missing_text(Tirc *c, const char *missing);

#endif
