/* Does a block call an iterator spatial whose instances depend on each other?
 *
 *   for i in range(7):
 *     with T.block("A"):
 *       vi = T.axis.spatial(7, i)
 *       A[vi + 1] = A[vi] + T.float32(1)     # instance i reads what instance i - 1 stored
 *
 * First by looking: a buffer of which all accesses have each spatial iterator in the same place is
 * used by each instance alone. That is nearly every block there is. What remains is run, at a few
 * places of each loop (instances.h). Loops of reduction iterators are no part of an instance's
 * identity, so they are run from end to end; opaque and scan iterators keep the order of their
 * instances and stand still.
 *
 * Nobody looks at what is left in a scratch buffer, which is allocated outside of all of this:
 *
 *   for i in range(7):
 *     with T.block("A"):
 *       vi = T.axis.spatial(7, i)
 *       t[0] = B[vi]                         # each instance for itself
 *       A[vi] = t[0] * t[0]
 */
#include "spatial.h"

#include "../../ir/print.h"
#include "../../ir/visit.h"
#include "between.h"
#include "conflict.h"
#include "instances.h"
#include "internal.h"

enum { MAX_STEPS = 1 << 15, MAX_PLACES = 32, MAX_INSTANCES = 2048, MAX_ITERS = 32, MAX_SUM = 256 };

typedef struct Walk {
  Tirc *c;
  Steps path; /* outermost first */
  int scope;  /* where the innermost scope begins in it */
  const Sizes *sizes;
  int trial;
  bool one_block; /* only its own instances change places, not those of its neighbours with them */
  void (*tell)(void *self, Warning w);
  void *self;
} Walk;

/* --- looking --------------------------------------------------------------------------------- */

typedef struct Use { /* of one buffer that the block stores to */
  Buffer buffer;
  int n;
  const Expr *indices; /* of the first access; NULL: where they differ */
  bool differ[8];
  bool loaded; /* an index is: which elements are used is not known */
} Use;
typedef struct Uses {
  Tirc *c;
  PtrMap views; /* views in the block -> MatchBuffer */
  VEC(Use) of;
  bool only_stores; /* the first walk finds the buffers, the second one their loads */
} Uses;

static void add_use(Uses *u, Buffer b, int n, const Expr *indices, bool is_new) {
  Use *use = NULL;
  for (int i = 0; i < u->of.n && !use; i++)
    if (u->of.at[i].buffer == b) use = &u->of.at[i];
  for (int d = 0; use && d < n && d < use->n && d < 8; d++)
    use->differ[d] |= !tirc_expr_same(use->indices[d], indices[d]);
  if (!use && is_new) {
    vec_push(u->c, u->of, ((Use){.buffer = b, .n = n, .indices = indices}));
    use = &u->of.at[u->of.n - 1];
  }
  for (int d = 0; use && d < n; d++) use->loaded |= tirc_reads_memory(indices[d]);
}

/* What is used through views. One has the last dimensions of what it is a view of. */
static void add_access(Uses *u, Buffer b, int n, const Expr *indices, bool is_new) {
  for (const MatchBuffer *m; (m = tirc_map_get(&u->views, b)); b = m->source.buffer) {
    const int added = m->source.buffer->ndim - n;
    if (added < 0) return;
    Expr *there = tirc_new_array(u->c, Expr, n + added + 1);
    for (int d = 0; d < n + added; d++) {
      Expr start = m->source.dims[d].min;
      there[d] = d < added ? start : tirc_add(u->c, start, indices[d - added]);
    }
    indices = there;
    n += added;
  }
  add_use(u, b, n, indices, is_new);
}

static void add_views(Uses *u, const Block *b) {
  for (int i = 0; i < b->n_matches; i++)
    tirc_map_set(u->c, &u->views, b->matches[i].buffer, &b->matches[i]);
}

static bool use_in_stmt(Visitor *v, Stmt s) {
  Uses *u = v->self;
  if (s->kind == STMT_BLOCK) add_views(u, &s->u.block);
  if (s->kind == STMT_STORE)
    add_access(u, s->u.store.buffer, s->u.store.n, s->u.store.indices, u->only_stores);
  return true;
}

static bool use_in_expr(Visitor *v, Expr e) {
  Uses *u = v->self;
  if (u->only_stores) return false;
  if (e->op == OP_LOAD) add_access(u, e->u.buffer, e->n, e->args, false);
  return true;
}

static void look_at(Uses *u, const Block *b, bool only_stores) {
  u->only_stores = only_stores;
  add_views(u, b);
  Visitor v = {.expr = use_in_expr, .stmt = use_in_stmt, .self = u};
  if (b->init) tirc_visit_stmt(&v, b->init);
  tirc_visit_stmt(&v, b->body);
}

bool tirc_is_own_place(Expr index, Expr var) {
  if (index == var) return true;
  bool moved = index->op == OP_ADD || index->op == OP_SUB || index->op == OP_MUL;
  return moved && index->n == 2 && index->args[0] == var && index->args[1]->op == OP_INT &&
         !(index->op == OP_MUL && tirc_is_int(index->args[1], 0));
}

static bool is_moving(const IterVar *iter) {
  return iter->kind == ITER_SPATIAL && !tirc_is_int(iter->dom.extent, 1);
}

static bool is_safe(const Block *b, const Use *use) {
  for (int i = 0; i < b->n_iters; i++) {
    if (!is_moving(&b->iters[i])) continue;
    int d = 0;
    while (d < use->n && d < 8 &&
           (use->differ[d] || !tirc_is_own_place(use->indices[d], b->iters[i].var)))
      d++;
    if (d == use->n || d == 8) return false;
  }
  return true;
}

/* --- scratch buffers ------------------------------------------------------------------------- */

typedef struct Search {
  Stmt besides;
  Expr data;
  bool found;
} Search;

static bool use_in_load(Visitor *v, Expr e) {
  Search *k = v->self;
  k->found |= e == k->data || (e->op == OP_LOAD && e->u.buffer->data == k->data);
  return !k->found;
}

static bool use_besides(Visitor *v, Stmt s) {
  Search *k = v->self;
  if (s == k->besides) return false;
  k->found |= s->kind == STMT_STORE && s->u.store.buffer->data == k->data;
  k->found |= s->kind == STMT_DECL && s->u.alloc.buffer->data == k->data;
  for (int i = 0; s->kind == STMT_BLOCK && i < s->u.block.n_matches; i++)
    k->found |= s->u.block.matches[i].source.buffer->data == k->data;
  return !k->found;
}

static bool allocates(Stmt s, Buffer b) {
  if (s->kind == STMT_ALLOC) return s->u.alloc.buffer == b;
  for (int i = 0; s->kind == STMT_BLOCK && i < s->u.block.n_allocs; i++)
    if (s->u.block.allocs[i] == b) return true;
  return false;
}

enum { SHARED = -1 };

/* The depth of the innermost thing around the block, which is at the depth path.n, that has all
 * uses of the buffer in it; SHARED for an argument. */
static int depth_of_uses(const Walk *w, Stmt block, Buffer b) {
  int depth = w->path.n, allocator = w->path.n - 1;
  while (allocator >= 0 && !allocates(w->path.at[allocator].stmt, b)) allocator--;
  for (int i = depth - 1; allocator >= 0 && i >= allocator; i--) {
    Search k = {.besides = i + 1 < w->path.n ? w->path.at[i + 1].stmt : block, .data = b->data};
    Visitor v = {.expr = use_in_load, .stmt = use_besides, .self = &k};
    tirc_visit_stmt(&v, w->path.at[i].stmt);
    if (k.found) depth = i;
  }
  return allocator < 0 ? SHARED : depth;
}

/* --- running --------------------------------------------------------------------------------- */

typedef struct Scratch { /* each iteration of this loop fills it anew */
  Buffer buffer;
  int loop;
} Scratch;
typedef struct Run {
  Walk *w;
  Instances r;
  Stmt block;
  int n_iters; /* spatial ones */
  int iters[MAX_ITERS];
  int places; /* at how many a sampled loop is run */
  VEC(Scratch) scratch;
} Run;

static unsigned kinds_moved(const Block *b, Expr loop) {
  unsigned kinds = 0;
  for (int i = 0; i < b->n_iters; i++)
    if (tirc_uses_var(b->iter_values[i], loop)) kinds |= 1u << b->iters[i].kind;
  return kinds;
}

static bool run_instance(Run *run) {
  const Block *b = &run->block->u.block;
  run->r.at = tirc_new_array(run->w->c, int64_t, run->n_iters + 1);
  for (int i = 0; i < run->n_iters; i++)
    if (!tirc_eval_index(&run->r.env, b->iter_values[run->iters[i]], &run->r.at[i])) return false;
  return tirc_instances_run(&run->r, run->block);
}

static bool run_from(Run *run, int depth);

/* At how many places a loop is run: 1 for one that stands still; 0: it is too long. */
static int places_of(const Run *run, int depth, int64_t extent) {
  const Expr var = run->w->path.at[depth].stmt->u.loop.var;
  const unsigned kinds = kinds_moved(&run->block->u.block, var);
  const bool samples = kinds & 1u << ITER_SPATIAL;
  if (depth < run->w->scope || kinds & (1u << ITER_OPAQUE | 1u << ITER_SCAN)) return 1;
  if (!samples && !tirc_instances_matters(&run->r, var)) return 1;
  if (kinds == 1u << ITER_SPATIAL) return run->places;
  return extent <= (samples ? run->places : MAX_SUM) ? MAX_SUM : 0;
}

static bool run_loop(Run *run, int depth) {
  const For *f = &run->w->path.at[depth].stmt->u.loop;
  int64_t min, extent, *at;
  if (!tirc_eval_index(&run->r.env, f->min, &min)) return false;
  if (!tirc_eval_index(&run->r.env, f->extent, &extent))
    extent = tirc_size(run->w->sizes, f->var, run->w->trial);
  const int places = places_of(run, depth, extent);
  if (!places) return false;
  int n = tirc_instances_sample(run->w->c, extent, run->block, places, &at);
  for (int i = 0; i < n; i++) {
    tirc_eval_give(&run->r.env, f->var, min + at[i]);
    for (int k = 0; k < run->scratch.n; k++)
      if (run->scratch.at[k].loop == depth)
        tirc_instances_renew(&run->r, run->scratch.at[k].buffer);
    if (!run_from(run, depth + 1)) return false;
  }
  return true;
}

/* What may not run is passed by, too, where only what is certain is told. */
static bool passes_by(Run *run, Expr cond, bool negated) {
  bool holds;
  return tirc_eval_condition(&run->r.env, cond, &holds) ? holds == negated : !run->w->one_block;
}

/* False: it is over. */
static bool run_from(Run *run, int depth) {
  if (depth == run->w->path.n) return run_instance(run);
  const Step *step = &run->w->path.at[depth];
  const struct StmtNode *s = step->stmt;
  switch (s->kind) {
  case STMT_FOR: return run_loop(run, depth);
  case STMT_IF:
    if (passes_by(run, s->u.branch.cond, step->negated)) return true;
    break;
  case STMT_LET: tirc_instances_give(&run->r, s->u.let.var, s->u.let.value); break;
  case STMT_BLOCK:
    if (passes_by(run, s->u.block.predicate, false)) return true;
    for (int i = 0; i < s->u.block.n_iters; i++)
      tirc_instances_give(&run->r, s->u.block.iters[i].var, s->u.block.iter_values[i]);
    break;
  case STMT_ALLOC:
  case STMT_DECL:
  case STMT_ATTR:
  case STMT_ASSERT: break;
  case STMT_WHILE:
    if (!run->w->one_block) return false;
    break;
  default: return false;
  }
  return run_from(run, depth + 1);
}

/* All, or so many that all of them together are not too many. */
static int places_in_all(const Run *run) {
  int loops = 0, places = MAX_PLACES;
  double instances = 1;
  for (int i = run->w->scope; i < run->w->path.n; i++) {
    const struct StmtNode *s = run->w->path.at[i].stmt;
    int64_t extent = INT32_MAX;
    if (s->kind != STMT_FOR || tirc_is_int(s->u.loop.extent, 1) ||
        !(kinds_moved(&run->block->u.block, s->u.loop.var) & 1u << ITER_SPATIAL))
      continue;
    tirc_const_int(s->u.loop.extent, &extent);
    instances *= (double)extent;
    loops++;
  }
  if (instances <= (double)MAX_INSTANCES) return MAX_INSTANCES;
  for (; places > 3; places--) {
    double all = 1;
    for (int i = 0; i < loops; i++) all *= places;
    if (all <= (double)MAX_INSTANCES) break;
  }
  return places;
}

/* --- telling --------------------------------------------------------------------------------- */

/* "vi = 0, vj = 1": where two instances differ. */
static const char *instance_text(const Run *run, const int64_t *of) {
  const Block *b = &run->block->u.block;
  Text t = {.c = run->w->c};
  for (int i = 0; i < run->n_iters; i++)
    if (run->r.of_first[i] != run->r.of_second[i])
      tirc_text_addf(&t, "%s%s = %lld", t.n ? ", " : "", b->iters[run->iters[i]].var->u.s,
                     (long long)of[i]);
  return t.at;
}

/* An update of one element by all instances of an iterator is a reduction. */
static bool is_sum_over(const Run *run, Expr var) {
  const Site *x = &run->r.first, *y = &run->r.second;
  if (x->stmt != y->stmt || !x->load == !y->load) return false;
  const struct StmtNode *s = x->stmt;
  Expr load = x->load ? x->load : y->load;
  for (int d = 0; d < load->n; d++)
    if (!tirc_expr_same(load->args[d], s->u.store.indices[d]) || tirc_uses_var(load->args[d], var))
      return false;
  return true;
}

static void tell_of(const Run *run) {
  Tirc *c = run->w->c;
  const Instances *r = &run->r;
  const Block *b = &run->block->u.block;
  int k = 0;
  while (r->of_first[k] == r->of_second[k]) k++;
  Expr var = b->iters[run->iters[k]].var;
  const char *axis = is_sum_over(run, var) ? "T.axis.reduce" : "T.axis.scan";
  const char *then = is_sum_over(run, var) ? "" : ", which keeps their order";
  const char *message = tirc_format(
      c,
      "block %s declares its iterator %s spatial, but its instances depend on each other: %s is %s "
      "for %s, and %s is %s for %s; declare %s with %s%s",
      b->name, var->u.s, tirc_site_text(c, &r->first), r->first.load ? "read" : "stored",
      instance_text(run, r->of_first), tirc_site_text(c, &r->second),
      r->second.load ? "read" : "stored", instance_text(run, r->of_second), var->u.s, axis, then);
  run->w->tell(run->w->self, (Warning){"spatial-dependence", run->block->loc, message});
}

/* --- all blocks of a function ---------------------------------------------------------------- */

/* What is left in a buffer of the block alone, nobody reads. One that its neighbours use, too, is
 * between them and this block, in each iteration of the loop around them. */
static void watch_scratch(Run *run, Buffer b) {
  const Walk *w = run->w;
  int depth = depth_of_uses(w, run->block, b);
  tirc_instances_watch(&run->r, b, depth == w->path.n ? WATCH_READS : WATCH_ALL);
  if (depth == w->path.n || w->one_block) return;
  while (depth >= w->scope && w->path.at[depth].stmt->kind != STMT_FOR) depth--;
  if (depth >= w->scope) vec_push(w->c, run->scratch, ((Scratch){b, depth}));
}

/* Whether instances meet in one of the buffers; without `scratch`, each of them is taken for one
 * that is read later. */
static bool meet(Run *run, const Uses *uses, bool scratch) {
  bool any = false;
  tirc_instances_open(&run->r, run->w->c, run->n_iters, MAX_STEPS);
  run->r.env.sizes = run->w->sizes;
  run->r.env.trial = run->w->trial;
  run->r.may = run->w->one_block;
  for (int i = 0; i < uses->of.n; i++) {
    const Use *use = &uses->of.at[i];
    if (is_safe(&run->block->u.block, use)) continue;
    any = true;
    if (scratch)
      watch_scratch(run, use->buffer);
    else
      tirc_instances_watch(&run->r, use->buffer, WATCH_ALL);
  }
  if (!any || !tirc_instances_look(&run->r, run->block)) return false;
  run->places = places_in_all(run);
  (void)run_from(run, 0);
  return run->r.found;
}

static bool scatters(const Block *b, const Uses *uses) {
  for (int i = 0; i < uses->of.n; i++)
    if (uses->of.at[i].loaded && !is_safe(b, &uses->of.at[i])) return true;
  return false;
}

/* Whether it was told of: then what was said stays in memory. Of one block alone is also found what
 * may happen, and nothing is said. Who else uses a buffer is looked up only where that decides. */
static bool check(Walk *w, Stmt block) {
  const Block *b = &block->u.block;
  Run run = {.w = w, .block = block};
  bool moves = false;
  for (int i = 0; i < b->n_iters && run.n_iters < MAX_ITERS; i++) {
    if (b->iters[i].kind == ITER_SPATIAL) run.iters[run.n_iters++] = i;
    moves |= is_moving(&b->iters[i]);
  }
  if (!moves) return false;
  Uses uses = {.c = w->c};
  look_at(&uses, b, true);
  look_at(&uses, b, false);
  bool met = false;
  for (w->trial = 0; w->trial < w->sizes->n_trials && !met; w->trial++)
    met = meet(&run, &uses, false) && meet(&run, &uses, true);
  if (met && !w->one_block) tell_of(&run);
  return met;
}

static void walk(Walk *w, Stmt s);

static void walk_below(Walk *w, Stmt s, Stmt body, bool negated) {
  if (!body) return;
  vec_push(w->c, w->path, ((Step){s, negated}));
  walk(w, body);
  w->path.n--;
}

static void walk_block(Walk *w, Stmt s) {
  const int scope = w->scope;
  ArenaMark mark = tirc_mark(w->c);
  if (!check(w, s)) tirc_rewind(w->c, mark);
  w->scope = w->path.n + 1;
  walk_below(w, s, s->u.block.body, false);
  w->scope = scope;
}

static void walk(Walk *w, Stmt s) {
  switch (s->kind) {
  case STMT_FOR: walk_below(w, s, s->u.loop.body, false); break;
  case STMT_BLOCK: walk_block(w, s); break;
  case STMT_SEQ:
    for (int i = 0; i < s->u.seq.n; i++) walk(w, tirc_item(s, i));
    break;
  case STMT_IF:
    walk_below(w, s, s->u.branch.then_case, false);
    walk_below(w, s, s->u.branch.else_case, true);
    break;
  case STMT_WHILE: walk_below(w, s, s->u.loop_while.body, false); break;
  case STMT_LET: walk_below(w, s, s->u.let.body, false); break;
  case STMT_ALLOC: walk_below(w, s, s->u.alloc.body, false); break;
  case STMT_DECL: walk(w, s->u.alloc.body); break;
  case STMT_ATTR: walk(w, s->u.attr.body); break;
  case STMT_ASSERT: walk(w, s->u.check.body); break;
  case STMT_STORE:
  case STMT_EVAL: break;
  }
}

void tirc_spatial_dependences(Tirc *c, const Module *m, void (*tell)(void *self, Warning w),
                              void *self) {
  for (int i = 0; i < m->n_funcs; i++) {
    Stmt body = m->funcs[i]->body;
    Walk w = {.c = c, .sizes = &tirc_one_size, .tell = tell, .self = self};
    if (body && body->kind == STMT_BLOCK) walk(&w, body);
  }
}

void tirc_program_warnings(Tirc *c, const Module *m, void (*tell)(void *self, Warning w),
                           void *self) {
  tirc_spatial_dependences(c, m, tell, self);
  tirc_racing_loops(c, m, tell, self);
}

/* --- one block of a schedule ----------------------------------------------------------------- */

static void add_around(Walk *w, SRef *r) {
  if (!r->parent) return;
  add_around(w, r->parent);
  vec_push(w->c, w->path, ((Step){r->parent->stmt, false}));
  if (tirc_is_block(r->parent)) w->scope = w->path.n;
  tirc_steps_between(w->c, r, &w->path);
}

static bool may_scatter(Sched *s, const Block *b) {
  Uses uses = {.c = s->c};
  look_at(&uses, b, true);
  look_at(&uses, b, false);
  return scatters(b, &uses);
}

bool tirc_instances_depend(Sched *s, SRef *block) {
  if (may_scatter(s, tirc_block_of(block))) return true;
  Walk w = {.c = s->c, .sizes = tirc_sizes_of(s, block, NULL), .one_block = true};
  add_around(&w, block);
  return check(&w, block->stmt);
}
