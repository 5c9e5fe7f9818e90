/* A rough guess at the time that a function takes, to put schedules in an order before any is
 * measured: for each store the arithmetic, the dependent additions of a reduction, and the cache
 * lines that come from each level of the caches, by the strides of the accesses in the loops
 * around. Extents that are not known count as UNKNOWN. How good it is: tirc_module_estimate. */
#include "nest.h"

#include "ir/arith/index_eval.h"
#include "ir/tree/visit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_DIMS = 16,
  LINE = CPU_LINE,
  LANES = 64, /* of a vectorized loop that go together */
  FAR_APART = 2048,
  OWN = 256 /* bytes of an allocated buffer that stay in registers */
};
/* Cycles: a turn of a loop, a call of a thread's piece, threads that are woken. A line that is
 * written is fetched, owned and written back: three of one read. What nothing fetches ahead takes
 * LATE times as long. */
static const double LINE_BYTES = LINE, TURN = 1, CALL = 20, START = 10000, WRITTEN = 3, LATE = 4;

/* Loops at their start, symbols. */
static bool take_for_zero(Visitor *v, Expr e) {
  IndexEval *env = v->self;
  if (e->op == OP_VAR && !tirc_map_get(&env->slots, e)) tirc_eval_give(env, e, 0);
  return true;
}

/* The element's indices, where only loop l (or none) has left its start, by so many iterations. */
static bool place_at(Nest *nest, Buffer b, const Expr *indices, int l, int64_t by, int64_t *out) {
  IndexEval v = {.c = nest->c};
  if (l >= 0) tirc_eval_give(&v, nest->loops[l]->var, by * nest->step[l]);
  for (int d = 0; d < b->ndim; d++) {
    Expr e = tirc_substitute(nest->c, indices[d], &nest->bindings);
    tirc_visit_expr(&(Visitor){.expr = take_for_zero, .self = &v}, e);
    if (!tirc_eval_index(&v, e, &out[d])) return false;
  }
  return true;
}

/* How far two elements of a row-major buffer are apart. */
static int64_t distance(Buffer b, const int64_t *shape, const int64_t *from, const int64_t *to) {
  int64_t out = 0;
  for (int d = 0; d < b->ndim; d++) out = out * shape[d] + to[d] - from[d];
  return out;
}

static bool is_around(const Home *home, const For *loop) {
  for (int i = 0; home && i < home->n; i++)
    if (home->loops[i]->var == loop->var) return true;
  return false;
}

/* The extents of a buffer: where it has a home, of what the loops within that use. */
static void shape_of(Nest *nest, Buffer b, const Expr *indices, const Home *home,
                     const int64_t *start, int64_t *shape) {
  int64_t at[MAX_DIMS], n;
  for (int d = 0; d < b->ndim; d++)
    shape[d] = home ? 1 : tirc_const_int(b->shape[d], &n) ? n : UNKNOWN;
  for (int l = 0; home && l < nest->n; l++) {
    if (is_around(home, nest->loops[l])) continue;
    if (!place_at(nest, b, indices, l, (int64_t)tirc_extent_of(nest->loops[l]) - 1, at)) continue;
    for (int d = 0; d < b->ndim; d++) shape[d] += llabs(at[d] - start[d]);
  }
}

/* By how much an access moves in each loop. */
static void find_strides(Nest *nest, Touch *x, const Expr *indices, const Home *home) {
  const Buffer b = x->buffer;
  int64_t start[MAX_DIMS], at[MAX_DIMS], shape[MAX_DIMS];
  const bool known = place_at(nest, b, indices, -1, 0, start);
  shape_of(nest, b, indices, known ? home : NULL, start, shape);
  for (int d = 0; d < b->ndim; d++) x->most *= (double)shape[d];
  for (int l = 0; l < nest->n; l++) {
    const int64_t last = (int64_t)tirc_extent_of(nest->loops[l]) - 1;
    x->stride[l] = LINE; /* a gather: each a line of its own */
    x->fresh[l] = is_around(home, nest->loops[l]);
    if (x->fresh[l]) x->stride[l] = 0;
    if (!known || x->stride[l] == 0 || !place_at(nest, b, indices, l, 1, at)) continue;
    const int64_t step = x->stride[l] = distance(b, shape, start, at);
    if (last < 1 || !place_at(nest, b, indices, l, last, at)) continue;
    const int64_t moved = distance(b, shape, start, at);
    x->turns[l] = llabs(moved) < llabs(step) * last;
    x->bends[l] = moved != step * last;
  }
  x->is_known = known;
  x->own = home && known && x->most <= OWN;
}

static void touch(Touches *t, Buffer b, const Expr *indices, bool written) {
  if (t->n == MAX_ACCESSES || b->ndim > MAX_DIMS) return;
  Touch *x = &t->at[t->n++];
  *x = (Touch){.bytes = (b->dtype.bits + 7) / 8, .buffer = b, .written = written};
  x->most = x->bytes;
  find_strides(t->nest, x, indices, tirc_map_get(&t->nest->homes, b->data));
  for (Touch *a = t->at; a < x && x->is_known; a++)
    x->again |= a->buffer == b && !memcmp(a->stride, x->stride, sizeof x->stride);
}

static bool is_function(const Expr e) {
  if (e->op >= OP_ASINH && e->op <= OP_HYPOT) return true;
  return e->op >= OP_EXP && e->op <= OP_FMOD && e->op != OP_SQRT && e->op != OP_RSQRT;
}

static bool see(Visitor *v, Expr e) {
  Touches *t = v->self;
  if (e->op == OP_LOAD) touch(t, e->u.buffer, e->args, false);
  t->ops += tirc_dtype_is_float(e->dtype) && e->op != OP_LOAD && e->op != OP_FLOAT;
  t->functions += is_function(e);
  return e->op != OP_LOAD;
}

static double least(double a, double b) { return a < b ? a : b; }

/* Bytes of the cache lines that an access touches in the loops from `from` on, each line once. */
static double footprint(const Nest *n, const Touch *a, int from) {
  double elements = 1;
  int64_t step = LINE;
  if (a->again) return 0;
  for (int l = from; l < n->n; l++) {
    int64_t s = llabs(a->stride[l]);
    if (s) elements *= tirc_extent_of(n->loops[l]);
    if (s && s < step) step = s;
  }
  return least(elements * least((double)(step * a->bytes), LINE_BYTES), a->most) + LINE_BYTES;
}

/* Lines that are a power of two apart share few of a cache's sets: by how much that narrows it. */
static double crowding(const Nest *n, const Touch *a, int from, int64_t sets) {
  double run = 1; /* lines that follow each other */
  int64_t apart = 0;
  for (int l = from; l < n->n; l++) {
    int64_t bytes = llabs(a->stride[l]) * a->bytes;
    double reach = tirc_extent_of(n->loops[l]) * (double)bytes / LINE_BYTES;
    if (bytes <= LINE && reach > run) run = reach;
    if (bytes > LINE && bytes % LINE == 0 && (!apart || bytes < apart)) apart = bytes;
  }
  int64_t together = apart ? (apart / LINE) & -(apart / LINE) : 1;
  if (together > sets) together = sets;
  double crowd = (double)together / run;
  return crowd > 1 ? crowd : 1;
}

static bool fits(const Touches *t, int from, const CpuCache *c) {
  double sum = 0;
  for (int a = 0; a < t->n; a++) {
    const double bytes = footprint(t->nest, &t->at[a], from);
    if (bytes * crowding(t->nest, &t->at[a], from, c->sets) > (double)c->bytes) return false;
    sum += bytes;
  }
  return sum <= (double)c->bytes;
}

/* How many times an access goes through its buffer in the loops from `from` on, where the first of
 * them turns. */
static double returns(const Nest *n, const Touch *a, int from) {
  double bytes = a->bytes;
  if (from >= n->n || !a->turns[from]) return 1;
  for (int l = from; l < n->n; l++)
    if (a->stride[l] != 0) bytes *= tirc_extent_of(n->loops[l]);
  return bytes > a->most ? bytes / a->most : 1;
}

/* Lines that are half a page apart or more are waited for: nothing fetches them ahead. */
static double lateness(const Nest *n, const Touch *a) {
  int l = n->n - 1;
  while (l > 0 && a->stride[l] == 0) l--;
  const bool late = l >= 0 && llabs(a->stride[l]) * a->bytes >= FAR_APART;
  return !late ? 1 : a->written ? LATE / 2 : LATE;
}

/* Cycles for what comes into a cache from below: the inner loops that fit keep their lines, and
 * what the loop around them touches is loaded for each iteration of the loops around that one. What
 * fits into the last cache stays there from call to call. */
static double transfer(const Touches *t, const CpuCache *c) {
  double times = 1, lines = 0;
  int from = 0;
  while (from < t->nest->n && !fits(t, from, c)) from++;
  if (from == 0 && c == &t->nest->caches[t->nest->n_caches - 1]) return 0;
  for (int l = 0; l < from - 1; l++) times *= tirc_extent_of(t->nest->loops[l]);
  for (int a = 0; a < t->n; a++)
    lines += footprint(t->nest, &t->at[a], from ? from - 1 : 0) / LINE_BYTES *
             returns(t->nest, &t->at[a], from ? from - 1 : 0) * lateness(t->nest, &t->at[a]) *
             (t->at[a].written ? WRITTEN : 1);
  return times * lines * c->cycles;
}

static const For *loop_around(const Nest *n, const Code *k) {
  return k->from ? n->loops[k->from - 1] : NULL;
}

static void push_loop(Nest *n, const For *loop, int64_t extent, int64_t step) {
  For *own = tirc_new(n->c, For);
  if (extent == 1 || n->n == MAX_LOOPS) return;
  *own = *loop;
  if (step > 1) own->kind = LOOP_SERIAL;
  if (extent > 0) own->extent = tirc_int(n->c, loop->extent->dtype, extent);
  n->step[n->n] = step;
  n->loops[n->n++] = extent > 0 ? own : loop;
}

/* Vectorized loops become instructions: they are the innermost; long ones by pieces, around which
 * there is a loop where they stood. One iteration is no loop. */
static Nest with_vectors_inside(const Nest *n) {
  Nest out = *n;
  out.n = 0;
  for (int vectors = 0; vectors < 2; vectors++)
    for (int l = 0; l < n->n; l++) {
      const For *f = n->loops[l];
      const bool is_vector = f->kind == LOOP_VECTORIZED, is_long = tirc_extent_of(f) > LANES;
      if (is_vector && is_long)
        push_loop(&out, f, vectors ? LANES : (int64_t)ceil(tirc_extent_of(f) / LANES),
                  vectors ? 1 : LANES);
      else if (is_vector == vectors)
        push_loop(&out, f, tirc_extent_of(f) == 1, 1);
    }
  return out;
}

static double parallel_share(const Nest *n, double *starts) {
  double times = 1;
  for (int l = 0; l < n->n; l++) {
    double extent = tirc_extent_of(n->loops[l]);
    if (n->loops[l]->kind == LOOP_PARALLEL && extent > 0) {
      double rounds = (double)(((int64_t)extent + n->threads - 1) / n->threads);
      *starts = times;
      return rounds / extent;
    }
    times *= extent;
  }
  *starts = 0;
  return 1;
}

/* --- features: of what a store costs, mostly in logarithms ------------------------------------ */

static double magnitude(double x) { return log2(1 + fabs(x)); }

static void count_loops(const Nest *n, double *f) {
  double kinds[LOOP_THREAD_BINDING + 1] = {0}, times = 1;
  int serial = 0;
  for (int k = 0; k <= LOOP_THREAD_BINDING; k++) kinds[k] = 1;
  for (int l = 0; l < n->n; l++) {
    kinds[n->loops[l]->kind] *= tirc_extent_of(n->loops[l]);
    times *= tirc_extent_of(n->loops[l]);
    serial += n->loops[l]->kind == LOOP_SERIAL;
  }
  f[0] = magnitude(times);
  f[1] = magnitude(kinds[LOOP_PARALLEL]);
  f[2] = magnitude(kinds[LOOP_VECTORIZED]);
  f[3] = magnitude(kinds[LOOP_UNROLLED]);
  f[4] = serial;
  f[5] = n->n && tirc_innermost(n)->kind == LOOP_SERIAL
             ? magnitude(tirc_extent_of(tirc_innermost(n)))
             : 0;
}

/* What moves, by how far, in the innermost loop; how much memory the inner loops touch. */
static void count_touches(const Nest *n, const Touches *t, double *f) {
  double still = 0, along = 0, far = 0, bent = 0;
  for (int a = 1; a < t->n && n->n; a++) {
    const int64_t s = llabs(t->at[a].stride[n->n - 1]);
    still += s == 0;
    along += s == 1;
    far += s > 1;
    bent += t->at[a].bends[n->n - 1];
  }
  f[0] = still, f[1] = along, f[2] = far, f[3] = bent;
  f[4] = t->n && n->n ? magnitude((double)t->at[0].stride[n->n - 1]) : 0;
  f[5] = t->n ? magnitude(t->at[0].most) : 0;
  for (int inner = 0; inner < 5; inner++) { /* bytes in the last 1, 2, 3, 4, 6 loops */
    const int loops = inner == 4 ? 6 : inner + 1, from = n->n > loops ? n->n - loops : 0;
    double bytes = 0;
    for (int a = 0; a < t->n; a++) bytes += footprint(n, &t->at[a], from);
    f[6 + inner] = magnitude(bytes);
  }
}

/* Independent results that the innermost loops compute before the first of them is wanted again:
 * the registers of a tile. */
static double results_at_a_time(const Nest *n, const Touches *t) {
  double inside = 1;
  for (int l = n->n - 1; l >= 0 && t->at[0].stride[l] != 0; l--)
    inside *= tirc_extent_of(n->loops[l]);
  return inside;
}

/* Instances of the loops from `from` on that an instruction computes. */
static double lanes_inside(const Nest *n, const Touches *t, int from) {
  const double instructions = tirc_nest_copies(n, t, from, NULL);
  double instances = 1;
  for (int l = from; l < n->n; l++) instances *= tirc_extent_of(n->loops[l]);
  return instructions > 0 ? instances / instructions : 1;
}

static void describe(Nest *outer, const Nest *n, const Touches *t, double times, double cycles,
                     const Code *code, double work, double overhead, const double *transfers) {
  StoreFeatures s = {.cycles = cycles};
  double *f = s.at;
  int k = 0;
  if (!outer->heaviest) return;
  count_loops(n, f);
  k += 6;
  count_touches(n, t, f + k);
  k += 11;
  f[k++] = magnitude(t->ops * times);
  f[k++] = magnitude(t->functions * times);
  f[k++] = code->lanes * lanes_inside(n, t, code->from);
  f[k++] = magnitude(results_at_a_time(n, t));
  f[k++] = magnitude(work);
  f[k++] = magnitude(overhead);
  for (int i = 0; i < CPU_CACHES; i++) f[k++] = magnitude(transfers[i]);
  f[k++] = magnitude(cycles);
  f[k++] = t->n && t->at[0].buffer->storage == STORAGE_LOCAL;
  for (int i = 0; i < STORE_FEATURES; i++) outer->all[i] += exp2(fmin(f[i], 60)) - 1;
  int at = STORES;
  while (at > 0 && outer->heaviest[at - 1].cycles < cycles) at--;
  if (at == STORES) return;
  for (int i = STORES - 1; i > at; i--) outer->heaviest[i] = outer->heaviest[i - 1];
  outer->heaviest[at] = s;
}

/* Of the statements in one loop the work adds up, and one waits while the others go on. */
static double count_together(Nest *n, const For *loop, double work, double waits) {
  const void *around = loop ? (const void *)loop : n; /* the function, where there is no loop */
  Together *all = tirc_map_get(&n->together, around);
  if (!all) tirc_map_set(n->c, &n->together, around, all = tirc_new(n->c, Together));
  const double before = fmax(all->work, all->waits);
  all->work += work;
  all->waits = fmax(all->waits, waits);
  return fmax(all->work, all->waits) - before;
}

/* The turns of the loops that are not written out, each loop once. */
static double count_turns(Nest *outer, const Nest *n, const Touches *t, const Code *k,
                          double share) {
  double turns = share, cycles = 0;
  for (int l = 0; l < k->from; l++) {
    const For *f = n->loops[l];
    turns *= tirc_extent_of(f);
    if (n->is_init || tirc_map_has(&outer->turned, f)) continue;
    tirc_map_set(outer->c, &outer->turned, f, f);
    const bool inner = l == k->from - 1;
    cycles += turns * (!inner ? TURN : t->at[0].own ? 0 : TURN / k->lanes / 2);
    if (f->kind == LOOP_PARALLEL && n->threads > 1) cycles += turns * CALL;
  }
  return cycles;
}

/* The arithmetic and what each cache waits for overlap: the longest counts, and a quarter of the
 * others. */
static void count_store(Nest *outer, Stmt s, double share_of_loops) {
  Nest inner = with_vectors_inside(outer), *n = &inner;
  Touches t = {.nest = n};
  Visitor v = {.expr = see, .self = &t};
  double times = share_of_loops, starts;
  touch(&t, s->u.store.buffer, s->u.store.indices, true); /* the first: what is written */
  tirc_visit_expr(&v, s->u.store.value);
  if (!t.n) return;
  const Code code = tirc_nest_code(n, &t);
  for (int l = 0; l < n->n; l++) times *= tirc_extent_of(n->loops[l]);
  double turns = share_of_loops / code.lanes;
  for (int l = 0; l < code.from; l++) turns *= tirc_extent_of(n->loops[l]);
  const double overhead = count_turns(outer, n, &t, &code, share_of_loops);
  const double work = count_together(outer, loop_around(n, &code), turns * code.work + overhead,
                                     turns * code.waits);
  double transfers[CPU_CACHES] = {0}, longest = work, sum = longest;
  for (int i = 0; i < n->n_caches; i++) {
    double cycles = transfers[i] = share_of_loops * transfer(&t, &n->caches[i]);
    sum += cycles;
    if (cycles > longest) longest = cycles;
  }
  double share = parallel_share(n, &starts);
  const double cycles =
      (longest + (sum - longest) / 4) * share + (n->threads > 1 ? starts * START : 0);
  outer->cycles += cycles;
  describe(outer, n, &t, times, cycles, &code, work, overhead, transfers);
}

static void walk(Nest *n, Stmt s, double share);

static bool see_loop(Visitor *v, Expr e) {
  *(int *)v->self += e->op == OP_VAR;
  return true;
}

/* Whether an iterator that is summed over is made of several loops. */
static bool splits_sum(const Block *b) {
  for (int i = 0; i < b->n_iters; i++) {
    int loops = 0;
    Visitor v = {.expr = see_loop, .self = &loops};
    if (b->iters[i].kind == ITER_REDUCE) tirc_visit_expr(&v, b->iter_values[i]);
    if (loops > 1) return true;
  }
  return false;
}

/* The part of all iterations in which a condition holds that is about where loops end. */
static double part_within(Nest *n, Expr cond) {
  int64_t end;
  double all = 1;
  if (cond->op == OP_AND) return part_within(n, cond->args[0]) * part_within(n, cond->args[1]);
  if (cond->op == OP_INT) return 1;
  if (cond->op != OP_LT || !tirc_const_int(cond->args[1], &end)) {
    n->guard = cond;
    return 1;
  }
  for (int l = 0; l < n->n; l++)
    if (tirc_uses_var(cond, n->loops[l]->var)) all *= tirc_extent_of(n->loops[l]);
  return all > (double)end && end > 0 ? (double)end / all : 1;
}

static void walk_block(Nest *n, const Block *b, double share) {
  double init = share;
  for (int i = 0; i < b->n_iters; i++) {
    int64_t extent;
    tirc_map_set(n->c, &n->bindings, b->iters[i].var,
                 tirc_substitute(n->c, b->iter_values[i], &n->bindings));
    if (b->iters[i].kind == ITER_REDUCE && tirc_const_int(b->iters[i].dom.extent, &extent) &&
        extent > 0)
      init /= (double)extent;
  }
  const bool before = n->splits_sum;
  const Expr guard = n->guard;
  const double part = part_within(n, b->predicate);
  n->splits_sum = b->init && splits_sum(b);
  n->is_init = true;
  if (b->init) walk(n, b->init, init * part);
  n->is_init = false;
  walk(n, b->body, share * part);
  n->splits_sum = before;
  n->guard = guard;
}

static void walk(Nest *n, Stmt s, double share) {
  Stmt below;
  switch (s->kind) {
  case STMT_FOR:
    if (n->n == MAX_LOOPS) return;
    n->loops[n->n++] = &s->u.loop;
    walk(n, s->u.loop.body, share);
    n->n--;
    break;
  case STMT_BLOCK: walk_block(n, &s->u.block, share); break;
  case STMT_STORE: count_store(n, s, share); break;
  default:
    for (int i = 0; (below = tirc_below(s, i)); i++) walk(n, below, share);
  }
}

/* --- homes of allocated buffers --------------------------------------------------------------- */

static void use(Nest *n, Expr data) {
  Home *home = tirc_map_get(&n->homes, data);
  int common = 0;
  if (!home) return;
  if (!home->is_used) {
    home->is_used = true;
    home->n = n->n;
    memcpy(home->loops, n->loops, (size_t)n->n * sizeof *n->loops);
  }
  while (common < home->n && common < n->n && home->loops[common] == n->loops[common]) common++;
  home->n = common < home->most ? common : home->most;
}

static bool see_use(Visitor *v, Expr e) {
  if (e->op == OP_LOAD) use(v->self, e->u.buffer->data);
  return true;
}

static void add_home(Nest *n, Expr data) {
  Home *home = tirc_new(n->c, Home);
  home->most = MAX_LOOPS;
  tirc_map_set(n->c, &n->homes, data, home);
}

/* What a block sums up stays from one iteration of the loops of its sum to the next. */
static void keep_sums(Nest *n, const Block *b) {
  int first = n->n;
  for (int i = 0; i < b->n_iters; i++)
    for (int l = 0; b->iters[i].kind == ITER_REDUCE && l < first; l++)
      if (tirc_uses_var(b->iter_values[i], n->loops[l]->var)) first = l;
  for (int i = 0; first < n->n && i < b->n_writes; i++) {
    Home *home = tirc_map_get(&n->homes, b->writes[i].buffer->data);
    if (home && home->most > first) home->most = first;
  }
}

static void find_homes(Nest *n, Stmt s) {
  Visitor v = {.expr = see_use, .self = n};
  Stmt below;
  const bool is_loop = s->kind == STMT_FOR;
  if (is_loop && n->n == MAX_LOOPS) return;
  if (s->kind == STMT_BLOCK)
    for (int i = 0; i < s->u.block.n_allocs; i++) add_home(n, s->u.block.allocs[i]->data);
  if (s->kind == STMT_BLOCK) keep_sums(n, &s->u.block);
  if (s->kind == STMT_STORE) use(n, s->u.store.buffer->data);
  if (s->kind == STMT_STORE) tirc_visit_expr(&v, s->u.store.value);
  if (s->kind != STMT_STORE) tirc_visit_head(&v, s);
  if (is_loop) n->loops[n->n++] = &s->u.loop;
  if (is_loop) find_homes(n, s->u.loop.body);
  if (s->kind == STMT_BLOCK && s->u.block.init) find_homes(n, s->u.block.init);
  if (s->kind == STMT_BLOCK) find_homes(n, s->u.block.body);
  for (int i = 0; (below = tirc_below(s, i)); i++) find_homes(n, below);
  n->n -= is_loop;
}

static Nest nest_for(Tirc *c, const Cpu *target, int threads) {
  Nest n = {.c = c, .threads = threads > 0 ? threads : 1};
  n.n_caches = tirc_cpu_caches(target, n.caches);
  return n;
}

double tirc_estimate_cycles(Tirc *c, const Func *f, const Cpu *target, int threads) {
  Nest n = nest_for(c, target, threads);
  find_homes(&n, f->body);
  walk(&n, f->body, 1);
  return n.cycles;
}

void tirc_program_features(Tirc *c, const Module *m, const Cpu *target, int threads, float *out) {
  StoreFeatures heaviest[STORES] = {0};
  Nest n = nest_for(c, target, threads);
  n.heaviest = heaviest;
  int k = 0;
  for (int f = 0; f < m->n_funcs; f++) {
    n.n = 0;
    find_homes(&n, m->funcs[f]->body);
    walk(&n, m->funcs[f]->body, 1);
  }
  out[k++] = (float)magnitude(n.cycles);
  for (int i = 0; i < STORE_FEATURES; i++) out[k++] = (float)magnitude(n.all[i]);
  for (int i = 0; i < STORES; i++)
    for (int j = 0; j < STORE_FEATURES; j++) out[k++] = (float)heaviest[i].at[j];
}
