/* Comparisons that can only come out one way, of whatever the variables are, as of an integer with
 * itself: C compilers warn of them. What is known of an integer are bits, as its int64 has them,
 * and so its ends. */
#include "gen.h"
#include "ir/tree/int_op.h"

typedef struct Bits {
  uint64_t set, clear; /* none is in both */
} Bits;

static const uint64_t SIGN = UINT64_C(1) << 63;

static Bits of_type(DType t) {
  if (t.code == TYPE_BOOL) return (Bits){0, ~UINT64_C(1)};
  if (t.code == TYPE_UINT && t.bits < 64) return (Bits){0, ~UINT64_C(0) << t.bits};
  return (Bits){0, 0};
}

static bool keeps_value(DType from, DType to) {
  if (!tirc_dtype_is_whole(from) || !tirc_dtype_is_int(to)) return false;
  if (from.code == TYPE_INT) return to.code == TYPE_INT && to.bits >= from.bits;
  return to.bits > from.bits || (to.bits == from.bits && to.code == from.code);
}

static Bits bits_of(Expr e) {
  const DType t = tirc_dtype_lanes(e->dtype, 1);
  Bits a, b;
  if (e->op == OP_BROADCAST) return bits_of(e->args[0]);
  if (e->op == OP_INT || e->op == OP_LARGE_UINT) return (Bits){(uint64_t)e->u.i, ~(uint64_t)e->u.i};
  if (e->op == OP_CAST && keeps_value(tirc_dtype_lanes(e->args[0]->dtype, 1), t))
    return bits_of(e->args[0]);
  if (!tirc_dtype_is_int(t) || (e->op != OP_BITWISE_OR && e->op != OP_BITWISE_AND))
    return of_type(t);
  a = bits_of(e->args[0]);
  b = bits_of(e->args[1]);
  return e->op == OP_BITWISE_OR ? (Bits){a.set | b.set, a.clear & b.clear}
                                : (Bits){a.set & b.set, a.clear | b.clear};
}

/* The least and the largest, in an order of uint64: signed numbers with the sign turned round. */
static void ends_of(DType t, Bits b, uint64_t *min, uint64_t *max) {
  *min = b.set, *max = ~b.clear;
  if (t.code != TYPE_INT) return;
  const uint64_t unknown = SIGN & ~(b.set | b.clear);
  *min = (b.set | unknown) ^ SIGN;
  *max = (~b.clear & ~unknown) ^ SIGN;
  const uint64_t least = (uint64_t)tirc_dtype_min(t) ^ SIGN,
                 most = (uint64_t)tirc_dtype_max(t) ^ SIGN;
  if (*min < least) *min = least;
  if (*max > most) *max = most;
}

static bool find_call(Visitor *v, Expr e) {
  *(bool *)v->self |= e->op == OP_CALL;
  return !*(bool *)v->self;
}

/* What it calls must be called. */
static bool has_call(Expr e) {
  bool found = false;
  tirc_visit_expr(&(Visitor){.expr = find_call, .self = &found}, e);
  return found;
}

/* -1: it may be either. */
static int below(uint64_t max_a, uint64_t min_b, uint64_t min_a, uint64_t max_b) {
  return max_a < min_b ? 1 : min_a >= max_b ? 0 : -1;
}

static int compared(Op op, DType t, Bits x, Bits y) {
  uint64_t min_x, max_x, min_y, max_y;
  ends_of(t, x, &min_x, &max_x);
  ends_of(t, y, &min_y, &max_y);
  const bool differ = (x.set & y.clear) || (x.clear & y.set) || max_x < min_y || max_y < min_x;
  const int lt = below(max_x, min_y, min_x, max_y), gt = below(max_y, min_x, min_y, max_x);
  switch (op) {
  case OP_EQ: return differ ? 0 : -1;
  case OP_NE: return differ ? 1 : -1;
  case OP_LT: return lt;
  case OP_GT: return gt;
  case OP_LE: return gt < 0 ? -1 : !gt;
  case OP_GE: return lt < 0 ? -1 : !lt;
  default: return -1;
  }
}

bool tirc_cg_is_decided(Op op, Expr x, Expr y, bool *holds) {
  const DType t = tirc_dtype_lanes(x->dtype, 1);
  if (!tirc_dtype_is_whole(t)) return false;
  const bool same = y && tirc_expr_same(x, y);
  const int r = same ? op == OP_EQ || op == OP_LE || op == OP_GE
                     : compared(op, t, bits_of(x), y ? bits_of(y) : (Bits){0, ~UINT64_C(0)});
  *holds = r > 0;
  return r >= 0 && !has_call(x) && !(y && has_call(y));
}
