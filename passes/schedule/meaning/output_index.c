/* Whether a block stores each step of a sum to an element of its own: then the sum is none. */
#include "ir/tree/print.h"
#include "meaning.h"
#include "passes/schedule/state/nodes.h"

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

const char *tirc_why_indexed_by_reduction(Sched *s, const Block *b) {
  OutputSearch search = {.c = s->c, .b = b};
  for (int i = 0; i < b->n_iters; i++)
    if (b->iters[i].kind == ITER_REDUCE) tirc_map_set(s->c, &search.reduce, b->iters[i].var, b);
  if (search.reduce.n == 0) return NULL;
  look_at_buffers(&search, b);
  Visitor v = {.stmt = look_at_store, .expr = tirc_skip_expr, .self = &search};
  tirc_visit_stmt(&v, b->body);
  if (!search.index) return NULL;
  return tirc_format(s->c, "index %s of buffer %s, which it writes, uses a reduction iterator",
                     tirc_print_expr(s->c, search.index), search.buffer->name);
}

bool tirc_is_indexed_by_reduction(Sched *s, const Block *b) {
  return tirc_why_indexed_by_reduction(s, b) != NULL;
}
