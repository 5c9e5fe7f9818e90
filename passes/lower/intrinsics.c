/* What no code generator has: floor division where nothing is negative becomes the machine's own
 * division; sigmoid, rsqrt, some powers (powers.c) and others (written_out.c) are written out,
 * T.likely goes. */
#include "internal.h"

typedef struct State {
  Analyzer *a;
  WrapStart start;
  bool has_rsqrt;   /* a GPU's instruction for float32, which the function asks for */
  bool has_sigmoid; /* a processor's code generators write that of float32 out */
} State;

static Expr lower_division(Mutator *m, Expr e) {
  State *s = m->self;
  if (!tirc_dtype_is_int(e->dtype) || e->dtype.lanes > 1) return e;
  if (tirc_const_bound(s->a, e->args[0]).min < 0 || tirc_const_bound(s->a, e->args[1]).min <= 0)
    return e;
  Op op = e->op == OP_FLOORDIV ? OP_TRUNCDIV : OP_TRUNCMOD;
  return tirc_expr(m->c, op, e->dtype, 2, e->args);
}

/* A constant of e's type in all its lanes. */
static Expr constant(Tirc *c, Expr e, double v) {
  Expr one = tirc_float(c, tirc_dtype_lanes(e->dtype, 1), v);
  return e->dtype.lanes > 1 ? tirc_broadcast(c, one, e->dtype.lanes) : one;
}

/* 1 / sqrt(x), or 1 / (1 + exp(0 - x)). */
static Expr reciprocal(Tirc *c, Op op, Expr x) {
  const DType t = x->dtype;
  const Expr one = constant(c, x, 1);
  Expr of = op == OP_RSQRT ? x : tirc_expr(c, OP_SUB, t, 2, (Expr[]){constant(c, x, 0), x});
  of = tirc_expr(c, op == OP_RSQRT ? OP_SQRT : OP_EXP, t, 1, &of);
  if (op == OP_SIGMOID) of = tirc_expr(c, OP_ADD, t, 2, (Expr[]){one, of});
  return tirc_expr(c, OP_DIV, t, 2, (Expr[]){one, of});
}

/* Floats of 16 bits are rounded once: their exp reaches infinity where the whole is a number. */
static Expr lower_reciprocal(Tirc *c, Expr e) {
  const DType t = e->dtype, wide = tirc_dtype_lanes(DT_FLOAT32, t.lanes);
  if (t.bits != 16) return reciprocal(c, (Op)e->op, e->args[0]);
  return tirc_cast(c, t, reciprocal(c, (Op)e->op, tirc_cast(c, wide, e->args[0])));
}

static Expr lower_expr(Mutator *m, Expr e) {
  Tirc *c = m->c;
  State *s = m->self;
  Expr was = e;
  if (e->op == OP_LET) tirc_wrap_let(&s->start, e->args[0], e->args[1]);
  e = tirc_mutate_expr_children(m, e);
  Expr starts = tirc_with_start(&s->start, was, e);
  if (starts != e) return starts;
  switch (e->op) {
  case OP_LIKELY: return e->args[0];
  case OP_FLOORDIV:
  case OP_FLOORMOD: return lower_division(m, e);
  case OP_RSQRT:
    if (s->has_rsqrt && e->dtype.bits == 32) return e;
    return lower_reciprocal(c, e);
  case OP_SIGMOID:
    if (s->has_sigmoid && e->dtype.bits == 32) return e;
    return lower_reciprocal(c, e);
  case OP_POW: return tirc_power_by_constant(c, e);
  default: return tirc_written_out(c, e);
  }
}

static Stmt lower_stmt(Mutator *m, Stmt s) {
  State *state = m->self;
  if (s->kind == STMT_FOR)
    tirc_bind_range(state->a, s->u.loop.var, tirc_range(s->u.loop.min, s->u.loop.extent));
  if (s->kind == STMT_FOR) tirc_map_set(m->c, &state->start.loops, s->u.loop.var, s->u.loop.var);
  if (s->kind == STMT_LET) tirc_wrap_let(&state->start, s->u.let.var, s->u.let.value);
  return tirc_mutate_stmt_children(m, s);
}

Stmt tirc_lower_intrinsics(Tirc *c, const Func *f) {
  const Gpu *gpu = tirc_gpu_of(f);
  const Expr fast = tirc_attrs_get(f->attrs, tirc_key(KEY_FAST_MATH));
  State s = {tirc_analyzer(c),
             {.c = c},
             gpu && gpu->kind == GPU_CUDA && fast && tirc_is_true(fast),
             !gpu && !tirc_is_kernel(f)};
  Mutator m = {.c = c, .expr = lower_expr, .stmt = lower_stmt, .self = &s};
  return tirc_mutate_stmt(&m, f->body);
}
