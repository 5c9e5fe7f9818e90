/* Accesses as relations: from the loops of a nest, as tuples of numbers, to the elements that are
 * touched. What is outside of the nest (sizes, loops around it) is a parameter.
 *
 * What cannot be said with quasi-affine numbers (a product of two loops, a loaded index, a division
 * by a size) may be any; then the relation holds at least what is so, and is not exact. (Conditions
 * outside of the nest hold, or nothing in it runs.) A value
 * that stands still while the nest runs is a parameter whatever it is, and equal ones are one. */
#ifndef TIRC_SCHEDULE_MEANING_RELATION_H
#define TIRC_SCHEDULE_MEANING_RELATION_H

#include "extract.h"

typedef struct Relations {
  Sched *s;
  Sets *sets;
  SRef *nest;        /* its outermost loop, or the loop or block in which all is */
  VEC(Expr) symbols; /* values that stand still and are no variables */
  Place nowhere;     /* around everything */
  PtrMap common;     /* of buffers: an array of the indices that need not be compared */
  Analyzer *ranges;  /* of the loops around what was asked for; NULL: not made yet */
  ZSet sizes;        /* extents of parameters are at least 1; NULL: not asked for yet */
} Relations;

/* Those of a schedule, made when first asked for. */
Sets *tirc_sets_of(Sched *s);
/* The iterations, as tuples of p->n_loops numbers, that reach a place; p->is_exact: not more. */
ZSet tirc_reached(Relations *r, Place *p);
/* From tuples of t->at->n_loops numbers to elements. *exact becomes false where it is not. */
ZMap tirc_relation_of(Relations *r, const Touch *t, bool *exact);
/* The same number in terms of loops alone, without what a quotient or the like leaves out. */
Expr tirc_in_loops(Relations *r, Place *at, Expr e);
/* What is asked is only whether elements of a buffer are the same: an index that is the same in all
 * touches of it while the nest runs is 0 from now on. `more` is one of them, too (NULL: nothing).
 */
void tirc_leave_out_common(Relations *r, const Touches *touches, const Touch *more);
/* A parameter of the relations by its key: "n", "k_0", or "idx[n]". */
const char *tirc_param_text(const Relations *r, const void *key);

#endif
