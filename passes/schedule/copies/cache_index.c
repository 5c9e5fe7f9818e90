/* cache_index(block, scope, cse_thresh): computes the index expressions of a block ahead of it.
 *
 *   for i, j: B[i, j] = A[i // 4 + j // 4, j // 2]
 *                        ->
 *   for ax0, ax1: index_0: index_var_0[v0, v1] = v0 // 4 + v1 // 4
 *   for ax0:      index_1: index_var_1[v0] = v0 // 2
 *   for i, j: B[i, j] = A[index_var_0[i, j], index_var_1[j]]
 *
 * Candidates are the largest subexpressions of the block's stores that load nothing. One that
 * occurs fewer than cse_thresh times gives way to its own subexpressions. A block without
 * candidates is left alone. It declares to read what it did before, not the new buffers, as the
 * reference has it; that it loads them is a dependence all the same (state_users.c).
 *
 * The threshold must not be negative (cse-threshold). What is computed ahead must be so for every
 * iteration: it may use the block's iterators and the function's parameters only, loops whose
 * bounds use no other loop, and no division by an iterator (index-not-cacheable). */
#include "copies.h"

typedef struct Candidate {
  Expr e, simple; /* as it stands; simplified, to be compared */
  int64_t count;
} Candidate;

typedef VEC(Candidate) Candidates;

typedef struct Precompute {
  Sched *s;
  SRef *block, *scope;
  int64_t threshold;
  Candidates found;  /* in one store */
  Candidates chosen; /* in all of them, the largest first */
} Precompute;

/* --- candidates ----------------------------------------------------------------------------- */

static int size_of(Expr e) {
  int size = 1;
  for (int i = 0; i < e->n; i++) size += size_of(e->args[i]);
  return size;
}

static bool is_pure(Expr e) {
  if (e->op == OP_LOAD || e->op == OP_CALL || e->op == OP_STRING) return false;
  for (int i = 0; i < e->n; i++)
    if (!is_pure(e->args[i])) return false;
  return true;
}

static bool is_candidate(Expr e) { return e->n > 0 && e->dtype.lanes == 1 && is_pure(e); }

static bool same_term(Expr a, Expr b) {
  return tirc_dtype_equal(a->dtype, b->dtype) && tirc_expr_same(a, b);
}

/* Larger ones first, so that what takes the place of a rare one comes after it. */
static void insert(Tirc *c, Candidates *to, Candidate one) {
  vec_push(c, *to, one);
  int at = to->n - 1;
  for (; at > 0 && size_of(to->at[at - 1].e) < size_of(one.e); at--) to->at[at] = to->at[at - 1];
  to->at[at] = one;
}

static void add_candidate(Precompute *p, Expr e, int64_t count) {
  Expr simple = tirc_simplify0(p->s->c, e);
  for (int i = 0; i < p->found.n; i++)
    if (same_term(p->found.at[i].simple, simple)) {
      p->found.at[i].count += count;
      return;
    }
  insert(p->s->c, &p->found, (Candidate){e, simple, count});
}

static void collect(Precompute *p, Expr e, int64_t count) {
  if (is_candidate(e))
    add_candidate(p, e, count);
  else
    for (int i = 0; i < e->n; i++) collect(p, e->args[i], count);
}

static void choose(Precompute *p, const Candidate *one) {
  for (int i = 0; i < p->chosen.n; i++)
    if (p->chosen.at[i].e == one->e) return;
  insert(p->s->c, &p->chosen, *one);
}

/* What the stored value computes, in the order of its computation. */
static void choose_in(Precompute *p, Expr e) {
  for (int i = 0; i < e->n; i++) choose_in(p, e->args[i]);
  if (!is_candidate(e)) return;
  Expr simple = tirc_simplify0(p->s->c, e);
  for (int i = 0; i < p->found.n; i++)
    if (p->found.at[i].count >= p->threshold && same_term(p->found.at[i].simple, simple))
      choose(p, &p->found.at[i]);
}

static bool see_store(Visitor *v, Stmt s) {
  Precompute *p = v->self;
  if (s->kind == STMT_BLOCK) return false;
  if (s->kind != STMT_STORE) return true;
  p->found.n = 0;
  collect(p, s->u.store.value, 1);
  for (int i = 0; i < s->u.store.n; i++) collect(p, s->u.store.indices[i], 1);
  for (int i = 0; i < p->found.n; i++) {
    Candidate one = p->found.at[i];
    for (int k = 0; one.count < p->threshold && k < one.e->n; k++)
      collect(p, one.e->args[k], one.count);
  }
  choose_in(p, s->u.store.value);
  return true;
}

/* --- one index ------------------------------------------------------------------------------ */

typedef struct Index {
  Precompute *p;
  Expr e;
  VEC(int) iters;          /* of the block, in order of first use */
  VEC(const SRef *) loops; /* that these are bound to */
  Buffer cache;
  Stmt nest;
  uint32_t id;
} Index;

#define not_cacheable(x, ...)                                                                      \
  tirc_refuse((x)->p->s, (x)->p->block->stmt, SERR_INDEX_NOT_CACHEABLE,                            \
              "An index expression of block %s cannot be computed in advance: %s.",                \
              tirc_name_of((x)->p->block), tirc_format((x)->p->s->c, __VA_ARGS__))

static bool is_parameter(Index *x, Expr var) {
  const Func *f = x->p->s->mod->funcs[x->p->scope->func];
  for (int i = 0; i < f->n_params; i++) {
    if (f->params[i] == var) return true;
    for (int d = 0; f->buffers[i] && d < f->buffers[i]->ndim; d++)
      if (tirc_uses_var(f->buffers[i]->shape[d], var)) return true;
  }
  return false;
}

static void use_iter(Index *x, Expr var) {
  const Block *b = tirc_block_of(x->p->block);
  const int i = tirc_iter_index(b, var);
  if (i < 0) {
    if (is_parameter(x, var)) return;
    not_cacheable(x, "it uses %s, which is not an iterator of the block", var->u.s);
  }
  for (int k = 0; k < x->iters.n; k++)
    if (x->iters.at[k] == i) return;
  vec_push(x->p->s->c, x->iters, i);
}

static bool see_var(Visitor *v, Expr e) {
  Index *x = v->self;
  bool divides = tirc_divides(e);
  const Block *b = tirc_block_of(x->p->block);
  for (int i = 0; divides && i < b->n_iters; i++)
    if (tirc_uses_var(e->args[1], b->iters[i].var))
      not_cacheable(
          x, "it divides by an expression of %s, which may be 0 where the block does not run",
          b->iters[i].var->u.s);
  if (e->op == OP_VAR) use_iter(x, e);
  return true;
}

static bool see_loop_var(Visitor *v, Expr e) {
  Index *x = v->self;
  if (e->op != OP_VAR) return true;
  const SRefs loops = tirc_loops_above(x->p->s, x->p->block);
  int i = 0;
  while (i < loops.n && tirc_loop_of(loops.at[i])->var != e) i++;
  if (i == loops.n) {
    if (is_parameter(x, e)) return true;
    not_cacheable(x, "it depends on %s, which is bound outside of the block's scope", e->u.s);
  }
  for (int k = 0; k < loops.n; k++)
    if (tirc_range_uses(tirc_loop_range(tirc_loop_of(loops.at[i])), tirc_loop_of(loops.at[k])->var))
      not_cacheable(x, "the bounds of loop %s use loop %s", e->u.s, tirc_name_of(loops.at[k]));
  for (int k = 0; k < x->loops.n; k++)
    if (x->loops.at[k] == loops.at[i]) return true;
  vec_push(x->p->s->c, x->loops, loops.at[i]);
  return true;
}

/* Room for every value that the iterator takes, counted from 0. */
static Expr room_for(Index *x, Expr binding) {
  Tirc *c = x->p->s->c;
  Analyzer *a = tirc_analyzer(c);
  const PtrMap sets =
      tirc_domain_sets(c, tirc_loop_domain(x->p->s, x->p->block->parent, NULL, STORAGE_GLOBAL));
  IntSet values = tirc_eval_set(a, binding, &sets);
  if (!values.min || !values.max || !tirc_prove_ge(a, values.min, tirc_int(c, binding->dtype, 0)))
    not_cacheable(x, "an iterator that it uses may be negative");
  return tirc_simplify(a, tirc_add(c, values.max, tirc_int(c, values.max->dtype, 1)));
}

/* Dense; one stride says so, as the reference has it. */
static Buffer make_buffer(Index *x, int number, const Expr *shape, const char *scope) {
  Tirc *c = x->p->s->c;
  const char *name = tirc_format(c, "index_var_%d", number);
  struct BufferNode to =
      *tirc_buffer(c, name, x->e->dtype, x->iters.n, shape, *scope ? scope : "global");
  Expr one[] = {tirc_int32(c, 1)};
  to.one_stride = to.ndim != 1;
  if (to.ndim == 1) {
    Expr *strides = tirc_new_array(c, Expr, 1);
    strides[0] = one[0];
    to.strides = strides;
  }
  return tirc_buffer_copy(c, &to);
}

static void make_index(Index *x, int number, const char *storage_scope) {
  Tirc *c = x->p->s->c;
  const Block *b = tirc_block_of(x->p->block);
  tirc_visit_expr(&(Visitor){.expr = see_var, .self = x}, x->e);
  int n = x->iters.n;
  for (int i = 0; i < n; i++)
    tirc_visit_expr(&(Visitor){.expr = see_loop_var, .self = x}, b->iter_values[x->iters.at[i]]);
  PtrMap loop_vars = {0}, iter_vars = {0};
  for (int i = 0; i < x->loops.n; i++) {
    Expr var = tirc_loop_of(x->loops.at[i])->var;
    tirc_map_set(c, &loop_vars, var, tirc_var(c, tirc_format(c, "ax%d", i), var->dtype));
  }
  Expr *shape = tirc_new_array(c, Expr, n + 1), *values = tirc_new_array(c, Expr, n + 1);
  Expr *vars = tirc_new_array(c, Expr, n + 1);
  IterVar *iters = tirc_new_array(c, IterVar, n + 1);
  for (int i = 0; i < n; i++) {
    Expr old = b->iters[x->iters.at[i]].var, binding = b->iter_values[x->iters.at[i]];
    shape[i] = room_for(x, binding);
    values[i] = tirc_substitute(c, binding, &loop_vars);
    vars[i] = tirc_var(c, tirc_format(c, "v%d", i), old->dtype);
    iters[i] = (IterVar){vars[i], tirc_range(tirc_int(c, old->dtype, 0), shape[i]), ITER_SPATIAL};
    tirc_map_set(c, &iter_vars, old, vars[i]);
  }
  x->cache = make_buffer(x, number, shape, storage_scope);
  const Stmt store = tirc_store(c, x->cache, n, vars, tirc_substitute(c, x->e, &iter_vars));
  x->nest =
      tirc_storing_block(c, tirc_format(c, "index_%d", number), n, iters, values,
                         tirc_bool(c, true), (Region){0}, tirc_point(c, x->cache, vars), store);
  x->id = x->nest->u.block.id;
  for (int i = x->loops.n; i-- > 0;) {
    const For *loop = tirc_loop_of(x->loops.at[i]);
    x->nest = tirc_for(c, &(For){.var = tirc_map_get(&loop_vars, loop->var),
                                 .min = loop->min,
                                 .extent = loop->extent,
                                 .body = x->nest});
  }
}

/* --- the block ------------------------------------------------------------------------------ */

typedef struct Replacement {
  Mutator m;
  Expr simple, load;
} Replacement;

static Expr replace_expr(Mutator *m, Expr e) {
  Replacement *r = m->self;
  if (is_candidate(e) && same_term(tirc_simplify0(m->c, e), r->simple)) return r->load;
  return tirc_mutate_expr_children(m, e);
}

static Stmt replace_in(Mutator *m, Stmt s) {
  Replacement *r = m->self;
  if (s->kind == STMT_BLOCK) return s;
  if (s->kind != STMT_STORE) return tirc_mutate_stmt_children(m, s);
  m->expr = replace_expr;
  Stmt to = tirc_mutate_stmt_children(&r->m, s);
  m->expr = NULL;
  return to;
}

/* Only stores turn to the caches; conditions and bounds in the block's body stay. */
static Stmt with_loads(Precompute *p, const Index *indices, int n) {
  Tirc *c = p->s->c;
  Block b = *tirc_block_of(p->block);
  for (int i = 0; i < n; i++) {
    Replacement r = {.simple = tirc_simplify0(c, indices[i].e)};
    Expr *at = tirc_new_array(c, Expr, indices[i].iters.n + 1);
    for (int k = 0; k < indices[i].iters.n; k++) at[k] = b.iters[indices[i].iters.at[k]].var;
    r.load = tirc_load(c, indices[i].cache, indices[i].iters.n, at);
    r.m = (Mutator){.c = c, .stmt = replace_in, .self = &r};
    b.body = tirc_mutate_stmt(&r.m, b.body);
    if (b.init) b.init = tirc_mutate_stmt(&r.m, b.init);
  }
  return tirc_with_loc(c, tirc_block(c, &b), p->block->stmt->loc);
}

static Stmt new_scope(Precompute *p, const Index *indices, int n) {
  Tirc *c = p->s->c;
  Stmt scope = p->scope->stmt, body = tirc_body_of(scope);
  Stmt item;
  const int at = tirc_item_with(p->s, p->scope, p->block, &item);
  VEC(Stmt) nests = {0};
  VEC(Buffer) caches = {0};
  for (int i = 0; i < n; i++) {
    vec_push(c, nests, indices[i].nest);
    vec_push(c, caches, indices[i].cache);
  }
  scope = tirc_with_allocs(c, scope, tirc_seq_splice(c, body, at, 0, n, nests.at), n, caches.at);
  return tirc_replace_node(p->s, scope, p->block, with_loads(p, indices, n));
}

void tirc_prim_cache_index(Sched *s, const Value *args, Value *result) {
  Precompute p = {.s = s, .block = tirc_sref_of_value(s, args[0]), .threshold = args[2].u.i};
  if (p.threshold < 0)
    tirc_refuse(s, NULL, SERR_CSE_THRESHOLD, "cse_thresh is %lld.", (long long)p.threshold);
  tirc_require_storage_scope(s, args[1].u.s);
  p.scope = tirc_require_scope_root(s, p.block, false);
  tirc_require_no_loose_use(s, p.scope, p.block);
  const Block *b = tirc_block_of(p.block);
  if (b->init) tirc_visit_stmts(b->init, see_store, &p);
  tirc_visit_stmts(b->body, see_store, &p);
  int n = p.chosen.n;
  Index *indices = tirc_new_array(s->c, Index, n + 1);
  Value *blocks = tirc_new_array(s->c, Value, n + 1);
  for (int i = 0; i < n; i++) {
    indices[i] = (Index){.p = &p, .e = p.chosen.at[i].e};
    make_index(&indices[i], i, args[1].u.s);
    blocks[i] = tirc_value_block(indices[i].id);
  }
  if (n) tirc_sched_replace(s, p.scope, new_scope(&p, indices, n));
  *result = tirc_value_list(s->c, VAL_LIST, n, blocks);
}
