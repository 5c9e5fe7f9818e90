/* The room where it is decided what a schedule may do, for all sizes.
 *
 * What a program touches is extracted once (extract.h), as relations of integer tuples (relation.h)
 * that are exact. Then a few questions are asked: does a new order keep the order of dependent
 * accesses (order.h), do iterations meet in an element (carried.h), does an init come before its
 * sum (init_first.h), does a nest write all of a box or a block reach its domain (cover.h), is an
 * access outside of its buffer (bounds.h).
 * What is asked of one block or statement alone stands here too: what decides whether it runs
 * (conditions.h), what it does to its own output (updates.h), of which operation it is a reduction
 * (reducer.h), and by sight, what it writes (written_box.h).
 *
 * Each is answered on integer sets (set.h is all that knows of isl), or by running through all of a
 * nest of constant size (finite.h), or is "not provable": never from a sample. A refusal carries
 * an example (witness.h). */
#ifndef TIRC_SCHEDULE_MEANING_H
#define TIRC_SCHEDULE_MEANING_H

#include "bounds.h"
#include "carried.h"
#include "conditions.h"
#include "cover.h"
#include "init_first.h"
#include "order.h"
#include "reducer.h"
#include "updates.h"

#endif
