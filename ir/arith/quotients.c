/* Quotients of one value in a comparison: x // 16 and x // 4.
 *
 * Extents that are divided again become (x // 4) // 4 = x // 16, in which what the two have to do
 * with each other is no more to be seen: that 4 * (x // 16) + 4 exceeds x // 4, by which a tile is
 * known to cover a loop. With q = x // 4 it is 4 * (q // 4) + 4 > q, whatever q is. */
#include "internal.h"

typedef struct Quotient {
  Expr e, x; /* (x + offset) // by */
  int64_t offset, by;
} Quotient;

typedef struct Quotients {
  Tirc *c;
  VEC(Quotient) at;
  const Quotient *inner; /* what `q` stands for */
  Expr q;
} Quotients;

static bool as_quotient(Expr e, Quotient *out) {
  if (e->op != OP_FLOORDIV || e->args[1]->op != OP_INT || e->args[1]->u.i < 2) return false;
  const Expr x = e->args[0];
  const bool moved = (x->op == OP_ADD || x->op == OP_SUB) && x->args[1]->op == OP_INT;
  *out = (Quotient){e, moved ? x->args[0] : x, 0, e->args[1]->u.i};
  if (!moved) return true;
  out->offset = x->args[1]->u.i;
  if (out->offset == INT64_MIN) return false;
  if (x->op == OP_SUB) out->offset = -out->offset;
  return true;
}

static bool see_quotient(Visitor *v, Expr e) {
  Quotients *k = v->self;
  Quotient one;
  if (as_quotient(e, &one)) vec_push(k->c, k->at, one);
  return true;
}

/* Whether `of` is a quotient of `inner`, moved by *steps of it, by a number or by 1. */
static bool divides(const Quotient *inner, const Quotient *of, int64_t *steps) {
  int64_t apart;
  if (of->by % inner->by || !tirc_expr_same(inner->x, of->x) ||
      __builtin_sub_overflow(of->offset, inner->offset, &apart) || apart % inner->by)
    return false;
  *steps = apart / inner->by;
  return true;
}

static Expr in_terms(Mutator *m, Expr e) {
  const Quotients *k = m->self;
  Quotient one;
  int64_t steps;
  if (!as_quotient(e, &one) || !divides(k->inner, &one, &steps))
    return tirc_mutate_expr_children(m, e);
  const Expr moved = tirc_add(k->c, k->q, tirc_lit(k->c, e->dtype, steps));
  return one.by == k->inner->by
             ? moved
             : tirc_floordiv(k->c, moved, tirc_lit(k->c, e->dtype, one.by / k->inner->by));
}

Expr tirc_by_inner_quotient(Tirc *c, Expr cond) {
  Quotients k = {.c = c};
  tirc_visit_expr(&(Visitor){.expr = see_quotient, .self = &k}, cond);
  for (int i = 0; i < k.at.n; i++)
    for (int j = 0; j < k.at.n; j++) {
      int64_t steps;
      if (k.at.at[j].by <= k.at.at[i].by || !divides(&k.at.at[i], &k.at.at[j], &steps)) continue;
      k.inner = &k.at.at[i];
      k.q = tirc_var(c, "q", k.inner->e->dtype);
      return tirc_mutate_expr(&(Mutator){.c = c, .expr = in_terms, .self = &k}, cond);
    }
  return NULL;
}
