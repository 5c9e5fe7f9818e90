/* A loop of which a condition leaves out steps ends where that fails for good, and goes on without
 * it where it holds for sure:
 *
 *   for k in range(64):                      for k in range(i * 4 + 1):
 *     for ii in T.unroll(4):                   for ii in T.unroll(4):
 *       if k <= i * 4 + ii:          ->          C[ii] = ...
 *         C[ii] = ...                        for k in range(i * 4 + 1, i * 4 + 4):
 *                                              for ii in T.unroll(4):
 *                                                if k <= i * 4 + ii:
 *                                                  C[ii] = ...
 *
 * The bounds are of variables around the loop; what constants bound, loop_partition has dealt with.
 * A condition is k * variable + rest >= 0. The least of the rest, over the loops inside, says where
 * it holds for all of them, its greatest where for none. */
#include "internal.h"

enum { MAX_SIZE = 300, MAX_GROWTH = 6000, MAX_FORMS = 32000 };

typedef struct Bounding {
  Tirc *c;
  Analyzer *a;
  int64_t budget; /* statements that may still be added */
  int64_t forms;  /* and for tiles of some rows, counted as they are written out */
} Bounding;

/* What one loop's conditions say of it. A bound that is NULL is the loop's own. */
typedef struct Bounds {
  Expr low, high;
} Bounds;

typedef struct Search {
  Visitor v;
  Bounding *p;
  const For *loop;
  PtrMap inner;  /* loops in it: from a variable to its IntSet */
  PtrMap lets;   /* variables that are let in it */
  PtrMap always; /* conditions that hold in `sure` */
  Bounds sure;
} Search;

/* --- one condition ---------------------------------------------------------------------------- */

static bool is_let(const void *self, Expr e) {
  return e->op == OP_VAR && tirc_map_has(&((const Search *)self)->lets, e);
}

static bool is_around(const void *self, Expr e) {
  const Search *s = self;
  return e->op == OP_VAR && e != s->loop->var && !tirc_map_has(&s->inner, e);
}

/* Where k * var + rest >= 0 begins, or where it ends. */
static Expr bound_of(Tirc *c, int64_t k, Expr rest) {
  const Expr by = tirc_int(c, DT_INT64, k > 0 ? k : -k), one = tirc_int(c, DT_INT64, 1);
  if (k < 0) return tirc_add(c, tirc_floordiv(c, rest, by), one);
  return tirc_sub(c, tirc_int(c, DT_INT64, 0), tirc_floordiv(c, rest, by));
}

/* Whether it has its value where the loop outside begins, and the same one. */
static bool is_known_outside(Search *s, Expr e) {
  return !tirc_loads_or_calls(e) && !tirc_find_expr(e, is_let, s);
}

/* Of a condition, where it holds whatever the loops inside are at, and where for some: false where
 * no variable around says so. */
static bool read_condition(Search *s, Expr cond, Bounds *sure, Bounds *some) {
  Tirc *c = s->p->c;
  int64_t k;
  Expr rest;
  *sure = *some = (Bounds){0};
  if (!is_known_outside(s, cond) || !tirc_find_expr(cond, is_around, s) ||
      !tirc_lower_order(s->p->a, c, cond, s->loop->var, &k, &rest))
    return false;
  const IntSet set = tirc_eval_set(s->p->a, rest, &s->inner);
  if (!set.min || !set.max || tirc_uses_var(set.min, s->loop->var) ||
      tirc_uses_var(set.max, s->loop->var))
    return false;
  *(k > 0 ? &sure->low : &sure->high) = bound_of(c, k, set.min);
  *(k > 0 ? &some->low : &some->high) = bound_of(c, k, set.max);
  return true;
}

/* Both; or, `either`, one of them at least. */
static void join(Tirc *c, Bounds *x, Bounds y, bool either) {
  if (either && (!x->low || !y.low)) x->low = y.low = NULL;
  if (either && (!x->high || !y.high)) x->high = y.high = NULL;
  if (y.low) x->low = !x->low ? y.low : (either ? tirc_min : tirc_max)(c, x->low, y.low);
  if (y.high) x->high = !x->high ? y.high : (either ? tirc_max : tirc_min)(c, x->high, y.high);
}

/* --- the conditions of a loop ----------------------------------------------------------------- */

/* Bounds that are not known outside leave the variable without a set. */
static void bind_inner(Search *s, const For *loop) {
  Tirc *c = s->p->c;
  IntSet *set = tirc_new(c, IntSet);
  tirc_map_set(c, &s->inner, loop->var, set);
  if (!is_known_outside(s, loop->min) || !is_known_outside(s, loop->extent)) return;
  const Expr end =
      tirc_sub(c, tirc_add(c, loop->min, loop->extent), tirc_int(c, loop->extent->dtype, 1));
  set->min = tirc_eval_set(s->p->a, loop->min, &s->inner).min;
  set->max = tirc_eval_set(s->p->a, end, &s->inner).max;
}

static bool search(Visitor *v, Stmt stmt) {
  Search *s = v->self;
  Exprs conds = {0};
  if (stmt->kind == STMT_FOR) bind_inner(s, &stmt->u.loop);
  if (stmt->kind == STMT_LET) tirc_map_set(s->p->c, &s->lets, stmt->u.let.var, stmt);
  if (stmt->kind != STMT_IF) return true;
  tirc_lower_conjuncts(s->p->c, stmt->u.branch.cond, &conds);
  for (int i = 0; i < conds.n; i++) {
    Bounds sure, some;
    if (!read_condition(s, conds.at[i], &sure, &some)) continue;
    tirc_map_set(s->p->c, &s->always, conds.at[i], stmt);
    join(s->p->c, &s->sure, sure, false);
  }
  return true;
}

/* Where a statement does anything at all. */
static Bounds reach(Search *s, Stmt stmt) {
  Bounds out = {0};
  Exprs conds = {0};
  switch (stmt->kind) {
  case STMT_FOR: return reach(s, stmt->u.loop.body);
  case STMT_ALLOC:
  case STMT_DECL: return reach(s, stmt->u.alloc.body);
  case STMT_ATTR: return reach(s, stmt->u.attr.body);
  case STMT_SEQ:
    for (int i = 0; i < stmt->u.seq.n; i++) {
      const Bounds item = reach(s, tirc_item(stmt, i));
      if (i == 0) out = item;
      join(s->p->c, &out, item, true);
    }
    return out;
  case STMT_IF:
    if (stmt->u.branch.else_case) return out;
    tirc_lower_conjuncts(s->p->c, stmt->u.branch.cond, &conds);
    out = reach(s, stmt->u.branch.then_case);
    for (int i = 0; i < conds.n; i++) {
      Bounds sure, some;
      if (read_condition(s, conds.at[i], &sure, &some)) join(s->p->c, &out, some, false);
    }
    return out;
  default: return out;
  }
}

/* --- the parts of a loop ---------------------------------------------------------------------- */

static Expr hold(Mutator *m, Expr e) {
  const Search *s = m->self;
  return tirc_map_has(&s->always, e) ? tirc_bool(m->c, true) : tirc_mutate_expr_children(m, e);
}

/* The bound within the loop's range; `usual` where there is none. */
static Expr within(const Search *s, Expr bound, Expr usual, Expr begin, Expr end) {
  Tirc *c = s->p->c;
  if (!bound) return usual;
  const Expr at = tirc_max(c, begin, tirc_min(c, end, bound));
  return tirc_simplify(s->p->a, at);
}

/* `inside`: the least and the greatest that conditions say of its variable where it runs at all;
 * NULL where all conditions hold in the whole part. */
static Stmt part(const Search *s, Expr begin, Expr end, const Bounds *inside) {
  Tirc *c = s->p->c;
  For loop = *s->loop;
  const DType t = loop.var->dtype;
  loop.min = tirc_simplify(s->p->a, tirc_cast(c, t, begin));
  loop.extent = tirc_simplify(s->p->a, tirc_cast(c, t, tirc_sub(c, end, begin)));
  if (tirc_is_int(loop.extent, 0)) return tirc_seq(c, 0, NULL);
  Mutator m = {.c = c, .expr = hold, .self = (void *)s};
  loop.body = !inside ? tirc_mutate_stmt(&m, loop.body)
                      : tirc_open_rows(s->p->a, c, &loop, inside->low, inside->high, &s->p->forms);
  Stmt out = tirc_for(c, &loop);
  if (inside) out = tirc_clone_fresh(c, out);
  return tirc_simplify_stmt(s->p->a, out, true);
}

static bool is_prefetched(const For *loop) {
  return tirc_attrs_get(loop->annotations, tirc_key(KEY_SOFTWARE_PREFETCH));
}

static Stmt bounded(Bounding *p, Stmt stmt) {
  Tirc *c = p->c;
  const For *loop = &stmt->u.loop;
  const int64_t size = tirc_lower_size_of(loop->body);
  if (loop->kind != LOOP_SERIAL || size > MAX_SIZE || 2 * size > p->budget || is_prefetched(loop))
    return stmt;
  Search s = {.p = p, .loop = loop};
  s.v = (Visitor){.stmt = search, .self = &s};
  tirc_visit_stmt(&s.v, loop->body);
  if (!s.sure.low && !s.sure.high) return stmt;
  p->budget -= 2 * size;
  const Bounds some = reach(&s, loop->body);
  const Expr begin = tirc_cast(c, DT_INT64, loop->min);
  const Expr end = tirc_add(c, begin, tirc_cast(c, DT_INT64, loop->extent));
  const Expr first = within(&s, some.low, begin, begin, end);
  const Expr from = within(&s, s.sure.low, begin, first, end);
  const Expr to = within(&s, s.sure.high, end, from, end);
  const Expr last = within(&s, some.high, end, to, end);
  Stmt parts[3];
  int n = 0;
  if (s.sure.low) parts[n++] = part(&s, first, from, &(Bounds){some.low, s.sure.low});
  parts[n++] = part(&s, from, to, NULL);
  if (s.sure.high) parts[n++] = part(&s, to, last, &(Bounds){s.sure.high, some.high});
  return tirc_seq(c, n, parts);
}

static Stmt visit(Mutator *m, Stmt s) {
  Bounding *p = m->self;
  if (s->kind == STMT_FOR)
    tirc_bind_range(p->a, s->u.loop.var, tirc_range(s->u.loop.min, s->u.loop.extent));
  s = tirc_mutate_stmt_children(m, s);
  return s->kind == STMT_FOR ? bounded(p, s) : s;
}

Stmt tirc_lower_loop_bounds(Tirc *c, const Func *f) {
  Bounding p = {.c = c, .a = tirc_analyzer(c), .budget = MAX_GROWTH, .forms = MAX_FORMS};
  Mutator m = {.c = c, .stmt = visit, .self = &p};
  return tirc_mutate_stmt(&m, f->body);
}
