/* What a block reads of what it writes itself: whether all of it was stored by the block before.
 * That is so after an init, be it T.init() or one written by hand, `if vk == 0: B[vi] = 0`. */
#include "internal.h"
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
  if (e->op != OP_LOAD || e->u.buffer != o->buffer) return true;
  if (!o->index) o->other = true;
  for (int i = 0; i < e->n && o->index; i++)
    if (!tirc_expr_same(e->args[i], o->index[i])) o->other = true;
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

/* Item number i of a body if it is an init written by hand: only stores, in the first step. */
static Stmt init_by_hand(const Block *b, int i) {
  const Stmt body = b->body;
  if (body->kind != STMT_SEQ || i >= body->u.seq.n) return NULL;
  const Stmt item = tirc_item(body, i);
  if (item->kind != STMT_IF || item->u.branch.else_case) return NULL;
  const Stmt init = item->u.branch.then_case;
  for (int k = 0; init->kind == STMT_SEQ && k < init->u.seq.n; k++)
    if (tirc_item(init, k)->kind != STMT_STORE) return NULL;
  if (init->kind != STMT_SEQ && init->kind != STMT_STORE) return NULL;
  return is_first_iteration(b, item->u.branch.cond) ? init : NULL;
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

/* `if vk == 0: B[vi] = 0` at the start of the body, maybe among others: an init written by hand,
 * after which the block reads nothing of B but what it wrote. */
bool tirc_starts_with_init(const Block *b, Buffer buffer) {
  Start start = {.before = {.buffer = buffer}};
  start.before.v = (Visitor){.expr = see_own_read, .self = &start.before};
  for (int i = 0; !start.store && init_by_hand(b, i); i++)
    tirc_visit_stmt(&(Visitor){.stmt = see_start, .expr = tirc_skip_expr, .self = &start},
                    init_by_hand(b, i));
  const Stmt store = start.store;
  if (!store) return false;
  for (int i = 0; i < b->n_iters; i++)
    for (int k = 0; k < store->u.store.n && b->iters[i].kind != ITER_SPATIAL; k++)
      if (tirc_uses_var(store->u.store.indices[k], b->iters[i].var)) return false;
  OwnReads in_body = {.buffer = buffer, .index = store->u.store.indices};
  in_body.v = (Visitor){.expr = see_own_read, .self = &in_body};
  tirc_visit_stmt(&in_body.v, b->body);
  return !in_body.other && !start.before.other;
}

typedef struct Elements { /* which the block stores to */
  const Block *b;
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
  Elements one = {.b = e->b, .load = load};
  tirc_visit_stmt(&(Visitor){.stmt = compare_store, .expr = tirc_skip_expr, .self = &one},
                  e->b->body);
  e->other |= !one.stored;
  return true;
}

/* Of a sum, whose regions leave out what it reads of its output. */
static bool reads_elsewhere(Tirc *c, const Block *b, Buffer buffer) {
  if (!b->init) return false;
  Elements e = {.b = b, .load = tirc_load(c, buffer, 0, NULL)};
  tirc_visit_stmt(&(Visitor){.expr = compare_load, .self = &e}, b->body);
  return e.other;
}

bool tirc_reads_own_output(Sched *s, SRef *block, Buffer b) {
  if (reads_elsewhere(s->c, tirc_block_of(block), b)) return true;
  return (tirc_declared_read(tirc_block_of(block), b) && !tirc_starts_by_hand(s, block, b)) ||
         tirc_reads_other_output(s, block) || !tirc_sums_start_in_scope(s, block);
}
