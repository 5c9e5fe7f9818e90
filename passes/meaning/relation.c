#include "relations.h"

#include "ir/tree/find.h"
#include "ir/tree/int_op.h"
#include "ir/tree/print.h"

static ZSet condition_of(Relations *r, Place *at, Expr e);

/* --- what stands still ------------------------------------------------------------------------ */

static Place *place_of_var(Place *at, Expr var) {
  while (at && at->var != var) at = at->up;
  return at;
}

static bool is_moving(const void *self, Expr e) {
  Place *const *at = self;
  const Place *p = e->op == OP_VAR ? place_of_var(*at, e) : NULL;
  return (p && !p->outside) || e->op == OP_CALL || e->op == OP_LET;
}

static bool stands_still(const Relations *r, Place *at, Expr e) {
  return !tirc_find_expr(e, is_moving, &at) &&
         !(tirc_reads_memory(e) && (!r->changes || r->changes(r, e)));
}

/* What was loaded before the nest is not what would be loaded in it. */
static ZValue symbol(Relations *r, Place *at, Expr e) {
  if (!stands_still(r, at, e) ||
      (!at->n_loops && (at->outside || at == &r->nowhere) && tirc_reads_memory(e)))
    return NULL;
  int i = 0;
  while (i < r->symbols.n && !tirc_expr_same(r->symbols.at[i], e)) i++;
  if (i == r->symbols.n) vec_push(r->c, r->symbols, e);
  return tirc_z_param(r->sets, at->n_loops, r->symbols.at[i]);
}

/* --- what is shorter -------------------------------------------------------------------------- */

/* Each quotient, remainder, minimum and maximum is dear: of i * 8 + j where j < 8, the quotient by
 * 8 is i. Only of what is quasi-affine: another form of a product would be another symbol. */
typedef struct Forms {
  bool found, other;
} Forms;

static bool is_step(const struct ExprNode *e) {
  return e->op == OP_FLOORDIV || e->op == OP_FLOORMOD || e->op == OP_MIN || e->op == OP_MAX;
}

static bool is_quasi_affine(const struct ExprNode *e) {
  if (e->dtype.code != TYPE_INT || e->dtype.bits < 32 || e->dtype.lanes != 1) return false;
  switch (e->op) {
  case OP_INT:
  case OP_VAR:
  case OP_ADD:
  case OP_SUB:
  case OP_MIN:
  case OP_MAX: return true;
  case OP_MUL: return e->args[0]->op == OP_INT || e->args[1]->op == OP_INT;
  case OP_FLOORDIV:
  case OP_FLOORMOD: return e->args[1]->op == OP_INT;
  case OP_CAST: return e->args[0]->dtype.bits <= e->dtype.bits;
  default: return false;
  }
}

static bool see_step(Visitor *v, Expr e) {
  Forms *k = v->self;
  k->found |= is_step(e);
  k->other |= !is_quasi_affine(e);
  return !k->other;
}

static Expr without_bindings(Relations *r, Place *at, Expr e);

typedef struct Bindings {
  Relations *r;
  Place *at;
  PtrMap values;
} Bindings;

static bool see_bound(Visitor *v, Expr e) {
  Bindings *b = v->self;
  const Place *p = e->op == OP_VAR ? place_of_var(b->at, e) : NULL;
  if (p && p->kind == PLACE_BIND)
    tirc_map_set(b->r->c, &b->values, e, (void *)without_bindings(b->r, p->up, p->a));
  return true;
}

/* In terms of loops. */
static Expr without_bindings(Relations *r, Place *at, Expr e) {
  Bindings b = {.r = r, .at = at};
  tirc_visit_expr(&(Visitor){.expr = see_bound, .self = &b}, e);
  return tirc_substitute(r->c, e, &b.values);
}

static void know_ranges(Relations *r, Place *at) {
  for (Place *p = at; p && p != &r->nowhere && p->ranged != r->ranges; p = p->up) {
    p->ranged = r->ranges;
    if (p->kind == PLACE_LOOP && !tirc_reads_memory(p->a) && !tirc_reads_memory(p->b))
      tirc_bind_range(r->ranges, p->var, (Range){p->a, p->b});
  }
}

static Forms forms_in(Expr e) {
  Forms k = {0};
  tirc_visit_expr(&(Visitor){.expr = see_step, .self = &k}, e);
  return k;
}

Expr tirc_in_loops(Relations *r, Place *at, Expr e) {
  const Expr whole = without_bindings(r, at, e);
  const Forms k = forms_in(whole);
  if (!k.found || k.other) return whole;
  if (!r->ranges) r->ranges = tirc_analyzer(r->c);
  know_ranges(r, at);
  return tirc_simplify(r->ranges, whole);
}

static Expr shortened(Relations *r, Place *at, Expr e) {
  const Forms k = forms_in(e);
  return k.found && !k.other ? tirc_in_loops(r, at, e) : e;
}

/* --- numbers ---------------------------------------------------------------------------------- */

static ZValue value_of(Relations *r, Place *at, Expr e);

/* Of a whole number, not of a part of one. */
static ZValue whole_value(Relations *r, Place *at, Expr e) {
  return value_of(r, at, shortened(r, at, e));
}

/* What an earlier question has found out went with it. */
static void begin(const Relations *r, Place *p) {
  const int64_t question = tirc_sets_question(r->sets);
  if (p->sets == r->sets && p->question == question) return;
  p->sets = r->sets;
  p->question = question;
  p->is_known = false;
  p->reached = NULL;
  p->value = NULL;
}

static ZValue bound_value(Relations *r, Place *p) {
  begin(r, p);
  if (!p->is_known) p->value = whole_value(r, p->up, p->a);
  p->is_known = true;
  return p->value;
}

static ZValue value_of_var(Relations *r, Place *at, Expr var) {
  Place *p = place_of_var(at, var);
  const int n = at->n_loops;
  if (p && p->kind == PLACE_LOOP && !p->outside) return tirc_z_place(r->sets, n, p->n_loops - 1);
  if (p && p->kind == PLACE_BIND) {
    const ZValue held = bound_value(r, p);
    if (held || !p->outside) return tirc_z_extend(r->sets, held, n - p->n_loops);
  }
  return tirc_z_param(r->sets, n, var);
}

/* What is left of a number in a type that may not hold it. NULL: in 64 bits. */
static ZValue wrapped(Relations *r, DType to, ZValue value) {
  if (!value || to.bits > 32) return NULL;
  const int64_t least = tirc_dtype_min(to), span = tirc_dtype_max(to) - least + 1;
  const ZValue first = tirc_z_int(r->sets, tirc_z_length(value), least);
  return tirc_z_add(r->sets, first,
                    tirc_z_floormod(r->sets, tirc_z_sub(r->sets, value, first), span));
}

static ZValue converted(Relations *r, const struct ExprNode *cast, ZValue value) {
  const DType from = cast->args[0]->dtype, to = cast->dtype;
  if (!value || !tirc_dtype_is_int(from) || !tirc_dtype_is_int(to)) return NULL;
  const bool holds = tirc_dtype_min(to) <= tirc_dtype_min(from) &&
                     tirc_dtype_max(from) <= tirc_dtype_max(to) &&
                     !(to.code == TYPE_INT && from.code == TYPE_UINT && from.bits >= to.bits);
  return holds ? value : wrapped(r, to, value);
}

/* Index arithmetic is taken not to leave its type; that of narrow and of unsigned numbers wraps. */
static ZValue in_type(Relations *r, DType t, ZValue value) {
  return tirc_dtype_wraps(t) ? wrapped(r, t, value) : value;
}

static ZValue scaled(Relations *r, ZValue a, ZValue b) {
  const bool linear = tirc_z_is_constant(r->sets, a) || tirc_z_is_constant(r->sets, b);
  return linear ? tirc_z_mul(r->sets, a, b) : NULL;
}

static ZValue divided(Relations *r, Op op, ZValue a, Expr by) {
  int64_t divisor;
  if (!tirc_const_int(by, &divisor) || divisor <= 0) return NULL;
  return op == OP_FLOORDIV ? tirc_z_floordiv(r->sets, a, divisor)
                           : tirc_z_floormod(r->sets, a, divisor);
}

static ZValue chosen(Relations *r, Place *at, Expr e) {
  const ZSet where = condition_of(r, at, e->args[0]);
  const ZValue yes = where ? value_of(r, at, e->args[1]) : NULL;
  const ZValue no = yes ? value_of(r, at, e->args[2]) : NULL;
  return no ? tirc_z_choose(r->sets, where, yes, no) : NULL;
}

static ZValue computed(Relations *r, Place *at, Expr e) {
  int64_t value;
  ZValue a, b;
  switch (e->op) {
  case OP_INT: return tirc_const_int(e, &value) ? tirc_z_int(r->sets, at->n_loops, value) : NULL;
  case OP_VAR: return value_of_var(r, at, e);
  case OP_LIKELY: return value_of(r, at, e->args[0]);
  case OP_CAST: return converted(r, e, value_of(r, at, e->args[0]));
  case OP_SELECT:
  case OP_IF_THEN_ELSE: return chosen(r, at, e);
  case OP_FLOORDIV:
  case OP_FLOORMOD:
    a = value_of(r, at, e->args[0]);
    return a ? divided(r, (Op)e->op, a, e->args[1]) : NULL;
  case OP_ADD:
  case OP_SUB:
  case OP_MUL:
  case OP_MIN:
  case OP_MAX: break;
  default: return NULL;
  }
  a = value_of(r, at, e->args[0]);
  b = a ? value_of(r, at, e->args[1]) : NULL;
  if (!b || (e->dtype.code == TYPE_BOOL && e->op <= OP_MUL)) return NULL;
  switch (e->op) {
  case OP_ADD: return in_type(r, e->dtype, tirc_z_add(r->sets, a, b));
  case OP_SUB: return in_type(r, e->dtype, tirc_z_sub(r->sets, a, b));
  case OP_MUL: return in_type(r, e->dtype, scaled(r, a, b));
  case OP_MIN: return tirc_z_min(r->sets, a, b);
  default: return tirc_z_max(r->sets, a, b);
  }
}

/* NULL: it cannot be said. */
static ZValue value_of(Relations *r, Place *at, Expr e) {
  if (!at) at = &r->nowhere;
  if (!tirc_dtype_is_int(e->dtype) && e->dtype.code != TYPE_BOOL) return NULL;
  const ZValue value = computed(r, at, e);
  return value ? value : symbol(r, at, e);
}

/* --- conditions ------------------------------------------------------------------------------- */

static ZSet compared(Relations *r, Place *at, Expr e) {
  if (!tirc_dtype_is_int(e->args[0]->dtype)) return NULL;
  const ZValue a = whole_value(r, at, e->args[0]);
  const ZValue b = a ? whole_value(r, at, e->args[1]) : NULL;
  return b ? tirc_z_compare(r->sets, (Op)e->op, a, b) : NULL;
}

/* NULL: it cannot be said. */
static ZSet condition_of(Relations *r, Place *at, Expr e) {
  int64_t value;
  ZSet a, b;
  switch (e->op) {
  case OP_INT:
    if (!tirc_const_int(e, &value)) return NULL;
    return value ? tirc_z_all(r->sets, at->n_loops) : tirc_z_none(r->sets, at->n_loops);
  case OP_LIKELY: return condition_of(r, at, e->args[0]);
  case OP_NOT: a = condition_of(r, at, e->args[0]); return a ? tirc_z_not(r->sets, a) : NULL;
  case OP_AND:
  case OP_OR:
    a = condition_of(r, at, e->args[0]);
    b = a ? condition_of(r, at, e->args[1]) : NULL;
    if (!b) return NULL;
    return e->op == OP_AND ? tirc_z_and(r->sets, a, b) : tirc_z_or(r->sets, a, b);
  default: return tirc_compares(e->op) ? compared(r, at, e) : NULL;
  }
}

/* --- places ----------------------------------------------------------------------------------- */

static ZSet in_range(Relations *r, Place *p, ZSet where) {
  int64_t first, n, past;
  if (tirc_const_int(p->a, &first) && tirc_const_int(p->b, &n) &&
      !__builtin_add_overflow(first, n, &past) && (!p->outside || n > 0)) {
    if (!p->outside) return tirc_z_within(r->sets, where, p->n_loops - 1, first, past);
    tirc_z_param_within(r->sets, p->var, first, past);
    return where;
  }
  const ZValue min = whole_value(r, p->up, p->a), extent = whole_value(r, p->up, p->b);
  const ZValue at = value_of_var(r, p, p->var);
  const int more = p->n_loops - (p->up ? p->up->n_loops : 0);
  const ZValue from = min ? tirc_z_extend(r->sets, min, more) : NULL;
  p->is_exact &= p->outside || (min && extent);
  if (!from) return where;
  where = tirc_z_and(r->sets, where, tirc_z_compare(r->sets, OP_GE, at, from));
  if (!extent) return where;
  const ZValue end = tirc_z_add(r->sets, from, tirc_z_extend(r->sets, extent, more));
  return tirc_z_and(r->sets, where, tirc_z_compare(r->sets, OP_LT, at, end));
}

static ZSet where_it_holds(Relations *r, Place *p, ZSet where) {
  const ZSet holds = condition_of(r, p->up ? p->up : &r->nowhere, p->a);
  p->is_exact &= p->outside || holds;
  if (!holds) return where;
  return tirc_z_and(r->sets, where, p->negated ? tirc_z_not(r->sets, holds) : holds);
}

/* As in tirc_bind_shapes: extents of the function's parameters are at least 1. */
static ZSet sizes(Relations *r) {
  if (r->sizes) return r->sizes;
  const Func *f = r->func;
  ZSet all = tirc_z_all(r->sets, 0);
  for (int i = 0; f && i < f->n_params; i++)
    for (int d = 0; f->buffers[i] && d < f->buffers[i]->ndim; d++) {
      if (f->buffers[i]->shape[d]->op == OP_INT) continue;
      const ZValue extent = value_of(r, &r->nowhere, f->buffers[i]->shape[d]);
      if (extent)
        all = tirc_z_and(r->sets, all,
                         tirc_z_compare(r->sets, OP_GE, extent, tirc_z_int(r->sets, 0, 1)));
    }
  return r->sizes = all;
}

/* The place of a bound variable has no set of its own: its value is known when it is asked for. */
ZSet tirc_reached(Relations *r, Place *p) {
  if (!p) return sizes(r);
  begin(r, p);
  if (p->reached) return p->reached;
  const ZSet above = tirc_reached(r, p->up);
  const int more = p->n_loops - (p->up ? p->up->n_loops : 0);
  const ZSet where = above ? tirc_z_extend_set(r->sets, above, more) : NULL;
  p->is_exact = !p->up || p->up->is_exact;
  switch (p->kind) {
  case PLACE_LOOP: p->reached = in_range(r, p, where); break;
  case PLACE_WHEN: p->reached = where_it_holds(r, p, where); break;
  case PLACE_BIND: p->reached = where; break;
  case PLACE_REPEAT:
    p->is_exact = false;
    p->reached = where;
    break;
  }
  return p->reached;
}

/* --- accesses --------------------------------------------------------------------------------- */

/* The one value of an index while the nest runs; NULL: it has more. */
static Expr fixed_index(Relations *r, const Touch *t, int d) {
  if (t->extents && !tirc_is_int(tirc_in_loops(r, t->at, t->extents[d]), 1)) return NULL;
  const Expr e = tirc_in_loops(r, t->at, t->indices[d]);
  return e->dtype.lanes == 1 && stands_still(r, t->at, e) && !tirc_reads_memory(e) ? e : NULL;
}

static void find_common(Relations *r, const Touch *t) {
  Expr *common = tirc_map_get(&r->common, t->buffer);
  const bool first = !common;
  if (first) {
    common = tirc_new_array(r->c, Expr, t->n + 1);
    tirc_map_set(r->c, &r->common, t->buffer, common);
  }
  for (int d = 0; d < t->n; d++) {
    const Expr fixed = first || common[d] ? fixed_index(r, t, d) : NULL;
    common[d] = first || (fixed && tirc_expr_same(fixed, common[d])) ? fixed : NULL;
  }
}

void tirc_leave_out_common(Relations *r, const Touches *touches, const Touch *more) {
  for (int i = 0; i < touches->n; i++) find_common(r, &touches->at[i]);
  if (more) find_common(r, more);
}

static int lanes_of(const Touch *t) {
  int lanes = 1;
  for (int i = 0; i < t->n; i++)
    if (t->indices[i]->dtype.lanes > lanes) lanes = t->indices[i]->dtype.lanes;
  return lanes;
}

Expr tirc_lane_of(Tirc *c, Expr index, Expr lane) {
  if (index->dtype.lanes == 1) return index;
  if (index->op == OP_BROADCAST) return index->args[0];
  if (index->op != OP_RAMP) return NULL;
  const Expr base = index->args[0];
  return tirc_add(c, base, tirc_mul(c, tirc_cast(c, base->dtype, lane), index->args[1]));
}

Place *tirc_lanes_place(Tirc *c, Place *up, Expr lane, int lanes) {
  const Range all = tirc_range(tirc_int32(c, 0), tirc_int32(c, lanes));
  return tirc_place_further(c, up, tirc_loop_place(lane, all));
}

static ZMap relation_of_lanes(Relations *r, const Touch *t, int lanes, bool *exact) {
  const int n = t->at->n_loops;
  const Expr lane = tirc_var(r->c, "lane", DT_INT32);
  Place *at = tirc_lanes_place(r->c, t->at, lane, lanes);
  const ZSet from = tirc_reached(r, at);
  ZValue *to = tirc_new_array(r->c, ZValue, t->n + 1);
  for (int i = 0; i < t->n; i++) {
    const Expr index = tirc_lane_of(r->c, t->indices[i], lane);
    to[i] = index ? whole_value(r, at, index) : NULL;
    *exact &= to[i] != NULL;
  }
  return tirc_z_drop_in(r->sets, tirc_z_map(r->sets, from, t->n, to, NULL), n, 1);
}

ZMap tirc_relation_of(Relations *r, const Touch *t, bool *exact) {
  const ZSet from = tirc_reached(r, t->at);
  const int lanes = lanes_of(t);
  *exact &= t->at->is_exact && (!t->extents || t->surely);
  if (lanes > 1) return relation_of_lanes(r, t, lanes, exact);
  ZValue *to = tirc_new_array(r->c, ZValue, t->n + 1);
  ZValue *extents = tirc_new_array(r->c, ZValue, t->n + 1);
  const Expr *common = t->buffer ? tirc_map_get(&r->common, t->buffer) : NULL;
  for (int i = 0; i < t->n; i++) {
    extents[i] = NULL;
    if (common && common[i]) {
      to[i] = tirc_z_int(r->sets, t->at->n_loops, 0);
      continue;
    }
    to[i] = whole_value(r, t->at, t->indices[i]);
    extents[i] = t->extents ? whole_value(r, t->at, t->extents[i]) : NULL;
    if (t->extents && !extents[i]) to[i] = NULL;
    *exact &= to[i] != NULL;
  }
  return tirc_z_map(r->sets, from, t->n, to, extents);
}

const char *tirc_param_text(const Relations *r, const void *key) {
  for (int i = 0; i < r->symbols.n; i++)
    if (r->symbols.at[i] == key) return tirc_print_expr(r->c, r->symbols.at[i]);
  return ((Expr)key)->u.s;
}
