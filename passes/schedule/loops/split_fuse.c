/* Splitting a loop and fusing loops. Both keep the order in which instances of blocks run.
 *
 *   split(i, [None, 16])                        fuse(i, j)
 *   for i in range(100):                        for i in range(8):
 *     block B: vi = i                             for j in range(6):
 *   ->                                              block B: vi = i, vj = j
 *   for i_0 in range(7):                        ->
 *     for i_1 in range(16):                     for i_j_fused in range(48):
 *       block B: vi = i_0 * 16 + i_1              block B: vi = i_j_fused // 6, vj = i_j_fused % 6
 *                where i_0 * 16 + i_1 < 100
 *
 * The predicate is left out where the factors provably cover the extent exactly; where it is
 * needed, nothing below but blocks may depend on it (added_iterations.c). Bindings are simplified
 * over all loops around them, predicates stay as they come out of the substitution.
 *
 * Of fused extents that may be below 0 (n - 2, m - 4) all but one are cut off at 0: such loops have
 * no iterations, and the product of two would have some.
 *
 * Preconditions: the loops start at 0 and have no annotation and no thread binding. */
#include "ir/tree/print.h"
#include "loops.h"

static void require_plain_loop(Sched *s, SRef *loop) {
  const For *f = tirc_loop_of(loop);
  if (f->annotations.n == 0 && f->kind != LOOP_THREAD_BINDING) return;
  tirc_sched_mark(s, loop->stmt);
  if (f->annotations.n)
    tirc_refuse(s, NULL, SERR_LOOP_HAS_ANNOTATION, "loop %s has the annotation \"%s\"", f->var->u.s,
                f->annotations.at[0].key);
  tirc_refuse(s, NULL, SERR_LOOP_HAS_ANNOTATION, "loop %s is bound to %s", f->var->u.s, f->thread);
}

void tirc_require_zero_start(Sched *s, SRef *loop) {
  const For *f = tirc_loop_of(loop);
  if (tirc_prove_equal(tirc_analyzer(s->c), f->min, tirc_int(s->c, f->min->dtype, 0))) return;
  tirc_sched_error(s, loop->stmt, SERR_LOOP_START, NULL, tirc_hint_of_start(s, loop),
                   "loop %s starts at %s", f->var->u.s, tirc_print_expr(s->c, f->min));
}

static Expr retyped(Tirc *c, Expr e, DType t) {
  return tirc_dtype_equal(e->dtype, t) ? e : tirc_cast(c, t, e);
}

/* --- split ----------------------------------------------------------------------------------- */

typedef struct Split {
  SRef *loop;
  DType dtype;
  int n;
  Expr *factors; /* NULL: to be inferred */
  Expr product;  /* of the given ones */
  Expr *vars;
} Split;

static Expr factor_of(Sched *s, const Split *p, Value v, int position) {
  if (v.kind != VAL_INT) return retyped(s->c, v.u.expr, p->dtype);
  if (v.u.i <= 0)
    tirc_refuse(s, NULL, SERR_SPLIT_FACTOR, "the factor at position %d is %lld", position,
                (long long)v.u.i);
  if (v.u.i > tirc_dtype_max(p->dtype))
    tirc_sched_error(s, NULL, SERR_SPLIT_FACTOR, NULL,
                     "use a factor that fits the loop variable's type",
                     "the factor at position %d is %lld, which does not fit into %s", position,
                     (long long)v.u.i, tirc_dtype_name(s->c, p->dtype));
  return tirc_int(s->c, p->dtype, v.u.i);
}

static void multiply(Sched *s, Split *p, Expr factor) {
  int64_t a, b, product;
  if (tirc_const_int(p->product, &a) && tirc_const_int(factor, &b) &&
      (__builtin_mul_overflow(a, b, &product) || product > tirc_dtype_max(p->dtype)))
    tirc_sched_error(s, NULL, SERR_SPLIT_FACTOR, NULL, "use smaller factors",
                     "the product of the factors is more than %s can hold",
                     tirc_dtype_name(s->c, p->dtype));
  p->product = tirc_mul(s->c, p->product, factor);
}

static Expr inferred(Sched *s, Expr extent, Expr product) {
  Tirc *c = s->c;
  int64_t n, m;
  if (tirc_const_int(extent, &n) && tirc_const_int(product, &m))
    return tirc_int(c, extent->dtype, n / m + (n % m > 0));
  Expr up = tirc_sub(c, tirc_add(c, extent, product), tirc_int(c, extent->dtype, 1));
  return tirc_simplify0(c, tirc_floordiv(c, up, product));
}

static void read_factors(Sched *s, Split *p, Value list) {
  Tirc *c = s->c;
  const For *f = tirc_loop_of(p->loop);
  int missing = -1;
  p->dtype = f->var->dtype;
  p->n = list.u.list->n;
  p->factors = tirc_new_array(c, Expr, p->n + 1);
  p->product = tirc_int(c, p->dtype, 1);
  for (int i = 0; i < p->n; i++) {
    Value v = list.u.list->at[i];
    if (v.kind == VAL_NONE) {
      if (missing >= 0)
        tirc_refuse(s, NULL, SERR_SPLIT_TWO_INFERRED, "the factors at positions %d and %d are None",
                    missing, i);
      missing = i;
      continue;
    }
    p->factors[i] = factor_of(s, p, v, i);
    multiply(s, p, p->factors[i]);
  }
  Expr extent = retyped(c, f->extent, p->dtype);
  if (missing >= 0) {
    p->factors[missing] = inferred(s, extent, p->product);
    multiply(s, p, p->factors[missing]);
  } else if (!p->n || !tirc_prove_ge(tirc_analyzer(c), p->product, extent)) {
    tirc_sched_mark(s, p->loop->stmt);
    int64_t product, whole;
    const bool less = tirc_const_int(p->product, &product) && tirc_const_int(extent, &whole);
    tirc_refuse(s, NULL, SERR_SPLIT_TOO_SMALL,
                "the product of the factors is %s, which is %s %s, the extent of loop %s",
                tirc_print_expr(c, p->product), less ? "less than" : "not known to be at least",
                tirc_print_expr(c, f->extent), f->var->u.s);
  }
}

/* The old loop variable in terms of the new ones, and what is left to be checked: NULL when it
 * always stays below the extent. */
static Expr split_value(Sched *s, Split *p, Expr *predicate) {
  Tirc *c = s->c;
  const For *f = tirc_loop_of(p->loop);
  Analyzer *a = tirc_analyzer(c);
  Expr value = tirc_int(c, p->dtype, 0);
  p->vars = tirc_new_array(c, Expr, p->n);
  for (int i = 0; i < p->n; i++) {
    p->vars[i] = tirc_var_suffixed(c, f->var, tirc_format(c, "_%d", i), p->dtype);
    tirc_bind_range(a, p->vars[i], tirc_range(tirc_int(c, p->dtype, 0), p->factors[i]));
    value = tirc_add(c, tirc_mul(c, value, p->factors[i]), p->vars[i]);
  }
  Expr inside = tirc_lt(c, value, f->extent);
  *predicate = tirc_prove_symbolic(a, inside) ? NULL : inside;
  return value;
}

static void require_nothing_beyond(Sched *s, const Split *p) {
  Tirc *c = s->c;
  const For *f = tirc_loop_of(p->loop);
  Expr all = tirc_int(c, p->dtype, 1);
  for (int i = 0; i < p->n; i++) all = tirc_mul(c, all, p->factors[i]);
  const Beyond beyond = tirc_beyond(s, p->loop, all);
  if (!beyond.what) return;
  const char *extent = tirc_print_expr(c, f->extent), *why = NULL;
  if (beyond.failing)
    why = tirc_format(c, "%s is not to be evaluated for %s >= %s",
                      tirc_print_expr(c, beyond.failing), f->var->u.s, extent);
  tirc_sched_error(s, p->loop->stmt, SERR_SPLIT_OUT_OF_BOUNDS, why,
                   "choose factors that divide the extent, or split a loop inside of this one",
                   "loop %s has %s iterations, but the factors make more: a predicate guards only "
                   "blocks, so the added iterations would reach %s",
                   f->var->u.s, extent, beyond.what);
}

static Stmt split_nest(Sched *s, Split *p, bool preserve_unit_iters, bool no_predicate) {
  Tirc *c = s->c;
  const For *f = tirc_loop_of(p->loop);
  Expr predicate;
  Expr value = split_value(s, p, &predicate);
  if (predicate && no_predicate)
    tirc_refuse(s, p->loop->stmt, SERR_SPLIT_OUT_OF_BOUNDS,
                "loop %s has %s iterations, but the factors make more: %s is not known to hold",
                f->var->u.s, tirc_print_expr(c, f->extent), tirc_print_expr(c, predicate));
  if (predicate) require_nothing_beyond(s, p);
  Stmt body = tirc_substitute1_stmt(c, f->body, f->var, value);
  if (predicate) body = tirc_add_predicate(c, body, predicate);
  for (int i = p->n - 1; i >= 0; i--) body = tirc_for_serial(c, p->vars[i], p->factors[i], body);
  const SRefs above = tirc_loops_above(s, p->loop);
  body = tirc_simplify_bindings(s, body, above, preserve_unit_iters);
  PtrMap map = {0};
  tirc_map_set(c, &map, f->var, value);
  tirc_require_init_sides(s, p->loop, body, &map, predicate);
  return body;
}

static Value loops_value(Sched *s, int n, const Expr *vars) {
  Value list = tirc_value_list(s->c, VAL_LIST, 0, NULL);
  for (int i = 0; i < n; i++) tirc_value_append(s->c, list, tirc_value_loop(vars[i]));
  return list;
}

void tirc_prim_split(Sched *s, const Value *args, Value *result) {
  Split p = {.loop = tirc_sref_of_value(s, args[0])};
  read_factors(s, &p, args[1]);
  require_plain_loop(s, p.loop);
  tirc_require_zero_start(s, p.loop);
  tirc_sched_replace(s, p.loop, split_nest(s, &p, args[2].u.b, args[3].u.b));
  *result = loops_value(s, p.n, p.vars);
}

/* --- fuse ------------------------------------------------------------------------------------ */

static void require_directly_nested(Sched *s, SRef *outer, SRef *inner) {
  const char *out = tirc_name_of(outer), *in = tirc_name_of(inner);
  if (inner->parent == outer && tirc_loop_of(outer)->body == inner->stmt) return;
  tirc_sched_mark(s, outer->stmt);
  tirc_sched_mark(s, inner->stmt);
  if (inner->parent != outer)
    tirc_refuse(s, NULL, SERR_FUSE_NOT_NESTED, "loop %s is not directly inside of loop %s", in,
                out);
  tirc_refuse(s, NULL, SERR_FUSE_NOT_ONLY_CHILD, "loop %s is not alone in the body of loop %s", in,
              out);
}

static void require_fusible(Sched *s, int n, SRef *const *loops) {
  for (int i = 0; i < n; i++) {
    require_plain_loop(s, loops[i]);
    if (i) require_directly_nested(s, loops[i - 1], loops[i]);
    tirc_require_zero_start(s, loops[i]);
    for (int k = 0; k < i; k++) {
      if (!tirc_uses_var(tirc_loop_of(loops[i])->extent, tirc_loop_of(loops[k])->var)) continue;
      tirc_refuse(s, loops[i]->stmt, SERR_DEPENDENT_LOOP, "the extent of loop %s uses loop %s",
                  tirc_name_of(loops[i]), tirc_name_of(loops[k]));
    }
  }
}

/* "i_j_fused". Splitting and fusing again and again doubles a name each time, so long ones are cut.
 */
static Expr fused_var(Sched *s, int n, SRef *const *loops) {
  enum { MAX_PART = 200 };
  Text name = {.c = s->c};
  DType t = tirc_loop_of(loops[0])->var->dtype;
  for (int i = 0; i < n; i++) {
    Expr var = tirc_loop_of(loops[i])->var;
    tirc_text_addf(&name, "%.*s_", MAX_PART, var->u.s);
    if (var->dtype.bits > t.bits) t = var->dtype;
  }
  tirc_text_add(&name, "fused");
  return tirc_var(s->c, name.at, t);
}

typedef struct Around {
  Tirc *c;
  Analyzer *a;
  const SRef *loop;
} Around;

/* A size is not negative. */
static Range range_around(const Around *k, Expr var) {
  for (const SRef *r = k->loop->parent; r; r = r->parent) {
    if (tirc_is_loop(r) && tirc_loop_of(r)->var == var) return tirc_loop_range(tirc_loop_of(r));
    const int i = tirc_is_block(r) ? tirc_iter_index(tirc_block_of(r), var) : -1;
    if (i >= 0) return tirc_block_of(r)->iters[i].dom;
  }
  return tirc_range(tirc_int(k->c, var->dtype, 0), tirc_int(k->c, var->dtype, INT32_MAX));
}

static bool bind_var(Visitor *v, Expr e) {
  const Around *k = v->self;
  if (e->op != OP_VAR || !tirc_dtype_is_int(e->dtype)) return true;
  const Range range = range_around(k, e);
  tirc_visit_expr(v, range.min);
  tirc_visit_expr(v, range.extent);
  tirc_bind_range(k->a, e, range);
  return true;
}

/* Whether the loop may run never because its extent is below 0, and not just because it is 0. */
static bool may_be_negative(Sched *s, const SRef *loop) {
  const Expr extent = tirc_loop_of(loop)->extent;
  if (extent->op == OP_INT) return false;
  Around k = {s->c, tirc_analyzer(s->c), loop};
  tirc_visit_expr(&(Visitor){.expr = bind_var, .self = &k}, extent);
  return tirc_const_bound(k.a, extent).min < 0 &&
         !tirc_prove_symbolic(k.a,
                              tirc_binary(s->c, OP_GE, extent, tirc_int(s->c, extent->dtype, 0)));
}

/* Each old loop variable as digits of the fused one; returns the product of the extents. */
static Expr fused_values(Sched *s, int n, SRef *const *loops, Expr var, PtrMap *map) {
  Tirc *c = s->c;
  Expr zero = tirc_int(c, var->dtype, 0), lower = tirc_int(c, var->dtype, 1);
  int open = 0; /* loops that may not run for that; the product of two extents below 0 would */
  for (int i = 0; i < n; i++) open += may_be_negative(s, loops[i]);
  for (int i = n - 1; i >= 0; i--) {
    const For *f = tirc_loop_of(loops[i]);
    Expr extent = retyped(c, f->extent, var->dtype);
    if (open > 1 && may_be_negative(s, loops[i])) {
      extent = tirc_max(c, extent, zero);
      open--;
    }
    Expr upper = tirc_mul(c, lower, extent);
    Expr rest = i ? tirc_floormod(c, var, upper) : var;
    /* Where a loop has no iterations nothing runs, and there are no digits to take. */
    const bool still = tirc_is_int(f->extent, 1) || tirc_is_int(upper, 0);
    Expr value = still ? zero : tirc_floordiv(c, rest, lower);
    tirc_map_set(c, map, f->var, retyped(c, value, f->var->dtype));
    lower = upper;
  }
  return tirc_simplify0(c, lower);
}

void tirc_prim_fuse(Sched *s, const Value *args, Value *result) {
  Tirc *c = s->c;
  int n = args[0].u.list->n;
  if (!n) tirc_refuse(s, NULL, SERR_NO_LOOPS, "sch.fuse got no loop");
  SRef **loops = tirc_new_array(c, SRef *, n);
  for (int i = 0; i < n; i++) loops[i] = tirc_sref_of_value(s, args[0].u.list->at[i]);
  require_fusible(s, n, loops);
  Expr var = fused_var(s, n, loops);
  PtrMap map = {0};
  Expr extent = fused_values(s, n, loops, var, &map);
  Stmt body = tirc_substitute_stmt(c, tirc_loop_of(loops[n - 1])->body, &map);
  const SRefs above = tirc_loops_above(s, loops[0]);
  Stmt nest = tirc_simplify_bindings(s, tirc_for_serial(c, var, extent, body), above, args[1].u.b);
  tirc_require_init_sides(s, loops[0], nest, &map, NULL);
  tirc_sched_replace(s, loops[0], nest);
  *result = tirc_value_loop(var);
}
