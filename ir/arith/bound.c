/* Constant bounds: an interval [min, max] of int64 that holds every value of an expression, from
 * the bounds of its operands. The extremes of int64 stand for the infinities; sums and products
 * that leave int64 saturate to them. Where an operation may wrap around (int_op.h), it may be any
 * number of its type. */
#include "internal.h"
#include "ir/tree/find.h"
#include "ir/tree/int_op.h"

#define NEG TIRC_NEG_INF
#define POS TIRC_POS_INF

static bool infinite(int64_t v) { return v == NEG || v == POS; }
static int64_t neg(int64_t v) { return v == NEG ? POS : v == POS ? NEG : -v; }
static int64_t lower(int64_t x, int64_t y) { return x < y ? x : y; }
static int64_t upper(int64_t x, int64_t y) { return x > y ? x : y; }

/* x + y where both are lower (sign -1) or both are upper ends (sign +1): an infinity wins. */
static int64_t add(int64_t x, int64_t y) {
  if (infinite(x)) return x;
  if (infinite(y)) return y;
  int64_t sum;
  if (!__builtin_add_overflow(x, y, &sum)) return sum;
  return x > 0 ? POS : NEG;
}

static int64_t mul(int64_t x, int64_t y) {
  if (x == 0 || y == 0) return 0;
  int64_t product;
  if (!infinite(x) && !infinite(y) && !__builtin_mul_overflow(x, y, &product)) return product;
  return (x > 0) == (y > 0) ? POS : NEG;
}

/* Division by a finite or infinite y != 0; x / inf is 0 or, rounding down, -1. */
static int64_t divide(int64_t x, int64_t y, bool down) {
  if (infinite(x)) return y > 0 ? x : neg(x);
  if (infinite(y)) return down && x != 0 && (x < 0) != (y < 0) ? -1 : 0;
  return down ? tirc_floordiv64(x, y) : x / y;
}
static int64_t divide_down(int64_t x, int64_t y) { return divide(x, y, true); }
static int64_t divide_trunc(int64_t x, int64_t y) { return divide(x, y, false); }

static Bound join(Bound x, Bound y) { return (Bound){lower(x.min, y.min), upper(x.max, y.max)}; }
static Bound meet(Bound x, Bound y) { return (Bound){upper(x.min, y.min), lower(x.max, y.max)}; }

static Bound everything(DType t) {
  if (t.code == TYPE_BOOL) return (Bound){0, 1};
  if (!tirc_dtype_is_int(t)) return (Bound){NEG, POS};
  Bound b = {t.code == TYPE_UINT ? 0 : NEG, POS};
  if (t.bits < 64) b = (Bound){tirc_dtype_min(t), tirc_dtype_max(t)};
  return b;
}

/* The hull over the corners, for an operation that is monotonic in either operand. */
static Bound corners(Bound a, Bound b, int64_t (*op)(int64_t, int64_t)) {
  int64_t p = op(a.min, b.min), q = op(a.min, b.max), r = op(a.max, b.min), s = op(a.max, b.max);
  return (Bound){lower(lower(p, q), lower(r, s)), upper(upper(p, q), upper(r, s))};
}

/* Programs do not divide by zero, so a divisor that is known to be >= 0 is >= 1. */
static Bound nonzero(Bound b) {
  if (b.min == 0) b.min = 1;
  if (b.max == 0) b.max = -1;
  return b;
}

static Bound quotient(Bound a, Bound b, DType t, bool down) {
  b = nonzero(b);
  if (b.min > b.max || a.min > a.max) return everything(t);
  int64_t (*op)(int64_t, int64_t) = down ? divide_down : divide_trunc;
  if (b.min > 0 || b.max < 0) return corners(a, b, op);
  return join(corners(a, (Bound){b.min, -1}, op), corners(a, (Bound){1, b.max}, op));
}

/* The remainder by a constant m > 0 of something that is base modulo coeff: the residues that occur
 * are a step of gcd(coeff, m) apart. */
static bool stepped_residue(Analyzer *a, Expr x, int64_t m, Bound *out) {
  Modular mod = tirc_modular(a, x);
  int64_t step = tirc_gcd(mod.coeff, m);
  if (step <= 1) return false;
  int64_t first = tirc_floormod64(mod.base, step);
  *out = (Bound){first, m - step + first};
  return true;
}

/* x, where all of it lies between two multiples of `by`: 16 to 19 are 0 to 3 by 8. */
static bool within_period(Bound x, int64_t by, Bound *out) {
  if (x.min == NEG || x.max == POS || tirc_floordiv64(x.min, by) != tirc_floordiv64(x.max, by))
    return false;
  *out = (Bound){tirc_floormod64(x.min, by), tirc_floormod64(x.max, by)};
  return true;
}

static Bound floor_remainder(Analyzer *a, Expr e, Bound x, Bound y) {
  Bound within;
  y = nonzero(y);
  if (y.min > y.max) return everything(e->dtype);
  if (y.min > 0 && y.min == y.max && within_period(x, y.min, &within)) return within;
  if (y.min > 0) {
    Bound r = {0, y.max == POS ? POS : y.max - 1};
    if (x.min >= 0) {
      if (x.max < y.min) return x;
      r.max = lower(r.max, x.max);
    }
    Bound stepped;
    if (y.min == y.max && stepped_residue(a, e->args[0], y.min, &stepped)) {
      Bound both = meet(r, stepped);
      if (both.min <= both.max) r = both;
    }
    return r;
  }
  Bound r = {lower(0, add(y.min, 1)), upper(0, add(y.max, -1))};
  return meet(r, everything(e->dtype));
}

static Bound trunc_remainder(Expr e, Bound x, Bound y) {
  y = nonzero(y);
  if (y.min <= 0 || y.min > y.max) return everything(e->dtype);
  int64_t cap = y.max == POS ? POS : y.max - 1;
  if (x.min >= 0) return x.max < y.min ? x : (Bound){0, lower(x.max, cap)};
  return (Bound){upper(x.min, neg(cap)), lower(upper(x.max, 0), cap)};
}

static Bound shifted(Expr e, Bound x, Bound y) {
  bool left = e->op == OP_SHIFT_LEFT;
  if (y.min < 0 || y.max > 62) return everything(e->dtype);
  Bound b = {(int64_t)1 << y.min, (int64_t)1 << y.max};
  return left ? corners(x, b, mul) : corners(x, b, divide_down);
}

static Bound bitwise_and(Expr e, Bound x, Bound y) {
  if (x.min >= 0 && y.min >= 0) return (Bound){0, lower(x.max, y.max)};
  if (y.min >= 0) return (Bound){0, y.max};
  return x.min >= 0 ? (Bound){0, x.max} : everything(e->dtype);
}

/* Of or, and exclusive or: no bit that neither has. */
static Bound bitwise_or(Expr e, Bound x, Bound y) {
  const int64_t most = upper(x.max, y.max);
  int64_t end = 1;
  if (x.min < 0 || y.min < 0 || most > POS / 2) return everything(e->dtype);
  while (end <= most) end *= 2;
  return (Bound){0, end - 1};
}

static Bound structural_bound(Analyzer *a, Expr e);

/* A finite end that is the sign of an infinity, or whose negative is, is moved outwards. */
static Bound finite_ends(Bound b) {
  if (b.min == POS) b.min = POS - 1;
  if (b.max < NEG + 2) b.max = NEG + 2;
  return b;
}

bool tirc_bound_fits(DType t, Bound b) {
  const Bound all = everything(t);
  const bool known = t.bits < 64 || (!infinite(b.max) && (t.code == TYPE_UINT || !infinite(b.min)));
  return known && all.min <= b.min && b.max <= all.max;
}

/* Of an operation that is not taken to stay within its type. */
static Bound around(Expr e, Bound b) {
  const bool leaves = e->op == OP_ADD || e->op == OP_SUB || e->op == OP_MUL ||
                      ((e->op == OP_FLOORDIV || e->op == OP_TRUNCDIV) && e->dtype.code == TYPE_INT);
  const bool wraps = (leaves && tirc_dtype_wraps(e->dtype)) || e->op == OP_SHIFT_LEFT;
  return wraps && !tirc_bound_fits(e->dtype, b) ? everything(e->dtype) : b;
}

Bound tirc_const_bound(Analyzer *a, Expr e) {
  if (e->op == OP_INT) return finite_ends((Bound){e->u.i, e->u.i});
  Bound b = finite_ends(structural_bound(a, e));
  for (int i = 0; i < a->bounds.n; i++)
    if (tirc_expr_same(a->bounds.at[i].e, e)) {
      Bound both = meet(b, finite_ends(a->bounds.at[i].bound));
      if (both.min <= both.max) b = both;
    }
  return b;
}

static Bound variable_bound(Analyzer *a, Expr var) {
  VarInfo *info = tirc_map_get(&a->vars, var);
  if (!info || !info->has_bound) return everything(var->dtype);
  if (!tirc_dtype_wraps(var->dtype)) return info->bound;
  const Bound both = meet(info->bound, everything(var->dtype));
  return both.min <= both.max ? both : everything(var->dtype);
}

static Bound cast_bound(Analyzer *a, Expr e) {
  const DType from = e->args[0]->dtype;
  const Bound all = everything(e->dtype), b = tirc_const_bound(a, e->args[0]);
  const bool integer = tirc_dtype_is_int(from) || from.code == TYPE_BOOL;
  const bool beyond = b.max == POS && tirc_dtype_is_uint64(from); /* no end of int64 is one of it */
  return integer && (!beyond || tirc_dtype_is_uint64(e->dtype)) && b.min >= all.min &&
                 b.max <= all.max
             ? b
             : all;
}

/* Takes the constants of a product out of its factors. */
static int64_t constants_of(ExprVec *factors) {
  int64_t product = 1;
  int kept = 0;
  for (int i = 0; i < factors->n; i++) {
    if (factors->at[i]->op != OP_INT)
      factors->at[kept++] = factors->at[i];
    else
      product = mul(product, factors->at[i]->u.i);
  }
  factors->n = kept;
  return product;
}

/* The c of an extent c * d, with d the divisor, whatever the order of their factors; 0: it has
 * none.
 *
 *   for f in range(12 * ((n + 15) // 16)):       f // ((n + 15) // 16) is one of 0 ... 11 */
static int64_t times_divisor(Analyzer *a, Expr extent, Expr divisor) {
  ExprVec all = {0}, some = {0};
  tirc_unpack(a->c, OP_MUL, extent, &all);
  tirc_unpack(a->c, OP_MUL, divisor, &some);
  const int64_t c = constants_of(&all), d = constants_of(&some);
  if (all.n != some.n || infinite(c) || infinite(d) || d <= 0 || c % d) return 0;
  for (int i = 0; i < some.n; i++) {
    int j = 0;
    while (j < all.n && !tirc_expr_same(some.at[i], all.at[j])) j++;
    if (j == all.n) return 0;
    all.at[j] = all.at[--all.n];
  }
  return c / d;
}

/* The quotient of a variable by a part of its extent, which may be unknown. */
static Bound floor_quotient(Analyzer *a, Expr e, Bound x, Bound y) {
  const Bound b = quotient(x, y, e->dtype, true);
  const VarInfo *v = e->args[0]->op == OP_VAR ? tirc_map_get(&a->vars, e->args[0]) : NULL;
  if (b.max != POS || !v || !v->has_range || !tirc_is_int(v->range.min, 0) || y.min == y.max ||
      tirc_loads_or_calls(e->args[1]))
    return b;
  const int64_t n = times_divisor(a, v->range.extent, e->args[1]);
  return n > 0 ? meet(b, (Bound){0, n - 1}) : b;
}

/* Of the numbers that x op y would be, if its type held all. */
static Bound operation_bound(Analyzer *a, Expr e, Bound x, Bound y) {
  switch (e->op) {
  case OP_ADD: return (Bound){add(x.min, y.min), add(x.max, y.max)};
  case OP_SUB: return (Bound){add(x.min, neg(y.max)), add(x.max, neg(y.min))};
  case OP_MUL: return corners(x, y, mul);
  case OP_TRUNCDIV: return quotient(x, y, e->dtype, false);
  case OP_FLOORDIV: return floor_quotient(a, e, x, y);
  case OP_TRUNCMOD: return trunc_remainder(e, x, y);
  case OP_FLOORMOD: return floor_remainder(a, e, x, y);
  case OP_MIN: return (Bound){lower(x.min, y.min), lower(x.max, y.max)};
  case OP_MAX: return (Bound){upper(x.min, y.min), upper(x.max, y.max)};
  case OP_SHIFT_LEFT:
  case OP_SHIFT_RIGHT: return shifted(e, x, y);
  case OP_BITWISE_AND: return bitwise_and(e, x, y);
  case OP_BITWISE_OR:
  case OP_BITWISE_XOR: return bitwise_or(e, x, y);
  default: return everything(e->dtype);
  }
}

Bound tirc_bound_of_operation(Analyzer *a, Expr e, Bound x, Bound y) {
  return finite_ends(operation_bound(a, e, x, y));
}

Bound tirc_unwrapped_bound(Analyzer *a, Expr e) {
  const bool sums = e->op == OP_ADD || e->op == OP_SUB || e->op == OP_MUL;
  if (!sums || !tirc_dtype_is_int(e->dtype) || e->dtype.lanes != 1) return tirc_const_bound(a, e);
  return tirc_bound_of_operation(a, e, tirc_const_bound(a, e->args[0]),
                                 tirc_const_bound(a, e->args[1]));
}

typedef struct Unknown {
  Analyzer *a;
  bool found, large;
} Unknown;

/* Loops over an unknown extent end one before what its type holds. A constant is large where an
 * index and it need not have a sum. */
static bool find_unknown(Visitor *v, Expr e) {
  Unknown *u = v->self;
  if (e->op == OP_INT) {
    const Bound all = everything(e->dtype);
    u->large |= e->u.i < all.min / 2 || e->u.i > all.max / 2;
  } else if (e->op == OP_VAR) {
    const Bound b = tirc_const_bound(u->a, e), all = everything(e->dtype);
    u->found |= b.min <= all.min || b.max >= all.max - 1;
  }
  return e->op != OP_LOAD && e->op != OP_CALL;
}

bool tirc_may_leave_type(Analyzer *a, Expr e) {
  if (!tirc_is_index(e->dtype) || tirc_bound_fits(e->dtype, tirc_unwrapped_bound(a, e)))
    return false;
  Unknown u = {.a = a};
  tirc_visit_expr(&(Visitor){.expr = find_unknown, .self = &u}, e);
  return u.large || !u.found;
}

static int64_t ceil_log2(int64_t x) {
  int64_t n = 0;
  while (((int64_t)1 << n) < x) n++;
  return n;
}

/* Of T.ceil(T.log2(x)) as an integer, where x is an integer that a float type has so exactly that
 * the logarithm of none is taken for a whole one by mistake. */
static bool log2_bound(Analyzer *a, Expr e, Bound *out) {
  if (e->op != OP_CAST || e->args[0]->op != OP_CEIL || e->args[0]->args[0]->op != OP_LOG2)
    return false;
  const Expr wide = e->args[0]->args[0]->args[0];
  if (wide->op != OP_CAST || !tirc_dtype_is_int(wide->args[0]->dtype)) return false;
  const int64_t most = wide->dtype.bits == 64 ? INT64_C(1) << 30 : INT64_C(1) << 12;
  const Bound x = tirc_const_bound(a, wide->args[0]);
  if (wide->dtype.bits < 32 || x.min < 1 || x.max > most) return false;
  *out = (Bound){ceil_log2(x.min), ceil_log2(x.max)};
  return true;
}

static Bound structural_bound(Analyzer *a, Expr e) {
  Bound logarithm;
  if (log2_bound(a, e, &logarithm)) return logarithm;
  if (e->op == OP_VAR) return variable_bound(a, e);
  if (e->op == OP_LET) return tirc_const_bound(a, e->args[2]);
  if (!tirc_dtype_is_int(e->dtype) || e->dtype.lanes != 1) return everything(e->dtype);
  if (e->op == OP_CAST) return cast_bound(a, e);
  if (e->op == OP_SELECT || e->op == OP_IF_THEN_ELSE)
    return join(tirc_const_bound(a, e->args[1]), tirc_const_bound(a, e->args[2]));
  if (e->op == OP_LIKELY) return tirc_const_bound(a, e->args[0]);
  if (e->n != 2 || e->op == OP_CALL || e->op == OP_LOAD) return everything(e->dtype);
  return around(
      e, operation_bound(a, e, tirc_const_bound(a, e->args[0]), tirc_const_bound(a, e->args[1])));
}
