/* Patterns of graphs.
 *
 * FuseOpsByPattern: what a pattern of a script matches becomes a call of a function of another
 * program.
 *
 *   patterns = [("gemm", is_op("matmul")(wildcard(), wildcard()))]
 *
 *   lv = R.matmul(x, w)   ->   lv = R.call_dps_packed("gemm", (x, w), out_sinfo=R.Tensor(...))
 *
 * With `composites` in the place of `patterns` it becomes a graph of its own, with the attributes
 * Composite = "gemm" and Primitive; constants are in it, unless the script says `bind_constants =
 * False`.
 *
 * Rewrites: a function of a script writes something else in its place.
 *
 *   rewrites = [(is_op("negative")(is_op("negative")(x)), lambda expr, matchings: matchings[x])]
 *
 * It gives the new value, or a dict {expr: value, matchings[part]: value} with those of shared
 * parts besides: what is used behind this place.
 *
 * Patterns are tuples, as passes/rules/dataflow.sch makes them: ("wildcard",), ("const",),
 * ("item", PATTERN, INDEX or None), ("shared", PATTERN), ("op", NAME, [PATTERN, ...]), of the
 * operands that are no attributes. The first that matches is taken; what is matched below its root
 * may have no other use, unless it is shared. Rewrites go on until none changes anything, unless
 * the script says `once = True`. R.result("NAME", x) makes x a result of main, behind those that it
 * has. */
#include "fusion.h"
#include "ir/tree/annotations.h"
#include "operator_call.h"
#include "passes.h"
#include "passes/script/relax.h"
#include "passes/script/require.h"

enum { MOST_ROUNDS = 100 };

typedef struct Patterns {
  Passes *p;
  Tirc *c;
  Script *sc;
  const Module *m;
  const Graph *g;
  GraphRewriter *r;
  Value patterns;
  PtrMap values;  /* variable -> the value that it is bound to */
  PtrMap uses;    /* variable -> how often it is used */
  PtrMap weights; /* variable: of weights and constants alone */
  VEC(Node) args;
  VEC(Matching) parts; /* of the pattern that matches */
  VEC(Node) results;   /* that main gives besides */
  Outlining *out;
  bool binds_constants;
  bool changed;
} Patterns;

static void count_uses(Patterns *k, Node n) {
  if (n->kind == NODE_VAR)
    tirc_map_set(k->c, &k->uses, n, (void *)((intptr_t)tirc_map_get(&k->uses, n) + 1));
  for (int i = 0; i < n->n; i++) count_uses(k, n->args[i]);
}

static bool is_attribute(Node n) { return n->kind == NODE_VALUE || n->kind == NODE_SHAPE; }

static bool is_weight(const Patterns *k, Node n) {
  return n->kind == NODE_CONST || is_attribute(n) || tirc_map_has(&k->weights, n);
}

static bool depends_on_weights(const Patterns *k, Node n) {
  bool all = n->n > 0 || is_weight(k, n);
  for (int i = 0; i < n->n; i++)
    all &= is_weight(k, n->args[i]) ||
           (n->args[i]->kind == NODE_TUPLE && depends_on_weights(k, n->args[i]));
  return all;
}

/* What each variable of the graph is bound to, and how often it is used. */
static void note_bindings(Patterns *k) {
  for (int b = 0; b < k->g->n_blocks; b++)
    for (int i = 0; i < k->g->blocks[b].n; i++) {
      const Binding *binding = &k->g->blocks[b].at[i];
      tirc_map_set(k->c, &k->values, binding->var, binding->value);
      count_uses(k, binding->value);
      if (depends_on_weights(k, binding->value)) tirc_map_set(k->c, &k->weights, binding->var, k);
    }
  count_uses(k, k->g->result);
}

static _Noreturn void bad_pattern(const Patterns *k, Value v) {
  tirc_script_error(
      k->sc, "TypeError", "patterns = [(\"gemm\", is_op(\"matmul\")(wildcard(), wildcard()))]",
      "%s is not a pattern: is_op(NAME)(...), wildcard(), is_const() or is_tuple_get_item(...)",
      tirc_value_repr(k->c, v));
}

static const Value *item(const Patterns *k, Value tuple, int i, ValueKind kind) {
  const bool is_list = tuple.kind == VAL_TUPLE || tuple.kind == VAL_LIST;
  if (!is_list || i >= tuple.u.list->n || tuple.u.list->at[i].kind != kind) bad_pattern(k, tuple);
  return &tuple.u.list->at[i];
}

static bool match_node(Patterns *k, Value pattern, Node n, bool is_shared);

/* Whether the pattern stands in another place, too, and matched something else there. */
static bool matched_another(const Patterns *k, const ValueList *pattern, Node n) {
  for (int i = 0; i < k->parts.n; i++)
    if (k->parts.at[i].pattern == pattern && k->parts.at[i].node != n) return true;
  return false;
}

static bool is_index(const Patterns *k, Value pattern, int index) {
  const bool is_any = pattern.u.list->n > 2 && pattern.u.list->at[2].kind == VAL_NONE;
  return is_any || index == item(k, pattern, 2, VAL_INT)->u.i;
}

/* What stands behind a variable; only if nobody else uses it, or it is shared, as the root is. */
static Node behind(Patterns *k, Node n, bool is_shared) {
  if (n->kind != NODE_VAR) return n;
  return is_shared || (intptr_t)tirc_map_get(&k->uses, n) == 1 ? tirc_map_get(&k->values, n) : NULL;
}

static bool match_op(Patterns *k, Value pattern, Node n) {
  const ValueList *operands = item(k, pattern, 2, VAL_LIST)->u.list;
  int at = 0;
  if (n->kind != NODE_CALL || strcmp(n->name, item(k, pattern, 1, VAL_STR)->u.s) != 0) return false;
  for (int i = 0; i < n->n; i++) {
    if (is_attribute(n->args[i])) continue;
    if (at == operands->n || !match_node(k, operands->at[at++], n->args[i], false)) return false;
  }
  return at == operands->n;
}

static bool match_node(Patterns *k, Value pattern, Node n, bool is_shared) {
  const char *kind = item(k, pattern, 0, VAL_STR)->u.s;
  const bool is_op = strcmp(kind, "op") == 0, is_item = strcmp(kind, "item") == 0;
  if (matched_another(k, pattern.u.list, n)) return false;
  vec_push(k->c, k->parts, ((Matching){pattern.u.list, n}));
  if (strcmp(kind, "wildcard") == 0 || (strcmp(kind, "const") == 0 && n->kind == NODE_CONST)) {
    vec_push(k->c, k->args, n);
    /* several tensors in one operand, as of a concatenation: no function of C takes them */
    return n->kind == NODE_VAR || n->kind == NODE_CONST || (k->p && n->kind == NODE_TUPLE);
  }
  if (strcmp(kind, "shared") == 0) return match_node(k, *item(k, pattern, 1, VAL_TUPLE), n, true);
  if (!is_op && !is_item) {
    if (strcmp(kind, "const") != 0) bad_pattern(k, pattern);
    return false;
  }
  n = behind(k, n, is_shared);
  if (!n) return false;
  if (is_op) return match_op(k, pattern, n);
  return n->kind == NODE_ITEM && is_index(k, pattern, n->index) &&
         match_node(k, pattern.u.list->at[1], n->args[0], false);
}

static void begin(Patterns *k) { k->args.n = k->parts.n = 0; }

/* --- other programs --------------------------------------------------------------------------- */

static Node hand_over(GraphRewriter *r, const Binding *b, Node value, Node *alias) {
  (void)alias;
  Patterns *k = r->self;
  const Info info = b->var->info;
  if (value->kind != NODE_CALL || !info || info->kind != INFO_TENSOR || !info->shape) return value;
  for (int i = 0; i < k->patterns.u.list->n; i++) {
    const Value row = k->patterns.u.list->at[i];
    begin(k);
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

/* --- composites ------------------------------------------------------------------------------- */

/* Whether the binding is one of those behind the pattern that matched. */
static bool is_member(const Patterns *k, const Binding *b) {
  for (int i = 0; i < k->parts.n; i++) {
    const char *kind = k->parts.at[i].pattern->at[0].u.s;
    if (k->parts.at[i].node == b->var && (strcmp(kind, "op") == 0 || strcmp(kind, "item") == 0))
      return true;
  }
  return false;
}

static Node outlined(Patterns *k, GraphRewriter *r, const Binding *root, const char *name) {
  VEC(const Binding *) members = {0};
  for (int b = 0; b < k->g->n_blocks; b++)
    for (int i = 0; i < k->g->blocks[b].n; i++) {
      const Binding *at = &k->g->blocks[b].at[i];
      if (at->var != root->var && is_member(k, at)) vec_push(k->c, members, at);
    }
  vec_push(k->c, members, root);
  return tirc_call_apart(k->out, r, members.n, members.at, &(Outlined){name, k->binds_constants});
}

static Node group(GraphRewriter *r, const Binding *b, Node value, Node *alias) {
  (void)alias;
  Patterns *k = r->self;
  const ValueList *rows = k->patterns.u.list;
  for (int i = 0; i < rows->n; i++) {
    begin(k);
    const char *name = item(k, rows->at[i], 0, VAL_STR)->u.s;
    if (rows->at[i].u.list->n != 2) bad_pattern(k, rows->at[i]);
    if (match_node(k, rows->at[i].u.list->at[1], b->value, true)) return outlined(k, r, b, name);
  }
  return value;
}

/* --- rewrites --------------------------------------------------------------------------------- */

static Node bind(void *self, Script *sc, Node value) {
  Patterns *k = self;
  (void)sc;
  const Node n = tirc_infer_value(k->p, k->m, k->g, value);
  return tirc_emit_binding(k->r, "lv", n, value->loc);
}

static Node value_of(void *self, Node n) {
  const Patterns *k = self;
  for (int i = k->r->bindings.n - 1; i >= 0; i--)
    if (k->r->bindings.at[i].var == n) return k->r->bindings.at[i].value;
  return tirc_map_get(&k->values, n);
}

static Value attributes(void *self, Script *sc, Node call) {
  Patterns *k = self;
  (void)sc;
  return tirc_operator_attributes(k->p, call);
}

static bool is_known(void *self, Node n) { return is_weight(self, n); }

static void add_result(void *self, Script *sc, const char *name, Node value) {
  Patterns *k = self;
  if (k->g != tirc_module_main_graph(k->m))
    tirc_script_error(sc, "ValueError", NULL, "%s is not main: only main gives more results",
                      k->g->name);
  vec_push(k->c, k->results, tirc_emit_binding(k->r, name, value, value->loc));
}

static bool binds(const GraphBlock *b, Node var) {
  for (int i = 0; i < b->n; i++)
    if (b->at[i].var == var) return true;
  return false;
}

/* What main calls its results, which passes may bind to other variables. */
static Attrs with_names(Tirc *c, const Graph *before, int n, const Node *all) {
  const bool is_tuple = before->result->kind == NODE_TUPLE;
  const int own = is_tuple ? before->result->n : 1;
  const char **names = tirc_new_array(c, const char *, n);
  for (int i = 0; i < n; i++) {
    const Node was = i >= own ? all[i] : is_tuple ? before->result->args[i] : before->result;
    const char *in_file = i < own ? tirc_result_in_file(before->attrs, i) : NULL;
    names[i] = in_file ? in_file : was->name ? was->name : tirc_format(c, "out%d", i);
  }
  return tirc_with_results_in_file(c, before->attrs, n, names);
}

/* The graph with more results: they leave their blocks, and stand behind what it gave. */
static const Graph *with_results(Tirc *c, const Graph *before, const Graph *g, int n,
                                 const Node *more) {
  const bool is_tuple = g->result->kind == NODE_TUPLE;
  const int own = is_tuple ? g->result->n : 1;
  Graph *to = tirc_copy(c, g, 1);
  GraphBlock *blocks = tirc_copy(c, g->blocks, g->n_blocks);
  Node *all = tirc_new_array(c, Node, own + n);
  if (!n) return g;
  for (int i = 0; i < own; i++) all[i] = is_tuple ? g->result->args[i] : g->result;
  for (int i = 0; i < n; i++) all[own + i] = more[i];
  to->attrs = with_names(c, before, own + n, all);
  for (int b = 0; b < g->n_blocks; b++) {
    Node *outputs = tirc_new_array(c, Node, blocks[b].n_outputs + n);
    for (int i = 0; i < blocks[b].n_outputs; i++) outputs[i] = blocks[b].outputs[i];
    for (int i = 0; i < n && blocks[b].is_dataflow; i++)
      if (binds(&blocks[b], more[i])) outputs[blocks[b].n_outputs++] = more[i];
    blocks[b].outputs = outputs;
  }
  to->blocks = blocks;
  to->result = tirc_node_tuple(c, own + n, all);
  to->info = NULL;
  return to;
}

static void find_weights(Patterns *k) {
  int64_t n = k->g->n_params;
  const Expr inputs = tirc_attrs_get(k->g->attrs, tirc_key(KEY_NUM_INPUT));
  if (inputs) tirc_const_int(inputs, &n);
  for (int i = 0; i < k->g->n_params; i++)
    if (i >= n) tirc_map_set(k->c, &k->weights, k->g->params[i], k);
}

static Node given(Patterns *k, Value made) {
  const Node n = tirc_script_relax(made);
  if (!n)
    tirc_script_error(k->sc, "TypeError", "return R.add(x, y), or None", "a rewrite gives %s",
                      tirc_script_a_type(k->sc, made));
  return n;
}

static void check_given(Patterns *k, Node var, Node made) {
  Match match = {.c = k->c};
  if (var->info && !tirc_meet_info(&match, var->info, made->info))
    tirc_script_error(k->sc, "TypeError", NULL, "the rewrite of %s, %s, gives another value: %s",
                      var->name, tirc_info_words(k->c, var->info),
                      tirc_info_words(k->c, made->info));
}

/* A field of a tuple is taken again under the name of what it stands for: results keep theirs. */
static Node field_of(Patterns *k, Node made) {
  const Node value = made->kind == NODE_VAR ? value_of(k, made) : NULL;
  return value && value->kind == NODE_ITEM ? value : NULL;
}

/* What the function wrote, as the value of the variable: the last of its bindings perhaps. */
static Node written(Patterns *k, const Binding *b, Node made, Node *alias) {
  GraphRewriter *r = k->r;
  check_given(k, b->var, made);
  if (made->kind == NODE_VAR && r->bindings.n && r->bindings.at[r->bindings.n - 1].var == made)
    return r->bindings.at[--r->bindings.n].value;
  const Node field = field_of(k, made);
  if (field) return field;
  *alias = made;
  return NULL;
}

/* What is used from here on in the place of a part that matched; old: the parts before they were
 * renamed. */
static void replace_part(Patterns *k, const Matching *old, Node part, Node made) {
  int at = 0;
  while (at < k->parts.n && k->parts.at[at].node != part) at++;
  if (at == k->parts.n || part->kind != NODE_VAR)
    tirc_script_error(k->sc, "ValueError", "{expr: ..., matchings[part]: ...}",
                      "%s is not part of the pattern that matched", tirc_print_node(k->c, part));
  check_given(k, part, made);
  const Node field = field_of(k, made);
  if (field) made = tirc_emit_binding(k->r, part->name, field, part->loc);
  tirc_map_set(k->c, &k->r->to, old[at].node, made);
}

/* Of a dict the value of the root; the other ones are put in their places. */
static Value root_of_dict(Patterns *k, const Matching *old, Value dict) {
  Value root = VALUE_NONE;
  for (int i = 0; i < dict.u.list->n; i += 2) {
    const Node part = given(k, dict.u.list->at[i]);
    if (part == k->parts.at[0].node)
      root = dict.u.list->at[i + 1];
    else
      replace_part(k, old, part, given(k, dict.u.list->at[i + 1]));
  }
  if (root.kind == VAL_NONE)
    tirc_script_error(k->sc, "ValueError", "{expr: ..., matchings[part]: ...}",
                      "a rewrite's dict has no value for the root of the pattern");
  return root;
}

/* What it raises is said of the place in the graph; the script's own goes with the words. */
static Value call_placed(Patterns *k, Value function, const Args *args, Loc loc) {
  Tirc *c = k->c;
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    const Value made = tirc_script_call(k->sc, function, args);
    TIRC_END(c, trap);
    return made;
  }
  if (loc.line) {
    const Loc in = c->diag.loc;
    c->diag.loc = loc;
    if (in.line) c->diag.message = tirc_script_placed(c, c->diag.message, in);
  }
  tirc_throw(c);
}

static Node rewrite(GraphRewriter *r, const Binding *b, Node value, Node *alias) {
  Patterns *k = r->self;
  for (int i = 0; i < k->patterns.u.list->n; i++) {
    const Value row = k->patterns.u.list->at[i];
    const Value pattern = *item(k, row, 0, VAL_TUPLE), function = *item(k, row, 1, VAL_FUNCTION);
    const int before = r->bindings.n;
    begin(k);
    if (!match_node(k, pattern, b->value, true)) continue;
    for (int a = 0; a < k->parts.n; a++)
      if (k->parts.at[a].node == b->value) k->parts.at[a].node = b->var;
    const Matching *old = tirc_copy(k->c, k->parts.at, k->parts.n);
    for (int a = 0; a < k->parts.n; a++) k->parts.at[a].node = tirc_renamed(r, k->parts.at[a].node);
    const Matchings matchings = {k->parts.n, tirc_copy(k->c, k->parts.at, k->parts.n)};
    const Value args[] = {tirc_script_of_relax(b->var), tirc_script_of_matchings(&matchings)};
    Value made = call_placed(k, function, &(Args){.n = 2, .at = args}, b->loc);
    if (made.kind == VAL_DICT) made = root_of_dict(k, old, made);
    if (made.kind == VAL_NONE || tirc_script_relax(made) == b->var) {
      r->bindings.n = before;
      continue;
    }
    k->changed = true;
    value = written(k, b, given(k, made), alias);
    break;
  }
  return value;
}

static const Graph *rewrite_once(Patterns *k) {
  note_bindings(k);
  GraphRewriter r = {.c = k->c, .value = rewrite, .self = k};
  k->r = &r;
  const Graph *to = tirc_rewrite_graph(&r, k->g);
  return with_results(k->c, k->g, to, k->results.n, k->results.at);
}

/* Until nothing changes. What becomes dead on the way goes, other graphs of the module too. */
static const Module *rewrite_graph(Passes *p, Script *sc, const Module *m, const char *name,
                                   Value rewrites, bool once) {
  bool changed = true;
  for (int round = 0; changed; round++) {
    int g = 0;
    while (g < m->n_graphs && strcmp(m->graphs[g]->name, name) != 0) g++;
    if (g == m->n_graphs) break;
    Patterns k = {.p = p, .c = p->c, .sc = sc, .m = m, .g = m->graphs[g], .patterns = rewrites};
    const GraphWriter writer = {.self = &k,
                                .bind = bind,
                                .value_of = value_of,
                                .attributes = attributes,
                                .is_weight = is_known,
                                .result = add_result};
    if (round == MOST_ROUNDS)
      tirc_script_error(sc, "ValueError", "a rewrite that does nothing more gives None",
                        "the rewrites of %s do not end", name);
    find_weights(&k);
    sc->writer = &writer;
    const Graph *to = rewrite_once(&k);
    sc->writer = NULL;
    changed = k.changed && !once;
    if (k.changed) m = tirc_pass_dead_code(p, tirc_module_with_graph(p->c, m, g, to));
  }
  return m;
}

static void need_list(Script *sc, const char *what, Value v) {
  if (v.kind != VAL_LIST && v.kind != VAL_TUPLE)
    tirc_script_error(sc, "TypeError", NULL, "`%s` is %s, and no list", what,
                      tirc_script_a_type(sc, v));
}

const Module *tirc_rewrite_by_patterns(Passes *p, Script *sc, const Module *m, Value rewrites,
                                       bool once) {
  need_list(sc, "rewrites", rewrites);
  m = tirc_infer(p, m);
  const Module *const all = m;
  for (int g = 0; g < all->n_graphs; g++)
    m = rewrite_graph(p, sc, m, all->graphs[g]->name, rewrites, once);
  return m;
}

const Module *tirc_fuse_by_patterns(Passes *p, Script *sc, const Module *m, Value patterns) {
  need_list(sc, "patterns", patterns);
  m = tirc_infer(p, m);
  for (int g = 0; g < m->n_graphs; g++) {
    Patterns k = {.c = p->c, .sc = sc, .g = m->graphs[g], .patterns = patterns};
    note_bindings(&k);
    GraphRewriter r = {.c = p->c, .value = hand_over, .self = &k};
    m = tirc_module_with_graph(p->c, m, g, tirc_rewrite_graph(&r, k.g));
  }
  return tirc_pass_dead_code(p, m);
}

const Module *tirc_group_by_patterns(Passes *p, Script *sc, const Module *m, Value composites,
                                     bool binds_constants) {
  need_list(sc, "composites", composites);
  m = tirc_infer(p, m);
  for (int g = 0, n = m->n_graphs; g < n; g++) {
    if (tirc_is_primitive(m->graphs[g])) continue;
    Outlining out = {p->c, m};
    Patterns k = {.p = p, .c = p->c, .sc = sc, .g = m->graphs[g], .patterns = composites};
    k.out = &out;
    k.binds_constants = binds_constants;
    note_bindings(&k);
    GraphRewriter r = {.c = p->c, .value = group, .self = &k};
    m = tirc_with_graphs_apart(&out, m, g, tirc_rewrite_graph(&r, k.g));
  }
  return tirc_pass_dead_code(p, m);
}
