/* What a block uses of a buffer where blocks inside of it have predicates: these leave less of the
 * buffer than the block declares.
 *
 *   for i, j in T.grid(12, 24):
 *       with T.block("C"):                      declares C[vi, vj], 12 x 24
 *           with T.block("inner"):
 *               T.where(vi < 10 and vj < 20)    uses 10 x 20 of it
 *
 * Beside each other, each such block leaves a box, and what is used is in the hull of these. */
#include "copies.h"

enum { MOST_PATHS = 16 };

typedef struct Nested {
  Visitor v;
  Tirc *c;
  Buffer buffer;
  bool write;
  Expr condition; /* of the blocks around the place, NULL: there is none yet */
  PtrMap inside;  /* what is bound in the block: loops, iterators, lets */
  int n;          /* conditions under which it is used */
  Expr at[MOST_PATHS];
  bool always; /* or under none, or too many */
} Nested;

static void note_use(Nested *k) {
  const Expr known = k->condition ? tirc_conjuncts(k->c, k->condition, &k->inside, false) : NULL;
  for (int i = 0; known && i < k->n; i++)
    if (tirc_expr_same(k->at[i], known)) return;
  if (!known || tirc_is_true(known) || tirc_reads_memory(known) || k->n == MOST_PATHS)
    k->always = true;
  else
    k->at[k->n++] = known;
}

static bool see_use(Visitor *v, Expr e) {
  Nested *k = v->self;
  const bool load = !k->write && e->op == OP_LOAD && e->u.buffer == k->buffer;
  if (load || e == k->buffer->data) note_use(k);
  return !k->always;
}

static bool see_nested(Visitor *v, Stmt s) {
  Nested *k = v->self;
  if (k->always) return false;
  if (s->kind == STMT_FOR) tirc_map_set(k->c, &k->inside, s->u.loop.var, s);
  if (s->kind == STMT_LET) tirc_map_set(k->c, &k->inside, s->u.let.var, s);
  if (s->kind == STMT_STORE && k->write && s->u.store.buffer == k->buffer) note_use(k);
  if (s->kind != STMT_BLOCK) return true;
  const Block *b = &s->u.block;
  const Expr outer = k->condition;
  for (int i = 0; i < b->n_matches; i++)
    if (b->matches[i].source.buffer == k->buffer) k->always = true;
  for (int i = 0; i < b->n_iters; i++) {
    tirc_map_set(k->c, &k->inside, b->iters[i].var, s);
    tirc_visit_expr(v, b->iter_values[i]);
  }
  tirc_visit_expr(v, b->predicate);
  k->condition = outer ? tirc_and(k->c, outer, b->predicate) : b->predicate;
  if (b->init) tirc_visit_stmt(v, b->init);
  tirc_visit_stmt(v, b->body);
  k->condition = outer;
  return false;
}

const IntSet *tirc_used_box(Sched *s, Analyzer *a, SRef *block, Region declared, bool write,
                            SRef *high) {
  const Block *b = tirc_block_of(block);
  Nested k = {.v = {.expr = see_use, .stmt = see_nested, .self = &k},
              .c = s->c,
              .buffer = declared.buffer,
              .write = write};
  if (block->scope->n_blocks) {
    if (b->init) tirc_visit_stmt(&k.v, b->init);
    tirc_visit_stmt(&k.v, b->body);
  }
  const Expr own = tirc_touching_condition(s, block);
  if (k.always || !k.n) return tirc_region_upper(s, a, declared, own, block->parent, high);
  PtrMap bindings = {0};
  IntSet *hull = NULL;
  tirc_bindings_of(s->c, block->stmt, &bindings);
  for (int i = 0; i < k.n; i++) {
    const Expr condition = tirc_and(s->c, own, tirc_substitute(s->c, k.at[i], &bindings));
    const IntSet *one = tirc_region_upper(s, a, declared, condition, block->parent, high);
    if (!hull) hull = tirc_copy(s->c, one, declared.buffer->ndim);
    for (int d = 0; d < declared.buffer->ndim && i; d++)
      hull[d] = tirc_set_union(a, hull[d], one[d]);
  }
  return hull;
}

bool tirc_uses_less(Sched *s, SRef *block, Buffer buffer, bool write) {
  Nested k = {.v = {.expr = see_use, .stmt = see_nested, .self = &k},
              .c = s->c,
              .buffer = buffer,
              .write = write};
  if (!block->scope->n_blocks) return false;
  tirc_visit_stmt(&k.v, tirc_block_of(block)->body);
  return !k.always && k.n;
}
