/* Where each buffer is allocated: at the lowest loop or block that holds all of its uses, so that a
 * tile's cache belongs to the tile (and each thread has one of its own).
 *
 * A loop may hold the buffer only if no value travels from one of its iterations to the next. The
 * test looks at what an iteration does first to the buffer: a read, or a write under a condition
 * that depends on the loop's own variable (an init at the first step of a reduction), means that
 * the value comes from before. For serial loops, where allocating further out costs memory only,
 * each iteration must also be seen to write all that it reads. */
#include "regions.h"

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

static void enter_block(Planner *p, Stmt s) {
  const Block *b = &s->u.block;
  for (int i = 0; i < b->n_allocs; i++) {
    Plan *plan = tirc_new(p->c, Plan);
    plan->buffer = b->allocs[i];
    plan->origin = p->path.n - 1;
    tirc_map_set(p->c, &p->plans, b->allocs[i]->data, plan);
    vec_push(p->c, p->order, plan);
  }
  for (int i = 0; i < b->n_matches; i++) note_use(p, b->matches[i].source.buffer->data);
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
  if (s->kind == STMT_BLOCK) enter_block(p, s);
  if (s->kind == STMT_BLOCK) tirc_visit_expr(v, s->u.block.predicate);
  tirc_visit_stmt(v, s->kind == STMT_FOR     ? s->u.loop.body
                     : s->kind == STMT_BLOCK ? s->u.block.body
                                             : s->u.loop_while.body);
  p->path.n--;
  return false;
}

/* --- what an iteration does first ----------------------------------------------------------- */

typedef enum Touch { TOUCH_NONE, TOUCH_WRITE, TOUCH_READ } Touch;

typedef struct Order {
  Tirc *c;
  Expr data;
  PtrMap varying; /* the loop's variable and what is computed from it */
} Order;

typedef struct Reads {
  Expr data;
  bool found;
} Reads;

static bool look(Visitor *v, Expr e) {
  Reads *r = v->self;
  if (e == r->data || (e->op == OP_LOAD && e->u.buffer->data == r->data)) r->found = true;
  return !r->found;
}

static bool reads(const Order *o, Expr e) {
  Reads r = {.data = o->data};
  tirc_visit_expr(&(Visitor){.expr = look, .self = &r}, e);
  return r.found;
}

static Touch first_touch(Order *o, Stmt s);

static Touch touch_store(Order *o, Stmt s) {
  for (int i = 0; i < s->u.store.n; i++)
    if (reads(o, s->u.store.indices[i])) return TOUCH_READ;
  if (reads(o, s->u.store.value)) return TOUCH_READ;
  return s->u.store.buffer->data == o->data ? TOUCH_WRITE : TOUCH_NONE;
}

static Touch touch_branch(Order *o, Stmt s) {
  if (reads(o, s->u.branch.cond)) return TOUCH_READ;
  Stmt other = s->u.branch.else_case;
  Touch yes = first_touch(o, s->u.branch.then_case);
  Touch no = other ? first_touch(o, other) : TOUCH_NONE;
  if (yes == TOUCH_READ || no == TOUCH_READ) return TOUCH_READ;
  if (yes == no) return yes;
  return tirc_uses_any(s->u.branch.cond, &o->varying) ? TOUCH_READ : TOUCH_WRITE;
}

/* Elements left out because an earlier iteration wrote them: an alternative to what depends on the
 * loop, or a condition on a variable of it that does not choose the elements. A tail of a tile is
 * neither: its condition speaks of the elements themselves. */
static bool leaves_out(const Order *o, const Block *b, Expr cond) {
  if (cond->op == OP_AND) return leaves_out(o, b, cond->args[0]) || leaves_out(o, b, cond->args[1]);
  if (!tirc_uses_any(cond, &o->varying)) return false;
  if (cond->op == OP_OR || cond->op == OP_NOT) return true;
  for (int i = 0; i < b->n_writes; i++)
    if (b->writes[i].buffer->data == o->data)
      for (int k = 0; k < b->writes[i].buffer->ndim; k++)
        if (tirc_uses_any(b->writes[i].dims[k].min, &o->varying)) return false;
  return true;
}

static Touch touch_block(Order *o, Stmt s) {
  const Block *b = &s->u.block;
  if (reads(o, b->predicate)) return TOUCH_READ;
  for (int i = 0; i < b->n_matches; i++)
    if (b->matches[i].source.buffer->data == o->data) { /* what the views do is not followed */
      for (int k = 0; k < b->n_reads; k++)
        if (b->reads[k].buffer->data == o->data) return TOUCH_READ;
      return TOUCH_WRITE;
    }
  Touch t = first_touch(o, b->body);
  return t == TOUCH_WRITE && leaves_out(o, b, b->predicate) ? TOUCH_READ : t;
}

static Touch first_touch(Order *o, Stmt s) {
  switch (s->kind) {
  case STMT_FOR: return first_touch(o, s->u.loop.body);
  case STMT_BLOCK: return touch_block(o, s);
  case STMT_SEQ:
    for (int i = 0; i < s->u.seq.n; i++) {
      Touch t = first_touch(o, tirc_item(s, i));
      if (t != TOUCH_NONE) return t;
    }
    return TOUCH_NONE;
  case STMT_STORE: return touch_store(o, s);
  case STMT_EVAL: return reads(o, s->u.eval.value) ? TOUCH_READ : TOUCH_NONE;
  case STMT_IF: return touch_branch(o, s);
  case STMT_WHILE:
    if (reads(o, s->u.loop_while.cond)) return TOUCH_READ;
    return first_touch(o, s->u.loop_while.body);
  case STMT_LET:
    if (reads(o, s->u.let.value)) return TOUCH_READ;
    if (tirc_uses_any(s->u.let.value, &o->varying))
      tirc_map_set(o->c, &o->varying, s->u.let.var, s->u.let.var);
    return first_touch(o, s->u.let.body);
  case STMT_ALLOC:
  case STMT_DECL: return first_touch(o, s->u.alloc.body);
  case STMT_ATTR: return first_touch(o, s->u.attr.body);
  case STMT_ASSERT: return first_touch(o, s->u.check.body);
  }
  return TOUCH_NONE;
}

/* For serial loops, where it is safe to be strict: whatever else an iteration does, does one of its
 * writes leave out elements by a condition that is no tail? A tail compares, up to a constant, an
 * index that is written. */
typedef struct Parts {
  Visitor v;
  Order *o;
  Analyzer *a;
  bool found;
} Parts;

static bool is_tail(const Parts *p, const Block *b, Expr cond) {
  Tirc *c = p->o->c;
  if (cond->op == OP_AND) return is_tail(p, b, cond->args[0]) && is_tail(p, b, cond->args[1]);
  if (!tirc_uses_any(cond, &p->o->varying)) return true;
  if (cond->n != 2 || !tirc_dtype_is_int(cond->args[0]->dtype) || cond->op == OP_OR) return false;
  Expr d =
      tirc_sub(c, tirc_cast(c, DT_INT64, cond->args[0]), tirc_cast(c, DT_INT64, cond->args[1]));
  for (int i = 0; i < b->n_writes; i++)
    for (int k = 0; b->writes[i].buffer->data == p->o->data && k < b->writes[i].buffer->ndim; k++) {
      Expr index = tirc_cast(c, DT_INT64, b->writes[i].dims[k].min);
      if (!tirc_uses_any(tirc_simplify(p->a, tirc_sub(c, d, index)), &p->o->varying) ||
          !tirc_uses_any(tirc_simplify(p->a, tirc_add(c, d, index)), &p->o->varying))
        return true;
    }
  return false;
}

static bool find_part(Visitor *v, Stmt s) {
  Parts *p = v->self;
  if (s->kind != STMT_BLOCK) return !p->found;
  const Block *b = &s->u.block;
  for (int i = 0; i < b->n_writes; i++)
    if (b->writes[i].buffer->data == p->o->data) p->found |= !is_tail(p, b, b->predicate);
  return !p->found;
}

static bool writes_part(Order *o, Analyzer *a, Stmt body) {
  Parts p = {.o = o, .a = a};
  p.v = (Visitor){.stmt = find_part, .self = &p};
  tirc_visit_stmt(&p.v, body);
  return p.found;
}

static bool carries_values(Tirc *c, Analyzer *a, Stmt loop, Buffer b) {
  if (tirc_is_int(loop->u.loop.extent, 1)) return false;
  Order o = {.c = c, .data = b->data};
  tirc_map_set(c, &o.varying, loop->u.loop.var, loop->u.loop.var);
  if (first_touch(&o, loop->u.loop.body) == TOUCH_READ) return true;
  return loop->u.loop.kind == LOOP_SERIAL &&
         (writes_part(&o, a, loop->u.loop.body) ||
          !tirc_lower_writes_cover_reads(c, a, loop->u.loop.body, b));
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
    if (s->kind == STMT_WHILE || (s->kind == STMT_FOR && carries_values(p->c, a, s, plan->buffer)))
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
