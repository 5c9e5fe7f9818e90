/* Is all that is to be written, written? Does a block run for all of its iterators' domains?
 *
 *   for i in range(601):                    stores to C[0:601] without C[300]
 *     if i != 300: C[i] = A[i]
 *
 * By sight: by iterator maps, by intervals, or as it is written; then exactly for all sizes, or by
 * running through all of a nest with constant bounds. */
#include "ir/tree/views.h"
#include "meaning.h"
#include "passes/meaning/asked.h"
#include "places.h"

static bool sees_written(Stmt s, const Region *box) {
  if (s->kind != STMT_STORE || s->u.store.buffer != box->buffer ||
      s->u.store.n != box->buffer->ndim)
    return false;
  for (int d = 0; d < s->u.store.n; d++)
    if (!tirc_is_int(box->dims[d].extent, 1) ||
        !tirc_expr_same(s->u.store.indices[d], box->dims[d].min))
      return false;
  return true;
}

/* --- by sight: predicates --------------------------------------------------------------------- */

static bool sees_domain_implies_predicate(Sched *s, SRef *block) {
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

/* --- by sight: iterator maps ------------------------------------------------------------------ */

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
    if (tirc_uses_var(predicate, loops->vars[l]) && !tirc_any_uses(b->n, b->values, loops->vars[l]))
      add_binding(b, loops->vars[l], (Range){0});
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
static bool ends_move(SRef *block, const LoopDomain *loops) {
  SRef *scope = tirc_scope_root(block);
  bool move = false;
  for (int l = 0; l < loops->n && !move; l++)
    move = tirc_reads_written(scope, loops->doms[l].min) ||
           tirc_reads_written(scope, loops->doms[l].extent);
  return move;
}

/* Whether each iterator does so alone, which shares no loop with another one. */
static bool fill_alone(Tirc *c, Analyzer *a, const Bindings *b, const LoopDomain *loops) {
  for (int i = 0; i < b->n; i++) {
    const LoopDomain all = tirc_all_loops(c, *loops, (LoopDomain){0});
    const LoopDomain own = tirc_used_loops(all, 1, &b->values[i]);
    for (int k = 0; k < b->n; k++)
      if (k != i && uses_loop(b->values[k], &own)) return false;
    if (!fill_together(c, a, &(Bindings){1, &b->values[i], &b->doms[i]}, &own, NULL)) return false;
  }
  return true;
}

static bool sees_domain_reached(Sched *s, SRef *block) {
  const Block *b = tirc_block_of(block);
  const LoopDomain loops = tirc_loop_domain(s, block->parent, NULL, STORAGE_GLOBAL);
  if (tirc_outer_iter(s, block) || ends_move(block, &loops)) return false;
  Bindings of = bindings_of(s->c, b, loops.n);
  Analyzer *a = tirc_analyzer(s->c);
  tirc_bind_shapes(s, a, block);
  if (sees_domain_implies_predicate(s, block) &&
      (fill_together(s->c, a, &of, &loops, NULL) || fill_alone(s->c, a, &of, &loops)))
    return true;
  add_unbound(&of, b->predicate, &loops);
  return is_about_loops(b->predicate, &loops) && fill_together(s->c, a, &of, &loops, b->predicate);
}

/* --- by sight: iterators of the outside ------------------------------------------------------- */

/* The variables of loops, blocks and lets around: the function's symbols are none of them. */
static PtrMap moving_around(Sched *s, SRef *block) {
  PtrMap moving = {0};
  for (SRef *r = block->parent; r; r = r->parent) {
    const Steps steps = tirc_steps_between(s->c, r);
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
  const LoopDomain loops = tirc_loop_domain(s, block->parent, NULL, STORAGE_GLOBAL);
  const FromOutside f = {&loops, moving_around(s, block)};
  for (int i = 0; i < b->n_iters; i++)
    if (!tirc_is_int(b->iters[i].dom.extent, 1) &&
        tirc_find_expr(b->iter_values[i], is_from_outside, &f))
      return b->iters[i].var;
  return NULL;
}

/* --- by sight: what a nest writes ------------------------------------------------------------- */

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

static bool sees_nest_written(Sched *s, SRef *block, SRef *within, Expr condition,
                              const Region *box) {
  const Region *declared = tirc_declared_write(tirc_block_of(block), box->buffer);
  if (!declared || tirc_is_guarded(s, block, within)) return false;
  Expr predicate = tirc_block_of(block)->predicate;
  const LoopDomain loops = tirc_loop_domain(s, block->parent, within, STORAGE_GLOBAL);
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

/* --- exactly ---------------------------------------------------------------------------------- */

/* Something is touched, for sure, and something is to be. */
typedef struct Cover {
  Sched *s;
  Buffer of;
  Extract x;
  Relations r;
  Place *in; /* where the box is */
  Touch box;
} Cover;

static bool is_wanted(void *self, Buffer b) { return ((const Cover *)self)->of == b; }

static Cover cover(Sched *s, SRef *nest, Place *in, Buffer of) {
  Cover q = {.s = s, .of = of, .in = in};
  q.r = *tirc_relations_in(s, nest);
  q.x = (Extract){.c = s->c, .wants = is_wanted, .trusts_calls = true};
  return q;
}

static void box_of_ranges(Cover *q, int n, const Range *dims, const Expr *clip) {
  Tirc *c = q->s->c;
  Expr *from = tirc_new_array(c, Expr, n + 1), *extents = tirc_new_array(c, Expr, n + 1);
  for (int d = 0; d < n; d++) {
    from[d] = dims[d].min;
    extents[d] = dims[d].extent;
    if (!clip || (tirc_is_int(from[d], 0) && tirc_expr_same(extents[d], clip[d]))) continue;
    const Expr end = tirc_min(c, tirc_add(c, from[d], extents[d]), clip[d]);
    from[d] = tirc_max(c, from[d], tirc_int(c, from[d]->dtype, 0));
    extents[d] = tirc_sub(c, end, from[d]);
  }
  q->box = (Touch){
      .buffer = q->of, .n = n, .indices = from, .extents = extents, .surely = true, .at = q->in};
}

/* The condition behind which it is not known whether a touch is reached, if there is one alone. */
static Place *open_condition(const Touch *t) {
  Place *p = t->at;
  while (p->up && !p->up->is_exact) p = p->up;
  return !p->is_exact && p->kind == PLACE_WHEN && !p->outside ? p : NULL;
}

/* The same place, where the condition at p does not matter. */
static Place *without(Tirc *c, const Place *at, const Place *p) {
  Place *out = tirc_copy(c, at, 1);
  out->is_known = false;
  out->reached = NULL;
  if (at != p) {
    out->up = without(c, at->up, p);
  } else {
    out->a = tirc_bool(c, true);
    out->negated = false;
  }
  return out;
}

/* What is touched in both branches of a condition that is not known, in each iteration. */
static ZMap either(Cover *q, const Place *p) {
  Sets *z = q->r.sets;
  const int n = p->n_loops;
  ZMap by[2] = {tirc_z_empty(z, n, q->box.n), tirc_z_empty(z, n, q->box.n)};
  for (int i = 0; i < q->x.touches.n; i++) {
    Touch t = q->x.touches.at[i];
    const Place *own = open_condition(&t);
    bool known = true;
    if (!t.write || !own || own->a != p->a || own->up != p->up) continue;
    t.at = without(q->s->c, t.at, own);
    const ZMap one = tirc_relation_of(&q->r, &t, &known);
    if (known)
      by[own->negated] =
          tirc_z_union(z, by[own->negated], tirc_z_drop_in(z, one, n, t.at->n_loops - n));
  }
  return tirc_z_drop_in(z, tirc_z_meet(z, by[0], by[1]), 0, n);
}

/* In the loops that it needs. */
static Touch thin(Tirc *c, Touch t) {
  PtrMap used = {0};
  return tirc_touch_of_used(c, t, &used, false);
}

static ZMap touched(Cover *q, bool *exact) {
  Sets *z = q->r.sets;
  ZMap all = tirc_z_empty(z, 0, q->box.n);
  for (int i = 0; i < q->x.touches.n; i++) {
    const Touch one_touch = thin(q->s->c, q->x.touches.at[i]), *t = &one_touch;
    bool known = true;
    const ZMap one = t->write ? tirc_relation_of(&q->r, t, &known) : NULL;
    const Place *open = t->write && !known ? open_condition(t) : NULL;
    if (t->write && known) all = tirc_z_union(z, all, tirc_z_drop_in(z, one, 0, t->at->n_loops));
    if (open && !open->negated) all = tirc_z_union(z, all, either(q, open));
    *exact &= known;
  }
  return all;
}

static const char *text_of(const Cover *q, const ZPoint *p) {
  Text t = {.c = q->s->c};
  tirc_text_add(&t, tirc_element_text(q->s->c, q->of, p->n_out, p->out));
  for (int i = 0; i < p->n_params; i++)
    tirc_text_addf(&t, "%s%s = %lld", i ? ", " : " for ", tirc_param_text(&q->r, p->params[i]),
                   (long long)p->of_params[i]);
  return t.at;
}

/* For more cases than there are, where what is around is not known exactly. */
static Answer ask(Cover *q, const char **missing) {
  Sets *z = q->r.sets;
  ZPoint p;
  tirc_reached(&q->r, q->in);
  bool exact = q->in->is_exact;
  q->in->is_exact = true;
  const ZMap there = touched(q, &exact), asked = tirc_relation_of(&q->r, &q->box, &exact);
  const Answer answer = tirc_z_is_subset(z, asked, there);
  if (answer != ANSWER_NO) return answer;
  exact = exact && !q->r.symbols.n;
  if (!exact || !tirc_z_sample(z, tirc_z_minus(z, asked, there), &p)) return ANSWER_UNKNOWN;
  *missing = text_of(q, &p);
  return ANSWER_NO;
}

static bool covers(Cover *q, const char **missing) {
  const ArenaMark mark = tirc_mark(q->s->c);
  *missing = NULL;
  tirc_sets_begin(q->r.sets, SETS_BUDGET);
  tirc_leave_out_common(&q->r, &q->x.touches, &q->box);
  Answer answer = ask(q, missing);
  if (answer == ANSWER_NO) { /* with all indices, for what is missing is told */
    q->r.common = (PtrMap){0};
    answer = ask(q, missing);
  }
  tirc_sets_end(q->r.sets);
  const bool all = answer == ANSWER_YES ||
                   (answer == ANSWER_UNKNOWN && tirc_finite_cover(&q->x, &q->box, missing));
  if (all) tirc_rewind(q->s->c, mark);
  return all;
}

const char *tirc_missing_text(Tirc *c, const char *missing) {
  return missing ? tirc_format(c, "%s is left out", missing) : "not provable";
}

/* --- elements --------------------------------------------------------------------------------- */

/* All the time where `in` is. */
static bool body_writes(Sched *s, SRef *block, Place *in, const Region *box) {
  const char *missing;
  Cover q = cover(s, block, in, box->buffer);
  q.x.self = &q;
  const Stmt plain = tirc_without_views(s->c, block->stmt);
  tirc_extract(&q.x, q.in, block->stmt, plain, NULL, plain->u.block.body);
  box_of_ranges(&q, box->buffer->ndim, box->dims, box->buffer->shape);
  return covers(&q, &missing);
}

Region tirc_box_in_one_run(Sched *s, SRef *scope, SRef *block, Region one, SRef *within) {
  Tirc *c = s->c;
  const int n = one.buffer->ndim;
  Range *dims = tirc_new_array(c, Range, n + 1);
  Analyzer *a = tirc_analyzer_around(s, block->parent);
  tirc_bind_shapes(s, a, scope);
  const Region in_loops = tirc_unbound_region(c, block->stmt, one);
  const IntSet *box =
      tirc_region_upper(s, a, in_loops, tirc_block_of(block)->predicate, block->parent, within);
  for (int i = 0; i < n; i++)
    dims[i] = tirc_range_of_set(
        a, box[i], tirc_range(tirc_int(c, in_loops.dims[i].min->dtype, 0), one.buffer->shape[i]));
  return (Region){one.buffer, dims};
}

/* Numbers of the loops around are many, and seldom needed. */
bool tirc_writes_box(Sched *s, SRef *block, const Region *box) {
  return sees_written(tirc_block_of(block)->body, box) ||
         body_writes(s, block, tirc_place_of_instance(s->c, block), box) ||
         body_writes(s, block, tirc_place_in(s->c, block), box);
}

bool tirc_nest_writes_box(Sched *s, SRef *block, SRef *within, Expr condition, const Region *box,
                          const char **missing) {
  const char *unused;
  const Region *declared = tirc_declared_write(tirc_block_of(block), box->buffer);
  if (sees_nest_written(s, block, within, condition, box) && tirc_writes_box(s, block, declared))
    return true;
  Cover q = cover(s, block, tirc_place_in(s->c, within), box->buffer);
  q.x.self = &q;
  q.in = tirc_place_when(s->c, q.in, condition, false);
  tirc_extract(&q.x, tirc_place_below(s->c, q.in, within, block), block->stmt, NULL, NULL,
               tirc_without_views(s->c, block->stmt));
  box_of_ranges(&q, box->buffer->ndim, box->dims, box->buffer->shape);
  return covers(&q, missing ? missing : &unused);
}

/* --- instances -------------------------------------------------------------------------------- */

static bool is_of(const PtrMap *of, Expr var) { return !of || tirc_map_has(of, var); }

bool tirc_reaches_domain(Sched *s, SRef *block, const PtrMap *of, const char **missing) {
  if (sees_domain_reached(s, block)) return true;
  Tirc *c = s->c;
  const char *unused;
  if (!missing) missing = &unused;
  *missing = NULL;
  if (tirc_loop_of_domain(block)) return false; /* what all is, depends on when */
  const Block *b = tirc_block_of(block);
  SRef *scope = tirc_scope_root(block);
  struct BufferNode instances = {.name = b->name};
  Cover q = cover(s, scope, tirc_place_in(s->c, scope), &instances);
  Touch run = {.buffer = q.of, .write = true};
  Expr *values = tirc_new_array(c, Expr, b->n_iters + 1);
  Range *doms = tirc_new_array(c, Range, b->n_iters + 1);
  for (int i = 0; i < b->n_iters; i++) {
    if (!is_of(of, b->iters[i].var)) continue;
    values[run.n] = b->iter_values[i];
    doms[run.n++] = b->iters[i].dom;
  }
  instances.ndim = run.n;
  run.indices = values;
  run.at = tirc_place_when(c, tirc_place_below(c, q.in, scope, block), b->predicate, false);
  vec_push(c, q.x.touches, run);
  box_of_ranges(&q, run.n, doms, NULL);
  return covers(&q, missing);
}

/* --- predicates ------------------------------------------------------------------------------- */

static ZMap as_map(Cover *q, Place *p) {
  return tirc_z_map(q->r.sets, tirc_reached(&q->r, p), 0, NULL, NULL);
}

bool tirc_domain_implies_predicate(Sched *s, SRef *block) {
  if (sees_domain_implies_predicate(s, block)) return true;
  Tirc *c = s->c;
  const ArenaMark mark = tirc_mark(c);
  const Block *b = tirc_block_of(block);
  SRef *scope = tirc_scope_root(block);
  Cover q = cover(s, scope, tirc_place_in(s->c, scope), NULL);
  Place *in = tirc_place_below(c, q.in, scope, block);
  for (int i = 0; i < b->n_iters; i++)
    in = tirc_place_within(c, in, b->iter_values[i], b->iters[i].dom);
  Place *where = tirc_place_when(c, in, b->predicate, false);
  tirc_sets_begin(q.r.sets, SETS_BUDGET);
  const ZMap domain = as_map(&q, in);
  in->is_exact = true;
  const ZMap both = as_map(&q, where);
  const bool implied = where->is_exact && tirc_z_is_subset(q.r.sets, domain, both) == ANSWER_YES;
  tirc_sets_end(q.r.sets);
  tirc_rewind(c, mark);
  return implied;
}
