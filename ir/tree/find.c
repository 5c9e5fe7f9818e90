#include "find.h"

typedef struct Find {
  ExprTest *is;
  const void *self;
  Expr found;
} Find;

static bool see_expr(Visitor *v, Expr e) {
  Find *f = v->self;
  if (!f->found && f->is(f->self, e)) f->found = e;
  return !f->found;
}

Expr tirc_find_expr(Expr in, ExprTest *is, const void *self) {
  Find f = {is, self, NULL};
  tirc_visit_expr(&(Visitor){.expr = see_expr, .self = &f}, in);
  return f.found;
}

Expr tirc_find_expr_in(Stmt in, ExprTest *is, const void *self) {
  Find f = {is, self, NULL};
  tirc_visit_stmt(&(Visitor){.expr = see_expr, .self = &f}, in);
  return f.found;
}

typedef struct FindStmt {
  StmtTest *is;
  const void *self;
  Stmt found;
} FindStmt;

static bool see_tested(Visitor *v, Stmt s) {
  FindStmt *f = v->self;
  if (!f->found && f->is(f->self, s)) f->found = s;
  return !f->found;
}

Stmt tirc_find_stmt(Stmt in, StmtTest *is, const void *self, const Paths *only) {
  FindStmt f = {is, self, NULL};
  tirc_visit_stmt(&(Visitor){.stmt = see_tested, .expr = tirc_skip_expr, .self = &f, .only = only},
                  in);
  return f.found;
}

static bool is_store(const void *unused, Stmt s) { return (void)unused, s->kind == STMT_STORE; }

bool tirc_has_stores(const Module *m) {
  for (int i = 0; i < m->n_funcs; i++)
    if (tirc_find_stmt(m->funcs[i]->body, is_store, NULL, NULL)) return true;
  return false;
}

bool tirc_is_block_stmt(const void *unused, Stmt s) { return (void)unused, s->kind == STMT_BLOCK; }

bool tirc_same_exprs(int n, const Expr *a, const Expr *b) {
  int i = 0;
  while (i < n && tirc_expr_same(a[i], b[i])) i++;
  return i == n;
}

bool tirc_any_uses(int n, const Expr *at, Expr var) {
  int i = 0;
  while (i < n && !tirc_uses_var(at[i], var)) i++;
  return i < n;
}

static bool is_one_of(const void *vars, Expr e) { return e->op == OP_VAR && tirc_map_has(vars, e); }

bool tirc_stmt_uses_any(Stmt s, const PtrMap *vars) {
  return tirc_find_expr_in(s, is_one_of, vars);
}

static bool is_that(const void *what, Stmt s) { return s == what; }

bool tirc_holds(Stmt s, Stmt what, const Paths *only) {
  return tirc_find_stmt(s, is_that, what, only);
}

bool tirc_divides(Expr e) {
  return e->op == OP_FLOORDIV || e->op == OP_FLOORMOD || e->op == OP_TRUNCDIV ||
         e->op == OP_TRUNCMOD;
}

static bool is_memory(const void *unused, Expr e) {
  return (void)unused, e->op == OP_LOAD || e->dtype.code == TYPE_HANDLE;
}

bool tirc_reads_memory(Expr e) {
  return (e->n || e->op == OP_LOAD) && tirc_find_expr(e, is_memory, NULL);
}

Expr tirc_addressed(Expr e) {
  const bool takes = tirc_calls(e, CALL_ADDRESS_OF) && e->n;
  return takes && e->args[0]->op == OP_LOAD ? e->args[0] : NULL;
}

bool tirc_is_opaque_call(const void *unused, Expr e) {
  (void)unused;
  return e->op == OP_CALL && !tirc_calls(e, CALL_PURE_EXTERN) && !tirc_calls(e, CALL_PURE_INTRIN) &&
         !tirc_calls(e, CALL_LLVM_PURE_INTRIN);
}

static bool is_load_or_call(const void *unused, Expr e) {
  return (void)unused, e->op == OP_LOAD || e->op == OP_CALL;
}

bool tirc_loads_or_calls(Expr e) { return tirc_find_expr(e, is_load_or_call, NULL); }

/* --- of blocks -------------------------------------------------------------------------------- */

unsigned tirc_kinds_moved(const Block *b, Expr loop_var) {
  unsigned kinds = 0;
  for (int i = 0; i < b->n_iters; i++)
    if (tirc_uses_var(b->iter_values[i], loop_var)) kinds |= 1u << b->iters[i].kind;
  return kinds;
}

unsigned tirc_iter_kinds(int n, const IterVar *iters) {
  unsigned kinds = 0;
  for (int i = 0; i < n; i++) kinds |= 1u << iters[i].kind;
  return kinds;
}

int tirc_iter_index(const Block *b, Expr var) {
  int i = b->n_iters - 1;
  while (i >= 0 && b->iters[i].var != var) i--;
  return i;
}

/* --- uses of a buffer ------------------------------------------------------------------------- */

bool tirc_is_load_of(const void *buffer, Expr e) {
  return e->op == OP_LOAD && e->u.buffer == buffer;
}

bool tirc_shapes_load(Stmt s, Buffer b) {
  bool found = false;
  const bool block = s->kind == STMT_BLOCK;
  const int n = block ? s->u.block.n_allocs : s->kind == STMT_ALLOC || s->kind == STMT_DECL;
  for (int i = 0; i < n && block; i++)
    if (s->u.block.allocs[i] == b) return false; /* made at once: it holds nothing yet */
  for (int i = 0; i < n; i++) {
    const Buffer made = block ? s->u.block.allocs[i] : s->u.alloc.buffer;
    for (int d = 0; d < made->ndim && !found; d++)
      found = made->shape[d]->op != OP_INT && tirc_find_expr(made->shape[d], tirc_is_load_of, b);
  }
  return found;
}

typedef struct Uses {
  Buffer of;
  Stmt besides;
  unsigned found;
} Uses;

static unsigned access_of(const Uses *u, Buffer b, unsigned use) {
  return b == u->of ? use : b->data == u->of->data ? USE_OTHER : 0;
}

static bool see_use(Visitor *v, Expr e) {
  Uses *u = v->self;
  if (e == u->of->data) u->found |= USE_POINTER;
  if (e->op == OP_LOAD) u->found |= access_of(u, e->u.buffer, USE_LOAD);
  return true;
}

static bool see_use_in(Visitor *v, Stmt s) {
  Uses *u = v->self;
  if (s == u->besides) return false;
  if (s->kind == STMT_STORE) u->found |= access_of(u, s->u.store.buffer, USE_STORE);
  if ((s->kind == STMT_DECL || s->kind == STMT_ALLOC) && s->u.alloc.buffer->data == u->of->data)
    u->found |= USE_OTHER_MADE;
  if (tirc_shapes_load(s, u->of)) u->found |= USE_SHAPE;
  for (int i = 0; s->kind == STMT_BLOCK && i < s->u.block.n_matches; i++)
    if (s->u.block.matches[i].source.buffer->data == u->of->data)
      u->found |= s->u.block.matches[i].source.buffer == u->of ? USE_VIEW : USE_OTHER_VIEW;
  return true;
}

unsigned tirc_uses_of(Stmt s, Buffer b, Stmt besides, const Paths *only) {
  Uses u = {b, besides, 0};
  tirc_visit_stmt(&(Visitor){.expr = see_use, .stmt = see_use_in, .self = &u, .only = only}, s);
  return u.found;
}

bool tirc_keeps_nan(Expr e) {
  return e->op == OP_SELECT && e->args[0]->op == OP_ISNAN &&
         tirc_expr_same(e->args[0]->args[0], e->args[1]);
}
