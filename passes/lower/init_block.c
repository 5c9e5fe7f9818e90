/* A block with an init
 *
 *   with T.block("C"):                       with T.block("C"):
 *     vi, vk = T.axis.remap("SR", ...)         vi, vk = T.axis.remap("SR", ...)
 *     with T.init():                   ->      if vk == 0:
 *       C[vi] = 0                                C[vi] = 0
 *     C[vi] = C[vi] + A[vi, vk]                C[vi] = C[vi] + A[vi, vk]
 */
#include "internal.h"

static Stmt lower_block(Mutator *m, Stmt s) {
  s = tirc_mutate_stmt_children(m, s);
  if (s->kind != STMT_BLOCK || !s->u.block.init) return s;
  Tirc *c = m->c;
  Block b = s->u.block;
  Expr first = NULL;
  for (int i = 0; i < b.n_iters; i++) {
    if (b.iters[i].kind != ITER_REDUCE) continue;
    Expr at_min = tirc_eq(c, b.iters[i].var, b.iters[i].dom.min);
    first = first ? tirc_and(c, first, at_min) : at_min;
  }
  Stmt init = first ? tirc_if(c, first, b.init, NULL) : b.init;
  b.body = tirc_seq(c, 2, (Stmt[]){init, b.body});
  b.init = NULL;
  return tirc_block(c, &b);
}

Stmt tirc_lower_init_block(Tirc *c, const Func *f) {
  Mutator m = {.c = c, .stmt = lower_block};
  return tirc_mutate_stmt(&m, f->body);
}
