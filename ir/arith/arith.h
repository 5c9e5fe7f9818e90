/* Integer reasoning: simplification, constant bounds, proofs, interval sets and iterator maps.
 * Everything here is exact for int32 and int64 and says "don't know" instead of overflowing.
 * Definitions are TVM's (arith::Analyzer, arith::IntSet, arith::DetectIterMap); where TVM assumes
 * that index arithmetic does not overflow its dtype, so do we in int32 and int64, but no folding of
 * ours wraps. What is narrower or unsigned wraps around (int_op.h): of it holds what is shown not
 * to, and bounds of it are those of its type otherwise.
 */
#ifndef TIRC_IR_ARITH_H
#define TIRC_IR_ARITH_H

#include "ir/tree/ir.h"

/* What is known about variables: ranges and conditions that hold. Lives in the arena. */
typedef struct Analyzer Analyzer;
typedef VEC(Expr) Exprs;
Analyzer *tirc_analyzer(Tirc *c);
/* One that knows nothing, for what has to be the same in each context: equality, hashes. */
Analyzer *tirc_plain_analyzer(Tirc *c);
/* From now on analyzers of c know that lower <= var <= upper (INT64_MAX: there is no upper bound).
 * The second: what f's attributes say of its symbols, tir_var_upper_bound and tir_var_lower_bound,
 * and what it assumes of them alone in its first statements. Whoever runs f has to see to it that
 * the bounds hold; what it assumes is checked where it stands. */
void tirc_know_extent(Tirc *c, Expr var, int64_t lower, int64_t upper);
void tirc_know_extents(Tirc *c, const Func *f);
/* var in [r.min, r.min + r.extent). Replaces an earlier binding of the same variable. A range of
 * constant extent 1 makes var equal to r.min in simplification. */
void tirc_bind_range(Analyzer *a, Expr var, Range r);
void tirc_bind_value(Analyzer *a, Expr var, Expr value); /* var == value */
/* A condition that holds from here to the matching leave (stack discipline). */
int tirc_enter_constraint(Analyzer *a, Expr cond); /* returns a mark */
void tirc_leave_constraint(Analyzer *a, int mark);
/* From now on comparisons follow from chains of known ones, too: i < k from i < j and j < k. */
void tirc_prove_by_chains(Analyzer *a);

/* Rewrites + canonical form, as TVM's Analyzer::Simplify: the result is what TVM 0.20 prints for
 * the same expression wherever that is reasonable (x // 2 * 64 + y, constants last, ...). Works on
 * booleans, floats (only exact identities) and expressions with loads and calls (as atoms). */
Expr tirc_simplify(Analyzer *a, Expr e);
/* With up to `steps` rounds of both simplifiers in turn (2 are usual). */
Expr tirc_simplify_steps(Analyzer *a, Expr e, int steps);
/* With nothing known about the variables. */
Expr tirc_simplify0(Tirc *c, Expr e);
/* Every expression in the statement, loop ranges and iterator domains being known. Structure (dead
 * branches, unit loops) stays unless `structure` is set: then constant ifs are resolved, loops of
 * extent 0 go and loops of extent 1 without annotations are substituted away. */
Stmt tirc_simplify_stmt(Analyzer *a, Stmt s, bool structure);
/* What a condition still says all through the statement that it leads to: no conjunct that loads
 * what the statement may store to. */
Expr tirc_lasting_part(Tirc *c, Expr cond, Stmt s);

bool tirc_prove(Analyzer *a, Expr cond); /* cond is true for all values */
/* Tries harder (TVM's ProofStrength::kSymbolicBound): a comparison is also proved by relaxing the
 * variables of known ranges to their ends, so that symbolic bounds cancel. */
bool tirc_prove_symbolic(Analyzer *a, Expr cond);
/* The same where `given` holds, by the ends that it gives a variable: i // 16 < (n + 15) // 16
 * where i < n. */
bool tirc_prove_given(Analyzer *a, Expr given, Expr cond);
bool tirc_prove_equal(Analyzer *a, Expr x, Expr y);
bool tirc_prove_lt(Analyzer *a, Expr x, Expr y); /* x < y */
bool tirc_prove_ge(Analyzer *a, Expr x, Expr y); /* x >= y */

/* [min, max] inclusive; TIRC_NEG_INF / TIRC_POS_INF when unbounded. */
#define TIRC_NEG_INF INT64_MIN
#define TIRC_POS_INF INT64_MAX
typedef struct Bound {
  int64_t min, max;
} Bound;
Bound tirc_const_bound(Analyzer *a, Expr e);
/* The same, closer where minima and maxima stand in the sum e, of index type: with each of their
 * operands in turn (arms.c). The second: what e is with an operand in the place of each of them.
 * Both are of values of e's type: a difference x - y that wraps around (an unsigned one is 0 or
 * more) does not tell which of x and y is larger. */
Bound tirc_bound_by_arms(Analyzer *a, Expr e);
void tirc_add_arms(Analyzer *a, Expr e, Exprs *out);
/* Of a sum, difference or product as if its type held every number; of others, the same. */
Bound tirc_unwrapped_bound(Analyzer *a, Expr e);
/* Whether a sum, difference or product of a type that is taken not to overflow has values that the
 * type has not, as far as bounds say: where a variable in it is unknown, for that is an index, only
 * with a constant beyond half of what the type holds. What is new in a rewritten expression must
 * not. */
bool tirc_may_leave_type(Analyzer *a, Expr e);
/* Whether the type has all of them: an infinite end fits no type of 64 bits. */
bool tirc_bound_fits(DType t, Bound b);
/* e == coeff * k + base for some integer k; coeff 0 means e is the constant base, 1 nothing known.
 */
typedef struct Modular {
  int64_t coeff, base;
} Modular;
Modular tirc_modular(Analyzer *a, Expr e);
/* gcd where 0 counts as "no restriction"; of absolute values. */
int64_t tirc_gcd(int64_t a, int64_t b);

/* --- interval sets ---------------------------------------------------------------------------- */

/* All integers from min to max inclusive. NULL min: unbounded below; NULL max: unbounded above. */
typedef struct IntSet {
  Expr min, max;
} IntSet;
/* How the variables in an expression vary: from a variable (Expr) to an IntSet *. Variables that
 * are not in the map are fixed. */
IntSet tirc_eval_set(Analyzer *a, Expr e, const PtrMap *dom);
IntSet tirc_set_of_range(Tirc *c, Range r);
IntSet tirc_set_union(Analyzer *a, IntSet x, IntSet y); /* the interval hull */
IntSet tirc_set_intersect(Analyzer *a, IntSet x, IntSet y);
/* The same numbers in a type whose sums do not wrap around; an end that has none is infinite. */
IntSet tirc_countable_set(Analyzer *a, IntSet s);
/* The range of a set; `fallback` where it is unbounded. Simplified. */
Range tirc_range_of_set(Analyzer *a, IntSet s, Range fallback);

/* --- iterator maps: quasi-affine bindings ----------------------------------------------------- */

/* An iterator: `source` split: (source // lower_factor) % extent * scale.
 * mark `source` is a loop variable or a fused sum of splits. */
typedef struct IterSum IterSum;
typedef struct IterMark {
  Expr var;     /* a loop variable, or variable - min; NULL for a fused one */
  IterSum *sum; /* the fused iterators, when var is NULL */
  Expr extent;
} IterMark;
typedef struct IterSplit {
  const IterMark *source;
  Expr lower_factor, extent, scale;
} IterSplit;
struct IterSum {
  int n;
  const IterSplit *args;
  Expr base;
};
typedef enum IterLevel {
  ITER_LEVEL_BIJECTIVE, /* TVM's IterMapLevel::Bijective */
  ITER_LEVEL_SURJECTIVE,
  ITER_LEVEL_NO_CHECK /* injective only */
} IterLevel;
typedef struct IterMap {
  int n;
  const IterSum *indices; /* one per input index */
  Expr padding_predicate; /* false when nothing was padded */
} IterMap;
/* TVM's DetectIterMap. vars/doms: the input iterators and their ranges (n_vars). predicate bounds
 * them further (NULL or true: none). Returns NULL when the indices are no independent quasi-affine
 * map of the iterators; then *why (unless NULL) says in words which index and iterator failed. */
const IterMap *tirc_detect_iter_map(Analyzer *a, int n, const Expr *indices, int n_vars,
                                    const Expr *vars, const Range *doms, Expr predicate,
                                    IterLevel level, bool simplify_trivial, const char **why);
/* A sum or split as an expression again (TVM's NormalizeIterMapToExpr). */
Expr tirc_iter_sum_expr(Analyzer *a, const IterSum *s);
/* TVM's IterMapSimplify: the indices rewritten in terms of the iterators, shorter; as given where
 * detection fails. out has n places. */
void tirc_iter_map_simplify(Analyzer *a, int n, const Expr *indices, int n_vars, const Expr *vars,
                            const Range *doms, Expr predicate, IterLevel level,
                            bool simplify_trivial, Expr *out);
/* TVM's SubspaceDivide: splits each binding into an outer part (over variables not in `inner`) and
 * an inner part: binding == outer * inner_extent + inner. NULL when impossible. The last entry is
 * the predicate. */
typedef struct SubspaceDivision {
  Expr outer, outer_extent, inner, inner_extent;
} SubspaceDivision;
const SubspaceDivision *tirc_subspace_divide(Analyzer *a, int n, const Expr *bindings, int n_vars,
                                             const Expr *vars, const Range *doms,
                                             const PtrMap *inner, Expr predicate, IterLevel level,
                                             bool simplify_trivial);
/* Bijective affine map inverted (TVM's InverseAffineIterMap): from an input variable to its value
 * in terms of `outputs` (one per index of the map). */
void tirc_inverse_iter_map(Analyzer *a, const IterMap *map, const Expr *outputs, PtrMap *inverse);
/* How far `region` (ndim ranges of expressions) reaches while vars vary over doms under predicate.
 * strict: TVM's EstimateRegionLowerBound / StrictBound, exact hulls, NULL when the region is not
 * affine. Otherwise TVM's EstimateRegionUpperBound, which falls back to interval sets and is never
 * NULL. */
const IntSet *tirc_estimate_region(Analyzer *a, int ndim, const Range *region, int n_vars,
                                   const Expr *vars, const Range *doms, Expr predicate,
                                   bool strict);

/* What `cond` says about variables of `dom`: narrows the IntSets in the map (used by access.h and
 * compact_buffer). Conditions that are no linear bound of one variable are ignored. */
void tirc_narrow_by_condition(Analyzer *a, Expr cond, PtrMap *dom);

#endif
