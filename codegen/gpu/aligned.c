/* Vectors in languages that move them and do no more: a structure of their elements, from an
 * address that is a multiple of its size.
 *
 *   const tirc_float32x4 A_4 = *(const tirc_float32x4 *)(A + i * 4);
 *   tirc_float32x4 B_4;
 *   B_4.at[0] = A_4.at[0] + 1.0f;
 *   ...
 *   *(tirc_float32x4 *)(B + i * 4) = B_4;
 *
 * Arrays themselves begin at such addresses. Those of one thread are registers, not memory. */
#include "codegen/access.h"
#include "gen.h"

static DType vector_of(Buffer b, int lanes) {
  return tirc_dtype_lanes(tirc_dtype_lanes(b->dtype, 1), lanes);
}

bool tirc_gpu_is_moved(Gen *g, Buffer b, Expr index) {
  const int lanes = index->dtype.lanes, most = g->l->moved_bytes;
  const int bytes = lanes * tirc_dtype_bytes(tirc_dtype_lanes(b->dtype, 1));
  if (!tirc_is_contiguous(index) || b->storage == STORAGE_LOCAL || (lanes & (lanes - 1)) != 0 ||
      bytes > 4 * most)
    return false;
  const int together = bytes > most ? lanes * most / bytes : lanes;
  return tirc_index_divisor(g->c, index->args[0], together) == together;
}

typedef struct Loads {
  Gen *g;
  int lanes;
} Loads;

/* What is read on one side of a choice only must not be read before. */
static bool find_load(Visitor *v, Expr e) {
  const Loads *l = v->self;
  Gen *g = l->g;
  if (e->op == OP_IF_THEN_ELSE || e->op == OP_AND || e->op == OP_OR || e->op == OP_SELECT)
    return false;
  if (e->op != OP_LOAD || tirc_map_has(&g->vars, e)) return true;
  Buffer b = e->u.buffer;
  Expr index = tirc_linear_index(g->c, b, e->n, e->args);
  if (index->dtype.lanes != l->lanes || !tirc_gpu_is_moved(g, b, index)) return true;
  const DType t = vector_of(b, l->lanes);
  CText all = g->l->load_vector(g, tirc_gpu_pointer(g, b, index), t);
  const char *name = tirc_src_name(g, tirc_format(g->c, "%s_%d", b->name, l->lanes));
  tirc_src_line(g, "const %s %s = %s;", tirc_src_helper(g, HELPER_VECTOR, t), name, all.s);
  Name *lanes = tirc_new(g->c, Name);
  lanes->s = tirc_format(g->c, "%s.at", name);
  tirc_map_set(g->c, &g->vars, e, lanes);
  vec_push(g->c, g->kernels->moved, e);
  return false;
}

void tirc_gpu_forget_moved(Gen *g) {
  for (int i = 0; i < g->kernels->moved.n; i++) tirc_map_remove(&g->vars, g->kernels->moved.at[i]);
  g->kernels->moved.n = 0;
}

static bool is_copy(Stmt s) {
  Expr value = s->u.store.value;
  return value->op == OP_LOAD && tirc_dtype_equal(value->u.buffer->dtype, s->u.store.buffer->dtype);
}

bool tirc_gpu_move(Gen *g, Stmt s, Expr index) {
  Buffer b = s->u.store.buffer;
  Expr value = s->u.store.value;
  const int lanes = index->dtype.lanes;
  const DType t = vector_of(b, lanes);
  Loads loads = {g, lanes};
  const bool moves = tirc_gpu_is_moved(g, b, index);
  const char *to = moves ? tirc_gpu_pointer(g, b, index) : NULL;
  if (moves && is_copy(s)) {
    Expr from = tirc_linear_index(g->c, value->u.buffer, value->n, value->args);
    if (tirc_gpu_is_moved(g, value->u.buffer, from)) {
      CText all = g->l->load_vector(g, tirc_gpu_pointer(g, value->u.buffer, from), t);
      tirc_src_line(g, "%s;", g->l->store_vector(g, to, t, all.s));
      return true;
    }
  }
  tirc_visit_expr(&(Visitor){.expr = find_load, .self = &loads}, value);
  if (!moves) return false;
  const char *name = tirc_src_name(g, tirc_format(g->c, "%s_%d", b->name, lanes));
  tirc_src_line(g, "%s %s;", tirc_src_helper(g, HELPER_VECTOR, t), name);
  for (int i = 0; i < lanes; i++) {
    const Window w = {0, 1, tirc_format(g->c, "%d", i)};
    tirc_gpu_put(g, tirc_dtype_lanes(t, 1), tirc_format(g->c, "%s.at", name), w.lane,
                 tirc_gpu_stored_value(g, value, tirc_dtype_lanes(t, 1), &w));
  }
  tirc_src_line(g, "%s;", g->l->store_vector(g, to, t, name));
  return true;
}
