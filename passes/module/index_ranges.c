/* Which integers the parameters of a graph have to be, from what operators say of their operands:
 *
 *   R.take(table, R.astype(R.add(ids, R.const(1)), "int64"))   ->   input_ranges: {"ids": [0, 99]}
 *
 * A wish goes backwards through what is computed elementwise of one tensor: copies and reshapes,
 * other types, sums and products with constants, choices, and sums of two, which share it. What
 * else comes in between, nobody draws for: a run may end with the index that is outside. */
#include "passes.h"

#include "ir/tree/visit.h"

enum { MOST_STEPS = 64 };

typedef struct Wish {
  Passes *p;
  const Graph *g;
  Attrs attrs;
  int steps;
} Wish;

static void want(Wish *w, Node n, int64_t first, Expr end);

/* --- what a program computes of its operands -------------------------------------------------- */

typedef struct Stores {
  Buffer to;
  Expr value;
  int n;
} Stores;

static bool see_store(Visitor *v, Stmt s) {
  Stores *k = v->self;
  if (s->kind == STMT_STORE) {
    k->n++;
    k->value = s->u.store.buffer == k->to ? s->u.store.value : NULL;
  }
  return true;
}

/* The value of each element of its one result, where one statement stores them all; or NULL. */
static Expr value_of(const OperatorProgram *program) {
  const Func *f = program->func;
  Stores k = {.to = f->buffers[f->n_params - 1 - program->n_vars]};
  if (program->is_tuple || program->n_results != 1) return NULL;
  tirc_visit_stmts(f->body, see_store, &k);
  return k.n == 1 ? k.value : NULL;
}

/* --- backwards through a value ---------------------------------------------------------------- */

typedef struct Range64 {
  int64_t first;
  Expr end; /* an INT, or what a symbol says */
} Range64;

static void solve(Wish *w, const MadeBy *by, Expr e, Range64 r);

/* Of a number, or the elements of an operand that are known. */
static bool known_bound(const Wish *w, const MadeBy *by, Expr e, Bound *out) {
  const Func *f = by->program->func;
  int64_t number;
  while (e->op == OP_CAST) e = e->args[0];
  if (tirc_const_int(e, &number)) return *out = (Bound){number, number}, true;
  for (int i = 0; e->op == OP_LOAD && i < f->n_params - by->program->n_vars - 1; i++) {
    const Bound *known =
        f->buffers[i] == e->u.buffer ? tirc_map_get(&w->p->ranges, by->tensors[i]) : NULL;
    if (known) return *out = *known, true;
  }
  return false;
}

/* What x is from where x + a number from b.min to b.max is in r. */
static bool moved(Wish *w, Range64 r, Bound b, Range64 *out) {
  int64_t end;
  if (!tirc_const_int(r.end, &end) || b.min < INT32_MIN || b.max > INT32_MAX) return false;
  *out = (Range64){r.first - b.min, tirc_int(w->p->c, DT_INT64, end - b.max)};
  return r.first - b.min < end - b.max;
}

/* x + y: each has a part of it. */
static void solve_sum(Wish *w, const MadeBy *by, Expr e, Range64 r) {
  int64_t end;
  Range64 to;
  Bound b;
  for (int i = 0; i < 2; i++)
    if (known_bound(w, by, e->args[i], &b)) {
      if (moved(w, r, b, &to)) solve(w, by, e->args[1 - i], to);
      return;
    }
  if (r.first || !tirc_const_int(r.end, &end)) return;
  solve(w, by, e->args[0], (Range64){0, tirc_int(w->p->c, DT_INT64, (end + 1) / 2)});
  solve(w, by, e->args[1], (Range64){0, tirc_int(w->p->c, DT_INT64, end / 2 + 1)});
}

static void solve_difference(Wish *w, const MadeBy *by, Expr e, Range64 r) {
  Range64 to;
  Bound b;
  if (known_bound(w, by, e->args[1], &b) && moved(w, r, (Bound){-b.max, -b.min}, &to))
    solve(w, by, e->args[0], to);
}

static void solve_product(Wish *w, const MadeBy *by, Expr e, Range64 r) {
  int64_t end;
  Bound b;
  if (r.first || !tirc_const_int(r.end, &end) || end < 1) return;
  for (int i = 0; i < 2; i++)
    if (known_bound(w, by, e->args[i], &b) && b.min > 0)
      solve(w, by, e->args[1 - i],
            (Range64){0, tirc_int(w->p->c, DT_INT64, (end - 1) / b.max + 1)});
}

static void solve_load(Wish *w, const MadeBy *by, Expr e, Range64 r) {
  const Func *f = by->program->func;
  for (int i = 0; i < f->n_params; i++)
    if (f->buffers[i] == e->u.buffer) want(w, by->tensors[i], r.first, r.end);
}

static void solve(Wish *w, const MadeBy *by, Expr e, Range64 r) {
  switch (e->op) {
  case OP_LOAD: solve_load(w, by, e, r); return;
  case OP_CAST: solve(w, by, e->args[0], r); return;
  case OP_ADD: solve_sum(w, by, e, r); return;
  case OP_MUL: solve_product(w, by, e, r); return;
  case OP_SUB: solve_difference(w, by, e, r); return;
  case OP_SELECT: /* the usual case last: i < 0 ? i + n : i */
  case OP_IF_THEN_ELSE:
    solve(w, by, e->args[2], r);
    solve(w, by, e->args[1], r);
    return;
  default: return;
  }
}

/* --- a node ----------------------------------------------------------------------------------- */

static bool is_param(const Graph *g, Node n) {
  for (int i = 0; i < g->n_params; i++)
    if (g->params[i] == n) return true;
  return false;
}

/* Of two wishes that both can have, the narrower; of others the first. */
static void note(Wish *w, Node n, int64_t first, Expr end) {
  int64_t from, last, other;
  Expr known;
  end = tirc_range_end(w->p->c, end);
  if (!end) return;
  if (tirc_graph_range(w->attrs, n->name, &from, &known)) {
    if (!tirc_const_int(known, &other) || !tirc_const_int(end, &last)) return;
    first = from > first ? from : first;
    last = other < last ? other : last;
    if (first >= last) return;
    end = tirc_int(w->p->c, DT_INT64, last);
  }
  w->attrs = tirc_with_graph_range(w->p->c, w->attrs, n->name, first, end);
}

static void want(Wish *w, Node n, int64_t first, Expr end) {
  const MadeBy *by = n->kind == NODE_VAR ? tirc_map_get(&w->p->made_by, n) : NULL;
  if (w->steps++ > MOST_STEPS) return;
  if (is_param(w->g, n)) note(w, n, first, end);
  const Expr value = by ? value_of(by->program) : NULL;
  if (value) solve(w, by, value, (Range64){first, end});
}

Attrs tirc_want_range(Passes *p, const Graph *g, Attrs attrs, Node n, int64_t first, Expr end) {
  Wish w = {.p = p, .g = g, .attrs = attrs};
  want(&w, n, first, end);
  return w.attrs;
}
