/* What statements touch, and the question whether two threads touch one element. */
#include "touch.h"

#include "passes/meaning/relations.h"

enum { BUDGET = 200000, MAX_PLACES = 64 };

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
  const int n = alike && x->n == y->n ? x->n : 0;
  int loops_x, loops_y;
  bool exact = true;
  ZMap first = elements((Side){q, top, next ? carried : NULL}, &r, x, n, &loops_x, &exact);
  ZMap second = elements((Side){q, top, NULL}, &r, y, n, &loops_y, &exact);
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
