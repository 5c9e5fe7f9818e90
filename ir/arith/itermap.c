/* Iterator map detection (TVM's DetectIterMap): are the indices independent quasi-affine functions
 * of the iterators, i.e. sums of non-overlapping splits of them?
 *
 * The predicate first narrows the iterators (or, for bounds on sums, registers constrained sums).
 * Then each index is rewritten bottom up: variables become splits of marks, + and - add sums, *
 * scales,
 * // and % split the fused mark further (itersplit.c pads it where the divisor does not
 * divide). At the end every mark's splits must fit together without overlap (iterfuse.c). */
#include "itermap.h"

/* --- rewriting an index ----------------------------------------------------------------------- */

static bool is_iter(const IterValue *v) { return v->e == NULL; }
static IterValue free_of_iters(Expr e) { return (IterValue){.e = e}; }
static IterSum as_sum(const IterValue *v) { return v->e ? (IterSum){0, NULL, v->e} : v->sum; }

static bool uses_iters(IterRewriter *r, Expr e) {
  for (int i = 0; i < r->vars.n; i++)
    if (tirc_uses_var(e, r->vars.at[i].var)) return true;
  return false;
}

static IterSum add_split(IterRewriter *r, IterSum sum, IterSplit s, Op op) {
  Tirc *c = r->c;
  IterSplit *at = tirc_new_array(c, IterSplit, sum.n + 1);
  if (sum.n) memcpy(at, sum.args, (size_t)sum.n * sizeof *at);
  int i = 0;
  while (i < sum.n &&
         !(at[i].source == s.source && tirc_expr_same(at[i].lower_factor, s.lower_factor) &&
           tirc_expr_same(at[i].extent, s.extent)))
    i++;
  Expr before = i < sum.n ? at[i].scale : tirc_lit(c, s.scale->dtype, 0);
  s.scale = tirc_binary(c, op, before, s.scale);
  int n = i == sum.n ? sum.n + 1 : sum.n;
  at[i] = s;
  if (tirc_is_int(s.scale, 0)) {
    n--;
    memmove(at + i, at + i + 1, (size_t)(n - i) * sizeof *at);
  }
  return (IterSum){n, at, sum.base};
}

static IterValue add_sums(IterRewriter *r, Op op, const IterValue *a, const IterValue *b) {
  IterSum sum = as_sum(a), other = as_sum(b);
  for (int i = 0; i < other.n; i++) sum = add_split(r, sum, other.args[i], op);
  sum.base = tirc_binary(r->c, op, sum.base, other.base);
  return (IterValue){.sum = sum};
}

static IterValue scale_sum(IterRewriter *r, IterSum sum, Expr by) {
  Tirc *c = r->c;
  if (tirc_is_int(by, 0)) return free_of_iters(by);
  IterSplit *at = tirc_new_array(c, IterSplit, sum.n);
  for (int i = 0; i < sum.n; i++) {
    at[i] = sum.args[i];
    at[i].scale = tirc_mul(c, at[i].scale, by);
  }
  return (IterValue){.sum = {sum.n, at, tirc_mul(c, sum.base, by)}};
}

static IterValue value_of(IterRewriter *r, Expr e);

static IterValue divide_value(IterRewriter *r, Expr e, const IterValue *a, const IterValue *b) {
  IterValue failed = free_of_iters(e);
  if (is_iter(b)) {
    tirc_iter_fail(r, "an iterator stands in a divisor");
    return failed;
  }
  IterSum sum = as_sum(a);
  if (sum.n == 0) return free_of_iters(tirc_binary(r->c, e->op, sum.base, b->e)); /* extents of 1 */
  if (sum.n > 1 && !tirc_iter_fuse(r, sum, true, &sum)) {
    tirc_iter_fail(r, "the dividend is not a single fused iterator");
    return failed;
  }
  IterValue out;
  return tirc_iter_divide(r, e->op, sum.args[0], sum.base, b->e, &out) ? out : failed;
}

static IterValue binary_value(IterRewriter *r, Expr e) {
  IterValue a = value_of(r, e->args[0]), b = value_of(r, e->args[1]);
  if (!is_iter(&a) && !is_iter(&b)) {
    bool same = a.e == e->args[0] && b.e == e->args[1];
    return free_of_iters(same ? e : tirc_binary(r->c, e->op, a.e, b.e));
  }
  switch (e->op) {
  case OP_ADD:
  case OP_SUB: return add_sums(r, e->op, &a, &b);
  case OP_MUL:
    if (is_iter(&a) && is_iter(&b)) {
      tirc_iter_fail(r, "the product of two iterators");
      return free_of_iters(e);
    }
    return is_iter(&a) ? scale_sum(r, a.sum, b.e) : scale_sum(r, b.sum, a.e);
  default: return divide_value(r, e, &a, &b);
  }
}

/* Whether all that the sum may be is a number of the type. */
static bool sum_fits(Analyzer *a, const IterSum *sum, DType t) {
  int64_t scale, reach;
  const Bound base = tirc_const_bound(a, sum->base);
  int64_t least = base.min, most = base.max;
  for (int i = 0; i < sum->n; i++) {
    const int64_t extent = tirc_const_bound(a, sum->args[i].extent).max;
    if (!tirc_const_int(sum->args[i].scale, &scale) ||
        __builtin_mul_overflow(extent - 1, scale, &reach) ||
        __builtin_add_overflow(reach < 0 ? least : most, reach, reach < 0 ? &least : &most))
      return false;
  }
  return least >= tirc_dtype_min(t) && most <= tirc_dtype_max(t);
}

/* A conversion between index types that keeps the value is no operation: as between the loop that
 * an int64 and an int32 loop are fused into and the int32 one's iterator. */
static IterValue cast_value(IterRewriter *r, Expr e) {
  IterValue v = value_of(r, e->args[0]);
  if (!is_iter(&v)) return free_of_iters(e);
  if (e->dtype.bits < e->args[0]->dtype.bits && !sum_fits(r->a, &v.sum, e->dtype))
    tirc_iter_fail(r, "an iterator is cut to fewer bits than it may need");
  return v;
}

static IterValue value_of(IterRewriter *r, Expr e) {
  if (e->op == OP_VAR) {
    for (int i = 0; i < r->vars.n; i++)
      if (r->vars.at[i].var == e) return r->vars.at[i].value;
    return free_of_iters(e);
  }
  bool affine = e->op == OP_ADD || e->op == OP_SUB || e->op == OP_MUL || e->op == OP_FLOORDIV ||
                e->op == OP_FLOORMOD;
  if (affine && tirc_is_index(e->dtype)) return binary_value(r, e);
  if (e->op == OP_CAST && tirc_is_index(e->dtype) && tirc_is_index(e->args[0]->dtype))
    return cast_value(r, e);
  if (uses_iters(r, e))
    tirc_iter_fail(r, "an iterator stands in %s, which is not an affine operation",
                   tirc_ops[e->op].name);
  return free_of_iters(e);
}

/* Not yet fused. */
static IterSum rewrite(IterRewriter *r, Expr e) {
  IterValue v = value_of(r, e);
  return as_sum(&v);
}

static IterSum rewrite_index(IterRewriter *r, Expr e) {
  IterSum sum = rewrite(r, e), fused;
  if (sum.n == 0 || r->why) return sum;
  if (tirc_iter_fuse(r, sum, true, &fused)) return fused;
  tirc_iter_fail(r, "the terms of an index overlap or leave gaps");
  return sum;
}

/* --- constraints ------------------------------------------------------------------------------ */

/* lower <= iter < upper; either bound may be missing. */
typedef struct Constraint {
  Expr iter, lower, upper;
  int size;
} Constraint;
typedef VEC(Constraint) ConstraintVec;

typedef struct Domain {
  int n;
  const Expr *vars;
  Range *doms;
} Domain;

static bool uses_domain(const Domain *d, Expr e) {
  for (int i = 0; i < d->n; i++)
    if (tirc_uses_var(e, d->vars[i])) return true;
  return false;
}

static int domain_of(const Domain *d, Expr var) {
  for (int i = 0; i < d->n; i++)
    if (d->vars[i] == var) return i;
  return -1;
}

/* Moves terms without iterators to the other side. */
static void separate(Tirc *c, const Domain *d, Expr part, bool plus, Expr *lhs, Expr *rhs) {
  if (part->op == OP_ADD || part->op == OP_SUB) {
    separate(c, d, part->args[0], plus, lhs, rhs);
    separate(c, d, part->args[1], part->op == OP_ADD ? plus : !plus, lhs, rhs);
  } else if (uses_domain(d, part)) {
    *lhs = tirc_binary(c, plus ? OP_ADD : OP_SUB, *lhs, part);
  } else {
    *rhs = tirc_binary(c, plus ? OP_SUB : OP_ADD, *rhs, part);
  }
}

static int expr_size(Expr e) {
  int n = 1;
  for (int i = 0; i < e->n; i++) n += expr_size(e->args[i]);
  return n;
}

static void constrain_variable(Tirc *c, Domain *d, int at, Expr lower, Expr upper) {
  Range *r = &d->doms[at];
  Expr min = r->min, max = tirc_add(c, r->min, r->extent);
  if (lower) min = tirc_max(c, min, lower);
  if (upper) max = tirc_min(c, max, upper);
  *r = (Range){min, tirc_is_int(min, 0) ? max : tirc_sub(c, max, min)};
}

/* Terms change sides only where sums do not wrap around: of other types, an iterator is compared
 * with something fixed, whose neighbour is a number of the type, too. */
static bool may_be_rearranged(Tirc *c, const Domain *d, Expr e) {
  if (tirc_is_index(e->args[0]->dtype)) return true;
  const int at = uses_domain(d, e->args[0]) ? 0 : 1;
  const bool includes = e->op == OP_LE || e->op == OP_GE, is_upper = (e->op < OP_GT) == (at == 0);
  const Expr bound = e->args[1 - at];
  return domain_of(d, e->args[at]) >= 0 && !uses_domain(d, bound) &&
         (includes != is_upper ||
          tirc_const_bound(tirc_analyzer(c), bound).max < tirc_dtype_max(bound->dtype));
}

static bool add_comparison(Tirc *c, Expr e, Domain *d, ConstraintVec *out) {
  if (e->op < OP_LT || e->op > OP_GE || !tirc_dtype_is_int(e->args[0]->dtype)) return false;
  Expr lhs = e->args[0], rhs = e->args[1];
  bool left = uses_domain(d, lhs), right = uses_domain(d, rhs);
  if (!left && !right) return true;
  if (!may_be_rearranged(c, d, e)) return false;
  if (left && right) {
    Expr diff = tirc_sub(c, lhs, rhs);
    lhs = rhs = tirc_lit(c, diff->dtype, 0);
    separate(c, d, diff, true, &lhs, &rhs);
    lhs = tirc_simplify0(c, lhs);
    rhs = tirc_simplify0(c, rhs);
    right = false;
  }
  bool greater = e->op == OP_GT || e->op == OP_GE, equal = e->op == OP_LE || e->op == OP_GE;
  Expr iter = right ? rhs : lhs, bound = right ? lhs : rhs, one = tirc_lit(c, bound->dtype, 1);
  bool is_upper = greater == right; /* bound > iter, or iter < bound */
  Expr lower = NULL, upper = NULL;
  if (is_upper)
    upper = equal ? tirc_add(c, bound, one) : bound;
  else
    lower = equal ? bound : tirc_add(c, bound, one);
  int at = domain_of(d, iter);
  if (at >= 0) {
    constrain_variable(c, d, at, lower, upper);
    return true;
  }
  Constraint k = {iter, lower, upper, expr_size(iter)};
  vec_push(c, *out, k);
  return true;
}

static bool add_constraints(Tirc *c, Expr pred, Domain *d, ConstraintVec *out) {
  if (pred->op == OP_LIKELY) pred = pred->args[0];
  if (pred->op == OP_AND)
    return add_constraints(c, pred->args[1], d, out) && add_constraints(c, pred->args[0], d, out);
  return tirc_is_true(pred) || add_comparison(c, pred, d, out);
}

/* Small constraints first: a sum's constraint must be known before that of a sum that contains it.
 */
static void sort_constraints(ConstraintVec *v) {
  for (int i = 1; i < v->n; i++) {
    Constraint moving = v->at[i];
    int j = i;
    for (; j > 0 && moving.size < v->at[j - 1].size; j--) v->at[j] = v->at[j - 1];
    v->at[j] = moving;
  }
}

/* The iterator that e is, but for a constant, once iterators of one value are that value; -1: none.
 * The constant moves to the bounds. */
static int lone_iterator(Tirc *c, const Domain *d, const PtrMap *trivial, Expr e, Expr *lower,
                         Expr *upper) {
  Expr rest = tirc_lit(c, e->dtype, 0), offset = rest;
  separate(c, d, tirc_substitute(c, e, trivial), true, &rest, &offset);
  int at = domain_of(d, rest);
  if (at < 0) return at;
  if (*lower) *lower = tirc_add(c, *lower, offset);
  if (*upper) *upper = tirc_add(c, *upper, offset);
  return at;
}

/* A bound on o*256 + i bounds i where o has one value. That may leave i one value, too. */
static void narrow_lone_iterators(Tirc *c, Domain *d, ConstraintVec *constraints) {
  for (bool again = true; again;) {
    again = false;
    PtrMap trivial = {0};
    for (int i = 0; i < d->n; i++)
      if (tirc_is_int(d->doms[i].extent, 1))
        tirc_map_set(c, &trivial, d->vars[i], tirc_cast(c, d->vars[i]->dtype, d->doms[i].min));
    int kept = 0;
    for (int i = 0; i < constraints->n; i++) {
      Constraint k = constraints->at[i];
      int at = lone_iterator(c, d, &trivial, k.iter, &k.lower, &k.upper);
      if (at < 0) {
        constraints->at[kept++] = k;
      } else {
        constrain_variable(c, d, at, k.lower, k.upper);
        again = true;
      }
    }
    constraints->n = kept;
  }
}

/* The fused iterator that a fused sum is: its own, or, when it only wraps a whole other one (as in
 * f // 5 * 5 + f % 5), that one. -1: none. */
static int fused_iter_of(IterRewriter *r, const IterSum *fused) {
  const IterMark *mark = fused->args[0].source;
  const IterSum *sum = mark->sum;
  bool wraps = sum && sum->n == 1 && tirc_is_int(sum->base, 0) &&
               tirc_is_int(sum->args[0].scale, 1) && tirc_is_int(sum->args[0].lower_factor, 1) &&
               tirc_prove_equal(r->a, sum->args[0].extent, sum->args[0].source->extent);
  int at = -1;
  for (int i = 0; i < r->fused.n; i++) {
    const FusedIter *it = &r->fused.at[i];
    if (wraps && it->mark == sum->args[0].source && tirc_is_int(it->offset, 0)) return i;
    if (r->fused.at[i].mark == mark) at = i;
  }
  return at;
}

static bool is_constrained(IterRewriter *r, int at) {
  for (int i = 0; i < r->constrained.n; i++)
    if (r->constrained.at[i] == at) return true;
  return false;
}

static void apply_constraint(IterRewriter *r, const Constraint *k) {
  Tirc *c = r->c;
  IterSum sum = rewrite(r, k->iter), fused;
  if (r->why) return;
  Expr lower = k->lower, upper = k->upper, zero = tirc_lit(c, sum.base->dtype, 0);
  if (lower) lower = tirc_sub(c, lower, sum.base);
  if (upper) upper = tirc_sub(c, upper, sum.base);
  sum.base = zero;
  int at = -1;
  if (sum.n && tirc_iter_fuse(r, sum, false, &fused) && tirc_is_int(fused.args[0].scale, 1))
    at = fused_iter_of(r, &fused);
  if (at < 0) {
    tirc_iter_fail(r, "the predicate bounds something that is not a fused iterator");
    return;
  }
  FusedIter *it = &r->fused.at[at];
  IterMark *mark = tirc_new(c, IterMark);
  *mark = *it->mark;
  Expr min = it->offset, max = tirc_add(c, min, mark->extent), delta = zero;
  if (lower) {
    Expr raised = tirc_max(c, lower, min);
    delta = tirc_sub(c, raised, min);
    min = raised;
  }
  if (upper)
    max = tirc_prove(r->a, tirc_binary(c, OP_LE, upper, max)) ? upper : tirc_min(c, upper, max);
  if (!tirc_is_int(delta, 0)) {
    it->structured.base = tirc_sub(c, it->structured.base, delta);
    mark->sum = tirc_new(c, IterSum);
    *mark->sum = it->structured;
  }
  mark->extent = tirc_sub(c, max, min);
  it->mark = mark;
  it->offset = min;
  if (!is_constrained(r, at)) vec_push(c, r->constrained, at);
}

/* Two constrained sums must be nested or disjoint. */
static bool constraints_nest(IterRewriter *r) {
  for (int i = 0; i < r->constrained.n; i++)
    for (int j = i + 1; j < r->constrained.n; j++) {
      const IterSum *x = &r->fused.at[r->constrained.at[i]].flattened;
      const IterSum *y = &r->fused.at[r->constrained.at[j]].flattened;
      int inside = 0;
      for (int k = 0; k < x->n; k++) {
        int l = 0;
        while (l < y->n && !tirc_iter_split_equal(&x->args[k], &y->args[l], true)) l++;
        inside += l < y->n;
      }
      if (inside && inside != x->n) return false;
    }
  return true;
}

/* --- detection -------------------------------------------------------------------------------- */

static bool ranges_independent(Tirc *c, int n, const Expr *vars, const Range *doms) {
  PtrMap all = {0};
  for (int i = 0; i < n; i++) tirc_map_set(c, &all, vars[i], vars[i]);
  for (int i = 0; i < n; i++)
    if (tirc_uses_any(doms[i].min, &all) || tirc_uses_any(doms[i].extent, &all)) return false;
  return true;
}

static void add_variable(IterRewriter *r, Expr var, Range dom, bool simplify_trivial) {
  Tirc *c = r->c;
  MarkVar v = {.var = var};
  dom.min = tirc_cast(c, var->dtype, dom.min);
  dom.extent = tirc_cast(c, var->dtype, dom.extent);
  if (simplify_trivial && tirc_is_int(dom.extent, 1)) {
    v.value.sum = (IterSum){0, NULL, dom.min};
  } else {
    IterMark *mark = tirc_new(c, IterMark);
    mark->var = tirc_is_int(dom.min, 0) ? var : tirc_sub(c, var, dom.min);
    mark->extent = dom.extent;
    v.value.sum = tirc_iter_one(c, tirc_iter_split_of(c, mark, NULL), dom.min);
    vec_push(c, r->inputs, mark);
  }
  vec_push(c, r->vars, v);
}

static const IterMap *failed(IterRewriter *r, const char **why, const char *reason) {
  if (why) *why = r->why ? r->why : reason;
  return NULL;
}

const IterMap *tirc_detect_iter_map(Analyzer *a, int n, const Expr *indices, int n_vars,
                                    const Expr *vars, const Range *doms, Expr predicate,
                                    IterLevel level, bool simplify_trivial, const char **why) {
  Tirc *c = a->c;
  IterRewriter r = {.a = a, .c = c, .level = level, .padding_predicate = tirc_bool(c, false)};
  if (!ranges_independent(c, n_vars, vars, doms))
    return failed(&r, why, "the range of an iterator depends on another iterator");
  Domain d = {n_vars, vars, tirc_new_array(c, Range, n_vars)};
  for (int i = 0; i < n_vars; i++) d.doms[i] = doms[i];
  ConstraintVec constraints = {0};
  if (predicate && !add_constraints(c, predicate, &d, &constraints))
    return failed(&r, why, "the predicate is not a conjunction of bounds on the iterators");
  if (simplify_trivial) narrow_lone_iterators(c, &d, &constraints);
  sort_constraints(&constraints);
  for (int i = 0; i < n_vars; i++) add_variable(&r, vars[i], d.doms[i], simplify_trivial);
  for (int i = 0; i < constraints.n && !r.why; i++) apply_constraint(&r, &constraints.at[i]);
  if (r.why || !constraints_nest(&r))
    return failed(&r, why, "the bounds of the predicate overlap without being nested");
  IterSum *sums = tirc_new_array(c, IterSum, n);
  bool may_pad = level != ITER_LEVEL_BIJECTIVE;
  r.update_padding = may_pad;
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < n && !r.why; i++) sums[i] = rewrite_index(&r, indices[i]);
    if (r.why) return failed(&r, why, NULL);
    if (!r.update_padding || !r.requires_padding) break;
    r.update_padding = false;
  }
  if (!tirc_iter_check(&r, n, sums)) return failed(&r, why, "the indices are not independent");
  IterMap *map = tirc_new(c, IterMap);
  *map = (IterMap){n, sums, r.padding_predicate};
  if (why) *why = NULL;
  return map;
}
