/* How far a region reaches while iterators vary (TVM's EstimateRegionStrictBound / UpperBound):
 * when the start indices are an iterator map, each dimension is one scaled iterator, so its hull is
 * exact. */
#include "internal.h"

static IntSet from_extent(Tirc *c, Expr min, Expr extent) {
  return tirc_set_of_range(c, (Range){min, extent});
}

/* The values of sum + [0, extent), when they leave no gaps. */
static bool sum_reach(Analyzer *a, const IterSum *sum, Expr extent, IntSet *out) {
  Tirc *c = a->c;
  if (sum->n == 0) {
    *out = from_extent(c, sum->base, extent);
    return true;
  }
  const IterSplit *s = &sum->args[0];
  extent = tirc_cast(c, s->scale->dtype, extent);
  const Expr zero = tirc_lit(c, s->scale->dtype, 0);
  const bool backwards = tirc_prove_lt(a, s->scale, zero);
  const Expr step = backwards ? tirc_sub(c, zero, s->scale) : s->scale;
  /* A step of as many as the box has is no step back, unless the box is empty. */
  const bool directed =
      backwards || tirc_prove_equal(a, extent, step) || tirc_prove_ge(a, step, zero);
  if (sum->n != 1 || !directed || !tirc_prove_ge(a, extent, step)) return false;
  Expr last = tirc_sub(c, s->extent, tirc_lit(c, s->extent->dtype, 1));
  Expr span = tirc_mul(c, last, s->scale);
  if (backwards)
    *out = from_extent(c, tirc_add(c, sum->base, span), tirc_sub(c, extent, span));
  else
    *out = from_extent(c, sum->base, tirc_add(c, extent, span));
  return true;
}

/* Whether each value of the split occurs. Of a padded mark, left + [0, extent) alone does. */
static bool split_reached(Analyzer *a, const IterSplit *s) {
  Tirc *c = a->c;
  const IterSum *sum = s->source->sum;
  for (int i = 0; sum && i < sum->n; i++)
    if (!split_reached(a, &sum->args[i])) return false;
  if (!sum || sum->n != 1) return true;
  Expr extent = sum->args[0].extent, period = tirc_mul(c, s->extent, s->lower_factor);
  if (tirc_prove_ge(a, extent, period)) return true;
  Expr last = tirc_sub(c, period, s->lower_factor);
  return tirc_prove_lt(a, sum->base, s->lower_factor) &&
         tirc_prove_lt(a, last, tirc_add(c, sum->base, extent));
}

/* All dimensions at once; extents must not depend on the iterators. */
static bool strict_bound(Analyzer *a, int ndim, const Range *region, int n_vars, const Expr *vars,
                         const Range *doms, Expr predicate, IntSet *out) {
  Expr *mins = tirc_new_array(a->c, Expr, ndim);
  for (int i = 0; i < ndim; i++) {
    for (int k = 0; k < n_vars; k++)
      if (tirc_uses_var(region[i].extent, vars[k])) return false;
    mins[i] = region[i].min;
  }
  const IterMap *map = tirc_detect_iter_map(a, ndim, mins, n_vars, vars, doms, predicate,
                                            ITER_LEVEL_SURJECTIVE, true, NULL);
  for (int i = 0; map && i < ndim; i++)
    if (map->indices[i].n && !split_reached(a, &map->indices[i].args[0])) return false;
  for (int i = 0; map && i < ndim; i++)
    if (!sum_reach(a, &map->indices[i], region[i].extent, &out[i])) return false;
  return map != NULL;
}

/* min .. min + extent - 1 by interval arithmetic. */
static IntSet relaxed(Analyzer *a, Range r, const PtrMap *dom) {
  Tirc *c = a->c;
  Expr last = tirc_sub(c, tirc_add(c, r.min, r.extent), tirc_lit(c, r.min->dtype, 1));
  IntSet low = tirc_eval_set(a, r.min, dom), high = tirc_eval_set(a, tirc_simplify(a, last), dom);
  return (IntSet){low.min, high.max};
}

const IntSet *tirc_estimate_region(Analyzer *a, int ndim, const Range *region, int n_vars,
                                   const Expr *vars, const Range *doms, Expr predicate,
                                   bool strict) {
  Tirc *c = a->c;
  IntSet *out = tirc_new_array(c, IntSet, ndim);
  if (strict_bound(a, ndim, region, n_vars, vars, doms, predicate, out)) return out;
  if (strict) return NULL;
  PtrMap dom = {0};
  for (int i = 0; i < n_vars; i++) {
    IntSet *s = tirc_new(c, IntSet);
    *s = tirc_set_of_range(c, doms[i]);
    tirc_map_set(c, &dom, vars[i], s);
  }
  for (int i = 0; i < ndim; i++) {
    const IterMap *map = tirc_detect_iter_map(a, 1, &region[i].min, n_vars, vars, doms, predicate,
                                              ITER_LEVEL_SURJECTIVE, true, NULL);
    if (!map || !sum_reach(a, &map->indices[0], region[i].extent, &out[i]))
      out[i] = relaxed(a, region[i], &dom);
  }
  return out;
}
