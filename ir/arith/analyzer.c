/* The analyzer: what is known about variables, and the entry points that combine the simplifiers.
 *
 * Knowledge comes from two sources. Ranges and values are bound to variables for good. Conditions
 * are entered and left like scopes; each adds to four stacks (literal conditions, constant bounds,
 * residues, differences), and leaving one pops them to where they were. */
#include "internal.h"

#include "ir/tree/annotations.h"
#include "ir/tree/graph.h"
#include "ir/tree/symbols.h"

#include <stdlib.h>

enum { MAX_PROOF_NESTING = 6 };

Analyzer *tirc_plain_analyzer(Tirc *c) {
  Analyzer *a = tirc_new(c, Analyzer);
  a->c = c;
  return a;
}

typedef struct KnownExtent {
  Expr var; /* or NULL: a condition */
  Range range;
  Expr condition;
  struct KnownExtent *next;
} KnownExtent;

Analyzer *tirc_analyzer(Tirc *c) {
  Analyzer *a = tirc_plain_analyzer(c);
  for (const KnownExtent *k = c->extents; k; k = k->next)
    if (k->var) tirc_bind_range(a, k->var, k->range);
  for (const KnownExtent *k = c->extents; k; k = k->next)
    if (k->condition) (void)tirc_enter_constraint(a, k->condition);
  return a;
}

void tirc_know_extent(Tirc *c, Expr var, int64_t lower, int64_t upper) {
  for (const KnownExtent *k = c->extents; k; k = k->next)
    if (k->var == var) return;
  const int64_t most = tirc_dtype_max(var->dtype);
  if (upper > most) upper = most;
  if (lower <= 0 && upper == most) return;
  int64_t extent = upper - lower;
  extent += extent < INT64_MAX;
  KnownExtent *k = tirc_new(c, KnownExtent);
  *k = (KnownExtent){var, tirc_range(tirc_int(c, DT_INT64, lower), tirc_int(c, DT_INT64, extent)),
                     NULL, c->extents};
  c->extents = k;
}

static void know_condition(Tirc *c, Expr condition) {
  for (const KnownExtent *k = c->extents; k; k = k->next)
    if (k->condition == condition) return;
  KnownExtent *k = tirc_new(c, KnownExtent);
  *k = (KnownExtent){.condition = condition, .next = c->extents};
  c->extents = k;
}

static bool is_of(Expr e, const PtrMap *symbols) {
  if (e->op == OP_VAR) return tirc_map_has(symbols, e);
  if (e->op == OP_LOAD || e->op == OP_CALL || e->op == OP_LET) return false;
  for (int i = 0; i < e->n; i++)
    if (!is_of(e->args[i], symbols)) return false;
  return true;
}

/* What the first statements of a body assume. False: here is another statement, or one that not
 * every run comes to. */
static bool know_assumed(Tirc *c, Stmt s, const PtrMap *symbols) {
  if (s->kind == STMT_BLOCK)
    return tirc_is_true(s->u.block.predicate) && know_assumed(c, s->u.block.body, symbols);
  if (s->kind == STMT_SEQ) {
    for (int i = 0; i < s->u.seq.n; i++)
      if (!know_assumed(c, tirc_item(s, i), symbols)) return false;
    return true;
  }
  const Expr condition = tirc_assumed(s);
  if (condition && is_of(condition, symbols)) know_condition(c, condition);
  return condition != NULL;
}

static void know_assumptions(Tirc *c, const Func *f) {
  Expr *symbols;
  PtrMap map = {0};
  if (!f->body) return;
  const int n = tirc_extent_params(c, f, &symbols);
  for (int i = 0; i < n; i++) tirc_map_set(c, &map, symbols[i], symbols[i]);
  (void)know_assumed(c, f->body, &map);
}

void tirc_know_extents(Tirc *c, const Func *f) {
  Expr *symbols;
  know_assumptions(c, f);
  if (!tirc_attrs_get(f->attrs, tirc_key(KEY_UPPER_BOUND)) &&
      !tirc_attrs_get(f->attrs, tirc_key(KEY_LOWER_BOUND)))
    return;
  const int n = tirc_extent_params(c, f, &symbols);
  for (int i = 0; i < n; i++) {
    const ExtentBounds b = tirc_extent_bounds(f->attrs, symbols[i]->u.s);
    tirc_know_extent(c, symbols[i], b.lower, b.upper);
  }
}

static VarInfo *var_info(Analyzer *a, Expr var) {
  VarInfo *info = tirc_map_get(&a->vars, var);
  if (!info) {
    info = tirc_new(a->c, VarInfo);
    tirc_map_set(a->c, &a->vars, var, info);
  }
  return info;
}

/* A new binding replaces what an earlier range of the variable said. */
static void forget(Analyzer *a, Expr var) {
  int kept = 0;
  for (int i = 0; i < a->range_diffs.n; i++)
    if (a->range_diffs.at[i].x != var) a->range_diffs.at[kept++] = a->range_diffs.at[i];
  a->range_diffs.n = kept;
  *var_info(a, var) = (VarInfo){0};
}

void tirc_bind_value(Analyzer *a, Expr var, Expr value) {
  if (value == var) return;
  forget(a, var);
  value = tirc_cast(a->c, var->dtype, tirc_rewrite(a, tirc_canonical(a, value)));
  if (value == var) return;
  VarInfo *info = var_info(a, var);
  info->bound = tirc_const_bound(a, value);
  info->modular = tirc_modular(a, value);
  info->has_bound = info->has_modular = true;
  info->value = tirc_uses_var(value, var) ? NULL : value;
}

void tirc_bind_range(Analyzer *a, Expr var, Range r) {
  if (tirc_is_int(r.extent, 1)) {
    tirc_bind_value(a, var, r.min);
    var_info(a, var)->range = r;
    var_info(a, var)->has_range = true;
    return;
  }
  forget(a, var);
  Bound min = tirc_const_bound(a, r.min), extent = tirc_const_bound(a, r.extent);
  VarInfo *info = var_info(a, var);
  int64_t max = TIRC_POS_INF;
  if (min.max != TIRC_POS_INF && extent.max != TIRC_POS_INF &&
      (__builtin_add_overflow(min.max, extent.max, &max) || __builtin_sub_overflow(max, 1, &max)))
    max = TIRC_POS_INF;
  info->bound = (Bound){min.min, max};
  info->has_bound = true;
  info->range = r;
  info->has_range = true;
  tirc_learn_range(a, var, r);
}

int tirc_enter_constraint(Analyzer *a, Expr cond) {
  ConstraintMark m = {a->literals.n, a->bounds.n, a->modulars.n, a->diffs.n};
  vec_push(a->c, a->marks, m);
  tirc_learn_condition(a, cond);
  return a->marks.n - 1;
}

void tirc_leave_constraint(Analyzer *a, int mark) {
  ConstraintMark m = a->marks.at[mark];
  a->literals.n = m.literals;
  a->bounds.n = m.bounds;
  a->modulars.n = m.modulars;
  a->diffs.n = m.diffs;
  a->marks.n = mark;
}

void tirc_prove_by_chains(Analyzer *a) { a->chains = true; }

/* --- simplification --------------------------------------------------------------------------- */

Expr tirc_rewrite(Analyzer *a, Expr e) {
  Simplifier s = {a, false};
  for (int i = 0; i < 2; i++) {
    Expr next = tirc_simplifier_visit(&s, e);
    if (next == e) break;
    e = next;
  }
  return e;
}

Expr tirc_canonical(Analyzer *a, Expr e) {
  Simplifier s = {a, true};
  return tirc_simplifier_visit(&s, e);
}

Expr tirc_simplify_steps(Analyzer *a, Expr e, int steps) {
  e = tirc_canonical(a, e);
  for (int i = 0; i < steps && e->op != OP_INT; i++)
    e = i % 2 == 0 ? tirc_rewrite(a, e) : tirc_canonical(a, e);
  return e;
}

Expr tirc_simplify(Analyzer *a, Expr e) { return tirc_simplify_steps(a, e, 2); }

Expr tirc_simplify0(Tirc *c, Expr e) { return tirc_simplify(tirc_analyzer(c), e); }

/* --- proofs ----------------------------------------------------------------------------------- */

bool tirc_can_prove_ge(Analyzer *a, Expr e, int64_t v) {
  if (e->op == OP_INT) return e->u.i >= v;
  if (!tirc_dtype_is_int(e->dtype) || a->nesting >= MAX_PROOF_NESTING) return false;
  a->nesting++;
  Bound b = tirc_const_bound(a, tirc_rewrite(a, e));
  a->nesting--;
  return b.min != TIRC_NEG_INF && b.min >= v;
}

bool tirc_prove(Analyzer *a, Expr cond) {
  if (cond->op == OP_INT) return cond->u.i != 0;
  if (a->nesting >= MAX_PROOF_NESTING) return false;
  a->nesting++;
  Expr e = tirc_simplify(a, cond);
  const Expr inner = e->op == OP_INT ? NULL : tirc_by_inner_quotient(a->c, e);
  const bool holds = inner ? tirc_prove(a, inner) : e->op == OP_INT && e->u.i != 0;
  a->nesting--;
  return holds;
}

/* The domain of every variable whose range is known, for interval arithmetic. */
static PtrMap range_sets(Analyzer *a) {
  PtrMap dom = {0};
  for (size_t i = 0; i < a->vars.cap; i++) {
    Expr var = a->vars.keys ? a->vars.keys[i] : NULL;
    VarInfo *info = var && tirc_map_has(&a->vars, var) ? a->vars.values[i] : NULL;
    if (!info || !info->has_range) continue;
    IntSet *set = tirc_new(a->c, IntSet);
    *set = tirc_set_of_range(a->c, info->range);
    tirc_map_set(a->c, &dom, var, set);
  }
  return dom;
}

/* A comparison, wherever the variables are in their sets. */
static bool holds_in(Analyzer *a, Expr cond, const PtrMap *dom) {
  if (cond->op < OP_LT || cond->op > OP_GE || !tirc_is_index(cond->args[0]->dtype)) return false;
  bool less = cond->op == OP_LT || cond->op == OP_LE;
  Expr x = cond->args[less ? 1 : 0], y = cond->args[less ? 0 : 1];
  IntSet set = tirc_eval_set(a, tirc_simplify(a, tirc_sub(a->c, x, y)), dom);
  if (!set.min) return false;
  int64_t least = cond->op == OP_LT || cond->op == OP_GT ? 1 : 0;
  Bound b = tirc_const_bound(a, tirc_simplify(a, set.min));
  return b.min != TIRC_NEG_INF && b.min >= least;
}

bool tirc_prove_symbolic(Analyzer *a, Expr cond) {
  if (tirc_prove(a, cond)) return true;
  PtrMap dom = range_sets(a);
  return holds_in(a, cond, &dom);
}

typedef struct Given {
  Visitor v;
  Analyzer *a;
  Expr given, cond;
  bool proved;
} Given;

static bool see_bounded(Visitor *v, Expr e) {
  Given *g = v->self;
  if (e->op != OP_VAR || g->proved) return !g->proved;
  IntSet any = {0};
  PtrMap dom = {0};
  tirc_map_set(g->a->c, &dom, e, &any);
  tirc_narrow_by_condition(g->a, g->given, &dom);
  g->proved = tirc_map_get(&dom, e) != &any && holds_in(g->a, g->cond, &dom);
  return true;
}

bool tirc_prove_given(Analyzer *a, Expr given, Expr cond) {
  Given g = {.v = {.expr = see_bounded}, .a = a, .given = given, .cond = cond};
  g.v.self = &g;
  if (tirc_prove_symbolic(a, cond)) return true;
  tirc_visit_expr(&g.v, cond);
  return g.proved;
}

bool tirc_prove_equal(Analyzer *a, Expr x, Expr y) {
  if (x == y) return true;
  if (x->op == OP_INT && y->op == OP_INT) return x->u.i == y->u.i;
  if (x->dtype.code == TYPE_HANDLE || y->dtype.code == TYPE_HANDLE) return false;
  if (!tirc_dtype_is_int(x->dtype) || !tirc_dtype_is_int(y->dtype))
    return tirc_prove(a, tirc_eq(a->c, x, y));
  Expr diff = tirc_sub(a->c, x, y);
  return tirc_prove(a, tirc_eq(a->c, diff, tirc_lit(a->c, diff->dtype, 0)));
}

bool tirc_prove_lt(Analyzer *a, Expr x, Expr y) { return tirc_prove(a, tirc_lt(a->c, x, y)); }

bool tirc_prove_ge(Analyzer *a, Expr x, Expr y) {
  return tirc_prove(a, tirc_binary(a->c, OP_GE, x, y));
}

/* --- products --------------------------------------------------------------------------------- */

int64_t tirc_gcd(int64_t a, int64_t b) {
  uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a, y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
  while (y) {
    uint64_t r = x % y;
    x = y;
    y = r;
  }
  return x > (uint64_t)INT64_MAX ? 1 : (int64_t)x;
}

void tirc_unpack(Tirc *c, Op op, Expr e, ExprVec *out) {
  if (e->op == op) {
    tirc_unpack(c, op, e->args[0], out);
    tirc_unpack(c, op, e->args[1], out);
  } else {
    vec_push(c, *out, e);
  }
}

enum { MOST_FACTORS = 16 };

static int factors_of(Expr e, int n, Expr *out) {
  if (e->op == OP_MUL && n < MOST_FACTORS)
    return factors_of(e->args[1], factors_of(e->args[0], n, out), out);
  if (n < MOST_FACTORS) out[n] = e;
  return n + 1;
}

static bool same_factors(Expr a, Expr b) {
  Expr x[MOST_FACTORS], y[MOST_FACTORS];
  const int n = factors_of(a, 0, x);
  if (n > MOST_FACTORS || factors_of(b, 0, y) != n) return false;
  for (int i = 0, left = n; i < n; i++) {
    int k = 0;
    while (k < left && !tirc_same_product(x[i], y[k])) k++;
    if (k == left) return false;
    y[k] = y[--left];
  }
  return true;
}

bool tirc_same_product(Expr a, Expr b) {
  if (a == b) return true;
  if (a->op != b->op || !tirc_dtype_equal(a->dtype, b->dtype)) return false;
  const bool is_arithmetic = a->op >= OP_ADD && a->op <= OP_MAX && tirc_dtype_is_int(a->dtype);
  if (!is_arithmetic) return tirc_expr_same(a, b);
  if (a->op == OP_MUL) return same_factors(a, b);
  return tirc_same_product(a->args[0], b->args[0]) && tirc_same_product(a->args[1], b->args[1]);
}

Expr tirc_mul_normalize(Tirc *c, Expr a, Expr b) {
  ExprVec factors = {0};
  tirc_unpack(c, OP_MUL, a, &factors);
  tirc_unpack(c, OP_MUL, b, &factors);
  int64_t scale = 1;
  DType t = a->dtype;
  Expr product = tirc_lit(c, t, 1);
  for (int i = 0; i < factors.n; i++) {
    Expr f = factors.at[i];
    if (f->op != OP_INT)
      product = tirc_mul(c, product, f);
    else if (__builtin_mul_overflow(scale, f->u.i, &scale))
      return tirc_mul(c, a, b);
  }
  if (scale < tirc_dtype_min(t) || scale > tirc_dtype_max(t)) return tirc_mul(c, a, b);
  return scale == 1 ? product : tirc_mul(c, product, tirc_lit(c, t, scale));
}

Expr tirc_rebuild(Tirc *c, Expr e, const Expr *args) {
  bool same = true;
  for (int i = 0; i < e->n; i++) same = same && e->args[i] == args[i];
  if (same) return e;
  if (e->op == OP_LOAD) return tirc_load(c, e->u.buffer, e->n, args);
  if (e->op == OP_CALL) return tirc_call(c, e->dtype, e->u.callee, e->n, args);
  return tirc_expr(c, e->op, e->dtype, e->n, args);
}
