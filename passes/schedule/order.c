/* The test behind reorder: would two accesses to the same element, at least one of them a write,
 * change places?
 *
 * First by looking. A buffer is safe when one block only uses it, and that block either loads
 * exactly the elements that it stores (an update, as of a reduction: additions may come in any
 * order, update_commutes.c), or does not load it and stores each element from one instance. That is
 * nearly every block there is.
 *
 * What remains (a shift in place, a skew, a producer and its consumer in one loop body) is run: the
 * nest's iterations in their old order, on index arithmetic alone. Each access has its time in the
 * new order; for each element the latest new time of a write and of a read so far is kept, and an
 * access that comes later in the old order but earlier in the new one has lost its place. Long
 * loops are cut short: dependences are between neighbours. An index that is loaded may be any. A
 * view whose address goes into a call stands for its first element. What is found is certain; what
 * involves elements far apart in a large nest may be missed. */
#include "order.h"

#include "../../ir/print.h"
#include "../../ir/visit.h"
#include "index_eval.h"
#include "internal.h"
#include "places.h"
#include "plain.h"

#include "ir/access.h"

#include <math.h>

enum { MAX_STEPS = 1 << 16, ALL_STEPS = 1 << 21, INNER_LIMIT = 64, LEAST_INNER_LIMIT = 8 };

/* --- looking --------------------------------------------------------------------------------- */

/* How one block uses one buffer. */
typedef struct Use {
  Tirc *c;
  SRef *block;
  Buffer buffer;
  const PtrMap *opaque;
  int loads, stores;
  int n;
  const Expr *indices; /* of the first access */
  bool same_indices;   /* all accesses have them */
  bool constant;       /* all that is stored does not depend on anything */
} Use;

static void add_access(Use *u, int n, const Expr *indices) {
  if (u->loads + u->stores == 0) {
    u->n = n;
    u->indices = indices;
    u->same_indices = true;
    u->constant = true;
    return;
  }
  for (int i = 0; i < n && u->same_indices; i++)
    u->same_indices = n == u->n && tirc_expr_same(indices[i], u->indices[i]);
}

static bool look_at_expr(Visitor *v, Expr e) {
  Use *u = v->self;
  if (e->op == OP_LOAD && e->u.buffer == u->buffer) {
    add_access(u, e->n, e->args);
    u->loads++;
  }
  return true;
}

static const Expr *start_of(Tirc *c, const Region *shown) {
  Expr *start = tirc_new_array(c, Expr, shown->buffer->ndim + 1);
  for (int k = 0; k < shown->buffer->ndim; k++) start[k] = shown->dims[k].min;
  return start;
}

static void look_at_opaque(Use *u, const Opaques *opaque) {
  for (int i = 0; opaque && i < opaque->n; i++) {
    const Opaque *o = &opaque->at[i];
    if (o->shown.buffer != u->buffer) continue;
    add_access(u, u->buffer->ndim, start_of(u->c, &o->shown));
    u->loads += o->read;
    u->stores += o->written;
    u->constant = false;
  }
}

static void look_at_extents(Visitor *v, Buffer made) {
  for (int i = 0; i < made->ndim; i++) tirc_visit_expr(v, made->shape[i]);
}

static bool look_at_stmt(Visitor *v, Stmt stmt) {
  Use *u = v->self;
  if (stmt->kind == STMT_BLOCK) {
    look_at_opaque(u, tirc_map_get(u->opaque, stmt));
    for (int i = 0; i < stmt->u.block.n_allocs; i++) look_at_extents(v, stmt->u.block.allocs[i]);
  }
  if (stmt->kind == STMT_ALLOC) look_at_extents(v, stmt->u.alloc.buffer);
  if (stmt->kind == STMT_STORE && stmt->u.store.buffer == u->buffer) {
    add_access(u, stmt->u.store.n, stmt->u.store.indices);
    u->stores++;
    Op op = (Op)stmt->u.store.value->op;
    u->constant &= op == OP_INT || op == OP_FLOAT;
  }
  return true;
}

static Use use_of(Sched *s, const Plain *plain, SRef *block, Buffer b) {
  Use u = {.c = s->c, .block = block, .buffer = b, .opaque = &plain->opaque};
  Visitor v = {.stmt = look_at_stmt, .expr = look_at_expr, .self = &u};
  const Stmt at = tirc_map_get(&plain->blocks, block);
  look_at_stmt(&v, at);
  tirc_visit_expr(&v, at->u.block.predicate);
  for (int i = 0; i < at->u.block.n_iters; i++) {
    tirc_visit_expr(&v, at->u.block.iters[i].dom.min);
    tirc_visit_expr(&v, at->u.block.iters[i].dom.extent);
    tirc_visit_expr(&v, at->u.block.iter_values[i]);
  }
  tirc_visit_stmt(&v, at->u.block.body);
  return u;
}

/* Whether the block's own instances may run in any order, as far as this buffer goes. */
static bool is_update(Sched *s, const Use *u, bool once) {
  return u->loads && u->same_indices &&
         (once || tirc_update_commutes(s->c, tirc_block_of(u->block)));
}

/* Whether different instances of the block store different elements. */
static bool stores_once(Sched *s, const Use *u) {
  const Block *b = tirc_block_of(u->block);
  VEC(Expr) vars = {0};
  VEC(Range) doms = {0};
  bool plain = u->same_indices;
  for (int i = 0; i < b->n_iters; i++) {
    if (tirc_is_int(b->iters[i].dom.extent, 1)) continue;
    vec_push(s->c, vars, b->iters[i].var);
    vec_push(s->c, doms, b->iters[i].dom);
    int k = 0;
    while (k < u->n && u->indices[k] != b->iters[i].var) k++;
    plain &= k < u->n;
  }
  if (plain || !u->same_indices || !u->n) return plain;
  return tirc_detect_iter_map(tirc_analyzer(s->c), u->n, u->indices, vars.n, vars.at, doms.at, NULL,
                              ITER_LEVEL_BIJECTIVE, true, NULL) != NULL;
}

/* --- running --------------------------------------------------------------------------------- */

/* What one block's own accesses to a buffer may do to each other. */
typedef struct Group {
  SRef *block; /* NULL: statements outside of blocks */
  Buffer buffer;
  bool update, stores_once;
  bool last_counts; /* nobody reads in between: what is stored last stays */
} Group;

typedef struct Loop {
  Expr var;
  int64_t limit;
} Loop;

typedef struct Run {
  Sched *s;
  int n;
  SRef *const *chain, *const *order;
  const Plain *plain;
  VEC(Group) groups;
  PtrMap own; /* buffers that each iteration allocates for itself */
  VEC(Loop) loops;
  int64_t inner; /* iterations of a loop below the nest */
  IndexEval env;
  int64_t now; /* the running iteration's place in the new order */
  int steps;
  bool cut;    /* not all iterations are run */
  SRef *block; /* the running block of the nest's scope */
  /* From an element to, for each group, the latest place of a write and of a read. */
  uint64_t *keys;
  int64_t *latest, *at; /* `at`: the indices of the element that is touched */
  size_t cap, used;
  const Group *first, *second; /* the two that lost their order */
  bool unknown;                /* the second one's index is not known before the program runs */
} Run;

static bool eval(Run *r, Expr e, int64_t *out) { return tirc_eval_index(&r->env, e, out); }
static void set_value(Run *r, Expr var, int64_t value) { tirc_eval_give(&r->env, var, value); }

static void grow(Run *r) {
  size_t cap = r->cap ? r->cap * 2 : 1024, width = (size_t)r->groups.n * 2;
  uint64_t *keys = tirc_new_array(r->s->c, uint64_t, cap);
  int64_t *latest = tirc_new_array(r->s->c, int64_t, cap * width);
  for (size_t i = 0; i < r->cap; i++) {
    if (!r->keys[i]) continue;
    size_t k = r->keys[i] & (cap - 1);
    while (keys[k]) k = (k + 1) & (cap - 1);
    keys[k] = r->keys[i];
    memcpy(latest + k * width, r->latest + i * width, width * sizeof *latest);
  }
  r->keys = keys;
  r->latest = latest;
  r->cap = cap;
}

/* Places start at 1, so that 0 is "never". */
static int64_t *element(Run *r, Buffer b, int n) {
  uint64_t key = (uint64_t)(uintptr_t)b;
  for (int i = 0; i < n; i++) {
    key = (key ^ (uint64_t)r->at[i]) * 0x9e3779b97f4a7c15u;
    key ^= key >> 29;
  }
  key |= 1;
  if (r->used * 2 >= r->cap) grow(r);
  size_t k = key & (r->cap - 1);
  while (r->keys[k] && r->keys[k] != key) k = (k + 1) & (r->cap - 1);
  if (!r->keys[k]) {
    r->keys[k] = key;
    r->used++;
  }
  return r->latest + k * (size_t)r->groups.n * 2;
}

static const Group *group_of(const Run *r, Buffer b) {
  for (int g = 0; g < r->groups.n; g++)
    if (r->groups.at[g].block == r->block && r->groups.at[g].buffer == b) return &r->groups.at[g];
  return NULL;
}

static void touch_element(Run *r, const Group *me, int n, bool write) {
  const ptrdiff_t own = me - r->groups.at;
  int64_t *latest = element(r, me->buffer, n);
  if (me->last_counts && !r->cut) {
    latest[2 * own + 1] = r->now;
    if (r->now > latest[2 * own]) latest[2 * own] = r->now;
    return;
  }
  for (int g = 0; g < r->groups.n; g++) {
    bool self = g == own;
    bool lost_write =
        latest[2 * g] > r->now && !(self && (me->update || (write && me->stores_once)));
    bool lost_read = write && latest[2 * g + 1] > r->now && !(self && me->update);
    if (!lost_write && !lost_read) continue;
    r->first = &r->groups.at[g];
    r->second = me;
  }
  int64_t *mine = &latest[2 * own + !write];
  if (r->now > *mine) *mine = r->now;
}

static void not_known(Run *r, const Group *me) {
  r->unknown = true;
  r->first = r->second = me;
}

/* An index of one of the elements that a vector holds. */
static bool eval_lane(Run *r, Expr e, int lane, int64_t *out) {
  int64_t stride;
  if (e->op != OP_RAMP) return eval(r, e->op == OP_BROADCAST ? e->args[0] : e, out);
  if (!eval(r, e->args[0], out) || !eval(r, e->args[1], &stride)) return false;
  *out += lane * stride;
  return true;
}

static void touch(Run *r, Buffer b, int n, const Expr *indices, bool write) {
  const Group *me = group_of(r, b);
  if (!me) return;
  int lanes = 1;
  for (int i = 0; i < n; i++)
    if (indices[i]->dtype.lanes > lanes) lanes = indices[i]->dtype.lanes;
  for (int lane = 0; lane < lanes && !r->first; lane++) {
    bool known = true;
    for (int i = 0; i < n && known; i++) known = eval_lane(r, indices[i], lane, &r->at[i]);
    if (!known) return not_known(r, me);
    touch_element(r, me, n, write);
  }
}

static void touch_opaque(Run *r, const Opaques *opaque) {
  for (int i = 0; opaque && i < opaque->n; i++) {
    const Opaque *o = &opaque->at[i];
    const Buffer shown = o->shown.buffer;
    const Expr *start = start_of(r->s->c, &o->shown);
    if (o->read) touch(r, shown, shown->ndim, start, false);
    if (o->written) touch(r, shown, shown->ndim, start, true);
  }
}

static bool touch_loads(Visitor *v, Expr e) {
  if (e->op == OP_LOAD) touch(v->self, e->u.buffer, e->n, e->args, false);
  return true;
}

static void run(Run *r, Stmt stmt);

static void run_loads(Run *r, Expr e) {
  tirc_visit_expr(&(Visitor){.expr = touch_loads, .self = r}, e);
}

static void run_extents(Run *r, Buffer made) {
  for (int i = 0; i < made->ndim; i++) run_loads(r, made->shape[i]);
}

static int64_t limit_of(const Run *r, Expr var) {
  for (int i = 0; i < r->loops.n; i++)
    if (r->loops.at[i].var == var) return r->loops.at[i].limit;
  return r->inner;
}

static void run_loop(Run *r, const For *f) {
  int64_t min, extent, limit = limit_of(r, f->var);
  run_loads(r, f->min);
  run_loads(r, f->extent);
  if (!eval(r, f->min, &min)) {
    tirc_eval_forget(&r->env, f->var);
    return run(r, f->body);
  }
  if (!eval(r, f->extent, &extent) || extent > limit) extent = limit;
  for (int64_t i = 0; i < extent && !r->first && r->steps < 4 * MAX_STEPS; i++) {
    set_value(r, f->var, min + i);
    run(r, f->body);
  }
}

static void run_block(Run *r, Stmt stmt) {
  const Block *b = &stmt->u.block;
  int64_t value, least;
  bool first = true, holds;
  run_loads(r, b->predicate);
  if (tirc_eval_condition(&r->env, b->predicate, &holds) && !holds) return;
  for (int i = 0; i < b->n_iters; i++) {
    run_loads(r, b->iters[i].dom.min);
    run_loads(r, b->iters[i].dom.extent);
    run_loads(r, b->iter_values[i]);
    if (!eval(r, b->iter_values[i], &value)) {
      tirc_eval_forget(&r->env, b->iters[i].var);
      continue;
    }
    set_value(r, b->iters[i].var, value);
    if (b->iters[i].kind != ITER_SPATIAL && eval(r, b->iters[i].dom.min, &least))
      first &= value == least;
  }
  r->steps++;
  for (int i = 0; i < b->n_allocs; i++) run_extents(r, b->allocs[i]);
  touch_opaque(r, tirc_map_get(&r->plain->opaque, stmt));
  if (b->init && first) run(r, b->init);
  run(r, b->body);
}

/* A block of the nest's scope, or one inside of it. */
static void enter_block(Run *r, Stmt stmt) {
  if (r->block) return run_block(r, stmt);
  r->block = tirc_sref_find(r->s, stmt);
  run_block(r, tirc_map_get(&r->plain->blocks, r->block));
  r->block = NULL;
}

static void run(Run *r, Stmt stmt) {
  switch (stmt->kind) {
  case STMT_FOR: run_loop(r, &stmt->u.loop); break;
  case STMT_BLOCK: enter_block(r, stmt); break;
  case STMT_SEQ:
    for (int i = 0; i < stmt->u.seq.n; i++) run(r, tirc_item(stmt, i));
    break;
  case STMT_STORE:
    run_loads(r, stmt->u.store.value);
    touch(r, stmt->u.store.buffer, stmt->u.store.n, stmt->u.store.indices, true);
    break;
  case STMT_EVAL: run_loads(r, stmt->u.eval.value); break;
  case STMT_IF: {
    run_loads(r, stmt->u.branch.cond);
    bool holds;
    const bool known = tirc_eval_condition(&r->env, stmt->u.branch.cond, &holds);
    if (!known || holds) run(r, stmt->u.branch.then_case);
    if ((!known || !holds) && stmt->u.branch.else_case) run(r, stmt->u.branch.else_case);
    break;
  }
  case STMT_WHILE:
    run_loads(r, stmt->u.loop_while.cond);
    run(r, stmt->u.loop_while.body);
    break;
  case STMT_LET:
    run_loads(r, stmt->u.let.value);
    if (!tirc_eval_bind(&r->env, stmt->u.let.var, stmt->u.let.value))
      tirc_eval_let_stand(&r->env, stmt->u.let.var);
    run(r, stmt->u.let.body);
    break;
  case STMT_ALLOC:
    run_extents(r, stmt->u.alloc.buffer);
    run(r, stmt->u.alloc.body);
    break;
  case STMT_DECL: run(r, stmt->u.alloc.body); break;
  case STMT_ATTR: run(r, stmt->u.attr.body); break;
  case STMT_ASSERT:
    run_loads(r, stmt->u.check.cond);
    run(r, stmt->u.check.body);
    break;
  }
}

/* The chain's loops in their old order; `offset` gives each its index for the place in the new one.
 */
static void run_chain(Run *r, int depth, int64_t *offset) {
  if (depth == r->n) {
    int64_t place = 0;
    for (int i = 0; i < r->n; i++) {
      int k = 0;
      while (r->chain[k] != r->order[i]) k++;
      place = place * limit_of(r, tirc_loop_of(r->order[i])->var) + offset[k];
    }
    r->now = place + 1;
    run(r, tirc_loop_of(r->chain[r->n - 1])->body);
    return;
  }
  const For *f = tirc_loop_of(r->chain[depth]);
  int64_t min, extent, limit = limit_of(r, f->var);
  if (!eval(r, f->min, &min) || !eval(r, f->extent, &extent)) return;
  if (extent > limit) extent = limit;
  for (int64_t i = 0; i < extent && !r->first && r->steps < 4 * MAX_STEPS; i++) {
    set_value(r, f->var, min + i);
    offset[depth] = i;
    run_chain(r, depth + 1, offset);
  }
}

/* --- preparation ----------------------------------------------------------------------------- */

/* Before the memory of a run is marked: the table of values must not grow in it. */
static bool give_slots(Visitor *v, Stmt stmt) {
  Run *r = v->self;
  if (stmt->kind == STMT_LET) set_value(r, stmt->u.let.var, 0);
  if (stmt->kind == STMT_FOR) set_value(r, stmt->u.loop.var, 0);
  if (stmt->kind == STMT_BLOCK)
    for (int i = 0; i < stmt->u.block.n_iters; i++) set_value(r, stmt->u.block.iters[i].var, 0);
  return true;
}

static void add_loop(Run *r, const SRef *loop) {
  int64_t extent;
  if (!tirc_const_int(tirc_loop_of(loop)->extent, &extent)) {
    const int64_t least = tirc_size(r->env.sizes, tirc_loop_of(loop)->var, r->env.trial);
    if (!eval(r, tirc_loop_of(loop)->extent, &extent) || extent < least) extent = least;
    r->cut = true;
  }
  Loop l = {tirc_loop_of(loop)->var, extent < 1 ? 1 : extent};
  vec_push(r->s->c, r->loops, l);
}

/* Iterations of the loops between the chain and this block, as far as they are run. */
static int64_t inner_steps(const Run *r, const SRef *block) {
  int64_t steps = 1;
  for (const SRef *p = block->parent; p != r->chain[r->n - 1]; p = p->parent) {
    int64_t extent = r->inner;
    tirc_const_int(tirc_loop_of(p)->extent, &extent);
    if (steps < MAX_STEPS) steps *= extent < 1 ? 1 : extent < r->inner ? extent : r->inner;
  }
  return steps;
}

static bool runs_short(const Run *r, const SRef *block) {
  int64_t extent;
  for (const SRef *p = block->parent; p != r->chain[r->n - 1]; p = p->parent)
    if (!tirc_const_int(tirc_loop_of(p)->extent, &extent) || extent > r->inner) return true;
  return tirc_block_of(block)->body->kind != STMT_STORE;
}

/* Cuts the longest loops until the nest is short enough to be run: first those below it. */
static void limit_loops(Run *r, int n_blocks, SRef *const *blocks) {
  for (r->inner = INNER_LIMIT;;) {
    double total = 1;
    int longest = 0;
    for (int i = 0; i < n_blocks; i++) total = fmax(total, (double)inner_steps(r, blocks[i]));
    for (int i = 0; i < r->loops.n; i++) {
      total *= (double)r->loops.at[i].limit;
      if (r->loops.at[i].limit > r->loops.at[longest].limit) longest = i;
    }
    if (total <= (double)MAX_STEPS) return;
    if (r->inner > LEAST_INNER_LIMIT) {
      r->inner /= 2;
      continue;
    }
    if (r->loops.at[longest].limit <= 2) return;
    r->loops.at[longest].limit = (r->loops.at[longest].limit + 1) / 2;
    r->cut = true;
  }
}

static void prepare(Run *r, int n_blocks, SRef *const *blocks) {
  r->loops.n = 0;
  r->cut = false;
  tirc_visit_stmt(&(Visitor){.stmt = give_slots, .self = r}, r->chain[0]->stmt);
  for (int i = 0; i < r->n; i++) add_loop(r, r->chain[i]);
  limit_loops(r, n_blocks, blocks);
  for (int i = 0; i < n_blocks; i++) r->cut |= runs_short(r, blocks[i]);
}

/* Where only the last store counts, it must come last in the new order, too. */
static void check_last(Run *r) {
  for (size_t i = 0; i < r->cap && !r->first; i++)
    for (int g = 0; r->keys[i] && !r->cut && g < r->groups.n; g++) {
      const int64_t *latest = r->latest + (i * (size_t)r->groups.n + (size_t)g) * 2;
      if (r->groups.at[g].last_counts && latest[0] != latest[1])
        r->first = r->second = &r->groups.at[g];
    }
}

static void run_nest(Run *r) {
  ArenaMark mark = tirc_mark(r->s->c);
  int64_t *offset = tirc_new_array(r->s->c, int64_t, r->n);
  r->now = 0;
  r->steps = 0;
  r->keys = NULL;
  r->latest = NULL;
  r->cap = r->used = 0;
  run_chain(r, 0, offset);
  check_last(r);
  tirc_rewind(r->s->c, mark);
}

static void run_places(Run *r) {
  SRef *around = r->chain[0]->parent;
  const int n_places = tirc_n_places(around);
  for (int place = 0, stride = 1; place < n_places && !r->first; place += stride) {
    if (tirc_go_to_place(&r->env, around, place, true) == PLACE_EMPTY) continue;
    run_nest(r);
    if (stride == 1) stride += (int)((int64_t)r->steps * n_places / ALL_STEPS);
  }
}

static const char *user_text(Sched *s, const Group *g) {
  return g->block ? tirc_format(s->c, "block %s", tirc_block_of(g->block)->name)
                  : "a statement outside of blocks";
}

static _Noreturn void order_lost(Run *r) {
  Sched *s = r->s;
  const char *first = user_text(s, r->first), *second = user_text(s, r->second);
  const char *name = r->second->buffer->name;
  for (int i = 0; i < r->n; i++) tirc_sched_mark(s, r->chain[i]->stmt);
  const char *what = r->unknown
                         ? tirc_format(s->c,
                                       "which elements of buffer %s %s uses is known only "
                                       "when the program runs: it may wait for an earlier one",
                                       name, second)
                     : r->first->block == r->second->block
                         ? tirc_format(s->c,
                                       "an instance of %s uses an element of buffer %s that "
                                       "an earlier one wrote or read, and would run before it",
                                       second, name)
                         : tirc_format(s->c,
                                       "%s uses elements of buffer %s that %s wrote or "
                                       "read in an earlier iteration, and would run before it",
                                       second, name, first);
  tirc_sched_error(s, SERR_ORDER_MATTERS, what, NULL,
                   "the new order of the loops changes what %s computes", second);
}

static bool seen(const Run *r, Buffer b) {
  for (int i = 0; i < r->groups.n; i++)
    if (r->groups.at[i].buffer == b) return true;
  return false;
}

static bool add_own(Visitor *v, Stmt s) {
  Run *r = v->self;
  for (int i = 0; s->kind == STMT_BLOCK && i < s->u.block.n_allocs; i++)
    tirc_map_set(r->s->c, &r->own, s->u.block.allocs[i], s);
  if (s->kind == STMT_ALLOC) tirc_map_set(r->s->c, &r->own, s->u.alloc.buffer, s);
  return true;
}

/* Adds the buffer's users to the groups unless it is safe by sight. */
static void consider(Run *r, Buffer b, int n_blocks, SRef *const *blocks) {
  Sched *s = r->s;
  int users = 0, loads = 0, first = r->groups.n;
  bool safe = true;
  if (seen(r, b) || tirc_map_has(&r->own, b)) return;
  for (int i = 0; i < n_blocks; i++) {
    Use u = use_of(s, r->plain, blocks[i], b);
    if (u.loads + u.stores == 0) continue;
    bool once = u.stores && (u.constant || stores_once(s, &u));
    Group g = {
        .block = blocks[i], .buffer = b, .update = is_update(s, &u, once), .stores_once = once};
    vec_push(s->c, r->groups, g);
    users++;
    loads += u.loads;
    safe &= g.update || (!u.loads && once);
  }
  if (tirc_loosely_used(tirc_scope_root(s, r->chain[0]), NULL, b)) {
    vec_push(s->c, r->groups, ((Group){.buffer = b}));
    users++;
    loads++;
    safe = false;
  }
  if (users == 1 && !safe) r->groups.at[first].last_counts = !loads;
  if (users <= 1 && safe) r->groups.n = first;
}

typedef struct InnerSums {
  Sched *s;
  const Block *outer;
  Stmt found;
} InnerSums;

static bool see_inner_sum(Visitor *v, Stmt stmt) {
  InnerSums *k = v->self;
  if (stmt->kind != STMT_BLOCK || &stmt->u.block == k->outer) return !k->found;
  SRef *r = tirc_sref_find(k->s, stmt);
  if (r && !tirc_sums_start_in_scope(k->s, r)) k->found = stmt;
  return !k->found;
}

/* Sums inside of a block that go on from one instance of it to the next, and start in one of them.
 */
static void require_sums_inside(Sched *s, SRef *const *chain, SRef *block) {
  InnerSums k = {.s = s, .outer = tirc_block_of(block)};
  tirc_visit_stmt(&(Visitor){.stmt = see_inner_sum, .expr = tirc_skip_expr, .self = &k},
                  block->stmt);
  if (!k.found) return;
  tirc_sched_mark(s, chain[0]->stmt);
  tirc_sched_mark(s, k.found);
  tirc_sched_error(s, SERR_ORDER_MATTERS, NULL, NULL,
                   "block %s in block %s goes on with sums that are started in other instances of "
                   "that, and they might come later in the new order of the loops",
                   k.found->u.block.name, tirc_block_of(block)->name);
}

void tirc_require_order_kept(Sched *s, int n, SRef *const *chain, SRef *const *order) {
  if (memcmp(chain, order, (size_t)n * sizeof *chain) == 0) return;
  SRef **blocks;
  int n_blocks = tirc_child_blocks(s, chain[n - 1], &blocks);
  const Plain plain = tirc_plain_blocks(s, n_blocks, blocks);
  Run r = {.s = s, .n = n, .chain = chain, .order = order, .plain = &plain};
  for (int i = 0; i < n_blocks; i++) {
    tirc_require_init_first(s, n, chain, order, blocks[i]);
    require_sums_inside(s, chain, blocks[i]);
  }
  tirc_visit_stmt(&(Visitor){.stmt = add_own, .expr = tirc_skip_expr, .self = &r},
                  tirc_loop_of(chain[n - 1])->body);
  for (int i = 0; i < n_blocks; i++)
    for (int k = 0; k < blocks[i]->n_accesses[1]; k++)
      consider(&r, blocks[i]->accesses[1][k].buffer, n_blocks, blocks);
  Buffer *loose;
  const int n_loose = tirc_loose_stores(s, chain[n - 1], &loose);
  for (int i = 0; i < n_loose; i++) consider(&r, loose[i], n_blocks, blocks);
  if (!r.groups.n) return;
  int ndim = 0;
  for (int i = 0; i < r.groups.n; i++)
    if (r.groups.at[i].buffer->ndim > ndim) ndim = r.groups.at[i].buffer->ndim;
  r.at = tirc_new_array(s->c, int64_t, ndim + 1);
  const Sizes *sizes = tirc_sizes_of(s, chain[0], NULL);
  for (int trial = 0; trial < sizes->n_trials && !r.first; trial++) {
    r.env = (IndexEval){.c = s->c, .sizes = sizes, .trial = trial};
    prepare(&r, n_blocks, blocks);
    run_places(&r);
  }
  if (r.first) order_lost(&r);
}
