/* Functions: of mathematics, of a warp. */
#include "gen.h"
#include "ir/tree/intrinsic.h"

CText tirc_gpu_popcount(Gen *g, Expr e, CText a) {
  const DType t = tirc_dtype_lanes(e->args[0]->dtype, 1);
  const DType u = t.bits < 32 ? DT(TYPE_UINT, 32) : tirc_src_unsigned(t);
  a = tirc_src_cast(g, a, t, u);
  return tirc_src_cast(g, tirc_src_call(g, tirc_src_function(g, OP_POPCOUNT, u), 1, &a), u,
                       e->dtype);
}

bool tirc_gpu_math_on_vectors(Op op) {
  switch (op) {
  case OP_ISNAN:
  case OP_ISINF:
  case OP_ISFINITE:
  case OP_POPCOUNT:
  case OP_CLZ: return false;
  default: return true;
  }
}

/* --- calls ----------------------------------------------------------------------------------- */

static CText emit_shuffle(Gen *g, Expr e, const Window *w) {
  CText args[5];
  if (!g->l->shuffle)
    tirc_fail(g->c, g->loc, CODE_CODEGEN, "lower for a target whose threads form no warps",
              "%s has no T.%s", g->l->name, tirc_called(e));
  if (e->n != 5) tirc_src_unsupported(g, e);
  for (int i = 0; i < e->n; i++) args[i] = tirc_src_expr(g, e->args[i], w);
  return g->l->shuffle(g, e, e->n, args);
}

/* T.opaque_zero(dtype), which loops for a processor's vectors are kept from wrapping by. */
static CText emit_zero(Gen *g, Expr e, const Window *w) {
  (void)w;
  return tirc_src_number(g, tirc_dtype_lanes(e->dtype, 1), 0);
}

static CText emit_active_mask(Gen *g, Expr e, const Window *w) {
  (void)w;
  if (!g->l->active_mask) tirc_src_unsupported(g, e);
  return tirc_src_text(g, BINDS_ALL, "%s", g->l->active_mask);
}

/* T.clock() */
static CText emit_clock(Gen *g, Expr e, const Window *w) {
  (void)w;
  if (!g->l->clock) tirc_src_unsupported(g, e);
  return tirc_src_text(g, BINDS_ALL, "%s", g->l->clock);
}

static CText emit_operand(Gen *g, Expr e, const Window *w) {
  if (e->n != 1) tirc_src_unsupported(g, e);
  return tirc_src_expr(g, e->args[0], w);
}

CText tirc_gpu_call(Gen *g, Expr e, const Window *w) {
  static Emit *const calls[CALL_COUNT] = {[CALL_EXTERN] = tirc_src_extern,
                                          [CALL_PURE_EXTERN] = tirc_src_extern,
#define ATOMIC(id, name, op) [CALL_##id] = tirc_gpu_atomic,
#include "ir/tree/atomics.def"
#undef ATOMIC
                                          [CALL_OPAQUE_ZERO] = emit_zero,
                                          [CALL_TVM_WARP_ACTIVEMASK] = emit_active_mask,
                                          [CALL_CLOCK] = emit_clock,
                                          [CALL_TVM_THREAD_INVARIANT] = emit_operand,
                                          [CALL_TVM_WARP_SHUFFLE] = emit_shuffle,
                                          [CALL_TVM_WARP_SHUFFLE_UP] = emit_shuffle,
                                          [CALL_TVM_WARP_SHUFFLE_DOWN] = emit_shuffle};
  if (calls[e->u.callee]) return calls[e->u.callee](g, e, w);
  Expr sum = tirc_llvm_sum_of_lanes(g->c, e, g->loc);
  if (sum) return tirc_src_expr(g, sum, &tirc_src_all);
  tirc_src_unsupported(g, e);
}
