/* Which form a statement on vectors gets: on vectors where the language has that, or a lane at a
 * time. */
#include "codegen/access.h"
#include "gen.h"

/* OpenCL's, by their lanes. */
static bool has_vectors(int n) { return (n >= 2 && n <= 4) || n == 8 || n == 16; }

static bool is_flat_load(Expr e) {
  const DType t = e->u.buffer->dtype;
  return e->n == 1 && !e->u.buffer->strides && tirc_is_contiguous(e->args[0]) &&
         (tirc_src_computes(t) || t.code == TYPE_FLOAT);
}

static bool has_form(const Gen *g, Expr e);

static bool args_have_form(const Gen *g, Expr e) {
  for (int i = 0; i < e->n; i++)
    if (!has_form(g, e->args[i])) return false;
  return true;
}

static bool converts(const Gen *g, Expr e) {
  const DType from = e->args[0]->dtype;
  if (!has_form(g, e->args[0])) return false;
  return tirc_src_computes(from) || (from.code == TYPE_FLOAT && e->dtype.code == TYPE_FLOAT);
}

static bool has_form(const Gen *g, Expr e) {
  const DType t = e->dtype;
  if (t.lanes == 1) return true;
  if (tirc_src_spread(e)) return e->dtype.code != TYPE_BOOL;
  if (e->op == OP_LOAD) return is_flat_load(e);
  if (!tirc_src_computes(t) || !g->l->vector_arith) return false;
  switch (e->op) {
  case OP_CAST: return converts(g, e);
  case OP_ADD:
  case OP_SUB:
  case OP_MUL:
  case OP_MIN:
  case OP_MAX: return args_have_form(g, e);
  case OP_DIV: return tirc_dtype_is_float(t) && args_have_form(g, e);
  case OP_BITWISE_AND:
  case OP_BITWISE_OR:
  case OP_BITWISE_XOR: return tirc_dtype_is_int(t) && args_have_form(g, e);
  default: break;
  }
  return tirc_dtype_is_float(t) && tirc_ops[e->op].class == OPCLASS_CALL && e->op >= OP_EXP &&
         tirc_gpu_math_on_vectors((Op)e->op) && args_have_form(g, e);
}

bool tirc_gpu_has_vector_form(Gen *g, Stmt s) {
  Buffer b = s->u.store.buffer;
  Expr value = s->u.store.value, index = s->u.store.n == 1 ? s->u.store.indices[0] : NULL;
  if (g->l->moved_bytes || !index || b->strides || !tirc_is_contiguous(index) ||
      !has_vectors(index->dtype.lanes) || value->dtype.code == TYPE_BOOL)
    return false;
  if (b->dtype.code == TYPE_FLOAT && b->dtype.bits == 16) { /* copied, or rounded by the store */
    if (value->op == OP_CAST && g->l->vector_arith) return converts(g, value);
    return value->op == OP_LOAD ? is_flat_load(value) : tirc_src_spread(value) != NULL;
  }
  return tirc_src_computes(b->dtype) && has_form(g, value);
}
