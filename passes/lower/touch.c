/* What statements touch, and the question whether two threads touch one element. */
#include "touch.h"

#include "ir/tree/find.h"
#include "ir/tree/int_op.h"
#include "passes/meaning/relations.h"

enum { BUDGET = 200000, MAX_PLACES = 64, MOST_DIGITS = 8 };

/* What was asked, by numbers of touches and places that are alike, and the answer. */
typedef struct Asked {
  struct Asked *before; /* of the same touches */
  int top;
  Expr carried;
  bool next, meets;
} Asked;

struct Question {
  Tirc *c;
  Analyzer *a;
  Sets *sets;
  Threads threads;
  int asked;
  PtrMap kinds;   /* from data to the touches that are not alike (Touches) */
  Touches places; /* of no element: places that are not alike */
  PtrMap answers; /* from numbers of two touches to the last that was Asked */
  int n_kinds;
};

Question *tirc_question(Tirc *c, Analyzer *a, const Threads *threads) {
  Question *q = tirc_new(c, Question);
  *q = (Question){.c = c, .a = a, .sets = tirc_sets_new(c), .threads = *threads};
  return q;
}

bool tirc_question_is_tired(const Question *q) { return q->asked > MAX_QUESTIONS; }

/* --- what is touched -------------------------------------------------------------------------- */

static bool wants_shared(void *self, Buffer b) {
  (void)self;
  return tirc_owner(b->storage) != OWNER_THREAD;
}

static void touches(Tirc *c, Stmt s, Place *at, Stmt stmt, Touches *out) {
  Extract x = {.c = c, .wants = wants_shared, .lowered = true, .touches = *out};
  tirc_extract(&x, at, NULL, NULL, stmt, s);
  for (int i = out->n; i < x.touches.n; i++) x.touches.at[i].stmt = stmt;
  *out = x.touches;
}

void tirc_touches_of(Tirc *c, Stmt s, Place *at, Touches *out) {
  if (s->kind == STMT_STORE || s->kind == STMT_EVAL) touches(c, s, at, s, out);
}

void tirc_touches_of_expr(Tirc *c, Expr e, Place *at, Stmt s, Touches *out) {
  touches(c, tirc_eval(c, e), at, s, out);
}

/* --- the question ----------------------------------------------------------------------------- */

/* One side of it: a nest of the threads and of the loops below top. Those around it stand still. */
typedef struct Side {
  Question *q;
  const Place *top;
  Expr carried; /* NULL, or this loop is one step behind: its steps have the numbers of the next */
} Side;

static Place *seen(const Side *s, const Place *p, bool below) {
  Tirc *c = s->q->c;
  if (!p) {
    Place *up = NULL;
    for (int i = 0; i < s->q->threads.n; i++) up = tirc_place_loop(c, up, s->q->threads.at[i]);
    return up;
  }
  below &= p != s->top;
  Place *up = seen(s, p->up, below), to = *p;
  to.outside = !below && p->kind == PLACE_LOOP;
  if (!s->carried || p->var != s->carried) return tirc_place_further(c, up, to);
  const Expr one = tirc_int(c, p->var->dtype, 1);
  to.var = tirc_var(c, p->var->u.s, p->var->dtype);
  to.a = tirc_add(c, p->a, one);
  up = tirc_place_further(c, up, to);
  return tirc_place_further(c, up, tirc_bind_place(p->var, tirc_sub(c, to.var, one)));
}

/* --- rows of an open length ------------------------------------------------------------------- */

/* A flat index of rows whose length only the run tells is a product of two unknowns to integer
 * sets. Its digits are none:
 *
 *   (i * 8 + j) * n + k, where k is from 0 on and before n     ->     i * 8 + j, k */
typedef struct Digits {
  int n;
  Expr at[MOST_DIGITS], lengths[MOST_DIGITS]; /* the last one first; the length of all but that */
} Digits;

typedef struct Row {
  Tirc *c;
  const Touch *t;
  const Threads *threads;
  Expr length, number, rest; /* length: NULL where there is none */
} Row;

static bool may_move(const void *row, Expr e) {
  const Row *k = row;
  if (e->op == OP_LOAD || e->op == OP_CALL || e->op == OP_LET) return true;
  for (const Place *p = k->t->at; p && e->op == OP_VAR; p = p->up)
    if (p->var == e) return true;
  for (int i = 0; i < k->threads->n; i++)
    if (k->threads->at[i]->var == e) return true;
  return false;
}

static bool is_length(const Row *k, Expr e) { return !tirc_find_expr(e, may_move, k); }

static void add_terms(Row *k, Expr e, int64_t times) {
  Tirc *c = k->c;
  int64_t n;
  if (e->op == OP_ADD || e->op == OP_SUB) {
    add_terms(k, e->args[0], times);
    add_terms(k, e->args[1], e->op == OP_ADD ? times : -times);
    return;
  }
  for (int i = 0; e->op == OP_MUL && i < 2; i++) {
    const Expr by = e->args[1 - i];
    if (tirc_const_int(by, &n) && !__builtin_mul_overflow(n, times, &n))
      return add_terms(k, e->args[i], n);
    if (by->op == OP_INT || times <= 0 || !is_length(k, by)) continue;
    const Expr length = tirc_mul(c, by, tirc_int(c, by->dtype, times));
    if (k->length && !tirc_expr_same(k->length, length)) continue;
    k->length = length;
    k->number = tirc_add(c, k->number, e->args[i]);
    return;
  }
  k->rest = tirc_add(c, k->rest, tirc_mul(c, e, tirc_int(c, e->dtype, times)));
}

static Digits digits_of(const Question *q, const Touch *t) {
  Digits d = {0};
  if (t->n != 1 || t->indices[0]->dtype.lanes != 1 || tirc_dtype_wraps(t->indices[0]->dtype))
    return d;
  Expr left = t->indices[0];
  while (d.n < MOST_DIGITS - 1) {
    const Expr zero = tirc_int(q->c, left->dtype, 0);
    Row k = {q->c, t, &q->threads, NULL, zero, zero};
    add_terms(&k, left, 1);
    if (!k.length) break;
    d.lengths[d.n] = k.length;
    d.at[d.n++] = k.rest;
    left = k.number;
  }
  d.at[d.n++] = left;
  return d;
}

static bool is_never(Question *q, Relations *r, Place *at, Expr condition) {
  const ZSet never = tirc_reached(r, tirc_place_when(q->c, at, condition, false));
  return tirc_z_is_empty(q->sets, tirc_z_map(q->sets, never, 0, NULL, NULL)) == ANSWER_YES;
}

/* Whether each digit but the first stays within its row. */
static bool are_digits(Side s, Relations *r, const Touch *t, const Digits *d) {
  Question *q = s.q;
  Tirc *c = q->c;
  Place *at = seen(&s, t->at, true);
  if (at->n_loops > MAX_PLACES) return false;
  for (int i = 0; i < d->n - 1; i++) {
    const Expr zero = tirc_int(c, d->at[i]->dtype, 0);
    if (!is_never(q, r, at, tirc_lt(c, d->at[i], zero)) ||
        !is_never(q, r, at, tirc_binary(c, OP_LE, d->lengths[i], d->at[i])))
      return false;
  }
  return true;
}

static bool have_one_form(const Digits *x, const Digits *y) {
  bool same = x->n == y->n && x->n > 1;
  for (int i = 0; same && i < x->n - 1; i++) same = tirc_expr_same(x->lengths[i], y->lengths[i]);
  return same;
}

static ZMap elements(Side s, Relations *r, const Touch *t, int n, int *n_loops, bool *exact) {
  Touch of = *t;
  of.n = n;
  of.at = seen(&s, t->at, true);
  *n_loops = of.at->n_loops;
  return *n_loops > MAX_PLACES ? NULL : tirc_relation_of(r, &of, exact);
}

static bool may_be(Question *q, ZMap pairs) {
  return tirc_z_is_empty(q->sets, pairs) != ANSWER_YES;
}

static bool ask(Question *q, const Touch *x, const Touch *y, const Place *top, Expr carried,
                bool next) {
  Relations r = {.c = q->c, .sets = q->sets, .ranges = q->a};
  const DType of_x = x->buffer->dtype, of_y = y->buffer->dtype;
  const bool alike = of_x.bits == of_y.bits && of_x.lanes == 1 && of_y.lanes == 1;
  const Side side_x = {q, top, next ? carried : NULL}, side_y = {q, top, NULL};
  const Digits d_x = digits_of(q, x), d_y = digits_of(q, y);
  Touch of[2] = {*x, *y};
  if (alike && have_one_form(&d_x, &d_y) && are_digits(side_x, &r, x, &d_x) &&
      are_digits(side_y, &r, y, &d_y)) {
    of[0].indices = d_x.at;
    of[1].indices = d_y.at;
    of[0].n = of[1].n = d_x.n;
  }
  const int n = alike && of[0].n == of[1].n ? of[0].n : 0;
  int loops_x, loops_y;
  bool exact = true;
  ZMap first = elements(side_x, &r, &of[0], n, &loops_x, &exact);
  ZMap second = elements(side_y, &r, &of[1], n, &loops_y, &exact);
  if (loops_x + loops_y > MAX_PLACES) return true;
  ZMap pairs = tirc_z_compose(q->sets, first, tirc_z_reverse(q->sets, second));
  if (carried && next) pairs = tirc_z_equal_at(q->sets, pairs, q->threads.n);
  if (carried && !next) pairs = tirc_z_less_at(q->sets, pairs, q->threads.n);
  for (int i = 0; i < q->threads.n; i++)
    if (may_be(q, tirc_z_less_at(q->sets, pairs, i)) ||
        may_be(q, tirc_z_greater_at(q->sets, pairs, i)))
      return true;
  return false;
}

/* The number of the touches that are like this one; time counts them. */
static int number_in(Question *q, Touches *known, const Touch *t) {
  for (int i = 0; i < known->n; i++)
    if (tirc_same_touch(&known->at[i], t)) return known->at[i].time;
  Touch kind = *t;
  kind.time = ++q->n_kinds;
  vec_push(q->c, *known, kind);
  return kind.time;
}

static int number_of(Question *q, const Touch *t) {
  Touches *known = tirc_map_get(&q->kinds, t->buffer->data);
  if (!known) tirc_map_set(q->c, &q->kinds, t->buffer->data, known = tirc_new(q->c, Touches));
  return number_in(q, known, t);
}

/* Statements of one kernel are compared each with each, most of them with the same indices in the
 * same places. */
static Asked *asked(Question *q, const Touch *x, const Touch *y, const Place *top, Expr carried,
                    bool next) {
  const Touch place = {.at = (Place *)(uintptr_t)top};
  const int64_t of_x = number_of(q, x), of_y = number_of(q, y);
  const int at = number_in(q, &q->places, &place);
  const void *key = (const void *)(uintptr_t)(of_x << 32 | of_y);
  Asked *last = tirc_map_get(&q->answers, key);
  for (Asked *a = last; a; a = a->before)
    if (a->top == at && a->carried == carried && a->next == next) return a;
  Asked *new = tirc_new(q->c, Asked);
  *new = (Asked){last, at, carried, next, true};
  tirc_map_set(q->c, &q->answers, key, new);
  if (q->asked++ > MAX_QUESTIONS) return new;
  tirc_sets_begin(q->sets, BUDGET);
  new->meets = ask(q, x, y, top, carried, next);
  tirc_sets_end(q->sets);
  return new;
}

bool tirc_may_meet(Question *q, const Touch *x, const Touch *y, const Place *top, Expr carried,
                   bool next) {
  if (x->buffer->data != y->buffer->data || (!x->write && !y->write)) return false;
  if (tirc_updates_commute(x, y)) return false;
  if (q->threads.n == 0) return false;
  return asked(q, x, y, top, carried, next)->meets;
}

static ZMap pairs_at(Question *q, Relations *r, const Touch *t, const Place *top, bool *exact) {
  int n_loops;
  ZMap at = elements((Side){q, top, NULL}, r, t, t->n, &n_loops, exact);
  *exact &= 2 * n_loops <= MAX_PLACES;
  return *exact ? tirc_z_compose(q->sets, at, tirc_z_reverse(q->sets, at)) : NULL;
}

bool tirc_surely_meet(Question *q, const Touch *t, const Touch *besides, const Place *top) {
  Relations r = {.c = q->c, .sets = q->sets, .ranges = q->a};
  bool exact = true, found = false;
  if (q->threads.n == 0 || tirc_question_is_tired(q)) return false;
  q->asked++;
  tirc_sets_begin(q->sets, BUDGET);
  ZMap pairs = pairs_at(q, &r, t, top, &exact), same = pairs_at(q, &r, besides, top, &exact);
  if (exact && !r.symbols.n) {
    pairs = tirc_z_minus(q->sets, pairs, same);
    for (int i = 0; i < q->threads.n && !found; i++)
      found = tirc_z_is_empty(q->sets, tirc_z_less_at(q->sets, pairs, i)) == ANSWER_NO;
  }
  tirc_sets_end(q->sets);
  return found;
}
