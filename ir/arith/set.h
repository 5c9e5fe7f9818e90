/* Sets of tuples of integers and relations between them, with parameters: exact, for all sizes.
 * Presburger arithmetic, by libisl; set.c alone knows that.
 *
 * Ownership: all that is made lives in its `Sets` until the question ends that it was made for
 * (tirc_sets_end), and goes with the context at last; nobody frees anything alone, and no argument
 * is consumed. So an error may be raised at any time.
 *
 * Errors flow: what is made from NULL is NULL, and a question about NULL is answered UNKNOWN. NULL
 * comes of a budget of operations that is used up; where memory runs out, tirc_sets_end raises the
 * context's memory error.
 *
 * A tuple of n numbers has the places 0 to n - 1. Parameters stand for what is fixed while the
 * question is asked: symbolic sizes, loops outside of a nest. Each is known by a pointer. */
#ifndef TIRC_IR_ARITH_SET_H
#define TIRC_IR_ARITH_SET_H

#include "ir/tree/ir.h"

typedef struct Sets Sets;
typedef struct isl_pw_aff *ZValue; /* a quasi-affine number, of the tuples of n numbers */
typedef struct isl_set *ZSet;
typedef struct isl_map *ZMap; /* from tuples of n numbers to tuples of m */

typedef enum Answer { ANSWER_NO, ANSWER_YES, ANSWER_UNKNOWN } Answer;

/* Goes with c. */
Sets *tirc_sets_new(Tirc *c);
/* A question begins, which may cost so many operations; what is made in it goes when it ends, or
 * when the next one begins. */
void tirc_sets_begin(Sets *s, unsigned long budget);
/* The number of the question that goes on: what is kept with another one is gone. */
int64_t tirc_sets_question(const Sets *s);
void tirc_sets_end(Sets *s);
/* What was done without sets to answer the last question is part of what it cost. */
void tirc_sets_went_on(Sets *s);

typedef struct SetsCost { /* of a question */
  double seconds;         /* of the processor */
  bool over_budget;
} SetsCost;
/* Of all questions so far, for measurements; s may be NULL. */
int tirc_sets_costs(const Sets *s, const SetsCost **out);

/* --- numbers --------------------------------------------------------------------------------- */

ZValue tirc_z_int(Sets *s, int n, int64_t value);
ZValue tirc_z_place(Sets *s, int n, int place);
ZValue tirc_z_param(Sets *s, int n, const void *key);
/* That it is from `first` on and before `end` is known in all answers of the question, and need not
 * stand in what they are asked about. */
void tirc_z_param_within(Sets *s, const void *key, int64_t first, int64_t end);
ZValue tirc_z_add(Sets *s, ZValue a, ZValue b);
ZValue tirc_z_sub(Sets *s, ZValue a, ZValue b);
ZValue tirc_z_min(Sets *s, ZValue a, ZValue b);
ZValue tirc_z_max(Sets *s, ZValue a, ZValue b);
ZValue tirc_z_mul(Sets *s, ZValue a, ZValue b); /* one of them is_constant */
int tirc_z_length(ZValue a);                    /* of the tuples */
bool tirc_z_is_constant(Sets *s, ZValue a);
ZValue tirc_z_floordiv(Sets *s, ZValue a, int64_t by); /* by > 0 */
ZValue tirc_z_floormod(Sets *s, ZValue a, int64_t by);
ZValue tirc_z_choose(Sets *s, ZSet where, ZValue yes, ZValue no);
/* The same of longer tuples, of which it does not look at the rest. */
ZValue tirc_z_extend(Sets *s, ZValue a, int more);

/* --- sets ------------------------------------------------------------------------------------ */

ZSet tirc_z_all(Sets *s, int n);
ZSet tirc_z_none(Sets *s, int n);
ZSet tirc_z_compare(Sets *s, Op op, ZValue a, ZValue b); /* OP_EQ to OP_GE */
ZSet tirc_z_and(Sets *s, ZSet a, ZSet b);
ZSet tirc_z_or(Sets *s, ZSet a, ZSet b);
/* Of these the tuples with numbers from `first` on and before `end` at a place. */
ZSet tirc_z_within(Sets *s, ZSet a, int place, int64_t first, int64_t end);
ZSet tirc_z_not(Sets *s, ZSet a);
ZSet tirc_z_extend_set(Sets *s, ZSet a, int more);

/* --- relations ------------------------------------------------------------------------------- */

/* From each tuple of `from` to the n numbers. NULL in `to`: any number. `extents`: from that number
 * on so many of them (NULL, or NULL in it: one). */
ZMap tirc_z_map(Sets *s, ZSet from, int n, const ZValue *to, const ZValue *extents);
ZMap tirc_z_union(Sets *s, ZMap a, ZMap b); /* NULL, NULL is an error; see tirc_z_empty */
ZMap tirc_z_empty(Sets *s, int n_in, int n_out);
ZMap tirc_z_meet(Sets *s, ZMap a, ZMap b);
ZMap tirc_z_minus(Sets *s, ZMap a, ZMap b);
ZMap tirc_z_reverse(Sets *s, ZMap a);
ZMap tirc_z_compose(Sets *s, ZMap first, ZMap then);
/* Without the places from `first` on of the tuples that it is from: whatever stands there. */
ZMap tirc_z_drop_in(Sets *s, ZMap a, int first, int n);
/* Of the tuples that it is from these n places alone, in this order. */
ZMap tirc_z_keep_in(Sets *s, ZMap a, int n, const int *places);
/* From the first n numbers of what a goes to, to all of them. */
ZMap tirc_z_from_head(Sets *s, ZMap a, int n);
/* From x to y where place `a` of both is the same, x's is less than y's, and x's is greater. */
ZMap tirc_z_tuples(Sets *s, int n);
ZMap tirc_z_equal_at(Sets *s, ZMap m, int a);
ZMap tirc_z_less_at(Sets *s, ZMap m, int a);
ZMap tirc_z_greater_at(Sets *s, ZMap m, int a);
/* From x to y of a greater lexicographic order. */
ZMap tirc_z_later(Sets *s, int n);
/* From each x to the greatest y of a. */
ZMap tirc_z_last(Sets *s, ZMap a);
/* The numbers that it is from in another order: the new place i is the old place order[i]. */
ZMap tirc_z_permute_in(Sets *s, ZMap a, const int *order);

Answer tirc_z_is_empty(Sets *s, ZMap a);
Answer tirc_z_is_equal(Sets *s, ZMap a, ZMap b);
/* Whether it goes from each tuple to one at most. */
Answer tirc_z_is_function(Sets *s, ZMap a);
Answer tirc_z_is_subset(Sets *s, ZMap a, ZMap b);

/* --- witnesses ------------------------------------------------------------------------------- */

typedef struct ZPoint {
  int n_params, n_in, n_out;
  const void *const *params; /* their keys */
  const int64_t *of_params, *in, *out;
} ZPoint;
/* The first pair of the relation that there is, parameters foremost, in the arena of the context;
 * any where that is not found. False: there is none, or it was not found. */
bool tirc_z_sample(Sets *s, ZMap a, ZPoint *out);
/* The relation with these parameters and this tuple to be from alone. */
ZMap tirc_z_at(Sets *s, ZMap a, int n_params, const void *const *params, const int64_t *of_params,
               const int64_t *in);

#endif
