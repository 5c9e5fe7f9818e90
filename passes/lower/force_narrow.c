/* Loops, iterators, sizes and indices of 64 bits have 32, whether they fit or not, for targets on
 * which nothing else runs. What is computed with elements keeps its type:
 *
 *   def f(A: T.Buffer((T.int64(4),)), n: T.int64)      def f(A: T.Buffer((4,)), n: T.int32)
 *     for i in range(T.int64(4)):                  ->    for i in range(4):
 *       A[i + n] = T.Cast("float32", i)                    A[i + n] = T.Cast("float32", i) */
#include "internal.h"

typedef struct Force {
  Tirc *c;
  Loc loc;              /* of the statement that is looked at */
  PtrMap vars, buffers; /* to those of 32 bits */
} Force;

static bool is_wide(Expr e) { return e->dtype.code == TYPE_INT && e->dtype.bits == 64; }

static DType narrow_type(Expr e) { return tirc_dtype_lanes(DT_INT32, e->dtype.lanes); }

static Expr narrow_var(Force *k, Expr var) {
  if (!is_wide(var)) return var;
  Expr to = tirc_map_get(&k->vars, var);
  if (to) return to;
  to = tirc_var(k->c, var->u.s, narrow_type(var));
  tirc_map_set(k->c, &k->vars, var, to);
  return to;
}

/* Whether it is of names and numbers alone: an index, a size. */
static bool is_of_names(Expr e) {
  if (e->op == OP_VAR || e->op == OP_INT) return true;
  if (e->op == OP_LOAD || e->op == OP_CALL || e->op == OP_CAST || !e->n) return false;
  for (int i = 0; i < e->n; i++)
    if (!is_of_names(e->args[i])) return false;
  return true;
}

static Expr narrow_int(Force *k, Expr e) {
  int64_t n;
  if (!tirc_const_int(e, &n) || n < INT32_MIN || n > INT32_MAX)
    tirc_fail(k->c, k->loc, CODE_LOWER, NULL, "the number %lld does not fit 32 bits",
              (long long)e->u.i);
  return tirc_int32(k->c, n);
}

/* A number that is an index, a size, or the bound of a loop. */
static Expr narrow(Mutator *m, Expr e) {
  Force *k = m->self;
  Tirc *c = k->c;
  if (!is_wide(e)) return tirc_mutate_expr(m, e);
  switch (e->op) {
  case OP_VAR: return narrow_var(k, e);
  case OP_INT: return narrow_int(k, e);
  case OP_CAST: return tirc_cast(c, narrow_type(e), narrow(m, e->args[0]));
  case OP_BROADCAST: return tirc_broadcast(c, narrow(m, e->args[0]), e->dtype.lanes);
  case OP_RAMP: return tirc_ramp(c, narrow(m, e->args[0]), narrow(m, e->args[1]), e->dtype.lanes);
  case OP_ADD:
  case OP_SUB:
  case OP_MUL:
  case OP_MIN:
  case OP_MAX:
  case OP_FLOORDIV:
  case OP_FLOORMOD: {
    Expr x = narrow(m, e->args[0]), y = narrow(m, e->args[1]);
    return tirc_binary(c, (Op)e->op, x, y);
  }
  case OP_SELECT:
  case OP_IF_THEN_ELSE: {
    const Expr args[] = {tirc_mutate_expr(m, e->args[0]), narrow(m, e->args[1]),
                         narrow(m, e->args[2])};
    return tirc_expr(c, (Op)e->op, narrow_type(e), 3, args);
  }
  default: return tirc_cast(c, narrow_type(e), tirc_mutate_expr(m, e));
  }
}

static const Expr *narrow_all(Mutator *m, int n, const Expr *from) {
  Expr *to = tirc_new_array(m->c, Expr, n);
  for (int i = 0; i < n; i++) to[i] = narrow(m, from[i]);
  return to;
}

static Range narrow_range(Mutator *m, Range r) {
  return tirc_range(narrow(m, r.min), narrow(m, r.extent));
}

static Buffer narrow_buffer(Mutator *m, Buffer b) {
  Force *k = m->self;
  Buffer known = b ? tirc_map_get(&k->buffers, b) : NULL;
  if (!b || known) return known;
  if (b->dtype.code == TYPE_INT && b->dtype.bits == 64)
    tirc_fail(k->c, k->loc, CODE_LOWER, "NarrowDataType leaves elements as they are",
              "the elements of %s have 64 bits, and all indices shall have 32", b->name);
  struct BufferNode to = *b;
  to.shape = narrow_all(m, b->ndim, b->shape);
  if (b->strides) to.strides = narrow_all(m, b->ndim, b->strides);
  if (b->elem_offset) to.elem_offset = narrow(m, b->elem_offset);
  known = tirc_buffer_copy(k->c, &to);
  tirc_map_set(k->c, &k->buffers, b, known);
  return known;
}

/* Values keep their types. */
static Expr rewrite_expr(Mutator *m, Expr e) {
  Force *k = m->self;
  if (is_wide(e) && e->op == OP_VAR) return tirc_cast(k->c, e->dtype, narrow_var(k, e));
  if (e->op == OP_CAST && is_wide(e->args[0]) && is_of_names(e->args[0]))
    return tirc_cast(k->c, e->dtype, narrow(m, e->args[0]));
  if (e->op == OP_LOAD)
    return tirc_load(k->c, narrow_buffer(m, e->u.buffer), e->n, narrow_all(m, e->n, e->args));
  if (tirc_compares(e->op) && is_of_names(e->args[0]) && is_of_names(e->args[1]))
    return tirc_binary(k->c, (Op)e->op, narrow(m, e->args[0]), narrow(m, e->args[1]));
  return tirc_mutate_expr_children(m, e);
}

static const Region *narrow_regions(Mutator *m, int n, const Region *from) {
  Region *to = tirc_copy(m->c, from, n);
  for (int i = 0; i < n; i++) {
    Range *dims = tirc_new_array(m->c, Range, from[i].buffer->ndim);
    for (int d = 0; d < from[i].buffer->ndim; d++) dims[d] = narrow_range(m, from[i].dims[d]);
    to[i] = (Region){narrow_buffer(m, from[i].buffer), dims};
  }
  return to;
}

static Stmt rewrite_block(Mutator *m, Stmt s) {
  Block b = s->u.block;
  IterVar *iters = tirc_copy(m->c, b.iters, b.n_iters);
  for (int i = 0; i < b.n_iters; i++) {
    iters[i].var = narrow_var(m->self, iters[i].var);
    iters[i].dom = narrow_range(m, iters[i].dom);
  }
  MatchBuffer *matches = tirc_copy(m->c, b.matches, b.n_matches);
  Buffer *allocs = tirc_copy(m->c, b.allocs, b.n_allocs);
  for (int i = 0; i < b.n_allocs; i++) allocs[i] = narrow_buffer(m, allocs[i]);
  for (int i = 0; i < b.n_matches; i++) {
    matches[i].buffer = narrow_buffer(m, matches[i].buffer);
    matches[i].source = *narrow_regions(m, 1, &b.matches[i].source);
  }
  b.iters = iters;
  b.iter_values = narrow_all(m, b.n_iters, b.iter_values);
  b.reads = narrow_regions(m, b.n_reads, b.reads);
  b.writes = narrow_regions(m, b.n_writes, b.writes);
  b.allocs = allocs;
  b.matches = matches;
  b.predicate = tirc_mutate_expr(m, b.predicate);
  if (b.init) b.init = tirc_mutate_stmt(m, b.init);
  b.body = tirc_mutate_stmt(m, b.body);
  return tirc_block(m->c, &b);
}

static Stmt rewrite_stmt(Mutator *m, Stmt s) {
  Force *k = m->self;
  Stmt to = NULL;
  if (s->loc.line) k->loc = s->loc;
  if (s->kind == STMT_BLOCK) to = rewrite_block(m, s);
  if (s->kind == STMT_FOR) {
    For loop = s->u.loop;
    loop.var = narrow_var(k, loop.var);
    loop.min = narrow(m, loop.min);
    loop.extent = narrow(m, loop.extent);
    loop.body = tirc_mutate_stmt(m, loop.body);
    to = tirc_for(k->c, &loop);
  }
  if (s->kind == STMT_STORE) {
    const int n = s->u.store.n;
    const Expr *indices = narrow_all(m, n, s->u.store.indices);
    const Expr value = tirc_mutate_expr(m, s->u.store.value);
    to = tirc_store(k->c, narrow_buffer(m, s->u.store.buffer), n, indices, value);
  }
  if (s->kind == STMT_LET && is_wide(s->u.let.var)) {
    const Expr value = narrow(m, s->u.let.value);
    to = tirc_let(k->c, narrow_var(k, s->u.let.var), value, tirc_mutate_stmt(m, s->u.let.body));
  }
  return to ? tirc_with_loc(k->c, to, s->loc) : tirc_mutate_stmt_children(m, s);
}

const Module *tirc_lower_force_narrow(Tirc *c, const Module *m) {
  for (int i = 0; i < m->n_funcs; i++) {
    Func f = *m->funcs[i];
    Force k = {.c = c, .loc = f.loc};
    Mutator mutator = {
        .c = c, .expr = rewrite_expr, .stmt = rewrite_stmt, .buffer = narrow_buffer, .self = &k};
    Expr *params = tirc_copy(c, f.params, f.n_params);
    Buffer *buffers = tirc_copy(c, f.buffers, f.n_params);
    for (int p = 0; p < f.n_params; p++) {
      params[p] = narrow_var(&k, params[p]);
      buffers[p] = narrow_buffer(&mutator, buffers[p]);
    }
    f.body = tirc_mutate_stmt(&mutator, f.body);
    f.params = params;
    f.buffers = buffers;
    m = tirc_module_with_func(c, m, i, tirc_copy(c, &f, 1));
  }
  return m;
}
