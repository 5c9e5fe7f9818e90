/* Whether a reduction starts anew each time that its scope runs.
 *
 *   for k0 in range(4):
 *     block P:                        the init runs in the first instance of P only; in the
 *       for k1 in range(8):           others the block adds to what is there, and so reads
 *         block B: vk = k0 * 8 + k1   what it did not write
 *
 * The init runs where all reduction iterators are at the start of their domains. Within the scope
 * its loops must pass there, for every sum: a loop that starts elsewhere must not be shared between
 * sums and their steps, as a part of a fused loop is. Where the predicate lets any step of a sum
 * run, it must let that one. And it must be for the elements of all steps, which it is not where
 * these are indexed by the reduction. */
#include "../../ir/visit.h"
#include "internal.h"

static bool is_shared_with_sums(const Block *b, Expr loop_var) {
  for (int i = 0; i < b->n_iters; i++)
    if (b->iters[i].kind == ITER_SPATIAL && tirc_uses_var(b->iter_values[i], loop_var)) return true;
  return false;
}

/* Whether the condition holds for the first step of a sum, if it does for another one. */
static bool holds_at_start(Tirc *c, Analyzer *a, Expr cond, const PtrMap *starts) {
  if (cond->op == OP_AND)
    return holds_at_start(c, a, cond->args[0], starts) &&
           holds_at_start(c, a, cond->args[1], starts);
  if (!tirc_uses_any(cond, starts)) return true;
  const Expr first = tirc_substitute(c, cond, starts);
  if (tirc_prove(a, first)) return true;
  const bool is_below = cond->op == OP_LT || cond->op == OP_LE;
  if (first->op != cond->op || (!is_below && cond->op != OP_GT && cond->op != OP_GE)) return false;
  return tirc_prove_ge(a, cond->args[!is_below], first->args[!is_below]) &&
         tirc_prove_ge(a, first->args[is_below], cond->args[is_below]);
}

static bool starts_where_it_runs(Sched *s, const SRef *block) {
  const Block *b = tirc_block_of(block);
  PtrMap starts = {0};
  if (tirc_is_true(b->predicate)) return true;
  for (const SRef *r = block->parent; tirc_is_loop(r); r = r->parent)
    if (!is_shared_with_sums(b, tirc_loop_of(r)->var))
      tirc_map_set(s->c, &starts, tirc_loop_of(r)->var, tirc_loop_of(r)->min);
  Analyzer *a = tirc_analyzer_around(s, block->parent);
  return holds_at_start(s->c, a, b->predicate, &starts) ||
         tirc_prove(a, tirc_not(s->c, b->predicate)); /* nothing runs */
}

bool tirc_steps_start_in_scope(Sched *s, const SRef *block) {
  Tirc *c = s->c;
  const Block *b = tirc_block_of(block);
  PtrMap starts = {0}, skewed = {0};
  if (!b->init) return true;
  for (const SRef *r = block->parent; tirc_is_loop(r); r = r->parent) {
    const For *loop = tirc_loop_of(r);
    tirc_map_set(c, &starts, loop->var, loop->min);
    if (!tirc_is_int(loop->min, 0) && is_shared_with_sums(b, loop->var))
      tirc_map_set(c, &skewed, loop->var, loop->var);
  }
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

bool tirc_sums_start_in_scope(Sched *s, const SRef *block) {
  const Block *b = tirc_block_of(block);
  if (!b->init) return true;
  return tirc_steps_start_in_scope(s, block) && starts_where_it_runs(s, block) &&
         !tirc_is_indexed_by_reduction(s, b);
}
