/* decompose_padding(block, loop): a block that pads becomes one that fills in the constant, before
 * the loop, and one that copies what lies inside, without a condition.
 *
 *   for i, j in T.grid(16, 16):                     for i, j in T.grid(16, 16):
 *       B[i, j] = A[i - 1, j - 1]              ->       B[i, j] = 0              <block>_pad_const
 *           if 1 <= i < 15 and 1 <= j < 15          for i, j in T.grid(14, 14):
 *           else 0                                      B[i + 1, j + 1] = A[i, j]          <block>
 *
 * The block must be a complete block (not-complete-block) under the loop (loop-not-above-block) and
 * store T.if_then_else(condition, value, constant), where the condition bounds its iterators one by
 * one (padding-pattern). Loops that the block has for itself shrink to what lies inside; for the
 * others the condition becomes the block's predicate. can_decompose_padding asks whether all that
 * holds. */
#include "blocks.h"

typedef struct Padding {
  Sched *s;
  SRef *block, *loop, *scope;
  SRefs loops;   /* above the block, outermost first */
  int at;        /* the index of `loop` in it */
  int own;       /* loops from here on have nothing but the block below them */
  Analyzer *a;   /* their ranges */
  Expr inside;   /* the condition, in terms of loops */
  Range *region; /* of each iterator: where the condition holds */
  PtrMap inner;  /* from the block's iterators and its own loops to what replaces them inside */
} Padding;

#define no_pattern(p, ...)                                                                         \
  tirc_refuse((p)->s, (p)->block->stmt, SERR_PADDING_PATTERN, "Block %s does not pad: %s.",        \
              tirc_name_of((p)->block), tirc_format((p)->s->c, __VA_ARGS__))

/* --- checks --------------------------------------------------------------------------------- */

static void find_loops(Padding *p) {
  p->at = tirc_require_loop_above(p->s, p->block, p->loop, &p->loops);
  Stmt below = p->block->stmt;
  for (p->own = p->loops.n; p->own > p->at; p->own--) {
    if (tirc_loop_of(p->loops.at[p->own - 1])->body != below) break;
    below = p->loops.at[p->own - 1]->stmt;
  }
  if (p->own == p->loops.n) no_pattern(p, "its innermost loop has something else in its body");
  p->a = tirc_analyzer(p->s->c);
  for (int i = p->loops.n; i-- > 0;) tirc_bind_loop(p->a, tirc_loop_of(p->loops.at[i]));
}

/* The conditions of a conjunction one after the other, without T.likely. */
static Expr conjoin(Tirc *c, Expr all, Expr cond) {
  if (cond->op == OP_AND) return conjoin(c, conjoin(c, all, cond->args[0]), cond->args[1]);
  return tirc_and(c, all, cond->op == OP_LIKELY ? cond->args[0] : cond);
}

static bool is_call(const void *self, Expr e) {
  (void)self;
  return e->op == OP_CALL;
}

static Expr require_padding_store(Padding *p) {
  Stmt body = tirc_block_of(p->block)->body;
  if (body->kind != STMT_STORE) no_pattern(p, "its body is not a single store");
  if (tirc_is_guarded(p->s, p->block, p->loop)) no_pattern(p, "it runs under a condition");
  if (tirc_block_of(p->block)->n_matches) no_pattern(p, "it uses a T.match_buffer view of its own");
  Expr value = body->u.store.value;
  if (value->op != OP_IF_THEN_ELSE)
    no_pattern(p, "what it stores is not a T.if_then_else(condition, value, constant)");
  if (!tirc_is_constant(value->args[2]))
    no_pattern(p, "the value outside of the condition is not a constant");
  if (tirc_find_expr(value->args[1], is_call, NULL))
    no_pattern(p, "the value inside of the condition calls what may have effects");
  return value;
}

/* The block copies from where its region starts, which it must be able to say. */
static void require_own_start(Padding *p, Expr start) {
  for (const SRef *r = p->scope; r; r = r->parent) {
    if (!tirc_is_loop(r) || !tirc_uses_var(start, tirc_loop_of(r)->var)) continue;
    tirc_sched_mark(p->s, r->stmt);
    tirc_refuse(p->s, p->block->stmt, SERR_LOOP_VAR_ESCAPES,
                "Block %s is bound to loop %s, which is outside of the scope in which it would be "
                "decomposed.",
                tirc_name_of(p->block), tirc_name_of(r));
  }
}

/* Where the condition holds, as one range for each iterator. */
static void find_region(Padding *p) {
  const Block *b = tirc_block_of(p->block);
  Tirc *c = p->s->c;
  Expr *vars = tirc_new_array(c, Expr, p->loops.n);
  Range *doms = tirc_new_array(c, Range, p->loops.n);
  for (int i = 0; i < p->loops.n; i++) {
    const For *loop = tirc_loop_of(p->loops.at[i]);
    vars[i] = loop->var;
    doms[i] = tirc_loop_range(loop);
  }
  const char *why = NULL;
  const IterMap *map = tirc_detect_iter_map(p->a, b->n_iters, b->iter_values, p->loops.n, vars,
                                            doms, p->inside, ITER_LEVEL_SURJECTIVE, true, &why);
  if (!map)
    no_pattern(p, "the condition is not a bound of independent iterators%s%s", why ? ": " : "",
               why ? why : "");
  p->region = tirc_new_array(c, Range, b->n_iters + 1);
  for (int i = 0; i < b->n_iters; i++) {
    const IterSum *sum = &map->indices[i];
    if (sum->n &&
        !tirc_prove_equal(p->a, sum->args[0].scale, tirc_int(c, sum->args[0].scale->dtype, 1)))
      no_pattern(p, "iterator %s runs in strides", b->iters[i].var->u.s);
    p->region[i] =
        tirc_range(sum->base, sum->n ? sum->args[0].extent : tirc_int(c, sum->base->dtype, 1));
    require_own_start(p, sum->base);
  }
}

/* Whether the block runs in each iteration, and an element gets the same value each time, so that
 * the constant, stored once before the loop, is still there, or was never to be seen. */
static bool stores_the_same_again(Padding *p) {
  const Stmt store = tirc_block_of(p->block)->body;
  bool changes = tirc_loads_change(p->s, p->loop, store->u.store.value);
  for (int i = 0; i < store->u.store.n; i++)
    changes |= tirc_loads_change(p->s, p->loop, store->u.store.indices[i]);
  return !changes && tirc_domain_implies_predicate(p->s, p->block) &&
         !tirc_instances_depend(p->s, p->block);
}

/* The constant comes before all that other blocks do in the loops that they share with the block:
 * they must come after it, and in iterations of their own, or read only what it stored before in
 * the same iteration, again and again. */
static void require_others_behind(Padding *p) {
  const Buffer buffer = tirc_block_of(p->block)->writes[0].buffer;
  for (int i = p->at; i < p->loops.n; i++) {
    const SRefs blocks = tirc_child_blocks(p->s, p->loops.at[i]);
    bool before = true;
    for (int k = 0; k < blocks.n; k++) {
      before &= blocks.at[k] != p->block;
      if (blocks.at[k] == p->block ||
          (!tirc_touches(blocks.at[k], buffer, true) && !tirc_touches(blocks.at[k], buffer, false)))
        continue;
      if (!before && tirc_iterations_apart(p->s, p->loops.at[i], blocks, buffer)) continue;
      if (!before && !tirc_touches(blocks.at[k], buffer, true) &&
          tirc_finds_written(p->s, blocks.at[k], buffer) && stores_the_same_again(p))
        continue;
      tirc_sched_mark(p->s, blocks.at[k]->stmt);
      no_pattern(p, "block %s under the same loop uses %s, too", tirc_name_of(blocks.at[k]),
                 buffer->name);
    }
  }
}

static void check(Padding *p) {
  Tirc *c = p->s->c;
  const Block *b = tirc_block_of(p->block);
  p->scope = tirc_require_scope_root(p->s, p->block, false);
  tirc_require_no_loose_use(p->s, p->scope, p->block);
  tirc_require_complete(p->s, p->block, p->scope);
  find_loops(p);
  Expr value = require_padding_store(p);
  if (b->n_writes != 1) no_pattern(p, "it does not declare exactly one write");
  require_others_behind(p);
  PtrMap bindings = {0};
  tirc_bindings_of(c, p->block->stmt, &bindings);
  Expr cond = tirc_substitute(c, value->args[0], &bindings);
  p->inside = tirc_simplify(p->a, conjoin(c, conjoin(c, tirc_bool(c, true), cond), b->predicate));
  if (tirc_is_true(p->inside)) no_pattern(p, "its condition always holds");
  find_region(p);
  if (tirc_instances_depend(p->s, p->block))
    no_pattern(p, "it stores other values to an element twice, and might do so in another order");
}

/* --- filling in the constant ---------------------------------------------------------------- */

static Expr rewrite(Padding *p, const PtrMap *map, Expr e) {
  return tirc_simplify(p->a, tirc_substitute(p->s->c, e, map));
}

static const Region *rewrite_regions(Padding *p, const PtrMap *map, int n, const Region *from) {
  Region *out = tirc_new_array(p->s->c, Region, n + 1);
  for (int i = 0; i < n; i++) {
    int ndim = from[i].buffer->ndim;
    Range *dims = tirc_new_array(p->s->c, Range, ndim + 1);
    for (int d = 0; d < ndim; d++)
      dims[d] =
          tirc_range(rewrite(p, map, from[i].dims[d].min), rewrite(p, map, from[i].dims[d].extent));
    out[i] = (Region){from[i].buffer, dims};
  }
  return out;
}

static Stmt rewrite_store(Padding *p, const PtrMap *map, Stmt store, Expr value) {
  Expr *indices = tirc_new_array(p->s->c, Expr, store->u.store.n + 1);
  for (int i = 0; i < store->u.store.n; i++)
    indices[i] = rewrite(p, map, store->u.store.indices[i]);
  return tirc_store(p->s->c, store->u.store.buffer, store->u.store.n, indices, value);
}

static Stmt const_nest(Padding *p, uint32_t *id) {
  Tirc *c = p->s->c;
  const Block *b = tirc_block_of(p->block);
  PtrMap map = {0};
  IterVar *iters = tirc_new_array(c, IterVar, b->n_iters + 1);
  for (int i = 0; i < b->n_iters; i++) {
    iters[i] = (IterVar){tirc_var_suffixed(c, b->iters[i].var, "", b->iters[i].var->dtype),
                         b->iters[i].dom, ITER_SPATIAL};
    tirc_map_set(c, &map, b->iters[i].var, iters[i].var);
  }
  Block to = {.name = tirc_format(c, "%s_pad_const", b->name), .iters = iters};
  to.n_iters = b->n_iters;
  to.n_writes = b->n_writes;
  to.writes = rewrite_regions(p, &map, b->n_writes, b->writes);
  to.body = rewrite_store(p, &map, b->body, b->body->u.store.value->args[2]);
  for (int i = p->at; i < p->loops.n; i++) {
    Expr var = tirc_loop_of(p->loops.at[i])->var;
    tirc_map_set(c, &map, var, tirc_var_suffixed(c, var, "", var->dtype));
  }
  Expr *values = tirc_new_array(c, Expr, b->n_iters + 1);
  for (int i = 0; i < b->n_iters; i++) values[i] = rewrite(p, &map, b->iter_values[i]);
  to.iter_values = values;
  to.predicate = rewrite(p, &map, b->predicate);
  Stmt nest = tirc_block(c, &to);
  *id = nest->u.block.id;
  for (int i = p->loops.n; i-- > p->at;) {
    For loop = {.var = tirc_map_get(&map, tirc_loop_of(p->loops.at[i])->var),
                .min = tirc_substitute(c, tirc_loop_of(p->loops.at[i])->min, &map),
                .extent = tirc_substitute(c, tirc_loop_of(p->loops.at[i])->extent, &map),
                .body = nest};
    nest = tirc_for(c, &loop);
  }
  return nest;
}

/* --- copying what lies inside --------------------------------------------------------------- */

static bool is_own_loop(const Padding *p, Expr var) {
  for (int i = p->own; i < p->loops.n; i++)
    if (tirc_loop_of(p->loops.at[i])->var == var) return true;
  return false;
}

/* Iterators count from the corner of what lies inside. Own loops that are bound to one alone do,
 * too. */
static void shift_iters(Padding *p, IterVar *iters, Expr *values, PtrMap *ranges) {
  Tirc *c = p->s->c;
  const Block *b = tirc_block_of(p->block);
  for (int i = 0; i < b->n_iters; i++) {
    Expr var = tirc_var_suffixed(c, b->iters[i].var, "", b->iters[i].var->dtype);
    Range *r = tirc_new(c, Range);
    *r = tirc_range(tirc_int(c, var->dtype, 0), p->region[i].extent);
    iters[i] = (IterVar){var, *r, ITER_SPATIAL};
    tirc_map_set(c, &p->inner, b->iters[i].var, tirc_add(c, var, p->region[i].min));
    Expr value = b->iter_values[i];
    if (value->op == OP_VAR && is_own_loop(p, value)) {
      tirc_map_set(c, ranges, value, r);
      tirc_map_set(c, &p->inner, value, tirc_add(c, value, p->region[i].min));
      tirc_bind_range(p->a, value, *r);
      values[i] = value;
    } else {
      values[i] = tirc_simplify(p->a, tirc_sub(c, value, p->region[i].min));
    }
  }
}

static Stmt inside_nest(Padding *p) {
  Tirc *c = p->s->c;
  const Block *b = tirc_block_of(p->block);
  PtrMap ranges = {0};
  IterVar *iters = tirc_new_array(c, IterVar, b->n_iters + 1);
  Expr *values = tirc_new_array(c, Expr, b->n_iters + 1);
  shift_iters(p, iters, values, &ranges);
  Block to = {.id = b->id, .name = b->name, .n_iters = b->n_iters, .iters = iters};
  to.iter_values = values;
  to.n_reads = b->n_reads;
  to.reads = rewrite_regions(p, &p->inner, b->n_reads, b->reads);
  to.n_writes = b->n_writes;
  to.writes = rewrite_regions(p, &p->inner, b->n_writes, b->writes);
  to.body =
      rewrite_store(p, &p->inner, b->body, rewrite(p, &p->inner, b->body->u.store.value->args[1]));
  to.predicate = rewrite(p, &p->inner, p->inside);
  Stmt nest = tirc_with_loc(c, tirc_block(c, &to), p->block->stmt->loc);
  for (int i = p->loops.n; i-- > p->own;) {
    For loop = *tirc_loop_of(p->loops.at[i]);
    const Range *r = tirc_map_get(&ranges, loop.var);
    if (r) loop.min = r->min, loop.extent = r->extent;
    loop.body = nest;
    nest = tirc_with_loc(c, tirc_for(c, &loop), p->loops.at[i]->stmt->loc);
  }
  return nest;
}

/* --- the primitives ------------------------------------------------------------------------- */

void tirc_prim_decompose_padding(Sched *s, const Value *args, Value *result) {
  Padding p = {
      .s = s, .block = tirc_sref_of_value(s, args[0]), .loop = tirc_sref_of_value(s, args[1])};
  check(&p);
  uint32_t id;
  Stmt fill = const_nest(&p, &id);
  Stmt below = tirc_replace_stmt(s->c, p.loop->stmt, p.loops.at[p.own]->stmt, inside_nest(&p));
  Stmt both = tirc_seq(s->c, 2, (Stmt[]){fill, below});
  tirc_sched_replace(s, p.scope, tirc_replace_node(s, p.scope->stmt, p.loop, both));
  *result = tirc_value_block(id);
}

/* Only a ScheduleError is an answer; running out of memory is none. */
void tirc_prim_can_decompose_padding(Sched *s, const Value *args, Value *result) {
  Padding p = {
      .s = s, .block = tirc_sref_of_value(s, args[0]), .loop = tirc_sref_of_value(s, args[1])};
  volatile bool can = false;
  Trap trap;
  if (TIRC_TRY(s->c, trap)) {
    check(&p);
    TIRC_END(s->c, trap);
    can = true;
  } else if (s->c->diag.status != TIRC_STATUS_NO) {
    tirc_throw(s->c);
  }
  s->n_marks = 0;
  *result = tirc_value_bool(can);
}
