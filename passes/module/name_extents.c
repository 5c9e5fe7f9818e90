/* NameExtents: an extent that a function sees in one form only becomes the extent that this is, and
 * comes with the tensors that have it. Functions that differ in nothing else become the same, and
 * what is proved of n need not be proved of H // 2.
 *
 *   def relu(x: (H // 2, 8), y: (H // 2, 8), H)            def relu(x: (H, 8), y: (H, 8))
 *   R.call_tir(cls.relu, (x,), tir_vars=R.shape([H]))  ->  R.call_tir(cls.relu, (x,)) */
#include "module.h"
#include "passes.h"

#include "ir/arith/equal.h"
#include "ir/tree/annotations.h"
#include "ir/tree/visit.h"

typedef struct Forms {
  Tirc *c;
  PtrMap vars;  /* scalar -> itself */
  PtrMap forms; /* scalar -> what stands for it wherever it is used */
  PtrMap to;    /* scalar -> the extent in place of its form */
} Forms;

/* H // 2 or H * 2, of one of the scalars; NULL: another expression. */
static Expr scalar_of(const Forms *k, Expr e) {
  int64_t n;
  if ((e->op != OP_FLOORDIV && e->op != OP_MUL) || !tirc_map_has(&k->vars, e->args[0])) return NULL;
  return tirc_const_int(e->args[1], &n) && n > 0 ? e->args[0] : NULL;
}

static int64_t divisor_of(Expr e) {
  int64_t n = 1;
  if (e->op == OP_FLOORDIV) (void)tirc_const_int(e->args[1], &n);
  return n;
}

/* What both are made of: of H // 4 and H // 6, H // 2; otherwise the scalar itself. */
static Expr common_form(Tirc *c, Expr var, Expr a, Expr b) {
  int64_t x = divisor_of(a), y = divisor_of(b);
  if (tirc_expr_equal(c, a, b)) return a;
  while (y) {
    const int64_t rest = x % y;
    x = y;
    y = rest;
  }
  return x == 1 ? var : tirc_binary(c, OP_FLOORDIV, var, tirc_int(c, var->dtype, x));
}

static bool see_form(Visitor *v, Expr e) {
  Forms *k = v->self;
  const Expr var = tirc_map_has(&k->vars, e) ? e : scalar_of(k, e);
  if (!var) return true;
  const Expr known = tirc_map_get(&k->forms, var);
  tirc_map_set(k->c, &k->forms, var, known ? common_form(k->c, var, known, e) : e);
  return false;
}

static void see_shape(Visitor *v, Buffer b) {
  for (int d = 0; d < b->ndim; d++) {
    tirc_visit_expr(v, b->shape[d]);
    if (b->strides) tirc_visit_expr(v, b->strides[d]);
  }
  if (b->elem_offset) tirc_visit_expr(v, b->elem_offset);
}

static bool see_buffers(Visitor *v, Stmt s) {
  if (s->kind == STMT_ALLOC || s->kind == STMT_DECL) see_shape(v, s->u.alloc.buffer);
  for (int i = 0; s->kind == STMT_BLOCK && i < s->u.block.n_allocs; i++)
    see_shape(v, s->u.block.allocs[i]);
  for (int i = 0; s->kind == STMT_BLOCK && i < s->u.block.n_matches; i++)
    see_shape(v, s->u.block.matches[i].buffer);
  return true;
}

static void find_forms(Forms *k, const Func *f) {
  Visitor v = {.expr = see_form, .stmt = see_buffers, .regions = true, .self = k};
  for (int i = 0; i < f->n_params; i++)
    if (f->buffers[i]) see_shape(&v, f->buffers[i]);
  tirc_visit_stmt(&v, f->body);
}

/* --- the function ------------------------------------------------------------------------------ */

static Expr replace_form(Mutator *m, Expr e) {
  const Forms *k = m->self;
  const Expr var = tirc_map_has(&k->vars, e) ? e : scalar_of(k, e);
  const Expr to = var ? tirc_map_get(&k->to, var) : NULL;
  if (!to) return tirc_mutate_expr_children(m, e);
  const Expr form = tirc_map_get(&k->forms, var);
  if (form == var) return tirc_mutate_expr_children(m, e);
  const int64_t rest = divisor_of(e) / divisor_of(form);
  return rest == 1 ? to : tirc_binary(m->c, OP_FLOORDIV, to, tirc_int(m->c, to->dtype, rest));
}

static Stmt replace_in_stmt(Mutator *m, Stmt s) {
  return tirc_mutate_shapes(m, tirc_mutate_stmt_children(m, s), &((Forms *)m->self)->to);
}

static Buffer with_shape(Mutator *m, Buffer b) {
  struct BufferNode to = *b;
  Expr *shape = tirc_new_array(m->c, Expr, b->ndim);
  bool other = false;
  for (int d = 0; d < b->ndim; d++) {
    shape[d] = tirc_mutate_expr(m, b->shape[d]);
    other |= shape[d] != b->shape[d];
  }
  to.shape = shape;
  return other ? tirc_buffer_copy(m->c, &to) : b;
}

static bool has_extent(const Func *f, Expr var) {
  for (int i = 0; i < f->n_params; i++)
    for (int d = 0; f->buffers[i] && d < f->buffers[i]->ndim; d++)
      if (f->buffers[i]->shape[d] == var) return true;
  return false;
}

/* With extents in place of forms; those that a tensor has are no parameters any more. */
static const Func *rename_extents(Forms *k, const Func *f) {
  Tirc *c = k->c;
  Mutator m = {.c = c, .expr = replace_form, .stmt = replace_in_stmt, .self = k};
  PtrMap buffers = {0};
  Func *to = tirc_copy(c, f, 1);
  Expr *params = tirc_copy(c, f->params, f->n_params);
  Buffer *own = tirc_copy(c, f->buffers, f->n_params);
  for (int i = 0; i < f->n_params; i++) {
    if (!f->buffers[i]) continue;
    own[i] = with_shape(&m, f->buffers[i]);
    if (own[i] != f->buffers[i]) tirc_map_set(c, &buffers, f->buffers[i], own[i]);
  }
  to->params = params;
  to->buffers = own;
  to->body = tirc_substitute_buffers(c, tirc_mutate_stmt(&m, f->body), &buffers);
  to->n_params = 0;
  for (int i = 0; i < f->n_params; i++) {
    const Expr named = f->buffers[i] ? NULL : tirc_map_get(&k->to, f->params[i]);
    if (named && has_extent(to, named)) continue;
    params[to->n_params] = named ? named : f->params[i];
    own[to->n_params++] = own[i];
  }
  tirc_know_extents(c, to);
  return to;
}

/* --- its calls --------------------------------------------------------------------------------- */

typedef struct Renamed {
  const Func *f, *to;
  Forms forms;
} Renamed;

static Node call_by_extents(GraphRewriter *r, const Binding *b, Node value, Node *alias) {
  const StrMap *all = r->self;
  const Renamed *k = value->kind == NODE_CALL_TIR ? tirc_strmap_get(all, value->name) : NULL;
  (void)b, (void)alias;
  if (!k || !value->value) return value;
  struct Node call = *value;
  Expr *scalars = tirc_new_array(r->c, Expr, value->value->n);
  int n = 0;
  for (int i = 0; i < value->value->n; i++) {
    const Expr var = k->f->params[k->f->n_params - value->value->n + i];
    const Expr named = tirc_map_get(&k->forms.to, var);
    if (named && has_extent(k->to, named)) continue;
    const Expr said = value->value->args[i];
    scalars[n++] =
        !named ? said
               : tirc_simplify0(
                     r->c, tirc_substitute1(r->c, tirc_map_get(&k->forms.forms, var), var, said));
  }
  call.value = n ? tirc_expr(r->c, OP_TUPLE, DT_HANDLE, n, scalars) : NULL;
  return tirc_graph_node(r->c, &call);
}

/* NULL: nothing to name. What a function says of an extent by its name is left alone. */
static Renamed *name_extents(Tirc *c, const Func *f) {
  Renamed *k = tirc_new(c, Renamed);
  k->f = f;
  k->forms.c = c;
  if (!tirc_attrs_get(f->attrs, "tirc.private") ||
      tirc_attrs_get(f->attrs, tirc_key(KEY_INDEX_RANGES)))
    return NULL;
  for (int i = 0; i < f->n_params; i++)
    if (!f->buffers[i] && f->params[i]->dtype.bits == 64)
      tirc_map_set(c, &k->forms.vars, f->params[i], f->params[i]);
  find_forms(&k->forms, f);
  bool any = false;
  for (int i = 0; i < f->n_params; i++) {
    const Expr var = f->params[i], form = tirc_map_get(&k->forms.forms, var);
    if (f->buffers[i] || !form || (form == var && !has_extent(f, var))) continue;
    tirc_map_set(c, &k->forms.to, var, form == var ? var : tirc_var(c, var->u.s, var->dtype));
    any = true;
  }
  if (any) k->to = rename_extents(&k->forms, f);
  return any ? k : NULL;
}

const Module *tirc_pass_name_extents(Passes *p, const Module *m) {
  StrMap all = {0};
  bool any = false;
  for (int i = 0; i < m->n_funcs; i++) {
    Renamed *k = name_extents(p->c, m->funcs[i]);
    if (!k) continue;
    *tirc_strmap_at(p->c, &all, k->f->name) = k;
    m = tirc_module_with_func(p->c, m, i, k->to);
    any = true;
  }
  for (int i = 0; any && i < m->n_graphs; i++) {
    GraphRewriter r = {.c = p->c, .value = call_by_extents, .self = &all};
    m = tirc_module_with_graph(p->c, m, i, tirc_rewrite_graph(&r, m->graphs[i]));
  }
  return m;
}
