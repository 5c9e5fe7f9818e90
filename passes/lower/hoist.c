/* What does not change in a loop is decided before it:
 *
 *   for j in range(4):            if i < 3:
 *     if i < 3:                     for j in range(4):
 *       A[i, j] = 0         ->        A[i, j] = 0
 *     else:                       else:
 *       A[i, j] = 1                 for j in range(4):
 *                                     A[i, j] = 1
 *
 * HoistIfThenElse moves the conditions of ifs, out of all loops but those over threads.
 * HoistExpression moves each part of a condition with `and` by itself, conditions of
 * T.if_then_else and T.Select and what names stand for, and leaves a kernel, too. Each goes out of
 * all loops that define nothing that it uses, up to a block. What is moved runs where it may not
 * have run before, so it must be sure to do no harm: it loads and calls nothing and cannot fail. */
#include "internal.h"

enum { MOST_GROWTH = 6000 }; /* statements that stand twice */

typedef struct Hoist {
  Tirc *c;
  Analyzer *a;
  bool parts; /* HoistExpression */
  int64_t growth;
  PtrMap inner; /* what the loop defines that is looked at, */
  Expr cond;    /* what can be moved out of it, */
  Expr name, value;
} Hoist;

static bool has_inner(const Hoist *h, Expr e) { return tirc_uses_any(e, &h->inner); }

static bool can_move(const Hoist *h, Expr e) {
  return !has_inner(h, e) && tirc_can_run_early(h->a, e);
}

/* --- what there is to move -------------------------------------------------------------------- */

static void offer_condition(Hoist *h, Expr cond) {
  Exprs parts = {0};
  if (h->cond || cond->dtype.lanes != 1) return;
  if (h->parts)
    tirc_lower_conjuncts(h->c, cond, &parts);
  else
    vec_push(h->c, parts, cond->op == OP_LIKELY ? cond->args[0] : cond);
  for (int i = 0; i < parts.n && !h->cond; i++)
    if (!tirc_is_constant(parts.at[i]) && can_move(h, parts.at[i])) h->cond = parts.at[i];
}

static void offer_name(Hoist *h, Expr name, Expr value) {
  const bool moves = h->parts && !h->value && name->dtype.code != TYPE_HANDLE;
  if (moves && can_move(h, value)) h->name = name, h->value = value;
  tirc_map_set(h->c, &h->inner, name, h);
}

static bool look_expr(Visitor *v, Expr e) {
  Hoist *h = v->self;
  if (e->op == OP_LET) offer_name(h, e->args[0], e->args[1]);
  if (h->parts && (e->op == OP_IF_THEN_ELSE || e->op == OP_SELECT)) offer_condition(h, e->args[0]);
  return true;
}

static bool look_stmt(Visitor *v, Stmt s) {
  Hoist *h = v->self;
  switch (s->kind) {
  case STMT_BLOCK: return false;
  case STMT_FOR: tirc_map_set(h->c, &h->inner, s->u.loop.var, h); return true;
  case STMT_LET: offer_name(h, s->u.let.var, s->u.let.value); return true;
  case STMT_ALLOC:
  case STMT_DECL: tirc_map_set(h->c, &h->inner, s->u.alloc.buffer->data, h); return true;
  case STMT_IF: offer_condition(h, s->u.branch.cond); return true;
  default: return true;
  }
}

static bool find_any(Hoist *h, Stmt loop) {
  h->inner = (PtrMap){0};
  h->cond = h->name = h->value = NULL;
  tirc_visit_stmt(&(Visitor){.expr = look_expr, .stmt = look_stmt, .self = h}, loop);
  return h->cond || h->value;
}

/* --- the loop where it is decided ------------------------------------------------------------- */

typedef struct Decided {
  Expr cond, truth; /* or */
  Expr name;        /* whose definition goes */
} Decided;

static Expr folded(Tirc *c, Expr e) {
  switch (e->op) {
  case OP_AND:
  case OP_OR: return tirc_binary(c, (Op)e->op, e->args[0], e->args[1]);
  case OP_NOT: return tirc_not(c, e->args[0]);
  case OP_LIKELY: return tirc_is_constant(e->args[0]) ? e->args[0] : e;
  case OP_IF_THEN_ELSE:
  case OP_SELECT:
    if (e->args[0]->op != OP_INT) return e;
    return tirc_is_int(e->args[0], 0) ? e->args[2] : e->args[1];
  default: return e;
  }
}

static Expr decide_expr(Mutator *m, Expr e) {
  const Decided *d = m->self;
  if (d->cond && tirc_expr_same(e, d->cond)) return d->truth;
  if (d->name && e->op == OP_LET && e->args[0] == d->name) return tirc_mutate_expr(m, e->args[2]);
  Expr to = tirc_mutate_expr_children(m, e);
  return to == e ? e : folded(m->c, to);
}

static Stmt decided_branch(Tirc *c, Stmt s) {
  const Expr cond = s->u.branch.cond;
  if (cond->op != OP_INT) return tirc_lower_emptied(s);
  const Stmt taken = tirc_is_int(cond, 0) ? s->u.branch.else_case : s->u.branch.then_case;
  return taken ? taken : tirc_seq(c, 0, NULL);
}

static Stmt decide_stmt(Mutator *m, Stmt s) {
  const Decided *d = m->self;
  if (d->name && s->kind == STMT_LET && s->u.let.var == d->name)
    return tirc_mutate_stmt(m, s->u.let.body);
  Stmt to = tirc_mutate_stmt_children(m, s);
  if (to == s) return s;
  return to->kind == STMT_IF ? decided_branch(m->c, to) : tirc_lower_emptied(to);
}

static Stmt decide(Tirc *c, Stmt s, Decided d) {
  Mutator m = {.c = c, .expr = decide_expr, .stmt = decide_stmt, .self = &d};
  return tirc_mutate_stmt(&m, s);
}

/* --- the pass --------------------------------------------------------------------------------- */

static Stmt hoist(Mutator *m, Stmt s);

static Stmt out_of(Mutator *m, Stmt loop) {
  Hoist *h = m->self;
  Tirc *c = h->c;
  const Expr cond = h->cond, name = h->name, value = h->value;
  if (value) return tirc_let(c, name, value, hoist(m, decide(c, loop, (Decided){.name = name})));
  const Stmt yes = decide(c, loop, (Decided){cond, tirc_bool(c, true), NULL});
  Stmt no = decide(c, loop, (Decided){cond, tirc_bool(c, false), NULL});
  if (tirc_is_empty(no)) return tirc_if(c, cond, hoist(m, yes), NULL);
  h->growth += tirc_lower_size_of(no);
  no = tirc_clone_fresh(c, no);
  return tirc_if(c, cond, hoist(m, yes), hoist(m, no));
}

static Stmt hoist(Mutator *m, Stmt s) {
  Hoist *h = m->self;
  if (s->kind != STMT_FOR) return tirc_mutate_stmt_children(m, s);
  const bool stays = !h->parts && tirc_is_thread_loop(s);
  if (!stays && h->growth < MOST_GROWTH && find_any(h, s)) return out_of(m, s);
  tirc_bind_range(h->a, s->u.loop.var, tirc_range(s->u.loop.min, s->u.loop.extent));
  return tirc_mutate_stmt_children(m, s);
}

static Stmt run(Tirc *c, const Func *f, bool parts) {
  Hoist h = {.c = c, .a = tirc_analyzer(c), .parts = parts};
  Mutator m = {.c = c, .expr = tirc_keep_expr, .stmt = hoist, .self = &h};
  return tirc_mutate_stmt(&m, f->body);
}

Stmt tirc_lower_hoist_if(Tirc *c, const Func *f) { return run(c, f, false); }
Stmt tirc_lower_hoist_expression(Tirc *c, const Func *f) { return run(c, f, true); }
