/* reverse_compute_inline: a block is folded into the one block that produces what it reads.
 *
 *     B[vi, vj] = f(A[vi, vj])
 *     C[vj, vi] = g(B[vi, vj])      ==>      C[vj, vi] = g(f(A[vi, vj]))       in B's place
 *
 * The consumer's load indices are a map from its iterators to an element of the buffer. Its
 * inverse, applied to the indices that the producer stores to, names the one instance of the
 * consumer that reads the element. Where the producer writes elements that nobody reads, the
 * instance is out of the consumer's domain: a predicate on the producer leaves these out. */
#include "fold.h"
#include "passes/schedule/state/state.h"

#include "ir/arith/equal.h"

/* --- who produces it --------------------------------------------------------------------- */

Buffer tirc_single_read(Sched *s, SRef *block, SRef *scope) {
  const Block *b = tirc_block_of(block);
  Buffer found = NULL;
  int n = 0;
  for (int i = 0; i < b->n_reads; i++)
    if (b->reads[i].buffer != found && tirc_writers_of(scope, b->reads[i].buffer).n) {
      found = b->reads[i].buffer;
      n++;
    }
  if (n == 1) return found;
  tirc_refuse(s, block->stmt, SERR_NOT_SINGLE_BUFFER,
              "%s reads %d buffers that its scope writes, but must read one",
              tirc_describe(s, block->stmt), n);
}

#define no_single_producer(s, at, ...)                                                             \
  tirc_refuse(s, (at)->stmt, SERR_NOT_SINGLE_PRODUCER, "%s %s", tirc_describe(s, (at)->stmt),      \
              tirc_format((s)->c, __VA_ARGS__))

typedef struct Writers {
  Buffer buffer;
  Tirc *c;
  VEC(Stmt) found;
} Writers;

/* Blocks that write the buffer and have no such block inside. Blocks in an init are no part of the
 * sref tree: they count as the block that they initialise for. */
static bool see_writer(Visitor *v, Stmt s) {
  Writers *w = v->self;
  if (s->kind != STMT_BLOCK) return true;
  int before = w->found.n;
  tirc_visit_stmt(v, s->u.block.body);
  for (int i = 0; w->found.n == before && i < s->u.block.n_writes; i++)
    if (s->u.block.writes[i].buffer == w->buffer) vec_push(w->c, w->found, s);
  return false;
}

static SRef *single_producer(Fold *f) {
  Sched *s = f->s;
  Writers w = {.buffer = f->buffer, .c = s->c};
  tirc_visit_stmt(&(Visitor){.expr = tirc_skip_expr,
                             .stmt = see_writer,
                             .self = &w,
                             .only = tirc_paths_to_users(s, f->scope, f->buffer)},
                  tirc_block_of(f->scope)->body);
  for (int i = 0; i < w.found.n; i++) {
    SRef *writer = tirc_sref_find(s, w.found.at[i]);
    if (!writer) no_single_producer(s, f->consumer, "has a producer with an init in blocks");
    if (tirc_check_complete(s, writer, f->scope) &&
        !tirc_is_copy_of_reduction(s, f->consumer, writer, f->scope))
      no_single_producer(s, writer, "is a producer, but no complete block");
  }
  if (w.found.n != 1)
    no_single_producer(s, f->consumer, "has %d producers, but must have one", w.found.n);
  return tirc_sref_find(s, w.found.at[0]);
}

/* --- which instance of the consumer reads an element ------------------------------------- */

typedef struct Loads {
  Visitor v;
  Fold *f;
  int n;
  bool same;
} Loads;

static bool see_load(Visitor *v, Expr e) {
  Loads *l = v->self;
  Fold *f = l->f;
  if (e->op != OP_LOAD || e->u.buffer != f->buffer) return true;
  if (l->n++ == 0) f->load_indices = e->args;
  l->same &= tirc_same_exprs(f->n, f->load_indices, e->args);
  return true;
}

const char *tirc_fold_load(Fold *f) {
  Loads l = {.v = {.expr = see_load, .self = &l}, .f = f, .same = true};
  tirc_visit_stmt(&l.v, f->consumer_store);
  if (l.n == 0) return "it does not load the buffer";
  return l.same ? NULL : "it loads several elements of the buffer";
}

static const char *find_producer_store(Fold *f) {
  Stmt body = tirc_block_of(f->producer)->body;
  if (body->kind == STMT_IF && !body->u.branch.else_case) {
    f->guard = body->u.branch.cond;
    body = body->u.branch.then_case;
  }
  f->producer_store = body;
  return body->kind == STMT_STORE ? NULL : "its producer's body is not a single store";
}

/* Fused iterators must fill the index without gaps: a * n + b with b in [0, n). */
static bool is_dense(Analyzer *a, Tirc *c, const IterMap *map) {
  for (int i = 0; i < map->n; i++) {
    Expr scale = NULL;
    for (int k = map->indices[i].n; k-- > 0;) {
      const IterSplit *p = &map->indices[i].args[k];
      if (!scale) scale = tirc_int(c, p->scale->dtype, 1);
      if (!tirc_prove_equal(a, p->scale, scale)) return false;
      scale = tirc_mul(c, scale, p->extent);
    }
  }
  return true;
}

Expr tirc_fold_domain(Fold *f) {
  const Block *b = tirc_block_of(f->consumer);
  Expr all = tirc_bool(f->c, true);
  for (int i = 0; i < b->n_iters; i++) {
    Expr var = b->iters[i].var;
    Range dom = b->iters[i].dom;
    all = tirc_and(f->c, all,
                   tirc_and(f->c, tirc_binary(f->c, OP_GE, var, dom.min),
                            tirc_lt(f->c, var, tirc_add(f->c, dom.min, dom.extent))));
  }
  return all;
}

/* x == y for iterators within doms. The parts of a row that ends inside of an iterator fit together
 * again only as one iterator: F // 8 * 8 + F % 8 is F. */
static bool equal_within(Analyzer *a, Expr x, Expr y, int n, const Expr *vars, const Range *doms) {
  if (tirc_prove_equal(a, x, y)) return true;
  Expr whole;
  tirc_iter_map_simplify(a, 1, &x, n, vars, doms, NULL, ITER_LEVEL_NO_CHECK, false, &whole);
  return tirc_prove_equal(a, whole, y);
}

/* inverse(indices(v)) == v for every instance, and indices(inverse(x)) == x for every element x
 * whose inverse is an instance. */
static bool is_inverse(Fold *f, const PtrMap *inverse, const Expr *holes, const Expr *vars,
                       const Range *doms) {
  const Block *b = tirc_block_of(f->consumer);
  Tirc *c = f->c;
  Analyzer *a = tirc_analyzer(c), *elements = tirc_analyzer(c);
  PtrMap indices = {0};
  for (int i = 0; i < f->n; i++) tirc_map_set(c, &indices, holes[i], f->load_indices[i]);
  for (int i = 0; i < b->n_iters; i++) tirc_bind_range(a, vars[i], doms[i]);
  for (int i = 0; i < b->n_iters; i++) {
    Expr back = tirc_map_get(inverse, vars[i]);
    if (!back ||
        !equal_within(a, tirc_substitute(c, back, &indices), vars[i], b->n_iters, vars, doms))
      return false;
  }
  Range *box = tirc_new_array(c, Range, f->n + 1);
  for (int i = 0; i < f->n; i++) {
    box[i] = tirc_range(tirc_int(c, holes[i]->dtype, 0), f->buffer->shape[i]);
    tirc_bind_range(elements, holes[i], box[i]);
  }
  tirc_enter_constraint(elements, tirc_substitute(c, tirc_fold_domain(f), inverse));
  for (int i = 0; i < f->n; i++) {
    Expr back = tirc_substitute(c, f->load_indices[i], inverse);
    if (!equal_within(elements, back, holes[i], f->n, holes, box)) return false;
  }
  return true;
}

/* Whether the instances read all elements of the buffer, each of them once: where nothing of an
 * iterator is lost, and each index counts through its dimension. */
static bool reads_each_once(Fold *f, Analyzer *a, int n, const Expr *vars, const Range *doms) {
  const IterMap *map = tirc_detect_iter_map(a, f->n, f->load_indices, n, vars, doms, NULL,
                                            ITER_LEVEL_BIJECTIVE, false, NULL);
  if (!map || !is_dense(a, f->c, map)) return false;
  for (int i = 0; i < f->n; i++) {
    const IterSum *sum = &map->indices[i];
    Expr reach = tirc_int(f->c, sum->base->dtype, 1);
    for (int k = 0; k < sum->n; k++) reach = tirc_mul(f->c, reach, sum->args[k].extent);
    if (!tirc_is_int(tirc_simplify(a, sum->base), 0) ||
        !tirc_prove_equal(a, reach, f->buffer->shape[i]))
      return false;
  }
  return true;
}

const char *tirc_fold_instance(Fold *f) {
  const Block *b = tirc_block_of(f->consumer);
  Tirc *c = f->c;
  const LoopDomain d = tirc_iter_domain(c, b->n_iters, b->iters);
  const Expr *vars = d.vars;
  const Range *doms = d.doms;
  Expr *holes = tirc_new_array(c, Expr, f->n + 1);
  PtrMap inverse = {0};
  int64_t constant;
  for (int i = 0; i < f->n; i++) holes[i] = tirc_var(c, "x", f->load_indices[i]->dtype);
  Analyzer *a = tirc_analyzer(c);
  const IterMap *map = f->n == 0
                           ? NULL
                           : tirc_detect_iter_map(a, f->n, f->load_indices, b->n_iters, vars, doms,
                                                  NULL, ITER_LEVEL_NO_CHECK, false, NULL);
  if (!map || !is_dense(a, c, map))
    return "the indices of its load are not an affine map that can be inverted";
  tirc_inverse_iter_map(a, map, holes, &inverse);
  for (int i = 0; i < b->n_iters; i++)
    if (!tirc_map_has(&inverse, vars[i]) && tirc_is_int(doms[i].extent, 1) &&
        tirc_const_int(doms[i].min, &constant))
      tirc_map_set(c, &inverse, vars[i], doms[i].min);
  f->each_once = reads_each_once(f, a, b->n_iters, vars, doms);
  if (!f->each_once && !is_inverse(f, &inverse, holes, vars, doms))
    return "one element of the buffer is read by several of its instances";
  PtrMap stored = {0};
  for (int i = 0; i < f->n; i++)
    tirc_map_set(c, &stored, holes[i], f->producer_store->u.store.indices[i]);
  for (int i = 0; i < b->n_iters; i++)
    tirc_map_set(c, &f->instance, vars[i],
                 tirc_substitute(c, tirc_map_get(&inverse, vars[i]), &stored));
  return NULL;
}

const char *tirc_fold_is_short(Fold *f) {
  const Block *b = tirc_block_of(f->consumer), *p = tirc_block_of(f->producer);
  Tirc *c = f->c;
  Analyzer *a = tirc_analyzer(c);
  const PtrMap doms = tirc_domain_sets(c, tirc_iter_domain(c, p->n_iters, p->iters));
  for (int i = 0; i < b->n_iters; i++) {
    IntSet got = tirc_eval_set(a, tirc_map_get(&f->instance, b->iters[i].var), &doms);
    IntSet own = tirc_set_of_range(c, b->iters[i].dom);
    if ((got.min && tirc_prove_lt(a, own.min, got.min)) ||
        (got.max && tirc_prove_lt(a, got.max, own.max)))
      return "its producer does not run for all of its instances";
  }
  return NULL;
}

static bool see_guarded_load(Visitor *v, Expr e) {
  Loads *l = v->self;
  const bool guards =
      e->op == OP_IF_THEN_ELSE || e->op == OP_SELECT || e->op == OP_AND || e->op == OP_OR;
  if (guards) tirc_visit_expr(&l->v, e);
  return !guards;
}

/* Whether instances of the consumer may leave the load out. */
static bool has_guarded_load(Fold *f) {
  Loads l = {.v = {.expr = see_load, .self = &l}, .f = f, .same = true};
  tirc_visit_stmt(&(Visitor){.expr = see_guarded_load, .self = &l}, f->consumer_store);
  return l.n > 0;
}

/* A consumer that guards its load (a padding) has instances that read no element at all; no
 * instance of the producer would run them. */
static const char *check_in_bounds(Fold *f) {
  const Block *b = tirc_block_of(f->consumer);
  Tirc *c = f->c;
  if (f->each_once || !has_guarded_load(f)) return NULL;
  Analyzer *a = tirc_analyzer(c);
  tirc_bind_shapes(f->s, a, f->consumer);
  tirc_bind_iters(a, b);
  for (int i = 0; i < f->n; i++) {
    const Expr index = f->load_indices[i];
    if (!tirc_prove_symbolic(a, tirc_binary(c, OP_GE, index, tirc_int(c, index->dtype, 0))) ||
        !tirc_prove_symbolic(a, tirc_lt(c, index, f->buffer->shape[i])))
      return "some of its instances may read outside of the buffer, under a condition";
  }
  return NULL;
}

static bool is_other_store(const void *fold, Stmt s) {
  const Fold *f = fold;
  return s->kind == STMT_STORE && s->u.store.buffer == f->buffer && s != f->producer_store;
}

/* Blocks may hide what they write: whether f->producer_store is the only store to the buffer. */
static const char *other_store(Fold *f) {
  const Paths *only = tirc_paths_to_users(f->s, f->scope, f->buffer);
  return tirc_find_stmt(f->scope->stmt, is_other_store, f, only)
             ? "more is stored to the buffer that it reads than its producer declares"
             : NULL;
}

/* --- the folded block -------------------------------------------------------------------- */

static Expr fold_expr(Mutator *m, Expr e) {
  const Fold *f = m->self;
  Expr value = e->op == OP_VAR ? tirc_map_get(&f->instance, e) : NULL;
  if (value) return value;
  if (e->op == OP_LOAD && e->u.buffer == f->buffer) return f->producer_store->u.store.value;
  return tirc_mutate_expr_children(m, e);
}

static Stmt store_becomes_consumer(Inliner *in, Stmt store) {
  Fold *f = in->self;
  (void)store;
  Mutator m = {.c = in->c, .expr = fold_expr, .self = f};
  return tirc_mutate_stmt_children(&m, f->consumer_store);
}

/* The producer runs where the consumer's instance exists. */
static Stmt add_domain_predicate(Inliner *in, Stmt was, Stmt block) {
  Fold *f = in->self;
  Tirc *c = in->c;
  if (was->u.block.id != tirc_block_of(f->producer)->id) return block;
  Block b = block->u.block;
  Analyzer *a = tirc_analyzer(c);
  PtrMap bindings = {0};
  tirc_bindings_of(c, block, &bindings);
  tirc_bind_iters(a, &b);
  Expr predicate = tirc_simplify(a, tirc_substitute(c, tirc_fold_domain(f), &f->instance));
  if (f->each_once || tirc_is_true(predicate)) return block;
  if (f->guard && !tirc_expr_equal(c, predicate, tirc_simplify(a, f->guard))) {
    predicate = tirc_simplify(a, tirc_and(c, predicate, f->guard));
    b.body = b.body->u.branch.then_case;
  }
  predicate = tirc_simplify0(c, tirc_substitute(c, predicate, &bindings));
  tirc_enter_constraint(a, predicate);
  b.predicate = tirc_and(c, tirc_and_unproved(c, a, tirc_bool(c, true), b.predicate), predicate);
  return tirc_block(c, &b);
}

static bool runs_in_loops(Sched *s, SRef *block) {
  return tirc_is_trivial_binding(block->stmt, tirc_loops_above(s, block));
}

/* Whether the instances of the consumer certainly run in the order in which they run now. */
static bool keeps_order(const Fold *f) {
  const Block *from = tirc_block_of(f->consumer), *to = tirc_block_of(f->producer);
  bool same = from->n_iters == to->n_iters;
  for (int i = 0; same && i < from->n_iters; i++)
    same = tirc_map_get(&f->instance, from->iters[i].var) == to->iters[i].var;
  return same && !tirc_shares_loops(f->s, f->consumer) && runs_in_loops(f->s, f->consumer) &&
         runs_in_loops(f->s, f->producer);
}

/* A symbolic or loaded extent is taken to be at least 1; one that depends on other loops may not.
 */
static bool may_be_empty(const Fold *f, const SRef *loop) {
  const Expr extent = tirc_loop_of(loop)->extent;
  bool about_loops = false;
  for (SRef *r = loop->parent; r; r = r->parent) {
    about_loops |= tirc_is_loop(r) && tirc_uses_var(extent, tirc_loop_of(r)->var);
    for (int i = 0; tirc_is_block(r) && i < tirc_block_of(r)->n_iters; i++)
      about_loops |= tirc_uses_var(extent, tirc_block_of(r)->iters[i].var);
  }
  return tirc_is_int(extent, 0) ||
         (about_loops && !tirc_surely_some(tirc_analyzer_around(f->s, loop->parent), extent));
}

/* Whether a loop that the producer does not share may keep it from running. What its iterators
 * stand for is empty then, unless none is bound to the loop. */
bool tirc_fold_may_not_run(const Fold *f) {
  const Block *b = tirc_block_of(f->consumer);
  for (const SRef *r = f->consumer->parent; tirc_is_loop(r); r = r->parent)
    if (!tirc_kinds_moved(b, tirc_loop_of(r)->var) && !tirc_is_ancestor(r, f->producer) &&
        may_be_empty(f, r))
      return true;
  return false;
}

static void fold(Fold *f) {
  Sched *s = f->s;
  const Block *b = tirc_block_of(f->consumer);
  if (!tirc_is_true(b->predicate)) tirc_bad_inline_pattern(s, f->consumer, "it has a predicate");
  if (b->n_matches)
    tirc_bad_inline_pattern(s, f->consumer, "it uses a T.match_buffer view of its own");
  f->consumer_store = b->body;
  if (b->body->kind != STMT_STORE)
    tirc_bad_inline_pattern(s, f->consumer, "its body is not a single store");
  f->n = f->buffer->ndim;
  const char *why = tirc_fold_load(f);
  if (!why) why = find_producer_store(f);
  if (!why && tirc_block_of(f->producer)->init)
    why = "its producer has an init, and it is not a copy of what that makes";
  if (!why) why = tirc_fold_instance(f);
  if (!why) why = tirc_fold_is_short(f);
  if (!why) why = check_in_bounds(f);
  if (!why) why = other_store(f);
  if (!why && tirc_loop_of_domain(f->consumer)) why = "the domain of an iterator depends on a loop";
  if (!why && !tirc_reaches_domain(s, f->consumer, NULL, NULL))
    why = "it runs for a part of its domains only, and would run for all of them";
  if (!why && tirc_fold_may_not_run(f))
    why = "it stands in a loop that may have no iterations, and would run";
  if (!why && !keeps_order(f) && tirc_instances_depend(s, f->consumer))
    why = "two of its instances use one element, and might run in another order";
  if (!why && tirc_reads_fewer_states(s, f->consumer, f->producer))
    why = "what it reads is overwritten in the loops around, and it would see the last only";
  if (why) tirc_bad_inline_pattern(s, f->consumer, why);
  tirc_require_no_loop_vars(s, f->consumer, f->consumer_store, f->producer);
  Inliner in = {.s = s,
                .c = s->c,
                .block = f->consumer,
                .scope = f->scope,
                .buffer = f->buffer,
                .store = store_becomes_consumer,
                .finish_block = add_domain_predicate,
                .self = f};
  tirc_inline_and_replace(&in);
  tirc_require_independent_around(s, 1, &f->producer);
}

/* A sum whose reduction had one step has an init, but no iterator of a reduction. */
static bool is_copy_of_sum_of_one_step(const Fold *f) {
  const Stmt store = tirc_block_of(f->consumer)->body;
  return tirc_block_of(f->producer)->init && store->kind == STMT_STORE &&
         tirc_is_load_of(f->buffer, store->u.store.value);
}

void tirc_prim_reverse_compute_inline(Sched *s, const Value *args, Value *result) {
  (void)result;
  Fold f = {.s = s, .c = s->c, .consumer = tirc_sref_of_value(s, args[0])};
  tirc_require_no_init(s, f.consumer);
  f.scope = tirc_require_scope_root(s, f.consumer, true);
  f.buffer = tirc_single_read(s, f.consumer, f.scope);
  tirc_require_complete(s, f.consumer, f.scope);
  f.producer = single_producer(&f);
  tirc_require_not_output(s, f.producer, f.scope);
  if (tirc_check_complete(s, f.producer, f.scope) || is_copy_of_sum_of_one_step(&f))
    tirc_copy_into_reduction(&f);
  else
    fold(&f);
}
