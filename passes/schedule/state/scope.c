/* What primitives ask about a block and its scope: is the scope a stage pipeline, are the bindings
 * affine, does the block make an output, who are its neighbours, which buffer is meant. */
#include "nodes.h"
#include "passes/schedule/state/state.h"

static const char *reads_too_much(Sched *s, const SRef *block) {
  return tirc_format(s->c, "block %s reads more than its producers are known to have written",
                     tirc_name_of(block));
}

/* Why a scope is no stage pipeline: the first dependence or uncovered reader. */
static const char *why_not_pipeline(Sched *s, const Scope *scope) {
  const Deps deps = tirc_deps_of(s, scope);
  for (int i = 0; i < deps.n; i++) {
    const Dep *d = &deps.at[i];
    const char *src = tirc_name_of(d->src), *dst = tirc_name_of(d->dst);
    if (d->kind == DEP_WAR)
      return tirc_format(s->c, "block %s writes a buffer that block %s has read before", dst, src);
    if (!tirc_has_region_cover(s, d->dst)) return reads_too_much(s, d->dst);
  }
  return NULL;
}

SRef *tirc_require_scope_root(Sched *s, SRef *sref, bool stage_pipeline) {
  SRef *scope = tirc_scope_root(sref);
  if (!scope)
    tirc_refuse(s, sref->stmt, SERR_ROOT_BLOCK, "block %s is the root block of its function",
                tirc_name_of(sref));
  const SRef *uncovered =
      stage_pipeline && tirc_is_block(sref) ? tirc_find_uncovered(s, scope, sref) : NULL;
  if (stage_pipeline && (uncovered || !tirc_is_stage_pipeline(s, scope)))
    tirc_sched_error(s, scope->stmt, SERR_NOT_STAGE_PIPELINE,
                     uncovered ? reads_too_much(s, uncovered) : why_not_pipeline(s, scope->scope),
                     NULL, "the scope of block %s is not a stage pipeline", tirc_name_of(scope));
  if (stage_pipeline && tirc_is_block(sref)) tirc_require_no_loose_use(s, scope, sref);
  return scope;
}

void tirc_require_affine_binding(Sched *s, SRef *block, SRef *high) {
  if (tirc_has_affine_binding(s, block)) return;
  if (high && block->parent && tirc_is_affine_under(s, block, high)) return;
  const Block *b = tirc_block_of(block);
  LoopDomain d = tirc_loop_domain(s, block->parent, high, STORAGE_GLOBAL);
  const char *why = NULL;
  tirc_detect_iter_map(tirc_analyzer(s->c), b->n_iters, b->iter_values, d.n, d.vars, d.doms,
                       b->predicate, ITER_LEVEL_SURJECTIVE, true, &why);
  tirc_sched_mark(s, block->stmt);
  if (high && tirc_is_loop(high))
    tirc_sched_error(s, NULL, SERR_NOT_AFFINE_BINDING, why, NULL,
                     "block %s does not have an affine binding under loop %s", b->name,
                     tirc_name_of(high));
  tirc_sched_error(s, NULL, SERR_NOT_AFFINE_BINDING, why, NULL,
                   "block %s does not have an affine binding", b->name);
}

/* What only blocks inside declare counts, too, unless they have it for themselves. */
bool tirc_is_output_block(Sched *s, SRef *block, SRef *scope) {
  for (int i = 0; i < block->n_accesses[1]; i++) {
    const Buffer b = block->accesses[1][i].buffer;
    const SRef *allocator = tirc_allocator_of(scope, b);
    if (allocator == scope) continue;
    if (allocator || tirc_is_parameter(s, block, b) || tirc_declared_write(tirc_block_of(block), b))
      return true;
  }
  return false;
}

bool tirc_is_trivial_binding(Stmt block, SRefs loops) {
  const Block *b = &block->u.block;
  if (b->n_iters != loops.n) return false;
  for (int i = 0; i < loops.n; i++)
    if (b->iter_values[i] != tirc_loop_of(loops.at[i])->var) return false;
  return true;
}

typedef struct KindSearch {
  Tirc *c;
  PtrMap moved; /* the loop's variable, and what is let from it */
  unsigned kinds;
} KindSearch;

static bool gather_kinds(Visitor *v, Stmt stmt) {
  KindSearch *search = v->self;
  if (stmt->kind == STMT_LET && tirc_uses_any(stmt->u.let.value, &search->moved))
    tirc_map_set(search->c, &search->moved, stmt->u.let.var, stmt->u.let.var);
  if (stmt->kind != STMT_BLOCK) return true;
  const Block *b = &stmt->u.block;
  for (int i = 0; i < b->n_iters; i++)
    if (tirc_uses_any(b->iter_values[i], &search->moved)) search->kinds |= 1u << b->iters[i].kind;
  return b->n_iters == 0;
}

unsigned tirc_loop_iter_kinds(Sched *s, SRef *loop) {
  KindSearch search = {.c = s->c};
  tirc_map_set(s->c, &search.moved, tirc_loop_of(loop)->var, tirc_loop_of(loop)->var);
  tirc_visit_stmts(tirc_loop_of(loop)->body, gather_kinds, &search);
  return search.kinds;
}

typedef struct Loads {
  Sched *s;
  SRef *at;
} Loads;

static bool is_changed_load(const void *self, Expr e) {
  const Loads *k = self;
  if (e->op != OP_LOAD) return false;
  if (tirc_is_block(k->at) && tirc_touches(k->at, e->u.buffer, true)) return true;
  if (tirc_is_block(k->at)) return tirc_reads_written(k->at, e);
  const SRefs blocks = tirc_child_blocks(k->s, k->at);
  for (int i = 0; i < blocks.n; i++)
    if (tirc_touches(blocks.at[i], e->u.buffer, true)) return true;
  const Buffers loose = tirc_loose_stores(k->s, k->at);
  for (int i = 0; i < loose.n; i++)
    if (loose.at[i] == e->u.buffer) return true;
  return false;
}

bool tirc_loads_change(Sched *s, SRef *at, Expr e) {
  return tirc_find_expr(e, is_changed_load, &(Loads){s, at});
}

/* --- neighbours ------------------------------------------------------------------------------ */

static void push_once(Tirc *c, SRefs *v, SRef *r) {
  for (int i = 0; i < v->n; i++)
    if (v->at[i] == r) return;
  vec_push(c, *v, r);
}

/* Flow and output dependences make producers and consumers, as in TVM. */
SRefs tirc_producers(Sched *s, SRef *block, SRef *scope) {
  SRefs v = {0};
  Deps deps = {0};
  tirc_deps_into(s, scope->scope, block, &deps);
  for (int i = 0; i < deps.n; i++)
    if (deps.at[i].kind != DEP_WAR) push_once(s->c, &v, deps.at[i].src);
  return v;
}

SRefs tirc_consumers(Sched *s, SRef *block, SRef *scope) {
  SRefs v = {0};
  tirc_users_after(s, scope->scope, block, &v);
  return v;
}

/* --- buffers --------------------------------------------------------------------------------- */

static _Noreturn void no_such_buffer(Sched *s, SRef *block, const char *name, bool is_write) {
  const Regions all = tirc_declared(tirc_block_of(block), is_write);
  Text t = {.c = s->c};
  for (int i = 0; i < all.n; i++) tirc_text_addf(&t, "%s%s", i ? ", " : "", all.at[i].buffer->name);
  tirc_sched_error(s, NULL, SERR_BUFFER_NOT_FOUND, NULL,
                   tirc_hint_of_buffer(s, block, name, !is_write, is_write),
                   "block %s %s no buffer named %s; it %s %s", tirc_name_of(block),
                   is_write ? "writes" : "reads", name, is_write ? "writes" : "reads",
                   all.n ? t.at : "none");
}

Buffer tirc_nth_buffer(Sched *s, SRef *block, Value value, bool is_write) {
  const Block *b = tirc_block_of(block);
  const Regions all = tirc_declared(b, is_write);
  if (value.kind == VAL_STR) {
    for (int i = 0; i < all.n; i++)
      if (!strcmp(all.at[i].buffer->name, value.u.s)) return all.at[i].buffer;
    no_such_buffer(s, block, value.u.s, is_write);
  }
  if (value.kind == VAL_BUFFER) {
    if (tirc_region_of(all.n, all.at, value.u.buffer)) return value.u.buffer;
    no_such_buffer(s, block, value.u.buffer->name, is_write);
  }
  if (value.u.i < 0 || value.u.i >= all.n)
    tirc_refuse(s, block->stmt, SERR_BUFFER_INDEX,
                "block %s %s %d buffer%s, so there is no number %lld", b->name,
                is_write ? "writes" : "reads", all.n, all.n == 1 ? "" : "s", (long long)value.u.i);
  return all.at[value.u.i].buffer;
}

bool tirc_is_used_besides(SRef *inside, Buffer b) {
  SRef *allocator = tirc_allocator_of(inside, b), *scope = inside;
  if (!allocator) return true;
  while (scope != allocator) {
    scope = tirc_scope_root(inside);
    const SRefs *users = tirc_users_of(scope->scope, b);
    for (int i = 0; users && i < users->n; i++)
      if (!tirc_is_ancestor(inside, users->at[i])) return true;
    if (tirc_loosely_used(scope, inside, b)) return true;
    inside = scope;
  }
  return false;
}

SRef *tirc_require_allocated(Sched *s, SRef *block, Buffer b) {
  SRef *site = tirc_allocator_of(block, b);
  if (site) return site;
  tirc_refuse(s, block->stmt, SERR_BUFFER_NOT_ALLOCATED,
              "%s is not allocated by a block: it is a parameter of the function or a view made by "
              "T.match_buffer.",
              b->name);
}
