/* What statements touch, and the question whether two threads touch one element. */
#include "touch.h"

#include "ir/arith/set.h"

enum { BUDGET = 200000, MAX_PLACES = 64, MAX_QUESTIONS = 20000 };

struct Question {
  Tirc *c;
  Analyzer *a;
  Sets *sets;
  Threads threads;
  int asked;
};

Question *tirc_question(Tirc *c, Analyzer *a, const Threads *threads) {
  Question *q = tirc_new(c, Question);
  *q = (Question){c, a, tirc_sets_new(c), *threads, 0};
  return q;
}

/* --- what is touched -------------------------------------------------------------------------- */

bool tirc_threads_share(Buffer b) {
  return !strcmp(b->scope, "global") || !strncmp(b->scope, "shared", 6);
}

typedef struct Collect {
  Tirc *c;
  const Place *at;
  Stmt stmt;
  Touches *out;
} Collect;

static void add(Collect *k, Buffer b, bool write, Expr index) {
  if (!tirc_threads_share(b)) return;
  const Touch t = {b, write, index, k->at, NULL, k->stmt};
  vec_push(k->c, *k->out, t);
}

static void collect(Collect *k, Expr e) {
  if (e->op == OP_CALL && !strcmp(e->u.s, "address_of") && e->n == 1 && e->args[0]->op == OP_LOAD) {
    add(k, e->args[0]->u.buffer, false, NULL);
    add(k, e->args[0]->u.buffer, true, NULL);
  }
  if (e->op == OP_LOAD) add(k, e->u.buffer, false, e->n == 1 ? e->args[0] : NULL);
  const Place *at = k->at;
  if (e->op == OP_IF_THEN_ELSE) {
    collect(k, e->args[0]);
    for (int i = 1; i < 3; i++) {
      Place *branch = tirc_new(k->c, Place);
      *branch = (Place){.up = at, .cond = e->args[0], .is_not = i == 2};
      k->at = branch;
      collect(k, e->args[i]);
    }
  } else if (e->op == OP_LET) {
    collect(k, e->args[1]);
    Place *let = tirc_new(k->c, Place);
    *let = (Place){.up = at, .var = e->args[0], .value = e->args[1]};
    k->at = let;
    collect(k, e->args[2]);
  } else {
    for (int i = 0; i < e->n; i++) collect(k, e->args[i]);
  }
  k->at = at;
}

void tirc_touches_of_expr(Tirc *c, Expr e, const Place *at, Stmt stmt, Touches *out) {
  collect(&(Collect){.c = c, .at = at, .stmt = stmt, .out = out}, e);
}

void tirc_touches_of(Tirc *c, Stmt s, const Place *at, Touches *out) {
  Collect k = {.c = c, .at = at, .stmt = s, .out = out};
  if (s->kind == STMT_EVAL) collect(&k, s->u.eval.value);
  if (s->kind != STMT_STORE) return;
  for (int i = 0; i < s->u.store.n; i++) collect(&k, s->u.store.indices[i]);
  collect(&k, s->u.store.value);
  add(&k, s->u.store.buffer, true, s->u.store.n == 1 ? s->u.store.indices[0] : NULL);
}

/* --- one side of a question ------------------------------------------------------------------- */

/* Places of a tuple: the threads of x and y, then the loops of x and of y, then lanes. */
typedef struct Side {
  Question *q;
  int n;         /* of the tuple */
  PtrMap places; /* from a variable to its place + 1, as a pointer */
  PtrMap values; /* from a let variable, or a loop that stands still, to its value */
  PtrMap loaded; /* let variables of which nothing is known */
  int lane;      /* the place of which lane of a vector is looked at; -1: none */
} Side;

static void set_place(Side *s, Expr var, int place) {
  tirc_map_set(s->q->c, &s->places, var, (const void *)(uintptr_t)(place + 1));
}

static ZValue value(Side *s, Expr e);

static ZSet holds(Side *s, Expr e, bool is_not) {
  Sets *z = s->q->sets;
  static const struct {
    Op op, opposite;
  } rows[] = {{OP_EQ, OP_NE}, {OP_NE, OP_EQ}, {OP_LT, OP_GE},
              {OP_GE, OP_LT}, {OP_LE, OP_GT}, {OP_GT, OP_LE}};
  if (e->op == OP_LIKELY) return holds(s, e->args[0], is_not);
  if (e->op == OP_NOT) return holds(s, e->args[0], !is_not);
  if (e->op == OP_AND || e->op == OP_OR) {
    ZSet x = holds(s, e->args[0], is_not), y = holds(s, e->args[1], is_not);
    if ((e->op == OP_OR) != is_not) return tirc_z_or(z, x, y);
    return x && y ? tirc_z_and(z, x, y) : x ? x : y; /* what is not known may hold */
  }
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (e->op == rows[i].op && tirc_dtype_is_int(e->args[0]->dtype))
      return tirc_z_compare(z, is_not ? rows[i].opposite : rows[i].op, value(s, e->args[0]),
                            value(s, e->args[1]));
  return NULL;
}

static ZValue of_variable(Side *s, Expr e) {
  Sets *z = s->q->sets;
  Expr is = tirc_map_get(&s->values, e);
  if (is) return value(s, is);
  const uintptr_t place = (uintptr_t)tirc_map_get(&s->places, e);
  if (place) return tirc_z_place(z, s->n, (int)place - 1);
  if (tirc_map_has(&s->loaded, e)) return NULL;
  return tirc_z_param(z, s->n, e);
}

/* Floor or truncated division by a constant; truncated where nothing is negative. */
static ZValue divided(Side *s, Expr e) {
  int64_t by;
  Sets *z = s->q->sets;
  Expr divisor = e->args[1]->op == OP_BROADCAST ? e->args[1]->args[0] : e->args[1];
  if (!tirc_const_int(divisor, &by) || by <= 0) return NULL;
  const bool truncates = e->op == OP_TRUNCDIV || e->op == OP_TRUNCMOD;
  if (truncates && tirc_const_bound(s->q->a, e->args[0]).min < 0) return NULL;
  ZValue x = value(s, e->args[0]);
  return e->op == OP_FLOORDIV || e->op == OP_TRUNCDIV ? tirc_z_floordiv(z, x, by)
                                                      : tirc_z_floormod(z, x, by);
}

static ZValue product(Side *s, Expr e) {
  Sets *z = s->q->sets;
  ZValue x = value(s, e->args[0]), y = value(s, e->args[1]);
  if (!x || !y || (!tirc_z_is_constant(z, x) && !tirc_z_is_constant(z, y))) return NULL;
  return tirc_z_mul(z, x, y);
}

static ZValue ramp(Side *s, Expr e) {
  int64_t stride;
  Sets *z = s->q->sets;
  if (!tirc_const_int(e->args[1], &stride)) return NULL;
  ZValue steps = tirc_z_mul(z, tirc_z_place(z, s->n, s->lane), tirc_z_int(z, s->n, stride));
  return tirc_z_add(z, value(s, e->args[0]), steps);
}

/* NULL: not known. */
static ZValue value(Side *s, Expr e) {
  Sets *z = s->q->sets;
  int64_t n;
  if (tirc_const_int(e, &n)) return tirc_z_int(z, s->n, n);
  const bool wraps = e->dtype.code != TYPE_INT || e->dtype.bits < 32;
  if ((wraps && e->op != OP_VAR) || (e->dtype.lanes != 1 && s->lane < 0)) return NULL;
  switch (e->op) {
  case OP_VAR: return of_variable(s, e);
  case OP_RAMP: return ramp(s, e);
  case OP_BROADCAST: return value(s, e->args[0]);
  case OP_ADD: return tirc_z_add(z, value(s, e->args[0]), value(s, e->args[1]));
  case OP_SUB: return tirc_z_sub(z, value(s, e->args[0]), value(s, e->args[1]));
  case OP_MUL: return product(s, e);
  case OP_MIN: return tirc_z_min(z, value(s, e->args[0]), value(s, e->args[1]));
  case OP_MAX: return tirc_z_max(z, value(s, e->args[0]), value(s, e->args[1]));
  case OP_FLOORDIV:
  case OP_FLOORMOD:
  case OP_TRUNCDIV:
  case OP_TRUNCMOD: return divided(s, e);
  case OP_CAST:
    return e->args[0]->dtype.code == TYPE_INT && e->args[0]->dtype.bits >= 32 ? value(s, e->args[0])
                                                                              : NULL;
  case OP_SELECT:
  case OP_IF_THEN_ELSE:
    return tirc_z_choose(z, holds(s, e->args[0], false), value(s, e->args[1]),
                         value(s, e->args[2]));
  default: return NULL;
  }
}

/* --- the question ----------------------------------------------------------------------------- */

static ZSet with(Question *q, ZSet all, ZSet more) {
  return all && more ? tirc_z_and(q->sets, all, more) : all;
}

/* var is in a range; ends that are not known are none. */
static ZSet in_range(Side *s, ZSet all, Expr var, Expr min, Expr extent) {
  Sets *z = s->q->sets;
  ZValue at = of_variable(s, var), first = value(s, min), count = value(s, extent);
  if (first) all = with(s->q, all, tirc_z_compare(z, OP_GE, at, first));
  if (first && count)
    all = with(s->q, all, tirc_z_compare(z, OP_LT, at, tirc_z_add(z, first, count)));
  return all;
}

static bool reads_memory(const Place *p) { return p->var && tirc_loads_or_calls(p->value); }

static int depth_below(const Place *p, const Place *top) {
  int n = 0;
  for (; p && p != top; p = p->up) n++;
  return n;
}

static const Expr *fixed_at(const Touch *t, Expr var) {
  for (const Fixed *f = t->fixed; f; f = f->next)
    if (f->var == var) return &f->value;
  return NULL;
}

/* Gives places to the loops between the touch and top. */
static int name_loops(Side *s, const Touch *t, const Place *top, int next) {
  for (const Place *p = t->at; p && p != top; p = p->up)
    if (p->loop) set_place(s, p->loop->var, next++);
  for (const Place *p = t->at; p; p = p->up)
    if (p->var) tirc_map_set(s->q->c, reads_memory(p) ? &s->loaded : &s->values, p->var, p->value);
  return next;
}

static ZSet constrain(Side *s, const Touch *t, const Place *top, ZSet all) {
  bool below = true;
  for (const Place *p = t->at; p; p = p->up) {
    below &= p != top;
    if (p->cond) all = with(s->q, all, holds(s, p->cond, p->is_not));
    if (!p->loop) continue;
    all = in_range(s, all, p->loop->var, p->loop->min, p->loop->extent);
    const Expr *fixed = below ? fixed_at(t, p->loop->var) : NULL;
    ZValue at = fixed ? value(s, *fixed) : NULL;
    if (at)
      all = with(s->q, all, tirc_z_compare(s->q->sets, OP_EQ, of_variable(s, p->loop->var), at));
  }
  return all;
}

/* One of the elements; `lane` is a place for which of them it is, where there are several. */
static ZValue element(Side *s, const Touch *t, int lane, ZSet *all) {
  Sets *z = s->q->sets;
  if (!t->index || t->buffer->dtype.lanes != 1) return NULL;
  const int lanes = t->index->dtype.lanes;
  s->lane = lanes > 1 ? lane : -1;
  if (lanes > 1) *all = tirc_z_within(z, *all, lane, 0, lanes);
  return value(s, t->index);
}

static ZSet other_thread(Question *q, Side *x, Side *y) {
  ZSet any = tirc_z_none(q->sets, x->n);
  for (int i = 0; i < q->threads.n; i++) {
    Expr var = q->threads.at[i]->var;
    any = tirc_z_or(q->sets, any,
                    tirc_z_compare(q->sets, OP_NE, of_variable(x, var), of_variable(y, var)));
  }
  return any;
}

static ZSet earlier(Question *q, Side *x, Side *y, const For *carried, bool next) {
  ZValue a = of_variable(x, carried->var), b = of_variable(y, carried->var);
  if (!next) return tirc_z_compare(q->sets, OP_LT, a, b);
  return tirc_z_compare(q->sets, OP_EQ, tirc_z_add(q->sets, a, tirc_z_int(q->sets, x->n, 1)), b);
}

static bool ask(Question *q, const Touch *x, const Touch *y, const Place *top, const For *carried,
                bool next) {
  const int threads = q->threads.n;
  const int n = 2 * threads + depth_below(x->at, top) + depth_below(y->at, top) + 2;
  if (n > MAX_PLACES) return true;
  Side a = {.q = q, .n = n, .lane = -1}, b = {.q = q, .n = n, .lane = -1};
  for (int i = 0; i < threads; i++) {
    set_place(&a, q->threads.at[i]->var, i);
    set_place(&b, q->threads.at[i]->var, threads + i);
  }
  name_loops(&b, y, top, name_loops(&a, x, top, 2 * threads));
  ZSet all = tirc_z_all(q->sets, n);
  for (int i = 0; i < threads; i++) {
    const For *t = q->threads.at[i];
    all = in_range(&a, all, t->var, t->min, t->extent);
    all = in_range(&b, all, t->var, t->min, t->extent);
  }
  all = constrain(&a, x, top, all);
  all = constrain(&b, y, top, all);
  all = with(q, all, other_thread(q, &a, &b));
  if (carried) all = with(q, all, earlier(q, &a, &b, carried, next));
  ZValue i = element(&a, x, n - 2, &all), k = element(&b, y, n - 1, &all);
  if (i && k) all = with(q, all, tirc_z_compare(q->sets, OP_EQ, i, k));
  const ZValue zero = tirc_z_int(q->sets, n, 0);
  return tirc_z_is_empty(q->sets, tirc_z_map(q->sets, all, 1, &zero, NULL)) != ANSWER_YES;
}

bool tirc_may_meet(Question *q, const Touch *x, const Touch *y, const Place *top,
                   const For *carried, bool next) {
  if (x->buffer->data != y->buffer->data || (!x->write && !y->write)) return false;
  if (q->threads.n == 0) return false;
  if (q->asked++ > MAX_QUESTIONS) return true;
  tirc_sets_begin(q->sets, BUDGET);
  const bool meets = ask(q, x, y, top, carried, next);
  tirc_sets_end(q->sets);
  return meets;
}
