/* decompose_reduction: the init of a reduction becomes a block of its own, before a loop.
 *
 *   for i, j, k:                        for i:
 *       with T.block("C"):                  for j_init:
 *           with T.init(): C[..] = 0   ->       with T.block("C_init"): C[..] = 0
 *           C[..] = C[..] + ...             for j, k:                   # decomposed at j
 *                                               with T.block("C_update"): C[..] = C[..] + ...
 *
 * The init has the spatial iterators only, and of the loops at and below the given one those that
 * they are bound to. No loop of the reduction may stand above it: it would run the init again and
 * again. The update keeps the old block's identity; from now on two blocks write the buffer and
 * neither is a complete or a reduction block by itself, so this comes last in a schedule. */
#include "blocks.h"

typedef struct Decomposition {
  Sched *s;
  SRef *block, *loop;
  SRefs loops;  /* above the block in its scope, outermost first */
  int first;    /* the given loop's place in them */
  PtrMap fresh; /* from the update's iterators and loop variables to the init's */
} Decomposition;

/* --- checks ----------------------------------------------------------------------------------- */

int tirc_require_loop_above(Sched *s, SRef *block, SRef *loop, SRefs *loops) {
  *loops = tirc_loops_above(s, block);
  for (int at = 0; at < loops->n; at++)
    if (loops->at[at] == loop) return at;
  tirc_sched_mark(s, loop->stmt);
  tirc_refuse(s, block->stmt, SERR_LOOP_NOT_ABOVE,
              "Loop %s does not enclose block %s within its scope.", tirc_name_of(loop),
              tirc_name_of(block));
}

static void require_no_reduction_above(Decomposition *d) {
  const Block *b = tirc_block_of(d->block);
  if (d->s->unchecked) return;
  for (int i = 0; i < b->n_iters; i++) {
    if (b->iters[i].kind != ITER_REDUCE) continue;
    for (int k = 0; k < d->first; k++) {
      Expr var = tirc_loop_of(d->loops.at[k])->var;
      if (!tirc_uses_var(b->iter_values[i], var)) continue;
      tirc_sched_mark(d->s, d->loop->stmt);
      tirc_sched_error(d->s, d->block->stmt, SERR_LOOP_BELOW_REDUCTION,
                       tirc_format(d->s->c, "reduction iterator %s of block %s is bound to loop %s",
                                   b->iters[i].var->u.s, b->name, var->u.s),
                       NULL,
                       "An init before loop %s would run once for every iteration of loop %s above "
                       "it, which is a loop of block %s's reduction.",
                       tirc_name_of(d->loop), var->u.s, b->name);
    }
  }
}

/* In a part of a reduction the init may run for some of the sums, or in the first of many runs of
 * the scope; in a block of its own it would run for all of them, each time. */
static void require_own_start(Decomposition *d) {
  if (tirc_steps_start_in_scope(d->s, d->block) && tirc_fused_steps_start(d->s, d->block)) return;
  tirc_sched_mark(d->s, d->loop->stmt);
  tirc_sched_error(d->s, d->block->stmt, SERR_LOOP_BELOW_REDUCTION, NULL,
                   "call decompose_reduction before loop_partition divides the reduction",
                   "An init before loop %s would restart sums that block %s continues and that "
                   "were started outside of its scope.",
                   tirc_name_of(d->loop), tirc_name_of(d->block));
}

void tirc_require_init_once(Sched *s, SRef *block, SRef *loop) {
  const Block *b = tirc_block_of(block);
  for (const SRef *r = block->parent; r != loop->parent && tirc_init_reads_output(b);
       r = r->parent) {
    const Expr var = tirc_loop_of(r)->var;
    if (!tirc_moves(b, var, ITER_REDUCE) || !tirc_moves(b, var, ITER_SPATIAL)) continue;
    tirc_sched_error(s, block->stmt, SERR_REPEATED_REDUCTION, NULL,
                     "let the init store a value that does not depend on the element",
                     "the init of block %s reads what it stores, and might run more than once for "
                     "an element in loop %s",
                     b->name, var->u.s);
  }
}

/* Otherwise an init before the loop runs right before the updates of the same instance. */
static bool moves_instances(SRef *block, const SRef *loop) {
  for (const SRef *at = block->parent;; at = at->parent) {
    if (tirc_moves(tirc_block_of(block), tirc_loop_of(at)->var, ITER_SPATIAL)) return true;
    if (at == loop) return false;
  }
}

void tirc_require_own_init(Sched *s, SRef *block, SRef *loop) {
  if (!moves_instances(block, loop)) return;
  const bool elsewhere = tirc_init_is_elsewhere(s, block);
  if (!elsewhere && !tirc_reads_other_output(s, block)) return;
  tirc_sched_error(
      s, block->stmt, SERR_ORDER_MATTERS, NULL,
      elsewhere ? "let each instance have its own elements, and let its init store only to those"
                : NULL,
      "The init of block %s stores to elements that %s. Before loop %s, all of the init would come "
      "first.",
      tirc_name_of(block),
      elsewhere ? "its update does not, or other instances use" : "other instances read",
      tirc_name_of(loop));
}

/* Whether the init loads what the other block stores. */
static bool init_reads_from(const Decomposition *d, const SRef *other) {
  return tirc_find_expr_in(tirc_block_of(d->block)->init, tirc_is_load_of_stored, other);
}

static bool uses_output(const Decomposition *d, const SRef *other) {
  const Block *b = tirc_block_of(d->block);
  for (int i = 0; i < b->n_writes; i++)
    if (tirc_touches(other, b->writes[i].buffer, true) ||
        tirc_touches(other, b->writes[i].buffer, false))
      return true;
  return false;
}

static bool outputs_apart(const Decomposition *d, SRef *loop, SRefs blocks) {
  const Block *b = tirc_block_of(d->block);
  for (int i = 0; i < b->n_writes; i++)
    if (!tirc_iterations_apart(d->s, loop, blocks, b->writes[i].buffer)) return false;
  return true;
}

/* The init comes before all that other blocks do in the loops that they share with it: they must
 * come after the block, and in iterations of their own. */
static void require_others_behind(Decomposition *d) {
  for (int i = d->first; i < d->loops.n; i++) {
    SRef *loop = d->loops.at[i], *found = NULL;
    const SRefs blocks = tirc_child_blocks(d->s, loop);
    const bool spatial = tirc_moves(tirc_block_of(d->block), tirc_loop_of(loop)->var, ITER_SPATIAL);
    bool before = true;
    for (int k = 0; k < blocks.n && !found; k++) {
      before &= blocks.at[k] != d->block;
      if (blocks.at[k] == d->block) continue;
      if (init_reads_from(d, blocks.at[k]) ||
          (uses_output(d, blocks.at[k]) &&
           (before || (spatial && !outputs_apart(d, loop, blocks)))))
        found = blocks.at[k];
    }
    if (!found) continue;
    tirc_sched_mark(d->s, d->block->stmt);
    tirc_sched_error(d->s, found->stmt, SERR_ORDER_MATTERS, NULL,
                     "decompose at a loop that contains only this block",
                     "Block %s uses the result of the init of block %s. Before loop %s, all of the "
                     "init would come first.",
                     tirc_name_of(found), tirc_name_of(d->block), tirc_name_of(d->loop));
  }
}

static void require_no_condition(Decomposition *d) {
  if (!tirc_is_guarded(d->s, d->block, d->loop)) return;
  tirc_sched_mark(d->s, d->loop->stmt);
  tirc_sched_error(d->s, d->block->stmt, SERR_LOOP_BELOW_REDUCTION, NULL,
                   "make the condition a predicate of the block: T.where(...)",
                   "Block %s runs under a condition, but an init before loop %s would always run.",
                   tirc_name_of(d->block), tirc_name_of(d->loop));
}

/* Nor under one on a loop that stands for no iterator: the init would have to know in which of its
 * iterations the block runs. */
static void require_condition_on_iters(Decomposition *d) {
  const Block *b = tirc_block_of(d->block);
  for (int i = d->first; i < d->loops.n; i++) {
    const Expr var = tirc_loop_of(d->loops.at[i])->var;
    if (!tirc_uses_var(b->predicate, var) || tirc_kinds_moved(b, var)) continue;
    tirc_sched_mark(d->s, d->loops.at[i]->stmt);
    tirc_sched_error(d->s, d->block->stmt, SERR_LOOP_BELOW_REDUCTION, NULL,
                     "call decompose_reduction before you split the loops",
                     "Block %s runs in only some iterations of loop %s, which is not bound to any "
                     "of its iterators. An init before loop %s would not know in which.",
                     b->name, var->u.s, tirc_name_of(d->loop));
  }
}

/* With its init inside, a block may compute the same sum again and again; behind one init it
 * would add to it again and again. Fewer loops ask for more, but can be easier to see. */
static void require_no_repetition(Decomposition *d) {
  SRef *const high[] = {NULL, d->loop->parent};
  for (int i = 0; i < 2; i++) {
    const LoopDomain loops = tirc_loop_domain(d->s, d->block->parent, high[i], STORAGE_GLOBAL);
    if (tirc_runs_once(d->s, d->block, &loops, tirc_block_of(d->block)->predicate)) return;
  }
  tirc_sched_mark(d->s, d->loop->stmt);
  tirc_sched_error(d->s, d->block->stmt, SERR_REPEATED_REDUCTION, NULL,
                   "decompose at a loop that is inside of the one that repeats the reduction",
                   "Within one run of loop %s, block %s may run more than once for the same values "
                   "of its iterators, so after a single init it would add to its output each time.",
                   tirc_name_of(d->loop), tirc_name_of(d->block));
}

void tirc_require_iterations(Sched *s, SRef *block, SRef *loop) {
  int64_t extent;
  const For *f = tirc_loop_of(loop);
  if (!tirc_const_int(f->extent, &extent) || extent > 0) return;
  if (tirc_moves(tirc_block_of(block), f->var, ITER_SPATIAL)) return;
  tirc_sched_mark(s, loop->stmt);
  tirc_refuse(s, block->stmt, SERR_EMPTY_LOOP,
              "Loop %s has %lld iterations, so block %s and its init never run. In a block of its "
              "own, the init would run.",
              f->var->u.s, (long long)extent, tirc_name_of(block));
}

void tirc_require_no_views(Sched *s, SRef *block) {
  if (!tirc_block_of(block)->n_matches) return;
  tirc_refuse(s, block->stmt, SERR_INIT_USES_VIEW,
              "Block %s has T.match_buffer views, which its init could no longer use.",
              tirc_name_of(block));
}

/* --- the init --------------------------------------------------------------------------------- */

/* The init's part of the update's condition, the last one first, as the reference has it. */
static Expr backwards(Tirc *c, Expr cond) {
  if (cond->op != OP_AND) return cond;
  return tirc_and(c, backwards(c, cond->args[1]), backwards(c, cond->args[0]));
}

static bool is_load(const void *self, Expr e) {
  (void)self;
  return e->op == OP_LOAD;
}

/* What the init reads; and writes, where a region that is declared by the iterators that the init
 * leaves out says nothing of it. */
static Stmt with_own_regions(Tirc *c, Stmt init, const Block *b) {
  PtrMap gone = {0};
  const bool reads = tirc_find_expr_in(init->u.block.body, is_load, NULL);
  bool writes = true;
  for (int i = 0; i < b->n_iters; i++)
    if (b->iters[i].kind != ITER_SPATIAL) tirc_map_set(c, &gone, b->iters[i].var, b->iters[i].var);
  for (int i = 0; i < init->u.block.n_writes; i++)
    writes &= !tirc_region_uses_any(&init->u.block.writes[i], &gone);
  return tirc_infer_regions(c, init, !reads, writes);
}

static bool is_loop_above(const Decomposition *d, Expr var) {
  for (int i = 0; i < d->loops.n; i++)
    if (tirc_loop_of(d->loops.at[i])->var == var) return true;
  return false;
}

/* That the loops which the init leaves out run: a length that is a scalar may be 0. */
static Expr steps_run(const Decomposition *d) {
  Tirc *c = d->s->c;
  Analyzer *a = tirc_analyzer_around(d->s, d->loop->parent);
  tirc_bind_shapes(d->s, a, d->block);
  Expr run = tirc_bool(c, true);
  for (int i = d->first; i < d->loops.n; i++) {
    const For *f = tirc_loop_of(d->loops.at[i]);
    if (tirc_moves(tirc_block_of(d->block), f->var, ITER_SPATIAL)) continue;
    if (f->extent->op != OP_VAR || is_loop_above(d, f->extent)) continue;
    const Expr some = tirc_lt(c, tirc_int(c, f->extent->dtype, 0), f->extent);
    if (!tirc_prove(a, some)) run = tirc_and(c, run, some);
  }
  return run;
}

static Stmt init_block(Decomposition *d) {
  Tirc *c = d->s->c;
  const Block *b = tirc_block_of(d->block);
  Block init = {.name = tirc_format(c, "%s_init", b->name), .annotations = b->annotations};
  IterVar *iters = tirc_new_array(c, IterVar, b->n_iters);
  Expr *values = tirc_new_array(c, Expr, b->n_iters);
  for (int i = 0; i < b->n_iters; i++) {
    if (b->iters[i].kind != ITER_SPATIAL) continue;
    iters[init.n_iters] = b->iters[i];
    iters[init.n_iters].var = tirc_var_suffixed(c, b->iters[i].var, "", b->iters[i].var->dtype);
    values[init.n_iters] = b->iter_values[i];
    tirc_map_set(c, &d->fresh, b->iters[i].var, iters[init.n_iters++].var);
  }
  init.iters = iters;
  init.iter_values = values;
  Region *writes = tirc_new_array(c, Region, b->n_writes);
  for (int i = 0; i < b->n_writes; i++)
    writes[i] = tirc_substitute_region(c, b->writes[i], &d->fresh);
  init.n_writes = b->n_writes;
  init.writes = writes;
  init.body = tirc_substitute_stmt(c, b->init, &d->fresh);
  const InitPart part = tirc_init_of(d->s, d->block);
  const Expr some = tirc_some_steps(d->s, d->block);
  init.predicate = tirc_and(c, backwards(c, part.kept),
                            tirc_and(c, tirc_and(c, part.inside, some), steps_run(d)));
  return with_own_regions(c, tirc_block(c, &init), b);
}

/* The block in copies of the loops that it is bound to. */
static Stmt init_nest(Decomposition *d, Stmt block) {
  Tirc *c = d->s->c;
  Stmt nest = block;
  PtrMap loop_vars = {0};
  for (int i = d->loops.n; i-- > d->first;) {
    For loop = *tirc_loop_of(d->loops.at[i]);
    if (!tirc_kinds_moved(&block->u.block, loop.var)) continue;
    Expr var = tirc_var_suffixed(c, loop.var, "_init", loop.var->dtype);
    tirc_map_set(c, &loop_vars, loop.var, var);
    loop.var = var;
    loop.annotations = (Attrs){0};
    loop.body = nest;
    nest = tirc_for(c, &loop);
  }
  return tirc_substitute_stmt(c, nest, &loop_vars);
}

/* --- the update ------------------------------------------------------------------------------- */

/* Without its init the block reads what it writes. */
static Stmt update_block(Tirc *c, Stmt block) {
  Block b = block->u.block;
  b.name = tirc_format(c, "%s_update", b.name);
  tirc_drop_init(c, &b, true);
  return tirc_with_loc(c, tirc_block(c, &b), block->loc);
}

void tirc_prim_decompose_reduction(Sched *s, const Value *args, Value *result) {
  Decomposition d = {
      .s = s, .block = tirc_sref_of_value(s, args[0]), .loop = tirc_sref_of_value(s, args[1])};
  SRef *scope = tirc_require_scope_root(s, d.block, false);
  tirc_require_no_loose_use(s, scope, d.block);
  d.first = tirc_require_loop_above(s, d.block, d.loop, &d.loops);
  tirc_require_reduction(s, d.block, scope);
  require_no_reduction_above(&d);
  require_own_start(&d);
  require_no_condition(&d);
  require_condition_on_iters(&d);
  tirc_require_own_init(s, d.block, d.loop);
  tirc_require_init_once(s, d.block, d.loop);
  require_others_behind(&d);
  require_no_repetition(&d);
  tirc_require_no_views(s, d.block);
  for (int i = d.first; i < d.loops.n; i++) tirc_require_iterations(s, d.block, d.loops.at[i]);

  Stmt block = init_block(&d);
  Stmt update =
      tirc_replace_stmt(s->c, d.loop->stmt, d.block->stmt, update_block(s->c, d.block->stmt));
  Stmt both = tirc_seq(s->c, 2, (Stmt[]){init_nest(&d, block), update});
  Stmt with = tirc_replace_node(s, scope->stmt, d.loop, both);
  tirc_sched_replace(s, scope, with);
  *result = tirc_value_block(block->u.block.id);
}
