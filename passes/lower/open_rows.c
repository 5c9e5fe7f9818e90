/* The rows of a tile that the run leaves over: a condition asks at each step of each row, and sums
 * are not in registers. For each number of them there is a form that has so many:
 *
 *   for k in range(768):                        if m - io * 8 == 1:
 *     for ii in T.unroll(8):                      for k in range(768):
 *       if io * 8 + ii < m:           ->            for ii in T.unroll(8):
 *         sum[ii] += A[io * 8 + ii, k]                if ii < 1: sum[ii] += A[io * 8 + ii, k]
 *                                               else: if m - io * 8 == 2: ...
 *                                                     else:               # what it was
 */
#include "internal.h"

enum { MOST_ROWS = 16 };

typedef struct Rows {
  Visitor v;
  Tirc *c;
  Analyzer *a;
  Expr var;
  PtrMap inner;    /* the variables of its body */
  PtrMap unrolled; /* those of loops that are written out, from 0 to a constant: to their extents */
  PtrMap decided;  /* the conditions on rows: to the variables of these */
  Expr left;       /* how many rows come after the first one */
  Expr extent;
  int64_t rows;
  int depth;  /* loops around what is looked at, but for those that are written out */
  bool often; /* a condition is asked at each step of such a loop */
} Rows;

static bool is_inner(const void *self, Expr e) {
  return tirc_map_has(&((const Rows *)self)->inner, e);
}
static bool is_unrolled(const void *self, Expr e) {
  return tirc_map_has(&((const Rows *)self)->unrolled, e);
}

/* left - row >= 0, of which `left` is the same for all. */
static void see_condition(Rows *r, Expr cond) {
  const Expr row = tirc_find_expr(cond, is_unrolled, r);
  int64_t k;
  Expr left;
  if (!row || !tirc_uses_var(cond, r->var) || tirc_loads_or_calls(cond)) return;
  if (!tirc_lower_order(r->a, r->c, cond, row, &k, &left) || k != -1) return;
  if (tirc_find_expr(left, is_inner, r)) return;
  const Expr extent = tirc_map_get(&r->unrolled, row);
  if (!r->left) {
    if (!tirc_const_int(extent, &r->rows) || r->rows < 2 || r->rows > MOST_ROWS) return;
    r->left = left;
    r->extent = extent;
  } else if (!tirc_prove_equal(r->a, extent, r->extent) || !tirc_prove_equal(r->a, left, r->left)) {
    return;
  }
  tirc_map_set(r->c, &r->decided, cond, row);
  r->often |= r->depth > 0;
}

static bool see_stmt(Visitor *v, Stmt s) {
  Rows *r = v->self;
  Exprs conds = {0};
  if (s->kind == STMT_LET) tirc_map_set(r->c, &r->inner, s->u.let.var, s);
  if (s->kind == STMT_IF) tirc_lower_conjuncts(r->c, s->u.branch.cond, &conds);
  for (int i = 0; i < conds.n; i++) see_condition(r, conds.at[i]);
  if (s->kind != STMT_FOR) return true;
  const For *loop = &s->u.loop;
  const bool unrolled = loop->kind == LOOP_UNROLLED && tirc_is_int(loop->min, 0);
  const bool steps = loop->kind == LOOP_SERIAL && !tirc_is_int(loop->extent, 1);
  tirc_map_set(r->c, &r->inner, loop->var, s);
  if (unrolled) tirc_map_set(r->c, &r->unrolled, loop->var, loop->extent);
  r->depth += steps;
  tirc_visit_stmt(v, loop->body);
  r->depth -= steps;
  return false;
}

typedef struct Form {
  const Rows *r;
  int64_t n; /* rows */
} Form;

static Expr decide(Mutator *m, Expr e) {
  const Form *f = m->self;
  const Expr row = tirc_map_get(&f->r->decided, e);
  if (row) return tirc_lt(m->c, row, tirc_int(m->c, row->dtype, f->n));
  return tirc_mutate_expr_children(m, e);
}

Stmt tirc_open_rows(Analyzer *a, Tirc *c, const For *loop, int64_t *budget) {
  Rows r = {.c = c, .a = a, .var = loop->var};
  r.v = (Visitor){.stmt = see_stmt, .self = &r};
  tirc_visit_stmt(&r.v, loop->body);
  const int64_t more = r.often ? r.rows * tirc_lower_size_of(loop->body) : 0;
  if (!more || more > *budget) return loop->body;
  *budget -= more;
  Stmt out = loop->body;
  for (int64_t n = r.rows - 1; n >= 1; n--) {
    Form f = {&r, n};
    Mutator m = {.c = c, .expr = decide, .self = &f};
    const Stmt form = tirc_clone_fresh(c, tirc_mutate_stmt(&m, loop->body));
    out = tirc_if(c, tirc_eq(c, r.left, tirc_int(c, r.left->dtype, n - 1)), form, out);
  }
  return out;
}
