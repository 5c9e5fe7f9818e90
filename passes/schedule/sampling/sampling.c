/* Choices that a search makes: tile sizes, one of several numbers, where to compute a block. Each
 * takes an earlier decision instead of drawing one, and leaves what was decided in the trace.
 *
 *   v0, v1 = sch.sample_perfect_tile(i, n=2)    v0 * v1 == extent of i
 *   sch.split(i, factors=[v0, v1])
 *
 * An earlier decision that does not fit the loop any more is repaired as TVM does: from the
 * innermost factor outwards, one that does not divide what is left takes all of it. */
#include "ir/tree/print.h"
#include "passes/schedule/moves/moves.h"

enum { MAX_TILES = 64, MAX_TRIES = 1000000 };

/* What is decided of the call: by its argument, or else by the guide. */
static Value decision_of(Sched *s, Value own) {
  const int at = s->n_drawn;
  if (own.kind != VAL_NONE || !s->guide || at >= s->guide->n) return own;
  return s->guide->at[at];
}

/* --- tiles ------------------------------------------------------------------------------------ */

typedef struct Tile {
  Sched *s;
  int n, partition_pos;  /* the factors from partition_pos on are the inner part */
  int64_t extent;        /* -1: not constant */
  int64_t max_innermost; /* -1: any */
  int64_t inner_factor;  /* divides the product of the inner part */
  int64_t *factors;
} Tile;

static int64_t extent_of(Sched *s, Value loop) {
  const For *f = tirc_loop_of(tirc_sref_of_value(s, loop));
  int64_t extent;
  return tirc_const_int(f->extent, &extent) ? extent : -1;
}

static Tile tile_of(Sched *s, const Value *args, int least) {
  const int64_t n = args[1].u.i, extent = extent_of(s, args[0]);
  if (n < least || n > MAX_TILES)
    tirc_refuse(s, NULL, SERR_TILE_COUNT, "n is %lld, but a loop can be tiled into %d to %d loops",
                (long long)n, least, MAX_TILES);
  if (extent == 0 || extent > INT32_MAX)
    tirc_refuse(s, NULL, SERR_TILE_COUNT, "a loop with extent %lld cannot be tiled",
                (long long)extent);
  return (Tile){.s = s,
                .n = (int)n,
                .extent = extent,
                .max_innermost = -1,
                .inner_factor = 1,
                .factors = tirc_new_array(s->c, int64_t, n)};
}

static int64_t inner_product(const Tile *t) {
  int64_t product = 1;
  for (int i = t->partition_pos; i < t->n; i++)
    if (__builtin_mul_overflow(product, t->factors[i], &product)) return 0;
  return product;
}

/* All of the loop in the outermost factor, to be computed by split. */
static void tile_unknown(Tile *t) {
  for (int i = 0; i < t->n; i++) t->factors[i] = i ? 1 : -1;
}

static void tile_as_decided(Tile *t, const ValueList *decision) {
  int64_t left = t->extent;
  if (decision->n != t->n)
    tirc_refuse(t->s, NULL, SERR_DECISION, "the decision has %d factors, but n is %d", decision->n,
                t->n);
  for (int i = 0; i < t->n; i++) {
    t->factors[i] = decision->at[i].u.i;
    if (i && t->factors[i] < 1)
      tirc_refuse(t->s, NULL, SERR_DECISION, "the factor %lld is not positive",
                  (long long)t->factors[i]);
  }
  if (t->inner_factor > 1 && inner_product(t) % t->inner_factor) {
    for (int i = 0; i < t->n; i++) t->factors[i] = 1;
    t->factors[t->partition_pos] = t->inner_factor;
  }
  for (int i = t->n - 1; i > 0; i--) {
    if (left % t->factors[i]) t->factors[i] = left;
    left /= t->factors[i];
  }
  t->factors[0] = left;
}

static void tile_at_random(Tile *t) {
  Random r = t->s->random; /* which a refusal leaves as it is */
  for (int tries = 0;; tries++) {
    tirc_random_tile(t->s->c, &r, (int)t->extent, t->n, t->factors);
    bool small = t->max_innermost < 0 || t->factors[t->n - 1] <= t->max_innermost;
    if (small && inner_product(t) % t->inner_factor == 0) break;
    if (tries == MAX_TRIES)
      tirc_refuse(t->s, NULL, SERR_TILE_COUNT, "no tile of %lld within these limits was found",
                  (long long)t->extent);
  }
  t->s->random = r;
}

/* What the guide decides may be of another loop. */
static bool is_tile_for(const Tile *t, Value decision) {
  if (decision.kind != VAL_LIST || decision.u.list->n != t->n) return false;
  for (int i = 0; i < t->n; i++)
    if (decision.u.list->at[i].kind != VAL_INT || decision.u.list->at[i].u.i < 1) return false;
  return true;
}

static void make_tile(Tile *t, Value own, Value *result) {
  Tirc *c = t->s->c;
  Value decision = decision_of(t->s, own);
  if (own.kind == VAL_NONE && !is_tile_for(t, decision)) decision = VALUE_NONE;
  if (t->extent < 0 || t->extent % t->inner_factor)
    tile_unknown(t);
  else if (decision.kind != VAL_NONE)
    tile_as_decided(t, decision.u.list);
  else
    tile_at_random(t);
  t->s->decision = tirc_value_list(c, VAL_LIST, 0, NULL);
  *result = tirc_value_list(c, VAL_LIST, 0, NULL);
  for (int i = 0; i < t->n; i++) {
    Value factor = tirc_value_int(t->factors[i]);
    tirc_value_append(c, t->s->decision, factor);
    tirc_value_append(c, *result, t->factors[i] < 0 ? VALUE_NONE : factor);
  }
  t->s->n_drawn++;
}

void tirc_prim_sample_perfect_tile(Sched *s, const Value *args, Value *result) {
  const int64_t most = args[2].u.i;
  Tile t = tile_of(s, args, most == -1 ? 1 : 2);
  if (most < 1 && most != -1)
    tirc_refuse(s, NULL, SERR_TILE_COUNT,
                "max_innermost_factor is %lld, but it must be positive, or -1 for no limit",
                (long long)most);
  t.max_innermost = most;
  make_tile(&t, args[3], result);
}

void tirc_prim_sample_partitioned_tile(Sched *s, const Value *args, Value *result) {
  const int64_t position = args[2].u.i, factor = args[3].u.i;
  Tile t = tile_of(s, args, position == 0 && factor == 1 ? 1 : 2);
  if (position < 0 || position >= t.n || factor < 1 || factor > INT32_MAX)
    tirc_refuse(s, NULL, SERR_TILE_COUNT,
                "partition_pos is %lld of %d, and innerpart_factor is %lld", (long long)position,
                t.n, (long long)factor);
  t.partition_pos = (int)position;
  t.inner_factor = factor;
  make_tile(&t, args[4], result);
}

/* --- one of several --------------------------------------------------------------------------- */

void tirc_prim_sample_categorical(Sched *s, const Value *args, Value *result) {
  const ValueList *candidates = args[0].u.list, *probs = args[1].u.list;
  const int n = candidates->n;
  double *weights = tirc_new_array(s->c, double, n + 1), sum = 0;
  if (n == 0 || n != probs->n)
    tirc_refuse(s, NULL, SERR_PROBABILITIES, "there are %d candidates, but %d probabilities", n,
                probs->n);
  for (int i = 0; i < n; i++) {
    sum += weights[i] = probs->at[i].u.f;
    if (!(weights[i] >= 0) || weights[i] - weights[i] != 0)
      tirc_sched_error(s, NULL, SERR_PROBABILITIES, NULL, "give numbers of at least 0",
                       "%s is not a probability", tirc_value_repr(s->c, probs->at[i]));
  }
  if (!(sum > 0))
    tirc_sched_error(s, NULL, SERR_PROBABILITIES, NULL, "give one that is more than 0",
                     "all of them are 0");
  Value decision = decision_of(s, args[2]);
  int64_t chosen = decision.u.i;
  const bool fits = decision.kind == VAL_INT && chosen >= 0 && chosen < n;
  if (args[2].kind == VAL_NONE && !fits && s->likely) {
    chosen = 0;
    for (int i = 1; i < n; i++)
      if (weights[i] > weights[chosen]) chosen = i;
  } else if (args[2].kind == VAL_NONE && !fits) {
    chosen = tirc_random_weighted(s->c, &s->random, n, weights);
  } else if (!fits) {
    tirc_refuse(s, NULL, SERR_DECISION, "the decision is %lld of %d candidates", (long long)chosen,
                n);
  }
  s->decision = tirc_value_int(chosen);
  s->n_drawn++;
  *result = tirc_value_int(candidates->at[chosen].u.i);
}

/* --- where to compute a block ----------------------------------------------------------------- */

/* The places in the order of their decisions: -2 inlined, -1 where it is, 0.. under that loop of
 * the first consumer. */
typedef struct Places {
  VEC(Value) at;
  VEC(int) decisions;
} Places;

static void add_place(Sched *s, Places *p, Value at, int decision) {
  vec_push(s->c, p->at, at);
  vec_push(s->c, p->decisions, decision);
}

/* Whether a primitive would succeed: tried, and taken back. */
static bool can(Sched *s, void (*primitive)(Sched *, const Value *, Value *), const Value *args) {
  Tirc *c = s->c;
  const Module *const before = s->mod;
  const int n_warnings = s->warnings.n;
  Value result = VALUE_NONE;
  volatile bool done = false;
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    primitive(s, args, &result);
    TIRC_END(c, trap);
    done = true;
  }
  if (s->mod != before) tirc_sched_restore(s, before);
  s->warnings.n = n_warnings;
  s->n_marks = 0;
  return done;
}

static bool is_data_parallel(Sched *s, Value loop) {
  return !(tirc_loop_iter_kinds(s, tirc_sref_of_value(s, loop)) & ~(1u << ITER_SPATIAL));
}

/* The loops of the first consumer that are around all consumers. */
static int consumer_loops(Sched *s, Value block, Value **out) {
  SRef *at = tirc_sref_of_value(s, block);
  const SRefs readers = tirc_consumers(s, at, tirc_require_scope_root(s, at, false));
  if (readers.n == 0) return 0;
  SRef *boundary =
      readers.n > 1 ? tirc_common_ancestor(readers.n, readers.at) : readers.at[0]->parent;
  if (!boundary || !tirc_is_loop(boundary)) return 0;
  const SRefs loops = tirc_loops_above(s, readers.at[0]);
  int n = 0;
  *out = tirc_new_array(s->c, Value, loops.n + 1);
  do (*out)[n] = tirc_value_of_sref(loops.at[n]);
  while (loops.at[n++] != boundary);
  return n;
}

/* Unit loops are no places, nor are reduction loops below the last data-parallel one, nor
 * data-parallel loops below a reduction loop. */
static void add_loops(Sched *s, Value block, Places *places) {
  Value *loops = NULL;
  const int n = consumer_loops(s, block, &loops);
  int last_parallel = -1;
  bool reduces = false;
  for (int i = 0; i < n; i++)
    if (is_data_parallel(s, loops[i])) last_parallel = i;
  for (int i = 0; i <= last_parallel; i++) {
    if (extent_of(s, loops[i]) == 1) continue;
    const bool parallel = is_data_parallel(s, loops[i]);
    if (parallel && reduces) break;
    reduces |= !parallel;
    Value args[] = {block, loops[i], tirc_value_bool(true), tirc_value_int(-1)};
    if (can(s, tirc_prim_compute_at, args)) add_place(s, places, loops[i], i);
  }
}

void tirc_prim_sample_compute_location(Sched *s, const Value *args, Value *result) {
  Places places = {0};
  if (can(s, tirc_prim_compute_inline, args)) add_place(s, &places, tirc_inline_mark(s), -2);
  add_place(s, &places, tirc_root_mark(s), -1);
  add_loops(s, args[0], &places);
  const Value decision = decision_of(s, args[1]);
  int chosen = 0;
  if (decision.kind != VAL_INT) {
    chosen = tirc_random_int(&s->random, 0, places.at.n);
  } else { /* the decided place, or else the one before it */
    while (chosen < places.at.n && places.decisions.at[chosen] <= decision.u.i) chosen++;
    chosen--;
  }
  s->n_drawn++;
  if (chosen < 0) { /* before all of them */
    s->decision = tirc_value_int(-1);
    *result = tirc_root_mark(s);
    return;
  }
  s->decision = tirc_value_int(places.decisions.at[chosen]);
  *result = places.at.at[chosen];
}

/* Marks in the trace where a search ends and what follows from it begins; changes nothing. */
void tirc_prim_enter_postproc(Sched *s, const Value *args, Value *result) {
  (void)s, (void)args, (void)result;
}
