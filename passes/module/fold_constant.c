/* FoldConstant: a call whose operands are all constants is run at once, and its results are
 * constants.
 *
 *   lv = R.call_tir(cls.add, (R.const(1), R.const(2)), ...)   ->   R.const(3)
 *
 * What runs it is the caller's. A result that is larger than its operands by far (R.ones) stays a
 * call, and so does what takes too many steps. */
#include "passes.h"

enum { MOST_BYTES = 1 << 20 }; /* of the results, beyond what the operands have */

bool tirc_pass_array(Tirc *c, Info info, const void *data, PassArray *out) {
  const int64_t bytes = info && info->kind == INFO_TENSOR ? tirc_info_bytes(info) : -1;
  if (bytes < 0) return false;
  int64_t *shape = tirc_new_array(c, int64_t, info->ndim);
  for (int i = 0; i < info->ndim; i++) tirc_const_int(info->shape[i], &shape[i]);
  void *own = tirc_alloc(c, (size_t)bytes + 1);
  if (data) memcpy(own, data, (size_t)bytes);
  *out = (PassArray){info->dtype, info->ndim, shape, own, bytes};
  return true;
}

bool tirc_pass_evaluate(Passes *p, const Func *f, int n, PassArray *arrays) {
  Trap trap;
  if (!p->options.evaluate) return false;
  if (TIRC_TRY(p->c, trap)) {
    p->options.evaluate(p->options.self, p->c, f, n, arrays);
    TIRC_END(p->c, trap);
    return true;
  }
  p->c->trap = trap.outer;
  return false;
}

typedef struct Folding {
  Passes *p;
  const Module *m;
  const Graph *g;
  PtrMap constants; /* variable -> the NODE_CONST that it is */
  bool decided;     /* the condition of an `if` is one of them */
} Folding;

static Node constant_of(const Folding *k, Node n) {
  return n->kind == NODE_CONST ? n : n->kind == NODE_VAR ? tirc_map_get(&k->constants, n) : NULL;
}

static Node fold(GraphRewriter *r, const Binding *b, Node value, Node *alias) {
  Folding *k = r->self;
  Tirc *c = r->c;
  k->decided |= value->kind == NODE_IF && constant_of(k, value->args[0]);
  const Func *f = value->kind == NODE_CALL_TIR ? tirc_module_func(k->m, value->name) : NULL;
  if (!f || value->value || !value->n) return value;
  const Info *results;
  const int n_results = tirc_info_results(&value->info, &results), n = value->n + n_results;
  PassArray *arrays = tirc_new_array(c, PassArray, n);
  int64_t room = MOST_BYTES;
  for (int i = 0; i < n; i++) {
    const Node arg = i < value->n ? constant_of(k, value->args[i]) : NULL;
    if (i < value->n && !arg) return value;
    const Info info = arg ? arg->info : results[i - value->n];
    const int64_t bytes = info->kind == INFO_TENSOR ? tirc_info_bytes(info) : -1;
    if (bytes < 0 || (!arg && (room -= bytes) < 0)) return value;
    if (arg) room += bytes;
    if (!tirc_pass_array(c, info, arg ? arg->data : NULL, &arrays[i])) return value;
  }
  if (!tirc_pass_evaluate(k->p, f, n, arrays)) return value;
  Node *made = tirc_new_array(c, Node, n_results);
  for (int i = 0; i < n_results; i++)
    made[i] = tirc_node_const(c, results[i], arrays[value->n + i].data, b->loc);
  if (value->info->kind == INFO_TUPLE) return tirc_node_tuple(c, n_results, made);
  tirc_map_set(c, &k->constants, b->var, made[0]);
  if (tirc_is_output(k->g, b->var)) return made[0]; /* it keeps its name */
  *alias = made[0];
  return NULL;
}

static const Module *fold_graphs(Passes *p, const Module *m, bool *decided) {
  m = tirc_pass_canonicalize(p, m);
  for (int i = 0; i < m->n_graphs; i++) {
    Folding k = {.p = p, .m = m, .g = m->graphs[i]};
    GraphRewriter r = {.c = p->c, .value = fold, .self = &k};
    m = tirc_module_with_graph(p->c, m, i, tirc_rewrite_graph(&r, m->graphs[i]));
    *decided |= k.decided;
  }
  return tirc_pass_dead_code(p, tirc_pass_canonicalize(p, m));
}

/* A branch that is decided becomes part of the graph, where more may be constant then. */
const Module *tirc_pass_fold_constant(Passes *p, const Module *m) {
  bool decided = p->options.evaluate != NULL;
  while (decided) {
    decided = false;
    m = fold_graphs(p, m, &decided);
    if (decided) m = tirc_pass_inline(p, m);
  }
  return m;
}
