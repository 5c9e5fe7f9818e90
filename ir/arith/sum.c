/* Sums of splits: base + sum of (index % upper // lower) * scale. This is the form in which the
 * canonical simplifier keeps index arithmetic: like terms find each other, and
 *   (x // (c*s)) * s + (x // c) % s
 * is seen to be x // c. All coefficients are checked: a sum whose coefficients would leave the type
 * says so, and its caller falls back to the plain node. */
#include "sum.h"

#include <stdlib.h>

bool tirc_split_mode_fits(const Split *s, bool down) {
  return s->down == down || (s->lower == 1 && s->upper == SPLIT_INF);
}

static bool same_index(const Split *x, const Split *y) {
  return tirc_same_product(x->index, y->index);
}

Expr tirc_split_expr(Tirc *c, DType t, const Split *s, int64_t by) {
  if (s->scale == 0) return tirc_lit(c, t, 0);
  Expr e = s->index;
  if (s->upper != SPLIT_INF)
    e = tirc_binary(c, s->down ? OP_FLOORMOD : OP_TRUNCMOD, e, tirc_lit(c, t, s->upper));
  if (s->lower != 1)
    e = tirc_binary(c, s->down ? OP_FLOORDIV : OP_TRUNCDIV, e, tirc_lit(c, t, s->lower));
  int64_t scale = s->scale * by; /* by is 1 or -1, and a scale is never the least int64 */
  return scale == 1 ? e : tirc_mul(c, e, tirc_lit(c, t, scale));
}

/* Merges neighbours over the same index. The segments of equal index are sorted by descending lower
 * factor, so one pass suffices.
 *
 *   ((x % u) // (c*s)) * s*k + ((x % (c*s)) // c) * k  =>  ((x % u) // c) * k
 * for x % u = p*c*s + q*c + r: the left side is p*s*k + q*k. */
static void merge_neighbours(Split *at, int n) {
  for (int i = 0; i < n; i++) {
    if (at[i].scale == 0) continue;
    for (int j = i + 1; j < n; j++) {
      Split *lhs = &at[i], *rhs = &at[j];
      if (!same_index(lhs, rhs) || lhs->upper < rhs->lower) break;
      int64_t scale;
      bool mode = tirc_split_mode_fits(lhs, rhs->down);
      if (lhs->upper == rhs->upper && lhs->lower == rhs->lower && mode) {
        if (__builtin_add_overflow(lhs->scale, rhs->scale, &scale) || scale == INT64_MIN) continue;
        rhs->scale = scale;
        lhs->scale = 0;
        break;
      }
      if (lhs->lower != rhs->upper || rhs->scale == 0 || !mode || lhs->scale % rhs->scale != 0)
        continue;
      if (__builtin_mul_overflow(lhs->scale / rhs->scale, rhs->lower, &scale) ||
          scale != lhs->lower)
        continue;
      rhs->upper = lhs->upper;
      lhs->scale = 0;
      break;
    }
  }
}

/* Big scales first, then big factors; equal ones keep their order. */
static bool comes_before(const Split *x, const Split *y) {
  if (x->scale != y->scale) return x->scale > y->scale;
  if (x->lower != y->lower) return x->lower > y->lower;
  if (x->upper != y->upper) return x->upper > y->upper;
  return x->down && !y->down;
}

static void sort_splits(Split *at, int n) {
  for (int i = 1; i < n; i++) {
    Split moving = at[i];
    int j = i;
    for (; j > 0 && comes_before(&moving, &at[j - 1]); j--) at[j] = at[j - 1];
    at[j] = moving;
  }
}

Expr tirc_sum_expr(Tirc *c, DType t, const Sum *sum) {
  if (sum->n == 0) return tirc_lit(c, t, sum->base);
  Split *at = tirc_new_array(c, Split, sum->n);
  memcpy(at, sum->at, (size_t)sum->n * sizeof *at);
  merge_neighbours(at, sum->n);
  sort_splits(at, sum->n);
  int64_t base = sum->base;
  bool least = base == tirc_dtype_min(t); /* its negative does not fit the type */
  Expr e = tirc_lit(c, t, 0);
  for (int i = 0; i < sum->n; i++)
    if (at[i].scale > 0) e = tirc_add(c, e, tirc_split_expr(c, t, &at[i], 1));
  if (base > 0 || least) e = tirc_add(c, e, tirc_lit(c, t, base));
  for (int i = 0; i < sum->n; i++)
    if (at[i].scale < 0) e = tirc_sub(c, e, tirc_split_expr(c, t, &at[i], -1));
  if (base < 0 && !least) e = tirc_sub(c, e, tirc_lit(c, t, -base));
  return e;
}

/* --- arithmetic; false when a coefficient leaves the type ------------------------------------- */

static bool in_type(DType t, int64_t v) {
  return v > tirc_dtype_min(t) && v <= tirc_dtype_max(t) && v != INT64_MIN;
}

bool tirc_sum_add_const(DType t, Sum *sum, int64_t v) {
  return !__builtin_add_overflow(sum->base, v, &sum->base) && in_type(t, sum->base);
}

bool tirc_sum_scale(DType t, Sum *sum, int64_t by) {
  if (__builtin_mul_overflow(sum->base, by, &sum->base) || !in_type(t, sum->base)) return false;
  for (int i = 0; i < sum->n; i++)
    if (__builtin_mul_overflow(sum->at[i].scale, by, &sum->at[i].scale) ||
        !in_type(t, sum->at[i].scale))
      return false;
  return true;
}

static void insert(Tirc *c, Sum *sum, int at, Split s) {
  Split *grown = tirc_new_array(c, Split, sum->n + 1);
  if (sum->n) {
    memcpy(grown, sum->at, (size_t)at * sizeof *grown);
    memcpy(grown + at + 1, sum->at + at, (size_t)(sum->n - at) * sizeof *grown);
  }
  grown[at] = s;
  sum->at = grown;
  sum->n++;
}

bool tirc_sum_add_split(Tirc *c, DType t, Sum *sum, Split s, int64_t by) {
  if (s.scale == 0) return true;
  if (__builtin_mul_overflow(s.scale, by, &s.scale) || !in_type(t, s.scale)) return false;
  int start = 0;
  while (start < sum->n && !same_index(&sum->at[start], &s)) start++;
  for (int j = start; j < sum->n; j++) {
    Split *there = &sum->at[j];
    if (!same_index(there, &s) || s.lower > there->lower) {
      insert(c, sum, j, s);
      return true;
    }
    if (s.lower == there->lower && s.upper == there->upper && tirc_split_mode_fits(&s, there->down))
      return !__builtin_add_overflow(there->scale, s.scale, &there->scale) &&
             in_type(t, there->scale);
  }
  insert(c, sum, sum->n, s);
  return true;
}

bool tirc_sum_add(Tirc *c, DType t, Sum *sum, const Sum *other, int64_t by) {
  for (int i = 0; i < other->n; i++)
    if (!tirc_sum_add_split(c, t, sum, other->at[i], by)) return false;
  int64_t base;
  return !__builtin_mul_overflow(other->base, by, &base) && tirc_sum_add_const(t, sum, base);
}

void tirc_sum_divide(Sum *sum, int64_t by) {
  sum->base /= by;
  for (int i = 0; i < sum->n; i++) sum->at[i].scale /= by;
}

Sum tirc_sum_copy(Tirc *c, const Sum *sum) {
  Sum out = {sum->n, NULL, sum->base};
  if (sum->n) {
    out.at = tirc_new_array(c, Split, sum->n);
    memcpy(out.at, sum->at, (size_t)sum->n * sizeof *out.at);
  }
  return out;
}

void tirc_sum_separate(Tirc *c, const Sum *sum, int64_t by, Sum *divisible, Sum *rest) {
  *divisible = *rest = (Sum){0};
  *(sum->base % by == 0 ? &divisible->base : &rest->base) = sum->base;
  for (int i = 0; i < sum->n; i++) {
    Sum *to = sum->at[i].scale % by == 0 ? divisible : rest;
    insert(c, to, to->n, sum->at[i]);
  }
}
