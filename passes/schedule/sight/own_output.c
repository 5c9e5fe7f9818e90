/* What a block reads of what it writes itself: whether all of it was stored by the block before.
 * That is so after an init, be it T.init() or one written by hand, `if vk == 0: B[vi] = 0`.
 * And whether it was so in the same run of the block, when that runs again in a loop around. */
#include "passes/lower/lower.h"
#include "passes/schedule/shape/shape.h"
#include "passes/schedule/state/state.h"
#include "passes/schedule/meaning/meaning.h"
#include "sight.h"

#include "ir/arith/access.h"

typedef struct OwnReads {
  Visitor v;
  Buffer buffer;
  const Expr *index; /* the element that may be read; NULL: none */
  bool other;        /* another one is */
} OwnReads;

static bool see_own_read(Visitor *v, Expr e) {
  OwnReads *o = v->self;
  o->other |= e == o->buffer->data;
  if (e->op != OP_LOAD || e->u.buffer != o->buffer) return true;
  if (!o->index) o->other = true;
  for (int i = 0; i < e->n && o->index; i++)
    if (!tirc_expr_same(e->args[i], o->index[i])) o->other = true;
  return true;
}

static bool has_view(const Block *b, Buffer of) {
  int i = 0;
  while (i < b->n_matches && b->matches[i].source.buffer != of) i++;
  return i < b->n_matches;
}

/* Through a view anything may be read. */
static bool see_own_view(Visitor *v, Stmt s) {
  OwnReads *o = v->self;
  o->other |= s->kind == STMT_BLOCK && has_view(&s->u.block, o->buffer);
  return true;
}

/* The iterator, no spatial one, of which the condition says that it is at its start; -1: none. */
static int iter_at_start(const Block *b, Expr cond) {
  for (int i = 0; i < b->n_iters; i++)
    if (b->iters[i].kind != ITER_SPATIAL && cond->op == OP_EQ && cond->args[0] == b->iters[i].var &&
        tirc_expr_same(cond->args[1], b->iters[i].dom.min))
      return i;
  return -1;
}

/* cond says of each iterator that is no spatial one that it is at its start, and nothing else. */
static bool is_first_iteration(const Block *b, Expr cond) {
  for (int i = 0; i < b->n_iters; i++) {
    bool found = b->iters[i].kind == ITER_SPATIAL;
    for (Expr rest = cond; rest && !found; rest = rest->op == OP_AND ? rest->args[0] : NULL)
      found = iter_at_start(b, rest->op == OP_AND ? rest->args[1] : rest) == i;
    if (!found) return false;
  }
  while (cond->op == OP_AND && iter_at_start(b, cond->args[1]) >= 0) cond = cond->args[0];
  return iter_at_start(b, cond) >= 0;
}

static bool only_stores(Stmt init) {
  for (int k = 0; init->kind == STMT_SEQ && k < init->u.seq.n; k++)
    if (tirc_item(init, k)->kind != STMT_STORE) return false;
  return init->kind == STMT_SEQ || init->kind == STMT_STORE;
}

/* Item number i of a body if it is an init written by hand: only stores, in the first step. */
static Stmt init_by_hand(const Block *b, int i) {
  const Stmt body = b->body;
  if (body->kind != STMT_SEQ || i >= body->u.seq.n) return NULL;
  const Stmt item = tirc_item(body, i);
  if (item->kind != STMT_IF || item->u.branch.else_case) return NULL;
  const Stmt init = item->u.branch.then_case;
  return only_stores(init) && is_first_iteration(b, item->u.branch.cond) ? init : NULL;
}

int tirc_inits_by_hand(const Block *b) {
  int n = 0;
  while (init_by_hand(b, n)) n++;
  return n;
}

typedef struct Start { /* of a buffer */
  OwnReads before;     /* what is read of it until it is stored to */
  Stmt store;
} Start;

static bool see_start(Visitor *v, Stmt s) {
  Start *k = v->self;
  if (s->kind != STMT_STORE || k->store) return !k->store;
  tirc_visit_expr(&k->before.v, s->u.store.value);
  if (s->u.store.buffer == k->before.buffer) k->store = s;
  return false;
}

static void find_start(Start *start, Stmt init) {
  start->before.v = (Visitor){.expr = see_own_read, .self = &start->before};
  tirc_visit_stmt(&(Visitor){.stmt = see_start, .expr = tirc_skip_expr, .self = start}, init);
}

/* Whether the element of a buffer, or what a view shows, is another one in another step. */
static bool moves_with_steps(const Block *b, Buffer buffer, int n, const Expr *indices) {
  for (int i = 0; i < b->n_iters; i++) {
    if (b->iters[i].kind == ITER_SPATIAL) continue;
    for (int k = 0; k < n; k++)
      if (tirc_uses_var(indices[k], b->iters[i].var)) return true;
    for (int m = 0; m < b->n_matches; m++)
      for (int k = 0; k < b->matches[m].source.buffer->ndim; k++)
        if (b->matches[m].buffer == buffer &&
            tirc_uses_var(b->matches[m].source.dims[k].min, b->iters[i].var))
          return true;
  }
  return false;
}

/* Of the buffer the body reads the element alone that the init stores, in all steps the same. */
static bool reads_start_only(const Block *b, const Start *start) {
  const Stmt store = start->store;
  if (!store || start->before.other) return false;
  if (moves_with_steps(b, store->u.store.buffer, store->u.store.n, store->u.store.indices))
    return false;
  OwnReads in_body = {.buffer = start->before.buffer, .index = store->u.store.indices};
  in_body.v = (Visitor){.expr = see_own_read, .stmt = see_own_view, .self = &in_body};
  tirc_visit_stmt(&in_body.v, b->body);
  return !in_body.other;
}

/* `if vk == 0: B[vi] = 0` at the start of the body, maybe among others: an init written by hand,
 * after which the block reads nothing of B but what it wrote. */
bool tirc_starts_with_init(const Block *b, Buffer buffer) {
  Start start = {.before = {.buffer = buffer}};
  for (int i = 0; !start.store && init_by_hand(b, i); i++) find_start(&start, init_by_hand(b, i));
  return reads_start_only(b, &start);
}

/* What such a block declares to read of the buffer says no more than that it is a sum. */
bool tirc_only_adds(const Block *b, Buffer buffer) {
  Start start = {.before = {.buffer = buffer}};
  if (!b->init || !only_stores(b->init) || has_view(b, buffer)) return false;
  find_start(&start, b->init);
  for (int i = 0; start.store && i < start.store->u.store.n; i++)
    if (tirc_reads_memory(start.store->u.store.indices[i])) return false;
  return reads_start_only(b, &start);
}

typedef struct Elements { /* to which some stores go */
  Stmt stores;
  Expr load;
  bool stored, other; /* the load is of one of them; a load is not */
} Elements;

static bool compare_store(Visitor *v, Stmt s) {
  Elements *e = v->self;
  if (s->kind != STMT_STORE || s->u.store.buffer != e->load->u.buffer) return true;
  int d = 0;
  while (d < s->u.store.n && tirc_expr_same(s->u.store.indices[d], e->load->args[d])) d++;
  e->stored |= d == s->u.store.n;
  return true;
}

static bool compare_load(Visitor *v, Expr load) {
  Elements *e = v->self;
  if (load->op != OP_LOAD || load->u.buffer != e->load->u.buffer) return true;
  Elements one = {.stores = e->stores, .load = load};
  tirc_visit_stmt(&(Visitor){.stmt = compare_store, .expr = tirc_skip_expr, .self = &one},
                  e->stores);
  e->other |= !one.stored;
  return true;
}

static bool loads_others(Tirc *c, Stmt s, Buffer buffer, Stmt stores) {
  Elements e = {.stores = stores, .load = tirc_load(c, buffer, 0, NULL)};
  tirc_visit_stmt(&(Visitor){.expr = compare_load, .self = &e}, s);
  return e.other;
}

/* Of a sum, whose regions leave out what it reads of its output. */
static bool reads_elsewhere(Tirc *c, const Block *b, Buffer buffer) {
  return b->init && loads_others(c, b->body, buffer, b->body);
}

Region tirc_read_without_init(Tirc *c, const Block *b, const Region *written) {
  Block update = *b;
  update.init = NULL;
  if (!reads_elsewhere(c, b, written->buffer)) return *written;
  const Access access = tirc_block_access(c, tirc_block(c, &update));
  const Region *read = tirc_region_of(access.reads.n, access.reads.at, written->buffer);
  return read ? *read : *written;
}

/* --- what is there before ----------------------------------------------------------------------
 */

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
