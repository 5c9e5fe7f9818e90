#include "search.h"

#include "ir/tree/print.h"
#include "passes/replay/replay.h"
#include "passes/schedule/random.h"
#include "passes/script/interp.h"

#include <math.h>
#include <stdlib.h>

const SearchOptions tirc_search_defaults = {
    .pool = 4,
    .parents = 12,
    .fresh = 0.2,
    .blind = 0.1,
    .again = 0.4,
    .weights = {[CHOICE_TILE] = 1,
                [CHOICE_CATEGORY] = 1,
                [CHOICE_PARALLEL] = 0.5,
                [CHOICE_LOCATION] = 0.5,
                [CHOICE_WAY] = 0.1},
};

/* What was measured, as far as others are made from it. */
typedef struct Known {
  const ValueList *decisions;
  const ChoiceKind *kinds;
  const int *n_options;
  double seconds;
} Known;

struct Search {
  Tirc *c;
  SearchOptions options;
  Space *space;
  Random random;
  VEC(Known) known; /* the fastest first */
  VEC(SearchFailure) failures;
  PtrMap seen;     /* hashes of what was proposed or known */
  PtrMap tried;    /* hashes of decisions of which a point was made */
  int made, first; /* first: ways of which the likeliest point was made */
};

void tirc_search_release(SearchPoint *p) {
  if (p) tirc_context_release(p->c);
}

const Space *tirc_search_space(const Search *s) { return s->space; }
int tirc_search_made(const Search *s) { return s->made; }
int tirc_search_failures(const Search *s, const SearchFailure **out) {
  *out = s->failures.at;
  return s->failures.n;
}

Search *tirc_search_new(Tirc *c, const Module *m, const SearchOptions *options) {
  Search *s = tirc_new(c, Search);
  *s = (Search){.c = c, .options = *options, .random = tirc_random(options->seed)};
  s->space = tirc_space_new(c, m, &options->space);
  return s;
}

static void count_failure(Search *s, const char *code, const char *message) {
  int i = 0;
  while (i < s->failures.n && strcmp(s->failures.at[i].code, code) != 0) i++;
  if (i == s->failures.n)
    vec_push(
        s->c, s->failures,
        ((SearchFailure){tirc_strdup(s->c, code), tirc_strdup(s->c, message ? message : ""), 0}));
  s->failures.at[i].n++;
}

/* --- random numbers --------------------------------------------------------------------------- */

static int below(Search *s, int n) { return n > 1 ? tirc_random_int(&s->random, 0, n) : 0; }
static bool happens(Search *s, double probability) {
  enum { PARTS = 1 << 20 };
  return below(s, PARTS) < probability * (double)PARTS;
}

/* --- points ----------------------------------------------------------------------------------- */

/* FNV-1a of the text. */
uint64_t tirc_search_hash(Tirc *c, const Module *m) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char *at = tirc_print_module(c, m, NULL); *at; at++)
    hash = (hash ^ (unsigned char)*at) * 0x100000001b3;
  return hash;
}

static bool goes_on_threads(const Trace *t, uint32_t rv) {
  for (int i = 0; i < t->n; i++) {
    if (strcmp(t->at[i]->p->name, "annotate") != 0) continue;
    const Value key = t->at[i]->args[1], value = t->at[i]->args[2];
    if (value.rv == rv && key.kind == VAL_STR && !strncmp(key.u.s, "parallel", 8)) return true;
  }
  return false;
}

static ChoiceKind kind_of(const Trace *t, const Instruction *inst) {
  if (tirc_is_choice(inst)) return CHOICE_WAY;
  if (!strcmp(inst->p->name, "sample_compute_location")) return CHOICE_LOCATION;
  if (strcmp(inst->p->name, "sample_categorical") != 0) return CHOICE_TILE;
  return inst->result.rv && goes_on_threads(t, inst->result.rv) ? CHOICE_PARALLEL : CHOICE_CATEGORY;
}

static void describe_decisions(SearchPoint *p) {
  const Trace *t = p->trace;
  ChoiceKind *kinds = tirc_new_array(p->c, ChoiceKind, t->n + 1);
  int *options = tirc_new_array(p->c, int, t->n + 1), n = 0;
  for (int i = 0; i < t->n; i++) {
    if (!tirc_instruction_decision(t->at[i])) continue;
    kinds[n] = kind_of(t, t->at[i]);
    if (!strcmp(t->at[i]->p->name, "sample_categorical")) options[n] = t->at[i]->args[0].u.list->n;
    n++;
  }
  p->kinds = kinds;
  p->n_options = options;
}

/* NULL: it is illegal, which is counted. */
static SearchPoint *make_point(Search *s, const Draw *d) {
  Tirc *c = tirc_context_new();
  SearchPoint *volatile made = NULL;
  Trap trap;
  if (!c) return NULL;
  s->made++;
  if (TIRC_TRY(c, trap)) {
    const Sched *sched = tirc_space_draw(s->space, c, d);
    SearchPoint *p = tirc_new(c, SearchPoint);
    *p = (SearchPoint){.c = c, .mod = sched->mod, .trace = sched->trace};
    p->decisions = tirc_decisions_of(c, p->trace);
    p->way = p->decisions->n ? tirc_space_way(s->space, (int)p->decisions->at[0].u.i) : "";
    p->hash = tirc_search_hash(c, p->mod);
    describe_decisions(p);
    made = p;
    TIRC_END(c, trap);
    return made;
  }
  count_failure(s, tirc_codes[c->diag.code].text, tirc_script_raised(c));
  tirc_context_release(c);
  return NULL;
}

/* --- decisions changed ------------------------------------------------------------------------ */

static Value copy_decision(Tirc *c, Value v) {
  return v.kind == VAL_LIST ? tirc_value_list(c, VAL_LIST, v.u.list->n, v.u.list->at) : v;
}

static ValueList *copy_decisions(Tirc *c, const ValueList *from) {
  Value list = tirc_value_list(c, VAL_LIST, 0, NULL);
  for (int i = 0; i < from->n; i++) tirc_value_append(c, list, copy_decision(c, from->at[i]));
  return list.u.list;
}

/* A part of one factor goes to another. */
static void change_tile(Search *s, Value tile) {
  enum { MAX_DIVISORS = 64 };
  ValueList *l = tile.u.list;
  int64_t divisors[MAX_DIVISORS];
  int n = 0, large = 0;
  for (int i = 0; i < l->n; i++) large += l->at[i].u.i > 1;
  if (large == 0 || l->n < 2) return;
  int from = below(s, large), at = 0;
  while (l->at[at].u.i <= 1 || from-- > 0) at++;
  int to = below(s, l->n - 1);
  to += to >= at;
  for (int64_t d = 2; d <= l->at[at].u.i && n < MAX_DIVISORS; d++)
    if (l->at[at].u.i % d == 0) divisors[n++] = d;
  const int64_t moved = divisors[below(s, n)];
  l->at[at].u.i /= moved;
  l->at[to].u.i *= moved;
}

static void change(Search *s, Value *decision, ChoiceKind kind, int n_options) {
  if (kind == CHOICE_WAY) {
    *decision = VALUE_NONE; /* drawn again, among those that take the function */
  } else if (decision->kind == VAL_LIST) {
    change_tile(s, *decision);
  } else if (n_options > 1 && decision->kind == VAL_INT) {
    const int other = below(s, n_options - 1);
    decision->u.i = other + (other >= decision->u.i);
  } else {
    *decision = VALUE_NONE; /* drawn again */
  }
}

static bool is_changeable(const Known *k, int i) {
  const Value d = k->decisions->at[i];
  return d.kind == VAL_LIST ? d.u.list->n > 1 : k->n_options[i] != 1;
}

static double weight_of(const Search *s, const Known *k, int i) {
  return is_changeable(k, i) ? s->options.weights[k->kinds[i]] : 0;
}

static ValueList *mutated(Search *s, Tirc *c, const Known *k) {
  ValueList *out = copy_decisions(c, k->decisions);
  double *weights = tirc_new_array(c, double, out->n + 1), sum = 0;
  for (int i = 0; i < out->n; i++) sum += weights[i] = weight_of(s, k, i);
  if (!(sum > 0)) return NULL;
  do {
    const int i = tirc_random_weighted(c, &s->random, out->n, weights);
    change(s, &out->at[i], k->kinds[i], k->n_options[i]);
  } while (happens(s, s->options.again));
  return out;
}

/* The best more often than the others. */
static const Known *parent(Search *s) {
  int n = s->known.n < s->options.parents ? s->known.n : s->options.parents;
  const int a = below(s, n), b = below(s, n);
  return &s->known.at[a < b ? a : b];
}

/* --- proposals -------------------------------------------------------------------------------- */

static const void *key_of(uint64_t hash) { return (const void *)(uintptr_t)(hash | 1); }

static bool is_new(Search *s, const SearchPoint *p) {
  if (tirc_map_has(&s->seen, key_of(p->hash))) return false;
  tirc_map_set(s->c, &s->seen, key_of(p->hash), s);
  return true;
}

/* Two ways may make the same program: of those in the pool, the point that decides more can be
 * changed more, and goes by the name of the first. */
static void take_richer(int n_pool, SearchPoint **pool, SearchPoint *p) {
  int i = 0;
  while (i < n_pool && pool[i]->hash != p->hash) i++;
  if (i < n_pool && pool[i]->decisions->n < p->decisions->n) {
    SearchPoint *poorer = pool[i];
    p->way = poorer->way;
    pool[i] = p;
    p = poorer;
  }
  tirc_search_release(p);
}

static bool is_same(Value a, Value b);

static bool are_same(const ValueList *a, const ValueList *b) {
  bool same = a->n == b->n;
  for (int i = 0; same && i < a->n; i++) same = is_same(a->at[i], b->at[i]);
  return same;
}

/* None is nothing that was decided. */
static bool is_same(Value a, Value b) {
  if (a.kind != b.kind) return false;
  if (a.kind == VAL_LIST) return are_same(a.u.list, b.u.list);
  return a.kind == VAL_INT && a.u.i == b.u.i;
}

/* FNV-1a of decisions; 0: some of them are drawn. */
static uint64_t decisions_hash(const ValueList *l) {
  uint64_t hash = 0xcbf29ce484222325;
  for (int i = 0; i < l->n; i++) {
    const Value v = l->at[i];
    if (v.kind != VAL_LIST && v.kind != VAL_INT) return 0;
    const uint64_t word = v.kind == VAL_LIST ? decisions_hash(v.u.list) : (uint64_t)v.u.i;
    for (int b = 0; b < 64; b += 8) hash = (hash ^ ((word >> b) & 0xff)) * 0x100000001b3;
  }
  return hash;
}

/* Changes of one of the best; NULL where the generator comes only upon what was tried already. */
static ValueList *untried(Search *s, Tirc *scratch) {
  enum { ATTEMPTS = 16 };
  for (int i = 0; i < ATTEMPTS; i++) {
    ValueList *l = mutated(s, scratch, parent(s));
    const uint64_t hash = l ? decisions_hash(l) : 0;
    if (!hash || !tirc_map_has(&s->tried, key_of(hash))) return l;
  }
  return NULL;
}

/* The likeliest point of each way, once. */
static SearchPoint *first_of_way(Search *s, Tirc *scratch) {
  while (s->first < tirc_space_ways(s->space)) {
    Value first = tirc_value_list(scratch, VAL_LIST, 0, NULL);
    tirc_value_append(scratch, first, tirc_value_int(s->first));
    const int way = s->first++;
    if (tirc_space_takes(s->space, 0, way))
      return make_point(s, &(Draw){first.u.list, true, way + 1});
  }
  return NULL;
}

static SearchPoint *next_point(Search *s, Tirc *scratch) {
  SearchPoint *p = first_of_way(s, scratch);
  if (p) return p;
  const int64_t seed = tirc_random_fork(&s->random);
  ValueList *decisions = NULL;
  if (s->known.n && !happens(s, s->options.fresh)) decisions = untried(s, scratch);
  p = make_point(s, &(Draw){decisions, false, seed});
  if (!p || !decisions || !are_same(decisions, p->decisions)) return p; /* the seed had a say */
  p->made_of = decisions_hash(decisions);
  tirc_map_set(s->c, &s->tried, key_of(p->made_of), s);
  return p;
}

static int compare_ranks(const void *a, const void *b) {
  const SearchPoint *x = *(SearchPoint *const *)a, *y = *(SearchPoint *const *)b;
  if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
  return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/* Of a pool the n of the best ranks, but for some places that go to others. */
static void select_points(Search *s, int n_pool, SearchPoint **pool, int n, bool in_order) {
  if (s->options.rank) s->options.rank(s->options.self, n_pool, pool);
  if (in_order) return;
  qsort(pool, (size_t)n_pool, sizeof *pool, compare_ranks);
  for (int i = 1; i < n && n_pool > n; i++) {
    if (!happens(s, s->options.blind)) continue;
    const int other = n + below(s, n_pool - n);
    SearchPoint *p = pool[i];
    pool[i] = pool[other];
    pool[other] = p;
  }
}

int tirc_search_propose(Search *s, int n, SearchPoint **out) {
  enum { MOST_POOL = 256, TRIES = 3, LEAST_TRIES = 40 };
  SearchPoint *pool[MOST_POOL];
  Tirc *scratch = tirc_context_new();
  int n_pool = 0, wanted = n * (s->options.pool > 0 ? s->options.pool : 1);
  if (!scratch) return 0;
  if (wanted > MOST_POOL) wanted = MOST_POOL;
  const bool begins = s->first == 0; /* the likeliest of each way, whatever is thought of them */
  if (begins) wanted = n;
  for (int i = 0; i < wanted * TRIES + LEAST_TRIES && n_pool < wanted; i++) {
    SearchPoint *p = next_point(s, scratch);
    if (p && is_new(s, p))
      pool[n_pool++] = p;
    else if (p)
      take_richer(n_pool, pool, p);
  }
  tirc_context_release(scratch);
  if (n > n_pool) n = n_pool;
  select_points(s, n_pool, pool, n, begins);
  for (int i = 0; i < n; i++) out[i] = pool[i];
  for (int i = n; i < n_pool; i++) {
    tirc_map_remove(&s->seen, key_of(pool[i]->hash)); /* another time, perhaps */
    if (pool[i]->made_of) tirc_map_remove(&s->tried, key_of(pool[i]->made_of));
    tirc_search_release(pool[i]);
  }
  return n;
}

/* --- results ---------------------------------------------------------------------------------- */

static void keep(Search *s, Known k) {
  vec_push(s->c, s->known, k);
  int i = s->known.n - 1;
  for (; i > 0 && s->known.at[i - 1].seconds > k.seconds; i--) s->known.at[i] = s->known.at[i - 1];
  s->known.at[i] = k;
}

void tirc_search_tell(Search *s, const SearchPoint *p, double seconds, const char *failure,
                      const char *message) {
  if (failure) count_failure(s, failure, message);
  const uint64_t hash = decisions_hash(p->decisions);
  if (hash) tirc_map_set(s->c, &s->tried, key_of(hash), s);
  if (!isfinite(seconds)) return;
  const int n = p->decisions->n;
  if (!n) return;
  keep(s, (Known){copy_decisions(s->c, p->decisions), tirc_copy(s->c, p->kinds, n),
                  tirc_copy(s->c, p->n_options, n), seconds});
}

bool tirc_search_would_keep(const Search *s, double seconds) {
  const int n = s->options.parents;
  return s->known.n < n || seconds < s->known.at[n - 1].seconds;
}

void tirc_search_pass_over(Search *s, uint64_t hash) {
  tirc_map_set(s->c, &s->seen, key_of(hash), s);
}

static SearchPoint *with_same_decisions(Search *s, const Trace *trace) {
  const ValueList *decisions = tirc_decisions_of(s->c, trace);
  SearchPoint *p = decisions->n ? make_point(s, &(Draw){decisions, false, 1}) : NULL;
  if (p && are_same(p->decisions, decisions)) return p;
  tirc_search_release(p);
  return NULL;
}

static const Trace *read_trace(Tirc *c, const char *json) {
  return tirc_trace_of_value(c, tirc_value_of_json(c, json), (Loc){0}, "the trace");
}

static void remake(Search *s, Tirc *c, const char *json, SearchPoint **out) {
  const Trace *trace = read_trace(c, json);
  *out = with_same_decisions(s, trace);
  if (*out) return;
  Sched *sched = tirc_space_schedule(s->space, c);
  SearchPoint *p = tirc_new(c, SearchPoint);
  tirc_trace_apply(sched, trace, false, NULL, (Loc){0}, "the trace");
  *p = (SearchPoint){.c = tirc_context_retain(c), .mod = sched->mod, .trace = sched->trace};
  p->way = "";
  p->decisions = tirc_value_list(c, VAL_LIST, 0, NULL).u.list;
  p->hash = tirc_search_hash(c, p->mod);
  describe_decisions(p);
  *out = p;
}

SearchPoint *tirc_search_remake(Search *s, const char *json, SearchFailure *why) {
  Tirc *c = tirc_context_new();
  SearchPoint *p = NULL;
  Trap trap;
  *why = (SearchFailure){"memory", "", 1};
  if (!c) return NULL;
  if (TIRC_TRY(c, trap)) {
    remake(s, c, json, &p);
    TIRC_END(c, trap);
  } else {
    why->code = tirc_codes[c->diag.code].text;
    why->message = tirc_strdup(s->c, tirc_script_raised(c));
  }
  tirc_context_release(c);
  return p;
}
