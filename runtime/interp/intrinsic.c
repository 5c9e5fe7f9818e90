/* LLVM intrinsics in the reference interpreter: a lane of the result is made from the lanes of the
 * operands that it needs. */
#include "ir/tree/intrinsic.h"
#include "code.h"
#include "ir/tree/int_op.h"

#include <math.h>

/* --- lane by lane ----------------------------------------------------------------------------- */

static double eval_fma(Run *run, const Node *n) {
  double x = get_f(run, n->a), y = get_f(run, n->b), z = get_f(run, n->c);
  if (n->dtype.bits == 32) return (double)fmaf((float)x, (float)y, (float)z);
  return fma(x, y, z);
}
static double eval_sqrt(Run *run, const Node *n) {
  return tirc_round_float(n->dtype, sqrt(get_f(run, n->a)));
}
static double eval_fabs(Run *run, const Node *n) { return fabs(get_f(run, n->a)); }
static double eval_minnum(Run *run, const Node *n) {
  double x = get_f(run, n->a);
  return fmin(x, get_f(run, n->b));
}
static double eval_maxnum(Run *run, const Node *n) {
  double x = get_f(run, n->a);
  return fmax(x, get_f(run, n->b));
}

/* --- over all lanes --------------------------------------------------------------------------- */

static double eval_fsum(Run *run, const Node *n) {
  double sum = get_f(run, n->a);
  int lane = run->lane;
  for (run->lane = 0; run->lane < n->b->dtype.lanes; run->lane++)
    sum = tirc_round_float(n->dtype, sum + get_f(run, n->b));
  run->lane = lane;
  return sum;
}
static int64_t eval_isum(Run *run, const Node *n) {
  int64_t sum = 0;
  int lane = run->lane;
  for (run->lane = 0; run->lane < n->a->dtype.lanes; run->lane++)
    sum = tirc_wrap_int(n->dtype, (int64_t)((uint64_t)sum + (uint64_t)get_i(run, n->a)));
  run->lane = lane;
  return sum;
}

/* --- products of neighbours ------------------------------------------------------------------- */

static int64_t pair_sum(Run *run, const Node *n) {
  int lane = run->lane;
  int64_t sum = 0;
  for (int i = 0; i < 2; i++) {
    run->lane = 2 * lane + i;
    int64_t x = get_i(run, n->a);
    sum += x * get_i(run, n->b);
  }
  run->lane = lane;
  return sum;
}
static int64_t eval_madd_ub(Run *run, const Node *n) {
  int64_t sum = pair_sum(run, n);
  return sum > INT16_MAX ? INT16_MAX : sum < INT16_MIN ? INT16_MIN : sum;
}
static int64_t eval_madd_wd(Run *run, const Node *n) {
  return tirc_wrap_int(n->dtype, pair_sum(run, n));
}

bool tirc_compile_intrinsic(Compiler *k, Node *n) {
  static double (*const floats[INTRINSIC_COUNT])(Run *, const Node *) = {
      [INTRINSIC_FMA] = eval_fma,       [INTRINSIC_SQRT] = eval_sqrt,
      [INTRINSIC_FABS] = eval_fabs,     [INTRINSIC_MINNUM] = eval_minnum,
      [INTRINSIC_MAXNUM] = eval_maxnum, [INTRINSIC_REDUCE_FADD] = eval_fsum,
  };
  static int64_t (*const ints[INTRINSIC_COUNT])(Run *, const Node *) = {
      [INTRINSIC_REDUCE_ADD] = eval_isum,
      [INTRINSIC_PMADD_UB_SW] = eval_madd_ub,
      [INTRINSIC_PMADD_WD] = eval_madd_wd,
  };
  if (!tirc_is_llvm_call(n->expr)) return false;
  IntrinsicCall call = tirc_llvm_call(k->t, n->expr, k->loc);
  n->a = tirc_compile_expr(k, call.args[0]);
  if (call.n > 1) n->b = tirc_compile_expr(k, call.args[1]);
  if (call.n > 2) n->c = tirc_compile_expr(k, call.args[2]);
  if (floats[call.id])
    n->eval.f = floats[call.id];
  else
    n->eval.i = ints[call.id];
  return true;
}
