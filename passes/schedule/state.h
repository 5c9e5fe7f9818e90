/* Between state.c, which keeps the sref tree, and state_info.c, which knows what holds in its
 * scopes. */
#ifndef TIRC_SCHEDULE_STATE_H
#define TIRC_SCHEDULE_STATE_H

#include "schedule.h"

typedef VEC(SRef *) SRefs;

/* The nodes of the blocks in a statement that are not inside of another block, in order. */
void tirc_blocks_in(Sched *s, Stmt stmt, SRefs *out);
/* Everything about `block` as a scope with these child blocks, from nothing. Also the flags of the
 * children, which depend on the loops around them. */
void tirc_scope_rebuild(Sched *s, SRef *block, int n, SRef *const *children);
/* The children `gone` (in order and next to each other) were replaced by `now`; what changed of
 * `now` is marked as dirty. `dataflow`: some of `now` reads or writes other buffers than it did. */
void tirc_scope_update(Sched *s, SRef *block, int n_gone, SRef *const *gone, int n_now,
                       SRef *const *now, bool dataflow);

/* state_deps.c: the dependences of a scope whose blocks are listed; `before` is what it was, or
 * NULL. Blocks whose edges changed are marked in `recheck`; true: any may have. */
bool tirc_find_deps(Sched *s, Scope *scope, const Scope *before);

/* state_names.c: a block that is new or has a new name; those of a function that have one. */
void tirc_name_block(Sched *s, SRef *block, bool renamed);
void tirc_blocks_named(Sched *s, int func, const char *name, SRefs *out);

#endif
