/* Many buffers of one block share memory where they follow each other:
 *
 *   t0, t1, t2, t3 = T.alloc_buffer((64,)) ...        t0, t1 = T.alloc_buffer((64,)) ...
 *   t0 = f(A)                                         t0 = f(A)
 *   t1 = f(t0)                                   ->   t1 = f(t0)
 *   t2 = f(t1)                                        t0 = f(t1)
 *   t3 = f(t2)                                        t1 = f(t2)
 *
 * A buffer lives from the first to the last statement of the block's body that touches it, and what
 * it holds before its first store is nobody's. One of the same type and shape that lives behind it
 * takes its memory. Allocations nest, so thousands of them would be no program; of few, each keeps
 * a memory and a name of its own, which is what readers and LLVM's alias analysis know best. */
#include "internal.h"
#include "ir/arith/equal.h"
#include "ir/tree/annotations.h"

#include <stdlib.h>

enum { FEW = 64 };

typedef struct Life {
  Buffer buffer, memory; /* whose memory it takes: its own, or an earlier one's */
  int first, last;       /* statements; first -1: none touches it */
  bool is_fixed;         /* more than its elements is used, or it is of no plain kind */
} Life;

typedef struct Lives {
  int n, statement; /* which is looked at */
  Life *at;
  PtrMap of; /* from a data variable to its Life */
} Lives;

static Life *note_use(Lives *k, Expr data) {
  Life *l = tirc_map_get(&k->of, data);
  if (!l) return NULL;
  if (l->first < 0) l->first = k->statement;
  l->last = k->statement;
  return l;
}

static void note_buffer(Lives *k, Buffer b) {
  Life *l = note_use(k, b->data);
  if (l && l->buffer != b) l->is_fixed = true; /* another buffer of its memory */
}

static void fix(Lives *k, Expr data) {
  Life *l = note_use(k, data);
  if (l) l->is_fixed = true;
}

static bool look_at_expr(Visitor *v, Expr e) {
  if (e->op == OP_VAR) fix(v->self, e);
  if (e->op == OP_LOAD) note_buffer(v->self, e->u.buffer);
  return true;
}

static void fix_viewed(Lives *k, const Block *b) {
  for (int i = 0; i < b->n_matches; i++) fix(k, b->matches[i].source.buffer->data);
}

/* A loop is told by name what it is to prefetch. */
static void fix_prefetched(Lives *k, const For *loop) {
  Expr wish = tirc_attrs_get(loop->annotations, tirc_key(KEY_SOFTWARE_PREFETCH));
  for (int i = 0; wish && i + 1 < wish->n; i += 2)
    for (int b = 0; b < k->n; b++)
      if (wish->args[i]->op == OP_STRING && !strcmp(wish->args[i]->u.s, k->at[b].buffer->name))
        k->at[b].is_fixed = true;
}

static bool look_at_stmt(Visitor *v, Stmt s) {
  Lives *k = v->self;
  if (s->kind == STMT_STORE) note_buffer(k, s->u.store.buffer);
  if (s->kind == STMT_ALLOC || s->kind == STMT_DECL) fix(k, s->u.alloc.buffer->data);
  if (s->kind == STMT_BLOCK) fix_viewed(k, &s->u.block);
  if (s->kind == STMT_FOR) fix_prefetched(k, &s->u.loop);
  return true;
}

static bool is_plain(Buffer b) {
  return b->storage == STORAGE_GLOBAL && !b->strides && !b->elem_offset && !b->n_axis_separators;
}

static bool are_alike(Tirc *c, Buffer a, Buffer b) {
  if (!tirc_dtype_equal(a->dtype, b->dtype) || a->ndim != b->ndim || a->align != b->align)
    return false;
  for (int d = 0; d < a->ndim; d++)
    if (!tirc_expr_equal(c, a->shape[d], b->shape[d])) return false;
  return true;
}

static Lives lives_of(Tirc *c, const Block *b) {
  Lives k = {.n = b->n_allocs, .at = tirc_new_array(c, Life, b->n_allocs)};
  Visitor v = {.stmt = look_at_stmt, .expr = look_at_expr, .regions = true, .self = &k};
  for (int i = 0; i < k.n; i++) {
    k.at[i] = (Life){b->allocs[i], b->allocs[i], -1, -1, !is_plain(b->allocs[i])};
    tirc_map_set(c, &k.of, b->allocs[i]->data, &k.at[i]);
  }
  fix_viewed(&k, b);
  for (; k.statement < b->body->u.seq.n; k.statement++)
    tirc_visit_stmt(&v, tirc_item(b->body, k.statement));
  return k;
}

static int by_first(const void *a, const void *b) {
  const Life *x = *(Life *const *)a, *y = *(Life *const *)b;
  return x->first != y->first ? (x->first > y->first) - (x->first < y->first) : (x > y) - (x < y);
}

/* Those that share, in the order in which they begin; how many. */
static int in_order(Tirc *c, const Lives *k, Life ***out) {
  int n = 0;
  *out = tirc_new_array(c, Life *, k->n);
  for (int i = 0; i < k->n; i++)
    if (!k->at[i].is_fixed && k->at[i].first >= 0) (*out)[n++] = &k->at[i];
  if (n) qsort(*out, (size_t)n, sizeof **out, by_first);
  return n;
}

/* Gives each its memory: that of one whose holders are gone, or its own. */
static void share(Tirc *c, Lives *k) {
  Life **order;
  const int n = in_order(c, k, &order);
  VEC(Life) holders = {0}; /* a memory's buffer, and the last statement that needs it */
  for (int i = 0; i < n; i++) {
    int h = 0;
    while (h < holders.n && (holders.at[h].last >= order[i]->first ||
                             !are_alike(c, holders.at[h].buffer, order[i]->buffer)))
      h++;
    if (h == holders.n) vec_push(c, holders, *order[i]);
    order[i]->memory = holders.at[h].buffer;
    holders.at[h].last = order[i]->last;
  }
}

static Stmt with_shared(Tirc *c, Stmt s) {
  struct StmtNode *to = tirc_copy(c, s, 1);
  Block *b = &to->u.block;
  Lives k = lives_of(c, b);
  PtrMap map = {0};
  VEC(Buffer) left = {0};
  share(c, &k);
  for (int i = 0; i < k.n; i++) {
    if (k.at[i].memory == k.at[i].buffer)
      vec_push(c, left, k.at[i].buffer);
    else
      tirc_map_set(c, &map, k.at[i].buffer, (void *)(uintptr_t)k.at[i].memory);
  }
  b->allocs = left.at;
  b->n_allocs = left.n;
  b->body = tirc_substitute_buffers(c, b->body, &map);
  return tirc_stmt_done(c, to);
}

static Stmt share_in(Mutator *m, Stmt s) {
  s = tirc_mutate_stmt_children(m, s);
  const bool many = s->kind == STMT_BLOCK && s->u.block.n_allocs > FEW;
  return many && s->u.block.body->kind == STMT_SEQ ? with_shared(m->c, s) : s;
}

Stmt tirc_lower_share_buffers(Tirc *c, const Func *f) {
  Mutator m = {.c = c, .stmt = share_in, .expr = tirc_keep_expr};
  return tirc_mutate_stmt(&m, f->body);
}
