/* compute_inline: a block's expression takes the place of the loads of the buffer that it writes.
 *
 *     B[vi, vj] = f(A[vi, vj])
 *     C[vi, vj] = g(B[vj, vi])      ==>      C[vi, vj] = g(f(A[vj, vi]))
 *
 * The block must be complete, one store, and its indices a bijective affine map of its iterators:
 * then the map's inverse gives the iterators' values for any load. Below are also the parts that
 * the reverse inliner (reverse_inline.c) shares. */
#include "moves.h"

#include "ir/tree/print.h"

void tirc_require_no_init(Sched *s, SRef *block) {
  if (!tirc_block_of(block)->init) return;
  tirc_refuse(s, block->stmt, SERR_HAS_INIT, "%s has an init statement",
              tirc_describe(s, block->stmt));
}

void tirc_require_not_output(Sched *s, SRef *block, SRef *scope) {
  if (!tirc_is_output_block(s, block, scope)) return;
  tirc_refuse(s, block->stmt, SERR_OUTPUT_BLOCK, "%s is an output block of its scope",
              tirc_describe(s, block->stmt));
}

void tirc_bad_inline_pattern(Sched *s, SRef *block, const char *why) {
  tirc_sched_error(s, block->stmt, SERR_INLINE_PATTERN, why, NULL, "%s cannot be inlined: %s",
                   tirc_describe(s, block->stmt), why);
}

void tirc_require_no_loop_vars(Sched *s, SRef *block, Stmt store, SRef *other) {
  const SRefs loops = tirc_loops_above(s, block);
  for (int i = 0; i < loops.n; i++) {
    Expr var = tirc_loop_of(loops.at[i])->var;
    if (tirc_is_ancestor(loops.at[i], other) || !tirc_stmt_uses_var(store, var)) continue;
    tirc_refuse(s, block->stmt, SERR_LOOP_VAR_ESCAPES,
                "%s would use the loop variable %s outside of its loop",
                tirc_describe(s, block->stmt), var->u.s);
  }
}

/* --- rewriting the scope ----------------------------------------------------------------- */

/* The scope loses the buffer; blocks that named it get the regions that they touch now. */
static Stmt update_signature(Inliner *in, Stmt block) {
  const Block *b = &block->u.block;
  if (b->id == tirc_block_of(in->scope)->id) return tirc_without_alloc(in->c, block, in->buffer);
  const bool names = tirc_declared_read(b, in->buffer) || tirc_declared_write(b, in->buffer);
  return names ? tirc_with_own_regions(in->c, block) : block;
}

static Expr inline_expr(Mutator *m, Expr e) {
  Inliner *in = m->self;
  e = tirc_mutate_expr_children(m, e);
  return in->load && e->op == OP_LOAD && e->u.buffer == in->buffer ? in->load(in, e) : e;
}

static Stmt inline_stmt(Mutator *m, Stmt s) {
  Inliner *in = m->self;
  Stmt now = tirc_mutate_stmt_children(m, s);
  if (now->kind == STMT_STORE && now->u.store.buffer == in->buffer && in->store)
    return in->store(in, now);
  if (now->kind != STMT_BLOCK) return now;
  now = update_signature(in, now);
  return in->finish_block ? in->finish_block(in, s, now) : now;
}

void tirc_inline_and_replace(Inliner *in) {
  SRef *removed;
  Stmt without;
  tirc_plan_leaf_removal(in->s, in->block, &removed, &without);
  Stmt scope = tirc_replace_node(in->s, in->scope->stmt, removed, without);
  const Paths *only = tirc_paths_to_users(in->s, in->scope, in->buffer);
  const unsigned before = tirc_uses_of(scope, in->buffer, NULL, only);
  Mutator m = {.c = in->c, .expr = inline_expr, .stmt = inline_stmt, .self = in, .only = only};
  scope = tirc_mutate_stmt(&m, scope);
  const unsigned after = tirc_uses_of(scope, in->buffer, NULL, only);
  if ((before | after) & (USE_POINTER | USE_VIEW | USE_SHAPE | USE_OTHER_MADE))
    tirc_refuse(in->s, in->scope->stmt, SERR_INLINE_OPAQUE,
                "the address of \"%s\" is used, or an extent of a buffer depends on it, or another "
                "block matches a region of it",
                in->buffer->name);
  if ((after & USE_LOAD) && in->load)
    tirc_bad_inline_pattern(in->s, in->block, "it loads what it stores");
  if (after & USE_LOAD)
    tirc_refuse(in->s, in->block->stmt, SERR_NOT_SINGLE_PRODUCER,
                "\"%s\" has other consumers than %s", in->buffer->name,
                tirc_describe(in->s, in->block->stmt));
  if (after & USE_STORE)
    tirc_bad_inline_pattern(in->s, in->block, "a block that does not declare it stores, too");
  tirc_sched_replace(in->s, in->scope, scope);
}

/* --- compute_inline ---------------------------------------------------------------------- */

typedef struct Body {
  int n;             /* dimensions of the buffer */
  const Expr *holes; /* the variables that stand for a load's indices */
  Expr value;        /* in terms of them */
} Body;

/* B[vi, vj] = ...: the iterators are the holes. */
static bool trivial_indices(Tirc *c, const Block *b, Stmt store, Body *out) {
  if (b->n_iters != store->u.store.n) return false;
  Expr *holes = tirc_new_array(c, Expr, b->n_iters + 1);
  for (int i = 0; i < b->n_iters; i++) {
    const IterVar *v = &b->iters[i];
    bool unit = tirc_is_int(store->u.store.indices[i], 0) && tirc_is_int(v->dom.min, 0) &&
                tirc_is_int(v->dom.extent, 1);
    if (store->u.store.indices[i] != v->var && !unit) return false;
    holes[i] = v->var;
  }
  *out = (Body){b->n_iters, holes, store->u.store.value};
  return true;
}

static bool invert_indices(Tirc *c, const Block *b, Stmt store, Body *out) {
  int n = store->u.store.n;
  const LoopDomain d = tirc_iter_domain(c, b->n_iters, b->iters);
  Expr *holes = tirc_new_array(c, Expr, n + 1);
  Analyzer *a = tirc_analyzer(c);
  const IterMap *map = tirc_detect_iter_map(a, n, store->u.store.indices, d.n, d.vars, d.doms, NULL,
                                            ITER_LEVEL_BIJECTIVE, false, NULL);
  if (!map) return false;
  for (int i = 0; i < n; i++)
    holes[i] = tirc_var(c, tirc_format(c, "ph_%d", i), store->u.store.indices[i]->dtype);
  PtrMap inverse = {0};
  tirc_inverse_iter_map(a, map, holes, &inverse);
  int64_t constant;
  for (int i = 0; i < b->n_iters; i++)
    if (tirc_const_int(d.doms[i].min, &constant) && tirc_is_int(d.doms[i].extent, 1))
      tirc_map_set(c, &inverse, d.vars[i], d.doms[i].min);
  *out = (Body){n, holes, tirc_substitute(c, store->u.store.value, &inverse)};
  for (int i = 0; i < b->n_iters; i++)
    if (tirc_uses_var(out->value, d.vars[i])) return false;
  return true;
}

static Expr load_becomes_value(Inliner *in, Expr load) {
  const Body *body = in->self;
  PtrMap map = {0};
  for (int i = 0; i < body->n; i++) tirc_map_set(in->c, &map, body->holes[i], load->args[i]);
  return tirc_substitute(in->c, body->value, &map);
}

void tirc_prim_compute_inline(Sched *s, const Value *args, Value *result) {
  (void)result;
  SRef *block = tirc_sref_of_value(s, args[0]);
  const Block *b = tirc_block_of(block);
  tirc_require_no_init(s, block);
  if (b->n_writes != 1)
    tirc_refuse(s, block->stmt, SERR_NOT_SINGLE_BUFFER,
                "%s writes %d regions, but an inlined block must write one",
                tirc_describe(s, block->stmt), b->n_writes);
  SRef *scope = tirc_require_scope_root(s, block, true);
  tirc_require_not_output(s, block, scope);
  tirc_require_complete(s, block, scope);
  Body body;
  if (b->n_matches) tirc_bad_inline_pattern(s, block, "it uses a T.match_buffer view of its own");
  if (b->body->kind != STMT_STORE)
    tirc_bad_inline_pattern(s, block, "its body is not a single store");
  if (!trivial_indices(s->c, b, b->body, &body) && !invert_indices(s->c, b, b->body, &body))
    tirc_bad_inline_pattern(
        s, block, "the indices of its store are not a bijective affine map of its iterators");
  const SRefs consumers = tirc_consumers(s, block, scope);
  for (int i = 0; i < consumers.n; i++) {
    tirc_require_no_loop_vars(s, block, b->body, consumers.at[i]);
    SRef *producer, *reader;
    if (tirc_is_read_between(s, block, consumers.at[i], &producer, &reader))
      tirc_bad_inline_pattern(s, block, "what it reads is overwritten before its consumer runs");
  }
  Inliner in = {.s = s,
                .c = s->c,
                .block = block,
                .scope = scope,
                .buffer = b->writes[0].buffer,
                .load = load_becomes_value,
                .self = &body};
  uint32_t *ids = tirc_new_array(s->c, uint32_t, consumers.n + 1);
  for (int i = 0; i < consumers.n; i++) ids[i] = tirc_block_of(consumers.at[i])->id;
  tirc_inline_and_replace(&in);
  for (int i = 0; i < consumers.n; i++)
    tirc_require_independent_around(s, 1, (SRef *[]){tirc_sref_of_block(s, ids[i])});
}
