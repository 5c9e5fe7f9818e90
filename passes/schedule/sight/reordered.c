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

#include "ir/tree/print.h"

/* --- looking --------------------------------------------------------------------------------- */

/* How one block, or its init, uses one buffer. */
typedef struct Use {
  SRef *block;
  int loads, stores;
  int n;
  const Expr *indices; /* of the first access */
  bool same_indices;   /* all accesses have them */
  bool constant;       /* all that is stored does not depend on anything */
} Use;

static void add_access(Use *u, const Touch *t) {
  if (u->loads + u->stores == 0) {
    u->n = t->n;
    u->indices = t->indices;
    u->same_indices = u->constant = true;
  }
  u->same_indices &= t->n == u->n && tirc_same_exprs(t->n, t->indices, u->indices);
  u->loads += !t->write;
  u->stores += t->write;
  u->constant &= !t->extents && (!t->write || tirc_is_constant(t->stmt->u.store.value));
}

/* An init that is written by hand is part of the block, too. */
static Use use_of(const Extract *x, SRef *block, Buffer b, bool init) {
  Use u = {.block = block};
  for (int i = 0; i < x->touches.n; i++) {
    const Touch *t = &x->touches.at[i];
    if (t->block == block && t->buffer == b &&
        (t->init == init || (t->init && !tirc_block_of(block)->init)))
      add_access(&u, t);
  }
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
  Extract x;
  Nest nest;
  VEC(User) users;
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

/* Whether an instance uses of the buffer what its init stores, and shares it with no other one. */
static bool has_own_sums(Sched *s, const Use *init, const Use *body) {
  return stores_once(s, init, true) &&
         (!body->n || (body->same_indices && body->n == init->n &&
                       tirc_same_exprs(body->n, body->indices, init->indices)));
}

/* An init that may come too late, or too early. */
static bool consider_init(Ask *r, SRef *block, Buffer b, const Use *body) {
  Sched *s = r->s;
  const Nest *nest = &r->nest;
  const Use init = use_of(&r->x, block, b, true);
  if (init.loads + init.stores == 0 ||
      (!init.loads && tirc_init_stays_first(s, nest->n, nest->chain, nest->order, block) &&
       (has_own_sums(s, &init, body) || !tirc_instances_depend(s, block))))
    return false;
  vec_push(s->c, r->users,
           ((User){.block = block,
                   .buffer = b,
                   .init = true,
                   .stores_once = init.constant || stores_once(s, &init, true)}));
  return true;
}

static bool is_loosely_used(const Extract *x, Buffer b) {
  for (int i = 0; i < x->touches.n; i++)
    if (!x->touches.at[i].block && x->touches.at[i].buffer == b) return true;
  return false;
}

/* Adds the buffer's users to those that are asked about unless it is safe by sight. */
static void consider(Ask *r, Buffer b, int n_blocks, SRef *const *blocks) {
  Sched *s = r->s;
  int users = 0, loads = 0, first = r->users.n;
  bool safe = true;
  if (seen(r, b) || tirc_map_has(&r->x.own, b)) return;
  for (int i = 0; i < n_blocks; i++) {
    const Use u = use_of(&r->x, blocks[i], b, false);
    users += consider_init(r, blocks[i], b, &u);
    if (u.loads + u.stores == 0) continue;
    const bool once = u.stores && (u.constant || stores_once(s, &u, false));
    User g = {
        .block = blocks[i], .buffer = b, .update = is_update(s, &u, once), .stores_once = once};
    vec_push(s->c, r->users, g);
    users++;
    loads += u.loads;
    safe &= g.update || (!u.loads && once);
  }
  if (is_loosely_used(&r->x, b)) {
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
  Stmt outer;
} InnerSums;

static bool is_inner_sum(const void *self, Stmt s) {
  const InnerSums *k = self;
  const SRef *r = s->kind == STMT_BLOCK && s != k->outer ? tirc_sref_find(k->s, s) : NULL;
  return r && !tirc_sums_start_in_scope(k->s, r);
}

/* Sums inside of a block that go on from one instance of it to the next, and start in one of them.
 */
static void require_sums_inside(Sched *s, SRef *const *chain, SRef *block) {
  const Stmt found = tirc_find_stmt(block->stmt, is_inner_sum, &(InnerSums){s, block->stmt}, NULL);
  if (!found) return;
  tirc_sched_mark(s, chain[0]->stmt);
  tirc_sched_error_at(
      s, found, SERR_ORDER_MATTERS, NULL, NULL,
      "block %s in block %s goes on with sums that are started in other instances of "
      "that, and they might come later in the new order of the loops",
      found->u.block.name, tirc_block_of(block)->name);
}

bool tirc_is_summed_over(const Block *b, const SRef *loop) {
  return tirc_moves(b, tirc_loop_of(loop)->var, ITER_REDUCE);
}

/* Whether the steps of the block's reduction come in another order. */
static bool turns_steps(const Block *b, int n, SRef *const *chain, SRef *const *order) {
  for (int i = 0, k = 0; i < n; i++) {
    if (!tirc_is_summed_over(b, chain[i])) continue;
    while (!tirc_is_summed_over(b, order[k])) k++;
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
    tirc_sched_error_at(
        s, chain[0]->stmt, SERR_ORDER_MATTERS,
        tirc_format(s->c, "the bounds of loop %s are loaded, and stored to in the nest",
                    f->var->u.s),
        NULL, "in the new order of the loops %s runs over another range", f->var->u.s);
  }
}

void tirc_require_order_kept(Sched *s, int n, SRef *const *chain, SRef *const *order) {
  if (memcmp(chain, order, (size_t)n * sizeof *chain) == 0) return;
  SRef **blocks;
  int n_blocks = tirc_child_blocks(s, chain[n - 1], &blocks);
  const Plain plain = tirc_plain_blocks(s, n_blocks, blocks);
  Ask r = {.s = s, .x = {.s = s, .plain = &plain}};
  r.nest = (Nest){.s = s, .x = &r.x, .n = n, .chain = chain, .order = order};
  require_bounds_stand_still(s, n, chain);
  for (int i = 0; i < n_blocks; i++) require_sums_inside(s, chain, blocks[i]);
  tirc_extract_nest(&r.x, n, chain);
  for (int i = 0; i < r.x.touches.n; i++)
    if (r.x.touches.at[i].write) consider(&r, r.x.touches.at[i].buffer, n_blocks, blocks);
  for (int i = 0; i < n_blocks; i++)
    if (turns_steps(tirc_block_of(blocks[i]), n, chain, order)) tirc_warn_of_equals(s, blocks[i]);
  if (!r.users.n) return;
  r.nest.users = r.users.at;
  r.nest.n_users = r.users.n;
  Loss loss;
  if (!tirc_keeps_order(&r.nest, &loss)) order_lost(&r.nest, &loss);
}
