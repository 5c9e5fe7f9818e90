/* What an operation on integers gives, said once more and in another way (numbers of 128 bits, and
 * a remainder by 2 to the power of the width) than ir/tree/int_op.h says it; random expressions,
 * and their values by this. For tests of everything that computes with integers.
 *
 * Not looked at, for there is no value: division and remainder by 0; shifts by less than 0 or by
 * the width of the type and more; sums, differences, products, quotients (and the remainder of the
 * least number by -1) and absolute values of int32 and int64 that leave their type. */
#ifndef TIRC_TESTS_INT_ORACLE_H
#define TIRC_TESTS_INT_ORACLE_H

#include "ir/tree/ir.h"

typedef __int128 Wide;

enum { N_TYPES = 9, MAX_EDGES = 25 };
static const DType types[N_TYPES] = {{TYPE_BOOL, 1, 1},  {TYPE_INT, 8, 1},   {TYPE_INT, 16, 1},
                                     {TYPE_INT, 32, 1},  {TYPE_INT, 64, 1},  {TYPE_UINT, 8, 1},
                                     {TYPE_UINT, 16, 1}, {TYPE_UINT, 32, 1}, {TYPE_UINT, 64, 1}};

static inline Wide power_of_two(int n) { return (Wide)1 << n; }
static inline Wide least(DType t) { return t.code == TYPE_INT ? -power_of_two(t.bits - 1) : 0; }
static inline Wide greatest(DType t) {
  return t.code == TYPE_BOOL ? 1 : power_of_two(t.code == TYPE_INT ? t.bits - 1 : t.bits) - 1;
}
/* Values are int64_t, those of uint64 by their bits. */
static inline Wide number(DType t, int64_t v) {
  return t.code == TYPE_UINT && v < 0 ? (Wide)v + power_of_two(64) : v;
}
static inline int64_t bits_of(Wide v) { return (int64_t)(uint64_t)v; }

static inline Wide floor_of(Wide a, Wide b) {
  const Wide q = a / b;
  return a % b != 0 && (a % b < 0) != (b < 0) ? q - 1 : q;
}

/* The number of the type that differs from v by a multiple of 2 ** bits. */
static inline Wide around(DType t, Wide v) {
  const Wide span = power_of_two(t.bits);
  if (t.code == TYPE_BOOL) return v != 0;
  return v - floor_of(v - least(t), span) * span;
}

/* More is not reckoned with. */
static const Wide too_large = (Wide)1 << 120;

/* `loose`: int32 and int64 hold every number, as rules for indices suppose. */
static inline bool oracle_wide(Op op, DType t, Wide x, Wide y, bool loose, Wide *out) {
  const bool is_bool = t.code == TYPE_BOOL, exact = t.code == TYPE_INT && t.bits >= 32;
  const bool divides =
      op == OP_FLOORDIV || op == OP_FLOORMOD || op == OP_TRUNCDIV || op == OP_TRUNCMOD;
  const bool shifts = op == OP_SHIFT_LEFT || op == OP_SHIFT_RIGHT;
  Wide v = 0;
  bool lost = false;
  if (divides && (y == 0 || (exact && !loose && x == least(t) && y == -1))) return false;
  if (shifts && (y < 0 || y >= t.bits)) return false;
  switch (op) {
  case OP_ADD: v = is_bool ? x || y : x + y; break;
  case OP_SUB: v = is_bool ? x != y : x - y; break;
  case OP_MUL: lost = __builtin_mul_overflow(x, y, &v); break;
  case OP_FLOORDIV: v = floor_of(x, y); break;
  case OP_FLOORMOD: v = x - floor_of(x, y) * y; break;
  case OP_TRUNCDIV: v = x / y; break;
  case OP_TRUNCMOD: v = x % y; break;
  case OP_MIN: v = x < y ? x : y; break;
  case OP_MAX: v = x > y ? x : y; break;
  case OP_EQ: v = x == y; break;
  case OP_NE: v = x != y; break;
  case OP_LT: v = x < y; break;
  case OP_LE: v = x <= y; break;
  case OP_GT: v = x > y; break;
  case OP_GE: v = x >= y; break;
  case OP_AND: v = x != 0 && y != 0; break;
  case OP_OR: v = x != 0 || y != 0; break;
  case OP_NOT: v = x == 0; break;
  case OP_BITWISE_AND: v = x & y; break;
  case OP_BITWISE_OR: v = x | y; break;
  case OP_BITWISE_XOR: v = x ^ y; break;
  case OP_BITWISE_NOT: v = is_bool ? x == 0 : -x - 1; break;
  case OP_SHIFT_LEFT: v = around(t, around(t, x) * power_of_two((int)y)); break;
  case OP_SHIFT_RIGHT: v = floor_of(x, power_of_two((int)y)); break;
  case OP_ABS: v = x < 0 ? -x : x; break;
  default: return false;
  }
  if (op >= OP_EQ && op <= OP_NOT) return *out = v, true;
  if (!exact)
    return *out = around(t, lost ? (Wide)((unsigned __int128)x * (unsigned __int128)y) : v), true;
  if (loose) return *out = lost || v > too_large || v < -too_large ? too_large : v, true;
  return *out = v, !lost && v >= least(t) && v <= greatest(t);
}

static inline bool oracle(Op op, DType t, int64_t a, int64_t b, int64_t *out) {
  Wide v;
  const bool defined = oracle_wide(op, t, number(t, a), number(t, b), false, &v);
  return defined ? (*out = bits_of(v), true) : false;
}

static inline int64_t oracle_cast(DType from, DType to, int64_t v) {
  return bits_of(around(to, number(from, v)));
}

static inline int add_edge(DType t, Wide v, int n, int64_t *out) {
  if (v < least(t) || v > greatest(t)) return n;
  for (int i = 0; i < n; i++)
    if (out[i] == bits_of(v)) return n;
  out[n] = bits_of(v);
  return n + 1;
}

static inline int edges_of(DType t, int64_t *out) {
  const Wide lo = least(t), hi = greatest(t);
  const Wide twice =
      power_of_two(30) + power_of_two(22) + 1; /* bfloat16 of its float32 is another */
  const Wide all[] = {lo,     lo + 1, -1, 0,      1,          2,          hi - 1,  hi,
                      twice,  3,      7,  8,      -2,         -3,         -7,      lo / 2,
                      hi / 2, 31,     63, hi / 3, hi / 2 + 1, lo / 2 - 1, hi / 16, lo + hi / 16,
                      100};
  int n = 0;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) n = add_edge(t, all[i], n, out);
  return n;
}

/* --- random expressions ----------------------------------------------------------------------- */

typedef struct Random {
  uint64_t state;
} Random;

static inline uint32_t draw(Random *r) {
  r->state = r->state * 6364136223846793005ull + 1442695040888963407ull;
  return (uint32_t)(r->state >> 33);
}
static inline int below(Random *r, int n) { return (int)(draw(r) % (uint32_t)n); }

enum { N_VARS = 4 };
typedef struct World {
  Tirc *c;
  Random r;
  Expr vars[N_VARS];
  int64_t values[N_VARS];
} World;

static inline int64_t random_edge(World *w, DType t) {
  int64_t edges[MAX_EDGES];
  const int n = edges_of(t, edges);
  if (below(&w->r, 3)) return edges[below(&w->r, n)];
  return oracle_cast(DT_UINT64, t, (int64_t)((uint64_t)draw(&w->r) << 33 ^ draw(&w->r)));
}

/* False where the expression has no value. `loose`: see oracle_wide; and what is divided by 0 on
 * the side of a choice that is not taken, is nothing. */
static inline bool wide_value(const World *w, Expr e, bool loose, Wide *out) {
  Wide x = 0, y = 0;
  if (e->op == OP_INT || e->op == OP_LARGE_UINT) return *out = number(e->dtype, e->u.i), true;
  for (int i = 0; i < N_VARS; i++)
    if (e == w->vars[i]) return *out = number(e->dtype, w->values[i]), true;
  if (e->n < 1 || !wide_value(w, e->args[0], loose, &x)) return false;
  if (e->op == OP_SELECT && loose) return wide_value(w, e->args[x ? 1 : 2], loose, out);
  if (e->op == OP_SELECT) { /* both sides are computed */
    if (!wide_value(w, e->args[1], loose, &y) || !wide_value(w, e->args[2], loose, out))
      return false;
    if (x) *out = y;
    return true;
  }
  if (e->n == 2 && !wide_value(w, e->args[1], loose, &y)) return false;
  if (e->op == OP_CAST) return *out = around(e->dtype, x), true;
  return oracle_wide((Op)e->op, e->args[0]->dtype, x, y, loose, out);
}

static inline bool value_of(const World *w, Expr e, int64_t *out) {
  Wide v;
  return wide_value(w, e, false, &v) ? (*out = bits_of(v), true) : false;
}

static inline Expr random_leaf(World *w, DType t) {
  const Expr var = w->vars[below(&w->r, N_VARS)];
  if (tirc_dtype_equal(var->dtype, t)) return var;
  if (below(&w->r, 3)) return tirc_expr(w->c, OP_CAST, t, 1, &var);
  return tirc_int_of_bits(w->c, t, random_edge(w, t));
}

static inline Expr random_expr(World *w, DType t, int depth);

static inline Expr random_node(World *w, Op op, DType result, DType of, int depth) {
  Expr args[2] = {random_expr(w, of, depth - 1), random_expr(w, of, depth - 1)};
  const bool shifts = op == OP_SHIFT_LEFT || op == OP_SHIFT_RIGHT;
  if (shifts) args[1] = tirc_int_of_bits(w->c, of, below(&w->r, of.bits));
  if (op == OP_NOT || op == OP_BITWISE_NOT) return tirc_expr(w->c, op, result, 1, args);
  const bool folds = op <= OP_OR && below(&w->r, 2);
  return folds ? tirc_binary(w->c, op, args[0], args[1]) : tirc_expr(w->c, op, result, 2, args);
}

static inline Expr random_expr(World *w, DType t, int depth) {
  static const Op on_ints[] = {OP_ADD,         OP_SUB,         OP_MUL,         OP_ADD,
                               OP_SUB,         OP_MUL,         OP_FLOORDIV,    OP_FLOORMOD,
                               OP_TRUNCDIV,    OP_TRUNCMOD,    OP_MIN,         OP_MAX,
                               OP_BITWISE_AND, OP_BITWISE_OR,  OP_BITWISE_XOR, OP_BITWISE_NOT,
                               OP_SHIFT_LEFT,  OP_SHIFT_RIGHT, OP_CAST,        OP_SELECT};
  static const Op on_bools[] = {OP_ADD, OP_SUB, OP_MUL, OP_MIN,         OP_MAX, OP_EQ,   OP_NE,
                                OP_LT,  OP_LE,  OP_GT,  OP_GE,          OP_AND, OP_OR,   OP_NOT,
                                OP_LT,  OP_EQ,  OP_GE,  OP_BITWISE_NOT, OP_LE,  OP_CAST, OP_SELECT};
  if (depth == 0) return random_leaf(w, t);
  const bool is_bool = t.code == TYPE_BOOL;
  const Op op = is_bool ? on_bools[below(&w->r, sizeof on_bools / sizeof *on_bools)]
                        : on_ints[below(&w->r, sizeof on_ints / sizeof *on_ints)];
  const DType other = w->vars[below(&w->r, N_VARS)]->dtype;
  if (op == OP_CAST) {
    const Expr from = random_expr(w, other, depth - 1);
    return tirc_expr(w->c, OP_CAST, t, 1, &from);
  }
  if (op == OP_SELECT) {
    Expr args[3] = {random_expr(w, DT_BOOL, depth - 1), random_expr(w, t, depth - 1),
                    random_expr(w, t, depth - 1)};
    return tirc_expr(w->c, OP_SELECT, t, 3, args);
  }
  const bool compares = op >= OP_EQ && op <= OP_GE;
  return random_node(w, op, t, compares ? other : t, depth);
}

#endif
