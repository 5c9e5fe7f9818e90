/* A rough guess at the time that a function takes, to put schedules in an order before any is
 * measured: for each store the arithmetic, the dependent additions of a reduction, and the cache
 * lines that come from each level of the caches, by the strides of the accesses in the loops
 * around. Extents that are not known count as UNKNOWN. How good it is: tirc_module_estimate. */
#include "estimate.h"

#include "ir/arith/index_eval.h"
#include "ir/tree/visit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_LOOPS = 64,
  MAX_ACCESSES = 32,
  UNKNOWN = 64,
  LINE = CPU_LINE,
  MANY = 64 /* copies of a body */
};
/* Cycles: an addition that waits for the last one, exp and its like, a quotient of indices, threads
 * that are woken. A line that is written is fetched, owned and written back: three of one read. */
static const double LINE_BYTES = LINE, LATENCY = 4, FUNCTION = 8, QUOTIENT = 4, START = 10000,
                    WRITTEN = 3, SHORT = 12;

typedef struct Nest { /* the loops around a statement, outermost first */
  Tirc *c;
  int n, threads, n_caches;
  CpuCache caches[CPU_CACHES]; /* of the target */
  const For *loops[MAX_LOOPS];
  PtrMap bindings; /* iterator -> its value in terms of loops */
  double cycles;
  StoreFeatures *heaviest; /* STORES of them, by cycles, the first one the most; or NULL */
  double all[STORE_FEATURES];
} Nest;

typedef struct Touch { /* an access: by how many elements it moves in each loop */
  int bytes;
  Buffer buffer;
  bool written, bent, again; /* bent: in the innermost loop its steps are not all the same; again:
                                another access moves through the same buffer in the same way */
  double most;               /* bytes of the buffer */
  int64_t stride[MAX_LOOPS];
  bool turns[MAX_LOOPS]; /* comes back in the loop to where it was: a fused one */
} Touch;

typedef struct Touches {
  Nest *nest;
  int n;
  Touch at[MAX_ACCESSES];
  double ops, functions;
} Touches;

static double extent_of(const For *f) {
  int64_t n;
  return tirc_const_int(f->extent, &n) ? (double)(n > 0 ? n : 0) : (double)UNKNOWN;
}

/* Loops at their start, symbols. */
static bool take_for_zero(Visitor *v, Expr e) {
  IndexEval *env = v->self;
  if (e->op == OP_VAR && !tirc_map_get(&env->slots, e)) tirc_eval_give(env, e, 0);
  return true;
}

/* The element's number in a row-major buffer, where only loop l (or none) has left its start, by so
 * many iterations. */
static bool offset_at(Nest *nest, Buffer b, const Expr *indices, int l, int64_t by, int64_t *out) {
  IndexEval v = {.c = nest->c};
  if (l >= 0) tirc_eval_give(&v, nest->loops[l]->var, by);
  *out = 0;
  for (int d = 0; d < b->ndim; d++) {
    int64_t at, extent = UNKNOWN;
    Expr e = tirc_substitute(nest->c, indices[d], &nest->bindings);
    (void)tirc_const_int(b->shape[d], &extent);
    tirc_visit_expr(&(Visitor){.expr = take_for_zero, .self = &v}, e);
    if (!tirc_eval_index(&v, e, &at)) return false;
    *out = *out * extent + at;
  }
  return true;
}

static void touch(Touches *t, Buffer b, const Expr *indices, bool written) {
  int64_t start = 0, moved = 0, extent;
  int last = t->nest->n - 1;
  if (t->n == MAX_ACCESSES) return;
  Touch *x = &t->at[t->n++];
  *x = (Touch){.bytes = (b->dtype.bits + 7) / 8, .buffer = b, .written = written};
  x->most = x->bytes;
  for (int d = 0; d < b->ndim; d++)
    x->most *= tirc_const_int(b->shape[d], &extent) ? (double)extent : (double)UNKNOWN;
  bool known = offset_at(t->nest, b, indices, -1, 0, &start);
  for (int l = 0; l <= last; l++) {
    bool ok = known && offset_at(t->nest, b, indices, l, 1, &moved);
    x->stride[l] = ok ? moved - start : LINE; /* a gather: each a line of its own */
    if (ok && tirc_const_int(t->nest->loops[l]->extent, &extent) && extent > 1)
      x->turns[l] = offset_at(t->nest, b, indices, l, extent - 1, &moved) &&
                    llabs(moved - start) < llabs(x->stride[l]) * (extent - 1);
  }
  for (Touch *a = t->at; a < x && known; a++)
    x->again |= a->buffer == b && !memcmp(a->stride, x->stride, sizeof x->stride);
  if (!known || last < 0 || !tirc_const_int(t->nest->loops[last]->extent, &extent)) return;
  x->bent = extent > 1 && offset_at(t->nest, b, indices, last, extent - 1, &moved) &&
            moved - start != x->stride[last] * (extent - 1);
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
    if (s) elements *= extent_of(n->loops[l]);
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
    double reach = extent_of(n->loops[l]) * (double)bytes / LINE_BYTES;
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
  for (int a = 0; a < t->n; a++)
    sum += footprint(t->nest, &t->at[a], from) * crowding(t->nest, &t->at[a], from, c->sets);
  return sum <= (double)c->bytes;
}

/* How many times an access goes through its buffer in a loop that turns. */
static double returns(const Nest *n, const Touch *a, int l) {
  if (l >= n->n || !a->turns[l]) return 1;
  double bytes = extent_of(n->loops[l]) * (double)llabs(a->stride[l]) * a->bytes;
  return bytes > a->most ? bytes / a->most : 1;
}

/* Cycles for what comes into a cache from below: the inner loops that fit keep their lines, and
 * what the loop around them touches is loaded for each iteration of the loops around that one. What
 * fits into the last cache stays there from call to call. */
static double transfer(const Touches *t, const CpuCache *c) {
  double times = 1, lines = 0;
  int from = 0;
  while (from < t->nest->n && !fits(t, from, c)) from++;
  if (from == 0 && c == &t->nest->caches[t->nest->n_caches - 1]) return 0;
  for (int l = 0; l < from - 1; l++) times *= extent_of(t->nest->loops[l]);
  for (int a = 0; a < t->n; a++)
    lines += footprint(t->nest, &t->at[a], from ? from - 1 : 0) / LINE_BYTES *
             returns(t->nest, &t->at[a], from ? from - 1 : 0) * (t->at[a].written ? WRITTEN : 1);
  return times * lines * c->cycles;
}

static const For *innermost(const Nest *n) { return n->n ? n->loops[n->n - 1] : NULL; }

/* How many instances of the statement run side by side. */
static double lanes_of(const Nest *n, const Touches *t) {
  const For *f = innermost(n);
  if (!f || (f->kind != LOOP_VECTORIZED && f->kind != LOOP_SERIAL)) return 1;
  if (f->kind == LOOP_SERIAL && t->functions > 0) return 1; /* the code generator leaves it alone */
  for (int a = 0; a < t->n; a++)
    if (t->at[a].stride[n->n - 1] > 1 || t->at[a].stride[n->n - 1] < 0 || t->at[a].bent) return 1;
  double most = t->at[0].bytes ? 32.0 / t->at[0].bytes : 1;
  return t->at[0].stride[n->n - 1] == 0 ? 1 : least(extent_of(f), most);
}

/* Cycles of the arithmetic. What a reduction adds to one element waits for the last addition, but
 * for the instances in the loops inside, which are on other elements. */
static double compute(const Nest *n, const Touches *t, double times) {
  double lanes = lanes_of(n, t), work = 0.5 * (t->n + t->ops) + FUNCTION * t->functions, inside = 1;
  int l = n->n - 1;
  for (int a = 0; a < t->n; a++) work += t->at[a].bent ? QUOTIENT : 0;
  for (; l >= 0 && t->at[0].stride[l] != 0; l--) inside *= extent_of(n->loops[l]);
  bool waits = l >= 0 && n->loops[l]->kind != LOOP_PARALLEL;
  double step = inside * work / lanes;
  return waits && step < LATENCY && inside > 0 ? times / inside * LATENCY : times * work / lanes;
}

/* Vectorized loops become instructions: they are the innermost. One iteration is no loop. */
static Nest with_vectors_inside(const Nest *n) {
  Nest out = *n;
  out.n = 0;
  for (int vectors = 0; vectors < 2; vectors++)
    for (int l = 0; l < n->n; l++)
      if ((n->loops[l]->kind == LOOP_VECTORIZED) == vectors && extent_of(n->loops[l]) != 1)
        out.loops[out.n++] = n->loops[l];
  return out;
}

static double parallel_share(const Nest *n, double *starts) {
  double times = 1;
  for (int l = 0; l < n->n; l++) {
    double extent = extent_of(n->loops[l]);
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

/* The code generator unrolls short loops, and may then vectorize the loop around them: that one is
 * the innermost, if it is over different elements of what is written. */
static void unroll_short(Nest *n, Stmt s) {
  Touches t = {.nest = n};
  double times = 1;
  int l = n->n - 1;
  touch(&t, s->u.store.buffer, s->u.store.indices, true);
  for (; l >= 0 && times * extent_of(n->loops[l]) <= SHORT; l--) {
    if (n->loops[l]->kind != LOOP_SERIAL && n->loops[l]->kind != LOOP_UNROLLED) break;
    times *= extent_of(n->loops[l]);
  }
  if (l < 0 || n->loops[l]->kind != LOOP_SERIAL || t.at[0].stride[l] == 0) return;
  const For *around = n->loops[l];
  for (; l + 1 < n->n; l++) n->loops[l] = n->loops[l + 1];
  n->loops[l] = around;
}

/* --- features: of what a store costs, mostly in logarithms ------------------------------------ */

static double magnitude(double x) { return log2(1 + fabs(x)); }

static void count_loops(const Nest *n, double *f) {
  double kinds[LOOP_THREAD_BINDING + 1] = {0}, times = 1;
  int serial = 0;
  for (int k = 0; k <= LOOP_THREAD_BINDING; k++) kinds[k] = 1;
  for (int l = 0; l < n->n; l++) {
    kinds[n->loops[l]->kind] *= extent_of(n->loops[l]);
    times *= extent_of(n->loops[l]);
    serial += n->loops[l]->kind == LOOP_SERIAL;
  }
  f[0] = magnitude(times);
  f[1] = magnitude(kinds[LOOP_PARALLEL]);
  f[2] = magnitude(kinds[LOOP_VECTORIZED]);
  f[3] = magnitude(kinds[LOOP_UNROLLED]);
  f[4] = serial;
  f[5] = n->n && innermost(n)->kind == LOOP_SERIAL ? magnitude(extent_of(innermost(n))) : 0;
}

/* What moves, by how far, in the innermost loop; how much memory the inner loops touch. */
static void count_touches(const Nest *n, const Touches *t, double *f) {
  double still = 0, along = 0, far = 0, bent = 0;
  for (int a = 1; a < t->n && n->n; a++) {
    const int64_t s = llabs(t->at[a].stride[n->n - 1]);
    still += s == 0;
    along += s == 1;
    far += s > 1;
    bent += t->at[a].bent;
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
  for (int l = n->n - 1; l >= 0 && t->at[0].stride[l] != 0; l--) inside *= extent_of(n->loops[l]);
  return inside;
}

static void describe(Nest *outer, const Nest *n, const Touches *t, double times, double cycles,
                     double work, double overhead, const double *transfers) {
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
  f[k++] = lanes_of(n, t);
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

/* The arithmetic and what each cache waits for overlap: the longest counts, and a quarter of the
 * others. */
static void count_store(Nest *outer, Stmt s, double share_of_loops) {
  Nest inner = with_vectors_inside(outer), *n = &inner;
  unroll_short(n, s);
  Touches t = {.nest = n};
  Visitor v = {.expr = see, .self = &t};
  double times = share_of_loops, overhead = 0, starts;
  touch(&t, s->u.store.buffer, s->u.store.indices, true); /* the first: what is written */
  tirc_visit_expr(&v, s->u.store.value);
  for (int l = 0; l < n->n; l++) {
    times *= extent_of(n->loops[l]);
    bool is_long = n->loops[l]->kind == LOOP_UNROLLED && extent_of(n->loops[l]) > (double)MANY;
    if (n->loops[l]->kind == LOOP_SERIAL || is_long) overhead += times;
  }
  double transfers[CPU_CACHES] = {0}, work = compute(n, &t, times);
  double longest = work + overhead / lanes_of(n, &t), sum = longest;
  for (int i = 0; i < n->n_caches; i++) {
    double cycles = transfers[i] = share_of_loops * transfer(&t, &n->caches[i]);
    sum += cycles;
    if (cycles > longest) longest = cycles;
  }
  double share = parallel_share(n, &starts);
  const double cycles = (longest + (sum - longest) / 4) * share + starts * START;
  outer->cycles += cycles;
  describe(outer, n, &t, times, cycles, work, overhead, transfers);
}

static void walk(Nest *n, Stmt s, double share);

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
  if (b->init) walk(n, b->init, init);
  walk(n, b->body, share);
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

static Nest nest_for(Tirc *c, const Cpu *target, int threads) {
  Nest n = {.c = c, .threads = threads > 0 ? threads : 1};
  n.n_caches = tirc_cpu_caches(target, n.caches);
  return n;
}

double tirc_estimate_cycles(Tirc *c, const Func *f, const Cpu *target, int threads) {
  Nest n = nest_for(c, target, threads);
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
    walk(&n, m->funcs[f]->body, 1);
  }
  out[k++] = (float)magnitude(n.cycles);
  for (int i = 0; i < STORE_FEATURES; i++) out[k++] = (float)magnitude(n.all[i]);
  for (int i = 0; i < STORES; i++)
    for (int j = 0; j < STORE_FEATURES; j++) out[k++] = (float)heaviest[i].at[j];
}
