/* Splitting an iterator by // and %, padding it where the divisor does not divide its extent.
 *
 * For i in [0, 18), i // 4 and i % 4 are splits of an iterator of extent 20 whose last two values
 * do not occur. All splits of one iterator must be padded alike; so indices are rewritten twice:
 * the first pass gathers the divisors and the paddings on the left that each iterator needs, the
 * second one uses them. */
#include "itermap.h"

bool tirc_iter_divisible(Analyzer *a, Expr x, Expr by) {
  int64_t v, k;
  if (tirc_is_int(by, 0)) return false;
  if (tirc_const_int(x, &v) && tirc_const_int(by, &k)) return k == -1 || v % k == 0;
  Expr rest = tirc_floormod(a->c, x, by);
  return tirc_prove_equal(a, x, by) ||
         tirc_prove(a, tirc_eq(a->c, rest, tirc_lit(a->c, rest->dtype, 0)));
}

static Expr ceildiv(Analyzer *a, Expr x, Expr by) {
  Tirc *c = a->c;
  Expr up = tirc_add(c, x, tirc_sub(c, by, tirc_lit(c, by->dtype, 1)));
  return tirc_simplify(a, tirc_floordiv(c, up, by));
}

static bool is_zero(Expr e) { return tirc_is_int(e, 0); }

static void constant_factor(Tirc *c, Expr e, Expr *symbolic, int64_t *factor) {
  *symbolic = e;
  *factor = 1;
  if (e->op == OP_INT) {
    *symbolic = tirc_lit(c, e->dtype, 1);
    *factor = e->u.i;
  } else if (e->op == OP_MUL && e->args[1]->op == OP_INT) {
    *symbolic = e->args[0];
    *factor = e->args[1]->u.i;
  } else if (e->op == OP_MUL && e->args[0]->op == OP_INT) {
    *symbolic = e->args[1];
    *factor = e->args[0]->u.i;
  }
}

/* A common multiple, the least as far as symbols allow. NULL on overflow. */
static Expr common_multiple(Analyzer *a, Expr x, Expr y) {
  Tirc *c = a->c;
  Expr sx, sy;
  int64_t fx, fy, multiple;
  constant_factor(c, x, &sx, &fx);
  constant_factor(c, y, &sy, &fy);
  int64_t g = tirc_gcd(fx, fy);
  if (g == 0 || __builtin_mul_overflow(fx / g, fy, &multiple)) return NULL;
  DType t = y->dtype;
  if (multiple > tirc_dtype_max(t) || multiple < tirc_dtype_min(t)) return NULL;
  Expr k = tirc_lit(c, t, multiple);
  if (tirc_prove_equal(a, sx, sy) || tirc_iter_divisible(a, sx, sy)) return tirc_mul(c, sx, k);
  if (tirc_iter_divisible(a, sy, sx)) return tirc_mul(c, sy, k);
  return tirc_mul(c, tirc_mul(c, sx, sy), k);
}

static bool marks_same(const IterMark *x, const IterMark *y) {
  if (x == y) return true;
  if (!tirc_expr_same(x->extent, y->extent) || !x->var != !y->var) return false;
  if (x->var) return tirc_expr_same(x->var, y->var);
  if (x->sum->n != y->sum->n || !tirc_expr_same(x->sum->base, y->sum->base)) return false;
  for (int i = 0; i < x->sum->n; i++) {
    const IterSplit *p = &x->sum->args[i], *q = &y->sum->args[i];
    if (!marks_same(p->source, q->source) || !tirc_expr_same(p->scale, q->scale) ||
        !tirc_expr_same(p->extent, q->extent) || !tirc_expr_same(p->lower_factor, q->lower_factor))
      return false;
  }
  return true;
}

static IterPadding *find_padding(IterRewriter *r, const IterMark *mark) {
  for (int i = 0; i < r->paddings.n; i++)
    if (marks_same(r->paddings.at[i].mark, mark)) return &r->paddings.at[i];
  return NULL;
}

/* First pass: notes what the mark of s needs, and gives s an extent that `by` divides. */
static bool note_padding(IterRewriter *r, IterSplit *s, Expr by, Expr *left, Expr right) {
  Tirc *c = r->c;
  Expr zero = tirc_lit(c, by->dtype, 0);
  IterPadding *p = find_padding(r, s->source);
  if (!p) {
    IterPadding fresh = {s->source, NULL, tirc_lit(c, by->dtype, 1), zero};
    vec_push(c, r->paddings, fresh);
    p = &r->paddings.at[r->paddings.n - 1];
  }
  Expr factor = common_multiple(r->a, p->factor, tirc_mul(c, by, s->lower_factor));
  if (!factor) return false;
  p->factor = factor;
  if (is_zero(*left) && is_zero(right)) {
    *left = zero;
    return true;
  }
  r->requires_padding = true;
  p->left = tirc_max(c, p->left, tirc_mul(c, *left, s->lower_factor));
  s->extent = tirc_simplify(r->a, tirc_add(c, tirc_add(c, *left, s->extent), right));
  return true;
}

static Expr and_compare(Tirc *c, Expr needed, Op op, Expr x, Expr y, Expr also) {
  return tirc_and(c, needed, tirc_and(c, also, tirc_binary(c, op, x, y)));
}

/* The values of the padded iterator that the original one does not have. */
static void extend_predicate(IterRewriter *r, const IterPadding *p, Expr left, Expr right,
                             Expr edge) {
  Tirc *c = r->c;
  Expr source = tirc_iter_sum_expr(r->a, p->padded->sum), zero = tirc_lit(c, left->dtype, 0);
  Expr high = tirc_floordiv(c, source, p->factor), low = tirc_floormod(c, source, p->factor);
  Expr before =
      and_compare(c, tirc_binary(c, OP_NE, left, zero), OP_LT, low, left, tirc_eq(c, high, zero));
  Expr after = and_compare(c, tirc_binary(c, OP_NE, right, zero), OP_GE, low,
                           tirc_floormod(c, edge, p->factor),
                           tirc_eq(c, high, tirc_floordiv(c, edge, p->factor)));
  r->padding_predicate =
      tirc_binary(c, OP_OR, r->padding_predicate, tirc_binary(c, OP_OR, before, after));
}

static Expr negative(Tirc *c, Expr e) { return tirc_sub(c, tirc_lit(c, e->dtype, 0), e); }

/* Whether the remainder that s takes is none: (mark // lower) % extent == mark // lower. */
static bool covers_mark(IterRewriter *r, const IterSplit *s) {
  Expr reach = tirc_mul(r->c, s->extent, s->lower_factor);
  return tirc_prove_equal(r->a, reach, s->source->extent) ||
         tirc_prove_ge(r->a, reach, s->source->extent);
}

/* The padded mark, made when it is first needed. */
static void make_padded(IterRewriter *r, IterPadding *p, const IterMark *mark) {
  Tirc *c = r->c;
  Expr edge = tirc_add(c, mark->extent, p->left), zero = tirc_lit(c, edge->dtype, 0);
  Expr right = tirc_iter_divisible(r->a, edge, p->factor)
                   ? zero
                   : tirc_floormod(c, negative(c, edge), p->factor);
  IterMark *padded = tirc_new(c, IterMark);
  padded->sum = tirc_new(c, IterSum);
  *padded->sum = tirc_iter_one(c, tirc_iter_split_of(c, mark, NULL), p->left);
  padded->extent = tirc_simplify(r->a, tirc_add(c, edge, right));
  p->padded = padded;
  extend_predicate(r, p, p->left, right, edge);
}

/* Second pass: with m' = m + L, where lower divides L and the split reaches the end of the mark,
 *   (m // lower + base) // by == m' // lower // by + (base - L / lower) // by
 * as long as `by` divides base - L / lower. */
static bool use_padded(IterRewriter *r, IterPadding *p, const IterSplit *s, Expr base, Expr by,
                       Expr *left) {
  Tirc *c = r->c;
  Analyzer *a = r->a;
  bool fits = tirc_iter_divisible(a, p->left, s->lower_factor);
  if (fits) {
    *left = tirc_floordiv(c, p->left, s->lower_factor);
    fits =
        tirc_iter_divisible(a, tirc_simplify(a, tirc_sub(c, base, *left)), by) && covers_mark(r, s);
  }
  if (!fits)
    tirc_iter_fail(r, "the splits of an iterator need different paddings");
  else if (!p->padded)
    make_padded(r, p, s->source);
  return fits;
}

/* s + base, padded so that `by` divides: *left is what was added on the left. */
static bool pad(IterRewriter *r, IterSplit *s, Expr base, Expr by, Expr *left) {
  Tirc *c = r->c;
  *left = tirc_simplify(r->a, tirc_floormod(c, base, by));
  Expr edge = tirc_add(c, *left, s->extent);
  Expr right = tirc_iter_divisible(r->a, edge, by)
                   ? tirc_lit(c, by->dtype, 0)
                   : tirc_simplify(r->a, tirc_floormod(c, negative(c, edge), by));
  if (r->update_padding) {
    if (note_padding(r, s, by, left, right)) return true;
    tirc_iter_fail(r, "the padding of an iterator is too large");
    return false;
  }
  IterPadding *p = find_padding(r, s->source);
  if (!p || (is_zero(p->left) && tirc_iter_divisible(r->a, s->source->extent, p->factor))) {
    if (is_zero(*left)) return true;
    tirc_iter_fail(r, "an offset before a division needs padding");
    return false;
  }
  if (!tirc_iter_divisible(r->a, p->factor, s->lower_factor) ||
      !tirc_iter_divisible(r->a, p->factor, by)) {
    tirc_iter_fail(r, "the splits of an iterator need different paddings");
    return false;
  }
  if (!use_padded(r, p, s, base, by, left)) return false;
  s->source = p->padded;
  s->extent = tirc_floordiv(c, p->padded->extent, s->lower_factor);
  return true;
}

/* Divides a common factor of the scale out of the divisor. `done` is set when the result is known.
 */
static bool unscale(IterRewriter *r, Op op, IterSplit *s, Expr *base, Expr *by, bool *done,
                    IterValue *out) {
  Tirc *c = r->c;
  Analyzer *a = r->a;
  *done = false;
  int64_t scale;
  if (tirc_is_int(s->scale, 1)) return true;
  if (tirc_iter_divisible(a, s->scale, *by) &&
      (is_zero(*base) || tirc_iter_divisible(a, *base, *by))) {
    *done = true;
    if (op == OP_FLOORMOD) {
      *out = (IterValue){.e = tirc_lit(c, s->scale->dtype, 0)};
      return true;
    }
    s->scale = tirc_floordiv(c, s->scale, *by);
    *out = (IterValue){.sum = tirc_iter_one(c, *s, tirc_floordiv(c, *base, *by))};
    return true;
  }
  if ((tirc_const_int(s->scale, &scale) && scale < 0) || !tirc_iter_divisible(a, *by, s->scale) ||
      (!is_zero(*base) && !tirc_iter_divisible(a, *base, s->scale))) {
    tirc_iter_fail(r, "the scale of an iterator and the divisor do not divide each other");
    return false;
  }
  *by = tirc_floordiv(c, *by, s->scale);
  *base = tirc_floordiv(c, *base, s->scale);
  if (op == OP_FLOORDIV) s->scale = tirc_lit(c, (*by)->dtype, 1);
  return true;
}

/* A split as an iterator of its own. */
static IterSplit wrapped(Tirc *c, IterSplit s) {
  IterMark *mark = tirc_new(c, IterMark);
  mark->sum = tirc_new(c, IterSum);
  *mark->sum = tirc_iter_one(c, s, tirc_lit(c, s.extent->dtype, 0));
  mark->extent = s.extent;
  return tirc_iter_split_of(c, mark, NULL);
}

static IterValue floordiv_split(IterRewriter *r, IterSplit s, Expr base, Expr by, Expr left) {
  Tirc *c = r->c;
  Analyzer *a = r->a;
  IterSplit out = s;
  if (tirc_iter_divisible(a, s.extent, by)) {
    out.lower_factor = tirc_mul(c, s.lower_factor, by);
    out.extent = tirc_simplify(a, tirc_floordiv(c, s.extent, by));
  } else if (tirc_is_int(s.lower_factor, 1) && tirc_prove_equal(a, s.extent, s.source->extent)) {
    out.lower_factor = by;
    out.extent = ceildiv(a, s.extent, by);
  } else {
    out = wrapped(c, s);
    out.lower_factor = by;
    out.extent = ceildiv(a, s.extent, by);
  }
  Expr rest = tirc_simplify_steps(a, tirc_floordiv(c, tirc_sub(c, base, left), by), 6);
  return (IterValue){.sum = tirc_iter_one(c, out, rest)};
}

/* y % e op by where by does not divide e: no padding of the mark helps. */
static bool divide_remainder(IterRewriter *r, Op op, IterSplit s, Expr base, Expr by,
                             IterValue *out) {
  Tirc *c = r->c;
  bool low = is_zero(base) && tirc_prove_ge(r->a, by, s.extent);
  if (op == OP_FLOORMOD && low) {
    *out = (IterValue){.sum = tirc_iter_one(c, s, base)};
    return true;
  }
  if (op == OP_FLOORDIV && tirc_iter_divisible(r->a, base, by)) {
    *out = floordiv_split(r, s, base, by, tirc_lit(c, by->dtype, 0));
    return true;
  }
  tirc_iter_fail(r, "the divisors of an iterator do not divide each other");
  return false;
}

/* Whether s stays below the next multiple of some g that divides both what is below base and the
 * divisor: base == g*k + low, and 0 <= low + s < g. So it is in f*16 + i for i < 16. Then
 *   (base + s) // by == base // by    and    (base + s) % by == base % by + s
 * unless there is no s at all, of which a quotient without it would say nothing. A known offset is
 * no such base: it says where to pad. A symbolic divisor is left alone: intervals know nothing of
 * tiles there, and what they make of one could not be compared with it. */
static bool never_carries(IterRewriter *r, const IterSplit *s, Expr base, Expr by) {
  const Modular of_base = tirc_modular(r->a, base);
  const Bound extent = tirc_const_bound(r->a, s->extent);
  int64_t divisor, scale, reach;
  if (!tirc_const_int(by, &divisor) || divisor < 1 || !tirc_const_int(s->scale, &scale) ||
      of_base.coeff == 0 || extent.min < 1 || __builtin_mul_overflow(extent.max - 1, scale, &reach))
    return false;
  const int64_t g = tirc_gcd(of_base.coeff, divisor);
  return g > 1 && reach >= 0 && reach < g - tirc_floormod64(of_base.base, g);
}

bool tirc_iter_divide(IterRewriter *r, Op op, IterSplit s, Expr base, Expr by, IterValue *out) {
  Tirc *c = r->c;
  if (tirc_is_int(by, 1)) {
    if (op == OP_FLOORMOD)
      *out = (IterValue){.e = tirc_lit(c, s.extent->dtype, 0)};
    else
      *out = (IterValue){.sum = tirc_iter_one(c, s, base)};
    return true;
  }
  if (!tirc_can_prove_ge(r->a, by, 1) && by->op == OP_INT) {
    tirc_iter_fail(r, "the divisor is not positive");
    return false;
  }
  if (never_carries(r, &s, base, by)) {
    Expr rest = tirc_simplify(r->a, tirc_binary(c, op, base, by));
    *out =
        op == OP_FLOORMOD ? (IterValue){.sum = tirc_iter_one(c, s, rest)} : (IterValue){.e = rest};
    return true;
  }
  bool done;
  if (!unscale(r, op, &s, &base, &by, &done, out)) return false;
  if (done) return true;
  if (!tirc_iter_divisible(r->a, s.extent, by) && !covers_mark(r, &s))
    return divide_remainder(r, op, s, base, by, out);
  Expr left;
  if (!pad(r, &s, base, by, &left)) return false;
  if (op == OP_FLOORDIV) {
    *out = floordiv_split(r, s, base, by, left);
    return true;
  }
  s.extent = by;
  *out = (IterValue){.sum = tirc_iter_one(c, s, tirc_lit(c, by->dtype, 0))};
  return true;
}
