#include "dot.h"

#include "ir/gpu.h"
#include "ir/tree/annotations.h"
#include "ir/tree/intrinsic.h"

enum { BYTES = 4 };

/* Of bytes that were made integers of 32 bits; NULL: e is something else. */
static Expr bytes_of(Expr e) {
  if (e->op != OP_CAST || !tirc_dtype_equal(e->dtype, tirc_dtype_lanes(DT_INT32, BYTES)))
    return NULL;
  const DType t = e->args[0]->dtype;
  return tirc_dtype_is_int(t) && t.bits == 8 ? e->args[0] : NULL;
}

static const char *type_of(Expr bytes) { return bytes->dtype.code == TYPE_UINT ? "u32" : "s32"; }

static bool is_sum(Tirc *c, Expr e, Loc loc, DotOfBytes *out) {
  if (!tirc_is_llvm_call(e) || !tirc_dtype_equal(e->dtype, DT_INT32)) return false;
  const IntrinsicCall k = tirc_llvm_call(c, e, loc);
  if (k.id != INTRINSIC_REDUCE_ADD || k.args[0]->op != OP_MUL) return false;
  out->a = bytes_of(k.args[0]->args[0]);
  out->b = bytes_of(k.args[0]->args[1]);
  if (!out->a || !out->b) return false;
  out->ptx = tirc_format(c, "dp4a.%s.%s", type_of(out->a), type_of(out->b));
  return true;
}

bool tirc_find_dot(Tirc *c, const Func *f, Expr e, Loc loc, DotOfBytes *out) {
  const bool adds = e->op == OP_ADD && tirc_dtype_equal(e->dtype, DT_INT32);
  if (!adds && e->op != OP_CALL) return false;
  const Gpu *gpu = tirc_gpu_of(f);
  if (!gpu || !(gpu->tensor_cores & DOT_S8)) return false;
  *out = (DotOfBytes){0};
  if (!adds) return is_sum(c, e, loc, out);
  for (int i = 0; i < 2; i++)
    if (is_sum(c, e->args[i], loc, out)) return out->sum = e->args[1 - i], true;
  return false;
}
