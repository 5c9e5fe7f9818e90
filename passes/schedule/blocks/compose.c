/* compose_reduction: what starts a sum becomes the init of the block that adds to it, the reverse
 * of decompose_reduction.
 *
 *   for i, j:                                       for i, j, k:
 *       with T.block("zero"): C[vi, vj] = 0             with T.block("C"):
 *   for i, j, k:                                  ->        with T.init(): C[vi, vj] = 0
 *       with T.block("C"): C[vi, vj] += ...                 C[vi, vj] += ...
 *
 * The starting block may stand in a nest of its own, or in loops that both share. In one run of
 * what they share it stores to the same box of elements as the sum does, each element once for all
 * steps of it, and nothing in between uses them: then the first step of a sum can do it as well.
 * The same value is found there: it is what the element's place says, and nothing in between stores
 * what it loads.
 *
 * Without a starting block: `if vk == 0: C[vi, vj] = 0` at the start of the sum's body is the init,
 * as it stands, or what T.Select(vk == 0, 0, C[vi, vj]) in the sum takes in place of the element.
 * Of C[vi, vj] = x in the first step and C[vi, vj] + x in the others it is the 0 of that operation.
 */
#include "blocks.h"

#include "ir/tree/print.h"

typedef struct Composition {
  Sched *s;
  SRef *block, *start; /* the sum, and the block that starts it; or NULL */
  SRef *scope, *shared;
  Stmt update, store; /* to the same buffer, of the block and of `start` */
} Composition;

#define no_init(k, at, ...)                                                                        \
  tirc_sched_error((k)->s, (at)->stmt, SERR_INIT_PATTERN, tirc_format((k)->s->c, __VA_ARGS__),     \
                   NULL, "block %s cannot get its init from %s", tirc_name_of((k)->block),         \
                   (k)->start ? tirc_describe((k)->s, (k)->start->stmt) : "its own body")

static void require_sum(const Composition *k) {
  const Block *b = tirc_block_of(k->block);
  bool sums = false;
  tirc_require_no_views(k->s, k->block);
  if (b->init) no_init(k, k->block, "it has one already");
  for (int i = 0; i < b->n_iters; i++) {
    if (b->iters[i].kind == ITER_OPAQUE || b->iters[i].kind == ITER_SCAN)
      no_init(k, k->block, "its iterator %s is neither spatial nor of a reduction",
              b->iters[i].var->u.s);
    sums |= b->iters[i].kind == ITER_REDUCE;
  }
  if (!sums) no_init(k, k->block, "it has no iterator of a reduction");
}

/* --- the init in the body --------------------------------------------------------------------- */

typedef struct Choice {
  Expr self;    /* the element */
  Expr found;   /* the choice */
  int n, loads; /* of choices, and of loads of the buffer */
} Choice;

static Expr without_choice(Mutator *m, Expr e) {
  Choice *k = m->self;
  const bool chooses = e->op == OP_SELECT || e->op == OP_IF_THEN_ELSE;
  if (!chooses || !tirc_expr_same(e->args[2], k->self) ||
      (k->found && !tirc_expr_same(e, k->found)))
    return tirc_mutate_expr_children(m, e);
  k->found = e;
  k->n++;
  return k->self;
}

static bool count_load(Visitor *v, Expr e) {
  Choice *k = v->self;
  k->loads += e->op == OP_LOAD && e->u.buffer == k->self->u.buffer;
  return true;
}

/* C[vi] = T.Select(vk == 0, x, C[vi]) + y, where nothing else uses C, as if vk == 0: C[vi] = x, and
 * C[vi] = C[vi] + y. Any other body as it stands. */
static Stmt with_choice_ahead(Tirc *c, Stmt body) {
  if (body->kind != STMT_STORE) return body;
  const Buffer to = body->u.store.buffer;
  const int n = body->u.store.n;
  const Expr *at = body->u.store.indices;
  Choice k = {.self = tirc_load(c, to, n, at)};
  Mutator m = {.c = c, .expr = without_choice, .self = &k};
  const Expr sum = tirc_mutate_expr(&m, body->u.store.value);
  tirc_visit_expr(&(Visitor){.expr = count_load, .self = &k}, body->u.store.value);
  if (!k.found || k.loads != k.n) return body;
  const Stmt start = tirc_store(c, to, n, at, k.found->args[1]);
  const Stmt both[] = {tirc_if(c, k.found->args[0], start, NULL),
                       tirc_with_loc(c, tirc_store(c, to, n, at, sum), body->loc)};
  return tirc_seq(c, 2, both);
}

/* C[vi] = x in the first step and C[vi] + x in the others, as if vk == 0: C[vi] = 0, and
 * C[vi] = C[vi] + x. Any other body as it stands. */
static Stmt with_neutral_ahead(Tirc *c, Stmt body) {
  const bool branches = body->kind == STMT_IF && body->u.branch.else_case;
  const Stmt store = branches ? body->u.branch.else_case : body;
  const Stmt first = branches ? body->u.branch.then_case : body;
  if (store->kind != STMT_STORE || first->kind != STMT_STORE) return body;
  const Buffer to = store->u.store.buffer;
  const int n = store->u.store.n;
  const Expr *at = store->u.store.indices, value = store->u.store.value;
  const bool chooses = value->op == OP_SELECT || value->op == OP_IF_THEN_ELSE;
  if (branches ? first->u.store.buffer != to || !tirc_same_exprs(n, first->u.store.indices, at)
               : !chooses)
    return body;
  const Expr sum = branches ? value : value->args[2];
  const Expr start = branches ? first->u.store.value : value->args[1];
  if (sum->n != 2 || !tirc_expr_same(sum->args[0], tirc_load(c, to, n, at)) ||
      !tirc_expr_same(sum->args[1], start))
    return body;
  const Expr neutral = tirc_neutral(c, (Op)sum->op, to->dtype);
  if (!neutral || tirc_find_expr(start, tirc_is_load_of, to)) return body;
  const Expr cond = branches ? body->u.branch.cond : value->args[0];
  const Stmt both[] = {tirc_if(c, cond, tirc_store(c, to, n, at, neutral), NULL),
                       tirc_with_loc(c, tirc_store(c, to, n, at, sum), store->loc)};
  return tirc_seq(c, 2, both);
}

static Stmt with_init_by_hand(const Composition *k) {
  Tirc *c = k->s->c;
  Block b = *tirc_block_of(k->block);
  b.body = with_neutral_ahead(c, with_choice_ahead(c, b.body));
  const int n = tirc_inits_by_hand(&b);
  if (!n)
    no_init(k, k->block,
            "its body does not begin with stores under a condition that all iterators of the "
            "reduction are at their start");
  Stmt *inits = tirc_new_array(c, Stmt, n);
  for (int i = 0; i < n; i++) inits[i] = tirc_item(b.body, i)->u.branch.then_case;
  const Stmt init = tirc_seq(c, n, inits);
  for (int i = 0; i < b.n_writes; i++)
    if ((tirc_uses_of(init, b.writes[i].buffer, NULL, NULL) & USE_STORE) &&
        !tirc_starts_with_init(&b, b.writes[i].buffer))
      no_init(k, k->block, "it uses other elements of %s than the one that it starts",
              b.writes[i].buffer->name);
  b.body = tirc_seq_splice(c, b.body, 0, n, 0, NULL);
  b.init = init;
  return tirc_with_own_regions(c, tirc_block(c, &b));
}

/* An init asks no part of a predicate that is about the steps. */
static void require_init_with_body(const Composition *k) {
  if (!tirc_init_runs_with_body(k->s, k->block))
    no_init(k, k->block,
            "its predicate is about the steps of the sums, which an init does not ask");
}

/* --- the init in a block of its own ----------------------------------------------------------- */

typedef struct StoreSearch {
  Buffer to;
  Stmt first;
  int n;
} StoreSearch;

static bool see_store(Visitor *v, Stmt s) {
  StoreSearch *k = v->self;
  if (s->kind != STMT_STORE || s->u.store.buffer != k->to) return true;
  if (!k->n++) k->first = s;
  return true;
}

/* The one store of the block to what the other one starts, at the element of its sum. */
static void find_update(Composition *k) {
  const Buffer to = k->store->u.store.buffer;
  const Stmt body = tirc_block_of(k->block)->body;
  StoreSearch search = {.to = to};
  tirc_visit_stmts(body, see_store, &search);
  if (search.n != 1) no_init(k, k->block, "it stores to %s in %d statements", to->name, search.n);
  if (tirc_uses_of(body, to, NULL, NULL) & ~(unsigned)(USE_LOAD | USE_STORE))
    no_init(k, k->block, "it uses %s by its address or by a view", to->name);
  k->update = search.first;
}

static void require_start(Composition *k) {
  const Block *b = tirc_block_of(k->start);
  if (k->start == k->block || tirc_scope_root(k->start) != k->scope)
    no_init(k, k->start, "the two are not in one scope");
  if (b->init || b->n_matches || b->body->kind != STMT_STORE)
    no_init(k, k->start, "it is more than one store");
  for (int i = 0; i < b->n_iters; i++)
    if (b->iters[i].kind != ITER_SPATIAL)
      no_init(k, k->start, "its iterator %s is not spatial", b->iters[i].var->u.s);
  k->store = b->body;
  for (const SRef *r = k->start->parent; tirc_is_loop(r); r = r->parent)
    if (tirc_stmt_uses_var(k->store, tirc_loop_of(r)->var))
      no_init(k, k->start, "it uses the variable of loop %s", tirc_name_of(r));
}

/* --- places ----------------------------------------------------------------------------------- */

static int place_of(const Composition *k, SRef *block) {
  Stmt item;
  return tirc_item_with(k->s, k->shared, block, &item);
}

static void require_place(Composition *k) {
  k->shared = tirc_common_ancestor(2, (SRef *[]){k->start, k->block});
  if (tirc_body_of(k->shared->stmt)->kind != STMT_SEQ ||
      place_of(k, k->start) >= place_of(k, k->block))
    no_init(k, k->start, "it does not stand before the sum");
  if (tirc_is_guarded(k->s, k->start, k->shared) || tirc_is_guarded(k->s, k->block, k->shared))
    no_init(k, k->start, "one of the two stands in a condition, or in a loop that may be empty");
}

typedef struct Loaded {
  const SRef *by;
} Loaded;

/* Whether it is a load of memory that the block stores to. */
static bool is_changed(const void *self, Expr e) {
  const SRef *by = ((const Loaded *)self)->by;
  for (int i = 0; e->op == OP_LOAD && i < by->n_accesses[1]; i++)
    if (by->accesses[1][i].buffer->data == e->u.buffer->data) return true;
  return false;
}

static _Noreturn void order_lost(const Composition *k, const SRef *other, const char *what) {
  tirc_sched_mark(k->s, k->start->stmt);
  tirc_sched_error(k->s, other->stmt, SERR_ORDER_MATTERS, what,
                   "first move the statement that uses the elements to a place after the sum",
                   "as an init, the stores of block %s would come later, immediately before the "
                   "sums of block %s",
                   tirc_name_of(k->start), tirc_name_of(k->block));
}

/* What runs between the two in one run of what they share. */
static void require_nothing_between(const Composition *k) {
  const int from = place_of(k, k->start), to = place_of(k, k->block);
  const SRefs blocks = tirc_child_blocks(k->s, k->shared);
  tirc_require_no_loose_use(k->s, k->scope, k->start);
  tirc_require_no_loose_use(k->s, k->scope, k->block);
  for (int i = 0; i < blocks.n; i++) {
    const SRef *other = blocks.at[i];
    const int at = place_of(k, blocks.at[i]);
    if (at < from || at > to) continue;
    if (tirc_find_expr(k->store->u.store.value, is_changed, &(Loaded){other}))
      order_lost(k, other, "it stores what the init loads");
    if (other != k->start && other != k->block &&
        tirc_uses_memory_of(other, k->store->u.store.buffer))
      order_lost(k, other, "it uses what the init stores to");
  }
}

/* --- elements --------------------------------------------------------------------------------- */

static Region box_of(const Composition *k, SRef *block, Stmt store) {
  Tirc *c = k->s->c;
  const int n = store->u.store.n;
  Range *dims = tirc_new_array(c, Range, n + 1);
  for (int i = 0; i < n; i++)
    dims[i] =
        tirc_range(store->u.store.indices[i], tirc_int(c, store->u.store.indices[i]->dtype, 1));
  return tirc_box_in_one_run(k->s, k->scope, block, (Region){store->u.store.buffer, dims},
                             k->shared);
}

/* In one run of what they share both store to all of the same box. */
static void require_same_elements(const Composition *k) {
  Sched *s = k->s;
  const Expr always = tirc_bool(s->c, true);
  const Region started = box_of(k, k->start, k->store), summed = box_of(k, k->block, k->update);
  Analyzer *a = tirc_analyzer_around(s, k->shared);
  tirc_bind_shapes(s, a, k->scope);
  for (int i = 0; i < started.buffer->ndim; i++)
    if (!tirc_prove_equal(a, started.dims[i].min, summed.dims[i].min) ||
        !tirc_prove_equal(a, started.dims[i].extent, summed.dims[i].extent))
      no_init(k, k->start, "it stores to %s, and the sum to %s", tirc_print_region(s->c, started),
              tirc_print_region(s->c, summed));
  SRef *const both[] = {k->start, k->block};
  for (int i = 0; i < 2; i++) {
    const char *missing = NULL;
    if (tirc_nest_writes_box(s, both[i], k->shared, always, &started, &missing)) continue;
    no_init(k, both[i], "block %s is not known to store to all of %s%s%s", tirc_name_of(both[i]),
            tirc_print_region(s->c, started), missing ? ": not to " : "", missing ? missing : "");
  }
}

/* What the starting block stores to the element of the sum: the indices say which instance did. */
static Expr value_at_update(const Composition *k) {
  Tirc *c = k->s->c;
  const Block *b = tirc_block_of(k->start);
  PtrMap map = {0};
  tirc_vars_at(c, k->store->u.store.n, k->store->u.store.indices, k->update->u.store.indices, &map);
  for (int i = 0; i < b->n_iters; i++)
    if (!tirc_map_has(&map, b->iters[i].var) &&
        tirc_uses_var(k->store->u.store.value, b->iters[i].var))
      no_init(k, k->start, "its value uses iterator %s, which no index of its store is",
              b->iters[i].var->u.s);
  return tirc_substitute(c, k->store->u.store.value, &map);
}

/* --- sums ------------------------------------------------------------------------------------- */

/* With its init, in one run of what it shared with the starting block: each sum is of one element,
 * is made once, and starts with the step that has the init. */
static void require_one_start(const Composition *k) {
  Sched *s = k->s;
  SRef *block = k->block;
  const Block *b = tirc_block_of(block);
  const char *indexed = tirc_why_indexed_by_reduction(s->c, b);
  if (indexed) no_init(k, block, "%s", indexed);
  if (!tirc_only_adds(b, k->store->u.store.buffer) || tirc_init_is_elsewhere(s, block))
    no_init(k, block, "it uses other elements of %s than the one of its sum",
            k->store->u.store.buffer->name);
  require_init_with_body(k);
  VEC(SRef *) up = {0};
  for (SRef *r = block->parent; r != k->shared; r = r->parent) vec_push(s->c, up, r);
  const For **loops = tirc_new_array(s->c, const For *, up.n + 1);
  for (int i = 0; i < up.n; i++) loops[i] = tirc_loop_of(up.at[up.n - 1 - i]);
  SRef *nest = up.n ? up.at[up.n - 1] : block;
  const LoopDomain domain = tirc_loop_domain(s, block->parent, k->shared, STORAGE_GLOBAL);
  if (!tirc_runs_once(s, block, &domain, b->predicate) ||
      !tirc_init_comes_first(s, nest, up.n, loops, b, b->predicate))
    no_init(k, block,
            "a sum of it is not known to begin, once, where all iterators of the "
            "reduction are at their start");
}

static Stmt with_init(const Composition *k) {
  Tirc *c = k->s->c;
  Block b = *tirc_block_of(k->block);
  const Stmt store = tirc_store(c, k->update->u.store.buffer, k->update->u.store.n,
                                k->update->u.store.indices, value_at_update(k));
  b.init = b.init ? tirc_seq(c, 2, (Stmt[]){b.init, store}) : store;
  return tirc_with_own_regions(c, tirc_block(c, &b));
}

static void take_start(Composition k) {
  require_start(&k);
  find_update(&k);
  require_place(&k);
  require_nothing_between(&k);
  require_same_elements(&k);
  tirc_sched_replace(k.s, k.block, with_init(&k));
  require_one_start(&k);
  SRef *gone;
  Stmt without;
  tirc_plan_leaf_removal(k.s, k.start, &gone, &without);
  tirc_sched_replace(k.s, gone, without);
}

void tirc_prim_compose_reduction(Sched *s, const Value *args, Value *result) {
  (void)result;
  Composition k = {.s = s, .block = tirc_sref_of_value(s, args[0])};
  k.scope = tirc_require_scope_root(s, k.block, false);
  require_sum(&k);
  const int n = args[1].kind == VAL_NONE ? 0 : args[1].u.list->n;
  if (!n) {
    tirc_sched_replace(s, k.block, with_init_by_hand(&k));
    require_init_with_body(&k);
  }
  for (int i = 0; i < n; i++) {
    k.start = tirc_sref_of_value(s, args[1].u.list->at[i]);
    take_start(k);
  }
}
