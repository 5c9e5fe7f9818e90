/* Substitution of variables and buffers, fresh copies, and questions about which variables occur.
 */
#include "visit.h"

static Expr replace_var(Mutator *m, Expr e) {
  const PtrMap *map = m->self;
  if (e->op == OP_VAR) {
    Expr to = tirc_map_get(map, e);
    return to ? to : e;
  }
  if (e->n == 0 && e->op != OP_LOAD) return e;
  Expr to = tirc_mutate_expr_children(m, e);
  if (to == e) return e;
  Expr folded = NULL;
  /* What TVM's operators would have folded while building it. */
  if (to->op >= OP_ADD && to->op <= OP_OR && to->dtype.lanes == 1)
    folded = tirc_fold(m->c, (Op)to->op, to->dtype, to->n, to->args);
  return folded ? folded : to;
}

Expr tirc_substitute(Tirc *c, Expr e, const PtrMap *map) {
  Mutator m = {.c = c, .expr = replace_var, .self = (void *)(uintptr_t)map};
  return tirc_mutate_expr(&m, e);
}

static Expr replace_typed(Mutator *m, Expr e) {
  Expr to = e->op == OP_VAR ? tirc_map_get(m->self, e) : NULL;
  if (to) return to;
  if (e->n == 2 && tirc_ops[e->op].class == OPCLASS_BINARY) {
    Expr x = replace_typed(m, e->args[0]), y = replace_typed(m, e->args[1]);
    return x == e->args[0] && y == e->args[1] ? e : tirc_binary(m->c, (Op)e->op, x, y);
  }
  return tirc_mutate_expr_children(m, e);
}

Expr tirc_substitute_typed(Tirc *c, Expr e, const PtrMap *map) {
  Mutator m = {.c = c, .expr = replace_typed, .self = (void *)(uintptr_t)map};
  return replace_typed(&m, e);
}

static const Expr *replaced(Mutator *m, int n, const Expr *from) {
  Expr *to = from ? tirc_new_array(m->c, Expr, n + 1) : NULL;
  for (int i = 0; from && i < n; i++) to[i] = tirc_mutate_expr(m, from[i]);
  return to;
}

static void replace_shape(Mutator *m, Buffer b, const PtrMap *map, PtrMap *buffers) {
  bool uses = b->elem_offset && tirc_uses_any(b->elem_offset, map);
  for (int d = 0; d < b->ndim; d++)
    uses = uses || tirc_uses_any(b->shape[d], map) ||
           (b->strides && tirc_uses_any(b->strides[d], map));
  if (!uses) return;
  struct BufferNode to = *b;
  to.shape = replaced(m, b->ndim, b->shape);
  to.strides = replaced(m, b->ndim, b->strides);
  if (b->elem_offset) to.elem_offset = tirc_mutate_expr(m, b->elem_offset);
  tirc_map_set(m->c, buffers, b, tirc_buffer_copy(m->c, &to));
}

Stmt tirc_mutate_shapes(Mutator *m, Stmt s, const PtrMap *vars) {
  PtrMap buffers = {0};
  if (s->kind == STMT_ALLOC || s->kind == STMT_DECL)
    replace_shape(m, s->u.alloc.buffer, vars, &buffers);
  for (int i = 0; s->kind == STMT_BLOCK && i < s->u.block.n_allocs; i++)
    replace_shape(m, s->u.block.allocs[i], vars, &buffers);
  for (int i = 0; s->kind == STMT_BLOCK && i < s->u.block.n_matches; i++)
    replace_shape(m, s->u.block.matches[i].buffer, vars, &buffers);
  return buffers.cap ? tirc_substitute_buffers(m->c, s, &buffers) : s;
}

static Stmt replace_in_stmt(Mutator *m, Stmt s) {
  return tirc_mutate_shapes(m, tirc_mutate_stmt_children(m, s), m->self);
}

Stmt tirc_substitute_stmt(Tirc *c, Stmt s, const PtrMap *map) {
  Mutator m = {
      .c = c, .expr = replace_var, .stmt = replace_in_stmt, .self = (void *)(uintptr_t)map};
  return tirc_mutate_stmt(&m, s);
}

Expr tirc_substitute1(Tirc *c, Expr e, Expr var, Expr value) {
  PtrMap map = {0};
  tirc_map_set(c, &map, var, value);
  return tirc_substitute(c, e, &map);
}

Stmt tirc_substitute1_stmt(Tirc *c, Stmt s, Expr var, Expr value) {
  PtrMap map = {0};
  tirc_map_set(c, &map, var, value);
  return tirc_substitute_stmt(c, s, &map);
}

/* A scope may allocate thousands of buffers; a bit for each key spares most of them the look-up. */
typedef struct Exchange {
  const PtrMap *buffers;
  PtrMap data;
  uint64_t bits;
} Exchange;

static uint64_t bit_of(Buffer b) {
  return (uint64_t)1 << ((uint64_t)(uintptr_t)b * UINT64_C(0x9E3779B97F4A7C15) >> 58);
}

static Buffer replace_buffer(Mutator *m, Buffer b) {
  const Exchange *x = m->self;
  Buffer to = x->bits & bit_of(b) ? tirc_map_get(x->buffers, b) : NULL;
  return to ? to : b;
}

static Expr replace_data(Mutator *m, Expr e) {
  if (e->op == OP_VAR) {
    Expr to = tirc_map_get(&((Exchange *)m->self)->data, e);
    return to ? to : e;
  }
  return tirc_mutate_expr_children(m, e);
}

Stmt tirc_substitute_buffers(Tirc *c, Stmt s, const PtrMap *map) {
  return tirc_substitute_buffers_in(c, s, map, NULL);
}

Stmt tirc_substitute_buffers_in(Tirc *c, Stmt s, const PtrMap *map, const Paths *only) {
  Exchange x = {.buffers = map};
  for (size_t i = 0; i < map->cap; i++) {
    if (!map->keys[i] || !map->values[i]) continue;
    Buffer from = map->keys[i], to = map->values[i];
    tirc_map_set(c, &x.data, from->data, to->data);
    x.bits |= bit_of(from);
  }
  Mutator m = {.c = c, .expr = replace_data, .buffer = replace_buffer, .self = &x, .only = only};
  return tirc_mutate_stmt(&m, s);
}

/* --- occurrence ------------------------------------------------------------------------------- */

typedef struct Search {
  const PtrMap *vars;
  Expr var;
  bool found;
} Search;

static bool look(Visitor *v, Expr e) {
  Search *s = v->self;
  if (e->op == OP_VAR && (e == s->var || (s->vars && tirc_map_has(s->vars, e)))) s->found = true;
  return !s->found;
}

static bool look_stmt(Visitor *v, Stmt stmt) {
  (void)stmt;
  return !((Search *)v->self)->found;
}

bool tirc_uses_var(Expr e, Expr var) {
  Search s = {.var = var};
  tirc_visit_expr(&(Visitor){.expr = look, .self = &s}, e);
  return s.found;
}

bool tirc_uses_any(Expr e, const PtrMap *vars) {
  Search s = {.vars = vars};
  tirc_visit_expr(&(Visitor){.expr = look, .self = &s}, e);
  return s.found;
}

bool tirc_stmt_uses_var(Stmt stmt, Expr var) {
  Search s = {.var = var};
  tirc_visit_stmt(&(Visitor){.expr = look, .stmt = look_stmt, .regions = true, .self = &s}, stmt);
  return s.found;
}

/* --- fresh copies ----------------------------------------------------------------------------- */

static Expr rename_var(Tirc *c, PtrMap *map, Expr var) {
  Expr fresh = tirc_var(c, var->u.s, var->dtype);
  tirc_map_set(c, map, var, fresh);
  return fresh;
}

static Buffer rename_buffer(Mutator *m, Buffer b) {
  Buffer to = tirc_map_get(m->self, b);
  return to ? to : b;
}

static void rename_allocated(Mutator *m, Buffer b) {
  struct BufferNode to = *b;
  to.shape = replaced(m, b->ndim, b->shape);
  to.strides = replaced(m, b->ndim, b->strides);
  to.data = rename_var(m->c, m->self, b->data);
  tirc_map_set(m->c, m->self, b, tirc_buffer_copy(m->c, &to));
}

/* Another name for memory: for that of the copy, where this is renamed. */
static void rename_declared(Mutator *m, Buffer b) {
  const Expr data = tirc_map_get(m->self, b->data);
  struct BufferNode to = *b;
  to.shape = replaced(m, b->ndim, b->shape);
  to.strides = replaced(m, b->ndim, b->strides);
  if (b->elem_offset) to.elem_offset = tirc_mutate_expr(m, b->elem_offset);
  if (data) to.data = data;
  tirc_map_set(m->c, m->self, b, tirc_buffer_copy(m->c, &to));
}

/* A view's strides and offset are variables that it defines. */
static Expr rename_field(Mutator *m, Expr e) {
  if (!e || e->op != OP_VAR) return e ? tirc_mutate_expr(m, e) : NULL;
  Expr to = tirc_map_get(m->self, e);
  return to ? to : rename_var(m->c, m->self, e);
}

static void rename_view(Mutator *m, Buffer b) {
  struct BufferNode to = *b;
  to.shape = replaced(m, b->ndim, b->shape);
  Expr *strides = b->strides ? tirc_new_array(m->c, Expr, b->ndim + 1) : NULL;
  for (int i = 0; strides && i < b->ndim; i++) strides[i] = rename_field(m, b->strides[i]);
  to.strides = strides;
  to.elem_offset = rename_field(m, b->elem_offset);
  to.data = rename_var(m->c, m->self, b->data);
  tirc_map_set(m->c, m->self, b, tirc_buffer_copy(m->c, &to));
}

/* Definitions are renamed on the way down, so that the uses below find the new names. */
static Stmt rename_stmt(Mutator *m, Stmt s) {
  Tirc *c = m->c;
  struct StmtNode to = *s;
  switch (s->kind) {
  case STMT_FOR: to.u.loop.var = rename_var(c, m->self, s->u.loop.var); break;
  case STMT_LET: to.u.let.var = rename_var(c, m->self, s->u.let.var); break;
  case STMT_ALLOC: rename_allocated(m, s->u.alloc.buffer); break;
  case STMT_DECL: rename_declared(m, s->u.alloc.buffer); break;
  case STMT_BLOCK: {
    Block *b = &to.u.block;
    IterVar *iters = tirc_new_array(c, IterVar, b->n_iters);
    for (int i = 0; i < b->n_iters; i++) {
      iters[i] = b->iters[i];
      iters[i].var = rename_var(c, m->self, iters[i].var);
    }
    b->iters = iters;
    b->id = c->next_block_id++;
    for (int i = 0; i < b->n_allocs; i++) rename_allocated(m, b->allocs[i]);
    for (int i = 0; i < b->n_matches; i++) rename_view(m, b->matches[i].buffer);
    break;
  }
  default: return tirc_mutate_stmt_children(m, s);
  }
  struct StmtNode *kept = tirc_new(c, struct StmtNode);
  *kept = to;
  return tirc_mutate_stmt_children(m, kept);
}

Stmt tirc_clone_fresh(Tirc *c, Stmt s) {
  PtrMap map = {0};
  Mutator m = {
      .c = c, .expr = replace_var, .stmt = rename_stmt, .buffer = rename_buffer, .self = &map};
  return tirc_mutate_stmt(&m, s);
}

bool tirc_expr_same(Expr a, Expr b) {
  if (a == b) return true;
  if (a->op != b->op || a->n != b->n || !tirc_dtype_equal(a->dtype, b->dtype)) return false;
  switch (a->op) {
  case OP_VAR: return false;
  case OP_INT:
  case OP_LARGE_UINT:
    if (a->u.i != b->u.i) return false;
    break;
  case OP_FLOAT:
    if (memcmp(&a->u.f, &b->u.f, sizeof a->u.f) != 0) return false;
    break;
  case OP_STRING:
    if (strcmp(a->u.s, b->u.s) != 0) return false;
    break;
  case OP_CALL:
    if (a->u.callee != b->u.callee) return false;
    break;
  case OP_LOAD:
    if (a->u.buffer != b->u.buffer) return false;
    break;
  default: break;
  }
  for (int i = 0; i < a->n; i++)
    if (!tirc_expr_same(a->args[i], b->args[i])) return false;
  return true;
}

void tirc_bindings_of(Tirc *c, Stmt block, PtrMap *out) {
  const Block *b = &block->u.block;
  for (int i = 0; i < b->n_iters; i++)
    tirc_map_set(c, out, b->iters[i].var, tirc_cast(c, b->iters[i].var->dtype, b->iter_values[i]));
}

void tirc_vars_at(Tirc *c, int n, const Expr *indices, const Expr *at, PtrMap *out) {
  for (int i = 0; i < n; i++)
    if (indices[i]->op == OP_VAR && !tirc_map_has(out, indices[i]))
      tirc_map_set(c, out, indices[i], tirc_cast(c, indices[i]->dtype, at[i]));
}
