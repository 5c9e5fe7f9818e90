/* Whether a reduction starts anew each time that its scope runs.
 *
 *   for k0 in range(4):
 *     block P:                        the init runs in the first instance of P only; in the
 *       for k1 in range(8):           others the block adds to what is there, and so reads
 *         block B: vk = k0 * 8 + k1   what it did not write
 *
 * The init runs where all reduction iterators are at the start of their domains. Within the scope
 * its loops must pass there, for every sum: a loop that starts elsewhere must not be shared between
 * sums and their steps, as a part of a fused loop is. Where the predicate, or a condition around
 * the block, lets any step of a sum run, it must let that one. And it must be for the elements of
 * all steps, which it is not where these are indexed by the reduction. */
#include "ir/tree/print.h"
#include "meaning.h"
#include "passes/schedule/state/state.h"
#include "places.h"

/* --- first ------------------------------------------------------------------------------------ */

/* Instances with the init, or those without, as touches of the sum that they belong to. */
static Touch instances(Tirc *c, Place *at, const Block *b, bool with_init) {
  Expr *sum = tirc_new_array(c, Expr, b->n_iters + 1), start = tirc_bool(c, true);
  Touch t = {.indices = sum};
  for (int i = 0; i < b->n_iters; i++)
    if (b->iters[i].kind == ITER_SPATIAL)
      sum[t.n++] = b->iter_values[i];
    else
      start = tirc_and(c, start, tirc_eq(c, b->iter_values[i], b->iters[i].dom.min));
  t.at = tirc_place_when(c, at, start, !with_init);
  return t;
}

bool tirc_init_comes_first(Sched *s, SRef *in, int n, const For *const *loops, const Block *block,
                           Expr condition) {
  const ArenaMark mark = tirc_mark(s->c);
  Sets *z = tirc_sets_of(s);
  Relations r = *tirc_relations_in(s, in);
  Place *at = tirc_place_around(s->c, in);
  for (int i = 0; i < n; i++) at = tirc_place_loop(s->c, at, loops[i]);
  at = tirc_place_when(s->c, at, condition, false);
  const Touch first = instances(s->c, at, block, true), other = instances(s->c, at, block, false);
  bool exact = true, any = true;
  tirc_sets_begin(z, SETS_BUDGET);
  const ZMap inits = tirc_relation_of(&r, &first, &exact);
  const ZMap others = tirc_relation_of(&r, &other, &any);
  const ZMap started = tirc_z_compose(z, tirc_z_reverse(z, tirc_z_later(z, n)), inits);
  const bool proved = exact && tirc_z_is_empty(z, tirc_z_minus(z, others, started)) == ANSWER_YES;
  tirc_sets_end(z);
  tirc_rewind(s->c, mark);
  return proved;
}

/* --- with the body ---------------------------------------------------------------------------- */

/* Whether a conjunct holds in all instances that run the init. */
static bool holds_with_init(Relations *r, Place *inits, const Block *b, Expr conjunct) {
  if (conjunct->op == OP_AND)
    return holds_with_init(r, inits, b, conjunct->args[0]) &&
           holds_with_init(r, inits, b, conjunct->args[1]);
  bool exact = true;
  const Touch t = {.n = b->n_iters,
                   .indices = b->iter_values,
                   .at = tirc_place_when(r->c, inits, conjunct, true)};
  const ZMap others = tirc_relation_of(r, &t, &exact);
  return tirc_z_is_empty(r->sets, others) == ANSWER_YES;
}

static bool proves_with_init(Sched *s, SRef *in, int n, const For *const *loops, const Block *b,
                             Expr kept, Expr rest) {
  Tirc *c = s->c;
  const ArenaMark mark = tirc_mark(c);
  Relations r = *tirc_relations_in(s, in);
  Place *at = tirc_place_around(c, in);
  for (int i = 0; i < n; i++) at = tirc_place_loop(c, at, loops[i]);
  at = tirc_place_when(c, at, kept, false);
  for (int i = 0; i < b->n_iters; i++) {
    const Range dom = b->iters[i].dom;
    const Expr value = b->iter_values[i], end = tirc_add(c, dom.min, dom.extent);
    const bool first = b->iters[i].kind == ITER_REDUCE;
    at = tirc_place_when(c, at, tirc_binary(c, first ? OP_EQ : OP_LE, dom.min, value), false);
    at = tirc_place_when(c, at, tirc_lt(c, value, end), false);
  }
  tirc_sets_begin(r.sets, SETS_BUDGET);
  const bool holds = holds_with_init(&r, at, b, rest);
  tirc_sets_end(r.sets);
  tirc_rewind(c, mark);
  return holds;
}

/* The loops above a block, outermost first; where they stand: the outermost, or the block. */
static const For **loops_of(Sched *s, SRef *block, int *n, SRef **in) {
  const SRefs above = tirc_loops_above(s, block);
  *n = above.n;
  *in = *n ? above.at[0] : block;
  const For **loops = tirc_new_array(s->c, const For *, *n + 1);
  for (int i = 0; i < *n; i++) loops[i] = tirc_loop_of(above.at[i]);
  return loops;
}

static bool proves_with_body(Sched *s, SRef *block, const InitPart *part) {
  int n;
  SRef *in;
  const For **loops = loops_of(s, block, &n, &in);
  return proves_with_init(s, in, n, loops, tirc_block_of(block), part->kept, part->rest);
}

bool tirc_holds_with_init(Sched *s, SRef *in, int n, const For *const *loops, const Block *block,
                          Expr kept, Expr condition) {
  Tirc *c = s->c;
  Analyzer *a = tirc_analyzer_around(s, in->parent);
  LoopDomain d = {n, tirc_new_array(c, Expr, n + 1), tirc_new_array(c, Range, n + 1)};
  for (int i = 0; i < n; i++) {
    tirc_bind_loop(a, loops[i]);
    d.vars[i] = loops[i]->var;
    d.doms[i] = tirc_loop_range(loops[i]);
  }
  d = tirc_all_loops(c, tirc_loop_domain(s, in->parent, NULL, STORAGE_GLOBAL), d);
  return tirc_sees_with_init(a, c, block, d.n, d.vars, d.doms, kept, condition) ||
         proves_with_init(s, in, n, loops, block, kept, condition);
}

bool tirc_init_runs_with_body(Sched *s, SRef *block) {
  const InitPart part = tirc_init_of(s, block);
  return part.always || proves_with_body(s, block, &part);
}

bool tirc_init_is_regular(Sched *s, SRef *block) {
  const InitPart part = tirc_init_of(s, block);
  if (part.always) return true;
  const LoopDomain loops = tirc_loop_domain(s, block->parent, NULL, STORAGE_GLOBAL);
  return (part.at_start && tirc_is_true(tirc_init_guard(s->c, &part)) &&
          tirc_runs_once(s, block, &loops, part.kept)) ||
         proves_with_body(s, block, &part);
}

/* --- anew ------------------------------------------------------------------------------------- */

/* not (a < b) as a >= b, and so on. */
static Expr without_not(Tirc *c, Expr cond) {
  static const Op turned[][2] = {{OP_LT, OP_GE}, {OP_GE, OP_LT}, {OP_LE, OP_GT},
                                 {OP_GT, OP_LE}, {OP_EQ, OP_NE}, {OP_NE, OP_EQ}};
  const Expr inner = cond->op == OP_NOT ? cond->args[0] : NULL;
  for (size_t i = 0; inner && i < sizeof turned / sizeof *turned; i++)
    if (inner->op == turned[i][0])
      return tirc_binary(c, turned[i][1], inner->args[0], inner->args[1]);
  return cond;
}

bool tirc_holds_at_start(Tirc *c, Analyzer *a, Expr cond, const PtrMap *starts) {
  cond = without_not(c, cond);
  if (cond->op == OP_AND)
    return tirc_holds_at_start(c, a, cond->args[0], starts) &&
           tirc_holds_at_start(c, a, cond->args[1], starts);
  if (!tirc_uses_any(cond, starts)) return true;
  const Expr first = tirc_substitute(c, cond, starts);
  if (tirc_prove(a, first)) return true;
  const bool is_below = cond->op == OP_LT || cond->op == OP_LE;
  if (first->op != cond->op || (!is_below && cond->op != OP_GT && cond->op != OP_GE)) return false;
  return tirc_prove_ge(a, cond->args[!is_below], first->args[!is_below]) &&
         tirc_prove_ge(a, first->args[is_below], cond->args[is_below]);
}

/* A condition on parts of a fused loop says nothing of steps alone: the nest is run. */
static bool is_about_fused(const SRef *block, Expr condition) {
  const Block *b = tirc_block_of(block);
  for (const SRef *r = block->parent; tirc_is_loop(r); r = r->parent) {
    const Expr var = tirc_loop_of(r)->var;
    if (tirc_uses_var(condition, var) && tirc_moves(b, var, ITER_SPATIAL) &&
        tirc_moves(b, var, ITER_REDUCE))
      return true;
  }
  return false;
}

/* Whether the first instance of each sum that runs under the condition has the init. */
static bool first_instance_starts(Sched *s, SRef *block, Expr condition) {
  int n;
  SRef *in;
  const For **loops = loops_of(s, block, &n, &in);
  return tirc_init_comes_first(s, in, n, loops, tirc_block_of(block), condition);
}

/* By sight: it does where the loops of its steps stand at their start. */
static bool holds_in_first_step(Sched *s, SRef *block, Expr condition) {
  PtrMap starts = {0};
  SRef *steps = NULL;
  for (SRef *r = block->parent; tirc_is_loop(r); r = r->parent)
    if (!tirc_moves(tirc_block_of(block), tirc_loop_of(r)->var, ITER_SPATIAL)) {
      tirc_map_set(s->c, &starts, tirc_loop_of(r)->var, tirc_loop_of(r)->min);
      steps = r;
    }
  /* It may be another one in the next step. */
  if (steps && tirc_loads_change(s, steps, condition)) return false;
  Analyzer *a = tirc_analyzer_around(s, block->parent);
  /* Where it runs, none of its loops is empty. */
  for (const SRef *r = block->parent; tirc_is_loop(r); r = r->parent)
    tirc_enter_constraint(a, tirc_binary(s->c, OP_GE, tirc_loop_of(r)->extent,
                                         tirc_int(s->c, tirc_loop_of(r)->extent->dtype, 1)));
  return tirc_holds_at_start(s->c, a, condition, &starts);
}

/* Whether it counts the iterations of these loops in their order, as a fused loop that was split
 * does: (f0 * 4 + f1) * 5 + f2. */
static bool counts_loops(Tirc *c, const SRef *inside, Expr number, PtrMap *loops) {
  const bool more = number->op == OP_ADD && number->args[0]->op == OP_MUL;
  const Expr digit = more ? number->args[1] : number;
  while (tirc_is_loop(inside) && tirc_loop_of(inside)->var != digit) inside = inside->parent;
  if (!tirc_is_loop(inside) || !tirc_is_int(tirc_loop_of(inside)->min, 0)) return false;
  tirc_map_set(c, loops, digit, digit);
  const Expr extent = tirc_loop_of(inside)->extent;
  return !more || (tirc_expr_same(number->args[0]->args[1], extent) &&
                   counts_loops(c, inside->parent, number->args[0]->args[0], loops) &&
                   !tirc_uses_any(extent, loops)); /* or numbers would be left out */
}

/* By sight, where sums of n steps follow each other in one number: if that is below the end, so it
 * was at the start of its sum, number - number % n. */
static bool holds_for_first_number(Sched *s, SRef *block, Expr condition) {
  const Block *b = tirc_block_of(block);
  PtrMap loops = {0};
  if (condition->op != OP_LT || !counts_loops(s->c, block->parent, condition->args[0], &loops))
    return false;
  Analyzer *a = tirc_analyzer_around(s, block->parent);
  Expr n = NULL;
  tirc_bind_shapes(s, a, block);
  for (const SRef *r = block->parent; tirc_is_loop(r); r = r->parent)
    if (tirc_uses_var(condition->args[1], tirc_loop_of(r)->var)) return false;
  for (int i = 0; i < b->n_iters; i++) {
    const bool step = b->iters[i].kind != ITER_SPATIAL;
    const Expr value = b->iter_values[i];
    if (!tirc_uses_any(value, &loops)) continue;
    if (value->op != (step ? OP_FLOORMOD : OP_FLOORDIV) ||
        !tirc_expr_same(value->args[0], condition->args[0]) ||
        (n && !tirc_expr_same(value->args[1], n)) || (step && !tirc_is_int(b->iters[i].dom.min, 0)))
      return false;
    n = value->args[1];
  }
  return n && !tirc_reads_memory(condition) && !tirc_uses_any(n, &loops) && tirc_surely_some(a, n);
}

static bool starts_where_it_runs(Sched *s, const SRef *block) {
  SRef *self = tirc_sref_of_block(s, tirc_block_of(block)->id);
  const Expr when = tirc_touching_condition(s, self);
  const Expr condition = tirc_condition_with(s, self, when, tirc_scope_root(self));
  if (!condition || tirc_is_true(condition)) return condition;
  return (!is_about_fused(block, condition) && holds_in_first_step(s, self, condition)) ||
         holds_for_first_number(s, self, condition) || first_instance_starts(s, self, condition);
}

/* A loop that is longer in later steps of a sum runs iterations which the first step does not. They
 * may be of other sums; or steps, of which it must have the first. */
static bool grows_with_steps(Sched *s, const SRef *block, const PtrMap *first_steps) {
  Analyzer *a = tirc_analyzer_around(s, block->parent);
  for (const SRef *r = block->parent; tirc_is_loop(r); r = r->parent) {
    const Expr extent = tirc_loop_of(r)->extent;
    if (!tirc_uses_any(extent, first_steps)) continue;
    const Expr first = tirc_substitute(s->c, extent, first_steps);
    const bool has_first = tirc_surely_some(a, first) &&
                           !tirc_moves(tirc_block_of(block), tirc_loop_of(r)->var, ITER_SPATIAL);
    if (!has_first && !tirc_prove_ge(a, first, extent)) return true;
  }
  return false;
}

static bool passes_start(Sched *s, const SRef *block) {
  Tirc *c = s->c;
  const Block *b = tirc_block_of(block);
  PtrMap starts = {0}, skewed = {0}, first_steps = {0};
  for (const SRef *r = block->parent; tirc_is_loop(r); r = r->parent) {
    const For *loop = tirc_loop_of(r);
    tirc_map_set(c, &starts, loop->var, loop->min);
    if (tirc_moves(b, loop->var, ITER_REDUCE)) tirc_map_set(c, &first_steps, loop->var, loop->min);
    if (!tirc_is_int(loop->min, 0) && tirc_moves(b, loop->var, ITER_SPATIAL))
      tirc_map_set(c, &skewed, loop->var, loop->var);
  }
  if (grows_with_steps(s, block, &first_steps)) return false;
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

bool tirc_fused_steps_start(Sched *s, SRef *block) {
  const Expr predicate = tirc_block_of(block)->predicate;
  return !is_about_fused(block, predicate) || tirc_domain_implies_predicate(s, block) ||
         first_instance_starts(s, block, predicate);
}

bool tirc_steps_start_in_scope(Sched *s, const SRef *block) {
  return !tirc_block_of(block)->init || passes_start(s, block);
}

bool tirc_sums_start_in_scope(Sched *s, const SRef *block) {
  const Block *b = tirc_block_of(block);
  if (!b->init) return true;
  return tirc_steps_start_in_scope(s, block) && starts_where_it_runs(s, block) &&
         !tirc_why_indexed_by_reduction(s->c, b) && !tirc_init_reads_output(b);
}
