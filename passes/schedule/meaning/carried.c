#include "carried_parts.h"

#include "finite.h"
#include "meaning.h"
#include "passes/schedule/state/nodes.h"
#include "witness.h"

enum { BUDGET = 30000 };

Stored *tirc_carried_stored_of(Question *q, Buffer b) {
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
const Expr *tirc_carried_time_of(Question *q, const Touch *t) {
  Tirc *c = q->s->c;
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
ZMap tirc_carried_values_at(Question *q, const Touch *t, int n, const Expr *values, bool *exact) {
  Touch with = {.n = n, .indices = values, .at = t->at};
  return tirc_relation_of(&q->r, &with, exact);
}

static bool loads_index(const Touch *t) {
  for (int i = 0; i < t->n; i++)
    if (tirc_reads_memory(t->indices[i])) return true;
  return false;
}

static int loop_of_var(int n, Place *const *loops, Expr var) {
  int i = 0;
  while (i < n && loops[i]->var != var) i++;
  return i;
}

/* Of a relation from the loops around a touch: from [the iteration, those of its first n loops that
 * are no part of it]. */
ZMap tirc_carried_by_iteration(Question *q, const Touch *t, ZMap of_loops, int n, bool *exact) {
  Place **loops = tirc_place_loops(q->s->c, t->at);
  const int n_loops = t->at->n_loops;
  Expr *values = tirc_new_array(q->s->c, Expr, q->of->n + n + 1);
  int *places = tirc_new_array(q->s->c, int, q->of->n + n + 1), k = q->of->n;
  memcpy(values, q->of->values, (size_t)k * sizeof *values);
  for (int i = 0; i < n; i++)
    if (!is_name(q, loops[i]->var)) values[k++] = loops[i]->var;
  bool are_loops = true;
  for (int i = 0; i < k && are_loops; i++) {
    places[i] = loop_of_var(n_loops, loops, values[i]);
    are_loops = places[i] < n_loops;
  }
  if (are_loops) return tirc_z_keep_in(q->z, of_loops, k, places);
  return tirc_z_compose(q->z, tirc_z_reverse(q->z, tirc_carried_values_at(q, t, k, values, exact)),
                        of_loops);
}

/* Number i of the touches, if it stores to b, or loads from it. */
static Known *touch_at(Question *q, int i, Buffer b, bool write) {
  Known *k = &q->known.at[i];
  return k->touch->buffer == b && k->touch->write == write ? k : NULL;
}

/* The same, with its relations. */
Known *tirc_carried_touch_of(Question *q, int i, Buffer b, bool write) {
  Known *k = touch_at(q, i, b, write);
  const Touch *t = k ? k->touch : NULL;
  if (!k || k->is_known) return k;
  k->is_known = k->exact = true;
  k->at = tirc_relation_of(&q->r, t, &k->exact);
  k->whole = tirc_carried_by_iteration(q, t, k->at, 0, &k->exact);
  k->is_spared = !k->exact && (q->of->spared == SPARE_UNCERTAIN ||
                               (q->of->spared == SPARE_LOADED && loads_index(t)));
  return k;
}

/* --- what is stored before it is read --------------------------------------------------------- */

/* How many loops, outermost first, are around both. */
static int loops_in_common(const Question *q, const Touch *a, const Touch *b) {
  Place **of_a = tirc_place_loops(q->s->c, a->at), **of_b = tirc_place_loops(q->s->c, b->at);
  int n = 0;
  while (n < a->at->n_loops && n < b->at->n_loops && of_a[n] == of_b[n]) n++;
  return n;
}

/* Which statement it is in, in the innermost of its first n loops. */
static int time_in(const Question *q, const Touch *t, int n) {
  return n < t->at->n_loops ? tirc_place_loops(q->s->c, t->at)[n]->time : t->time;
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
  const ZMap stored = tirc_carried_by_iteration(q, store->touch, store->at, n, &exact);
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
    for (int i = 0; i < q->known.n; i++) {
      if (!touch_at(q, i, r->buffer, true) || !is_before(q, q->known.at[i].touch, r, n)) continue;
      const Known *k = tirc_carried_touch_of(q, i, r->buffer, true);
      found = true;
      if (!k->exact) continue;
      if (!left) left = tirc_carried_by_iteration(q, r, read->at, n, &exact);
      left = tirc_z_minus(q->z, left, tirc_carried_by_iteration(q, k->touch, k->at, n, &exact));
    }
    if (found) return tirc_z_is_empty(q->z, left) == ANSWER_YES;
  }
  return false;
}

/* What is read before the same iteration surely stored to it. Loop by loop, from the inside out, so
 * that tuples are short. */
ZMap tirc_carried_exposed(Question *q, const Known *read) {
  const Touch *r = read->touch;
  if (is_stored_outside(q, read)) return tirc_z_empty(q->z, q->of->n, r->n);
  Place **loops = tirc_place_loops(q->s->c, r->at);
  int most = 0, width = q->of->n;
  for (int i = 0; i < q->known.n; i++) {
    const Known *k = tirc_carried_touch_of(q, i, r->buffer, true);
    const int n = k ? loops_in_common(q, r, k->touch) : 0;
    if (n > most) most = n;
  }
  for (int i = 0; i < most; i++) width += !is_name(q, loops[i]->var);
  bool exact = true; /* as the read is */
  ZMap left = tirc_carried_by_iteration(q, r, read->at, most, &exact);
  for (int n = most;; n--) {
    const bool is_run = n > 0 && !is_name(q, loops[n - 1]->var);
    for (int i = 0; i < q->known.n; i++) {
      const Known *k = tirc_carried_touch_of(q, i, r->buffer, true);
      if (k && k->exact) left = uncovered(q, r, left, k, n, is_run ? width : 0);
    }
    if (!n || tirc_z_is_empty(q->z, left) == ANSWER_YES)
      return tirc_z_drop_in(q->z, left, q->of->n, width - q->of->n);
    if (is_run) left = tirc_z_drop_in(q->z, left, --width, 1);
  }
}

/* --- who meets whom --------------------------------------------------------------------------- */

static bool uses_iteration(const Question *q, Expr e) {
  bool uses = false;
  for (int i = 0; i < q->of->n && !uses; i++) {
    const Expr value = q->of->values[i];
    uses = value->op == OP_VAR ? tirc_uses_var(e, value) : !tirc_is_constant(value);
  }
  return uses;
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
  Expr *indices = tirc_new_array(q->s->c, Expr, t->n + 1);
  Expr *extents = tirc_new_array(q->s->c, Expr, t->n + 1);
  PtrMap used = {0};
  thin.n = 0;
  for (int d = 0; d < t->n; d++) {
    if (!tells_apart(q, t->buffer, d)) continue;
    indices[thin.n] = t->indices[d];
    extents[thin.n] = t->extents ? t->extents[d] : NULL;
    tirc_add_used(q->s->c, indices[thin.n], &used);
    tirc_add_used(q->s->c, extents[thin.n++], &used);
  }
  for (int i = 0; i < q->of->n; i++) tirc_add_used(q->s->c, q->of->values[i], &used);
  thin.indices = indices;
  thin.extents = t->extents ? extents : NULL;
  thin.at = tirc_place_of_used(q->s->c, t->at, &used, true);
  return thin;
}

static bool is_alike_touch(const Touch *a, const Touch *b) {
  if (a->buffer != b->buffer || a->n != b->n || !a->extents != !b->extents) return false;
  return tirc_same_exprs(a->n, a->indices, b->indices) &&
         (!a->extents || tirc_same_exprs(a->n, a->extents, b->extents)) &&
         tirc_same_place(a->at, b->at);
}

static ZMap thin_of(Question *q, Known *k) {
  const Touch *t = k->touch;
  if (k->is_thin) return k->of_thin;
  k->thin = thin_touch(q, t);
  k->is_thin = true;
  for (int i = 0; i < q->known.n; i++) {
    const Known *other = &q->known.at[i];
    if (other->is_thin && other->of_thin && is_alike_touch(&other->thin, &k->thin))
      return k->of_thin = other->of_thin;
  }
  bool exact = true;
  if (k->thin.n && (k->thin.n < t->n || k->thin.at != t->at))
    k->of_thin = tirc_carried_by_iteration(q, &k->thin, tirc_relation_of(&q->r, &k->thin, &exact),
                                           0, &exact);
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
  vec_push(q->s->c, q->thin, asked);
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
  for (int i = 0; i < q->known.n; i++) {
    Known *read = touch_at(q, i, b, false);
    ZMap before = NULL; /* its own stores */
    for (int k = 0; read && k < q->known.n; k++) {
      Known *store = touch_at(q, k, b, true);
      if (!store || thinly_apart(q, store, read)) continue;
      if (tirc_carried_touch_of(q, i, b, false)->is_spared ||
          tirc_carried_touch_of(q, k, b, true)->is_spared)
        continue;
      if (!meets(q, store, store->whole, read, read->whole, meet)) continue;
      if (!before) before = tirc_carried_exposed(q, read);
      if (meets(q, store, store->whole, read, before, meet)) return true;
    }
  }
  return false;
}

static bool stores_meet(Question *q, Buffer b, Meet *meet) {
  for (int i = 0; i < q->known.n; i++)
    for (int k = i; k < q->known.n; k++) {
      Known *x = touch_at(q, i, b, true), *y = touch_at(q, k, b, true);
      if (!x || !y || thinly_apart(q, x, y)) continue;
      if (tirc_carried_touch_of(q, i, b, true)->is_spared ||
          tirc_carried_touch_of(q, k, b, true)->is_spared)
        continue;
      if (meets(q, x, x->whole, y, y->whole, meet))
        return !tirc_carried_is_alike(q, tirc_carried_stored_of(q, b));
    }
  return false;
}

static bool ask(Question *q, int n, const Watched *watched, Meet *meet) {
  for (int i = 0; i < n; i++) {
    const WatchKind kind = watched[i].kind;
    if (kind >= WATCH_READS && reads_meet(q, watched[i].buffer, meet)) return true;
    if ((kind == WATCH_STORES || kind == WATCH_ALL) && stores_meet(q, watched[i].buffer, meet))
      return true;
  }
  return false;
}

/* While the sets are there. */
static Made *know_made(Question *q) {
  const Touches *touches = &q->of->x->touches;
  Made *made = tirc_new_array(q->s->c, Made, touches->n + 1);
  for (int i = 0; i < q->known.n; i++) {
    const Touch *t = q->known.at[i].touch;
    if (t->write) made[t - touches->at] = tirc_carried_made_of(q, t);
  }
  return made;
}

/* Begins with all touches of buffers that are stored to. */
static Question question_of(const Iterations *of) {
  Sched *s = of->s;
  const Touches *touches = &of->x->touches;
  Question q = {.of = of, .s = s, .z = tirc_sets_of(s)};
  q.r = (Relations){.s = s, .sets = q.z, .nest = of->nest};
  for (int i = 0; i < touches->n; i++)
    if (touches->at[i].write && !tirc_carried_stored_of(&q, touches->at[i].buffer))
      vec_push(s->c, q.stored, ((Stored){.buffer = touches->at[i].buffer}));
  for (int i = 0; i < touches->n; i++)
    if (tirc_carried_stored_of(&q, touches->at[i].buffer))
      vec_push(s->c, q.known, ((Known){.touch = &touches->at[i]}));
  tirc_sets_begin(q.z, BUDGET);
  return q;
}

/* Of an update: the element that is stored to as well, or one that an earlier touch has been. */
static bool is_repeated(const Question *q, int i) {
  const Touch *t = q->known.at[i].touch;
  for (int k = 0; k < q->known.n; k++) {
    const Touch *other = q->known.at[k].touch;
    if (other->stmt != t->stmt || other->buffer != t->buffer || !other->write || t->write ||
        t->extents)
      continue;
    if (tirc_carried_is_own(other, t->load)) return true;
  }
  return false;
}

static bool are_apart(Question *q, Buffer b) {
  Meet meet;
  for (int i = 0; i < q->known.n; i++) {
    Known *store = touch_at(q, i, b, true);
    for (int k = 0; store && k < q->known.n; k++) {
      const bool write = q->known.at[k].touch->write;
      if ((write && k < i) || is_repeated(q, k)) continue;
      Known *other = touch_at(q, k, b, write);
      if (!other || thinly_apart(q, store, other)) continue;
      tirc_carried_touch_of(q, i, b, true), tirc_carried_touch_of(q, k, b, write);
      if (meets(q, store, store->whole, other, other->whole, &meet)) return false;
    }
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
  Watched *asked = tirc_new_array(q.s->c, Watched, n + 1);
  int n_asked = 0;
  for (int i = 0; i < n; i++) {
    Stored *b = tirc_carried_stored_of(&q, watched[i].buffer);
    if (!b || tirc_map_has(&of->x->own, b->buffer)) continue;
    b->shared = watched[i].shared;
    asked[n_asked++] = watched[i];
  }
  q.width = width_of_times(&q);
  const bool met = ask(&q, n_asked, asked, meet);
  const Made *made = met && !meet->witness ? know_made(&q) : NULL;
  tirc_sets_end(q.z);
  return met && (!made || tirc_finite_meet(of, made, n_asked, asked, meet));
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
  const bool found = tirc_carried_reads_own_stores(&q, b);
  tirc_sets_end(q.z);
  return found;
}
