/* Do two iterations of a loop, or two instances of a block, use one element, so that they cannot
 * run at the same time?
 *
 *   for i in range(16):                    iteration i stores B[i]
 *     B[i] = A[i]
 *     C[i] = B[(i + 15) % 16]              iteration i + 1 reads it
 *
 * They do where one reads an element that another one stores, unless it stored to it itself before
 * it reads; and where both store to an element, unless they leave the same in it. What an iteration
 * leaves is the same when it is computed in the same steps from the same numbers: from indices, and
 * from what no iteration stores, or what all leave alike.
 *
 * Instances of a block are told apart by its spatial iterators; the steps of a sum are one. */
#include "asked.h"
#include "ir/arith/equal.h"
#include "ir/tree/find.h"
#include "relations.h"
#include "sums.h"

enum { MOST_LEAVES = 12 /* of which one number is made */ };

/* A touch as relations. */
typedef struct Known {
  const Touch *touch;
  bool is_known; /* what follows: relations are dear, and few touches are asked for */
  bool is_spared;
  ZMap at;    /* from the loops around to elements */
  ZMap whole; /* from the iteration to elements */
  bool exact;
  Made made;  /* of a store: what the stored number is made of */
  Touch thin; /* in the dimensions that tell iterations apart, without what these do not need */
  bool is_thin;
  ZMap of_thin; /* from the iteration to elements; NULL: it would be the same */
} Known;

/* Whether iterations are apart that touch elements so and so. */
typedef struct Thin {
  ZMap first, second;
  bool apart;
} Thin;

typedef enum Alike { ALIKE_UNKNOWN, ALIKE_ASKED, ALIKE_YES, ALIKE_NO } Alike;

typedef struct Stored {
  Buffer buffer;
  bool shared;   /* by the iterations; otherwise each has a buffer of its own */
  Alike alike;   /* whether they leave the same in an element */
  Expr constant; /* all that is ever in it; NULL: more */
} Stored;

typedef struct Question {
  const Iterations *of;
  Tirc *c;
  Relations r;
  Sets *z;
  int width; /* of a time */
  VEC(Known) known;
  VEC(Stored) stored;
  VEC(Thin) thin;
} Question;

static bool is_alike(Question *q, Stored *b);

static Stored *stored_of(Question *q, Buffer b) {
  for (int i = 0; i < q->stored.n; i++)
    if (q->stored.at[i].buffer == b) return &q->stored.at[i];
  return NULL;
}

/* --- when ------------------------------------------------------------------------------------- */

static bool is_name(const Question *q, Expr var) {
  for (int i = 0; i < q->of->n; i++)
    if (q->of->values[i] == var) return true;
  return false;
}

/* [iteration, inner iteration, statement in it, ...], filled up with zeros. */
static const Expr *time_of(Question *q, const Touch *t) {
  Tirc *c = q->c;
  Place **loops = tirc_place_loops(c, t->at);
  Expr *time = tirc_new_array(c, Expr, q->width + 1);
  int k = q->of->n;
  memcpy(time, q->of->values, (size_t)k * sizeof *time);
  for (int i = 0; i < t->at->n_loops; i++) {
    if (i >= q->of->n_around) time[k++] = tirc_int32(c, loops[i]->time);
    if (!is_name(q, loops[i]->var)) time[k++] = loops[i]->var;
  }
  time[k++] = tirc_int32(c, t->time);
  while (k < q->width) time[k++] = tirc_int32(c, 0);
  return time;
}

static int width_of_times(const Question *q) {
  const Extract *x = q->of->x;
  int most = 0;
  for (int i = 0; i < x->touches.n; i++)
    if (x->touches.at[i].at->n_loops > most) most = x->touches.at[i].at->n_loops;
  return q->of->n + 2 * most - q->of->n_around + 1;
}

/* From the loops around a touch to what these come to. */
static ZMap values_at(Question *q, const Touch *t, int n, const Expr *values, bool *exact) {
  Touch with = {.n = n, .indices = values, .at = t->at};
  return tirc_relation_of(&q->r, &with, exact);
}

static bool loads_index(const Touch *t) {
  for (int i = 0; i < t->n; i++)
    if (tirc_reads_memory(t->indices[i])) return true;
  return false;
}

/* Of a relation from the loops around a touch: from [the iteration, those of its first n loops that
 * are no part of it]. */
static ZMap by_iteration(Question *q, const Touch *t, ZMap of_loops, int n, bool *exact) {
  Place **loops = tirc_place_loops(q->c, t->at);
  const int n_loops = t->at->n_loops;
  Expr *values = tirc_new_array(q->c, Expr, q->of->n + n + 1);
  int *places = tirc_new_array(q->c, int, q->of->n + n + 1), k = q->of->n;
  if (k) memcpy(values, q->of->values, (size_t)k * sizeof *values);
  for (int i = 0; i < n; i++)
    if (!is_name(q, loops[i]->var)) values[k++] = loops[i]->var;
  bool are_loops = true;
  for (int i = 0; i < k && are_loops; i++) {
    for (places[i] = 0; places[i] < n_loops && loops[places[i]]->var != values[i];) places[i]++;
    are_loops = places[i] < n_loops;
  }
  if (are_loops) return tirc_z_keep_in(q->z, of_loops, k, places);
  return tirc_z_compose(q->z, tirc_z_reverse(q->z, values_at(q, t, k, values, exact)), of_loops);
}

/* The next touch after k (NULL: the first one) that stores to b, or that loads from it. */
static Known *next_of(const Question *q, Known *k, Buffer b, bool write) {
  const Known *end = q->known.at + q->known.n;
  k = k ? k + 1 : q->known.at;
  while (k < end && (k->touch->buffer != b || k->touch->write != write)) k++;
  return k < end ? k : NULL;
}

/* The same, with its relations. */
static Known *know(Question *q, Known *k) {
  const Touch *t = k->touch;
  if (k->is_known) return k;
  k->is_known = k->exact = true;
  k->at = tirc_relation_of(&q->r, t, &k->exact);
  k->whole = by_iteration(q, t, k->at, 0, &k->exact);
  k->is_spared = !k->exact && (q->of->spared == SPARE_UNCERTAIN ||
                               (q->of->spared == SPARE_LOADED && loads_index(t)));
  return k;
}

/* --- what is stored before it is read --------------------------------------------------------- */

/* How many loops, outermost first, are around both. */
static int loops_in_common(const Question *q, const Touch *a, const Touch *b) {
  Place **of_a = tirc_place_loops(q->c, a->at), **of_b = tirc_place_loops(q->c, b->at);
  int n = 0;
  while (n < a->at->n_loops && n < b->at->n_loops && of_a[n] == of_b[n]) n++;
  return n;
}

/* Which statement it is in, in the innermost of its first n loops. */
static int time_in(const Question *q, const Touch *t, int n) {
  return n < t->at->n_loops ? tirc_place_loops(q->c, t->at)[n]->time : t->time;
}

/* From tuples to what there is at earlier ones, which differ in the last number alone. */
static ZMap in_earlier(Question *q, ZMap m, int n) {
  ZMap from = tirc_z_greater_at(q->z, tirc_z_tuples(q->z, n), n - 1);
  for (int i = 0; i < n - 1; i++) from = tirc_z_equal_at(q->z, from, i);
  return tirc_z_compose(q->z, from, m);
}

/* In each run of the n loops that they have in common, and of no more. */
static bool is_before(const Question *q, const Touch *store, const Touch *read, int n) {
  return loops_in_common(q, read, store) == n && time_in(q, store, n) < time_in(q, read, n);
}

/* What is left of a read when the store has been before it: in the same run of the n loops that
 * they have in common, or where `width` is not 0, of so many numbers that tell runs apart, in
 * earlier iterations of the last of them. */
static ZMap uncovered(Question *q, const Touch *read, ZMap left, const Known *store, int n,
                      int width) {
  const bool before = is_before(q, store->touch, read, n);
  bool exact = true; /* as the store's */
  if (!before && (!width || loops_in_common(q, read, store->touch) < n)) return left;
  const ZMap stored = by_iteration(q, store->touch, store->at, n, &exact);
  if (before) left = tirc_z_minus(q->z, left, stored);
  return width ? tirc_z_minus(q->z, left, in_earlier(q, stored, width)) : left;
}

/* Whether stores with fewest loops around, as those of an init, have been before all of the read.
 */
static bool is_stored_outside(Question *q, const Known *read) {
  const Touch *r = read->touch;
  for (int n = 0; n <= r->at->n_loops; n++) {
    bool exact = true, found = false;
    ZMap left = NULL;
    for (Known *k = NULL; (k = next_of(q, k, r->buffer, true));) {
      if (!is_before(q, k->touch, r, n)) continue;
      found = true;
      if (!know(q, k)->exact || k->touch->update) continue;
      if (!left) left = by_iteration(q, r, read->at, n, &exact);
      left = tirc_z_minus(q->z, left, by_iteration(q, k->touch, k->at, n, &exact));
    }
    if (found) return tirc_z_is_empty(q->z, left) == ANSWER_YES;
  }
  return false;
}

/* What is read before the same iteration surely stored to it: an update goes on with what was
 * there. Loop by loop, from the inside out, so
 * that tuples are short. */
static ZMap exposed(Question *q, const Known *read) {
  const Touch *r = read->touch;
  if (is_stored_outside(q, read)) return tirc_z_empty(q->z, q->of->n, r->n);
  Place **loops = tirc_place_loops(q->c, r->at);
  int most = 0, width = q->of->n;
  for (Known *k = NULL; (k = next_of(q, k, r->buffer, true));) {
    const int n = loops_in_common(q, r, know(q, k)->touch);
    if (n > most) most = n;
  }
  for (int i = 0; i < most; i++) width += !is_name(q, loops[i]->var);
  bool exact = true; /* as the read is */
  ZMap left = by_iteration(q, r, read->at, most, &exact);
  for (int n = most;; n--) {
    const bool is_run = n > 0 && !is_name(q, loops[n - 1]->var);
    for (Known *k = NULL; (k = next_of(q, k, r->buffer, true));)
      if (k->exact && !k->touch->update) left = uncovered(q, r, left, k, n, is_run ? width : 0);
    if (!n || tirc_z_is_empty(q->z, left) == ANSWER_YES)
      return tirc_z_drop_in(q->z, left, q->of->n, width - q->of->n);
    if (is_run) left = tirc_z_drop_in(q->z, left, --width, 1);
  }
}

/* --- what iterations leave -------------------------------------------------------------------- */

/* Whether all that store to an element leave the same there, so that it does not matter who is the
 * last. */

typedef struct Leaves {
  Question *q;
  const Touch *of;
  bool adds; /* to what its element holds */
  VEC(Expr) at;
} Leaves;

static bool is_own(const Touch *of, const struct ExprNode *load) {
  return load->u.buffer == of->buffer && load->n == of->n &&
         tirc_same_exprs(load->n, load->args, of->indices);
}

static bool add_leaf(Leaves *l, Expr e) {
  for (int i = 0; i < l->at.n; i++)
    if (tirc_expr_same(l->at.at[i], e)) return true;
  vec_push(l->q->c, l->at, e);
  return l->at.n <= MOST_LEAVES;
}

/* What a number is made of, down to index arithmetic. False: of what may be different each time. */
static bool find_leaves(Leaves *l, Expr e) {
  if (tirc_is_constant(e)) return true;
  if (e->op == OP_CALL || e->op == OP_LET) return false;
  if (tirc_dtype_is_int(e->dtype) && e->dtype.lanes == 1 && !tirc_reads_memory(e))
    return add_leaf(l, e);
  if (e->op == OP_LOAD && is_own(l->of, e)) return l->adds = true;
  if (e->op == OP_LOAD) {
    Stored *from = stored_of(l->q, e->u.buffer);
    if (from && !is_alike(l->q, from)) return false;
    if (from && from->constant) return true;
  }
  if (e->op == OP_VAR) {
    Place *p = l->of->at;
    while (p && p->var != e) p = p->up;
    return !p || p->outside || (p->kind == PLACE_BIND && find_leaves(l, p->a));
  }
  for (int i = 0; i < e->n; i++)
    if (!find_leaves(l, e->args[i])) return false;
  return true;
}

static Made made_of(Question *q, const Touch *t) {
  Leaves l = {.q = q, .of = t};
  if (t->stmt->kind != STMT_STORE || !find_leaves(&l, t->stmt->u.store.value)) return (Made){0};
  const bool commutes = t->inner && tirc_update_commutes(q->c, &t->inner->u.block);
  return (Made){!l.adds || commutes, l.adds, l.at.n, l.at.at};
}

/* From the iteration to [element, when in the iteration if asked, what the number is made of]. */
static ZMap steps_of(Question *q, const Known *k, bool when, bool *exact) {
  const Touch *t = k->touch;
  const int n_when = when ? q->width - q->of->n : 0, n = t->n + n_when + k->made.n;
  Expr *all = tirc_new_array(q->c, Expr, n + 1);
  if (t->n) memcpy(all, t->indices, (size_t)t->n * sizeof *all);
  if (when) memcpy(all + t->n, time_of(q, t) + q->of->n, (size_t)n_when * sizeof *all);
  if (k->made.n) memcpy(all + t->n + n_when, k->made.leaves, (size_t)k->made.n * sizeof *all);
  *exact = true;
  return by_iteration(q, t, values_at(q, t, n, all, exact), 0, exact);
}

/* Whether there is one number for an element, whoever stores it. */
static bool is_function(Question *q, const Known *k) {
  bool exact;
  const ZMap steps = tirc_z_from_head(q->z, steps_of(q, k, false, &exact), k->touch->n);
  return !k->made.adds && tirc_z_is_function(q->z, steps) == ANSWER_YES;
}

/* From iterations to all elements that they may store to. */
static ZMap all_stores(Question *q, Buffer b) {
  ZMap all = tirc_z_empty(q->z, q->of->n, b->ndim);
  for (Known *k = NULL; (k = next_of(q, k, b, true));)
    all = tirc_z_union(q->z, all, know(q, k)->whole);
  return all;
}

/* Whether each iteration that stores to an element does so in the same steps, at the same times, as
 * any other one. */
static bool same_steps(Question *q, const Known *k, ZMap all) {
  bool exact;
  const ZMap steps = steps_of(q, k, true, &exact);
  const ZMap needed = tirc_z_compose(q->z, all, tirc_z_from_head(q->z, steps, k->touch->n));
  return exact && tirc_z_is_subset(q->z, needed, steps) == ANSWER_YES;
}

/* All that is stored, if that is one constant; NULL otherwise. */
static Expr constant_of(const Question *q, Buffer b) {
  Expr constant = NULL;
  for (Known *k = NULL; (k = next_of(q, k, b, true));) {
    const Stmt s = k->touch->stmt;
    const Expr value = s->kind == STMT_STORE ? s->u.store.value : NULL;
    if (!value || !tirc_is_constant(value)) return NULL;
    if (constant && !tirc_expr_same(constant, value)) return NULL;
    constant = value;
  }
  return constant;
}

static bool reads_own_stores(Question *q, Buffer b) {
  for (Known *k = NULL; (k = next_of(q, k, b, false));)
    if (know(q, k)->is_spared || tirc_z_is_empty(q->z, exposed(q, k)) != ANSWER_YES) return false;
  return true;
}

static bool look_alike(Question *q, Stored *b) {
  const Expr constant = constant_of(q, b->buffer);
  const bool covered = reads_own_stores(q, b->buffer);
  const Known *only = NULL;
  int stores = 0;
  if (covered) b->constant = constant;
  if (constant) return b->shared || covered;
  if (!b->shared && !covered) return false;
  for (Known *k = NULL; (k = next_of(q, k, b->buffer, true));) {
    k->made = made_of(q, k->touch);
    if (know(q, k)->is_spared || !k->made.known) return false;
    only = k;
    stores++;
  }
  if (stores == 1 && is_function(q, only)) return true;
  /* Memory that is shared may be read between two stores. */
  const ZMap all = b->shared ? NULL : all_stores(q, b->buffer);
  for (Known *k = NULL; (k = next_of(q, k, b->buffer, true));)
    if (b->shared || !same_steps(q, k, all)) return false;
  return true;
}

static bool is_alike(Question *q, Stored *b) {
  if (b->alike == ALIKE_ASKED) return false; /* it is made of itself */
  if (b->alike == ALIKE_UNKNOWN) {
    b->alike = ALIKE_ASKED;
    b->alike = look_alike(q, b) ? ALIKE_YES : ALIKE_NO;
  }
  return b->alike == ALIKE_YES;
}

/* --- who meets whom --------------------------------------------------------------------------- */

static bool uses_iteration(const Question *q, Expr e) {
  for (int i = 0; i < q->of->n; i++) {
    const Expr value = q->of->values[i];
    if (value->op == OP_VAR ? tirc_uses_var(e, value) : !tirc_is_constant(value)) return true;
  }
  return false;
}

/* An index that some touch of the buffer makes of the iteration. */
static bool tells_apart(Question *q, Buffer b, int dim) {
  for (int i = 0; i < q->known.n; i++) {
    const Touch *t = q->known.at[i].touch;
    if (t->buffer == b && uses_iteration(q, tirc_in_loops(&q->r, t->at, t->indices[dim])))
      return true;
  }
  return false;
}

static Touch thin_touch(Question *q, const Touch *t) {
  Touch thin = *t;
  Expr *indices = tirc_new_array(q->c, Expr, t->n + 1);
  Expr *extents = tirc_new_array(q->c, Expr, t->n + 1);
  PtrMap used = {0};
  thin.n = 0;
  for (int d = 0; d < t->n; d++) {
    if (!tells_apart(q, t->buffer, d)) continue;
    indices[thin.n] = t->indices[d];
    extents[thin.n++] = t->extents ? t->extents[d] : NULL;
  }
  for (int i = 0; i < q->of->n; i++) tirc_add_used(q->c, q->of->values[i], &used);
  thin.indices = indices;
  thin.extents = t->extents ? extents : NULL;
  return tirc_touch_of_used(q->c, thin, &used, true);
}

static ZMap thin_of(Question *q, Known *k) {
  const Touch *t = k->touch;
  if (k->is_thin) return k->of_thin;
  k->thin = thin_touch(q, t);
  k->is_thin = true;
  for (int i = 0; i < q->known.n; i++) {
    const Known *other = &q->known.at[i];
    if (other->is_thin && other->of_thin && tirc_same_touch(&other->thin, &k->thin))
      return k->of_thin = other->of_thin;
  }
  bool exact = true;
  if (k->thin.n && (k->thin.n < t->n || k->thin.at != t->at))
    k->of_thin = by_iteration(q, &k->thin, tirc_relation_of(&q->r, &k->thin, &exact), 0, &exact);
  return k->of_thin;
}

static bool are_all_apart(Question *q, ZMap first, ZMap second) {
  const ZMap same = tirc_z_compose(q->z, first, tirc_z_reverse(q->z, second));
  for (int i = 0; i < q->of->n; i++)
    if (tirc_z_is_empty(q->z, tirc_z_less_at(q->z, same, i)) != ANSWER_YES ||
        (first != second && tirc_z_is_empty(q->z, tirc_z_greater_at(q->z, same, i)) != ANSWER_YES))
      return false;
  return true;
}

/* Whether no two iterations touch one element, which a few of its indices suffice to say: the other
 * ones make the relations larger. */
static bool thinly_apart(Question *q, Known *a, Known *b) {
  const ZMap first = thin_of(q, a), second = first ? thin_of(q, b) : NULL;
  if (!second) return false;
  for (int i = 0; i < q->thin.n; i++)
    if (q->thin.at[i].first == first && q->thin.at[i].second == second) return q->thin.at[i].apart;
  const Thin asked = {first, second, are_all_apart(q, first, second)};
  vec_push(q->c, q->thin, asked);
  return asked.apart;
}

/* first, second: from iterations to elements, of which some are in both. */
static bool meets(Question *q, const Known *a, ZMap first, const Known *b, ZMap second,
                  Meet *meet) {
  const ZMap same = tirc_z_compose(q->z, first, tirc_z_reverse(q->z, second));
  for (int i = 0; i < 2 * q->of->n; i++) {
    if (first == second && i % 2) continue; /* the same pairs, turned round */
    const ZMap pairs =
        i % 2 ? tirc_z_greater_at(q->z, same, i / 2) : tirc_z_less_at(q->z, same, i / 2);
    const Answer none = tirc_z_is_empty(q->z, pairs);
    if (none == ANSWER_YES) continue;
    *meet = (Meet){.first = a->touch, .second = b->touch};
    if (none == ANSWER_NO && a->exact && b->exact && !q->r.symbols.n)
      meet->witness =
          tirc_witness(&q->r, q->of->n, q->of->names, a->touch->buffer,
                       (Meeting){pairs, first, second, a->touch->write, b->touch->write},
                       &meet->of_first, &meet->of_second);
    return true;
  }
  return false;
}

static bool reads_meet(Question *q, Buffer b, Meet *meet) {
  for (Known *read = NULL; (read = next_of(q, read, b, false));) {
    ZMap before = NULL; /* its own stores */
    for (Known *store = NULL; (store = next_of(q, store, b, true));) {
      if (tirc_updates_commute(store->touch, read->touch) || thinly_apart(q, store, read) ||
          know(q, read)->is_spared || know(q, store)->is_spared ||
          !meets(q, store, store->whole, read, read->whole, meet))
        continue;
      if (!before) before = exposed(q, read);
      if (meets(q, store, store->whole, read, before, meet)) return true;
    }
  }
  return false;
}

static bool stores_meet(Question *q, Buffer b, Meet *meet) {
  for (Known *x = NULL; (x = next_of(q, x, b, true));)
    for (Known *y = x; y; y = next_of(q, y, b, true))
      if (!(x->touch->untold && x->touch->stmt == y->touch->stmt) &&
          !tirc_updates_commute(x->touch, y->touch) && !thinly_apart(q, x, y) &&
          !know(q, x)->is_spared && !know(q, y)->is_spared &&
          meets(q, x, x->whole, y, y->whole, meet))
        return !is_alike(q, stored_of(q, b));
  return false;
}

static bool has_update(Question *q, Buffer b) {
  for (Known *k = NULL; (k = next_of(q, k, b, true));)
    if (k->touch->update) return true;
  return false;
}

/* Where stores need not be apart because they are updates, what is read meanwhile hangs on the
 * order. */
static bool ask(Question *q, int n, const Watched *watched, Meet *meet) {
  for (int i = 0; i < n; i++) {
    const WatchKind kind = watched[i].kind;
    const bool updated = kind == WATCH_STORES && has_update(q, watched[i].buffer);
    if ((kind >= WATCH_READS || updated) && reads_meet(q, watched[i].buffer, meet)) return true;
    if ((kind == WATCH_STORES || kind == WATCH_ALL) && stores_meet(q, watched[i].buffer, meet))
      return true;
  }
  return false;
}

/* While the sets are there. */
static Made *know_made(Question *q) {
  const Touches *touches = &q->of->x->touches;
  Made *made = tirc_new_array(q->c, Made, touches->n + 1);
  for (int i = 0; i < q->known.n; i++) {
    const Touch *t = q->known.at[i].touch;
    if (t->write) made[t - touches->at] = made_of(q, t);
  }
  return made;
}

/* Begins with all touches of buffers that are stored to. */
static Question question_of(const Iterations *of) {
  const Touches *touches = &of->x->touches;
  Question q = {.of = of, .c = of->x->c, .r = *of->in, .z = of->in->sets};
  for (int i = 0; i < touches->n; i++)
    if (touches->at[i].write && !stored_of(&q, touches->at[i].buffer))
      vec_push(q.c, q.stored, ((Stored){.buffer = touches->at[i].buffer}));
  for (int i = 0; i < touches->n; i++)
    if (stored_of(&q, touches->at[i].buffer))
      vec_push(q.c, q.known, ((Known){.touch = &touches->at[i]}));
  tirc_sets_begin(q.z, SETS_BUDGET);
  return q;
}

/* Of an update: the element that is stored to as well, or one that an earlier touch has been. */
static bool is_repeated(const Question *q, const Touch *t) {
  for (Known *k = NULL; !t->write && (k = next_of(q, k, t->buffer, true));)
    if (k->touch->stmt == t->stmt && !t->extents && is_own(k->touch, t->load)) return true;
  return false;
}

static bool are_apart(Question *q, Buffer b) {
  Meet meet;
  for (Known *store = NULL; (store = next_of(q, store, b, true));)
    for (Known *other = q->known.at; other < q->known.at + q->known.n; other++) {
      if (other->touch->buffer != b || (other->touch->write && other < store) ||
          is_repeated(q, other->touch) || thinly_apart(q, store, other))
        continue;
      know(q, store), know(q, other);
      if (meets(q, store, store->whole, other, other->whole, &meet)) return false;
    }
  return true;
}

bool tirc_elements_apart(const Iterations *of, int n, const Watched *watched) {
  Question q = question_of(of);
  bool apart = true;
  for (int i = 0; i < n && apart; i++) apart = are_apart(&q, watched[i].buffer);
  tirc_sets_end(q.z);
  return apart;
}

bool tirc_iterations_meet(const Iterations *of, int n, const Watched *watched, Meet *meet) {
  Question q = question_of(of);
  Watched *asked = tirc_new_array(q.c, Watched, n + 1);
  int n_asked = 0;
  for (int i = 0; i < n; i++) {
    Stored *b = stored_of(&q, watched[i].buffer);
    if (!b || tirc_map_has(&of->x->own, b->buffer)) continue;
    b->shared = watched[i].shared;
    asked[n_asked++] = watched[i];
  }
  q.width = width_of_times(&q);
  const bool met = ask(&q, n_asked, asked, meet);
  const Made *made = met && !meet->witness ? know_made(&q) : NULL;
  tirc_sets_end(q.z);
  if (!made) return met;
  const bool meets = tirc_finite_meet(of, made, n_asked, asked, meet);
  tirc_sets_went_on(q.z);
  return meets;
}

static bool is_read(const Touches *touches, Buffer b) {
  int i = 0;
  while (i < touches->n && (touches->at[i].buffer != b || touches->at[i].write)) i++;
  return i < touches->n;
}

bool tirc_stores_before_it_reads(const Iterations *of, Buffer b) {
  if (!is_read(&of->x->touches, b)) return true;
  Question q = question_of(of);
  q.width = width_of_times(&q);
  tirc_leave_out_common(&q.r, &of->x->touches, NULL);
  const bool found = reads_own_stores(&q, b);
  tirc_sets_end(q.z);
  return found;
}
