/* Whether a reduction starts anew each time that its scope runs.
 *
 *   for k0 in range(4):
 *     block P:                        the init runs in the first instance of P only; in the
 *       for k1 in range(8):           others the block adds to what is there, and so reads
 *         block B: vk = k0 * 8 + k1   what it did not write
 *
 * The init runs where all reduction iterators are at the start of their domains. Within the scope
 * its loops must pass there, for every sum: a loop that starts elsewhere must not be shared between
 * sums and their steps, as a part of a fused loop is. */
#include "../../ir/visit.h"
#include "internal.h"

static bool is_shared_with_sums(const Block *b, Expr loop_var) {
  for (int i = 0; i < b->n_iters; i++)
    if (b->iters[i].kind == ITER_SPATIAL && tirc_uses_var(b->iter_values[i], loop_var)) return true;
  return false;
}

bool tirc_sums_start_in_scope(Sched *s, const SRef *block) {
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
