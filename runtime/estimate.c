/* A rough guess at the time that a function takes, to put schedules in an order before any is
 * measured: for each store the arithmetic, the dependent additions of a reduction, and the cache
 * lines that come from each level of the caches, by the strides of the accesses in the loops
 * around. Extents that are not known count as UNKNOWN. */
#include "api.h"

#include "../ir/cpu.h"
#include "../ir/visit.h"
#include "../passes/schedule/index_eval.h"

#include <stdlib.h>

enum { MAX_LOOPS = 64, MAX_ACCESSES = 32, UNKNOWN = 64, LINE = 64 };
static const double LINE_BYTES = LINE, LATENCY = 4;

typedef struct Nest { /* the loops around a statement, outermost first */
  Tirc *c;
  int n, threads;
  const For *loops[MAX_LOOPS];
  PtrMap bindings; /* iterator -> its value in terms of loops */
  double cycles;
} Nest;

typedef struct Touch { /* an access: by how many elements it moves in each loop */
  int bytes;
  int64_t stride[MAX_LOOPS];
} Touch;

typedef struct Touches {
  Nest *nest;
  int n;
  Touch at[MAX_ACCESSES];
  double ops;
} Touches;

static double extent_of(const For *f) {
  int64_t n;
  return tirc_const_int(f->extent, &n) ? (double)(n > 0 ? n : 0) : (double)UNKNOWN;
}

/* The element's number in a row-major buffer, where only loop l (or none) has left its start. */
static bool offset_at(Nest *nest, Buffer b, const Expr *indices, int l, int64_t *out) {
  IndexEval v = {.c = nest->c};
  if (l >= 0) tirc_eval_give(&v, nest->loops[l]->var, 1);
  *out = 0;
  for (int d = 0; d < b->ndim; d++) {
    int64_t at, extent = UNKNOWN;
    Expr e = tirc_substitute(nest->c, indices[d], &nest->bindings);
    (void)tirc_const_int(b->shape[d], &extent);
    if (!tirc_eval_index(&v, e, &at)) return false;
    *out = *out * extent + at;
  }
  return true;
}

static void touch(Touches *t, Buffer b, const Expr *indices) {
  int64_t start = 0, moved = 0;
  if (t->n == MAX_ACCESSES) return;
  Touch *x = &t->at[t->n++];
  *x = (Touch){.bytes = (b->dtype.bits + 7) / 8};
  bool known = offset_at(t->nest, b, indices, -1, &start);
  for (int l = 0; l < t->nest->n; l++) {
    bool ok = known && offset_at(t->nest, b, indices, l, &moved);
    x->stride[l] = ok ? moved - start : LINE; /* a gather: each a line of its own */
  }
}

static bool see(Visitor *v, Expr e) {
  Touches *t = v->self;
  if (e->op == OP_LOAD) touch(t, e->u.buffer, e->args);
  t->ops += tirc_dtype_is_float(e->dtype) && e->op != OP_LOAD && e->op != OP_FLOAT;
  return e->op != OP_LOAD;
}

/* Bytes of cache lines that the loops from `from` on touch, once. */
static double footprint(const Touches *t, int from) {
  double sum = 0;
  for (int a = 0; a < t->n; a++) {
    double elements = 1;
    int64_t least = LINE;
    for (int l = from; l < t->nest->n; l++) {
      int64_t s = llabs(t->at[a].stride[l]);
      if (s) elements *= extent_of(t->nest->loops[l]);
      if (s && s < least) least = s;
    }
    double apart = (double)(least * t->at[a].bytes);
    sum += elements * (apart < LINE_BYTES ? apart : LINE_BYTES) + LINE_BYTES;
  }
  return sum;
}

/* Cycles for what comes through a cache of `size` bytes: the largest inner nest that fits loads its
 * lines once for each iteration of the loops around it. */
static double transfer(const Touches *t, double size, double cycles_a_line) {
  double times = 1;
  int from = 0;
  while (from < t->nest->n && footprint(t, from) > size) times *= extent_of(t->nest->loops[from++]);
  return times * footprint(t, from) / LINE_BYTES * cycles_a_line;
}

static const For *innermost(const Nest *n) { return n->n ? n->loops[n->n - 1] : NULL; }

/* How many instances of the statement run side by side, and whether each waits for the last. */
static double lanes_of(const Nest *n, const Touches *t) {
  const For *f = innermost(n);
  if (!f || (f->kind != LOOP_VECTORIZED && f->kind != LOOP_SERIAL)) return 1;
  for (int a = 0; a < t->n; a++)
    if (t->at[a].stride[n->n - 1] > 1 || t->at[a].stride[n->n - 1] < 0) return 1;
  double most = t->at[0].bytes ? 32.0 / t->at[0].bytes : 1, extent = extent_of(f);
  if (f->kind == LOOP_SERIAL) most /= 2; /* if the code generator finds out */
  return t->at[0].stride[n->n - 1] == 0 ? 1 : extent < most ? extent : most;
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

static void count_store(Nest *n, Stmt s, double share_of_loops) {
  static const struct {
    double size, cycles;
  } caches[] = {{32 << 10, 2}, {512 << 10, 6}, {8 << 20, 12}};
  Touches t = {.nest = n};
  Visitor v = {.expr = see, .self = &t};
  double times = share_of_loops, overhead = 0, starts;
  touch(&t, s->u.store.buffer, s->u.store.indices); /* the first: what is written */
  tirc_visit_expr(&v, s->u.store.value);
  for (int l = 0; l < n->n; l++) {
    times *= extent_of(n->loops[l]);
    if (n->loops[l]->kind == LOOP_SERIAL) overhead += times;
  }
  double lanes = lanes_of(n, &t), work = 0.5 * (t.n + t.ops);
  bool waits = n->n && t.at[0].stride[n->n - 1] == 0 && innermost(n)->kind != LOOP_PARALLEL;
  double cycles = times * (waits && work < LATENCY ? LATENCY : work) / lanes + overhead / lanes;
  for (size_t i = 0; i < sizeof caches / sizeof *caches; i++)
    cycles += share_of_loops * transfer(&t, caches[i].size, caches[i].cycles);
  double share = parallel_share(n, &starts);
  n->cycles += cycles * share + starts * 3000;
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
  switch (s->kind) {
  case STMT_FOR:
    if (n->n == MAX_LOOPS) return;
    n->loops[n->n++] = &s->u.loop;
    walk(n, s->u.loop.body, share);
    n->n--;
    break;
  case STMT_BLOCK: walk_block(n, &s->u.block, share); break;
  case STMT_SEQ:
    for (int i = 0; i < s->u.seq.n; i++) walk(n, tirc_item(s, i), share);
    break;
  case STMT_STORE: count_store(n, s, share); break;
  case STMT_IF:
    walk(n, s->u.branch.then_case, share);
    if (s->u.branch.else_case) walk(n, s->u.branch.else_case, share);
    break;
  case STMT_WHILE: walk(n, s->u.loop_while.body, share); break;
  case STMT_LET: walk(n, s->u.let.body, share); break;
  case STMT_ALLOC:
  case STMT_DECL: walk(n, s->u.alloc.body, share); break;
  case STMT_ATTR: walk(n, s->u.attr.body, share); break;
  case STMT_ASSERT:
    if (s->u.check.body) walk(n, s->u.check.body, share);
    break;
  case STMT_EVAL: break;
  }
}

double tirc_estimate_cycles(Tirc *c, const Func *f, int threads) {
  Nest n = {.c = c, .threads = threads > 0 ? threads : 1};
  walk(&n, f->body, 1);
  return n.cycles;
}
