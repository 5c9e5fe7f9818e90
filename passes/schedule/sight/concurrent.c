/* The test behind parallel, vectorize and bind: may the iterations run at the same time?
 *
 *   for i in range(16):                    iteration i stores B[i]
 *     B[i] = A[i]
 *     C[i] = B[(i + 15) % 16]              iteration i + 1 reads it
 *
 * Compact dataflow does not say: it is about each block alone. meaning/carried.h does, for what is
 * not seen at once (own_elements.c). A buffer that only the iterations use is a new one for each of
 * them when it is lowered, so there only counts who reads what another one stored. */
#include "sight.h"

#include "passes/schedule/state/state.h"

typedef VEC(Watched) Stores;

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
  return user && tirc_moves(tirc_block_of(user), tirc_loop_of(loop)->var, ITER_REDUCE);
}

/* The memory that blocks use, and those around them, where it may go by other names. */
static void find_used(Sched *s, const SRef *block, PtrMap *out) {
  for (const SRef *r = block; r->parent; r = r->parent)
    for (int w = 0; w < 2 && tirc_is_block(r); w++)
      for (int i = 0; i < r->n_accesses[w]; i++) {
        const Expr data = r->accesses[w][i].buffer->data;
        tirc_map_set(s->c, out, data, data);
      }
}

static bool is_of_interest(const PtrMap *only, Buffer b) {
  return !only || tirc_map_has(only, b->data);
}

/* The buffers that the loop stores to. False: the iterations cannot meet in any of them, or in any
 * of this memory (NULL: all). */
static bool look(Sched *s, SRef *loop, const char *thread, const PtrMap *only, Stores *out) {
  SRef **blocks;
  const int n = tirc_child_blocks(s, loop, &blocks);
  const For *f = tirc_loop_of(loop);
  const SRef *scope = tirc_scope_root(s, loop);
  bool may_meet = false;
  for (int i = 0; i < n; i++)
    for (int w = 0; w < blocks[i]->n_accesses[1]; w++) {
      Buffer b = blocks[i]->accesses[1][w].buffer;
      if (has_store(out, b)) continue;
      const bool shared = tirc_is_used_besides(s, loop, b);
      /* Where threads share memory, that is covered what they wrote together. */
      const bool bound = f->kind == LOOP_THREAD_BINDING && tirc_shared_under(b->scope, f->thread);
      Watched one = {b, watch_kind(b, thread, shared), shared};
      if (!is_of_interest(only, b) ||
          (tirc_iterations_apart(s, loop, n, blocks, b, shared || bound) &&
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
    const bool shared = tirc_is_used_besides(s, loop, loose[i]);
    Watched one = {loose[i], watch_kind(loose[i], thread, shared), shared};
    if (!is_of_interest(only, loose[i])) one.kind = WATCH_VALUES;
    may_meet |= one.kind != WATCH_VALUES;
    vec_push(s->c, *out, one);
  }
  return may_meet;
}

static const char *access_text(Sched *s, const Touch *t) {
  const char *who = t->inner ? tirc_format(s->c, "block %s", t->inner->u.block.name)
                             : "a statement outside of blocks";
  return tirc_format(s->c, "%s %s %s", who, t->write ? "stores" : "reads",
                     tirc_touch_text(s->c, t));
}

static Stmt of_tree(const Touch *t) { return t->block ? t->block->stmt : t->stmt; }

static _Noreturn void iterations_depend(Sched *s, SRef *loop, const Meet *meet) {
  const char *var = tirc_loop_of(loop)->var->u.s;
  tirc_sched_mark(s, loop->stmt);
  tirc_sched_mark(s, of_tree(meet->first));
  tirc_sched_mark(s, of_tree(meet->second));
  const char *first = access_text(s, meet->first), *second = access_text(s, meet->second);
  tirc_sched_error(
      s, SERR_ITERATIONS_DEPEND,
      meet->witness ? tirc_format(s->c, "%s, and %s: %s", first, second, meet->witness)
                    : tirc_format(s->c,
                                  "%s, and %s: that these are never the same element cannot be "
                                  "proved",
                                  first, second),
      NULL,
      "the iterations of loop %s cannot run at the same time: one of them uses what another stores",
      var);
}

static bool find_meeting(Sched *s, SRef *loop, const char *thread, const PtrMap *only, Meet *meet) {
  const ArenaMark mark = tirc_mark(s->c);
  const Expr var = tirc_loop_of(loop)->var;
  Stores stores = {0};
  bool met = !tirc_is_int(tirc_loop_of(loop)->extent, 1) && look(s, loop, thread, only, &stores);
  if (met) {
    SRef **blocks;
    const int n = tirc_child_blocks(s, loop, &blocks);
    const Plain plain = tirc_plain_blocks(s, n, blocks);
    Extract x = {.s = s, .plain = &plain};
    tirc_extract_nest(&x, 1, &loop);
    met = tirc_iterations_meet(&(Iterations){s, &x, loop, 1, 1, &var, &var, SPARE_LOADED}, stores.n,
                               stores.at, meet);
  }
  if (!met) tirc_rewind(s->c, mark);
  return met;
}

void tirc_require_independent(Sched *s, SRef *loop, const char *thread) {
  Meet meet;
  if (find_meeting(s, loop, thread, NULL, &meet)) iterations_depend(s, loop, &meet);
}

void tirc_refuse_dependence(Sched *s, SRef *loop, const char *thread) {
  Meet meet;
  if (find_meeting(s, loop, thread, NULL, &meet) && meet.witness) iterations_depend(s, loop, &meet);
}

bool tirc_runs_at_once(const For *f) {
  return f->kind == LOOP_THREAD_BINDING || f->kind == LOOP_PARALLEL || f->kind == LOOP_VECTORIZED;
}

void tirc_require_independent_around(Sched *s, int n, SRef *const *blocks) {
  PtrMap seen = {0}, used = {0};
  Meet meet;
  for (int i = 0; i < n; i++) find_used(s, blocks[i], &used);
  for (int i = 0; i < n; i++)
    for (SRef *r = blocks[i]->parent; r && !tirc_map_has(&seen, r); r = r->parent) {
      tirc_map_set(s->c, &seen, r, r);
      if (tirc_is_loop(r) && tirc_runs_at_once(tirc_loop_of(r)) &&
          find_meeting(s, r, tirc_loop_of(r)->thread, &used, &meet))
        iterations_depend(s, r, &meet);
    }
}
