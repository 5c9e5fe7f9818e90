/* The test behind reorder: would two accesses to the same element, at least one of them a write,
 * change places?
 *
 * First by looking. A buffer is safe when one block only uses it, and that block either loads
 * exactly the elements that it stores (an update, as of a reduction: additions may come in any
 * order, commutes.c), or does not load it and stores each element from one instance. That is
 * nearly every block there is.
 *
 * What remains (a shift in place, a skew, a producer and its consumer in one loop body) is asked
 * in meaning/order.h. A view whose address goes into a call may touch all that it shows. */
#include "sight.h"

#include "../../../ir/print.h"
#include "../../../ir/visit.h"
#include "../blocks/blocks.h"
#include "../core/core.h"
#include "../meaning/meaning.h"
#include "without_views.h"

#include "ir/access.h"

/* --- looking --------------------------------------------------------------------------------- */

/* How one block uses one buffer. */
typedef struct Use {
  Tirc *c;
  SRef *block;
  Buffer buffer;
  const PtrMap *opaque;
  int loads, stores;
  int n;
  const Expr *indices; /* of the first access */
  bool same_indices;   /* all accesses have them */
  bool constant;       /* all that is stored does not depend on anything */
} Use;

static void add_access(Use *u, int n, const Expr *indices) {
  if (u->loads + u->stores == 0) {
    u->n = n;
    u->indices = indices;
    u->same_indices = true;
    u->constant = true;
    return;
  }
  for (int i = 0; i < n && u->same_indices; i++)
    u->same_indices = n == u->n && tirc_expr_same(indices[i], u->indices[i]);
}

static bool look_at_expr(Visitor *v, Expr e) {
  Use *u = v->self;
  if (e->op == OP_LOAD && e->u.buffer == u->buffer) {
    add_access(u, e->n, e->args);
    u->loads++;
  }
  return true;
}

static const Expr *start_of(Tirc *c, const Region *shown) {
  Expr *start = tirc_new_array(c, Expr, shown->buffer->ndim + 1);
  for (int k = 0; k < shown->buffer->ndim; k++) start[k] = shown->dims[k].min;
  return start;
}

static void look_at_opaque(Use *u, const Opaques *opaque) {
  for (int i = 0; opaque && i < opaque->n; i++) {
    const Opaque *o = &opaque->at[i];
    if (o->shown.buffer != u->buffer) continue;
    add_access(u, u->buffer->ndim, start_of(u->c, &o->shown));
    u->loads += o->read;
    u->stores += o->written;
    u->constant = false;
  }
}

static void look_at_extents(Visitor *v, Buffer made) {
  for (int i = 0; i < made->ndim; i++) tirc_visit_expr(v, made->shape[i]);
}

static bool look_at_stmt(Visitor *v, Stmt stmt) {
  Use *u = v->self;
  if (stmt->kind == STMT_BLOCK) {
    look_at_opaque(u, tirc_map_get(u->opaque, stmt));
    for (int i = 0; i < stmt->u.block.n_allocs; i++) look_at_extents(v, stmt->u.block.allocs[i]);
  }
  if (stmt->kind == STMT_ALLOC) look_at_extents(v, stmt->u.alloc.buffer);
  if (stmt->kind == STMT_STORE && stmt->u.store.buffer == u->buffer) {
    add_access(u, stmt->u.store.n, stmt->u.store.indices);
    u->stores++;
    u->constant &= tirc_is_constant(stmt->u.store.value);
  }
  return true;
}

/* That of its init, or of one that is written by hand. */
static Use use_of_init(Sched *s, const Plain *plain, SRef *block, Buffer b) {
  Use u = {.c = s->c, .block = block, .buffer = b, .opaque = &plain->opaque};
  Visitor v = {.stmt = look_at_stmt, .expr = look_at_expr, .self = &u};
  const Block *at = &((Stmt)tirc_map_get(&plain->blocks, block))->u.block;
  if (at->init) tirc_visit_stmt(&v, at->init);
  for (int i = 0; i < tirc_inits_by_hand(at); i++) tirc_visit_stmt(&v, tirc_item(at->body, i));
  return u;
}

static Use use_of(Sched *s, const Plain *plain, SRef *block, Buffer b) {
  Use u = {.c = s->c, .block = block, .buffer = b, .opaque = &plain->opaque};
  Visitor v = {.stmt = look_at_stmt, .expr = look_at_expr, .self = &u};
  const Stmt at = tirc_map_get(&plain->blocks, block);
  look_at_stmt(&v, at);
  tirc_visit_expr(&v, at->u.block.predicate);
  for (int i = 0; i < at->u.block.n_iters; i++) {
    tirc_visit_expr(&v, at->u.block.iters[i].dom.min);
    tirc_visit_expr(&v, at->u.block.iters[i].dom.extent);
    tirc_visit_expr(&v, at->u.block.iter_values[i]);
  }
  tirc_visit_stmt(&v, at->u.block.body);
  return u;
}

/* Whether the block's own instances may run in any order, as far as this buffer goes. */
static bool is_update(Sched *s, const Use *u, bool once) {
  return u->loads && u->same_indices &&
         (once || tirc_update_commutes(s->c, tirc_block_of(u->block)));
}

/* Whether different instances of the block store different elements; of an init, those that differ
 * in more than the steps of a sum. */
static bool stores_once(Sched *s, const Use *u, bool init) {
  const Block *b = tirc_block_of(u->block);
  VEC(Expr) vars = {0};
  VEC(Range) doms = {0};
  bool plain = u->same_indices;
  for (int i = 0; i < b->n_iters; i++) {
    if (tirc_is_int(b->iters[i].dom.extent, 1) || (init && b->iters[i].kind == ITER_REDUCE))
      continue;
    vec_push(s->c, vars, b->iters[i].var);
    vec_push(s->c, doms, b->iters[i].dom);
    int k = 0;
    while (k < u->n && u->indices[k] != b->iters[i].var) k++;
    plain &= k < u->n;
  }
  if (plain || !u->same_indices || !u->n) return plain;
  return tirc_detect_iter_map(tirc_analyzer(s->c), u->n, u->indices, vars.n, vars.at, doms.at, NULL,
                              ITER_LEVEL_BIJECTIVE, true, NULL) != NULL;
}

/* --- asking ---------------------------------------------------------------------------------- */

typedef struct Ask {
  Sched *s;
  Nest nest;
  VEC(User) users;
  PtrMap own; /* buffers that each iteration allocates for itself */
} Ask;

static const char *user_text(Sched *s, const User *g) {
  return g->block ? tirc_format(s->c, "%sblock %s", g->init ? "the init of " : "",
                                tirc_block_of(g->block)->name)
                  : "a statement outside of blocks";
}

static _Noreturn void order_lost(const Nest *nest, const Loss *loss) {
  Sched *s = nest->s;
  const char *first = user_text(s, loss->first), *second = user_text(s, loss->second);
  const char *name = loss->second->buffer->name;
  for (int i = 0; i < nest->n; i++) tirc_sched_mark(s, nest->chain[i]->stmt);
  const User *init = loss->first->init ? loss->first : loss->second->init ? loss->second : NULL;
  const char *what =
      !loss->witness
          ? tirc_format(s->c,
                        "which elements of buffer %s %s uses cannot be told apart for sure before "
                        "the program runs: it may wait for an earlier one",
                        name, second)
      : loss->first->block == loss->second->block
          ? tirc_format(s->c,
                        "an instance of %s uses an element of buffer %s that an earlier one wrote "
                        "or read, and would run before it: %s",
                        second, name, loss->witness)
          : tirc_format(s->c,
                        "%s uses elements of buffer %s that %s wrote or read in an earlier "
                        "iteration, and would run before it: %s",
                        second, name, first, loss->witness);
  if (init && loss->first->block == loss->second->block)
    tirc_sched_error(s, SERR_ORDER_MATTERS, what, NULL,
                     "in the new order of the loops %s would not run when it must",
                     user_text(s, init));
  tirc_sched_error(s, SERR_ORDER_MATTERS, what, NULL,
                   "the new order of the loops changes what %s computes", second);
}

static bool seen(const Ask *r, Buffer b) {
  for (int i = 0; i < r->users.n; i++)
    if (r->users.at[i].buffer == b) return true;
  return false;
}

static bool add_own(Visitor *v, Stmt s) {
  Ask *r = v->self;
  for (int i = 0; s->kind == STMT_BLOCK && i < s->u.block.n_allocs; i++)
    tirc_map_set(r->s->c, &r->own, s->u.block.allocs[i], s);
  if (s->kind == STMT_ALLOC) tirc_map_set(r->s->c, &r->own, s->u.alloc.buffer, s);
  return true;
}

/* Whether an instance uses of the buffer what its init stores, and shares it with no other one. */
static bool has_own_sums(Sched *s, const Use *init, const Use *body) {
  bool own = stores_once(s, init, true) && (!body->n || body->same_indices);
  for (int i = 0; own && i < body->n; i++)
    own = body->n == init->n && tirc_expr_same(body->indices[i], init->indices[i]);
  return own;
}

/* An init that may come too late, or too early. */
static bool consider_init(Ask *r, SRef *block, const Use *body) {
  Sched *s = r->s;
  const Nest *nest = &r->nest;
  const Use init = use_of_init(s, nest->plain, block, body->buffer);
  if (init.loads + init.stores == 0 ||
      (!init.loads && tirc_init_stays_first(s, nest->n, nest->chain, nest->order, block) &&
       (has_own_sums(s, &init, body) || !tirc_instances_depend(s, block))))
    return false;
  vec_push(s->c, r->users,
           ((User){.block = block,
                   .buffer = body->buffer,
                   .init = true,
                   .stores_once = init.constant || stores_once(s, &init, true)}));
  return true;
}

/* Adds the buffer's users to those that are asked about unless it is safe by sight. */
static void consider(Ask *r, Buffer b, int n_blocks, SRef *const *blocks) {
  Sched *s = r->s;
  int users = 0, loads = 0, first = r->users.n;
  bool safe = true;
  if (seen(r, b) || tirc_map_has(&r->own, b)) return;
  for (int i = 0; i < n_blocks; i++) {
    Use u = use_of(s, r->nest.plain, blocks[i], b);
    users += consider_init(r, blocks[i], &u);
    if (u.loads + u.stores == 0) continue;
    const bool once = u.stores && (u.constant || stores_once(s, &u, false));
    User g = {
        .block = blocks[i], .buffer = b, .update = is_update(s, &u, once), .stores_once = once};
    vec_push(s->c, r->users, g);
    users++;
    loads += u.loads;
    safe &= g.update || (!u.loads && once);
  }
  if (tirc_loosely_used(tirc_scope_root(s, r->nest.chain[0]), NULL, b)) {
    vec_push(s->c, r->users, ((User){.buffer = b}));
    users++;
    loads++;
    safe = false;
  }
  if (users == 1 && !safe) r->users.at[first].last_counts = !loads;
  if (users <= 1 && safe) r->users.n = first;
}

typedef struct InnerSums {
  Sched *s;
  const Block *outer;
  Stmt found;
} InnerSums;

static bool see_inner_sum(Visitor *v, Stmt stmt) {
  InnerSums *k = v->self;
  if (stmt->kind != STMT_BLOCK || &stmt->u.block == k->outer) return !k->found;
  SRef *r = tirc_sref_find(k->s, stmt);
  if (r && !tirc_sums_start_in_scope(k->s, r)) k->found = stmt;
  return !k->found;
}

/* Sums inside of a block that go on from one instance of it to the next, and start in one of them.
 */
static void require_sums_inside(Sched *s, SRef *const *chain, SRef *block) {
  InnerSums k = {.s = s, .outer = tirc_block_of(block)};
  tirc_visit_stmt(&(Visitor){.stmt = see_inner_sum, .expr = tirc_skip_expr, .self = &k},
                  block->stmt);
  if (!k.found) return;
  tirc_sched_mark(s, chain[0]->stmt);
  tirc_sched_mark(s, k.found);
  tirc_sched_error(s, SERR_ORDER_MATTERS, NULL, NULL,
                   "block %s in block %s goes on with sums that are started in other instances of "
                   "that, and they might come later in the new order of the loops",
                   k.found->u.block.name, tirc_block_of(block)->name);
}

static bool is_summed_over(const Block *b, const SRef *loop) {
  for (int i = 0; i < b->n_iters; i++)
    if (b->iters[i].kind == ITER_REDUCE &&
        tirc_uses_var(b->iter_values[i], tirc_loop_of(loop)->var))
      return true;
  return false;
}

/* Whether the steps of the block's reduction come in another order. */
static bool turns_steps(const Block *b, int n, SRef *const *chain, SRef *const *order) {
  for (int i = 0, k = 0; i < n; i++) {
    if (!is_summed_over(b, chain[i])) continue;
    while (!is_summed_over(b, order[k])) k++;
    if (chain[i] != order[k++]) return true;
  }
  return false;
}

/* They are evaluated once more, or once less, where loops change places. */
static void require_bounds_stand_still(Sched *s, int n, SRef *const *chain) {
  for (int i = 1; i < n; i++) {
    const For *f = tirc_loop_of(chain[i]);
    if (!tirc_loads_change(s, chain[0], f->min) && !tirc_loads_change(s, chain[0], f->extent))
      continue;
    tirc_sched_mark(s, chain[0]->stmt);
    tirc_sched_error(s, SERR_ORDER_MATTERS,
                     tirc_format(s->c,
                                 "the bounds of loop %s are loaded, and stored to in the nest",
                                 f->var->u.s),
                     NULL, "in the new order of the loops %s runs over another range", f->var->u.s);
  }
}

void tirc_require_order_kept(Sched *s, int n, SRef *const *chain, SRef *const *order) {
  if (memcmp(chain, order, (size_t)n * sizeof *chain) == 0) return;
  SRef **blocks;
  int n_blocks = tirc_child_blocks(s, chain[n - 1], &blocks);
  const Plain plain = tirc_plain_blocks(s, n_blocks, blocks);
  Ask r = {.s = s, .nest = {s, &plain, n, chain, order, 0, NULL}};
  require_bounds_stand_still(s, n, chain);
  for (int i = 0; i < n_blocks; i++) require_sums_inside(s, chain, blocks[i]);
  tirc_visit_stmt(&(Visitor){.stmt = add_own, .expr = tirc_skip_expr, .self = &r},
                  tirc_loop_of(chain[n - 1])->body);
  for (int i = 0; i < n_blocks; i++)
    for (int k = 0; k < blocks[i]->n_accesses[1]; k++)
      consider(&r, blocks[i]->accesses[1][k].buffer, n_blocks, blocks);
  Buffer *loose;
  const int n_loose = tirc_loose_stores(s, chain[n - 1], &loose);
  for (int i = 0; i < n_loose; i++) consider(&r, loose[i], n_blocks, blocks);
  for (int i = 0; i < n_blocks; i++)
    if (turns_steps(tirc_block_of(blocks[i]), n, chain, order)) tirc_warn_of_equals(s, blocks[i]);
  if (!r.users.n) return;
  r.nest.users = r.users.at;
  r.nest.n_users = r.users.n;
  Loss loss;
  if (!tirc_keeps_order(&r.nest, &loss)) order_lost(&r.nest, &loss);
}
