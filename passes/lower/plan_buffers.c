/* Where each buffer is allocated: at the lowest loop or block that holds all of its uses, so that a
 * tile's cache belongs to the tile (and each thread has one of its own). A loop may hold the buffer
 * only if no value of it travels from one of the iterations to another. */
#include "carries.h"
#include "internal.h"

typedef struct Plan {
  Buffer buffer;
  int n;          /* length of the path to the lowest common ancestor; */
  Stmt const *at; /* loops, blocks and whiles, outermost first */
  int origin;     /* the allocating block's place in it */
  bool is_used;
} Plan;

typedef struct Planner {
  Tirc *c;
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

static void choose_host(Planner *p, Plan *plan) {
  int first = plan->origin + 1, n = plan->n;
  Analyzer *a = tirc_analyzer(p->c);
  for (int i = 0; i < n; i++) {
    Stmt s = plan->at[i];
    if (s->kind == STMT_FOR)
      tirc_bind_range(a, s->u.loop.var, tirc_range(s->u.loop.min, s->u.loop.extent));
    if (i < first) continue;
    if (s->kind == STMT_WHILE ||
        (s->kind == STMT_FOR && tirc_lower_carries_values(p->c, a, &s->u.loop, plan->buffer)))
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
  Planner p = {.c = c};
  p.v = (Visitor){.expr = use_in_expr, .stmt = use_in_stmt, .self = &p};
  tirc_visit_stmt(&p.v, f->body);
  for (int i = 0; i < p.order.n; i++)
    if (p.order.at[i]->is_used) choose_host(&p, p.order.at[i]);
  Mutator m = {.c = c, .stmt = place, .self = &p};
  return tirc_mutate_stmt(&m, f->body);
}
