/* Between state.c, which keeps the sref tree, and the files that know what holds in its scopes. */
#ifndef TIRC_SCHEDULE_CORE_STATE_H
#define TIRC_SCHEDULE_CORE_STATE_H

#include "passes/schedule/schedule.h"

/* The nodes of the blocks in a statement that are not inside of another block, in order. */
void tirc_blocks_in(Sched *s, Stmt stmt, SRefs *out);
/* Everything about `block` as a scope with these child blocks, from nothing. Also the flags of the
 * children, which depend on the loops around them. */
void tirc_scope_rebuild(Sched *s, SRef *block, int n, SRef *const *children, bool loose);
/* A change of a scope's children: those in `gone` leave their places, then `now` come to theirs;
 * what changed of `now` is marked as dirty. Costs as much as the blocks that share a buffer with
 * these. */
typedef struct ScopeChange {
  SRefs gone;
  const int *at;        /* where they were in the scope's list */
  PtrMap read, written; /* buffers that they accessed */
} ScopeChange;
ScopeChange tirc_scope_leave(Sched *s, SRef *block, const SRefs *gone);
void tirc_scope_update(Sched *s, SRef *block, ScopeChange *change, const SRefs *now);
/* After a change of its children: what a block accesses that it does not declare, and what holds of
 * those that share a buffer with it, since it may write less for sure than before; the same of
 * blocks around it. */
void tirc_scope_spread(Sched *s, SRef *block);

/* --- state_walk.c ---------------------------------------------------------------------------- */

/* The nodes of a function whose root block is `body`, all of them new. */
void tirc_walk_function(Sched *s, int func, Stmt body);
/* Nodes and scopes follow from `before`, the statement of a loop or block that stands below
 * `parent` in `scope` (NULL: it is a root block), to `with`. */
void tirc_walk_change(Sched *s, int func, SRef *parent, SRef *scope, Stmt before, Stmt with,
                      int seq_index);

/* --- state_users.c: which block mentions what ------------------------------------------------- */

/* The blocks of a scope that mention a buffer (load, store, declare or match it) or a handle
 * variable, in order of execution. Those that once did may be among them. */
const SRefs *tirc_users_of(const Scope *scope, const void *buffer_or_data);
/* Those that read or write a buffer: see tirc_touches. */
const SRefs *tirc_accessors_of(const Scope *scope, Buffer b, bool write);
/* Whether the block is among the users. */
bool tirc_mentions(const SRef *block, const void *buffer_or_data);

/* How many of such a list come before `order`. */
int tirc_first_from(const SRefs *at, int64_t order);
void tirc_insert_in_order(Tirc *c, SRefs *v, SRef *block); /* once */
/* The block of the scope, or one that reads from it, of which what blocks inside of it read without
 * its declaration is not covered by its producers; NULL: there is none. */
const SRef *tirc_find_uncovered(Sched *s, SRef *scope, const SRef *block);
/* What the block accesses, from its statement and the blocks inside of it; and what it mentions. */
void tirc_know_accesses(Sched *s, SRef *block);
void tirc_know_uses(Sched *s, SRef *block);
void tirc_users_add(Sched *s, Scope *scope, SRef *block);
void tirc_users_remove(Scope *scope, SRef *block);
/* Blocks in the scope of `block` mention more than before: so does it, and all around it. */
void tirc_users_spread(Sched *s, SRef *block, const SRefs *now);

/* --- state_deps.c: dependences ---------------------------------------------------------------- */

typedef VEC(Dep) Deps;
/* The edges into a block, RAW first, then WAW and WAR. */
void tirc_deps_into(Sched *s, const Scope *scope, SRef *block, Deps *out);
/* Those into all blocks of a scope, in order of their destinations. */
Deps tirc_deps_of(Sched *s, const Scope *scope);
/* Whether dst reads a buffer that src, before it, writes. */
bool tirc_reads_from(const SRef *src, const SRef *dst);
/* Blocks after `block` that read (read or write) what it writes, each once and in order. */
void tirc_readers_after(Sched *s, const Scope *scope, const SRef *block, SRefs *out);
void tirc_users_after(Sched *s, const Scope *scope, const SRef *block, SRefs *out);
/* Whether a block before this one reads what it writes. */
bool tirc_find_overwrites(const Scope *scope, const SRef *block);

/* --- names ------------------------------------------------------------------------------------ */

/* A block that is new or has a new name; those of a function that have one. */
void tirc_name_block(Sched *s, SRef *block, bool renamed);
void tirc_blocks_named(Sched *s, int func, const char *name, SRefs *out);
/* hints.c: "`i, j = sch.get_loops("C")`" for the name of a loop; what to write for the name of a
 * loop or block that stands without quotes; "did you mean 'A'?" for a name near that of a buffer
 * which the block declares to read or write. NULL: there is none. */
const char *tirc_hint_of_loop(Sched *s, const char *name);
const char *tirc_hint_of_name(Sched *s, const char *name);
const char *tirc_hint_of_buffer(Sched *s, SRef *block, const char *name, bool reads, bool writes);

#endif
