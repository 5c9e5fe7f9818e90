/* Typed expressions. Each carries the range of its values, so that most of what is drawn is
 * defined: operands of signed sums of 32 and 64 bits are brought into range first, in one of many
 * ways. Narrow and unsigned arithmetic wraps, so it needs none of that. */
#include "fuzz_code.h"

enum { MANTISSA_16 = 11, MANTISSA_B16 = 8, MANTISSA_32 = 24, MANTISSA_64 = 53 };

/* --- types ----------------------------------------------------------------------------------- */

static const DType int_types[] = {DT(TYPE_INT, 8),   DT(TYPE_INT, 16),  DT(TYPE_INT, 32),
                                  DT(TYPE_INT, 64),  DT(TYPE_UINT, 8),  DT(TYPE_UINT, 16),
                                  DT(TYPE_UINT, 32), DT(TYPE_UINT, 64), DT(TYPE_INT, 32)};
static const DType float_types[] = {DT(TYPE_FLOAT, 16), DT(TYPE_BFLOAT, 16), DT(TYPE_FLOAT, 32),
                                    DT(TYPE_FLOAT, 64), DT(TYPE_FLOAT, 32)};

DType code_int_type(Draft *g) { return *code_any(g, int_types); }
DType code_type(Draft *g) {
  const int what = rng_below(g->r, 100);
  return what < 12 ? DT_BOOL : what < 32 ? *code_any(g, float_types) : code_int_type(g);
}

Wide code_max(DType t) {
  if (t.code == TYPE_BOOL) return 1;
  if (t.code == TYPE_BFLOAT) return (Wide)1 << MANTISSA_B16;
  if (t.code == TYPE_FLOAT)
    return (Wide)1 << (t.bits == 16 ? MANTISSA_16 : t.bits == 32 ? MANTISSA_32 : MANTISSA_64);
  return ((Wide)1 << (t.code == TYPE_INT ? t.bits - 1 : t.bits)) - 1;
}
Wide code_min(DType t) {
  if (tirc_dtype_is_float(t)) return -code_max(t);
  return t.code == TYPE_INT ? -code_max(t) - 1 : 0;
}
static bool wraps(DType t) { return t.code == TYPE_UINT || (t.code == TYPE_INT && t.bits < 32); }
static bool is_int(DType t) { return tirc_dtype_is_int(t); }
static const char *name_of(Draft *g, DType t) { return tirc_dtype_name(g->c, t); }

/* --- ranges ---------------------------------------------------------------------------------- */

typedef struct Span {
  Wide lo, hi;
} Span;
static Wide least(Wide a, Wide b) { return a < b ? a : b; }
static Wide most(Wide a, Wide b) { return a > b ? a : b; }
static Span span_of(Typed x) { return (Span){x.lo, x.hi}; }
static Span whole(DType t) { return (Span){code_min(t), code_max(t)}; }
static bool holds(Span s, Span part) { return s.lo <= part.lo && part.hi <= s.hi; }
static Typed typed(const char *text, DType t, Span s) { return (Typed){text, t, s.lo, s.hi}; }

static Wide floor_div(Wide x, Wide y) {
  const Wide q = x / y;
  return q - (x % y != 0 && (x < 0) != (y < 0));
}
/* At the corners of both spans. */
static Span corners(Span a, Span b, Wide (*of)(Wide, Wide)) {
  const Wide at[] = {of(a.lo, b.lo), of(a.lo, b.hi), of(a.hi, b.lo), of(a.hi, b.hi)};
  Span s = {at[0], at[0]};
  for (int i = 1; i < 4; i++) s = (Span){least(s.lo, at[i]), most(s.hi, at[i])};
  return s;
}
static Wide times(Wide x, Wide y) { return x * y; }
static Wide trunc_div(Wide x, Wide y) { return x / y; }

/* The span of all numbers with the bits that these have. */
static Span of_bits(Span a, Span b) {
  const Wide reach = most(most(a.hi, b.hi), most(-a.lo - 1, -b.lo - 1));
  Wide top = 1;
  while (top <= reach) top *= 2;
  return (Span){a.lo < 0 || b.lo < 0 ? -top : 0, top - 1};
}

static Span floor_mod(Span a, Span b) {
  if (b.lo > 0) return a.lo >= 0 && a.hi < b.lo ? a : (Span){0, b.hi - 1};
  return (Span){b.lo + 1, b.hi < 0 ? 0 : most(b.hi - 1, 0)};
}
static Span trunc_mod(Span a, Span b) {
  const Wide top = most(b.hi, -b.lo) - 1;
  return (Span){a.lo < 0 ? most(-top, a.lo) : 0, a.hi > 0 ? least(top, a.hi) : 0};
}

/* Of a result before it wraps. Divisors do not contain 0, or the span means nothing. */
static Span result(Op op, Span a, Span b) {
  const bool divides = (b.lo > 0 && b.hi > 0) || (b.lo < 0 && b.hi < 0);
  switch (op) {
  case OP_ADD: return (Span){a.lo + b.lo, a.hi + b.hi};
  case OP_SUB: return (Span){a.lo - b.hi, a.hi - b.lo};
  case OP_MUL: return corners(a, b, times);
  case OP_MIN: return (Span){least(a.lo, b.lo), least(a.hi, b.hi)};
  case OP_MAX: return (Span){most(a.lo, b.lo), most(a.hi, b.hi)};
  case OP_FLOORDIV: return divides ? corners(a, b, floor_div) : a;
  case OP_TRUNCDIV: return divides ? corners(a, b, trunc_div) : a;
  case OP_FLOORMOD: return floor_mod(a, b);
  case OP_TRUNCMOD: return trunc_mod(a, b);
  case OP_BITWISE_AND:
    if (a.lo >= 0 || b.lo >= 0)
      return (Span){0, a.lo < 0 ? b.hi : b.lo < 0 ? a.hi : least(a.hi, b.hi)};
    return of_bits(a, b);
  default: return of_bits(a, b);
  }
}

/* --- how operations are written -------------------------------------------------------------- */

static const struct {
  Op op;
  const char *forms[2];
} spelling[] = {
    {OP_ADD, {"(%s + %s)", "(%s + %s)"}},
    {OP_SUB, {"(%s - %s)", "(%s - %s)"}},
    {OP_MUL, {"(%s * %s)", "(%s * %s)"}},
    {OP_DIV, {"(%s / %s)", "(%s / %s)"}},
    {OP_FLOORDIV, {"(%s // %s)", "T.floordiv(%s, %s)"}},
    {OP_FLOORMOD, {"(%s %% %s)", "T.floormod(%s, %s)"}},
    {OP_TRUNCDIV, {"T.truncdiv(%s, %s)", "T.truncdiv(%s, %s)"}},
    {OP_TRUNCMOD, {"T.truncmod(%s, %s)", "T.truncmod(%s, %s)"}},
    {OP_MIN, {"T.min(%s, %s)", "T.min(%s, %s)"}},
    {OP_MAX, {"T.max(%s, %s)", "T.max(%s, %s)"}},
    {OP_EQ, {"(%s == %s)", "T.EQ(%s, %s)"}},
    {OP_NE, {"(%s != %s)", "T.NE(%s, %s)"}},
    {OP_LT, {"(%s < %s)", "T.LT(%s, %s)"}},
    {OP_LE, {"(%s <= %s)", "T.LE(%s, %s)"}},
    {OP_GT, {"(%s > %s)", "T.GT(%s, %s)"}},
    {OP_GE, {"(%s >= %s)", "T.GE(%s, %s)"}},
    {OP_AND, {"(%s and %s)", "T.And(%s, %s)"}},
    {OP_OR, {"(%s or %s)", "T.Or(%s, %s)"}},
    {OP_BITWISE_AND, {"(%s & %s)", "T.bitwise_and(%s, %s)"}},
    {OP_BITWISE_OR, {"(%s | %s)", "T.bitwise_or(%s, %s)"}},
    {OP_BITWISE_XOR, {"(%s ^ %s)", "T.bitwise_xor(%s, %s)"}},
    {OP_SHIFT_LEFT, {"(%s << %s)", "T.shift_left(%s, %s)"}},
    {OP_SHIFT_RIGHT, {"(%s >> %s)", "T.shift_right(%s, %s)"}},
};

static const char *spell(Draft *g, Op op, Typed a, Typed b) {
  for (size_t i = 0; i < sizeof spelling / sizeof *spelling; i++) {
    if (spelling[i].op != op) continue;
    Text t = {.c = g->c};
    const char *const texts[] = {a.text, b.text};
    int n = 0;
    for (const char *p = spelling[i].forms[rng_below(g->r, 2)]; *p; p++) {
      if (*p == '%' && p[1] == 's') tirc_text_add(&t, texts[n++]);
      if (*p != '%') tirc_text_addn(&t, p, 1);
      if (*p == '%') p++;
      if (*p == '%') tirc_text_add(&t, "%");
    }
    return t.at;
  }
  return "";
}

Typed code_constant(Draft *g, DType t, Wide value) {
  const char *text;
  if (t.code == TYPE_BOOL)
    text = value ? "T.bool(True)" : "T.bool(False)";
  else if (tirc_dtype_equal(t, DT_INT32) && rng_chance(g->r, 70))
    text = tirc_format(g->c, "%lld", (long long)value);
  else if (t.code == TYPE_UINT)
    text = tirc_format(g->c, "T.%s(%llu)", name_of(g, t), (unsigned long long)value);
  else
    text = tirc_format(g->c, "T.%s(%lld)", name_of(g, t), (long long)value);
  if (*text == '-') text = tirc_format(g->c, "(%s)", text);
  return typed(text, t, (Span){value, value});
}

/* Small, or near an end of the type. */
static Typed any_constant(Draft *g, DType t) {
  const Span all = whole(t);
  const int near = rng_below(g->r, 3);
  Wide value = rng_below(g->r, 17) - 4;
  if (is_int(t) && rng_chance(g->r, 20))
    value = rng_chance(g->r, 60) ? all.hi - near : all.lo + near;
  if (is_int(t) && rng_chance(g->r, 20)) value = (Wide)1 << rng_below(g->r, t.bits - 1);
  if (is_int(t) && rng_chance(g->r, 15)) value = rng_below(g->r, 300);
  return code_constant(g, t, most(all.lo, least(all.hi, value)));
}

/* --- into a range ---------------------------------------------------------------------------- */

static Typed apply(Draft *g, Op op, Typed a, Typed b) {
  const Span s = result(op, span_of(a), span_of(b)), all = whole(a.t);
  return typed(spell(g, op, a, b), a.t, holds(all, s) ? s : all);
}
static Typed with(Draft *g, Op op, Typed a, Wide b) {
  return apply(g, op, a, code_constant(g, a.t, b));
}
static Typed clamp(Draft *g, Typed x, Wide lo, Wide hi) {
  return rng_chance(g->r, 50) ? with(g, OP_MIN, with(g, OP_MAX, x, lo), hi)
                              : with(g, OP_MAX, with(g, OP_MIN, x, hi), lo);
}

static Typed through_narrow(Draft *g, Typed x, Wide lo, Wide hi) {
  for (int tries = 0; tries < 4; tries++) {
    const DType t = code_int_type(g);
    if (holds((Span){lo, hi}, whole(t))) return code_cast(g, code_cast(g, x, t), x.t);
  }
  return x;
}

Typed code_fit(Draft *g, Typed x, Wide lo, Wide hi) {
  const Span to = {most(lo, code_min(x.t)), least(hi, code_max(x.t))};
  if (holds(to, span_of(x))) return x;
  Typed y = x;
  Wide mask = 1;
  while (mask * 2 - 1 <= to.hi) mask *= 2;
  if (is_int(x.t) && to.lo <= 0) switch (rng_below(g->r, 7)) {
    case 0:
    case 1:
      if (to.hi < code_max(x.t)) y = with(g, OP_FLOORMOD, x, to.hi + 1);
      break;
    case 2: y = with(g, OP_BITWISE_AND, x, mask - 1); break;
    case 3: y = through_narrow(g, x, to.lo, to.hi); break;
    case 4:
      if (to.hi < code_max(x.t))
        y = with(g, OP_TRUNCMOD, x, least(to.hi, x.lo < 0 ? -to.lo : to.hi) + 1);
      break;
    case 5: {
      const int by = 1 + rng_below(g->r, x.t.bits - 1);
      const Span s = {x.lo >> by, x.hi >> by};
      y = typed(spell(g, OP_SHIFT_RIGHT, x, code_constant(g, x.t, by)), x.t, s);
      break;
    }
    default: break;
    }
  return holds(to, span_of(y)) ? y : clamp(g, x, to.lo, to.hi);
}

/* Smaller than the type, often by much. */
static Typed tamed(Draft *g, Typed x, Span limit) {
  static const int sizes[] = {7, 63, 100, 255, 1000, 46340};
  const Wide size = *code_any(g, sizes);
  return code_fit(g, x, most(limit.lo, -size), least(limit.hi, size));
}

/* --- operations ------------------------------------------------------------------------------ */

Typed code_cast(Draft *g, Typed x, DType t) {
  if (tirc_dtype_equal(x.t, t)) return x;
  const bool to_float = tirc_dtype_is_float(t), from_float = tirc_dtype_is_float(x.t);
  if (to_float || (from_float && t.code != TYPE_BOOL)) x = code_fit(g, x, code_min(t), code_max(t));
  const Span s = holds(whole(t), span_of(x)) ? span_of(x) : whole(t);
  const char *text = rng_chance(g->r, 80)
                         ? tirc_format(g->c, "T.Cast(\"%s\", %s)", name_of(g, t), x.text)
                         : tirc_format(g->c, "T.%s(%s)", name_of(g, t), x.text);
  return typed(text, t, s);
}

static Typed divisor(Draft *g, Typed a, Typed b) {
  const Span no_zero = span_of(b);
  /* The least number over -1 overflows, in narrow types too. */
  const bool overflows = a.t.code == TYPE_INT && a.lo == code_min(a.t);
  if (no_zero.lo > 0 || (no_zero.hi < 0 && !(overflows && no_zero.hi >= -1 && no_zero.lo <= -1)))
    return b;
  switch (rng_below(g->r, 5)) {
  case 0: return code_fit(g, b, 1, 1 + rng_below(g->r, 100));
  case 1:
    if (b.lo >= 0)
      return with(g, OP_BITWISE_OR, b, 1).lo > 0 ? with(g, OP_BITWISE_OR, b, 1)
                                                 : code_fit(g, b, 1, 9);
    return code_fit(g, b, code_min(b.t), overflows ? -2 : -1);
  case 2:
    if (a.t.code == TYPE_INT)
      return code_constant(g, a.t, overflows ? -2 - rng_below(g->r, 9) : -1 - rng_below(g->r, 9));
    return code_constant(g, a.t, 1 + rng_below(g->r, 9));
  default:
    return code_constant(g, a.t,
                         1 + rng_below(g->r, a.t.bits == 8 && a.t.code == TYPE_INT ? 127 : 200));
  }
}

Typed code_binary(Draft *g, Op op, Typed a, Typed b) {
  const Span all = whole(a.t);
  if (op >= OP_TRUNCDIV && op <= OP_FLOORMOD) b = divisor(g, a, b);
  Span s = result(op, span_of(a), span_of(b));
  const bool sums = op == OP_ADD || op == OP_SUB || op == OP_MUL;
  if (sums && !wraps(a.t) && !holds(all, s)) {
    Wide side = 1; /* the largest whose square, or double, is in range */
    while (op == OP_MUL ? side * side * 4 <= all.hi : side * 4 <= all.hi) side *= 2;
    a = rng_chance(g->r, 50) ? tamed(g, a, (Span){-side, side}) : code_fit(g, a, -side, side);
    b = rng_chance(g->r, 50) ? tamed(g, b, (Span){-side, side}) : code_fit(g, b, -side, side);
    s = result(op, span_of(a), span_of(b));
    if (!holds(all, s)) return a;
  }
  return apply(g, op, a, b);
}

static Typed shift(Draft *g, Typed x, Typed by, bool left) {
  const Span amount = span_of(by), all = whole(x.t);
  if (amount.lo < 0 || amount.hi >= x.t.bits)
    by = rng_chance(g->r, 60) ? code_constant(g, x.t, rng_below(g->r, x.t.bits))
                              : code_fit(g, by, 0, x.t.bits - 1);
  Span s = {x.lo >> (int)(x.lo < 0 ? by.lo : by.hi), x.hi >> (int)(x.hi < 0 ? by.hi : by.lo)};
  if (left)
    s = (Span){least(x.lo, x.lo * ((Wide)1 << by.hi)), most(x.hi, x.hi * ((Wide)1 << by.hi))};
  return typed(spell(g, left ? OP_SHIFT_LEFT : OP_SHIFT_RIGHT, x, by), x.t,
               holds(all, s) ? s : all);
}

static Typed choice(Draft *g, DType t, int depth) {
  const Typed condition = code_condition(g, depth - 1), a = code_expr(g, t, depth - 1),
              b = code_expr(g, t, depth - 1);
  const char *text =
      tirc_format(g->c, "T.%s(%s, %s, %s)", rng_chance(g->r, 50) ? "Select" : "if_then_else",
                  condition.text, a.text, b.text);
  return typed(text, t, (Span){least(a.lo, b.lo), most(a.hi, b.hi)});
}

static Typed unary_int(Draft *g, DType t, int depth) {
  Typed x = code_expr(g, t, depth - 1);
  const Wide top = code_max(t);
  switch (rng_below(g->r, 4)) {
  case 0:
    return typed(tirc_format(g->c, rng_chance(g->r, 50) ? "(~%s)" : "T.bitwise_not(%s)", x.text), t,
                 t.code == TYPE_INT ? (Span){-x.hi - 1, -x.lo - 1}
                                    : (Span){top - x.hi, top - x.lo});
  case 1:
    x = code_fit(g, x, -top, top);
    return typed(tirc_format(g->c, "T.abs(%s)", x.text), t,
                 (Span){x.lo > 0   ? x.lo
                        : x.hi < 0 ? -x.hi
                                   : 0,
                        most(-x.lo, x.hi)});
  case 2: return typed(tirc_format(g->c, "T.popcount(%s)", x.text), t, (Span){0, t.bits});
  default:
    return code_cast(g, typed(tirc_format(g->c, "T.clz(%s)", x.text), DT_INT32, (Span){0, t.bits}),
                     t);
  }
}

static Typed int_operation(Draft *g, DType t, int depth) {
  static const Op ops[] = {
      OP_ADD,         OP_ADD,        OP_SUB,         OP_SUB,      OP_MUL,        OP_MUL,
      OP_FLOORDIV,    OP_FLOORMOD,   OP_TRUNCDIV,    OP_TRUNCMOD, OP_MIN,        OP_MAX,
      OP_BITWISE_AND, OP_BITWISE_OR, OP_BITWISE_XOR, OP_FLOORMOD, OP_SHIFT_LEFT, OP_SHIFT_RIGHT};
  const Op op = *code_any(g, ops);
  const Typed a = code_expr(g, t, depth - 1);
  const Typed b = rng_chance(g->r, 35) ? any_constant(g, t) : code_expr(g, t, depth - 1);
  if (op == OP_SHIFT_LEFT || op == OP_SHIFT_RIGHT) return shift(g, a, b, op == OP_SHIFT_LEFT);
  return code_binary(g, op, a, b);
}

static Typed float_operation(Draft *g, DType t, int depth) {
  static const Op ops[] = {OP_ADD, OP_SUB, OP_MUL, OP_MIN, OP_MAX};
  static const char *const rounds[] = {"floor", "ceil", "trunc", "round", "nearbyint"};
  const Typed a = code_expr(g, t, depth - 1);
  switch (rng_below(g->r, 8)) {
  case 0: /* a half is exact, too */
    return typed(
        tirc_format(g->c, "T.%s((%s / T.%s(2)))", *code_any(g, rounds), a.text, name_of(g, t)), t,
        (Span){least(a.lo, 0), most(a.hi, 0)});
  case 1: return typed(tirc_format(g->c, "T.abs(%s)", a.text), t, (Span){0, most(-a.lo, a.hi)});
  default: return code_binary(g, *code_any(g, ops), a, code_expr(g, t, depth - 1));
  }
}

Typed code_condition(Draft *g, int depth) { return code_expr(g, DT_BOOL, depth); }

static Typed comparison(Draft *g, int depth) {
  const DType t = rng_chance(g->r, 85) ? code_int_type(g) : code_type(g);
  const Op op = (Op)(OP_EQ + rng_below(g->r, OP_GE - OP_EQ + 1));
  const Typed a = code_expr(g, t, depth - 1);
  const Typed b =
      rng_chance(g->r, 40) && t.code != TYPE_BOOL ? any_constant(g, t) : code_expr(g, t, depth - 1);
  return typed(spell(g, t.code == TYPE_BOOL && op > OP_NE ? OP_NE : op, a, b), DT_BOOL,
               (Span){0, 1});
}

static Typed bool_operation(Draft *g, int depth) {
  static const Op ops[] = {OP_AND, OP_OR,  OP_BITWISE_AND, OP_BITWISE_OR, OP_BITWISE_XOR, OP_ADD,
                           OP_MUL, OP_MIN, OP_MAX,         OP_EQ,         OP_NE};
  if (rng_chance(g->r, 50)) return comparison(g, depth);
  const Typed a = code_condition(g, depth - 1);
  switch (rng_below(g->r, 8)) {
  case 0: return typed(tirc_format(g->c, "(not %s)", a.text), DT_BOOL, (Span){0, 1});
  case 1: return typed(tirc_format(g->c, "(~%s)", a.text), DT_BOOL, (Span){0, 1});
  case 2: return typed(tirc_format(g->c, "T.likely(%s)", a.text), DT_BOOL, (Span){0, 1});
  default:
    return typed(spell(g, *code_any(g, ops), a, code_condition(g, depth - 1)), DT_BOOL,
                 (Span){0, 1});
  }
}

/* --- leaves ---------------------------------------------------------------------------------- */

static Typed load(Draft *g) {
  const CodeBuffer *b = &g->buffers[rng_below(g->r, g->n_buffers)];
  return typed(tirc_format(g->c, "%s[%s]", b->name, code_indices(g, b)), b->t,
               (Span){b->lo, b->hi});
}

static Typed leaf(Draft *g, DType t) {
  const int what = rng_below(g->r, 100);
  if (what < 45 && g->n_buffers && g->budget > 0) {
    g->budget -= 2;
    return code_cast(g, load(g), t);
  }
  if (what < 80 && g->n_vars) return code_cast(g, g->vars[rng_below(g->r, g->n_vars)], t);
  return any_constant(g, t);
}

Typed code_expr(Draft *g, DType t, int depth) {
  if (depth <= 0 || g->budget <= 0 || rng_chance(g->r, 15)) return leaf(g, t);
  g->budget--;
  const int what = rng_below(g->r, 100);
  if (what < 12) return code_cast(g, code_expr(g, code_type(g), depth - 1), t);
  if (what < 20) return choice(g, t, depth);
  if (t.code == TYPE_BOOL) return bool_operation(g, depth);
  if (tirc_dtype_is_float(t)) return float_operation(g, t, depth);
  return what < 30 ? unary_int(g, t, depth) : int_operation(g, t, depth);
}

/* --- indices --------------------------------------------------------------------------------- */

/* A loop's variable times something: what vectorizers take for a stride. */
static Typed stride(Draft *g, DType t) {
  Typed v = code_cast(g, g->vars[rng_below(g->r, g->n_vars)], t);
  const Wide step = 1 + rng_below(g->r, 7);
  if (rng_chance(g->r, 25))
    v = shift(g, v, code_constant(g, t, 1 + rng_below(g->r, 3)), true);
  else
    v = code_binary(g, OP_MUL, v, code_constant(g, t, step));
  if (rng_chance(g->r, 40)) v = code_binary(g, OP_ADD, v, code_constant(g, t, rng_below(g->r, 9)));
  return v;
}

static DType index_type(Draft *g, Wide extent) {
  DType t = rng_chance(g->r, 55) ? DT_INT32 : code_int_type(g);
  return code_max(t) >= extent ? t : DT_INT32;
}

const char *code_index(Draft *g, Typed extent) {
  const Wide n = extent.hi;
  const DType t = index_type(g, n);
  Typed at = {0};
  g->budget--;
  if (g->n_vars && rng_chance(g->r, 35))
    at = code_cast(g, g->vars[g->n_vars - 1 - rng_below(g->r, g->n_vars < 3 ? g->n_vars : 3)], t);
  else if (g->n_vars && rng_chance(g->r, 50))
    at = stride(g, t);
  else
    at = code_expr(g, t, 2);
  const bool symbolic = strspn(extent.text, "0123456789") != strlen(extent.text);
  if (at.lo >= 0 && at.hi < n) {
    ; /* the range says so, whatever the extent is called */
  } else if (symbolic && rng_chance(g->r, 50)) {
    const Typed m = code_cast(g, extent, t);
    at = typed(spell(g, OP_FLOORMOD, at, m), t, (Span){0, n - 1});
  } else {
    at = code_fit(g, at, 0, n - 1);
  }
  if (t.bits != 32 || t.code != TYPE_INT)
    at = rng_chance(g->r, 75) ? code_cast(g, at, DT_INT32) : at;
  return at.text;
}

const char *code_indices(Draft *g, const CodeBuffer *b) {
  Text t = {.c = g->c};
  tirc_text_add(&t, b->n ? "" : "()");
  for (int d = 0; d < b->n; d++)
    tirc_text_addf(&t, "%s%s", d ? ", " : "", code_index(g, b->extents[d]));
  return t.at;
}

Typed code_strided_load(Draft *g) {
  const CodeBuffer *b = &g->buffers[rng_below(g->r, g->n_buffers)];
  if (!g->n_vars) return load(g);
  Text t = {.c = g->c};
  tirc_text_add(&t, b->n ? "" : "()");
  for (int d = 0; d < b->n; d++) {
    const Wide n = b->shape[d];
    Typed at = stride(g, index_type(g, n));
    if ((at.lo < 0 || at.hi >= n) && rng_chance(g->r, 70))
      at = n & (n - 1) || rng_chance(g->r, 60) ? with(g, OP_FLOORMOD, at, n)
                                               : with(g, OP_BITWISE_AND, at, n - 1);
    at = code_fit(g, at, 0, n - 1);
    tirc_text_addf(&t, "%s%s", d ? ", " : "", code_cast(g, at, DT_INT32).text);
  }
  return typed(tirc_format(g->c, "%s[%s]", b->name, t.at), b->t, (Span){b->lo, b->hi});
}
