/* Does a block that declares a reduction reduce?
 *
 *   for i, k in T.grid(4, 8):
 *     with T.block("C"):
 *       vi, vk = T.axis.remap("SR", [i, k])
 *       with T.init():
 *         C[vi] = 0
 *       C[vi] = A[vi, vk]                  # = for +=: of all steps of vk only the last one counts
 *
 * An instance stores to the element that the init starts, which has nothing to do with a reduction
 * iterator, and does not read it. What is stored under a condition that the iterator decides is a
 * choice of one step, which may be meant. */
#include "meaning.h"
#include "places.h"

typedef struct Body {
  Sched *s;
  const Block *block;
  Place *body; /* where the block's body stands */
  Touches touches;
} Body;

static bool is_read(const Body *k, Buffer b) {
  for (int i = 0; i < k->touches.n; i++) {
    const Touch *t = &k->touches.at[i];
    if (t->buffer->data == b->data && (!t->write || t->address || t->extents)) return true;
  }
  return false;
}

static bool is_store_there(const void *data, Stmt s) {
  return s->kind == STMT_STORE && s->u.store.buffer->data == data;
}

/* By T.init, or by one that is written by hand. */
static bool is_started(const Body *k, Buffer b) {
  Stmt found =
      k->block->init ? tirc_find_stmt(k->block->init, is_store_there, b->data, NULL) : NULL;
  for (int i = tirc_inits_by_hand(k->block); i-- > 0 && !found;)
    found = tirc_find_stmt(tirc_item(k->block->body, i), is_store_there, b->data, NULL);
  return found;
}

/* The variables that differ from one step of the iterator to the next, as they stand at a place;
 * false: it decides whether the place is reached, or that is not known. */
static bool varying(Body *k, const Place *at, PtrMap *of) {
  if (at == k->body) return true;
  if (!varying(k, at->up, of)) return false;
  Tirc *c = k->s->c;
  switch (at->kind) {
  case PLACE_LOOP:
    if (tirc_uses_any(at->a, of) || tirc_uses_any(at->b, of)) return false;
    return !tirc_reads_memory(at->a) && !tirc_reads_memory(at->b);
  case PLACE_WHEN: return !tirc_uses_any(at->a, of) && !tirc_reads_memory(at->a);
  case PLACE_BIND:
    if (tirc_uses_any(at->a, of)) tirc_map_set(c, of, at->var, at->var);
    return true;
  case PLACE_REPEAT: return false;
  }
  return false;
}

static bool overwrites(Body *k, const Touch *t, Expr iter) {
  PtrMap of = {0};
  tirc_map_set(k->s->c, &of, iter, iter);
  if (!varying(k, t->at, &of)) return false;
  for (int d = 0; d < t->n; d++)
    if (tirc_uses_any(t->indices[d], &of) || tirc_reads_memory(t->indices[d])) return false;
  return true;
}

/* The reduction iterator of which only the last step counts in what is stored; NULL: none. */
static Expr iter_overwritten(Body *k, const Touch *t) {
  for (int i = 0; i < k->block->n_iters; i++) {
    const IterVar *iter = &k->block->iters[i];
    if (iter->kind == ITER_REDUCE && !tirc_is_int(iter->dom.extent, 1) &&
        overwrites(k, t, iter->var))
      return iter->var;
  }
  return NULL;
}

static Warning warning_of(const Body *k, const Touch *t, Expr iter) {
  const char *message = tirc_format(
      k->s->c,
      "block %s declares a reduction over %s, and stores to %s what does not use the element as it "
      "was: of all steps of %s only the last one counts; to add, write += for =",
      k->block->name, iter->u.s, t->buffer->name, iter->u.s);
  const Loc at = t->stmt->loc;
  return (Warning){CODE_NO_REDUCTION, at.line ? at : t->inner->loc, message};
}

static bool find(Body *k, Warning *out) {
  for (int i = 0; i < k->touches.n; i++) {
    const Touch *t = &k->touches.at[i];
    if (!t->write || t->address || t->extents || is_read(k, t->buffer) || !is_started(k, t->buffer))
      continue;
    const Expr iter = iter_overwritten(k, t);
    if (iter) return *out = warning_of(k, t, iter), true;
  }
  return false;
}

static bool check_block(Visitor *v, Stmt stmt) {
  const Telling *t = v->self;
  const Block *b = &stmt->u.block;
  if (stmt->kind != STMT_BLOCK || !(tirc_iter_kinds(b->n_iters, b->iters) & 1u << ITER_REDUCE))
    return true;
  SRef *block = tirc_sref_find(t->s, stmt);
  if (!block) return true; /* in a T.init, which is no part of the tree */
  const Plain plain = tirc_plain_blocks(t->s, (SRefs){&block, 1, 1});
  if (tirc_map_get(&plain.opaque, stmt)) return true; /* who knows what a call reads */
  const Stmt shown = tirc_map_get(&plain.blocks, stmt);
  Body k = {.s = t->s, .block = b, .body = tirc_place_in(t->s->c, block)};
  Extract x = {.c = t->s->c, .plain = &plain};
  Warning w;
  tirc_extract(&x, k.body, stmt, stmt, stmt, (shown ? shown : stmt)->u.block.body);
  k.touches = x.touches;
  if (find(&k, &w)) t->tell(t->self, w);
  return true;
}

void tirc_sums_overwritten(Telling *t) {
  tirc_visit_module(&(Visitor){.stmt = check_block, .expr = tirc_skip_expr, .self = t}, t->s->mod);
}
