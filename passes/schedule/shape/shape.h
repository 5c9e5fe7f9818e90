/* The room of what primitives share besides the state (state/nodes.h): TensorIR's definitions,
 * asked and required, the marks that a call sets and drops, what stands outside of blocks, the plan
 * that removes a leaf block, the reducers that a reduction may be.
 *
 * Decided here: what the reference's definitions decide from buffers and bindings alone. Whether a
 * new order, place or copy keeps what is computed is asked of meaning/. */
#ifndef TIRC_SCHEDULE_SHAPE_H
#define TIRC_SCHEDULE_SHAPE_H

#include "passes/schedule/meaning/meaning.h"

/* --- marks ------------------------------------------------------------------------------------ */

/* marks.c: the running call has set, or taken away, the annotation `key` of a loop or block, or
 * (NULL) a loop's kind. */
void tirc_mark_changed(Sched *s, const SRef *at, const char *key);

/* The marks that are there after a call of p on a schedule of `before`. Warns of those that it
 * dropped. */
SetMarks tirc_marks_after(Sched *s, const Primitive *p, const Module *before);

/* TVM's LeafBlockRemovalPlan: what to pass to tirc_sched_replace so that a block and the loops
 * which have nothing else below them are gone. *src is the loop or block to be replaced (above or
 * the scope root itself), *with its replacement. Raises only-leaf when the block is all that its
 * scope has. */
void tirc_plan_leaf_removal(Sched *s, SRef *block, SRef **src, Stmt *with);

/* Throws index-overflow when the module has a constant that its type does not hold, and the one
 * before has none (overflow.c). */
void tirc_require_countable(Sched *s, const Module *before);

/* --- analysis (TensorIR's definitions) -------------------------------------------------------- */

/* NULL when it is, otherwise the violated condition in words: "condition 2 of a complete block
 * fails: ...". `scope` is the scope root. */
const char *tirc_why_not_complete(Sched *s, SRef *block, SRef *scope);
/* Numbers 1.. of the condition (0: it holds), as TVM counts them. */
int tirc_check_complete(Sched *s, SRef *block, SRef *scope);
int tirc_check_reduction(Sched *s, SRef *block, SRef *scope);
/* A sum reads an element of its output that another instance may write; its regions do not say so.
 */
bool tirc_reads_other_output(Sched *s, const SRef *block);

void tirc_require_complete(Sched *s, SRef *block, SRef *scope);              /* or raise */
void tirc_require_reduction(Sched *s, SRef *block, SRef *scope);             /* or raise */
void tirc_require_complete_or_reduction(Sched *s, SRef *block, SRef *scope); /* or raise */
/* Every block of the subtree is a local complete or local reduction block, or a scan of which the
 * loop's iterations use elements of their own; the known sentence. */
void tirc_require_compact_dataflow(Sched *s, SRef *subtree);
/* A hint when a block of the scope updates the buffer in place, or NULL. */
const char *tirc_hint_of_update(Sched *s, const SRef *scope, Buffer buffer);

/* --- storage.c -------------------------------------------------------------------------------- */

/* Raises storage-scope when no target has it; an empty name is "global". */
void tirc_require_storage_scope(Sched *s, const char *scope);
/* A new buffer like b in another scope, named <b>_<scope>, with memory of its own. */
Buffer tirc_buffer_with_scope(Tirc *c, Buffer b, const char *scope);

/* --- updates.c: what any order may be updated in ---------------------------------------------- */

/* A store of C[i] op value, of C[i] and a value that comes in. */
typedef struct Update {
  Callee callee; /* the atomic update that does the same */
  Expr self;     /* the load of the element */
  Expr value;    /* NULL: it is none; of C[i] - x: -x */
} Update;
typedef struct Updates {
  Sched *s;
  SRef *block;
  bool unordered;     /* sums of floats, too */
  const char *cannot; /* for messages: "cannot be made atomic" */
  /* found: */
  PtrMap updated; /* from data to the callee, plus one */
  Stmt last;      /* a store */
} Updates;
/* Throws not-atomic unless the block does nothing but such updates, in which any order leaves the
 * same. */
void tirc_require_updates(Updates *u);
Update tirc_update_of(const Updates *u, Stmt store); /* of such a block */

/* Whether the block accesses memory of the buffer, by a view too. */
bool tirc_uses_memory_of(const SRef *block, Buffer b);

/* --- added iterations ------------------------------------------------------------------------- */

/* What a loop that starts at 0 would reach with a larger extent, were its blocks guarded. */
typedef struct Beyond {
  const char *what; /* NULL: nothing that does harm */
  Expr failing;     /* what of it is not to be evaluated; NULL: all of it */
} Beyond;
Beyond tirc_beyond(Sched *s, const SRef *loop, Expr extent);

#endif
