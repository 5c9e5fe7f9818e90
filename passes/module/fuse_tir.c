/* FuseTIR: a graph that is to be one function becomes that prim_func. What its calls pass to each
 * other is allocated inside of it; symbols are its own.
 *
 *   @R.function  # Primitive                     @T.prim_func
 *   def fused_matmul_add(x, w, b):               def fused_matmul_add(x, w, b, T_add):
 *       lv = R.call_tir(cls.matmul, (x, w))  ->      matmul = T.alloc_buffer(...)
 *       gv = R.call_tir(cls.add, (lv, b))            ... blocks "matmul", "T_add" ... */
#include "fusion.h"
#include "passes.h"

#include "ir/tree/visit.h"

typedef struct Merge {
  Tirc *c;
  const Module *m;
  const Graph *g;
  PtrMap symbols; /* the graph's symbol -> the function's */
  PtrMap buffers; /* variable -> Buffer */
  VEC(Stmt) body;
  VEC(Buffer) allocs;
  StrMap names;        /* of blocks */
  StrMap buffer_names; /* rules find buffers by these */
  Attrs ranges;        /* "index_ranges" of the function's own parameters */
} Merge;

/* A name that none of `taken` is: the wanted one, or with a number behind it. */
static const char *own_name(Tirc *c, StrMap *taken, const char *wanted) {
  const char *name = wanted;
  for (int i = 1; tirc_strmap_get(taken, name); i++) name = tirc_format(c, "%s_%d", wanted, i);
  *tirc_strmap_at(c, taken, name) = taken;
  return name;
}

static Buffer buffer_of(Merge *k, const char *name, Info info) {
  Expr *shape = tirc_new_array(k->c, Expr, info->ndim);
  for (int i = 0; i < info->ndim; i++)
    shape[i] = tirc_substitute(k->c, info->shape[i], &k->symbols);
  name = own_name(k->c, &k->buffer_names, name);
  return tirc_buffer(k->c, name, info->dtype, info->ndim, shape, "global");
}

/* Symbols that only share their names with the graph's. */
static void own_symbols(Merge *k) {
  PtrMap seen = {0};
  Symbols symbols = {0};
  for (int i = 0; i < k->g->n_params; i++)
    tirc_info_symbols(k->c, k->g->params[i]->info, &seen, &symbols);
  for (int i = 0; i < symbols.n; i++)
    tirc_map_set(k->c, &k->symbols, symbols.at[i],
                 tirc_var(k->c, symbols.at[i]->u.s, symbols.at[i]->dtype));
}

/* Blocks of one function have different names: schedules find them by these. */
static Stmt rename_block(Mutator *m, Stmt s) {
  Merge *k = m->self;
  s = tirc_mutate_stmt_children(m, s);
  if (s->kind != STMT_BLOCK || strcmp(s->u.block.name, "root") == 0) return s;
  const char *name = own_name(k->c, &k->names, s->u.block.name);
  if (name == s->u.block.name) return s;
  struct StmtNode to = *s;
  to.u.block.name = name;
  return tirc_stmt_done(k->c, tirc_copy(k->c, &to, 1));
}

static void rename_buffer(Merge *k, Buffer b, PtrMap *to) {
  const char *name = own_name(k->c, &k->buffer_names, b->name);
  if (name == b->name) return;
  struct BufferNode *renamed = tirc_copy(k->c, b, 1);
  renamed->name = name;
  tirc_map_set(k->c, to, b, renamed);
}

/* What the callee says of a parameter that is the function's own. */
static void take_range(Merge *k, const Func *f, int i, Node node, const PtrMap *symbols) {
  int64_t first, known;
  Expr end, none;
  int param = 0;
  if (!tirc_index_range(f->attrs, i, &first, &end)) return;
  while (param < k->g->n_params && k->g->params[param] != node) param++;
  if (param == k->g->n_params || tirc_index_range(k->ranges, param, &known, &none)) return;
  for (size_t s = 0; end->op == OP_STRING && s < symbols->cap; s++) {
    const Expr symbol = (Expr)(uintptr_t)symbols->keys[s];
    if (!symbol || !tirc_map_has(symbols, symbol) || strcmp(symbol->u.s, end->u.s) != 0) continue;
    end = tirc_range_end(k->c, tirc_map_get(symbols, symbol));
    if (!end) return;
    break;
  }
  k->ranges = tirc_with_index_range(k->c, k->ranges, param, first, end);
}

/* The callee's blocks with the caller's buffers and symbols. */
static void merge_call(Merge *k, Node call, Node result) {
  Tirc *c = k->c;
  const Func *f = tirc_module_func(k->m, call->name);
  Match match = {.c = c};
  PtrMap buffers = {0}, symbols = {0};
  Info *is = tirc_new_array(c, Info, f->n_params);
  const int count = call->n + 1; /* what is behind them is scalars */
  for (int i = 0; i < count; i++) is[i] = i < call->n ? call->args[i]->info : call->info;
  for (int i = count; i < f->n_params; i++)
    tirc_map_set(c, &match.symbols, f->params[i],
                 tirc_cast(c, f->params[i]->dtype, call->value->args[i - count]));
  const int wrong = tirc_match_params(&match, count, tirc_buffer_infos(c, count, f->buffers), is);
  if (wrong >= 0)
    tirc_fail(c, call->loc, CODE_SHAPE, NULL, "R.call_tir of %s: %s: %s", call->name,
              f->buffers[wrong]->name, match.why);
  for (int i = 0; i < count; i++)
    tirc_map_set(c, &buffers, f->buffers[i],
                 tirc_map_get(&k->buffers, i < call->n ? call->args[i] : result));
  const Block *own = &f->body->u.block;
  for (int i = 0; i < own->n_allocs; i++) rename_buffer(k, own->allocs[i], &buffers);
  for (size_t i = 0; i < match.symbols.cap; i++)
    if (match.symbols.keys[i] && tirc_map_has(&match.symbols, match.symbols.keys[i]))
      tirc_map_set(
          c, &symbols, match.symbols.keys[i],
          tirc_substitute(c, tirc_map_get(&match.symbols, match.symbols.keys[i]), &k->symbols));
  for (int i = 0; i < call->n; i++) take_range(k, f, i, call->args[i], &symbols);
  Stmt body = tirc_clone_fresh(
      c, tirc_substitute_buffers(c, tirc_substitute_stmt(c, f->body, &symbols), &buffers));
  Mutator rename = {.c = c, .stmt = rename_block, .self = k};
  body = tirc_mutate_stmt(&rename, body);
  for (int i = 0; i < body->u.block.n_allocs; i++) vec_push(c, k->allocs, body->u.block.allocs[i]);
  vec_push(c, k->body, body->u.block.body);
}

/* Each function has a plain root block: patterns are of such ones only. */
static bool has_plain_root(const Func *f) {
  return f->body->kind == STMT_BLOCK && f->body->u.block.n_iters == 0 && !f->body->u.block.init &&
         !f->body->u.block.n_matches;
}

/* How many parameters are tensors: behind them may stand an R.Shape of extents that none tells. */
static int tensor_params(const Graph *g) {
  const Node last = g->n_params ? g->params[g->n_params - 1] : NULL;
  return g->n_params - (last && last->info && last->info->kind == INFO_SHAPE && last->info->shape);
}

static bool is_mergeable(Tirc *c, const Module *m, const Graph *g) {
  if (!tirc_is_primitive(g) || g->n_blocks != 1) return false;
  for (int i = 0; i < g->blocks[0].n; i++) {
    const Node value = g->blocks[0].at[i].value;
    const Func *f = value->kind == NODE_CALL_TIR ? tirc_module_func(m, value->name) : NULL;
    if (!f || value->info->kind != INFO_TENSOR || !has_plain_root(f)) return false;
  }
  if (tirc_untold_symbol(c, g->n_params, g->params, g->blocks[0].n, g->blocks[0].at, true))
    return false;
  for (int i = 0; i < tensor_params(g); i++)
    if (!g->params[i]->info || g->params[i]->info->kind != INFO_TENSOR) return false;
  return g->blocks[0].n && g->result == g->blocks[0].at[g->blocks[0].n - 1].var;
}

/* The buffer of what a call gives, which stands behind those of its arguments. */
static Buffer result_buffer(const Module *m, Node call) {
  return tirc_module_func(m, call->name)->buffers[call->n];
}

static const Func *merge(Tirc *c, const Module *m, const Graph *g) {
  Merge k = {.c = c, .m = m, .g = g};
  const GraphBlock *block = &g->blocks[0];
  const int n_tensors = tensor_params(g), n = n_tensors + 1;
  const Info extents = n_tensors < g->n_params ? g->params[n_tensors]->info : NULL;
  const int all = n + (extents ? extents->ndim : 0);
  Expr *params = tirc_new_array(c, Expr, all);
  Buffer *buffers = tirc_new_array(c, Buffer, all);
  own_symbols(&k);
  for (int i = n; i < all; i++) params[i] = tirc_substitute(c, extents->shape[i - n], &k.symbols);
  for (int i = 0; i < n; i++) {
    const Node node = i < n_tensors ? g->params[i] : g->result;
    const char *name =
        i < n_tensors ? node->name : result_buffer(m, block->at[block->n - 1].value)->name;
    buffers[i] = buffer_of(&k, name, node->info);
    params[i] = tirc_var(c, tirc_format(c, "var_%s", name), DT_HANDLE);
    tirc_map_set(c, &k.buffers, node, buffers[i]);
  }
  for (int i = 0; i < block->n; i++) {
    const Binding *b = &block->at[i];
    if (b->var != g->result) {
      Buffer between = buffer_of(&k, result_buffer(m, b->value)->name, b->var->info);
      vec_push(c, k.allocs, between);
      tirc_map_set(c, &k.buffers, b->var, between);
    }
    merge_call(&k, b->value, b->var);
  }
  const Block root = {.name = "root",
                      .predicate = tirc_bool(c, true),
                      .n_allocs = k.allocs.n,
                      .allocs = k.allocs.at,
                      .body = tirc_seq(c, k.body.n, k.body.at)};
  Func *f = tirc_new(c, Func);
  *f = (Func){.name = g->name,
              .n_params = all,
              .params = params,
              .buffers = buffers,
              .body = tirc_block(c, &root),
              .loc = g->loc};
  f->attrs = tirc_attrs_set(c, k.ranges, tirc_key(KEY_NOALIAS), tirc_bool(c, true));
  f->attrs = tirc_attrs_set(c, f->attrs, "tirc.private", tirc_bool(c, true));
  return f;
}

/* --- constants ----------------------------------------------------------------------------------
 * A prim_func takes tensors: constants of the graph become parameters behind its own, before the
 * extents.
 */

typedef struct Lifting {
  PtrMap params; /* constant -> its parameter */
  VEC(Node) constants, own;
} Lifting;

static Node lift_constants(GraphRewriter *r, const Binding *b, Node value, Node *alias) {
  Lifting *k = r->self;
  Node *args = tirc_copy(r->c, value->args, value->n);
  (void)b, (void)alias;
  for (int i = 0; i < value->n; i++) {
    if (args[i]->kind != NODE_CONST) continue;
    Node param = tirc_map_get(&k->params, args[i]);
    if (!param) {
      param = tirc_node_var(r->c, "const", args[i]->info, args[i]->loc);
      tirc_map_set(r->c, &k->params, args[i], param);
      vec_push(r->c, k->constants, args[i]);
      vec_push(r->c, k->own, param);
    }
    args[i] = param;
  }
  struct Node to = *value;
  to.args = args;
  return tirc_graph_node(r->c, &to);
}

static const Graph *without_constants(Tirc *c, const Graph *g, Lifting *k) {
  GraphRewriter r = {.c = c, .value = lift_constants, .self = k};
  Graph *to = tirc_copy(c, tirc_rewrite_graph(&r, g), 1);
  Node *params = tirc_new_array(c, Node, g->n_params + k->own.n);
  const int n = tensor_params(g), behind = n + k->own.n;
  for (int i = 0; i < behind; i++) params[i] = i < n ? g->params[i] : k->own.at[i - n];
  if (n < g->n_params) params[behind] = g->params[n];
  to->n_params += k->own.n;
  to->params = params;
  return to;
}

/* --- the module ------------------------------------------------------------------------------- */

typedef struct Merged {
  StrMap constants; /* name of a function that was a graph -> Lifting * */
} Merged;

/* cls.fused(x, w, R.shape([n]))  ->  R.call_tir(cls.fused, (x, w), out_sinfo=...,
 * tir_vars=R.shape([n])) */
static Node call_func(GraphRewriter *r, const Binding *b, Node value, Node *alias) {
  (void)b;
  (void)alias;
  Merged *k = r->self;
  const Lifting *lifted =
      value->kind == NODE_CALL_GRAPH ? tirc_strmap_get(&k->constants, value->name) : NULL;
  if (!lifted) return value;
  struct Node to = *value;
  Node *args = tirc_new_array(r->c, Node, value->n + lifted->constants.n);
  const Info last = value->n ? value->args[value->n - 1]->info : NULL;
  const int n = value->n - (last && last->kind == INFO_SHAPE);
  if (n < value->n) to.value = tirc_expr(r->c, OP_TUPLE, DT_HANDLE, last->ndim, last->shape);
  to.kind = NODE_CALL_TIR;
  to.n = n + lifted->constants.n;
  for (int i = 0; i < to.n; i++) args[i] = i < n ? value->args[i] : lifted->constants.at[i - n];
  to.args = args;
  return tirc_graph_node(r->c, &to);
}

/* What cannot be one prim_func is part of who calls it. */
static const Module *inline_others(Passes *p, const Module *m) {
  bool others = false;
  for (int i = 0; i < m->n_graphs; i++) {
    if (!tirc_is_primitive(m->graphs[i]) || is_mergeable(p->c, m, m->graphs[i])) continue;
    Graph *g = tirc_copy(p->c, m->graphs[i], 1);
    g->attrs = tirc_attrs_remove(p->c, g->attrs, tirc_key(KEY_PRIMITIVE));
    m = tirc_module_with_graph(p->c, m, i, g);
    others = true;
  }
  return others ? tirc_pass_dead_functions(p, tirc_pass_inline(p, m)) : m;
}

const Module *tirc_pass_fuse_tir(Passes *p, const Module *m) {
  Tirc *c = p->c;
  m = inline_others(p, tirc_pass_dead_code(p, tirc_pass_canonicalize(p, m)));
  const Func **funcs = tirc_new_array(c, const Func *, m->n_funcs + m->n_graphs);
  const Graph **graphs = tirc_new_array(c, const Graph *, m->n_graphs);
  Module *to = tirc_copy(c, m, 1);
  Merged k = {0};
  int n = 0, kept = 0;
  for (; n < m->n_funcs; n++) funcs[n] = m->funcs[n];
  for (int i = 0; i < m->n_graphs; i++) {
    const Graph *g = m->graphs[i];
    if (!is_mergeable(c, m, g)) {
      graphs[kept++] = g;
      continue;
    }
    Lifting *lifted = tirc_new(c, Lifting);
    *tirc_strmap_at(c, &k.constants, g->name) = lifted;
    funcs[n++] = merge(c, m, without_constants(c, g, lifted));
  }
  to->c = c;
  to->n_funcs = n;
  to->funcs = funcs;
  to->n_graphs = kept;
  to->graphs = graphs;
  m = to;
  for (int i = 0; i < m->n_graphs; i++) {
    GraphRewriter r = {.c = c, .value = call_func, .self = &k};
    m = tirc_module_with_graph(c, m, i, tirc_rewrite_graph(&r, m->graphs[i]));
  }
  return tirc_pass_dead_functions(p, m);
}
