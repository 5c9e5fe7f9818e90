/* Blocks without their views, and what is not known of the views then.
 *
 *   V = T.match_buffer(A[i:i + 4], (4,))          V[k] becomes A[i + k], but an address is that of
 *   ... V[k] ... T.address_of(V[0]) ...           all that the view shows
 */
#include "without_views.h"

#include "ir/tree/views.h"
#include "passes/schedule/state/nodes.h"

static bool is_address(const void *buffer, Expr e) {
  const struct BufferNode *b = buffer;
  const Expr of = e->op == OP_CALL && strcmp(e->u.s, "address_of") == 0 ? e->args[0] : e;
  return of == b->data || (of != e && of->op == OP_LOAD && of->u.buffer == b);
}

static bool takes_address(const Block *b, Buffer of) {
  return (b->init && tirc_find_expr_in(b->init, is_address, of)) ||
         tirc_find_expr_in(b->body, is_address, of);
}

typedef struct Search {
  Tirc *c;
  Plain *to;
  VEC(Opaques *) found; /* of the blocks as they stand, in the order of the text */
  int n;                /* given to the blocks without views */
} Search;

static bool find_opaque(Visitor *v, Stmt stmt) {
  Search *k = v->self;
  if (stmt->kind != STMT_BLOCK) return true;
  const Block *b = &stmt->u.block;
  Opaques *opaque = NULL;
  for (int i = 0; i < b->n_matches; i++) {
    const Region *shown = &b->matches[i].source;
    if (!takes_address(b, b->matches[i].buffer)) continue;
    const bool written = tirc_declared_write(b, shown->buffer);
    /* A sum with an init does not declare that it reads itself. */
    const bool read = tirc_declared_read(b, shown->buffer) || (b->init && written);
    if (!opaque) opaque = tirc_new(k->c, Opaques);
    vec_push(k->c, *opaque, ((Opaque){*shown, read, written}));
  }
  vec_push(k->c, k->found, opaque);
  return true;
}

static bool give_opaque(Visitor *v, Stmt stmt) {
  Search *k = v->self;
  if (stmt->kind == STMT_BLOCK) tirc_map_set(k->c, &k->to->opaque, stmt, k->found.at[k->n++]);
  return true;
}

Plain tirc_plain_blocks(Sched *s, int n, SRef *const *blocks) {
  Plain p = {0};
  Search k = {.c = s->c, .to = &p};
  Visitor find = {.stmt = find_opaque, .expr = tirc_skip_expr, .self = &k};
  Visitor give = {.stmt = give_opaque, .expr = tirc_skip_expr, .self = &k};
  for (int i = 0; i < n; i++) {
    const Stmt at = tirc_without_views(s->c, blocks[i]->stmt);
    tirc_map_set(s->c, &p.blocks, blocks[i], at);
    tirc_visit_stmt(&find, blocks[i]->stmt);
    tirc_visit_stmt(&give, at);
  }
  return p;
}
