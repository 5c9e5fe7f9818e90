/* What the primitives share and users of a schedule do not need: shapes of the sref tree, small
 * rewrites of loops and blocks, domains and regions, the plan that removes a leaf block. */
#ifndef TIRC_SCHEDULE_INTERNAL_H
#define TIRC_SCHEDULE_INTERNAL_H

#include "../../ir/access.h"
#include "../../ir/visit.h"
#include "schedule.h"

/* --- marks ----------------------------------------------------------------------------------- */

/* lost_mark.c: the running call has set, or taken away, the annotation `key` of a loop or block, or
 * (NULL) a loop's kind. */
void tirc_mark_changed(Sched *s, const SRef *at, const char *key);
/* The marks that are there after a call of p on a schedule of `before`. Warns of those that it
 * dropped. */
SetMarks tirc_marks_after(Sched *s, const Primitive *p, const Module *before);

/* --- shapes ---------------------------------------------------------------------------------- */

static inline bool tirc_is_loop(const SRef *r) { return r->stmt->kind == STMT_FOR; }
static inline bool tirc_is_block(const SRef *r) { return r->stmt->kind == STMT_BLOCK; }
static inline const For *tirc_loop_of(const SRef *r) { return &r->stmt->u.loop; }
static inline const Block *tirc_block_of(const SRef *r) { return &r->stmt->u.block; }
static inline Stmt tirc_body_of(Stmt loop_or_block) {
  return loop_or_block->kind == STMT_FOR ? loop_or_block->u.loop.body : loop_or_block->u.block.body;
}
/* The sref of a VAL_BLOCK or VAL_LOOP argument; throws stale-handle when gone. */
SRef *tirc_sref_of_value(Sched *s, Value v);
/* The handle of a loop or block. */
Value tirc_value_of_sref(const SRef *r);
/* The identity that the maps of Sched use. */
static inline const void *tirc_block_key(uint32_t id) { return (const void *)(uintptr_t)id; }

/* Whether `high` is `low` or above it. */
bool tirc_is_ancestor(const SRef *high, const SRef *low);
/* The deepest loop or block that is each of these or above each of them (same function). */
SRef *tirc_common_ancestor(int n, SRef *const *at);

/* The place of a node in the sequence that is the body of its parent; -1 when that body is none, or
 * the node stands deeper in it. */
int tirc_item_index(SRef *r);
/* Whether nothing but a sequence (no condition, no let) stands between a node and its parent. */
bool tirc_stands_directly(SRef *r);

/* --- small rewrites -------------------------------------------------------------------------- */

/* A copy of a loop or block with another body; the very same one when the body is the same. */
Stmt tirc_with_body(Tirc *c, Stmt loop_or_block, Stmt body);
/* A copy of a block that allocates n more buffers, with another body. */
Stmt tirc_with_allocs(Tirc *c, Stmt block, Stmt body, int n, const Buffer *buffers);
/* The statements of a body: the items of a sequence, or the statement itself. */
int tirc_body_items(Tirc *c, Stmt body, const Stmt **out);
/* `what` put into a body before item `index` (clipped: < 0 or past the end is the end). */
Stmt tirc_insert_item(Tirc *c, Stmt body, int index, Stmt what);
/* A loop variable named like `var` with a suffix, of type t. */
Expr tirc_var_suffixed(Tirc *c, Expr var, const char *suffix, DType t);
/* Whether a value is loaded, or made by a call that may. */
bool tirc_reads_memory(Expr e);
/* failing.c: a part of the expression that may fail where it is evaluated anew. That is a load at
 * an index that is not known to be inside of its buffer, and a division by what is not known to be
 * no zero and depends on a loop or an iterator of a block, `at` or one around it. What a run of
 * `run` (NULL: nothing) evaluates in any case is none; NULL: there is none. */
Expr tirc_failing_part(Sched *s, const SRef *at, Analyzer *a, Expr e, Stmt run);
const char *tirc_how_it_fails(Tirc *c, Expr part); /* "read outside of A" */
/* What a loop that starts at 0 would reach with a larger extent, were its blocks guarded. */
typedef struct Beyond {
  const char *what; /* NULL: nothing that does harm */
  Expr failing;     /* what of it is not to be evaluated; NULL: all of it */
} Beyond;
Beyond tirc_beyond(Sched *s, const SRef *loop, Expr extent);
/* predicate `and` cond, added to every block that is not inside of another block. */
Stmt tirc_add_predicate(Tirc *c, Stmt s, Expr cond);
/* From iterator variable to binding, for tirc_substitute. */
void tirc_bindings_of(Tirc *c, Stmt block, PtrMap *out);
/* A region with its dimensions substituted. */
Region tirc_substitute_region(Tirc *c, Region r, const PtrMap *map);
/* What a walk from above has to enter to come to these loops and blocks, and all that is in them.
 */
Paths tirc_paths_to(Sched *s, int n, SRef *const *at);
void tirc_add_path(Sched *s, Paths *paths, SRef *to);
/* The same for all in a scope that mentions a buffer or its memory. NULL: anything may. */
Paths *tirc_paths_to_users(Sched *s, SRef *scope, Buffer b);
/* tirc_replace_stmt where `from` is a loop or block of the tree, perhaps one that s has changed. */
Stmt tirc_replace_node(Sched *s, Stmt in, SRef *from, Stmt to);
/* Replaces every use of `from` (an identical pointer, buffers excepted) by `to` in s: for a loop or
 * block nested anywhere. Returns s itself when it does not stand there. */
Stmt tirc_replace_stmt(Tirc *c, Stmt s, Stmt from, Stmt to);

/* TVM's IterMapSimplifyBlockBinding: the bindings of the blocks in s (those inside of blocks
 * without iterators included) rewritten in terms of the loops around them. `above` are loops
 * outside of s. */
Stmt tirc_simplify_bindings(Sched *s, Stmt stmt, int n_above, SRef *const *above,
                            bool preserve_unit_iters);

/* --- domains and regions --------------------------------------------------------------------- */

/* Ranges of loops, in the order of a walk from the inside out. */
typedef struct LoopDomain {
  int n;
  Expr *vars;
  Range *doms;
} LoopDomain;
/* TVM's LoopDomainOfSRefTreePath: the loops from `low` (inclusive; a block there ends the walk) up
 * to `high` (exclusive; NULL: the first block). When `scope` is a storage scope below "global"
 * (NULL: none), thread-bound loops further up under which such storage is shared are in it too. */
LoopDomain tirc_loop_domain(Sched *s, SRef *low, SRef *high, const char *scope);
/* Whether no two iterations of these loops, without those that the predicate leaves out, have all
 * of the values in common. */
bool tirc_tells_apart(Sched *s, int n, const Expr *values, const LoopDomain *loops, Expr predicate);
/* Whether no two iterations of these loops run the same instance of the block. */
bool tirc_runs_once(Sched *s, SRef *block, const LoopDomain *loops, Expr predicate);
/* Whether storage of this scope is shared by the threads of that axis, so that what one of them
 * does with it is not all. */
bool tirc_shared_under(const char *scope, const char *thread);
/* A domain as a map for tirc_eval_set: from variable to IntSet *. */
void tirc_domain_sets(Tirc *c, const LoopDomain *d, PtrMap *out);
/* Whether all variables of a condition are loops of the domain. */
bool tirc_is_about(Expr cond, const LoopDomain *d);
/* TVM's AnalyzeRegionUpperBound / LowerBound: the box (buffer->ndim sets) that a region, written in
 * loop variables, touches while the loops from `low` (inclusive) to `high` (exclusive) run.
 * Lower: NULL when it is not known exactly. */
const IntSet *tirc_region_upper(Sched *s, Analyzer *a, Region r, Expr predicate, SRef *low,
                                SRef *high);
const IntSet *tirc_region_lower(Sched *s, Analyzer *a, Region r, Expr predicate, SRef *low,
                                SRef *high);
/* An analyzer that knows the ranges of all loops around (and including) this one, of all scopes,
 * and the iterators of the blocks around. */
Analyzer *tirc_analyzer_around(Sched *s, SRef *sref);
/* Symbols that are extents of the parameters of the scope's function are taken to be at least 1. */
void tirc_bind_shapes(Sched *s, Analyzer *a, const SRef *scope);

/* Whether a loop around the block runs another block of its scope as well. */
bool tirc_shares_loops(Sched *s, SRef *block);
/* loose.c: throws not-stage-pipeline when a statement of the scope that is in no block uses what
 * the block writes, or stores to what it reads. */
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
/* An iterator whose binding stands on something outside of the scope, so that a run of the scope
 * does not pass through all of its domain; NULL: none does. */
Expr tirc_outer_iter(Sched *s, SRef *block);
/* The loop of the scope on which the domain of an iterator of the block depends; NULL: none does.
 */
SRef *tirc_loop_of_domain(const SRef *block);
/* Whether an `if`, a `while`, or a loop that repeats the block and may be empty, stands between it
 * and `high`, a loop or block around it. */
bool tirc_is_guarded(Sched *s, SRef *block, const SRef *high);
/* What must hold for the block to run: its predicate and the conditions around it up to `high`, in
 * terms of loops, not of what is let from them (guard.c). NULL: a `while` is there, too. */
Expr tirc_condition_of(Sched *s, SRef *block, const SRef *high);
/* Whether the writer has run where the reader, which comes after it, does. Which part of its own
 * loops its predicate chooses is a matter of the region that it writes. */
bool tirc_runs_whenever(Sched *s, SRef *writer, SRef *reader);
/* The predicate `and` those conjuncts of a condition that do not follow from what the analyzer
 * knows. */
Expr tirc_and_unproved(Tirc *c, Analyzer *a, Expr predicate, Expr cond);
/* The conjuncts of a condition that use some of the variables, or those that use none. */
Expr tirc_conjuncts(Tirc *c, Expr cond, const PtrMap *vars, bool with);

/* Whether the block's bindings are affine over the loops up to `high` (exclusive; NULL: all of its
 * scope). Not the cached flag: computed. */
bool tirc_is_affine_under(Sched *s, SRef *block, SRef *high);

/* --- blocks and their neighbours ------------------------------------------------------------- */

/* Whether a block or one inside of it declares to read or write the buffer, or loads it to decide
 * where, on which elements and whether it runs: a block without iterators need not declare what
 * those inside of it do. */
bool tirc_touches(const SRef *block, Buffer b, bool write);
/* Whether the producers of a block write all that it declares to read, and all that it, or a block
 * inside of it, reads of the buffer without that. */
bool tirc_finds_written(Sched *s, SRef *reader, Buffer b);
/* Whether they write what it loads without a declaration to decide where, on which elements and
 * whether it runs. A block that runs too early may run again later; but it must not fail. */
bool tirc_decides_by_written(Sched *s, SRef *block);
/* The blocks of a scope that write / read this buffer, in order. */
int tirc_writers_of(Sched *s, SRef *scope, Buffer b, SRef ***out);
int tirc_readers_of(Sched *s, SRef *scope, Buffer b, SRef ***out);
/* Whether an expression loads what a block of the scope stores. */
bool tirc_reads_written(Sched *s, SRef *scope, Expr e);
/* The box that an instance of the block writes of what it declares to write: a smaller one where
 * the declaration is known to be too large, as that of a part of a loop is, which each instance
 * declares to write whole. */
Region tirc_written_region(Sched *s, SRef *block, const Region *declared);
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
/* The block of the function that allocates the buffer (above sref or itself), or NULL for a
 * parameter's. */
SRef *tirc_allocator_of(Sched *s, SRef *sref, Buffer b);
/* Whether an extent of a buffer that the statement itself makes is loaded from b; and throws
 * buffer-not-plain where that is so of one in the site: rewritten, b is another buffer. */
bool tirc_shapes_load(Stmt s, Buffer b);
void tirc_require_not_in_shapes(Sched *s, SRef *site, Buffer b);
bool tirc_is_parameter(Sched *s, const SRef *block, Buffer b); /* of the block's function */

/* TVM's LeafBlockRemovalPlan: what to pass to tirc_sched_replace so that a block and the loops
 * which have nothing else below them are gone. *src is the loop or block to be replaced (above or
 * the scope root itself), *with its replacement. Raises only-leaf when the block is all that its
 * scope has. */
void tirc_plan_leaf_removal(Sched *s, SRef *block, SRef **src, Stmt *with);

/* Throws index-overflow when the module has a constant that its type does not hold, and the one
 * before has none (overflow.c). */
void tirc_require_countable(Sched *s, const Module *before);

/* --- places that are no loops ------------------------------------------------------------------
 */

/* What sample_compute_location gives for "leave it" and "inline it". */
Value tirc_root_mark(Sched *s);
Value tirc_inline_mark(Sched *s);
/* Whether argument 1 is such a mark; then it is done: nothing, or inlined. */
bool tirc_moved_to_mark(Sched *s, const Value *args, Value *result,
                        void (*inline_it)(Sched *, const Value *, Value *));

/* --- labels for messages --------------------------------------------------------------------- */

/* "tir.For#0 (i)" / "tir.Block#1 (C)": number is how TVM counts the locations of interest of one
 * error, from 0. Marks the statement in the error's IR as well. */
const char *tirc_label(Sched *s, SRef *sref, int number);
/* "block C", "loop i". */
const char *tirc_describe(Sched *s, Stmt loop_or_block);

/* Whether a reduction iterator stands in an index of what the block stores to. */
bool tirc_is_indexed_by_reduction(Sched *s, const Block *b);
/* own_output.c: whether the block, which writes b, also reads of it what it did not write itself
 * while its scope runs. */
bool tirc_reads_own_output(Sched *s, SRef *block, Buffer b);
/* What a sum reads of what it declares to write, once its init is taken away: more than that if it
 * adds other elements, which a sum need not declare. */
Region tirc_read_without_init(Tirc *c, const Block *b, const Region *written);
/* Whether the block, run again in the loop, may read what its last run stored, be it in blocks
 * inside of it. NULL: run again with all steps of its sums. */
bool tirc_goes_on_from_last_run(Sched *s, SRef *block, const SRef *loop);
/* Whether what a block with an init reads of the buffer is only the element that the init stores.
 */
bool tirc_only_adds(const Block *b, Buffer buffer);
/* Whether the body starts with an init of the buffer that was written by hand. */
bool tirc_starts_with_init(const Block *b, Buffer buffer);
/* How many statements at the start of the body do nothing but that, for any buffer. */
int tirc_inits_by_hand(const Block *b);
/* order_init.c: whether the init stores to elements that its own instance does not update, or that
 * other instances use: then it matters when it runs. */
bool tirc_init_is_elsewhere(Sched *s, SRef *block);
/* decompose.c: throws empty-loop when the loop, of a reduction whose init is to stand apart, has no
 * iterations, so that the block never ran. */
void tirc_require_iterations(Sched *s, SRef *block, SRef *loop);
/* Throws order-matters when the init, which is to stand before the loop, stores elsewhere. */
void tirc_require_own_init(Sched *s, SRef *block, SRef *loop);
/* Throws repeated-reduction when copies of the loops up to this one would run the init again for
 * one element, as fused loops do, and it reads what it stores. */
void tirc_require_init_once(Sched *s, SRef *block, SRef *loop);
/* Throws init-uses-view. */
void tirc_require_no_views(Sched *s, SRef *block);

#endif
