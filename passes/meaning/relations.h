/* Touches as relations of integer tuples (ir/arith/set.h). */
#ifndef TIRC_MEANING_RELATIONS_H
#define TIRC_MEANING_RELATIONS_H

#include "ir/arith/set.h"
#include "touches.h"

enum { SETS_BUDGET = 30000 }; /* operations a question */

/* From the loops of a nest, as tuples of numbers, to the elements that are touched. What is outside
 * of the nest (sizes, loops around it) is a parameter.
 *
 * What cannot be said with quasi-affine numbers (a product of two loops, a loaded index, a division
 * by a size) may be any; then the relation holds at least what is so, and is not exact. (Conditions
 * outside of the nest hold, or nothing in it runs.) A value that stands still while the nest runs
 * is a parameter whatever it is, and equal ones are one. */
struct Relations {
  Tirc *c;
  Sets *sets;
  /* Whether what an expression loads may change while the nest runs; NULL: it may. */
  bool (*changes)(const Relations *r, Expr e);
  void *state, *nest; /* of whom that is asked */
  const Func *func;   /* whose sizes are at least 1; NULL: no one's */
  VEC(Expr) symbols;  /* values that stand still and are no variables */
  Place nowhere;      /* around everything */
  PtrMap common;      /* of buffers: an array of the indices that need not be compared */
  Analyzer *ranges;   /* of the loops around what was asked for; NULL: not made yet */
  ZSet sizes;         /* extents of parameters are at least 1; NULL: not asked for yet */
};

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
/* One lane of a vector index, by its number; NULL: which element that is is not known. */
Expr tirc_lane_of(Tirc *c, Expr index, Expr lane);
Place *tirc_lanes_place(Tirc *c, Place *up, Expr lane, int lanes); /* all of them: a loop */
/* A parameter of the relations by its key: "n", "k_0", or "idx[n]". */
const char *tirc_param_text(const Relations *r, const void *key);

/* What is wrong, for messages: two iterations and the element that they share. */
typedef struct Meeting {
  ZMap pairs;         /* of iterations that meet; both are tuples of the loops of a nest */
  ZMap first, second; /* which elements they touch */
  bool first_stores, second_stores;
} Meeting;

/* "for n = 5002: i = 0, j = 700 stores B[700, 700], which i = 700, j = 0 reads"; NULL: none was
 * found. An iteration is n numbers, each with the name of a variable; they are given back unless
 * that is NULL. */
const char *tirc_witness(const Relations *r, int n, const Expr *names, Buffer b, Meeting m,
                         const int64_t **of_first, const int64_t **of_second);

#endif
