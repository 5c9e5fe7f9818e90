/* Simplification under the ranges of the loops: ir/arith/arith.h does the work. By itself the pass
 * also takes away stores of what stands there already, and its options do more:
 *
 *   convert_boolean_to_and_of_ors              a or (b and c)  ->  (a or b) and (a or c)
 *   propagate_knowns_to_prove_conditional      for i in range(4): A[i] = 0     A[i] = 0
 *                                              if A[2] == 0: B[0] = 1      ->  B[0] = 1
 *   propagate_knowns_to_simplify_expressions   A[0] = 5; A[0] = A[0] + 7   ->  A[0] = 5; A[0] = 12 */
#include "known.h"

Stmt tirc_lower_simplify(Tirc *c, const Func *f) {
  return tirc_simplify_stmt(tirc_analyzer(c), f->body, true);
}

/* --- what memory is known to hold ------------------------------------------------------------- */

typedef struct ByKnown {
  const Known *known;
  bool branches, values;
} ByKnown;

static Stmt by_known(Mutator *m, Stmt s) {
  const ByKnown *k = m->self;
  const Turns *t = tirc_turns_of(k->known, s);
  Stmt taken = NULL;
  if (t && s->kind == STMT_IF && k->branches && !t->open && t->yes != t->no) {
    taken = t->yes ? s->u.branch.then_case : s->u.branch.else_case;
    return taken ? tirc_mutate_stmt(m, taken) : tirc_seq(m->c, 0, NULL);
  }
  if (t && s->kind == STMT_STORE && k->values && t->constant && !t->varies &&
      tirc_reads_memory(s->u.store.value)) {
    const int lanes = s->u.store.value->dtype.lanes;
    const Expr all = lanes > 1 ? tirc_broadcast(m->c, t->constant, lanes) : t->constant;
    return tirc_store(m->c, s->u.store.buffer, s->u.store.n, s->u.store.indices, all);
  }
  return tirc_mutate_stmt_children(m, s);
}

static Stmt with_known(Tirc *c, const Func *f, Stmt body) {
  ByKnown k = {NULL, tirc_pass_option(f, "propagate_knowns_to_prove_conditional"),
               tirc_pass_option(f, "propagate_knowns_to_simplify_expressions")};
  if (k.branches || k.values) k.known = tirc_known_turns(c, tirc_func_with_body(c, f, body));
  if (!k.known) return body;
  Mutator m = {.c = c, .expr = tirc_keep_expr, .stmt = by_known, .self = &k};
  return tirc_mutate_stmt(&m, body);
}

/* --- conditions as conjunctions --------------------------------------------------------------- */

enum { MOST_PARTS = 64 };
typedef struct Parts { /* each is a disjunction */
  int n;
  Exprs at[MOST_PARTS];
} Parts;

static bool add_part(Parts *p, Exprs part) {
  if (p->n == MOST_PARTS) return false;
  p->at[p->n++] = part;
  return true;
}

static bool has(const Exprs *part, Expr e) {
  for (int i = 0; i < part->n; i++)
    if (tirc_expr_same(part->at[i], e)) return true;
  return false;
}

/* x or y of every x of one and every y of the other. */
static bool multiply(Tirc *c, const Parts *x, const Parts *y, Parts *out) {
  for (int i = 0; i < x->n; i++)
    for (int k = 0; k < y->n; k++) {
      Exprs both = {0};
      for (int j = 0; j < x->at[i].n; j++) vec_push(c, both, x->at[i].at[j]);
      for (int j = 0; j < y->at[k].n; j++)
        if (!has(&both, y->at[k].at[j])) vec_push(c, both, y->at[k].at[j]);
      if (!add_part(out, both)) return false;
    }
  return true;
}

static bool parts_of(Tirc *c, Expr e, Parts *out) {
  if (e->op == OP_AND) return parts_of(c, e->args[0], out) && parts_of(c, e->args[1], out);
  Exprs one = {0};
  if (e->op != OP_OR) {
    vec_push(c, one, e);
    return add_part(out, one);
  }
  Parts *x = tirc_new(c, Parts), *y = tirc_new(c, Parts);
  return parts_of(c, e->args[0], x) && parts_of(c, e->args[1], y) && multiply(c, x, y, out);
}

static Expr joined(Tirc *c, const Exprs *part) {
  Expr out = part->at[0];
  for (int i = 1; i < part->n; i++) out = tirc_binary(c, OP_OR, out, part->at[i]);
  return out;
}

static bool is_one_of(const Exprs *small, const Exprs *large) {
  for (int i = 0; i < small->n; i++)
    if (!has(large, small->at[i])) return false;
  return true;
}

static bool implies(Analyzer *a, Expr x, Expr y) {
  const int mark = tirc_enter_constraint(a, x);
  const bool proved = tirc_prove(a, y);
  tirc_leave_constraint(a, mark);
  return proved || tirc_prove_given(a, x, y);
}

/* Each operand of one part is in the other, or some operand of that follows from it. */
static bool follows(Analyzer *a, const Exprs *from, const Exprs *part) {
  for (int i = 0; i < from->n; i++) {
    bool any = has(part, from->at[i]);
    for (int k = 0; k < part->n && !any; k++) any = implies(a, from->at[i], part->at[k]);
    if (!any) return false;
  }
  return true;
}

/* x or y is y, where x implies y. */
static Exprs without_implied(Analyzer *a, Tirc *c, const Exprs *part) {
  bool *gone = tirc_new_array(c, bool, part->n);
  Exprs out = {0};
  for (int i = 0; i < part->n; i++) {
    for (int k = 0; k < part->n && !gone[i]; k++)
      gone[i] = k != i && !gone[k] && implies(a, part->at[i], part->at[k]);
    if (!gone[i]) vec_push(c, out, part->at[i]);
  }
  return out;
}

static Expr conjunction(Analyzer *a, Tirc *c, Expr e) {
  Parts *p = tirc_new(c, Parts);
  if (!parts_of(c, e, p)) return e;
  bool gone[MOST_PARTS] = {false};
  for (int i = 0; i < p->n; i++)
    for (int k = 0; k < p->n && !gone[i]; k++) {
      if (i == k || gone[k]) continue;
      const bool same = is_one_of(&p->at[k], &p->at[i]) && is_one_of(&p->at[i], &p->at[k]);
      gone[i] = same ? k < i : follows(a, &p->at[k], &p->at[i]);
    }
  Expr out = NULL;
  for (int i = 0; i < p->n; i++) {
    if (gone[i]) continue;
    const Exprs left = without_implied(a, c, &p->at[i]);
    const Expr part = tirc_simplify(a, joined(c, &left));
    out = out ? tirc_binary(c, OP_AND, out, part) : part;
  }
  return out ? out : e;
}

static Expr as_conjunction(Mutator *m, Expr e) {
  const bool is_condition = (e->op == OP_AND || e->op == OP_OR) && e->dtype.lanes == 1;
  return is_condition ? conjunction(m->self, m->c, e) : tirc_mutate_expr_children(m, e);
}

/* --- what else the conditions around say ------------------------------------------------------ */

static void bind_ranges(Analyzer *a, Stmt s) {
  if (s->kind == STMT_FOR)
    tirc_bind_range(a, s->u.loop.var, tirc_range(s->u.loop.min, s->u.loop.extent));
  if (s->kind != STMT_BLOCK) return;
  for (int i = 0; i < s->u.block.n_iters; i++)
    tirc_bind_range(a, s->u.block.iters[i].var, s->u.block.iters[i].dom);
}

static Stmt under_ranges(Mutator *m, Stmt s) {
  bind_ranges(m->self, s);
  return tirc_mutate_stmt_children(m, s);
}

/* x and y, where y is simplified as x holds; x or y, where neither has to say what the other says.
 */
static Expr by_other_operand(Mutator *m, Expr e) {
  Analyzer *a = m->self;
  e = tirc_mutate_expr_children(m, e);
  if ((e->op != OP_AND && e->op != OP_OR) || e->dtype.lanes > 1) return e;
  const Expr x = e->args[0], y = e->args[1];
  if (e->op == OP_AND) return implies(a, x, y) ? x : implies(a, y, x) ? y : e;
  return implies(a, x, y) ? y : implies(a, y, x) ? x : e;
}

typedef struct Taken {
  Expr cond, truth;
} Taken;

static Expr under_condition(Mutator *m, Expr e) {
  const Taken *t = m->self;
  if (tirc_expr_same(e, t->cond)) return t->truth;
  e = tirc_mutate_expr_children(m, e);
  const bool chooses = e->op == OP_IF_THEN_ELSE || e->op == OP_SELECT;
  return chooses && e->args[0]->op == OP_INT ? e->args[e->args[0]->u.i ? 1 : 2] : e;
}

/* What T.if_then_else takes where its condition holds does not ask for it again. */
static Expr asked_once(Mutator *m, Expr e) {
  e = tirc_mutate_expr_children(m, e);
  if (e->op != OP_IF_THEN_ELSE || tirc_loads_or_calls(e->args[0])) return e;
  Expr args[3] = {e->args[0]};
  for (int i = 1; i < 3; i++) {
    Taken t = {e->args[0], tirc_bool(m->c, i == 1)};
    Mutator inner = {.c = m->c, .expr = under_condition, .self = &t};
    args[i] = tirc_mutate_expr(&inner, e->args[i]);
  }
  const bool same = args[1] == e->args[1] && args[2] == e->args[2];
  return same ? e : tirc_expr(m->c, OP_IF_THEN_ELSE, e->dtype, 3, args);
}

/* Ifs that are decided by what names stand for. */
typedef struct Named {
  Analyzer *a;
  PtrMap lets;
} Named;

static Stmt by_names(Mutator *m, Stmt s) {
  Named *k = m->self;
  bind_ranges(k->a, s);
  if (s->kind == STMT_LET && !tirc_loads_or_calls(s->u.let.value))
    tirc_map_set(m->c, &k->lets, s->u.let.var, tirc_substitute(m->c, s->u.let.value, &k->lets));
  if (s->kind != STMT_IF || !tirc_uses_any(s->u.branch.cond, &k->lets))
    return tirc_mutate_stmt_children(m, s);
  const Expr cond = tirc_simplify(k->a, tirc_substitute(m->c, s->u.branch.cond, &k->lets));
  if (cond->op != OP_INT) return tirc_mutate_stmt_children(m, s);
  Stmt taken = cond->u.i ? s->u.branch.then_case : s->u.branch.else_case;
  return taken ? tirc_mutate_stmt(m, taken) : tirc_seq(m->c, 0, NULL);
}

/* --- comparisons of quotients ----------------------------------------------------------------- */

static int64_t factor_in(Expr e) {
  int64_t k;
  if (e->op == OP_MUL && tirc_const_int(e->args[1], &k)) return k;
  if (e->op != OP_ADD) return 1;
  k = factor_in(e->args[0]);
  return k > 1 ? k : factor_in(e->args[1]);
}

/* 128 <= i * 32 + j  ->  4 <= i, where j is less than 32 */
static Expr by_quotients(Mutator *m, Expr e) {
  int64_t least;
  e = tirc_mutate_expr_children(m, e);
  if (e->op != OP_LE || !tirc_dtype_is_int(e->args[1]->dtype) ||
      !tirc_const_int(e->args[0], &least))
    return e;
  const int64_t k = factor_in(e->args[1]);
  const DType t = e->args[1]->dtype;
  if (k < 2 || least % k) return e;
  const Expr q = tirc_simplify(m->self, tirc_floordiv(m->c, e->args[1], tirc_int(m->c, t, k)));
  return q->size < e->args[1]->size ? tirc_binary(m->c, OP_LE, tirc_int(m->c, t, least / k), q) : e;
}

Stmt tirc_lower_renormalize(Tirc *c, const Func *f) {
  Mutator m = {.c = c, .expr = by_quotients, .stmt = under_ranges, .self = tirc_analyzer(c)};
  return tirc_mutate_stmt(&m, tirc_simplify_stmt(tirc_analyzer(c), f->body, false));
}

/* --- the pass by itself ----------------------------------------------------------------------- */

static Stmt without_copies(Mutator *m, Stmt s) {
  s = under_ranges(m, s);
  if (s->kind == STMT_STORE && tirc_lower_stores_itself(m->self, s)) return tirc_seq(m->c, 0, NULL);
  return s;
}

/* Each walk has its own: what a range of one says is not known in the next one. */
static Analyzer *analyzer_of(Tirc *c, const Func *f) {
  Analyzer *a = tirc_analyzer(c);
  if (tirc_pass_option(f, "transitively_prove_inequalities")) tirc_prove_by_chains(a);
  return a;
}

Stmt tirc_lower_simplify_alone(Tirc *c, const Func *f) {
  Stmt body = tirc_simplify_stmt(analyzer_of(c, f), f->body, true);
  Stmt known = with_known(c, f, body);
  if (known != body) body = tirc_simplify_stmt(analyzer_of(c, f), known, true);
  Mutator copies = {
      .c = c, .expr = tirc_keep_expr, .stmt = without_copies, .self = analyzer_of(c, f)};
  body = tirc_mutate_stmt(&copies, body);
  Named named = {.a = analyzer_of(c, f)};
  Mutator names = {.c = c, .expr = tirc_keep_expr, .stmt = by_names, .self = &named};
  body = tirc_mutate_stmt(&names, body);
  Mutator once = {.c = c, .expr = asked_once};
  body = tirc_mutate_stmt(&once, body);
  Mutator operands = {
      .c = c, .expr = by_other_operand, .stmt = under_ranges, .self = analyzer_of(c, f)};
  if (tirc_pass_option(f, "apply_constraints_to_boolean_branches"))
    body = tirc_mutate_stmt(&operands, body);
  if (!tirc_pass_option(f, "convert_boolean_to_and_of_ors")) return body;
  Mutator m = {.c = c, .expr = as_conjunction, .stmt = under_ranges, .self = analyzer_of(c, f)};
  body = tirc_mutate_stmt(&m, body);
  operands.self = analyzer_of(c, f);
  return tirc_mutate_stmt(&operands, body);
}
