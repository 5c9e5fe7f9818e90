/* What keeps LLVM's loop vectoriser from a fault.
 *
 * An unsigned number of k bits that grows by a constant in a loop, like 3 i % 2^k, is taken for a
 * strided access where a check in front of the loop says that it does not wrap. Where it starts at
 * 0 and grows by more than 1, that check forgets to look for a wrap (LLVM's SCEVExpander returns
 * early, since nothing is below 0): C[i] = B[3 i % 256], i < 100, then reads B[258] for B[2], and
 * behind B. Seen with LLVM 14 and 19, of strides 1 to 11 and moduli up to 1024 with 3 and 6 (of
 * others the vectoriser finds gathers cheaper), with constant and symbolic extents; gcc is right.
 *
 * Such a number therefore starts at a 0 that LLVM cannot know: 3 i + opaque_zero. The check is then
 * complete, and loops whose accesses do not wrap stay as fast. What only grows by 1 needs nothing.
 */
#include "internal.h"

/* The walk through what grows by a constant if its operands do. */
typedef struct Growth {
  const WrapStart *w;
  PtrMap seen;
  bool scaled, found;
} Growth;

static bool look(Visitor *v, Expr e) {
  Growth *g = v->self;
  if (!tirc_dtype_is_int(e->dtype)) return false;
  switch (e->op) {
  case OP_VAR: {
    bool moves = tirc_map_has(&g->w->loops, e), again = tirc_map_has(&g->seen, e);
    if (tirc_map_has(&g->w->lets, e) || (moves && (g->scaled || again))) g->found = true;
    if (moves) tirc_map_set(g->w->c, &g->seen, e, e);
    return false;
  }
  case OP_MUL:
  case OP_SHIFT_LEFT: {
    bool outer = g->scaled;
    g->scaled = true;
    for (int i = 0; i < e->n; i++) tirc_visit_expr(v, e->args[i]);
    g->scaled = outer;
    return false;
  }
  case OP_ADD:
  case OP_SUB:
  case OP_CAST:
  case OP_LET:
  case OP_TRUNCDIV:
  case OP_TRUNCMOD:
  case OP_FLOORDIV:
  case OP_FLOORMOD:
  case OP_BITWISE_AND:
  case OP_BITWISE_OR:
  case OP_BITWISE_XOR:
  case OP_SHIFT_RIGHT: return true;
  default: return false;
  }
}

static bool grows(const WrapStart *w, Expr e, bool at_all) {
  Growth g = {.w = w, .scaled = at_all};
  tirc_visit_expr(&(Visitor){.expr = look, .self = &g}, e);
  return g.found;
}

void tirc_wrap_let(WrapStart *w, Expr var, Expr value) {
  if (grows(w, value, true)) tirc_map_set(w->c, &w->lets, var, var);
}

/* Whether e cuts its first operand to fewer bits than it has, or puts 0 before them. */
static bool cuts(Expr e) {
  int64_t k;
  if (e->dtype.lanes > 1 || e->n < 1 || !tirc_dtype_is_int(e->args[0]->dtype)) return false;
  DType from = e->args[0]->dtype;
  switch (e->op) {
  case OP_FLOORMOD:
  case OP_TRUNCMOD: return tirc_const_int(e->args[1], &k) && k > 0 && (k & (k - 1)) == 0;
  case OP_BITWISE_AND: return true;
  case OP_SHIFT_RIGHT: return from.code == TYPE_UINT;
  case OP_CAST:
    return from.code == TYPE_UINT && tirc_dtype_is_int(e->dtype) && from.bits < e->dtype.bits;
  default: return false;
  }
}

/* Of the operand's own type, where it does not change the sum. */
static Expr moved(Tirc *c, Expr x) {
  Expr name = tirc_string(c, tirc_dtype_name(c, x->dtype));
  Expr zero = tirc_call(c, x->dtype, CALL_OPAQUE_ZERO, 1, &name);
  return tirc_expr(c, OP_ADD, x->dtype, 2, (Expr[]){x, zero});
}

Expr tirc_with_start(const WrapStart *w, Expr was, Expr e) {
  if (!cuts(e) || e->op != was->op) return e;
  int at = 0; /* the operand that grows */
  if (e->op == OP_BITWISE_AND && tirc_is_constant(e->args[0])) at = 1;
  if (!grows(w, was->args[at], false)) return e;
  Expr args[2];
  for (int i = 0; i < e->n; i++) args[i] = i == at ? moved(w->c, e->args[i]) : e->args[i];
  return tirc_expr(w->c, (Op)e->op, e->dtype, e->n, args);
}
