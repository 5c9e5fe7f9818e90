/* What is known of each value of a graph, from its operands: the shape and type of what an operator
 * or a function gives, compared with what the text says. */
#include "module.h"

#include "operator_call.h"
#include "passes.h"

typedef struct Infer {
  Passes *p;
  const Module *m;
  const Graph *g;
  PtrMap *done; /* graph -> the same, inferred */
} Infer;

#define FAIL(f, loc, code, hint, ...) tirc_fail((f)->p->c, loc, code, hint, __VA_ARGS__)

static const Graph *infer_graph(Passes *p, const Module *m, const Graph *g, PtrMap *done);

/* --- values that are their own parts ---------------------------------------------------------- */

static Info info_of_value(Tirc *c, Expr e) {
  const bool is_number = e->dtype.code != TYPE_HANDLE && e->dtype.code != TYPE_VOID;
  const bool is_known = is_number && (tirc_dtype_is_int(e->dtype) || e->op == OP_FLOAT);
  return tirc_info_copy(c, &(struct StructInfo){.kind = is_number ? INFO_PRIM : INFO_OBJECT,
                                                .dtype = e->dtype,
                                                .ndim = -1,
                                                .value = is_known ? e : NULL});
}

static Info info_of_item(Infer *f, Node n) {
  const Info of = n->args[0]->info;
  if (!of || of->kind == INFO_OBJECT) return NULL;
  if (of->kind != INFO_TUPLE || n->index >= of->n)
    FAIL(f, n->loc, CODE_TYPE, NULL, "%s: there is no field %d of %s", f->g->name, n->index,
         tirc_info_words(f->p->c, of));
  return of->fields[n->index];
}

/* Tuples, items and values know what they are made of. */
static Node fill_node(NodeMutator *m, Node n) {
  Infer *f = m->self;
  struct Node to = *n;
  if (n->kind == NODE_TUPLE) return tirc_node_tuple(m->c, n->n, n->args);
  if (n->kind == NODE_VALUE && !n->info) to.info = info_of_value(m->c, n->value);
  if (n->kind == NODE_ITEM) to.info = info_of_item(f, n);
  return to.info == n->info ? n : tirc_graph_node(m->c, &to);
}

/* --- calls ------------------------------------------------------------------------------------ */

/* The arguments, the results and the scalars of a prim_func against its parameters. */
static Info info_of_call_tir(Infer *f, Node n) {
  const Func *func = tirc_module_func(f->m, n->name);
  const Info *results;
  const int n_results = tirc_info_results(&n->info, &results);
  Match match = {.c = f->p->c};
  for (int i = n->n + n_results; i < func->n_params; i++)
    tirc_map_set(f->p->c, &match.symbols, func->params[i],
                 tirc_cast(f->p->c, func->params[i]->dtype, n->value->args[i - n->n - n_results]));
  const int count = n->n + n_results;
  Info *is = tirc_new_array(f->p->c, Info, count);
  for (int i = 0; i < count; i++) is[i] = i < n->n ? n->args[i]->info : results[i - n->n];
  const int wrong =
      tirc_match_params(&match, count, tirc_buffer_infos(f->p->c, count, func->buffers), is);
  for (int i = 0; i < count; i++) {
    const char *what = i < n->n ? "argument" : "result";
    const int number = (i < n->n ? i : i - n->n) + 1;
    if (!func->buffers[i])
      FAIL(f, n->loc, CODE_TYPE, "give it by tir_vars=R.shape([n])",
           "R.call_tir of %s: %s %d is a tensor, and the parameter %s is a scalar", n->name, what,
           number, func->params[i]->u.s);
    if (i == wrong)
      FAIL(f, n->loc, CODE_SHAPE, NULL, "R.call_tir of %s: %s %d, %s: %s", n->name, what, number,
           func->buffers[i]->name, match.why);
  }
  return n->info;
}

static Info info_of_call_graph(Infer *f, Node n) {
  const Graph *callee = infer_graph(f->p, f->m, tirc_module_graph(f->m, n->name), f->done);
  Match match = {.c = f->p->c};
  const int wrong = tirc_match_params(&match, n->n, tirc_node_infos(f->p->c, n->n, callee->params),
                                      tirc_node_infos(f->p->c, n->n, n->args));
  if (wrong >= 0)
    FAIL(f, n->loc, CODE_SHAPE, NULL, "the call of %s: argument %d, %s: %s", n->name, wrong + 1,
         callee->params[wrong]->name, match.why);
  if (!callee->info) return NULL;
  /* What the text, or an earlier look, calls extents that only the callee knows. */
  if (n->info) (void)tirc_match_info(&match, callee->info, n->info);
  tirc_match_fresh(&match, callee->info);
  return tirc_substitute_info(f->p->c, callee->info, &match.symbols);
}

static Node infer_branch(Infer *f, Node n) {
  struct Node to = *n;
  if (n->kind != NODE_CALL_GRAPH) return n;
  to.info = info_of_call_graph(f, n);
  return tirc_graph_node(f->p->c, &to);
}

/* Whichever is taken, what comes out is the same to those who use it. */
static Info info_of_if(Infer *f, struct Node *n) {
  Tirc *c = f->p->c;
  const Info cond = n->args[0]->info;
  Match match = {.c = c}, back = match;
  Node *args = tirc_copy(c, n->args, n->n);
  if (cond && (cond->kind != INFO_TENSOR || cond->ndim > 0 ||
               (cond->dtype.code != TYPE_BOOL && cond->dtype.code != TYPE_VOID)))
    FAIL(f, n->loc, CODE_TYPE, NULL, "%s: the condition of an `if` is one bool, and it is %s",
         f->g->name, tirc_info_words(c, cond));
  for (int i = 1; i < n->n; i++) args[i] = infer_branch(f, args[i]);
  n->args = args;
  const Info a = args[1]->info, b = args[2]->info;
  if (a && b && (!tirc_meet_info(&match, a, b) || !tirc_meet_info(&back, b, a)))
    FAIL(f, n->loc, CODE_SHAPE, "both branches give the same, whichever is taken",
         "%s: one branch of the `if` gives %s, the other one %s", f->g->name, tirc_info_words(c, a),
         tirc_info_words(c, b));
  return a ? a : b;
}

static Info info_of_call(Infer *f, struct Node *n) {
  switch (n->kind) {
  case NODE_CALL: return tirc_operator_result(f->p, f->g, n);
  case NODE_CALL_TIR: return info_of_call_tir(f, n);
  case NODE_CALL_GRAPH: return info_of_call_graph(f, n);
  case NODE_IF: return info_of_if(f, n);
  default: return n->info;
  }
}

/* --- bindings --------------------------------------------------------------------------------- */

static Node infer_value(GraphRewriter *r, const Binding *b, Node value, Node *alias) {
  (void)alias;
  Infer *f = r->self;
  NodeMutator fill = {.c = r->c, .node = fill_node, .self = f};
  struct Node to = *tirc_mutate_node(&fill, value);
  Match match = {.c = r->c};
  if (to.kind == NODE_CALL_GRAPH && !to.info) to.info = b->var->info;
  const Info found = info_of_call(f, &to);
  const Info both = tirc_meet_info(&match, b->var->info, found);
  if (!both && b->var->info)
    FAIL(f, b->loc, CODE_SHAPE,
         value->kind == NODE_CALL ? "R.match_cast(x, R.Tensor(...)) checks it when it runs" : NULL,
         "%s: '%s' is said to be %s, and it is %s", f->g->name, b->var->name,
         tirc_print_info(r->c, b->var->info), tirc_print_info(r->c, found));
  if ((both == value->info && value->kind != NODE_IF) || value->kind == NODE_VAR)
    return value; /* a variable is its pointer */
  to.info = both;
  return tirc_graph_node(r->c, &to);
}

Node tirc_infer_value(Passes *p, const Module *m, const Graph *g, Node value) {
  PtrMap done = {0};
  Infer f = {p, m, g, &done};
  NodeMutator fill = {.c = p->c, .node = fill_node, .self = &f};
  struct Node to = *tirc_mutate_node(&fill, value);
  to.info = info_of_call(&f, &to);
  return tirc_graph_node(p->c, &to);
}

static void check_result(Infer *f, Graph *g) {
  NodeMutator fill = {.c = f->p->c, .node = fill_node, .self = f};
  Match match = {.c = f->p->c};
  g->result = tirc_mutate_node(&fill, g->result);
  const Info both = tirc_meet_info(&match, g->info, g->result->info);
  if (!both && g->info)
    FAIL(f, g->loc, CODE_SHAPE, NULL, "%s is said to give %s, and it gives %s", g->name,
         tirc_print_info(f->p->c, g->info), tirc_print_info(f->p->c, g->result->info));
  g->info = both;
}

static const Graph *infer_graph(Passes *p, const Module *m, const Graph *g, PtrMap *done) {
  const Graph *known = tirc_map_get(done, g);
  if (known) return known;
  Infer f = {p, m, g, done};
  GraphRewriter r = {.c = p->c, .value = infer_value, .self = &f};
  Graph *to = tirc_copy(p->c, tirc_rewrite_graph(&r, g), 1);
  check_result(&f, to);
  tirc_map_set(p->c, done, g, to);
  return to;
}

const Module *tirc_infer(Passes *p, const Module *m) {
  PtrMap done = {0};
  m = tirc_numbers_as_tensors(p->c, m);
  const Module *to = m;
  for (int i = 0; i < m->n_graphs; i++)
    to = tirc_module_with_graph(p->c, to, i, infer_graph(p, m, m->graphs[i], &done));
  return to;
}
