/* What of an expression may fail where it is evaluated anew, as the bounds of a copy are: a load at
 * an index that is not inside of its buffer, a division by zero. The condition that kept it from
 * that may stay behind:
 *
 *   T.if_then_else(J[i] < 2, A[I[J[i]]], 0)         I, of two elements, is loaded at J[i]
 *
 * What runs there in any case may evaluate the same; then it fails no more than it did. */
#include "sight.h"

typedef struct Sure {
  Visitor v;
  Tirc *c;
  Analyzer *a;
  Expr part;
  bool found;
} Sure;

static bool see_evaluated(Visitor *v, Expr e) {
  Sure *k = v->self;
  k->found |= tirc_expr_same(e, k->part);
  const bool chooses = e->op == OP_IF_THEN_ELSE || e->op == OP_AND || e->op == OP_OR;
  if (chooses) tirc_visit_expr(v, e->args[0]);
  return !k->found && !chooses && e->op != OP_CALL; /* of which an argument may be an address */
}

static bool see_run(Visitor *v, Stmt s) {
  Sure *k = v->self;
  PtrMap bindings = {0};
  switch (s->kind) {
  case STMT_FOR:
    tirc_visit_expr(v, s->u.loop.min);
    tirc_visit_expr(v, s->u.loop.extent);
    return !k->found && tirc_surely_some(k->a, s->u.loop.extent);
  case STMT_IF: tirc_visit_expr(v, s->u.branch.cond); return false;
  case STMT_WHILE: tirc_visit_expr(v, s->u.loop_while.cond); return false;
  case STMT_BLOCK:
    if (!tirc_is_true(s->u.block.predicate)) return false;
    tirc_bindings_of(k->c, s, &bindings);
    tirc_visit_stmt(v, tirc_substitute_stmt(k->c, s->u.block.body, &bindings));
    return false;
  default: return !k->found;
  }
}

static bool is_evaluated(Tirc *c, Analyzer *a, Stmt run, Expr part) {
  Sure k = {.c = c, .a = a, .part = part};
  k.v = (Visitor){.expr = see_evaluated, .stmt = see_run, .self = &k};
  tirc_visit_stmt(&k.v, run);
  return k.found;
}

typedef struct Failing {
  Sched *s;
  const SRef *at;
  Analyzer *a;
  Stmt run;
} Failing;

static bool is_moving(const void *self, Expr e) {
  const Failing *k = self;
  return e->op == OP_VAR && (tirc_is_bound_around(k->at, e) || tirc_map_has(&k->s->loops, e));
}

static bool may_be_zero(const Failing *k, Expr divisor) {
  const Expr zero = tirc_int(k->s->c, divisor->dtype, 0);
  return tirc_find_expr(divisor, is_moving, k) && !tirc_prove_lt(k->a, zero, divisor) &&
         !tirc_prove_lt(k->a, divisor, zero);
}

static bool may_be_outside(const Failing *k, Expr load) {
  for (int i = 0; i < load->n; i++)
    if (!tirc_surely_indexes(k->a, load->args[i], load->u.buffer->shape[i])) return true;
  return false;
}

static bool may_fail(const void *self, Expr e) {
  const Failing *k = self;
  const bool fails =
      tirc_divides(e) ? may_be_zero(k, e->args[1]) : e->op == OP_LOAD && may_be_outside(k, e);
  return fails && !(k->run && is_evaluated(k->s->c, k->a, k->run, e));
}

Expr tirc_failing_part(Sched *s, const SRef *at, Analyzer *a, Expr e, Stmt run) {
  return tirc_find_expr(e, may_fail, &(Failing){s, at, a, run});
}

const char *tirc_how_it_fails(Tirc *c, Expr part) {
  return part->op == OP_LOAD ? tirc_format(c, "read outside of %s", part->u.buffer->name)
                             : "divide by zero";
}
