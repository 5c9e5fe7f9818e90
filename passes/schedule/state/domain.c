/* Which values the loops around a place take, and what box of a buffer is touched while they run.
 */
#include "nodes.h"

bool tirc_shared_under(Storage storage, ThreadAxis axis) {
  if (storage == STORAGE_WARP || storage == STORAGE_WARP_PART) return axis == AXIS_THREAD_X;
  return tirc_owner(storage) == OWNER_BLOCK && !tirc_is_block_axis(axis) && axis != AXIS_NONE;
}

LoopDomain tirc_loop_domain(Sched *s, SRef *low, SRef *high, Storage storage) {
  Tirc *c = s->c;
  VEC(Expr) vars = {0};
  VEC(Range) doms = {0};
  SRef *r = low;
  for (; r && r != high && tirc_is_loop(r); r = r->parent) {
    vec_push(c, vars, tirc_loop_of(r)->var);
    vec_push(c, doms, tirc_loop_range(tirc_loop_of(r)));
  }
  for (; storage != STORAGE_GLOBAL && r; r = r->parent) {
    if (!tirc_is_loop(r) || tirc_loop_of(r)->kind != LOOP_THREAD_BINDING) continue;
    if (!tirc_shared_under(storage, tirc_loop_of(r)->axis)) continue;
    vec_push(c, vars, tirc_loop_of(r)->var);
    vec_push(c, doms, tirc_loop_range(tirc_loop_of(r)));
  }
  return (LoopDomain){vars.n, vars.at, doms.at};
}

LoopDomain tirc_all_loops(Tirc *c, LoopDomain a, LoopDomain b) {
  const int n = a.n + b.n;
  LoopDomain all = {n, tirc_new_array(c, Expr, n + 1), tirc_new_array(c, Range, n + 1)};
  for (int i = 0; i < n; i++) {
    all.vars[i] = i < a.n ? a.vars[i] : b.vars[i - a.n];
    all.doms[i] = i < a.n ? a.doms[i] : b.doms[i - a.n];
  }
  return all;
}

LoopDomain tirc_used_loops(LoopDomain loops, int n, const Expr *values) {
  int used = 0;
  for (int l = 0; l < loops.n; l++) {
    if (!tirc_any_uses(n, values, loops.vars[l])) continue;
    loops.vars[used] = loops.vars[l];
    loops.doms[used++] = loops.doms[l];
  }
  loops.n = used;
  return loops;
}

/* Without the predicate more is asked for, which can be easier to see. */
bool tirc_tells_apart(Sched *s, int n, const Expr *values, const LoopDomain *loops,
                      Expr predicate) {
  for (int with = 0; with <= !tirc_is_true(predicate); with++)
    if (tirc_detect_iter_map(tirc_analyzer(s->c), n, values, loops->n, loops->vars, loops->doms,
                             with ? predicate : NULL, ITER_LEVEL_BIJECTIVE, true, NULL))
      return true;
  return false;
}

bool tirc_runs_once(Sched *s, SRef *block, const LoopDomain *loops, Expr predicate) {
  const Block *b = tirc_block_of(block);
  return tirc_tells_apart(s, b->n_iters, b->iter_values, loops, predicate);
}

LoopDomain tirc_iter_domain(Tirc *c, int n, const IterVar *iters) {
  LoopDomain d = {n, tirc_new_array(c, Expr, n + 1), tirc_new_array(c, Range, n + 1)};
  for (int i = 0; i < n; i++) {
    d.vars[i] = iters[i].var;
    d.doms[i] = iters[i].dom;
  }
  return d;
}

void tirc_bind_iters(Analyzer *a, const Block *b) {
  for (int i = 0; i < b->n_iters; i++) tirc_bind_range(a, b->iters[i].var, b->iters[i].dom);
}

PtrMap tirc_domain_sets(Tirc *c, LoopDomain d) {
  PtrMap sets = {0};
  for (int i = 0; i < d.n; i++) {
    IntSet *set = tirc_new(c, IntSet);
    *set = tirc_set_of_range(c, d.doms[i]);
    tirc_map_set(c, &sets, d.vars[i], set);
  }
  return sets;
}

bool tirc_is_about(Expr cond, const LoopDomain *d) {
  if (cond->op == OP_VAR) {
    for (int i = 0; i < d->n; i++)
      if (d->vars[i] == cond) return true;
    return false;
  }
  for (int i = 0; i < cond->n; i++)
    if (!tirc_is_about(cond->args[i], d)) return false;
  return true;
}

const IntSet *tirc_region_lower(Sched *s, Analyzer *a, Region r, Expr predicate, SRef *low,
                                SRef *high) {
  LoopDomain d = tirc_loop_domain(s, low, high, r.buffer->storage);
  return tirc_estimate_region(a, r.buffer->ndim, r.dims, d.n, d.vars, d.doms, predicate, true);
}

/* The hull of one dimension by interval arithmetic. The last element of a joined access, a + (b + 1
 * - a) - 1, is b: of what stands there twice, the interval would be taken twice. */
static IntSet coarse(Sched *s, Analyzer *a, Range dim, const LoopDomain *d) {
  const PtrMap sets = tirc_domain_sets(s->c, *d);
  IntSet min = tirc_eval_set(a, dim.min, &sets);
  Expr last =
      tirc_sub(s->c, tirc_add(s->c, dim.min, dim.extent), tirc_int(s->c, dim.min->dtype, 1));
  const Expr wide = tirc_eval_set(a, last, &sets).max;
  const Expr narrow = tirc_eval_set(a, tirc_simplify(a, last), &sets).max;
  const bool keeps_wide = wide && (!narrow || tirc_prove_ge(a, narrow, wide));
  return (IntSet){min.min, keeps_wide ? wide : narrow};
}

const IntSet *tirc_region_upper(Sched *s, Analyzer *a, Region r, Expr predicate, SRef *low,
                                SRef *high) {
  LoopDomain d = tirc_loop_domain(s, low, high, r.buffer->storage);
  int ndim = r.buffer->ndim;
  const IntSet *exact = tirc_estimate_region(a, ndim, r.dims, d.n, d.vars, d.doms, predicate, true);
  if (exact) return exact;
  IntSet *out = tirc_new_array(s->c, IntSet, ndim + 1);
  for (int i = 0; i < ndim; i++) {
    const IntSet *one =
        tirc_estimate_region(a, 1, &r.dims[i], d.n, d.vars, d.doms, predicate, true);
    out[i] = one ? *one : coarse(s, a, r.dims[i], &d);
  }
  return out;
}

Analyzer *tirc_analyzer_of_loops(Sched *s, SRef *low, SRef *high) {
  Analyzer *a = tirc_analyzer(s->c);
  for (SRef *r = low->parent; r && r != high && tirc_is_loop(r); r = r->parent)
    tirc_bind_loop(a, tirc_loop_of(r));
  return a;
}

void tirc_bind_shapes(Sched *s, Analyzer *a, const SRef *scope) {
  const Func *f = s->mod->funcs[scope->func];
  for (int i = 0; i < f->n_params; i++)
    for (int d = 0; f->buffers[i] && d < f->buffers[i]->ndim; d++) {
      Expr extent = f->buffers[i]->shape[d];
      if (extent->op == OP_VAR)
        tirc_enter_constraint(a,
                              tirc_binary(s->c, OP_GE, extent, tirc_int(s->c, extent->dtype, 1)));
    }
}

/* Conditions on sizes and loops that stand between a loop or block and what is around it. */
static void learn_conditions(Tirc *c, Analyzer *a, SRef *inner) {
  const Steps between = tirc_steps_between(c, inner);
  for (int i = 0; i < between.n; i++) {
    const Stmt branch = between.at[i].stmt;
    if (branch->kind != STMT_IF || tirc_loads_or_calls(branch->u.branch.cond)) continue;
    const Expr cond = branch->u.branch.cond;
    (void)tirc_enter_constraint(a, between.at[i].negated ? tirc_not(c, cond) : cond);
  }
}

Analyzer *tirc_analyzer_around(Sched *s, SRef *sref) {
  Analyzer *a = tirc_analyzer(s->c);
  int n = 0;
  for (SRef *r = sref; r; r = r->parent) n++;
  SRef **path = tirc_new_array(s->c, SRef *, n);
  for (SRef *r = sref; r; r = r->parent) path[--n] = r;
  for (int i = 0; i == 0 || path[i - 1] != sref; i++) {
    if (i) learn_conditions(s->c, a, path[i]);
    if (tirc_is_loop(path[i]))
      tirc_bind_loop(a, tirc_loop_of(path[i]));
    else
      tirc_bind_iters(a, tirc_block_of(path[i]));
  }
  return a;
}

static InitPart init_part(Sched *s, const SRef *block, bool with_shapes) {
  Analyzer *a = tirc_analyzer_around(s, block->parent);
  const LoopDomain d = tirc_loop_domain(s, block->parent, NULL, STORAGE_GLOBAL);
  if (with_shapes) tirc_bind_shapes(s, a, block);
  return tirc_find_init_part(a, s->c, tirc_block_of(block), d.n, d.vars, d.doms);
}

/* Whether the predicate has a part that the init does not ask. */
static bool has_rest(Sched *s, const Block *b) {
  return b->init && !tirc_is_true(tirc_init_part(s->c, b, b->predicate, true));
}

InitPart tirc_init_of(Sched *s, const SRef *block) {
  const Block *b = tirc_block_of(block);
  if (!has_rest(s, b))
    return (InitPart){.kept = b->predicate,
                      .rest = tirc_bool(s->c, true),
                      .inside = tirc_bool(s->c, true),
                      .some = tirc_bool(s->c, true),
                      .always = true,
                      .at_start = true};
  const InitPart part = init_part(s, block, false);
  if (tirc_is_true(tirc_init_guard(s->c, &part))) return part;
  return init_part(s, block, true); /* a quotient by an extent is not below 0 */
}

Expr tirc_some_steps(Sched *s, const SRef *block) {
  return has_rest(s, tirc_block_of(block)) ? init_part(s, block, false).some
                                           : tirc_bool(s->c, true);
}

Expr tirc_touching_condition(Sched *s, const SRef *block) {
  const InitPart part = tirc_init_of(s, block);
  return part.always ? tirc_block_of(block)->predicate
                     : tirc_and(s->c, part.kept, tirc_init_guard(s->c, &part));
}

bool tirc_shares_loops(Sched *s, SRef *block) {
  const SRefs loops = tirc_loops_above(s, block);
  return loops.n && tirc_child_blocks(s, loops.at[0]).n > 1;
}

SRef *tirc_loop_of_domain(const SRef *block) {
  const Block *b = tirc_block_of(block);
  for (SRef *l = block->parent; l && tirc_is_loop(l); l = l->parent)
    for (int i = 0; i < b->n_iters; i++)
      if (tirc_range_uses(b->iters[i].dom, tirc_loop_of(l)->var)) return l;
  return NULL;
}

static bool is_point(const Region *r) {
  for (int i = 0; i < r->buffer->ndim; i++)
    if (!tirc_is_int(r->dims[i].extent, 1)) return false;
  return true;
}

Region tirc_written_region(Sched *s, SRef *block, const Region *declared) {
  if (is_point(declared)) return *declared;
  const Block *b = tirc_block_of(block);
  Analyzer *a = tirc_analyzer(s->c);
  tirc_bind_iters(a, b);
  Access access = tirc_block_access(s->c, block->stmt);
  if (tirc_region_of(access.opaque.n, access.opaque.at, declared->buffer)) return *declared;
  for (int i = 0; i < access.writes.n; i++) {
    const Region *actual = &access.writes.at[i];
    for (int d = 0; actual->buffer == declared->buffer && d < declared->buffer->ndim; d++)
      if (tirc_prove_lt(a, actual->dims[d].extent, declared->dims[d].extent)) return *actual;
  }
  return *declared;
}
