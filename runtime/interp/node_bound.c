/* Expressions with bounds: beside the function that gives a node's value stands one that gives what
 * else it may be (bound.h). Integers that only come from loops, parameters and constants are exact
 * and have none. Each operation is done by the node's own function, on operands that are put into
 * its shadow. */
#include "node_bound.h"

#include "ir/tree/intrinsic.h"
#include "ir/tree/print.h"

#include <math.h>

/* --- attempts --------------------------------------------------------------------------------- */

bool tirc_run_attempt(Run *run, void (*body)(Run *run, const void *self, void *out),
                      const void *self, void *out) {
  const Run before = *run;
  Trap trap;
  run->attempts++;
  if (TIRC_TRY(run->t, trap)) {
    body(run, self, out);
    TIRC_END(run->t, trap);
    run->attempts--;
    return true;
  }
  run->attempts = before.attempts;
  if (tirc_ends_all(run->t->diag.code)) tirc_throw(run->t);
  run->lane = before.lane, run->poisoned = before.poisoned, run->at = before.at;
  run->unsure = before.unsure, run->untaken = before.untaken;
  return false;
}

static void bound_of(Run *run, const void *node, void *out) { get_bound(run, node, out); }

/* What may come instead, in place of what the values choose. */
static void join_other(Run *run, const Node *other, Reach *out, DType t) {
  Reach b;
  if (tirc_run_attempt(run, bound_of, other, &b))
    tirc_bound_hull(out, &b, t);
  else
    tirc_bound_open(out, t, out->v);
}

/* --- floats ----------------------------------------------------------------------------------- */

static void bound_ADD(Run *run, const Node *n, Reach *out) {
  Reach a, b;
  get_bound(run, n->a, &a);
  get_bound(run, n->b, &b);
  tirc_bound_add(out, &a, &b, n->expr->op == OP_SUB, program_type(n));
}
static void bound_MUL(Run *run, const Node *n, Reach *out) {
  Reach a, b;
  get_bound(run, n->a, &a);
  get_bound(run, n->b, &b);
  tirc_bound_mul(out, &a, &b, n->in_any_order, program_type(n));
}
static void bound_DIV(Run *run, const Node *n, Reach *out) {
  Reach a, b;
  get_bound(run, n->a, &a);
  get_bound(run, n->b, &b);
  tirc_bound_div(out, &a, &b, program_type(n));
}
static void bound_FMA(Run *run, const Node *n, Reach *out) {
  Reach a, b, c, product;
  get_bound(run, n->a, &a);
  get_bound(run, n->b, &b);
  get_bound(run, n->c, &c);
  tirc_bound_mul(&product, &a, &b, false, program_type(n));
  tirc_bound_add(out, &product, &c, false, program_type(n));
}

static double whole_down(void *self, double x, double y) { return (void)self, (void)y, floor(x); }
static double whole(void *self, double x, double y) { return (void)self, (void)y, trunc(x); }
static const FunctionRow rising = {CURVE_RISING, 0};

static void quotient(Run *run, const Node *n, bool down, Reach *x, Reach *y, Reach *out) {
  Reach q;
  get_closed(run, n->a, x);
  get_closed(run, n->b, y);
  tirc_bound_div(&q, x, y, program_type(n));
  tirc_bound_function(out, &q, NULL, &rising, down ? whole_down : whole, NULL, program_type(n));
}
static void bound_FLOORDIV(Run *run, const Node *n, Reach *out) {
  Reach x, y;
  quotient(run, n, n->expr->op == OP_FLOORDIV, &x, &y, out);
}
/* x - floor(x / y) y; where the quotient is not decided, between 0 and y. */
static void bound_FLOORMOD(Run *run, const Node *n, Reach *out) {
  const DType t = program_type(n);
  Reach x, y, q, product, rest;
  quotient(run, n, true, &x, &y, &q);
  tirc_bound_mul(&product, &q, &y, false, t);
  tirc_bound_add(&rest, &x, &product, true, t);
  tirc_bound_close(&rest, t);
  *out = rest;
  if (rest.open || y.open || isnan(rest.v.f) || q.lo.f == q.hi.f) return;
  const double w = 4 * tirc_unit_roundoff(t) * fmax(x.mag, y.mag);
  out->lo.f = fmax(rest.lo.f, fmin(0, y.lo.f) - w);
  out->hi.f = fmin(rest.hi.f, fmax(0, y.hi.f) + w);
}

static double call_shadow(void *self, double x, double y) {
  const Node *n = ((void **)self)[1];
  return apply(((void **)self)[0], n, (Cell){.f = x}, (Cell){.f = y}, (Cell){0}).f;
}
static void bound_function(Run *run, const Node *n, Reach *out) {
  Reach a, b;
  get_bound(run, n->a, &a);
  if (n->b) get_bound(run, n->b, &b);
  void *self[2] = {run, (Node *)(uintptr_t)n};
  tirc_bound_function(out, &a, n->b ? &b : NULL, &n->function, call_shadow, self, program_type(n));
}

static void get_choice(Run *run, const Node *n, Reach *b) {
  get_bound(run, n, b);
  tirc_bound_choose(b, program_type(n));
}

/* min and max, as they are written where one operand is NaN. */
static void bound_extreme(Run *run, const Node *n, Reach *out) {
  const DType t = program_type(n);
  Reach a, b;
  get_choice(run, n->a, &a);
  get_choice(run, n->b, &b);
  const Cell none = {0}, v = apply(run, n, a.v, b.v, none);
  if (a.open || b.open) {
    tirc_bound_open(out, t, v);
  } else if (isnan(a.v.f) || isnan(b.v.f)) {
    *out = isnan(v.f) == isnan(a.v.f) ? a : b;
  } else {
    *out = (Reach){.v = v, .n = 1};
    out->lo = apply(run, n, a.lo, b.lo, none);
    out->hi = apply(run, n, a.hi, b.hi, none);
    out->mag = fmax(fabs(out->lo.f), fabs(out->hi.f));
  }
}

/* x 2^n, rounded once: rising in x. */
static void bound_LDEXP(Run *run, const Node *n, Reach *out) {
  const DType t = program_type(n);
  const Cell none = {0};
  Reach x, by;
  get_closed(run, n->a, &x);
  get_bound(run, n->b, &by);
  const Cell v = {.f = tirc_round_float(t, apply(run, n, x.v, by.v, none).f)};
  tirc_bound_float(out, v.f);
  if (x.open || by.open || isnan(x.v.f)) {
    if (!isnan(x.v.f) || x.open) tirc_bound_open(out, t, v);
    return;
  }
  for (int k = 0; k < 4; k++) { /* monotonous in both: the ends are among the corners */
    const Cell r = apply(run, n, k & 1 ? x.hi : x.lo, k & 2 ? by.hi : by.lo, none);
    out->lo.f = fmin(out->lo.f, tirc_round_float(t, r.f));
    out->hi.f = fmax(out->hi.f, tirc_round_float(t, r.f));
  }
  out->mag = fmax(fabs(out->lo.f), fabs(out->hi.f));
}

/* The value before x, the one after it, or y where it is x. */
static void bound_NEXTAFTER(Run *run, const Node *n, Reach *out) {
  const DType t = program_type(n);
  const Cell none = {0}, up = {.f = (double)INFINITY}, down = {.f = -(double)INFINITY};
  Reach x, y;
  get_closed(run, n->a, &x);
  get_closed(run, n->b, &y);
  const Cell v = apply(run, n, x.v, y.v, none);
  tirc_bound_float(out, v.f);
  if (x.open || y.open) {
    tirc_bound_open(out, t, v);
    return;
  }
  const bool points = tirc_bound_is_point(&x, true) && tirc_bound_is_point(&y, true);
  if (points || isnan(v.f)) return;
  const bool falls = y.lo.f<x.hi.f, rises = y.hi.f> x.lo.f;
  out->lo = falls ? apply(run, n, x.lo, down, none) : apply(run, n, x.lo, y.lo, none);
  out->hi = rises ? apply(run, n, x.hi, up, none) : apply(run, n, x.hi, y.hi, none);
  out->mag = fmax(fabs(out->lo.f), fabs(out->hi.f));
}

static void bound_sum_of_lanes(Run *run, const Node *n, Reach *out) {
  const int lane = run->lane;
  Reach term, sum;
  get_bound(run, n->a, &sum);
  for (run->lane = 0; run->lane < n->b->dtype.lanes; run->lane++) {
    get_bound(run, n->b, &term);
    tirc_bound_add(out, &sum, &term, false, program_type(n));
    sum = *out;
  }
  run->lane = lane;
  *out = sum;
}

/* Element i of a lane of a dot product, whose bits `elements` gives; false: they are not certain.
 */
static bool element_bound(Run *run, const Node *elements, int i, Reach *out) {
  Reach bits;
  run->lane = i;
  get_bound(run, elements, &bits);
  tirc_bound_float(out, tirc_bfloat_to_double((uint16_t)bits.v.i));
  return bits.n <= 1 && tirc_bound_is_point(&bits, false);
}
/* Of floats, rounded as the instruction does: to odd is as near as twice to the nearest. */
static void bound_dot(Run *run, const Node *n, Reach *out) {
  const DType t = program_type(n);
  const int lane = run->lane, terms = n->u.dot->terms;
  Reach sum, product, x, y;
  bool certain = true;
  get_bound(run, n->a, &sum);
  for (int i = 0; i < terms; i++) {
    certain &= element_bound(run, n->b, lane * terms + i, &x);
    certain &= element_bound(run, n->c, lane * terms + i, &y);
    tirc_bound_mul(&product, &x, &y, true, t);
    tirc_bound_add(out, &sum, &product, false, t);
    sum = *out;
  }
  run->lane = lane;
  const Cell v = get_cell(run, n);
  if (!certain)
    tirc_bound_open(out, t, v);
  else
    out->v = v;
}

/* --- choice, let, lanes ----------------------------------------------------------------------- */

static void bound_choice(Run *run, const Node *n, Reach *out) {
  const bool both = n->expr->op == OP_SELECT, before = run->poisoned;
  Reach c;
  get_bound(run, n->a, &c);
  const Node *taken = c.v.i ? n->b : n->c, *other = c.v.i ? n->c : n->b;
  const bool decided = tirc_bound_is_point(&c, false);
  if (both && decided) (void)get_cell(run, other);
  if (both) run->poisoned = false;
  get_bound(run, taken, out);
  if (both && run->poisoned && !n->tolerant)
    tirc_run_fail(run, CODE_UNINITIALISED, NULL, "buffer \"%s\" is read where it was never written",
                  run->poisoned_buffer);
  run->poisoned |= before;
  if (!decided) join_other(run, other, out, program_type(n));
}

static void bound_let(Run *run, const Node *n, Reach *out) {
  tirc_bind_bounds(run, n->b, n->u.lanes, n->bounds);
  get_bound(run, n->c, out);
}

static void bound_variable(Run *run, const Node *n, Reach *out) {
  *out = n->bounds[n->dtype.lanes > 1 ? run->lane : 0];
}

static void bound_same(Run *run, const Node *n, Reach *out) { get_bound(run, n->a, out); }
static void bound_broadcast(Run *run, const Node *n, Reach *out) {
  const int lane = run->lane;
  run->lane = lane % n->a->dtype.lanes;
  get_bound(run, n->a, out);
  run->lane = lane;
}

/* What is known of points only: bits, and what mixes lanes. */
static void bound_of_points(Run *run, const Node *n, Reach *out) {
  const Node *operand[3] = {n->a, n->b, n->c};
  const int lane = run->lane;
  bool points = true;
  for (int k = 0; k < 3 && points; k++) {
    for (int l = 0; operand[k] && l < operand[k]->dtype.lanes && points; l++) {
      Reach b;
      run->lane = operand[k]->dtype.lanes > 1 ? l : lane;
      get_bound(run, operand[k], &b);
      points = b.n <= 1 && tirc_bound_is_point(&b, is_float(operand[k]));
    }
  }
  run->lane = lane;
  const Cell v = get_cell(run, n);
  if (!points)
    tirc_bound_open(out, program_type(n), v);
  else if (is_float(n))
    tirc_bound_float(out, v.f);
  else
    tirc_bound_int(out, v.i);
}

/* The same of operands of which there are more than a node has places for. */
static void bound_of_arguments(Run *run, const Node *n, Reach *out) {
  bool points = true;
  for (int i = 0; i < n->expr->n; i++) {
    Reach b;
    get_bound(run, n->u.args[i], &b);
    points = points && tirc_bound_is_point(&b, false);
  }
  const Cell v = get_cell(run, n);
  tirc_bound_int(out, v.i);
  if (!points) tirc_bound_open(out, program_type(n), v);
}

/* --- variables -------------------------------------------------------------------------------- */

Cell *tirc_compile_let_var(Compiler *k, Expr var, const Node *value, Reach **bounds) {
  Cell *cells = tirc_compile_var(k, var);
  if (k->bounded && value->bound) {
    *bounds = tirc_new_array(k->t, Reach, var->dtype.lanes ? var->dtype.lanes : 1);
    tirc_map_set(k->t, &k->bounds, var, *bounds);
  }
  return cells;
}

void tirc_bind_bounds(Run *run, const Node *value, Cell *cells, Reach *bounds) {
  const int lane = run->lane, lanes = value->dtype.lanes;
  for (int l = 0; l < lanes; l++) {
    Reach b;
    if (lanes > 1) run->lane = l;
    get_bound(run, value, &b);
    cells[l] = b.v;
    if (bounds) bounds[l] = b;
  }
  run->lane = lane;
}

/* --- the tables ------------------------------------------------------------------------------- */

/* Functions of floats; those that are rounded correctly have 0 units. Compiled code is within 2
 * units where it computes them itself, libm within 1, and 1 / (1 + exp(-x)) rounds three times. */
static const FunctionRow functions[OP_COUNT] = {
    [OP_EXP] = {CURVE_RISING, 4},       [OP_EXP2] = {CURVE_RISING, 4},
    [OP_EXP10] = {CURVE_RISING, 4},     [OP_LOG] = {CURVE_RISING, 4},
    [OP_LOG2] = {CURVE_RISING, 4},      [OP_LOG10] = {CURVE_RISING, 4},
    [OP_LOG1P] = {CURVE_RISING, 4},     [OP_SQRT] = {CURVE_RISING, 0},
    [OP_RSQRT] = {CURVE_FALLING, 2},    [OP_SIN] = {CURVE_WAVE, 4},
    [OP_COS] = {CURVE_WAVE, 4},         [OP_TAN] = {CURVE_TANGENT, 4},
    [OP_ASIN] = {CURVE_RISING, 4},      [OP_ACOS] = {CURVE_FALLING, 4},
    [OP_ATAN] = {CURVE_RISING, 4},      [OP_SINH] = {CURVE_RISING, 4},
    [OP_COSH] = {CURVE_EVEN, 4},        [OP_TANH] = {CURVE_RISING, 4},
    [OP_SIGMOID] = {CURVE_RISING, 6},   [OP_ERF] = {CURVE_RISING, 4},
    [OP_FLOOR] = {CURVE_RISING, 0},     [OP_CEIL] = {CURVE_RISING, 0},
    [OP_TRUNC] = {CURVE_RISING, 0},     [OP_ROUND] = {CURVE_RISING, 0},
    [OP_NEARBYINT] = {CURVE_RISING, 0}, [OP_ABS] = {CURVE_EVEN, 0},
    [OP_ATAN2] = {CURVE_ANGLE, 4},      [OP_POW] = {CURVE_POWER, 4},
    [OP_FMOD] = {CURVE_REST, 0},        [OP_TRUNCMOD] = {CURVE_REST, 0},
    [OP_COPYSIGN] = {CURVE_SIGN, 0},    [OP_ASINH] = {CURVE_RISING, 4},
    [OP_ACOSH] = {CURVE_RISING, 4},     [OP_ATANH] = {CURVE_RISING, 4},
    [OP_HYPOT] = {CURVE_CORNERS, 4},
};

/* The same for floats and integers. */
static const BoundOf of_both[OP_COUNT] = {
    [OP_SELECT] = bound_choice,
    [OP_IF_THEN_ELSE] = bound_choice,
    [OP_LIKELY] = bound_same,
    [OP_LET] = bound_let,
    [OP_LOAD] = tirc_load_bound,
    [OP_REINTERPRET] = bound_of_points,
    [OP_RAMP] = bound_of_points,
    [OP_Q_MULTIPLY_SHIFT] = bound_of_arguments,
    [OP_Q_MULTIPLY_SHIFT_PER_AXIS] = bound_of_arguments,
};
static const BoundOf of_floats[OP_COUNT] = {
    [OP_ADD] = bound_ADD,           [OP_SUB] = bound_ADD,
    [OP_MUL] = bound_MUL,           [OP_DIV] = bound_DIV,
    [OP_FMA] = bound_FMA,           [OP_FLOORDIV] = bound_FLOORDIV,
    [OP_TRUNCDIV] = bound_FLOORDIV, [OP_FLOORMOD] = bound_FLOORMOD,
    [OP_MIN] = bound_extreme,       [OP_MAX] = bound_extreme,
    [OP_LDEXP] = bound_LDEXP,       [OP_NEXTAFTER] = bound_NEXTAFTER,
};
static BoundOf of_intrinsic(Compiler *k, Node *n) {
  const IntrinsicCall call = tirc_llvm_call(k->t, n->expr, k->loc);
  if (call.dot) return bound_dot;
  switch (call.id) {
  case INTRINSIC_FMA: return bound_FMA;
  case INTRINSIC_SQRT: n->function = functions[OP_SQRT]; return bound_function;
  case INTRINSIC_FABS: n->function = functions[OP_ABS]; return bound_function;
  case INTRINSIC_MINNUM:
  case INTRINSIC_MAXNUM: return bound_extreme;
  case INTRINSIC_REDUCE_FADD: return bound_sum_of_lanes;
  default: return bound_of_points;
  }
}

static BoundOf find(Compiler *k, Node *n) {
  const Op op = (Op)n->expr->op;
  if (op == OP_BROADCAST) return n->a->dtype.lanes == 1 ? bound_same : bound_broadcast;
  if (of_both[op]) return of_both[op];
  if (op == OP_CAST) return tirc_bound_of_cast(n);
  if (!is_float(n)) return op == OP_CALL ? bound_of_points : tirc_bound_of_int(op);
  if (of_floats[op]) return of_floats[op];
  if (op == OP_CALL && tirc_is_llvm_call(n->expr)) return of_intrinsic(k, n);
  if (op != OP_CALL) n->function = functions[op];
  return n->function.curve == CURVE_NONE && op != OP_CALL ? bound_of_points : bound_function;
}

static void make_shadow(Compiler *k, Node *n) {
  const Node *from[3] = {n->a, n->b, n->c};
  const Node **to[3];
  struct Shadow *s = n->shadow = tirc_new(k->t, struct Shadow);
  s->node = *n;
  s->node.bound = NULL;
  to[0] = &s->node.a, to[1] = &s->node.b, to[2] = &s->node.c;
  for (int i = 0; i < 3; i++) {
    if (!from[i]) continue;
    s->operand[i] = (Node){.cell = &s->given[i], .dtype = from[i]->dtype, .expr = from[i]->expr};
    *to[i] = &s->operand[i];
  }
}

static bool may_differ(const Node *n) { return n && n->bound; }

void tirc_compile_bound(Compiler *k, Node *n) {
  const Op op = (Op)n->expr->op;
  if (op == OP_FLOAT) n->u.constant.f = tirc_round_float(program_type(n), n->expr->u.f);
  if (op == OP_VAR) {
    n->bounds = tirc_map_get(&k->bounds, n->expr);
    if (n->bounds) n->bound = bound_variable;
    return;
  }
  if (n->cell) return;
  bool inner = may_differ(n->a) || may_differ(n->b) || may_differ(n->c);
  if (op == OP_Q_MULTIPLY_SHIFT || op == OP_Q_MULTIPLY_SHIFT_PER_AXIS)
    for (int i = 0; i < n->expr->n; i++) inner |= may_differ(n->u.args[i]);
  if (!is_float(n) && !inner && op != OP_LOAD && op != OP_CALL) {
    bool floats = false;
    for (int i = 0; i < n->expr->n; i++) floats |= tirc_dtype_is_float(n->expr->args[i]->dtype);
    if (!floats) return;
  }
  n->bound = find(k, n);
  make_shadow(k, n);
}
