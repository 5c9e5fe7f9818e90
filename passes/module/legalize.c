/* LegalizeOps: operators become calls of prim_funcs.
 *
 *   lv = R.add(x, w)   ->   lv = R.call_tir(cls.add, (x, w), out_sinfo=R.Tensor((4, 8), "float32"))
 *
 * Calls of an operator with operands of the same shapes and with the same attributes share a
 * function. What has to run before it (operators.h) stands above it:
 *
 *   lv = R.take(x, i)   ->   i_checked = R.call_tir(cls.take_checked, (i,), ...)
 *                            lv = R.call_tir(cls.take, (x, i_checked), ...) */
#include "ir/tree/annotations.h"
#include "ir/tree/print.h"
#include "operator_call.h"
#include "passes.h"

#include <math.h>

typedef struct Legalize {
  Passes *p;
  const Module *m;
  const Graph *g;
  PtrMap *names; /* the function of a program -> its name in the module */
  StrMap *texts; /* likewise, by its text */
  Attrs attrs;   /* the graph's, with the ranges of its parameters */
  VEC(const Func *) made;
} Legalize;

static bool has_name(const Legalize *l, const char *name) {
  bool has = tirc_module_func(l->m, name) || tirc_module_graph(l->m, name);
  for (int i = 0; i < l->made.n; i++) has |= strcmp(l->made.at[i]->name, name) == 0;
  return has;
}

/* Programs of one text are one function: they may have been made for operands of which other
 * integers are known. */
static const char *function_of(Legalize *l, const Func *func, Loc loc) {
  Tirc *c = l->p->c;
  const char *name = tirc_map_get(l->names, func);
  if (name) return name;
  const Module alone = {.c = c, .name = "Module", .n_funcs = 1, .funcs = &func};
  void **same = tirc_strmap_at(c, l->texts, tirc_print_module(c, &alone, NULL));
  name = *same ? *same : func->name;
  for (int i = 1; !*same && has_name(l, name); i++) name = tirc_format(c, "%s%d", func->name, i);
  tirc_map_set(c, l->names, func, name);
  if (*same) return name;
  *same = (void *)(uintptr_t)name;
  Func *f = tirc_copy(c, func, 1);
  f->name = name;
  if (loc.line || loc.file) f->loc = loc;
  f->attrs = tirc_attrs_remove(c, f->attrs, tirc_key(KEY_GLOBAL_SYMBOL));
  f->attrs = tirc_attrs_set(c, f->attrs, "tirc.private", tirc_bool(c, true));
  vec_push(c, l->made, f);
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

/* The only element of a constant float tensor. */
static bool only_number(Node n, double *number) {
  const Info info = n->info;
  uint16_t half;
  float single;
  if (n->kind != NODE_CONST || !n->data || !tirc_dtype_is_float(info->dtype)) return false;
  if (tirc_info_count(info) != 1) return false;
  const bool is_bfloat = info->dtype.code == TYPE_BFLOAT;
  switch (info->dtype.bits) {
  case 64: memcpy(number, n->data, sizeof *number); return isfinite(*number);
  case 32:
    memcpy(&single, n->data, sizeof single);
    *number = (double)single;
    return isfinite(*number);
  case 16:
    memcpy(&half, n->data, sizeof half);
    *number = is_bfloat ? tirc_bfloat_to_double(half) : tirc_half_to_double(half);
    return isfinite(*number);
  default: return false;
  }
}

/* The exponent of R.power(x, R.const(2.0)) is a number of the program and no parameter of it, as in
 * TVM: lowering makes products and roots of such powers. */
static Node exponent(GraphRewriter *r, Node base, Node n) {
  double number;
  if (!base->info || base->info->kind != INFO_TENSOR || !n->info) return n;
  if (n->info->ndim > base->info->ndim || !only_number(n, &number)) return n;
  if (base->info->dtype.code != n->info->dtype.code ||
      base->info->dtype.bits != n->info->dtype.bits)
    return n;
  return tirc_graph_node(r->c, &(struct Node){.kind = NODE_VALUE,
                                              .value = tirc_float(r->c, n->info->dtype, number),
                                              .loc = n->loc});
}

typedef struct Calling {
  const char *name;
  int n;
  const Node *tensors;
  int n_vars;
  const Expr *vars;
  Info info;
  Loc loc;
} Calling;

static Node call_tir(Tirc *c, const Calling *k) {
  struct Node to = {.kind = NODE_CALL_TIR,
                    .name = k->name,
                    .n = k->n,
                    .args = k->tensors,
                    .info = k->info,
                    .loc = k->loc};
  if (k->n_vars) to.value = tirc_expr(c, OP_TUPLE, DT_HANDLE, k->n_vars, k->vars);
  return tirc_graph_node(c, &to);
}

/* What runs before the call takes the places of its operands. */
static void run_ahead(GraphRewriter *r, const OperatorProgram *program, Node *tensors, Loc loc) {
  Legalize *l = r->self;
  for (int i = 0; i < program->n_ahead; i++) {
    const AheadProgram *a = &program->ahead[i];
    const Node operand = tensors[a->operand];
    int64_t first;
    if (tirc_const_int(a->first, &first))
      l->attrs = tirc_want_range(l->p, l->g, l->attrs, operand, first, a->end);
    if (!a->func) continue;
    const Loc at = loc.line ? loc : (Loc){l->m->file, 0, 0}; /* the script says what, not where */
    const Calling k = {.name = function_of(l, a->func, at),
                       .n = 1,
                       .tensors = &operand,
                       .n_vars = a->n_vars,
                       .vars = a->vars,
                       .info = operand->info,
                       .loc = loc};
    const char *name = tirc_format(r->c, "%s_checked", operand->name ? operand->name : "const");
    tensors[a->operand] = tirc_emit_binding(r, name, call_tir(r->c, &k), loc);
  }
}

static Node legal_call(GraphRewriter *r, Node value, MadeBy *by) {
  Legalize *l = r->self;
  struct Node call = *value;
  Node *args = tirc_copy(r->c, value->args, value->n);
  for (int i = 0; i < value->n; i++) args[i] = in_fields(r, args[i]);
  if (strcmp(call.name, "power") == 0 && call.n == 2) args[1] = exponent(r, args[0], args[1]);
  call.args = args;
  const OperatorProgram *program = tirc_operator_call(l->p, l->g, &call);
  const int n = tirc_operator_tensors(&call, NULL);
  Node *tensors = tirc_new_array(r->c, Node, n);
  tirc_operator_tensors(&call, tensors);
  *by = (MadeBy){program, tirc_copy(r->c, tensors, n)};
  run_ahead(r, program, tensors, value->loc);
  const Calling k = {.name = function_of(l, program->func, (Loc){0}),
                     .n = n,
                     .tensors = tensors,
                     .n_vars = program->n_vars,
                     .vars = program->vars,
                     .info = tirc_operator_result(l->p, l->g, &call),
                     .loc = value->loc};
  return call_tir(r->c, &k);
}

/* The variables are new ones, of which it is noted what they come from. */
static Node legalize(GraphRewriter *r, const Binding *b, Node value, Node *alias) {
  Legalize *l = r->self;
  MadeBy by;
  if (value->kind == NODE_CALL) {
    const Node call = legal_call(r, value, &by);
    *alias = tirc_emit_binding(r, b->var->name, call, b->loc);
    tirc_note_program(l->p, *alias, by.program, by.tensors);
    return NULL;
  }
  if (value->kind != NODE_ITEM || !value->info) return value;
  *alias = tirc_emit_binding(r, b->var->name, value, b->loc);
  tirc_note_field(l->p, *alias, value->args[0], value->index);
  return NULL;
}

/* What a graph that is called wants of its parameters, its caller wants of what it passes. */
static Attrs want_of_call(Passes *p, const Module *m, const Graph *g, Attrs attrs, Node n) {
  const Graph *callee = n->kind == NODE_CALL_GRAPH ? tirc_module_graph(m, n->name) : NULL;
  int64_t first;
  Expr end;
  for (int i = 0; callee && i < n->n && i < callee->n_params; i++)
    if (tirc_graph_range(callee->attrs, callee->params[i]->name, &first, &end) && end->op == OP_INT)
      attrs = tirc_want_range(p, g, attrs, n->args[i], first, end);
  for (int i = 0; n->kind == NODE_IF && i < n->n; i++)
    attrs = want_of_call(p, m, g, attrs, n->args[i]);
  return attrs;
}

/* As often as calls may be nested in one another, within reason. */
static const Module *want_of_calls(Passes *p, const Module *m) {
  enum { MOST_NESTED = 8 };
  for (int round = 1; round < m->n_graphs && round <= MOST_NESTED; round++)
    for (int i = 0; i < m->n_graphs; i++) {
      Graph *g = tirc_copy(p->c, m->graphs[i], 1);
      for (int b = 0; b < g->n_blocks; b++)
        for (int k = 0; k < g->blocks[b].n; k++)
          g->attrs = want_of_call(p, m, g, g->attrs, g->blocks[b].at[k].value);
      if (memcmp(&g->attrs, &m->graphs[i]->attrs, sizeof g->attrs) != 0)
        m = tirc_module_with_graph(p->c, m, i, g);
    }
  return m;
}

const Module *tirc_pass_legalize(Passes *p, const Module *m) {
  PtrMap names = {0};
  StrMap texts = {0};
  m = tirc_infer(p, m);
  for (int i = 0; i < m->n_graphs; i++) {
    Legalize l = {.p = p,
                  .m = m,
                  .g = m->graphs[i],
                  .names = &names,
                  .texts = &texts,
                  .attrs = m->graphs[i]->attrs};
    GraphRewriter r = {.c = p->c, .value = legalize, .self = &l};
    Graph *g = tirc_copy(p->c, tirc_rewrite_graph(&r, m->graphs[i]), 1);
    g->attrs = l.attrs;
    const Func **funcs = tirc_new_array(p->c, const Func *, m->n_funcs + l.made.n);
    for (int k = 0; k < m->n_funcs + l.made.n; k++)
      funcs[k] = k < m->n_funcs ? m->funcs[k] : l.made.at[k - m->n_funcs];
    if (l.made.n) m = tirc_module_with_funcs(p->c, m, m->n_funcs + l.made.n, funcs);
    m = tirc_module_with_graph(p->c, m, i, g);
  }
  return want_of_calls(p, m);
}
