/* Bounds of integers: comparisons and logic, conversions from floats and back, and operations whose
 * operands may be several integers. */
#include "node_bound.h"

#include "ir/tree/int_op.h"

#include <math.h>

enum { MOST_COMBINATIONS = 32 }; /* of integers that are tried one by one */

/* --- comparisons, logic, conversions ---------------------------------------------------------- */

/* What may be true of a and b. */
enum { LESS = 1, EQUAL = 2, GREATER = 4 };
static const uint8_t true_for[OP_COUNT] = {
    [OP_EQ] = EQUAL,        [OP_NE] = LESS | GREATER, [OP_LT] = LESS,
    [OP_LE] = LESS | EQUAL, [OP_GT] = GREATER,        [OP_GE] = GREATER | EQUAL,
};

static void decide(Reach *out, Op op, int possible, int64_t v) {
  tirc_bound_int(out, v);
  out->hi.i = (possible & true_for[op]) != 0;
  out->lo.i = (possible & ~true_for[op]) == 0;
  out->v.i = v < out->lo.i ? out->lo.i : v > out->hi.i ? out->hi.i : v;
}

static void bound_compare(Run *run, const Node *n, Reach *out) {
  const bool floats = is_float(n->a);
  int possible = LESS | EQUAL | GREATER;
  Reach a, b;
  get_closed(run, n->a, &a);
  get_closed(run, n->b, &b);
  const int64_t v = apply(run, n, a.v, b.v, (Cell){0}).i;
  if (floats && !a.open && !b.open && (isnan(a.v.f) || isnan(b.v.f))) {
    tirc_bound_int(out, v);
    return;
  }
  if (floats && !a.open && !b.open)
    possible = (a.lo.f < b.hi.f ? LESS : 0) | (a.hi.f > b.lo.f ? GREATER : 0) |
               (a.lo.f <= b.hi.f && b.lo.f <= a.hi.f ? EQUAL : 0);
  else if (!floats && !tirc_dtype_is_uint64(n->a->dtype))
    possible = (a.lo.i < b.hi.i ? LESS : 0) | (a.hi.i > b.lo.i ? GREATER : 0) |
               (a.lo.i <= b.hi.i && b.lo.i <= a.hi.i ? EQUAL : 0);
  else if (!floats && a.lo.i == a.hi.i && b.lo.i == b.hi.i && !a.open && !b.open)
    possible = v ? true_for[n->expr->op] : possible & ~true_for[n->expr->op];
  decide(out, (Op)n->expr->op, possible, v);
}

static void bound_test(Run *run, const Node *n, Reach *out) { /* isnan, isinf, isfinite */
  Reach a;
  get_closed(run, n->a, &a);
  tirc_bound_int(out, apply(run, n, a.v, (Cell){0}, (Cell){0}).i);
  const bool may_be_infinite = isinf(a.lo.f) || isinf(a.hi.f);
  if (a.open || (n->expr->op != OP_ISNAN && may_be_infinite && !tirc_bound_is_point(&a, true)))
    out->lo.i = 0, out->hi.i = 1;
}

/* and, or: the second operand is looked at where the first leaves it open. */
static void bound_logic(Run *run, const Node *n, Reach *out) {
  const bool is_or = n->expr->op == OP_OR;
  Reach a, b = {.hi.i = 1};
  get_bound(run, n->a, &a);
  const bool decided = a.lo.i == a.hi.i && !a.open, first = a.v.i != 0;
  if (first == is_or && decided) {
    tirc_bound_int(out, is_or);
    return;
  }
  if (first != is_or)
    get_bound(run, n->b, &b);
  else
    b.v.i = is_or;
  tirc_bound_int(out, is_or ? first || b.v.i : first && b.v.i);
  out->lo.i = is_or ? a.lo.i || b.lo.i : a.lo.i && b.lo.i;
  out->hi.i = is_or ? a.hi.i || b.hi.i : a.hi.i && b.hi.i;
}

static bool fits(DType t, double x) {
  const double limit = ldexp(1, t.bits - (t.code == TYPE_INT));
  return x < limit && x >= (t.code == TYPE_INT ? -limit : 0);
}
static int64_t whole_number(DType t, double x) {
  return tirc_dtype_is_uint64(t) ? (int64_t)(uint64_t)x : (int64_t)x;
}

static void bound_float_to_int(Run *run, const Node *n, Reach *out) {
  const DType t = program_type(n);
  Reach a;
  get_closed(run, n->a, &a);
  if (t.code == TYPE_BOOL) {
    tirc_bound_int(out, a.v.f != 0);
    const bool zero = a.open || (a.lo.f <= 0 && a.hi.f >= 0);
    if (!tirc_bound_is_point(&a, true)) out->lo.i = !zero, out->hi.i = 1;
    return;
  }
  const double lo = trunc(a.lo.f), hi = trunc(a.hi.f), v = trunc(a.v.f);
  if (!a.open && fits(t, lo) && fits(t, hi) && (hi < 0x1p63 || lo == hi)) {
    tirc_bound_int(out, whole_number(t, v));
    out->lo.i = whole_number(t, lo), out->hi.i = whole_number(t, hi);
  } else if (!a.open && (isnan(v) || (!fits(t, lo) && !fits(t, hi) && (lo > 0) == (hi > 0)))) {
    tirc_bound_int(out, apply(run, n, a.v, (Cell){0}, (Cell){0}).i); /* which says so */
  } else {
    tirc_bound_open(out, t, (Cell){.i = fits(t, v) ? whole_number(t, v) : 0});
  }
}

static void bound_int_to_float(Run *run, const Node *n, Reach *out) {
  const DType from = n->a->dtype, t = program_type(n);
  Reach a;
  get_bound(run, n->a, &a);
  tirc_bound_float(out, tirc_round_int(t, from, a.v.i));
  if (a.open || (tirc_dtype_is_uint64(from) && a.lo.i != a.hi.i)) {
    tirc_bound_open(out, t, out->v);
    return;
  }
  out->lo.f = tirc_round_int(t, from, a.lo.i), out->hi.f = tirc_round_int(t, from, a.hi.i);
  out->mag = fmax(fabs(out->lo.f), fabs(out->hi.f));
}
static void bound_float_to_float(Run *run, const Node *n, Reach *out) {
  get_closed(run, n->a, out);
  if (!out->open) tirc_bound_close(out, program_type(n));
}

/* --- integers --------------------------------------------------------------------------------- */

static bool is_exact(const Reach *b) { return !b->open && b->lo.i == b->hi.i; }

/* Rising or falling in each operand, so that the ends are among the corners. */
static bool has_ends_in_corners(const Node *n, const Reach *b) {
  switch ((Op)n->expr->op) {
  case OP_ADD:
  case OP_SUB:
  case OP_MUL: return n->dtype.code == TYPE_INT && n->dtype.bits >= 32; /* others wrap */
  case OP_MIN:
  case OP_MAX: return !tirc_dtype_is_uint64(n->dtype);
  case OP_FLOORDIV:
  case OP_TRUNCDIV: return n->dtype.code == TYPE_INT && is_exact(b) && b->v.i > 0;
  case OP_SHIFT_RIGHT: return n->dtype.code == TYPE_INT && is_exact(b);
  default: return false;
  }
}

typedef struct Combination {
  const Node *node;
  Cell operand[3];
} Combination;
static void apply_combination(Run *run, const void *self, void *out) {
  const Combination *c = self;
  *(Cell *)out = apply(run, c->node, c->operand[0], c->operand[1], c->operand[2]);
}

/* Number `which` of the combinations: all integers of the operands, or their ends alone. */
static void combine(Combination *c, const Reach *b, const int64_t *count, bool ends,
                    int64_t which) {
  for (int k = 0; k < 3; k++) {
    const int64_t i = which % count[k];
    c->operand[k].i = ends && i ? b[k].hi.i : b[k].lo.i + i;
    which /= count[k];
  }
}

static void bound_int(Run *run, const Node *n, Reach *out) {
  const Node *operand[3] = {n->a, n->b, n->c};
  const DType t = program_type(n);
  Reach b[3];
  int64_t count[3] = {1, 1, 1}, all = 1, corners = 1;
  bool open = false, exact = true, ends = false;
  for (int k = 0; k < 3; k++) {
    tirc_bound_int(&b[k], 0);
    if (!operand[k]) continue;
    get_bound(run, operand[k], &b[k]);
    open |= b[k].open;
    exact = exact && is_exact(&b[k]);
    const uint64_t more = (uint64_t)b[k].hi.i - (uint64_t)b[k].lo.i;
    count[k] = more < MOST_COMBINATIONS ? (int64_t)more + 1 : MOST_COMBINATIONS + 1;
    all *= count[k];
    corners *= more ? 2 : 1;
  }
  tirc_bound_int(out, apply(run, n, b[0].v, b[1].v, b[2].v).i);
  if (exact) return;
  if (all > MOST_COMBINATIONS) {
    ends = has_ends_in_corners(n, &b[1]);
    open |= !ends;
    all = corners;
    for (int k = 0; k < 3; k++) count[k] = b[k].lo.i == b[k].hi.i ? 1 : 2;
  }
  if (tirc_dtype_is_uint64(t)) open = true;
  Combination c = {.node = n};
  for (int64_t i = 0; i < all && !open; i++) {
    Cell r;
    combine(&c, b, count, ends, i);
    open = !tirc_run_attempt(run, apply_combination, &c, &r);
    if (!open && r.i < out->lo.i) out->lo.i = r.i;
    if (!open && r.i > out->hi.i) out->hi.i = r.i;
  }
  if (open) tirc_bound_open(out, t, out->v);
}

/* --- the table -------------------------------------------------------------------------------- */

BoundOf tirc_bound_of_int(Op op) {
  static const BoundOf special[OP_COUNT] = {
      [OP_EQ] = bound_compare, [OP_NE] = bound_compare,    [OP_LT] = bound_compare,
      [OP_LE] = bound_compare, [OP_GT] = bound_compare,    [OP_GE] = bound_compare,
      [OP_AND] = bound_logic,  [OP_OR] = bound_logic,      [OP_ISNAN] = bound_test,
      [OP_ISINF] = bound_test, [OP_ISFINITE] = bound_test,
  };
  return special[op] ? special[op] : bound_int;
}

BoundOf tirc_bound_of_cast(const Node *n) {
  if (!is_float(n->a)) return is_float(n) ? bound_int_to_float : bound_int;
  return is_float(n) ? bound_float_to_float : bound_float_to_int;
}
