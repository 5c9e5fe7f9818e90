/* Expressions of the interpreter: one C function an operation and kind of type, picked once when
 * the expression is compiled. What an operation on integers gives is said in ir/tree/int_op.h:
 * signed ones of 32 and 64 bits must not overflow (in generated code that is undefined), others
 * wrap around. */
#include "code.h"
#include "ir/tree/atomic.h"

#include "ir/tree/int_op.h"

#include "ir/tree/print.h"

_Noreturn static void overflows(Run *run, const Node *n) {
  tirc_run_fail(run, CODE_OVERFLOW, "use a wider integer type", "%s overflows %s",
                tirc_run_text(run, n->expr), tirc_dtype_name(run->t, n->dtype));
}
_Noreturn static void divides_by_zero(Run *run, const Node *n) {
  tirc_run_fail(run, CODE_DIVISION, NULL, "%s divides by zero", tirc_run_text(run, n->expr));
}

/* --- arithmetic: add, sub, mul ---------------------------------------------------------------- */

#define ARITHMETIC(NAME, op, builtin, sum)                                                         \
  static int64_t NAME##_int32(Run * run, const Node *n) {                                          \
    int64_t r = get_i(run, n->a) op get_i(run, n->b);                                              \
    if (r != (int32_t)r) overflows(run, n);                                                        \
    return r;                                                                                      \
  }                                                                                                \
  static int64_t NAME##_int64(Run * run, const Node *n) {                                          \
    int64_t r;                                                                                     \
    if (builtin(get_i(run, n->a), get_i(run, n->b), &r)) overflows(run, n);                        \
    return r;                                                                                      \
  }                                                                                                \
  static int64_t NAME##_wrapping(Run *run, const Node *n) {                                        \
    int64_t x = get_i(run, n->a), r;                                                               \
    (void)sum(n->dtype, x, get_i(run, n->b), &r);                                                  \
    return r;                                                                                      \
  }                                                                                                \
  static double NAME##_float64(Run *run, const Node *n) {                                          \
    return get_f(run, n->a) op get_f(run, n->b);                                                   \
  }                                                                                                \
  static double NAME##_float32(Run *run, const Node *n) {                                          \
    double x = get_f(run, n->a);                                                                   \
    return (double)((float)x op(float) get_f(run, n->b));                                          \
  }                                                                                                \
  static double NAME##_float(Run *run, const Node *n) {                                            \
    double x = get_f(run, n->a);                                                                   \
    return tirc_round_float(n->dtype, x op get_f(run, n->b));                                      \
  }                                                                                                \
  static void compile_##NAME(Compiler *k, Node *n) {                                               \
    DType t = n->dtype;                                                                            \
    (void)k;                                                                                       \
    if (tirc_dtype_is_float(t))                                                                    \
      n->eval.f = t.bits == 64 ? NAME##_float64 : t.bits == 32 ? NAME##_float32 : NAME##_float;    \
    else                                                                                           \
      n->eval.i = t.code != TYPE_INT || t.bits < 32 ? NAME##_wrapping                              \
                  : t.bits == 32                    ? NAME##_int32                                 \
                                                    : NAME##_int64;                                                   \
  }
ARITHMETIC(ADD, +, __builtin_add_overflow, tirc_int_add)
ARITHMETIC(SUB, -, __builtin_sub_overflow, tirc_int_sub)
ARITHMETIC(MUL, *, __builtin_mul_overflow, tirc_int_mul)

/* --- division --------------------------------------------------------------------------------- */

static double div_float(Run *run, const Node *n) {
  double x = get_f(run, n->a);
  return tirc_round_float(n->dtype, x / get_f(run, n->b));
}

_Noreturn static void unsupported(Compiler *k, const Node *n) {
  tirc_fail(k->t, k->loc, CODE_UNSUPPORTED, NULL, "the reference interpreter cannot evaluate %s",
            tirc_print_expr(k->t, n->expr));
}

static void compile_DIV(Compiler *k, Node *n) {
  if (!tirc_dtype_is_float(n->dtype)) unsupported(k, n);
  n->eval.f = div_float;
}

static inline int64_t of_division(Run *run, const Node *n, Op op) {
  int64_t x = get_i(run, n->a), r = 0;
  switch (tirc_int_divide(op, n->dtype, x, get_i(run, n->b), &r)) {
  case INT_DIVIDES_BY_ZERO: divides_by_zero(run, n);
  case INT_OVERFLOWS: overflows(run, n);
  default: return r;
  }
}
static int64_t trunc_div(Run *run, const Node *n) { return of_division(run, n, OP_TRUNCDIV); }
static int64_t trunc_mod(Run *run, const Node *n) { return of_division(run, n, OP_TRUNCMOD); }
static int64_t floor_div(Run *run, const Node *n) { return of_division(run, n, OP_FLOORDIV); }
static int64_t floor_mod(Run *run, const Node *n) { return of_division(run, n, OP_FLOORMOD); }
static double floor_div_float(Run *run, const Node *n) {
  double x = get_f(run, n->a);
  return tirc_round_float(n->dtype, __builtin_floor(x / get_f(run, n->b)));
}
static double floor_mod_float(Run *run, const Node *n) {
  double x = get_f(run, n->a), y = get_f(run, n->b);
  return tirc_round_float(n->dtype, x - __builtin_floor(x / y) * y);
}
static double trunc_mod_float(Run *run, const Node *n) {
  double x = get_f(run, n->a);
  return tirc_round_float(n->dtype, __builtin_fmod(x, get_f(run, n->b)));
}
static double trunc_div_float(Run *run, const Node *n) {
  double x = get_f(run, n->a);
  return tirc_round_float(n->dtype, __builtin_trunc(x / get_f(run, n->b)));
}

#define DIVISION(NAME, int_, float_)                                                               \
  static void compile_##NAME(Compiler *k, Node *n) {                                               \
    (void)k;                                                                                       \
    if (tirc_dtype_is_float(n->dtype))                                                             \
      n->eval.f = float_;                                                                          \
    else                                                                                           \
      n->eval.i = int_;                                                                            \
  }
DIVISION(TRUNCDIV, trunc_div, trunc_div_float)
DIVISION(TRUNCMOD, trunc_mod, trunc_mod_float)
DIVISION(FLOORDIV, floor_div, floor_div_float)
DIVISION(FLOORMOD, floor_mod, floor_mod_float)

/* --- comparison, minimum, logic --------------------------------------------------------------- */

#define COMPARISON(NAME, op)                                                                       \
  static int64_t NAME##_i(Run *run, const Node *n) {                                               \
    int64_t x = get_i(run, n->a);                                                                  \
    return x op get_i(run, n->b);                                                                  \
  }                                                                                                \
  static int64_t NAME##_u(Run *run, const Node *n) {                                               \
    uint64_t x = (uint64_t)get_i(run, n->a);                                                       \
    return x op(uint64_t) get_i(run, n->b);                                                        \
  }                                                                                                \
  static int64_t NAME##_f(Run *run, const Node *n) {                                               \
    double x = get_f(run, n->a);                                                                   \
    return x op get_f(run, n->b);                                                                  \
  }                                                                                                \
  static void compile_##NAME(Compiler *k, Node *n) {                                               \
    DType t = n->a->dtype;                                                                         \
    (void)k;                                                                                       \
    n->eval.i = tirc_dtype_is_float(t) ? NAME##_f : tirc_dtype_is_uint64(t) ? NAME##_u : NAME##_i; \
  }
COMPARISON(EQ, ==)
COMPARISON(NE, !=)
COMPARISON(LT, <)
COMPARISON(LE, <=)
COMPARISON(GT, >)
COMPARISON(GE, >=)

#define EXTREME(NAME, op)                                                                          \
  static int64_t NAME##_i(Run *run, const Node *n) {                                               \
    int64_t x = get_i(run, n->a), y = get_i(run, n->b);                                            \
    return x op y ? x : y;                                                                         \
  }                                                                                                \
  static int64_t NAME##_u(Run *run, const Node *n) {                                               \
    int64_t x = get_i(run, n->a), y = get_i(run, n->b);                                            \
    return (uint64_t)x op(uint64_t) y ? x : y;                                                     \
  }                                                                                                \
  static double NAME##_f(Run *run, const Node *n) {                                                \
    double x = get_f(run, n->a), y = get_f(run, n->b);                                             \
    return x op y ? x : y;                                                                         \
  }                                                                                                \
  static void compile_##NAME(Compiler *k, Node *n) {                                               \
    (void)k;                                                                                       \
    if (tirc_dtype_is_float(n->dtype))                                                             \
      n->eval.f = NAME##_f;                                                                        \
    else                                                                                           \
      n->eval.i = tirc_dtype_is_uint64(n->dtype) ? NAME##_u : NAME##_i;                            \
  }
EXTREME(MIN, <)
EXTREME(MAX, >)

static int64_t and_i(Run *run, const Node *n) { return get_i(run, n->a) && get_i(run, n->b); }
static int64_t or_i(Run *run, const Node *n) { return get_i(run, n->a) || get_i(run, n->b); }
static int64_t not_i(Run *run, const Node *n) { return !get_i(run, n->a); }

/* --- bits ------------------------------------------------------------------------------------- */

static int64_t bit_and(Run *run, const Node *n) { return get_i(run, n->a) & get_i(run, n->b); }
static int64_t bit_or(Run *run, const Node *n) { return get_i(run, n->a) | get_i(run, n->b); }
static int64_t bit_xor(Run *run, const Node *n) { return get_i(run, n->a) ^ get_i(run, n->b); }
static int64_t bit_not(Run *run, const Node *n) {
  int64_t r;
  (void)tirc_int_op(OP_BITWISE_NOT, n->dtype, get_i(run, n->a), 0, &r);
  return r;
}
static int64_t shift_amount(Run *run, const Node *n) {
  int64_t by = get_i(run, n->b);
  if (by < 0 || by >= n->dtype.bits)
    tirc_run_fail(run, CODE_OVERFLOW, "shift by less than the width of the type",
                  "%s shifts by %lld bits", tirc_run_text(run, n->expr), (long long)by);
  return by;
}
static int64_t shift_left(Run *run, const Node *n) {
  return tirc_wrap_int(n->dtype, (int64_t)((uint64_t)get_i(run, n->a) << shift_amount(run, n)));
}
static int64_t shift_right(Run *run, const Node *n) {
  int64_t x = get_i(run, n->a), by = shift_amount(run, n);
  return n->dtype.code == TYPE_UINT ? (int64_t)((uint64_t)x >> by) : x >> by;
}
static uint64_t bits_of(Run *run, const Node *n) {
  uint64_t x = (uint64_t)get_i(run, n->a);
  int unused = 64 - n->a->dtype.bits;
  return x << unused >> unused;
}
static int64_t popcount(Run *run, const Node *n) { return __builtin_popcountll(bits_of(run, n)); }
static int64_t clz(Run *run, const Node *n) {
  uint64_t x = bits_of(run, n);
  return x ? __builtin_clzll(x) - (64 - n->a->dtype.bits) : n->a->dtype.bits;
}

/* --- conversion ------------------------------------------------------------------------------- */

static int64_t cast_i_i(Run *run, const Node *n) {
  return tirc_wrap_int(n->dtype, get_i(run, n->a));
}
static int64_t cast_f_i(Run *run, const Node *n) {
  double x = __builtin_trunc(get_f(run, n->a));
  if (n->dtype.code == TYPE_BOOL) return x != 0;
  double limit = __builtin_ldexp(1, n->dtype.bits - (n->dtype.code == TYPE_INT));
  if (!(x < limit && x >= (n->dtype.code == TYPE_INT ? -limit : 0))) overflows(run, n);
  return tirc_dtype_is_uint64(n->dtype) ? (int64_t)(uint64_t)x : (int64_t)x;
}
static int64_t cast_f_bool(Run *run, const Node *n) { return get_f(run, n->a) != 0; }
static double cast_i_f(Run *run, const Node *n) {
  return tirc_round_int(n->dtype, n->a->dtype, get_i(run, n->a));
}
static double cast_f_f(Run *run, const Node *n) {
  return tirc_round_float(n->dtype, get_f(run, n->a));
}
static void compile_CAST(Compiler *k, Node *n) {
  bool from = tirc_dtype_is_float(n->a->dtype), to = tirc_dtype_is_float(n->dtype);
  if (!to && n->dtype.code != TYPE_BOOL && !tirc_dtype_is_int(n->dtype)) unsupported(k, n);
  if (to)
    n->eval.f = from ? cast_f_f : cast_i_f;
  else
    n->eval.i = !from ? cast_i_i : n->dtype.code == TYPE_BOOL ? cast_f_bool : cast_f_i;
}

/* The bits of a value in its dtype, and back. */
static uint64_t encode(DType t, Cell v) {
  if (!tirc_dtype_is_float(t)) return (uint64_t)v.i;
  if (t.code == TYPE_BFLOAT) return tirc_double_to_bfloat(v.f);
  if (t.bits == 16) return tirc_double_to_half(v.f);
  uint64_t bits = 0;
  float single = (float)v.f;
  if (t.bits == 32)
    memcpy(&bits, &single, 4);
  else
    memcpy(&bits, &v.f, 8);
  return bits;
}
/* The bits of one lane of the result: a part of a lane of the operand, or several of them. */
static uint64_t reinterpreted(Run *run, const Node *n) {
  DType given = n->a->expr->dtype;
  int to = n->dtype.bits, from = given.bits, lane = run->lane;
  if (to == from) return encode(given, get_cell(run, n->a));
  uint64_t bits = 0;
  if (n->dtype.lanes == 1) lane = 0;
  for (int got = 0; got < to; got += from < to ? from : to) {
    run->lane = (lane * to + got) / from;
    uint64_t part = encode(given, get_cell(run, n->a));
    if (from < to)
      bits |= (part & (((uint64_t)1 << from) - 1)) << got;
    else
      bits = part >> (lane * to % from);
  }
  run->lane = lane;
  return bits;
}
static int64_t reinterpret_i(Run *run, const Node *n) {
  return tirc_wrap_int(n->dtype, (int64_t)reinterpreted(run, n));
}
static double reinterpret_f(Run *run, const Node *n) {
  uint64_t bits = reinterpreted(run, n);
  if (n->dtype.code == TYPE_BFLOAT) return tirc_bfloat_to_double((uint16_t)bits);
  if (n->dtype.bits == 16) return tirc_half_to_double((uint16_t)bits);
  float single;
  double v;
  memcpy(&single, &bits, 4);
  memcpy(&v, &bits, 8);
  return n->dtype.bits == 32 ? (double)single : v;
}
static void compile_REINTERPRET(Compiler *k, Node *n) {
  DType given = n->a->expr->dtype;
  n->dtype = n->expr->dtype; /* the program's, also where others are computed in double */
  if (given.bits * given.lanes != n->dtype.bits * n->dtype.lanes) unsupported(k, n);
  if (tirc_dtype_is_float(n->dtype))
    n->eval.f = reinterpret_f;
  else
    n->eval.i = reinterpret_i;
}

/* --- choice, let, vectors: the same for both kinds of values ---------------------------------- */

/* A value of the kind that the node has: I_VALUE for the integer form, F for the float one. */
#define BOTH(NAME, body)                                                                           \
  static int64_t NAME##_i(Run *run, const Node *n)                                                 \
      body(int64_t, get_i, i) static double NAME##_f(Run *run, const Node *n)                      \
          body(double, get_f, f) static void pick_##NAME(Node *n) {                                \
    if (tirc_dtype_is_float(n->dtype))                                                             \
      n->eval.f = NAME##_f;                                                                        \
    else                                                                                           \
      n->eval.i = NAME##_i;                                                                        \
  }

/* Both sides are evaluated, so both must be in bounds; only the chosen one must be initialised. */
#define SELECT_BODY(T, get, cls)                                                                   \
  {                                                                                                \
    bool first = get_i(run, n->a) != 0, before = run->poisoned;                                    \
    (void)get(run, first ? n->c : n->b);                                                           \
    run->poisoned = false;                                                                         \
    T v = get(run, first ? n->b : n->c);                                                           \
    if (run->poisoned && !n->tolerant)                                                             \
      tirc_run_fail(run, CODE_UNINITIALISED, NULL,                                                 \
                    "buffer \"%s\" is read where it was never written", run->poisoned_buffer);     \
    run->poisoned |= before;                                                                       \
    return v;                                                                                      \
  }
#define IF_BODY(T, get, cls)                                                                       \
  { return get(run, get_i(run, n->a) ? n->b : n->c); }
#define A_BODY(T, get, cls)                                                                        \
  { return get(run, n->a); }
#define B_BODY(T, get, cls)                                                                        \
  { return get(run, n->b); }
#define LANES_BODY(T, get, cls)                                                                    \
  { return n->u.lanes[run->lane].cls; }
/* (Lane l of a vector that is repeated is lane l modulo its length.) */
#define BROADCAST_BODY(T, get, cls)                                                                \
  {                                                                                                \
    int lane = run->lane;                                                                          \
    run->lane = lane % n->a->dtype.lanes;                                                          \
    T v = get(run, n->a);                                                                          \
    run->lane = lane;                                                                              \
    return v;                                                                                      \
  }
/* let: args variable, value, body */
#define LET_BODY(T, get, cls)                                                                      \
  {                                                                                                \
    int lane = run->lane;                                                                          \
    for (int l = 0; l < n->b->dtype.lanes; l++) {                                                  \
      if (n->b->dtype.lanes > 1) run->lane = l;                                                    \
      n->u.lanes[l] = get_cell(run, n->b);                                                         \
    }                                                                                              \
    run->lane = lane;                                                                              \
    return get(run, n->c);                                                                         \
  }
BOTH(select, SELECT_BODY)
BOTH(if_then_else, IF_BODY)
BOTH(same, A_BODY)
BOTH(lanes, LANES_BODY)
BOTH(broadcast, BROADCAST_BODY)
BOTH(let, LET_BODY)

static int64_t ramp(Run *run, const Node *n) {
  int lane = run->lane, inner = n->a->dtype.lanes;
  run->lane = lane % inner;
  int64_t base = get_i(run, n->a), stride = get_i(run, n->b), way, r;
  const int64_t steps = tirc_wrap_int(n->dtype, lane / inner);
  run->lane = lane;
  if (tirc_int_mul(n->dtype, stride, steps, &way) == INT_OVERFLOWS ||
      tirc_int_add(n->dtype, base, way, &r) == INT_OVERFLOWS)
    overflows(run, n);
  return r;
}

/* A tolerant load hands poison on instead of raising an error. */
static void let_poison_pass(const Node *n) {
  Node *m = (Node *)(uintptr_t)n;
  if (n->expr->op == OP_LOAD) m->tolerant = true;
}

static void compile_SELECT(Compiler *k, Node *n) {
  (void)k;
  pick_select(n);
  let_poison_pass(n->b);
  let_poison_pass(n->c);
}
static void compile_IF_THEN_ELSE(Compiler *k, Node *n) {
  (void)k;
  pick_if_then_else(n);
}
static void compile_LIKELY(Compiler *k, Node *n) {
  (void)k;
  pick_same(n);
}
static void compile_BROADCAST(Compiler *k, Node *n) {
  (void)k;
  if (n->a->dtype.lanes == 1)
    pick_same(n);
  else
    pick_broadcast(n);
}
static void compile_RAMP(Compiler *k, Node *n) {
  if (tirc_dtype_is_float(n->dtype)) unsupported(k, n);
  n->eval.i = ramp;
}

/* --- leaves ----------------------------------------------------------------------------------- */

static void compile_VAR(Compiler *k, Node *n) {
  Cell *cell = tirc_map_get(&k->vars, n->expr);
  if (!cell)
    tirc_fail(k->t, k->loc, CODE_NAME, NULL, "the variable \"%s\" is not defined here",
              n->expr->u.s);
  if (n->dtype.lanes == 1) {
    n->cell = cell;
  } else {
    n->u.lanes = cell;
    pick_lanes(n);
  }
}
static void compile_INT(Compiler *k, Node *n) {
  (void)k;
  n->u.constant.i = n->expr->u.i;
  n->cell = &n->u.constant;
}
static void compile_LARGE_UINT(Compiler *k, Node *n) { compile_INT(k, n); }
static void compile_FLOAT(Compiler *k, Node *n) {
  (void)k;
  n->u.constant.f = tirc_round_float(n->dtype, n->expr->u.f);
  n->cell = &n->u.constant;
}
static void compile_LET(Compiler *k, Node *n) {
  n->b = tirc_compile_expr(k, n->expr->args[1]);
  n->u.lanes = tirc_compile_let_var(k, n->expr->args[0], n->b, &n->bounds);
  n->c = tirc_compile_expr(k, n->expr->args[2]);
  pick_let(n);
}

/* --- the table -------------------------------------------------------------------------------- */

#define INTEGER_ONLY(NAME, function)                                                               \
  static void compile_##NAME(Compiler *k, Node *n) {                                               \
    if (tirc_dtype_is_float(n->a->dtype) || tirc_dtype_is_float(n->dtype)) unsupported(k, n);      \
    n->eval.i = function;                                                                          \
  }
INTEGER_ONLY(AND, and_i)
INTEGER_ONLY(OR, or_i)
INTEGER_ONLY(NOT, not_i)
INTEGER_ONLY(BITWISE_AND, bit_and)
INTEGER_ONLY(BITWISE_OR, bit_or)
INTEGER_ONLY(BITWISE_XOR, bit_xor)
INTEGER_ONLY(BITWISE_NOT, bit_not)
INTEGER_ONLY(SHIFT_LEFT, shift_left)
INTEGER_ONLY(SHIFT_RIGHT, shift_right)
INTEGER_ONLY(POPCOUNT, popcount)
INTEGER_ONLY(CLZ, clz)

static void compile_LOAD(Compiler *k, Node *n) { tirc_compile_load(k, n); }
static void compile_CALL(Compiler *k, Node *n) {
  if (tirc_is_atomic(n->expr))
    tirc_compile_update(k, n);
  else
    tirc_compile_extern(k, n);
}
static void compile_STRING(Compiler *k, Node *n) { unsupported(k, n); }
static void compile_TUPLE(Compiler *k, Node *n) { unsupported(k, n); }
static void compile_DICT(Compiler *k, Node *n) { unsupported(k, n); }
static void compile_NONE(Compiler *k, Node *n) { unsupported(k, n); }
static void compile_Q_MULTIPLY_SHIFT(Compiler *k, Node *n) { tirc_compile_q(k, n); }
static void compile_Q_MULTIPLY_SHIFT_PER_AXIS(Compiler *k, Node *n) { tirc_compile_q(k, n); }

/* What is not here is a function of floats and stands in math.c. */
static void compile_float_math(Compiler *k, Node *n) {
  if (!tirc_compile_math(k, n)) unsupported(k, n);
}
#define compile_EXP compile_float_math
#define compile_EXP2 compile_float_math
#define compile_EXP10 compile_float_math
#define compile_LOG compile_float_math
#define compile_LOG2 compile_float_math
#define compile_LOG10 compile_float_math
#define compile_LOG1P compile_float_math
#define compile_SQRT compile_float_math
#define compile_RSQRT compile_float_math
#define compile_SIN compile_float_math
#define compile_COS compile_float_math
#define compile_TAN compile_float_math
#define compile_ASIN compile_float_math
#define compile_ACOS compile_float_math
#define compile_ATAN compile_float_math
#define compile_ATAN2 compile_float_math
#define compile_SINH compile_float_math
#define compile_COSH compile_float_math
#define compile_TANH compile_float_math
#define compile_SIGMOID compile_float_math
#define compile_ERF compile_float_math
#define compile_POW compile_float_math
#define compile_FMOD compile_float_math
#define compile_FLOOR compile_float_math
#define compile_CEIL compile_float_math
#define compile_TRUNC compile_float_math
#define compile_ROUND compile_float_math
#define compile_NEARBYINT compile_float_math
#define compile_ABS compile_float_math
#define compile_FMA compile_float_math
#define compile_COPYSIGN compile_float_math
#define compile_ISNAN compile_float_math
#define compile_ISINF compile_float_math
#define compile_ISFINITE compile_float_math
#define compile_ASINH compile_float_math
#define compile_ACOSH compile_float_math
#define compile_ATANH compile_float_math
#define compile_HYPOT compile_float_math
#define compile_LDEXP compile_float_math
#define compile_NEXTAFTER compile_float_math

static void (*const compilers[OP_COUNT])(Compiler *, Node *) = {
#define OP(id, name, arity, class, precedence, c_form) [OP_##id] = compile_##id,
#include "ir/tree/ops.def"
#undef OP
};

const Node *tirc_compile_expr(Compiler *k, Expr e) {
  Node *n = tirc_new(k->t, Node);
  n->expr = e;
  n->dtype = tirc_dtype_in_run(k, e->dtype);
  bool many = e->op == OP_Q_MULTIPLY_SHIFT || e->op == OP_Q_MULTIPLY_SHIFT_PER_AXIS;
  bool own =
      e->op == OP_LET || e->op == OP_LOAD || e->op == OP_CALL || many; /* they compile them */
  if (!own) {
    const Node **operand[] = {&n->a, &n->b, &n->c};
    for (int i = 0; i < e->n && i < 3; i++) *operand[i] = tirc_compile_expr(k, e->args[i]);
  }
  compilers[e->op](k, n);
  if (k->bounded) tirc_compile_bound(k, n);
  return n;
}

const Node **tirc_compile_exprs(Compiler *k, int count, const Expr *at) {
  const Node **nodes = tirc_new_array(k->t, const Node *, count);
  for (int i = 0; i < count; i++) nodes[i] = tirc_compile_expr(k, at[i]);
  return nodes;
}
