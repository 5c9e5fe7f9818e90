/* AttachAttrLayoutFreeBuffers: a function knows which of its parameters are weights in all calls of
 * it: these may be laid out anew, once, ahead of the calls (SplitPacking), so that its schedule may
 * ask for it.
 *
 *   R.call_tir(cls.f, (x, w))   ->   T.func_attr({"layout_free_buffers": [1]}) of f
 *
 * Functions that others may call, too, stay as they are. */
#include "passes.h"

#include "ir/tree/annotations.h"

typedef struct Weights {
  Tirc *c;
  const Module *m;
  PtrMap vars; /* of the graph: of weights and constants alone */
  StrMap uses; /* name of a function -> Use * */
} Weights;

typedef struct Use { /* of a function: which parameters all calls so far give weights to */
  int n;
  bool *is_weight;
} Use;

static bool is_weight(const Weights *k, Node n) {
  bool all = n->kind == NODE_CONST || n->kind == NODE_VALUE || n->kind == NODE_SHAPE ||
             (n->kind == NODE_VAR ? tirc_map_has(&k->vars, n) : n->n > 0);
  for (int i = 0; n->kind != NODE_VAR && i < n->n; i++) all = all && is_weight(k, n->args[i]);
  return all;
}

static void look_at_call(Weights *k, Node call) {
  void **slot = tirc_strmap_at(k->c, &k->uses, call->name);
  Use *use = *slot;
  const bool first = !use;
  if (first) {
    use = tirc_new(k->c, Use);
    *use = (Use){call->n, tirc_new_array(k->c, bool, call->n)};
    *slot = use;
  }
  for (int i = 0; i < use->n; i++)
    use->is_weight[i] = (first || use->is_weight[i]) && i < call->n && is_weight(k, call->args[i]);
}

/* What weights alone give is one, too; a call that gives one runs once, so nothing is gained there.
 */
static void look_at_graph(Weights *k, const Graph *g) {
  int64_t n_inputs = g->n_params;
  const Expr inputs = tirc_attrs_get(g->attrs, tirc_key(KEY_NUM_INPUT));
  if (inputs) tirc_const_int(inputs, &n_inputs);
  for (int i = 0; i < g->n_params; i++)
    if (i >= n_inputs) tirc_map_set(k->c, &k->vars, g->params[i], k);
  for (int b = 0; b < g->n_blocks; b++)
    for (int i = 0; i < g->blocks[b].n; i++) {
      const Binding *binding = &g->blocks[b].at[i];
      const bool is_call = binding->value->kind == NODE_CALL_TIR;
      if (is_weight(k, binding->value)) tirc_map_set(k->c, &k->vars, binding->var, k);
      if (is_call) look_at_call(k, binding->value);
    }
}

static const Func *attach(const Weights *k, const Func *f) {
  Tirc *c = k->c;
  const Use *use = tirc_strmap_get(&k->uses, f->name);
  if (!use || !tirc_attrs_get(f->attrs, "tirc.private")) return f;
  Expr *items = tirc_new_array(c, Expr, use->n);
  int n = 0;
  for (int i = 0; i < use->n; i++)
    if (use->is_weight[i] && f->buffers[i]) items[n++] = tirc_int(c, DT_INT32, i);
  if (!n || n == use->n) return f;
  Func *to = tirc_copy(c, f, 1);
  to->attrs = tirc_attrs_set(c, f->attrs, tirc_key(KEY_LAYOUT_FREE),
                             tirc_expr(c, OP_TUPLE, DT_HANDLE, n, items));
  return to;
}

const Module *tirc_pass_attach_layout_free(Passes *p, const Module *m) {
  Weights k = {.c = p->c, .m = m};
  for (int i = 0; i < m->n_graphs; i++) look_at_graph(&k, m->graphs[i]);
  for (int i = 0; i < m->n_funcs; i++)
    m = tirc_module_with_func(p->c, m, i, attach(&k, m->funcs[i]));
  return m;
}
