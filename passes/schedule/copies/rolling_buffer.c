/* rolling_buffer(block, i): keeps of an intermediate buffer only the window that one iteration of a
 * loop needs, and computes of it only what the iteration before has not computed.
 *
 *   B = alloc(66, 64)                        B = alloc(3, 64)
 *   for i in range(64):                      for i in range(64):
 *       for ax0, j in T.grid(3, 64):             for ax0, j in T.grid(3, 64):
 *           B[i + ax0, j] = f(...)     ->            where(i < 1 or 2 <= ax0)
 *                                                    B[(i + ax0) % 3, j] = f(...)
 *       for j:                                   for j:
 *           C[i, j] = B[i, j] + B[i + 2, j]          C[i, j] = B[i % 3, j] + B[(i + 2) % 3, j]
 *
 * The block must not be an output block, and must share a loop with its consumers (not-tiled).
 * Below that loop it must write a window that a loop moves: `i`, `i * stride` or one of these over
 * a constant, of a constant size that exceeds the step (rolling-pattern); the outermost such loop
 * gives the axis that rolls; it must leave the others alone. Iterators of that axis become opaque,
 * because their iterations now depend on each other: for the same reason the loops that move
 * windows must be serial, all readers must come after the block, and nothing else may write the
 * buffer (rolling-order). */

#include "passes/schedule/shape/shape.h"

typedef struct Axis {
  Expr var;        /* the loop that moves the window; NULL when it does not overlap */
  int64_t overlap; /* with the window before */
} Axis;

typedef struct Rolling {
  Sched *s;
  SRef *block, *scope, *common; /* the innermost loop around the block and its consumers */
  SRefs consumers;
  Buffer from, to;
  Range *window; /* what the block writes below `common` */
  Axis *axes;    /* one for each dimension */
  int axis;      /* the one that rolls */
  int64_t extent;
} Rolling;

/* --- the window ----------------------------------------------------------------------------- */

static void find_common_loop(Rolling *r) {
  Sched *s = r->s;
  r->consumers = tirc_consumers(s, r->block, r->scope);
  SRef **all = tirc_new_array(s->c, SRef *, r->consumers.n + 1);
  for (int i = 0; i < r->consumers.n; i++) all[i] = r->consumers.at[i];
  all[r->consumers.n] = r->block;
  r->common = tirc_common_ancestor(r->consumers.n + 1, all);
  if (tirc_is_loop(r->common)) return;
  tirc_refuse(s, r->block->stmt, SERR_NOT_TILED,
              "There is no loop around both block %s and all blocks that read %s.",
              tirc_name_of(r->block), r->from->name);
}

static void find_window(Rolling *r, const Region *declared) {
  Tirc *c = r->s->c;
  const Region in_loops = tirc_unbound_region(c, r->block->stmt, *declared);
  const PtrMap sets =
      tirc_domain_sets(c, tirc_loop_domain(r->s, r->block->parent, r->common, STORAGE_GLOBAL));
  Analyzer *a = tirc_analyzer(c);
  r->window = tirc_new_array(c, Range, r->from->ndim + 1);
  for (int i = 0; i < r->from->ndim; i++)
    r->window[i] = tirc_range_of_set(a, tirc_box_of_range(a, in_loops.dims[i], &sets),
                                     tirc_whole_dim(c, r->from, i));
}

#define no_pattern(r, ...)                                                                         \
  tirc_refuse(                                                                                     \
      (r)->s, (r)->block->stmt, SERR_ROLLING_PATTERN,                                              \
      "What block %s writes of %s in an iteration of loop %s is not a rolling window: %s.",        \
      tirc_name_of((r)->block), (r)->from->name, tirc_name_of((r)->common),                        \
      tirc_format((r)->s->c, __VA_ARGS__))

/* Of a window's start: the loop variable, and by how much it moves in one step (rounded up). */
static bool match_step(Expr start, Expr *var, int64_t *step) {
  int64_t divisor = 1, stride = 1;
  if (start->op == OP_FLOORDIV && tirc_const_int(start->args[1], &divisor)) start = start->args[0];
  if (start->op == OP_MUL && tirc_const_int(start->args[1], &stride)) start = start->args[0];
  *var = start->op == OP_VAR ? start : NULL;
  if (divisor < 1 || stride < 1) return false;
  *step = stride / divisor + (stride % divisor != 0);
  return start->op == OP_VAR || start->op == OP_INT;
}

static void find_axes(Rolling *r) {
  Tirc *c = r->s->c;
  r->axes = tirc_new_array(c, Axis, r->from->ndim + 1);
  for (int i = 0; i < r->from->ndim; i++) {
    Expr var;
    int64_t step, extent;
    if (!match_step(r->window[i].min, &var, &step))
      no_pattern(r,
                 "in dimension %d it starts at none of: a loop, a loop times a "
                 "constant, or one of these over a constant",
                 i);
    if (!var) continue;
    if (!tirc_const_int(r->window[i].extent, &extent))
      no_pattern(r, "its size in dimension %d is not constant", i);
    if (extent > step) r->axes[i] = (Axis){var, extent - step};
  }
}

/* A loop that moves the window along two axes moves it diagonally: what is new is no part of it. */
static void require_straight(Rolling *r) {
  for (int i = 0; i < r->from->ndim; i++)
    for (int k = 0; r->axes[i].var && k < r->from->ndim; k++)
      if (k != i && tirc_range_uses(r->window[k], r->axes[i].var))
        no_pattern(r, "loop %s moves it in dimension %d and changes %d as well",
                   r->axes[i].var->u.s, i, k);
}

static void find_rolling_axis(Rolling *r) {
  const SRefs loops = tirc_loops_above(r->s, r->block);
  r->axis = -1;
  for (int k = 0; k < loops.n && r->axis < 0; k++)
    for (int i = r->from->ndim; i-- > 0;)
      if (r->axes[i].var == tirc_loop_of(loops.at[k])->var) r->axis = i;
  if (r->axis < 0) no_pattern(r, "it does not overlap with the one of the iteration before");
  tirc_const_int(r->window[r->axis].extent, &r->extent);
}

/* --- what depends on the order -------------------------------------------------------------- */

#define wrong_order(r, what, ...)                                                                  \
  tirc_refuse((r)->s, what, SERR_ROLLING_ORDER, "%s cannot roll: %s.", (r)->from->name,            \
              tirc_format((r)->s->c, __VA_ARGS__))

static void require_only_writer(Rolling *r) {
  const SRefs writers = tirc_writers_of(r->scope, r->from);
  for (int i = 0; i < writers.n; i++)
    if (writers.at[i] != r->block)
      wrong_order(r, writers.at[i]->stmt, "block %s writes it, too", tirc_name_of(writers.at[i]));
  const SRefs readers = tirc_readers_of(r->scope, r->from);
  for (int i = 0; i < readers.n; i++)
    if (!tirc_is_among(readers.at[i], r->consumers) ||
        !tirc_finds_written(r->s, readers.at[i], r->from))
      wrong_order(r, readers.at[i]->stmt,
                  "block %s reads elements that the same iteration does not write first",
                  tirc_name_of(readers.at[i]));
}

static void require_serial(Rolling *r) {
  for (SRef *at = r->block; at != r->scope; at = at->parent) {
    if (tirc_body_of(at->parent->stmt) != at->stmt && tirc_item_index(at) < 0)
      wrong_order(r, at->stmt, "the block that writes it stands in a condition or a T.let");
    if (!tirc_is_loop(at)) continue;
    const For *loop = tirc_loop_of(at);
    for (int i = 0; i < r->from->ndim; i++) {
      if (r->axes[i].var != loop->var) continue;
      if (loop->kind != LOOP_SERIAL && loop->kind != LOOP_UNROLLED)
        wrong_order(
            r, at->stmt,
            "the iterations of loop %s, which moves its window, do not run one after the other",
            loop->var->u.s);
      if (!tirc_is_int(loop->min, 0))
        wrong_order(r, at->stmt, "loop %s, which moves its window, does not start at 0",
                    loop->var->u.s);
    }
  }
}

static void require_iters(Rolling *r, const Region *declared) {
  const Block *b = tirc_block_of(r->block);
  for (int i = 0; i < r->from->ndim; i++)
    if (r->axes[i].var && (i >= b->n_iters || declared->dims[i].min != b->iters[i].var ||
                           !tirc_is_int(declared->dims[i].extent, 1)))
      no_pattern(r, "index %d is not iterator %d of the block", i, i);
  if (!tirc_domain_implies_predicate(r->s, r->block))
    no_pattern(r, "the block's predicate says more than that its iterators are in their domains");
}

/* --- the rewriting -------------------------------------------------------------------------- */

typedef struct Roller {
  Mutator m;
  Rolling *r;
} Roller;

static const Expr *rolled(Roller *w, int n, const Expr *indices) {
  Tirc *c = w->m.c;
  Expr *out = tirc_new_array(c, Expr, n + 1);
  for (int i = 0; i < n; i++) {
    out[i] = tirc_mutate_expr(&w->m, indices[i]);
    if (i == w->r->axis)
      out[i] = tirc_floormod(c, out[i], tirc_int(c, out[i]->dtype, w->r->extent));
  }
  return out;
}

static Expr roll_expr(Mutator *m, Expr e) {
  Roller *w = m->self;
  if (e->op == OP_LOAD && e->u.buffer == w->r->from)
    return tirc_load(m->c, w->r->to, e->n, rolled(w, e->n, e->args));
  if (e == w->r->from->data)
    tirc_refuse(w->r->s, NULL, SERR_CACHE_ALIAS, "%s cannot roll: a block uses its data pointer.",
                w->r->from->name);
  return tirc_mutate_expr_children(m, e);
}

/* Of each overlapping axis: in the first iteration everything, then what is new. */
static Expr new_elements(Rolling *r) {
  Tirc *c = r->s->c;
  const Block *b = tirc_block_of(r->block);
  Expr cond = b->predicate;
  for (int i = 0; i < r->from->ndim; i++) {
    Expr var = r->axes[i].var;
    if (!var) continue;
    Analyzer *a = tirc_analyzer(c);
    PtrMap sets = {0};
    Expr zero = tirc_int(c, var->dtype, 0);
    IntSet *start = tirc_new(c, IntSet);
    *start = (IntSet){zero, zero};
    tirc_map_set(c, &sets, var, start);
    Expr offset = tirc_eval_set(a, b->iter_values[i], &sets).min;
    Expr first = tirc_lt(c, var, tirc_int(c, var->dtype, 1));
    Expr fresh = tirc_binary(c, OP_GE, offset, tirc_int(c, offset->dtype, r->axes[i].overlap));
    cond = tirc_simplify(a, tirc_and(c, cond, tirc_binary(c, OP_OR, first, fresh)));
  }
  return cond;
}

static const Region *with_region(Tirc *c, int n, const Region *at, const Rolling *r,
                                 Regions inferred) {
  Region *out = tirc_new_array(c, Region, n + 1);
  for (int i = 0; i < n; i++) {
    out[i] = at[i];
    for (int k = 0; k < inferred.n && at[i].buffer == r->from; k++)
      if (inferred.at[k].buffer == r->to) out[i] = inferred.at[k];
    if (out[i].buffer == r->from) out[i].buffer = r->to;
  }
  return out;
}

static Stmt roll_block(Roller *w, Stmt old) {
  Rolling *r = w->r;
  Tirc *c = w->m.c;
  for (int i = 0; i < old->u.block.n_matches; i++)
    if (old->u.block.matches[i].source.buffer == r->from)
      tirc_refuse(r->s, NULL, SERR_CACHE_ALIAS, "%s cannot roll: %s is a view of it.",
                  r->from->name, old->u.block.matches[i].buffer->name);
  Stmt to = tirc_mutate_stmt_children(&w->m, old);
  Block b = to->u.block;
  Regions reads, writes;
  tirc_block_reads_writes(c, to, &reads, &writes);
  b.reads = with_region(c, b.n_reads, b.reads, r, reads);
  b.writes = with_region(c, b.n_writes, b.writes, r, writes);
  if (r->axis < b.n_iters && b.iters[r->axis].kind == ITER_SPATIAL) {
    IterVar *iters = tirc_copy(c, b.iters, b.n_iters);
    iters[r->axis].kind = ITER_OPAQUE;
    b.iters = iters;
  }
  if (old == r->block->stmt) b.predicate = new_elements(r);
  return tirc_with_loc(c, tirc_block(c, &b), old->loc);
}

static Stmt roll_stmt(Mutator *m, Stmt s) {
  Roller *w = m->self;
  if (s->kind == STMT_BLOCK) return roll_block(w, s);
  if (s->kind != STMT_STORE || s->u.store.buffer != w->r->from)
    return tirc_mutate_stmt_children(m, s);
  const Expr *indices = rolled(w, s->u.store.n, s->u.store.indices);
  Expr value = tirc_mutate_expr(m, s->u.store.value);
  return tirc_with_loc(m->c, tirc_store(m->c, w->r->to, s->u.store.n, indices, value), s->loc);
}

static Stmt roll_scope(Rolling *r) {
  Tirc *c = r->s->c;
  struct BufferNode to = *r->from;
  Expr *shape = tirc_new_array(c, Expr, to.ndim + 1);
  for (int i = 0; i < to.ndim; i++) shape[i] = i == r->axis ? r->window[i].extent : to.shape[i];
  to.shape = shape;
  r->to = tirc_buffer_copy(c, &to);
  Roller w = {.m = {.c = c, .expr = roll_expr, .stmt = roll_stmt, .self = &w}, .r = r};
  w.m.only = tirc_paths_to_users(r->s, r->scope, r->from);
  Block b = *tirc_block_of(r->scope);
  b.body = tirc_mutate_stmt(&w.m, b.body);
  Buffer *allocs = tirc_new_array(c, Buffer, b.n_allocs + 1);
  for (int i = 0; i < b.n_allocs; i++) allocs[i] = b.allocs[i] == r->from ? r->to : b.allocs[i];
  b.allocs = allocs;
  return tirc_with_loc(c, tirc_block(c, &b), r->scope->stmt->loc);
}

void tirc_prim_rolling_buffer(Sched *s, const Value *args, Value *result) {
  (void)result;
  Rolling r = {.s = s, .block = tirc_sref_of_value(s, args[0])};
  r.from = tirc_nth_buffer(s, r.block, args[1], true);
  r.scope = tirc_require_scope_root(s, r.block, false);
  tirc_require_no_loose_use(s, r.scope, r.block);
  const Block *b = tirc_block_of(r.block);
  const Region *declared = tirc_declared_write(b, r.from);
  if (tirc_is_output_block(s, r.block, r.scope))
    tirc_sched_error(
        s, r.block->stmt, SERR_OUTPUT_BLOCK, NULL,
        "a rolling buffer must be allocated by the scope, and only its blocks may use it",
        "Block %s is an output block of its scope.", b->name);
  find_common_loop(&r);
  find_window(&r, declared);
  find_axes(&r);
  require_straight(&r);
  find_rolling_axis(&r);
  require_iters(&r, declared);
  require_only_writer(&r);
  require_serial(&r);
  tirc_sched_replace(s, r.scope, roll_scope(&r));
}
