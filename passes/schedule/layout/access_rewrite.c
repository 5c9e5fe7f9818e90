/* The walk behind layout.h. Loops and iterators are known while the walk is inside of them;
 * conditions while it is inside of their branch. */
#include "layout.h"

#include "ir/tree/find.h"

const Expr *tirc_simplify_access(AccessRewriter *w, int n, const Expr *indices) {
  Tirc *c = w->c;
  Expr pred = tirc_bool(c, true);
  for (int i = 0; i < w->conds.n; i++) pred = tirc_and(c, pred, w->conds.at[i]);
  Expr *out = tirc_new_array(c, Expr, n + 1);
  tirc_iter_map_simplify(w->a, n, indices, w->vars.n, w->vars.at, w->doms.at, pred,
                         ITER_LEVEL_SURJECTIVE, true, out);
  for (int i = 0; i < n; i++)
    if (out[i]->op == OP_INT && indices[i]->op == OP_VAR) out[i] = indices[i];
  return out;
}

static Expr rewrite_expr(Mutator *m, Expr e) {
  AccessRewriter *w = m->self;
  if (e->op == OP_IF_THEN_ELSE) {
    Expr cond = tirc_mutate_expr(m, e->args[0]), args[3] = {cond};
    for (int i = 1; i < 3; i++) {
      Expr holds = i == 1 ? cond : tirc_not(w->c, cond);
      int mark = tirc_enter_constraint(w->a, holds);
      vec_push(w->c, w->conds, holds);
      args[i] = tirc_mutate_expr(m, e->args[i]);
      w->conds.n--;
      tirc_leave_constraint(w->a, mark);
    }
    bool same = args[0] == e->args[0] && args[1] == e->args[1] && args[2] == e->args[2];
    return same ? e : tirc_expr(w->c, OP_IF_THEN_ELSE, e->dtype, 3, args);
  }
  Expr to = tirc_mutate_expr_children(m, e);
  if (to->op != OP_LOAD) return to;
  Buffer buffer = to->u.buffer;
  int n = to->n;
  const Expr *indices = to->args;
  return w->access(w, &buffer, &n, &indices) ? tirc_load(w->c, buffer, n, indices) : to;
}

static void enter(AccessRewriter *w, Expr var, Range dom) {
  tirc_bind_range(w->a, var, dom);
  vec_push(w->c, w->vars, var);
  vec_push(w->c, w->doms, dom);
}

static Stmt rewrite_branch(AccessRewriter *w, Stmt s) {
  Mutator *m = &w->m;
  Expr cond = tirc_mutate_expr(m, s->u.branch.cond);
  Expr real = cond->op == OP_LIKELY ? cond->args[0] : cond;
  const Expr holds = tirc_lasting_part(w->c, real, s->u.branch.then_case);
  int mark = tirc_enter_constraint(w->a, holds);
  vec_push(w->c, w->conds, holds);
  Stmt then_case = tirc_mutate_stmt(m, s->u.branch.then_case), else_case = s->u.branch.else_case;
  w->conds.n--;
  tirc_leave_constraint(w->a, mark);
  if (else_case) {
    mark = tirc_enter_constraint(
        w->a, tirc_lasting_part(w->c, tirc_not(w->c, real), s->u.branch.else_case));
    else_case = tirc_mutate_stmt(m, else_case);
    tirc_leave_constraint(w->a, mark);
  }
  bool same = cond == s->u.branch.cond && then_case == s->u.branch.then_case &&
              else_case == s->u.branch.else_case;
  return same ? s : tirc_with_loc(w->c, tirc_if(w->c, cond, then_case, else_case), s->loc);
}

static Stmt rewrite_store(AccessRewriter *w, Stmt s) {
  Buffer buffer = s->u.store.buffer;
  int n = s->u.store.n;
  const Expr *indices = s->u.store.indices;
  if (!w->access(w, &buffer, &n, &indices)) return s;
  return tirc_with_loc(w->c, tirc_store(w->c, buffer, n, indices, s->u.store.value), s->loc);
}

static Stmt rewrite_parts(AccessRewriter *w, Stmt s) {
  const int n = w->vars.n;
  if (s->kind == STMT_IF) return rewrite_branch(w, s);
  if (s->kind == STMT_FOR) enter(w, s->u.loop.var, tirc_loop_range(&s->u.loop));
  if (s->kind == STMT_BLOCK)
    for (int i = 0; i < s->u.block.n_iters; i++)
      enter(w, s->u.block.iters[i].var, s->u.block.iters[i].dom);
  Stmt to = tirc_mutate_stmt_children(&w->m, s);
  if (to->kind == STMT_STORE) to = rewrite_store(w, to);
  if (to->kind == STMT_BLOCK && w->block) to = w->block(w, to);
  w->vars.n = w->doms.n = n;
  return to;
}

static Stmt rewrite_stmt(Mutator *m, Stmt s) {
  AccessRewriter *w = m->self;
  Stmt now = w->before ? w->before(w, s) : s;
  /* A replacement is walked through as it is: it may contain what it replaces. */
  const Paths *only = m->only;
  if (now != s) m->only = NULL;
  Stmt to = rewrite_parts(w, now);
  m->only = only;
  return w->after ? w->after(w, s, to) : to;
}

Stmt tirc_rewrite_accesses(AccessRewriter *w, Stmt s) {
  w->m =
      (Mutator){.c = w->c, .expr = rewrite_expr, .stmt = rewrite_stmt, .self = w, .only = w->only};
  return tirc_mutate_stmt(&w->m, s);
}

/* --- a block on its own ----------------------------------------------------------------------- */

static bool is_part(const void *self, Expr e) {
  (void)self;
  return e->op == OP_FLOORDIV || e->op == OP_FLOORMOD;
}

/* Parts of iterators as what they are, (v0 * 256 + v1) // 256 as v0. Iterators of one step stay. */
static const Expr *shorter(AccessRewriter *w, int n, const Expr *indices) {
  const Expr *mapped = tirc_simplify_access(w, n, indices);
  Expr *out = tirc_new_array(w->c, Expr, n + 1);
  for (int i = 0; i < n; i++)
    out[i] = tirc_find_expr(mapped[i], is_part, NULL) ? tirc_simplify(w->a, mapped[i]) : mapped[i];
  return out;
}

static bool shorten(AccessRewriter *w, Buffer *buffer, int *n, const Expr **indices) {
  (void)buffer;
  *indices = shorter(w, *n, *indices);
  return true;
}

static const Region *shorten_regions(AccessRewriter *w, int n, const Region *from) {
  Region *out = tirc_new_array(w->c, Region, n + 1);
  for (int i = 0; i < n; i++) {
    int ndim = from[i].buffer->ndim;
    Range *dims = tirc_new_array(w->c, Range, ndim + 1);
    Expr *min = tirc_new_array(w->c, Expr, ndim + 1);
    for (int k = 0; k < ndim; k++) min[k] = from[i].dims[k].min;
    const Expr *simple = shorter(w, ndim, min);
    for (int k = 0; k < ndim; k++)
      dims[k] = tirc_range(simple[k], tirc_simplify(w->a, from[i].dims[k].extent));
    out[i] = (Region){from[i].buffer, dims};
  }
  return out;
}

static Stmt shorten_block(AccessRewriter *w, Stmt s) {
  Block b = s->u.block;
  b.reads = shorten_regions(w, b.n_reads, b.reads);
  b.writes = shorten_regions(w, b.n_writes, b.writes);
  return tirc_with_loc(w->c, tirc_block(w->c, &b), s->loc);
}

Stmt tirc_simplify_accesses(Tirc *c, Analyzer *a, Stmt block) {
  AccessRewriter w = {.c = c, .a = a, .access = shorten, .block = shorten_block};
  return tirc_rewrite_accesses(&w, block);
}
