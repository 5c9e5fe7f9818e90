/* The operations that kernels are full of, over arrays of values. Each gives what the interpreter's
 * gives (expr.c), which does all that is not here. */
#include "code.h"
#include "half.h"

#include "ir/tree/int_op.h"
#include "ir/tree/print.h"

/* BODY makes the value of room[k] of x and y. */
#define OVER_ALL(member, BODY)                                                                     \
  Cell *top = e->top;                                                                              \
  const Values a = evaluate(e, p->a, l, room);                                                     \
  const Values b = evaluate(e, p->b, l, take(e, l->n));                                            \
  e->top = top;                                                                                    \
  const int n = a.same && b.same ? 1 : l->n;                                                       \
  if (a.same && b.same) {                                                                          \
    const Number_##member x = a.at[0].member, y = b.at[0].member;                                  \
    const int k = 0;                                                                               \
    BODY;                                                                                          \
  } else if (a.same) {                                                                             \
    const Number_##member x = a.at[0].member;                                                      \
    for (int k = 0; k < n; k++) {                                                                  \
      const Number_##member y = b.at[k].member;                                                    \
      BODY;                                                                                        \
    }                                                                                              \
  } else if (b.same) {                                                                             \
    const Number_##member y = b.at[0].member;                                                      \
    for (int k = 0; k < n; k++) {                                                                  \
      const Number_##member x = a.at[k].member;                                                    \
      BODY;                                                                                        \
    }                                                                                              \
  } else {                                                                                         \
    for (int k = 0; k < n; k++) {                                                                  \
      const Number_##member x = a.at[k].member, y = b.at[k].member;                                \
      BODY;                                                                                        \
    }                                                                                              \
  }

typedef int64_t Number_i;
typedef double Number_f;
#define DONE_WITH_ALL ((Values){room, a.same && b.same})

_Noreturn static void overflows(Emu *e, const Piece *p, const Threads *l, const Cell *room, int n) {
  int k = 0;
  while (k + 1 < n && room[k].i == (int32_t)room[k].i) k++;
  e->thread = l->at[k];
  tirc_emu_fail(e, CODE_OVERFLOW, "use a wider integer type", "%s overflows %s",
                tirc_print_expr(e->t, p->expr), tirc_dtype_name(e->t, p->dtype));
}

#define ARITHMETIC(NAME, op, builtin)                                                              \
  static Values NAME##_int32(Emu * e, const Piece *p, const Threads *l, Cell *room) {              \
    int64_t lost = 0;                                                                              \
    OVER_ALL(i, room[k].i = x op y; lost |= room[k].i ^ (int32_t)room[k].i)                        \
    if (lost) overflows(e, p, l, room, n);                                                         \
    return DONE_WITH_ALL;                                                                          \
  }                                                                                                \
  static Values NAME##_int64(Emu * e, const Piece *p, const Threads *l, Cell *room) {              \
    OVER_ALL(i, if (builtin(x, y, &room[k].i)) overflows(e, p, l, room, k + 1))                    \
    return DONE_WITH_ALL;                                                                          \
  }
#define OF_FLOATS(NAME, op, round)                                                                 \
  static Values NAME##_float16(Emu *e, const Piece *p, const Threads *l, Cell *room) {             \
    OVER_ALL(f, room[k].f = x op y)                                                                \
    round(room, n);                                                                                \
    return DONE_WITH_ALL;                                                                          \
  }                                                                                                \
  static Values NAME##_float32(Emu *e, const Piece *p, const Threads *l, Cell *room) {             \
    OVER_ALL(f, room[k].f = (double)((float)x op(float) y))                                        \
    return DONE_WITH_ALL;                                                                          \
  }                                                                                                \
  static Values NAME##_float64(Emu *e, const Piece *p, const Threads *l, Cell *room) {             \
    OVER_ALL(f, room[k].f = x op y)                                                                \
    return DONE_WITH_ALL;                                                                          \
  }
OF_FLOATS(add, +, tirc_emu_round_floats_to_half)
OF_FLOATS(sub, -, tirc_emu_round_floats_to_half)
OF_FLOATS(mul, *, tirc_emu_round_floats_to_half)
OF_FLOATS(div, /, tirc_emu_round_to_half)
ARITHMETIC(add, +, __builtin_add_overflow)
ARITHMETIC(sub, -, __builtin_sub_overflow)
ARITHMETIC(mul, *, __builtin_mul_overflow)

#define COMPARISON(NAME, op)                                                                       \
  static Values NAME##_int(Emu *e, const Piece *p, const Threads *l, Cell *room) {                 \
    OVER_ALL(i, room[k].i = x op y)                                                                \
    return DONE_WITH_ALL;                                                                          \
  }                                                                                                \
  static Values NAME##_float(Emu *e, const Piece *p, const Threads *l, Cell *room) {               \
    OVER_ALL(f, room[k].i = x op y)                                                                \
    return DONE_WITH_ALL;                                                                          \
  }
COMPARISON(eq, ==)
COMPARISON(ne, !=)
COMPARISON(lt, <)
COMPARISON(le, <=)
COMPARISON(gt, >)
COMPARISON(ge, >=)

static Values min_int(Emu *e, const Piece *p, const Threads *l, Cell *room) {
  OVER_ALL(i, room[k].i = x < y ? x : y)
  return DONE_WITH_ALL;
}
static Values max_int(Emu *e, const Piece *p, const Threads *l, Cell *room) {
  OVER_ALL(i, room[k].i = x > y ? x : y)
  return DONE_WITH_ALL;
}
static Values min_float(Emu *e, const Piece *p, const Threads *l, Cell *room) {
  OVER_ALL(f, room[k].f = x < y ? x : y)
  return DONE_WITH_ALL;
}
static Values max_float(Emu *e, const Piece *p, const Threads *l, Cell *room) {
  OVER_ALL(f, room[k].f = x > y ? x : y)
  return DONE_WITH_ALL;
}

static Values of_not(Emu *e, const Piece *p, const Threads *l, Cell *room) {
  const Values a = evaluate(e, p->a, l, room);
  for (int k = 0; k < (a.same ? 1 : l->n); k++) room[k].i = !a.at[k].i;
  return (Values){room, a.same};
}

/* Of int32 and int64 by a positive constant. */
#define DIVISION(NAME, power, any)                                                                 \
  static Values NAME(Emu *e, const Piece *p, const Threads *l, Cell *room) {                       \
    const Values a = evaluate(e, p->a, l, room);                                                   \
    const int64_t by = p->b->constant.i;                                                           \
    const int n = a.same ? 1 : l->n, shift = __builtin_ctzll((uint64_t)by);                        \
    (void)shift;                                                                                   \
    if ((by & (by - 1)) == 0)                                                                      \
      for (int k = 0; k < n; k++) room[k].i = power;                                               \
    else                                                                                           \
      for (int k = 0; k < n; k++) {                                                                \
        const int64_t x = a.at[k].i;                                                               \
        const bool small = (uint64_t)x <= UINT32_MAX && by <= UINT32_MAX;                          \
        const int64_t q = small ? (int64_t)((uint32_t)x / (uint32_t)by) : x / by - (x % by < 0);   \
        room[k].i = any;                                                                           \
      }                                                                                            \
    return (Values){room, a.same};                                                                 \
  }
DIVISION(floordiv, a.at[k].i >> shift, q)
DIVISION(floormod, a.at[k].i &(by - 1), x - q * by)

/* Likewise, rounded to 0. */
static inline int64_t quotient(int64_t x, int64_t by, int shift) {
  if (shift >= 0) return (x + ((x >> 63) & (by - 1))) >> shift;
  const bool small = (uint64_t)x <= UINT32_MAX && by <= UINT32_MAX;
  return small ? (int64_t)((uint32_t)x / (uint32_t)by) : x / by;
}
static int shift_of(int64_t by) {
  return (by & (by - 1)) == 0 ? __builtin_ctzll((uint64_t)by) : -1;
}
static Values truncdiv(Emu *e, const Piece *p, const Threads *l, Cell *room) {
  const Values a = evaluate(e, p->a, l, room);
  const int64_t by = p->b->constant.i;
  const int shift = shift_of(by);
  for (int k = 0; k < (a.same ? 1 : l->n); k++) room[k].i = quotient(a.at[k].i, by, shift);
  return (Values){room, a.same};
}
static Values truncmod(Emu *e, const Piece *p, const Threads *l, Cell *room) {
  const Values a = evaluate(e, p->a, l, room);
  const int64_t by = p->b->constant.i;
  const int shift = shift_of(by);
  for (int k = 0; k < (a.same ? 1 : l->n); k++)
    room[k].i = a.at[k].i - quotient(a.at[k].i, by, shift) * by;
  return (Values){room, a.same};
}

/* A value that the new type has, too, stays as it is. */
static Values cast_to_wider(Emu *e, const Piece *p, const Threads *l, Cell *room) {
  return evaluate(e, p->a, l, room);
}
static Values cast_to_float32(Emu *e, const Piece *p, const Threads *l, Cell *room) {
  const Values a = evaluate(e, p->a, l, room);
  for (int k = 0; k < (a.same ? 1 : l->n); k++) room[k].f = (double)(float)a.at[k].f;
  return (Values){room, a.same};
}
static Values cast_to_float16(Emu *e, const Piece *p, const Threads *l, Cell *room) {
  const Values a = evaluate(e, p->a, l, room);
  const int n = a.same ? 1 : l->n;
  for (int k = 0; k < n; k++) room[k].f = a.at[k].f;
  tirc_emu_round_to_half(room, n);
  return (Values){room, a.same};
}
static Values cast_small_int(Emu *e, const Piece *p, const Threads *l, Cell *room) {
  const Values a = evaluate(e, p->a, l, room);
  for (int k = 0; k < (a.same ? 1 : l->n); k++) room[k].f = (double)a.at[k].i;
  return (Values){room, a.same};
}

static Eval find_cast(DType from, DType to) {
  const bool f = tirc_dtype_is_float(from), whole = tirc_dtype_is_int(from);
  if (f && to.code == TYPE_FLOAT && to.bits >= 32 && from.bits <= to.bits) return cast_to_wider;
  if (f && to.code == TYPE_FLOAT && to.bits == 32) return cast_to_float32;
  if (f && to.code == TYPE_FLOAT && to.bits == 16) return cast_to_float16;
  if (whole && to.code == TYPE_FLOAT && to.bits == 32 && from.bits <= 16) return cast_small_int;
  if (whole && to.code == TYPE_FLOAT && to.bits == 64 && from.bits <= 32) return cast_small_int;
  if (whole && to.code == TYPE_INT && to.bits >= from.bits &&
      (from.code == TYPE_INT || to.bits > from.bits))
    return cast_to_wider;
  return NULL;
}

#define OF_FLOAT(name)                                                                             \
  (t.code != TYPE_FLOAT ? NULL                                                                     \
   : t.bits == 16       ? name##_float16                                                           \
   : t.bits == 32       ? name##_float32                                                           \
                        : name##_float64)
#define OF_SUM(name)                                                                               \
  (t.code == TYPE_INT && t.bits == 32   ? name##_int32                                             \
   : t.code == TYPE_INT && t.bits == 64 ? name##_int64                                             \
                                        : OF_FLOAT(name))
#define OF_BOTH(name) (tirc_dtype_is_float(t) ? name##_float : name##_int)

Eval tirc_emu_arithmetic(const Piece *p) {
  const DType t = p->a->dtype;
  const bool divides = t.code == TYPE_INT && t.bits >= 32 && p->b && p->b->expr->op == OP_INT &&
                       p->b->constant.i > 0;
  if (p->expr->op == OP_CAST) return find_cast(t, p->dtype);
  if (tirc_dtype_is_uint64(t)) return NULL;
  switch (p->expr->op) {
  case OP_ADD: return OF_SUM(add);
  case OP_SUB: return OF_SUM(sub);
  case OP_MUL: return OF_SUM(mul);
  case OP_DIV: return OF_FLOAT(div);
  case OP_EQ: return OF_BOTH(eq);
  case OP_NE: return OF_BOTH(ne);
  case OP_LT: return OF_BOTH(lt);
  case OP_LE: return OF_BOTH(le);
  case OP_GT: return OF_BOTH(gt);
  case OP_GE: return OF_BOTH(ge);
  case OP_NOT: return of_not;
  case OP_MIN: return tirc_dtype_is_float(t) ? min_float : min_int;
  case OP_MAX: return tirc_dtype_is_float(t) ? max_float : max_int;
  case OP_FLOORDIV: return divides ? floordiv : NULL;
  case OP_TRUNCDIV: return divides ? truncdiv : NULL;
  case OP_TRUNCMOD: return divides ? truncmod : NULL;
  case OP_FLOORMOD: return divides ? floormod : NULL;
  default: return NULL;
  }
}
