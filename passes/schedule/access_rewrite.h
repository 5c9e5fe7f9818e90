/* Rewriting the indices of buffer accesses all over a statement, with the loops, block iterators
 * and conditions around each access known (TVM's IRMutatorWithAnalyzer). */
#ifndef TIRC_SCHEDULE_ACCESS_REWRITE_H
#define TIRC_SCHEDULE_ACCESS_REWRITE_H

#include "../../ir/visit.h"
#include "internal.h"

typedef struct AccessRewriter AccessRewriter;
struct AccessRewriter {
  Tirc *c;
  Analyzer *a;
  /* A load's or store's buffer and indices, which are rewritten already: changes them and says so,
   * or leaves them. */
  bool (*access)(AccessRewriter *w, Buffer *buffer, int *n, const Expr **indices);
  /* A block whose parts are rewritten; or NULL. */
  Stmt (*block)(AccessRewriter *w, Stmt block);
  /* What to walk through instead of a statement (itself: that one), before it is walked through;
   * and what becomes of the result. Or NULL. */
  Stmt (*before)(AccessRewriter *w, Stmt s);
  Stmt (*after)(AccessRewriter *w, Stmt was, Stmt now);
  void *self;
  const Paths *only; /* what is to be rewritten; NULL: everything */

  Mutator m;
  VEC(Expr) vars;
  VEC(Range) doms;
  VEC(Expr) conds;
};

/* Fill in c, a and the callbacks first. */
Stmt tirc_rewrite_accesses(AccessRewriter *w, Stmt s);
/* TVM's IterMapSimplifyWithContext: indices in their shortest form for the place that the walk has
 * come to. An iterator of extent 1 stays a variable. */
const Expr *tirc_simplify_access(AccessRewriter *w, int n, const Expr *indices);

/* TVM's BlockBufferAccessSimplifier: the accesses and regions of a block in their shortest form. */
Stmt tirc_simplify_accesses(Tirc *c, Analyzer *a, Stmt block);

#endif
