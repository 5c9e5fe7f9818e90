/* Integer reasoning against brute force: random expressions over a few
 * variables with small ranges are evaluated for every assignment, before and after simplification,
 * and bounds, residues, proofs, interval sets and iterator maps are checked on the same
 * assignments. TIRC_TEST_COUNT and TIRC_TEST_SEED change how many expressions are drawn and which.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ir/arith/arith.h"
#include "ir/tree/print.h"
#include "ir/tree/visit.h"

static int as_test(const char *name, int fallback) {
  const char *s = getenv(name);
  return s && *s ? atoi(s) : fallback;
}

/* --- random numbers --------------------------------------------------------------------------- */

typedef struct Random {
  uint64_t state;
} Random;

static uint32_t draw(Random *r) {
  r->state = r->state * 6364136223846793005ull + 1442695040888963407ull;
  return (uint32_t)(r->state >> 33);
}
static int below(Random *r, int n) { return (int)(draw(r) % (uint32_t)n); }
static int between(Random *r, int lo, int hi) { return lo + below(r, hi - lo + 1); }

/* --- evaluation ------------------------------------------------------------------------------- */

enum { MAX_VARS = 4 };
typedef struct World {
  Tirc *c;
  Random *r;
  DType type;
  int n;
  Expr vars[MAX_VARS];
  Range doms[MAX_VARS];
  int64_t min[MAX_VARS], extent[MAX_VARS]; /* extent: the largest, when it is symbolic */
  int extent_of[MAX_VARS];                 /* the variable that is the extent, or -1 */
  bool unknown[MAX_VARS];                  /* the analyzer knows nothing about it */
  int64_t values[MAX_VARS];
  bool undefined; /* a division by zero happened, or a value left its type */
  bool huge;      /* constants are near the ends of the type */
  bool strict;    /* values must stay in the type */
} World;

/* Exact, so that an overflow shows as a difference instead of wrapping to the right result. */
typedef __int128 Wide;

static Wide floordiv(Wide a, Wide b) {
  Wide q = a / b;
  return (a % b != 0 && (a % b < 0) != (b < 0)) ? q - 1 : q;
}

static Wide divide(World *w, Op op, Wide a, Wide b) {
  if (b == 0) {
    w->undefined = true;
    return 0;
  }
  switch (op) {
  case OP_FLOORDIV: return floordiv(a, b);
  case OP_FLOORMOD: return a - floordiv(a, b) * b;
  case OP_TRUNCDIV: return a / b;
  default: return a % b;
  }
}

static Wide wide_value(World *w, Expr e);

static Wide operation(World *w, Expr e) {
  Wide a = wide_value(w, e->args[0]), b = wide_value(w, e->args[1]), out = 0;
  switch (e->op) {
  case OP_ADD: w->undefined |= __builtin_add_overflow(a, b, &out); return out;
  case OP_SUB: w->undefined |= __builtin_sub_overflow(a, b, &out); return out;
  case OP_MUL: w->undefined |= __builtin_mul_overflow(a, b, &out); return out;
  case OP_FLOORDIV:
  case OP_FLOORMOD:
  case OP_TRUNCDIV:
  case OP_TRUNCMOD: return divide(w, e->op, a, b);
  case OP_MIN: return a < b ? a : b;
  case OP_MAX: return a > b ? a : b;
  case OP_EQ: return a == b;
  case OP_NE: return a != b;
  case OP_LT: return a < b;
  case OP_LE: return a <= b;
  case OP_GT: return a > b;
  case OP_GE: return a >= b;
  case OP_AND: return a && b;
  case OP_OR: return a || b;
  case OP_SELECT:
  case OP_IF_THEN_ELSE: out = wide_value(w, e->args[2]); return a ? b : out;
  default: fail_msg("no value of operator %d", e->op);
  }
  return 0;
}

static Wide wide_value(World *w, Expr e) {
  if (e->op == OP_INT) return e->u.i;
  if (e->op == OP_VAR) {
    for (int i = 0; i < w->n; i++)
      if (w->vars[i] == e) return w->values[i];
    fail_msg("a stranger among the variables: %s", e->u.s);
  }
  if (e->op == OP_CAST || e->op == OP_LIKELY) return wide_value(w, e->args[0]);
  if (e->op == OP_NOT) return !wide_value(w, e->args[0]);
  Wide v = operation(w, e);
  bool fits = v >= tirc_dtype_min(e->dtype) && v <= tirc_dtype_max(e->dtype);
  if (w->strict && e->dtype.code == TYPE_INT && !fits) w->undefined = true;
  return v;
}

static int64_t value_of(World *w, Expr e) {
  Wide v = wide_value(w, e);
  if (v < INT64_MIN || v > INT64_MAX) w->undefined = true;
  return (int64_t)v;
}

/* The value, where it is defined and nothing on the way leaves its type. */
static bool defined(World *w, Expr e, int64_t *out) {
  w->undefined = false;
  w->strict = true;
  *out = value_of(w, e);
  return !w->undefined;
}

/* The value of what simplification made, whose parts may be anything. */
static bool simplified_value(World *w, Expr e, int64_t *out) {
  w->undefined = false;
  w->strict = false;
  *out = value_of(w, e);
  return !w->undefined;
}

/* Steps to the next assignment within the ranges; false after the last one. */
static bool in_range(World *w) {
  for (int i = 0; i < w->n; i++)
    if (w->extent_of[i] >= 0 && w->values[i] >= w->min[i] + w->values[w->extent_of[i]])
      return false;
  return true;
}
static bool next(World *w) {
  do {
    int i = 0;
    while (i < w->n && ++w->values[i] == w->min[i] + w->extent[i]) {
      w->values[i] = w->min[i];
      i++;
    }
    if (i == w->n) return false;
  } while (!in_range(w));
  return true;
}
static bool first(World *w) {
  for (int i = 0; i < w->n; i++) w->values[i] = w->min[i];
  return in_range(w) || next(w);
}

static const char *show_world(World *w) {
  Text t = {.c = w->c};
  for (int i = 0; i < w->n; i++)
    tirc_text_addf(&t, "%s=%lld in [%lld, +%s) ", w->vars[i]->u.s, (long long)w->values[i],
                   (long long)w->min[i], tirc_print_expr(w->c, w->doms[i].extent));
  return t.at;
}

/* --- random expressions ----------------------------------------------------------------------- */

static Expr node(World *w, Op op, Expr a, Expr b) {
  bool truth = op >= OP_EQ && op <= OP_OR;
  return tirc_expr(w->c, op, truth ? DT_BOOL : a->dtype, 2, (Expr[]){a, b});
}
static Expr number(World *w, int64_t v) { return tirc_int(w->c, w->type, v); }

static Expr some_var(World *w) { return w->vars[below(w->r, w->n)]; }

static Expr some_constant(World *w) {
  static const int64_t ends[] = {INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 1 << 30};
  if (w->huge && below(w->r, 2)) {
    int64_t v = ends[below(w->r, 5)], low = tirc_dtype_min(w->type), high = tirc_dtype_max(w->type);
    v = below(w->r, 2) ? v / between(w->r, 1, 8) : v;
    return number(w, v < low ? low : v > high ? high : v);
  }
  static const int round[] = {2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 64, -2, -3, -4, 1, 0};
  if (below(w->r, 2)) return number(w, round[below(w->r, 16)]);
  return number(w, between(w->r, -9, 9));
}

static Expr some_divisor(World *w) {
  static const int divisors[] = {2, 3, 4, 6, 8, 12, 16, 5};
  int kind = below(w->r, 12);
  if (kind == 0) return some_var(w);
  if (kind == 1) return number(w, between(w->r, -6, 6));
  return number(w, divisors[below(w->r, 8)]);
}

static Expr some_bool(World *w, int depth);

static Expr some_int(World *w, int depth) {
  Random *r = w->r;
  if (depth <= 0) return below(r, 4) ? some_var(w) : some_constant(w);
  switch (below(r, 16)) {
  case 0:
  case 1:
  case 2: return node(w, OP_ADD, some_int(w, depth - 1), some_int(w, depth - 1));
  case 3:
  case 4: return node(w, OP_SUB, some_int(w, depth - 1), some_int(w, depth - 1));
  case 5:
  case 6: return node(w, OP_MUL, some_int(w, depth - 1), some_constant(w));
  case 7:
  case 8: return node(w, OP_FLOORDIV, some_int(w, depth - 1), some_divisor(w));
  case 9:
  case 10: return node(w, OP_FLOORMOD, some_int(w, depth - 1), some_divisor(w));
  case 11:
    return node(w, below(r, 2) ? OP_TRUNCDIV : OP_TRUNCMOD, some_int(w, depth - 1),
                some_divisor(w));
  case 12: return node(w, OP_MIN, some_int(w, depth - 1), some_int(w, depth - 1));
  case 13: return node(w, OP_MAX, some_int(w, depth - 1), some_int(w, depth - 1));
  case 14: {
    if (below(r, 2)) return node(w, OP_MUL, some_int(w, depth - 1), some_int(w, depth - 1));
    Expr args[3] = {some_bool(w, depth - 1), some_int(w, depth - 1), some_int(w, depth - 1)};
    return tirc_expr(w->c, below(r, 2) ? OP_SELECT : OP_IF_THEN_ELSE, w->type, 3, args);
  }
  default: return some_int(w, depth - 2);
  }
}

static Expr some_bool(World *w, int depth) {
  Random *r = w->r;
  int kind = below(r, 10);
  if (depth > 1 && kind < 2)
    return node(w, kind ? OP_AND : OP_OR, some_bool(w, depth - 1), some_bool(w, depth - 1));
  if (depth > 1 && kind == 2) {
    Expr e = some_bool(w, depth - 1);
    return tirc_expr(w->c, OP_NOT, DT_BOOL, 1, &e);
  }
  Op op = (Op)((int)OP_EQ + below(r, 6));
  Expr right = below(r, 2) ? some_constant(w) : some_int(w, depth - 1);
  Expr left = some_int(w, depth - 1);
  return below(r, 8) ? node(w, op, left, right) : node(w, op, right, left);
}

static World some_world(Tirc *c, Random *r) {
  static const char *const names[] = {"x", "y", "z", "n"};
  World w = {
      .c = c, .r = r, .type = below(r, 4) ? DT_INT32 : DT_INT64, .n = between(r, 1, MAX_VARS)};
  w.huge = below(r, 8) == 0;
  int largest = w.n > 3 ? 4 : w.n > 2 ? 5 : 9;
  for (int i = 0; i < w.n; i++) {
    w.vars[i] = tirc_var(c, names[i], w.type);
    w.extent_of[i] = -1;
    w.min[i] = below(r, 3) ? 0 : between(r, -4, 4);
    w.extent[i] = between(r, 1, largest);
    w.unknown[i] = below(r, 8) == 0;
    w.doms[i] = tirc_range(number(&w, w.min[i]), number(&w, w.extent[i]));
  }
  if (w.n >= 3 && below(r, 3) == 0) {
    /* the first variable runs up to the last one */
    int last = w.n - 1;
    w.min[last] = 1;
    w.extent[last] = largest;
    w.doms[last] = tirc_range(number(&w, 1), number(&w, largest));
    w.unknown[last] = below(r, 2);
    w.extent_of[0] = last;
    w.unknown[0] = false;
    w.extent[0] = w.min[last] + w.extent[last];
    w.doms[0].extent = w.vars[last];
  }
  return w;
}

static Analyzer *informed(World *w) {
  Analyzer *a = tirc_analyzer(w->c);
  for (int i = w->n - 1; i >= 0; i--)
    if (!w->unknown[i]) tirc_bind_range(a, w->vars[i], w->doms[i]);
  return a;
}

/* --- checks of one expression ----------------------------------------------------------------- */

static void check_same(World *w, Expr e, Expr r, Expr given, const char *what) {
  for (bool more = first(w); more; more = next(w)) {
    int64_t x, y, holds = 1;
    if (given && (!defined(w, given, &holds) || !holds)) continue;
    if (!defined(w, e, &x)) continue;
    if (!simplified_value(w, r, &y) || x != y)
      fail_msg("%s: %s became %s (given %s) with %s: %lld, then %lld%s", what,
               tirc_print_expr(w->c, e), tirc_print_expr(w->c, r),
               given ? tirc_print_expr(w->c, given) : "nothing", show_world(w), (long long)x,
               (long long)y, w->undefined ? " (undefined)" : "");
  }
}

static void check_facts(World *w, Analyzer *a, Expr e) {
  Bound b = tirc_const_bound(a, e), by_arms = tirc_bound_by_arms(a, e);
  Modular m = tirc_modular(a, e);
  for (bool more = first(w); more; more = next(w)) {
    int64_t x;
    if (!defined(w, e, &x)) continue;
    if (x < b.min || x > b.max)
      fail_msg("bound [%lld, %lld] of %s with %s: %lld", (long long)b.min, (long long)b.max,
               tirc_print_expr(w->c, e), show_world(w), (long long)x);
    if (x < by_arms.min || x > by_arms.max)
      fail_msg("by arms [%lld, %lld] of %s with %s: %lld", (long long)by_arms.min,
               (long long)by_arms.max, tirc_print_expr(w->c, e), show_world(w), (long long)x);
    bool fits = m.coeff == 0 ? x == m.base : ((Wide)x - m.base) % m.coeff == 0;
    if (!fits)
      fail_msg("residue %lld mod %lld of %s with %s: %lld", (long long)m.base, (long long)m.coeff,
               tirc_print_expr(w->c, e), show_world(w), (long long)x);
  }
}

static void check_proof(World *w, Analyzer *a, Expr e) {
  if (!tirc_prove(a, e) && !tirc_prove_symbolic(a, e)) return;
  for (bool more = first(w); more; more = next(w)) {
    int64_t x;
    if (defined(w, e, &x) && !x)
      fail_msg("proved %s, but not with %s", tirc_print_expr(w->c, e), show_world(w));
  }
}

static PtrMap some_domain(World *w, int every) {
  PtrMap dom = {0};
  for (int i = 0; i < w->n; i++) {
    if (below(w->r, every) || w->extent_of[i] >= 0) continue;
    IntSet *s = tirc_new(w->c, IntSet);
    *s = tirc_set_of_range(w->c, w->doms[i]);
    tirc_map_set(w->c, &dom, w->vars[i], s);
  }
  return dom;
}

static void check_within(World *w, Expr e, IntSet s, Expr given, const char *what) {
  for (bool more = first(w); more; more = next(w)) {
    int64_t x, end, holds = 1;
    if (given && (!defined(w, given, &holds) || !holds)) continue;
    if (!defined(w, e, &x)) continue;
    bool low = !s.min || !simplified_value(w, s.min, &end) || end <= x;
    bool high = !s.max || !simplified_value(w, s.max, &end) || x <= end;
    if (!low || !high)
      fail_msg("%s: %s in [%s, %s], but it is %lld with %s", what, tirc_print_expr(w->c, e),
               s.min ? tirc_print_expr(w->c, s.min) : "-inf",
               s.max ? tirc_print_expr(w->c, s.max) : "inf", (long long)x, show_world(w));
  }
}

static void check_sets(World *w, Analyzer *a, Expr e) {
  PtrMap dom = some_domain(w, 2);
  IntSet s = tirc_eval_set(a, e, &dom);
  if (s.min) assert_false(tirc_uses_any(s.min, &dom));
  if (s.max) assert_false(tirc_uses_any(s.max, &dom));
  check_within(w, e, s, NULL, "interval set");
  IntSet other = {w->vars[0], w->vars[0]};
  check_within(w, e, tirc_set_union(a, s, other), NULL, "union");
}

static void check_narrowing(World *w, Analyzer *a, Expr cond) {
  PtrMap dom = some_domain(w, 4);
  tirc_narrow_by_condition(a, cond, &dom);
  for (int i = 0; i < w->n; i++) {
    const IntSet *s = tirc_map_get(&dom, w->vars[i]);
    if (s) check_within(w, w->vars[i], *s, cond, "narrowed set");
  }
}

static void check_one(Tirc *c, Random *r) {
  World w = some_world(c, r);
  Analyzer *a = informed(&w);
  Expr e = some_int(&w, between(r, 2, 5)), cond = some_bool(&w, between(r, 1, 4));
  check_same(&w, e, tirc_simplify(a, e), NULL, "simplify");
  check_same(&w, cond, tirc_simplify(a, cond), NULL, "simplify");
  check_facts(&w, a, e);
  check_proof(&w, a, cond);
  check_sets(&w, a, e);
  check_narrowing(&w, a, cond);
  int mark = tirc_enter_constraint(a, cond);
  Expr under = tirc_simplify(a, e);
  tirc_leave_constraint(a, mark);
  check_same(&w, e, under, cond, "simplify under a condition");
  int again = tirc_enter_constraint(a, cond);
  Expr other = some_bool(&w, 2);
  Expr truth = tirc_simplify(a, other);
  tirc_leave_constraint(a, again);
  check_same(&w, other, truth, cond, "condition under a condition");
}

typedef void (*Check)(Tirc *c, Random *r);

static void run_random(Check check, int count) {
  int seed = as_test("TIRC_TEST_SEED", 1);
  for (volatile int done = 0; done < count;) {
    Tirc *volatile c = tirc_context_new();
    Trap t;
    if (TIRC_TRY(c, t)) {
      for (int i = 0; i < 64 && done < count; i++, done++) {
        Random r = {((uint64_t)(uint32_t)seed << 32) + (uint64_t)done};
        for (int k = 0; k < 4; k++) draw(&r);
        check(c, &r);
      }
      TIRC_END(c, t);
    } else {
      fail_msg("after %d expressions: %s", done, c->diag.message);
    }
    tirc_context_release(c);
  }
}

static void random_expressions(void **state) {
  (void)state;
  run_random(check_one, as_test("TIRC_TEST_COUNT", 20000));
}

/* --- iterator maps ---------------------------------------------------------------------------- */

/* A sum of the variables as a fusion would make it, sometimes with a wrong scale. */
static Expr some_fusion(World *w) {
  Expr e = NULL;
  int64_t scale = 1;
  for (int i = w->n - 1; i >= 0; i--) {
    if (below(w->r, 6) == 0) continue;
    Expr part = below(w->r, 12) ? w->vars[i] : node(w, OP_SUB, w->vars[i], number(w, w->min[i]));
    if (scale != 1) part = node(w, OP_MUL, part, number(w, scale));
    e = e ? node(w, OP_ADD, part, e) : part;
    scale *= w->extent[i];
    if (below(w->r, 10) == 0) scale += between(w->r, -1, 1);
    if (scale < 1) scale = 1;
  }
  return e ? e : w->vars[0];
}

static Expr some_index(World *w, Expr fused) {
  static const int factors[] = {2, 3, 4, 6, 8};
  Expr e = below(w->r, 3) ? fused : below(w->r, 2) ? some_var(w) : some_fusion(w);
  int steps = below(w->r, 4);
  for (int i = 0; i < steps; i++) {
    Expr f = number(w, factors[below(w->r, 5)]);
    switch (below(w->r, 6)) {
    case 0:
    case 1: e = node(w, OP_FLOORDIV, e, f); break;
    case 2:
    case 3: e = node(w, OP_FLOORMOD, e, f); break;
    case 4: e = node(w, OP_ADD, e, number(w, between(w->r, -2, 4))); break;
    default: e = node(w, OP_MUL, e, f); break;
    }
  }
  return e;
}

/* Indices f // k and f % k belong together; half of the maps are made of such pairs. */
static int some_indices(World *w, Expr *out) {
  Expr fused = some_fusion(w);
  if (below(w->r, 2)) {
    Expr k = number(w, between(w->r, 2, 6));
    out[0] = node(w, OP_FLOORDIV, fused, k);
    out[1] = node(w, OP_FLOORMOD, fused, k);
    if (below(w->r, 3)) return 2;
    Expr l = number(w, between(w->r, 2, 3));
    out[2] = node(w, OP_FLOORMOD, out[0], l);
    out[0] = node(w, OP_FLOORDIV, out[0], l);
    return 3;
  }
  int n = between(w->r, 1, 3);
  for (int i = 0; i < n; i++) out[i] = some_index(w, fused);
  return n;
}

static Expr some_predicate(World *w) {
  int kind = below(w->r, 4);
  if (kind < 2) return NULL;
  Expr p = node(w, OP_LT, some_fusion(w), number(w, between(w->r, 1, 30)));
  if (kind == 2) return p;
  Expr q = node(w, OP_GE, some_fusion(w), number(w, between(w->r, -2, 6)));
  return node(w, OP_AND, p, q);
}

static World iterator_world(Tirc *c, Random *r) {
  World w = some_world(c, r);
  w.n = w.n > 3 ? 3 : w.n;
  for (int i = 0; i < w.n; i++) {
    w.extent_of[i] = -1;
    w.unknown[i] = false;
    w.extent[i] = between(r, 1, 6);
    if (below(r, 3)) w.min[i] = 0;
    w.doms[i] = tirc_range(number(&w, w.min[i]), number(&w, w.extent[i]));
  }
  return w;
}

static bool holds(World *w, Expr predicate) {
  int64_t v;
  return !predicate || (defined(w, predicate, &v) && v);
}

enum { MAX_POINTS = 20000 };
typedef struct Image {
  int64_t box;     /* the number of points in the box that the map says it fills */
  int64_t points;  /* of the domain */
  int64_t reached; /* different points of the box */
  bool outside;
} Image;

static Image image_of(World *w, const IterMap *map, const Expr *indices, Expr predicate) {
  static char seen[MAX_POINTS];
  Image im = {.box = 1};
  for (int k = 0; k < map->n; k++) {
    int64_t extent = 1;
    if (map->indices[k].n) assert_true(tirc_const_int(map->indices[k].args[0].extent, &extent));
    im.box *= extent;
  }
  if (im.box > MAX_POINTS || im.box <= 0) return (Image){.box = 0};
  memset(seen, 0, sizeof seen);
  for (bool more = first(w); more; more = next(w)) {
    if (!holds(w, predicate)) continue;
    im.points++;
    int64_t at = 0;
    for (int k = 0; k < map->n; k++) {
      const IterSum *s = &map->indices[k];
      int64_t base = value_of(w, s->base), v = value_of(w, indices[k]) - base, extent = 1,
              scale = 1;
      if (s->n) {
        assert_true(tirc_const_int(s->args[0].extent, &extent));
        assert_true(tirc_const_int(s->args[0].scale, &scale));
      }
      if (scale == 0 || v % scale != 0) im.outside = true;
      v = scale ? v / scale : v;
      if (v < 0 || v >= extent) im.outside = true;
      at = at * extent + v;
    }
    if (im.outside) return im;
    im.reached += !seen[at];
    seen[at] = 1;
  }
  return im;
}

static const char *show_map(World *w, const Expr *indices, int n, Expr predicate) {
  Text t = {.c = w->c};
  for (int i = 0; i < n; i++) tirc_text_addf(&t, "%s; ", tirc_print_expr(w->c, indices[i]));
  tirc_text_addf(&t, "where %s; ", predicate ? tirc_print_expr(w->c, predicate) : "true");
  tirc_text_add(&t, show_world(w));
  return t.at;
}

static void check_inverse(World *w, Analyzer *a, const IterMap *map, const Expr *indices,
                          Expr pred) {
  PtrMap inverse = {0};
  tirc_inverse_iter_map(a, map, indices, &inverse);
  for (int i = 0; i < w->n; i++) {
    Expr back = tirc_map_get(&inverse, w->vars[i]);
    if (!back) continue;
    check_same(w, w->vars[i], back, pred, "inverse");
  }
}

static void check_division(World *w, Analyzer *a, const Expr *indices, int n, Expr pred,
                           IterLevel level) {
  PtrMap inner = {0}, outer = {0};
  int cut = below(w->r, w->n + 1);
  for (int i = 0; i < w->n; i++)
    tirc_map_set(w->c, i >= cut ? &inner : &outer, w->vars[i], w->vars[i]);
  bool trivial = below(w->r, 2);
  const SubspaceDivision *d =
      tirc_subspace_divide(a, n, indices, w->n, w->vars, w->doms, &inner, pred, level, trivial);
  if (!d) return;
  for (int i = 0; i < n; i++) {
    Expr whole = node(w, OP_ADD, node(w, OP_MUL, d[i].outer, d[i].inner_extent), d[i].inner);
    if (tirc_uses_any(d[i].outer, &inner) || tirc_uses_any(d[i].inner, &outer))
      fail_msg("division of %s mixes its sides", show_map(w, indices, n, pred));
    check_same(w, indices[i], whole, pred, "subspace division");
  }
  assert_false(tirc_uses_any(d[n].outer_extent, &inner));
  assert_false(tirc_uses_any(d[n].inner_extent, &outer));
}

static void check_map(Tirc *c, Random *r) {
  World w = iterator_world(c, r);
  Analyzer *a = below(r, 2) ? informed(&w) : tirc_analyzer(c);
  Expr indices[4], simple[4], pred = some_predicate(&w);
  int n = some_indices(&w, indices);
  IterLevel level = (IterLevel)below(r, 3);
  bool trivial = below(r, 2);
  const char *why;
  const IterMap *map =
      tirc_detect_iter_map(a, n, indices, w.n, w.vars, w.doms, pred, level, trivial, &why);
  tirc_iter_map_simplify(a, n, indices, w.n, w.vars, w.doms, pred, level, trivial, simple);
  for (int i = 0; i < n; i++) check_same(&w, indices[i], simple[i], pred, "iter map simplify");
  check_division(&w, a, indices, n, pred, level);
  if (!map) {
    assert_non_null(why);
    return;
  }
  Image im = image_of(&w, map, indices, pred);
  if (im.box == 0 || im.points == 0) return;
  bool padded = !tirc_is_int(map->padding_predicate, 0);
  if (level == ITER_LEVEL_BIJECTIVE &&
      (im.outside || im.points != im.reached || im.box != im.reached))
    fail_msg("no bijection: %s box %lld, points %lld, reached %lld", show_map(&w, indices, n, pred),
             (long long)im.box, (long long)im.points, (long long)im.reached);
  if (level == ITER_LEVEL_SURJECTIVE && !padded && (im.outside || im.box != im.reached))
    fail_msg("not onto: %s box %lld, reached %lld", show_map(&w, indices, n, pred),
             (long long)im.box, (long long)im.reached);
  if (level == ITER_LEVEL_BIJECTIVE) check_inverse(&w, a, map, indices, pred);
  const IntSet *region;
  Range box[4];
  for (int i = 0; i < n; i++) box[i] = tirc_range(indices[i], number(&w, between(r, 1, 4)));
  bool strict = below(r, 2);
  region = tirc_estimate_region(a, n, box, w.n, w.vars, w.doms, pred, strict);
  for (int i = 0; region && i < n; i++) {
    IntSet starts = {region[i].min, NULL}, ends = {NULL, region[i].max};
    Expr last = tirc_sub(c, tirc_add(c, indices[i], box[i].extent), number(&w, 1));
    check_within(&w, indices[i], starts, pred, "region");
    check_within(&w, last, ends, pred, "region");
  }
}

/* Marks start + [0, extent) in the box low .. high; false when some of it is outside. */
static bool mark_box(char *seen, int n, const int64_t *low, const int64_t *high,
                     const int64_t *start, const int64_t *extent) {
  int64_t at[4] = {0};
  for (int i = 0; i < n;) {
    int64_t place = 0;
    for (int d = 0; d < n; d++) {
      const int64_t v = start[d] + at[d];
      if (v < low[d] || v > high[d]) return false;
      place = place * (high[d] - low[d] + 1) + v - low[d];
    }
    seen[place] = 1;
    for (i = 0; i < n && ++at[i] == extent[i]; i++) at[i] = 0;
  }
  return true;
}

/* For the one value that the first iterators have: whether what the region reaches is all of the
 * box, and no more. */
static bool is_exact(World *w, const Range *region, int n, Expr pred, const IntSet *box) {
  static char seen[MAX_POINTS];
  int64_t low[4], high[4], start[4], extent[4], size = 1, points = 0, reached = 0;
  first(w);
  for (int i = 0; i < n; i++) {
    low[i] = value_of(w, box[i].min);
    high[i] = value_of(w, box[i].max);
    size *= high[i] - low[i] + 1;
  }
  if (size > MAX_POINTS) return true;
  memset(seen, 0, sizeof seen);
  for (bool more = true; more; more = next(w)) {
    if (!holds(w, pred)) continue;
    points++;
    for (int i = 0; i < n; i++) {
      start[i] = value_of(w, region[i].min);
      extent[i] = value_of(w, region[i].extent);
    }
    if (!mark_box(seen, n, low, high, start, extent)) return false;
  }
  for (int64_t i = 0; i < size; i++) reached += seen[i];
  return points == 0 || reached == size;
}

/* Regions under some of the loops: the first iterators are fixed. */
static void check_region_below(Tirc *c, Random *r) {
  World w = iterator_world(c, r);
  Analyzer *a = below(r, 2) ? informed(&w) : tirc_analyzer(c);
  Expr indices[4], pred = some_predicate(&w);
  Range region[4];
  const int n = some_indices(&w, indices), fixed = below(r, w.n);
  for (int i = 0; i < n; i++)
    region[i] = tirc_range(indices[i], number(&w, below(r, 2) ? 1 : between(r, 1, 4)));
  const IntSet *box =
      tirc_estimate_region(a, n, region, w.n - fixed, w.vars + fixed, w.doms + fixed, pred, true);
  World outer = w, inner = w;
  outer.n = fixed;
  for (bool more = box && first(&outer); more; more = next(&outer)) {
    for (int i = 0; i < fixed; i++) {
      inner.min[i] = outer.values[i];
      inner.extent[i] = 1;
    }
    if (!is_exact(&inner, region, n, pred, box))
      fail_msg("the region is not exact: %s, %d fixed, first dimension %s .. %s",
               show_map(&inner, indices, n, pred), fixed, tirc_print_expr(c, box[0].min),
               tirc_print_expr(c, box[0].max));
  }
}

static void random_regions(void **state) {
  (void)state;
  run_random(check_region_below, as_test("TIRC_TEST_COUNT", 20000));
}

static void random_iterator_maps(void **state) {
  (void)state;
  run_random(check_map, as_test("TIRC_TEST_COUNT", 20000));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_expressions),
      cmocka_unit_test(random_iterator_maps),
      cmocka_unit_test(random_regions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
