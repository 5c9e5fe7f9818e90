/* A non-dividing split adds a predicate to the blocks below it:
 *
 *     v = T.axis.spatial(100, i_0 * 16 + i_1)
 *     T.where(i_0 * 16 + i_1 < 100)
 *
 * That is the iterator's domain said once more, so it need not be carried along when the loops are
 * made anew; a condition that somebody wrote may say something else. Here the two are told apart. A
 * bound on a part of a binding follows too: value = 4 * x + r with r >= 0 and value < 100 give x
 * < 25.
 *
 * A block that moves gets loops over all of its domains. So it must have run for all of them, too.
 * What a block wrote is copied from a cache in boxes. So a condition on a loop that chooses no
 * element must leave of it at least one iteration. */
#include "../../ir/visit.h"
#include "between.h"
#include "compute_at.h"
#include "index_eval.h"
#include "internal.h"

typedef struct Implication {
  Tirc *c;
  Analyzer *a;   /* the loops; with the domains as constraints */
  Analyzer *raw; /* the loops only */
  const Block *block;
} Implication;

static bool first_var(Visitor *v, Expr e) {
  Expr *out = v->self;
  if (e->op == OP_VAR && !*out) *out = e;
  return true;
}

/* By how much e grows when var does by one, when that is a constant. */
static bool slope(Implication *m, Expr e, Expr var, int64_t *out) {
  Expr next = tirc_substitute1(m->c, e, var, tirc_add(m->c, var, tirc_int(m->c, var->dtype, 1)));
  return tirc_const_int(tirc_simplify0(m->c, tirc_sub(m->c, next, e)), out);
}

/* x < n follows from value < end. */
static bool follows(Implication *m, Expr x, int64_t n, Expr value, int64_t end) {
  Expr var = NULL;
  Visitor v = {.expr = first_var, .self = &var};
  tirc_visit_expr(&v, x);
  int64_t of_x, of_value;
  if (!var || !slope(m, x, var, &of_x) || !slope(m, value, var, &of_value)) return false;
  if (of_x == 0 || of_value % of_x || of_value / of_x <= 0) return false;
  int64_t factor = of_value / of_x;
  Expr scaled = tirc_mul(m->c, x, tirc_int(m->c, x->dtype, factor));
  Expr rest = tirc_simplify(m->raw, tirc_sub(m->c, value, scaled));
  if (tirc_const_bound(m->raw, rest).min < 0) return false;
  return end > 0 && (end - 1) / factor < n;
}

static bool conjunct_follows(Implication *m, Expr e) {
  if (e->op == OP_AND) return conjunct_follows(m, e->args[0]) && conjunct_follows(m, e->args[1]);
  if (tirc_prove(m->a, e)) return true;
  int64_t n, min, extent;
  if (e->op != OP_LT || !tirc_const_int(e->args[1], &n)) return false;
  for (int i = 0; i < m->block->n_iters; i++) {
    Range dom = m->block->iters[i].dom;
    if (tirc_const_int(dom.min, &min) && tirc_const_int(dom.extent, &extent) &&
        follows(m, e->args[0], n, m->block->iter_values[i], min + extent))
      return true;
  }
  return false;
}

typedef struct Bindings {
  int n;
  Expr *vars, *values;
  Range *doms; /* to be filled; without an extent: one value is enough */
} Bindings;

static void add_binding(Bindings *b, Expr var, Expr value, Range dom) {
  b->vars[b->n] = var;
  b->values[b->n] = value;
  b->doms[b->n++] = dom;
}

static Bindings no_bindings(Tirc *c, int most) {
  return (Bindings){.vars = tirc_new_array(c, Expr, most + 1),
                    .values = tirc_new_array(c, Expr, most + 1),
                    .doms = tirc_new_array(c, Range, most + 1)};
}

/* Those of a block's iterators of more than one value. */
static Bindings bindings_of(Tirc *c, const Block *b) {
  Bindings out = no_bindings(c, b->n_iters);
  for (int i = 0; i < b->n_iters; i++)
    if (!tirc_is_int(b->iters[i].dom.extent, 1))
      add_binding(&out, b->iters[i].var, b->iter_values[i], b->iters[i].dom);
  return out;
}

/* The loops that only the predicate is about: it may skip all of their iterations. */
static void add_unbound(Bindings *b, Expr predicate, const LoopDomain *loops) {
  for (int l = 0; l < loops->n; l++) {
    bool bound = !tirc_uses_var(predicate, loops->vars[l]);
    for (int i = 0; i < b->n && !bound; i++) bound = tirc_uses_var(b->values[i], loops->vars[l]);
    if (!bound) add_binding(b, loops->vars[l], loops->vars[l], (Range){0});
  }
}

/* Those of all iterators, and of such loops. */
static Bindings bindings_and_loops(Tirc *c, const Block *b, const LoopDomain *loops) {
  Bindings out = no_bindings(c, b->n_iters + loops->n);
  for (int i = 0; i < b->n_iters; i++)
    add_binding(&out, b->iters[i].var, b->iter_values[i], b->iters[i].dom);
  add_unbound(&out, b->predicate, loops);
  return out;
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
  bool any; /* symbols of the function, too */
  bool found;
} FromOutside;

static bool see_outside(Visitor *v, Expr e) {
  FromOutside *f = v->self;
  f->found |=
      e->op == OP_VAR && (f->any || tirc_map_has(&f->moving, e)) && !tirc_is_about(e, f->loops);
  return true;
}

Expr tirc_outer_iter(Sched *s, SRef *block) {
  const Block *b = tirc_block_of(block);
  const LoopDomain loops = tirc_loop_domain(s, block->parent, NULL, NULL);
  FromOutside f = {.loops = &loops, .moving = moving_around(s, block)};
  for (int i = 0; i < b->n_iters; i++) {
    if (tirc_is_int(b->iters[i].dom.extent, 1)) continue;
    tirc_visit_expr(&(Visitor){.expr = see_outside, .self = &f}, b->iter_values[i]);
    if (f.found) return b->iters[i].var;
  }
  return NULL;
}

typedef struct Reached { /* the values that a binding takes */
  IndexEval env;
  Expr value;
  const LoopDomain *loops;
  int64_t min, extent;
  bool *hit;
  int left, steps;
} Reached;

static bool run_binding(Reached *r, int depth) {
  int64_t min, extent, at;
  if (depth == r->loops->n) {
    if (!tirc_eval_index(&r->env, r->value, &at)) return false;
    at -= r->min;
    if (at >= 0 && at < r->extent && !r->hit[at]) r->hit[at] = r->left-- > 0;
    return r->steps-- > 0;
  }
  const int loop = r->loops->n - 1 - depth;
  const Expr var = r->loops->vars[loop];
  if (!tirc_eval_index(&r->env, r->loops->doms[loop].min, &min) ||
      !tirc_eval_index(&r->env, r->loops->doms[loop].extent, &extent))
    return false;
  for (int64_t i = 0; i < extent; i++) {
    tirc_eval_give(&r->env, var, min + i);
    if (!run_binding(r, depth + 1)) return false;
  }
  return true;
}

static bool names_others(Expr e, const LoopDomain *loops) {
  FromOutside f = {.loops = loops, .any = true};
  tirc_visit_expr(&(Visitor){.expr = see_outside, .self = &f}, e);
  return f.found;
}

/* Of a binding that is no affine one, as min(2 * i, 3): found by running it. */
static bool runs_through(Tirc *c, const LoopDomain *loops, Expr value, Range dom) {
  enum { MOST = 1 << 14 };
  int64_t min, extent;
  bool closed = tirc_const_int(dom.min, &min) && tirc_const_int(dom.extent, &extent) &&
                extent <= MOST && !names_others(value, loops);
  for (int l = 0; l < loops->n && closed; l++)
    closed =
        !names_others(loops->doms[l].min, loops) && !names_others(loops->doms[l].extent, loops);
  if (!closed) return false;
  ArenaMark mark = tirc_mark(c);
  Reached r = {.env = {.c = c},
               .value = value,
               .loops = loops,
               .min = min,
               .extent = extent,
               .left = (int)extent,
               .steps = MOST};
  r.hit = tirc_new_array(c, bool, (int)extent + 1);
  const bool all = run_binding(&r, 0) && r.left == 0;
  tirc_rewind(c, mark);
  return all;
}

/* Whether an iterator does so that shares no loop with another one. */
static bool fills_alone(Tirc *c, Analyzer *a, const Bindings *b, int at, const LoopDomain *loops) {
  LoopDomain own = {0, tirc_new_array(c, Expr, loops->n + 1),
                    tirc_new_array(c, Range, loops->n + 1)};
  for (int l = 0; l < loops->n; l++) {
    if (!tirc_uses_var(b->values[at], loops->vars[l])) continue;
    for (int i = 0; i < b->n; i++)
      if (i != at && tirc_uses_var(b->values[i], loops->vars[l])) return false;
    own.vars[own.n] = loops->vars[l];
    own.doms[own.n++] = loops->doms[l];
  }
  const Bindings one = {1, &b->vars[at], &b->values[at], &b->doms[at]};
  return fill_together(c, a, &one, &own, NULL) || runs_through(c, &own, b->values[at], b->doms[at]);
}

/* An iterator on a loop that ends at a number in memory which the scope changes: the domain may end
 * at another one. */
static Expr loaded_iter(Sched *s, SRef *block, const Bindings *b, const LoopDomain *loops) {
  SRef *scope = tirc_scope_root(s, block);
  for (int i = 0; i < b->n; i++)
    for (int l = 0; l < loops->n; l++)
      if (tirc_uses_var(b->values[i], loops->vars[l]) &&
          (tirc_reads_written(s, scope, loops->doms[l].min) ||
           tirc_reads_written(s, scope, loops->doms[l].extent)))
        return b->vars[i];
  return NULL;
}

Expr tirc_unreached_iter(Sched *s, SRef *block) {
  const Block *b = tirc_block_of(block);
  const LoopDomain loops = tirc_loop_domain(s, block->parent, NULL, NULL);
  const Bindings of = bindings_of(s->c, b);
  const Expr outer = tirc_outer_iter(s, block), loaded = loaded_iter(s, block, &of, &loops);
  if (outer || loaded) return outer ? outer : loaded;
  Analyzer *a = tirc_analyzer(s->c);
  tirc_bind_shapes(s, a, block);
  if (fill_together(s->c, a, &of, &loops, NULL) ||
      fill_together(s->c, a, &of, &loops, b->predicate))
    return NULL;
  for (int i = 0; i < of.n; i++)
    if (!fills_alone(s->c, a, &of, i, &loops)) return of.vars[i];
  return NULL;
}

bool tirc_domain_implies_predicate(Sched *s, SRef *block) {
  const Block *b = tirc_block_of(block);
  if (tirc_is_true(b->predicate)) return true;
  Tirc *c = s->c;
  Implication m = {c, tirc_analyzer_of_loops(s, block, NULL),
                   tirc_analyzer_of_loops(s, block, NULL), b};
  for (int i = 0; i < b->n_iters; i++) {
    Range dom = b->iters[i].dom;
    Expr end = tirc_add(c, dom.min, dom.extent);
    tirc_enter_constraint(m.a, tirc_binary(c, OP_GE, b->iter_values[i], dom.min));
    tirc_enter_constraint(m.a, tirc_lt(c, b->iter_values[i], end));
    for (Expr e = b->iter_values[i];
         e->op == OP_FLOORDIV && tirc_prove_ge(m.raw, e->args[1], tirc_int(c, e->dtype, 1));
         e = e->args[0]) { /* f // 48 < n is f < n * 48 */
      end = tirc_mul(c, end, e->args[1]);
      tirc_enter_constraint(m.a, tirc_simplify(m.raw, tirc_lt(c, e->args[0], end)));
    }
  }
  return conjunct_follows(&m, b->predicate);
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

bool tirc_predicate_keeps_all(Sched *s, SRef *block) {
  if (tirc_domain_implies_predicate(s, block)) return true;
  const Block *b = tirc_block_of(block);
  LoopDomain d = tirc_loop_domain(s, block->parent, NULL, NULL);
  if (!is_about_loops(b->predicate, &d)) return false;
  const Bindings of = bindings_and_loops(s->c, b, &d);
  return fill_together(s->c, tirc_analyzer(s->c), &of, &d, b->predicate);
}

/* Whether numbers alone decide the condition, so that one run of the loops is like all others. */
static bool is_of_numbers(Expr cond, const LoopDomain *loops) {
  bool of = !names_others(cond, loops) && !tirc_reads_memory(cond);
  for (int l = 0; l < loops->n && of; l++)
    of = !tirc_uses_var(cond, loops->vars[l]) ||
         (!names_others(loops->doms[l].min, loops) && !names_others(loops->doms[l].extent, loops));
  return of;
}

/* Those of the iterators on these loops and on none of the others, and of the loops without such an
 * iterator; one value of each is enough. */
static Bindings one_of_each(Tirc *c, const Block *b, const LoopDomain *idle,
                            const LoopDomain *others) {
  Bindings out = no_bindings(c, b->n_iters + idle->n);
  for (int i = 0; i < b->n_iters; i++)
    if (uses_loop(b->iter_values[i], idle) && !uses_loop(b->iter_values[i], others))
      add_binding(&out, b->iters[i].var, b->iter_values[i], (Range){0});
  add_unbound(&out, b->predicate, idle);
  return out;
}

static bool holds_at_end(Tirc *c, Analyzer *a, Expr cond, const LoopDomain *loops, bool last) {
  PtrMap at = {0};
  for (int l = 0; l < loops->n; l++) {
    const Range dom = loops->doms[l];
    Expr end = tirc_sub(c, tirc_add(c, dom.min, dom.extent), tirc_int(c, dom.min->dtype, 1));
    tirc_map_set(c, &at, loops->vars[l], last ? end : dom.min);
  }
  return tirc_prove(a, tirc_substitute(c, cond, &at));
}

/* Of a loop or domain: as everywhere, an extent that is not known is taken to be at least 1. */
static void expect_some(Tirc *c, Analyzer *a, Expr extent) {
  tirc_enter_constraint(a, tirc_binary(c, OP_GE, extent, tirc_int(c, extent->dtype, 1)));
}

static bool uses_loop_of(Region r, Expr var) {
  bool uses = false;
  for (int d = 0; d < r.buffer->ndim && !uses; d++)
    uses = tirc_uses_var(r.dims[d].min, var) || tirc_uses_var(r.dims[d].extent, var);
  return uses;
}

static bool leaves_some(Sched *s, SRef *block, SRef *high, Region region) {
  Tirc *c = s->c;
  const Block *b = tirc_block_of(block);
  const LoopDomain all = tirc_loop_domain(s, block->parent, NULL, NULL);
  const LoopDomain below = tirc_loop_domain(s, block->parent, high, NULL);
  LoopDomain idle = {0, tirc_new_array(c, Expr, all.n + 1), tirc_new_array(c, Range, all.n + 1)};
  LoopDomain others = {0, tirc_new_array(c, Expr, all.n + 1), tirc_new_array(c, Range, all.n + 1)};
  PtrMap skipped = {0};
  for (int l = 0; l < all.n; l++) {
    const bool is_idle = l < below.n && tirc_uses_var(b->predicate, all.vars[l]) &&
                         !uses_loop_of(region, all.vars[l]);
    LoopDomain *to = is_idle ? &idle : &others;
    to->vars[to->n] = all.vars[l];
    to->doms[to->n++] = all.doms[l];
    if (is_idle) tirc_map_set(c, &skipped, all.vars[l], block);
  }
  const Expr cond = tirc_conjuncts(c, b->predicate, &skipped, true);
  if (is_of_numbers(cond, &all)) return true;
  Analyzer *a = tirc_analyzer_around(s, block->parent);
  tirc_bind_shapes(s, a, block);
  for (int l = 0; l < idle.n; l++) expect_some(c, a, idle.doms[l].extent);
  for (int i = 0; i < b->n_iters; i++) expect_some(c, a, b->iters[i].dom.extent);
  tirc_enter_constraint(a, tirc_conjuncts(c, b->predicate, &skipped, false));
  const Bindings of = one_of_each(c, b, &idle, &others);
  return holds_at_end(c, a, cond, &idle, false) || holds_at_end(c, a, cond, &idle, true) ||
         fill_together(c, a, &of, &below, b->predicate);
}

/* Where blocks inside write for it, the predicate of one of them must do so, too. */
bool tirc_predicate_leaves_some(Sched *s, SRef *block, SRef *high, Region region) {
  if (!leaves_some(s, block, high, region)) return false;
  SRef **inner;
  const int n = tirc_block_of(block)->init ? 0 : tirc_child_blocks(s, block, &inner);
  bool any = false;
  for (int i = 0; i < n; i++) {
    const Region *written = tirc_declared_write(tirc_block_of(inner[i]), region.buffer);
    if (!written) continue;
    PtrMap bindings = {0};
    tirc_bindings_of(s->c, inner[i]->stmt, &bindings);
    const Region at = tirc_substitute_region(s->c, *written, &bindings);
    if (tirc_predicate_leaves_some(s, inner[i], block, at)) return true;
    any = true;
  }
  return !any;
}
