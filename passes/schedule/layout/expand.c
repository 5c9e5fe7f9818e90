/* expand_buffer: a buffer that each iteration of a loop fills anew gets elements of its own for
 * each (scalar expansion: Kuck et al., Dependence Graphs and Compiler Optimizations, POPL 1981).
 *
 *   expand_buffer(i, "t")
 *
 *   for i:                                  for i:
 *       with T.block("t"): t[0] = A[vi]         with T.block("t"): t[vi, 0] = A[vi]
 *       with T.block("B"): B[vi] = t[0]   ->    with T.block("B"): B[vi] = t[vi, 0]
 *
 * Then nothing of one iteration is lost in the next one, so the blocks can stand in loops of their
 * own. The first block of an iteration that uses the buffer stores to all that the other ones use
 * of it, in the loops that it shares with them: what is read was stored in the same iteration. The
 * iterator by which a block stores to it, which did not move the element, is spatial now. */
#include "layout.h"

#include "ir/arith/access.h"
#include "ir/arith/box.h"
#include "ir/tree/find.h"
#include "ir/tree/print.h"

typedef struct Expansion {
  Sched *s;
  Tirc *c;
  SRef *loop, *scope;
  const char *name;
  Buffer from, to;
  Expr index; /* of the new dimension, in the block that is rewritten */
  VEC(SRef *) users;
} Expansion;

#define refuse(k, at, ...)                                                                         \
  tirc_refuse((k)->s, (at)->stmt, SERR_NOT_EXPANDABLE,                                             \
              "%s cannot have an element for each "                                                \
              "iteration of loop %s: %s.",                                                         \
              (k)->name, tirc_name_of((k)->loop), tirc_format((k)->c, __VA_ARGS__))

/* --- who uses it ------------------------------------------------------------------------------ */

static void find_buffer(Expansion *k) {
  const Block *b = tirc_block_of(k->scope);
  for (int i = 0; i < b->n_allocs; i++)
    if (!strcmp(b->allocs[i]->name, k->name)) k->from = b->allocs[i];
  if (!k->from)
    refuse(k, k->scope, "%s allocates no such buffer", tirc_describe(k->s, k->scope->stmt));
}

/* The place of the loop's variable among the iterators of a block; -1: none is bound to it. */
static int place_of(const Expansion *k, SRef *block) {
  const Block *b = tirc_block_of(block);
  for (int i = 0; i < b->n_iters; i++)
    if (b->iter_values[i] == tirc_loop_of(k->loop)->var) return i;
  return -1;
}

static bool is_inner_block(const void *self, Stmt s) { return s->kind == STMT_BLOCK && s != self; }

static void require_user(const Expansion *k, SRef *block) {
  const Block *b = tirc_block_of(block);
  const int at = place_of(k, block);
  if (!tirc_is_ancestor(k->loop, block))
    refuse(k, block, "block %s uses it elsewhere", tirc_name_of(block));
  if (at < 0) refuse(k, block, "no iterator of block %s is bound to the loop", tirc_name_of(block));
  if (tirc_find_stmt(block->stmt, is_inner_block, block->stmt, NULL))
    refuse(k, block, "there are blocks inside of block %s", tirc_name_of(block));
  if (b->iters[at].kind != ITER_SPATIAL && tirc_declared_write(b, k->from) &&
      (b->init || b->n_writes != 1 || tirc_find_expr_in(block->stmt, tirc_is_opaque_call, NULL)))
    refuse(k, block, "block %s does more in one step of its iterator %s than to update it",
           tirc_name_of(block), b->iters[at].var->u.s);
}

static bool loads_it(const void *buffer, Expr e) {
  return e->op == OP_LOAD && e->u.buffer->data == ((Buffer)buffer)->data;
}

bool tirc_is_asked_around(const SRef *block, Buffer buffer) {
  const Block *b = tirc_block_of(block);
  bool around = tirc_find_expr(b->predicate, loads_it, buffer) != NULL;
  for (int i = 0; i < b->n_iters; i++)
    around |= tirc_find_expr(b->iter_values[i], loads_it, buffer) != NULL;
  return around;
}

static void require_only_inside(const Expansion *k, SRef *block) {
  if (tirc_is_asked_around(block, k->from))
    refuse(k, block, "what block %s is bound by, or its predicate, reads it", tirc_name_of(block));
}

static void require_users(Expansion *k) {
  const SRefs blocks = tirc_child_blocks(k->s, k->scope);
  for (int i = 0; i < blocks.n; i++)
    if (tirc_uses_memory_of(blocks.at[i], k->from)) vec_push(k->c, k->users, blocks.at[i]);
  if (!k->users.n) refuse(k, k->loop, "no block uses it");
  for (int i = 0; i < blocks.n; i++) require_only_inside(k, blocks.at[i]);
  for (int i = 0; i < k->users.n; i++) require_user(k, k->users.at[i]);
  if (tirc_loosely_used(k->scope, NULL, k->from))
    refuse(k, k->loop, "a statement or a condition outside of blocks uses it");
}

/* --- what an iteration finds ------------------------------------------------------------------ */

bool tirc_is_filled_for(Sched *s, SRef *writer, SRef *other, Buffer buffer) {
  SRef *within = tirc_common_ancestor(2, (SRef *[]){writer, other});
  const Expr always = tirc_bool(s->c, true);
  if (tirc_is_guarded(s, writer, within) || !tirc_sums_start_in_scope(s, writer)) return false;
  for (int write = 0; write < 2; write++)
    for (int i = 0; i < other->n_accesses[write]; i++) {
      const Region r = other->accesses[write][i];
      if (r.buffer != buffer) continue;
      const Region box = tirc_box_in_one_run(s, tirc_scope_root(other), other, r, within);
      if (!tirc_nest_writes_box(s, writer, within, always, &box, NULL)) return false;
    }
  return true;
}

static void require_anew(const Expansion *k) {
  SRef *first = k->users.at[0];
  if (tirc_declared_read(tirc_block_of(first), k->from))
    refuse(k, first, "the first block that uses it, %s, reads it", tirc_name_of(first));
  for (int i = 1; i < k->users.n; i++)
    if (!tirc_is_filled_for(k->s, first, k->users.at[i], k->from))
      refuse(k, first,
             "the first block that uses it, %s, is not known to store to all that block %s uses in "
             "an iteration",
             tirc_name_of(first), tirc_name_of(k->users.at[i]));
}

static void require_loop(const Expansion *k) {
  const For *f = tirc_loop_of(k->loop);
  if (f->kind != LOOP_SERIAL && f->kind != LOOP_UNROLLED)
    refuse(k, k->loop, "the loop is %s", tirc_loop_kind_name(f->kind));
  const Range r = tirc_loop_range(f);
  for (SRef *up = k->loop->parent; tirc_is_loop(up); up = up->parent)
    if (tirc_range_uses(r, tirc_loop_of(up)->var))
      refuse(k, k->loop, "how often it runs depends on loop %s", tirc_name_of(up));
  if (tirc_loads_or_calls(r.min) || tirc_loads_or_calls(r.extent))
    refuse(k, k->loop, "how often it runs is loaded");
}

/* --- the change ------------------------------------------------------------------------------- */

static const Expr *with_index(const Expansion *k, int n, const Expr *indices) {
  Expr *out = tirc_new_array(k->c, Expr, n + 1);
  out[0] = k->index;
  if (n) memcpy(out + 1, indices, (size_t)n * sizeof *out);
  return out;
}

static Expr expand_load(Mutator *m, Expr e) {
  const Expansion *k = m->self;
  const Expr to = tirc_mutate_expr_children(m, e);
  if (to->op != OP_LOAD || to->u.buffer != k->from) return to;
  return tirc_load(k->c, k->to, to->n + 1, with_index(k, to->n, to->args));
}

static Stmt expand_store(Mutator *m, Stmt s) {
  const Expansion *k = m->self;
  const Stmt to = tirc_mutate_stmt_children(m, s);
  if (to->kind != STMT_STORE || to->u.store.buffer != k->from) return to;
  const int n = to->u.store.n;
  return tirc_with_loc(
      k->c,
      tirc_store(k->c, k->to, n + 1, with_index(k, n, to->u.store.indices), to->u.store.value),
      to->loc);
}

static const Region *expand_regions(const Expansion *k, int n, const Region *from) {
  Region *out = tirc_new_array(k->c, Region, n + 1);
  for (int i = 0; i < n; i++) {
    out[i] = from[i];
    if (from[i].buffer != k->from) continue;
    Range *dims = tirc_new_array(k->c, Range, k->to->ndim);
    dims[0] = tirc_range(k->index, tirc_int(k->c, k->index->dtype, 1));
    if (k->from->ndim) memcpy(dims + 1, from[i].dims, (size_t)k->from->ndim * sizeof *dims);
    out[i] = (Region){k->to, dims};
  }
  return out;
}

static Stmt expanded_block(Expansion *k, SRef *block) {
  Block b = *tirc_block_of(block);
  const int at = place_of(k, block);
  const For *f = tirc_loop_of(k->loop);
  k->index = tirc_is_int(f->min, 0) ? b.iters[at].var : tirc_sub(k->c, b.iters[at].var, f->min);
  IterVar *iters = tirc_copy(k->c, b.iters, b.n_iters);
  if (tirc_declared_write(&b, k->from)) iters[at].kind = ITER_SPATIAL;
  b.iters = iters;
  Mutator m = {.c = k->c, .expr = expand_load, .stmt = expand_store, .self = k};
  b.body = tirc_mutate_stmt(&m, b.body);
  if (b.init) b.init = tirc_mutate_stmt(&m, b.init);
  b.reads = expand_regions(k, b.n_reads, b.reads);
  b.writes = expand_regions(k, b.n_writes, b.writes);
  return tirc_with_loc(k->c, tirc_block(k->c, &b), block->stmt->loc);
}

static Buffer expanded_buffer(const Expansion *k) {
  const Buffer b = k->from;
  Expr *shape = tirc_new_array(k->c, Expr, b->ndim + 1);
  shape[0] = tirc_loop_of(k->loop)->extent;
  if (b->ndim) memcpy(shape + 1, b->shape, (size_t)b->ndim * sizeof *shape);
  return tirc_buffer(k->c, b->name, b->dtype, b->ndim + 1, shape, b->scope);
}

void tirc_prim_expand_buffer(Sched *s, const Value *args, Value *result) {
  (void)result;
  Expansion k = {.s = s, .c = s->c, .loop = tirc_sref_of_value(s, args[0]), .name = args[1].u.s};
  k.scope = tirc_require_scope_root(s, k.loop, false);
  find_buffer(&k);
  tirc_require_plain_use(s, k.scope, k.from, false);
  require_loop(&k);
  require_users(&k);
  require_anew(&k);
  k.to = expanded_buffer(&k);
  Stmt scope = k.scope->stmt;
  for (int i = 0; i < k.users.n; i++)
    scope = tirc_replace_stmt(k.c, scope, k.users.at[i]->stmt, expanded_block(&k, k.users.at[i]));
  scope = tirc_without_alloc(k.c, scope, k.from);
  scope = tirc_with_allocs(k.c, scope, tirc_body_of(scope), 1, &k.to);
  tirc_sched_replace(s, k.scope, scope);
}
