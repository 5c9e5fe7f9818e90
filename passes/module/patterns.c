/* FuseOpsByPattern: what a pattern of a script matches becomes a call of a function of another
 * program.
 *
 *   patterns = [("gemm", is_op("matmul")(wildcard(), wildcard()))]
 *
 *   lv = R.matmul(x, w)   ->   lv = R.call_dps_packed("gemm", (x, w), out_sinfo=R.Tensor(...))
 *
 * Patterns are tuples, as passes/rules/dataflow.sch makes them: ("wildcard",), ("const",),
 * ("op", NAME, [PATTERN, ...]). The first that matches is taken; what is matched below its root may
 * have no other use. */
#include "passes.h"
#include "passes/script/interp.h"

typedef struct Matching {
  Tirc *c;
  Script *sc;
  Value patterns;
  PtrMap values; /* variable -> the value that it is bound to */
  PtrMap uses;   /* variable -> how often it is used */
  VEC(Node) args;
} Matching;

static void count_uses(Matching *k, Node n) {
  if (n->kind == NODE_VAR)
    tirc_map_set(k->c, &k->uses, n, (void *)((intptr_t)tirc_map_get(&k->uses, n) + 1));
  for (int i = 0; i < n->n; i++) count_uses(k, n->args[i]);
}

static _Noreturn void bad_pattern(const Matching *k, Value v) {
  tirc_script_error(
      k->sc, "TypeError", "patterns = [(\"gemm\", is_op(\"matmul\")(wildcard(), wildcard()))]",
      "%s is no pattern: is_op(NAME)(...), wildcard() or is_const()", tirc_value_repr(k->c, v));
}

static const Value *item(const Matching *k, Value tuple, int i, ValueKind kind) {
  const bool is_list = tuple.kind == VAL_TUPLE || tuple.kind == VAL_LIST;
  if (!is_list || i >= tuple.u.list->n || tuple.u.list->at[i].kind != kind) bad_pattern(k, tuple);
  return &tuple.u.list->at[i];
}

static bool match_node(Matching *k, Value pattern, Node n, bool is_root) {
  const char *kind = item(k, pattern, 0, VAL_STR)->u.s;
  if (strcmp(kind, "wildcard") == 0 || (strcmp(kind, "const") == 0 && n->kind == NODE_CONST)) {
    vec_push(k->c, k->args, n);
    return n->kind == NODE_VAR || n->kind == NODE_CONST;
  }
  if (strcmp(kind, "op") != 0) {
    if (strcmp(kind, "const") != 0) bad_pattern(k, pattern);
    return false;
  }
  if (n->kind == NODE_VAR) {
    if (!is_root && (intptr_t)tirc_map_get(&k->uses, n) != 1) return false;
    n = tirc_map_get(&k->values, n);
  }
  const ValueList *operands = item(k, pattern, 2, VAL_LIST)->u.list;
  if (!n || n->kind != NODE_CALL || n->keys || n->n != operands->n ||
      strcmp(n->name, item(k, pattern, 1, VAL_STR)->u.s) != 0)
    return false;
  for (int i = 0; i < n->n; i++)
    if (!match_node(k, operands->at[i], n->args[i], false)) return false;
  return true;
}

static Node hand_over(GraphRewriter *r, const Binding *b, Node value, Node *alias) {
  (void)alias;
  Matching *k = r->self;
  const Info info = b->var->info;
  if (value->kind != NODE_CALL || !info || info->kind != INFO_TENSOR || !info->shape) return value;
  for (int i = 0; i < k->patterns.u.list->n; i++) {
    const Value row = k->patterns.u.list->at[i];
    k->args.n = 0;
    const char *symbol = item(k, row, 0, VAL_STR)->u.s;
    if (row.u.list->n != 2) bad_pattern(k, row);
    if (!match_node(k, row.u.list->at[1], b->value, true)) continue;
    Node *args = tirc_new_array(k->c, Node, k->args.n);
    for (int a = 0; a < k->args.n; a++) args[a] = tirc_renamed(r, k->args.at[a]);
    struct Node call = {.kind = NODE_CALL_DPS,
                        .name = symbol,
                        .n = k->args.n,
                        .args = args,
                        .info = info,
                        .loc = b->loc};
    return tirc_graph_node(k->c, &call);
  }
  return value;
}

const Module *tirc_fuse_by_patterns(Passes *p, Script *sc, const Module *m, Value patterns) {
  if (patterns.kind != VAL_LIST && patterns.kind != VAL_TUPLE)
    tirc_script_error(sc, "TypeError", NULL, "`patterns` is %s, and no list",
                      tirc_script_a_type(sc, patterns));
  m = tirc_infer(p, m);
  for (int g = 0; g < m->n_graphs; g++) {
    const Graph *graph = m->graphs[g];
    Matching k = {.c = p->c, .sc = sc, .patterns = patterns};
    for (int b = 0; b < graph->n_blocks; b++)
      for (int i = 0; i < graph->blocks[b].n; i++) {
        const Binding *binding = &graph->blocks[b].at[i];
        tirc_map_set(p->c, &k.values, binding->var, binding->value);
        count_uses(&k, binding->value);
      }
    count_uses(&k, graph->result);
    GraphRewriter r = {.c = p->c, .value = hand_over, .self = &k};
    m = tirc_module_with_graph(p->c, m, g, tirc_rewrite_graph(&r, graph));
  }
  return tirc_pass_dead_code(p, m);
}
