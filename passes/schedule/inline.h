/* What compute_inline and reverse_compute_inline share: a scope without the inlined block and its
 * buffer, in which loads or stores of the buffer became something else. */
#ifndef TIRC_SCHEDULE_INLINE_H
#define TIRC_SCHEDULE_INLINE_H

#include "../../ir/visit.h"
#include "internal.h"

typedef struct Inliner Inliner;
struct Inliner {
  Sched *s;
  Tirc *c;
  SRef *block, *scope; /* the block that goes, and its scope */
  Buffer buffer;       /* goes with it */
  /* What becomes of a load (or NULL) or a store (or NULL) of the buffer; the children of the given
   * node are rewritten already. */
  Expr (*load)(Inliner *in, Expr load);
  Stmt (*store)(Inliner *in, Stmt store);
  Stmt (*finish_block)(Inliner *in, Stmt was,
                       Stmt block); /* after a block's signature is up to date; or NULL */
  void *self;
};

/* Removes the block, rewrites the scope and installs it. Raises only-leaf and inline-opaque-access.
 * The buffer must not be loaded any more afterwards: `last_reader` is the error otherwise. */
void tirc_inline_and_replace(Inliner *in);
/* Raises has-init. */
void tirc_require_no_init(Sched *s, SRef *block);
/* Raises output-block. */
void tirc_require_not_output(Sched *s, SRef *block, SRef *scope);
/* Raises inline-pattern with the reason. */
_Noreturn void tirc_bad_inline_pattern(Sched *s, SRef *block, const char *why);
/* An inlined expression stands outside of the loops of its block: it must not name their variables.
 * Loops that are around `other` as well are no matter. */
void tirc_require_no_loop_vars(Sched *s, SRef *block, Stmt store, SRef *other);

#endif
