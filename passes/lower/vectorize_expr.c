/* Vector forms of expressions: what an expression is for `lanes` consecutive values of the loop's
 * variable at once. The variable itself is a ramp; sums and products of a ramp with a scalar stay
 * ramps, so that indices remain recognisable; all else works lane by lane on broadcasts. */
#include "ir/tree/int_op.h"
#include "vectorize.h"

const LaneLet *tirc_vector_bind(Tirc *c, Expr var, int lanes, const LaneLet *outer) {
  LaneLet *b = tirc_new(c, LaneLet);
  *b = (LaneLet){var, tirc_var(c, var->u.s, tirc_dtype_lanes(var->dtype, lanes)), outer};
  return b;
}

bool tirc_vector_depends(Expr e, Expr var, const LaneLet *lets) {
  for (; lets; lets = lets->outer)
    if (tirc_uses_var(e, lets->var)) return true;
  return tirc_uses_var(e, var);
}

static Expr fail(Lanes *l) {
  l->failed = true;
  return NULL;
}

static Expr spread(Lanes *l, Expr e) {
  return e->dtype.lanes > 1 ? e : tirc_broadcast(l->c, e, l->lanes);
}

/* A ramp or broadcast as base + i * stride; false for other vectors. */
static bool as_ramp(Lanes *l, Expr e, Expr *base, Expr *stride) {
  if (e->op == OP_RAMP) {
    *base = e->args[0];
    *stride = e->args[1];
    return true;
  }
  if (e->dtype.lanes > 1 && e->op != OP_BROADCAST) return false;
  *base = e->op == OP_BROADCAST ? e->args[0] : e;
  *stride = tirc_int(l->c, (*base)->dtype, 0);
  return true;
}

static Expr make_ramp(Lanes *l, Expr base, Expr stride) {
  if (tirc_is_int(stride, 0)) return base;
  return tirc_ramp(l->c, base, stride, l->lanes);
}

static Expr linear(Lanes *l, Expr e, Expr a, Expr b) {
  Expr base[2], stride[2];
  if (!tirc_dtype_is_int(e->dtype) || !as_ramp(l, a, &base[0], &stride[0]) ||
      !as_ramp(l, b, &base[1], &stride[1]))
    return NULL;
  Tirc *c = l->c;
  Op op = (Op)e->op;
  if (op == OP_ADD || op == OP_SUB)
    return make_ramp(l, tirc_binary(c, op, base[0], base[1]),
                     tirc_binary(c, op, stride[0], stride[1]));
  if (op != OP_MUL) return NULL;
  int scalar = tirc_is_int(stride[1], 0) ? 1 : tirc_is_int(stride[0], 0) ? 0 : -1;
  if (scalar < 0) return NULL;
  Expr k = base[scalar];
  return make_ramp(l, tirc_mul(c, base[!scalar], k), tirc_mul(c, stride[!scalar], k));
}

/* Whether base + [0, span] has one quotient by k, as base is a multiple of something (and a rest)
 * that k is a multiple of, too: its remainder is far enough from k. */
static bool stays_in_multiple(Lanes *l, Expr base, int64_t span, int64_t k) {
  const Modular m = tirc_modular(l->a, base);
  const int64_t step = tirc_gcd(m.coeff, k);
  const int64_t rest = step > 0 ? (m.base % step + step) % step : 0;
  return step > 0 && span < step && rest + span < step;
}

/* ramp // k and ramp % k where all lanes have one quotient. */
static Expr division(Lanes *l, Expr e, Expr a, Expr b) {
  if (a->op != OP_RAMP || b->dtype.lanes > 1) return NULL;
  Tirc *c = l->c;
  Expr base = a->args[0], stride = a->args[1];
  Expr last = tirc_add(c, base, tirc_mul(c, stride, tirc_int(c, stride->dtype, l->lanes - 1)));
  Expr q = tirc_simplify(l->a, tirc_floordiv(c, base, b));
  int64_t step, k;
  const bool is_known = tirc_const_int(stride, &step) && tirc_const_int(b, &k) && step > 0 &&
                        k > step * (l->lanes - 1) &&
                        stays_in_multiple(l, base, step * (l->lanes - 1), k);
  if (!is_known && !tirc_prove_equal(l->a, q, tirc_floordiv(c, last, b))) return NULL;
  if (e->op == OP_FLOORDIV) return q;
  return make_ramp(l, tirc_simplify(l->a, tirc_floormod(c, base, b)), stride);
}

static Expr binary(Lanes *l, Expr e) {
  Expr a = tirc_vector_expr(l, e->args[0]), b = l->failed ? NULL : tirc_vector_expr(l, e->args[1]);
  if (l->failed) return NULL;
  Expr short_form = NULL; /* a ramp that turns around would be no index */
  if (!tirc_dtype_wraps(e->args[0]->dtype))
    short_form =
        e->op == OP_FLOORDIV || e->op == OP_FLOORMOD ? division(l, e, a, b) : linear(l, e, a, b);
  if (short_form) return short_form;
  Expr both[2] = {spread(l, a), spread(l, b)};
  return tirc_expr(l->c, (Op)e->op, tirc_dtype_lanes(e->dtype, l->lanes), 2, both);
}

static Expr lanewise(Lanes *l, Expr e) {
  Expr *args = tirc_new_array(l->c, Expr, e->n);
  for (int i = 0; i < e->n; i++) {
    args[i] = tirc_vector_expr(l, e->args[i]);
    if (l->failed) return NULL;
    args[i] = spread(l, args[i]);
  }
  return tirc_expr(l->c, (Op)e->op, tirc_dtype_lanes(e->dtype, l->lanes), e->n, args);
}

static Expr load(Lanes *l, Expr e) {
  int vectors = 0;
  Expr *indices = tirc_new_array(l->c, Expr, e->n);
  for (int i = 0; i < e->n; i++) {
    indices[i] = tirc_vector_expr(l, e->args[i]);
    if (l->failed) return NULL;
    vectors += indices[i]->dtype.lanes > 1;
  }
  return vectors > 1 ? fail(l) : tirc_load(l->c, e->u.buffer, e->n, indices);
}

/* With one condition for each lane both sides are computed: what they read is left out in lanes of
 * the other side. */
static Expr masked_choice(Lanes *l, Expr e) {
  Tirc *c = l->c;
  const Expr cond = e->args[0], yes = e->args[1], no = e->args[2];
  if (!l->masks || tirc_loads_or_calls(cond)) return fail(l);
  if (yes->op == OP_LOAD && !tirc_loads_or_calls(no)) return tirc_masked_load(l, cond, yes, no);
  const Expr sides[3] = {cond, tirc_guard_loads(c, yes, cond, NULL, NULL),
                         tirc_guard_loads(c, no, tirc_not(c, cond), NULL, NULL)};
  return tirc_vector_expr(l, tirc_expr(c, OP_SELECT, e->dtype, 3, sides));
}

/* Whether base + step * lane > 0 comes out one way for all lanes: base is a multiple of something,
 * and a rest, so that it is no number close to 0 that lanes could cross. */
static bool has_one_sign(Lanes *l, Expr base, int64_t step) {
  const Modular m = tirc_modular(l->a, base);
  const int64_t of = m.coeff < 0 ? -m.coeff : m.coeff;
  int64_t span;
  if (of <= 0 || __builtin_mul_overflow(step, (int64_t)l->lanes - 1, &span)) return false;
  const int64_t rest = (m.base % of + of) % of;
  if (step > 0) return rest > 0 && of - rest >= span;
  return (rest > 0 ? rest : of) > -span;
}

Expr tirc_same_in_lanes(Lanes *l, Expr cond) {
  Tirc *c = l->c;
  if (!tirc_vector_depends(cond, l->var, l->lets)) return cond;
  if (cond->op == OP_AND || cond->op == OP_OR) {
    Expr a = tirc_same_in_lanes(l, cond->args[0]), b = tirc_same_in_lanes(l, cond->args[1]);
    return a && b ? tirc_binary(c, (Op)cond->op, a, b) : NULL;
  }
  const bool less = cond->op == OP_LT || cond->op == OP_LE;
  const bool more = cond->op == OP_GT || cond->op == OP_GE;
  int64_t step;
  if (l->value->op != OP_RAMP || tirc_loads_or_calls(cond) || (!less && !more) ||
      !tirc_dtype_is_int(cond->args[0]->dtype) || tirc_dtype_wraps(cond->args[0]->dtype))
    return NULL;
  for (const LaneLet *b = l->lets; b; b = b->outer)
    if (tirc_uses_var(cond, b->var)) return NULL;
  Expr d = tirc_sub(c, cond->args[less], cond->args[more]);
  if (cond->op == OP_LE || cond->op == OP_GE) d = tirc_add(c, d, tirc_int(c, d->dtype, 1));
  Expr next = tirc_add(c, l->var, tirc_int(c, l->var->dtype, 1)), first = l->value->args[0];
  Expr far = tirc_simplify(l->a, tirc_sub(c, tirc_substitute1(c, d, l->var, next), d));
  if (!tirc_const_int(far, &step)) return NULL;
  Expr base = tirc_simplify(l->a, tirc_substitute1(c, d, l->var, first));
  if (!has_one_sign(l, base, step)) return NULL;
  return tirc_simplify(l->a, tirc_substitute1(c, cond, l->var, first));
}

static Expr choice(Lanes *l, Expr e) {
  bool lazy = e->op == OP_IF_THEN_ELSE;
  Expr same = lazy && !l->masks ? tirc_same_in_lanes(l, e->args[0]) : NULL;
  if (same) {
    Expr sides[3] = {same, tirc_vector_expr(l, e->args[1]), NULL};
    sides[2] = l->failed ? NULL : tirc_vector_expr(l, e->args[2]);
    if (l->failed) return NULL;
    for (int i = 1; i < 3; i++) sides[i] = spread(l, sides[i]);
    return tirc_expr(l->c, OP_IF_THEN_ELSE, tirc_dtype_lanes(e->dtype, l->lanes), 3, sides);
  }
  if (lazy && tirc_vector_depends(e->args[0], l->var, l->lets)) {
    if (tirc_loads_or_calls(e->args[1]) || tirc_loads_or_calls(e->args[2]))
      return masked_choice(l, e);
    lazy = false;
  }
  Expr cond = e->args[0] == l->on ? tirc_vector_mask(l, l->on) : tirc_vector_expr(l, e->args[0]);
  if (l->failed) return NULL;
  Expr yes = tirc_vector_expr(l, e->args[1]),
       no = l->failed ? NULL : tirc_vector_expr(l, e->args[2]);
  if (l->failed) return NULL;
  Expr args[3] = {cond, spread(l, yes), spread(l, no)};
  return tirc_expr(l->c, lazy ? OP_IF_THEN_ELSE : OP_SELECT, tirc_dtype_lanes(e->dtype, l->lanes),
                   3, args);
}

/* `and` and `or` guard what stands on their right. */
static Expr logic(Lanes *l, Expr e) {
  return tirc_loads_or_calls(e->args[1]) ? fail(l) : binary(l, e);
}

static Expr let(Lanes *l, Expr e) {
  if (!tirc_loads_or_calls(e->args[1]))
    return tirc_vector_expr(l, tirc_substitute1(l->c, e->args[2], e->args[0], e->args[1]));
  Expr value = tirc_vector_expr(l, e->args[1]);
  if (l->failed) return NULL;
  const LaneLet *outer = l->lets;
  l->lets = tirc_vector_bind(l->c, e->args[0], l->lanes, outer);
  Expr args[3] = {l->lets->vector, spread(l, value), tirc_vector_expr(l, e->args[2])};
  l->lets = outer;
  if (l->failed) return NULL;
  args[2] = spread(l, args[2]);
  return tirc_expr(l->c, OP_LET, tirc_dtype_lanes(e->dtype, l->lanes), 3, args);
}

/* Whether all lanes of a ramp are values of a narrower type. */
static bool ramp_fits(const Lanes *l, DType t, Expr base, Expr stride) {
  const Expr lanes = tirc_int(l->c, base->dtype, l->lanes - 1);
  const Bound first = tirc_const_bound(l->a, base);
  const Bound last = tirc_const_bound(l->a, tirc_add(l->c, base, tirc_mul(l->c, stride, lanes)));
  const int64_t min = tirc_dtype_min(t), max = tirc_dtype_max(t);
  return first.min >= min && first.max <= max && last.min >= min && last.max <= max;
}

Expr tirc_vector_expr(Lanes *l, Expr e) {
  if (l->failed) return NULL;
  if (e == l->var) return l->value;
  if (!tirc_vector_depends(e, l->var, l->lets)) return e;
  for (const LaneLet *b = l->lets; b; b = b->outer)
    if (e == b->var) return b->vector;
  if (e->dtype.lanes > 1) return fail(l);
  switch (e->op) {
  case OP_LOAD: return load(l, e);
  case OP_SELECT:
  case OP_IF_THEN_ELSE: return choice(l, e);
  case OP_AND:
  case OP_OR: return logic(l, e);
  case OP_LET: return let(l, e);
  case OP_CALL:
  case OP_STRING:
  case OP_TUPLE:
  case OP_DICT:
  case OP_NONE: return fail(l);
  case OP_CAST: {
    Expr v = tirc_vector_expr(l, e->args[0]), base, stride;
    if (l->failed) return NULL;
    const bool same = tirc_dtype_is_int(e->dtype) && e->args[0]->dtype.code == e->dtype.code;
    const bool widens = same && e->dtype.bits >= e->args[0]->dtype.bits;
    if (same && as_ramp(l, v, &base, &stride) && /* indices do not overflow */
        (widens || ramp_fits(l, e->dtype, base, stride)))
      return make_ramp(l, tirc_cast(l->c, e->dtype, base), tirc_cast(l->c, e->dtype, stride));
    v = spread(l, v);
    return tirc_expr(l->c, OP_CAST, tirc_dtype_lanes(e->dtype, l->lanes), 1, &v);
  }
  default:
    return e->n == 2 && tirc_ops[e->op].class == OPCLASS_BINARY ? binary(l, e) : lanewise(l, e);
  }
}
