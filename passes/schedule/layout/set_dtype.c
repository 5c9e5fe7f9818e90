/* unsafe_set_dtype(block, buffer_index, dtype): another type for a buffer that the block writes.
 *
 *   B = T.alloc_buffer((128,))            B = T.alloc_buffer((128,), "float16")
 *   B[vi] = A[vi] * 2.0              ->   B[vi] = T.Cast("float16", A[vi] * 2.0)
 *   C[vi] = B[vi] + 1.0                   C[vi] = T.Cast("float32", B[vi]) + 1.0
 *
 * Unsafe, because values may lose precision or leave the type's range: it is the only primitive
 * that is meant to change numbers. The buffer must be allocated by a block. */
#include "passes/schedule/shape/shape.h"

typedef struct Retype {
  Tirc *c;
  DType from, to;
  PtrMap buffers; /* from an old buffer to the new one */
  PtrMap fresh;   /* the new ones */
  PtrMap data;    /* from an old data variable to the new one */
} Retype;

static void retype(Retype *r, Buffer old) {
  struct BufferNode b = *old;
  b.dtype = r->to;
  b.data = tirc_var(r->c, old->data->u.s, DT_HANDLE);
  Buffer to = tirc_buffer_copy(r->c, &b);
  tirc_map_set(r->c, &r->buffers, old, to);
  tirc_map_set(r->c, &r->fresh, to, to);
  tirc_map_set(r->c, &r->data, old->data, to->data);
}

static Expr cast_node(Tirc *c, DType t, Expr e) {
  return tirc_expr(c, OP_CAST, tirc_dtype_lanes(t, e->dtype.lanes), 1, &e);
}

static Buffer retype_buffer(Mutator *m, Buffer b) {
  Buffer to = tirc_map_get(&((Retype *)m->self)->buffers, b);
  return to ? to : b;
}

static Expr retype_expr(Mutator *m, Expr e) {
  Retype *r = m->self;
  if (e->op == OP_VAR) {
    Expr to = tirc_map_get(&r->data, e);
    return to ? to : e;
  }
  e = tirc_mutate_expr_children(m, e);
  bool ours = e->op == OP_LOAD && tirc_map_has(&r->fresh, e->u.buffer);
  return ours ? cast_node(r->c, r->from, e) : e;
}

static Stmt retype_stmt(Mutator *m, Stmt s) {
  Retype *r = m->self;
  if (s->kind == STMT_BLOCK) /* a view has the type of what it shows */
    for (int i = 0; i < s->u.block.n_matches; i++)
      if (tirc_map_has(&r->buffers, s->u.block.matches[i].source.buffer))
        retype(r, s->u.block.matches[i].buffer);
  s = tirc_mutate_stmt_children(m, s);
  if (s->kind != STMT_STORE || !tirc_map_has(&r->fresh, s->u.store.buffer)) return s;
  return tirc_with_loc(r->c,
                       tirc_store(r->c, s->u.store.buffer, s->u.store.n, s->u.store.indices,
                                  cast_node(r->c, r->to, s->u.store.value)),
                       s->loc);
}

void tirc_prim_unsafe_set_dtype(Sched *s, const Value *args, Value *result) {
  (void)result;
  SRef *block = tirc_sref_of_value(s, args[0]);
  Buffer b = tirc_nth_buffer(s, block, args[1], true);
  const char *name = args[2].u.s;
  Retype r = {.c = s->c, .from = b->dtype};
  if (!tirc_dtype_parse(name, &r.to) || r.to.lanes != 1 || r.to.code == TYPE_HANDLE ||
      r.to.code == TYPE_VOID)
    tirc_refuse(s, NULL, SERR_BUFFER_DTYPE, "\"%s\" is not a type of a buffer's elements", name);
  if (tirc_dtype_equal(r.from, r.to)) return;
  SRef *site = tirc_require_allocated(s, block, b);
  tirc_require_not_in_shapes(s, site, b);
  retype(&r, b);
  Mutator m = {
      .c = s->c, .expr = retype_expr, .stmt = retype_stmt, .buffer = retype_buffer, .self = &r};
  m.only = tirc_paths_to_users(s, site, b);
  tirc_sched_replace(s, site, tirc_mutate_stmt(&m, site->stmt));
}
