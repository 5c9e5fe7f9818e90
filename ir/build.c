/* Constructors of all nodes. They copy the arrays that they are given, so callers build them on the
 * stack; they check nothing but what would make a node meaningless. */
#include "ir.h"

const OpInfo tirc_ops[OP_COUNT] = {
#define OP(id, name, arity, class, precedence, c_form)                                             \
  {name, arity, OPCLASS_##class, precedence, c_form},
#include "ops.def"
#undef OP
};

static void *copy(Tirc *c, const void *from, int n, size_t size) {
  if (n <= 0) return NULL;
  void *to = tirc_alloc_array(c, (size_t)n, size);
  return memcpy(to, from, (size_t)n * size);
}
#define COPY(c, from, n) copy((c), (from), (n), sizeof *(from))

static struct ExprNode *node(Tirc *c, Op op, DType t, int n, const Expr *args) {
  struct ExprNode *e = tirc_alloc(c, sizeof *e + (size_t)n * sizeof(Expr));
  e->op = (uint8_t)op;
  e->dtype = t;
  e->n = n;
  if (n) memcpy(e->args, args, (size_t)n * sizeof(Expr));
  return e;
}

Expr tirc_expr(Tirc *c, Op op, DType t, int n, const Expr *args) { return node(c, op, t, n, args); }

Expr tirc_var(Tirc *c, const char *name, DType t) {
  struct ExprNode *e = node(c, OP_VAR, t, 0, NULL);
  e->u.s = name;
  return e;
}

Expr tirc_int(Tirc *c, DType t, int64_t v) {
  struct ExprNode *e = node(c, OP_INT, t, 0, NULL);
  e->u.i = v;
  return e;
}

Expr tirc_int32(Tirc *c, int64_t v) { return tirc_int(c, DT_INT32, v); }
Expr tirc_bool(Tirc *c, bool v) { return tirc_int(c, DT_BOOL, v); }

Expr tirc_float(Tirc *c, DType t, double v) {
  struct ExprNode *e = node(c, OP_FLOAT, t, 0, NULL);
  e->u.f = v;
  return e;
}

Expr tirc_string(Tirc *c, const char *s) {
  struct ExprNode *e = node(c, OP_STRING, DT_HANDLE, 0, NULL);
  e->u.s = s;
  return e;
}

Expr tirc_load(Tirc *c, Buffer b, int n, const Expr *indices) {
  DType t = b->dtype;
  for (int i = 0; i < n; i++)
    if (indices[i]->dtype.lanes > 1) t = tirc_dtype_lanes(t, t.lanes * indices[i]->dtype.lanes);
  struct ExprNode *e = node(c, OP_LOAD, t, n, indices);
  e->u.buffer = b;
  return e;
}

Expr tirc_call(Tirc *c, DType t, const char *name, int n, const Expr *args) {
  struct ExprNode *e = node(c, OP_CALL, t, n, args);
  e->u.s = name;
  return e;
}

Expr tirc_ramp(Tirc *c, Expr base, Expr stride, int lanes) {
  return node(c, OP_RAMP, tirc_dtype_lanes(base->dtype, lanes), 2, (Expr[]){base, stride});
}

Expr tirc_broadcast(Tirc *c, Expr value, int lanes) {
  return node(c, OP_BROADCAST, tirc_dtype_lanes(value->dtype, lanes), 1, &value);
}

bool tirc_const_int(Expr e, int64_t *out) {
  if (e->op != OP_INT) return false;
  *out = e->u.i;
  return true;
}

bool tirc_is_int(Expr e, int64_t v) { return e && e->op == OP_INT && e->u.i == v; }

/* --- statements ----------------------------------------------------------------------------------
 */

static struct StmtNode *stmt(Tirc *c, StmtKind kind) {
  struct StmtNode *s = tirc_new(c, struct StmtNode);
  s->kind = kind;
  return s;
}

static Attrs copy_attrs(Tirc *c, Attrs a) { return (Attrs){COPY(c, a.at, a.n), a.n}; }

Stmt tirc_for(Tirc *c, const For *loop) {
  struct StmtNode *s = stmt(c, STMT_FOR);
  s->u.loop = *loop;
  s->u.loop.annotations = copy_attrs(c, loop->annotations);
  return s;
}

Stmt tirc_for_serial(Tirc *c, Expr var, Expr extent, Stmt body) {
  return tirc_for(c, &(For){.var = var,
                            .min = tirc_int(c, var->dtype, 0),
                            .extent = extent,
                            .kind = LOOP_SERIAL,
                            .body = body});
}

static const Region *copy_regions(Tirc *c, const Region *from, int n) {
  Region *to = COPY(c, from, n);
  for (int i = 0; i < n; i++) to[i].dims = COPY(c, from[i].dims, from[i].buffer->ndim);
  return to;
}

Stmt tirc_block(Tirc *c, const Block *b) {
  struct StmtNode *s = stmt(c, STMT_BLOCK);
  Block *to = &s->u.block;
  *to = *b;
  if (!to->id) to->id = c->next_block_id++;
  to->iters = COPY(c, b->iters, b->n_iters);
  to->iter_values = COPY(c, b->iter_values, b->n_iters);
  to->reads = copy_regions(c, b->reads, b->n_reads);
  to->writes = copy_regions(c, b->writes, b->n_writes);
  to->allocs = COPY(c, b->allocs, b->n_allocs);
  to->matches = COPY(c, b->matches, b->n_matches);
  to->annotations = copy_attrs(c, b->annotations);
  if (!to->predicate) to->predicate = tirc_bool(c, true);
  return s;
}

Stmt tirc_seq(Tirc *c, int n, const Stmt *at) {
  int total = 0;
  for (int i = 0; i < n; i++) total += at[i]->kind == STMT_SEQ ? at[i]->u.seq.n : 1;
  Stmt *flat = tirc_new_array(c, Stmt, total);
  for (int i = 0, k = 0; i < n; i++) {
    if (at[i]->kind != STMT_SEQ)
      flat[k++] = at[i];
    else
      for (int j = 0; j < at[i]->u.seq.n; j++) flat[k++] = at[i]->u.seq.at[j];
  }
  if (total == 1) return flat[0];
  struct StmtNode *s = stmt(c, STMT_SEQ);
  s->u.seq.n = total;
  s->u.seq.at = flat;
  return s;
}

Stmt tirc_store(Tirc *c, Buffer b, int n, const Expr *indices, Expr value) {
  struct StmtNode *s = stmt(c, STMT_STORE);
  s->u.store.buffer = b;
  s->u.store.n = n;
  s->u.store.indices = COPY(c, indices, n);
  s->u.store.value = value;
  return s;
}

Stmt tirc_eval(Tirc *c, Expr value) {
  struct StmtNode *s = stmt(c, STMT_EVAL);
  s->u.eval.value = value;
  return s;
}

Stmt tirc_if(Tirc *c, Expr cond, Stmt then_case, Stmt else_case) {
  struct StmtNode *s = stmt(c, STMT_IF);
  s->u.branch.cond = cond;
  s->u.branch.then_case = then_case;
  s->u.branch.else_case = else_case;
  return s;
}

Stmt tirc_while(Tirc *c, Expr cond, Stmt body) {
  struct StmtNode *s = stmt(c, STMT_WHILE);
  s->u.loop_while.cond = cond;
  s->u.loop_while.body = body;
  return s;
}

Stmt tirc_let(Tirc *c, Expr var, Expr value, Stmt body) {
  struct StmtNode *s = stmt(c, STMT_LET);
  s->u.let.var = var;
  s->u.let.value = value;
  s->u.let.body = body;
  return s;
}

Stmt tirc_alloc_stmt(Tirc *c, StmtKind kind, Buffer b, Attrs annotations, Stmt body) {
  struct StmtNode *s = stmt(c, kind);
  s->u.alloc.buffer = b;
  s->u.alloc.annotations = copy_attrs(c, annotations);
  s->u.alloc.body = body;
  return s;
}

Stmt tirc_attr_stmt(Tirc *c, Expr target, const char *key, Expr value, Stmt body) {
  struct StmtNode *s = stmt(c, STMT_ATTR);
  s->u.attr.node = target;
  s->u.attr.key = key;
  s->u.attr.value = value;
  s->u.attr.body = body;
  return s;
}

Stmt tirc_assert_stmt(Tirc *c, Expr cond, const char *message, Stmt body) {
  struct StmtNode *s = stmt(c, STMT_ASSERT);
  s->u.check.cond = cond;
  s->u.check.message = message;
  s->u.check.body = body;
  return s;
}

Stmt tirc_with_loc(Tirc *c, Stmt s, Loc loc) {
  struct StmtNode *placed = tirc_new(c, struct StmtNode);
  *placed = *s;
  placed->loc = loc;
  return placed;
}

/* --- buffers, attributes, modules
 * ------------------------------------------------------------------ */

Buffer tirc_buffer(Tirc *c, const char *name, DType t, int ndim, const Expr *shape,
                   const char *scope) {
  return tirc_buffer_copy(c, &(struct BufferNode){.name = name,
                                                  .data = tirc_var(c, name, DT_HANDLE),
                                                  .dtype = t,
                                                  .ndim = ndim,
                                                  .shape = shape,
                                                  .scope = scope,
                                                  .align = 64,
                                                  .offset_factor = 0});
}

Buffer tirc_buffer_copy(Tirc *c, const struct BufferNode *b) {
  struct BufferNode *to = tirc_new(c, struct BufferNode);
  *to = *b;
  to->shape = COPY(c, b->shape, b->ndim);
  to->strides = b->strides ? COPY(c, b->strides, b->ndim) : NULL;
  to->axis_separators = COPY(c, b->axis_separators, b->n_axis_separators);
  return to;
}

Expr tirc_attrs_get(Attrs a, const char *key) {
  for (int i = 0; i < a.n; i++)
    if (strcmp(a.at[i].key, key) == 0) return a.at[i].value;
  return NULL;
}

Attrs tirc_attrs_set(Tirc *c, Attrs a, const char *key, Expr value) {
  Attr *at = tirc_new_array(c, Attr, a.n + 1);
  if (a.n) memcpy(at, a.at, (size_t)a.n * sizeof *at);
  int i = 0;
  while (i < a.n && strcmp(at[i].key, key) != 0) i++;
  at[i] = (Attr){key, value};
  return (Attrs){at, i == a.n ? a.n + 1 : a.n};
}

Attrs tirc_attrs_remove(Tirc *c, Attrs a, const char *key) {
  Attr *at = tirc_new_array(c, Attr, a.n);
  int n = 0;
  for (int i = 0; i < a.n; i++)
    if (strcmp(a.at[i].key, key) != 0) at[n++] = a.at[i];
  return (Attrs){at, n};
}

const Func *tirc_func_with_body(Tirc *c, const Func *f, Stmt body) {
  Func *to = tirc_new(c, Func);
  *to = *f;
  to->body = body;
  return to;
}

const Module *tirc_module_with_func(Tirc *c, const Module *m, int i, const Func *f) {
  tirc_context_depend(c, m->c);
  Module *to = tirc_new(c, Module);
  *to = *m;
  to->c = c;
  const Func **funcs = tirc_new_array(c, const Func *, m->n_funcs);
  memcpy(funcs, m->funcs, (size_t)m->n_funcs * sizeof *funcs);
  funcs[i] = f;
  to->funcs = funcs;
  return to;
}

const Func *tirc_module_main(const Module *m) {
  for (int i = 0; i < m->n_funcs; i++)
    if (strcmp(m->funcs[i]->name, "main") == 0) return m->funcs[i];
  return m->n_funcs == 1 ? m->funcs[0] : NULL;
}
