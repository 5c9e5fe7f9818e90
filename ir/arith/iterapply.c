/* What detected iterator maps are good for: turned back into (shorter) expressions, divided into an
 * outer and an inner part, inverted. */
#include "internal.h"

/* --- as expressions --------------------------------------------------------------------------- */

static Expr split_expr(Analyzer *a, const IterSplit *s) {
  Tirc *c = a->c;
  const IterMark *m = s->source;
  Expr source = m->var ? m->var : tirc_iter_sum_expr(a, m->sum);
  if (tirc_is_int(s->lower_factor, 1) && tirc_prove_equal(a, s->extent, m->extent))
    return tirc_mul(c, source, s->scale);
  Expr reach = tirc_mul(c, s->lower_factor, s->extent);
  if (tirc_prove_equal(a, m->extent, reach)) {
    /* always 0; a trivial iterator itself is left for analyses that want to see it */
    if (tirc_is_int(s->extent, 1) && !tirc_is_int(m->extent, 1))
      return tirc_lit(c, s->extent->dtype, 0);
    return tirc_mul(c, tirc_floordiv(c, source, s->lower_factor), s->scale);
  }
  Expr full = tirc_canonical(a, tirc_mul(c, s->extent, s->lower_factor));
  return tirc_mul(c, tirc_floordiv(c, tirc_floormod(c, source, full), s->lower_factor), s->scale);
}

Expr tirc_iter_sum_expr(Analyzer *a, const IterSum *sum) {
  Expr e = tirc_lit(a->c, sum->base->dtype, 0);
  for (int i = 0; i < sum->n; i++) e = tirc_add(a->c, e, split_expr(a, &sum->args[i]));
  return tirc_add(a->c, e, sum->base);
}

void tirc_iter_map_simplify(Analyzer *a, int n, const Expr *indices, int n_vars, const Expr *vars,
                            const Range *doms, Expr predicate, IterLevel level,
                            bool simplify_trivial, Expr *out) {
  const IterMap *map = tirc_detect_iter_map(a, n, indices, n_vars, vars, doms, predicate, level,
                                            simplify_trivial, NULL);
  bool constrained = predicate && !tirc_is_true(predicate);
  if (!map && constrained && level != ITER_LEVEL_BIJECTIVE)
    map = tirc_detect_iter_map(a, n, indices, n_vars, vars, doms, NULL, level, simplify_trivial,
                               NULL);
  for (int i = 0; i < n; i++)
    out[i] = map ? tirc_cast(a->c, indices[i]->dtype, tirc_iter_sum_expr(a, &map->indices[i]))
                 : indices[i];
}

/* --- subspace division ------------------------------------------------------------------------ */

/* One side of a division: a split, or a sum. */
typedef struct Part {
  bool is_split;
  IterSplit split;
  IterSum sum;
  Expr extent;
} Part;
typedef enum Side { SIDE_MIXED, SIDE_INNER, SIDE_OUTER } Side;
/* outer * inner.extent + inner */
typedef struct Division {
  Part outer, inner;
  Side side;
} Division;

typedef struct Divider {
  Analyzer *a;
  Tirc *c;
  SplitCollector splits;
  const PtrMap *inner; /* the iterators of the inner space */
  PtrMap done;         /* from a split to its Division */
  bool failed;
  Expr outer_pred, inner_pred;
} Divider;

static Part sum_part(IterSum sum, Expr extent) { return (Part){.sum = sum, .extent = extent}; }

static Part nothing(Tirc *c, DType t) {
  return sum_part((IterSum){0, NULL, tirc_lit(c, t, 0)}, tirc_lit(c, t, 1));
}

static Division one_sided(Tirc *c, Part p, Side side) {
  Part none = nothing(c, p.extent->dtype);
  return side == SIDE_INNER ? (Division){none, p, side} : (Division){p, none, side};
}

static Division give_up(Divider *d) {
  d->failed = true;
  Part none = nothing(d->c, DT_INT32);
  return (Division){none, none, SIDE_MIXED};
}

static IterSum as_sum(Tirc *c, const Part *p) {
  if (!p->is_split) return p->sum;
  IterSplit *s = tirc_new(c, IterSplit);
  *s = p->split;
  return (IterSum){1, s, tirc_lit(c, p->split.extent->dtype, 0)};
}

static const IterMark *mark_of(Tirc *c, IterSum sum, Expr extent) {
  IterMark *m = tirc_new(c, IterMark);
  m->sum = tirc_new(c, IterSum);
  *m->sum = sum;
  m->extent = extent;
  return m;
}

static IterSplit as_split(Tirc *c, const Part *p) {
  if (p->is_split) return p->split;
  Expr one = tirc_lit(c, p->extent->dtype, 1);
  return (IterSplit){mark_of(c, p->sum, p->extent), one, p->extent, one};
}

static Division divide_sum(Divider *d, const IterSum *sum, Expr mark_extent);

/* How much of a split, which starts at `from`, is below the boundary; 0: the boundary is not in it,
 * or does not divide it. */
static int64_t part_below(Expr from, Expr extent, Expr boundary) {
  int64_t first, n, end;
  if (!tirc_const_int(from, &first) || !tirc_const_int(extent, &n) ||
      !tirc_const_int(boundary, &end) || first <= 0 || end % first)
    return 0;
  const int64_t below = end / first;
  return below > 1 && below < n && n % below == 0 ? below : 0;
}

static void know_part(Divider *d, const IterSplit *of, Division found) {
  Division *result = tirc_new(d->c, Division);
  *result = found;
  tirc_map_set(d->c, &d->done, of, result);
}

static Part split_part(const IterMark *source, IterSplit split, Expr lower_factor, Expr extent) {
  split.source = source;
  split.lower_factor = lower_factor;
  split.extent = extent;
  return (Part){.is_split = true, .split = split, .extent = extent};
}

/* A row of 10 in tiles of 5: (o * 5 + p) % 10 is o % 2 * 5 + p. */
static Division divided_at(Tirc *c, const IterSplit *s, const IterMark *outer,
                           const IterMark *inner, int64_t below) {
  int64_t extent = 0;
  const DType t = s->extent->dtype;
  tirc_const_int(s->extent, &extent);
  return (Division){split_part(outer, *s, tirc_lit(c, t, 1), tirc_lit(c, t, extent / below)),
                    split_part(inner, *s, s->lower_factor, tirc_lit(c, t, below)), SIDE_MIXED};
}

/* Splits of a fused mark: those below the boundary between outer and inner belong to the inner
 * part. The boundary must fall between two splits, or divide one. */
static bool divide_mark(Divider *d, const IterMark *mark, const Division *whole, MarkSplits *m) {
  Tirc *c = d->c;
  int n = m->splits.n;
  bool *used = tirc_new_array(c, bool, n), passed = whole->side == SIDE_OUTER;
  const IterSplit **order = tirc_new_array(c, const IterSplit *, n);
  int n_inner = 0;
  int64_t below = 0; /* of split number n_inner */
  Expr expected = tirc_lit(c, mark->extent->dtype, 1);
  for (int i = 0; i < n; i++) {
    int j = 0;
    while (j < n && (used[j] || !tirc_prove_equal(d->a, m->splits.at[j]->lower_factor, expected)))
      j++;
    if (j == n) return false;
    used[j] = true;
    order[i] = m->splits.at[j];
    if (!passed) below = part_below(expected, order[i]->extent, whole->inner.extent);
    n_inner += !passed && !below;
    expected = tirc_mul(c, expected, order[i]->extent);
    passed |= below || tirc_prove_equal(d->a, expected, whole->inner.extent);
  }
  if (!passed) return false;
  const IterMark *inner = mark_of(c, as_sum(c, &whole->inner), whole->inner.extent);
  const IterMark *outer = mark_of(c, as_sum(c, &whole->outer), whole->outer.extent);
  for (int i = 0; i < n; i++) {
    const IterSplit *s = order[i];
    if (below && i == n_inner) {
      know_part(d, s, divided_at(c, s, outer, inner, below));
    } else if (i < n_inner) {
      know_part(d, s, one_sided(c, split_part(inner, *s, s->lower_factor, s->extent), SIDE_INNER));
    } else {
      const Expr from = below ? whole->inner.extent : order[n_inner]->lower_factor;
      const Expr lower = tirc_floordiv(c, s->lower_factor, from);
      know_part(d, s, one_sided(c, split_part(outer, *s, lower, s->extent), SIDE_OUTER));
    }
  }
  return true;
}

static Division divide_split(Divider *d, const IterSplit *s) {
  Tirc *c = d->c;
  const Division *known = tirc_map_get(&d->done, s);
  if (known) return *known;
  const IterMark *mark = s->source;
  MarkSplits *m = tirc_mark_splits(&d->splits, mark);
  if (mark->var) {
    if (mark->var->op != OP_VAR) return give_up(d);
    Side side = tirc_map_has(d->inner, mark->var) ? SIDE_INNER : SIDE_OUTER;
    return one_sided(c, (Part){.is_split = true, .split = *s, .extent = s->extent}, side);
  }
  /* An offset would have to be divided as well. */
  if (!tirc_is_int(mark->sum->base, 0)) return give_up(d);
  Division whole = divide_sum(d, mark->sum, mark->extent);
  if (d->failed) return whole;
  bool alone = m->splits.n == 1 && tirc_is_int(s->lower_factor, 1);
  if (alone && tirc_prove_equal(d->a, s->extent, mark->extent)) return whole;
  if (!divide_mark(d, mark, &whole, m)) return give_up(d);
  known = tirc_map_get(&d->done, s);
  return known ? *known : give_up(d);
}

/* Inner to outer splits as a mark: scales are the products of the extents below. */
static Part fuse_parts(Tirc *c, const IterSplit *at, int n, Expr base) {
  IterSplit *out = tirc_new_array(c, IterSplit, n);
  Expr extent = tirc_lit(c, base->dtype, 1);
  for (int i = 0; i < n; i++) {
    out[n - 1 - i] = at[i];
    out[n - 1 - i].scale = extent;
    extent = tirc_mul(c, extent, at[i].extent);
  }
  return sum_part((IterSum){n, out, base}, extent);
}

/* The bound of a predicate cuts the sum: then it must lie on one side as a whole. */
static Division cut_by_predicate(Divider *d, Part outer, Part inner, int n_outer, int n_inner,
                                 Expr mark_extent) {
  Tirc *c = d->c;
  if (n_outer && n_inner) return give_up(d);
  Part *p = n_inner ? &inner : &outer;
  Expr *pred = n_inner ? &d->inner_pred : &d->outer_pred;
  *pred = tirc_and(c, *pred, tirc_lt(c, tirc_iter_sum_expr(d->a, &p->sum), mark_extent));
  p->extent = mark_extent;
  return one_sided(c, *p, n_inner ? SIDE_INNER : SIDE_OUTER);
}

static Division divide_sum(Divider *d, const IterSum *sum, Expr mark_extent) {
  Tirc *c = d->c;
  DType t = sum->base->dtype;
  if (sum->n == 0) {
    Part none = nothing(c, t), base = none;
    base.sum.base = sum->base;
    return (Division){none, base, SIDE_MIXED};
  }
  if (sum->n == 1) {
    if (!tirc_is_int(sum->args[0].scale, 1)) return give_up(d);
    Division r = divide_split(d, &sum->args[0]);
    if (d->failed || tirc_is_int(sum->base, 0)) return r;
    r.inner.sum = as_sum(c, &r.inner);
    r.inner.is_split = false;
    r.inner.sum.base = tirc_add(c, r.inner.sum.base, sum->base);
    return r;
  }
  IterSplit *inner = tirc_new_array(c, IterSplit, sum->n);
  IterSplit *outer = tirc_new_array(c, IterSplit, sum->n);
  int n_inner = 0, n_outer = 0;
  Expr extent = tirc_lit(c, t, 1);
  bool unit_scale = false;
  for (int i = sum->n - 1; i >= 0; i--) {
    unit_scale = unit_scale || tirc_is_int(sum->args[i].scale, 1);
    Division r = divide_split(d, &sum->args[i]);
    if (d->failed || r.side == SIDE_MIXED || (r.side == SIDE_INNER && n_outer)) return give_up(d);
    /* overlapping terms cannot be told apart */
    if (i < sum->n - 1 && !tirc_prove_equal(d->a, sum->args[i].scale, extent)) return give_up(d);
    IterSplit s = as_split(c, r.side == SIDE_INNER ? &r.inner : &r.outer);
    if (r.side == SIDE_INNER)
      inner[n_inner++] = s;
    else
      outer[n_outer++] = s;
    extent = tirc_mul(c, extent, s.extent);
  }
  if (!unit_scale) return give_up(d);
  Part below = fuse_parts(c, inner, n_inner, sum->base);
  Part above = fuse_parts(c, outer, n_outer, tirc_lit(c, t, 0));
  if (!tirc_prove_equal(d->a, extent, mark_extent))
    return cut_by_predicate(d, above, below, n_outer, n_inner, mark_extent);
  return (Division){above, below, SIDE_MIXED};
}

static Expr part_expr(Analyzer *a, const Part *p) {
  return p->is_split ? split_expr(a, &p->split) : tirc_iter_sum_expr(a, &p->sum);
}

const SubspaceDivision *tirc_subspace_divide(Analyzer *a, int n, const Expr *bindings, int n_vars,
                                             const Expr *vars, const Range *doms,
                                             const PtrMap *inner, Expr predicate, IterLevel level,
                                             bool simplify_trivial) {
  Tirc *c = a->c;
  const IterMap *map = tirc_detect_iter_map(a, n, bindings, n_vars, vars, doms, predicate, level,
                                            simplify_trivial, NULL);
  if (!map || n == 0) return NULL;
  Divider d = {.a = a, .c = c, .inner = inner, .splits.c = c};
  d.outer_pred = d.inner_pred = tirc_bool(c, true);
  tirc_collect_splits(&d.splits, n, map->indices);
  SubspaceDivision *out = tirc_new_array(c, SubspaceDivision, n + 1);
  Expr zero = tirc_int32(c, 0);
  for (int i = 0; i < n; i++) {
    Division r = divide_sum(&d, &map->indices[i], zero);
    if (d.failed) return NULL;
    out[i] = (SubspaceDivision){part_expr(a, &r.outer), r.outer.extent, part_expr(a, &r.inner),
                                r.inner.extent};
  }
  out[n] = (SubspaceDivision){zero, d.outer_pred, zero, d.inner_pred};
  return out;
}

/* --- inversion -------------------------------------------------------------------------------- */

/* Values flow from the outputs back to the iterators; a node is visited when all that use it have
 * been, so the order is the reverse of a post-order walk. */
typedef struct Node {
  const IterSum *sum;
  const IterSplit *split;
} Node;
typedef struct Inverter {
  Analyzer *a;
  Tirc *c;
  VEC(Node) order;
  PtrMap seen, values; /* by address of the sum or split */
} Inverter;

static void walk_sum(Inverter *v, const IterSum *sum) {
  if (tirc_map_has(&v->seen, sum)) return;
  tirc_map_set(v->c, &v->seen, sum, sum);
  for (int i = 0; i < sum->n; i++) {
    const IterSplit *s = &sum->args[i];
    if (tirc_map_has(&v->seen, s)) continue;
    tirc_map_set(v->c, &v->seen, s, s);
    if (s->source->sum) walk_sum(v, s->source->sum);
    vec_push(v->c, v->order, ((Node){NULL, s}));
  }
  vec_push(v->c, v->order, ((Node){sum, NULL}));
}

static void accumulate(Inverter *v, const void *node, Expr e) {
  Expr old = tirc_map_get(&v->values, node);
  tirc_map_set(v->c, &v->values, node, old ? tirc_add(v->c, old, e) : e);
}

static void propagate_sum(Inverter *v, const IterSum *sum) {
  Tirc *c = v->c;
  Expr value = tirc_map_get(&v->values, sum);
  if (!value) return;
  value = tirc_sub(c, value, sum->base);
  for (int i = sum->n - 1; i >= 0; i--) {
    const IterSplit *s = &sum->args[i];
    Expr part;
    if (sum->n == 1 && tirc_is_int(s->scale, -1)) {
      part = tirc_mul(c, value, s->scale);
    } else {
      part = tirc_floordiv(c, value, s->scale);
      if (i > 0) part = tirc_floormod(c, part, s->extent);
    }
    accumulate(v, s, part);
  }
}

static void propagate_split(Inverter *v, const IterSplit *s, PtrMap *inverse) {
  Tirc *c = v->c;
  Expr value = tirc_map_get(&v->values, s);
  if (!value) return;
  value = tirc_mul(c, value, s->lower_factor);
  const IterMark *m = s->source;
  if (m->sum) {
    accumulate(v, m->sum, value);
    return;
  }
  Expr var = m->var->op == OP_VAR ? m->var : m->var->args[0];
  Expr old = tirc_map_get(inverse, var);
  if (!old && m->var->op == OP_SUB) old = m->var->args[1]; /* the iterator starts there */
  tirc_map_set(c, inverse, var, old ? tirc_add(c, old, value) : value);
}

void tirc_inverse_iter_map(Analyzer *a, const IterMap *map, const Expr *outputs, PtrMap *inverse) {
  Inverter v = {.a = a, .c = a->c};
  for (int i = 0; i < map->n; i++) walk_sum(&v, &map->indices[i]);
  for (int i = 0; i < map->n; i++) accumulate(&v, &map->indices[i], outputs[i]);
  for (int i = v.order.n - 1; i >= 0; i--) {
    if (v.order.at[i].sum)
      propagate_sum(&v, v.order.at[i].sum);
    else
      propagate_split(&v, v.order.at[i].split, inverse);
  }
}
