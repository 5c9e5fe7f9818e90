/* bfloat16 as float32 and as bits, for targets without it.
 *
 *   C = T.decl_buffer((100,), "bfloat16")          C = T.decl_buffer((100,), "float32")
 *   C[i] = A[i] + B[i]                         ->  C[i] = wide(A[i]) + wide(B[i])
 *   D[i] = T.exp(C[i])                             D[i] = narrow(T.exp(C[i]))
 *
 * What is computed and what the function allocates is float32; wide and narrow are made of shifts
 * of the bits, and narrow rounds to even, as the reference's does: a NaN whose bits are all ones
 * becomes a zero. Results on the way are not rounded any more. The memory of others, and what
 * others look at, stays bfloat16, until the second pass calls it uint16. */
#include "internal.h"
#include "ir/tree/graph.h"

typedef struct Widening {
  Tirc *c;
  const Func *f;
  Loc loc;        /* of the statement that is looked at */
  PtrMap buffers; /* that it allocates, to those of float32 */
  PtrMap vars;
} Widening;

static bool is_bfloat(Expr e) { return e->dtype.code == TYPE_BFLOAT; }

static DType wide_type(DType t) { return tirc_dtype_lanes(DT_FLOAT32, t.lanes); }

static Expr unsigned_const(Tirc *c, uint8_t bits, int lanes, int64_t v) {
  Expr e = tirc_int(c, DT(TYPE_UINT, bits), v);
  return lanes > 1 ? tirc_broadcast(c, e, lanes) : e;
}

static Expr as_bits(Tirc *c, uint8_t bits, Expr e) {
  return tirc_expr(c, OP_REINTERPRET, tirc_dtype_lanes(DT(TYPE_UINT, bits), e->dtype.lanes), 1, &e);
}

static Expr shifted(Tirc *c, Op op, Expr e) {
  const Expr args[] = {e, unsigned_const(c, 32, e->dtype.lanes, 16)};
  return tirc_expr(c, op, e->dtype, 2, args);
}

static Expr widened(Tirc *c, Expr e) {
  const DType to = tirc_dtype_lanes(DT(TYPE_UINT, 32), e->dtype.lanes);
  const Expr bits = shifted(c, OP_SHIFT_LEFT, tirc_cast(c, to, as_bits(c, 16, e)));
  return tirc_expr(c, OP_REINTERPRET, wide_type(e->dtype), 1, &bits);
}

/* What widened() made e of; NULL: it did not. */
static Expr was_wide(Expr e) {
  if (e->op != OP_REINTERPRET || e->args[0]->op != OP_SHIFT_LEFT) return NULL;
  const Expr cast = e->args[0]->args[0];
  if (cast->op != OP_CAST || cast->args[0]->op != OP_REINTERPRET) return NULL;
  return is_bfloat(cast->args[0]->args[0]) ? cast->args[0]->args[0] : NULL;
}

static Expr narrowed(Tirc *c, Expr e) {
  const int lanes = e->dtype.lanes;
  if (was_wide(e)) return was_wide(e);
  const Expr bits = as_bits(c, 32, e);
  const Expr odd[] = {shifted(c, OP_SHIFT_RIGHT, bits), unsigned_const(c, 32, lanes, 1)};
  const Expr bias = tirc_add(c, tirc_expr(c, OP_BITWISE_AND, bits->dtype, 2, odd),
                             unsigned_const(c, 32, lanes, 0x7FFF));
  const Expr high = shifted(c, OP_SHIFT_RIGHT, tirc_add(c, bits, bias));
  const Expr half = tirc_cast(c, tirc_dtype_lanes(DT(TYPE_UINT, 16), lanes), high);
  return tirc_expr(c, OP_REINTERPRET, tirc_dtype_lanes(DT(TYPE_BFLOAT, 16), lanes), 1, &half);
}

static bool is_param(const Func *f, Expr var) {
  for (int i = 0; i < f->n_params; i++)
    if (f->params[i] == var) return true;
  return false;
}

static Expr wide_var(Widening *w, Expr var) {
  Expr known = tirc_map_get(&w->vars, var);
  if (!known) {
    known = tirc_var(w->c, var->u.s, wide_type(var->dtype));
    tirc_map_set(w->c, &w->vars, var, known);
  }
  return known;
}

/* Other code gets what it got. */
static Expr call_out(Mutator *m, Expr e) {
  Expr *args = tirc_new_array(m->c, Expr, e->n);
  for (int i = 0; i < e->n; i++) {
    args[i] = tirc_mutate_expr(m, e->args[i]);
    if (is_bfloat(e->args[i])) args[i] = narrowed(m->c, args[i]);
  }
  if (e->op == OP_CALL) return tirc_call(m->c, e->dtype, e->u.callee, e->n, args);
  return tirc_expr(m->c, (Op)e->op, e->dtype, e->n, args);
}

static bool is_other_code(Expr e) {
  return e->op == OP_REINTERPRET ||
         (e->op == OP_CALL && !tirc_calls(e, CALL_TVM_THREAD_ALLREDUCE) &&
          !tirc_calls(e, CALL_COMM_REDUCER));
}

static Expr widen_let(Mutator *m, Expr e) {
  const bool is = is_bfloat(e->args[0]);
  const Expr args[] = {is ? wide_var(m->self, e->args[0]) : e->args[0],
                       tirc_mutate_expr(m, e->args[1]), tirc_mutate_expr(m, e->args[2])};
  return tirc_expr(m->c, OP_LET, args[2]->dtype, 3, args);
}

static Expr widen_operands(Mutator *m, Expr e) {
  Expr *args = tirc_new_array(m->c, Expr, e->n);
  for (int i = 0; i < e->n; i++) args[i] = tirc_mutate_expr(m, e->args[i]);
  if (e->op == OP_CAST) return tirc_cast(m->c, wide_type(e->dtype), args[0]);
  return tirc_expr(m->c, (Op)e->op, wide_type(e->dtype), e->n, args);
}

static Expr rounded(Tirc *c, Expr e) {
  return tirc_float(c, wide_type(e->dtype), tirc_bfloat_to_double(tirc_double_to_bfloat(e->u.f)));
}

static Expr widen(Mutator *m, Expr e) {
  Widening *w = m->self;
  if (e->op == OP_LET) return widen_let(m, e);
  if (is_other_code(e)) {
    const Expr made = call_out(m, e);
    return is_bfloat(made) ? widened(m->c, made) : made;
  }
  if (e->op == OP_CAST && is_bfloat(e->args[0]) && !is_bfloat(e))
    return tirc_cast(m->c, e->dtype, tirc_mutate_expr(m, e->args[0]));
  if (!is_bfloat(e)) return tirc_mutate_expr_children(m, e);
  if (e->op == OP_FLOAT) return rounded(m->c, e);
  if (e->op == OP_VAR) return is_param(w->f, e) ? widened(m->c, e) : wide_var(w, e);
  if (e->op != OP_LOAD) return widen_operands(m, e);
  e = tirc_mutate_expr_children(m, e);
  return is_bfloat(e) ? widened(m->c, e) : e;
}

static Stmt widen_stmt(Mutator *m, Stmt s) {
  Tirc *c = m->c;
  if (s->kind == STMT_LET && is_bfloat(s->u.let.var)) {
    const Expr value = tirc_mutate_expr(m, s->u.let.value);
    return tirc_let(c, wide_var(m->self, s->u.let.var), value, tirc_mutate_stmt(m, s->u.let.body));
  }
  if (s->kind != STMT_STORE || !is_bfloat(s->u.store.value)) return tirc_mutate_stmt_children(m, s);
  const Buffer b = m->buffer(m, s->u.store.buffer);
  Expr *indices = tirc_new_array(c, Expr, s->u.store.n),
       value = tirc_mutate_expr(m, s->u.store.value);
  for (int i = 0; i < s->u.store.n; i++) indices[i] = tirc_mutate_expr(m, s->u.store.indices[i]);
  if (b->dtype.code == TYPE_BFLOAT) value = narrowed(c, value);
  return tirc_with_loc(c, tirc_store(c, b, s->u.store.n, indices, value), s->loc);
}

static Buffer map_buffer(Mutator *m, Buffer b) {
  const Widening *w = m->self;
  const Buffer to = tirc_map_get(&w->buffers, b);
  return to ? to : b;
}

static bool is_pointer(const void *data, Expr e) {
  const Expr load = tirc_addressed(e);
  return e == data || (load && load->u.buffer->data == data);
}

static bool is_view(const void *data, Stmt s) {
  for (int i = 0; s->kind == STMT_BLOCK && i < s->u.block.n_matches; i++)
    if (s->u.block.matches[i].source.buffer->data == data) return true;
  return s->kind == STMT_DECL && s->u.alloc.buffer->data == data;
}

/* Nobody else looks at the memory: what views show and calls get stays bfloat16. */
static void take_buffer(Widening *w, Buffer b) {
  struct BufferNode to = *b;
  if (b->dtype.code != TYPE_BFLOAT || tirc_find_expr_in(w->f->body, is_pointer, b->data) ||
      tirc_find_stmt(w->f->body, is_view, b->data, NULL))
    return;
  to.dtype = wide_type(b->dtype);
  tirc_map_set(w->c, &w->buffers, b, tirc_buffer_copy(w->c, &to));
}

static bool see_allocation(Visitor *v, Stmt s) {
  Widening *w = v->self;
  if (s->kind == STMT_ALLOC && !tirc_attrs_get(s->u.alloc.annotations, ALLOC_DATA))
    take_buffer(w, s->u.alloc.buffer);
  for (int i = 0; s->kind == STMT_BLOCK && i < s->u.block.n_allocs; i++)
    take_buffer(w, s->u.block.allocs[i]);
  return true;
}

Stmt tirc_lower_bfloat_compute(Tirc *c, const Func *f) {
  Widening w = {.c = c, .f = f};
  tirc_visit_stmts(f->body, see_allocation, &w);
  Mutator m = {.c = c, .expr = widen, .stmt = widen_stmt, .buffer = map_buffer, .self = &w};
  return tirc_mutate_stmt(&m, f->body);
}

/* --- memory ----------------------------------------------------------------------------------- */

static _Noreturn void fail_computed(const Widening *w) {
  tirc_fail(w->c, w->loc, CODE_LOWER, "run BF16ComputeLegalize first",
            "bfloat16 is computed with, and not only stored");
}

static Expr bits_of(Mutator *m, Expr e) {
  const DType bits = tirc_dtype_lanes(DT(TYPE_UINT, 16), e->dtype.lanes);
  const bool to = is_bfloat(e), from = e->op == OP_REINTERPRET && is_bfloat(e->args[0]);
  if (e->op == OP_REINTERPRET && (to || from)) {
    const Expr inner = tirc_mutate_expr(m, e->args[0]);
    const DType type = to ? bits : e->dtype;
    return tirc_dtype_equal(inner->dtype, type) ? inner
                                                : tirc_expr(m->c, OP_REINTERPRET, type, 1, &inner);
  }
  const Expr param = to && e->op == OP_VAR ? tirc_map_get(&((Widening *)m->self)->vars, e) : NULL;
  if (param) return param;
  if (to && e->op != OP_LOAD) fail_computed(m->self);
  return tirc_mutate_expr_children(m, e);
}

static Buffer bits_buffer(Mutator *m, Buffer b) {
  Widening *w = m->self;
  Buffer known = b ? tirc_map_get(&w->buffers, b) : NULL;
  if (!b || b->dtype.code != TYPE_BFLOAT || known) return known ? known : b;
  struct BufferNode to = *b;
  to.dtype = tirc_dtype_lanes(DT(TYPE_UINT, 16), b->dtype.lanes);
  known = tirc_buffer_copy(w->c, &to);
  tirc_map_set(w->c, &w->buffers, b, known);
  return known;
}

static Attrs constants_as_bits(Tirc *c, Attrs annotations) {
  const Expr data = tirc_attrs_get(annotations, ALLOC_DATA);
  if (!data) return annotations;
  Expr *bits = tirc_new_array(c, Expr, data->n);
  for (int i = 0; i < data->n; i++)
    bits[i] = tirc_int(c, DT(TYPE_UINT, 16), tirc_double_to_bfloat(data->args[i]->u.f));
  return tirc_attrs_set(c, annotations, ALLOC_DATA, tirc_expr(c, OP_TUPLE, DT_VOID, data->n, bits));
}

static Stmt bits_stmt(Mutator *m, Stmt s) {
  Widening *w = m->self;
  if (s->loc.line) w->loc = s->loc;
  if (s->kind == STMT_LET && is_bfloat(s->u.let.var)) fail_computed(w);
  if (s->kind != STMT_ALLOC || s->u.alloc.buffer->dtype.code != TYPE_BFLOAT)
    return tirc_mutate_stmt_children(m, s);
  const Attrs annotations = constants_as_bits(m->c, s->u.alloc.annotations);
  const Buffer b = m->buffer(m, s->u.alloc.buffer);
  const Stmt made =
      tirc_alloc_stmt(m->c, s->kind, b, annotations, tirc_mutate_stmt(m, s->u.alloc.body));
  return tirc_with_loc(m->c, made, s->loc);
}

static bool has_bfloat_param(const Func *f) {
  for (int i = 0; i < f->n_params; i++)
    if (is_bfloat(f->params[i]) || (f->buffers[i] && f->buffers[i]->dtype.code == TYPE_BFLOAT))
      return true;
  return false;
}

static bool is_called_in(Node n, const char *name) {
  if (n->kind == NODE_CALL_TIR && strcmp(n->name, name) == 0) return true;
  for (int i = 0; i < n->n; i++)
    if (is_called_in(n->args[i], name)) return true;
  return false;
}

/* The tensors of graphs keep their types. */
static void check_graph(Tirc *c, const Graph *g, const Func *f) {
  for (int b = 0; b < g->n_blocks; b++)
    for (int i = 0; i < g->blocks[b].n; i++)
      if (is_called_in(g->blocks[b].at[i].value, f->name))
        tirc_fail(c, f->loc, CODE_LOWER, "legalize functions that no graph calls",
                  "parameters of %s are bfloat16, and so are the tensors that %s calls it with",
                  f->name, g->name);
}

const Module *tirc_lower_bfloat_storage(Tirc *c, const Module *m) {
  for (int i = 0; i < m->n_funcs; i++) {
    Func f = *m->funcs[i];
    for (int g = 0; has_bfloat_param(&f) && g < m->n_graphs; g++) check_graph(c, m->graphs[g], &f);
    Widening w = {.c = c, .f = m->funcs[i], .loc = f.loc};
    Mutator mutator = {
        .c = c, .expr = bits_of, .stmt = bits_stmt, .buffer = bits_buffer, .self = &w};
    Expr *params = tirc_copy(c, f.params, f.n_params);
    Buffer *buffers = tirc_copy(c, f.buffers, f.n_params);
    for (int k = 0; k < f.n_params; k++) {
      buffers[k] = bits_buffer(&mutator, buffers[k]);
      if (!is_bfloat(params[k])) continue;
      params[k] = tirc_var(c, params[k]->u.s, DT(TYPE_UINT, 16));
      tirc_map_set(c, &w.vars, f.params[k], params[k]);
    }
    f.body = tirc_mutate_stmt(&mutator, f.body);
    f.params = params;
    f.buffers = buffers;
    m = tirc_module_with_func(c, m, i, tirc_copy(c, &f, 1));
  }
  return m;
}
