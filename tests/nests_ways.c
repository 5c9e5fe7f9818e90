/* Which accesses meet:
 *
 *   where they meet, the second one is so many steps of each dimension away from the first
 *     -> so many iterations of each loop
 *     -> of which a new order turns the first that is not 0 around, or which a parallel loop
 * carries
 */
#include "nests_draw.h"

static int64_t mod(int64_t a, int64_t b) { return (a % b + b) % b; }
static int64_t gcd(int64_t a, int64_t b) { return b ? gcd(b, a % b) : a; }

/* How many steps of a dimension access y is behind access x when they meet: some of all, such that
 * each sign is among them. Not looked at: whether it is as far as that in the program. */
static int steps_between(const Draw *d, int k, const Access *x, const Access *y,
                         const int64_t *before, int64_t *out) {
  const Dim *dim = &d->dims[k];
  int64_t diff = x->off[k] - y->off[k];
  switch (dim->form) {
  case FORM_FREE: out[0] = 0, out[1] = 1, out[2] = -1; return 3;
  case FORM_WRAP:
    diff = mod(diff, dim->size);
    out[0] = diff, out[1] = diff - dim->size;
    if (!diff || dim->size < FAR) return diff ? 2 : 1;
    out[0] = 0, out[1] = 1, out[2] = -1; /* each of some sizes: the offset, and one more or less */
    return 3;
  case FORM_MOD: {
    const int64_t period = dim->mod / gcd(dim->times, dim->mod);
    out[0] = diff ? mod(diff, dim->mod) : 0; /* if so, times is 1 */
    out[1] = out[0] - period, out[2] = out[0] + period;
    return 3;
  }
  default:
    if (dim->skew_by >= 0) diff -= dim->skew * before[dim->skew_by];
    if (diff % dim->stride) return 0;
    out[0] = diff / dim->stride;
    return 1;
  }
}

/* Whether some v is in [from, to) with v % tile in [a, b). */
static bool has_digit(int64_t from, int64_t to, int64_t tile, int64_t a, int64_t b) {
  if (a >= b || from >= to) return false;
  const int64_t first = mod(from, tile);
  return (first >= a && first < b) || from + mod(a - from, tile) < to;
}

enum { MOST_WAYS = 256 };
typedef struct Way { /* iterations of each loop of the chain */
  int64_t at[NEST_LOOPS];
} Way;
typedef struct Ways {
  int n;
  Way at[MOST_WAYS];
} Ways;

static void add_ways(const Draw *d, const Access *x, const Access *y, int k, int64_t *steps,
                     Way way, Ways *out) {
  if (k == d->n_dims) {
    if (out->n < MOST_WAYS) out->at[out->n++] = way;
    return;
  }
  const Dim *dim = &d->dims[k];
  int64_t each[3];
  const int n = steps_between(d, k, x, y, steps, each);
  for (int i = 0; i < n; i++) {
    const int64_t s = steps[k] = each[i], of_x = dim->guard[x->block], of_y = dim->guard[y->block];
    if (s <= -of_x || s >= of_y) continue;
    Way w = way;
    if (dim->how != HOW_TILE) {
      w.at[dim->place[0]] +=
          dim->how == HOW_FUSED && k + 1 < NEST_DIMS ? s * d->dims[k + 1].size : s;
      add_ways(d, x, y, k + 1, steps, w, out);
      continue;
    }
    const int64_t t = dim->tile, r = mod(s, t), q = (s - r) / t;
    const int64_t from = s < 0 ? -s : 0, to = of_x < of_y - s ? of_x : of_y - s;
    for (int carry = 0; carry < 2; carry++) {
      if (!has_digit(from, to, t, carry ? t - r : 0, carry ? t : t - r)) continue;
      w.at[dim->place[0]] = q + carry;
      w.at[dim->place[1]] = r - carry * t;
      add_ways(d, x, y, k + 1, steps, w, out);
    }
  }
}

static int sign_in(const Way *w, int n, const int *order) {
  for (int i = 0; i < n; i++)
    if (w->at[order[i]]) return w->at[order[i]] < 0 ? -1 : 1;
  return 0;
}

/* Whether the call turns it around, or lets both run at the same time. */
static bool breaks(const Draw *d, const Way *w, int n) {
  static const int as_is[NEST_LOOPS] = {0, 1, 2, 3, 4, 5, 6, 7};
  int order[NEST_LOOPS];
  if (d->n->call == CALL_REORDER) {
    nest_order(d->n, order);
    return sign_in(w, n, as_is) != sign_in(w, n, order);
  }
  const int loop = d->n->given[0];
  for (int i = 0; i < loop; i++)
    if (w->at[i]) return false;
  return loop < n && w->at[loop] != 0;
}

/* Whether it matters to the call that the two come in their order. */
static bool matters(const Draw *d, const Access *x, const Access *y) {
  if (!x->store) return false;
  if (d->n->call != CALL_REORDER) return true;
  /* Of one block's stores to an element the last one is the same in all orders: the dimensions
   * along which it is stored to again are independent. */
  if (y->store) return x->block != y->block;
  return !d->commutes || x->block != y->block || memcmp(x->off, y->off, sizeof x->off) != 0;
}

Truth draw_decide(Draw *d) {
  Nest *n = d->n;
  for (int i = 0; i < d->n_accesses; i++)
    for (int j = 0; j < d->n_accesses; j++) {
      const Access *x = &d->accesses[i], *y = &d->accesses[j];
      if (!matters(d, x, y)) continue;
      /* The chain is that of the first block; the other one has only the shared loops of it. */
      const int loops = x->block || y->block ? d->n_shared : n->n_chain;
      int64_t steps[NEST_DIMS];
      Ways ways = {0};
      add_ways(d, x, y, 0, steps, (Way){{0}}, &ways);
      for (int k = 0; k < ways.n; k++) {
        if (!breaks(d, &ways.at[k], loops)) continue;
        Text t = {.c = d->c};
        tirc_text_add(&t, "iterations meet that are apart by (");
        for (int l = 0; l < loops; l++)
          tirc_text_addf(&t, "%s%lld", l ? ", " : "", (long long)ways.at[k].at[l]);
        tirc_text_addf(&t, "): a store of block %c and a %s of block %c", "PQ"[x->block],
                       y -> store ? "store" : "load", "PQ"[y->block]);
        n->why = t.at;
        return TRUTH_ILLEGAL;
      }
    }
  return TRUTH_LEGAL;
}
