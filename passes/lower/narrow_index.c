/* Loops and indices of 64 bits whose numbers fit 32 have 32 in kernels: GPUs reckon with those, and
 * 64 take two registers. What depends on a size of 64 bits that is known at run time only stays. */
#include "internal.h"

typedef struct Narrow {
  Tirc *c;
  Analyzer *a;
  PtrMap vars; /* from a loop's variable of 64 bits to the one of 32 */
  bool in_kernel;
} Narrow;

static bool is_wide(Expr e) { return e->dtype.code == TYPE_INT && e->dtype.bits == 64; }

static Expr if_it_fits(Narrow *k, Expr e) {
  return tirc_bound_fits(DT_INT32, tirc_unwrapped_bound(k->a, e)) ? e : NULL;
}

/* The same number in 32 bits; NULL: it may not fit, or so may something on the way to it. */
static Expr narrow(Mutator *m, Expr e) {
  Narrow *k = m->self;
  Tirc *c = k->c;
  int64_t n;
  if (!is_wide(e))
    return e->dtype.code == TYPE_INT && e->dtype.bits == 32 ? tirc_mutate_expr(m, e) : NULL;
  if (tirc_const_int(e, &n)) return n >= INT32_MIN && n <= INT32_MAX ? tirc_int32(c, n) : NULL;
  switch (e->op) {
  case OP_VAR: return tirc_map_get(&k->vars, e);
  case OP_CAST: return narrow(m, e->args[0]);
  case OP_BROADCAST: {
    Expr x = narrow(m, e->args[0]);
    return x ? tirc_broadcast(c, x, e->dtype.lanes) : NULL;
  }
  case OP_RAMP: {
    Expr x = narrow(m, e->args[0]);
    if (!x || !tirc_const_int(e->args[1], &n) || n < 0 || n > INT16_MAX) return NULL;
    Expr last = tirc_add(c, x, tirc_int32(c, n * e->dtype.lanes));
    return if_it_fits(k, last) ? tirc_ramp(c, x, tirc_int32(c, n), e->dtype.lanes) : NULL;
  }
  case OP_ADD:
  case OP_SUB:
  case OP_MUL:
  case OP_MIN:
  case OP_MAX:
  case OP_FLOORDIV:
  case OP_FLOORMOD: {
    if (e->dtype.lanes != 1) return NULL;
    Expr x = narrow(m, e->args[0]), y = narrow(m, e->args[1]);
    return x && y ? if_it_fits(k, tirc_binary(c, (Op)e->op, x, y)) : NULL;
  }
  default: return NULL;
  }
}

static const Expr *narrow_indices(Mutator *m, int n, const Expr *indices) {
  Narrow *k = m->self;
  Expr *to = tirc_new_array(k->c, Expr, n);
  for (int i = 0; i < n; i++) {
    const Expr small = is_wide(indices[i]) ? narrow(m, indices[i]) : NULL;
    to[i] = small ? small : tirc_mutate_expr(m, indices[i]);
  }
  return to;
}

static Expr rewrite_expr(Mutator *m, Expr e) {
  Narrow *k = m->self;
  Expr var = e->op == OP_VAR ? tirc_map_get(&k->vars, e) : NULL;
  if (var) return tirc_cast(k->c, e->dtype, var);
  if (e->op == OP_CAST && k->in_kernel && is_wide(e->args[0]) && e->dtype.lanes == 1) {
    Expr x = narrow(m, e->args[0]);
    if (x) return tirc_cast(k->c, e->dtype, x);
  }
  if (e->op == OP_LOAD && k->in_kernel) {
    const Expr *indices = narrow_indices(m, e->n, e->args);
    return tirc_load(k->c, e->u.buffer, e->n, indices);
  }
  const bool compares = tirc_compares(e->op);
  if (compares && k->in_kernel && is_wide(e->args[0])) {
    Expr x = narrow(m, e->args[0]), y = narrow(m, e->args[1]);
    if (x && y) return tirc_binary(k->c, (Op)e->op, x, y);
  }
  return tirc_mutate_expr_children(m, e);
}

static Stmt rewrite_loop(Mutator *m, Stmt s) {
  Narrow *k = m->self;
  For loop = s->u.loop;
  Expr min = narrow(m, loop.min), extent = narrow(m, loop.extent);
  Expr end = min && extent ? if_it_fits(k, tirc_add(k->c, min, extent)) : NULL;
  if (k->in_kernel && end && is_wide(loop.var)) {
    loop.min = min;
    loop.extent = extent;
    loop.var = tirc_var(k->c, loop.var->u.s, DT_INT32);
    tirc_map_set(k->c, &k->vars, s->u.loop.var, loop.var);
    tirc_bind_range(k->a, loop.var, tirc_range(min, extent));
    loop.body = tirc_mutate_stmt(m, loop.body);
    return tirc_for(k->c, &loop);
  }
  tirc_bind_range(k->a, loop.var, tirc_range(loop.min, loop.extent));
  return tirc_mutate_stmt_children(m, s);
}

static Stmt rewrite_stmt(Mutator *m, Stmt s) {
  Narrow *k = m->self;
  if (s->kind == STMT_FOR) {
    const bool was = k->in_kernel;
    k->in_kernel |= tirc_is_thread_loop(s);
    s = rewrite_loop(m, s);
    k->in_kernel = was;
    return s;
  }
  if (s->kind != STMT_STORE || !k->in_kernel) return tirc_mutate_stmt_children(m, s);
  const int n = s->u.store.n;
  const Expr *indices = narrow_indices(m, n, s->u.store.indices);
  Stmt to = tirc_store(k->c, s->u.store.buffer, n, indices, tirc_mutate_expr(m, s->u.store.value));
  return tirc_with_loc(k->c, to, s->loc);
}

static Stmt run(Tirc *c, const Func *f, bool everywhere) {
  Narrow k = {.c = c, .a = tirc_analyzer(c), .in_kernel = everywhere};
  Mutator m = {.c = c, .expr = rewrite_expr, .stmt = rewrite_stmt, .self = &k};
  return tirc_mutate_stmt(&m, f->body);
}

Stmt tirc_lower_narrow_index(Tirc *c, const Func *f) { return run(c, f, false); }
Stmt tirc_lower_narrow_datatype(Tirc *c, const Func *f) { return run(c, f, true); }
