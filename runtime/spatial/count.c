/* Counts a mapping stamp by stamp. Of what each PE holds only the present stamp and the one before
 * are kept.
 *
 * An index is a sum of parts of which each hangs on one time loop, on where the instance runs, or
 * on the loops that share a stamp: tables of them are made once. What mixes these, (ox + rx) // 2,
 * is evaluated for each instance. */
#include "form.h"
#include "shifted.h"
#include "spatial.h"

#include <stdlib.h>

typedef struct Held { /* by a PE, ascending, each once */
  int64_t *at;
  int n;
  int64_t shift; /* of the one set that all hold, shifted; n: whether it does */
} Held;

typedef struct Tensor {
  const MapTensor *is;
  bool counts_instances; /* what one instance touches is not one element: refs, conditions */
  Form *codes;           /* one a reference */
  Form **when;           /* conditions of each */
  Ties *ties;            /* of the loops that count; all where a condition hangs on them */
  int cap;
  Held *now, *before;   /* one a PE */
  Shifted *shifted;     /* what PEs hold is one set, shifted; NULL: it is not */
  uint64_t *near, *own; /* bits of it */
  int64_t size;         /* of its box: codes are below */
  uint64_t *seen;
  int64_t fresh; /* loaded at this stamp */
  TensorCount n;
} Tensor;

typedef struct Counter {
  Tirc *c;
  const Mapping *m;
  const ArraySpec *spec;
  Space s;
  Form *tests;
  bool *test_by_tie; /* hangs on the loops that share a stamp */
  bool ties_tested;
  Ties *ties;    /* all */
  bool *runs;    /* of these, at this PE and stamp */
  int n_running; /* of them */
  Tensor *tensors;
  bool *used;
  int *active, n_active; /* PEs at this stamp */
  uint8_t *marks;
  bool cyclic;
  Counts n;
} Counter;

enum { OWN = 1, NEAR_BEFORE = 2, NEAR_NOW = 4, FOUNDED = 8 };

/* --- sets ------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static int order(int64_t *at, int n) {
  bool sorted = true;
  for (int i = 1; i < n && sorted; i++) sorted = at[i - 1] < at[i];
  if (sorted) return n;
  if (n > 24)
    qsort(at, (size_t)n, sizeof *at, compare);
  else
    for (int i = 1; i < n; i++)
      for (int k = i; k > 0 && at[k - 1] > at[k]; k--) {
        const int64_t other = at[k];
        at[k] = at[k - 1];
        at[k - 1] = other;
      }
  int kept = 1;
  for (int i = 1; i < n; i++)
    if (at[i] != at[kept - 1]) at[kept++] = at[i];
  return kept;
}

static void mark_shared(Held mine, Held other, uint8_t *marks, uint8_t bit) {
  if (!mine.n || !other.n || mine.at[mine.n - 1] < other.at[0] ||
      other.at[other.n - 1] < mine.at[0])
    return;
  for (int i = 0, k = 0; i < mine.n && k < other.n;) {
    if (mine.at[i] == other.at[k]) marks[i] |= bit;
    const bool ahead = mine.at[i] <= other.at[k];
    k += mine.at[i] >= other.at[k];
    i += ahead;
  }
}

/* --- what an element of the array touches ----------------------------------------------------- */

static bool holds(TestKind kind, int64_t value) {
  return kind == TEST_NEGATIVE ? value < 0 : kind == TEST_ZERO ? value == 0 : value != 0;
}

/* Which instances run at this PE and stamp. */
static void find_running(Counter *k) {
  const MapTests *tests = &k->m->tests;
  k->n_running = 0;
  for (int i = 0; i < tests->n; i++)
    if (!k->test_by_tie[i] &&
        !holds(tests->at[i].kind, tirc_form_at(&k->s, &k->tests[i], k->ties, 0)))
      return;
  if (!k->ties_tested) {
    k->n_running = k->ties->n;
    return;
  }
  for (int j = 0; j < k->ties->n; j++) {
    bool runs = true;
    for (int i = 0; i < tests->n && runs; i++)
      if (k->test_by_tie[i])
        runs = holds(tests->at[i].kind, tirc_form_at(&k->s, &k->tests[i], k->ties, j));
    k->runs[j] = runs;
    k->n_running += runs;
  }
}

static bool is_touched(Counter *k, const Tensor *t, int ref, int tie) {
  const MapTests *when = &t->is->refs[ref].when;
  for (int i = 0; i < when->n; i++)
    if (!holds(when->at[i].kind, tirc_form_at(&k->s, &t->when[ref][i], t->ties, tie))) return false;
  return true;
}

static void gather_one_by_one(Counter *k, Tensor *t, Held *held) {
  for (int j = 0; j < t->ties->n; j++) {
    if (k->ties_tested && !k->runs[j]) continue;
    int64_t *own = held->at + held->n;
    int n = 0;
    for (int r = 0; r < t->is->n; r++)
      if (is_touched(k, t, r, j)) own[n++] = tirc_form_at(&k->s, &t->codes[r], t->ties, j);
    n = order(own, n);
    t->n.total += (int64_t)n * (k->ties->n / t->ties->n);
    held->n += n;
  }
}

static void gather(Counter *k, Tensor *t, Held *held) {
  held->n = 0;
  if (t->shifted) {
    held->n = 1;
    held->shift = tirc_form_here(&k->s, &t->codes[0]);
    t->n.total += k->n_running;
    return;
  }
  if (t->counts_instances) {
    gather_one_by_one(k, t, held);
  } else {
    const int64_t here = tirc_form_here(&k->s, &t->codes[0]);
    const bool mixed = t->codes[0].n_mixed > 0;
    for (int j = 0; j < t->ties->n; j++)
      if (!k->ties_tested || k->runs[j])
        held->at[held->n++] =
            mixed ? tirc_form_at(&k->s, &t->codes[0], t->ties, j) : here + t->codes[0].by_tie[j];
    t->n.total += k->n_running;
  }
  held->n = order(held->at, held->n);
  if (held->n && (held->at[0] < 0 || held->at[held->n - 1] >= t->size))
    tirc_fail(k->c, (Loc){0}, CODE_PE_ARRAY, "the index must stay within the tensor's shape",
              "an index of %s leaves the tensor", t->is->buffer->name);
  for (int i = 0; i < held->n; i++) t->seen[held->at[i] >> 6] |= 1ull << (held->at[i] & 63);
}

/* --- a stamp ---------------------------------------------------------------------------------- */

static void run_at(Counter *k, int pe) {
  tirc_space_enter(&k->s, pe);
  for (int t = 0; t < k->m->n_tensors; t++) k->tensors[t].now[pe].n = 0;
  if (!k->s.here) return;
  find_running(k);
  if (!k->n_running) return;
  k->active[k->n_active++] = pe;
  k->used[pe] = true;
  k->n.instances += k->n_running;
  for (int t = 0; t < k->m->n_tensors; t++) gather(k, &k->tensors[t], &k->tensors[t].now[pe]);
}

/* The PE that pe takes from by a link; -1: it is outside, or nothing runs there. */
static int source_of(const Counter *k, int pe, const int64_t delta[PE_AXES]) {
  int out = 0;
  for (int a = 0; a < PE_AXES; a++) {
    const int64_t x = k->s.at[pe][a] + delta[a];
    if (x < 0 || x >= k->s.size[a]) return -1;
    out = out * (int)k->s.size[a] + (int)x;
  }
  return out == pe ? -1 : out;
}

static void mark_near(Counter *k, Tensor *t, int pe, uint8_t *marks) {
  const ArraySpec *spec = k->spec;
  for (int d = 0; d < spec->n_deltas; d++) {
    const int from = source_of(k, pe, spec->deltas[d]);
    if (from < 0) continue;
    if (spec->same_time) mark_shared(t->now[pe], t->now[from], marks, NEAR_NOW);
    if (spec->prev_time) mark_shared(t->now[pe], t->before[from], marks, NEAR_BEFORE);
  }
}

static void account(Counter *k, Tensor *t, const uint8_t *marks, int n) {
  const uint8_t kept = k->spec->self_prev ? OWN | NEAR_BEFORE | NEAR_NOW : NEAR_BEFORE | NEAR_NOW;
  for (int i = 0; i < n; i++) {
    t->n.own_only += !(marks[i] & OWN);
    t->n.spatial += (marks[i] & (NEAR_BEFORE | NEAR_NOW)) != 0;
    t->fresh += !(marks[i] & kept);
  }
}

static void add_shared(Tensor *t, const Held *mine, const Held *other, uint64_t *bits) {
  if (!other->n) return;
  if (t->shifted->n == 1) {
    bits[0] |= mine->shift == other->shift;
    return;
  }
  const uint64_t *shared = tirc_shifted_shared(t->shifted, mine->shift - other->shift);
  for (int i = 0; shared && i < t->shifted->words; i++) bits[i] |= shared[i];
}

/* What is loaded is all that is ever seen: on no circle of links anything is had that was not. */
static void account_bits(Counter *k, Tensor *t, const Held *mine) {
  const int words = t->shifted->words, n = t->shifted->n;
  int own = 0, near = 0;
  for (int i = 0; i < words; i++) {
    own += __builtin_popcountll(t->own[i]);
    near += __builtin_popcountll(t->near[i]);
    uint64_t fresh = ~(t->near[i] | (k->spec->self_prev ? t->own[i] : 0));
    if (i == words - 1 && n % 64) fresh &= (1ull << n % 64) - 1;
    t->fresh += __builtin_popcountll(fresh);
    for (; fresh; fresh &= fresh - 1) {
      const int64_t code = mine->shift + t->shifted->members[i * 64 + __builtin_ctzll(fresh)];
      t->seen[code >> 6] |= 1ull << (code & 63);
    }
  }
  t->n.own_only += n - own;
  t->n.spatial += near;
}

static void account_shifted(Counter *k, Tensor *t) {
  const ArraySpec *spec = k->spec;
  for (int i = 0; i < k->n_active; i++) {
    const int pe = k->active[i];
    const Held *mine = &t->now[pe];
    memset(t->near, 0, (size_t)t->shifted->words * sizeof *t->near);
    memset(t->own, 0, (size_t)t->shifted->words * sizeof *t->own);
    add_shared(t, mine, &t->before[pe], t->own);
    for (int d = 0; d < spec->n_deltas; d++) {
      const int from = source_of(k, pe, spec->deltas[d]);
      if (from < 0) continue;
      if (spec->same_time) add_shared(t, mine, &t->now[from], t->near);
      if (spec->prev_time) add_shared(t, mine, &t->before[from], t->near);
    }
    account_bits(k, t, mine);
  }
}

/* Links at the same stamp that lead in a circle: an element that is founded nowhere on it goes
 * round and was never there. */
static int64_t count_unfounded(Counter *k, Tensor *t) {
  const uint8_t founds = k->spec->self_prev ? OWN | NEAR_BEFORE : NEAR_BEFORE;
  const int cap = t->cap;
  int64_t left = 0;
  for (bool more = true; more;) {
    more = false;
    left = 0;
    for (int i = 0; i < k->n_active; i++) {
      const int pe = k->active[i];
      for (int e = 0; e < t->now[pe].n; e++) {
        uint8_t *mark = &k->marks[(size_t)pe * (size_t)cap + (size_t)e];
        if (*mark & FOUNDED) continue;
        bool founded = (*mark & founds) || !(*mark & NEAR_NOW);
        for (int d = 0; d < k->spec->n_deltas && !founded; d++) {
          const int from = source_of(k, pe, k->spec->deltas[d]);
          for (int o = 0; from >= 0 && o < t->now[from].n && !founded; o++)
            founded = t->now[from].at[o] == t->now[pe].at[e] &&
                      (k->marks[(size_t)from * (size_t)cap + (size_t)o] & FOUNDED);
        }
        if (founded) *mark |= FOUNDED;
        more |= founded;
        left += !founded;
      }
    }
  }
  return left;
}

static void account_tensor(Counter *k, Tensor *t) {
  t->fresh = 0;
  if (t->shifted) account_shifted(k, t);
  for (int i = 0; i < k->n_active && !t->shifted; i++) {
    const int pe = k->active[i], n = t->now[pe].n;
    uint8_t *marks = k->cyclic ? k->marks + (size_t)pe * (size_t)t->cap : k->marks;
    memset(marks, 0, (size_t)n);
    mark_shared(t->now[pe], t->before[pe], marks, OWN);
    mark_near(k, t, pe, marks);
    account(k, t, marks, n);
  }
  if (k->cyclic && !t->shifted) k->n.unfounded += count_unfounded(k, t);
  t->n.unique += t->fresh;
  if (t->fresh > t->n.peak) t->n.peak = t->fresh;
}

static void swap_held(Tensor *t) {
  Held *other = t->now;
  t->now = t->before;
  t->before = other;
}

/* Gives whether anything runs at it. */
static bool count_stamp(Counter *k) {
  int64_t most = 0, in = 0, out = 0;
  k->n_active = 0;
  for (int pe = 0; pe < k->s.n_pes; pe++) {
    run_at(k, pe);
    if (k->s.here && k->n_running > most) most = k->n_running;
  }
  if (!k->n_active) return false;
  k->n.time_stamps++;
  k->n.space_time += k->n_active;
  k->n.busy += most;
  if (k->n_active > k->n.active_max) k->n.active_max = k->n_active;
  if (most > k->n.ties_max) k->n.ties_max = most;
  for (int t = 0; t < k->m->n_tensors; t++) {
    Tensor *x = &k->tensors[t];
    account_tensor(k, x);
    *(x->is->write ? &out : &in) += x->fresh;
    swap_held(x);
  }
  if (in > k->n.peak_ingress) k->n.peak_ingress = in;
  if (out > k->n.peak_egress) k->n.peak_egress = out;
  return true;
}

static void count_stamps(Counter *k) {
  bool any = false;
  for (bool more = tirc_space_begin(&k->s); more;) {
    any |= count_stamp(k);
    int turned;
    more = tirc_space_next(&k->s, &turned);
    if (!more || turned < k->s.n_time - 1) {
      k->n.folds += any;
      any = false;
    }
  }
}

/* --- making ready ----------------------------------------------------------------------------- */

static Form *make_tests(Counter *k, const MapTests *tests, const Ties *ties) {
  Form *out = tirc_new_array(k->c, Form, tests->n + 1);
  for (int i = 0; i < tests->n; i++) {
    out[i] = tirc_form(&k->s, tests->at[i].value, ties);
    if (tests->at[i].iter >= 0) out[i].base -= k->m->iters[tests->at[i].iter].extent;
  }
  return out;
}

static Held *make_held(Counter *k, int cap, bool shifted) {
  Held *out = tirc_new_array(k->c, Held, k->s.n_pes);
  for (int i = 0; i < k->s.n_pes && !shifted; i++) out[i].at = tirc_new_array(k->c, int64_t, cap);
  return out;
}

/* One numbering for all references: the box that their indices stay in. */
static void make_codes(Counter *k, Tensor *t) {
  const int n = t->is->n, dims = t->is->refs[0].n;
  t->codes = tirc_new_array(k->c, Form, n);
  t->size = 1;
  for (int d = dims - 1; d >= 0; d--) {
    Form *parts = tirc_new_array(k->c, Form, n);
    Bound all = {INT64_MAX, INT64_MIN};
    for (int r = 0; r < n; r++) {
      parts[r] = tirc_form(&k->s, t->is->refs[r].indices[d], t->ties);
      const Bound b = tirc_form_bound(&k->s, &parts[r], t->ties, t->is->buffer, d);
      if (b.min < all.min) all.min = b.min;
      if (b.max > all.max) all.max = b.max;
    }
    for (int r = 0; r < n; r++) {
      tirc_form_add(&k->s, &t->codes[r], &parts[r], t->size, t->ties);
      t->codes[r].base -= all.min * t->size;
    }
    if (__builtin_mul_overflow(t->size, all.max - all.min + 1, &t->size) ||
        t->size > INT64_MAX / 64)
      tirc_fail(k->c, k->m->loc, CODE_PE_ARRAY, NULL, "%s has too many elements to count",
                t->is->buffer->name);
  }
}

static void make_shifted(Counter *k, Tensor *t) {
  if (t->counts_instances || k->ties_tested || t->codes[0].n_mixed || k->cyclic) return;
  t->shifted = tirc_new(k->c, Shifted);
  tirc_shifted_make(k->c, t->shifted, t->ties->n, t->codes[0].by_tie);
  t->near = tirc_new_array(k->c, uint64_t, t->shifted->words);
  t->own = tirc_new_array(k->c, uint64_t, t->shifted->words);
}

static void make_tensor(Counter *k, Tensor *t) {
  const MapTensor *is = t->is;
  uint64_t used = 0;
  t->counts_instances = is->n > 1;
  for (int r = 0; r < is->n; r++) {
    for (int d = 0; d < is->refs[r].n; d++) used |= tirc_space_uses(&k->s, is->refs[r].indices[d]);
    for (int i = 0; i < is->refs[r].when.n; i++)
      used |= tirc_space_uses(&k->s, is->refs[r].when.at[i].value);
    t->counts_instances |= is->refs[r].when.n > 0;
  }
  t->ties = k->ties_tested ? k->ties : tirc_ties(&k->s, used);
  make_codes(k, t);
  t->when = tirc_new_array(k->c, Form *, is->n);
  for (int r = 0; r < is->n; r++) t->when[r] = make_tests(k, &is->refs[r].when, t->ties);
  t->cap = t->ties->n * is->n;
  make_shifted(k, t);
  t->now = make_held(k, t->cap, t->shifted);
  t->before = make_held(k, t->cap, t->shifted);
  t->seen = tirc_new_array(k->c, uint64_t, t->size / 64 + 1);
}

static void make_counter(Counter *k) {
  const MapTests *tests = &k->m->tests;
  tirc_space_make(&k->s, k->c, k->m);
  k->ties = tirc_ties(&k->s, ~0ull);
  k->runs = tirc_new_array(k->c, bool, k->ties->n);
  k->tests = make_tests(k, tests, k->ties);
  k->test_by_tie = tirc_new_array(k->c, bool, tests->n + 1);
  for (int i = 0; i < tests->n; i++) {
    k->test_by_tie[i] = tirc_space_uses(&k->s, tests->at[i].value) & k->s.inside;
    k->ties_tested |= k->test_by_tie[i];
  }
  k->used = tirc_new_array(k->c, bool, k->s.n_pes);
  k->active = tirc_new_array(k->c, int, k->s.n_pes);
  k->tensors = tirc_new_array(k->c, Tensor, k->m->n_tensors);
  int cap = 1;
  k->cyclic = tirc_links_have_cycle(k->c, k->spec);
  for (int t = 0; t < k->m->n_tensors; t++) {
    k->tensors[t].is = &k->m->tensors[t];
    make_tensor(k, &k->tensors[t]);
    if (k->tensors[t].cap > cap) cap = k->tensors[t].cap;
  }
  k->marks = tirc_new_array(k->c, uint8_t, (k->cyclic ? (int64_t)k->s.n_pes : 1) * cap);
}

static void take_counts(Counter *k, Tirc *to) {
  k->n.tensors = tirc_new_array(to, TensorCount, k->m->n_tensors + 1);
  for (int t = 0; t < k->m->n_tensors; t++) {
    Tensor *x = &k->tensors[t];
    for (int64_t i = 0; i < x->size / 64 + 1; i++)
      x->n.distinct += __builtin_popcountll(x->seen[i]);
    k->n.tensors[t] = x->n;
  }
  for (int pe = 0; pe < k->s.n_pes; pe++) k->n.pes_used += k->used[pe];
}

Counts tirc_count_mapping(Tirc *c, const Mapping *m, const ArraySpec *spec) {
  TensorCount *kept = tirc_new_array(c, TensorCount, m->n_tensors + 1);
  const ArenaMark mark = tirc_mark(c);
  Counter k = {.c = c, .m = m, .spec = spec};
  make_counter(&k);
  count_stamps(&k);
  take_counts(&k, c);
  for (int t = 0; t < m->n_tensors; t++) kept[t] = k.n.tensors[t];
  k.n.tensors = kept;
  tirc_rewind(c, mark);
  return k.n;
}

/* --- circles ---------------------------------------------------------------------------------- */

static int sign_of(const int64_t delta[PE_AXES]) {
  for (int a = 0; a < PE_AXES; a++)
    if (delta[a]) return delta[a] < 0 ? -1 : 1;
  return 0;
}

typedef struct Grid {
  const ArraySpec *spec;
  int64_t n;
} Grid;

static int64_t taken_from(const Grid *g, int64_t pe, const int64_t delta[PE_AXES]) {
  int64_t out = 0, rest = pe, x[PE_AXES];
  for (int a = PE_AXES - 1; a >= 0; a--) {
    x[a] = rest % g->spec->dims[a] + delta[a];
    rest /= g->spec->dims[a];
    if (x[a] < 0 || x[a] >= g->spec->dims[a]) return -1;
  }
  for (int a = 0; a < PE_AXES; a++) out = out * g->spec->dims[a] + x[a];
  return out;
}

/* PEs that take from nobody go, then those that took from these alone, and so on; what is left is
 * on a circle or behind one. */
static bool grid_has_cycle(Tirc *c, const Grid *g) {
  int *waits = tirc_new_array(c, int, g->n);
  int64_t *ready = tirc_new_array(c, int64_t, g->n), n_ready = 0, done = 0;
  for (int64_t pe = 0; pe < g->n; pe++) {
    for (int d = 0; d < g->spec->n_deltas; d++)
      waits[pe] += sign_of(g->spec->deltas[d]) && taken_from(g, pe, g->spec->deltas[d]) >= 0;
    if (!waits[pe]) ready[n_ready++] = pe;
  }
  while (done < n_ready) {
    const int64_t pe = ready[done++];
    for (int d = 0; d < g->spec->n_deltas; d++) {
      const int64_t *delta = g->spec->deltas[d];
      const int64_t back[PE_AXES] = {-delta[0], -delta[1], -delta[2]};
      const int64_t to = sign_of(delta) ? taken_from(g, pe, back) : -1;
      if (to >= 0 && !--waits[to]) ready[n_ready++] = to;
    }
  }
  return done < g->n;
}

bool tirc_links_have_cycle(Tirc *c, const ArraySpec *spec) {
  bool up = false, down = false;
  for (int d = 0; d < spec->n_deltas; d++) {
    up |= sign_of(spec->deltas[d]) > 0;
    down |= sign_of(spec->deltas[d]) < 0;
  }
  if (!spec->same_time || !up || !down) return false;
  const Grid g = {spec, spec->dims[0] * spec->dims[1] * spec->dims[2]};
  const ArenaMark mark = tirc_mark(c);
  const bool has = grid_has_cycle(c, &g);
  tirc_rewind(c, mark);
  return has;
}
