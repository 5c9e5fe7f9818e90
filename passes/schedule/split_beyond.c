/* What the iterations that a split adds would run.
 *
 * They run no block: each one below the loop gets the predicate, and tests it before its bindings
 * are computed. What stands between the loop and the blocks has none:
 *
 *   for b in range(4):              for b_0, b_1 in T.grid(1, 6):
 *     for p in range(N[b]):    ->     for p in range(N[b_0 * 6 + b_1]):         N[4], N[5]
 *       block B: vb = b, vp = p         block B: ... where b_0 * 6 + b_1 < 4
 *
 * Arithmetic is harmless there, whatever comes out. Loads, divisions and calls by the variable, and
 * by what is computed from it, are not; nor is what should run once in each old iteration. */
#include "../../ir/print.h"
#include "../../ir/visit.h"
#include "internal.h"

typedef struct Beyond {
  Sched *s;
  SRef *loop;
  Analyzer *a;
  PtrMap vars; /* the loop's variable and those that are computed from it */
  Stmt at;
} Beyond;

static const char *place(const Beyond *b) {
  Tirc *c = b->s->c;
  switch (b->at->kind) {
  case STMT_FOR: return tirc_format(c, "the bounds of loop %s", b->at->u.loop.var->u.s);
  case STMT_IF: return "the condition of an if";
  case STMT_WHILE: return "a while loop";
  case STMT_LET: return tirc_format(c, "the value of %s", b->at->u.let.var->u.s);
  case STMT_STORE: return tirc_format(c, "a store to buffer %s", b->at->u.store.buffer->name);
  case STMT_EVAL: return "a call";
  case STMT_ALLOC:
  case STMT_DECL: return tirc_format(c, "the shape of buffer %s", b->at->u.alloc.buffer->name);
  case STMT_ASSERT: return "an assertion";
  default: return "an attribute";
  }
}

/* e: what cannot be evaluated; NULL: all of the statement. */
static _Noreturn void runs_beyond(Beyond *b, Expr e) {
  Sched *s = b->s;
  const For *f = tirc_loop_of(b->loop);
  const char *extent = tirc_print_expr(s->c, f->extent);
  tirc_sched_mark(s, b->loop->stmt);
  const char *what = e ? tirc_format(s->c, "%s is not to be evaluated for %s >= %s",
                                     tirc_print_expr(s->c, e), f->var->u.s, extent)
                       : NULL;
  tirc_sched_error(s, SERR_SPLIT_OUT_OF_BOUNDS, what,
                   "choose factors that divide the extent, or split a loop inside of this one",
                   "loop %s has %s iterations, and the factors make more: outside of the blocks, "
                   "which a predicate guards, the added ones would reach %s",
                   f->var->u.s, extent, place(b));
}

static bool depends(const Beyond *b, Expr e) { return tirc_uses_any(e, &b->vars); }

static void derive(Beyond *b, Expr var, Expr from) {
  if (depends(b, from)) tirc_map_set(b->s->c, &b->vars, var, b);
}

static bool may_be_zero(const Beyond *b, Expr e) {
  const Expr zero = tirc_int(b->s->c, e->dtype, 0);
  return depends(b, e) && !tirc_prove_lt(b->a, zero, e) && !tirc_prove_lt(b->a, e, zero);
}

static bool look_at_expr(Visitor *v, Expr e) {
  Beyond *b = v->self;
  switch (e->op) {
  case OP_LET: derive(b, e->args[0], e->args[1]); break;
  case OP_LOAD:
  case OP_CALL:
    if (depends(b, e)) runs_beyond(b, e);
    break;
  case OP_FLOORDIV:
  case OP_FLOORMOD:
  case OP_TRUNCDIV:
  case OP_TRUNCMOD:
    if (may_be_zero(b, e->args[1])) runs_beyond(b, e);
    break;
  case OP_SHIFT_LEFT:
  case OP_SHIFT_RIGHT:
    if (depends(b, e->args[1])) runs_beyond(b, e);
    break;
  default: break;
  }
  return true;
}

static bool look_at_stmt(Visitor *v, Stmt s) {
  Beyond *b = v->self;
  b->at = s;
  switch (s->kind) {
  case STMT_BLOCK: return false;
  case STMT_FOR:
    derive(b, s->u.loop.var, s->u.loop.min);
    derive(b, s->u.loop.var, s->u.loop.extent);
    tirc_bind_range(b->a, s->u.loop.var, tirc_range(s->u.loop.min, s->u.loop.extent));
    break;
  case STMT_LET: derive(b, s->u.let.var, s->u.let.value); break;
  case STMT_ASSERT:
    if (depends(b, s->u.check.cond)) runs_beyond(b, s->u.check.cond);
    break;
  case STMT_ALLOC:
  case STMT_DECL:
    for (int i = 0; i < s->u.alloc.buffer->ndim; i++)
      if (depends(b, s->u.alloc.buffer->shape[i])) runs_beyond(b, s->u.alloc.buffer->shape[i]);
    break;
  case STMT_EVAL:
    if (s->u.eval.value->op != OP_INT) runs_beyond(b, NULL);
    break;
  case STMT_STORE:
  case STMT_WHILE: runs_beyond(b, NULL);
  default: break;
  }
  return true;
}

void tirc_require_nothing_beyond(Sched *s, SRef *loop, Expr extent) {
  const For *f = tirc_loop_of(loop);
  Beyond b = {.s = s, .loop = loop, .a = tirc_analyzer_around(s, loop->parent), .at = loop->stmt};
  tirc_bind_range(b.a, f->var, tirc_range(tirc_int(s->c, f->var->dtype, 0), extent));
  tirc_map_set(s->c, &b.vars, f->var, &b);
  tirc_visit_stmt(&(Visitor){.stmt = look_at_stmt, .expr = look_at_expr, .self = &b}, f->body);
}
