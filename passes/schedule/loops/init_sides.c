/* A loop that is split or fused must not change where the init of a block runs. That is decided by
 * those conjuncts of the predicate that are not about steps alone (ir/arith/init_part.h), and a
 * loop of the steps that is fused with another one, or leaves a binding, is no longer what it was.
 *
 *   for i, k in T.grid(8, 8):                     for f in range(64):
 *     block B: vi = i, vk = k           ->          block B: vi = f // 8, vk = f % 8
 *              where 3 <= k                                  where 3 <= f % 8
 *     the init runs for k = 0                       it would run never
 *
 * What changes sides, and what is new and about steps alone, must hold wherever the init runs; and
 * so must the whole predicate where bindings are rewritten by it. */
#include "loops.h"

typedef struct Inner { /* a block with an init, and the loops around it */
  const Block *block;
  int n;
  const For **loops;
} Inner;

typedef struct Blocks {
  Tirc *c;
  VEC(const For *) loops;
  VEC(Inner) found;
} Blocks;

static bool see_block(Visitor *v, Stmt s) {
  Blocks *k = v->self;
  if (s->kind == STMT_FOR) {
    vec_push(k->c, k->loops, &s->u.loop);
    tirc_visit_stmt(v, s->u.loop.body);
    k->loops.n--;
    return false;
  }
  if (s->kind != STMT_BLOCK || !s->u.block.init) return true;
  Inner in = {&s->u.block, k->loops.n, tirc_new_array(k->c, const For *, k->loops.n + 1)};
  for (int i = 0; i < in.n; i++) in.loops[i] = k->loops.at[i];
  vec_push(k->c, k->found, in);
  return true;
}

static Blocks blocks_in(Tirc *c, Stmt s) {
  Blocks k = {.c = c};
  tirc_visit_stmts(s, see_block, &k);
  k.loops.n = 0;
  return k;
}

typedef struct Sides {
  Sched *s;
  SRef *loop; /* which the nest replaces */
  const PtrMap *map;
  const Block *old, *now;
  int n;
  const For *const *loops;
  Expr kept; /* what decides about the init before and after */
  bool lost;
} Sides;

static bool is_kept(Sides *k, const Block *b, Expr conjunct) {
  return tirc_init_part(k->s->c, b, conjunct, false) == conjunct;
}

/* What became of the conjuncts: those that stay are gathered first, the others then proved. */
static void look(Sides *k, Expr conjunct, Expr now, bool gather) {
  if (conjunct->op == OP_AND) {
    for (int i = 0; i < 2; i++)
      look(k, conjunct->args[i], tirc_substitute(k->s->c, conjunct->args[i], k->map), gather);
    return;
  }
  const bool before = is_kept(k, k->old, conjunct), after = is_kept(k, k->now, now);
  if (tirc_is_true(now)) return;
  if (gather) {
    if (before && after) k->kept = tirc_and(k->s->c, k->kept, now);
  } else if (before != after) {
    k->lost |= !tirc_holds_with_init(k->s, k->loop, k->n, k->loops, k->now, k->kept, now);
  }
}

/* Bindings are rewritten by what the predicate says, which need not hold where the init runs. */
static bool keeps_bindings(const Sides *k, const Block *was) {
  Analyzer *a = tirc_analyzer_around(k->s, k->loop->parent);
  for (int i = 0; i < k->n; i++) tirc_bind_loop(a, k->loops[i]);
  for (int i = 0; i < was->n_iters; i++)
    if (!tirc_prove_equal(a, was->iter_values[i], k->now->iter_values[i])) return false;
  return true;
}

/* Whether the init runs with the body alone. */
static bool runs_with_body(const Sides *k, const Block *b, Expr predicate) {
  Tirc *c = k->s->c;
  const Expr rest = tirc_init_part(c, b, predicate, true);
  return tirc_is_true(rest) || tirc_holds_with_init(k->s, k->loop, k->n, k->loops, b,
                                                    tirc_init_part(c, b, predicate, false), rest);
}

static bool changes_side(Sched *s, SRef *loop, const Block *old, const Inner *now,
                         const PtrMap *map, Expr added) {
  Sides k = {.s = s,
             .loop = loop,
             .map = map,
             .old = old,
             .now = now->block,
             .n = now->n,
             .loops = now->loops,
             .kept = tirc_bool(s->c, true)};
  const Expr was = tirc_substitute(s->c, old->predicate, map);
  Block before = *old;
  before.iter_values = tirc_substitute_all(s->c, before.n_iters, before.iter_values, map);
  if (!keeps_bindings(&k, &before)) {
    const Expr predicate = now->block->predicate;
    return !runs_with_body(&k, &before, predicate) || !runs_with_body(&k, now->block, predicate);
  }
  look(&k, old->predicate, was, true);
  if (added && !is_kept(&k, now->block, added))
    k.lost |= !tirc_holds_with_init(s, loop, now->n, now->loops, now->block, k.kept, added);
  if (added && is_kept(&k, now->block, added)) k.kept = tirc_and(s->c, k.kept, added);
  look(&k, old->predicate, was, false);
  return k.lost;
}

void tirc_require_init_sides(Sched *s, SRef *loop, Stmt nest, const PtrMap *map, Expr added) {
  const Blocks old = blocks_in(s->c, loop->stmt), now = blocks_in(s->c, nest);
  for (int i = 0; i < old.found.n && i < now.found.n; i++) {
    const Block *b = old.found.at[i].block;
    if (!added && tirc_is_true(b->predicate)) continue;
    if (!changes_side(s, loop, b, &now.found.at[i], map, added)) continue;
    tirc_sched_mark(s, loop->stmt);
    tirc_sched_error(s, NULL, SERR_REPEATED_REDUCTION, NULL,
                     "call decompose_reduction first, so that the init has loops of its own",
                     "the init of block %s would no longer run at the same time, because the "
                     "meaning of its predicate for loops that only the reduction uses would change",
                     b->name);
  }
}
