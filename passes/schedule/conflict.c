/* The test behind parallel, vectorize and bind: may the iterations run at the same time?
 *
 *   for i in range(16):                    iteration i stores B[i]
 *     B[i] = A[i]
 *     C[i] = B[(i + 15) % 16]              iteration i + 1 reads it
 *
 * Compact dataflow does not say: it is about each block alone. The iterations are run, or some of
 * them (instances.h), at a few places of the loops around. A buffer that only they use is a new one
 * for each of them when it is lowered, so there only counts who reads what another one stored. */
#include "conflict.h"

#include "instances.h"
#include "internal.h"
#include "places.h"
#include "state.h"

enum { ALL_STEPS = 3 << 17, ALONE_STEPS = 1 << 19, MAX_PLACES = 64, MOST_SHARES = 64 };

typedef struct Check {
  Sched *s;
  SRef *loop;
  Instances r;
} Check;

/* Whether somebody else uses the buffer, too. */
static bool is_shared(Sched *s, SRef *loop, Buffer b) {
  SRef *allocator = tirc_allocator_of(s, loop, b), *inside = loop, *scope = loop;
  if (!allocator) return true;
  while (scope != allocator) {
    scope = tirc_scope_root(s, inside);
    const SRefs *users = tirc_users_of(scope->scope, b);
    for (int i = 0; users && i < users->n; i++)
      if (!tirc_is_ancestor(inside, users->at[i])) return true;
    if (tirc_loosely_used(scope, inside, b)) return true;
    inside = scope;
  }
  return false;
}

typedef struct Stored {
  Buffer buffer;
  WatchKind kind;
} Stored;
typedef VEC(Stored) Stores;

/* Threads wait for each other before they read memory that they share. */
static WatchKind watch_kind(Buffer b, const char *thread, bool shared) {
  if (thread && tirc_shared_under(b->scope, thread)) return shared ? WATCH_STORES : WATCH_VALUES;
  return shared ? WATCH_ALL : WATCH_READS;
}

static bool has_store(const Stores *of, Buffer b) {
  for (int i = 0; i < of->n; i++)
    if (of->at[i].buffer == b) return true;
  return false;
}

/* Whether a block adds to the buffer in all iterations of the loop, a reduction over threads, of
 * which the loop is no other than it was; and no other block uses what is added up till then. */
static bool adds_over(SRef *loop, int n, SRef *const *blocks, Buffer buffer) {
  const SRef *user = NULL;
  for (int i = 0; i < n; i++) {
    if (!tirc_mentions(blocks[i], buffer)) continue;
    if (user) return false;
    user = blocks[i];
  }
  const Block *b = user ? tirc_block_of(user) : NULL;
  for (int k = 0; b && k < b->n_iters; k++)
    if (b->iters[k].kind == ITER_REDUCE &&
        tirc_uses_var(b->iter_values[k], tirc_loop_of(loop)->var))
      return true;
  return false;
}

/* The buffers that the loop stores to. False: the iterations cannot meet in any of them. */
static bool look(Sched *s, SRef *loop, const char *thread, Stores *out) {
  SRef **blocks;
  const int n = tirc_child_blocks(s, loop, &blocks);
  /* Of a bound loop that is covered what its threads wrote together. */
  const bool bound = tirc_loop_of(loop)->kind == LOOP_THREAD_BINDING;
  const SRef *scope = tirc_scope_root(s, loop);
  bool may_meet = false;
  for (int i = 0; i < n; i++)
    for (int w = 0; w < blocks[i]->n_accesses[1]; w++) {
      Buffer b = blocks[i]->accesses[1][w].buffer;
      if (has_store(out, b)) continue;
      const bool shared = is_shared(s, loop, b);
      Stored one = {b, watch_kind(b, thread, shared)};
      if ((tirc_iterations_apart(s, loop, n, blocks, b, shared || bound) &&
           !tirc_loosely_used(scope, NULL, b)) ||
          adds_over(loop, n, blocks, b))
        one.kind = WATCH_VALUES;
      may_meet |= one.kind != WATCH_VALUES;
      vec_push(s->c, *out, one);
    }
  Buffer *loose;
  const int n_loose = tirc_loose_stores(s, loop, &loose);
  for (int i = 0; i < n_loose; i++) {
    if (has_store(out, loose[i])) continue;
    const bool shared = is_shared(s, loop, loose[i]);
    vec_push(s->c, *out, ((Stored){loose[i], watch_kind(loose[i], thread, shared)}));
    may_meet = true;
  }
  return may_meet;
}

static bool run_iteration(Check *k, int64_t min, int64_t i) {
  k->r.at = tirc_copy(k->s->c, &i, 1);
  tirc_eval_give(&k->r.env, tirc_loop_of(k->loop)->var, min + i);
  return tirc_instances_run(&k->r, tirc_loop_of(k->loop)->body);
}

/* All iterations if the first one is so short that they take half of what is left (later ones may
 * be longer than the first), otherwise some. */
static void run_iterations(Check *k) {
  const For *f = tirc_loop_of(k->loop);
  int64_t min, extent, *at;
  if (!tirc_eval_index(&k->r.env, f->min, &min) || !tirc_eval_index(&k->r.env, f->extent, &extent))
    return;
  const int steps = k->r.steps;
  const int n = tirc_instances_sample(k->s->c, extent, f->body, MAX_PLACES, &at);
  bool more = n > 0 && run_iteration(k, min, at[0]);
  if (more && k->r.steps / 2 / (steps - k->r.steps + 1) >= extent)
    for (int64_t i = 1; i < extent && more; i++) more = run_iteration(k, min, i);
  else
    for (int i = 1; i < n && more; i++) more = run_iteration(k, min, at[i]);
}

static const char *access_text(Sched *s, const Site *site) {
  const char *who = site->block ? tirc_format(s->c, "block %s", site->block->u.block.name)
                                : "a statement outside of blocks";
  return tirc_format(s->c, "%s %s %s", who, site->load ? "reads" : "stores",
                     tirc_site_text(s->c, site));
}

static _Noreturn void iterations_depend(const Check *k) {
  Sched *s = k->s;
  const Instances *r = &k->r;
  const char *var = tirc_loop_of(k->loop)->var->u.s;
  tirc_sched_mark(s, k->loop->stmt);
  tirc_sched_mark(s, r->first.block ? r->first.block : r->first.stmt);
  tirc_sched_mark(s, r->second.block ? r->second.block : r->second.stmt);
  tirc_sched_error(
      s, SERR_ITERATIONS_DEPEND,
      tirc_format(s->c, "where %s = %lld, %s, and where %s = %lld, %s: one element of buffer %s",
                  var, (long long)*r->of_first, access_text(s, &r->first), var,
                  (long long)*r->of_second, access_text(s, &r->second), r->buffer->name),
      NULL,
      "the iterations of loop %s cannot run at the same time: one of them uses what another stores",
      var);
}

/* At some places of the loops around, with several sizes. Takes what it needs of the steps; false:
 * they did not suffice. */
static bool run_places(Sched *s, SRef *loop, const Stores *stores, int *steps) {
  bool any = true, enough = true;
  const Sizes *sizes = tirc_sizes_of(s, loop, NULL);
  const int places = tirc_n_places(loop->parent), n = places * sizes->n_trials;
  for (int i = 0; any && i < n; i++) {
    const int place = i % places;
    Check k = {.s = s, .loop = loop};
    ArenaMark mark = tirc_mark(s->c);
    const int share = *steps / (n - i < MOST_SHARES ? n - i : MOST_SHARES);
    tirc_instances_open(&k.r, s->c, 1, share);
    k.r.env.sizes = sizes;
    k.r.env.trial = i / places;
    k.r.may = true;
    for (int b = 0; b < stores->n; b++)
      tirc_instances_watch(&k.r, stores->at[b].buffer, stores->at[b].kind);
    any = tirc_instances_look(&k.r, tirc_loop_of(loop)->body);
    if (any && tirc_go_to_place(&k.r.env, loop->parent, place, false) != PLACE_EMPTY)
      run_iterations(&k);
    if (k.r.found) iterations_depend(&k);
    enough &= k.r.steps > 0;
    *steps -= share - (k.r.steps > 0 ? k.r.steps : 0);
    tirc_rewind(s->c, mark);
  }
  return enough;
}

static bool stores_to_one(const SRef *block, const Stores *of) {
  for (int i = 0; i < of->n; i++)
    if (tirc_touches(block, of->at[i].buffer, true)) return true;
  return false;
}

/* One buffer, and those from which what is stored to it is computed: they mostly come before. */
static Stores alone(Sched *s, SRef *loop, const Stores *all, Stored one) {
  SRef **blocks;
  const int n_blocks = tirc_child_blocks(s, loop, &blocks);
  Stores out = {0};
  vec_push(s->c, out, one);
  for (int before = 0; before != out.n;) {
    before = out.n;
    for (int k = n_blocks - 1; k >= 0; k--) {
      if (!stores_to_one(blocks[k], &out)) continue;
      for (int i = 0; i < all->n; i++) {
        const Stored from = {all->at[i].buffer, WATCH_VALUES};
        if (tirc_mentions(blocks[k], from.buffer) && !has_store(&out, from.buffer))
          vec_push(s->c, out, from);
      }
    }
  }
  return out;
}

/* Where all together take too many steps: each buffer may take its part of some more. */
static void run_alone(Sched *s, SRef *loop, const Stores *stores) {
  int steps = ALONE_STEPS;
  for (int i = 0; i < stores->n; i++) {
    ArenaMark mark = tirc_mark(s->c);
    int share = steps / (stores->n - i);
    steps -= share;
    if (stores->at[i].kind != WATCH_VALUES) {
      const Stores one = alone(s, loop, stores, stores->at[i]);
      if (one.n < stores->n) (void)run_places(s, loop, &one, &share);
    }
    steps += share;
    tirc_rewind(s->c, mark);
  }
}

void tirc_require_independent(Sched *s, SRef *loop, const char *thread) {
  const For *f = tirc_loop_of(loop);
  Stores stores = {0};
  ArenaMark mark = tirc_mark(s->c);
  int steps = ALL_STEPS;
  if (!tirc_is_int(f->extent, 1) && look(s, loop, thread, &stores) &&
      !run_places(s, loop, &stores, &steps))
    run_alone(s, loop, &stores);
  tirc_rewind(s->c, mark);
}

static bool runs_at_once(const SRef *loop) {
  const LoopKind kind = tirc_loop_of(loop)->kind;
  return kind == LOOP_THREAD_BINDING || kind == LOOP_PARALLEL || kind == LOOP_VECTORIZED;
}

void tirc_require_independent_around(Sched *s, int n, SRef *const *blocks) {
  PtrMap seen = {0};
  for (int i = 0; i < n; i++)
    for (SRef *r = blocks[i]->parent; r && !tirc_map_has(&seen, r); r = r->parent) {
      tirc_map_set(s->c, &seen, r, r);
      if (tirc_is_loop(r) && runs_at_once(r))
        tirc_require_independent(s, r, tirc_loop_of(r)->thread);
    }
}
