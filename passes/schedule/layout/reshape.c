/* reshape_buffer: a buffer in another shape of as many elements, which stay where they are.
 *
 *   reshape_buffer("C", "A", [None, 64])
 *
 *   C[vi] = f(A[vi * 64 + vj])      ->      C[vi] = f(A[vi, vj])
 *
 * A layout as any other is, so that the callers of a function with such a parameter pass it in the
 * new shape; restore_shapes gives them the old one again, of which the function then has a view:
 *
 *   def main(A: T.Buffer((64, 64))):        def main(A: T.Buffer((4096,))):
 *       ... A[vi, vj] ...              ->       A_1 = T.decl_buffer((64, 64), data=A.data)
 *                                               ... A_1[vi, vj] ... */
#include "layout.h"

#include "ir/tree/print.h"

static DType index_type(Buffer b) { return b->ndim ? b->shape[0]->dtype : DT_INT32; }

static Expr product_of(Tirc *c, int n, const Expr *extents, DType t) {
  Expr all = tirc_int(c, t, 1);
  for (int i = 0; i < n; i++) all = tirc_mul(c, all, tirc_cast(c, t, extents[i]));
  return all;
}

static Expr extent_of(LayoutChange *l, Value v, DType t, int position) {
  if (v.kind != VAL_INT) return tirc_cast(l->c, t, v.u.expr);
  if (v.u.i < 1)
    tirc_refuse(l->s, NULL, SERR_RESHAPE_SIZE, "extent %d of the new shape is %lld", position,
                (long long)v.u.i);
  return tirc_int(l->c, t, v.u.i);
}

/* The new extents, one of which may be what the others leave. */
static const Expr *read_shape(LayoutChange *l, const ValueList *list, DType t) {
  Tirc *c = l->c;
  Expr *shape = tirc_new_array(c, Expr, list->n + 1);
  const Expr all = product_of(c, l->from->ndim, l->from->shape, t);
  int open = -1;
  for (int i = 0; i < list->n; i++) {
    shape[i] = tirc_int(c, t, 1);
    if (list->at[i].kind != VAL_NONE)
      shape[i] = extent_of(l, list->at[i], t, i);
    else if (open >= 0)
      tirc_refuse(l->s, NULL, SERR_RESHAPE_SIZE, "extents %d and %d of the new shape are None",
                  open, i);
    else
      open = i;
  }
  Analyzer *a = tirc_analyzer_of_shapes(l->s, l->block);
  if (open >= 0)
    shape[open] = tirc_simplify(a, tirc_floordiv(c, all, product_of(c, list->n, shape, t)));
  const Expr now = product_of(c, list->n, shape, t);
  if (tirc_is_int(tirc_simplify(a, all), 0))
    tirc_refuse(l->s, NULL, SERR_RESHAPE_SIZE, "%s has no elements", l->from->name);
  if (!tirc_prove_equal(a, all, now))
    tirc_refuse(l->s, NULL, SERR_RESHAPE_SIZE, "%s has %s elements, but the new shape has %s",
                l->from->name, tirc_print_expr(c, tirc_simplify(a, all)),
                tirc_print_expr(c, tirc_simplify(a, now)));
  return shape;
}

/* From the indices of one shape to those of the other: elements follow each other as before. */
static IndexMap row_major(LayoutChange *l, int n, const Expr *shape, DType t) {
  Tirc *c = l->c;
  const Buffer from = l->from;
  Expr *inputs = tirc_new_array(c, Expr, from->ndim + 1), *outputs = tirc_new_array(c, Expr, n + 1);
  Expr flat = tirc_int(c, t, 0), behind = tirc_int(c, t, 1);
  for (int i = 0; i < from->ndim; i++) {
    inputs[i] = tirc_var(c, tirc_format(c, "i%d", i), from->shape[i]->dtype);
    flat =
        tirc_add(c, tirc_mul(c, flat, tirc_cast(c, t, from->shape[i])), tirc_cast(c, t, inputs[i]));
  }
  for (int i = n; i-- > 0;) {
    outputs[i] = tirc_floordiv(c, flat, behind);
    if (i) outputs[i] = tirc_floormod(c, outputs[i], shape[i]);
    behind = tirc_mul(c, behind, shape[i]);
  }
  return (IndexMap){.n_inputs = from->ndim, .n_outputs = n, .inputs = inputs, .outputs = outputs};
}

/* --- indices ---------------------------------------------------------------------------------- */

typedef VEC(Expr) Terms;

static void add_terms(Tirc *c, Expr e, bool minus, Terms *out) {
  if (e->op == OP_ADD || e->op == OP_SUB) {
    add_terms(c, e->args[0], minus, out);
    add_terms(c, e->args[1], minus != (e->op == OP_SUB), out);
  } else {
    vec_push(c, *out, minus ? tirc_mul(c, e, tirc_int(c, e->dtype, -1)) : e);
  }
}

static void add_factors(Tirc *c, Expr e, Terms *out) {
  if (e->op == OP_MUL) {
    add_factors(c, e->args[0], out);
    add_factors(c, e->args[1], out);
  } else {
    vec_push(c, *out, e);
  }
}

/* A product without the factors of another one; NULL: it has not all of them. */
static Expr divided(Tirc *c, Expr e, Expr by) {
  Terms of = {0}, gone = {0};
  add_factors(c, e, &of);
  add_factors(c, by, &gone);
  for (int k = 0; k < gone.n; k++) {
    const Expr d = gone.at[k];
    int i = 0;
    while (i < of.n && !(d->op == OP_INT && of.at[i]->op == OP_INT ? of.at[i]->u.i % d->u.i == 0
                                                                   : tirc_expr_same(of.at[i], d)))
      i++;
    if (i == of.n) return NULL;
    of.at[i] = tirc_int(c, d->dtype, d->op == OP_INT ? of.at[i]->u.i / d->u.i : 1);
  }
  Expr product = tirc_int(c, e->dtype, 1);
  for (int i = 0; i < of.n; i++) product = tirc_mul(c, product, of.at[i]);
  return product;
}

/* e // by and e % by. Of vi * n + vk, where vk is known to be below n, these are vi and vk. */
static void split_place(Tirc *c, Analyzer *a, Expr e, Expr by, Expr *quotient, Expr *rest) {
  Terms terms = {0};
  add_terms(c, e, false, &terms);
  *quotient = *rest = tirc_int(c, e->dtype, 0);
  for (int i = 0; i < terms.n; i++) {
    const Expr whole = divided(c, terms.at[i], by);
    Expr *const to = whole ? quotient : rest;
    *to = tirc_add(c, *to, whole ? whole : terms.at[i]);
  }
  if (tirc_prove_ge(a, *rest, tirc_int(c, e->dtype, 0)) && tirc_prove_lt(a, *rest, by)) return;
  *quotient = tirc_simplify(a, tirc_floordiv(c, e, by));
  *rest = tirc_simplify(a, tirc_floormod(c, e, by));
}

static const Expr *places(const LayoutChange *l, Analyzer *a, const Expr *indices) {
  Tirc *c = l->c;
  const DType t = index_type(l->from);
  Expr *out = tirc_new_array(c, Expr, l->to->ndim + 1), flat = tirc_int(c, t, 0);
  for (int i = 0; i < l->from->ndim; i++)
    flat = tirc_add(c, tirc_mul(c, flat, tirc_cast(c, t, l->from->shape[i])),
                    tirc_cast(c, t, indices[i]));
  flat = tirc_simplify(a, flat);
  for (int i = l->to->ndim; i-- > 0;) {
    out[i] = flat;
    if (i) split_place(c, a, flat, l->to->shape[i], &flat, &out[i]);
  }
  return out;
}

void tirc_prim_reshape_buffer(Sched *s, const Value *args, Value *result) {
  (void)result;
  LayoutChange l = {.s = s, .c = s->c, .block = tirc_sref_of_value(s, args[0])};
  l.from = tirc_choose_buffer(s, l.block, args[1]).buffer;
  const ValueList *list = args[2].u.list;
  const DType t = index_type(l.from);
  l.scope = tirc_scope_of_buffer(s, l.block, l.from);
  tirc_require_plain_use(s, l.scope, l.from, false);
  if (l.from->elem_offset || l.from->n_axis_separators)
    tirc_refuse(s, NULL, SERR_BUFFER_NOT_PLAIN, "The layout of %s cannot change: it has %s.",
                l.from->name, l.from->elem_offset ? "an offset" : "axis separators");
  const Expr *shape = read_shape(&l, list, t);
  l.map = row_major(&l, list->n, shape, t);
  l.to = tirc_laid_out(&l, shape);
  l.map.in_place = places;
  tirc_install_layout(&l, &(PaddingPlan){0});
}

/* --- restore_shapes --------------------------------------------------------------------------- */

void tirc_prim_restore_shapes(Sched *s, const Value *args, Value *result) {
  (void)result;
  Tirc *c = s->c;
  const int func = tirc_function_named(s, args[0].kind == VAL_STR ? args[0].u.s : NULL);
  Func f = *s->mod->funcs[func];
  if (!f.relayouts || !s->roots[func]) return;
  Buffer *buffers = tirc_new_array(c, Buffer, f.n_params + 1);
  const Relayout **relayouts = tirc_new_array(c, const Relayout *, f.n_params + 1);
  const Stmt root = s->roots[func]->stmt;
  Stmt body = tirc_body_of(root);
  for (int i = f.n_params; i-- > 0;) {
    buffers[i] = f.buffers[i];
    relayouts[i] = f.relayouts[i];
    if (!relayouts[i] || !relayouts[i]->in_place) continue;
    body = tirc_alloc_stmt(c, STMT_DECL, buffers[i], (Attrs){0}, body);
    buffers[i] = relayouts[i]->before;
    relayouts[i] = NULL;
  }
  f.buffers = buffers;
  f.relayouts = relayouts;
  tirc_sched_replace(s, s->roots[func], tirc_with_body(c, root, body));
  f.body = s->mod->funcs[func]->body;
  Func *kept = tirc_copy(c, &f, 1);
  s->mod = tirc_module_with_func(c, s->mod, func, kept);
}
