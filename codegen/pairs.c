#include "pairs.h"
#include "access.h"
#include "ir/tree/visit.h"

/* Whether b is a + 1, with constants where the simplifier leaves them. */
static bool follows(Expr a, Expr b) {
  int64_t x = 0, y = 0;
  if (tirc_const_int(a, &x) && tirc_const_int(b, &y)) return y == x + 1;
  if (a->op == OP_ADD && tirc_const_int(a->args[1], &x)) a = a->args[0];
  if (b->op == OP_ADD && tirc_const_int(b->args[1], &y)) b = b->args[0];
  return y == x + 1 && tirc_expr_same(a, b);
}

static bool is_narrow(DType t) {
  return (t.code == TYPE_INT && t.bits <= 16) || (t.code == TYPE_UINT && t.bits <= 8);
}

/* The load below conversions to 32 bits and to all lanes; NULL of anything else. */
static Expr load_below(Expr e) {
  while (e->op == OP_BROADCAST || (e->op == OP_CAST && tirc_dtype_is_int(e->dtype) &&
                                   e->dtype.bits == 32 && e->dtype.code == TYPE_INT))
    e = e->args[0];
  return e->op == OP_LOAD && is_narrow(e->u.buffer->dtype) ? e : NULL;
}

static bool find_operand(Tirc *c, Expr first, Expr second, PairOperand *out) {
  first = load_below(first);
  second = load_below(second);
  if (!first || !second || first->u.buffer != second->u.buffer) return false;
  Expr a = tirc_linear_index(c, first->u.buffer, first->n, first->args);
  Expr b = tirc_linear_index(c, second->u.buffer, second->n, second->args);
  if (a->dtype.lanes != b->dtype.lanes) return false;
  *out = (PairOperand){first->u.buffer, a, a->dtype.lanes == 1};
  if (out->is_same) return follows(a, b);
  if (a->op != OP_RAMP || b->op != OP_RAMP) return false;
  out->index = a->args[0];
  return tirc_is_int(a->args[1], 2) && tirc_is_int(b->args[1], 2) &&
         follows(a->args[0], b->args[0]);
}

/* C[index] of a store C[index] = C[index] + x * y, and the product. */
static bool find_sum(Tirc *c, Stmt s, Expr *index, Expr *product) {
  if (s->kind != STMT_STORE || s->u.store.value->op != OP_ADD) return false;
  const Buffer b = s->u.store.buffer;
  const Expr sum = s->u.store.value, old = sum->args[0];
  *product = sum->args[1];
  if (!tirc_dtype_equal(tirc_dtype_lanes(b->dtype, 1), DT_INT32)) return false;
  if (old->op != OP_LOAD || old->u.buffer != b || (*product)->op != OP_MUL) return false;
  *index = tirc_linear_index(c, b, s->u.store.n, s->u.store.indices);
  return tirc_is_contiguous(*index) &&
         tirc_expr_same(*index, tirc_linear_index(c, b, old->n, old->args));
}

bool tirc_find_pair(Tirc *c, Stmt first, Stmt second, bool apart, PairOfProducts *out) {
  Expr at, also, x, y;
  if (!apart || !find_sum(c, first, &at, &x) || !find_sum(c, second, &also, &y)) return false;
  const Buffer b = first->u.store.buffer;
  if (b != second->u.store.buffer || !tirc_expr_same(at, also)) return false;
  *out = (PairOfProducts){.sum = b, .at = at, .lanes = at->dtype.lanes};
  for (int i = 0; i < 2; i++) {
    PairOperand *f = &out->factors[i];
    if (!find_operand(c, x->args[i], y->args[i], f) || f->buffer->data == b->data) return false;
  }
  return true;
}
