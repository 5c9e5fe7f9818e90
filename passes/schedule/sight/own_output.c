/* What a block reads of what it writes itself: whether all of it was stored by the block before.
 * That is so after an init, be it T.init() or one written by hand, `if vk == 0: B[vi] = 0`.
 * And whether it was so in the same run of the block, when that runs again in a loop around. */
#include "passes/schedule/state/state.h"
#include "sight.h"

static bool stores_to(const void *load, Stmt s) {
  const Expr e = load;
  return s->kind == STMT_STORE && s->u.store.buffer == e->u.buffer &&
         tirc_same_exprs(e->n, s->u.store.indices, e->args);
}

typedef struct Elements { /* to which some stores go */
  Stmt stores;
  Buffer buffer;
} Elements;

static bool is_other_load(const void *self, Expr e) {
  const Elements *k = self;
  return e->op == OP_LOAD && e->u.buffer == k->buffer &&
         !tirc_find_stmt(k->stores, stores_to, e, NULL);
}

/* Of a sum, whose regions leave out what it reads of its output. */
static bool reads_elsewhere(const Block *b, Buffer buffer) {
  return b->init && tirc_find_expr_in(b->body, is_other_load, &(Elements){b->body, buffer});
}

Region tirc_read_without_init(Tirc *c, const Block *b, const Region *written) {
  Block update = *b;
  update.init = NULL;
  if (!reads_elsewhere(b, written->buffer)) return *written;
  const Access access = tirc_block_access(c, tirc_block(c, &update));
  const Region *read = tirc_region_of(access.reads.n, access.reads.at, written->buffer);
  return read ? *read : *written;
}

/* --- what is there before --------------------------------------------------------------------- */

/* In an iteration of the loop; without one, in all that it does while its scope runs or, of one
 * instance, with all steps of its sums. */
static void extract_run(Sched *s, SRef *block, const SRef *loop, bool alone, Extract *x,
                        Iterations *of) {
  const Block *b = tirc_block_of(block);
  PtrMap moves = {0};
  Expr *values = tirc_new_array(s->c, Expr, b->n_iters + 1);
  *of = (Iterations){.s = s, .x = x, .nest = block, .names = values, .values = values};
  for (int i = 0; alone && i < b->n_iters; i++)
    if (b->iters[i].kind != ITER_REDUCE) values[of->n++] = b->iter_values[i];
  for (SRef *r = block->parent; r && tirc_is_loop(r) && r != loop; r = r->parent) {
    tirc_map_set(s->c, &moves, r, r);
    of->nest = r;
    of->n_around++;
  }
  tirc_extract_block(x, block, &moves);
}

/* Whether each instance stored itself before what it reads of the buffer, once its sum is begun. */
static bool instance_stores_first(Sched *s, SRef *block, Buffer buffer) {
  const ArenaMark mark = tirc_mark(s->c);
  const Plain plain = tirc_plain_blocks(s, 1, &block);
  Extract x = {.s = s, .plain = &plain, .instances = INSTANCE_ANY};
  const Iterations of = {.s = s, .x = &x, .nest = block};
  const PtrMap none = {0};
  if (tirc_sums_start_in_scope(s, block)) x.instances = INSTANCE_STARTED;
  tirc_extract_block(&x, block, &none);
  const bool first = tirc_map_has(&x.own, buffer) || tirc_stores_before_it_reads(&of, buffer);
  tirc_rewind(s->c, mark);
  return first;
}

/* The same of a run. */
static bool run_stores_first(Sched *s, SRef *block, Buffer buffer, const SRef *loop, bool alone) {
  const ArenaMark mark = tirc_mark(s->c);
  const Plain plain = tirc_plain_blocks(s, 1, &block);
  Extract x = {.s = s, .plain = &plain};
  Iterations of;
  extract_run(s, block, loop, alone, &x, &of);
  const bool first = tirc_stores_before_it_reads(&of, buffer);
  tirc_rewind(s->c, mark);
  return first;
}

/* By sight: a sum that starts anew. */
static bool starts(Sched *s, SRef *block, Buffer b) {
  return tirc_only_adds(tirc_block_of(block), b) && tirc_sums_start_in_scope(s, block);
}

bool tirc_reads_own_output(Sched *s, SRef *block, Buffer b) {
  /* What a call reads, the block declares. */
  if (tirc_mentions(block, b->data) && tirc_declared_read(tirc_block_of(block), b)) return true;
  return !starts(s, block, b) && !instance_stores_first(s, block, b) &&
         !run_stores_first(s, block, b, NULL, false);
}

/* Of all that it stores to. */
static bool instances_store_first(Sched *s, SRef *block) {
  if (block->asked_first == s->stamp) return block->stores_first;
  bool first = true;
  for (int i = 0; first && i < block->n_accesses[1]; i++) {
    const Buffer b = block->accesses[1][i].buffer;
    first = !(tirc_mentions(block, b->data) && tirc_touches(block, b, false)) &&
            (starts(s, block, b) || instance_stores_first(s, block, b));
  }
  block->asked_first = s->stamp;
  return block->stores_first = first;
}

bool tirc_goes_on_from_last_run(Sched *s, SRef *block, const SRef *loop) {
  if (instances_store_first(s, block)) return false;
  for (int i = 0; i < block->n_accesses[1]; i++) {
    const Buffer b = block->accesses[1][i].buffer;
    if (tirc_mentions(block, b->data) && tirc_touches(block, b, false)) return true;
    if (!run_stores_first(s, block, b, loop, !loop)) return true;
  }
  return false;
}
