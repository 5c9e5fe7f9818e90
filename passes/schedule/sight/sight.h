/* The room of what is seen at once: questions about meaning answered from how a program is written,
 * by iterator maps and intervals, before integer sets are asked.
 *
 * Each answers for all sizes, in one direction: what is seen is proved, what is not seen is asked
 * of meaning/ or refused. Seen here: whether loops may change places (reordered.c), whether
 * iterations may run at the same time (concurrent.c, own_elements.c), whether a block's spatial
 * iterators tell the truth (spatial.c), who reads what is not yet what it will be (stale_reads.c),
 * what a block reads of its own output, where sums start, and what may fail where it is computed
 * anew. */
#ifndef TIRC_SCHEDULE_SIGHT_H
#define TIRC_SCHEDULE_SIGHT_H

#include "passes/schedule/meaning/meaning.h"
#include "passes/schedule/state/nodes.h"

/* may_fail.c: a part of the expression that may fail where it is evaluated anew. That is a load at
 * an index that is not known to be inside of its buffer, and a division by what is not known to be
 * no zero and depends on a loop or an iterator of a block, `at` or one around it. What a run of
 * `run` (NULL: nothing) evaluates in any case is none; NULL: there is none. */
Expr tirc_failing_part(Sched *s, const SRef *at, Analyzer *a, Expr e, Stmt run);
const char *tirc_how_it_fails(Tirc *c, Expr part); /* "read outside of A" */

/* Whether the block's init, if it has one, runs for all its sums each time that its scope does
 * (sum_start.c). */
bool tirc_sums_start_in_scope(Sched *s, const SRef *block);

/* Whether the init reads what the block stores to: then it starts nothing anew. */
bool tirc_init_reads_output(const Block *b);

/* The part of it that is about loops and bindings: the predicate may still leave the init out. */
bool tirc_steps_start_in_scope(Sched *s, const SRef *block);

/* Whether a predicate on loops which spatial and reduction iterators share lets the first step of
 * each sum run that it lets run. */
bool tirc_fused_steps_start(Sched *s, SRef *block);

/* Whether the condition holds with the variables at these starts if it does for other values of
 * theirs. */
bool tirc_holds_at_start(Tirc *c, Analyzer *a, Expr cond, const PtrMap *starts);

/* own_output.c: whether the block, which writes b, also reads of it what it did not write itself
 * while its scope runs. */
bool tirc_reads_own_output(Sched *s, SRef *block, Buffer b);

/* What a sum reads of what it declares to write, once its init is taken away: more than that if it
 * adds other elements, which a sum need not declare. */
Region tirc_read_without_init(Tirc *c, const Block *b, const Region *written);

/* Whether the block, run again in the loop, may read what its last run stored, be it in blocks
 * inside of it. NULL: run again with all steps of its sums. */
bool tirc_goes_on_from_last_run(Sched *s, SRef *block, const SRef *loop);

/* reordered_init.c: whether the init stores to elements that its own instance does not update, or
 * that other instances use: then it matters when it runs. */
bool tirc_init_is_elsewhere(Sched *s, SRef *block);

/* --- iterations at the same time -------------------------------------------------------------- */

/* Do two iterations of a loop use one element, so that they cannot run at the same time? */

/* Raises iterations-depend when one iteration reads what another one stores, or would where a
 * loaded condition holds, or both store different values to what is used after the loop. `thread`:
 * the thread axis of a GPU that the loop is to be, where other memories than the global one have
 * rules of their own; or NULL. */
void tirc_require_independent(Sched *s, SRef *loop, const char *thread);
/* Raises it only where there is an example of two iterations that meet. */
void tirc_refuse_dependence(Sched *s, SRef *loop, const char *thread);

/* The same for the loops around n blocks that run in parallel, after these came there. */
void tirc_require_independent_around(Sched *s, int n, SRef *const *blocks);
/* The part of it that looks only (own_elements.c): whether the iterations certainly do not meet in
 * this buffer, which the n child blocks of the loop use. `shared`: also other blocks use it. */
bool tirc_iterations_apart(Sched *s, SRef *loop, int n, SRef **blocks, Buffer b, bool shared);

bool tirc_runs_at_once(const For *f); /* parallel, vectorized or bound to a thread */

/* --- the order of loops ----------------------------------------------------------------------- */

/* Does a new order of loops run an instance of a block before one whose result it uses? */

/* Whether the loop moves an iterator of the block's reduction. */
bool tirc_is_summed_over(const Block *b, const SRef *loop);

/* chain: directly nested loops, outermost first; order: the same loops as they are to be nested.
 * Raises order-matters when two accesses to one element, one of them a write, would change places.
 */
void tirc_require_order_kept(Sched *s, int n, SRef *const *chain, SRef *const *order);
/* The part of it that is about a block's init, by sight: it stays the first that runs of each sum,
 * if those have elements of their own. */
bool tirc_init_stays_first(Sched *s, int n, SRef *const *chain, SRef *const *order, SRef *block);

/* --- states that are overwritten -------------------------------------------------------------- */

/* Who reads what is not yet what it will be? */

/* Whether the block goes on with the elements that it stored to in another iteration of the loop,
 * or stores to them again what need not be the same. */
bool tirc_goes_on_in(Sched *s, SRef *block, const SRef *loop);
/* Whether the block, or one from which it gets values, stores to one element again and again, with
 * the block, or one to which it gives values, reading it in between: if the block went out of the
 * loops of both, below `to`, the reader would see the last only. */
bool tirc_is_read_between(Sched *s, SRef *block, const SRef *to, SRef **producer, SRef **reader);
/* A producer of the block, or one from which such a one gets values, that stores to one element
 * again and again in the loop, or one around it, if the block, with its new nest under the loop,
 * would read it in between. NULL: there is none. */
SRef *tirc_unfinished_producer(Sched *s, SRef *block, SRef *loop, Stmt nest);
/* Whether the block reads each state of what is overwritten in a loop around it, and `instead`, in
 * whose instances it is to be computed, runs again for each and keeps the last. */
bool tirc_reads_fewer_states(Sched *s, SRef *block, SRef *instead);

/* --- spatial iterators ------------------------------------------------------------------------ */

/* Blocks whose spatial iterators carry a dependence. */

/* Tells of each block that declares an iterator spatial though its instances certainly depend on
 * each other. Such a block is legal; primitives that rely on the declaration refuse it. */
void tirc_spatial_dependences(Sched *s, void (*tell)(void *self, Warning w), void *self);
/* Whether the instances of a block depend on each other in this way, or cannot be proved not to. */
bool tirc_instances_depend(Sched *s, SRef *block);
/* An index that takes another value for each value of the iterator: vi, vi + 1, 2 * vi. */
bool tirc_is_own_place(Expr index, Expr var);

#endif
