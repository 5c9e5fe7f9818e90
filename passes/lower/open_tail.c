/* The last iteration of a loop whose extent only the run tells may leave lanes out, or rows of a
 * tile that is written out. A condition on these deep in its body is asked once an iteration:
 *
 *   for jo in range((n + 15) // 16):              for jo in range((n + 15) // 16):
 *     for k in range(768):                          if jo * 16 + 15 < n:
 *       for ji in T.vectorized(16):        ->         for k, ji: sum[ji] += B[k, jo * 16 + ji]
 *         if jo * 16 + ji < n:                      else:
 *           sum[ji] += B[k, jo * 16 + ji]             for k, ji: if jo * 16 + ji < n: ...
 */
#include "internal.h"

enum { MAX_TAILS = 2 };

typedef struct Tail {
  Tirc *c;
  Analyzer *a;
  const For *loop;
  PtrMap inner;   /* the loops in its body: from a variable to its IntSet */
  PtrMap vectors; /* those of them that are vectorized */
  PtrMap tile;    /* and those that are written out, too */
  PtrMap implied; /* the conditions that hold where `least` are not negative */
  int n;
  Expr least[MAX_TAILS];
  int depth; /* loops around what is looked at, without vectorized ones */
} Tail;

static bool is_lane(const void *self, Expr e) {
  return tirc_map_has(&((const Tail *)self)->vectors, e);
}
static bool is_of_tile(const void *self, Expr e) {
  return tirc_map_has(&((const Tail *)self)->tile, e);
}
static bool is_inner(const void *self, Expr e) {
  return tirc_map_has(&((const Tail *)self)->inner, e);
}

/* One more number that must not be negative: false where there are too many. Of two that a constant
 * is between, the lower one. */
static bool add_least(Tail *t, Expr e) {
  for (int i = 0; i < t->n; i++) {
    int64_t more;
    if (!tirc_const_int(tirc_simplify(t->a, tirc_sub(t->c, e, t->least[i])), &more)) continue;
    if (more < 0) t->least[i] = e;
    return true;
  }
  if (t->n == MAX_TAILS) return false;
  t->least[t->n++] = e;
  return true;
}

static void use_condition(Tail *t, Expr cond, bool lanes) {
  const Expr var = t->loop->var;
  int64_t k;
  Expr rest;
  if (!t->depth || !tirc_uses_var(cond, var) ||
      !tirc_find_expr(cond, lanes ? is_lane : is_of_tile, t) || tirc_loads_or_calls(cond) ||
      !tirc_lower_order(t->a, t->c, cond, var, &k, &rest))
    return;
  const Expr at = tirc_mul(t->c, var, tirc_int(t->c, var->dtype, k));
  const IntSet set = tirc_eval_set(t->a, tirc_add(t->c, rest, at), &t->inner);
  if (!set.min || tirc_find_expr(set.min, is_inner, t) || !tirc_can_run_early(t->a, set.min))
    return;
  if (add_least(t, tirc_simplify(t->a, set.min))) tirc_map_set(t->c, &t->implied, cond, cond);
}

static void use_conjuncts(Tail *t, Expr cond, bool lanes) {
  Exprs conds = {0};
  tirc_lower_conjuncts(t->c, cond, &conds);
  for (int i = 0; i < conds.n; i++) use_condition(t, conds.at[i], lanes);
}

/* A variable of the body that may be anything. */
static void add_unknown(Tail *t, Expr var) {
  tirc_map_set(t->c, &t->inner, var, tirc_new(t->c, IntSet));
}

static bool see_stmt(Visitor *v, Stmt s) {
  Tail *t = v->self;
  if (s->kind == STMT_LET) add_unknown(t, s->u.let.var);
  if (s->kind == STMT_IF) use_conjuncts(t, s->u.branch.cond, t->loop->kind == LOOP_SERIAL);
  if (s->kind != STMT_FOR) return true;
  const bool lanes = s->u.loop.kind == LOOP_VECTORIZED;
  IntSet *set = tirc_new(t->c, IntSet);
  *set = tirc_set_of_range(t->c, tirc_range(s->u.loop.min, s->u.loop.extent));
  tirc_map_set(t->c, &t->inner, s->u.loop.var, set);
  if (lanes) tirc_map_set(t->c, &t->vectors, s->u.loop.var, s);
  if (lanes || s->u.loop.kind == LOOP_UNROLLED) tirc_map_set(t->c, &t->tile, s->u.loop.var, s);
  t->depth += !lanes && !tirc_is_int(s->u.loop.extent, 1);
  tirc_visit_stmt(v, s->u.loop.body);
  t->depth -= !lanes && !tirc_is_int(s->u.loop.extent, 1);
  return false;
}

static bool see_expr(Visitor *v, Expr e) {
  if (e->op == OP_LET) add_unknown(v->self, e->args[0]);
  if (e->op == OP_IF_THEN_ELSE) use_conjuncts(v->self, e->args[0], false);
  return true;
}

static Expr without_implied(Mutator *m, Expr e) {
  const Tail *t = m->self;
  return tirc_map_has(&t->implied, e) ? tirc_bool(m->c, true) : tirc_mutate_expr_children(m, e);
}

bool tirc_open_tail(Analyzer *a, Tirc *c, const For *loop, OpenTail *out) {
  Tail t = {.c = c, .a = a, .loop = loop};
  Visitor v = {.stmt = see_stmt, .expr = see_expr, .self = &t};
  tirc_visit_stmt(&v, loop->body);
  if (!t.n) return false;
  out->holds = tirc_bool(c, true);
  for (int i = 0; i < t.n; i++)
    out->holds = tirc_and(c, out->holds,
                          tirc_binary(c, OP_GE, t.least[i], tirc_int(c, t.least[i]->dtype, 0)));
  Mutator m = {.c = c, .expr = without_implied, .self = &t};
  out->whole = tirc_simplify_stmt(a, tirc_mutate_stmt(&m, loop->body), true);
  return true;
}
