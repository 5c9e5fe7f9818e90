#include "order.h"

#include "finite.h"
#include "passes/schedule/state/nodes.h"
#include "witness.h"

enum { BUDGET = 30000 };

/* What the touches of one user come to, from the loops of the chain to elements. */
typedef struct Moves {
  ZMap by[2]; /* loads, stores; NULL: there are none */
  bool exact[2];
} Moves;

typedef struct Question {
  const Nest *nest;
  Relations r;
  Extract x;
  Moves *moves; /* of each user */
  int *place;   /* of each loop of the chain in the new order */
  Loss *loss;
  bool lost, certain;
} Question;

const Expr *tirc_names_of(const Nest *nest) {
  Expr *names = tirc_new_array(nest->s->c, Expr, nest->n);
  for (int i = 0; i < nest->n; i++) names[i] = tirc_loop_of(nest->chain[i])->var;
  return names;
}

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

static void add_moves(Question *q, const Touch *t) {
  const int user = tirc_user_of(q->nest, t), n = q->nest->n;
  Moves *m = &q->moves[user];
  const ZMap whole = tirc_relation_of(&q->r, t, &m->exact[t->write]);
  const ZMap one = tirc_z_drop_in(q->r.sets, whole, n, t->at->n_loops - n);
  ZMap *to = &m->by[t->write];
  *to = *to ? tirc_z_union(q->r.sets, *to, one) : one;
  if (!*to) q->lost = true;
}

/* Pairs of iterations that change places: the first loop in which they differ is `a` now, and will
 * be `b`. */
static ZMap turned(const Question *q, int a, int b) {
  Sets *z = q->r.sets;
  ZMap m = tirc_z_tuples(z, q->nest->n);
  for (int i = 0; i < q->nest->n; i++)
    if (i < a || q->place[i] < q->place[b]) m = tirc_z_equal_at(z, m, i);
  return tirc_z_greater_at(z, tirc_z_less_at(z, m, a), b);
}

static bool meet(Question *q, int x, bool x_stores, int y, bool y_stores, ZMap pairs) {
  Sets *z = q->r.sets;
  const Moves *first = &q->moves[x], *second = &q->moves[y];
  const ZMap by_first = first->by[x_stores], by_second = second->by[y_stores];
  if (!by_first || !by_second || q->lost) return q->lost;
  const ZMap same =
      tirc_z_meet(z, tirc_z_compose(z, by_first, tirc_z_reverse(z, by_second)), pairs);
  const Answer none = tirc_z_is_empty(z, same);
  if (none == ANSWER_YES) return false;
  q->lost = true;
  *q->loss = (Loss){&q->nest->users[x], &q->nest->users[y], NULL};
  if (none == ANSWER_NO && first->exact[x_stores] && second->exact[y_stores] && !q->r.symbols.n)
    q->loss->witness =
        tirc_witness(&q->r, q->nest->n, tirc_names_of(q->nest), q->nest->users[x].buffer,
                     (Meeting){same, by_first, by_second, x_stores, y_stores}, NULL, NULL);
  q->certain = q->loss->witness != NULL;
  return true;
}

/* Where only the last store counts: whether it is the last one in the new order, too. */
static bool keeps_last(const Question *q, int user) {
  Sets *z = q->r.sets;
  const Moves *m = &q->moves[user];
  if (!m->exact[1]) return false;
  int *order = tirc_new_array(q->nest->s->c, int, q->nest->n);
  for (int i = 0; i < q->nest->n; i++) order[q->place[i]] = i;
  const ZMap now = tirc_z_last(z, tirc_z_reverse(z, m->by[1]));
  const ZMap then = tirc_z_last(z, tirc_z_reverse(z, tirc_z_permute_in(z, m->by[1], order)));
  const ZMap as_now = tirc_z_permute_in(z, tirc_z_reverse(z, now), order);
  return tirc_z_is_equal(z, tirc_z_reverse(z, as_now), then) == ANSWER_YES;
}

static void ask_pair(Question *q, int x, int y, ZMap pairs) {
  const User *first = &q->nest->users[x], *second = &q->nest->users[y];
  if (first->buffer != second->buffer || (x == y && first->update)) return;
  if (meet(q, x, true, y, false, pairs) || meet(q, x, false, y, true, pairs)) return;
  if (x == y && (first->stores_once || (first->last_counts && keeps_last(q, x)))) return;
  meet(q, x, true, y, true, pairs);
}

static void ask(Question *q) {
  const int n = q->nest->n;
  for (int a = 0; a < n && !q->lost; a++)
    for (int b = a + 1; b < n && !q->lost; b++) {
      if (q->place[b] > q->place[a]) continue;
      const ZMap pairs = turned(q, a, b);
      for (int x = 0; x < q->nest->n_users && !q->lost; x++)
        for (int y = 0; y < q->nest->n_users && !q->lost; y++) ask_pair(q, x, y, pairs);
    }
}

bool tirc_keeps_order(const Nest *nest, Loss *loss) {
  Tirc *c = nest->s->c;
  const ArenaMark mark = tirc_mark(c);
  Question q = {.nest = nest, .loss = loss};
  *loss = (Loss){&nest->users[0], &nest->users[0], NULL};
  q.r = (Relations){.s = nest->s, .sets = tirc_sets_of(nest->s), .nest = nest->chain[0]};
  q.x = *nest->x;
  q.x.touches = (Touches){0};
  for (int i = 0; i < nest->x->touches.n; i++)
    if (tirc_user_of(nest, &nest->x->touches.at[i]) < nest->n_users)
      vec_push(c, q.x.touches, nest->x->touches.at[i]);
  q.moves = tirc_new_array(c, Moves, nest->n_users);
  q.place = tirc_new_array(c, int, nest->n);
  for (int i = 0; i < nest->n_users; i++) q.moves[i].exact[0] = q.moves[i].exact[1] = true;
  for (int i = 0; i < nest->n; i++)
    while (nest->order[q.place[i]] != nest->chain[i]) q.place[i]++;
  tirc_sets_begin(q.r.sets, BUDGET);
  for (int i = 0; i < q.x.touches.n; i++) add_moves(&q, &q.x.touches.at[i]);
  ask(&q);
  tirc_sets_end(q.r.sets);
  const bool kept = !q.lost || (!q.certain && tirc_finite_order(nest, &q.x, loss));
  if (kept) tirc_rewind(c, mark);
  return kept;
}
