/* The rewriter: simplifies the operands of a node, folds constants, then tries the rules of its
 * operator and the few things that are no patterns (bounds, residues, known conditions). The
 * canonical simplifier uses the same code for every node that is no sum; then operands come back
 * canonical. */
#include "internal.h"
#include "ir/tree/find.h"

enum { MAX_RECURSION = 5 };

static bool is_float(DType t) { return tirc_dtype_is_float(t); }

Expr tirc_simplifier_visit(Simplifier *s, Expr e) {
  return s->canonical ? tirc_canonical_visit(s, e) : tirc_rewrite_node(s, e);
}

Expr tirc_rewrite_again(Simplifier *s, Expr e) {
  int *depth = &s->a->recursion[s->canonical];
  if (*depth >= MAX_RECURSION) return e;
  (*depth)++;
  e = tirc_simplifier_visit(s, e);
  (*depth)--;
  return e;
}

/* not e, with the negation moved into and/or and comparisons. */
Expr tirc_negate_condition(Tirc *c, Expr e) {
  switch (e->op) {
  case OP_NOT: return e->args[0];
  case OP_AND:
  case OP_OR:
    return tirc_binary(c, e->op == OP_AND ? OP_OR : OP_AND, tirc_negate_condition(c, e->args[0]),
                       tirc_negate_condition(c, e->args[1]));
  case OP_EQ: return tirc_binary(c, OP_NE, e->args[0], e->args[1]);
  case OP_NE: return tirc_binary(c, OP_EQ, e->args[0], e->args[1]);
  default: break;
  }
  if (e->op < OP_LT || e->op > OP_GE || is_float(e->args[0]->dtype)) return tirc_not(c, e);
  switch (e->op) {
  case OP_LT: return tirc_binary(c, OP_LE, e->args[1], e->args[0]);
  case OP_LE: return tirc_binary(c, OP_LT, e->args[1], e->args[0]);
  case OP_GT: return tirc_binary(c, OP_LE, e->args[0], e->args[1]);
  default: return tirc_binary(c, OP_LT, e->args[0], e->args[1]);
  }
}

/* True or false when a condition in force says so; NULL otherwise. */
static Expr known_condition(Simplifier *s, Expr e) {
  Analyzer *a = s->a;
  if (!a->literals.n) return NULL;
  Expr negated = tirc_negate_condition(a->c, e);
  for (int i = 0; i < a->literals.n; i++) {
    if (tirc_expr_same(a->literals.at[i], e)) return tirc_bool(a->c, true);
    if (tirc_expr_same(a->literals.at[i], negated)) return tirc_bool(a->c, false);
    if (e->op == OP_NOT && tirc_expr_same(a->literals.at[i], e->args[0]))
      return tirc_bool(a->c, false);
  }
  return NULL;
}

/* A node with its operands simplified. */
static Expr with_simple_args(Simplifier *s, Expr e) {
  Expr few[4], *args = e->n <= 4 ? few : tirc_new_array(s->a->c, Expr, e->n);
  for (int i = 0; i < e->n; i++) args[i] = tirc_simplifier_visit(s, e->args[i]);
  return tirc_rebuild(s->a->c, e, args);
}

/* Constants folded and neutral elements dropped; NULL when the node stays. */
static Expr folded(Simplifier *s, Expr e) {
  Expr r = tirc_binary(s->a->c, e->op, e->args[0], e->args[1]);
  bool stays = r->op == e->op && r->n == 2 && r->args[0] == e->args[0] && r->args[1] == e->args[1];
  return stays ? NULL : r;
}

static Expr rules_or_self(Simplifier *s, RuleSet set, Expr e) {
  Expr r = tirc_apply_rules(s, set, e);
  return r ? r : e;
}

/* --- vectors ---------------------------------------------------------------------------------- */

/* Ramps and broadcasts of the same length, combined operand by operand. NULL: nothing to do. */
static Expr vector_node(Simplifier *s, Expr e) {
  Tirc *c = s->a->c;
  Expr a = e->args[0], b = e->args[1];
  int lanes = e->dtype.lanes;
  if (a->op == OP_BROADCAST && b->op == OP_BROADCAST && lanes == a->dtype.lanes)
    return tirc_broadcast(c, tirc_binary(c, e->op, a->args[0], b->args[0]), lanes);
  if (e->op != OP_ADD && e->op != OP_SUB && e->op != OP_MUL) return NULL;
  bool ra = a->op == OP_RAMP, rb = b->op == OP_RAMP;
  if (!(ra || a->op == OP_BROADCAST) || !(rb || b->op == OP_BROADCAST)) return NULL;
  if (e->op == OP_MUL) {
    if (ra == rb) return NULL;
    Expr ramp = ra ? a : b, by = (ra ? b : a)->args[0];
    return tirc_ramp(c, tirc_mul(c, ramp->args[0], by), tirc_mul(c, ramp->args[1], by), lanes);
  }
  Expr zero = tirc_lit(c, tirc_dtype_lanes(e->dtype, 1), 0);
  Expr stride = tirc_binary(c, e->op, ra ? a->args[1] : zero, rb ? b->args[1] : zero);
  return tirc_ramp(c, tirc_binary(c, e->op, a->args[0], b->args[0]), stride, lanes);
}

/* --- division --------------------------------------------------------------------------------- */

static bool is_scaled(Expr e) { return e->op == OP_MUL && e->args[1]->op == OP_INT; }

/* e as x * coeff + rest (or rest + x * coeff); rest NULL when there is none. */
static bool scaled_part(Expr e, Expr *x, int64_t *coeff, Expr *rest) {
  bool sum = e->op == OP_ADD;
  Expr first = sum ? e->args[0] : e, second = sum ? e->args[1] : e;
  Expr product = is_scaled(first) ? first : second;
  if (!is_scaled(product)) return false;
  *x = product->args[0];
  *coeff = product->args[1]->u.i;
  *rest = !sum ? NULL : product == first ? second : first;
  return true;
}

/* (x * c1 + y) // c2: take the part of c1 that c2 divides out of the division when the residue is
 * constant; or divide through by c1 when y cannot carry. */
static Expr floordiv_scaled(Simplifier *s, Expr e) {
  Tirc *c = s->a->c;
  DType t = e->dtype;
  Expr x, y;
  int64_t c1, c2;
  if (!tirc_const_int(e->args[1], &c2) || c2 == 0 || c2 == -1) return NULL;
  if (!scaled_part(e->args[0], &x, &c1, &y)) return NULL;
  Expr by = e->args[1], zero = tirc_lit(c, t, 0);
  if (!y) y = zero;
  Expr kept = tirc_mul(c, x, tirc_lit(c, t, tirc_floormod64(c1, c2)));
  Expr residue = tirc_floordiv(c, tirc_add(c, kept, tirc_floormod(c, y, by)), by);
  Expr y_div = tirc_floordiv(c, y, by);
  if (tirc_prove_equal(s->a, y_div, zero)) y_div = zero;
  Bound b = tirc_const_bound(s->a, residue);
  if (b.min == b.max)
    return tirc_add(c, tirc_mul(c, x, tirc_lit(c, t, tirc_floordiv64(c1, c2))),
                    tirc_add(c, y_div, tirc_lit(c, t, b.max)));
  if (c1 > 0 && c2 > 0 && c2 % c1 == 0 &&
      tirc_can_prove_ge(s->a, tirc_sub(c, tirc_lit(c, t, c1 - 1), tirc_floormod(c, y, by)), 0))
    return tirc_add(c, tirc_floordiv(c, x, tirc_lit(c, t, c2 / c1)), y_div);
  return NULL;
}

/* Whether 0 <= x < y, where y is no number. */
static bool is_rest_of(Simplifier *s, Expr x, Expr y) {
  if (y->op == OP_INT || !tirc_is_index(y->dtype) || tirc_compare(s, x, y) != CMP_LT) return false;
  return tirc_can_prove_ge(s->a, x, 0);
}

/* (x * y + z) // y is x, and z // y is 0, where 0 <= z < y, so that y is positive; or NULL. */
static Expr quotient_by_rest(Simplifier *s, Expr e) {
  const Expr x = e->args[0], y = e->args[1];
  if (y->op == OP_INT) return NULL;
  if (is_rest_of(s, x, y)) return tirc_lit(s->a->c, e->dtype, 0);
  for (int i = 0; x->op == OP_ADD && i < 2; i++) {
    const Expr product = x->args[i];
    for (int k = 0; product->op == OP_MUL && k < 2; k++)
      if (tirc_expr_same(product->args[k], y) && is_rest_of(s, x->args[!i], y))
        return product->args[!k];
  }
  return NULL;
}

static Expr floordiv_node(Simplifier *s, Expr e) {
  Expr r = tirc_apply_rules(s, RULES_FLOORDIV_FIRST, e);
  if (!r) r = floordiv_scaled(s, e);
  if (!r) r = quotient_by_rest(s, e);
  return r ? r : rules_or_self(s, RULES_FLOORDIV, e);
}

/* What the residue or the bounds of x say about x % c. */
static Expr remainder_by_analysis(Simplifier *s, Expr e) {
  Tirc *c = s->a->c;
  Expr x = e->args[0];
  int64_t by;
  if (!tirc_const_int(e->args[1], &by) || by <= 0) return e;
  Modular m = tirc_modular(s->a, x);
  bool down = e->op == OP_FLOORMOD;
  if (m.coeff % by == 0 && (down || tirc_can_prove_ge(s->a, x, 0)))
    return tirc_lit(c, e->dtype, tirc_floormod64(m.base, by));
  Bound b = tirc_const_bound(s->a, x);
  return down && b.min >= 0 && b.max < by ? x : e;
}

static Expr remainder_node(Simplifier *s, Expr e) {
  Expr r = tirc_apply_rules(s, e->op == OP_FLOORMOD ? RULES_FLOORMOD : RULES_TRUNCMOD, e);
  if (!r && e->op == OP_FLOORMOD && is_rest_of(s, e->args[0], e->args[1])) return e->args[0];
  return r ? r : remainder_by_analysis(s, e);
}

/* --- min and max ------------------------------------------------------------------------------ */

static Expr extreme_node(Simplifier *s, Expr e) {
  Expr x = e->args[0], y = e->args[1];
  if (tirc_expr_same(x, y)) return x;
  Bound a = tirc_const_bound(s->a, x), b = tirc_const_bound(s->a, y);
  bool x_least = a.max != TIRC_POS_INF && b.min != TIRC_NEG_INF && a.max <= b.min;
  bool y_least = b.max != TIRC_POS_INF && a.min != TIRC_NEG_INF && b.max <= a.min;
  if (e->op == OP_MIN && (x_least || y_least)) return x_least ? x : y;
  if (e->op == OP_MAX && (x_least || y_least)) return y_least ? x : y;
  return rules_or_self(s, e->op == OP_MIN ? RULES_MIN : RULES_MAX, e);
}

/* --- comparisons ------------------------------------------------------------------------------ */

static Expr equal_rules(Simplifier *s, Expr e) {
  Tirc *c = s->a->c;
  if (e->op != OP_EQ) return e; /* constants were folded */
  if (!tirc_is_index(e->args[0]->dtype)) return e;
  int r = tirc_compare(s, e->args[0], e->args[1]);
  if (r == CMP_EQ) return tirc_bool(c, true);
  if (!(r & CMP_EQ)) return tirc_bool(c, false);
  return rules_or_self(s, RULES_EQ, e);
}

/* Constant offsets on both sides of x < y, gathered on one. NULL when there are none. */
static Expr merge_offsets(Simplifier *s, Expr e) {
  Tirc *c = s->a->c;
  Expr side[2];
  int64_t offset[2] = {0, 0}, diff;
  for (int i = 0; i < 2; i++) {
    Expr x = side[i] = e->args[i];
    bool right = (x->op == OP_ADD || x->op == OP_SUB) && x->args[1]->op == OP_INT;
    if (!right || x->args[1]->u.i == INT64_MIN) continue;
    offset[i] = x->op == OP_ADD ? x->args[1]->u.i : -x->args[1]->u.i;
    side[i] = x->args[0];
  }
  DType t = side[0]->dtype;
  if ((!offset[0] && !offset[1]) || __builtin_sub_overflow(offset[1], offset[0], &diff))
    return NULL;
  if (diff <= tirc_dtype_min(t) || diff > tirc_dtype_max(t)) return NULL;
  if (diff == 0) return tirc_lt(c, side[0], side[1]);
  if (diff == 1) return tirc_binary(c, OP_LE, side[0], side[1]);
  const bool left = diff < 0 && offset[1];
  if (!left && !(diff > 0 && offset[0])) return NULL;
  Expr sum = tirc_add(c, side[!left], tirc_lit(c, t, left ? -diff : diff));
  if (tirc_may_leave_type(s->a, sum)) return NULL;
  return left ? tirc_lt(c, sum, side[1]) : tirc_lt(c, side[0], sum);
}

/* Both sides are multiples of a number > 1: compare the quotients. */
static Expr divide_common(Simplifier *s, Expr e) {
  Tirc *c = s->a->c;
  Modular x = tirc_modular(s->a, e->args[0]), y = tirc_modular(s->a, e->args[1]);
  int64_t by = tirc_gcd(tirc_gcd(x.base, x.coeff), tirc_gcd(y.base, y.coeff));
  if (by <= 1) return NULL;
  Expr k = tirc_lit(c, e->args[0]->dtype, by);
  return tirc_lt(c, tirc_floordiv(c, e->args[0], k), tirc_floordiv(c, e->args[1], k));
}

static Expr less_rules(Simplifier *s, Expr e) {
  if (e->op != OP_LT || !tirc_is_index(e->args[0]->dtype)) return e;
  int cmp = tirc_compare(s, e->args[0], e->args[1]);
  if (cmp == CMP_LT) return tirc_bool(s->a->c, true);
  if (!(cmp & CMP_LT)) return tirc_bool(s->a->c, false);
  Expr r = tirc_apply_rules(s, RULES_LT, e);
  if (r) return r;
  r = merge_offsets(s, e);
  if (!r) r = divide_common(s, e);
  return r ? tirc_rewrite_again(s, r) : e;
}

static Expr not_rules(Simplifier *s, Expr e) {
  return e->op == OP_NOT ? rules_or_self(s, RULES_NOT, e) : e;
}

static Expr not_equal_node(Simplifier *s, Expr e) {
  Tirc *c = s->a->c;
  if (tirc_is_index(e->args[0]->dtype)) {
    int r = tirc_compare(s, e->args[0], e->args[1]);
    if (!(r & CMP_EQ)) return tirc_bool(c, true);
    if (r == CMP_EQ) return tirc_bool(c, false);
    if (r == CMP_GE) return less_rules(s, tirc_lt(c, e->args[1], e->args[0]));
    if (r == CMP_LE) return less_rules(s, tirc_lt(c, e->args[0], e->args[1]));
  }
  Expr equal = equal_rules(s, tirc_eq(c, e->args[0], e->args[1]));
  Expr r = not_rules(s, tirc_not(c, equal));
  return tirc_expr_same(r, e) ? e : r;
}

static Expr less_equal_node(Simplifier *s, Expr e) {
  Tirc *c = s->a->c;
  if (!tirc_is_index(e->args[0]->dtype)) return e;
  Expr less = less_rules(s, tirc_lt(c, e->args[1], e->args[0]));
  Expr r = not_rules(s, tirc_not(c, less));
  if (r->op != OP_LE) return r;
  switch (tirc_compare(s, r->args[0], r->args[1])) {
  case CMP_LE:
  case CMP_LT:
  case CMP_EQ: return tirc_bool(c, true);
  case CMP_GT: return tirc_bool(c, false);
  case CMP_NE: return less_rules(s, tirc_lt(c, r->args[0], r->args[1]));
  case CMP_GE: return equal_rules(s, tirc_eq(c, r->args[0], r->args[1]));
  default: return tirc_expr_same(r, e) ? e : r;
  }
}

static Expr comparison_node(Simplifier *s, Expr e) {
  switch (e->op) {
  case OP_EQ: return equal_rules(s, e);
  case OP_NE: return not_equal_node(s, e);
  case OP_LT: return less_rules(s, e);
  default: return less_equal_node(s, e);
  }
}

/* --- conditionals and the rest ---------------------------------------------------------------- */

/* Select and if_then_else: each branch is simplified knowing the condition. */
static bool reads_lazily(const void *unused, Expr e) {
  (void)unused;
  const bool chooses = e->op == OP_IF_THEN_ELSE || e->op == OP_AND || e->op == OP_OR;
  return chooses && tirc_loads_or_calls(e);
}

/* A side of a choice where its condition holds. T.Select computes both, and a vector of conditions
 * holds in some lanes: there the same condition further inside may guard what is read. */
static Expr chosen_side(Simplifier *s, Expr e, Expr cond, Expr side) {
  const bool always = e->op == OP_SELECT || cond->dtype.lanes > 1;
  if (always && tirc_find_expr(side, reads_lazily, NULL)) return tirc_simplifier_visit(s, side);
  const int mark = tirc_enter_constraint(s->a, cond);
  side = tirc_simplifier_visit(s, side);
  tirc_leave_constraint(s->a, mark);
  return side;
}

static Expr conditional_node(Simplifier *s, Expr e) {
  Analyzer *a = s->a;
  Expr args[3] = {tirc_simplifier_visit(s, e->args[0])};
  args[1] = chosen_side(s, e, args[0], e->args[1]);
  args[2] = chosen_side(s, e, tirc_rewrite(a, tirc_not(a->c, args[0])), e->args[2]);
  if (args[0]->op == OP_INT) return args[0]->u.i ? args[1] : args[2];
  e = tirc_rebuild(a->c, e, args);
  if (e->op == OP_SELECT) return rules_or_self(s, RULES_SELECT, e);
  Expr inner = args[1];
  bool same_else = inner->op == OP_IF_THEN_ELSE && tirc_expr_same(inner->args[2], args[2]) &&
                   tirc_is_constant(args[2]);
  if (!same_else) return e;
  Expr both[3] = {tirc_and(a->c, args[0], inner->args[0]), inner->args[1], args[2]};
  return tirc_expr(a->c, OP_IF_THEN_ELSE, e->dtype, 3, both);
}

static Expr let_node(Simplifier *s, Expr e) {
  Expr value = tirc_simplifier_visit(s, e->args[1]);
  if (tirc_is_constant(value) || value->op == OP_VAR)
    return tirc_simplifier_visit(s, tirc_substitute1(s->a->c, e->args[2], e->args[0], value));
  Expr args[3] = {e->args[0], value, tirc_simplifier_visit(s, e->args[2])};
  return tirc_rebuild(s->a->c, e, args);
}

static Expr variable_node(Simplifier *s, Expr e) {
  if (e->dtype.code == TYPE_BOOL && e->dtype.lanes == 1) {
    Expr known = known_condition(s, e);
    if (known) return known;
  }
  VarInfo *info = tirc_map_get(&s->a->vars, e);
  return info && info->value ? info->value : e;
}

/* Division of floats by a power of two is multiplication by its inverse, exactly. */
static Expr float_division(Simplifier *s, Expr e) {
  Expr by = e->args[1];
  if (by->op != OP_FLOAT || by->u.f == 0 || e->dtype.bits == 16) return e;
  double inverse = 1.0 / by->u.f;
  uint64_t bits;
  memcpy(&bits, &by->u.f, sizeof bits);
  bool power_of_two = (bits & 0xfffffffffffffull) == 0;
  double size = by->u.f < 0 ? -by->u.f : by->u.f;
  if (!power_of_two || size < 0x1p-60 || size > 0x1p60) return e;
  return tirc_mul(s->a->c, e->args[0], tirc_float(s->a->c, by->dtype, inverse));
}

static Expr arithmetic_node(Simplifier *s, Expr e) {
  switch (e->op) {
  case OP_ADD: return rules_or_self(s, RULES_ADD, e);
  case OP_SUB: return rules_or_self(s, RULES_SUB, e);
  case OP_MUL: return rules_or_self(s, RULES_MUL, e);
  case OP_TRUNCDIV: return rules_or_self(s, RULES_TRUNCDIV, e);
  case OP_FLOORDIV: return floordiv_node(s, e);
  case OP_TRUNCMOD:
  case OP_FLOORMOD: return remainder_node(s, e);
  default: return extreme_node(s, e);
  }
}

/* Of narrow and unsigned integers, which wrap, only what is so for every value; or NULL. */
static Expr same_operands(Simplifier *s, Expr e) {
  const DType t = e->args[0]->dtype;
  const bool is_integer = t.code == TYPE_INT || t.code == TYPE_UINT;
  if (!is_integer || t.lanes != 1 || !tirc_expr_same(e->args[0], e->args[1])) return NULL;
  switch (e->op) {
  case OP_SUB: return tirc_lit(s->a->c, t, 0);
  case OP_EQ:
  case OP_LE: return tirc_bool(s->a->c, true);
  case OP_NE:
  case OP_LT: return tirc_bool(s->a->c, false);
  default: return NULL;
  }
}

static Expr binary_node(Simplifier *s, Expr e) {
  if (e->op == OP_GT || e->op == OP_GE)
    return tirc_simplifier_visit(
        s, tirc_binary(s->a->c, e->op == OP_GT ? OP_LT : OP_LE, e->args[1], e->args[0]));
  e = with_simple_args(s, e);
  Expr r = folded(s, e);
  if (r) return r;
  if (e->dtype.lanes > 1) {
    r = vector_node(s, e);
    return r ? r : e;
  }
  if (e->op == OP_DIV) return float_division(s, e);
  r = same_operands(s, e);
  if (r) return r;
  if (e->op >= OP_ADD && e->op <= OP_MAX)
    return tirc_is_index(e->dtype) ? arithmetic_node(s, e) : e;
  r = known_condition(s, e);
  if (r) return r;
  if (e->op == OP_AND) return rules_or_self(s, RULES_AND, e);
  if (e->op == OP_OR) return rules_or_self(s, RULES_OR, e);
  return comparison_node(s, e);
}

static Expr not_node(Simplifier *s, Expr e) {
  e = with_simple_args(s, e);
  if (e->args[0]->op == OP_INT && e->dtype.lanes == 1) return tirc_not(s->a->c, e->args[0]);
  Expr known = e->dtype.lanes == 1 ? known_condition(s, e) : NULL;
  return known ? known : not_rules(s, e);
}

Expr tirc_recast(Analyzer *a, DType t, Expr e) {
  const Expr from = e->op == OP_CAST ? e->args[0] : e;
  if (from != e && tirc_is_index(t) && tirc_is_index(e->dtype) && tirc_is_index(from->dtype)) {
    const Bound b = tirc_const_bound(a, from);
    if (b.min >= tirc_dtype_min(e->dtype) && b.max <= tirc_dtype_max(e->dtype)) e = from;
  }
  const bool widens = tirc_is_index(t) && tirc_is_index(e->dtype) && t.bits > e->dtype.bits;
  if (widens && (e->op == OP_MIN || e->op == OP_MAX))
    return tirc_binary(a->c, e->op, tirc_recast(a, t, e->args[0]), tirc_recast(a, t, e->args[1]));
  return tirc_cast(a->c, t, e);
}

/* x ^ y of a small y, where parts of x are beyond its bits: (8 * a + b) ^ y is 8 * a + (b ^ y) */
static Expr low_bits(Simplifier *s, Expr x, Expr y) {
  Tirc *c = s->a->c;
  const Bound all = tirc_const_bound(s->a, y);
  ExprVec terms = {0};
  Expr high = NULL, low = NULL;
  int64_t k = 1;
  if (all.min < 0 || all.max > INT32_MAX) return NULL;
  while (k <= all.max) k *= 2;
  tirc_unpack(c, OP_ADD, x, &terms);
  for (int i = 0; i < terms.n; i++) {
    const Modular m = tirc_modular(s->a, terms.at[i]);
    Expr *to = m.coeff % k == 0 && m.base % k == 0 ? &high : &low;
    *to = *to ? tirc_add(c, *to, terms.at[i]) : terms.at[i];
  }
  if (!high) return NULL;
  if (!low) return tirc_add(c, high, y);
  const Bound b = tirc_const_bound(s->a, low);
  if (b.min < 0 || b.max >= k) return NULL;
  return tirc_add(c, high, tirc_expr(c, OP_BITWISE_XOR, x->dtype, 2, (Expr[]){low, y}));
}

static Expr other_node(Simplifier *s, Expr e) {
  e = with_simple_args(s, e);
  Tirc *c = s->a->c;
  if (e->op == OP_LIKELY && e->args[0]->op == OP_INT) return e->args[0];
  if (e->op == OP_CAST) return tirc_recast(s->a, e->dtype, e->args[0]);
  if (e->op >= OP_BITWISE_AND && e->op <= OP_BITWISE_XOR) {
    Expr r = tirc_fold(c, e->op, e->dtype, e->n, e->args);
    if (r) return r;
    for (int i = 0; e->op == OP_BITWISE_XOR && tirc_is_index(e->dtype) && !r && i < 2; i++)
      r = low_bits(s, e->args[i], e->args[1 - i]);
    if (r) return r;
  }
  return e;
}

Expr tirc_rewrite_node(Simplifier *s, Expr e) {
  switch (e->op) {
  case OP_INT:
  case OP_LARGE_UINT:
  case OP_FLOAT:
  case OP_STRING: return e;
  case OP_VAR: return variable_node(s, e);
  case OP_LET: return let_node(s, e);
  case OP_SELECT:
  case OP_IF_THEN_ELSE:
    return e->args[0]->dtype.lanes == 1 ? conditional_node(s, e) : other_node(s, e);
  case OP_NOT: return not_node(s, e);
  default: return e->op >= OP_ADD && e->op <= OP_OR ? binary_node(s, e) : other_node(s, e);
  }
}
