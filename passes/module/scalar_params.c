/* Numbers that a graph is given, R.Prim("float32"), are tensors of no axes, and a function that
 * takes one as a scalar reads it:
 *
 *   def add(x: T.Buffer((4,), "float32"), s: T.float32, y: ...)
 *   ->  def add(x: T.Buffer((4,), "float32"), s_buf: T.Buffer((), "float32"), y: ...): s = s_buf[()]
 *
 * A number whose value the text gives, R.Prim(value=n), is an extent, and stays what it is. */
#include "module.h"

#include "ir/tree/find.h"
#include "ir/tree/visit.h"

#include <string.h>

typedef struct Scalars {
  Tirc *c;
  const Module *m;
  PtrMap made; /* function -> the one that reads its scalars */
} Scalars;

static bool is_number(Info info) {
  return info && info->kind == INFO_PRIM && !info->value && info->dtype.code != TYPE_VOID;
}

static Info as_tensor(Tirc *c, Info info) { return tirc_info_tensor(c, info->dtype, 0, NULL); }

/* --- functions -------------------------------------------------------------------------------- */

static bool is_root(Stmt body) { return body->kind == STMT_BLOCK && !body->u.block.n_iters; }

/* The body behind `var = b[()]`: inside of its root block, if it has one. */
static Stmt with_value(Tirc *c, Expr var, Buffer b, Stmt body) {
  const Expr value = tirc_load(c, b, 0, NULL);
  if (!is_root(body)) return tirc_let(c, var, value, body);
  Block block = body->u.block;
  block.body = tirc_let(c, var, value, block.body);
  return tirc_block(c, &block);
}

/* Whether only what stands behind such a line uses the scalar: no extent of a parameter does, and
 * nothing that the root block says of itself. */
static bool is_apart(Tirc *c, const Func *f, Expr var) {
  for (int i = 0; i < f->n_params; i++) {
    const Buffer b = f->buffers[i];
    if (b && (tirc_any_uses(b->ndim, b->shape, var) ||
              (b->strides && tirc_any_uses(b->ndim, b->strides, var)) ||
              (b->elem_offset && tirc_uses_var(b->elem_offset, var))))
      return false;
  }
  if (!is_root(f->body)) return true;
  Block block = f->body->u.block;
  block.body = tirc_eval(c, tirc_int(c, DT_INT32, 0));
  return !tirc_stmt_uses_var(tirc_block(c, &block), var);
}

/* f with tensors in place of the scalars among its first n parameters. */
static const Func *reading(Scalars *k, const Func *f, int n) {
  Func *to = tirc_copy(k->c, f, 1);
  Expr *params = tirc_copy(k->c, f->params, f->n_params);
  Buffer *buffers = tirc_copy(k->c, f->buffers, f->n_params);
  for (int i = 0; i < n; i++) {
    if (f->buffers[i]) continue;
    const char *name = tirc_format(k->c, "%s_buf", params[i]->u.s);
    buffers[i] = tirc_buffer(k->c, name, params[i]->dtype, 0, NULL, "global");
    to->body = with_value(k->c, params[i], buffers[i], to->body);
    params[i] = tirc_var(k->c, name, DT_HANDLE);
  }
  to->name = tirc_free_name(k->c, k->m, f->name);
  to->params = params;
  to->buffers = buffers;
  return to;
}

/* The function that a call with such arguments calls. */
static const char *callee(Scalars *k, Node call) {
  const Func *f = tirc_module_func(k->m, call->name), *known = tirc_map_get(&k->made, f);
  if (known) return known->name;
  known = reading(k, f, call->n);
  tirc_map_set(k->c, &k->made, f, (void *)(uintptr_t)known);
  const Func **funcs = tirc_new_array(k->c, const Func *, k->m->n_funcs + 1);
  for (int i = 0; i < k->m->n_funcs; i++) funcs[i] = k->m->funcs[i];
  funcs[k->m->n_funcs] = known;
  k->m = tirc_module_with_funcs(k->c, k->m, k->m->n_funcs + 1, funcs);
  return known->name;
}

/* --- graphs ----------------------------------------------------------------------------------- */

static Node call_with_tensors(GraphRewriter *r, const Binding *b, Node value, Node *alias) {
  Scalars *k = r->self;
  const Func *f = value->kind == NODE_CALL_TIR ? tirc_module_func(k->m, value->name) : NULL;
  (void)b, (void)alias;
  bool any = false;
  for (int i = 0; f && i < value->n && i < f->n_params; i++) {
    const Info info = value->args[i]->info;
    if (!f->buffers[i] && !is_apart(k->c, f, f->params[i])) return value;
    any |= !f->buffers[i] && value->args[i]->kind == NODE_VAR && info &&
           info->kind == INFO_TENSOR && info->ndim == 0 &&
           tirc_dtype_equal(info->dtype, f->params[i]->dtype);
  }
  if (!any) return value;
  struct Node call = *value;
  call.name = callee(k, value);
  return tirc_graph_node(r->c, &call);
}

/* Whether a call in the node gives the graph a number that the text has, where it takes one. */
static bool gives_literal(Node n, const Graph *g) {
  if (n->kind == NODE_CALL_GRAPH && !strcmp(n->name, g->name))
    for (int i = 0; i < n->n && i < g->n_params; i++)
      if (is_number(g->params[i]->info) && n->args[i]->kind == NODE_VALUE) return true;
  for (int i = 0; i < n->n; i++)
    if (gives_literal(n->args[i], g)) return true;
  return false;
}

static bool is_given_literals(const Module *m, const Graph *g) {
  for (int i = 0; i < m->n_graphs; i++)
    for (int b = 0; b < m->graphs[i]->n_blocks; b++)
      for (int k = 0; k < m->graphs[i]->blocks[b].n; k++)
        if (gives_literal(m->graphs[i]->blocks[b].at[k].value, g)) return true;
  return false;
}

static const Graph *with_tensors(Scalars *k, const Graph *g) {
  GraphRewriter r = {.c = k->c, .value = call_with_tensors, .self = k};
  Graph *to = tirc_copy(k->c, g, 1);
  Node *params = tirc_copy(k->c, g->params, g->n_params);
  bool any = false;
  for (int i = 0; i < g->n_params; i++) {
    const Node param = g->params[i];
    if (!is_number(param->info)) continue;
    params[i] = tirc_node_var(k->c, param->name, as_tensor(k->c, param->info), param->loc);
    tirc_map_set(k->c, &r.to, param, params[i]);
    any = true;
  }
  if (!any || is_given_literals(k->m, g)) return g;
  to->params = params;
  return tirc_rewrite_graph(&r, to);
}

const Module *tirc_numbers_as_tensors(Tirc *c, const Module *m) {
  Scalars k = {.c = c, .m = m};
  for (int i = 0; i < m->n_graphs; i++)
    k.m = tirc_module_with_graph(c, k.m, i, with_tensors(&k, m->graphs[i]));
  return k.m;
}
