/* The test behind reorder, as far as the init of a reduction goes: for each element it must stay
 * the first that runs, and run again when all is added once more. */
#include "order.h"

#include "../../ir/visit.h"
#include "index_eval.h"
#include "internal.h"
#include "places.h"
#include "spatial.h"

enum { MAX_INSTANCES = 1 << 18, MAX_AT_ALL_PLACES = 1 << 21 };

/* The bit 1 << IterKind of each iterator of a block that the loop moves. */
static unsigned kinds_moved(const Block *b, const SRef *loop) {
  unsigned kinds = 0;
  for (int i = 0; i < b->n_iters; i++)
    if (tirc_uses_var(b->iter_values[i], tirc_loop_of(loop)->var)) kinds |= 1u << b->iters[i].kind;
  return kinds;
}

/* How many loops of the reduction stand above this one in a nest. */
static int sums_above(const Block *b, SRef *const *nest, const SRef *loop) {
  int n = 0;
  for (; *nest != loop; nest++) n += (kinds_moved(b, *nest) & (1u << ITER_REDUCE)) != 0;
  return n;
}

/* No two iterations of the loops below `high` run the same instance. */
static bool runs_once(Sched *s, SRef *block, SRef *high) {
  const LoopDomain d = tirc_loop_domain(s, block->parent, high, NULL);
  return tirc_runs_once(s, block, &d, tirc_block_of(block)->predicate);
}

/* --- running ---------------------------------------------------------------------------------
 */

typedef struct First { /* of one element: when its first instance runs, and when its init does */
  uint64_t key;        /* 0: none */
  int64_t instance, init;
  uint64_t sum[2]; /* a hash of all that is added since the last init, in two orders */
} First;
typedef struct Nest {
  IndexEval env;
  SRef *scope;
  const Block *block;
  int n, n_outer; /* loops above the block in its scope, and those outside of what is reordered */
  const For *const *loops;
  Expr condition; /* whether an instance runs */
  Expr around;    /* whether any does inside of the outer loops: it may be that nobody knows yet */
  int n_places;   /* all those of what is around the scope, if the block is about that */
  bool ran;       /* an instance did */
  First *table;   /* a hash table of twice as many places as there are instances */
  uint64_t mask;
  int64_t now;
  int run; /* the number of the order */
} Nest;

typedef struct Named {
  const Nest *nest;
  bool other; /* a variable of no loop in it */
} Named;

static bool see_name(Visitor *v, Expr e) {
  Named *k = v->self;
  bool own = e->op != OP_VAR;
  for (int i = 0; i < k->nest->n && !own; i++) own = k->nest->loops[i]->var == e;
  k->other |= !own;
  return !k->other;
}

static bool is_about_others(const Nest *nest) {
  Named k = {.nest = nest};
  Visitor v = {.expr = see_name, .self = &k};
  tirc_visit_expr(&v, nest->condition);
  tirc_visit_expr(&v, nest->around);
  for (int i = 0; i < nest->block->n_iters; i++) tirc_visit_expr(&v, nest->block->iter_values[i]);
  return k.other;
}

/* What is the same for all instances inside of the outer loops is a matter of these. */
static void split_condition(Tirc *c, Nest *nest, Expr condition, bool loads_change) {
  PtrMap inside = {0};
  for (int i = nest->n_outer; i < nest->n; i++) {
    const Expr var = nest->loops[i]->var;
    tirc_map_set(c, &inside, var, var);
  }
  nest->around = loads_change ? tirc_bool(c, true) : tirc_conjuncts(c, condition, &inside, false);
  nest->condition = loads_change ? condition : tirc_conjuncts(c, condition, &inside, true);
}

/* `first`: the outermost loop of which the instances are compared. False: it is too long, or not
 * known how long, or stands at too many places. */
static bool open_nest(Sched *s, Nest *nest, int first) {
  int64_t instances = 1, compared = 1, min, extent;
  for (int i = 0; i < nest->n; i++) {
    const For *f = nest->loops[i];
    if (!tirc_const_int(f->min, &min) || !tirc_const_int(f->extent, &extent)) return false;
    instances *= extent;
    if (i >= first) compared *= extent;
    if (instances <= 0 || instances > MAX_INSTANCES) return false;
  }
  nest->env = (IndexEval){.c = s->c};
  for (nest->mask = 1; nest->mask < (uint64_t)compared * 2;) nest->mask *= 2;
  nest->table = tirc_new_array(s->c, First, nest->mask);
  nest->mask--;
  const bool about_others = is_about_others(nest);
  nest->n_places = about_others ? tirc_n_places(nest->scope) : 1;
  if (about_others && !tirc_are_all_places(nest->scope)) return false;
  return nest->n_places <= MAX_AT_ALL_PLACES / instances;
}

static void start(Nest *nest) {
  memset(nest->table, 0, sizeof *nest->table * (nest->mask + 1));
  nest->now = nest->run = 0;
}

/* False: nothing runs there. Where the only one stands for all, something may in another one. */
static bool go_to(Nest *nest, int place) {
  const PlaceState state = tirc_go_to_place(&nest->env, nest->scope, place, false);
  return state != PLACE_EMPTY || nest->n_places == 1;
}

static First *first_of(Nest *nest, uint64_t key) {
  uint64_t k = key & nest->mask;
  while (nest->table[k].key && nest->table[k].key != key) k = (k + 1) & nest->mask;
  return &nest->table[k];
}

static uint64_t mixed(uint64_t key, int64_t value) {
  key = (key ^ (uint64_t)value) * 0x9e3779b97f4a7c15u;
  return key ^ key >> 29;
}

static bool run_instance(Nest *nest) {
  const Block *b = nest->block;
  int64_t value, start;
  uint64_t key = 0, step = 0;
  bool init = true, holds;
  nest->now++;
  if (tirc_eval_condition(&nest->env, nest->around, &holds) && !holds) return true;
  if (!tirc_eval_condition(&nest->env, nest->condition, &holds)) return false;
  if (!holds) return true;
  nest->ran = true;
  for (int i = 0; i < b->n_iters; i++) {
    if (!tirc_eval_index(&nest->env, b->iter_values[i], &value)) return false;
    if (b->iters[i].kind == ITER_REDUCE) {
      if (!tirc_const_int(b->iters[i].dom.min, &start)) return false;
      init &= value == start;
      step = mixed(step, value);
    } else {
      key = mixed(key, value);
    }
  }
  First *first = first_of(nest, key | 1);
  if (!first->key) *first = (First){.key = key | 1, .instance = nest->now};
  if (init && !first->init) first->init = nest->now;
  first->sum[nest->run] = (init ? 0 : first->sum[nest->run]) + mixed(step, 1);
  return true;
}

static bool run_from(Nest *nest, int depth) {
  if (depth == nest->n) return run_instance(nest);
  const For *f = nest->loops[depth];
  int64_t min, extent;
  bool known = tirc_const_int(f->min, &min) && tirc_const_int(f->extent, &extent);
  for (int64_t i = 0; known && i < extent; i++) {
    tirc_eval_give(&nest->env, f->var, min + i);
    known = run_from(nest, depth + 1);
  }
  return known;
}

static bool init_comes_first(Sched *s, Nest *nest) {
  ArenaMark mark = tirc_mark(s->c);
  bool good = open_nest(s, nest, 0);
  for (int place = 0; good && place < nest->n_places; place++) {
    if (!go_to(nest, place)) continue;
    start(nest);
    good = run_from(nest, 0);
    for (uint64_t k = 0; good && k <= nest->mask; k++)
      good = nest->table[k].instance == nest->table[k].init;
  }
  tirc_rewind(s->c, mark);
  return good && nest->ran;
}

bool tirc_init_comes_first(Sched *s, SRef *scope, int n, const For *const *loops,
                           const Block *block, Expr condition) {
  Nest nest = {.scope = scope, .block = block, .n = n, .loops = loops};
  split_condition(s->c, &nest, condition, tirc_reads_memory(condition));
  return init_comes_first(s, &nest);
}

/* Those of the chain in their new order. */
static const For **new_order(Sched *s, int n, SRef *const *order, const Nest *nest) {
  const For **loops = tirc_copy(s->c, nest->loops, nest->n);
  for (int i = 0; i < n; i++) loops[nest->n_outer + i] = tirc_loop_of(order[i]);
  return loops;
}

/* The loops above a block of the chain. False: a `while` decides whether it runs. */
static bool nest_of(Sched *s, SRef *const *chain, SRef *block, Nest *out) {
  SRef **above, *scope = tirc_scope_root(s, block);
  const Expr condition = tirc_condition_of(s, block, scope);
  if (!condition) return false;
  *out = (Nest){.scope = scope, .block = tirc_block_of(block)};
  out->n = tirc_loops_above(s, block, &above);
  while (above[out->n_outer] != chain[0]) out->n_outer++;
  const For **loops = tirc_new_array(s->c, const For *, out->n + 1);
  for (int i = 0; i < out->n; i++) loops[i] = tirc_loop_of(above[i]);
  out->loops = loops;
  split_condition(s->c, out, condition, tirc_loads_change(s, chain[0], condition));
  return true;
}

static bool starts_with_init(Sched *s, int n, SRef *const *chain, SRef *const *order, SRef *block) {
  Nest nest;
  if (!runs_once(s, block, tirc_scope_root(s, block)) || !nest_of(s, chain, block, &nest))
    return false;
  nest.loops = new_order(s, n, order, &nest);
  return init_comes_first(s, &nest);
}

/* Of a block that computes its sums several times. */
typedef enum SumsKept { SUMS_KEPT, SUMS_CHANGED, SUMS_UNKNOWN } SumsKept;

static SumsKept compare(Nest *nest, const For *const *turned) {
  const For *const *loops = nest->loops;
  start(nest);
  bool known = run_from(nest, nest->n_outer);
  nest->loops = turned;
  nest->run = 1;
  known = known && run_from(nest, nest->n_outer);
  nest->loops = loops;
  if (!known) return SUMS_UNKNOWN;
  for (uint64_t k = 0; k <= nest->mask; k++)
    if (nest->table[k].sum[0] != nest->table[k].sum[1]) return SUMS_CHANGED;
  return SUMS_KEPT;
}

/* In each iteration of the outer loops for itself: some of them may not run. */
static SumsKept compare_from(Nest *nest, int depth, const For *const *turned) {
  if (depth == nest->n_outer) return compare(nest, turned);
  const For *f = nest->loops[depth];
  SumsKept kept = SUMS_KEPT;
  int64_t min, extent;
  if (!tirc_const_int(f->min, &min) || !tirc_const_int(f->extent, &extent)) return SUMS_UNKNOWN;
  for (int64_t i = 0; i < extent && kept == SUMS_KEPT; i++) {
    tirc_eval_give(&nest->env, f->var, min + i);
    kept = compare_from(nest, depth + 1, turned);
  }
  return kept;
}

static SumsKept run_both(Sched *s, int n, SRef *const *chain, SRef *const *order, SRef *block) {
  Nest nest;
  if (!nest_of(s, chain, block, &nest)) return SUMS_UNKNOWN;
  const For **turned = new_order(s, n, order, &nest);
  ArenaMark mark = tirc_mark(s->c);
  SumsKept kept = open_nest(s, &nest, nest.n_outer) ? SUMS_KEPT : SUMS_UNKNOWN;
  for (int place = 0; kept == SUMS_KEPT && place < nest.n_places; place++)
    if (go_to(&nest, place)) kept = compare_from(&nest, 0, turned);
  tirc_rewind(s->c, mark);
  return kept == SUMS_KEPT && !nest.ran ? SUMS_UNKNOWN : kept;
}

static _Noreturn void init_lost(Sched *s, const Block *b, const SRef *loop, const char *what) {
  tirc_sched_mark(s, loop->stmt);
  tirc_sched_error(s, SERR_ORDER_MATTERS,
                   tirc_format(s->c, "loop %s %s", tirc_loop_of(loop)->var->u.s, what), NULL,
                   "in the new order of the loops the init of block %s would not run when it must",
                   b->name);
}

typedef struct InitStore {
  Stmt store; /* of the init */
  bool updated, mixed;
} InitStore;

static bool see_update(Visitor *v, Stmt s) {
  InitStore *k = v->self;
  if (s->kind != STMT_STORE || s->u.store.buffer != k->store->u.store.buffer) return true;
  int d = 0;
  while (d < s->u.store.n && tirc_expr_same(s->u.store.indices[d], k->store->u.store.indices[d]))
    d++;
  k->updated |= d == s->u.store.n;
  k->mixed |= d < s->u.store.n;
  return true;
}

/* By sight for stores directly in the init. Where it is a nest, and where several stores of one
 * instance may lie between those of another one, the instances are run, which says little where it
 * is not known which of them do. */
bool tirc_init_is_elsewhere(Sched *s, SRef *block) {
  const Block *b = tirc_block_of(block);
  const int n = !b->init ? 0 : b->init->kind == STMT_SEQ ? b->init->u.seq.n : 1;
  bool mixed = false;
  for (int i = 0; i < n; i++) {
    InitStore k = {.store = b->init->kind == STMT_SEQ ? tirc_item(b->init, i) : b->init};
    if (k.store->kind != STMT_STORE) continue;
    tirc_visit_stmt(&(Visitor){.stmt = see_update, .self = &k}, b->body);
    if (!k.updated) return true;
    mixed |= k.mixed;
  }
  const LoopDomain loops = tirc_loop_domain(s, block->parent, NULL, NULL);
  if (mixed && (!tirc_is_about(b->predicate, &loops) ||
                tirc_is_guarded(s, block, tirc_scope_root(s, block))))
    return true;
  return b->init && tirc_instances_depend(s, block);
}

/* Whether the loops of the reduction, with all others standing still, never take the same step
 * twice. */
static bool steps_once(Sched *s, SRef *block, SRef *high) {
  const Block *b = tirc_block_of(block);
  LoopDomain d = tirc_loop_domain(s, block->parent, high, NULL), steps = d;
  Expr *values = tirc_new_array(s->c, Expr, b->n_iters + 1);
  int n = 0;
  for (int i = 0; i < b->n_iters; i++)
    if (b->iters[i].kind == ITER_REDUCE) values[n++] = b->iter_values[i];
  steps.n = 0;
  for (int k = 0; k < d.n; k++)
    for (int i = 0; i < n; i++)
      if (tirc_uses_var(values[i], d.vars[k])) {
        steps.vars[steps.n] = d.vars[k];
        steps.doms[steps.n++] = d.doms[k];
        break;
      }
  for (int with = 0; with < 2; with++)
    if (tirc_detect_iter_map(tirc_analyzer(s->c), n, values, steps.n, steps.vars, steps.doms,
                             with ? b->predicate : NULL, ITER_LEVEL_BIJECTIVE, true, NULL))
      return true;
  return false;
}

/* Whether a loop of the reduction stands inside of other loops of it than before. */
static bool reorders_steps(const Block *b, int n, SRef *const *chain, SRef *const *order) {
  const SRef *last = NULL;
  for (int i = 0; i < n; i++) {
    if (!(kinds_moved(b, chain[i]) & 1u << ITER_REDUCE)) continue;
    for (int k = 0; last && k < n && order[k] != last; k++)
      if (order[k] == chain[i]) return true;
    last = chain[i];
  }
  return false;
}

/* Whether a condition may leave out steps of a reduction, and its init with them. */
static bool leaves_out_steps(Sched *s, SRef *block) {
  const SRef *scope = tirc_scope_root(s, block);
  const Expr condition = tirc_condition_of(s, block, scope);
  for (const SRef *r = block->parent; condition && r != scope; r = r->parent)
    if (kinds_moved(tirc_block_of(block), r) & 1u << ITER_REDUCE &&
        tirc_uses_var(condition, tirc_loop_of(r)->var))
      return true;
  return !condition;
}

/* Loops that repeat a reduction, or parts of it, must go on to do so, and its steps must not mix
 * with those of its repetition, nor follow another one if they lack the init. Short nests are run.
 * True: then all is known. */
static bool keeps_repeated_sums(Sched *s, int n, SRef *const *chain, SRef *const *order,
                                SRef *block) {
  const Block *b = tirc_block_of(block);
  const SRef *crosses = NULL;
  for (int i = 0; i < n && !crosses; i++)
    if (!(kinds_moved(b, chain[i]) & 1u << ITER_REDUCE) &&
        !tirc_is_int(tirc_loop_of(chain[i])->extent, 1) &&
        sums_above(b, order, chain[i]) != sums_above(b, chain, chain[i]))
      crosses = chain[i];
  const bool mixes = reorders_steps(b, n, chain, order);
  const bool lacks = leaves_out_steps(s, block);
  if ((!crosses && !mixes && !lacks) || runs_once(s, block, chain[0]->parent)) return false;
  const SumsKept kept = run_both(s, n, chain, order, block);
  if (kept == SUMS_KEPT) return true;
  if (crosses) init_lost(s, b, crosses, "would repeat other parts of the reduction");
  if (kept == SUMS_CHANGED || lacks || !steps_once(s, block, chain[0]->parent))
    init_lost(s, b, chain[0], "runs the reduction again, and its parts would mix");
  return false;
}

/* The init of a reduction runs where its reduction iterators are at their start; for each element
 * that must come first, and again when all is added once more. Loops of one kind only may take any
 * place. Parts of one fused loop that mix the kinds count up as one number in their old order; in
 * another one it is run. */
void tirc_require_init_first(Sched *s, int n, SRef *const *chain, SRef *const *order, SRef *block) {
  const unsigned both = 1u << ITER_SPATIAL | 1u << ITER_REDUCE;
  const Block *b = tirc_block_of(block);
  int at = 0;
  if (tirc_init_is_elsewhere(s, block))
    init_lost(s, b, chain[0], "would start sums in another order, which are not the block's own");
  bool has_init = b->init;
  for (int i = 0; i < b->n_writes; i++)
    has_init = has_init || tirc_starts_with_init(b, b->writes[i].buffer);
  for (int i = 0; i < b->n_matches; i++)
    has_init = has_init || tirc_starts_with_init(b, b->matches[i].buffer);
  if (has_init && !b->init && tirc_instances_depend(s, block))
    init_lost(s, b, chain[0], "would start sums in another order, and they may be one");
  if (!has_init || keeps_repeated_sums(s, n, chain, order, block)) return;
  for (int i = 0; i < n; i++) {
    if ((kinds_moved(b, chain[i]) & both) != both) continue;
    while ((kinds_moved(b, order[at]) & both) != both) at++;
    if (order[at++] == chain[i]) continue;
    if (!starts_with_init(s, n, chain, order, block))
      init_lost(s, b, chain[i], "moves spatial and reduction iterators at once");
    return;
  }
}
