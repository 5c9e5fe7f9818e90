/* The rows of a tile that the run leaves over: a condition asks at each step of each row, and sums
 * are not in registers. For each number of them there is a form that has so many:
 *
 *   for k in range(768):                        if m - io * 8 == 1:
 *     for ii in T.unroll(8):                      for k in range(768):
 *       if io * 8 + ii < m:           ->            for ii in T.unroll(8):
 *         sum[ii] += A[io * 8 + ii, k]                if ii < 1: sum[ii] += A[io * 8 + ii, k]
 *                                               else: if m - io * 8 == 2: ...
 *                                                     else:               # what it was
 *
 * Where the loop's ends say that there are 1 to 7 of them, the form for 7 takes the place of what
 * it was: that one is long, for it asks at each step.
 */
#include "internal.h"

enum { MOST_ROWS = 16, MOST_SIZE = 4000 };

typedef struct Rows {
  Visitor v;
  Tirc *c;
  Analyzer *a;
  Expr var;
  PtrMap inner;    /* the variables of its body */
  PtrMap unrolled; /* those of loops that are written out, from 0 to a constant: to their extents */
  PtrMap decided;  /* the conditions on rows: to the variables of these */
  Expr left;       /* how many rows come after the first one, of a condition in a loop over steps */
  int64_t rows;    /* of that condition */
  bool all;        /* `left` is known: all conditions on as many rows are looked for */
  int depth;       /* serial loops around what is looked at */
  int64_t size, times; /* statements when it is written out, and how often one at hand is */
} Rows;

static bool is_inner(const void *self, Expr e) {
  return tirc_map_has(&((const Rows *)self)->inner, e);
}
static bool is_unrolled(const void *self, Expr e) {
  return tirc_map_has(&((const Rows *)self)->unrolled, e);
}

/* left - row >= 0, of which `left` is known ahead of the loop. */
static void see_condition(Rows *r, Expr cond) {
  const Expr row = tirc_find_expr(cond, is_unrolled, r);
  int64_t k, rows;
  Expr left;
  if (!row || !tirc_uses_var(cond, r->var) || tirc_loads_or_calls(cond)) return;
  if (!tirc_lower_order(r->a, r->c, cond, row, &k, &left) || k != -1) return;
  if (tirc_find_expr(left, is_inner, r) || !tirc_can_run_early(r->a, left)) return;
  if (r->all) {
    if (tirc_prove_equal(r->a, left, r->left)) tirc_map_set(r->c, &r->decided, cond, row);
  } else if (r->depth && !r->left && tirc_const_int(tirc_map_get(&r->unrolled, row), &rows) &&
             rows >= 2 && rows <= MOST_ROWS) {
    r->left = left;
    r->rows = rows;
  }
}

static bool see_stmt(Visitor *v, Stmt s) {
  Rows *r = v->self;
  Exprs conds = {0};
  r->size += r->times;
  if (s->kind == STMT_LET) tirc_map_set(r->c, &r->inner, s->u.let.var, s);
  if (s->kind == STMT_IF) tirc_lower_conjuncts(r->c, s->u.branch.cond, &conds);
  for (int i = 0; i < conds.n; i++) see_condition(r, conds.at[i]);
  if (s->kind != STMT_FOR) return true;
  const For *loop = &s->u.loop;
  const int64_t times = r->times;
  int64_t extent = 1;
  const bool unrolled = loop->kind == LOOP_UNROLLED && tirc_is_int(loop->min, 0) &&
                        tirc_const_int(loop->extent, &extent);
  const bool steps = loop->kind == LOOP_SERIAL && !tirc_is_int(loop->extent, 1);
  tirc_map_set(r->c, &r->inner, loop->var, s);
  if (unrolled) tirc_map_set(r->c, &r->unrolled, loop->var, loop->extent);
  if (unrolled && extent > 1)
    r->times *= extent < MOST_SIZE && times < MOST_SIZE ? extent : MOST_SIZE;
  r->depth += steps;
  tirc_visit_stmt(v, loop->body);
  r->depth -= steps;
  r->times = times;
  return false;
}

/* Looks for the condition that gives `left`, or, with it, for all of them. */
static void look(Rows *r, Stmt body) {
  r->size = 0;
  r->times = 1;
  tirc_visit_stmt(&r->v, body);
  r->all = true;
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

/* Whether the loop's variable, from `low` and before `high`, leaves one row at least, but not all.
 * `left`, one less than the rows that there are, falls as it grows. */
static bool some_are_left(const Rows *r, Expr low, Expr high) {
  Tirc *c = r->c;
  const DType t = r->var->dtype;
  const Expr one = tirc_int(c, t, 1);
  const Expr next = tirc_substitute1(c, r->left, r->var, tirc_add(c, r->var, one));
  if (!low || !high || !tirc_prove_lt(r->a, next, r->left)) return false;
  const Expr last = tirc_sub(c, tirc_cast(c, t, high), one);
  const Expr most = tirc_substitute1(c, r->left, r->var, tirc_cast(c, t, low));
  const Expr least = tirc_substitute1(c, r->left, r->var, last);
  return tirc_prove_lt(r->a, most, tirc_int(c, most->dtype, r->rows - 1)) &&
         tirc_prove_ge(r->a, least, tirc_int(c, least->dtype, 0));
}

Stmt tirc_open_rows(Analyzer *a, Tirc *c, const For *loop, Expr low, Expr high, int64_t *budget) {
  Rows r = {.c = c, .a = a, .var = loop->var};
  r.v = (Visitor){.stmt = see_stmt, .self = &r};
  look(&r, loop->body);
  if (!r.left || r.size > MOST_SIZE || r.size * r.rows / 2 > *budget) return loop->body;
  *budget -= r.size * r.rows / 2;
  look(&r, loop->body);
  const bool some = some_are_left(&r, low, high);
  Stmt out = loop->body;
  for (int64_t n = r.rows - 1; n >= 1; n--) {
    Form f = {&r, n};
    Mutator m = {.c = c, .expr = decide, .self = &f};
    const Stmt form = tirc_clone_fresh(c, tirc_mutate_stmt(&m, loop->body));
    const Expr so_many = tirc_eq(c, r.left, tirc_int(c, r.left->dtype, n - 1));
    out = some && n == r.rows - 1 ? form : tirc_if(c, so_many, form, out);
  }
  return out;
}
