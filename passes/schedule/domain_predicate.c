/* A non-dividing split adds a predicate to the blocks below it:
 *
 *     v = T.axis.spatial(100, i_0 * 16 + i_1)
 *     T.where(i_0 * 16 + i_1 < 100)
 *
 * That is the iterator's domain said once more, so it need not be carried along when the loops are
 * made anew; a condition that somebody wrote may say something else. Here the two are told apart. A
 * bound on a part of a binding follows too: value = 4 * x + r with r >= 0 and value < 100 give x
 * < 25. */
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

/* Whether an iterator, as the map gives it, takes each value of its domain. */
static bool fills(const IterSum *sum, Range dom) {
  int64_t base, min, extent, all = 1;
  if (!tirc_const_int(sum->base, &base) || !tirc_const_int(dom.min, &min) ||
      !tirc_const_int(dom.extent, &extent))
    return false;
  for (int i = 0; i < sum->n; i++) {
    int64_t n, scale;
    if (!tirc_const_int(sum->args[i].extent, &n) || !tirc_const_int(sum->args[i].scale, &scale) ||
        scale != all)
      return false;
    all *= n;
  }
  return base == min && all == extent;
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

/* The second of two iterators that stand on one loop and do not take all pairs of values. */
static Expr tied_iter(Sched *s, const Block *b, const LoopDomain *loops) {
  Expr tied = NULL;
  for (int l = 0; l < loops->n && !tied; l++)
    for (int i = 0, n = 0; i < b->n_iters; i++)
      if (!tirc_is_int(b->iters[i].dom.extent, 1) &&
          tirc_uses_var(b->iter_values[i], loops->vars[l]) && n++)
        tied = b->iters[i].var;
  for (int with = 0; with < 2 && tied; with++)
    if (tirc_detect_iter_map(tirc_analyzer(s->c), b->n_iters, b->iter_values, loops->n, loops->vars,
                             loops->doms, with ? b->predicate : NULL, ITER_LEVEL_SURJECTIVE, true,
                             NULL))
      tied = NULL;
  return tied;
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
  if (!tirc_uses_var(r->value, var)) return run_binding(r, depth + 1);
  if (!tirc_eval_index(&r->env, r->loops->doms[loop].min, &min) ||
      !tirc_eval_index(&r->env, r->loops->doms[loop].extent, &extent))
    return false;
  for (int64_t i = 0; i < extent; i++) {
    tirc_eval_give(&r->env, var, min + i);
    if (!run_binding(r, depth + 1)) return false;
  }
  return true;
}

/* Of a binding that is no affine one, as min(2 * i, 3): found by running it. */
static bool misses_values(Sched *s, const LoopDomain *loops, Expr value, int64_t min,
                          int64_t extent) {
  enum { MOST = 1 << 14 };
  if (value->op == OP_VAR || extent > MOST) return false;
  ArenaMark mark = tirc_mark(s->c);
  Reached r = {.env = {.c = s->c},
               .value = value,
               .loops = loops,
               .min = min,
               .extent = extent,
               .left = (int)extent,
               .steps = MOST};
  r.hit = tirc_new_array(s->c, bool, (int)extent + 1);
  const bool misses = run_binding(&r, 0) && r.left > 0;
  tirc_rewind(s->c, mark);
  return misses;
}

typedef struct Ends { /* what decides where a loop ends */
  Sched *s;
  SRef *scope;
  PtrMap moving; /* variables of loops, blocks and lets around */
  Range dom;     /* of an iterator on it */
  Expr load;     /* to be found in the domain, too */
  bool more;     /* something that does not decide where the domain ends */
} Ends;

static bool see_same_load(Visitor *v, Expr e) {
  Ends *k = v->self;
  if (k->load && e->op == OP_LOAD && tirc_expr_same(e, k->load)) k->load = NULL;
  return true;
}

static bool is_in_domain(Ends *k, Expr load) {
  SRef **writers;
  Visitor v = {.expr = see_same_load, .self = k};
  k->load = load;
  tirc_visit_expr(&v, k->dom.min);
  tirc_visit_expr(&v, k->dom.extent);
  return !k->load && !tirc_writers_of(k->s, k->scope, load->u.buffer, &writers);
}

static bool see_end(Visitor *v, Expr e) {
  Ends *k = v->self;
  if (e->op == OP_LOAD && is_in_domain(k, e)) return false;
  k->more |=
      e->op == OP_LOAD || (e->op == OP_VAR && tirc_map_has(&k->moving, e) &&
                           !tirc_uses_var(k->dom.min, e) && !tirc_uses_var(k->dom.extent, e));
  return !k->more;
}

static bool is_constant(Range r) {
  int64_t min, extent;
  return tirc_const_int(r.min, &min) && tirc_const_int(r.extent, &extent);
}

/* An iterator that stands on a loop which ends at a variable, as the loops of a triangle do, and
 * those at an iterator of a block around: its domain holds more than that, unless it ends there,
 * too. */
static Expr dependent_iter(Sched *s, SRef *block, const LoopDomain *loops) {
  const Block *b = tirc_block_of(block);
  Ends k = {.s = s, .scope = tirc_scope_root(s, block)};
  for (int i = 0; i < b->n_iters; i++)
    for (int l = 0; l < loops->n; l++) {
      if (is_constant(loops->doms[l]) || !tirc_uses_var(b->iter_values[i], loops->vars[l]))
        continue;
      if (!k.moving.n) k.moving = moving_around(s, block);
      k.dom = b->iters[i].dom;
      tirc_visit_expr(&(Visitor){.expr = see_end, .self = &k}, loops->doms[l].min);
      tirc_visit_expr(&(Visitor){.expr = see_end, .self = &k}, loops->doms[l].extent);
      if (k.more) return b->iters[i].var;
    }
  return NULL;
}

static bool names_symbol(Expr value, const LoopDomain *loops) {
  FromOutside f = {.loops = loops, .any = true};
  tirc_visit_expr(&(Visitor){.expr = see_outside, .self = &f}, value);
  return f.found;
}

static bool reaches_all(Tirc *c, Analyzer *a, const IterMap *map, int i, Range dom) {
  const IterSum *sum = &map->indices[i];
  if (!tirc_is_int(map->padding_predicate, 0) || sum->n > 1 ||
      (sum->n && !tirc_is_int(sum->args[0].scale, 1)))
    return false;
  const Expr reach = sum->n ? sum->args[0].extent : tirc_int(c, dom.extent->dtype, 1);
  return tirc_prove_equal(a, sum->base, dom.min) &&
         tirc_prove_symbolic(a, tirc_binary(c, OP_GE, reach, dom.extent));
}

/* Where loops, domains or bindings are symbolic: an iterator that does not provably take all values
 * of its domain. */
static Expr short_iter(Sched *s, SRef *block, const LoopDomain *loops) {
  const Block *b = tirc_block_of(block);
  bool symbolic = false;
  for (int l = 0; l < loops->n; l++) symbolic |= !is_constant(loops->doms[l]);
  for (int i = 0; i < b->n_iters; i++)
    symbolic |= !is_constant(b->iters[i].dom) || names_symbol(b->iter_values[i], loops);
  Expr missed = NULL;
  Analyzer *a = tirc_analyzer(s->c);
  tirc_bind_shapes(s, a, block);
  for (int with = 0; symbolic && with < 2 && (missed || !with); with++) {
    const IterMap *map =
        tirc_detect_iter_map(a, b->n_iters, b->iter_values, loops->n, loops->vars, loops->doms,
                             with ? b->predicate : NULL, ITER_LEVEL_SURJECTIVE, true, NULL);
    missed = NULL;
    for (int i = 0; i < b->n_iters && !missed; i++)
      if (map ? !reaches_all(s->c, a, map, i, b->iters[i].dom) : b->iter_values[i]->op != OP_VAR)
        missed = b->iters[i].var;
  }
  return missed;
}

Expr tirc_unreached_iter(Sched *s, SRef *block) {
  const Block *b = tirc_block_of(block);
  Analyzer *a = tirc_analyzer_of_loops(s, block, NULL);
  const LoopDomain loops = tirc_loop_domain(s, block->parent, NULL, NULL);
  for (int i = 0; i < b->n_iters; i++) {
    Range dom = b->iters[i].dom;
    Bound reached = tirc_const_bound(a, b->iter_values[i]);
    int64_t min, extent;
    if (tirc_const_int(dom.min, &min) && tirc_const_int(dom.extent, &extent) &&
        (reached.min > min || reached.max < min + extent - 1 ||
         (extent > 1 && tirc_reads_memory(b->iter_values[i])) ||
         (!block->affine_binding && misses_values(s, &loops, b->iter_values[i], min, extent))))
      return b->iters[i].var;
  }
  const Expr outer = tirc_outer_iter(s, block), dependent = dependent_iter(s, block, &loops);
  if (outer || dependent) return outer ? outer : dependent;
  const Expr tied = tied_iter(s, b, &loops);
  return tied ? tied : short_iter(s, block, &loops);
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

/* Whether each part of the condition is about a loop; a map of the loops says nothing of others. */
static bool is_about_loops(Expr cond, const LoopDomain *loops) {
  if (cond->op == OP_AND)
    return is_about_loops(cond->args[0], loops) && is_about_loops(cond->args[1], loops);
  bool about = tirc_is_true(cond);
  for (int i = 0; i < loops->n && !about; i++) about = tirc_uses_var(cond, loops->vars[i]);
  return about;
}

bool tirc_predicate_keeps_all(Sched *s, SRef *block) {
  if (tirc_domain_implies_predicate(s, block)) return true;
  const Block *b = tirc_block_of(block);
  LoopDomain d = tirc_loop_domain(s, block->parent, NULL, NULL);
  if (!is_about_loops(b->predicate, &d)) return false;
  const IterMap *map =
      tirc_detect_iter_map(tirc_analyzer(s->c), b->n_iters, b->iter_values, d.n, d.vars, d.doms,
                           b->predicate, ITER_LEVEL_SURJECTIVE, true, NULL);
  for (int i = 0; map && i < b->n_iters; i++)
    if (!fills(&map->indices[i], b->iters[i].dom)) return false;
  return map != NULL;
}
