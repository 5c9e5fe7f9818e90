/* Values of a graph: variables, tuples, and calls. R.call_tir and its like are in a table; any
 * other R.NAME(...) is an operator, whatever its name. */
#include "relax.h"

static Node fail_as_node(GraphFrame *g, const Syn *s) {
  READ_FAIL(g->r, s, CODE_TYPE, NULL, "expected a tensor or a tuple, not %s",
            tirc_py_describe(g->r, tirc_read_value(g->r, s)));
}

const char *tirc_relax_called(GraphFrame *g, const Syn *s) {
  return s->kind == SYN_CALL ? tirc_names_path(g->r, s->a) : NULL;
}

/* "f" of cls.f; NULL for anything else. */
static const char *function_of(GraphFrame *g, const Syn *s) {
  const char *path = tirc_names_path(g->r, s);
  const size_t n = strlen(GRAPH_MODULE ".");
  return path && strncmp(path, GRAPH_MODULE ".", n) == 0 ? path + n : NULL;
}

static const char *operator_of(GraphFrame *g, const Syn *s) {
  const char *path = tirc_names_path(g->r, s);
  return path && strncmp(path, "R.", 2) == 0 ? path + 2 : NULL;
}

/* Whether the text of an argument has tensors in it, or is an attribute. */
static bool has_node(GraphFrame *g, const Syn *s) {
  const PyValue *v = s->kind == SYN_NAME ? tirc_names_find(g->r, s->s) : NULL;
  if (v) return v->kind == PY_NODE;
  if (s->kind == SYN_CALL) return operator_of(g, s->a) || function_of(g, s->a);
  if (s->kind == SYN_SUBSCRIPT || s->kind == SYN_UNARY) return has_node(g, s->a);
  if (s->kind == SYN_BINARY || s->kind == SYN_COMPARE)
    return has_node(g, s->a) || has_node(g, s->b);
  if (s->kind != SYN_TUPLE && s->kind != SYN_LIST) return false;
  for (int i = 0; i < s->kids.n; i++)
    if (has_node(g, s->kids.at[i])) return true;
  return false;
}

static Node value_node(GraphFrame *g, const Syn *s, Expr value) {
  struct Node n = {.kind = NODE_VALUE, .value = value, .loc = s->loc};
  return tirc_graph_node(g->r->c, &n);
}

Node tirc_relax_bind(GraphFrame *g, const Syn *at, const char *name, Info info, Node value) {
  Node var = tirc_node_var(g->r->c, name, info ? info : value->info, at->loc);
  vec_push(g->r->c, g->bindings, ((Binding){var, value, at->loc}));
  return var;
}

static const char *fresh_name(GraphFrame *g) {
  for (;;) {
    const int i = g->n_fresh++;
    const char *name = i ? tirc_format(g->r->c, "lv%d", i) : "lv";
    if (!tirc_names_find(g->r, name) && !tirc_strmap_get(&g->taken, name)) return name;
  }
}

Node tirc_relax_argument(GraphFrame *g, const Syn *s) {
  if (!has_node(g, s)) return value_node(g, s, tirc_relax_literal(g, s));
  const Node n = tirc_relax_value(g, s);
  const bool is_atom = n->kind == NODE_VAR || n->kind == NODE_CONST || n->kind == NODE_TUPLE ||
                       n->kind == NODE_SHAPE || n->kind == NODE_VALUE;
  return is_atom ? n : tirc_relax_bind(g, s, fresh_name(g), NULL, n);
}

/* --- tuples ----------------------------------------------------------------------------------- */

static Node tuple_of(GraphFrame *g, const Syn *s, SynList kids) {
  Node *args = tirc_new_array(g->r->c, Node, kids.n);
  for (int i = 0; i < kids.n; i++) args[i] = tirc_relax_argument(g, kids.at[i]);
  struct Node n = *tirc_node_tuple(g->r->c, kids.n, args);
  n.loc = s->loc;
  return tirc_graph_node(g->r->c, &n);
}

/* The arguments of R.call_tir: a tuple as such, anything else as a tuple of one. */
static Node tuple_argument(GraphFrame *g, const Syn *s) {
  if (s->kind == SYN_TUPLE || s->kind == SYN_LIST) return tuple_of(g, s, s->kids);
  const Node n = tirc_relax_argument(g, s);
  return n->kind == NODE_TUPLE ? n : tirc_node_tuple(g->r->c, 1, &n);
}

static Node read_item(GraphFrame *g, const Syn *s) {
  const Node of = tirc_relax_argument(g, s->a);
  if (s->kids.n != 1 || s->kids.at[0]->kind == SYN_SLICE)
    READ_FAIL(g->r, s, CODE_TYPE, NULL, "a tuple takes one index: x[0]");
  const int index = (int)tirc_read_const_int(g->r, s->kids.at[0], "an index", 0, INT32_MAX - 1);
  const Info info = of->info;
  if (info && info->kind != INFO_TUPLE && info->kind != INFO_OBJECT)
    READ_FAIL(g->r, s, CODE_TYPE, "slice it with R.strided_slice", "%s is not a tuple",
              of->name ? of->name : "this");
  if (info && info->kind == INFO_TUPLE && index >= info->n)
    READ_FAIL(g->r, s, CODE_TYPE, NULL, "the tuple has %d fields, so there is no field %d", info->n,
              index);
  struct Node n = {.kind = NODE_ITEM, .index = index, .n = 1, .args = &of, .loc = s->loc};
  if (info && info->kind == INFO_TUPLE) n.info = info->fields[index];
  return tirc_graph_node(g->r->c, &n);
}

/* --- calls with a form of their own ----------------------------------------------------------- */

static Node read_tuple(GraphFrame *g, const Syn *s) { return tuple_of(g, s, s->kids); }

static Node read_plain_value(GraphFrame *g, const Syn *s) {
  Call call;
  tirc_bind_call(g->r, s, "R.prim_value", "value", &call);
  return value_node(g, s, tirc_relax_literal(g, call.args[0]));
}

static Node read_shape(GraphFrame *g, const Syn *s) {
  Call call;
  int rank;
  tirc_bind_call(g->r, s, "R.shape", "value", &call);
  const Expr *at = tirc_relax_extents(g, call.args[0], &rank);
  const struct StructInfo info = {.kind = INFO_SHAPE, .ndim = rank, .shape = at};
  struct Node n = {.kind = NODE_SHAPE, .info = tirc_info_copy(g->r->c, &info), .loc = s->loc};
  n.value = tirc_expr(g->r->c, OP_TUPLE, DT_HANDLE, rank, at);
  return tirc_graph_node(g->r->c, &n);
}

/* R.Tensor(...), or a list of them. */
static Info read_results(GraphFrame *g, const Syn *s) {
  if (s->kind != SYN_LIST && s->kind != SYN_TUPLE) return tirc_relax_info(g, s);
  Info *fields = tirc_new_array(g->r->c, Info, s->kids.n);
  for (int i = 0; i < s->kids.n; i++) fields[i] = tirc_relax_info(g, s->kids.at[i]);
  return tirc_info_tuple(g->r->c, s->kids.n, fields);
}

static Node call_of_func(GraphFrame *g, const Syn *s, NodeKind kind, const char *name,
                         const Call *call) {
  const Node args = tuple_argument(g, call->args[1]);
  const Info info = read_results(g, call->args[2]);
  const Info *results;
  const int n = tirc_info_results(&info, &results);
  for (int i = 0; i < n; i++)
    if (results[i]->kind != INFO_TENSOR || !results[i]->shape ||
        results[i]->dtype.code == TYPE_VOID)
      READ_FAIL(g->r, call->args[2], CODE_TYPE, "write out_sinfo=R.Tensor((n, 784), \"float32\")",
                "the result of %s needs a shape and a dtype", call->name);
  struct Node node = {
      .kind = kind, .name = name, .n = args->n, .args = args->args, .info = info, .loc = s->loc};
  if (call->args[3]) {
    const Node vars = tirc_relax_argument(g, call->args[3]);
    if (!vars->value || vars->value->op != OP_TUPLE)
      READ_FAIL(g->r, call->args[3], CODE_TYPE, NULL, "tir_vars must be of the form R.shape([n])");
    node.value = vars->value;
  }
  return tirc_graph_node(g->r->c, &node);
}

static Node read_call_tir(GraphFrame *g, const Syn *s) {
  Call call;
  tirc_bind_call(g->r, s, "R.call_tir", "gvar args out_sinfo tir_vars?", &call);
  const Syn *of = call.args[0];
  const bool is_bare = of->kind == SYN_NAME && !tirc_names_find(g->r, of->s);
  const char *name = is_bare ? of->s : function_of(g, of); /* f, as public text has it, or cls.f */
  if (!name)
    READ_FAIL(g->r, call.args[0], CODE_TYPE, "write cls.f after a line `cls = Module`",
              "R.call_tir needs a function of the module");
  return call_of_func(g, s, NODE_CALL_TIR, name, &call);
}

static Node read_call_dps(GraphFrame *g, const Syn *s) {
  Call call;
  tirc_bind_call(g->r, s, "R.call_dps_packed", "func args out_sinfo", &call);
  const char *name = tirc_read_string(g->r, call.args[0], "the symbol");
  return call_of_func(g, s, NODE_CALL_DPS, name, &call);
}

/* R.call_pure_packed("f", x, y, sinfo_args=R.Tensor(...)): the function writes its result, as all
 * functions of other programs do. */
static Node read_call_pure(GraphFrame *g, const Syn *s) {
  Call call;
  tirc_bind_call(g->r, s, "R.call_pure_packed", "func * sinfo_args? ty_args?", &call);
  const char *name = tirc_read_string(g->r, call.args[0], "the symbol");
  const Syn *info = call.args[1] ? call.args[1] : call.args[2];
  if (!info)
    READ_FAIL(g->r, s, CODE_ARGUMENT, "write sinfo_args=R.Tensor((n, 784), \"float32\")",
              "%s says what it gives: it has no sinfo_args", call.name);
  const bool of_one = (info->kind == SYN_TUPLE || info->kind == SYN_LIST) && info->kids.n == 1;
  Syn *args = tirc_copy(g->r->c, s, 1);
  args->kind = SYN_TUPLE;
  args->kids = (SynList){call.n_rest, tirc_copy(g->r->c, call.rest, call.n_rest)};
  const Call written = {.name = call.name,
                        .args = {call.args[0], args, of_one ? info->kids.at[0] : info}};
  return call_of_func(g, s, NODE_CALL_DPS, name, &written);
}

static Node read_match_cast(GraphFrame *g, const Syn *s) {
  Call call;
  tirc_bind_call(g->r, s, "R.match_cast", "value struct_info", &call);
  const Node of = tirc_relax_argument(g, call.args[0]);
  g->in_signature = true; /* names that nothing has are defined here */
  struct Node n = {.kind = NODE_MATCH_CAST, .n = 1, .args = &of, .loc = s->loc};
  n.info = tirc_relax_info(g, call.args[1]);
  g->in_signature = false;
  return tirc_graph_node(g->r->c, &n);
}

static Node read_statement_as_value(GraphFrame *g, const Syn *s) {
  READ_FAIL(g->r, s, CODE_SYNTAX, NULL, "%s must be on a line of its own", tirc_relax_called(g, s));
}

static Node read_unsupported(GraphFrame *g, const Syn *s) {
  READ_FAIL(g->r, s, CODE_UNSUPPORTED, "R.call_tir and R.call_dps_packed write their results",
            "%s is not supported", tirc_relax_called(g, s));
}

static Node read_emit_te(GraphFrame *g, const Syn *s);

static const struct {
  const char *name;
  Node (*read)(GraphFrame *g, const Syn *s);
} forms[] = {{"R.const", tirc_relax_const},
             {"R.tuple", read_tuple},
             {"R.shape", read_shape},
             {"R.prim_value", read_plain_value},
             {"R.str", read_plain_value},
             {"R.dtype", read_plain_value},
             {"R.call_tir", read_call_tir},
             {"R.call_dps_packed", read_call_dps},
             {"R.call_pure_packed", read_call_pure},
             {"R.match_cast", read_match_cast},
             {"R.emit_te", read_emit_te},
             {"R.output", read_statement_as_value},
             {"R.func_attr", read_statement_as_value},
             {"R.dataflow", read_statement_as_value},
             {"R.call_packed", read_unsupported},
             {"R.call_tir_inplace", read_unsupported},
             {"R.call_tir_with_grad", read_unsupported}};

/* --- operators and functions ------------------------------------------------------------------ */

static Node read_call(GraphFrame *g, const Syn *s, NodeKind kind, const char *name) {
  Tirc *c = g->r->c;
  const int n = s->kids.n;
  Node *args = tirc_new_array(c, Node, n);
  const char **keys = tirc_new_array(c, const char *, n);
  bool keyed = false;
  for (int i = 0; i < n; i++) {
    const Syn *arg = s->kids.at[i];
    if (arg->kind == SYN_STAR || arg->kind == SYN_DOUBLESTAR)
      READ_FAIL(g->r, arg, CODE_UNSUPPORTED, "write the arguments out",
                "programs cannot have arguments with a star");
    if (arg->kind == SYN_KEYWORD) keys[i] = arg->s;
    for (int k = 0; k < i && keys[i]; k++)
      if (keys[k] && strcmp(keys[k], keys[i]) == 0)
        READ_FAIL(g->r, arg, CODE_ARGUMENT, NULL, "'%s' is given twice", keys[i]);
    keyed |= keys[i] != NULL;
    args[i] = tirc_relax_argument(g, keys[i] ? arg->a : arg);
  }
  if (keyed && kind == NODE_CALL_GRAPH)
    READ_FAIL(g->r, s, CODE_ARGUMENT, NULL, "arguments of a graph must be given by position");
  struct Node node = {.kind = kind, .name = name, .n = n, .args = args, .loc = s->loc};
  if (keyed) node.keys = keys;
  return tirc_graph_node(c, &node);
}

static const struct {
  const char *name, *operator_name;
} of_topi[] = {{"cast", "astype"}, {"concatenate", "concat"}, {"transpose", "permute_dims"}};

/* Their parameters are others than those of R's operator of the name. */
static const char *const differ[] = {"strided_slice", "sort", "argsort", "topk"};

/* R.emit_te(topi.exp, x) is read as a call of that operator, whose loops are made later. What the
 * function of its loops would be called does not matter. */
static Node read_emit_te(GraphFrame *g, const Syn *s) {
  const char *path = s->kids.n ? tirc_names_path(g->r, s->kids.at[0]) : NULL;
  const char *of = path ? strstr(path, "topi.") : NULL;
  if (!of || (of != path && of[-1] != '.'))
    READ_FAIL(g->r, s, CODE_UNSUPPORTED,
              "in a module that Python reads, a function of te is called",
              "R.emit_te in a text takes a function of topi: R.emit_te(topi.exp, x)");
  const char *name = of + strlen("topi.");
  for (size_t i = 0; i < sizeof of_topi / sizeof *of_topi; i++)
    if (strcmp(name, of_topi[i].name) == 0) name = of_topi[i].operator_name;
  for (size_t i = 0; i < sizeof differ / sizeof *differ; i++)
    if (strcmp(name, differ[i]) == 0)
      READ_FAIL(g->r, s, CODE_UNSUPPORTED,
                tirc_format(g->r->c, "write R.%s(...), whose parameters are others", name),
                "R.emit_te in a text does not take topi.%s", name);
  Syn *call = tirc_copy(g->r->c, s, 1);
  call->kids = (SynList){0, tirc_new_array(g->r->c, Syn *, s->kids.n)};
  for (int i = 1; i < s->kids.n; i++) {
    Syn *arg = s->kids.at[i];
    if (arg->kind != SYN_KEYWORD || strcmp(arg->s, "primfunc_name_hint") != 0)
      call->kids.at[call->kids.n++] = arg;
  }
  return read_call(g, call, NODE_CALL, name);
}

static Node read_any_call(GraphFrame *g, const Syn *s) {
  const char *path = tirc_relax_called(g, s);
  for (size_t i = 0; path && i < sizeof forms / sizeof *forms; i++)
    if (strcmp(path, forms[i].name) == 0) return forms[i].read(g, s);
  const char *name = operator_of(g, s->a), *func = function_of(g, s->a);
  if (name) return read_call(g, s, NODE_CALL, name);
  if (func) return read_call(g, s, NODE_CALL_GRAPH, func);
  READ_FAIL(g->r, s, CODE_NAME, "operators are R.NAME(...), functions of the module cls.NAME(...)",
            "a graph cannot call this");
}

static const struct {
  SynKind kind;
  const char *op, *name;
} spelled[] = {
#define SPELLED(kind, op, name) {kind, op, name},
#include "relax_operators.def"
#undef SPELLED
};

static Node operand_of(GraphFrame *g, const Syn *s) {
  if (!has_node(g, s))
    READ_FAIL(g->r, s, CODE_TYPE, "write R.const(2, \"float32\")",
              "the arguments of a graph operator must be tensors, but this is %s",
              tirc_py_describe(g->r, tirc_read_value(g->r, s)));
  return tirc_relax_argument(g, s);
}

/* x + y */
static Node read_spelled(GraphFrame *g, const Syn *s) {
  const char *name = NULL;
  for (size_t i = 0; !name && i < sizeof spelled / sizeof *spelled; i++)
    if (spelled[i].kind == s->kind && strcmp(spelled[i].op, s->op) == 0) name = spelled[i].name;
  if (!name)
    READ_FAIL(g->r, s, CODE_UNSUPPORTED, "use an operator's name: `tirc operator` lists them",
              "'%s' is not an operator of graphs", s->op);
  const int n = s->kind == SYN_UNARY ? 1 : 2;
  Node *args = tirc_new_array(g->r->c, Node, 2);
  args[0] = operand_of(g, s->a);
  if (n == 2) args[1] = operand_of(g, s->b);
  const struct Node call = {.kind = NODE_CALL, .name = name, .n = n, .args = args, .loc = s->loc};
  return tirc_graph_node(g->r->c, &call);
}

Node tirc_relax_value(GraphFrame *g, const Syn *s) {
  if (!has_node(g, s)) return value_node(g, s, tirc_relax_literal(g, s));
  switch (s->kind) {
  case SYN_NAME: return tirc_names_find(g->r, s->s)->u.node;
  case SYN_CALL: return read_any_call(g, s);
  case SYN_BINARY:
  case SYN_UNARY:
  case SYN_COMPARE: return read_spelled(g, s);
  case SYN_SUBSCRIPT: return read_item(g, s);
  case SYN_TUPLE:
  case SYN_LIST: return tuple_of(g, s, s->kids);
  default: return fail_as_node(g, s);
  }
}
