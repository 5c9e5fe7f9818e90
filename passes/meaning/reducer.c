/* By which operation a block reduces: of a stored number, what is accumulated and what comes in.
 *
 * One buffer: C[i] = C[i] op x, with init C[i] = identity of op, for op in + * min max, and min and
 * max that keep NaN: C[i] = T.Select(T.isnan(C[i]), C[i], T.max(C[i], x)).
 * Several buffers: each of them by an operation of its own (the sum and the sum of squares), or all
 * of them picked by the same comparison of the accumulated and the incoming values (argmax,
 * argmin):
 *
 *   v0 = T.Select(B[i] >= x1, A[i], x0)      v1 = T.Select(B[i] >= x1, B[i], x1)
 *   A[i] = v0                                B[i] = v1
 *
 * The comparison may break ties by another component, which the leading one need not do. Selecting
 * by a total order is associative and commutative up to which of two equal candidates is kept. */
#include "sums.h"

#include "ir/arith/equal.h"
#include "ir/tree/find.h"

#include <math.h>

/* --- what is stored --------------------------------------------------------------------------- */

typedef struct Stores {
  Tirc *c;
  const char *part; /* of the block: "init" or "body" */
  bool loose;       /* lets may stand between stores */
  VEC(Stmt) v;
  PtrMap lets; /* let variable -> value */
} Stores;

typedef struct Loads {
  int n;
  const Buffer *buffers;
} Loads;

static bool is_load_of_any(const void *self, Expr e) {
  const Loads *k = self;
  int i = 0;
  while (e->op == OP_LOAD && i < k->n && e->u.buffer->data != k->buffers[i]->data) i++;
  return e->op == OP_LOAD && i < k->n;
}

static bool loads_any(int n, const Buffer *buffers, Expr e) {
  return tirc_find_expr(e, is_load_of_any, &(Loads){n, buffers});
}

static bool loads_stored(const Stores *of, int n, Expr e) {
  Buffer *stored = tirc_new_array(of->c, Buffer, n + 1);
  for (int i = 0; i < n; i++) stored[i] = of->v.at[i]->u.store.buffer;
  return loads_any(n, stored, e);
}

/* A let may use those around it. NULL, or what is wrong. */
static const char *add_stores(Stores *of, Stmt s) {
  const char *wrong = NULL;
  if (s->kind == STMT_LET && (of->loose || !of->v.n)) {
    if (loads_stored(of, of->v.n, s->u.let.value))
      return tirc_format(of->c, "the let of %s reads what a store before it has changed",
                         s->u.let.var->u.s);
    tirc_map_set(of->c, &of->lets, s->u.let.var, tirc_substitute(of->c, s->u.let.value, &of->lets));
    return add_stores(of, s->u.let.body);
  }
  for (int i = 0; s->kind == STMT_SEQ && i < s->u.seq.n && !wrong; i++)
    wrong = add_stores(of, tirc_item(s, i));
  if (s->kind == STMT_SEQ) return wrong;
  if (s->kind != STMT_STORE)
    return tirc_format(of->c, "the %s must consist of stores only", of->part);
  vec_push(of->c, of->v, s);
  return NULL;
}

/* How deep below `body` the let of what the store stores is; -1: it stores something else. */
static int let_of(Stmt body, Stmt store) {
  for (int depth = 0; body->kind == STMT_LET; depth++, body = body->u.let.body)
    if (body->u.let.var == store->u.store.value) return depth;
  return -1;
}

/* The components are in the order of their lets, where each has one of its own. */
static void order_by_lets(Stmt body, Stores *of) {
  for (int i = 0; i < of->v.n; i++)
    if (let_of(body, of->v.at[i]) < 0) return;
  for (int i = 1; i < of->v.n; i++)
    for (int k = i; k > 0 && let_of(body, of->v.at[k]) < let_of(body, of->v.at[k - 1]); k--) {
      const Stmt later = of->v.at[k];
      of->v.at[k] = of->v.at[k - 1];
      of->v.at[k - 1] = later;
    }
}

static Stmt store_to(const Stores *stores, Buffer b) {
  for (int i = 0; i < stores->v.n; i++)
    if (stores->v.at[i]->u.store.buffer == b) return stores->v.at[i];
  return NULL;
}

/* All components must be made of the values before the step. */
static const char *why_not_old(const Stores *updates, int n) {
  const Stmt store = updates->v.at[n];
  const Buffer b = store->u.store.buffer;
  for (int i = 0; i < n; i++)
    if (updates->v.at[i]->u.store.buffer->data == b->data)
      return tirc_format(updates->c, "more than one store goes to %s", b->name);
  if (!loads_stored(updates, n, store->u.store.value)) return NULL;
  return tirc_format(updates->c,
                     "the store to %s reads what a store before it has changed; take the values "
                     "into lets before all stores",
                     b->name);
}

static bool same_place(Stmt a, Stmt b) {
  return a->u.store.n == b->u.store.n &&
         tirc_same_exprs(a->u.store.n, a->u.store.indices, b->u.store.indices);
}

/* Each component from its stores: `inits` may be none. */
static const char *fill(Tirc *c, const Stores *inits, const Stores *updates, bool loose,
                        Reducer *r) {
  Buffer *buffers = tirc_new_array(c, Buffer, r->n);
  Expr *values = tirc_new_array(c, Expr, 4 * r->n);
  const char *wrong = NULL;
  *r = (Reducer){r->n, buffers, values, values + r->n, values + 2 * r->n, values + 3 * r->n};
  for (int i = 0; i < r->n && !wrong; i++) {
    const Stmt update = updates->v.at[i];
    const Stmt init = inits ? store_to(inits, update->u.store.buffer) : NULL;
    if (inits && !init)
      return tirc_format(c, "the init does not set %s", update->u.store.buffer->name);
    if ((init && !same_place(init, update)) || (!loose && !same_place(updates->v.at[0], update)))
      return "all stores of the init and of the update must have the same indices";
    wrong = why_not_old(updates, i);
    buffers[i] = update->u.store.buffer;
    values[i] = init ? tirc_substitute(c, init->u.store.value, &inits->lets) : NULL;
    values[r->n + i] = tirc_substitute(c, update->u.store.value, &updates->lets);
    values[2 * r->n + i] = tirc_load(c, buffers[i], update->u.store.n, update->u.store.indices);
  }
  return wrong;
}

static const char *read(Tirc *c, const Block *b, bool loose, Reducer *r) {
  Stores inits = {.c = c, .part = "init", .loose = loose};
  Stores updates = {.c = c, .part = "body", .loose = loose};
  const char *wrong = b->init ? add_stores(&inits, b->init) : NULL;
  if (!wrong && b->init && !inits.v.n) wrong = "the init stores nothing";
  if (!wrong) wrong = add_stores(&updates, b->body);
  if (wrong) return wrong;
  if (!updates.v.n) return "the body stores nothing";
  order_by_lets(b->body, &updates);
  r->n = updates.v.n;
  if (b->init && inits.v.n != r->n) return "init and update must set the same buffers";
  return fill(c, b->init ? &inits : NULL, &updates, loose, r);
}

static bool is_self(const Reducer *r, int i, Expr e) {
  return (e->op != OP_LOAD || e->u.buffer == r->buffers[i]) && tirc_expr_same(e, r->self[i]);
}

/* --- each buffer by itself -------------------------------------------------------------------- */

static bool is_value(Expr e, double v) {
  return (e->op == OP_INT && (double)e->u.i == v) || (e->op == OP_FLOAT && e->u.f == v);
}

/* The least value of a type as programs write it: -inf counts too. */
static bool is_extreme(Expr e, bool least) {
  DType t = e->dtype;
  if (!least && tirc_dtype_equal(t, DT_UINT64)) return e->op == OP_LARGE_UINT && e->u.i == -1;
  if (e->op == OP_INT) return e->u.i == (least ? tirc_dtype_min(t) : tirc_dtype_max(t));
  if (e->op != OP_FLOAT) return false;
  double v = least ? -e->u.f : e->u.f;
  return v == tirc_largest_float(t) || (isinf(v) && v > 0);
}

static bool is_identity(Op op, Expr e) {
  switch (op) {
  case OP_ADD: return is_value(e, 0);
  case OP_MUL: return is_value(e, 1);
  case OP_MIN: return is_extreme(e, false);
  case OP_MAX: return is_extreme(e, true);
  default: return false;
  }
}

/* The operation by which the component accumulates: of a max or min that keeps NaN, which is
 * T.Select(T.isnan(self), self, T.max(self, x)), the max or min. */
static Expr operation_of(const Reducer *r, int i) {
  const Expr v = r->combiners[i];
  const bool keeps = tirc_keeps_nan(v) && is_self(r, i, v->args[1]);
  const Expr op = keeps ? v->args[2] : v;
  return op->op == OP_MAX || op->op == OP_MIN ? op : v;
}

static bool match_one(const Reducer *r, int i, Expr *rhs) {
  const Expr value = operation_of(r, i);
  if (value->n != 2 || !is_self(r, i, value->args[0])) return false;
  *rhs = value->args[1];
  return is_identity((Op)value->op, r->inits[i]);
}

/* The first buffer that no known operation accumulates into, taken by itself; n: there is none. */
static int first_unmatched(const Reducer *r, Expr *rhs) {
  int i = 0;
  while (i < r->n && match_one(r, i, &rhs[i])) i++;
  return i;
}

/* --- all buffers by one comparison ------------------------------------------------------------ */

/* The i of an operation on self[i] and rhs[i]; -1. */
static int component_of(const Reducer *r, const Expr *rhs, Expr e) {
  for (int i = 0; e->n == 2 && i < r->n; i++) {
    bool forward = is_self(r, i, e->args[0]) && tirc_expr_same(e->args[1], rhs[i]);
    bool backward = is_self(r, i, e->args[1]) && tirc_expr_same(e->args[0], rhs[i]);
    if (forward || backward) return i;
  }
  return -1;
}

/* Whether e is made of comparisons between self[i] and rhs[i] of one and the same i, joined by
 * and/or. */
static bool is_order(const Reducer *r, const Expr *rhs, Expr e) {
  if (e->op == OP_AND || e->op == OP_OR)
    return is_order(r, rhs, e->args[0]) && is_order(r, rhs, e->args[1]);
  if (!tirc_compares(e->op) || e->op == OP_NE) return false;
  return component_of(r, rhs, e) >= 0;
}

/* Whether component i leads the order, and `condition` is that order without its ties, in which
 * both of its candidates are one value: self[i] > rhs[i] of self[i] > rhs[i] or self[i] == rhs[i]
 * and ...
 */
static bool leads(const Reducer *r, const Expr *rhs, int i, Expr condition, Expr order) {
  if (order->op != OP_OR || !tirc_expr_same(order->args[0], condition)) return false;
  const Expr ties = order->args[1];
  return (condition->op == OP_LT || condition->op == OP_GT) &&
         component_of(r, rhs, condition) == i && ties->op == OP_AND && ties->args[0]->op == OP_EQ &&
         component_of(r, rhs, ties->args[0]) == i;
}

/* Of combiners that are Selects: the condition that breaks ties, if one does. */
static Expr order_of(const Reducer *r) {
  Expr order = r->combiners[0]->args[0];
  for (int i = 0; i < r->n; i++)
    if (r->combiners[i]->args[0]->op == OP_OR) order = r->combiners[i]->args[0];
  return order;
}

static bool match_select(const Reducer *r, Expr *rhs) {
  for (int i = 0; i < r->n; i++) {
    Expr e = r->combiners[i];
    if (e->op != OP_SELECT || !is_self(r, i, e->args[1])) return false;
    rhs[i] = e->args[2];
  }
  const Expr order = order_of(r);
  if (!is_order(r, rhs, order)) return false;
  for (int i = 0; i < r->n; i++) {
    Expr condition = r->combiners[i]->args[0];
    if (!tirc_expr_same(condition, order) && !leads(r, rhs, i, condition, order)) return false;
  }
  /* The values that are compared must start from the end of their order. */
  for (int i = 0; i < r->n; i++)
    if (is_extreme(r->inits[i], true) || is_extreme(r->inits[i], false)) return true;
  return false;
}

/* --- the door --------------------------------------------------------------------------------- */

const char *tirc_reducer_of_block(Tirc *c, const Block *b, Reducer *r, int *unmatched) {
  *unmatched = -1;
  const char *wrong = b->init ? read(c, b, false, r) : "it has no init";
  if (wrong) return wrong;
  const int first = first_unmatched(r, r->rhs);
  if (first < r->n && (r->n == 1 || !match_select(r, r->rhs))) {
    *unmatched = first;
    return "it accumulates by no commutative operation that is known";
  }
  for (int i = 0; i < r->n; i++)
    if (loads_any(r->n, r->buffers, r->rhs[i]))
      return "what comes in depends on what is accumulated so far";
  return NULL;
}

/* Of two equal operands, the one that stands with an accumulated value is of its component; the one
 * that is taken as a new value is of the component that is asked for. */
typedef struct Operands {
  const Reducer *r;
  const Expr *self, *rhs;
  int component;
} Operands;

static Expr replace_operand(Mutator *m, Expr e) {
  Operands *o = m->self;
  const int outer = o->component, inner = component_of(o->r, o->r->rhs, e);
  for (int i = 0; i < o->r->n; i++)
    if (is_self(o->r, i, e)) return o->self[i];
  if (tirc_expr_same(e, o->r->rhs[outer])) return o->rhs[outer];
  if (inner < 0)
    for (int i = 0; i < o->r->n; i++)
      if (tirc_expr_same(e, o->r->rhs[i])) return o->rhs[i];
  if (inner >= 0) o->component = inner;
  e = tirc_mutate_expr_children(m, e);
  o->component = outer;
  return e;
}

Expr tirc_reducer_apply(Tirc *c, const Reducer *r, int i, const Expr *self, const Expr *rhs) {
  Operands o = {r, self, rhs, i};
  Mutator m = {.c = c, .expr = replace_operand, .self = &o};
  return tirc_mutate_expr(&m, r->combiners[i]);
}

/* --- any start -------------------------------------------------------------------------------- */

static bool is_operation(Op op) {
  switch (op) {
  case OP_ADD:
  case OP_MUL:
  case OP_MIN:
  case OP_MAX:
  case OP_AND:
  case OP_OR:
  case OP_BITWISE_AND:
  case OP_BITWISE_OR:
  case OP_BITWISE_XOR: return true;
  default: return false;
  }
}

/* Whether a combiner picks one of its operands. */
static bool picks_one(Expr combiner) {
  return combiner->op == OP_SELECT || combiner->op == OP_IF_THEN_ELSE;
}

static Expr zero_of(Tirc *c, DType t) {
  return tirc_dtype_is_float(t) ? tirc_float(c, t, 0) : tirc_int(c, t, 0);
}

/* (B + x) + y and (B - x) - y as B and what is added to it: x + y, (0 - x) - y; *rest is NULL where
 * there is nothing but B. False: B is no part of such a chain. */
static bool take_self(Tirc *c, const Reducer *r, int i, Op op, Expr e, Expr *rest) {
  Expr inner = NULL;
  *rest = NULL;
  if (is_self(r, i, e)) return true;
  const bool minus = op == OP_ADD && e->op == OP_SUB;
  if (e->op != op && !minus) return false;
  if (take_self(c, r, i, op, e->args[0], &inner)) {
    if (minus && !inner) inner = zero_of(c, e->dtype);
    *rest = inner ? tirc_binary(c, (Op)e->op, inner, e->args[1]) : e->args[1];
    return true;
  }
  if (minus || !take_self(c, r, i, op, e->args[1], &inner)) return false;
  *rest = inner ? tirc_binary(c, op, e->args[0], inner) : e->args[0];
  return true;
}

/* B + x + y as B + (x + y): what partial results are joined by. */
static void gather(Tirc *c, Reducer *r, int i) {
  const Expr v = r->combiners[i];
  const Op op = v->op == OP_SUB ? OP_ADD : (Op)v->op;
  Expr rest;
  if (is_operation(op) && take_self(c, r, i, op, v, &rest) && rest)
    r->combiners[i] = tirc_binary(c, op, r->self[i], rest);
}

/* new = op(old, incoming), or one of the two by a comparison. */
static const char *find_incoming(Tirc *c, Reducer *r, int i) {
  gather(c, r, i);
  const Expr v = operation_of(r, i);
  if (!picks_one(v) && !is_operation((Op)v->op))
    return "no operation of what is there with something new";
  const Expr *two = v->args + picks_one(v);
  const int old = is_self(r, i, two[0]) ? 0 : 1;
  if (!is_self(r, i, two[old])) return "what is stored does not go on with what is there";
  r->rhs[i] = two[1 - old];
  return loads_any(r->n, r->buffers, r->rhs[i]) ? "what is new is made of what is there" : NULL;
}

static bool is_other(const void *unused, Expr e) {
  return (void)unused, e->op == OP_LOAD || e->op == OP_CALL || e->op == OP_VAR;
}

/* Whether what two partial results make is made of nothing else. */
static bool is_closed(Tirc *c, const Reducer *r) {
  Expr *zeros = tirc_new_array(c, Expr, r->n);
  for (int i = 0; i < r->n; i++) zeros[i] = zero_of(c, r->combiners[i]->dtype);
  for (int i = 0; i < r->n; i++)
    if (tirc_find_expr(tirc_reducer_apply(c, r, i, zeros, zeros), is_other, NULL)) return false;
  return true;
}

const char *tirc_partial_reducer(Tirc *c, const Block *b, Reducer *r) {
  const char *wrong = read(c, b, true, r);
  for (int i = 0; !wrong && i < r->n; i++) wrong = find_incoming(c, r, i);
  if (!wrong && !is_closed(c, r))
    wrong = "it combines with more than what is there and what is new";
  return wrong;
}

/* --- equal candidates ------------------------------------------------------------------------- */

typedef struct Seen {
  const Reducer *r;
  bool *compared;
} Seen;

static bool see_compared(Visitor *v, Expr e) {
  Seen *k = v->self;
  for (int i = 0; i < k->r->n; i++) k->compared[i] |= is_self(k->r, i, e);
  return true;
}

bool tirc_picks_equals(Tirc *c, const Block *b, Picking *out) {
  Reducer r;
  int unmatched, at = 0;
  if (!b->init || tirc_reducer_of_block(c, b, &r, &unmatched) || r.n < 2) return false;
  for (int i = 0; i < r.n; i++)
    if (r.combiners[i]->op != OP_SELECT) return false;
  bool *compared = tirc_new_array(c, bool, r.n), all = true;
  const Expr order = order_of(&r);
  tirc_visit_expr(&(Visitor){.expr = see_compared, .self = &(Seen){&r, compared}}, order);
  while (r.combiners[at]->args[0] != order) at++;
  for (int i = 0; i < r.n; i++) all &= compared[i];
  *out = (Picking){r, order, tirc_reducer_apply(c, &r, at, r.rhs, r.self)->args[0], compared};
  return !all;
}
