/* rfactor(loop, factor_axis): a reduction in two steps, so that the first one is parallel in a
 * reduction loop.
 *
 *   for i, k0, k1: B[vi] += A[vi, vk0 * 16 + vk1]
 *
 *   rfactor(k1, 0)
 *
 *   for i, k0, k1: B_rf[vk1, vi] += A[vi, vk0 * 16 + vk1]      # k1 is spatial here
 *   for i, k1:     B[vi] += B_rf[vk1, vi]
 *
 * The first block is new and gets the handle that is returned; the second one, the write-back,
 * keeps the old block's identity, and the loops around it theirs. Needs: a reduction block alone
 * below the loop; a serial loop that reduction iterators only are bound to; a known commutative
 * reducer (reducer.c). */
#include "blocks.h"
#include "ir/tree/print.h"

typedef struct Rfactor {
  Sched *s;
  Tirc *c;
  SRef *block, *loop, *scope;
  SRefs loops;     /* above the block, outermost first */
  unsigned *kinds; /* of the iterators that each loop reaches: 1 << IterKind */
  Reducer reducer;
  int axis;
  Buffer *rf_buffers;
  Expr rf_var;            /* the new spatial iterator of the first block */
  Expr rf_index;          /* its place in the factored buffers, which begin at 0 */
  const Expr *rf_indices; /* the write-back's indices with rf_var put in */
  int n_rf_indices;
  Expr condition; /* of the write-back: what the predicate says of the loops that it keeps */
} Rfactor;

/* --- checks ----------------------------------------------------------------------------------- */

static const char *before_move(Sched *s, const SRef *block) {
  return tirc_format(s->c,
                     "block %s stands in the loop: call rfactor before compute_at or another "
                     "primitive moves it there",
                     tirc_name_of(block));
}

static SRef *only_child_block(Sched *s, SRef *loop) {
  const SRefs blocks = tirc_child_blocks(s, loop);
  if (blocks.n == 1) return blocks.at[0];
  tirc_sched_error(s, loop->stmt, SERR_RFACTOR_LOOP, NULL,
                   blocks.n ? before_move(s, blocks.at[0]) : NULL,
                   "Loop %s has %d blocks below it, but rfactor needs a loop with one block.",
                   tirc_name_of(loop), blocks.n);
}

static _Noreturn void bad_loop(Rfactor *r, SRef *loop, const char *why, const char *hint) {
  tirc_sched_error(r->s, loop->stmt, SERR_RFACTOR_LOOP, NULL, hint, "Loop %s %s.",
                   tirc_name_of(loop), why);
}

/* The loops that reach nothing but the reduction. */
static const char *loops_to_give(const Rfactor *r) {
  Text t = {.c = r->c};
  int left = 0;
  for (int i = 0; i < r->loops.n; i++) left += r->kinds[i] == 1u << ITER_REDUCE;
  for (int i = 0; i < r->loops.n; i++)
    if (r->kinds[i] == 1u << ITER_REDUCE)
      tirc_text_addf(&t, "%s%s", tirc_name_of(r->loops.at[i]),
                     --left > 1 ? ", "
                     : left     ? " or "
                                : "");
  return t.at ? tirc_format(r->c, "give a loop of the reduction: %s", t.at) : NULL;
}

/* The loop must lead to this block first. Below the outermost loop of the nest: the copy of the
 * nest goes before all of it, so before blocks that this one may need. Below the outermost loop of
 * the reduction: what stands beside it there would run once for every iteration of the loops that
 * the write-back loses. */
static void check_first_child(Rfactor *r, SRef *outermost) {
  Stmt at = outermost->stmt;
  while (at->kind == STMT_FOR) {
    const Stmt *items;
    if (tirc_body_items(r->c, at->u.loop.body, &items) == 0) break;
    at = items[0];
  }
  if (at == r->block->stmt) return;
  const SRef *first = at->kind == STMT_BLOCK ? tirc_sref_find(r->s, at) : NULL;
  bad_loop(r, outermost, "leads to another block first", first ? before_move(r->s, first) : NULL);
}

/* What stands behind the block in a loop that the write-back loses runs once. */
static void check_others(Rfactor *r, SRef *loop) {
  if (tirc_is_int(tirc_loop_of(loop)->extent, 1)) return;
  const SRefs blocks = tirc_child_blocks(r->s, loop);
  for (int n = blocks.n; n-- > 0;) {
    if (blocks.at[n] == r->block || !tirc_goes_on_in(r->s, blocks.at[n], loop)) continue;
    tirc_sched_mark(r->s, blocks.at[n]->stmt);
    bad_loop(
        r, loop,
        tirc_format(
            r->c,
            "would not be around the write-back, but block %s goes on in it with what it stored",
            tirc_name_of(blocks.at[n])),
        before_move(r->s, blocks.at[n]));
  }
}

static void check_loops(Rfactor *r) {
  bool in_reduction = false;
  check_first_child(r, r->loops.at[0]);
  for (int i = 0; i < r->loops.n; i++) {
    bool spatial = r->kinds[i] & 1u << ITER_SPATIAL, reduce = r->kinds[i] & 1u << ITER_REDUCE;
    if (spatial && reduce)
      bad_loop(r, r->loops.at[i], "is bound to both spatial and reduction iterators of the block",
               "call rfactor before spatial and reduction loops are fused");
    if (spatial && r->loops.at[i] == r->loop)
      bad_loop(r, r->loop, "is bound to a spatial iterator; rfactor takes a loop of the reduction",
               loops_to_give(r));
    if (!r->kinds[i] && r->loops.at[i] == r->loop && !tirc_is_int(tirc_loop_of(r->loop)->extent, 1))
      bad_loop(r, r->loop, "is bound to no iterator; rfactor takes a loop of the reduction",
               loops_to_give(r));
    if (spatial) continue;
    if (reduce && !in_reduction) {
      check_first_child(r, r->loops.at[i]);
      in_reduction = true;
    }
    if (reduce && r->loops.at[i] != r->loop) check_others(r, r->loops.at[i]);
    if (!reduce && in_reduction && !tirc_is_int(tirc_loop_of(r->loops.at[i])->extent, 1))
      bad_loop(r, r->loops.at[i], "lies below a loop of the reduction and is bound to no iterator",
               NULL);
  }
}

/* Each iteration of the loop gets a sum of its own, and all of them are added: none may add what
 * another one adds. A loop that is bound to nothing repeats all of it. */
static void check_repetition(Rfactor *r) {
  const Block *b = tirc_block_of(r->block);
  const LoopDomain all = tirc_loop_domain(r->s, r->block->parent, NULL, STORAGE_GLOBAL);
  const LoopDomain bound = tirc_used_loops(all, b->n_iters, b->iter_values);
  if (tirc_runs_once(r->s, r->block, &bound, b->predicate)) return;
  tirc_sched_mark(r->s, r->loop->stmt);
  tirc_sched_error(
      r->s, r->block->stmt, SERR_REPEATED_REDUCTION, NULL,
      "split the loop, so that one part repeats the reduction and the other part is the reduction",
      "Block %s may run more than once for the same values of its iterators, so it would add to a "
      "different partial sum of loop %s each time.",
      b->name, tirc_name_of(r->loop));
}

static void check_axis(Rfactor *r, int64_t axis) {
  int ndim = r->reducer.buffers[0]->ndim;
  if (axis < -(ndim + 1) || axis > ndim)
    tirc_refuse(r->s, r->block->stmt, SERR_FACTOR_AXIS,
                "factor_axis is %lld, but %s has %d dimensions, so it must be from %d to %d.",
                (long long)axis, r->reducer.buffers[0]->name, ndim, -(ndim + 1), ndim);
  r->axis = (int)(axis < 0 ? axis + ndim + 1 : axis);
}

static bool is_dropped(const Rfactor *r, int loop) {
  return r->loops.at[loop] != r->loop && (r->kinds[loop] & 1u << ITER_REDUCE);
}

/* A condition on the loops that stay, without the factored one, says which sums there are.
 * `dropped`: the variables of the others. */
static Expr conjuncts(const Rfactor *r, Expr cond, const PtrMap *dropped, bool choosing) {
  if (cond->op == OP_AND)
    return tirc_and(r->c, conjuncts(r, cond->args[0], dropped, choosing),
                    conjuncts(r, cond->args[1], dropped, choosing));
  const bool chooses = !tirc_uses_any(cond, dropped) && !tirc_reads_memory(cond) &&
                       !tirc_uses_var(cond, tirc_loop_of(r->loop)->var);
  return chooses == choosing ? cond : tirc_bool(r->c, true);
}

/* The write-back adds all elements of the factored buffer that belong to a sum, so each of them
 * must be initialised. The init of the first block is held back by what the predicate says of the
 * loops that stay and the factored one, of that of nothing but sums that the write-back leaves out,
 * too. Without loops of the reduction that block has no init: the predicate must hold then. */
static _Noreturn void leaves_out(Rfactor *r) {
  tirc_refuse(r->s, r->block->stmt, SERR_RFACTOR_PREDICATE,
              "The predicate of block %s skips elements of the factored buffer, so the write-back "
              "would add uninitialized values.",
              tirc_name_of(r->block));
}

static void check_predicate(Rfactor *r) {
  const Block *b = tirc_block_of(r->block);
  PtrMap start = {0};
  r->condition = tirc_bool(r->c, true);
  if (tirc_is_true(b->predicate)) return;
  for (int i = 0; i < r->loops.n; i++)
    if (is_dropped(r, i))
      tirc_map_set(r->c, &start, tirc_loop_of(r->loops.at[i])->var,
                   tirc_loop_of(r->loops.at[i])->min);
  Analyzer *a = tirc_analyzer_of_loops(r->s, r->block, NULL);
  if (tirc_prove(a, tirc_substitute(r->c, b->predicate, &start))) return;
  r->condition = conjuncts(r, b->predicate, &start, true);
  tirc_enter_constraint(a, r->condition);
  /* What is about the steps that the first block keeps does not hold back its init. */
  const Expr steps = conjuncts(r, b->predicate, &start, false);
  if (!tirc_prove(a, tirc_conjuncts(r->c, steps, &start, false))) leaves_out(r);
  const InitPart part = tirc_init_of(r->s, r->block);
  r->condition = tirc_and(r->c, r->condition, tirc_init_guard(r->c, &part));
}

/* Where the rest of the predicate leaves out the first step of a partial sum, its init must run
 * nevertheless, once, and for no others. */
static void check_first_init(Rfactor *r, const Block *rf) {
  const LoopDomain loops = tirc_loop_domain(r->s, r->block->parent, NULL, STORAGE_GLOBAL);
  Analyzer *a = tirc_analyzer_around(r->s, r->block->parent);
  const InitPart part = tirc_find_init_part(a, r->c, rf, loops.n, loops.vars, loops.doms);
  if (part.always || (part.at_start && tirc_is_true(tirc_init_guard(r->c, &part)) &&
                      tirc_tells_apart(r->s, rf->n_iters, rf->iter_values, &loops, part.kept)))
    return;
  leaves_out(r);
}

/* The partial sums live as long as the scope runs, so they must start in it. */
static void require_own_start(Rfactor *r) {
  if (tirc_sums_start_in_scope(r->s, r->block)) return;
  tirc_sched_error(
      r->s, r->block->stmt, SERR_READS_OWN_OUTPUT, NULL,
      "call rfactor while the loops of the reduction are still inside of the block's scope",
      "Block %s continues sums that are started outside of its scope, but the factored buffer "
      "would not contain them.",
      tirc_name_of(r->block));
}

/* The partial sums come before all of the nest that the block is in. */
static void require_not_between(Rfactor *r) {
  SRef *producer, *reader;
  if (!tirc_is_read_between(r->s, r->block, r->scope, &producer, &reader)) return;
  tirc_sched_mark(r->s, producer->stmt);
  tirc_refuse(r->s, reader->stmt, SERR_ORDER_MATTERS,
              "Block %s reads what block %s stores before that stores to the same element again; "
              "with the partial results of block %s before all of it, it would see the last only.",
              tirc_name_of(reader), tirc_name_of(producer), tirc_name_of(r->block));
}

static void check(Rfactor *r, int64_t axis) {
  Sched *s = r->s;
  r->block = only_child_block(s, r->loop);
  r->scope = tirc_require_scope_root(s, r->block, true);
  tirc_require_reduction(s, r->block, r->scope);
  require_own_start(r);
  tirc_require_no_views(s, r->block);
  if (tirc_loop_of(r->loop)->kind != LOOP_SERIAL)
    tirc_refuse(s, r->loop->stmt, SERR_RFACTOR_NOT_SERIAL,
                "Loop %s is %s; rfactor takes a serial one.", tirc_name_of(r->loop),
                tirc_loop_kind_name(tirc_loop_of(r->loop)->kind));
  r->loops = tirc_loops_above(s, r->block);
  r->kinds = tirc_new_array(r->c, unsigned, r->loops.n);
  for (int i = 0; i < r->loops.n; i++)
    r->kinds[i] = tirc_kinds_moved(tirc_block_of(r->block), tirc_loop_of(r->loops.at[i])->var);
  check_loops(r);
  check_repetition(r);
  check_predicate(r);
  for (int i = 0; i < r->loops.n; i++)
    if (r->loops.at[i] != r->loop) tirc_require_iterations(s, r->block, r->loops.at[i]);
  r->reducer = tirc_reducer_of(s, r->block);
  check_axis(r, axis);
}

/* --- building --------------------------------------------------------------------------------- */

static const Expr *insert_expr(Tirc *c, int n, const Expr *from, int at, Expr what) {
  Expr *to = tirc_new_array(c, Expr, n + 1);
  for (int i = 0; i < n + 1; i++) to[i] = i < at ? from[i] : i == at ? what : from[i - 1];
  return to;
}

static void make_buffers(Rfactor *r) {
  r->rf_buffers = tirc_new_array(r->c, Buffer, r->reducer.n);
  for (int i = 0; i < r->reducer.n; i++) {
    struct BufferNode b = *r->reducer.buffers[i];
    b.name = tirc_format(r->c, "%s.rf", b.name);
    b.data = tirc_var(r->c, b.name, DT_HANDLE);
    b.shape = insert_expr(r->c, b.ndim, b.shape, r->axis, tirc_loop_of(r->loop)->extent);
    b.ndim++;
    b.strides = NULL;
    b.elem_offset = NULL;
    b.n_axis_separators = 0;
    r->rf_buffers[i] = tirc_buffer_copy(r->c, &b);
  }
}

typedef struct NewBlock {
  VEC(IterVar) iters;
  VEC(Expr) values;
  PtrMap vars; /* old iterator variables -> what stands for them */
} NewBlock;

static void add_iter(Rfactor *r, NewBlock *n, Expr var, Range dom, IterKind kind, Expr value) {
  vec_push(r->c, n->iters, ((IterVar){var, dom, kind}));
  vec_push(r->c, n->values, value);
}

static void keep_iter(Rfactor *r, NewBlock *n, int i) {
  const Block *old = tirc_block_of(r->block);
  const IterVar *iter = &old->iters[i];
  Expr var = tirc_var(r->c, iter->var->u.s, iter->var->dtype);
  add_iter(r, n, var, iter->dom, iter->kind, old->iter_values[i]);
  tirc_map_set(r->c, &n->vars, iter->var, var);
}

static Expr iter_of_loop(Rfactor *r, NewBlock *n, const For *f, IterKind kind) {
  Expr var = tirc_var(r->c, tirc_format(r->c, "v%s", f->var->u.s), f->var->dtype);
  add_iter(r, n, var, tirc_loop_range(f), kind, f->var);
  return var;
}

/* Stores of all combined values; with lets when several buffers must see the old values. */
static Stmt make_body(Rfactor *r, const Buffer *to, int n, const Expr *at, const Expr *self,
                      const Expr *rhs, bool reduces) {
  Tirc *c = r->c;
  int count = r->reducer.n;
  Stmt *stores = tirc_new_array(c, Stmt, count);
  Expr *vars = tirc_new_array(c, Expr, count), *values = tirc_new_array(c, Expr, count);
  for (int i = 0; i < count; i++) {
    values[i] = reduces ? tirc_reducer_apply(c, &r->reducer, i, self, rhs) : rhs[i];
    vars[i] = tirc_var(c, tirc_format(c, "v_%s", to[i]->name), values[i]->dtype);
    stores[i] = tirc_store(c, to[i], n, at, count > 1 && reduces ? vars[i] : values[i]);
  }
  Stmt body = tirc_seq(c, count, stores);
  for (int i = count - 1; count > 1 && reduces && i >= 0; i--)
    body = tirc_let(c, vars[i], values[i], body);
  return body;
}

static Stmt make_init(Rfactor *r, const Buffer *to, int n, const Expr *at) {
  Stmt *stores = tirc_new_array(r->c, Stmt, r->reducer.n);
  for (int i = 0; i < r->reducer.n; i++)
    stores[i] = tirc_store(r->c, to[i], n, at, r->reducer.inits[i]);
  return tirc_seq(r->c, r->reducer.n, stores);
}

static Expr *loads(Rfactor *r, const Buffer *from, int n, const Expr *at) {
  Expr *to = tirc_new_array(r->c, Expr, r->reducer.n);
  for (int i = 0; i < r->reducer.n; i++) to[i] = tirc_load(r->c, from[i], n, at);
  return to;
}

typedef struct LoopsByVar {
  Rfactor *r;
  NewBlock *n;
  PtrMap vars; /* loop variable -> new iterator variable */
} LoopsByVar;

/* Every loop in the binding becomes a reduction iterator of the new block. */
static bool add_loops_of(Visitor *v, Expr e) {
  LoopsByVar *l = v->self;
  if (e->op != OP_VAR || tirc_map_has(&l->vars, e)) return true;
  for (int i = 0; i < l->r->loops.n; i++)
    if (tirc_loop_of(l->r->loops.at[i])->var == e)
      tirc_map_set(l->r->c, &l->vars, e,
                   iter_of_loop(l->r, l->n, tirc_loop_of(l->r->loops.at[i]), ITER_REDUCE));
  return true;
}

static void rf_iters(Rfactor *r, NewBlock *n) {
  const Block *old = tirc_block_of(r->block);
  Expr loop_var = tirc_loop_of(r->loop)->var;
  LoopsByVar l = {.r = r, .n = n};
  r->rf_var = iter_of_loop(r, n, tirc_loop_of(r->loop), ITER_SPATIAL);
  r->rf_index = tirc_sub(r->c, r->rf_var, tirc_loop_of(r->loop)->min);
  tirc_map_set(r->c, &l.vars, loop_var, r->rf_var);
  for (int i = 0; i < old->n_iters; i++) {
    if (old->iters[i].kind == ITER_SPATIAL || !tirc_uses_var(old->iter_values[i], loop_var)) {
      keep_iter(r, n, i);
    } else {
      tirc_visit_expr(&(Visitor){.expr = add_loops_of, .self = &l}, old->iter_values[i]);
      tirc_map_set(r->c, &n->vars, old->iters[i].var,
                   tirc_substitute(r->c, old->iter_values[i], &l.vars));
    }
  }
}

static Region rf_region(Rfactor *r, Region old, const PtrMap *vars) {
  for (int i = 0; i < r->reducer.n; i++) {
    if (r->reducer.buffers[i] != old.buffer) continue;
    Range *dims = tirc_new_array(r->c, Range, old.buffer->ndim + 1);
    for (int k = 0; k <= old.buffer->ndim; k++)
      dims[k] = k < r->axis    ? old.dims[k]
                : k == r->axis ? tirc_range(r->rf_index, tirc_int(r->c, r->rf_var->dtype, 1))
                               : old.dims[k - 1];
    return tirc_substitute_region(r->c, (Region){r->rf_buffers[i], dims}, vars);
  }
  return tirc_substitute_region(r->c, old, vars);
}

/* The first block. Substitution comes last, over all of it at once. */
static Stmt make_rf_block(Rfactor *r) {
  const Block *old = tirc_block_of(r->block);
  NewBlock n = {0};
  rf_iters(r, &n);
  const Reducer *d = &r->reducer;
  r->n_rf_indices = d->self[0]->n + 1;
  r->rf_indices = insert_expr(r->c, d->self[0]->n, d->self[0]->args, r->axis, r->rf_index);
  const bool reduces = tirc_iter_kinds(n.iters.n, n.iters.at) & 1u << ITER_REDUCE;
  Expr *self = loads(r, r->rf_buffers, r->n_rf_indices, r->rf_indices);
  Stmt body = make_body(r, r->rf_buffers, r->n_rf_indices, r->rf_indices, self, d->rhs, reduces);
  Region *reads = tirc_new_array(r->c, Region, old->n_reads);
  Region *writes = tirc_new_array(r->c, Region, old->n_writes);
  for (int i = 0; i < old->n_reads; i++)
    reads[i] = tirc_substitute_region(r->c, old->reads[i], &n.vars);
  for (int i = 0; i < old->n_writes; i++) writes[i] = rf_region(r, old->writes[i], &n.vars);
  Block b = {.name = tirc_format(r->c, "%s_rf", old->name),
             .n_iters = n.iters.n,
             .iters = n.iters.at,
             .iter_values = n.values.at,
             .predicate = old->predicate,
             .n_reads = old->n_reads,
             .reads = reads,
             .n_writes = old->n_writes,
             .writes = writes,
             .annotations = old->annotations,
             .body = tirc_substitute_stmt(r->c, body, &n.vars)};
  if (reduces)
    b.init = tirc_substitute_stmt(r->c, make_init(r, r->rf_buffers, r->n_rf_indices, r->rf_indices),
                                  &n.vars);
  return tirc_block(r->c, &b);
}

static Stmt make_write_back(Rfactor *r) {
  const Block *old = tirc_block_of(r->block);
  const Reducer *d = &r->reducer;
  NewBlock n = {0};
  tirc_map_set(r->c, &n.vars, r->rf_var, iter_of_loop(r, &n, tirc_loop_of(r->loop), ITER_REDUCE));
  for (int i = 0; i < old->n_iters; i++)
    if (old->iters[i].kind == ITER_SPATIAL) keep_iter(r, &n, i);
  const Expr *from = tirc_substitute_all(r->c, r->n_rf_indices, r->rf_indices, &n.vars);
  const Expr *to = tirc_substitute_all(r->c, d->self[0]->n, d->self[0]->args, &n.vars);
  Expr *self = loads(r, d->buffers, d->self[0]->n, to);
  Expr *rhs = loads(r, r->rf_buffers, r->n_rf_indices, from);
  Region *reads = tirc_new_array(r->c, Region, d->n), *writes = tirc_new_array(r->c, Region, d->n);
  for (int i = 0; i < d->n; i++) {
    reads[i] = tirc_point(r->c, r->rf_buffers[i], from);
    writes[i] = tirc_point(r->c, d->buffers[i], to);
  }
  return tirc_block(r->c,
                    &(Block){.id = old->id,
                             .name = old->name,
                             .n_iters = n.iters.n,
                             .iters = n.iters.at,
                             .iter_values = n.values.at,
                             .predicate = r->condition,
                             .n_reads = d->n,
                             .reads = reads,
                             .n_writes = d->n,
                             .writes = writes,
                             .annotations = old->annotations,
                             .init = make_init(r, d->buffers, d->self[0]->n, to),
                             .body = make_body(r, d->buffers, d->self[0]->n, to, self, rhs, true)});
}

/* The block in copies of all its loops. */
static Stmt wrap_rf_block(Rfactor *r, Stmt nest) {
  PtrMap vars = {0};
  for (int i = r->loops.n; i-- > 0;) {
    For f = *tirc_loop_of(r->loops.at[i]);
    const Expr var = tirc_var(r->c, f.var->u.s, f.var->dtype);
    tirc_map_set(r->c, &vars, f.var, var);
    f.var = var;
    f.body = nest;
    nest = tirc_for(r->c, &f);
  }
  return tirc_substitute_stmt(r->c, nest, &vars);
}

/* The old nest around the write-back: reduction loops other than the factored one are left out. */
static Stmt wrap_write_back(Rfactor *r, Stmt write_back) {
  Stmt old = r->block->stmt, nest = write_back;
  for (int i = r->loops.n - 1; i >= 0; i--) {
    Stmt loop = r->loops.at[i]->stmt;
    Stmt body = tirc_replace_stmt(r->c, loop->u.loop.body, old, nest);
    nest = is_dropped(r, i) ? body : tirc_with_body(r->c, loop, body);
    old = loop;
  }
  for (int i = 0; i < r->loops.n; i++)
    if (is_dropped(r, i) && tirc_stmt_uses_var(nest, tirc_loop_of(r->loops.at[i])->var))
      bad_loop(r, r->loops.at[i], "is used beside the block, and is not around the write-back",
               "call rfactor before another block is moved into the loop");
  return nest;
}

/* Whether a loop of the reduction was outside of the one that is outermost now. */
static bool turns_steps(const Rfactor *r) {
  for (int i = 0; i < r->loops.n && r->loops.at[i] != r->loop; i++)
    if (r->kinds[i] & 1u << ITER_REDUCE) return true;
  return false;
}

void tirc_prim_rfactor(Sched *s, const Value *args, Value *result) {
  Rfactor r = {.s = s, .c = s->c, .loop = tirc_sref_of_value(s, args[0])};
  check(&r, args[1].u.i);
  make_buffers(&r);
  Stmt rf_block = make_rf_block(&r);
  check_first_init(&r, &rf_block->u.block);
  uint32_t rf_id = rf_block->u.block.id;
  Stmt both[2] = {wrap_rf_block(&r, rf_block), wrap_write_back(&r, make_write_back(&r))};
  require_not_between(&r);
  Stmt scope = r.scope->stmt, body = tirc_body_of(scope);
  body = tirc_replace_node(s, body, r.loops.at[0], tirc_seq(s->c, 2, both));
  tirc_sched_replace(s, r.scope, tirc_with_allocs(s->c, scope, body, r.reducer.n, r.rf_buffers));
  *result = tirc_value_block(rf_id);
  if (turns_steps(&r)) tirc_warn_of_equals(s, r.block);
}
