/* From the boxes that are required inside of a loop to the domain of each block iterator.
 *
 * The index expressions of a block are functions of its iterators, one a buffer dimension. Where
 * together they are a bijective affine map, the map is inverted and applied to the corners of the
 * required box. Otherwise each dimension is solved for the one iterator in it: v * e, v // e, v % e
 * and nests of these. What falls outside of the buffer or of the iterator's own domain is no part
 * of `dom` but of `bound`: it is cut off where the result stays constant, and by a predicate
 * elsewhere. */
#include "moves.h"

/* What the block and the blocks that depend on it do to one buffer. */
typedef struct Touched {
  Buffer buffer;
  IntSet *provided, *required; /* boxes, one set a dimension; NULL: nothing yet */
  PtrMap solved;               /* iterator variables of which it says which values are required */
} Touched;

typedef struct Solver {
  Sched *s;
  Tirc *c;
  Analyzer *a;     /* the loops above */
  Analyzer *blank; /* knows nothing: sets are first computed without context */
  SRef *sref;
  Stmt block;
  PtrMap doms; /* iterator variable -> IterDomain */
} Solver;

static Expr simplify_or_inf(Analyzer *a, Expr e) { return e ? tirc_simplify(a, e) : NULL; }
static IntSet simplify_set(Analyzer *a, IntSet s) {
  return (IntSet){simplify_or_inf(a, s.min), simplify_or_inf(a, s.max)};
}
static bool prove_same(Analyzer *a, Expr x, Expr y) {
  return x == y || (x && y && tirc_prove_equal(a, x, y));
}
static bool is_point(Analyzer *a, IntSet s) { return s.min && prove_same(a, s.min, s.max); }
static Expr less_one(Solver *v, Expr e) { return tirc_sub(v->c, e, tirc_int(v->c, e->dtype, 1)); }

static void add_box(Solver *v, IntSet **to, int ndim, const IntSet *dims) {
  for (int i = 0; *to && i < ndim; i++)
    (*to)[i] = simplify_set(v->blank, tirc_set_union(v->blank, (*to)[i], dims[i]));
  if (!*to) memcpy(*to = tirc_new_array(v->c, IntSet, ndim + 1), dims, (size_t)ndim * sizeof *dims);
}

/* --- regions ----------------------------------------------------------------------------- */

/* Whether the index can be computed wherever the block may come to stand. One that is loaded under
 * a predicate, or from a buffer that the scope computes, may be any elsewhere; and one that divides
 * or loads behind a condition may fail. */
static bool is_known_always(Solver *v, SRef *other, SRef *loop, Expr index, bool guarded) {
  if (guarded && tirc_reads_memory(index)) return false;
  Analyzer *a = tirc_analyzer_around(v->s, other->parent);
  return !tirc_reads_written(tirc_scope_root(v->sref), index) &&
         !tirc_failing_part(v->s, loop, a, index, tirc_body_of(loop->stmt));
}

static void relax_region(Solver *v, SRef *other, SRef *loop, const Region *r, bool by_scope,
                         IntSet **to) {
  PtrMap binding = {0};
  tirc_bindings_of(v->c, other->stmt, &binding);
  const LoopDomain loops =
      tirc_loop_domain(v->s, other->parent, loop, by_scope ? r->buffer->storage : STORAGE_GLOBAL);
  const PtrMap dom = tirc_domain_sets(v->c, loops);
  IntSet *dims = tirc_new_array(v->c, IntSet, r->buffer->ndim + 1);
  const bool guarded = !tirc_is_true(other->stmt->u.block.predicate);
  for (int i = 0; i < r->buffer->ndim; i++) {
    Expr min = tirc_substitute(v->c, r->dims[i].min, &binding);
    Expr extent = tirc_substitute(v->c, r->dims[i].extent, &binding);
    Expr max = tirc_simplify(v->blank, tirc_add(v->c, min, less_one(v, extent)));
    if (is_known_always(v, other, loop, tirc_add(v->c, min, extent), guarded))
      dims[i] = loops.n ? (IntSet){tirc_eval_set(v->blank, min, &dom).min,
                                   tirc_eval_set(v->blank, max, &dom).max}
                        : (IntSet){min, max};
    else
      dims[i] =
          tirc_set_of_range(v->c, (Range){tirc_int(v->c, min->dtype, 0), r->buffer->shape[i]});
  }
  add_box(v, to, r->buffer->ndim, dims);
}

static Touched *find_touched(Touched *at, int n, Buffer b) {
  for (int i = 0; i < n; i++)
    if (at[i].buffer == b) return &at[i];
  return NULL;
}

/* Of what a block does not declare, it may be all. */
static void require_all(Solver *v, Touched *t) {
  IntSet *dims = tirc_new_array(v->c, IntSet, t->buffer->ndim + 1);
  for (int d = 0; d < t->buffer->ndim; d++)
    dims[d] = tirc_set_of_range(v->c, tirc_whole_dim(v->c, t->buffer, d));
  add_box(v, &t->required, t->buffer->ndim, dims);
}

static int collect_touched(Solver *v, SRef *loop, bool is_producer, SRefs others, Touched **out) {
  const Block *b = &v->block->u.block;
  const Regions own = tirc_declared(b, is_producer);
  int n = 0;
  Touched *at = tirc_new_array(v->c, Touched, own.n + 1);
  for (int i = 0; i < own.n; i++) {
    Touched *t = find_touched(at, n, own.at[i].buffer);
    if (!t) (t = &at[n++])->buffer = own.at[i].buffer;
    IntSet *dims = tirc_new_array(v->c, IntSet, t->buffer->ndim + 1);
    for (int d = 0; d < t->buffer->ndim; d++) dims[d] = tirc_set_of_range(v->c, own.at[i].dims[d]);
    add_box(v, &t->provided, t->buffer->ndim, dims);
  }
  for (int k = 0; k < others.n; k++) {
    const Regions theirs = tirc_declared(tirc_block_of(others.at[k]), !is_producer);
    for (int i = 0; i < theirs.n; i++) {
      Touched *t = find_touched(at, n, theirs.at[i].buffer);
      if (!t) continue;
      Region r = theirs.at[i];
      if (!is_producer) r = tirc_written_region(v->s, others.at[k], &r);
      relax_region(v, others.at[k], loop, &r, is_producer, &t->required);
    }
    for (int i = theirs.n; i < others.at[k]->n_accesses[!is_producer]; i++) {
      Touched *t = find_touched(at, n, others.at[k]->accesses[!is_producer][i].buffer);
      if (t) require_all(v, t);
    }
  }
  *out = at;
  return n;
}

/* --- solving ----------------------------------------------------------------------------- */

#define not_solvable(v, buffer, ...)                                                               \
  tirc_refuse((v)->s, (v)->block, SERR_DOMAIN_NOT_SOLVABLE,                                        \
              "the iterators of block \"%s\" cannot be solved for the region of \"%s\": %s",       \
              (v)->block->u.block.name, (buffer)->name, tirc_format((v)->c, __VA_ARGS__))

static IterDomain *domain_of(Solver *v, Expr var) { return tirc_map_get(&v->doms, var); }

/* (d0 within b0) or (d1 within b1), relaxed to (d0 or d1) within (b0 or b1). */
static void widen(Solver *v, Touched *t, Expr var, IterDomain more) {
  IterDomain *to = domain_of(v, var);
  if (more.has_dom) tirc_map_set(v->c, &t->solved, var, to);
  if (more.has_dom) to->dom = to->has_dom ? tirc_set_union(v->blank, to->dom, more.dom) : more.dom;
  if (more.has_bound)
    to->bound = to->has_bound ? tirc_set_union(v->blank, to->bound, more.bound) : more.bound;
  to->has_dom |= more.has_dom;
  to->has_bound |= more.has_bound;
}

static Expr div_or_inf(Solver *v, Expr e, Expr by) { return e ? tirc_floordiv(v->c, e, by) : NULL; }
/* The greatest x with x // by == e. */
static Expr last_of_quotient(Solver *v, Expr e, Expr by) {
  return e ? tirc_simplify(v->a, less_one(v, tirc_add(v->c, tirc_mul(v->c, e, by), by))) : NULL;
}
static Expr mul_or_inf(Solver *v, Expr e, Expr by) { return e ? tirc_mul(v->c, e, by) : NULL; }

/* One dimension: which iterator the index `provided` moves, and how far it must go for `required`.
 * False when the index has another form. */
static bool solve_dim(Solver *v, IntSet provided, IntSet required, Expr dim_max, Expr *var,
                      IterDomain *out) {
  Tirc *c = v->c;
  provided = simplify_set(v->a, provided);
  required = simplify_set(v->a, required);
  Expr p = provided.min;
  if (!p) return false;
  Expr zero = tirc_int(c, p->dtype, 0), one = tirc_int(c, p->dtype, 1);
  *out = (IterDomain){.has_dom = true, .has_bound = true};
  if (p->op == OP_MUL && (p->args[0]->op == OP_VAR || p->args[1]->op == OP_VAR)) {
    bool first = p->args[0]->op == OP_VAR;
    Expr e = p->args[first ? 1 : 0];
    *var = p->args[first ? 0 : 1];
    out->dom = (IntSet){div_or_inf(v, required.min, e), div_or_inf(v, required.max, e)};
    out->bound = (IntSet){zero, tirc_floordiv(c, dim_max, e)};
    return true;
  }
  if (!is_point(v->a, provided)) return false;
  if (p->op == OP_VAR) {
    *var = p;
    out->dom = required;
    out->bound = (IntSet){zero, dim_max};
    return true;
  }
  if (p->op == OP_FLOORDIV && tirc_prove_ge(v->a, p->args[1], one)) {
    Expr e = p->args[0], by = p->args[1];
    IntSet inner = {mul_or_inf(v, required.min, by), last_of_quotient(v, required.max, by)};
    if (e->op != OP_VAR) return solve_dim(v, (IntSet){e, e}, inner, dim_max, var, out);
    *var = e;
    out->dom = inner;
    out->bound = (IntSet){zero, last_of_quotient(v, dim_max, by)};
    return true;
  }
  if (p->op == OP_FLOORMOD) {
    Expr e = p->args[0];
    if (e->op == OP_VAR) { /* a remainder says nothing about its dividend */
      *var = e;
      *out = (IterDomain){0};
      return true;
    }
    if (required.min && tirc_prove_ge(v->a, e, one) && tirc_prove_ge(v->a, p->args[1], one) &&
        tirc_prove_ge(v->a, required.min, zero))
      return solve_dim(v, (IntSet){e, e}, (IntSet){required.min, NULL}, dim_max, var, out);
  }
  return false;
}

static Expr dim_max_of(Solver *v, Buffer b, int i) {
  return tirc_max(v->c, less_one(v, b->shape[i]), tirc_int(v->c, b->shape[i]->dtype, 0));
}

static void update_dimwise(Solver *v, Touched *t) {
  int64_t constant;
  for (int i = 0; i < t->buffer->ndim; i++) {
    IntSet provided = t->provided[i], required = t->required[i];
    if (is_point(v->a, provided) && tirc_const_int(provided.min, &constant)) {
      if (!is_point(v->a, required) || !prove_same(v->a, provided.min, required.min))
        not_solvable(v, t->buffer, "its index is a constant and another element is asked for");
      continue;
    }
    Expr var = NULL;
    IterDomain found = {0};
    if (!solve_dim(v, provided, required, dim_max_of(v, t->buffer, i), &var, &found))
      not_solvable(v, t->buffer,
                   "the index of dimension %d is not a single iterator, times, divided by or "
                   "modulo a constant",
                   i);
    IterDomain *d = domain_of(v, var);
    if (d)
      widen(v, t, var, found);
    else if (!prove_same(v->a, provided.min, required.min) ||
             !prove_same(v->a, provided.max, required.max))
      not_solvable(v, t->buffer, "its index is not an iterator of the block");
  }
}

/* The box `outputs` of the map's results, seen from each iterator. The images of the two corners
 * are that, except where a remainder wraps around in between: there the interval of the inverse
 * itself. */
static IntSet inverse_box(Solver *v, Expr x, Expr y, Expr inverse, const PtrMap *outputs) {
  Tirc *c = v->c;
  IntSet corners = {tirc_simplify(v->a, tirc_min(c, x, y)), tirc_simplify(v->a, tirc_max(c, x, y))};
  IntSet exact = tirc_eval_set(v->a, inverse, outputs);
  if (!exact.min || !exact.max ||
      (tirc_prove_ge(v->a, exact.min, corners.min) && tirc_prove_ge(v->a, corners.max, exact.max)))
    return corners;
  return simplify_set(v->a, exact);
}

static void inverse_boxes(Solver *v, const IterMap *map, int ndim, const IntSet *outputs,
                          IntSet *results) {
  Tirc *c = v->c;
  const Block *b = &v->block->u.block;
  Expr *mins = tirc_new_array(c, Expr, ndim), *maxs = tirc_new_array(c, Expr, ndim),
       *holes = tirc_new_array(c, Expr, ndim);
  PtrMap low = {0}, high = {0}, inner = {0}, doms = {0};
  for (int i = 0; i < ndim; i++) {
    mins[i] = outputs[i].min;
    maxs[i] = outputs[i].max;
    holes[i] = tirc_var(c, "x", mins[i]->dtype);
    tirc_map_set(c, &doms, holes[i], &outputs[i]);
  }
  tirc_inverse_iter_map(v->a, map, mins, &low);
  tirc_inverse_iter_map(v->a, map, maxs, &high);
  tirc_inverse_iter_map(v->a, map, holes, &inner);
  for (int i = 0; i < b->n_iters; i++) {
    Expr var = b->iters[i].var;
    if (tirc_map_has(&inner, var))
      results[i] = inverse_box(v, tirc_map_get(&low, var), tirc_map_get(&high, var),
                               tirc_map_get(&inner, var), &doms);
  }
}

/* All dimensions at once; false when the indices are no bijective affine map of the iterators. */
static bool update_affine(Solver *v, Touched *t) {
  Tirc *c = v->c;
  const Block *b = &v->block->u.block;
  int ndim = t->buffer->ndim;
  Expr *indices = tirc_new_array(c, Expr, ndim + 1);
  IntSet *whole = tirc_new_array(c, IntSet, ndim + 1);
  for (int i = 0; i < ndim; i++) {
    if (!is_point(v->a, t->provided[i]) || !t->required[i].min || !t->required[i].max) return false;
    indices[i] = t->provided[i].min;
    whole[i] = (IntSet){tirc_int(c, t->buffer->shape[i]->dtype, 0), dim_max_of(v, t->buffer, i)};
  }
  const LoopDomain d = tirc_iter_domain(c, b->n_iters, b->iters);
  const IterMap *map = ndim == 0 ? NULL
                                 : tirc_detect_iter_map(v->a, ndim, indices, d.n, d.vars, d.doms,
                                                        NULL, ITER_LEVEL_BIJECTIVE, false, NULL);
  if (!map) return false;
  IntSet *dom = tirc_new_array(c, IntSet, b->n_iters + 1);
  IntSet *bound = tirc_new_array(c, IntSet, b->n_iters + 1);
  inverse_boxes(v, map, ndim, t->required, dom);
  inverse_boxes(v, map, ndim, whole, bound);
  for (int i = 0; i < b->n_iters; i++)
    if (dom[i].min && bound[i].min)
      widen(v, t, d.vars[i], (IterDomain){true, true, dom[i], bound[i]});
  return true;
}

/* --- the result -------------------------------------------------------------------------- */

/* Drops the bound where it says nothing, and merges it into dom where dom stays as simple. */
static void tidy(Solver *v, IterDomain *d) {
  Analyzer *a = v->a;
  int64_t constant;
  if (!d->has_dom) {
    if (d->bound.min && d->bound.max) {
      d->dom = simplify_set(a, d->bound);
      d->has_dom = true;
      d->has_bound = false;
    }
    return;
  }
  d->dom = simplify_set(a, d->dom);
  d->bound = simplify_set(a, d->bound);
  IntSet both =
      simplify_set(a, simplify_set(v->blank, tirc_set_intersect(v->blank, d->dom, d->bound)));
  d->has_bound = false;
  if (prove_same(a, d->dom.min, both.min) && prove_same(a, d->dom.max, both.max)) return;
  if (prove_same(a, d->bound.min, both.min) && prove_same(a, d->bound.max, both.max))
    d->dom = d->bound;
  else if (both.min && both.max && tirc_const_int(both.min, &constant) &&
           tirc_const_int(both.max, &constant))
    d->dom = both;
  else
    d->has_bound = true;
}

/* Whether all instances of the block access the buffer within its shape. Those that do not, as at
 * the border of a padding, have no iteration of the producer that they could run in. */
static bool stays_inside(Solver *v, const Touched *t) {
  const Block *b = &v->block->u.block;
  const PtrMap doms = tirc_domain_sets(v->c, tirc_iter_domain(v->c, b->n_iters, b->iters));
  Analyzer *a = tirc_analyzer_around(v->s, v->sref->parent);
  tirc_bind_shapes(v->s, a, v->sref);
  for (int i = 0; i < t->buffer->ndim; i++) {
    IntSet p = t->provided[i];
    const IntSet all = {p.min ? tirc_eval_set(a, p.min, &doms).min : NULL,
                        p.max ? tirc_eval_set(a, p.max, &doms).max : NULL};
    if (!tirc_set_surely_in(a, all, tirc_whole_dim(v->c, t->buffer, i))) return false;
  }
  return true;
}

static void require_all_instances(Solver *v, int n, const Touched *touched) {
  bool required = false;
  for (int i = 0; i < n; i++) {
    required |= touched[i].required != NULL;
    if (touched[i].required && stays_inside(v, &touched[i])) return;
  }
  if (!required) return;
  tirc_refuse(v->s, v->block, SERR_INSTANCES_LOST,
              "some instances of %s index \"%s\" outside of its shape, so no iteration of the loop "
              "would run them",
              tirc_describe(v->s, v->block), touched[0].buffer->name);
}

static bool holds_all(Solver *v, const IterDomain *d, Range own) {
  const IntSet all = tirc_set_of_range(v->c, own);
  return !d->has_dom || !d->dom.min || !d->dom.max ||
         (tirc_prove_ge(v->a, all.min, d->dom.min) && tirc_prove_ge(v->a, d->dom.max, all.max));
}

/* An instance runs where one of the buffers requires it, if the others do not say less of the
 * iterators that this one does not: with P[i] of i and Q[j] of j, not all pairs would run. */
static void require_one_for_all(Solver *v, int n, const Touched *touched) {
  const Block *b = &v->block->u.block;
  bool required = false;
  for (int i = 0; i < n; i++) {
    bool all = touched[i].required != NULL;
    required |= all;
    for (int k = 0; k < b->n_iters && all; k++)
      all = tirc_map_has(&touched[i].solved, b->iters[k].var) ||
            holds_all(v, domain_of(v, b->iters[k].var), b->iters[k].dom);
    if (all) return;
  }
  if (!required) return;
  tirc_refuse(v->s, v->block, SERR_INSTANCES_LOST,
              "the buffers that %s reads say each of other iterators which of their values an "
              "iteration of the loop is for, and it would not run for all of them together",
              tirc_describe(v->s, v->block));
}

IterDomain *tirc_required_domains(Sched *s, Analyzer *a, SRef *block, SRef *loop, bool is_producer,
                                  SRefs others) {
  Solver v = {s, s->c, a, tirc_analyzer(s->c), block, block->stmt, {0}};
  const Block *b = &block->stmt->u.block;
  IterDomain *domains = tirc_new_array(s->c, IterDomain, b->n_iters + 1);
  for (int i = 0; i < b->n_iters; i++) tirc_map_set(s->c, &v.doms, b->iters[i].var, &domains[i]);
  Touched *touched;
  int n = collect_touched(&v, loop, is_producer, others, &touched);
  if (!is_producer) require_all_instances(&v, n, touched);
  for (int i = 0; i < n; i++)
    if (touched[i].required && !update_affine(&v, &touched[i])) update_dimwise(&v, &touched[i]);
  if (!is_producer) require_one_for_all(&v, n, touched);
  for (int i = 0; i < b->n_iters; i++) {
    IterDomain *d = &domains[i];
    IntSet own = tirc_set_of_range(s->c, b->iters[i].dom);
    d->bound =
        d->has_bound ? simplify_set(v.blank, tirc_set_intersect(v.blank, d->bound, own)) : own;
    d->has_bound = true;
    tidy(&v, d);
    if (!d->has_dom) not_solvable(&v, n ? touched[0].buffer : NULL, "the domain is unbounded");
  }
  return domains;
}
