/* LegalizeOps: operators become calls of prim_funcs.
 *
 *   lv = R.add(x, w)   ->   lv = R.call_tir(cls.add, (x, w), out_sinfo=R.Tensor((4, 8), "float32"))
 *
 * Calls of an operator with operands of the same shapes and with the same attributes share a
 * function. */
#include "ir/tree/annotations.h"
#include "operator_call.h"
#include "passes.h"

typedef struct Legalize {
  Passes *p;
  const Module *m;
  const Graph *g;
  PtrMap *names; /* OperatorProgram -> the name that its function has in the module */
  VEC(const Func *) made;
} Legalize;

static bool has_name(const Legalize *l, const char *name) {
  bool has = tirc_module_func(l->m, name) || tirc_module_graph(l->m, name);
  for (int i = 0; i < l->made.n; i++) has |= strcmp(l->made.at[i]->name, name) == 0;
  return has;
}

static const char *function_of(Legalize *l, const OperatorProgram *program) {
  Tirc *c = l->p->c;
  const char *name = tirc_map_get(l->names, program);
  if (name) return name;
  name = program->func->name;
  for (int i = 1; has_name(l, name); i++) name = tirc_format(c, "%s%d", program->func->name, i);
  Func *f = tirc_copy(c, program->func, 1);
  f->name = name;
  f->attrs = tirc_attrs_remove(c, f->attrs, tirc_key(KEY_GLOBAL_SYMBOL));
  f->attrs = tirc_attrs_set(c, f->attrs, "tirc.private", tirc_bool(c, true));
  vec_push(c, l->made, f);
  tirc_map_set(c, l->names, program, name);
  return name;
}

/* A tuple that is a variable, as the tuple of its fields. */
static Node in_fields(GraphRewriter *r, Node n) {
  if (n->kind == NODE_TUPLE || !n->info || n->info->kind != INFO_TUPLE) return n;
  Node *fields = tirc_new_array(r->c, Node, n->info->n);
  for (int i = 0; i < n->info->n; i++) {
    struct Node item = {.kind = NODE_ITEM, .index = i, .n = 1, .args = &n, .loc = n->loc};
    item.info = n->info->fields[i];
    fields[i] = in_fields(r, tirc_emit_binding(r, tirc_format(r->c, "%s_%d", n->name, i),
                                               tirc_graph_node(r->c, &item), n->loc));
  }
  return tirc_node_tuple(r->c, n->info->n, fields);
}

static Node legalize(GraphRewriter *r, const Binding *b, Node value, Node *alias) {
  (void)b;
  (void)alias;
  Legalize *l = r->self;
  if (value->kind != NODE_CALL) return value;
  struct Node call = *value;
  Node *args = tirc_copy(r->c, value->args, value->n);
  for (int i = 0; i < value->n; i++) args[i] = in_fields(r, args[i]);
  call.args = args;
  const OperatorProgram *program = tirc_operator_call(l->p, l->g, &call);
  const int n = tirc_operator_tensors(&call, NULL);
  Node *tensors = tirc_new_array(r->c, Node, n);
  tirc_operator_tensors(&call, tensors);
  struct Node to = {.kind = NODE_CALL_TIR,
                    .name = function_of(l, program),
                    .n = n,
                    .args = tensors,
                    .info = tirc_operator_result(l->p, l->g, &call),
                    .loc = value->loc};
  if (program->n_vars)
    to.value = tirc_expr(r->c, OP_TUPLE, DT_HANDLE, program->n_vars, program->vars);
  return tirc_graph_node(r->c, &to);
}

const Module *tirc_pass_legalize(Passes *p, const Module *m) {
  PtrMap names = {0};
  m = tirc_infer(p, m);
  for (int i = 0; i < m->n_graphs; i++) {
    Legalize l = {.p = p, .m = m, .g = m->graphs[i], .names = &names};
    GraphRewriter r = {.c = p->c, .value = legalize, .self = &l};
    const Graph *g = tirc_rewrite_graph(&r, m->graphs[i]);
    const Func **funcs = tirc_new_array(p->c, const Func *, m->n_funcs + l.made.n);
    for (int k = 0; k < m->n_funcs + l.made.n; k++)
      funcs[k] = k < m->n_funcs ? m->funcs[k] : l.made.at[k - m->n_funcs];
    if (l.made.n) m = tirc_module_with_funcs(p->c, m, m->n_funcs + l.made.n, funcs);
    m = tirc_module_with_graph(p->c, m, i, g);
  }
  return m;
}
