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

#include <math.h>

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
  Expr guard; /* where it holds they are read at all; NULL: everywhere */
} Loads;

/* What is read at once; where it must not be read it is zeros. */
static CText guarded_load(Gen *g, Buffer b, Expr index, Expr guard) {
  const DType t = vector_of(b, index->dtype.lanes);
  CText all = g->l->load_vector(g, tirc_gpu_pointer(g, b, index), t);
  if (!guard) return all;
  CText holds = tirc_src_operand_as(g, guard, DT_BOOL, &tirc_src_first);
  return tirc_src_text(g, BINDS_CHOICE, "%s ? %s : %s()", tirc_c_operand(g->c, holds, BINDS_OR),
                       all.s, tirc_src_helper(g, HELPER_VECTOR, t));
}

/* A condition that is one for all lanes; NULL: it is not. */
static Expr of_all_lanes(Expr cond) {
  if (cond->op == OP_BROADCAST) cond = cond->args[0];
  return cond->dtype.lanes == 1 ? cond : NULL;
}

static Expr both(Gen *g, Expr guard, Expr cond) {
  return guard ? tirc_and(g->c, guard, cond) : cond;
}

static bool find_load(Visitor *v, Expr e);

/* What is read on one side of a choice only must not be read where the other side is chosen. */
static void find_chosen(const Loads *l, Expr choice) {
  Gen *g = l->g;
  Expr cond = choice->op == OP_IF_THEN_ELSE ? of_all_lanes(choice->args[0]) : NULL;
  if (!cond) return;
  Loads yes = *l, no = *l;
  yes.guard = both(g, l->guard, cond);
  no.guard = both(g, l->guard, tirc_not(g->c, cond));
  tirc_visit_expr(&(Visitor){.expr = find_load, .self = &yes}, choice->args[1]);
  tirc_visit_expr(&(Visitor){.expr = find_load, .self = &no}, choice->args[2]);
}

static bool find_load(Visitor *v, Expr e) {
  const Loads *l = v->self;
  Gen *g = l->g;
  if (e->op == OP_IF_THEN_ELSE || e->op == OP_AND || e->op == OP_OR || e->op == OP_SELECT) {
    find_chosen(l, e);
    return false;
  }
  if (e->op != OP_LOAD || tirc_map_has(&g->vars, e)) return true;
  Buffer b = e->u.buffer;
  Expr index = tirc_linear_index(g->c, b, e->n, e->args);
  if (index->dtype.lanes != l->lanes || !tirc_gpu_is_moved(g, b, index)) return true;
  const DType t = vector_of(b, l->lanes);
  CText all = guarded_load(g, b, index, l->guard);
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

/* Whether a store is of elements as they lie in memory, or of zeros where they must not be read. */
typedef struct Copy {
  Buffer from;
  Expr index, guard; /* guard: NULL, or where it does not hold zeros are stored */
} Copy;

static bool is_zero(Expr e) {
  Expr x = tirc_src_spread(e);
  return x && ((x->op == OP_FLOAT && x->u.f == 0 && !signbit(x->u.f)) || tirc_is_int(x, 0));
}

static bool find_copy(Gen *g, Stmt s, Copy *copy) {
  Expr value = s->u.store.value;
  *copy = (Copy){0};
  if (value->op == OP_IF_THEN_ELSE && is_zero(value->args[2])) {
    copy->guard = of_all_lanes(value->args[0]);
    if (!copy->guard) return false;
    value = value->args[1];
  }
  if (value->op != OP_LOAD || !tirc_dtype_equal(value->u.buffer->dtype, s->u.store.buffer->dtype))
    return false;
  copy->from = value->u.buffer;
  copy->index = tirc_linear_index(g->c, copy->from, value->n, value->args);
  return tirc_gpu_is_moved(g, copy->from, copy->index);
}

bool tirc_gpu_move(Gen *g, Stmt s, Expr index) {
  Buffer b = s->u.store.buffer;
  Expr value = s->u.store.value;
  const int lanes = index->dtype.lanes;
  const DType t = vector_of(b, lanes), one = tirc_dtype_lanes(t, 1);
  Loads loads = {g, lanes, NULL};
  const bool moves = tirc_gpu_is_moved(g, b, index);
  const char *to = moves ? tirc_gpu_pointer(g, b, index) : NULL;
  Copy copy;
  if (moves && find_copy(g, s, &copy)) {
    CText all = guarded_load(g, copy.from, copy.index, copy.guard);
    tirc_src_line(g, "%s;", g->l->store_vector(g, to, t, all.s));
    return true;
  }
  tirc_visit_expr(&(Visitor){.expr = find_load, .self = &loads}, value);
  if (!moves) return false;
  const char *name = tirc_src_name(g, tirc_format(g->c, "%s_%d", b->name, lanes));
  tirc_src_line(g, "%s %s;", tirc_src_helper(g, HELPER_VECTOR, t), name);
  for (int i = 0; i < lanes; i++) {
    const Window w = {0, 1, tirc_format(g->c, "%d", i)};
    tirc_gpu_put_value(g, one, tirc_format(g->c, "%s.at", name), w.lane, value, &w);
  }
  tirc_src_line(g, "%s;", g->l->store_vector(g, to, t, name));
  return true;
}
