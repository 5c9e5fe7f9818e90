/* blockize(loop): the loop and all below it become the body of one new block.
 *
 *   for i0, j0, k0, i1, j1, k1:           for i0, j0, k0:
 *     block C: vi = i0 * 16 + i1, ...       block C_o: vi_o = i0, vj_o = j0, vk_o = k0
 *       init: C[vi, vj] = 0                   init: for i1, j1: block C_init: C[...] = 0
 *       C[vi, vj] += A[vi, vk] * B[vk, vj]    for i1, j1, k1:
 *                                     ->        block C: vi_i = i1, vj_i = j1, vk_i = k1
 *                                                 C[vi_o * 16 + vi_i, ...] += ...
 *
 * Each binding must divide into a part of the outer loops and a part of the inner ones, the
 * predicate too. The old block keeps its identity and stands inside; the new one has the regions of
 * all its instances. An init moves to the new block, and must then run as often as before.
 *
 * Needs: one block under the loop and nothing else. A list of blocks: blockize_list.c. */
#include "blocks.h"

#include "ir/tree/print.h"

SRef *tirc_blockize_only_child(Sched *s, SRef *loop) {
  const SRefs blocks = tirc_child_blocks(s, loop);
  if (blocks.n != 1)
    tirc_refuse(s, loop->stmt, SERR_NOT_SINGLE_CHILD, "loop %s has %d blocks below it",
                tirc_name_of(loop), blocks.n);
  for (SRef *r = blocks.at[0]; r != loop; r = r->parent) {
    if (tirc_loop_of(r->parent)->body == r->stmt) continue;
    tirc_refuse(s, r->parent->stmt, SERR_NOT_SINGLE_CHILD,
                "the body of loop %s has other statements beside %s", tirc_name_of(r->parent),
                tirc_describe(s, r->stmt));
  }
  return blocks.at[0];
}

/* --- dividing the bindings -------------------------------------------------------------------- */

typedef struct Space {
  PtrMap inner, outer; /* loop variables */
  VEC(Expr) vars;
  VEC(Range) doms;
} Space;

static Space loops_of(Blockize *b, SRef *top) {
  Space space = {0};
  bool is_inner = top != b->block;
  for (SRef *r = b->block->parent; r && tirc_is_loop(r); r = r->parent) {
    const For *f = tirc_loop_of(r);
    if (is_inner) vec_push(b->c, b->loops, r);
    tirc_map_set(b->c, is_inner ? &space.inner : &space.outer, f->var, r);
    vec_push(b->c, space.vars, f->var);
    vec_push(b->c, space.doms, tirc_range(f->min, f->extent));
    if (r == top) is_inner = false;
  }
  return space;
}

/* Bindings that use outer loops only, or inner ones only, need not be affine. NULL: others do. */
static const SubspaceDivision *divide_plainly(Blockize *b, const Space *space) {
  const Block *block = tirc_block_of(b->block);
  if (!tirc_is_true(block->predicate)) return NULL;
  SubspaceDivision *out = tirc_new_array(b->c, SubspaceDivision, block->n_iters + 1);
  for (int i = 0; i < block->n_iters; i++) {
    Expr value = block->iter_values[i], extent = block->iters[i].dom.extent;
    Expr zero = tirc_int(b->c, value->dtype, 0), one = tirc_int(b->c, extent->dtype, 1);
    bool outer = tirc_uses_any(value, &space->outer), inner = tirc_uses_any(value, &space->inner);
    if (outer && inner) return NULL;
    out[i] = outer   ? (SubspaceDivision){value, extent, zero, one}
             : inner ? (SubspaceDivision){zero, one, value, extent}
                     : (SubspaceDivision){zero, one, value, one};
  }
  Expr always = tirc_bool(b->c, true);
  out[block->n_iters] = (SubspaceDivision){always, always, always, always};
  return out;
}

/* Inner loops of one iteration stand for their start in what moves out of them. */
static Expr without_unit_loops(Blockize *b, Expr e) {
  PtrMap starts = {0};
  for (int i = 0; i < b->loops.n; i++)
    if (tirc_is_int(tirc_loop_of(b->loops.at[i])->extent, 1))
      tirc_map_set(b->c, &starts, tirc_loop_of(b->loops.at[i])->var,
                   tirc_loop_of(b->loops.at[i])->min);
  return tirc_substitute(b->c, e, &starts);
}

static bool reaches_binding(Blockize *b, Expr cond) {
  const Block *block = tirc_block_of(b->block);
  for (SRef *r = b->block->parent; r && tirc_is_loop(r); r = r->parent) {
    if (!tirc_uses_var(cond, tirc_loop_of(r)->var)) continue;
    for (int i = 0; i < block->n_iters; i++)
      if (tirc_uses_var(block->iter_values[i], tirc_loop_of(r)->var)) return true;
  }
  return false;
}

/* Whether it holds at the start of all loops. */
static bool holds_at_first(Blockize *b, Analyzer *loops, Expr cond) {
  return tirc_prove(loops, tirc_substitute(b->c, cond, &b->starts));
}

/* Whether the new block may run again with the same iterators: it reads nothing that it writes,
 * does all of a reduction at once, and no other block goes on with what it wrote. */
static bool is_repeatable(Blockize *b) {
  const Block *block = tirc_block_of(b->block);
  if (tirc_init_reads_output(block)) return false;
  for (int i = 0; i < block->n_iters; i++)
    if (block->iters[i].kind != ITER_SPATIAL && !tirc_is_int(b->outer[i].dom.extent, 1))
      return false;
  for (int i = 0; i < block->n_writes; i++)
    if (tirc_touches(b->block, block->writes[i].buffer, false) ||
        tirc_writers_of(tirc_scope_root(b->block), block->writes[i].buffer).n > 1)
      return false;
  return true;
}

/* The outermost loop that the condition, of outer loops, is about. */
static SRef *highest_loop(const Blockize *b, Expr cond) {
  SRef *high = NULL;
  for (SRef *r = b->block->parent; tirc_is_loop(r); r = r->parent)
    if (tirc_uses_var(cond, tirc_loop_of(r)->var)) high = r;
  return high;
}

/* Whether all iterations of `high` lead to the block with the same bindings. */
static bool leads_alike(Blockize *b, SRef *high) {
  PtrMap loops = {0};
  for (SRef *r = b->block; r != high; r = r->parent) {
    if (!tirc_stands_directly(r)) return false;
    tirc_map_set(b->c, &loops, tirc_loop_of(r->parent)->var, r->parent);
  }
  for (SRef *r = b->block->parent; r != high; r = r->parent) {
    const For *f = tirc_loop_of(r);
    if (tirc_range_uses_any(tirc_loop_range(f), &loops) || tirc_loads_change(b->s, high, f->min) ||
        tirc_loads_change(b->s, high, f->extent))
      return false;
  }
  return true;
}

/* Whether nothing in `high` changes what the block reads, and no statement outside of blocks stores
 * to what it writes. */
static bool is_left_alone(const Blockize *b, SRef *high) {
  const SRefs blocks = tirc_child_blocks(b->s, high);
  const Buffers loose = tirc_loose_stores(b->s, high);
  for (int k = 0; k < b->block->n_accesses[0]; k++)
    for (int i = 0; i < blocks.n; i++)
      if (tirc_touches(blocks.at[i], b->block->accesses[0][k].buffer, true)) return false;
  for (int i = 0; i < loose.n; i++)
    if (tirc_touches(b->block, loose.at[i], false) || tirc_touches(b->block, loose.at[i], true))
      return false;
  return true;
}

/* Whether a condition of outer loops may be left out: the block runs where they start, and more
 * often then. */
static bool is_dispensable(Blockize *b, Analyzer *loops, Expr cond) {
  SRef *high = highest_loop(b, cond);
  return high && is_repeatable(b) && leads_alike(b, high) && is_left_alone(b, high) &&
         !reaches_binding(b, cond) && holds_at_first(b, loops, cond);
}

/* The division shrinks an iterator that a condition bounds and forgets the condition; what does not
 * follow from the two new predicates is added to the one that can say it. */
static bool keep_condition(Blockize *b, const Space *space, Analyzer *loops, Expr cond) {
  if (cond->op == OP_AND)
    return keep_condition(b, space, loops, cond->args[0]) &&
           keep_condition(b, space, loops, cond->args[1]);
  int mark = tirc_enter_constraint(loops, tirc_and(b->c, b->outer_predicate, b->inner_predicate));
  bool follows = tirc_prove(loops, cond);
  tirc_leave_constraint(loops, mark);
  if (follows) return true;
  cond = without_unit_loops(b, cond);
  bool inner = tirc_uses_any(cond, &space->inner), outer = tirc_uses_any(cond, &space->outer);
  if (inner && outer) return false;
  if (outer && is_dispensable(b, loops, cond)) return true;
  Expr *p = inner ? &b->inner_predicate : &b->outer_predicate;
  *p = tirc_and(b->c, *p, cond);
  return true;
}

static _Noreturn void not_divisible(Blockize *b) {
  SRef *top = b->loops.n ? b->loops.at[b->loops.n - 1] : b->block;
  tirc_sched_mark(b->s, b->block->stmt);
  tirc_refuse(b->s, top->stmt, SERR_NOT_DIVISIBLE,
              "the bindings of block %s cannot be divided at %s", tirc_name_of(b->block),
              tirc_describe(b->s, top->stmt));
}

static const SubspaceDivision *divide(Blockize *b, const Space *space) {
  const Block *block = tirc_block_of(b->block);
  const SubspaceDivision *d =
      tirc_subspace_divide(tirc_analyzer(b->c), block->n_iters, block->iter_values, space->vars.n,
                           space->vars.at, space->doms.at, &space->inner, block->predicate,
                           ITER_LEVEL_SURJECTIVE, !b->preserve_unit_iters);
  if (!d) d = divide_plainly(b, space);
  if (d) return d;
  not_divisible(b);
}

static const int64_t MOST = INT32_MAX; /* of a start that is taken for one */

/* The domain of an iterator of this value: from 0 as a rule, but loops may start elsewhere, or a
 * condition where they begin to run, and an iterator of the block around may stand in the value.
 * One that is bound to no loop at all keeps its domain. */
static Range domain_of(Blockize *b, Analyzer *loops, int i, Expr value, Expr extent) {
  Tirc *c = b->c;
  Expr start = tirc_simplify0(c, tirc_substitute(c, value, &b->starts));
  if (tirc_is_int(extent, 1) && !tirc_is_int(start, 0))
    return tirc_block_of(b->block)->iters[i].dom;
  if (tirc_is_int(start, 0)) return tirc_range(tirc_int(c, extent->dtype, 0), extent);
  const int mark = tirc_enter_constraint(loops, tirc_block_of(b->block)->predicate);
  const Bound bound = tirc_const_bound(loops, value);
  tirc_leave_constraint(loops, mark);
  int64_t count, from;
  const bool known = bound.min > -MOST && bound.max < MOST;
  const bool later = known && tirc_const_int(start, &from) && bound.min > from;
  if (!later && tirc_prove_ge(loops, value, start)) return tirc_range(start, extent);
  const bool fits = known && tirc_const_int(extent, &count) && bound.max - bound.min < count;
  return tirc_range(tirc_int(c, extent->dtype, later || fits ? bound.min : 0), extent);
}

static void add_outer(Blockize *b, Analyzer *loops, const Blockize *like, int i, Expr value,
                      Expr extent) {
  const Block *block = tirc_block_of(b->block);
  Expr var = block->iters[i].var;
  b->outer_values[i] = value;
  b->outer[i] = (IterVar){tirc_var_suffixed(b->c, var, "_o", var->dtype),
                          domain_of(b, loops, i, value, extent), block->iters[i].kind};
  if (!like) return;
  bool equal = i < like->n_outer && like->outer[i].kind == b->outer[i].kind &&
               tirc_prove_equal(b->a, like->outer[i].dom.min, b->outer[i].dom.min) &&
               tirc_prove_equal(b->a, like->outer[i].dom.extent, b->outer[i].dom.extent) &&
               tirc_prove_equal(b->a, like->outer_values[i], value);
  if (equal) {
    b->outer[i] = like->outer[i];
    return;
  }
  tirc_sched_mark(b->s, b->block->stmt);
  tirc_refuse(b->s, like->block->stmt, SERR_NOT_DIVISIBLE,
              "the outer part of iterator %s of block %s differs from that of block %s", var->u.s,
              block->name, tirc_name_of(like->block));
}

/* What stands for the old iterator: outer * extent of the inner one + inner. */
static Expr divide_iter(Blockize *b, Analyzer *loops, const Blockize *like, int i,
                        const SubspaceDivision *d) {
  Tirc *c = b->c;
  bool unit_outer = tirc_is_int(d->outer_extent, 1);
  const IterVar *old = &tirc_block_of(b->block)->iters[i];
  if (tirc_is_int(d->inner_extent, 1)) {
    Expr offset = without_unit_loops(b, d->inner);
    Expr value =
        tirc_is_int(offset, 0) ? d->outer : tirc_simplify0(c, tirc_add(c, d->outer, offset));
    add_outer(b, loops, like, i, value, d->outer_extent);
    bool known = tirc_is_int(b->outer[i].dom.extent, 1);
    return known && !b->preserve_unit_iters ? b->outer[i].dom.min : b->outer[i].var;
  }
  add_outer(b, loops, like, i, d->outer, d->outer_extent);
  IterVar inner = {tirc_var_suffixed(c, old->var, "_i", old->var->dtype),
                   domain_of(b, loops, i, d->inner, d->inner_extent), old->kind};
  b->inner_values[b->n_inner] = d->inner;
  b->inner[b->n_inner++] = inner;
  tirc_bind_range(b->a, inner.var, inner.dom);
  if (unit_outer) return inner.var;
  return tirc_add(c, tirc_mul(c, b->outer[i].var, d->inner_extent), inner.var);
}

typedef struct Rename {
  PtrMap map;
  Analyzer *a;
} Rename;

static Expr rename_simplified(Mutator *m, Expr e) {
  Rename *r = m->self;
  if (e->op == OP_VAR) {
    Expr to = tirc_map_get(&r->map, e);
    return to ? to : e;
  }
  Expr to = tirc_mutate_expr_children(m, e);
  return to == e ? e : tirc_simplify(r->a, to);
}

static Stmt rename_shapes(Mutator *m, Stmt s) {
  return tirc_mutate_shapes(m, tirc_mutate_stmt_children(m, s), &((Rename *)m->self)->map);
}

void tirc_blockize_divide(Blockize *b, SRef *top, const Blockize *outer) {
  Tirc *c = b->c;
  const Block *block = tirc_block_of(b->block);
  Space space = loops_of(b, top);
  const SubspaceDivision *d = divide(b, &space);
  Analyzer *loops = tirc_analyzer(c);
  for (int i = 0; i < space.vars.n; i++) {
    tirc_bind_range(loops, space.vars.at[i], space.doms.at[i]);
    tirc_map_set(c, &b->starts, space.vars.at[i], space.doms.at[i].min);
  }
  tirc_bind_shapes(b->s, loops, b->block);
  b->a = tirc_analyzer(c);
  b->n_outer = block->n_iters;
  b->outer = tirc_new_array(c, IterVar, block->n_iters + 1);
  b->inner = tirc_new_array(c, IterVar, block->n_iters + 1);
  b->outer_values = tirc_new_array(c, Expr, block->n_iters + 1);
  b->inner_values = tirc_new_array(c, Expr, block->n_iters + 1);
  Rename rename = {.a = b->a};
  for (int i = 0; i < block->n_iters; i++)
    tirc_map_set(c, &rename.map, block->iters[i].var, divide_iter(b, loops, outer, i, &d[i]));
  b->outer_predicate = d[block->n_iters].outer_extent;
  b->inner_predicate = d[block->n_iters].inner_extent;
  if (!keep_condition(b, &space, loops, block->predicate)) not_divisible(b);
  Mutator m = {.c = c, .expr = rename_simplified, .stmt = rename_shapes, .self = &rename};
  Block bare = *block; /* the old bindings are not to be renamed */
  bare.n_iters = 0;
  bare.predicate = tirc_bool(c, true);
  b->inner_block = tirc_mutate_stmt(&m, tirc_block(c, &bare));
}

/* --- building --------------------------------------------------------------------------------- */

const Region *tirc_blockize_relax(Blockize *b, int n, const Region *regions) {
  Tirc *c = b->c;
  const PtrMap dom = tirc_domain_sets(c, tirc_iter_domain(c, b->n_inner, b->inner));
  Region *out = tirc_new_array(c, Region, n + 1);
  for (int i = 0; i < n; i++) {
    Buffer buffer = regions[i].buffer;
    Range *dims = tirc_new_array(c, Range, buffer->ndim + 1);
    for (int k = 0; k < buffer->ndim; k++)
      dims[k] =
          tirc_range_of_set(tirc_analyzer(c), tirc_box_of_range(b->a, regions[i].dims[k], &dom),
                            tirc_whole_dim(c, buffer, k));
    out[i] = (Region){buffer, dims};
  }
  return out;
}

Stmt tirc_blockize_inner(Blockize *b, const Block *block) {
  Block inner = *block;
  inner.n_iters = b->n_inner;
  inner.iters = b->inner;
  inner.iter_values = b->inner_values;
  inner.predicate = b->inner_predicate;
  Stmt nest = tirc_with_loc(b->c, tirc_block(b->c, &inner), b->block->stmt->loc);
  for (int i = 0; i < b->loops.n; i++) nest = tirc_with_body(b->c, b->loops.at[i]->stmt, nest);
  return nest;
}

bool tirc_blockize_escapes(const PtrMap *loops, int n, const Region *regions) {
  for (int i = 0; i < n; i++)
    if (tirc_region_uses_any(&regions[i], loops)) return true;
  return false;
}

/* A binding or a bound of a loop that moves inside of the new block may use loops outside of it,
 * which no division moves into an iterator of the new block. */
static void require_own_loops(Blockize *b) {
  PtrMap loops = {0};
  const SRef *top = b->loops.n ? b->loops.at[b->loops.n - 1] : b->block;
  for (const SRef *r = top->parent; r; r = r->parent)
    if (tirc_is_loop(r)) tirc_map_set(b->c, &loops, tirc_loop_of(r)->var, r);
  bool open = tirc_uses_any(b->inner_predicate, &loops);
  for (int i = 0; i < b->n_inner; i++) open = open || tirc_uses_any(b->inner_values[i], &loops);
  for (int i = 0; i < b->loops.n; i++)
    open = open || tirc_range_uses_any(tirc_loop_range(tirc_loop_of(b->loops.at[i])), &loops);
  if (!open) return;
  tirc_sched_error(b->s, b->block->stmt, SERR_LOOP_VAR_ESCAPES, NULL,
                   "bind an iterator of each block around it to the loops outside of the scope",
                   "%s would use a loop that is outside of the new block",
                   tirc_describe(b->s, b->block->stmt));
}

void tirc_blockize_require_closed(Blockize *b, const Block *outer) {
  if (outer->n_iters) require_own_loops(b);
  PtrMap loops = {0};
  for (int i = 0; i < b->loops.n; i++)
    tirc_map_set(b->c, &loops, tirc_loop_of(b->loops.at[i])->var, b->loops.at[i]);
  bool open = tirc_blockize_escapes(&loops, outer->n_reads, outer->reads) ||
              tirc_blockize_escapes(&loops, outer->n_writes, outer->writes) ||
              tirc_uses_any(outer->predicate, &loops);
  for (int i = 0; i < outer->n_iters; i++)
    open = open || tirc_uses_any(outer->iter_values[i], &loops) ||
           tirc_uses_any(outer->iters[i].dom.extent, &loops);
  if (!open) return;
  tirc_sched_error(b->s, b->block->stmt, SERR_LOOP_VAR_ESCAPES, NULL,
                   "the extents of the inner loops, and what the block uses, may depend on inner "
                   "loops only through the bindings",
                   "the new block around %s would use a loop inside of itself",
                   tirc_describe(b->s, b->block->stmt));
}

/* --- one loop --------------------------------------------------------------------------------- */

Stmt tirc_blockized(Sched *s, SRef *loop, bool preserve_unit_iters) {
  Tirc *c = s->c;
  SRef *child = tirc_blockize_only_child(s, loop);
  Blockize b = {.s = s, .c = c, .block = child, .preserve_unit_iters = preserve_unit_iters};
  tirc_blockize_divide(&b, loop, NULL);
  const Block *old = &b.inner_block->u.block;
  Block inner = *old;
  Block outer = {.name = tirc_format(c, "%s_o", old->name),
                 .n_iters = b.n_outer,
                 .iters = b.outer,
                 .iter_values = b.outer_values,
                 .predicate = b.outer_predicate,
                 .n_reads = old->n_reads,
                 .reads = tirc_blockize_relax(&b, old->n_reads, old->reads),
                 .n_writes = old->n_writes,
                 .writes = tirc_blockize_relax(&b, old->n_writes, old->writes)};
  if (old->init) outer.init = tirc_blockize_init(&b, loop, &outer, &inner);
  outer.body = tirc_blockize_inner(&b, &inner);
  tirc_blockize_require_closed(&b, &outer);
  return tirc_block(c, &outer);
}
