/* A reduction whose iterator is bound to threadIdx: the threads along it add to the same element.
 * Each then reduces what its own steps bring, and at the end of the reduction's loops all make one
 * of what they have, which one of them stores:
 *
 *   for ko in range(8):                              acc[0] = 0
 *     with T.block("C"):                             for ko in range(8):
 *       vi = T.axis.spatial(64, bx)                    with T.block("C"):
 *       vk = T.axis.reduce(256, ko * 32 + tx)   ->       acc[0] = acc[0] + A[vi, vk]
 *       with T.init():                               (all_reduce.c) of acc[0]
 *         C[vi] = 0                                  if tx == 0:
 *       C[vi] = C[vi] + A[vi, vk]                      C[bx] = what they make together
 *
 * Loops of the block that choose elements within the reduction's loops give acc a place each. Where
 * something in these loops uses what is reduced, it is made before that, at each of their steps.
 * Loops of the reduction around the kernel launch it several times: each adds to what the one
 * before left. */
#include "cross_thread.h"

#include "ir/arith/box.h"
#include "ir/arith/init_part.h"
#include "ir/tree/print.h"

typedef struct Done { /* what stands before or behind a loop of the reduction */
  int level;          /* of the loop in `loops`; its length: around the block itself */
  Stmts before, after;
  Buffers allocs;
} Done;

typedef struct Cross {
  Tirc *c;
  const Gpu *gpu;
  VEC(const For *) threads; /* of the kernel */
  VEC(const For *) loops;   /* around, down from the last block, */
  int kernel;               /* and the first of them within the kernel */
  PtrMap iters;             /* iterators of blocks around that depend on threads */
  PtrMap parts;             /* memory of which a T.tvm_thread_allreduce makes one */
  VEC(Done) done;
} Cross;

/* One reduction. */
typedef struct Across {
  Cross *k;
  Stmt stmt;
  const Block *b;
  Reducer r;
  PtrMap reduces; /* variables of loops and threads that its reduction runs over */
  PtrMap iters;   /* from its iterators to what they are bound to */
  Expr first; /* that its loops around the kernel are at their first step; NULL: there are none */
  int level;  /* of its outermost loop in the kernel; loops.n: the block itself, */
  int until;  /* and of the outermost in which nothing else uses what is reduced */
  Buffer acc[MAX_COMPONENTS];
  Expr place; /* in acc */
  VEC(const For *) inner;
} Across;

static _Noreturn void refuse(const Across *x, const char *why) {
  tirc_fail(x->k->c, tirc_place_of(x->stmt), CODE_LOWER,
            "use rfactor: it gives each thread a reduction of its own",
            "the threads of block %s reduce together, but %s", x->b->name, why);
}

/* --- which loops reduce ----------------------------------------------------------------------- */

static bool reduces_over_threads(Cross *k, const Block *b) {
  for (int i = 0; i < b->n_iters; i++) {
    if (b->iters[i].kind != ITER_REDUCE) continue;
    if (tirc_uses_any(b->iter_values[i], &k->iters)) return true;
    for (int t = 0; t < k->threads.n; t++)
      if (tirc_is_thread_axis(k->threads.at[t]->axis) &&
          tirc_uses_var(b->iter_values[i], k->threads.at[t]->var))
        return true;
  }
  return false;
}

static int component_of(const Across *x, Buffer b) {
  for (int i = 0; i < x->r.n; i++)
    if (x->r.buffers[i]->data == b->data) return i;
  return -1;
}

typedef struct Use {
  const Across *x;
  bool found;
} Use;

static bool see_use(Visitor *v, Stmt s) {
  Use *u = v->self;
  if (s == u->x->stmt) return false;
  u->found |= s->kind == STMT_STORE && component_of(u->x, s->u.store.buffer) >= 0;
  return !u->found;
}
static bool see_load(Visitor *v, Expr e) {
  Use *u = v->self;
  u->found |= e->op == OP_LOAD && component_of(u->x, e->u.buffer) >= 0;
  return !u->found;
}

/* Whether a statement has another use of what is reduced. */
static bool is_used_in(const Across *x, Stmt s) {
  Use u = {x, false};
  tirc_visit_stmt(&(Visitor){.stmt = see_use, .expr = see_load, .self = &u}, s);
  return u.found;
}

/* What changes nothing; NULL: the operation gives x for x and x, so that any value that is in the
 * result may be there twice. */
static Expr neutral(Across *x, int i) {
  const Expr v = x->r.combiners[i];
  const DType t = v->dtype;
  const bool is_sum = v->op == OP_ADD || v->op == OP_BITWISE_XOR;
  if (t.code == TYPE_BOOL || (!is_sum && v->op != OP_MUL)) return NULL;
  return tirc_neutral(x->k->c, (Op)v->op, t);
}

static void find_loops(Across *x) {
  Cross *k = x->k;
  const Block *b = x->b;
  for (int i = 0; i < b->n_iters; i++) {
    const Expr value = b->iter_values[i];
    tirc_map_set(k->c, &x->iters, b->iters[i].var, tirc_cast(k->c, b->iters[i].var->dtype, value));
    if (b->iters[i].kind != ITER_REDUCE) continue;
    if (tirc_uses_any(value, &k->iters)) refuse(x, "its iterator depends on a block around it");
    for (int n = 0; n < k->threads.n; n++)
      if (tirc_uses_var(value, k->threads.at[n]->var))
        tirc_map_set(k->c, &x->reduces, k->threads.at[n]->var, k->threads.at[n]);
    for (int n = 0; n < k->loops.n; n++)
      if (tirc_uses_var(value, k->loops.at[n]->var))
        tirc_map_set(k->c, &x->reduces, k->loops.at[n]->var, k->loops.at[n]);
  }
  for (int i = 0; i < b->n_iters; i++)
    if (b->iters[i].kind != ITER_REDUCE && tirc_uses_any(b->iter_values[i], &x->reduces))
      refuse(x, "one loop is used both by the reduction and by the element's indices");
  x->level = k->loops.n;
  for (int n = k->loops.n - 1; n >= 0; n--)
    if (tirc_map_has(&x->reduces, k->loops.at[n]->var)) x->level = n;
  for (; x->level < k->kernel; x->level++) {
    const For *loop = k->loops.at[x->level];
    if (!tirc_map_has(&x->reduces, loop->var)) continue;
    Expr first = tirc_eq(k->c, loop->var, tirc_cast(k->c, loop->var->dtype, loop->min));
    x->first = x->first ? tirc_and(k->c, x->first, first) : first;
  }
  for (int n = x->level; n < k->loops.n; n++)
    if (!tirc_map_has(&x->reduces, k->loops.at[n]->var)) vec_push(k->c, x->inner, k->loops.at[n]);
  for (x->until = x->level; x->until < k->loops.n && is_used_in(x, k->loops.at[x->until]->body);)
    x->until++;
  for (int i = 0; i < x->r.n && x->until > x->level; i++)
    if ((!x->r.inits[i] || x->first) && neutral(x, i))
      refuse(x, "the result is used inside the loops of the reduction");
}

/* --- what each thread reduces ----------------------------------------------------------------- */

static void make_acc(Across *x) {
  Tirc *c = x->k->c;
  int64_t size = 1, extent;
  x->place = tirc_int32(c, 0);
  for (int i = 0; i < x->inner.n; i++) {
    const For *loop = x->inner.at[i];
    if (!tirc_const_int(loop->extent, &extent) || __builtin_mul_overflow(size, extent, &size) ||
        size > INT32_MAX)
      refuse(x, tirc_format(c, "the loop %s within the reduction has no constant extent",
                            loop->var->u.s));
    Expr step = tirc_cast(c, DT_INT32, tirc_sub(c, loop->var, loop->min));
    x->place = tirc_add(c, tirc_mul(c, x->place, tirc_int32(c, extent)), step);
  }
  Expr shape = tirc_int32(c, size);
  for (int i = 0; i < x->r.n; i++)
    x->acc[i] = tirc_buffer(c, tirc_format(c, "in_thread_%s", x->r.buffers[i]->name),
                            x->r.buffers[i]->dtype, 1, &shape, "local");
}

static Expr own_load(Mutator *m, Expr e) {
  const Across *x = m->self;
  const int i = e->op == OP_LOAD ? component_of(x, e->u.buffer) : -1;
  return i >= 0 ? tirc_load(m->c, x->acc[i], 1, &x->place) : tirc_mutate_expr_children(m, e);
}

static Stmt own_store(Mutator *m, Stmt s) {
  const Across *x = m->self;
  s = tirc_mutate_stmt_children(m, s);
  const int i = s->kind == STMT_STORE ? component_of(x, s->u.store.buffer) : -1;
  return i >= 0 ? tirc_store(m->c, x->acc[i], 1, &x->place, s->u.store.value) : s;
}

static Stmt own_block(Across *x) {
  Tirc *c = x->k->c;
  Block b = *x->b;
  Region *reads = tirc_new_array(c, Region, b.n_reads + x->r.n);
  Region *writes = tirc_new_array(c, Region, x->r.n);
  int n_reads = 0;
  for (int i = 0; i < b.n_reads; i++)
    if (component_of(x, b.reads[i].buffer) < 0) reads[n_reads++] = b.reads[i];
  for (int i = 0; i < x->r.n; i++)
    reads[n_reads++] = writes[i] = tirc_point(c, x->acc[i], &x->place);
  Mutator m = {.c = c, .expr = own_load, .stmt = own_store, .self = x};
  b.body = tirc_mutate_stmt(&m, b.body);
  IterVar *iters = tirc_copy(c, b.iters, b.n_iters);
  for (int i = 0; i < b.n_iters; i++) /* the threads no longer add to one element */
    if (iters[i].kind == ITER_REDUCE) iters[i].kind = ITER_OPAQUE;
  b.iters = iters;
  b.init = NULL;
  b.reads = reads;
  b.n_reads = n_reads;
  b.writes = writes;
  b.n_writes = x->r.n;
  return tirc_block(c, &b);
}

/* --- around the loops ------------------------------------------------------------------------- */

static int level_of(const Across *x, const For *loop) {
  int n = x->k->loops.n - 1;
  while (n >= 0 && x->k->loops.at[n] != loop) n--;
  return n;
}

/* Loops over the places of acc, new ones of those from a level on. */
static Stmt for_places(Across *x, int level, Stmt s) {
  Tirc *c = x->k->c;
  for (int i = x->inner.n - 1; i >= 0 && level_of(x, x->inner.at[i]) >= level; i--) {
    For loop = {.var = tirc_var(c, x->inner.at[i]->var->u.s, x->inner.at[i]->var->dtype),
                .min = x->inner.at[i]->min,
                .extent = x->inner.at[i]->extent,
                .kind = LOOP_SERIAL};
    loop.body = tirc_lower_substitute1(c, s, x->inner.at[i]->var, loop.var);
    s = tirc_for(c, &loop);
  }
  return s;
}

static Expr bound(Across *x, Expr e) { return tirc_substitute(x->k->c, e, &x->iters); }

/* What is asked of instances that run the init; without one, of those that run at all. */
static Expr started(Across *x) {
  Tirc *c = x->k->c;
  Analyzer *a = tirc_analyzer(c);
  VEC(Expr) vars = {0};
  VEC(Range) doms = {0};
  if (!x->b->init) return x->b->predicate;
  for (int i = 0; i < x->k->loops.n; i++) {
    const For *loop = x->k->loops.at[i];
    const Range dom = tirc_range(loop->min, loop->extent);
    vec_push(c, vars, loop->var);
    vec_push(c, doms, dom);
    tirc_bind_range(a, loop->var, dom);
  }
  const InitPart part = tirc_find_init_part(a, c, x->b, vars.n, vars.at, doms.at);
  return part.always ? x->b->predicate : tirc_and(c, part.kept, tirc_init_guard(c, &part));
}

/* The instances that the block's condition lets begin. */
static Expr began(Across *x) {
  Tirc *c = x->k->c;
  Exprs all = {0};
  Expr cond = tirc_bool(c, true);
  PtrMap first = {0};
  for (int i = 0; i < x->k->threads.n; i++)
    if (tirc_map_has(&x->reduces, x->k->threads.at[i]->var))
      tirc_map_set(c, &first, x->k->threads.at[i]->var, x->k->threads.at[i]->min);
  for (int i = x->level; i < x->k->loops.n; i++)
    if (tirc_map_has(&x->reduces, x->k->loops.at[i]->var))
      tirc_map_set(c, &first, x->k->loops.at[i]->var,
                   tirc_cast(c, x->k->loops.at[i]->var->dtype, x->k->loops.at[i]->min));
  tirc_lower_conjuncts(c, started(x), &all);
  for (int i = 0; i < all.n; i++) {
    /* without an init, what leaves out steps says nothing of the others */
    if (!x->b->init && tirc_uses_any(all.at[i], &x->reduces)) continue;
    cond = tirc_and(c, cond, tirc_simplify0(c, tirc_substitute(c, all.at[i], &first)));
  }
  for (int i = x->level; i < x->k->loops.n; i++) {
    const Expr extent = x->k->loops.at[i]->extent;
    if (tirc_map_has(&x->reduces, x->k->loops.at[i]->var) && extent->op != OP_INT)
      cond = tirc_and(c, cond, tirc_lt(c, tirc_int(c, extent->dtype, 0), extent));
  }
  return cond;
}

/* What the buffer has when the kernel begins: the init, or what is there. */
static Expr there(Across *x, int i) {
  Tirc *c = x->k->c;
  const Reducer *r = &x->r;
  if (!r->inits[i]) return bound(x, r->self[i]);
  if (!x->first) return bound(x, r->inits[i]);
  Expr args[] = {x->first, r->inits[i], r->self[i]};
  return bound(x, tirc_expr(c, OP_IF_THEN_ELSE, r->self[i]->dtype, 3, args));
}

/* Where a reduction starts that goes on with all that the buffer has: what may count several times
 * is there from the start, anything else is added at the end. */
static Expr start(Across *x, int i) {
  Tirc *c = x->k->c;
  if (neutral(x, i)) return neutral(x, i);
  Expr from = there(x, i), none = tirc_cast(c, from->dtype, tirc_int32(c, 0));
  Expr args[] = {began(x), from, none}; /* the others have no element to load */
  return tirc_reads_memory(from) ? tirc_expr(c, OP_IF_THEN_ELSE, from->dtype, 3, args) : from;
}

static bool is_number(Expr x, Expr y) {
  double a, b;
  if (x->op == OP_FLOAT && y->op == OP_FLOAT) return a = x->u.f, b = y->u.f, a == b;
  return tirc_expr_same(x, y);
}

static Expr end(Across *x, int i, const Expr *result) {
  const Expr none = neutral(x, i);
  if (!none || is_number(there(x, i), none)) return result[i];
  Expr both[MAX_COMPONENTS];
  for (int k = 0; k < x->r.n; k++) both[k] = there(x, k);
  return tirc_reducer_apply(x->k->c, &x->r, i, both, result);
}

static Group group_of(Across *x) {
  Cross *k = x->k;
  Tirc *c = k->c;
  Group g = {.size = 1, .groups = 1, .lanes = true};
  bool others = false;
  g.place = g.number = tirc_int32(c, 0);
  int64_t extent;
  for (int i = 0; i < k->threads.n; i++) {
    const For *t = k->threads.at[i];
    if (!tirc_is_thread_axis(t->axis)) continue;
    if (!tirc_const_int(t->extent, &extent) || extent < 1 || extent > 1 << 16)
      refuse(x, tirc_format(c, "the extent of %s is not a constant", t->thread));
    const bool is_in = tirc_map_has(&x->reduces, t->var);
    if (is_in && others) g.lanes = false;
    others |= !is_in && extent > 1;
    Expr *to = is_in ? &g.place : &g.number;
    int64_t *n = is_in ? &g.size : &g.groups;
    Expr var = tirc_cast(c, DT_INT32, t->var);
    *to = tirc_add(c, *to, tirc_mul(c, var, tirc_int32(c, *n)));
    *n *= extent;
  }
  g.lanes &= (g.size & (g.size - 1)) == 0;
  return g;
}

static Stmt write_back(Across *x, const Group *g, const Expr *result) {
  Tirc *c = x->k->c;
  VEC(Stmt) stores = {0};
  VEC(Region) writes = {0};
  bool all_local = true;
  for (int i = 0; i < x->r.n; i++) {
    Buffer b = x->r.buffers[i];
    Expr *indices = tirc_new_array(c, Expr, b->ndim + 1);
    for (int d = 0; d < b->ndim; d++) {
      indices[d] = bound(x, x->r.self[i]->args[d]);
      if (tirc_uses_any(indices[d], &x->reduces))
        refuse(x, "the element that it stores depends on the step of the reduction");
    }
    vec_push(c, stores, tirc_store(c, b, b->ndim, indices, end(x, i, result)));
    vec_push(c, writes, tirc_point(c, b, indices));
    all_local &= tirc_owner(b->storage) == OWNER_THREAD;
  }
  Expr cond = began(x);
  if (!all_local) cond = tirc_and(c, cond, tirc_eq(c, g->place, tirc_int(c, g->place->dtype, 0)));
  return tirc_block(c, &(Block){.name = tirc_format(c, "%s_write_back", x->b->name),
                                .predicate = cond,
                                .writes = writes.at,
                                .n_writes = writes.n,
                                .body = tirc_seq(c, stores.n, stores.at)});
}

static Stmt reduce_across(Cross *k, Stmt s) {
  Tirc *c = k->c;
  Across x = {.k = k, .stmt = s, .b = &s->u.block};
  const char *wrong = tirc_partial_reducer(c, x.b, &x.r);
  if (wrong) refuse(&x, wrong);
  if (x.r.n > MAX_COMPONENTS) refuse(&x, "it stores to too many buffers");
  find_loops(&x);
  make_acc(&x);
  Done done = {.level = x.level};
  Stmt stores[MAX_COMPONENTS];
  Expr values[MAX_COMPONENTS], result[MAX_COMPONENTS];
  bool any_local = false;
  for (int i = 0; i < x.r.n; i++) {
    stores[i] = tirc_store(c, x.acc[i], 1, &x.place, start(&x, i));
    values[i] = tirc_load(c, x.acc[i], 1, &x.place);
    any_local |= tirc_owner(x.r.buffers[i]->storage) == OWNER_THREAD;
    vec_push(c, done.allocs, x.acc[i]);
  }
  vec_push(c, done.before, for_places(&x, x.level, tirc_seq(c, x.r.n, stores)));
  const Group g = group_of(&x);
  Stmts after = {0};
  tirc_lower_all_reduce(c, &x.r, k->gpu, &g, values, any_local, &done.allocs, &after, result);
  vec_push(c, after, write_back(&x, &g, result));
  Done end = {.level = x.until};
  vec_push(c, end.after, for_places(&x, x.until, tirc_seq(c, after.n, after.at)));
  vec_push(c, k->done, done);
  vec_push(c, k->done, end);
  return own_block(&x);
}

/* --- the walk --------------------------------------------------------------------------------- */

static Stmt around(Cross *k, Stmt s, int level) {
  Tirc *c = k->c;
  Stmts all = {0};
  Buffers allocs = {0};
  int kept = 0;
  for (int i = 0; i < k->done.n; i++) {
    const Done *d = &k->done.at[i];
    for (int n = 0; d->level == level && n < d->before.n; n++) vec_push(c, all, d->before.at[n]);
  }
  vec_push(c, all, s);
  for (int i = 0; i < k->done.n; i++) {
    const Done *d = &k->done.at[i];
    for (int n = 0; d->level == level && n < d->after.n; n++) vec_push(c, all, d->after.at[n]);
    for (int n = 0; d->level == level && n < d->allocs.n; n++) vec_push(c, allocs, d->allocs.at[n]);
    if (d->level != level) k->done.at[kept++] = *d;
  }
  k->done.n = kept;
  if (all.n == 1) return s;
  s = tirc_seq(c, all.n, all.at);
  for (int i = allocs.n - 1; i >= 0; i--)
    s = tirc_alloc_stmt(c, STMT_ALLOC, allocs.at[i], (Attrs){0}, s);
  return s;
}

/* A block that says itself what its threads do together, */
static bool is_all_reduce(const void *unused, Expr e) {
  return (void)unused, tirc_calls(e, CALL_TVM_THREAD_ALLREDUCE);
}

/* and one that makes a thread's own part of it. */
static bool makes_part(const Cross *k, const Block *b) {
  for (int i = 0; i < b->n_writes; i++)
    if (!tirc_map_has(&k->parts, b->writes[i].buffer->data)) return false;
  return b->n_writes > 0;
}

static bool loads_from(const void *self, Expr e) {
  const Block *b = self;
  for (int i = 0; i < b->n_writes && e->op == OP_LOAD; i++)
    if (b->writes[i].buffer->data == e->u.buffer->data) return true;
  return false;
}

/* Its iterators may be called so and yet choose elements: nothing goes on with what is there. */
static bool only_stores(const Block *b) {
  return !b->init && !tirc_find_expr_in(b->body, loads_from, b);
}

static bool note_parts(Visitor *v, Expr e) {
  Cross *k = v->self;
  for (int i = 1; i < e->n && tirc_calls(e, CALL_TVM_THREAD_ALLREDUCE); i++)
    if (e->args[i]->op == OP_LOAD) tirc_map_set(k->c, &k->parts, e->args[i]->u.buffer->data, e);
  return true;
}

static Stmt visit_block(Mutator *m, Stmt s) {
  Cross *k = m->self;
  const Block *b = &s->u.block;
  if (reduces_over_threads(k, b) && !makes_part(k, b) && !only_stores(b) &&
      !tirc_find_expr_in(s, is_all_reduce, NULL))
    return around(k, reduce_across(k, s), k->loops.n);
  for (int i = 0; i < b->n_iters; i++) {
    bool depends = tirc_uses_any(b->iter_values[i], &k->iters);
    for (int t = 0; t < k->threads.n; t++)
      depends |= tirc_uses_var(b->iter_values[i], k->threads.at[t]->var);
    if (depends && b->iters[i].kind == ITER_REDUCE)
      tirc_map_set(k->c, &k->iters, b->iters[i].var, b);
  }
  Cross outer = *k;
  k->loops.n = k->loops.cap = k->kernel = 0;
  k->loops.at = NULL;
  s = tirc_mutate_stmt_children(m, s);
  k->loops.at = outer.loops.at;
  k->loops.n = outer.loops.n;
  k->loops.cap = outer.loops.cap;
  k->kernel = outer.kernel;
  return s;
}

static Stmt visit(Mutator *m, Stmt s) {
  Cross *k = m->self;
  if (s->kind == STMT_BLOCK) return visit_block(m, s);
  if (s->kind != STMT_FOR) return tirc_mutate_stmt_children(m, s);
  if (tirc_is_thread_loop(s)) {
    if (!k->threads.n) k->kernel = k->loops.n;
    vec_push(k->c, k->threads, &s->u.loop);
    s = tirc_mutate_stmt_children(m, s);
    k->threads.n--;
    return s;
  }
  const int level = k->loops.n;
  vec_push(k->c, k->loops, &s->u.loop);
  s = tirc_mutate_stmt_children(m, s);
  k->loops.n = level;
  return around(k, s, level);
}

Stmt tirc_lower_cross_thread(Tirc *c, const Func *f) {
  Cross k = {.c = c, .gpu = tirc_gpu_of(f)};
  Mutator m = {.c = c, .stmt = visit, .self = &k};
  tirc_visit_stmt(&(Visitor){.expr = note_parts, .self = &k}, f->body);
  return tirc_mutate_stmt(&m, f->body);
}

/* Blocks of threads run in no order, and add to one element at once. */
typedef struct OverBlocks {
  Tirc *c;
  PtrMap blocks; /* variables of loops over blockIdx */
} OverBlocks;

static bool see_over_blocks(Visitor *v, Stmt s) {
  OverBlocks *k = v->self;
  if (tirc_is_thread_loop(s) && !tirc_is_thread_axis(s->u.loop.axis))
    tirc_map_set(k->c, &k->blocks, s->u.loop.var, s);
  const Block *b = s->kind == STMT_BLOCK ? &s->u.block : NULL;
  for (int i = 0; b && i < b->n_iters; i++)
    if (b->iters[i].kind == ITER_REDUCE && tirc_uses_any(b->iter_values[i], &k->blocks) &&
        !only_stores(b))
      tirc_fail(k->c, tirc_place_of(s), CODE_LOWER, "bind the loop to threadIdx.x",
                "the reduction of block %s is bound to blockIdx, so several thread blocks add to "
                "the same element at the same time",
                b->name);
  return true;
}

/* By itself: the loop of each axis has to stand around what its threads share. */
Stmt tirc_lower_cross_thread_alone(Tirc *c, const Func *f) {
  OverBlocks over = {.c = c};
  tirc_visit_stmts(f->body, see_over_blocks, &over);
  Stmt body = tirc_lower_cross_thread(c, f);
  if (body == f->body) return body;
  body = tirc_lower_thread_binding(c, f);
  return tirc_lower_cross_thread(c, tirc_func_with_body(c, f, body));
}
