/* Finds out by which commutative operation a block reduces.
 *
 * One buffer: C[i] = C[i] op x, with init C[i] = identity of op, for op in + * min max.
 * Several buffers: each of them by an operation of its own (the sum and the sum of squares), or all
 * of them picked by the same comparison of the accumulated and the incoming values (argmax,
 * argmin):
 *
 *   v0 = T.Select(B[i] >= x1, A[i], x0)      v1 = T.Select(B[i] >= x1, B[i], x1)
 *   A[i] = v0                                B[i] = v1
 *
 * The comparison may break ties by another component, which the leading one need not do. Selecting
 * by a total order is associative and commutative up to which of two equal candidates is kept. */
#include "meaning.h"

#include <math.h>

typedef struct Stores {
  VEC(Stmt) v;
  PtrMap lets; /* let variable -> value */
} Stores;

static _Noreturn void bad_form(Sched *s, SRef *block, const char *what) {
  tirc_sched_error_at(
      s, block->stmt, SERR_REDUCER_FORM, NULL,
      block->scope->n_blocks ? "call rfactor before blockize puts blocks inside of it" : NULL,
      "In block %s, %s.", tirc_block_of(block)->name, what);
}

/* Let statements around one store or a sequence of stores. A let may use those around it. */
static Stores collect(Sched *s, SRef *block, Stmt body, const char *part) {
  Stores out = {0};
  for (; body->kind == STMT_LET; body = body->u.let.body)
    tirc_map_set(s->c, &out.lets, body->u.let.var,
                 tirc_substitute(s->c, body->u.let.value, &out.lets));
  const Stmt *items;
  int n = tirc_body_items(s->c, body, &items);
  for (int i = 0; i < n; i++) {
    if (items[i]->kind != STMT_STORE)
      bad_form(s, block, tirc_format(s->c, "the %s must consist of stores only", part));
    vec_push(s->c, out.v, items[i]);
  }
  if (out.v.n == 0) bad_form(s, block, tirc_format(s->c, "the %s stores nothing", part));
  return out;
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

static bool is_self(const Reducer *r, int i, Expr e) {
  return e->op == OP_LOAD && e->u.buffer == r->buffers[i] && e->n == r->n_indices &&
         tirc_same_exprs(e->n, e->args, r->indices);
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
  double limit = t.bits == 64            ? 1.7976931348623157e308
                 : t.bits == 32          ? 3.4028234663852886e38
                 : t.code == TYPE_BFLOAT ? 3.3895313892515355e38
                                         : 65504.0;
  double v = least ? -e->u.f : e->u.f;
  return v == limit || (isinf(v) && v > 0);
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

static bool match_one(const Reducer *r, int i, Expr *rhs) {
  Expr value = r->combiners[i];
  if (value->n != 2 || !is_self(r, i, value->args[0])) return false;
  *rhs = value->args[1];
  return is_identity((Op)value->op, r->identities[i]);
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
  if (e->op < OP_EQ || e->op > OP_GE || e->op == OP_NE) return false;
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
    if (is_extreme(r->identities[i], true) || is_extreme(r->identities[i], false)) return true;
  return false;
}

/* --- the door --------------------------------------------------------------------------------- */

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

/* All components must be made of the values before the step. */
static void require_old_values(Sched *s, SRef *block, int n, const Buffer *stored, Stmt store) {
  Buffer b = store->u.store.buffer;
  for (int i = 0; i < n; i++)
    if (stored[i]->data == b->data)
      bad_form(s, block, tirc_format(s->c, "more than one store goes to %s", b->name));
  if (loads_any(n, stored, store->u.store.value))
    bad_form(s, block,
             tirc_format(s->c,
                         "the store to %s reads what a store before it has changed; take the "
                         "values into lets before all stores",
                         b->name));
}

static void fill(Sched *s, SRef *block, Reducer *r, const Stores *inits, const Stores *updates) {
  Tirc *c = s->c;
  Buffer *buffers = tirc_new_array(c, Buffer, r->n);
  Expr *identities = tirc_new_array(c, Expr, r->n), *combiners = tirc_new_array(c, Expr, r->n);
  Expr *self = tirc_new_array(c, Expr, r->n);
  r->n_indices = updates->v.at[0]->u.store.n;
  r->indices = updates->v.at[0]->u.store.indices;
  for (int i = 0; i < r->n; i++) {
    Stmt update = updates->v.at[i], init = store_to(inits, update->u.store.buffer);
    if (!init)
      bad_form(s, block, tirc_format(c, "the init does not set %s", update->u.store.buffer->name));
    if (update->u.store.n != r->n_indices ||
        !tirc_same_exprs(r->n_indices, update->u.store.indices, r->indices) ||
        !tirc_same_exprs(r->n_indices, init->u.store.indices, r->indices))
      bad_form(s, block, "all stores of the init and of the update must have the same indices");
    require_old_values(s, block, i, buffers, update);
    buffers[i] = update->u.store.buffer;
    identities[i] = tirc_substitute(c, init->u.store.value, &inits->lets);
    combiners[i] = tirc_substitute(c, update->u.store.value, &updates->lets);
    self[i] = tirc_load(c, buffers[i], r->n_indices, r->indices);
  }
  r->buffers = buffers;
  r->identities = identities;
  r->combiners = combiners;
  r->self = self;
}

Reducer tirc_reducer_of(Sched *s, SRef *block) {
  const Block *b = tirc_block_of(block);
  Stores inits = collect(s, block, b->init, "init");
  Stores updates = collect(s, block, b->body, "body");
  order_by_lets(b->body, &updates);
  Reducer r = {.n = updates.v.n};
  if (inits.v.n != r.n) bad_form(s, block, "init and update must set the same buffers");
  fill(s, block, &r, &inits, &updates);
  Expr *rhs = tirc_new_array(s->c, Expr, r.n);
  r.rhs = rhs;
  int unmatched = first_unmatched(&r, rhs);
  if (unmatched == r.n || (r.n > 1 && match_select(&r, rhs))) {
    for (int i = 0; i < r.n; i++)
      if (loads_any(r.n, r.buffers, rhs[i]))
        bad_form(s, block, "what comes in depends on what is accumulated so far");
    return r;
  }
  tirc_sched_error_at(s, block->stmt, SERR_NO_MATCHED_REDUCER, NULL, NULL,
                      "Block %s accumulates into %s by no commutative operation that is known, or "
                      "starts from another value than its neutral element.",
                      b->name, r.buffers[unmatched]->name);
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

/* --- equal candidates ------------------------------------------------------------------------- */

/* The reducer of a block that may have none. */
static bool try_reducer(Sched *s, SRef *block, Reducer *out) {
  const int n_marks = s->n_marks;
  Trap trap;
  if (TIRC_TRY(s->c, trap)) {
    *out = tirc_reducer_of(s, block);
    TIRC_END(s->c, trap);
    return true;
  }
  s->n_marks = n_marks;
  return false;
}

typedef struct Seen {
  const Reducer *r;
  bool *compared;
} Seen;

static bool see_compared(Visitor *v, Expr e) {
  Seen *k = v->self;
  for (int i = 0; i < k->r->n; i++) k->compared[i] |= is_self(k->r, i, e);
  return true;
}

bool tirc_picks_equals(Sched *s, SRef *block, Picking *out) {
  Tirc *c = s->c;
  Reducer r;
  if (!tirc_block_of(block)->init || !try_reducer(s, block, &r) || r.n < 2) return false;
  int picked = 0;
  while (picked < r.n && r.combiners[picked]->op == OP_SELECT) picked++;
  if (picked < r.n) return false;
  bool *compared = tirc_new_array(c, bool, r.n), all = true;
  const Expr order = order_of(&r);
  tirc_visit_expr(&(Visitor){.expr = see_compared, .self = &(Seen){&r, compared}}, order);
  int at = 0;
  while (r.combiners[at]->args[0] != order) at++;
  for (int i = 0; i < r.n; i++) all &= compared[i];
  *out = (Picking){r, order, tirc_reducer_apply(c, &r, at, r.rhs, r.self)->args[0], compared};
  return !all;
}

void tirc_warn_of_equals(Sched *s, SRef *block) {
  Picking p;
  const Block *b = tirc_block_of(block);
  for (int i = 0; i < s->warnings.n; i++)
    if (!strcmp(s->warnings.at[i].code, SCHED_EQUAL_CANDIDATES)) return;
  if (!tirc_picks_equals(s, block, &p)) return;
  int picked = 0;
  while (p.compared[picked]) picked++;
  tirc_sched_warn_code(s, SCHED_EQUAL_CANDIDATES,
                       "block %s picks one of several candidates: in another order it may store "
                       "that of another equal one to %s",
                       b->name, p.reducer.buffers[picked]->name);
}
