/* Statements outside of blocks:
 *
 *   for i in range(4):
 *     D[i] = B[i]                      # no block: nobody's producer and nobody's consumer
 *     with T.block("C"):
 *       ...
 *
 * What is known of a scope is about its blocks. Before a block of it is moved or gets a copy, this
 * asks whether something that is not known would be left behind. */
#include "nodes.h"

typedef struct Search {
  const SRef *block;
  const SRef *besides; /* NULL: nothing */
  Buffer buffer;       /* NULL: those of the block */
  Stmt in;             /* the innermost statement */
  Buffer found;
} Search;

static bool matters(const Search *u, Buffer b, bool store) {
  if (u->buffer) return b == u->buffer;
  return tirc_touches(u->block, b, true) || (store && tirc_touches(u->block, b, false));
}

static bool see_load(Visitor *v, Expr e) {
  Search *u = v->self;
  const Block *b = u->block ? tirc_block_of(u->block) : NULL;
  if (e->op == OP_LOAD && matters(u, e->u.buffer, false)) u->found = e->u.buffer;
  if (u->buffer && e == u->buffer->data) u->found = u->buffer;
  for (int i = 0; b && e->op == OP_VAR && i < b->n_writes; i++)
    if (e == b->writes[i].buffer->data) u->found = b->writes[i].buffer;
  return !u->found;
}

static bool see_stmt(Visitor *v, Stmt s) {
  Search *u = v->self;
  if (s->kind == STMT_BLOCK || u->found || (u->besides && s == u->besides->stmt)) return false;
  u->in = s;
  if (s->kind == STMT_STORE && matters(u, s->u.store.buffer, true)) u->found = s->u.store.buffer;
  return !u->found;
}

static void search(Search *u, const SRef *scope) {
  if (!scope->scope->loose) return;
  tirc_visit_stmt(&(Visitor){.expr = see_load, .stmt = see_stmt, .self = u},
                  tirc_block_of(scope)->body);
}

void tirc_require_no_loose_use(Sched *s, const SRef *scope, const SRef *block) {
  Search u = {.block = block};
  search(&u, scope);
  if (!u.found) return;
  tirc_sched_mark(s, block->stmt);
  tirc_sched_error(
      s, u.in, SERR_NOT_STAGE_PIPELINE,
      tirc_format(s->c, "a statement outside of blocks%s uses %s, as block %s does",
                  u.in->loc.line ? tirc_format(s->c, " (line %d)", u.in->loc.line) : "",
                  u.found->name, tirc_name_of(block)),
      "put the statement into its own block", "the scope of block %s is not a stage pipeline",
      tirc_name_of(scope));
}

bool tirc_loosely_used(const SRef *scope, const SRef *besides, Buffer b) {
  Search u = {.buffer = b, .besides = besides};
  search(&u, scope);
  return u.found;
}

typedef struct Stores {
  Tirc *c;
  Buffers at;
} Stores;

static bool add_store(Visitor *v, Stmt s) {
  Stores *stores = v->self;
  if (s->kind == STMT_STORE) vec_push(stores->c, stores->at, s->u.store.buffer);
  return s->kind != STMT_BLOCK;
}

Buffers tirc_loose_stores(Sched *s, SRef *loop) {
  Stores stores = {.c = s->c};
  if (tirc_scope_root(loop)->scope->loose)
    tirc_visit_stmts(tirc_loop_of(loop)->body, add_store, &stores);
  return stores.at;
}
