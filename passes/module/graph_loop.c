#include "graph_loop.h"

#include "ir/arith/access.h"
#include "ir/tree/annotations.h"
#include "ir/tree/visit.h"

typedef struct Looping {
  Tirc *c;
  GraphMaker *m;
  const LoopPart *part;
  const Module *turn; /* the calls of a turn, as functions and the graph that calls these */
  Node call;          /* of that graph */
  PtrMap symbols;     /* the graph's variables -> the function's */
  PtrMap buffers;     /* node -> Buffer */
  PtrMap tuples;      /* node -> Buffer *, of its fields */
  VEC(Node) args;
  VEC(Buffer) operands, results, allocs;
  VEC(Stmt) body;
  StrMap names, buffer_names;
  bool ok;
} Looping;

static const char *own_name(Tirc *c, StrMap *taken, const char *wanted) {
  const char *name = wanted;
  for (int i = 1; tirc_strmap_get(taken, name); i++) name = tirc_format(c, "%s_%d", wanted, i);
  *tirc_strmap_at(c, taken, name) = taken;
  return name;
}

/* --- buffers ---------------------------------------------------------------------------------- */

static Expr own_extent(Looping *k, Expr e) {
  PtrMap seen = {0};
  Symbols symbols = {0};
  const struct StructInfo shape = {.kind = INFO_SHAPE, .ndim = 1, .shape = &e};
  tirc_info_symbols(k->c, tirc_info_copy(k->c, &shape), &seen, &symbols);
  for (int i = 0; i < symbols.n; i++)
    if (!tirc_map_has(&k->symbols, symbols.at[i]))
      tirc_map_set(k->c, &k->symbols, symbols.at[i],
                   tirc_var(k->c, symbols.at[i]->u.s, symbols.at[i]->dtype));
  return tirc_substitute(k->c, e, &k->symbols);
}

/* rows: of a first dimension more, or NULL. */
static Buffer new_buffer(Looping *k, const char *name, DType t, int ndim, const Expr *extents,
                         Expr rows) {
  Expr *shape = tirc_new_array(k->c, Expr, ndim + 1);
  const int more = rows ? 1 : 0;
  if (rows) shape[0] = own_extent(k, rows);
  for (int d = 0; d < ndim; d++) shape[d + more] = own_extent(k, extents[d]);
  name = own_name(k->c, &k->buffer_names, name);
  return tirc_buffer(k->c, name, t, ndim + more, shape, "global");
}

static Buffer buffer_like(Looping *k, Node n, const char *name) {
  return new_buffer(k, name, n->info->dtype, n->info->ndim, n->info->shape, NULL);
}

static Buffer alloc_like(Looping *k, const char *name, Buffer b) {
  const char *free_name = own_name(k->c, &k->buffer_names, name);
  Buffer own = tirc_buffer(k->c, free_name, b->dtype, b->ndim, b->shape, "global");
  vec_push(k->c, k->allocs, own);
  return own;
}

/* What a turn uses that is not its own is an operand. */
static Buffer buffer_of(Looping *k, Node n) {
  Buffer known = tirc_map_get(&k->buffers, n);
  if (known) return known;
  if (n->info->kind != INFO_TENSOR || !n->info->shape) {
    k->ok = false;
    return NULL;
  }
  known = buffer_like(k, n, n->name ? n->name : "const");
  vec_push(k->c, k->args, n);
  vec_push(k->c, k->operands, known);
  tirc_map_set(k->c, &k->buffers, n, known);
  return known;
}

/* --- statements ------------------------------------------------------------------------------- */

static Stmt block(Looping *k, const char *name, int n, const IterVar *iters, const Expr *values,
                  Stmt body) {
  return tirc_infer_regions(k->c,
                            tirc_block(k->c, &(Block){.name = own_name(k->c, &k->names, name),
                                                      .n_iters = n,
                                                      .iters = iters,
                                                      .iter_values = values,
                                                      .predicate = tirc_bool(k->c, true),
                                                      .body = body}),
                            false, false);
}

/* to[row, ...] = from[...]; row NULL: to has the shape of from. from NULL: zeros, everywhere. */
static void add_copy(Looping *k, Buffer from, Buffer to, Expr row) {
  Tirc *c = k->c;
  const Buffer like = from ? from : to;
  const int n = like->ndim, more = row ? 1 : 0;
  Expr *loops = tirc_new_array(c, Expr, n), *vars = tirc_new_array(c, Expr, n),
       *place = tirc_new_array(c, Expr, n + 1);
  IterVar *iters = tirc_new_array(c, IterVar, n);
  if (row) place[0] = row;
  for (int d = 0; d < n; d++) {
    const DType t = like->shape[d]->dtype;
    loops[d] = tirc_var(c, tirc_format(c, "i%d", d), t);
    place[d + more] = vars[d] = tirc_var(c, tirc_format(c, "v_i%d", d), t);
    iters[d] = (IterVar){vars[d], tirc_range(tirc_int(c, t, 0), like->shape[d]), ITER_SPATIAL};
  }
  const Expr zero =
      tirc_dtype_is_float(to->dtype) ? tirc_float(c, to->dtype, 0) : tirc_int(c, to->dtype, 0);
  const Expr value = from ? tirc_load(c, from, n, vars) : zero;
  const Stmt store = tirc_store(c, to, n + more, place, value);
  Stmt s =
      block(k, tirc_format(c, "%s_%s", to->name, from ? "copy" : "clear"), n, iters, loops, store);
  for (int d = n - 1; d >= 0; d--) s = tirc_for_serial(c, loops[d], like->shape[d], s);
  vec_push(c, k->body, s);
}

static void add_set(Looping *k, Buffer to, Expr value) {
  vec_push(k->c, k->body,
           block(k, tirc_format(k->c, "%s_set", to->name), 0, NULL, NULL,
                 tirc_store(k->c, to, 0, NULL, value)));
}

/* --- calls ------------------------------------------------------------------------------------ */

static Stmt rename_block(Mutator *m, Stmt s) {
  Looping *k = m->self;
  s = tirc_mutate_stmt_children(m, s);
  if (s->kind != STMT_BLOCK) return s;
  struct StmtNode to = *s;
  to.u.block.name = own_name(k->c, &k->names, s->u.block.name);
  return tirc_stmt_done(k->c, tirc_copy(k->c, &to, 1));
}

static bool has_plain_root(const Func *f) {
  return f->body->kind == STMT_BLOCK && f->body->u.block.n_iters == 0 && !f->body->u.block.init &&
         !f->body->u.block.n_matches;
}

/* A block without iterators that does what f does, on these buffers, and on these numbers behind
 * them: it gets a schedule as f would. */
static void add_func(Looping *k, const Func *f, int n, const Buffer *at, int n_vars,
                     const Expr *vars) {
  Tirc *c = k->c;
  Match match = {.c = c};
  PtrMap buffers = {0};
  if (!k->ok || f->n_params != n + n_vars || !has_plain_root(f) ||
      tirc_match_params(&match, n, tirc_buffer_infos(c, n, f->buffers),
                        tirc_buffer_infos(c, n, at)) >= 0) {
    k->ok = false;
    return;
  }
  for (int i = 0; i < n; i++) tirc_map_set(c, &buffers, f->buffers[i], (void *)(uintptr_t)at[i]);
  for (int i = 0; i < n_vars; i++)
    tirc_map_set(c, &match.symbols, f->params[n + i],
                 tirc_cast(c, f->params[n + i]->dtype, own_extent(k, vars[i])));
  const Block *root = &f->body->u.block;
  for (int i = 0; i < root->n_allocs; i++) {
    struct BufferNode *own = tirc_copy(c, root->allocs[i], 1);
    own->name = own_name(c, &k->buffer_names, own->name);
    tirc_map_set(c, &buffers, root->allocs[i], own);
  }
  const Stmt body = tirc_clone_fresh(
      c, tirc_substitute_buffers(c, tirc_substitute_stmt(c, f->body, &match.symbols), &buffers));
  Mutator rename = {.c = c, .stmt = rename_block, .self = k};
  Block part = body->u.block;
  part.name = own_name(c, &k->names, f->name);
  part.body = tirc_mutate_stmt(&rename, part.body);
  vec_push(c, k->body, tirc_infer_regions(c, tirc_block(c, &part), false, false));
}

static void add_call(Looping *k, const Binding *b) {
  Tirc *c = k->c;
  const Node call = b->value;
  const Func *f = tirc_module_func(k->turn, call->name);
  const bool is_tuple = call->info->kind == INFO_TUPLE;
  const int n = call->n, more = is_tuple ? call->info->n : 1;
  Buffer *at = tirc_new_array(c, Buffer, n + more);
  for (int i = 0; i < n && k->ok; i++) at[i] = buffer_of(k, call->args[i]);
  for (int i = 0; i < more && k->ok; i++) {
    const Info is = is_tuple ? call->info->fields[i] : call->info;
    at[n + i] = new_buffer(k, b->var->name, is->dtype, is->ndim, is->shape, NULL);
    vec_push(c, k->allocs, at[n + i]);
  }
  k->ok &= f != NULL;
  if (!k->ok) return;
  add_func(k, f, n + more, at, call->value ? call->value->n : 0,
           call->value ? call->value->args : NULL);
  if (is_tuple)
    tirc_map_set(c, &k->tuples, b->var, at + n);
  else
    tirc_map_set(c, &k->buffers, b->var, (void *)(uintptr_t)at[n]);
}

/* --- branches --------------------------------------------------------------------------------- */

static void add_binding(Looping *k, const Binding *b);

/* The bindings of a graph, with what its call passes; gives its result. */
static Node add_bindings_of(Looping *k, Node call) {
  const Graph *g = call->kind == NODE_CALL_GRAPH ? tirc_module_graph(k->turn, call->name) : NULL;
  if (!g) return call;
  /* what it asks of extents where it is taken has no place to be asked */
  if (tirc_attrs_get(g->attrs, tirc_key(KEY_REQUIRES))) k->ok = false;
  for (int i = 0; i < g->n_params && k->ok; i++) {
    Buffer *fields = tirc_map_get(&k->tuples, call->args[i]);
    if (fields) tirc_map_set(k->c, &k->tuples, g->params[i], fields);
    if (fields || g->params[i]->info->kind == INFO_SHAPE) continue;
    tirc_map_set(k->c, &k->buffers, g->params[i], (void *)(uintptr_t)buffer_of(k, call->args[i]));
  }
  for (int i = 0; i < g->n_blocks; i++)
    for (int j = 0; j < g->blocks[i].n && k->ok; j++) add_binding(k, &g->blocks[i].at[j]);
  return g->result;
}

/* The statements of a branch, whose n values go to `to`. */
static Stmt branch_of(Looping *k, Node call, int n, const Buffer *to) {
  const int before = k->body.n;
  const Node result = k->ok ? add_bindings_of(k, call) : NULL;
  const Buffer *fields = result ? tirc_map_get(&k->tuples, result) : NULL;
  for (int i = 0; i < n && k->ok; i++) {
    const bool is_tuple = result->kind == NODE_TUPLE;
    const Buffer from = fields ? fields[i] : buffer_of(k, is_tuple ? result->args[i] : result);
    if (k->ok) add_copy(k, from, to[i], NULL);
  }
  const Stmt s = tirc_seq(k->c, k->body.n - before, k->body.at + before);
  k->body.n = before;
  return s;
}

static void add_if(Looping *k, const Binding *b) {
  Tirc *c = k->c;
  const Node n = b->value;
  const bool is_tuple = n->info->kind == INFO_TUPLE;
  const int count = is_tuple ? n->info->n : 1;
  Buffer *to = tirc_new_array(c, Buffer, count);
  const Buffer cond = buffer_of(k, n->args[0]);
  for (int i = 0; i < count && k->ok; i++) {
    const Info is = is_tuple ? n->info->fields[i] : n->info;
    k->ok = is->kind == INFO_TENSOR && is->shape;
    if (!k->ok) return;
    to[i] = new_buffer(k, b->var->name, is->dtype, is->ndim, is->shape, NULL);
    vec_push(c, k->allocs, to[i]);
  }
  const Stmt then_case = branch_of(k, n->args[1], count, to),
             else_case = branch_of(k, n->args[2], count, to);
  if (!k->ok) return;
  vec_push(c, k->body, tirc_if(c, tirc_load(c, cond, 0, NULL), then_case, else_case));
  if (is_tuple)
    tirc_map_set(c, &k->tuples, b->var, to);
  else
    tirc_map_set(c, &k->buffers, b->var, (void *)(uintptr_t)to[0]);
}

static void add_binding(Looping *k, const Binding *b) {
  const Node n = b->value;
  Buffer *fields = n->kind == NODE_ITEM ? tirc_map_get(&k->tuples, n->args[0]) : NULL;
  if (fields)
    tirc_map_set(k->c, &k->buffers, b->var, (void *)(uintptr_t)fields[n->index]);
  else if (n->kind == NODE_CALL_TIR)
    add_call(k, b);
  else if (n->kind == NODE_IF)
    add_if(k, b);
  else
    k->ok = false;
}

/* --- a turn ----------------------------------------------------------------------------------- */

/* The bindings of a turn, and what they give, as a graph that goes through the phase in which
 * operators become functions, those that belong together one. */
static void fuse_turn(Looping *k) {
  Tirc *c = k->c;
  const LoopPart *p = k->part;
  const int n = p->n_states + p->n_gathered, n_branches = k->m->branches.n;
  const int phase = tirc_find_phase("loops");
  Node *given = tirc_new_array(c, Node, n + 1);
  const Graph **graphs = tirc_new_array(c, const Graph *, n_branches + 1);
  for (int i = 0; i < n; i++)
    given[i] = i < p->n_states ? p->next[i] : p->gathered[i - p->n_states];
  given[n] = p->goes_on;
  graphs[0] = tirc_graph_part(c, "main", (Attrs){0}, p->n_bindings, p->bindings,
                              tirc_node_tuple(c, p->goes_on ? n + 1 : n, given), &k->call);
  for (int i = 0; i < n_branches; i++) graphs[1 + i] = k->m->branches.at[i];
  Module *m = tirc_new(c, Module);
  *m = (Module){.c = c,
                .name = "Module",
                .file = k->m->loc.file,
                .is_class = true,
                .n_funcs = k->m->funcs.n,
                .funcs = k->m->funcs.at,
                .n_graphs = n_branches + 1,
                .graphs = graphs};
  k->turn = tirc_run_phases(k->m->p, m, phase, phase);
}

/* --- the loop --------------------------------------------------------------------------------- */

/* States of the next turn: what is another state of this one goes by way of a copy. */
static void add_next(Looping *k, const Buffer *states, const Node *given) {
  const LoopPart *p = k->part;
  Buffer *next = tirc_new_array(k->c, Buffer, p->n_states);
  for (int i = 0; i < p->n_states; i++) {
    next[i] = buffer_of(k, given[i]);
    for (int j = 0; k->ok && j < p->n_states; j++) {
      if (j == i || next[i] != states[j]) continue;
      next[i] = alloc_like(k, "kept", states[j]);
      add_copy(k, states[j], next[i], NULL);
    }
  }
  for (int i = 0; k->ok && i < p->n_states; i++)
    if (next[i] != states[i]) add_copy(k, next[i], states[i], NULL);
}

static Buffer result(Looping *k, const char *name, Node like, Expr rows) {
  Buffer b = new_buffer(k, name, like->info->dtype, like->info->ndim, like->info->shape, rows);
  vec_push(k->c, k->results, b);
  return b;
}

static Stmt turn_of(Looping *k, const Buffer *states, Buffer turns, Buffer go) {
  Tirc *c = k->c;
  const LoopPart *p = k->part;
  const Expr turn = tirc_load(c, turns, 0, NULL);
  const Node *const given = add_bindings_of(k, k->call)->args;
  for (int i = 0; i < p->n_gathered && k->ok; i++) {
    Buffer from = buffer_of(k, given[p->n_states + i]);
    if (k->ok) add_copy(k, from, k->results.at[p->n_states + i], turn);
  }
  if (k->ok && p->goes_on) {
    Buffer on = buffer_of(k, given[p->n_states + p->n_gathered]);
    if (k->ok) add_set(k, go, tirc_load(c, on, 0, NULL));
  }
  if (k->ok) add_next(k, states, given);
  add_set(k, turns, tirc_binary(c, OP_ADD, turn, tirc_int(c, DT_INT64, 1)));
  return tirc_seq(c, k->body.n, k->body.at);
}

static Expr goes_on(Looping *k, Buffer turns, Buffer go, Buffer trips) {
  Tirc *c = k->c;
  const Expr turn = tirc_load(c, turns, 0, NULL);
  Expr all = tirc_load(c, go, 0, NULL);
  if (trips)
    all = tirc_binary(c, OP_AND, all, tirc_binary(c, OP_LT, turn, tirc_load(c, trips, 0, NULL)));
  if (k->part->most)
    all = tirc_binary(c, OP_AND, all, tirc_binary(c, OP_LT, turn, own_extent(k, k->part->most)));
  return all;
}

/* A variable that is an operand's extent by itself; others would have no value. */
static bool is_told(const Looping *k, Expr var) {
  for (int i = 0; i < k->operands.n; i++)
    for (int d = 0; d < k->operands.at[i]->ndim; d++)
      if (k->operands.at[i]->shape[d] == var) return true;
  return false;
}

static bool all_are_told(const Looping *k) {
  for (size_t i = 0; i < k->symbols.cap; i++)
    if (k->symbols.keys[i] && !is_told(k, tirc_map_get(&k->symbols, k->symbols.keys[i])))
      return false;
  return true;
}

static const Func *make(Looping *k, const char *name) {
  Tirc *c = k->c;
  const LoopPart *p = k->part;
  Buffer trips = p->trips ? buffer_of(k, p->trips) : NULL;
  Buffer cond = p->cond ? buffer_of(k, p->cond) : NULL;
  Buffer *first = tirc_new_array(c, Buffer, p->n_states),
         *states = tirc_new_array(c, Buffer, p->n_states);
  for (int i = 0; i < p->n_states; i++) first[i] = buffer_of(k, p->first[i]);
  for (int i = 0; i < p->n_states && k->ok; i++) {
    states[i] = result(k, "state", p->first[i], NULL);
    tirc_map_set(c, &k->buffers, p->states[i], (void *)(uintptr_t)states[i]);
  }
  for (int i = 0; i < p->n_gathered && k->ok; i++) result(k, "all", p->gathered[i], p->most);
  if (!k->ok) return NULL;
  Buffer turns = result(k, "turns", p->turn, NULL);
  Buffer go = new_buffer(k, "go", DT_BOOL, 0, NULL, NULL);
  vec_push(c, k->allocs, go);
  tirc_map_set(c, &k->buffers, p->turn, (void *)(uintptr_t)turns);
  const Stmt turn = turn_of(k, states, turns, go);
  const Expr condition = goes_on(k, turns, go, trips);
  k->body.n = 0;
  if (!k->ok || !all_are_told(k)) return NULL;
  for (int i = 0; i < p->n_states; i++) add_copy(k, first[i], states[i], NULL);
  /* rows that no turn writes are what others with a count have there: a fit index, and no secret */
  for (int i = 0; i < p->n_gathered; i++) add_copy(k, NULL, k->results.at[p->n_states + i], NULL);
  add_set(k, turns, tirc_int(c, DT_INT64, 0));
  add_set(k, go, cond ? tirc_load(c, cond, 0, NULL) : tirc_bool(c, true));
  vec_push(c, k->body, tirc_while(c, condition, turn));
  const int n = k->operands.n + k->results.n;
  Expr *params = tirc_new_array(c, Expr, n);
  Buffer *buffers = tirc_new_array(c, Buffer, n);
  for (int i = 0; i < n; i++) {
    buffers[i] = i < k->operands.n ? k->operands.at[i] : k->results.at[i - k->operands.n];
    params[i] = tirc_var(c, tirc_format(c, "var_%s", buffers[i]->name), DT_HANDLE);
  }
  const Block root = {.name = "root",
                      .predicate = tirc_bool(c, true),
                      .n_allocs = k->allocs.n,
                      .allocs = k->allocs.at,
                      .body = tirc_seq(c, k->body.n, k->body.at)};
  Func *f = tirc_new(c, Func);
  *f = (Func){.name = name,
              .n_params = n,
              .params = params,
              .buffers = buffers,
              .body = tirc_block(c, &root),
              .loc = k->m->loc};
  f->attrs = tirc_attrs_set(c, f->attrs, tirc_key(KEY_NOALIAS), tirc_bool(c, true));
  f->attrs = tirc_attrs_set(c, f->attrs, tirc_key(KEY_IS_SCHEDULED), tirc_bool(c, true));
  f->attrs = tirc_attrs_set(c, f->attrs, tirc_key(KEY_LOOP_OF_TURNS), tirc_bool(c, true));
  return f;
}

/* --- its call --------------------------------------------------------------------------------- */

static Info stacked_info(Tirc *c, Info each, Expr rows) {
  Expr *shape = tirc_new_array(c, Expr, each->ndim + 1);
  shape[0] = rows;
  for (int d = 0; d < each->ndim; d++) shape[d + 1] = each->shape[d];
  return tirc_info_tensor(c, each->dtype, each->ndim + 1, shape);
}

Node tirc_graph_loop(GraphMaker *m, const LoopPart *p) {
  Tirc *c = m->p->c;
  Looping k = {.c = c, .m = m, .part = p, .ok = true};
  fuse_turn(&k);
  const Func *f = make(&k, tirc_graph_name(m, tirc_format(c, "%s_loop", m->hint)));
  if (!f) return NULL;
  vec_push(c, m->funcs, f);
  const int n = p->n_states + p->n_gathered + 1;
  Info *fields = tirc_new_array(c, Info, n);
  for (int i = 0; i < p->n_states; i++) fields[i] = p->first[i]->info;
  for (int i = 0; i < p->n_gathered; i++)
    fields[p->n_states + i] = stacked_info(c, p->gathered[i]->info, p->most);
  fields[n - 1] = p->turn->info;
  const struct StructInfo all = {.kind = INFO_TUPLE, .n = n, .fields = fields};
  const struct Node call = {.kind = NODE_CALL_TIR,
                            .name = f->name,
                            .n = k.args.n,
                            .args = k.args.at,
                            .info = tirc_info_copy(c, &all),
                            .loc = m->loc};
  return tirc_graph_node(c, &call);
}
