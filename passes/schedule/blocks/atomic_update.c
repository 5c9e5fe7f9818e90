/* atomic_update(block): what a block adds to elements, or takes the extreme of, becomes atomic
 * updates, which threads may make side by side.
 *
 *   for i in range(n):                             for i in range(n):
 *     with T.block("H"):                             with T.block("H"):
 *       vi = T.axis.reduce(n, i)             ->        vi = T.axis.spatial(n, i)
 *       H[A[vi]] = H[A[vi]] + 1                        T.atomic_add(T.address_of(H[A[vi]]), 1)
 *
 * Any order leaves the same (updates.c), so all iterators become spatial, and loops around the
 * block may be bound or run in parallel. */
#include "blocks.h"
#include "ir/tree/atomic.h"

static Stmt rewrite(Mutator *m, Stmt s) {
  const Updates *u = m->self;
  Tirc *c = m->c;
  if (s->kind != STMT_STORE) return tirc_mutate_stmt_children(m, s);
  const Update of = tirc_update_of(u, s);
  const bool unordered = u->unordered && tirc_dtype_is_float(of.self->dtype);
  return tirc_with_loc(
      c, tirc_eval(c, tirc_atomic_update(c, of.callee, of.self, NULL, of.value, unordered)),
      s->loc);
}

void tirc_prim_atomic_update(Sched *s, const Value *args, Value *result) {
  (void)result;
  Tirc *c = s->c;
  Updates u = {.s = s,
               .block = tirc_sref_of_value(s, args[0]),
               .unordered = args[1].u.b,
               .cannot = "cannot be made atomic"};
  tirc_require_updates(&u);
  Block b = *tirc_block_of(u.block);
  b.body = tirc_mutate_stmt(&(Mutator){.c = c, .expr = tirc_keep_expr, .stmt = rewrite, .self = &u},
                            b.body);
  IterVar *iters = tirc_copy(c, b.iters, b.n_iters);
  for (int i = 0; i < b.n_iters; i++) iters[i].kind = ITER_SPATIAL;
  b.iters = iters;
  tirc_sched_replace(s, u.block, tirc_with_loc(c, tirc_block(c, &b), u.block->stmt->loc));
}
