/* What a block reads of what it writes itself: whether all of it was stored by the block before.
 * That is so after an init, be it T.init() or one written by hand, `if vk == 0: B[vi] = 0`.
 * And whether it was so in the same run of the block, when that runs again in a loop around. */
#include "../lower/lower.h"
#include "internal.h"
#include "meaning/cover.h"
#include "state.h"

#include "ir/access.h"

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

static bool reads(Tirc *c, SRef *block, Buffer b) {
  const Regions reads = tirc_block_access(c, block->stmt).reads;
  return tirc_declared_read(tirc_block_of(block), b) || tirc_region_of(reads.n, reads.at, b);
}

/* Blocks inside are a matter of goes_on_inside. */
static bool may_read_before(Sched *s, SRef *block, Buffer b) {
  const Block *of = tirc_block_of(block);
  const bool any =
      block->scope->n_blocks ? tirc_declared_read(of, b) != NULL : reads(s->c, block, b);
  return any && !tirc_only_adds(of, b) && !tirc_starts_by_hand(s, block, b);
}

/* Whether what the block reads of the buffer was surely stored by blocks before it in the scope. */
static bool follows_stores(Sched *s, const SRef *scope, SRef *block, Buffer b) {
  const SRefs *writers = tirc_accessors_of(scope->scope, b, true);
  const int n = tirc_first_from(writers, block->order);
  for (int i = 0; i < n; i++) {
    SRef *w = writers->at[i];
    const Region *stored = tirc_declared_write(tirc_block_of(w), b);
    if (!stored || tirc_is_guarded(s, w, scope) || !tirc_writes_box(s, w, stored)) return false;
  }
  return n > 0 && block->region_cover && tirc_declared_read(tirc_block_of(block), b);
}

/* Whether the init surely stores what the updates read of the buffer. */
static bool init_starts(Sched *s, SRef *block, Buffer b) {
  Block update = tirc_without_views(s->c, block->stmt)->u.block;
  const Stmt starts = update.init;
  update.init = NULL;
  OwnReads own = {.buffer = b};
  own.v = (Visitor){.expr = see_own_read, .self = &own};
  tirc_visit_stmt(&own.v, update.body);
  if (!own.other || (only_stores(starts) && !loads_others(s->c, update.body, b, starts)) ||
      tirc_part_writes_box(s, block, starts, tirc_declared_write(&update, b)))
    return true;
  const Regions reads = tirc_block_access(s->c, tirc_block(s->c, &update)).reads;
  const Region *read = tirc_region_of(reads.n, reads.at, b);
  return read && tirc_part_writes_box(s, block, starts, read);
}

static bool has_init_of(const SRef *block, Buffer b) {
  return tirc_block_of(block)->init && tirc_declared_write(tirc_block_of(block), b);
}

static bool is_started(Sched *s, SRef *block, Buffer b) {
  return (has_init_of(block, b) && init_starts(s, block, b)) || tirc_starts_by_hand(s, block, b);
}

static bool reads_before(Sched *s, const SRef *scope, SRef *block, Buffer b) {
  return (has_init_of(block, b) || reads(s->c, block, b)) && !is_started(s, block, b) &&
         !follows_stores(s, scope, block, b);
}

/* Blocks inside that read what no init and no block before them has stored, whatever is declared
 * around them. */
static bool goes_on_inside(Sched *s, const SRef *block, Buffer b, bool started) {
  for (int i = 0; i < block->scope->n_blocks; i++) {
    SRef *inner = block->scope->blocks[i];
    const Block *of = tirc_block_of(inner);
    if ((has_init_of(inner, b) && tirc_is_indexed_by_reduction(s, of)) ||
        reads_elsewhere(s->c, of, b) || (!started && reads_before(s, block, inner, b)) ||
        goes_on_inside(s, inner, b,
                       started || is_started(s, inner, b) || follows_stores(s, block, inner, b)))
      return true;
  }
  return false;
}

/* --- what the run before left ------------------------------------------------------------------
 */

typedef struct Run { /* of a block */
  Visitor v;
  Sched *s;
  Expr only;                /* the memory that is looked at; NULL: all */
  PtrMap stored, read, own; /* memory that it stores to, declares to read, has for itself */
  VEC(Expr) started;        /* memory that it adds to after an init of its own */
  VEC(Stmt) before;         /* stores that it has come by, whatever the conditions */
  bool goes_on;
} Run;

static void add_memory(Run *run, PtrMap *to, Buffer b) { tirc_map_set(run->s->c, to, b->data, b); }

static bool see_memory(Visitor *v, Stmt s) {
  Run *run = v->self;
  if (s->kind == STMT_STORE) add_memory(run, &run->stored, s->u.store.buffer);
  if (s->kind == STMT_ALLOC) add_memory(run, &run->own, s->u.alloc.buffer);
  if (s->kind != STMT_BLOCK) return true;
  const Block *b = &s->u.block;
  for (int i = 0; i < b->n_reads; i++) add_memory(run, &run->read, b->reads[i].buffer);
  for (int i = 0; i < b->n_writes; i++) add_memory(run, &run->stored, b->writes[i].buffer);
  for (int i = 0; i < b->n_allocs; i++) add_memory(run, &run->own, b->allocs[i]);
  return true;
}

static bool may_be_left(const Run *run, Expr data) {
  for (int i = 0; i < run->started.n; i++)
    if (run->started.at[i] == data) return false;
  if (run->only && run->only != data) return false;
  return tirc_map_has(&run->stored, data) && !tirc_map_has(&run->own, data);
}

static bool is_stored_before(const Run *run, Expr load) {
  for (int i = 0; i < run->before.n; i++) {
    const Stmt s = run->before.at[i];
    int d = 0;
    if (s->u.store.buffer != load->u.buffer) continue;
    while (d < load->n && tirc_expr_same(s->u.store.indices[d], load->args[d])) d++;
    if (d == load->n) return true;
  }
  return false;
}

static bool see_left(Visitor *v, Expr e) {
  Run *run = v->self;
  if (e->op == OP_LOAD && may_be_left(run, e->u.buffer->data))
    run->goes_on |= !is_stored_before(run, e);
  if (e->op == OP_VAR && tirc_map_has(&run->read, e)) run->goes_on |= may_be_left(run, e);
  return !run->goes_on;
}

static bool see_started(Visitor *v, Stmt s) {
  Run *run = v->self;
  if (s->kind == STMT_STORE) vec_push(run->s->c, run->started, s->u.store.buffer->data);
  return true;
}

/* What runs perhaps, or more than once. */
static void run_inside(Run *run, Stmt s) {
  const int n = run->before.n;
  if (s) tirc_visit_stmt(&run->v, s);
  run->before.n = n;
}

static void run_block(Run *run, const Block *b) {
  const SRef *block = tirc_map_get(&run->s->blocks, tirc_block_key(b->id)); /* NULL: in an init */
  const int started = run->started.n;
  for (int i = 0; i < b->n_iters; i++) tirc_visit_expr(&run->v, b->iter_values[i]);
  tirc_visit_expr(&run->v, b->predicate);
  if (b->init) {
    run->goes_on |= !block || !tirc_sums_start_in_scope(run->s, block) ||
                    tirc_reads_other_output(run->s, block);
    tirc_visit_stmt(&(Visitor){.stmt = see_started, .expr = tirc_skip_expr, .self = run}, b->init);
  }
  for (int i = 0; block && i < b->n_writes; i++)
    if (tirc_starts_by_hand(run->s, block, b->writes[i].buffer))
      vec_push(run->s->c, run->started, b->writes[i].buffer->data);
  run_inside(run, b->init);
  run_inside(run, b->body);
  run->started.n = started;
}

static void run_store(Run *run, Stmt s) {
  bool fixed = true;
  for (int i = 0; i < s->u.store.n; i++) {
    tirc_visit_expr(&run->v, s->u.store.indices[i]);
    fixed &= !tirc_reads_memory(s->u.store.indices[i]);
  }
  tirc_visit_expr(&run->v, s->u.store.value);
  if (fixed) vec_push(run->s->c, run->before, s);
}

static bool see_step(Visitor *v, Stmt s) {
  Run *run = v->self;
  switch (s->kind) {
  case STMT_STORE: run_store(run, s); return false;
  case STMT_BLOCK: run_block(run, &s->u.block); return false;
  case STMT_FOR:
    tirc_visit_expr(v, s->u.loop.min);
    tirc_visit_expr(v, s->u.loop.extent);
    run_inside(run, s->u.loop.body);
    return false;
  case STMT_WHILE:
    tirc_visit_expr(v, s->u.loop_while.cond);
    run_inside(run, s->u.loop_while.body);
    return false;
  case STMT_IF:
    tirc_visit_expr(v, s->u.branch.cond);
    run_inside(run, s->u.branch.then_case);
    run_inside(run, s->u.branch.else_case);
    return false;
  default: return !run->goes_on;
  }
}

/* What is declared may leave out what a view or a block inside reads, and says of an element that
 * is stored first that it is read. */
static bool reads_what_is_left(Sched *s, const SRef *block, Expr only) {
  const Stmt at = tirc_without_views(s->c, block->stmt);
  Run run = {.s = s, .only = only};
  run.v = (Visitor){.expr = see_left, .stmt = see_step, .self = &run};
  tirc_visit_stmt(&(Visitor){.stmt = see_memory, .expr = tirc_skip_expr, .self = &run}, at);
  tirc_visit_stmt(&run.v, at);
  return run.goes_on;
}

bool tirc_goes_on_from_last_run(Sched *s, const SRef *block) {
  return reads_what_is_left(s, block, NULL);
}

bool tirc_reads_own_output(Sched *s, SRef *block, Buffer b) {
  const bool started = is_started(s, block, b);
  if (reads_elsewhere(s->c, tirc_block_of(block), b) || (has_init_of(block, b) && !started) ||
      goes_on_inside(s, block, b, started))
    return true;
  if (has_view(tirc_block_of(block), b) && reads_what_is_left(s, block, b->data)) return true;
  return may_read_before(s, block, b) || tirc_reads_other_output(s, block) ||
         !tirc_sums_start_in_scope(s, block);
}
