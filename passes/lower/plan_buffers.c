/* Where each buffer is allocated: at the lowest loop or block that holds all of its uses, so that a
 * tile's cache belongs to the tile (and each thread has one of its own). A loop may hold the buffer
 * only if no value of it travels from one of the iterations to another. */
#include "carries.h"
#include "internal.h"
#include "scopes.h"

typedef struct Plan {
  Buffer buffer;
  int n;          /* length of the path to the lowest common ancestor; */
  Stmt const *at; /* loops, blocks and whiles, outermost first */
  int origin;     /* the allocating block's place in it */
  bool is_used;
} Plan;

typedef struct Planner {
  Tirc *c;
  const Func *f;
  Visitor v;
  VEC(Stmt) path;
  PtrMap plans; /* from a data variable to its Plan */
  VEC(Plan *) order;
  PtrMap hosts;  /* from a loop or block to the list (Hosted) of what it allocates */
  PtrMap placed; /* data variables of the buffers allocated so far on the way down */
} Planner;

typedef struct Hosted {
  VEC(Buffer) buffers;
} Hosted;

/* --- lowest common ancestors ---------------------------------------------------------------- */

static void note_use(Planner *p, Expr data) {
  Plan *plan = tirc_map_get(&p->plans, data);
  if (!plan) return;
  if (!plan->is_used) {
    plan->is_used = true;
    plan->n = p->path.n;
    Stmt *copy = tirc_new_array(p->c, Stmt, p->path.n);
    memcpy(copy, p->path.at, (size_t)p->path.n * sizeof *copy);
    plan->at = copy;
    return;
  }
  int n = 0;
  while (n < plan->n && n < p->path.n && plan->at[n] == p->path.at[n]) n++;
  plan->n = n;
}

static bool use_in_expr(Visitor *v, Expr e) {
  if (e->op == OP_LOAD) note_use(v->self, e->u.buffer->data);
  if (e->op == OP_VAR) note_use(v->self, e);
  return true;
}

static void enter_block(Visitor *v, Stmt s) {
  Planner *p = v->self;
  const Block *b = &s->u.block;
  for (int i = 0; i < b->n_allocs; i++) {
    Plan *plan = tirc_new(p->c, Plan);
    plan->buffer = b->allocs[i];
    plan->origin = p->path.n - 1;
    tirc_map_set(p->c, &p->plans, b->allocs[i]->data, plan);
    vec_push(p->c, p->order, plan);
  }
  for (int i = 0; i < b->n_matches; i++) {
    note_use(p, b->matches[i].source.buffer->data);
    tirc_visit_region(v, &b->matches[i].source);
  }
}

static bool use_in_stmt(Visitor *v, Stmt s) {
  Planner *p = v->self;
  if (s->kind == STMT_STORE) note_use(p, s->u.store.buffer->data);
  if (s->kind == STMT_DECL) note_use(p, s->u.alloc.buffer->data);
  if (s->kind != STMT_FOR && s->kind != STMT_BLOCK && s->kind != STMT_WHILE) return true;
  if (s->kind == STMT_FOR) { /* the bounds are computed outside */
    tirc_visit_expr(v, s->u.loop.min);
    tirc_visit_expr(v, s->u.loop.extent);
  }
  vec_push(p->c, p->path, s);
  if (s->kind == STMT_WHILE) tirc_visit_expr(v, s->u.loop_while.cond);
  if (s->kind == STMT_BLOCK) enter_block(v, s);
  if (s->kind == STMT_BLOCK) tirc_visit_expr(v, s->u.block.predicate);
  tirc_visit_stmt(v, s->kind == STMT_FOR     ? s->u.loop.body
                     : s->kind == STMT_BLOCK ? s->u.block.body
                                             : s->u.loop_while.body);
  p->path.n--;
  return false;
}

/* --- hosts ---------------------------------------------------------------------------------- */

/* What all threads see of all kernels is the host's; anything else is one kernel's. */
static int within_kernel(Planner *p, const Plan *plan) {
  int kernel = 0, threads = 0;
  for (int i = 0; i < plan->n; i++) {
    if (!tirc_is_thread_loop(plan->at[i])) continue;
    if (!threads) kernel = i;
    threads = i + 1;
  }
  if (plan->buffer->storage == STORAGE_GLOBAL) return threads ? kernel : plan->n;
  if (tirc_gpu_of(p->f) && !threads)
    tirc_fail(p->c, p->f->loc, CODE_LOWER,
              "use scope global for values that one kernel passes to another",
              "the buffer %s of scope %s is used outside a single kernel", plan->buffer->name,
              plan->buffer->scope);
  return plan->n;
}

/* --- what the threads of a block write together ------------------------------------------------
 *
 * Of a buffer that they share each thread may read what others have written, so each statement is
 * looked at as it is for all threads: with loops over them around it. */

typedef struct Relax {
  Tirc *c;
  const Plan *plan;
} Relax;

static Stmt for_all_threads(const Relax *r, Stmt s) {
  Tirc *c = r->c;
  for (int i = r->plan->n - 1; i >= 0; i--) {
    Stmt at = r->plan->at[i];
    if (!tirc_is_thread_loop(at) || !tirc_is_thread_axis(at->u.loop.axis)) continue;
    Expr var = tirc_var(c, at->u.loop.var->u.s, at->u.loop.var->dtype);
    s = tirc_lower_substitute1(c, s, at->u.loop.var, var);
    s = tirc_for_serial(c, var, at->u.loop.extent, s);
  }
  return s;
}

static bool find_block(Visitor *v, Stmt s) {
  if (s->kind == STMT_BLOCK) v->self = NULL;
  return v->self;
}

static Stmt relax(Mutator *m, Stmt s) {
  bool is_leaf = s->kind == STMT_STORE || s->kind == STMT_EVAL;
  if (s->kind == STMT_BLOCK) {
    Visitor v = {.stmt = find_block, .expr = tirc_skip_expr, .self = &v};
    tirc_visit_stmt(&v, s->u.block.body);
    is_leaf = v.self;
  }
  return is_leaf ? for_all_threads(m->self, s) : tirc_mutate_stmt_children(m, s);
}

/* By itself the pass meets blocks with iterators, too. */
static bool carries(Planner *p, Analyzer *a, const Plan *plan, const For *loop) {
  For relaxed = *loop;
  relaxed.body = tirc_opaque_blocks(p->c, loop->body);
  if (tirc_owner(plan->buffer->storage) != OWNER_BLOCK)
    return tirc_lower_carries_values(p->c, a, &relaxed, plan->buffer);
  Relax r = {p->c, plan};
  Mutator m = {.c = p->c, .stmt = relax, .self = &r};
  relaxed.body = tirc_mutate_stmt(&m, relaxed.body);
  return tirc_lower_carries_values(p->c, a, &relaxed, plan->buffer);
}

static int first_threads(const Plan *plan) {
  int i = 0;
  while (i < plan->n && !tirc_is_thread_loop(plan->at[i])) i++;
  return i;
}

/* Whether a loop may hand values of the buffer on: the host has no memory of scope local or shared
 * that one launch hands to the next. */
static bool hands_on(const Planner *p, const Plan *plan, int at, bool launches) {
  Place *around = NULL;
  if (plan->buffer->storage == STORAGE_GLOBAL || !tirc_gpu_of(p->f) || !launches) return true;
  for (int i = 0; i < at; i++) around = tirc_lower_host_place(p->c, around, plan->at[i]);
  tirc_lower_check_launches(p->c, p->f, around, &plan->at[at]->u.loop, plan->buffer);
  return false;
}

static void choose_host(Planner *p, Plan *plan) {
  int first = plan->origin + 1, n = within_kernel(p, plan);
  const int kernel = first_threads(plan);
  Analyzer *a = tirc_analyzer(p->c);
  for (int i = 0; i < n; i++) {
    Stmt s = plan->at[i];
    if (s->kind == STMT_FOR)
      tirc_bind_range(a, s->u.loop.var, tirc_range(s->u.loop.min, s->u.loop.extent));
    if (i < first) continue;
    if (s->kind == STMT_WHILE || (s->kind == STMT_FOR && carries(p, a, plan, &s->u.loop) &&
                                  hands_on(p, plan, i, i < kernel)))
      n = i;
  }
  Stmt host = plan->at[n - 1];
  Hosted *h = tirc_map_get(&p->hosts, host);
  if (!h) {
    h = tirc_new(p->c, Hosted);
    tirc_map_set(p->c, &p->hosts, host, h);
  }
  vec_push(p->c, h->buffers, plan->buffer);
}

/* The regions of a block without the buffers that are now allocated inside of it. */
static int drop_regions(Planner *p, int n, const Region *from, const Region **to) {
  Region *kept = tirc_new_array(p->c, Region, n);
  int n_kept = 0;
  for (int i = 0; i < n; i++) {
    Expr data = from[i].buffer->data;
    if (!tirc_map_has(&p->plans, data) || tirc_map_has(&p->placed, data)) kept[n_kept++] = from[i];
  }
  *to = kept;
  return n_kept;
}

static Stmt place(Mutator *m, Stmt s) {
  Planner *p = m->self;
  Tirc *c = m->c;
  const Hosted *h = tirc_map_get(&p->hosts, s);
  Block b = {0};
  if (s->kind == STMT_BLOCK) {
    b = s->u.block;
    b.n_reads = drop_regions(p, b.n_reads, b.reads, &b.reads);
    b.n_writes = drop_regions(p, b.n_writes, b.writes, &b.writes);
  }
  for (int i = 0; h && i < h->buffers.n; i++)
    tirc_map_set(c, &p->placed, h->buffers.at[i]->data, h->buffers.at[i]);
  s = tirc_mutate_stmt_children(m, s);
  if (s->kind == STMT_FOR && h) {
    For loop = s->u.loop;
    loop.body = tirc_block(c, &(Block){.name = "",
                                       .predicate = tirc_bool(c, true),
                                       .n_allocs = h->buffers.n,
                                       .allocs = h->buffers.at,
                                       .body = loop.body});
    return tirc_for(c, &loop);
  }
  if (s->kind != STMT_BLOCK) return s;
  b.n_allocs = h ? h->buffers.n : 0;
  b.allocs = h ? h->buffers.at : NULL;
  b.body = s->u.block.body;
  return tirc_block(c, &b);
}

Stmt tirc_lower_plan_buffers(Tirc *c, const Func *f) {
  Planner p = {.c = c, .f = f};
  p.v = (Visitor){.expr = use_in_expr, .stmt = use_in_stmt, .self = &p};
  tirc_visit_stmt(&p.v, f->body);
  for (int i = 0; i < p.order.n; i++)
    if (p.order.at[i]->is_used) choose_host(&p, p.order.at[i]);
  Mutator m = {.c = c, .stmt = place, .self = &p};
  return tirc_mutate_stmt(&m, f->body);
}
