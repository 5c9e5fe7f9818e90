/* Who uses which buffer: for each buffer of a scope the child blocks that mention it, so that a
 * primitive finds a buffer's readers and writers without looking at the others.
 *
 * What a block mentions is read off its statement: loads, those in extents of what it allocates
 * too, stores, regions, views, handle variables, in blocks inside of it too. What the
 * block and blocks inside of it declare makes dependences, and so do loads in what decides where,
 * whether and how often they run, and on which elements: predicates, bindings, domains, indices of
 * regions, extents of allocations, and the loops and conditions on the way to the blocks inside;
 * and loads of buffers of which a block without others inside declares nothing. The rest is for
 * rewrites, which must not miss a load that nobody declared. */
#include "nodes.h"
#include "state.h"

/* Each in order of execution. */
typedef struct Users {
  SRefs all, by[2]; /* by: those that read and those that write it */
} Users;

static const SRefs nobody;

const SRefs *tirc_users_of(const Scope *scope, const void *key) {
  const Users *users = tirc_map_get(&scope->users, key);
  return users ? &users->all : &nobody;
}

const SRefs *tirc_accessors_of(const Scope *scope, Buffer b, bool write) {
  const Users *users = tirc_map_get(&scope->users, b);
  return users ? &users->by[write] : &nobody;
}

bool tirc_mentions(const SRef *block, const void *buffer_or_data) {
  for (int i = 0; i < block->n_mentions; i++)
    if (block->mentions[i] == buffer_or_data) return true;
  return false;
}

bool tirc_touches(const SRef *block, Buffer b, bool write) {
  for (int i = 0; i < block->n_accesses[write]; i++)
    if (block->accesses[write][i].buffer == b) return true;
  return false;
}

int tirc_first_from(const SRefs *at, int64_t order) {
  int low = 0, high = at->n;
  while (low < high) {
    const int mid = low + (high - low) / 2;
    if (at->at[mid]->order < order)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

/* --- what a block mentions -------------------------------------------------------------------- */

typedef struct Mentions {
  Tirc *c;
  PtrMap seen; /* used once there are many */
  VEC(const void *) at;
} Mentions;

static void mention(Mentions *m, const void *key) {
  enum { MANY = 24 };
  if (m->at.n < MANY) {
    for (int i = 0; i < m->at.n; i++)
      if (m->at.at[i] == key) return;
  } else {
    for (int i = 0; !m->seen.n && i < m->at.n; i++)
      tirc_map_set(m->c, &m->seen, m->at.at[i], m->at.at[i]);
    if (tirc_map_has(&m->seen, key)) return;
    tirc_map_set(m->c, &m->seen, key, key);
  }
  vec_push(m->c, m->at, key);
}

static bool see_expr(Visitor *v, Expr e) {
  if (e->op == OP_LOAD) mention(v->self, e->u.buffer);
  if (e->op == OP_VAR && e->dtype.code == TYPE_HANDLE) mention(v->self, e);
  return true;
}

static void mention_with_data(Mentions *m, Buffer b) {
  mention(m, b);
  mention(m, b->data);
}

static void see_shape(Visitor *v, Buffer made) {
  for (int i = 0; i < made->ndim; i++)
    if (made->shape[i]->op != OP_INT) tirc_visit_expr(v, made->shape[i]);
}

static bool see_stmt(Visitor *v, Stmt s) {
  Mentions *m = v->self;
  if (s->kind == STMT_STORE) mention(m, s->u.store.buffer);
  if (s->kind == STMT_DECL || s->kind == STMT_ALLOC) {
    mention_with_data(m, s->u.alloc.buffer);
    see_shape(v, s->u.alloc.buffer);
  }
  if (s->kind != STMT_BLOCK) return true;
  const Block *b = &s->u.block;
  for (int i = 0; i < b->n_reads; i++) mention(m, b->reads[i].buffer);
  for (int i = 0; i < b->n_writes; i++) mention(m, b->writes[i].buffer);
  for (int i = 0; i < b->n_allocs; i++) {
    mention(m, b->allocs[i]);
    see_shape(v, b->allocs[i]);
  }
  for (int i = 0; i < b->n_matches; i++) {
    mention(m, b->matches[i].source.buffer);
    mention_with_data(m, b->matches[i].buffer);
  }
  return true;
}

/* What a block without others inside reads of what it declares: a part of a loop declares whole
 * rows. */
static Region narrowed(Sched *s, const SRef *block, Region r) {
  if (block->scope->n_blocks) return r;
  const Access access = tirc_block_access(s->c, block->stmt);
  const Region *actual = tirc_region_of(access.reads.n, access.reads.at, r.buffer);
  const bool opaque = tirc_region_of(access.opaque.n, access.opaque.at, r.buffer);
  return actual && !opaque ? *actual : r;
}

/* What all iterations of the loops of a block access, where its scope looks at it. What it does not
 * declare may be loaded to find out whether it runs. */
static Region spread(Sched *s, SRef *block, Region r, bool declared) {
  Tirc *c = s->c;
  Range *dims = tirc_new_array(c, Range, r.buffer->ndim + 1);
  Analyzer *a = tirc_analyzer(c);
  const IntSet *sets =
      tirc_region_upper(s, a, tirc_unbound_region(c, block->stmt, r),
                        declared ? tirc_touching_condition(s, block) : tirc_bool(c, true),
                        block->parent, tirc_scope_root(block));
  for (int i = 0; i < r.buffer->ndim; i++)
    dims[i] = tirc_range_of_set(a, sets[i], tirc_whole_dim(c, r.buffer, i));
  return (Region){r.buffer, dims};
}

typedef struct Gathered { /* of one block */
  Tirc *c;
  Analyzer *a;
  PtrMap bindings;
  VEC(Region) out;
  bool inside; /* what is looked at may name variables that are bound inside of the block */
} Gathered;

static Range unbound(const Gathered *g, Range r) {
  return tirc_range(tirc_substitute(g->c, r.min, &g->bindings),
                    tirc_substitute(g->c, r.extent, &g->bindings));
}

/* Whether all of x is in y for sure. */
static bool holds(const Gathered *g, const Region *y, const Region *x) {
  for (int d = 0; d < y->buffer->ndim; d++) {
    const Range in = y->dims[d];
    if (tirc_is_int(in.min, 0) && tirc_expr_same(in.extent, y->buffer->shape[d])) continue;
    if (!tirc_range_surely_in(g->a, unbound(g, x->dims[d]), unbound(g, in))) return false;
  }
  return true;
}

static bool is_held(const Gathered *g, const Region *r) {
  for (int i = 0; i < g->out.n; i++)
    if (g->out.at[i].buffer == r->buffer && holds(g, &g->out.at[i], r)) return true;
  return false;
}

static void add_region(Gathered *g, Region r) {
  if (!is_held(g, &r)) vec_push(g->c, g->out, r);
}

/* An element that the scope can name; where its indices are loaded, or bound inside of the block,
 * it may be any. */
static bool see_undeclared(Visitor *v, Expr e) {
  Gathered *g = v->self;
  g->inside |= e->op == OP_LET;
  if (e->op != OP_LOAD) return true;
  const Buffer b = e->u.buffer;
  Range *one = tirc_new_array(g->c, Range, b->ndim + 1);
  bool element = true, named = !g->inside;
  for (int i = 0; i < b->ndim; i++) {
    element &= i < e->n && tirc_dtype_is_int(e->args[i]->dtype) && e->args[i]->dtype.lanes == 1;
    if (element) one[i] = tirc_range(e->args[i], tirc_int(g->c, e->args[i]->dtype, 1));
    named &= element && !tirc_reads_memory(e->args[i]);
  }
  if (!element || !is_held(g, &(Region){b, one}))
    add_region(g, named ? (Region){b, one} : tirc_whole_buffer(g->c, b));
  return true;
}

/* What decides how often the blocks inside of a block run. */
static bool see_way(Visitor *v, Stmt s) {
  Visitor *loads = v->self;
  Gathered *g = loads->self;
  if (s->kind == STMT_BLOCK) return false;
  tirc_visit_head(loads, s);
  if (s->kind == STMT_FOR) tirc_bind_loop(g->a, &s->u.loop);
  return true;
}

/* What says of a block where and whether it runs, and on which elements. */
static void visit_head(Visitor *v, Stmt block) {
  v->regions = true;
  tirc_visit_head(v, block);
  for (int i = 0; i < block->u.block.n_allocs; i++) see_shape(v, block->u.block.allocs[i]);
}

/* A sum with an init does not declare that it reads itself. */
static bool is_declared(const Block *b, Buffer buffer, bool write) {
  return tirc_declared_write(b, buffer) ? write || b->init || tirc_declared_read(b, buffer)
                                        : !write && tirc_declared_read(b, buffer);
}

/* What T.reads leaves out of what a block without others inside loads: whole buffers, as
 * cache_index does. Of one that is declared too small the declaration is right. */
static void gather_body(Gathered *g, const SRef *r) {
  const Access access = tirc_block_access(g->c, r->stmt);
  for (int i = 0; i < access.reads.n; i++) {
    const Region *read = &access.reads.at[i];
    if (!is_declared(tirc_block_of(r), read->buffer, false)) add_region(g, *read);
  }
}

/* What T.reads leaves out. A block with others inside may have been put around loops and
 * conditions, too. */
static void gather_undeclared(Gathered *g, const SRef *r) {
  const Block *b = tirc_block_of(r);
  Visitor loads = {.expr = see_undeclared, .self = g};
  visit_head(&loads, r->stmt);
  g->inside = true;
  if (r->scope->n_blocks) tirc_visit_stmts(b->body, see_way, &loads);
}

typedef struct Undeclared {
  bool head, body; /* loads what it does not declare there */
} Undeclared;

static bool see_head_load(Visitor *v, Expr e) {
  Undeclared *u = v->self;
  u->head |= e->op == OP_LOAD;
  return !u->head;
}

static bool is_undeclared_load(const void *block, Expr e) {
  return e->op == OP_LOAD && !is_declared(block, e->u.buffer, false);
}

static Undeclared find_undeclared(const SRef *r) {
  const Block *b = tirc_block_of(r);
  Undeclared u = {0};
  visit_head(&(Visitor){.expr = see_head_load, .self = &u}, r->stmt);
  if (r->scope->n_blocks || b->hides) return u;
  u.body = (b->init && tirc_find_expr_in(b->init, is_undeclared_load, b)) ||
           tirc_find_expr_in(b->body, is_undeclared_load, b);
  return u;
}

/* What a block inside does not declare and decides about it, or the rest of what it accesses. */
static void gather_inner(Sched *s, Gathered *g, const SRef *r, SRef *inner, bool write,
                         bool deciding) {
  const Block *in = tirc_block_of(inner);
  const int declared = write ? in->n_writes : in->n_reads;
  for (int k = 0; k < inner->n_accesses[write]; k++) {
    const Region *at = &inner->accesses[write][k];
    const bool own = k < declared;
    if (deciding != (!write && !own && k < declared + inner->n_deciding)) continue;
    if (own && is_declared(tirc_block_of(r), at->buffer, write)) continue;
    const Region all = spread(s, inner, own && !write ? narrowed(s, inner, *at) : *at, own);
    if (own)
      vec_push(s->c, g->out, all);
    else
      add_region(g, all);
  }
}

/* The regions of a block, and those that only blocks inside of it declare or that nobody does. */
static Regions gather(Sched *s, SRef *r, bool write, const Undeclared *u) {
  const Regions own = tirc_declared(tirc_block_of(r), write);
  Gathered g = {.c = s->c, .a = tirc_analyzer(s->c)};
  tirc_bindings_of(s->c, r->stmt, &g.bindings);
  for (int i = 0; i < own.n; i++) vec_push(s->c, g.out, own.at[i]);
  if (!write) gather_undeclared(&g, r);
  for (int i = 0; i < r->scope->n_blocks; i++)
    gather_inner(s, &g, r, r->scope->blocks[i], write, true);
  if (!write) r->n_deciding = g.out.n - own.n;
  if (!write && u->body) gather_body(&g, r);
  for (int i = 0; i < r->scope->n_blocks; i++)
    gather_inner(s, &g, r, r->scope->blocks[i], write, false);
  return (Regions){g.out.n, g.out.at};
}

void tirc_know_accesses(Sched *s, SRef *r) {
  const Undeclared u = find_undeclared(r);
  r->hidden = false;
  r->n_deciding = 0;
  for (int write = 0; write < 2; write++) {
    const Regions own = tirc_declared(tirc_block_of(r), write);
    Regions all = own;
    if (r->scope->n_blocks || (!write && (u.head || u.body))) all = gather(s, r, write, &u);
    r->hidden |= all.n > own.n;
    r->n_accesses[write] = all.n;
    r->accesses[write] = all.at;
  }
}

void tirc_know_uses(Sched *s, SRef *r) {
  tirc_know_accesses(s, r);
  Mentions m = {.c = s->c};
  tirc_visit_stmt(&(Visitor){.expr = see_expr, .stmt = see_stmt, .regions = true, .self = &m},
                  r->stmt);
  r->n_mentions = m.at.n;
  r->mentions = m.at.at;
}

/* --- the index -------------------------------------------------------------------------------- */

void tirc_insert_in_order(Tirc *c, SRefs *v, SRef *block) {
  const int place = tirc_first_from(v, block->order);
  if (place < v->n && v->at[place] == block) return;
  vec_push(c, *v, block);
  memmove(v->at + place + 1, v->at + place, (size_t)(v->n - 1 - place) * sizeof *v->at);
  v->at[place] = block;
}

static void take_out(SRefs *v, const SRef *block) {
  const int place = tirc_first_from(v, block->order);
  if (place == v->n || v->at[place] != block) return;
  v->n--;
  memmove(v->at + place, v->at + place + 1, (size_t)(v->n - place) * sizeof *v->at);
}

static void add_mention(Tirc *c, Scope *scope, const void *key, SRef *block) {
  Users *users = tirc_map_get(&scope->users, key);
  if (!users) {
    users = tirc_new(c, Users);
    tirc_map_set(c, &scope->users, key, users);
  }
  tirc_insert_in_order(c, &users->all, block);
}

static Users *users_of_region(const Scope *scope, Region r) {
  return tirc_map_get(&scope->users, r.buffer);
}

void tirc_users_add(Sched *s, Scope *scope, SRef *block) {
  for (int i = 0; i < block->n_mentions; i++) add_mention(s->c, scope, block->mentions[i], block);
  for (int write = 0; write < 2; write++)
    for (int i = 0; i < block->n_accesses[write]; i++)
      tirc_insert_in_order(s->c, &users_of_region(scope, block->accesses[write][i])->by[write],
                           block);
}

void tirc_users_remove(Scope *scope, SRef *block) {
  for (int write = 0; write < 2; write++)
    for (int i = 0; i < block->n_accesses[write]; i++)
      take_out(&users_of_region(scope, block->accesses[write][i])->by[write], block);
  for (int i = 0; i < block->n_mentions; i++) {
    Users *users = tirc_map_get(&scope->users, block->mentions[i]);
    take_out(&users->all, block);
  }
}

void tirc_users_spread(Sched *s, SRef *block, const SRefs *now) {
  SRef *around = tirc_scope_root(block);
  for (; around && around->scope && block->order; around = tirc_scope_root(block)) {
    Mentions m = {.c = s->c};
    for (int i = 0; i < block->n_mentions; i++) mention(&m, block->mentions[i]);
    const int before = m.at.n;
    for (int i = 0; i < now->n; i++)
      for (int k = 0; k < now->at[i]->n_mentions; k++) mention(&m, now->at[i]->mentions[k]);
    if (m.at.n == before) return;
    for (int i = before; i < m.at.n; i++) add_mention(s->c, around->scope, m.at.at[i], block);
    block->n_mentions = m.at.n;
    block->mentions = m.at.at;
    block = around;
  }
}
