/* What iterations that run at the same time may do. The interpreter runs all loops in order, so the
 * order is turned around here: two iterations that depend on each other then run the other way
 * round. And while it runs, who reads what which iteration stored is written down: iterations that
 * store first what they read do not care about their order, but threads that share the memory do.
 */
#include "fuzz.h"

#include "ir/tree/visit.h"

#include <stdlib.h>

static bool is_parallel(const For *f) {
  return f->kind == LOOP_PARALLEL || f->kind == LOOP_VECTORIZED || f->kind == LOOP_THREAD_BINDING;
}

/* --- the other order ------------------------------------------------------------------------- */

typedef struct Turn {
  const char *block; /* only the loops around this block alone; NULL: the parallel ones */
  bool any;
} Turn;

enum { MAX_MOVED = 16 };
typedef struct Below { /* what is in a loop */
  int n_moved;
  Expr moved[MAX_MOVED]; /* its variable, and those that are let from it */
  const char *block, *thread;
  unsigned kinds; /* of the iterators that are bound to it: 1 << IterKind */
  bool others;    /* blocks of another name */
  bool loads;     /* an index that is loaded: which elements meet cannot be known */
  bool waits;     /* threads store to memory that they share */
} Below;

static bool find_load(Visitor *v, Expr e) {
  Below *k = v->self;
  k->loads |= e->op == OP_LOAD;
  return true;
}

static bool look_at_index(Visitor *v, Expr e) {
  Visitor loads = {.expr = find_load, .self = v->self};
  for (int i = 0; e->op == OP_LOAD && i < e->n; i++) tirc_visit_expr(&loads, e->args[i]);
  return true;
}

static bool is_moved(const Below *k, Expr e) {
  for (int i = 0; i < k->n_moved; i++)
    if (tirc_uses_var(e, k->moved[i])) return true;
  return false;
}

static bool look_below(Visitor *v, Stmt s) {
  Below *k = v->self;
  Visitor loads = {.expr = find_load, .self = k};
  k->waits |= s->kind == STMT_STORE && k->thread && !strcmp(s->u.store.buffer->scope, "shared");
  for (int i = 0; s->kind == STMT_STORE && i < s->u.store.n; i++)
    tirc_visit_expr(&loads, s->u.store.indices[i]);
  if (s->kind == STMT_LET && k->n_moved < MAX_MOVED && is_moved(k, s->u.let.value))
    k->moved[k->n_moved++] = s->u.let.var;
  if (s->kind != STMT_BLOCK) return true;
  k->others |= k->block && strcmp(k->block, s->u.block.name) != 0;
  for (int i = 0; i < s->u.block.n_iters; i++)
    if (is_moved(k, s->u.block.iter_values[i])) k->kinds |= 1u << s->u.block.iters[i].kind;
  return true;
}

/* A reduction over threads is no loop whose iterations run at the same time here. With indices that
 * are loaded, a loop is parallel at its user's risk. */
static bool turns(const For *f, const char *block) {
  Below k = {.n_moved = 1, .moved = {f->var}, .block = block, .thread = f->thread};
  if (!block && !is_parallel(f)) return false;
  tirc_visit_stmt(&(Visitor){.stmt = look_below, .expr = look_at_index, .self = &k}, f->body);
  return !k.others && !k.loads && !k.waits &&
         (block ? k.kinds == 1u << ITER_SPATIAL : !(k.kinds & 1u << ITER_REDUCE));
}

static bool see_risk(Visitor *v, Stmt s) {
  if (s->kind != STMT_FOR || !is_parallel(&s->u.loop)) return true;
  Below k = {.n_moved = 1, .moved = {s->u.loop.var}};
  tirc_visit_stmt(&(Visitor){.stmt = look_below, .expr = look_at_index, .self = &k},
                  s->u.loop.body);
  *(bool *)v->self |= k.loads;
  return true;
}

bool fuzz_is_at_users_risk(const Func *f) {
  bool found = false;
  tirc_visit_stmt(&(Visitor){.stmt = see_risk, .self = &found}, f->body);
  return found;
}

static Stmt turn(Mutator *m, Stmt s) {
  Turn *k = m->self;
  s = tirc_mutate_stmt_children(m, s);
  if (s->kind != STMT_FOR || !turns(&s->u.loop, k->block)) return s;
  Tirc *c = m->c;
  For f = s->u.loop;
  Expr last =
      tirc_sub(c, tirc_add(c, tirc_add(c, f.min, f.min), f.extent), tirc_int(c, f.var->dtype, 1));
  f.body = tirc_substitute1_stmt(c, f.body, f.var, tirc_sub(c, last, f.var));
  k->any = true;
  return tirc_for(c, &f);
}

const Func *fuzz_turned(Tirc *c, const Func *f, const char *block) {
  Turn k = {.block = block};
  Mutator m = {.c = c, .stmt = turn, .self = &k};
  Stmt body = tirc_mutate_stmt(&m, f->body);
  return k.any ? tirc_func_with_body(c, f, body) : NULL;
}

/* --- threads --------------------------------------------------------------------------------- */

enum { MAX_ARRAYS = 64 };

typedef struct Place { /* of one element while one loop runs */
  uint64_t run;        /* which run of which loop: 0 for none */
  int64_t writer, reader;
  bool written, read; /* read: before it was written by the same iteration */
} Place;

struct Threads {
  const Func *f;
  int depth;       /* how many parallel loops are outside of the one that is watched */
  bool deeper;     /* there was one inside of it */
  const For *loop; /* the one that is watched around the running block; NULL: none */
  uint64_t run;
  int64_t iteration;
  bool sums; /* the running block changes an element more than once */
  Buffer buffers[MAX_ARRAYS];
  Place *places[MAX_ARRAYS];
  Buffer raced;
};

static void see_array(void *self, int array, Buffer b, const int64_t *shape) {
  Threads *t = self;
  int64_t n = 1;
  if (array >= MAX_ARRAYS) return;
  for (int d = 0; d < b->ndim; d++) n *= shape[d];
  bool param = false;
  for (int i = 0; i < t->f->n_params; i++) param |= t->f->buffers[i] == b;
  t->buffers[array] = b;
  free(t->places[array]);
  /* An allocated buffer may be a new one in each iteration. */
  t->places[array] = param ? calloc((size_t)n + 1, sizeof(Place)) : NULL;
}

/* Without an init a block that stores to an element of another iteration stores the same. */
static bool starts_sums(const Block *b) {
  for (int i = 0; b->init && i < b->n_iters; i++)
    if (b->iters[i].kind == ITER_REDUCE) return true;
  return false;
}

static void see_block(void *self, const Block *b, int n, Stmt const *loops, const int64_t *values) {
  (void)n, (void)loops, (void)values;
  ((Threads *)self)->sums = starts_sums(b);
}

static void see_place(void *self, int n, Stmt const *loops, const int64_t *values) {
  Threads *t = self;
  int outside = 0;
  t->loop = NULL;
  t->run = 0x9e3779b97f4a7c15u;
  for (int i = 0; i < n; i++) {
    const For *f = &loops[i]->u.loop;
    const bool parallel = turns(f, NULL);
    t->deeper |= parallel && t->loop;
    if (t->loop) continue;
    if (parallel && outside++ == t->depth) {
      t->loop = f;
      t->iteration = values[i];
      t->run ^= (uint64_t)(uintptr_t)f;
    } else {
      t->run = (t->run ^ (uint64_t)values[i]) * 0x9e3779b97f4a7c15u;
    }
  }
  t->run |= 1;
}

static bool see_access(void *self, int array, int64_t element, bool is_write) {
  Threads *t = self;
  Place *p = array < MAX_ARRAYS && t->places[array] ? &t->places[array][element] : NULL;
  if (!p || !t->loop) return true;
  if (p->run != t->run) *p = (Place){.run = t->run};
  const bool mine = p->written && p->writer == t->iteration;
  bool race = false;
  if (is_write) {
    race = (p->read && p->reader != t->iteration) || (p->written && !mine && t->sums);
    p->writer = t->iteration;
    p->written = true;
  } else if (!mine) {
    race = p->written;
    p->reader = t->iteration;
    p->read = true;
  }
  if (race) t->raced = t->buffers[array];
  return !race;
}

Threads *fuzz_watch_threads(const Func *f, int depth, InterpObserver *out) {
  Threads *t = calloc(1, sizeof *t);
  if (!t) abort();
  t->f = f;
  t->depth = depth;
  *out = (InterpObserver){t, see_array, see_block, see_place, see_access};
  return t;
}

Buffer fuzz_end_threads(Threads *t, bool *deeper) {
  Buffer raced = t->raced;
  *deeper = t->deeper;
  for (int i = 0; i < MAX_ARRAYS; i++) free(t->places[i]);
  free(t);
  return raced;
}
