#include "init_part.h"

#include "ir/tree/find.h"
#include "ir/tree/visit.h"

/* --- the parts of a predicate ----------------------------------------------------------------- */

static bool is_of_steps(const void *block, Expr e) {
  return e->op == OP_VAR && tirc_kinds_moved(block, e) == 1u << ITER_REDUCE;
}

Expr tirc_init_part(Tirc *c, const Block *b, Expr predicate, bool rest) {
  if (predicate->op == OP_AND) {
    const Expr first = tirc_init_part(c, b, predicate->args[0], rest);
    const Expr second = tirc_init_part(c, b, predicate->args[1], rest);
    const bool whole = first == predicate->args[0] && second == predicate->args[1];
    return whole ? predicate : tirc_and(c, first, second);
  }
  const bool is_rest = !b->init || tirc_find_expr(predicate, is_of_steps, b);
  return is_rest == rest ? predicate : tirc_bool(c, true);
}

/* --- its instances ---------------------------------------------------------------------------- */

typedef struct Loops {
  Analyzer *a;
  int n;
  const Expr *vars;
} Loops;

static bool is_loop(const Loops *k, Expr e) {
  int i = 0;
  while (i < k->n && k->vars[i] != e) i++;
  return i < k->n;
}

static bool uses_loop(const Loops *k, Expr e) {
  for (int i = 0; i < k->n; i++)
    if (tirc_uses_var(e, k->vars[i])) return true;
  return false;
}

/* Whether it grows with each loop that it uses: it has its least value there alone where all of
 * these are at their start. */
static bool grows(const Loops *k, Expr e) {
  if (e->op == OP_CAST) return grows(k, e->args[0]);
  if (!uses_loop(k, e)) return true;
  if (e->op == OP_VAR) return is_loop(k, e);
  if (e->op == OP_ADD) return grows(k, e->args[0]) && grows(k, e->args[1]);
  if (e->op != OP_MUL) return false;
  const bool second = uses_loop(k, e->args[1]);
  return !uses_loop(k, e->args[!second]) && tirc_const_bound(k->a, e->args[!second]).min > 0 &&
         grows(k, e->args[second]);
}

typedef struct Digit {
  Expr x;
  int64_t place, base; /* x // place % base; of base 0: all of x // place */
} Digit;

static bool is_by_const(Expr e, Op op, int64_t *by) {
  return e->op == op && tirc_const_int(e->args[1], by) && *by > 0;
}

/* Of a whole number, as a digit: a reduction iterator that begins at 0. */
static bool is_digit(const IterVar *iter, Expr e, Digit *d) {
  int64_t p = 1, m;
  if (iter->kind != ITER_REDUCE || !tirc_is_int(iter->dom.min, 0)) return false;
  if (is_by_const(e, OP_FLOORMOD, &m)) {
    const Expr x = e->args[0];
    *d = is_by_const(x, OP_FLOORDIV, &p) ? (Digit){x->args[0], p, m} : (Digit){x, 1, m};
    return true;
  }
  if (!is_by_const(e, OP_FLOORDIV, &p)) return false;
  const Expr x = e->args[0];
  *d = is_by_const(x, OP_FLOORMOD, &m) && m % p == 0 ? (Digit){x->args[0], p, m / p}
                                                     : (Digit){x, p, 0};
  return true;
}

/* Whether x is 0 where all iterators of the reduction are: they have all of its digits. */
static bool has_all_digits(const Block *b, Expr x) {
  int64_t known = 1; /* x % known is 0 */
  for (int i = 0; i < b->n_iters; i++) {
    Digit d;
    if (!is_digit(&b->iters[i], b->iter_values[i], &d) || d.place != known || d.base == 1 ||
        !tirc_expr_same(d.x, x))
      continue;
    if (d.base == 0) return true;
    if (__builtin_mul_overflow(known, d.base, &known)) return false;
    i = -1; /* the next one may stand before it */
  }
  return false;
}

/* Whether an iterator, with the others of the reduction, is at the start of its domain there alone
 * where its loops are at theirs: by itself, or as a digit of a number that is. */
static bool starts_with_loops(const Loops *k, const Block *b, const IterVar *iter, Expr value) {
  Digit d;
  return grows(k, value) || (is_digit(iter, value, &d) && grows(k, d.x) && has_all_digits(b, d.x));
}

/* What is not proved of an iterator to be in its domain. */
static Expr not_proved(Analyzer *a, Tirc *c, Expr so_far, Expr cond) {
  return tirc_prove_symbolic(a, cond) ? so_far : tirc_and(c, so_far, cond);
}

/* Of nothing there is no first one. */
static Expr some_steps(Analyzer *a, Tirc *c, const Block *b) {
  Expr unknown = tirc_bool(c, true);
  for (int i = 0; i < b->n_iters; i++) {
    const Expr extent = b->iters[i].dom.extent;
    if (b->iters[i].kind != ITER_REDUCE) continue;
    const Expr some = tirc_lt(c, tirc_int(c, extent->dtype, 0), extent);
    unknown = not_proved(a, c, unknown, some);
    (void)tirc_enter_constraint(a, some);
  }
  return unknown;
}

static Expr in_domains(Analyzer *a, Tirc *c, const Block *b) {
  Expr unknown = tirc_bool(c, true);
  for (int i = 0; i < b->n_iters; i++) {
    const Range dom = b->iters[i].dom;
    const Expr value = b->iter_values[i];
    if (b->iters[i].kind == ITER_REDUCE) continue;
    unknown = not_proved(a, c, unknown, tirc_binary(c, OP_LE, dom.min, value));
    unknown = not_proved(a, c, unknown, tirc_lt(c, value, tirc_add(c, dom.min, dom.extent)));
  }
  return unknown;
}

/* Whether the init runs there alone where the loops of its steps are at their start, which they get
 * in `starts`. */
static bool is_at_start(Analyzer *a, Tirc *c, const Block *b, int n, const Expr *vars,
                        const Range *doms, PtrMap *starts) {
  const Loops loops = {a, n, vars};
  for (int i = 0; i < n; i++)
    if (tirc_kinds_moved(b, vars[i]) == 1u << ITER_REDUCE)
      tirc_map_set(c, starts, vars[i], doms[i].min);
  for (int i = 0; i < b->n_iters; i++) {
    const Expr value = b->iter_values[i], min = b->iters[i].dom.min;
    if (b->iters[i].kind == ITER_REDUCE &&
        !(starts_with_loops(&loops, b, &b->iters[i], value) &&
          tirc_prove_equal(a, tirc_substitute(c, value, starts), min)))
      return false;
  }
  return true;
}

static void know_that_they_run(Analyzer *a, Tirc *c, int n, const Range *doms) {
  for (int i = 0; i < n; i++)
    (void)tirc_enter_constraint(
        a, tirc_binary(c, OP_GE, doms[i].extent, tirc_int(c, doms[i].extent->dtype, 1)));
}

bool tirc_sees_with_init(Analyzer *a, Tirc *c, const Block *b, int n, const Expr *vars,
                         const Range *doms, Expr kept, Expr condition) {
  PtrMap starts = {0};
  know_that_they_run(a, c, n, doms);
  (void)tirc_enter_constraint(a, kept);
  if (!is_at_start(a, c, b, n, vars, doms, &starts)) return false;
  (void)some_steps(a, c, b);
  return tirc_prove(a, tirc_substitute(c, condition, &starts));
}

InitPart tirc_find_init_part(Analyzer *a, Tirc *c, const Block *b, int n, const Expr *vars,
                             const Range *doms) {
  InitPart p = {.kept = tirc_init_part(c, b, b->predicate, false),
                .rest = tirc_init_part(c, b, b->predicate, true),
                .inside = tirc_bool(c, true),
                .some = tirc_bool(c, true)};
  p.always = p.at_start = !b->init || tirc_is_true(p.rest);
  if (p.always) return p;
  PtrMap starts = {0};
  know_that_they_run(a, c, n, doms);
  (void)tirc_enter_constraint(a, p.kept);
  p.at_start = is_at_start(a, c, b, n, vars, doms, &starts);
  p.some = some_steps(a, c, b);
  p.always = p.at_start && tirc_prove(a, tirc_substitute(c, p.rest, &starts));
  p.inside = in_domains(a, c, b);
  return p;
}

Expr tirc_init_guard(Tirc *c, const InitPart *p) { return tirc_and(c, p->inside, p->some); }
