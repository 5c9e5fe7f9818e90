/* Where loops and blocks of a schedule stand, as places (passes/meaning/touches.h), and what they
 * touch there. */
#ifndef TIRC_SCHEDULE_MEANING_PLACES_H
#define TIRC_SCHEDULE_MEANING_PLACES_H

#include "passes/meaning/relations.h"
#include "passes/schedule/schedule.h"

/* All in a nest of loops (n of them, outermost first, directly nested, as they stand in the
 * program). */
void tirc_extract_nest(Extract *x, int n, SRef *const *chain);
/* All in a block. Of the nest are the loops of its scope around it that `moves` names; others stand
 * still. */
void tirc_extract_block(Extract *x, SRef *block, const PtrMap *moves);
/* Blocks as they are run by checks: without views. */
Plain tirc_plain_blocks(Sched *s, SRefs blocks);
/* Where a loop or block of the program stands: what is around it is outside of the nest. */
Place *tirc_place_around(Tirc *c, SRef *in);
/* Where an instance of the block stands, of which no more is known than the iterators' domains. */
Place *tirc_place_of_instance(Tirc *c, SRef *block);
/* In a loop or block, where its own loop or iterators stand still, as all around it does. */
Place *tirc_place_in(Tirc *c, SRef *in);
/* In that place, `in`, of `where`: at a loop or block below it, in the same scope. The loops on the
 * way are a nest. */
Place *tirc_place_below(Tirc *c, Place *in, const SRef *where, SRef *r);

/* The sets of a schedule, made when first asked for. */
Sets *tirc_sets_of(Sched *s);
/* Relations of a nest: its outermost loop, or the loop or block in which all is. In the arena. */
const Relations *tirc_relations_in(Sched *s, SRef *nest);

#endif
