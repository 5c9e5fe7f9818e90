/* A function that shares nothing with the tensors that it was made of: variables, buffers, loops
 * and blocks of its own. Variables that no parameter's extent is become scalar parameters. */
#include "ir/tree/visit.h"
#include "te.h"

typedef struct Fresh {
  Tirc *c;
  PtrMap defined; /* variables of loops, iterators, lets; data of buffers */
  PtrMap seen;
  VEC(Expr) open; /* variables that nothing defines, in the order of their first use */
} Fresh;

static bool find_defined(Visitor *v, Stmt s) {
  Fresh *f = v->self;
  if (s->kind == STMT_FOR) tirc_map_set(f->c, &f->defined, s->u.loop.var, s);
  if (s->kind == STMT_LET) tirc_map_set(f->c, &f->defined, s->u.let.var, s);
  for (int i = 0; s->kind == STMT_BLOCK && i < s->u.block.n_iters; i++)
    tirc_map_set(f->c, &f->defined, s->u.block.iters[i].var, s);
  return true;
}

static bool find_open(Visitor *v, Expr e) {
  Fresh *f = v->self;
  const bool open = e->op == OP_VAR && e->dtype.code != TYPE_HANDLE &&
                    !tirc_map_has(&f->defined, e) && !tirc_map_has(&f->seen, e);
  if (open) {
    tirc_map_set(f->c, &f->seen, e, e);
    vec_push(f->c, f->open, e);
  }
  return true;
}

static bool find_open_in(Visitor *v, Stmt s) {
  for (int i = 0; s->kind == STMT_BLOCK && i < s->u.block.n_allocs; i++)
    for (int d = 0; d < s->u.block.allocs[i]->ndim; d++)
      tirc_visit_expr(v, s->u.block.allocs[i]->shape[d]);
  for (int i = 0; s->kind == STMT_BLOCK && i < s->u.block.n_iters; i++) {
    tirc_visit_expr(v, s->u.block.iters[i].dom.min);
    tirc_visit_expr(v, s->u.block.iters[i].dom.extent);
  }
  return true;
}

static bool is_extent(const Func *f, Expr var) {
  for (int i = 0; i < f->n_params; i++)
    for (int d = 0; d < f->buffers[i]->ndim; d++)
      if (f->buffers[i]->shape[d] == var) return true;
  return false;
}

static void find_all_open(Fresh *x, const Func *f) {
  Visitor defs = {.expr = tirc_skip_expr, .stmt = find_defined, .self = x};
  Visitor uses = {.expr = find_open, .stmt = find_open_in, .regions = true, .self = x};
  tirc_visit_stmt(&defs, f->body);
  for (int i = 0; i < f->n_params; i++)
    for (int d = 0; d < f->buffers[i]->ndim; d++) tirc_visit_expr(&uses, f->buffers[i]->shape[d]);
  tirc_visit_stmt(&uses, f->body);
}

static Buffer fresh_buffer(Tirc *c, Buffer b, const PtrMap *vars) {
  Expr *shape = tirc_new_array(c, Expr, b->ndim);
  for (int d = 0; d < b->ndim; d++) shape[d] = tirc_substitute(c, b->shape[d], vars);
  return tirc_buffer(c, b->name, b->dtype, b->ndim, shape, b->scope);
}

const Func *tirc_te_fresh(Tirc *c, const Func *f, Unknowns *unknown) {
  Fresh x = {.c = c};
  PtrMap vars = {0}, buffers = {0};
  find_all_open(&x, f);
  const int most = f->n_params + x.open.n;
  Expr *params = tirc_new_array(c, Expr, most), *scalars = tirc_new_array(c, Expr, x.open.n);
  Buffer *own = tirc_new_array(c, Buffer, most);
  *unknown = (Unknowns){0, scalars};
  for (int i = 0; i < x.open.n; i++) {
    Expr var = x.open.at[i], fresh = tirc_var(c, var->u.s, var->dtype);
    tirc_map_set(c, &vars, var, fresh);
    if (is_extent(f, var)) continue;
    params[f->n_params + unknown->n] = fresh;
    own[f->n_params + unknown->n] = NULL;
    scalars[unknown->n++] = var;
  }
  for (int i = 0; i < f->n_params; i++) {
    params[i] = tirc_var(c, f->params[i]->u.s, DT_HANDLE);
    own[i] = fresh_buffer(c, f->buffers[i], &vars);
    tirc_map_set(c, &buffers, f->buffers[i], own[i]);
  }
  Func *to = tirc_new(c, Func);
  *to = *f;
  to->n_params = f->n_params + unknown->n;
  to->params = params;
  to->buffers = own;
  to->body = tirc_clone_fresh(
      c, tirc_substitute_buffers(c, tirc_substitute_stmt(c, f->body, &vars), &buffers));
  return to;
}
