/* What primitives ask of the state and build with it: nodes of the tree, small rewrites, domains of
 * loops and the regions that are touched in them, what is known of blocks and their neighbours. */
#ifndef TIRC_SCHEDULE_NODES_H
#define TIRC_SCHEDULE_NODES_H

#include "ir/arith/access.h"
#include "ir/arith/box.h"
#include "ir/arith/init_part.h"
#include "ir/tree/find.h"
#include "passes/schedule/schedule.h"

/* --- shapes ----------------------------------------------------------------------------------- */

static inline bool tirc_is_loop(const SRef *r) { return r->stmt->kind == STMT_FOR; }
static inline bool tirc_is_block(const SRef *r) { return r->stmt->kind == STMT_BLOCK; }
static inline const For *tirc_loop_of(const SRef *r) { return &r->stmt->u.loop; }
static inline const Block *tirc_block_of(const SRef *r) { return &r->stmt->u.block; }
static inline const char *tirc_name_of(const SRef *r) { /* of a block, or a loop's variable */
  return tirc_is_loop(r) ? r->stmt->u.loop.var->u.s : r->stmt->u.block.name;
}
static inline Stmt tirc_body_of(Stmt loop_or_block) {
  return loop_or_block->kind == STMT_FOR ? loop_or_block->u.loop.body : loop_or_block->u.block.body;
}

/* What a block declares to read, or to write. */
static inline Regions tirc_declared(const Block *b, bool write) {
  return write ? (Regions){b->n_writes, b->writes} : (Regions){b->n_reads, b->reads};
}
static inline bool tirc_is_among(const SRef *r, SRefs at) {
  for (int i = 0; i < at.n; i++)
    if (at.at[i] == r) return true;
  return false;
}

/* The sref of a VAL_BLOCK or VAL_LOOP argument; NULL, or throws stale-handle, when gone. */
SRef *tirc_sref_known(const Sched *s, Value v);
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

/* Whether it is the variable of a loop, or an iterator, at a place or around it. */
bool tirc_is_bound_around(const SRef *at, Expr var);

typedef struct Step {
  Stmt stmt;    /* a loop, a block, or what is between them: a condition, a let, ... */
  bool negated; /* the other branch of a condition */
} Step;
typedef VEC(Step) Steps;

/* What is around `inner` in its parent's body, outermost first: conditions, lets, and so on,
 * but no sequences. Mostly nothing. */
Steps tirc_steps_between(Tirc *c, SRef *inner);

/* --- small rewrites --------------------------------------------------------------------------- */

/* A copy of a loop or block with another body; the very same one when the body is the same. */
Stmt tirc_with_body(Tirc *c, Stmt loop_or_block, Stmt body);

/* A copy of a block that allocates n more buffers, with another body; and one without a buffer. */
Stmt tirc_with_allocs(Tirc *c, Stmt block, Stmt body, int n, const Buffer *buffers);
Stmt tirc_without_alloc(Tirc *c, Stmt block, Buffer gone);

/* The statements of a body: the items of a sequence, or the statement itself. */
int tirc_body_items(Tirc *c, Stmt body, const Stmt **out);

/* `what` put into a body before item `index` (clipped: < 0 or past the end is the end); or into
 * what is below its T.decl_buffer's and constants. */
Stmt tirc_insert_item(Tirc *c, Stmt body, int index, Stmt what);
Stmt tirc_insert_below_decls(Tirc *c, Stmt body, int index, Stmt what);

/* Which item of a node's body has, or is, what is below it there; and the item. */
int tirc_item_with(Sched *s, const SRef *node, SRef *below, Stmt *item);

/* A loop variable named like `var` with a suffix, of type t. */
Expr tirc_var_suffixed(Tirc *c, Expr var, const char *suffix, DType t);

/* Whether an expression is a load of what a block stores, or one in it. */
bool tirc_is_load_of_stored(const void *sref, Expr e);
/* predicate `and` cond, added to every block that is not inside of another block. */
Stmt tirc_add_predicate(Tirc *c, Stmt s, Expr cond);

/* A block over iterators, bound to these values, that stores to `to`; from (of no buffer: nothing):
 * what it reads. */
Stmt tirc_storing_block(Tirc *c, const char *name, int n, const IterVar *iters, const Expr *values,
                        Expr predicate, Region from, Region to, Stmt store);

static inline bool tirc_same_range(Range a, Range b) {
  return tirc_expr_same(a.min, b.min) && tirc_expr_same(a.extent, b.extent);
}

/* A region of a block in terms of the loops around it. */
Region tirc_unbound_region(Tirc *c, Stmt block, Region r);
const Expr *tirc_substitute_all(Tirc *c, int n, const Expr *from, const PtrMap *map);
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
Stmt tirc_simplify_bindings(Sched *s, Stmt stmt, SRefs above, bool preserve_unit_iters);

/* --- domains and regions ---------------------------------------------------------------------- */

/* Ranges of loops, in the order of a walk from the inside out. */
typedef struct LoopDomain {
  int n;
  Expr *vars;
  Range *doms;
} LoopDomain;

/* TVM's LoopDomainOfSRefTreePath: the loops from `low` (inclusive; a block there ends the walk) up
 * to `high` (exclusive; NULL: the first block). Thread-bound loops further up under which such
 * storage is shared are in it too: none of STORAGE_GLOBAL. */
LoopDomain tirc_loop_domain(Sched *s, SRef *low, SRef *high, Storage storage);
LoopDomain tirc_all_loops(Tirc *c, LoopDomain a, LoopDomain b); /* of both */
/* Of these, in their place, those that some value uses. */
LoopDomain tirc_used_loops(LoopDomain loops, int n, const Expr *values);

/* Whether no two iterations of these loops, without those that the predicate leaves out, have all
 * of the values in common. */
bool tirc_tells_apart(Sched *s, int n, const Expr *values, const LoopDomain *loops, Expr predicate);

/* Whether no two iterations of these loops run the same instance of the block. */
bool tirc_runs_once(Sched *s, SRef *block, const LoopDomain *loops, Expr predicate);

/* Whether such storage is shared by the threads of that axis, so that what one of them
 * does with it is not all. */
bool tirc_shared_under(Storage storage, ThreadAxis axis);

/* The domains of iterators, in their order. */
LoopDomain tirc_iter_domain(Tirc *c, int n, const IterVar *iters);
void tirc_bind_iters(Analyzer *a, const Block *b);
static inline Range tirc_loop_range(const For *f) { return tirc_range(f->min, f->extent); }
static inline void tirc_bind_loop(Analyzer *a, const For *f) {
  tirc_bind_range(a, f->var, tirc_loop_range(f));
}

/* A domain as a map for tirc_eval_set: from variable to IntSet *. */
PtrMap tirc_domain_sets(Tirc *c, LoopDomain d);

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

/* What can be seen of the instances that run the block's init. */
InitPart tirc_init_of(Sched *s, const SRef *block);
/* Its `some` where sizes of parameters may be 0, which tirc_init_of does not expect. */
Expr tirc_some_steps(Sched *s, const SRef *block);
/* The condition under which the block touches anything: its predicate, or the part of it for the
 * init, and its domain, where that is not seen to run with the body only. */
Expr tirc_touching_condition(Sched *s, const SRef *block);

/* Whether a loop around the block runs another block of its scope as well. */
bool tirc_shares_loops(Sched *s, SRef *block);

/* The loop of the scope on which the domain of an iterator of the block depends; NULL: none does.
 */
SRef *tirc_loop_of_domain(const SRef *block);

/* Whether the block's bindings are affine over the loops up to `high` (exclusive; NULL: all of its
 * scope). Not the cached flag: computed. */
bool tirc_is_affine_under(Sched *s, SRef *block, SRef *high);
/* The same in the rectangle around a nest whose loops' lengths, or whose predicate, depend on other
 * loops. False: it is no such nest, either. */
bool tirc_is_affine_in_rectangle(Sched *s, SRef *block);
/* What to write in place of a loop that does not start at 0. */
const char *tirc_hint_of_start(Sched *s, const SRef *loop);

/* --- blocks and their neighbours -------------------------------------------------------------- */

/* Whether a block or one inside of it declares to read or write the buffer, or loads it to decide
 * where, on which elements and whether it runs: a block without iterators need not declare what
 * those inside of it do. */
bool tirc_touches(const SRef *block, Buffer b, bool write);

/* Whether the producers of a block write all that it declares to read, and all that it, or a block
 * inside of it, reads of the buffer without that. */
bool tirc_finds_written(Sched *s, SRef *reader, Buffer b);
/* What state_info.c knows of a block, or finds when it is asked for after a change. */
bool tirc_has_affine_binding(Sched *s, SRef *block);
bool tirc_has_region_cover(Sched *s, SRef *block);
bool tirc_is_stage_pipeline(Sched *s, SRef *scope); /* all children have it, and no other fault */

/* Whether they write what it loads without a declaration to decide where, on which elements and
 * whether it runs. A block that runs too early may run again later; but it must not fail. */
bool tirc_decides_by_written(Sched *s, SRef *block);

/* The blocks of a scope that write / read this buffer, in order. */
SRefs tirc_writers_of(const SRef *scope, Buffer b);
SRefs tirc_readers_of(const SRef *scope, Buffer b);

/* The first load in an expression of what a block of the scope stores; NULL: there is none. */
Expr tirc_reads_written(const SRef *scope, Expr e);

/* The block of the function that allocates the buffer (above sref or itself), or NULL for a
 * parameter's. */
SRef *tirc_allocator_of(SRef *sref, Buffer b);

/* Throws buffer-not-plain where an extent of a buffer made in the site is loaded from b: rewritten,
 * b is another buffer. */
void tirc_require_not_in_shapes(Sched *s, SRef *site, Buffer b);
bool tirc_is_parameter(Sched *s, const SRef *block, Buffer b); /* of the block's function */

/* The number of the function that a PARAM_FUNC argument names; raises function-not-found. */
int tirc_function_named(Sched *s, const char *name);

/* --- labels for messages ---------------------------------------------------------------------- */

/* "tir.For#0 (i)" / "tir.Block#1 (C)": number is how TVM counts the locations of interest of one
 * error, from 0. Marks the statement in the error's IR as well. */
const char *tirc_label(Sched *s, SRef *sref, int number);

/* "block C", "loop i". */
const char *tirc_describe(Sched *s, Stmt loop_or_block);

/* The ranges of the loops from `low` (a block or loop, exclusive) up to `high` (exclusive; NULL:
 * the scope's end), bound in a fresh analyzer. */
Analyzer *tirc_analyzer_of_loops(Sched *s, SRef *low, SRef *high);

/* --- statements outside of blocks (outside_blocks.c) ------------------------------------------ */

/* Throws not-stage-pipeline when a statement of the scope that is in no block
 * uses what the block writes, or stores to what it reads. */
void tirc_require_no_loose_use(Sched *s, const SRef *scope, const SRef *block);

/* Whether such a statement uses the buffer; what is in `besides`, a loop or block, does not count.
 */
bool tirc_loosely_used(const SRef *scope, const SRef *besides, Buffer b);

/* Whether somebody uses the buffer besides what is in a loop or block. */
bool tirc_is_used_besides(SRef *inside, Buffer b);

/* The buffers to which such statements below a loop store. */
typedef VEC(Buffer) Buffers;
Buffers tirc_loose_stores(Sched *s, SRef *loop);

/* Whether a loop or block changes what an expression loads. */
bool tirc_loads_change(Sched *s, SRef *at, Expr e);

/* --- scopes (scope.c) ------------------------------------------------------------------------- */

/* TVM's GetScopeRoot(..., require_stage_pipeline): the scope root, or raise. */
SRef *tirc_require_scope_root(Sched *s, SRef *sref, bool stage_pipeline);
void tirc_require_affine_binding(Sched *s, SRef *block,
                                 SRef *high_exclusive); /* NULL: whole scope */
bool tirc_is_output_block(Sched *s, SRef *block, SRef *scope);
bool tirc_is_trivial_binding(Stmt block, SRefs loops);
/* Which kinds of iterators the loop variable reaches in a block's bindings: the bit 1 << IterKind.
 */
unsigned tirc_loop_iter_kinds(Sched *s, SRef *loop);
/* Producers and consumers of a block within a scope, without doubles, in order. */
SRefs tirc_producers(Sched *s, SRef *block, SRef *scope);
SRefs tirc_consumers(Sched *s, SRef *block, SRef *scope);
/* The n-th buffer that a block reads or writes (`value` is a BUFFER_INDEX argument); raises
 * buffer-index or buffer-not-found. */
Buffer tirc_nth_buffer(Sched *s, SRef *block, Value value, bool is_write);

/* The block above (or itself) that allocates the buffer; raises buffer-not-allocated. */
SRef *tirc_require_allocated(Sched *s, SRef *block, Buffer b);

/* The box that an instance of the block writes of what it declares to write: a smaller one where
 * the declaration is known to be too large, as that of a part of a loop is, which each instance
 * declares to write whole. */
Region tirc_written_region(Sched *s, SRef *block, const Region *declared);

#endif
