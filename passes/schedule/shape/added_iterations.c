/* What a loop that grows runs in the iterations that are added.
 *
 * They run no block, if each one below the loop gets a predicate: that is tested before its
 * bindings are computed. What stands between the loop and the blocks has none:
 *
 *   for b in range(4):              for b_0, b_1 in T.grid(1, 6):
 *     for p in range(N[b]):    ->     for p in range(N[b_0 * 6 + b_1]):         N[4], N[5]
 *       block B: vb = b, vp = p         block B: ... where b_0 * 6 + b_1 < 4
 *
 * Arithmetic is harmless there, whatever comes out. Loads, divisions and calls by the variable, and
 * by what is computed from it, are not; nor is what should run once in each old iteration. */
#include "shape.h"

typedef struct Look {
  Tirc *c;
  Analyzer *a;
  PtrMap vars; /* the loop's variable and those that are computed from it */
  Stmt at;     /* whose expressions are looked at */
  Beyond *found;
} Look;

static const char *place(Tirc *c, Stmt s) {
  switch (s->kind) {
  case STMT_FOR: return tirc_format(c, "the bounds of loop %s", s->u.loop.var->u.s);
  case STMT_IF: return "the condition of an if";
  case STMT_WHILE: return "a while loop";
  case STMT_LET: return tirc_format(c, "the value of %s", s->u.let.var->u.s);
  case STMT_STORE: return tirc_format(c, "a store to buffer %s", s->u.store.buffer->name);
  case STMT_EVAL: return "a call";
  case STMT_ALLOC:
  case STMT_DECL: return tirc_format(c, "the shape of buffer %s", s->u.alloc.buffer->name);
  case STMT_ASSERT: return "an assertion";
  default: return "an attribute";
  }
}

/* e: what cannot be evaluated; NULL: all of the statement. */
static void find(Look *l, Expr e) {
  if (!l->found->what) *l->found = (Beyond){place(l->c, l->at), e};
}

static bool depends(const Look *l, Expr e) { return tirc_uses_any(e, &l->vars); }

static void derive(Look *l, Expr var, Expr from) {
  if (depends(l, from)) tirc_map_set(l->c, &l->vars, var, l);
}

static bool may_be_zero(const Look *l, Expr e) {
  const Expr zero = tirc_int(l->c, e->dtype, 0);
  return depends(l, e) && !tirc_prove_lt(l->a, zero, e) && !tirc_prove_lt(l->a, e, zero);
}

static bool look_at_expr(Visitor *v, Expr e) {
  Look *l = v->self;
  switch (e->op) {
  case OP_LET: derive(l, e->args[0], e->args[1]); break;
  case OP_LOAD:
  case OP_CALL:
    if (depends(l, e)) find(l, e);
    break;
  case OP_FLOORDIV:
  case OP_FLOORMOD:
  case OP_TRUNCDIV:
  case OP_TRUNCMOD:
    if (may_be_zero(l, e->args[1])) find(l, e);
    break;
  case OP_SHIFT_LEFT:
  case OP_SHIFT_RIGHT:
    if (depends(l, e->args[1])) find(l, e);
    break;
  default: break;
  }
  return true;
}

static bool look_at_stmt(Visitor *v, Stmt s) {
  Look *l = v->self;
  l->at = s;
  switch (s->kind) {
  case STMT_BLOCK: return false;
  case STMT_FOR:
    derive(l, s->u.loop.var, s->u.loop.min);
    derive(l, s->u.loop.var, s->u.loop.extent);
    tirc_bind_loop(l->a, &s->u.loop);
    break;
  case STMT_LET: derive(l, s->u.let.var, s->u.let.value); break;
  case STMT_ASSERT:
    if (depends(l, s->u.check.cond)) find(l, s->u.check.cond);
    break;
  case STMT_ALLOC:
  case STMT_DECL:
    for (int i = 0; i < s->u.alloc.buffer->ndim; i++)
      if (depends(l, s->u.alloc.buffer->shape[i])) find(l, s->u.alloc.buffer->shape[i]);
    break;
  case STMT_EVAL:
    if (s->u.eval.value->op != OP_INT) find(l, NULL);
    break;
  case STMT_STORE:
  case STMT_WHILE: find(l, NULL); break;
  default: break;
  }
  return true;
}

Beyond tirc_beyond(Sched *s, const SRef *loop, Expr extent) {
  const For *f = tirc_loop_of(loop);
  Beyond found = {0};
  Look l = {
      .c = s->c, .a = tirc_analyzer_around(s, loop->parent), .at = loop->stmt, .found = &found};
  tirc_bind_range(l.a, f->var, tirc_range(tirc_int(s->c, f->var->dtype, 0), extent));
  tirc_map_set(s->c, &l.vars, f->var, &l);
  tirc_visit_stmt(&(Visitor){.stmt = look_at_stmt, .expr = look_at_expr, .self = &l}, f->body);
  return found;
}
