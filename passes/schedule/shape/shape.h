/* The room of what primitives share besides the state (state/nodes.h): TensorIR's definitions, asked
 * and required, the marks that a call sets and drops, what stands outside of blocks, the plan that
 * removes a leaf block, the reducers that a reduction may be.
 *
 * Decided here: what the reference's definitions decide from buffers and bindings alone. Whether a
 * new order, place or copy keeps what is computed is asked of sight/ and, where that does not
 * suffice, of meaning/. */
#ifndef TIRC_SCHEDULE_SHAPE_H
#define TIRC_SCHEDULE_SHAPE_H

#include "passes/schedule/state/nodes.h"

/* --- marks ------------------------------------------------------------------------------------ */

/* marks.c: the running call has set, or taken away, the annotation `key` of a loop or block, or
 * (NULL) a loop's kind. */
void tirc_mark_changed(Sched *s, const SRef *at, const char *key);

/* The marks that are there after a call of p on a schedule of `before`. Warns of those that it
 * dropped. */
SetMarks tirc_marks_after(Sched *s, const Primitive *p, const Module *before);

/* outside_blocks.c: throws not-stage-pipeline when a statement of the scope that is in no block
 * uses what the block writes, or stores to what it reads. */
void tirc_require_no_loose_use(Sched *s, const SRef *scope, const SRef *block);

/* Whether such a statement uses the buffer; what is in `besides`, a loop or block, does not count.
 */
bool tirc_loosely_used(const SRef *scope, const SRef *besides, Buffer b);

/* Whether somebody uses the buffer besides what is in a loop or block. */
bool tirc_is_used_besides(Sched *s, SRef *inside, Buffer b);

/* The buffers to which such statements below a loop store. */
int tirc_loose_stores(Sched *s, SRef *loop, Buffer **out);

/* Whether a loop or block changes what an expression loads. */
bool tirc_loads_change(Sched *s, SRef *at, Expr e);

/* TVM's LeafBlockRemovalPlan: what to pass to tirc_sched_replace so that a block and the loops
 * which have nothing else below them are gone. *src is the loop or block to be replaced (above or
 * the scope root itself), *with its replacement. Raises only-leaf when the block is all that its
 * scope has. */
void tirc_plan_leaf_removal(Sched *s, SRef *block, SRef **src, Stmt *with);

/* Throws index-overflow when the module has a constant that its type does not hold, and the one
 * before has none (overflow.c). */
void tirc_require_countable(Sched *s, const Module *before);

/* Whether a reduction iterator stands in an index of what the block stores to. */
bool tirc_is_indexed_by_reduction(Sched *s, const Block *b);

/* --- analysis (TensorIR's definitions) ---------------------------------------------------------
 */

/* All return NULL when it holds, otherwise the violated condition in words: "condition 2 of a
 * reduction block fails: ...". `scope` is the scope root; the local forms look at the subtree of
 * `subtree` only. */
const char *tirc_why_not_complete(Sched *s, SRef *block, SRef *scope);
const char *tirc_why_not_reduction(Sched *s, SRef *block, SRef *scope);
const char *tirc_why_not_local_complete(Sched *s, SRef *block, SRef *subtree);
const char *tirc_why_not_local_reduction(Sched *s, SRef *block, SRef *subtree);
/* Numbers 1.. of the condition (0: it holds), as TVM counts them. */
int tirc_check_complete(Sched *s, SRef *block, SRef *scope);
int tirc_check_reduction(Sched *s, SRef *block, SRef *scope);
/* A sum over an extent of 0 leaves what its buffers held: its init does not run either. The same
 * with another loop of no iterations, or a predicate that never holds, where the domains say that
 * there is something to write. */
bool tirc_sums_nothing(Sched *s, SRef *block);
/* A sum reads an element of its output that another instance may write; its regions do not say so.
 */
bool tirc_reads_other_output(Sched *s, const SRef *block);

void tirc_require_complete(Sched *s, SRef *block, SRef *scope);              /* or raise */
void tirc_require_reduction(Sched *s, SRef *block, SRef *scope);             /* or raise */
void tirc_require_complete_or_reduction(Sched *s, SRef *block, SRef *scope); /* or raise */
/* Every block of the subtree is a local complete or local reduction block; the known sentence. */
void tirc_require_compact_dataflow(Sched *s, SRef *subtree);
/* A hint when a block of the scope updates the buffer in place, or NULL. */
const char *tirc_hint_of_update(Sched *s, const SRef *scope, Buffer buffer);
/* TVM's GetScopeRoot(..., require_stage_pipeline): the scope root, or raise. */
SRef *tirc_require_scope_root(Sched *s, SRef *sref, bool stage_pipeline);
void tirc_require_affine_binding(Sched *s, SRef *block,
                                 SRef *high_exclusive); /* NULL: whole scope */
bool tirc_is_output_block(Sched *s, SRef *block, SRef *scope);
bool tirc_is_trivial_binding(Stmt block, int n_loops, SRef *const *loops);
/* Which kinds of iterators the loop variable reaches in a block's bindings: the bit 1 << IterKind.
 */
unsigned tirc_loop_iter_kinds(Sched *s, SRef *loop);
/* Producers and consumers of a block within a scope, without doubles, in order. */
int tirc_producers(Sched *s, SRef *block, SRef *scope, SRef ***out);
int tirc_consumers(Sched *s, SRef *block, SRef *scope, SRef ***out);
/* The n-th buffer that a block reads or writes (`value` is a BUFFER_INDEX argument); raises
 * buffer-index or buffer-not-found. */
Buffer tirc_nth_buffer(Sched *s, SRef *block, Value value, bool is_write);

#endif
