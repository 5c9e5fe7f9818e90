/* Programs with statements outside of blocks: some blocks of a program are taken away, and what is
 * in them stays in their loops.
 *
 *   for i, k:                                    for i, k:
 *     with T.block("B"):                           if k < 3:
 *       vi, vk = T.axis.remap("SR", [i, k])          if k == 0:
 *       T.where(k < 3)                                 B[i] = 0
 *       with T.init(): B[vi] = 0         ->          B[i] = B[i] + A[i, k]
 *       B[vi] = B[vi] + A[vi, vk] */
#include "fuzz.h"

#include "ir/tree/print.h"
#include "ir/tree/visit.h"

typedef struct Loosen {
  Rng *r;
  int percent;
} Loosen;

static Expr first_step(Tirc *c, const Block *b) {
  Expr first = tirc_bool(c, true);
  for (int i = 0; i < b->n_iters; i++)
    if (b->iters[i].kind != ITER_SPATIAL)
      first = tirc_and(c, first, tirc_eq(c, b->iters[i].var, b->iters[i].dom.min));
  return first;
}

static Stmt without_block(Tirc *c, Stmt block) {
  const Block *b = &block->u.block;
  PtrMap map = {0};
  Stmt body = b->body;
  if (b->init) {
    const Expr first = first_step(c, b);
    const Stmt init = tirc_is_true(first) ? b->init : tirc_if(c, first, b->init, NULL);
    body = tirc_seq(c, 2, (const Stmt[]){init, body});
  }
  tirc_bindings_of(c, block, &map);
  body = tirc_substitute_stmt(c, body, &map);
  return tirc_is_true(b->predicate) ? body : tirc_if(c, b->predicate, body, NULL);
}

/* Whether its iterations race is not known of statements in no block. */
static Stmt serial(Tirc *c, Stmt loop) {
  For to = loop->u.loop;
  if (to.kind == LOOP_SERIAL) return loop;
  to.kind = LOOP_SERIAL;
  to.thread = NULL;
  return tirc_for(c, &to);
}

static Stmt loosen(Mutator *m, Stmt s) {
  const Loosen *l = m->self;
  const Stmt to = tirc_mutate_stmt_children(m, s);
  if (to->kind == STMT_FOR) return serial(m->c, to);
  if (to->kind != STMT_BLOCK || strcmp(to->u.block.name, "root") == 0 || to->u.block.n_allocs ||
      to->u.block.n_matches || !rng_chance(l->r, l->percent))
    return to;
  return without_block(m->c, to);
}

const char *fuzz_loosen(Tirc *c, Rng *r, const Module *m) {
  Loosen l = {r, rng_chance(r, 50) ? 100 : 40};
  Mutator mutator = {.c = c, .expr = tirc_keep_expr, .stmt = loosen, .self = &l};
  const Func *f = tirc_module_main(m);
  int at = 0;
  while (m->funcs[at] != f) at++;
  const Stmt body = tirc_mutate_stmt(&mutator, f->body);
  return tirc_print_module(c, tirc_module_with_func(c, m, at, tirc_func_with_body(c, f, body)),
                           NULL);
}
