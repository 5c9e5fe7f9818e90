/* A parameter whose layout a schedule changed, as a function that copies it:
 *
 *   transform_layout(C, ("write", 0), lambda i, j: (j, i))   ->   def relayout(C, C_now):
 *                                                                   C_now[j, i] = C[i, j]
 *
 * and back: C[i, j] = C_now[j, i]. Padding is left as it is. Sizes that the shapes do not tell are
 * further parameters. */
#include "ir/arith/access.h"
#include "ir/arith/box.h"
#include "ir/tree/visit.h"
#include "passes/schedule/schedule.h"

/* The same kind of array with memory of its own: two layouts of a parameter share its data. */
static Buffer array_like(Tirc *c, Buffer b, const char *name) {
  return tirc_buffer(c, name, b->dtype, b->ndim, b->shape, b->scope);
}

static Stmt copy_nest(Tirc *c, const Relayout *r, Buffer before, Buffer now, bool back) {
  const int n = before->ndim;
  IterVar *iters = tirc_new_array(c, IterVar, n + 1);
  Expr *loops = tirc_new_array(c, Expr, n + 1);
  for (int i = 0; i < n; i++) {
    iters[i] = (IterVar){r->vars[i], tirc_whole_dim(c, before, i), ITER_SPATIAL};
    loops[i] = tirc_var(c, tirc_format(c, "ax%d", i), r->vars[i]->dtype);
  }
  Stmt copy = back ? tirc_store(c, before, n, r->vars, tirc_load(c, now, now->ndim, r->indices))
                   : tirc_store(c, now, now->ndim, r->indices, tirc_load(c, before, n, r->vars));
  Stmt nest = tirc_block(c, &(Block){.name = "relayout",
                                     .n_iters = n,
                                     .iters = iters,
                                     .iter_values = loops,
                                     .predicate = tirc_bool(c, true),
                                     .body = copy});
  nest = tirc_infer_regions(c, nest, false, false);
  for (int i = n; i-- > 0;) nest = tirc_for_serial(c, loops[i], before->shape[i], nest);
  return nest;
}

typedef struct Sizes {
  Tirc *c;
  int n_buffers;
  const Buffer *buffers;
  VEC(Expr) at;
} Sizes;

static bool is_told(const Sizes *k, Expr var) {
  for (int i = 0; i < k->n_buffers; i++)
    for (int d = 0; d < k->buffers[i]->ndim; d++)
      if (k->buffers[i]->shape[d] == var) return true;
  return false;
}

static bool see_size(Visitor *v, Expr e) {
  Sizes *k = v->self;
  bool known = e->op != OP_VAR || is_told(k, e);
  for (int i = 0; i < k->at.n; i++) known |= k->at.at[i] == e;
  if (!known) vec_push(k->c, k->at, e);
  return true;
}

/* What stands in the shapes, but not as an extent of its own that an array tells. */
static Sizes untold_sizes(Tirc *c, int n, const Buffer *buffers) {
  Sizes k = {.c = c, .n_buffers = n, .buffers = buffers};
  Visitor v = {.expr = see_size, .self = &k};
  for (int i = 0; i < n; i++)
    for (int d = 0; d < buffers[i]->ndim; d++) tirc_visit_expr(&v, buffers[i]->shape[d]);
  return k;
}

const Module *tirc_relayout(Tirc *c, const Module *m, const Func *f, int param, bool back) {
  const Relayout *r = f->relayouts ? f->relayouts[param] : NULL;
  if (!r) return NULL;
  tirc_context_depend(c, m->c);
  const char *name = f->buffers[param]->name;
  Buffer before = array_like(c, r->before, name);
  Buffer now = array_like(c, f->buffers[param], tirc_format(c, "%s_now", name));
  const Sizes sizes = untold_sizes(c, 2, (Buffer[]){before, now});
  const int n = 2 + sizes.at.n;
  Expr *params = tirc_new_array(c, Expr, n);
  Buffer *buffers = tirc_new_array(c, Buffer, n); /* of the sizes: NULL */
  buffers[back ? 1 : 0] = before;
  buffers[back ? 0 : 1] = now;
  for (int i = 0; i < n; i++)
    params[i] = i < 2 ? tirc_var(c, tirc_format(c, "p_%s", buffers[i]->name), DT_HANDLE)
                      : sizes.at.at[i - 2];
  Stmt root = tirc_block(c, &(Block){.name = "root",
                                     .predicate = tirc_bool(c, true),
                                     .body = copy_nest(c, r, before, now, back)});
  Func *to = tirc_new(c, Func);
  *to = (Func){.name = "main", .n_params = n, .params = params, .buffers = buffers, .body = root};
  Module *out = tirc_new(c, Module);
  const Func **funcs = tirc_new_array(c, const Func *, 1);
  funcs[0] = to;
  *out = (Module){.c = c, .name = "Module", .n_funcs = 1, .funcs = funcs};
  return out;
}
