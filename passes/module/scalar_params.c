/* Numbers that a graph is given, R.Prim("float32"), are tensors of no axes, and a function that
 * takes one as a scalar reads it:
 *
 *   def add(x: T.Buffer((4,), "float32"), s: T.float32, y: ...)
 *   ->  def add(x: T.Buffer((4,), "float32"), s_buf: T.Buffer((), "float32"), y: ...)
 *
 * A number whose value the text gives, R.Prim(value=n), is an extent, and stays what it is. */
#include "module.h"

#include "ir/arith/access.h"
#include "ir/tree/find.h"
#include "ir/tree/visit.h"

#include <string.h>

typedef struct Scalars {
  Tirc *c;
  const Module *m;
  PtrMap made; /* function -> the one that reads its scalars */
} Scalars;

static bool is_number(Info info) {
  return info->kind == INFO_PRIM && !info->value && info->dtype.code != TYPE_VOID;
}

/* With tensors of no axes in place of numbers, in tuples, too. */
static Info as_tensors(Tirc *c, Info info) {
  if (!info) return NULL;
  if (is_number(info)) return tirc_info_tensor(c, info->dtype, 0, NULL);
  if (info->kind != INFO_TUPLE) return info;
  Info *fields = tirc_new_array(c, Info, info->n);
  bool any = false;
  for (int i = 0; i < info->n; i++) {
    fields[i] = as_tensors(c, info->fields[i]);
    any |= fields[i] != info->fields[i];
  }
  return any ? tirc_info_tuple(c, info->n, fields) : info;
}

/* --- functions -------------------------------------------------------------------------------- */

static bool is_root(Stmt body) { return body->kind == STMT_BLOCK && !body->u.block.n_iters; }

typedef struct Uses {
  Expr var;
  bool in_heads;
} Uses;

static bool see_use(Visitor *v, Expr e) {
  Uses *k = v->self;
  k->in_heads |= e == k->var;
  return true;
}

static bool see_head(Visitor *v, Stmt s) {
  Visitor head = {.expr = see_use, .self = v->self};
  if (s->kind != STMT_STORE && s->kind != STMT_EVAL) tirc_visit_head(&head, s);
  return true;
}

/* Whether the variable says where or whether a statement runs, and not only what is stored. */
static bool decides(Stmt body, Expr var) {
  Uses k = {.var = var};
  tirc_visit_stmts(body, see_head, &k);
  return k.in_heads;
}

/* Blocks say that they read what stands for the variable. */
static Stmt read_in_block(Mutator *m, Stmt s) {
  const Stmt to = tirc_mutate_stmt_children(m, s);
  return to == s || s->kind != STMT_BLOCK || is_root(s) ? to : tirc_with_own_regions(m->c, to);
}

static Expr read_var(Mutator *m, Expr e) {
  const Expr *with = m->self;
  return e == with[0] ? with[1] : tirc_mutate_expr_children(m, e);
}

/* The body that reads b in place of the variable: where it stands, so that rules and fusion see a
 * read as any other; or once, inside of its root block, where loops and conditions depend on it. */
static Stmt with_value(Tirc *c, Expr var, Buffer b, Stmt body) {
  const Expr with[] = {var, tirc_load(c, b, 0, NULL)};
  if (is_root(body) && !decides(body, var)) {
    Mutator m = {.c = c, .expr = read_var, .stmt = read_in_block, .self = (void *)(uintptr_t)with};
    return tirc_mutate_stmt(&m, body);
  }
  if (!is_root(body)) return tirc_let(c, var, with[1], body);
  Block block = body->u.block;
  block.body = tirc_let(c, var, with[1], block.body);
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
      if (g->params[i]->info && is_number(g->params[i]->info) && n->args[i]->kind == NODE_VALUE)
        return true;
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

/* Bindings that are said to be numbers, too; the rewriter makes their variables anew. Another name
 * of a variable is that variable, and has what it becomes. */
static const GraphBlock *blocks_with_tensors(Tirc *c, const Graph *g) {
  GraphBlock *blocks = tirc_copy(c, g->blocks, g->n_blocks);
  for (int i = 0; i < g->n_blocks; i++) {
    Binding *at = tirc_copy(c, blocks[i].at, blocks[i].n);
    for (int k = 0; k < blocks[i].n; k++) {
      const Info info = as_tensors(c, at[k].var->info);
      const NodeKind kind = at[k].value->kind;
      if (info == at[k].var->info || kind == NODE_VAR || kind == NODE_VALUE) continue;
      struct Node value = *at[k].value;
      value.info = info;
      at[k].value = tirc_graph_node(c, &value);
    }
    blocks[i].at = at;
  }
  return blocks;
}

static const Graph *with_tensors(Scalars *k, const Graph *g) {
  GraphRewriter r = {.c = k->c, .value = call_with_tensors, .self = k};
  Graph *to = tirc_copy(k->c, g, 1);
  Node *params = tirc_copy(k->c, g->params, g->n_params);
  bool any = false;
  for (int i = 0; i < g->n_params; i++) {
    const Node param = g->params[i];
    const Info info = as_tensors(k->c, param->info);
    if (info == param->info) continue;
    params[i] = tirc_node_var(k->c, param->name, info, param->loc);
    tirc_map_set(k->c, &r.to, param, params[i]);
    any = true;
  }
  if (!any || is_given_literals(k->m, g)) return g;
  to->params = params;
  to->info = as_tensors(k->c, g->info);
  to->blocks = blocks_with_tensors(k->c, g);
  return tirc_rewrite_graph(&r, to);
}

/* --- names ------------------------------------------------------------------------------------ */

static bool calls(Node n, const char *name) {
  return n->kind == NODE_CALL_TIR && !strcmp(n->name, name);
}

static bool is_called(const Module *m, const char *name) {
  for (int i = 0; i < m->n_graphs; i++)
    for (int b = 0; b < m->graphs[i]->n_blocks; b++)
      for (int k = 0; k < m->graphs[i]->blocks[b].n; k++)
        if (calls(m->graphs[i]->blocks[b].at[k].value, name)) return true;
  return false;
}

static bool is_in_vain(const Scalars *k, const Func *f) {
  return tirc_attrs_get(f->attrs, "tirc.private") && !is_called(k->m, f->name);
}

/* The name of what a function stands for, where no call of that one is left, and no one from
 * outside may ask for it. */
static const char *own_name(const Scalars *k, const char *name) {
  for (size_t i = 0; i < k->made.cap; i++) {
    const Func *from = k->made.keys[i], *to = from ? tirc_map_get(&k->made, from) : NULL;
    if (to && !strcmp(to->name, name) && is_in_vain(k, from)) return from->name;
  }
  return name;
}

static Node call_by_own_name(GraphRewriter *r, const Binding *b, Node value, Node *alias) {
  (void)b, (void)alias;
  const char *name = value->kind == NODE_CALL_TIR ? own_name(r->self, value->name) : NULL;
  if (!name || name == value->name) return value;
  struct Node call = *value;
  call.name = name;
  return tirc_graph_node(r->c, &call);
}

/* Functions that read their scalars take the names of those that did not, if these have no use. */
static const Module *with_own_names(Scalars *k) {
  const Func **funcs = tirc_new_array(k->c, const Func *, k->m->n_funcs);
  int n = 0;
  for (int i = 0; i < k->m->n_funcs; i++) {
    const Func *f = k->m->funcs[i];
    if (tirc_map_get(&k->made, f) && is_in_vain(k, f)) continue;
    Func *to = tirc_copy(k->c, f, 1);
    to->name = own_name(k, f->name);
    funcs[n++] = to;
  }
  const Module *m = tirc_module_with_funcs(k->c, k->m, n, funcs);
  for (int i = 0; i < k->m->n_graphs; i++) {
    GraphRewriter r = {.c = k->c, .value = call_by_own_name, .self = k};
    m = tirc_module_with_graph(k->c, m, i, tirc_rewrite_graph(&r, k->m->graphs[i]));
  }
  return m;
}

const Module *tirc_numbers_as_tensors(Tirc *c, const Module *m) {
  Scalars k = {.c = c, .m = m};
  for (int i = 0; i < m->n_graphs; i++)
    k.m = tirc_module_with_graph(c, k.m, i, with_tensors(&k, m->graphs[i]));
  return k.m->n_funcs > m->n_funcs ? with_own_names(&k) : k.m;
}
