#define _GNU_SOURCE /* qsort_r */
#include "asked.h"

#include "ir/arith/equal.h"
#include "ir/arith/index_eval.h"
#include "ir/tree/find.h"
#include "ir/tree/int_op.h"

#include <stdlib.h>

enum { MOST_EVENTS = 1 << 19, MOST_STEPS = 1 << 23 };

/* One element is touched. */
typedef struct Event {
  const int64_t *at; /* loops around the nest, when, the element, what the number is made of */
  int touch;
  bool maybe; /* it may be that it does not happen */
} Event;

/* The events of some touches. */
typedef struct Events {
  Tirc *c;
  const Extract *x;
  const Iterations *of; /* which one comes first in when; NULL: when is how the loops stand */
  int width;            /* of when */
  const Made *made;     /* of each touch; NULL: of no interest */
  IndexEval env;
  const Touch *touch;
  const Place **way; /* to the touch, from the outside in */
  int n_way, n_outside, steps;
  int64_t *outside, *loops; /* where they stand */
  int maybe;                /* conditions around that may hold */
  VEC(Event) at;
  bool unknown; /* something cannot be found out */
} Events;

static void write_when(Events *f, int64_t *to) {
  const Touch *t = f->touch;
  if (!f->of) {
    memcpy(to, f->loops, (size_t)f->width * sizeof *to);
    return;
  }
  int k = f->of->n;
  for (int i = 0; i < k; i++) f->unknown |= !tirc_eval_index(&f->env, f->of->values[i], &to[i]);
  for (int i = 0; i < f->n_way; i++) {
    const Place *p = f->way[i];
    if (p->kind != PLACE_LOOP || p->outside) continue;
    to[k++] = p->time;
    to[k++] = f->loops[p->n_loops - 1];
  }
  to[k] = t->time;
}

static void add_event(Events *f, const int64_t *element) {
  const Touch *t = f->touch;
  const int touch = (int)(t - f->x->touches.at), width = f->n_outside + f->width;
  const Made *made = f->made ? &f->made[touch] : NULL;
  const int n_made = made ? made->n : 0;
  int64_t *at = tirc_new_array(f->c, int64_t, width + t->n + n_made);
  if (f->n_outside) memcpy(at, f->outside, (size_t)f->n_outside * sizeof *at);
  write_when(f, at + f->n_outside);
  if (t->n) memcpy(at + width, element, (size_t)t->n * sizeof *at);
  for (int i = 0; i < n_made; i++)
    f->unknown |= !tirc_eval_index(&f->env, made->leaves[i], &at[width + t->n + i]);
  vec_push(f->c, f->at, ((Event){at, touch, f->maybe > 0}));
  f->unknown |= f->at.n > MOST_EVENTS;
}

static bool index_of_lane(Events *f, Expr e, int lane, int64_t *out) {
  int64_t first, stride, way;
  if (e->op == OP_BROADCAST) e = e->args[0];
  if (e->op != OP_RAMP) return tirc_eval_index(&f->env, e, out);
  const DType t = e->args[0]->dtype;
  return tirc_eval_index(&f->env, e->args[0], &first) &&
         tirc_eval_index(&f->env, e->args[1], &stride) &&
         tirc_int_has_value(tirc_int_mul(t, stride, tirc_wrap_int(t, lane), &way)) &&
         tirc_int_has_value(tirc_int_add(t, first, way, out));
}

/* All of a box, from dimension d on. */
static void touch_box(Events *f, int64_t *at, int d) {
  const Touch *t = f->touch;
  int64_t min, extent;
  if (d == t->n) {
    add_event(f, at);
    return;
  }
  f->unknown |= !tirc_eval_index(&f->env, t->indices[d], &min) ||
                !tirc_eval_index(&f->env, t->extents[d], &extent);
  for (int64_t i = 0; !f->unknown && i < extent; i++) {
    at[d] = min + i;
    touch_box(f, at, d + 1);
  }
}

static void touch(Events *f) {
  const Touch *t = f->touch;
  int lanes = 1;
  int64_t *at = tirc_new_array(f->c, int64_t, t->n + 1);
  f->unknown |= t->extents && !t->surely;
  if (t->extents && t->surely) {
    touch_box(f, at, 0);
    return;
  }
  for (int i = 0; i < t->n; i++)
    if (t->indices[i]->dtype.lanes > lanes) lanes = t->indices[i]->dtype.lanes;
  for (int lane = 0; lane < lanes && !f->unknown; lane++) {
    for (int i = 0; i < t->n; i++) f->unknown |= !index_of_lane(f, t->indices[i], lane, &at[i]);
    if (!f->unknown) add_event(f, at);
  }
}

static void run_from(Events *f, int k, int n_outside);

static void run_at(Events *f, const Place *p, int k, int n_outside, int64_t value) {
  f->unknown |= ++f->steps > MOST_STEPS;
  tirc_eval_give(&f->env, p->var, value);
  *(p->outside ? &f->outside[n_outside] : &f->loops[p->n_loops - 1]) = value;
  if (!f->unknown) run_from(f, k, n_outside + p->outside);
}

/* Of an iterator of a block around, which stands for one value of its domain at most. */
static bool find_value(Events *f, int k, int64_t *out) {
  const Place *p = f->way[k], *bound = k + 1 < f->n_way ? f->way[k + 1] : NULL;
  return p->outside && bound && bound->kind == PLACE_WHEN && !bound->negated &&
         bound->a->op == OP_EQ && bound->a->args[0] == p->var &&
         tirc_eval_index(&f->env, bound->a->args[1], out);
}

static void run_loop(Events *f, const Place *p, int k, int n_outside) {
  int64_t min, extent, value;
  if (!tirc_eval_index(&f->env, p->a, &min) || !tirc_eval_index(&f->env, p->b, &extent)) {
    f->unknown = true;
  } else if (find_value(f, k, &value)) {
    if (value >= min && value - min < extent) run_at(f, p, k + 2, n_outside, value);
  } else {
    for (int64_t i = 0; i < extent && !f->unknown; i++) run_at(f, p, k + 1, n_outside, min + i);
  }
}

static void run_from(Events *f, int k, int n_outside) {
  if (k == f->n_way) {
    touch(f);
    return;
  }
  const Place *p = f->way[k];
  bool holds = true, known = p->kind != PLACE_REPEAT;
  if (p->kind == PLACE_LOOP) {
    run_loop(f, p, k, n_outside);
    return;
  }
  if (p->kind == PLACE_WHEN) known = tirc_eval_condition(&f->env, p->a, &holds);
  if (p->kind == PLACE_WHEN && known && holds == p->negated) return;
  if (p->kind == PLACE_BIND) (void)tirc_eval_bind(&f->env, p->var, p->a);
  f->maybe += !known;
  run_from(f, k + 1, n_outside);
  f->maybe -= !known;
}

static void run_touch(Events *f, const Touch *t) {
  f->touch = t;
  f->n_way = f->n_outside = 0;
  for (const Place *p = t->at; p; p = p->up) f->n_way++;
  f->way = tirc_new_array(f->c, const Place *, f->n_way + 1);
  int k = f->n_way;
  for (const Place *p = t->at; p; p = p->up) {
    f->way[--k] = p;
    f->n_outside += p->outside && p->kind == PLACE_LOOP;
  }
  f->outside = tirc_new_array(f->c, int64_t, f->n_outside + 1);
  f->loops = tirc_new_array(f->c, int64_t, t->at->n_loops + 1);
  run_from(f, 0, 0);
}

/* Those of the touches with a number that is not negative. */
static void run_all(Events *f, const int *numbers) {
  for (int i = 0; i < f->x->touches.n && !f->unknown; i++)
    if (numbers[i] >= 0) run_touch(f, &f->x->touches.at[i]);
}

static int compare_numbers(const int64_t *a, const int64_t *b, int n) {
  for (int i = 0; i < n; i++)
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  return 0;
}

static const Touch *touch_of(const Events *f, const Event *e) {
  return &f->x->touches.at[e->touch];
}

static int first_with(const Extract *x, Buffer b) {
  int i = 0;
  while (x->touches.at[i].buffer != b) i++;
  return i;
}

static int compare_elements(const Events *f, const Event *x, const Event *y) {
  const Buffer bx = touch_of(f, x)->buffer, by = touch_of(f, y)->buffer;
  const int width = f->n_outside + f->width;
  if (bx != by) return first_with(f->x, bx) < first_with(f->x, by) ? -1 : 1;
  const int outside = compare_numbers(x->at, y->at, f->n_outside);
  return outside ? outside : compare_numbers(x->at + width, y->at + width, bx->ndim);
}

/* By element, then by when they happen. */
static int compare_events(const void *a, const void *b, void *self) {
  const Events *f = self;
  const Event *x = a, *y = b;
  const int element = compare_elements(f, x, y);
  if (element) return element;
  return compare_numbers(x->at + f->n_outside, y->at + f->n_outside, f->width);
}

/* `keep` looks at the events of one element, in their order; false ends it. */
static bool for_each_element(Events *f, bool (*keep)(void *self, const Event *at, int n),
                             void *self) {
  qsort_r(f->at.at, (size_t)f->at.n, sizeof *f->at.at, compare_events, f);
  for (int i = 0, end; i < f->at.n; i = end) {
    for (end = i + 1; end < f->at.n && !compare_elements(f, &f->at.at[i], &f->at.at[end]);) end++;
    if (!keep(self, &f->at.at[i], end - i)) return false;
  }
  return true;
}

/* --- order ------------------------------------------------------------------------------------ */

int tirc_user_of(const Nest *nest, const Touch *t) {
  int whole = nest->n_users;
  for (int i = 0; i < nest->n_users; i++) {
    const User *u = &nest->users[i];
    if (u->block != t->block || u->buffer != t->buffer) continue;
    if (u->init == t->init) return i;
    if (!u->init) whole = i;
  }
  return whole;
}

typedef struct Order {
  const Nest *nest;
  Events f;
  int *user; /* of each touch */
  Loss *loss;
} Order;

static bool is_before(const Order *o, const Event *x, const Event *y) {
  const int from = o->f.n_outside;
  for (int i = 0; i < o->nest->n; i++) {
    const int64_t a = x->at[from + o->nest->order[i]], b = y->at[from + o->nest->order[i]];
    if (a != b) return a < b;
  }
  return false;
}

/* Whether x, which happens first now, must stay so. */
static bool matters(const Order *o, const Event *x, const Event *y) {
  const User *u = &o->nest->users[o->user[x->touch]];
  const bool writes = touch_of(&o->f, x)->write, too = touch_of(&o->f, y)->write;
  if (!writes && !too) return false;
  if (o->user[x->touch] != o->user[y->touch]) return true;
  const bool certain = !x->maybe && !y->maybe;
  return !u->update && !(writes && too && (u->stores_once || (u->last_counts && certain)));
}

/* Of two iterations, as numbers of the named loops. */
static const char *witness(const Events *f, int n, const Expr *names, const Event *x,
                           const Event *y) {
  const Touch *first = touch_of(f, x), *second = touch_of(f, y);
  const int64_t *a = x->at + f->n_outside, *b = y->at + f->n_outside;
  return tirc_witness_text(f->c, n, names, first->buffer, a, first->write, b, second->write,
                           a + f->width);
}

static bool lose(const Order *o, const Event *x, const Event *y) {
  const Nest *nest = o->nest;
  *o->loss = (Loss){&nest->users[o->user[x->touch]], &nest->users[o->user[y->touch]], NULL};
  if (!x->maybe && !y->maybe) o->loss->witness = witness(&o->f, nest->n, nest->names, x, y);
  return false;
}

/* Of each kind of event the one that will happen last is kept. */
static bool keeps_element(void *self, const Event *at, int n) {
  const Order *o = self;
  const Nest *nest = o->nest;
  const int kinds = 2 * nest->n_users;
  const Event **latest = tirc_new_array(nest->x->c, const Event *, kinds);
  const Event **now = tirc_new_array(nest->x->c, const Event *, nest->n_users);
  for (int i = 0; i < n; i++) {
    const Event *e = &at[i];
    const int user = o->user[e->touch];
    const bool write = touch_of(&o->f, e)->write;
    for (int k = 0; k < kinds; k++)
      if (latest[k] && matters(o, latest[k], e) && is_before(o, e, latest[k]))
        return lose(o, latest[k], e);
    const Event **mine = &latest[2 * user + write];
    if (!*mine || !is_before(o, e, *mine)) *mine = e;
    if (write) now[user] = e;
  }
  for (int u = 0; u < nest->n_users; u++) {
    const Event *last = latest[2 * u + 1];
    if (last && nest->users[u].last_counts && is_before(o, now[u], last))
      return lose(o, last, now[u]);
  }
  return true;
}

static bool keeps_order(const Nest *nest, const Extract *x, Loss *loss) {
  Tirc *c = nest->x->c;
  Order o = {.nest = nest, .loss = loss, .f = {.c = c, .x = x, .width = nest->n, .env = {.c = c}}};
  o.user = tirc_new_array(c, int, x->touches.n + 1);
  for (int i = 0; i < x->touches.n; i++) {
    const int user = tirc_user_of(nest, &x->touches.at[i]);
    o.user[i] = user < nest->n_users ? user : -1;
  }
  run_all(&o.f, o.user);
  return !o.f.unknown && for_each_element(&o.f, keeps_element, &o);
}

bool tirc_finite_order(const Nest *nest, const Extract *x, Loss *loss) {
  const ArenaMark mark = tirc_mark(nest->x->c);
  const bool kept = keeps_order(nest, x, loss);
  if (kept) tirc_rewind(nest->x->c, mark);
  return kept;
}

/* --- iterations ------------------------------------------------------------------------------- */

typedef struct Search {
  const Iterations *of;
  Events f;
  const Watched *watched;
  int *number; /* of each touch's buffer among those that are watched */
  Meet *meet;
} Search;

static bool found(const Search *k, const Event *x, const Event *y) {
  const int from = k->f.n_outside;
  *k->meet = (Meet){.first = touch_of(&k->f, x), .second = touch_of(&k->f, y)};
  if (x->maybe || y->maybe) return false;
  k->meet->of_first = x->at + from;
  k->meet->of_second = y->at + from;
  k->meet->witness = witness(&k->f, k->of->n, k->of->names, x, y);
  return false;
}

static bool is_another(const Search *k, const Event *x, const Event *y) {
  return compare_numbers(x->at + k->f.n_outside, y->at + k->f.n_outside, k->of->n) != 0;
}

static bool store_alike(const Search *k, const Event *x, const Event *y) {
  const Touch *a = touch_of(&k->f, x), *b = touch_of(&k->f, y);
  const int from = k->f.n_outside + k->f.width + a->n;
  const Made *made = &k->f.made[x->touch];
  if (a->stmt == b->stmt)
    return made->known && !made->adds && !compare_numbers(x->at + from, y->at + from, made->n);
  const Expr one = a->stmt->u.store.value, other = b->stmt->u.store.value;
  return tirc_is_constant(one) && tirc_expr_same(one, other);
}

/* What iteration reads before it stored, and what others store. */
static bool keeps_apart(void *self, const Event *at, int n) {
  const Search *k = self;
  const Watched *w = &k->watched[k->number[at->touch]];
  const bool reads = w->kind >= WATCH_READS;
  const bool stores = w->kind == WATCH_STORES || w->kind == WATCH_ALL;
  const Event *store = NULL, *other = NULL; /* two of different iterations */
  for (int i = 0; i < n; i++) {
    if (!touch_of(&k->f, &at[i])->write) continue;
    if (!store) store = &at[i];
    if (is_another(k, &at[i], store)) other = &at[i];
  }
  bool stored = false;
  for (int i = 0; i < n; i++) {
    const Event *e = &at[i];
    if (i && is_another(k, e, e - 1)) stored = false;
    const bool write = touch_of(&k->f, e)->write;
    const Event *with = store && is_another(k, store, e) ? store : other;
    if (reads && !write && !stored && with) return found(k, with, e);
    if (stores && write && other && !store_alike(k, store, e)) return found(k, store, other);
    stored |= write && !e->maybe;
  }
  return true;
}

static bool iterations_apart(Search *k, int n) {
  const Extract *x = k->f.x;
  int most = 0;
  k->number = tirc_new_array(k->of->x->c, int, x->touches.n + 1);
  for (int i = 0; i < x->touches.n; i++) {
    k->number[i] = n;
    while (--k->number[i] >= 0 && (k->watched[k->number[i]].buffer != x->touches.at[i].buffer ||
                                   k->watched[k->number[i]].kind == WATCH_VALUES))
      continue;
    if (x->touches.at[i].at->n_loops > most) most = x->touches.at[i].at->n_loops;
  }
  k->f.width = k->of->n + 2 * most + 1;
  run_all(&k->f, k->number);
  return !k->f.unknown && for_each_element(&k->f, keeps_apart, k);
}

bool tirc_finite_meet(const Iterations *of, const Made *made, int n, const Watched *watched,
                      Meet *meet) {
  Tirc *c = of->x->c;
  const ArenaMark mark = tirc_mark(c);
  Search k = {.of = of, .watched = watched, .meet = meet};
  k.f = (Events){.c = c, .x = of->x, .of = of, .made = made, .env = {.c = c}};
  const bool apart = iterations_apart(&k, n);
  if (apart) tirc_rewind(c, mark);
  return !apart;
}

/* --- cover ------------------------------------------------------------------------------------ */

typedef struct Filling {
  Events f;
  int box; /* which touch it is */
  const char **missing;
} Filling;

static bool is_filled(void *self, const Event *at, int n) {
  const Filling *k = self;
  const Event *asked = NULL;
  bool filled = false;
  for (int i = 0; i < n; i++) {
    if (at[i].touch == k->box) asked = &at[i];
    filled |= at[i].touch != k->box && !at[i].maybe;
  }
  if (!asked || filled) return true;
  if (n == 1 && !asked->maybe)
    *k->missing = tirc_element_text(k->f.c, touch_of(&k->f, asked)->buffer,
                                    touch_of(&k->f, asked)->n, asked->at + k->f.n_outside);
  return false;
}

bool tirc_finite_cover(const Extract *x, const Touch *box, const char **missing) {
  Extract with = {.c = x->c};
  Filling k = {.box = x->touches.n, .missing = missing};
  for (int i = 0; i < x->touches.n; i++) vec_push(x->c, with.touches, x->touches.at[i]);
  vec_push(x->c, with.touches, *box);
  k.f = (Events){.c = x->c, .x = &with, .env = {.c = x->c}};
  int *numbers = tirc_new_array(x->c, int, with.touches.n);
  for (int i = 0; i < x->touches.n; i++) {
    const Touch *t = &x->touches.at[i];
    numbers[i] = t->write && (!t->extents || t->surely) ? 0 : -1;
  }
  run_all(&k.f, numbers);
  return !k.f.unknown && for_each_element(&k.f, is_filled, &k);
}
