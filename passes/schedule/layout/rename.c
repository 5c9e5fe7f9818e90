/* rename_buffer: what a block overwrites in place is in a buffer of its own before (renaming: Padua
 * and Wolfe, Advanced Compiler Optimizations for Supercomputers, CACM 29(12), 1986).
 *
 *   rename_buffer("R")
 *
 *   for i, k: C[vi] += A[vi, vk]                       for i, k: C_0[vi] += A[vi, vk]
 *   for i:                                             for i:
 *       with T.block("R"):                       ->        with T.block("R"):
 *           C[vi] = T.max(C[vi], T.float32(0))                 C[vi] = T.max(C_0[vi], T.float32(0))
 *
 * Then the block only reads what is before it, and only writes what is behind it. It stores to all
 * elements that the blocks before it store to, so that none of their values is looked for in C. The
 * first of these stores to all that the others and the block use, so that nobody misses what C held
 * on entry. */
#include "layout.h"

#include "ir/tree/find.h"

typedef struct Renaming {
  Sched *s;
  Tirc *c;
  SRef *block, *scope;
  Buffer from, to;
  VEC(SRef *) before; /* blocks that use it before the block does, in their order */
} Renaming;

#define refuse(k, at, ...)                                                                         \
  tirc_refuse((k)->s, (at)->stmt, SERR_NOT_RENAMABLE,                                              \
              "%s before block %s cannot be a buffer of its own: %s.",                             \
              (k)->from ? (k)->from->name : "What is", tirc_name_of((k)->block),                   \
              tirc_format((k)->c, __VA_ARGS__))

static void require_block(Renaming *k) {
  const Block *b = tirc_block_of(k->block);
  if (b->body->kind != STMT_STORE || b->init)
    refuse(k, k->block, "the block is not one store without an init");
  k->from = b->body->u.store.buffer;
  if (!tirc_find_expr(b->body->u.store.value, tirc_is_load_of, k->from))
    refuse(k, k->block, "the block does not read it");
  for (int i = 0; i < b->n_iters; i++)
    if (b->iters[i].kind != ITER_SPATIAL)
      refuse(k, k->block, "iterator %s of the block is not spatial", b->iters[i].var->u.s);
  if (tirc_instances_depend(k->s, k->block))
    refuse(k, k->block, "two instances of the block may use one element");
}

/* What runs again would overwrite what it has made. */
static void require_once(const Renaming *k) {
  const LoopDomain loops = tirc_loop_domain(k->s, k->block->parent, k->scope, STORAGE_GLOBAL);
  if (!tirc_runs_once(k->s, k->block, &loops, tirc_block_of(k->block)->predicate))
    refuse(k, k->block, "some instances of the block may run more than once");
}

static void find_users(Renaming *k) {
  const SRefs blocks = tirc_child_blocks(k->s, k->scope);
  bool is_before = true;
  for (int i = 0; i < blocks.n; i++) {
    SRef *user = blocks.at[i];
    if (tirc_is_asked_around(user, k->from))
      refuse(k, user, "what block %s is bound by, or its predicate, reads it", tirc_name_of(user));
    is_before &= user != k->block;
    if (user == k->block || !tirc_uses_memory_of(user, k->from)) continue;
    if (tirc_common_ancestor(2, (SRef *[]){user, k->block}) != k->scope)
      refuse(k, user, "block %s uses it in a loop around both", tirc_name_of(user));
    if (is_before) vec_push(k->c, k->before, user);
  }
  if (!k->before.n) refuse(k, k->block, "no block uses it before");
  if (tirc_loosely_used(k->scope, NULL, k->from))
    refuse(k, k->block, "a statement or a condition outside of blocks uses it");
}

static void require_filled(const Renaming *k) {
  SRef *first = k->before.at[0];
  if (tirc_declared_read(tirc_block_of(first), k->from))
    refuse(k, first, "the first block that uses it, %s, reads it", tirc_name_of(first));
  for (int i = 1; i <= k->before.n; i++) {
    SRef *other = i < k->before.n ? k->before.at[i] : k->block;
    if (!tirc_is_filled_for(k->s, first, other, k->from))
      refuse(k, first,
             "the first block that uses it, %s, is not known to store to all that block %s uses",
             tirc_name_of(first), tirc_name_of(other));
  }
}

static void require_overwritten(const Renaming *k) {
  for (int i = 0; i < k->before.n; i++)
    if (!tirc_is_filled_for(k->s, k->block, k->before.at[i], k->from))
      refuse(k, k->block, "the block is not known to store to all that block %s uses",
             tirc_name_of(k->before.at[i]));
}

static Stmt renamed(const Renaming *k) {
  PtrMap map = {0};
  tirc_map_set(k->c, &map, k->from, k->to);
  Stmt scope = k->scope->stmt;
  for (int i = 0; i < k->before.n; i++)
    scope = tirc_replace_stmt(k->c, scope, k->before.at[i]->stmt,
                              tirc_substitute_buffers(k->c, k->before.at[i]->stmt, &map));
  Block b = tirc_substitute_buffers(k->c, k->block->stmt, &map)->u.block;
  const Block *old = tirc_block_of(k->block);
  const Stmt store = old->body;
  b.body = tirc_with_loc(
      k->c,
      tirc_store(k->c, k->from, store->u.store.n, store->u.store.indices, b.body->u.store.value),
      store->loc);
  b.n_writes = old->n_writes;
  b.writes = old->writes;
  scope = tirc_replace_stmt(k->c, scope, k->block->stmt,
                            tirc_with_loc(k->c, tirc_block(k->c, &b), k->block->stmt->loc));
  return tirc_with_allocs(k->c, scope, tirc_body_of(scope), 1, &k->to);
}

void tirc_prim_rename_buffer(Sched *s, const Value *args, Value *result) {
  (void)result;
  Renaming k = {.s = s, .c = s->c, .block = tirc_sref_of_value(s, args[0])};
  k.scope = tirc_require_scope_root(s, k.block, false);
  require_block(&k);
  tirc_require_plain_use(s, tirc_scope_of_buffer(s, k.block, k.from), k.from, false);
  require_once(&k);
  find_users(&k);
  require_filled(&k);
  require_overwritten(&k);
  k.to = tirc_buffer(k.c, tirc_format(k.c, "%s_0", k.from->name), k.from->dtype, k.from->ndim,
                     k.from->shape, k.from->scope);
  tirc_sched_replace(s, k.scope, renamed(&k));
}
