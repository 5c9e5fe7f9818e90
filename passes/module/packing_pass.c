/* SplitPacking: copies of weights into the layouts that schedules ask for (passes/lower/packing.h)
 * become calls of their own, which depend on weights alone and so run once.
 *
 *   y = R.call_tir(cls.f, (x, w), ...)   ->   p = R.call_tir(cls.f_pack_w, (w,), ...)
 *                                             y = R.call_tir(cls.f, (x, p), ...) */
#include "passes.h"
#include "passes/lower/packing.h"

typedef struct Packing {
  const Module *before, *after;
} Packing;

static Info info_of(Tirc *c, Buffer b) { return tirc_info_tensor(c, b->dtype, b->ndim, b->shape); }

static Node pack_arguments(GraphRewriter *r, const Binding *b, Node value, Node *alias) {
  (void)alias;
  const Packing *k = r->self;
  const Func *was = value->kind == NODE_CALL_TIR ? tirc_module_func(k->before, value->name) : NULL;
  const Func *is = was ? tirc_module_func(k->after, value->name) : NULL;
  if (!is || is == was) return value;
  struct Node to = *value;
  Node *args = tirc_copy(r->c, value->args, value->n);
  for (int i = 0; i < value->n; i++) {
    if (is->buffers[i] == was->buffers[i]) continue;
    struct Node pack = {.kind = NODE_CALL_TIR,
                        .name = tirc_format(r->c, "%s_pack_%s", value->name, was->buffers[i]->name),
                        .n = 1,
                        .args = &args[i],
                        .info = info_of(r->c, is->buffers[i]),
                        .loc = b->loc};
    args[i] = tirc_emit_binding(r, tirc_format(r->c, "%s_packed", was->buffers[i]->name),
                                tirc_graph_node(r->c, &pack), b->loc);
  }
  to.args = args;
  return tirc_graph_node(r->c, &to);
}

const Module *tirc_pass_split_packing(Passes *p, const Module *m) {
  const Packing k = {m, tirc_split_packing(p->c, m)};
  if (k.before == k.after) return m;
  m = k.after;
  for (int i = 0; i < m->n_graphs; i++) {
    GraphRewriter r = {.c = p->c, .value = pack_arguments, .self = (void *)(uintptr_t)&k};
    m = tirc_module_with_graph(p->c, m, i, tirc_rewrite_graph(&r, m->graphs[i]));
  }
  return m;
}
