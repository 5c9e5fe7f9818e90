/* Does a new order of a nest's loops keep what the program means: would two accesses to the same
 * element, at least one of them a write, change places?
 *
 * First by looking. A buffer is safe when one block only uses it, and that block either loads
 * exactly the elements that it stores (an update, as of a reduction: additions may come in any
 * order, commutes.c), or does not load it and stores each element from one instance. That is
 * nearly every block there is.
 *
 * What remains (a shift in place, a skew, a producer and its consumer in one loop body) is asked:
 * exactly where the accesses are quasi-affine, for all sizes; by running through all instances of a
 * nest with constant bounds where they are not, or where that takes too many operations. A view
 * whose address goes into a call may touch all that it shows. */
#include "ir/tree/print.h"
#include "meaning.h"
#include "passes/meaning/asked.h"
#include "places.h"

/* What the touches of one user come to, from the loops of the chain to elements. */
typedef struct Moves {
  ZMap by[2]; /* loads, stores; NULL: there are none */
  bool exact[2];
} Moves;

typedef struct Question {
  const Nest *nest;
  Relations r;
  Extract x;
  Moves *moves; /* of each user */
  int *place;   /* of each loop of the chain in the new order */
  Loss *loss;
  bool lost, certain;
} Question;

static void add_moves(Question *q, const Touch *t) {
  const int user = tirc_user_of(q->nest, t), n = q->nest->n;
  Moves *m = &q->moves[user];
  const ZMap whole = tirc_relation_of(&q->r, t, &m->exact[t->write]);
  const ZMap one = tirc_z_drop_in(q->r.sets, whole, n, t->at->n_loops - n);
  ZMap *to = &m->by[t->write];
  *to = *to ? tirc_z_union(q->r.sets, *to, one) : one;
  if (!*to) q->lost = true;
}

/* Pairs of iterations that change places: the first loop in which they differ is `a` now, and will
 * be `b`. */
static ZMap turned(const Question *q, int a, int b) {
  Sets *z = q->r.sets;
  ZMap m = tirc_z_tuples(z, q->nest->n);
  for (int i = 0; i < q->nest->n; i++)
    if (i < a || q->place[i] < q->place[b]) m = tirc_z_equal_at(z, m, i);
  return tirc_z_greater_at(z, tirc_z_less_at(z, m, a), b);
}

static bool meet(Question *q, int x, bool x_stores, int y, bool y_stores, ZMap pairs) {
  Sets *z = q->r.sets;
  const Moves *first = &q->moves[x], *second = &q->moves[y];
  const ZMap by_first = first->by[x_stores], by_second = second->by[y_stores];
  if (!by_first || !by_second || q->lost) return q->lost;
  const ZMap same =
      tirc_z_meet(z, tirc_z_compose(z, by_first, tirc_z_reverse(z, by_second)), pairs);
  const Answer none = tirc_z_is_empty(z, same);
  if (none == ANSWER_YES) return false;
  q->lost = true;
  *q->loss = (Loss){&q->nest->users[x], &q->nest->users[y], NULL};
  if (none == ANSWER_NO && first->exact[x_stores] && second->exact[y_stores] && !q->r.symbols.n)
    q->loss->witness =
        tirc_witness(&q->r, q->nest->n, q->nest->names, q->nest->users[x].buffer,
                     (Meeting){same, by_first, by_second, x_stores, y_stores}, NULL, NULL);
  q->certain = q->loss->witness != NULL;
  return true;
}

/* Where only the last store counts: whether it is the last one in the new order, too. */
static bool keeps_last(const Question *q, int user) {
  Sets *z = q->r.sets;
  const Moves *m = &q->moves[user];
  if (!m->exact[1]) return false;
  const int *order = q->nest->order;
  const ZMap now = tirc_z_last(z, tirc_z_reverse(z, m->by[1]));
  const ZMap then = tirc_z_last(z, tirc_z_reverse(z, tirc_z_permute_in(z, m->by[1], order)));
  const ZMap as_now = tirc_z_permute_in(z, tirc_z_reverse(z, now), order);
  return tirc_z_is_equal(z, tirc_z_reverse(z, as_now), then) == ANSWER_YES;
}

static void ask_pair(Question *q, int x, int y, ZMap pairs) {
  const User *first = &q->nest->users[x], *second = &q->nest->users[y];
  if (first->buffer != second->buffer || (x == y && first->update)) return;
  if (meet(q, x, true, y, false, pairs) || meet(q, x, false, y, true, pairs)) return;
  if (x == y && (first->stores_once || (first->last_counts && keeps_last(q, x)))) return;
  meet(q, x, true, y, true, pairs);
}

static void ask(Question *q) {
  const int n = q->nest->n;
  for (int a = 0; a < n && !q->lost; a++)
    for (int b = a + 1; b < n && !q->lost; b++) {
      if (q->place[b] > q->place[a]) continue;
      const ZMap pairs = turned(q, a, b);
      for (int x = 0; x < q->nest->n_users && !q->lost; x++)
        for (int y = 0; y < q->nest->n_users && !q->lost; y++) ask_pair(q, x, y, pairs);
    }
}

static bool keeps_order(const Nest *nest, Loss *loss) {
  Tirc *c = nest->x->c;
  const ArenaMark mark = tirc_mark(c);
  Question q = {.nest = nest, .loss = loss};
  *loss = (Loss){&nest->users[0], &nest->users[0], NULL};
  q.r = *nest->in;
  q.x = *nest->x;
  q.x.touches = (Touches){0};
  for (int i = 0; i < nest->x->touches.n; i++)
    if (tirc_user_of(nest, &nest->x->touches.at[i]) < nest->n_users)
      vec_push(c, q.x.touches, nest->x->touches.at[i]);
  q.moves = tirc_new_array(c, Moves, nest->n_users);
  q.place = tirc_new_array(c, int, nest->n);
  for (int i = 0; i < nest->n_users; i++) q.moves[i].exact[0] = q.moves[i].exact[1] = true;
  for (int i = 0; i < nest->n; i++) q.place[nest->order[i]] = i;
  tirc_sets_begin(q.r.sets, SETS_BUDGET);
  for (int i = 0; i < q.x.touches.n; i++) add_moves(&q, &q.x.touches.at[i]);
  ask(&q);
  tirc_sets_end(q.r.sets);
  const bool runs = q.lost && !q.certain;
  const bool kept = !q.lost || (runs && tirc_finite_order(nest, &q.x, loss));
  if (runs) tirc_sets_went_on(q.r.sets);
  if (kept) tirc_rewind(c, mark);
  return kept;
}

/* --- an init by sight ------------------------------------------------------------------------- */

/* Does the init of a reduction stay the first that runs of each sum when loops are reordered, and
 * run again when all is added once more? The sets answer for the others. */

static bool is_summed_over(const Block *b, const SRef *loop) {
  return tirc_moves(b, tirc_loop_of(loop)->var, ITER_REDUCE);
}

/* No two iterations of the loops below `high` run the same instance. */
static bool runs_once(Sched *s, SRef *block, SRef *high) {
  const LoopDomain d = tirc_loop_domain(s, block->parent, high, STORAGE_GLOBAL);
  return tirc_runs_once(s, block, &d, tirc_block_of(block)->predicate);
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

static bool is_mixed(const Block *b, const SRef *loop) {
  return is_summed_over(b, loop) && tirc_moves(b, tirc_loop_of(loop)->var, ITER_SPATIAL);
}

/* The init runs where the reduction iterators are at their start. Loops of one kind only may take
 * any place. Parts of one fused loop that mix the kinds count up as one number in their old order.
 */
static bool init_stays_first(Sched *s, int n, SRef *const *chain, SRef *const *order, SRef *block) {
  const Block *b = tirc_block_of(block);
  for (int i = 0, at = 0; i < n; i++) {
    if (!is_mixed(b, chain[i])) continue;
    while (!is_mixed(b, order[at])) at++;
    if (order[at++] != chain[i]) return false;
  }
  return runs_once(s, block, chain[0]->parent);
}

/* --- an init apart ---------------------------------------------------------------------------- */

typedef struct InitStore {
  Stmt store; /* of the init */
  bool updated, mixed;
} InitStore;

static bool see_update(Visitor *v, Stmt s) {
  InitStore *k = v->self;
  if (s->kind != STMT_STORE || s->u.store.buffer != k->store->u.store.buffer) return true;
  const bool same = tirc_same_exprs(s->u.store.n, s->u.store.indices, k->store->u.store.indices);
  k->updated |= same;
  k->mixed |= !same;
  return true;
}

/* By sight for stores directly in the init. Otherwise, and where several stores of one instance may
 * lie between those of another one, asked.h is. */
bool tirc_init_is_elsewhere(Sched *s, SRef *block) {
  const Block *b = tirc_block_of(block);
  const int n = !b->init ? 0 : b->init->kind == STMT_SEQ ? b->init->u.seq.n : 1;
  bool mixed = false;
  for (int i = 0; i < n; i++) {
    InitStore k = {.store = b->init->kind == STMT_SEQ ? tirc_item(b->init, i) : b->init};
    if (k.store->kind != STMT_STORE) continue;
    tirc_visit_stmts(b->body, see_update, &k);
    if (!k.updated) return true;
    mixed |= k.mixed;
  }
  const LoopDomain loops = tirc_loop_domain(s, block->parent, NULL, STORAGE_GLOBAL);
  if (mixed &&
      (!tirc_is_about(b->predicate, &loops) || tirc_is_guarded(s, block, tirc_scope_root(block))))
    return true;
  return b->init && tirc_instances_depend(s, block);
}

/* --- looking --------------------------------------------------------------------------------- */

/* How one block, or its init, uses one buffer. */
typedef struct Use {
  SRef *block;
  int loads, stores;
  int n;
  const Expr *indices; /* of the first access */
  bool same_indices;   /* all accesses have them */
  bool constant;       /* all that is stored does not depend on anything */
  bool untold;         /* the author knows which instance stores to what */
} Use;

static void add_access(Use *u, const Touch *t) {
  if (u->loads + u->stores == 0) {
    u->n = t->n;
    u->indices = t->indices;
    u->same_indices = u->constant = u->untold = true;
  }
  u->same_indices &= !t->extents && t->n == u->n && tirc_same_exprs(t->n, t->indices, u->indices);
  u->untold &= t->untold;
  u->loads += !t->write;
  u->stores += t->write;
  u->constant &= !t->extents && (!t->write || tirc_is_constant(t->stmt->u.store.value));
}

/* An init that is written by hand is part of the block, too. */
static Use use_of(const Extract *x, SRef *block, Buffer b, bool init) {
  Use u = {.block = block};
  for (int i = 0; i < x->touches.n; i++) {
    const Touch *t = &x->touches.at[i];
    if (t->block == block->stmt && t->buffer == b &&
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
  int n;
  SRef *const *chain, *const *order; /* its loops, outermost first, as they are and as they come */
  Extract x;
  VEC(User) users;
} Ask;

static const char *user_text(Sched *s, const User *g) {
  return g->block ? tirc_format(s->c, "%sblock %s", g->init ? "the init of " : "",
                                g->block->u.block.name)
                  : "a statement outside of blocks";
}

static _Noreturn void order_lost(const Ask *r, const Loss *loss) {
  Sched *s = r->s;
  const char *first = user_text(s, loss->first), *second = user_text(s, loss->second);
  const char *name = loss->second->buffer->name;
  for (int i = 0; i < r->n; i++) tirc_sched_mark(s, r->chain[i]->stmt);
  const User *init = loss->first->init ? loss->first : loss->second->init ? loss->second : NULL;
  const char *what =
      !loss->witness ? tirc_format(s->c,
                                   "which elements of buffer %s %s uses cannot be told apart for "
                                   "sure before the program runs: it may wait for an earlier one",
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
    tirc_sched_error(s, NULL, SERR_ORDER_MATTERS, what, NULL,
                     "in the new order of the loops, %s would not run at the right time",
                     user_text(s, init));
  tirc_sched_error(s, NULL, SERR_ORDER_MATTERS, what, NULL,
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
  const Use init = use_of(&r->x, block, b, true);
  if (init.loads + init.stores == 0 ||
      (!init.loads && init_stays_first(s, r->n, r->chain, r->order, block) &&
       (has_own_sums(s, &init, body) || !tirc_instances_depend(s, block))))
    return false;
  vec_push(s->c, r->users,
           ((User){.block = block->stmt,
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
static void consider(Ask *r, Buffer b, SRefs blocks) {
  Sched *s = r->s;
  int users = 0, loads = 0, first = r->users.n;
  bool safe = true;
  if (seen(r, b) || tirc_map_has(&r->x.own, b)) return;
  for (int i = 0; i < blocks.n; i++) {
    const Use u = use_of(&r->x, blocks.at[i], b, false);
    users += consider_init(r, blocks.at[i], b, &u);
    if (u.loads + u.stores == 0) continue;
    const bool once = u.stores && (u.constant || u.untold || stores_once(s, &u, false));
    User g = {.block = blocks.at[i]->stmt,
              .buffer = b,
              .update = is_update(s, &u, once),
              .stores_once = once};
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
  tirc_refuse(s, found, SERR_ORDER_MATTERS,
              "block %s in block %s continues sums that are started in other instances of that "
              "block, and these might come later in the new order of the loops",
              found->u.block.name, tirc_name_of(block));
}

/* They are evaluated once more, or once less, where loops change places. */
static void require_bounds_stand_still(Sched *s, int n, SRef *const *chain) {
  for (int i = 1; i < n; i++) {
    const For *f = tirc_loop_of(chain[i]);
    if (!tirc_loads_change(s, chain[0], f->min) && !tirc_loads_change(s, chain[0], f->extent))
      continue;
    tirc_sched_error(
        s, chain[0]->stmt, SERR_ORDER_MATTERS,
        tirc_format(s->c, "the bounds of loop %s are loaded from a buffer that the nest changes",
                    f->var->u.s),
        NULL, "in the new order of the loops, %s runs over a different range", f->var->u.s);
  }
}

/* Anew for each question: places know what the last one found out. */
static void extract(Ask *r) {
  r->x = (Extract){.c = r->s->c, .plain = r->x.plain};
  tirc_extract_nest(&r->x, r->n, r->chain);
}

/* Whether each iteration stores itself what it reads of the buffer, before that, and nobody else
 * looks. (That no other iteration stores it is not enough: one of an earlier run of the nest may
 * have.) */
static bool is_own_of_each(Ask *r, const Expr *names, Buffer b) {
  if (tirc_is_used_besides(r->chain[0], b)) return false;
  extract(r);
  const Iterations each = {
      tirc_relations_in(r->s, r->chain[0]), &r->x, r->n, r->n, names, names, SPARE_NONE};
  return tirc_stores_before_it_reads(&each, b);
}

static void leave_out(Ask *r, Buffer b) {
  int kept = 0;
  for (int i = 0; i < r->users.n; i++)
    if (r->users.at[i].buffer != b) r->users.at[kept++] = r->users.at[i];
  r->users.n = kept;
  extract(r);
}

static void ask_sets(Ask *r) {
  Expr *names = tirc_new_array(r->s->c, Expr, r->n);
  int *places = tirc_new_array(r->s->c, int, r->n);
  for (int i = 0; i < r->n; i++) {
    names[i] = tirc_loop_of(r->chain[i])->var;
    while (r->chain[places[i]] != r->order[i]) places[i]++;
  }
  while (r->users.n) {
    const Nest nest = {.in = tirc_relations_in(r->s, r->chain[0]),
                       .x = &r->x,
                       .n = r->n,
                       .names = names,
                       .order = places,
                       .n_users = r->users.n,
                       .users = r->users.at};
    Loss loss;
    if (keeps_order(&nest, &loss)) return;
    const Buffer b = loss.second->buffer;
    if (!is_own_of_each(r, names, b)) order_lost(r, &loss);
    leave_out(r, b);
  }
}

void tirc_require_order_kept(Sched *s, int n, SRef *const *chain, SRef *const *order) {
  if (s->unchecked || memcmp(chain, order, (size_t)n * sizeof *chain) == 0) return;
  const SRefs blocks = tirc_child_blocks(s, chain[n - 1]);
  const Plain plain = tirc_plain_blocks(s, blocks);
  Ask r = {.s = s, .n = n, .chain = chain, .order = order, .x = {.plain = &plain}};
  require_bounds_stand_still(s, n, chain);
  for (int i = 0; i < blocks.n; i++) require_sums_inside(s, chain, blocks.at[i]);
  extract(&r);
  const Touch *x, *y;
  if (tirc_share_memory(s->c, &r.x.touches, &x, &y))
    order_lost(&r, &(Loss){&(User){.block = x->block, .buffer = x->buffer},
                           &(User){.block = y->block, .buffer = y->buffer}, NULL});
  for (int i = 0; i < r.x.touches.n; i++)
    if (r.x.touches.at[i].write) consider(&r, r.x.touches.at[i].buffer, blocks);
  for (int i = 0; i < blocks.n; i++)
    if (turns_steps(tirc_block_of(blocks.at[i]), n, chain, order))
      tirc_warn_of_equals(s, blocks.at[i]);
  ask_sets(&r);
}

/* --- in lock step ----------------------------------------------------------------------------- */

/* Nests of the same loops, one behind the other. Of a nest that is to be such ones: its items. */
typedef struct Turns {
  int n, depth;
  SRef *const *const *loops; /* of each nest, outermost first */
  const Stmt *bodies;
} Turns;

/* The nests are one, (nest, i, j), and become (i, j, nest); or the other way round: the same pairs
 * change places. */
static void extract_turns(Extract *x, Expr nest, const Turns *t) {
  Tirc *c = x->c;
  for (int k = 0; k < t->n; k++) {
    SRef *const *loops = t->loops[k];
    Place *at = tirc_place_around(c, loops[0]);
    at = tirc_place_further(c, at, tirc_loop_place(nest, tirc_from_zero(c, tirc_int32(c, t->n))));
    at = tirc_place_when(c, at, tirc_eq(c, nest, tirc_int32(c, k)), false);
    for (int i = 0; i < t->depth; i++) at = tirc_place_loop(c, at, tirc_loop_of(loops[i]));
    tirc_extract(x, at, NULL, NULL, loops[t->depth - 1]->stmt, t->bodies[k]);
  }
}

/* By sight: whether all touches of the buffer are of one element, which tells the iterations of all
 * loops apart and is the same in both nests. */
static bool is_told_by_element(const Ask *r, Relations *in, Buffer b) {
  Tirc *c = r->s->c;
  const Touch *first = NULL;
  LoopDomain loops = {0};
  Expr *values = tirc_new_array(c, Expr, b->ndim + 1);
  for (int i = 0; i < r->x.touches.n; i++) {
    const Touch *t = &r->x.touches.at[i];
    if (t->buffer != b) continue;
    Place **at = tirc_place_loops(c, t->at);
    PtrMap as_first = {0};
    if (t->extents || (first && t->at->n_loops != first->at->n_loops)) return false;
    if (!first)
      loops = (LoopDomain){t->at->n_loops - 1, tirc_new_array(c, Expr, t->at->n_loops),
                           tirc_new_array(c, Range, t->at->n_loops)};
    for (int k = 0; k < loops.n; k++) {
      const Range dom = {tirc_substitute(c, at[k + 1]->a, &as_first),
                         tirc_substitute(c, at[k + 1]->b, &as_first)};
      if (!first) loops.vars[k] = at[k + 1]->var, loops.doms[k] = dom;
      if (!tirc_same_range(dom, loops.doms[k])) return false;
      tirc_map_set(c, &as_first, at[k + 1]->var, loops.vars[k]);
    }
    for (int d = 0; d < b->ndim; d++) {
      const Expr e = tirc_substitute(c, tirc_in_loops(in, t->at, t->indices[d]), &as_first);
      if (tirc_reads_memory(e) || (first && !tirc_expr_same(e, values[d]))) return false;
      values[d] = e;
    }
    first = t;
  }
  return first && tirc_tells_apart(r->s, b->ndim, values, &loops, tirc_bool(c, true));
}

/* The instances of a block, which is in one of the nests, stay in their order. */
static void add_user(Ask *r, const Touch *t) {
  const User u = {t->block, t->buffer, .update = t->block, .stores_once = t->block};
  for (int i = 0; i < r->users.n; i++)
    if (r->users.at[i].block == u.block && r->users.at[i].buffer == u.buffer) return;
  vec_push(r->s->c, r->users, u);
}

typedef struct Words {
  const char *nest, *before, *behind; /* a name for which nest it is; what stands around a buffer */
} Words;

/* All is in `around`. NULL: nothing is. */
static const char *lost_by_turns(Sched *s, SRef *around, const Turns *t, Words w) {
  Tirc *c = s->c;
  const int depth = t->depth;
  const Plain plain = tirc_plain_blocks(s, tirc_child_blocks(s, around));
  Ask r = {.s = s, .x = {.c = c, .plain = &plain}};
  Expr *names = tirc_new_array(c, Expr, depth + 1);
  int *order = tirc_new_array(c, int, depth + 1);
  names[0] = tirc_var(c, w.nest, DT_INT32);
  for (int i = 0; i < depth; i++) {
    const For *f = tirc_loop_of(t->loops[t->n - 1][i]);
    if (tirc_loads_change(s, around, f->min) || tirc_loads_change(s, around, f->extent))
      return "the bounds of loops are loaded, and stored to in the nests";
    names[i + 1] = tirc_loop_of(t->loops[0][i])->var;
    order[i] = i + 1;
  }
  extract_turns(&r.x, names[0], t);
  const Touch *one, *other;
  if (tirc_share_memory(c, &r.x.touches, &one, &other))
    return tirc_format(c, "%s and %s are the same memory", one->buffer->name, other->buffer->name);
  Relations in = *tirc_relations_in(s, around);
  for (int i = 0; i < r.x.touches.n; i++) {
    const Buffer b = r.x.touches.at[i].buffer;
    if (seen(&r, b) || !is_told_by_element(&r, &in, b)) add_user(&r, &r.x.touches.at[i]);
  }
  const Nest nest = {.in = tirc_relations_in(s, around),
                     .x = &r.x,
                     .n = depth + 1,
                     .names = names,
                     .order = order,
                     .n_users = r.users.n,
                     .users = r.users.at};
  Loss loss;
  if (!r.users.n || keeps_order(&nest, &loss)) return NULL;
  return tirc_format(c, "%s %s %s%s%s", w.before, loss.second->buffer->name, w.behind,
                     loss.witness ? ": " : "", loss.witness ? loss.witness : "");
}

const char *tirc_lost_in_step(Sched *s, int depth, SRef *const *x, SRef *const *y) {
  const Stmt bodies[] = {tirc_loop_of(x[depth - 1])->body, tirc_loop_of(y[depth - 1])->body};
  const Turns t = {2, depth, (SRef *const *const[]){x, y}, bodies};
  const Words words = {"nest", "an iteration may use elements of",
                       "that the other nest uses in an earlier iteration"};
  return lost_by_turns(s, tirc_common_ancestor(2, (SRef *[]){x[0], y[0]}), &t, words);
}

const char *tirc_lost_apart(Sched *s, SRef *loop, int n, const Stmt *items) {
  SRef *const **loops = tirc_new_array(s->c, SRef *const *, n);
  for (int i = 0; i < n; i++) loops[i] = tirc_copy(s->c, &loop, 1);
  const Turns t = {n, 1, loops, items};
  const Words words = {"item", "a statement may use elements of",
                       "that one before it uses in a later iteration"};
  return lost_by_turns(s, loop, &t, words);
}
