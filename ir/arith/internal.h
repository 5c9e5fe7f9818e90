/* What the files of arith share. See arith.h for what is offered.
 *
 * Two simplifiers work together, as in TVM: the rewriter applies pattern rules (rules.c) from
 * the leaves up; the canonical simplifier keeps sums of splits while it walks and shares the rules
 * for everything that is no sum. `Simplifier` says which of the two a walk is. */
#ifndef TIRC_IR_ARITH_INTERNAL_H
#define TIRC_IR_ARITH_INTERNAL_H

#include "arith.h"
#include "ir/tree/visit.h"

typedef struct VarInfo {
  bool has_bound, has_modular, has_range;
  Bound bound;
  Modular modular;
  Expr value; /* what the variable equals, or NULL */
  Range range;
} VarInfo;

/* lo <= x - y <= hi, or x - y != 0 when `differ`. */
typedef struct KnownDiff {
  Expr x, y;
  int64_t lo, hi;
  bool differ;
} KnownDiff;
typedef struct KnownBound {
  Expr e;
  Bound bound;
} KnownBound;
typedef struct KnownModular {
  Expr var;
  Modular modular;
} KnownModular;
typedef struct ConstraintMark {
  int literals, bounds, modulars, diffs;
} ConstraintMark;

struct Analyzer {
  Tirc *c;
  PtrMap vars;                /* to VarInfo * */
  VEC(KnownDiff) range_diffs; /* from ranges of variables */
  VEC(Expr) literals;         /* conditions that are true */
  VEC(KnownBound) bounds;
  VEC(KnownModular) modulars;
  VEC(KnownDiff) diffs;
  VEC(ConstraintMark) marks;
  int recursion[2]; /* of recursive rewrites, for the rewriter and the canonical simplifier */
  int nesting;      /* of proofs inside simplification */
  bool chains;      /* comparisons follow from chains of known ones, too: i < j and j < k */
};

typedef struct Simplifier {
  Analyzer *a;
  bool canonical;
} Simplifier;

/* What comparing two expressions tells: the set of outcomes that are possible. */
enum { CMP_EQ = 1, CMP_LT = 2, CMP_LE = 3, CMP_GT = 4, CMP_GE = 5, CMP_NE = 6, CMP_UNKNOWN = 7 };
/* A comparison of two expressions that differ by known bounds. */
int tirc_compare(Simplifier *s, Expr x, Expr y);
int tirc_compare_const(Simplifier *s, Expr x, int64_t v);
/* Adds what `cond` says about differences, bounds and residues. */
void tirc_learn_condition(Analyzer *a, Expr cond);
void tirc_learn_range(Analyzer *a, Expr var, Range r);

/* One bottom-up walk of either simplifier; and one without the children being normalized first. */
Expr tirc_simplifier_visit(Simplifier *s, Expr e);
Expr tirc_rewrite_node(Simplifier *s, Expr e);
Expr tirc_canonical_visit(Simplifier *s, Expr e);
/* Walks again over the result of a rule, up to a fixed depth. */
Expr tirc_rewrite_again(Simplifier *s, Expr e);
Expr tirc_rewrite(Analyzer *a, Expr e);      /* TVM's rewrite_simplify */
Expr tirc_canonical(Analyzer *a, Expr e);    /* TVM's canonical_simplify */
Expr tirc_negate_condition(Tirc *c, Expr e); /* not e, pushed to the comparisons */
Expr tirc_rebuild(Tirc *c, Expr e,
                  const Expr *args); /* e with other args; e itself when the same */

/* tirc_cast, where a conversion between index types that keeps the value goes. */
Expr tirc_recast(Analyzer *a, DType t, Expr e);
bool tirc_can_prove_ge(Analyzer *a, Expr e, int64_t v); /* by constant bounds alone */
/* Of the numbers that e's operator gives of operands within these bounds, if its type held all. */
Bound tirc_bound_of_operation(Analyzer *a, Expr e, Bound x, Bound y);

/* --- rules ------------------------------------------------------------------------------------ */

/* A rewrite rule in prefix notation: see rules.c. */
typedef struct Rule {
  const char *pattern, *result, *condition; /* condition may be NULL */
  bool again;                               /* simplify the result again */
} Rule;
typedef enum RuleSet {
  RULES_ADD,
  RULES_SUB,
  RULES_MUL,
  RULES_TRUNCDIV,
  RULES_TRUNCMOD,
  RULES_FLOORDIV_FIRST,
  RULES_FLOORDIV,
  RULES_FLOORMOD,
  RULES_MIN,
  RULES_MAX,
  RULES_EQ,
  RULES_LT,
  RULES_NOT,
  RULES_AND,
  RULES_OR,
  RULES_SELECT,
  RULES_COUNT
} RuleSet;
typedef struct RuleList {
  const Rule *at;
  int n;
} RuleList;
extern const RuleList tirc_rules[RULES_COUNT];
/* The first rule of the set that matches e, applied; NULL when none does. */
Expr tirc_apply_rules(Simplifier *s, RuleSet set, Expr e);

/* --- small things ----------------------------------------------------------------------------- */

static inline bool tirc_is_index(DType t) {
  return t.code == TYPE_INT && t.lanes == 1 && (t.bits == 32 || t.bits == 64);
}
static inline Expr tirc_lit(Tirc *c, DType t, int64_t v) { return tirc_int(c, t, v); }
static inline int64_t tirc_floordiv64(int64_t a, int64_t b) {
  int64_t q = a / b;
  return (a % b != 0 && (a % b < 0) != (b < 0)) ? q - 1 : q;
}
static inline int64_t tirc_floormod64(int64_t a, int64_t b) {
  if (b == -1) return 0;
  int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
/* The factors of a product, constants multiplied up: false on overflow. */
typedef VEC(Expr) ExprVec;
void tirc_unpack(Tirc *c, Op op, Expr e, ExprVec *out);
/* a * b with its constant factors gathered at the end. */
Expr tirc_mul_normalize(Tirc *c, Expr a, Expr b);
/* Whether two integers are the same expression up to the order of the factors of their products:
 * m * n and n * m. */
bool tirc_same_product(Expr a, Expr b);

/* --- iterator maps ---------------------------------------------------------------------------- */

/* Which splits refer to a mark, in order of appearance. */
typedef struct MarkSplits {
  const IterMark *mark;
  VEC(const IterSplit *) splits;
} MarkSplits;
typedef struct SplitCollector {
  Tirc *c;
  VEC(MarkSplits) marks;
} SplitCollector;
void tirc_collect_splits(SplitCollector *k, int n, const IterSum *sums);
MarkSplits *tirc_mark_splits(SplitCollector *k, const IterMark *mark);

/* --- quotients.c ------------------------------------------------------------------------------ */

/* A condition with two quotients of one value, in terms of the one by the lesser number, for which
 * a new variable stands: if that holds, so does the condition. NULL: there are no two. */
Expr tirc_by_inner_quotient(Tirc *c, Expr cond);

#endif
