/* Whether a reduction starts anew each time that its scope runs.
 *
 *   for k0 in range(4):
 *     block P:                        the init runs in the first instance of P only; in the
 *       for k1 in range(8):           others the block adds to what is there, and so reads
 *         block B: vk = k0 * 8 + k1   what it did not write
 *
 * The init runs where all reduction iterators are at the start of their domains. Within the scope
 * its loops must pass there, for every sum: a loop that starts elsewhere must not be shared between
 * sums and their steps, as a part of a fused loop is. Where the predicate, or a condition around
 * the block, lets any step of a sum run, it must let that one. And it must be for the elements of
 * all steps, which it is not where these are indexed by the reduction. */
#include "ir/tree/print.h"
#include "meaning.h"
#include "passes/schedule/state/state.h"
#include "touches.h"

enum { BUDGET = 30000 };

/* --- by hand ---------------------------------------------------------------------------------- */

/* Inits written by hand, `if vk == 0: B[vi] = 0` at the start of a body, and what a block reads of
 * its output until it has stored to it. */

typedef struct OwnReads {
  Visitor v;
  Buffer buffer;
  const Expr *index; /* the element that may be read; NULL: none */
  bool other;        /* another one is */
} OwnReads;

static bool see_own_read(Visitor *v, Expr e) {
  OwnReads *o = v->self;
  o->other |= e == o->buffer->data;
  if (e->op != OP_LOAD || e->u.buffer != o->buffer) return true;
  o->other |= !o->index || !tirc_same_exprs(e->n, e->args, o->index);
  return true;
}

static bool has_view(const Block *b, Buffer of) {
  int i = 0;
  while (i < b->n_matches && b->matches[i].source.buffer != of) i++;
  return i < b->n_matches;
}

/* Through a view anything may be read. */
static bool see_own_view(Visitor *v, Stmt s) {
  OwnReads *o = v->self;
  o->other |= s->kind == STMT_BLOCK && has_view(&s->u.block, o->buffer);
  return true;
}

/* The iterator, no spatial one, of which the condition says that it is at its start; -1: none. */
static int iter_at_start(const Block *b, Expr cond) {
  for (int i = 0; i < b->n_iters; i++)
    if (b->iters[i].kind != ITER_SPATIAL && cond->op == OP_EQ && cond->args[0] == b->iters[i].var &&
        tirc_expr_same(cond->args[1], b->iters[i].dom.min))
      return i;
  return -1;
}

/* cond says of each iterator that is no spatial one that it is at its start, and nothing else. */
static bool is_first_iteration(const Block *b, Expr cond) {
  for (int i = 0; i < b->n_iters; i++) {
    bool found = b->iters[i].kind == ITER_SPATIAL;
    for (Expr rest = cond; rest && !found; rest = rest->op == OP_AND ? rest->args[0] : NULL)
      found = iter_at_start(b, rest->op == OP_AND ? rest->args[1] : rest) == i;
    if (!found) return false;
  }
  while (cond->op == OP_AND && iter_at_start(b, cond->args[1]) >= 0) cond = cond->args[0];
  return iter_at_start(b, cond) >= 0;
}

static bool only_stores(Stmt init) {
  for (int k = 0; init->kind == STMT_SEQ && k < init->u.seq.n; k++)
    if (tirc_item(init, k)->kind != STMT_STORE) return false;
  return init->kind == STMT_SEQ || init->kind == STMT_STORE;
}

/* Item number i of a body if it is an init written by hand: only stores, in the first step. */
static Stmt init_by_hand(const Block *b, int i) {
  const Stmt body = b->body;
  if (body->kind != STMT_SEQ || i >= body->u.seq.n) return NULL;
  const Stmt item = tirc_item(body, i);
  if (item->kind != STMT_IF || item->u.branch.else_case) return NULL;
  const Stmt init = item->u.branch.then_case;
  return only_stores(init) && is_first_iteration(b, item->u.branch.cond) ? init : NULL;
}

int tirc_inits_by_hand(const Block *b) {
  int n = 0;
  while (init_by_hand(b, n)) n++;
  return n;
}

typedef struct Start { /* of a buffer */
  OwnReads before;     /* what is read of it until it is stored to */
  Stmt store;
} Start;

static bool see_start(Visitor *v, Stmt s) {
  Start *k = v->self;
  if (s->kind != STMT_STORE || k->store) return !k->store;
  tirc_visit_expr(&k->before.v, s->u.store.value);
  if (s->u.store.buffer == k->before.buffer) k->store = s;
  return false;
}

static void find_start(Start *start, Stmt init) {
  start->before.v = (Visitor){.expr = see_own_read, .self = &start->before};
  tirc_visit_stmt(&(Visitor){.stmt = see_start, .expr = tirc_skip_expr, .self = start}, init);
}

/* Whether the element of a buffer, or what a view shows, is another one in another step. */
static bool moves_with_steps(const Block *b, Buffer buffer, int n, const Expr *indices) {
  for (int i = 0; i < b->n_iters; i++) {
    if (b->iters[i].kind == ITER_SPATIAL) continue;
    for (int k = 0; k < n; k++)
      if (tirc_uses_var(indices[k], b->iters[i].var)) return true;
    for (int m = 0; m < b->n_matches; m++)
      for (int k = 0; k < b->matches[m].source.buffer->ndim; k++)
        if (b->matches[m].buffer == buffer &&
            tirc_uses_var(b->matches[m].source.dims[k].min, b->iters[i].var))
          return true;
  }
  return false;
}

/* Of the buffer the body reads the element alone that the init stores, in all steps the same. */
static bool reads_start_only(const Block *b, const Start *start) {
  const Stmt store = start->store;
  if (!store || start->before.other) return false;
  if (moves_with_steps(b, store->u.store.buffer, store->u.store.n, store->u.store.indices))
    return false;
  OwnReads in_body = {.buffer = start->before.buffer, .index = store->u.store.indices};
  in_body.v = (Visitor){.expr = see_own_read, .stmt = see_own_view, .self = &in_body};
  tirc_visit_stmt(&in_body.v, b->body);
  return !in_body.other;
}

/* `if vk == 0: B[vi] = 0` at the start of the body, maybe among others: an init written by hand,
 * after which the block reads nothing of B but what it wrote. */
bool tirc_starts_with_init(const Block *b, Buffer buffer) {
  Start start = {.before = {.buffer = buffer}};
  for (int i = 0; !start.store && init_by_hand(b, i); i++) find_start(&start, init_by_hand(b, i));
  return reads_start_only(b, &start);
}

/* What such a block declares to read of the buffer says no more than that it is a sum. */
bool tirc_only_adds(const Block *b, Buffer buffer) {
  Start start = {.before = {.buffer = buffer}};
  if (!b->init || !only_stores(b->init) || has_view(b, buffer)) return false;
  find_start(&start, b->init);
  for (int i = 0; start.store && i < start.store->u.store.n; i++)
    if (tirc_reads_memory(start.store->u.store.indices[i])) return false;
  return reads_start_only(b, &start);
}

/* --- elements of the steps -------------------------------------------------------------------- */

/* Whether a block stores each step of a sum to an element of its own: then the sum is none. */

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

/* --- first ------------------------------------------------------------------------------------ */

/* Instances with the init, or those without, as touches of the sum that they belong to. */
static Touch instances(Tirc *c, Place *at, const Block *b, bool with_init) {
  Expr *sum = tirc_new_array(c, Expr, b->n_iters + 1), start = tirc_bool(c, true);
  Touch t = {.indices = sum};
  for (int i = 0; i < b->n_iters; i++)
    if (b->iters[i].kind == ITER_SPATIAL)
      sum[t.n++] = b->iter_values[i];
    else
      start = tirc_and(c, start, tirc_eq(c, b->iter_values[i], b->iters[i].dom.min));
  t.at = tirc_place_when(c, at, start, !with_init);
  return t;
}

bool tirc_init_comes_first(Sched *s, SRef *in, int n, const For *const *loops, const Block *block,
                           Expr condition) {
  const ArenaMark mark = tirc_mark(s->c);
  Sets *z = tirc_sets_of(s);
  Relations r = {.s = s, .sets = z, .nest = in};
  Place *at = tirc_place_around(s, in);
  for (int i = 0; i < n; i++) at = tirc_place_loop(s->c, at, loops[i]);
  at = tirc_place_when(s->c, at, condition, false);
  const Touch first = instances(s->c, at, block, true), other = instances(s->c, at, block, false);
  bool exact = true, any = true;
  tirc_sets_begin(z, BUDGET);
  const ZMap inits = tirc_relation_of(&r, &first, &exact);
  const ZMap others = tirc_relation_of(&r, &other, &any);
  const ZMap started = tirc_z_compose(z, tirc_z_reverse(z, tirc_z_later(z, n)), inits);
  const bool proved = exact && tirc_z_is_empty(z, tirc_z_minus(z, others, started)) == ANSWER_YES;
  tirc_sets_end(z);
  tirc_rewind(s->c, mark);
  return proved;
}

/* --- anew ------------------------------------------------------------------------------------- */

/* not (a < b) as a >= b, and so on. */
static Expr without_not(Tirc *c, Expr cond) {
  static const Op turned[][2] = {{OP_LT, OP_GE}, {OP_GE, OP_LT}, {OP_LE, OP_GT},
                                 {OP_GT, OP_LE}, {OP_EQ, OP_NE}, {OP_NE, OP_EQ}};
  const Expr inner = cond->op == OP_NOT ? cond->args[0] : NULL;
  for (size_t i = 0; inner && i < sizeof turned / sizeof *turned; i++)
    if (inner->op == turned[i][0])
      return tirc_binary(c, turned[i][1], inner->args[0], inner->args[1]);
  return cond;
}

bool tirc_holds_at_start(Tirc *c, Analyzer *a, Expr cond, const PtrMap *starts) {
  cond = without_not(c, cond);
  if (cond->op == OP_AND)
    return tirc_holds_at_start(c, a, cond->args[0], starts) &&
           tirc_holds_at_start(c, a, cond->args[1], starts);
  if (!tirc_uses_any(cond, starts)) return true;
  const Expr first = tirc_substitute(c, cond, starts);
  if (tirc_prove(a, first)) return true;
  const bool is_below = cond->op == OP_LT || cond->op == OP_LE;
  if (first->op != cond->op || (!is_below && cond->op != OP_GT && cond->op != OP_GE)) return false;
  return tirc_prove_ge(a, cond->args[!is_below], first->args[!is_below]) &&
         tirc_prove_ge(a, first->args[is_below], cond->args[is_below]);
}

/* A condition on parts of a fused loop says nothing of steps alone: the nest is run. */
static bool is_about_fused(const SRef *block, Expr condition) {
  const Block *b = tirc_block_of(block);
  for (const SRef *r = block->parent; tirc_is_loop(r); r = r->parent) {
    const Expr var = tirc_loop_of(r)->var;
    if (tirc_uses_var(condition, var) && tirc_moves(b, var, ITER_SPATIAL) &&
        tirc_moves(b, var, ITER_REDUCE))
      return true;
  }
  return false;
}

/* Whether the first instance of each sum that runs under the condition has the init. */
static bool first_instance_starts(Sched *s, SRef *block, Expr condition) {
  SRef **above;
  const int n = tirc_loops_above(s, block, &above);
  const For **loops = tirc_new_array(s->c, const For *, n + 1);
  for (int i = 0; i < n; i++) loops[i] = tirc_loop_of(above[i]);
  return tirc_init_comes_first(s, n ? above[0] : block, n, loops, tirc_block_of(block), condition);
}

/* By sight: it does where the loops of its steps stand at their start. */
static bool holds_in_first_step(Sched *s, SRef *block, Expr condition) {
  PtrMap starts = {0};
  SRef *steps = NULL;
  for (SRef *r = block->parent; tirc_is_loop(r); r = r->parent)
    if (!tirc_moves(tirc_block_of(block), tirc_loop_of(r)->var, ITER_SPATIAL)) {
      tirc_map_set(s->c, &starts, tirc_loop_of(r)->var, tirc_loop_of(r)->min);
      steps = r;
    }
  /* It may be another one in the next step. */
  if (steps && tirc_loads_change(s, steps, condition)) return false;
  Analyzer *a = tirc_analyzer_around(s, block->parent);
  /* Where it runs, none of its loops is empty. */
  for (const SRef *r = block->parent; tirc_is_loop(r); r = r->parent)
    tirc_enter_constraint(a, tirc_binary(s->c, OP_GE, tirc_loop_of(r)->extent,
                                         tirc_int(s->c, tirc_loop_of(r)->extent->dtype, 1)));
  return tirc_holds_at_start(s->c, a, condition, &starts);
}

static bool starts_where_it_runs(Sched *s, const SRef *block) {
  SRef *self = tirc_sref_of_block(s, tirc_block_of(block)->id);
  const Expr condition = tirc_condition_of(s, self, tirc_scope_root(s, self));
  if (!condition || tirc_is_true(condition)) return condition;
  return (!is_about_fused(block, condition) && holds_in_first_step(s, self, condition)) ||
         first_instance_starts(s, self, condition);
}

/* A loop that is longer in later steps of a sum runs iterations which the first step does not. They
 * may be of other sums; or steps, of which it must have the first. */
static bool grows_with_steps(Sched *s, const SRef *block, const PtrMap *first_steps) {
  Analyzer *a = tirc_analyzer_around(s, block->parent);
  for (const SRef *r = block->parent; tirc_is_loop(r); r = r->parent) {
    const Expr extent = tirc_loop_of(r)->extent;
    if (!tirc_uses_any(extent, first_steps)) continue;
    const Expr first = tirc_substitute(s->c, extent, first_steps);
    const bool has_first = tirc_surely_some(a, first) &&
                           !tirc_moves(tirc_block_of(block), tirc_loop_of(r)->var, ITER_SPATIAL);
    if (!has_first && !tirc_prove_ge(a, first, extent)) return true;
  }
  return false;
}

static bool passes_start(Sched *s, const SRef *block) {
  Tirc *c = s->c;
  const Block *b = tirc_block_of(block);
  PtrMap starts = {0}, skewed = {0}, first_steps = {0};
  for (const SRef *r = block->parent; tirc_is_loop(r); r = r->parent) {
    const For *loop = tirc_loop_of(r);
    tirc_map_set(c, &starts, loop->var, loop->min);
    if (tirc_moves(b, loop->var, ITER_REDUCE)) tirc_map_set(c, &first_steps, loop->var, loop->min);
    if (!tirc_is_int(loop->min, 0) && tirc_moves(b, loop->var, ITER_SPATIAL))
      tirc_map_set(c, &skewed, loop->var, loop->var);
  }
  if (grows_with_steps(s, block, &first_steps)) return false;
  for (int i = 0; i < b->n_iters; i++) {
    if (b->iters[i].kind == ITER_SPATIAL) continue;
    Expr value = b->iter_values[i];
    if (tirc_uses_any(value, &skewed) ||
        !tirc_prove_equal(tirc_analyzer(c), tirc_substitute(c, value, &starts),
                          b->iters[i].dom.min))
      return false;
  }
  return true;
}

bool tirc_fused_steps_start(Sched *s, SRef *block) {
  const Expr predicate = tirc_block_of(block)->predicate;
  return !is_about_fused(block, predicate) || tirc_domain_implies_predicate(s, block) ||
         first_instance_starts(s, block, predicate);
}

bool tirc_steps_start_in_scope(Sched *s, const SRef *block) {
  return !tirc_block_of(block)->init || passes_start(s, block);
}

static bool is_load_of_output(const void *block, Expr e) {
  return e->op == OP_LOAD && tirc_declared_write(block, e->u.buffer);
}

bool tirc_init_reads_output(const Block *b) {
  return b->init && tirc_find_expr_in(b->init, is_load_of_output, b);
}

bool tirc_sums_start_in_scope(Sched *s, const SRef *block) {
  const Block *b = tirc_block_of(block);
  if (!b->init) return true;
  return tirc_steps_start_in_scope(s, block) && starts_where_it_runs(s, block) &&
         !tirc_why_indexed_by_reduction(s, b) && !tirc_init_reads_output(b);
}
