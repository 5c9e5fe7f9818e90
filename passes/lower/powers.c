/* Powers by a constant that are products, quotients and roots: a few instructions where pow takes
 * a hundred, and as good.
 *
 *   T.pow(x, 2)    ->  x * x                T.pow(x, 3)     ->  x * x * x
 *   T.pow(x, 4)    ->  (x * x) * (x * x)    T.pow(x, -1)    ->  1 / x
 *   T.pow(x, 0.5)  ->  T.Select(x == -inf, inf, T.sqrt(x + 0))
 *   T.pow(x, -0.5) ->  T.Select(x == -inf, 0, 1 / T.sqrt(x + 0))
 *
 * and the power -2 is the square of 1 / x, as 1 / (x * x) loses bits where x * x is subnormal and
 * is 0 where it is infinite. Two things tell a root from the power: sqrt(-0) is -0, and that of
 * -infinity is NaN. -0 + 0 is 0. */
#include "internal.h"
#include "ir/tree/visit.h"

#include <math.h>

static Expr number(Tirc *c, DType t, double v) {
  Expr one = tirc_float(c, tirc_dtype_lanes(t, 1), v);
  return t.lanes > 1 ? tirc_broadcast(c, one, t.lanes) : one;
}

static Expr apply(Tirc *c, Op op, Expr a, Expr b) {
  return tirc_expr(c, op, a->dtype, 2, (Expr[]){a, b});
}

static Expr inverse(Tirc *c, Expr x) { return apply(c, OP_DIV, number(c, x->dtype, 1), x); }
static Expr square(Tirc *c, Expr x) { return apply(c, OP_MUL, x, x); }

static Expr root(Tirc *c, Expr x, bool is_below) {
  Expr r = apply(c, OP_ADD, x, number(c, x->dtype, 0));
  r = tirc_expr(c, OP_SQRT, x->dtype, 1, &r);
  if (is_below) r = inverse(c, r);
  const Expr end = number(c, x->dtype, -INFINITY),
             is_end = tirc_expr(c, OP_EQ, tirc_dtype_lanes(DT_BOOL, x->dtype.lanes), 2,
                                (Expr[]){x, end}),
             of_end = number(c, x->dtype, is_below ? 0 : INFINITY);
  return tirc_expr(c, OP_SELECT, x->dtype, 3, (Expr[]){is_end, of_end, r});
}

static Expr power(Tirc *c, Expr x, double y) {
  if (y == 2) return square(c, x);
  if (y == 3) return apply(c, OP_MUL, square(c, x), x);
  if (y == 4) return square(c, square(c, x));
  if (y == -1) return inverse(c, x);
  if (y == -2) return square(c, inverse(c, x));
  if (fabs(y) == 0.5) return root(c, x, y < 0);
  return NULL;
}

enum { MOST_NODES = 12 };

static bool count(Visitor *v, Expr e) {
  int *n = v->self;
  *n += e->op == OP_CALL || e->op == OP_LET ? MOST_NODES + 1 : 1;
  return *n <= MOST_NODES;
}

/* What is small may: compilers compute it once, and C has no vectors within a Let. */
static bool may_stand_twice(Expr x) {
  int n = 0;
  tirc_visit_expr(&(Visitor){.expr = count, .self = &n}, x);
  return n <= MOST_NODES;
}

Expr tirc_power_by_constant(Tirc *c, Expr e) {
  Expr x = e->args[0], y = e->args[1];
  const DType t = e->dtype;
  if (y->op == OP_BROADCAST) y = y->args[0];
  if (y->op != OP_FLOAT || !tirc_dtype_is_float(t) || x->dtype.lanes != t.lanes) return e;
  if (y->u.f == 0) return number(c, t, 1); /* of NaN, too */
  if (y->u.f == 1) return x;
  /* Floats of 16 bits are rounded once, as pow's are. */
  const bool is_small = t.bits == 16;
  if (is_small) x = tirc_cast(c, tirc_dtype_lanes(DT_FLOAT32, t.lanes), x);
  const Expr var = may_stand_twice(x) ? x : tirc_var(c, "x", x->dtype);
  Expr r = power(c, var, y->u.f);
  if (!r) return e;
  if (var != x) r = tirc_expr(c, OP_LET, r->dtype, 3, (Expr[]){var, x, r});
  return is_small ? tirc_cast(c, t, r) : r;
}
