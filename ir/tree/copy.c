/* Functions and modules that outlive the context which they were made in. Passes and schedules
 * leave behind a hundred times what they give; a context of their own goes when the result has been
 * copied. */
#include "copy.h"
#include "graph.h"
#include "visit.h"

typedef struct Copying {
  Tirc *to, *scratch;
  PtrMap done; /* node, buffer or text -> its copy: what is shared stays so */
  PtrMap kept; /* bytes of constants that stay where they are */
} Copying;

static void *copy_of(const Copying *k, const void *from) { return tirc_map_get(&k->done, from); }
static void keep(Copying *k, const void *from, const void *to) {
  tirc_map_set(k->scratch, &k->done, from, to);
}

static const char *copy_text(Copying *k, const char *s) {
  const char *is = s ? copy_of(k, s) : NULL;
  if (!s || is) return is;
  is = tirc_strdup(k->to, s);
  keep(k, s, is);
  return is;
}

/* --- expressions and buffers ------------------------------------------------------------------ */

static Buffer copy_buffer(Copying *k, Buffer b);

static Expr copy_expr(Copying *k, Expr e) {
  Expr is = e ? copy_of(k, e) : NULL;
  if (!e || is) return is;
  struct ExprNode *to = tirc_alloc(k->to, sizeof *to + (size_t)e->n * sizeof *to->args);
  memcpy(to, e, sizeof *to);
  if (e->op == OP_LOAD)
    to->u.buffer = copy_buffer(k, e->u.buffer);
  else if (e->op == OP_STRING || e->op == OP_VAR)
    to->u.s = copy_text(k, e->u.s);
  for (int i = 0; i < e->n; i++) to->args[i] = copy_expr(k, e->args[i]);
  keep(k, e, to);
  return to;
}

static const Expr *copy_exprs(Copying *k, int n, const Expr *from) {
  Expr *to = from ? tirc_new_array(k->to, Expr, n) : NULL;
  for (int i = 0; from && i < n; i++) to[i] = copy_expr(k, from[i]);
  return to;
}

static Buffer copy_buffer(Copying *k, Buffer b) {
  Buffer is = b ? copy_of(k, b) : NULL;
  if (!b || is) return is;
  struct BufferNode *to = tirc_copy(k->to, b, 1);
  keep(k, b, to);
  to->name = copy_text(k, b->name);
  to->data = copy_expr(k, b->data);
  to->shape = copy_exprs(k, b->ndim, b->shape);
  to->strides = copy_exprs(k, b->ndim, b->strides);
  to->elem_offset = copy_expr(k, b->elem_offset);
  to->scope = copy_text(k, b->scope);
  to->axis_separators = tirc_copy(k->to, b->axis_separators, b->n_axis_separators);
  return to;
}

static const Buffer *copy_buffers(Copying *k, int n, const Buffer *from) {
  Buffer *to = tirc_new_array(k->to, Buffer, n);
  for (int i = 0; i < n; i++) to[i] = copy_buffer(k, from[i]);
  return to;
}

static Attrs copy_attrs(Copying *k, Attrs from) {
  Attr *to = tirc_new_array(k->to, Attr, from.n);
  for (int i = 0; i < from.n; i++)
    to[i] = (Attr){copy_text(k, from.at[i].key), copy_expr(k, from.at[i].value)};
  return (Attrs){to, from.n};
}

/* --- statements ------------------------------------------------------------------------------- */

static Stmt copy_stmt(Copying *k, Stmt s);

static const Range *copy_ranges(Copying *k, int n, const Range *from) {
  Range *to = tirc_new_array(k->to, Range, n);
  for (int i = 0; i < n; i++)
    to[i] = tirc_range(copy_expr(k, from[i].min), copy_expr(k, from[i].extent));
  return to;
}

static Region copy_region(Copying *k, Region r) {
  return (Region){copy_buffer(k, r.buffer), copy_ranges(k, r.buffer->ndim, r.dims)};
}

static const Region *copy_regions(Copying *k, int n, const Region *from) {
  Region *to = tirc_new_array(k->to, Region, n);
  for (int i = 0; i < n; i++) to[i] = copy_region(k, from[i]);
  return to;
}

static const IterVar *copy_iters(Copying *k, int n, const IterVar *from) {
  IterVar *to = tirc_new_array(k->to, IterVar, n);
  for (int i = 0; i < n; i++)
    to[i] = (IterVar){copy_expr(k, from[i].var),
                      tirc_range(copy_expr(k, from[i].dom.min), copy_expr(k, from[i].dom.extent)),
                      from[i].kind};
  return to;
}

static const MatchBuffer *copy_matches(Copying *k, int n, const MatchBuffer *from) {
  MatchBuffer *to = tirc_new_array(k->to, MatchBuffer, n);
  for (int i = 0; i < n; i++)
    to[i] = (MatchBuffer){copy_buffer(k, from[i].buffer), copy_region(k, from[i].source)};
  return to;
}

static void copy_block(Copying *k, Block *b) {
  if (b->id >= k->to->next_block_id) k->to->next_block_id = b->id + 1;
  b->name = copy_text(k, b->name);
  b->iters = copy_iters(k, b->n_iters, b->iters);
  b->iter_values = copy_exprs(k, b->n_iters, b->iter_values);
  b->predicate = copy_expr(k, b->predicate);
  b->reads = copy_regions(k, b->n_reads, b->reads);
  b->writes = copy_regions(k, b->n_writes, b->writes);
  b->allocs = b->measured = copy_buffers(k, b->n_allocs, b->allocs);
  b->matches = copy_matches(k, b->n_matches, b->matches);
  b->annotations = copy_attrs(k, b->annotations);
  b->init = copy_stmt(k, b->init);
  b->body = copy_stmt(k, b->body);
}

static void copy_seq(Copying *k, Stmt s, struct StmtNode *to) {
  const int n = s->u.seq.n_parts;
  SeqPart *parts = tirc_new_array(k->to, SeqPart, n);
  for (int i = 0; i < n; i++) {
    const SeqPart *part = &s->u.seq.parts[i];
    const int many = tirc_part_end(s, part) - part->first;
    Stmt *at = tirc_new_array(k->to, Stmt, many);
    for (int m = 0; m < many; m++) at[m] = copy_stmt(k, part->at[m]);
    parts[i] = (SeqPart){part->first, at};
  }
  to->u.seq.parts = parts;
}

static Stmt copy_stmt(Copying *k, Stmt s) {
  Stmt is = s ? copy_of(k, s) : NULL;
  if (!s || is) return is;
  struct StmtNode *to = tirc_copy(k->to, s, 1);
  keep(k, s, to);
  to->loc.file = copy_text(k, s->loc.file);
  switch (s->kind) {
  case STMT_FOR:
    to->u.loop.var = copy_expr(k, s->u.loop.var);
    to->u.loop.min = copy_expr(k, s->u.loop.min);
    to->u.loop.extent = copy_expr(k, s->u.loop.extent);
    to->u.loop.thread = copy_text(k, s->u.loop.thread);
    to->u.loop.annotations = copy_attrs(k, s->u.loop.annotations);
    to->u.loop.body = copy_stmt(k, s->u.loop.body);
    break;
  case STMT_BLOCK: copy_block(k, &to->u.block); break;
  case STMT_SEQ: copy_seq(k, s, to); break;
  case STMT_STORE:
    to->u.store.buffer = copy_buffer(k, s->u.store.buffer);
    to->u.store.indices = copy_exprs(k, s->u.store.n, s->u.store.indices);
    to->u.store.value = copy_expr(k, s->u.store.value);
    break;
  case STMT_EVAL: to->u.eval.value = copy_expr(k, s->u.eval.value); break;
  case STMT_IF:
    to->u.branch.cond = copy_expr(k, s->u.branch.cond);
    to->u.branch.then_case = copy_stmt(k, s->u.branch.then_case);
    to->u.branch.else_case = copy_stmt(k, s->u.branch.else_case);
    break;
  case STMT_WHILE:
    to->u.loop_while.cond = copy_expr(k, s->u.loop_while.cond);
    to->u.loop_while.body = copy_stmt(k, s->u.loop_while.body);
    break;
  case STMT_LET:
    to->u.let.var = copy_expr(k, s->u.let.var);
    to->u.let.value = copy_expr(k, s->u.let.value);
    to->u.let.body = copy_stmt(k, s->u.let.body);
    break;
  case STMT_ALLOC:
  case STMT_DECL:
    to->u.alloc.buffer = copy_buffer(k, s->u.alloc.buffer);
    to->u.alloc.annotations = copy_attrs(k, s->u.alloc.annotations);
    to->u.alloc.body = copy_stmt(k, s->u.alloc.body);
    break;
  case STMT_ATTR:
    to->u.attr.node = copy_expr(k, s->u.attr.node);
    to->u.attr.key = copy_text(k, s->u.attr.key);
    to->u.attr.value = copy_expr(k, s->u.attr.value);
    to->u.attr.body = copy_stmt(k, s->u.attr.body);
    break;
  case STMT_ASSERT:
    to->u.check.cond = copy_expr(k, s->u.check.cond);
    to->u.check.message = copy_text(k, s->u.check.message);
    to->u.check.body = copy_stmt(k, s->u.check.body);
    break;
  }
  return to;
}

/* --- functions -------------------------------------------------------------------------------- */

static const Relayout *copy_relayout(Copying *k, const Func *f, int i) {
  const Relayout *from = f->relayouts[i];
  if (!from) return NULL;
  Relayout *to = tirc_new(k->to, Relayout);
  *to = (Relayout){copy_buffer(k, from->before), copy_exprs(k, from->before->ndim, from->vars),
                   copy_exprs(k, f->buffers[i]->ndim, from->indices)};
  return to;
}

static const Func *copy_func(Copying *k, const Func *f) {
  const Func *is = copy_of(k, f);
  if (is) return is;
  Func *copy = tirc_copy(k->to, f, 1);
  copy->name = copy_text(k, f->name);
  copy->params = copy_exprs(k, f->n_params, f->params);
  copy->buffers = copy_buffers(k, f->n_params, f->buffers);
  copy->attrs = copy_attrs(k, f->attrs);
  copy->body = copy_stmt(k, f->body);
  copy->loc.file = copy_text(k, f->loc.file);
  if (f->relayouts) {
    const Relayout **all = tirc_new_array(k->to, const Relayout *, f->n_params);
    for (int i = 0; i < f->n_params; i++) all[i] = copy_relayout(k, f, i);
    copy->relayouts = all;
  }
  keep(k, f, copy);
  return copy;
}

const Func *tirc_func_copy(Tirc *to, Tirc *scratch, const Func *f, int n, const Expr *vars) {
  Copying k = {.to = to, .scratch = scratch};
  for (int i = 0; i < n; i++) keep(&k, vars[i], vars[i]);
  return copy_func(&k, f);
}

/* --- graphs ----------------------------------------------------------------------------------- */

static Info copy_info(Copying *k, Info info) {
  Info is = info ? copy_of(k, info) : NULL;
  if (!info || is) return is;
  struct StructInfo *to = tirc_copy(k->to, info, 1);
  Info *fields = tirc_new_array(k->to, Info, info->n);
  for (int i = 0; i < info->n; i++) fields[i] = copy_info(k, info->fields[i]);
  to->shape = copy_exprs(k, info->ndim, info->shape);
  to->value = copy_expr(k, info->value);
  to->fields = fields;
  keep(k, info, to);
  return to;
}

static const void *copy_data(Copying *k, Node n) {
  const int64_t bytes = n->data ? tirc_info_bytes(n->info) : -1;
  if (bytes < 0 || tirc_map_has(&k->kept, n->data)) return n->data;
  return memcpy(tirc_alloc(k->to, (size_t)bytes + 1), n->data, (size_t)bytes);
}

static Node copy_node(Copying *k, Node n);

static const Node *copy_nodes(Copying *k, int n, const Node *from) {
  Node *to = tirc_new_array(k->to, Node, n);
  for (int i = 0; i < n; i++) to[i] = copy_node(k, from[i]);
  return to;
}

static Node copy_node(Copying *k, Node n) {
  Node is = n ? copy_of(k, n) : NULL;
  if (!n || is) return is;
  struct Node *to = tirc_copy(k->to, n, 1);
  const char **keys = n->keys ? tirc_new_array(k->to, const char *, n->n) : NULL;
  for (int i = 0; keys && i < n->n; i++) keys[i] = copy_text(k, n->keys[i]);
  to->info = copy_info(k, n->info);
  to->name = copy_text(k, n->name);
  to->args = copy_nodes(k, n->n, n->args);
  to->keys = keys;
  to->value = copy_expr(k, n->value);
  to->data = copy_data(k, n);
  to->loc.file = copy_text(k, n->loc.file);
  keep(k, n, to);
  return to;
}

static GraphBlock copy_graph_block(Copying *k, const GraphBlock *b) {
  GraphBlock to = *b;
  Binding *at = tirc_new_array(k->to, Binding, b->n);
  for (int i = 0; i < b->n; i++) {
    at[i] = (Binding){copy_node(k, b->at[i].var), copy_node(k, b->at[i].value), b->at[i].loc};
    at[i].loc.file = copy_text(k, b->at[i].loc.file);
  }
  to.at = at;
  to.outputs = copy_nodes(k, b->n_outputs, b->outputs);
  return to;
}

static const Graph *copy_graph(Copying *k, const Graph *g) {
  Graph *to = tirc_copy(k->to, g, 1);
  GraphBlock *blocks = tirc_new_array(k->to, GraphBlock, g->n_blocks);
  to->name = copy_text(k, g->name);
  to->params = copy_nodes(k, g->n_params, g->params);
  for (int i = 0; i < g->n_blocks; i++) blocks[i] = copy_graph_block(k, &g->blocks[i]);
  to->blocks = blocks;
  to->result = copy_node(k, g->result);
  to->info = copy_info(k, g->info);
  to->attrs = copy_attrs(k, g->attrs);
  to->loc.file = copy_text(k, g->loc.file);
  return to;
}

/* --- modules ---------------------------------------------------------------------------------- */

static void keep_data(Copying *k, Node n) {
  if (n && n->kind == NODE_CONST && n->data) tirc_map_set(k->scratch, &k->kept, n->data, n);
  for (int i = 0; n && i < n->n; i++) keep_data(k, n->args[i]);
}

static void keep_constants(Copying *k, const Module *m) {
  for (int g = 0; m && g < m->n_graphs; g++) {
    const Graph *graph = m->graphs[g];
    for (int b = 0; b < graph->n_blocks; b++)
      for (int i = 0; i < graph->blocks[b].n; i++) keep_data(k, graph->blocks[b].at[i].value);
    keep_data(k, graph->result);
  }
}

static const Module *copy_module(Copying *k, const Module *m) {
  Module *to = tirc_copy(k->to, m, 1);
  const Func **funcs = tirc_new_array(k->to, const Func *, m->n_funcs);
  const Graph **graphs = tirc_new_array(k->to, const Graph *, m->n_graphs);
  Constant *constants = tirc_new_array(k->to, Constant, m->n_constants);
  for (int i = 0; i < m->n_funcs; i++) funcs[i] = copy_func(k, m->funcs[i]);
  for (int i = 0; i < m->n_graphs; i++) graphs[i] = copy_graph(k, m->graphs[i]);
  for (int i = 0; i < m->n_constants; i++)
    constants[i] = (Constant){copy_text(k, m->constants[i].name),
                              copy_expr(k, m->constants[i].value), m->constants[i].given};
  to->c = k->to;
  to->file = copy_text(k, m->file);
  to->name = copy_text(k, m->name);
  to->funcs = funcs;
  to->graphs = graphs;
  to->constants = constants;
  to->attrs = copy_attrs(k, m->attrs);
  return to;
}

void tirc_modules_copy(Tirc *to, Tirc *scratch, const Module *kept, int n, const Module **modules) {
  Copying k = {.to = to, .scratch = scratch};
  keep_constants(&k, kept);
  for (int i = 0; i < n; i++) modules[i] = modules[i] ? copy_module(&k, modules[i]) : NULL;
}

static bool raise_next_id(Visitor *v, Stmt s) {
  Tirc *c = v->self;
  if (s->kind == STMT_BLOCK && s->u.block.id >= c->next_block_id)
    c->next_block_id = s->u.block.id + 1;
  return true;
}

void tirc_reserve_block_ids(Tirc *c, const Module *m) {
  if (!c->next_block_id) c->next_block_id = 1;
  tirc_visit_module(&(Visitor){.stmt = raise_next_id, .expr = tirc_skip_expr, .self = c}, m);
}
