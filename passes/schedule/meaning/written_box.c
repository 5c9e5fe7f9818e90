#include "written_box.h"

#include "meaning.h"
#include "passes/schedule/state/nesting.h"
#include "passes/schedule/state/nodes.h"

bool tirc_sees_written(Stmt s, const Region *box) {
  if (s->kind != STMT_STORE || s->u.store.buffer != box->buffer ||
      s->u.store.n != box->buffer->ndim)
    return false;
  for (int d = 0; d < s->u.store.n; d++)
    if (!tirc_is_int(box->dims[d].extent, 1) ||
        !tirc_expr_same(s->u.store.indices[d], box->dims[d].min))
      return false;
  return true;
}

/* --- iterator maps ---------------------------------------------------------------------------- */

typedef struct Bindings {
  int n;
  Expr *values;
  Range *doms; /* to be filled; without an extent: one value is enough */
} Bindings;

static void add_binding(Bindings *b, Expr value, Range dom) {
  b->values[b->n] = value;
  b->doms[b->n++] = dom;
}

/* Those of a block's iterators of more than one value. */
static Bindings bindings_of(Tirc *c, const Block *b, int more) {
  Bindings out = {.values = tirc_new_array(c, Expr, b->n_iters + more + 1),
                  .doms = tirc_new_array(c, Range, b->n_iters + more + 1)};
  for (int i = 0; i < b->n_iters; i++)
    if (!tirc_is_int(b->iters[i].dom.extent, 1))
      add_binding(&out, b->iter_values[i], b->iters[i].dom);
  return out;
}

/* The loops that only the predicate is about: it may skip all of their iterations. */
static void add_unbound(Bindings *b, Expr predicate, const LoopDomain *loops) {
  for (int l = 0; l < loops->n; l++) {
    bool bound = !tirc_uses_var(predicate, loops->vars[l]);
    for (int i = 0; i < b->n && !bound; i++) bound = tirc_uses_var(b->values[i], loops->vars[l]);
    if (!bound) add_binding(b, loops->vars[l], (Range){0});
  }
}

/* Whether an iterator, as the map gives it, takes each value of its domain. */
static bool fills(Tirc *c, Analyzer *a, const IterSum *sum, Range dom) {
  const Expr one = tirc_int(c, sum->base->dtype, 1);
  Expr first = sum->base, reach = one;
  if (sum->n) {
    const IterSplit *split = &sum->args[0];
    const bool backwards = tirc_is_int(split->scale, -1);
    if (sum->n > 1 || (!backwards && !tirc_is_int(split->scale, 1))) return false;
    reach = split->extent;
    if (backwards) first = tirc_sub(c, first, tirc_sub(c, reach, one));
  }
  if (!dom.extent) return tirc_prove_ge(a, reach, one);
  return tirc_prove_equal(a, first, dom.min) &&
         tirc_prove_symbolic(a, tirc_binary(c, OP_GE, reach, dom.extent));
}

/* Whether the iterators provably take together all values of their domains. */
static bool fill_together(Tirc *c, Analyzer *a, const Bindings *b, const LoopDomain *loops,
                          Expr predicate) {
  const IterMap *map = tirc_detect_iter_map(a, b->n, b->values, loops->n, loops->vars, loops->doms,
                                            predicate, ITER_LEVEL_SURJECTIVE, true, NULL);
  bool filled = map && tirc_is_int(map->padding_predicate, 0);
  for (int i = 0; i < b->n && filled; i++) filled = fills(c, a, &map->indices[i], b->doms[i]);
  return filled;
}

static bool uses_loop(Expr e, const LoopDomain *loops) {
  bool uses = false;
  for (int l = 0; l < loops->n && !uses; l++) uses = tirc_uses_var(e, loops->vars[l]);
  return uses;
}

/* Whether each part of the condition is about a loop; a map of the loops says nothing of others. */
static bool is_about_loops(Expr cond, const LoopDomain *loops) {
  if (cond->op == OP_AND)
    return is_about_loops(cond->args[0], loops) && is_about_loops(cond->args[1], loops);
  return tirc_is_true(cond) || uses_loop(cond, loops);
}

/* Whether a loop around ends at a number in memory which the scope changes: the domain may end at
 * another one. */
static bool ends_move(Sched *s, SRef *block, const LoopDomain *loops) {
  SRef *scope = tirc_scope_root(s, block);
  bool move = false;
  for (int l = 0; l < loops->n && !move; l++)
    move = tirc_reads_written(s, scope, loops->doms[l].min) ||
           tirc_reads_written(s, scope, loops->doms[l].extent);
  return move;
}

/* Whether each iterator does so alone, which shares no loop with another one. */
static bool fill_alone(Tirc *c, Analyzer *a, const Bindings *b, const LoopDomain *loops) {
  for (int i = 0; i < b->n; i++) {
    LoopDomain own = {0, tirc_new_array(c, Expr, loops->n + 1),
                      tirc_new_array(c, Range, loops->n + 1)};
    for (int l = 0; l < loops->n; l++) {
      if (!tirc_uses_var(b->values[i], loops->vars[l])) continue;
      for (int k = 0; k < b->n; k++)
        if (k != i && tirc_uses_var(b->values[k], loops->vars[l])) return false;
      own.vars[own.n] = loops->vars[l];
      own.doms[own.n++] = loops->doms[l];
    }
    if (!fill_together(c, a, &(Bindings){1, &b->values[i], &b->doms[i]}, &own, NULL)) return false;
  }
  return true;
}

bool tirc_sees_domain_reached(Sched *s, SRef *block) {
  const Block *b = tirc_block_of(block);
  const LoopDomain loops = tirc_loop_domain(s, block->parent, NULL, NULL);
  if (tirc_outer_iter(s, block) || ends_move(s, block, &loops)) return false;
  Bindings of = bindings_of(s->c, b, loops.n);
  Analyzer *a = tirc_analyzer(s->c);
  tirc_bind_shapes(s, a, block);
  if (tirc_sees_domain_implies_predicate(s, block) &&
      (fill_together(s->c, a, &of, &loops, NULL) || fill_alone(s->c, a, &of, &loops)))
    return true;
  add_unbound(&of, b->predicate, &loops);
  return is_about_loops(b->predicate, &loops) && fill_together(s->c, a, &of, &loops, b->predicate);
}

/* --- predicates ------------------------------------------------------------------------------- */

bool tirc_sees_domain_implies_predicate(Sched *s, SRef *block) {
  const Block *b = tirc_block_of(block);
  if (tirc_is_true(b->predicate)) return true;
  Analyzer *a = tirc_analyzer_of_loops(s, block, NULL);
  for (int i = 0; i < b->n_iters; i++) {
    const Range dom = b->iters[i].dom;
    tirc_enter_constraint(a, tirc_binary(s->c, OP_GE, b->iter_values[i], dom.min));
    tirc_enter_constraint(a, tirc_lt(s->c, b->iter_values[i], tirc_add(s->c, dom.min, dom.extent)));
  }
  return tirc_prove(a, b->predicate);
}

/* --- iterators of the outside ----------------------------------------------------------------- */

/* The variables of loops, blocks and lets around: the function's symbols are none of them. */
static PtrMap moving_around(Sched *s, SRef *block) {
  PtrMap moving = {0};
  for (SRef *r = block->parent; r; r = r->parent) {
    Steps steps = {0};
    tirc_steps_between(s->c, r, &steps);
    for (int i = 0; i < steps.n; i++)
      if (steps.at[i].stmt->kind == STMT_LET)
        tirc_map_set(s->c, &moving, steps.at[i].stmt->u.let.var, r);
    if (tirc_is_loop(r)) tirc_map_set(s->c, &moving, tirc_loop_of(r)->var, r);
    for (int i = 0; tirc_is_block(r) && i < tirc_block_of(r)->n_iters; i++)
      tirc_map_set(s->c, &moving, tirc_block_of(r)->iters[i].var, r);
  }
  return moving;
}

typedef struct FromOutside {
  const LoopDomain *loops;
  PtrMap moving;
} FromOutside;

static bool is_from_outside(const void *self, Expr e) {
  const FromOutside *f = self;
  return e->op == OP_VAR && tirc_map_has(&f->moving, e) && !tirc_is_about(e, f->loops);
}

Expr tirc_outer_iter(Sched *s, SRef *block) {
  const Block *b = tirc_block_of(block);
  const LoopDomain loops = tirc_loop_domain(s, block->parent, NULL, NULL);
  const FromOutside f = {&loops, moving_around(s, block)};
  for (int i = 0; i < b->n_iters; i++)
    if (!tirc_is_int(b->iters[i].dom.extent, 1) &&
        tirc_find_expr(b->iter_values[i], is_from_outside, &f))
      return b->iters[i].var;
  return NULL;
}

/* --- what a nest writes ----------------------------------------------------------------------- */

/* The loops that the region does not use stand at their start: that is enough if it is there. */
static bool stand_at_start(Sched *s, Analyzer *a, const LoopDomain *loops, const Region *r,
                           Expr *predicate) {
  PtrMap starts = {0};
  for (int l = 0; l < loops->n; l++) {
    const Range dom = loops->doms[l];
    if (!tirc_surely_some(a, dom.extent)) return false;
    if (!tirc_region_uses(r, loops->vars[l])) tirc_map_set(s->c, &starts, loops->vars[l], dom.min);
  }
  *predicate =
      tirc_and_unproved(s->c, a, tirc_bool(s->c, true), tirc_substitute(s->c, *predicate, &starts));
  return true;
}

static bool fill_box(Sched *s, Analyzer *a, const IntSet *sets, const Region *box) {
  for (int d = 0; d < box->buffer->ndim; d++) {
    if (!sets || !sets[d].min || !sets[d].max) return false;
    const Expr end = tirc_add(s->c, box->dims[d].min, box->dims[d].extent);
    const Expr after = tirc_add(s->c, sets[d].max, tirc_int(s->c, sets[d].max->dtype, 1));
    if (!tirc_prove_ge(a, box->dims[d].min, sets[d].min) || !tirc_prove_ge(a, after, end))
      return false;
  }
  return true;
}

bool tirc_sees_nest_written(Sched *s, SRef *block, SRef *within, Expr condition,
                            const Region *box) {
  const Region *declared = tirc_declared_write(tirc_block_of(block), box->buffer);
  if (!declared || tirc_is_guarded(s, block, within)) return false;
  Expr predicate = tirc_block_of(block)->predicate;
  const LoopDomain loops = tirc_loop_domain(s, block->parent, within, NULL);
  PtrMap inside = {0};
  const Region r = tirc_unbound_region(s->c, block->stmt, *declared);
  Analyzer *a = tirc_analyzer_around(s, block->parent);
  tirc_bind_shapes(s, a, block);
  tirc_enter_constraint(a, condition);
  for (int l = 0; l < loops.n; l++) tirc_map_set(s->c, &inside, loops.vars[l], block);
  if (tirc_expr_same(tirc_conjuncts(s->c, predicate, &inside, false), condition))
    predicate = tirc_conjuncts(s->c, predicate, &inside, true);
  if (!stand_at_start(s, a, &loops, &r, &predicate) ||
      !tirc_is_true(tirc_conjuncts(s->c, predicate, &inside, false)))
    return false;
  return fill_box(s, a, tirc_region_lower(s, a, r, predicate, block->parent, within), box);
}
