/* A block with an init
 *
 *   with T.block("C"):                       with T.block("C"):
 *     vi, vk = T.axis.remap("SR", ...)         vi, vk = T.axis.remap("SR", ...)
 *     T.where(p(i) and q(i, k))                T.where(p(i))
 *     with T.init():                   ->      if vk == 0:
 *       C[vi] = 0                                C[vi] = 0
 *     C[vi] = C[vi] + A[vi, vk]                if q(i, k):
 *                                                C[vi] = C[vi] + A[vi, vk]
 *
 * The part of the predicate that says which steps there are stays around both where it is known to
 * let the first one run. */
#include "internal.h"

#include "ir/arith/init_part.h"

typedef struct Loops { /* around the block, within the block around it */
  VEC(Expr) vars;
  VEC(Range) doms;
} Loops;

static Expr in_first_step(Tirc *c, const Block *b) {
  Expr first = NULL;
  for (int i = 0; i < b->n_iters; i++) {
    if (b->iters[i].kind != ITER_REDUCE) continue;
    Expr at_min = tirc_eq(c, b->iters[i].var, b->iters[i].dom.min);
    first = first ? tirc_and(c, first, at_min) : at_min;
  }
  return first;
}

static InitPart part_of(Tirc *c, const Block *b, const Loops *loops) {
  Analyzer *a = tirc_analyzer(c);
  for (int i = 0; i < loops->vars.n; i++) {
    const Range dom = loops->doms.at[i];
    tirc_bind_range(a, loops->vars.at[i], dom);
  }
  return tirc_find_init_part(a, c, b, loops->vars.n, loops->vars.at, loops->doms.at);
}

static Stmt lower_block(Mutator *m, Stmt s);

static Stmt lower_loop(Mutator *m, Stmt s) {
  Loops *loops = m->self;
  vec_push(m->c, loops->vars, s->u.loop.var);
  vec_push(m->c, loops->doms, tirc_range(s->u.loop.min, s->u.loop.extent));
  s = tirc_mutate_stmt_children(m, s);
  loops->vars.n--;
  loops->doms.n--;
  return s;
}

static Stmt lower_block(Mutator *m, Stmt s) {
  if (s->kind == STMT_FOR) return lower_loop(m, s);
  if (s->kind != STMT_BLOCK) return tirc_mutate_stmt_children(m, s);
  Tirc *c = m->c;
  Loops own = {0}, *loops = m->self;
  m->self = &own;
  s = tirc_mutate_stmt_children(m, s);
  m->self = loops;
  if (!s->u.block.init) return s;
  Block b = s->u.block;
  const InitPart part = part_of(c, &b, loops);
  Expr first = in_first_step(c, &b);
  if (!part.always) {
    const Expr inside = tirc_init_guard(c, &part);
    if (!tirc_is_true(inside)) first = first ? tirc_and(c, first, inside) : inside;
    b.predicate = part.kept;
    b.body = tirc_if(c, part.rest, b.body, NULL);
  }
  Stmt init = first ? tirc_if(c, first, b.init, NULL) : b.init;
  b.body = tirc_seq(c, 2, (Stmt[]){init, b.body});
  b.init = NULL;
  return tirc_block(c, &b);
}

Stmt tirc_lower_init_block(Tirc *c, const Func *f) {
  Loops none = {0};
  Mutator m = {.c = c, .stmt = lower_block, .self = &none};
  return tirc_mutate_stmt(&m, f->body);
}
