/* By sight: does the init of a reduction stay the first that runs of each sum when loops are
 * reordered, and run again when all is added once more? meaning/order.h answers for the others. */
#include "sight.h"

/* How many loops of the reduction stand above this one in a nest. */
static int sums_above(const Block *b, SRef *const *nest, const SRef *loop) {
  int n = 0;
  for (; *nest != loop; nest++) n += tirc_is_summed_over(b, *nest);
  return n;
}

/* No two iterations of the loops below `high` run the same instance. */
static bool runs_once(Sched *s, SRef *block, SRef *high) {
  const LoopDomain d = tirc_loop_domain(s, block->parent, high, NULL);
  return tirc_runs_once(s, block, &d, tirc_block_of(block)->predicate);
}

/* Whether a loop of the reduction stands inside of other loops of it than before. */
static bool reorders_steps(const Block *b, int n, SRef *const *chain, SRef *const *order) {
  const SRef *last = NULL;
  for (int i = 0; i < n; i++) {
    if (!tirc_is_summed_over(b, chain[i])) continue;
    for (int k = 0; last && k < n && order[k] != last; k++)
      if (order[k] == chain[i]) return true;
    last = chain[i];
  }
  return false;
}

/* Whether a condition may leave out steps of a reduction, and its init with them. */
static bool leaves_out_steps(Sched *s, SRef *block) {
  const SRef *scope = tirc_scope_root(s, block);
  const Expr condition = tirc_condition_of(s, block, scope);
  for (const SRef *r = block->parent; condition && r != scope; r = r->parent)
    if (tirc_is_summed_over(tirc_block_of(block), r) &&
        tirc_uses_var(condition, tirc_loop_of(r)->var))
      return true;
  return !condition;
}

/* Loops that repeat a reduction, or parts of it, go on to do so, and its steps do not mix with
 * those of its repetition, nor follow another one if they lack the init. */
static bool keeps_repeated_sums(Sched *s, int n, SRef *const *chain, SRef *const *order,
                                SRef *block) {
  const Block *b = tirc_block_of(block);
  bool crosses = false;
  for (int i = 0; i < n && !crosses; i++)
    crosses = !tirc_is_summed_over(b, chain[i]) &&
              !tirc_is_int(tirc_loop_of(chain[i])->extent, 1) &&
              sums_above(b, order, chain[i]) != sums_above(b, chain, chain[i]);
  return (!crosses && !reorders_steps(b, n, chain, order) && !leaves_out_steps(s, block)) ||
         runs_once(s, block, chain[0]->parent);
}

static bool is_mixed(const Block *b, const SRef *loop) {
  return tirc_is_summed_over(b, loop) && tirc_moves(b, tirc_loop_of(loop)->var, ITER_SPATIAL);
}

/* The init runs where the reduction iterators are at their start. Loops of one kind only may take
 * any place. Parts of one fused loop that mix the kinds count up as one number in their old order.
 */
bool tirc_init_stays_first(Sched *s, int n, SRef *const *chain, SRef *const *order, SRef *block) {
  const Block *b = tirc_block_of(block);
  for (int i = 0, at = 0; i < n; i++) {
    if (!is_mixed(b, chain[i])) continue;
    while (!is_mixed(b, order[at])) at++;
    if (order[at++] != chain[i]) return false;
  }
  return keeps_repeated_sums(s, n, chain, order, block);
}

/* --- an init apart ---------------------------------------------------------------------------- */

typedef struct InitStore {
  Stmt store; /* of the init */
  bool updated, mixed;
} InitStore;

static bool see_update(Visitor *v, Stmt s) {
  InitStore *k = v->self;
  if (s->kind != STMT_STORE || s->u.store.buffer != k->store->u.store.buffer) return true;
  const bool same = tirc_same_exprs(s->u.store.n, s->u.store.indices, k->store->u.store.indices);
  k->updated |= same;
  k->mixed |= !same;
  return true;
}

/* By sight for stores directly in the init. Otherwise, and where several stores of one instance may
 * lie between those of another one, meaning/carried.h is asked. */
bool tirc_init_is_elsewhere(Sched *s, SRef *block) {
  const Block *b = tirc_block_of(block);
  const int n = !b->init ? 0 : b->init->kind == STMT_SEQ ? b->init->u.seq.n : 1;
  bool mixed = false;
  for (int i = 0; i < n; i++) {
    InitStore k = {.store = b->init->kind == STMT_SEQ ? tirc_item(b->init, i) : b->init};
    if (k.store->kind != STMT_STORE) continue;
    tirc_visit_stmt(&(Visitor){.stmt = see_update, .self = &k}, b->body);
    if (!k.updated) return true;
    mixed |= k.mixed;
  }
  const LoopDomain loops = tirc_loop_domain(s, block->parent, NULL, NULL);
  if (mixed && (!tirc_is_about(b->predicate, &loops) ||
                tirc_is_guarded(s, block, tirc_scope_root(s, block))))
    return true;
  return b->init && tirc_instances_depend(s, block);
}
