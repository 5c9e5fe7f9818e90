/* reindex(block, buffer): a copy of what a block accesses of a buffer, in the order of the block's
 * iterators.
 *
 *   reindex(B, ("read", 0))
 *
 *   for i, j:                                   for ax0, ax1:
 *       with T.block("B"):                          with T.block("A_reindex_reindex"):
 *           B[vi, vj] = A[vj, vi]         ->            A_reindex[v0, v1] = A[v1, v0]
 *                                               for i, j:
 *                                                   with T.block("B"):
 *                                                       B[vi, vj] = A_reindex[vi, vj]
 *
 * and for ("write", 0) the block writes B_reindex[vi, vj], which a block B_reindex copies to B
 * afterwards. The copy has one dimension for each iterator that the indices use. Needs: a leaf
 * block in a nest of its own within a stage pipeline, all of whose accesses to the buffer have the
 * same indices. The copy moves all of the iterators' domains, so the block must access all of that,
 * or what is more must be inside of the buffer. */
#include "copies.h"
#include "passes/schedule/layout/layout.h"

/* The indices in their short form; one that becomes a constant stays as it was. */
static void simplify_old(Reindex *r) {
  const Block *b = tirc_block_of(r->block);
  Analyzer *a = tirc_analyzer(r->c);
  tirc_bind_iters(a, b);
  Expr *out = tirc_new_array(r->c, Expr, r->source->ndim + 1);
  for (int i = 0; i < r->source->ndim; i++) {
    out[i] = tirc_simplify(a, r->old[i]);
    if (out[i]->op == OP_INT) out[i] = r->old[i];
  }
  r->old = out;
}

static bool is_covered(const Reindex *r, Expr iter) {
  return tirc_any_uses(r->source->ndim, r->old, iter);
}

/* --- checks ----------------------------------------------------------------------------------- */

/* The outermost loop above the block (or the block), which must be an item of the scope's body; the
 * loops on the way there have nothing else in their bodies. */
static SRef *require_nest(Reindex *r) {
  SRef *top = r->block;
  for (; top->parent != r->scope; top = top->parent) {
    SRef *loop = top->parent;
    if (top == r->block || tirc_loop_of(loop)->body == top->stmt) continue;
    tirc_refuse(r->s, loop->stmt, SERR_REINDEX_NEST,
                "Loop %s above block %s has more in its body than the next loop.",
                tirc_name_of(loop), tirc_name_of(r->block));
  }
  Stmt body = tirc_block_of(r->scope)->body;
  while (body->kind == STMT_DECL) body = body->u.alloc.body;
  const Stmt *items;
  int n = tirc_body_items(r->c, body, &items);
  for (int i = 0; i < n; i++)
    if (items[i] == top->stmt) {
      r->where = r->scope;
      r->index = i + r->is_write;
      return top;
    }
  tirc_refuse(r->s, top->stmt, SERR_REINDEX_NEST,
              "The nest of block %s is inside of a statement that is neither a loop nor a block.",
              tirc_name_of(r->block));
}

/* A buffer on which the place of the access, `old`, depends, and that a block or one in it writes;
 * or NULL. */
static Buffer index_written_by(const Reindex *r, const SRef *block) {
  Expr load = NULL;
  for (int i = 0; i < r->source->ndim && !load; i++)
    load = tirc_find_expr(r->old[i], tirc_is_load_of_stored, block);
  return load ? load->u.buffer : NULL;
}

/* The copy comes before or after the whole nest, which is too early or too late for other blocks in
 * it that access the buffer, or write the indices. */
static void require_alone(Reindex *r, SRef *top) {
  const SRefs blocks = top == r->block ? (SRefs){0} : tirc_child_blocks(r->s, top);
  for (int i = 0; i < blocks.n; i++) {
    if (blocks.at[i] == r->block) continue;
    Buffer which = index_written_by(r, blocks.at[i]);
    bool uses = tirc_touches(blocks.at[i], r->source, true) ||
                (r->is_write && tirc_touches(blocks.at[i], r->source, false));
    if (!which && !uses) continue;
    tirc_refuse(r->s, blocks.at[i]->stmt, SERR_REINDEX_NEST,
                "Block %s in the same nest %s %s, and the copy is made %s the nest.",
                tirc_name_of(blocks.at[i]), !which && r->is_write ? "uses" : "writes",
                (which ? which : r->source)->name, r->is_write ? "after" : "before");
  }
}

/* All accesses of the block go to the copy: a write must not be lost, and what is read must have
 * been copied or written there before. */
static void require_one_way(Reindex *r) {
  const char *name = tirc_name_of(r->block);
  if (!tirc_goes_both_ways(r)) return;
  tirc_sched_error(r->s, r->block->stmt, SERR_READS_OWN_OUTPUT, NULL,
                   r->is_write ? tirc_hint_of_update(r->s, r->scope, r->source)
                               : "a block that updates a buffer in place cannot use a copy",
                   "Block %s both reads and writes %s: with a copy in one direction only, %s.",
                   name, r->source->name,
                   r->is_write ? "it would read the copy before anything is there"
                               : "what it writes would not reach the buffer");
}

/* Each loop of the block is one iterator over all of its domain, which is not empty. */
static bool runs_everywhere(const Reindex *r) {
  const Block *b = tirc_block_of(r->block);
  const SRefs loops = tirc_loops_above(r->s, r->block);
  if (!tirc_is_true(b->predicate)) return false;
  for (int i = 0; i < b->n_iters; i++) {
    int k = 0;
    while (k < loops.n && tirc_loop_of(loops.at[k])->var != b->iter_values[i]) k++;
    if (k == loops.n || tirc_is_int(b->iters[i].dom.extent, 0) ||
        !tirc_expr_same(tirc_loop_of(loops.at[k])->extent, b->iters[i].dom.extent) ||
        !tirc_expr_same(tirc_loop_of(loops.at[k])->min, b->iters[i].dom.min))
      return false;
  }
  return true;
}

/* An iterator is an index of the copy. */
static void require_indices(const Reindex *r) {
  const Block *b = tirc_block_of(r->block);
  for (int i = 0; i < b->n_iters; i++) {
    const Expr start = b->iters[i].dom.min;
    if (!is_covered(r, b->iters[i].var) ||
        !tirc_prove_lt(tirc_analyzer(r->c), start, tirc_int(r->c, start->dtype, 0)))
      continue;
    tirc_sched_error(r->s, r->block->stmt, SERR_REINDEX_COVER, NULL, "let the iterator start at 0",
                     "Iterator %s of block %s starts below 0, where no buffer has elements.",
                     b->iters[i].var->u.s, b->name);
  }
}

/* The copy moves what all of the domains stand for. */
static bool writes_all(const Reindex *r) {
  const Block *b = tirc_block_of(r->block);
  PtrMap of = {0};
  for (int i = 0; i < b->n_iters; i++)
    if (is_covered(r, b->iters[i].var)) tirc_map_set(r->c, &of, b->iters[i].var, r->block);
  return tirc_reaches_domain(r->s, r->block, &of, NULL);
}

/* The copy passes through all of the domains in each run of the scope. */
static void require_part_of_scope(const Reindex *r) {
  const Block *scope = tirc_block_of(r->scope);
  Expr outer = tirc_outer_iter(r->s, r->block);
  bool declared = tirc_declared_read(scope, r->source) || tirc_declared_write(scope, r->source);
  if (!outer || !declared) return;
  tirc_refuse(r->s, r->block->stmt, SERR_REINDEX_COVER,
              "Iterator %s of block %s depends on something outside of block %s, which does not "
              "declare that it uses everything in the iterator's domain.",
              outer->u.s, tirc_name_of(r->block), scope->name);
}

static bool is_whole(const Reindex *r, int dim, Range declared) {
  return tirc_is_int(declared.min, 0) && tirc_expr_same(declared.extent, r->source->shape[dim]);
}

/* Where the block leaves instances out, the scope declares to use less than the copy moves. */
static bool is_declared(const Reindex *r, const Region *declared) {
  const Block *b = tirc_block_of(r->block);
  Analyzer *a = tirc_analyzer_around(r->s, r->scope);
  const PtrMap domains = tirc_domain_sets(r->c, tirc_iter_domain(r->c, b->n_iters, b->iters));
  for (int d = 0; d < r->source->ndim; d++) {
    const Range dim = declared->dims[d];
    const IntSet moved = tirc_eval_set(a, r->old[d], &domains);
    if (!is_whole(r, d, dim) && !tirc_set_surely_in(a, moved, dim)) return false;
  }
  return true;
}

static void require_declared(const Reindex *r) {
  const Block *scope = tirc_block_of(r->scope);
  const Regions all = tirc_declared(scope, r->is_write);
  for (int i = 0; i < all.n; i++) {
    if (all.at[i].buffer != r->source || runs_everywhere(r) || is_declared(r, &all.at[i])) continue;
    tirc_refuse(r->s, r->block->stmt, SERR_REINDEX_COVER,
                "Block %s skips instances, and block %s around it declares only the elements of %s "
                "that the other instances access, but the copy would move more.",
                tirc_name_of(r->block), scope->name, r->source->name);
  }
}

/* Whether the copy's loops take the instances in the order in which the block does. */
static bool keeps_order(const Reindex *r) {
  const Block *b = tirc_block_of(r->block);
  const SRefs loops = tirc_loops_above(r->s, r->block);
  bool left_out = false, kept = tirc_is_trivial_binding(r->block->stmt, loops);
  for (int i = 0; i < b->n_iters; i++) {
    const bool covered = is_covered(r, b->iters[i].var);
    kept &= !covered || !left_out;
    left_out |= !covered;
  }
  return kept;
}

/* Whether an iterator that counts steps, which the copy takes for a spatial one, may stand for one
 * element of the buffer twice. */
static bool steps_meet(const Reindex *r) {
  const Block *b = tirc_block_of(r->block);
  for (int i = 0; i < b->n_iters; i++) {
    const IterVar *iter = &b->iters[i];
    int d = 0;
    while (d < r->source->ndim && !tirc_is_own_place(r->old[d], iter->var)) d++;
    if (iter->kind != ITER_SPATIAL && d == r->source->ndim && is_covered(r, iter->var) &&
        !tirc_is_int(iter->dom.extent, 1))
      return true;
  }
  return false;
}

/* Two instances may store to one element: the later one must do so in the copy, too. */
static void require_order_kept(const Reindex *r) {
  if (!r->is_write || keeps_order(r)) return;
  if (!steps_meet(r) && !tirc_instances_depend(r->s, r->block)) return;
  tirc_sched_error(r->s, r->block->stmt, SERR_ORDER_MATTERS, NULL,
                   "declare the iterators in the order of the block's loops, one for each",
                   "Two instances of block %s may store to the same element of %s, and the copy "
                   "would change their order.",
                   tirc_name_of(r->block), r->source->name);
}

/* --- the copy --------------------------------------------------------------------------------- */

static void make_stage(Reindex *r) {
  Tirc *c = r->c;
  const Block *b = tirc_block_of(r->block);
  int n = 0;
  IterVar *iters = tirc_new_array(c, IterVar, b->n_iters + 1);
  Expr *loops = tirc_new_array(c, Expr, b->n_iters + 1);
  Expr *shape = tirc_new_array(c, Expr, b->n_iters + 1);
  Expr *indices = tirc_new_array(c, Expr, b->n_iters + 1);
  PtrMap fresh = {0};
  for (int i = 0; i < b->n_iters; i++) {
    Expr var = b->iters[i].var;
    Range dom = b->iters[i].dom;
    if (!is_covered(r, var)) continue;
    indices[n] = var;
    shape[n] = tirc_add(c, dom.min, dom.extent);
    loops[n] = tirc_var(c, tirc_format(c, "ax%d", n), var->dtype);
    iters[n] = (IterVar){tirc_var(c, tirc_format(c, "v%d", n), var->dtype), dom, ITER_SPATIAL};
    tirc_map_set(c, &fresh, var, iters[n].var);
    n++;
  }
  struct BufferNode copy = *r->source;
  copy.name = tirc_format(c, "%s_reindex", r->source->name);
  copy.data = tirc_var(c, copy.name, r->source->data->dtype);
  tirc_reindexed_buffer(r, &copy, n, shape);
  r->indices = indices;
  const char *name = tirc_format(c, "%s_reindex", (r->is_write ? r->source : r->copy)->name);
  r->stage = tirc_copy_block(r, name, n, iters, loops, &fresh);
  for (int i = n; i-- > 0;) {
    For loop = {
        .var = loops[i], .min = iters[i].dom.min, .extent = iters[i].dom.extent, .body = r->stage};
    r->stage = tirc_for(c, &loop);
  }
}

static void require_written(Reindex *r, Value stage, Stmt block) {
  if (tirc_has_region_cover(r->s, tirc_sref_of_block(r->s, stage.u.block_id))) return;
  tirc_refuse(r->s, block, SERR_REINDEX_COVER,
              "Block %s does not write everything in the domains of its iterators, so the copy to "
              "%s would move elements that were not written.",
              block->u.block.name, r->source->name);
}

void tirc_prim_reindex(Sched *s, const Value *args, Value *result) {
  Reindex r = {.s = s, .c = s->c, .block = tirc_sref_of_value(s, args[0])};
  BufferChoice choice = tirc_choose_buffer(s, r.block, args[1]);
  r.source = choice.buffer;
  r.is_write = choice.is_write;
  r.scope = tirc_require_scope_root(s, r.block, true);
  tirc_find_access(&r);
  simplify_old(&r);
  SRef *top = require_nest(&r);
  require_alone(&r, top);
  require_one_way(&r);
  r.conditional |= r.is_write && !writes_all(&r);
  tirc_require_inside(&r, runs_everywhere(&r));
  tirc_require_own_domains(&r);
  require_part_of_scope(&r);
  require_declared(&r);
  require_indices(&r);
  require_order_kept(&r);
  Stmt block = r.block->stmt;
  make_stage(&r);
  *result = tirc_install_reindex(&r);
  if (r.is_write) require_written(&r, *result, block);
}
