/* Fusing: a sum of splits as one iterator.
 *
 *   i*12 + j*3 + k  with j < 4 and k < 3   is   f*1,  f = fuse(i, j, k)
 *
 * Starting at the smallest scale, each further split must have the scale that the extents so far
 * demand. Where a predicate bounds a partial sum (j*3 + k < 10), that partial sum counts as one
 * iterator of the smaller extent. If bijectivity is not asked for, scales may also fall behind
 * (overlap is then accounted for in the extent). The result is cached by the flattened list of
 * splits, so that equal sums become the same mark. */
#include "itermap.h"

#include <stdio.h>

void tirc_iter_fail(IterRewriter *r, const char *format, ...) {
  if (r->why) return;
  va_list args;
  va_start(args, format);
  r->why = tirc_vformat(r->c, format, args);
  va_end(args);
}

IterSplit tirc_iter_split_of(Tirc *c, const IterMark *mark, Expr scale) {
  DType t = mark->extent->dtype;
  return (IterSplit){mark, tirc_lit(c, t, 1), mark->extent, scale ? scale : tirc_lit(c, t, 1)};
}

IterSum tirc_iter_one(Tirc *c, IterSplit s, Expr base) {
  IterSplit *at = tirc_new(c, IterSplit);
  *at = s;
  return (IterSum){1, at, base};
}

bool tirc_iter_split_equal(const IterSplit *x, const IterSplit *y, bool with_scale) {
  return x->source == y->source && tirc_expr_same(x->lower_factor, y->lower_factor) &&
         (!with_scale || tirc_expr_same(x->scale, y->scale)) &&
         tirc_expr_same(x->extent, y->extent);
}

static bool sum_equal(const IterSum *x, const IterSum *y) {
  if (x->n != y->n || !tirc_expr_same(x->base, y->base)) return false;
  for (int i = 0; i < x->n; i++)
    if (!tirc_iter_split_equal(&x->args[i], &y->args[i], true)) return false;
  return true;
}

static int find_flattened(IterRewriter *r, const IterSum *flattened) {
  for (int i = 0; i < r->fused.n; i++)
    if (sum_equal(&r->fused.at[i].flattened, flattened)) return i;
  return -1;
}

static int product_size(Tirc *c, Expr e) {
  ExprVec factors = {0};
  tirc_unpack(c, OP_MUL, e, &factors);
  return factors.n;
}

/* The split to start with: the smallest constant scale, unit extents first among equals; without
 * constant scales the one with the fewest factors. From `last` downwards. -1: none. */
static int find_base(IterRewriter *r, const IterSum *s, const bool *used, const IterMark *source,
                     int last) {
  int best = -1;
  int64_t least = 0;
  for (int i = last; i >= 0; i--) {
    if (used[i] || (source && s->args[i].source != source)) continue;
    int64_t scale;
    if (!tirc_const_int(s->args[i].scale, &scale)) continue;
    if (best < 0 || scale < least) {
      least = scale;
      best = i;
    } else if (scale == least && tirc_is_int(s->args[i].extent, 1) &&
               !tirc_is_int(s->args[best].extent, 1)) {
      best = i;
    }
  }
  int fewest = 0;
  for (int i = last; i >= 0; i--) {
    if (used[i] || (source && s->args[i].source != source)) continue;
    int size = product_size(r->c, s->args[i].scale);
    if (best < 0 || size < fewest) {
      fewest = size;
      best = i;
    }
  }
  return best;
}

static int first_unit_extent(const IterSum *s) {
  int i = 0;
  while (i < s->n && !tirc_is_int(s->args[i].extent, 1)) i++;
  return i;
}

/* The split with exactly that scale; unit extents win, they do not change the scale that comes
 * next. */
static int find_exact(IterRewriter *r, const IterSum *s, const bool *used, Expr scale,
                      const IterMark *source, int last, int first_unit) {
  int match = -1;
  for (int i = last; i >= 0; i--) {
    if (used[i] || (source && s->args[i].source != source)) continue;
    if (!tirc_prove_equal(r->a, s->args[i].scale, scale)) continue;
    if (tirc_is_int(s->args[i].extent, 1)) return i;
    if (match < 0) match = i;
    if (i <= first_unit) return match;
  }
  return match;
}

/* The split whose scale is below the one expected and closest to it. */
static int find_closest(IterRewriter *r, const IterSum *s, const bool *used, Expr scale) {
  Tirc *c = r->c;
  int match = -1;
  for (int i = s->n - 1; i >= 0; i--) {
    if (used[i]) continue;
    Expr own = s->args[i].scale;
    if (!tirc_can_prove_ge(r->a, tirc_sub(c, scale, own), 0) || !tirc_can_prove_ge(r->a, own, 0))
      continue;
    if (match < 0 || tirc_can_prove_ge(r->a, tirc_sub(c, own, s->args[match].scale), 1)) match = i;
  }
  return match;
}

/* ((x // (c*s)) % m) * s + (x // c) % s  =>  (x // c) % (m*s), within a sum. */
static bool combine_same_source(IterRewriter *r, IterSum *sum) {
  Tirc *c = r->c;
  if (sum->n <= 1) return false;
  int *hits = tirc_new_array(c, int, sum->n);
  bool overlap = false;
  for (int i = 0; i < sum->n; i++)
    for (int j = 0; j < sum->n; j++) {
      if (sum->args[i].source == sum->args[j].source) hits[i]++;
      overlap = overlap || (i != j && sum->args[i].source == sum->args[j].source);
    }
  if (!overlap) return false;
  bool *used = tirc_new_array(c, bool, sum->n);
  IterSplit *out = tirc_new_array(c, IterSplit, sum->n);
  int n = 0, unit = first_unit_extent(sum);
  for (int last = sum->n - 1; last >= 0;) {
    if (used[last]) {
      last--;
      continue;
    }
    if (hits[last] == 1) {
      out[n++] = sum->args[last];
      used[last--] = true;
      continue;
    }
    const IterMark *source = sum->args[last].source;
    int at = find_base(r, sum, used, source, last);
    used[at] = true;
    IterSplit low = sum->args[at];
    for (;;) {
      at = find_exact(r, sum, used, tirc_mul_normalize(c, low.extent, low.scale), source, last,
                      unit);
      if (at < 0) break;
      IterSplit high = sum->args[at];
      if (!tirc_prove_equal(r->a, high.lower_factor,
                            tirc_mul_normalize(c, low.lower_factor, low.extent)))
        break;
      used[at] = true;
      low.extent = tirc_mul_normalize(c, high.extent, low.extent);
    }
    out[n++] = low;
  }
  for (int i = 0; i < n / 2; i++) {
    IterSplit swap = out[i];
    out[i] = out[n - 1 - i];
    out[n - 1 - i] = swap;
  }
  *sum = (IterSum){n, out, sum->base};
  return true;
}

/* A fusion in progress; splits are gathered from inner to outer. */
typedef struct Fusion {
  IterRewriter *r;
  IterSum sum;
  bool *used;
  IterSplit *flat, *grouped;
  int n_flat, n_grouped;
  Expr base_scale, expected, extra_base, tail;
} Fusion;

/* The longest constrained sum whose innermost split is that one. */
static int find_constraint(IterRewriter *r, const IterSplit *s) {
  int best = -1;
  for (int i = 0; i < r->constrained.n; i++) {
    const IterSum *f = &r->fused.at[r->constrained.at[i]].flattened;
    if (!tirc_iter_split_equal(s, &f->args[f->n - 1], false)) continue;
    if (best < 0 || r->fused.at[best].flattened.n < f->n) best = r->constrained.at[i];
  }
  return best;
}

/* By the scale of the innermost split, which the others are multiples of. */
static Expr over_base(const Fusion *f, Expr scale) {
  Analyzer *a = f->r->a;
  if (tirc_prove_equal(a, scale, f->base_scale)) return tirc_lit(f->r->c, scale->dtype, 1);
  return tirc_simplify(a, tirc_floordiv(f->r->c, scale, f->base_scale));
}

/* Takes all splits of a constrained sum at once. */
static bool take_constrained(Fusion *f, int which, Expr scale) {
  IterRewriter *r = f->r;
  Tirc *c = r->c;
  const FusedIter *it = &r->fused.at[which];
  for (int i = it->flattened.n - 1; i >= 0; i--) {
    const IterSplit *want = &it->flattened.args[i];
    int k = 0;
    for (; k < f->sum.n; k++)
      if (!f->used[k] && tirc_iter_split_equal(&f->sum.args[k], want, false) &&
          tirc_prove_equal(r->a, tirc_mul(c, want->scale, scale), f->sum.args[k].scale))
        break;
    if (k == f->sum.n) return false;
    f->used[k] = true;
    f->flat[f->n_flat++] = f->sum.args[k];
  }
  f->grouped[f->n_grouped++] = tirc_iter_split_of(c, it->mark, over_base(f, scale));
  f->extra_base = tirc_add(c, f->extra_base, tirc_mul(c, it->offset, scale));
  return true;
}

static void take_split(Fusion *f, int at) {
  f->used[at] = true;
  IterSplit s = f->sum.args[at];
  s.scale = over_base(f, s.scale);
  f->flat[f->n_flat++] = s;
  f->grouped[f->n_grouped++] = s;
}

static bool gather(Fusion *f, int base) {
  IterRewriter *r = f->r;
  Tirc *c = r->c;
  int unit = first_unit_extent(&f->sum);
  for (int taken = 0; taken < f->sum.n;) {
    int at =
        taken == 0 ? base : find_exact(r, &f->sum, f->used, f->expected, NULL, f->sum.n - 1, unit);
    Expr scale = f->expected;
    bool exact = at >= 0;
    if (!exact && r->level != ITER_LEVEL_BIJECTIVE && tirc_is_int(f->base_scale, 1)) {
      at = find_closest(r, &f->sum, f->used, f->expected);
      if (at >= 0) scale = f->sum.args[at].scale;
    }
    if (at < 0) return false;
    if (!exact) f->tail = tirc_add(c, f->tail, tirc_sub(c, f->expected, scale));
    int constraint = find_constraint(r, &f->sum.args[at]);
    if (constraint >= 0) {
      if (!take_constrained(f, constraint, scale)) return false;
      f->expected = tirc_mul_normalize(c, r->fused.at[constraint].mark->extent, scale);
      taken += r->fused.at[constraint].flattened.n;
    } else {
      take_split(f, at);
      f->expected = tirc_mul_normalize(c, f->sum.args[at].extent, scale);
      taken++;
    }
  }
  return true;
}

static IterSum outermost_first(Tirc *c, const IterSplit *at, int n, DType t) {
  IterSplit *out = tirc_new_array(c, IterSplit, n);
  for (int i = 0; i < n; i++) out[i] = at[n - 1 - i];
  return (IterSum){n, out, tirc_lit(c, t, 0)};
}

bool tirc_iter_fuse(IterRewriter *r, IterSum sum, bool early, IterSum *out) {
  Tirc *c = r->c;
  if (combine_same_source(r, &sum) && sum.n <= 1 && early) {
    *out = sum;
    return true;
  }
  DType t = sum.base->dtype;
  Expr zero = tirc_lit(c, t, 0);
  Fusion f = {.r = r, .sum = sum, .extra_base = zero, .tail = zero};
  f.used = tirc_new_array(c, bool, sum.n);
  f.flat = tirc_new_array(c, IterSplit, sum.n);
  f.grouped = tirc_new_array(c, IterSplit, sum.n);
  int base = find_base(r, &sum, f.used, NULL, sum.n - 1);
  if (base < 0) return false;
  f.base_scale = f.expected = sum.args[base].scale;
  if (!gather(&f, base)) return false;
  IterSum flattened = outermost_first(c, f.flat, f.n_flat, t);
  IterSum structured = outermost_first(c, f.grouped, f.n_grouped, t);
  int known = find_flattened(r, &flattened);
  const IterMark *mark;
  if (known >= 0) {
    mark = r->fused.at[known].mark;
    Expr offset = tirc_mul(c, r->fused.at[known].offset, f.base_scale);
    if (!tirc_prove_equal(r->a, f.extra_base, offset)) return false;
  } else {
    IterMark *fresh = tirc_new(c, IterMark);
    fresh->sum = tirc_new(c, IterSum);
    *fresh->sum = structured;
    Expr reach = tirc_is_int(f.base_scale, -1)
                     ? tirc_sub(c, zero, f.expected)
                     : tirc_binary(c, OP_TRUNCDIV, f.expected, f.base_scale);
    fresh->extent = tirc_add(c, reach, f.tail);
    mark = fresh;
    FusedIter it = {flattened, structured, mark, f.extra_base, mark->extent};
    vec_push(c, r->fused, it);
  }
  *out = tirc_iter_one(c, tirc_iter_split_of(c, mark, f.base_scale),
                       tirc_add(c, sum.base, f.extra_base));
  return true;
}

/* --- independence ----------------------------------------------------------------------------- */

static bool is_padded(IterRewriter *r, const IterMark *mark, const IterMark **origin) {
  for (int i = 0; i < r->paddings.n; i++)
    if (r->paddings.at[i].padded == mark) return *origin = r->paddings.at[i].mark, true;
  return false;
}

/* The unused split with the smallest lower factor that all others are multiples of; -1: none. */
static int skip_to(IterRewriter *r, int n, const IterSplit *const *s, const bool *used,
                   Expr expected) {
  int best = -1;
  for (int i = 0; i < n; i++) {
    if (used[i]) continue;
    if (!tirc_iter_divisible(r->a, s[i]->lower_factor, expected)) return -1;
    if (best < 0 || tirc_iter_divisible(r->a, s[best]->lower_factor, s[i]->lower_factor)) best = i;
  }
  return best;
}

/* Whether the splits of one mark do not overlap, and cover it as far as the level demands. */
static bool check_mark(IterRewriter *r, const IterMark *mark, int n, const IterSplit *const *s) {
  Tirc *c = r->c;
  bool *used = tirc_new_array(c, bool, n);
  Expr expected = tirc_lit(c, mark->extent->dtype, 1);
  for (int i = 0; i < n; i++) {
    int j = 0;
    while (j < n && (used[j] || !tirc_prove_equal(r->a, s[j]->lower_factor, expected))) j++;
    if (j == n) {
      if (r->level == ITER_LEVEL_BIJECTIVE) return false;
      j = skip_to(r, n, s, used, expected);
      if (j < 0) return false;
    }
    used[j] = true;
    expected = tirc_mul(c, s[j]->lower_factor, s[j]->extent);
  }
  const IterMark *origin = NULL;
  bool padded = is_padded(r, mark, &origin);
  bool full = tirc_prove_equal(r->a, expected, mark->extent);
  bool divides = full || tirc_iter_divisible(r->a, mark->extent, expected);
  if (r->level == ITER_LEVEL_BIJECTIVE) return full && !padded;
  if (!padded) return divides;
  if (r->level != ITER_LEVEL_SURJECTIVE) return true;
  bool reached = tirc_prove(r->a, tirc_binary(c, OP_GE, origin->extent, expected));
  if (full) return n == 1 && (!tirc_prove_equal(r->a, s[0]->extent, expected) || reached);
  return divides && reached;
}

/* Whether the upper bound of `it` follows from that of a larger sum: from k * small <= large < end
 * follows small <= (end - 1) / k. So it is where a loop was split, fused and split again. */
static bool constraint_implied(IterRewriter *r, const FusedIter *it, const FusedIter *by) {
  Tirc *c = r->c;
  const IterSplit *small = &it->flattened.args[0], *large = &by->flattened.args[0];
  int64_t bound, extent, offset, end, ks, kl;
  if (!tirc_is_int(it->offset, 0) || !tirc_const_int(it->mark->extent, &bound) ||
      !tirc_const_int(by->mark->extent, &extent) || !tirc_const_int(by->offset, &offset) ||
      !tirc_const_int(small->scale, &ks) || !tirc_const_int(large->scale, &kl) || ks <= 0 ||
      kl < ks || __builtin_add_overflow(offset, extent, &end) || end <= 0)
    return false;
  int64_t k = kl / ks;
  Expr scaled =
      tirc_mul(c, tirc_iter_sum_expr(r->a, &it->flattened), tirc_lit(c, small->extent->dtype, k));
  Expr gap = tirc_sub(c, tirc_iter_sum_expr(r->a, &by->flattened), scaled);
  return (end - 1) / k < bound && tirc_can_prove_ge(r->a, tirc_simplify(r->a, gap), 0);
}

/* Whether the indices use this mark or, of a fused one, what was fused. */
static bool uses_mark(SplitCollector *k, const IterMark *mark) {
  bool used = tirc_mark_splits(k, mark);
  for (int i = 0; mark->sum && !used && i < mark->sum->n; i++)
    used = uses_mark(k, mark->sum->args[i].source);
  return used;
}

/* A predicate that cuts a sum cuts its terms too: indices that use the terms without the sum are
 * not independent, unless the bound cuts nothing. */
static bool constraint_respected(IterRewriter *r, SplitCollector *k, const FusedIter *it) {
  if (tirc_mark_splits(k, it->mark)) return true;
  bool used = false;
  for (int i = 0; i < it->flattened.n; i++)
    used = used || uses_mark(k, it->flattened.args[i].source);
  if (!used || tirc_prove_equal(r->a, it->mark->extent, it->full_extent)) return true;
  for (int i = 0; i < r->constrained.n; i++) {
    const FusedIter *by = &r->fused.at[r->constrained.at[i]];
    if (by != it && tirc_mark_splits(k, by->mark) && constraint_implied(r, it, by)) return true;
  }
  return false;
}

bool tirc_iter_check(IterRewriter *r, int n, const IterSum *sums) {
  SplitCollector k = {.c = r->c};
  tirc_collect_splits(&k, n, sums);
  for (int i = 0; i < r->constrained.n && r->level != ITER_LEVEL_NO_CHECK; i++)
    if (!constraint_respected(r, &k, &r->fused.at[r->constrained.at[i]])) {
      tirc_iter_fail(r, "the predicate bounds a sum of which the indices use only parts");
      return false;
    }
  for (int i = 0; i < k.marks.n; i++) {
    MarkSplits *m = &k.marks.at[i];
    if (!check_mark(r, m->mark, m->splits.n, m->splits.at)) {
      const char *name = m->mark->var
                             ? m->mark->var->op == OP_VAR ? m->mark->var->u.s : "an iterator"
                             : "a fused iterator";
      tirc_iter_fail(r, "the uses of %s overlap or do not cover it evenly", name);
      return false;
    }
  }
  if (r->level != ITER_LEVEL_BIJECTIVE) return true;
  for (int i = 0; i < r->inputs.n; i++)
    if (!tirc_mark_splits(&k, r->inputs.at[i]) && !tirc_is_int(r->inputs.at[i]->extent, 1)) {
      Expr var = r->inputs.at[i]->var;
      tirc_iter_fail(r, "the iterator %s is not used",
                     var->op == OP_VAR ? var->u.s : "with an offset");
      return false;
    }
  return true;
}

/* --- splits by mark --------------------------------------------------------------------------- */

MarkSplits *tirc_mark_splits(SplitCollector *k, const IterMark *mark) {
  for (int i = 0; i < k->marks.n; i++)
    if (k->marks.at[i].mark == mark) return &k->marks.at[i];
  return NULL;
}

static void collect_sum(SplitCollector *k, const IterSum *sum) {
  for (int i = 0; i < sum->n; i++) {
    const IterSplit *s = &sum->args[i];
    if (!tirc_mark_splits(k, s->source)) {
      MarkSplits m = {.mark = s->source};
      vec_push(k->c, k->marks, m);
      if (s->source->sum) collect_sum(k, s->source->sum);
    }
    MarkSplits *m = tirc_mark_splits(k, s->source);
    vec_push(k->c, m->splits, s);
  }
}

void tirc_collect_splits(SplitCollector *k, int n, const IterSum *sums) {
  for (int i = 0; i < n; i++) collect_sum(k, &sums[i]);
}
