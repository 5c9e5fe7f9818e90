/* The room where it is decided what a schedule may do, for all sizes.
 *
 * What a program touches is extracted once (places.h, passes/meaning/touches.h), as relations of
 * integer tuples that are exact. Then a few questions are asked, each in one file: does a new order
 * of loops keep the order of dependent accesses (order.c); may a loop not run in parallel
 * (concurrent.c), is a spatial iterator none (instances.c), because iterations or instances meet in
 * an element (passes/meaning/apart.c); does a nest write all of a box or a block reach its domain
 * (cover.c); who reads what is not yet what it will be (flow.c); do sums start, and where
 * (start.c); is an access outside of its buffer, may a number not be computed elsewhere (bounds.c);
 * what decides whether a block runs (conditions.c); of which operation is it a reduction, in errors
 * and warnings (reducer.c), and is it one (overwritten.c). What is asked of a block alone is in
 * passes/meaning/sums.h.
 *
 * Each is answered by sight first, from how the program is written, by iterator maps and intervals;
 * then on integer sets (set.h is all that knows of isl), or by running through all of a nest of
 * constant size (passes/meaning/finite.c), or is "not provable": never from a sample. A refusal
 * carries an example. */
#ifndef TIRC_SCHEDULE_MEANING_H
#define TIRC_SCHEDULE_MEANING_H

#include "passes/meaning/sums.h"
#include "passes/schedule/state/nodes.h"

/* --- whether it runs (conditions.c) ----------------------------------------------------------- */

/* Whether an `if`, a `while`, or a loop that repeats the block and may be empty, stands between it
 * and `high`, a loop or block around it. */
bool tirc_is_guarded(Sched *s, SRef *block, const SRef *high);

/* What must hold for the block to run: its predicate and the conditions around it up to `high`, in
 * terms of loops, not of what is let from them. NULL: a `while` is there, too. */
Expr tirc_condition_of(Sched *s, SRef *block, const SRef *high);
/* The same with another condition in place of the predicate. */
Expr tirc_condition_with(Sched *s, SRef *block, Expr condition, const SRef *high);

/* Whether the writer has run where the reader, which comes after it, does. Which part of its own
 * loops its predicate chooses is a matter of the region that it writes. */
bool tirc_runs_whenever(Sched *s, SRef *writer, SRef *reader);

/* The predicate `and` those conjuncts of a condition that do not follow from what the analyzer
 * knows. */
Expr tirc_and_unproved(Tirc *c, Analyzer *a, Expr predicate, Expr cond);

/* The conjuncts of a condition that use some of the variables, or those that use none. */
Expr tirc_conjuncts(Tirc *c, Expr cond, const PtrMap *vars, bool with);

/* A sum over an extent of 0 leaves what its buffers held: its init does not run either. The same
 * with another loop of no iterations, or a predicate that never holds, where the domains say that
 * there is something to write. */
bool tirc_sums_nothing(Sched *s, SRef *block);

/* --- what is written (cover.c) ---------------------------------------------------------------- */

/* False: no, or it cannot be proved. *missing (NULL: of no interest) says which element or instance
 * there is not, "C[300]", or is NULL where none is certain. A call that gets an address is taken to
 * store to all that its block declares to write. */

/* The box that holds what a region of the block, written in its iterators, reaches while `within`,
 * a loop around it or its scope, runs once. */
Region tirc_box_in_one_run(Sched *s, SRef *scope, SRef *block, Region one, SRef *within);
/* Whether each instance of the block stores to all of the box, which is in terms of its iterators.
 */
bool tirc_writes_box(Sched *s, SRef *block, const Region *box);
/* Whether the block, with the loops around it below `within`, a loop or block of its scope, stores
 * to all of the box whenever that runs and the condition holds. The box is in terms of what is
 * around those loops. */
bool tirc_nest_writes_box(Sched *s, SRef *block, SRef *within, Expr condition, const Region *box,
                          const char **missing);
/* Whether the block runs in its scope for all values of the iterators that are `of` interest (NULL:
 * of all). */
bool tirc_reaches_domain(Sched *s, SRef *block, const PtrMap *of, const char **missing);
/* Whether a block's predicate says no more than that its iterators are in their domains. */
bool tirc_domain_implies_predicate(Sched *s, SRef *block);
/* The condition of an error, from what is missing. */
const char *tirc_missing_text(Tirc *c, const char *missing);

/* An iterator whose binding stands on something outside of the scope, so that a run of the scope
 * does not pass through all of its domain; NULL: none does. */
Expr tirc_outer_iter(Sched *s, SRef *block);

/* --- where sums start (start.c) --------------------------------------------------------------- */

/* Whether the block's init, if it has one, runs for all its sums each time that its scope does. */
bool tirc_sums_start_in_scope(Sched *s, const SRef *block);

/* Whether the init runs in no other instances than the body does; and whether it does, or in those
 * where all loops of the reduction, which are of nothing else, are at their start, one for a sum.
 */
bool tirc_init_runs_with_body(Sched *s, SRef *block);
bool tirc_init_is_regular(Sched *s, SRef *block);

/* Whether a condition holds in all instances that run the init of a block where `kept` does: below
 * loops, outermost first, that stand, or are to stand, where `in` does. */
bool tirc_holds_with_init(Sched *s, SRef *in, int n, const For *const *loops, const Block *block,
                          Expr kept, Expr condition);

/* The part of it that is about loops and bindings: the predicate may still leave the init out. */
bool tirc_steps_start_in_scope(Sched *s, const SRef *block);

/* Whether a predicate on loops which spatial and reduction iterators share lets the first step of
 * each sum run that it lets run. */
bool tirc_fused_steps_start(Sched *s, SRef *block);

/* Whether the condition holds with the variables at these starts if it does for other values of
 * theirs. */
bool tirc_holds_at_start(Tirc *c, Analyzer *a, Expr cond, const PtrMap *starts);

/* Does the first instance of a sum that runs have the init?
 *
 *   for f in range(32):                      vi = f // 8, vk = f % 8: for each vi, vk = 0 comes
 *     with T.block("C"):                     first, with the init; but not under f < 30 and in
 *       vi = T.axis.spatial(4, f // 8)       an order of parts of f in which another vk does
 *       vk = T.axis.reduce(8, f % 8)
 *
 * Of each sum that a block computes in a nest of loops, outermost first, where `condition` holds;
 * the nest stands, or is to stand, where `in` does. False also where it cannot be proved. */
bool tirc_init_comes_first(Sched *s, SRef *in, int n, const For *const *loops, const Block *block,
                           Expr condition);

/* --- who reads what too early (flow.c) -------------------------------------------------------- */

/* Whether the block, which writes b, also reads of it what it did not write itself while its scope
 * runs. */
bool tirc_reads_own_output(Sched *s, SRef *block, Buffer b);

/* Without its init a block reads what it writes; `writes_first`: it says so before what it read. */
void tirc_drop_init(Tirc *c, Block *b, bool writes_first);

/* Whether the block, run again in the loop, may read what its last run stored, be it in blocks
 * inside of it. NULL: run again with all steps of its sums. */
bool tirc_goes_on_from_last_run(Sched *s, SRef *block, const SRef *loop);

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

/* --- the order of loops (order.c) ------------------------------------------------------------- */

/* chain: directly nested loops, outermost first; order: the same loops as they are to be nested.
 * Raises order-matters when two accesses to one element, one of them a write, would change places.
 */
void tirc_require_order_kept(Sched *s, int n, SRef *const *chain, SRef *const *order);
/* Two nests, of `depth` loops of the same extents each, y behind x, run in lock step from now on:
 * why accesses to one element, one of them a write, would change places; NULL: they do not. */
const char *tirc_lost_in_step(Sched *s, int depth, SRef *const *x, SRef *const *y);
/* The items of a loop's body, in their order, are to run in loops of their own, one behind the
 * other: the same. */
const char *tirc_lost_apart(Sched *s, SRef *loop, int n, const Stmt *items);
/* Whether the init stores to elements that its own instance does not update, or that other
 * instances use: then it matters when it runs. */
bool tirc_init_is_elsewhere(Sched *s, SRef *block);

/* --- iterations at the same time (concurrent.c) ----------------------------------------------- */

/* Raises iterations-depend when one iteration reads what another one stores, or would where a
 * loaded condition holds, or both store different values to what is used after the loop. `axis`:
 * what the loop is to be bound to, where other memories than the global one have rules of their
 * own. */
void tirc_require_independent(Sched *s, SRef *loop, ThreadAxis axis);
/* Raises it only where there is an example of two iterations that meet. */
void tirc_refuse_dependence(Sched *s, SRef *loop, ThreadAxis axis);

/* The same for the loops around n blocks that run in parallel, after these came there. */
void tirc_require_independent_around(Sched *s, int n, SRef *const *blocks);
/* Whether the iterations certainly do not meet in this buffer, as these child blocks of the loop
 * use it. */
bool tirc_iterations_apart(Sched *s, SRef *loop, SRefs blocks, Buffer b);

bool tirc_runs_at_once(const For *f); /* parallel, vectorized or bound to a thread */

/* --- spatial iterators (instances.c) ---------------------------------------------------------- */

/* Tells of each block that declares an iterator spatial though its instances certainly depend on
 * each other. Such a block is legal; primitives that rely on the declaration refuse it. */
void tirc_spatial_dependences(Telling *t);
/* Whether the instances of a block depend on each other in this way, or cannot be proved not to. */
bool tirc_instances_depend(Sched *s, SRef *block);
/* An index that takes another value for each value of the iterator: vi, vi + 1, 2 * vi. */
bool tirc_is_own_place(Expr index, Expr var);

/* --- what operation it is (reducer.c) -------------------------------------------------------- */

/* Raises reducer-form or no-matched-reducer. */
Reducer tirc_reducer_of(Sched *s, SRef *block);
/* Warns that the running call may change which of equal candidates the block picks, if it picks so.
 */
void tirc_warn_of_equals(Sched *s, SRef *block);

/* --- whether it reduces (overwritten.c) ------------------------------------------------------- */

/* Tells of each block that starts an element and declares a reduction over it, but stores to it
 * what it did not read it for: of all steps only the last one counts. Such a block is legal. */
void tirc_sums_overwritten(Telling *t);

/* --- what may fail (bounds.c) ----------------------------------------------------------------- */

/* Is an access outside of its buffer? Tells of each statement once a buffer. */
void tirc_accesses_outside(Telling *t);

/* A part of the expression that may fail where it is evaluated anew. That is a load at an index
 * that is not known to be inside of its buffer, and a division by what is not known to be no zero
 * and depends on a loop or an iterator of a block, `at` or one around it. What a run of `run`
 * (NULL: nothing) evaluates in any case is none; NULL: there is none. */
Expr tirc_failing_part(Sched *s, const SRef *at, Analyzer *a, Expr e, Stmt run);
const char *tirc_how_it_fails(Tirc *c, Expr part); /* "read outside of A" */
/* Whether a run of `run` loads the buffer at this index of dimension d in any case: it is inside
 * then, or the program fails anyway. */
bool tirc_surely_loads_at(Tirc *c, Analyzer *a, Stmt run, Buffer b, int d, Expr index);

#endif
