/* Extents of symbols may leave the type that they are computed in: what split, fuse and the
 * transformations of layouts make of n and m is of their type. Where that is so, nothing or a part
 * would run, so it is an assertion on entry, computed in float64, which holds all of these values:
 *
 *   for i_j_fused in range(n * m):     ->   assert T.Cast("float64", n) * T.Cast("float64", m)
 *                                              <= 2147483647.0, "n * m does not fit int32: ..."
 *
 * So are the conditions that the program assumes of its sizes, which may divide by zero, too: what
 * they say of numbers that do not fit says nothing.
 *
 * Checked are loops, domains, shapes and bindings: each operation in them of which its operands'
 * types do not say that the result fits, operands first. Where loop variables are in it, the ends
 * of their ranges stand for them. What is under a condition that loads is left alone, and so is
 * what has no symbols: constants are checked when a primitive makes them. */
#include "extents.h"

#include <math.h>

#include "internal.h"
#include "ir/arith/init_part.h"
#include "ir/tree/find.h"
#include "ir/tree/graph.h"
#include "ir/tree/int_op.h"
#include "ir/tree/print.h"
#include "ir/tree/symbols.h"

/* The least and the greatest value, in float64; NULL: not known. */
typedef struct Ends {
  Expr lo, hi;
} Ends;

typedef struct Check {
  Expr cond;
  const char *message;
  Loc loc; /* of what the program assumes; or nowhere */
} Check;

typedef struct Checks {
  Tirc *c;
  Analyzer *a;
  PtrMap symbols; /* what is known on entry */
  PtrMap ends;    /* of loop variables and iterators: Ends * */
  PtrMap done;    /* expressions */
  Expr guard;     /* a condition on symbols under which the walk is, or NULL */
  const char *what;
  bool runs_assumptions; /* whoever asks runs them himself */
  VEC(Check) found;
} Checks;

static const Ends unknown = {NULL, NULL};

static Expr in_double(Tirc *c, Expr e) { return tirc_cast(c, DT_FLOAT64, e); }
static Expr number(Tirc *c, double v) { return tirc_float(c, DT_FLOAT64, v); }
static bool loads(Expr e) { return tirc_loads_or_calls(e); }

/* Whether all variables in e are known on entry, and nothing is loaded. */
static bool is_entry(const Checks *k, Expr e) {
  if (e->op == OP_VAR) return tirc_map_has(&k->symbols, e);
  if (e->op == OP_LOAD || e->op == OP_CALL || e->op == OP_LET) return false;
  for (int i = 0; i < e->n; i++)
    if (!is_entry(k, e->args[i])) return false;
  return true;
}

/* --- ends ------------------------------------------------------------------------------------ */

static Ends ends_of(Checks *k, Expr e);

static Ends product(Checks *k, Expr e, Ends x, Ends y) {
  Tirc *c = k->c;
  const Bound p = tirc_const_bound(k->a, e->args[0]), q = tirc_const_bound(k->a, e->args[1]);
  if (x.lo == x.hi && y.lo == y.hi) {
    Expr only = tirc_mul(c, x.lo, y.lo);
    return (Ends){only, only};
  }
  if (p.min >= 0 && q.min >= 0) return (Ends){tirc_mul(c, x.lo, y.lo), tirc_mul(c, x.hi, y.hi)};
  if (p.min == p.max)
    return product(k, tirc_expr(c, OP_MUL, e->dtype, 2, (Expr[]){e->args[1], e->args[0]}), y, x);
  if (q.min != q.max) return unknown;
  Ends r = {tirc_mul(c, x.lo, y.lo), tirc_mul(c, x.hi, y.lo)};
  return q.min >= 0 ? r : (Ends){r.hi, r.lo};
}

static Ends quotient(Checks *k, Expr e, Ends x, Ends y) {
  Tirc *c = k->c;
  const Bound p = tirc_const_bound(k->a, e->args[0]), q = tirc_const_bound(k->a, e->args[1]);
  if (p.min < 0 || q.min <= 0) return unknown;
  Expr hi = tirc_binary(c, OP_DIV, x.hi, y.lo);
  return (Ends){number(c, 0), tirc_expr(c, OP_FLOOR, DT_FLOAT64, 1, &hi)};
}

/* From the ends of the operands. */
static Ends computed(Checks *k, Expr e) {
  Tirc *c = k->c;
  if (e->n != 2 || e->op == OP_LOAD || e->op == OP_CALL) return unknown;
  const Ends x = ends_of(k, e->args[0]), y = ends_of(k, e->args[1]);
  if (!x.lo || !y.lo) return unknown;
  switch (e->op) {
  case OP_ADD: return (Ends){tirc_add(c, x.lo, y.lo), tirc_add(c, x.hi, y.hi)};
  case OP_SUB: return (Ends){tirc_sub(c, x.lo, y.hi), tirc_sub(c, x.hi, y.lo)};
  case OP_MUL: return product(k, e, x, y);
  case OP_FLOORDIV:
  case OP_TRUNCDIV: return quotient(k, e, x, y);
  case OP_MIN: return (Ends){tirc_min(c, x.lo, y.lo), tirc_min(c, x.hi, y.hi)};
  case OP_MAX: return (Ends){tirc_max(c, x.lo, y.lo), tirc_max(c, x.hi, y.hi)};
  case OP_FLOORMOD:
    if (tirc_const_bound(k->a, e->args[1]).min <= 0) return unknown;
    return (Ends){number(c, 0), tirc_sub(c, y.hi, number(c, 1))};
  default: return unknown;
  }
}

static Ends ends_of(Checks *k, Expr e) {
  if (!tirc_dtype_is_int(e->dtype) || e->dtype.lanes != 1) return unknown;
  if (is_entry(k, e)) {
    Expr only = in_double(k->c, e);
    return (Ends){only, only};
  }
  if (e->op == OP_CAST || e->op == OP_LIKELY) return ends_of(k, e->args[0]);
  if (e->op != OP_VAR) return computed(k, e);
  const Ends *known = tirc_map_get(&k->ends, e);
  return known ? *known : unknown;
}

/* --- expressions ----------------------------------------------------------------------------- */

static bool has_symbol(const Checks *k, Expr e) {
  if (e->op == OP_VAR) return tirc_map_has(&k->symbols, e);
  for (int i = 0; i < e->n; i++)
    if (has_symbol(k, e->args[i])) return true;
  return false;
}

static void require(Checks *k, Expr e, Op op, Expr end, Expr limit) {
  Tirc *c = k->c;
  Expr cond = tirc_binary(c, op, end, in_double(c, limit));
  if (!has_symbol(k, cond)) return;
  if (k->guard) cond = tirc_binary(c, OP_OR, tirc_not(c, k->guard), cond);
  const Check check = {cond,
                       tirc_format(c, "%s does not fit %s: %s", tirc_print_expr(c, e),
                                   tirc_dtype_name(c, e->dtype), k->what),
                       {0}};
  vec_push(c, k->found, check);
  if (!k->guard) (void)tirc_enter_constraint(k->a, tirc_binary(c, op, e, limit));
}

/* The ends of a type; in 64 bits the last numbers that float64 has before them. */
static Expr limit_of(Tirc *c, DType t, int which) {
  if (t.bits < 64 || which < 0) return tirc_limit(c, t, which);
  return number(c, t.code == TYPE_UINT ? 18446744073709549568.0 : 9223372036854774784.0);
}

static void check_node(Checks *k, Expr e) {
  const DType t = e->dtype;
  const bool casts = e->op == OP_CAST && tirc_dtype_is_int(e->args[0]->dtype);
  if (!tirc_dtype_is_int(t) || t.lanes != 1) return;
  if (!casts && e->op != OP_ADD && e->op != OP_SUB && e->op != OP_MUL) return;
  const Bound b = casts ? tirc_const_bound(k->a, e->args[0]) : tirc_unwrapped_bound(k->a, e);
  const bool over = b.max > tirc_dtype_max(t) || b.max == TIRC_POS_INF;
  const bool under = b.min < tirc_dtype_min(t) || b.min == TIRC_NEG_INF;
  if (!over && !under) return;
  const Ends ends = casts ? ends_of(k, e->args[0]) : computed(k, e);
  if (!ends.lo) return;
  if (over) require(k, e, OP_LE, ends.hi, limit_of(k->c, t, 1));
  if (under) require(k, e, OP_GE, ends.lo, limit_of(k->c, t, -1));
}

static void check(Checks *k, Expr e) {
  if (e->op == OP_LOAD || e->op == OP_CALL || tirc_map_has(&k->done, e)) return;
  tirc_map_set(k->c, &k->done, e, e);
  const bool chooses = e->op == OP_SELECT || e->op == OP_IF_THEN_ELSE || e->op == OP_LET;
  for (int i = 0; i < (chooses ? 1 : e->n); i++) check(k, e->args[i]);
  check_node(k, e);
}

static void bind_range(Checks *k, Expr var, Range r) {
  Tirc *c = k->c;
  const Ends min = ends_of(k, r.min), extent = ends_of(k, r.extent);
  tirc_bind_range(k->a, var, r);
  if (!min.lo || !extent.lo) return;
  Ends *ends = tirc_new(c, Ends);
  *ends = (Ends){min.lo, tirc_sub(c, extent.hi, number(c, 1))};
  if (!tirc_is_int(r.min, 0)) ends->hi = tirc_add(c, min.hi, ends->hi);
  tirc_map_set(c, &k->ends, var, ends);
}

static void check_shape(Checks *k, Buffer b) {
  for (int i = 0; i < b->ndim; i++) {
    k->what = tirc_format(k->c, "extent %d of buffer %s", i, b->name);
    check(k, b->shape[i]);
  }
}

/* --- what is assumed --------------------------------------------------------------------------- */

typedef struct Assumed {
  Checks *k;
  Analyzer *plain; /* to which nothing that is assumed is known */
  Loc loc;
} Assumed;

/* Unless `under` (or NULL) does not hold. */
static void want(const Assumed *x, Expr under, Expr cond, const char *message) {
  Tirc *c = x->k->c;
  if (under) cond = tirc_binary(c, OP_OR, tirc_not(c, under), cond);
  vec_push(c, x->k->found, ((Check){cond, message, x->loc}));
}

static void want_fit(const Assumed *x, Expr under, Expr e) {
  Tirc *c = x->k->c;
  const DType t = e->dtype;
  const Bound b = tirc_unwrapped_bound(x->plain, e);
  const Expr v = tirc_binary(c, (Op)e->op, in_double(c, e->args[0]), in_double(c, e->args[1]));
  const char *message =
      tirc_format(c, "%s overflows %s", tirc_print_expr(c, e), tirc_dtype_name(c, t));
  if (b.max > tirc_dtype_max(t) || b.max == TIRC_POS_INF)
    want(x, under, tirc_binary(c, OP_LE, v, in_double(c, limit_of(c, t, 1))), message);
  if (b.min < tirc_dtype_min(t) || b.min == TIRC_NEG_INF)
    want(x, under, tirc_binary(c, OP_GE, v, in_double(c, limit_of(c, t, -1))), message);
}

/* That each part has a value where it is asked for. */
static void want_value(const Assumed *x, Expr under, Expr e) {
  Tirc *c = x->k->c;
  const DType t = e->dtype;
  if (e->op == OP_SELECT || e->op == OP_IF_THEN_ELSE || e->op == OP_LET) return;
  for (int i = 0; i < e->n; i++) {
    Expr own = under;
    if (i && (e->op == OP_AND || e->op == OP_OR)) {
      own = e->op == OP_AND ? e->args[0] : tirc_not(c, e->args[0]);
      if (under) own = tirc_and(c, under, own);
    }
    want_value(x, own, e->args[i]);
  }
  if (!tirc_dtype_is_int(t) || t.lanes != 1) return;
  if (tirc_divides(e) && !tirc_is_integer(e->args[1]))
    want(x, under, tirc_binary(c, OP_NE, in_double(c, e->args[1]), number(c, 0)),
         tirc_format(c, "%s divides by zero", tirc_print_expr(c, e)));
  const bool computes = e->op == OP_ADD || e->op == OP_SUB || e->op == OP_MUL;
  if (computes && !tirc_dtype_wraps(t)) want_fit(x, under, e);
}

static void walk_assumed(Checks *k, Stmt s) {
  const Expr assumed = tirc_assumed(s);
  if (k->runs_assumptions || !assumed || k->guard || !is_entry(k, assumed)) return;
  want_value(&(Assumed){k, tirc_plain_analyzer(k->c), s->loc}, NULL, assumed);
}

/* --- statements ------------------------------------------------------------------------------ */

static void walk(Checks *k, Stmt s);

/* A condition on loop variables may hold for some; one that loads says nothing on entry. */
static void walk_under(Checks *k, Expr cond, bool holds, Stmt s) {
  Expr outer = k->guard;
  if (!s || loads(cond)) return;
  if (!tirc_is_true(cond) && is_entry(k, cond)) {
    Expr own = holds ? cond : tirc_not(k->c, cond);
    k->guard = outer ? tirc_and(k->c, outer, own) : own;
  }
  walk(k, s);
  k->guard = outer;
}

static void walk_block(Checks *k, const Block *b) {
  for (int i = 0; i < b->n_iters; i++) {
    k->what = tirc_format(k->c, "iterator %s of block %s", b->iters[i].var->u.s, b->name);
    check(k, b->iters[i].dom.min);
    check(k, b->iters[i].dom.extent);
    check(k, b->iter_values[i]);
  }
  for (int i = 0; i < b->n_iters; i++) bind_range(k, b->iters[i].var, b->iters[i].dom);
  for (int i = 0; i < b->n_allocs; i++) check_shape(k, b->allocs[i]);
  if (b->init) walk_under(k, tirc_init_part(k->c, b, b->predicate, false), true, b->init);
  walk_under(k, b->predicate, true, b->body);
}

static void walk_loop(Checks *k, const For *f) {
  k->what = tirc_format(k->c, "the extent of loop %s", f->var->u.s);
  check(k, f->min);
  check(k, f->extent);
  bind_range(k, f->var, tirc_range(f->min, f->extent));
  walk(k, f->body);
}

static void walk(Checks *k, Stmt s) {
  Stmt below;
  switch (s->kind) {
  case STMT_FOR: walk_loop(k, &s->u.loop); return;
  case STMT_BLOCK: walk_block(k, &s->u.block); return;
  case STMT_IF:
    walk_under(k, s->u.branch.cond, true, s->u.branch.then_case);
    walk_under(k, s->u.branch.cond, false, s->u.branch.else_case);
    return;
  case STMT_WHILE: walk_under(k, s->u.loop_while.cond, true, s->u.loop_while.body); return;
  case STMT_ASSERT: walk_under(k, s->u.check.cond, true, s->u.check.body); return;
  case STMT_EVAL: walk_assumed(k, s); return;
  default:
    if (s->kind == STMT_ALLOC) check_shape(k, s->u.alloc.buffer);
    for (int i = 0; (below = tirc_below(s, i)); i++) walk(k, below);
  }
}

/* --- a function ------------------------------------------------------------------------------ */

static bool note_symbol(Visitor *v, Expr e) {
  Checks *k = v->self;
  if (e->op != OP_VAR || !tirc_dtype_is_int(e->dtype) || tirc_map_has(&k->symbols, e)) return true;
  tirc_map_set(k->c, &k->symbols, e, e);
  return true;
}

/* Sizes of arrays are not negative, and none has 2 ** 48 elements in a row. */
static void bound_size(Checks *k, Expr e) {
  Tirc *c = k->c;
  const int64_t most = INT64_C(1) << 48;
  if (e->op != OP_VAR || !tirc_dtype_is_int(e->dtype)) return;
  const Bound known = tirc_const_bound(k->a, e);
  int64_t end = e->dtype.bits < 48 ? tirc_dtype_max(e->dtype) + 1 : most;
  const int64_t first = known.min > 0 ? known.min : 0;
  if (known.max < end) end = known.max + 1;
  if (first >= end) return;
  tirc_bind_range(k->a, e,
                  tirc_range(tirc_int(c, DT_INT64, first), tirc_int(c, DT_INT64, end - first)));
}

/* What the attributes say of symbols is taken for granted from here on. */
static void check_bounds(Checks *k, const Func *f) {
  Tirc *c = k->c;
  Expr *symbols;
  const int n_extents = tirc_symbolic_params(c, f, &symbols);
  const int n = tirc_extent_params(c, f, &symbols); /* extents, and scalars behind them */
  for (int i = 0; i < n; i++) {
    const char *name = symbols[i]->u.s;
    const ExtentBounds b = tirc_extent_bounds(f->attrs, name);
    const Expr value = in_double(c, symbols[i]);
    Check least = {tirc_binary(c, OP_GE, value, number(c, (double)b.lower)),
                   tirc_format(c, "%s: at least %lld is allowed", name, (long long)b.lower),
                   {0}};
    Check most = {tirc_binary(c, OP_LE, value, number(c, (double)b.upper)),
                  tirc_format(c, "%s: at most %lld is allowed", name, (long long)b.upper),
                  {0}};
    if (b.lower > 0 || (b.is_said && i >= n_extents)) vec_push(c, k->found, least);
    if (b.upper < INT64_MAX) vec_push(c, k->found, most);
  }
}

static void collect_symbols(Checks *k, const Func *f) {
  Visitor v = {.expr = note_symbol, .self = k};
  for (int i = 0; i < f->n_params; i++) {
    Buffer b = f->buffers[i];
    if (!b) tirc_visit_expr(&v, f->params[i]);
    for (int d = 0; b && d < b->ndim; d++) {
      tirc_visit_expr(&v, b->shape[d]);
      bound_size(k, b->shape[d]);
    }
    for (int d = 0; b && b->strides && d < b->ndim; d++) tirc_visit_expr(&v, b->strides[d]);
    if (b && b->elem_offset) tirc_visit_expr(&v, b->elem_offset);
  }
}

static bool is_new(const Checks *k, int i) {
  for (int p = 0; p < i; p++)
    if (tirc_expr_same(k->found.at[p].cond, k->found.at[i].cond)) return false;
  return true;
}

static Stmt under_assertions(Checks *k, Stmt body) {
  for (int i = k->found.n; i-- > 0;)
    if (is_new(k, i)) {
      const Check *check = &k->found.at[i];
      body = tirc_assert_stmt(k->c, check->cond, check->message, body);
      if (check->loc.line) body = tirc_with_loc(k->c, body, check->loc);
    }
  return body;
}

static Stmt lower(Tirc *c, const Func *f, bool runs_assumptions) {
  Checks k = {.c = c, .a = tirc_analyzer(c), .runs_assumptions = runs_assumptions};
  collect_symbols(&k, f);
  if (!k.symbols.n) return f->body;
  check_bounds(&k, f);
  for (int i = 0; i < f->n_params; i++)
    if (f->buffers[i]) check_shape(&k, f->buffers[i]);
  walk(&k, f->body);
  if (!k.found.n || f->body->kind != STMT_BLOCK) return under_assertions(&k, f->body);
  Block root = f->body->u.block;
  root.body = under_assertions(&k, root.body);
  return tirc_with_loc(c, tirc_block(c, &root), f->body->loc);
}

Stmt tirc_lower_extents(Tirc *c, const Func *f) { return lower(c, f, false); }
Stmt tirc_extents_alone(Tirc *c, const Func *f) { return lower(c, f, true); }

/* --- why a call failed ----------------------------------------------------------------------- */

static bool value_of(Tirc *c, Expr e, const PtrMap *values, double *out) {
  double x = 0, y = 0;
  int64_t v;
  if (e->op == OP_FLOAT) return *out = e->u.f, true;
  if (!tirc_dtype_is_float(e->dtype) || e->op == OP_CAST) {
    Expr whole = e->op == OP_CAST && tirc_dtype_is_float(e->dtype) ? e->args[0] : e;
    if (!tirc_const_int(tirc_simplify0(c, tirc_substitute(c, whole, values)), &v)) return false;
    return *out = (double)v, true;
  }
  if (e->n < 1 || e->n > 2 || !value_of(c, e->args[0], values, &x)) return false;
  if (e->n == 2 && !value_of(c, e->args[1], values, &y)) return false;
  switch (e->op) {
  case OP_ADD: *out = x + y; return true;
  case OP_SUB: *out = x - y; return true;
  case OP_MUL: *out = x * y; return true;
  case OP_DIV: *out = x / y; return true;
  case OP_MIN: *out = fmin(x, y); return true;
  case OP_MAX: *out = fmax(x, y); return true;
  case OP_FLOOR: *out = floor(x); return true;
  default: return false;
  }
}

/* Whether the condition is known not to hold. */
static bool is_false(Tirc *c, Expr cond, const PtrMap *values) {
  double x, y;
  if (cond->op == OP_OR)
    return is_false(c, cond->args[0], values) && is_false(c, cond->args[1], values);
  if ((cond->op != OP_LE && cond->op != OP_GE) || !tirc_dtype_is_float(cond->args[0]->dtype))
    return value_of(c, cond, values, &x) && x == 0;
  if (!value_of(c, cond->args[0], values, &x) || !value_of(c, cond->args[1], values, &y))
    return false;
  return cond->op == OP_LE ? x > y : x < y;
}

typedef struct Named {
  Tirc *c;
  const PtrMap *values;
  PtrMap seen;
  Text text;
} Named;

static bool name_value(Visitor *v, Expr e) {
  Named *k = v->self;
  Expr value = e->op == OP_VAR ? tirc_map_get(k->values, e) : NULL;
  if (!value || tirc_map_has(&k->seen, e)) return true;
  tirc_map_set(k->c, &k->seen, e, e);
  tirc_text_addf(&k->text, "%s%s = %lld", k->text.n ? ", " : "", e->u.s, (long long)value->u.i);
  return true;
}

/* What is inside of one that runs its body once; NULL: it is none. */
static Stmt inside(Stmt s) {
  if (s->kind == STMT_BLOCK) return s->u.block.n_iters ? NULL : s->u.block.body;
  const bool once = s->kind == STMT_ASSERT || s->kind == STMT_ALLOC || s->kind == STMT_DECL;
  return once ? tirc_below(s, 0) : NULL;
}

const char *tirc_failed_extent(Tirc *c, Stmt body, const PtrMap *values, Loc *loc) {
  for (Stmt s = body; s; s = inside(s)) {
    if (s->kind != STMT_ASSERT || !is_false(c, s->u.check.cond, values)) continue;
    if (s->loc.file) *loc = s->loc;
    Named named = {.c = c, .values = values, .text = {.c = c}};
    tirc_visit_expr(&(Visitor){.expr = name_value, .self = &named}, s->u.check.cond);
    return tirc_format(c, "%s (%s)", s->u.check.message, named.text.n ? named.text.at : "");
  }
  return NULL;
}
