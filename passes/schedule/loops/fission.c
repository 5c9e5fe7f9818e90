/* fission(block_or_loop): the statements of a loop's body get loops of their own, those of a block
 * blocks. The reverse of merge.
 *
 *   for i:                          for i: block B           with T.block("M"):
 *     block B        fission(i)     for i: block C             M[vi] = ...       fission("M")
 *     block C            ->                                    S[vi] = ...           ->
 *
 *                                   with T.block("M"): M[vi] = ...
 *                                   with T.block("S"): S[vi] = ...
 *
 * Of a loop all iterations of one statement come before the first one of the next: no later
 * statement may use what an earlier one uses in a later iteration. A statement that is in no block
 * must call nothing that nobody knows.
 *
 * Of a block nothing changes its place but parts of the init: the stores to a buffer go to the
 * first statement that uses it, and thus behind those before that. What decides where the block
 * runs must not be changed by its own statements.
 *
 * The new loops and blocks have handles of their own, the old one is stale; what is in them keeps
 * its handle. */
#include "ir/tree/print.h"
#include "loops.h"
#include "passes/schedule/blocks/blocks.h"

typedef struct Fission {
  Sched *s;
  Tirc *c;
  SRef *at;
  int n;
  const Stmt *items;
  StrMap names; /* of blocks that were made */
} Fission;

/* --- the shape -------------------------------------------------------------------------------- */

static _Noreturn void bad_shape(const Fission *f, const char *condition, const char *hint) {
  tirc_sched_error(f->s, f->at->stmt, SERR_FISSION_SHAPE, condition, hint, "%s cannot be divided",
                   tirc_describe(f->s, f->at->stmt));
}

static void read_items(Fission *f) {
  const Stmt body = tirc_body_of(f->at->stmt);
  f->n = tirc_body_items(f->c, body, &f->items);
  if (f->n > 1) return;
  if (body->kind == STMT_LET)
    bad_shape(f, tirc_format(f->c, "%s is let around the statements", body->u.let.var->u.s),
              "put the value in the place of the name first (inline_let, of a block)");
  bad_shape(f,
            body->kind == STMT_IF      ? "a condition is around its statements"
            : body->kind == STMT_FOR   ? "all of its body is a loop"
            : body->kind == STMT_BLOCK ? "all of its body is a block"
                                       : "its body is one statement",
            NULL);
}

/* The node with others in its place. */
static void put(const Fission *f, int n, const Stmt *with) {
  SRef *up = f->at->parent;
  const Stmt body = tirc_body_of(up->stmt);
  const int place = tirc_item_index(f->at);
  const Stmt to = place >= 0 ? tirc_seq_splice(f->c, body, place, 1, n, with)
                             : tirc_replace_stmt(f->c, body, f->at->stmt, tirc_seq(f->c, n, with));
  tirc_sched_replace(f->s, up, tirc_with_body(f->c, up->stmt, to));
}

/* --- a loop ----------------------------------------------------------------------------------- */

static bool calls(const void *unused, Expr e) { return (void)unused, e->op == OP_CALL; }

static bool see_call(Visitor *v, Stmt s) {
  Stmt *found = v->self;
  if (s->kind == STMT_EVAL && !*found && tirc_find_expr(s->u.eval.value, calls, NULL)) *found = s;
  return s->kind != STMT_BLOCK && !*found;
}

static void require_no_loose_call(const Fission *f) {
  Stmt found = NULL;
  tirc_visit_stmts(tirc_body_of(f->at->stmt), see_call, &found);
  if (!found) return;
  tirc_sched_mark(f->s, found);
  bad_shape(f, "a call stands outside of blocks, and what it does is not known",
            "put the call into a block that declares what it reads and writes");
}

static void divide_loop(Fission *f, Value result) {
  Tirc *c = f->c;
  const For *loop = tirc_loop_of(f->at);
  tirc_require_bare_loop(f->s, f->at);
  read_items(f);
  require_no_loose_call(f);
  const char *lost = tirc_lost_apart(f->s, f->at, f->n, f->items);
  if (lost)
    tirc_sched_error(f->s, f->at->stmt, SERR_ORDER_MATTERS, lost,
                     "give values that one statement passes to another a separate place for each "
                     "iteration, or leave the statements together",
                     "in separate loops, accesses to the same element might change their order");
  Stmt *loops = tirc_new_array(c, Stmt, f->n);
  for (int i = 0; i < f->n; i++) {
    For one = *loop;
    one.var = tirc_var(c, loop->var->u.s, loop->var->dtype);
    one.body = tirc_substitute1_stmt(c, f->items[i], loop->var, one.var);
    loops[i] = tirc_with_loc(c, tirc_for(c, &one), f->at->stmt->loc);
    tirc_value_append(c, result, tirc_value_loop(one.var));
  }
  put(f, f->n, loops);
}

/* --- a block ---------------------------------------------------------------------------------- */

typedef struct Memory {
  const Buffer *buffer;
  bool loads, stores;
} Memory;

static bool see_memory_expr(Visitor *v, Expr e) {
  Memory *m = v->self;
  m->loads |=
      (e->op == OP_LOAD && e->u.buffer->data == (*m->buffer)->data) || e == (*m->buffer)->data;
  return true;
}

static bool see_memory(Visitor *v, Stmt s) {
  Memory *m = v->self;
  m->stores |= s->kind == STMT_STORE && s->u.store.buffer->data == (*m->buffer)->data;
  return true;
}

static Memory memory_in(Stmt s, Buffer b) {
  Memory m = {.buffer = &b};
  tirc_visit_stmt(&(Visitor){.expr = see_memory_expr, .stmt = see_memory, .self = &m}, s);
  return m;
}

static bool is_touched(const void *item, Expr e) {
  return e->op == OP_LOAD && memory_in(item, e->u.buffer).stores;
}

static _Noreturn void init_lost(const Fission *f, Stmt init, const char *why) {
  tirc_sched_mark(f->s, init);
  tirc_sched_error(f->s, f->at->stmt, SERR_ORDER_MATTERS, why,
                   "let each statement initialize the element that it adds to, or call "
                   "decompose_reduction first",
                   "the init of block %s would run too late for one of its statements",
                   tirc_name_of(f->at));
}

/* Which statement a store of the init goes to. */
static int place_of_init(const Fission *f, Stmt store) {
  if (store->kind != STMT_STORE) bad_shape(f, "its init is more than stores", NULL);
  const Buffer b = store->u.store.buffer;
  for (int i = 0; i < f->n; i++) {
    const Memory m = memory_in(f->items[i], b);
    if (m.loads && !m.stores)
      init_lost(f, store,
                tirc_format(f->c, "a statement reads %s before one stores to it", b->name));
    if (m.stores) return i;
    if (tirc_find_expr_in(store, is_touched, f->items[i]))
      init_lost(f, store,
                tirc_format(f->c, "what %s starts from is loaded, and stored to by a statement",
                            b->name));
  }
  bad_shape(f, tirc_format(f->c, "none of its statements stores to %s, as its init does", b->name),
            NULL);
}

static Stmt *divided_init(const Fission *f) {
  const Stmt init = tirc_block_of(f->at)->init, *stores;
  Stmt *parts = tirc_new_array(f->c, Stmt, f->n);
  const int n = init ? tirc_body_items(f->c, init, &stores) : 0;
  for (int i = 0; i < n; i++) {
    const int k = place_of_init(f, stores[i]);
    for (int j = 0; j < i; j++)
      if (place_of_init(f, stores[j]) > k && (tirc_find_expr_in(stores[i], is_touched, stores[j]) ||
                                              tirc_find_expr_in(stores[j], is_touched, stores[i])))
        init_lost(f, stores[i], "one store of the init reads what another one stores");
    const Stmt both[] = {parts[k], stores[i]};
    parts[k] = parts[k] ? tirc_seq(f->c, 2, both) : stores[i];
  }
  return parts;
}

static void require_place_kept(const Fission *f, Expr e, const char *what) {
  if (!tirc_loads_change(f->s, f->at, e)) return;
  tirc_sched_error(f->s, f->at->stmt, SERR_ORDER_MATTERS,
                   tirc_format(f->c, "%s is loaded, but the block stores to it", what), NULL,
                   "the statements of block %s would run in different instances",
                   tirc_name_of(f->at));
}

static void require_own_statements(const Fission *f) {
  const Block *b = tirc_block_of(f->at);
  if (b->n_allocs) bad_shape(f, "it allocates a buffer that its statements share", NULL);
  if (b->n_matches) bad_shape(f, "its statements share views", NULL);
  for (const SRef *r = f->at->parent; b->init && r; r = r->parent)
    if (tirc_is_block(r) && tirc_block_of(r)->n_matches)
      bad_shape(f, "it has an init, and a block around it has views", NULL);
  if (tirc_block_access(f->c, f->at->stmt).opaque.n)
    bad_shape(f, "a call in it gets the address of a buffer", NULL);
  require_place_kept(f, b->predicate, "its predicate");
  for (int i = 0; i < b->n_iters; i++) {
    require_place_kept(f, b->iter_values[i], "what binds an iterator");
    require_place_kept(f, b->iters[i].dom.min, "a domain");
    require_place_kept(f, b->iters[i].dom.extent, "a domain");
  }
}

static Stmt part_of(Fission *f, int i, Stmt init) {
  Tirc *c = f->c;
  Block b = *tirc_block_of(f->at);
  PtrMap map = {0};
  IterVar *iters = tirc_new_array(c, IterVar, b.n_iters + 1);
  for (int k = 0; k < b.n_iters; k++) {
    iters[k] = b.iters[k];
    iters[k].var = tirc_var(c, iters[k].var->u.s, iters[k].var->dtype);
    tirc_map_set(c, &map, b.iters[k].var, iters[k].var);
  }
  const char *stored = i ? tirc_stored_name(f->items[i]) : NULL;
  if (i) b.name = tirc_free_block_name(f->s, f->at->func, stored ? stored : b.name, &f->names);
  b.id = 0;
  b.iters = iters;
  b.body = tirc_substitute_stmt(c, f->items[i], &map);
  b.init = init ? tirc_substitute_stmt(c, init, &map) : NULL;
  b.hides = false;
  return tirc_infer_regions(c, tirc_with_loc(c, tirc_block(c, &b), f->items[i]->loc), false, false);
}

static void divide_block(Fission *f, Value result) {
  if (!f->at->parent)
    tirc_refuse(f->s, f->at->stmt, SERR_ROOT_BLOCK, "block %s is the root block of its function",
                tirc_name_of(f->at));
  read_items(f);
  require_own_statements(f);
  Stmt *const inits = divided_init(f), *blocks = tirc_new_array(f->c, Stmt, f->n);
  for (int i = 0; i < f->n; i++) {
    blocks[i] = part_of(f, i, inits[i]);
    tirc_value_append(f->c, result, tirc_value_block(blocks[i]->u.block.id));
  }
  put(f, f->n, blocks);
}

void tirc_prim_fission(Sched *s, const Value *args, Value *result) {
  Fission f = {.s = s, .c = s->c, .at = tirc_sref_of_value(s, args[0])};
  *result = tirc_value_list(s->c, VAL_LIST, 0, NULL);
  if (tirc_is_loop(f.at))
    divide_loop(&f, *result);
  else
    divide_block(&f, *result);
}
