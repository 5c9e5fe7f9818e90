/* What decides whether a block runs besides its loops.
 *
 *   for i in range(4):
 *       k = i * 2
 *       if k > 2:                       i * 2 > 2 and i * 2 < 6
 *           with T.block("B"):
 *               vi = T.axis.spatial(4, i)
 *               T.where(k < 6) */
#include "meaning.h"

/* From the innermost one outwards, so that what is let is put in. */
static Expr and_steps(Tirc *c, const Steps *steps, Expr condition) {
  for (int i = steps->n; i-- > 0;) {
    const struct StmtNode *s = steps->at[i].stmt;
    if (s->kind == STMT_WHILE) return NULL;
    if (s->kind == STMT_IF) {
      const Expr cond = s->u.branch.cond;
      condition = tirc_and(c, steps->at[i].negated ? tirc_not(c, cond) : cond, condition);
    }
    if (s->kind == STMT_LET)
      condition = tirc_substitute1(c, condition, s->u.let.var, s->u.let.value);
  }
  return condition;
}

Expr tirc_and_unproved(Tirc *c, Analyzer *a, Expr predicate, Expr cond) {
  if (cond->op == OP_AND)
    return tirc_and_unproved(c, a, tirc_and_unproved(c, a, predicate, cond->args[0]),
                             cond->args[1]);
  return tirc_prove_symbolic(a, cond) ? predicate : tirc_and(c, predicate, cond);
}

Expr tirc_conjuncts(Tirc *c, Expr cond, const PtrMap *vars, bool with) {
  if (cond->op == OP_AND)
    return tirc_and(c, tirc_conjuncts(c, cond->args[0], vars, with),
                    tirc_conjuncts(c, cond->args[1], vars, with));
  return tirc_uses_any(cond, vars) == with ? cond : tirc_bool(c, true);
}

/* A loop that moves no iterator of the block repeats its instances, and runs none if it is empty.
 * The others are in the domains of the iterators, as is a fused loop over nothing. */
static bool may_repeat_never(Sched *s, const SRef *block, SRef *r) {
  if (!tirc_is_loop(r) || !tirc_is_block(block)) return false;
  const For *f = tirc_loop_of(r);
  if (tirc_kinds_moved(tirc_block_of(block), f->var)) return false;
  for (int i = 0; i < tirc_block_of(block)->n_iters; i++)
    if (tirc_is_int(tirc_block_of(block)->iters[i].dom.extent, 0)) return false;
  int64_t extent;
  if (tirc_const_int(f->extent, &extent)) return extent < 1;
  Analyzer *a = tirc_analyzer_around(s, r->parent);
  tirc_bind_shapes(s, a, r);
  return !tirc_surely_some(a, f->extent);
}

bool tirc_is_guarded(Sched *s, SRef *block, const SRef *high) {
  for (SRef *r = block; r != high; r = r->parent) {
    if (may_repeat_never(s, block, r)) return true;
    const Steps steps = tirc_steps_between(s->c, r);
    for (int i = 0; i < steps.n; i++)
      if (steps.at[i].stmt->kind == STMT_IF || steps.at[i].stmt->kind == STMT_WHILE) return true;
  }
  return false;
}

Expr tirc_condition_of(Sched *s, SRef *block, const SRef *high) {
  return tirc_condition_with(s, block, tirc_block_of(block)->predicate, high);
}

Expr tirc_condition_with(Sched *s, SRef *block, Expr condition, const SRef *high) {
  for (SRef *r = block; r != high && condition; r = r->parent) {
    const Steps steps = tirc_steps_between(s->c, r);
    condition = and_steps(s->c, &steps, condition);
  }
  return condition;
}

static bool is_part_of(Expr condition, Expr part) {
  return tirc_expr_same(condition, part) ||
         (condition->op == OP_AND &&
          (is_part_of(condition->args[0], part) || is_part_of(condition->args[1], part)));
}

/* Whether each part of a condition holds where `known` does, or is about these loops alone. */
static bool holds_with(Sched *s, Analyzer *a, Expr condition, Expr known, const LoopDomain *own) {
  if (condition->op == OP_AND)
    return holds_with(s, a, condition->args[0], known, own) &&
           holds_with(s, a, condition->args[1], known, own);
  if (is_part_of(known, condition) && !tirc_reads_memory(condition)) return true;
  return tirc_is_about(condition, own) || tirc_prove(a, condition);
}

bool tirc_runs_whenever(Sched *s, SRef *writer, SRef *reader) {
  SRef *common = tirc_common_ancestor(2, (SRef *[]){writer, reader});
  if (tirc_sums_nothing(s, writer)) return false;
  if (writer == reader) return true;
  LoopDomain own = tirc_loop_domain(s, writer->parent, common, STORAGE_GLOBAL);
  const bool guarded = tirc_is_guarded(s, writer, common);
  if (guarded) own.n = 0;
  const Expr condition = tirc_condition_of(s, writer, common);
  const Expr known = tirc_condition_of(s, reader, common);
  Analyzer *a = tirc_analyzer_around(s, writer->parent);
  return (condition && known && holds_with(s, a, condition, known, &own)) ||
         (!guarded && common == tirc_scope_root(writer) &&
          tirc_reaches_domain(s, writer, NULL, NULL));
}

/* --- sums of nothing -------------------------------------------------------------------------- */

static bool chooses_elements(const Block *b, Expr var) {
  for (int i = 0; i < b->n_writes; i++)
    for (int d = 0; d < b->writes[i].buffer->ndim; d++)
      if (tirc_uses_var(b->writes[i].dims[d].min, var)) return true;
  return false;
}

bool tirc_sums_nothing(Sched *s, SRef *block) {
  const Block *b = tirc_block_of(block);
  bool never = !tirc_is_true(b->predicate) &&
               tirc_prove(tirc_analyzer_around(s, block->parent), tirc_not(s->c, b->predicate));
  for (int i = 0; i < b->n_iters; i++) {
    if (!tirc_is_int(b->iters[i].dom.extent, 0)) continue;
    if (b->iters[i].kind == ITER_SPATIAL && chooses_elements(b, b->iters[i].var)) return false;
    never = true;
  }
  for (const SRef *r = block->parent; r && tirc_is_loop(r); r = r->parent)
    never |= tirc_is_int(tirc_loop_of(r)->extent, 0);
  return never;
}
