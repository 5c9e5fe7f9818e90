/* The room of primitives that move a block's computation: into a loop of its consumers or
 * producers, or into their expressions.
 *
 * Decided here: which instances must run at the new place (compute_at_region.c), whether all that
 * need them stand there, and whether a sum may run again (compute_at_sum.c). Whether a reader that
 * stands elsewhere sees the last of several states is asked of meaning/. */
#ifndef TIRC_SCHEDULE_MOVES_H
#define TIRC_SCHEDULE_MOVES_H

#include "passes/schedule/shape/shape.h"

/* --- which instances -------------------------------------------------------------------------- */

/* What compute_at and reverse_compute_at share: which instances of the moved block must run inside
 * of one iteration of the target loop.
 *
 *     for i, j: B[i, j] = f(A[i, j])            for i:
 *     for i, j: C[i, j] = g(B[i, j])     ==>      for ax0: B[i, ax0] = f(A[i, ax0])
 *                                                 for j:   C[i, j] = g(B[i, j])
 *
 * `provided`: the boxes that one instance of the block touches; `required`: the boxes that one
 * iteration of the loop asks for. Solving provided >= required gives a domain for each iterator. */

/* An iterator is to run over dom; instances outside of bound are to be skipped by a predicate. */
typedef struct IterDomain {
  bool has_dom, has_bound;
  IntSet dom, bound;
} IterDomain;

/* A domain for each iterator of `block` (block->n_iters of them) so that it covers what `others`
 * (its consumers when `is_producer`, otherwise its producers) access below `loop`. `a` knows the
 * ranges of the loops from `loop` upwards. Raises domain-not-solvable when the index expressions
 * have no inverse. */
IterDomain *tirc_required_domains(Sched *s, Analyzer *a, SRef *block, SRef *loop, bool is_producer,
                                  SRefs others);

/* A reduction block in `nest`, which is to stand under `loop`, must add each of its instances once,
 * after its init, and by one thread. Raises shared-reduction or repeated-reduction. */
void tirc_require_sums_once(Sched *s, SRef *loop, Stmt nest, bool is_producer);

/* --- inlining --------------------------------------------------------------------------------- */

/* What compute_inline and reverse_compute_inline share: a scope without the inlined block and its
 * buffer, in which loads or stores of the buffer became something else. */

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

/* --- places that are no loops ----------------------------------------------------------------- */

/* What sample_compute_location gives for "leave it" and "inline it". */
Value tirc_root_mark(Sched *s);
Value tirc_inline_mark(Sched *s);

#endif
