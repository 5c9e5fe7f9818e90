/* Each axis of threads has one loop in a kernel. What is bound to an axis anywhere in the nest of a
 * kernel runs in that loop:
 *
 *   for b in T.thread_binding(4, "blockIdx.x"):     for bx in T.thread_binding(4, "blockIdx.x"):
 *     for i in T.thread_binding(8, "threadIdx.x"):    for tx in T.thread_binding(8, "threadIdx.x"):
 *       S[i] = A[b * 8 + i]                             S[tx] = A[bx * 8 + tx]
 *     s[0] = S[0]                               ->      if tx == 0:
 *     for j in T.thread_binding(8, "threadIdx.x"):        s[0] = S[0]
 *       B[b * 8 + j] = S[j] + s[0]                      B[bx * 8 + tx] = S[tx] + s[0]
 *
 * A statement outside of a loop over an axis runs once in the program, so one thread stores what
 * others see; what each thread or block has of its own (scopes local and shared) each computes.
 * Memory of their own that is used by several names or by its address is refused unless each
 * iteration of the program allocates it. */
#include "scopes.h"

#include "ir/tree/atomic.h"
#include "ir/tree/find.h"
#include "ir/tree/print.h"

typedef struct Axis {
  const char *thread; /* "blockIdx.x" */
  Expr var;           /* of the one loop; NULL: no loop is bound to it */
  Stmt loop;          /* the first one */
  int open;           /* loops around the place where the walk is, */
  Expr around;        /* and the innermost one's variable */
} Axis;

/* The loops in which a buffer is used that threads or blocks have of their own. */
typedef struct Usage {
  bool used;
  Stmt loops[GPU_AXES];                     /* around the first use, one an axis, or NULL */
  bool several[GPU_AXES], stored[GPU_AXES]; /* others are around others; one is around a store */
  bool together[GPU_AXES];                  /* threads along it sum up one element */
} Usage;

/* What threads or blocks have of their own, by its data. */
typedef struct Memory {
  Buffer first, other;            /* the first buffer it is used as, and another one, or NULL */
  bool stored, addressed, viewed; /* viewed: it is a part of another one, in a block */
  bool inside[GPU_AXES], used[GPU_AXES]; /* a loop over the axis is around its allocation; a use */
  Stmt where;                            /* the use of `other`, or where the address is taken */
} Memory;

typedef struct Nested {
  const struct Nested *outer;
  const For *loop;
} Nested;

typedef struct Unify {
  Tirc *c;
  Analyzer *a;
  PtrMap usages;         /* from a buffer to its Usage */
  VEC(Buffer) used;      /* these, in the order of their first use */
  PtrMap memories;       /* from data to its Memory */
  VEC(Memory *) memory;  /* these, in the order of their first use */
  Stmt here;             /* the statement where the first walk is */
  Stmt around[GPU_AXES]; /* loops around the place where the first walk is */
  Axis axes[GPU_AXES];   /* in the order of the one nest */
  PtrMap inside;         /* variables that the kernel binds */
  Attrs annotations;
  const Nested *virtual; /* loops over virtual threads around the place where the walk is */
  const For *vector;     /* the vectorized loop there, or NULL */
} Unify;

static Axis *axis_of(Unify *u, Stmt s) {
  if ((int)s->u.loop.axis < GPU_AXES) return &u->axes[s->u.loop.axis];
  tirc_fail(u->c, tirc_place_of(s), CODE_LOWER,
            "the thread axes are blockIdx.x, .y, .z, threadIdx.x, .y, .z and vthread.x, .y, .z",
            "the loop %s is bound to %s, which is not a thread axis", s->u.loop.var->u.s,
            s->u.loop.thread);
}

typedef struct Kernels {
  Tirc *c;
  const Func *f;
  Place *at; /* what is around the place where the walk is */
} Kernels;

/* --- the axes of a kernel --------------------------------------------------------------------- */

static void check_extents(Unify *u, const Axis *axis, Stmt s) {
  const For *first = &axis->loop->u.loop, *loop = &s->u.loop;
  if (tirc_prove_equal(u->a, tirc_cast(u->c, DT_INT64, first->extent),
                       tirc_cast(u->c, DT_INT64, loop->extent)))
    return;
  tirc_fail(u->c, tirc_place_of(s), CODE_LOWER, "split the loops so that both have the same extent",
            "the loops %s and %s are bound to %s with the extents %s and %s, but a kernel has one "
            "extent for each axis",
            first->var->u.s, loop->var->u.s, axis->thread, tirc_print_expr(u->c, first->extent),
            tirc_print_expr(u->c, loop->extent));
}

static Usage *usage_of(Unify *u, Buffer b) {
  Usage *use = tirc_map_get(&u->usages, b);
  if (use) return use;
  tirc_map_set(u->c, &u->usages, b, use = tirc_new(u->c, Usage));
  vec_push(u->c, u->used, b);
  return use;
}

static Memory *memory_of(Unify *u, Expr data) {
  Memory *m = tirc_map_get(&u->memories, data);
  if (m) return m;
  tirc_map_set(u->c, &u->memories, data, m = tirc_new(u->c, Memory));
  vec_push(u->c, u->memory, m);
  return m;
}

static void note_allocation(Unify *u, Buffer b) {
  Memory *m = memory_of(u, b->data);
  for (int i = 0; i < GPU_AXES; i++) m->inside[i] = u->around[i];
}

/* A call may use any element of it. */
static void note_address(Unify *u, Expr data) {
  Memory *m = memory_of(u, data);
  m->addressed = m->stored = true;
  if (!m->where) m->where = u->here;
  for (int i = 0; i < GPU_AXES; i++) m->used[i] |= u->around[i] != NULL;
}

static void note_memory(Unify *u, Buffer b, bool store) {
  Memory *m = memory_of(u, b->data);
  if (!m->first) m->first = b;
  if (m->first != b && !m->other) {
    m->other = b;
    m->where = u->here;
  }
  m->stored |= store;
  for (int i = 0; i < GPU_AXES; i++) m->used[i] |= u->around[i] != NULL;
}

static void note_use(Unify *u, Buffer b, bool store) {
  if (tirc_owner(b->storage) == OWNER_NONE) return;
  note_memory(u, b, store);
  Usage *use = usage_of(u, b);
  for (int i = 0; i < GPU_AXES; i++) {
    if (!use->used) use->loops[i] = u->around[i];
    use->several[i] |= use->loops[i] != u->around[i];
    use->stored[i] |= store && u->around[i];
  }
  use->used = true;
}

static void note_sums(Unify *u, const Block *b) {
  for (int i = 0; i < b->n_iters; i++)
    for (int x = 0; x < GPU_AXES; x++)
      for (int w = 0; b->iters[i].kind == ITER_REDUCE && u->around[x] && w < b->n_writes; w++)
        if (tirc_uses_var(b->iter_values[i], u->around[x]->u.loop.var))
          usage_of(u, b->writes[w].buffer)->together[x] = true;
}

/* An atomic update, whose address goes nowhere else. */
static void collect_update(Visitor *v, const Atomic *a) {
  note_use(v->self, a->place->u.buffer, true);
  for (int i = 0; i < a->place->n; i++) tirc_visit_expr(v, a->place->args[i]);
  if (a->compare) tirc_visit_expr(v, a->compare);
  tirc_visit_expr(v, a->value);
}

static bool collect_expr(Visitor *v, Expr e) {
  Atomic update;
  if (tirc_atomic(e, &update)) {
    collect_update(v, &update);
    return false;
  }
  const Expr addressed = tirc_addressed(e);
  if (e->op == OP_LOAD) note_use(v->self, e->u.buffer, false);
  if (e->op == OP_VAR && e->dtype.code == TYPE_HANDLE) note_address(v->self, e);
  if (addressed) note_address(v->self, addressed->u.buffer->data);
  return true;
}

static bool collect(Visitor *v, Stmt s) {
  Unify *u = v->self;
  if (s->kind == STMT_STORE || s->kind == STMT_EVAL) u->here = s;
  if (s->kind == STMT_STORE) note_use(u, s->u.store.buffer, true);
  if (s->kind == STMT_ALLOC) note_allocation(u, s->u.alloc.buffer);
  for (int i = 0; s->kind == STMT_BLOCK && i < s->u.block.n_allocs; i++)
    note_allocation(u, s->u.block.allocs[i]);
  for (int i = 0; s->kind == STMT_BLOCK && i < s->u.block.n_matches; i++)
    memory_of(u, s->u.block.matches[i].buffer->data)->viewed = true;
  if (s->kind == STMT_BLOCK) note_sums(u, &s->u.block);
  if (s->kind == STMT_FOR) tirc_map_set(u->c, &u->inside, s->u.loop.var, s);
  if (s->kind == STMT_LET) tirc_map_set(u->c, &u->inside, s->u.let.var, s);
  for (int i = 0; s->kind == STMT_BLOCK && i < s->u.block.n_iters; i++)
    tirc_map_set(u->c, &u->inside, s->u.block.iters[i].var, s);
  if (!tirc_is_thread_loop(s)) return true;
  Axis *axis = axis_of(u, s);
  if (tirc_uses_any(s->u.loop.extent, &u->inside) || tirc_loads_or_calls(s->u.loop.extent))
    tirc_fail(u->c, tirc_place_of(s), CODE_LOWER,
              "the number of threads of a kernel must be known before it starts",
              "the extent %s of the loop %s, which is bound to %s, changes within the kernel",
              tirc_print_expr(u->c, s->u.loop.extent), s->u.loop.var->u.s, axis->thread);
  if (axis->loop) {
    check_extents(u, axis, s);
  } else {
    const char *at = strchr(axis->thread, '.');
    axis->loop = s;
    axis->var =
        tirc_var(u->c, tirc_format(u->c, "%.*s_%s", (int)(at - axis->thread), axis->thread, at + 1),
                 s->u.loop.var->dtype);
  }
  for (int i = 0; i < s->u.loop.annotations.n; i++)
    u->annotations = tirc_attrs_set(u->c, u->annotations, s->u.loop.annotations.at[i].key,
                                    s->u.loop.annotations.at[i].value);
  Stmt *around = &u->around[axis - u->axes], was = *around;
  *around = s;
  tirc_visit_stmt(v, s->u.loop.body);
  *around = was;
  return false;
}

/* --- what one thread does --------------------------------------------------------------------- */

/* Whether threads see what others of the block store in it. */
static bool is_shared(Buffer b) { return tirc_owner(b->storage) != OWNER_THREAD; }
static bool is_block_s(Buffer b) { return tirc_owner(b->storage) == OWNER_BLOCK; }

/* The condition that holds for one thread along each axis that no loop around runs over; NULL:
 * always. `each_block`: for one of each block. */
static Expr one_thread(const Unify *u, bool each_block) {
  Expr all = NULL;
  for (int i = each_block ? GPU_BLOCK_AXES : 0; i < GPU_AXES; i++) {
    const Axis *axis = &u->axes[i];
    if (!axis->loop || axis->open || tirc_is_int(axis->loop->u.loop.extent, 1)) continue;
    Expr first = tirc_eq(u->c, axis->var, tirc_int(u->c, axis->var->dtype, 0));
    all = all ? tirc_and(u->c, all, first) : first;
  }
  return all;
}

static bool is_block_or_threads(const void *unused, Stmt s) {
  return (void)unused, s->kind == STMT_BLOCK || tirc_is_thread_loop(s);
}

/* Whether all of the block is done by the threads that loops around it run. */
static bool is_leaf(const Block *b) {
  return !tirc_find_stmt(b->body, is_block_or_threads, NULL, NULL) &&
         !(b->init && tirc_find_stmt(b->init, is_block_or_threads, NULL, NULL));
}

/* Whether it stores to scopes of one owner alone, which is not each thread. */
static bool stores_for_all(const Block *b) {
  for (int i = 0; i < b->n_writes; i++)
    if (!is_shared(b->writes[i].buffer) ||
        is_block_s(b->writes[i].buffer) != is_block_s(b->writes[0].buffer))
      return false;
  return b->n_writes > 0;
}

static bool find_call(Visitor *v, Stmt s) {
  if (s->kind == STMT_EVAL && !tirc_is_atomic_stmt(s)) v->self = NULL;
  return v->self;
}

/* Whether the block calls something, which the threads of a warp may do together. */
static bool calls(const Block *b) {
  Visitor v = {.stmt = find_call, .expr = tirc_skip_expr, .self = &v};
  tirc_visit_stmt(&v, b->body);
  return !v.self;
}

/* --- the rewrite ------------------------------------------------------------------------------ */

/* Of two loops over an axis, one in the other, each thread runs one iteration of both: that is all
 * that the program does where no statement tells the two apart. around: NULL, or the outer one's
 * variable. */
static void check_nested(Unify *u, Expr around, Stmt s) {
  const For *loop = &s->u.loop;
  if (!around || tirc_is_int(loop->extent, 1) || !tirc_stmt_uses_var(loop->body, loop->var) ||
      !tirc_stmt_uses_var(loop->body, around))
    return;
  tirc_fail(u->c, tirc_place_of(s), CODE_LOWER, "fuse them, or bind one to another axis",
            "the loop %s is bound to %s inside the loop %s, which is bound to the same axis, and "
            "both variables are used: a thread runs one iteration of each",
            loop->var->u.s, loop->thread, around->u.s);
}

/* Virtual threads are an axis, too, though each loop over them stays where it is. */
static Stmt rewrite_virtual(Mutator *m, Stmt s) {
  Unify *u = m->self;
  const Nested *outer = u->virtual, here = {outer, &s->u.loop};
  for (const Nested *n = u->virtual; n; n = n->outer)
    if (!strcmp(n->loop->thread, s->u.loop.thread)) check_nested(u, n->loop->var, s);
  u->virtual = &here;
  s = tirc_mutate_stmt_children(m, s);
  u->virtual = outer;
  return s;
}

/* Its iterations are lanes of one statement, so that no barrier can stand between what threads
 * fetch in one of them and what others use in it. */
static Stmt rewrite_vectorized(Mutator *m, Stmt s) {
  Unify *u = m->self;
  const For *outer = u->vector;
  if (!tirc_is_int(s->u.loop.extent, 1)) u->vector = &s->u.loop;
  s = tirc_mutate_stmt_children(m, s);
  u->vector = outer;
  return s;
}

static void check_vectorized(const Unify *u, Stmt s) {
  if (!u->vector || tirc_is_int(s->u.loop.extent, 1)) return;
  tirc_fail(u->c, tirc_place_of(s), CODE_LOWER, "vectorize a loop within those over threads",
            "the loop %s is bound to %s inside the vectorized loop %s, but each thread runs all "
            "lanes of a vector at once",
            s->u.loop.var->u.s, s->u.loop.thread, u->vector->var->u.s);
}

static Stmt rewrite_loop(Mutator *m, Stmt s) {
  Unify *u = m->self;
  check_vectorized(u, s);
  Axis *axis = axis_of(u, s);
  Expr around = axis->around;
  check_nested(u, axis->open ? around : NULL, s);
  axis->open++;
  axis->around = s->u.loop.var;
  Stmt body = tirc_mutate_stmt(m, s->u.loop.body);
  axis->open--;
  axis->around = around;
  Expr at = tirc_add(u->c, s->u.loop.min, tirc_cast(u->c, s->u.loop.min->dtype, axis->var));
  return tirc_lower_substitute1(u->c, body, s->u.loop.var,
                                tirc_cast(u->c, s->u.loop.var->dtype, at));
}

static Stmt rewrite(Mutator *m, Stmt s) {
  Unify *u = m->self;
  Atomic update;
  if (tirc_is_thread_loop(s)) return rewrite_loop(m, s);
  if (s->kind == STMT_FOR && s->u.loop.kind == LOOP_THREAD_BINDING) return rewrite_virtual(m, s);
  if (s->kind == STMT_FOR && s->u.loop.kind == LOOP_VECTORIZED) return rewrite_vectorized(m, s);
  const Buffer stored = s->kind == STMT_STORE ? s->u.store.buffer
                        : s->kind == STMT_EVAL && tirc_atomic(s->u.eval.value, &update)
                            ? update.place->u.buffer
                            : NULL;
  if (stored && is_shared(stored)) {
    Expr one = one_thread(u, is_block_s(stored));
    return one ? tirc_if(u->c, one, s, NULL) : s;
  }
  if (s->kind == STMT_BLOCK && is_leaf(&s->u.block)) {
    if (!one_thread(u, false) || calls(&s->u.block)) return s;
    if (!stores_for_all(&s->u.block)) return tirc_mutate_stmt_children(m, s);
    Block b = s->u.block;
    Expr one = one_thread(u, is_block_s(b.writes[0].buffer));
    if (!one) return s;
    b.predicate = tirc_is_true(b.predicate) ? one : tirc_and(u->c, b.predicate, one);
    return tirc_block(u->c, &b);
  }
  return tirc_mutate_stmt_children(m, s);
}

/* Of a buffer that loops over one axis use which become one loop, each thread (or block) finds what
 * it has stored itself: in the program, what the last one has stored. */
static void check_usages(const Unify *u, const Kernels *k, Stmt kernel) {
  for (int i = 0; i < u->used.n; i++) {
    const Buffer b = u->used.at[i];
    const Usage *use = tirc_map_get(&u->usages, b);
    Expr vars[GPU_AXES];
    int n = 0;
    for (int x = 0; x < (is_block_s(b) ? GPU_BLOCK_AXES : GPU_AXES); x++)
      if (use->several[x] && use->stored[x] && !use->together[x] &&
          !tirc_is_int(u->axes[x].loop->u.loop.extent, 1))
        vars[n++] = u->axes[x].var;
    if (n) tirc_lower_check_joined(u->c, k->f, k->at, kernel, b, n, vars);
  }
}

/* Where the threads or blocks along an axis have it each, and the program has it once, what each
 * reads there is proved to be what it has stored (VerifyScopes): of one buffer, by its indices. */
static void check_memory(const Unify *u, const Memory *m) {
  const Buffer b = m->first;
  const bool untold = m->other || (m->addressed && !m->viewed);
  if (!b || !untold || !m->stored) return;
  if (!is_block_s(b) && b->storage != STORAGE_LOCAL) return; /* fragments: whole tiles of a warp */
  for (int i = 0; i < (is_block_s(b) ? GPU_BLOCK_AXES : GPU_AXES); i++) {
    const Stmt loop = u->axes[i].loop;
    if (!loop || !m->used[i] || m->inside[i] || tirc_is_int(loop->u.loop.extent, 1)) continue;
    const char *who = is_block_s(b) ? "block" : "thread";
    tirc_fail(u->c, m->where ? tirc_place_of(m->where) : tirc_place_of(loop), CODE_LOWER,
              tirc_format(u->c, "use it by one name, or allocate it within the loop %s",
                          loop->u.loop.var->u.s),
              "the buffer %s has scope %s, of which each %s has its own, and it cannot be proved "
              "that one %s reads only what it has stored itself: %s",
              b->name, b->scope, is_block_s(b) ? "block of threads" : who, who,
              m->other ? tirc_format(u->c, "it is used as %s, too", m->other->name)
                       : "its address is taken");
  }
}

static Stmt unify(const Kernels *k, Stmt kernel) {
  Tirc *c = k->c;
  Unify u = {.c = c, .a = tirc_analyzer(c)};
  for (int i = 0; i < GPU_AXES; i++) u.axes[i].thread = tirc_gpu_axes[i];
  Visitor v = {.stmt = collect, .expr = collect_expr, .self = &u};
  tirc_visit_stmt(&v, kernel);
  for (int i = 0; i < u.memory.n; i++) check_memory(&u, u.memory.at[i]);
  Mutator m = {.c = c, .stmt = rewrite, .self = &u};
  Stmt body = tirc_mutate_stmt(&m, kernel);
  for (int i = GPU_AXES - 1, is_inner = true; i >= 0; i--) {
    const Axis *axis = &u.axes[i];
    if (!axis->loop) continue;
    Expr extent = tirc_cast(c, axis->var->dtype, axis->loop->u.loop.extent);
    body = tirc_for(c, &(For){.var = axis->var,
                              .min = tirc_int(c, axis->var->dtype, 0),
                              .extent = extent,
                              .kind = LOOP_THREAD_BINDING,
                              .thread = axis->thread,
                              .annotations = is_inner ? u.annotations : (Attrs){0},
                              .body = body});
    is_inner = false;
  }
  check_usages(&u, k, body);
  return body;
}

static bool count_kernel(Visitor *v, Stmt s) {
  *(int *)v->self += tirc_is_thread_loop(s);
  return !tirc_is_thread_loop(s);
}

/* Virtual threads are the threads' own, within a kernel: between two kernels they would have to
 * finish the first, all of them, before the second begins. */
static void check_virtual(const Kernels *k, Stmt s) {
  int n = 0;
  tirc_visit_stmts(s->u.loop.body, count_kernel, &n);
  if (n > 1)
    tirc_fail(k->c, tirc_place_of(s), CODE_LOWER,
              "bind a loop around it to blockIdx, so that everything is one kernel, or give each "
              "kernel its own loop",
              "the loop %s is bound to %s and contains %d kernels, but virtual threads belong to a "
              "single kernel",
              s->u.loop.var->u.s, s->u.loop.thread, n);
}

static Stmt find_kernels(Mutator *m, Stmt s) {
  Kernels *k = m->self;
  if (tirc_is_thread_loop(s)) return unify(k, s);
  if (s->kind == STMT_FOR && s->u.loop.kind == LOOP_THREAD_BINDING) check_virtual(k, s);
  Place *at = k->at;
  k->at = tirc_lower_host_place(k->c, at, s);
  s = tirc_mutate_stmt_children(m, s);
  k->at = at;
  return s;
}

Stmt tirc_lower_thread_binding(Tirc *c, const Func *f) {
  Kernels k = {c, f, NULL};
  Mutator m = {.c = c, .stmt = find_kernels, .self = &k};
  return tirc_mutate_stmt(&m, f->body);
}
