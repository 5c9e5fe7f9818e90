/* The test behind parallel, vectorize and bind: may the iterations run at the same time?
 *
 *   for i in range(16):                    iteration i stores B[i]
 *     B[i] = A[i]
 *     C[i] = B[(i + 15) % 16]              iteration i + 1 reads it
 *
 * Compact dataflow does not say: it is about each block alone. apart.c does, for what is not seen
 * at once. A buffer that only the iterations use is a new one for each of them when it is lowered,
 * so there only counts who reads what another one stored. */
#include "meaning.h"

#include "ir/tree/atomic.h"
#include "passes/meaning/asked.h"
#include "passes/schedule/state/state.h"
#include "places.h"

/* --- own elements ----------------------------------------------------------------------------- */

/* Does each iteration use elements of its own? It is seen where indices of the one element together
 * are bijective, as of a loop that was fused, and so is divided in the bindings: C[f // 8, f % 8].
 */

typedef struct Use { /* of the buffer, by a child block of the loop */
  SRef *block;
  const Region *at;
  bool write, declared;
} Use;

typedef struct Look {
  Sched *s;
  SRef *loop;
  Buffer buffer;
  VEC(Use) uses;
} Look;

/* --- what is written before it is read -------------------------------------------------------- */

/* Region cover is about what blocks declare themselves, not about what those inside of them do. */
static bool is_covered(const Look *k) {
  for (int i = 0; i < k->uses.n; i++) {
    const Use *u = &k->uses.at[i];
    if (!u->declared || (u->write ? !tirc_writes_box(k->s, u->block, u->at)
                                  : !tirc_has_region_cover(k->s, u->block)))
      return false;
  }
  return true;
}

/* --- a fused loop ---------------------------------------------------------------------------- */

static Range first_box(const Look *k, int dim) { return k->uses.at[0].at->dims[dim]; }

static bool is_same_box(const Look *k, int dim) {
  for (int i = 1; i < k->uses.n; i++)
    if (!tirc_same_range(k->uses.at[i].at->dims[dim], first_box(k, dim))) return false;
  return true;
}

/* A number whose other values are of other elements of the range; NULL: none is seen. */
static Expr told_by(Range at) {
  int64_t extent, step;
  const bool moved = at.min->op == OP_ADD && at.min->args[1]->op == OP_INT;
  const Expr e = moved ? at.min->args[0] : at.min;
  if (tirc_is_int(at.extent, 1)) return at.min;
  return e->op == OP_MUL && tirc_const_int(e->args[1], &step) &&
                 tirc_const_int(at.extent, &extent) && extent <= step
             ? e->args[0]
             : NULL;
}

/* Whether what all accesses have in common says which iteration it is, as the digits of a number
 * do. */
static bool is_told_by_element(const Look *k, SRef *block) {
  Tirc *c = k->s->c;
  int n = 0;
  PtrMap bindings = {0};
  Expr *values = tirc_new_array(c, Expr, k->buffer->ndim + 1);
  const Expr when = tirc_touching_condition(k->s, block);
  tirc_bindings_of(c, block->stmt, &bindings);
  for (int d = 0; d < k->buffer->ndim; d++) {
    const Expr told = is_same_box(k, d) ? told_by(first_box(k, d)) : NULL;
    if (told) values[n] = tirc_substitute(c, told, &bindings);
    n += told && !tirc_reads_memory(values[n]); /* which may be another number each time */
  }
  for (SRef *still = k->loop->parent;; still = still->parent) {
    const LoopDomain all = tirc_loop_domain(k->s, block->parent, still, STORAGE_GLOBAL);
    const LoopDomain moving = tirc_used_loops(all, n, values);
    bool moves = false;
    for (int l = 0; l < moving.n; l++) moves |= moving.vars[l] == tirc_loop_of(k->loop)->var;
    if (!moves) return false;
    if (tirc_tells_apart(k->s, n, values, &moving, when)) return true;
    if (!tirc_is_loop(still)) return false;
  }
}

/* Of buffers that one block uses. */
static bool is_apart_in_block(const Look *k) {
  enum { MOST = 4 };
  SRef *user = k->uses.n ? k->uses.at[0].block : NULL;
  for (int i = 1; i < k->uses.n; i++)
    if (i == MOST || k->uses.at[i].block != user) return false;
  return user && is_told_by_element(k, user);
}

/* `shared`: by blocks besides these, too. */
static bool sees_apart(Sched *s, SRef *loop, SRefs blocks, Buffer b, bool shared) {
  Look k = {.s = s, .loop = loop, .buffer = b};
  for (int i = 0; i < blocks.n; i++)
    for (int w = 0; w < 2; w++)
      for (int a = 0; a < blocks.at[i]->n_accesses[w]; a++) {
        const Block *of = tirc_block_of(blocks.at[i]);
        const Region *at = &blocks.at[i]->accesses[w][a];
        const bool declared = a < (w ? of->n_writes : of->n_reads); /* these come first */
        if (at->buffer == b) vec_push(s->c, k.uses, ((Use){blocks.at[i], at, w, declared}));
      }
  return is_apart_in_block(&k) || (!shared && is_covered(&k));
}

/* --- the question ----------------------------------------------------------------------------- */

typedef VEC(Watched) Stores;

/* Threads wait for each other before they read memory that they share. */
static WatchKind watch_kind(Buffer b, ThreadAxis axis, bool shared) {
  if (tirc_shared_under(b->storage, axis)) return shared ? WATCH_STORES : WATCH_VALUES;
  return shared ? WATCH_ALL : WATCH_READS;
}

static bool has_store(const Stores *of, Buffer b) {
  for (int i = 0; i < of->n; i++)
    if (of->at[i].buffer == b) return true;
  return false;
}

/* Whether a block adds to the buffer in all iterations of the loop, a reduction over threads, of
 * which the loop is no other than it was; and no other block uses what is added up till then. */
static bool adds_over(SRef *loop, SRefs blocks, Buffer buffer) {
  const SRef *user = NULL;
  for (int i = 0; i < blocks.n; i++) {
    if (!tirc_mentions(blocks.at[i], buffer)) continue;
    if (user) return false;
    user = blocks.at[i];
  }
  return user && !tirc_updates_atomically(tirc_block_of(user)) &&
         tirc_moves(tirc_block_of(user), tirc_loop_of(loop)->var, ITER_REDUCE);
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

/* Whether the memory of a buffer has another name in these blocks. */
static bool has_other_name(SRefs blocks, Buffer b) {
  for (int i = 0; i < blocks.n; i++)
    for (int w = 0; w < 2; w++)
      for (int k = 0; k < blocks.at[i]->n_accesses[w]; k++) {
        const Buffer other = blocks.at[i]->accesses[w][k].buffer;
        if (other != b && other->data == b->data) return true;
      }
  return false;
}

static bool is_of_interest(const PtrMap *only, Buffer b) {
  return !only || tirc_map_has(only, b->data);
}

/* The buffers that the loop stores to. False: the iterations cannot meet in any of them, or in any
 * of this memory (NULL: all). */
static bool look(Sched *s, SRef *loop, ThreadAxis axis, const PtrMap *only, Stores *out) {
  const SRefs blocks = tirc_child_blocks(s, loop);
  const For *f = tirc_loop_of(loop);
  const SRef *scope = tirc_scope_root(loop);
  bool may_meet = false;
  for (int i = 0; i < blocks.n; i++)
    for (int w = 0; w < blocks.at[i]->n_accesses[1]; w++) {
      Buffer b = blocks.at[i]->accesses[1][w].buffer;
      if (has_store(out, b)) continue;
      const bool shared = tirc_is_used_besides(loop, b);
      /* Where threads share memory, that is covered what they wrote together. */
      const bool bound = f->kind == LOOP_THREAD_BINDING && tirc_shared_under(b->storage, f->axis);
      Watched one = {b, watch_kind(b, axis, shared), shared};
      if (!is_of_interest(only, b) ||
          (sees_apart(s, loop, blocks, b, shared || bound) && !tirc_loosely_used(scope, NULL, b)) ||
          adds_over(loop, blocks, b))
        one.kind = WATCH_VALUES;
      may_meet |= one.kind != WATCH_VALUES || has_other_name(blocks, b);
      vec_push(s->c, *out, one);
    }
  const Buffers loose = tirc_loose_stores(s, loop);
  for (int i = 0; i < loose.n; i++) {
    if (has_store(out, loose.at[i])) continue;
    const bool shared = tirc_is_used_besides(loop, loose.at[i]);
    Watched one = {loose.at[i], watch_kind(loose.at[i], axis, shared), shared};
    if (!is_of_interest(only, loose.at[i])) one.kind = WATCH_VALUES;
    may_meet |= one.kind != WATCH_VALUES;
    vec_push(s->c, *out, one);
  }
  return may_meet || scope->scope->loose; /* by a call, too */
}

static const char *access_text(Sched *s, const Touch *t) {
  const char *who = t->inner ? tirc_format(s->c, "block %s", t->inner->u.block.name)
                             : "a statement outside of blocks";
  return tirc_format(s->c, "%s %s %s", who, t->write ? "stores" : "reads",
                     tirc_touch_text(s->c, t));
}

static Stmt of_tree(const Touch *t) { return t->block ? t->block : t->stmt; }

static _Noreturn void iterations_depend(Sched *s, SRef *loop, const Meet *meet) {
  const char *var = tirc_name_of(loop);
  tirc_sched_mark(s, loop->stmt);
  tirc_sched_mark(s, of_tree(meet->first));
  tirc_sched_mark(s, of_tree(meet->second));
  const char *first = access_text(s, meet->first), *second = access_text(s, meet->second);
  tirc_sched_error(
      s, NULL, SERR_ITERATIONS_DEPEND,
      meet->witness
          ? tirc_format(s->c, "%s, and %s: %s", first, second, meet->witness)
          : tirc_format(s->c,
                        "%s, and %s: it cannot be proved that these are never the same element",
                        first, second),
      NULL,
      "the iterations of loop %s cannot run at the same time: one iteration uses what another one "
      "stores",
      var);
}

static bool find_meeting(Sched *s, SRef *loop, ThreadAxis axis, const PtrMap *only, Meet *meet) {
  const ArenaMark mark = tirc_mark(s->c);
  const Expr var = tirc_loop_of(loop)->var;
  Stores stores = {0};
  bool met = !tirc_is_int(tirc_loop_of(loop)->extent, 1) && look(s, loop, axis, only, &stores);
  if (met) {
    const SRefs blocks = tirc_child_blocks(s, loop);
    const Plain plain = tirc_plain_blocks(s, blocks);
    Extract x = {.c = s->c, .plain = &plain};
    tirc_extract_nest(&x, 1, &loop);
    *meet = (Meet){0};
    met = tirc_share_memory(s->c, &x.touches, &meet->first, &meet->second) ||
          tirc_iterations_meet(
              &(Iterations){tirc_relations_in(s, loop), &x, 1, 1, &var, &var, SPARE_LOADED},
              stores.n, stores.at, meet);
  }
  if (!met) tirc_rewind(s->c, mark);
  return met;
}

bool tirc_iterations_apart(Sched *s, SRef *loop, SRefs blocks, Buffer b) {
  if (sees_apart(s, loop, blocks, b, true)) return true;
  const ArenaMark mark = tirc_mark(s->c);
  const Expr var = tirc_loop_of(loop)->var;
  const Plain plain = tirc_plain_blocks(s, tirc_child_blocks(s, loop));
  Extract x = {.c = s->c, .plain = &plain};
  int kept = 0;
  tirc_extract_nest(&x, 1, &loop);
  for (int i = 0; i < x.touches.n; i++)
    for (int k = 0; k < blocks.n; k++)
      if (x.touches.at[i].block == blocks.at[k]->stmt) x.touches.at[kept++] = x.touches.at[i];
  x.touches.n = kept;
  const Iterations of = {tirc_relations_in(s, loop), &x, 1, 1, &var, &var, SPARE_NONE};
  const bool apart = tirc_elements_apart(&of, 1, &(Watched){b, WATCH_ALL, true});
  tirc_rewind(s->c, mark);
  return apart;
}

void tirc_require_independent(Sched *s, SRef *loop, ThreadAxis axis) {
  Meet meet;
  if (find_meeting(s, loop, axis, NULL, &meet)) iterations_depend(s, loop, &meet);
}

void tirc_refuse_dependence(Sched *s, SRef *loop, ThreadAxis axis) {
  Meet meet;
  if (find_meeting(s, loop, axis, NULL, &meet) && meet.witness) iterations_depend(s, loop, &meet);
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
          find_meeting(s, r, tirc_loop_of(r)->axis, &used, &meet))
        iterations_depend(s, r, &meet);
    }
}
