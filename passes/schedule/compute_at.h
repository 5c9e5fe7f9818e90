/* What compute_at and reverse_compute_at share: which instances of the moved block must run inside
 * of one iteration of the target loop.
 *
 *     for i, j: B[i, j] = f(A[i, j])            for i:
 *     for i, j: C[i, j] = g(B[i, j])     ==>      for ax0: B[i, ax0] = f(A[i, ax0])
 *                                                 for j:   C[i, j] = g(B[i, j])
 *
 * `provided`: the boxes that one instance of the block touches; `required`: the boxes that one
 * iteration of the loop asks for. Solving provided >= required gives a domain for each iterator. */
#ifndef TIRC_SCHEDULE_COMPUTE_AT_H
#define TIRC_SCHEDULE_COMPUTE_AT_H

#include "schedule.h"

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
                                  int n_others, SRef *const *others);

/* A reduction block in `nest`, which is to stand under `loop`, must add each of its instances once,
 * after its init, and by one thread. Raises shared-reduction or repeated-reduction. */
void tirc_require_sums_once(Sched *s, SRef *loop, Stmt nest, bool is_producer);

#endif
