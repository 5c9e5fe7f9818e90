/* compute_at and reverse_compute_at: a block leaves its own loops and gets a new nest inside of a
 * loop of its consumers (producers), which runs just the instances that one iteration of that loop
 * needs.
 *
 * The block must be complete or a reduction block of a scope that is a stage pipeline, all that
 * depends on it must stand under the loop, and a place must exist after its producers and before
 * its consumers. compute_at_region.c finds the instances. What the move would break is checked on
 * the result: the scope must still be a stage pipeline, no loop variable may be used outside of its
 * loop. */
#include "moves.h"

#include "ir/tree/print.h"

typedef struct Move {
  Sched *s;
  Tirc *c;
  bool is_producer; /* compute_at; otherwise reverse_compute_at */
  bool preserve_unit_loops;
  int64_t index;
  SRef *block, *loop, *scope;
  SRefs producers, consumers;
  Analyzer *a; /* the loops from `loop` upwards, then the new ones */
} Move;

static const char *moved(const Move *m) { return tirc_describe(m->s, m->block->stmt); }
static const char *target(const Move *m) { return tirc_describe(m->s, m->loop->stmt); }

/* --- checks before ----------------------------------------------------------------------- */

_Noreturn static void not_same_scope(Move *m, const char *why) {
  tirc_sched_mark(m->s, m->block->stmt);
  tirc_refuse(
      m->s, m->loop->stmt, SERR_NOT_SAME_SCOPE,
      "%s and %s must be under the same block scope, and the loop must not be an ancestor of "
      "%s: %s",
      moved(m), target(m), moved(m), why);
}

static void check_scope_and_bind_loops(Move *m) {
  tirc_bind_shapes(m->s, m->a, m->scope);
  SRef *p = m->loop;
  for (; p && tirc_is_loop(p); p = p->parent) tirc_bind_loop(m->a, tirc_loop_of(p));
  if (p != m->scope) not_same_scope(m, "their scopes are different blocks");
  if (tirc_is_ancestor(m->loop, m->block)) not_same_scope(m, "the block is under the loop already");
}

/* --- the place under the loop ------------------------------------------------------------ */

static int count_in(Stmt item, SRefs blocks) {
  int n = 0;
  for (int i = 0; i < blocks.n; i++) n += tirc_holds(item, blocks.at[i]->stmt, NULL);
  return n;
}

static void require_all(Move *m, int seen, SRefs all, const char *what) {
  if (seen == all.n) return;
  Text names = {.c = m->c};
  for (int i = 0; i < all.n; i++) {
    tirc_sched_mark(m->s, all.at[i]->stmt);
    tirc_text_addf(&names, "%s\"%s\"", i ? ", " : "", tirc_name_of(all.at[i]));
  }
  tirc_sched_error(
      m->s, NULL, SERR_NOT_ALL_VISITED,
      tirc_format(m->c, "%d of %d %ss are not under the loop", all.n - seen, all.n, what), NULL,
      "the call requires all the %ss of %s (%s) to be under %s", what, moved(m), names.at,
      target(m));
}

/* After the last producer, before the first consumer: the item of the loop's body before which the
 * block goes. The loop stands before the block or after it, so only one of both is under it. */
static int find_place(Move *m) {
  const Stmt *items;
  int n = tirc_body_items(m->c, tirc_loop_of(m->loop)->body, &items);
  int after = -1, before = n, n_producers = 0, n_consumers = 0;
  for (int i = 0; i < n; i++) {
    const int producers = count_in(items[i], m->producers);
    const int consumers = count_in(items[i], m->consumers);
    if (producers) after = i;
    if (consumers && before == n) before = i;
    n_producers += producers;
    n_consumers += consumers;
  }
  if (!m->is_producer) require_all(m, n_producers, m->producers, "producer");
  if (m->is_producer) require_all(m, n_consumers, m->consumers, "consumer");
  if (m->index == -1) return before;
  if (m->index == -2) return after + 1;
  if (m->index < after + 1 || m->index > before)
    tirc_refuse(m->s, NULL, SERR_INSERT_INDEX,
                "index %lld is not a place for %s: use -1 (last), -2 (first) or %d to %d",
                (long long)m->index, moved(m), after + 1, before);
  return (int)m->index;
}

/* --- the new nest ------------------------------------------------------------------------ */

static Stmt make_nest(Move *m, const IterDomain *domains) {
  Tirc *c = m->c;
  Block b = *tirc_block_of(m->block);
  Expr *values = tirc_new_array(c, Expr, b.n_iters + 1), predicate = tirc_bool(c, true);
  Expr *vars = tirc_new_array(c, Expr, b.n_iters + 1);
  Expr *extents = tirc_new_array(c, Expr, b.n_iters + 1);
  int n = 0;
  for (int i = 0; i < b.n_iters; i++) {
    const IterDomain *d = &domains[i];
    Range r = tirc_range_of_set(tirc_analyzer(c), d->dom, b.iters[i].dom);
    values[i] = r.min;
    if (m->preserve_unit_loops || !tirc_is_int(r.extent, 1)) {
      bool wide = r.min->dtype.bits > r.extent->dtype.bits;
      vars[n] = tirc_var(c, tirc_format(c, "ax%d", n), wide ? r.min->dtype : r.extent->dtype);
      extents[n] = tirc_simplify(m->a, r.extent);
      values[i] = tirc_add(c, r.min, vars[n]);
      tirc_bind_range(m->a, vars[n], tirc_range(tirc_int(c, vars[n]->dtype, 0), r.extent));
      n++;
    }
    if (d->has_bound && d->bound.min)
      predicate =
          tirc_and_unproved(c, m->a, predicate, tirc_binary(c, OP_GE, values[i], d->bound.min));
    if (d->has_bound && d->bound.max)
      predicate = tirc_and_unproved(
          c, m->a, predicate,
          tirc_lt(c, values[i], tirc_add(c, d->bound.max, tirc_int(c, d->bound.max->dtype, 1))));
  }
  b.iter_values = values;
  b.predicate = tirc_simplify(m->a, predicate);
  Stmt nest = tirc_block(c, &b);
  while (n-- > 0) nest = tirc_for_serial(c, vars[n], extents[n], nest);
  return nest;
}

/* --- what must hold of it ---------------------------------------------------------------- */

/* A loop around the block, of which it may be out afterwards, that may have no iterations. */
static SRef *empty_loop(Move *m) {
  const SRef *common = tirc_common_ancestor(2, (SRef *[]){m->block, m->loop});
  for (SRef *r = m->block->parent; r != common; r = r->parent) {
    const Expr extent = tirc_loop_of(r)->extent;
    bool moves = tirc_is_int(extent, 0);
    for (SRef *o = r->parent; tirc_is_loop(o) && !moves; o = o->parent)
      moves = tirc_uses_var(extent, tirc_loop_of(o)->var);
    if (moves && tirc_const_bound(tirc_analyzer_around(m->s, r->parent), extent).min < 1) return r;
  }
  return NULL;
}

/* The predicate and the loops that the block had are not carried over, nor is what stands around
 * these: its domains must imply them. */
static void check_old_predicate(Move *m) {
  SRef *empty = empty_loop(m);
  if (empty) {
    tirc_sched_mark(m->s, m->block->stmt);
    tirc_sched_error(m->s, empty->stmt, SERR_PREDICATE_LOST, NULL,
                     "remove the loop without iterations, or move another block",
                     "%s does not run if loop %s has no iterations, but it would run under %s",
                     moved(m), tirc_name_of(empty), target(m));
  }
  if (tirc_is_guarded(m->s, m->block, tirc_common_ancestor(2, (SRef *[]){m->block, m->loop}))) {
    tirc_refuse(m->s, m->block->stmt, SERR_PREDICATE_LOST,
                "%s is under a condition, but under %s it would also run if the condition is false",
                moved(m), target(m));
  }
  const char *missing;
  if (tirc_reaches_domain(m->s, m->block, NULL, &missing)) return;
  const Expr predicate = tirc_block_of(m->block)->predicate;
  tirc_sched_mark(m->s, m->block->stmt);
  if (tirc_is_true(predicate))
    tirc_sched_error(m->s, NULL, SERR_PREDICATE_LOST, tirc_missing_text(m->c, missing),
                     "move the block before other primitives widen its domains",
                     "%s runs for only a part of its domains, but it would run for all of them",
                     moved(m));
  tirc_sched_error(m->s, NULL, SERR_PREDICATE_LOST, tirc_missing_text(m->c, missing), NULL,
                   "%s runs only where %s, which the domains of its iterators do not imply",
                   moved(m), tirc_print_expr(m->c, predicate));
}

/* Without its predicate it runs in all iterations of the loops that stay around it, in those where
 * it did not run, too: others in the same loop may not look at what it stores there, nor, where it
 * is an instance that has run before, store what it reads. The tail of its own domain has nothing
 * to store. */
static void check_others_within(Move *m) {
  const SRef *common = tirc_common_ancestor(2, (SRef *[]){m->block, m->loop});
  const Block *b = tirc_block_of(m->block);
  if (tirc_domain_implies_predicate(m->s, m->block)) return;
  for (; common != m->scope; common = common->parent) {
    const Expr var = tirc_loop_of(common)->var;
    if (!tirc_uses_var(b->predicate, var)) continue;
    const bool again = !tirc_kinds_moved(b, var);
    for (int i = 0; i < m->consumers.n + (again ? m->producers.n : 0); i++) {
      const bool reads = i >= m->consumers.n;
      SRef *other = reads ? m->producers.at[i - m->consumers.n] : m->consumers.at[i];
      if (!tirc_is_ancestor(common, other)) continue;
      tirc_sched_mark(m->s, m->block->stmt);
      tirc_refuse(m->s, other->stmt, SERR_PREDICATE_LOST,
                  "%s runs only where %s, but under %s it would also run where that is false; "
                  "%sblock %s %s there",
                  moved(m), tirc_print_expr(m->c, b->predicate), target(m),
                  reads ? "it would read what " : "", tirc_name_of(other),
                  reads ? "stores" : "would read what it stores");
    }
  }
}

typedef struct LoopVars {
  Visitor v;
  const Move *m;
  Expr used;    /* the variable of such a loop that an expression names; or the load */
  Expr runs;    /* where the moved block will run */
  bool decides; /* whether it is no value */
} LoopVars;

static bool is_around(const void *move, Expr e) {
  const Move *m = move;
  SRef *r = e->op == OP_VAR ? tirc_map_get(&m->s->loops, e) : NULL;
  return r && tirc_is_ancestor(r, m->loop);
}

static bool see_use(Visitor *v, Expr e) {
  LoopVars *l = v->self;
  SRef *r = e->op == OP_VAR ? tirc_map_get(&l->m->s->loops, e) : NULL;
  if (r && r->stmt && tirc_scope_root(r) == l->m->scope && !tirc_is_ancestor(r, l->m->loop))
    l->used = e;
  return true;
}

/* Loops of this scope that are not around the new place must not be named in the nest. */
static void check_loop_vars(Move *m, Stmt nest) {
  LoopVars l = {.v = {.expr = see_use, .regions = true, .self = &l}, .m = m};
  tirc_visit_stmt(&l.v, nest);
  if (!l.used) return;
  tirc_refuse(m->s, m->block->stmt, SERR_LOOP_VAR_ESCAPES,
              "%s would use the loop variable %s outside of its loop", moved(m), l.used->u.s);
}

/* --- the primitives ---------------------------------------------------------------------- */

/* The first block within `at` that touches the buffer. */
static const SRef *first_user(const SRef *at, Buffer b) {
  for (int i = 0; i < at->scope->n_blocks; i++)
    if (tirc_touches(at->scope->blocks[i], b, false) || tirc_touches(at->scope->blocks[i], b, true))
      return first_user(at->scope->blocks[i], b);
  return at;
}

static bool has_other_writer(Move *m, Buffer b) {
  const SRefs writers = tirc_writers_of(m->scope, b);
  return writers.n > 1 || (writers.n == 1 && writers.at[0] != m->block);
}

/* The blocks within one that declares nothing, as loop_partition makes it: run again, an update in
 * place would start from what it left; and no other block may store to the same buffer. */
static void check_updates_within(Move *m, SRef *at) {
  const Block *b = tirc_block_of(at);
  for (int i = 0; at != m->block && i < b->n_writes; i++) {
    Buffer w = b->writes[i].buffer;
    const SRef *first = first_user(m->block, w), *allocator = tirc_allocator_of(at, w);
    bool is_local = allocator && tirc_is_ancestor(m->block, allocator);
    const bool shared = !is_local && has_other_writer(m, w);
    if (is_local || (!shared && !tirc_touches(first, w, false))) continue;
    tirc_refuse(m->s, first->stmt, SERR_NOT_COMPLETE_OR_REDUCTION, "block %s within %s %s %s",
                tirc_name_of(shared ? at : first), moved(m),
                shared ? "is not the only one that stores to" : "updates in place", w->name);
  }
  for (int i = 0; i < at->scope->n_blocks; i++) check_updates_within(m, at->scope->blocks[i]);
}

/* Of blocks inside the definitions of complete and reduction blocks say little: none may go on from
 * what the last run stored. */
static void check_runs_within(Move *m) {
  if (!m->block->scope->n_blocks || !tirc_goes_on_from_last_run(m->s, m->block, NULL)) return;
  tirc_refuse(m->s, m->block->stmt, SERR_NOT_COMPLETE_OR_REDUCTION,
              "if %s runs again, blocks inside of it may continue from what it stored before",
              moved(m));
}

/* Whether each iterator has a loop of its own, before and after, in one order. */
static bool keeps_order(Move *m, Stmt nest) {
  const SRefs before = tirc_loops_above(m->s, m->block);
  const SRefs above = tirc_loops_above(m->s, m->loop);
  VEC(Expr) vars = {0};
  for (int i = 0; i < above.n; i++) vec_push(m->c, vars, tirc_loop_of(above.at[i])->var);
  vec_push(m->c, vars, tirc_loop_of(m->loop)->var);
  for (; nest->kind == STMT_FOR; nest = nest->u.loop.body) vec_push(m->c, vars, nest->u.loop.var);
  bool same = !tirc_shares_loops(m->s, m->block) && nest->u.block.n_iters == vars.n &&
              tirc_is_trivial_binding(m->block->stmt, before);
  for (int i = 0; same && i < vars.n; i++) same = nest->u.block.iter_values[i] == vars.at[i];
  return same;
}

/* Whether the loops that are around the block before and after still decide by themselves which
 * instances run. */
static bool keeps_outer(const Move *m, Stmt nest) {
  const Block *b = tirc_block_of(m->block);
  while (nest->kind == STMT_FOR) nest = nest->u.loop.body;
  for (const SRef *r = m->block->parent; r != m->scope; r = r->parent)
    for (int i = 0; i < b->n_iters && tirc_is_ancestor(r, m->loop); i++)
      if (tirc_uses_var(b->iter_values[i], tirc_loop_of(r)->var) &&
          !tirc_prove_equal(m->a, nest->u.block.iter_values[i], b->iter_values[i]))
        return false;
  return true;
}

/* A condition around both chooses among the consumer's instances by the loops that it had. */
static void check_condition_kept(Move *m, bool outer_kept) {
  if (outer_kept || m->is_producer || !tirc_is_guarded(m->s, m->block, m->scope)) return;
  const Expr condition = tirc_condition_of(m->s, m->block, m->scope);
  bool about = !condition;
  for (const SRef *r = m->block->parent; condition && r != m->scope; r = r->parent)
    about |= tirc_uses_var(condition, tirc_loop_of(r)->var);
  if (!about) return;
  tirc_sched_error(m->s, m->block->stmt, SERR_PREDICATE_LOST, NULL,
                   "make the condition a predicate of the block: T.where(...)",
                   "%s runs under a condition on loops that would no longer determine which "
                   "instances run under %s",
                   moved(m), target(m));
}

/* A domain that depends on a loop is about the instances which that loop used to run. */
static void check_domains(Move *m, bool outer_kept) {
  const SRef *loop = tirc_loop_of_domain(m->block);
  if (!loop || outer_kept) return;
  tirc_sched_mark(m->s, loop->stmt);
  tirc_refuse(
      m->s, m->block->stmt, SERR_LOOP_VAR_ESCAPES,
      "a domain of %s depends on loop %s, which would no longer determine which instances run",
      moved(m), tirc_name_of(loop));
}

/* New loops run the instances in another order, and perhaps some of them again: none may overwrite
 * what another one stored. */
static void check_order_of_stores(Move *m, Stmt nest, bool outer_kept) {
  SRef *producer, *reader;
  if (tirc_is_read_between(m->s, m->block, outer_kept ? m->loop : m->scope, &producer, &reader)) {
    tirc_sched_mark(m->s, reader->stmt);
    tirc_refuse(m->s, producer->stmt, SERR_ORDER_MATTERS,
                "block %s reads what block %s stores before that stores to the same element again; "
                "with %s under %s, it would see only the last value",
                tirc_name_of(reader), tirc_name_of(producer), moved(m), target(m));
  }
  producer = tirc_unfinished_producer(m->s, m->block, m->loop, nest);
  if (producer) {
    tirc_sched_mark(m->s, m->block->stmt);
    tirc_refuse(m->s, producer->stmt, SERR_ORDER_MATTERS,
                "block %s stores to the same elements again in later iterations of the loops "
                "around, and under %s, %s would read them before that",
                tirc_name_of(producer), target(m), moved(m));
  }
  if (keeps_order(m, nest) || !tirc_instances_depend(m->s, m->block)) return;
  tirc_sched_error(
      m->s, m->block->stmt, SERR_ORDER_MATTERS, NULL,
      "leave the block in its own loops: two of its instances store to the same element",
      "%s stores different values to the same element, and might store them in another order under "
      "%s",
      moved(m), target(m));
}

/* The new loops take each step of a sum once. A loop outside of all that take its steps may start
 * it anew; others would take a step again. */
static void check_steps(Move *m) {
  const Block *b = tirc_block_of(m->block);
  SRef *outermost = NULL;
  for (SRef *r = m->block->parent; b->init && r != m->scope; r = r->parent)
    if (tirc_moves(b, tirc_loop_of(r)->var, ITER_REDUCE)) outermost = r;
  if (!outermost) return;
  const LoopDomain loops =
      tirc_loop_domain(m->s, m->block->parent, outermost->parent, STORAGE_GLOBAL);
  if (tirc_runs_once(m->s, m->block, &loops, b->predicate)) return;
  tirc_refuse(m->s, m->block->stmt, SERR_REPEATED_REDUCTION,
              "%s may take a step of its sum more than once below loop %s, but it would take each "
              "step once",
              moved(m), tirc_name_of(outermost));
}

/* A consumer that moves below a loop without iterations does not run any more, nor where a
 * condition around the loop does not hold. */
static void check_iterations(Move *m) {
  const SRef *shared = tirc_common_ancestor(2, (SRef *[]){m->block, m->loop});
  if (!m->is_producer && tirc_is_guarded(m->s, m->loop, shared)) {
    tirc_sched_mark(m->s, m->block->stmt);
    tirc_sched_error(m->s, m->loop->stmt, SERR_INSTANCES_LOST, NULL,
                     "make the condition a predicate of the blocks under it: T.where(...)",
                     "loop %s is under a condition, and %s would not run if that is false",
                     tirc_name_of(m->loop), moved(m));
  }
  for (SRef *r = m->loop; r != m->scope && !m->is_producer; r = r->parent) {
    if (!tirc_is_int(tirc_loop_of(r)->extent, 0) || tirc_is_ancestor(r, m->block)) continue;
    tirc_sched_mark(m->s, m->block->stmt);
    tirc_refuse(m->s, r->stmt, SERR_INSTANCES_LOST,
                "loop %s has no iterations, and %s would not run", tirc_name_of(r), moved(m));
  }
}

/* The order in which the instances of a reduction run for one element, where it matters: it stays
 * if one iterator alone is summed over, and below the loop by a loop of its own. */
static void check_order_of_sum(Move *m, Stmt nest) {
  const Block *b = tirc_block_of(m->block);
  int sums = 0;
  bool outer = false;
  while (nest->kind == STMT_FOR) nest = nest->u.loop.body;
  for (int i = 0; i < b->n_iters; i++) {
    if (b->iters[i].kind != ITER_REDUCE || tirc_is_int(b->iters[i].dom.extent, 1)) continue;
    outer = outer || tirc_find_expr(nest->u.block.iter_values[i], is_around, m);
    sums++;
  }
  if ((sums <= 1 && !outer) || !sums) return;
  if (tirc_update_commutes(m->c, b)) return tirc_warn_of_equals(m->s, m->block);
  tirc_sched_error(
      m->s, m->block->stmt, SERR_ORDER_MATTERS, NULL,
      "only sums, products, minima and maxima can be moved, because their order does not matter",
      "the result of %s depends on the order of its updates, and the order would change under %s",
      moved(m), target(m));
}

/* Whether the producer leaves out iterations of the loops to which the block moves, in which the
 * block runs. What they were to write, it may read before a later one has written it. The tail of
 * its own domain has nothing to write. */
static bool leaves_out(const Move *m, SRef *producer, Expr runs) {
  if (tirc_domain_implies_predicate(m->s, producer)) return false;
  const Expr predicate = tirc_block_of(producer)->predicate;
  if (!tirc_find_expr(predicate, is_around, m)) return false;
  Analyzer *a = tirc_analyzer_around(m->s, producer->parent);
  tirc_enter_constraint(a, runs);
  return !tirc_prove(a, predicate);
}

/* What decides where the block looks and stores: an index, a bound, a condition. If the same loop
 * computes it, it may not be there yet, and the block would look anywhere. A value may be wrong for
 * a while: the last run stores the right one. */
static bool see_decision(Visitor *v, Expr e) {
  LoopVars *l = v->self;
  const Move *m = l->m;
  for (int i = 0; e->op == OP_LOAD && l->decides && i < m->producers.n; i++)
    if (tirc_touches(m->producers.at[i], e->u.buffer, true) &&
        (!tirc_declared_read(tirc_block_of(m->block), e->u.buffer) ||
         leaves_out(m, m->producers.at[i], l->runs)))
      l->used = e;
  const int n = e->op == OP_LOAD ? e->n : e->op == OP_IF_THEN_ELSE && tirc_reads_memory(e) ? 1 : 0;
  if (l->decides || !n) return true;
  l->decides = true;
  for (int i = 0; i < n; i++) tirc_visit_expr(v, e->args[i]);
  l->decides = false;
  for (int i = n; i < e->n; i++) tirc_visit_expr(v, e->args[i]);
  return false;
}

static bool see_value(Visitor *v, Stmt s) {
  LoopVars *l = v->self;
  if (s->kind != STMT_STORE) return true;
  for (int i = 0; i < s->u.store.n; i++) tirc_visit_expr(v, s->u.store.indices[i]);
  l->decides = false;
  tirc_visit_expr(v, s->u.store.value);
  l->decides = true;
  return false;
}

static void check_decisions(Move *m, Stmt nest) {
  while (nest->kind == STMT_FOR) nest = nest->u.loop.body;
  LoopVars l = {.v = {.expr = see_decision, .stmt = see_value, .self = &l},
                .m = m,
                .runs = nest->u.block.predicate,
                .decides = true};
  tirc_visit_stmt(&l.v, tirc_block_of(m->block)->body);
  if (!l.used) return;
  const bool declared = tirc_declared_read(tirc_block_of(m->block), l.used->u.buffer);
  tirc_refuse(m->s, m->block->stmt, SERR_REGION_NOT_COVERED,
              "%s %s, and %s, which it uses as an index or a guard, would not be known to be there "
              "under %s",
              moved(m),
              declared ? "would follow a block that leaves out iterations"
                       : "does not declare what it reads",
              l.used->u.buffer->name, target(m));
}

static void install(Move *m, SRef *removed, Stmt without, int place, Stmt nest) {
  Stmt body = tirc_insert_item(m->c, tirc_loop_of(m->loop)->body, place, nest);
  Stmt loop = tirc_with_body(m->c, m->loop->stmt, body);
  Stmt scope = tirc_replace_node(m->s, m->scope->stmt, removed, without);
  scope = tirc_replace_node(m->s, scope, m->loop, loop);
  const uint32_t scope_id = tirc_block_of(m->scope)->id, id = tirc_block_of(m->block)->id;
  tirc_sched_replace(m->s, m->scope, scope);
  SRef *now = tirc_sref_of_block(m->s, scope_id);
  SRef *there = tirc_sref_of_block(m->s, id);
  if (tirc_is_stage_pipeline(m->s, now) && (m->is_producer || tirc_decides_by_written(m->s, there)))
    return;
  tirc_refuse(m->s, m->block->stmt, SERR_REGION_NOT_COVERED,
              "under %s, %s would not be known to cover everything that %s", target(m), moved(m),
              m->is_producer ? "its consumers read" : "it has to read");
}

static void move_block(Move *m) {
  Sched *s = m->s;
  m->scope = tirc_require_scope_root(s, m->block, true);
  m->producers = tirc_producers(s, m->block, m->scope);
  m->consumers = tirc_consumers(s, m->block, m->scope);
  tirc_require_complete_or_reduction(s, m->block, m->scope);
  if (!tirc_block_of(m->block)->n_writes) check_updates_within(m, m->block);
  check_scope_and_bind_loops(m);
  if (m->is_producer) tirc_require_not_output(s, m->block, m->scope);
  SRef *removed;
  Stmt without;
  tirc_plan_leaf_removal(s, m->block, &removed, &without);
  int place = find_place(m);
  const IterDomain *domains = tirc_required_domains(s, m->a, m->block, m->loop, m->is_producer,
                                                    m->is_producer ? m->consumers : m->producers);
  check_old_predicate(m);
  check_others_within(m);
  check_steps(m);
  check_iterations(m);
  Stmt nest = make_nest(m, domains);
  check_loop_vars(m, nest);
  check_order_of_sum(m, nest);
  check_decisions(m, nest);
  tirc_require_sums_once(s, m->loop, nest, m->is_producer);
  check_runs_within(m);
  const bool outer_kept = keeps_outer(m, nest);
  check_condition_kept(m, outer_kept);
  check_domains(m, outer_kept);
  check_order_of_stores(m, nest, outer_kept);
  install(m, removed, without, place, nest);
}

static void run(Sched *s, const Value *args, bool is_producer) {
  Move m = {.s = s,
            .c = s->c,
            .is_producer = is_producer,
            .block = tirc_sref_of_value(s, args[0]),
            .loop = tirc_sref_of_value(s, args[1]),
            .preserve_unit_loops = args[2].u.b,
            .index = args[3].u.i,
            .a = tirc_analyzer(s->c)};
  move_block(&m);
  tirc_require_independent_around(s, 1, &m.block);
}

static Value mark(Sched *s, Expr *at, const char *name) {
  if (!*at) *at = tirc_var(s->c, name, DT_INT32);
  return tirc_value_loop(*at);
}
Value tirc_root_mark(Sched *s) { return mark(s, &s->root_mark, "root"); }
Value tirc_inline_mark(Sched *s) { return mark(s, &s->inline_mark, "inline"); }

/* Whether argument 1 is such a mark; then it is done: nothing, or inlined. */
static bool moved_to_mark(Sched *s, const Value *args, Value *result,
                          void (*inline_it)(Sched *, const Value *, Value *)) {
  if (args[1].u.expr == s->inline_mark)
    inline_it(s, args, result);
  else if (args[1].u.expr != s->root_mark)
    return false;
  return true;
}

void tirc_prim_compute_at(Sched *s, const Value *args, Value *result) {
  if (!moved_to_mark(s, args, result, tirc_prim_compute_inline)) run(s, args, true);
}

void tirc_prim_reverse_compute_at(Sched *s, const Value *args, Value *result) {
  if (!moved_to_mark(s, args, result, tirc_prim_reverse_compute_inline)) run(s, args, false);
}
