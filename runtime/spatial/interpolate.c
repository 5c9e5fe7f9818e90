/* Counts of large sizes from small ones.
 *
 * With the array, the factors and the remainders fixed, each count is of degree one in the number
 * of steps of each loop, above a size from which on all carries and borders occur and no window
 * reaches over a whole row. So two sizes of each of n loops, 2^n small mappings, give all others:
 *
 *   f(x) = f(a) + (x - a) / (b - a) * (f(b) - f(a)), one loop after the other, in integers.
 *
 * Why that is so, for a loop L of n steps outside of the array, all other extents as they are. Say
 * that one unit of L more (a unit is as many steps as all divisions take to come round) moves the
 * indices of all references to a tensor by the same constants v, and no condition but the end of
 * L's own iterator hangs on L (Repeats, below, asks both of the indices). Cut the stamps into
 * slices, by the value of L's coordinate, which a skew spreads over n + S values. What runs at a
 * slice hangs on n only within S of either end, and is otherwise the same from slice to slice,
 * shifted by v. Counts compare items at a stamp with items at the same one and the one before,
 * which are in the same slice, or in the one before, or, at a first slice, in the last slice of the
 * turn before, n - 1 steps away. A shift common to both sides changes no comparison. At the first
 * slice the two sides are (n - 1) v apart: if v is 0 that hangs on n no more, and if the units
 * between them reach farther than all that a slice touches, they have nothing in common. So every
 * slice between the ends adds the same, and the ends add constants: the sum is of degree one in n.
 * The items that are touched at all grow by those of a slice that no earlier one has, which from
 * the same distance on is a constant. Of several loops this holds for each, with the others at any
 * size from the low one on, and a function of degree one in each is told by its 2^n corners.
 *
 * Where that cannot be shown of the indices, third sizes, of each loop and of all together, must
 * lie on the line, as they must anyhow, and the report says that this is all. What is not on the
 * line makes the small sizes twice as large, and then the count goes instance by instance. The
 * greatest counts (of one stamp) are no such sums: one is told where all small mappings agree on
 * it. */
#include "spatial.h"

#include "ir/tree/visit.h"

#include <stdlib.h>

enum { MOST_LONG = 12, ROUNDS = 3 };

int tirc_count_row(const Mapping *m, Counts *k, int64_t **row) {
  int64_t *const all[] = {&k->instances, &k->time_stamps, &k->pes_used, &k->space_time,
                          &k->busy,      &k->folds,       &k->unfounded};
  int64_t *const most[] = {&k->active_max, &k->ties_max, &k->peak_ingress, &k->peak_egress};
  int n = 0;
  for (int i = 0; i < STEADY; i++) row[n++] = all[i];
  for (int t = 0; t < m->n_tensors; t++) {
    TensorCount *x = &k->tensors[t];
    int64_t *const own[] = {&x->total, &x->unique, &x->own_only, &x->spatial, &x->distinct};
    for (int i = 0; i < STEADY_OF_TENSOR; i++) row[n++] = own[i];
  }
  for (int i = 0; i < GREATEST; i++) row[n++] = most[i];
  for (int t = 0; t < m->n_tensors; t++) row[n++] = &k->tensors[t].peak;
  return n;
}

typedef struct Long { /* an iterator that is long enough to be made shorter */
  int iter;
  int64_t low, unit, steps; /* from its low size to its own, in units */
} Long;

typedef struct Small {
  Tirc *c;
  const Mapping *m;
  const ArraySpec *spec;
  int n;
  Long at[MOST_LONG];
  int rows, steady; /* of a row: counts, and those of degree one */
  int64_t *corners; /* 2^n rows */
  int64_t *most;    /* the greatest ones, -1 where small mappings differ */
  bool any;
  int counted, guards; /* guards: of those counted, the third sizes */
  int64_t work, limit;
} Small;

/* --- how small -------------------------------------------------------------------------------- */

/* How far the other terms of an index reach, in steps of this iterator: rows must be longer. */
static int64_t window_of(const Small *s, Expr index, int iter) {
  Tirc *c = s->c;
  const Expr var = s->m->iters[iter].var;
  Analyzer *a = tirc_analyzer(c);
  PtrMap zero = {0};
  if (!tirc_uses_var(index, var)) return 0;
  for (int i = 0; i < s->m->n_iters; i++) {
    const MapIter *it = &s->m->iters[i];
    const int64_t n = i == iter ? 1 : it->extent;
    tirc_bind_range(a, it->var,
                    tirc_range(tirc_int(c, it->var->dtype, 0), tirc_int(c, it->var->dtype, n)));
    if (i != iter) tirc_map_set(c, &zero, it->var, tirc_int(c, it->var->dtype, 0));
  }
  const Bound all = tirc_const_bound(a, index);
  const Expr alone = tirc_substitute(c, index, &zero);
  int64_t first = 0, next = 0;
  tirc_const_int(tirc_simplify0(c, tirc_substitute1(c, alone, var, tirc_int(c, var->dtype, 0))),
                 &first);
  tirc_const_int(tirc_simplify0(c, tirc_substitute1(c, alone, var, tirc_int(c, var->dtype, 1))),
                 &next);
  const int64_t step = next - first > 1 ? next - first : 1;
  if (all.min == TIRC_NEG_INF || all.max == TIRC_POS_INF) return INT32_MAX;
  return (all.max - all.min) / step + 2;
}

/* How far a skew spreads the steps of the loop: all elements are to be at work at one time. */
static int64_t spread_of(const Mapping *m, int lead) {
  int64_t spread = 0;
  for (int i = 0; i < m->n_loops; i++)
    if (m->loops[i].axis >= 0)
      spread += llabs(m->loops[lead].skew[m->loops[i].axis]) * (m->loops[i].extent - 1);
  return spread;
}

static int64_t least_extent(const Small *s, int iter, int64_t tiles) {
  const MapIter *it = &s->m->iters[iter];
  int64_t window = 2 * tiles;
  const int64_t spread = (spread_of(s->m, it->lead) + 2) * it->step;
  if (spread > window) window = spread;
  for (int t = 0; t < s->m->n_tensors; t++)
    for (int r = 0; r < s->m->tensors[t].n; r++)
      for (int d = 0; d < s->m->tensors[t].refs[r].n; d++) {
        const int64_t w = window_of(s, s->m->tensors[t].refs[r].plain[d], iter);
        if (w > window) window = w;
      }
  const int64_t low = it->extent % it->unit + tiles * it->unit;
  return window > low ? low + (window - low + it->unit - 1) / it->unit * it->unit : low;
}

static void find_long(Small *s, int64_t tiles) {
  s->n = 0;
  for (int i = 0; i < s->m->n_iters && s->n < MOST_LONG; i++) {
    const MapIter *it = &s->m->iters[i];
    if (it->lead < 0) continue;
    const int64_t low = least_extent(s, i, tiles);
    if (it->extent < low + 2 * it->unit) continue;
    s->at[s->n++] = (Long){i, low, it->unit, (it->extent - low) / it->unit};
  }
}

/* --- what repeats itself ---------------------------------------------------------------------- */

typedef struct Repeats {
  const Small *s;
  const Long *at;
  Expr var;              /* of the loop that counts the iterator's units */
  int64_t turns;         /* of it in a unit */
  Analyzer *all, *slice; /* all loops as they are; this one over one unit */
} Repeats;

/* How far one unit moves an index; false: by no constant. */
static bool moves(const Repeats *r, Expr index, int64_t *by) {
  Tirc *c = r->s->c;
  const Expr more = tirc_add(c, r->var, tirc_int(c, r->var->dtype, r->turns));
  const Expr next = tirc_substitute1(c, index, r->var, more);
  return tirc_const_int(tirc_simplify(r->all, tirc_sub(c, next, index)), by);
}

/* How one unit moves a dimension of all references; parts: so far that slices at both ends have no
 * item in common. False: not by one constant. */
static bool dimension_moves(const Repeats *r, const MapTensor *t, int d, int64_t *by, bool *parts) {
  Bound all = {INT64_MAX, INT64_MIN};
  int64_t own = 0;
  for (int i = 0; i < t->n; i++) {
    const Expr index = t->refs[i].indices[d];
    if (!moves(r, index, &own) || (i && own != *by)) return false;
    *by = own;
    const Bound b = tirc_const_bound(r->slice, index);
    if (b.min < all.min) all.min = b.min;
    if (b.max > all.max) all.max = b.max;
  }
  const int64_t units = r->at->low / r->at->unit;
  const bool known =
      all.min > -INT32_MAX && all.max < INT32_MAX && llabs(*by) < INT32_MAX && units < INT32_MAX;
  *parts = known && llabs(*by) * (units - 1) > all.max - all.min;
  return true;
}

static bool tensor_repeats(const Repeats *r, const MapTensor *t) {
  bool moved = false, parted = false;
  for (int d = 0; d < t->refs[0].n; d++) {
    int64_t by = 0;
    bool parts;
    if (!dimension_moves(r, t, d, &by, &parts)) return false;
    moved |= by != 0;
    parted |= parts;
  }
  for (int i = 0; i < t->n; i++)
    for (int k = 0; k < t->refs[i].when.n; k++)
      if (tirc_uses_var(t->refs[i].when.at[k].value, r->var)) return false;
  return !moved || parted;
}

/* Whether the argument above holds of the loop. That no other condition hangs on it is known since
 * it became the iterator's lead. */
static bool repeats(const Small *s, const Long *at) {
  Tirc *c = s->c;
  const MapIter *it = &s->m->iters[at->iter];
  const MapLoop *loop = &s->m->loops[it->lead];
  Repeats r = {s, at, loop->var, at->unit / it->step, tirc_analyzer(c), tirc_analyzer(c)};
  if ((loop->extent - 1) * it->step >= it->extent || loop->extent * it->step < it->extent)
    return false; /* it runs on where nothing happens */
  for (int i = 0; i < s->m->n_loops; i++) {
    const MapLoop *l = &s->m->loops[i];
    const DType t = l->var->dtype;
    const int64_t n = l == loop ? r.turns : l->extent;
    if (l != loop)
      tirc_bind_range(r.all, l->var, tirc_range(tirc_int(c, t, l->min), tirc_int(c, t, l->extent)));
    tirc_bind_range(r.slice, l->var, tirc_range(tirc_int(c, t, l->min), tirc_int(c, t, n)));
  }
  for (int t = 0; t < s->m->n_tensors; t++)
    if (!tensor_repeats(&r, &s->m->tensors[t])) return false;
  return true;
}

/* --- counting small mappings ------------------------------------------------------------------ */

static const Mapping *shortened(const Small *s, const int64_t *units) {
  int64_t *extents = tirc_new_array(s->c, int64_t, s->m->n_iters + 1);
  for (int i = 0; i < s->m->n_iters; i++) extents[i] = s->m->iters[i].extent;
  for (int i = 0; i < s->n; i++) extents[s->at[i].iter] = s->at[i].low + units[i] * s->at[i].unit;
  return tirc_mapping_resized(s->m, extents);
}

/* False: it would be too much work. */
static bool count_small(Small *s, const int64_t *units, int64_t *row) {
  const ArenaMark mark = tirc_mark(s->c);
  const Mapping *m = shortened(s, units);
  const int64_t n = tirc_mapping_instances(m);
  if (n < 0 || s->work + n > s->limit) return false;
  Counts k = tirc_count_mapping(s->c, m, s->spec);
  int64_t *at[STEADY + GREATEST + (STEADY_OF_TENSOR + GREATEST_OF_TENSOR) * 64];
  const int rows = tirc_count_row(m, &k, at);
  for (int i = 0; i < rows; i++) row[i] = *at[i];
  for (int i = s->steady; i < rows; i++) s->most[i] = s->any && s->most[i] != row[i] ? -1 : row[i];
  s->any = true;
  s->counted++;
  s->work += n;
  tirc_rewind(s->c, mark);
  return true;
}

static bool count_corners(Small *s) {
  int64_t units[MOST_LONG];
  for (int k = 0; k < 1 << s->n; k++) {
    for (int i = 0; i < s->n; i++) units[i] = k >> i & 1;
    if (!count_small(s, units, s->corners + (int64_t)k * s->rows)) return false;
  }
  return true;
}

/* A count so many units away from the low sizes; false: it is more than there are numbers. */
static bool extend(const Small *s, int count, const int64_t *units, int64_t *out) {
  int64_t *v = tirc_new_array(s->c, int64_t, 1 << s->n);
  for (int k = 0; k < 1 << s->n; k++) v[k] = s->corners[(int64_t)k * s->rows + count];
  for (int i = s->n - 1; i >= 0; i--)
    for (int k = 0; k < 1 << i; k++) {
      int64_t more;
      if (__builtin_mul_overflow(v[k | 1 << i] - v[k], units[i], &more) ||
          __builtin_add_overflow(v[k], more, &v[k]))
        return false;
    }
  *out = v[0];
  return true;
}

/* 1: the third size is on the line; 0: it is not; -1: too much work. */
static int guard(Small *s, const int64_t *units) {
  int64_t *row = tirc_new_array(s->c, int64_t, s->rows), told;
  if (!count_small(s, units, row)) return -1;
  s->guards++;
  for (int i = 0; i < s->steady; i++)
    if (!extend(s, i, units, &told) || told != row[i]) return 0;
  return 1;
}

static int guard_all(Small *s) {
  int64_t units[MOST_LONG];
  for (int one = 0; one <= s->n; one++) {
    if (one == s->n && s->n == 1) break;
    for (int i = 0; i < s->n; i++) units[i] = one == s->n || i == one ? 2 : 0;
    const int on_line = guard(s, units);
    if (on_line != 1) return on_line;
  }
  return 1;
}

static bool count_from_small(Small *s, Exactly *out) {
  s->any = false;
  s->guards = 0;
  if (!count_corners(s) || guard_all(s) != 1) return false;
  int64_t units[MOST_LONG], *at[STEADY + GREATEST + (STEADY_OF_TENSOR + GREATEST_OF_TENSOR) * 64];
  for (int i = 0; i < s->n; i++) units[i] = s->at[i].steps;
  out->counts.tensors = tirc_new_array(s->c, TensorCount, s->m->n_tensors + 1);
  const int rows = tirc_count_row(s->m, &out->counts, at);
  for (int i = 0; i < rows; i++) {
    if (i >= s->steady)
      *at[i] = s->most[i];
    else if (!extend(s, i, units, at[i]))
      return false;
  }
  out->interpolated = out->proved = true;
  for (int i = 0; i < s->n; i++) out->proved &= repeats(s, &s->at[i]);
  out->guards = s->guards;
  out->small = s->counted;
  out->work = s->work;
  return true;
}

/* --- formulas --------------------------------------------------------------------------------- */

/* From the corners to a sum of products of extents, over one denominator. */
static Formula formula_of(const Small *s, int count) {
  const int n = 1 << s->n;
  int64_t *v = tirc_new_array(s->c, int64_t, n), below = 1;
  Monomial *at = tirc_new_array(s->c, Monomial, n);
  Formula out = {0, at};
  for (int i = 0; i < s->n; i++) below *= s->at[i].unit;
  for (int k = 0; k < n; k++)
    if (__builtin_mul_overflow(s->corners[(int64_t)k * s->rows + count], below, &v[k]))
      return (Formula){0};
  for (int i = 0; i < s->n; i++)
    for (int k = 0; k < n; k++)
      if (!(k >> i & 1)) {
        const int64_t slope = (v[k | 1 << i] - v[k]) / s->at[i].unit;
        v[k | 1 << i] = slope;
        v[k] -= slope * s->at[i].low;
      }
  for (int k = n - 1; k >= 0; k--) {
    if (!v[k]) continue;
    const int64_t by = tirc_gcd(v[k], below);
    unsigned extents = 0;
    for (int i = 0; i < s->n; i++)
      if (k >> i & 1) extents |= 1u << s->at[i].iter;
    at[out.n++] = (Monomial){extents, v[k] / by, below / by};
  }
  return out;
}

static void make_formulas(const Small *s, Exactly *out) {
  Formula *all = tirc_new_array(s->c, Formula, s->steady);
  int64_t *least = tirc_new_array(s->c, int64_t, s->m->n_iters + 1);
  for (int i = 0; i < s->steady; i++) all[i] = formula_of(s, i);
  for (int i = 0; i < s->n; i++) least[s->at[i].iter] = s->at[i].low;
  out->formulas = all;
  out->least = least;
}

/* --- the ladder ------------------------------------------------------------------------------- */

static _Noreturn void too_much(const Mapping *m, int64_t n, int64_t most) {
  tirc_fail(
      m->c, m->loc, CODE_PE_ARRAY, "--limit N counts up to N instances one by one",
      n < 0 ? "the number of instances overflows, and their cost does not follow from small sizes"
            : "the cost of %lld instances does not follow from small sizes, and at most %lld are "
              "counted one by one: no exact answer is known",
      (long long)n, (long long)most);
}

static bool try_small(Small *s, const HowExactly *how, Exactly *out) {
  int64_t tiles = 2;
  for (int round = 0; round < ROUNDS; round++, tiles *= 2) {
    find_long(s, tiles);
    if (!s->n) return false;
    s->corners = tirc_new_array(s->c, int64_t, (int64_t)s->rows << s->n);
    if (!count_from_small(s, out)) continue;
    if (how->formulas) make_formulas(s, out);
    return true;
  }
  return false;
}

Exactly tirc_count_exactly(Tirc *c, const Mapping *m, const ArraySpec *spec, HowExactly how) {
  Exactly out = {0};
  const int64_t n = tirc_mapping_instances(m);
  int64_t *at[STEADY + GREATEST + (STEADY_OF_TENSOR + GREATEST_OF_TENSOR) * 64];
  Counts none = {.tensors = tirc_new_array(c, TensorCount, m->n_tensors + 1)};
  if (m->n_tensors > 64)
    tirc_fail(c, m->loc, CODE_PE_ARRAY, NULL, "the statement touches more than 64 tensors");
  Small s = {.c = c, .m = m, .spec = spec, .rows = tirc_count_row(m, &none, at)};
  s.steady = STEADY + STEADY_OF_TENSOR * m->n_tensors;
  s.most = tirc_new_array(c, int64_t, s.rows);
  s.limit = how.most;
  const bool one_by_one = n >= 0 && n <= how.enumerate;
  if ((!one_by_one || how.formulas) && try_small(&s, &how, &out) && !one_by_one) return out;
  if (n < 0 || (!one_by_one && n > how.most)) too_much(m, n, how.most);
  out.interpolated = false;
  out.counts = tirc_count_mapping(c, m, spec);
  return out;
}
