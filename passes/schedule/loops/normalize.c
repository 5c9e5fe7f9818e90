/* normalize_loops(block): one loop for each iterator, in their order, in the place of the loops
 * that are there.
 *
 *   for f in range(20):                          for i0, i1 in T.grid(4, 5):
 *     with T.block("B"):                           with T.block("B"):
 *       vi = T.axis.spatial(4, f // 5)     ->        vi, vj = T.axis.remap("SS", [i0, i1])
 *       vj = T.axis.spatial(5, f % 5)
 *
 * The loops may be split, fused, in any order, or longer than a predicate lets the block run. What
 * counts is that they run each instance of the block, once, so that the new ones run the same ones;
 * and that instances may come in any order: those of a sum commute, others do not touch what
 * another one stores. Other blocks may write the same buffer: the nest stays where it is. */
#include "loops.h"

typedef struct Normal {
  Sched *s;
  SRef *block;
  SRefs loops; /* outermost first */
} Normal;

#define not_all(k, why)                                                                            \
  tirc_sched_error(                                                                                \
      (k)->s, (k)->block->stmt, SERR_NOT_ALL_INSTANCES, why, NULL,                                 \
      "the loops around block %s are not known to run each of its instances exactly once",         \
      tirc_name_of((k)->block))

static void require_own_nest(const Normal *k) {
  for (int i = 0; i < k->loops.n; i++) {
    const Stmt inner = i + 1 < k->loops.n ? k->loops.at[i + 1]->stmt : k->block->stmt;
    const For *f = tirc_loop_of(k->loops.at[i]);
    tirc_require_bare_loop(k->s, k->loops.at[i]);
    if (f->body != inner)
      tirc_refuse(k->s, k->loops.at[i]->stmt, SERR_NOT_ONLY_CHILD,
                  "loop %s contains something else besides block %s and its loops", f->var->u.s,
                  tirc_name_of(k->block));
    if (f->kind != LOOP_SERIAL)
      tirc_refuse(k->s, k->loops.at[i]->stmt, SERR_LOOP_HAS_ANNOTATION,
                  "loop %s is no longer serial", f->var->u.s);
  }
}

static void require_any_order(const Normal *k) {
  const Block *b = tirc_block_of(k->block);
  bool sums = false;
  for (int i = 0; i < b->n_iters; i++) {
    sums |= b->iters[i].kind == ITER_REDUCE;
    if (b->iters[i].kind == ITER_OPAQUE || b->iters[i].kind == ITER_SCAN)
      tirc_refuse(k->s, k->block->stmt, SERR_ITER_KIND,
                  "iterator %s of block %s must keep its order", b->iters[i].var->u.s, b->name);
  }
  if (sums) tirc_require_reduction(k->s, k->block, tirc_scope_root(k->block));
  if (tirc_instances_depend(k->s, k->block) || (b->init && !tirc_update_commutes(k->s->c, b)))
    tirc_refuse(k->s, k->block->stmt, SERR_ORDER_MATTERS,
                "instances of block %s may use what others store", b->name);
}

static void require_all_once(const Normal *k) {
  const Block *b = tirc_block_of(k->block);
  const char *missing = NULL;
  const LoopDomain loops =
      tirc_loop_domain(k->s, k->block->parent, tirc_scope_root(k->block), STORAGE_GLOBAL);
  for (int i = 0; i < k->loops.n; i++)
    if (tirc_stmt_uses_var(b->body, tirc_loop_of(k->loops.at[i])->var))
      not_all(k, "its body uses a loop and not an iterator");
  if (tirc_loop_of_domain(k->block)) not_all(k, "the domain of an iterator depends on a loop");
  if (!tirc_reaches_domain(k->s, k->block, NULL, &missing))
    not_all(k, tirc_missing_text(k->s->c, missing));
  if (!tirc_runs_once(k->s, k->block, &loops, b->predicate))
    not_all(k, "some may run more than once");
}

static Stmt normal_nest(const Normal *k) {
  Tirc *c = k->s->c;
  Block b = *tirc_block_of(k->block);
  Expr *vars = tirc_new_array(c, Expr, b.n_iters + 1);
  for (int i = 0; i < b.n_iters; i++) {
    const bool named = b.iter_values[i]->op == OP_VAR;
    const char *name = named ? b.iter_values[i]->u.s : tirc_format(c, "i%d", i);
    vars[i] = tirc_var(c, name, b.iters[i].var->dtype);
  }
  b.iter_values = vars;
  b.predicate = tirc_bool(c, true);
  Stmt nest = tirc_with_loc(c, tirc_block(c, &b), k->block->stmt->loc);
  for (int i = b.n_iters; i-- > 0;)
    nest = tirc_for(c, &(For){.var = vars[i],
                              .min = b.iters[i].dom.min,
                              .extent = b.iters[i].dom.extent,
                              .kind = LOOP_SERIAL,
                              .body = nest});
  return nest;
}

void tirc_prim_normalize_loops(Sched *s, const Value *args, Value *result) {
  Normal k = {.s = s, .block = tirc_sref_of_value(s, args[0])};
  (void)tirc_require_scope_root(s, k.block, false);
  k.loops = tirc_loops_above(s, k.block);
  require_own_nest(&k);
  require_any_order(&k);
  require_all_once(&k);
  const uint32_t id = tirc_block_of(k.block)->id;
  SRef *const old = k.loops.n ? k.loops.at[0] : k.block;
  if (k.loops.n || tirc_block_of(k.block)->n_iters) tirc_sched_replace(s, old, normal_nest(&k));
  const SRefs loops = tirc_loops_above(s, tirc_sref_of_block(s, id));
  *result = tirc_value_list(s->c, VAL_LIST, 0, NULL);
  for (int i = 0; i < loops.n; i++)
    tirc_value_append(s->c, *result, tirc_value_loop(tirc_loop_of(loops.at[i])->var));
}
