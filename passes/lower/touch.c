/* What statements touch, and the question whether two threads touch one element. */
#include "touch.h"

#include "passes/meaning/relations.h"

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

static bool wants_shared(void *self, Buffer b) {
  (void)self;
  return tirc_threads_share(b);
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

static ZMap elements(Side s, Relations *r, const Touch *t, int n, int *n_loops) {
  Touch of = *t;
  bool exact = true;
  of.n = n;
  of.at = seen(&s, t->at, true);
  *n_loops = of.at->n_loops;
  return *n_loops > MAX_PLACES ? NULL : tirc_relation_of(r, &of, &exact);
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
  ZMap first = elements((Side){q, top, next ? carried : NULL}, &r, x, n, &loops_x);
  ZMap second = elements((Side){q, top, NULL}, &r, y, n, &loops_y);
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

bool tirc_may_meet(Question *q, const Touch *x, const Touch *y, const Place *top, Expr carried,
                   bool next) {
  if (x->buffer->data != y->buffer->data || (!x->write && !y->write)) return false;
  if (q->threads.n == 0) return false;
  if (q->asked++ > MAX_QUESTIONS) return true;
  tirc_sets_begin(q->sets, BUDGET);
  const bool meets = ask(q, x, y, top, carried, next);
  tirc_sets_end(q->sets);
  return meets;
}
