/* Inverting index maps.
 *
 * A map is inverted where its outputs are independent sums of splits of its inputs (TVM's
 * DetectIterMap and InverseAffineIterMap). That alone does not make it injective: in
 * (i // 16, i % 8) the middle bit of i is lost. It is where the splits cover all of each input;
 * otherwise the inverse is put to the test: applied to the map's outputs it must give back each
 * input. */
#include "ir/arith/index_eval.h"
#include "ir/tree/print.h"
#include "layout.h"

/* Fused iterators must fit together without gaps: each counts in steps of what is below it, and the
 * innermost one in steps of `step`; NULL: in any. */
static bool sum_is_dense(Analyzer *a, Tirc *c, const IterSum *sum, Expr step) {
  Expr expected = step || !sum->n ? step : sum->args[sum->n - 1].scale;
  for (int i = sum->n - 1; i >= 0; i--) {
    const IterSplit *s = &sum->args[i];
    if (!tirc_prove_equal(a, s->scale, expected)) return false;
    if (s->source->sum && !sum_is_dense(a, c, s->source->sum, NULL)) return false;
    expected = tirc_mul(c, expected, s->extent);
  }
  return true;
}

static Expr at_outputs(Tirc *c, const IndexMap *map, const InverseMap *inverse, Expr e) {
  PtrMap outputs = {0};
  for (int i = 0; i < map->n_outputs; i++)
    tirc_map_set(c, &outputs, inverse->vars[i], map->outputs[i]);
  return tirc_substitute(c, e, &outputs);
}

/* The first input that the inverse does not give back; -1: it gives back all. */
static int first_lost(Sched *s, const IndexMap *map, const Expr *shape, const InverseMap *inverse,
                      Analyzer *a) {
  for (int i = 0; i < map->n_inputs; i++)
    tirc_bind_range(a, map->inputs[i], tirc_from_zero(s->c, shape[i]));
  for (int i = 0; i < map->n_inputs; i++) {
    Expr back = at_outputs(s->c, map, inverse, inverse->indices[i]);
    if (!tirc_prove_equal(a, tirc_simplify_steps(a, back, 6), map->inputs[i])) return i;
  }
  return -1;
}

static Expr invert_padding(Sched *s, Analyzer *a, const IndexMap *map, const IterMap *affine,
                           const Expr *shape, const InverseMap *inverse, const PtrMap *values) {
  Tirc *c = s->c;
  if (tirc_is_int(affine->padding_predicate, 0)) return affine->padding_predicate;
  Expr e = tirc_substitute(c, affine->padding_predicate, values);
  const Expr *new_shape = tirc_map_shape(s, a, map, shape);
  Analyzer *known = tirc_analyzer(c);
  for (int i = 0; i < map->n_outputs; i++)
    tirc_bind_range(known, inverse->vars[i], tirc_from_zero(c, new_shape[i]));
  return tirc_simplify_steps(known, e, 10);
}

static const IterMap *splits_of(Analyzer *a, const IndexMap *map, const Range *doms,
                                IterLevel level, bool unit_inputs, const char **why) {
  return tirc_detect_iter_map(a, map->n_outputs, map->outputs, map->n_inputs, map->inputs, doms,
                              NULL, level, !unit_inputs, why);
}

/* unit_inputs: whether inputs of extent 1 count, too. */
static const char *invert(Sched *s, const SRef *block, const IndexMap *map, const Expr *shape,
                          bool bijective, bool unit_inputs, InverseMap *out) {
  Tirc *c = s->c;
  Analyzer *a = tirc_analyzer_of_shapes(s, block);
  *out = (InverseMap){0};
  Range *doms = tirc_new_array(c, Range, map->n_inputs + 1);
  for (int i = 0; i < map->n_inputs; i++) doms[i] = tirc_from_zero(c, shape[i]);
  const char *why;
  const IterMap *covering = splits_of(a, map, doms, ITER_LEVEL_BIJECTIVE, unit_inputs, &why);
  const IterMap *affine = covering || bijective
                              ? covering
                              : splits_of(a, map, doms, ITER_LEVEL_NO_CHECK, unit_inputs, &why);
  if (!affine) return why ? why : "the indices are not sums of splits of the inputs";
  for (int i = 0; i < affine->n; i++)
    if (!sum_is_dense(a, c, &affine->indices[i],
                      bijective ? tirc_int(c, map->outputs[i]->dtype, 1) : NULL))
      return tirc_format(c, "the terms of %s leave gaps", tirc_print_expr(c, map->outputs[i]));
  Expr *vars = tirc_new_array(c, Expr, map->n_outputs + 1);
  for (int i = 0; i < map->n_outputs; i++)
    vars[i] = tirc_var(c, tirc_format(c, "axis%d", i), map->outputs[i]->dtype);
  PtrMap values = {0};
  tirc_inverse_iter_map(a, affine, vars, &values);
  Expr *indices = tirc_new_array(c, Expr, map->n_inputs + 1);
  for (int i = 0; i < map->n_inputs; i++) {
    Expr e = tirc_map_get(&values, map->inputs[i]);
    out->loses_input = !e && !tirc_is_int(shape[i], 1);
    if (out->loses_input)
      return tirc_format(c, "no index depends on input %s", map->inputs[i]->u.s);
    indices[i] = e ? tirc_simplify(a, e) : tirc_int(c, shape[i]->dtype, 0);
  }
  out->vars = vars;
  out->indices = indices;
  int lost = covering ? -1 : first_lost(s, map, shape, out, tirc_analyzer_of_shapes(s, block));
  out->loses_input = lost >= 0;
  if (lost >= 0)
    return tirc_format(c, "input %s does not follow from the indices", map->inputs[lost]->u.s);
  out->padding = invert_padding(s, a, map, affine, shape, out, &values);
  return NULL;
}

const char *tirc_invert_map(Sched *s, const SRef *block, const IndexMap *map, const Expr *shape,
                            bool bijective, InverseMap *out) {
  InverseMap without;
  const char *why = invert(s, block, map, shape, bijective, true, out);
  if (!why) return NULL;
  if (!invert(s, block, map, shape, bijective, false, &without)) return *out = without, NULL;
  return !bijective && tirc_invert_turned(s, block, map, shape, out) ? NULL : why;
}

/* --- by trying -------------------------------------------------------------------------------- */

enum { MAX_TRIALS = 1 << 20 };

/* The product of constant extents up to MAX_TRIALS; -1 otherwise. */
static int64_t count(int n, const Expr *shape) {
  int64_t product = 1, extent;
  for (int i = 0; i < n; i++)
    if (!tirc_const_int(shape[i], &extent) || extent < 0 ||
        __builtin_mul_overflow(product, extent, &product) || product > 8 * (int64_t)MAX_TRIALS)
      return -1;
  return product;
}

int tirc_try_injective(Tirc *c, const IndexMap *map, const Expr *shape, const Expr *new_shape) {
  int64_t n = count(map->n_inputs, shape), n_places = count(map->n_outputs, new_shape);
  if (n < 0 || n > MAX_TRIALS || n_places < 0) return -1;
  int64_t *at = tirc_new_array(c, int64_t, map->n_inputs + 1);
  bool *taken = tirc_new_array(c, bool, n_places + 1);
  IndexEval values = {.c = c};
  for (int64_t k = 0; k < n; k++) {
    int64_t place = 0, index;
    for (int i = 0; i < map->n_inputs; i++) tirc_eval_give(&values, map->inputs[i], at[i]);
    for (int i = 0; i < map->n_outputs; i++) {
      if (!tirc_eval_index(&values, map->outputs[i], &index)) return -1;
      if (index < 0 || index >= new_shape[i]->u.i) return 0;
      place = place * new_shape[i]->u.i + index;
    }
    if (taken[place]) return 0;
    taken[place] = true;
    for (int i = map->n_inputs - 1; i >= 0 && ++at[i] == shape[i]->u.i; i--) at[i] = 0;
  }
  return 1;
}
