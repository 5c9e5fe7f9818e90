#include "free_order.h"

#include "ir/tree/visit.h"
#include "passes/meaning/sums.h"

typedef struct Freeing {
  Tirc *c;
  bool choose; /* among equal candidates */
  const Func *f;
  NanOrder nan;
  bool changed;
  VEC(int) chosen;
  VEC(Expr) params;
  VEC(Buffer) buffers;
} Freeing;

/* --- equal candidates ------------------------------------------------------------------------ */

/* The parameter whose buffer it is; -1. */
static int param_of(const Func *f, Buffer b) {
  for (int i = 0; i < f->n_params; i++)
    if (f->buffers[i] == b) return i;
  return -1;
}

/* What holds the choices for a parameter. */
static Buffer choices_of(Freeing *k, int param) {
  for (int i = 0; i < k->chosen.n; i++)
    if (k->chosen.at[i] == param) return k->buffers.at[k->f->n_params + i];
  struct BufferNode b = *k->f->buffers[param];
  b.name = tirc_format(k->c, "%s_chosen", b.name);
  b.data = tirc_var(k->c, b.name, DT_HANDLE);
  vec_push(k->c, k->chosen, param);
  vec_push(k->c, k->params, tirc_var(k->c, "p", DT_HANDLE));
  vec_push(k->c, k->buffers, tirc_buffer_copy(k->c, &b));
  return k->buffers.at[k->buffers.n - 1];
}

/* Whether the candidate is the one to be taken, by all that the comparison does not look at. */
static Expr is_chosen(Freeing *k, const Reducer *r, const bool *compared, const Expr *candidate) {
  Expr all = tirc_bool(k->c, true);
  for (int i = 0; i < r->n; i++) {
    if (compared[i]) continue;
    const Buffer b = choices_of(k, param_of(k->f, r->buffers[i]));
    all =
        tirc_and(k->c, all,
                 tirc_eq(k->c, candidate[i], tirc_load(k->c, b, r->self[i]->n, r->self[i]->args)));
  }
  return all;
}

static Expr either(Tirc *c, Expr a, Expr b) { return tirc_binary(c, OP_OR, a, b); }

static Expr select(Tirc *c, Expr cond, Expr a, Expr b) {
  return tirc_expr(c, OP_SELECT, a->dtype, 3, (Expr[]){cond, a, b});
}

/* Two candidates are equal if the comparison says the same of them both ways round. */
static Stmt choosing(Freeing *k, const Reducer *r, Expr order, Expr turned, const bool *compared) {
  Tirc *c = k->c;
  const Expr equal =
      either(c, tirc_and(c, order, turned), tirc_and(c, tirc_not(c, order), tirc_not(c, turned)));
  const Expr old = is_chosen(k, r, compared, r->self), new = is_chosen(k, r, compared, r->rhs);
  const Expr keep = select(c, equal, tirc_and(c, tirc_not(c, new), either(c, old, order)), order);
  Stmt *stores = tirc_new_array(c, Stmt, r->n);
  const Expr kept = tirc_var(c, "kept", DT_BOOL);
  Expr *vars = tirc_new_array(c, Expr, r->n);
  for (int i = 0; i < r->n; i++) {
    vars[i] = tirc_var(c, "v", r->self[i]->dtype);
    stores[i] = tirc_store(c, r->buffers[i], r->self[i]->n, r->self[i]->args, vars[i]);
  }
  Stmt body = tirc_seq(c, r->n, stores);
  for (int i = r->n - 1; i >= 0; i--)
    body = tirc_let(c, vars[i], select(c, kept, r->self[i], r->rhs[i]), body);
  return tirc_let(c, kept, keep, body);
}

static Stmt free_block(Mutator *m, Stmt stmt) {
  Freeing *k = m->self;
  Picking p;
  const bool picks =
      k->choose && stmt->kind == STMT_BLOCK && tirc_picks_equals(k->c, &stmt->u.block, &p);
  stmt = tirc_mutate_stmt_children(m, stmt);
  if (!picks) return stmt;
  for (int i = 0; i < p.reducer.n; i++)
    if (!p.compared[i] && param_of(k->f, p.reducer.buffers[i]) < 0) return stmt;
  Block b = stmt->u.block;
  b.body = choosing(k, &p.reducer, p.order, p.turned, p.compared);
  k->changed = true;
  return tirc_block(k->c, &b);
}

/* --- NaN ------------------------------------------------------------------------------------- */

static Expr free_expr(Mutator *m, Expr e) {
  Freeing *k = m->self;
  e = tirc_mutate_expr_children(m, e);
  if (k->nan == NAN_AS_WRITTEN || (e->op != OP_MAX && e->op != OP_MIN) ||
      !tirc_dtype_is_float(e->dtype) || e->dtype.lanes != 1)
    return e;
  k->changed = true;
  const Expr a = e->args[0], b = e->args[1];
  const bool stays = k->nan == NAN_STAYS;
  return select(k->c, tirc_expr(k->c, OP_NE, DT_BOOL, 2, (Expr[]){a, a}), stays ? a : b,
                select(k->c, tirc_expr(k->c, OP_NE, DT_BOOL, 2, (Expr[]){b, b}), stays ? b : a, e));
}

/* --- the door -------------------------------------------------------------------------------- */

FreeOrder tirc_free_order(Tirc *c, const Func *f, bool choose, NanOrder nan) {
  Freeing k = {.c = c, .f = f, .nan = nan, .choose = choose};
  for (int i = 0; i < f->n_params; i++) {
    vec_push(c, k.params, f->params[i]);
    vec_push(c, k.buffers, f->buffers[i]);
  }
  Func *func = tirc_copy(c, f, 1);
  func->body = tirc_mutate_stmt(
      &(Mutator){.c = c, .stmt = free_block, .expr = free_expr, .self = &k}, f->body);
  func->n_params = k.params.n;
  func->params = k.params.at;
  func->buffers = k.buffers.at;
  func->relayouts = NULL;
  return (FreeOrder){k.changed ? func : NULL, k.chosen.n, k.chosen.at};
}
