/* fuse_reduction_epilogue: what an epilogue adds to a sum goes into the reduction's init; an
 * epilogue that only copies goes away, after a reduction of any kind. reverse_compute_inline does
 * the latter where the copy turns the indices.
 *
 *   for i, j, k:                                   for i, j, k:
 *       with T.block("C"):                             with T.block("C"):
 *           with T.init(): C[vi, vj] = 0                   with T.init(): D[vi, vj] = bias[vj]
 *           C[vi, vj] = C[vi, vj] + x         ==>          D[vi, vj] = D[vi, vj] + x
 *   for i, j:
 *       with T.block("D"):
 *           D[vi, vj] = C[vi, vj] + bias[vj]
 *
 * A sum may start from anything that is added to it; likewise a product from a factor. Whatever
 * else an epilogue does to the sum (a maximum, a factor, a conversion) is no part of the sum: in
 * the init it would act on the first step only, and in each step it would act again and again.
 *
 * Each instance of the epilogue must belong to one sum and each sum to one instance, and each must
 * have an element of its own. Nothing but the epilogue may read the sums, which then are nowhere;
 * their buffer stays allocated. The epilogue reads nothing else that its scope writes, so that it
 * can be read as early as the first step.
 *
 * A copy, C to D[vj, vi], needs no more than that: then the reduction has its results in D. */
#include "fold.h"
#include "passes/schedule/state/state.h"

#include "ir/tree/print.h"

typedef struct Epilogue {
  Fold f; /* consumer: the epilogue; producer: the reduction */
  Reducer reducer;
  Op op;
  Buffer output;
  bool is_copy; /* it is inlined, into a reduction of any kind */
} Epilogue;

_Noreturn static void no_epilogue(Epilogue *e, const char *why) {
  Sched *s = e->f.s;
  if (e->is_copy) tirc_bad_inline_pattern(s, e->f.consumer, why);
  tirc_sched_mark(s, e->f.producer->stmt);
  tirc_sched_error(s, e->f.consumer->stmt, SERR_EPILOGUE_PATTERN, why, NULL,
                   "%s cannot go into the init of %s: %s", tirc_describe(s, e->f.consumer->stmt),
                   tirc_describe(s, e->f.producer->stmt), why);
}

static bool has_sum(const Epilogue *e, Expr x) {
  return tirc_find_expr(x, tirc_is_load_of, e->f.buffer);
}

/* --- what it adds to the sum ---------------------------------------------------------------- */

/* The epilogue's value with the neutral element in the sum's place, NULL standing for that alone;
 * false: the value is no sum of the sum and something else. */
static bool added(const Epilogue *e, Expr x, Expr *rest) {
  Tirc *c = e->f.c;
  Expr inner = NULL;
  *rest = NULL;
  if (tirc_is_load_of(e->f.buffer, x)) return true;
  const bool subtracts = e->op == OP_ADD && x->op == OP_SUB;
  if (x->n != 2 || (x->op != e->op && !subtracts)) return false;
  const int at = has_sum(e, x->args[0]) ? 0 : 1;
  const Expr other = x->args[1 - at];
  if (has_sum(e, other) || (subtracts && at) || !added(e, x->args[at], &inner)) return false;
  if (!inner && !subtracts) return *rest = other, true;
  if (!inner) inner = e->reducer.inits[0];
  *rest = tirc_binary(c, (Op)x->op, at ? other : inner, at ? inner : other);
  return true;
}

/* --- numbers for the refusal ---------------------------------------------------------------- */

typedef struct Trial {
  const Epilogue *e;
  Expr sum; /* a constant in its place */
} Trial;

static Expr fold_trial(Mutator *m, Expr x) {
  const Trial *t = m->self;
  if (tirc_is_load_of(t->e->f.buffer, x)) return t->sum;
  if (x->op == OP_LOAD || x->op == OP_VAR) return tirc_cast(m->c, x->dtype, tirc_int32(m->c, 0));
  x = tirc_mutate_expr_children(m, x);
  bool constant = x->n > 0;
  for (int i = 0; i < x->n; i++) constant &= tirc_is_constant(x->args[i]);
  const Expr folded = constant ? tirc_fold(m->c, (Op)x->op, x->dtype, x->n, x->args) : NULL;
  return folded ? folded : tirc_simplify0(m->c, x);
}

/* The epilogue's value for a sum, all else taken for 0; false: it is not known. */
static bool epilogue_of(const Epilogue *e, double sum, double *out) {
  Tirc *c = e->f.c;
  const DType t = e->f.buffer->dtype;
  Trial trial = {e, tirc_dtype_is_float(t) ? tirc_float(c, t, sum) : tirc_int(c, t, (int64_t)sum)};
  Mutator m = {.c = c, .expr = fold_trial, .self = &trial};
  const Expr x = tirc_mutate_expr(&m, e->f.consumer_store->u.store.value);
  int64_t i;
  if (x->op == OP_FLOAT) return *out = x->u.f, true;
  if (!tirc_const_int(x, &i)) return false;
  return *out = (double)i, true;
}

enum { MOST_STEPS = 12 };

typedef struct Numbers {
  int n;
  double at[MOST_STEPS];
} Numbers;

static bool note_constant(Visitor *v, Expr e) {
  Numbers *steps = v->self;
  int64_t i;
  const bool is_int = tirc_const_int(e, &i);
  if (!is_int && e->op != OP_FLOAT) return true;
  const double bound = is_int ? (double)i : e->u.f;
  for (int k = -1; k <= 1 && steps->n < MOST_STEPS; k += 2)
    if (bound > -1000 && bound < 1000) steps->at[steps->n++] = bound + k;
  return true;
}

/* Two steps of which the epilogue in each step makes something else than after both. */
static const char *example(const Epilogue *e) {
  Numbers steps = {3, {6, -2, 1}};
  tirc_visit_expr(&(Visitor){.expr = note_constant, .self = &steps},
                  e->f.consumer_store->u.store.value);
  const bool is_unsigned = e->f.buffer->dtype.code == TYPE_UINT;
  for (int i = 0; i < steps.n && e->op == OP_ADD; i++)
    for (int k = 0; k < steps.n; k++) {
      const double x = steps.at[i], y = steps.at[k];
      double start, one, both, right;
      if (is_unsigned && (x < 0 || y < 0)) continue;
      if (!epilogue_of(e, 0, &start) || !epilogue_of(e, start + x, &one) ||
          !epilogue_of(e, one + y, &both) || !epilogue_of(e, x + y, &right) || both == right)
        continue;
      return tirc_format(
          e->f.c, "; applied in each step, it makes %g of the steps %g and %g, and %g is right",
          both, x, y, right);
    }
  return "";
}

static const char *why_not_added(const Epilogue *e) {
  Tirc *c = e->f.c;
  return tirc_format(
      c, "its value %s is not the %s%s", tirc_print_expr(c, e->f.consumer_store->u.store.value),
      e->op == OP_ADD ? "sum and what is added to it" : "product and what it is multiplied by",
      example(e));
}

/* --- may each sum have its instance? -------------------------------------------------------- */

static const char *why_others_use(Epilogue *e) {
  const Fold *f = &e->f;
  const SRefs *users = tirc_users_of(f->scope->scope, f->buffer);
  for (int i = 0; i < users->n; i++) {
    SRef *user = users->at[i];
    if (user == f->consumer || user == f->producer) continue;
    if (tirc_touches(user, f->buffer, false) || tirc_touches(user, f->buffer, true))
      return tirc_format(f->c, "%s uses \"%s\", too", tirc_describe(f->s, user->stmt),
                         f->buffer->name);
  }
  return tirc_loosely_used(f->scope, NULL, f->buffer)
             ? tirc_format(f->c, "a statement outside of blocks uses \"%s\", too", f->buffer->name)
             : NULL;
}

static void require_own_memory(Epilogue *e, Buffer b) {
  enum { SHARED = USE_POINTER | USE_VIEW | USE_SHAPE | USE_OTHER | USE_OTHER_MADE };
  if (!(tirc_uses_of(e->f.scope->stmt, b, NULL, NULL) & SHARED)) return;
  tirc_refuse(e->f.s, e->f.scope->stmt, SERR_INLINE_OPAQUE,
              "the address of \"%s\" is used, or another buffer refers to it", b->name);
}

/* The loops above the reduction: none of its steps may be another thread's, or outside of what the
 * epilogue reads at once. */
static const char *why_not_whole(const Epilogue *e) {
  const Fold *f = &e->f;
  const Block *b = tirc_block_of(f->producer);
  for (SRef *r = f->producer->parent; tirc_is_loop(r); r = r->parent) {
    const For *loop = tirc_loop_of(r);
    if (!tirc_moves(b, loop->var, ITER_REDUCE)) continue;
    if (tirc_is_ancestor(r, f->consumer))
      return tirc_format(f->c, "it stands in loop %s of the reduction, and reads a part of it",
                         loop->var->u.s);
    if (tirc_runs_at_once(loop))
      return tirc_format(f->c, "the steps of loop %s run at the same time, each with a start",
                         loop->var->u.s);
  }
  if (!tirc_sums_start_in_scope(f->s, f->producer))
    return "the sums start outside of the scope, or some of them do not start";
  return NULL;
}

/* Every sum has an instance, without a condition. */
static const char *why_not_all(Epilogue *e) {
  Fold *f = &e->f;
  Analyzer *a = tirc_analyzer(f->c);
  tirc_bind_iters(a, tirc_block_of(f->producer));
  const Expr inside = tirc_simplify(a, tirc_substitute(f->c, tirc_fold_domain(f), &f->instance));
  if (!f->each_once && !tirc_is_true(inside)) return "it does not run for all of the sums";
  if (tirc_loop_of_domain(f->consumer)) return "the domain of an iterator depends on a loop";
  if (!tirc_reaches_domain(f->s, f->consumer, NULL, NULL))
    return "it runs for a part of its domains only";
  if (tirc_fold_may_not_run(f)) return "it stands in a loop that may have no iterations";
  if (tirc_is_guarded(f->s, f->consumer, f->scope) || tirc_is_guarded(f->s, f->producer, f->scope))
    return "it, or the reduction, stands under a condition";
  if (tirc_sums_nothing(f->s, f->producer))
    return "the reduction has no steps, so that no init runs";
  return NULL;
}

/* Two instances that store to one element would add up two sums in it. */
static const char *why_not_apart(const Epilogue *e) {
  const Block *b = tirc_block_of(e->f.consumer);
  const LoopDomain d = tirc_iter_domain(e->f.c, b->n_iters, b->iters);
  const Stmt store = e->f.consumer_store;
  return tirc_tells_apart(e->f.s, store->u.store.n, store->u.store.indices, &d,
                          tirc_bool(e->f.c, true))
             ? NULL
             : "two of its instances may store to one element";
}

static const char *why_not_output(const Epilogue *e) {
  const Fold *f = &e->f;
  if (!tirc_dtype_equal(e->output->dtype, f->buffer->dtype))
    return tirc_format(f->c, "the sums are of type %s, and \"%s\" is of type %s",
                       tirc_dtype_name(f->c, f->buffer->dtype), e->output->name,
                       tirc_dtype_name(f->c, e->output->dtype));
  if (tirc_touches(f->producer, e->output, false))
    return tirc_format(f->c, "the reduction reads \"%s\"", e->output->name);
  if (e->output->storage != STORAGE_GLOBAL && strcmp(e->output->scope, f->buffer->scope) != 0)
    return tirc_format(f->c, "\"%s\" is in %s memory, and the sums are in %s", e->output->name,
                       e->output->scope, f->buffer->scope);
  return NULL;
}

/* --- the reduction with its epilogue -------------------------------------------------------- */

typedef struct Moved {
  const Epilogue *e;
  Stmt store; /* the epilogue's, with what its iterators are in the reduction */
} Moved;

static Expr moved_expr(Mutator *m, Expr x) {
  const Moved *k = m->self;
  if (!tirc_is_load_of(k->e->f.buffer, x)) return tirc_mutate_expr_children(m, x);
  return tirc_load(m->c, k->e->output, k->store->u.store.n, k->store->u.store.indices);
}

static Stmt moved_stmt(Mutator *m, Stmt s) {
  const Moved *k = m->self;
  s = tirc_mutate_stmt_children(m, s);
  if (s->kind != STMT_STORE || s->u.store.buffer != k->e->f.buffer) return s;
  return tirc_store(m->c, k->e->output, k->store->u.store.n, k->store->u.store.indices,
                    s->u.store.value);
}

/* The reduction with its results in the output. start: what the init stores, in terms of the
 * epilogue; NULL: what it stores now. */
static Stmt fused_block(Epilogue *e, Expr start) {
  Tirc *c = e->f.c;
  Moved k = {e, tirc_substitute_stmt(c, e->f.consumer_store, &e->f.instance)};
  Mutator m = {.c = c, .expr = moved_expr, .stmt = moved_stmt, .self = &k};
  Block b = *tirc_block_of(e->f.producer);
  b.body = tirc_mutate_stmt(&m, b.body);
  b.init = start ? tirc_store(c, e->output, k.store->u.store.n, k.store->u.store.indices,
                              tirc_substitute(c, start, &e->f.instance))
                 : tirc_mutate_stmt(&m, b.init);
  return tirc_with_own_regions(c, tirc_block(c, &b));
}

/* gone: a buffer that is no longer allocated; or NULL. */
static void install(Epilogue *e, Stmt block, Buffer gone) {
  Fold *f = &e->f;
  SRef *removed;
  Stmt without;
  tirc_plan_leaf_removal(f->s, f->consumer, &removed, &without);
  Stmt scope = tirc_replace_node(f->s, f->scope->stmt, removed, without);
  scope = tirc_replace_stmt(f->c, scope, f->producer->stmt, block);
  tirc_sched_replace(f->s, f->scope, gone ? tirc_without_alloc(f->c, scope, gone) : scope);
  tirc_require_independent_around(f->s, 1, &f->producer);
}

/* --- the two primitives --------------------------------------------------------------------- */

static void find_epilogue(Epilogue *e) {
  Fold *f = &e->f;
  const Block *b = tirc_block_of(f->consumer), *r = tirc_block_of(f->producer);
  if (!tirc_is_true(b->predicate)) no_epilogue(e, "it has a predicate");
  if (b->n_matches || r->n_matches) no_epilogue(e, "a T.match_buffer view is used");
  f->consumer_store = b->body;
  if (b->body->kind != STMT_STORE) no_epilogue(e, "its body is not a single store");
  e->output = b->body->u.store.buffer;
  f->n = f->buffer->ndim;
}

static void find_reducer(Epilogue *e) {
  Fold *f = &e->f;
  if (!tirc_declared_write(tirc_block_of(f->producer), f->buffer))
    tirc_refuse(f->s, f->producer->stmt, SERR_NOT_SINGLE_PRODUCER,
                "%s does not produce \"%s\", which %s reads",
                tirc_describe(f->s, f->producer->stmt), f->buffer->name,
                tirc_describe(f->s, f->consumer->stmt));
  e->reducer = tirc_reducer_of(f->s, f->producer);
  if (e->reducer.n != 1) no_epilogue(e, "the reduction is of several buffers");
  e->op = (Op)e->reducer.combiners[0]->op;
  const bool only_copies = tirc_is_load_of(f->buffer, f->consumer_store->u.store.value);
  if (e->op != OP_ADD && e->op != OP_MUL && !only_copies)
    no_epilogue(e, "the reduction is neither a sum nor a product");
}

/* That each result of the reduction goes through one instance of the epilogue, and nowhere else. */
static const char *why_not_one_to_one(Epilogue *e) {
  Fold *f = &e->f;
  const char *why = why_others_use(e);
  if (!why) why = why_not_whole(e);
  if (!why) why = tirc_fold_instance(f);
  if (!why) why = tirc_fold_is_short(f);
  if (!why) why = why_not_all(e);
  if (!why) why = why_not_apart(e);
  if (!why && tirc_reads_fewer_states(f->s, f->consumer, f->producer))
    why = "the sums are overwritten in the loops around, and it would see the last only";
  return why;
}

static void require_uses_in_scope(Epilogue *e) {
  require_own_memory(e, e->f.buffer);
  require_own_memory(e, e->output);
  tirc_require_no_loop_vars(e->f.s, e->f.consumer, e->f.consumer_store, e->f.producer);
}

void tirc_prim_fuse_reduction_epilogue(Sched *s, const Value *args, Value *result) {
  (void)result;
  Epilogue e = {.f = {.s = s,
                      .c = s->c,
                      .producer = tirc_sref_of_value(s, args[0]),
                      .consumer = tirc_sref_of_value(s, args[1])}};
  Fold *f = &e.f;
  Expr start;
  tirc_require_no_init(s, f->consumer);
  f->scope = tirc_require_scope_root(s, f->consumer, true);
  if (tirc_require_scope_root(s, f->producer, true) != f->scope)
    no_epilogue(&e, "the two are in different scopes");
  f->buffer = tirc_single_read(s, f->consumer, f->scope);
  tirc_require_complete(s, f->consumer, f->scope);
  tirc_require_reduction(s, f->producer, f->scope);
  find_epilogue(&e);
  find_reducer(&e);
  tirc_require_not_output(s, f->producer, f->scope);
  f->producer_store = tirc_block_of(f->producer)->body;
  const char *why = tirc_fold_load(f);
  if (!why) why = why_not_output(&e);
  if (!why && !added(&e, f->consumer_store->u.store.value, &start)) why = why_not_added(&e);
  if (!why) why = why_not_one_to_one(&e);
  if (why) no_epilogue(&e, why);
  require_uses_in_scope(&e);
  install(&e, fused_block(&e, start), NULL);
}

static bool has_same_indices(Stmt store) {
  const Expr load = store->u.store.value;
  bool same = load->n == store->u.store.n;
  for (int i = 0; same && i < load->n; i++) same = load->args[i] == store->u.store.indices[i];
  return same;
}

bool tirc_is_copy_of_reduction(Sched *s, SRef *block, SRef *producer, SRef *scope) {
  const Stmt store = tirc_block_of(block)->body;
  return tirc_block_of(producer)->init && store->kind == STMT_STORE &&
         store->u.store.value->op == OP_LOAD && !has_same_indices(store) &&
         !tirc_check_reduction(s, producer, scope);
}

void tirc_copy_into_reduction(const Fold *copy) {
  Epilogue e = {.f = *copy, .is_copy = true};
  Fold *f = &e.f;
  const Block *r = tirc_block_of(f->producer);
  find_epilogue(&e);
  if (r->body->kind != STMT_STORE || r->init->kind != STMT_STORE)
    no_epilogue(&e, "the reduction before it is not a single store");
  f->producer_store = r->body;
  const char *why = tirc_fold_load(f);
  if (!why) why = why_not_output(&e);
  if (!why) why = why_not_one_to_one(&e);
  if (why) no_epilogue(&e, why);
  require_uses_in_scope(&e);
  install(&e, fused_block(&e, NULL), f->buffer);
}
