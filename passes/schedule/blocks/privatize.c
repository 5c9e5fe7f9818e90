/* privatize(loop, scope): in each iteration of a loop, a block updates a copy of its own, which is
 * added to the buffer behind it.
 *
 *   for o, t:                                 for o:
 *     with T.block("H"):                        for b: H_shared[b] = 0                  # H_start
 *       H[A[..]] = H[A[..]] + 1         ->      for t: H_shared[A[..]] = H_shared[A[..]] + 1   # H
 *                                               for b:                                  # H_merge
 *   privatize(o, "shared")                        if H_shared[b] != 0: H[b] = H[b] + H_shared[b]
 *
 * The copy begins as what changes nothing, and updates commute (shape/updates.c), so their order
 * and how they are grouped do not matter. Elements that no update changed are left alone: they may
 * hold nothing yet. Needs: the block alone below the loop, and serial loops, which use the one copy
 * after each other. */
#include "blocks.h"
#include "ir/tree/atomic.h"
#include "ir/tree/print.h"

typedef struct Privatize {
  Sched *s;
  Tirc *c;
  SRef *loop, *block, *scope;
  Updates updates;
  Buffer buffer, own;
  Callee callee;
  bool updates_other; /* another buffer, or another view of its memory */
} Privatize;

/* --- checks ----------------------------------------------------------------------------------- */

static void require_serial(const Privatize *p, SRef *loop) {
  const LoopKind kind = tirc_loop_of(loop)->kind;
  if (kind == LOOP_SERIAL || kind == LOOP_UNROLLED) return;
  tirc_refuse(p->s, loop->stmt, SERR_PRIVATE_NOT_SERIAL,
              "Loop %s is %s; iterations that run at the same time would share the copy.",
              tirc_name_of(loop), tirc_loop_kind_name(kind));
}

static bool mentions(const void *self, Expr e) {
  const Privatize *p = self;
  return e == p->buffer->data || (e->op == OP_LOAD && e->u.buffer->data == p->buffer->data);
}

/* Conditions and extents between the loop and the block. */
static void require_no_other_use(const Privatize *p) {
  const Stmt without =
      tirc_replace_stmt(p->c, p->loop->stmt, p->block->stmt, tirc_eval(p->c, tirc_int32(p->c, 0)));
  if (tirc_find_expr_in(without, mentions, p))
    tirc_sched_error(p->s, p->loop->stmt, SERR_NOT_ATOMIC,
                     "its loops or conditions read the buffer",
                     "keep what they read in a buffer of its own", "the updates of block %s %s",
                     tirc_name_of(p->block), p->updates.cannot);
}

static bool is_of_other(Visitor *v, Stmt s) {
  Privatize *p = v->self;
  if (s->kind == STMT_STORE && s->u.store.buffer != p->buffer) p->updates_other = true;
  return true;
}

static void check(Privatize *p, const char *storage_scope) {
  tirc_require_storage_scope(p->s, storage_scope);
  p->block = tirc_blockize_only_child(p->s, p->loop);
  p->scope = tirc_require_scope_root(p->s, p->block, false);
  const SRefs loops = tirc_loops_above(p->s, p->block);
  for (int i = 0; i < loops.n; i++) {
    require_serial(p, loops.at[i]);
    if (loops.at[i] == p->loop) break;
  }
  p->updates.block = p->block;
  tirc_require_updates(&p->updates);
  p->buffer = p->updates.last->u.store.buffer;
  p->callee = tirc_update_of(&p->updates, p->updates.last).callee;
  tirc_visit_stmts(tirc_block_of(p->block)->body, is_of_other, p);
  if (p->updates_other)
    tirc_sched_error(p->s, p->block->stmt, SERR_NOT_ATOMIC, "it updates several buffers",
                     "divide it with fission", "the updates of block %s %s", tirc_name_of(p->block),
                     p->updates.cannot);
  require_no_other_use(p);
}

/* --- the copy --------------------------------------------------------------------------------- */

static Expr neutral(const Privatize *p) {
  return tirc_neutral(p->c, tirc_atomic_op(p->callee), p->buffer->dtype);
}

static Expr combined(const Privatize *p, Expr a, Expr b) {
  return tirc_binary(p->c, tirc_atomic_op(p->callee), a, b);
}

static Stmt updates_own(Mutator *m, Stmt s) {
  const Privatize *p = m->self;
  if (s->kind != STMT_STORE) return tirc_mutate_stmt_children(m, s);
  const Update of = tirc_update_of(&p->updates, s);
  const Expr self = tirc_load(m->c, p->own, of.self->n, of.self->args);
  return tirc_with_loc(
      m->c, tirc_store(m->c, p->own, of.self->n, of.self->args, combined(p, self, of.value)),
      s->loc);
}

static Stmt block_of_updates(const Privatize *p) {
  Block b = *tirc_block_of(p->block);
  Mutator m = {
      .c = p->c, .expr = tirc_keep_expr, .stmt = updates_own, .self = (void *)(uintptr_t)p};
  b.body = tirc_mutate_stmt(&m, b.body);
  return tirc_with_loc(p->c, tirc_infer_regions(p->c, tirc_block(p->c, &b), false, false),
                       p->block->stmt->loc);
}

/* A block in loops over all elements of the buffer; `store` makes its body. */
static Stmt over_elements(const Privatize *p, const char *name,
                          Stmt (*store)(const Privatize *p, const Expr *at), uint32_t *id) {
  Tirc *c = p->c;
  const int n = p->buffer->ndim;
  IterVar *iters = tirc_new_array(c, IterVar, n + 1);
  Expr *values = tirc_new_array(c, Expr, n + 1), *vars = tirc_new_array(c, Expr, n + 1);
  for (int i = 0; i < n; i++) {
    const DType t = p->buffer->shape[i]->dtype;
    values[i] = tirc_var(c, tirc_format(c, "b%d", i), t);
    vars[i] = tirc_var(c, tirc_format(c, "vb%d", i), t);
    iters[i] = (IterVar){vars[i], tirc_range(tirc_int(c, t, 0), p->buffer->shape[i]), ITER_SPATIAL};
  }
  const Block b = {.name = name,
                   .n_iters = n,
                   .iters = iters,
                   .iter_values = values,
                   .predicate = tirc_bool(c, true),
                   .body = store(p, vars)};
  Stmt s =
      tirc_infer_regions(c, tirc_with_loc(c, tirc_block(c, &b), p->block->stmt->loc), false, false);
  *id = s->u.block.id;
  for (int i = n; i-- > 0;)
    s = tirc_for(c, &(For){.var = values[i],
                           .min = tirc_int(c, values[i]->dtype, 0),
                           .extent = p->buffer->shape[i],
                           .kind = LOOP_SERIAL,
                           .axis = AXIS_NONE,
                           .body = s});
  return s;
}

static Stmt start(const Privatize *p, const Expr *at) {
  return tirc_store(p->c, p->own, p->own->ndim, at, neutral(p));
}

static Stmt merge(const Privatize *p, const Expr *at) {
  Tirc *c = p->c;
  const int n = p->own->ndim;
  const Expr own = tirc_load(c, p->own, n, at), all = tirc_load(c, p->buffer, n, at);
  return tirc_if(c, tirc_binary(c, OP_NE, own, neutral(p)),
                 tirc_store(c, p->buffer, n, at, combined(p, all, own)), NULL);
}

void tirc_prim_privatize(Sched *s, const Value *args, Value *result) {
  Tirc *c = s->c;
  Privatize p = {.s = s,
                 .c = c,
                 .loop = tirc_sref_of_value(s, args[0]),
                 .updates = {.s = s, .unordered = args[2].u.b, .cannot = "cannot go to a copy"}};
  check(&p, args[1].u.s);
  const struct BufferNode own = tirc_dense(tirc_buffer_with_scope(c, p.buffer, args[1].u.s));
  p.own = tirc_buffer_copy(c, &own);
  StrMap names = {0};
  uint32_t ids[2];
  const char *of = tirc_block_of(p.block)->name;
  const int func = p.block->func;
  const char *first = tirc_free_block_name(s, func, tirc_format(c, "%s_start", of), &names);
  const char *last = tirc_free_block_name(s, func, tirc_format(c, "%s_merge", of), &names);
  Stmt loop = p.loop->stmt;
  Stmt parts[3] = {over_elements(&p, first, start, &ids[0]),
                   tirc_replace_stmt(c, loop->u.loop.body, p.block->stmt, block_of_updates(&p)),
                   over_elements(&p, last, merge, &ids[1])};
  Stmt body = tirc_replace_node(s, tirc_body_of(p.scope->stmt), p.loop,
                                tirc_with_body(c, loop, tirc_seq(c, 3, parts)));
  tirc_sched_replace(s, p.scope, tirc_with_allocs(c, p.scope->stmt, body, 1, &p.own));
  *result = tirc_value_list(c, VAL_LIST, 0, NULL);
  for (int i = 0; i < 2; i++) tirc_value_append(c, *result, tirc_value_block(ids[i]));
}
