/* transform_block_layout and reorder_block_iter_var: other iterators for a block.
 *
 *   transform_block_layout(B, lambda i, j: (i * 128 + j,))
 *
 *   for i, j in T.grid(128, 128):                       for ax0 in range(16384):
 *       with T.block("B"):                                  with T.block("B"):
 *           vi, vj = T.axis.remap("SS", [i, j])   ->            v0 = T.axis.spatial(16384, ax0)
 *           B[vi, vj] = ...                                     B[v0 // 128, v0 % 128] = ...
 *
 * The nest is made anew: serial loops, one for each new iterator. The map must be bijective, and
 * each new iterator made of iterators of one kind, or of one value. Needs: a nest from 0 with this
 * block alone, each iterator bound to its loop. Instances that use what others wrote must keep
 * their order. */
#include "ir/tree/print.h"
#include "layout.h"

typedef struct BlockChange {
  Sched *s;
  Tirc *c;
  SRef *block;
  SRefs loops;
  IndexMap map;
  Analyzer *a;
  const Expr *shape;     /* extents of the old iterators */
  const Expr *new_shape; /* and of the new ones */
  IterVar *iters;        /* the new ones */
  Expr *loop_vars;
  PtrMap in_body,
      outside; /* old iterators and loop variables, in terms of new iterators, of loops */
} BlockChange;

/* --- checks ----------------------------------------------------------------------------------- */

static void require_nest(BlockChange *b) {
  Sched *s = b->s;
  for (int i = 0; i < b->loops.n; i++) {
    const For *loop = tirc_loop_of(b->loops.at[i]);
    if (tirc_is_int(tirc_simplify0(b->c, loop->min), 0)) continue;
    tirc_sched_error(s, b->loops.at[i]->stmt, SERR_LOOP_START, NULL,
                     tirc_hint_of_start(s, b->loops.at[i]), "Loop %s starts at %s, not at 0.",
                     loop->var->u.s, tirc_print_expr(b->c, loop->min));
  }
  const int n = b->loops.n ? tirc_child_blocks(s, b->loops.at[0]).n : 1;
  if (n != 1)
    tirc_refuse(s, b->loops.at[0]->stmt, SERR_NOT_ONLY_CHILD, "Loop %s has %d blocks below it.",
                tirc_name_of(b->loops.at[0]), n);
  if (tirc_is_trivial_binding(b->block->stmt, b->loops)) return;
  tirc_refuse(s, b->block->stmt, SERR_NOT_TRIVIAL_BINDING,
              "The iterators of block %s are not bound to its loops one by one.",
              tirc_name_of(b->block));
}

/* Nothing but the loops stands between the outermost and the block: their statements are lost. */
static void require_only_loops(BlockChange *b) {
  for (int i = 0; i < b->loops.n; i++) {
    Stmt inner = i + 1 < b->loops.n ? b->loops.at[i + 1]->stmt : b->block->stmt;
    if (tirc_loop_of(b->loops.at[i])->body == inner) continue;
    tirc_refuse(b->s, b->loops.at[i]->stmt, SERR_NOT_ONLY_CHILD,
                "Loop %s has more in its body than the next loop or block %s.",
                tirc_name_of(b->loops.at[i]), tirc_name_of(b->block));
  }
}

/* An extent that counts with another loop would not know it any more. */
static void require_independent_extents(BlockChange *b) {
  const Block *block = tirc_block_of(b->block);
  for (int i = 0; i < b->loops.n; i++)
    for (int k = 0; k < b->loops.n; k++) {
      Expr var = tirc_loop_of(b->loops.at[k])->var;
      Expr extent = tirc_loop_of(b->loops.at[i])->extent;
      if (!tirc_uses_var(extent, var) && !tirc_uses_var(block->iters[i].dom.extent, var)) continue;
      tirc_sched_error(b->s, b->loops.at[i]->stmt, SERR_LOOP_VAR_ESCAPES, NULL,
                       "the extents of the loops must not depend on each other",
                       "The extent of loop %s uses loop %s, which is replaced.",
                       tirc_name_of(b->loops.at[i]), var->u.s);
    }
}

/* The old iterators are replaced as running over [0, extent) of their domains; the loops must do
 * so.
 */
static void require_whole_domains(BlockChange *b) {
  const Block *block = tirc_block_of(b->block);
  Expr *shape = tirc_new_array(b->c, Expr, block->n_iters + 1);
  for (int i = 0; i < block->n_iters; i++) {
    Range dom = block->iters[i].dom;
    bool whole = tirc_is_int(tirc_simplify(b->a, dom.min), 0) &&
                 tirc_prove_equal(b->a, dom.extent, tirc_loop_of(b->loops.at[i])->extent);
    if (!whole)
      tirc_refuse(b->s, b->block->stmt, SERR_NOT_TRIVIAL_BINDING,
                  "Loop %s does not run over the domain of iterator %s of block %s.",
                  tirc_name_of(b->loops.at[i]), block->iters[i].var->u.s, block->name);
    shape[i] = dom.extent;
  }
  b->shape = shape;
}

static void read_map(BlockChange *b, Value function) {
  const Block *block = tirc_block_of(b->block);
  DType *types = tirc_new_array(b->c, DType, block->n_iters + 1);
  for (int i = 0; i < block->n_iters; i++) types[i] = block->iters[i].var->dtype;
  const Callable *fn = function.u.object;
  if (fn->n_params < 0)
    tirc_sched_error(b->s, NULL, SERR_INDEX_MAP_INPUTS, NULL,
                     "name the iterators: lambda i, j: ...",
                     "transform_block_layout needs a function with named parameters, not *args.");
  b->map = tirc_index_map(b->s, function, block->n_iters, types);
}

static void require_iters(BlockChange *b) {
  const Block *block = tirc_block_of(b->block);
  if (b->map.n_inputs == block->n_iters) return;
  tirc_refuse(b->s, b->block->stmt, SERR_INDEX_MAP_ITERS,
              "The index map takes %d iterator%s, but block %s has %d.", b->map.n_inputs,
              b->map.n_inputs == 1 ? "" : "s", block->name, block->n_iters);
}

/* --- the new iterators ------------------------------------------------------------------------ */

/* One value alone divides nothing: such an iterator is spatial, whatever it is made of. An init
 * runs where all reduction iterators are at their starts, and this one always is. An opaque
 * iterator is as unknown as a mixture. */
static IterKind kind_of(BlockChange *b, Expr e, Expr extent) {
  const Block *block = tirc_block_of(b->block);
  unsigned kinds = 0;
  if (tirc_is_int(extent, 1)) return ITER_SPATIAL;
  for (int i = 0; i < block->n_iters; i++)
    if (tirc_uses_var(e, block->iters[i].var)) kinds |= 1u << block->iters[i].kind;
  static const IterKind known[] = {ITER_SPATIAL, ITER_REDUCE, ITER_SCAN};
  for (int i = 0; i < 3; i++)
    if (kinds == 1u << known[i]) return known[i];
  tirc_refuse(b->s, b->block->stmt, SERR_MIXED_ITER_KINDS, "The new iterator %s of block %s %s.",
              tirc_print_expr(b->c, e), block->name,
              kinds == 0                   ? "uses none of the old ones"
              : kinds == 1u << ITER_OPAQUE ? "is opaque"
                                           : "mixes iterators of different kinds");
}

static void make_iters(BlockChange *b) {
  Tirc *c = b->c;
  const Block *block = tirc_block_of(b->block);
  int n = b->map.n_outputs;
  Expr *old = tirc_new_array(c, Expr, block->n_iters + 1);
  for (int i = 0; i < block->n_iters; i++) old[i] = block->iters[i].var;
  const Expr *mapped = tirc_map_indices(c, b->a, &b->map, old);
  b->new_shape = tirc_map_shape(b->s, b->a, &b->map, b->shape);
  b->iters = tirc_new_array(c, IterVar, n + 1);
  b->loop_vars = tirc_new_array(c, Expr, n + 1);
  for (int i = 0; i < n; i++) {
    DType t = mapped[i]->dtype;
    Range dom = tirc_range(tirc_int(c, t, 0), tirc_cast(c, t, b->new_shape[i]));
    b->iters[i] = (IterVar){tirc_var(c, tirc_format(c, "v%d", i), t), dom,
                            kind_of(b, mapped[i], b->new_shape[i])};
    b->loop_vars[i] = tirc_var(c, tirc_format(c, "ax%d", i), t);
  }
}

static Expr product(Tirc *c, int n, const Expr *extents) {
  Expr all = tirc_int(c, DT_INT64, 1);
  for (int i = 0; i < n; i++) all = tirc_mul(c, all, tirc_cast(c, DT_INT64, extents[i]));
  return all;
}

/* (i // 2, i % 2) of one i makes two. Extents that both have count once: what is left of products
 * of several open ones is proved without multiplying sums. */
static bool makes_as_many(BlockChange *b) {
  int n = b->map.n_outputs, m = b->loops.n;
  Expr *made = tirc_copy(b->c, b->new_shape, n), *had = tirc_copy(b->c, b->shape, m);
  for (int i = n - 1; i >= 0; i--)
    for (int k = m - 1; k >= 0; k--)
      if (tirc_prove_equal(b->a, made[i], tirc_cast(b->c, made[i]->dtype, had[k]))) {
        made[i] = made[--n];
        had[k] = had[--m];
        break;
      }
  return tirc_prove_equal(b->a, product(b->c, n, made), product(b->c, m, had));
}

static void invert(BlockChange *b) {
  Tirc *c = b->c;
  const Block *block = tirc_block_of(b->block);
  InverseMap inverse;
  const char *why = tirc_invert_map(b->s, b->block, &b->map, b->shape, true, &inverse);
  if (!why && (!tirc_is_int(inverse.padding, 0) || !makes_as_many(b))) why = "it leaves gaps";
  if (why)
    tirc_sched_error(b->s, NULL, SERR_INDEX_MAP_NOT_BIJECTIVE, why, NULL,
                     "%s is not a bijective affine map.", tirc_index_map_text(c, &b->map));
  PtrMap iters = {0}, loops = {0};
  for (int i = 0; i < b->map.n_outputs; i++) {
    tirc_map_set(c, &iters, inverse.vars[i], b->iters[i].var);
    tirc_map_set(c, &loops, inverse.vars[i], b->loop_vars[i]);
  }
  for (int i = 0; i < block->n_iters; i++) {
    Expr inside = tirc_simplify(b->a, tirc_substitute(c, inverse.indices[i], &iters));
    Expr outside = tirc_simplify(b->a, tirc_substitute(c, inverse.indices[i], &loops));
    tirc_map_set(c, &b->in_body, block->iters[i].var, inside);
    Expr loop = tirc_loop_of(b->loops.at[i])->var;
    tirc_map_set(c, &b->in_body, loop, tirc_cast(c, loop->dtype, inside));
    tirc_map_set(c, &b->outside, loop, tirc_cast(c, loop->dtype, outside));
  }
}

/* --- the order of the instances --------------------------------------------------------------- */

/* Whether the new indices count like the old ones: the first is the slowest. */
static bool counts_alike(BlockChange *b) {
  Tirc *c = b->c;
  Analyzer *a = tirc_analyzer(c);
  for (int i = 0; i < b->map.n_inputs; i++)
    tirc_bind_range(a, b->map.inputs[i], tirc_from_zero(c, b->shape[i]));
  Expr before = NULL, after = NULL;
  for (int i = 0; i < b->map.n_inputs; i++)
    before =
        before ? tirc_add(c, tirc_mul(c, before, b->shape[i]), b->map.inputs[i]) : b->map.inputs[i];
  for (int i = 0; i < b->map.n_outputs; i++)
    after = after ? tirc_add(c, tirc_mul(c, after, b->new_shape[i]), b->map.outputs[i])
                  : b->map.outputs[i];
  return !before || !after || tirc_prove_equal(a, tirc_simplify_steps(a, after, 6), before);
}

/* The loops in the order in which the map gives them back; NULL when it does more than that. */
static SRef **permuted_loops(BlockChange *b) {
  if (b->map.n_inputs != b->map.n_outputs) return NULL;
  SRef **order = tirc_new_array(b->c, SRef *, b->loops.n + 1);
  for (int i = 0; i < b->map.n_outputs; i++) {
    int k = 0;
    while (k < b->map.n_inputs && b->map.inputs[k] != b->map.outputs[i]) k++;
    if (k == b->map.n_inputs) return NULL;
    order[i] = b->loops.at[k];
  }
  return order;
}

static bool sums_in_order(Sched *s, SRef *block) {
  const Block *b = tirc_block_of(block);
  return tirc_iter_kinds(b->n_iters, b->iters) & 1u << ITER_REDUCE &&
         (tirc_init_is_elsewhere(s, block) || !tirc_update_commutes(s->c, b));
}

static void require_order(BlockChange *b) {
  if (counts_alike(b)) return;
  SRef **order = permuted_loops(b);
  if (order) {
    tirc_require_order_kept(b->s, b->loops.n, b->loops.at, order);
    return;
  }
  SRef *scope = tirc_scope_root(b->block);
  const char *why = NULL;
  if (scope && tirc_check_complete(b->s, b->block, scope) &&
      tirc_check_reduction(b->s, b->block, scope))
    why = tirc_why_not_complete(b->s, b->block, scope);
  else if (tirc_instances_depend(b->s, b->block))
    why = "two of its instances use one element";
  else if (sums_in_order(b->s, b->block))
    why = "it updates its elements in an order that changes the result";
  if (!why) return tirc_warn_of_equals(b->s, b->block);
  tirc_sched_error(b->s, b->block->stmt, SERR_ORDER_MATTERS, why, NULL,
                   "The instances of block %s must keep their order.", tirc_name_of(b->block));
}

/* --- what is started -------------------------------------------------------------------------- */

/* Whether the condition says something of steps of a sum: var(i) is the loop of iterator i. */
static bool is_about_steps(int n, const IterVar *iters, const Expr *vars, Expr condition) {
  for (int i = 0; i < n; i++)
    if (iters[i].kind == ITER_REDUCE && tirc_uses_var(condition, vars[i])) return true;
  return false;
}

/* A condition on steps leaves the init alone, and one on places guards it, too. */
static void require_same_start(BlockChange *b, Expr predicate) {
  const Block *block = tirc_block_of(b->block);
  if (!block->init) return;
  Expr *vars = tirc_new_array(b->c, Expr, block->n_iters + 1);
  for (int i = 0; i < block->n_iters; i++) vars[i] = tirc_loop_of(b->loops.at[i])->var;
  if (!is_about_steps(block->n_iters, block->iters, vars, block->predicate) ||
      is_about_steps(b->map.n_outputs, b->iters, b->loop_vars, predicate))
    return;
  tirc_refuse(b->s, b->block->stmt, SERR_PREDICATE_LOST,
              "Block %s starts sums where its condition %s is false. Without the steps in that "
              "condition, it would not start them.",
              block->name, tirc_print_expr(b->c, block->predicate));
}

/* --- rewriting -------------------------------------------------------------------------------- */

static Stmt new_nest(BlockChange *b) {
  Tirc *c = b->c;
  Stmt old = b->block->stmt;
  Block block = old->u.block;
  Expr predicate = tirc_substitute(c, block.predicate, &b->outside);
  require_same_start(b, tirc_simplify(b->a, predicate));
  block.n_iters = 0;
  block.predicate = tirc_bool(c, true);
  block = tirc_substitute_stmt(c, tirc_block(c, &block), &b->in_body)->u.block;
  block.n_iters = b->map.n_outputs;
  block.iters = b->iters;
  block.iter_values = b->loop_vars;
  Stmt body = tirc_simplify_accesses(c, b->a, tirc_with_loc(c, tirc_block(c, &block), old->loc));
  block = body->u.block;
  block.predicate = predicate;
  body = tirc_with_loc(c, tirc_block(c, &block), old->loc);
  for (int i = b->map.n_outputs; i-- > 0;)
    body = tirc_for_serial(c, b->loop_vars[i], b->iters[i].dom.extent, body);
  return body;
}

void tirc_prim_transform_block_layout(Sched *s, const Value *args, Value *result) {
  (void)result;
  BlockChange b = {.s = s, .c = s->c, .block = tirc_sref_of_value(s, args[0])};
  tirc_require_scope_root(s, b.block, false);
  b.a = tirc_analyzer_of_shapes(s, b.block);
  b.loops = tirc_loops_above(s, b.block);
  read_map(&b, args[1]);
  require_nest(&b);
  require_only_loops(&b);
  require_iters(&b);
  require_independent_extents(&b);
  require_whole_domains(&b);
  make_iters(&b);
  invert(&b);
  require_order(&b);
  tirc_sched_replace(s, b.loops.n ? b.loops.at[0] : b.block, new_nest(&b));
}

/* --- reorder_block_iter_var ------------------------------------------------------------------- */

static bool is_permutation(Tirc *c, int n, const ValueList *order) {
  bool *seen = tirc_new_array(c, bool, n + 1);
  if (order->n != n) return false;
  for (int i = 0; i < n; i++) {
    int64_t at = order->at[i].u.i;
    if (at < 0 || at >= n || seen[at]) return false;
    seen[at] = true;
  }
  return true;
}

/* Only the list of iterators changes its order; the loops stay. */
void tirc_prim_reorder_block_iter_var(Sched *s, const Value *args, Value *result) {
  (void)result;
  Tirc *c = s->c;
  SRef *sref = tirc_sref_of_value(s, args[0]);
  const ValueList *order = args[1].u.list;
  Block b = *tirc_block_of(sref);
  if (!is_permutation(c, b.n_iters, order))
    tirc_refuse(s, sref->stmt, SERR_ITER_ORDER,
                "%s is not an order of the %d iterators of block %s.", tirc_value_repr(c, args[1]),
                b.n_iters, b.name);
  tirc_require_scope_root(s, sref, false);
  IterVar *iters = tirc_new_array(c, IterVar, b.n_iters + 1);
  Expr *values = tirc_new_array(c, Expr, b.n_iters + 1);
  for (int i = 0; i < b.n_iters; i++) {
    iters[i] = b.iters[order->at[i].u.i];
    values[i] = b.iter_values[order->at[i].u.i];
  }
  b.iters = iters;
  b.iter_values = values;
  tirc_sched_replace(s, sref, tirc_with_loc(c, tirc_block(c, &b), sref->stmt->loc));
}
