/* SplitPacking: copies of weights into the layouts that schedules ask for (passes/lower/packing.h)
 * become calls of their own, which depend on weights alone and so run once.
 *
 *   y = R.call_tir(cls.f, (x, w), ...)   ->   p = R.call_tir(cls.f_pack_w, (w,), ...)
 *                                             y = R.call_tir(cls.f, (x, p), ...)
 *
 * What several calls ask for of one weight in one layout is made and kept once. */
#include "passes.h"
#include "passes/lower/packing.h"

#include "ir/arith/equal.h"

typedef struct Packed {
  Node weight, packed;
  const Func *by;
} Packed;

typedef struct Packing {
  const Module *before, *after;
  VEC(Packed) made; /* in the graph at work */
  bool shares;
} Packing;

static Info info_of(Tirc *c, Buffer b) { return tirc_info_tensor(c, b->dtype, b->ndim, b->shape); }

/* Made in this block of the graph: another one may not see it. */
static bool is_here(const GraphRewriter *r, Node var) {
  for (int i = 0; i < r->bindings.n; i++)
    if (r->bindings.at[i].var == var) return true;
  return false;
}

static Node find_packed(const GraphRewriter *r, Node weight, const Func *by) {
  Tirc *c = r->c;
  const Packing *k = r->self;
  const Module own = {.c = c, .name = "Module", .n_funcs = 1, .funcs = &by};
  for (int i = 0; i < k->made.n; i++) {
    const Packed *p = &k->made.at[i];
    const Module other = {.c = c, .name = "Module", .n_funcs = 1, .funcs = &p->by};
    if (p->weight == weight && is_here(r, p->packed) &&
        (p->by == by || !tirc_module_difference(c, &other, &own)))
      return p->packed;
  }
  return NULL;
}

static Node pack(GraphRewriter *r, const Binding *b, Node weight, const char *name, Info info) {
  Packing *k = r->self;
  const char *pack = tirc_format(r->c, "%s_pack_%s", b->value->name, name);
  const Func *by = tirc_module_func(k->after, pack);
  const Node known = find_packed(r, weight, by);
  k->shares |= known != NULL;
  if (known) return known;
  const struct Node call = {
      .kind = NODE_CALL_TIR, .name = pack, .n = 1, .args = &weight, .info = info, .loc = b->loc};
  const Node packed = tirc_emit_binding(r, tirc_format(r->c, "%s_packed", name),
                                        tirc_graph_node(r->c, &call), b->loc);
  vec_push(r->c, k->made, ((Packed){weight, packed, by}));
  return packed;
}

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
    args[i] = pack(r, b, args[i], was->buffers[i]->name, info_of(r->c, is->buffers[i]));
  }
  to.args = args;
  return tirc_graph_node(r->c, &to);
}

const Module *tirc_pass_split_packing(Passes *p, const Module *m) {
  Packing k = {.before = m, .after = tirc_split_packing(p->c, m)};
  if (k.before == k.after) return m;
  m = k.after;
  for (int i = 0; i < m->n_graphs; i++) {
    GraphRewriter r = {.c = p->c, .value = pack_arguments, .self = &k};
    k.made.n = 0;
    m = tirc_module_with_graph(p->c, m, i, tirc_rewrite_graph(&r, m->graphs[i]));
  }
  return k.shares ? tirc_pass_dead_functions(p, m) : m;
}
