/* Does the scope of each buffer fit the threads and blocks that use it? A thread has of scope local
 * what it has stored itself, a block of scope shared what its threads have, and of scope global
 * blocks see each other's stores, but nobody says when:
 *
 *   for bx in T.thread_binding(1, "blockIdx.x"):
 *     for tx in T.thread_binding(32, "threadIdx.x"):
 *       L[tx] = A[tx]                 thread 0 stores L[0],
 *       B[tx] = L[31 - tx]            which thread 31 reads: of its own L, where nothing is
 *
 * So a thread must have stored what it reads of local, and a block what it reads of shared; blocks
 * may not store what others use of global, nor surely the same number. What cannot be proved is
 * refused, but for the same number, and for elements that a loaded index names, which are the
 * author's affair. (Threads of a block wait for each other: thread_sync.c.)
 *
 * Of memory that is used as several buffers, or by its address, nothing is known here (`untold`):
 * thread_binding.c has refused it in scopes local and shared where the threads or blocks have an
 * allocation each that the program has once, and of scope global it is the author's affair. */
#include "scopes.h"

#include "carries.h"
#include "passes/meaning/asked.h"
#include "passes/meaning/relations.h"

typedef struct Kernel {
  Tirc *c;
  const Func *f;
  Place *at; /* loops of the host around it */
  Extract x;
  PtrMap untold; /* data of buffers of which not all touches are known */
  int n;         /* loops over blocks and threads: the kernel's outermost ones */
  Stmt stmt;
  const struct Kernel *together;        /* the same, statement by statement for all threads */
  Expr blocks[GPU_AXES], all[GPU_AXES]; /* those of more than one iteration */
  int n_blocks, n_all;
} Kernel;

/* --- touches ---------------------------------------------------------------------------------- */

/* What a block does by its views is what it declares. */
static void add_declared(Extract *x, Place *at, const Block *b, bool behind) {
  Kernel *kernel = x->self;
  for (int i = 0; i < b->n_matches; i++) {
    const Expr data = b->matches[i].source.buffer->data, view = b->matches[i].buffer->data;
    tirc_map_set(x->c, &kernel->untold, view, b);
    for (int k = 0; k < (behind ? b->n_writes : b->n_reads); k++) {
      const Region *of = behind ? &b->writes[k] : &b->reads[k];
      if (of->buffer->data != data) continue;
      Touch t = tirc_region_touch(x->c, of);
      t.at = at;
      t.write = behind;
      t.stmt = b->body;
      if (!behind) t.load = tirc_load(x->c, of->buffer, t.n, t.indices);
      vec_push(x->c, x->touches, t);
    }
  }
}

static void find_touches(Kernel *k, Stmt s) {
  k->x = (Extract){.c = k->c, .self = k, .lowered = true, .views = add_declared};
  tirc_extract(&k->x, k->at, s, NULL, s, s);
  PtrMap named = {0};
  for (int i = 0; i < k->x.touches.n; i++) {
    const Touch *t = &k->x.touches.at[i];
    const Buffer first = tirc_map_get(&named, t->buffer->data);
    if (t->address || t->n != t->buffer->ndim || (first && first != t->buffer))
      tirc_map_set(k->c, &k->untold, t->buffer->data, t->buffer);
    tirc_map_set(k->c, &named, t->buffer->data, t->buffer);
  }
  Touches kept = {0};
  for (int i = 0; i < k->x.touches.n; i++)
    if (!tirc_map_has(&k->untold, k->x.touches.at[i].buffer->data))
      vec_push(k->c, kept, k->x.touches.at[i]);
  k->x.touches = kept;
}

/* --- all threads of a block ------------------------------------------------------------------- */

/* A block's threads wait for each other where one uses what another stores (thread_sync.c), so each
 * statement is done by all of them before the next one begins. */
typedef struct Spread {
  Tirc *c;
  const For *loop; /* over threads */
} Spread;

static bool differs(const Spread *p, Expr e) { return e && tirc_uses_var(e, p->loop->var); }

static Stmt for_all(const Spread *p, Stmt s) {
  const For *loop = p->loop;
  if (!tirc_stmt_uses_var(s, loop->var)) return s;
  Expr var = tirc_var(p->c, loop->var->u.s, loop->var->dtype);
  For all = {.var = var, .min = loop->min, .extent = loop->extent, .kind = LOOP_SERIAL};
  all.body = tirc_lower_substitute1(p->c, s, loop->var, var);
  return tirc_for(p->c, &all);
}

static bool is_whole(const Spread *p, Stmt s) {
  switch (s->kind) {
  case STMT_SEQ: return false;
  case STMT_FOR: return differs(p, s->u.loop.min) || differs(p, s->u.loop.extent);
  case STMT_IF: return differs(p, s->u.branch.cond);
  case STMT_LET: return differs(p, s->u.let.value);
  case STMT_BLOCK: return differs(p, s->u.block.predicate) || s->u.block.n_matches;
  default: return true;
  }
}

static Stmt spread(Mutator *m, Stmt s) {
  return is_whole(m->self, s) ? for_all(m->self, s) : tirc_mutate_stmt_children(m, s);
}

/* The body of a kernel's loop over threads. */
static Stmt spread_threads(Tirc *c, Stmt s) {
  if (!tirc_is_thread_loop(s)) return s;
  For loop = s->u.loop;
  loop.body = spread_threads(c, loop.body);
  if (!tirc_is_thread_axis(loop.axis)) return tirc_for(c, &loop);
  Spread p = {c, &loop};
  return tirc_mutate_stmt(&(Mutator){.c = c, .stmt = spread, .self = &p}, loop.body);
}

/* --- elements of one's own, seen -------------------------------------------------------------- */

static void know_loops(Analyzer *a, const Place *p) {
  for (; p; p = p->up)
    if (p->kind == PLACE_LOOP) tirc_bind_range(a, p->var, tirc_range(p->a, p->b));
}

/* The indices that all touches of the buffer have, of some of its dimensions: how many; simplified,
 * and as the first touch has them. */
static int common_indices(const Kernel *k, Analyzer *a, Buffer b, Expr *common, Expr *written,
                          const Place **at) {
  int n = -1;
  for (int i = 0; i < k->x.touches.n; i++) {
    const Touch *t = &k->x.touches.at[i];
    if (t->buffer != b) continue;
    if (t->extents) return 0;
    know_loops(a, t->at);
    for (int d = 0; d < t->n; d++) {
      const Expr index = tirc_simplify(a, t->indices[d]);
      if (n < 0)
        common[d] = index, written[d] = t->indices[d];
      else if (common[d] && !tirc_expr_same(common[d], index))
        common[d] = NULL;
    }
    if (n < 0) *at = t->at;
    n = t->n;
  }
  int kept = 0;
  for (int d = 0; d < n; d++)
    if (common[d]) written[kept] = written[d], common[kept++] = common[d];
  return kept;
}

static bool uses(int n, const Expr *indices, Expr var) {
  for (int d = 0; d < n && var; d++)
    if (tirc_uses_var(indices[d], var)) return true;
  return false;
}

/* Whether a condition is on what the indices are made of, and on nothing else that varies. */
static bool is_about(const Place *when, int n, const Expr *indices) {
  if (tirc_reads_memory(when->a)) return false;
  for (const Place *p = when->up; p; p = p->up)
    if (p->var && tirc_uses_var(when->a, p->var) && !uses(n, indices, p->var)) return false;
  return true;
}

/* Whether all touches of the buffer are where the condition holds. */
static bool holds_for_all(const Kernel *k, Buffer b, Expr condition) {
  for (int i = 0; i < k->x.touches.n; i++) {
    const Touch *t = &k->x.touches.at[i];
    const Place *p = t->at;
    if (t->buffer != b) continue;
    while (p && (p->kind != PLACE_WHEN || p->negated || !tirc_expr_same(p->a, condition)))
      p = p->up;
    if (!p) return false;
  }
  return true;
}

/* Whether the indices of the touch at a place tell apart all values of `who`. */
static bool tells_apart(const Kernel *k, Analyzer *a, Buffer b, const Place *at, int ndim,
                        const Expr *indices, int n, const Expr *who) {
  for (int i = 0; i < n; i++)
    if (!uses(ndim, indices, who[i])) return false;
  VEC(Expr) vars = {0};
  VEC(Range) doms = {0};
  Expr when = tirc_bool(k->c, true);
  for (const Place *p = at; p; p = p->up) {
    if (p->kind == PLACE_WHEN && !p->negated && is_about(p, ndim, indices) &&
        holds_for_all(k, b, p->a))
      when = tirc_and(k->c, when, p->a);
    if (!uses(ndim, indices, p->var)) continue;
    if (p->kind != PLACE_LOOP) return false;
    vec_push(k->c, vars, p->var);
    vec_push(k->c, doms, tirc_range(p->a, p->b));
  }
  for (int with = 0; with <= !tirc_is_true(when); with++)
    if (tirc_detect_iter_map(a, ndim, indices, vars.n, vars.at, doms.at, with ? when : NULL,
                             ITER_LEVEL_BIJECTIVE, true, NULL))
      return true;
  return false;
}

/* All touches are of elements of one's own: indices that they have in common tell these apart, as
 * the digits of a number do, of any size. Simplify reduces 1024 to 10 in (o * 1024 + t) % 39, and
 * (o * 10 + t) % 39 is no digit of a number that the other indices have: so they are asked as
 * written, too. */
static bool is_told_by_indices(const Kernel *k, Buffer b, int n, const Expr *who) {
  Analyzer *a = tirc_analyzer(k->c);
  const Place *at = NULL;
  Expr *indices = tirc_new_array(k->c, Expr, b->ndim + 1);
  Expr *written = tirc_new_array(k->c, Expr, b->ndim + 1);
  const int ndim = common_indices(k, a, b, indices, written, &at);
  return tells_apart(k, a, b, at, ndim, indices, n, who) ||
         tells_apart(k, a, b, at, ndim, written, n, who);
}

/* No value goes from one of those that have the buffer to another, axis by axis: indices tell them
 * apart, or boxes. */
static bool are_seen_apart(const Kernel *k, Buffer b) {
  Analyzer *a = tirc_analyzer(k->c);
  know_loops(a, k->at);
  for (Stmt s = k->stmt; tirc_is_thread_loop(s); s = s->u.loop.body) {
    For loop = s->u.loop;
    tirc_bind_range(a, loop.var, tirc_range(loop.min, loop.extent));
    const bool is_block = tirc_is_block_axis(loop.axis);
    loop.kind = LOOP_SERIAL;
    if ((is_block || tirc_owner(b->storage) == OWNER_THREAD) &&
        !is_told_by_indices(k, b, 1, &loop.var) && tirc_lower_carries_values(k->c, a, &loop, b))
      return false;
  }
  return true;
}

/* The same of simple indices: a loop of one iteration, over a tile of one row, is no difference. */
static bool are_seen_apart_simply(const Kernel *k, Buffer b) {
  Kernel simple = *k;
  Analyzer *a = tirc_analyzer(k->c);
  know_loops(a, k->at);
  simple.untold = (PtrMap){0};
  simple.stmt = tirc_simplify_stmt(a, k->stmt, true);
  find_touches(&simple, simple.stmt);
  return are_seen_apart(&simple, b);
}

/* --- the question ----------------------------------------------------------------------------- */

static Relations *relations(Tirc *c, const Func *f) {
  Relations *r = tirc_new(c, Relations);
  *r = (Relations){.c = c, .sets = tirc_sets_new(c), .func = f};
  return r;
}

static _Noreturn void refuse(const Kernel *k, Buffer b, const Meet *meet) {
  static const struct {
    const char *has, *who, *hint;
  } of[] = {
      [OWNER_THREAD] =
          {"of which each thread has its own", "thread",
           "give it scope shared, or let each thread compute the elements that it reads"},
      [OWNER_BLOCK] = {"of which each block of threads has its own", "block",
                       "let each block compute the elements that it reads, or give it scope global "
                       "and compute it in a kernel of its own"},
      [OWNER_NONE] = {"which all blocks of threads use at the same time", "block",
                      "let each block have elements of its own, or compute it in a kernel of its "
                      "own"},
  };
  const Owner owner = tirc_owner(b->storage);
  const bool both = meet->second->write;
  tirc_fail(
      k->c, tirc_place_of(meet->second->stmt), CODE_LOWER, of[owner].hint,
      "the buffer %s has scope %s, %s, and one %s may %s what another one stores: %s and %s%s%s",
      b->name, b->scope, of[owner].has, of[owner].who, both ? "store to" : "read",
      tirc_touch_text(k->c, meet->second), tirc_touch_text(k->c, meet->first),
      meet->witness ? ": " : ", of which it cannot be proved that they are never the same element",
      meet->witness ? meet->witness : "");
}

static const Touch *first_store(const Kernel *k, Buffer b) {
  for (int i = 0; i < k->x.touches.n; i++)
    if (k->x.touches.at[i].write && k->x.touches.at[i].buffer == b) return &k->x.touches.at[i];
  return NULL;
}

/* A store by which two blocks surely come to one element. */
static const Touch *stored_by_several(const Kernel *k, Buffer b) {
  for (int i = 0; i < k->x.touches.n; i++) {
    const Touch *t = &k->x.touches.at[i];
    bool exact = true, found = false;
    if (!t->write || t->update || t->buffer != b || t->extents) continue;
    Relations *r = relations(k->c, k->f);
    tirc_sets_begin(r->sets, SETS_BUDGET);
    ZMap at = tirc_relation_of(r, t, &exact);
    ZMap pairs = tirc_z_compose(r->sets, at, tirc_z_reverse(r->sets, at));
    int place = 0; /* the kernel's loops are the first numbers of a tuple */
    for (Stmt s = k->stmt; tirc_is_thread_loop(s); s = s->u.loop.body, place++)
      if (exact && !r->symbols.n && tirc_is_block_axis(s->u.loop.axis))
        found |= tirc_z_is_empty(r->sets, tirc_z_less_at(r->sets, pairs, place)) == ANSWER_NO;
    tirc_sets_end(r->sets);
    if (found) return t;
  }
  return NULL;
}

static void check(const Kernel *k, Buffer b) {
  const Owner owner = tirc_owner(b->storage);
  const bool shared = owner == OWNER_NONE;
  const int n = owner == OWNER_THREAD ? k->n_all : k->n_blocks;
  const Expr *who = owner == OWNER_THREAD ? k->all : k->blocks;
  Meet meet;
  if (!n || is_told_by_indices(k, b, n, who)) return;
  const Kernel *of = owner == OWNER_THREAD ? k : k->together;
  if (!shared && (are_seen_apart(of, b) || are_seen_apart_simply(of, b))) return;
  const Watched watched = {b, shared ? WATCH_ALL : WATCH_READS, shared};
  const Iterations asked = {
      relations(k->c, k->f), &of->x, of->n, n, who, who, shared ? SPARE_LOADED : SPARE_NONE};
  if (tirc_iterations_meet(&asked, 1, &watched, &meet)) refuse(k, b, &meet);
  const Touch *store = shared ? stored_by_several(of, b) : NULL;
  if (store) refuse(k, b, &(Meet){.first = store, .second = store, .witness = "the same number"});
}

static Kernel begin(const Kernel *around, Stmt kernel) {
  Kernel k = {.c = around->c, .f = around->f, .at = around->at, .stmt = kernel};
  for (Stmt s = kernel; tirc_is_thread_loop(s) && k.n < GPU_AXES; s = s->u.loop.body, k.n++) {
    const For *loop = &s->u.loop;
    if (tirc_is_int(loop->extent, 1)) continue;
    k.all[k.n_all++] = loop->var;
    if (tirc_is_block_axis(loop->axis)) k.blocks[k.n_blocks++] = loop->var;
  }
  return k;
}

static void check_kernel(const Kernel *around, Stmt kernel) {
  Kernel k = begin(around, kernel), together = begin(around, spread_threads(around->c, kernel));
  PtrMap seen = {0};
  k.together = &together;
  find_touches(&k, kernel);
  find_touches(&together, together.stmt);
  for (int i = 0; i < k.x.touches.n; i++) {
    Buffer b = k.x.touches.at[i].buffer;
    if (tirc_map_has(&seen, b)) continue;
    tirc_map_set(k.c, &seen, b, b);
    const bool known = tirc_owner(b->storage) != OWNER_THREAD || b->storage == STORAGE_LOCAL;
    if (known && first_store(&k, b)) check(&k, b);
  }
}

Place *tirc_lower_host_place(Tirc *c, Place *at, Stmt s) {
  if (s->kind == STMT_LET)
    return tirc_place_further(c, at, tirc_bind_place(s->u.let.var, s->u.let.value));
  for (int i = 0; s->kind == STMT_BLOCK && i < s->u.block.n_iters; i++)
    at = tirc_place_further(c, at,
                            tirc_bind_place(s->u.block.iters[i].var, s->u.block.iter_values[i]));
  if (s->kind != STMT_FOR) return at;
  Place p = tirc_loop_place(s->u.loop.var, tirc_range(s->u.loop.min, s->u.loop.extent));
  p.outside = true;
  return tirc_place_further(c, at, p);
}

static bool find_kernels(Visitor *v, Stmt s) {
  Kernel *around = v->self;
  Place *at = around->at;
  if (tirc_is_thread_loop(s)) {
    check_kernel(around, s);
    return false;
  }
  if (s->kind != STMT_FOR && s->kind != STMT_LET) return true;
  around->at = tirc_lower_host_place(around->c, at, s);
  tirc_visit_stmt(v, s->kind == STMT_FOR ? s->u.loop.body : s->u.let.body);
  around->at = at;
  return false;
}

Stmt tirc_lower_scopes(Tirc *c, const Func *f) {
  Kernel k = {.c = c, .f = f};
  tirc_visit_stmts(f->body, find_kernels, &k);
  return f->body;
}

void tirc_lower_check_joined(Tirc *c, const Func *f, Place *at, Stmt kernel, Buffer b, int n,
                             const Expr *axes) {
  Kernel k = begin(&(Kernel){.c = c, .f = f, .at = at}, kernel);
  find_touches(&k, kernel);
  if (tirc_map_has(&k.untold, b->data) || is_told_by_indices(&k, b, n, axes)) return;
  Meet meet;
  const Watched watched = {b, WATCH_STORES, false};
  const Iterations of = {relations(c, f), &k.x, k.n, n, axes, axes, SPARE_NONE};
  if (tirc_iterations_meet(&of, 1, &watched, &meet)) refuse(&k, b, &meet);
}

static Stmt spread_kernels(Mutator *m, Stmt s) {
  return tirc_is_thread_loop(s) ? spread_threads(m->c, s) : tirc_mutate_stmt_children(m, s);
}

void tirc_lower_check_launches(Tirc *c, const Func *f, Place *at, const For *loop, Buffer b) {
  Kernel k = {.c = c, .f = f, .at = at};
  Mutator m = {.c = c, .stmt = spread_kernels};
  Stmt all = tirc_for(c, loop);
  find_touches(&k, tirc_owner(b->storage) == OWNER_BLOCK ? tirc_mutate_stmt(&m, all) : all);
  Meet meet = {0};
  const Watched watched = {b, WATCH_READS, false};
  const Iterations of = {relations(c, f), &k.x, 1, 1, &loop->var, &loop->var, SPARE_NONE};
  const bool untold = tirc_map_has(&k.untold, b->data);
  if (!untold &&
      (tirc_stores_before_it_reads(&of, b) || !tirc_iterations_meet(&of, 1, &watched, &meet)))
    return;
  const char *uses =
      meet.first ? tirc_format(c, ": %s reads what %s stored%s%s", tirc_touch_text(c, meet.second),
                               tirc_touch_text(c, meet.first), meet.witness ? ": " : "",
                               meet.witness ? meet.witness : "")
                 : "";
  tirc_fail(
      c, meet.second ? tirc_place_of(meet.second->stmt) : f->loc, CODE_LOWER,
      "use scope global for values that one kernel passes to another",
      "the buffer %s of scope %s is used outside a single kernel, for each iteration of the loop "
      "%s launches one%s",
      b->name, b->scope, loop->var->u.s, uses);
}
