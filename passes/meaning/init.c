/* The init of a sum: T.init, or one written by hand. */
#include "sums.h"

#include "ir/arith/access.h"
#include "ir/tree/find.h"
#include "ir/tree/print.h"

/* --- by hand ---------------------------------------------------------------------------------- */

/* Inits written by hand, `if vk == 0: B[vi] = 0` at the start of a body, and what a block reads of
 * its output until it has stored to it. */

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
  o->other |= !o->index || !tirc_same_exprs(e->n, e->args, o->index);
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
  tirc_visit_stmts(init, see_start, start);
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

/* --- elements of the steps -------------------------------------------------------------------- */

/* Whether a block stores each step of a sum to an element of its own: then the sum is none. */

typedef struct OutputSearch {
  Tirc *c;
  const Block *b;
  PtrMap reduce; /* reduction iterators, and what is bound to them */
  PtrMap own;    /* buffers that live inside of the block */
  Expr index;
  Buffer buffer;
} OutputSearch;

static void look_at_index(OutputSearch *search, Expr index, Buffer buffer) {
  if (search->index || tirc_map_has(&search->own, buffer)) return;
  if (!tirc_uses_any(index, &search->reduce)) return;
  search->index = index;
  search->buffer = buffer;
}

static void look_at_buffers(OutputSearch *search, const Block *b) {
  for (int i = 0; i < b->n_allocs; i++) tirc_map_set(search->c, &search->own, b->allocs[i], b);
  for (int i = 0; i < b->n_matches; i++) {
    const Region *shown = &b->matches[i].source;
    for (int k = 0; k < search->b->n_writes; k++)
      for (int d = 0; search->b->writes[k].buffer == shown->buffer && d < shown->buffer->ndim; d++)
        look_at_index(search, shown->dims[d].min, shown->buffer);
  }
}

static bool look_at_store(Visitor *v, Stmt stmt) {
  OutputSearch *search = v->self;
  if (search->index) return false;
  if (stmt->kind == STMT_LET && tirc_uses_any(stmt->u.let.value, &search->reduce))
    tirc_map_set(search->c, &search->reduce, stmt->u.let.var, stmt);
  if (stmt->kind == STMT_BLOCK) {
    const Block *b = &stmt->u.block;
    for (int i = 0; i < b->n_iters; i++)
      if (tirc_uses_any(b->iter_values[i], &search->reduce))
        tirc_map_set(search->c, &search->reduce, b->iters[i].var, stmt);
    look_at_buffers(search, b);
  }
  if (stmt->kind == STMT_ALLOC) tirc_map_set(search->c, &search->own, stmt->u.alloc.buffer, stmt);
  if (stmt->kind != STMT_STORE) return true;
  for (int i = 0; i < stmt->u.store.n; i++)
    look_at_index(search, stmt->u.store.indices[i], stmt->u.store.buffer);
  return false;
}

const char *tirc_why_indexed_by_reduction(Tirc *c, const Block *b) {
  OutputSearch search = {.c = c, .b = b};
  for (int i = 0; i < b->n_iters; i++)
    if (b->iters[i].kind == ITER_REDUCE) tirc_map_set(c, &search.reduce, b->iters[i].var, b);
  if (search.reduce.n == 0) return NULL;
  look_at_buffers(&search, b);
  tirc_visit_stmts(b->body, look_at_store, &search);
  if (!search.index) return NULL;
  return tirc_format(c, "index %s of buffer %s, which it writes, uses a reduction iterator",
                     tirc_print_expr(c, search.index), search.buffer->name);
}

static bool is_load_of_output(const void *block, Expr e) {
  return e->op == OP_LOAD && tirc_declared_write(block, e->u.buffer);
}

bool tirc_init_reads_output(const Block *b) {
  return b->init && tirc_find_expr_in(b->init, is_load_of_output, b);
}
