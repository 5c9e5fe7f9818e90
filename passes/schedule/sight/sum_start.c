/* Whether a reduction starts anew each time that its scope runs.
 *
 *   for k0 in range(4):
 *     block P:                        the init runs in the first instance of P only; in the
 *       for k1 in range(8):           others the block adds to what is there, and so reads
 *         block B: vk = k0 * 8 + k1   what it did not write
 *
 * The init runs where all reduction iterators are at the start of their domains. Within the scope
 * its loops must pass there, for every sum: a loop that starts elsewhere must not be shared between
 * sums and their steps, as a part of a fused loop is. Where the predicate, or a condition around
 * the block, lets any step of a sum run, it must let that one. And it must be for the elements of
 * all steps, which it is not where these are indexed by the reduction. */
#include "sight.h"

/* not (a < b) as a >= b, and so on. */
static Expr without_not(Tirc *c, Expr cond) {
  static const Op turned[][2] = {{OP_LT, OP_GE}, {OP_GE, OP_LT}, {OP_LE, OP_GT},
                                 {OP_GT, OP_LE}, {OP_EQ, OP_NE}, {OP_NE, OP_EQ}};
  const Expr inner = cond->op == OP_NOT ? cond->args[0] : NULL;
  for (size_t i = 0; inner && i < sizeof turned / sizeof *turned; i++)
    if (inner->op == turned[i][0])
      return tirc_binary(c, turned[i][1], inner->args[0], inner->args[1]);
  return cond;
}

bool tirc_holds_at_start(Tirc *c, Analyzer *a, Expr cond, const PtrMap *starts) {
  cond = without_not(c, cond);
  if (cond->op == OP_AND)
    return tirc_holds_at_start(c, a, cond->args[0], starts) &&
           tirc_holds_at_start(c, a, cond->args[1], starts);
  if (!tirc_uses_any(cond, starts)) return true;
  const Expr first = tirc_substitute(c, cond, starts);
  if (tirc_prove(a, first)) return true;
  const bool is_below = cond->op == OP_LT || cond->op == OP_LE;
  if (first->op != cond->op || (!is_below && cond->op != OP_GT && cond->op != OP_GE)) return false;
  return tirc_prove_ge(a, cond->args[!is_below], first->args[!is_below]) &&
         tirc_prove_ge(a, first->args[is_below], cond->args[is_below]);
}

/* A condition on parts of a fused loop says nothing of steps alone: the nest is run. */
static bool is_about_fused(const SRef *block, Expr condition) {
  const Block *b = tirc_block_of(block);
  for (const SRef *r = block->parent; tirc_is_loop(r); r = r->parent) {
    const Expr var = tirc_loop_of(r)->var;
    if (tirc_uses_var(condition, var) && tirc_moves(b, var, ITER_SPATIAL) &&
        tirc_moves(b, var, ITER_REDUCE))
      return true;
  }
  return false;
}

/* Whether the first instance of each sum that runs under the condition has the init. */
static bool first_instance_starts(Sched *s, SRef *block, Expr condition) {
  SRef **above;
  const int n = tirc_loops_above(s, block, &above);
  const For **loops = tirc_new_array(s->c, const For *, n + 1);
  for (int i = 0; i < n; i++) loops[i] = tirc_loop_of(above[i]);
  return tirc_init_comes_first(s, n ? above[0] : block, n, loops, tirc_block_of(block), condition);
}

/* By sight: it does where the loops of its steps stand at their start. */
static bool holds_in_first_step(Sched *s, SRef *block, Expr condition) {
  PtrMap starts = {0};
  SRef *steps = NULL;
  for (SRef *r = block->parent; tirc_is_loop(r); r = r->parent)
    if (!tirc_moves(tirc_block_of(block), tirc_loop_of(r)->var, ITER_SPATIAL)) {
      tirc_map_set(s->c, &starts, tirc_loop_of(r)->var, tirc_loop_of(r)->min);
      steps = r;
    }
  /* It may be another one in the next step. */
  if (steps && tirc_loads_change(s, steps, condition)) return false;
  Analyzer *a = tirc_analyzer_around(s, block->parent);
  /* Where it runs, none of its loops is empty. */
  for (const SRef *r = block->parent; tirc_is_loop(r); r = r->parent)
    tirc_enter_constraint(a, tirc_binary(s->c, OP_GE, tirc_loop_of(r)->extent,
                                         tirc_int(s->c, tirc_loop_of(r)->extent->dtype, 1)));
  return tirc_holds_at_start(s->c, a, condition, &starts);
}

static bool starts_where_it_runs(Sched *s, const SRef *block) {
  SRef *self = tirc_sref_of_block(s, tirc_block_of(block)->id);
  const Expr condition = tirc_condition_of(s, self, tirc_scope_root(s, self));
  if (!condition || tirc_is_true(condition)) return condition;
  return (!is_about_fused(block, condition) && holds_in_first_step(s, self, condition)) ||
         first_instance_starts(s, self, condition);
}

/* A loop that is longer in later steps of a sum runs iterations which the first step does not. They
 * may be of other sums; or steps, of which it must have the first. */
static bool grows_with_steps(Sched *s, const SRef *block, const PtrMap *first_steps) {
  Analyzer *a = tirc_analyzer_around(s, block->parent);
  for (const SRef *r = block->parent; tirc_is_loop(r); r = r->parent) {
    const Expr extent = tirc_loop_of(r)->extent;
    if (!tirc_uses_any(extent, first_steps)) continue;
    const Expr first = tirc_substitute(s->c, extent, first_steps);
    const bool has_first = tirc_surely_some(a, first) &&
                           !tirc_moves(tirc_block_of(block), tirc_loop_of(r)->var, ITER_SPATIAL);
    if (!has_first && !tirc_prove_ge(a, first, extent)) return true;
  }
  return false;
}

static bool passes_start(Sched *s, const SRef *block) {
  Tirc *c = s->c;
  const Block *b = tirc_block_of(block);
  PtrMap starts = {0}, skewed = {0}, first_steps = {0};
  for (const SRef *r = block->parent; tirc_is_loop(r); r = r->parent) {
    const For *loop = tirc_loop_of(r);
    tirc_map_set(c, &starts, loop->var, loop->min);
    if (tirc_moves(b, loop->var, ITER_REDUCE)) tirc_map_set(c, &first_steps, loop->var, loop->min);
    if (!tirc_is_int(loop->min, 0) && tirc_moves(b, loop->var, ITER_SPATIAL))
      tirc_map_set(c, &skewed, loop->var, loop->var);
  }
  if (grows_with_steps(s, block, &first_steps)) return false;
  for (int i = 0; i < b->n_iters; i++) {
    if (b->iters[i].kind == ITER_SPATIAL) continue;
    Expr value = b->iter_values[i];
    if (tirc_uses_any(value, &skewed) ||
        !tirc_prove_equal(tirc_analyzer(c), tirc_substitute(c, value, &starts),
                          b->iters[i].dom.min))
      return false;
  }
  return true;
}

bool tirc_fused_steps_start(Sched *s, SRef *block) {
  const Expr predicate = tirc_block_of(block)->predicate;
  return !is_about_fused(block, predicate) || tirc_domain_implies_predicate(s, block) ||
         first_instance_starts(s, block, predicate);
}

bool tirc_steps_start_in_scope(Sched *s, const SRef *block) {
  return !tirc_block_of(block)->init || passes_start(s, block);
}

static bool is_load_of_output(const void *block, Expr e) {
  return e->op == OP_LOAD && tirc_declared_write(block, e->u.buffer);
}

bool tirc_init_reads_output(const Block *b) {
  return b->init && tirc_find_expr_in(b->init, is_load_of_output, b);
}

bool tirc_sums_start_in_scope(Sched *s, const SRef *block) {
  const Block *b = tirc_block_of(block);
  if (!b->init) return true;
  return tirc_steps_start_in_scope(s, block) && starts_where_it_runs(s, block) &&
         !tirc_is_indexed_by_reduction(s, b) && !tirc_init_reads_output(b);
}
