/* Functions of graphs: parameters, blocks of bindings, what comes out. */
#include "relax.h"

bool tirc_is_graph(Reader *r, const Syn *def) {
  for (int i = 0; i < def->decorators.n; i++) {
    const Syn *d = def->decorators.at[i];
    const char *path = tirc_names_path(r, d->kind == SYN_CALL ? d->a : d);
    if (path && strcmp(path, "R.function") == 0) return true;
  }
  return false;
}

/* @R.function or @R.function(private=True) */
static void read_decorator(GraphFrame *g, const Syn *def) {
  Reader *r = g->r;
  const Syn *d = def->decorators.at[0];
  Call call;
  if (def->decorators.n != 1)
    READ_FAIL(r, def, CODE_SYNTAX, NULL, "function '%s' has a decorator other than @R.function",
              def->s);
  if (d->kind != SYN_CALL) return;
  tirc_bind_call(r, d, "R.function", "pure? private? check_well_formed?", &call);
  if (call.args[1] && tirc_py_truth(tirc_read_value(r, call.args[1])))
    g->attrs = tirc_attrs_set(r->c, g->attrs, "tirc.private", tirc_bool(r->c, true));
}

static void bind_node(GraphFrame *g, const Syn *at, const char *name, Node n) {
  tirc_names_bind(g->r, at, name, (PyValue){.kind = PY_NODE, .u.node = n}, true);
}

static void read_parameters(GraphFrame *g, const Syn *def) {
  Reader *r = g->r;
  g->in_signature = true;
  for (int i = 0; i < def->kids.n; i++) {
    const Syn *p = def->kids.at[i];
    if (p->i || p->b)
      READ_FAIL(r, p, CODE_UNSUPPORTED, NULL, "parameters cannot have stars or defaults");
    if (!p->a)
      READ_FAIL(r, p, CODE_TYPE, "write it as in 'x: R.Tensor((n, 784), \"float32\")'",
                "parameter '%s' has no type", p->s);
    vec_push(r->c, g->params, tirc_node_var(r->c, p->s, tirc_relax_info(g, p->a), p->loc));
  }
  if (def->b) g->info = tirc_relax_info(g, def->b);
  g->in_signature = false;
  for (int i = 0; i < g->params.n; i++)
    bind_node(g, def->kids.at[i], g->params.at[i]->name, g->params.at[i]);
}

/* --- statements ------------------------------------------------------------------------------- */

static bool is_symbol(const GraphFrame *g, const Syn *s) {
  const char *path = s->kind == SYN_CALL ? tirc_names_path(g->r, s->a) : NULL;
  return path && (strcmp(path, "T.Var") == 0 || (strcmp(path, "T.int64") == 0 && !s->kids.n));
}

/* n = T.int64(): the symbol that the signature has of this name, the number that it was given, or a
 * new symbol. */
static void bind_symbol(GraphFrame *g, const Syn *target) {
  const PyValue *known = tirc_names_find(g->r, target->s);
  if (known && known->kind == PY_INT) return;
  if (known && known->kind == PY_EXPR && known->u.e->op == OP_VAR) return;
  Expr var = tirc_var(g->r->c, target->s, DT_INT64);
  tirc_names_bind(g->r, target, target->s, tirc_py_expr(var), true);
}

/* cls = Module */
static bool read_module_name(GraphFrame *g, const Syn *s, const Syn *target) {
  const char *path = tirc_names_path(g->r, s);
  if (!path || strcmp(path, GRAPH_MODULE) != 0) return false;
  tirc_names_bind(g->r, target, target->s, (PyValue){.kind = PY_NAMESPACE, .u.s = path}, true);
  return true;
}

/* n, m = T.int64(), T.int64() */
static bool read_symbols(GraphFrame *g, const Syn *target, const Syn *value) {
  if (target->kind != SYN_TUPLE || value->kind != SYN_TUPLE || target->kids.n != value->kids.n)
    return false;
  for (int i = 0; i < target->kids.n; i++)
    if (target->kids.at[i]->kind != SYN_NAME || !is_symbol(g, value->kids.at[i])) return false;
  for (int i = 0; i < target->kids.n; i++) bind_symbol(g, target->kids.at[i]);
  return true;
}

static void read_assignment(GraphFrame *g, const Syn *s, const Syn *target, const Syn *annotation,
                            const Syn *value) {
  Reader *r = g->r;
  if (!annotation && read_symbols(g, target, value)) return;
  if (target->kind != SYN_NAME)
    READ_FAIL(r, target, CODE_UNSUPPORTED, "bind the fields one by one: a = t[0]",
              "a binding of a graph can have only one name");
  if (!annotation && is_symbol(g, value)) {
    bind_symbol(g, target);
    return;
  }
  if (!annotation && read_module_name(g, value, target)) return;
  const Info info = annotation ? tirc_relax_info(g, annotation) : NULL;
  Node n = tirc_relax_value(g, value);
  bind_node(g, target, target->s, tirc_relax_bind(g, s, target->s, info, n));
}

/* --- branches --------------------------------------------------------------------------------- */

/* The one line of a branch, y = VALUE; *name is y. What a branch computes is a call, so that it is
 * not computed where the other one is taken. */
static Node read_branch(GraphFrame *g, const Syn *s, SynList body, const Syn **line) {
  Reader *r = g->r;
  const char *hint = "put what it computes into a function of the module: y = cls.f(x)";
  const Syn *only = body.n == 1 ? body.at[0] : NULL;
  const bool plain = only && only->kind == SYN_ASSIGN && only->kids.n == 1,
             said = only && only->kind == SYN_ANNASSIGN && only->c;
  const Syn *target = plain ? only->kids.at[0] : said ? only->a : NULL;
  if (!body.n)
    READ_FAIL(r, s, CODE_UNSUPPORTED, "bind the same name in both branches: else: y = x",
              "an `if` of a graph needs an `else`");
  if (!target || target->kind != SYN_NAME)
    READ_FAIL(r, only ? only : s, CODE_UNSUPPORTED, hint,
              "a branch of a graph must be one line, y = ...");
  const int before = g->bindings.n;
  const Node n = tirc_relax_value(g, plain ? only->a : only->c);
  const bool is_there = n->kind == NODE_VAR || n->kind == NODE_CONST || n->kind == NODE_TUPLE;
  if (g->bindings.n != before || (n->kind != NODE_CALL_GRAPH && !is_there))
    READ_FAIL(r, only, CODE_UNSUPPORTED, hint,
              "a branch of a graph must call a function of the module, or be an existing value");
  *line = only;
  return n;
}

static void read_if(GraphFrame *g, const Syn *s) {
  Reader *r = g->r;
  const Syn *lines[2];
  struct Node to = {.kind = NODE_IF, .n = 3, .loc = s->loc};
  Node args[3] = {tirc_relax_argument(g, s->a)};
  args[1] = read_branch(g, s, s->body, &lines[0]);
  args[2] = read_branch(g, s, s->orelse, &lines[1]);
  const Syn *first = lines[0]->kind == SYN_ASSIGN ? lines[0]->kids.at[0] : lines[0]->a,
            *second = lines[1]->kind == SYN_ASSIGN ? lines[1]->kids.at[0] : lines[1]->a,
            *said = lines[0]->kind == SYN_ANNASSIGN ? lines[0]->b : NULL;
  if (strcmp(first->s, second->s) != 0)
    READ_FAIL(r, second, CODE_NAME, "both branches must bind the same name",
              "one branch binds '%s', but the other one binds '%s'", first->s, second->s);
  to.args = args;
  bind_node(g, first, first->s,
            tirc_relax_bind(g, s, first->s, said ? tirc_relax_info(g, said) : NULL,
                            tirc_graph_node(r->c, &to)));
}

static void close_block(GraphFrame *g, bool is_dataflow) {
  if (!g->bindings.n && !is_dataflow) return;
  GraphBlock b = {.is_dataflow = is_dataflow,
                  .n = g->bindings.n,
                  .at = tirc_copy(g->r->c, g->bindings.at, g->bindings.n)};
  if (is_dataflow) {
    b.n_outputs = g->outputs.n;
    b.outputs = tirc_copy(g->r->c, g->outputs.at, g->outputs.n);
  }
  vec_push(g->r->c, g->blocks, b);
  g->bindings.n = g->outputs.n = 0;
}

static void read_statement(GraphFrame *g, const Syn *s);

static void read_dataflow(GraphFrame *g, const Syn *s) {
  Reader *r = g->r;
  const Syn *head = s->kids.n == 1 ? s->kids.at[0]->a : s;
  const char *path = tirc_relax_called(g, head);
  if (!path || strcmp(path, "R.dataflow") != 0)
    READ_FAIL(r, s, CODE_SYNTAX, NULL, "in a graph, only `with R.dataflow():` is possible");
  if (g->in_dataflow) READ_FAIL(r, s, CODE_SYNTAX, NULL, "dataflow blocks cannot be nested");
  close_block(g, false);
  tirc_names_open(r);
  g->in_dataflow = true;
  g->has_output = false;
  for (int i = 0; i < s->body.n; i++) read_statement(g, s->body.at[i]);
  if (!g->has_output)
    READ_FAIL(r, s, CODE_SYNTAX, "end it with R.output(gv)", "the dataflow block has no R.output");
  tirc_names_close(r);
  g->in_dataflow = false;
  for (int i = 0; i < g->outputs.n; i++) bind_node(g, s, g->outputs.at[i]->name, g->outputs.at[i]);
  close_block(g, true);
}

static void read_output(GraphFrame *g, const Syn *call) {
  Reader *r = g->r;
  if (!g->in_dataflow)
    READ_FAIL(r, call, CODE_SYNTAX, NULL, "R.output must be at the end of a dataflow block");
  g->has_output = true;
  for (int i = 0; i < call->kids.n; i++) {
    const Node n = tirc_relax_value(g, call->kids.at[i]);
    int k = 0;
    while (k < g->bindings.n && g->bindings.at[k].var != n) k++;
    if (k == g->bindings.n)
      READ_FAIL(r, call->kids.at[i], CODE_NAME, NULL,
                "R.output accepts only variables that its block binds");
    vec_push(r->c, g->outputs, n);
  }
}

static void read_attrs(GraphFrame *g, const Syn *call) {
  Reader *r = g->r;
  Call bound;
  if (g->has_attrs) READ_FAIL(r, call, CODE_SYNTAX, NULL, "R.func_attr is used twice");
  g->has_attrs = true;
  tirc_bind_call(r, call, "R.func_attr", "attrs", &bound);
  const Attrs attrs = tirc_relax_bounds(g, call, tirc_relax_attrs(g, bound.args[0]));
  for (int i = 0; i < attrs.n; i++)
    g->attrs = tirc_attrs_set(r->c, g->attrs, attrs.at[i].key, attrs.at[i].value);
}

static void read_return(GraphFrame *g, const Syn *s) {
  Reader *r = g->r;
  if (g->in_dataflow)
    READ_FAIL(r, s, CODE_SYNTAX, "return the variables of R.output after the block",
              "a dataflow block cannot contain return");
  if (!s->a) READ_FAIL(r, s, CODE_TYPE, NULL, "a graph must return a value");
  g->result = tirc_relax_argument(g, s->a);
}

static void read_statement(GraphFrame *g, const Syn *s) {
  Reader *r = g->r;
  const char *path = s->kind == SYN_EXPR_STMT ? tirc_relax_called(g, s->a) : NULL;
  if (g->result) READ_FAIL(r, s, CODE_SYNTAX, NULL, "nothing may follow `return`");
  if (g->has_output)
    READ_FAIL(r, s, CODE_SYNTAX, NULL, "R.output must be the last line of its block");
  switch (s->kind) {
  case SYN_PASS: return;
  case SYN_RETURN: read_return(g, s); return;
  case SYN_WITH: read_dataflow(g, s); return;
  case SYN_ASSIGN:
    if (s->kids.n != 1) break;
    read_assignment(g, s, s->kids.at[0], NULL, s->a);
    return;
  case SYN_ANNASSIGN:
    if (!s->c) break;
    read_assignment(g, s, s->a, s->b, s->c);
    return;
  case SYN_EXPR_STMT:
    if (s->a->kind == SYN_STRING) return;
    if (path && strcmp(path, "R.output") == 0) {
      read_output(g, s->a);
      return;
    }
    if (path && strcmp(path, "R.func_attr") == 0) {
      read_attrs(g, s->a);
      return;
    }
    break;
  case SYN_IF: read_if(g, s); return;
  case SYN_GLOBAL: return; /* of Python, where a name is */
  default: break;
  }
  READ_FAIL(r, s, CODE_UNSUPPORTED, "a graph consists of bindings: y = R.add(x, w)",
            "this statement is not allowed in a graph");
}

static void note_names(GraphFrame *g, SynList list) {
  for (int i = 0; i < list.n; i++) {
    const Syn *s = list.at[i];
    const Syn *target = s->kind == SYN_ASSIGN && s->kids.n == 1 ? s->kids.at[0]
                        : s->kind == SYN_ANNASSIGN              ? s->a
                                                                : NULL;
    if (target && target->kind == SYN_NAME) *tirc_strmap_at(g->r->c, &g->taken, target->s) = g;
    note_names(g, s->body);
    note_names(g, s->orelse);
  }
}

const Graph *tirc_read_graph(Reader *r, const Syn *def) {
  GraphFrame g = {.r = r, .name = def->s};
  read_decorator(&g, def);
  note_names(&g, def->body);
  tirc_names_open(r);
  read_parameters(&g, def);
  for (int i = 0; i < def->body.n; i++) {
    read_statement(&g, def->body.at[i]);
    g.has_output = false;
  }
  if (!g.result)
    READ_FAIL(r, def, CODE_SYNTAX, "end it with `return gv`", "the graph '%s' returns nothing",
              def->s);
  close_block(&g, false);
  tirc_names_close(r);
  Graph *graph = tirc_new(r->c, Graph);
  *graph = (Graph){.name = def->s,
                   .n_params = g.params.n,
                   .params = g.params.at,
                   .n_blocks = g.blocks.n,
                   .blocks = g.blocks.at,
                   .result = g.result,
                   .info = g.info,
                   .attrs = g.attrs,
                   .loc = def->loc};
  return graph;
}
