/* LLVM intrinsics in the reference interpreter: a lane of the result is made from the lanes of the
 * operands that it needs. */
#include "ir/tree/intrinsic.h"
#include "code.h"
#include "ir/dot_sums.h"
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

/* --- dot products ----------------------------------------------------------------------------- */

/* Element i of a lane's dot product. */
static int64_t term(Run *run, const Node *elements, int lane, int i, int terms) {
  run->lane = lane * terms + i;
  return get_i(run, elements);
}
static const Dot *dot_of(const Node *n) { return n->u.dot; }
static int64_t eval_dot_of_ints(Run *run, const Node *n) {
  const int lane = run->lane, terms = dot_of(n)->terms;
  uint64_t sum = (uint64_t)get_i(run, n->a);
  for (int i = 0; i < terms; i++) {
    const int64_t x = term(run, n->b, lane, i, terms);
    sum += (uint64_t)(x * term(run, n->c, lane, i, terms));
  }
  run->lane = lane;
  return tirc_wrap_int(n->dtype, (int64_t)sum);
}
/* In double, where a program is run so, nothing is rounded as a processor would. */
static double eval_dot_of_floats(Run *run, const Node *n) {
  const int lane = run->lane, terms = dot_of(n)->terms;
  double sum = get_f(run, n->a);
  uint16_t x[2], y[2];
  for (int i = 0; i < 2; i++) {
    x[i] = (uint16_t)term(run, n->b, lane, i, terms);
    y[i] = (uint16_t)term(run, n->c, lane, i, terms);
  }
  run->lane = lane;
  if (n->dtype.bits == 64)
    return sum + tirc_bfloat_to_double(x[0]) * tirc_bfloat_to_double(y[0]) +
           tirc_bfloat_to_double(x[1]) * tirc_bfloat_to_double(y[1]);
  return (double)(dot_of(n)->sums == DOT_TO_ODD ? tirc_dot_to_odd : tirc_dot_odd_even)((float)sum,
                                                                                       x, y);
}
static void compile_dot(Compiler *k, Node *n, const IntrinsicCall *call) {
  n->a = tirc_compile_expr(k, call->args[0]);
  n->b = tirc_compile_expr(k, tirc_dot_elements(k->t, call, 1));
  n->c = tirc_compile_expr(k, tirc_dot_elements(k->t, call, 2));
  n->u.dot = call->dot;
  if (call->dot->sums == DOT_WRAPS)
    n->eval.i = eval_dot_of_ints;
  else
    n->eval.f = eval_dot_of_floats;
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
  if (call.dot) return compile_dot(k, n, &call), true;
  n->a = tirc_compile_expr(k, call.args[0]);
  if (call.n > 1) n->b = tirc_compile_expr(k, call.args[1]);
  if (call.n > 2) n->c = tirc_compile_expr(k, call.args[2]);
  if (floats[call.id])
    n->eval.f = floats[call.id];
  else
    n->eval.i = ints[call.id];
  return true;
}
