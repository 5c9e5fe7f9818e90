/* Who reads what is not yet what it will be? What a block reads of what it writes itself: whether
 * all of it was stored by the block before. That is so after an init, be it T.init() or one written
 * by hand, `if vk == 0: B[vi] = 0`. And whether it was so in the same run of the block, when that
 * runs again in a loop around. */
#include "ir/tree/int_op.h"
#include "ir/tree/views.h"
#include "meaning.h"
#include "passes/meaning/asked.h"
#include "passes/schedule/state/state.h"
#include "places.h"

static bool stores_to(const void *load, Stmt s) {
  const Expr e = load;
  return s->kind == STMT_STORE && s->u.store.buffer == e->u.buffer &&
         tirc_same_exprs(e->n, s->u.store.indices, e->args);
}

typedef struct Elements { /* to which some stores go */
  Stmt stores;
  Buffer buffer;
} Elements;

static bool is_other_load(const void *self, Expr e) {
  const Elements *k = self;
  return e->op == OP_LOAD && e->u.buffer == k->buffer &&
         !tirc_find_stmt(k->stores, stores_to, e, NULL);
}

/* Of a sum, whose regions leave out what it reads of its output. */
static bool reads_elsewhere(const Block *b, Buffer buffer) {
  return b->init && tirc_find_expr_in(b->body, is_other_load, &(Elements){b->body, buffer});
}

/* What a sum reads of what it declares to write, once its init is taken away: more than that if it
 * adds other elements, which a sum need not declare. */
static Region read_without_init(Tirc *c, const Block *b, const Region *written) {
  Block update = *b;
  update.init = NULL;
  if (!reads_elsewhere(b, written->buffer)) return *written;
  const Access access = tirc_block_access(c, tirc_block(c, &update));
  const Region *read = tirc_region_of(access.reads.n, access.reads.at, written->buffer);
  return read ? *read : *written;
}

void tirc_drop_init(Tirc *c, Block *b, bool writes_first) {
  Region *reads = tirc_new_array(c, Region, b->n_reads + b->n_writes);
  int n = 0;
  for (int i = 0; i < b->n_reads && !writes_first; i++) reads[n++] = b->reads[i];
  for (int i = 0; i < b->n_writes; i++)
    if (!tirc_declared_read(b, b->writes[i].buffer))
      reads[n++] = read_without_init(c, b, &b->writes[i]);
  for (int i = 0; i < b->n_reads && writes_first; i++) reads[n++] = b->reads[i];
  b->reads = reads;
  b->n_reads = n;
  b->init = NULL;
}

/* --- what is there before --------------------------------------------------------------------- */

/* In an iteration of the loop; without one, in all that it does while its scope runs or, of one
 * instance, with all steps of its sums. */
static void extract_run(Sched *s, SRef *block, const SRef *loop, bool alone, Extract *x,
                        Iterations *of) {
  const Block *b = tirc_block_of(block);
  SRef *nest = block;
  PtrMap moves = {0};
  Expr *values = tirc_new_array(s->c, Expr, b->n_iters + 1);
  *of = (Iterations){.x = x, .names = values, .values = values};
  for (int i = 0; alone && i < b->n_iters; i++)
    if (b->iters[i].kind != ITER_REDUCE) values[of->n++] = b->iter_values[i];
  for (SRef *r = block->parent; r && tirc_is_loop(r) && r != loop; r = r->parent) {
    tirc_map_set(s->c, &moves, r, r);
    nest = r;
    of->n_around++;
  }
  of->in = tirc_relations_in(s, nest);
  tirc_extract_block(x, block, &moves);
}

/* Whether each instance stored itself before what it reads of the buffer, once its sum is begun. */
static bool instance_stores_first(Sched *s, SRef *block, Buffer buffer) {
  const ArenaMark mark = tirc_mark(s->c);
  const Plain plain = tirc_plain_blocks(s, (SRefs){&block, 1, 1});
  Extract x = {.c = s->c, .plain = &plain, .instances = INSTANCE_ANY};
  const Iterations of = {.in = tirc_relations_in(s, block), .x = &x};
  const PtrMap none = {0};
  if (tirc_sums_start_in_scope(s, block)) x.instances = INSTANCE_STARTED;
  tirc_extract_block(&x, block, &none);
  const bool first = tirc_map_has(&x.own, buffer) || tirc_stores_before_it_reads(&of, buffer);
  tirc_rewind(s->c, mark);
  return first;
}

/* The same of a run. */
static bool run_stores_first(Sched *s, SRef *block, Buffer buffer, const SRef *loop, bool alone) {
  const ArenaMark mark = tirc_mark(s->c);
  const Plain plain = tirc_plain_blocks(s, (SRefs){&block, 1, 1});
  Extract x = {.c = s->c, .plain = &plain};
  Iterations of;
  extract_run(s, block, loop, alone, &x, &of);
  const bool first = tirc_stores_before_it_reads(&of, buffer);
  tirc_rewind(s->c, mark);
  return first;
}

/* By sight: a sum that starts anew. */
static bool starts(Sched *s, SRef *block, Buffer b) {
  return tirc_only_adds(tirc_block_of(block), b) && tirc_sums_start_in_scope(s, block);
}

bool tirc_reads_own_output(Sched *s, SRef *block, Buffer b) {
  /* What a call reads, the block declares. */
  if (tirc_mentions(block, b->data) && tirc_declared_read(tirc_block_of(block), b)) return true;
  return !starts(s, block, b) && !instance_stores_first(s, block, b) &&
         !run_stores_first(s, block, b, NULL, false);
}

/* Of all that it stores to. */
static bool instances_store_first(Sched *s, SRef *block) {
  if (block->asked_first == s->stamp) return block->stores_first;
  bool first = true;
  for (int i = 0; first && i < block->n_accesses[1]; i++) {
    const Buffer b = block->accesses[1][i].buffer;
    first = !(tirc_mentions(block, b->data) && tirc_touches(block, b, false)) &&
            (starts(s, block, b) || instance_stores_first(s, block, b));
  }
  block->asked_first = s->stamp;
  return block->stores_first = first;
}

bool tirc_goes_on_from_last_run(Sched *s, SRef *block, const SRef *loop) {
  if (instances_store_first(s, block)) return false;
  for (int i = 0; i < block->n_accesses[1]; i++) {
    const Buffer b = block->accesses[1][i].buffer;
    if (tirc_mentions(block, b->data) && tirc_touches(block, b, false)) return true;
    if (!run_stores_first(s, block, b, loop, !loop)) return true;
  }
  return false;
}

/* --- what is overwritten ---------------------------------------------------------------------- */

/*   for k in range(4):
 *     block B: vi, vk = i, k           a sum over k
 *     block C: vi, vl = i, k           instance k of C reads the sum of the first k + 1
 *
 * Moved out of loop k, all of C would read the whole sum. A block that does not tell the iterations
 * of k apart runs again in each, and its last run is what stays: it may move, unless it adds to
 * what the runs before stored, or numbers that were not final decide where they stored. So it is,
 * too, where instances of a spatial iterator overwrite each other. */

typedef struct Stores {
  const Block *block;
  Expr iter;
} Stores;

static bool is_own_box(const Region *r, Expr iter) {
  for (int d = 0; d < r->buffer->ndim; d++) {
    const Expr min = r->dims[d].min;
    int64_t extent, step = 1;
    if (!tirc_is_own_place(min, iter) || !tirc_const_int(r->dims[d].extent, &extent)) continue;
    if (min->op == OP_MUL) tirc_const_int(min->args[1], &step);
    if (extent <= step || extent <= -step) return true;
  }
  return false;
}

/* What a call stores to, the block declares. */
static bool stores_elsewhere(const void *self, Stmt s) {
  const Stores *k = self;
  int i = 0;
  if (s->kind == STMT_EVAL && tirc_reads_memory(s->u.eval.value)) {
    while (i < k->block->n_writes && is_own_box(&k->block->writes[i], k->iter)) i++;
    return !i || i < k->block->n_writes;
  }
  if (s->kind != STMT_STORE) return false;
  while (i < s->u.store.n && !tirc_is_own_place(s->u.store.indices[i], k->iter)) i++;
  return i == s->u.store.n;
}

static bool has_own_elements(Tirc *c, const Block *b, Expr iter) {
  const Stmt at = tirc_without_views(c, tirc_block(c, b));
  return !tirc_find_stmt(at->u.block.body, stores_elsewhere, &(Stores){b, iter}, NULL);
}

/* Whether the value is another one in each iteration of the loop: 4 * i + j of both i and j, but
 * i // 4 of no loop. */
static bool moves_with(Expr value, Expr loop_var) {
  if (value == loop_var) return true;
  if (value->op != OP_ADD && value->op != OP_SUB && value->op != OP_MUL) return false;
  const bool first = tirc_uses_var(value->args[0], loop_var);
  if (first == tirc_uses_var(value->args[1], loop_var)) return false;
  const Expr other = value->args[first];
  return moves_with(value->args[!first], loop_var) &&
         (value->op != OP_MUL ||
          (other->op == OP_INT && !tirc_is_int(other, 0) && !tirc_dtype_wraps(value->dtype)));
}

/* Whether a loop further out than this one takes steps of the block's sums: then no iteration of
 * this one has all of them. */
static bool is_summed_around(const Block *b, const SRef *loop) {
  for (const SRef *r = loop->parent; tirc_is_loop(r); r = r->parent)
    if (tirc_kinds_moved(b, tirc_loop_of(r)->var) & ~(1u << ITER_SPATIAL)) return true;
  return false;
}

/* A sum that runs again starts again, if its init is for all of its elements and steps. */
static bool updates_in_place(Sched *s, SRef *block, const SRef *loop) {
  const Block *b = tirc_block_of(block);
  if ((b->init || tirc_inits_by_hand(b)) && is_summed_around(b, loop)) return true;
  return tirc_goes_on_from_last_run(s, block, loop);
}

/* Whether another block in the loop stores to the same buffer: they may take turns. */
static bool has_rival(SRef *producer, const SRef *loop) {
  SRef *scope = tirc_scope_root(producer);
  for (int i = 0; i < producer->n_accesses[true]; i++) {
    const SRefs writers = tirc_writers_of(scope, producer->accesses[true][i].buffer);
    for (int k = 0; k < writers.n; k++)
      if (writers.at[k] != producer && tirc_is_ancestor(loop, writers.at[k])) return true;
  }
  return false;
}

typedef struct Moved { /* what has another value in each iteration of a loop */
  Sched *s;
  const SRef *loop;
  PtrMap vars;
} Moved;

static bool is_moved_part(const void *moved, Expr e) {
  const Moved *m = moved;
  SRef *scope = m->loop->parent;
  if (e->op != OP_LOAD) return e->op == OP_VAR && tirc_map_has(&m->vars, e);
  while (tirc_is_loop(scope)) scope = scope->parent;
  const SRefs writers = tirc_writers_of(scope, e->u.buffer);
  for (int k = 0; k < writers.n; k++)
    if (tirc_is_ancestor(m->loop, writers.at[k])) return true;
  return false;
}

static bool is_moved(const Moved *m, Expr e) { return tirc_find_expr(e, is_moved_part, m); }

static void bind(Moved *m, Expr var, Expr value) {
  if (is_moved(m, value)) tirc_map_set(m->s->c, &m->vars, var, var);
}

/* From the loop inwards to r: what is bound to a value that changes is another one, too. True: a
 * loop in between starts or ends elsewhere. */
static bool bind_down_to(Moved *m, SRef *r) {
  if (r == m->loop) return false;
  bool ends = bind_down_to(m, r->parent);
  const Block *around = tirc_is_block(r->parent) ? tirc_block_of(r->parent) : NULL;
  for (int i = 0; around && i < around->n_iters; i++)
    bind(m, around->iters[i].var, around->iter_values[i]);
  const Steps steps = tirc_steps_between(m->s->c, r);
  for (int i = 0; i < steps.n; i++)
    if (steps.at[i].stmt->kind == STMT_LET)
      bind(m, steps.at[i].stmt->u.let.var, steps.at[i].stmt->u.let.value);
  if (tirc_is_loop(r))
    return is_moved(m, tirc_loop_of(r)->min) || is_moved(m, tirc_loop_of(r)->extent) || ends;
  return ends;
}

/* Whether an instance stores other values in other iterations of the loop: it names the loop's
 * variable, or one that is bound around it in the loop to a value that changes; or a loop in
 * between ends elsewhere, and its sums have other steps. */
static bool stores_other_values_in(Sched *s, SRef *block, const SRef *loop) {
  const Block *b = tirc_block_of(block);
  Moved m = {.s = s, .loop = loop};
  const Expr var = tirc_loop_of(loop)->var;
  tirc_map_set(s->c, &m.vars, var, var);
  if (bind_down_to(&m, block)) return true;
  for (int i = 0; i < b->n_iters; i++) /* by a block around */
    if (!tirc_uses_var(b->iter_values[i], var) && !has_own_elements(s->c, b, b->iters[i].var))
      bind(&m, b->iters[i].var, b->iter_values[i]);
  return (b->init && tirc_stmt_uses_any(b->init, &m.vars)) || tirc_stmt_uses_any(b->body, &m.vars);
}

/* Whether it leaves out iterations of the loop, and not just the last ones: then what it stores
 * again and again is not there from the start. */
static bool starts_late(Sched *s, SRef *producer, const SRef *loop) {
  const For *f = tirc_loop_of(loop);
  const Expr condition = tirc_condition_of(s, producer, loop);
  const Moved changed = {.s = s, .loop = loop};
  PtrMap start = {0};
  tirc_map_set(s->c, &start, f->var, f->min);
  Analyzer *a = tirc_analyzer_around(s, producer->parent);
  if (condition && !is_moved(&changed, condition) &&
      tirc_holds_at_start(s->c, a, condition, &start))
    return false;
  return tirc_is_guarded(s, producer, loop) || !tirc_domain_implies_predicate(s, producer);
}

typedef struct Unfolded { /* the iterators of a block and of those around it in a loop */
  int n;
  IterVar *iters;
  Expr *values, predicate; /* in terms of loops */
  LoopDomain loops;
} Unfolded;

static Unfolded unfold(Sched *s, SRef *block, const SRef *loop) {
  Unfolded u = {.predicate = tirc_block_of(block)->predicate};
  int most = 1;
  for (SRef *r = block; r != loop; r = r->parent)
    if (tirc_is_block(r)) most += tirc_block_of(r)->n_iters;
  u.iters = tirc_new_array(s->c, IterVar, most);
  u.values = tirc_new_array(s->c, Expr, most);
  for (SRef *r = block; r != loop; r = r->parent) {
    if (!tirc_is_block(r)) continue;
    const Block *b = tirc_block_of(r);
    PtrMap bindings = {0};
    tirc_bindings_of(s->c, r->stmt, &bindings);
    for (int i = 0; i < u.n; i++) u.values[i] = tirc_substitute(s->c, u.values[i], &bindings);
    if (r != block) u.predicate = tirc_substitute(s->c, u.predicate, &bindings);
    for (int i = 0; i < b->n_iters; i++) {
      u.iters[u.n] = b->iters[i];
      u.values[u.n++] = b->iter_values[i];
    }
    u.loops = tirc_all_loops(s->c, u.loops, tirc_loop_domain(s, r->parent, NULL, STORAGE_GLOBAL));
  }
  return u;
}

/* Whether each iteration of the loop stores to elements of its own: by one iterator, or by all that
 * stand on it, as f // 4 and f % 4 do. */
static bool stores_apart(Sched *s, SRef *block, const SRef *loop) {
  const Block *b = tirc_block_of(block);
  const Expr loop_var = tirc_loop_of(loop)->var;
  Unfolded u = unfold(s, block, loop);
  Expr *values = tirc_new_array(s->c, Expr, u.n + 1);
  int n = 0;
  for (int i = 0; i < u.n; i++) {
    if (!tirc_uses_var(u.values[i], loop_var) || !has_own_elements(s->c, b, u.iters[i].var))
      continue;
    if (moves_with(u.values[i], loop_var)) return true;
    values[n++] = u.values[i];
  }
  u.loops = tirc_used_loops(u.loops, n, values);
  return n && tirc_tells_apart(s, n, values, &u.loops, u.predicate);
}

bool tirc_goes_on_in(Sched *s, SRef *producer, const SRef *loop) {
  const Block *b = tirc_block_of(producer);
  const Expr loop_var = tirc_loop_of(loop)->var;
  bool meets = false;
  for (int i = 0; i < b->n_iters; i++) {
    if (!tirc_uses_var(b->iter_values[i], loop_var)) continue;
    const bool own = has_own_elements(s->c, b, b->iters[i].var);
    if (b->iters[i].kind != ITER_SPATIAL && !own) return true;
    meets |= !own;
  }
  return !stores_apart(s, producer, loop) &&
         (updates_in_place(s, producer, loop) || has_rival(producer, loop) ||
          stores_other_values_in(s, producer, loop) || starts_late(s, producer, loop) ||
          (meets && tirc_instances_depend(s, producer)));
}

/* The producer, if it goes on in the loop, or one from which it gets the values that it stores to
 * the same elements again. */
static SRef *unfinished_in(Sched *s, SRef *producer, const SRef *loop, PtrMap *seen) {
  SRef *found = NULL;
  if (!tirc_is_ancestor(loop, producer) || tirc_map_has(seen, producer)) return NULL;
  tirc_map_set(s->c, seen, producer, producer);
  if (tirc_goes_on_in(s, producer, loop)) return producer;
  if (stores_apart(s, producer, loop)) return NULL;
  const SRefs others = tirc_producers(s, producer, tirc_scope_root(producer));
  for (int i = 0; i < others.n && !found; i++) found = unfinished_in(s, others.at[i], loop, seen);
  return found;
}

typedef struct Choice { /* what a block decides by what is not final in a loop */
  Sched *s;
  SRef *loop;
  PtrMap vars, stored;      /* let from it; memory that the block stores to itself */
  bool early, open, chosen; /* open: an expression that was looked at is not final */
} Choice;

static bool is_open_memory(const Choice *k, Expr data) {
  if (tirc_map_has(&k->stored, data)) return true;
  const Buffers loose = tirc_loose_stores(k->s, k->loop);
  for (int i = 0; i < loose.n; i++)
    if (loose.at[i]->data == data) return true;
  const SRefs blocks = tirc_child_blocks(k->s, k->loop);
  for (int n = 0; n < blocks.n; n++)
    for (int i = 0; i < blocks.at[n]->n_accesses[true]; i++) {
      PtrMap seen = {0};
      if (blocks.at[n]->accesses[true][i].buffer->data == data &&
          unfinished_in(k->s, blocks.at[n], k->loop, &seen))
        return true;
    }
  return false;
}

static bool is_open(Choice *k, Expr e);

static void look_at_let(Choice *k, Expr var, Expr value) {
  if (is_open(k, value)) tirc_map_set(k->s->c, &k->vars, var, var);
}

static bool see_open(Visitor *v, Expr e) {
  Choice *k = v->self;
  if (e->op == OP_LET) look_at_let(k, e->args[0], e->args[1]);
  if (e->op == OP_VAR)
    k->open |= tirc_map_has(&k->vars, e) || (e->dtype.code == TYPE_HANDLE && is_open_memory(k, e));
  if (e->op == OP_LOAD) k->open |= is_open_memory(k, e->u.buffer->data);
  return !k->open;
}

static bool is_open(Choice *k, Expr e) {
  const bool before = k->open;
  k->open = false;
  tirc_visit_expr(&(Visitor){.expr = see_open, .self = k}, e);
  const bool open = k->open;
  k->open = before;
  return open;
}

static bool see_choice(Visitor *v, Stmt s) {
  Choice *k = v->self;
  switch (s->kind) {
  case STMT_IF: k->chosen |= is_open(k, s->u.branch.cond); break;
  case STMT_FOR: k->chosen |= is_open(k, s->u.loop.min) || is_open(k, s->u.loop.extent); break;
  case STMT_BLOCK:
    k->chosen |= is_open(k, s->u.block.predicate);
    for (int i = 0; i < s->u.block.n_iters; i++) k->chosen |= is_open(k, s->u.block.iter_values[i]);
    break;
  case STMT_STORE:
    for (int i = 0; i < s->u.store.n; i++) k->chosen |= is_open(k, s->u.store.indices[i]);
    break;
  case STMT_LET: look_at_let(k, s->u.let.var, s->u.let.value); break;
  case STMT_WHILE: k->chosen |= is_open(k, s->u.loop_while.cond); break;
  case STMT_ASSERT: k->chosen |= k->early && is_open(k, s->u.check.cond); break;
  case STMT_EVAL: k->chosen |= is_open(k, s->u.eval.value); break;
  default: break;
  }
  return !k->chosen;
}

/* What can be done with other numbers may fail with these: an index, a divisor. */
static bool see_failing(Visitor *v, Expr e) {
  Choice *k = v->self;
  if (e->op == OP_LET) look_at_let(k, e->args[0], e->args[1]);
  for (int i = 0; e->op == OP_LOAD && i < e->n; i++) k->chosen |= is_open(k, e->args[i]);
  if (tirc_divides(e)) k->chosen |= is_open(k, e->args[1]);
  return !k->chosen;
}

static bool see_stored(Visitor *v, Stmt s) {
  Choice *k = v->self;
  if (s->kind == STMT_STORE)
    tirc_map_set(k->s->c, &k->stored, s->u.store.buffer->data, s->u.store.buffer);
  return true;
}

/* Whether numbers that are not final in the loop decide which elements the block stores: what it
 * stores with them, it may not overwrite when they are. `early`: or whether it can store any, where
 * it did not see them before. */
static bool chooses_in(Sched *s, SRef *block, SRef *loop, bool early) {
  Choice k = {.s = s, .loop = loop, .early = early};
  const Stmt at = tirc_without_views(s->c, block->stmt);
  tirc_visit_stmts(at, see_stored, &k);
  Visitor v = {.stmt = see_choice, .expr = early ? see_failing : tirc_skip_expr, .self = &k};
  tirc_visit_stmt(&v, at);
  return k.chosen;
}

static bool binds(const Block *b, const PtrMap *vars) {
  bool uses = tirc_uses_any(b->predicate, vars);
  for (int i = 0; i < b->n_iters; i++) uses |= tirc_uses_any(b->iter_values[i], vars);
  return uses;
}

/* Whether a condition may leave out the last iteration of the loop. */
static bool stops_early(Sched *s, SRef *block, const SRef *loop, PtrMap *moved) {
  const For *f = tirc_loop_of(loop);
  const Expr condition = tirc_condition_of(s, block, loop);
  if (!condition) return true;
  if (!tirc_uses_any(condition, moved)) return false;
  PtrMap end = {0};
  tirc_map_remove(moved, f->var);
  if (tirc_uses_any(condition, moved)) return true;
  const Expr last = tirc_sub(s->c, f->extent, tirc_int(s->c, f->extent->dtype, 1));
  tirc_map_set(s->c, &end, f->var, tirc_add(s->c, f->min, last));
  return !tirc_holds_at_start(s->c, tirc_analyzer_around(s, block->parent), condition, &end);
}

/* Whether the block, or one inside of it, runs other instances in other iterations of the loop. */
static bool tells_apart_in(Sched *s, SRef *block, const SRef *loop) {
  const Expr var = tirc_loop_of(loop)->var;
  Moved m = {.s = s, .loop = loop};
  tirc_map_set(s->c, &m.vars, var, var);
  if (bind_down_to(&m, block)) return true;
  for (const SRef *r = block->parent; r != loop; r = r->parent)
    if (tirc_is_block(r) && binds(tirc_block_of(r), &m.vars)) return true;
  return tirc_stmt_uses_any(block->stmt, &m.vars) || stops_early(s, block, loop, &m.vars);
}

/* Whether what several runs of the block leave is more than what the last of them does. */
static bool keeps_more(Sched *s, SRef *block, SRef *loop, bool early) {
  return updates_in_place(s, block, loop) || chooses_in(s, block, loop, early);
}

/* Whether `reader` sees what the producer stores before that is done, in a loop that is not around
 * `to`. */
static bool reads_between(Sched *s, SRef *producer, SRef *reader, const SRef *to) {
  bool shares = false;
  for (SRef *r = producer->parent; tirc_is_loop(r); r = r->parent) {
    if (!tirc_is_ancestor(r, reader) || tirc_is_ancestor(r, to)) continue;
    if (tirc_is_int(tirc_loop_of(r)->extent, 1)) continue;
    if (tirc_goes_on_in(s, producer, r) &&
        (tells_apart_in(s, reader, r) || keeps_more(s, reader, r, false)))
      return true;
    shares = true;
  }
  return shares && tirc_instances_depend(s, producer);
}

typedef struct Blocks {
  SRefs of;
  PtrMap seen;
} Blocks;

/* The block and, one after the other, those from which it gets or to which it gives values in loops
 * that are not around `to`. */
static void add_blocks(Sched *s, SRef *block, const SRef *to, bool readers, Blocks *out) {
  SRef *scope = tirc_scope_root(block);
  if (tirc_map_has(&out->seen, block)) return;
  tirc_map_set(s->c, &out->seen, block, block);
  vec_push(s->c, out->of, block);
  const SRefs others = (readers ? tirc_consumers : tirc_producers)(s, block, scope);
  for (int i = 0; i < others.n; i++) {
    SRef *shared = tirc_common_ancestor(2, (SRef *[]){others.at[i], block});
    if (tirc_is_loop(shared) && !tirc_is_ancestor(shared, to))
      add_blocks(s, others.at[i], to, readers, out);
  }
}

bool tirc_is_read_between(Sched *s, SRef *block, const SRef *to, SRef **producer, SRef **reader) {
  Blocks producers = {0}, readers = {0};
  add_blocks(s, block, to, false, &producers);
  add_blocks(s, block, to, true, &readers);
  for (int i = 0; i < producers.of.n; i++)
    for (int k = 0; k < readers.of.n; k++) {
      *producer = producers.of.at[i];
      *reader = readers.of.at[k];
      if (*producer != *reader && reads_between(s, *producer, *reader, to)) return true;
    }
  return false;
}

SRef *tirc_unfinished_producer(Sched *s, SRef *block, SRef *loop, Stmt nest) {
  const SRefs direct = tirc_producers(s, block, tirc_scope_root(block));
  SRef *found = NULL;
  for (SRef *r = loop; tirc_is_loop(r) && !tirc_is_ancestor(r, block); r = r->parent) {
    const For *f = tirc_loop_of(r);
    PtrMap seen = {0};
    if (tirc_is_int(f->extent, 1)) continue;
    if (!tirc_stmt_uses_var(nest, f->var) && !keeps_more(s, block, r, true)) continue;
    for (int i = 0; i < direct.n && !found; i++) found = unfinished_in(s, direct.at[i], r, &seen);
  }
  return found;
}

bool tirc_reads_fewer_states(Sched *s, SRef *block, SRef *instead) {
  Blocks producers = {0};
  SRef *scope = tirc_scope_root(block);
  add_blocks(s, block, scope, false, &producers);
  for (SRef *r = block->parent; r != scope; r = r->parent) {
    if (!tirc_is_ancestor(r, instead) || tirc_is_int(tirc_loop_of(r)->extent, 1) ||
        !tells_apart_in(s, block, r))
      continue;
    if (tirc_goes_on_in(s, instead, r)) return true;
    if (stores_apart(s, instead, r)) continue;
    for (int i = 1; i < producers.of.n; i++)
      if (tirc_is_ancestor(r, producers.of.at[i]) &&
          (tirc_stmt_uses_var(producers.of.at[i]->stmt, tirc_loop_of(r)->var) ||
           tirc_goes_on_in(s, producers.of.at[i], r)))
        return true;
  }
  return false;
}
