#define _GNU_SOURCE /* qsort_r */
#include "finite.h"

#include "../index_eval.h"
#include "../internal.h"
#include "witness.h"

#include <stdlib.h>

enum { MOST_EVENTS = 1 << 19, MOST_STEPS = 1 << 23 };

/* One element is touched. */
typedef struct Event {
  const int64_t *at; /* the nest's place outside, its loops, then the element */
  int user;
  bool write;
} Event;

typedef struct Finite {
  const Nest *nest;
  const Touch *touch;
  IndexEval env;
  const Place **way; /* to the touch, from the outside in */
  int n_way, n_outside, user, steps;
  int64_t *outside, *loops; /* where they stand */
  VEC(Event) events;
  bool unknown; /* something cannot be found out */
  bool maybe;   /* more is run through than may run */
} Finite;

static void add_event(Finite *f, const int64_t *element) {
  const Nest *nest = f->nest;
  const int n = f->touch->n, width = f->n_outside + nest->n;
  int64_t *at = tirc_new_array(nest->s->c, int64_t, width + n);
  memcpy(at, f->outside, (size_t)f->n_outside * sizeof *at);
  memcpy(at + f->n_outside, f->loops, (size_t)nest->n * sizeof *at);
  memcpy(at + width, element, (size_t)n * sizeof *at);
  vec_push(nest->s->c, f->events, ((Event){at, f->user, f->touch->write}));
  f->unknown |= f->events.n > MOST_EVENTS;
}

static bool index_of_lane(Finite *f, Expr e, int lane, int64_t *out) {
  int64_t stride;
  if (e->op == OP_BROADCAST) e = e->args[0];
  if (e->op != OP_RAMP) return tirc_eval_index(&f->env, e, out);
  if (!tirc_eval_index(&f->env, e->args[0], out) || !tirc_eval_index(&f->env, e->args[1], &stride))
    return false;
  *out += lane * stride;
  return true;
}

static void touch(Finite *f) {
  const Touch *t = f->touch;
  int lanes = 1;
  int64_t *at = tirc_new_array(f->nest->s->c, int64_t, t->n + 1);
  f->unknown |= t->extents != NULL;
  for (int i = 0; i < t->n; i++)
    if (t->indices[i]->dtype.lanes > lanes) lanes = t->indices[i]->dtype.lanes;
  for (int lane = 0; lane < lanes && !f->unknown; lane++) {
    for (int i = 0; i < t->n; i++) f->unknown |= !index_of_lane(f, t->indices[i], lane, &at[i]);
    if (!f->unknown) add_event(f, at);
  }
}

static void run_from(Finite *f, int k, int n_outside);

static void run_loop(Finite *f, const Place *p, int k, int n_outside) {
  int64_t min, extent;
  if (!tirc_eval_index(&f->env, p->a, &min) || !tirc_eval_index(&f->env, p->b, &extent)) {
    f->unknown = true;
    return;
  }
  for (int64_t i = 0; i < extent && !f->unknown; i++) {
    f->unknown |= ++f->steps > MOST_STEPS;
    tirc_eval_give(&f->env, p->var, min + i);
    if (p->outside) f->outside[n_outside] = min + i;
    if (!p->outside && p->n_loops <= f->nest->n) f->loops[p->n_loops - 1] = min + i;
    run_from(f, k + 1, n_outside + p->outside);
  }
}

static void run_from(Finite *f, int k, int n_outside) {
  if (k == f->n_way) {
    touch(f);
    return;
  }
  const Place *p = f->way[k];
  bool holds;
  switch (p->kind) {
  case PLACE_LOOP: run_loop(f, p, k, n_outside); return;
  case PLACE_WHEN:
    if (!tirc_eval_condition(&f->env, p->a, &holds))
      f->maybe = true;
    else if (holds == p->negated)
      return;
    break;
  case PLACE_BIND: (void)tirc_eval_bind(&f->env, p->var, p->a); break;
  case PLACE_REPEAT: f->maybe = true; break;
  }
  run_from(f, k + 1, n_outside);
}

static void run_touch(Finite *f, const Touch *t, int user) {
  f->touch = t;
  f->user = user;
  f->n_way = f->n_outside = 0;
  for (const Place *p = t->at; p; p = p->up) f->n_way++;
  f->way = tirc_new_array(f->nest->s->c, const Place *, f->n_way + 1);
  int k = f->n_way;
  for (const Place *p = t->at; p; p = p->up) {
    f->way[--k] = p;
    f->n_outside += p->outside && p->kind == PLACE_LOOP;
  }
  f->outside = tirc_new_array(f->nest->s->c, int64_t, f->n_outside + 1);
  f->loops = tirc_new_array(f->nest->s->c, int64_t, f->nest->n + 1);
  run_from(f, 0, 0);
}

/* --- order ------------------------------------------------------------------------------------ */

typedef struct Order {
  const Finite *f;
  int n;      /* loops of the nest */
  int *order; /* of them: the new place i is the old place order[i] */
} Order;

static int compare_numbers(const int64_t *a, const int64_t *b, int n) {
  for (int i = 0; i < n; i++)
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  return 0;
}

static int first_user(const Nest *nest, Buffer b) {
  int i = 0;
  while (nest->users[i].buffer != b) i++;
  return i;
}

/* By element, then by when they run. */
static int compare_events(const void *a, const void *b, void *self) {
  const Order *o = self;
  const Event *x = a, *y = b;
  const User *users = o->f->nest->users;
  const Buffer bx = users[x->user].buffer, by = users[y->user].buffer;
  const int n_outside = o->f->n_outside, width = n_outside + o->n;
  if (bx != by) return first_user(o->f->nest, bx) < first_user(o->f->nest, by) ? -1 : 1;
  const int outside = compare_numbers(x->at, y->at, n_outside);
  if (outside) return outside;
  const int element = compare_numbers(x->at + width, y->at + width, bx->ndim);
  return element ? element : compare_numbers(x->at + n_outside, y->at + n_outside, o->n);
}

static bool is_before(const Order *o, const Event *x, const Event *y) {
  const int from = o->f->n_outside;
  for (int i = 0; i < o->n; i++) {
    const int64_t a = x->at[from + o->order[i]], b = y->at[from + o->order[i]];
    if (a != b) return a < b;
  }
  return false;
}

static bool is_same_element(const Order *o, const Event *x, const Event *y) {
  const User *users = o->f->nest->users;
  const int n_outside = o->f->n_outside, width = n_outside + o->n;
  return users[x->user].buffer == users[y->user].buffer &&
         !compare_numbers(x->at, y->at, n_outside) &&
         !compare_numbers(x->at + width, y->at + width, users[x->user].buffer->ndim);
}

/* Whether x, which runs first now, must stay so. */
static bool matters(const Nest *nest, const Event *x, const Event *y) {
  const User *u = &nest->users[x->user];
  if (!x->write && !y->write) return false;
  if (x->user != y->user) return true;
  return !u->update && !(x->write && y->write && (u->stores_once || u->last_counts));
}

static void lose(const Order *o, const Event *x, const Event *y, Loss *loss) {
  const Nest *nest = o->f->nest;
  const int from = o->f->n_outside;
  *loss = (Loss){&nest->users[x->user], &nest->users[y->user], NULL};
  if (!o->f->maybe)
    loss->witness =
        tirc_witness_text(nest->s, o->n, nest->chain, nest->users[x->user].buffer, x->at + from,
                          x->write, y->at + from, y->write, x->at + from + o->n);
}

/* The events of one element, in the order in which they run now: of each kind the one that will
 * run last. */
static bool keeps_element(const Order *o, const Event *at, int n, Loss *loss) {
  const Nest *nest = o->f->nest;
  const int kinds = 2 * nest->n_users;
  const Event **latest = tirc_new_array(nest->s->c, const Event *, kinds);
  for (int i = 0; i < n; i++) {
    const Event *e = &at[i];
    for (int k = 0; k < kinds; k++) {
      if (!latest[k] || !matters(nest, latest[k], e) || !is_before(o, e, latest[k])) continue;
      lose(o, latest[k], e, loss);
      return false;
    }
    const Event **mine = &latest[2 * e->user + e->write];
    if (!*mine || !is_before(o, e, *mine)) *mine = e;
  }
  for (int u = 0; u < nest->n_users; u++) {
    const Event *last = latest[2 * u + 1], *now = NULL;
    for (int i = 0; i < n; i++)
      if (at[i].user == u && at[i].write) now = &at[i];
    if (!nest->users[u].last_counts || !last || !is_before(o, now, last)) continue;
    lose(o, last, now, loss);
    return false;
  }
  return true;
}

static bool keeps_order(const Nest *nest, const Extract *x, Loss *loss) {
  Tirc *c = nest->s->c;
  Finite f = {.nest = nest, .env = {.c = c}};
  for (int i = 0; i < x->touches.n && !f.unknown; i++) {
    const Touch *t = &x->touches.at[i];
    for (int u = 0; u < nest->n_users; u++)
      if (nest->users[u].block == t->block && nest->users[u].buffer == t->buffer)
        run_touch(&f, t, u);
  }
  if (f.unknown) return false;
  Order o = {&f, nest->n, tirc_new_array(c, int, nest->n)};
  for (int i = 0; i < nest->n; i++)
    while (nest->chain[o.order[i]] != nest->order[i]) o.order[i]++;
  qsort_r(f.events.at, (size_t)f.events.n, sizeof *f.events.at, compare_events, &o);
  for (int i = 0, end; i < f.events.n; i = end) {
    for (end = i + 1; end < f.events.n && is_same_element(&o, &f.events.at[i], &f.events.at[end]);)
      end++;
    if (!keeps_element(&o, &f.events.at[i], end - i, loss)) return false;
  }
  return true;
}

bool tirc_finite_order(const Nest *nest, const Extract *x, Loss *loss) {
  const ArenaMark mark = tirc_mark(nest->s->c);
  const bool kept = keeps_order(nest, x, loss);
  if (kept) tirc_rewind(nest->s->c, mark);
  return kept;
}
